"""What the interval methods share that need only the counts of the questions of a part."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ..scores.family import Family, Fit
from ..scores.score import ScoreKey
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
    ) -> dict[ScoreKey, Interval]:
        """The intervals of B parts with (B, U) numbers of questions."""

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        if not parts:
            return []
        # Parts with equal counts have equal intervals. The first part is the whole run.
        keys: list[Any] = [0, *(self._key(rows) for rows in parts[1:])]
        place = {key: part for part, key in reversed([*enumerate(keys)])}
        distinct = sorted(place.values())
        result: dict[int, dict[ScoreKey, Interval]] = {}
        size = max(1, min(_PARTS_AT_ONCE, _COUNTS_OF_PARTS // self._unique))
        # The prior of the whole run may have been estimated already.
        starts = [0, *range(1, len(distinct), size)]
        for start, stop in zip(starts, [*starts[1:], len(distinct)], strict=True):
            block = distinct[start:stop]
            intervals = self._of_block([parts[part] for part in block], confidence)
            result |= zip(block, intervals, strict=True)
        return [result[place[key]] for key in keys]

    def _key(self, rows: np.ndarray) -> bytes:
        """What is equal for parts with equal intervals."""
        key = np.sort(self._inverse[rows]) if self._clusters is None else rows
        return key.tobytes()

    def _of_block(
        self, parts: list[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The intervals of a few parts, without the counts that they lack."""
        method, inverse, unique = self, [self._inverse[rows] for rows in parts], self._unique
        if sum(map(len, inverse)) < unique:
            used, place = np.unique(np.concatenate(inverse), return_inverse=True)
            last = np.cumsum([len(each) for each in inverse])
            method, inverse, unique = self.of_rows(used), np.split(place, last[:-1]), len(used)
        multiplicity = np.array([np.bincount(each, minlength=unique) for each in inverse])
        clusters = None
        if self._clusters is not None:
            labels = (self._clusters[rows] for rows in parts)
            clusters = list(zip(inverse, labels, strict=True))
        found = method.over(multiplicity, confidence, clusters)
        return [
            {key: each.of_part(part) for key, each in found.items()} for part in range(len(parts))
        ]

    @abc.abstractmethod
    def of_rows(self, rows: np.ndarray) -> CountsMethod:
        """The method for parts that have some of the U distinct counts only."""


class FamilyMethod(CountsMethod):
    """A method that uses a family, with a prior estimated for each part."""

    def __init__(self, family: Family, clusters: np.ndarray | None = None):
        super().__init__(family.inverse, len(family.n), clusters)
        self.family = family

    def of_rows(self, rows: np.ndarray) -> FamilyMethod:
        method = copy(self)
        method.family = self.family.of_rows(rows)
        return method

    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        return self.from_fit(self.family.fit(multiplicity), confidence, clusters)

    @abc.abstractmethod
    def from_fit(
        self, fit: Fit, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        """The intervals of the parts whose priors have been estimated."""

    def one_sample_each(self, rows: np.ndarray) -> bool:
        """Whether none of these questions has two samples."""
        return bool(self.family.n[self.family.inverse[rows]].max() < 2)
