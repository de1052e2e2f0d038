"""What a page asks where the rules of reading need an answer, and the choices that it offers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from at_k.readers.names import ANSWERS, COLUMN_NAMES, columns_named
from at_k.readers.reading import FIRST_COLUMN, make_reading
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
_MAX_ENTRIES, _MAX_COLUMNS, _LONGEST = 40, 200, 120
_NUMBERED = re.compile(r"(.*?)(\d{1,4})")
_MISSING = {
    "incorrect": "Missing samples are incorrect",
    "drop": "Missing samples are left out",
}
_NO_NAMES = "No names of columns: the first has references, others samples"
_WORDS: dict[str, Callable[[Any], str]] = {
    "missing": lambda choice: _MISSING[choice],
    "where": lambda where: " or ".join(f"only rows with {x} = {y}" for x, y in where),
    "groups": lambda name: f"Scores for each {name}",
    "questions": lambda names: f"Questions are identified by {' and '.join(_listed(names))}",
    "pool": lambda names: f"Rows that differ in {', '.join(names)} are samples of one question",
    "by_order": lambda holds: (
        "The files have the same questions in the same order" if holds else "Score each by itself"
    ),
    "predictions": lambda names: (
        f"Samples in {names}"
        if isinstance(names, str)
        else f"A sample in each of {len(names)} columns, {names[0]} to {names[-1]}"
    ),
    "outcomes": lambda name: f"Outcomes in {name}",
    "references": lambda name: _NO_NAMES if name == FIRST_COLUMN else f"References in {name}",
    "records": lambda path: f"The rows in {path}",
    "n": lambda name: f"Numbers of samples in {name}",
    "counts": lambda name: f"Numbers of equal samples in {name}",
}


def choice_in_words(way: Reading) -> str:
    """Return the words of a choice: "Missing samples are left out"."""
    parts = [_WORDS[role](value) for role, value in way.items()]
    words = ", ".join(f"{part[0].lower()}{part[1:]}" for part in parts)
    more = ".." if len(words) > _LONGEST else ""
    return f"{words[0].upper()}{words[1:_LONGEST]}{more}"


def is_reading(reading: Any) -> bool:
    """Whether an object holds choices that a page offers, as a link and a program have to."""
    try:
        way = {name: x for name, x in reading.items() if name not in _CORRECT}
        return not way or bool(choice_in_words(way))
    except (TypeError, ValueError, LookupError, AttributeError):
        return False


def merged(ways: Sequence[Reading]) -> Reading:
    """Return several choices as one. Conditions on rows hold together."""
    reading: Reading = {}
    for way in ways:
        where = [*reading.get("where", ()), *way.get("where", ())]
        reading |= way
        if where:
            reading["where"] = where
    return reading


def choice_error(error: SelectionError, path: str, has_references: bool) -> ChoiceError:
    """Return what a page asks about a file that cannot be read without a choice.

    Args:
        error: what the reader says.
        path: of the file.
        has_references: whether the page checks samples against references.
    """
    columns = _columns(path)
    names = [*filter(None, columns)]
    names_columns = error.is_open and error.roles & {*ROLES, "counts"}
    ways = list(_ways(error, columns))
    if names_columns:
        ways += _ways_of_tables(names, has_references)
    parts = list(error.args)
    if isinstance(parts[0], str):
        parts[0] = parts[0].removeprefix("text: ")
    shown = names[:_MAX_COLUMNS] if names_columns else ()
    return ChoiceError(parts, ways, shown, has_references and "correct_at_least" in error.roles)


def _columns(path: str) -> Columns:
    """Return the columns of a file, or none if it has a table of another kind."""
    try:
        return load_files([path], make_reading()).columns
    except ValueError:
        return {}


def columns_in(path: str) -> list[str]:
    """Return the names of the columns of a file."""
    return [*filter(None, _columns(path))]


def _ways(error: SelectionError, columns: Columns) -> Iterator[Reading]:
    """Yield the choices that an error of the reader names."""
    for way in error.ways:
        if "where" in way.arguments:
            yield from _rows(columns, *next(iter(way.arguments["where"].items())))
            continue
        reading = {x: y for x, y in way.arguments.items() if x in _WORDS and y is not None}
        if reading:
            yield {x: _listed(y) if x in ("questions", "pool") else y for x, y in reading.items()}


def _rows(columns: Columns, name: str, entry: str) -> Iterator[Reading]:
    """Yield the choice of the rows with each entry of a column, or with this one."""
    cells = column_at(columns, name)
    entries = dict.fromkeys([entry] if cells is None else map(entry_text, cells))
    for text in [*entries][:_MAX_ENTRIES]:
        yield {"where": [[name, text]]}


def _ways_of_tables(names: Sequence[str], has_references: bool) -> Iterator[Reading]:
    """Yield how people write tables whose columns have no usual names."""
    usual = {x for role in _ONE_PER_QUESTION for x in columns_named(names, COLUMN_NAMES[role])}
    samples = _numbered(names) or [x for x in names if x not in usual]
    if usual and 1 < len(samples) <= MAX_SAMPLES_PER_QUESTION:
        yield {"predictions": samples}
    if has_references:
        yield from _ways_of_references(names)


def _ways_of_references(names: Sequence[str]) -> Iterator[Reading]:
    """Yield which column may have the samples, and which one their references."""
    references = columns_named(names, COLUMN_NAMES["references"])
    for name in sorted(references, key=lambda name: name.lower() not in ANSWERS):
        others = [other for other in references if other != name]
        if others:
            yield {"predictions": name, "references": others[0]}
    has_names = any(columns_named(names, x) for x in COLUMN_NAMES.values())
    if len(names) > 1 and not has_names:
        yield {"references": FIRST_COLUMN}


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names that differ in a number only, such as a1 and a2; none if others do too."""
    matches = [match for match in map(_NUMBERED.fullmatch, names) if match and match[1]]
    return [match[0] for match in matches] if len({match[1] for match in matches}) == 1 else []


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
