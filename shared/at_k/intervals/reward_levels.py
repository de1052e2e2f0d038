"""Distributions over the levels of rewards, with a prior estimated from the samples.

A group has U distinct questions with samples at L levels. The grid has J distributions of S shapes,
and there are E estimates of the prior, one or two. n is the number of samples of a question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..core.rewards import RankedRewards, Rewards
from ..scores.distributions import log_choose
from ..scores.rewards import counts_at, counts_by_level, rewards_at
from .prior import LOG_ODDS_STEP, Observed, whole_prior

_MOST_LEVELS = 40  # More levels are binned.
_LEVEL_BINS = 20  # number of bins with equal shares of the samples, and of bins of equal width
_LOCATION_RANGE, _SHIFTS_PER_LOCATION = 12.0, 3  # the grid of d: range, and step in shifts
_OCTAVES = np.arange(-2, 3.1, 0.5)  # the grid of a: powers of 2, times the average sharpness
_NEGLIGIBLE = 1e-7  # Distributions with less than this share of the largest prior are dropped.
_COUNTS_AT_ONCE = 2000  # At most so many counts are used for a prior, and at once.
_ODDS_STEP = 0.025
_ODDS = _ODDS_STEP * np.arange(-1000, 1001)  # log-odds at which effects of overlaps are tabulated


def leveled_samples(rewards: Rewards, multiplicity: np.ndarray) -> LeveledSamples | None:
    """Return the samples of a group of questions by level, or None if all of them have one reward.

    If the group has more than 40 distinct real rewards, close ones share a level, their mean.
    `multiplicity`, (U,), is the number of its questions with each distinct row of rewards.
    """
    rows = np.flatnonzero(multiplicity)
    group_rewards = rewards if len(rows) == len(multiplicity) else rewards_at(rewards, rows)
    levels, counts = _levels_and_counts(group_rewards)
    if len(levels) == 1:
        return None
    return LeveledSamples(levels, counts, multiplicity[rows], group_rewards)


def _levels_and_counts(rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """Return (levels, counts): (L,) ascending levels, binned if real ones are many, and (U, L)."""
    if not isinstance(rewards, RankedRewards):
        return counts_by_level(rewards)  # A category without a sample is possible too.
    values = rewards.levels
    levels, index = np.unique(values, return_inverse=True)
    if len(levels) > _MOST_LEVELS:
        low, high = levels[[0, -1]]
        _, index = np.unique(_bin_indices(values, low, high), return_inverse=True)
        levels = np.bincount(index, values - low) / np.bincount(index) + low
    return levels, counts_at(rewards, index)


def _bin_indices(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the bin of each value. Edges are quantiles, and equal steps from `low` to `high`."""
    shares = np.linspace(0, 1, _LEVEL_BINS + 1)
    # Further quantiles make bins finer at the top, which decides the maximum of many samples.
    top = 1 - 0.5 ** np.arange(2, math.log2(len(values)))
    edges = np.sort([*np.quantile(values, [*shares, *top]), *(low + shares * (high - low))])
    return np.searchsorted(edges, values, "right")


@dataclass(frozen=True, eq=False)
class LeveledSamples:
    """The samples of a group of questions by the level of their reward.

    `levels`, (L,), ascend. `counts`, (U, L), are numbers of samples, and `rewards` those of the
    same samples before close ones share a level. `multiplicity` is (U,).
    """

    levels: np.ndarray
    counts: np.ndarray
    multiplicity: np.ndarray
    rewards: Rewards

    @cached_property
    def gaps(self) -> np.ndarray:
        """Return the differences of the scaled levels, (L - 1,)."""
        return np.diff(self.levels) / (self.levels[-1] - self.levels[0])

    @cached_property
    def scaled(self) -> np.ndarray:
        """Return the levels on a scale from 0 to 1, which all moments use, (L,)."""
        return np.append(0.0, np.cumsum(self.gaps))

    @cached_property
    def typical_n(self) -> np.ndarray:
        """Return numbers of samples, (U,), with similar ones replaced by their mean, to save time.

        All from a power of 2 to below the next become their harmonic mean, because variances are
        about proportional to 1 / n.
        """
        n = self.counts.sum(axis=1)
        octave = np.floor(np.log2(n)).astype(np.int64)
        questions = np.bincount(octave, self.multiplicity)[octave]  # not always integers
        inverse = np.bincount(octave, self.multiplicity / n)[octave]
        return np.rint(questions / inverse).astype(np.int64)

    def at_levels(self, levels: np.ndarray, rows: np.ndarray | slice = slice(None)) -> Rewards:
        """Return the samples of some rows as rewards, with these levels, (L,)."""
        at_most = np.cumsum(self.counts[rows], axis=1)
        return Rewards(np.arange(len(at_most)), levels, at_most)

    def binning_bias(self, ks: Sequence[int]) -> np.ndarray:
        """Return Max@k, or Max@n for k above the least n, minus that of the levels, (U, e)."""
        binned, least = self.at_levels(self.levels), int(self.rewards.sizes.min())
        observed = [min(k, least) for k in ks]
        return np.transpose([self.rewards.max_of(k) - binned.max_of(k) for k in observed])

    def fit(self) -> FittedRewards:
        """Return the distributions of the grid with the prior over them."""
        grid, start = self._grid_and_start()
        used, multiplicity = self._counts_of_prior()
        likelihood = grid.likelihood(self.counts[used])
        log_rates = np.log(np.maximum(grid.distributions.distances_of_mean(), 1e-300))
        observed = Observed(self.typical_n[used], likelihood, multiplicity)
        estimates = observed.estimates(start, log_rates, *self._mean_and_variance_between())
        priors = [whole_prior(estimate) for estimate in estimates]
        has_share = [prior > _NEGLIGIBLE * prior.max() for prior in priors]
        kept = np.any(has_share, axis=0)
        estimates = [
            {size: np.where(has, prior, 0.0)[kept] for size, prior in estimate.items()}
            for has, estimate in zip(has_share, estimates, strict=True)
        ]
        return FittedRewards(self, grid.part(kept), estimates)

    def _counts_of_prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of `counts` that the prior is estimated from, and their multiplicities.

        Of more than 2,000 rows they are a systematic sample of 2,000 questions in order of n.
        """
        if len(self.counts) <= _COUNTS_AT_ONCE:
            return np.arange(len(self.counts)), self.multiplicity
        order = np.argsort(self.typical_n, kind="stable")
        share = np.cumsum(self.multiplicity[order]) / self.multiplicity.sum()
        drawn = np.searchsorted(share, (np.arange(_COUNTS_AT_ONCE) + 0.5) / _COUNTS_AT_ONCE)
        return np.unique(order[drawn], return_counts=True)

    def _grid_and_start(self) -> tuple[Grid, np.ndarray]:
        """Return the grid of distributions, and the (J,) prior that the EM starts from.

        The log-odds of a reward above level l are a b_l + d, where b_l are those of all samples
        together, less their mean. The location d and the sharpness a are on a grid. With two levels
        these are success rates, and with three every distribution is among them. The prior is
        uniform in the mean reward and centered at the average sharpness of the samples.
        """
        total = self.multiplicity @ self.counts + 0.5
        above = np.cumsum(total[::-1])[::-1][1:] / total.sum()
        base = np.log(above) - np.log1p(-above)  # log-odds of all samples together
        base = base - self.gaps @ base  # the b_l
        binary = len(base) == 1  # Two levels have no sharpness.
        octaves = np.zeros(1) if binary else _OCTAVES
        shapes = self._sharpness() * 2 ** octaves[:, None] * base
        stride = 1 if binary else _SHIFTS_PER_LOCATION  # locations are in steps of LOG_ODDS_STEP
        step = stride * LOG_ODDS_STEP
        first = np.floor((-_LOCATION_RANGE - shapes.max(axis=1)) / step).astype(int)
        last = np.ceil((_LOCATION_RANGE - shapes.min(axis=1)) / step).astype(int)
        shape = np.repeat(np.arange(len(shapes)), last - first + 1)
        location = stride * np.concatenate(
            [np.arange(low, high + 1) for low, high in zip(first, last, strict=True)]
        )
        grid = Grid(self.gaps, shapes, shape, location)
        density = grid.distributions.slope_of_mean()
        density /= np.bincount(shape, density)[shape]
        start = np.exp(-2 * octaves**2)[shape] * density
        return grid, start / start.sum()

    def _mean_and_variance_between(self) -> tuple[float, float]:
        """Return estimates of the mean and the variance of the questions' mean scaled rewards."""
        n = self.counts.sum(axis=1)
        mean, square = (
            self.multiplicity @ (self.counts @ self.scaled**p / n) / self.multiplicity.sum()
            for p in (1, 2)
        )
        return mean, square - mean**2 - self._variance_within

    def _sharpness(self) -> float:
        """Return the SD of all rewards divided by that within questions, limited to 1 .. 32.

        It is the average sharpness in `_grid_and_start`. The limit keeps the grid small.
        """
        if not self._variance_within:  # No rewards vary within a question.
            return 1.0
        # The sums over all samples of their scaled rewards, and of the squares of these.
        total, squares = (self.multiplicity @ (self.counts @ self.scaled**p) for p in (1, 2))
        samples = self.multiplicity @ self.counts.sum(axis=1)
        variance = squares / samples - (total / samples) ** 2
        return min(math.sqrt(max(variance / self._variance_within, 1.0)), 32.0)

    @cached_property
    def _variance_within(self) -> float:
        """Return the pooled unbiased variance within questions, or 0 if no samples vary there."""
        n, sums = self.counts.sum(axis=1), self.counts @ self.scaled
        squares = self.multiplicity @ (self.counts @ self.scaled**2 - sums**2 / n)
        return squares / (self.multiplicity @ (n - 1)) if squares > 1e-9 else 0.0

    def sum_of_changes(self, k: int) -> float:
        """Return the sum of `squared_changes` at k over the questions with two samples or more."""
        several = self.counts.sum(axis=1) > 1
        counts, multiplicity, total = self.counts[several], self.multiplicity[several], 0.0
        for start in range(0, len(counts), _COUNTS_AT_ONCE):
            rows = slice(start, start + _COUNTS_AT_ONCE)
            changes = squared_changes(counts[rows], self.gaps, k)
            total += float(multiplicity[rows] @ changes)
        return total


@dataclass(frozen=True, eq=False)
class Grid:
    """The J distributions that questions may have, for (L - 1,) differences of the levels, `gaps`.

    `shapes`, (S, L - 1), have the log-odds at the location 0. Each distribution has the index of a
    `shape` and a `location`, in steps of `LOG_ODDS_STEP`, both (J,).
    """

    gaps: np.ndarray
    shapes: np.ndarray
    shape: np.ndarray
    location: np.ndarray

    @cached_property
    def distributions(self) -> LevelDistributions:
        """Return all J distributions."""
        return self._at(self.shapes[self.shape], self.location)

    def likelihood(self, counts: np.ndarray) -> np.ndarray:
        """Return the likelihood of (U, L) counts, divided by the largest of the J, (U, J)."""
        # The probability of a level is F_l - F_(l-1) = F_l (1 - F_(l-1)) (1 - the quotient of the
        # odds). The quotient depends on the shape only, and log(1 - F_l) = log F_l + the log-odds.
        log_quotients = np.minimum(np.diff(self.shapes, axis=1), -1e-9)
        by_shape = counts[:, 1:-1] @ np.log(-np.expm1(log_quotients)).T
        by_shape += counts[:, 1:] @ self.shapes.T
        result = (counts[:, :-1] + counts[:, 1:]) @ self.distributions.log_below.T
        result += by_shape[:, self.shape]
        result += counts[:, 1:].sum(axis=1, keepdims=True) * (LOG_ODDS_STEP * self.location)
        result -= result.max(axis=1, keepdims=True)
        return np.exp(result, out=result)

    def part(self, kept: np.ndarray) -> Grid:
        """Return the grid of the distributions for which `kept`, (J,), is true."""
        shapes, shape = np.unique(self.shape[kept], return_inverse=True)
        return Grid(self.gaps, self.shapes[shapes], shape, self.location[kept])

    def shifted(self, shifts: int) -> LevelDistributions:
        """Return each shape at T locations, (S, T): all of the grid, and `shifts` past each end."""
        locations = np.arange(self.location.min() - shifts, self.location.max() + shifts + 1)
        return self._at(self.shapes[:, None], locations)

    def shifted_means(self, values: np.ndarray, priors: np.ndarray) -> np.ndarray:
        """Return the means of values under (E, J) priors at each shift, (E, 2 shifts + 1).

        `values`, (S, T), are those of the distributions that `shifted(shifts)` returns.
        """
        column = self.location - self.location.min()
        shifts = np.arange(values.shape[1] - column.max())
        return priors @ values[self.shape[:, None], column[:, None] + shifts]

    def _at(self, shapes: np.ndarray, location: np.ndarray) -> LevelDistributions:
        """Return distributions with (.., L - 1) log-odds `shapes` at (..) locations."""
        return LevelDistributions(shapes + LOG_ODDS_STEP * location[:, None], self.gaps)


@dataclass(frozen=True, eq=False)
class FittedRewards:
    """The distributions that have a share of the prior of some samples.

    Each of one or two `estimates` of the prior is split by n: {n: (J,)}, with a sum of about 1.
    """

    samples: LeveledSamples
    grid: Grid
    estimates: Sequence[Mapping[int, np.ndarray]]

    @property
    def distributions(self) -> LevelDistributions:
        """Return all J distributions."""
        return self.grid.distributions

    @property
    def sizes(self) -> list[int]:
        """Return the distinct n of the questions, by which the estimates are split."""
        return [*self.estimates[0]]

    @cached_property
    def priors(self) -> np.ndarray:
        """Return the estimates of the prior for all n together, (E, J)."""
        return np.array([whole_prior(estimate) for estimate in self.estimates])

    def excess_variances(self, k: int) -> np.ndarray:
        """Return factors >= 1 by which estimates of Max@k vary more than priors predict, (E,).

        Distributions estimated from few questions are too close to their samples, and the grid may
        have none close to questions with many levels. A factor is the sum of the squared changes of
        Max@k as each sample is left out, over its expected value under an estimate of the prior.
        """
        samples, expected = self.samples, np.zeros(len(self.estimates))
        if len(samples.gaps) == 1:  # The grid contains every distribution over two levels.
            return np.ones(len(expected))
        for n in self.sizes:
            if n > 1:
                changes = self.distributions.squared_changes(n, k)
                expected += [estimate[n] @ changes for estimate in self.estimates]
        expected *= samples.multiplicity.sum()
        observed = samples.sum_of_changes(k)
        known = np.minimum(observed, expected) > 1e-12
        return np.maximum(np.where(known, observed / np.maximum(expected, 1e-300), 1.0), 1.0)

    def posterior_means(self, values: np.ndarray) -> np.ndarray:
        """Return posterior means of (J, e) values for each distinct question, (U, e)."""
        means = []
        for start in range(0, len(self.samples.counts), _COUNTS_AT_ONCE):
            counts = self.samples.counts[start : start + _COUNTS_AT_ONCE]
            weight = self.grid.likelihood(counts) * self.priors[0]
            means.append(weight @ values / weight.sum(axis=1, keepdims=True))
        return np.concatenate(means)


# --- Distributions ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelDistributions:
    """Distributions over L levels of rewards, and exact moments of the maximum of k samples.

    `log_odds`, (.., L - 1), are those of a reward above each level but the last, and `gaps`, (L -
    1,), the differences of the levels. Let F_l be the probability of at most level l. If subsets A
    and B, of j and k of the same n samples, have c in common, which is hypergeometric, then
    P(max of A <= level l, max of B <= level m) = F_l^j E[F_m^(k-c)] for l <= m.
    """

    log_odds: np.ndarray
    gaps: np.ndarray

    @cached_property
    def log_below(self) -> np.ndarray:
        """Return the logarithms of the probability of at most each level, (.., L - 1)."""
        # np.logaddexp takes four times as long.
        return -np.maximum(self.log_odds, 0.0) - np.log1p(np.exp(-np.abs(self.log_odds)))

    @cached_property
    def _table_position(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the index in `_ODDS` below each log-odds, and the distance from it in steps."""
        position = np.clip(self.log_odds / _ODDS_STEP + len(_ODDS) // 2, 0, len(_ODDS) - 1.001)
        index = position.astype(np.int64)
        return index, position - index

    def _at_log_odds(self, effect: np.ndarray) -> np.ndarray:
        """Return the effect at each of the log-odds, (.., L - 1), from its values at `_ODDS`."""
        index, share = self._table_position
        return effect[index] + share * np.diff(effect)[index]

    @cached_property
    def _above_and_below(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of more than each level, and of at most it, (.., L - 1) both."""
        above = self.log_below + self.log_odds
        return np.exp(above, out=above), np.exp(self.log_below)

    def distances_of_mean(self) -> np.ndarray:
        """Return the mean minus the lowest level, and the highest level minus the mean, (2, ..)."""
        return np.stack([probability @ self.gaps for probability in self._above_and_below])

    def slope_of_mean(self) -> np.ndarray:
        """Return the derivative of the mean by a shift of all log-odds, (..)."""
        return np.einsum("...l,...l,l", *self._above_and_below, self.gaps)

    def max_mean(self, k: int) -> np.ndarray:
        """Return the expected maximum of k samples minus the lowest level, (..)."""
        return self.gaps.sum() - np.exp(k * self.log_below) @ self.gaps

    def max_variance(self, n: int, k: int) -> np.ndarray:
        """Return the variance of the unbiased estimate of Max@k from n samples, (..)."""
        return self._variance(k, _overlap_effect(n, k, k))

    def max_covariance(self, n: int, j: int, k: int) -> np.ndarray:
        """Return the covariance of estimates of Max@j and Max@k from the same n samples, (..)."""
        terms_j, terms_k = (np.exp(size * self.log_below) * self.gaps for size in (j, k))
        up_to_level, below = np.cumsum(terms_j, axis=-1), np.cumsum(terms_k, axis=-1) - terms_k
        first = self._at_log_odds(_overlap_effect(n, j, k)) * up_to_level
        second = self._at_log_odds(_overlap_effect(n, k, j)) * below
        return (first + second) @ self.gaps

    def squared_changes(self, n: int, k: int) -> np.ndarray:
        """Return the expected `squared_changes` of n >= 2 random samples, (..).

        It is n times the difference of the variances of estimates from n - 1 and from n samples
        (Efron & Stein 1981, Annals of Statistics 9, 586).
        """
        k = min(k, n - 1)
        return self._variance(k, n * (_overlap_effect(n - 1, k, k) - _overlap_effect(n, k, k)))

    def _variance(self, k: int, effect: np.ndarray) -> np.ndarray:
        """Return variances, (..), from the (2001,) `effect`: `_overlap_effect` or a difference."""
        # A matrix product takes a third of the time of cumulative sums over the levels.
        pairs = (2 * np.triu(np.ones(2 * self.gaps.shape)) - np.eye(len(self.gaps))) * self.gaps
        weights = np.exp(k * self.log_below) @ (self.gaps[:, None] * pairs)
        return np.einsum("...l,...l", self._at_log_odds(effect), weights)


def squared_changes(counts: np.ndarray, gaps: np.ndarray, k: int) -> np.ndarray:
    """Return the sum over samples of the squared change of Max@k if the sample is left out, (U,).

    For k = n it is Max@(n - 1). Each question has two samples or more in `counts`, (U, L). `gaps`
    are the distances between neighboring levels, (L - 1,).
    """
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    n = counts.sum(axis=1, keepdims=True)
    k, below = np.minimum(k, n - 1), np.cumsum(counts[:, :-1], axis=1)
    log_factorial, c = gammaln(np.arange(1, n.max() + 2)), np.maximum(below, k)
    log_share = log_factorial[c] - log_factorial[c - k] - log_factorial[n] + log_factorial[n - k]
    # Max@k is the highest level minus a sum over the others: the share of the subsets whose maximum
    # is at most the level, times the gap above the level. `below` counts samples at or below it.
    share = np.where(below >= k, gaps * np.exp(log_share), 0.0)
    # Without a sample above the level, the share is multiplied by n / (n - k): it grows by the
    # factor k / (n - k). Without one at or below it, the share is also multiplied by (c - k) / c:
    # it falls by k / (n - k) times (n - c) / c. The common factor k / (n - k) is applied last.
    change = np.zeros(counts.shape)
    change[:, 1:] = np.cumsum(share, axis=1)
    change[:, :-1] -= np.cumsum((share * (n - c) / c)[:, ::-1], axis=1)[:, ::-1]
    return (counts * (k / (n - k) * change) ** 2).sum(axis=1)


@lru_cache(maxsize=512)
def _overlap_effect(n: int, j: int, k: int) -> np.ndarray:
    """Return E[F^(k-c)] - F^k at `_ODDS`, (2001,); c is the overlap of j and of k of n samples."""
    c = np.arange(max(0, j + k - n), min(j, k) + 1)
    pmf = np.exp(log_choose(k, c) + log_choose(n - k, j - c) - log_choose(n, j))
    c, pmf = c[pmf > 1e-17], pmf[pmf > 1e-17]
    log_below = -np.logaddexp(0, _ODDS)[:, None]
    return -np.expm1(c * log_below) * np.exp((k - c) * log_below) @ pmf
