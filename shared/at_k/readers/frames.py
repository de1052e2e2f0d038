"""Python objects -> a table: data frames, Arrow tables, datasets, dicts of columns, lists of rows.

Objects of other libraries are recognised by their attributes, so that these need not be installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..core.containers import as_arrow
from .formats import kind_of_rows
from .layouts import VLLM, read_layout, recognised
from .table import (
    Columns,
    SelectionError,
    Table,
    arrow_column,
    join_tables,
    table_of_columns,
    table_of_rows,
)


def table_of_object(source: Any, split: str | None = None) -> Table:
    """Return the table of an object.

    Args:
        source: a data frame of pandas, polars, Spark, Dask or any library that exports Arrow; an
            Arrow table; a `datasets.Dataset`, also streamed; a dict of columns; a list of dicts;
            flat rewards; or what `LLM.generate` of vLLM, or `eval` of inspect_ai, returns.
        split: the split, if the source is a dict of datasets.

    Raises:
        TypeError: if the object is none of these.
    """
    for read in (_request_outputs, _eval_logs, _flat_rewards, _list_of_rows):
        table = read(source)
        if table is not None:
            return table
    if hasattr(source, "toPandas"):  # Spark
        source = source.toPandas()
    if hasattr(source, "dask"):
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

        return _table_of_arrow(pa.table(source))
    raise TypeError(
        f"A {type(source).__name__} cannot be read: give a path, a data frame, an Arrow table, a "
        f"dataset, a dict of columns or a list of dicts."
    )


def _list_of_rows(source: Any) -> Table | None:
    """Return the table of a list of dicts, or None for others."""
    if not isinstance(source, (list, tuple)):
        return None
    rows = [dict(row) if isinstance(row, Mapping) else row for row in source]
    if rows and dict not in map(type, rows):
        return None
    kind_of_rows(rows, "The source")
    return table_of_rows(rows)


def _table_of_dict(source: Mapping[Any, Any], split: str | None) -> Table:
    """Return the table of a dict of columns, or of datasets by their splits."""
    if source and all(hasattr(dataset, "with_format") for dataset in source.values()):
        return table_of_dataset(one_split(source, "The source", split))
    if source and all(str(name).isdigit() for name in source):
        raise ValueError(
            f"The keys {', '.join(map(str, list(source)[:3]))} can be ids of questions, or "
            f"numbers of samples: give a data frame, or {{'id': [..], 'outcomes': [[..], ..]}}."
        )
    return table_of_columns({name: _plain_list(column) for name, column in source.items()})


def _table_of_arrow(table: Any) -> Table:
    """Return the table of a `pyarrow.Table`."""
    return table_of_columns({name: arrow_column(table, name) for name in table.column_names})


def table_of_dataset(dataset: Any) -> Table:
    """Return the table of a dataset of `datasets`."""
    if hasattr(dataset, "column_names") and hasattr(dataset, "__len__"):
        return _table_of_arrow(dataset.with_format("arrow")[:])
    return table_of_rows(list(dataset))  # streamed


def one_split(loaded: Any, name: str, split: str | None) -> Any:
    """Return the named split of a dataset, or its only one. Messages call the dataset `name`."""
    if not isinstance(loaded, dict):
        loaded = {str(loaded.split or "train"): loaded}
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise SelectionError(f"{name} has the splits {', '.join(loaded)}.", ["split"])
    return loaded[split]


def _columns_of_pandas(frame: Any) -> Columns:
    """Return the columns of a data frame of pandas, and the levels of its index that have names.

    What is missing is None.
    """
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
    """Return the entries of a column as Python objects, arrays of them as lists."""
    entries = column.tolist() if hasattr(column, "tolist") else list(column)
    return [entry.tolist() if hasattr(entry, "tolist") else entry for entry in entries]


# --- Objects of tools -------------------------------------------------------------------------


def _request_outputs(source: Any) -> Table | None:
    """Return the table of what `LLM.generate` or `LLM.chat` of vLLM returns, or None for others."""
    requests = source if isinstance(source, (list, tuple)) else [source]
    names = ("request_id", "prompt", "outputs")
    is_vllm = all(hasattr(x, name) for x in requests for name in names)
    if not (requests and is_vllm and all(hasattr(y, "text") for x in requests for y in x.outputs)):
        return None
    columns: Columns = {name: [getattr(x, name) for x in requests] for name in names[:2]}
    columns["outputs"] = [[output.text for output in request.outputs] for request in requests]
    return read_layout(VLLM, table_of_columns(columns))


def _eval_logs(source: Any) -> Table | None:
    """Return the table of what `eval` or `eval_set` of inspect_ai returns, or None for others.

    A log without samples, such as those of `eval_set`, is read from its file.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], bool):
        source = source[1]  # of eval_set, whose first entry says whether all logs are complete
    logs = source if isinstance(source, (list, tuple)) else [source]
    if not logs or not all(hasattr(x, y) for x in logs for y in ("eval", "samples", "status")):
        return None
    from .reading import ReadingOptions
    from .sources import load_files

    tables = []
    for log in logs:
        if log.samples is None and log.location:
            tables.append(load_files([log.location.removeprefix("file://")], ReadingOptions()))
            continue
        fields = {"id", "epoch", "uuid", "target", "output", "scores", "error", "metadata"}
        about = {"model", "task", "dataset", "config"}
        known = {"version": True, "status": True, "eval": about}
        record = log.model_dump(include=known | {"samples": {"__all__": fields}})
        tables.append(recognised(table_of_rows([{"samples": None} | record])) or Table({}))
    return tables[0] if len(tables) == 1 else join_tables(tables)


def _flat_rewards(source: Any) -> Table | None:
    """Return the table of flat rewards, as reward functions return them, or None for others."""
    if getattr(source, "ndim", None) == 1 and hasattr(source, "tolist"):
        source = source.tolist()
    is_flat = isinstance(source, (list, tuple)) and len(source) > 0
    if not is_flat or not all(x is None or isinstance(x, Real) for x in source):
        return None
    return table_of_columns({"rewards": list(source)})
