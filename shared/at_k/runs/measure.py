"""The scored runs that comparisons, leaderboards, gates and `noise` take.

Each family of scores contributes the scores of questions and the method of their limits, as
`compute` has them, and the covariance of the scores for new samples of the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

from ..core.choice import IntervalOptions, pass_limits
from ..core.consensus import more_than_half
from ..core.credits import PASS_FAMILY, ScoreOptions, scores_by_name
from ..core.interval import UNIT_RANGE, IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.questions import QuestionIntervals
from ..core.rewards import (
    Rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    has_real_rewards,
    max_scores,
    moments_by_key,
    real_rewards,
)
from ..core.samples import n_in_keys, require_shares
from ..core.score import Score, ScoreId, Scores
from ..core.score_agg import agg_scores, exponent, require_weights
from ..core.votes import count_answers
from ..intervals.binary_family import BinaryFamily, pass_intervals
from ..intervals.consensus import vote_limits
from ..intervals.labelled import Errors, distances_of_rates
from ..intervals.reward_family import RewardFamily
from ..intervals.sampling import SamplingIntervals, family_intervals
from ..scores.checker_rates import CheckerRates, corrected_scores, estimator, require_correction
from .options import ComparisonOptions, naming_run
from .outcomes_of_runs import Run
from .scored_run import ScoredRun

ScoresAndLimits = tuple[Scores, IntervalMethod]
"""Scores, and the method of their limits."""


def score_runs(
    runs: Sequence[Run], options: ComparisonOptions
) -> tuple[list[ScoreId], list[ScoredRun], tuple[float, float]]:
    """Return the m scores, the scored runs, and the least and the largest possible score.

    Args:
        runs: on the same questions.
        options: for their samples.

    Raises:
        ValueError: if a run does not allow the score or its interval, with the run's name.
    """
    metric, bounds = options.metric, (0.0, 1.0)
    n = n_in_keys(np.concatenate([run.outcomes.n for run in runs]))
    of_each: Sequence[Callable[[], ScoredRun]]
    if metric in PASS_FAMILY or runs[0].errors != Errors():
        scores = _scores_of_counts(n, options)
        ids, of_each = [*scores], [partial(_pass_run, run, scores, options) for run in runs]
    elif metric == "vote@k":
        ids = [ScoreId(metric, k) for k in options.ks]
        of_each = [partial(_vote_run, run, options) for run in runs]
    elif metric == "score_agg":
        ids, of_each = [ScoreId(metric)], [partial(_verdict_run, run, options) for run in runs]
    else:
        ks = {ScoreId(metric, k): k for k in options.ks} or {ScoreId(metric, n): 1}
        rewards, bounds = _rewards(runs, options.w)
        ids, pairs = [*ks], zip(runs, rewards, strict=True)
        of_each = [partial(_reward_run, run, own, ks, bounds, options) for run, own in pairs]
    scored = []
    for run, score in zip(runs, of_each, strict=True):
        with naming_run(run.name):
            scored.append(score())
            scored[-1].limits(options.confidence)
    return ids, scored, bounds


def _scores_of_counts(n: int | str, options: ComparisonOptions) -> dict[ScoreId, Score]:
    """Return the scores of correct samples: of the pass@k family, or their corrected mean avg@N.

    `n` is the N in its key.
    """
    if options.metric in PASS_FAMILY:
        return options.scores_at(options.ks)
    if options.metric != "avg@N" or options.w is not None:
        raise ValueError(
            f"{options.metric} is not corrected for the errors of a checker: compare pass@k or "
            f"another score of its family, or avg@N without rewards w."
        )
    (rate,) = scores_by_name(["pass@k"], [1], ScoreOptions()).values()
    return {ScoreId("avg@N", n): rate}


# --- Families of scores -------------------------------------------------------------------


def _resampled_run(
    n: np.ndarray,
    scores_and_limits: Callable[[IntervalOptions], ScoresAndLimits],
    options: ComparisonOptions,
    covariance: Callable[[], np.ndarray] | None = None,
    moves: Callable[[float], np.ndarray] | None = None,
) -> ScoredRun:
    """Return a scored run whose questions can be sampled again, with the interval "sampling".

    Args:
        n: (M,) samples of the questions.
        scores_and_limits: returns the scores, and the method of their limits.
        options: for the samples of the run.
        covariance: see `ScoredRun`.
        moves: see `ScoredRun`.
    """
    requested = options.limit_options(str(options.interval))
    points, method = scores_and_limits(requested)

    def resampled() -> IntervalMethod:
        """Return the method of limits for the interval "sampling"."""
        if requested.method == "sampling":
            return method
        return scores_and_limits(options.limit_options("sampling"))[1]

    # One sample of each question does not show how samples vary.
    known = cache(resampled) if n.max() > 1 else None
    return ScoredRun(points, n, requested, method, known, covariance, moves)


def _pass_run(run: Run, scores: Mapping[ScoreId, Score], options: ComparisonOptions) -> ScoredRun:
    """Return a run with scores of the pass@k family, corrected for the errors of its checker."""
    counts, errors, weights = run.outcomes.counts(), run.errors, options.weights
    questions = np.arange(len(counts)) if weights is None else np.flatnonzero(weights)
    require_correction(scores, errors.rates)

    def scores_and_limits(requested: IntervalOptions) -> ScoresAndLimits:
        """Return the scores, corrected for the rates of the checker, and their method."""
        if errors.rates.are_exact:
            return pass_limits(counts, scores, requested)
        return pass_intervals(counts, scores, requested, errors.rates)

    def covariance() -> np.ndarray:
        # The limits have neighbors, which would make it take ten times as long.
        """Return the (m, m) covariance of the scores for new samples."""
        known = estimator(scores, errors.rates)
        family = BinaryFamily.from_counts(counts, *known, {}, weights, rates=errors.rates)
        return SamplingIntervals(family).covariance(questions, [*scores])

    def rescore(rates: CheckerRates) -> np.ndarray:
        """Return the scores, (m,), if they are corrected for these rates."""
        points = corrected_scores(counts, scores, rates)
        return np.array([*points.over(questions, weights).values()])

    def moves(confidence: float) -> np.ndarray:
        """Return how far labels move the scores, (2, m); see `ScoredRun`."""
        assert errors.labels is not None
        return distances_of_rates(errors.labels, rescore(errors.rates), rescore, confidence)

    known_moves = None if errors.labels is None else cache(moves)
    return _resampled_run(counts.n, scores_and_limits, options, covariance, known_moves)


def _reward_run(
    run: Run,
    rewards: Rewards,
    ks: Mapping[ScoreId, int],
    bounds: tuple[float, float],
    options: ComparisonOptions,
) -> ScoredRun:
    """Return a run with its scores of rewards: the best of k, or the posterior mean of bayes@N.

    Args:
        run: with outcomes that are rewards or categories.
        rewards: of its samples.
        ks: the k of each score; 1 for a mean.
        bounds: the least and the largest reward of all runs.
        options: for the samples of the run.
    """
    n = run.outcomes.n
    if options.metric == "bayes@N":
        moments = moments_by_key(rewards, {key: rewards.posterior() for key in ks})
        points = Scores(moments.keys, moments.inverse, moments.mean)
        method = PosteriorIntervals(moments, bounds, weights=options.weights)
        return ScoredRun(points, n, options.limit_options("posterior"), method, lambda: method)
    points = max_scores(rewards, ks)
    family = RewardFamily.from_rewards(rewards, ks, {}, bounds, options.weights)
    return _resampled_run(
        n, lambda requested: (points, family_intervals(family, requested)), options
    )


def _vote_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    """Return a run with its scores vote@k; a ValueError if it has no answers."""
    if run.answers is None:
        raise ValueError(
            "vote@k needs answers and references: give what at_k.read returns, with "
            "predictions and references."
        )
    n, correct = run.outcomes.n, more_than_half(require_shares(run.outcomes))
    votes = count_answers(correct, run.answers, merge_correct=True)
    sizes = {ScoreId("vote@k", k): k for k in options.ks}
    return _resampled_run(n, partial(vote_limits, votes, sizes, n), options)


def _verdict_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    """Return a run with its score score_agg, from verdicts."""
    points = agg_scores(require_weights(run.outcomes), exponent(options.temperature))
    requested = options.limit_options("questions")
    method = QuestionIntervals(points, UNIT_RANGE, requested.clusters, weights=requested.weights)
    return ScoredRun(points, run.outcomes.n, requested, method)


def _rewards(
    runs: Sequence[Run], w: Sequence[float] | None
) -> tuple[list[Rewards], tuple[float, float]]:
    """Return the rewards of each run, and the least and the largest of all.

    They are real if one of the runs has real rewards.
    """
    rewards = _rewards_of_each(runs, w)
    levels = np.concatenate([x.levels.ravel() for x in rewards])
    return rewards, (float(levels.min()), float(levels.max()))


def _rewards_of_each(runs: Sequence[Run], w: Sequence[float] | None) -> list[Rewards]:
    """Return the rewards of each run; see `_rewards`."""
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        return [real_rewards(run.outcomes) for run in runs]
    values, rewards = check_rewards(w), []
    for run in runs:
        prior = check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
        with naming_run(run.name):
            rewards.append(category_rewards(run.outcomes, values, prior))
    return rewards
