"""TailPass@k together with the method of its intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..scores.rewards import Rewards
from ..scores.score import ScoreKey, Scores
from ..scores.tail_family import TailFamily, tail_moments_of_posterior
from ..scores.tails import Tail, tail_scores
from .choice import choose_interval
from .interval import IntervalMethod
from .posterior import PosteriorIntervals


def tail_intervals(
    rewards: Rewards, tails: Mapping[ScoreKey, Tail], interval: str, clusters: np.ndarray | None
) -> tuple[Scores, IntervalMethod]:
    """TailPass@k for each key, k <= n, and the method of its intervals."""
    scores = tail_scores(rewards, tails)
    if interval == "hierarchical":
        raise ValueError(
            "TailPass@k has no interval='hierarchical': pass another, or leave TailPass@k out."
        )
    if interval == "posterior":
        return scores, PosteriorIntervals(tail_moments_of_posterior(rewards, tails), (0.0, 1.0))
    return scores, choose_interval(TailFamily(rewards, tails), interval, clusters)
