"""The number of correct samples among k: the hypergeometric and the Beta-binomial pmf.

The samples of a question are exchangeable, so its counts are sufficient: n samples, c of them
correct. Write C(k, j) for the binomial coefficient, fall(x, j) = x (x-1) .. (x-j+1) and
rise(x, j) = x (x+1) .. (x+j-1).

Choose k of the n observed samples, without replacement. The number of correct ones among them is
hypergeometric,

    P(j) = C(k, j) fall(c, j) fall(n-c, k-j) / fall(n, k),

and expected values under it are unbiased estimates. Take k new samples instead, where the success
rate of the question has a Beta(a, b) prior before the n samples are observed. The number of correct
ones is then Beta-binomial,

    P(j) = C(k, j) rise(c+a, j) rise(n-c+b, k-j) / rise(n+a+b, k),

and expected values under it are posterior means (Hariri et al. 2026, arXiv:2510.04265).

Both are computed as products of the ratios P(j + 1) / P(j), from about the mode outwards, divided
by their sum. They are in double-double arithmetic, because the variances of `covariances` are
differences of numbers that may agree in their first fifteen digits. Point estimates do without it;
see `core.expected`.

There are U distinct pairs (n, c) of questions, and m scores. The credits of a score are what each
correct sample among k adds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.counts import one_size
from ..core.credits import Credits
from ..core.expected import blocks_of_rows, columns_by_k
from .double_double import DoubleDouble

Prior = tuple[float, float]
"""The parameters (alpha0, beta0) of the Beta prior of a question's success rate, positive."""

_LARGEST_TABLE = 128  # Up to this n and k, values for all c are kept.


def posterior_means(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior
) -> np.ndarray:
    """Return posterior means of m scores of k new samples, (U, m), for n and c, both (U,).

    Scores may be at different k, which are the lengths of their credits.
    """
    result = np.zeros((len(c), len(credits)))
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        result[:, columns] = from_table(_means_of_k, n, c, k, credits_of_k, prior)
    return result


def _means_of_k(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior
) -> np.ndarray:
    """Return `posterior_means` of scores that are all at one k, (U, m)."""
    k, result = len(credits[0]), np.zeros((len(c), len(credits)))
    for rows in blocks_of_rows(np.arange(len(c)), k):
        probabilities = pmf(n[rows], c[rows], k, prior)
        for column, credit in enumerate(credits):
            result[rows, column] = (probabilities * cumulative_credit(credit)).sum().hi
    return result


def from_table(
    function: Callable[..., np.ndarray],
    n: np.ndarray,
    c: np.ndarray,
    k: int,
    scores: Any,
    prior: Prior,
) -> np.ndarray:
    """Return function(n, c, scores, prior), which has a row for each pair (n, c).

    If all n are equal, and n and k are small, the rows are from a cached table for c = 0 .. n.
    """
    size = one_size(n)
    if 0 < size <= _LARGEST_TABLE and k <= _LARGEST_TABLE:
        return _table(function, size, scores, prior)[c]
    return function(n, c, scores, prior)


@lru_cache(maxsize=1 << 10)
def _table(function: Callable[..., np.ndarray], n: int, scores: Any, prior: Prior) -> np.ndarray:
    """Return the rows of function(n, c, scores, prior) for c = 0 .. n."""
    return function(np.full(n + 1, n), np.arange(n + 1), scores, prior)


@lru_cache(maxsize=16)
def cumulative_credit(credit: Credits) -> DoubleDouble:
    """Return the score of 0, 1, .., k correct samples, (k + 1,), from its k credits."""
    return DoubleDouble.from_doubles((0.0, *credit)[::-1]).suffix_sums()[::-1]


def pmf(n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None = None) -> DoubleDouble:
    """Return P(j of k samples are correct) for j = 0 .. k, (U, k + 1), for n and c <= n, both (U,).

    With a prior of the success rates, the k samples are new ones. Without a prior, they are a
    subset of the n, and k <= n.
    """
    # A drawn sample of the n reduces the counts, and a new one raises them.
    step, a, b = (-1, 0.0, 0.0) if prior is None else (1, *prior)
    j, one = np.arange(k), DoubleDouble.from_doubles(1.0)
    n, c = n[:, None], c[:, None]
    mode = np.rint(k * ((c + a) / np.maximum(n + a + b, 1e-300)))  # The sum n + a + b may be 0.
    if prior is None:
        mode = np.clip(mode, np.maximum(0, k - (n - c)), np.minimum(c, k))

    def product(integer: np.ndarray, count: np.ndarray, parameter: float) -> DoubleDouble:
        """Return integer x (count + parameter). A negative count is taken as 0."""
        number = DoubleDouble.from_doubles(np.maximum(count, 0))
        return DoubleDouble.from_doubles(integer) * (number + DoubleDouble.from_doubles(parameter))

    # P(j + 1) / P(j) = gain / loss. Ratios are taken in the direction away from the mode, where
    # they are at most about 1, so that no product overflows.
    gain = product(k - j, c + step * j, a)
    loss = product(j + 1, n - c + step * (k - 1 - j), b)
    is_above = j >= mode
    ratio = DoubleDouble.where(is_above, gain, loss)
    ratio = ratio * DoubleDouble.where(is_above, loss, gain).inverse()
    rising = DoubleDouble.where(is_above, ratio, one).prefix_products()
    falling = DoubleDouble.where(is_above, one, ratio)[:, ::-1].prefix_products()[:, ::-1]
    ones = DoubleDouble.from_doubles(np.ones((len(n), 1)))
    relative = DoubleDouble.concatenate([ones, rising]) * DoubleDouble.concatenate([falling, ones])
    return relative * relative.sum()[:, None].inverse()
