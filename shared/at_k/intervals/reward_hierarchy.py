"""The best of more draws than there are samples, by laws that are learned from the bank.

As in `hierarchy`: of k > n draws n samples tell nothing for sure, and what they leave open is said
by the width. A prior G says how likely each law of `reward_spread` is. It has to fit the unbiased
scores U_j of the best of j draws, for j up to n: with S their covariance under the learned prior,

    fit(G) = (U - E_G g)' S^-1 (U - E_G g),   g_j(law) the expected best of j,

the interval is every E_G g_k with fit(G) <= least fit + z^2. The estimate is that of the learned
prior. No law goes beyond the greatest reward that was seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from scipy.optimize import nnls

from ..scores.rewards import Rewards
from .interval import Interval, Spread, normal_reach
from .reward_distributions import Laws, Levels, best_covariance, best_mean

_STEPS = 10  # towards the last score that fits


class RewardHierarchy(Spread):
    """Intervals of the best of each number of draws, for any number.

    Args:
        rewards: of the bank.
        draws: for each key, of how many draws the best is meant.
        limits: the least and the greatest reward.
    """

    def __init__(self, rewards: Rewards, draws: Mapping[str, int], limits: tuple[float, float]):
        self._rewards, self._draws, self._limits = rewards, draws, limits

    @cached_property
    def _levels(self) -> Levels:
        return Levels(self._rewards)

    @cached_property
    def means(self) -> dict[str, np.ndarray]:
        """(U,) of each key, the best of so many draws given the samples and the learned prior."""
        if not self._draws:
            return {}
        spread, low = self._levels.spread(self._rewards.questions), self._levels.levels[0]
        if spread is None:
            return {key: np.full(len(self._levels.counts), low) for key in self._draws}
        best = [best_mean(spread.log_odds, spread.gaps, k) for k in self._draws.values()]
        scores = low + (self._levels.levels[-1] - low) * spread.posterior_mean(np.transpose(best))
        return {
            key: np.clip(score + self._moved(k), *self._limits)
            for (key, k), score in zip(self._draws.items(), scores.T, strict=True)
        }

    def _moved(self, k: int) -> np.ndarray:
        """(U,) how much the best of k, or n, is above that of the levels, the means of rewards."""
        k = min(k, int(self._rewards.n.min()))
        seen = np.cumsum(self._levels.counts, axis=1)
        levels = Rewards(np.arange(len(seen)), self._levels.levels, seen)
        return self._rewards.best(k) - levels.best(k)

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the scores over the questions `rows`.

        Raises:
            ValueError: if one sample of each question does not tell how they are spread.
        """
        if not self._draws:
            return {}
        if self._rewards.n[rows].max() < 2:
            raise ValueError(
                "There is one sample of each question, which tells nothing of more draws."
            )
        kind, reach = self._rewards.kind[rows], normal_reach(confidence)
        questions = np.bincount(kind, minlength=len(self._rewards.seen))
        spread, result = self._levels.spread(questions), {}
        fit = None if spread is None else _RewardFit(spread, {*self._draws.values()})
        for key, k in self._draws.items():
            mean = float(questions @ self.means[key]) / len(rows)
            lo = hi = mean
            if spread is not None and fit is not None:
                low, width = spread.levels[0], spread.levels[-1] - spread.levels[0]
                score = best_mean(fit.log_odds, spread.gaps, k)
                least, most = fit.least(score, reach**2), -fit.least(-score, reach**2)
                low = low + float(questions @ self._moved(k)) / len(rows)
                ends = np.clip(low + width * np.array([least, most]), *self._limits)
                lo, hi = map(float, ends)
            mu = min(max(mean, lo), hi)
            result[key] = Interval(mu, (hi - lo) / 2 / reach, lo, hi, "hierarchical")
        return result

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]:
        """That nothing is known: anything between the rewards."""
        least, most = self._limits
        kind = self._rewards.kind[rows]
        return {
            key: Interval(float(scores[kind].mean()), (most - least) / 2, least, most, "none")
            for key, scores in self.means.items()
        }


class _RewardFit:
    """How well priors fit the scores of a bank.

    Attributes:
        log_odds: (3 J, L - 1) of the laws: those of the spread, and between them.
    """

    def __init__(self, spread: Laws, draws: set[int]):
        # Between the laws of the spread there are others, which matter where k is large.
        self.log_odds = np.concatenate([spread.log_odds + step for step in (-0.15, 0.0, 0.15)])
        laws, scores = zip(*(self._scaled(spread, n, draws) for n in spread.priors), strict=True)
        u, size, vt = np.linalg.svd(np.concatenate(laws), full_matrices=False)
        kept = size > 1e-6 * size[0]
        self._law = size[kept, None] * vt[kept]
        self._score = u[:, kept].T @ np.concatenate(scores)
        self._heavy = 1e3 * max(1.0, float(np.linalg.norm(self._score)))
        self._best_misfit, self._best = self._misfit()
        # Some prior fits nearly everything, unless the laws are too few: then less is refuted.
        self._loose = max(1.0, self._best_misfit)

    def _scaled(self, spread: Laws, n: int, draws: set[int]) -> tuple[np.ndarray, np.ndarray]:
        """Of the questions of n samples, g (m, 3 J) and U (m,): S has become the identity."""
        counts, weight = spread.counts[spread.n == n], spread.questions[spread.n == n]
        questions, prior = int(weight.sum()), spread.priors[n] / spread.priors[n].sum()
        steps = _ladder(int(counts.sum(axis=1).min()), draws)
        seen = np.cumsum(counts, axis=1)
        bank = Rewards(np.arange(len(seen)), spread.scaled, seen)
        score = np.array([weight @ bank.best(j) for j in steps]) / questions
        law = np.array([best_mean(self.log_odds, spread.gaps, j) for j in steps])
        # Half a sample of slack, for scores that the learned prior leaves no room.
        s = np.eye(len(steps)) / 2 / (questions * n) ** 2
        for (a, j), (b, k) in itertools.combinations_with_replacement(enumerate(steps), 2):
            covariance = best_covariance(spread.log_odds, spread.gaps, n, j, k)
            s[a, b] += spread.surplus * (covariance @ prior) / questions
            s[b, a] = s[a, b]
        root = np.linalg.cholesky(s)
        return np.linalg.solve(root, law), np.linalg.solve(root, score)

    def least(self, score: np.ndarray, allowed: float) -> float:
        """The least mean of a score, (3 J,), over all priors that fit but for `allowed`."""
        far, near, reach = (
            float(score.min()),
            float(score @ self._best),
            math.sqrt(allowed * self._loose),
        )
        over, under = self._distance(score, far) - reach, reach
        if over <= 0:
            return far
        inside = False
        for _ in range(_STEPS):  # of false position, as the distance is nearly straight
            level = near + (far - near) * under / (under + over)
            found = self._distance(score, level) - reach
            if found <= 0:
                over = over / 2 if inside else over  # so that neither end stays where it is
                near, under, inside = level, -found, True
            else:
                under = under / 2 if not inside else under
                far, over, inside = level, found, False
        return near

    def _distance(self, score: np.ndarray, level: float) -> float:
        """How far all priors of that mean of the score are from the best of all."""
        return math.sqrt(max(0.0, self._misfit(score, level)[0] - self._best_misfit))

    def _misfit(
        self, score: np.ndarray | None = None, level: float = 0.0
    ) -> tuple[float, np.ndarray]:
        """The best of all priors, with that mean of the score if one is given."""
        rows, goal = [self._law, np.full((1, self._law.shape[1]), self._heavy)], [self._heavy]
        if score is not None:
            # In place of a constraint, a row that outweighs all others.
            rows.append(100 * self._heavy * (score - level)[None])
            goal.append(0.0)
        prior, _ = nnls(np.concatenate(rows), np.concatenate([self._score, goal]), maxiter=10_000)
        return float(np.sum((self._law @ prior - self._score) ** 2)), prior / prior.sum()


def _ladder(n: int, draws: set[int]) -> list[int]:
    """Numbers of draws up to n: the powers of 2, what is half way between, and those asked for."""
    steps = {round(2 ** (place / 2)) for place in range(2 * n.bit_length())} | {n, *draws}
    return sorted(step for step in steps if step <= n)
