"""The number of correct samples among k: the hypergeometric and the Beta-binomial pmf.

The samples of a question are exchangeable, so its counts are sufficient: n samples, c of them
correct. Write C(k, j) for the binomial coefficient, fall(x, j) = x (x-1) .. (x-j+1) and
rise(x, j) = x (x+1) .. (x+j-1).

Choose k of the n observed samples, without replacement. The number of correct ones among them
is hypergeometric,

    P(j) = C(k, j) fall(c, j) fall(n-c, k-j) / fall(n, k),

and expected values under it are unbiased estimates. Take k new samples instead, where the
success rate of the question has a Beta(a, b) prior before the n samples are observed. The number
of correct ones is then Beta-binomial,

    P(j) = C(k, j) rise(c+a, j) rise(n-c+b, k-j) / rise(n+a+b, k),

and expected values under it are posterior means (Hariri et al. 2026, arXiv:2510.04265).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .double_double import (
    LARGE_TABLE,
    DoubleDouble,
    ScaledDoubleDouble,
    rising_factorials,
    scaled,
)

Prior = tuple[float, float]
"""(alpha0, beta0) of the Beta prior of a question's success rate, both positive."""


def pmf(
    n: np.ndarray,
    c: np.ndarray,
    k: int,
    prior: Prior | None = None,
    correct: np.ndarray | None = None,
) -> DoubleDouble:
    """P(j of k samples are correct) for U questions (n, c): (U, k + 1), or (U, J).

    Args:
        n: (U,) samples. Without a prior, k <= n.
        c: (U,) correct samples, 0 <= c <= n.
        k: size of the subset, or number of new samples.
        prior: of new samples. Without it, the k samples are a subset of the n.
        correct: (J,) the values of j, by default 0 .. k.
    """
    correct = np.arange(k + 1) if correct is None else correct
    incorrect = k - correct
    if n.max(initial=0) > max(LARGE_TABLE, len(n) * k):
        return _pmf_by_products(n, c, k, prior, correct)
    n, c = n[:, None], c[:, None]
    factorial, inverse = rising_factorials(Fraction(1), max(k, n.max(initial=0)))
    choose = inverse[correct] * inverse[incorrect] * factorial[k]
    if prior is None:
        c_left, incorrect_left = c - correct, (n - c) - incorrect
        possible = (c_left >= 0) & (incorrect_left >= 0)
        cells = (
            inverse[np.where(possible, c_left, 0)] * inverse[np.where(possible, incorrect_left, 0)]
        )
        rows = factorial[c] * factorial[n - c] * (factorial[n - k] * inverse[n])
        return (cells.where(possible) * choose * rows).to_double_double()
    alpha0, beta0 = Fraction(prior[0]), Fraction(prior[1])
    most = n.max(initial=0) + k
    alpha, inverse_alpha = rising_factorials(alpha0, most)
    beta, inverse_beta = rising_factorials(beta0, most)
    both, inverse_both = rising_factorials(alpha0 + beta0, most)
    cells = alpha[c + correct] * beta[n - c + incorrect]
    rows = inverse_alpha[c] * inverse_beta[n - c] * (both[n] * inverse_both[n + k])
    return (cells * choose * rows).to_double_double()


def _pmf_by_products(
    n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None, correct: np.ndarray
) -> DoubleDouble:
    """The same for so large n that a table of factorials would take longer than k factors."""
    alpha0, beta0 = (0.0, 0.0) if prior is None else prior
    # fall(x, j) without a prior, and rise(x, j) with one.
    steps = np.arange(k) * (-1 if prior is None else 1)

    def factors(samples: np.ndarray, *of_prior: float) -> ScaledDoubleDouble:
        result = DoubleDouble.from_doubles(samples[:, None] + steps)
        for parameter in of_prior:
            result = result + DoubleDouble.from_doubles(parameter)
        return scaled(result)

    of_correct = factors(c, alpha0).prefix_products()[:, correct]
    of_incorrect = factors(n - c, beta0).prefix_products()[:, k - correct]
    all_ways = factors(n, alpha0, beta0).product()[:, None]
    return (of_correct * of_incorrect * _choose(k, correct) * all_ways.inverse()).to_double_double()


def _choose(k: int, correct: np.ndarray) -> ScaledDoubleDouble:
    """(J,) C(k, j)."""
    factorial, _ = rising_factorials(Fraction(1), k)
    return (factorial[correct] * factorial[k - correct]).inverse() * factorial[k]
