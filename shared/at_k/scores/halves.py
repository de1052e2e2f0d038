"""The mean product of a score of two halves of 2k samples, if m of all 2k are correct.

The number H of correct samples in the first half is hypergeometric. For the posterior covariance
(`pass_family`) this mean is needed for m = 0 .. 2k. Two kinds of scores have it in O(k) steps: a
threshold, 1 if at least r of k samples are correct, and a ramp, max(0, j - h) for j correct
samples, as in mG-Pass@k.

Let the m correct samples be placed one after the other. The mean changes only if the next one
raises the score of a half while that of the other half is positive. A given place of the next one
leaves 2k - 1 places for the first m, so each change is a mean over fewer samples:

    E[threshold x threshold](m + 1) - (m) = P(H = r - 1),  H of k - 1 among 2k - 1,  if m >= 2r - 1
    E[ramp x ramp](m + 1) - (m) = u(m)
    u(m + 1) - u(m) = k / (2k - 1) P(k - 1 and k - 1 of 2k - 2 have at least h correct samples each)
                      + (k - 1) / (2k - 1) P(H = h - 1) max(0, m + 1 - 2h),  H of k - 2 among 2k - 2

where u(m) is the mean of (m - H - h) over H >= h and m - H >= h, for H of k - 1 among 2k - 1.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .credits import Credits
from .distributions import pmf
from .double_double import DoubleDouble

_ROWS_AT_ONCE = 1 << 15  # which bounds the memory


def mean_over_equal_halves(credit: Credits, value: DoubleDouble) -> DoubleDouble | None:
    """(2k + 1,) the mean of value[H] value[m - H], or None if the score has another form.

    Args:
        credit: credits of the score.
        value: (k + 1,) value of 0 .. k correct samples, less that of 0 or of k.
    """
    k, credited = len(credit), np.flatnonzero(credit)
    first, weights = int(credited[0]), {credit[r] for r in credited}
    from_zero = value.hi[0] == 0
    if len(credited) == 1:
        needed = first + 1 if from_zero else k - first
        means = _both_at_least(k, needed)
    elif len(weights) == 1 and len(credited) == k - first and first:
        means = _both_above(k, first) if from_zero else _both_up_to(k, k - first)
    else:
        return None
    weight = DoubleDouble.from_doubles(weights.pop())
    means = means * (weight * weight)
    return means if from_zero else means[::-1]  # of 0 .. 2k incorrect samples


def _both_at_least(k: int, r: int) -> DoubleDouble:
    """(2k + 1,) P(both halves have at least r of m marked samples), r >= 1."""
    change = _probability_of(r - 1, k - 1, 2 * k - 1)
    return _sums_before(change, np.arange(2 * k) >= 2 * r - 1)


def _both_above(k: int, h: int) -> DoubleDouble:
    """(2k + 1,) the mean product of max(0, H - h) of both halves, h >= 1."""
    m = np.arange(2 * k - 1)
    share = Fraction(k, 2 * k - 1)
    crossing = _probability_of(h - 1, k - 2, 2 * k - 2) * DoubleDouble.from_fraction(1 - share)
    both_above = _both_at_least(k - 1, h) * DoubleDouble.from_fraction(share)
    change = both_above + crossing * DoubleDouble.from_doubles(np.maximum(m + 1 - 2 * h, 0))
    return _sums_before(_sums_before(change))


def _both_up_to(k: int, d: int) -> DoubleDouble:
    """(2k + 1,) the mean product of min(H, d) of both halves, d >= 1."""
    m = np.arange(2 * k - 1)
    share = Fraction(k, 2 * k - 1)
    crossing = _probability_of(d - 1, k - 2, 2 * k - 2) * DoubleDouble.from_fraction(1 - share)
    both_below = _both_at_least(k - 1, k - d)[::-1] * DoubleDouble.from_fraction(share)
    change = both_below - crossing * DoubleDouble.from_doubles(np.clip(m + 1 - d, 0, d))
    return _sums_before(_sums_before(change))


def _probability_of(j: int, k: int, n: int) -> DoubleDouble:
    """(n + 1,) P(j of a subset of k are marked), if 0 .. n of n are."""
    some, marked = np.array([j]), np.arange(n + 1)
    parts = [
        pmf(np.full(len(rows), n), rows, k, correct=some)[:, 0]
        for rows in np.split(marked, range(_ROWS_AT_ONCE, n + 1, _ROWS_AT_ONCE))
    ]
    return DoubleDouble.concatenate(parts)


def _sums_before(change: DoubleDouble, counted: np.ndarray | bool = True) -> DoubleDouble:
    """The sums of all changes before each place, one more than there are changes."""
    kept = DoubleDouble(change.hi * counted, change.lo * counted)
    sums = kept[::-1].suffix_sums()[::-1]
    return DoubleDouble.concatenate([DoubleDouble.from_doubles([0.0]), sums])
