"""Load a source as one table: files, folders of logs and datasets by name, or Python objects."""

from __future__ import annotations

import glob
import itertools
import json
import os
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from .formats import COMPRESSED, FORMATS, eval_log, file_format, parse_file, table_of_records
from .frames import one_split, table_of_dataset, table_of_object
from .layouts import LM_EVAL_NAME, recognised
from .objects import table_in_object
from .opening import is_remote, read_file, remote_names, require_openable
from .reading import ReadingOptions
from .table import Table, join_tables, rows_where, table_of_rows, with_fields
from .words import first_entries, flat


def names_in(source: Any, are_runs: bool = False) -> list[str]:
    """Return the names of the files and datasets in a source, or [] if it is no name. Names may
    have wildcards, and a folder of logs is replaced by its files. Of several logs of a task, only
    the newest is returned, unless they `are_runs`. A FileNotFoundError is raised if no file
    matches, and a ValueError if one is named twice."""
    sources = [source] if isinstance(source, (str, Path)) else source
    are_listed = isinstance(sources, (list, tuple))
    if not are_listed or not all(isinstance(x, (str, Path)) for x in sources) or not sources:
        return []
    if "" in sources:
        raise ValueError("source is '': this is no name of a file.")
    names = list(itertools.chain(*(_files_in(str(x)) for x in sources)))
    if not names:
        raise FileNotFoundError(f"No file matches {', '.join(map(str, sources))}.")
    paths = [name if is_remote(name) else os.path.realpath(name) for name in names]
    for path, number in Counter(paths).items():
        if number > 1:
            raise ValueError(f"{path} is given twice, so its samples would count twice.")
    return _newest_logs(names, are_runs)


def load_object(source: Any, reading: ReadingOptions) -> Table:
    """Return the table of an open file, or of another object: see `table_of_object`."""
    if not hasattr(source, "read"):
        return _table_within(table_of_object(source, reading.split), reading)
    content = source.read()
    name = getattr(source, "name", None)
    data = content.encode() if isinstance(content, str) else bytes(content)
    return _table_within(parse_file(name if isinstance(name, str) else "The file", data), reading)


def load_files(names: Sequence[str], reading: ReadingOptions) -> Table:
    """Return one table with the rows of files or datasets, given by the names from `names_in`."""
    tables = [_load_one(name, reading) for name in names]
    if len(tables) == 1:
        return tables[0]
    return join_tables([x for x in tables if _has_chosen_rows(x, reading.where)] or tables)


def _has_chosen_rows(table: Table, where: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether `where` selects rows of the table of a file, or False for another task's log.
    Raises a ValueError if the table has no rows, or none that `where` selects."""
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

_START_OF_LOG = re.compile(r'\s*{\s*"version":\s*\d+,\s*"status":\s*"(\w+)",\s*"eval":\s*')


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
# Files that `datasets` writes to the folder of a dataset.
_OF_DATASETS = ("state.json", "dataset_dict.json", "dataset_info.json", "dataset_infos.json")


def logs_in(folder: Path) -> list[str]:
    """Return the names of the logs that an evaluation tool wrote to a folder, or else of all files
    that can be read. Return [] for a path that is no folder, or the folder of a dataset."""
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
    logs = {x: _task_and_date(Path(x), are_runs) for x in names} if len(names) > 1 else {}
    for name, (task, date) in logs.items():
        newest[task] = max(newest.get(task, (date, name)), (date, name))
    others = [name for name, (task, _) in logs.items() if newest[task][1] != name]
    if others:
        warnings.warn(
            f"There are several logs of a task. The newest that is complete is read, without "
            f"{', '.join(others[:5])}{', ..' if len(others) > 5 else ''}.",
            stacklevel=2,
        )
    return [name for name in names if name not in others]


def _task_and_date(file: Path, are_runs: bool) -> tuple[Any, Any]:
    """Return what identifies the task of a log, and a key that is greatest for its newest log. A
    log that is not complete counts as older than those that are. A file is a task of its own if it
    is no log, or if logs `are_runs`, unless inspect_ai wrote both logs for one evaluation."""
    if _is_inspect_log(file):
        with suppress(ValueError, LookupError, TypeError):  # reading it says what is wrong
            status, about = _status_and_eval(file)
            if "task_id" in about or not are_runs:
                task = about.get("task_id", about["task"]), about["model"]
                return task, (status == "success", about["created"])
    folder = file.resolve().parent
    if not are_runs and (name := LM_EVAL_NAME.fullmatch(file.name)):
        return (folder, name["task"]), name["date"]
    if not are_runs and file.match("details_*.parquet"):
        return (folder.parent, file.name.partition("_20")[0]), folder.name
    return file, ""


def _status_and_eval(file: Path) -> tuple[str, dict[str, Any]]:
    """Return the status of a log of inspect_ai, and its object `eval`, without its samples."""
    if file.suffix == ".eval":
        log = eval_log(file.read_bytes(), str(file), with_samples=False)
        return log["status"], log["eval"]
    text = file.read_text(encoding="utf-8")
    if not (start := _START_OF_LOG.match(text)):
        raise ValueError(f"{file} is no log of inspect_ai.")
    return start[1], json.JSONDecoder().raw_decode(text, start.end())[0]


# --- One file or dataset ----------------------------------------------------------------------


def _load_one(source: str, reading: ReadingOptions) -> Table:
    """Return the table of a file, an address, standard input or a dataset."""
    path = Path(source.partition("?")[0] if is_remote(source) else source)
    if not (is_remote(source) or source == "-" or (path.exists() and not path.is_dir())):
        return _table_within(_table_of_dataset(source, reading), reading)
    if reading.config or reading.split:
        raise ValueError(f"config and split apply to datasets, and {source} is a file.")
    # The content tells the format of a pipe such as /dev/fd/63, and of an address without a suffix.
    suffix = file_format(path)
    is_named = suffix in FORMATS if is_remote(source) else path.is_file()
    title = "standard input" if source == "-" else source
    table = parse_file(title, read_file(source), suffix if is_named else "")
    return _table_within(table, reading, path)


def _table_within(table: Table, reading: ReadingOptions, path: Path | None = None) -> Table:
    """Return the table as the layout of a tool reads it, or the table inside of a single object.
    `path` is that of the file, if there is one."""
    if reading.records is not None:
        return _rows_inside(table, reading.records, reading)
    if (log := recognised(table, path)) is not None:
        return log
    return table_in_object(table, reading) if table.is_object and table.size else table


def _rows_inside(table: Table, path: str, reading: ReadingOptions) -> Table:
    """Return the table of the rows, or of the only object, at a dotted path."""
    cells = with_fields(table, [("records", path)]).columns[path]
    if len(cells) == 1 and isinstance(cells[0], dict) and cells[0]:
        return table_in_object(table_of_rows(cells, table.title), reading)
    return table_of_records(list(_rows_in_lists(cells)), f"{table.title}, {path}")


def _rows_in_lists(cells: Any) -> Iterator[Any]:
    """Yield the entries of lists, and of lists inside of them that are no lists of samples."""
    for entry in flat(cells):
        if isinstance(entry, list) and any(isinstance(x, (list, dict)) for x in entry):
            yield from _rows_in_lists([entry])
        else:
            yield entry


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
    if file_format(path) in FORMATS or source.startswith((".", "/", "~")):
        raise FileNotFoundError(f"There is no such file or folder: {source!r}")
    return datasets.load_dataset(source, config)
