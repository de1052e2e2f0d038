"""Reading and grading the runs in files, for the subcommands compare, gate and plan."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.checks import InputError, Place, short
from ..readers.run import Run as ReadRun
from ..readers.run import read_run
from ..readers.table import SelectionError, Way
from ..readers.words import KNOWN_WORDS, WORDS, word
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import Run, grade_sources, naming_questions
from .flags import ROLES_OF_SECOND, split_arguments
from .run_input import RunInput

_ROLES_OF_QUESTIONS = {"groups", "clusters", "question_weights"}
"""Roles that only the first of several runs needs to have."""

# What helps, by the role of the column that the second file lacks.
_REMEDIES_OF_SECOND = {
    "where": " To read all rows of this file, add --where-b ''.",
    "predictions": " If it is graded: --predictions-b '' --references-b '' --outcomes-b COLUMN.",
}


class FileArguments(NamedTuple):
    """The values of the flags of compare, gate or plan.

    `reading` are arguments of `read_run`, and `second` those that differ for the second run.
    `parameters` are the options of the comparison or plan. `labels` are counts of labels in place
    of a column. `common` is whether to compare only the questions that all runs have.
    """

    reading: dict[str, Any]
    parameters: dict[str, Any]
    second: dict[str, Any]
    checker_rates: Any
    labels: Mapping[str, int] | None
    common: bool | None


def file_arguments(flags: dict[str, Any], files: Sequence[str] = ()) -> FileArguments:
    """Return the values of flags by use. Raises ValueError if a run is compared with itself."""
    values = {role: flags.pop(f"{role}_b", None) for role in ROLES_OF_SECOND}
    second = {role: _without_empty(value) for role, value in values.items() if value is not None}
    paths = list(map(os.path.realpath, files))
    repeated = [file for file, path in zip(files, paths, strict=True) if paths.count(path) > 1]
    if repeated and all((flags.get(role) or None) == x for role, x in second.items()):
        raise ValueError(
            f"{shlex.quote(repeated[0])} is given twice, so a run would be compared with itself. "
            f"If it has two runs, say which rows are whose: --where model=A --where-b model=B."
        )
    reading, parameters = split_arguments(flags)
    if "include" in parameters:
        parameters["metric"] = parameters.pop("include")
    others = {name: parameters.pop(name, None) for name in ("checker_rates", "labels", "common")}
    return FileArguments(reading, parameters, second, **others)


def _without_empty(value: Any) -> Any:
    """Return the value of a flag without empty texts; None if nothing is left."""
    if isinstance(value, list):
        return [entry for entry in value if entry] or None
    return value or None


def graded_files(
    sources: Sequence[tuple[str, Sequence[str]]],
    arguments: FileArguments,
    options: ComparisonOptions,
) -> tuple[list[RunInput], list[Run], Any]:
    """Read and grade runs. Return the runs as they were read, the graded runs, and the options.

    `sources` are the name of each run, and its files. The options are validated before any sample
    is checked. If they lack groups, clusters or weights that apply, those that are returned have
    the ones that the files were read with, which must agree between runs.
    """
    reading, labels = arguments.reading, arguments.labels
    if labels is not None and len(sources) != 1:
        raise ValueError(
            f"--labels has the counts of one run, and there are {len(sources)} runs: name a column "
            f"with the labels of each run."
        )
    read = _read_runs(sources, arguments, options)
    if options.interval != "questions" and arguments.reading.get("clusters"):
        # `grade_sources` sets clusters for "questions" only. With another interval, clusters that
        # the user named are set here so that the validation refuses them.
        options.clusters = read[0][1].get("clusters")
    # What a checker prints goes to standard error, so that it does not mix with the scores.
    with contextlib.redirect_stdout(sys.stderr):
        runs, options = grade_sources(
            read,
            options,
            arguments.checker_rates,
            None if labels is None else [labels],
            bool(reading.get("by_order")),
            bool(arguments.common),
        )
    inputs = [
        RunInput(run.source, options.check_correct_fn, run.name, run.unanswered, options.interval)
        for run in runs
    ]
    return inputs, runs, options


def _read_runs(
    sources: Sequence[tuple[str, Sequence[str]]],
    arguments: FileArguments,
    options: ComparisonOptions,
) -> list[tuple[str, ReadRun]]:
    """Return the name and the questions of each run. The arguments are those of `graded_files`."""
    # The value None stands for a column with a usual name. These roles need a named column.
    named_only = {"groups"} if options.interval == "questions" else {"groups", "clusters"}
    values = arguments.reading.items()
    reading = {role: x for role, x in values if x is not None or role not in named_only}
    read: list[tuple[str, ReadRun]] = []
    for name, files in sources:
        questions = _read_files(files, reading, len(read), len(sources))
        read.append((name, questions))
        reading = reading | arguments.second  # for the next run
        if options.checking.labels is None:
            with naming_questions(questions):
                refuse_ungraded(questions)
    return read


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], index: int, number: int
) -> ReadRun:
    """Read the questions of one of `number` runs, the run with this index, from its files.

    If a run after the first lacks the column of groups, clusters or weights, it is read without. A
    SelectionError names the file. For the second of two, the flags in its ways end in -b.
    """
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        if index and error.roles and error.roles <= _ROLES_OF_QUESTIONS:
            others = {role: value for role, value in reading.items() if role not in error.roles}
            return _read_files(files, others, index, number)
        start, ways, end = "" if files[0] in str(error) else f"{files[0]}: ", error.ways, ""
        if (index, number) == (1, 2):
            ways = list(map(_way_of_second, ways))
            end = _remedies_of_second([role for role in error.roles if reading.get(role)])
        elif index:
            end = " If other files have other columns, at_k.leaderboard takes runs of at_k.read."
        raise type(error)([start, *error.args, end], ways) from None


def _remedies_of_second(roles: Sequence[str]) -> str:
    """Return sentences about what helps if a second file lacks the named columns of these roles."""
    return "".join(text for role, text in _REMEDIES_OF_SECOND.items() if role in roles)


def _way_of_second(way: Way) -> Way:
    """Return a way to resolve an error with the flags of the second file, which end in -b."""
    names = {role: f"{role}_b" for role in ROLES_OF_SECOND}
    arguments = {names.get(role, role): value for role, value in way.arguments.items()}
    return Way(arguments, way.meaning)


def refuse_ungraded(questions: ReadRun) -> None:
    """Raise an InputError if a sample is a text, and nothing says whether it is correct."""
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    outcomes = columns.get("outcomes")
    for question, samples in enumerate(predictions):
        for sample in samples if isinstance(samples, list) else [samples]:
            if not isinstance(sample, str) or (outcomes and word(sample) in WORDS):
                continue
            if outcomes:
                problem = (
                    f"outcome {short(sample)} in {outcomes}: name those that are correct with "
                    f"--correct-values. Without it, outcomes are {KNOWN_WORDS}."
                )
            else:
                problem = (
                    f"sample {short(sample)} in {columns.get('predictions')}, and there is nothing "
                    f"to check it against: name the column of references, or a file of them, with "
                    f"--references. Or name outcomes with --outcomes."
                )
            raise InputError(Place("Question", question), f" has the {problem}")
