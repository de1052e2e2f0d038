"""Read questions from a source: choose its columns, and gather rows into questions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checks import short
from .answers import are_elsewhere, join_references
from .cells import (
    as_lists,
    as_outcome,
    as_whole_number,
    entry_text,
    has_lists,
    parse_list,
    unwrapped,
)
from .flat_rewards import number_questions
from .mixtures import refuse_mixtures
from .selection import (
    PER_QUESTION,
    SelectionError,
    choose_columns,
    find_column,
    list_columns,
    question_columns,
    usual_columns,
    with_fields,
)
from .sources import is_paths, load_table
from .table import ArrowColumn, Columns, Table

Names = str | Sequence[str]
"""The name of a column, or of several."""


@dataclass(frozen=True)
class Questions:
    """The M questions of a source, and the columns that they were read from.

    Attributes:
        arguments: what `compute` takes, M entries each: the predictions, and if the source has
            them references, groups, R0 and clusters. Counts are a dict with n and correct.
        columns: the name of the column of each role. Graded samples have the role outcomes, or n
            and correct. The role questions names the columns by which rows were gathered.
        identifiers: columns that identify the questions, by name in lower case: M distinct texts
            each.
        origin: what the source says about itself.
    """

    arguments: dict[str, Any]
    columns: dict[str, str]
    identifiers: dict[str, list[Any]]
    origin: dict[str, str] = field(default_factory=dict)


def read_questions(
    source: Any,
    *,
    questions: Names | None = None,
    correct_values: Collection[Any] = (),
    where: Iterable[tuple[str, Any]] = (),
    pool: Names = (),
    group_size: int | None = None,
    config: str | None = None,
    split: str | None = None,
    checked: bool = False,
    **columns: Any,
) -> Questions:
    """Read questions from a source. Most of the arguments are those of `read`.

    Args:
        source: as in `read`, like questions, correct_values, pool, group_size, config and split.
        where: pairs of a column and an entry, which the rows have in it.
        checked: whether the caller gives a checker.
        **columns: the columns of the other roles. Those of PER_QUESTION that are not given are not
            read; the other roles, and those that are None, are found by their usual names.

    Raises:
        SelectionError, ValueError, FileNotFoundError: as `read`.
    """
    key, pool, where = _names(questions), _names(pool), list(where)
    table = load_table(source, config, split)
    if are_elsewhere(columns.get("references"), table):
        table, columns["references"] = join_references(table, columns["references"], key)
    named = {role: name for role, name in columns.items() if name is not None}
    lists = {"questions": key, "pool": pool, "where": [name for name, _ in where]}
    pairs = [*named.items(), *((role, name) for role, names in lists.items() for name in names)]
    table = _rows_where(with_fields(table, pairs), where)
    title = _title(source)
    if not any(map(len, table.columns.values())):
        raise ValueError(f"{title} has no questions.")
    if group_size is not None:
        if key:
            raise ValueError("Questions are identified by columns or by group_size, not by both.")
        table, name = number_questions(table, group_size, title)
        key = (name,)

    @functools.cache
    def rows_of_samples() -> list[list[int]]:
        """Return the rows of each question, if a row is one sample."""
        long_key = key or question_columns(table, of_lists=False)
        return list(_rows_by_question(table.columns, long_key).values())

    of_samples = {role: name for role, name in named.items() if role not in PER_QUESTION}
    chosen = choose_columns(table, of_samples, checked, rows_of_samples)
    arguments = _sample_cells(table, chosen, title, lists_as_text=not key)
    of_lists = "n" in arguments or _holds_lists(arguments["predictions"], title)
    if not of_lists and "references" not in chosen:
        arguments["predictions"] = [as_outcome(cell) for cell in arguments["predictions"]]
    per_question = {
        role: find_column(table, role, named.get(role)) for role in PER_QUESTION if role in columns
    }
    for role, column in per_question.items():
        if column is not None:
            cells = table.columns[column]
            if role == "groups" and table.roles and role not in named and len(set(cells)) == 1:
                continue  # a log of one task: its scores are those of all questions
            chosen[role] = column
            arguments[role] = list(as_lists(cells) if role == "R0" else cells)

    key = key or question_columns(table, of_lists)
    if not key and not (of_lists and table.parts == 1):
        what, hint = "several files", ""
        if not of_lists:
            what = "one sample in each row"
            hint = "If samples of a question follow each other, give their number as group size. "
        raise SelectionError(
            f"{title} has {what}, and no column with a usual name for the question of a row. "
            f"{hint}{list_columns(table.columns)}",
            ["questions"],
            table.columns,
        )
    if group_size is not None and of_lists:
        raise ValueError(f"group_size is for one sample in each row, and {title} has lists.")
    identifiers = _unique_columns(table.columns) if of_lists else {}
    if key:
        rows_by_question = _rows_by_question(table.columns, key, title)
        name = ", ".join(key)
        identifiers |= {name.lower(): list(rows_by_question)}
        if not of_lists or len(rows_by_question) < len(table.columns[key[0]]):
            rows_of = list(rows_by_question.values())
            used = {chosen[role] for role in chosen if role not in PER_QUESTION}
            refuse_mixtures(table.columns, rows_of, key, used | {*pool})
            arguments = {
                role: _gathered(role, cells, of_lists, rows_by_question, name, title)
                for role, cells in arguments.items()
            }
            identifiers = {name.lower(): list(rows_by_question)}
            chosen["questions"] = name
    if correct_values:
        arguments["predictions"] = _graded(arguments, chosen, correct_values)
    if "n" in arguments:
        counts = {role: arguments.pop(role) for role in ("n", "correct")}
        arguments = {"predictions": counts, **arguments}
    arguments = {
        role: cells.array if isinstance(cells, ArrowColumn) else cells
        for role, cells in arguments.items()
    }
    return Questions(arguments, chosen, identifiers, table.origin)


def _title(source: Any) -> str:
    """Return what to call the source in messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    return ", ".join(map(str, source)) if is_paths(source) else "The source"


def _names(names: Names | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


# --- Rows -------------------------------------------------------------------------------


def _rows_where(table: Table, where: Sequence[tuple[str, Any]]) -> Table:
    """Return the table with the rows that have these entries in these columns."""
    for name, entry in where:
        cells = table.columns[name]
        rows = [
            row for row, cell in enumerate(cells) if cell == entry or _word(cell) == _word(entry)
        ]
        if not rows:
            found = list(dict.fromkeys(map(entry_text, cells)))
            shown = ", ".join(map(short, found[:8])) + (", .." if len(found) > 8 else "")
            raise ValueError(f"No row has {short(entry)} in {name}. Its entries are {shown}.")
        table = table.with_columns(
            {column: _entries_in(cells, rows) for column, cells in table.columns.items()}
        )
    return table


def _entries_in(cells: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    """Return the entries of a column in these rows."""
    if isinstance(cells, ArrowColumn):
        return ArrowColumn(cells.array.take(rows))
    return [cells[row] for row in rows]


def _word(entry) -> str:
    """Return an entry as text that does not depend on case: true for True."""
    return entry_text(entry).strip().lower()


def _rows_by_question(
    columns: Columns, key: Sequence[str], title: str | None = None
) -> dict[Any, list[int]]:
    """Return the rows of each question, by the entry or the entries that identify it.

    Args:
        columns: the source.
        key: the columns that identify questions. If there is none, all rows are one question.
        title: the name of the source, if a missing entry is an error.
    """
    if not key:
        return {"": list(range(max(map(len, columns.values()))))}
    texts = [[entry_text(entry) for entry in columns[name]] for name in key]
    if title is not None:
        for name, entries in zip(key, texts, strict=True):
            if "" in entries:
                raise ValueError(
                    f"{title}, row {entries.index('')} (from 0) has no {name}, so its question is "
                    f"unknown."
                )
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


def _gathered(
    role: str,
    cells: Sequence[Any],
    of_lists: bool,
    rows_by_question: dict[Any, list[int]],
    key: str,
    title: str,
) -> list[Any]:
    """Return the cells of a role with one entry per question."""
    cells = list(cells)
    if role in ("n", "correct"):
        return [sum(cells[row] for row in rows) for rows in rows_by_question.values()]
    if role == "predictions":
        if not of_lists:
            return [[cells[row] for row in rows] for rows in rows_by_question.values()]
        return [
            None
            if any(cells[row] is None for row in rows)
            else [sample for row in rows for sample in cells[row]]
            for rows in rows_by_question.values()
        ]
    for question, (first, *others) in rows_by_question.items():
        for row in others:
            if cells[row] != cells[first]:
                raise ValueError(
                    f"Rows {first} and {row} of {title} have the same {key}, {short(question)}, "
                    f"but different {role}: {short(cells[first])} and {short(cells[row])}."
                )
    return [cells[rows[0]] for rows in rows_by_question.values()]


def _unique_columns(columns: Columns) -> dict[str, list[Any]]:
    """Return the columns with usual names of questions that have no entry twice, as texts."""
    found = {
        name.lower(): [entry_text(entry) for entry in columns[name]]
        for name in usual_columns(columns, "questions")
    }
    return {
        name: entries
        for name, entries in found.items()
        if "" not in entries and len(set(entries)) == len(entries)
    }


# --- Samples ----------------------------------------------------------------------------


def _sample_cells(
    table: Table, chosen: dict[str, str], title: str, lists_as_text: bool
) -> dict[str, Any]:
    """Return the cells of the columns of samples: predictions and references, or counts.

    Args:
        table: the source.
        chosen: its columns, as `choose_columns` returns them.
        title: its name.
        lists_as_text: whether lists that are written as text, as in CSV, are lists of samples.
    """
    if "n" in chosen:
        return _counts(table.columns, chosen["n"], chosen["correct"], title)
    name = chosen.get("predictions") or chosen["outcomes"]
    arguments: dict[str, Any] = {"predictions": unwrapped(table.columns[name])}
    if "references" in chosen:
        arguments["references"] = table.columns[chosen["references"]]
    cells = arguments["predictions"]
    if not lists_as_text or not all(isinstance(cell, str) for cell in cells):
        return arguments
    lists = [parse_list(cell) for cell in cells]
    if not any(lists) and not all(cell.startswith("[") for cell in cells):
        return arguments
    if None in lists:
        row = lists.index(None)
        raise SelectionError(
            f"{title}, row {row} (from 0): {short(cells[row])} is not a JSON list of samples. If "
            f"each row is one sample, a column has to identify its question.",
            ["questions"],
            table.columns,
        )
    return {name: as_lists(cells) for name, cells in arguments.items()}


def _counts(columns: Columns, n: str, correct: str, title: str) -> dict[str, Any]:
    """Return the columns of a table of counts as whole numbers."""
    counts = {
        role: [as_whole_number(cell) for cell in columns[name]]
        for role, name in (("n", n), ("correct", correct))
    }
    for row, (samples, successes) in enumerate(zip(*counts.values(), strict=True)):
        if samples is None or successes is None or not 0 <= successes <= samples:
            raise ValueError(
                f"{title}, row {row} (from 0): {n} is {short(columns[n][row])} and {correct} is "
                f"{short(columns[correct][row])}. Counts are whole numbers with 0 <= correct <= n."
            )
    return counts


def _holds_lists(cells: Sequence[Any], title: str) -> bool:
    """Return whether the cells are lists of samples; a ValueError if only some are."""
    if isinstance(cells, ArrowColumn):  # its entries are of one type
        return has_lists(cells)
    are_lists = {isinstance(cell, list) for cell in cells if cell is not None}
    if len(are_lists) > 1:
        raise ValueError(f"{title} has lists of samples in some rows and single ones in others.")
    return True in are_lists


def _graded(
    arguments: dict[str, Any], chosen: dict[str, str], correct_values: Collection[Any]
) -> list[list[bool | None]]:
    """Return outcomes as bools: whether they are among those that are correct.

    Raises:
        ValueError: if the samples are not outcomes.
    """
    if "references" in chosen or "n" in chosen:
        raise ValueError("correct_values are for outcomes: name their column.")
    words = {_word(value) for value in correct_values}
    graded = [
        [None if sample is None else _word(sample) in words for sample in samples]
        for samples in arguments["predictions"]
    ]
    if not any(map(any, graded)):
        others = {_word(sample) for samples in arguments["predictions"] for sample in samples}
        warnings.warn(
            f"No outcome is one of correct_values. The outcomes are {short(sorted(others))}.",
            stacklevel=2,
        )
    return graded
