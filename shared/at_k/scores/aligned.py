"""Numbers for single samples, such as the labels that a person gave to some of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.checks import InputError, Place, is_list_like, short
from ..core.samples import Samples, read_samples, sample_place


class Aligned(NamedTuple):
    """A number for each of S samples, question after question.

    Attributes:
        rows: the numbers as they were read, whose name and sizes messages use.
        values: (S,) numbers.
        is_given: (S,) False for samples without a number.
    """

    rows: Samples
    values: np.ndarray
    is_given: np.ndarray

    def require(self, valid: np.ndarray, wanted: str) -> None:
        """Raise a ValueError that says `wanted` for the first number that is not `valid`, (S,)."""
        if (invalid := self.is_given & ~valid).any():
            first = int(np.argmax(invalid))
            place = sample_place(self.rows.name, self.rows.sizes, first)
            raise InputError(place, f" is {self.values[first]}: {wanted}.")


def read_aligned(lists, name: str, sizes: np.ndarray) -> Aligned:
    """Return numbers for samples, from lists of the same lengths as those of the samples.

    Args:
        lists: for each of M questions a list of numbers, in which None and NaN are missing; or None
            for a question without any.
        name: the name of the parameter, for messages.
        sizes: (M,) number of samples of each question.

    Raises:
        ValueError: if an entry is no number, or if a length differs, with the question.
    """
    if is_list_like(lists) and not hasattr(lists, "dtype"):
        lists = list(lists)
        if len(lists) == len(sizes):
            pairs = zip(lists, sizes.tolist(), strict=True)
            lists = [[None] * size if row is None else row for row, size in pairs]
    rows = read_samples(lists, name)
    if rows.multiplicity is not None or not rows.are_numbers:
        raise ValueError(
            f"{name} is {short(lists)}: give a number for each sample in lists, as the predictions "
            f"are, and None for samples without one."
        )
    if len(rows) != len(sizes):
        raise ValueError(f"{name} has {len(rows)} questions, and predictions have {len(sizes)}.")
    if (rows.sizes != sizes).any():
        question = int(np.argmax(rows.sizes != sizes))
        raise InputError(
            Place(name, question),
            f" has {rows.sizes[question]} entries for {sizes[question]} samples: give one for "
            f"each sample, and None for samples without one.",
        )
    values = rows.values
    is_given = np.ones(len(values), bool) if rows.scored is None else rows.scored
    if values.dtype.kind == "f":
        is_given = is_given & ~np.isnan(values)
    return Aligned(rows, values, is_given)


def read_scores(lists, name: str, outcomes: Samples) -> np.ndarray:
    """Return a number for each of S samples, (S,), finite for those that are scored.

    Args:
        lists, name: as in `read_aligned`.
        outcomes: the samples.

    Raises:
        ValueError: if a scored sample has no number, or if samples are counts, which have no order.
    """
    if outcomes.multiplicity is not None:
        raise ValueError(f"{name} goes with samples in their order, and predictions are counts.")
    aligned = read_aligned(lists, name, outcomes.sizes)
    missing = outcomes.is_scored & ~(aligned.is_given & np.isfinite(aligned.values))
    if missing.any():
        place = sample_place(name, outcomes.sizes, int(np.argmax(missing)))
        raise InputError(place, " is missing: give a finite number for each scored sample.")
    return aligned.values.astype(float)
