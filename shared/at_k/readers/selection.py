"""Which column of a source holds what: samples, outcomes, references or counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..core.checks import FROM_0, Index, InputError, short
from .columns import (
    USUAL_NAMES,
    Filter,
    SelectionError,
    as_lists,
    as_outcome,
    as_whole_number,
    columns_named,
    entry_text,
    found_columns,
    has_lists,
    list_columns,
    starts_of_lists,
)
from .table import Table

_FREQUENCIES = ("count", "counts", "n")
_COMPLEMENTS = {"incorrect", "wrong", "failed", "num_incorrect", "n_incorrect"}

RowsOf = Callable[[], Sequence[Sequence[int]]]
"""Returns the rows of each question. It is only called where they are needed."""


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
    predictions, outcomes = (
        [
            name
            for name in found_columns(table, role)
            if name not in counts.values()
            and not numbers_samples(
                table.columns[name], rows_of, in_order=role in ("outcomes", name.lower())
            )
        ]
        for role in ("predictions", "outcomes")
    )
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
        if table.roles and table.sources > 1:
            problem = (
                "These logs hold their samples or outcomes in different columns: score each by "
                "itself, or those of the same kind together."
            )
            tasks = list(dict.fromkeys(map(entry_text, table.columns.get("task", ()))))
            if len(tasks) > 1:
                raise SelectionError(
                    problem, ["where"] * len(tasks), tasks, [Filter("task", task) for task in tasks]
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
        named_role, missing = ("n", "correct") if "n" in named else ("correct", "n")
        raise ValueError(f"Counts need two columns: {named_role} is given without {missing}.")
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
    columns = {name: cells for name, cells in table.columns.items() if name != counts}
    rest = {role: name for role, name in named.items() if role != "counts"}
    try:
        samples = choose_columns(table.with_columns(columns), rest, checked, rows_of)
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
    """Return the first column if all columns of the role are equal, or if it is named after it.

    Raises:
        SelectionError: if they differ, so that they can give different scores.
    """
    first = names[0]
    if role == "references":
        names = [name for name in names if name.lower() != "solution"]
    if first.lower() != role:
        for other in names:
            one, another = list(table.columns[first]), list(table.columns[other])
            if other != first and one != another:
                message = f"The columns {first} and {other} can both hold the {role}."
                sizes = [len(row) if isinstance(row, list) else 1 for row in (one[0], another[0])]
                if sizes[0] != sizes[1]:
                    message += f" Entries in the first row: {first} {sizes[0]}, {other} {sizes[1]}."
                raise SelectionError(message, [role], table.columns)
    return first


# --- Counts -----------------------------------------------------------------------------


def find_counts(table: Table, rows_of: RowsOf) -> dict[str, str]:
    """Return the columns of n and correct of a table of counts, or nothing.

    Raises:
        SelectionError: if the columns can also hold outcomes of one sample per row.
    """
    columns = table.columns
    for n in found_columns(table, "n"):
        for correct in found_columns(table, "correct"):
            sizes = [as_whole_number(cell) for cell in columns[n]]
            counts = [as_whole_number(cell) for cell in columns[correct]]
            if n == correct:
                continue
            if None in sizes or None in counts:
                _refuse_bad_counts(table, n, correct, sizes, counts)
                continue
            pair = {"n": n, "correct": correct}
            repeated = any(len(rows) > 1 for rows in rows_of())
            if table.roles or not set(counts) <= {0, 1}:
                return pair
            if repeated and numbers_samples(sizes, rows_of):
                continue
            if repeated or 0 in sizes or (len(sizes) > 1 and _counts_up(sizes)):
                raise SelectionError(
                    f"{n} and {correct} can be counts, and {correct} can be the outcome of one "
                    f"sample in each row.",
                    ["n", "counts", "outcomes"],
                    columns,
                )
            return pair
    _refuse_complements(table)
    return {}


def _refuse_bad_counts(
    table: Table, n: str, correct: str, sizes: list[int | None], counts: list[int | None]
) -> None:
    """Raise a ValueError if a row of a table of counts has no number, which may be a typing error.

    A column such as samples can hold answers, of which some are numbers.
    """
    if n.lower() in USUAL_NAMES["predictions"] or set(sizes) == {None} or set(counts) == {None}:
        return
    row = next(row for row, pair in enumerate(zip(sizes, counts, strict=True)) if None in pair)
    raise InputError(
        *("Row ", Index(row), FROM_0, f" has {n} {short(table.columns[n][row])} and {correct} "),
        f"{short(table.columns[correct][row])}: in a table of counts, both are whole numbers in "
        f"every row.",
    )


def _refuse_complements(table: Table) -> None:
    """Raise a SelectionError if two columns count the correct and the incorrect samples."""
    for correct in found_columns(table, "correct"):
        for incorrect in _COMPLEMENTS & table.columns.keys():
            successes, failures = (
                [
                    number
                    for number in map(as_whole_number, table.columns[name])
                    if number is not None
                ]
                for name in (correct, incorrect)
            )
            are_numbers = len(successes) == len(failures) == len(table.columns[correct])
            if are_numbers and any(a + b != 1 for a, b in zip(successes, failures, strict=True)):
                raise SelectionError(
                    f"{correct} and {incorrect} can be counts of samples, which need a column of "
                    f"their sum; or {correct} can be the outcome of one sample in each row.",
                    ["n", "outcomes"],
                    table.columns,
                )


def refuse_frequencies(table: Table, samples: Sequence[str], rows_of: RowsOf) -> None:
    """Raise a SelectionError if a column can say how often the sample of each row occurs.

    It can if each question has each sample in one row only, as after a GROUP BY. A number that all
    rows have in common is the number of samples that were requested.
    """
    for name in columns_named(table.columns, _FREQUENCIES):
        numbers = [as_whole_number(cell) for cell in table.columns[name]]
        if table.roles or None in numbers or len(set(numbers)) == 1:
            continue
        for sample in samples:
            texts = [entry_text(cell) for cell in table.columns[sample]]
            if not any(len({texts[row] for row in rows}) < len(rows) for rows in rows_of()):
                raise SelectionError(
                    f"{name} can be the number of samples that are equal to {sample} in its row.",
                    ["counts", "outcomes" if _is_graded(sample) else "predictions"],
                    table.columns,
                )


def _is_graded(name: str) -> bool:
    return name.lower() in USUAL_NAMES["outcomes"]


def count_columns(names: str | Sequence[str] | Mapping[Any, str]) -> str | dict[Any, str]:
    """Return one column of counts, or the column of each outcome if there are several.

    Args:
        names: a column, the column of each outcome, or columns. Columns whose names are numbers
            count these outcomes; others count the categories 0, 1, .., in this order.

    Raises:
        ValueError: if two columns count the same outcome.
    """
    if isinstance(names, str):
        return names
    if isinstance(names, Mapping):
        return dict(names)
    if len(names) == 1:
        return names[0]
    outcomes: list[Any] = [as_outcome(name) for name in names]
    if not all(isinstance(outcome, (int, float)) for outcome in outcomes):
        outcomes = list(range(len(names)))
    if len({*outcomes}) < len(names) or len({*names}) < len(names):
        raise ValueError(f"counts names two columns of the same outcome: {', '.join(names)}.")
    return dict(sorted(zip(outcomes, names, strict=True)))


def numbers_samples(cells: Sequence[Any], rows_of: RowsOf, in_order: bool = False) -> bool:
    """Whether the cells are 0 to n-1 or 1 to n in each question, such as the index of a sample.

    Args:
        cells: a column.
        rows_of: returns the rows of each question, if a row is one sample.
        in_order: whether the numbers also have to ascend, in at least two questions, one of which
            has at least three samples. Otherwise graded samples would be taken for indices:
            outcomes such as 0 and 1, or ranks, which are a permutation.
    """
    of_lists = has_lists(cells)
    if of_lists and in_order and not all(map(_starts_to_count, starts_of_lists(cells, 8))):
        return False  # without reading long lists whole
    cells = cells if of_lists else list(cells)  # an entry of an Arrow column is slow to look up
    questions: Iterable[Any] = (
        cells if of_lists else ([cells[row] for row in rows] for rows in rows_of())
    )
    count = longest = 0
    has_texts = False
    for question in questions:
        if not isinstance(question, list):
            return False
        numbers = [as_whole_number(cell) for cell in question]
        has_texts = has_texts or any(isinstance(cell, str) for cell in question)
        if None in numbers or (has_texts and of_lists):
            return False
        if not in_order:
            numbers.sort(key=lambda number: number or 0)
        if not _counts_up(numbers):
            return False
        count, longest = count + 1, max(longest, len(numbers))
    if in_order:
        return longest > 2 and count > 1
    return longest > 1 and (count > 1 or not has_texts)  # "1" and "2" can be answers


def _starts_to_count(cells: Any) -> bool:
    return isinstance(cells, list) and _counts_up([as_whole_number(cell) for cell in cells])


def _counts_up(numbers: list[int | None]) -> bool:
    """Whether the numbers are 0 to n-1 or 1 to n, in this order."""
    n = len(numbers)
    return numbers in (list(range(n)), list(range(1, n + 1)))
