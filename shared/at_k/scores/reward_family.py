"""The family of rewards: each question has a distribution over the levels of its rewards.

The distributions and their prior are those of `reward_levels`. Adding d to all log-odds shifts the
family. Its score theta(d) is the mean of the expected maximum of k samples over the prior, and the
variance of the estimate is the mean variance within questions, plus that between questions where
the questions are new. If the data vary more than the estimated prior predicts, the variances are
larger by the same factor: samples by the changes of the score when one is left out, and questions
by their scores. No distribution exceeds the largest observed reward: the samples say nothing about
larger ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from copy import copy
from functools import cached_property

import numpy as np

from .family import Candidates, Family, Fit, Shifted, Statistics, variance_of_proportion
from .reward_levels import FittedRewards, RewardLevels, max_covariance, max_mean
from .rewards import Rewards
from .score import Score, ScoreKey

REWARD_SHIFTS = 60  # by multiples of 0.15 of the log-odds, from -9 to 9


class RewardFamily(Family):
    """Distributions of rewards of questions, with a prior estimated from the samples.

    Args:
        rewards: of the run.
        ks: for each key the k <= n of Max@k.
        extrapolated: for each key the k, of any size, of a score from the estimated prior.
        bounds: the smallest and the largest possible reward.
    """

    def __init__(
        self,
        rewards: Rewards,
        ks: Mapping[ScoreKey, int],
        extrapolated: Mapping[ScoreKey, int],
        bounds: tuple[float, float],
    ):
        self._ks = sorted({*ks.values()})
        scores = {key: Score((self._ks.index(k),)) for key, k in ks.items()}
        n = rewards.sizes
        super().__init__(
            rewards.inverse, rewards.multiplicity, n, scores, list(extrapolated), bounds
        )
        self._rewards, self._extrapolated_ks = rewards, list(extrapolated.values())

    def _keep_rows(self, rows: np.ndarray) -> None:
        levels, bias = copy(self._levels), self._binning_bias[rows] if self.extrapolated else None
        super()._keep_rows(rows)
        levels.counts = levels.counts[rows]
        vars(self).update(_levels=levels, _binning_bias=bias)

    @cached_property
    def columns(self) -> np.ndarray:
        return np.stack([self._rewards.max_of(k) for k in self._ks], axis=1)

    @cached_property
    def _levels(self) -> RewardLevels:
        return RewardLevels(self._rewards)

    def extremes(self, multiplicity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shape = len(self._ks), len(multiplicity)
        return np.full(shape, self.bounds[0]), np.full(shape, self.bounds[1])

    def _fit_parts(self, multiplicity: np.ndarray) -> Fit:
        return Fit(multiplicity, [self._levels.fit(part) for part in multiplicity])

    def other_fits(self, fit: Fit) -> list[Fit]:
        if not any(fitted and fitted.other for fitted in fit.priors):
            return []
        return [
            Fit(fit.multiplicity, [fitted and (fitted.other or fitted) for fitted in fit.priors])
        ]

    # --- Shifted distributions ------------------------------------------------------------

    def shifted(self, fit: Fit, new_questions: bool) -> Shifted:
        members = 2 * REWARD_SHIFTS + 3  # the first and the last have no variation
        theta = np.zeros((members, len(self._ks), len(fit.priors)))
        theta[-1] = 1.0
        variance = np.zeros_like(theta)
        origin, width = np.zeros(len(fit.priors)), np.ones(len(fit.priors))
        for part, fitted in enumerate(fit.priors):
            if fitted is None:  # all rewards are equal
                theta[:, :, part] = 0.0
                origin[part] = self.columns[fit.multiplicity[part] > 0][0, 0]
                continue
            low, high = fitted.levels[[0, -1]].tolist()
            origin[part], width[part] = self._scale(low, high)
            size = (high - low) / width[part]
            for column, k in enumerate(self._ks):
                mean, square = _shifted_moments(fitted, k, new_questions)
                if new_questions and len(fitted.gaps) > 1:
                    # The scores of the questions may vary more than under the grid.
                    scores = self.columns[:, column] / (high - low)
                    observed = np.cov(scores, fweights=fit.multiplicity[part])
                    square = square * max(1.0, observed / max(square[REWARD_SHIFTS], 1e-12))
                mean = (low - origin[part]) / width[part] + size * mean
                theta[1:-1, column, part] = np.clip(mean, 0.0, 1.0)
                variance[1:-1, column, part] = size**2 * square
        if new_questions:
            least = variance_of_proportion(theta) * variance[members // 2]
            variance = np.maximum(variance, least)
        covariance = {(column, column): variance[:, column] for column in range(len(self._ks))}
        return Shifted(theta, covariance, origin, width)

    def _scale(self, low: float, high: float) -> tuple[float, float]:
        """The smallest possible reward, and the difference of the largest from it."""
        least, most = self.bounds
        least = low if math.isinf(least) else min(low, least)
        most = high if math.isinf(most) else max(high, most)
        return least, most - least

    def covariance_of_samples(self, fit: Fit) -> np.ndarray:
        fitted, result = fit.priors[0], np.zeros((len(self._ks), len(self._ks)))
        if fitted is None:
            return result
        width = float(fitted.levels[-1] - fitted.levels[0])
        excess = [fitted.excess_variance(k) for k in self._ks]
        for a, b in _neighbors(len(self._ks)):
            j, k = self._ks[a], self._ks[b]
            each = sum(
                float(max_covariance(fitted.log_odds, fitted.gaps, n, j, k) @ prior)
                for n, prior in fitted.priors.items()
            )
            result[a, b] = result[b, a] = width**2 * math.sqrt(excess[a] * excess[b]) * each
        return result

    # --- Extrapolation --------------------------------------------------------------------

    def _extrapolate(self, fit: Fit) -> np.ndarray:
        fitted, levels = fit.priors[0], self._levels.levels
        if fitted is None:
            return np.full((len(self.n), len(self._extrapolated_ks)), levels[0])
        values = [max_mean(fitted.log_odds, fitted.gaps, k) for k in self._extrapolated_ks]
        scaled = fitted.posterior_means(np.transpose(values))
        means = levels[0] + (levels[-1] - levels[0]) * scaled
        return np.clip(means + self._binning_bias, *self.bounds)

    @cached_property
    def _binning_bias(self) -> np.ndarray:
        """(U, e) the difference of Max@k of the rewards and of their levels, at k <= n."""
        at_most = np.cumsum(self._levels.counts, axis=1)
        levels = Rewards(np.arange(len(at_most)), self._levels.levels, at_most)
        ks = [min(k, int(self.n.min())) for k in self._extrapolated_ks]
        return np.stack([self._rewards.max_of(k) - levels.max_of(k) for k in ks], axis=1)

    def candidates(self, fit: Fit, part: int) -> Candidates | None:
        fitted, multiplicity = fit.priors[part], fit.multiplicity[part]
        if fitted is None:
            return None
        # Distributions between those of the grid matter if k is large.
        log_odds = np.concatenate([fitted.log_odds + step for step in (-0.15, 0.0, 0.15)])
        statistics = [self._statistics(fitted, n, log_odds) for n in fitted.priors]
        values = [max_mean(log_odds, fitted.gaps, k) for k in self._extrapolated_ks]
        low, high = fitted.levels[[0, -1]]
        origin = low + multiplicity @ self._binning_bias / multiplicity.sum()
        return Candidates(statistics, False, np.transpose(values), origin, float(high - low))

    def _statistics(self, fitted: FittedRewards, n: int, log_odds: np.ndarray) -> Statistics:
        """Max@j of the questions with n samples, for several j."""
        counts, times = fitted.counts[fitted.n == n], fitted.multiplicity[fitted.n == n]
        questions, prior = int(times.sum()), fitted.priors[n] / fitted.priors[n].sum()
        ks = _ladder(int(counts.sum(axis=1).min()), {*self._extrapolated_ks})
        at_most = np.cumsum(counts, axis=1)
        rewards = Rewards(np.arange(len(at_most)), fitted.scaled, at_most)
        observed = np.array([times @ rewards.max_of(j) for j in ks]) / questions
        expected = np.array([max_mean(log_odds, fitted.gaps, j) for j in ks])
        excess = fitted.excess_variance(1)
        # Half a sample of slack, for scores that the estimated prior makes almost impossible.
        covariance = np.eye(len(ks)) / 2 / (questions * n) ** 2
        for (a, j), (b, k) in itertools.combinations_with_replacement(enumerate(ks), 2):
            each = max_covariance(fitted.log_odds, fitted.gaps, n, j, k) @ prior
            covariance[a, b] += excess * each / questions
            covariance[b, a] = covariance[a, b]
        # Questions of one n are some of all questions, which may differ from the others.
        values = np.array([max_mean(fitted.log_odds, fitted.gaps, j) for j in ks])
        deviations = values - (values @ fitted.prior)[:, None]
        between = (deviations * fitted.prior) @ deviations.T
        covariance += (1 - questions / fitted.multiplicity.sum()) * between / questions
        return Statistics(expected, observed, covariance)


def _shifted_moments(
    fitted: FittedRewards, k: int, new_questions: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(121,) mean of Max@k under each shift, and variance of its estimate from one question."""
    log_odds = fitted.shifted_log_odds(REWARD_SHIFTS)
    mean = max_mean(log_odds, fitted.gaps, k)
    theta, variance = fitted.shifted_means(mean, fitted.prior), np.zeros(2 * REWARD_SHIFTS + 1)
    for n, prior in fitted.priors.items():
        within = max_covariance(log_odds, fitted.gaps, n, k, k)
        variance = variance + fitted.shifted_means(within, prior)
    variance = fitted.excess_variance(k) * np.maximum(variance, 0.0)
    if new_questions:
        # The variance around theta, also where the sum of the prior is rounded.
        squares = fitted.shifted_means(mean**2, fitted.prior)
        between = squares - (2 - fitted.prior.sum()) * theta**2
        variance = variance + np.maximum(between, 0.0)
    return theta, variance


def _neighbors(columns: int) -> list[tuple[int, int]]:
    """Each column with itself and with the next."""
    return [(a, b) for a in range(columns) for b in (a, a + 1) if b < columns]


def _ladder(n: int, ks: set[int]) -> list[int]:
    """Values of k up to n: the powers of 2, the points halfway between, and those given."""
    steps = {round(2 ** (place / 2)) for place in range(2 * n.bit_length())} | {n, *ks}
    return sorted(step for step in steps if step <= n)
