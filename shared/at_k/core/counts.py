"""Counts of outcomes: all that a score of exchangeable samples depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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

    def __len__(self) -> int:
        """M, the number of questions."""
        return len(self.n)

    @property
    def unique(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (U,) n and (U,) c of the distinct pairs."""
        base, codes = self._codes
        if not base:
            return np.full(len(codes.values), self.n[0]), codes.values
        n, c = np.divmod(codes.values, base)
        if self._is_large:
            return np.unique(self.n)[n], np.unique(self.c)[c]
        return n, c

    @property
    def multiplicity(self) -> np.ndarray:
        """Return (U,) number of questions with each distinct pair."""
        return self._codes[1].multiplicity

    @property
    def inverse(self) -> np.ndarray:
        """Return (M,) index of each question's pair among the distinct ones."""
        return self._codes[1].inverse

    @cached_property
    def _codes(self) -> tuple[int, UniqueIntegers]:
        """A base, and the distinct c + base x n; or 0 and the distinct c, if all n are equal."""
        if size := one_size(self.n):
            return 0, UniqueIntegers(self.c, size)
        n, c = self.n, self.c
        if self._is_large:  # codes of their ranks, which fit into 64 bits
            n, c = (np.searchsorted(np.unique(x), x) for x in (n, c))
        base = int(c.max()) + 1
        return base, UniqueIntegers(c + base * n, base * (int(n.max()) + 1))

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Results for these counts that several methods need, such as an estimated prior."""
        return {}

    @cached_property
    def _is_large(self) -> bool:
        """Return whether codes of pairs (n, c) might not fit into 64 bits."""
        return int(self.n.max()) >= 1 << 31


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
            multiplicity = np.bincount(array)
            self.values = np.flatnonzero(multiplicity)
            self.multiplicity = multiplicity[self.values]

    @cached_property
    def inverse(self) -> np.ndarray:
        """Return (M,) the index of each entry of the array among the distinct values."""
        if self.values[-1] > 8 * len(self._array):
            return np.searchsorted(self.values, self._array)
        index = np.empty(self.values[-1] + 1, dtype=np.int64)
        index[self.values] = np.arange(len(self.values))
        return index[self._array]


def one_size(sizes: np.ndarray) -> int:
    """Return the number of samples that all questions have in common, or 0 if it differs."""
    size = int(sizes[0])
    # count_nonzero takes half the time of `all`, which matters in calls of a few microseconds.
    return size if np.count_nonzero(sizes == size) == len(sizes) else 0


# --- Sums ---------------------------------------------------------------------------------


def sums_per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return (M,) sums over the samples of each question.

    Args:
        values: (S,) each 0 or 1, of any type.
        sizes: (M,) number of samples of each question, at least one.
    """
    if size := one_size(sizes):
        return row_sums(values.reshape(-1, size)).astype(np.int64)
    return np.add.reduceat(values, np.cumsum(sizes) - sizes, dtype=np.int64)


def row_sums(rows: np.ndarray) -> np.ndarray:
    """Return (M,) the sum of each row of (M, N) values that are 0 or 1."""
    if rows.itemsize > 1:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    samples = rows.shape[1]
    rows = rows.view(np.uint8)
    width = math.gcd(samples, 64) // 8
    if width and hasattr(np, "bitwise_count"):  # since NumPy 2
        # Packed to one bit per sample, up to 64 samples are counted at once. That takes twice as
        # long as reading the bytes; adding them takes up to ten times as long.
        bits = np.packbits(rows.reshape(-1).view(bool)).view(f"u{width}")
        rows = np.bitwise_count(bits).reshape(len(rows), -1)
    if rows.shape[1] == 1:
        return rows[:, 0]
    return np.einsum("ij->i", rows, dtype=np.uint8 if samples < 256 else np.int64)
