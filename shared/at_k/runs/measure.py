"""The scored run, which comparisons, leaderboards, gates and `noise` take, and its options.

Each family of scores contributes the estimates of questions, the methods of limits that `compute`
has too, and how the scores vary for new samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ..core.checks import (
    InputError,
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
from ..core.score import Score, ScoreId, Scores, one_column_each
from ..core.score_agg import VERDICTS, exponent, item_scores, require_weights
from ..core.votes import count_answers, vote_at_k
from ..intervals.anytime import confidence_of_a_look, look_size
from ..intervals.binary_family import BinaryFamily, family_under, pass_intervals
from ..intervals.labelled import Errors, distances_of_rates
from ..intervals.methods import EstimatedScore, VarianceIntervals
from ..intervals.reward_family import RewardFamily
from ..intervals.sampling import ONE_SAMPLE_EACH, SamplingIntervals, family_intervals
from ..intervals.vote_variances import vote_variances
from ..scores.checker_rates import (
    CheckerRates,
    Estimator,
    corrected_scores,
    estimator,
    require_correction,
)
from .outcomes_of_runs import Run, is_read_result

COMPARED = (*PASS_FAMILY, "vote@k", "max@k", "avg@N", "bayes@N", "score_agg")
WITHOUT_K = ("avg@N", "bayes@N", "score_agg")

_INTERVALS_OF = {"bayes@N": ("posterior",), "score_agg": ("questions",)}
_INTERVALS_OF_MOST = ("questions", "sampling")
_USUAL_KS = (4, 8, 16)
_PENALTY, _EPS = 0.1, 1e-9  # the defaults of score_agg


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
    return _INTERVALS_OF.get(metric, _INTERVALS_OF_MOST)[0]


class ScoredRun:
    """The scores of a run, and how uncertain they are.

    Args:
        points: m scores of M questions.
        options: of the comparison, for the samples of the run.
        method: returns the method of the limits with this name.
        covariance: returns the (m, m) covariance of the scores for new samples of the same
            questions; None if that is not known, as for one sample of each question.
        moves: returns (2, m) how far the scores may lie below and above because the rates of the
            checker are estimated, for a confidence; None if they are known.

    Attributes:
        estimates: (m,) scores over all questions, to the last digit as `compute` returns them.
        errors: (G, m) by how much they move without each question, or each cluster of questions,
            see `cluster_errors`.
        freedom: degrees of freedom of the sums of their squares.
        questions: M; with weights their effective number.
        moves: see the arguments.
        n: (M,) samples of the questions, which limits for all looks depend on.
        anytime: whether limits hold at all looks together.
    """

    n: np.ndarray

    def __init__(
        self,
        points: Scores,
        options: ComparisonOptions,
        method: Callable[[str], IntervalMethod],
        covariance: Callable[[], np.ndarray] | None = None,
        moves: Callable[[float], np.ndarray] | None = None,
    ):
        number, clusters, weights = len(points.inverse), options.clusters, options.weights
        self.questions = effective_clusters(None, number, weights)
        self._all = options.counted(number)
        self.estimates = np.array([*points.over(self._all, weights).values()])
        self.errors = cluster_errors(points.linearized(weights), clusters, weights)
        self.freedom = degrees_of_freedom(effective_clusters(clusters, number, weights))
        self.moves = None if moves is None else cache(moves)
        self.anytime = options.anytime
        self._method, self._covariance = cache(method), covariance
        self._limits = cache(self._limits_by)

    @cached_property
    def of_samples(self) -> np.ndarray | None:
        """(m, m) covariance of the scores for new samples of the same questions, if known."""
        return None if self._covariance is None else self._covariance()

    def limits(self, confidence: float, interval: str) -> np.ndarray:
        """(2, m) lower and upper limits by a method.

        Raises:
            ValueError: if the questions have no such interval.
        """
        return self._limits(self.of_a_look(confidence, interval), interval)

    def of_a_look(self, confidence: float, interval: str) -> float:
        """The confidence of one look, from that of all looks together if limits hold at all."""
        if not self.anytime:
            return confidence
        return confidence_of_a_look(confidence, look_size(self.n, interval == "questions"))

    def _limits_by(self, confidence: float, interval: str) -> np.ndarray:
        method = self._method(interval)
        if problem := method.problem(self._all):
            raise ValueError(f"{problem}.")
        (intervals,) = method.for_groups([self._all], confidence)
        return np.array([[x.lo, x.hi] for x in intervals.values()]).T

    def limits_with_moves(self, confidence: float, interval: str) -> np.ndarray:
        """(2, m) limits that account for estimated rates of the checker too."""
        limits = self.limits(confidence, interval)
        if self.moves is None:
            return limits
        (lo, hi), (down, up) = limits, self.moves(self.of_a_look(confidence, interval))
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
        applicable = _INTERVALS_OF.get(self.metric, _INTERVALS_OF_MOST)
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
            try:
                check_samples(ks, n)
            except ValueError as error:
                raise InputError.of_run(name, error) from error
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
    metric = options.metric
    width, n = 1.0, number_of_samples(np.concatenate([run.outcomes.n for run in runs]))
    score: Callable[[Run], ScoredRun]
    if metric in PASS_FAMILY:
        scores = options.scores_at(options.ks)
        ids, score = [*scores], partial(_pass_run, scores=scores, options=options)
    elif runs[0].errors != Errors():
        if metric != "avg@N" or options.w is not None:
            raise ValueError(
                f"{metric} is not corrected for the errors of a checker: compare pass@k or another "
                f"score of its family, or avg@N without rewards w."
            )
        (rate,) = scores_by_name(["pass@k"], [1], ScoreOptions()).values()
        scores = {ScoreId("avg@N", n): rate}
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
    return ids, _for_each(runs, score, str(options.interval), options.confidence), width


# --- Families of scores -------------------------------------------------------------------


def _pass_run(run: Run, scores: Mapping[ScoreId, Score], options: ComparisonOptions) -> ScoredRun:
    counts, errors = run.outcomes.counts(), run.errors
    questions = options.counted(len(counts))
    require_correction(scores, errors.rates)

    @cache
    def limits(interval: str) -> tuple[Scores, IntervalMethod]:
        return pass_intervals(counts, scores, options.limit_options(interval), errors.rates)

    def covariance() -> np.ndarray:
        keys, estimate = estimator(scores, errors.rates)
        family = BinaryFamily.from_counts(counts, keys, _tabulated(estimate), {}, options.weights)
        if not errors.rates.are_exact:
            family = family_under(errors.rates, family, _tabulated(estimator(scores)[1]))
        return SamplingIntervals(family).covariance(questions, [*scores])

    def under(rates: CheckerRates) -> np.ndarray:
        points = corrected_scores(counts, scores, rates)
        return np.array([*points.over(questions, options.weights).values()])

    def moves(confidence: float) -> np.ndarray:
        assert errors.labels is not None
        return distances_of_rates(errors.labels, under(errors.rates), under, confidence)

    return ScoredRun(
        limits(str(options.interval))[0],
        options,
        lambda interval: limits(interval)[1],
        covariance if counts.n.max() > 1 else None,
        moves if errors.labels is not None else None,
    )


def _reward_run(
    run: Run,
    rewards: Mapping[str, Rewards],
    ks: Mapping[ScoreId, int],
    bounds: tuple[float, float],
    options: ComparisonOptions,
) -> ScoredRun:
    of_run = rewards[run.name]
    questions = options.counted(len(of_run.inverse))
    if options.metric == "bayes@N":
        (key,) = ks
        moments = bayes_moments(of_run, key, None)
        moments = replace(moments, keys={key: moments.keys[key]})
        posterior = PosteriorIntervals(moments, bounds, weights=options.weights)
        points = Scores(moments.keys, moments.inverse, moments.mean[:, :1])
        return ScoredRun(
            points,
            options,
            lambda interval: posterior,
            lambda: posterior.covariance(questions, [*ks]),
        )
    family = RewardFamily.from_rewards(of_run, ks, {}, bounds, options.weights)
    return ScoredRun(
        max_scores(of_run, ks),
        options,
        lambda interval: family_intervals(family, options.limit_options(interval)),
        (lambda: SamplingIntervals(family).covariance(questions, [*ks]))
        if family.n.max() > 1
        else None,
    )


def _vote_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    if run.answers is None:
        raise ValueError(
            "vote@k needs answers and references: give what at_k.read returns, with "
            "predictions and references."
        )
    correct = more_than_half(require_shares(run.outcomes))
    votes = count_answers(correct, run.answers, merge_correct=True)
    n, questions = run.outcomes.n, options.counted(len(run.outcomes))
    columns = {ScoreId("vote@k", k): vote_at_k(votes, k) for k in options.ks}
    table = np.stack([*columns.values()], axis=1)
    points = Scores(one_column_each(columns), np.arange(len(table)), table)

    @cache
    def again() -> VarianceIntervals:
        return VarianceIntervals(
            {
                key: EstimatedScore(column, vote_variances(votes, k), n / k)
                for (key, column), k in zip(columns.items(), options.ks, strict=True)
            },
            weights=options.weights,
        )

    def method(interval: str) -> IntervalMethod:
        if interval == "questions":
            return QuestionIntervals(points, UNIT_RANGE, options.clusters, weights=options.weights)
        if n.max() < 2:
            raise ValueError(f"{ONE_SAMPLE_EACH}.")
        return again()

    return ScoredRun(
        points,
        options,
        method,
        (lambda: again().covariance(questions, [*columns])) if n.max() > 1 else None,
    )


def _verdict_run(run: Run, options: ComparisonOptions) -> ScoredRun:
    power = exponent(options.temperature)
    columns = item_scores(require_weights(run.outcomes), power, _PENALTY, _EPS)[:, None]
    points = Scores(one_column_each(["score_agg"]), np.arange(len(columns)), columns)
    method = QuestionIntervals(points, UNIT_RANGE, options.clusters, weights=options.weights)
    return ScoredRun(points, options, lambda interval: method)


def _for_each(
    runs: Sequence[Run], score: Callable[[Run], ScoredRun], interval: str, confidence: float
) -> list[ScoredRun]:
    """Return the scored runs, with their limits. Errors have the name of the run."""
    scored = []
    for run in runs:
        try:
            scored.append(score(run))
            scored[-1].n = run.outcomes.n
            scored[-1].limits(confidence, interval)
        except ValueError as error:
            raise InputError.of_run(run.name, error) from error
    return scored


def _rewards(runs: Sequence[Run], w: Sequence[float] | None) -> dict[str, Rewards]:
    """The rewards of each run by its name: real if one of the runs has real rewards."""
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        return {run.name: real_rewards(run.outcomes) for run in runs}
    values, rewards = check_rewards(w), {}
    for run in runs:
        prior = check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
        try:
            rewards[run.name] = category_rewards(run.outcomes, values, prior)
        except ValueError as error:
            raise InputError.of_run(run.name, error) from error
    return rewards


def _tabulated(estimate: Estimator) -> Estimator:
    """The same function, with one table for each n: all k of hundreds of samples take seconds."""

    @cache
    def table(n: int) -> np.ndarray:
        return estimate(np.full(n + 1, n), np.arange(n + 1))

    def look_up(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        result = np.empty((len(n), table(int(n[0])).shape[1]))
        for size in np.unique(n).tolist():
            result[n == size] = table(size)[c[n == size]]
        return result

    return look_up
