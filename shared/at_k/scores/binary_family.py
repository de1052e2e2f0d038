"""The family of binary outcomes: each question has a success rate on a grid of log-odds.

Given the rate p, the number of correct samples is binomial. Adding d to all log-odds shifts the
family: the score is then theta(d), the mean of E[h | p] over the shifted prior, where h(n, c) is
the unbiased estimate of a question. Estimates from new samples of the same questions have the
variance E[Var[h | p]] / M. For new questions it is Var[h] / M, and it is at least the same share
of the largest variance that theta(d) allows as at d = 0: other questions may be a different
mixture, which does not concentrate at an end of the range as the shifted prior does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

import numpy as np

from ..inputs.counts import BinaryCounts
from .credits import Credits
from .family import Candidates, Family, Fit, Shifted, Statistics, variance_of_proportion
from .pass_family import Estimator
from .score import ColumnPair, Score, ScoreKey
from .success_rates import (
    GRID_SIZE,
    RATE_SUPPORT,
    binomial_likelihood,
    estimate_beta_prior,
    estimate_rate_prior,
    likely_rates,
    posterior_scores,
    scores_of_rates,
)

_COUNTS_OF_A_PIECE = 1 << 9  # c of one n, which few rates have in common
_ESTIMATES_AT_ONCE = 1 << 13  # which bounds the memory
_COUNT_BINS = 128  # the most bins for the number of correct samples in a profile


class BinaryFamily(Family):
    """Success rates of questions, with a prior estimated from the counts.

    Args:
        counts: of the run.
        scores: for each key the score in terms of the columns of `estimate`.
        estimate: unbiased estimates of questions (n, c).
        extrapolated: for each key the credits of a score of any k.
    """

    def __init__(
        self,
        counts: BinaryCounts,
        scores: Mapping[ScoreKey, Score],
        estimate: Estimator,
        extrapolated: Mapping[ScoreKey, Credits],
    ):
        n, self._c = counts.unique
        keys = list(extrapolated)
        super().__init__(counts.inverse, counts.multiplicity, n, scores, keys, (0.0, 1.0))
        self.estimate, self._credits = estimate, list(extrapolated.values())

    def _keep_rows(self, rows: np.ndarray) -> None:
        least, most = self._extremes_of_counts
        super()._keep_rows(rows)
        self._c = self._c[rows]
        vars(self)["_extremes_of_counts"] = least[rows], most[rows]

    @cached_property
    def columns(self) -> np.ndarray:
        return self.estimate(self.n, self._c)

    @cached_property
    def _extremes_of_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, m) estimates if no sample were correct, and if all were."""
        return self.estimate(self.n, np.zeros_like(self.n)), self.estimate(self.n, self.n)

    def extremes(self, multiplicity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = multiplicity / multiplicity.sum(axis=1, keepdims=True)
        least, most = ((share @ each).T for each in self._extremes_of_counts)
        return least, most

    def _fit_parts(self, multiplicity: np.ndarray) -> Fit:
        return Fit(multiplicity, estimate_rate_prior(self.n, self._c, multiplicity))

    def other_fits(self, fit: Fit) -> list[Fit]:
        priors = estimate_beta_prior(self.n, self._c, fit.multiplicity, fit.priors)
        return [] if priors is None else [Fit(fit.multiplicity, priors)]

    def shifted(self, fit: Fit, new_questions: bool) -> Shifted:
        pairs = list(dict.fromkeys(p for score in self.scores.values() for p in score.pairs()))
        theta, products = np.zeros(()), np.zeros(())
        for n, mean, square in _estimate_moments([*fit.priors], self.estimate, pairs):
            prior = fit.priors[n]
            if not new_questions:
                square = square - np.stack([mean[:, a] * mean[:, b] for a, b in pairs], axis=1)
            theta = theta + _means_over_shifted(prior, mean)
            products = products + _means_over_shifted(prior, square)
        theta = np.clip(theta, *self.extremes(fit.multiplicity))  # which rounding may exceed
        covariance = {
            (a, b): products[:, i] - (theta[:, a] * theta[:, b] if new_questions else 0.0)
            for i, (a, b) in enumerate(pairs)
        }
        if new_questions:
            least = variance_of_proportion(theta)
            for (a, b), each in covariance.items():
                if a == b:
                    covariance[a, a] = np.maximum(each, least[:, a] * each[len(each) // 2])
        parts = len(fit.multiplicity)
        return Shifted(theta, covariance, np.zeros(parts), np.ones(parts))

    def covariance_of_samples(self, fit: Fit) -> np.ndarray:
        result = np.zeros(())
        for n, priors in fit.priors.items():
            c, size, prior = np.arange(n + 1), np.full(n + 1, n), priors[0]
            pmf_of_c, h = binomial_likelihood(size, c)[:, RATE_SUPPORT], self.estimate(size, c)
            mean = pmf_of_c.T @ h
            result = result + (h.T * (pmf_of_c @ prior)) @ h - (mean.T * prior) @ mean
        return np.asarray(result)

    def _extrapolate(self, fit: Fit) -> np.ndarray:
        prior = sum(prior[0] for prior in fit.priors.values())
        # A sum over the grid may exceed 1 by rounding.
        return np.clip(posterior_scores(self.n, self._c, prior, self._credits), 0.0, 1.0)

    def candidates(self, fit: Fit, part: int) -> Candidates:
        multiplicity, scores = fit.multiplicity[part], scores_of_rates(self._credits)
        statistics = [
            self._shares_of_counts(n, prior[part], multiplicity)
            for n, prior in fit.priors.items()
            if multiplicity[self.n == n].any()
        ]
        return Candidates(statistics, True, scores, np.zeros(scores.shape[1]), 1.0)

    def _shares_of_counts(self, n: int, prior: np.ndarray, multiplicity: np.ndarray) -> Statistics:
        """The shares of the questions of n samples with each number c of correct ones, binned."""
        bins = np.arange(n + 1) * min(n + 1, _COUNT_BINS) // (n + 1)
        expected = binomial_likelihood(np.full(n + 1, n), np.arange(n + 1))[:, RATE_SUPPORT]
        expected = np.add.reduceat(expected, np.searchsorted(bins, np.arange(bins[-1] + 1)))
        weight = prior / prior.sum()
        covariance = np.diag(expected @ weight) - (expected * weight) @ expected.T
        times = np.where(self.n == n, multiplicity, 0)
        questions = times.sum()
        observed = np.bincount(bins[np.minimum(self._c, n)], times, len(expected)) / questions
        # Half a question of slack, for counts that the estimated prior makes almost impossible.
        slack = np.eye(len(expected)) / 2 / questions**2
        return Statistics(expected, observed, covariance / questions + slack)


def _estimate_moments(
    sizes: list[int], estimate: Estimator, pairs: list[ColumnPair]
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each n, (283, m) E[h | p] and, for each pair, (283, P) E[h_a h_b | p] of a question."""
    pieces = [
        (n, start, min(n + 1, start + _COUNTS_OF_A_PIECE))
        for n in sizes
        for start in range(0, n + 1, _COUNTS_OF_A_PIECE)
    ]
    moments: dict[int, np.ndarray] = {}
    first = 0
    while first < len(pieces):  # estimates of many n at once
        last = first + 1
        rows = pieces[first][2] - pieces[first][1]
        while last < len(pieces) and rows < _ESTIMATES_AT_ONCE:
            rows += pieces[last][2] - pieces[last][1]
            last += 1
        some = pieces[first:last]
        n = np.concatenate([np.full(stop - start, size) for size, start, stop in some])
        c = np.concatenate([np.arange(start, stop) for _, start, stop in some])
        h = estimate(n, c)
        values = np.hstack([h, np.stack([h[:, a] * h[:, b] for a, b in pairs], axis=1)])
        place = 0
        for size, start, stop in some:
            rates, pmf_of_c = _binomial_piece(size, start, stop)
            found = moments.setdefault(size, np.zeros((GRID_SIZE, values.shape[1])))
            found[rates] += pmf_of_c.T @ values[place : place + stop - start]
            place += stop - start
            if stop == size + 1:
                yield size, found[:, : h.shape[1]], found[:, h.shape[1] :]
                del moments[size]
        first = last


def _binomial_piece(n: int, start: int, stop: int) -> tuple[slice, np.ndarray]:
    """The rates at which c = start .. stop - 1 have a probability, and these probabilities."""
    if n < _COUNTS_OF_A_PIECE:
        return slice(None), _binomial_table(n)
    c = np.arange(start, stop)
    rates = likely_rates(n, start, stop - 1)
    return rates, binomial_likelihood(np.full(len(c), n), c, rates)


@lru_cache(maxsize=64)
def _binomial_table(n: int) -> np.ndarray:
    return binomial_likelihood(np.full(n + 1, n), np.arange(n + 1))


def _means_over_shifted(prior: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(123, m, B) means of (283, m) values over (B, 161) priors, each shifted to 123 places."""
    shifted = np.lib.stride_tricks.sliding_window_view(values[1:-1], prior.shape[1], axis=0)
    weight = prior.sum(axis=1)
    first, last = values[0][None, :, None] * weight, values[-1][None, :, None] * weight
    return np.concatenate([first, shifted @ prior.T, last])
