"""The runs in files, read and graded: what compare, gate and plan start from."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.checks import InputError, Place, short
from ..readers.run import Run as ReadRun
from ..readers.run import read_run
from ..readers.table import SelectionError, Way
from ..readers.words import KNOWN_WORDS, WORDS, word
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import Run, grade_sources, naming_questions, read_labels
from .flags import split_arguments
from .run_input import RunInput

ROLES_OF_SECOND = ("predictions", "outcomes", "references", "questions", "where")
"""What may differ for the second file: the names of its columns, and which of its rows are read."""
_OF_FIRST = ("groups", "clusters", "question_weights")


def comparison_arguments(
    flags: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the arguments of `read_run`, those of the options, and checker_rates and labels.

    `flags` has the values of all flags, by the names of parameters.
    """
    reading, parameters = split_arguments(flags)
    if "include" in parameters:
        parameters["metric"] = parameters.pop("include")
    errors = {name: parameters.pop(name, None) for name in ("checker_rates", "labels")}
    return reading, parameters, errors


def graded_files(
    sources: Sequence[tuple[str, Sequence[str]]],
    reading: Mapping[str, Any],
    options: ComparisonOptions,
    checker_rates: Sequence[float] | None = None,
    labels: Mapping[str, int] | None = None,
    of_second: Mapping[str, Any] | None = None,
) -> tuple[list[RunInput], list[Run], Any]:
    """Return the runs of a comparison as they were read, and graded; and its options.

    Groups, clusters and weights are read from the files of the first run alone.

    Args:
        sources: the name of each run, and its files.
        reading: arguments of `read_run`.
        options: of the comparison, which are validated before any sample is checked.
        checker_rates: the true-positive and the false-positive rate of the checker.
        labels: numbers of a person's labels, such as {"tp": 90, "fn": 8, "fp": 3, "tn": 99}, of a
            single run without a column of labels.
        of_second: arguments of `read_run` that differ for the second run.
    """
    if labels is not None and len(sources) != 1:
        raise ValueError(
            f"--labels has counts, which are those of one run, and there are {len(sources)} runs: "
            f"name a column with the labels of each run."
        )
    inputs = _read_runs(sources, reading, options, of_second)
    first = inputs[0].questions
    if "clusters" in first:
        options.clusters = first["clusters"]  # refused by an interval that does not use them
    if options.checking.labels is None:
        for run in inputs:
            with naming_questions(run.questions):
                refuse_ungraded(run.questions)
    questions = [(run.name, run.questions) for run in inputs]
    labels_of_runs: Any = read_labels(run for _, run in questions) if labels is None else [labels]
    by_order = bool(reading.get("by_order"))
    with contextlib.redirect_stdout(sys.stderr):  # a checker cannot print among the scores
        runs, options = grade_sources(questions, options, checker_rates, labels_of_runs, by_order)
    return inputs, runs, options


def _read_runs(
    sources: Sequence[tuple[str, Sequence[str]]],
    reading: Mapping[str, Any],
    options: ComparisonOptions,
    of_second: Mapping[str, Any] | None,
) -> list[RunInput]:
    """Read the questions of each run; the arguments are those of `graded_files`.

    Groups are read if they are named, clusters if the interval uses them.
    """
    # A role that is None would be read from a column with a usual name.
    unnamed = {"groups"} if options.interval == "questions" else {"groups", "clusters"}
    reading = {x: y for x, y in reading.items() if y is not None or x not in unnamed}
    inputs: list[RunInput] = []
    for name, files in sources:
        questions = _read_files(files, reading, is_second=bool(inputs) and of_second is not None)
        inputs.append(RunInput(questions, options.check_correct_fn, name))
        reading = {x: y for x, y in reading.items() if x not in _OF_FIRST} | dict(of_second or {})
    return inputs


def _read_files(files: Sequence[str], reading: Mapping[str, Any], is_second: bool) -> ReadRun:
    """Read the questions of a run; an error about its columns names its file and its flags.

    Args:
        files: of the run.
        reading: arguments of `read_run`.
        is_second: whether its flags end in -b.
    """
    own_flags = ROLES_OF_SECOND if is_second else ()
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        ways = [
            Way(
                {f"{x}_b" if x in own_flags else x: y for x, y in way.arguments.items()},
                way.meaning,
            )
            for way in error.ways
        ]
        start = "" if files[0] in str(error) else f"{files[0]}: "
        raise type(error)([start, *error.args], ways) from None


def refuse_ungraded(questions: ReadRun) -> None:
    """Raise a ValueError if samples are texts, and nothing says which are correct."""
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    outcomes = columns.get("outcomes")
    problem = (
        f"in {columns.get('predictions')}, and there is nothing to check it against: name the "
        f"column of references, or a file of them, with --references."
    )
    if outcomes:
        problem = (
            f"in {outcomes}: name those that are correct with --correct-values. Without it, "
            f"outcomes are {KNOWN_WORDS}."
        )
    what = "outcome" if outcomes else "sample"
    for question, samples in enumerate(predictions):
        for sample in samples if isinstance(samples, list) else [samples]:
            if isinstance(sample, str) and not (outcomes and word(sample) in WORDS):
                text = f" has the {what} {short(sample)} {problem}"
                raise InputError(Place("Question", question), text)
