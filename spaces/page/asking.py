"""Offer the visitor choices if samples can be read in several ways.

A choice is a `Reading` (arguments of `read_run`) that the page offers, as {"missing": "drop"}.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from at_k.readers.names import COLUMN_NAMES, columns_named
from at_k.readers.reading import make_reading
from at_k.readers.sources import load_files
from at_k.readers.table import Columns, SelectionError, column_at
from at_k.readers.words import entry_text

from .request import MAX_SAMPLES_PER_QUESTION, ChoiceError, Reading

ROLES = {
    "predictions": "Samples",
    "outcomes": "Outcomes, already graded",
    "references": "References",
    "questions": "Questions",
}
"""The roles of columns that a visitor can choose, and their labels."""

_ONE_PER_QUESTION = ("references", "questions", "groups")
_CORRECT = ("correct_values", "correct_at_least")
_MAX_ENTRIES, _MAX_COLUMNS, _MAX_CHARACTERS = 40, 200, 120
_NUMBERED = re.compile(r"(.*?)(\d{1,4})")
_MISSING = {
    "incorrect": "Missing samples are incorrect",
    "drop": "Missing samples are left out",
}
_BY_ITSELF = "Score each by itself"
_WORDS: dict[str, Callable[[Any], str]] = {
    "missing": lambda choice: _MISSING[choice],
    "where": lambda where: f"only rows with {_conditions_in_words(where)}",
    "groups": lambda name: f"Scores for each {name}",
    "questions": lambda names: f"Questions are identified by {' and '.join(_as_list(names))}",
    "pool": lambda names: f"Rows that differ in {', '.join(names)} are samples of one question",
    "by_order": lambda holds: (
        "The files have the same questions in the same order" if holds else _BY_ITSELF
    ),
    "common": lambda holds: "Only the questions that all files have" if holds else _BY_ITSELF,
    "predictions": lambda names: (
        f"Samples in {names}"
        if isinstance(names, str)
        else f"A sample in each of {len(names)} columns, {names[0]} to {names[-1]}"
    ),
    "outcomes": lambda name: f"Outcomes in {name}",
    "references": lambda name: f"References in {name}",
    "records": lambda path: f"The rows in {path}",
    "n": lambda name: f"Numbers of samples in {name}",
    "counts": lambda name: f"Numbers of equal samples in {name}",
}
"""Functions that return the words for the value of an argument, by the name of the argument."""


def choice_in_words(choice: Reading) -> str:
    """Return a choice as text, such as "Missing samples are left out"."""
    parts = [_WORDS[argument](value) for argument, value in choice.items()]
    words = ", ".join(f"{part[0].lower()}{part[1:]}" for part in parts)
    dots = ".." if len(words) > _MAX_CHARACTERS else ""
    return f"{words[0].upper()}{words[1:_MAX_CHARACTERS]}{dots}"


def _conditions_in_words(where: Sequence[Sequence[str]]) -> str:
    """Return pairs of a column and an entry as text, such as "prompt = a or b and model = x"."""
    entries: dict[str, list[str]] = {}
    for name, entry in where:
        entries.setdefault(name, []).append(entry)
    return " and ".join(f"{name} = {' or '.join(texts)}" for name, texts in entries.items())


def is_reading(reading: Any) -> bool:
    """Return whether an object from a link or a program has the form of a reading.

    It has this form if `choice_in_words` accepts it. Correct outcomes in it are not checked here.
    """
    try:
        choice = {name: value for name, value in reading.items() if name not in _CORRECT}
        return not choice or bool(choice_in_words(choice))
    except (TypeError, ValueError, LookupError, AttributeError):
        return False


def merged(choices: Sequence[Reading]) -> Reading:
    """Merge choices into one reading. Later choices win, but all conditions "where" are kept."""
    reading: Reading = {}
    for choice in choices:
        where = [*reading.get("where", ()), *choice.get("where", ())]
        reading |= choice
        if where:
            reading["where"] = where
    return reading


def choice_error(error: SelectionError, path: str, has_references: bool) -> ChoiceError:
    """Turn an error of the reader about the file at `path` into a question to the visitor.

    `has_references` says whether the page checks samples against references.
    """
    columns = load_columns(path)
    names = [name for name in columns if name]
    choices = list(_choices_from_error(error, columns))
    asks_columns = error.is_open and error.roles & {*ROLES, "counts"}
    if asks_columns:
        choices += _column_choices(names)
    offered = names[:_MAX_COLUMNS] if asks_columns else ()
    asks_correct = has_references and "correct_at_least" in error.roles
    return ChoiceError(*error.args, choices=choices, columns=offered, asks_correct=asks_correct)


def load_columns(path: str) -> Columns:
    """Return the columns of a file by name, or an empty dict if it cannot be read as a table."""
    try:
        return load_files([path], make_reading()).columns
    except ValueError:
        return {}


def _choices_from_error(error: SelectionError, columns: Columns) -> Iterator[Reading]:
    """Yield the choices that an error of the reader offers.

    If ways select rows by columns, the page offers the rows of each combination of entries.
    """
    filters = [way.arguments["where"] for way in error.ways if "where" in way.arguments]
    if filters:
        yield from _row_filter_choices(columns, filters[0])
    for way in error.ways:
        known = {x: y for x, y in way.arguments.items() if x in _WORDS and y is not None}
        if known and "where" not in known:
            yield {x: _as_list(y) if x in ("questions", "pool") else y for x, y in known.items()}


def _row_filter_choices(columns: Columns, where: Mapping[str, str]) -> Iterator[Reading]:
    """Yield the choice of rows for each combination of entries in the columns of `where`.

    For a column that the table lacks, the entry is that in `where`.
    """
    size = len(next(iter(columns.values()), [""]))
    cells = [column_at(columns, name) or [entry] * size for name, entry in where.items()]
    combinations = dict.fromkeys(zip(*(map(entry_text, x) for x in cells), strict=True))
    for entries in [*combinations][:_MAX_ENTRIES]:
        yield {"where": [list(pair) for pair in zip(where, entries, strict=True)]}


def _column_choices(names: Sequence[str]) -> Iterator[Reading]:
    """Yield the choice of several columns with a sample each, guessed by their names."""
    usual = {x for role in _ONE_PER_QUESTION for x in columns_named(names, COLUMN_NAMES[role])}
    samples = _numbered(names) or [x for x in names if x not in usual]
    if usual and 1 < len(samples) <= MAX_SAMPLES_PER_QUESTION:
        yield {"predictions": samples}


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names that are a text and a number, such as a1 and a2.

    The list is empty unless they all begin with the same text.
    """
    matches = [match for match in map(_NUMBERED.fullmatch, names) if match and match[1]]
    return [match[0] for match in matches] if len({match[1] for match in matches}) == 1 else []


def _as_list(names: Any) -> list[str]:
    """Return a name in a list, or a sequence of names as a list."""
    return [names] if isinstance(names, str) else list(names)
