"""Outcomes and their counts: all that the estimates ever see of a bank of samples.

A bank holds n_i samples of each of M questions. Samples of one question are
exchangeable, so counting them loses nothing: ragged banks, samples that could not be
scored, and shards of one run are all just counts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every sample, question after question.

    Args:
        values: (sum of sizes,) bool, int or float.
        sizes: (M,) how many samples each question has.
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

    @cached_property
    def scored_sizes(self) -> np.ndarray:
        """(M,) how many samples of each question were scored."""
        return self.sizes if self.scored is None else self._total(self.scored)

    def _total(self, values: np.ndarray) -> np.ndarray:
        """(M,) sums over each question's samples."""
        if (self.sizes == self.sizes[0]).all():
            return values.reshape(len(self.sizes), -1).sum(axis=1, dtype=np.int64)
        starts = np.cumsum(self.sizes) - self.sizes
        return np.add.reduceat(values, starts, dtype=np.int64)

    def binary_counts(self) -> Counts:
        """How many samples of each question were wrong and how many right."""
        require_binary(self)
        right = self.values if self.scored is None else self.values * self.scored
        c = self._total(right.astype(bool, copy=False))
        n = self.scored_sizes
        if not n.all():
            question = int(np.argmin(n))
            raise ValueError(f"Question {question} has no scored sample: leave it out.")
        return Counts(np.stack([n - c, c], axis=1))


def require_binary(outcomes: Outcomes) -> None:
    """Raise a ValueError unless every scored outcome is 0 or 1."""
    values = outcomes.values
    if values.dtype != bool:
        outcomes.require((values == 0) | (values == 1), "an outcome is 0 or False, 1 or True")


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
    def _kinds(self) -> tuple[np.ndarray, np.ndarray]:
        if self.table.shape[1] > 2:
            return np.unique(self.table, axis=0, return_inverse=True)
        base = int(self.table.max()) + 1  # two counts make one number, which sorts faster
        codes, kind = np.unique(self.table @ [base, 1], return_inverse=True)
        return np.stack([codes // base, codes % base], axis=1), kind

    @property
    def kinds(self) -> np.ndarray:
        """(U, C + 1) the distinct rows: questions with equal counts have equal scores."""
        return self._kinds[0]

    @property
    def kind(self) -> np.ndarray:
        """(M,) which of the kinds each question is."""
        return self._kinds[1]

    def histogram(self) -> np.ndarray:
        """(U,) how many questions there are of each kind."""
        return np.bincount(self.kind, minlength=len(self.kinds))

    def each_kind(self, score: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
        """score(n, c) for the kinds of a binary bank, asked once for each distinct n."""
        sizes, right = self.kinds.sum(axis=1), self.kinds[:, 1]
        if (sizes == sizes[0]).all():
            return score(int(sizes[0]), right)
        parts = {n: score(n, right[sizes == n]) for n in np.unique(sizes).tolist()}
        result = np.empty((len(sizes), *next(iter(parts.values())).shape[1:]))
        for n, part in parts.items():
            result[sizes == n] = part
        return result


def read_outcomes(bank, name: str = "R") -> Outcomes:
    """Outcomes of an array (M, N), a nested list or a ragged nested list.

    A flat array or list is the bank of one question.
    """
    if not _is_list(bank):
        raise ValueError(f"{name} is {bank!r}: each question has a list of outcomes.")
    rectangular = np.asarray(bank) if hasattr(bank, "__array__") else None
    if rectangular is not None and rectangular.dtype != object:
        if rectangular.ndim > 2:
            raise ValueError(f"{name} has {rectangular.ndim} dimensions: M questions x N samples.")
        rectangular = np.atleast_2d(rectangular)
        values = _require_numbers(rectangular.ravel(), name)
        sizes = np.full(rectangular.shape[0], rectangular.shape[1])
    else:
        rows = list(bank)
        if rows and not any(_is_list(row) for row in rows):
            rows = [rows]
        arrays = [_read_row(row, f"{name}[{question}]") for question, row in enumerate(rows)]
        values = np.concatenate(arrays) if arrays else np.empty(0)
        sizes = np.array([len(array) for array in arrays], dtype=np.int64)
    require_samples(sizes, name)
    outcomes = Outcomes(values, sizes, name)
    if values.dtype.kind == "f":
        outcomes.require(np.isfinite(values), "an outcome is a finite number")
    return outcomes


def _is_list(value) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict))


def _read_row(row, name: str) -> np.ndarray:
    if not _is_list(row):
        raise ValueError(f"{name} is {row!r}: each question has a list of outcomes.")
    entries = row if hasattr(row, "__array__") and np.asarray(row).dtype.kind != "O" else list(row)
    for sample, entry in enumerate(entries):
        if _is_list(entry):
            raise ValueError(f"{name}[{sample}] is {entry!r}: an outcome is a number or a bool.")
    values = np.asarray(entries)
    return _require_numbers(values, name) if len(values) else values


def _require_numbers(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        odd = [value for value in values.tolist() if not isinstance(value, (int, float))]
        example = f" such as {odd[0]!r}" if odd else ""
        raise ValueError(f"{name} holds entries{example}: an outcome is a number or a bool.")
    return values


def require_samples(sizes: np.ndarray, name: str) -> None:
    """Raise a ValueError unless there is a question, and a sample of every question."""
    if len(sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not sizes.all():
        raise ValueError(f"{name}[{int(np.argmin(sizes))}] is empty: a question needs a sample.")


def check_k(k, sizes: np.ndarray | None = None) -> int:
    """k as an int, at least 1 and, where sizes are given, at most the least of them.

    Raises:
        ValueError: that names the question, its n and k.
    """
    try:
        if isinstance(k, (bool, np.bool_)):
            raise TypeError
        k = operator.index(k)
    except TypeError:
        raise ValueError(f"k is {k!r}: the number of draws is a positive integer.") from None
    if k < 1:
        raise ValueError(f"k is {k}: the number of draws is a positive integer.")
    if sizes is not None and k > sizes.min():
        question = int(np.argmax(sizes < k))
        raise ValueError(
            f"k is {k}, but question {question} has n = {sizes[question]} scored samples: "
            f"k of them cannot be drawn without replacement."
        )
    return k


def choose_k(k: int | Sequence[int] | None, default: Sequence[int], sizes: np.ndarray) -> list[int]:
    """The k asked for, each checked; or those of the default that every question allows."""
    if k is None:
        ks = [each for each in default if each <= sizes.min()]
        if not ks:
            question = int(np.argmin(sizes))
            raise ValueError(
                f"Question {question} has n = {sizes[question]} scored samples, fewer than every "
                f"default k ({', '.join(map(str, default))}): give a k of at most n."
            )
        return ks
    if not (asked := as_list(k)):
        raise ValueError("k is empty: give at least one number of draws.")
    return list(dict.fromkeys(check_k(each, sizes) for each in asked))


def check_names(
    parameter: str, names: str | Sequence[str] | None, known: Iterable[str], default: Sequence[str]
) -> list[str]:
    """The names asked for, or the default; a ValueError for one that is not known."""
    asked = as_list(default if names is None else names)
    for name in asked:
        if name not in known:
            raise ValueError(f"{parameter} has {name!r}, which is none of {', '.join(known)}.")
    return asked


def as_list(value) -> list[Any]:
    """A parameter of one or more values."""
    return list(value) if _is_list(value) else [value]
