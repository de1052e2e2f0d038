"""The posterior interval: the normal approximation around a posterior mean.

The posterior of each question has a mean and a variance, independent between questions. The mean
over questions is approximately normal, so the interval is mu -+ z sigma, clipped to the bounds
(Hariri et al. 2026, arXiv:2510.04265).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .interval import Interval, IntervalMethod, Multiplicity, intervals_by_counts, normal_z
from .score import Moments, ScoreKey


class PosteriorIntervals(IntervalMethod):
    """Intervals mu -+ z sigma from posterior moments.

    Args:
        moments: of the scores of each distinct count.
        bounds: (lo, hi) to which the limits are clipped.
        name: of the method in the results, or None for none.
        weights: (M,) of the questions, or None if they are equal.
    """

    def __init__(
        self,
        moments: Moments,
        bounds: tuple[float, float],
        name: str | None = "posterior",
        weights: np.ndarray | None = None,
    ):
        self._moments, self._bounds, self._name, self._weights = moments, bounds, name, weights

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        def of_counts(
            rows: np.ndarray | None, multiplicity: Multiplicity
        ) -> dict[ScoreKey, Interval]:
            used = moments if rows is None else moments.at_rows(rows)
            return PosteriorIntervals(used, bounds, name).over(multiplicity, confidence)

        moments, bounds, name = self._moments, self._bounds, self._name
        size = len(moments.mean)
        return intervals_by_counts(groups, moments.inverse, size, of_counts, self._weights)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        # Those of different scores are not known.
        (intervals,) = self.for_groups([questions], 0.5)
        return np.diag([intervals[key].sigma ** 2 for key in keys])

    def over(self, multiplicity: Multiplicity, confidence: float) -> dict[ScoreKey, Interval]:
        """The intervals of B groups of questions."""
        weight, squares = (x.astype(float) for x in multiplicity)
        total = weight.sum(axis=1)
        mean, covariance = self._moments.mean, self._moments.covariance
        means = (weight @ mean).T / total
        pooled = {pair: squares @ of_counts / total**2 for pair, of_counts in covariance.items()}
        result = {}
        for key, score in self._moments.keys.items():
            if score.pooled:
                mu, variance = score.value(means), score.variance(means, pooled)
            else:
                mu = weight @ score.value(mean.T) / total
                variance = squares @ score.variance(mean.T, covariance) / total**2
            sigma = np.sqrt(variance)
            lo, hi = normal_limits(mu, sigma, confidence, self._bounds)
            result[key] = Interval(mu, sigma, lo, hi, self._name)
        return result


def normal_limits(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """Return mu -+ z sigma, clipped to the bounds, so lo <= hi always."""
    margin, (least, most) = normal_z(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - margin, least), np.minimum(mu + margin, most)
    return np.minimum(lo, most), np.maximum(hi, least)
