"""Expected scores and covariances for small n and k, computed in integers.

Each function returns a table for all questions with n samples, with one entry for each number c
of correct samples. The two distributions are those of `distributions`. Both are distributions of a
Polya urn, which holds balls of two colors, one for correct and one for incorrect outcomes. A ball
is drawn at random; then it is left out (the hypergeometric distribution), or it is put back
together with one more ball of its color (the Beta-binomial distribution). There are

    correct (correct -+ 1) .. (correct -+ (j-1))  *  incorrect .. (incorrect -+ (k-j-1))

ways to draw first j correct balls and then k - j incorrect ones. Each of the C(k, j) orders of
their colors has the same number of ways. If n, k and the prior are small, these integers are short.
All operations on them are exact, except the final division, which Python rounds correctly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import NamedTuple

import numpy as np

from .credits import Credits
from .distributions import Prior

Integers = list[int]
"""One integer for each c = 0 .. n."""

# Above these limits, double-double arithmetic is faster.
_MAX_TABLE_SAMPLES, _MAX_TABLE_BITS = 128, 1200


@lru_cache(maxsize=1 << 12)
def has_table(n: int, k: int, prior: Prior | None) -> bool:
    """Return whether n, k and the prior are small enough for a table."""
    urn = _urn(prior)
    balls = urn.correct + urn.incorrect + n * urn.per_sample
    bits = (balls + k * urn.change).bit_length()
    return n <= _MAX_TABLE_SAMPLES and k * bits <= _MAX_TABLE_BITS


@lru_cache(maxsize=1 << 14)
def expected_table(n: int, credit: Credits, prior: Prior | None) -> np.ndarray:
    """Return the expected credit of k samples for c = 0 .. n, of shape (n + 1,)."""
    k = len(credit)
    total = _total_ways(n, k, prior)
    terms = [  # each rounded before the sum, as in `distributions.expected`
        [w * (ways / total) for ways in _ways_at_least(n, k, r, prior)]
        for r, w in enumerate(credit, start=1)
        if w
    ]
    return np.array([math.fsum(row) for row in zip(*terms, strict=True)])


@lru_cache(maxsize=1 << 14)
def covariance_table(n: int, a: Credits, b: Credits, prior: Prior) -> np.ndarray:
    """Return the posterior covariance of two scores of k new samples, of shape (n + 1,).

    The product of the scores is a function of 2k samples: the first k are scored by a, the other
    k by b.
    """
    k = len(a)
    (values_a, unit_a), (values_b, unit_b) = _centered_values(a), _centered_values(b)
    products = [0] * (2 * k + 1)
    for i, x in values_a.items():
        for j, y in values_b.items():
            products[i + j] += x * y
    of_products = _weighted_ways(n, 2 * k, {j: x for j, x in enumerate(products) if x}, prior)
    of_means = map(mul, _centered_sums(n, a, prior), _centered_sums(n, b, prior))
    ways_k, ways_2k = _total_ways(n, k, prior) ** 2, _total_ways(n, 2 * k, prior)
    unit = ways_k * ways_2k * unit_a * unit_b
    return np.array(
        [(x * ways_k - y * ways_2k) / unit for x, y in zip(of_products, of_means, strict=True)]
    )


@lru_cache(maxsize=64)
def _centered_sums(n: int, credit: Credits, prior: Prior) -> Integers:
    """Return the expected centered value of k samples, in units, times the ways to draw them."""
    return _weighted_ways(n, len(credit), _centered_values(credit)[0], prior)


@lru_cache(maxsize=64)
def _centered_values(credit: Credits) -> tuple[dict[int, int], int]:
    """Return C(k, j) times the centered value of j correct samples, and the units in 1.

    The value of j correct samples is their cumulative credit, an integer number of units. A
    covariance does not change if a constant is subtracted from the values. The most frequent value
    is subtracted here, which makes most of them 0: the others are returned, by j.
    """
    ratios = [w.as_integer_ratio() for w in credit]
    unit = max(denominator for _, denominator in ratios)  # all are powers of two
    in_units = (numerator * (unit // denominator) for numerator, denominator in ratios)
    values, k = [*accumulate(in_units, initial=0)], len(credit)
    mode = max(values, key=values.count)
    return {j: math.comb(k, j) * (x - mode) for j, x in enumerate(values) if x != mode}, unit


# --- Ways to draw -----------------------------------------------------------------------


class _Urn(NamedTuple):
    """A Polya urn, with all numbers multiplied so that they are integers.

    Attributes:
        correct: balls for correct outcomes before any sample was seen.
        incorrect: balls for incorrect outcomes before any sample was seen.
        per_sample: balls that stand for one observed sample.
        change: change of the number of balls after a draw.
    """

    correct: int
    incorrect: int
    per_sample: int
    change: int


def _urn(prior: Prior | None) -> _Urn:
    if prior is None:
        return _Urn(0, 0, 1, -1)
    (a, a_unit), (b, b_unit) = (x.as_integer_ratio() for x in prior)
    unit = max(a_unit, b_unit)  # both are powers of two
    return _Urn(a * (unit // a_unit), b * (unit // b_unit), unit, unit)


@lru_cache(maxsize=512)
def _ways_at_least(n: int, k: int, r: int, prior: Prior | None) -> Integers:
    """Return the ways to draw k balls of which at least r are correct.

    The terms are summed from r = k downwards, or subtracted from all ways from r = 0 upwards,
    whichever is shorter.
    """
    if r == 0:
        return [_total_ways(n, k, prior)] * (n + 1)
    if r > k:
        return [0] * (n + 1)
    neighbor, j, sign = (r + 1, r, 1) if 2 * r > k else (r - 1, r - 1, -1)
    sums, orders = _ways_at_least(n, k, neighbor, prior), sign * math.comb(k, j)
    ordered = _ways_in_order(n, k, j, prior)
    return [total + orders * ways for total, ways in zip(sums, ordered, strict=True)]


def _weighted_ways(n: int, k: int, weights: dict[int, int], prior: Prior) -> Integers:
    """Return the sum over j of weights[j] times the ways to draw j correct balls in one order."""
    sums = [0] * (n + 1)
    for j, weight in weights.items():
        ordered = _ways_in_order(n, k, j, prior)
        sums = [total + weight * ways for total, ways in zip(sums, ordered, strict=True)]
    return sums


def _ways_in_order(n: int, k: int, j: int, prior: Prior | None) -> Iterator[int]:
    """Yield the ways to draw j correct balls and then k - j incorrect ones, for c = 0 .. n."""
    correct, incorrect, per_sample, change = _urn(prior)
    first = _ways_of_one_color(correct, per_sample, change, n, k)[j]
    second = _ways_of_one_color(incorrect, per_sample, change, n, k)[k - j]
    return map(mul, first, reversed(second))


@lru_cache(maxsize=64)
def _ways_of_one_color(balls: int, per_sample: int, change: int, n: int, k: int) -> list[Integers]:
    """Return the ways to draw 0 .. k balls of one color, for 0 .. n samples of it."""
    ways = [[1] * (n + 1)]
    for unseen in range(balls, balls + k * change, change):  # at each draw, without the samples
        present = range(unseen, unseen + (n + 1) * per_sample, per_sample)
        ways.append([*map(mul, ways[-1], present)])
    return ways


def _total_ways(n: int, k: int, prior: Prior | None) -> int:
    """Return the ways to draw k balls, one after the other."""
    correct, incorrect, per_sample, change = _urn(prior)
    balls = correct + incorrect + n * per_sample
    return math.prod(range(balls, balls + k * change, change))
