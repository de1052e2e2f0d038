"""Columns of counts: those that are found, and those that have to be named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .cells import as_outcome, as_whole_number, entry_text, has_lists, starts_of_lists
from .names import USUAL_NAMES, SelectionError, columns_named, found_columns
from .table import Table

_FREQUENCIES = ("count", "counts", "n")
_COMPLEMENTS = {"incorrect", "wrong", "failed", "num_incorrect", "n_incorrect"}

RowsOf = Callable[[], Sequence[Sequence[int]]]
"""Returns the rows of each question. It is only called where they are needed."""


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
            if n == correct or None in sizes or None in counts:
                continue
            found = {"n": n, "correct": correct}
            repeated = any(len(rows) > 1 for rows in rows_of())
            if table.roles or not set(counts) <= {0, 1}:
                return found
            if repeated and numbers_samples(sizes, rows_of):
                continue
            if repeated or 0 in sizes or (len(sizes) > 1 and _counts_up(sizes)):
                raise SelectionError(
                    f"{n} and {correct} can be counts, and {correct} can be the outcome of one "
                    f"sample in each row.",
                    ["n", "counts", "outcomes"],
                    columns,
                )
            return found
    _refuse_complements(table)
    return {}


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
        in_order: whether the numbers have to ascend, in two questions at least, and one of three
            samples. Outcomes of two samples can be 0 and 1, and ranks can be any permutation.
    """
    of_lists = has_lists(cells)
    if of_lists and in_order and not all(map(_starts_to_count, starts_of_lists(cells, 8))):
        return False  # which saves the time and the memory of long lists
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
