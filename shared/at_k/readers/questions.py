"""Read questions from a source: choose its columns, and gather rows into questions."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import short
from .selection import (
    USUAL_NAMES,
    SelectionError,
    find_column,
    list_columns,
    usual_columns,
)
from .sources import load_table
from .table import Columns


@dataclass(frozen=True)
class Questions:
    """The M questions of a source, and the columns that they were read from.

    Attributes:
        arguments: what `compute` takes, M entries each: the predictions, and if the source has
            them references, groups, R0 and clusters.
        columns: the name of the column that each argument was read from.
        identifiers: columns that identify the questions, by name in lower case: M distinct texts
            each.
    """

    arguments: dict[str, Sequence[Any]]
    columns: dict[str, str]
    identifiers: dict[str, list[str]]


def read(
    source: Any,
    *,
    predictions: str | None = None,
    outcomes: str | None = None,
    references: str | None = None,
    questions: str | None = None,
    config: str | None = None,
    split: str | None = None,
    groups: str | None = None,
    R0: str | None = None,
    clusters: str | None = None,
) -> dict[str, Any]:
    """Read what `compute` takes from a file, or from any dataset that `datasets` can load.

    The columns are found by their usual names if they are not given, except those of R0 and
    clusters. The arguments and errors are those of `read_questions`.

    Returns:
        the arguments of `compute`: predictions, and if the source has them references and groups.
    """
    named = {"R0": R0, "clusters": clusters}
    per_question = {"groups": groups} | {role: name for role, name in named.items() if name}
    found = read_questions(
        source, predictions, outcomes, references, questions, config, split, **per_question
    )
    return dict(found.arguments)


def read_questions(
    source: Any,
    predictions: str | None = None,
    outcomes: str | None = None,
    references: str | None = None,
    questions: str | None = None,
    config: str | None = None,
    split: str | None = None,
    **per_question: str | None,
) -> Questions:
    """Read questions from a file, or from any dataset that `datasets` can load.

    A row is either a question with the list of its samples (in CSV a cell such as ["12", "13"]), or
    one sample. In the second case, rows with the same entry in the column `questions` belong to the
    same question.

    Args:
        source: the path of a file or folder, or the name of a dataset.
        predictions: the column of samples to be checked. This and the other columns are found by
            their usual names if they are None.
        outcomes: the column of already-graded outcomes, instead of `predictions`.
        references: the column to check the samples against.
        questions: the column that identifies the question, if a row is one sample.
        config: the configuration of a dataset.
        split: the split of a dataset.
        **per_question: the columns of other arguments of `compute`, by their names in
            PER_QUESTION. Those that are not given are not read.

    Raises:
        SelectionError: if the caller has to name a column or a split.
        ValueError: if the source cannot be read. The message names the line or row if it can.
        FileNotFoundError: if there is no such file or folder.
    """
    if predictions and outcomes:
        raise ValueError(
            "predictions are checked and outcomes are already graded: name a column for one of "
            "them only."
        )
    table = load_table(source, config, split).columns
    if not any(len(column) for column in table.values()):
        raise ValueError(f"{source} has no questions.")
    chosen = _choose_columns(table, source, predictions, outcomes, references)
    for role, named in per_question.items():
        column = find_column(table, role, named)
        if column is not None:
            chosen[role] = column
    arguments: Columns = {role: table[name] for role, name in chosen.items()}
    if "R0" in arguments:
        arguments["R0"] = _as_lists(arguments["R0"])
    if questions is None:
        arguments |= _lists_of_samples(arguments, table, source)
    if _has_lists(arguments["predictions"], source):
        identifiers = {
            name.lower(): [_identifier_text(entry) for entry in table[name]]
            for name in usual_columns(table, "questions")
        }
    else:
        column = _question_column(table, source, questions)
        if "references" not in arguments:
            arguments["predictions"] = [as_outcome(cell) for cell in arguments["predictions"]]
        entries, arguments = _gather_rows(arguments, table[column], column, source)
        identifiers = {column.lower(): entries}
    unique = {
        name: entries
        for name, entries in identifiers.items()
        if "" not in entries and len(set(entries)) == len(entries)
    }
    return Questions(arguments, chosen, unique)


def _choose_columns(
    table: Columns,
    source: str,
    predictions: str | None,
    outcomes: str | None,
    references: str | None,
) -> dict[str, str]:
    """Return the names of the columns of predictions and, if there is one, of references."""
    if outcomes:
        samples = find_column(table, "outcomes", outcomes)
    else:
        samples = find_column(table, "predictions", predictions)
        samples = samples or find_column(table, "outcomes", None)
    if samples is None:
        raise SelectionError(
            f"{source} has no column with a usual name for samples. {list_columns(table)}",
            ["predictions", "outcomes"],
            table,
        )
    chosen = {"predictions": samples}
    # A column of answers beside outcomes is not used, because there is nothing to check.
    graded = bool(outcomes) or samples.lower() in USUAL_NAMES["outcomes"]
    if references is not None or not graded:
        column = find_column(table, "references", references)
        if column is not None:
            chosen["references"] = column
    return chosen


def _question_column(table: Columns, source: str, named: str | None) -> str:
    """Return the name of the column that identifies the question of each row."""
    first = find_column(table, "questions", named)
    if first is None:
        raise SelectionError(
            f"{source} has one sample in each row, and no column with a usual name for the "
            f"question that it belongs to. {list_columns(table)}",
            ["questions"],
            table,
        )
    if named is None:
        # A column without repeated entries numbers the samples, not the questions.
        for name in usual_columns(table, "questions"):
            if len(set(map(repr, table[name]))) < len(table[name]):
                return name
    return first


def _lists_of_samples(arguments: Columns, table: Columns, source: str) -> Columns:
    """Return the predictions and references that are lists written as text, as in CSV."""
    cells = arguments["predictions"]
    if not all(isinstance(cell, str) for cell in cells):
        return {}
    lists = [parse_list(cell) for cell in cells]
    if not any(lists) and not all(cell.startswith("[") for cell in cells):
        return {}
    if None in lists:
        row = lists.index(None)
        raise SelectionError(
            f"{source}, row {row} (from 0): {short(cells[row])} is not a JSON list of samples. If "
            f"each row is one sample, a column has to identify its question.",
            ["questions"],
            table,
        )
    parsed: Columns = {"predictions": lists}
    if "references" in arguments:
        parsed["references"] = _as_lists(arguments["references"])
    return parsed


def _as_lists(cells: Sequence[Any]) -> Sequence[Any]:
    """Return the lists that the cells stand for, or the cells if one of them is not a list."""
    lists = [parse_list(cell) for cell in cells]
    return cells if None in lists else lists


def _has_lists(cells: Sequence[Any], source: str) -> bool:
    """Return whether the cells are lists of samples; a ValueError if only some are."""
    are_lists = {isinstance(cell, list) for cell in cells if cell is not None}
    if len(are_lists) > 1:
        raise ValueError(f"{source} has lists of samples in some rows and single ones in others.")
    return True in are_lists


def _gather_rows(
    arguments: Columns, entries: Sequence[Any], column: str, source: str
) -> tuple[list[str], Columns]:
    """Return the distinct entries as text, and the arguments with one entry per question."""
    rows_of: dict[str, list[int]] = {}
    for row, entry in enumerate(entries):
        text = _identifier_text(entry)
        if not text:
            raise ValueError(
                f"{source}, row {row} (from 0) has no {column}, so its question is unknown."
            )
        rows_of.setdefault(text, []).append(row)
    gathered: Columns = {}
    for role, values in arguments.items():
        values = list(values)
        if role == "predictions":
            gathered[role] = [[values[row] for row in rows] for rows in rows_of.values()]
            continue
        for question, (first, *others) in rows_of.items():
            for row in others:
                if values[row] != values[first]:
                    raise ValueError(
                        f"Rows {first} and {row} of {source} have the same {column}, "
                        f"{short(question)}, but different {role}: {short(values[first])} and "
                        f"{short(values[row])}."
                    )
        gathered[role] = [values[rows[0]] for rows in rows_of.values()]
    return list(rows_of), gathered


def _identifier_text(entry) -> str:
    """Return an entry that identifies a question as text, which is empty if the entry is None."""
    if entry is None:
        return ""
    return entry if isinstance(entry, str) else repr(entry)


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
