"""The samples of questions by the level of their reward."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.rewards import RankedRewards, Rewards


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
