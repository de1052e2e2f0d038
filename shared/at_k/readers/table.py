"""The rows of a source by column, as every reader returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Columns = dict[str, Sequence[Any]]
"""Entries by column name, one per row."""


class ArrowColumn(Sequence[Any]):
    """A column of Arrow, whose entries become Python objects when they are looked at.

    Attributes:
        array: the `pyarrow.ChunkedArray`.
    """

    def __init__(self, array: Any):
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.array[index].to_pylist()
        return self.array[index].as_py()

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self.array), 1024):  # the caller may stop early
            yield from self.array.slice(start, 1024).to_pylist()


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows, with None where a row has no such key."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): [row.get(name) for row in rows] for name in names}


@dataclass(frozen=True)
class Table:
    """The rows of a source by column, and what is known about them.

    Attributes:
        columns: entries by column name, one per row. A row is a question with a list of samples,
            or one sample.
        roles: the column that holds the predictions, outcomes, references, questions, groups, R0
            or clusters, by role. "questions" may be a tuple of columns, which identify a question
            together. The caller may name others. Columns with usual names are only looked for if
            there are no roles.
        origin: what the source says about itself, in the order in which it is reported:
            {"harness": "lm-evaluation-harness", "model": .., "task": ..}.
        parts: number of sources that the rows come from.
    """

    columns: Columns
    roles: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    parts: int = 1

    def with_columns(self, columns: Columns) -> Table:
        """Return the table with other columns."""
        return replace(self, columns=columns)


def join_tables(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """Return the rows of several tables, which are parts of one run, with their common columns.

    Args:
        tables: the parts.
        names: what to call them in a message.

    Raises:
        ValueError: if they say that they are of different harnesses or models.
    """
    first = tables[0]
    for table, name in zip(tables[1:], names[1:], strict=True):
        for what in ("harness", "model"):
            values = [each.origin.get(what) for each in (first, table)]
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
    return Table(columns, roles, origin, sum(table.parts for table in tables))
