"""Intervals of all differences between K runs that cover together.

The errors of the differences, divided by their standard deviations, are normal with unit variance.
Two bounds of the probability that any of them exceeds c are known without random numbers, and the
smaller one is used:

- *Any errors.* Let e be the probability that an error of one pair of runs exceeds c at any k, which
  `intervals.band` bounds. The regions where no error of a pair exceeds c are convex and symmetric,
  so the probability that no error exceeds c at all is at least the product of all (1 - e), by the
  Gaussian correlation inequality (Royen 2014, Far East J. Theoretical Statistics 48, 139). For one
  k this is Sidak's inequality (1967, J. American Statistical Association 62, 626).
- *Independent runs*, as when the same questions are sampled again. At each k the largest of the
  errors has at most the distribution of the studentized range of K equal variances, over the root
  of 2: the Tukey-Kramer procedure is conservative for unequal variances (Hayter 1984, Annals of
  Statistics 12, 61). Several k multiply, again by the Gaussian correlation inequality.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr

from ..intervals.band import confidence_of_each, path_exceedance


class Multiplicity:
    """Simultaneous inference about all differences between K runs, at m values of k.

    Args:
        runs: K.
        angles: (P, m - 1) angles between the errors of each pair of runs at successive k.
        independent: whether the errors of different runs are independent.
    """

    def __init__(self, runs: int, angles: np.ndarray, independent: bool):
        self._runs, self._angles, self._independent = runs, angles, independent

    def exceedance(self, c: float) -> float:
        """A bound of the probability that any error exceeds c."""
        of_pairs = path_exceedance(self._angles, c)
        with np.errstate(divide="ignore"):
            bound = -math.expm1(np.log1p(-of_pairs).sum())
        if self._independent and self._runs > 2:
            of_range = studentized_range_tail(c * math.sqrt(2), self._runs)
            keys = self._angles.shape[1] + 1
            bound = min(bound, -math.expm1(keys * math.log1p(-min(of_range, 1 - 1e-16))))
        return bound

    def confidence_of_each(self, confidence: float) -> float:
        """The confidence of each interval, so that all cover with the given confidence."""
        pairs, arcs = self._angles.shape
        return confidence_of_each(self.exceedance, pairs * (arcs + 1), confidence)

    def adjusted(self, p: float) -> float:
        """The p-value of one difference, adjusted for all of them."""
        return 1.0 if p >= 1 else max(p, self.exceedance(-NormalDist().inv_cdf(p / 2)))


def studentized_range_tail(q: float, runs: int) -> float:
    """P(Q > q) for the range Q of independent standard normal numbers, one for each run.

    With the largest at z, the others are between z - q and z. The trapezoidal rule converges
    exponentially for this integrand.
    """
    z = np.linspace(-8.5, 8.5, 401)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    # Either integral of the complement: 1 - (Phi(z) - Phi(z - q))^(K - 1) would cancel.
    inside = runs * density * (ndtr(z) - ndtr(z - q)) ** (runs - 1)
    return max(0.0, 1.0 - float(inside.sum() * (z[1] - z[0])))
