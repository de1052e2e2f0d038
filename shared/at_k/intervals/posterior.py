"""The posterior interval: the normal approximation around a posterior mean.

The posterior of each question has a mean and a variance, independent between questions. The mean
over questions is approximately normal, so the interval is mu -+ z sigma, clipped to the bounds
(Hariri et al. 2026, arXiv:2510.04265).
"""

from __future__ import annotations

import numpy as np

from ..scores.score import Moments, ScoreKey
from .interval import Interval, normal_z
from .methods import Clusters, CountsMethod


class PosteriorIntervals(CountsMethod):
    """Intervals mu -+ z sigma from posterior moments.

    Args:
        moments: of the scores of each distinct count.
        bounds: (lo, hi) to which the limits are clipped.
    """

    def __init__(self, moments: Moments, bounds: tuple[float, float]):
        super().__init__(moments.inverse, len(moments.mean))
        self._moments, self._bounds = moments, bounds

    def of_rows(self, rows: np.ndarray) -> PosteriorIntervals:
        return PosteriorIntervals(self._moments.of_rows(rows), self._bounds)

    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        weight = multiplicity.astype(float)
        total = weight.sum(axis=1)
        mean, covariance = self._moments.mean, self._moments.covariance
        means = (weight @ mean).T / total
        pooled = {pair: weight @ each / total**2 for pair, each in covariance.items()}
        result = {}
        for key, score in self._moments.keys.items():
            if score.pooled:
                mu, variance = score.value(means), score.variance(means, pooled)
            else:
                mu = weight @ score.value(mean.T) / total
                variance = weight @ score.variance(mean.T, covariance) / total**2
            sigma = np.sqrt(variance)
            lo, hi = normal_limits(mu, sigma, confidence, self._bounds)
            result[key] = Interval(mu, sigma, lo, hi, "posterior")
        return result


def normal_limits(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """Return mu -+ z sigma, clipped to the bounds, so lo <= hi always."""
    margin, (least, most) = normal_z(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - margin, least), np.minimum(mu + margin, most)
    return np.minimum(lo, most), np.maximum(hi, least)
