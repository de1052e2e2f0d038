"""Load a source into a table: a file, a saved dataset, or a dataset of the Hub.

`datasets` and `pyarrow` are imported where they are needed, because they take a second.
"""

from __future__ import annotations

import csv
import glob
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .registry import OBJECT_READERS, PATH_READERS, TABLE_READERS
from .selection import SelectionError
from .table import Columns, Table

_TEXT_FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_FORMATS = (*_TEXT_FORMATS, ".parquet")


def load_table(source: Any, config: str | None = None, split: str | None = None) -> Table:
    """Return the table of a source. The errors are those of `read_questions`."""
    if not isinstance(source, (str, Path)):
        tables = (read_object(source) for read_object in OBJECT_READERS)
        table = next((each for each in tables if each is not None), None)
        if table is None:
            raise TypeError(f"A {type(source).__name__} cannot be read.")
        return table
    path = Path(source)
    if path.exists():
        for read_path in PATH_READERS:
            table = read_path(path)
            if table is not None:
                return table
    parsed = Table(_load_columns(str(source), config, split))
    for read_table in TABLE_READERS:
        table = read_table(parsed, path if path.exists() else None)
        if table is not None:
            return table
    return parsed


def _load_columns(source: str, config: str | None, split: str | None) -> Columns:
    """Return the columns of a file or a dataset by name."""
    path = Path(source)
    file_format = _file_format(path)
    with _progress_bars_disabled():
        if not path.is_file():
            rows = _one_split(_load_dataset(source, config), source, split)
        elif config or split:
            raise ValueError(f"config and split apply to datasets, and {source} is a file.")
        elif file_format == ".parquet":
            rows = _load_file(path, "parquet")
        elif file_format in _TEXT_FORMATS:
            lines = _load_file(path, "text", keep_linebreaks=True)["text"][:]
            return _parse_lines(lines, source, file_format)
        else:
            raise ValueError(f"{source} has none of the supported formats: {', '.join(_FORMATS)}.")
        return {name: rows[name] for name in rows.column_names}


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


def _file_format(path: Path) -> str:
    """Return the last suffix in lower case, except that of compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return suffixes[-1] if suffixes else ""


def _load_dataset(source: str, config: str | None) -> Any:
    """Return a dataset, or a dict of the splits of one."""
    import datasets

    path = Path(source)
    if any((path / name).is_file() for name in ("state.json", "dataset_dict.json")):
        return datasets.load_from_disk(source)
    if path.is_dir():
        return _load_uncached(str(path.resolve()), name=config)
    if _file_format(path) in _FORMATS or source.startswith((".", "/", "~")):
        raise FileNotFoundError(f"There is no such file or folder: {source!r}")
    return datasets.load_dataset(source, config)


def _load_file(path: Path, builder: str, **options: Any) -> Any:
    """Return the dataset that a builder of `datasets` reads from a file."""
    import datasets
    import pyarrow as pa

    file = glob.escape(str(path))  # datasets would expand wildcards in the name
    try:
        return _load_uncached(builder, data_files=file, split="train", **options)
    except (datasets.exceptions.DatasetGenerationError, pa.ArrowInvalid) as error:
        if path.stat().st_size == 0:
            raise ValueError(f"{path} is empty.") from error
        raise ValueError(f"{path} cannot be read: {error.__cause__ or error}.") from error


def _load_uncached(source: str, **options: Any) -> Any:
    """Load a local dataset as it is now: the cache knows a file by its path and time only."""
    import datasets

    with tempfile.TemporaryDirectory() as cache:
        return datasets.load_dataset(source, cache_dir=cache, keep_in_memory=True, **options)


def _one_split(loaded: Any, source: str, split: str | None) -> Any:
    """Return the named split of a dataset, or its only one."""
    if not isinstance(loaded, dict):
        loaded = {str(loaded.split or "train"): loaded}
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise SelectionError(f"{source} has the splits {', '.join(loaded)}.", ["split"], loaded)
    return loaded[split]


def _parse_lines(lines: list[str], source: str, file_format: str) -> Columns:
    """Return the columns of a text file, with the cells of CSV as text.

    The readers of `datasets` for these formats are not used, because they convert what looks like
    another type: "2024-01-01" to a time, 012 to 12, and the answer "None" to a missing value.
    """
    lines[0] = lines[0].removeprefix("\ufeff")
    if file_format in (".csv", ".tsv"):
        return _parse_csv(lines, source, "\t" if file_format == ".tsv" else ",")
    if file_format == ".json":
        parsed = _parse_json("".join(lines), source)
        if isinstance(parsed, dict) and all(isinstance(value, list) for value in parsed.values()):
            return parsed
        records = parsed if isinstance(parsed, list) else [parsed]
    else:
        records = [
            _parse_json(line.rstrip(), source, number)
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError(f"{source} must hold JSON objects only, with one key per column.")
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _parse_json(text: str, source: str, first_line: int = 1) -> Any:
    """Return the value of a JSON text that starts at a line of the source."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ValueError(
            f"{source}, line {line}: invalid JSON: {error.msg} (column {error.colno})."
        ) from error
    except ValueError as error:  # an integer with too many digits
        raise ValueError(f"{source}, from line {first_line}: invalid JSON: {error}.") from error


def _parse_csv(lines: list[str], source: str, delimiter: str) -> Columns:
    csv.field_size_limit(sys.maxsize)  # a cell may hold all samples of a question
    reader = csv.reader(lines, delimiter=delimiter)
    names = [name.strip() for name in next(reader)]
    if len(set(names)) < len(names):
        raise ValueError(f"{source}, line 1: two columns have the same name.")
    records = []
    for record in reader:
        if not record:
            continue
        if len(record) != len(names):
            raise ValueError(
                f"{source}, line {reader.line_num}: {len(record)} cells, but line 1 names "
                f"{len(names)} columns."
            )
        records.append(record)
    return {name: [record[i] for record in records] for i, name in enumerate(names)}
