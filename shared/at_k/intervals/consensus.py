"""Limits of the scores of cons_at_k, for the same questions sampled again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..core.choice import IntervalOptions, limits_for_questions
from ..core.consensus import Consensus, mean_shares, rows_by_k
from ..core.credits import any_correct, majority
from ..core.interval import UNIT_RANGE, DerivedIntervals, Interval, IntervalMethod, normal_z
from ..core.posterior import PosteriorIntervals
from ..core.questions import QuestionIntervals, wilson_limits
from ..core.rewards import Rewards, moments_by_key
from ..core.samples import Samples
from ..core.score import Moments, ScoreId, ScoreKey, Scores, one_column_each
from ..core.votes import AnswerCounts, vote_at_k, vote_probability
from ..scores.distributions import Prior, credit_covariances, posterior_means
from . import Intervals
from .binary_family import BinaryFamily
from .sampling import ONE_SAMPLE_EACH, AutoIntervals, family_intervals

_MANY_SAMPLES = 1 << 50  # number of copies of the samples of a question, see `copies_of_samples`
_NO_ANSWERS = AnswerCounts((), (), 0)


def consensus_limits(consensus: Consensus, options: IntervalOptions) -> IntervalMethod:
    """Return the method of the limits of all scores, for an interval other than "questions".

    Votes and mean shares, which counts do not determine, have limits from estimated variances.
    """
    counts, scores, weights = consensus.counts, consensus.count_scores(), options.weights
    if options.method == "posterior":
        moments = _posterior_moments(consensus, options.prior)
        return PosteriorIntervals(moments, UNIT_RANGE, weights=weights)

    def estimate(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return the scores that are functions of counts, (U, m), for (U,) n and c."""
        return np.stack([score(n, c) for score in scores.values()], axis=1)

    family = BinaryFamily(counts, one_column_each(scores), estimate, {}, weights)
    estimated = _estimated_scores(consensus)
    method: IntervalMethod = VarianceIntervals(estimated, weights=weights)
    if options.method == "auto":
        columns = np.array([score.values for score in estimated.values()]).reshape(-1, len(counts))
        points = Scores(one_column_each(estimated), np.arange(len(counts)), columns.T)
        single = QuestionIntervals(points, allow_one=True, weights=weights)
        method = AutoIntervals(counts.n, method, single)
    return JoinedIntervals(family_intervals(family, options), method, estimated)


def vote_limits(
    votes: Sequence[AnswerCounts],
    sizes: Mapping[ScoreId, int],
    n: np.ndarray,
    options: IntervalOptions,
) -> tuple[Scores, IntervalMethod]:
    """Return vote@k of M questions for each k in `sizes`, {id: k}, and the method of its limits.

    `n`, (M,), has the numbers of samples. Unless the method is "questions", a ValueError is raised
    if no question has two samples.
    """
    columns = np.stack([vote_at_k(votes, k) for k in sizes.values()], axis=1)
    points = Scores(one_column_each(sizes), np.arange(len(votes)), columns)
    if options.method == "questions":
        return points, limits_for_questions(points, "vote@k", options)
    if n.max() < 2:
        raise ValueError(f"{ONE_SAMPLE_EACH}.")
    estimated = {key: _estimated_vote(votes, k, n) for key, k in sizes.items()}
    return points, VarianceIntervals(estimated, weights=options.weights)


def _estimated_vote(
    votes: Sequence[AnswerCounts], k: int | np.ndarray, n: np.ndarray
) -> EstimatedScore:
    """Return vote@k of M questions with its variances; `n` is (M,), and `k` one number or (M,)."""
    return EstimatedScore(vote_at_k(votes, k), vote_variances(votes, k), n / k)


def _estimated_scores(consensus: Consensus) -> dict[ScoreId, EstimatedScore]:
    """Return votes and mean shares with their variances."""
    n, estimated = consensus.counts.n, {}
    if consensus.has_shares:
        key = ScoreId("accuracy (n runs average)", consensus.n)
        shares = consensus.shares
        estimated[key] = EstimatedScore(mean_shares(shares), share_variances(shares), n)
    if (votes := consensus.votes) is not None:
        for k_in_key, k in consensus.ks.items():
            estimated[ScoreId("vote@k", k_in_key)] = _estimated_vote(votes, consensus.sizes(k), n)
    return estimated


def share_variances(outcomes: Samples) -> np.ndarray:
    """Return the unbiased variance of the mean share of each question for new samples, (M,)."""
    n, question = outcomes.n, np.repeat(np.arange(len(outcomes.sizes)), outcomes.sizes)
    # Equal shares are counted first, so that samples and their counts give the same last digit.
    order = np.lexsort((outcomes.values, question))
    shares, question = outcomes.values[order], question[order]
    is_first = (np.diff(shares, prepend=np.nan) != 0) | (np.diff(question, prepend=-1) > 0)
    first = np.flatnonzero(is_first)
    multiplicity = np.add.reduceat(outcomes.weights[order], first, dtype=np.int64)
    deviations = shares[first] - mean_shares(outcomes)[question[first]]
    squares = np.bincount(question[first], deviations**2 * multiplicity)
    # One sample does not show how samples vary, and has the largest possible variance, 1/4.
    return np.where(n > 1, squares / np.maximum(n * (n - 1.0), 1.0), 0.25)


# --- Methods of limits --------------------------------------------------------------------


class JoinedIntervals(DerivedIntervals):
    """Intervals of two methods: `some` computes those of the scores in `keys`, `most` the rest."""

    def __init__(self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]):
        super().__init__(most)
        self._some, self._keys = some, {*keys}

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the (m, m) covariance of the errors of m scores, 0 if their methods differ."""
        result = np.eye(len(keys))
        for method, has_key in ((self._method, False), (self._some, True)):
            if rows := [i for i, key in enumerate(keys) if (key in self._keys) is has_key]:
                own = method.covariance(questions, [keys[i] for i in rows])
                result[np.ix_(rows, rows)] = own
        return result

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score over these questions."""
        return self._method.intervals(questions, confidence) | self._some.intervals(
            questions, confidence
        )


class EstimatedScore(NamedTuple):
    """Estimates of a score of M questions, their variances for new samples, and n / k, all (M,)."""

    values: np.ndarray
    variances: np.ndarray
    trials: np.ndarray


class VarianceIntervals(IntervalMethod):
    """Intervals of means of scores from 0 to 1, for new samples of the same questions."""

    def __init__(
        self, scores: Mapping[ScoreKey, EstimatedScore], weights: np.ndarray | None = None
    ):
        self._scores, self._weights = scores, weights

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score over these questions."""
        return {
            key: self._interval(score, questions, confidence) for key, score in self._scores.items()
        }

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the variances of the means of m scores on the diagonal of an (m, m) matrix."""
        # The covariances of scores at different k are not known.
        squares = self._shares(questions) ** 2
        return np.diag([float(squares @ self._scores[key].variances[questions]) for key in keys])

    def _shares(self, questions: np.ndarray) -> np.ndarray:
        """Return the weights of these questions in a mean, which sum to 1."""
        weights = np.ones(len(questions)) if self._weights is None else self._weights[questions]
        return weights / weights.sum()

    def _interval(
        self, score: EstimatedScore, questions: np.ndarray, confidence: float
    ) -> Interval:
        """Return Wilson's interval of the mean of a score over the questions with these indices."""
        values, variances, trials = (column[questions] for column in score)
        share = self._shares(questions)
        mean = float(values.mean() if self._weights is None else share @ values)
        variance, number = float(share**2 @ variances), trials.mean() / np.sum(share**2)
        lo, hi = wilson_limits(mean, variance, number, normal_z(confidence))
        return Interval(mean, math.sqrt(variance), float(lo), float(hi), "sampling")


# --- Variances of votes -------------------------------------------------------------------


def vote_variances(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return the estimated variance of vote@k of each question for new samples, (M,).

    For k <= n/2 it is the jackknife variance, whose mean is at least the variance (Efron & Stein
    1981, Annals of Statistics 9, 586). For larger k no estimate from n samples is unbiased. The
    variance is then at most k/n times that of the vote of k new samples (Hoeffding 1948, Annals of
    Mathematical Statistics 19, 293), and that vote is estimated by drawing with replacement. For
    k = n, the mean of the estimate is 0.71 to 0.93 of the variance if the most frequent answers are
    equally probable, and mostly above it if one of them leads. A single sample has the largest
    possible variance, 1/4. `k`, one number or (M,), is at most the number of samples.
    """
    n = np.array([_number_of_samples(answer_counts) for answer_counts in counts])
    ks = np.broadcast_to(k, len(counts))
    is_large = 2 * ks > n
    copied = [
        copies_of_samples(answer_counts) if large else _NO_ANSWERS
        for answer_counts, large in zip(counts, is_large.tolist(), strict=True)
    ]
    chance = vote_at_k(copied, ks)
    result = np.where(n == 1, 0.25, ks / n * chance * (1 - chance))
    for question in np.flatnonzero(~is_large).tolist():
        result[question] = _jackknife_variance(counts[question], int(ks[question]))
    return result


def copies_of_samples(counts: AnswerCounts) -> AnswerCounts:
    """Return the counts of a question with many copies of each sample.

    A subset of k copies approximates k samples that are drawn with replacement. With N copies in
    all, probabilities have relative errors of k^2 / 2N.
    """
    copies = _MANY_SAMPLES // _number_of_samples(counts)
    answers = [(m * copies, accepted * copies) for m, accepted in counts.answers]
    return AnswerCounts.from_answers(answers, counts.unanswered * copies)


def _number_of_samples(counts: AnswerCounts) -> int:
    """Return the number of samples of a question, with those without an answer."""
    return sum(counts.correct) + sum(counts.incorrect) + counts.unanswered


@lru_cache(maxsize=1 << 14)
def _jackknife_variance(counts: AnswerCounts, k: int) -> float:
    """Return the jackknife variance of vote@k of a question, for k <= n/2: see `vote_variances`."""
    n = _number_of_samples(counts)
    multiplicity, smaller = zip(*_without_one_sample(counts), strict=True)
    share = np.array(multiplicity) / n
    vote = np.array([vote_probability(others, k) for others in smaller])
    return (n - 1) * float(share @ (vote - share @ vote) ** 2)


def _without_one_sample(counts: AnswerCounts) -> list[tuple[int, AnswerCounts]]:
    """Return pairs (number, rest): leaving out one of `number` samples leaves the counts `rest`."""
    answers, result = Counter(counts.answers), []
    for (m, accepted), number in answers.items():  # `number` answers with m samples each
        one_less = ((accepted, (m - 1, accepted - 1)), (m - accepted, (m - 1, accepted)))
        for samples, answer in one_less:
            if samples:
                others = answers - Counter([(m, accepted)])
                smaller = [*others.elements(), answer]
                result.append(
                    (samples * number, AnswerCounts.from_answers(smaller, counts.unanswered))
                )
    if counts.unanswered:
        result.append((counts.unanswered, counts._replace(unanswered=counts.unanswered - 1)))
    return result


# --- The posterior ------------------------------------------------------------------------


def _posterior_moments(consensus: Consensus, prior: Prior) -> Moments:
    """Return the posterior moments of avg@N, and of pass@k and maj@k at each k of `consensus`."""
    n, c = consensus.counts.unique
    # The outcomes are rewards of the categories 0 and 1: n - c are at most 0, and n at most 1.
    outcomes = Rewards(
        inverse=consensus.counts.inverse,
        levels=np.array([0.0, 1.0]),
        at_most=np.stack([n - c, n], axis=1),
        categories=np.array([1, 2]),
    )
    moments = {ScoreId("avg@N", consensus.n): outcomes.average()}
    for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
        for k_in_key, k in consensus.ks.items():
            mean, variance = np.empty(len(n)), np.empty(len(n))
            for size, rows in rows_by_k(k, n):  # k is None for k = n
                credit = credits(size)
                mean[rows] = posterior_means(n[rows], c[rows], [credit], prior)[:, 0]
                pair = (credit, credit)
                variance[rows] = credit_covariances(n[rows], c[rows], [pair], prior)[:, 0]
            moments[ScoreId(metric, k_in_key)] = mean, variance
    return moments_by_key(outcomes, moments)
