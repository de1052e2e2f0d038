"""The family of rewards for TailPass@k, and its posterior moments.

The distributions over the levels of rewards, their prior and their shifts are those of
`reward_family`. With a Dirichlet prior over the categories, the number of new samples in each has
a Dirichlet-multinomial distribution. The product of two probabilities of k samples is a mean over
2k samples: over all ways to split them into halves, of the product of both events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.choice import IntervalOptions
from ..core.interval import UNIT_RANGE, IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.rewards import Rewards
from ..core.score import Moments, ScoreId, ScoreKey, Scores, one_column_each
from ..scores.tails import (
    Tail,
    in_units,
    levels_of,
    tail_moments,
    tail_scores,
    tails_of_subsets,
)
from .family import Candidates, Fit, Shifted
from .reward_family import MEMBERS, REWARD_SHIFTS, LevelsFamily, shifted_columns
from .reward_levels import FittedRewards
from .sampling import family_intervals

_MOST_LEVELS = 40  # of which all distributions are known
_MOST_PAIRS_OF_COUNTS = 20_000_000  # pairs of counts of k samples


def tails_with_limits(
    rewards: Rewards, ks: Sequence[int], thresholds: Sequence[float], options: IntervalOptions
) -> tuple[Scores, IntervalMethod | None]:
    """TailPass@k for each k <= n and threshold, and the method of its limits if requested."""
    tails = {ScoreId("TailPass@k", k, tau): Tail(k, tau) for k in ks for tau in thresholds}
    if options.confidence is None:
        return tail_scores(rewards, tails), None
    return tail_intervals(rewards, tails, options)


def tail_intervals(
    rewards: Rewards, tails: Mapping[ScoreKey, Tail], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """TailPass@k for each key, k <= n, and the method of its intervals."""
    scores = tail_scores(rewards, tails)
    if options.method == "hierarchical":
        raise ValueError(
            "TailPass@k has no interval='hierarchical': pass another, or leave TailPass@k out."
        )
    if options.method == "posterior":
        return scores, PosteriorIntervals(tail_posterior(rewards, tails), UNIT_RANGE)
    return scores, family_intervals(TailFamily.of_run(rewards, tails), options)


@dataclass(frozen=True, eq=False, kw_only=True)
class TailFamily(LevelsFamily):
    """Distributions of rewards from 0 to 1, with the scores TailPass@k.

    Args:
        tails: of the columns.
    """

    tails: Sequence[Tail]

    @classmethod
    def of_run(cls, rewards: Rewards, tails: Mapping[ScoreKey, Tail]) -> TailFamily:
        """The family of all questions of a run.

        Args:
            tails: for each key the event whose probability is the score, with k <= n.

        Raises:
            ValueError: if there are too many distinct rewards.
        """
        levels, events = levels_of(rewards), list(tails.values())
        if len(levels.rewards) > _MOST_LEVELS:
            raise ValueError(
                f"There are more than {_MOST_LEVELS} distinct rewards, for which TailPass@k has no "
                f"interval: round them, or leave confidence out."
            )
        return cls(
            inverse=rewards.inverse,
            multiplicity=rewards.multiplicity,
            n=rewards.sizes,
            columns=tails_of_subsets(levels, events),
            scores=one_column_each(tails),
            extrapolated=[],
            bounds=np.broadcast_to(UNIT_RANGE, (len(rewards.sizes), 2)),
            rewards=rewards,
            tails=events,
        )

    def shifted(self, fit: Fit) -> Shifted:
        groups = len(fit.priors)
        theta = np.zeros((MEMBERS, len(self.tails), groups))
        variance = np.zeros_like(theta)
        for group, fitted in enumerate(fit.priors):
            for column, tail in enumerate(self.tails):
                if fitted is None:  # all rewards are equal
                    row = np.argmax(fit.multiplicity[group] > 0)
                    theta[:, column, group] = self.columns[row, column]
                    continue
                extremes, mean, square = _shifted_tails(fitted, tail)
                theta[0, column, group], theta[-1, column, group] = extremes
                theta[1:-1, column, group], variance[1:-1, column, group] = mean, square
        return shifted_columns(theta, variance, np.zeros(groups), np.ones(groups))

    def covariance_of_samples(self, fit: Fit) -> np.ndarray:
        # Covariances of different tails are not known. Uncorrelated errors are the worst case.
        shifted = self.shifted(fit)
        center = len(shifted.theta) // 2
        return np.diag([variance[center, 0] for variance in shifted.covariance.values()])

    def candidates(self, fit: Fit, group: int) -> Candidates | None:
        raise NotImplementedError  # no score is extrapolated

    def _extrapolate(self, fit: Fit) -> list[np.ndarray]:
        raise NotImplementedError


def _shifted_tails(
    fitted: FittedRewards, tail: Tail
) -> tuple[tuple[float, float], np.ndarray, np.ndarray]:
    """Scores with the lowest and the highest level only; scores and variances of each shift."""
    log_odds = fitted.shifted_log_odds(REWARD_SHIFTS)
    above = 1 / (1 + np.exp(-log_odds.reshape(-1, log_odds.shape[-1])))
    probabilities = -np.diff(above, axis=1, prepend=1.0, append=0.0)
    mean, within = tail_moments(probabilities, fitted.samples.levels, tail, list(fitted.priors))
    shape = log_odds.shape[:-1]
    mean = mean.reshape(shape)
    theta = np.clip(fitted.shifted_means(mean, fitted.prior), 0.0, 1.0)
    variance = fitted.excess_variance(1) * sum(
        fitted.shifted_means(within[n].reshape(shape), prior) for n, prior in fitted.priors.items()
    )
    steps, unit = in_units(fitted.samples.levels)
    lowest, highest = (tail.k * step >= tail.least_sum(unit) for step in steps[[0, -1]].tolist())
    return (float(lowest), float(highest)), theta, np.asarray(variance)


# --- Posterior ----------------------------------------------------------------------------


class Payoffs:
    """Payoffs of k samples that depend on their mean reward, under a Dirichlet posterior.

    Args:
        concentrations: (U, L) of the posterior of each question.
        rewards: (L,) of the levels, distinct.
        k: number of new samples.

    Raises:
        ValueError: if k samples have too many different counts.
    """

    def __init__(self, concentrations: np.ndarray, rewards: np.ndarray, k: int):
        number = math.comb(k + len(rewards) - 1, k)
        if number**2 > _MOST_PAIRS_OF_COUNTS:
            raise ValueError(
                f"{k} samples at {len(rewards)} levels of rewards have {number} different counts, "
                f"which is too many for a posterior: give a smaller k, fewer distinct rewards, or "
                f"interval='sampling'."
            )
        steps, unit = in_units(rewards)
        self._counts = _counts_of_levels(k, len(rewards))
        self._concentrations = concentrations
        self.means = self._counts @ steps / (k * unit)
        self.pmf = _dirichlet_multinomial(self._counts, concentrations)

    def mean(self, payoff: np.ndarray) -> np.ndarray:
        """(U,) posterior mean of a payoff of each count, (S,)."""
        return self.pmf @ payoff

    def covariance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(U,) posterior covariance of the expected values of two payoffs."""
        # Payoffs near 1 are replaced by their complement, so that nothing cancels.
        sign = 1.0
        if a.mean() > 0.5:
            a, sign = 1 - a, -sign
        if b.mean() > 0.5:
            b, sign = 1 - b, -sign
        index, ways, twice = self._pairs
        products = np.bincount(index, (ways * np.multiply.outer(a, b)).ravel(), twice.shape[1])
        return sign * (twice @ products - self.mean(a) * self.mean(b))

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each pair of counts the index of their sum, and the probability of this split.

        The third is the (U, S2) pmf of the counts of 2k samples.
        """
        counts, k = self._counts, int(self._counts[0].sum())
        base = (2 * k + 1) ** np.arange(counts.shape[1])
        doubled = _counts_of_levels(2 * k, counts.shape[1])
        codes = doubled @ base
        order = np.argsort(codes)
        sums = np.add.outer(counts @ base, counts @ base).ravel()
        index = order[np.searchsorted(codes[order], sums)]
        log_ways = _log_multinomial(counts)
        log_split = np.add.outer(log_ways, log_ways) - _log_multinomial(doubled)[index].reshape(
            len(counts), -1
        )
        return index, np.exp(log_split), _dirichlet_multinomial(doubled, self._concentrations)


def tail_posterior(rewards: Rewards, tails: Mapping[ScoreKey, Tail]) -> Moments:
    """Posterior means and variances of TailPass@k, with the prior of Max@k.

    Raises:
        ValueError: if the rewards are real, and so have no categories.
    """
    posterior = rewards.posterior_counts()
    levels_of(rewards)  # checks the rewards
    concentrations = np.diff(posterior, axis=1, prepend=0).astype(float)
    by_k = {k: Payoffs(concentrations, rewards.levels, k) for k in {x.k for x in tails.values()}}
    mean, covariance = [], {}
    for column, tail in enumerate(tails.values()):
        payoffs = by_k[tail.k]
        payoff = reaches(payoffs.means, tail.tau, tail.k)
        mean.append(payoffs.mean(payoff))
        covariance[column, column] = np.maximum(payoffs.covariance(payoff, payoff), 0.0)
    return Moments(one_column_each(tails), rewards.inverse, np.stack(mean, axis=1), covariance)


def reaches(means: np.ndarray, tau: float, k: int) -> np.ndarray:
    """(S,) 1 where the mean of k rewards reaches a threshold, and 0 elsewhere."""
    return (means * k >= tau * k - 1e-9).astype(float)


def _counts_of_levels(k: int, levels: int) -> np.ndarray:
    """(S, L) all numbers of k samples at each of L levels."""
    if levels == 1:
        return np.array([[k]])
    return np.concatenate(
        [
            np.column_stack([np.full(len(rest), first), rest])
            for first in range(k + 1)
            for rest in [_counts_of_levels(k - first, levels - 1)]
        ]
    )


def _log_multinomial(counts: np.ndarray) -> np.ndarray:
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    return gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)


def _dirichlet_multinomial(counts: np.ndarray, concentrations: np.ndarray) -> np.ndarray:
    """(U, S) pmf of (S, L) counts for (U, L) concentrations."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    k, total = counts[0].sum(), concentrations.sum(axis=1)[:, None]
    log_pmf = _log_multinomial(counts) - gammaln(total + k) + gammaln(total)
    for count, prior in zip(counts.T, concentrations.T[:, :, None], strict=True):
        log_pmf = log_pmf + gammaln(prior + count) - gammaln(prior)
    return np.exp(log_pmf)
