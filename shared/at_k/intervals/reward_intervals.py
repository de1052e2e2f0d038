"""Which interval a metric of rewards gives: by its name, or the one that is recommended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..scores.rewards import Rewards, best_posterior
from .interval import Blend, Scores, Spread
from .recommended import Recommended
from .reward_hierarchy import RewardHierarchy
from .reward_sampling import RewardSampling

REWARD_INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def best_drawn(
    rewards: Rewards,
    draws: Mapping[str, int],
    interval: str,
    limits: tuple[float, float],
    clusters: np.ndarray | None,
) -> tuple[Scores, Spread]:
    """The best of each number of draws, and how sure it is.

    Of more draws than a question has samples, the score is that of the laws that are learned.
    """
    far = RewardHierarchy(rewards, _beyond(rewards, draws), limits)
    columns = [far.means[key] if key in far.means else rewards.best(k) for key, k in draws.items()]
    keys = {key: Blend((column,)) for column, key in enumerate(draws)}
    scores = Scores(keys, rewards.kind, np.stack(columns, axis=1))
    if interval == "posterior":
        return scores, best_posterior(rewards, draws, limits)
    return scores, sampled_rewards(rewards, draws, interval, limits, clusters)


def sampled_rewards(
    rewards: Rewards,
    draws: Mapping[str, int],
    interval: str,
    limits: tuple[float, float],
    clusters: np.ndarray | None,
) -> Spread:
    """How sure the mean of the best of each number of draws is: by what was asked for."""
    if interval == "hierarchical":
        return RewardHierarchy(rewards, draws, limits)
    far = _beyond(rewards, draws)
    near = {key: k for key, k in draws.items() if key not in far}
    sampling = RewardSampling(rewards, near, limits)
    new = RewardSampling(rewards, near, limits, True, clusters)
    if interval != "auto":
        return sampling if interval == "sampling" else new
    return Recommended(rewards.n, sampling, RewardHierarchy(rewards, far, limits), new)


def _beyond(rewards: Rewards, draws: Mapping[str, int]) -> dict[str, int]:
    return {key: k for key, k in draws.items() if k > rewards.n.min()}
