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

_CELLS_OF_A_WINDOW = 1 << 13  # of so many, only those that do not round to 0 are computed
_LOG_OF_0 = -746.0  # the exponential of which rounds to 0


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
    if not len(n):
        return DoubleDouble.from_doubles(np.empty((0, len(correct))))
    few = len(correct) < _CELLS_OF_A_WINDOW
    if k < _CELLS_OF_A_WINDOW or (few and not _needs_large_table(n, k, prior)):
        return _cells_of_pmf(n, c, k, prior, correct)
    inside, cells = likely_pmf(n, c, k, prior)
    column = correct - inside.start
    known = np.flatnonzero((column >= 0) & (column < len(inside)))
    hi, lo = np.zeros((2, len(n), len(correct)))
    hi[:, known], lo[:, known] = cells.hi[:, column[known]], cells.lo[:, column[known]]
    return DoubleDouble(hi, lo)


def likely_pmf(
    n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None
) -> tuple[range, DoubleDouble]:
    """The j whose probability does not round to 0 for all questions, and their pmf: (U, J)."""
    if k < _CELLS_OF_A_WINDOW:
        return range(k + 1), pmf(n, c, k, prior)
    low, high = _windows(n, c, k, prior)
    inside = range(int(low.min()), int(high.max()) + 1)
    hi, lo = np.zeros((2, len(n), len(inside)))
    for row, (start, stop) in enumerate(
        zip(low - inside.start, high - inside.start + 1, strict=True)
    ):
        cells = _pmf_by_ratios(
            int(n[row]), int(c[row]), k, prior, np.arange(low[row], high[row] + 1)
        )
        hi[row, start:stop], lo[row, start:stop] = cells.hi, cells.lo
    return inside, DoubleDouble(hi, lo)


def _pmf_by_ratios(
    n: int, c: int, k: int, prior: Prior | None, correct: np.ndarray
) -> DoubleDouble:
    """(J,) the pmf of a question at successive j, outside of which it rounds to 0.

    It is a product of ratios P(j + 1) / P(j), divided by the sum of all.
    """
    sign = -1 if prior is None else 1
    alpha0, beta0 = map(DoubleDouble.from_doubles, prior or (0.0, 0.0))

    def factors(samples: int, chosen: np.ndarray, parameter: DoubleDouble) -> DoubleDouble:
        return DoubleDouble.from_doubles(samples + sign * chosen) + parameter

    j = correct[:-1]
    up = DoubleDouble.from_doubles(k - j) * factors(c, j, alpha0)
    down = DoubleDouble.from_doubles(j + 1) * factors(n - c, k - j - 1, beta0)
    products = (scaled(up) * scaled(down).inverse()).prefix_products()
    relative = ScaledDoubleDouble(products.mantissa, products.exponent - products.exponent.max())
    total = scaled(relative.to_double_double().sum())
    return (relative * total.inverse()).to_double_double()


def may_exceed_0(
    n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None, correct: np.ndarray
) -> np.ndarray:
    """Whether P(j of k samples are correct) may round to more than 0, elementwise."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    def log_choose(size: np.ndarray, chosen: np.ndarray, parameter: float) -> np.ndarray:
        """log of fall(size, chosen) or of rise(size + parameter, chosen), over chosen!."""
        if prior is None:
            ways = gammaln(size + 1.0) - gammaln(np.maximum(size - chosen, 0) + 1.0)
        else:
            ways = gammaln(size + parameter + chosen) - gammaln(size + parameter)
        return ways - gammaln(chosen + 1.0)

    alpha0, beta0 = prior or (0.0, 0.0)
    log_probability = (
        log_choose(c, correct, alpha0)
        + log_choose(n - c, k - correct, beta0)
        - log_choose(n, np.asarray(k), alpha0 + beta0)
    )
    rounding = 1e-14 * gammaln(n + k + alpha0 + beta0 + 2.0)
    return log_probability + rounding > _LOG_OF_0


def _windows(
    n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None
) -> tuple[np.ndarray, np.ndarray]:
    """(U,) the least and the largest j whose probability may exceed 0.

    From its mode, a pmf decreases on both sides, so both are found by bisection.
    """
    first, last = np.zeros_like(n), np.full_like(n, k)
    alpha, beta = (c + 1.0, n - c + 1.0) if prior is None else (c + prior[0], n - c + prior[1])
    if ((alpha < 1) & (beta < 1)).any():  # no samples: the pmf may have two modes
        return first, last
    if prior is None:
        first, last = np.maximum(first, k - (n - c)), np.minimum(last, c)
    both = np.maximum(alpha - 1, 0) + np.maximum(beta - 1, 0)
    share = np.where(both > 0, np.maximum(alpha - 1, 0) / np.where(both > 0, both, 1), 0.5)
    mode = np.clip(np.rint(k * share).astype(np.int64), first, last)
    edges = []
    for outside in (first, last):
        inside = mode
        while (np.abs(outside - inside) > 1).any():
            middle = (outside + inside) // 2
            positive = may_exceed_0(n, c, k, prior, middle)
            outside = np.where(positive, outside, middle)
            inside = np.where(positive, middle, inside)
        edges.append(outside)
    low, high = edges
    return low, high


def _needs_large_table(n: np.ndarray, k: int, prior: Prior | None) -> bool:
    """Whether a table of factorials would take longer than k factors for each question."""
    entries = n.max(initial=0) + (0 if prior is None else k)
    return bool(entries > max(LARGE_TABLE, len(n) * k))


def _cells_of_pmf(
    n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None, correct: np.ndarray
) -> DoubleDouble:
    incorrect = k - correct
    if _needs_large_table(n, k, prior):
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
    sign = -1 if prior is None else 1  # fall(x, j) without a prior, and rise(x, j) with one

    def factors(samples: np.ndarray, first: int, end: int, *of_prior: float) -> ScaledDoubleDouble:
        result = DoubleDouble.from_doubles(samples[:, None] + sign * np.arange(first, end))
        for parameter in of_prior:
            result = result + DoubleDouble.from_doubles(parameter)
        return scaled(result)

    def powers(samples: np.ndarray, parameter: float, sizes: np.ndarray) -> ScaledDoubleDouble:
        fewest, most = int(sizes.min()), int(sizes.max())
        products = factors(samples, fewest, most, parameter).prefix_products()[:, sizes - fewest]
        if fewest:
            products = products * factors(samples, 0, fewest, parameter).product()[:, None]
        return products

    of_correct, of_incorrect = powers(c, alpha0, correct), powers(n - c, beta0, k - correct)
    all_ways = factors(n, 0, k, alpha0, beta0).product()[:, None]
    return (of_correct * of_incorrect * _choose(k, correct) * all_ways.inverse()).to_double_double()


def _choose(k: int, correct: np.ndarray) -> ScaledDoubleDouble:
    """(J,) C(k, j)."""
    factorial, _ = rising_factorials(Fraction(1), k)
    return (factorial[correct] * factorial[k - correct]).inverse() * factorial[k]
