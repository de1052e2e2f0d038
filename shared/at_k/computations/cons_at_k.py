"""cons@k, avg@n, pass@k, maj@k and vote@k: scores of a majority of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..checks import check_flag, check_ks, check_names, check_samples
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import number_of_samples, require_shares
from ..intervals.binary_family import BinaryFamily
from ..intervals.choice import AutoIntervals, JoinedIntervals, interval_options
from ..intervals.interval import UNIT_RANGE, IntervalMethod
from ..intervals.posterior import PosteriorIntervals
from ..intervals.question_scores import EstimatedScore, QuestionIntervals, VarianceIntervals
from ..intervals.sampling import family_intervals
from ..report import Report
from ..scores.consensus import (
    consensus_estimator,
    consensus_moments,
    consensus_scores,
    mean_shares,
    more_than_half,
    share_variances,
)
from ..scores.score import ScoreId, Scores, one_column_each
from ..scores.votes import count_answers, vote_at_k, vote_variances
from ..scores.weighted_votes import (
    read_weights,
    weigh_answers,
    weighted_vote_at_k,
    weighted_vote_variances,
)
from .computation import Computation, Samples

_SCORES = {
    "cons@k": "cons@k",
    "avg@n": "avg@N",
    "pass@k": "pass@k",
    "maj@k": "maj@k",
    "accuracy": "accuracy (n runs average)",
    "vote@k": "vote@k",
    "weighted_vote@k": "weighted_vote@k",
}
"""The names of scores in `include`, and as metrics."""

_INTERVALS_OF_CONSENSUS = ("posterior", "sampling", "questions", "auto")


def cons_at_k_results(
    samples: Samples,
    k: int | list[int] | None = None,
    include: str | list[str] | None = None,
    merge_right: bool = True,
    vote_weights: list[list[float]] | None = None,
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
    questions = len(samples)
    checking = Checking(check_correct_fn, num_proc, executor, timeout)
    included = list(_SCORES) if include is None else check_names("include", include, _SCORES)
    merge_right = check_flag("merge_right", merge_right)
    options = interval_options(
        questions,
        confidence,
        interval,
        clusters,
        known=_INTERVALS_OF_CONSENSUS,
        alpha0=alpha0,
        beta0=beta0,
        band=band,
    )
    report = Report(questions, groups, options, return_per_question, keys)
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
    same_questions = confidence is not None and options.method in ("sampling", "auto")
    estimated: dict[ScoreId, EstimatedScore] = {}  # of more than the counts of correct samples
    if outcomes.values.dtype.kind == "f":
        key = ScoreId("accuracy (n runs average)", n)
        values[key] = mean_shares(outcomes)
        if same_questions:
            estimated[key] = EstimatedScore(values[key], share_variances(outcomes), counts.n)
    votes: list[tuple[str, Any, Callable[..., np.ndarray], Callable[..., np.ndarray]]] = []
    if checked.answers is not None and "vote@k" in included:
        counted = count_answers(correct, checked.answers, merge_right)
        votes.append(("vote@k", counted, vote_at_k, vote_variances))
    if vote_weights is not None:
        if checked.answers is None:
            raise ValueError("vote_weights weigh answers: give predictions and references.")
        weights = read_weights(vote_weights, outcomes)
        weighed = weigh_answers(correct, checked.answers, weights, merge_right)
        votes.append(("weighted_vote@k", weighed, weighted_vote_at_k, weighted_vote_variances))
    for metric, of_questions, vote_at, variances_at in votes:
        for shown, size in ks.items():
            drawn = counts.n if size is None else size
            key = ScoreId(metric, shown)
            values[key] = vote_at(of_questions, drawn)
            if same_questions:
                variances = variances_at(of_questions, drawn)
                estimated[key] = EstimatedScore(values[key], variances, counts.n / drawn)
    metrics = [_SCORES[name] for name in included]
    points_of = {key: of_questions for key, of_questions in values.items() if key.metric in metrics}
    if include is not None:
        _check_included(included, {key.metric for key in points_of})
    points = _scores_of(points_of)
    if confidence is None:
        return report.of(points)
    if options.method == "posterior":
        moments = consensus_moments(scores, counts, options.prior)
        return report.of(points, PosteriorIntervals(moments, UNIT_RANGE))
    family = BinaryFamily.of_run(counts, *consensus_estimator(scores), {})
    others = {key: of_questions for key, of_questions in values.items() if key not in scores}
    if not others:
        return report.of(points, family_intervals(family, options))
    method: IntervalMethod = VarianceIntervals(estimated)
    if options.method in ("questions", "auto"):
        by_auto = options.method == "auto"
        new = QuestionIntervals(_scores_of(others), UNIT_RANGE, options.clusters, by_auto)
        method = AutoIntervals(counts.n, method, new) if by_auto else new
    return report.of(points, JoinedIntervals(family_intervals(family, options), method, others))


def _scores_of(values: Mapping[ScoreId, np.ndarray]) -> Scores:
    """Return scores from their (M,) values for the questions."""
    columns = np.stack([*values.values()], axis=1)
    return Scores(one_column_each(values), np.arange(len(columns)), columns)


def _check_included(included: list[str], metrics: set[str]) -> None:
    """Raise a ValueError if the outcomes do not allow a score that is included."""
    reasons = {
        "vote@k": "is a vote among answers: give predictions and references, or counts of answers",
        "weighted_vote@k": "needs vote_weights, a number for each sample",
        "accuracy": "is the mean share of correctness, and these outcomes are 0 or 1: avg@n is it",
    }
    for name in included:
        if _SCORES[name] not in metrics:
            raise ValueError(f"include has {name!r}, which {reasons[name]}.")


CONS_AT_K = Computation(cons_at_k_results, require_shares, in_order=("vote_weights",))
