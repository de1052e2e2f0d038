"""`at-k compare FILE FILE...`: files of samples of the same questions, compared."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import string
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.checking import Checker, Checking
from ..readers.run import Run as Questions
from ..readers.run import read_run
from ..readers.table import SelectionError
from ..runs.comparison import compare
from ..runs.differences import compare_groups, compare_runs, differences_of
from ..runs.leaderboard import leaderboard_of_groups
from ..runs.measure import ComparisonOptions, check_metric, default_interval
from ..runs.noise import correction_in_words
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
from .comparison_tables import ComparisonView, LeaderboardView
from .flags import COOL, FILE_HELP, WARM, add_flags, parameter_helps, parameters_of, split_arguments
from .formats import Output, Scope, View, enumerated
from .plot import chart_of_comparison, check_plot, draw
from .run_input import RunInput, checker_of_all, naming_questions, warn_of_other_grades
from .score_tables import nouns_of

_COMPARE_EXAMPLES = f"""\
examples, with the samples of the package:
  at-k compare {COOL} {WARM} --check-correct-fn numeric
  at-k compare {COOL} {WARM} --check-correct-fn numeric --include pass^k --k 1 4 --p-values
  at-k compare {COOL} {WARM} --check-correct-fn numeric --k 8 --names 0.2 0.8 --format latex
"""

_LONGEST_NAME = 24
_OF_SECOND = ("predictions", "outcomes", "references", "questions")
"""Roles whose columns may have other names in the second file."""


def add_compare_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.compare` to the parser, and what it runs."""
    parameters = parameters_of(compare, ("R_a", "R_b"))
    helps = parameter_helps(inspect.getdoc(compare) or "")
    helps["groups"] = "a label for each question. The runs are also compared within each group."
    helps["k"] += (
        " For three files or more: the largest of 4, 8 and 16 that every question has samples for."
    )
    command.usage = "at-k compare FILE FILE... [flags]"
    command.epilog = _COMPARE_EXAMPLES.replace("%", "%%")
    command.add_argument("files", metavar="FILE", nargs="+", help=FILE_HELP)
    command.add_argument(
        "--names", nargs="+", metavar="NAME", help="names of the runs. Default: those of the files"
    )
    add_flags(command, parameters.values(), helps)
    second = command.add_argument_group("columns of the second file, if they have other names")
    for role in _OF_SECOND:
        several: dict[str, Any] = {"nargs": "+"} if role == "questions" else {}
        second.add_argument(f"--{role}-b", metavar="COLUMN", help=f"as --{role}.", **several)
    command.set_defaults(run=_compare_files)


def _compare_files(
    files: Sequence[str],
    output_format: str,
    names: Sequence[str] | None = None,
    num_proc: int | None = None,
    check_correct_fn: Checker = "exact_match",
    p_values: bool = False,
    plot: str | None = None,
    checker_rates: Sequence[float] | None = None,
    **flags: Any,
) -> str | Output:
    """Return the comparison of two files, or the leaderboard of more."""
    if plot is not None:
        check_plot(plot)
    if len(files) < 2:
        raise ValueError("There is one file: compare needs two or more.")
    names = _check_names(names, files)
    of_second = {role: flags.pop(f"{role}_b") for role in _OF_SECOND}
    if len(files) != 2 and any(x is not None for x in of_second.values()):
        raise ValueError("Flags that end in -b are for the second of two files.")
    metric = check_metric("--include", flags.pop("include", "pass@k"))
    reading, parameters = split_arguments(flags, default_interval(metric))
    reading["checked"] = check_correct_fn != "exact_match"
    of_second = {role: x for role, x in of_second.items() if x is not None}
    counts = parameters.pop("labels", None)
    if parameters.get("anytime") and len(files) > 2:
        raise ValueError("--anytime is for two files: the ranks of more hold at one look.")
    options = ComparisonOptions(metric, **parameters, all_k=len(files) == 2)
    inputs = [
        RunInput(questions, check_correct_fn, name)
        for name, questions in zip(
            names, read_runs([[x] for x in files], reading, of_second), strict=True
        )
    ]
    first = inputs[0].questions
    options = options_for(options, first)
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the scores
        by_order = bool(reading.get("by_order"))
        runs = graded_runs(inputs, num_proc, options, checker_rates, counts, by_order)
    with naming_questions(first):
        overall = compare_runs(runs, options)
    compared = compare_groups(overall, first.get("groups"))
    descriptions = [
        f"{run.name}: {_path_of(run.name, file)}{run.described()}"
        for file, run in zip(files, inputs, strict=True)
    ]
    sizes, nouns = [run.outcomes.n for run in runs], nouns_of([options.metric])
    scope = Scope(
        sizes,
        checker_of_all(inputs),
        *nouns,
        _correction(runs),
        overall.options.weighting.words,
        "; ".join(
            f"{run.name}: {run.questions.missing}" for run in inputs if run.questions.missing
        ),
    )
    view: View
    if len(files) == 2:
        differences = {
            group: differences_of(runs_of_group, p_values, group)
            for group, runs_of_group in compared.items()
        }
        view = ComparisonView(differences, names, options, scope, descriptions)
    else:
        view = LeaderboardView(leaderboard_of_groups(compared, p_values), scope, descriptions)
    output = view.printed(output_format)
    if plot is None:
        return output
    return Output(output, draw=lambda: draw(plot, lambda: chart_of_comparison(overall, inputs)))


def _correction(runs: Sequence[Run]) -> str:
    """Return what the scores of runs are corrected for, as the end of a sentence, or ""."""
    errors = runs[0].errors
    numbers = [str(x.errors.labels.number) for x in runs if x.errors.labels is not None]
    if numbers:
        return (
            f"corrected for the errors of the checker, which are estimated from "
            f"{enumerated(numbers)} labelled samples, as if they were independent"
        )
    return "" if errors.rates.are_exact else correction_in_words(errors.described())


def options_for(options: ComparisonOptions, first: Questions) -> ComparisonOptions:
    """Return the options of a comparison with the columns of the first run."""
    if "clusters" in first:
        options.clusters = first["clusters"]  # refused by an interval that does not use them
    return options.with_those_of(first)


def read_runs(
    sources: Sequence[Sequence[str]],
    reading: Mapping[str, Any],
    of_second: Mapping[str, Any] | None = None,
) -> list[Questions]:
    """Read the questions of runs; groups, clusters and weights are those of the first.

    Args:
        sources: the files of each run.
        reading: arguments of `read_run`.
        of_second: those that differ for the second run.
    """
    reading = dict(reading)
    if reading.get("groups") is None:
        reading.pop("groups", None)
    first = _read_files(sources[0], reading)
    for role in ("groups", "clusters", "question_weights"):
        reading.pop(role, None)
    reading |= of_second or {}
    own_flags = _OF_SECOND if of_second is not None and len(sources) == 2 else ()
    return [first, *(_read_files(files, reading, own_flags) for files in sources[1:])]


def _read_files(
    files: Sequence[str], reading: Mapping[str, Any], own_flags: Collection[str] = ()
) -> Questions:
    """Read the questions of a run; an error about its columns names its file and its flags.

    Args:
        files: of the run.
        reading: arguments of `read_run`.
        own_flags: roles whose flags end in -b for these files.
    """
    try:
        return read_run(files, **reading)
    except SelectionError as error:
        roles = [f"{role}_b" if role in own_flags else role for role in error.roles]
        further = [
            [(f"{role}_b" if role in own_flags else role, x) for role, x in pairs]
            for pairs in error.further
        ]
        start = "" if files[0] in str(error) else f"{files[0]}: "
        problem = [start, *error.args]
        raise type(error)(problem, roles, error.choices, error.examples, further) from None


def graded_runs(
    inputs: Sequence[RunInput],
    num_proc: int | None,
    options: ComparisonOptions | None = None,
    checker_rates: Sequence[float] | None = None,
    counts: Mapping[str, int] | None = None,
    by_order: bool = False,
) -> list[Run]:
    """Return the runs with their outcomes, all with the questions in the order of the first.

    Args:
        inputs: what was read for each run.
        num_proc: number of processes to check in.
        options: of a comparison, which is validated before any sample is checked.
        checker_rates: of the checker of all runs, or None.
        counts: of the labels of a single run, or None. Otherwise labels are those that were read.
        by_order: whether questions without ids are in the same order.
    """
    if counts is not None and len(inputs) != 1:
        raise ValueError(
            f"--labels has counts, which are those of one run, and there are {len(inputs)} runs: "
            f"name a column with the labels of each run."
        )
    first, labels = inputs[0], None if options is None else options.labels
    parsed = []
    for run in inputs:
        with naming_questions(run.questions):
            parsed.append(parse_run(run.name, run.questions, labels))
    names, readings = [run.name for run in inputs], [run.questions for run in inputs]
    orders = orders_of(names, readings, by_order)
    check_same_questions(parsed, orders)
    if options is not None:
        matched = zip(parsed, orders, strict=True)
        sizes = {run.name: run.n[order] for run, order in matched}
        with naming_questions(first.questions):
            options.for_samples(sizes)
    graded = grade_runs(parsed, Checking(first.check_correct_fn, num_proc, labels=labels))
    for run, checked in zip(inputs, graded, strict=True):
        warn_of_other_grades(run.questions, checked.outcomes, run.name)
    labels_of_runs: Any = [counts]
    if counts is None:
        labels_of_runs = read_labels(run.questions for run in inputs)
    graded = with_errors(graded, checker_rates, labels_of_runs)
    return in_order(graded, orders)


def _check_names(names: Sequence[str] | None, files: Sequence[str]) -> list[str]:
    """Return the names of the runs: those given, or those of the files.

    Files of equal names are named by their folders, and otherwise A, B, ..
    """
    if names is not None:
        if len(names) != len(files):
            raise ValueError(f"There are {len(names)} names for {len(files)} files: give one each.")
        for name in names:
            if list(names).count(name) > 1 or not name.strip():
                raise ValueError(f"The name {name!r} is not unique: give each run its own name.")
        return list(names)
    paths = [Path(file) for file in files]
    for unique in (
        [path.name.split(".")[0] for path in paths],
        [path.parent.name for path in paths],
    ):
        if len(set(unique)) == len(unique) and all(1 <= len(x) <= _LONGEST_NAME for x in unique):
            return unique
    letters = string.ascii_uppercase
    return [letters[i] if i < len(letters) else f"run {i + 1}" for i in range(len(files))]


def _path_of(name: str, file: str) -> str:
    """Return the path of a file as the start of a sentence, unless the name shows it."""
    return "" if name == Path(file).name.split(".")[0] else f"{file}: "
