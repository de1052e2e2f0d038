"""Outcomes and answers that are missing: the caller, or the rule of a tool, says what they count.

They are neither incorrect nor left out by themselves, because both can be meant and the scores
differ: an attempt that broke off is a failure of an agent, and a server that was down is not one of
a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..core.checks import short
from .names import ERRORS, plain_name
from .table import SelectionError, Table, Way, nested_columns
from .words import MISSING_WORDS, changed, entry_text, is_missing, word

CHOICES = ("incorrect", "drop")


class MissingError(SelectionError):
    """Samples are missing, and nothing says what they count."""


def check_missing(missing: Any) -> str | None:
    """Return the choice; a ValueError if it is none of `CHOICES`."""
    if missing is not None and missing not in CHOICES:
        raise ValueError(
            f"missing is {short(missing)}: give 'incorrect', or 'drop' to leave them out."
        )
    return missing


def missing_outcomes(table: Table, cells: Sequence[Any]) -> list[Any]:
    """Return the cells with None where an entry of a column such as `error` says why."""
    if table.layout is not None:
        return list(cells)
    for name, column in nested_columns(table, ERRORS).items():
        if not {*plain_name(name).split(".")}.isdisjoint(ERRORS):
            pairs = zip(cells, column, strict=True)
            cells = [_without_outcome(cell) if is_error(x) else cell for cell, x in pairs]
    return list(cells)


def _without_outcome(cell: Any) -> Any:
    return [None] * len(cell) if isinstance(cell, list) else None


def is_error(entry: Any) -> bool:
    """Whether an entry of a column such as `error` says that something failed."""
    if isinstance(entry, list):
        return any(map(is_error, entry))
    if isinstance(entry, dict):
        return bool(entry)
    return word(entry) not in (*MISSING_WORDS, "", "false", "no", "0")


def missing_answers(
    table: Table, cells: Sequence[Any], references: Sequence[Any], words: Collection[str]
) -> list[Any]:
    """Return answers with None for null, an empty cell of CSV, or one of the words.

    A word that is the reference of a question is an answer.
    """
    known = {
        word(x)
        for reference in references
        for x in (reference if isinstance(reference, list) else [reference])
        if isinstance(x, str)
    }
    words = {*words} - known

    def read(cell: Any) -> Any:
        is_empty = table.is_csv and cell == ""
        is_word = isinstance(cell, str) and word(cell) in words
        return None if is_missing(cell) or is_empty or is_word else cell

    return changed(read, cells)


def settle_missing(
    table: Table,
    samples: Mapping[Any, list[Any]],
    written: Sequence[list[Any]] | None,
    missing: str | None,
) -> tuple[dict[Any, list[Any]], str]:
    """Return the samples of each question as the rule says, and what the first line says of them.

    Samples that are left out stay None, so that others keep their places. Questions without any
    sample are left out too.

    If samples are answers, `written` has them as they were written: one that is missing and counted
    as incorrect stays as it was, or is an empty text.

    Raises:
        MissingError: if nothing says what missing samples count, or if a question has no other
            sample and the caller does not say so.
    """
    absent = {key: sum(x is None for x in row) for key, row in samples.items()}
    number = sum(absent.values())
    if not number:
        return dict(samples), ""
    layout = table.layout
    rule = missing or (layout.missing if layout else "")
    empty = [key for key, row in samples.items() if absent[key] == len(row)]
    if not rule or (rule == "drop" and empty and missing is None):
        raise _ask(table.title, samples, empty if rule else [], written is None)
    why = f", {layout.why}" if layout and layout.why else ""
    if rule == "incorrect":
        return _filled(samples, written), f"{number} of them missing{why}, counted as incorrect"
    kept = {key: row for key, row in samples.items() if absent[key] < len(row)}
    if not kept:
        raise ValueError(f"{table.title} has no sample that is scored: all {number} are missing.")
    said = f"{number - sum(absent[key] for key in empty)} more not scored{why}"
    if empty:
        said += warn_of_left_out(table.title, list(map(text_of_ids, empty)), len(samples))
    return kept, said


def _filled(
    samples: Mapping[Any, list[Any]], written: Sequence[list[Any]] | None
) -> dict[Any, list[Any]]:
    """Return the samples of each question with incorrect ones in place of missing ones."""
    if written is None:
        return {key: [False if x is None else x for x in row] for key, row in samples.items()}
    texts = ([x if isinstance(x, str) else "" for x in row] for row in written)
    return {
        key: [text if x is None else x for x, text in zip(row, of_row, strict=True)]
        for (key, row), of_row in zip(samples.items(), texts, strict=True)
    }


def warn_of_left_out(title: str, ids: Sequence[str], number: int) -> str:
    """Warn of questions that are left out, and return the end of what the first line says."""
    left = f"{len(ids)} of {number} questions have no sample that is scored, and are left out"
    shown = ", ".join(ids[:10]) + (", .." if len(ids) > 10 else "")
    warnings.warn(f"{title}: {left}: {shown}.", stacklevel=3)
    return f"; {left}"


def _ask(
    title: str, samples: Mapping[Any, list[Any]], empty: Sequence[Any], is_graded: bool
) -> MissingError:
    noun = "outcomes" if is_graded else "answers"
    scores = _both_scores(samples) if is_graded else ""
    if empty:
        some = "1 question has" if len(empty) == 1 else f"{len(empty)} questions have"
        what = f"{some} no {noun[:-1]} that is scored, such as {text_of_ids(empty[0])}"
        return missing_error(title, what, "leaves these questions out", scores)
    first = next(key for key, row in samples.items() if None in row)
    rows = samples.values()
    number, total = sum(row.count(None) for row in rows), sum(map(len, rows))
    what = f"{number} of {total} {noun} are missing, the first of question {text_of_ids(first)}"
    return missing_error(title, what, "leaves them out", scores)


def missing_error(title: str, what: str, drop: str, scores: str = "") -> MissingError:
    """Return the error that asks what the missing samples count, with what "drop" does."""
    return MissingError(
        f"{title}: {what}. 'incorrect' counts them as incorrect, and 'drop' {drop}{scores}.",
        [Way({"missing": choice}) for choice in CHOICES],
    )


def _both_scores(samples: Mapping[Any, list[Any]]) -> str:
    """Return the mean of the outcomes over questions under both rules, as the end of a sentence."""
    rows = list(samples.values())
    if not all(isinstance(x, (int, float, type(None))) for row in rows for x in row):
        return ""
    known = [[x for x in row if x is not None] for row in rows]
    incorrect = sum(sum(k) / len(row) for k, row in zip(known, rows, strict=True) if row)
    means = [sum(row) / len(row) for row in known if row]
    if not means:
        return ""
    dropped = sum(means) / len(means)
    return f": the mean outcome is {incorrect / len(rows):.4g} or {dropped:.4g}"


def text_of_ids(key: Any) -> str:
    """Return an id as a text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
