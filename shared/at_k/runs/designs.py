"""The precision of a design: M questions with n samples each, whose success rates have a prior.

Under the prior G, a question has c correct samples with a probability P(c), and its unbiased
estimate h(c) varies with

    V = Var[h] = W + B,  W = E[Var[h | p]],  B = Var[s(p)],

where s(p) = E[h | p] is the score of a question with the success rate p. W concerns new samples of
the same questions, and V new questions. V decreases with n down to B, which does not depend on n.

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
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from ..inputs.counts import BinaryCounts
from ..intervals.binary_family import RATE_SUPPORT, BinaryFamily, binomial_likelihood
from ..intervals.interval import Interval
from ..intervals.sampling import SamplingIntervals
from ..scores.pass_family import estimator
from ..scores.score import Score

_UP = np.array([1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60])  # shifts by steps of the log-odds
_PRIOR_SHIFTS = np.concatenate([-_UP[::-1], [0], _UP])
_HERE = len(_UP)
_NODES = (np.arange(20) + 0.5) / 20  # probabilities of the quantiles that a mean is taken over
_DIFFERENCES = 2001  # candidates for the smallest difference


class Goal(NamedTuple):
    """What intervals and comparisons are planned for.

    Args:
        confidence: of the intervals.
        power: probability that a comparison finds the difference.
        correlation: over questions, of the scores of two runs.
    """

    confidence: float
    power: float
    correlation: float


class Precision(NamedTuple):
    """The expected half-width of an interval, and the smallest difference that is found.

    A value is None if the interval does not exist, or if no score is high enough.
    """

    half_width: float | None
    difference: float | None


class Design:
    """Questions with n samples each, whose success rates have a prior.

    Args:
        prior: (161,) over the grid of success rates, of sum 1.
        score: with a single column, of k <= n samples.
        n: number of samples of each question.
        goal: of the plan.
    """

    def __init__(self, prior: np.ndarray, score: Score, n: int, goal: Goal):
        self._goal, self.n = goal, n
        c, size = np.arange(n + 1), np.full(n + 1, n)
        keys, estimate = estimator({"": score})
        self._family = BinaryFamily.of_run(BinaryCounts(size, c), keys, estimate, {})
        h, likelihood = self._family.columns[:, 0], binomial_likelihood(size, c)
        supports = [
            slice(RATE_SUPPORT.start + s, RATE_SUPPORT.stop + s) for s in _PRIOR_SHIFTS.tolist()
        ]
        score_of_rate = h @ likelihood
        # Each of these has an entry for each shift.
        self._pmf_of_c = np.array([likelihood[:, each] @ prior for each in supports])
        self.scores = np.clip(self._pmf_of_c @ h, 0.0, 1.0)
        squares = np.array([prior @ score_of_rate[each] ** 2 for each in supports])
        self._between = np.maximum(squares - self.scores**2, 0.0)
        self._total = np.maximum(self._pmf_of_c @ h**2 - self.scores**2, self._between)

    @property
    def score(self) -> float:
        """The mean score of the prior."""
        return float(self.scores[_HERE])

    def precision(self, questions: int, kind: str) -> Precision:
        """The precision with M questions, for "sampling" or "questions"."""
        if self.n < 2 and kind == "sampling":
            return Precision(None, None)
        shifts, (mu, lo, hi) = self._intervals(questions, kind)
        half_width = np.interp(self._run_scores(questions, kind), mu, (hi - lo) / 2).mean()
        difference = self._smallest_difference(questions, kind, shifts, mu, lo, hi)
        return Precision(float(half_width), difference)

    # --- Half-widths ----------------------------------------------------------------------

    def _variance(self, kind: str) -> np.ndarray:
        return self._total if kind == "questions" else self._total - self._between

    def _run_scores(self, questions: int, kind: str) -> np.ndarray:
        """Quantiles of the score of a run."""
        mean, variance = self.score, self._variance(kind)[_HERE] / questions
        largest = mean * (1 - mean)
        if variance <= 1e-9 * largest or largest < 1e-12:
            return np.array([mean])
        size = max(largest / variance - 1, 1e-3)
        return betaincinv(mean * size, (1 - mean) * size, _NODES)

    def _intervals(
        self, questions: int, kind: str
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The shifts that matter, and mu, lo and hi of the expected run of each."""
        scores = self._run_scores(questions, kind)
        z = NormalDist().inv_cdf((1 + self._goal.confidence) / 2)
        z += abs(NormalDist().inv_cdf(self._goal.power))
        # Twice the difference that the normal approximation gives is far enough.
        far = 2 * z * math.sqrt(2 * self._variance(kind).max() / questions)
        first = np.searchsorted(self.scores, scores.min(), "right") - 1
        last = np.searchsorted(self.scores, max(scores.max(), self.score + far), "left")
        shifts = np.arange(min(max(first, 0), _HERE), min(last, len(_PRIOR_SHIFTS) - 1) + 1)
        method = SamplingIntervals(self._family, new_questions=kind == "questions")
        found: Interval = method.over(questions * self._pmf_of_c[shifts], self._goal.confidence)[""]
        return shifts, (found.mu, found.lo, found.hi)

    # --- Differences ----------------------------------------------------------------------

    def _smallest_difference(
        self,
        questions: int,
        kind: str,
        shifts: np.ndarray,
        mu: np.ndarray,
        lo: np.ndarray,
        hi: np.ndarray,
    ) -> float | None:
        up, variances = shifts[shifts >= _HERE], self._variance(kind)
        scores_b = self.scores[up]
        d = np.linspace(0.0, scores_b[-1] - self.score, _DIFFERENCES)
        # Of a question: the variances of both estimates, their covariance, and that of b - a.
        of_a, of_b = variances[_HERE], np.interp(self.score + d, scores_b, variances[up])
        covariance = np.zeros(len(d))
        if kind == "questions":
            between = np.interp(self.score + d, scores_b, self._between[up])
            covariance = self._goal.correlation * np.sqrt(self._between[_HERE] * between)
        variance = np.maximum(of_a + of_b - 2 * covariance, 1e-300)
        low = NormalDist().inv_cdf(self._goal.power) * np.sqrt(variance / questions)
        a = self.score + low * (of_a - covariance) / variance
        b = self.score + d - low * (of_b - covariance) / variance
        above, below = np.interp(a, mu, hi - mu), np.interp(b, mu, mu - lo)
        r = covariance / np.maximum(np.sqrt(of_a * of_b), 1e-300)
        length = np.sqrt(np.maximum(above**2 + below**2 - 2 * r * above * below, 0.0))
        found = d - low > length
        return float(d[np.argmax(found)]) if found.any() else None
