"""What an interval is, what computes one, and the quantiles that it needs."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ..scores.score import ScoreKey


class Interval(NamedTuple):
    """Center, standard deviation, limits and method of an interval.

    The numbers are floats, or (B,) arrays for B parts of a run.
    """

    mu: Any
    sigma: Any
    lo: Any
    hi: Any
    interval: str | None

    def of_part(self, part: int) -> Interval:
        """The interval of one of B parts."""
        mu, sigma, lo, hi = (float(values[part]) for values in self[:4])
        return Interval(mu, sigma, lo, hi, self.interval)


def whole_range(mean: float, least: float, most: float, reason: str) -> Interval:
    """The interval of a score that the data say nothing about, named by the reason."""
    lo, hi = float(least), float(most)
    return Interval(float(mean), (hi - lo) / 2, lo, hi, f"none: {reason}")


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of parts of it such as groups."""

    @abc.abstractmethod
    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The intervals of each part, given as the indices of its questions.

        A score that has no interval by this method is absent.
        """

    def problem(self, rows: np.ndarray) -> str | None:
        """The reason why these questions have no interval, or None."""
        return None

    def covariance(self, rows: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """(m, m) covariance of the errors of m scores over these questions, up to a factor.

        Where it is not known, the errors count as uncorrelated, which is the worst case for a band.
        """
        return np.eye(len(keys))


class JoinedIntervals(IntervalMethod):
    """A method for most scores of a metric, joined with another for some.

    Args:
        most: the method for most scores.
        some: the method for the others.
        keys: of the scores of `some`.
    """

    def __init__(self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]):
        self._most, self._some, self._keys = most, some, {*keys}

    def problem(self, rows: np.ndarray) -> str | None:
        return self._most.problem(rows)

    def covariance(self, rows: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        method = self._some if self._keys >= {*keys} else self._most
        return method.covariance(rows, keys)

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        most, some = (method.for_parts(parts, confidence) for method in (self._most, self._some))
        return [a | b for a, b in zip(most, some, strict=True)]


@lru_cache(maxsize=64)
def normal_z(confidence: float) -> float:
    """The z-value of a two-sided normal interval."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def student_z(clusters: int, confidence: float) -> float:
    """The quantile of Student's t for a standard deviation estimated from at least 2 clusters."""
    from scipy.special import stdtrit  # imported here, because it takes longer than all of at_k

    return float(stdtrit(clusters - 1, (1 + confidence) / 2))
