"""Pilot runs: the prior of the success rates of questions, and the correlation of two runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..intervals.binary_family import RATES, estimate_rate_prior, scores_of_rates
from ..scores.pass_family import estimator
from ..scores.score import Score
from .outcomes_of_runs import Run


class Pilot:
    """A run that a plan is estimated from.

    Args:
        run: with outcomes 0 or 1.
        score: that is planned for, with a single column.

    Raises:
        ValueError: if each question of the run has one sample.
    """

    def __init__(self, run: Run, score: Score):
        self._counts, self._name = run.outcomes.counts(), run.name
        self._score, self._k = score, len(score.terms[0])
        if self._counts.n.max() < 2:
            raise ValueError(
                f"{run.name} has one sample of each question, which does not show how questions "
                f"differ: give a pilot run with more samples, or rates."
            )
        n, c = self._counts.unique
        priors = estimate_rate_prior(n, c, self._counts.multiplicity[None])
        self.prior = np.sum([prior[0] for prior in priors.values()], axis=0)

    @property
    def assumptions(self) -> dict[str, Any]:
        """What a plan says about the run."""
        least = int(self._counts.n.min())
        return {
            "rates_are": "estimated",
            "pilot_questions": len(self._counts.n),
            "pilot_samples": least,
            "extrapolated": self._k > least,
        }

    def correlation(self, other: Pilot) -> float:
        """The correlation over questions of the scores of two runs, without the noise of samples.

        Samples of two runs are independent, so the covariance of the estimates is that of the
        scores.
        """
        a, b = self._deviations(), other._deviations()
        covariance = float(a @ b) / (len(a) - 1)
        size = math.sqrt(self._between() * other._between())
        return min(max(covariance / size, -1.0), 1.0) if size > 0 else 0.0

    def _deviations(self) -> np.ndarray:
        if self._k > self._counts.n.min():
            raise ValueError(
                f"k is {self._k}, and {self._name} has {self._counts.n.min()} samples of a "
                f"question: the correlation needs k of them, so give it as correlation."
            )
        if len(self._counts.n) < 2:
            raise ValueError(f"{self._name} has one question: a correlation needs two.")
        _, estimate = estimator({"": self._score})
        scores = estimate(*self._counts.unique)[self._counts.inverse, 0]
        return scores - scores.mean()

    def _between(self) -> float:
        """The variance of the scores of questions."""
        scores = scores_of_rates(self._score.terms)[:, 0]
        return float(self.prior @ scores**2 - (self.prior @ scores) ** 2)


def prior_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return a prior over the grid for success rates that occur equally often.

    Each rate is split between its neighbors on the grid, so that the mean is preserved.
    """
    rates = np.clip(rates, RATES[0], RATES[-1])
    above = np.clip(np.searchsorted(RATES, rates), 1, len(RATES) - 1)
    fraction = (rates - RATES[above - 1]) / (RATES[above] - RATES[above - 1])
    shares = np.bincount(above - 1, 1 - fraction, len(RATES))
    return (shares + np.bincount(above, fraction, len(RATES))) / len(rates)
