"""What an interval is, and what computes one."""

from __future__ import annotations

import abc
from collections.abc import Collection, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from .score import ScoreKey

UNIT_RANGE = (0.0, 1.0)  # of a score that is a probability or a share


class Interval(NamedTuple):
    """Center, standard deviation, limits and method of an interval.

    The numbers are floats, or (B,) arrays for B groups of questions.
    """

    mu: Any
    sigma: Any
    lo: Any
    hi: Any
    interval: str | None

    @property
    def is_unknown(self) -> bool:
        """Return whether the data show no interval. Its name is "none: " and the reason then."""
        return self.interval is not None and self.interval.startswith("none")


def whole_range(mean: float, least: float, most: float, reason: str) -> Interval:
    """The interval of a score that the data say nothing about, named by the reason."""
    lo, hi = float(least), float(most)
    return Interval(float(mean), (hi - lo) / 2, lo, hi, f"none: {reason}")


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of groups of its questions."""

    @abc.abstractmethod
    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The intervals of each group. A score that has no interval by this method is absent.

        Args:
            groups: the indices of the questions of each group.
            confidence: of each interval.
        """

    def problem(self, questions: np.ndarray) -> str | None:
        """The reason why these questions have no interval, or None."""
        return None

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """The scores of which these questions show nothing, so that an estimate would mislead."""
        return ()

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return (m, m) covariance of the errors of m scores over the questions with these indices.

        Where it is not known, the errors count as uncorrelated, which is the worst case for a band.
        By default, only that is said: the variances are 1.
        """
        return np.eye(len(keys))


class DerivedIntervals(IntervalMethod):
    """Intervals that are made from those of another method.

    Args:
        method: the other method.
    """

    def __init__(self, method: IntervalMethod):
        self._method = method

    def problem(self, questions: np.ndarray) -> str | None:
        """The reason why the other method has no interval for these questions, or None."""
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """The scores that the other method cannot estimate from these questions."""
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return (m, m) that of the other method."""
        return self._method.covariance(questions, keys)


def normal_z(confidence: float) -> float:
    """The z-value of a two-sided normal interval."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)
