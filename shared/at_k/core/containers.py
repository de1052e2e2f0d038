"""Conversion of data of any library to a few types of Python, NumPy and Arrow.

`plain_container` turns every container into a list, a NumPy array of numbers or an Arrow column,
and `plain_entry` turns every entry into a Python value. pyarrow takes half as long to import as all
of at_k. So it is imported only where it has to be, and its objects are recognized by their methods.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .checks import is_frame, is_list_like, is_scalar, plain_number

_TEXTS = {"string", "large_string"}

_NUMBERS = {
    *("null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("halffloat", "float", "double"),
}
"""The names of the Arrow types of numbers and bools, and of columns that are null throughout."""


def to_array(values) -> np.ndarray:
    """Convert an array of any library, on any device, to a NumPy array, or raise a TypeError.

    bfloat16, and float8 of JAX, become float32 without loss, and a longdouble becomes a double.
    """
    try:
        if hasattr(values, "detach"):  # a tensor of torch, which may have a gradient
            values = values.detach().cpu()
            if str(values.dtype) == "torch.bfloat16":
                values = values.float()
        array = np.asarray(values)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        kind = f"{type(values).__module__}.{type(values).__name__}"
        raise TypeError(f"A {kind} cannot be converted to an array: {error}") from error
    # `isbuiltin` is 2 for types that a library adds to NumPy, such as the floats of JAX, which
    # np.unique and other functions cannot sort.
    is_foreign = array.dtype.isbuiltin == 2 and array.dtype.name.startswith(("float", "bfloat"))
    if array.dtype == np.longdouble:
        return array.astype(float)
    return array.astype(np.float32) if is_foreign else array


def plain_entry(value) -> Any:
    """Convert a number, a text or a missing value of any library to a Python value.

    A Decimal or Fraction becomes an integer or a float. Other values are returned unchanged.
    """
    if type(value).__name__ in ("NAType", "MaskedConstant"):  # of pandas, and of a masked array
        return None
    if isinstance(value, np.longdouble):  # Its `item` returns a longdouble again.
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
    """Convert a container to a list, a NumPy array of numbers, or a chunked array of Arrow.

    Arrow columns have texts, numbers, or lists of these: others become lists. Frames of polars and
    DuckDB become Arrow tables. Other frames, dicts, texts and the like are returned as they are.
    """
    if isinstance(values, (list, tuple)):
        return list(values)
    values = as_arrow(values)
    if is_frame(values) or not is_list_like(values):
        return values
    if hasattr(values, "to_pylist") or hasattr(values, "source"):
        return _plain_column(values)
    is_masked = isinstance(values, np.ndarray) and hasattr(values, "mask")
    if hasattr(values, "__array__") and not is_masked:
        array = to_array(values)
        if array.dtype.kind in "biuf":
            return array
    return plain_list(values)


def plain_list(values) -> list[Any]:
    """Return the entries of an array, a column or an iterable as a Python list."""
    for method in ("tolist", "to_pylist"):
        if hasattr(values, method):
            try:
                return getattr(values, method)()
            except RuntimeError:  # `to_array` explains what is wrong with a sparse or empty tensor.
                return to_array(values).tolist()
    return list(values)


def as_arrow(values) -> Any:
    """Convert data of polars or DuckDB, pandas columns of Arrow types and Arrow streams to Arrow.

    A memoryview becomes a NumPy array, and a nested tensor a list of tensors.
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


def _plain_column(values) -> Any:
    """Return a column of Arrow or of `datasets` as a chunked array, or as a list."""
    # A dataset may convert its entries to arrays of a library, so they are read in Arrow instead. A
    # custom format may change the entries, so these are taken as the format returns them.
    source = getattr(values, "source", None)  # the dataset, if this is a column of one
    if source is not None and getattr(source, "format", {}).get("type", "custom") != "custom":
        values = source.with_format("arrow")[values.column_name][:]
    if not hasattr(values, "null_count"):
        return plain_list(values)
    kind = values.type.value_type if has_lists(values) else values.type
    if str(kind) in _TEXTS | _NUMBERS:
        import pyarrow

        return values if hasattr(values, "chunks") else pyarrow.chunked_array([values])
    entries = values.to_pylist()
    return _parse_json_texts(entries) if "arrow.json" in str(values.type) else entries


def _parse_json_texts(entry: Any) -> Any:
    """Parse a JSON text, or all JSON texts in a list, which may be nested. None stays None."""
    if isinstance(entry, list):
        return [_parse_json_texts(nested) for nested in entry]
    return None if entry is None else json.loads(entry)


def has_lists(column) -> bool:
    """Return whether the entries of an Arrow column are lists that Arrow flattens."""
    return str(column.type).startswith(("list<", "large_list<", "fixed_size_list<"))


def numbers_or_texts(column) -> tuple[Any, np.ndarray | None]:
    """Return the numbers of an Arrow column as an array, or its texts as a column, and a mask.

    The mask, (S,), is False for null, or it is None if no entry is null. A null among numbers
    becomes 0.
    """
    kind = str(column.type)
    valid = to_numpy(column.is_valid()) if column.null_count else None
    if kind in _TEXTS:
        return column.cast("large_string"), valid  # has no limit of 2 GB
    if valid is not None:
        # Some versions of Arrow cannot fill nulls of float16, and none those of the null type.
        column = column.cast({"halffloat": "float32", "null": "int8"}.get(kind, kind))
        column = column.fill_null(False if kind == "bool" else 0)
    return to_numpy(column), valid


def to_numpy(values) -> np.ndarray:
    """Return numbers or bools in an Arrow array or column, none of which is null, as an array."""
    if hasattr(values, "chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if str(values.type) != "bool" or not len(values):
        return values.to_numpy(zero_copy_only=False)
    # Arrow's own conversion of bools takes five times as long. It stores 8 of them in a byte, and
    # the buffer may have those of other arrays before `offset`.
    first, stop = values.offset, values.offset + len(values)
    data = np.frombuffer(values.buffers()[1], np.uint8)[first // 8 : -(-stop // 8)]
    bits = np.unpackbits(data, bitorder="little")
    return bits[first % 8 : first % 8 + len(values)].view(bool)
