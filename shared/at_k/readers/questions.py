"""Read questions from a source: choose its columns, and gather rows into questions."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .answers import are_elsewhere, join_references
from .cells import as_lists, entry_text
from .counted import count_columns
from .flat_rewards import number_questions
from .mixtures import refuse_filters, refuse_mixtures, refuse_repeated_samples, warn_of_copies
from .names import (
    PER_QUESTION,
    SelectionError,
    find_column,
    list_columns,
    question_columns,
    usual_columns,
    with_fields,
)
from .rows import gathered, rows_by_question, rows_where
from .samples import compute_predictions, read_cells
from .selection import choose_columns
from .sources import is_paths, load_table
from .table import ArrowColumn, Columns, Table

Names = str | Sequence[str]
"""The name of a column, or of several."""


@dataclass(frozen=True)
class Questions:
    """The M questions of a source, and the columns that they were read from.

    Attributes:
        arguments: what `compute` takes, M entries each: the predictions, and if the source has
            them references, groups, R0 and clusters. Counts are a dict, see `inputs.count_tables`.
        columns: the name of the column of each role. Graded samples have the role outcomes, n and
            correct, or counts, which may be a tuple of columns. The role questions names the
            columns by which rows were gathered.
        identifiers: columns that identify the questions, by name in lower case: M distinct texts
            each.
        origin: what the source says about itself.
    """

    arguments: dict[str, Any]
    columns: dict[str, Any]
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
    if "counts" in named:
        named["counts"] = count_columns(named["counts"])
    lists = {"questions": key, "pool": pool, "where": [name for name, _ in where]}
    table = rows_where(with_fields(table, _pairs(named | lists)), where)
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
        return list(rows_by_question(table.columns, long_key).values())

    refuse_filters(table)
    if table.roles:  # A log knows its questions, so runs are distinguished first.
        known = {name for _, name in _pairs(named)} | {*pool}
        refuse_mixtures(
            table.columns, rows_of_samples(), key or question_columns(table, False), known
        )
    of_samples = {role: name for role, name in named.items() if role not in PER_QUESTION}
    chosen: dict[str, Any] = dict(choose_columns(table, of_samples, checked, rows_of_samples))
    cells, of_lists = read_cells(table, chosen, correct_values, title, lists_as_text=not key)
    for role, name in _columns_per_question(table, columns).items():
        chosen[role] = name
        cells[role] = list(as_lists(table.columns[name]) if role == "R0" else table.columns[name])
    if group_size is not None and of_lists:
        raise ValueError(f"group_size is for one sample in each row, and {title} has lists.")

    key = key or question_columns(table, of_lists)
    identifiers = _unique_columns(table.columns) if of_lists else {}
    found = usual_columns(table.columns, "questions")
    are_different = of_lists and (table.parts == 1 or 0 < len(found) == len(identifiers))
    if not key and not are_different:
        raise _unknown_questions(table, found, of_lists, title)
    if key:
        rows_of = rows_by_question(table.columns, key, title)
        name = ", ".join(key)
        if not of_lists or len(rows_of) < len(table.columns[key[0]]):
            used = {name for role, name in _pairs(chosen) if role not in PER_QUESTION} | {*pool}
            groups = list(rows_of.values())
            refuse_mixtures(table.columns, groups, key, used)
            if not of_lists:
                refuse_repeated_samples(table.columns, groups, key, used, pool, title)
            if pool and "predictions" in chosen:
                warn_of_copies(table.columns, list(cells["samples"]), groups, pool)
            cells = {
                role: gathered(role, entries, of_lists, rows_of, name, title)
                for role, entries in cells.items()
            }
            identifiers, chosen["questions"] = {}, name
        identifiers |= {name.lower(): list(rows_of)}
    arguments = {"predictions": compute_predictions(cells, chosen), **cells}
    arguments = {
        role: entries.array if isinstance(entries, ArrowColumn) else entries
        for role, entries in arguments.items()
    }
    return Questions(arguments, chosen, identifiers, table.origin)


def _title(source: Any) -> str:
    """Return what to call the source in messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    return ", ".join(map(str, source)) if is_paths(source) else "The source"


def _names(names: Names | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _pairs(names: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs of a role and a column, of which a role may have several.

    The columns of counts may be the values of a dict.
    """
    lists = {
        role: _names([*each.values()] if isinstance(each, Mapping) else each)
        for role, each in names.items()
    }
    return [(role, name) for role, columns in lists.items() for name in columns]


def _columns_per_question(table: Table, columns: Mapping[str, str | None]) -> dict[str, str]:
    """Return the columns of the roles of PER_QUESTION that the table has."""
    found = {}
    for role in PER_QUESTION:
        name = find_column(table, role, columns[role]) if role in columns else None
        is_log_of_one_task = (
            role == "groups"
            and name is not None
            and table.roles
            and columns[role] is None
            and len(set(table.columns[name])) == 1
        )
        if name is not None and not is_log_of_one_task:
            found[role] = name
    return found


def _unknown_questions(
    table: Table, found: Sequence[str], of_lists: bool, title: str
) -> SelectionError:
    """Return the error that the columns found do not identify the question of a row."""
    what, hint = "several files", ""
    if not of_lists:
        what = "one sample in each row"
        hint = "If samples of a question follow each other, give their number as group size. "
    problem = "no column with a usual name for the question of a row"
    if found:
        problem = f"which rows are of the same question is not clear from {' and '.join(found)}"
    return SelectionError(
        f"{title} has {what}, and {problem}. {hint}{list_columns(table.columns)}",
        ["questions"],
        table.columns,
    )


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
