"""Scores of more draws than there are samples, by a prior that is learned from the bank.

Of k > n draws n samples tell nothing for sure: what they leave open is said by the width. The
interval is a profile over every prior on the grid of `sampling`: with h the shares of questions
with c = 0 .. n right samples, and S their covariance under the learned prior,

    fit(G) = (h - E_G h)' S^-1 (h - E_G h),

it is every integral of g dG with fit(G) <= least fit + z^2, where g(p) is the score of a question
of success rate p (near the F-localization of Ignatiadis & Wager 2022, JASA 117). The estimate is
that of the learned prior.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.optimize import brentq, nnls

from ..inputs.outcomes import Counts
from ..scores.credits import Credits
from ..scores.distributions import worth
from .interval import Interval, Spread, normal_reach
from .sampling import PRIOR, binomial, learn

_RATES = PRIOR.stop - PRIOR.start  # on the grid
_COUNT_BINS = 128  # that the numbers of right samples are told apart by, at most


def scores_of_rates(credits: Sequence[Credits]) -> np.ndarray:
    """(161, m) g(p): what k draws are worth at each success rate of the grid."""
    columns = []
    for credit in credits:
        k = len(credit)
        law = binomial(np.full(k + 1, k), np.arange(k + 1))[:, PRIOR]
        columns.append(worth(credit).hi @ (law / law.sum(axis=0)))
    return np.array(columns).reshape(len(credits), -1).T if columns else np.empty((_RATES, 0))


def learned(counts: Counts, credits: Sequence[Credits]) -> np.ndarray:
    """(U, m) the score of each kind of question, given its counts and the learned prior."""
    n, c = counts.kinds
    weight = binomial(n, c)[:, PRIOR] * sum(learn(counts).values())
    return weight @ scores_of_rates(credits) / weight.sum(axis=1, keepdims=True)


class Hierarchical(Spread):
    """Intervals of expected credits, for any k.

    Args:
        counts: of the bank.
        credits: the name of each score, and its credits.
    """

    def __init__(self, counts: Counts, credits: Mapping[str, Credits]):
        self._counts, self._credits = counts, credits

    @cached_property
    def _means(self) -> np.ndarray:
        """(U, m) the scores of each kind of question by the learned prior."""
        return learned(self._counts, list(self._credits.values()))

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the scores over the questions `rows`.

        Raises:
            ValueError: if one sample of each question does not tell how they are spread.
        """
        if not self._credits:
            return {}
        counts = Counts(self._counts.n[rows], self._counts.c[rows])
        if counts.n.max() < 2:
            raise ValueError(
                "There is one sample of each question, which tells nothing of more draws."
            )
        reach, fit = normal_reach(confidence), _Fit(counts)
        scores = scores_of_rates(list(self._credits.values()))
        means = self._means[self._counts.kind[rows]].mean(axis=0).tolist()
        result = {}
        for key, score, mean in zip(self._credits, scores.T, means, strict=True):
            lo, hi = fit.least(score, reach**2), -fit.least(-score, reach**2)
            mu = min(max(mean, lo), hi)
            result[key] = Interval(mu, (hi - lo) / 2 / reach, lo, hi, "hierarchical")
        return result

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]:
        """That nothing is known: anything between 0 and 1."""
        means = self._means[self._counts.kind[rows]].mean(axis=0).tolist()
        return {
            key: Interval(mean, 0.5, 0.0, 1.0, "none")
            for key, mean in zip(self._credits, means, strict=True)
        }


class _Fit:
    """How well priors fit the counts of a bank."""

    def __init__(self, counts: Counts):
        laws, shares = [], []
        for n, prior in learn(counts).items():
            c = counts.c[counts.n == n]
            bins = np.arange(n + 1) * min(n + 1, _COUNT_BINS) // (n + 1)
            law = binomial(np.full(n + 1, n), np.arange(n + 1))[:, PRIOR]
            law = np.add.reduceat(law, np.searchsorted(bins, np.arange(bins[-1] + 1)))
            weight = prior / prior.sum()
            spread = np.diag(law @ weight) - (law * weight) @ law.T
            # Half a question of slack, for shares that the learned prior leaves no room.
            root = np.linalg.cholesky(spread / len(c) + np.eye(len(law)) / 2 / len(c) ** 2)
            share = np.bincount(bins[c], minlength=len(law)) / len(c)
            laws.append(np.linalg.solve(root, law))
            shares.append(np.linalg.solve(root, share))
        u, size, vt = np.linalg.svd(np.concatenate(laws), full_matrices=False)
        kept = size > 1e-6 * size[0]
        self._law = size[kept, None] * vt[kept]
        self._share = u[:, kept].T @ np.concatenate(shares)
        self._heavy = 1e3 * max(1.0, float(np.linalg.norm(self._share)))
        self._best_misfit, self._best = self._misfit()

    def least(self, score: np.ndarray, allowed: float) -> float:
        """The least mean of a score, (161,), over all priors that fit but for `allowed`."""
        far, near = float(score.min()), float(score @ self._best)
        if self._misfit(score, far)[0] <= self._best_misfit + allowed:
            return far

        def beyond(level: float) -> float:
            # The misfit is nearly a parabola of the score, and so this is nearly a line.
            more = self._misfit(score, level)[0] - self._best_misfit
            return math.sqrt(max(0.0, more)) - math.sqrt(allowed)

        return float(brentq(beyond, far, near, xtol=1e-5 * (near - far)))

    def _misfit(
        self, score: np.ndarray | None = None, level: float = 0.0
    ) -> tuple[float, np.ndarray]:
        """The best of all priors, with that mean of the score if one is given."""
        rows, goal = [self._law, np.full((1, self._law.shape[1]), self._heavy)], [self._heavy]
        if score is not None:
            # In place of a constraint, a row that outweighs all others.
            rows.append(100 * self._heavy * (score - level)[None])
            goal.append(0.0)
        prior, _ = nnls(np.concatenate(rows), np.concatenate([self._share, goal]), maxiter=10_000)
        return float(np.sum((self._law @ prior - self._share) ** 2)), prior / prior.sum()
