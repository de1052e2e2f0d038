"""`at-k compare FILE FILE`: two files of samples of the same questions, compared at every k."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import itertools
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import short
from ..inputs.columns import given_per_question
from ..inputs.counts import BinaryCounts
from ..inputs.labels import label_index
from ..inputs.parsing import prediction_column, reference_column
from ..inputs.run_checker import Checker, outcomes_of
from ..loading import load
from ..readers.questions import Questions, read_questions
from ..runs.comparison import compare
from ..runs.differences import check_comparison, compare_counts
from .flags import FILE_HELP, add_flags, parameter_helps, split_arguments
from .formats import Cells, Output
from .tables import describe_input, group_heading

_INTERVAL_SCOPE = {
    "sampling": "if the same questions were sampled again",
    "questions": "for other questions like these",
}
_COLUMNS = {
    "": "difference",
    "_lo": "lo",
    "_hi": "hi",
    "_band_lo": "band lo",
    "_band_hi": "band hi",
}
"""The columns of a difference: the suffix of the keys, and the heading."""

_COMPARE_EXAMPLES = """\
examples:
  at-k compare a.jsonl b.jsonl --check-correct-fn numeric
  at-k compare before.csv after.csv --metric pass^k --k 1 2 4 8 --interval questions
"""


def add_compare_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.compare` and of checkers to the parser, and what it runs."""
    metric = load("gpassk")
    of_metric = inspect.signature(metric._compute).parameters
    parameters = [
        *_compare_parameters(),
        *(of_metric[name] for name in ("check_correct_fn", "num_proc", "groups")),
    ]
    helps = parameter_helps(metric.inputs_description)
    helps |= parameter_helps(inspect.getdoc(compare) or "")
    helps["groups"] = "groups of questions that are compared for themselves as well."
    command.usage = "at-k compare FILE FILE [flags]"
    command.epilog = _COMPARE_EXAMPLES
    command.add_argument("files", metavar="FILE", nargs=2, help=FILE_HELP)
    add_flags(command, parameters, helps)
    command.set_defaults(run=_compare_files)


def _compare_parameters() -> list[inspect.Parameter]:
    """Return the parameters of `at_k.compare` except the two outcome matrices."""
    parameters = inspect.signature(compare, eval_str=True).parameters
    return [parameters[name] for name in parameters if name not in ("R_a", "R_b")]


def _compare_files(
    files: Sequence[str],
    output_format: str,
    num_proc: int | None = None,
    **given: Any,
) -> str:
    """Return the comparison of two files."""
    reading, options = split_arguments(given)
    check_correct_fn = options.pop("check_correct_fn", "exact_match")
    if reading["groups"] is None:
        del reading["groups"]
    a = read_questions(files[0], **reading)
    for role in ("groups", "clusters"):  # those of the first file are used
        reading.pop(role, None)
    b = read_questions(files[1], **reading)
    if "clusters" in a.arguments:
        options["clusters"] = a.arguments["clusters"]
    options = {each.name: each.default for each in _compare_parameters()} | options
    with contextlib.redirect_stdout(sys.stderr):  # so that a checker cannot print among the scores
        scores = _compare_questions(a, b, options, check_correct_fn, num_proc)
    labels = _file_labels(files)
    inputs = [
        f"{label}: {describe_input(questions, check_correct_fn)}"
        for label, questions in zip(labels, (a, b), strict=True)
    ]
    summary = _comparison_summary(scores, labels, options["interval"], options["confidence"])
    groups = list(dict.fromkeys(map(str, a.arguments.get("groups", ()))))
    output = Output(
        scores,
        inputs,
        lambda: _comparison_tables(scores, labels, groups),
        lambda: _records(scores, labels, groups),
        [summary],
    )
    return output.printed(output_format)


def _compare_questions(
    a: Questions,
    b: Questions,
    options: Mapping[str, Any],
    check_correct_fn: Checker,
    num_proc: int | None,
) -> dict[str, float]:
    """Check the samples of two files, and return what `at_k.compare` returns for them.

    For each group of questions this follows with the label of the group before the keys.
    """
    order = _match_questions(a, b)
    n = np.minimum(_sizes(a), _sizes(b)[order])
    check_comparison(n, **options)  # before any sample is checked
    run_a, run_b = (_counts_of(each, check_correct_fn, num_proc) for each in (a, b))
    run_b = BinaryCounts(run_b.n[order], run_b.c[order])
    scores = compare_counts(run_a, run_b, **options)
    if "groups" in a.arguments:
        options = {**options, "k": options["k"] or list(range(1, int(n.min()) + 1))}
        labels, index = label_index(a.arguments["groups"], len(n), "groups")
        for group, label in enumerate(labels):
            rows = np.flatnonzero(index == group)
            group_a, group_b = (BinaryCounts(run.n[rows], run.c[rows]) for run in (run_a, run_b))
            clusters = options["clusters"] and [options["clusters"][row] for row in rows]
            try:
                compared = compare_counts(group_a, group_b, **{**options, "clusters": clusters})
            except ValueError as error:
                raise ValueError(f"Group {label}: {error}") from error
            scores |= {f"{label}/{key}": value for key, value in compared.items()}
    return scores


def _sizes(questions: Questions) -> np.ndarray:
    """Return (M,) the number of samples of each question that are not missing."""
    predictions = questions.arguments["predictions"]
    if isinstance(predictions, dict):
        return np.array(predictions["n"])
    return given_per_question(prediction_column(predictions))


def _counts_of(questions: Questions, checker: Checker, num_proc: int | None) -> BinaryCounts:
    """Check the samples of a file, and return their counts."""
    predictions = questions.arguments["predictions"]
    if isinstance(predictions, dict):
        return BinaryCounts(np.array(predictions["n"]), np.array(predictions["correct"]))
    column = prediction_column(predictions)
    references = reference_column(questions.arguments.get("references"), len(column))
    return outcomes_of(column, references, checker, num_proc).counts()


def _match_questions(a: Questions, b: Questions) -> list[int]:
    """Return the position in b of each question of a.

    Questions are matched by a column that identifies them in both files. If there is none, they
    are taken to be in the same order.

    Raises:
        ValueError: if the files have different questions, or different numbers of them.
    """
    shared = [column for column in a.identifiers if column in b.identifiers]
    for column in shared:
        if set(a.identifiers[column]) == set(b.identifiers[column]):
            position = {entry: i for i, entry in enumerate(b.identifiers[column])}
            return [position[entry] for entry in a.identifiers[column]]
    if shared:
        column = shared[0]
        for which, file, other in (("first", a, b), ("second", b, a)):
            known = set(other.identifiers[column])
            unmatched = [entry for entry in file.identifiers[column] if entry not in known]
            if unmatched:
                raise ValueError(
                    f"The files have different questions. Values of {column} that occur only in "
                    f"the {which} file: {len(unmatched)}, such as {short(unmatched[0])}."
                )
    m_a, m_b = len(a.arguments["predictions"]), len(b.arguments["predictions"])
    if m_a != m_b:
        raise ValueError(
            f"There are {m_a} questions in the first file and {m_b} in the second: both need the "
            f"same questions."
        )
    return list(range(m_a))


def _file_labels(files: Sequence[str]) -> list[str]:
    """Return the names of the files without suffixes, or A and B if these are equal or long."""
    names = [Path(file).name.split(".")[0] for file in files]
    if len(set(names)) == len(names) and all(1 <= len(name) <= 24 for name in names):
        return names
    return ["A", "B"]


def _comparison_tables(
    scores: Mapping[str, float], labels: Sequence[str], groups: Sequence[str]
) -> list[Cells]:
    """Return a table for all questions and one for each group.

    There is a row for each k: both scores, their difference and its limits.
    """
    headings = {"": "all questions" if groups else ""}
    headings |= {f"{group}/": group_heading(group) for group in groups}
    tables = []
    for prefix, heading in headings.items():
        table = [[heading, *labels, *_COLUMNS.values()]]
        for key in _compared_keys(scores):
            both = [f"{scores[prefix + key + suffix]:.4f}" for suffix in ("_a", "_b")]
            table.append(
                [key, *both, *(f"{scores[prefix + key + suffix]:+.4f}" for suffix in _COLUMNS)]
            )
        tables.append(table)
    return tables


def _records(scores: Mapping[str, float], labels: Sequence[str], groups: Sequence[str]) -> Cells:
    """Return the comparisons of all questions and of each group in one table, in full precision."""
    table = [["group", "key", *labels, *_COLUMNS.values()]]
    for group in ["", *groups]:
        for key in _compared_keys(scores):
            name = f"{group}/{key}" if group else key
            suffixes = ("_a", "_b", *_COLUMNS)
            table.append([group, key, *(str(scores[name + suffix]) for suffix in suffixes)])
    return table


def _comparison_summary(
    scores: Mapping[str, float], labels: Sequence[str], interval: str, confidence: float
) -> str:
    """Return sentences that explain the limits, and say at which k one file scores higher."""
    runs = []
    keys_by_sign = itertools.groupby(_compared_keys(scores), lambda key: _band_sign(scores, key))
    for sign, group in keys_by_sign:
        keys = list(group)
        where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
        if sign != 0:
            label = labels[1] if sign > 0 else labels[0]
            runs.append(f"{label} is higher {where}")
    conclusion = " and ".join(runs) or "neither is higher at any k"
    percent = f"{100 * confidence:g} %"
    return textwrap.fill(
        f"lo and hi: {percent} confidence interval of the difference at each k, "
        f"{_INTERVAL_SCOPE[interval]}. band lo and band hi: simultaneous {percent} confidence "
        f"band over all k. By the band, {conclusion}."
    )


def _band_sign(scores: Mapping[str, float], key: str) -> int:
    """Return 1 or -1 if the band at a key is above or below 0, or else 0."""
    if scores[f"{key}_band_lo"] > 0:
        return 1
    return -1 if scores[f"{key}_band_hi"] < 0 else 0


def _compared_keys(scores: Mapping[str, float]) -> list[str]:
    """Return the keys of the differences for all questions."""
    return [key for key in scores if f"{key}_band_lo" in scores and "/" not in key]
