"""Max@k: the expected reward of the best of k samples."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import (
    as_list,
    check_categories,
    check_ks,
    check_names,
    check_samples,
    choose_ks,
)
from ..inputs.checking import Checker, Checking
from ..intervals.choice import JoinedIntervals, interval_options
from ..intervals.reward_family import max_intervals
from ..intervals.tail_family import tail_intervals
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
    questions = len(samples)
    labels = check_categories(categories)
    checking = Checking(check_correct_fn, num_proc, executor, timeout, labels)
    category_values = check_rewards(w, labels)
    prior = check_prior_outcomes(R0, questions, len(category_values))
    include = ["Max@k"] if include is None else check_names("include", include, _SCORES_OF_REWARDS)
    taus = check_thresholds(as_list("thresholds", thresholds))
    options = interval_options(
        questions,
        confidence,
        interval,
        clusters,
        has_prior_outcomes=bool(prior.any()),
        bounds=bounds,
        band=band,
    )
    report = Report(questions, groups, options, return_per_question, keys)
    requested, n = check_ks(k), samples.n
    ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n)

    outcomes = samples.check(checking).outcomes
    are_rewards = are_real_rewards(outcomes, w, R0, categories)
    if are_rewards:
        rewards = real_rewards(outcomes)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
    if are_rewards or (rewards.n < n).any():  # the checker left samples unscored
        # n samples say nothing about real rewards above the largest observed.
        ks = choose_ks(requested, DEFAULT_K, rewards.n, options.allow_above_n and not are_rewards)
    of_max = {ScoreId("max@k", k): k for k in ks} if "Max@k" in include else {}
    tails = {}
    if "TailPass@k" in include:
        check_samples(ks, rewards.n)
        tails = {ScoreId("TailPass@k", k, tau): Tail(k, tau) for k in ks for tau in taus}
    if confidence is None:
        points = max_scores(rewards, of_max)
        return report.of(join_scores(points, tail_scores(rewards, tails)) if tails else points)
    if not tails:
        return report.of(*max_intervals(rewards, of_max, options))
    if not of_max:
        return report.of(*tail_intervals(rewards, tails, options))
    scores, method = max_intervals(rewards, of_max, options)
    tail_points, tail_method = tail_intervals(rewards, tails, options)
    method = JoinedIntervals(method, tail_method, tails)
    return report.of(join_scores(scores, tail_points), method)


# Any number is a category or a reward.
MAX_AT_K = Computation(max_at_k_results, lambda outcomes: outcomes, accepts_labels=True)
