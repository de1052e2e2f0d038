"""Intervals of mean rewards for new samples, or new questions: with no prior made up.

Each question has an unbiased score and, if new samples of these questions are meant, an unbiased
variance of it: of the square of a score, two disjoint sets of samples give an unbiased estimate V,
so U^2 - V has the mean Var[U]. If the questions are new too, the variance is that between them.

Scaled to [0, 1], the mean U of M scores then varies as the share of successes of m trials does
which has the same variance, U (1 - U) / m; and its interval is that share's (Wilson 1927). So it
keeps within the rewards without being cut, and is longer to the side that has more room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .interval import Interval, Spread, normal_reach, student_reach
from .rewards import Rewards


class RewardSampling(Spread):
    """Intervals of the means of scores that lie between two rewards.

    Args:
        scores: for each key (M,) scores of the questions.
        limits: the least and the greatest reward.
        variances: for each key (M,) unbiased variances of the scores, and (M,) how many
            independent samples each is of; or None where the questions are new.
        clusters: (M,) the source of each question, where questions are new and some share one.
    """

    def __init__(
        self,
        scores: Mapping[str, np.ndarray],
        limits: tuple[float, float],
        variances: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
        clusters: np.ndarray | None = None,
    ):
        self._scores, self._limits = scores, limits
        self._variances, self._clusters = variances, clusters

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the mean of each score over the questions `rows`.

        Raises:
            ValueError: if one question, or one source of questions, is to tell how they vary.
        """
        result = {}
        for key, scores in self._scores.items():
            score = scores[rows]
            if self._variances is None:
                clusters = rows if self._clusters is None else self._clusters[rows]
                variance, reach = between(score, clusters, confidence)
                trials = np.ones(len(rows))
            else:
                variances, samples = self._variances[key]
                variance = float(variances[rows].sum()) / len(rows) ** 2
                trials, reach = samples[rows], normal_reach(confidence)
            lo, hi = within(float(score.mean()), variance, trials, self._limits, reach)
            name = "questions" if self._variances is None else "sampling"
            sigma = math.sqrt(max(0.0, variance))
            result[key] = Interval(float(score.mean()), sigma, lo, hi, name)
        return result

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]:
        """That nothing is known: anything between the rewards."""
        least, most = self._limits
        return {
            key: Interval(float(scores[rows].mean()), (most - least) / 2, least, most, "none")
            for key, scores in self._scores.items()
        }


def between(score: np.ndarray, clusters: np.ndarray, confidence: float) -> tuple[float, float]:
    """The variance of a mean of new questions, and the quantile of Student's law for it.

    Questions of one source are taken together (Miller 2024, arXiv:2411.00640).
    """
    _, source = np.unique(clusters, return_inverse=True)
    sources = int(source.max()) + 1
    reach = student_reach(sources, confidence)
    rest = score - score.mean()
    squares = max(np.sum(np.bincount(source, rest) ** 2), np.sum(rest**2))
    variance = float(squares) * sources / (sources - 1) / len(score) ** 2
    return variance, reach


def within(
    mean: float,
    variance: float,
    trials: np.ndarray,
    limits: tuple[float, float],
    reach: float,
) -> tuple[float, float]:
    """Wilson's interval for the number of trials whose share of successes varies as the mean.

    Half an event is added to the variance that there is and to the greatest there could be: so
    where nothing varies, all trials count as the samples that they are.
    """
    least, most = map(float, limits)
    width = most - least
    if not width:
        return least, most
    u, each = min(1.0, max(0.0, (mean - least) / width)), float(np.mean(1 / trials))
    half = each**2 / 2 / len(trials)
    share = (len(trials) * variance / width**2 + half) / (each * u * (1 - u) + half)
    m = len(trials) / each / max(share, 1e-6)
    middle = (u + reach**2 / 2 / m) / (1 + reach**2 / m)
    arm = reach / (1 + reach**2 / m) * math.sqrt(u * (1 - u) / m + reach**2 / 4 / m**2)
    lo, hi = max(0.0, min(middle - arm, u)), min(1.0, max(middle + arm, u))
    return least + width * lo, least + width * hi


def best_variance(rewards: Rewards, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(U,) the unbiased variance of the best of k, and how many disjoint sets of k there are.

    Of sorted rewards y, with j < i, a set of k whose best is y_j and a disjoint one whose best is
    y_i are chosen in C(j-1, k-1) C(i-1-k, k-1) ways, of C(n, k) C(n-k, k) / 2.

    Raises:
        ValueError: where a question has less than 2k samples.
    """
    n = rewards.seen[:, -1]
    if 2 * k > n.min():
        question = int(np.argmin(rewards.n))
        raise ValueError(
            f"Question {question} has n = {n.min()} scored samples, and interval='sampling' needs "
            f"2k = {2 * k} of them: take interval='questions', or a smaller k."
        )
    variance = np.empty(len(n))
    for size in np.unique(n).tolist():
        rows = np.flatnonzero(n == size)
        y = _sorted_rewards(rewards, rows, size)
        low = y.min()
        y = y - low  # which changes no variance, and keeps its digits
        one = np.array([math.comb(i, k - 1) / math.comb(size, k) for i in range(size)])
        two = np.array(
            [math.comb(i - k, k - 1) / math.comb(size - k, k) if i >= k else 0 for i in range(size)]
        )
        lower = np.cumsum(y * one, axis=1) - y * one
        variance[rows] = (y @ one) ** 2 - 2 * (y * two * lower).sum(axis=1)
    return variance, n / k


def _sorted_rewards(rewards: Rewards, rows: np.ndarray, n: int) -> np.ndarray:
    """(len(rows), n) the rewards of questions of n samples, ascending."""
    counts = np.diff(rewards.seen[rows], axis=1, prepend=0)
    levels = np.broadcast_to(rewards.levels, (len(rewards.seen), rewards.seen.shape[1]))[rows]
    return np.repeat(levels.ravel(), counts.ravel()).reshape(len(rows), n)


class Recommended(Spread):
    """For these questions, where they tell how samples vary; if not, for new ones like them.

    Args:
        near: of the scores that have variances of their own.
        new: of all scores.
    """

    def __init__(self, near: RewardSampling, new: RewardSampling):
        self._near, self._new = near, new

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the mean of each score over `rows`, with the name of what was chosen."""
        known = self._near.intervals(rows, confidence)
        new = self._new.intervals(rows, confidence) if len(rows) > 1 else self._new.unknown(rows)
        return new | known


REWARD_INTERVALS = ("posterior", "sampling", "questions", "auto")


def sampled_rewards(
    rewards: Rewards,
    draws: Mapping[str, int],
    interval: str,
    limits: tuple[float, float],
    clusters: np.ndarray | None,
) -> Spread:
    """How sure the mean of the best of each number of draws is: by what was asked for.

    Raises:
        ValueError: where sampling is asked for, and some n < 2k.
    """
    scores = {key: rewards.best(k)[rewards.kind] for key, k in draws.items()}
    variances = {}
    for key, k in draws.items():
        if interval == "sampling" or (interval == "auto" and 2 * k <= rewards.n.min()):
            variance, samples = best_variance(rewards, k)
            variances[key] = variance[rewards.kind], samples[rewards.kind]
    near = RewardSampling({key: scores[key] for key in variances}, limits, variances)
    new = RewardSampling(scores, limits, None, clusters)
    return {"sampling": near, "questions": new}.get(interval) or Recommended(near, new)
