"""Cells that visitors type and paste into the table of a page."""

from __future__ import annotations

import csv
import io
import re

from at_k.readers.grids import (
    Unnamed,
    are_outcomes,
    delimiter_of,
    names_columns,
    names_roles,
    rows_of_text,
)

from .space import Space

Row = list[str]

_NO_NAME = re.compile(r"(header[ _-]?\d+)?", re.IGNORECASE)
"""How Gradio names a column that a visitor adds, or none."""


def unnamed_of(space: Space, reading: str = "") -> Unnamed:
    """Return how a page reads tables whose columns may have no names.

    Args:
        space: the page.
        reading: what a visitor says of the cells, one of `READINGS`.
    """
    are_rewards = space.metric in ("max_at_k", "bayes_at_n")
    return Unnamed(reading, space.headers, are_rewards, are_verdicts=space.metric == "score_agg")


def paste_cells(unnamed: Unnamed, table: list[Row], row: int, column: int, text: str) -> list[Row]:
    """Return a table after a visitor has pasted cells into it.

    Several rows of cells replace the table if the first row names the columns, if the table is
    empty, or if the first cell is selected. Without names, they are read as a pasted text is: the
    columns are those of the samples if all cells are outcomes. Others are written from the selected
    cell on, and add rows and columns where needed.

    Args:
        unnamed: how a table without names is read.
        table: the names of the columns, and the rows.
        row: the selected row, from 0 without the names.
        column: the selected column.
        text: the cells as text.

    Raises:
        ValueError: if a row has more cells than there are names.
    """
    pasted, are_samples = _cells_of(text)
    if len(pasted) > 1 and len(pasted[0]) > 1:
        has_names = not are_samples and names_columns(pasted[0], lambda: pasted[1:], unnamed)
        if has_names:
            return _with_all_cells(pasted)
        if (row, column) == (0, 0) or not any(map(any, table[1:])):
            first = [] if are_samples or are_outcomes(pasted, unnamed) else [*unnamed.first]
            samples = range(1, max(map(len, pasted)) - len(first) + 1)
            return _with_all_cells([[*first, *map(str, samples)], *pasted])
    width = max([len(table[0]), *(column + len(cells) for cells in pasted)])
    height = max(len(table), 1 + row + len(pasted))
    names = _with_numbers(table[0] + [""] * (width - len(table[0])))
    rows = [cells + [""] * (width - len(cells)) for cells in table[1:]]
    rows += [[""] * width for _ in range(height - len(table))]
    for i, cells in enumerate(pasted, start=row):
        rows[i][column : column + len(cells)] = cells
    return [names, *rows]


def _cells_of(text: str) -> tuple[list[Row], bool]:
    """Return the cells of each row of a text, and whether all of them are samples."""
    rows, are_samples = rows_of_text(text)
    if rows:
        return [["" if cell is None else str(cell) for cell in row] for row in rows], are_samples
    head = text.strip("\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=delimiter_of(head))
    return [row for row in reader if any(row)], False


def _with_all_cells(rows: list[Row]) -> list[Row]:
    """Return rows with empty cells at the end of those that are shorter than the first."""
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) > width:
            raise ValueError(f"Row {number} has {len(row)} cells, and the first line has {width}.")
    return [row + [""] * (width - len(row)) for row in rows]


def _with_numbers(head: Row) -> Row:
    """Return the names of columns, and for those without one the number of their sample."""
    first = next((place for place, name in enumerate(head) if name.strip() == "1"), 0)
    return [
        str(place - first + 1) if _NO_NAME.fullmatch(name.strip()) else name
        for place, name in enumerate(head)
    ]


def as_text(table: list[Row]) -> tuple[str, bool]:
    """Return the table of a page as CSV, and whether its first row certainly names its columns.

    The table names its columns 1, 2, 3, which in a pasted text may be rewards. Empty rows are left
    out.
    """
    rows = [_with_numbers(table[0]), *(row for row in table[1:] if any(row))]
    if len(rows) > 1 and names_roles(rows[1]):  # typed below the names of the page
        rows = rows[1:]
    is_numbered = rows[0] == [str(number) for number in range(1, len(rows[0]) + 1)]
    return as_csv(rows), is_numbered


def as_csv(rows: list[Row]) -> str:
    """Return rows as CSV for a reader, which needs the cells as they are: see `csv_text`."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
