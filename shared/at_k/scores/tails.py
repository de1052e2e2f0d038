"""TailPass@k: the probability that the mean reward of k samples reaches a threshold.

It is G-Pass@k_tau for rewards from 0 to 1, without the requirement of at least one correct sample
at tau = 0. The unbiased estimate is the share of subsets of k of the n samples whose mean reaches
the threshold. In a random subset, the numbers of samples at each reward are distributed like
independent binomial numbers with the probability k/n, given that they sum to k. So the levels are
added one by one to the joint distribution of the size of the subset and the sum of its rewards,
which are integers over a common denominator. There are U distinct questions and L levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..core.expected import relative_to_mode
from ..core.rewards import Rewards
from ..core.score import ScoreId, Scores, one_column_each
from .rewards import counts_by_level

_LARGEST_DENOMINATOR = 1000
_CELLS_OF_SUMS = 1 << 22  # the largest number of probabilities at once, to bound memory


def with_common_denominator(levels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return (integers, D) with levels = integers / D and least D; ValueError if D > 1000."""
    for denominator in range(1, _LARGEST_DENOMINATOR + 1):
        integers = np.rint(levels * denominator)
        if (np.abs(levels * denominator - integers) <= 1e-9 * denominator).all():
            return integers.astype(np.int64), denominator
    raise ValueError(
        f"TailPass@k needs rewards that are multiples of 1/D for some D up to "
        f"{_LARGEST_DENOMINATOR}: round them, for example to two decimals."
    )


def tail_scores(
    rewards: Rewards, included: Iterable[ScoreId], ks: Sequence[int], thresholds: Sequence[float]
) -> Scores:
    """Return unbiased estimates of TailPass@k for each included pair of a k <= n and a threshold.

    An id of `included` without k stands for all `ks`, and one without tau for all `thresholds`.
    """
    pairs = [
        (k, tau)
        for score in included
        if score.metric == "TailPass@k"
        for k in ks
        if score.k in (None, k)
        for tau in (thresholds if score.tau is None else [score.tau])
    ]
    ks_and_taus = list(dict.fromkeys(pairs))
    keys = one_column_each([ScoreId("TailPass@k", *pair) for pair in ks_and_taus])
    return Scores(keys, rewards.inverse, tails_of_subsets(rewards, ks_and_taus))


def tails_of_subsets(rewards: Rewards, ks_and_taus: Sequence[tuple[int, float]]) -> np.ndarray:
    """Return unbiased estimates of TailPass@k for m pairs of a k <= n and a threshold, (U, m).

    A sum within 1e-9 of tau k reaches it: in floating point, 0.3 + 0.3 is below 0.2 x 3. Raises
    ValueError if a reward is not from 0 to 1, or not a multiple of some 1/D.
    """
    levels, counts = counts_by_level(rewards)
    if levels[0] < 0 or levels[-1] > 1:
        raise ValueError(
            f"TailPass@k needs rewards from 0 to 1, and they are from {levels[0]:g} to "
            f"{levels[-1]:g}: rescale them."
        )
    integers, denominator = with_common_denominator(levels)
    n, result = counts.sum(axis=1), np.zeros((len(counts), len(ks_and_taus)))
    for k in {k for k, _ in ks_and_taus}:
        columns = [(column, tau) for column, (j, tau) in enumerate(ks_and_taus) if j == k]
        cells = (k + 1) * (k * int(integers[-1]) + 1)
        block_size = max(1, _CELLS_OF_SUMS // cells)
        for samples in np.unique(n).tolist():
            rows = np.flatnonzero(n == samples)
            for start in range(0, len(rows), block_size):
                block_rows = rows[start : start + block_size]
                pmf_of_sum = _sums_of_subsets(counts[block_rows], integers, samples, k)
                # Column s has the probability of a sum of at least s / D; the last one is 0.
                tails = np.cumsum(pmf_of_sum[:, ::-1], axis=1)[:, ::-1]
                tails = np.column_stack([tails / tails[:, :1], np.zeros(len(block_rows))])
                for column, tau in columns:
                    least = math.ceil((tau * k - 1e-9) * denominator)
                    result[block_rows, column] = tails[:, min(least, tails.shape[1] - 1)]
    return result


def _sums_of_subsets(counts: np.ndarray, integers: np.ndarray, n: int, k: int) -> np.ndarray:
    """Return the pmf of the sum of k of n samples, up to a factor for each row, (U, largest + 1).

    `counts`, (U, L), are the numbers of samples at each level, and `integers`, (L,), the levels.
    """
    most = k * int(integers[-1])
    # Axis 1 is the number of samples in the subset so far, and axis 2 the sum of their rewards.
    joint = np.zeros((len(counts), k + 1, most + 1))
    joint[:, 0, 0] = 1.0
    for count, step in zip(counts.T, integers.tolist(), strict=True):
        rows = np.flatnonzero(count)
        distinct, index = np.unique(count[rows], return_inverse=True)
        # P(i of these samples are in the subset), each with the probability k / n, up to a factor.
        i, distinct = np.arange(k), distinct[:, None]
        gain, mode = np.maximum(distinct - i, 0) * k, np.minimum(distinct * k // n, k)
        table = relative_to_mode(gain, (i + 1) * (n - k), mode)
        weights, before = table[index, :, None, None], joint[rows]
        after = weights[:, 0] * before
        for number in range(1, min(k, int(count.max(initial=0))) + 1):
            after[:, number:, number * step :] += (
                weights[:, number] * before[:, : k + 1 - number, : most + 1 - number * step]
            )
        joint[rows] = after
    return joint[:, k]
