"""picked@k: the mean reward of the one of k samples that another score picks (best-of-n).

A reward model picks the sample with the highest score, and the checker says what it is worth. In
the order of the picking score, the i-th of n samples is picked from C(i-1, k-1) of the C(n, k)
subsets of k samples. Samples with equal scores share their weights, as a tie is broken at random.
The mean over subsets is unbiased; picking once, from the first k samples, has a larger variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.rewards import RankedRewards
from ..core.samples import Samples


@dataclass(frozen=True, kw_only=True)
class PickedRewards(RankedRewards):
    """Rewards in the order of a picking score: `levels` are means of samples with equal scores.

    Args:
        rewards: (S,) rewards in this order.
        tie: (S,) index of the samples with equal scores that each belongs to.
    """

    rewards: np.ndarray
    tie: np.ndarray

    @classmethod
    def of(cls, outcomes: Samples, rewards: np.ndarray, scores: np.ndarray) -> PickedRewards:
        """Sort the scored samples of each question by their picking scores.

        Args:
            outcomes: which samples of which question are scored.
            rewards: (S,) of all samples.
            scores: (S,) picking scores of all samples.
        """
        n, scored = outcomes.n, outcomes.is_scored
        question = np.repeat(np.arange(len(n)), n)
        rewards, scores = rewards[scored], scores[scored]
        order = np.lexsort((scores, question))
        rewards, scores = rewards[order], scores[order]
        is_new = (np.diff(question, prepend=-1) > 0) | (np.diff(scores, prepend=np.nan) != 0)
        tie = np.cumsum(is_new) - 1
        means = np.bincount(tie, rewards) / np.bincount(tie)
        rank = np.arange(1, len(rewards) + 1) - np.repeat(np.cumsum(n) - n, n)
        return cls(
            inverse=np.arange(len(n)), levels=means[tie], at_most=rank, rewards=rewards, tie=tie
        )

    def variances(self, k: int, largest: float) -> np.ndarray:
        """(M,) estimated variance of `max_of(k)` of each question for new samples.

        As for vote@k: the jackknife variance for k <= n/2, and an upper bound for larger k.

        Args:
            largest: the variance of a question with one sample, which shows none.
        """
        ends = np.cumsum(self.sizes)[:-1]
        pairs = zip(np.split(self.rewards, ends), np.split(self.tie, ends), strict=True)
        return np.array([_picked_variance(x, tie - tie[0], k, largest) for x, tie in pairs])


def _picked_variance(rewards: np.ndarray, tie: np.ndarray, k: int, largest: float) -> float:
    """The variance for (n,) rewards in the order of their scores, with ties numbered from 0."""
    n, size = len(rewards), np.bincount(tie)
    if n == 1:
        return largest
    mean = np.bincount(tie, rewards) / size
    if 2 * k > n:  # k/n of the variance with k new samples, which are drawn with replacement
        share = (np.diff((np.cumsum(size) / n) ** k, prepend=0.0) / size)[tie]
        deviations = (rewards - share @ rewards) ** 2
        return k / n * float(share @ deviations / (1 - share @ share))  # unbiased for these shares
    # Without a sample, those below it keep their ranks, and those above it lose one.
    rank = np.arange(n - 2, 0, -1)
    ratios = np.maximum(rank - k + 1, 0) / rank
    weight = k / (n - 1) * np.cumprod([1.0, *ratios])[::-1]  # of n - 1 samples
    below, above, weights = (
        np.concatenate([[0.0], np.cumsum(x)])
        for x in (mean[tie][:-1] * weight, (mean[tie][1:] * weight)[::-1], weight)
    )
    last = np.cumsum(size) - 1
    first = last + 1 - size
    rest = (size * mean)[tie] - rewards  # of the samples with the same score
    of_tie = ((weights[last] - weights[first]) / np.maximum(size - 1, 1))[tie] * rest
    without = below[first][tie] + above[::-1][last][tie] + of_tie
    return (n - 1) * float(without.var())
