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
from ..runs.outcomes_of_runs import Run, grade_sources
from .flags import ROLES_OF_SECOND, split_arguments
from .run_input import RunInput, refuse_ungraded

_GRADING = {"checker_rates", "common"}
"""Arguments of `grade_sources` that are flags, and no options of a comparison."""

_OPTIONAL_LATER = {"groups", "clusters", "question_weights"}
"""The roles of columns that only the first of several runs needs."""

# What helps, by the role of the column that the second file lacks.
_REMEDIES_OF_SECOND = (
    ("where", " To read all rows of this file, add --where-b ''."),
    ("predictions", " If it is graded: --predictions-b '' --references-b '' --outcomes-b COLUMN."),
)


class FileArguments(NamedTuple):
    """The values of the flags of compare, gate or plan, as arguments of different functions.

    `reading` are those of `read_run`, and `second` those that differ for the second run.
    `parameters` are the options of the comparison, and `grading` arguments of `grade_sources`.
    """

    reading: dict[str, Any]
    second: dict[str, Any]
    parameters: dict[str, Any]
    grading: dict[str, Any]


def file_arguments(flags: dict[str, Any], files: Sequence[str] = ()) -> FileArguments:
    """Split the values of flags. Those that end in _b, for a second file, are removed from `flags`.

    `files` are the files to compare. Raises ValueError if a run is compared with itself.
    """
    values = {role: flags.pop(f"{role}_b", None) for role in ROLES_OF_SECOND}
    second = {role: _without_empty(value) for role, value in values.items() if value is not None}
    differs = any((flags.get(role) or None) != value for role, value in second.items())
    if not differs:
        _refuse_repeats(files)
    reading, parameters = split_arguments(flags)
    if "include" in parameters:
        parameters["metric"] = parameters.pop("include")
    grading = {name: parameters.pop(name) for name in _GRADING & parameters.keys()}
    grading["by_order"] = bool(reading.get("by_order"))
    return FileArguments(reading, second, parameters, grading)


def _refuse_repeats(files: Sequence[str]) -> None:
    """Raise a ValueError if a file occurs twice."""
    paths = list(map(os.path.realpath, files))
    for file, path in zip(files, paths, strict=True):
        if paths.count(path) > 1:
            raise ValueError(
                f"{shlex.quote(file)} is given twice, so a run would be compared with itself. If "
                f"it has two runs, say which rows are whose: --where model=A --where-b model=B."
            )


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

    `sources` has the name and the files of each run. The copy of the options has the clusters,
    groups and weights of the runs, as `grade_sources` returns it.
    """
    # With None, a column with a usual name is read. Those of `named_only` have to be named.
    named_only = {"groups"} if options.interval == "questions" else {"groups", "clusters"}
    given = arguments.reading.items()
    reading = {role: value for role, value in given if value is not None or role not in named_only}
    read: list[tuple[str, ReadRun]] = []
    for name, files in sources:
        questions = _read_files(files, reading, len(read), len(sources))
        read.append((name, questions))
        reading |= arguments.second  # for the next run
        if options.checking.labels is None:
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
    inputs = [RunInput(run.source, checker, run.name, run.unanswered, interval) for run in runs]
    return inputs, runs, options


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], index: int, number: int
) -> ReadRun:
    """Read run `index` (from 0) of `number`. Later runs may lack columns of `_OPTIONAL_LATER`."""
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        if index and error.roles and _OPTIONAL_LATER.issuperset(error.roles):
            others = {role: value for role, value in reading.items() if role not in error.roles}
            return _read_files(files, others, index, number)
        if index:
            error = _error_of_later(error, reading, number)
        start = "" if files[0] in str(error) else f"{files[0]}: "
        raise type(error)([start, *error.args], error.ways) from None


def _error_of_later(
    error: SelectionError, reading: Mapping[str, Any], number: int
) -> SelectionError:
    """Return an error about a run after the first of `number`, with what helps there."""
    if number > 2:
        remedy = " If other files have other columns, at_k.leaderboard takes runs of at_k.read."
        return type(error)([*error.args, remedy], error.ways)
    roles = {role for role in error.roles if reading.get(role)}
    remedies = [text for role, text in _REMEDIES_OF_SECOND if role in roles]
    return type(error)([*error.args, *remedies], list(map(_way_of_second, error.ways)))


def _way_of_second(way: Way) -> Way:
    """Return a way with the parameters of the second file, such as where_b for where."""
    names = {role: f"{role}_b" for role in ROLES_OF_SECOND}
    arguments = {names.get(role, role): value for role, value in way.arguments.items()}
    return Way(arguments, way.meaning)
