"""Counts in place of samples, which a database computes with one GROUP BY.

The counts of a question have one of three forms:

    {"n": 8, "correct": 3}                        numbers of samples and of correct samples
    {"counts": [2, 5, 1]}                         number of samples in each category 0, 1, ..
    {"answers": ["12", "13"], "counts": [5, 3]}   number of samples with each answer

The counts of M questions are a list of M such dicts, or a dict with these keys as columns of M
entries. The package also takes a data frame with these columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from .checks import InputError, Place, entries_of, is_frame, is_list_like, short
from .containers import as_arrow, plain_entry
from .package import PACKAGE

FORMS_OF_COUNTS = ({"n", "correct"}, {"counts"}, {"answers", "counts"})


def is_counts(values: Any) -> bool:
    """Return whether the keys of the values, or of the first one in a list, are those of counts."""
    first = values[0] if isinstance(values, list) and values else values
    return isinstance(first, Mapping) and {*first} in FORMS_OF_COUNTS


def read_counts(values: Any, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return what is counted, the S counts of all questions, and how many each question has, (M,).

    What is counted are categories, (S,), or M lists of answers. A ValueError is raised if a count
    is no whole number, or if a question has not one count for each category or answer.
    """
    columns = _columns_of_counts(values, name)
    if "n" in columns:  # The categories are 0, with n - correct samples, and 1.
        n, correct = (_whole_numbers(columns[key], name, key) for key in ("n", "correct"))
        if (correct > n).any():
            question = int(np.argmax(correct > n))
            raise InputError(
                Place(name, question, key="correct"),
                f" is {correct[question]} of {n[question]} samples: give a number from 0 to n.",
            )
        counts = np.stack([n - correct, correct], axis=1)
        return np.tile([0, 1], len(n)), counts.ravel(), np.full(len(n), 2)
    rows, answers = columns["counts"], columns.get("answers")
    _check_rows(rows, answers, name)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    counts = _whole_numbers([*itertools.chain.from_iterable(rows)], name, "counts", sizes)
    if answers is None:
        answers = np.tile(np.arange(sizes.max(initial=0)), len(sizes))
    return answers, counts, sizes


def _check_rows(rows: Any, answers: Any, name: str) -> None:
    """Raise a ValueError if a row of counts has not one for each category, or for each answer."""
    for question, row in enumerate(rows):
        place = Place(name, question, key="counts")
        if not is_list_like(row):
            raise InputError(place, f" is {short(row)}: give a list of counts.")
        if answers is None and len(row) != len(rows[0]):
            first = Place("question", 0), f" has {len(rows[0])}: give a count for each category."
            raise InputError(place, f" has {len(row)} categories, and that of ", *first)
        own = row if answers is None else answers[question]
        if not is_list_like(own) or len(own) != len(row):
            what = f" is {short(own)}, with {len(row)} counts: give one count for each answer."
            raise InputError(place._replace(key="answers"), what)


def _columns_of_counts(values: Any, name: str) -> dict[str, Any]:
    """Return a dict from each key of counts, such as "n", to a sequence of M entries.

    `values` is a list of M dicts with the same keys, or a dict of columns.
    """
    if isinstance(values, list):
        for question, row in enumerate(values):
            if not isinstance(row, Mapping) or {*row} != {*values[0]}:
                wanted = f"give {' and '.join(values[0])} for each question, as for the first"
                raise InputError(Place(name, question), f" is {short(row)}: {wanted}.")
        return {key: [row[key] for row in values] for key in values[0]}
    columns = {key: _entries_of_column(f"{name}[{key!r}]", values[key]) for key in values}
    if len({*map(len, columns.values())}) > 1:
        lengths = " and ".join(f"{len(column)} {key}" for key, column in columns.items())
        raise ValueError(f"{name} has {lengths}: give one of each for every question.")
    return columns


def _entries_of_column(name: str, column: Any) -> Any:
    """Return the M entries of a column, or the rows of a data frame of counts by category."""
    column = as_arrow(column)
    return PACKAGE.rooms.frame_rows(column) if is_frame(column) else entries_of(name, column)


def _whole_numbers(
    entries: Any, name: str, key: str, sizes: np.ndarray | None = None
) -> np.ndarray:
    """Return the counts in a column as integers; raise a ValueError for the first invalid one.

    `sizes`, (M,), is the number of counts of each question, or None for one each.
    """
    counts = [plain_entry(entry) for entry in entries]
    for index, count in enumerate(counts):
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if is_number and 0 <= count < 2**53 and count % 1 == 0:  # Larger floats have gaps.
            continue
        question = index
        if sizes is not None:
            question = int(np.searchsorted(np.cumsum(sizes), index, side="right"))
        what = f" has the count {short(entries[index])}: give a whole number of at least 0."
        raise InputError(Place(name, question, key=key), what)
    return np.array(counts, dtype=np.int64)
