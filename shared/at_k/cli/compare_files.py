"""`at-k compare FILE FILE...`: files of samples of the same questions, compared."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import string
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import short
from ..computations.gpassk import GPASSK
from ..inputs.checking import Checker, Checking
from ..inputs.labels import label_index
from ..readers.questions import Questions, read_questions
from ..runs.compared import Compared, compare_runs, labels_of
from ..runs.comparison import compare, comparison_of_two
from ..runs.leaderboard import leaderboard_of
from ..runs.measure import check_measure
from ..runs.outcomes_of_runs import Run, check_same_questions, grade_runs, parse_run
from .comparison_tables import comparison_records, comparison_summary, comparison_tables
from .demo import COOL, WARM
from .flags import FILE_HELP, add_flags, parameter_helps, split_arguments
from .formats import Output
from .leaderboard_tables import leaderboard_notes, leaderboard_records, leaderboard_tables
from .paper_tables import paper_tables_of_many, paper_tables_of_two
from .plot import check_plot, plot_comparison, scored_details, scores_before_errors
from .sentences import sentence_of_many, sentence_of_two
from .tables import describe_input

_COMPARE_EXAMPLES = f"""\
examples, with the samples of the package:
  at-k compare {COOL} {WARM} --check-correct-fn numeric
  at-k compare {COOL} {WARM} --check-correct-fn numeric --metric pass^k --k 1 4 --interval questions
  at-k compare {COOL} {WARM} --check-correct-fn numeric --k 8 --names 0.2 0.8 --format latex
"""

_LONGEST_NAME = 24


def add_compare_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.compare` to the parser, and what it runs."""
    parameters = [*_compare_parameters(), GPASSK.parameters["groups"]]
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
    add_flags(command, parameters, helps)
    command.set_defaults(run=_compare_files)


def _compare_parameters() -> list[inspect.Parameter]:
    """Return the parameters of `at_k.compare` except the two runs."""
    parameters = inspect.signature(compare, eval_str=True).parameters
    return [parameters[name] for name in parameters if name not in ("R_a", "R_b")]


def _compare_files(
    files: Sequence[str],
    output_format: str,
    names: Sequence[str] | None = None,
    num_proc: int | None = None,
    check_correct_fn: Checker = "exact_match",
    p_values: bool = False,
    plot: str | None = None,
    **given: Any,
) -> str:
    """Return the comparison of two files, or the leaderboard of more."""
    if plot is not None:
        check_plot(plot)
    if len(files) < 2:
        raise ValueError("There is one file: compare needs two or more.")
    names = _check_names(names, files)
    is_checked = {"check_correct_fn": check_correct_fn} if check_correct_fn != "exact_match" else {}
    reading, options = split_arguments(given | is_checked)
    options.pop("check_correct_fn", None)
    if reading["groups"] is None:
        del reading["groups"]
    inputs = [read_questions(files[0], **reading)]
    for role in ("groups", "clusters"):  # those of the first file are used
        reading.pop(role, None)
    inputs += [read_questions(file, **reading) for file in files[1:]]
    if "clusters" in inputs[0].arguments:
        options["clusters"] = inputs[0].arguments["clusters"]
    defaults: dict[str, Any] = {"metric": "pass@k", "all_k": len(files) == 2}
    options = defaults | options
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the scores
        labels = labels_of(options["metric"])
        checking = Checking(check_correct_fn, num_proc, labels=labels)
        runs = graded_runs(names, inputs, checking, lambda sizes: check_measure(sizes, **options))
    found = compare_runs(runs, **options)
    by_group = _compare_groups(found, inputs[0], options)
    descriptions = [
        f"{name}: {_path_of(name, file)}{describe_input(questions, check_correct_fn)}"
        f"{_how_matched(inputs[0], questions, names[0])}"
        for name, file, questions in zip(names, files, inputs, strict=True)
    ]
    details = [scored_details(each, check_correct_fn) for each in inputs]
    checkers = {each["checker"] for each in details}
    checker = checkers.pop() if len(checkers) == 1 else None
    if len(files) == 2:
        output = _output_of_two(found, by_group, descriptions, names, p_values, checker)
    else:
        output = _output_of_many(found, by_group, descriptions, p_values, checker)
    printed = output.printed(output_format)
    if plot is not None:
        with scores_before_errors(printed):
            plot_comparison(plot, found, details)
    return printed


def _output_of_two(
    found: Compared,
    by_group: dict[str, Compared],
    inputs: Sequence[str],
    names: Sequence[str],
    p_values: bool,
    checker: str | None,
) -> Output:
    scores = comparison_of_two(found, p_values)
    for label, each in by_group.items():
        of_group = comparison_of_two(each, p_values)
        scores |= {f"{label}/{key}": value for key, value in of_group.items()}
    groups, measure = list(by_group), found.measure
    return Output(
        scores,
        inputs,
        partial(comparison_tables, scores, names, groups),
        partial(paper_tables_of_two, scores, found.keys, names, groups, measure.confidence),
        partial(comparison_records, scores, names, groups),
        [comparison_summary(scores, names, measure.interval, measure.confidence)],
        [comparison_summary(scores, names, measure.interval, measure.confidence, for_paper=True)],
        sentence_of_two(
            scores,
            names,
            [run.outcomes.n for run in found.runs],
            measure.interval,
            measure.confidence,
            checker=checker,
        ),
    )


def _output_of_many(
    found: Compared,
    by_group: dict[str, Compared],
    inputs: Sequence[str],
    p_values: bool,
    checker: str | None,
) -> Output:
    board = leaderboard_of(found, p_values)
    if by_group:
        board["groups"] = {
            label: leaderboard_of(each, p_values) for label, each in by_group.items()
        }
    return Output(
        board,
        inputs,
        partial(leaderboard_tables, board),
        partial(paper_tables_of_many, board),
        partial(leaderboard_records, board),
        leaderboard_notes(board),
        leaderboard_notes(board, for_paper=True),
        sentence_of_many(board, [run.outcomes.n for run in found.runs], checker),
    )


def graded_runs(
    names: Sequence[str],
    inputs: Sequence[Questions],
    checking: Checking,
    check_sizes: Callable[[dict[str, np.ndarray]], Any] | None = None,
) -> list[Run]:
    """Return the runs with their outcomes, all with the questions in the order of the first.

    Args:
        names: of the runs.
        inputs: what was read for each.
        checking: how samples are checked.
        check_sizes: called with the numbers of samples of each run before any sample is checked.
    """
    parsed = [
        parse_run(name, questions.arguments, checking.labels)
        for name, questions in zip(names, inputs, strict=True)
    ]
    orders = [
        match_questions(inputs[0], each, names[0], name)
        for name, each in zip(names, inputs, strict=True)
    ]
    if all(order is None for order in orders):
        check_same_questions(parsed)
    sizes = {
        run.name: run.n if order is None else run.n[order]
        for run, order in zip(parsed, orders, strict=True)
    }
    if check_sizes is not None:
        check_sizes(sizes)
    graded = grade_runs(parsed, checking)
    return [
        run if order is None else run.of_questions(order)
        for run, order in zip(graded, orders, strict=True)
    ]


def _compare_groups(
    found: Compared, first: Questions, options: dict[str, Any]
) -> dict[str, Compared]:
    """Compare the runs on each group of questions, at the same k."""
    if "groups" not in first.arguments:
        return {}
    labels, index = label_index(first.arguments["groups"], len(found.runs[0].outcomes.n), "groups")
    result = {}
    for group, label in enumerate(labels):
        rows = np.flatnonzero(index == group)
        runs = [run.of_questions(rows) for run in found.runs]
        clusters = options.get("clusters") and [options["clusters"][row] for row in rows]
        try:
            result[label] = compare_runs(
                runs, **{**options, "k": found.measure.ks or None, "clusters": clusters}
            )
        except ValueError as error:
            raise ValueError(f"Group {label}: {error}") from error
    return result


def match_questions(a: Questions, b: Questions, name_a: str, name_b: str) -> list[int] | None:
    """Return the position in b of each question of a, or None if they are in the same order.

    Questions are matched by a column that identifies them in both files. If there is none, they
    are taken to be in the same order.

    Raises:
        ValueError: if the files have different questions, with their names.
    """
    shared = [column for column in a.identifiers if column in b.identifiers]
    for column in shared:
        ours, theirs = a.identifiers[column], b.identifiers[column]
        if list(ours) == list(theirs):
            return None
        if set(ours) == set(theirs):
            position = {entry: i for i, entry in enumerate(theirs)}
            return [position[entry] for entry in ours]
    if shared:
        column = shared[0]
        for file, other, name, name_of_other in (
            (b, a, name_b, name_a),
            (a, b, name_a, name_b),
        ):
            known = set(file.identifiers[column])
            missing = [entry for entry in other.identifiers[column] if entry not in known]
            if missing:
                raise ValueError(
                    f"{name} lacks {len(missing)} of the questions of {name_of_other}, such as "
                    f"{column} {short(missing[0])}: give the same questions in all files."
                )
    return None


def _how_matched(a: Questions, b: Questions, name_a: str) -> str:
    """Return a sentence if the questions of b are matched with those of a by their order."""
    if a is b or not a.identifiers.keys().isdisjoint(b.identifiers):
        return ""
    return (
        f" Its questions are those of {name_a} in the same order, as no column in both identifies "
        f"them."
    )


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
    for found in (
        [path.name.split(".")[0] for path in paths],
        [path.parent.name for path in paths],
    ):
        if len(set(found)) == len(found) and all(1 <= len(x) <= _LONGEST_NAME for x in found):
            return found
    letters = string.ascii_uppercase
    return [letters[i] if i < len(letters) else f"run {i + 1}" for i in range(len(files))]


def _path_of(name: str, file: str) -> str:
    """Return the path of a file as the start of a sentence, unless the name shows it."""
    return "" if name == Path(file).name.split(".")[0] else f"{file}: "
