"""Max@k: the expected reward of the best of k samples."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import (
    as_list,
    check_bounds,
    check_categories,
    check_ks,
    check_names,
    check_samples,
    choose_ks,
)
from ..inputs.checking import Checker, Checking
from ..intervals.choice import INTERVALS
from ..intervals.interval import JoinedIntervals
from ..intervals.options import check_clusters, check_interval, chosen_method
from ..intervals.reward_intervals import reward_intervals
from ..intervals.tail_intervals import tail_intervals
from ..report import Report
from ..scores.rewards import (
    are_real_rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    max_scores,
    real_rewards,
)
from ..scores.score import ScoreId, join_scores
from ..scores.tails import Tail, check_thresholds, tail_scores
from .computation import DEFAULT_K, Computation, Samples

_SCORES_OF_REWARDS = ("Max@k", "TailPass@k")


def max_at_k_results(
    samples: Samples,
    k: int | list[int] | None = None,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    include: str | list[str] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    categories: list[str] | None = None,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    clusters: list[str] | None = None,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
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
    include = check_names("include", "Max@k" if include is None else include, _SCORES_OF_REWARDS)
    taus = check_thresholds(as_list("thresholds", thresholds))
    interval = check_interval(interval, confidence, INTERVALS)
    method = chosen_method(interval, "R0" if prior.any() else None, clusters)
    cluster_index = check_clusters(clusters, method, confidence, len(samples))
    report = Report(len(samples), groups, confidence, return_per_question, keys, band=band)
    allow_above_n = confidence is not None and method in ("hierarchical", "auto")
    requested, given = check_ks(k), samples.n
    ks = choose_ks(requested, DEFAULT_K, given, allow_above_n)

    outcomes = samples.check(checking).outcomes
    are_rewards = are_real_rewards(outcomes, w, R0, categories)
    if are_rewards:
        rewards = real_rewards(outcomes)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
    if are_rewards or (rewards.n < given).any():  # the checker left samples unscored
        # n samples say nothing about real rewards above the largest observed.
        ks = choose_ks(requested, DEFAULT_K, rewards.n, allow_above_n and not are_rewards)
    of_max = {ScoreId("max@k", k): k for k in ks} if "Max@k" in include else {}
    tails = {}
    if "TailPass@k" in include:
        check_samples(ks, rewards.n)
        tails = {ScoreId("TailPass@k", k, tau): Tail(k, tau) for k in ks for tau in taus}
    if confidence is None:
        points = max_scores(rewards, of_max)
        return report.of(join_scores(points, tail_scores(rewards, tails)) if tails else points)
    found = []
    if of_max:
        found.append(reward_intervals(rewards, of_max, method, limits, cluster_index))
    if tails:
        found.append(tail_intervals(rewards, tails, method, cluster_index))
    (scores, intervals), *others = found
    for others_scores, of_others in others:
        scores = join_scores(scores, others_scores)
        intervals = JoinedIntervals(intervals, of_others, others_scores.keys)
    return report.of(scores, intervals, name_methods=interval == "auto")


# Any number is a category or a reward.
MAX_AT_K = Computation(max_at_k_results, lambda outcomes: outcomes, accepts_labels=True)
