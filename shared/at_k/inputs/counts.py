"""Counts of outcomes: all that a score of exchangeable samples depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class BinaryCounts:
    """The number of samples of each question, and how many of them are correct.

    Questions with equal counts have equal scores, so scores are computed once for each of the U
    distinct pairs (n, c). The attributes follow the names of np.unique.

    Args:
        n: (M,) samples.
        c: (M,) correct samples, 0 <= c <= n.
    """

    n: np.ndarray
    c: np.ndarray

    @classmethod
    def concatenate(cls, batches: Sequence[BinaryCounts]) -> BinaryCounts:
        """Return the counts of all questions of several batches."""
        if len(batches) == 1:
            return batches[0]
        n = np.concatenate([batch.n for batch in batches])
        return cls(n, np.concatenate([batch.c for batch in batches]))

    @property
    def unique(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) n and (U,) c of the distinct pairs."""
        base, codes = self._codes
        if not base:
            return np.full(len(codes.values), self.n[0]), codes.values
        n, c = np.divmod(codes.values, base)
        return n, c

    @property
    def multiplicity(self) -> np.ndarray:
        """(U,) number of questions with each distinct pair."""
        return self._codes[1].multiplicity

    @property
    def inverse(self) -> np.ndarray:
        """(M,) index of each question's pair among the distinct ones."""
        return self._codes[1].inverse

    @cached_property
    def _codes(self) -> tuple[int, UniqueIntegers]:
        """A base, and the distinct c + base x n; or 0 and the distinct c, if all n are equal."""
        if size := one_size(self.n):
            return 0, UniqueIntegers(self.c, size)
        base = int(self.c.max()) + 1
        return base, UniqueIntegers(self.c + base * self.n, base * (int(self.n.max()) + 1))


class UniqueIntegers:
    """The distinct values of an array of integers from 0 to `most`.

    Equivalent to np.unique. Small values are counted, which is faster than sorting, and this
    avoids the slow first import of np.unique.

    Attributes:
        values: (U,) the distinct values, ascending.
        multiplicity: (U,) how often each occurs.
    """

    def __init__(self, array: np.ndarray, most: int):
        self._array = array
        if most > 8 * len(array):
            ordered = np.sort(array)
            last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(array) - 1)
            self.values, self.multiplicity = ordered[last], np.diff(last, prepend=-1)
        else:
            times = np.bincount(array)
            self.values = np.flatnonzero(times)
            self.multiplicity = times[self.values]

    @cached_property
    def inverse(self) -> np.ndarray:
        """(M,) the index of each entry among the distinct values."""
        if self.values[-1] > 8 * len(self._array):
            return np.searchsorted(self.values, self._array)
        place = np.empty(self.values[-1] + 1, dtype=np.int64)
        place[self.values] = np.arange(len(self.values))
        return place[self._array]


def one_size(sizes: np.ndarray) -> int:
    """The number of samples that all questions have in common, or 0 if it differs."""
    size = int(sizes[0])
    # count_nonzero takes half the time of `all`, which matters in calls of a few microseconds.
    return size if np.count_nonzero(sizes == size) == len(sizes) else 0
