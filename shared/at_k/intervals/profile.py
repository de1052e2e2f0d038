"""The range of a mean score over all priors that fit the data.

Let t be statistics of a run, E_G t their expected value under a prior G over the distributions of
a grid, and S their covariance under the estimated prior. The misfit of a prior is

    misfit(G) = (t - E_G t)' S^-1 (t - E_G t).

A prior fits if its misfit is within z^2 of the smallest (compare the F-localization of Ignatiadis &
Wager 2022, JASA 117). The range of a mean score is found from the smallest misfit of the priors
with a given mean, as a profile likelihood is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..scores.family import Statistics


class Profile:
    """The misfit of priors over J distributions, profiled over a mean score.

    If the distributions are not complete, no prior may fit, and the misfit is scaled so that the
    smallest is at most 1.
    """

    def __init__(self, statistics: Sequence[Statistics], complete: bool):
        expected, observed = [], []
        for each in statistics:
            root = np.linalg.cholesky(each.covariance)
            expected.append(np.linalg.solve(root, each.expected))
            observed.append(np.linalg.solve(root, each.observed))
        # Without directions that no distribution has, the optimization is smaller and stable.
        u, size, vt = np.linalg.svd(np.concatenate(expected), full_matrices=False)
        kept = size > 1e-6 * size[0]
        self._expected = size[kept, None] * vt[kept]
        self._observed = u[:, kept].T @ np.concatenate(observed)
        self._penalty = 1e3 * max(1.0, float(np.linalg.norm(self._observed)))
        self._smallest, self._best = self._misfit()
        self._scale = 1.0 if complete else max(1.0, self._smallest)

    def lowest(self, score: np.ndarray, z: float) -> float:
        """The lowest mean of a (J,) score over all priors that fit."""
        from scipy.optimize import brentq  # imported here: it takes longer than all of at_k

        allowed = z**2 * self._scale
        far, near = float(score.min()), float(score @ self._best)
        if self._misfit(score, far)[0] <= self._smallest + allowed:
            return far

        def excess(mean: float) -> float:
            # The misfit is nearly a parabola in the mean score, so this is nearly linear.
            more = self._misfit(score, mean)[0] - self._smallest
            return math.sqrt(max(0.0, more)) - math.sqrt(allowed)

        return float(brentq(excess, far, near, xtol=1e-5 * (near - far)))

    def _misfit(
        self, score: np.ndarray | None = None, mean: float = 0.0
    ) -> tuple[float, np.ndarray]:
        """The smallest misfit, and the prior that has it; with this mean score if one is given."""
        from scipy.optimize import nnls

        rows = [self._expected, np.full((1, self._expected.shape[1]), self._penalty)]
        goal = [self._penalty]
        if score is not None:
            # A row with a large weight in place of a constraint.
            rows.append(100 * self._penalty * (score - mean)[None])
            goal.append(0.0)
        prior, _ = nnls(
            np.concatenate(rows), np.concatenate([self._observed, goal]), maxiter=10_000
        )
        return float(np.sum((self._expected @ prior - self._observed) ** 2)), prior / prior.sum()
