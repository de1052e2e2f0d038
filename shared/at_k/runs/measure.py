"""The score of a run at each k, with what the comparison with another run needs; its options.

Each family of scores contributes the estimates, how they vary over questions and over samples, and
their limits at any confidence. `differences` needs no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.anytime import confidence_of_a_look, look_size
from ..core.checks import (
    InputError,
    as_list,
    check_confidence,
    check_flag,
    check_k,
    check_names,
    check_samples,
    short,
)
from ..core.choice import check_clusters
from ..core.coherent import CoherentIntervals, spread_of_k, with_neighbors
from ..core.consensus import more_than_half
from ..core.credits import PASS_FAMILY, ScoreOptions, check_tau, scores_by_name
from ..core.interval import IntervalMethod
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
    real_rewards,
)
from ..core.samples import number_of_samples, require_shares
from ..core.score import Score, ScoreId, Scores, one_column_each
from ..core.score_agg import VERDICTS, exponent, item_scores, require_weights
from ..core.votes import count_answers, vote_at_k
from ..intervals.binary_family import BinaryFamily, family_under
from ..intervals.family import Family
from ..intervals.labelled import Errors, distances_of_rates
from ..intervals.methods import EstimatedScore, VarianceIntervals
from ..intervals.reward_family import RewardFamily
from ..intervals.sampling import ONE_SAMPLE_EACH, SamplingIntervals
from ..intervals.vote_variances import vote_variances
from ..scores.checker_rates import (
    CheckerRates,
    Estimator,
    corrected_scores,
    estimator,
    require_correction,
)
from .outcomes_of_runs import Run

T = TypeVar("T")
COMPARED = (*PASS_FAMILY, "vote@k", "max@k", "avg@N", "bayes@N", "score_agg")
WITHOUT_K = ("avg@N", "bayes@N", "score_agg")

_INTERVALS_OF = {"bayes@N": ("posterior",), "score_agg": ("questions",)}
_INTERVALS_OF_MOST = ("questions", "sampling")
_USUAL_KS = (4, 8, 16)
_PENALTY, _EPS = 0.1, 1e-9  # the defaults of score_agg


def default_interval(metric: str) -> str:
    """Return the interval of a comparison: of other questions like these, where it applies."""
    return _INTERVALS_OF.get(metric, _INTERVALS_OF_MOST)[0]


class Measured(NamedTuple):
    """The scores of a run, at m values of k.

    Args:
        estimates: (m,).
        errors: (G, m) by how much the means move without each question, or each cluster of
            questions, see `cluster_errors`.
        freedom: degrees of freedom of the sums of their squares.
        questions: M.
        of_samples: (m, m) covariance of the sums over questions, for new samples of the same
            questions; or None if each question has one sample, or if it is not known.
        limits: returns (2, m) lower and upper limits, for a confidence.
        moves: returns (2, m) how far the scores may lie below and above because the rates of the
            checker are estimated, for a confidence; or None if they are known.
        of_a_look: returns the confidence of a look from that of all looks together, which `limits`
            and `moves` take; or None if there is one look.
    """

    estimates: np.ndarray
    errors: np.ndarray
    freedom: float
    questions: int
    of_samples: np.ndarray | None
    limits: Callable[[float], np.ndarray]
    moves: Callable[[float], np.ndarray] | None = None
    of_a_look: Callable[[float], float] | None = None

    def limits_with_moves(self, confidence: float) -> np.ndarray:
        """(2, m) limits that account for estimated rates of the checker too."""
        limits = self.limits(confidence)
        if self.moves is None:
            return limits
        (lo, hi), (down, up) = limits, self.moves(confidence)
        below, above = (np.maximum(x, 0.0) for x in (self.estimates - lo, hi - self.estimates))
        lo, hi = self.estimates - np.hypot(below, down), self.estimates + np.hypot(above, up)
        return np.clip([lo, hi], 0.0, 1.0)

    def standard_errors(self) -> np.ndarray:
        """(m,) standard errors of the estimates, for other questions."""
        return np.sqrt(np.sum(self.errors**2, axis=0))


@dataclass(frozen=True)
class ComparisonOptions:
    """Which score of runs is compared, and how: the parameters of `at_k.compare`.

    Args:
        all_k: whether the default is every k (see `spread_of_k`), or the largest of 4, 8 and 16.
        anytime: whether limits hold at all looks together, see `core.anytime`.

    Attributes:
        interval: "sampling", "posterior" or "questions"; never None.
        k, clusters: after `for_samples` an ascending list and (M,) integers, unless None.

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
    all_k: bool = True
    anytime: bool = False

    def __post_init__(self) -> None:
        if check_flag("anytime", self.anytime) and self.metric == "bayes@N":
            raise ValueError("anytime is not for bayes@N, whose limits are those of a posterior.")
        if isinstance(self.metric, str) and self.metric in ("picked@k", "weighted_vote@k"):
            raise ValueError(
                f"{self.metric} needs a number for each sample, which comparisons do not take: "
                f"compare its scores of the questions (return_per_question), each in a list of "
                f"one, as avg@N with interval='questions'."
            )
        check_names("metric", [self.metric], COMPARED)
        applicable = _INTERVALS_OF.get(self.metric, _INTERVALS_OF_MOST)
        interval = default_interval(self.metric) if self.interval is None else self.interval
        check_names("interval", [interval], ("sampling", "posterior", "questions"))
        if interval not in applicable:
            raise ValueError(
                f"{self.metric} is compared with interval={' or '.join(map(repr, applicable))}, "
                f"not {interval!r}."
            )
        if self.metric in WITHOUT_K and self.k is not None:
            raise ValueError(
                f"k is {short(self.k)}, but {self.metric} is of all samples: leave k out."
            )
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        object.__setattr__(self, "tau", check_tau(self.tau))
        check_rewards(self.w)
        exponent(self.temperature)

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
        questions = len(next(iter(sizes.values())))
        clusters = check_clusters(self.clusters, str(self.interval), self.confidence, questions)
        return replace(self, k=self._choose_ks(sizes) or None, clusters=clusters)

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


def measure_runs(
    runs: Sequence[Run], options: ComparisonOptions
) -> tuple[list[ScoreId], list[Measured], float]:
    """Return the m scores, their values for each run, and the size of their range.

    Args:
        runs: on the same questions.
        options: for their samples.

    Raises:
        ValueError: if a run does not allow the score or its interval, with the run's name.
    """
    scores, measured, width = _measure_at_one_look(runs, options)
    if options.anytime:
        measured = [_at_all_looks(x, run, options) for x, run in zip(measured, runs, strict=True)]
    return scores, measured, width


def _at_all_looks(measured: Measured, run: Run, options: ComparisonOptions) -> Measured:
    """The scores of a run with limits that hold at all looks together."""
    size, moves = look_size(run.outcomes.n, options.interval == "questions"), measured.moves

    def of_a_look(confidence: float) -> float:
        return confidence_of_a_look(confidence, size)

    return measured._replace(
        limits=lambda confidence: measured.limits(of_a_look(confidence)),
        moves=None if moves is None else lambda confidence: moves(of_a_look(confidence)),
        of_a_look=of_a_look,
    )


def _measure_at_one_look(
    runs: Sequence[Run], options: ComparisonOptions
) -> tuple[list[ScoreId], list[Measured], float]:
    """Return what `measure_runs` does, with limits of one look."""
    if options.metric in PASS_FAMILY:
        thresholds = ScoreOptions(thresholds=[options.tau])
        scores = scores_by_name([options.metric], options.ks, thresholds)
        return list(scores), _of_each(runs, lambda run: _pass(run, scores, options)), 1.0
    if runs[0].errors != Errors():
        if options.metric != "avg@N" or options.w is not None:
            raise ValueError(
                f"{options.metric} is not corrected for the errors of a checker: compare pass@k or "
                f"another score of its family, or avg@N without rewards w."
            )
        n = number_of_samples(np.concatenate([run.outcomes.n for run in runs]))
        (rate,) = scores_by_name(["pass@k"], [1], ScoreOptions()).values()
        scores = {ScoreId("avg@N", n): rate}
        return list(scores), _of_each(runs, lambda run: _pass(run, scores, options)), 1.0
    if options.metric == "vote@k":
        votes = [ScoreId("vote@k", k) for k in options.ks]
        return votes, _of_each(runs, lambda run: _votes(run, options)), 1.0
    if options.metric == "score_agg":
        return [ScoreId("score_agg")], _of_each(runs, lambda run: _verdicts(run, options)), 1.0
    rewards = _rewards(runs, options.w)
    bounds = (
        min(float(of_run.levels.min()) for of_run in rewards.values()),
        max(float(of_run.levels.max()) for of_run in rewards.values()),
    )
    n = number_of_samples(np.concatenate([of_run.n for of_run in rewards.values()]))
    ks = {ScoreId(options.metric, k): k for k in options.ks} or {ScoreId(options.metric, n): 1}
    measured = _of_each(runs, lambda run: _reward(rewards[run.name], ks, bounds, options))
    return list(ks), measured, bounds[1] - bounds[0]


# --- Families of scores -------------------------------------------------------------------


def _pass(run: Run, scores: Mapping[ScoreId, Score], options: ComparisonOptions) -> Measured:
    counts, errors = run.outcomes.counts(), run.errors
    keys, estimate = estimator(scores, errors.rates)
    family = BinaryFamily.of_run(counts, keys, _tabulated(estimate), {})
    if errors == Errors():
        keys, estimate = estimator(with_neighbors(scores, int(counts.n.min())))
        wider = BinaryFamily.of_run(counts, keys, _tabulated(estimate), {})
        return _of_family(family, options, CoherentIntervals(_method(wider, options), scores))
    require_correction(scores, errors.rates)
    family = family_under(errors.rates, family, _tabulated(estimator(scores)[1]))
    measured, labels = _of_family(family, options), errors.labels
    if labels is None:
        return measured
    questions = np.arange(len(counts))

    def under(rates: CheckerRates) -> np.ndarray:
        means = corrected_scores(counts, scores, rates).over(questions)
        return np.array([means[key] for key in scores])

    def moves(confidence: float) -> np.ndarray:
        return distances_of_rates(labels, under(errors.rates), under, confidence)

    return measured._replace(moves=cache(moves))


def _reward(
    rewards: Rewards,
    ks: Mapping[ScoreId, int],
    bounds: tuple[float, float],
    options: ComparisonOptions,
) -> Measured:
    if options.metric != "bayes@N":
        return _of_family(RewardFamily.of_run(rewards, ks, {}, bounds), options)
    moments = bayes_moments(rewards, "bayes", "avg")
    moments = replace(moments, keys={"bayes": moments.keys["bayes"]})
    scores = Scores(moments.keys, moments.inverse, moments.mean[:, :1])
    variance = moments.covariance[0, 0][moments.inverse].sum()
    method = PosteriorIntervals(moments, bounds)
    return _measured(scores, np.array([[variance]]), method, options.clusters)


def _method(family: Family, options: ComparisonOptions) -> IntervalMethod:
    if options.interval == "questions":
        return family.for_other_questions(options.clusters)
    return SamplingIntervals(family)


def _of_family(
    family: Family, options: ComparisonOptions, method: IntervalMethod | None = None
) -> Measured:
    """Measure the scores of a family.

    Args:
        method: of their intervals. Default: that of the family.
    """
    fit = family.fit(family.multiplicity[None])
    gradient = family.gradient(family.multiplicity)
    of_samples = None
    if family.n.max() > 1:
        of_question = gradient.T @ family.covariance_of_samples(fit) @ gradient
        of_samples = of_question * len(family.inverse)
    scores = Scores(family.scores, family.inverse, family.columns)
    columns = family.columns[family.inverse] @ gradient
    method = method or _method(family, options)
    return _measured(scores, of_samples, method, options.clusters, columns)


def _measured(
    scores: Scores,
    of_samples: np.ndarray | None,
    method: IntervalMethod,
    clusters: np.ndarray | None,
    columns: np.ndarray | None = None,
) -> Measured:
    """Measure scores that have this method of intervals.

    Args:
        scores: of the questions.
        of_samples: see `Measured`.
        clusters: (M,) label of each question's cluster, or None if each is its own.
        columns: (M, m) the parts of the scores that vary with the questions, linearized. Default:
            the columns of the scores.
    """
    columns = scores.columns[scores.inverse] if columns is None else columns
    questions = np.arange(len(columns))
    if problem := method.problem(questions):
        raise ValueError(f"{problem}.")

    @cache
    def intervals(confidence: float) -> np.ndarray:
        of_all = method.for_groups([questions], confidence)[0].values()
        return np.array([[interval.lo, interval.hi] for interval in of_all]).T

    # To the last digit as `compute` returns them.
    estimates = np.array([*scores.over(questions).values()])
    return Measured(
        estimates,
        cluster_errors(columns, clusters),
        degrees_of_freedom(effective_clusters(clusters, len(columns))),
        len(columns),
        of_samples,
        intervals,
    )


def _votes(run: Run, options: ComparisonOptions) -> Measured:
    if run.answers is None:
        raise ValueError(
            "vote@k needs answers and references: give what at_k.read returns, with "
            "predictions and references."
        )
    correct = more_than_half(require_shares(run.outcomes))
    votes = count_answers(correct, run.answers, merge_correct=True)
    n, repeated = run.outcomes.n, run.outcomes.n.max() > 1
    if options.interval == "sampling" and not repeated:
        raise ValueError(f"{ONE_SAMPLE_EACH}.")
    scores = {
        str(k): EstimatedScore(vote_at_k(votes, k), vote_variances(votes, k), n / k)
        for k in options.ks
    }
    columns = np.stack([score.values for score in scores.values()], axis=1)
    # The covariances of votes at different k are not known.
    of_samples = np.diag([float(score.variances.sum()) for score in scores.values()])
    method: IntervalMethod = VarianceIntervals(scores)
    if options.interval == "questions":
        method = _question_intervals(columns, options.clusters)
    points = Scores(one_column_each(scores), np.arange(len(n)), columns)
    return _measured(points, of_samples if repeated else None, method, options.clusters)


def _verdicts(run: Run, options: ComparisonOptions) -> Measured:
    power = exponent(options.temperature)
    columns = item_scores(require_weights(run.outcomes), power, _PENALTY, _EPS)[:, None]
    scores = Scores(one_column_each(["score_agg"]), np.arange(len(columns)), columns)
    method = _question_intervals(columns, options.clusters)
    return _measured(scores, None, method, options.clusters)


def _question_intervals(columns: np.ndarray, clusters: np.ndarray | None) -> QuestionIntervals:
    keys = one_column_each(range(columns.shape[1]))
    return QuestionIntervals(Scores(keys, np.arange(len(columns)), columns), clusters=clusters)


def _of_each(runs: Sequence[Run], measure: Callable[[Run], T]) -> list[T]:
    """Return what is measured of each run. Errors have the name of the run."""
    measured = []
    for run in runs:
        try:
            measured.append(measure(run))
        except ValueError as error:
            raise InputError.of_run(run.name, error) from error
    return measured


def _rewards(runs: Sequence[Run], w: Sequence[float] | None) -> dict[str, Rewards]:
    """The rewards of each run by its name: real if one of the runs has real rewards."""
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        return {run.name: real_rewards(run.outcomes) for run in runs}
    values = check_rewards(w)

    def of_categories(run: Run) -> Rewards:
        prior = check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
        return category_rewards(run.outcomes, values, prior)

    names = [run.name for run in runs]
    return dict(zip(names, _of_each(runs, of_categories), strict=True))


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
