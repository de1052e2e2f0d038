"""The pass@k family: pass@k, pass^k, AUC@k, maj@k, cons@k, G-Pass@k and mG-Pass@k."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.checks import check_k
from ..core.credits import (
    above_half,
    all_correct,
    any_correct,
    area_under_pass,
    check_tau,
    majority,
    threshold,
)
from ..core.samples import read_outcomes
from ..functions import Bounds, OutcomesLike, Summary
from .estimates import point_estimate, summary_of_score, with_shared_help


@with_shared_help
def pass_at_k(R: OutcomesLike, k: int) -> float:
    """Return pass@k: the probability that at least one of k samples is correct.

    A question with c correct samples out of n scores 1 - C(n - c, k) / C(n, k) (Chen et al. 2021,
    arXiv:2107.03374).

    Examples:
        >>> round(pass_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
        0.95
    """
    return point_estimate(R, k, any_correct)


@with_shared_help
def pass_at_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of pass@k, which is 1 - (1 - p)^k given the success rate p.

    Examples:
        >>> [round(x, 6) for x in pass_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)]
        [0.839286, 0.097263, 0.648654, 1.0]
    """
    return summary_of_score(R, k, any_correct, confidence, bounds, alpha0, beta0, interval)


@with_shared_help
def pass_hat_k(R: OutcomesLike, k: int) -> float:
    """Return pass^k: the probability that all k samples are correct.

    A question with c correct samples out of n scores C(c, k) / C(n, k) (Yao et al. 2024,
    arXiv:2406.12045). This is also unanimous@k, and G-Pass@k at the threshold 1.

    Examples:
        >>> round(pass_hat_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
        0.45
    """
    return point_estimate(R, k, all_correct)


@with_shared_help
def pass_hat_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of pass^k, which is p^k given the success rate p.

    Examples:
        >>> [round(x, 6) for x in pass_hat_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)]
        [0.446429, 0.146167, 0.159946, 0.732911]
    """
    return summary_of_score(R, k, all_correct, confidence, bounds, alpha0, beta0, interval)


unanimous_at_k = g_pass_at_k = pass_hat_k
unanimous_at_k_ci = g_pass_at_k_ci = pass_hat_k_ci


@with_shared_help
def auc_at_k(R: OutcomesLike, k: int) -> float:
    """Return AUC@k: the area under pass@j from j = 1 to k, divided by k - 1.

    The area is computed by the trapezoidal rule. AUC@1 is pass@1 (Hu et al. 2026,
    arXiv:2601.08763).

    Examples:
        >>> round(auc_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 3), 6)
        0.9
    """
    return point_estimate(R, k, area_under_pass)


@with_shared_help
def auc_at_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of AUC@k.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> auc_at_k_ci(R, 1) == pass_at_k_ci(R, 1)
        True
    """
    return summary_of_score(R, k, area_under_pass, confidence, bounds, alpha0, beta0, interval)


@with_shared_help
def maj_at_k(R: OutcomesLike, k: int) -> float:
    """Return maj@k: the probability that more than half of k samples are correct.

    It is G-Pass@k_tau (Liu et al. 2024, arXiv:2412.13147) at tau = (floor(k/2) + 1) / k. The
    majority vote of most papers (maj@k, cons@64) needs the answers: it is vote@k of the metric
    cons_at_k.

    Examples:
        >>> round(maj_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 3), 6)
        0.85
    """
    return point_estimate(R, k, majority)


@with_shared_help
def maj_at_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of maj@k, P(Binomial(k, p) > k/2) given the success rate p.

    Examples:
        >>> [round(x, 6) for x in maj_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 3)]
        [0.684524, 0.151958, 0.386692, 0.982356]
    """
    return summary_of_score(R, k, majority, confidence, bounds, alpha0, beta0, interval)


def cons_at_k(R: OutcomesLike, k: int) -> float:
    """Return cons@k: the share of questions with more than k/2 correct samples among all n.

    This is the definition of AISBench. It is biased upwards if k < n; `maj_at_k` is unbiased.

    Args:
        R: outcomes of M questions, 0 or 1, see `at_k.functions`.
        k: number of samples in a subset, at most the n of each question.

    Returns:
        A float from 0 to 1.

    Examples:
        >>> cons_at_k([[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]], 3)
        0.5
    """
    counts = read_outcomes(R).counts
    return float(np.mean(2 * counts.c > check_k(k, counts.n)))


@with_shared_help
def g_pass_at_k_tau(R: OutcomesLike, k: int, tau: float) -> float:
    """Return G-Pass@k_tau: the probability of max(1, ceil(tau k)) or more correct of k samples.

    Source: Liu et al. 2024, arXiv:2412.13147.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> round(g_pass_at_k_tau(R, 2, 0.5), 6), round(g_pass_at_k_tau(R, 2, 1.0), 6)
        (0.95, 0.45)
    """
    return point_estimate(R, k, partial(threshold, tau=check_tau(tau)))


@with_shared_help
def g_pass_at_k_tau_ci(
    R: OutcomesLike,
    k: int,
    tau: float,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of G-Pass@k_tau.

    It is P(Binomial(k, p) >= max(1, ceil(tau k))) given the success rate p.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> g_pass_at_k_tau_ci(R, 2, 0.5) == pass_at_k_ci(R, 2)
        True
    """
    return summary_of_score(
        R, k, partial(threshold, tau=check_tau(tau)), confidence, bounds, alpha0, beta0, interval
    )


@with_shared_help
def mg_pass_at_k(R: OutcomesLike, k: int) -> float:
    """Return mG-Pass@k: 2/k times the sum of G-Pass@k_(i/k) for i = ceil(k/2) + 1 .. k.

    For even k it is twice the area under G-Pass@k_tau from tau = 1/2 to 1. For odd k it is smaller,
    and at most (k - 1) / k (Liu et al. 2024, arXiv:2412.13147).

    Examples:
        >>> round(mg_pass_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 3), 6)
        0.166667
    """
    return point_estimate(R, k, above_half)


@with_shared_help
def mg_pass_at_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of mG-Pass@k.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> mg_pass_at_k_ci(R, 2) == pass_hat_k_ci(R, 2)
        True
    """
    return summary_of_score(R, k, above_half, confidence, bounds, alpha0, beta0, interval)
