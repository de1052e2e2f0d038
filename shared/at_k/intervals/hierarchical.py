"""Hierarchical intervals: the range of a score over all priors that fit the data, for any k.

For k > n the score is not identified: distributions that no n samples distinguish have different
scores. The limits reflect that, because they cover every prior over distributions that fits the
data (`profile`). The estimate is the posterior mean under the estimated prior.
"""

from __future__ import annotations

import numpy as np

from .family import FamilyMethod, Fit
from .interval import ClusterLabels, Intervals, normal_z


class HierarchicalIntervals(FamilyMethod):
    """Intervals of the extrapolated scores of a family."""

    def problem(self, rows: np.ndarray) -> str | None:
        if self.family.n[self.family.inverse[rows]].max() > 1:
            return None
        return "one sample of each question does not show how questions differ: add samples"

    def from_fit(
        self, fit: Fit, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        if not self.family.extrapolated:
            return {}
        parts = [self._of_part(fit, part, confidence) for part in range(len(fit.multiplicity))]
        return {
            key: Intervals(*map(np.array, zip(*each, strict=True)), "hierarchical")
            for key, each in zip(self.family.extrapolated, zip(*parts, strict=True), strict=True)
        }

    def _of_part(
        self, fit: Fit, part: int, confidence: float
    ) -> list[tuple[float, float, float, float]]:
        """(mu, sigma, lo, hi) of each extrapolated score."""
        multiplicity, z = fit.multiplicity[part], normal_z(confidence)
        means = multiplicity @ self.family.extrapolated_columns / multiplicity.sum()
        candidates, result = self.family.candidates(fit, part), []
        for column, mean in enumerate(means.tolist()):
            lo = hi = mean
            if candidates is not None:
                score, origin = candidates.scores[:, column], candidates.origin[column]
                lo = origin + candidates.width * candidates.profile.lowest(score, z)
                hi = origin - candidates.width * candidates.profile.lowest(-score, z)
            lo, hi = np.clip([lo, hi], *self.family.bounds).tolist()
            result.append((min(max(mean, lo), hi), (hi - lo) / 2 / z, lo, hi))
        return result
