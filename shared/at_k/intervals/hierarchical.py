"""Hierarchical intervals: the range of a score over all priors that fit the data, for any k.

For k > n the score is not identified: distributions that no n samples distinguish have different
scores. The limits reflect that, because they cover every prior over distributions that fits the
data (`profile`). The estimate is the posterior mean under the estimated prior. The limits contain
it, and for k <= n also the unbiased estimate.
"""

from __future__ import annotations

import numpy as np

from ..scores.family import Fit
from ..scores.score import ScoreKey
from .interval import Interval, normal_z
from .methods import Clusters, FamilyMethod
from .profile import Profile


class HierarchicalIntervals(FamilyMethod):
    """Intervals of the extrapolated scores of a family."""

    def problem(self, rows: np.ndarray) -> str | None:
        if not self.one_sample_each(rows):
            return None
        return "one sample of each question does not show how questions differ: add samples"

    def from_fit(
        self, fit: Fit, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        if not self.family.extrapolated:
            return {}
        parts = [self._of_part(fit, part, confidence) for part in range(len(fit.multiplicity))]
        mu, sigma, lo, hi = np.transpose(parts, (1, 2, 0))
        return {
            key: Interval(mu[column], sigma[column], lo[column], hi[column], "hierarchical")
            for column, key in enumerate(self.family.extrapolated)
        }

    def _of_part(self, fit: Fit, part: int, confidence: float) -> np.ndarray:
        """(4, e) mu, sigma, lo and hi of the extrapolated scores."""
        multiplicity, z = fit.multiplicity[part], normal_z(confidence)
        means = multiplicity @ self.family.extrapolated_columns / multiplicity.sum()
        candidates = self.family.candidates(fit, part)
        if candidates is None:
            lows = highs = means
        else:
            profile = Profile(candidates.statistics, candidates.complete)
            lowest = [profile.lowest(score, z) for score in candidates.scores.T]
            highest = [-profile.lowest(-score, z) for score in candidates.scores.T]
            lows = candidates.origin + candidates.width * np.array(lowest)
            highs = candidates.origin + candidates.width * np.array(highest)
        unbiased = self._unbiased(multiplicity, means)
        lows, highs = np.minimum(lows, unbiased), np.maximum(highs, unbiased)
        lo = np.clip(np.minimum(lows, means), *self.family.bounds)
        hi = np.clip(np.maximum(highs, means), *self.family.bounds)
        return np.array([np.clip(means, lo, hi), (hi - lo) / 2 / z, lo, hi])

    def _unbiased(self, multiplicity: np.ndarray, means: np.ndarray) -> np.ndarray:
        """(e,) unbiased estimates of the scores with k <= n, and the given means of the others."""
        family, result = self.family, means.copy()
        for place, key in enumerate(family.extrapolated):
            if key in family.scores:
                columns = multiplicity @ family.columns / multiplicity.sum()
                result[place] = family.scores[key].value(columns)
        return result
