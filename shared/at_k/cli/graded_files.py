"""Reading and grading the runs in files, for the subcommands compare, gate and plan."""

from __future__ import annotations

import argparse
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
from .flags import Once, condition, split_arguments
from .run_input import RunInput

ROLES_OF_SECOND = ("predictions", "outcomes", "references", "questions", "where")
"""The arguments of `read_run` that may differ for a second file: its columns, and its rows."""
_ROLES_OF_QUESTIONS = {"groups", "clusters", "question_weights"}


def add_second_flags(command: argparse.ArgumentParser, what: str) -> None:
    """Add the flags that end in -b, which are for a second file. `what` names it in the help."""
    second = command.add_argument_group(f"columns and rows of {what}, if they differ")
    further: dict[str, dict[str, Any]] = {
        "questions": {"nargs": "+", "action": "extend"},
        "predictions": {"action": "append"},
        "outcomes": {"action": "append"},
        "references": {"action": Once},
        "where": {
            **{"metavar": "COLUMN=VALUE", "type": _condition_or_none, "action": "append"},
            "help": "as --where; '' for all rows.",
        },
    }
    for role in ROLES_OF_SECOND:
        options = {"metavar": "COLUMN", "help": f"as --{role}."} | further.get(role, {})
        second.add_argument(f"--{role}-b", **options)


def _condition_or_none(text: str) -> tuple[str, str] | None:
    """Return (column, value) of a text COLUMN=VALUE, or None for an empty text."""
    return condition(text) if text else None


class FileArguments(NamedTuple):
    """The values of the flags of compare, gate or plan.

    `reading` are arguments of `read_run`, and `second` those for a second run that differ.
    `parameters` are the options of the comparison or plan. `labels` are counts for a single run
    without a column of labels. With `common`, only the questions that all runs have are compared.
    """

    reading: dict[str, Any]
    parameters: dict[str, Any]
    second: dict[str, Any]
    checker_rates: Any
    labels: Mapping[str, int] | None
    common: bool | None


def file_arguments(flags: dict[str, Any], files: Sequence[str] = ()) -> FileArguments:
    """Sort the values of flags by the functions whose arguments they are."""
    second = {x: y for x in ROLES_OF_SECOND if (y := flags.pop(f"{x}_b", None)) is not None}
    if "where" in second:
        second["where"] = [pair for pair in second["where"] if pair is not None]
    paths = list(map(os.path.realpath, files))
    is_same = all(flags.get(role) == x for role, x in second.items())
    if len({*paths}) < len(paths) and is_same:
        file = shlex.quote(
            next(x for x, path in zip(files, paths, strict=True) if paths.count(path) > 1)
        )
        raise ValueError(
            f"{file} is given twice, so a run would be compared with itself. If it has two runs, "
            f"say which rows are whose: --where model=A --where-b model=B."
        )
    reading, parameters = split_arguments(flags)
    if "include" in parameters:
        parameters["metric"] = parameters.pop("include")
    further = (parameters.pop(x, None) for x in ("checker_rates", "labels", "common"))
    return FileArguments(reading, parameters, second, *further)


def graded_files(
    sources: Sequence[tuple[str, Sequence[str]]],
    arguments: FileArguments,
    options: ComparisonOptions,
) -> tuple[list[RunInput], list[Run], Any]:
    """Read and grade runs. Return the runs as they were read, the graded runs, and the options.

    Groups, clusters and weights come from the first run. Other runs need not have them. `sources`
    are the name of each run, and its files. The options are validated before any sample is checked.
    """
    reading, labels = arguments.reading, arguments.labels
    if labels is not None and len(sources) != 1:
        raise ValueError(
            f"--labels has counts, which are those of one run, and there are {len(sources)} runs: "
            f"name a column with the labels of each run."
        )
    read = _read_runs(sources, arguments, options)
    if options.interval != "questions":
        options.clusters = read[0][1].get("clusters")  # This raises an error later if not None.
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
    checker = options.check_correct_fn
    return [RunInput(run.source, checker, run.name, run.unanswered) for run in runs], runs, options


def _read_runs(
    sources: Sequence[tuple[str, Sequence[str]]],
    arguments: FileArguments,
    options: ComparisonOptions,
) -> list[tuple[str, ReadRun]]:
    """Return the name and the questions of each run. The arguments are those of `graded_files`."""
    # A role whose value is None would be read from a column with a usual name.
    unnamed = {"groups"} if options.interval == "questions" else {"groups", "clusters"}
    given = arguments.reading.items()
    reading = {x: y for x, y in given if y is not None or x not in unnamed}
    read: list[tuple[str, ReadRun]] = []
    for name, files in sources:
        questions = _read_files(files, reading, len(read), len(sources))
        read.append((name, questions))
        reading = reading | arguments.second
        if options.checking.labels is None:
            with naming_questions(questions):
                refuse_ungraded(questions)
    return read


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], index: int, number: int
) -> ReadRun:
    """Read the questions of the run with this index, of `number` runs, from its files.

    Groups, clusters and weights come from the first run. If another run lacks their columns, it is
    read without them. A SelectionError names the file, and its ways have the flags of this run:
    those of the second of two runs end in -b.
    """
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        if index and error.roles and error.roles <= _ROLES_OF_QUESTIONS:
            without = {role: x for role, x in reading.items() if role not in error.roles}
            return _read_files(files, without, index, number)
        start, ways, end = "" if files[0] in str(error) else f"{files[0]}: ", error.ways, ""
        if (index, number) == (1, 2):
            ways = list(map(_way_of_second, ways))
            if "where" in error.roles and reading.get("where"):
                end = " To read all rows of this file, add --where-b ''."
        elif index:
            end = " If other files have other columns, at_k.leaderboard takes runs of at_k.read."
        raise type(error)([start, *error.args, end], ways) from None


def _way_of_second(way: Way) -> Way:
    """Return the same way to resolve an error, with the flags of the second file."""
    arguments = {f"{x}_b" if x in ROLES_OF_SECOND else x: y for x, y in way.arguments.items()}
    return Way(arguments, way.meaning)


def refuse_ungraded(questions: ReadRun) -> None:
    """Raise an InputError if a sample is a text, and nothing says whether it is correct."""
    columns, predictions = questions.columns, questions["predictions"]
    if "references" in questions or not isinstance(predictions, list):
        return
    what, known, problem = (
        "sample",
        {},
        (
            f"in {columns.get('predictions')}, and there is nothing to check it against: name the "
            f"column of references, or a file of them, with --references. Or name outcomes with "
            f"--outcomes."
        ),
    )
    if outcomes := columns.get("outcomes"):
        what, known, problem = (
            "outcome",
            WORDS,
            (
                f"in {outcomes}: name those that are correct with --correct-values. Without it, "
                f"outcomes are {KNOWN_WORDS}."
            ),
        )
    for question, samples in enumerate(predictions):
        for sample in samples if isinstance(samples, list) else [samples]:
            if isinstance(sample, str) and word(sample) not in known:
                text = f" has the {what} {short(sample)} {problem}"
                raise InputError(Place("Question", question), text)
