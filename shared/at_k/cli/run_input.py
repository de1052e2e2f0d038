"""What a run was read from: its questions with their samples, and their checker."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..core.checking import Checked, Checking
from ..core.checks import InputError, Place, short
from ..core.choice import KnownClusters
from ..core.computation import SampledQuestions
from ..core.counts import sums_per_question
from ..core.samples import Samples, read_samples, sample_place
from ..readers.missing import text_of_ids
from ..readers.run import Run as ReadRun
from ..readers.words import KNOWN_WORDS, WORDS, word
from ..runs.outcomes_of_runs import naming_questions
from .formats import number_of


@dataclass
class RunInput:
    """The questions of a run as `at_k.read` returned them, and how they are scored.

    `name` is the name of the run or of its file. `unanswered` is the number of samples in which the
    checker found no answer. `interval` is the name of the interval, or None.
    """

    questions: ReadRun
    check_correct_fn: str | Callable[..., Any] = "exact_match"
    name: str = ""
    unanswered: int = 0
    interval: str | None = "questions"

    @property
    def checker(self) -> str | None:
        """The name of the checker, or None if the samples were graded before."""
        columns, checker = self.questions.columns, self.check_correct_fn
        if "references" not in columns or "outcomes" in columns:
            return None
        if isinstance(checker, str):
            return checker
        return getattr(checker, "__name__", type(checker).__name__)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of samples of each of M questions, without missing ones, (M,)."""
        samples = read_samples(self.questions["predictions"])
        return sums_per_question(samples.weights, samples.sizes)

    @property
    def caption(self) -> dict[str, Any]:
        """A dict of "questions" (their number), "n" (samples of each, 3 or "3 to 4"), "checker"."""
        least, most = int(self.sizes.min()), int(self.sizes.max())
        n = most if least == most else f"{least} to {most}"
        return {"questions": len(self.sizes), "n": n, "checker": self.checker}

    def described(self, row: str = "question", noun: str = "sample") -> str:
        """Return a sentence about what was read. It calls questions `row`, and samples `noun`."""
        # A column leaves this dict when the text names it. The others are listed at the end.
        columns, questions = dict(self.questions.columns), self.questions
        if self.interval != "questions" and isinstance(questions.get("clusters"), KnownClusters):
            del columns["clusters"]  # Nothing in the output uses them.
        text, number = "", len(questions.files)
        if number > 1:
            text = f"{number} files as parts of one run: "
        if questions.origin:
            (_, harness), *details = questions.origin.items()
            text += ", ".join([harness, *(f"{name} {value}" for name, value in details)]) + ": "
        text += f"{number_of(len(self.sizes), row)}, {number_of(self.caption['n'], noun)} each"
        text += f" ({questions.missing})" if questions.missing else ""
        text += self._source_of_outcomes(columns)
        for role, column in columns.items():
            text += f"; {f'{row}s' if role == 'questions' else role} from {column}"
        return f"{text}."

    def _source_of_outcomes(self, columns: dict[str, Any]) -> str:
        """Return a clause about the columns with the outcomes, and remove them from `columns`."""
        text, counts = "", columns.pop("counts", None)
        if "n" in columns:
            text += f", counted in {columns.pop('n')} and {columns.pop('correct')}"
        if "predictions" in columns and {"outcomes", "references"} & columns.keys():
            text += f" in {columns.pop('predictions')}"
        if graded := columns.pop("outcomes", None) or columns.pop("predictions", None):
            text += f", already graded in {graded}"
        elif "references" in columns:
            text += f", checked against {columns.pop('references')} with {self.checker}"
            if self.unanswered:
                text += f" ({self.unanswered} without an answer, incorrect)"
        if counts:
            names = counts if isinstance(counts, str) else ", ".join(counts.values())
            text += f", counted in {names}"
        return text


def checker_of_all(runs: Sequence[RunInput]) -> str | None:
    """Return the name of the checker that all runs have in common, or None if there is none."""
    checkers = {run.checker for run in runs}
    return checkers.pop() if len(checkers) == 1 else None


@dataclass(frozen=True)
class CheckedOnce(SampledQuestions):
    """Samples that are checked at most once. `checks` is a list of the result, or is empty."""

    checks: list[Checked] = field(default_factory=list)

    def check(self, checking: Checking) -> Checked:
        """Check the samples in the first call. Later calls return its result for any `checking`."""
        if not self.checks:
            self.checks.append(super().check(checking))
        return self.checks[0]


def refuse_ungraded(questions: ReadRun) -> None:
    """Raise an InputError for a text sample if neither references nor outcomes can grade it."""
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    problem = (
        "sample {} in {}, and there is nothing to check it against: name the column of "
        "references, or a file of them, with --references. Or name outcomes with --outcomes."
    )
    known: Collection[str] = ()
    if columns.get("outcomes"):
        known = WORDS
        problem = (
            "outcome {} in {}: name those that are correct with --correct-values. Without it, "
            f"outcomes are {KNOWN_WORDS}."
        )
    column = columns.get("outcomes") or columns.get("predictions")
    for question, samples in enumerate(predictions):
        for sample in samples if isinstance(samples, list) else [samples]:
            if isinstance(sample, str) and word(sample) not in known:
                text = problem.format(short(sample), column)
                with naming_questions(questions):
                    raise InputError(Place("Question", question), f" has the {text}")


def warn_of_other_grades(questions: ReadRun, outcomes: Samples) -> None:
    """Warn if the grades in a harness's log, if there are any, differ from the outcomes here."""
    if questions.grades is None:
        return
    # A list may have fewer or more grades than the question has samples.
    grades: list[Any] = []
    for grades_of_question, n in zip(questions.grades, outcomes.sizes.tolist(), strict=True):
        grades += [*grades_of_question, *[None] * n][:n]
    compared = [
        sample
        for sample in np.flatnonzero(outcomes.is_scored).tolist()
        if isinstance(grades[sample], (int, float))
    ]
    differing = [sample for sample in compared if grades[sample] != outcomes.values[sample]]
    if not differing:
        return
    place = sample_place("", outcomes.sizes, differing[0])
    name = text_of_ids(questions.ids[place.question] if questions.ids else place.question)
    warnings.warn(
        f"The log grades {len(differing)} of {len(compared)} samples otherwise than the checker "
        f"does, such as question {name}, sample {place.sample} ({grades[differing[0]]:g} there, "
        f"{outcomes.values[differing[0]]:g} here).",
        stacklevel=2,
    )
