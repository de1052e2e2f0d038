"""Which column of a source holds what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .cells import as_lists, has_lists
from .counted import RowsOf, find_counts, numbers_samples, refuse_frequencies
from .names import USUAL_NAMES, SelectionError, found_columns, list_columns
from .table import Table


def choose_columns(
    table: Table,
    named: Mapping[str, Any],
    checked: bool,
    rows_of: RowsOf,
) -> dict[str, Any]:
    """Return the columns that hold the samples of a source that can be read in several ways.

    The rule, in which each step decides before those below:

    1. The columns that the caller names are taken. References are for predictions: beside outcomes
       or counts they are refused. Predictions in a column with a usual name of outcomes are
       outcomes, unless references are named.
    2. The reader of a log knows its columns. Graded outcomes of a log are taken, unless a checker
       is given.
    3. Columns are found by their usual names, `USUAL_NAMES`. A column that numbers the samples of
       each question holds no predictions and no outcomes.
    4. Two columns of whole numbers, n and correct, are counts. See `find_counts`. Columns of
       other counts have to be named, because columns 0, 1, .. can also hold one sample each.
    5. Graded outcomes or counts are taken if there are no predictions, or no references to check
       these against. Predictions are taken if nothing is graded, or if a checker is given.
    6. Otherwise there are two readings, which can give different scores: the caller has to name
       one. The same holds for two columns of one role, unless they are equal or one has the name
       of the role itself. Among references, `solution` gives way to every other name.

    Args:
        table: the source.
        named: the columns that the caller names, by role.
        checked: whether the caller gives a checker.
        rows_of: returns the rows of each question, if a row is one sample.

    Returns:
        The columns by role: "predictions" with or without "references", or "outcomes", or "n" and
        "correct". The role "counts" has the column that says how often each of these samples
        occurs; or, without samples, a column of lists of counts, or a dict with the column of each
        outcome.

    Raises:
        SelectionError: if the caller has to name a column.
        ValueError: if the columns that are named exclude each other.
    """
    _check_exclusive(named)
    if "counts" in named:
        return _with_counts(table, named, checked, rows_of)
    if "n" in named or "outcomes" in named:
        return {role: named[role] for role in ("n", "correct", "outcomes") if role in named}
    references = found_columns(table, "references")
    if "references" in named:
        references = [named["references"]]
    if "predictions" in named:
        samples = named["predictions"]
        if "references" not in named and samples.lower() in USUAL_NAMES["outcomes"]:
            return {"outcomes": samples}
        return _with_references(table, samples, references)
    counts = find_counts(table, rows_of)
    predictions = [
        name
        for name in found_columns(table, "predictions")
        if name not in counts.values()
        and not numbers_samples(
            table.columns[name], rows_of, in_order=name.lower() == "predictions"
        )
    ]
    outcomes = [
        name
        for name in found_columns(table, "outcomes")
        if name not in counts.values()
        and not numbers_samples(table.columns[name], rows_of, in_order=True)
    ]
    if not counts:
        refuse_frequencies(table, [*predictions, *outcomes], rows_of)
    graded = [*outcomes, *counts.values()]
    if predictions and ("references" in named or (checked and references)):
        return _with_references(table, _only(table, "predictions", predictions), references)
    if "references" in named or not (predictions or graded):
        numbered = [*found_columns(table, "predictions"), *found_columns(table, "outcomes")]
        reason = (
            f"{numbered[0]} holds 0 to n-1 or 1 to n in each question, as the index of a sample "
            f"does, and no other column has"
            if numbered
            else "There is no column with"
        )
        problem = f"{reason} a usual name for samples."
        if table.roles and table.parts > 1:
            problem = (
                "These logs hold their samples or outcomes in different columns: score each by "
                "itself, or those of the same kind together."
            )
        raise SelectionError(
            f"{problem} {list_columns(table.columns)}",
            ["predictions"] if "references" in named else ["predictions", "outcomes", "counts"],
            table.columns,
        )
    if predictions and references and graded and not table.roles:
        raise SelectionError(
            f"The samples in {predictions[0]} can be checked against {references[0]}, and "
            f"{graded[-1]} has graded outcomes.",
            ["predictions", "outcomes"],
            table.columns,
        )
    if not graded:
        return _with_references(table, _only(table, "predictions", predictions), references)
    if outcomes and counts:
        raise SelectionError(
            f"There are outcomes in {outcomes[0]}, and counts in {' and '.join(counts.values())}.",
            ["outcomes", "n"],
            table.columns,
        )
    return counts or {"outcomes": _only(table, "outcomes", outcomes)}


def _check_exclusive(named: Mapping[str, str]) -> None:
    """Raise a ValueError if columns are named that cannot be read together."""
    if "predictions" in named and "outcomes" in named:
        raise ValueError(
            "predictions are checked and outcomes are already graded: name a column for one of "
            "them only."
        )
    if ("n" in named) != ("correct" in named):
        given, missing = ("n", "correct") if "n" in named else ("correct", "n")
        raise ValueError(f"Counts need two columns: {given} is given without {missing}.")
    if "counts" in named and "n" in named:
        raise ValueError("counts and n both count samples: name columns for one of them only.")
    graded = {"outcomes": "outcomes are", "n": "counts of n and correct are"}
    if "counts" in named and not isinstance(named["counts"], str):
        graded["counts"] = "counts of several columns are"
    for role, what in graded.items():
        for other in ("predictions", "references", "outcomes"):
            if role in named and other in named and other != role:
                raise ValueError(f"{what} already graded: leave out {other}.")


def _with_counts(
    table: Table, named: Mapping[str, Any], checked: bool, rows_of: RowsOf
) -> dict[str, Any]:
    """Return the columns if the caller names those of counts: alone, or those of the samples."""
    counts = named["counts"]
    if not isinstance(counts, str):
        return {"counts": counts}
    others = {name: cells for name, cells in table.columns.items() if name != counts}
    rest = {role: name for role, name in named.items() if role != "counts"}
    try:
        samples = choose_columns(table.with_columns(others), rest, checked, rows_of)
    except SelectionError as error:
        if rest or not has_lists(as_lists(table.columns[counts])):
            error.roles = tuple(role for role in error.roles if role != "counts")
            raise
        return {"counts": counts}
    return {**samples, "counts": counts}


def _with_references(table: Table, samples: str, references: Sequence[str]) -> dict[str, str]:
    chosen = {"predictions": samples}
    references = [name for name in references if name != samples]
    if references:
        chosen["references"] = _only(table, "references", references)
    return chosen


def _only(table: Table, role: str, names: Sequence[str]) -> str:
    """Return the first column, if the others of the role are equal to it.

    Raises:
        SelectionError: if they are not, so that another column can give another score.
    """
    first = names[0]
    if role == "references":
        names = [name for name in names if name.lower() != "solution"]
    others = [name for name in names if name != first]
    if first.lower() != role:
        for other in others:
            one, another = list(table.columns[first]), list(table.columns[other])
            if one != another:
                message = f"The columns {first} and {other} can both hold the {role}."
                sizes = [len(row) if isinstance(row, list) else 1 for row in (one[0], another[0])]
                if sizes[0] != sizes[1]:
                    message += f" Entries in the first row: {first} {sizes[0]}, {other} {sizes[1]}."
                raise SelectionError(message, [role], table.columns)
    return first
