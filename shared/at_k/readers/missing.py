"""Find missing outcomes and answers, and count them as the caller or the rule of a tool says.

Without a rule, an error asks, because the scores differ: an attempt that broke off is a failure of
an agent, but a server that was down is no failure of a model.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
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
    is_missing,
    number_in,
    word,
)

CHOICES = ("incorrect", "drop")

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

Counted = Mapping[Any, Sequence[tuple[Any, int]]]
"""Pairs of a sample and the number of times that it occurs, by the id of their question."""


class MissingError(SelectionError):
    """The error about missing samples if nothing says how they count."""


# --- Samples that are missing -----------------------------------------------------------------


def failed_rows(table: Table, used: Collection[Any]) -> set[int]:
    """Return the indices of the rows of which a column says that they failed.

    A column such as `error` says so by a text or a code, and a column such as `status` by a word
    such as "crashed". Columns in `used` have a role, and a tool has columns of its own: these are
    not searched.
    """
    failed: set[int] = set()
    for name, column in nested_columns(table).items() if table.layout is None else ():
        if name in used:
            continue
        if last_part(name) in usual.STATUSES:
            failed |= {row for row, x in enumerate(column) if word(x) in usual.BROKEN_OFF}
        elif not {*plain_name(name).split(".")}.isdisjoint(usual.ERRORS):
            failed |= _rows_with_error(name, column)
    return failed


def _rows_with_error(name: str, column: Sequence[Any]) -> set[int]:
    """Return the indices of the entries of a column of errors that are a text, or a code but 0.

    If the column has only numbers, with none missing, and its name does not end in "code", they may
    measure something, and no entry counts.
    """
    numbers = [number_in(x) for x in column]
    codes = [x if type(x) in (int, float) and not is_missing(x) else None for x in numbers]
    if name.endswith("code") or None in codes:
        pairs = enumerate(zip(column, codes, strict=True))
        return {row for row, (entry, code) in pairs if code or _is_error(entry)}
    if any(column) and None not in map(as_whole_number, column):
        warnings.warn(
            f"{shown_name(name)} has whole numbers alone: they are read as a measure, not as codes "
            f"of errors. If they are codes, write nothing where nothing failed.",
            stacklevel=2,
        )
    return set()


def _is_error(entry: Any) -> bool:
    """Return whether an entry of a column such as `error` says that something failed."""
    if isinstance(entry, list):
        return any(map(_is_error, entry))
    text = word(entry)
    is_text = isinstance(number_in(text), str) and text not in MISSING_WORDS
    return is_text and not _NO_ERROR.fullmatch(text)


def warn_of_api_messages(answers: Sequence[Any], name: str) -> None:
    """Warn if answers in the column `name` are error messages of an API in place of a response.

    They count as incorrect, and a checker may read a number in them, such as 429, as an answer.
    """
    texts = [x for x in answers if isinstance(x, str)]
    messages = [x for x in texts if _MESSAGE_OF_API.fullmatch(x.strip())]
    if messages:
        warnings.warn(
            f"{len(messages)} of {len(texts)} answers in {shown_name(name)} are errors of an API, "
            f"such as {short(messages[0])}, and are read as answers. Write null for those that are "
            f"missing.",
            stacklevel=2,
        )


def missing_answers(table: Table, answers: Sequence[Any], references: Sequence[Any]) -> list[Any]:
    """Return the answers, with None for missing ones: null, or a word such as nan.

    An empty cell of CSV is missing too. A word that is the reference of some question is an answer.
    """
    known = itertools.chain(*(x if isinstance(x, list) else [x] for x in references))
    words = MISSING_WORDS - {word(x) for x in known if isinstance(x, str)}
    if table.is_csv:
        answers = [None if x == "" else x for x in answers]
    return [
        None if (word(x) in words if isinstance(x, str) else is_missing(x)) else x for x in answers
    ]


# --- How missing samples count ----------------------------------------------------------------


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
    counted = dict(zip(samples, map(list, map(zip, samples.values(), times)), strict=True))
    rule, why = missing or "", ""
    if table.layout:
        rule = missing or table.layout.missing
        why = f", {table.layout.why}" if table.layout.why else ""
    if missing != "drop":
        _refuse_undecided(table.title, counted, rule, is_graded=written is None)
    lost = {key: sum(n for x, n in row if x is None) for key, row in counted.items()}
    if rule == "incorrect":
        note = f"{sum(lost.values())} of them missing{why}, counted as incorrect"
        if written is None:
            filled = [[False if x is None else x for x in row] for row in samples.values()]
        else:
            texts = [[x if isinstance(x, str) else "" for x in row] for row in written]
            pairs = map(zip, samples.values(), texts)
            filled = [[text if x is None else x for x, text in row] for row in pairs]
        return dict(zip(samples, filled, strict=True)), note
    kept = {key: row for key, row in samples.items() if row.count(None) < len(row)}
    if not kept:
        number = sum(lost.values())
        raise ValueError(f"{table.title} has no sample that is scored: all {number} are missing.")
    note = f"{sum(lost[key] for key in kept)} more not scored{why}"
    if empty := [text_of_ids(key) for key in samples if key not in kept]:
        left = (
            f"{len(empty)} of {len(samples)} questions have no sample that is scored, and are left"
        )
        warnings.warn(f"{table.title}: {left} out: {first_entries(empty, 10)}.", stacklevel=2)
        note += f"; {left} out"
    return kept, note


def _refuse_undecided(title: str, counted: Counted, rule: str, is_graded: bool) -> None:
    """Raise the error that asks how missing samples count, unless `rule` decides it.

    No rule can decide it if a list of samples is empty, so that the number of missing ones is
    unknown. The rule "drop" of a layout does not if a question would be left out. The rule
    "incorrect" does not if some outcomes are below 0, because 0 is no outcome of a failure there.
    """
    noun, why = "outcome" if is_graded else "answer", ""
    known = {key: [(x, n) for x, n in row if x is not None] for key, row in counted.items()}
    empty = [text_of_ids(key) for key, row in known.items() if not row]
    unknown = [text_of_ids(key) for key, row in counted.items() if not row]
    rewards = [x for row in known.values() for x, _ in row if isinstance(x, (int, float))]
    if unknown:
        why = "Their number is unknown"
    elif is_graded and rewards and min(rewards) < 0:
        why = "Some rewards are below 0"
    if unknown:
        what = f"question {unknown[0]} has no sample, and nothing says how many are missing"
    elif rule == "drop" and empty:
        others = f", and {len(empty) - 1} more" if len(empty) > 1 else ""
        what = f"question {empty[0]} has no {noun} that is scored{others}"
    elif rule == "drop" or (rule and not why):
        return
    else:
        first = next(key for key, row in counted.items() if None in [x for x, _ in row])
        lost = [n for row in counted.values() for x, n in row if x is None]
        total = sum(n for row in counted.values() for _, n in row)
        what = f"{sum(lost)} of {total} {noun}s are missing, the first of question "
        what += text_of_ids(first)
    if why:
        remedy = f"{why}: write those that are missing, or 'drop' leaves them out."
        raise MissingError(f"{title}: {what}. {remedy}", [Way({"missing": "drop"})])
    scores = _both_scores(counted, known) if is_graded else ""
    remedy = f"'incorrect' counts them as incorrect, and 'drop' leaves them out{scores}."
    raise MissingError(f"{title}: {what}. {remedy}", [Way({"missing": x}) for x in CHOICES])


def _both_scores(counted: Counted, known: Counted) -> str:
    """Return the end of a sentence with the mean outcome under both rules, or "" if not known.

    `known` are the pairs in `counted` without missing samples.
    """
    outcomes = [x for row in known.values() for x, n in row if n]
    if not outcomes or not all(isinstance(x, (int, float)) for x in outcomes):
        return ""
    both = []
    for questions in (counted, known):
        sizes = [(row, sum(n for _, n in row)) for row in questions.values()]
        both.append(fmean(sum((x or 0) * n for x, n in row) / size for row, size in sizes if size))
    return f": the mean outcome is {both[0]:.4g} or {both[1]:.4g}"


def text_of_ids(key: Any) -> str:
    """Return an id, which is a text or a tuple of texts, as one text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
