"""Bayes@N, avg@N and max@k: scores of outcomes that are categories with rewards."""

from __future__ import annotations

import numpy as np

from ..core.checks import check_bounds, check_confidence, check_k
from ..core.choice import IntervalOptions, max_limits
from ..core.rewards import (
    Rewards,
    are_real_rewards,
    category_rewards,
    check_prior_outcomes,
    check_rewards,
    max_scores,
    moments_by_key,
    real_rewards,
)
from ..core.samples import read_outcomes
from ..functions import Bounds, Numbers, OutcomesLike, Summary
from ..scores.rewards import max_moments
from .estimates import summary_of_moments, warn_if_excluded, with_shared_help


@with_shared_help
def bayes(
    R: OutcomesLike, w: Numbers | None = None, R0: OutcomesLike | None = None
) -> tuple[float, float]:
    """Return Bayes@N: (mu, sigma), posterior mean and standard deviation of the mean reward.

    Each question has a uniform Dirichlet prior over its categories, which is updated with the prior
    outcomes R0 and the outcomes R (Hariri et al. 2026, arXiv:2510.04265).

    Real rewards have no categories, hence no such prior. Their mean reward and its standard
    deviation are those of the metric with interval="auto", see `bayes_ci`.

    Returns:
        (mu, sigma), in the unit of the rewards.

    Examples:
        >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
        >>> [round(x, 6) for x in bayes(R, [0.0, 0.5, 1.0], [[0, 2], [1, 2]])]
        [0.575, 0.084275]
        >>> [round(x, 6) for x in bayes(R, [0.0, 0.5, 1.0])]
        [0.5625, 0.091998]
    """
    return bayes_ci(R, w, R0)[:2]


@with_shared_help
def bayes_ci(
    R: OutcomesLike,
    w: Numbers | None = None,
    R0: OutcomesLike | None = None,
    confidence: float = 0.95,
    bounds: Bounds = None,
) -> Summary:
    """Return (mu, sigma, lo, hi) of Bayes@N (Hariri et al. 2026, arXiv:2510.04265).

    For real rewards, it is the mean reward with the interval "auto": the same questions sampled
    again, or other questions like these if each question has one sample. Its limits are also
    clipped to the range of the rewards. For categories, Bayes@N is defined as the mean of a
    posterior, so its limits are those of the posterior; the metric bayes_at_n has other intervals.

    Returns:
        (mu, sigma, lo, hi), in the unit of the rewards: those of `bayes`, and the limits mu -+
        z sigma, clipped to the bounds.

    Examples:
        >>> [round(x, 6) for x in bayes_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], bounds=(0.0, 1.0))]
        [0.642857, 0.118451, 0.410698, 0.875017]
    """
    return _mean_reward_summary("bayes", R, w, R0, confidence, bounds)


@with_shared_help
def avg(R: OutcomesLike, w: Numbers | None = None) -> tuple[float, float]:
    """Return avg@N: (a, sigma), the mean reward of all samples and its standard deviation.

    The mean reward is an affine function of Bayes@N, which gives its standard deviation (Hariri et
    al. 2026, arXiv:2510.04265, eq. 20).

    For real rewards, it is equal to `bayes`.

    Returns:
        (a, sigma), in the unit of the rewards.

    Examples:
        >>> [round(x, 6) for x in avg([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])]
        [0.7, 0.165831]
        >>> [round(x, 6) for x in avg([[0.25, 1.0, -0.5, 0.75], [2.0, 1.5, 2.5, 0.0]])]
        [0.9375, 0.316639]
        >>> [round(x, 6) for x in avg([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0])]
        [0.6, 0.147196]
    """
    return avg_ci(R, w)[:2]


@with_shared_help
def avg_ci(
    R: OutcomesLike, w: Numbers | None = None, confidence: float = 0.95, bounds: Bounds = None
) -> Summary:
    """Return (a, sigma, lo, hi) of avg@N (Hariri et al. 2026, arXiv:2510.04265).

    Returns:
        (a, sigma, lo, hi), in the unit of the rewards: those of `avg`, and the limits a -+ z
        sigma, clipped to the bounds.

    Examples:
        >>> [round(x, 6) for x in avg_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], bounds=(0.0, 1.0))]
        [0.7, 0.165831, 0.374977, 1.0]
        >>> [round(x, 6) for x in avg_ci([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0])]
        [0.6, 0.147196, 0.311501, 0.888499]
    """
    return _mean_reward_summary("avg", R, w, None, confidence, bounds)


def _mean_reward_summary(
    key: str,
    R: OutcomesLike,
    w: Numbers | None,
    R0: OutcomesLike | None,
    confidence: float,
    bounds: Bounds,
) -> Summary:
    """Return (mu, sigma, lo, hi) of the score `key`: "bayes" or "avg", equal for real rewards."""
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    rewards = read_outcome_rewards(R, w, R0)
    if rewards.categories is None:
        return _real_reward_summary(rewards, 1, confidence, limits)
    moments = rewards.posterior() if key == "bayes" else rewards.average()
    return summary_of_moments(moments_by_key(rewards, {"": moments}), confidence, limits)


@with_shared_help
def max_at_k(R: OutcomesLike, k: int, w: Numbers | None = None) -> float:
    """Return max@k: the expected maximum of the rewards of k samples.

    With the n rewards of a question in ascending order, the i-th has the weight C(i-1, k-1) / C(n,
    k) (Bagirov et al. 2025, arXiv:2510.23393).

    Returns:
        A float in the unit of the rewards: the mean over questions of an unbiased estimate.

    Examples:
        >>> round(max_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2), 6)
        0.95
        >>> round(max_at_k([[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], 2, w=[0.0, 0.5, 1.0]), 6)
        0.85
        >>> round(max_at_k([[0.25, 1.0, -0.5, 0.75], [2.0, 1.5, 2.5, 0.0]], 2), 6)
        1.479167
    """
    rewards = read_outcome_rewards(R, w)
    scores = max_scores(rewards, {"": check_k(k, rewards.n)})
    return scores.means(rewards.multiplicity)[""]


@with_shared_help
def max_at_k_ci(
    R: OutcomesLike,
    k: int,
    w: Numbers | None = None,
    R0: OutcomesLike | None = None,
    confidence: float = 0.95,
    bounds: Bounds = None,
) -> Summary:
    """Return (mu, sigma, lo, hi) of max@k. For k = 1 it is Bayes@N.

    Categories have the prior of `bayes` (Hariri et al. 2026, arXiv:2510.04265).

    k may exceed the n of a question, except for real rewards, whose limits are those of the
    interval "auto", as in `bayes_ci`. By default, limits are clipped to the lowest and the highest
    reward; only those of categories for k = 1 are not, as in `bayes_ci`.

    Returns:
        (mu, sigma, lo, hi), in the unit of the rewards: the posterior mean and standard
        deviation of the maximum of k new samples, averaged over questions, and the limits mu -+
        z sigma.

    Examples:
        >>> [round(x, 6) for x in max_at_k_ci([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)]
        [0.839286, 0.097263, 0.648654, 1.0]
        >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
        >>> [round(x, 6) for x in max_at_k_ci(R, 2, w=[0.0, 0.5, 1.0])]
        [0.75, 0.08812, 0.577288, 0.922712]
    """
    k, confidence = check_k(k), check_confidence(confidence)
    rewards = read_outcome_rewards(R, w, R0)
    if rewards.categories is None:
        check_k(k, rewards.n)
        return _real_reward_summary(rewards, k, confidence, check_bounds(bounds))
    if bounds is None and k > 1:
        bounds = float(rewards.levels[0]), float(rewards.levels[-1])
    moments, limits = max_moments(rewards, {"": k}), check_bounds(bounds)
    summary = summary_of_moments(moments, confidence, limits)
    if 1 < k <= rewards.n.min() and R0 is None:
        estimate = max_scores(rewards, {"": k}).means(rewards.multiplicity)[""]
        remedy = "use the metric max_at_k with interval='sampling'"
        warn_if_excluded(estimate, summary, limits, remedy)
    return summary


def _real_reward_summary(
    rewards: Rewards, k: int, confidence: float, bounds: tuple[float, float]
) -> Summary:
    """Return (mu, sigma, lo, hi) of Max@k with interval="auto". ValueError for a single reward."""
    limits = max(bounds[0], rewards.levels.min()), min(bounds[1], rewards.levels.max())
    _, method = max_limits(rewards, {"": k}, IntervalOptions(confidence, bounds=limits))
    interval = method.intervals(np.arange(len(rewards.inverse)), confidence)[""]
    if interval.is_unknown:
        raise ValueError("R is one real reward, which shows no variation: give another sample.")
    return interval[:4]


def read_outcome_rewards(
    R: OutcomesLike, w: Numbers | None, R0: OutcomesLike | None = None
) -> Rewards:
    """Return the rewards of outcomes: real ones, or those that `w` gives to their categories."""
    outcomes, rewards = read_outcomes(R), check_rewards(w)
    if are_real_rewards(outcomes, w, R0):
        return real_rewards(outcomes)
    prior = check_prior_outcomes(R0, len(outcomes.sizes), len(rewards))
    return category_rewards(outcomes, rewards, prior)
