"""The rows of a source by column, as every reader returns them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.checks import short

Columns = dict[str, Sequence[Any]]
"""Entries by column name, one per row."""

Roles = dict[str, str | tuple[str, ...]]
"""The column of each role, or several that can have it."""


class ArrowColumn(Sequence[Any]):
    """A column of Arrow, whose entries become Python objects when they are looked at.

    Attributes:
        array: the `pyarrow.ChunkedArray`.
        type: of its entries, a `pyarrow.DataType`.
    """

    def __init__(self, array: Any):
        self.array, self.type = array, array.type

    @property
    def depth(self) -> int:
        """How deep lists are nested: 0 for single entries, 1 for lists of them."""
        entry_type, depth = self.type, 0
        while "list" in str(entry_type).partition("<")[0]:
            entry_type, depth = entry_type.value_type, depth + 1
        return depth

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.array[index].to_pylist()
        return self.array[index].as_py()

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self.array), 1024):  # the caller may stop early
            yield from self.array.slice(start, 1024).to_pylist()


class UnreadColumn(ArrowColumn):
    """A column that is read when its entries are looked at. Most columns of a log never are.

    Args:
        read: returns the `pyarrow.ChunkedArray`.
        entry_type: of its entries.
        rows: number of entries.
    """

    def __init__(self, read: Callable[[], Any], entry_type: Any, rows: int):
        self._read, self.type, self._rows = read, entry_type, rows

    @cached_property
    def array(self) -> Any:
        return self._read()

    def __len__(self) -> int:
        return self._rows


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows, with None where a row has no such key."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): [row.get(name) for row in rows] for name in names}


def require_equal_columns(columns: Mapping[Any, Any], title: str = "The source") -> None:
    """Raise a ValueError if two columns, such as those of an object of JSON, differ in length."""
    sizes = {name: len(cells) for name, cells in columns.items()}
    for name, size in sizes.items():
        first, expected = next(iter(sizes.items()))
        if size != expected:
            raise ValueError(
                f"{title} has columns with different numbers of rows: {short(first)} has "
                f"{expected}, and {short(name)} has {size}."
            )


@dataclass(frozen=True)
class Table:
    """The rows of a source by column, and what is known about them.

    Attributes:
        columns: entries by column name, one per row. A row is a question with a list of samples,
            or one sample.
        roles: the column that holds the predictions, outcomes, references, questions, groups, R0
            or clusters, by role. "questions" may be a tuple of columns, which identify a question
            together. The caller may name others. Columns with usual names are only looked for if
            there are no roles. The rows of each entry of "filters" repeat the same samples.
        origin: what the source says about itself, in the order in which it is reported:
            {"harness": "lm-evaluation-harness", "model": .., "task": ..}.
        sources: number of files that the rows come from.
        unscored: why samples of the log are None: what became of them.
        find_roles: returns the roles if they depend on the rows that are read.
        places: where each of a few outcomes occurs first, if the rows are distinct ones of files.
    """

    columns: Columns
    roles: Roles = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    sources: int = 1
    unscored: str = ""
    find_roles: Callable[[Columns], Roles] | None = None
    places: Mapping[Any, str] = field(default_factory=dict)

    def with_columns(self, columns: Columns) -> Table:
        """Return the table with other columns."""
        return replace(self, columns=columns)

    def with_rows(self, columns: Columns) -> Table:
        """Return the table with some of its rows, in which a column may have no entry."""
        roles = self.find_roles(columns) if self.find_roles else self.roles
        roles = {
            role: tuple(name for name in names if any(cell is not None for cell in columns[name]))
            if role != "questions" and isinstance(names, tuple)
            else names
            for role, names in roles.items()
        }
        return replace(self, columns=columns, roles=roles)


def join_tables(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """Return the rows of several files of one run, with the columns that all of them have.

    A warning names the columns that some file lacks. Logs are not warned about: their columns
    differ from task to task.

    Args:
        tables: one for each file.
        names: the files.

    Raises:
        ValueError: if they say that they are of different harnesses or models.
    """
    first = tables[0]
    for table, name in zip(tables[1:], names[1:], strict=True):
        for what in ("harness", "model"):
            values = [first.origin.get(what), table.origin.get(what)]
            if values[0] != values[1]:
                raise ValueError(
                    f"{names[0]} and {name} are not parts of one run: their {what} is "
                    f"{values[0]} and {values[1]}."
                )
    columns: Columns = {
        name: [entry for table in tables for entry in table.columns[name]]
        for name in first.columns
        if all(name in table.columns for table in tables)
    }
    if not first.roles:
        _warn_of_columns(tables, names, columns)
    roles = {
        role: name
        for role, name in first.roles.items()
        if all(t.roles.get(role) == name for t in tables)
    }
    origin = {
        what: ", ".join(dict.fromkeys(table.origin[what] for table in tables))
        for what in first.origin
        if all(what in table.origin for table in tables)
    }
    sources = sum(table.sources for table in tables)
    joined = Table(columns, roles, origin, sources, first.unscored)
    if first.find_roles and all(table.find_roles is first.find_roles for table in tables):
        joined = replace(joined, find_roles=first.find_roles).with_rows(columns)
    return joined


def newest_logs(folder: Path, tasks: Mapping[Path, Any]) -> list[Path]:
    """Return the last log of each task. A warning names the others.

    Args:
        folder: that has the logs, for the warning.
        tasks: the task of each log, the newest last.
    """
    newest = {task: log for log, task in tasks.items()}
    others = [str(log) for log, task in tasks.items() if newest[task] != log]
    if others:
        warnings.warn(
            f"{folder} has several logs of a task. The newest that is complete is read, without "
            f"{', '.join(others)}.",
            stacklevel=2,
        )
    return sorted(newest.values())


def _warn_of_columns(tables: Sequence[Table], names: Sequence[str], common: Columns) -> None:
    """Warn if some tables lack columns that others have."""
    lacking = {
        column: next(
            name for table, name in zip(tables, names, strict=True) if column not in table.columns
        )
        for column in dict.fromkeys(column for table in tables for column in table.columns)
        if column not in common
    }
    if lacking:
        shown = ", ".join(f"{column} (not in {name})" for column, name in lacking.items())
        warnings.warn(f"Only columns that all files have are read, without {shown}.", stacklevel=2)
