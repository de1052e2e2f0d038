"""Intervals of the best of k rewards, for new samples or new questions: with no prior made up.

As in `sampling`: the unbiased score U is the mean over questions; how much it varies is told by the
laws that the questions may have, learned from the bank for the width and for nothing else
(`reward_spread`). Move the log-odds of all laws by one step d: the score is theta(d), and U has the
variance v(d); where the questions are new, with that between them. The interval is all theta(d)
with |U - theta(d)| <= z sqrt(v(d)), as Wilson (1927) has it with the binomial for a family: it
keeps within the rewards without being cut, and is longer to the side that has more room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from .interval import Interval, normal_reach, student_reach
from .reward_spread import Levels, Spread, best_covariance, best_mean
from .rewards import Rewards

# How far all log-odds are moved: the closer to 0, the smaller the steps.
_HALF = 9 * np.sinh(np.linspace(0, 6, 25)) / math.sinh(6)
_MOVES = np.concatenate([-_HALF[:0:-1], _HALF])


class RewardSampling:
    """Intervals of the best of k for new samples: of these questions, or of new ones like them.

    Args:
        rewards: of the bank.
        draws: for each key, of how many draws the best is meant, none above any n.
        limits: the least and the greatest reward.
        new_questions: whether the questions are new too.
        clusters: (M,) the source of each question, where some share one.
    """

    def __init__(
        self,
        rewards: Rewards,
        draws: Mapping[str, int],
        limits: tuple[float, float],
        new_questions: bool = False,
        clusters: np.ndarray | None = None,
    ):
        self._rewards, self._draws, self._limits = rewards, draws, limits
        self._new, self._clusters = new_questions, clusters

    @cached_property
    def _levels(self) -> Levels:
        return Levels(self._rewards)

    @cached_property
    def _scores(self) -> dict[int, np.ndarray]:
        """(U,) for each k, the best of k draws."""
        return {k: self._rewards.best(k) for k in {*self._draws.values()}}

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the scores over the questions `rows`.

        Raises:
            ValueError: if a single sample of each question does not show how samples vary, or
                a single question, or source of questions, how they do.
        """
        kind, found = self._rewards.kind[rows], {}
        reach, clusters = self._reach(rows, confidence)
        spread = self._levels.spread(np.bincount(kind, minlength=len(self._rewards.seen)))
        for k, scores in self._scores.items():
            score = scores[kind]
            wide = 1.0 if clusters is None else math.sqrt(_design_effect(score, clusters))
            found[k] = self._interval(spread, k, float(score.mean()), len(rows), wide * reach)
        return {key: found[k] for key, k in self._draws.items()}

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]:
        """That nothing is known: anything between the rewards."""
        (least, most), kind = self._limits, self._rewards.kind[rows]
        means = {k: float(scores[kind].mean()) for k, scores in self._scores.items()}
        return {
            key: Interval(means[k], (most - least) / 2, least, most, "none")
            for key, k in self._draws.items()
        }

    def _reach(self, rows: np.ndarray, confidence: float) -> tuple[float, np.ndarray | None]:
        """How many standard deviations to reach; and the sources of new questions."""
        if not self._new:
            if self._rewards.n[rows].max() < 2:
                raise ValueError(
                    "There is one sample of each question, which does not show how samples vary: "
                    "take more, or interval='questions'."
                )
            return normal_reach(confidence), None
        clusters = rows if self._clusters is None else self._clusters[rows]
        sources = len(np.unique(clusters))
        reach = student_reach(sources, confidence)
        return reach * math.sqrt(sources / (sources - 1)), clusters

    def _interval(
        self, spread: Spread | None, k: int, point: float, questions: int, reach: float
    ) -> Interval:
        name = "questions" if self._new else "sampling"
        if spread is None:
            return Interval(point, 0.0, point, point, name)
        (least, most), width = self._limits, spread.levels[-1] - spread.levels[0]
        theta, variance = _family(spread, k, self._new)
        theta = np.clip(spread.levels[0] + width * theta, least, most)
        # The limits, where no reward varies, are the ends of the family.
        theta = np.hstack([least, theta, most])
        sigma = np.hstack([0.0, width * np.sqrt(variance / questions), 0.0])
        lo = -_last_not_refuted(-theta[::-1], reach * sigma[::-1], -point)
        hi = _last_not_refuted(theta, reach * sigma, point)
        # Rounding aside, the point is between the ends.
        ends = min(float(lo), point), max(float(hi), point)
        return Interval(point, float(sigma[len(_HALF)]), *ends, name)


def _family(spread: Spread, k: int, new_questions: bool) -> tuple[np.ndarray, np.ndarray]:
    """(49,) the best of k when all log-odds are moved, and its variance times the questions."""
    theta, variance = np.zeros(len(_MOVES)), np.zeros(len(_MOVES))
    for place, move in enumerate(_MOVES):
        log_odds = spread.log_odds + move
        mean = best_mean(log_odds, spread.gaps, k)
        theta[place] = mean @ spread.prior
        within = sum(
            float(best_covariance(log_odds, spread.gaps, n, k, k) @ prior)
            for n, prior in spread.priors.items()
        )
        between = (mean - theta[place]) ** 2 @ spread.prior if new_questions else 0.0
        variance[place] = spread.surplus * max(0.0, within) + between
    return theta, variance


def _design_effect(score: np.ndarray, clusters: np.ndarray) -> float:
    """How much questions that share a source add to the variance; 1 if they do not.

    The sum of squares over sources against that over questions (Miller 2024, arXiv:2411.00640).
    """
    _, source = np.unique(clusters, return_inverse=True)
    rest = score - score.mean()
    alone, together = np.sum(rest**2), np.sum(np.bincount(source, rest) ** 2)
    return max(1.0, float(together / alone)) if alone else 1.0


def _last_not_refuted(theta: np.ndarray, reach: np.ndarray, point: float) -> float:
    """The greatest score that is at most its reach above the point: theta rises."""
    gap = theta - reach - point
    here = int(np.flatnonzero(gap <= 1e-12 * max(1.0, abs(point)))[-1])
    if here == len(theta) - 1:
        return theta[-1]
    part = np.clip(-gap[here] / (gap[here + 1] - gap[here]), 0.0, 1.0)
    return theta[here] + part * (theta[here + 1] - theta[here])
