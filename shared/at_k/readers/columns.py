"""Columns by their usual names, and the lists, outcomes and fields in their cells."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import re
import tokenize
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ..core.checks import FROM_0, Index, InputError, is_missing
from ..core.containers import QUESTION_NAMES
from .table import ArrowColumn, Columns, Table

USUAL_NAMES = {
    "predictions": (
        *("predictions", "prediction", "samples", "sample", "responses", "response"),
        *("completions", "completion", "generations", "generation", "outputs", "output"),
    ),
    "outcomes": (
        *("outcomes", "outcome", "correct", "is_correct", "passed"),
        *("rewards", "reward", "verdicts", "verdict"),
    ),
    "references": (
        *("references", "reference", "answers", "answer", "targets", "target", "ground_truth"),
        *("gold", "expected", "label", "solution", "tests", "test"),
    ),
    "questions": QUESTION_NAMES,
    "n": (
        *("n", "n_samples", "num_samples", "total", "samples"),
        *("attempts", "num_attempts", "trials", "num_trials"),
    ),
    "correct": ("c", "correct", "num_correct", "n_correct", "passed"),
    "groups": ("groups", "group"),
    "R0": ("r0",),
    "clusters": ("clusters", "cluster"),
}
"""The usual names of the column for each role, in lower case and in order of precedence."""

PER_QUESTION = ("groups", "R0", "clusters")
"""The optional parameters of `compute` that take one value per question, each from a column."""

PER_SAMPLE = ("labels", "picked_by", "vote_weights")
"""Those that take a number per sample. Their columns are never found by a name."""


_LISTED_COLUMNS = 100  # in a message
COUNT = "number of samples"
"""The column of how often each row occurs, of files that were reduced to their distinct rows."""


class Filter(NamedTuple):
    """The rows with this entry in this column, which the command writes as `column=entry`."""

    column: str
    entry: str

    def __str__(self) -> str:
        return f"{self.column}={self.entry}"


class SelectionError(InputError):
    """A source can only be read if the caller names one of its columns, or one of its splits.

    The message states the problem without saying how to name a column, which depends on the
    caller: the command adds its flags.

    Attributes:
        roles: the parameters of `read_questions` that would name it: ("predictions", "outcomes").
        choices: the names to choose from: the columns, or the splits, of the source.
        examples: a value for each of the roles, if the message has none. That of "where" is a
            `Filter`.
        further: what has to be named beside each of the examples: [("predictions", "resps")].
    """

    def __init__(
        self,
        problem: str | Sequence[str | Index],
        roles: Sequence[str] = (),
        choices: Iterable[str] = (),
        examples: Sequence[Any] = (),
        further: Sequence[Sequence[tuple[str, Any]]] = (),
    ):
        super().__init__(*([problem] if isinstance(problem, str) else problem))
        self.roles = tuple(roles)
        self.choices = tuple(choices)
        self.examples = tuple(examples)
        self.further = tuple(further) or ((),) * len(self.examples or self.roles)

    def __reduce__(self) -> Any:
        return type(self), (self.args, self.roles, self.choices, self.examples, self.further)


def in_row(title: str, row: int) -> tuple[str, str, Index, str]:
    """Return the parts of a message that name a row of a source."""
    return title, ", row ", Index(row), FROM_0


def find_column(table: Table, role: str, named: str | None) -> str | None:
    """Return the named column, or else the first column with a usual name for a role, or None."""
    return next(iter(found_columns(table, role)), None) if named is None else named


def found_columns(table: Table, role: str) -> list[str]:
    """Return the columns of a role: those of the reader, or those with usual names."""
    if table.roles:
        name = table.roles.get(role)
        return [name] if isinstance(name, str) else list(name or ())
    return usual_columns(table.columns, role)


def question_columns(table: Table, of_lists: bool) -> tuple[str, ...]:
    """Return the columns that identify the questions, without those that the caller names.

    Args:
        table: the source.
        of_lists: whether a row has several samples. Then rows without a repeated entry are
            different questions, and no column is returned. Otherwise a column without repeated
            entries numbers the samples, and another one is preferred.
    """
    names = found_columns(table, "questions")
    if table.roles:
        return tuple(names)
    texts = {name: [entry_text(entry) for entry in table.columns[name]] for name in names}
    repeated = [name for name in names if len(set(texts[name])) < len(texts[name])]
    if of_lists:
        repeated = [] if len(repeated) < len(names) else repeated
        return tuple(name for name in repeated if "" not in texts[name])[:1]
    return tuple(repeated or names)[:1]


def with_fields(table: Table, names: Iterable[tuple[str, str]]) -> Table:
    """Return the table with the columns that the caller names, which can be dotted paths.

    Args:
        table: the source.
        names: pairs of a role and a name.

    Raises:
        SelectionError: if there is no such column or field.
    """
    columns = dict(table.columns)
    for role, name in names:
        column = column_at(columns, name)
        if column is None:
            raise SelectionError(
                f"There is no column {name!r}. {list_columns(table.columns)}", [role], table.columns
            )
        columns[name] = column
    return table.with_columns(columns)


def usual_columns(columns: Columns, role: str) -> list[str]:
    """Return the columns with a usual name for a role, which may be in any case."""
    return columns_named(columns, USUAL_NAMES[role])


def columns_named(columns: Columns, names: Iterable[str]) -> list[str]:
    """Return the columns with these names, which are in lower case."""
    by_lower_name = {name.lower(): name for name in reversed(columns)}
    return [by_lower_name[name] for name in names if name in by_lower_name]


def list_columns(columns: Columns) -> str:
    """Return the sentence of an error message that lists the columns."""
    names = [name for name in columns if name != COUNT]
    if len(names) > _LISTED_COLUMNS:
        names[_LISTED_COLUMNS:] = [f".., {len(names):,} in all"]
    return f"The columns are {', '.join(names)}."


def entry_text(entry) -> str:
    """Return an entry as text, which is empty if the entry is missing. 1.0 is the text of 1."""
    if is_missing(entry):
        return ""
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, float) and entry.is_integer():
        entry = int(entry)
    return entry if isinstance(entry, str) else repr(entry)


def word(entry) -> str:
    """Return an entry as text that does not depend on case: true for True."""
    return entry_text(entry).strip().lower()


def comparable(entry) -> str | int | float:
    """Return what an entry is compared by: a number, also one that is written as text, or a word.

    >>> [comparable(entry) for entry in ("1.0", 1, True, " Yes")]
    [1.0, 1, 'true', 'yes']
    """
    outcome = as_outcome(entry)
    is_number = isinstance(outcome, (int, float, np.number)) and not isinstance(outcome, bool)
    return outcome if is_number and not is_missing(outcome) else word(entry)


def column_at(columns: Columns, path: str) -> Sequence[Any] | None:
    """Return the column of this name, or else the fields that a dotted path leads to.

    A path through a list gives the list of the fields of its entries: `response.choices.text` is a
    list of texts if `choices` is a list.

    Returns:
        a column, or None if there is no such column or no row has such a field.
    """
    if path in columns:
        return columns[path]
    keys = path.split(".")
    for i in range(len(keys) - 1, 0, -1):
        name = ".".join(keys[:i])
        if name in columns:
            fields = [_field(cell, keys[i:]) for cell in columns[name]]
            return fields if any(map(_has_value, fields)) else None
    return None


def _field(cell, keys: Sequence[str]) -> Any:
    for i, key in enumerate(keys):
        if isinstance(cell, list):
            return [_field(entry, keys[i:]) for entry in cell]
        cell = cell.get(key) if isinstance(cell, dict) else None
    return cell


def _has_value(field) -> bool:
    return any(map(_has_value, field)) if isinstance(field, list) else field is not None


def has_lists(cells: Sequence[Any]) -> bool:
    """Whether the first cell that is not None is a list."""
    if isinstance(cells, ArrowColumn):
        return cells.depth > 0 and len(cells) > cells.array.null_count
    return isinstance(next((cell for cell in cells if cell is not None), None), list)


def starts_of_lists(cells: Sequence[Any], size: int) -> Sequence[Any]:
    """Return the cells, with at most the first `size` entries of each list."""
    if isinstance(cells, ArrowColumn):
        import pyarrow.compute as pc

        return ArrowColumn(pc.list_slice(cells.array, 0, size))
    return [cell[:size] if isinstance(cell, list) else cell for cell in cells]


def unwrapped(cells: Sequence[Any]) -> Sequence[Any]:
    """Return cells such as [["a", "b"]] as ["a", "b"], if all of them have this form."""
    if isinstance(cells, ArrowColumn) and cells.depth < 2:
        return cells
    lists = (cell for cell in cells if cell is not None)
    if has_lists(cells) and all(
        isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], list) for cell in lists
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
    """Whether two strings follow each other without a comma.

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
    if isinstance(cell, Decimal):  # of a sum in DuckDB
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if not isinstance(cell, str):
        return cell
    word = cell.strip().lower()
    if word in words:
        return words[word]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(cell)
    return cell


_COMMA_NUMBER = re.compile(r"\s*([-+]?\d+),(\d+)\s*")


def parsed_outcomes(cells: Sequence[Any]) -> list[Any]:
    """Return outcomes that may be written as text, see `as_outcome`, with a decimal comma or point.

    Commas beside points, and those of which all come before three digits, are not decimal commas.
    """
    cells = list(cells)  # an entry of an Arrow column is slow to look up
    texts = [cell for cell in cells if isinstance(cell, str)]
    commas = [match[2] for text in texts if "," in text and (match := is_decimal_comma(text))]
    if any(len(digits) != 3 for digits in commas) and not any("." in text for text in texts):
        cells = [_COMMA_NUMBER.sub(r"\1.\2", x) if isinstance(x, str) else x for x in cells]
    return [as_outcome(cell) for cell in cells]


def is_decimal_comma(text: str) -> re.Match[str] | None:
    """Whether a text is a number with a comma, which may be a decimal one."""
    return _COMMA_NUMBER.fullmatch(text)


def as_whole_number(cell) -> int | None:
    """Return the whole number that a cell holds, also as text, or None if it holds none."""
    value = as_outcome(cell)
    if isinstance(value, float) and value.is_integer():  # pandas: a column with missing entries
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
