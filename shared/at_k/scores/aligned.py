"""Numbers for single samples, such as the labels that a person gave to some of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.checks import InputError, Place, is_list_like, short
from ..core.samples import Samples, read_samples, sample_place


def read_aligned(lists, name: str, sizes: np.ndarray) -> Samples:
    """Return the numbers that a user gives for samples, such as labels, as a `Samples` object.

    `lists` has a list of numbers for each of M questions with `sizes`, (M,), samples. None or NaN
    for a sample, or None for a question, means no number: such samples are marked as not scored.
    Raises ValueError, with the `name` of the parameter, for another entry or length.
    """
    if is_list_like(lists) and not hasattr(lists, "dtype"):
        lists = list(lists)
        if len(lists) == len(sizes):
            pairs = zip(lists, sizes.tolist(), strict=True)
            lists = [[None] * size if row is None else row for row, size in pairs]
    numbers = read_samples(lists, name)
    if numbers.are_counts or not numbers.are_numbers:
        raise ValueError(
            f"{name} is {short(lists)}: give a number for each sample in lists, as the predictions "
            f"are, and None for samples without one."
        )
    if len(numbers) != len(sizes):
        raise ValueError(f"{name} has {len(numbers)} questions, and predictions have {len(sizes)}.")
    if (numbers.sizes != sizes).any():
        question = int(np.argmax(numbers.sizes != sizes))
        raise InputError(
            Place(name, question),
            f" has {numbers.sizes[question]} entries for {sizes[question]} samples: give one for "
            f"each sample, and None for samples without one.",
        )
    is_number = numbers.values == numbers.values  # NaN is not equal to itself.
    return replace(numbers, multiplicity=numbers.is_scored & is_number)


def read_scores(lists, name: str, outcomes: Samples) -> np.ndarray:
    """Return the number that a user gives for each of the S samples in `outcomes`, (S,).

    It may be NaN for a sample that is not scored. `lists` and `name` are as in `read_aligned`.
    Raises ValueError if a scored sample has no finite number, or if the samples are counts, which
    have no order.
    """
    if outcomes.are_counts:
        raise ValueError(f"{name} goes with samples in their order, and predictions are counts.")
    numbers = read_aligned(lists, name, outcomes.sizes)
    missing = outcomes.is_scored & ~(numbers.is_scored & np.isfinite(numbers.values))
    if missing.any():
        place = sample_place(name, outcomes.sizes, int(np.argmax(missing)))
        raise InputError(place, " is missing: give a finite number for each scored sample.")
    return numbers.values.astype(float)
