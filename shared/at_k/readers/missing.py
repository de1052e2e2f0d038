"""Find missing outcomes and answers, and count them as the caller or the rule of a tool says.

Without a rule, an error asks, because the scores differ: an attempt that broke off is a failure of
an agent, but a server that was down is no failure of a model.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

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

_MEANINGS = {"incorrect": "they count as incorrect", "drop": "they are left out"}
"""What each choice for missing samples means."""
CHOICES = tuple(_MEANINGS)

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
    """Return the indices of the rows that failed, as a text or code in a column such as `error`
    says, or "crashed" in one such as `status`. Columns in `used`, and those of a tool, are not
    searched."""
    failed: set[int] = set()
    for name, column in nested_columns(table).items() if table.layout is None else ():
        if name in used:
            continue
        if last_part(name) in usual.STATUSES:
            failed |= {row for row, cell in enumerate(column) if word(cell) in usual.BROKEN_OFF}
        elif not {*plain_name(name).split(".")}.isdisjoint(usual.ERRORS):
            failed |= _rows_with_error(name, column)
    return failed


def _rows_with_error(name: str, column: Sequence[Any]) -> set[int]:
    """Return the indices of the entries of a column of errors that are a text, or a code but 0.

    Numbers alone may measure something and do not count, unless the name ends in "code".
    """
    numbers = [number_in(entry) for entry in column]
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
    """Warn if answers are error messages of an API, in which checkers may read numbers."""
    texts = [answer for answer in answers if isinstance(answer, str)]
    messages = [text for text in texts if _MESSAGE_OF_API.fullmatch(text.strip())]
    if messages:
        warnings.warn(
            f"{len(messages)} of {len(texts)} answers in {shown_name(name)} are errors of an API, "
            f"such as {short(messages[0])}, and are read as answers. Write null for those that are "
            f"missing.",
            stacklevel=2,
        )


def missing_answers(table: Table, answers: Sequence[Any], references: Sequence[Any]) -> list[Any]:
    """Return the answers with None for missing ones: null, an empty cell of CSV, or a word such as
    nan that is the reference of no question."""
    texts = (reference for reference in flat(references) if isinstance(reference, str))
    words = MISSING_WORDS - {*map(word, texts)}

    def is_absent(answer: Any) -> bool:
        """Return whether an answer is missing."""
        if isinstance(answer, str):
            return word(answer) in words or (table.is_csv and answer == "")
        return is_missing(answer)

    return [None if is_absent(answer) else answer for answer in answers]


# --- How missing samples count ----------------------------------------------------------------


def settle_missing(
    reading: Reading, lists: Mapping[str, list[list[Any]]], ids: Sequence[Any]
) -> tuple[list[list[Any]], list[int], str]:
    """Return the samples after the rule, the indices of the questions that are scored, and a note.

    `lists` has a list for each question by role. "incorrect" replaces missing samples. "drop"
    leaves them None, so that others keep their places, and leaves out questions without others.
    """
    samples, every = lists["samples"], list(range(len(ids)))
    if all(samples) and not any(None in row for row in samples):
        return samples, every, ""
    questions, layout = _Questions(reading, lists, ids), reading.table.layout
    rule = reading.options.missing or (layout.missing if layout else "")
    why = f", {layout.why}" if layout and layout.why else ""
    if reading.options.missing != "drop":
        questions.refuse_undecided(rule)
    if rule == "incorrect":
        note = f"{sum(questions.missing)} of them missing{why}, counted as incorrect"
        return _filled(samples, lists.get("written")), every, note
    kept, note = questions.left_after_drop(why)
    return samples, kept, note


def _filled(samples: list[list[Any]], written: list[list[Any]] | None) -> list[list[Any]]:
    """Return samples with a wrong one for None: False among outcomes, where `written` is None.

    Among answers, it is the text in `written`, or "" if that is no text.
    """
    if written is None:
        return [[False if outcome is None else outcome for outcome in row] for row in samples]
    filled = [[*row] for row in samples]
    for row, texts in zip(filled, written, strict=True):
        for index, text in enumerate(texts):
            if row[index] is None:
                row[index] = text if isinstance(text, str) else ""
    return filled


class _Questions:
    """Questions of which samples are missing, with lists of an entry for each question.

    `counts` says how often each sample occurs, `total` and `missing` how many samples the question
    has, and how many of these are missing. `empty` are the indices of those without another one.
    """

    def __init__(
        self, reading: Reading, lists: Mapping[str, list[list[Any]]], ids: Sequence[Any]
    ) -> None:
        self.title, self.ids, self.samples = reading.table.title, ids, lists["samples"]
        self.noun = "answer" if "written" in lists else "outcome"
        self.counts = [[1] * len(row) for row in self.samples]
        if "multiplicities" in lists and not reading.has_lists:
            self.counts = lists["multiplicities"]
        self.total = list(map(sum, self.counts))
        rows = zip(self.samples, self.counts, strict=True)
        self.missing = [
            sum(n for sample, n in zip(row, counts, strict=True) if sample is None)
            for row, counts in rows
        ]
        pairs = enumerate(zip(self.total, self.missing, strict=True))
        self.empty = [question for question, (n, missing) in pairs if n == missing]

    def left_after_drop(self, why: str) -> tuple[list[int], str]:
        """Return the indices of the questions that have a scored sample, and a note."""
        kept = sorted({*range(len(self.ids))} - {*self.empty})
        if not kept:
            number = sum(self.missing)
            raise ValueError(
                f"{self.title} has no sample that is scored: all {number} are missing."
            )
        others = sum(self.missing[question] for question in kept)
        notes = [f"{others} more not scored{why}"] if others else []
        if empty := [text_of_ids(self.ids[question]) for question in self.empty]:
            counted = f"{len(empty)} of {len(self.ids)} questions"
            left = f"{counted} have no sample that is scored, and are left out"
            warnings.warn(f"{self.title}: {left}: {first_entries(empty, 10)}.", stacklevel=3)
            notes.append(left)
        return kept, "; ".join(notes)

    def refuse_undecided(self, rule: str) -> None:
        """Raise a MissingError that asks how missing samples count, unless `rule` decides it.

        The rule "incorrect" does not if a question has an empty list, or if outcomes are below 0,
        so that 0 is no failure. The rule "drop" of a layout does not if it leaves out a question.
        """
        why = self._why_unclear()
        if not self.empty if rule == "drop" else rule == "incorrect" and not why:
            return
        before, question, after = self._problem(rule)
        key = self.ids[question]  # an index, if the questions have no ids
        place = [before, Index(key) if isinstance(key, int) else text_of_ids(key), after]
        if why:
            remedy = f". {why}: write those that are missing, or leave them out."
            raise MissingError([*place, remedy], [Way({"missing": "drop"}, _MEANINGS["drop"])])
        ways = [Way({"missing": choice}, _MEANINGS[choice]) for choice in CHOICES]
        raise MissingError([*place, f"{self._means_in_words()}."], ways)

    def _why_unclear(self) -> str:
        """Return why a missing sample may be no incorrect one, as a sentence, or ""."""
        if not all(self.samples):
            return "Their number is unknown"
        numbers = (x for x in flat(self.samples) if isinstance(x, (int, float)))
        is_below_0 = self.noun == "outcome" and min(numbers, default=0) < 0
        return "Some rewards are below 0" if is_below_0 else ""

    def _means_in_words(self) -> str:
        """Return the clause of a message with the mean outcome for both choices, or ""."""
        known = [x for x in flat(self.samples) if x is not None]
        are_small = all(isinstance(x, (int, float)) and abs(x) <= _LARGEST_SHOWN for x in known)
        if self.noun != "outcome" or not known or not are_small:
            return ""
        as_incorrect, without = self._mean(drops=False), self._mean(drops=True)
        means = f"{as_incorrect:.4g} if they are incorrect, or {without:.4g} without them"
        return f"; the mean outcome is {means}"

    def _problem(self, rule: str) -> tuple[str, int, str]:
        """Return what `rule` does not decide: a question's index, and the texts around its id."""
        if not all(self.samples):
            after = " has no sample, and nothing says how many are missing"
            return f"{self.title}: question ", self.samples.index([]), after
        if rule == "drop":
            others = f", and {len(self.empty) - 1} more" if len(self.empty) > 1 else ""
            after = f" has no {self.noun} that is scored{others}"
            return f"{self.title}: question ", self.empty[0], after
        first = next(question for question, row in enumerate(self.samples) if None in row)
        counted = f"{sum(self.missing)} of {sum(self.total)} {self.noun}s are missing"
        return f"{self.title}: {counted}, the first of question ", first, ""

    def _mean(self, *, drops: bool) -> float:
        """Return the mean over questions of their mean outcome; missing ones are 0, or left out."""
        means = []
        for row, counts, total, missing in zip(
            self.samples, self.counts, self.total, self.missing, strict=True
        ):
            if size := total - missing * drops:
                outcomes = zip(row, counts, strict=True)
                means.append(sum(outcome * n for outcome, n in outcomes if outcome) / size)
        return fmean(means)


def text_of_ids(key: Any) -> str:
    """Return an id, which is a text or a tuple of texts, as one text."""
    return " ".join(map(entry_text, key)) if isinstance(key, tuple) else str(key)
