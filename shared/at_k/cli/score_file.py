"""`at-k METRIC FILE...`: the scores of a metric for the samples in files."""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..computations.computation import Computation
from ..loading import metric_script
from ..readers.columns import as_outcome
from ..readers.questions import read_questions
from .demo import COOL, WARM
from .flags import FILE_HELP, add_flags, parameter_helps, split_arguments
from .formats import Output
from .paper_tables import paper_notes, paper_tables_of_scores
from .plot import (
    check_plot,
    check_scores_to_plot,
    plot_scores,
    scored_details,
    scores_before_errors,
)
from .sentences import sentence_of_one
from .tables import (
    describe_input,
    nouns_of,
    score_notes,
    score_records,
    score_tables,
    sizes_and_given,
)

_METRIC_EXAMPLES = """\
examples, with the samples of the package:
  at-k {name} {warm} --check-correct-fn numeric
  at-k {name} {warm} --check-correct-fn numeric --groups topic --confidence 0.95
  at-k {name} {cool} --check-correct-fn numeric --format markdown
"""
_VERDICT_EXAMPLES = """\
examples:
  echo '{{"verdicts": ["fully", "partial"]}}' > answers.jsonl
  echo '{{"verdicts": ["mostly", "none", "minor"]}}' >> answers.jsonl
  at-k score_agg answers.jsonl --temperature 0.3
  at-k score_agg answers.jsonl --confidence 0.95
"""
_FILES = """
Several files are parts of one run, and - is standard input: python make.py | at-k {name} - --json
"""


def add_metric_flags(command: argparse.ArgumentParser, name: str) -> None:
    """Add the flags of a metric to the parser of its subcommand, and what it runs."""
    computation = computation_of(name)
    command.usage = f"at-k {name} FILE... [flags]"
    examples = _VERDICT_EXAMPLES if name == "score_agg" else _METRIC_EXAMPLES
    command.epilog = (examples + _FILES).format(name=name, cool=COOL, warm=WARM).replace("%", "%%")
    command.add_argument("files", metavar="FILE", nargs="+", help=FILE_HELP)
    add_flags(command, computation.parameters.values(), _parameter_helps_of(name))
    command.set_defaults(run=functools.partial(_score_files, name, computation))


def computation_of(name: str) -> Computation:
    """Return what a metric computes. This imports neither `evaluate` nor `datasets`."""
    return getattr(import_module(f"at_k.computations.{name}"), name.upper())


def _parameter_helps_of(name: str) -> dict[str, str]:
    """Return the text of each parameter of a metric from its script."""
    script = ast.parse(metric_script(name).read_text(encoding="utf-8"))
    texts = {
        ast.unparse(node.targets[0]): node.value
        for node in script.body
        if isinstance(node, ast.Assign)
    }
    return parameter_helps(ast.literal_eval(texts["_KWARGS_DESCRIPTION"]))


def _score_files(
    name: str,
    computation: Computation,
    files: Sequence[str],
    output_format: str,
    plot: str | None = None,
    **given: Any,
) -> str:
    """Return the scores of files, which are parts of one run."""
    reading, parameters = split_arguments(given)
    defaults = {each.name: each.default for each in computation.parameters.values()}
    if plot is not None:
        check_plot(plot)
        check_scores_to_plot(defaults | given)
    counts = reading["counts"] or ()
    if len(counts) > 1 and ("categories" in parameters or name == "score_agg"):
        reading["counts"] = {as_outcome(column): column for column in counts}  # named by labels
    questions = read_questions(files, **reading)
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the scores
        scores = computation.compute(**questions.arguments, **parameters)
    checker = parameters.get("check_correct_fn", "exact_match")
    confidence = parameters.get("confidence", defaults.get("confidence"))
    details = scored_details(questions, checker)
    _, given_samples = sizes_and_given(questions.arguments["predictions"])
    interval = parameters.get("interval")
    pooled = f"{len(files)} files as parts of one run: " if len(files) > 1 else ""
    output = Output(
        scores,
        [f"{pooled}{describe_input(questions, checker, *nouns_of(scores))}"],
        functools.partial(score_tables, scores),
        functools.partial(paper_tables_of_scores, scores, confidence),
        functools.partial(score_records, scores),
        score_notes(scores, interval),
        paper_notes(scores, interval, confidence),
        sentence_of_one(
            scores,
            given_samples,
            interval,
            confidence,
            details["checker"],
            (defaults | parameters).get("temperature"),
        ),
    ).printed(output_format)
    if plot is not None:
        is_named = any(key.endswith("_interval") for key in scores)
        method = None if is_named else interval or "posterior"
        with scores_before_errors(output):
            plot_scores(plot, scores, **details, confidence=confidence, interval=method)
    return output
