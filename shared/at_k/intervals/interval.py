"""What an interval is, what computes one, and the quantiles that it needs."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..checks import check_names
from ..inputs.parsing import label_index

ClusterLabels = Sequence[tuple[np.ndarray, np.ndarray]]
"""For each of B parts, (M,) rows and (M,) cluster labels of its questions."""

_PARTS_AT_ONCE, _CELLS_OF_PARTS = 1 << 8, 1 << 22  # parts x distinct counts: bounds the memory


class Interval(NamedTuple):
    """Center, standard deviation, limits and method of an interval."""

    mu: float
    sigma: float
    lo: float
    hi: float
    interval: str


class Intervals(NamedTuple):
    """The intervals of one score for B parts of a run: (B,) each."""

    mu: np.ndarray
    sigma: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    interval: str

    def of_part(self, part: int) -> Interval:
        """The interval of one part."""
        mu, sigma, lo, hi = (float(values[part]) for values in self[:4])
        return Interval(mu, sigma, lo, hi, self.interval)


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of parts of it such as groups."""

    @abc.abstractmethod
    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[str, Interval]]:
        """The intervals of the scores over each part, where a part is the indices of questions.

        A score that has no interval by this method is absent.
        """

    def problem(self, rows: np.ndarray) -> str | None:
        """The reason why there is no interval over these questions, or None."""
        return None


class CountsMethod(IntervalMethod):
    """A method that needs only how many questions of a part have each of U distinct counts.

    Args:
        inverse: (M,) index of each question's counts.
        unique: U.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
    """

    def __init__(self, inverse: np.ndarray, unique: int, clusters: np.ndarray | None = None):
        self._inverse, self._unique, self._clusters = inverse, unique, clusters

    @abc.abstractmethod
    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        """The intervals of B sets of questions with (B, U) numbers of each distinct count."""

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[str, Interval]]:
        result: list[dict[str, Interval]] = []
        size = max(1, min(_PARTS_AT_ONCE, _CELLS_OF_PARTS // self._unique))
        # The first part is the whole run, whose prior is already estimated if k exceeds n.
        starts = [0, *range(1, len(parts), size)]
        for start, stop in zip(starts, [*starts[1:], len(parts)], strict=True):
            block, clusters = parts[start:stop], None
            if self._clusters is not None:
                clusters = [(self._inverse[rows], self._clusters[rows]) for rows in block]
            found = self.over(self._multiplicity(block), confidence, clusters)
            result += _part_by_part(found, len(block))
        return result

    def _multiplicity(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.array(
            [np.bincount(self._inverse[rows], minlength=self._unique) for rows in parts]
        )


def _part_by_part(found: Mapping[str, Intervals], parts: int) -> list[dict[str, Interval]]:
    return [{key: each.of_part(part) for key, each in found.items()} for part in range(parts)]


@lru_cache(maxsize=64)
def normal_z(confidence: float) -> float:
    """The z-value of a two-sided normal interval."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def student_z(clusters: int, confidence: float) -> float:
    """The quantile of Student's t for a standard deviation estimated from at least 2 clusters."""
    from scipy.special import stdtrit  # imported here, because it takes longer than all of at_k

    return float(stdtrit(clusters - 1, (1 + confidence) / 2))


def check_interval(
    interval: str, clusters, questions: int, known: Sequence[str]
) -> np.ndarray | None:
    """Return (M,) cluster labels as integers, or None if each question is its own cluster.

    Raises:
        ValueError: unless the interval is known and uses clusters if they are given.
    """
    check_names("interval", [interval], known)
    if clusters is None:
        return None
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    return label_index(clusters, questions, "clusters")[1]
