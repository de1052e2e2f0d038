"""The runs in files, read and graded: what compare, gate and plan start from."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.checks import InputError, Place, short
from ..readers.run import Run as ReadRun
from ..readers.run import read_run
from ..readers.table import SelectionError, Way
from ..readers.words import KNOWN_WORDS, WORDS, word
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import (
    Run,
    grade_sources,
    in_one_order,
    naming_questions,
    read_labels,
    shared_by,
)
from .flags import condition, split_arguments
from .run_input import RunInput

ROLES_OF_SECOND = ("predictions", "outcomes", "references", "questions", "where")
"""What may differ for the second file: the names of its columns, and which of its rows are read."""
_OF_QUESTIONS = {"groups", "clusters", "question_weights"}


def add_second_flags(command: argparse.ArgumentParser, what: str) -> None:
    """Add the flags that end in -b, for a second file: `what` says which it is."""
    second = command.add_argument_group(f"columns and rows of {what}, if they differ")
    for role in ROLES_OF_SECOND:
        options: dict[str, Any] = {"metavar": "COLUMN"}
        text = f"as --{role}."
        if role == "questions":
            options["nargs"] = "+"
        elif role == "predictions":
            options["action"] = "append"
        elif role == "where":
            options = {"metavar": "COLUMN=VALUE", "type": _condition_or_none, "action": "append"}
            text = "as --where; '' for all rows."
        second.add_argument(f"--{role}-b", help=text, **options)


def _condition_or_none(text: str) -> tuple[str, str] | None:
    """Return the column and the entry of COLUMN=VALUE; None for an empty text."""
    return condition(text) if text else None


def second_arguments(flags: dict[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """Remove the flags that end in -b; return the arguments of `read_run` that they are.

    Raises:
        ValueError: if two files are one, and no flag says what differs.
    """
    second = {role: x for role in ROLES_OF_SECOND if (x := flags.pop(f"{role}_b")) is not None}
    if "where" in second:
        second["where"] = [pair for pair in second["where"] if pair is not None]
    if len({*files}) < len(files) and not second:
        file = shlex.quote(next(file for file in files if files.count(file) > 1))
        raise ValueError(
            f"{file} is given twice, so a run would be compared with itself. If it has two runs, "
            f"say which rows are whose: --where model=A --where-b model=B."
        )
    return second


def comparison_arguments(
    flags: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the arguments of `read_run`, those of the options, and further ones of `graded_files`.

    The last are checker_rates, labels and common. `flags` has the values of all flags, by the names
    of parameters.
    """
    reading, parameters = split_arguments(flags)
    if "include" in parameters:
        parameters["metric"] = parameters.pop("include")
    further = {x: parameters.pop(x, None) for x in ("checker_rates", "labels", "common")}
    return reading, parameters, further


def graded_files(
    sources: Sequence[tuple[str, Sequence[str]]],
    reading: Mapping[str, Any],
    options: ComparisonOptions,
    checker_rates: Sequence[float] | None = None,
    labels: Mapping[str, int] | None = None,
    common: bool | None = None,
    of_second: Mapping[str, Any] | None = None,
) -> tuple[list[RunInput], list[Run], Any]:
    """Return the runs of a comparison as they were read, and graded; and its options.

    Groups, clusters and weights are those of the first run. Other runs need not have them.

    Args:
        sources: the name of each run, and its files.
        reading: arguments of `read_run`.
        options: of the comparison, which are validated before any sample is checked.
        checker_rates: the true-positive and the false-positive rate of the checker.
        labels: numbers of a person's labels, such as {"tp": 90, "fn": 8, "fp": 3, "tn": 99}, of a
            single run without a column of labels.
        common: whether only the questions are compared that all runs have.
        of_second: arguments of `read_run` that differ for the second run.
    """
    if labels is not None and len(sources) != 1:
        raise ValueError(
            f"--labels has counts, which are those of one run, and there are {len(sources)} runs: "
            f"name a column with the labels of each run."
        )
    inputs = _read_runs(sources, reading, options, of_second)
    by_order = bool(reading.get("by_order"))
    pairs = [(run.name, run.questions) for run in inputs]
    questions, _ = in_one_order(pairs, by_order, bool(common))
    inputs = [replace(run, questions=own) for run, (_, own) in zip(inputs, questions, strict=True)]
    first = inputs[0].questions
    with naming_questions(first):
        shared_by(questions, "groups")
    if "clusters" in first:
        options.clusters = first["clusters"]  # refused by an interval that does not use them
    if options.checking.labels is None:
        for run in inputs:
            with naming_questions(run.questions):
                refuse_ungraded(run.questions)
    labels_of_runs: Any = read_labels(run for _, run in questions) if labels is None else [labels]
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
        questions = _read_files(files, reading, len(inputs), len(sources))
        inputs.append(RunInput(questions, options.check_correct_fn, name))
        reading = dict(reading) | dict(of_second or {})
    return inputs


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], index: int, number: int
) -> ReadRun:
    """Read the questions of a run; an error about its columns names its file and its flags.

    Args:
        files: of the run.
        reading: arguments of `read_run`.
        index: of the run.
        number: of all runs. The flags of the second of two end in -b.
    """
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        if index and error.roles and error.roles <= _OF_QUESTIONS:  # the first run has them
            rest = {role: x for role, x in reading.items() if role not in error.roles}
            return _read_files(files, rest, index, number)
        start, ways, end = "" if files[0] in str(error) else f"{files[0]}: ", error.ways, ""
        if (index, number) == (1, 2):
            ways = list(map(_way_of_second, ways))
            if "where" in error.roles:
                end = " To read all rows of this file, add --where-b ''."
        elif index:
            end = " If other files have other columns, at_k.leaderboard takes runs of at_k.read."
        raise type(error)([start, *error.args, end], ways) from None


def _way_of_second(way: Way) -> Way:
    """Return a way to settle an error with the flags of the second file."""
    arguments = {f"{x}_b" if x in ROLES_OF_SECOND else x: y for x, y in way.arguments.items()}
    return Way(arguments, way.meaning)


def refuse_ungraded(questions: ReadRun) -> None:
    """Raise a ValueError if samples are texts, and nothing says which are correct."""
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    outcomes = columns.get("outcomes")
    problem = (
        f"in {columns.get('predictions')}, and there is nothing to check it against: name the "
        f"column of references, or a file of them, with --references. Or name outcomes with "
        f"--outcomes."
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
