"""A simultaneous confidence band over k: intervals that cover at all k together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist

import numpy as np

from ..core.interval import IntervalMethod
from ..core.score import ScoreId


def path_angles(covariance: np.ndarray) -> np.ndarray:
    """Return arccos |r| for the correlation r of the errors at each two successive k, (m - 1,)."""
    variance, neighbors = np.diag(covariance), np.diag(covariance, 1)
    sd_product = np.sqrt(np.maximum(variance[:-1] * variance[1:], 0.0))
    # Errors that never vary count as uncorrelated, which is the worst case.
    r = np.abs(neighbors) / np.where(sd_product > 0, sd_product, np.inf)
    # A smaller difference of |r| from 1 is a rounding error: 1e-16 would be an arc of 1e-8.
    return np.where(r > 1 - 1e-12, 0.0, np.arccos(np.minimum(r, 1.0)))


def path_exceedance(angles: np.ndarray, c: float) -> np.ndarray:
    """Return upper bounds of the probability that any of m errors exceeds c standard deviations.

    The standardized errors Z_i are corners of a path on the sphere with arcs of the length t_i,
    their `angles`, (.., m - 1). By the volume of the tube around an arc,

        P(|Z_(i+1)| > c and |Z_i| <= c) <= t_i / pi x exp(-c^2 / 2)

    (Naiman 1986, Annals of Statistics 14, 896), and it is at most P(|Z_(i+1)| > c).
    """
    first = 2 * NormalDist().cdf(-c)
    others = np.minimum(first, angles / math.pi * math.exp(-c * c / 2))
    return np.minimum(first + others.sum(axis=-1), 1.0)


def confidence_of_each(
    exceedance: Callable[[float], float], number: int, confidence: float
) -> float:
    """Return the confidence that each interval needs so that all cover with `confidence`.

    `exceedance` bounds the probability that any error exceeds c standard deviations.
    """
    if number == 1:
        return confidence
    alpha, normal = 1 - confidence, NormalDist()
    least, most = -normal.inv_cdf(alpha / 2), -normal.inv_cdf(alpha / 2 / number)
    for _ in range(40):
        c = (least + most) / 2
        least, most = (c, most) if exceedance(c) > alpha else (least, c)
    return min(max(confidence, 1 - 2 * normal.cdf(-most)), math.nextafter(1.0, 0.0))


def simultaneous_confidence(covariance: np.ndarray, confidence: float) -> float:
    """Return the confidence of each of m intervals that cover at all k with `confidence`."""
    angles = path_angles(covariance)
    return confidence_of_each(
        lambda c: float(path_exceedance(angles, c)), len(covariance), confidence
    )


def band(
    method: IntervalMethod, questions: np.ndarray, scores: Sequence[ScoreId], confidence: float
) -> dict[ScoreId, tuple[float, float]]:
    """Return a dict from each score to (lo, hi), its band over these questions; {} without any."""
    if not scores:
        return {}
    result: dict[ScoreId, tuple[float, float]] = {}
    covariance = method.covariance(questions, scores)
    for curve in curves(scores):
        rows = [scores.index(score) for score in curve]
        wider_confidence = simultaneous_confidence(covariance[np.ix_(rows, rows)], confidence)
        wider = method.intervals(questions, wider_confidence)
        result |= {score: (wider[score].lo, wider[score].hi) for score in curve}
    return result


def curves(scores: Iterable[ScoreId]) -> list[list[ScoreId]]:
    """Return one list of ids for each metric and threshold: its scores at each k, ascending."""
    by_name: dict[tuple[str, float | None], list[ScoreId]] = {}
    for score in scores:
        by_name.setdefault((score.metric, score.tau), []).append(score)
    return [sorted(curve, key=lambda score: score.k or 0) for curve in by_name.values()]
