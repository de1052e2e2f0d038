"""Confidence limits by test inversion along a one-parameter family.

The members of a family have scores theta, and estimates of these scores have standard deviations
sigma. The interval of an estimate u consists of the scores that a test does not reject: those with
|u - theta| <= z sigma.

*Few events.* Near the end of its range a score is a sum of rare events. If their number is Poisson,
matching the mean and the variance gives the size sigma^2 / theta of each. Below four events the
normal approximation is too poor, and the interval extends at least to Garwood's exact limit (1936,
Biometrika 28, 437), where the probability of as many events or more is alpha. Brown, Cai & DasGupta
(2001, Statistical Science 16, 101) modify Wilson's interval in the same way.

*Products.* A product of powers of columns, such as a geometric mean, is far from linear where a
column is near 0. Its limits are combined from those of the columns as the limits of a difference
are (Zou & Donner 2008, Statistics in Medicine 27, 1693): the changes of the product when each
column alone moves to its limit are added as correlated errors are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..scores.score import ColumnPair, Score

_FEW_EVENTS = 4.0  # below which the normal approximation is too poor


def upper_limit(
    theta: np.ndarray, sigma: np.ndarray, u: np.ndarray, z: np.ndarray, alpha: float
) -> np.ndarray:
    """(B,) the largest score that is not rejected.

    Args:
        theta: (F, B) scores of the members of the family, non-decreasing. The middle one is the
            estimated member.
        sigma: (F, B) standard deviations of the estimate for each member.
        u: (B,) estimates.
        z: (B,) z-values.
        alpha: miscoverage of the exact limit for few events.
    """
    from scipy.special import gammaincinv  # imported here: it takes longer than all of at_k

    gap = theta - z * sigma - u
    last, part = len(gap) - 1, np.arange(len(u))
    here = last - np.argmax(gap[::-1] <= 1e-12, axis=0)
    after = np.minimum(here + 1, last)
    start, rise = theta[here, part], gap[after, part] - gap[here, part]
    fraction = np.clip(-gap[here, part] / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
    limit = start + fraction * (theta[after, part] - start)
    # Count events from the top of the range down, and apply the exact limit if they are few.
    middle = last // 2
    event = sigma[middle] ** 2 / np.maximum(theta[last] - theta[middle], 1e-300)
    events = (theta[last] - u) / np.maximum(event, 1e-300)
    fewest = event * gammaincinv(np.clip(events, 1e-9, _FEW_EVENTS), alpha)
    few = (events > 0) & (events < _FEW_EVENTS)
    limit = np.where(few, np.maximum(limit, theta[last] - fewest), limit)
    return np.maximum(limit, u)  # only rounding leads below u


def lower_limit(
    theta: np.ndarray, sigma: np.ndarray, u: np.ndarray, z: np.ndarray, alpha: float
) -> np.ndarray:
    """(B,) the smallest score that is not rejected: `upper_limit` of the mirror image."""
    return -upper_limit(-theta[::-1], sigma[::-1], -u, z, alpha)


def limits_of_score(
    score: Score,
    lo: np.ndarray,
    u: np.ndarray,
    hi: np.ndarray,
    covariance: Mapping[ColumnPair, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """(B,) both limits of a score, from estimates and limits of its columns, (m, B) each.

    They do not exceed the values with all columns at their limits.
    """
    if score.powers == (1.0,):
        (column,) = score.terms
        return lo[column], hi[column]
    place = np.arange(len(u))[:, None]

    def distance(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        moves = {
            column: score.value(high) - score.value(np.where(place == column, low, high))
            for column in score.terms
        }
        square = sum(move**2 for move in moves.values())
        for a, b in score.pairs():
            if a != b:
                size = np.sqrt(np.maximum(covariance[a, a] * covariance[b, b], 0.0))
                # No column decreases with c, so no correlation is negative.
                r = np.clip(covariance[a, b] / np.where(size > 0, size, 1.0), 0.0, 1.0)
                square = square + 2 * r * moves[a] * moves[b]
        return np.sqrt(square)

    center = score.value(u)
    return (
        np.maximum(center - distance(lo, u), score.value(lo)),
        np.minimum(center + distance(u, hi), score.value(hi)),
    )
