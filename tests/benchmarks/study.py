"""One kind of bank: its scores, what they are in truth, and how often intervals hold that."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from at_k.inputs.outcomes import Counts
from at_k.intervals.interval import Blend, Intervals, normal_interval
from at_k.intervals.sampling import Estimate
from at_k.scores.credits import Credits, Score
from at_k.scores.distributions import expected, law
from holding import Cell, Tally
from scipy.stats import binom
from truths import KNOTS

CONFIDENCE = 0.95


class Study:
    """Cells of the scores of one kind of bank.

    Args:
        kinds: one question of each kind that there may be.
        keys, estimate: the scores, see `Sampling`.
        n: the samples that the truth is the mean score of, all the same if it is unbiased.
    """

    def __init__(self, kinds: Counts, keys: Mapping[str, Blend], estimate: Estimate, n: int):
        self.kinds, self.keys = kinds, keys
        self.columns = estimate(*kinds.kinds)
        c = np.arange(n + 1)
        self.knots = binom.pmf(c, n, KNOTS[:, None]) @ estimate(np.full(n + 1, n), c)
        self._top = estimate(kinds.kinds[0][-1:], kinds.kinds[0][-1:]).T
        self._tallies: dict[tuple[str, str, str], Tally] = {}

    def truth(self, shares: np.ndarray) -> dict[str, np.ndarray]:
        """(B,) each score of banks with these shares of the knots."""
        means = (shares @ self.knots).T
        return {key: blend.of(means) for key, blend in self.keys.items()}

    def add(
        self,
        target: str,
        interval: str,
        found: Mapping[str, Intervals],
        truth: Mapping[str, np.ndarray],
        table: np.ndarray,
    ) -> None:
        """Intervals of banks that have (B, U) questions of each kind."""
        means = (table @ self.columns).T / table.sum(axis=1)
        for key, each in found.items():
            blend = self.keys[key]
            u, top = blend.of(means), blend.of(self._top)
            edge = (u < 1e-12) | (u > top - 1e-12)
            tally = self._tallies.setdefault((target, interval, key), Tally())
            tally.add(each.lo, each.hi, truth[key], edge)

    def cells(self, **known) -> list[Cell]:
        """What was added, beside what is known of all of it."""
        result = []
        for (target, interval, key), tally in self._tallies.items():
            score, k = key.split()
            cell = {"target": target, "interval": interval, "score": score, "k": int(k)}
            result.append(known | cell | tally.cell())
        return result


# --- What others do -----------------------------------------------------------------------


def product(credit: Credits) -> Credits:
    """What the right ones of 2k draws are worth, if the worth of half of them is multiplied by
    that of the others: the unbiased estimate of the square of a score is its expectation."""
    k, value = len(credit), np.cumsum((0.0, *credit))
    m, j = np.arange(2 * k + 1)[:, None], np.arange(k + 1)
    halves = law(np.full(2 * k + 1, 2 * k), m[:, 0], k).hi
    values = (halves * value[j] * value[np.clip(m - j, 0, k)]).sum(axis=1)
    return tuple(np.maximum(np.diff(values), 0.0).tolist())


def unbiased_variances(kinds: Counts, scores: Mapping[str, Score]) -> dict[str, np.ndarray]:
    """(U,) h^2 - V of each score of 2k <= n draws that is no blend."""
    result = {}
    for key, score in scores.items():
        credit = score.credits[0]
        if len(score.credits) == 1 and 2 * len(credit) <= kinds.n.min():
            h, square = expected(*kinds.kinds, [credit, credit]).T[0], product(credit)
            result[key] = h**2 - expected(*kinds.kinds, [square])[:, 0]
    return result


def normal_intervals(
    study: Study, table: np.ndarray, variances: Mapping[str, np.ndarray]
) -> tuple[dict[str, Intervals], dict[str, Intervals]]:
    """By the standard error over questions, and by unbiased variances: of scores that are no blend,
    and within [0, 1]."""
    questions = table.sum(axis=1)
    means = (table @ study.columns).T / questions
    squares = (table @ study.columns**2).T / questions
    error, unbiased = {}, {}
    for key, blend in study.keys.items():
        column = blend.columns[0]
        if blend.powers == (1.0,):
            mean, square = means[column], squares[column]
            error[key] = _normal(mean, (square - mean**2) / (questions - 1))
        if key in variances:
            unbiased[key] = _normal(mean, table @ variances[key] / questions**2)
    return error, unbiased


def _normal(mean: np.ndarray, variance: np.ndarray) -> Intervals:
    sigma = np.sqrt(np.maximum(variance, 0.0))
    lo, hi = normal_interval(mean, sigma, CONFIDENCE, (0.0, 1.0))
    return Intervals(mean, sigma, lo, hi, "normal")
