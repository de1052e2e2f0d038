"""The estimates as plain functions of a bank of outcomes.

Conventions of all of them:

    R: outcomes of M questions: an array (M, N), a nested list, or a ragged one with n_i
        samples of question i; a flat list is one question. Entries are 0 (wrong) or 1
        (right): integers, bools, or floats of those values. None, and what a masked array
        masks, is not scored.
    k: number of draws, 1 <= k <= n_i for every question.

A point estimate is a float in [0, 1], the mean over questions of an unbiased estimate
from the finite bank. Its `_ci` companion treats each question's success rate p as latent,
with a Beta(alpha0, beta0) prior, and returns (mu, sigma, lo, hi): posterior mean and
standard deviation of the mean over questions of E[credit of k new samples | p], and the
interval mu -+ z sigma that holds it with probability `confidence` if it is normal, its
ends moved to `bounds` where they are beyond (Hariri et al. 2026, arXiv:2510.04265). There
k may be larger than n_i.

All raise a ValueError that names the entry, the question or the parameter that is wrong,
and says what would be right.
"""

from __future__ import annotations

from collections.abc import Callable

from .draws import (
    Credits,
    above_half,
    all_right,
    any_right,
    check_prior,
    expected,
    threshold,
    variance,
)
from .interval import Summary, normal_summary
from .outcomes import read_outcomes
from .parameters import check_bounds, check_confidence, check_k

Bounds = tuple[float, float] | None


def _point(R, k: int, credit: Callable[[int], Credits]) -> float:
    counts = read_outcomes(R).binary_counts()
    wanted = [credit(check_k(k, counts.n))]
    n, c = counts.binary_kinds
    return float(counts.questions @ expected(n, c, wanted)[:, 0]) / len(counts.n)


def _summary(
    R,
    k: int,
    credit: Callable[[int], Credits],
    confidence: float,
    bounds: Bounds,
    alpha0: float,
    beta0: float,
) -> Summary:
    wanted, prior = credit(check_k(k)), check_prior(alpha0, beta0)
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    counts = read_outcomes(R).binary_counts()
    n, c = counts.binary_kinds
    mean, spread = expected(n, c, [wanted], prior)[:, 0], variance(n, c, wanted, prior)
    return normal_summary(mean, spread, counts.questions, confidence, limits)


# --- Pass@k -------------------------------------------------------------------


def pass_at_k(R, k: int) -> float:
    """Pass@k: the probability that at least one of k drawn samples is right.

    A question with c of n samples right counts 1 - C(n - c, k) / C(n, k)
    (Chen et al. 2021, arXiv:2107.03374).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(pass_at_k(R, 1), 6), round(pass_at_k(R, 2), 6)
    (0.7, 0.95)
    """
    return _point(R, k, any_right)


def pass_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of Pass@k: of 1 - (1 - p)^k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = pass_at_k_ci(R, 2)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.839286, 0.097263, 0.6487, 1.0)
    """
    return _summary(R, k, any_right, confidence, bounds, alpha0, beta0)


def pass_hat_k(R, k: int) -> float:
    """Pass^k: the probability that all of k drawn samples are right.

    A question with c of n samples right counts C(c, k) / C(n, k)
    (Yao et al. 2024, arXiv:2406.12045). Also known as unanimous@k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(pass_hat_k(R, 1), 6), round(pass_hat_k(R, 2), 6)
    (0.7, 0.45)
    """
    return _point(R, k, all_right)


def pass_hat_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of Pass^k: of p^k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = pass_hat_k_ci(R, 2)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.446429, 0.146167, 0.1599, 0.7329)
    """
    return _summary(R, k, all_right, confidence, bounds, alpha0, beta0)


unanimous_at_k = pass_hat_k
unanimous_at_k_ci = pass_hat_k_ci


# --- Generalized Pass@k -------------------------------------------------------


def g_pass_at_k(R, k: int) -> float:
    """G-Pass@k at the threshold 1, which is Pass^k (Liu et al. 2024, arXiv:2412.13147).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(g_pass_at_k(R, 1), 6), round(g_pass_at_k(R, 2), 6)
    (0.7, 0.45)
    """
    return _point(R, k, all_right)


def g_pass_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of G-Pass@k at the threshold 1: that of Pass^k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> g_pass_at_k_ci(R, 2) == pass_hat_k_ci(R, 2)
    True
    """
    return _summary(R, k, all_right, confidence, bounds, alpha0, beta0)


def g_pass_at_k_tau(R, k: int, tau: float) -> float:
    """G-Pass@k_tau: the probability that max(1, ceil(tau k)) of k drawn samples are right.

    tau in [0, 1] is the share that is needed: 0 gives Pass@k, 1 gives Pass^k
    (Liu et al. 2024, arXiv:2412.13147).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(g_pass_at_k_tau(R, 2, 0.5), 6), round(g_pass_at_k_tau(R, 2, 1.0), 6)
    (0.95, 0.45)
    """
    return _point(R, k, lambda k: threshold(k, tau))


def g_pass_at_k_tau_ci(
    R,
    k: int,
    tau: float,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of G-Pass@k_tau: of P(Binomial(k, p) >= max(1, ceil(tau k))).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> g_pass_at_k_tau_ci(R, 2, 0.5) == pass_at_k_ci(R, 2)
    True
    """
    return _summary(R, k, lambda k: threshold(k, tau), confidence, bounds, alpha0, beta0)


def mg_pass_at_k(R, k: int) -> float:
    """mG-Pass@k: (2/k) times the sum of G-Pass@k_(i/k) over i = ceil(k/2) + 1 .. k.

    For even k that is twice the area under G-Pass@k_tau from tau = 1/2 to 1; for odd k it
    is less, and (k-1)/k at most (Liu et al. 2024, arXiv:2412.13147).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(mg_pass_at_k(R, 2), 6), round(mg_pass_at_k(R, 3), 6)
    (0.45, 0.166667)
    """
    return _point(R, k, above_half)


def mg_pass_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of mG-Pass@k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mg_pass_at_k_ci(R, 2) == pass_hat_k_ci(R, 2)
    True
    """
    return _summary(R, k, above_half, confidence, bounds, alpha0, beta0)
