"""Outcomes and their counts: all that the estimates ever see of a bank of samples.

A bank holds n_i samples of each of M questions. Samples of one question are
exchangeable, so counting them loses nothing: ragged banks, samples that could not be
scored, and shards of one run are all just counts.
"""

from __future__ import annotations

import itertools
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

    def counts(self, categories: int = 2) -> Counts:
        """How many samples of each question fell in each of the categories 0, 1, ..

        Of the two of a binary outcome, 0 is wrong and 1 is right.
        """
        n = self.n
        if categories != 2:
            return Counts(self._table(categories))
        right = require_binary(self).values
        c = per_question(right if self.scored is None else (right == 1) & self.scored, self.sizes)
        return Counts(np.array([n - c, c]).T)

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) how many samples of each question are scored; a ValueError if none are."""
        if self.scored is None:
            return self.sizes
        n = per_question(self.scored, self.sizes)
        if not n.all():
            raise ValueError(f"Question {n.argmin()} has no scored sample: leave it out.")
        return n

    def _table(self, categories: int) -> np.ndarray:
        values = require_categories(self).values
        self.require(values < categories, f"the categories are 0 to {categories - 1}")
        cell = np.repeat(np.arange(len(self.sizes)) * categories, self.sizes)
        cell += values.astype(np.int64)
        if self.scored is not None:
            cell = cell[self.scored]
        cells = len(self.sizes) * categories
        return np.bincount(cell, minlength=cells).reshape(-1, categories)


def per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(M,) integer sums of each question's values."""
    if (sizes == sizes[0]).all():
        return values.reshape(len(sizes), -1).sum(axis=1, dtype=np.int64)
    return np.diff(np.cumsum(values, dtype=np.int64)[np.cumsum(sizes) - 1], prepend=0)


def require_binary(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    # To look for the least and the greatest costs half of looking at each.
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() > 1:
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
    """How many samples of each question fell in each category.

    Args:
        table: (M, C + 1) integers. Binary outcomes have the categories wrong and right.
    """

    table: np.ndarray

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) samples of each question."""
        return self.table.sum(axis=1)

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        if self.table.shape[1] > 2:
            return np.unique(self.table, axis=0, return_inverse=True)
        base = int(self.table.max()) + 1  # two counts make one number
        code = self.table @ [base, 1]
        if base**2 > 8 * len(code):
            codes, kind = np.unique(code, return_inverse=True)
        else:  # to count is faster than to sort
            codes = np.flatnonzero(np.bincount(code))
            place = np.empty(codes[-1] + 1, dtype=np.int64)
            place[codes] = np.arange(len(codes))
            kind = place[code]
        return np.array([codes // base, codes % base]).T, kind

    @property
    def kinds(self) -> np.ndarray:
        """(U, C + 1) the distinct rows: questions of equal counts have equal scores."""
        return self._distinct[0]

    @property
    def binary_kinds(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) samples and (U,) right samples of each kind, of binary outcomes."""
        return self.kinds.sum(axis=1), self.kinds[:, 1]

    @property
    def kind(self) -> np.ndarray:
        """(M,) which of the kinds each question is."""
        return self._distinct[1]

    @cached_property
    def questions(self) -> np.ndarray:
        """(U,) how many questions there are of each kind."""
        return np.bincount(self.kind)


def read_outcomes(bank, name: str = "R") -> Outcomes:
    """Outcomes of an array (M, N), a nested list or a ragged nested list.

    A flat array or list is the bank of one question. None, and what a masked array masks,
    is not scored.

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
        outcomes = _read_lists(bank.tolist() if hasattr(bank, "tolist") else list(bank), name)
    if len(outcomes.sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not outcomes.sizes.all():
        empty = int(np.argmin(outcomes.sizes))
        raise ValueError(f"{name}[{empty}] is empty: a question needs a sample.")
    if outcomes.values.dtype.kind == "f":
        outcomes.require(np.isfinite(outcomes.values), "an outcome is a finite number")
    return outcomes


def _read_lists(rows: list[Any], name: str) -> Outcomes:
    if rows and not any(is_listed(row) for row in rows):
        rows = [rows]
    for question, row in enumerate(rows):
        if not is_listed(row):
            raise ValueError(
                f"{name}[{question}] is {short(row)}: each question has a list of outcomes."
            )
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) for row in rows]
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    flat = list(itertools.chain.from_iterable(rows))
    scored = None
    if None in flat:
        scored = np.array([entry is not None for entry in flat], dtype=bool)
        flat = [0 if entry is None else entry for entry in flat]
    try:
        values = np.asarray(flat)
    except ValueError:  # lists of unlike lengths among the entries
        values = np.empty(0, dtype=object)
    if flat and (values.ndim != 1 or values.dtype.kind not in "biuf"):
        odd = next(i for i, entry in enumerate(flat) if not isinstance(entry, (int, float)))
        place = Outcomes(values, sizes, name).place(odd)
        raise ValueError(f"{place} is {short(flat[odd])}: an outcome is a number or a bool.")
    return Outcomes(values, sizes, name, scored)
