"""Find missing outcomes and answers, and count them as the caller or the rule of a tool says.

Without a rule, an error asks, because the scores differ: an attempt that broke off is a failure of
an agent, but a server that was down is no failure of a model.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from ..core.checks import short
from . import names as usual
from .names import last_part, plain_name, shown_name
from .table import SelectionError, Table, Way, nested_columns
from .words import (
    MISSING_WORDS,
    as_whole_number,
    entry_text,
    first_entries,
    flat,
    is_missing,
    map_entries,
    number_in,
    word,
)

CHOICES = ("incorrect", "drop")

Counted = Sequence[tuple[Any, int]]
"""Pairs of a sample of one question and the number of times that it occurs."""


class MissingError(SelectionError):
    """The error about missing samples if nothing says how they count."""


def missing_outcomes(table: Table, cells: Sequence[Any], used: Collection[Any]) -> list[Any]:
    """Return the cells of samples, with None in rows where another column says that they failed.

    A column such as `error` says so by a text or a code, and a column such as `status` by a word
    such as "crashed". Columns in `used` have a role and are not searched. If a tool wrote the
    table, the cells are returned unchanged.
    """
    if table.layout is not None:
        return list(cells)
    for name, column in nested_columns(table).items():
        if name in used:
            continue
        if last_part(name) in usual.STATUSES:
            broke_off = [word(entry) in usual.BROKEN_OFF for entry in column]
        elif not {*plain_name(name).split(".")}.isdisjoint(usual.ERRORS):
            broke_off = _errors_in(name, column)
        else:
            continue
        rows = zip(cells, map_entries(lambda _: None, cells), broke_off, strict=True)
        cells = [missing if is_void else cell for cell, missing, is_void in rows]
    return list(cells)


def _errors_in(name: str, column: Sequence[Any]) -> list[bool]:
    """Return for each entry of a column of errors whether it says that something failed.

    A text says so, unless it is one such as "ok" or "none", and so does a code such as 429, but not
    0. If the column has only numbers, with none missing, and its name does not end in "code", they
    may measure something, and no entry counts.
    """
    numbers = [number_in(x) for x in column]
    are_numbers = [type(x) in (int, float) and not is_missing(x) for x in numbers]
    if name.endswith("code") or not all(are_numbers):
        codes = [is_code and x != 0 for x, is_code in zip(numbers, are_numbers, strict=True)]
        return [is_error(x) or is_code for x, is_code in zip(column, codes, strict=True)]
    if any(column) and None not in map(as_whole_number, column):
        warnings.warn(
            f"{shown_name(name)} has whole numbers alone: they are read as a measure, not "
            f"as codes of errors. If they are codes, write nothing where nothing failed.",
            stacklevel=2,
        )
    return [False] * len(column)


def is_error(entry: Any) -> bool:
    """Return whether an entry of a column such as `error` says that something failed."""
    if isinstance(entry, list):
        return any(map(is_error, entry))
    text = word(entry)
    is_text = isinstance(number_in(text), str) and text not in MISSING_WORDS
    return is_text and not _NO_ERROR.fullmatch(text)


_NO_ERROR = re.compile(
    r"\W*|(no|without)([ _-](errors?|exceptions?|issues?))?\.?|false|ok(ay)?|success(ful)?|"
    r"succeeded|passed|completed?|done|nothing|nil"
)
"""The texts in a column such as `error` where nothing failed, beside `MISSING_WORDS`."""


_MESSAGE_OF_API = re.compile(
    r"((http|error|status)( error| status)?( code)?:? (4\d\d|5\d\d)\b|(429|5\d\d):? [a-z]+ [a-z]+"
    r"|rate[ _]limit[ _](exceeded|reached)|(request|read|connection) (timed out|timeout|error)\b"
    r"|([a-z_]+\.)*(ratelimit|apitimeout|apiconnection|apistatus|internalserver)error\b).{0,200}",
    re.IGNORECASE | re.DOTALL,
)


def warn_of_api_messages(cells: Sequence[Any], name: str) -> None:
    """Warn if answers in the column `name` are error messages of an API in place of a response.

    They count as incorrect, and a checker may read a number in them, such as 429, as an answer.
    """
    answers = [x for x in flat(cells) if isinstance(x, str)]
    messages = [x for x in answers if _MESSAGE_OF_API.fullmatch(x.strip())]
    if messages:
        warnings.warn(
            f"{len(messages)} of {len(answers)} answers in {shown_name(name)} are errors of an "
            f"API, such as {short(messages[0])}, and are read as answers. Write null for those "
            f"that are missing.",
            stacklevel=2,
        )


def missing_answers(table: Table, cells: Sequence[Any], references: Sequence[Any]) -> list[Any]:
    """Return the answers in cells, with None for missing ones: null, or a word such as nan.

    An empty cell of CSV is missing too. A word that is the reference of some question is an answer.
    """
    words = MISSING_WORDS - {word(x) for x in flat(references) if isinstance(x, str)}

    def read(cell: Any) -> Any:
        """Return an answer as it is, or None if it is missing."""
        is_empty = table.is_csv and cell == ""
        is_word = isinstance(cell, str) and word(cell) in words
        return None if is_missing(cell) or is_empty or is_word else cell

    return map_entries(read, cells)


def settle_missing(
    table: Table,
    samples: Mapping[Any, list[Any]],
    written: Sequence[list[Any]] | None,
    multiplicities: Sequence[list[int]] | None,
    missing: str | None,
) -> tuple[dict[Any, list[Any]], str]:
    """Return the samples of each question after the rule, and a note on missing ones, or "".

    The rule "incorrect" replaces missing samples. "drop" leaves them None, so that other samples
    keep their places, and leaves out questions without any other sample, with a warning. Without a
    rule (None), that of the layout holds, or a MissingError asks.

    `samples` are outcomes or answers by the id of their question. `written` are answers as they
    were written, or None for outcomes: a missing answer that counts as incorrect stays as it was,
    or is an empty text. `multiplicities` say how often each sample occurs; None for once.
    """
    if all(row and None not in row for row in samples.values()):
        return dict(samples), ""
    times = multiplicities or [[1] * len(row) for row in samples.values()]
    rows = map(zip, samples.values(), times)
    counted = dict(zip(samples, map(list, rows), strict=True))
    layout = table.layout
    rule, reason = (missing or layout.missing, layout.why) if layout else (missing or "", "")
    why = f", {reason}" if reason else ""
    if missing != "drop":
        _refuse_undecided(table.title, counted, rule, written is None)
    if rule == "drop":
        return _without_missing(table.title, samples, counted, why)
    number = _missing_in(counted.values())
    return _filled(samples, written), f"{number} of them missing{why}, counted as incorrect"


def _without_missing(
    title: str, samples: Mapping[Any, list[Any]], counted: Mapping[Any, Counted], why: str
) -> tuple[dict[Any, list[Any]], str]:
    """Return the samples of the questions that have any, and the note on missing samples.

    Warn of questions without samples, which are left out. `why` follows the number in the note.
    """
    kept = {key: row for key, row in samples.items() if row.count(None) < len(row)}
    if not kept:
        number = _missing_in(counted.values())
        raise ValueError(f"{title} has no sample that is scored: all {number} are missing.")
    note = f"{_missing_in(counted[key] for key in kept)} more not scored{why}"
    empty = [text_of_ids(key) for key in samples if key not in kept]
    if not empty:
        return kept, note
    left = f"{len(empty)} of {len(samples)} questions have no sample that is scored, and are left"
    warnings.warn(f"{title}: {left} out: {first_entries(empty, 10)}.", stacklevel=3)
    return kept, f"{note}; {left} out"


def _missing_in(rows: Iterable[Counted]) -> int:
    """Return how many samples are missing."""
    return sum(n for row in rows for sample, n in row if sample is None)


def _filled(
    samples: Mapping[Any, list[Any]], written: Sequence[list[Any]] | None
) -> dict[Any, list[Any]]:
    """Return the samples with False in place of missing outcomes, or the answers as written."""
    if written is None:
        return {key: [False if x is None else x for x in row] for key, row in samples.items()}
    texts = [[x if isinstance(x, str) else "" for x in row] for row in written]
    pairs = zip(samples, map(zip, samples.values(), texts), strict=True)
    return {key: [text if x is None else x for x, text in row] for key, row in pairs}


def _refuse_undecided(
    title: str, counted: Mapping[Any, Counted], rule: str, is_graded: bool
) -> None:
    """Raise the error that asks how missing samples count, unless `rule` decides it.

    No rule can decide it if a list of samples is empty, so that the number of missing ones is
    unknown. The rule "drop" of a layout does not if a question would be left out. The rule
    "incorrect" does not if some outcomes are below 0, because 0 is no outcome of a failure there.
    """
    noun = "outcome" if is_graded else "answer"
    why = "" if all(counted.values()) else "Their number is unknown"
    if not why and is_graded and _has_losses(counted.values()):
        why = "Some rewards are below 0"
    what = _what_is_undecided(counted, "" if why and rule == "incorrect" else rule, noun)
    if not what:
        return
    if why:
        remedy = f"{why}: write those that are missing, or 'drop' leaves them out."
        raise MissingError(f"{title}: {what}. {remedy}", [Way({"missing": "drop"})])
    scores = _both_scores(counted.values()) if is_graded else ""
    remedy = f"'incorrect' counts them as incorrect, and 'drop' leaves them out{scores}."
    raise MissingError(f"{title}: {what}. {remedy}", [Way({"missing": x}) for x in CHOICES])


def _has_losses(rows: Iterable[Counted]) -> bool:
    """Return whether an outcome is below 0, so that 0 is no outcome of a failure."""
    return any(isinstance(x, (int, float)) and x < 0 for row in rows for x, _ in row)


def _what_is_undecided(counted: Mapping[Any, Counted], rule: str, noun: str) -> str:
    """Return a clause about samples that `rule` does not settle, or ""; `noun` is what they are."""
    unknown = [key for key, row in counted.items() if not row]
    if unknown:
        question = text_of_ids(unknown[0])
        return f"question {question} has no sample, and nothing says how many are missing"
    empty = _without_samples(counted)
    if rule == "drop" and empty:
        others = f", and {len(empty) - 1} more" if len(empty) > 1 else ""
        return f"question {text_of_ids(empty[0])} has no {noun} that is scored{others}"
    if rule:
        return ""
    first = next(key for key, row in counted.items() if _missing_in([row]))
    total = sum(n for row in counted.values() for _, n in row)
    number = _missing_in(counted.values())
    return f"{number} of {total} {noun}s are missing, the first of question {text_of_ids(first)}"


def _without_samples(counted: Mapping[Any, Counted]) -> list[Any]:
    """Return the ids of the questions of which all samples are missing."""
    return [key for key, row in counted.items() if all(x is None for x, _ in row)]


def _both_scores(rows: Collection[Counted]) -> str:
    """Return the end of a sentence with the mean outcome under both rules, or "" if not known."""
    known = [[(x, n) for x, n in row if x is not None and n] for row in rows]
    if not all(isinstance(x, (int, float)) for x, _ in itertools.chain(*known)) or not any(known):
        return ""
    filled = [[(x or 0, n) for x, n in row] for row in rows]
    return f": the mean outcome is {_mean_of(filled):.4g} or {_mean_of(known):.4g}"


def _mean_of(rows: Iterable[Counted]) -> float:
    """Return the mean of the mean outcomes of questions. Those without samples are left out."""
    sizes = [(row, sum(n for _, n in row)) for row in rows]
    return fmean(sum(x * n for x, n in row) / size for row, size in sizes if size)


def text_of_ids(key: Any) -> str:
    """Return an id, which is a text or a tuple of texts, as one text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
