"""The posterior interval mu -+ z sigma, clipped to bounds (Hariri et al. 2026, arXiv:2510.04265).

Questions are independent in the posterior, so the variance of their mean follows from the variance
of each. The mean is approximately normal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .counts import UniqueIntegers
from .interval import Interval, IntervalMethod, normal_z
from .score import Moments, ScoreKey


class PosteriorIntervals(IntervalMethod):
    """Intervals mu -+ z sigma from posterior moments, with limits clipped to `bounds`, (lo, hi).

    `name` is that of the method in results, or None, and `weights` those of the M questions.
    """

    def __init__(
        self,
        moments: Moments,
        bounds: tuple[float, float],
        name: str | None = "posterior",
        weights: np.ndarray | None = None,
    ):
        self._moments, self._bounds, self._name, self._weights = moments, bounds, name, weights

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the variances of m scores over these questions as a diagonal matrix, (m, m)."""
        # The covariances of different scores are unknown.
        intervals = self.intervals(questions, 0.5)
        return np.diag([intervals[key].sigma ** 2 for key in keys])

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices."""
        moments = self._moments
        # The rows of the moments that belong to the questions, and for each of them the sums of its
        # questions' weights and of their squares. Questions with equal counts share a row.
        used = UniqueIntegers(moments.inverse[questions], len(moments.mean))
        sums = squares = used.multiplicity
        if self._weights is not None:
            weights = self._weights[questions]
            sums = np.bincount(used.inverse, weights)
            squares = np.bincount(used.inverse, weights**2)
        total, mean = sums.sum(), moments.mean[used.values]
        covariance = {pair: values[used.values] for pair, values in moments.covariance.items()}
        means = sums @ mean / total
        pooled = {pair: squares @ values / total**2 for pair, values in covariance.items()}
        result = {}
        for key, score in moments.keys.items():
            if score.pooled:
                mu, variance = score.value(means), score.variance(means, pooled)
            else:
                mu = sums @ score.value(mean.T) / total
                variance = squares @ score.variance(mean.T, covariance) / total**2
            sigma = float(np.sqrt(variance))
            lo, hi = normal_limits(float(mu), sigma, confidence, self._bounds)
            result[key] = Interval(float(mu), sigma, float(lo), float(hi), self._name)
        return result


def normal_limits(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """Return (lo, hi) = mu -+ z sigma, clipped to `bounds`: numbers or arrays, as mu and sigma."""
    margin, (least, most) = normal_z(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - margin, least), np.minimum(mu + margin, most)
    return np.minimum(lo, most), np.maximum(hi, least)
