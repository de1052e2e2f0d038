"""Max@k together with the method of its intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..scores.family import with_extrapolated
from ..scores.reward_family import RewardFamily
from ..scores.rewards import Rewards, max_moments, max_scores
from ..scores.score import ScoreKey, Scores
from .choice import choose_interval
from .interval import IntervalMethod
from .posterior import PosteriorIntervals


def reward_intervals(
    rewards: Rewards,
    ks: Mapping[ScoreKey, int],
    interval: str,
    bounds: tuple[float, float],
    clusters: np.ndarray | None,
) -> tuple[Scores, IntervalMethod]:
    """Max@k for each key, and the method of its intervals.

    A score with k > n is a posterior mean under the prior estimated from the data. No limit is
    outside the range of the rewards, or outside the bounds.
    """
    bounds = tuple(np.clip([rewards.levels.min(), rewards.levels.max()], *bounds).tolist())
    if interval == "posterior":
        return max_scores(rewards, ks), PosteriorIntervals(max_moments(rewards, ks), bounds)
    observed = {key: k for key, k in ks.items() if k <= rewards.n.min()}
    beyond = {key: k for key, k in ks.items() if key not in observed}
    extrapolated = ks if interval == "hierarchical" else beyond
    family = RewardFamily(rewards, observed, extrapolated, bounds)
    found = with_extrapolated(max_scores(rewards, observed), family, ks)
    return found, choose_interval(family, interval, clusters)
