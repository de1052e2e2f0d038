"""Outcomes: numbers that grade samples, and what each metric accepts as one.

Samples of one question are exchangeable, so the counts of its outcomes are sufficient: ragged
inputs, unscored samples and shards of a run are all counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .checks import SAMPLE, InputError, InPython, Place, short
from .containers import to_numpy
from .counts import BinaryCounts, joined_multiplicity, one_size, row_sums, sums_per_question
from .rows import Rows, read_rows, require_sample, sample_place

_BLOCK_BYTES = 1 << 21  # outcomes that are counted at once, which fit in the cache
_BLOCK_SAMPLES = 1 << 20  # categories that are counted at once, to bound memory

Labels = Mapping[str, float]
"""Labels that stand for outcomes, and the number of each."""


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every sample, question after question.

    Attributes:
        values: (S,) bool, int or float, S being the sum of the sizes.
        sizes: (M,) number of values of each question, at least one.
        name: what the caller calls the outcomes, for messages.
        scored: (S,) False for samples that are not scored, or None if all are.
        multiplicity: (S,) how often each value occurs, or None if once each.
    """

    values: np.ndarray
    sizes: np.ndarray
    name: str = "R"
    scored: np.ndarray | None = None
    multiplicity: np.ndarray | None = None

    def __len__(self) -> int:
        """M."""
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """The memory that the outcomes take."""
        arrays = (self.values, self.sizes, self.scored, self.multiplicity)
        return sum(array.nbytes for array in arrays if array is not None)

    @classmethod
    def concatenate(cls, batches: Sequence[Outcomes]) -> Outcomes:
        """Return the outcomes of all questions of several batches."""
        scored = None
        if any(batch.scored is not None for batch in batches):
            scored = np.concatenate([batch.is_scored for batch in batches])
        values = np.concatenate([batch.values for batch in batches])
        sizes = np.concatenate([batch.sizes for batch in batches])
        return cls(values, sizes, batches[0].name, scored, joined_multiplicity(batches))

    def require(self, valid: np.ndarray, *wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not valid.

        Args:
            valid: (S,) bool.
            wanted: what a valid outcome is, in parts of the message.
        """
        invalid = ~valid if self.scored is None else ~valid & self.scored
        if invalid.any():
            first = int(np.argmax(invalid))
            place, verb = sample_place(self.name, self.sizes, first), "is"
            value = self.values[first]
            if self.multiplicity is not None:  # samples have no index
                place, verb = place._replace(sample=None, value=value.item()), "has an outcome"
            raise InputError(place, f" {verb} {value}: ", *wanted, ".")

    def counts(self) -> BinaryCounts:
        """Return the number of scored and of correct samples of each question.

        Raises:
            ValueError: if a scored outcome is not 0 or 1, or if a question has no scored sample.
        """
        if self.multiplicity is not None:
            correct = require_binary(self).values * self.weights
            return BinaryCounts(self.n, sums_per_question(correct, self.sizes))
        size = one_size(self.sizes)
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
            c[start : start + step] = row_sums(block)
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
        for start in range(0, len(values), _BLOCK_SAMPLES):
            stop = min(start + _BLOCK_SAMPLES, len(values))
            a, b = np.searchsorted(last, [start, stop - 1], side="right")
            questions = slice(a, b + 1)
            sizes = np.minimum(last[questions], stop) - np.maximum(first[questions], start)
            cell = np.repeat(np.arange(len(sizes)) * categories, sizes)
            cell += values[start:stop].astype(np.int64)
            weights = None
            if self.scored is not None or self.multiplicity is not None:
                weights = self.weights[start:stop]
            block = np.bincount(cell, weights, minlength=len(sizes) * categories)
            table[questions] += block.astype(np.int64).reshape(-1, categories)
        return table

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) number of scored samples of each question; a ValueError if there are none."""
        if self.scored is None and self.multiplicity is None:
            return self.sizes
        n = sums_per_question(self.weights, self.sizes)
        if not n.all():
            place = Place("Question", int(n.argmin()))
            raise InputError(place, " has no scored ", SAMPLE, ": leave it out.")
        return n

    @property
    def is_scored(self) -> np.ndarray:
        """(S,) whether each sample is scored."""
        return np.ones(len(self.values), dtype=bool) if self.scored is None else self.scored

    @property
    def weights(self) -> np.ndarray:
        """(S,) how often each value occurs, and 0 if it is not scored."""
        return self.is_scored if self.multiplicity is None else self.multiplicity * self.is_scored

    @property
    def scored_values(self) -> np.ndarray:
        """(sum of n,) the values of the scored samples, each as often as it occurs."""
        if self.multiplicity is not None:
            return np.repeat(self.values, self.weights)
        return self.values if self.scored is None else self.values[self.scored]


# --- Validation ---------------------------------------------------------------------------


def require_binary(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if not _is_binary(values):
        wanted = ["an outcome is 0", InPython(" or False"), " if incorrect, 1"]
        wanted += [InPython(" or True"), " if correct"]
        if np.any((values < 0) | (values % 1 != 0)):
            wanted.append(" (max_at_k and bayes_at_n take rewards, as floats such as -1.0)")
        outcomes.require((values == 0) | (values == 1), *wanted)
    return outcomes


def _is_binary(values: np.ndarray) -> bool:
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        # OR-ing all values costs half as much as comparing them.
        return np.bitwise_or.reduce(values.reshape(-1)) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


def require_categories(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes; raise a ValueError unless every scored one is a category."""
    values = outcomes.values
    whole = values == np.floor(values) if values.dtype.kind == "f" else True
    outcomes.require(
        (values >= 0) & whole,
        "an outcome is a category 0, 1, 2, .. (a real reward is a float, such as -1.0)",
    )
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
        "an outcome is a finite number, or None if the sample is not scored",
        InPython(" (np.ma.masked_invalid leaves out every NaN of an array)"),
    )
    return outcomes


# --- Reading ------------------------------------------------------------------------------


def number_of_samples(n: np.ndarray) -> int | str:
    """Return the number of samples per question as keys show it, or "n" if it differs.

    Args:
        n: (M,) number of samples of each question.
    """
    return one_size(n) or "n"


def read_outcomes(R, name: str = "R", labels: Labels | None = None) -> Outcomes:
    """Read already-graded outcomes, see `read_rows` and `outcomes_of`, or counts of them.

    A flat list or array is one question. Missing entries (None, masked, or NA of pandas) are not
    scored.
    """
    return outcomes_of(read_rows(R, name, flat_is_one_question=True), labels)


def outcomes_of(rows: Rows, labels: Labels | None = None) -> Outcomes:
    """Return the outcomes that rows without references are, with the numbers of labels.

    Raises:
        ValueError: if a sample is neither a finite number nor one of the labels, or if a question
            has nothing but None, with its index.
    """
    values, scored = rows.values, rows.scored
    if not rows.are_numbers():
        values, scored = _numbers_of_labels(rows, labels or {})
    outcomes = Outcomes(values, rows.sizes, rows.name, scored, rows.multiplicity)
    if scored is not None:
        require_sample(rows.name, sums_per_question(scored, rows.sizes))
    return require_finite(outcomes) if values.dtype.kind == "f" else outcomes


def _numbers_of_labels(rows: Rows, labels: Labels) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (S,) numbers, and (S,) whether each sample is scored, or None if all are."""
    entries, index = rows.values, None
    if not isinstance(entries, list) and str(entries.type) != "large_string":
        entries = entries.to_pylist()
    if not isinstance(entries, list):  # texts of Arrow: the distinct ones suffice
        encoded = entries.combine_chunks().dictionary_encode()
        entries, index = encoded.dictionary.to_pylist(), to_numpy(encoded.indices.fill_null(-1))
        entries.append(None)
    numbers = [labels.get(entry, entry) if isinstance(entry, str) else entry for entry in entries]
    for entry, number in enumerate(numbers):
        is_integer = isinstance(number, int) and -(2**63) <= number < 2**63
        if not (number is None or isinstance(number, float) or is_integer):
            sample = entry if index is None else int(np.argmax(index == entry))
            raise _no_outcome(rows, sample, number, labels)
    scored = np.array([number is not None for number in numbers], dtype=bool)
    values = np.asarray([0 if number is None else number for number in numbers])
    if index is not None:
        values, scored = values[index], scored[index]
    return values, None if scored.all() else scored


def _no_outcome(rows: Rows, sample: int, entry: Any, labels: Labels) -> ValueError:
    problem = ": an outcome is a number or a bool."
    if labels:
        problem = f", which is none of {', '.join(labels)}, and no number."
    elif isinstance(entry, str) and rows.name == "predictions":
        problem = (
            ", but there are no references to check the predictions against: give references, or "
            "bools or numbers as predictions."
        )
    place = sample_place(rows.name, rows.sizes, sample)
    return InputError(place, f" is {short(entry)}{problem}")
