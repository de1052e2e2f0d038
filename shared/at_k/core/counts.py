"""Counts of outcomes, on which a score depends if the order of samples does not matter.

There are M questions with S samples in all, and U distinct pairs (n, c).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class BinaryCounts:
    """The number of samples of each question, n, (M,), and how many are correct, 0 <= c <= n.

    Scores are computed once for each distinct pair (n, c): `unique` returns the pairs, and
    `scores[inverse]` has the score of each question.
    """

    n: np.ndarray
    c: np.ndarray

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.n)

    @property
    def unique(self) -> tuple[np.ndarray, np.ndarray]:
        """Return n and c of the distinct pairs, (U,) each."""
        n, c, _ = self._distinct
        return n, c

    @property
    def multiplicity(self) -> np.ndarray:
        """Return the number of questions with each distinct pair, (U,)."""
        return self._distinct[2].multiplicity

    @property
    def inverse(self) -> np.ndarray:
        """Return the index of each question's pair among the distinct pairs, (M,)."""
        return self._distinct[2].inverse

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray, UniqueIntegers]:
        """Return n and c of the distinct pairs, (U,) each, and the codes of all pairs.

        The code is c if all n are equal, else base x (rank of n) + rank of c, to fit into 64 bits.
        """
        if size := one_size(self.n):
            codes = UniqueIntegers(self.c, size)
            return np.full(len(codes.values), self.n[0]), codes.values, codes
        n, c = (UniqueIntegers(x, int(x.max())) for x in (self.n, self.c))
        base = len(c.values)
        codes = UniqueIntegers(c.inverse + base * n.inverse, base * len(n.values))
        n_rank, c_rank = np.divmod(codes.values, base)
        return n.values[n_rank], c.values[c_rank], codes


class UniqueIntegers:
    """The distinct values of integers from 0 to `most`, ascending, and the multiplicity of each."""

    def __init__(self, array: np.ndarray, most: int):
        self._array = array
        if most > 8 * len(array):
            self.values, self.multiplicity = np.unique(array, return_counts=True)
        else:  # A table of the counts of 0 .. `most` is faster than sorting.
            multiplicity = np.bincount(array)
            self.values = np.flatnonzero(multiplicity)
            self.multiplicity = multiplicity[self.values]

    @cached_property
    def inverse(self) -> np.ndarray:
        """Return the index in `values` of each entry of the array."""
        if self.values[-1] > 8 * len(self._array):
            return np.searchsorted(self.values, self._array)
        index = np.empty(self.values[-1] + 1, dtype=np.int64)
        index[self.values] = np.arange(len(self.values))
        return index[self._array]


def one_size(sizes: np.ndarray) -> int:
    """Return the number of samples if it is the same for all questions, otherwise 0."""
    size = int(sizes[0])
    # count_nonzero takes half the time of `all`, which matters in calls of a few microseconds.
    return size if np.count_nonzero(sizes == size) == len(sizes) else 0


def sums_per_question(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sums of `counts`, (S,), over the `sizes`, (M,), samples of each question, (M,).

    `counts` are 0 or 1 for each sample, of any numeric type; or non-negative int64.
    """
    size = one_size(sizes)
    if not size:
        return np.add.reduceat(counts, np.cumsum(sizes) - sizes, dtype=np.int64)
    rows = counts.reshape(-1, size)  # einsum is faster than `sum` for short rows.
    if rows.itemsize > 1:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    dtype = np.uint8 if size < 256 else np.int64  # which holds the sum of so many 0 and 1
    return np.einsum("ij->i", rows.view(np.uint8), dtype=dtype).astype(np.int64)
