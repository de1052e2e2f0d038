"""Choose rows by their entries, and gather the rows of each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checks import short
from .cells import entry_text, word
from .table import ArrowColumn, Columns, Table


def rows_where(table: Table, where: Sequence[tuple[str, Any]]) -> Table:
    """Return the table with the rows that have these entries in these columns."""
    for name, entry in where:
        cells = table.columns[name]
        rows = [row for row, cell in enumerate(cells) if cell == entry or word(cell) == word(entry)]
        if not rows:
            found = list(dict.fromkeys(map(entry_text, cells)))
            shown = ", ".join(map(short, found[:8])) + (", .." if len(found) > 8 else "")
            raise ValueError(f"No row has {short(entry)} in {name}. Its entries are {shown}.")
        table = table.with_rows(
            {column: _entries_in(cells, rows) for column, cells in table.columns.items()}
        )
    return table


def _entries_in(cells: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    """Return the entries of a column in these rows."""
    if isinstance(cells, ArrowColumn):
        return ArrowColumn(cells.array.take(rows))
    return [cells[row] for row in rows]


def rows_by_question(
    columns: Columns, key: Sequence[str], title: str | None = None
) -> dict[Any, list[int]]:
    """Return the rows of each question, by the entry or the entries that identify it.

    Args:
        columns: the source.
        key: the columns that identify questions. If there is none, all rows are one question.
        title: the name of the source, if a missing entry is an error.
    """
    if not key:
        return {"": list(range(max(map(len, columns.values()))))}
    texts = [[entry_text(entry) for entry in columns[name]] for name in key]
    if title is not None:
        for name, entries in zip(key, texts, strict=True):
            if "" in entries:
                raise ValueError(
                    f"{title}, row {entries.index('')} (from 0) has no {name}, so its question is "
                    f"unknown."
                )
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


def gathered(
    role: str,
    cells: Sequence[Any],
    of_lists: bool,
    rows_of: dict[Any, list[int]],
    key: str,
    title: str,
) -> list[Any]:
    """Return the cells of a role with one entry per question.

    Samples of a question are put together, and its counts are added. Its other entries have to be
    equal in all rows.
    """
    cells = list(cells)
    if role == "counts":
        return [
            [sum(column) for column in zip(*_at(cells, rows), strict=True)]
            for rows in rows_of.values()
        ]
    if role in ("samples", "times"):
        if not of_lists:
            return [_at(cells, rows) for rows in rows_of.values()]
        return [
            None if None in (parts := _at(cells, rows)) else [x for part in parts for x in part]
            for rows in rows_of.values()
        ]
    for question, (first, *others) in rows_of.items():
        for row in others:
            if cells[row] != cells[first]:
                raise ValueError(
                    f"Rows {first} and {row} of {title} have the same {key}, {short(question)}, "
                    f"but different {role}: {short(cells[first])} and {short(cells[row])}."
                )
    return [cells[rows[0]] for rows in rows_of.values()]


def _at(cells: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [cells[row] for row in rows]
