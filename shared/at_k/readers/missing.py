"""Outcomes and answers that are missing: the caller, or the rule of a tool, says what they count.

They are neither incorrect nor left out by themselves, because both can be meant and the scores
differ: an attempt that broke off is a failure of an agent, and a server that was down is not one of
a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .names import ERRORS, plain_name
from .table import SelectionError, Table, Way, nested_columns
from .words import MISSING_WORDS, changed, entry_text, flat, is_missing, word

CHOICES = ("incorrect", "drop")


class MissingError(SelectionError):
    """Samples are missing, and nothing says what they count."""


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
    words = {*words} - {word(x) for x in flat(references) if isinstance(x, str)}

    def read(cell: Any) -> Any:
        is_empty = table.is_csv and cell == ""
        is_word = isinstance(cell, str) and word(cell) in words
        return None if is_missing(cell) or is_empty or is_word else cell

    return changed(read, cells)


def settle_missing(
    table: Table,
    samples: Mapping[Any, list[Any]],
    written: Sequence[list[Any]] | None,
    multiplicities: Sequence[list[int]] | None,
    missing: str | None,
) -> tuple[dict[Any, list[Any]], str]:
    """Return the samples of each question as the rule says, and what the first line says of them.

    Samples that are left out stay None, so that others keep their places. Questions without any
    sample are left out too.

    If samples are answers, `written` has them as they were written: one that is missing and counted
    as incorrect stays as it was, or is an empty text. `multiplicities` say how often they occur.

    Raises:
        MissingError: if nothing says what missing samples count, or if a question has no other
            sample and the caller does not say so.
    """
    if not any(None in row for row in samples.values()):
        return dict(samples), ""
    sizes = multiplicities or [[1] * len(row) for row in samples.values()]
    pairs = {
        x: list(zip(*y, strict=True))
        for x, *y in zip(samples, samples.values(), sizes, strict=True)
    }
    absent = {key: sum(n for x, n in row if x is None) for key, row in pairs.items()}
    number = sum(absent.values())
    layout = table.layout
    rule = missing or (layout.missing if layout else "")
    empty = [key for key, row in samples.items() if not any(x is not None for x in row)]
    if not rule or (rule == "drop" and empty and missing is None):
        raise _ask(table.title, pairs, absent, empty if rule else [], written is None)
    why = f", {layout.why}" if layout and layout.why else ""
    if rule == "incorrect":
        return _filled(samples, written), f"{number} of them missing{why}, counted as incorrect"
    kept = {key: row for key, row in samples.items() if key not in {*empty}}
    if not kept:
        raise ValueError(f"{table.title} has no sample that is scored: all {number} are missing.")
    said = f"{number - sum(absent[key] for key in empty)} more not scored{why}"
    if empty:
        left = f"{len(empty)} of {len(samples)} questions have no sample that is scored, and are"
        ids = ", ".join(map(text_of_ids, empty[:10])) + (", .." if len(empty) > 10 else "")
        warnings.warn(f"{table.title}: {left} left out: {ids}.", stacklevel=2)
        said += f"; {left} left out"
    return kept, said


def _filled(
    samples: Mapping[Any, list[Any]], written: Sequence[list[Any]] | None
) -> dict[Any, list[Any]]:
    """Return the samples of each question with incorrect ones in place of missing ones."""
    if written is None:
        return {key: [False if x is None else x for x in row] for key, row in samples.items()}
    texts = [[x if isinstance(x, str) else "" for x in row] for row in written]
    pairs = zip(samples, map(zip, samples.values(), texts), strict=True)
    return {key: [text if x is None else x for x, text in row] for key, row in pairs}


def _ask(
    title: str,
    pairs: Mapping[Any, list[tuple[Any, int]]],
    absent: Mapping[Any, int],
    empty: Sequence[Any],
    is_graded: bool,
) -> MissingError:
    """Return the error that asks what missing samples count.

    Args:
        title: of the table.
        pairs: of each question, its samples and how often each occurs.
        absent: how many samples of each question are missing.
        empty: questions without any other sample, if the rule for them alone is asked for.
        is_graded: whether samples are outcomes.
    """
    noun = "outcomes" if is_graded else "answers"
    if empty:
        some = "1 question has" if len(empty) == 1 else f"{len(empty)} questions have"
        what = f"{some} no {noun[:-1]} that is scored, such as {text_of_ids(empty[0])}"
    else:
        first = next(key for key, number in absent.items() if number)
        total = sum(n for row in pairs.values() for _, n in row)
        what = f"{sum(absent.values())} of {total} {noun} are missing, the first of question "
        what += text_of_ids(first)
    left = "these questions" if empty else "them"
    scores = _both_scores(pairs.values(), absent.values()) if is_graded else ""
    return MissingError(
        f"{title}: {what}. 'incorrect' counts them as incorrect, and 'drop' leaves {left} out"
        f"{scores}.",
        [Way({"missing": choice}) for choice in CHOICES],
    )


def _both_scores(questions: Iterable[list[tuple[Any, int]]], absent: Iterable[int]) -> str:
    """Return the mean of the outcomes over questions under both rules, as the end of a sentence."""
    incorrect, dropped = [], []
    for row, number in zip(questions, absent, strict=True):
        if not all(isinstance(x, (int, float, type(None))) for x, _ in row):
            return ""
        total, size = sum(x * n for x, n in row if x is not None), sum(n for _, n in row)
        incorrect.append(total / size if size else 0.0)
        if size > number:
            dropped.append(total / (size - number))
    if not dropped:
        return ""
    means = (sum(x) / len(x) for x in (incorrect, dropped))
    return ": the mean outcome is {:.4g} or {:.4g}".format(*means)


def text_of_ids(key: Any) -> str:
    """Return an id as a text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
