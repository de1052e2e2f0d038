"""Read the samples of M questions from data frames, from runs, and from counts in their place.

A data frame of samples has a question in each row. Counts, such as those of a GROUP BY, are a dict
for each question, or a dict or a data frame with its keys as columns: {"n": 8, "correct": 3}, or
{"counts": [2, 5, 1]} in each category 0, 1, .., or {"answers": ["12", "13"], "counts": [5, 3]}.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.checks import InputError, Place, entries_of, is_frame, is_list_like, short
from ..core.containers import as_arrow, plain_container, plain_entry
from ..core.samples import Samples, samples_from_lists

_FORMS = ({"n", "correct"}, {"counts"}, {"answers", "counts"})

_NOT_SAMPLES = {
    *("question_id", "task_id", "problem_id", "prompt_id", "doc_id", "example_id"),
    *("instance_id", "qid", "id", "question", "problem", "prompt"),
    *("task", "model", "group", "cluster", "uid", "uuid"),
    *("idx", "index", "epoch", "seed", "sample_id"),
    *("reference", "answer", "target"),
    *("n", "c", "correct", "passed", "outcome", "reward", "score", "verdict"),
}
"""Names in lower case, one of which shows that the columns of a data frame are not samples."""


def read_table(values: Any, name: str) -> Any:
    """Return the samples of a data frame, counts or a run; or other `values` unchanged.

    They are `Samples` for counts, and otherwise rows of samples. `name` is for messages. A
    ValueError or TypeError is raised if a count is invalid, or a column no sample.
    """
    if isinstance(values, Mapping) and "predictions" in values and name == "predictions":
        raise ValueError("predictions is a run: give all of it, as in compute(**run).")
    values = plain_container(outcomes_in_run(values, name))
    if _are_counts(values):
        return _counted_samples(_columns_of_counts(values, name), name)
    return plain_container(_rows_of_samples(values, name)) if is_frame(values) else values


def outcomes_in_run(R: Any, name: str) -> Any:
    """Return R["predictions"] if R is a run, as `at_k.read` returns it, otherwise R itself.

    Raises a ValueError if the run has references or anything else that a function would ignore.
    """
    if not isinstance(R, Mapping) or "predictions" not in R:
        return R
    for argument in R:
        if argument not in ("predictions", "groups"):
            raise ValueError(
                f"{name} is a run with {argument}, which a function does not use: give the run to "
                f"a metric, as in at_k.load('gpassk').compute(**run)."
            )
    return R["predictions"]


# --- Data frames --------------------------------------------------------------------------


def _rows_of_samples(frame: Any, name: str) -> np.ndarray | list[Any]:
    """Return the rows of a frame; raise an error if its columns are not samples of a question."""
    is_structured = isinstance(frame, np.ndarray)
    for column in _column_names(frame):
        if column.lower() not in _NOT_SAMPLES:
            continue
        if is_structured:
            raise TypeError(
                "A structured array has a sample in each row: give at_k.read a data frame."
            )
        raise ValueError(
            f"{name} is a data frame with a column {column!r}, which holds no samples: each row is "
            f"a question, and each column one of its samples. at_k.read gathers the rows of other "
            f"frames by question."
        )
    rows = frame.tolist() if is_structured else _rows_of_frame(frame)
    if len(rows) and len(rows[0]) == 1 and is_list_like(rows[0][0]):
        raise ValueError(
            f"{name} is a data frame whose one column has a list in each row: give the column."
        )
    return rows


def _column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame or a structured array as texts."""
    if isinstance(frame, np.ndarray):
        return list(frame.dtype.names or ())
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def _rows_of_frame(frame: Any) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame as an array if all are NumPy numbers, otherwise as lists."""
    if hasattr(frame, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in frame.columns]
        return [list(row) for row in zip(*columns, strict=True)]
    dtypes = getattr(frame, "dtypes", [])
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return np.asarray(frame)
    return np.asarray(frame.astype(object)).tolist()  # Other types would change missing entries.


# --- Counts -------------------------------------------------------------------------------


def _are_counts(values: Any) -> bool:
    """Return whether the keys of the values, or of the first one in a list, are those of counts."""
    if isinstance(values, list):
        return bool(values) and isinstance(values[0], Mapping) and {*values[0]} in _FORMS
    if isinstance(values, Mapping):
        return {*values} in _FORMS
    return is_frame(values) and {*_column_names(values)} in _FORMS


def _counted_samples(columns: dict[str, Any], name: str) -> Samples:
    """Return categories or answers, once per question, with the counts in `columns`, (M,) each."""
    if "n" in columns:  # The categories are 0, with n - correct samples, and 1.
        n, correct = (_whole_numbers(columns[key], name, key) for key in ("n", "correct"))
        if (correct > n).any():
            question = int(np.argmax(correct > n))
            raise InputError(
                Place(name, question, key="correct"),
                f" is {correct[question]} of {n[question]} samples: give a number from 0 to n.",
            )
        counts = np.stack([n - correct, correct], axis=1).ravel()
        return Samples(np.tile([0, 1], len(n)), np.full(len(n), 2), name, counts)
    rows, answers = columns["counts"], columns.get("answers")
    _check_rows(rows, answers, name)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    counts = _whole_numbers([*itertools.chain.from_iterable(rows)], name, "counts", sizes)
    if answers is None:
        return Samples(np.tile(np.arange(sizes.max(initial=0)), len(sizes)), sizes, name, counts)
    samples = samples_from_lists(answers, name)  # The weight of None, not scored, is 0.
    return replace(samples, multiplicity=counts * samples.weights)


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
    """Return the M entries of each key of counts, such as "n".

    `values` is a list of M dicts with the same keys, or a dict or data frame of columns.
    """
    if isinstance(values, list):
        for question, row in enumerate(values):
            if not isinstance(row, Mapping) or {*row} != {*values[0]}:
                wanted = f"give {' and '.join(values[0])} for each question, as for the first"
                raise InputError(Place(name, question), f" is {short(row)}: {wanted}.")
        return {key: [row[key] for row in values] for key in values[0]}
    keys = _column_names(values) if is_frame(values) else values
    columns: dict[str, Any] = {}
    for key in keys:
        column = as_arrow(values[key])
        if is_frame(column):  # a table with a column for each category
            columns[key] = _rows_of_frame(column)
        else:
            columns[key] = entries_of(f"{name}[{key!r}]", column)
    if len({*map(len, columns.values())}) > 1:
        lengths = " and ".join(f"{len(column)} {key}" for key, column in columns.items())
        raise ValueError(f"{name} has {lengths}: give one of each for every question.")
    return columns


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
