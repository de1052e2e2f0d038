"""Scores of a metric, each together with the method of its intervals.

For the posterior, a score has moments. For all other methods, a family has the distributions of
outcomes, and a score with k > n is a posterior mean under the prior estimated from the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..inputs.counts import BinaryCounts
from ..scores.consensus import ConsensusScore, consensus_estimator, consensus_moments
from ..scores.covariances import pass_moments
from ..scores.credits import Credits
from ..scores.pass_family import estimator, pass_scores
from ..scores.rewards import Rewards, max_moments, max_scores
from ..scores.score import Score, ScoreKey, Scores
from ..scores.tails import Tail, tail_posterior, tail_scores
from .binary_family import BinaryFamily
from .choice import AutoIntervals, IntervalOptions, family_intervals
from .family import with_extrapolated
from .interval import Interval, IntervalMethod
from .posterior import PosteriorIntervals
from .questions import UNIT_RANGE, EstimatedScore, QuestionIntervals, VarianceIntervals
from .reward_family import RewardFamily, TailFamily


def pass_intervals(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Scores of the pass family, and the method of their intervals."""
    if options.method == "posterior":
        moments = pass_moments(counts, scores, options.prior)
        return pass_scores(counts, scores), PosteriorIntervals(moments, UNIT_RANGE)
    for key, score in scores.items():
        if min(score.powers) < 0:
            raise ValueError(
                f"{key} with a negative power decreases with one of its two scores, which only "
                f"interval='posterior' allows."
            )
    least = counts.n.min()
    observed = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    beyond = {key: score for key, score in scores.items() if key not in observed}
    keys, estimate = estimator(observed)
    extrapolated = _single_credits(scores if options.method == "hierarchical" else beyond)
    family = BinaryFamily.of_run(counts, keys, estimate, extrapolated)
    points = with_extrapolated(pass_scores(counts, observed), family, scores)
    return points, family_intervals(family, options)


def _single_credits(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Credits]:
    for key, score in scores.items():
        if len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two scores, for which neither k > n nor "
                f"interval='hierarchical' is available: give a k of at most n and another "
                f"interval, or leave it out."
            )
    return {key: score.terms[0] for key, score in scores.items()}


def max_intervals(
    rewards: Rewards, ks: Mapping[ScoreKey, int], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Max@k for each key, and the method of its intervals.

    No limit is outside the range of the rewards, or outside the bounds.
    """
    low, high = np.clip([rewards.levels.min(), rewards.levels.max()], *options.bounds).tolist()
    if options.method == "posterior":
        moments = max_moments(rewards, ks)
        return max_scores(rewards, ks), PosteriorIntervals(moments, (low, high))
    observed = {key: k for key, k in ks.items() if k <= rewards.n.min()}
    beyond = {key: k for key, k in ks.items() if key not in observed}
    extrapolated = ks if options.method == "hierarchical" else beyond
    family = RewardFamily.of_run(rewards, observed, extrapolated, (low, high))
    points = with_extrapolated(max_scores(rewards, observed), family, ks)
    return points, family_intervals(family, options)


def tail_intervals(
    rewards: Rewards, tails: Mapping[ScoreKey, Tail], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """TailPass@k for each key, k <= n, and the method of its intervals."""
    scores = tail_scores(rewards, tails)
    if options.method == "hierarchical":
        raise ValueError(
            "TailPass@k has no interval='hierarchical': pass another, or leave TailPass@k out."
        )
    if options.method == "posterior":
        return scores, PosteriorIntervals(tail_posterior(rewards, tails), UNIT_RANGE)
    return scores, family_intervals(TailFamily.of_run(rewards, tails), options)


def consensus_intervals(
    counts: BinaryCounts,
    scores: Mapping[ScoreKey, ConsensusScore],
    others: Mapping[ScoreKey, np.ndarray],
    estimated: Mapping[ScoreKey, EstimatedScore],
    options: IntervalOptions,
) -> IntervalMethod:
    """The method of the intervals of scores of a majority.

    Args:
        scores: that depend on the counts only.
        others: for each other key (M,) scores of the questions. They have no posterior.
        estimated: the same with variances, for new samples of the same questions.
    """
    if options.method == "posterior":
        return PosteriorIntervals(consensus_moments(scores, counts, options.prior), UNIT_RANGE)
    family = BinaryFamily.of_run(counts, *consensus_estimator(scores), {})
    method: IntervalMethod = VarianceIntervals(estimated)
    if options.method == "questions":
        method = QuestionIntervals(others, UNIT_RANGE, options.clusters)
    elif options.method == "auto":
        single = QuestionIntervals(others, UNIT_RANGE, allow_one=True)
        method = AutoIntervals(counts.n, method, single)
    return JoinedIntervals(family_intervals(family, options), method, others)


class JoinedIntervals(IntervalMethod):
    """A method for most scores of a metric, joined with another for some.

    Args:
        most: the method for most scores.
        some: the method for the others.
        keys: of the scores of `some`.
    """

    def __init__(self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]):
        self._most, self._some, self._keys = most, some, {*keys}

    def problem(self, questions: np.ndarray) -> str | None:
        return self._most.problem(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        method = self._some if self._keys >= {*keys} else self._most
        return method.covariance(questions, keys)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        most, some = (method.for_groups(groups, confidence) for method in (self._most, self._some))
        return [a | b for a, b in zip(most, some, strict=True)]
