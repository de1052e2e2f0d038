"""What the interval methods share that need only the counts of the questions of a part."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from ..scores.family import Family, Fit
from .interval import Interval, IntervalMethod

Clusters = Sequence[tuple[np.ndarray, np.ndarray]]
"""For each of B parts, (M,) distinct counts and (M,) cluster labels of its questions."""

_PARTS_AT_ONCE, _COUNTS_OF_PARTS = 1 << 8, 1 << 22  # parts, and parts x distinct counts


class CountsMethod(IntervalMethod):
    """A method that needs only how often each of U distinct counts occurs in a part.

    Args:
        inverse: (M,) index of each question's counts.
        unique: U.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
    """

    def __init__(self, inverse: np.ndarray, unique: int, clusters: np.ndarray | None = None):
        self._inverse, self._unique, self._clusters = inverse, unique, clusters

    @abc.abstractmethod
    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: Clusters | None = None
    ) -> dict[str, Interval]:
        """The intervals of B parts with (B, U) numbers of questions."""

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[str, Interval]]:
        if not parts:
            return []
        result: list[dict[str, Interval]] = []
        size = max(1, min(_PARTS_AT_ONCE, _COUNTS_OF_PARTS // self._unique))
        # The first part is the whole run, whose prior may have been estimated already.
        starts = [0, *range(1, len(parts), size)]
        for start, stop in zip(starts, [*starts[1:], len(parts)], strict=True):
            block = [self._inverse[rows] for rows in parts[start:stop]]
            multiplicity = [np.bincount(inverse, minlength=self._unique) for inverse in block]
            clusters = None
            if self._clusters is not None:
                labels = (self._clusters[rows] for rows in parts[start:stop])
                clusters = list(zip(block, labels, strict=True))
            found = self.over(np.array(multiplicity), confidence, clusters)
            result += [
                {key: each.of_part(part) for key, each in found.items()}
                for part in range(len(block))
            ]
        return result


class FamilyMethod(CountsMethod):
    """A method that uses a family, with a prior estimated for each part."""

    def __init__(self, family: Family, clusters: np.ndarray | None = None):
        super().__init__(family.inverse, len(family.n), clusters)
        self.family = family

    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: Clusters | None = None
    ) -> dict[str, Interval]:
        return self.from_fit(self.family.fit(multiplicity), confidence, clusters)

    @abc.abstractmethod
    def from_fit(
        self, fit: Fit, confidence: float, clusters: Clusters | None = None
    ) -> dict[str, Interval]:
        """The intervals of the parts whose priors have been estimated."""

    def one_sample_each(self, rows: np.ndarray) -> bool:
        """Whether none of these questions has two samples."""
        return bool(self.family.n[self.family.inverse[rows]].max() < 2)
