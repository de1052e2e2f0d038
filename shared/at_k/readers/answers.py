"""References that are not in the log itself, but in a dict or in another file, by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..checks import short
from .cells import entry_text
from .names import SelectionError, find_column, list_columns, question_columns
from .sources import load_table
from .table import Table


def are_elsewhere(references: Any, table: Table) -> bool:
    """Whether references are a dict, or the name of a file instead of a column."""
    if isinstance(references, str):
        return references not in table.columns and Path(references).is_file()
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
            raise ValueError(f"Row {row} (from 0): there is no reference for {short(text)}.")
    joined = [by_text[text] for text in texts]
    return table.with_columns({**table.columns, name: joined}), name


def _references_in_file(file: str, question: str) -> dict[Any, Any]:
    """Return the reference of each question in a file.

    Raises:
        ValueError: if the file lacks a column, or has two references of a question.
    """
    answers = load_table(file)
    names = [question] if question in answers.columns else question_columns(answers, of_lists=False)
    column = find_column(answers, "references", None)
    if not names or column is None:
        raise ValueError(
            f"{file} needs a column {question} and one with a usual name for references. "
            f"{list_columns(answers.columns)}"
        )
    found: dict[str, Any] = {}
    for entry, reference in zip(answers.columns[names[0]], answers.columns[column], strict=True):
        text = entry_text(entry)
        if found.setdefault(text, reference) != reference:
            raise ValueError(f"{file} has two references for {short(text)}.")
    return found
