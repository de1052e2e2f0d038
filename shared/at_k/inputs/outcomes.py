"""Outcomes of samples, and the counts that scores are computed from.

Each of M questions has n_i samples. Samples of one question are exchangeable, so its counts are
sufficient: ragged inputs, unscored samples and shards of a run are all counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import is_frame, is_list_like, is_masked, short
from .containers import as_arrow, plain_entry, sample_rows, to_array
from .count_tables import is_counts, read_counts
from .counts import BinaryCounts, one_size

_BLOCK_BYTES = 1 << 21  # outcomes that are counted at once, which fit in the cache
_BLOCK_SAMPLES = 1 << 20  # categories that are counted at once


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
        values: (S,) bool, int or float, S being the sum of the sizes.
        sizes: (M,) number of samples of each question, at least one.
        name: what the caller calls the outcomes, for messages.
        scored: (S,) False for samples that are not scored, or None if all are.
        size: number of samples of each question, if it is known to be the same for all.
        times: (S,) how often each sample occurs, or None if once each.
    """

    values: np.ndarray
    sizes: np.ndarray
    name: str = "R"
    scored: np.ndarray | None = None
    size: int | None = None
    times: np.ndarray | None = None

    @classmethod
    def concatenate(cls, batches: Sequence[Outcomes]) -> Outcomes:
        """Return the outcomes of all questions of several batches."""
        if len(batches) == 1:
            return batches[0]
        return cls(
            np.concatenate([batch.values for batch in batches]),
            np.concatenate([batch.sizes for batch in batches]),
            batches[0].name,
            _concatenate_or_none(batches, "scored", bool),
            times=_concatenate_or_none(batches, "times", np.int64),
        )

    def require(self, valid: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not valid.

        Args:
            valid: (S,) bool.
            wanted: what a valid outcome is.
        """
        invalid = ~valid if self.scored is None else ~valid & self.scored
        if invalid.any():
            first = int(np.argmax(invalid))
            where = f"{place(self.name, self.sizes, first)} is"
            if self.times is not None:  # samples have no places
                where = f"{where.rpartition('[')[0]} has an outcome"
            raise ValueError(f"{where} {self.values[first]}: {wanted}.")

    def counts(self) -> BinaryCounts:
        """Return the number of scored and of correct samples of each question.

        Raises:
            ValueError: if a scored outcome is not 0 or 1, or if a question has no scored sample.
        """
        size = self.size or one_size(self.sizes)
        if self.times is not None:
            correct = require_binary(self).values * self.scored_times
            return BinaryCounts(self.n, sums_per_question(correct, self.sizes))
        if self.scored is not None or not size:
            require_binary(self)
            correct = self.values if self.scored is None else (self.values == 1) & self.scored
            return BinaryCounts(self.n, sums_per_question(correct, self.sizes))
        rows = self.values.reshape(-1, size)
        c = np.empty(len(rows), dtype=np.int64)
        # A block is validated and summed while it is in the cache.
        step = max(1, _BLOCK_BYTES // (size * rows.itemsize))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            if not _is_binary(block):
                require_binary(self)
            c[start : start + step] = _row_sums(block)
        return BinaryCounts(self.sizes, c)

    def category_counts(self, categories: int) -> np.ndarray:
        """Return (M, C + 1) the number of samples of each question in each category 0, .., C.

        Args:
            categories: C + 1.

        Raises:
            ValueError: if a scored outcome is not one of the categories.
        """
        if categories == 2:
            counts = self.counts()
            return np.array([counts.n - counts.c, counts.c]).T
        values = require_categories(self).values
        self.require(values < categories, f"the categories are 0 to {categories - 1}")
        table = np.zeros((len(self.n), categories), dtype=np.int64)
        last = np.cumsum(self.sizes)
        first = last - self.sizes
        # Blocks of samples bound the memory, which would be many times that of small integers.
        for start in range(0, len(values), _BLOCK_SAMPLES):
            stop = min(start + _BLOCK_SAMPLES, len(values))
            a, b = np.searchsorted(last, [start, stop - 1], side="right")
            questions = slice(a, b + 1)
            sizes = np.minimum(last[questions], stop) - np.maximum(first[questions], start)
            cell = np.repeat(np.arange(len(sizes)) * categories, sizes)
            cell += values[start:stop].astype(np.int64)
            times = None if self.times is None else self.times[start:stop]
            if self.scored is not None:
                scored = self.scored[start:stop]
                cell, times = cell[scored], None if times is None else times[scored]
            found = np.bincount(cell, times, minlength=len(sizes) * categories)
            table[questions] += found.astype(np.int64).reshape(-1, categories)
        return table

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) number of scored samples of each question; a ValueError if there are none."""
        if self.scored is None and self.times is None:
            return self.sizes
        n = sums_per_question(self.scored_times, self.sizes)
        if not n.all():
            raise ValueError(f"Question {n.argmin()} has no scored sample: leave it out.")
        return n

    @property
    def scored_times(self) -> np.ndarray:
        """(S,) how often each sample occurs and is scored."""
        scored = np.ones(len(self.values), dtype=bool) if self.scored is None else self.scored
        return scored if self.times is None else self.times * scored

    @property
    def scored_values(self) -> np.ndarray:
        """(sum of n,) the values of the scored samples, each as often as it occurs."""
        if self.times is not None:
            return np.repeat(self.values, self.scored_times)
        return self.values if self.scored is None else self.values[self.scored]


def _concatenate_or_none(batches: Sequence[Outcomes], field: str, dtype: type) -> np.ndarray | None:
    """Return a field of all batches, ones where it is None, or None if it always is."""
    if all(getattr(batch, field) is None for batch in batches):
        return None
    parts = [getattr(batch, field) for batch in batches]
    sizes = [len(batch.values) for batch in batches]
    return np.concatenate(
        [
            np.ones(size, dtype) if part is None else part
            for part, size in zip(parts, sizes, strict=True)
        ]
    )


# --- Sums ---------------------------------------------------------------------------------


def sums_per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return (M,) sums over the samples of each question.

    Args:
        values: (S,) each 0 or 1, of any type.
        sizes: (M,) number of samples of each question, at least one.
    """
    if size := one_size(sizes):
        return _row_sums(values.reshape(-1, size)).astype(np.int64)
    return np.add.reduceat(values, np.cumsum(sizes) - sizes, dtype=np.int64)


def _row_sums(rows: np.ndarray) -> np.ndarray:
    """Return the sum of each row of values that are 0 or 1."""
    if rows.itemsize > 1:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    samples = rows.shape[1]
    rows = rows.view(np.uint8)
    if width := math.gcd(samples, 64) // 8:
        # Packed to one bit per sample, up to 64 samples are counted at once. That takes twice as
        # long as reading the bytes; adding them takes up to ten times as long.
        bits = np.packbits(rows.reshape(-1).view(bool)).view(f"u{width}")
        rows = np.bitwise_count(bits).reshape(len(rows), -1)
    if rows.shape[1] == 1:
        return rows[:, 0]
    return np.einsum("ij->i", rows, dtype=np.uint8 if samples < 256 else np.int64)


# --- Validation ---------------------------------------------------------------------------


def require_binary(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if not _is_binary(values):
        wanted = "an outcome is 0 or False if incorrect, 1 or True if correct"
        outcomes.require((values == 0) | (values == 1), wanted)
    return outcomes


def _is_binary(values: np.ndarray) -> bool:
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        # OR-ing all values costs half as much as comparing each.
        return np.bitwise_or.reduce(values.reshape(-1)) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


def require_categories(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is a category."""
    values = outcomes.values
    whole = values == np.floor(values) if values.dtype.kind == "f" else True
    outcomes.require((values >= 0) & whole, "an outcome is a category 0, 1, 2, ..")
    return outcomes


def require_shares(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is from 0 to 1."""
    values = outcomes.values
    wanted = "an outcome is 0 or 1, or a share of correctness from 0.0 to 1.0"
    outcomes.require((values >= 0) & (values <= 1), wanted)
    return outcomes


def require_finite(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is a finite number."""
    outcomes.require(
        np.isfinite(outcomes.values),
        "an outcome is a finite number, or None if the sample is not scored "
        "(np.ma.masked_invalid leaves out every NaN of an array)",
    )
    return outcomes


def number_of_samples(n: np.ndarray) -> int | str:
    """Return the number of samples per question as keys show it, or "n" if it differs.

    Args:
        n: (M,) number of samples of each question.
    """
    return one_size(n) or "n"


# --- Reading ------------------------------------------------------------------------------


def read_outcomes(R, name: str = "R", labels: Mapping[str, float] | None = None) -> Outcomes:
    """Read outcomes from an array (M, N), a nested list, a ragged nested list or a data frame.

    A flat array or list is one question, and so is a row of a data frame. Missing entries (None,
    masked, or NA of pandas) are not scored.

    Args:
        R: the outcomes, or counts of them, see `count_tables`.
        name: what the caller calls them, for messages.
        labels: texts that may stand for outcomes, and the number of each.

    Raises:
        ValueError: if there is no question, if a question has no entry, or if an entry is not a
            finite number, with the place.
    """
    R = as_arrow(R)
    if is_counts(R):
        return outcomes_of_counts(R, name)
    if is_frame(R):
        R = sample_rows(R, name)
    if not is_list_like(R):
        raise ValueError(f"{name} is {short(R)}: each question has a list of outcomes.")
    is_array = hasattr(R, "__array__") and not hasattr(R, "to_pylist")  # Arrow's None would be nan
    array = to_array(R) if is_array else np.empty(0, dtype=object)
    if array.dtype.kind in "biuf" and not is_masked(R):
        if array.ndim > 2:
            raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
        questions, samples = array.shape if array.ndim == 2 else (1, array.size)
        outcomes = Outcomes(array.ravel(), np.full(questions, samples), name, size=samples)
    else:
        outcomes = _read_lists(_entries(R), name, labels or {})
    if len(outcomes.sizes) == 0:
        raise ValueError(f"{name} holds no question.")
    if not (outcomes.size or outcomes.sizes.all()):
        empty = int(np.argmin(outcomes.sizes))
        raise ValueError(f"{name}[{empty}] is empty: a question needs a sample.")
    if outcomes.values.dtype.kind == "f":
        require_finite(outcomes)
    return outcomes


def outcomes_of_counts(counts, name: str) -> Outcomes:
    """Return the outcomes that counts stand for, see `count_tables`.

    Raises:
        ValueError: if `read_counts` raises it, or if there is no question.
    """
    samples, times, sizes = read_counts(counts, name)
    if isinstance(samples, list):
        raise ValueError(f"{name} has answers: give them to a metric, with references.")
    if not len(sizes):
        raise ValueError(f"{name} holds no question.")
    return Outcomes(samples, sizes, name, times=times)


def _read_lists(rows: list[Any], name: str, labels: Mapping[str, float]) -> Outcomes:
    if is_counts(rows):
        return outcomes_of_counts(rows, name)
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
    types = {*map(type, flat)}
    if not types <= PLAIN_TYPES:
        flat = [plain_entry(entry) for entry in flat]
        types = {*map(type, flat)}
    scored = None
    if type(None) in types:
        scored = np.array([entry is not None for entry in flat], dtype=bool)
        flat = [0 if entry is None else entry for entry in flat]
    if labels and str in types:
        flat = [labels.get(entry, entry) if isinstance(entry, str) else entry for entry in flat]
    values = _as_array(flat)
    if flat and (values.ndim != 1 or values.dtype.kind not in "biuf"):
        wrong = next(i for i, entry in enumerate(flat) if not _fits_in_64_bits(entry))
        known = f"one of {', '.join(labels)}, or a number" if labels else "a number or a bool"
        raise ValueError(
            f"{place(name, sizes, wrong)} is {short(flat[wrong])}: an outcome is {known}."
        )
    return Outcomes(values, sizes, name, scored)


PLAIN_TYPES = {bool, int, float, str, type(None)}


def _entries(row) -> list[Any]:
    for method in ("tolist", "to_pylist"):
        if hasattr(row, method):
            return getattr(row, method)()
    return list(row)


def _fits_in_64_bits(entry) -> bool:
    return isinstance(entry, float) or (isinstance(entry, int) and -(2**63) <= entry < 2**63)


def _as_array(flat: list[Any]) -> np.ndarray:
    try:
        return np.asarray(flat)
    except ValueError:  # some entries are lists of different lengths
        return np.empty(0, dtype=object)
