"""Max@k: the expected reward of the best of k samples."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..checks import (
    as_list,
    check_categories,
    check_ks,
    check_names,
    check_samples,
    choose_ks,
)
from ..inputs.aligned import read_scores
from ..inputs.checking import Checker, Checking
from ..intervals.choice import AutoIntervals, IntervalOptions, JoinedIntervals, interval_options
from ..intervals.interval import IntervalMethod
from ..intervals.question_scores import EstimatedScore, QuestionIntervals, VarianceIntervals
from ..intervals.reward_family import max_intervals
from ..intervals.tail_family import tail_intervals
from ..report import Report
from ..scores.picked import PickedRewards
from ..scores.rewards import (
    are_real_rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    max_scores,
    real_rewards,
)
from ..scores.score import ScoreId, Scores, join_scores
from ..scores.tails import Tail, check_thresholds, tail_scores
from .computation import DEFAULT_K, Computation, Samples

_SCORES_OF_REWARDS = ("Max@k", "TailPass@k", "picked@k")


def max_at_k_results(
    samples: Samples,
    k: int | list[int] | None = None,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    picked_by: list[list[float]] | None = None,
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
    default = "Max@k" if picked_by is None else "picked@k"
    include = [default] if include is None else check_names("include", include, _SCORES_OF_REWARDS)
    if (picked_by is None) == ("picked@k" in include):
        raise ValueError(
            "picked@k needs picked_by, the scores that pick one of k samples, and only picked@k "
            "uses them: give both, or neither."
        )
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
    parts: list[tuple[Scores, IntervalMethod | None]] = []
    if of_max and confidence is None:
        parts.append((max_scores(rewards, of_max), None))
    elif of_max:
        parts.append(max_intervals(rewards, of_max, options))
    if "TailPass@k" in include:
        check_samples(ks, rewards.n)
        tails = {ScoreId("TailPass@k", k, tau): Tail(k, tau) for k in ks for tau in taus}
        if confidence is None:
            parts.append((tail_scores(rewards, tails), None))
        else:
            parts.append(tail_intervals(rewards, tails, options))
    if picked_by is not None:
        check_samples(ks, rewards.n)
        values = outcomes.values
        if not are_rewards:
            values = category_values[values.astype(int)]
        scores = read_scores(picked_by, "picked_by", outcomes)
        picked = PickedRewards.of(outcomes, values, scores)
        parts.append(_picked(picked, ks, options, (rewards.levels.min(), rewards.levels.max())))
    points, method = parts[0]
    for others, of_others in parts[1:]:
        points = join_scores(points, others)
        if method is not None and of_others is not None:
            method = JoinedIntervals(method, of_others, others.keys)
    return report.of(points, method)


def _picked(
    rewards: PickedRewards, ks: list[int], options: IntervalOptions, limits: tuple[float, float]
) -> tuple[Scores, IntervalMethod | None]:
    """picked@k for each k, and the method of its intervals."""
    points = max_scores(rewards, {ScoreId("picked@k", k): k for k in ks})
    if options.confidence is None:
        return points, None
    if options.method in ("posterior", "hierarchical"):
        raise ValueError(
            f"picked@k has no interval={options.method!r}: pass 'sampling' or 'questions', and "
            f"leave out R0."
        )
    low, high = np.clip(limits, *options.bounds).tolist()
    if options.method == "questions":
        return points, QuestionIntervals(points, (low, high), options.clusters)
    largest = (high - low) ** 2 / 4
    columns = zip(points.keys, points.columns.T, strict=True)
    again = VarianceIntervals(
        {
            key: EstimatedScore(column, rewards.variances(k, largest), rewards.n / k)
            for (key, column), k in zip(columns, ks, strict=True)
        },
        (low, high),
    )
    if not options.is_named:
        return points, again
    single = QuestionIntervals(points, (low, high), allow_one=True)
    return points, AutoIntervals(rewards.n, again, single)


# Any number is a category or a reward.
MAX_AT_K = Computation(
    max_at_k_results, lambda outcomes: outcomes, accepts_labels=True, in_order=("picked_by",)
)
