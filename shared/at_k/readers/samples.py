"""The cells that hold samples, counts or references, and the predictions that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.checks import FROM_0, Index, InputError, short
from .columns import (
    PER_SAMPLE,
    SelectionError,
    as_lists,
    as_outcome,
    as_whole_number,
    comparable,
    entry_text,
    find_column,
    has_lists,
    in_row,
    list_columns,
    parse_list,
    parsed_outcomes,
    question_columns,
    unwrapped,
)
from .remote import is_remote
from .sources import load_table
from .table import ArrowColumn, Columns, Table

SampleCells = dict[str, Sequence[Any]]
"""Entries by role, one per row: of `samples`, with or without `references` and
`multiplicities` (how often a sample occurs) and numbers of samples, such as `labels`; or of
`counts`, the numbers of samples in a row."""


def read_cells(
    table: Table,
    chosen: Mapping[str, Any],
    title: str,
    lists_as_text: bool,
) -> tuple[SampleCells, bool]:
    """Return the cells of samples or counts, and whether a row has several samples.

    Args:
        table: the source.
        chosen: its columns, as `choose_columns` returns them.
        title: the name of the source.
        lists_as_text: whether lists that are written as text, as in CSV, are lists of samples.
    """
    name = chosen.get("predictions") or chosen.get("outcomes")
    aligned = [role for role in PER_SAMPLE if role in chosen]
    if name is None:
        if aligned:
            raise ValueError(f"{aligned[0]} go with samples, and {title} has counts of samples.")
        return {"counts": _counts(table.columns, chosen, title)}, True
    cells: SampleCells = {"samples": unwrapped(table.columns[name])}
    if "references" in chosen:
        cells["references"] = table.columns[chosen["references"]]
    if "counts" in chosen:
        cells["multiplicities"] = table.columns[chosen["counts"]]
    cells |= {role: unwrapped(table.columns[chosen[role]]) for role in aligned}
    if lists_as_text and _are_lists_as_text(cells["samples"], table, title):
        cells = {role: as_lists(entries) for role, entries in cells.items()}
    of_lists = _holds_lists(cells["samples"], title)
    if "multiplicities" in cells and not of_lists:
        cells["multiplicities"] = _count_columns(table.columns, [chosen["counts"]], title)[0]
    for role in aligned:
        if not of_lists:
            cells[role] = [as_outcome(cell) for cell in cells[role]]
        for row, numbers in enumerate(cells[role]):
            for number in numbers if isinstance(numbers, list) else [numbers]:
                if not isinstance(number, (int, float, type(None))):
                    raise InputError(
                        *in_row(title, row),
                        f": {chosen[role]} is {short(number)}: {role} are numbers"
                        f"{', 1 if correct and 0 if not' if role == 'labels' else ''}, and empty "
                        f"for samples without one.",
                    )
    if "references" not in chosen and not of_lists:
        cells["samples"] = parsed_outcomes(cells["samples"])
    return cells, of_lists


def compute_predictions(cells: SampleCells, chosen: Mapping[str, Any]) -> Any:
    """Remove the samples or counts of the questions from the cells; return them as predictions."""
    if "counts" not in cells:
        samples = cells.pop("samples")
        if "multiplicities" not in cells:
            return samples
        return {"answers": list(samples), "counts": list(cells.pop("multiplicities"))}
    rows = list(map(list, cells.pop("counts")))
    if "n" in chosen:
        return {"n": [n for n, _ in rows], "correct": [correct for _, correct in rows]}
    if isinstance(chosen["counts"], str):
        return {"counts": rows}
    outcomes = list(chosen["counts"])
    if outcomes == list(range(len(outcomes))):
        return {"counts": rows}
    return {"answers": [outcomes] * len(rows), "counts": rows}


# --- Samples ----------------------------------------------------------------------------


def _are_lists_as_text(cells: Sequence[Any], table: Table, title: str) -> bool:
    """Whether the cells are lists of samples that are written as text."""
    if has_lists(cells) or not all(isinstance(cell, str) for cell in cells):
        return False
    lists = [parse_list(cell) for cell in cells]
    if not any(lists) and not all(cell.startswith("[") for cell in cells):
        return False
    if None in lists:
        row = lists.index(None)
        problem = (
            f": {short(cells[row])} is not a JSON list of samples. If each row is one sample, a "
            f"column has to identify its question."
        )
        raise SelectionError(
            [*in_row(title, row), problem],
            ["questions"],
            table.columns,
        )
    return True


def _holds_lists(cells: Sequence[Any], title: str) -> bool:
    """Return whether the cells are lists of samples; a ValueError if only some are."""
    if isinstance(cells, ArrowColumn):  # its entries are of one type
        return has_lists(cells)
    are_lists = {isinstance(cell, list) for cell in cells if cell is not None}
    if len(are_lists) > 1:
        raise ValueError(f"{title} has lists of samples in some rows and single ones in others.")
    return True in are_lists


def graded(cells: Sequence[Any], correct_values: Sequence[Any]) -> tuple[list[Any], frozenset[Any]]:
    """Return outcomes, or lists of them, as bools; and what the outcomes were, see `comparable`.

    Args:
        cells: the outcomes, None if a sample is not scored.
        correct_values: the outcomes that are correct.
    """
    correct = set(map(comparable, parsed_outcomes(correct_values)))
    outcomes: set[Any] = set()

    def grade(outcome: Any) -> Any:
        if isinstance(outcome, list):
            return [grade(entry) for entry in outcome]
        if outcome is None:
            return None
        outcomes.add(comparable(outcome))
        return comparable(outcome) in correct

    return [grade(cell) for cell in cells], frozenset(outcomes)


# --- Counts -----------------------------------------------------------------------------


def _counts(columns: Columns, chosen: Mapping[str, Any], title: str) -> list[Any]:
    """Return the counts in each row: n and correct, or the number of samples in each category."""
    counts = chosen.get("counts")
    if isinstance(counts, str):
        return _lists_of_counts(as_lists(columns[counts]), counts, title)
    if counts is not None:
        return list(zip(*_count_columns(columns, list(counts.values()), title), strict=True))
    names = [chosen["n"], chosen["correct"]]
    rows = list(zip(*_count_columns(columns, names, title), strict=True))
    for row, (n, correct) in enumerate(rows):
        if correct > n:
            raise InputError(
                *in_row(title, row),
                f": {names[0]} is {n} and {names[1]} is {correct}. Counts are whole numbers with "
                f"0 <= correct <= n.",
            )
    return rows


def _lists_of_counts(cells: Sequence[Any], name: str, title: str) -> list[Any]:
    """Return lists of counts; a ValueError unless all have one count for each category."""
    rows = [list(map(_count, cell)) if isinstance(cell, list) else [None] for cell in cells]
    for row, counts in enumerate(rows):
        if None in counts or len(counts) != len(rows[0]):
            raise InputError(
                *in_row(title, row),
                f": {name} is {short(cells[row])}. Give a list of whole numbers of at least 0, one "
                f"for each category, with the same length in all rows.",
            )
    return rows


def _count_columns(columns: Columns, names: Sequence[str], title: str) -> list[list[Any]]:
    """Return columns of counts; a ValueError if an entry is not a whole number of at least 0."""
    columns_of_counts = []
    for name in names:
        counts = list(map(_count, columns[name]))
        if None in counts:
            row = counts.index(None)
            what = f": {name} is {short(columns[name][row])}, and a count is a whole number of at "
            raise InputError(*in_row(title, row), what, "least 0.")
        columns_of_counts.append(counts)
    return columns_of_counts


def _count(cell: Any) -> int | None:
    """Return the whole number of at least 0 that a cell holds, or None if it holds none."""
    number = as_whole_number(cell)
    return None if number is None or number < 0 else number


# --- References that are not in the log -------------------------------------------------


TESTS = "rows with tests"
"""The name of a column that `with_tests` adds."""

_COLUMNS_OF_TESTS = (
    *({"test", "entry_point"}, {"test_list"}, {"input_output"}, {"public_test_cases"}),
    {"inputs", "outputs", "entry_point"},
)
_PARTS_OF_TESTS = {"prompt", "test_imports", "test_setup_code"}.union(*_COLUMNS_OF_TESTS)
_PARTS_OF_TESTS |= {"private_test_cases", "metadata", "func_name"}


def with_tests(table: Table) -> Table:
    """Return the table with a column of references for `python_tests`, if it has such tests.

    HumanEval, MBPP, APPS and LiveCodeBench have the tests of a question in several columns.
    """
    has_tests = any(needed <= table.columns.keys() for needed in _COLUMNS_OF_TESTS)
    if table.roles or not (has_tests or _has_cases(table)):
        return table
    names = [name for name in table.columns if name in _PARTS_OF_TESTS]
    rows = zip(*(table.columns[name] for name in names), strict=True)
    tests = [dict(zip(names, row, strict=True)) for row in rows]
    return table.with_columns({**table.columns, TESTS: tests})


def _has_cases(table: Table) -> bool:
    """Whether each row has lists of inputs and outputs, and no column is named for references."""
    inputs, outputs = (table.columns.get(name, ()) for name in ("inputs", "outputs"))
    return (
        0 < len(inputs) == len(outputs)
        and all(
            isinstance(x, list) and isinstance(y, list) and len(x) == len(y)
            for x, y in zip(inputs, outputs, strict=True)
        )
        and find_column(table, "references", None) is None
    )


def are_elsewhere(references: Any, table: Table) -> bool:
    """Whether references are a dict, or the name of a file instead of a column."""
    if isinstance(references, str):
        is_file = is_remote(references) or Path(references).is_file()
        return references not in table.columns and is_file
    return isinstance(references, Mapping)


def join_references(
    table: Table, references: Mapping[Any, Any] | str, key: Sequence[str]
) -> tuple[Table, str]:
    """Return the table with a column of references, and the name of the column.

    Args:
        table: a log.
        references: the reference of each question by what identifies it, or a file with a column
            of questions, with the name that it has in the log or a usual one, and a column of
            references with a usual name.
        key: the columns that identify questions, if the caller names them.

    Raises:
        SelectionError: if several columns, or none, identify the questions.
        ValueError: if a question has no reference.
    """
    columns = key or question_columns(table, of_lists=False)
    if len(columns) != 1:
        raise SelectionError(
            f"References are joined by one column that identifies questions, not by "
            f"{len(columns)}. {list_columns(table.columns)}",
            ["questions"],
            table.columns,
        )
    (question,) = columns
    name = "references"
    if isinstance(references, str):
        name = Path(references).name
        references = _references_in_file(references, question)
    by_text = {entry_text(entry): reference for entry, reference in references.items()}
    texts = [entry_text(entry) for entry in table.columns[question]]
    for row, text in enumerate(texts):
        if text not in by_text:
            what = f": there is no reference for {short(text)}."
            raise InputError("Row ", Index(row), FROM_0, what)
    joined = [by_text[text] for text in texts]
    return table.with_columns({**table.columns, name: joined}), name


def _references_in_file(file: str, question: str) -> dict[Any, Any]:
    """Return the reference of each question in a file.

    Raises:
        ValueError: if the file lacks a column, or has two references of a question.
    """
    answers = with_tests(load_table(file))
    names = [question] if question in answers.columns else question_columns(answers, of_lists=False)
    column = TESTS if TESTS in answers.columns else find_column(answers, "references", None)
    if not names or column is None:
        raise ValueError(
            f"{file} needs a column {question} and one with a usual name for references. "
            f"{list_columns(answers.columns)}"
        )
    by_text: dict[str, Any] = {}
    for entry, reference in zip(answers.columns[names[0]], answers.columns[column], strict=True):
        text = entry_text(entry)
        if by_text.setdefault(text, reference) != reference:
            raise ValueError(f"{file} has two references for {short(text)}.")
    return by_text
