"""The scored run, which comparisons, leaderboards, gates and `noise` take, and its options.

Each family of scores contributes the scores of questions and the method of their limits, as
`compute` has them. The method for the same questions also has the covariance for new samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ..core.checks import (
    as_list,
    check_confidence,
    check_flag,
    check_k,
    check_name,
    check_samples,
    short,
)
from ..core.choice import (
    OVER_QUESTIONS,
    IntervalOptions,
    Weighting,
    check_average,
    check_clusters,
    pass_limits,
    question_weighting,
)
from ..core.coherent import spread_of_k
from ..core.consensus import more_than_half
from ..core.credits import PASS_FAMILY, ScoreOptions, check_tau, scores_by_name
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
    bayes_moments,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    has_real_rewards,
    max_scores,
    real_rewards,
)
from ..core.samples import number_of_samples, require_shares
from ..core.score import Score, ScoreId, Scores
from ..core.score_agg import VERDICTS, agg_scores, exponent, require_weights
from ..core.votes import count_answers
from ..intervals.anytime import confidence_of_a_look, look_size
from ..intervals.binary_family import BinaryFamily, pass_intervals
from ..intervals.consensus import vote_limits
from ..intervals.labelled import Errors, distances_of_rates
from ..intervals.reward_family import RewardFamily
from ..intervals.sampling import SamplingIntervals, family_intervals
from ..scores.checker_rates import CheckerRates, corrected_scores, estimator, require_correction
from .outcomes_of_runs import Run, is_read_result, naming_run

COMPARED = (*PASS_FAMILY, "vote@k", "max@k", "avg@N", "bayes@N", "score_agg")
WITHOUT_K = ("avg@N", "bayes@N", "score_agg")

_INTERVALS_OF = {"bayes@N": ("posterior",), "score_agg": ("questions",)}
_INTERVALS_OF_MOST = ("questions", "sampling")
_USUAL_KS = (4, 8, 16)

ScoresAndLimits = tuple[Scores, IntervalMethod]
"""Scores, and the method of their limits."""


def check_metric(name: str, metric: Any) -> str:
    """Return the name of a score that runs are compared by."""
    if isinstance(metric, str) and metric in ("picked@k", "weighted_vote@k"):
        raise ValueError(
            f"{metric} needs a number for each sample, which comparisons do not take: compare its "
            f"scores of the questions (return_per_question), each in a list of one, as avg@N with "
            f"interval='questions'."
        )
    return check_name(name, metric, COMPARED)


def default_interval(metric: str) -> str:
    """Return the interval of a comparison: of other questions like these, where it applies."""
    return intervals_for(metric)[0]


def intervals_for(metric: str) -> tuple[str, ...]:
    """Return the intervals that a score has in comparisons, the default first."""
    return _INTERVALS_OF.get(metric, _INTERVALS_OF_MOST)


class ScoredRun:
    """The scores of a run, and how uncertain they are.

    Args:
        n: (M,) samples of the questions.
        limits: returns the scores, and the method of their limits, for the options of limits: what
            `compute` asks too.
        options: of the comparison, for the samples of the run.
        moves: returns (2, m) how far the scores may lie below and above because the rates of the
            checker are estimated, for a confidence; None if they are known.
        covariance: returns the (m, m) covariance of the scores for new samples of the same
            questions. Default: that of the method for these.

    Attributes:
        estimates: (m,) scores over all questions, to the last digit as `compute` returns them.
        errors: (G, m) by how much they move without each question, or each cluster of questions,
            see `cluster_errors`.
        freedom: degrees of freedom of the sums of their squares.
        questions: M; with weights their effective number.
        moves: see the arguments.
        anytime: whether limits hold at all looks together.
    """

    def __init__(
        self,
        n: np.ndarray,
        limits: Callable[[IntervalOptions], ScoresAndLimits],
        options: ComparisonOptions,
        moves: Callable[[float], np.ndarray] | None = None,
        covariance: Callable[[], np.ndarray] | None = None,
    ):
        self._scores_and_method = cache(lambda name: limits(options.limit_options(name)))
        points, _ = self._scores_and_method(str(options.interval))
        clusters, weights = options.clusters, options.weights
        self.questions = effective_clusters(None, len(n), weights)
        self._n, self._all, self._keys = n, options.counted(len(n)), [*points.keys]
        self._same_questions = options.interval_for_same_questions
        self._covariance = covariance
        self.estimates = np.array([*points.over(self._all, weights).values()])
        self.errors = cluster_errors(points.linearized(weights), clusters, weights)
        self.freedom = degrees_of_freedom(effective_clusters(clusters, len(n), weights))
        self.moves = None if moves is None else cache(moves)
        self.anytime = options.anytime
        self._limits = cache(self._limits_by)

    @cached_property
    def sampling_covariance(self) -> np.ndarray | None:
        """(m, m) covariance of the scores for new samples of the same questions, if known.

        One sample of each question does not show it, unless there is a prior.
        """
        interval = self._same_questions
        if interval is None or (interval == "sampling" and self._n.max() < 2):
            return None
        if self._covariance is not None:
            return self._covariance()
        _, method = self._scores_and_method(interval)
        return method.covariance(self._all, self._keys)

    def limits(self, confidence: float, interval: str) -> np.ndarray:
        """(2, m) lower and upper limits by a method.

        Raises:
            ValueError: if the questions have no such interval.
        """
        return self._limits(self.confidence_of_a_look(confidence, interval), interval)

    def confidence_of_a_look(self, confidence: float, interval: str) -> float:
        """The confidence of one look, from that of all looks together if limits hold at all."""
        if not self.anytime:
            return confidence
        return confidence_of_a_look(confidence, look_size(self._n, interval == "questions"))

    def _limits_by(self, confidence: float, interval: str) -> np.ndarray:
        _, method = self._scores_and_method(interval)
        if problem := method.problem(self._all):
            raise ValueError(f"{problem}.")
        (intervals,) = method.for_groups([self._all], confidence)
        return np.array([[x.lo, x.hi] for x in intervals.values()]).T

    def limits_with_moves(self, confidence: float, interval: str) -> np.ndarray:
        """(2, m) limits that account for estimated rates of the checker too."""
        limits = self.limits(confidence, interval)
        if self.moves is None:
            return limits
        lo, hi = limits
        down, up = self.moves(self.confidence_of_a_look(confidence, interval))
        below, above = (np.maximum(x, 0.0) for x in (self.estimates - lo, hi - self.estimates))
        lo, hi = self.estimates - np.hypot(below, down), self.estimates + np.hypot(above, up)
        return np.clip([lo, hi], 0.0, 1.0)

    def standard_errors(self) -> np.ndarray:
        """(m,) standard errors of the estimates, for other questions."""
        return np.sqrt(np.sum(self.errors**2, axis=0))


@dataclass
class ComparisonOptions:
    """Which score of runs is compared, and how: the parameters of `at_k.compare`.

    Args:
        clusters, groups, average, question_weights: of the questions, see `at_k.compare`.
        all_k: whether the default is every k (see `spread_of_k`), or the largest of 4, 8 and 16.
        anytime: whether limits hold at all looks together, see `intervals.anytime`.

    Attributes:
        interval: "sampling", "posterior" or "questions"; never None.
        k, clusters: after `for_samples` an ascending list and (M,) integers, unless None.
        weighting: after `for_samples` how questions are averaged.

    Raises:
        ValueError: if an option is invalid whatever the runs are.
    """

    metric: str = "pass@k"
    k: int | list[int] | None = None
    interval: str | None = None
    confidence: float = 0.95
    tau: float = 0.5
    clusters: Any = None
    w: list[float] | None = None
    temperature: float = 0.5
    groups: Any = None
    average: str = "questions"
    question_weights: Any = None
    all_k: bool = True
    anytime: bool = False
    weighting: Weighting = field(default=OVER_QUESTIONS, init=False)

    def __post_init__(self) -> None:
        check_metric("metric", self.metric)
        if check_flag("anytime", self.anytime) and self.metric == "bayes@N":
            raise ValueError("anytime is not for bayes@N, whose limits are those of a posterior.")
        applicable = intervals_for(self.metric)
        interval = default_interval(self.metric) if self.interval is None else self.interval
        check_name("interval", interval, ("sampling", "posterior", "questions"))
        if interval not in applicable:
            raise ValueError(
                f"{self.metric} is compared with interval={' or '.join(map(repr, applicable))}, "
                f"not {interval!r}."
            )
        if self.metric in WITHOUT_K and self.k is not None:
            raise ValueError(
                f"k is {short(self.k)}, but {self.metric} is of all samples: leave k out."
            )
        self.interval = interval
        self.confidence, self.tau = check_confidence(self.confidence), check_tau(self.tau)
        check_rewards(self.w)
        exponent(self.temperature)
        check_name("average", self.average, ("questions", "groups"))
        if self.metric in PASS_FAMILY:
            check_average(self.average, self.scores_at([1]))

    @property
    def ks(self) -> list[int]:
        """Ascending after `for_samples`; empty if the metric has no k."""
        return [] if self.k is None else as_list("k", self.k)

    @property
    def interval_for_same_questions(self) -> str | None:
        """The interval of the score for the same questions, sampled again; None if it has none."""
        last = intervals_for(self.metric)[-1]
        return None if last == "questions" else last

    @property
    def labels(self) -> dict[str, float] | None:
        """The labels that stand for outcomes, and the number of each."""
        return VERDICTS if self.metric == "score_agg" else None

    def for_samples(self, sizes: Mapping[str, np.ndarray]) -> ComparisonOptions:
        """Return the options for runs with these samples: a list of k, and clusters as integers.

        Args:
            sizes: for the name of each run (M,) samples of each question.

        Raises:
            ValueError: if there are not k samples of a question, or not M clusters.
        """
        questions, result = len(next(iter(sizes.values()))), copy(self)  # validated before
        result.weighting = question_weighting(
            self.average, self.question_weights, self.groups, questions
        )
        result.clusters = check_clusters(
            self.clusters, str(self.interval), questions, result.weights
        )
        result.k = self._choose_ks(sizes) or None
        return result

    def with_those_of(self, run: Any) -> ComparisonOptions:
        """Return the options with what a run was read with, if it applies and is not given.

        These are the clusters, the weights of the questions, and for a mean over groups the groups.
        """
        result = copy(self)
        if not is_read_result(run):
            return result
        if self.interval == "questions" and self.clusters is None:
            result.clusters = run.get("clusters")
        if self.average == "groups" and self.groups is None:
            result.groups = run.get("groups")
        if self.question_weights is None:
            result.question_weights = run.get("question_weights")
        return result

    def limit_options(self, interval: str) -> IntervalOptions:
        """Return the options of the limits by a method, once `for_samples` has been called."""
        clusters = self.clusters if interval == "questions" else None
        return IntervalOptions(
            self.confidence, interval, clusters=clusters, weighting=self.weighting
        )

    @property
    def weights(self) -> np.ndarray | None:
        """(M,) the weight of each question in means, or None if all are equal."""
        return self.weighting.values

    def counted(self, questions: int) -> np.ndarray:
        """The indices of those of M questions that have a weight."""
        return np.arange(questions) if self.weights is None else np.flatnonzero(self.weights)

    def of_questions(self, rows: np.ndarray) -> ComparisonOptions:
        """Return the options for some of the questions, once `for_samples` has been called."""
        result = copy(self)
        result.groups, result.average = None, "questions"
        if self.clusters is not None:
            result.clusters = self.clusters[rows]
        result.question_weights = None if self.weights is None else self.weights[rows]
        return result

    def scores_at(self, ks: Sequence[int]) -> dict[ScoreId, Score]:
        """The scores of the pass@k family at these k."""
        return scores_by_name([self.metric], ks, ScoreOptions(thresholds=[self.tau]))

    def _choose_ks(self, sizes: Mapping[str, np.ndarray]) -> list[int]:
        """Return the requested k, or the default, in ascending order."""
        if self.metric in WITHOUT_K:
            return []
        least = int(min(n.min() for n in sizes.values()))
        if self.k is None:
            if self.metric == "vote@k":  # whose variances take long for many k
                powers = [2**i for i in range(least.bit_length()) if 2**i < least]
                return [*powers, least] if self.all_k else [least]
            if self.all_k:
                return spread_of_k(least)
            return [max((k for k in _USUAL_KS if k <= least), default=least)]
        ks = sorted({check_k(k) for k in as_list("k", self.k)})
        for name, n in sizes.items():
            with naming_run(name):
                check_samples(ks, n)
        return ks


def score_runs(
    runs: Sequence[Run], options: ComparisonOptions
) -> tuple[list[ScoreId], list[ScoredRun], float]:
    """Return the m scores, the scored runs, and the size of the range of the scores.

    Args:
        runs: on the same questions.
        options: for their samples.

    Raises:
        ValueError: if a run does not allow the score or its interval, with the run's name.
    """
    metric, width = options.metric, 1.0
    n = number_of_samples(np.concatenate([run.outcomes.n for run in runs]))
    score: Callable[[Run], ScoredRun]
    if metric in PASS_FAMILY or runs[0].errors != Errors():
        scores = _scores_of_counts(n, options)
        ids, score = [*scores], partial(_pass_run, scores=scores, options=options)
    elif metric == "vote@k":
        ids, score = [ScoreId(metric, k) for k in options.ks], partial(_vote_run, options=options)
    elif metric == "score_agg":
        ids, score = [ScoreId(metric)], partial(_verdict_run, options=options)
    else:
        rewards = _rewards(runs, options.w)
        least = min(float(x.levels.min()) for x in rewards.values())
        most = max(float(x.levels.max()) for x in rewards.values())
        ks = {ScoreId(metric, k): k for k in options.ks} or {ScoreId(metric, n): 1}
        bounds, width = (least, most), most - least
        score = partial(_reward_run, rewards=rewards, ks=ks, bounds=bounds, options=options)
        ids = [*ks]
    scored = []
    for run in runs:
        with naming_run(run.name):
            scored.append(score(run))
            scored[-1].limits(options.confidence, str(options.interval))
    return ids, scored, width


def _scores_of_counts(n: int | str, options: ComparisonOptions) -> dict[ScoreId, Score]:
    """Return the scores of correct samples: of the pass@k family, or their corrected mean."""
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


def _pass_run(run: Run, scores: Mapping[ScoreId, Score], options: ComparisonOptions) -> ScoredRun:
    counts, errors = run.outcomes.counts(), run.errors
    questions = options.counted(len(counts))
    require_correction(scores, errors.rates)

    def limits(of_limits: IntervalOptions) -> ScoresAndLimits:
        if errors.rates.are_exact:
            return pass_limits(counts, scores, of_limits)
        return pass_intervals(counts, scores, of_limits, errors.rates)

    def covariance() -> np.ndarray:
        # The limits have neighbors, which would make it take ten times as long.
        family = BinaryFamily.from_counts(
            counts, *estimator(scores, errors.rates), {}, options.weights
        )
        method = SamplingIntervals(replace(family, rates=errors.rates))
        return method.covariance(questions, [*scores])

    def under(rates: CheckerRates) -> np.ndarray:
        points = corrected_scores(counts, scores, rates)
        return np.array([*points.over(questions, options.weights).values()])

    def moves(confidence: float) -> np.ndarray:
        assert errors.labels is not None
        return distances_of_rates(errors.labels, under(errors.rates), under, confidence)

    has_labels = errors.labels is not None
    return ScoredRun(counts.n, limits, options, moves if has_labels else None, covariance)


def _reward_run(
    run: Run,
    rewards: Mapping[str, Rewards],
    ks: Mapping[ScoreId, int],
    bounds: tuple[float, float],
    options: ComparisonOptions,
) -> ScoredRun:
    own = rewards[run.name]
    if options.metric == "bayes@N":
        (key,) = ks
        moments = bayes_moments(own, key, None)
        moments = replace(moments, keys={key: moments.keys[key]})
        points = Scores(moments.keys, moments.inverse, moments.mean[:, :1])
        posterior = PosteriorIntervals(moments, bounds, weights=options.weights)
        return ScoredRun(run.outcomes.n, lambda of_limits: (points, posterior), options)
    points = max_scores(own, ks)
    family = RewardFamily.from_rewards(own, ks, {}, bounds, options.weights)
    return ScoredRun(
        run.outcomes.n, lambda of_limits: (points, family_intervals(family, of_limits)), options
    )


def _vote_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    if run.answers is None:
        raise ValueError(
            "vote@k needs answers and references: give what at_k.read returns, with "
            "predictions and references."
        )
    n, correct = run.outcomes.n, more_than_half(require_shares(run.outcomes))
    votes = count_answers(correct, run.answers, merge_correct=True)
    sizes = {ScoreId("vote@k", k): k for k in options.ks}
    return ScoredRun(n, partial(vote_limits, votes, sizes, n), options)


def _verdict_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    verdicts, power = require_weights(run.outcomes), exponent(options.temperature)
    points = agg_scores(verdicts, power)
    method = QuestionIntervals(points, UNIT_RANGE, options.clusters, weights=options.weights)
    return ScoredRun(run.outcomes.n, lambda of_limits: (points, method), options)


def _rewards(runs: Sequence[Run], w: Sequence[float] | None) -> dict[str, Rewards]:
    """The rewards of each run by its name: real if one of the runs has real rewards."""
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        return {run.name: real_rewards(run.outcomes) for run in runs}
    values, rewards = check_rewards(w), {}
    for run in runs:
        prior = check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
        with naming_run(run.name):
            rewards[run.name] = category_rewards(run.outcomes, values, prior)
    return rewards
