"""The computations of the five metrics from the samples of questions.

All five take the same steps: validate the parameters, check the samples against the references,
estimate the scores (`points`), choose the `method` that computes their confidence limits, or None
for no limits, and return the dict of `Report.result`. What takes long comes after all validation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import category_numbers, check_flag, check_samples, choose_ks
from .choice import (
    INTERVALS,
    IntervalOptions,
    check_clusters,
    limits_for_questions,
    max_limits,
    pass_limits,
    refuse_group_average_of_products,
)
from .computation import DEFAULT_K, Computation, SampledQuestions
from .consensus import Consensus
from .credits import (
    ScoreOptions,
    build_scores,
    check_lam,
    check_powers,
    check_thresholds,
    included_scores,
    only_included,
)
from .interval import IntervalMethod
from .package import PACKAGE
from .posterior import PosteriorIntervals
from .report import Report, SharedOptions
from .rewards import (
    are_real_rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    moments_by_key,
    real_rewards,
)
from .samples import n_in_keys, require_binary, require_categories, require_shares, warn_of_stopping
from .score import Score, ScoreId, Scores, join_scores, one_column_each
from .score_agg import (
    VERDICTS,
    agg_scores,
    check_eps,
    check_penalty,
    check_weights,
    exponent,
    require_weights,
)
from .signatures import shows_options

# --- gpassk -------------------------------------------------------------------------------


_FOR_K_ABOVE_N = (
    " With a confidence, and without clusters, a prior or average='groups', "
    "interval='hierarchical' allows k > n for most scores."
)
"""The end of the error about a k above n."""


@shows_options(SharedOptions)
def gpassk_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    include: str | list[str] | None = None,
    lam: float = 0.5,
    weights: list[float] | None = None,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
    budget: int | None = None,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of gpassk. metrics/gpassk documents the parameters."""
    common = SharedOptions(**shared)
    checking = common.checking()
    if include is None:
        include = ["G-Pass@k", "mG-Pass@k"] if budget is None else ["pass@k"]
    included, requested = included_scores(include, k)
    metrics = {score.metric for score in included}
    powers = check_powers(pass_power, unanimous_power)
    score_options = ScoreOptions(check_thresholds(thresholds), check_lam(lam), weights, powers)
    if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & metrics:
        raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
    known = INTERVALS if budget is None else ("questions", "auto")
    report = Report(common, len(questions), known=known, band=band, alpha0=alpha0, beta0=beta0)
    options, n = report.options, questions.n
    errors = _errors_of_checker(checker_rates, labels)
    if errors is not None:
        errors.require_no_posterior(options)
    if budget is not None:
        first = PACKAGE.rooms.first_successes(budget, requested, metrics, options, errors)
        points, method = first.scores(questions.check(checking))
        return report.result(points, method, n)

    def scores_for(n: np.ndarray) -> dict[ScoreId, Score]:
        """Return the requested scores; raise a ValueError if a k exceeds one of `n`, (M,)."""
        ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n, _FOR_K_ABOVE_N)
        return build_scores(included, ks, score_options)

    scores = scores_for(n)  # An invalid k is refused here, before the checker runs.
    refuse_group_average_of_products(common.average, scores)
    checked = questions.check(checking)
    counts = checked.outcomes.counts
    warn_of_stopping(checked.outcomes)
    if (counts.n < n).any():  # the checker left samples unscored
        scores = scores_for(counts.n)
    if errors is not None:
        points, method, rates_of_checker = errors.pass_limits(checked, scores, options)
        return report.result(points, method, n, rates_of_checker)
    points, method = pass_limits(counts, scores, options)
    return report.result(points, method, n)


def _errors_of_checker(checker_rates, labels) -> Any:
    """Return a model of the checker's errors, or None if neither parameter is given."""
    if checker_rates is None and labels is None:
        return None
    return PACKAGE.rooms.errors(checker_rates, labels)


GPASSK = Computation(gpassk_results, require_binary, in_order=("labels", "budget"))


# --- bayes_at_n ---------------------------------------------------------------------------


@shows_options(SharedOptions)
def bayes_at_n_results(
    questions: SampledQuestions,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    categories: list[str] | None = None,
    confidence: float | None = 0.95,
    bounds: tuple[float, float] | None = None,
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of bayes_at_n. metrics/bayes_at_n documents the parameters."""
    category_of_label = category_numbers(categories)
    common = SharedOptions(confidence=confidence, **shared)
    checking = common.checking(category_of_label)
    rewards_of_categories = check_rewards(w, category_of_label)
    prior = check_prior_outcomes(R0, len(questions), len(rewards_of_categories))
    if common.anytime and common.interval is None:
        raise ValueError(
            "anytime needs limits of the data alone: give interval='sampling' or 'questions'."
        )
    # Both scores are the centers of their intervals, so mu would repeat them.
    report = Report(common, len(questions), with_mu=False, bounds=bounds)
    options, errors = report.options, _errors_of_checker(checker_rates, labels)
    if errors is not None and any(x is not None for x in (w, categories, bounds)):
        raise ValueError(
            "checker_rates and labels are for samples that are correct or not: leave out w, "
            "categories and bounds."
        )

    checked = questions.check(checking)
    outcomes = checked.outcomes if errors is None else require_binary(checked.outcomes)
    warn_of_stopping(outcomes)
    n = n_in_keys(outcomes.n)
    # Both scores estimate the mean reward, which is Max@k for k = 1.
    ks = {ScoreId("bayes@N", n): 1, ScoreId("avg@N", n): 1}
    if are_real_rewards(outcomes, w, R0, categories):
        points, method = max_limits(real_rewards(outcomes), ks, options)
    else:
        rewards = category_rewards(outcomes, rewards_of_categories, prior)
        both = rewards.posterior(), rewards.average()
        moments = moments_by_key(rewards, dict(zip(ks, both, strict=True)))
        points = Scores(moments.keys, moments.inverse, moments.mean)
        if common.interval is not None and options.method != "posterior":
            _, method = max_limits(rewards, ks, options)
        else:
            # The posterior defines Bayes@N, so it is the default. Results name it only if given.
            check_clusters(common.clusters, "posterior", len(questions))
            name = None if common.interval is None else "posterior"
            range_of_rewards = float(rewards.levels[0]), float(rewards.levels[-1])
            clipped_to = options.bounds if bounds else range_of_rewards
            method = PosteriorIntervals(moments, clipped_to, name, options.weights)
    if errors is None:
        return report.result(points, method, questions.n)
    points, method, rates_of_checker = errors.rate_limits(checked, points, method, options)
    return report.result(points, method, questions.n, rates_of_checker)


BAYES_AT_N = Computation(
    bayes_at_n_results,
    # Floats may be real rewards. That depends on w, so they are validated later.
    lambda x: None if x.values.dtype.kind == "f" else require_categories(x),
    accepts_labels=True,
    in_order=("labels",),
)


# --- max_at_k -----------------------------------------------------------------------------

_SCORES_OF_REWARDS = {
    "Max@k": "max@k",
    "TailPass@k": "TailPass@k",
    "picked@k": "picked@k",
    "max@k": "max@k",
}
"""The `metric` in the `ScoreId` of each name that `include` may have."""


@shows_options(SharedOptions)
def max_at_k_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    picked_by: list[list[float]] | None = None,
    include: str | list[str] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    categories: list[str] | None = None,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of max_at_k. metrics/max_at_k documents the parameters."""
    category_of_label = category_numbers(categories)
    common = SharedOptions(**shared)
    checking = common.checking(category_of_label)
    rewards_of_categories = check_rewards(w, category_of_label)
    prior = check_prior_outcomes(R0, len(questions), len(rewards_of_categories))
    included, requested = _included_rewards(include, k, picked_by)
    taus = check_thresholds(thresholds)
    report = Report(
        common, len(questions), has_prior_outcomes=bool(prior.any()), bounds=bounds, band=band
    )
    options, n = report.options, questions.n
    choose_ks(requested, DEFAULT_K, n, options.allow_above_n)  # An error comes before the check.

    outcomes = questions.check(checking).outcomes
    warn_of_stopping(outcomes)
    are_real = are_real_rewards(outcomes, w, R0, categories)
    if are_real:
        rewards = real_rewards(outcomes)
    else:
        rewards = category_rewards(outcomes, rewards_of_categories, prior)
    # The checker may have left samples unscored. For real rewards no k exceeds n, because n samples
    # say nothing about rewards above the largest observed.
    ks = choose_ks(requested, DEFAULT_K, rewards.n, options.allow_above_n and not are_real)
    metrics = {score.metric for score in included}
    if metrics != {"max@k"}:
        check_samples(ks, rewards.n)
    parts: list[tuple[Scores, IntervalMethod]] = []  # scores, and the method of their limits
    if max_ks := only_included({ScoreId("max@k", k): k for k in ks}, included):
        parts.append(max_limits(rewards, max_ks, options))
    if "TailPass@k" in metrics:
        tails = PACKAGE.rooms.tails(rewards, included, ks, taus)
        parts.append((tails, limits_for_questions(tails, "TailPass@k", options)))
    if picked_by is not None:
        w_or_none = None if are_real else rewards_of_categories
        picked_ks = only_included({ScoreId("picked@k", k): k for k in ks}, included)
        picked, picked_range = PACKAGE.rooms.picked(outcomes, w_or_none, picked_by, picked_ks)
        clipped_range = np.clip(picked_range, *options.bounds).tolist()
        parts.append((picked, limits_for_questions(picked, "picked@k", options, clipped_range)))
    points, method = _joined(parts, options)
    return report.result(points, method, n)


def _joined(
    parts: list[tuple[Scores, IntervalMethod]], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return the scores of all parts as one `Scores`, and one method for their limits."""
    points, method = parts[0]
    for scores, method_of_scores in parts[1:]:
        points = join_scores(points, scores)
        if options.confidence is not None:
            method = PACKAGE.rooms.joined(method, method_of_scores, scores.keys)
    return points, method


def _included_rewards(
    include: str | list[str] | None, k: int | list[int] | None, picked_by: Any
) -> tuple[list[ScoreId], list[int] | None]:
    """Return the ids of the included scores, and a list of all requested k, or None for no request.

    The default of `include` is Max@k, or picked@k if `picked_by` is given. A ValueError is raised
    if only one of picked@k and `picked_by` is given.
    """
    if include is None:
        include = "Max@k" if picked_by is None else "picked@k"
    included, requested = included_scores(include, k, _SCORES_OF_REWARDS, _SCORES_OF_REWARDS)
    if (picked_by is None) == any(score.metric == "picked@k" for score in included):
        raise ValueError(
            "picked@k needs picked_by, the scores that pick one of k samples, and only picked@k "
            "uses them: give both, or neither."
        )
    return included, requested


# All numbers are valid outcomes: they are categories or rewards.
MAX_AT_K = Computation(
    max_at_k_results, lambda outcomes: outcomes, accepts_labels=True, in_order=("picked_by",)
)


# --- cons_at_k ----------------------------------------------------------------------------

_SCORES_OF_CONSENSUS = {
    "cons@k": "cons@k",
    "avg@n": "avg@N",
    "pass@k": "pass@k",
    "maj@k": "maj@k",
    "accuracy": "accuracy (n runs average)",
    "vote@k": "vote@k",
    "weighted_vote@k": "weighted_vote@k",
}
"""The `metric` in the `ScoreId` of each name that `include` may have."""


@shows_options(SharedOptions)
def cons_at_k_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    include: str | list[str] | None = None,
    merge_right: bool = True,
    vote_weights: list[list[float]] | None = None,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of cons_at_k. metrics/cons_at_k documents the parameters."""
    common = SharedOptions(**shared)
    checking = common.checking()
    names = _SCORES_OF_CONSENSUS
    wanted = list(names) if include is None else include
    included, requested = included_scores(wanted, k, names, names)
    metrics = {score.metric for score in included}
    merge_right = check_flag("merge_right", merge_right)
    known = ("posterior", "sampling", "questions", "auto")
    report = Report(common, len(questions), known=known, band=band, alpha0=alpha0, beta0=beta0)
    options = report.options
    check_samples(requested or [], questions.n)

    checked = questions.check(checking)
    warn_of_stopping(checked.outcomes)
    consensus = Consensus.from_checked(checked, requested, merge_right, "vote@k" in metrics)
    values, weighted_ks = consensus.values(), {}
    if vote_weights is not None:
        weighted_ks = {
            ScoreId("weighted_vote@k", k_in_key): consensus.sizes(k)
            for k_in_key, k in consensus.ks.items()
        }
    if include is not None:
        _check_included(metrics, {score_id.metric for score_id in (*values, *weighted_ks)})
    values = only_included(values, included)
    # `values` may be empty: include may have weighted votes only.
    columns = np.array([*values.values()]).reshape(len(values), len(questions)).T
    points = Scores(one_column_each(values), np.arange(len(questions)), columns)
    method = limits_for_questions(points, "", options)
    if options.confidence is not None and options.method != "questions":
        method = PACKAGE.rooms.consensus_limits(consensus, options)
    if weighted_ks := only_included(weighted_ks, included):
        weighted = PACKAGE.rooms.weighted_votes(checked, vote_weights, merge_right, weighted_ks)
        if options.method == "posterior":  # Weighted votes have none, so they have no limits.
            points = join_scores(points, weighted)
        else:
            limits = limits_for_questions(weighted, "weighted_vote@k", options)
            points, method = _joined([(points, method), (weighted, limits)], options)
    return report.result(points, method, questions.n)


def _check_included(included: set[str], known: set[str]) -> None:
    """Raise a ValueError if a score is included but not `known`: the inputs do not give it."""
    # All other scores are always known.
    reasons = {
        "vote@k": "is a vote among answers: give predictions and references, or counts of answers",
        "weighted_vote@k": "needs vote_weights, a number for each sample",
        "accuracy": "is the mean share of correctness, and these outcomes are 0 or 1: avg@n is it",
    }
    for name, reason in reasons.items():
        if _SCORES_OF_CONSENSUS[name] in included - known:
            raise ValueError(f"include has {name!r}, which {reason}.")


CONS_AT_K = Computation(cons_at_k_results, require_shares, in_order=("vote_weights",))


# --- score_agg ----------------------------------------------------------------------------


@shows_options(SharedOptions)
def score_agg_results(
    questions: SampledQuestions,
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    weights: dict[str, float] = VERDICTS,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of score_agg. metrics/score_agg documents the parameters."""
    labels = check_weights(weights)
    common = SharedOptions(**shared)
    checking = common.checking(labels)
    p, penalty, eps = exponent(temperature), check_penalty(penalty), check_eps(eps_for_neg_p)
    report = Report(common, len(questions), known=("questions", "auto"))

    outcomes = questions.check(checking).outcomes
    points = agg_scores(outcomes, p, penalty, eps)
    method = limits_for_questions(points, "score_agg", report.options)
    return report.result(points, method, questions.n)


SCORE_AGG = Computation(score_agg_results, require_weights, accepts_labels=True)

COMPUTATIONS = {
    "gpassk": GPASSK,
    "bayes_at_n": BAYES_AT_N,
    "max_at_k": MAX_AT_K,
    "cons_at_k": CONS_AT_K,
    "score_agg": SCORE_AGG,
}
"""The computation of each metric by its name."""
