"""score_agg: graded verdicts aggregated into one score, with a temperature for strictness."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..inputs.checking import Checker, Checking
from ..intervals.choice import interval_options
from ..intervals.interval import UNIT_RANGE
from ..intervals.question_scores import QuestionIntervals
from ..report import Report
from ..scores.score import Score, ScoreId, Scores
from ..scores.score_agg import (
    VERDICTS,
    check_eps,
    check_penalty,
    check_weights,
    exponent,
    item_scores,
    require_weights,
)
from .computation import Computation, Samples

_SCORE = ScoreId("score_agg")


def score_agg_results(
    samples: Samples,
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    weights: dict[str, float] = VERDICTS,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    clusters: list[str] | None = None,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    questions = len(samples)
    labels = check_weights(weights)
    checking = Checking(check_correct_fn, num_proc, executor, timeout, labels)
    p, penalty, eps = exponent(temperature), check_penalty(penalty), check_eps(eps_for_neg_p)
    options = interval_options(
        questions, confidence, interval, clusters, known=("questions", "auto")
    )
    report = Report(questions, groups, options, return_per_question, keys)

    outcomes = samples.check(checking).outcomes
    values = item_scores(outcomes, p, penalty, eps)
    points = Scores({_SCORE: Score((0,))}, np.arange(len(values)), values[:, None])
    # "auto" gives a single question the whole range, "questions" refuses it.
    by_auto = options.is_named
    method = QuestionIntervals(points, UNIT_RANGE, options.clusters, by_auto)
    return report.of(points, method)


SCORE_AGG = Computation(
    score_agg_results, require_weights, accepts_labels=True, counts_suffice=False
)
