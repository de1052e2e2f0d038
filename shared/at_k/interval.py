"""Scores of questions, and the summary of their mean: how large, how sure, between what."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

Summary = tuple[float, float, float, float]


@dataclass(frozen=True)
class Scores:
    """Scores of each kind of question: those of equal counts score alike.

    Args:
        keys: names of the m scores.
        kind: (M,) which of the U kinds each question is.
        point: (U, m) point estimates.
        mean: (U, m) posterior means, or None where no interval is wanted.
        variance: (U, m) posterior variances, or None.
    """

    keys: list[str]
    kind: np.ndarray
    point: np.ndarray
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None


def normal_summary(
    mean: np.ndarray,
    variance: np.ndarray,
    questions: np.ndarray,
    confidence: float,
    bounds: tuple[float, float],
) -> Summary:
    """(mu, sigma, lo, hi) of the mean over independent questions, by the normal law.

    Args:
        mean: (U,) posterior mean of each kind of question.
        variance: (U,) posterior variance of each kind.
        questions: (U,) how many questions there are of each kind, M in all.
        confidence: of the interval mu -+ z sigma, with sigma = sqrt(sum of variances) / M.
        bounds: (lo, hi), to which an end beyond is moved; so lo <= hi always.
    """
    total = int(questions.sum())
    mu = float(questions @ mean) / total
    sigma = math.sqrt(questions @ variance) / total
    reach = -NormalDist().inv_cdf((1 - confidence) / 2) * sigma
    least, most = bounds
    return mu, sigma, min(max(mu - reach, least), most), max(min(mu + reach, most), least)
