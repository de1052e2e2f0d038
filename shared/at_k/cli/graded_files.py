"""The runs in files, read and graded: what compare, gate and plan start from."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checking import Checker, Checking
from ..core.checks import InputError, Place, short
from ..readers.run import Run as Questions
from ..readers.run import read_run
from ..readers.table import SelectionError, Way
from ..readers.words import KNOWN_WORDS, WORDS, word
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import (
    Run,
    check_same_questions,
    grade_runs,
    in_order,
    orders_of,
    parse_run,
    read_labels,
    with_errors,
)
from .run_input import RunInput, naming_questions, warn_of_other_grades

ROLES_OF_SECOND = ("predictions", "outcomes", "references", "questions", "where")
"""What may differ for the second file: the names of its columns, and which of its rows are read."""


@dataclass(frozen=True)
class CheckerFlags:
    """How samples are checked, and what is known about the errors of the checker.

    Args:
        check_correct_fn: the checker of all runs.
        num_proc: number of processes to check in.
        rates: its true-positive and false-positive rate, or None.
        label_counts: the counts of the labels of a single run, or None: labels are in a column.
    """

    check_correct_fn: Checker = "exact_match"
    num_proc: int | None = None
    rates: Sequence[float] | None = None
    label_counts: Mapping[str, int] | None = None

    @classmethod
    def taken_from(cls, parameters: dict[str, Any]) -> CheckerFlags:
        """Take them out of the parameters of a subcommand."""
        return cls(
            parameters.pop("check_correct_fn", "exact_match"),
            parameters.pop("num_proc", None),
            parameters.pop("checker_rates", None),
            parameters.pop("labels", None),
        )


def graded_files(
    sources: Mapping[str, Sequence[str]],
    reading: Mapping[str, Any],
    checker: CheckerFlags,
    options: ComparisonOptions,
    of_second: Mapping[str, Any] | None = None,
) -> tuple[list[RunInput], list[Run], ComparisonOptions]:
    """Return the runs of a comparison as they were read, and graded; and its options.

    Groups, clusters and weights are those of the first run.

    Args:
        sources: the files of each run, by the names of the runs.
        reading: arguments of `read_run`.
        checker: of all runs.
        options: of the comparison.
        of_second: arguments of `read_run` that differ for the second run.
    """
    reading = dict(reading)
    if reading.get("groups") is None:
        reading.pop("groups", None)
    names, (files, *others) = list(sources), sources.values()
    first = _read_files(files, reading)
    for role in ("groups", "clusters", "question_weights"):
        reading.pop(role, None)
    reading |= of_second or {}
    own_flags = ROLES_OF_SECOND if of_second is not None else ()
    runs = [first, *(_read_files(files, reading, own_flags) for files in others)]
    inputs = [
        RunInput(questions, checker.check_correct_fn, name)
        for name, questions in zip(names, runs, strict=True)
    ]
    if "clusters" in first:
        options.clusters = first["clusters"]  # refused by an interval that does not use them
    options = options.with_those_of(first)
    return inputs, graded_runs(inputs, checker, options, bool(reading.get("by_order"))), options


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], own_flags: Collection[str] = ()
) -> Questions:
    """Read the questions of a run; an error about its columns names its file and its flags.

    Args:
        files: of the run.
        reading: arguments of `read_run`.
        own_flags: roles whose flags end in -b for these files.
    """

    def flag(role: str) -> str:
        return f"{role}_b" if role in own_flags else role

    try:
        return read_run(files, **reading)
    except SelectionError as error:
        ways = [
            Way({flag(role): x for role, x in way.arguments.items()}, way.meaning)
            for way in error.ways
        ]
        start = "" if files[0] in str(error) else f"{files[0]}: "
        problem = [start, *error.args]
        raise type(error)(problem, ways) from None


def graded_runs(
    inputs: Sequence[RunInput],
    checker: CheckerFlags,
    options: ComparisonOptions | None,
    by_order: bool,
) -> list[Run]:
    """Return the runs with their outcomes, all with the questions in the order of the first.

    Args:
        inputs: what was read for each run.
        checker: of all runs.
        options: of a comparison, which is validated before any sample is checked; None for a plan.
        by_order: whether questions without ids are in the same order.
    """
    counts = checker.label_counts
    if counts is not None and len(inputs) != 1:
        raise ValueError(
            f"--labels has counts, which are those of one run, and there are {len(inputs)} runs: "
            f"name a column with the labels of each run."
        )
    labels = None if options is None else options.verdicts
    parsed = []
    for run in inputs:
        with naming_questions(run.questions):
            if labels is None:
                refuse_ungraded(run.questions, checker.check_correct_fn != "exact_match")
            parsed.append(parse_run(run.name, run.questions, labels))
    orders = orders_of([run.name for run in inputs], [run.questions for run in inputs], by_order)
    check_same_questions(parsed, orders)
    if options is not None:
        sizes = {run.name: run.n[order] for run, order in zip(parsed, orders, strict=True)}
        with naming_questions(inputs[0].questions):
            options.for_samples(sizes)
    checking = Checking(checker.check_correct_fn, checker.num_proc, labels=labels)
    with contextlib.redirect_stdout(sys.stderr):  # a checker cannot print among the scores
        graded = grade_runs(parsed, checking)
    for run, checked in zip(inputs, graded, strict=True):
        warn_of_other_grades(run.questions, checked.outcomes, run.name)
    labels_of_runs: Any = [counts]
    if counts is None:
        labels_of_runs = read_labels(run.questions for run in inputs)
    return in_order(with_errors(graded, checker.rates, labels_of_runs), orders)


def refuse_ungraded(questions: Questions, checked: bool) -> None:
    """Raise a ValueError if samples are texts, and nothing says which are correct.

    Args:
        questions: that were read.
        checked: whether the caller gives a checker, for which samples may be numbers too.
    """
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    for question, samples in enumerate(predictions):
        for sample in samples if isinstance(samples, list) else [samples]:
            if not isinstance(sample, str) and not (checked and "predictions" in columns):
                continue
            place = Place("Question", question)
            if column := columns.get("outcomes"):
                if word(sample) in WORDS:
                    continue  # a later one is unknown
                raise InputError(
                    place,
                    f" has the outcome {short(sample)} in {column}: name those that are correct "
                    f"with --correct-values. Without it, outcomes are {KNOWN_WORDS}.",
                )
            raise InputError(
                place,
                f" has the sample {short(sample)} in {columns.get('predictions')}, and there is "
                f"nothing to check it against: name the column of references, or a file of them, "
                f"with --references.",
            )
