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

import numpy as np

from .checks import check_bounds, check_confidence, check_k
from .inputs.outcomes import read_outcomes
from .scores.credits import (
    Credits,
    Score,
    above_half,
    all_right,
    any_right,
    area,
    geo_spectrum,
    geom,
    geom_ds,
    majority,
    spectrum,
    threshold,
)
from .scores.distributions import check_prior, estimator, posterior
from .scores.rewards import (
    Rewards,
    bayes_posterior,
    best_posterior,
    best_scores,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
)

Bounds = tuple[float, float] | None
Summary = tuple[float, float, float, float]


def _point(R, k: int, score: Callable[..., Score | Credits], *options) -> float:
    counts = read_outcomes(R).counts()
    keys, estimate = estimator({"": score(check_k(k, counts.n), *options)})
    columns = estimate(*counts.kinds)
    return float(keys[""].of(counts.questions @ columns / len(counts.n)))


def _summary(
    R,
    k: int,
    confidence: float,
    bounds: Bounds,
    alpha0: float,
    beta0: float,
    score: Callable[..., Score | Credits],
    *options,
) -> Summary:
    wanted, prior = score(check_k(k), *options), check_prior(alpha0, beta0)
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    counts = read_outcomes(R).counts()
    found = posterior(counts, {"": wanted}, prior, limits)
    return found.over(counts.questions[None], confidence)[""].of(0)[:4]


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
    return _summary(R, k, confidence, bounds, alpha0, beta0, any_right)


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
    return _summary(R, k, confidence, bounds, alpha0, beta0, all_right)


unanimous_at_k = pass_hat_k
unanimous_at_k_ci = pass_hat_k_ci


# --- AUC@k --------------------------------------------------------------------


def auc_at_k(R, k: int) -> float:
    """AUC@k: the area under Pass@j from j = 1 to k, by trapezoids, divided by k - 1.

    AUC@1 is Pass@1 (Hu et al. 2026, arXiv:2601.08763).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(auc_at_k(R, 1), 6), round(auc_at_k(R, 2), 6), round(auc_at_k(R, 3), 6)
    (0.7, 0.825, 0.9)
    """
    return _point(R, k, area)


def auc_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of AUC@k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> auc_at_k_ci(R, 1) == pass_at_k_ci(R, 1)
    True
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, area)


# --- Maj@k --------------------------------------------------------------------


def maj_at_k(R, k: int) -> float:
    """Maj@k: the probability that more than half of k drawn samples are right.

    That is G-Pass@k_tau at tau = (floor(k/2) + 1) / k.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(maj_at_k(R, 1), 6), round(maj_at_k(R, 2), 6), round(maj_at_k(R, 3), 6)
    (0.7, 0.45, 0.85)
    """
    return _point(R, k, majority)


def maj_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of Maj@k: of P(Binomial(k, p) > k/2).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = maj_at_k_ci(R, 3)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.684524, 0.151958, 0.3867, 0.9824)
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, majority)


def cons_at_k(R, k: int) -> float:
    """cons@k: the share of questions of which more than k/2 of all n samples are right.

    As AISBench has it. Where k < n it is biased, upwards: Maj@k is the unbiased estimate.

    >>> cons_at_k([[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]], 3)
    0.5
    """
    counts = read_outcomes(R).counts()
    return float(np.mean(2 * counts.c > check_k(k, counts.n)))


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
    return _summary(R, k, confidence, bounds, alpha0, beta0, all_right)


def g_pass_at_k_tau(R, k: int, tau: float) -> float:
    """G-Pass@k_tau: the probability that max(1, ceil(tau k)) of k drawn samples are right.

    tau in [0, 1] is the share that is needed: 0 gives Pass@k, 1 gives Pass^k
    (Liu et al. 2024, arXiv:2412.13147).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(g_pass_at_k_tau(R, 2, 0.5), 6), round(g_pass_at_k_tau(R, 2, 1.0), 6)
    (0.95, 0.45)
    """
    return _point(R, k, threshold, tau)


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
    return _summary(R, k, confidence, bounds, alpha0, beta0, threshold, tau)


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
    return _summary(R, k, confidence, bounds, alpha0, beta0, above_half)


# --- Threshold spectra and geometric blends -----------------------------------


def threshold_spectrum_at_k(R, k: int, weights) -> float:
    """S_w: the sum of w_r times the probability that at least r of k drawn samples are right.

    weights w_1, .., w_k are not negative and add up to 1 at most.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(threshold_spectrum_at_k(R, 2, [0.5, 0.5]), 6)
    0.7
    """
    return _point(R, k, spectrum, _given(weights))


def threshold_spectrum_at_k_ci(
    R,
    k: int,
    weights,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of the spectrum: of the sum of w_r P(Binomial(k, p) >= r).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> threshold_spectrum_at_k_ci(R, 2, [0, 1]) == pass_hat_k_ci(R, 2)
    True
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, spectrum, _given(weights))


def _given(weights):
    if weights is None:
        raise ValueError("weights is None: give k weights.")
    return weights


def geom_at_k(R, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> float:
    """Geom@k: the mean over questions of Pass@k^a x Pass^k^b, by default their geometric mean.

    a is pass_power and b unanimous_power, neither negative.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geom_at_k(R, 2), 6)
    0.647106
    """
    return _point(R, k, geom, pass_power, unanimous_power)


def geom_at_k_ci(
    R,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of Geom@k: each question's blend of posterior means, to first order.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = geom_at_k_ci(R, 2)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.610666, 0.133107, 0.3498, 0.8716)
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, geom, pass_power, unanimous_power)


def geom_ds_at_k(R, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> float:
    """Geom@k of the dataset: the same blend, of Pass@k and Pass^k averaged over questions.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geom_ds_at_k(R, 2), 6)
    0.653835
    """
    return _point(R, k, geom_ds, pass_power, unanimous_power)


def geom_ds_at_k_ci(
    R,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of Geom@k of the dataset, to first order.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = geom_ds_at_k_ci(R, 2)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.612112, 0.132755, 0.3519, 0.8723)
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, geom_ds, pass_power, unanimous_power)


def geo_spectrum_at_k(
    R, k: int, lam: float = 0.5, weights=None, lambda_: float | None = None
) -> float:
    """GeoSpectrum@k: Pass@k^lam x S_w^(1 - lam), both averaged over questions first.

    weights are those of the threshold spectrum S_w, by default of mG-Pass@k. lambda_ is
    another name for lam.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> round(geo_spectrum_at_k(R, 3), 6), round(geo_spectrum_at_k(R, 3, lam=1.0), 6)
    (0.408248, 1.0)
    """
    coupling = _coupling(lam, lambda_)
    return _point(R, k, geo_spectrum, coupling, weights)


def geo_spectrum_at_k_ci(
    R,
    k: int,
    lam: float = 0.5,
    weights=None,
    lambda_: float | None = None,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of GeoSpectrum@k, to first order.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> geo_spectrum_at_k_ci(R, 2, weights=[0, 1]) == geom_ds_at_k_ci(R, 2)
    True
    """
    coupling = _coupling(lam, lambda_)
    return _summary(R, k, confidence, bounds, alpha0, beta0, geo_spectrum, coupling, weights)


def _coupling(lam: float, lambda_: float | None) -> float:
    if lambda_ is not None and lam != 0.5:
        raise TypeError("lam and lambda_ are two names of one parameter: give one of them.")
    return lam if lambda_ is None else lambda_


def geo_spectrum_star_at_k(R, k: int) -> float:
    """GeoSpectrum*@k: the geometric mean of Pass@k and mG-Pass@k over all questions.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> geo_spectrum_star_at_k(R, 3) == geo_spectrum_at_k(R, 3)
    True
    """
    return _point(R, k, geo_spectrum)


def geo_spectrum_star_at_k_ci(
    R,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
) -> Summary:
    """Posterior summary of GeoSpectrum*@k, to first order.

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> geo_spectrum_star_at_k_ci(R, 3) == geo_spectrum_at_k_ci(R, 3)
    True
    """
    return _summary(R, k, confidence, bounds, alpha0, beta0, geo_spectrum)


# --- Categories and rewards ---------------------------------------------------


def _rewards(R, w, R0=None) -> Rewards:
    outcomes, rewards = read_outcomes(R), check_rewards(w)
    prior = check_prior_outcomes(R0, len(outcomes.sizes), len(rewards))
    return category_rewards(outcomes, rewards, prior)


def bayes(R, w=None, R0=None) -> tuple[float, float]:
    """Bayes@N: posterior mean and standard deviation of the mean reward, (mu, sigma).

    Each question has a uniform Dirichlet prior over the categories 0 .. C, after which come
    R0 and R (Hariri et al. 2026, arXiv:2510.04265).

    Args:
        R: outcomes of M questions, integers from 0 to C.
        w: C + 1 rewards, one for each category. Without it R is binary and w is (0, 1).
        R0: (M, D) prior outcomes.

    >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> mu, sigma = bayes(R, [0.0, 0.5, 1.0], [[0, 2], [1, 2]])
    >>> round(mu, 6), round(sigma, 6)
    (0.575, 0.084275)
    >>> mu, sigma = bayes(R, [0.0, 0.5, 1.0])
    >>> round(mu, 6), round(sigma, 6)
    (0.5625, 0.091998)
    """
    return bayes_ci(R, w, R0)[:2]


def bayes_ci(R, w=None, R0=None, confidence: float = 0.95, bounds: Bounds = None) -> Summary:
    """Bayes@N with its interval, (mu, sigma, lo, hi).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> mu, sigma, lo, hi = bayes_ci(R, bounds=(0.0, 1.0))
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.642857, 0.118451, 0.4107, 0.875)
    """
    return _bayes(R, w, R0, "bayes", confidence, bounds)


def avg(R, w=None) -> tuple[float, float]:
    """avg@N: the average reward of all samples, and its standard deviation, (a, sigma).

    The average is an affine function of Bayes@N, which gives its error bar
    (Hariri et al. 2026, arXiv:2510.04265, eq. 20). w is as for `bayes`.

    >>> a, sigma = avg([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])
    >>> round(a, 6), round(sigma, 6)
    (0.7, 0.165831)
    >>> a, sigma = avg([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0])
    >>> round(a, 6), round(sigma, 6)
    (0.6, 0.147196)
    """
    return avg_ci(R, w)[:2]


def avg_ci(R, w=None, confidence: float = 0.95, bounds: Bounds = None) -> Summary:
    """avg@N with its interval, (a, sigma, lo, hi).

    >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
    >>> a, sigma, lo, hi = avg_ci(R, bounds=(0.0, 1.0))
    >>> round(a, 4), round(sigma, 4), round(lo, 4), round(hi, 4)
    (0.7, 0.1658, 0.375, 1.0)
    >>> a, sigma, lo, hi = avg_ci([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0])
    >>> round(a, 4), round(sigma, 4), round(lo, 4), round(hi, 4)
    (0.6, 0.1472, 0.3115, 0.8885)
    """
    return _bayes(R, w, None, "avg", confidence, bounds)


def _bayes(R, w, R0, key: str, confidence: float, bounds: Bounds) -> Summary:
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    rewards = _rewards(R, w, R0)
    found = bayes_posterior(rewards, "bayes", "avg", limits)
    return found.over(rewards.questions[None], confidence)[key].of(0)[:4]


def max_at_k(R, k: int, w=None) -> float:
    """Max@k: the expected best reward of k drawn samples.

    With the rewards of a question in ascending order, the i-th counts
    C(i-1, k-1) / C(n, k) (Bagirov et al. 2025, arXiv:2510.23393). w is as for `bayes`.

    >>> round(max_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
    0.95
    >>> round(max_at_k([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], 2, w=[0.0, 0.5, 1.0]), 6)
    0.85
    """
    rewards = _rewards(R, w)
    scores = best_scores(rewards, {"": check_k(k, rewards.n)})
    return scores.means(rewards.questions)[""]


def max_at_k_ci(
    R, k: int, w=None, R0=None, confidence: float = 0.95, bounds: Bounds = None
) -> Summary:
    """Posterior summary of Max@k; w and R0 are as for `bayes`, which it is for k = 1.

    Without bounds no end is beyond the least or the greatest reward; but for k = 1, where
    it is left where it is, as by `bayes_ci`.

    >>> mu, sigma, lo, hi = max_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.839286, 0.097263, 0.6487, 1.0)
    >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> mu, sigma, lo, hi = max_at_k_ci(R, 2, w=[0.0, 0.5, 1.0])
    >>> round(mu, 6), round(sigma, 6), round(lo, 4), round(hi, 4)
    (0.75, 0.08812, 0.5773, 0.9227)
    """
    draws, confidence = check_k(k), check_confidence(confidence)
    rewards = _rewards(R, w, R0)
    if bounds is None and draws > 1:
        bounds = float(rewards.levels[0]), float(rewards.levels[-1])
    found = best_posterior(rewards, {"": draws}, check_bounds(bounds))
    return found.over(rewards.questions[None], confidence)[""].of(0)[:4]


# --- Two banks ----------------------------------------------------------------


def compare(
    R_a,
    R_b,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> dict[str, float]:
    """By how much bank b scores above bank a on the same questions; for each k, and for all.

    Args:
        R_a: outcomes of M questions, as all functions of a bank take them.
        R_b: those of the same questions in the same order; their numbers of samples may differ.
        metric: which score, of pass@k, pass^k, G-Pass@k, mG-Pass@k, maj@k and AUC@k.
        k: number of draws, or a list of them. Default: each one that all questions have samples
            for.
        interval: of the difference for new samples of these questions, "sampling", or of new
            questions like these, "questions", paired.
        confidence: of the intervals at each k, and of the band at all of them at once.
        tau: the share of right samples, from 0 to 1, that G-Pass@k asks for.
        clusters: the source of each question, where some share one, for the interval "questions".

    Returns:
        For each k, in ascending order, and a key such as "pass@4": the score of b less that of a;
        <key>_a and <key>_b, the two scores; <key>_lo and <key>_hi, the interval of the difference;
        <key>_band_lo and <key>_band_hi, the band, which is the same where there is one k.

    Raises:
        ValueError: where an outcome or a parameter is wrong; if the banks have not the same number
            of questions; or if one has too few samples or questions to show how they vary.

    >>> result = compare([[0, 0, 1, 0], [1, 0, 1, 1]], [[0, 1, 1, 0], [1, 1, 1, 1]], k=1)
    >>> {key: round(value, 3) for key, value in result.items() if "band" not in key}
    {'pass@1': 0.25, 'pass@1_a': 0.5, 'pass@1_b': 0.75, 'pass@1_lo': -0.116, 'pass@1_hi': 0.58}
    """
    from .intervals.comparison import compare_counts  # only here, for SciPy takes its time to load

    a, b = read_outcomes(R_a, "R_a").counts(), read_outcomes(R_b, "R_b").counts()
    return compare_counts(a, b, metric, k, interval, confidence, tau, clusters)
