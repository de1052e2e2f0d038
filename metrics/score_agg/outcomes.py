"""Outcomes and their counts: all that the estimates ever see of a bank of samples.

A bank holds n_i samples of each of M questions. Samples of one question are
exchangeable, so counting them loses nothing: ragged banks, samples that could not be
scored, and shards of one run are all just counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .parameters import is_listed, short


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every sample, question after question.

    Args:
        values: (sum of sizes,) bool, int or float.
        sizes: (M,) how many samples each question has, at least one.
        name: what the caller calls the bank, for messages.
        scored: (sum of sizes,) False where a sample could not be judged, or None where
            all of them were.
    """

    values: np.ndarray
    sizes: np.ndarray
    name: str = "R"
    scored: np.ndarray | None = None

    def place(self, sample: int) -> str:
        """Which question and which of its samples: `R[3][7]`."""
        ends = np.cumsum(self.sizes)
        question = int(np.searchsorted(ends, sample, side="right"))
        return f"{self.name}[{question}][{sample - (ends[question] - self.sizes[question])}]"

    def require(self, good: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not `good`."""
        bad = ~good if self.scored is None else ~good & self.scored
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(f"{self.place(first)} is {self.values[first]}: {wanted}.")

    def counts(self) -> Counts:
        """How many samples of each question there are, and how many of them are right."""
        n, right = self.n, require_binary(self).values
        if self.scored is not None:
            right = (right == 1) & self.scored
        return Counts(n, per_question(right, self.sizes))

    def category_counts(self, categories: int) -> np.ndarray:
        """(M, C + 1) how many samples of each question fell in each category 0, .., C."""
        if categories == 2:
            counts = self.counts()
            return np.array([counts.n - counts.c, counts.c]).T
        values = require_categories(self).values
        self.require(values < categories, f"the categories are 0 to {categories - 1}")
        cell = np.repeat(np.arange(len(self.n)) * categories, self.sizes)
        cell += values.astype(np.int64)
        if self.scored is not None:
            cell = cell[self.scored]
        cells = len(self.n) * categories
        return np.bincount(cell, minlength=cells).reshape(-1, categories)

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) how many samples of each question are scored; a ValueError if none are."""
        if self.scored is None:
            return self.sizes
        n = per_question(self.scored, self.sizes)
        if not n.all():
            raise ValueError(f"Question {n.argmin()} has no scored sample: leave it out.")
        return n

    @property
    def scored_values(self) -> np.ndarray:
        """(sum of n,) the values of the samples that are scored."""
        return self.values if self.scored is None else self.values[self.scored]


def per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(M,) sums of each question's values, which are 0 or 1."""
    if (sizes != sizes[0]).any():
        return np.diff(np.cumsum(values, dtype=np.int64)[np.cumsum(sizes) - 1], prepend=0)
    rows = values.reshape(len(sizes), -1)
    samples = rows.shape[1]
    if rows.itemsize > 1 or samples > 255 or not rows.flags.c_contiguous:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    # Bytes of 0 and 1 are added in bytes, and eight at a time where they fill words: that is
    # as fast as the memory is read, five times as fast as sums in 64 bits.
    if samples % 8:
        return np.einsum("ij->i", rows.view(np.uint8)).astype(np.int64)
    words = np.einsum("ij->i", rows.view(np.uint64))
    return (words * 0x0101010101010101 >> 56).astype(np.int64)  # the sum of its eight bytes


def require_binary(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if values.dtype.kind == "b" or (
        # No other bit is set in any of them: to see that is half of the cost of looking at each.
        values.dtype.kind in "iu" and np.bitwise_or.reduce(values) in (0, 1)
    ):
        return outcomes
    wanted = "an outcome is 0 or False for wrong, 1 or True for right"
    outcomes.require((values == 0) | (values == 1), wanted)
    return outcomes


def require_categories(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is a category."""
    values = outcomes.values
    whole = values == np.floor(values) if values.dtype.kind == "f" else True
    outcomes.require((values >= 0) & whole, "an outcome is a category 0, 1, 2, ..")
    return outcomes


def require_shares(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is a share of correctness."""
    values = outcomes.values
    wanted = "an outcome is 0 or 1, or a share of correctness from 0.0 to 1.0"
    outcomes.require((values >= 0) & (values <= 1), wanted)
    return outcomes


def number_of_samples(n: np.ndarray) -> str:
    """The number that a key carries: of the samples of each question, or n if they differ."""
    return str(n[0]) if (n == n[0]).all() else "n"


@dataclass(frozen=True)
class Counts:
    """How many samples of each question there are, and how many of them are right.

    Args:
        n: (M,) samples.
        c: (M,) right samples, 0 <= c <= n.
    """

    n: np.ndarray
    c: np.ndarray

    @cached_property
    def _codes(self) -> tuple[np.ndarray, int]:
        """(M,) c + base x n, and the base; c alone, and 0, where all n are the same."""
        if (self.n == self.n[0]).all():
            return self.c, 0
        base = int(self.c.max()) + 1
        return self.c + base * self.n, base

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) the distinct codes, ascending, and how often each is there."""
        code, base = self._codes
        if (base or 1) * self.n.max() > 8 * len(code):
            return np.unique(code, return_counts=True)
        questions = np.bincount(code)  # to count is faster than to sort
        codes = np.flatnonzero(questions)
        return codes, questions[codes]

    @property
    def questions(self) -> np.ndarray:
        """(U,) how many questions there are of each kind: those of equal counts score alike."""
        return self._distinct[1]

    @cached_property
    def kinds(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) the n and (U,) the c of each kind."""
        codes, base = self._distinct[0], self._codes[1]
        if not base:
            return np.full(len(codes), self.n[0]), codes
        n, c = np.divmod(codes, base)
        return n, c

    @cached_property
    def kind(self) -> np.ndarray:
        """(M,) which of the kinds each question is."""
        code, codes = self._codes[0], self._distinct[0]
        if codes[-1] > 8 * len(code):
            return np.searchsorted(codes, code)
        place = np.empty(codes[-1] + 1, dtype=np.int64)
        place[codes] = np.arange(len(codes))
        return place[code]


def read_outcomes(bank, name: str = "R", labels: Mapping[str, float] | None = None) -> Outcomes:
    """Outcomes of an array (M, N), a nested list or a ragged nested list.

    A flat array or list is the bank of one question. None, and what a masked array masks,
    is not scored. Where labels are given, an entry may be one of them, for its number.

    Raises:
        ValueError: that names the question or the sample, unless there is a question and
            each has a list of at least one entry, each a finite number.
    """
    if not is_listed(bank):
        raise ValueError(f"{name} is {short(bank)}: each question has a list of outcomes.")
    array = np.asarray(bank) if hasattr(bank, "__array__") else np.empty(0, dtype=object)
    if array.dtype.kind in "biuf" and not isinstance(bank, np.ma.MaskedArray):
        if array.ndim > 2:
            raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
        array = np.atleast_2d(array)
        outcomes = Outcomes(array.ravel(), np.full(array.shape[0], array.shape[1]), name)
    else:
        outcomes = _read_lists(
            bank.tolist() if hasattr(bank, "tolist") else list(bank), name, labels or {}
        )
    if len(outcomes.sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not outcomes.sizes.all():
        empty = int(np.argmin(outcomes.sizes))
        raise ValueError(f"{name}[{empty}] is empty: a question needs a sample.")
    if outcomes.values.dtype.kind == "f":
        outcomes.require(np.isfinite(outcomes.values), "an outcome is a finite number")
    return outcomes


def _read_lists(rows: list[Any], name: str, labels: Mapping[str, float]) -> Outcomes:
    if rows and not any(is_listed(row) for row in rows):
        rows = [rows]
    for question, row in enumerate(rows):
        if not is_listed(row):
            raise ValueError(
                f"{name}[{question}] is {short(row)}: each question has a list of outcomes."
            )
    rows = [row if isinstance(row, list) else _entries(row) for row in rows]
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    flat = list(itertools.chain.from_iterable(rows))
    scored = None
    if None in flat:
        scored = np.array([entry is not None for entry in flat], dtype=bool)
        flat = [0 if entry is None else entry for entry in flat]
    values = _as_array(flat)
    if labels and values.dtype.kind not in "biuf":
        flat = [labels.get(entry, entry) if isinstance(entry, str) else entry for entry in flat]
        values = _as_array(flat)
    if flat and (values.ndim != 1 or values.dtype.kind not in "biuf"):
        odd = next(i for i, entry in enumerate(flat) if not isinstance(entry, (int, float)))
        place = Outcomes(values, sizes, name).place(odd)
        known = f"one of {', '.join(labels)}, or a number" if labels else "a number or a bool"
        raise ValueError(f"{place} is {short(flat[odd])}: an outcome is {known}.")
    return Outcomes(values, sizes, name, scored)


def _entries(row) -> list[Any]:
    return row.tolist() if hasattr(row, "tolist") else list(row)


def _as_array(flat: list[Any]) -> np.ndarray:
    try:
        return np.asarray(flat)
    except ValueError:  # lists of unlike lengths among the entries
        return np.empty(0, dtype=object)
