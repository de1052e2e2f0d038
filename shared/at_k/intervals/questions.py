"""Intervals for other questions like these, from the scores of the questions alone.

The mean U of M scores in [0, 1] has a sample variance. A proportion of m independent trials has
the same variance for m = U (1 - U) / variance, the effective number of trials, and the interval of
U is Wilson's interval (1927) for that proportion. It stays inside the range of the scores without
clipping, and is longer towards the middle of the range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..scores.score import ScoreKey
from .clusters import ONE_CLUSTER, TOO_FEW_CLUSTERS, cluster_deviations, design_effects
from .interval import Interval, IntervalMethod, student_z, whole_range


class QuestionIntervals(IntervalMethod):
    """Intervals of means of scores, for other questions like these.

    Args:
        scores: for each key (M,) scores of the questions.
        limits: the smallest and the largest possible score.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
        allow_one: whether one question, or one cluster, has the whole range as its interval.
    """

    def __init__(
        self,
        scores: Mapping[ScoreKey, np.ndarray],
        limits: tuple[float, float],
        clusters: np.ndarray | None = None,
        allow_one: bool = False,
    ):
        self._scores, self._limits, self._clusters = scores, limits, clusters
        self._allow_one = allow_one

    def problem(self, rows: np.ndarray) -> str | None:
        return TOO_FEW_CLUSTERS if self._is_one(rows) and not self._allow_one else None

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._intervals(rows, confidence) for rows in parts]

    def covariance(self, rows: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        columns = np.stack([self._scores[key][rows] for key in keys], axis=1)
        deviations = cluster_deviations(columns, self._labels(rows))
        return deviations.T @ deviations

    def _intervals(self, rows: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        clusters, result = self._labels(rows), {}
        for key, scores in self._scores.items():
            mean = float(scores[rows].mean())
            if self._is_one(rows):
                result[key] = whole_range(mean, *self._limits, ONE_CLUSTER)
                continue
            variance, z = variance_of_mean(scores[rows], clusters, confidence)
            lo, hi = wilson_limits(mean, variance, len(rows), self._limits, z)
            result[key] = Interval(mean, math.sqrt(variance), lo, hi, "questions")
        return result

    def _is_one(self, rows: np.ndarray) -> bool:
        labels = self._labels(rows)
        return bool((labels == labels[0]).all())

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        return rows if self._clusters is None else self._clusters[rows]


def variance_of_mean(
    scores: np.ndarray, clusters: np.ndarray, confidence: float
) -> tuple[float, float]:
    """The variance of the mean of (M,) scores of clustered questions, and its Student quantile."""
    number = len(np.unique(clusters))
    effect = float(design_effects(scores[:, None], clusters)[0])
    squares = float(np.sum((scores - scores.mean()) ** 2))
    variance = effect * squares * number / (number - 1) / len(scores) ** 2
    return variance, student_z(number, confidence)


def wilson_limits(
    mean: float,
    variance: float,
    trials: float,
    limits: tuple[float, float],
    z: float,
) -> tuple[float, float]:
    """Wilson's interval for the effective number of trials of a mean of observations.

    A continuity correction of 1/8 event is added to the variance and to the largest variance
    that the mean allows, because M observations cannot show rarer events. A smaller correction is
    too narrow for scores that are rarely low, a larger one too wide for scores that hardly vary.
    """
    least, most = map(float, limits)
    width = most - least
    if not width:
        return least, most
    u, correction = min(1.0, max(0.0, (mean - least) / width)), 1 / 8 / trials
    share = (trials * variance / width**2 + correction) / (u * (1 - u) + correction)
    m = trials / max(share, 1e-6)
    center = (u + z**2 / 2 / m) / (1 + z**2 / m)
    margin = z / (1 + z**2 / m) * math.sqrt(u * (1 - u) / m + z**2 / 4 / m**2)
    lo, hi = max(0.0, min(center - margin, u)), min(1.0, max(center + margin, u))
    return least + width * lo, least + width * hi
