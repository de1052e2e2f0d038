"""Arrays, tensors and data frames of other libraries as values of NumPy and Python."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from ..checks import is_list_like


def to_array(values) -> np.ndarray:
    """Return an array of any library as one of NumPy.

    A tensor of torch may need its gradient or be on another device. NumPy has no bfloat16, so that
    becomes float32, which has all of its values.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = values.float()
    array = np.asarray(values)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def plain_entry(value) -> Any:
    """Return a number, a text or a missing value of any library as one of Python."""
    if type(value).__name__ in ("NAType", "MaskedConstant"):  # of pandas, and of a masked array
        return None
    if isinstance(value, np.longdouble):  # its `item` returns a longdouble again
        return float(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        value = value.as_py()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    is_scalar = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if is_scalar else value


# --- Data frames --------------------------------------------------------------------------


def as_arrow(values) -> Any:
    """Return a frame or a column of polars or DuckDB, or a stream of Arrow, as one of Arrow.

    Other values are returned as they are, and a memoryview as an array.
    """
    if isinstance(values, memoryview):
        return np.asarray(values)
    if hasattr(values, "collect_schema") and hasattr(values, "collect"):  # a lazy frame of polars
        values = values.collect()
    for method in ("to_arrow_table", "to_arrow", "read_all"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values


def is_frame(values) -> bool:
    """Whether the values are a data frame of pandas, or a table of Arrow."""
    return hasattr(values, "columns") and hasattr(values, "shape")


def frame_rows(frame, name: str) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame, a question each.

    Numbers without missing entries become an array, and other entries become lists.

    Raises:
        ValueError: if the frame has one column, of lists: the column is what was meant.
    """
    if hasattr(frame, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in frame.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
    else:
        dtypes = getattr(frame, "dtypes", [])
        if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
            return np.asarray(frame)
        rows = np.asarray(frame.astype(object)).tolist()  # which keeps missing entries as they are
    if rows and len(rows[0]) == 1 and is_list_like(rows[0][0]):
        raise ValueError(
            f"{name} is a data frame whose one column has a list in each row: give the column."
        )
    return rows
