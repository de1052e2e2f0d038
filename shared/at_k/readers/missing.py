"""Find missing outcomes and answers, and count them as the caller or the rule of a tool says.

Without a rule, an error asks, because the scores differ: an attempt that broke off is a failure of
an agent, but a server that was down is no failure of a model.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.checks import Index, short
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
    number_in,
    word,
)

if TYPE_CHECKING:
    from .samples import Reading

CHOICES = ("incorrect", "drop")

_LARGEST_SHOWN = 1e12  # of outcomes whose mean a message shows

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

    Numbers alone may measure something and do not count, unless the name ends in "code".
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
    words = MISSING_WORDS - {word(x) for x in flat(references) if isinstance(x, str)}
    if table.is_csv:
        answers = [None if x == "" else x for x in answers]
    return [
        None if (word(x) in words if isinstance(x, str) else is_missing(x)) else x for x in answers
    ]


# --- How missing samples count ----------------------------------------------------------------


def settle_missing(
    reading: Reading, question_of: Sequence[int], ids: Sequence[Any]
) -> tuple[list[Any], list[int], str]:
    """Return the samples after the rule, the indices of the questions that are scored, and a note.

    The rule "incorrect" replaces missing samples: an answer stays as it was written, or is an empty
    text. "drop" leaves them None, so that other samples keep their places, and leaves out questions
    without any other sample. `question_of` has the index of the question of each sample.
    """
    title, layout, missing = reading.table.title, reading.table.layout, reading.options.missing
    samples, every = list(reading.samples["samples"]), list(range(len(ids)))
    if None not in samples and len({*question_of}) == len(ids):
        return samples, every, ""
    numbers = _Numbers(reading, question_of, len(ids))
    rule = missing or (layout.missing if layout else "")
    why = f", {layout.why}" if layout and layout.why else ""
    if missing != "drop":
        _refuse_undecided(reading, numbers, ids, rule)
    if rule == "incorrect":
        note = f"{sum(numbers.missing)} of them missing{why}, counted as incorrect"
        return _filled(samples, reading.samples.get("written")), every, note
    kept = np.flatnonzero(numbers.missing < numbers.total).tolist()
    if not kept:
        number = sum(numbers.missing)
        raise ValueError(f"{title} has no sample that is scored: all {number} are missing.")
    others = sum(numbers.missing[kept])
    notes = [f"{others} more not scored{why}"] if others else []
    if empty := [text_of_ids(ids[question]) for question in numbers.empty]:
        left = f"{len(empty)} of {len(ids)} questions have no sample that is scored, and are left"
        warnings.warn(f"{title}: {left} out: {first_entries(empty, 10)}.", stacklevel=2)
        notes.append(f"{left} out")
    return samples, kept, "; ".join(notes)


def _filled(samples: Sequence[Any], written: Sequence[Any] | None) -> list[Any]:
    """Return samples with incorrect ones for those that are None.

    An answer stays as it was `written`, or is an empty text; without `written`, samples are graded.
    """
    fills: Iterable[Any] = itertools.repeat(False, len(samples))
    if written is not None:
        fills = (x if isinstance(x, str) else "" for x in written)
    return [fill if x is None else x for x, fill in zip(samples, fills, strict=True)]


class _Numbers:
    """The numbers of samples of each question.

    Attributes:
        written: how many the source has.
        total, missing: how often these, and those that are missing, occur.
        empty: the indices of the questions of which all samples are missing.
        means: the mean outcome if missing samples are incorrect, and if they are left out; or ()
            if outcomes are no numbers, or are very large ones.
    """

    def __init__(self, reading: Reading, question_of: Sequence[int], size: int) -> None:
        samples, multiplicity = reading.samples["samples"], np.ones(len(question_of), int)
        if "multiplicities" in reading.samples and not reading.has_lists:
            multiplicity = np.array(reading.samples["multiplicities"], int)
        is_missing = np.array([x is None for x in samples], bool)
        self.written = np.bincount(question_of, minlength=size)
        self.total = np.bincount(question_of, multiplicity, size).astype(int)
        self.missing = np.bincount(question_of, multiplicity * is_missing, size).astype(int)
        self.empty = np.flatnonzero(self.missing == self.total).tolist()
        self.means: Sequence[float] = ()
        are_small = all(
            x is None or (isinstance(x, (int, float)) and abs(x) <= _LARGEST_SHOWN) for x in samples
        )
        if are_small and any(self.missing < self.total) and any(self.missing):
            outcomes = np.array([x or 0 for x in samples], float) * multiplicity
            sums = np.bincount(question_of, outcomes, size)
            sizes = self.total, self.total - self.missing
            self.means = [np.mean(sums[n > 0] / n[n > 0]) for n in sizes]


def _refuse_undecided(reading: Reading, numbers: _Numbers, ids: Sequence[Any], rule: str) -> None:
    """Raise a MissingError that asks how missing samples count, unless `rule` decides it.

    The rule "incorrect" does not if a question has an empty list, or if outcomes are below 0, so
    that 0 is no failure. The rule "drop" of a layout does not if a question would be left out.
    """
    noun = "answer" if "written" in reading.samples else "outcome"
    rewards = [x for x in reading.samples["samples"] if isinstance(x, (int, float))]
    why = ""
    if not all(numbers.written):
        why = "Their number is unknown"
    elif noun == "outcome" and min(rewards, default=0) < 0:
        why = "Some rewards are below 0"
    if (rule == "drop" and not numbers.empty) or (rule == "incorrect" and not why):
        return
    title = [f"{reading.table.title}: ", *_missing_in_words(numbers, ids, rule, noun)]
    if why:
        remedy = f"{why}: write those that are missing, or 'drop' leaves them out."
        raise MissingError([*title, f". {remedy}"], [Way({"missing": "drop"})])
    remedy = "'incorrect' counts them as incorrect, and 'drop' leaves them out"
    if noun == "outcome" and numbers.means:
        remedy += ": the mean outcome is {:.4g} or {:.4g}".format(*numbers.means)
    ways = [Way({"missing": choice}) for choice in CHOICES]
    raise MissingError([*title, f". {remedy}."], ways)


def _missing_in_words(
    numbers: _Numbers, ids: Sequence[Any], rule: str, noun: str
) -> list[str | Index]:
    """Return the parts of a clause about the samples that `rule` does not settle.

    `noun` is what they are. Questions without ids are named by their index.
    """

    def name(index: Any) -> str | Index:
        key = ids[int(index)]
        return Index(key) if isinstance(key, int) else text_of_ids(key)

    if not all(numbers.written):
        lacking = name(np.argmin(numbers.written))
        return ["question ", lacking, " has no sample, and nothing says how many are missing"]
    if rule == "drop":
        others = f", and {len(numbers.empty) - 1} more" if len(numbers.empty) > 1 else ""
        return ["question ", name(numbers.empty[0]), f" has no {noun} that is scored{others}"]
    counted = f"{sum(numbers.missing)} of {sum(numbers.total)} {noun}s"
    first = name(np.argmax(numbers.missing > 0))
    return [f"{counted} are missing, the first of question ", first]


def text_of_ids(key: Any) -> str:
    """Return an id, which is a text or a tuple of texts, as one text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
