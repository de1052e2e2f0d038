"""Bayes@N and avg@N: the mean reward of the samples, and its uncertainty."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import check_categories
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import Outcomes, number_of_samples, require_binary, require_categories
from ..intervals.choice import check_clusters, interval_options
from ..intervals.interval import IntervalMethod
from ..intervals.labelled import Errors, check_errors, success_rates
from ..intervals.posterior import PosteriorIntervals
from ..intervals.reward_family import max_intervals
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
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    questions = len(samples)
    names = check_categories(categories)
    checking = Checking(check_correct_fn, num_proc, executor, timeout, names)
    category_values = check_rewards(w, names)
    prior = check_prior_outcomes(R0, questions, len(category_values))
    options = interval_options(questions, confidence, interval, clusters, bounds=bounds)
    # Both scores are the centers of their intervals, so mu would repeat them.
    report = Report(questions, groups, options, return_per_question, keys, with_mu=False)
    has_errors = check_errors(checker_rates, labels)
    if has_errors and not w is categories is bounds is None:
        raise ValueError(
            "checker_rates and labels are for samples that are correct or not: leave out w, "
            "categories and bounds."
        )

    checked = samples.check(checking)
    outcomes = require_binary(checked.outcomes) if has_errors else checked.outcomes
    n = number_of_samples(outcomes.n)
    # Both scores estimate the mean reward, which is Max@1.
    ks = {ScoreId("bayes@N", n): 1, ScoreId("avg@N", n): 1}
    method: IntervalMethod | None = None
    if are_real_rewards(outcomes, w, R0, categories):
        rewards = real_rewards(outcomes)
        scores = max_scores(rewards, ks)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
        moments = bayes_moments(rewards, *ks)
        scores = Scores(moments.keys, moments.inverse, moments.mean)
        limits = options.bounds if bounds else (float(rewards.levels[0]), float(rewards.levels[-1]))
        if interval is None:  # the posterior defines Bayes@N, and its results do not name it
            check_clusters(clusters, "posterior", confidence, questions)
            method = PosteriorIntervals(moments, limits, name=None)
        elif options.method == "posterior":
            method = PosteriorIntervals(moments, limits)
    if method is None and confidence is not None:
        _, method = max_intervals(rewards, ks, options)
    if has_errors:
        errors = Errors.of_options(checker_rates, labels, checked.graded)
        errors.warn_if_contradicted(outcomes.counts())
        points, method = success_rates(scores, method, errors)
        return report.of(points, method, errors.described())
    return report.of(scores, method)


def _categories_or_rewards(outcomes: Outcomes) -> Outcomes:
    # A float may be a real reward: that depends on w.
    return outcomes if outcomes.values.dtype.kind == "f" else require_categories(outcomes)


BAYES_AT_N = Computation(
    bayes_at_n_results, _categories_or_rewards, accepts_labels=True, in_order=("labels",)
)
