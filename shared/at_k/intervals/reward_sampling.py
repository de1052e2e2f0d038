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

from ..scores.rewards import Rewards
from .interval import Interval, Spread, design_effects, normal_reach, student_reach
from .inversion import greatest
from .reward_distributions import Laws, Levels, best_covariance, best_mean

# How far all log-odds are moved: the closer to 0, the smaller the steps.
_HALF = 9 * np.sinh(np.linspace(0, 6, 25)) / math.sinh(6)
_MOVES = np.concatenate([-_HALF[:0:-1], _HALF])


class RewardSampling(Spread):
    """Intervals of the best of k for new samples: of these questions, or of new ones like them.

    Args:
        rewards: of the bank.
        draws: for each key, of how many draws the best is meant, none above any n.
        limits: the least and the greatest reward that there may be, or is told of.
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
        (reach, clusters), miss = self._reach(rows, confidence), 1 - confidence
        spread = self._levels.spread(np.bincount(kind, minlength=len(self._rewards.seen)))
        for k, scores in self._scores.items():
            score = scores[kind]
            wide = (
                1.0 if clusters is None else math.sqrt(design_effects(score[:, None], clusters)[0])
            )
            found[k] = self._interval(spread, k, float(score.mean()), len(rows), wide * reach, miss)
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
        self, spread: Laws | None, k: int, point: float, questions: int, reach: float, miss: float
    ) -> Interval:
        name = "questions" if self._new else "sampling"
        if spread is None:
            end = min(max(point, self._limits[0]), self._limits[1])
            return Interval(point, 0.0, end, end, name)
        low, high = spread.levels[[0, -1]].tolist()
        # On a scale from the least reward that there may be to the greatest.
        least, most = self._limits
        least = low if math.isinf(least) else min(low, least)
        whole = (high if math.isinf(most) else max(high, most)) - least
        theta, variance = _moved_family(spread, k, self._new)
        theta = np.clip((low - least + (high - low) * theta) / whole, 0.0, 1.0)
        # The limits, where no reward varies, are the ends of the family.
        theta = np.hstack([0.0, theta, 1.0])[:, None]
        sigma = np.hstack([0.0, (high - low) / whole * np.sqrt(variance / questions), 0.0])[:, None]
        u = np.array([(point - least) / whole])
        hi = greatest(theta, sigma, u, np.array([reach]), miss)[0]
        lo = -greatest(-theta[::-1], sigma[::-1], -u, np.array([reach]), miss)[0]
        # Rounding aside, the point is between the ends.
        ends = min(least + whole * float(lo), point), max(least + whole * float(hi), point)
        lo, hi = np.clip(ends, *self._limits).tolist()
        return Interval(point, whole * float(sigma[len(_HALF), 0]), lo, hi, name)


def _moved_family(spread: Laws, k: int, new_questions: bool) -> tuple[np.ndarray, np.ndarray]:
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
