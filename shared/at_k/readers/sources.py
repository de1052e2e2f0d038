"""Load a source as one table: files, folders of logs and datasets by name, or Python objects."""

from __future__ import annotations

import glob
import itertools
import json
import math
import os
import re
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from ..core.checks import short
from . import names as usual
from .formats import (
    COMPRESSED,
    FORMATS,
    file_format,
    kind_of_rows,
    parse_file,
    table_of_records,
    zip_member,
)
from .frames import one_split, table_of_dataset, table_of_object
from .grids import sample_columns
from .layouts import ARC, LM_EVAL_NAME, is_arc, read_layout, recognised
from .names import columns_named, is_verdict, plain_name
from .opening import is_remote, read_file, remote_content, remote_names, require_openable
from .reading import ReadingOptions
from .table import (
    SelectionError,
    Table,
    Way,
    join_tables,
    pairs_of,
    rows_where,
    table_of_columns,
    table_of_rows,
    with_fields,
)
from .words import first_entries, flat, is_list_of


def names_in(source: Any, are_runs: bool = False) -> list[str]:
    """Return the names of the files and datasets in a source, or [] if it is no name.

    Names may have wildcards, and a folder of logs is replaced by its files. Of several logs of a
    task, only the newest is returned, unless they `are_runs`. A FileNotFoundError is raised if no
    file matches, and a ValueError if one is named twice.
    """
    sources = [source] if isinstance(source, (str, Path)) else source
    if not isinstance(sources, (list, tuple)) or not sources:
        return []
    if not all(isinstance(x, (str, Path)) for x in sources):
        return []
    if "" in sources:
        raise ValueError("source is '': this is no name of a file.")
    names = list(itertools.chain(*(_files_in(str(x)) for x in sources)))
    if not names:
        raise FileNotFoundError(f"No file matches {', '.join(map(str, sources))}.")
    paths = set()
    for name in names:
        path = name if is_remote(name) else os.path.realpath(name)
        if path in paths:
            raise ValueError(f"{name} is given twice, so its samples would count twice.")
        paths.add(path)
    return _newest_logs(names, are_runs)


def load_object(source: Any, reading: ReadingOptions) -> Table:
    """Return the table of an open file, or of another object: see `table_of_object`."""
    if not hasattr(source, "read"):
        return _finished(table_of_object(source, reading.split), reading)
    content = source.read()
    name = getattr(source, "name", None)
    data = content.encode() if isinstance(content, str) else bytes(content)
    return _finished(parse_file(name if isinstance(name, str) else "The file", data), reading)


def load_files(names: Sequence[str], reading: ReadingOptions) -> Table:
    """Return one table with the rows of files or datasets, given by the names from `names_in`."""
    tables = [_load_one(name, reading) for name in names]
    if len(tables) == 1:
        return tables[0]
    return join_tables([x for x in tables if _has_chosen_rows(x, reading.where)] or tables)


def _has_chosen_rows(table: Table, where: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether `where` selects rows of the table of a file, or False for another task's log.

    Raises a ValueError if the table has no rows, or none that `where` selects.
    """
    if not table.size:
        raise ValueError(f"{table.title} has no rows: leave it out.")
    task = table.origin.get("task")
    if task is not None and task not in where.get("task", [task]):
        return False
    try:
        rows_where(with_fields(table, [("where", column) for column in where]), where)
    except ValueError as error:
        raise ValueError(f"{table.title} contributes no row. {error}") from error
    return True


def _files_in(source: str) -> list[str]:
    """Return the names of the files in a source: matches of wildcards, and logs in a folder."""
    if is_remote(source):
        return remote_names(source)
    require_openable(source)
    is_pattern = glob.has_magic(source) and not Path(source).exists()
    matching = sorted(glob.glob(source, recursive=True)) if is_pattern else [source]
    return [log for name in matching for log in logs_in(Path(name)) or [name]]


# --- Folders that tools write -----------------------------------------------------------------

_START_OF_LOG = re.compile(r'\s*{\s*"version":\s*\d+,\s*"status":')


def _is_inspect_log(file: Path) -> bool:
    """Return whether a file is a log of inspect_ai, by its suffix or the beginning of its JSON."""
    if file.suffix != ".json" or not file.is_file():
        return file.suffix == ".eval" and file.is_file()
    with file.open(encoding="utf-8", errors="replace") as lines:
        return bool(_START_OF_LOG.match(lines.read(200)))


def _is_results(file: Path) -> bool:
    """Return whether a file has the results of a known tool, such as tau2."""
    return file.is_file() and recognised(parse_file(str(file), file.read_bytes())) is not None


_LOGS: tuple[tuple[str, Callable[[Path], Any]], ...] = (
    ("**/samples_*.jsonl", lambda file: LM_EVAL_NAME.fullmatch(file.name)),
    ("**/details_*.parquet", Path.is_file),  # of lighteval
    ("**/*", _is_inspect_log),
    ("*/result.json", Path.is_file),  # of the trials of Harbor
    ("**/report.json", Path.is_file),  # of the instances of SWE-bench
    ("**/.aider.results.json", Path.is_file),
    ("results.json", _is_results),
)
"""The files of logs in the folders of tools, as patterns, and whether a matching file is a log."""
_OF_DATASETS = ("state.json", "dataset_dict.json", "dataset_info.json", "dataset_infos.json")


def logs_in(folder: Path) -> list[str]:
    """Return the names of the logs of a tool in a folder, or else of all files that can be read.

    Return [] if it is not a folder, or if `datasets` wrote it, or it has the card of a dataset.
    """
    if not folder.is_dir():
        return []
    for pattern, is_log in _LOGS:
        if logs := [str(file) for file in sorted(folder.glob(pattern)) if is_log(file)]:
            return logs
    card = folder / "README.md"
    has_card = card.is_file() and card.read_bytes().startswith(b"---")
    is_dataset = has_card or any((folder / name).is_file() for name in _OF_DATASETS)
    return [] if is_dataset else _plain_files(folder)


def _plain_files(folder: Path) -> list[str]:
    """Return the files that can be read, or raise a ValueError. Warn of others, but not hidden."""
    known = (*FORMATS, ".txt", *COMPRESSED)
    names = {x: str(x.relative_to(folder)) for x in sorted(folder.rglob("*")) if x.is_file()}
    shown = [x for x, name in names.items() if not re.search(r"(^|/)\.", name)]
    read = [x for x in shown if (file_format(x) or x.suffix.lower()) in known]
    others = [names[x] for x in shown if x not in read]
    if not read:
        raise ValueError(
            f"{folder} has no file of a supported format, {', '.join(FORMATS)}, and is no dataset."
        )
    if others:
        warnings.warn(f"{folder}: not read are {first_entries(others)}.", stacklevel=2)
    return list(map(str, read))


def _newest_logs(names: Sequence[str], are_runs: bool) -> list[str]:
    """Return the names without logs of a task that has a newer log, and warn of those left out."""
    newest: dict[Any, tuple[Any, str]] = {}
    # A file that is no log has a task of its own, and so stays. Complete logs count as the newest.
    tasks = {name: _about_log(Path(name), are_runs) for name in names} if len(names) > 1 else {}
    for name, (task, date) in tasks.items():
        newest[task] = max(newest.get(task, (date, name)), (date, name))
    others = [name for name, (task, _) in tasks.items() if newest[task][1] != name]
    if others:
        warnings.warn(
            f"There are several logs of a task. The newest that is complete is read, without "
            f"{', '.join(others[:5])}{', ..' if len(others) > 5 else ''}.",
            stacklevel=2,
        )
    return [name for name in names if name not in others]


def _about_log(file: Path, are_runs: bool) -> tuple[Any, Any]:
    """Return a key of the task of a log, and a key by which newer logs of the task sort last.

    A log that is not complete sorts before those that are. Files have a task of their own if they
    are no logs or `are_runs`.
    """
    if _is_inspect_log(file):
        data, is_zip = file.read_bytes(), file.suffix == ".eval"
        with suppress(ValueError, LookupError, TypeError):  # reading it says what is wrong
            log = eval_log(data, str(file), with_samples=False) if is_zip else json.loads(data)
            about, date = log["eval"], (log["status"] == "success", log["eval"]["created"])
            if "task_id" in about or not are_runs:
                return (about.get("task_id", about["task"]), about["model"]), date
    folder = file.resolve().parent
    if not are_runs and (name := LM_EVAL_NAME.fullmatch(file.name)):
        return (folder, name["task"]), name["date"]
    if not are_runs and file.match("details_*.parquet"):
        return (folder.parent, file.name.partition("_20")[0]), folder.name
    return file, ""


def eval_log(data: bytes, name: str, with_samples: bool = True) -> dict[str, Any]:
    """Return the log in a `.eval` file of inspect_ai, a zip file with a member for each sample.

    Without `with_samples`, its list of samples is empty. Raises a ValueError for a damaged file.
    """
    try:
        members = {x.filename: x for x in zipfile.ZipFile(BytesIO(data)).infolist()}
        header = next(x for x in ("header.json", "_journal/start.json") if x in members)
        names = [x for x in members if with_samples and x.startswith("samples/")]
        log, *samples = (json.loads(zip_member(data, members[x], name)) for x in (header, *names))
        known = {"version": 2, "status": "started", **log, "samples": samples}
        return {**known, "samples": sorted(samples, key=lambda x: x["epoch"])}
    except (zipfile.BadZipFile, StopIteration, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is no log of inspect_ai: {error}") from error


# --- One file or dataset ----------------------------------------------------------------------


def _load_one(source: str, reading: ReadingOptions) -> Table:
    """Return the table of a file, an address, standard input or a dataset."""
    path = Path(source.partition("?")[0] if is_remote(source) else source)
    if not (is_remote(source) or source == "-" or (path.exists() and not path.is_dir())):
        return _finished(_table_of_dataset(source, reading), reading)
    if reading.config or reading.split:
        raise ValueError(f"config and split apply to datasets, and {source} is a file.")
    suffix = file_format(path)
    if is_remote(source):
        data, has_format = remote_content(source), suffix in (*FORMATS, ".eval")
    else:
        data, has_format = read_file(source), path.is_file()  # no pipe such as /dev/fd/63
    title = "standard input" if source == "-" else source
    if has_format and suffix == ".eval":
        return _finished(table_of_rows([eval_log(data, title)], title), reading, path)
    return _finished(parse_file(title, data, suffix if has_format else ""), reading, path)


def _finished(table: Table, reading: ReadingOptions, path: Path | None = None) -> Table:
    """Return the table as the layout of a tool reads it, or the table inside of a single object."""
    if reading.records is not None:
        return _rows_inside(table, reading.records, reading)
    if (log := recognised(table, path)) is not None:
        return log
    return _table_in_object(table, reading) if table.is_object and table.size else table


def _rows_inside(table: Table, path: str, reading: ReadingOptions) -> Table:
    """Return the table of the rows, or of the only object, at a dotted path."""
    cells = with_fields(table, [("records", path)]).columns[path]
    if len(cells) == 1 and isinstance(cells[0], dict) and cells[0]:
        return _table_in_object(table_of_rows(cells, table.title), reading)
    return table_of_records(list(_rows_in_lists(cells)), f"{table.title}, {path}")


def _rows_in_lists(cells: Any) -> Iterator[Any]:
    """Yield the entries of lists, and of lists inside of them that are no lists of samples."""
    for entry in flat(cells):
        if isinstance(entry, list) and any(isinstance(x, (list, dict)) for x in entry):
            yield from _rows_in_lists([entry])
        else:
            yield entry


# --- One object of JSON -----------------------------------------------------------------------

Record = dict[str, Any]
_COLUMN_NAMES = {x for names in usual.COLUMN_NAMES.values() for x in names if len(x) > 1}


def _table_in_object(table: Table, reading: ReadingOptions) -> Table:
    """Return the table that one object of JSON holds: its columns, or a row for each key.

    The keys are names of columns if one of them is among `COLUMN_NAMES` or is named by the caller.
    Otherwise they are ids. Other objects stay the only row of the `table`.
    """
    record, title = {name: cells[0] for name, cells in table.columns.items()}, table.title
    if is_arc(record):
        return read_layout(ARC, table_of_rows([record], title))
    if rows := _rows_of_tool(record):
        return table_of_rows(rows, title)
    columns, has_names = _columns_of_tool(record, title), _has_column_names(record, reading)
    if columns is None and has_names:
        columns = _columns_in(record, table.is_line)
    if columns is not None:
        return table_of_columns(columns, title)
    if has_names or not (rows := _rows_by_key(record, title, reading)):
        return table
    # The keys may be models, which only a reader of the first line can tell.
    origin = {"keys": f"object with the keys {first_entries(list(record), 4)}"}
    return replace(table_of_rows(rows, title), origin=origin)


def _rows_of_tool(record: Record) -> list[Record]:
    """Return the rows of an object as a tool writes it, or [].

    The server of the Hub writes `rows`, each with its `row`, pandas `data` beside their `schema`,
    and bigcode's harness lists [number, row] by task.
    """
    for beside, name in (("features", "rows"), ("schema", "data")):
        if beside in record and is_list_of(record.get(name), dict):
            return [x.get("row", x) for x in record[name]]
    if all(is_list_of(x, list) for x in record.values()):
        entries = list(flat(record.values()))
        if all(list(map(type, entry)) == [int, dict] for entry in entries):
            return [row for _, row in entries]
    return []


def _columns_of_tool(record: Record, title: str) -> Record | None:
    """Return the columns of an object as a tool writes it, or None.

    MLflow, W&B and pandas write the names in `columns` and the rows in `data`. A run that `read`
    returned may have the columns n and correct in `predictions`.
    """
    counts = record.get("predictions")
    if isinstance(counts, dict) and counts.keys() == {"n", "correct"}:
        return {name: x for name, x in record.items() if name != "predictions"} | counts
    names, rows = record.get("columns"), record.get("data")
    if not (isinstance(names, list) and is_list_of(rows, list)):
        return None
    if any(len(row) != len(names) for row in rows):
        return None
    if len({*map(str, names)}) < len(names):
        raise ValueError(f"{title}: two columns have the same name.")
    return {str(name): [row[i] for row in rows] for i, name in enumerate(names)}


def _columns_in(record: Record, is_line: bool) -> Record | None:
    """Return the columns of an object whose keys name them, or None if it is a single row.

    The values are lists, or objects with the same keys, such as {"correct": {"0": 1, "1": 0}}. The
    only line of JSON Lines (`is_line`) is a single row with lists of samples, unless its first
    value is a list of lists, or it has the key n.
    """
    values = list(record.values())
    if is_list_of(values, dict) and len({frozenset(x) for x in values}) == 1:
        return {x: [y[row] for row in values[0]] for x, y in record.items()}
    if not is_list_of(values, list) or (len(values) == 1 and is_list_of(values[0], dict)):
        return None
    is_row = is_line and "n" not in record and not is_list_of(values[0], list)
    return None if is_row else record


def _has_column_names(keys: Iterable[Any], reading: ReadingOptions) -> bool:
    """Return whether a key is among `COLUMN_NAMES`, or is a column that the caller names."""
    named = {role: x for role, x in reading.named().items() if role != "references"}
    known = {name for _, name in pairs_of(named)} | {*reading.questions}
    return any(plain_name(key) in _COLUMN_NAMES or key in known for key in map(str, keys))


def _rows_by_key(record: Record, title: str, reading: ReadingOptions) -> list[Record]:
    """Return the rows of an object whose keys are ids or parts of a run; [] for other objects.

    Each value is a row, a list of rows, an outcome, an answer, or a list of samples.
    """
    known = [x for x in record.values() if x is not None]
    are_rows = is_list_of(known, dict)
    if _is_name_of_rows(known) or (are_rows and not set.intersection(*map(set, known))):
        return []  # facts about a run, and its rows
    if len(known) < len(record) and (are_rows or is_list_of(known, list)):
        kind_of_rows([*record.values()], title)  # raises an error that names the null
    _refuse_keys_of_samples(record, title, reading)
    if are_rows:
        return _rows_with_keys({key: [row] for key, row in record.items()})
    if known and all(is_list_of(x, dict) for x in known):
        return _rows_with_keys(record)
    return _rows_of_samples(record, title)


def _is_name_of_rows(values: Sequence[Any]) -> bool:
    """Return whether an object has one key, such as "results", with an object or list of rows.

    A list of rows without ids may have the samples of one question only if it has one row.
    """
    if len(values) != 1:
        return False
    if isinstance(values[0], dict):
        return is_list_of([*values[0].values()], dict)
    return is_list_of(values[0], dict) and len(values[0]) > 1 and not _have_ids(values[0])


def _rows_with_keys(rows_of: Mapping[str, list[Record]]) -> list[Record]:
    """Return the rows of all keys, each with its key in a column `id`.

    If the rows have an id, the column is `key`, or `object.key` if they have that too. It is left
    out if the keys are the index of a data frame.
    """
    rows, column = list(itertools.chain(*rows_of.values())), "id"
    if _have_ids(rows):
        if list(rows_of) == list(map(str, range(len(rows)))):
            return rows
        names = {plain_name(str(name)) for row in rows for name in row}
        column = "object.key" if "key" in names else "key"
    return [{column: key, **row} for key, own in rows_of.items() for row in own]


def _have_ids(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a row has a column with a usual name for an id."""
    return any(columns_named(map(str, row), (*usual.IDS, *usual.INDICES)) for row in rows)


def _refuse_keys_of_samples(record: Record, title: str, reading: ReadingOptions) -> None:
    """Raise a SelectionError if the keys of an object may be models or samples, and no questions.

    They may be if they number samples, as sample_1 does, or if their values have samples by
    question: lists of lists, which may also be the tests of samples, or objects of outcomes.
    """
    first, *_ = values = list(record.values())
    are_numbered = bool(sample_columns(record)) and not next(iter(record)).isdigit()
    has_lists = all(is_list_of(x, list) for x in values)
    are_objects = is_list_of(values, dict)
    has_objects = are_objects and _have_samples(values, reading)
    if not (are_numbered or has_lists or has_objects):
        return
    ways = []
    if has_lists or has_objects:
        ways.append(Way({"records": next(iter(record))}, "only these samples"))
    if are_objects:
        ways.append(Way({"outcomes": str(next(iter(first)))}, "each key is a question"))
    raise SelectionError(
        f"{title} has {'an object' if has_objects else 'a list'} for each of "
        f"{first_entries(list(record), 4)}: these can be questions, models or samples. Write a "
        f'row for each question, or a list of them with "id" and "outcomes".',
        ways,
    )


def _have_samples(objects: Sequence[Record], reading: ReadingOptions) -> bool:
    """Return whether objects have outcomes or lists alone, by keys that are no names of columns."""
    names = list(map(str, itertools.chain(*objects)))
    entries = itertools.chain(*(x.values() for x in objects))
    are_columns = any(map(is_verdict, names)) or _has_column_names(names, reading)
    return not are_columns and not any(isinstance(x, (dict, str)) for x in entries)


def _rows_of_samples(record: Record, title: str) -> list[Record]:
    """Return a row for each key; [] if its values are not all lists, all texts, or all outcomes."""
    values = list(record.values())
    kinds, inner = ({*map(type, x)} - {type(None)} for x in (values, flat(values)))
    are_lists, are_texts = kinds == {list}, kinds == {str}
    if inner & {dict, str} and not (are_lists or are_texts):
        return []
    _refuse_fractions(record, title)
    if not are_lists and len(values) < 2:
        return []
    if not (are_lists or are_texts) and any(x not in (0, 1, None) for x in values):
        return []
    role = "samples" if str in inner else "outcomes"
    return [{"id": key, role: value} for key, value in record.items()]


def _refuse_fractions(record: Record, title: str) -> None:
    """Raise a ValueError if a value of an object, or an entry of its lists, is a fraction."""
    floats = (x for x in flat(record.values()) if isinstance(x, float) and math.isfinite(x))
    fraction = next((x for x in floats if not x.is_integer()), None)
    if fraction is not None:
        raise ValueError(
            f"{title} has the number {fraction} for one of its keys, such as "
            f"{short(next(iter(record)))}: fractions are a summary of scores, and not the outcomes "
            f"of samples. For rewards, write a row for each question, with the keys id and rewards."
        )


# --- Datasets ---------------------------------------------------------------------------------


def _table_of_dataset(source: str, reading: ReadingOptions) -> Table:
    """Return the table of a dataset: a saved one, a folder with a card, or one of the Hub."""
    try:
        dataset = _load_dataset(source, reading.config)
    except ConnectionError as error:
        raise FileNotFoundError(
            f"There is no file or folder {source!r}, and no dataset of this name could be "
            f"loaded: {error}"
        ) from error
    except (ValueError, TypeError, OSError, ImportError):
        raise
    except Exception as error:  # datasets runs parsers that may raise anything
        reason = " ".join(str(error.__cause__ or error).split())
        raise ValueError(
            f"{source} is no file, nor the folder of a known tool, and cannot be read as a "
            f"dataset: {reason} Name the files, such as {source.rstrip('/')}/*.jsonl."
        ) from error
    return replace(table_of_dataset(one_split(dataset, source, reading.split)), title=source)


def _load_dataset(source: str, config: str | None) -> Any:
    """Return a dataset of `datasets`, or a dict of its splits."""
    import datasets

    path = Path(source)
    if any((path / name).is_file() for name in ("state.json", "dataset_dict.json")):
        return datasets.load_from_disk(source)
    if path.is_dir():
        # A local dataset is read as it is now: the cache knows a file by its path and time only.
        with tempfile.TemporaryDirectory() as cache:
            folder = str(path.resolve())
            return datasets.load_dataset(folder, config, cache_dir=cache, keep_in_memory=True)
    if file_format(path) in (*FORMATS, ".eval") or source.startswith((".", "/", "~")):
        raise FileNotFoundError(f"There is no such file or folder: {source!r}")
    return datasets.load_dataset(source, config)
