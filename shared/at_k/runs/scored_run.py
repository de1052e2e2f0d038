"""The scored run: the m scores of a graded run, one for each k, and their uncertainty.

Comparisons, leaderboards, gates and `noise` are functions of it. Scores and limits come from the
functions that `compute` calls, too. M questions form G clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial

import numpy as np

from ..core.choice import IntervalOptions, limits_for_questions, max_limits, pass_limits
from ..core.consensus import more_than_half
from ..core.credits import PASS_FAMILY, any_correct
from ..core.interval import UNIT_RANGE, Interval, IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.questions import cluster_errors
from ..core.rewards import (
    Rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    has_real_rewards,
    moments_by_key,
    real_rewards,
)
from ..core.samples import n_in_keys, require_shares
from ..core.score import Score, ScoreId, Scores
from ..core.score_agg import agg_scores, exponent, require_weights
from ..core.votes import count_answers
from ..intervals.anytime import AnytimeIntervals, confidence_of_a_look, look_size
from ..intervals.binary_family import pass_intervals
from ..intervals.consensus import vote_limits
from ..intervals.labelled import Errors, distances_of_rates, falls_with_k, widened
from ..scores.checker_rates import CheckerRates, corrected_scores, require_correction
from .options import ComparisonOptions, naming_run
from .outcomes_of_runs import Run

ScoresAndLimits = Callable[[IntervalOptions], tuple[Scores, IntervalMethod]]
"""A function from options of an interval to scores of questions, and the method of their limits."""

Range = tuple[float, float]
"""The least and the largest possible score."""


class ScoredRun:
    """The scores of a graded run, and limits that are the same as those of `compute`.

    `points` are the scores of the questions, `estimates`, (m,), those of the run, and `counted` the
    indices of the questions whose weight is not 0. `intervals` returns the `Interval` of each score
    for the name of an interval and a confidence, for exact rates of the checker.
    """

    def __init__(
        self,
        run: Run,
        options: ComparisonOptions,
        scores_and_limits: ScoresAndLimits,
        for_covariance: ScoresAndLimits | None = None,
        bounds: Range = UNIT_RANGE,
        label_distances: Callable[[float], np.ndarray] | None = None,
    ):
        """Score a run by `scores_and_limits`, which is called once for each interval.

        `for_covariance` is a faster one for covariances only, or None. `label_distances`, None
        without labels, returns for a confidence what the method of this name returns.
        """
        self.run, self.options, self.bounds = run, options, bounds
        self._for_covariance, self._label_distances = for_covariance, label_distances
        self._scores_and_method = cache(
            lambda interval: scores_and_limits(options.interval_options(interval))
        )
        self.intervals = cache(self._intervals)
        self.points, _ = self._scores_and_method(str(options.interval))
        weights, all_questions = options.weights, np.arange(len(run.outcomes))
        self.counted = all_questions if weights is None else np.flatnonzero(weights)
        self.estimates = np.array([*self.points.over(self.counted, weights).values()])
        self.intervals(str(options.interval), options.confidence)  # ValueError if there are none

    @cached_property
    def errors(self) -> np.ndarray:
        """The changes of the scores as each cluster is left out, (G, m), see `cluster_errors`.

        Scores that are functions of several means are linearized at these (the delta method).
        """
        scores, weights = self.points, self.options.weights
        means = np.average(scores.columns[scores.inverse], axis=0, weights=weights)
        gradient = np.stack([score.gradient(means) for score in scores.keys.values()], axis=1)
        linear = (scores.columns @ gradient)[scores.inverse]
        return cluster_errors(linear, self.options.clusters, weights)

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """The standard errors of the estimates for new questions, (m,)."""
        return np.sqrt(np.sum(self.errors**2, axis=0))

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """The (m, m) covariance of the scores for new samples; None unless `shows_samples`."""
        if not self.shows_samples:
            return None
        if self._for_covariance is None or self.options.interval == "sampling":
            _, method = self._scores_and_method("sampling")
        else:
            _, method = self._for_covariance(self.options.interval_options("sampling"))
        return method.covariance(self.counted, [*self.points.keys])

    @property
    def shows_samples(self) -> bool:
        """Whether the data show how scores vary for new samples of the same questions."""
        if self.options.metric in ("bayes@N", "score_agg"):
            return self.options.metric == "bayes@N"
        return bool(self.run.outcomes.n.max() > 1)

    def _intervals(self, interval: str, confidence: float) -> list[Interval]:
        """Return the result of `intervals`; raise a ValueError if the run has no such interval."""
        _, method = self._scores_and_method(interval)
        if self.options.anytime:
            method = AnytimeIntervals(method, self.run.outcomes.n, interval == "questions")
        if problem := method.problem(self.counted):
            raise ValueError(f"{problem}.")
        return [*method.intervals(self.counted, confidence).values()]

    def limits(self, confidence: float) -> np.ndarray:
        """Return the limits of the scores, (2, m), by the interval of the options."""
        return limits_of(self.intervals(str(self.options.interval), confidence))

    def look_confidence(self, confidence: float) -> float:
        """Return the confidence of the limits at one look, which is higher with `anytime`."""
        if not self.options.anytime:
            return confidence
        n, interval = self.run.outcomes.n[self.counted], self.options.interval
        return confidence_of_a_look(confidence, look_size(n, interval == "questions"))

    def label_distances(self, confidence: float) -> np.ndarray:
        """Return how far labels let scores lie below and above the estimates, (2, m); 0 without."""
        if self._label_distances is None:
            return np.zeros((2, len(self.estimates)))
        return self._label_distances(self.look_confidence(confidence))

    def widened(self, limits: np.ndarray, confidence: float) -> np.ndarray:
        """Return limits, (2, m), that also account for estimated rates of the checker, if any."""
        if self._label_distances is None:
            return limits
        return widened(self.estimates, limits, self.label_distances(confidence))


def limits_of(intervals: Sequence[Interval]) -> np.ndarray:
    """Return the lower and upper limits of m intervals, (2, m)."""
    return np.array([[interval.lo, interval.hi] for interval in intervals]).T


def score_runs(runs: Sequence[Run], options: ComparisonOptions) -> list[ScoredRun]:
    """Return a `ScoredRun` for each of some graded runs on the same questions.

    Raises ValueError, with the name of the run, if one does not allow the score or its interval.
    """
    metric = options.metric
    n = n_in_keys(np.concatenate([run.outcomes.n for run in runs]))
    make: Callable[[Run, ComparisonOptions], ScoredRun]
    if metric in PASS_FAMILY or runs[0].errors != Errors():
        make = partial(_pass_run, scores=_binary_scores(n, options))
    elif metric == "vote@k":
        make = _vote_run
    elif metric == "score_agg":
        make = _verdict_run
    else:
        rewards, bounds = _rewards_of_runs(runs, options.w)
        ks = {ScoreId(metric, k): k for k in options.ks} or {ScoreId(metric, n): 1}
        make = partial(_reward_run, rewards=rewards, ks=ks, bounds=bounds)
    scored = []
    for run in runs:
        with naming_run(run.name):
            scored.append(make(run, options))
    return scored


# --- Families of scores -------------------------------------------------------------------


def _binary_scores(n: int | str, options: ComparisonOptions) -> dict[ScoreId, Score]:
    """Return the scores of the pass@k family, or pass@1 as avg@N, where `n` is the N in the key.

    A ValueError is raised for others, which cannot be corrected for the errors of a checker.
    """
    if options.metric in PASS_FAMILY:
        return options.scores_at(options.ks)
    if options.metric != "avg@N" or options.w is not None:
        raise ValueError(
            f"{options.metric} is not corrected for the errors of a checker: compare pass@k or "
            f"another score of its family, or avg@N without rewards w."
        )
    return {ScoreId("avg@N", n): Score((any_correct(1),))}


def _pass_run(run: Run, options: ComparisonOptions, scores: Mapping[ScoreId, Score]) -> ScoredRun:
    """Return the scored run for scores of binary outcomes, corrected for errors of the checker."""
    counts, rates, labels = run.outcomes.counts, run.errors.rates, run.errors.labels
    require_correction(scores, rates)
    limits = pass_limits if rates.are_exact else partial(pass_intervals, rates=rates)

    def rescore(rates: CheckerRates) -> np.ndarray:
        """Return the scores over all questions, (m,), corrected for these rates."""
        points = corrected_scores(counts, scores, rates)
        return np.array([*points.over(np.arange(len(counts)), options.weights).values()])

    distances = None if labels is None else cache(partial(distances_of_rates, labels, rescore))
    unordered = partial(pass_intervals, counts, scores, rates=rates, are_ordered=False)
    return ScoredRun(
        run, options, partial(limits, counts, scores), unordered, label_distances=distances
    )


def _reward_run(
    run: Run,
    options: ComparisonOptions,
    rewards: Mapping[str, Rewards],
    ks: Mapping[ScoreId, int],
    bounds: Range,
) -> ScoredRun:
    """Return the scored run for bayes@N, max@k or avg@N, which is max@1.

    `rewards` has the rewards of each run by its name, and `bounds` their least and largest value.
    """
    own = rewards[run.name]
    if options.metric != "bayes@N":
        limits = partial(max_limits, own, ks, score_range=bounds)
        return ScoredRun(run, options, limits, bounds=bounds)
    moments = moments_by_key(own, {key: own.posterior() for key in ks})
    means = Scores(moments.keys, moments.inverse, moments.mean)
    method = PosteriorIntervals(moments, bounds, weights=options.weights)
    # Bayes@N is defined by its posterior, whatever interval is asked for.
    return ScoredRun(run, options, lambda _: (means, method), bounds=bounds)


def _rewards_of_runs(
    runs: Sequence[Run], w: Sequence[float] | None
) -> tuple[dict[str, Rewards], Range]:
    """Return the rewards of each run by its name, and the (least, largest) reward of all runs.

    Outcomes are categories with the rewards `w`. Without it, they are real if those of a run are.
    """
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        rewards = {run.name: real_rewards(run.outcomes) for run in runs}
    else:
        values, rewards = check_rewards(w), {}
        for run in runs:
            prior = check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
            with naming_run(run.name):
                rewards[run.name] = category_rewards(run.outcomes, values, prior)
    levels = np.concatenate([x.levels.ravel() for x in rewards.values()])
    return rewards, (float(levels.min()), float(levels.max()))


def _vote_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    """Return the scored run for vote@k. Raises ValueError if the samples have no answers."""
    if run.answers is None:
        raise ValueError(
            "vote@k needs answers and references: give what at_k.read returns, with "
            "predictions and references."
        )
    correct = more_than_half(require_shares(run.outcomes))
    # All accepted answers to a question count as one, as by default in cons_at_k.
    votes = count_answers(correct, run.answers, merge_correct=True)
    sizes = {ScoreId("vote@k", k): k for k in options.ks}
    return ScoredRun(run, options, partial(vote_limits, votes, sizes, run.outcomes.n))


def _verdict_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    """Return the scored run for score_agg, whose outcomes are weights of verdicts."""
    points = agg_scores(require_weights(run.outcomes), exponent(options.temperature))
    return ScoredRun(run, options, lambda x: (points, limits_for_questions(points, "score_agg", x)))


def names_of_falling_runs(scored: Sequence[ScoredRun]) -> list[str]:
    """Return the names of the runs whose corrected pass@k falls with k, and warn of each."""
    options = scored[0].options
    corrected = [x.run for x in scored if not x.run.errors.rates.are_exact]
    if options.metric != "pass@k" or not corrected:
        return []
    scores, weights = options.scores_at(options.ks), options.weights
    return [
        run.name
        for run in corrected
        if falls_with_k(run.outcomes.counts, scores, run.errors.rates, weights, run.name)
    ]
