"""Parse single cells: outcomes as words or numbers, lists written as text, and missing entries.

`WORDS` has all words that are outcomes. Other words are outcomes of a tool (see `layouts`), labels
of a metric, or need `correct_values`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeGuard

import numpy as np

from ..core.checks import is_missing, short

WORDS = {
    **dict.fromkeys(("true", "t", "yes", "y", "pass", "passed", "correct", "right", "c"), True),
    **dict.fromkeys(("false", "f", "no", "n", "fail", "failed", "incorrect", "wrong", "i"), False),
    **dict.fromkeys("\u2713\u2714\u2705\u2611", True),  # ticks
    **dict.fromkeys("\u2715\u2716\u2717\u2718\u274c\u2612", False),  # crosses
}
"""Outcomes as words, in lower case."""

KNOWN_WORDS = (
    "0 and 1, true and false, yes and no, pass and fail, passed and failed, correct and incorrect, "
    "right and wrong, C and I, T and F, Y and N, ticks and crosses"
)

MISSING_WORDS = frozenset(
    ("nan", "none", "null", "na", "n/a", "<na>", "nat", "missing", "-", "--", ".", r"\n")
)
"""What tools and people write for an outcome or an answer that is missing, in lower case."""

NO_ID = frozenset(("", "nan", "NaN", "<NA>", "NaT", "None", "null", "NULL"))
"""What libraries write for an id that is missing."""

_COMMA_NUMBER = re.compile(r"\s*[-+]?\d+,\d+\s*")
_WHOLE_NUMBER = re.compile(r"(0|-?[1-9][0-9]*)\.0")
_ADJACENT = re.compile(r"['\"]\s+['\"]")
_VARIATION_SELECTORS = "\ufe0e\ufe0f"  # whether a tick is shown as text or as a picture


def entry_text(entry: Any) -> str:
    """Return an entry as text, or "" if it is missing. 1, 1.0 and "1.0" all give "1", because
    formats of text do not tell them apart."""
    if type(entry) is not str:
        if type(entry) in (int, bool):  # the usual case, and fast
            return str(entry)
        entry = "" if is_missing(entry) else str(entry)
    return entry[:-2] if entry[-2:] == ".0" and _WHOLE_NUMBER.fullmatch(entry) else entry


def first_entries(entries: Sequence[Any], most: int = 8) -> str:
    """Return the first `most` entries as text for a message, and .. if there are more."""
    return ", ".join(map(short, entries[:most])) + (", .." if len(entries) > most else "")


def word(entry: Any) -> str:
    """Return an entry as text in lower case, without spaces around it: "true" for True."""
    return entry_text(entry).strip().strip(_VARIATION_SELECTORS).lower()


def number_in(cell: Any) -> Any:
    """Return the number that a text or a Decimal holds; other cells are returned unchanged.

    >>> [number_in(cell) for cell in ("0.5", "1", "fully", True)]
    [0.5, 1, 'fully', True]
    """
    # Python would read 1_0 as 10, and the digits of all scripts.
    if isinstance(cell, str) and "_" not in cell and cell.isascii():
        for kind in (int, float):
            with suppress(ValueError):
                return kind(cell)
    if isinstance(cell, Decimal):  # of a sum in DuckDB
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell


def as_whole_number(cell: Any) -> int | None:
    """Return the whole number in a cell or text, such as 8, "8" or 8.0; otherwise None."""
    value = number_in(entry_text(cell))  # 8.0 in pandas, whose column has missing entries
    return value if isinstance(value, int) else None


def as_outcome(cell: Any) -> Any:
    """Return the bool or number in a cell, None if it is missing, or another text unchanged.

    >>> [as_outcome(cell) for cell in ("True", "PASS", "0.5", "1", "", "fully")]
    [True, True, 0.5, 1, None, 'fully']
    """
    if type(cell) in (bool, int):  # the usual case, and fast
        return cell
    if not isinstance(cell, str):
        return None if is_missing(cell) else number_in(cell)
    text = cell.strip().strip(_VARIATION_SELECTORS).lower()
    if text == "" or text in MISSING_WORDS:
        return None
    return WORDS[text] if text in WORDS else number_in(cell)


def is_outcome(cell: Any) -> bool:
    """Return whether a cell has an outcome, as a number, a bool or a word such as pass."""
    return isinstance(as_outcome(cell), (bool, int, float))


def as_outcomes(
    cells: Sequence[Any], has_decimal_commas: bool = False, has_labels: bool = False
) -> list[Any]:
    """Return the outcomes in cells without lists as bools and numbers, with None for missing ones.
    If a text is no outcome, or the first is a text and `has_labels`, texts stay as labels."""
    if has_decimal_commas:
        cells = _with_decimal_points(cells)
    outcomes = list(map(as_outcome, cells))
    is_label = has_labels and isinstance(next(filter(None, cells), None), str)
    if not is_label and not any(isinstance(x, (str, list, dict)) for x in outcomes):
        return outcomes
    return [_as_label(cell, has_labels) for cell in cells]


def _as_label(cell: Any, has_labels: bool) -> Any:
    """Return the label in a cell, or None if it is missing. The text none is a label in lower case,
    as a verdict of score_agg, and None in any case if `has_labels`."""
    if not isinstance(cell, str):
        return None if is_missing(cell) else cell
    is_none = cell == "none" or (has_labels and word(cell) == "none")
    return None if not is_none and word(cell) in (*MISSING_WORDS, "") else number_in(cell)


def is_decimal_comma(text: str) -> bool:
    """Return whether a text is a number with one comma, such as 0,5."""
    return _COMMA_NUMBER.fullmatch(text) is not None


def _with_decimal_points(cells: Sequence[Any]) -> list[Any]:
    """Return cells with 0.5 for 0,5; a ValueError if others have a point, as thousands may."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    commas = list(filter(is_decimal_comma, texts))
    points = [text for text in texts if "." in text and isinstance(number_in(text), float)]
    if commas and points:
        raise ValueError(
            f"The outcomes {commas[0]} and {points[0]} have a decimal comma and a point, which may "
            f"separate thousands: write all of them in one way."
        )
    written = {text: text.replace(",", ".") for text in commas}
    return [written.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]


def comparable(value: Any) -> Any:
    """Return the key by which two values are equal: a number, or a text in lower case."""
    number = number_in(value.strip() if isinstance(value, str) else value)
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, float, np.number)):
        return word(value)
    return number


# --- Lists in cells ---------------------------------------------------------------------------


def flat(cells: Iterable[Any]) -> Iterator[Any]:
    """Yield each cell, or the entries of a cell that is a list."""
    for cell in cells:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def parse_list(cell: Any) -> list[Any] | None:
    """Return the list that a text holds as JSON or as a Python literal, or None if it holds none.

    >>> parse_list('["12", "13"]'), parse_list("['12', None]"), parse_list("12")
    (['12', '13'], ['12', None], None)
    """
    if not (isinstance(cell, str) and cell.strip().startswith("[")):
        return None
    try:
        with suppress(ValueError):
            return json.loads(cell)
        literal = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: nested deeply
        return None
    # NumPy prints arrays as ['a' 'b'], which Python reads as ['ab'].
    return literal if isinstance(literal, list) and not _ADJACENT.search(cell) else None


def as_lists(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the lists that all cells hold as text, or the cells if one of them holds none."""
    lists = [parse_list(cell) for cell in cells]
    return cells if None in lists else lists


def is_list_of(value: Any, kind: type) -> TypeGuard[list[Any]]:
    """Return whether a value is a list that is not empty, and has only entries of one type."""
    return isinstance(value, list) and bool(value) and all(isinstance(x, kind) for x in value)


def has_lists(cells: Sequence[Any]) -> bool:
    """Return whether the first cell that is not None is a list."""
    return isinstance(next((cell for cell in cells if cell is not None), None), list)
