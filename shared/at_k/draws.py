"""What k draws are worth: credits, and the laws of how many of them are right.

Samples of one question are exchangeable, so a question is its counts: n samples, c of
them right. Every metric of the pass family is then an expected credit,

    score(n, c) = sum over j of  P(j of k draws are right | n, c) x credit[j],

averaged over the questions. The credits say what the metric rewards; the law says what
is drawn. There are two laws, and they are one urn: of n balls c are right, and each ball
that is drawn stays out, or goes back with one more like it. Write C(k, j) for the
binomial coefficient, fall(x, j) = x (x-1) .. (x-j+1) and rise(x, j) = x (x+1) .. (x+j-1).
Drawn without replacement from the observed samples,

    P(j) = C(k, j) fall(c, j) fall(n-c, k-j) / fall(n, k),

the hypergeometric law, which gives unbiased estimates. Drawn anew, from a question whose
success rate had a Beta(a, b) prior before the n samples were seen,

    P(j) = C(k, j) rise(c+a, j) rise(n-c+b, k-j) / rise(n+a+b, k),

the Beta-binomial law, which gives posterior means. Sources: Chen et al. 2021
(arXiv:2107.03374) for pass@k, Yao et al. 2024 (arXiv:2406.12045) for pass^k, Liu et al.
2024 (arXiv:2412.13147) for G-Pass@k, Hariri et al. 2026 (arXiv:2510.04265) for the
posterior.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .interval import Scores
from .outcomes import Counts
from .parameters import check_number, check_positive
from .wide import Wide, rising_factorials

Credits = tuple[float, ...]
"""What k draws are worth when 0, 1, .., k of them are right; never decreasing."""

Prior = tuple[float, float]
"""(alpha0, beta0) of the Beta prior on a question's success rate, both positive."""

_TABLED = 128  # up to this many samples and draws, tables hold every c and are kept
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
    return at_least(k, max(1, math.ceil(check_tau(tau) * k - 1e-9)))


def check_tau(tau) -> float:
    """The share of the draws that a threshold asks for, from 0 to 1."""
    return check_number("A threshold", tau, "it is a share of the k draws, from 0 to 1", 0, 1)


def above_half(k: int) -> Credits:
    """mG-Pass@k: 2/k for each of the j right draws beyond a half, rounded up.

    So (2/k) times the sum of G-Pass@k_(i/k) over i = ceil(k/2) + 1 .. k: the Riemann sum of
    the paper for twice the area under G-Pass@k_tau from tau = 1/2 to 1. It equals the area
    for even k; for odd k it stays below, at (k-1)/k where all draws are right.
    """
    half = -(-k // 2)
    return tuple(2 * max(0, j - half) / k for j in range(k + 1))


# --- Laws ---------------------------------------------------------------------


def law(n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None = None) -> Wide:
    """P(j of k draws are right): (U, k + 1) for j = 0 .. k and U questions (n, c).

    Args:
        n: (U,) samples. Without a prior the draws are taken from them, and k <= n.
        c: (U,) how many of them are right, 0 <= c <= n.
    """
    right = np.arange(k + 1)
    wrong = k - right
    n, c = n[:, None], c[:, None]
    factorial, inverse = rising_factorials(Fraction(1), max(k, n.max(initial=0)))
    choose = inverse[right] * inverse[wrong] * factorial[k]
    if prior is None:
        c_left, wrong_left = c - right, (n - c) - wrong
        possible = (c_left >= 0) & (wrong_left >= 0)
        cells = inverse[np.where(possible, c_left, 0)] * inverse[np.where(possible, wrong_left, 0)]
        rows = factorial[c] * factorial[n - c] * (factorial[n - k] * inverse[n])
        return (cells.where(possible) * choose * rows).to_wide()
    alpha0, beta0 = Fraction(prior[0]), Fraction(prior[1])
    most = n.max(initial=0) + k
    alpha, inverse_alpha = rising_factorials(alpha0, most)
    beta, inverse_beta = rising_factorials(beta0, most)
    both, inverse_both = rising_factorials(alpha0 + beta0, most)
    cells = alpha[c + right] * beta[n - c + wrong]
    rows = inverse_alpha[c] * inverse_beta[n - c] * (both[n] * inverse_both[n + k])
    return (cells * choose * rows).to_wide()


def check_prior(alpha0: float, beta0: float) -> Prior:
    """Both parameters of a Beta prior, positive and small enough to leave sigma its digits."""
    wanted = "a parameter of the Beta prior is a positive number, 1e15 at most"
    return (
        check_positive("alpha0", alpha0, wanted, 1e15),
        check_positive("beta0", beta0, wanted, 1e15),
    )


# --- Moments ------------------------------------------------------------------


def expected(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None = None
) -> np.ndarray:
    """Expected credits: (U, m) of m credits for U questions (n, c), both (U,).

    Each credit has the k that its length says. Without a prior no k is above any n: that is
    for the caller to see to.
    """
    result = np.empty((len(c), len(credits)))
    for k in {len(credit) - 1 for credit in credits}:
        columns = [column for column, credit in enumerate(credits) if len(credit) == k + 1]
        tabled = _tabled(n, k)
        for size in np.unique(n[tabled]).tolist():
            rows = np.flatnonzero(n == size)
            for column in columns:
                result[rows, column] = _expected_table(size, credits[column], prior)[c[rows]]
        for rows in _blocks(np.flatnonzero(~tabled), k):
            tails = law(n[rows], c[rows], k, prior).suffix_sums().hi
            for column in columns:
                result[rows, column] = _climb(tails, credits[column])
    return result


def variance(n: np.ndarray, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    """Posterior variance of the expected credit g(p) of k new samples: (U,), as `expected`.

    g(p)^2 is what 2k new samples are worth when the credits of their halves are multiplied,
    so E[g^2] is the same law at 2k. The credit that is lost (never negative, as no credit
    decreases) has the same variance: it is taken of whichever has the smaller mean, so that
    its digits stay near certainty as they do near failure.
    """
    k = len(credit) - 1
    result = np.empty(len(c))
    tabled = _tabled(n, k)
    for size in np.unique(n[tabled]).tolist():
        rows = np.flatnonzero(n == size)
        result[rows] = _variance_table(size, credit, prior)[c[rows]]
    for rows in _blocks(np.flatnonzero(~tabled), 2 * k):
        result[rows] = _variance(n[rows], c[rows], credit, prior)
    return result


def _variance(n: np.ndarray, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    k = len(credit) - 1
    one, two = law(n, c, k, prior), law(n, c, 2 * k, prior)
    lost = tuple(credit[-1] - worth for worth in credit)
    gain, loss = ((one * Wide.of(worth)).sum() for worth in (credit, lost))
    result = np.empty(len(c))
    for worth, mean, rows in ((credit, gain, gain.hi <= loss.hi), (lost, loss, gain.hi > loss.hi)):
        if rows.any():
            square = (two[rows] * _product_credit(worth)).sum()
            result[rows] = np.maximum((square - mean[rows] * mean[rows]).hi, 0.0)
    return result


@lru_cache(maxsize=64)
def _product_credit(credit: Credits) -> Wide:
    """Mean of credit[i] credit[m - i] when m of 2k draws are right, for m = 0 .. 2k."""
    k = len(credit) - 1
    worth, first = np.array(credit), np.arange(k + 1)
    parts = []
    for m in _blocks(np.arange(2 * k + 1), k):
        second = np.clip(m[:, None] - first, 0, k)  # where clipped, the law is 0
        halves = law(np.full(len(m), 2 * k), m, k) * Wide.product(worth, worth[second])
        parts.append(halves.sum())
    return Wide.concatenate(parts)


def _climb(tails: np.ndarray, credit: Credits) -> np.ndarray:
    """Sum of P(at least j right) x (credit[j] - credit[j-1]) over j.

    The tails are rounded to doubles before they are added, as the formula of mG-Pass@k
    has it: so its published digits come out to the last. The sum itself is exact.
    """
    steps = np.diff(credit, prepend=0.0)
    taken = np.flatnonzero(steps)
    terms = tails[:, taken] * steps[taken]
    return terms[:, 0] if len(taken) == 1 else np.array([math.fsum(row) for row in terms.tolist()])


def draw_scores(counts: Counts, credits: Mapping[str, Credits], prior: Prior | None) -> Scores:
    """The expected credit of each key; with a prior, its posterior moments too."""
    n, c = counts.binary_kinds
    wanted = list(credits.values())
    point = expected(n, c, wanted)
    if prior is None:
        return Scores(list(credits), counts.kind, point)
    spread = np.stack([variance(n, c, credit, prior) for credit in wanted], axis=1)
    return Scores(list(credits), counts.kind, point, expected(n, c, wanted, prior), spread)


# --- Tables -------------------------------------------------------------------


def _tabled(n: np.ndarray, k: int) -> np.ndarray:
    """Which questions are small enough that a table for every c is made once and kept."""
    return (n <= _TABLED) & (k <= _TABLED)


@lru_cache(maxsize=64)
def _tails_table(n: int, k: int, prior: Prior | None) -> np.ndarray:
    c = np.arange(n + 1)
    return law(np.full(n + 1, n), c, k, prior).suffix_sums().hi


@lru_cache(maxsize=1024)
def _expected_table(n: int, credit: Credits, prior: Prior | None) -> np.ndarray:
    return _climb(_tails_table(n, len(credit) - 1, prior), credit)


@lru_cache(maxsize=1024)
def _variance_table(n: int, credit: Credits, prior: Prior) -> np.ndarray:
    return _variance(np.full(n + 1, n), np.arange(n + 1), credit, prior)


def _blocks(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    step = max(1, _BLOCK // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))
