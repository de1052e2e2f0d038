"""Outcomes and their counts: all that the estimates ever see of a bank of samples.

A bank holds n_i samples of each of M questions. Samples of one question are
exchangeable, so counting them loses nothing: ragged banks, samples that could not be
scored, and shards of one run are all just counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import is_list_like, is_masked, short
from .counts import Counts, one_size

_BYTES_AT_ONCE = 1 << 21  # bytes that are counted at once, which stay in the cache of a machine


def place(name: str, sizes: np.ndarray, sample: int) -> str:
    """Return the place of a sample, such as `R[3][7]`.

    Args:
        name: what holds the samples.
        sizes: (M,) number of samples of each question.
        sample: index of the sample among all samples, question after question.
    """
    ends = np.cumsum(sizes)
    question = int(np.searchsorted(ends, sample, side="right"))
    return f"{name}[{question}][{sample - (ends[question] - sizes[question])}]"


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

    def require(self, good: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not `good`."""
        bad = ~good if self.scored is None else ~good & self.scored
        if bad.any():
            first = int(np.argmax(bad))
            where = place(self.name, self.sizes, first)
            raise ValueError(f"{where} is {self.values[first]}: {wanted}.")

    def counts(self) -> Counts:
        """How many samples of each question there are, and how many of them are right."""
        if self.scored is None:
            return Counts(self.sizes, per_question(self.values, self.sizes, self._check_binary))
        right = (require_binary(self).values == 1) & self.scored
        return Counts(self.n, per_question(right, self.sizes))

    def _check_binary(self, values: np.ndarray) -> None:
        """Raise a ValueError that names the first of all outcomes that is not binary, if in
        some of them there is one."""
        if not _are_binary(values):
            require_binary(self)

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


def per_question(
    values: np.ndarray,
    sizes: np.ndarray,
    check: Callable[[np.ndarray], None] = lambda values: None,
) -> np.ndarray:
    """(M,) sums of each question's values, which are 0 or 1: else the check raises an error."""
    size = one_size(sizes)
    if size == 0:
        check(values)
        return np.add.reduceat(values, np.cumsum(sizes) - sizes, dtype=np.int64)
    sums = np.empty(len(sizes), dtype=np.int64)
    step = max(
        1, _BYTES_AT_ONCE // (size * values.itemsize)
    )  # rows, still in the cache for the check
    for start in range(0, len(sizes), step):
        block = values[start * size : (start + step) * size]
        sums[start : start + step] = _row_sums(block, size)
        check(block)
    return sums


def _row_sums(values: np.ndarray, size: int) -> np.ndarray:
    if values.itemsize > 1:
        return np.einsum("ij->i", values.reshape(-1, size), dtype=np.int64, casting="unsafe")
    rows = values.view(np.uint8).reshape(-1, size)
    if width := math.gcd(size, 64) // 8:
        # As bits, of which a machine counts 64 at once, as many as are of one question: this takes
        # twice as long as to read the bytes, while to add them takes up to ten times as long.
        bits = np.packbits(values.view(bool)).view(f"u{width}")
        rows = np.bitwise_count(bits).reshape(len(rows), -1)
    if rows.shape[1] == 1:
        return rows[:, 0]
    return np.einsum("ij->i", rows, dtype=np.uint8 if size < 256 else np.int64)


def repeated(number: int, times: int) -> np.ndarray:
    """One number as an array, which holds it once."""
    return np.ndarray(times, np.int64, np.int64(number), strides=(0,))


def require_binary(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if not _are_binary(values):
        wanted = "an outcome is 0 or False for wrong, 1 or True for right"
        outcomes.require((values == 0) | (values == 1), wanted)
    return outcomes


def _are_binary(values: np.ndarray) -> bool:
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        # No other bit is set in any of them: to see that is half of the cost of looking at each.
        return np.bitwise_or.reduce(values) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


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
    return str(one_size(n) or "n")


def read_outcomes(bank, name: str = "R", labels: Mapping[str, float] | None = None) -> Outcomes:
    """Outcomes of an array (M, N), a nested list or a ragged nested list.

    A flat array or list is the bank of one question. None, and what a masked array masks,
    is not scored. Where labels are given, an entry may be one of them, for its number.

    Raises:
        ValueError: that names the question or the sample, unless there is a question and
            each has a list of at least one entry, each a finite number.
    """
    if not is_list_like(bank):
        raise ValueError(f"{name} is {short(bank)}: each question has a list of outcomes.")
    array = np.asarray(bank) if hasattr(bank, "__array__") else np.empty(0, dtype=object)
    if array.dtype.kind in "biuf" and not is_masked(bank):
        if array.ndim > 2:
            raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
        questions, samples = array.shape if array.ndim == 2 else (1, array.size)
        outcomes = Outcomes(array.ravel(), repeated(samples, questions), name)
    else:
        outcomes = _read_lists(
            bank.tolist() if hasattr(bank, "tolist") else list(bank), name, labels or {}
        )
    if len(outcomes.sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not (one_size(outcomes.sizes) or outcomes.sizes.all()):
        empty = int(np.argmin(outcomes.sizes))
        raise ValueError(f"{name}[{empty}] is empty: a question needs a sample.")
    if outcomes.values.dtype.kind == "f":
        outcomes.require(np.isfinite(outcomes.values), "an outcome is a finite number")
    return outcomes


def _read_lists(rows: list[Any], name: str, labels: Mapping[str, float]) -> Outcomes:
    if rows and not any(is_list_like(row) for row in rows):
        rows = [rows]
    for question, row in enumerate(rows):
        if not is_list_like(row):
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
        known = f"one of {', '.join(labels)}, or a number" if labels else "a number or a bool"
        raise ValueError(f"{place(name, sizes, odd)} is {short(flat[odd])}: an outcome is {known}.")
    return Outcomes(values, sizes, name, scored)


def _entries(row) -> list[Any]:
    return row.tolist() if hasattr(row, "tolist") else list(row)


def _as_array(flat: list[Any]) -> np.ndarray:
    try:
        return np.asarray(flat)
    except ValueError:  # lists of unlike lengths among the entries
        return np.empty(0, dtype=object)
