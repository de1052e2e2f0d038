"""Numbers for single samples, such as the labels that a person gave to some of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.checks import InputError, Place, is_list_like, short
from ..core.samples import Samples, read_samples, sample_place


def read_aligned(lists, name: str, sizes: np.ndarray) -> Samples:
    """Return a number for each sample as the values of other samples of the same sizes, (M,).

    A list has the numbers of the samples of a question, in which None and NaN are missing; or it is
    None. A sample without a number counts as not scored in the result. `name` is that of the
    parameter.

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
    return replace(rows, scored=rows.is_scored & (rows.values == rows.values))  # NaN is not equal


def read_scores(lists, name: str, outcomes: Samples) -> np.ndarray:
    """Return a number for each of S samples, (S,). That of a sample that is not scored may be NaN.

    `lists` are as in `read_aligned`, in the order of the samples.

    Raises:
        ValueError: if a scored sample has no finite number, or if the samples are counts, which
            have no order.
    """
    if outcomes.multiplicity is not None:
        raise ValueError(f"{name} goes with samples in their order, and predictions are counts.")
    numbers = read_aligned(lists, name, outcomes.sizes)
    missing = outcomes.is_scored & ~(numbers.is_scored & np.isfinite(numbers.values))
    if missing.any():
        place = sample_place(name, outcomes.sizes, int(np.argmax(missing)))
        raise InputError(place, " is missing: give a finite number for each scored sample.")
    return numbers.values.astype(float)
