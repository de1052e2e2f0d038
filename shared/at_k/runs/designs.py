"""The precision of a design: M questions with n samples each, whose success rates have a prior.

Arrays of 25 entries have one for each shift of the prior, which stands for runs with another score.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from ..core.counts import BinaryCounts
from ..core.interval import Interval, normal_z
from ..core.questions import MeansOfQuestions, unseen_share
from ..core.score import Score
from ..intervals.binary_family import RATE_SUPPORT, RATES, BinaryFamily, binomial_likelihood
from ..intervals.family import Fit
from ..intervals.sampling import sampling_intervals
from ..scores.checker_rates import estimator

_UP = np.array([1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60])  # in steps of the grid of log-odds
_SUPPORTS = [
    slice(RATE_SUPPORT.start + shift, RATE_SUPPORT.stop + shift) for shift in (*-_UP[::-1], 0, *_UP)
]
_UNSHIFTED = len(_UP)  # the index of the shift 0
_DIFFERENCE_GRID_SIZE = 2001  # number of candidates for the smallest difference


class Population(NamedTuple):
    """What a plan assumes about questions and comparisons.

    Attributes:
        prior: (161,) probabilities of the success rates on the grid `RATES`, with the sum 1.
        score: the planned score, with a single column.
        correlation: the correlation r of the scores of two runs over questions.
        design_effect: the factor by which weights of questions increase the variance of a mean.
        variance_factor: what B under the prior is multiplied by. P pilot questions vary less about
            their own mean than about that of all, by P / (P - 1); clusters increase the variance.
        clusters, effective_clusters: G / M and G* / M of `core.questions` for equal weights.
    """

    prior: np.ndarray
    score: Score
    confidence: float
    power: float
    correlation: float
    design_effect: float = 1.0
    variance_factor: float = 1.0
    clusters: float = 1.0
    effective_clusters: float = 1.0


class Precision(NamedTuple):
    """The expected half-width of an interval and the smallest difference that is found, or None."""

    half_width: float | None
    difference: float | None


class Design:
    """Describe questions from a population with n samples each, n >= k, before M is chosen.

    Under the prior, a question has c correct samples with a probability P(c), and its unbiased
    estimate h(c) varies with

        V = Var[h] = W + B,  W = E[Var[h | p]],  B = Var[s(p)],

    where s(p) = E[h | p] is its score. W is for new samples of the same questions, V for new ones.
    `scores`, (25,), are mean scores at each shift of the prior, and `score` that without a shift.
    """

    def __init__(self, population: Population, n: int):
        self._assumed, self.n = population, n
        c, size = np.arange(n + 1), np.full(n + 1, n)
        keys, estimate = estimator({"": population.score})
        self._family = BinaryFamily(BinaryCounts(size, c), keys, estimate, {})
        h, prior = self._family.columns[:, 0], population.prior
        likelihood = binomial_likelihood(size, c)
        self._pmf_of_c = np.array([likelihood[:, support] @ prior for support in _SUPPORTS])
        self.scores = np.clip(self._pmf_of_c @ h, 0.0, 1.0)
        self.score = float(self.scores[_UNSHIFTED])
        score_of_rate = np.array([(h @ likelihood)[support] for support in _SUPPORTS])
        between = (score_of_rate - self.scores[:, None]) ** 2 @ prior
        total = (self._pmf_of_c * (h - self.scores[:, None]) ** 2).sum(axis=1)
        self._between = population.variance_factor * between
        independent = np.maximum(total, between)
        self._total = independent + self._between - between
        # M* / M of `core.questions`.
        share = independent / np.maximum(self._total, 1e-300)
        self._effective_share = np.clip(share, population.effective_clusters, 1.0)

    def precision(self, questions: int, kind: str) -> Precision:
        """Return the precision of M questions for the interval "sampling" or "questions".

        Near 0 and 1 the length of an interval is far from linear in the score of the run. So the
        half-width is a mean over the Beta distribution of this score with the variance V / M or
        W / M. The interval of each score is that of the expected run, see `_expected_intervals`.
        """
        if self.n < 2 and kind == "sampling":
            return Precision(None, None)
        # A mean over this number of questions with equal weights has the same variance.
        effective = questions / self._assumed.design_effect
        variance = (self._total if kind == "questions" else self._total - self._between) / effective
        scores = self._run_scores(variance[_UNSHIFTED])
        shifts = self._shifts_that_matter(scores, variance.max())
        intervals = self._expected_intervals(effective, kind, shifts)
        half_widths = (intervals.hi - intervals.lo) / 2
        half_width = float(np.interp(scores, intervals.mu, half_widths).mean())
        difference = self._smallest_difference(effective, kind, variance, shifts, intervals)
        return Precision(half_width, difference)

    def _run_scores(self, variance: float) -> np.ndarray:
        """Return 20 quantiles of the score of a run, or only its mean if `variance` is about 0."""
        mean, largest = self.score, self.score * (1 - self.score)
        if variance <= 1e-9 * largest or largest < 1e-12:
            return np.array([mean])
        size = max(largest / variance - 1, 1e-3)
        # The mean over these quantiles stands for that over the distribution.
        return betaincinv(mean * size, (1 - mean) * size, (np.arange(20) + 0.5) / 20)

    def _shifts_that_matter(self, scores: np.ndarray, variance: float) -> np.ndarray:
        """Return the indices of the shifts, (s,), a range, for which intervals are computed.

        They cover `scores` and, in a second run, twice the difference of the normal approximation.
        """
        z = normal_z(self._assumed.confidence) + abs(NormalDist().inv_cdf(self._assumed.power))
        highest = max(scores.max(), self.score + 2 * z * math.sqrt(2 * variance))
        first = np.searchsorted(self.scores, scores.min(), "right") - 1
        # If all scores are equal, searchsorted returns one past the last index.
        last = min(np.searchsorted(self.scores, highest, "left"), len(_SUPPORTS) - 1)
        return np.arange(min(max(first, 0), _UNSHIFTED), max(last, _UNSHIFTED) + 1)

    def _expected_intervals(self, effective: float, kind: str, shifts: np.ndarray) -> Interval:
        """Return the interval of the expected run at each of s `shifts`. Its fields are (s,).

        It has `effective` questions, with P(c) of them for each c, and a prior estimated from them.
        """
        pmf_of_c, confidence = self._pmf_of_c[shifts], self._assumed.confidence
        if kind == "questions":
            mu, variance = pmf_of_c @ self._family.columns[:, 0], self._total[shifts] / effective
            number, assumed = effective * self._effective_share[shifts], self._assumed
            clusters = effective * assumed.clusters, effective * assumed.effective_clusters
            means = MeansOfQuestions(mu, np.diag(variance), number, *clusters)
            lo, hi = means.limits(confidence, (0.0, 1.0))
            return Interval(mu, np.sqrt(variance), lo, hi, kind)
        fits = (Fit(self._family, effective * pmf) for pmf in pmf_of_c)
        intervals = [sampling_intervals(fit, confidence)[""][:4] for fit in fits]
        mu, sigma, lo, hi = np.transpose(intervals)
        return Interval(mu, sigma, lo, hi, kind)

    def _smallest_difference(
        self,
        effective: float,
        kind: str,
        variance: np.ndarray,
        shifts: np.ndarray,
        intervals: Interval,
    ) -> float | None:
        """Return the smallest difference that `compare` finds with the power of the population.

        Run b has the prior of run a with a shift, so that its score is higher by d. The difference
        D of the runs has the mean d and the variance (V_a + V_b - 2 r sqrt(B_a B_b)) / M for new
        questions, (W_a + W_b) / M for new samples. It is found if it exceeds the length by which
        its interval extends below it, for the scores of both runs that are expected given D. At
        the smallest d, that holds for the quantile 1 - power of D. `variance` is (25,).
        """
        up = shifts[shifts >= _UNSHIFTED]
        scores_b = self.scores[up]
        d = np.linspace(0.0, scores_b[-1] - self.score, _DIFFERENCE_GRID_SIZE)
        score_b = self.score + d
        variance_a, variance_b = variance[_UNSHIFTED], np.interp(score_b, scores_b, variance[up])
        covariance = np.zeros(len(d))
        if kind == "questions":
            between = np.interp(score_b, scores_b, self._between[up])
            product = self._between[_UNSHIFTED] * between
            covariance = self._assumed.correlation * np.sqrt(product) / effective
        r = covariance / np.maximum(np.sqrt(variance_a * variance_b), 1e-300)
        variance_of_d = np.maximum(variance_a + variance_b - 2 * covariance, 1e-300)
        quantile = NormalDist().inv_cdf(self._assumed.power) * np.sqrt(variance_of_d)
        # These are the expected scores of both runs if b - a is at the quantile for the power.
        a = self.score + quantile * (variance_a - covariance) / variance_of_d
        b = score_b - quantile * (variance_b - covariance) / variance_of_d
        mu, lo, hi = intervals.mu, intervals.lo, intervals.hi
        above, below = np.interp(a, mu, hi - mu), np.interp(b, mu, mu - lo)
        length = np.sqrt(np.maximum(above**2 + below**2 - 2 * r * above * below, 0.0))
        if kind == "questions":  # An unseen kind of questions: see the module `differences`.
            clusters = effective * self._assumed.clusters
            share = unseen_share(clusters, 1 - self._assumed.confidence)
            length = np.maximum(length, share * np.maximum(b, 1 - a))
        is_found = d - quantile > length
        return float(d[np.argmax(is_found)]) if is_found.any() else None


def prior_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return the prior, (161,), of success rates, (R,), with equal weights.

    The weight of each rate is split between the two rates of the grid `RATES` beside it.
    """
    rates = np.clip(rates, RATES[0], RATES[-1])
    above = np.clip(np.searchsorted(RATES, rates), 1, len(RATES) - 1)
    fraction = (rates - RATES[above - 1]) / (RATES[above] - RATES[above - 1])
    shares = np.bincount(above - 1, 1 - fraction, len(RATES))
    return (shares + np.bincount(above, fraction, len(RATES))) / len(rates)
