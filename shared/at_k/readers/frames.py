"""Convert Python objects to tables: data frames, Arrow tables, datasets, dicts and lists of rows.

Objects of other libraries are recognised by their attributes, so that the libraries need not be
installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.checks import is_list_like, short
from ..core.containers import as_arrow
from .formats import kind_of_rows
from .table import Columns, SelectionError, Table, table_of_arrow, table_of_columns, table_of_rows


def table_of_object(source: Any, split: str | None = None) -> Table:
    """Return the table of an object. It is a data frame of pandas, polars, Spark, Dask or any
    library that exports Arrow; an Arrow table; a `datasets.Dataset`, also streamed, or a dict of
    them by `split`; a dict of columns; or a list of dicts. A TypeError is raised for other
    objects."""
    if isinstance(source, (list, tuple)) and all(isinstance(row, Mapping | None) for row in source):
        rows = [dict(row) if isinstance(row, Mapping) else row for row in source]
        kind_of_rows(rows, "The source")
        return table_of_rows(rows)
    if hasattr(source, "toPandas"):  # of Spark
        source = source.toPandas()
    elif hasattr(source, "dask"):
        source = source.compute()
    source = as_arrow(source)
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return table_of_columns(_columns_of_pandas(source))
    if isinstance(source, Mapping):
        return _table_of_dict(source, split)
    if hasattr(source, "with_format"):
        return table_of_dataset(source)
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        return table_of_arrow(pa.table(source))
    raise TypeError(
        f"source is a {type(source).__name__}, which cannot be read: give a path, a data frame, an "
        f"Arrow table, a dataset, a dict of columns or a list of dicts."
    )


def _table_of_dict(source: Mapping[Any, Any], split: str | None) -> Table:
    """Return the table of a dict of columns, or of datasets by their splits."""
    if source and all(hasattr(dataset, "with_format") for dataset in source.values()):
        return table_of_dataset(one_split(source, "The source", split))
    if source and all(str(name).isdigit() for name in source):
        raise ValueError(
            f"The keys {', '.join(map(str, list(source)[:3]))} can be ids of questions, or "
            f"numbers of samples: give a data frame, or {{'id': [..], 'outcomes': [[..], ..]}}."
        )
    for name, column in source.items():
        if not is_list_like(column):
            raise ValueError(
                f"The source has {short(column)} as {short(name)}: give a column, with an entry "
                f"for each row."
            )
    return table_of_columns({name: _plain_list(column) for name, column in source.items()})


def table_of_dataset(dataset: Any) -> Table:
    """Return the table of a dataset of `datasets`."""
    if hasattr(dataset, "column_names") and hasattr(dataset, "__len__"):
        return table_of_arrow(dataset.with_format("arrow")[:])
    return table_of_rows(list(dataset))  # streamed


def one_split(loaded: Any, name: str, split: str | None) -> Any:
    """Return the split of a dataset with the name `split`, or its only split."""
    if not isinstance(loaded, dict):
        loaded = {str(loaded.split or "train"): loaded}
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise SelectionError(f"{name} has the splits {', '.join(loaded)}.", ["split"])
    return loaded[split]


def _columns_of_pandas(frame: Any) -> Columns:
    """Return the columns of a data frame of pandas, and the levels of its index that have names."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = list(map(str, frame.columns))
    if len(set(names)) < len(names):
        raise ValueError("Two columns of the data frame have the same name.")
    columns: Columns = {}
    for name, (_, column) in zip(names, frame.items(), strict=True):
        entries = _plain_list(column)
        if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu"):
            missing = column.isna().tolist()
            entries = [None if gone else x for gone, x in zip(missing, entries, strict=True)]
        columns[name] = entries
    return columns


def _plain_list(column: Any) -> list[Any]:
    """Return the entries of a column as Python objects, and arrays in it as lists."""
    entries = column.tolist() if hasattr(column, "tolist") else list(column)
    return [entry.tolist() if hasattr(entry, "tolist") else entry for entry in entries]
