"""Posterior moments of Max@k, the expected maximum reward of k new samples.

Let A_l be the probability that a reward is at most r_l. With the uniform Dirichlet prior it has a
Beta distribution, and A_l is A_m times an independent factor for l <= m. All k rewards are at most
r_l with the probability A_l^k: pass^k, if samples with rewards of at most r_l count as correct. So

    Cov[A_l^k, A_m^k] = E[A_l^k] / E[A_m^k] Var[A_m^k]  for l <= m.

M questions with S samples have U distinct rows of counts of L levels, the distinct rewards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..core.credits import all_correct
from ..core.rewards import RankedRewards, Rewards, moments_by_key
from ..core.score import Moments, ScoreKey
from .distributions import credit_covariances, posterior_means


def max_moments(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Moments:
    """Return the posterior mean and variance of Max@k for each key; `ks` has the k of each key."""
    return moments_by_key(rewards, {key: posterior_max(rewards, k) for key, k in ks.items()})


def posterior_max(rewards: Rewards, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior mean and variance of the expected maximum of k samples, both (U,)."""
    if k == 1:
        return rewards.posterior()
    counts = rewards.posterior_counts()
    categories, credit = np.array(rewards.categories), all_correct(k)
    samples = counts - categories  # observed and prior outcomes, without the uniform prior
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
    """Return the rewards of the rows with these indices. Each becomes a row and a question."""
    inverse = np.arange(len(rows))
    if isinstance(rewards, RankedRewards):
        sizes = rewards.sizes
        ends, sizes = np.cumsum(sizes)[rows], sizes[rows]
        # The indices of the samples of each row, one row after the other.
        samples = np.arange(sizes.sum()) + np.repeat(ends - np.cumsum(sizes), sizes)
        return RankedRewards(inverse, rewards.levels[samples], rewards.at_most[samples])
    prior = rewards.prior if isinstance(rewards.prior, int) else rewards.prior[rows]
    return replace(rewards, inverse=inverse, at_most=rewards.at_most[rows], prior=prior)


def counts_by_level(rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rewards, (L,), ascending, and the number of samples with each, (U, L)."""
    if isinstance(rewards, RankedRewards):
        levels, index = np.unique(rewards.levels, return_inverse=True)
        return levels, counts_at(rewards, index)
    return rewards.levels, np.diff(rewards.at_most, axis=1, prepend=0)


def counts_at(rewards: RankedRewards, level: np.ndarray) -> np.ndarray:
    """Return the number of samples of each question at each of L levels, (M, L).

    `level`, (S,), is the index of the level of each sample. L is the largest index plus 1.
    """
    levels = int(level.max()) + 1
    # The index of each sample's cell in the flattened result.
    cell = np.repeat(rewards.inverse * levels, rewards.sizes) + level
    return np.bincount(cell, minlength=len(rewards.inverse) * levels).reshape(-1, levels)
