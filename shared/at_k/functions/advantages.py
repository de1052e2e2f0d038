"""Advantages: the weights of samples in the policy gradient of a score of k samples.

With f the score of a subset S of k of the n samples of a prompt, the gradient of E[f] is the
expected value of the sum over samples of s_i grad log pi_i, where s_i is C(n, k)^-1 times the sum
of f(S) over the S that contain i. A baseline that does not depend on sample i reduces the variance
(Walder & Karkhanis 2025, arXiv:2505.15201). All means over subsets have closed forms. There are M
prompts; G have the same n, and among these there are U distinct numbers c of correct samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.checks import as_list, check_k, check_name, check_number, is_list_like, short
from ..core.credits import PASS_FAMILY, Credits, ScoreOptions, check_tau, threshold
from ..core.expected import blocks_of_rows, chance_of_rank
from ..scores.distributions import pmf
from .reward_groups import read_rewards, weights_like
from .sample_tables import outcomes_in_run

_BASELINES = ("marginal", "none", "leave-one-out", "centered")
_BELOW_N = ("leave-one-out", "centered")  # These need k < n.
_CACHED_CELLS = 1 << 16  # Larger tables are not cached, to bound memory.
_MAXIMUM = "max@k"


def advantages(
    rewards: Any,
    k: int | Mapping[int, float],
    score: Any = "pass@k",
    baseline: str = "marginal",
    groups: Any = None,
    group_size: int | None = None,
    normalize: str | None = None,
) -> Any:
    """Return the weight of each sample in the policy gradient of pass@k, max@k or another score.

    n is the number of scored samples of a prompt, f the score of k samples, and log_probs has the
    log-probability of each sample of M prompts. Each baseline is for one loss, whose step then
    follows an unbiased estimate of the gradient of the score:

    - "marginal", "none", "leave-one-out": -(weights * log_probs).sum() / M, in which the weights
      are used as they are.
    - "centered": -((weights - mean) * log_probs).sum() / M, where the mean is over the samples of
      the prompt. The weights are not centered: the trainer subtracts the mean, as GRPO does.

    A trainer that divides the sum by all samples (or tokens) instead of M divides the gradient by
    n (or by the number of tokens), which is a factor of the learning rate where n is constant.

    Args:
        rewards: of shape (M, n), an array of NumPy or JAX, a tensor of torch on any device, or a
            list of lists or arrays, which may differ in length; a run that `at_k.read` returns; or
            flat, with `groups` or `group_size`. Samples whose reward is None or NaN are not scored:
            their weight is 0, or for "centered" the mean of the prompt's scored samples, which the
            trainer turns into 0.
        k: number of samples that the score is of, at most the n of each prompt; or a dict of
            weights, {1: 0.5, 8: 0.5}, for a weighted sum of scores.
        score: "pass@k", "pass^k", "maj@k", "AUC@k", "mG-Pass@k", "G-Pass@k_0.5" with any
            threshold, or a list of k credits of at least 0: the r-th correct sample adds the r-th
            credit. The rewards are then 0 or 1. Or "max@k", of real rewards.
        baseline: what is subtracted from s_i, see Notes: "marginal", "none" or "leave-one-out"; or
            "centered", which leaves the subtraction to a trainer that subtracts the mean of each
            prompt. The last two need k < n. Without such a trainer "centered" has the wrong scale
            and no baseline: give "marginal" there.
        groups: for flat rewards, the id of each sample's prompt, in any order.
        group_size: for flat rewards, the number of samples of each prompt, if they follow each
            other.
        normalize: None, or "std" for the standardized advantages of Chen et al. 2025
            (arXiv:2508.10751). They have a baseline of their own, so `baseline` has no effect.

    Returns:
        The weights, in the shape, type, dtype and device of the rewards, without gradient. Lists
        become lists of floats. Samples with equal rewards have equal weights.

    Raises:
        ValueError: if k is above the n of a prompt, or a reward is invalid; the prompt is named.
        TypeError: if rewards is an array of integers or bools, which cannot hold the weights.

    Notes:
        Equations are those of Walder & Karkhanis 2025 (arXiv:2505.15201). Sums are over the subsets
        S of k samples that contain i, c samples are correct, and w_r are the credits.

        - "none": s_i, the sum of f(S) / C(n, k). For pass@k it is k/n if sample i is correct, else
          k/n times pass@(k - 1) of the other samples (Theorem 2). For max@k see Bagirov et al.
          2025, arXiv:2510.23393.
        - "marginal": the sum of [f(S) - f(S without i)] / C(n, k) (eq. 33). A correct sample has
          k/n times the expected credit of one more correct sample beside k - 1 others, for pass@k
          C(n - c, k - 1) / C(n, k); an incorrect one has 0. f of no samples is 0. With k = n and
          max@k, only the best sample has a weight, its distance to the second.
        - "leave-one-out": s_i - k/(n - 1) times the score of the other samples (eq. 29).
        - "centered": s_i n / (n - k), whose mean the trainer has to subtract, over all samples of
          the prompt or over the scored ones. Without this subtraction the gradient is n / (n - k)
          times too large, and its variance is that of "none".
        - normalize="std": the mean of f over the S that contain i, minus its mean over all S,
          divided by its standard deviation over all S; 0 if this is 0.

        In a trainer that subtracts the mean, use "centered". The mean of s_i ("none") depends on
        sample i: after its subtraction, the gradient is (1 - k/n) times that of the score, and 0
        for k = n. "marginal" minus its mean follows another objective, 1 - k/n times the score of
        k samples plus k/n times that of k - 1.

        Such trainers may also divide by the standard deviation of the weights. All binary scores
        then have the same weights: switch it off (in TRL, scale_rewards="none").

        The sum over k = 1 .. n of the marginal weights of pass@k divided by k is 1/c for each
        correct sample, which is MaxRL: k={j: 1 / j for j in range(1, n + 1)}.

    Examples:
        >>> from at_k import advantages
        >>> advantages([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, None, 0.0]], k=2)
        [[0.5, 0.0, 0.0, 0.0], [0.3333333333333333, 0.3333333333333333, 0.0, 0.0]]
        >>> advantages([0.2, 0.9, 0.5, 0.1], k=2, score="max@k", group_size=2)
        [0.0, 0.7, 0.4, 0.0]
    """
    k_weights = _weight_of_each_k(k)
    credits = {size: _credits_of_score(score, size) for size in k_weights}
    check_name("baseline", baseline, _BASELINES)
    if normalize is not None:
        check_name("normalize", normalize, ("std",))
    rewards = outcomes_in_run(rewards, "rewards")
    samples = read_rewards(rewards, groups, group_size)
    is_maximum = None in credits.values()
    if not is_maximum:
        samples.require(
            (samples.values == 0) | (samples.values == 1),
            f"for the score {short(score)}, a reward is 0 or 1 (score='max@k' takes real rewards)",
        )

    def weigh(rows: np.ndarray, prompt: str) -> np.ndarray:
        """Return the weights of (G, n) rewards; messages call the first of G prompts `prompt`."""
        needs_k_below_n = baseline in _BELOW_N and normalize is None
        _check_size(max(k_weights), rows.shape[1], prompt, baseline if needs_k_below_n else None)
        prompts = _RealPrompts(rows) if is_maximum else _BinaryPrompts(rows)
        first, *others = (  # weights by outcome or by rank for each k
            weight * _weights_at_k(prompts, size, credits[size], baseline, normalize is not None)
            for size, weight in k_weights.items()
        )
        return prompts.in_order_of_rewards(sum(others, first))

    unscored = "mean" if baseline == "centered" and not normalize else "zero"
    return weights_like(rewards, samples.weights_of_samples(weigh, unscored))


# --- Parameters ---------------------------------------------------------------------------


def _weight_of_each_k(k) -> dict[int, float]:
    """Return the weight of each k, {k: weight}. Raises ValueError if a k or a weight is invalid."""
    if is_list_like(k):
        raise ValueError(
            f"k is {short(k)}: give one k, or a dict of weights such as {{1: 0.5, 8: 0.5}}."
        )
    if not isinstance(k, Mapping):
        return {check_k(k): 1.0}
    if not k:
        raise ValueError("k is an empty dict: give at least one k with its weight.")
    wanted = "a weight is a number from -1e100 to 1e100"
    return {
        check_k(size): check_number(f"k[{size}]", weight, wanted, -1e100, 1e100)
        for size, weight in k.items()
    }


def _credits_of_score(score, k: int) -> Credits | None:
    """Return the k credits of a score, or None for max@k. Raises ValueError if it is invalid."""
    if not isinstance(score, str):
        wanted = "a credit is a number from 0 to 1e100"
        credits = as_list("score", score)
        if len(credits) != k:
            raise ValueError(f"score has {len(credits)} credits but k is {k}: give k credits.")
        return tuple(
            check_number(f"score[{r}]", credit, wanted, 0, 1e100)
            for r, credit in enumerate(credits)
        )
    if score == _MAXIMUM:
        return None
    if score.startswith("G-Pass@k"):
        try:
            tau = float(score.removeprefix("G-Pass@k_"))
        except ValueError:
            wanted = "add the threshold, as in 'G-Pass@k_0.5'"
            raise ValueError(f"score is {short(score)}: {wanted}.") from None
        return threshold(k, check_tau(tau))
    check_name("score", score, [_MAXIMUM, "G-Pass@k_0.5", *PASS_FAMILY])
    terms = PASS_FAMILY[score](k, 0.0, ScoreOptions()).terms
    if len(terms) > 1:
        raise ValueError(
            f"score is {score!r}, a product of expected values, whose gradient is no mean over "
            f"subsets of k samples: train on its factors, such as 'pass@k' and 'pass^k'."
        )
    return terms[0]


def _check_size(k: int, n: int, prompt: str, below_n: str | None) -> None:
    """Raise a ValueError if k exceeds n, or is n for `below_n`, a baseline that needs k < n."""
    if k > n:
        raise ValueError(
            f"k is {k}, but {prompt} has n = {n} scored samples: give a k of at most n, or leave "
            f"the prompt out."
        )
    if k == n and below_n:
        raise ValueError(
            f"k is {k}, and {prompt} has n = {n} scored samples: baseline={below_n!r} needs k < n."
        )


# --- Means over subsets -------------------------------------------------------------------


def _weights_at_k(
    prompts: _BinaryPrompts | _RealPrompts, k: int, credits: Any, baseline: str, standardize: bool
) -> np.ndarray:
    """Return the weights of the samples at one k, with the shape of `prompts.included`."""
    n = prompts.n
    if standardize:
        return prompts.standardized(k, credits)
    if baseline == "marginal":
        return k / n * prompts.marginal(k, credits)
    weights = k / n * prompts.included(k, credits)
    if baseline == "leave-one-out":
        # A share k/n of all subsets contain sample i, and a share 1 - k/n do not. So `overall` is
        # `weights` + (1 - k/n) `others`, where `others` are means over subsets without sample i.
        others = n / (n - k) * (prompts.overall(k, credits)[:, None] - weights)
        return weights - k / (n - 1) * others
    # For "centered", the trainer subtracts the mean.
    return n / (n - k) * weights if baseline == "centered" else weights


class _BinaryPrompts:
    """The binary rewards of prompts, (G, n), and means of a score f over subsets of k samples.

    If j samples of a subset are correct, f is the sum of the first j credits. Means for a sample i
    are (U, 2): a row for each distinct c, and columns for an incorrect and for a correct sample i.
    """

    def __init__(self, rewards: np.ndarray):
        self._rewards, self.n = rewards, rewards.shape[1]
        self._c_of_row = (rewards @ np.ones(self.n)).astype(np.int64)  # faster than a sum of rows
        self._c = np.flatnonzero(np.bincount(self._c_of_row))  # faster than np.unique

    def overall(self, k: int, credits: Credits) -> np.ndarray:
        """Return the mean score of all subsets of k samples, (U,), for each distinct c."""
        return _expected(self.n, self._c, np.cumsum([0.0, *credits]))

    def included(self, k: int, credits: Credits) -> np.ndarray:
        """Return the mean score of the subsets that contain sample i, (U, 2)."""
        n, c, values = self.n, self._c, np.cumsum([0.0, *credits])
        incorrect, correct = _expected(n - 1, c, values[:-1]), _expected(n - 1, c - 1, values[1:])
        return np.stack([incorrect, correct], axis=1)

    def marginal(self, k: int, credits: Credits) -> np.ndarray:
        """Return by how much sample i raises the score of k - 1 others, (U, 2); 0 if incorrect."""
        return _expected(self.n - 1, self._c - 1, np.array(credits))[:, None] * [0.0, 1.0]

    def standardized(self, k: int, credits: Credits) -> np.ndarray:
        """Return (`included` - `overall`) / SD of the scores of all subsets; 0 if the SD is 0."""
        n, c, values = self.n, self._c, np.cumsum([0.0, *credits])
        if k == n:
            return np.zeros((len(c), 2))
        # Replace an incorrect sample by a correct one: the mean changes by a credit, beside k - 1
        # of the n - 2 others. Thus no difference of nearly equal means is taken.
        step = (1 - k / n) / (n - 1) * _expected(n - 2, c - 1, np.array(credits))
        std = _std(np.broadcast_to(values, (len(c), k + 1)), _pmf(n, c, k))
        step = np.divide(step, std, out=np.zeros(len(c)), where=std > 0)
        return np.stack([-c * step, (n - c) * step], axis=1)

    def in_order_of_rewards(self, weights: np.ndarray) -> np.ndarray:
        """Return the (G, n) weights of all samples from `weights`, (U, 2), by c and by reward."""
        table = np.zeros((self.n + 1, 2))
        table[self._c] = weights
        result = self._rewards * table[self._c_of_row, 1:]
        if np.any(weights[:, 0]):
            result += (1 - self._rewards) * table[self._c_of_row, :1]
        return result


class _RealPrompts:
    """The real rewards of prompts, and means of the maximum over subsets of k.

    The means have the shape (G, n), by the rank of the sample i. r_1 <= .. <= r_n are the sorted
    rewards. The means are sums over gaps r_(j+1) - r_j, so samples with equal rewards have equal
    means. The share of the subsets of k - 1 other samples that are all among j - 1 of the lowest
    ranks is n/k times the `chance_of_rank` j. The credits are not used.
    """

    def __init__(self, rewards: np.ndarray):
        self.n = n = rewards.shape[1]
        # Indices into the flat array of rewards, which are faster than those along an axis.
        self._order = np.argsort(rewards, axis=1) + n * np.arange(len(rewards))[:, None]
        self._ranked = rewards.take(self._order)

    def overall(self, k: int, credits: None) -> np.ndarray:
        """Return the mean of the maximum over all subsets of k samples, for each prompt, (G,)."""
        return self._ranked @ chance_of_rank(self.n, k)

    def included(self, k: int, credits: None) -> np.ndarray:
        """Return the mean of the maximum over the subsets that contain a sample, (G, n) by rank."""
        return self._included(self._ranked, k)

    def marginal(self, k: int, credits: None) -> np.ndarray:
        """Return by how much a sample raises the maximum of k - 1 others, on average, by rank."""
        if k == 1:
            return self._ranked
        # Sample i exceeds the maximum of k - 1 others by the gaps between that and r_i.
        means, flat = np.zeros(self._ranked.shape), self._ranked.reshape(-1)
        np.subtract(flat[1:], flat[:-1], out=means.reshape(-1)[1:])
        means *= self.n / k * chance_of_rank(self.n, k)
        means[:, 0] = 0.0
        return _running_sums(means)

    def standardized(self, k: int, credits: None) -> np.ndarray:
        """Return (`included` - `overall`) / SD of the maxima of all subsets; 0 if the SD is 0."""
        share = chance_of_rank(self.n, k)
        centered = self._ranked - self._ranked[:, [np.argmax(share)]]
        std = _std(centered, np.broadcast_to(share, centered.shape))[:, None]
        deviation = self._included(centered, k) - (centered @ share)[:, None]
        return np.divide(deviation, std, out=np.zeros(deviation.shape), where=std > 0)

    def in_order_of_rewards(self, weights: np.ndarray) -> np.ndarray:
        """Return the (G, n) weights in the order of the rewards, from `weights` by rank."""
        result = np.empty(weights.shape)
        result.reshape(-1)[self._order] = weights
        return result

    def _included(self, ranked: np.ndarray, k: int) -> np.ndarray:
        """Return `included` for rewards `ranked`, (G, n): r_n minus the mean gap to the maximum."""
        if k == 1:
            return ranked
        # The maximum is below the gap from r_j to r_(j+1), j >= i, if the k - 1 others are among
        # the j - 1 other samples up to r_j. Column j is minus this gap, times that share.
        means, flat = np.zeros(ranked.shape), ranked.reshape(-1)
        np.subtract(flat[:-1], flat[1:], out=means.reshape(-1)[:-1])
        means *= self.n / k * chance_of_rank(self.n, k)
        means[:, -1] = ranked[:, -1]  # It held a difference between two prompts.
        return _running_sums(means[:, ::-1])[:, ::-1]


def _running_sums(rows: np.ndarray) -> np.ndarray:
    """Replace (G, n) numbers by their cumulative sums along each row, and return them."""
    for i in range(1, rows.shape[1]):  # For many short rows, np.cumsum takes four times as long.
        rows[:, i] += rows[:, i - 1]
    return rows


def _std(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the standard deviations of (G, m) values whose probabilities are `shares`, (G,)."""
    # Deviations from the most probable value lose no digits to cancellation.
    middle = np.argmax(shares, axis=1)[:, None]
    deviation = values - np.take_along_axis(values, middle, axis=1)
    variance = (shares * deviation**2).sum(axis=1) - (shares * deviation).sum(axis=1) ** 2
    return np.sqrt(np.maximum(variance, 0.0))


def _expected(n: int, c: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the mean of values[j] over subsets of k of n samples, for each of (U,) `c`: (U,).

    c of the n samples are correct, and j = 0 .. k of a subset. The mean is 0 unless 0 <= c <= n.
    """
    k, result = len(values) - 1, np.zeros(len(c))
    for rows in blocks_of_rows(np.flatnonzero((c >= 0) & (c <= n)), k):
        result[rows] = _pmf(n, c[rows], k) @ values
    return result


def _pmf(n: int, c: np.ndarray, k: int) -> np.ndarray:
    """Return the pmf of the number of correct samples among k of n, (U, k + 1), for (U,) c."""
    if (n + 1) * (k + 1) > _CACHED_CELLS:
        return pmf(np.full(len(c), n), c, k)
    return _pmf_table(n, k)[c]


@lru_cache(maxsize=64)
def _pmf_table(n: int, k: int) -> np.ndarray:
    """Return `_pmf` for c = 0 .. n, (n + 1, k + 1). It is cached for all steps of a training."""
    return pmf(np.full(n + 1, n), np.arange(n + 1), k)
