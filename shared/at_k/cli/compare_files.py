"""`at-k compare`: two files of samples of the same questions, and at which k one is ahead."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..inputs.columns import given_per_question
from ..inputs.counts import Counts
from ..inputs.parsing import outcome_numbers, prediction_column, reference_column
from ..inputs.run_checker import Checker
from ..intervals.comparison import check_comparison, compare_counts
from ..loading import load
from .reading import Questions, places
from .tables import aligned

_ENDS = ("_a", "_b", "", "_lo", "_hi", "_band_lo", "_band_hi")
_OF_WHAT = {"sampling": "new samples of these questions", "questions": "new questions like these"}


def compare_files(
    a: Questions,
    b: Questions,
    asked: Mapping[str, Any],
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
) -> dict[str, float]:
    """What `at_k.compare` says of the samples of two files, once they are judged.

    Args:
        a: the questions of the first file.
        b: those of the second, which may be in another order.
        asked: the other parameters of `at_k.compare`.
        check_correct_fn: the judge, as the metrics take it.
        num_proc: number of processes to judge in.
    """
    order = places(a, b)
    columns = [prediction_column(questions.predictions) for questions in (a, b)]
    n_a, n_b = (given_per_question(column) for column in columns)
    check_comparison(np.minimum(n_a, n_b[order]), **asked)  # before the judge is
    metric, counts = load("gpassk"), []
    for questions, column in zip((a, b), columns, strict=True):
        references = reference_column(questions.references, len(column))
        if questions.references is None:
            column = outcome_numbers(column)
        outcomes = metric.outcomes(column, references, check_correct_fn, num_proc, None)
        counts.append(outcomes.counts())
    return compare_counts(counts[0], Counts(counts[1].n[order], counts[1].c[order]), **asked)


# --- What is printed --------------------------------------------------------------------


def labels_of(files: Sequence[str], most: int = 24) -> list[str]:
    """What to call the files: by their names, if these differ and are short; or else A and B."""
    names = [Path(file).name.split(".")[0] for file in files]
    short = all(0 < len(name) <= most for name in names)
    return names if short and len(set(names)) == len(names) else ["A", "B"]


def difference_table(scores: Mapping[str, float], labels: Sequence[str]) -> str:
    """A row for each k: both scores, their difference, its interval and its band."""
    table = [["", *labels, "difference", "lo", "hi", "band lo", "band hi"]]
    for key in _keys(scores):
        a, b, *rest = (scores[key + end] for end in _ENDS)
        table.append([key, f"{a:.4f}", f"{b:.4f}", *(f"{x:+.4f}" for x in rest)])
    return aligned(table)


def who_is_ahead(
    scores: Mapping[str, float], labels: Sequence[str], interval: str, confidence: float
) -> str:
    """Where the band leaves no doubt of the sign of the difference, as a sentence."""
    keys = _keys(scores)
    signs = [(scores[f"{key}_band_lo"] > 0) - (scores[f"{key}_band_hi"] < 0) for key in keys]
    ahead = []
    for sign, rows in itertools.groupby(range(len(keys)), signs.__getitem__):
        first, *_, last = [keys[row] for row in rows] * 2
        where = f"at {first}" if first == last else f"from {first} to {last}"
        if sign:
            ahead.append(f"{labels[sign > 0]} is ahead {where}")
    sure = f"{100 * confidence:g} %"
    return textwrap.fill(
        f"lo to hi holds the difference for {_OF_WHAT[interval]} with {sure} confidence at each k, "
        f"the band with {sure} at all of them at once: by it, "
        f"{' and '.join(ahead) or 'neither is ahead for sure at any of them'}."
    )


def _keys(scores: Mapping[str, float]) -> list[str]:
    return [key for key in scores if f"{key}_band_lo" in scores]
