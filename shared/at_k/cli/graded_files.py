"""Reading and grading the runs in files, for the subcommands compare, gate and plan."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from ..readers.run import Run as ReadRun
from ..readers.run import read_run
from ..readers.table import SelectionError, Way
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import Run, grade_sources, naming_questions
from .flags import ROLES_OF_SECOND, split_arguments
from .run_input import RunInput, refuse_ungraded

# What helps, by the role of the column that the second file lacks.
_REMEDIES_OF_SECOND = (
    ("where", " To read all rows of this file, add --where-b ''."),
    ("predictions", " If it is graded: --predictions-b '' --references-b '' --outcomes-b COLUMN."),
)


class FileArguments(NamedTuple):
    """The values of the flags of compare, gate or plan, by what they are for.

    `reading` are arguments of `read_run`, and `second` those that differ for the second run.
    `parameters` are the options of the comparison or plan, and `grading` the arguments of
    `grade_sources` that are no options: checker_rates, by_order and common.
    """

    reading: dict[str, Any]
    second: dict[str, Any]
    parameters: dict[str, Any]
    grading: dict[str, Any]


def file_arguments(flags: dict[str, Any], files: Sequence[str] = ()) -> FileArguments:
    """Split the values of flags by what they are for, and remove flags in _b from `flags`.

    `files` are the files to compare. Raises ValueError if a run is compared with itself.
    """
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
    names = parameters.keys() & {"checker_rates", "common"}
    grading = {"by_order": bool(reading.get("by_order"))}
    grading |= {name: parameters.pop(name) for name in names}
    return FileArguments(reading, second, parameters, grading)


def _without_empty(value: Any) -> Any:
    """Return the value of a flag without empty texts, or None if nothing is left."""
    if isinstance(value, list):
        return [entry for entry in value if entry] or None
    return value or None


def graded_files(
    sources: Sequence[tuple[str, Sequence[str]]],
    arguments: FileArguments,
    options: ComparisonOptions,
) -> tuple[list[RunInput], list[Run], Any]:
    """Read and grade runs; return the runs as read, the graded runs, and a copy of the options.

    `sources` has the name and the files of each run. As in `grade_sources`, options are validated
    before checking, and the copy has the groups, clusters and weights that runs were read with.
    """
    # None: look for a column with a usual name. For `named_only`, the user must name the column.
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
    if options.interval != "questions" and arguments.reading.get("clusters"):
        # `grade_sources` sets clusters for "questions" only. With another interval, clusters that
        # the user named are set here so that the validation refuses them.
        options = copy(options)
        options.clusters = read[0][1].get("clusters")
    # What a checker prints goes to standard error, so that it does not mix with the scores.
    with contextlib.redirect_stdout(sys.stderr):
        runs, options = grade_sources(read, options, **arguments.grading)
    checker, interval = options.check_correct_fn, options.interval
    inputs = [RunInput(x.source, checker, x.name, x.unanswered, interval) for x in runs]
    return inputs, runs, options


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], index: int, number: int
) -> ReadRun:
    """Read the run `index` of `number`. Runs after the first may lack groups, clusters, weights.

    A SelectionError names the file, and for the second of two runs proposes flags that end in -b.
    """
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        roles = {*error.roles}
        if index and roles and roles <= {"groups", "clusters", "question_weights"}:
            others = {role: value for role, value in reading.items() if role not in roles}
            return _read_files(files, others, index, number)
        ways, end = error.ways, ""
        if (index, number) == (1, 2):
            ways = list(map(_way_of_second, ways))
            end = "".join(
                x for role, x in _REMEDIES_OF_SECOND if role in roles and reading.get(role)
            )
        elif index:
            end = " If other files have other columns, at_k.leaderboard takes runs of at_k.read."
        start = "" if files[0] in str(error) else f"{files[0]}: "
        raise type(error)([start, *error.args, end], ways) from None


def _way_of_second(way: Way) -> Way:
    """Return a way with the parameters of the second file, such as where_b for where."""
    names = {role: f"{role}_b" for role in ROLES_OF_SECOND}
    arguments = {names.get(role, role): value for role, value in way.arguments.items()}
    return Way(arguments, way.meaning)
