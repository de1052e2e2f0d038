"""Cells that visitors type and paste into the table of a page."""

from __future__ import annotations

import csv
import io
import re

from at_k.readers.grids import Unnamed, delimiter_of, names_columns, names_roles, rows_of_text

Row = list[str]

_NO_NAME = re.compile(r"(header[ _-]?\d+)?", re.IGNORECASE)
"""How Gradio names a column that a visitor adds, or none."""


def paste_cells(table: list[Row], row: int, column: int, text: str) -> list[Row]:
    """Return a table after a visitor has pasted cells into it.

    Cells with names of columns above them replace the table. Others are written from the selected
    cell on, and add rows and columns where needed.

    Args:
        table: the names of the columns, and the rows.
        row: the selected row, from 0 without the names.
        column: the selected column.
        text: the cells as text.

    Raises:
        ValueError: if a row has more cells than there are names.
    """
    pasted, are_samples = _cells_of(text)
    has_names = not are_samples and len(pasted) > 1 and len(pasted[0]) > 1
    if has_names and names_columns(pasted[0], lambda: pasted[1:], Unnamed(first=("reference",))):
        return _with_all_cells(pasted)
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
    """Return rows as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
