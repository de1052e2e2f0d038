"""The scores of runs and their uncertainty, for comparisons, leaderboards, gates and `noise`.

Each family of scores contributes the scores of questions, the method of their limits, and the
covariance of the scores for new samples of the same questions. The scores and limits are the same
as those of `compute`.

A run has M questions and m scores, one for each k. The questions form G clusters; without clusters,
each question is its own, and G = M. New questions are other questions like these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial

import numpy as np

from ..core.choice import IntervalOptions, pass_limits
from ..core.consensus import more_than_half
from ..core.credits import PASS_FAMILY, ScoreOptions, build_scores
from ..core.interval import UNIT_RANGE, IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.questions import (
    QuestionIntervals,
    cluster_errors,
    degrees_of_freedom,
    effective_clusters,
)
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
from ..intervals.anytime import AnytimeIntervals, confidence_of_a_look, look_size
from ..intervals.binary_family import pass_intervals
from ..intervals.consensus import vote_limits
from ..intervals.labelled import Errors, distances_of_rates
from ..intervals.reward_family import RewardFamily
from ..intervals.sampling import family_intervals
from ..scores.checker_rates import CheckerRates, corrected_scores, require_correction
from .options import ComparisonOptions, naming_run
from .outcomes_of_runs import Run

ScoresAndLimits = tuple[Scores, IntervalMethod]
"""The scores of the questions, and the method that computes the limits of their means."""


class ScoredRun:
    """The scores of a run and their uncertainty.

    Args:
        n: (M,) numbers of samples of the questions.
        options: the options of the comparison, validated for the samples of the run.
        scores_and_limits: a function from options of an interval, and whether its limits are
            needed or only covariances, to the scores and the method of their limits.
        shows_samples: whether the data show how samples of the same questions vary. Default:
            whether some question has more than one sample.
        moves: a function from a confidence to an array, (2, m): how far the scores may lie below
            and above the estimates because labels estimate the rates of the checker. None if the
            rates are known.
        bounds: the least and the largest possible score.

    Attributes:
        points: the scores of the questions.
        limits: a cached function from a confidence, and maybe another interval than that of the
            options, to the lower and upper limits, (2, m).
    """

    def __init__(
        self,
        n: np.ndarray,
        options: ComparisonOptions,
        scores_and_limits: Callable[[IntervalOptions, bool], ScoresAndLimits],
        shows_samples: bool | None = None,
        moves: Callable[[float], np.ndarray] | None = None,
        bounds: tuple[float, float] = UNIT_RANGE,
    ):
        self.n, self.bounds, self._options = n, bounds, options
        self._known = cache(
            lambda name, has_limits: scores_and_limits(options.limit_options(name), has_limits)
        )
        self.points = self._known(str(options.interval), True)[0]
        self._shows_samples = n.max() > 1 if shows_samples is None else shows_samples
        self._moves = moves
        self.limits = cache(self._limits)

    @cached_property
    def counted(self) -> np.ndarray:
        """Return the indices of the questions whose weight is not 0."""
        return _indices_with_weight(len(self.n), self._options.weights)

    @cached_property
    def estimates(self) -> np.ndarray:
        """Return the scores over all questions, (m,), identical to those of `compute`."""
        return np.array([*self.points.over(self.counted, self._options.weights).values()])

    @cached_property
    def errors(self) -> np.ndarray:
        """Return the change of the scores if each cluster is left out, (G, m).

        The changes are scaled so that the sum of their squares is the variance of the scores for
        new questions; see `cluster_errors`.
        """
        weights = self._options.weights
        return cluster_errors(linearized(self.points, weights), self._options.clusters, weights)

    @property
    def standard_errors(self) -> np.ndarray:
        """Return the standard errors of the estimates for new questions, (m,)."""
        return np.sqrt(np.sum(self.errors**2, axis=0))

    @property
    def number(self) -> float:
        """Return the number of questions; with weights, the effective number."""
        return effective_clusters(None, len(self.n), self._options.weights)

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of the standard errors, for Student's t."""
        number = effective_clusters(self._options.clusters, len(self.n), self._options.weights)
        return degrees_of_freedom(number)

    @property
    def clusters(self) -> int:
        """Return the number of clusters (without clusters, of questions) with a weight above 0."""
        labels = self._options.clusters
        return len(self.counted) if labels is None else len(np.unique(labels[self.counted]))

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """Return the (m, m) covariance of the scores for new samples; None if it is not known."""
        if not self._shows_samples:
            return None
        return self._known("sampling", False)[1].covariance(self.counted, [*self.points.keys])

    def moves(self, confidence: float) -> np.ndarray | None:
        """Return how far estimated rates move scores down and up, (2, m); None for known rates."""
        return None if self._moves is None else self._moves(self.look_confidence(confidence))

    def limits_with_moves(self, confidence: float, interval: str | None = None) -> np.ndarray:
        """Return limits, (2, m), that also account for estimated rates of the checker, if any."""
        limits, moves = self.limits(confidence, interval), self.moves(confidence)
        if moves is None:
            return limits
        distances = np.maximum([self.estimates - limits[0], limits[1] - self.estimates], 0.0)
        down, up = np.hypot(distances, moves)
        return np.clip([self.estimates - down, self.estimates + up], 0.0, 1.0)

    def look_confidence(self, confidence: float) -> float:
        """Return the confidence of the limits at one look, which is higher with `anytime`."""
        if not self._options.anytime:
            return confidence
        size = look_size(self.n[self.counted], self._options.interval == "questions")
        return confidence_of_a_look(confidence, size)

    def _limits(self, confidence: float, interval: str | None = None) -> np.ndarray:
        """Return the limits of the scores, (2, m). Raises ValueError if the run has none."""
        interval = interval or str(self._options.interval)
        method = self._known(interval, True)[1]
        if self._options.anytime:
            method = AnytimeIntervals(method, self.n, interval == "questions")
        if problem := method.problem(self.counted):
            raise ValueError(f"{problem}.")
        intervals = method.intervals(self.counted, confidence)
        return np.array([[interval.lo, interval.hi] for interval in intervals.values()]).T


def linearized(points: Scores, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the linear approximation of each score as a mean over questions, (M, scores).

    If questions change, the mean of a column varies as the score does, to first order, so its
    variance is that of the score. `weights`, (M,), has the weight of each question, or is None if
    these are equal.
    """
    scores = points.with_unpooled_as_columns()
    means = np.average(scores.columns[scores.inverse], axis=0, weights=weights)
    gradient = np.stack([score.gradient(means) for score in scores.keys.values()], axis=1)
    return (scores.columns @ gradient)[scores.inverse]


def _indices_with_weight(questions: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the indices of the questions whose weight is not 0: all if `weights` is None."""
    return np.arange(questions) if weights is None else np.flatnonzero(weights)


def score_runs(runs: Sequence[Run], options: ComparisonOptions) -> list[ScoredRun]:
    """Return a `ScoredRun` for each run, in the same order.

    Args:
        runs: graded runs on the same questions.
        options: the options of the comparison, validated for the samples of the runs.

    Raises:
        ValueError: if a run does not allow the score or its interval. The message has its name.
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
        ks = {ScoreId(metric, k): k for k in options.ks} or {ScoreId(metric, n): 1}
        rewards, bounds = _rewards_of_runs(runs, options.w)
        make = partial(_reward_run, rewards=rewards, ks=ks, bounds=bounds)
    scored = []
    for run in runs:
        with naming_run(run.name):
            scored.append(make(run, options))
            scored[-1].limits(options.confidence)  # raises an error here, with the run's name
    return scored


# --- Families of scores -------------------------------------------------------------------


def _binary_scores(n: int | str, options: ComparisonOptions) -> dict[ScoreId, Score]:
    """Return the scores that count correct samples: those of the pass@k family, or avg@N.

    avg@N is pass@1 here, which can be corrected for the errors of a checker. `n` is the N in its
    key. Raises ValueError for a score that cannot be corrected.
    """
    if options.metric in PASS_FAMILY:
        return options.scores_at(options.ks)
    if options.metric != "avg@N" or options.w is not None:
        raise ValueError(
            f"{options.metric} is not corrected for the errors of a checker: compare pass@k or "
            f"another score of its family, or avg@N without rewards w."
        )
    (rate,) = build_scores([ScoreId("pass@k")], [1], ScoreOptions()).values()
    return {ScoreId("avg@N", n): rate}


def _pass_run(run: Run, options: ComparisonOptions, scores: Mapping[ScoreId, Score]) -> ScoredRun:
    """Return the scored run for `scores`, which are corrected for the errors of the checker."""
    counts, errors, weights = run.outcomes.counts, run.errors, options.weights
    questions = _indices_with_weight(len(counts), weights)
    require_correction(scores, errors.rates)

    def scores_and_limits(requested: IntervalOptions, has_limits: bool) -> ScoresAndLimits:
        """Return the corrected scores of the questions, and the method of their limits."""
        if errors.rates.are_exact and has_limits:
            return pass_limits(counts, scores, requested)
        return pass_intervals(counts, scores, requested, errors.rates, has_limits)

    def rescore(rates: CheckerRates) -> np.ndarray:
        """Return the scores over all questions, (m,), corrected for these rates."""
        points = corrected_scores(counts, scores, rates)
        return np.array([*points.over(questions, weights).values()])

    moves = None
    if errors.labels is not None:
        moves = cache(partial(distances_of_rates, errors.labels, rescore))
    return ScoredRun(counts.n, options, scores_and_limits, moves=moves)


def _reward_run(
    run: Run,
    options: ComparisonOptions,
    rewards: Mapping[str, Rewards],
    ks: Mapping[ScoreId, int],
    bounds: tuple[float, float],
) -> ScoredRun:
    """Return the scored run for max@k, avg@N or bayes@N.

    `rewards` has those of each run by its name, and `ks` the k of each score; 1 for a mean, which
    is the best of one sample. `bounds` are the least and the largest reward of all runs.
    """
    n, own = run.outcomes.n, rewards[run.name]
    if options.metric == "bayes@N":
        moments = moments_by_key(own, {key: own.posterior() for key in ks})
        means = Scores(moments.keys, moments.inverse, moments.mean)
        method = PosteriorIntervals(moments, bounds, weights=options.weights)
        return ScoredRun(n, options, lambda *_: (means, method), shows_samples=True, bounds=bounds)
    points = max_scores(own, ks)
    family = RewardFamily(own, ks, {}, bounds, options.weights)
    return ScoredRun(
        n,
        options,
        lambda requested, _: (points, family_intervals(family, requested)),
        bounds=bounds,
    )


def _rewards_of_runs(
    runs: Sequence[Run], w: Sequence[float] | None
) -> tuple[dict[str, Rewards], tuple[float, float]]:
    """Return the rewards of each run by its name, and the (least, largest) reward of all runs.

    If a run has real rewards and `w` is None, the outcomes of all runs are taken as real rewards.
    Otherwise the outcomes are categories, and `w` has their rewards.
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
    n, correct = run.outcomes.n, more_than_half(require_shares(run.outcomes))
    votes = count_answers(correct, run.answers, merge_correct=True)
    sizes = {ScoreId("vote@k", k): k for k in options.ks}
    return ScoredRun(n, options, lambda requested, _: vote_limits(votes, sizes, n, requested))


def _verdict_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    """Return the scored run for score_agg, whose outcomes are weights of verdicts."""
    points = agg_scores(require_weights(run.outcomes), exponent(options.temperature))
    method = QuestionIntervals(points, UNIT_RANGE, options.clusters, weights=options.weights)
    # No method is for new samples of the same questions, however many samples there are.
    return ScoredRun(run.outcomes.n, options, lambda *_: (points, method), shows_samples=False)
