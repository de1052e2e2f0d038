"""Payoffs of the mean reward of k samples, and their posterior moments, for `at_k.tailpass`.

With a Dirichlet prior over the categories, the number of new samples in each has a
Dirichlet-multinomial distribution. The product of two probabilities of k samples is a mean over 2k
samples: over all ways to split them into halves, of the product of both events.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..scores.tails import in_units

_MOST_PAIRS_OF_COUNTS = 20_000_000  # pairs of counts of k samples


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
                f"which is too many for a posterior: give a smaller k, or fewer distinct rewards."
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
        """(U,) posterior covariance of the expected values of two payoffs.

        Their expected product is that of one payoff of k samples and the other of k more, so it is
        a mean over 2k samples and the ways to split them.
        """
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
