"""Distributions over the levels of rewards, with a prior estimated from the samples.

Let r_1 < .. < r_L be the levels and F_l the probability of at most r_l. The maximum of k samples
has the mean r_L - sum over l < L of (r_(l+1) - r_l) F_l^k. Two subsets A and B, of j and k of the
same n samples, share c of them with a hypergeometric probability, and

    P(max of A <= r_l, max of B <= r_m) = F_l^j E[F_m^(k-c)]  for l <= m,

which gives the variances and covariances of the unbiased estimates for all j, k <= n.

The grid has the distributions whose log-odds of more than r_l are a b_l + d, where b_l are those of
all samples together, less their mean. The location d and the sharpness a are on a grid. With two
levels this is a grid of success rates, and with three it contains every distribution. The EM
algorithm starts from a prior that is uniform in the mean reward and centered at the average
sharpness of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ..core.rewards import RankedRewards, Rewards
from ..scores.rewards import counts_at, counts_by_level, rewards_at
from .prior import LOG_ODDS_STEP, Observed, whole_prior

_FEW_LEVELS = 40  # more levels are binned
_LEVEL_BINS = 20  # bins with equal shares of the samples, and as many of equal width
_LOCATION_RANGE, _SHIFTS_PER_LOCATION = 12.0, 3  # the grid of d: its range and step in log-odds
_OCTAVES = np.arange(-2, 3.1, 0.5)  # the grid of a: powers of 2, times the average sharpness
_NEGLIGIBLE = 1e-7  # distributions with less than this share of the largest prior are dropped
_COUNTS_AT_ONCE = 2000  # distinct counts to estimate a prior from, and to work on at once
_ODDS_STEP = 0.025
_ODDS = _ODDS_STEP * np.arange(-1000, 1001)  # log-odds at which effects of overlaps are tabulated


def leveled_samples(rewards: Rewards, multiplicity: np.ndarray) -> LeveledSamples | None:
    """The samples of a group of questions by level; None if all of them have one reward.

    The levels are those of the group: they do not depend on the other questions of a run. Of more
    than 40 distinct real rewards, close ones share a level, which is their mean.

    Args:
        rewards: of U distinct questions of the run.
        multiplicity: (U,) number of questions of the group that have the same rewards.
    """
    rows = np.flatnonzero(multiplicity)
    group_rewards = rewards if len(rows) == len(multiplicity) else rewards_at(rewards, rows)
    levels, counts = _levels_and_counts(group_rewards)
    if len(levels) == 1:
        return None
    return LeveledSamples(levels, counts, multiplicity[rows], group_rewards)


def _levels_and_counts(rewards: Rewards) -> tuple[np.ndarray, np.ndarray]:
    """(L,) levels of rewards, ascending, and (U, L) samples at each, see `leveled_samples`."""
    if not isinstance(rewards, RankedRewards):
        return counts_by_level(rewards)  # a category without a sample is possible too
    values = rewards.levels
    levels, index = np.unique(values, return_inverse=True)
    if len(levels) > _FEW_LEVELS:
        low, high = levels[[0, -1]]
        _, index = np.unique(_bins(values, low, high), return_inverse=True)
        levels = np.bincount(index, values - low) / np.bincount(index) + low
    return levels, counts_at(rewards, index)


def _bins(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """The bin of each value: by share of the values, by range, and finer at the top."""
    shares = np.linspace(0, 1, _LEVEL_BINS + 1)
    top = 1 - 0.5 ** np.arange(2, math.log2(len(values)))  # the top decides the maximum of many
    cuts = np.sort([*np.quantile(values, [*shares, *top]), *(low + shares * (high - low))])
    return np.searchsorted(cuts, values, "right")


@dataclass(frozen=True, eq=False)
class LeveledSamples:
    """The samples of a group of questions by the level of their reward.

    Args:
        levels: (L,) rewards, ascending, two or more.
        counts: (U, L) numbers of samples at each level, for U distinct questions.
        multiplicity: (U,) number of questions that each of these stands for.
        rewards: of the same samples, before close ones share a level.
    """

    levels: np.ndarray
    counts: np.ndarray
    multiplicity: np.ndarray
    rewards: Rewards

    @cached_property
    def gaps(self) -> np.ndarray:
        """(L - 1,) differences of the scaled levels."""
        return np.diff(self.levels) / (self.levels[-1] - self.levels[0])

    @cached_property
    def scaled(self) -> np.ndarray:
        """(L,) the levels on a scale from 0 to 1, which all moments use."""
        return np.append(0.0, np.cumsum(self.gaps))

    @cached_property
    def n(self) -> np.ndarray:
        """(U,) numbers of samples. Those between the same powers of 2 become their harmonic mean.

        Moments are computed for each distinct n. Variances are about proportional to 1 / n.
        """
        n = self.counts.sum(axis=1)
        octave = np.floor(np.log2(n)).astype(np.int64)
        questions = np.maximum(np.bincount(octave, self.multiplicity), 1)
        inverse = np.bincount(octave, self.multiplicity / n) / questions
        return np.rint(1 / inverse[octave]).astype(np.int64)

    def at_levels(self, levels: np.ndarray, rows: np.ndarray | slice = slice(None)) -> Rewards:
        """The samples of some rows, with the (L,) rewards `levels` in place of their own."""
        at_most = np.cumsum(self.counts[rows], axis=1)
        return Rewards(np.arange(len(at_most)), levels, at_most)

    def binning_bias(self, ks: Sequence[int]) -> np.ndarray:
        """(U, e) the difference of Max@k of the rewards and of their levels, for k <= n."""
        binned, least = self.at_levels(self.levels), int(self.rewards.sizes.min())
        observed = [min(k, least) for k in ks]
        return np.transpose([self.rewards.max_of(k) - binned.max_of(k) for k in observed])

    def fit(self) -> FittedRewards:
        """Estimate the prior over the distributions of a grid.

        A prior under which mean rewards are Beta distributed is a second estimate, if it fits the
        data about as well.
        """
        grid = self._grid()
        used = slice(None, None, -(-len(self.counts) // _COUNTS_AT_ONCE))
        likelihood = grid.distributions.likelihood(self.counts[used])
        observed = Observed(self.n[used], likelihood, self.multiplicity[None, used])
        estimates = [
            observed.estimated_prior(grid.start),
            observed.last_step(self._beta_prior(grid)),
        ]
        if not observed.fits_too(*estimates)[0]:
            del estimates[1]
        wholes = [whole_prior(estimate) for estimate in estimates]
        has_share = [whole[0] > _NEGLIGIBLE * whole.max() for whole in wholes]
        kept = np.any(has_share, axis=0)
        shapes, shape = np.unique(grid.shape[kept], return_inverse=True)
        return FittedRewards(
            self,
            grid.shapes[shapes],
            shape,
            grid.location[kept],
            [
                {size: np.where(has, prior[0], 0.0)[kept] for size, prior in estimate.items()}
                for has, estimate in zip(has_share, estimates, strict=True)
            ],
        )

    def _grid(self) -> _Grid:
        """Return the locations and shapes of the distributions that a prior gives weights to."""
        total = self.multiplicity @ self.counts + 0.5
        above = np.cumsum(total[::-1])[::-1][1:] / total.sum()
        base = np.log(above) - np.log1p(-above)
        base = base - self.gaps @ base
        binary = len(base) == 1  # one threshold has no sharpness
        octaves = np.zeros(1) if binary else _OCTAVES
        shapes = self._sharpness() * 2 ** octaves[:, None] * base
        stride = 1 if binary else _SHIFTS_PER_LOCATION
        step = stride * LOG_ODDS_STEP
        first = np.floor((-_LOCATION_RANGE - shapes.max(axis=1)) / step).astype(int)
        last = np.ceil((_LOCATION_RANGE - shapes.min(axis=1)) / step).astype(int)
        shape = np.repeat(np.arange(len(shapes)), last - first + 1)
        location = stride * np.concatenate(
            [np.arange(low, high + 1) for low, high in zip(first, last, strict=True)]
        )
        distributions = self.distributions(shapes[shape], location)
        # Along each shape the mean reward is uniform.
        density = distributions.slope_of_mean()
        density /= np.bincount(shape, density)[shape]
        start = np.exp(-2 * octaves**2)[shape] * density
        return _Grid(shapes, shape, location, distributions, start / start.sum())

    def distributions(self, shapes: np.ndarray, location: np.ndarray) -> LevelDistributions:
        """Distributions with (.., L - 1) log-odds `shapes`, shifted by (..) steps of the grid."""
        return LevelDistributions(shapes + LOG_ODDS_STEP * location[:, None], self.gaps)

    def _beta_prior(self, grid: _Grid) -> np.ndarray:
        """(1, J) the prior under which mean rewards are Beta distributed, see `Observed`."""
        log_rates = np.log(np.maximum(grid.distributions.mean_and_rest(), 1e-300))
        n = self.counts.sum(axis=1)
        mean, square = (
            self.multiplicity @ (self.counts @ self.scaled**p / n) / self.multiplicity.sum()
            for p in (1, 2)
        )
        between = np.array([square - mean**2 - self._variance_within])
        every = Observed(n, np.empty(0), self.multiplicity[None])
        return every.beta_prior(grid.start, log_rates, np.array([mean]), between)

    def _sharpness(self) -> float:
        """The ratio of the standard deviations of all samples and of those of one question."""
        n = self.counts.sum(axis=1)
        first, second = (self.multiplicity @ (self.counts @ self.scaled**p) for p in (1, 2))
        samples = self.multiplicity @ n
        overall = second / samples - (first / samples) ** 2
        if not self._variance_within:
            return 1.0
        return math.sqrt(min(max(overall / self._variance_within, 1.0), 1024.0))

    @cached_property
    def _variance_within(self) -> float:
        """The unbiased variance of the samples of one question, or 0 if none is seen."""
        n, sums = self.counts.sum(axis=1), self.counts @ self.scaled
        squares = self.multiplicity @ (self.counts @ self.scaled**2 - sums**2 / n)
        return squares / (self.multiplicity @ (n - 1)) if squares > 1e-9 else 0.0

    def sum_of_changes(self, k: int) -> float:
        """The sum over questions of `squared_changes` at k, where a sample can be left out."""
        several = self.counts.sum(axis=1) > 1
        counts, multiplicity, total = self.counts[several], self.multiplicity[several], 0.0
        for start in range(0, len(counts), _COUNTS_AT_ONCE):
            rows = slice(start, start + _COUNTS_AT_ONCE)
            changes = squared_changes(counts[rows], self.gaps, k)
            total += float(multiplicity[rows] @ changes)
        return total


class _Grid(NamedTuple):
    """The distributions that questions may have, before samples are seen.

    Attributes:
        shapes: (S, L - 1) log-odds of the shapes of distributions, at the location 0.
        shape: (J,) the shape of each distribution.
        location: (J,) its location, in steps of `LOG_ODDS_STEP`.
        distributions: all J.
        start: (J,) their prior that the EM algorithm starts from.
    """

    shapes: np.ndarray
    shape: np.ndarray
    location: np.ndarray
    distributions: LevelDistributions
    start: np.ndarray


@dataclass(frozen=True, eq=False)
class FittedRewards:
    """The distributions that questions may have, and a prior over them.

    Args:
        samples: that the prior is estimated from.
        shapes, shape, location: of the J distributions, see `_Grid`.
        estimates: one or two estimates of the prior, {n: (J,)} with the sum 1. The first one is
            the prior. The second one fits the data about as well.
    """

    samples: LeveledSamples
    shapes: np.ndarray
    shape: np.ndarray
    location: np.ndarray
    estimates: Sequence[Mapping[int, np.ndarray]]

    @cached_property
    def distributions(self) -> LevelDistributions:
        """All J distributions."""
        return self.samples.distributions(self.shapes[self.shape], self.location)

    @property
    def sizes(self) -> list[int]:
        """The distinct n of the questions, by which the estimates are split."""
        return [*self.estimates[0]]

    @cached_property
    def priors(self) -> np.ndarray:
        """(E, J) the estimates of the prior, for all n together."""
        return np.array([whole_prior(estimate) for estimate in self.estimates])

    def excess_variances(self, k: int) -> np.ndarray:
        """(E,) factors by which estimates of Max@k vary more than under the grid, at least 1.

        With few questions the estimated distributions are too close to the samples. With many
        levels the grid may have no distribution close to those of the questions. The squared
        changes of Max@k when each sample is left out are compared with their expected sum, under
        each estimate of the prior.
        """
        samples, expected = self.samples, np.zeros(len(self.estimates))
        if len(samples.gaps) == 1:  # the grid contains every distribution over two levels
            return np.ones(len(expected))
        for n in self.sizes:
            if n > 1:
                changes = self.distributions.squared_changes(n, k)
                expected += [estimate[n] @ changes for estimate in self.estimates]
        expected *= samples.multiplicity.sum()
        observed = samples.sum_of_changes(k)
        known = np.minimum(observed, expected) > 1e-12
        return np.maximum(np.where(known, observed / np.maximum(expected, 1e-300), 1.0), 1.0)

    def shifted(self, shifts: int) -> LevelDistributions:
        """(S, T) distributions: each shape at all locations within this many shifts."""
        locations = np.arange(self.location.min() - shifts, self.location.max() + shifts + 1)
        return self.samples.distributions(self.shapes[:, None], locations)

    def shifted_means(self, values: np.ndarray, priors: np.ndarray) -> np.ndarray:
        """(E, F) means of (S, T) values of `shifted`, under (E, J) priors at each of F shifts."""
        column = self.location - self.location.min()
        shifts = np.arange(values.shape[1] - column.max())
        return priors @ values[self.shape[:, None], column[:, None] + shifts]

    def posterior_means(self, values: np.ndarray) -> np.ndarray:
        """(U, e) means of (J, e) values of the distributions, for each distinct count."""
        means = []
        for start in range(0, len(self.samples.counts), _COUNTS_AT_ONCE):
            counts = self.samples.counts[start : start + _COUNTS_AT_ONCE]
            weight = self.distributions.likelihood(counts) * self.priors[0]
            means.append(weight @ values / weight.sum(axis=1, keepdims=True))
        return np.concatenate(means)


# --- Distributions ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelDistributions:
    """Distributions over L levels of rewards, and exact moments of the maximum of k samples.

    Args:
        log_odds: (.., L - 1) of a reward above each level but the last.
        gaps: (L - 1,) differences of the levels.
    """

    log_odds: np.ndarray
    gaps: np.ndarray

    @cached_property
    def _log_below(self) -> np.ndarray:
        """(.., L - 1) logarithms of the probability of at most each level."""
        # np.logaddexp takes four times as long.
        size = np.abs(self.log_odds)
        return -np.maximum(self.log_odds, 0.0) - np.log1p(np.exp(-size))

    @cached_property
    def _row_of_table(self) -> tuple[np.ndarray, np.ndarray]:
        """(.., L - 1) the index in `_ODDS` below the log-odds, and the share of the next one."""
        exact = np.clip((self.log_odds - _ODDS[0]) / _ODDS_STEP, 0, len(_ODDS) - 1)
        row = exact.astype(np.intp)
        return row, exact - row

    def likelihood(self, counts: np.ndarray) -> np.ndarray:
        """(U, J) likelihood of (U, L) counts of samples by level, relative to the largest of J."""
        log_below, log_above = self._log_below, self._log_below + self.log_odds
        # Between two levels, F_l - F_(l-1) = F_l (1 - F_(l-1)) (1 - the quotient of the odds).
        distinct = -np.expm1(np.minimum(np.diff(self.log_odds, axis=1), -1e-9))
        inner = log_below[:, 1:] + log_above[:, :-1] + np.log(distinct)
        log_pmf = np.concatenate([log_below[:, :1], inner, log_above[:, -1:]], axis=1)
        log_likelihood = counts @ log_pmf.T
        return np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))

    def mean_and_rest(self) -> np.ndarray:
        """(2, ..) the mean above the lowest level, and how far it is below the highest one."""
        return np.stack(
            [np.exp(x) @ self.gaps for x in (self._log_below + self.log_odds, self._log_below)]
        )

    def slope_of_mean(self) -> np.ndarray:
        """(..) the derivative of the mean by a shift of all log-odds."""
        return np.exp(2 * self._log_below + self.log_odds) @ self.gaps

    def max_mean(self, k: int) -> np.ndarray:
        """(..) the expected maximum of k samples above the lowest level."""
        return self.gaps.sum() - np.exp(k * self._log_below) @ self.gaps

    def max_variance(self, n: int, k: int) -> np.ndarray:
        """(..) variance of the unbiased estimate of Max@k from n samples."""
        return self._variance(k, _overlap_effect(n, k, k))

    def max_covariance(self, n: int, j: int, k: int) -> np.ndarray:
        """(..) covariance of the unbiased estimates of Max@j and Max@k from the same n samples."""
        terms_j, terms_k = (np.exp(size * self._log_below) * self.gaps for size in (j, k))
        up_to_level, below = np.cumsum(terms_j, axis=-1), np.cumsum(terms_k, axis=-1) - terms_k
        first = self._interpolated(_overlap_effect(n, j, k)) * up_to_level
        return (first + self._interpolated(_overlap_effect(n, k, j)) * below) @ self.gaps

    def squared_changes(self, n: int, k: int) -> np.ndarray:
        """(..) the expected value of `squared_changes` for questions with n samples.

        It is n times the difference of the variances of estimates from n - 1 and from n samples
        (Efron & Stein 1981, Annals of Statistics 9, 586).
        """
        k = min(k, n - 1)
        return self._variance(k, _left_out_effect(n, k))

    def _variance(self, k: int, effect: np.ndarray) -> np.ndarray:
        """(..) variance of Max@k of subsets, from the effect of the overlap of two of them."""
        terms = np.exp(k * self._log_below) * self.gaps
        twice = 2 * np.cumsum(terms, axis=-1) - terms
        return (self._interpolated(effect) * twice) @ self.gaps

    def _interpolated(self, effect: np.ndarray) -> np.ndarray:
        """(.., L - 1) an effect at the log-odds. np.interp takes many times as long."""
        row, share = self._row_of_table
        return effect[row] + share * np.diff(effect, append=effect[-1])[row]


def squared_changes(counts: np.ndarray, gaps: np.ndarray, k: int) -> np.ndarray:
    """(U,) the sum over samples of the squared change of Max@k when the sample is left out.

    Max@k of all n samples has no value without one of them: that of n - 1 samples is used.

    Args:
        counts: (U, L) number of samples at each level, two samples or more of each question.
        gaps: (L - 1,) differences of the levels.
        k: number of samples in a subset.
    """
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    n = counts.sum(axis=1, keepdims=True)
    k, below = np.minimum(k, n - 1), np.cumsum(counts[:, :-1], axis=1)
    log_factorial, c = gammaln(np.arange(1, n.max() + 2)), np.maximum(below, k)
    log_share = log_factorial[c] - log_factorial[c - k] - log_factorial[n] + log_factorial[n - k]
    share = np.where(below >= k, gaps * np.exp(log_share), 0.0)  # of the subsets below each level
    # Without a sample above the level, the share is n / (n - k) times as large. Without one at most
    # as large, it is (c - k) / c of this.
    change = np.zeros(counts.shape)
    change[:, 1:] = np.cumsum(share, axis=1)
    change[:, :-1] -= np.cumsum((share * (n - c) / c)[:, ::-1], axis=1)[:, ::-1]
    return (counts * (k / (n - k) * change) ** 2).sum(axis=1)


@lru_cache(maxsize=256)
def _overlap_effect(n: int, j: int, k: int) -> np.ndarray:
    """(2001,) E[F^(k-c)] - F^k at each of the odds, if c of the k samples are among the j."""
    return _effect(k, _overlap_pmf(n, j, k))


@lru_cache(maxsize=256)
def _left_out_effect(n: int, k: int) -> np.ndarray:
    """(2001,) the effect in `squared_changes`: n times what leaving out one of n samples adds.

    It is added to `_overlap_effect(n, k, k)`, for k < n.
    """
    return _effect(k, n * (_overlap_pmf(n - 1, k, k) - _overlap_pmf(n, k, k)))


def _overlap_pmf(n: int, j: int, k: int) -> np.ndarray:
    """(k + 1,) the probability that c of k samples are among j others, of n in all."""
    pmf, c = np.zeros(k + 1), np.arange(max(0, j + k - n), min(j, k) + 1)
    pmf[c] = np.exp(_log_choose(k, c) + _log_choose(n - k, j - c) - _log_choose(n, j))
    return pmf


def _effect(k: int, weights: np.ndarray) -> np.ndarray:
    """(2001,) the sum over c of (k + 1,) weights times F^(k-c) - F^k, at each of the odds.

    F is the probability of at most a level, which a reward exceeds with these odds.
    """
    (c,) = np.nonzero(np.abs(weights) > 1e-17)
    log_below = -np.logaddexp(0, _ODDS)[:, None]
    return -np.expm1(c * log_below) * np.exp((k - c) * log_below) @ weights[c]


def _log_choose(n: int, c) -> np.ndarray:
    """Logarithms of the binomial coefficients C(n, c), for one c or an array."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    return gammaln(n + 1) - gammaln(np.asarray(c) + 1) - gammaln(n - np.asarray(c) + 1)
