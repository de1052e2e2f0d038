"""Load a source into a table: files, a saved dataset, a dataset of the Hub, or an object.

`datasets` and `pyarrow` are imported where they are needed, because they take a second.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.containers import as_arrow
from .columns import SelectionError, column_at, with_fields
from .files import FORMATS, file_format, read_file
from .grids import BY_CONTENT, Unnamed
from .harnesses import LOG_FOLDERS, OBJECT_READERS, PATH_READERS, TABLE_READERS
from .opening import require_openable, require_size
from .remote import is_remote, path_of, remote_content, remote_names, remote_size
from .rows import entries_by_column, rows_inside, rows_where
from .shards import Named, reduced_table
from .table import ArrowColumn, Columns, Table, columns_of_rows, join_tables, require_equal_columns


class Reading(NamedTuple):
    """How sources are read: the arguments of `at_k.read` of the same names.

    Args:
        where: pairs of a column and an entry, as in `rows_where`. Each of several files has to have
            such a row, unless it is the log of another task.
        unnamed: how a table is read whose columns may have no names.
    """

    config: str | None = None
    split: str | None = None
    max_gb: float | None = None
    records: str | None = None
    where: Sequence[tuple[str, Any]] = ()
    unnamed: Unnamed = BY_CONTENT


def load_table(source: Any, reading: Reading | None = None, named: Named | None = None) -> Table:
    """Return the table of a source. The errors are those of `read_questions`.

    Args:
        source: as in `read_questions`.
        reading: how it is read.
        named: if distinct rows of large files are enough: the columns that the caller names. Then
            the table may have the column `COUNT`.
    """
    reading = reading or Reading()
    source = [source] if isinstance(source, (str, Path)) else source
    if is_paths(source):
        names = _expanded(list(map(str, source)), reading.max_gb)
        if named is not None:
            reduced = reduced_table(names, named, lambda rows: bool(_with_roles(rows, None).roles))
            if reduced is not None:
                return reduced
        tables = [_load_one(name, reading) for name in names]
        if len(tables) == 1:
            return tables[0]
        kept = [
            (table, name)
            for table, name in zip(tables, names, strict=True)
            if _contributes(table, name, reading.where)
        ]
        tables, names = map(list, zip(*kept, strict=True)) if kept else (tables, names)
        return join_tables(tables, names)
    if hasattr(source, "read"):
        return _with_records(Table(_columns_of_open_file(source, reading)), reading, None)
    for read_object in OBJECT_READERS:
        log = read_object(source)
        if log is not None:
            return log
    return _with_records(Table(columns_of_object(source, reading.split)), reading, None)


def _columns_of_open_file(file: Any, reading: Reading) -> Columns:
    content = file.read()
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else "The file"
    content = content.encode() if isinstance(content, str) else bytes(content)
    return read_file(name, reading.max_gb, content, reading.unnamed)


def _contributes(table: Table, name: str, where: Sequence[tuple[str, Any]]) -> bool:
    """Whether one of several files is read. It is not if it is the log of a task not chosen.

    Raises:
        ValueError: if another file has no row that is read.
    """
    if not any(map(len, table.columns.values())):
        raise ValueError(f"{name} has no rows: leave it out.")
    for column, entries in entries_by_column(where).items():
        if column == "task" and "task" in table.origin and table.origin["task"] not in entries:
            return False
        if column_at(table.columns, column) is None:
            raise ValueError(f"{name} contributes no row: it has no column {column!r}.")
        try:
            pairs = [(column, entry) for entry in entries]
            table = rows_where(with_fields(table, [("where", column)]), pairs)
        except ValueError as error:
            raise ValueError(f"{name} contributes no row. {error}") from error
    return True


def is_paths(source: Any) -> bool:
    """Whether the source is a list of paths."""
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(path, (str, Path)) for path in source)
    )


def _expanded(sources: Sequence[str], max_gb: float | None) -> list[str]:
    """Return the files that the sources name, also by wildcards that the shell has not expanded.

    Raises:
        ValueError: if a file is named twice, or if one cannot be opened, see `require_openable`.
    """
    names = []
    for source in sources:
        if is_remote(source):
            names += remote_names(source)
            continue
        is_pattern = glob.has_magic(source) and not Path(source).exists()
        matching = sorted(glob.glob(source, recursive=True)) if is_pattern else [source]
        names += [log for name in matching for log in _logs_in(name) or [name]]
    if not names:
        raise FileNotFoundError(f"No file matches {', '.join(sources)}.")
    by_path: dict[Any, str] = {}
    for name in names:
        if is_remote(name):
            path: Any = name
            if max_gb is not None:
                require_size(name, remote_size(name), 1e9 * max_gb)
        else:
            require_openable(name, max_gb)
            path = Path(name).resolve()
        if path in by_path:
            raise ValueError(f"{name} is given twice, so its samples would count twice.")
        by_path[path] = name
    return names


def _logs_in(source: str) -> list[str]:
    """Return the logs of a harness, if the source is a folder of such logs."""
    path = Path(source)
    finders = LOG_FOLDERS if path.is_dir() else ()
    return next((list(map(str, logs)) for find in finders if (logs := find(path))), [])


def _load_one(source: str, reading: Reading) -> Table:
    path = Path(source)
    if is_remote(source):
        content, name = remote_content(source), path_of(source).name
        if name.endswith(".eval"):  # inspect_ai reads files
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, name)
                copy.write_bytes(content)
                return _load_one(str(copy), reading)
        return _with_records(
            Table(read_file(source, reading.max_gb, content, reading.unnamed)), reading, path
        )
    for read_path in PATH_READERS if path.exists() else ():
        table = read_path(path)
        if table is not None:
            return table
    table = Table(_load_columns(source, reading))
    return _with_records(table, reading, path if path.exists() else None)


def _with_records(table: Table, reading: Reading, path: Path | None) -> Table:
    """Return the table of the rows that are named, or as the reader of a log returns it."""
    if reading.records is not None:
        return rows_inside(table, reading.records)
    return _with_roles(table, path)


def _with_roles(table: Table, path: Path | None) -> Table:
    """Return the table as the first reader returns it that recognizes it.

    Raises:
        ValueError: if it has the columns of a log, but not its entries.
    """
    for read_table in TABLE_READERS:
        try:
            log = read_table(table, path)
            if log is not None:
                names = log.roles.get("questions", ())
                for name in (names,) if isinstance(names, str) else names:
                    log.columns[name]  # which some readers take from the source as they are
        except (AttributeError, LookupError, TypeError) as error:
            harness = read_table.__name__.removeprefix("read_")
            raise ValueError(
                f"{path or 'The source'} has the columns of a log ({harness}), but not its "
                f"entries: {type(error).__name__}: {error}."
            ) from error
        if log is not None:
            return log
    require_equal_columns(table.columns, str(path or "The source"))
    return table


def _load_columns(source: str, reading: Reading) -> Columns:
    """Return the columns of a file or a dataset by name."""
    path = Path(source)
    if source == "-" or (path.exists() and not path.is_dir()):
        if reading.config or reading.split:
            raise ValueError(f"config and split apply to datasets, and {source} is a file.")
        return read_file(source, reading.max_gb, unnamed=reading.unnamed)
    with _progress_bars_disabled():
        try:
            dataset = _load_dataset(source, reading.config)
        except (ValueError, TypeError, OSError, ImportError):
            raise
        except Exception as error:  # datasets runs parsers that may raise anything
            reason = " ".join(str(error).split())
            raise ValueError(f"{source} cannot be read as a dataset: {reason}") from error
        return columns_of_dataset(one_split(dataset, source, reading.split))


@contextmanager
def _progress_bars_disabled() -> Iterator[None]:
    import datasets

    if datasets.are_progress_bars_disabled():
        yield
        return
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.enable_progress_bars()


def _load_dataset(source: str, config: str | None) -> Any:
    """Return a dataset, or a dict of the splits of one."""
    import datasets

    path = Path(source)
    if any((path / name).is_file() for name in ("state.json", "dataset_dict.json")):
        return datasets.load_from_disk(source)
    if path.is_dir():
        # A local dataset is read as it is now: the cache knows a file by its path and time only.
        with tempfile.TemporaryDirectory() as cache:
            folder = str(path.resolve())
            return datasets.load_dataset(folder, config, cache_dir=cache, keep_in_memory=True)
    if file_format(path) in FORMATS or source.startswith((".", "/", "~")):
        raise FileNotFoundError(f"There is no such file or folder: {source!r}")
    return datasets.load_dataset(source, config)


# --- Python objects ---------------------------------------------------------------------


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
        if source and all(hasattr(dataset, "with_format") for dataset in source.values()):
            return columns_of_dataset(one_split(source, "The source", split))
        require_equal_columns(source)
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
    for name, (_, column) in zip(names, frame.items(), strict=True):
        entries = _plain_list(column)
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu":  # none is missing
            columns[name] = entries
            continue
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
