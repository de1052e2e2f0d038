"""picked@k: the mean reward of the sample of k that another score picks (best-of-n).

A reward model picks the sample with the highest score, and a checker gives the reward of this
sample. In ascending order of the picking score, the i-th of n samples is picked from C(i-1, k-1) of
the C(n, k) subsets of k samples. Samples with equal scores share their weights, as a tie is broken
at random. The mean over subsets is unbiased; picking once, from the first k samples, has a larger
variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.rewards import RankedRewards, max_scores
from ..core.samples import Samples
from ..core.score import ScoreId, Scores
from .aligned import read_scores


def picked_scores(
    outcomes: Samples, w: np.ndarray | None, picked_by: Any, ks: Mapping[ScoreId, int]
) -> tuple[Scores, tuple[float, float]]:
    """Return picked@k of each question by its id, and (least, largest) reward of a scored sample.

    `w` has the reward of each category, or is None for real rewards. `picked_by` has the score of
    each sample, in lists like the predictions: the sample with the highest score is picked.
    """
    scores = read_scores(picked_by, "picked_by", outcomes)
    n, scored = outcomes.n, outcomes.is_scored
    question = np.repeat(np.arange(len(n)), n)
    rewards = outcomes.values if w is None else w[outcomes.values.astype(int)]
    rewards, scores = rewards[scored], scores[scored]
    least_and_most = float(rewards.min()), float(rewards.max())
    order = np.lexsort((scores, question))
    rewards, scores = rewards[order], scores[order]
    is_new = (np.diff(question, prepend=-1) > 0) | (np.diff(scores, prepend=np.nan) != 0)
    tie = np.cumsum(is_new) - 1  # Samples with equal scores share the mean of their rewards.
    means = np.bincount(tie, rewards) / np.bincount(tie)
    rank = np.arange(1, len(rewards) + 1) - np.repeat(np.cumsum(n) - n, n)
    # `max_scores` weighs a reward by its rank, which here is that of the score.
    ranked = RankedRewards(inverse=np.arange(len(n)), levels=means[tie], at_most=rank)
    return max_scores(ranked, ks), least_and_most
