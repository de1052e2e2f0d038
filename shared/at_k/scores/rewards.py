"""Posterior moments of Max@k, the expected maximum reward of k new samples.

With the uniform Dirichlet prior of `core.rewards`, a_l of t outcomes are at most r_l, and so is a
share A_l of all rewards. With rise(x, k) = x (x+1) .. (x+k-1),

    E[A_l^k] = rise(a_l, k) / rise(t, k) = Q_l,
    Cov[A_l^k, A_m^k] = Q_l (Q'_m - Q_m)  for l <= m,  Q'_m = rise(a_m + k, k) / rise(t + k, k).

Q'_m is Q_m after k more outcomes of at most r_m. The covariance follows because A_l is A_m times
an independent share, so E[A_l^k A_m^k] = E[A_m^2k] E[A_l^k] / E[A_m^k].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..core.expected import blocks_of_rows
from ..core.rewards import RankedRewards, Rewards, moments_by_key
from ..core.score import Moments, ScoreKey
from .double_double import DoubleDouble, factorial_powers


def max_moments(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Moments:
    """Posterior means and variances of Max@k, one key for each k."""
    return moments_by_key(rewards, {key: posterior_max(rewards, k) for key, k in ks.items()})


def posterior_max(rewards: Rewards, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(U,) posterior mean and variance of the expected maximum of k new samples."""
    if k == 1:
        return rewards.posterior()
    a = rewards.posterior_counts()
    q, increase = np.empty(a.shape), np.empty(a.shape)
    mean, levels = np.empty(len(a)), DoubleDouble.from_doubles(rewards.levels)
    for rows in blocks_of_rows(np.arange(len(a)), 2 * a.shape[1] * k):
        rising = factorial_powers(np.stack([a[rows], a[rows] + k]), k, 1)[..., k]
        quotients = (rising * rising[..., -1:].inverse()).to_double_double()
        below, after = quotients[0], quotients[1]
        none = DoubleDouble.from_doubles(np.zeros((len(rows), 1)))
        share = below - DoubleDouble.concatenate([none, below[:, :-1]])
        mean[rows], q[rows] = (levels * share).sum().hi, below.hi
        increase[rows] = np.maximum((after - below).hi, 0.0)
    return mean, rewards.posterior_variance_of_expected_max(q, increase)


# --- Samples by the level of their reward --------------------------------------------------


def rewards_at(rewards: Rewards, rows: np.ndarray) -> Rewards:
    """The rewards of some of the U rows, each as one question."""
    index = np.arange(len(rows))
    if isinstance(rewards, RankedRewards):
        sizes = rewards.sizes
        ends, sizes = np.cumsum(sizes)[rows], sizes[rows]
        samples = np.arange(sizes.sum()) + np.repeat(ends - np.cumsum(sizes), sizes)
        return RankedRewards(index, rewards.levels[samples], rewards.at_most[samples])
    prior = rewards.prior if isinstance(rewards.prior, int) else rewards.prior[rows]
    return replace(rewards, inverse=index, at_most=rewards.at_most[rows], prior=prior)


def counts_by_level(rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """(L,) rewards, ascending, and (U, L) number of samples with each."""
    if isinstance(rewards, RankedRewards):
        levels, index = np.unique(rewards.levels, return_inverse=True)
        return levels, counts_at(rewards, index)
    return rewards.levels, np.diff(rewards.at_most, axis=1, prepend=0)


def counts_at(rewards: RankedRewards, level: np.ndarray) -> np.ndarray:
    """(M, L) samples of each question at each of L levels, from the (S,) level of each."""
    size = int(level.max()) + 1
    cell = np.repeat(rewards.inverse * size, rewards.sizes) + level
    return np.bincount(cell, minlength=len(rewards.inverse) * size).reshape(-1, size)
