"""The type of intervals, and the base classes of the methods that compute them."""

from __future__ import annotations

import abc
from collections.abc import Collection, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from .score import ScoreKey

UNIT_RANGE = (0.0, 1.0)  # the range of a score that is a probability or a share


class Interval(NamedTuple):
    """The center, standard deviation, limits and method of an interval; None where not known."""

    mu: Any = None
    sigma: Any = None
    lo: Any = None
    hi: Any = None
    interval: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Return whether `interval` is "none: " and a reason, because the data show no interval."""
        return self.interval is not None and self.interval.startswith("none")


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of groups of its questions."""

    @abc.abstractmethod
    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices, by its key.

        A score that has no interval by this method is absent from the dict.
        """

    def problem(self, questions: np.ndarray) -> str | None:
        """Return the reason why these questions have no interval, or None if they have one."""
        return None

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """Return the keys of scores that these questions do not determine, not even an estimate."""
        return ()

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the (m, m) covariance of the errors of the m scores in `keys` for these questions.

        A band over k depends on correlations only. An unknown correlation is 0, which makes the
        band widest. This default is for methods that know none, and has variances of 1.
        """
        return np.eye(len(keys))


class DerivedIntervals(IntervalMethod):
    """Base class of methods that change the intervals of another method, and nothing else."""

    def __init__(self, method: IntervalMethod):
        self._method = method

    def problem(self, questions: np.ndarray) -> str | None:
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        return self._method.covariance(questions, keys)


def normal_z(confidence: float) -> float:
    """Return the z-value of a two-sided normal interval with this confidence."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)
