"""Single cells of a table: lists and outcomes written as text, and fields of nested objects."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import tokenize
from collections.abc import Sequence
from typing import Any

from .table import ArrowColumn, Columns


def entry_text(entry) -> str:
    """Return an entry as text, which is empty if the entry is None."""
    if entry is None:
        return ""
    return entry if isinstance(entry, str) else repr(entry)


def word(entry) -> str:
    """Return an entry as text that does not depend on case: true for True."""
    return entry_text(entry).strip().lower()


def column_at(columns: Columns, path: str) -> Sequence[Any] | None:
    """Return the column of this name, or else the fields that a dotted path leads to.

    The part of a list that a path leads through is the list of the parts of its entries:
    `response.choices.text` is a list of texts if `choices` is a list.

    Returns:
        a column, or None if there is no such column or no row has such a field.
    """
    if path in columns:
        return columns[path]
    parts = path.split(".")
    for i in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:i])
        if name in columns:
            fields = [_field(cell, parts[i:]) for cell in columns[name]]
            return fields if any(map(_has_value, fields)) else None
    return None


def _field(cell, parts: Sequence[str]) -> Any:
    for i, part in enumerate(parts):
        if isinstance(cell, list):
            return [_field(entry, parts[i:]) for entry in cell]
        cell = cell.get(part) if isinstance(cell, dict) else None
    return cell


def _has_value(field) -> bool:
    return any(map(_has_value, field)) if isinstance(field, list) else field is not None


def has_lists(cells: Sequence[Any]) -> bool:
    """Whether the first cell that is not None is a list."""
    if isinstance(cells, ArrowColumn):
        return cells.depth > 0 and len(cells) > cells.array.null_count
    return isinstance(next((cell for cell in cells if cell is not None), None), list)


def starts_of_lists(cells: Sequence[Any], size: int) -> Sequence[Any]:
    """Return the first entries of each list among the cells, at most this number."""
    if isinstance(cells, ArrowColumn):
        import pyarrow.compute as pc

        return ArrowColumn(pc.list_slice(cells.array, 0, size))
    return [cell[:size] if isinstance(cell, list) else cell for cell in cells]


def unwrapped(cells: Sequence[Any]) -> Sequence[Any]:
    """Return cells such as [["a", "b"]] as ["a", "b"], if all of them have this form."""
    if isinstance(cells, ArrowColumn) and cells.depth < 2:
        return cells
    given = (cell for cell in cells if cell is not None)
    if has_lists(cells) and all(
        isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], list) for cell in given
    ):
        return [None if cell is None else cell[0] for cell in cells]
    return cells


def as_lists(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the lists that the cells stand for, or the cells if one of them is not a list."""
    lists = [parse_list(cell) for cell in cells]
    return cells if None in lists else lists


def parse_list(cell) -> list[Any] | None:
    """Return the list that a cell holds as JSON or as a Python literal, or None if it is not one.

    >>> parse_list('["12", "13"]'), parse_list("['12', None]"), parse_list("12")
    (['12', '13'], ['12', None], None)
    """
    if not (isinstance(cell, str) and cell.strip().startswith("[")):
        return None
    try:
        return json.loads(cell)
    except RecursionError:
        return None
    except ValueError:
        pass
    try:
        literal = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: nested deeply
        return None
    return None if _has_adjacent_strings(cell) else literal


def _has_adjacent_strings(cell: str) -> bool:
    """Return whether two strings follow each other without a comma.

    NumPy prints arrays as ['a' 'b'], which Python would read as ['ab'].
    """
    try:
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(cell).readline)]
    except (tokenize.TokenError, SyntaxError):
        return False
    return (tokenize.STRING, tokenize.STRING) in itertools.pairwise(tokens)


def as_outcome(cell) -> Any:
    """Return the bool or number that a cell holds as text, None for an empty text, or the cell.

    >>> [as_outcome(cell) for cell in ("True", "0.5", "1", "", "fully")]
    [True, 0.5, 1, None, 'fully']
    """
    words = {"": None, "true": True, "false": False}
    if not isinstance(cell, str):
        return cell
    word = cell.strip().lower()
    if word in words:
        return words[word]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(cell)
    return cell


def as_whole_number(cell) -> int | None:
    """Return the whole number that a cell holds, also as text, or None if it holds none."""
    value = as_outcome(cell)
    if isinstance(value, float) and value.is_integer():  # pandas: a column with missing entries
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
