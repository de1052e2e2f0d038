"""cons@k, avg@n, pass@k, maj@k and vote@k: scores of a majority of the samples."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..checks import check_flag, check_ks, check_samples
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import number_of_samples, require_shares
from ..intervals.choice import choose_interval
from ..intervals.interval import IntervalMethod, JoinedIntervals
from ..intervals.options import check_clusters, check_interval, chosen_method
from ..intervals.posterior import PosteriorIntervals
from ..intervals.questions import QuestionIntervals
from ..intervals.variance_intervals import EstimatedScore, VarianceIntervals
from ..report import Report
from ..scores.binary_family import BinaryFamily
from ..scores.consensus import (
    consensus_estimator,
    consensus_moments,
    consensus_scores,
    mean_shares,
    more_than_half,
    share_variances,
)
from ..scores.distributions import check_prior
from ..scores.score import ScoreId, Scores, one_column_each
from ..scores.votes import count_answers, vote_at_k, vote_variances
from .computation import Computation, Samples

_INTERVALS_OF_CONSENSUS = ("posterior", "sampling", "questions", "auto")


def cons_at_k_results(
    samples: Samples,
    k: int | list[int] | None = None,
    merge_right: bool = True,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    clusters: list[str] | None = None,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    checking = Checking(check_correct_fn, num_proc, executor, timeout)
    merge_right = check_flag("merge_right", merge_right)
    prior = check_prior(alpha0, beta0)
    interval = check_interval(interval, confidence, _INTERVALS_OF_CONSENSUS)
    method = chosen_method(interval, None if prior == (1, 1) else "alpha0, beta0", clusters)
    cluster_index = check_clusters(clusters, method, confidence, len(samples))
    report = Report(len(samples), groups, confidence, return_per_question, keys, band=band)
    requested = check_ks(k)
    check_samples(requested or [], samples.n)

    checked = samples.check(checking)
    outcomes = checked.outcomes
    correct = more_than_half(outcomes)
    counts = correct.counts()
    check_samples(requested or [], counts.n)  # the checker may leave samples unscored
    n = number_of_samples(counts.n)
    # None stands for all samples of a question.
    ks: dict[int | str, int | None] = {k: k for k in requested} if requested else {n: None}
    scores = consensus_scores(ks, n)
    values = {key: score.estimate(*counts.unique)[counts.inverse] for key, score in scores.items()}
    same_questions = confidence is not None and method in ("sampling", "auto")
    estimated: dict[ScoreId, EstimatedScore] = {}  # of more than the counts of correct samples
    if outcomes.values.dtype.kind == "f":
        key = ScoreId("accuracy (n runs average)", n)
        values[key] = mean_shares(outcomes)
        if same_questions:
            estimated[key] = EstimatedScore(values[key], share_variances(outcomes), counts.n)
    if checked.answers is not None:
        votes = count_answers(correct, checked.answers, merge_right)
        for shown, size in ks.items():
            drawn = counts.n if size is None else size
            key = ScoreId("vote@k", shown)
            values[key] = vote_at_k(votes, drawn)
            if same_questions:
                variances = vote_variances(votes, drawn)
                estimated[key] = EstimatedScore(values[key], variances, counts.n / drawn)
    points = Scores(
        one_column_each(values),
        np.arange(len(counts.n)),
        np.stack([*values.values()], axis=1),
    )
    if confidence is None:
        return report.of(points)
    intervals: IntervalMethod
    if method == "posterior":
        moments = consensus_moments(scores, counts, prior)
        intervals = PosteriorIntervals(moments, (0.0, 1.0))
    else:
        family = BinaryFamily(counts, *consensus_estimator(scores), {})
        others = {key: each for key, each in values.items() if key not in scores}
        intervals = JoinedIntervals(
            choose_interval(family, method, cluster_index),
            QuestionIntervals(others, (0.0, 1.0), cluster_index)
            if method == "questions"
            else VarianceIntervals(estimated, counts.n),
            others,
        )
    return report.of(points, intervals, name_methods=interval == "auto")


CONS_AT_K = Computation(cons_at_k_results, require_shares)
