"""Outcomes and their counts: all that the estimates ever see of a bank of samples.

A bank holds n_i samples of each of M questions. Samples of one question are
exchangeable, so counting them loses nothing: ragged banks, samples that could not be
scored, and shards of one run are all just counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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

    def binary_counts(self) -> Counts:
        """How many samples of each question were wrong and how many right."""
        require_binary(self)
        if self.scored is None:
            n, c = self.sizes, per_question(self.values, self.sizes)
        else:
            n = per_question(self.scored, self.sizes)
            c = per_question(self.values * self.scored, self.sizes)
        if not n.all():
            question = int(np.argmin(n))
            raise ValueError(f"Question {question} has no scored sample: leave it out.")
        return Counts(np.array([n - c, c]).T)


def per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(M,) integer sums of each question's values."""
    if (sizes == sizes[0]).all():
        return values.reshape(len(sizes), -1).sum(axis=1, dtype=np.int64)
    return np.diff(np.cumsum(values, dtype=np.int64)[np.cumsum(sizes) - 1], prepend=0)


def require_binary(outcomes: Outcomes) -> None:
    """Raise a ValueError unless every scored outcome is 0 or 1."""
    values = outcomes.values
    if values.dtype.kind in "iu" and values.min() >= 0 and values.max() <= 1:
        return  # which costs half of looking at each
    if values.dtype != bool:
        wanted = "an outcome is 0 or False for wrong, 1 or True for right"
        outcomes.require((values == 0) | (values == 1), wanted)


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
        base = int(self.n.max()) + 1  # n and c make one number
        code = self.n * base + self.table[:, 1]
        if base**2 > 8 * len(code):
            codes, kind = np.unique(code, return_inverse=True)
        else:  # to count is faster than to sort
            codes = np.flatnonzero(np.bincount(code))
            place = np.empty(codes[-1] + 1, dtype=np.int64)
            place[codes] = np.arange(len(codes))
            kind = place[code]
        return np.stack([codes // base, codes % base], axis=1), kind

    @property
    def kinds(self) -> np.ndarray:
        """(U, 2) the distinct (n, c): questions of equal counts have equal scores."""
        return self._distinct[0]

    @property
    def kind(self) -> np.ndarray:
        """(M,) which of the kinds each question is."""
        return self._distinct[1]

    def mean(self, scores: np.ndarray) -> float:
        """Mean over the questions of (U,) scores of the kinds."""
        return float(np.bincount(self.kind) @ scores) / len(self.kind)


def read_outcomes(bank, name: str = "R") -> Outcomes:
    """Outcomes of an array (M, N), a nested list or a ragged nested list.

    A flat array or list is the bank of one question. What a masked array masks is not
    scored.

    Raises:
        ValueError: that names the question or the sample, unless there is a question and
            each has a list of at least one finite number.
    """
    if not is_listed(bank):
        raise ValueError(f"{name} is {short(bank)}: each question has a list of outcomes.")
    array = np.asarray(bank) if hasattr(bank, "__array__") else None
    if array is not None and array.dtype != object:
        if array.ndim > 2:
            raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
        array = np.atleast_2d(array)
        values, sizes = _numbers(array.ravel(), name), np.full(array.shape[0], array.shape[1])
    else:
        rows = list(bank)
        if rows and not any(is_listed(row) for row in rows):
            rows = [rows]
        arrays = [_read_row(row, f"{name}[{question}]") for question, row in enumerate(rows)]
        values = np.concatenate(arrays) if arrays else np.empty(0)
        sizes = np.array([len(array) for array in arrays], dtype=np.int64)
    if len(sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not sizes.all():
        raise ValueError(f"{name}[{int(np.argmin(sizes))}] is empty: a question needs a sample.")
    scored = ~np.ma.getmaskarray(bank).ravel() if isinstance(bank, np.ma.MaskedArray) else None
    outcomes = Outcomes(values, sizes, name, scored)
    if values.dtype.kind == "f":
        outcomes.require(np.isfinite(values), "an outcome is a finite number")
    return outcomes


def _read_row(row, name: str) -> np.ndarray:
    if not is_listed(row):
        raise ValueError(f"{name} is {short(row)}: each question has a list of outcomes.")
    entries = row if isinstance(row, np.ndarray) else list(row)
    try:
        array = np.asarray(entries)
    except ValueError:  # unlike lengths, one dimension further down
        array = np.empty((0, 0))
    if array.ndim != 1:
        sample = next(sample for sample, entry in enumerate(entries) if is_listed(entry))
        raise ValueError(f"{name}[{sample}] is {short(entries[sample])}: an outcome is a number.")
    return _numbers(np.asarray(array.tolist()) if array.dtype == object else array, name)


def _numbers(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "biuf" and len(values):
        odd = [value for value in values.tolist() if not isinstance(value, (int, float))]
        example = short(odd[0] if odd else values.tolist()[0])
        raise ValueError(f"{name} holds {example}: an outcome is a number or a bool.")
    return values
