"""The precision of a design: M questions with n samples each, whose success rates have a prior.

The prior is estimated from a pilot run, or assumed. So are the rates of a checker that errs.

Under the prior G, a question has c correct samples with a probability P(c), and its unbiased
estimate h(c) varies with

    V = Var[h] = W + B,  W = E[Var[h | p]],  B = Var[s(p)],

where s(p) = E[h | p] is the score of a question with the success rate p. W concerns new samples of
the same questions, and V new questions. V decreases with n down to B, which does not depend on n.
The scores of P pilot questions vary less about their own mean than about that of all questions, so
B under an estimated prior is multiplied by P / (P - 1).

*Half-widths.* A run with M P(c) questions for each c is the expected run, and its interval is the
one that the package computes for it, with a prior estimated from it. Near 0 and 1 the length of an
interval is far from linear in the score U of the run. The half-width is therefore a mean over the
distribution of U, which is taken as a Beta distribution with mean E U and variance V / M or W / M.
Expected runs with other scores have a prior that is shifted in log-odds.

*Differences.* Let run a have the prior G, and run b the same prior shifted in log-odds, so that its
score is higher by d. The difference D of the scores of both runs has the mean d and the variance

    (V_a + V_b - 2 r sqrt(B_a B_b)) / M  for new questions,  (W_a + W_b) / M  for new samples,

where r is the correlation over questions of the scores of the two runs. `compare` finds D if it
exceeds the length by which its interval extends below it. The smallest d that is found with a power
of 80 % is the one for which the 20 % quantile of D does. The scores of the runs at this quantile,
which their intervals depend on, are those expected given D.

*Weights.* If questions have weights like those of the pilot run, the prior is that of its questions
by their weights, and M questions count as M / d, with the design effect d = M sum w^2 / (sum w)^2.

*A checker that errs.* The scores are those of correct samples, and h(c) is corrected for the rates
of the checker, so W grows with k. If L labels of a run estimate the rates, its limits move by as
much as `intervals.labelled` says for the expected counts of labels, and the squared error that this
stands for is added to the variance of its score.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from ..core.choice import Weighting
from ..core.counts import BinaryCounts
from ..core.interval import Interval, normal_z
from ..core.questions import MeansOfQuestions, unseen_share
from ..core.score import Score
from ..intervals.binary_family import (
    RATE_SUPPORT,
    RATES,
    BinaryFamily,
    binomial_likelihood,
    estimate_rate_prior,
    scores_of_rates,
)
from ..intervals.family import Fit, multiplicities
from ..intervals.labelled import Rescore, distances_of_rates
from ..intervals.labels import LabelCounts
from ..intervals.sampling import sampling_intervals
from ..scores.checker_rates import CheckerRates, estimator
from .outcomes_of_runs import Run

_UP = np.array([1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60])  # in steps of the grid of log-odds
_PRIOR_SHIFTS = np.concatenate([-_UP[::-1], [0], _UP])
_SUPPORTS = [
    slice(RATE_SUPPORT.start + shift, RATE_SUPPORT.stop + shift) for shift in _PRIOR_SHIFTS.tolist()
]
_UNSHIFTED = len(_UP)  # the index of the shift 0
# The mean over these quantiles stands for that over a distribution.
_PROBABILITIES = (np.arange(20) + 0.5) / 20
_DIFFERENCE_GRID_SIZE = 2001  # number of candidates for the smallest difference


class Population(NamedTuple):
    """What a plan assumes about questions, the checker and comparisons.

    Attributes:
        prior: (161,) probabilities of the success rates on the grid `RATES`, with the sum 1.
        score: the planned score, with a single column.
        rates: the true-positive and the false-positive rate of the checker.
        confidence: the confidence of the planned intervals.
        power: the power of the planned comparisons.
        correlation: the correlation r of the scores of two runs over questions.
        design_effect: the factor by which weights of questions increase the variance of a mean.
        freedom: the factor P / (P - 1) for a prior that P pilot questions gave; otherwise 1.
    """

    prior: np.ndarray
    score: Score
    rates: CheckerRates
    confidence: float
    power: float
    correlation: float
    design_effect: float = 1.0
    freedom: float = 1.0


class Precision(NamedTuple):
    """The expected half-width of an interval, and the smallest difference that is found.

    Both are None if the interval does not exist. The difference is None, too, if no score of a
    second run is high enough for a comparison to find the difference.
    """

    half_width: float | None
    difference: float | None


class Design:
    """Questions with n samples each, whose success rates have a prior.

    The methods have these arguments: `questions` is the number M of questions. `kind` is the kind
    of the interval, "sampling" or "questions". `shifts` are s indices of `_PRIOR_SHIFTS`, and each
    stands for the prior moved by this number of steps in log-odds, which has another score.

    Args:
        population: what is assumed; k is at most n.
        n: number of samples of each question.
        labels: number of labelled samples of a run, from which the rates are estimated; None if the
            rates are known.

    Attributes:
        scores: (25,) the mean score at each shift of the prior.
    """

    def __init__(self, population: Population, n: int, labels: int | None):
        self._assumed, self.n, self.labels = population, n, labels
        prior, rates, freedom = population.prior, population.rates, population.freedom
        c, size = np.arange(n + 1), np.full(n + 1, n)
        keys, estimate = estimator({"": population.score}, rates)
        counts, known = BinaryCounts(size, c), estimator({"": population.score})[1]
        self._family = BinaryFamily(counts, keys, estimate, {}, rates=rates, without_errors=known)
        h, likelihood = self._family.columns[:, 0], binomial_likelihood(size, c, rates=rates)
        score_of_rate = h @ likelihood
        # The arrays below have an entry for each shift. `_between` is B, and `_total` is V.
        self._pmf_of_c = np.array([likelihood[:, support] @ prior for support in _SUPPORTS])
        self.scores = np.clip(self._pmf_of_c @ h, 0.0, 1.0)
        self._between = np.array(
            [
                prior @ (score_of_rate[support] - mean) ** 2
                for support, mean in zip(_SUPPORTS, self.scores, strict=True)
            ]
        )
        total = (self._pmf_of_c * (h - self.scores[:, None]) ** 2).sum(axis=1)
        self._total = np.maximum(total, self._between) + (freedom - 1) * self._between
        self._between *= freedom
        self._rescore_at = cache(self._rescore_of_shift)

    @property
    def score(self) -> float:
        """Return the mean score under the prior."""
        return float(self.scores[_UNSHIFTED])

    def precision(self, questions: int, kind: str) -> Precision:
        """Return the half-width and the smallest difference with M questions."""
        if (self.n < 2 and kind == "sampling") or not self._labels_suffice(questions):
            return Precision(None, None)
        shifts, intervals = self._intervals_by_shift(questions, kind)
        # Errors of the samples and of the estimated rates are independent: their squares add up.
        mu, (down, up) = intervals.mu, self._moves_of_score(shifts, questions)
        lo = np.maximum(mu - np.hypot(mu - intervals.lo, down), 0.0)
        hi = np.minimum(mu + np.hypot(intervals.hi - mu, up), 1.0)
        # The half-width depends on the score of the run: average it over the scores it may have.
        half_width = np.interp(self._run_scores(questions, kind), mu, (hi - lo) / 2).mean()
        difference = self._smallest_difference(questions, kind, shifts, intervals)
        return Precision(float(half_width), difference)

    # --- Labels ---------------------------------------------------------------------------

    def _labels_suffice(self, questions: int) -> bool:
        """Return whether a run has samples enough for the labels, and these show a good checker."""
        if self.labels is None:
            return True
        samples = questions * self.n
        return self.labels <= samples and self._expected_labels(_UNSHIFTED, samples).show_use

    def _expected_labels(self, shift: int, samples: float) -> LabelCounts:
        """Return the expected counts of labels, at one shift, in a run with so many samples."""
        called_correct = self._pmf_of_c[shift] @ np.arange(self.n + 1) / self.n
        correct = min(max(float(self._assumed.rates.corrected(called_correct)), 0.0), 1.0)
        return LabelCounts.expected(self.labels or 0, self._assumed.rates, correct, samples)

    def _moves_of_score(self, shifts: np.ndarray, questions: int) -> np.ndarray:
        """Return how far estimated rates of the checker may move the score down and up, (2, s)."""
        if self.labels is None:
            return np.zeros((2, len(shifts)))
        moves = [self._moves_of_shift(shift, questions) for shift in shifts.tolist()]
        return np.minimum(np.transpose(moves), 1.0)

    def _moves_of_shift(self, shift: int, questions: int) -> np.ndarray:
        """Return the distances (down, up) of `_moves_of_score` at one shift of the prior."""
        labels = self._expected_labels(shift, questions * self.n)
        return distances_of_rates(labels, self._rescore_at(shift), self._assumed.confidence)[:, 0]

    def _rescore_of_shift(self, shift: int) -> Rescore:
        """Return a cached function from rates of the checker to the expected score, (1,)."""
        score = self._assumed.score
        k = len(score.terms[0])  # The unbiased estimate from k samples has the same mean.
        c, size = np.arange(k + 1), np.full(k + 1, k)
        likelihood = binomial_likelihood(size, c, _SUPPORTS[shift], self._assumed.rates)
        pmf_of_c = likelihood @ self._assumed.prior
        return cache(lambda rates: pmf_of_c @ estimator({"": score}, rates)[1](size, c))

    def _checker_variance(self, shifts: np.ndarray, questions: int) -> np.ndarray:
        """Return what estimated rates of the checker add to the variance of the score, (s,)."""
        return (
            self._moves_of_score(shifts, questions).mean(axis=0)
            / normal_z(self._assumed.confidence)
        ) ** 2

    # --- Half-widths ----------------------------------------------------------------------

    def _variance_of_question(self, kind: str) -> np.ndarray:
        """Return the variance of the estimate of one question, (25,), at each shift of the prior.

        It is V for new questions, and W for new samples.
        """
        return self._total if kind == "questions" else self._total - self._between

    def _run_scores(self, questions: int, kind: str) -> np.ndarray:
        """Return quantiles of the score of a run, (20,), or its mean, (1,), if it does not vary."""
        mean = self.score
        variance = self._variance_of_question(kind)[_UNSHIFTED] / self._effective_questions(
            questions
        )
        variance += self._checker_variance(np.array([_UNSHIFTED]), questions)[0]
        largest = mean * (1 - mean)
        if variance <= 1e-9 * largest or largest < 1e-12:
            return np.array([mean])
        size = max(largest / variance - 1, 1e-3)
        return betaincinv(mean * size, (1 - mean) * size, _PROBABILITIES)

    def _intervals_by_shift(self, questions: int, kind: str) -> tuple[np.ndarray, Interval]:
        """Return the shifts that matter, (s,), and the interval of the expected run at each.

        The fields of the `Interval` are arrays, (s,). The shifts cover the scores that the run may
        have, and those of a second run up to twice the difference that is about found.
        """
        scores = self._run_scores(questions, kind)
        z = normal_z(self._assumed.confidence) + abs(NormalDist().inv_cdf(self._assumed.power))
        # Twice the difference that the normal approximation gives is far enough.
        checker_variance = self._checker_variance(np.array([_UNSHIFTED]), questions)[0]
        effective = self._effective_questions(questions)
        far = (
            2
            * z
            * math.sqrt(2 * (self._variance_of_question(kind).max() / effective + checker_variance))
        )
        first = np.searchsorted(self.scores, scores.min(), "right") - 1
        last = np.searchsorted(self.scores, max(scores.max(), self.score + far), "left")
        # If all scores are equal, searchsorted returns one past the last index.
        last = min(max(last, _UNSHIFTED), len(_PRIOR_SHIFTS) - 1)
        shifts = np.arange(min(max(first, 0), _UNSHIFTED), last + 1)
        if kind == "questions":
            return shifts, self._question_intervals(effective, shifts)
        confidence = self._assumed.confidence
        intervals = [
            sampling_intervals(Fit(self._family, effective * pmf_of_c), confidence)[""]
            for pmf_of_c in self._pmf_of_c[shifts]
        ]
        mu, sigma, lo, hi = np.transpose([interval[:4] for interval in intervals])
        return shifts, Interval(mu, sigma, lo, hi, "sampling")

    def _effective_questions(self, questions: int) -> float:
        """Return the number of questions of equal weight whose mean has the same variance."""
        return questions / self._assumed.design_effect

    def _question_intervals(self, questions: float, shifts: np.ndarray) -> Interval:
        """Return an `Interval` of arrays, (s,): the limits for new questions at each shift.

        They are the limits of a run with the expected mean and variance. `questions` is the
        effective number of questions.
        """
        mu, variance = self._pmf_of_c[shifts] @ self._family.columns[:, 0], self._total[shifts]
        number = np.full(len(shifts), questions)
        means = MeansOfQuestions(mu, np.diag(variance / questions), number, questions, questions)
        lo, hi = means.limits(self._assumed.confidence, (0.0, 1.0))
        return Interval(mu, np.sqrt(variance / questions), lo, hi, "questions")

    # --- Differences ----------------------------------------------------------------------

    def _smallest_difference(
        self, questions: int, kind: str, shifts: np.ndarray, intervals: Interval
    ) -> float | None:
        """Return the smallest difference that a comparison finds with the power of the goal.

        Return None if it finds no difference up to the highest score at these shifts. `intervals`
        has the interval of the expected run at each shift, in arrays (s,).
        """
        up, variances = shifts[shifts >= _UNSHIFTED], self._variance_of_question(kind)
        scores_b = self.scores[up]
        d = np.linspace(0.0, scores_b[-1] - self.score, _DIFFERENCE_GRID_SIZE)
        # These are the variances and the covariance of the estimates of one question.
        score_b = self.score + d
        variance_a, variance_b = variances[_UNSHIFTED], np.interp(score_b, scores_b, variances[up])
        covariance = np.zeros(len(d))
        if kind == "questions":
            between = np.interp(score_b, scores_b, self._between[up])
            covariance = self._assumed.correlation * np.sqrt(self._between[_UNSHIFTED] * between)
        r = covariance / np.maximum(np.sqrt(variance_a * variance_b), 1e-300)
        # The runs are labelled independently, so labels add to the variances only.
        effective = self._effective_questions(questions)
        checker_variance = effective * self._checker_variance(up, questions)
        variance_a = variance_a + checker_variance[0]
        variance_b = variance_b + np.interp(score_b, scores_b, checker_variance)
        variance = np.maximum(variance_a + variance_b - 2 * covariance, 1e-300)
        quantile = NormalDist().inv_cdf(self._assumed.power) * np.sqrt(variance / effective)
        # These are the expected scores of both runs if b - a is at the quantile for the power.
        a = self.score + quantile * (variance_a - covariance) / variance
        b = score_b - quantile * (variance_b - covariance) / variance
        mu, lo, hi = intervals.mu, intervals.lo, intervals.hi
        above, below = np.interp(a, mu, hi - mu), np.interp(b, mu, mu - lo)
        down, up_moves = self._moves_of_score(shifts, questions)
        length = np.sqrt(
            np.maximum(above**2 + below**2 - 2 * r * above * below, 0.0)
            + np.interp(a, mu, up_moves) ** 2
            + np.interp(b, mu, down) ** 2
        )
        if kind == "questions":  # An unseen kind of questions: see the module `differences`.
            share = unseen_share(effective, 1 - self._assumed.confidence)
            length = np.maximum(length, share * np.maximum(b, 1 - a))
        is_found = d - quantile > length
        return float(d[np.argmax(is_found)]) if is_found.any() else None


# --- Priors -------------------------------------------------------------------------------


class Pilot:
    """A pilot run, from which the prior of the success rates is estimated.

    `score` is the planned score, with a single column. The weights of questions also weight the
    prior.

    Attributes:
        prior: (161,) probabilities of the success rates on the grid `RATES`.
        design_effect: the factor by which the weights increase the variance of a mean.
        freedom: the factor P / (P - 1) for P questions, or for their effective number.

    Raises:
        ValueError: if no question of the run has two samples.
    """

    def __init__(self, run: Run, score: Score, weighting: Weighting):
        self._counts, self._name, self._rates = run.outcomes.counts, run.name, run.errors.rates
        self._score, self._k = score, len(score.terms[0])
        if self._counts.n.max() < 2:
            raise ValueError(
                f"{run.name} has one sample of each question, which does not show how questions "
                f"differ: give a pilot run with more samples, or rates."
            )
        n, c = self._counts.unique
        weights = weighting.values
        self._weights = np.ones(len(self._counts)) if weights is None else weights
        numbers, _ = multiplicities(self._counts.inverse, len(n), weights)
        effective = float(numbers.sum())
        self.design_effect = len(self._counts) / effective
        self.freedom = effective / max(effective - 1, 1.0)
        self.prior = estimate_rate_prior(n, c, numbers, self._rates)

    @property
    def assumptions(self) -> dict[str, Any]:
        """Return the "assumptions" of a plan that describe the pilot run."""
        least = int(self._counts.n.min())
        return {
            "rates_are": "estimated",
            "pilot_questions": len(self._counts.n),
            "pilot_samples": least,
            "extrapolated": self._k > least,
        }

    def correlation(self, other: Pilot) -> float:
        """Return the correlation of the true scores of two runs over questions.

        It is 0 if one of the scores does not vary. Samples of two runs are independent, so the
        covariance of the estimates is also that of the true scores. Raises ValueError if a run has
        one question, or a question with fewer than k samples.
        """
        a, b, weights = self._deviations(), other._deviations(), self._weights
        # For equal weights, this divides by M - 1.
        freedom = float(weights.sum() - weights @ weights / weights.sum())
        covariance = float(weights @ (a * b)) / freedom
        size = math.sqrt(self._variance_between() * other._variance_between())
        return min(max(covariance / size, -1.0), 1.0) if size > 0 else 0.0

    def _deviations(self) -> np.ndarray:
        """Return the estimated score of each question minus their weighted mean, (M,)."""
        if self._k > self._counts.n.min():
            raise ValueError(
                f"k is {self._k}, and {self._name} has {self._counts.n.min()} samples of a "
                f"question: the correlation needs k of them, so give it as correlation."
            )
        if np.count_nonzero(self._weights) < 2:
            raise ValueError(f"{self._name} has one question: a correlation needs two.")
        _, estimate = estimator({"": self._score}, self._rates)
        scores = estimate(*self._counts.unique)[self._counts.inverse, 0]
        return scores - np.average(scores, weights=self._weights)

    def _variance_between(self) -> float:
        """Return the variance of the true scores of questions."""
        scores = scores_of_rates(self._score.terms)[:, 0]
        return self.freedom * float(self.prior @ (scores - self.prior @ scores) ** 2)


def prior_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return the prior, (161,) on the grid `RATES`, under which each given rate is equally likely.

    The probability of a rate is split between its neighbors on the grid, which preserves the mean.
    """
    rates = np.clip(rates, RATES[0], RATES[-1])
    above = np.clip(np.searchsorted(RATES, rates), 1, len(RATES) - 1)
    fraction = (rates - RATES[above - 1]) / (RATES[above] - RATES[above - 1])
    shares = np.bincount(above - 1, 1 - fraction, len(RATES))
    return (shares + np.bincount(above, fraction, len(RATES))) / len(rates)
