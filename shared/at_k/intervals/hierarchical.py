"""Hierarchical intervals: the range of a score over all priors that fit the data, for any k.

For k > n the score is not identified: distributions that no n samples distinguish have different
scores. There are J distributions in the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..core.interval import Interval, IntervalMethod, normal_z
from . import Intervals
from .family import Family, Fit, Statistics


class HierarchicalIntervals(IntervalMethod):
    """Intervals of the extrapolated scores of a family."""

    def __init__(self, family: Family):
        self._family = family

    def problem(self, questions: np.ndarray) -> str | None:
        """Return why these questions have no interval, or None if they have one."""
        if not self._family.one_sample_each(questions):
            return None
        return "one sample of each question does not show how questions differ: add samples"

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each extrapolated score over these questions."""
        return hierarchical_intervals(self._family.fit(questions), confidence)


def hierarchical_intervals(fit: Fit, confidence: float) -> Intervals:
    """Return the interval of each extrapolated score of a group of questions, {} without any.

    It contains the posterior mean under the estimated prior and, for k <= n, the unbiased estimate.
    """
    family, z = fit.family, normal_z(confidence)
    if not family.extrapolated:
        return {}
    means, candidates = fit.extrapolated, family.candidates(fit)
    lows = highs = means
    if candidates is not None:
        profile = Profile(candidates.statistics, candidates.complete)
        lowest = [profile.lowest(score, z) for score in candidates.scores.T]
        highest = [-profile.lowest(-score, z) for score in candidates.scores.T]
        lows = candidates.offset + candidates.scale * np.array(lowest)
        highs = candidates.offset + candidates.scale * np.array(highest)
    result, (least, most) = {}, fit.bounds
    limits = np.transpose([means, lows, highs]).tolist()
    for key, (mean, low, high) in zip(family.extrapolated, limits, strict=True):
        score = family.scores.get(key)
        unbiased = mean if score is None else float(score.value(fit.means))
        lo = min(max(min(low, mean, unbiased), least), most)
        hi = min(max(high, mean, unbiased, least), most)
        mu = min(max(mean, lo), hi)
        result[key] = Interval(mu, (hi - lo) / 2 / z, lo, hi, "hierarchical")
    return result


class Profile:
    """The smallest misfit of priors over J distributions, as a function of a mean score.

    With the statistics t of a run, their expected value E_G t under a prior G, and their covariance
    S under the estimated prior, the misfit of G is (t - E_G t)' S^-1 (t - E_G t). A prior fits if
    it exceeds the smallest misfit by at most z^2 (compare the F-localization of Ignatiadis & Wager
    2022, JASA 117). If the distributions are not `complete`, it may be that no prior fits. The
    misfit is then scaled so that the smallest is at most 1.
    """

    def __init__(self, statistics: Sequence[Statistics], complete: bool):
        expected, observed = [], []
        for statistic in statistics:
            root = np.linalg.cholesky(statistic.covariance)
            expected.append(np.linalg.solve(root, statistic.expected))
            observed.append(np.linalg.solve(root, statistic.observed))
        # Directions in which no distribution differs from 0 are dropped, for a stable optimization.
        u, size, vt = np.linalg.svd(np.concatenate(expected), full_matrices=False)
        kept = size > 1e-6 * size[0]
        self._expected = size[kept, None] * vt[kept]
        self._observed = u[:, kept].T @ np.concatenate(observed)
        self._penalty = 1e3 * max(1.0, float(np.linalg.norm(self._observed)))
        self._smallest, self._best = self._misfit_and_prior()
        self._scale = 1.0 if complete else max(1.0, self._smallest)

    def lowest(self, score: np.ndarray, z: float) -> float:
        """Return the lowest mean of a (J,) score over all priors that fit, for the z-value z."""
        from scipy.optimize import brentq  # imported here: it takes longer than all of at_k

        allowed = z**2 * self._scale
        least, best_mean = float(score.min()), float(score @ self._best)
        if self._misfit_and_prior(score, least)[0] <= self._smallest + allowed:
            return least

        def excess(mean: float) -> float:
            """Return the root of the excess misfit, nearly linear in the mean, less its limit."""
            above_smallest = self._misfit_and_prior(score, mean)[0] - self._smallest
            return math.sqrt(max(0.0, above_smallest)) - math.sqrt(allowed)

        return float(brentq(excess, least, best_mean, xtol=1e-12 * (best_mean - least)))

    def _misfit_and_prior(
        self, score: np.ndarray | None = None, mean: float = 0.0
    ) -> tuple[float, np.ndarray]:
        """Return the smallest misfit of all priors, or of those under which a score has this mean.

        Return the (J,) prior that has it, too.
        """
        from scipy.optimize import nnls

        # Rows with large weights take the place of constraints: the sum of 1, and the mean score.
        rows = [self._expected, np.full((1, self._expected.shape[1]), self._penalty)]
        goal = [self._penalty]
        if score is not None:
            rows.append(100 * self._penalty * (score - mean)[None])
            goal.append(0.0)
        prior, _ = nnls(
            np.concatenate(rows), np.concatenate([self._observed, goal]), maxiter=10_000
        )
        return float(np.sum((self._expected @ prior - self._observed) ** 2)), prior / prior.sum()
