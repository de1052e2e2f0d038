"""What k draws are worth: credits, and the laws of how many of them are right.

Samples of one question are exchangeable, so a question is its counts: n samples, c of
them right. Every metric of the pass family is then an expected credit,

    score(n, c) = sum over j of  P(j of k draws are right | n, c) x credit[j],

averaged over the questions. The credits say what the metric rewards; the law says what
is drawn. There are two laws, and they are one urn. Put C(k, j) for the binomial
coefficient, and for k draws without replacement from the n observed samples

    P(j) = C(k, j) [c]_j [n-c]_(k-j) / [n]_k          falling factorials,

the hypergeometric law, which gives the unbiased estimates of a finite bank. For k new
samples, when the question's success rate has a Beta(alpha0, beta0) prior, it is

    P(j) = C(k, j) (c+alpha0)^j (n-c+beta0)^(k-j) / (n+alpha0+beta0)^k   rising ones,

the Beta-binomial law, which gives posterior means. Sources: Chen et al. 2021
(arXiv:2107.03374) for pass@k, Yao et al. 2024 (arXiv:2406.12045) for pass^k, Liu et al.
2024 (arXiv:2412.13147) for G-Pass@k, Hariri et al. 2026 (arXiv:2510.04265) for the
posterior.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .wide import Wide, rising_factorials

Credits = tuple[float, ...]
"""What k draws are worth when 0, 1, .., k of them are right; never decreasing."""

Prior = tuple[float, float]
"""(alpha0, beta0) of the Beta prior on a question's success rate, both positive."""

_TABLED = 128  # up to this many samples, tables hold every c and are kept
_BLOCK = 1 << 18  # cells of a law worked on at once, which bounds the memory


# --- Credits ------------------------------------------------------------------


def at_least(k: int, needed: int) -> Credits:
    """1 once `needed` of k are right, 0 below."""
    return (0.0,) * needed + (1.0,) * (k + 1 - needed)


def any_right(k: int) -> Credits:
    """pass@k: one of k suffices."""
    return at_least(k, 1)


def all_right(k: int) -> Credits:
    """pass^k, or unanimous@k: all k are needed."""
    return at_least(k, k)


def threshold(k: int, tau: float) -> Credits:
    """G-Pass@k_tau: max(1, ceil(tau k)) of k are needed.

    A product within 1e-9 of an integer is that integer: as doubles, 0.28 x 25 lies above
    7 and 25/49 x 49 below 25.

    Raises:
        ValueError: unless 0 <= tau <= 1.
    """
    if isinstance(tau, bool) or not 0 <= tau <= 1:
        raise ValueError(f"The threshold is {tau!r}: it is a share of the k draws, from 0 to 1.")
    return at_least(k, max(1, math.ceil(tau * k - 1e-9)))


def above_half(k: int) -> Credits:
    """mG-Pass@k: twice the area under G-Pass@k_tau from tau = 1/2 to 1 is a ramp in j."""
    half = -(-k // 2)
    return tuple(2 * max(0, j - half) / k for j in range(k + 1))


# --- Laws ---------------------------------------------------------------------


def law(n: int, c: np.ndarray, k: int, prior: Prior | None = None) -> Wide:
    """P(j of k draws are right) for j = 0 .. k, a row for each entry of c.

    Without a prior the draws are taken from the n observed samples, and k <= n.
    """
    factorial, inverse = rising_factorials(Fraction(1), max(n, k))
    right = np.arange(k + 1)
    wrong = k - right
    c = c[:, None]
    choose = inverse[right] * inverse[wrong] * factorial[k]
    if prior is None:
        c_left, wrong_left = c - right, (n - c) - wrong
        possible = (c_left >= 0) & (wrong_left >= 0)
        cells = inverse[np.where(possible, c_left, 0)] * inverse[np.where(possible, wrong_left, 0)]
        rows = factorial[c] * factorial[n - c] * (factorial[n - k] * inverse[n])
        return (cells.where(possible) * choose * rows).to_wide()
    alpha0, beta0 = Fraction(prior[0]), Fraction(prior[1])
    alpha, inverse_alpha = rising_factorials(alpha0, n + k)
    beta, inverse_beta = rising_factorials(beta0, n + k)
    both, inverse_both = rising_factorials(alpha0 + beta0, n + k)
    cells = alpha[c + right] * beta[n - c + wrong]
    rows = inverse_alpha[c] * inverse_beta[n - c] * (both[n] * inverse_both[n + k])
    return (cells * choose * rows).to_wide()


def check_prior(alpha0: float, beta0: float) -> Prior:
    """Raise a ValueError unless both are positive and finite."""
    for name, value in (("alpha0", alpha0), ("beta0", beta0)):
        if isinstance(value, bool) or not 0 < value < math.inf:
            raise ValueError(f"{name} is {value!r}: a Beta prior needs a positive number.")
    return float(alpha0), float(beta0)


# --- Moments ------------------------------------------------------------------


def expected(
    n: int, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None = None
) -> np.ndarray:
    """Expected credit of k draws, a row for each entry of c, a column for each of `credits`.

    Each has the k that its length says. Without a prior no k may be above n.
    """
    if n <= _TABLED:
        return np.stack([_expected_table(n, credit, prior)[c] for credit in credits], axis=1)
    result = np.empty((len(c), len(credits)))
    for k in {len(credit) - 1 for credit in credits}:
        for rows in _blocks(len(c), k):
            tails = law(n, c[rows], k, prior).suffix_sums().hi
            for column, credit in enumerate(credits):
                if len(credit) - 1 == k:
                    result[rows, column] = _climb(tails, credit)
    return result


def variance(n: int, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    """Posterior variance of the expected credit g(p) of k new samples, for each entry of c.

    g(p)^2 is what 2k new samples are worth when the credits of their halves are multiplied,
    so E[g^2] is the same law at 2k. A variance is the same whether right or wrong samples
    are counted; it is computed on the side where the mean is the smaller, so that near
    certainty is as exact as near failure.
    """
    return _variance_table(n, credit, prior)[c] if n <= _TABLED else _variance(n, c, credit, prior)


def _climb(tails: np.ndarray, credit: Credits) -> np.ndarray:
    """Sum of P(at least j right) x (credit[j] - credit[j-1]) over j.

    The tails are rounded to doubles before they are added, as the formula of mG-Pass@k
    has it: so its published digits come out to the last. The sum itself is exact.
    """
    steps = np.diff(credit, prepend=0.0)
    taken = np.flatnonzero(steps)
    terms = tails[:, taken] * steps[taken]
    return terms[:, 0] if len(taken) == 1 else np.array([math.fsum(row) for row in terms.tolist()])


@lru_cache(maxsize=64)
def _tails_table(n: int, k: int, prior: Prior | None) -> np.ndarray:
    return law(n, np.arange(n + 1), k, prior).suffix_sums().hi


@lru_cache(maxsize=1024)
def _expected_table(n: int, credit: Credits, prior: Prior | None) -> np.ndarray:
    return _climb(_tails_table(n, len(credit) - 1, prior), credit)


@lru_cache(maxsize=1024)
def _variance_table(n: int, credit: Credits, prior: Prior) -> np.ndarray:
    return _variance(n, np.arange(n + 1), credit, prior)


def _variance(n: int, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    mirror = expected(n, c, [credit], prior)[:, 0] > credit[-1] / 2
    mirrored = tuple(credit[-1] - worth for worth in reversed(credit))
    result = np.empty(len(c))
    result[~mirror] = _spread(n, c[~mirror], credit, prior)
    result[mirror] = _spread(n, n - c[mirror], mirrored, prior[::-1])
    return result


def _spread(n: int, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    """E[g^2] - E[g]^2."""
    k = len(credit) - 1
    single = Wide(np.array(credit), np.zeros(k + 1))
    product = _product_credit(credit)
    result = np.empty(len(c))
    for rows in _blocks(len(c), 2 * k):
        mean = (law(n, c[rows], k, prior) * single).sum()
        square = (law(n, c[rows], 2 * k, prior) * product).sum()
        result[rows] = np.maximum((square - mean * mean).hi, 0.0)
    return result


@lru_cache(maxsize=64)
def _product_credit(credit: Credits) -> Wide:
    """Mean of credit[i] credit[m - i] when m of 2k draws are right, for m = 0 .. 2k."""
    k = len(credit) - 1
    worth, first, right = np.array(credit), np.arange(k + 1), np.arange(2 * k + 1)
    result = []
    for rows in _blocks(2 * k + 1, k):
        second = np.clip(right[rows, None] - first, 0, k)  # where clipped, the law is 0
        halves = law(2 * k, right[rows], k) * Wide.product(worth, worth[second])
        result.append(halves.sum())
    return Wide.concatenate(result)


def _blocks(rows: int, k: int) -> Iterator[slice]:
    step = max(1, _BLOCK // (k + 1))
    return (slice(start, start + step) for start in range(0, rows, step))
