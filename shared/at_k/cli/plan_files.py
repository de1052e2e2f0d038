"""`at-k plan FILE`: the precision of runs with other numbers of questions and samples."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..inputs.checking import Checking
from ..readers.questions import read_questions
from ..runs.plan import plan
from ..runs.planning import check_plan, plan_runs
from .compare_files import graded_runs
from .demo import COOL, WARM
from .flags import FILE_HELP, add_flags, parameter_helps, split_arguments
from .formats import Cells, Output, number_of
from .tables import describe_input

_FLAGS = {"questions": "number_of_questions", "samples": "number_of_samples"}
"""Parameters whose names are those of columns of a file, and their names as flags."""

_PLAN_COLUMNS = {
    "questions": "questions",
    "samples": "samples",
    "cost": "cost",
    "half_width_sampling": "+- sampling",
    "half_width_questions": "+- questions",
    "difference_sampling": "diff. sampling",
    "difference_questions": "diff. questions",
}
_SCOPE = {
    "sampling": "the same questions, sampled again",
    "questions": "other questions like these",
}
_EXAMPLES = f"""\
examples, with the samples of the package:
  at-k plan {WARM} --check-correct-fn numeric --k 4 --half-width 0.02
  at-k plan {COOL} {WARM} --check-correct-fn numeric --k 1 --difference 0.03 --sample-cost 0.1
  at-k plan --rates 0.1 0.5 0.9 --number-of-questions 100 500 --number-of-samples 1 4 16
"""


def add_plan_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.plan` and of reading files to the parser, and what it runs."""
    parameters = inspect.signature(plan, eval_str=True).parameters
    helps = parameter_helps(inspect.getdoc(plan) or "")
    helps |= {flag: f"{helps[name]} In Python: {name}." for name, flag in _FLAGS.items()}
    command.usage = "at-k plan [FILE [FILE]] [flags]"
    command.epilog = _EXAMPLES.replace("%", "%%")
    command.add_argument(
        "files", metavar="FILE", nargs="*", help=f"a pilot run, or two: {FILE_HELP}"
    )
    shown = [
        each.replace(name=_FLAGS.get(name, name))
        for name, each in parameters.items()
        if name not in ("R", "R_b")
    ]
    add_flags(command, shown, helps, has_charts=False)
    command.set_defaults(run=_plan_files)


def _plan_files(files: Sequence[str], output_format: str, **given: Any) -> str:
    """Return the plan from pilot runs in files, or from assumed rates."""
    if len(files) > 2:
        raise ValueError(f"There are {len(files)} files: give one pilot run, or two.")
    reading, options = split_arguments(given)
    for name, flag in _FLAGS.items():
        if flag in options:
            options[name] = options.pop(flag)
    checker, num_proc = (
        options.pop("check_correct_fn", "exact_match"),
        options.pop("num_proc", None),
    )
    planned = check_plan(**options)  # before any sample is checked
    inputs = [read_questions(file, **reading) for file in files]
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the rows
        runs = graded_runs(files, inputs, Checking(checker, num_proc)) if inputs else []
    found = plan_runs(runs, planned)
    output = Output(
        found,
        [describe_input(run, checker) for run in inputs],
        lambda: [_table(found)],
        lambda: [_table(found)],
        lambda: _records(found),
        _notes(found, options),
    )
    return output.printed(output_format)


def _table(found: Mapping[str, Any]) -> Cells:
    rows = found["rows"] + ([found["cheapest"]] if found["cheapest"] else [])
    table = [[*_PLAN_COLUMNS.values()]]
    for row in rows:
        counts = [str(row["questions"]), str(row["samples"]), f"{row['cost']:g}"]
        precise = [row[name] for name in list(_PLAN_COLUMNS)[3:]]
        table.append([*counts, *("-" if each is None else f"{each:.4f}" for each in precise)])
    return table


def _records(found: Mapping[str, Any]) -> Cells:
    """Return the rows with full precision, and the cheapest design as the last."""
    table = [["design", "key", *_PLAN_COLUMNS]]
    named = [("grid", row) for row in found["rows"]]
    named += [("cheapest", found["cheapest"])] if found["cheapest"] else []
    for name, row in named:
        values = ("" if row[column] is None else str(row[column]) for column in _PLAN_COLUMNS)
        table.append([name, found["key"], *values])
    return table


def _notes(found: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
    """Return the sentences below the table: what the columns are, the cheapest design, and what is
    assumed."""
    confidence, power = (f"{100 * found[name]:g} %" for name in ("confidence", "power"))
    notes = [
        f"{found['key']}, expected score {found['score']:.4f}. +-: half-width of the {confidence} "
        f"interval. diff.: by how much the score of a second run has to be higher for `at-k "
        f"compare` to find it with a probability of {power}. sampling: for {_SCOPE['sampling']}. "
        f"questions: for {_SCOPE['questions']}; comparisons are paired by question."
    ]
    for name in ("half_width", "difference"):
        if options.get(name) is not None:
            wanted = f"a {name.replace('_', '-')} of at most {options[name]:g}"
            scope = _SCOPE[options.get("interval", "questions")]
            notes.append(f"{_cheapest_design(found['cheapest'], wanted)}, for {scope}.")
    return [*notes, _assumptions(found["assumptions"])]


def _cheapest_design(cheapest: Mapping[str, Any] | None, wanted: str) -> str:
    if cheapest is None:
        return f"No design with these numbers has {wanted}"
    questions = number_of(cheapest["questions"], "question")
    samples = number_of(cheapest["samples"], "sample")
    return (
        f"The cheapest design, in the last row, has {questions} with {samples} each, at a cost of "
        f"{cheapest['cost']:g}, and {wanted}"
    )


def _assumptions(assumptions: Mapping[str, Any]) -> str:
    """Return a sentence about what the plan is based on."""
    if assumptions["rates_are"] == "assumed":
        parts = "The success rates of questions are assumed"
    else:
        pilot = number_of(assumptions["pilot_questions"], "question")
        samples = number_of(assumptions["pilot_samples"], "sample")
        parts = f"The success rates of questions are estimated from {pilot} with {samples} each"
        if assumptions["extrapolated"]:
            parts += ", and scores with more samples are extrapolated"
    return (
        f"{parts}. The correlation of the scores of two runs over questions, "
        f"{assumptions['correlation']:.2f}, is {assumptions['correlation_is']}."
    )
