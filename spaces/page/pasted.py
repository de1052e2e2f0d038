"""Text that visitors paste or upload, in the form that the file reader takes."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

Row = list[str]


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


def parse_table(text: str) -> tuple[list[Row], str]:
    """Return the rows of a table and what separates its cells: commas, semicolons or tabs.

    There are no rows if the text is not a table. The file reader says why.
    """
    delimiter = max(",;\t", key=text.lstrip().partition("\n")[0].count)
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter)), delimiter
    except csv.Error:
        return [], delimiter


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


def is_wide(head: Row) -> bool:
    """Return whether a table has a column for each sample: 1, 2, .. as in the table of the page."""
    numbers = [int(cell) for cell in head if cell.strip().isdigit() and len(cell) < 6]
    return len(numbers) > 0 and numbers == list(range(1, len(numbers) + 1))


def as_csv(rows: list[Row], is_verdicts: bool) -> str:
    """Return rows as CSV.

    Args:
        rows: the rows.
        is_verdicts: whether the column "answer" names the answer that a statement is part of, and
            is not a reference.
    """
    head, *others = rows
    if is_verdicts:
        head = ["question_id" if cell.strip().lower() == "answer" else cell for cell in head]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([head, *others])
    return stream.getvalue()


def refuse_repeated_keys(text: str) -> None:
    """Raise a ValueError if an object of JSON or JSON Lines has a key twice.

    Other problems are found by the file reader.
    """
    is_whole = text.lstrip().startswith("[")
    for number, part in enumerate([text] if is_whole else text.splitlines(), start=1):
        try:
            json.loads(part, object_pairs_hook=_without_repetitions)
        except _RepeatedKeyError as error:
            where = "" if is_whole else f"Line {number}: "
            raise ValueError(f"{where}the key {error} is there twice in one object.") from error
        except (ValueError, RecursionError):
            continue


class _RepeatedKeyError(ValueError):
    """A key of an object occurs twice."""


def _without_repetitions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(repr(next(key for key in keys if keys.count(key) > 1)))
    return found
