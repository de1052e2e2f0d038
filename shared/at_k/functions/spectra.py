"""The threshold spectrum, and the geometric combinations Geom@k and GeoSpectrum@k.

The geometric combinations are products of powers of unbiased estimates, and are not unbiased
themselves. Source: "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning".
"""

from __future__ import annotations

from functools import partial

from ..core.credits import geo_spectrum, geom, geom_ds, spectrum
from ..functions import Bounds, Numbers, OutcomesLike, Summary
from .estimates import ScoreOfK, point_estimate, summary_of_score, with_shared_help

_summary_for_any_k = partial(summary_of_score, allow_above_n=True)


@with_shared_help
def threshold_spectrum_at_k(R: OutcomesLike, k: int, weights: Numbers) -> float:
    """Return S_w: the sum over r of w_r times the probability that at least r of k are correct.

    It is unbiased. It is also a factor of GeoSpectrum@k. Source: "Geom@k: Stable Evaluation and
    Fast Rank Recovery for LLM Reasoning".

    Examples:
        >>> round(threshold_spectrum_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2, [0.5, 0.5]), 6)
        0.7
    """
    return point_estimate(R, k, _weighted_spectrum(weights))


@with_shared_help
def threshold_spectrum_at_k_ci(
    R: OutcomesLike,
    k: int,
    weights: Numbers,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of the threshold spectrum S_w.

    Given the success rate p, S_w is the sum over r of w_r P(Binomial(k, p) >= r). k may exceed the
    n of a question.

    Examples:
        >>> from at_k import pass_hat_k_ci
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> threshold_spectrum_at_k_ci(R, 2, [0, 1]) == pass_hat_k_ci(R, 2)
        True
    """
    score = _weighted_spectrum(weights)
    return _summary_for_any_k(R, k, score, confidence, bounds, alpha0, beta0, interval)


def _weighted_spectrum(weights: Numbers) -> ScoreOfK:
    """Return a function from k to the threshold spectrum S_w. Raises ValueError without weights."""
    if weights is None:
        raise ValueError("weights is None: give k weights.")
    return partial(spectrum, weights=weights)


@with_shared_help
def geom_at_k(
    R: OutcomesLike, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5
) -> float:
    """Return Geom@k: the mean over questions of pass@k^a times pass^k^b.

    By default it is the mean of the geometric means of pass@k and pass^k. Source: "Geom@k: Stable
    Evaluation and Fast Rank Recovery for LLM Reasoning".

    Returns:
        A float of at least 0: the mean over questions of products, which are not unbiased.

    Examples:
        >>> round(geom_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
        0.647106
    """
    score = partial(geom, pass_power=pass_power, unanimous_power=unanimous_power)
    return point_estimate(R, k, score)


@with_shared_help
def geom_at_k_ci(
    R: OutcomesLike,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of Geom@k.

    For each question, pass@k and pass^k are replaced by their posterior means; sigma is computed to
    first order. k may exceed the n of a question.

    Examples:
        >>> [round(x, 6) for x in geom_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)]
        [0.610666, 0.133107, 0.349782, 0.87155]
    """
    score = partial(geom, pass_power=pass_power, unanimous_power=unanimous_power)
    return _summary_for_any_k(R, k, score, confidence, bounds, alpha0, beta0, interval)


@with_shared_help
def geom_ds_at_k(
    R: OutcomesLike, k: int, pass_power: float = 0.5, unanimous_power: float = 0.5
) -> float:
    """Return Geom@k of the data set: pass@k^a times pass^k^b, both averaged over questions first.

    Source: "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning".

    Returns:
        A float of at least 0: a product of unbiased estimates. It is not unbiased.

    Examples:
        >>> round(geom_ds_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
        0.653835
    """
    score = partial(geom_ds, pass_power=pass_power, unanimous_power=unanimous_power)
    return point_estimate(R, k, score)


@with_shared_help
def geom_ds_at_k_ci(
    R: OutcomesLike,
    k: int,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of Geom@k of the data set, with sigma by the delta method.

    k may exceed the n of a question.

    Examples:
        >>> [round(x, 6) for x in geom_ds_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)]
        [0.612112, 0.132755, 0.351917, 0.872307]
    """
    score = partial(geom_ds, pass_power=pass_power, unanimous_power=unanimous_power)
    return _summary_for_any_k(R, k, score, confidence, bounds, alpha0, beta0, interval)


@with_shared_help
def geo_spectrum_at_k(
    R: OutcomesLike,
    k: int,
    lam: float = 0.5,
    weights: Numbers | None = None,
    lambda_: float | None = None,
) -> float:
    """Return GeoSpectrum@k: pass@k^lam times S_w^(1 - lam), both averaged over questions first.

    By default, S_w is mG-Pass@k. Source: "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM
    Reasoning".

    Returns:
        A float from 0 to 1: a product of unbiased estimates. It is not unbiased.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> round(geo_spectrum_at_k(R, 3), 6), round(geo_spectrum_at_k(R, 3, lam=1.0), 6)
        (0.408248, 1.0)
    """
    score = partial(geo_spectrum, lam=_one_lam(lam, lambda_), weights=weights)
    return point_estimate(R, k, score)


@with_shared_help
def geo_spectrum_at_k_ci(
    R: OutcomesLike,
    k: int,
    lam: float = 0.5,
    weights: Numbers | None = None,
    lambda_: float | None = None,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of GeoSpectrum@k, with sigma by the delta method.

    k may exceed the n of a question.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> geo_spectrum_at_k_ci(R, 2, weights=[0, 1]) == geom_ds_at_k_ci(R, 2)
        True
    """
    score = partial(geo_spectrum, lam=_one_lam(lam, lambda_), weights=weights)
    return _summary_for_any_k(R, k, score, confidence, bounds, alpha0, beta0, interval)


def _one_lam(lam: float, lambda_: float | None) -> float:
    """Return the value of lam, which has two names. Raises TypeError if both are given."""
    if lambda_ is not None and lam != 0.5:
        raise TypeError("lam and lambda_ are two names of one parameter: give one of them.")
    return lam if lambda_ is None else lambda_


@with_shared_help
def geo_spectrum_star_at_k(R: OutcomesLike, k: int) -> float:
    """Return GeoSpectrum*@k: sqrt(pass@k mG-Pass@k), where both are averaged over questions first.

    Source: "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning".

    Returns:
        A float from 0 to 1. It is biased: it is the root of a product of unbiased estimates.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> geo_spectrum_star_at_k(R, 3) == geo_spectrum_at_k(R, 3)
        True
    """
    return point_estimate(R, k, geo_spectrum)


@with_shared_help
def geo_spectrum_star_at_k_ci(
    R: OutcomesLike,
    k: int,
    confidence: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
    alpha0: float = 1.0,
    beta0: float = 1.0,
    *,
    interval: str = "posterior",
) -> Summary:
    """Return (mu, sigma, lo, hi) of GeoSpectrum*@k, with sigma by the delta method.

    k may exceed the n of a question.

    Examples:
        >>> R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]
        >>> geo_spectrum_star_at_k_ci(R, 3) == geo_spectrum_at_k_ci(R, 3)
        True
    """
    return _summary_for_any_k(R, k, geo_spectrum, confidence, bounds, alpha0, beta0, interval)
