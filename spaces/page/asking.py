"""Offer the visitor choices if samples can be read in several ways.

A choice is a `Reading` (arguments of `read_run`) that the page offers, as {"missing": "drop"}.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from at_k.readers.reading import make_reading
from at_k.readers.sources import load_files
from at_k.readers.table import Columns, SelectionError, column_at
from at_k.readers.words import entry_text

from .request import ChoiceError, Reading

ROLES = {
    "predictions": "Samples",
    "outcomes": "Outcomes, already graded",
    "references": "References",
    "questions": "Questions",
}
"""The roles of columns that a visitor can choose, and their labels."""

SEVERAL = ("predictions", "outcomes")
"""The roles of which each sample may have a column."""

_CORRECT = ("correct_values", "correct_at_least")
_MAX_ENTRIES, _MAX_COLUMNS, _MAX_CHARACTERS = 40, 200, 120
_MISSING = {
    "incorrect": "Missing samples are incorrect",
    "drop": "Missing samples are left out",
}
_WORDS: dict[str, Callable[[Any], str]] = {
    "missing": lambda choice: _MISSING[choice],
    "where": lambda where: f"only rows with {' and '.join(f'{x} = {y}' for x, y in where)}",
    "groups": lambda name: f"Scores for each {name}",
    "questions": lambda names: f"Questions are identified by {' and '.join(_as_list(names))}",
    "pool": lambda names: f"Rows that differ in {', '.join(names)} are samples of one question",
    "predictions": lambda names: f"Samples in {', '.join(_as_list(names))}",
    "outcomes": lambda names: f"Outcomes in {', '.join(_as_list(names))}",
    "references": lambda name: f"References in {name}",
    "records": lambda path: f"The rows in {path}",
    "n": lambda name: f"Numbers of samples in {name}",
    "correct": lambda name: f"Numbers of correct samples in {name}",
    "counts": lambda names: f"Numbers of equal samples in {', '.join(_as_list(names))}",
}
"""Functions that return the words for the value of an argument, by the name of the argument."""


def choice_in_words(choice: Reading) -> str:
    """Return a choice as text, such as "Missing samples are left out"."""
    parts = [_WORDS[argument](value) for argument, value in choice.items()]
    words = ", ".join(f"{part[0].lower()}{part[1:]}" for part in parts)
    dots = ".." if len(words) > _MAX_CHARACTERS else ""
    return f"{words[0].upper()}{words[1:_MAX_CHARACTERS]}{dots}"


def is_reading(reading: Any) -> bool:
    """Return whether an object from a link or a program has the form of a reading.

    It has this form if `choice_in_words` accepts it. Correct outcomes in it are not checked here.
    """
    try:
        choice = {name: value for name, value in reading.items() if name not in _CORRECT}
        return not choice or bool(choice_in_words(choice))
    except (TypeError, ValueError, LookupError, AttributeError):
        return False


def merged(reading: Reading, choice: Reading) -> Reading:
    """Return a reading with one more choice, which wins. All conditions "where" are kept."""
    where = [*reading.get("where", ()), *choice.get("where", ())]
    return reading | choice | ({"where": where} if where else {})


def parse_correct_outcomes(text: str) -> Reading:
    """Parse "A, B" to {"correct_values": ["A", "B"]}, and ">= 0.75" to {"correct_at_least": 0.75}.

    Return {} for an empty text. Raise a ValueError if it starts with >, and is not >= and a number.
    """
    text = text.strip().replace("\N{GREATER-THAN OR EQUAL TO}", ">=", 1)
    if not text.startswith(">"):
        words = [word.strip() for word in text.split(",") if word.strip()]
        return {"correct_values": words} if words else {}
    try:
        return {"correct_at_least": float(text.removeprefix(">="))}
    except ValueError as error:
        raise ValueError(
            f"Give the least correct score after >=, such as >= 0.75. Got {text!r:.40}."
        ) from error


def choice_error(error: SelectionError, path: str, has_references: bool) -> ChoiceError:
    """Turn an error of the reader about the file at `path` into a question to the visitor.

    `has_references` says whether the page checks samples against references.
    """
    columns = load_columns(path)
    asks_columns = error.is_open and error.roles & {*ROLES, "counts"}
    return ChoiceError(
        *error.args,
        choices=_choices_from_error(error, columns),
        columns=[name for name in columns if name][:_MAX_COLUMNS] if asks_columns else (),
        asks_correct=has_references and "correct_at_least" in error.roles,
    )


def load_columns(path: str) -> Columns:
    """Return the columns of a file by name, or an empty dict if it cannot be read as a table."""
    try:
        return load_files([path], make_reading()).columns
    except ValueError:
        return {}


def _choices_from_error(error: SelectionError, columns: Columns) -> Iterator[Reading]:
    """Yield a choice for each way to settle an error, with those of its arguments in `_WORDS`.

    Of ways with "where", the first gives one for each combination of entries in its columns.
    """
    filters = [way.arguments["where"] for way in error.ways if "where" in way.arguments]
    if filters:
        yield from _row_filter_choices(columns, filters[0])
    for way in error.ways:
        known = {x: y for x, y in way.arguments.items() if x in _WORDS and y is not None}
        if known and "where" not in known:
            yield {x: _as_list(y) if x in ("questions", "pool") else y for x, y in known.items()}


def _row_filter_choices(columns: Columns, where: Mapping[str, str]) -> Iterator[Reading]:
    """Yield {"where": pairs} for each combination of entries in the columns of `where`, at most 40.

    For a column that the table lacks, the entry is the value in `where`.
    """
    size = len(next(iter(columns.values()), [""]))
    cells = [column_at(columns, name) or [entry] * size for name, entry in where.items()]
    combinations = dict.fromkeys(zip(*(map(entry_text, x) for x in cells), strict=True))
    for entries in [*combinations][:_MAX_ENTRIES]:
        yield {"where": [list(pair) for pair in zip(where, entries, strict=True)]}


def _as_list(names: Any) -> list[str]:
    """Return a name in a list, or a sequence of names as a list."""
    return [names] if isinstance(names, str) else list(names)
