"""The outcomes of runs, from matrices of outcomes or from what `at_k.read` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..checks import short
from ..inputs.columns import flat_samples, given_per_question
from ..inputs.graded import Labels
from ..inputs.named_checkers import read_answers
from ..inputs.outcomes import Outcomes, read_outcomes
from ..inputs.parsing import has_references, prediction_column, reference_column
from ..inputs.run_checker import Checker, outcomes_of, validate_checker


class Run(NamedTuple):
    """The outcomes of a run.

    Args:
        name: for messages and tables.
        outcomes: of its samples.
        answers: (S,) the code of the answer of each sample, or None if samples are outcomes.
    """

    name: str
    outcomes: Outcomes
    answers: np.ndarray | None = None

    def of_questions(self, rows: Sequence[int] | np.ndarray) -> Run:
        """The run on these questions, in this order."""
        outcomes, sizes = self.outcomes, self.outcomes.sizes
        starts, sizes = (np.cumsum(sizes) - sizes)[rows], sizes[rows]
        index = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        answers = None if self.answers is None else self.answers[index]
        subset = replace(
            outcomes,
            values=outcomes.values[index],
            sizes=sizes,
            scored=None if outcomes.scored is None else outcomes.scored[index],
            times=None if outcomes.times is None else outcomes.times[index],
        )
        return Run(self.name, subset, answers)


class Ungraded(NamedTuple):
    """A run whose samples have not been checked.

    Args:
        name: for messages and tables.
        n: (M,) number of samples of each question that are not missing.
        outcomes: of the samples, or None if there are columns.
        columns: predictions and references, or None.
    """

    name: str
    n: np.ndarray
    outcomes: Outcomes | None
    columns: tuple[pa.ChunkedArray, pa.ChunkedArray] | None

    @property
    def references(self) -> pa.ChunkedArray | None:
        """What the samples are to be checked against, or None if they are outcomes."""
        if self.columns is None or not has_references(self.columns[1]):
            return None
        return self.columns[1]


def parse_run(name: str, source: Any, labels: Labels | None = None) -> Ungraded:
    """Read a run without checking its samples.

    Args:
        name: for messages and tables.
        source: outcomes as the functions take them; or a dict with predictions and, if these are
            to be checked, references, as `at_k.read` returns it.
        labels: labels that stand for outcomes, and the number of each.

    Raises:
        ValueError: if it has another form, with the name of the run.
    """
    try:
        if not is_read_result(source):
            outcomes = read_outcomes(source, name, labels)
            return Ungraded(name, outcomes.n, outcomes, None)
        predictions = prediction_column(source["predictions"])
        references = reference_column(source.get("references"), len(predictions))
        return Ungraded(name, given_per_question(predictions), None, (predictions, references))
    except ValueError as error:
        raise _with_name(name, error) from error


def is_read_result(source: Any) -> bool:
    """Whether a run is a dict of predictions, as `at_k.read` returns it."""
    return isinstance(source, Mapping) and "predictions" in source


def grade_runs(
    runs: Sequence[Ungraded],
    checker: Checker = "exact_match",
    num_proc: int | None = None,
    labels: Labels | None = None,
    executor: Executor | None = None,
) -> list[Run]:
    """Check the samples of runs.

    Args:
        runs: to be checked.
        checker: what to check samples with that have references.
        num_proc: number of processes to check in.
        labels: labels that stand for outcomes, and the number of each.
        executor: what to check in, in place of processes.

    Raises:
        ValueError: if a sample or a reference cannot be checked, with the name of the run.
    """
    validate_checker(checker, num_proc, executor)  # also if it is not used
    if checker != "exact_match" and all(run.references is None for run in runs):
        raise ValueError(
            "check_correct_fn is given, but no run has references to check against: a run with "
            "references is a dict of predictions and references, as at_k.read returns it."
        )
    return [_grade(run, checker, num_proc, labels, executor) for run in runs]


def _grade(
    run: Ungraded,
    checker: Checker,
    num_proc: int | None,
    labels: Labels | None,
    executor: Executor | None,
) -> Run:
    if run.columns is None:
        assert run.outcomes is not None
        return Run(run.name, run.outcomes)
    predictions, references = run.columns
    try:
        if run.references is None:
            return Run(run.name, outcomes_of(predictions, references, labels=labels))
        outcomes = outcomes_of(predictions, references, checker, num_proc, executor, labels=labels)
        answers = read_answers(flat_samples(predictions)[0], checker)
        return Run(run.name, outcomes, answers)
    except ValueError as error:
        raise _with_name(run.name, error) from error


def check_same_questions(runs: Sequence[Ungraded]) -> None:
    """Raise a ValueError, with the names of the runs, unless all have the same questions.

    Their numbers have to be equal, and so have the references of runs that have some.
    """
    first = runs[0]
    for run in runs[1:]:
        if len(run.n) != len(first.n):
            raise ValueError(
                f"{first.name} has {len(first.n)} questions and {run.name} has {len(run.n)}: give "
                f"the same questions in all runs."
            )
    references = [
        (run.name, run.references.to_pylist()) for run in runs if run.references is not None
    ]
    for name, entries in references[1:]:
        other, others = references[0]
        for question, (ours, theirs) in enumerate(zip(entries, others, strict=True)):
            if ours != theirs:
                raise ValueError(
                    f"Question {question} has the reference {short(theirs)} in {other} and "
                    f"{short(ours)} in {name}: give the same questions in the same order."
                )


def _with_name(name: str, error: ValueError) -> ValueError:
    message = str(error)
    return ValueError(message if message.startswith(name) else f"{name}: {message}")
