"""What was read for a run: its questions, their samples, and how these are checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.checks import InputError, short
from ..core.samples import read_samples
from ..readers.run import Run as Questions
from .formats import number_of


@dataclass(frozen=True)
class RunInput:
    """The questions of a run.

    Args:
        questions: that were read.
        check_correct_fn: the checker of their samples.
        name: of the run, or of its file.
    """

    questions: Questions
    check_correct_fn: str | Callable[..., Any] = "exact_match"
    name: str = ""

    @property
    def checker(self) -> str | None:
        """The name of the checker, or of its type; None if the samples were graded before."""
        columns, checker = self.questions.columns, self.check_correct_fn
        if "references" not in columns or "outcomes" in columns:
            return None
        if isinstance(checker, str):
            return checker
        return getattr(checker, "__name__", type(checker).__name__)

    @cached_property
    def sizes(self) -> np.ndarray:
        """(M,) the number of samples of each question that are not missing."""
        samples = read_samples(self.questions["predictions"])
        return samples.number_where(samples.scored_or_none)

    @property
    def caption(self) -> dict[str, Any]:
        """What the caption of a chart says about the run."""
        least, most = int(self.sizes.min()), int(self.sizes.max())
        n = most if least == most else f"{least} to {most}"
        return {"questions": len(self.sizes), "n": n, "checker": self.checker}

    def described(self, row: str = "question", noun: str = "sample") -> str:
        """Return a sentence that says what was read, from which columns, and how it was checked.

        Args:
            row: what a question is called.
            noun: what a sample is called.
        """
        columns, sizes = dict(self.questions.columns), self.caption["n"]
        text = f"{number_of(len(self.sizes), row)}, {number_of(sizes, noun)} each"
        if self.questions.missing:
            text += f" ({self.questions.missing})"
        counts = columns.pop("counts", None)
        if "n" in columns:
            text += f", counted in {columns.pop('n')} and {columns.pop('correct')}"
        if "predictions" in columns and {"outcomes", "references"} & columns.keys():
            text += f" in {columns.pop('predictions')}"
        if graded := columns.pop("outcomes", None) or columns.pop("predictions", None):
            text += f", already graded in {graded}"
        elif "references" in columns:
            text += f", checked against {columns.pop('references')} with {self.checker}"
        if counts:
            names = counts if isinstance(counts, str) else ", ".join(counts.values())
            text += f", counted in {names}"
        for role, column in columns.items():
            text += f"; {role} from {column}"
        if self.questions.origin:
            (_, harness), *details = self.questions.origin.items()
            named = [harness, *(f"{detail} {value}" for detail, value in details)]
            text = f"{', '.join(named)}: {text}"
        return f"{text}."


@contextlib.contextmanager
def naming_questions(questions: Questions) -> Iterator[None]:
    """Add to an error the id of its question."""
    try:
        yield
    except InputError as error:
        place, ids = error.place, questions.ids or ()
        if place is None or place.question >= len(ids):  # of another run
            raise
        entry, column = short(ids[place.question]), questions.columns["questions"]
        text = f" Question {place.question} has the {column} {entry}."
        raise InputError(*error.args, text) from error


def checker_of_all(runs: Sequence[RunInput]) -> str | None:
    """Return the name of the checker of all runs, or None if they differ."""
    checkers = {run.checker for run in runs}
    return checkers.pop() if len(checkers) == 1 else None
