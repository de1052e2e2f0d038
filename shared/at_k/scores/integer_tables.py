"""The laws of `draws` in whole numbers: tables of the scores of all questions of n samples.

In the urn of a question c of n balls are right. Each that is drawn stays out, or goes back with
one more like it; so j right and then k - j wrong ones can be drawn in

    right (right -+ 1) .. (right -+ (j-1))  times  wrong (wrong -+ 1) .. (wrong -+ (k-j-1))

ways, and there are C(k, j) orders of them. Where n, k and the prior are small these are integers
of moderate length: all is exact until the last division, which Python rounds correctly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from operator import mul

import numpy as np

from .credits import Credits

Prior = tuple[float, float]
"""(alpha0, beta0) of the Beta prior on a question's success rate, both positive."""

Column = list[int]
"""An integer for each c = 0 .. n."""

_SAMPLES, _TABLE_BITS = 128, 1200  # beyond which doubles are faster


@lru_cache(maxsize=1 << 12)
def has_table(n: int, k: int, prior: Prior | None) -> bool:
    """Whether n and the integers of k draws are small enough."""
    right, wrong, one, back = _urn(prior)
    return n <= _SAMPLES and k * (right + wrong + n * one + k * back).bit_length() <= _TABLE_BITS


@lru_cache(maxsize=1 << 14)
def expected_table(n: int, credit: Credits, prior: Prior | None) -> np.ndarray:
    """(n + 1,) the expected credit of k draws, for c = 0 .. n."""
    k = len(credit)
    every = _all_ways(n, k, prior)
    terms = [  # each rounded before they are added, as in `draws`
        [w * (ways / every) for ways in _at_least(n, k, r, prior)]
        for r, w in enumerate(credit, start=1)
        if w
    ]
    return np.array([math.fsum(row) for row in zip(*terms, strict=True)])


@lru_cache(maxsize=1 << 14)
def covariance_table(n: int, a: Credits, b: Credits, prior: Prior) -> np.ndarray:
    """(n + 1,) the posterior covariance of two scores of k new samples, for c = 0 .. n."""
    k = len(a)
    (worth_a, unit_a), (worth_b, unit_b) = _worth(a), _worth(b)
    both = [0] * (2 * k + 1)  # of 2k draws, the first k by a and the others by b
    for i, x in worth_a.items():
        for j, y in worth_b.items():
            both[i + j] += x * y
    products = _sum(n, 2 * k, {j: x for j, x in enumerate(both) if x}, prior)
    means = map(mul, _mean(n, a, prior), _mean(n, b, prior))
    one, two = _all_ways(n, k, prior) ** 2, _all_ways(n, 2 * k, prior)
    unit = one * two * unit_a * unit_b
    return np.array([(x * one - y * two) / unit for x, y in zip(products, means, strict=True)])


@lru_cache(maxsize=64)
def _mean(n: int, credit: Credits, prior: Prior) -> Column:
    """What a score of k draws is worth, in units, times all ways to draw them."""
    return _sum(n, len(credit), _worth(credit)[0], prior)


@lru_cache(maxsize=64)
def _worth(credit: Credits) -> tuple[dict[int, int], int]:
    """What j right draws are worth, once for each order of them, and how many units are 1.

    A covariance is that of scores less a constant: so less the most frequent worth, which leaves
    the fewest terms.
    """
    ratios = [w.as_integer_ratio() for w in credit]
    unit = max(below for _, below in ratios)  # of powers of two
    worth = [*accumulate((above * (unit // below) for above, below in ratios), initial=0)]
    usual, k = max(worth, key=worth.count), len(credit)
    return {j: math.comb(k, j) * (x - usual) for j, x in enumerate(worth) if x != usual}, unit


# --- Ways to draw -----------------------------------------------------------------------


@lru_cache(maxsize=512)
def _at_least(n: int, k: int, r: int, prior: Prior | None) -> Column:
    """The ways in which at least r of k draws are right: counted from the nearer end."""
    if r == 0:
        return [_all_ways(n, k, prior)] * (n + 1)
    if r > k:
        return [0] * (n + 1)
    further, j, sign = (r + 1, r, 1) if 2 * r > k else (r - 1, r - 1, -1)
    more, orders = _at_least(n, k, further, prior), sign * math.comb(k, j)
    return [x + orders * ways for x, ways in zip(more, _in_order(n, k, j, prior), strict=True)]


def _sum(n: int, k: int, worth: dict[int, int], prior: Prior) -> Column:
    """The sum over j of what j right draws are worth, times the ways to draw them."""
    total = [0] * (n + 1)
    for j, x in worth.items():
        total = [t + x * ways for t, ways in zip(total, _in_order(n, k, j, prior), strict=True)]
    return total


def _in_order(n: int, k: int, j: int, prior: Prior | None) -> Iterator[int]:
    """The ways to draw j right ones, and then k - j wrong ones."""
    right, wrong, one, back = _urn(prior)
    rights, wrongs = _one_kind(right, one, back, n, k)[j], _one_kind(wrong, one, back, n, k)[k - j]
    return map(mul, rights, reversed(wrongs))


@lru_cache(maxsize=64)
def _one_kind(balls: int, one: int, back: int, n: int, k: int) -> list[Column]:
    """The ways to draw 0, 1, .., k balls of a kind, of which 0 .. n were seen."""
    ways = [[1] * (n + 1)]
    for there in range(balls, balls + k * back, back):  # at the next draw, but for the seen
        ways.append([*map(mul, ways[-1], range(there, there + (n + 1) * one, one))])
    return ways


def _all_ways(n: int, k: int, prior: Prior | None) -> int:
    """The ways to draw k balls, one after the other."""
    right, wrong, one, back = _urn(prior)
    balls = right + wrong + n * one
    return math.prod(range(balls, balls + k * back, back))


def _urn(prior: Prior | None) -> tuple[int, int, int, int]:
    """The right and the wrong balls before there are samples, how many one sample is, and how
    many more there are after a draw: all in a unit in which the prior is whole."""
    if prior is None:
        return 0, 0, 1, -1
    (a, a_unit), (b, b_unit) = (x.as_integer_ratio() for x in prior)
    one = max(a_unit, b_unit)
    return a * (one // a_unit), b * (one // b_unit), one, one
