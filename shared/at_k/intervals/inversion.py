"""How far an interval reaches: of what is not refuted, where few events tell, and of blends.

A family has members of scores theta and standard deviations sigma of the estimate U. Not refuted is
what is at most z sigma from U: as far as the normal law goes.

*Few events.* Near an end of its range a score is a sum of jumps: of the size s = sigma^2 / theta
each, if their number is a Poisson variable with this mean and variance. Where U shows x < 4 of
them, the normal law is too far off to tell how few may be expected, and the interval reaches at
least to where the chance of x or more is 1 - confidence: Garwood's exact end (1936, Biometrika 28,
437), with which Brown, Cai & DasGupta (2001, Statistical Science 16, 101) repair Wilson's interval.

*Blends.* A product of powers of columns, such as a geometric mean, is not linear even nearly where
a column is near 0. Its ends are joined from those of the columns, as the ends of a difference are
(Zou & Donner 2008, Statistics in Medicine 27, 1693): what each column alone moves the blend by when
it goes to its end adds up as correlated errors do.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import gammaincinv

from .interval import Blend, Pair

_FEW = 4.0  # jumps, for which the normal law does not do


def greatest(
    theta: np.ndarray, sigma: np.ndarray, point: np.ndarray, reach: np.ndarray, miss: float
) -> np.ndarray:
    """(B,) the greatest scores that are not refuted.

    Args:
        theta, sigma: (F, B) of the members of the family, the middle one of which is not moved.
            From one to the next theta rises.
        point: (B,) the estimates.
        reach: (B,) how many standard deviations are not too far.
        miss: the chance that is too small where few events tell.
    """
    gap = theta - reach * sigma - point
    last, bank = len(gap) - 1, np.arange(len(point))
    here = last - np.argmax(gap[::-1] <= 1e-12, axis=0)
    after = np.minimum(here + 1, last)
    start, rise = theta[here, bank], gap[after, bank] - gap[here, bank]
    part = np.clip(-gap[here, bank] / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
    end = start + part * (theta[after, bank] - start)
    # Few jumps from the greatest score down: there may have to be as few as this.
    unmoved = last // 2
    jump = sigma[unmoved] ** 2 / np.maximum(theta[last] - theta[unmoved], 1e-300)
    seen = (theta[last] - point) / np.maximum(jump, 1e-300)
    fewest = jump * gammaincinv(np.clip(seen, 1e-9, _FEW), miss)
    end = np.where((seen > 0) & (seen < _FEW), np.maximum(end, theta[last] - fewest), end)
    return np.maximum(end, point)  # below which rounding alone leads


def joined(
    blend: Blend,
    lo: np.ndarray,
    point: np.ndarray,
    hi: np.ndarray,
    covariance: Mapping[Pair, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """(B,) both ends of a blend, from those of its columns, (m, B).

    No farther than where all columns are at their ends, as they are if their errors are alike.
    """
    if blend.powers == (1.0,):
        return lo[blend.columns[0]], hi[blend.columns[0]]
    place = np.arange(len(point))[:, None]

    def length(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        moves = {
            column: blend.of(high) - blend.of(np.where(place == column, low, high))
            for column in blend.columns
        }
        square = sum(move**2 for move in moves.values())
        for a, b in blend.pairs():
            if a != b:
                size = np.sqrt(np.maximum(covariance[a, a] * covariance[b, b], 0.0))
                # No column falls with c, and so no two of them are negatively correlated.
                r = np.clip(covariance[a, b] / np.where(size > 0, size, 1.0), 0.0, 1.0)
                square = square + 2 * r * moves[a] * moves[b]
        return np.sqrt(square)

    middle = blend.of(point)
    return (
        np.maximum(middle - length(lo, point), blend.of(lo)),
        np.minimum(middle + length(point, hi), blend.of(hi)),
    )
