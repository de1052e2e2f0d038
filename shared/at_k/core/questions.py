"""Intervals from the scores of the questions alone, with the effect of clusters.

*Other questions.* The mean U of M scores in [0, 1] has a sample variance. A proportion of m
independent trials has the same variance for m = U (1 - U) / variance, the effective number of
trials, and the interval of U is Wilson's interval (1927) for that proportion. It stays inside the
range of the scores without clipping, and is longer towards the middle of the range.

*Clusters.* Questions of one cluster, such as those about one text, are correlated. The variance of
their mean follows from the sums over clusters (Miller 2024, arXiv:2411.00640).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .interval import UNIT_RANGE, Interval, IntervalMethod, student_z, whole_range
from .score import ScoreKey, Scores

ONE_CLUSTER = "there is one question, or one cluster of questions"

TOO_FEW_CLUSTERS = (
    "one question, or one cluster of questions, does not show how questions vary: add questions, "
    "or pass interval='sampling'"
)


def cluster_deviations(columns: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """(G, m) sums over each cluster of the deviations from the mean of (M, m) columns.

    Args:
        clusters: (M,) labels, or None if each question is its own cluster.
    """
    deviations = columns - columns.mean(axis=0)
    if clusters is None:
        return deviations
    _, inverse = np.unique(clusters, return_inverse=True)
    return np.array([np.bincount(inverse, column) for column in deviations.T]).T


def design_effects(columns: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """(m,) the factor by which clusters increase the variance of the mean, at least 1."""
    independent = np.sum(cluster_deviations(columns, None) ** 2, axis=0)
    clustered = np.sum(cluster_deviations(columns, clusters) ** 2, axis=0)
    return np.maximum(1.0, clustered / np.where(independent > 0, independent, np.inf))


class QuestionIntervals(IntervalMethod):
    """Intervals of scores, for other questions like these.

    Args:
        points: the scores of the questions.
        limits: the smallest and the largest possible score, of all questions or (M, 2) of each.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
        allow_one: whether one question, or one cluster, has the whole range as its interval.
    """

    def __init__(
        self,
        points: Scores,
        limits: tuple[float, float] | np.ndarray = UNIT_RANGE,
        clusters: np.ndarray | None = None,
        allow_one: bool = False,
    ):
        self._points, self._clusters = points, clusters
        self._limits = np.broadcast_to(limits, (len(points.inverse), 2))
        self._allow_one = allow_one

    def problem(self, questions: np.ndarray) -> str | None:
        return TOO_FEW_CLUSTERS if self._is_one(questions) and not self._allow_one else None

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._intervals(questions, confidence) for questions in groups]

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        values = self._points.values_over(questions)
        columns = np.stack([values[key] for key in keys], axis=1)
        deviations = cluster_deviations(columns, self._labels(questions))
        return deviations.T @ deviations

    def _intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        clusters, result = self._labels(questions), {}
        least, most = self._limits[questions].T
        limits = float(least.min()), float(most.max())
        for key, scores in self._points.values_over(questions).items():
            mean = float(scores.mean())
            if self._is_one(questions):
                result[key] = whole_range(mean, *limits, ONE_CLUSTER)
                continue
            variance, z = variance_of_mean(scores, clusters, confidence)
            lo, hi = wilson_limits(mean, variance, len(questions), limits, z)
            result[key] = Interval(mean, math.sqrt(variance), lo, hi, "questions")
        return result

    def _is_one(self, questions: np.ndarray) -> bool:
        labels = self._labels(questions)
        return bool((labels == labels[0]).all())

    def _labels(self, questions: np.ndarray) -> np.ndarray:
        return questions if self._clusters is None else self._clusters[questions]


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
