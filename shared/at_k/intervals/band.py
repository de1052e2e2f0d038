"""A simultaneous confidence band over k: intervals that cover at all k together.

The errors at k = 1, 2, .. divided by their standard deviations are Z_1, Z_2, .., normal with unit
variance and correlations r_1, r_2, .. of neighbors. As unit vectors they are the corners of a path
on the sphere, of length L = sum of arccos |r_i|. By the volume of the tube around it,

    P(max |Z_k| > c) <= 2 (1 - Phi(c)) + L / pi x exp(-c^2 / 2)

(Naiman 1986, Annals of Statistics 14, 896), and by Bonferroni it is at most 2 (1 - Phi(c)) for each
k. The band consists of intervals with the higher confidence that corresponds to this c. It needs no
random numbers, unlike a bootstrap.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np


def simultaneous_confidence(covariance: np.ndarray, confidence: float) -> float:
    """The confidence of each of m intervals that cover together with the given confidence.

    Args:
        covariance: (m, m) of the errors at successive k, up to a factor.
        confidence: that all intervals cover.
    """
    variance, neighbors = np.diag(covariance), np.diag(covariance, 1)
    size = np.sqrt(np.maximum(variance[:-1] * variance[1:], 0.0))
    # Errors that never vary count as uncorrelated, which is the worst case.
    r = np.abs(neighbors) / np.where(size > 0, size, np.inf)
    length = float(np.sum(np.arccos(np.minimum(r, 1.0))))
    alpha, normal = 1 - confidence, NormalDist()

    def exceedance(c: float) -> float:
        return 2 * normal.cdf(-c) + length / math.pi * math.exp(-c * c / 2)

    least, most = (-normal.inv_cdf(alpha / 2 / each) for each in (1, len(variance)))
    for _ in range(50):
        c = (least + most) / 2
        least, most = (c, most) if exceedance(c) > alpha else (least, c)
    return min(max(confidence, 1 - 2 * normal.cdf(-most)), math.nextafter(1.0, 0.0))
