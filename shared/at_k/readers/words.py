"""What a cell says: an outcome as a word or a number, a list as text, or nothing.

The table of words is the whole list: other words are outcomes of a tool (see `layouts`), labels of
a metric, or need `correct_values`.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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

MISSING_WORDS = frozenset(
    ("nan", "none", "null", "na", "n/a", "<na>", "nat", "missing", "-", "--", ".", r"\n")
)
"""What tools and people write for an outcome or an answer that is missing, in lower case."""

NO_ID = frozenset(("", "nan", "NaN", "<NA>", "NaT", "None", "null", "NULL"))
"""What libraries write for an id that is missing."""

KNOWN_WORDS = (
    "0 and 1, true and false, yes and no, pass and fail, passed and failed, correct and incorrect, "
    "right and wrong, C and I, T and F, Y and N, ticks and crosses"
)
_COMMA_NUMBER = re.compile(r"\s*([-+]?\d+),(\d+)\s*")
_WHOLE_NUMBER = re.compile(r"(0|-?[1-9][0-9]*)\.0")
_ADJACENT = re.compile(r"['\"]\s+['\"]")
_VARIATION = "\ufe0e\ufe0f"  # whether a tick is shown as text or as a picture


def entry_text(entry: Any) -> str:
    """Return an entry as text, which is empty if the entry is missing.

    1, 1.0 and "1.0" have the text "1": formats of text cannot tell them apart.
    """
    if type(entry) is not str:
        if type(entry) in (int, bool):  # the usual case, and fast
            return str(entry)
        entry = "" if is_missing(entry) else str(entry)
    return entry[:-2] if entry[-2:] == ".0" and _WHOLE_NUMBER.fullmatch(entry) else entry


def first_entries(entries: Sequence[Any], most: int = 8) -> str:
    """Return at most `most` entries as a message shows them, and .. if there are others."""
    return ", ".join(map(short, entries[:most])) + (", .." if len(entries) > most else "")


def word(entry: Any) -> str:
    """Return an entry as text that does not depend on case: true for True."""
    return entry_text(entry).strip().strip(_VARIATION).lower()


def number_in(cell: Any) -> Any:
    """Return the number that a text holds, or the cell.

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


def as_outcome(cell: Any) -> Any:
    """Return the bool or number that a cell holds, None if it is missing, or the text.

    >>> [as_outcome(cell) for cell in ("True", "PASS", "0.5", "1", "", "fully")]
    [True, True, 0.5, 1, None, 'fully']
    """
    if type(cell) in (bool, int):  # the usual case, and fast
        return cell
    if not isinstance(cell, str):
        return None if is_missing(cell) else number_in(cell)
    text = cell.strip().strip(_VARIATION).lower()
    if text == "" or text in MISSING_WORDS:
        return None
    return WORDS[text] if text in WORDS else number_in(cell)


def as_outcomes(
    cells: Sequence[Any], has_decimal_commas: bool = False, has_labels: bool = False
) -> list[Any]:
    """Return outcomes, or lists of them. Texts are kept as they are if one of them is no word.

    Missing outcomes become None. With decimal commas, 0,5 is a number. If outcomes may be labels of
    a metric, such as "none" among verdicts, all texts are labels if the first outcome is a text.
    """
    if has_decimal_commas:
        cells = changed(
            lambda x: _COMMA_NUMBER.sub(r"\1.\2", x) if isinstance(x, str) else x, cells
        )
    is_label = has_labels and isinstance(next(filter(None, flat(cells)), None), str)
    if is_label or any(isinstance(as_outcome(x), (str, list, dict)) for x in flat(cells)):
        return changed(lambda x: _as_label(x, has_labels), cells)
    return changed(as_outcome, cells)


def flat(cells: Iterable[Any]) -> Iterator[Any]:
    """Yield the entries of lists, and the other cells."""
    for cell in cells:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def changed(change: Callable[[Any], Any], cells: Sequence[Any]) -> list[Any]:
    """Return the cells after `change`, which is called with each cell, or each entry of a list."""
    return [[change(x) for x in cell] if isinstance(cell, list) else change(cell) for cell in cells]


def _as_label(cell: Any, is_told: bool) -> Any:
    """Return a text as it is, or as its number; None if it is missing.

    "none" is a verdict, and so is "None" if the caller says that outcomes are labels.
    """
    if isinstance(cell, str):
        is_none = (word(cell) if is_told else cell) == "none"
        is_empty = not is_none and word(cell) in (*MISSING_WORDS, "")
        return None if is_empty else number_in(cell)
    return None if is_missing(cell) else cell


def is_decimal_comma(text: str) -> bool:
    """Return whether a text is a number with a comma, which may be a decimal one."""
    return _COMMA_NUMBER.fullmatch(text) is not None


def as_whole_number(cell: Any) -> int | None:
    """Return the whole number that a cell holds, also as text, or None if it holds none."""
    value = number_in(entry_text(cell))  # 8.0 in pandas, whose column has missing entries
    return value if isinstance(value, int) else None


# --- Outcomes that the caller defines --------------------------------------------------------


def graded(cells: Sequence[Any], correct_values: Collection[Any]) -> list[Any]:
    """Return outcomes, or lists of them, as bools: whether they are among the correct values.

    Missing outcomes become None.

    Raises:
        ValueError: if a correct value occurs nowhere.
    """
    correct = {comparable(value): value for value in correct_values}
    occurring: dict[Any, Any] = {}

    def grade(outcome: Any) -> Any:
        """Return whether an outcome is correct, and note it; None if it is missing."""
        if as_outcome(outcome) is None:
            return None
        key = comparable(outcome)
        occurring.setdefault(key, outcome)
        return key in correct

    result = changed(grade, cells)
    absent = [value for key, value in correct.items() if key not in occurring]
    if absent and occurring:
        raise ValueError(
            f"correct_values has {', '.join(map(short, absent))}, and no outcome is equal to it. "
            f"The outcomes are {first_entries([*occurring.values()])}."
        )
    return result


def comparable(value: Any) -> Any:
    """Return a number as such, and a bool or a text as a word in lower case."""
    number = number_in(value.strip() if isinstance(value, str) else value)
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, float, np.number)):
        return word(value)
    return number


def at_least(cells: Sequence[Any], least: float, name: str) -> list[Any]:
    """Return scores, or lists of them, as bools: whether they reach the least score.

    Missing scores stay None. Messages call the column `name`.

    Raises:
        ValueError: if an entry is no number.
    """

    def reaches(score: Any) -> bool | None:
        """Return whether a score is high enough; None if it is missing."""
        if score is None:
            return None
        if not isinstance(score, (int, float)) or not math.isfinite(score):
            raise ValueError(
                f"{name} has the score {short(score)}: correct_at_least is for numbers."
            )
        return score >= least

    outcomes = changed(reaches, cells)
    most = max((score for score in flat(cells) if score is not None), default=least)
    if 0 < least < 1 < most:
        warnings.warn(
            f"{name} has scores up to {most:g}, and correct_at_least is {least:g}, as for scores "
            f"from 0 to 1: a score of 1 counts as correct.",
            stacklevel=2,
        )
    return outcomes


# --- Lists in cells ---------------------------------------------------------------------------


def parse_list(cell: Any) -> list[Any] | None:
    """Return the list that a cell holds as JSON or as a Python literal, or None if it is not one.

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
    """Return the lists that the cells stand for, or the cells if one of them is not a list."""
    lists = [parse_list(cell) for cell in cells]
    return cells if None in lists else lists


def is_list_of(value: Any, kind: type) -> TypeGuard[list[Any]]:
    """Return whether a value is a list with nothing but entries of a type, and is not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(x, kind) for x in value)


def has_lists(cells: Sequence[Any]) -> bool:
    """Return whether the first cell that is not None is a list."""
    return isinstance(next((cell for cell in cells if cell is not None), None), list)
