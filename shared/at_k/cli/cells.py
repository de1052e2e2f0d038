"""What the cells of a text file stand for: lists of samples, and outcomes."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import tokenize
from typing import Any


def parse_list(cell) -> list[Any] | None:
    """Return the list that a cell holds as JSON or as a Python literal, or None if it is not one.

    >>> parse_list('["12", "13"]'), parse_list("['12', None]"), parse_list("12")
    (['12', '13'], ['12', None], None)
    """
    if not (isinstance(cell, str) and cell.strip().startswith("[")):
        return None
    try:
        return json.loads(cell)
    except ValueError:
        if _has_adjacent_strings(cell):
            return None
    try:
        return ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError):
        return None


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
    """Return the bool or number that a cell holds as text, None if it is empty, or else the cell.

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
