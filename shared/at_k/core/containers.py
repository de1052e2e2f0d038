"""What users hand in, of any library, as one of a few forms of Python, NumPy and Arrow.

`plain_container` makes of every container a list, an array of numbers or a column of Arrow, and
`plain_entry` of every entry a value of Python. Nothing here imports pyarrow before it has to,
because that takes half as long as importing all of at_k: Arrow's own objects have methods.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .checks import is_frame, is_list_like, is_masked, is_scalar, plain_number

_NOT_SAMPLES = {
    *("question_id", "task_id", "problem_id", "prompt_id", "doc_id", "example_id"),
    *("instance_id", "qid", "id", "question", "problem", "prompt"),
    *("task", "model", "group", "cluster", "uid", "uuid"),
    *("idx", "index", "epoch", "seed", "sample_id"),
    *("reference", "answer", "target"),
    *("n", "c", "correct", "passed", "outcome", "reward", "score", "verdict"),
}
"""Names of columns in frames whose rows are not the samples of one question, in lower case."""


def to_array(values) -> np.ndarray:
    """Return an array of any library as one of NumPy.

    A tensor of torch may need its gradient or be on another device. NumPy has no bfloat16 and no
    float8; they are converted to float32 without loss.

    Raises:
        TypeError: if the library cannot convert the array, for example because it has no data.
    """
    names = getattr(getattr(values, "dtype", None), "names", None) or ()
    if not _NOT_SAMPLES.isdisjoint(name.lower() for name in names):
        raise TypeError("A structured array has a sample in each row: give at_k.read a data frame.")
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            if str(values.dtype) == "torch.bfloat16":
                values = values.float()
        array = np.asarray(values)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        kind = f"{type(values).__module__}.{type(values).__name__}"
        raise TypeError(f"A {kind} cannot be converted to an array: {error}") from error
    # JAX's own types of floats, which np.unique and others cannot sort.
    is_foreign = array.dtype.isbuiltin == 2 and array.dtype.name.startswith(("float", "bfloat"))
    return array.astype(np.float32) if is_foreign else array


def plain_entry(value) -> Any:
    """Return a number, a text or a missing value of any library as one of Python."""
    if type(value).__name__ in ("NAType", "MaskedConstant"):  # of pandas, and of a masked array
        return None
    if isinstance(value, np.longdouble):  # its `item` returns a longdouble again
        return float(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        value = value.as_py()
    if isinstance(value, (Decimal, Fraction)):
        try:
            number = float(value)
        except OverflowError:  # a fraction that no double can hold
            return value
        except ValueError:  # a signaling nan
            return float("nan")
        return int(value) if number.is_integer() else number
    return plain_number("An entry", value) if is_scalar(value) else value


# --- Containers ---------------------------------------------------------------------------


def plain_container(values) -> Any:
    """Return a container as a list, an array of numbers, or a column of Arrow.

    A data frame, and what is no container, such as a dict or a text, are returned as they are.

    Raises:
        TypeError: if a library cannot convert its array.
    """
    values = as_arrow(values)
    if isinstance(values, (list, tuple)):
        return list(values)
    if is_frame(values) or not is_list_like(values):
        return values
    array = numeric_array(values)
    if array is not None:
        return array
    column = arrow_column(values)
    if column is None:
        return plain_list(values)
    if "arrow.json" in str(column.type):
        return _from_json(column.to_pylist())
    return column


def _from_json(entry: Any) -> Any:
    """Return the values of texts of JSON in nested lists."""
    if isinstance(entry, list):
        return [_from_json(nested) for nested in entry]
    return None if entry is None else json.loads(entry)


def plain_list(values) -> list[Any]:
    """Return the entries of an array, a column or an iterable."""
    for method in ("tolist", "to_pylist"):
        if hasattr(values, method):
            try:
                return getattr(values, method)()
            except RuntimeError:  # a tensor without data, or a sparse one: `to_array` says so
                return to_array(values).tolist()
    return list(values)


def numeric_array(values) -> np.ndarray | None:
    """Return an array of numbers without missing entries as one of NumPy; None for other values.

    A longdouble becomes a double, as it does in a list.
    """
    if not hasattr(values, "__array__") or hasattr(values, "to_pylist") or is_masked(values):
        return None
    array = to_array(values)
    if array.dtype.kind not in "biuf":
        return None
    return array if array.itemsize <= 8 else array.astype(float)


def arrow_column(values) -> Any:
    """Return an Arrow column, or that of a column of `datasets`; None for other values.

    Views and run-end encoded columns are no columns here: Arrow can neither cast every view
    correctly nor cast what is run-end encoded.
    """
    source = getattr(values, "source", None)  # the dataset, if this is a column of one
    if source is not None and getattr(source, "format", {}).get("type", "custom") != "custom":
        values = source.with_format("arrow")[values.column_name][:]
    if not hasattr(values, "to_pylist") or not hasattr(values, "null_count"):
        return None
    if "view" in str(values.type) or "run_end" in str(values.type):
        return None
    return values if hasattr(values, "chunks") else chunked([values])


def as_arrow(values) -> Any:
    """Convert data of polars and DuckDB, pandas columns of Arrow and Arrow streams to Arrow.

    A memoryview becomes an array, and a nested tensor a list. Other values are returned as they
    are.
    """
    if isinstance(values, memoryview):
        return np.asarray(values)
    if hasattr(getattr(values, "dtype", None), "pyarrow_dtype"):  # a column of pandas
        import pyarrow

        return pyarrow.array(values)
    if getattr(values, "is_nested", False):  # a tensor whose rows differ in length
        return list(values.unbind())
    if hasattr(values, "collect_schema") and hasattr(values, "collect"):  # a lazy frame of polars
        values = values.collect()
    for method in ("to_arrow_table", "to_arrow", "read_all"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values


# --- Arrow --------------------------------------------------------------------------------


def chunked(arrays: Iterable[Any]) -> Any:
    """Return arrays of Arrow as one column."""
    import pyarrow

    arrays = list(arrays)
    return pyarrow.chunked_array(arrays) if arrays else pyarrow.chunked_array([[]])


_NUMERIC = {
    *("null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("halffloat", "float", "double"),
}


def is_numeric(arrow_type) -> bool:
    """Return whether an Arrow type is one of bools, integers or floats, or of None alone."""
    return str(arrow_type) in _NUMERIC


def with_plain_type(column) -> Any:
    """Return an Arrow column with texts as large strings, and decimals as integers or doubles."""
    plain = column.type
    if str(plain).startswith("dictionary"):
        plain = plain.value_type
    if str(plain) == "string":
        plain = "large_string"  # without a limit of 2 GB
    elif str(plain).startswith("decimal"):
        if plain.scale == 0:  # a double rounds integers above 2^53
            with suppress(ValueError):  # more than 64 bits
                return column.cast("int64")
        plain = "double"
    return column if str(plain) == str(column.type) else column.cast(plain)


def to_numpy(values) -> np.ndarray:
    """Return an Arrow array or column as one NumPy array.

    Arrow's own `to_numpy` would import pandas, which takes half a second.
    """
    if hasattr(values, "chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    kind = str(values.type)
    if kind == "null":
        return np.zeros(len(values), dtype=np.int8)
    data, start, stop = values.buffers()[-1], values.offset, values.offset + len(values)
    if values.null_count or data is None or kind not in _NUMERIC:
        return values.to_numpy(zero_copy_only=False)
    if kind != "bool":
        return np.frombuffer(data, values.type.to_pandas_dtype())[start:stop]
    first = start // 8
    bits = np.frombuffer(data, np.uint8)[first : -(-stop // 8)]
    return np.unpackbits(bits, bitorder="little")[start - 8 * first : stop - 8 * first].view(bool)


def numbers_and_scored(values) -> tuple[np.ndarray, np.ndarray | None]:
    """Return numbers of Arrow, 0 for None, and whether each is given, or None if all are."""
    if not values.null_count:
        return to_numpy(values), None
    if str(values.type) == "halffloat":  # whose None some versions of Arrow cannot fill
        values = values.cast("float32")
    zero = False if str(values.type) == "bool" else 0
    return to_numpy(values.fill_null(zero)), to_numpy(values.is_valid())


# --- Data frames --------------------------------------------------------------------------


def column_names(frame) -> list[str]:
    """Return the names of the columns of a data frame as texts."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def sample_rows(frame, name: str) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame, which hold the samples of a question each.

    Raises:
        ValueError: if a column identifies questions, so that a row is a sample; or if the only
            column has lists, so that the column is what was meant.
    """
    for column in column_names(frame):
        if column.lower() in _NOT_SAMPLES:
            raise ValueError(
                f"{name} is a data frame with a column {column!r}, which holds no samples: each "
                f"row is a question, and each column one of its samples. at_k.read gathers the "
                f"rows of other frames by question."
            )
    rows = frame_rows(frame)
    if len(rows) and len(rows[0]) == 1 and is_list_like(rows[0][0]):
        raise ValueError(
            f"{name} is a data frame whose one column has a list in each row: give the column."
        )
    return rows


def frame_rows(frame) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame.

    Numbers without missing entries become an array, and other entries become lists.
    """
    if hasattr(frame, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in frame.columns]
        return [list(row) for row in zip(*columns, strict=True)]
    dtypes = getattr(frame, "dtypes", [])
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return np.asarray(frame)
    return np.asarray(frame.astype(object)).tolist()  # which keeps missing entries as they are
