"""Read the samples of M questions from data frames and from runs, for the package only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.checks import is_frame, is_list_like
from ..core.containers import plain_container
from ..core.count_tables import FORMS_OF_COUNTS

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
    """Return the rows of samples, or the counts, in a data frame or a run.

    `name` is what the caller calls the values. A ValueError or TypeError is raised if a column of
    the data frame is no sample.
    """
    if isinstance(values, Mapping) and name == "predictions":
        raise ValueError("predictions is a run: give all of it, as in compute(**run).")
    values = plain_container(outcomes_in_run(values, name))
    if not is_frame(values):
        return values
    names = _column_names(values)
    if {*names} in FORMS_OF_COUNTS:
        return {key: values[key] for key in names}
    return plain_container(_rows_of_samples(values, name))


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
    rows = frame.tolist() if is_structured else frame_rows(frame)
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


def frame_rows(frame: Any) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame as an array if all are NumPy numbers, otherwise as lists."""
    if hasattr(frame, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in frame.columns]
        return [list(row) for row in zip(*columns, strict=True)]
    dtypes = getattr(frame, "dtypes", [])
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return np.asarray(frame)
    return np.asarray(frame.astype(object)).tolist()  # Other types would change missing entries.
