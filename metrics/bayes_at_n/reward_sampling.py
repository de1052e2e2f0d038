"""Intervals of the best of k rewards for new samples of these questions: with no prior made up.

As in `sampling`: the unbiased score U is the mean over questions; how much it varies is told by the
laws that the questions may have, learned from the bank for the width and for nothing else
(`reward_spread`). Move the log-odds of all laws by one step d: the score is theta(d), and U has the
variance v(d). The interval is all theta(d) with |U - theta(d)| <= z sqrt(v(d)) (Wilson 1927 has the
binomial for a family): it keeps within the rewards without being cut, and is longer to the side
that has more room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .interval import Interval, normal_reach
from .reward_spread import Levels, Spread, best_covariance, best_mean
from .rewards import Rewards

# How far all log-odds are moved: the closer to 0, the smaller the steps.
_HALF = 9 * np.sinh(np.linspace(0, 6, 25)) / math.sinh(6)
_MOVES = np.concatenate([-_HALF[:0:-1], _HALF])


class RewardSampling:
    """Intervals of the best of each number of draws, none above a question's number of samples.

    Args:
        rewards: of the bank.
        draws: for each key, of how many draws the best is meant.
        limits: the least and the greatest reward.
    """

    def __init__(self, rewards: Rewards, draws: Mapping[str, int], limits: tuple[float, float]):
        self._rewards, self._draws, self._limits = rewards, draws, limits
        self._levels = Levels(rewards)
        self._scores = {k: rewards.best(k) for k in {*draws.values()}}

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the scores over the questions `rows`.

        Raises:
            ValueError: if a single sample of each question does not show how samples vary.
        """
        if self._rewards.n[rows].max() < 2:
            raise ValueError(
                "There is one sample of each question, which does not show how samples vary: "
                "take more, or interval='questions'."
            )
        questions = np.bincount(self._rewards.kind[rows], minlength=len(self._rewards.seen))
        spread, found = self._levels.spread(questions), {}
        for k, scores in self._scores.items():
            point = float(questions @ scores) / len(rows)
            found[k] = self._interval(spread, k, point, len(rows), normal_reach(confidence))
        return {key: found[k] for key, k in self._draws.items()}

    def _interval(
        self, spread: Spread | None, k: int, point: float, questions: int, reach: float
    ) -> Interval:
        if spread is None:
            return Interval(point, 0.0, point, point, "sampling")
        least, most = self._limits
        theta, variance = _family(spread, k)
        theta = spread.levels[0] + (spread.levels[-1] - spread.levels[0]) * theta
        sigma = np.sqrt(variance / questions) * (spread.levels[-1] - spread.levels[0])
        # The limits, where no reward varies, are the ends of the family.
        theta = np.hstack([least, np.clip(theta, least, most), most])
        sigma = np.hstack([0.0, sigma, 0.0])
        lo = -_last_not_refuted(-theta[::-1], reach * sigma[::-1], -point)
        hi = _last_not_refuted(theta, reach * sigma, point)
        # Rounding aside, the point is between the ends.
        ends = min(float(lo), point), max(float(hi), point)
        return Interval(point, float(sigma[len(_HALF)]), *ends, "sampling")


def _family(spread: Spread, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(49,) the best of k when all log-odds are moved, and its variance times the questions."""
    theta, variance = np.zeros(len(_MOVES)), np.zeros(len(_MOVES))
    for place, move in enumerate(_MOVES):
        log_odds = spread.log_odds + move
        theta[place] = best_mean(log_odds, spread.gaps, k) @ spread.prior
        for n, prior in spread.priors.items():
            variance[place] += best_covariance(log_odds, spread.gaps, n, k, k) @ prior
    return theta, spread.surplus * np.maximum(variance, 0.0)


def _last_not_refuted(theta: np.ndarray, reach: np.ndarray, point: float) -> float:
    """The greatest score that is at most its reach above the point: theta rises."""
    gap = theta - reach - point
    here = int(np.flatnonzero(gap <= 1e-12 * max(1.0, abs(point)))[-1])
    if here == len(theta) - 1:
        return theta[-1]
    part = np.clip(-gap[here] / (gap[here + 1] - gap[here]), 0.0, 1.0)
    return theta[here] + part * (theta[here + 1] - theta[here])
