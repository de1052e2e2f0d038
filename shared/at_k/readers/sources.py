"""Load a source into a table: files, a saved dataset, a dataset of the Hub, or an object.

`datasets` and `pyarrow` are imported where they are needed, because they take a second.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .files import FORMATS, file_format, read_file
from .frames import columns_of_dataset, columns_of_object, one_split
from .registry import OBJECT_READERS, PATH_READERS, TABLE_READERS
from .table import Columns, Table, join_tables


def load_table(source: Any, config: str | None = None, split: str | None = None) -> Table:
    """Return the table of a source. The errors are those of `read_questions`."""
    source = [source] if isinstance(source, (str, Path)) else source
    if is_paths(source):
        names = _expanded(list(map(str, source)))
        tables = [_load_one(name, config, split) for name in names]
        return tables[0] if len(tables) == 1 else join_tables(tables, names)
    for read_object in OBJECT_READERS:
        table = read_object(source)
        if table is not None:
            return table
    return _with_roles(Table(columns_of_object(source, split)), None)


def is_paths(source: Any) -> bool:
    """Whether the source is a list of paths."""
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(each, (str, Path)) for each in source)
    )


def _expanded(sources: Sequence[str]) -> list[str]:
    """Return the files that the sources name, also by wildcards that the shell has not expanded.

    Raises:
        ValueError: if a file is named twice.
    """
    names = []
    for source in sources:
        is_pattern = glob.has_magic(source) and not Path(source).exists()
        names += sorted(glob.glob(source, recursive=True)) if is_pattern else [source]
    if not names:
        raise FileNotFoundError(f"No file matches {', '.join(sources)}.")
    by_path: dict[Path, str] = {}
    for name in names:
        path = Path(name).resolve()
        if path in by_path:
            raise ValueError(f"{name} is given twice, so its samples would count twice.")
        by_path[path] = name
    return names


def _load_one(source: str, config: str | None, split: str | None) -> Table:
    path = Path(source)
    for read_path in PATH_READERS if path.exists() else ():
        table = read_path(path)
        if table is not None:
            return table
    return _with_roles(Table(_load_columns(source, config, split)), path if path.exists() else None)


def _with_roles(table: Table, path: Path | None) -> Table:
    """Return the table as the first reader returns it that recognizes it.

    Raises:
        ValueError: if it has the columns of a log, but not its entries.
    """
    for read_table in TABLE_READERS:
        try:
            found = read_table(table, path)
        except (AttributeError, LookupError, TypeError) as error:
            harness = read_table.__name__.removeprefix("read_")
            raise ValueError(
                f"{path or 'The source'} has the columns of a log ({harness}), but not its "
                f"entries: {type(error).__name__}: {error}."
            ) from error
        if found is not None:
            return found
    return table


def _load_columns(source: str, config: str | None, split: str | None) -> Columns:
    """Return the columns of a file or a dataset by name."""
    path = Path(source)
    if source == "-" or (path.exists() and not path.is_dir()):
        if config or split:
            raise ValueError(f"config and split apply to datasets, and {source} is a file.")
        return read_file(source)
    with _progress_bars_disabled():
        try:
            dataset = _load_dataset(source, config)
        except (ValueError, TypeError, OSError, ImportError):
            raise
        except Exception as error:  # datasets runs parsers that may raise anything
            reason = " ".join(str(error).split())
            raise ValueError(f"{source} cannot be read as a dataset: {reason}") from error
        return columns_of_dataset(one_split(dataset, source, split))


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
