"""Text that visitors paste or upload, in the form that the file reader takes."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import suppress

from at_k.readers.columns import USUAL_NAMES, as_outcome
from at_k.scores.score_agg import VERDICTS

Row = list[str]

_USUAL = {name for names in USUAL_NAMES.values() for name in names}
NOT_SCORED = {"none", "null", "na", "nan"}
"""What stands in a cell for the outcome of a sample that is not scored."""

_ADDED = "header"
"""How Gradio names a column that a visitor adds, before its number."""


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        ValueError: if it is not UTF-8, or UTF-16 with a byte order mark.
    """
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{name}, line {line} is not UTF-8 text, but may be Latin-1 or another encoding. Save "
            f"the file as UTF-8, which spreadsheets call CSV UTF-8."
        ) from error


def parse_table(text: str) -> list[Row]:
    """Return the rows of a table as people paste it.

    The rows are lists of values, in JSON or as NumPy prints them; a Markdown table; values that are
    separated by spaces; lines of digits such as 1011; or cells that are separated by tabs,
    semicolons or commas. There are no rows if the text is not a table. The file reader says why.
    """
    for rows_of in (parse_lists, _rows_of_markdown, _rows_of_values, _rows_of_digits):
        if rows := rows_of(text):
            return rows
    return _delimited_rows(text)


def parse_lists(text: str) -> list[Row]:
    """Return innermost lists as rows below names of columns, if there is nothing but lists."""
    if not _START_OF_LISTS.match(text) or not _IS_LISTS.fullmatch(_LIST.sub("", text)):
        return []
    rows = [_cells_of_list(content) for content in _LIST.findall(text)]
    width = max(map(len, rows), default=0)
    return [sample_names(width), *rows] if width else []


_LIST = re.compile(r"[\[(]((?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\[\]()\"'])*)[\])]")
_START_OF_LISTS = re.compile(r"\s*(?:np\.)?(?:array|tensor)?\s*[\[(]")
_IS_LISTS = re.compile(r"(?:np\.|array|tensor|[\[\](),\s])*")


def _cells_of_list(content: str) -> Row:
    """Return the entries of a list as JSON, Python or NumPy writes it."""
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            return ["" if entry is None else str(entry) for entry in parse(f"[{content}]")]
    return [cell for cell in re.split(r"[,\s]+", content) if cell]


def _rows_of_markdown(text: str) -> list[Row]:
    """Return the rows of a table whose lines begin with a bar, without the line below its names."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not all(line.startswith("|") for line in lines):
        return []
    rows = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for line in lines
    ]
    return [row for row in rows if not all(re.fullmatch(":?-+:?", cell) for cell in row)]


def _rows_of_values(text: str) -> list[Row]:
    """Return the values of each line, if spaces separate them. The first line may name columns."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if "\t" in text.strip() or not rows or max(map(len, rows)) < 2:
        return []
    if names_roles(rows[0]) and "," not in text:
        return rows if len({*map(len, rows)}) == 1 else []
    cells = [cell for row in rows for cell in row]
    are_values = all(_is_value(cell) or _DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return _with_points(rows) if are_values else []


def _rows_of_digits(text: str) -> list[Row]:
    """Return the digits of each line, if they are 0 and 1, or cannot be numbers."""
    lines = text.split()
    are_digits = all(re.fullmatch("[0-9]{2,}", line) for line in lines)
    if not are_digits or not ({*"".join(lines)} <= {*"01"} or any(x[0] == "0" for x in lines)):
        return []
    return [sample_names(max(map(len, lines))), *map(list, lines)] if lines else []


def _delimited_rows(text: str) -> list[Row]:
    """Return rows whose cells are separated by commas, semicolons or tabs.

    With semicolons and tabs, numbers may have a decimal comma.
    """
    delimiter = max("\t;,", key=text.strip("\r\n").partition("\n")[0].count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    except csv.Error:
        return []
    return rows if delimiter == "," else _with_points(rows)


_DECIMAL_COMMA = re.compile(r"\s*(-?\d+),(\d+)\s*")


def _with_points(rows: list[Row]) -> list[Row]:
    """Return rows with decimal points for decimal commas.

    Commas before three digits, and beside points, separate thousands.
    """
    cells = [cell for row in rows for cell in row]
    decimals = [match[2] for cell in cells if (match := _DECIMAL_COMMA.fullmatch(cell))]
    has_points = any(re.fullmatch(r"\s*-?\d*\.\d+\s*", cell) for cell in cells)
    if has_points or all(len(digits) == 3 for digits in decimals):
        return rows
    return [[_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in row] for row in rows]


def sample_names(number: int) -> Row:
    """Return the names of columns with a sample each."""
    return [f"sample {index}" for index in range(1, number + 1)]


def with_all_cells(rows: list[Row]) -> list[Row]:
    """Return rows with empty cells at the end of those that are shorter than the first.

    Raises:
        ValueError: if a row is longer.
    """
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) > width:
            raise ValueError(f"Row {number} has {len(row)} cells, and the first line has {width}.")
    return [row + [""] * (width - len(row)) for row in rows]


def sample_columns(head: Row) -> list[int]:
    """Return the places of columns that hold a sample each: 1, 2, .. or sample_1, sample_2, ..

    The numbers count from 0 or 1. There is no such column if the names are not numbered.
    """
    numbered: dict[str, list[tuple[int, int]]] = {}
    for place, name in enumerate(head):
        if found := re.fullmatch(r"([a-z ]*?)[ _-]?(\d{1,5})", name.strip().lower()):
            numbered.setdefault(found[1], []).append((place, int(found[2])))
    added = [place for place, _ in numbered.pop(_ADDED, [])]  # a visitor can add columns
    for prefix, columns in numbered.items():
        first, number = columns[0][1], len(columns)
        in_order = [n for _, n in columns] == [*range(first, first + number)]
        # Rewards such as 1, 0.5, 0.25 and outcomes such as 0, 1 are numbers too.
        others = {*range(len(head))} - {place for place, _ in columns}
        is_name = bool(prefix) or not any(_is_value(head[place]) for place in others)
        if in_order and first in (0, 1) and is_name:
            return [place for place, _ in columns] + added
    return added


def has_header(rows: list[Row]) -> bool:
    """Return whether the first row of a table names its columns.

    Names differ from each other, and none is a number or a verdict. One of them is a usual name, or
    none is in another row.
    """
    head = [cell.strip().lower() for cell in rows[0] if cell.strip()]
    below = {cell.strip().lower() for row in rows[1:] for cell in row if cell.strip()}
    if all(map(_is_value, rows[0])):  # 1, 2, 3 above outcomes are names, and rewards otherwise
        is_name = below <= VERDICTS.keys() or (len(head) > 2 and below <= {"0", "1"})
        return is_name and bool(sample_columns(rows[0]))
    if sample_columns(rows[0]):
        return True
    if len(set(head)) < len(head) or any(
        cell in VERDICTS or not isinstance(as_outcome(cell), str) for cell in head
    ):
        return False
    return not _USUAL.isdisjoint(head) or below.isdisjoint(head)


def is_numbered(head: Row) -> bool:
    """Whether the cells of a row are 1, 2, 3 and so on."""
    return head == [str(number) for number in range(1, len(head) + 1)]


def _is_value(cell: str) -> bool:
    """Whether a cell holds a number, a bool or a verdict, as samples do."""
    text = cell.strip().lower()
    words = VERDICTS.keys() | NOT_SCORED
    return text in words or not isinstance(as_outcome(text), str | None)


def names_roles(row: Row) -> bool:
    """Return whether the cells of a row are usual names of two columns or more."""
    named = [cell.strip().lower() for cell in row if cell.strip()]
    return len(set(named)) > 1 and _USUAL.issuperset(named)


def are_outcomes(rows: list[Row], of_any_number: bool) -> bool:
    """Whether all cells are 0, 1, true, false or verdicts, or if `of_any_number` any numbers."""
    words = [cell.strip().lower() for row in rows for cell in row]
    cells = [None if word in NOT_SCORED else as_outcome(word) for word in words]
    outcomes = (int, float) if of_any_number else (bool,)
    return all(
        cell in (0, 1, None) or isinstance(cell, outcomes) or cell in VERDICTS for cell in cells
    )


def with_header(rows: list[Row], names: Sequence[str]) -> list[Row]:
    """Return rows below the names of their first columns, and of a column for each sample."""
    samples = max(map(len, rows)) - len(names)
    return [[*names, *sample_names(samples)], *rows]


def paste_cells(table: list[Row], row: int, column: int, text: str) -> list[Row]:
    """Return a table after a visitor has pasted cells into it.

    Cells with names of columns above them replace the table. Others are written from the selected
    cell on, and add rows and columns where needed.

    Args:
        table: the names of the columns, and the rows.
        row: the selected row, from 0 without the names.
        column: the selected column.
        text: the cells as text.
    """
    pasted = parse_table(text)
    if len(pasted) > 1 and len(pasted[0]) > 1 and has_header(pasted):
        return with_all_cells(pasted)
    width = max([len(table[0]), *(column + len(cells) for cells in pasted)])
    height = max(len(table), 1 + row + len(pasted))
    names = table[0] + [""] * (width - len(table[0]))
    first = next((place for place, name in enumerate(names) if name.strip() == "1"), 0)
    names = [name or str(place - first + 1) for place, name in enumerate(names)]
    rows = [cells + [""] * (width - len(cells)) for cells in table[1:]]
    rows += [[""] * width for _ in range(height - len(table))]
    for i, cells in enumerate(pasted, start=row):
        rows[i][column : column + len(cells)] = cells
    return [names, *rows]


def as_csv(rows: list[Row]) -> str:
    """Return rows as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
