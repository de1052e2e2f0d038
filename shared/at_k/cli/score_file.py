"""`at-k METRIC FILE`: the scores of a metric for the samples in a file."""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import json
import sys
from typing import Any

import evaluate

from ..loading import load
from ..readers.questions import read_questions
from .flags import FILE_HELP, add_flags, parameter_helps, split_arguments
from .tables import describe_input, score_notes, score_table

_METRIC_EXAMPLES = """\
examples:
  at-k {name} samples.jsonl --check-correct-fn numeric --groups topic
  at-k {name} samples.csv --check-correct-fn my_module:my_function --num-proc 4
  at-k {name} results.parquet --outcomes passed --json
"""


def add_metric_flags(command: argparse.ArgumentParser, name: str) -> None:
    """Add the flags of a metric to the parser of its subcommand, and what it runs."""
    metric = load(name)
    parameters = inspect.signature(metric._compute).parameters.values()
    command.usage = f"at-k {name} FILE [flags]"
    command.epilog = _METRIC_EXAMPLES.format(name=name)
    command.add_argument("file", metavar="FILE", help=FILE_HELP)
    add_flags(command, parameters, parameter_helps(metric.inputs_description))
    command.set_defaults(run=functools.partial(_score_file, metric))


def _score_file(metric: evaluate.Metric, file: str, as_json: bool, **given: Any) -> str:
    """Return the scores of a file as tables, or as JSON."""
    reading, parameters = split_arguments(given)
    questions = read_questions(file, **reading)
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the scores
        scores = metric.compute(**questions.arguments, **parameters)
    if as_json:
        return json.dumps(scores, indent=2)
    checker = parameters.get("check_correct_fn", "exact_match")
    parts = [describe_input(questions, checker), score_table(scores)]
    if notes := score_notes(scores, parameters.get("interval")):
        parts.append("\n".join(notes))
    return "\n\n".join(parts)
