"""The family of rewards: each question has a distribution over the levels of its rewards.

Adding d to all log-odds shifts the family. Symbols are those of `family` and `reward_levels`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..core.choice import IntervalOptions
from ..core.credits import any_correct
from ..core.interval import IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.rewards import RankedRewards, Rewards, max_scores
from ..core.score import Score, ScoreKey, Scores
from ..scores.rewards import counts_by_level, max_moments
from .binary_family import extrapolated_scores, scores_with_ends
from .family import Candidates, Family, Fit, Shifted, Statistics, with_extrapolated
from .prior import LOG_ODDS_STEP
from .reward_levels import FittedRewards, LevelDistributions, leveled_samples
from .sampling import family_intervals

_SHIFTS = 60  # Shifts are multiples of 0.15 of the log-odds, from -9 to 9.


def max_intervals(
    rewards: Rewards, ks: Mapping[ScoreKey, int], options: IntervalOptions, ranges: np.ndarray
) -> tuple[Scores, IntervalMethod]:
    """Return Max@k for the k of each key, and the method of its intervals, within the bounds.

    `ranges`, (U, 2) or (1, 2), has the smallest and the largest score of a question.
    """
    if options.method == "posterior":
        moments = max_moments(rewards, ks)
        low, high = ranges[0].tolist()  # of categories, which are the same for all questions
        return max_scores(rewards, ks), PosteriorIntervals(
            moments, (low, high), weights=options.weights
        )
    observed = {key: k for key, k in ks.items() if k <= rewards.n.min()}
    beyond = {key: k for key, k in ks.items() if key not in observed}
    extrapolated = ks if options.method == "hierarchical" else beyond
    family = RewardFamily(rewards, observed, extrapolated, ranges, options.weights)
    points = with_extrapolated(max_scores(rewards, observed), family, ks)
    return points, family_intervals(family, options)


class RewardFamily(Family):
    """Distributions over the levels of rewards, with the scores Max@k.

    `ks` has the k <= n of scores by their keys, and `extrapolated` the k of extrapolated scores. No
    distribution exceeds the largest observed reward: the samples say nothing about larger ones.
    """

    def __init__(
        self,
        rewards: Rewards,
        ks: Mapping[ScoreKey, int],
        extrapolated: Mapping[ScoreKey, int],
        bounds: np.ndarray | tuple[float, float],
        weights: np.ndarray | None = None,
    ):
        self._rewards, self._ks = rewards, sorted({*ks.values()})  # an ascending k for each column
        self._extrapolated_ks, n = list(extrapolated.values()), rewards.sizes
        columns = np.column_stack([np.empty((len(n), 0)), *map(rewards.max_of, self._ks)])
        scores = {key: Score((self._ks.index(k),)) for key, k in ks.items()}
        super().__init__(rewards.inverse, n, columns, scores, extrapolated, bounds, weights)

    def prior_of(self, multiplicity: np.ndarray) -> FittedRewards | None:
        """Return the fitted distributions of a group, or None if all of its rewards are equal."""
        samples = leveled_samples(self._rewards, multiplicity)
        return None if samples is None else samples.fit()

    def shifted_families(self, fit: Fit) -> list[Shifted]:
        """Return the family shifted along the log-odds, for each estimate of the prior."""
        fitted, (least, most) = fit.prior, fit.bounds
        pairs = [(column, column) for column in range(len(self._ks))]  # a score is one column
        if fitted is None:  # all rewards are equal
            zeros = np.zeros((3, len(pairs)))
            return [Shifted(zeros, zeros, dict.fromkeys(pairs, 0.0), fit.means[0].item(), 1.0)]
        low, high = fitted.samples.levels[[0, -1]].tolist()
        offset = min(low, least)
        scale = max(high, most) - offset
        # theta is from 0 to 1 for all possible rewards, and moments from 0 at `low` to 1 at `high`.
        # Padding adds the limits of the family, theta = 0 and theta = 1, which have no variance.
        start, width, result = (low - offset) / scale, (high - low) / scale, []
        for means, variances in zip(*_shifted_moments(fitted, self._ks), strict=True):
            theta = np.pad(np.clip(start + width * means, 0.0, 1.0), ((1, 1), (0, 0)))
            theta[-1] = 1.0
            variance = np.pad(width**2 * variances, ((1, 1), (0, 0)))
            at_center = variance[len(variance) // 2].tolist()
            covariance = dict(zip(pairs, at_center, strict=True))
            result.append(Shifted(theta, variance, covariance, offset, scale))
        return result

    def covariance_of_samples(self, fit: Fit, columns: Sequence[int]) -> np.ndarray:
        """Return the mean covariance of Max@k from new samples, 0 for columns not adjacent."""
        fitted, result = fit.prior, np.zeros((len(columns), len(columns)))
        if fitted is None:
            return result
        width = float(fitted.samples.levels[-1] - fitted.samples.levels[0])
        ks = [self._ks[column] for column in columns]
        excess = [fitted.excess_variances(k)[0] for k in ks]
        pairs = [(a, b) for b in range(len(ks)) for a in (b - 1, b) if a >= 0]
        for a, b in pairs:  # each column with itself and with its neighbor
            j, k = ks[a], ks[b]
            covariance = sum(
                float(fitted.distributions.max_covariance(n, j, k) @ prior)
                for n, prior in fitted.estimates[0].items()
            )
            result[a, b] = width**2 * math.sqrt(excess[a] * excess[b]) * covariance
            result[b, a] = result[a, b]
        return result

    def extrapolate(self, fit: Fit) -> np.ndarray:
        """Return the posterior means of the V distinct counts of a group, (V, e)."""
        is_real = isinstance(self._rewards, RankedRewards)
        means = self._means_of_fit(fit) if is_real else self._means_of_levels(fit.multiplicity)
        return np.clip(means, *fit.bounds)

    def _means_of_levels(self, multiplicity: np.ndarray) -> np.ndarray:
        """Return posterior means of Max@k of categories, (V, e).

        Each level adds its distance from the level below times the pass@k of samples that reach it.
        """
        levels, counts = counts_by_level(self._rewards)
        counts, numbers = counts[multiplicity > 0], multiplicity[multiplicity > 0]
        n, above = counts.sum(axis=1), np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
        scores = scores_with_ends([any_correct(k) for k in self._extrapolated_ks])
        means = np.full((len(counts), len(self._extrapolated_ks)), float(levels[0]))
        for level, gap in enumerate(np.diff(levels), start=1):
            means += gap * extrapolated_scores(n, above[:, level], numbers, scores)
        return means

    def _means_of_fit(self, fit: Fit) -> np.ndarray:
        """Return posterior means of Max@k of real rewards, (V, e)."""
        fitted = fit.prior
        if fitted is None:  # all rewards are equal
            used = fit.multiplicity > 0
            return np.full(
                (used.sum(), len(self._extrapolated_ks)), self._rewards.ranges[used][0, 0]
            )
        levels = fitted.samples.levels
        values = [fitted.distributions.max_mean(k) for k in self._extrapolated_ks]
        scaled = fitted.posterior_means(np.transpose(values))
        means = levels[0] + (levels[-1] - levels[0]) * scaled
        return means + fitted.samples.binning_bias(self._extrapolated_ks)

    def coherent_means(self, means: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
        """Return the (e,) extrapolated `means`, with those for k > n at least the unbiased Max@n.

        n is the least number of samples of a question. The means of real rewards are unchanged.
        """
        ks, least = np.array(self._extrapolated_ks), int(self.n.min())
        if isinstance(self._rewards, RankedRewards) or (ks <= least).all():
            return means
        unbiased = float(multiplicity @ self._rewards.max_of(least) / multiplicity.sum())
        return np.where(ks > least, np.maximum(means, unbiased), means)

    def candidates(self, fit: Fit) -> Candidates | None:
        """Return what a profile over priors needs; None if all rewards of the group are equal."""
        fitted = fit.prior
        if fitted is None:
            return None
        samples = fitted.samples
        # If k is large, distributions between those with a share of the prior matter.
        has_share = fitted.priors[0] > 0
        log_odds = fitted.distributions.log_odds[has_share]
        steps = LOG_ODDS_STEP * np.arange(-1, 2)
        log_odds = np.concatenate([log_odds + step for step in steps])
        finer = LevelDistributions(log_odds, samples.gaps)
        statistics = [self._statistics(fitted, n, finer) for n in fitted.sizes]
        values = [finer.max_mean(k) for k in self._extrapolated_ks]
        low, high = samples.levels[[0, -1]]
        bias, weights = samples.binning_bias(self._extrapolated_ks), samples.multiplicity
        offset = low + weights @ bias / weights.sum()
        scores, scale = np.transpose(values), float(high - low)
        return Candidates(statistics, complete=False, scores=scores, offset=offset, scale=scale)

    def _statistics(self, fitted: FittedRewards, n: int, finer: LevelDistributions) -> Statistics:
        """Return Max@j, for several j, as statistics of the questions whose `typical_n` is n."""
        samples, has_n = fitted.samples, fitted.samples.typical_n == n
        rewards = samples.at_levels(samples.scaled, has_n)
        multiplicity = samples.multiplicity[has_n]
        questions, prior = multiplicity.sum().item(), fitted.estimates[0][n]
        prior = prior / prior.sum()
        # Values of j: the rounded powers of sqrt(2) up to the smallest number of samples, and that.
        least = int(rewards.sizes.min())
        powers = {round(2 ** (power / 2)) for power in range(2 * least.bit_length())}
        ks = sorted(k for k in powers | {least} if k <= least)
        observed = np.array([multiplicity @ rewards.max_of(j) for j in ks]) / questions
        expected = np.array([finer.max_mean(j) for j in ks])
        excess = fitted.excess_variances(1)[0]
        # A variance of half a squared sample, for scores that the prior makes almost impossible.
        covariance = np.eye(len(ks)) / 2 / (questions * n) ** 2
        for (a, j), (b, k) in itertools.combinations_with_replacement(enumerate(ks), 2):
            one_question = fitted.distributions.max_covariance(n, j, k) @ prior
            covariance[a, b] += excess * one_question / questions
            covariance[b, a] = covariance[a, b]
        # The questions of one n are a part of all questions, and may differ from the others.
        values = np.array([fitted.distributions.max_mean(j) for j in ks])
        deviations = values - (values @ fitted.priors[0])[:, None]
        between = (deviations * fitted.priors[0]) @ deviations.T
        covariance += (1 - questions / samples.multiplicity.sum()) * between / questions
        return Statistics(expected, observed, covariance)


def _shifted_moments(fitted: FittedRewards, ks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of Max@k, and the mean variances of its estimates from one question.

    Both are (E, 121, m), for E estimates of the prior, 121 shifts and m values of k. Variances are
    multiplied by the factors of `excess_variances`.
    """
    shifted, means, variances = fitted.grid.shifted(_SHIFTS), [], []
    parts = {n: np.array([prior[n] for prior in fitted.estimates]) for n in fitted.sizes}
    for k in ks:
        means.append(fitted.grid.shifted_means(shifted.max_mean(k), fitted.priors))
        variance = sum(
            fitted.grid.shifted_means(shifted.max_variance(n, k), part) for n, part in parts.items()
        )
        variances.append(fitted.excess_variances(k)[:, None] * np.maximum(variance, 0.0))
    return np.stack(means, axis=-1), np.stack(variances, axis=-1)
