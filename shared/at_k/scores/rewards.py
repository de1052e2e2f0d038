"""Posterior moments of Max@k, the expected maximum reward of k new samples.

With the uniform Dirichlet prior of `core.rewards`, the share A_l of rewards of at most r_l has a
Beta distribution, and A_l is A_m times an independent share for l <= m. All k samples are at most
r_l with the probability A_l^k, which is pass^k of samples that count as correct if they are at most
r_l. So, with the mean Q_l and the variance V_l of A_l^k,

    Cov[A_l^k, A_m^k] = E[A_l^k] / E[A_m^k] Var[A_m^k] = Q_l V_m / Q_m  for l <= m.

There are M questions, U distinct rows of rewards, S samples, and L levels, the distinct rewards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..core.credits import all_correct
from ..core.rewards import RankedRewards, Rewards, moments_by_key
from ..core.score import Moments, ScoreKey
from .covariances import credit_covariances
from .distributions import posterior_means


def max_moments(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Moments:
    """Return posterior means and variances of Max@k for each key."""
    return moments_by_key(rewards, {key: posterior_max(rewards, k) for key, k in ks.items()})


def posterior_max(rewards: Rewards, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior mean and variance of the expected maximum of k samples, both (U,)."""
    if k == 1:
        return rewards.posterior()
    counts = rewards.posterior_counts()
    categories, credit = np.array(rewards.categories), all_correct(k)
    samples = counts - categories
    mean_cdf, cov_factor = np.ones(counts.shape), np.zeros(counts.shape)
    for level, at_most in enumerate(categories[:-1].tolist()):
        # A sample counts as correct if its reward is at most this level.
        n, c, prior = samples[:, -1], samples[:, level], (at_most, int(categories[-1]) - at_most)
        mean_cdf[:, level] = posterior_means(n, c, [credit], prior)[:, 0]
        variance = credit_covariances(n, c, [(credit, credit)], prior)[:, 0]
        cov_factor[:, level] = variance / np.maximum(mean_cdf[:, level], 1e-300)
    mean = rewards.levels[-1] - (mean_cdf[:, :-1] * np.diff(rewards.levels)).sum(axis=1)
    return mean, rewards.posterior_variance_of_expected_max(mean_cdf, cov_factor)


# --- Samples by the level of their reward --------------------------------------------------


def rewards_at(rewards: Rewards, rows: np.ndarray) -> Rewards:
    """Return the rewards of some of the U rows, each as one question."""
    index = np.arange(len(rows))
    if isinstance(rewards, RankedRewards):
        sizes = rewards.sizes
        ends, sizes = np.cumsum(sizes)[rows], sizes[rows]
        samples = np.arange(sizes.sum()) + np.repeat(ends - np.cumsum(sizes), sizes)
        return RankedRewards(index, rewards.levels[samples], rewards.at_most[samples])
    prior = rewards.prior if isinstance(rewards.prior, int) else rewards.prior[rows]
    return replace(rewards, inverse=index, at_most=rewards.at_most[rows], prior=prior)


def counts_by_level(rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rewards, (L,), ascending, and the number of samples with each, (U, L)."""
    if isinstance(rewards, RankedRewards):
        levels, index = np.unique(rewards.levels, return_inverse=True)
        return levels, counts_at(rewards, index)
    return rewards.levels, np.diff(rewards.at_most, axis=1, prepend=0)


def counts_at(rewards: RankedRewards, level: np.ndarray) -> np.ndarray:
    """Return the number of samples of each question at each of L levels, (M, L).

    `level`, (S,), is the index of the level of each sample. Ranked rewards have a row of their own
    for each question.
    """
    size = int(level.max()) + 1
    cell = np.repeat(rewards.inverse * size, rewards.sizes) + level
    return np.bincount(cell, minlength=len(rewards.inverse) * size).reshape(-1, size)
