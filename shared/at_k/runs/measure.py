"""The score of a run at each k, with what the comparison with another run needs.

Each family of scores contributes the estimates, how they vary over questions and over samples, and
their limits at any confidence. `differences` needs no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ..checks import as_list, check_confidence, check_k, check_names, check_samples
from ..inputs.outcomes import number_of_samples, require_shares
from ..intervals.clusters import cluster_deviations
from ..intervals.interval import IntervalMethod
from ..intervals.options import check_clusters
from ..intervals.posterior import PosteriorIntervals
from ..intervals.questions import QuestionIntervals
from ..intervals.sampling import ONE_SAMPLE_EACH, SamplingIntervals
from ..intervals.variance_intervals import EstimatedScore, VarianceIntervals
from ..scores.binary_family import BinaryFamily
from ..scores.consensus import more_than_half
from ..scores.credits import PASS_FAMILY, ScoreOptions, check_tau, scores_by_name
from ..scores.family import Family
from ..scores.pass_family import Estimator, estimator
from ..scores.reward_family import RewardFamily
from ..scores.rewards import (
    Rewards,
    bayes_moments,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    has_real_rewards,
    real_rewards,
)
from ..scores.score import Score, ScoreId
from ..scores.score_agg import exponent, item_scores, require_weights
from ..scores.votes import count_answers, vote_at_k, vote_variances
from .outcomes_of_runs import Run

COMPARED = (*PASS_FAMILY, "vote@k", "max@k", "avg@N", "bayes@N", "score_agg")
WITHOUT_K = ("avg@N", "bayes@N", "score_agg")

_INTERVALS_OF = {"bayes@N": ("posterior",), "score_agg": ("questions",)}
_USUAL_KS = (4, 8, 16)
_PENALTY, _EPS = 0.1, 1e-9  # the defaults of score_agg


class Measured(NamedTuple):
    """The scores of a run, at m values of k.

    Args:
        estimates: (m,).
        deviations: (G, m) of each question, or each cluster of questions, from the mean.
        of_samples: (m, m) covariance of the sums over questions, for new samples of the same
            questions; or None if each question has one sample, or if it is not known.
        limits: returns (2, m) lower and upper limits, for a confidence.
    """

    estimates: np.ndarray
    deviations: np.ndarray
    of_samples: np.ndarray | None
    limits: Callable[[float], np.ndarray]


@dataclass(frozen=True)
class Measure:
    """Which score of runs is compared, and how. The values have been checked.

    Args:
        metric: one of COMPARED.
        ks: ascending; empty if the metric has no k.
        interval: "sampling", "posterior" or "questions".
        confidence: of the intervals.
        tau: of G-Pass@k.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
        w: rewards of categories, or None.
        power: the exponent of score_agg.
    """

    metric: str
    ks: list[int]
    interval: str
    confidence: float
    tau: float = 0.5
    clusters: np.ndarray | None = None
    w: Sequence[float] | None = None
    power: float = 1.0

    def of_runs(self, runs: Sequence[Run]) -> tuple[list[str], list[Measured], float]:
        """The keys, the scores of each run, and the size of the range of the scores.

        Raises:
            ValueError: if a run does not allow the score or its interval, with the run's name.
        """
        if self.metric in PASS_FAMILY:
            scores = scores_by_name([self.metric], self.ks, ScoreOptions(thresholds=[self.tau]))
            keys = [score.key for score in scores]
            return keys, _each(runs, lambda run: self._pass(run, scores)), 1.0
        if self.metric == "vote@k":
            return [f"vote@{k}" for k in self.ks], _each(runs, self._votes), 1.0
        if self.metric == "score_agg":
            return ["score_agg"], _each(runs, self._verdicts), 1.0
        rewards = _rewards(runs, self.w)
        bounds = (
            min(float(each.levels.min()) for each in rewards),
            max(float(each.levels.max()) for each in rewards),
        )
        n = number_of_samples(np.concatenate([each.n for each in rewards]))
        ks = {f"max@{k}": k for k in self.ks} or {self.metric.replace("N", str(n)): 1}
        by_run = dict(zip([run.name for run in runs], rewards, strict=True))
        measured = _each(runs, lambda run: self._reward(by_run[run.name], ks, bounds))
        return list(ks), measured, bounds[1] - bounds[0]

    # --- Families of scores ---------------------------------------------------------------

    def _pass(self, run: Run, scores: Mapping[ScoreId, Score]) -> Measured:
        keys, estimate = estimator(scores)
        return self._of_family(BinaryFamily(run.outcomes.counts(), keys, _tabulated(estimate), {}))

    def _reward(
        self, rewards: Rewards, ks: Mapping[str, int], bounds: tuple[float, float]
    ) -> Measured:
        if self.metric != "bayes@N":
            return self._of_family(RewardFamily(rewards, ks, {}, bounds))
        moments = bayes_moments(rewards, "bayes", "avg")
        moments = replace(moments, keys={"bayes": moments.keys["bayes"]})
        columns = moments.mean[moments.inverse][:, :1]
        variance = moments.covariance[0, 0][moments.inverse].sum()
        method = PosteriorIntervals(moments, bounds)
        return self._measured(columns, np.array([[variance]]), method)

    def _of_family(self, family: Family) -> Measured:
        method = SamplingIntervals(family, self.interval == "questions", self.clusters)
        if problem := method.problem(np.arange(len(family.inverse))):
            raise ValueError(f"{problem}.")
        fit = family.fit(family.multiplicity[None])
        clusters = None if self.clusters is None else [(family.inverse, self.clusters)]
        model = method.model(fit, clusters)
        gradient = family.gradient(family.multiplicity)
        of_samples = gradient.T @ family.covariance_of_samples(fit) @ gradient

        def limits(confidence: float) -> np.ndarray:
            intervals = method.limits(model, confidence).values()
            return np.array([interval.of_part(0)[2:4] for interval in intervals]).T

        return Measured(
            np.array([float(score.value(model.point[:, 0])) for score in family.scores.values()]),
            cluster_deviations(family.columns[family.inverse] @ gradient, self.clusters),
            None if family.n.max() < 2 else of_samples * len(family.inverse),
            cache(limits),
        )

    def _measured(
        self, columns: np.ndarray, of_samples: np.ndarray | None, method: IntervalMethod
    ) -> Measured:
        questions = np.arange(len(columns))
        if problem := method.problem(questions):
            raise ValueError(f"{problem}.")

        def limits(confidence: float) -> np.ndarray:
            intervals = method.for_parts([questions], confidence)[0].values()
            return np.array([[interval.lo, interval.hi] for interval in intervals]).T

        deviations = cluster_deviations(columns, self.clusters)
        return Measured(columns.mean(axis=0), deviations, of_samples, cache(limits))

    def _votes(self, run: Run) -> Measured:
        if run.answers is None:
            raise ValueError(
                "vote@k needs answers and references: give what at_k.read returns, with "
                "predictions and references."
            )
        correct = more_than_half(require_shares(run.outcomes))
        votes = count_answers(correct, run.answers, merge_correct=True)
        n, repeated = run.outcomes.n, run.outcomes.n.max() > 1
        if self.interval == "sampling" and not repeated:
            raise ValueError(f"{ONE_SAMPLE_EACH}.")
        scores = {
            str(k): EstimatedScore(vote_at_k(votes, k), vote_variances(votes, k), n / k)
            for k in self.ks
        }
        columns = np.stack([score.values for score in scores.values()], axis=1)
        # The covariances of votes at different k are not known.
        of_samples = np.diag([float(score.variances.sum()) for score in scores.values()])
        method: IntervalMethod = VarianceIntervals(scores, n)
        if self.interval == "questions":
            method = self._question_intervals(columns)
        return self._measured(columns, of_samples if repeated else None, method)

    def _verdicts(self, run: Run) -> Measured:
        scores = item_scores(require_weights(run.outcomes), self.power, _PENALTY, _EPS)
        return self._measured(scores[:, None], None, self._question_intervals(scores[:, None]))

    def _question_intervals(self, columns: np.ndarray) -> QuestionIntervals:
        scores = {str(place): column for place, column in enumerate(columns.T)}
        return QuestionIntervals(scores, (0.0, 1.0), self.clusters)


def check_measure(
    sizes: Mapping[str, np.ndarray],
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
    w: list[float] | None = None,
    temperature: float = 0.5,
    all_k: bool = True,
) -> Measure:
    """Check the options of a comparison before any sample is checked.

    Args:
        sizes: for the name of each run (M,) samples of each question.
        all_k: whether the default is every k, or the largest of 4, 8 and 16.
    """
    check_names("metric", [metric], COMPARED)
    known = _INTERVALS_OF.get(metric, ("sampling", "questions"))
    if interval is None:
        interval = known[0]
    check_names("interval", [interval], ("sampling", "posterior", "questions"))
    if interval not in known:
        raise ValueError(f"{metric} is compared with interval={known[0]!r}, not {interval!r}.")
    confidence, questions = check_confidence(confidence), len(next(iter(sizes.values())))
    labels = check_clusters(clusters, interval, confidence, questions)
    if metric in WITHOUT_K:
        if k is not None:
            raise ValueError(f"k is {k!r}, but {metric} is of all samples: leave k out.")
        ks = []
    else:
        ks = _choose_ks(k, sizes, metric, all_k)
    check_rewards(w)
    return Measure(
        metric,
        ks,
        interval,
        confidence,
        check_tau(tau),
        labels,
        w,
        exponent(temperature),
    )


def _choose_ks(
    k: int | list[int] | None, sizes: Mapping[str, np.ndarray], metric: str, all_k: bool
) -> list[int]:
    least = int(min(n.min() for n in sizes.values()))
    if k is None:
        if metric == "vote@k":  # whose variances take long for many k
            powers = [2**i for i in range(least.bit_length()) if 2**i < least]
            return [*powers, least] if all_k else [least]
        if all_k:
            return list(range(1, least + 1))
        return [max((each for each in _USUAL_KS if each <= least), default=least)]
    ks = sorted({check_k(each) for each in as_list("k", k)})
    for name, n in sizes.items():
        try:
            check_samples(ks, n)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return ks


def _each(runs: Sequence[Run], measure: Callable[[Run], Measured]) -> list[Measured]:
    measured = []
    for run in runs:
        try:
            measured.append(measure(run))
        except ValueError as error:
            message = str(error)
            raise ValueError(
                message if message.startswith(run.name) else f"{run.name}: {message}"
            ) from error
    return measured


def _rewards(runs: Sequence[Run], w: Sequence[float] | None) -> list[Rewards]:
    """The rewards of each run: real if one of the runs has real rewards."""
    if w is None and any(has_real_rewards(run.outcomes) for run in runs):
        return [real_rewards(run.outcomes) for run in runs]
    values = check_rewards(w)
    return [
        category_rewards(
            run.outcomes, values, check_prior_outcomes(None, len(run.outcomes.sizes), len(values))
        )
        for run in runs
    ]


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
