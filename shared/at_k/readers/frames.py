"""Columns of Python objects: data frames, Arrow tables, datasets, dicts and lists of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..inputs.containers import as_arrow
from .names import SelectionError
from .table import ArrowColumn, Columns, columns_of_rows


def columns_of_object(source: Any, split: str | None = None) -> Columns:
    """Return the columns of an object by name.

    Args:
        source: a data frame of pandas, polars, Spark, Dask or any library that exports Arrow; an
            Arrow table; a `datasets.Dataset`, also streamed; a dict of columns; or a list of dicts.
        split: the split, if the source is a dict of datasets.

    Raises:
        TypeError: if the object is none of these.
    """
    if hasattr(source, "toPandas"):  # Spark
        source = source.toPandas()
    if hasattr(source, "dask"):
        source = source.compute()
    source = as_arrow(source)
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _columns_of_pandas(source)
    if isinstance(source, Mapping):
        if source and all(hasattr(part, "with_format") for part in source.values()):
            return columns_of_dataset(one_split(source, "The source", split))
        sizes = {name: len(column) for name, column in source.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"The columns have different numbers of rows: {sizes}.")
        return {str(name): _plain_list(column) for name, column in source.items()}
    if hasattr(source, "with_format"):
        return columns_of_dataset(source)
    if isinstance(source, (list, tuple)) and all(isinstance(row, Mapping) for row in source):
        return columns_of_rows(source)
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        return columns_of_arrow(pa.table(source))
    raise TypeError(
        f"A {type(source).__name__} cannot be read: give a path, a data frame, an Arrow table, a "
        f"dataset, a dict of columns or a list of dicts."
    )


def columns_of_arrow(table: Any) -> Columns:
    """Return the columns of an Arrow table."""
    columns = {name: table[name] for name in table.column_names}
    return {
        # Not all functions of Arrow accept views, which polars gives.
        name: cells.to_pylist() if "view" in str(cells.type) else ArrowColumn(cells)
        for name, cells in columns.items()
    }


def columns_of_dataset(dataset: Any) -> Columns:
    """Return the columns of a dataset of `datasets`."""
    if hasattr(dataset, "column_names") and hasattr(dataset, "__len__"):
        return columns_of_arrow(dataset.with_format("arrow")[:])
    return columns_of_rows(list(dataset))  # streamed


def one_split(loaded: Any, name: str, split: str | None) -> Any:
    """Return the named split of a dataset, or its only one."""
    if not isinstance(loaded, dict):
        loaded = {str(loaded.split or "train"): loaded}
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise SelectionError(f"{name} has the splits {', '.join(loaded)}.", ["split"], loaded)
    return loaded[split]


def _columns_of_pandas(frame: Any) -> Columns:
    """Return the columns of a data frame of pandas, and the levels of its index that have names.

    What is missing is None. A NaN in a column of floats is kept, because it can be the result of a
    division by zero.
    """
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = list(map(str, frame.columns))
    if len(set(names)) < len(names):
        raise ValueError("Two columns of the data frame have the same name.")
    columns: Columns = {}
    for i, name in enumerate(names):
        column = frame.iloc[:, i]
        entries = _plain_list(column)
        missing = column.isna().tolist()
        if getattr(column.dtype, "kind", "O") == "f":
            # NA of a nullable type is no float, and is missing.
            missing = [not isinstance(entry, float) for entry in entries]
        entries = [None if gone else x for gone, x in zip(missing, entries, strict=True)]
        columns[name] = entries
    return columns


def _plain_list(column: Any) -> list[Any]:
    """Return the entries of a column as Python objects, arrays of them as lists."""
    entries = column.tolist() if hasattr(column, "tolist") else list(column)
    return [entry.tolist() if hasattr(entry, "tolist") else entry for entry in entries]
