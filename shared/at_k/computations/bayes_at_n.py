"""Bayes@N and avg@N: the mean reward of the samples, and its uncertainty."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import check_bounds, check_categories
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import Outcomes, number_of_samples, require_categories
from ..intervals.choice import INTERVALS
from ..intervals.options import check_clusters, check_interval, chosen_method
from ..intervals.posterior import PosteriorIntervals
from ..intervals.reward_intervals import reward_intervals
from ..report import Report
from ..scores.rewards import (
    are_real_rewards,
    bayes_moments,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    max_scores,
    real_rewards,
)
from ..scores.score import ScoreId, Scores
from .computation import Computation, Samples


def bayes_at_n_results(
    samples: Samples,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    categories: list[str] | None = None,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    confidence: float | None = 0.95,
    interval: str | None = None,
    clusters: list[str] | None = None,
    bounds: tuple[float, float] | None = None,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    labels = check_categories(categories)
    checking = Checking(check_correct_fn, num_proc, executor, timeout, labels)
    category_values = check_rewards(w, labels)
    prior = check_prior_outcomes(R0, len(samples), len(category_values))
    limits = check_bounds(bounds)
    requested = check_interval(interval, confidence, INTERVALS)
    method = chosen_method(requested, None, clusters)
    cluster_index = check_clusters(clusters, method, confidence, len(samples))
    # Both scores are the centers of their intervals, so mu would repeat them.
    report = Report(len(samples), groups, confidence, return_per_question, keys, with_mu=False)

    outcomes = samples.check(checking).outcomes
    n = number_of_samples(outcomes.n)
    # Both scores estimate the mean reward, which is Max@1.
    ks = {ScoreId("bayes@N", n): 1, ScoreId("avg@N", n): 1}
    if are_real_rewards(outcomes, w, R0, categories):
        rewards = real_rewards(outcomes)
        scores = max_scores(rewards, ks)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
        method = "posterior" if interval is None else method
        check_clusters(clusters, method, confidence, len(samples))
        moments = bayes_moments(rewards, *ks)
        scores = Scores(moments.keys, moments.inverse, moments.mean)
        if confidence is None or method == "posterior":
            return report.of(scores, PosteriorIntervals(moments, limits))
    if confidence is None:
        return report.of(scores)
    _, intervals = reward_intervals(rewards, ks, method, limits, cluster_index)
    return report.of(scores, intervals, name_methods=requested == "auto")


def _categories_or_rewards(outcomes: Outcomes) -> Outcomes:
    # A float may be a real reward: that depends on w.
    return outcomes if outcomes.values.dtype.kind == "f" else require_categories(outcomes)


BAYES_AT_N = Computation(bayes_at_n_results, _categories_or_rewards, accepts_labels=True)
