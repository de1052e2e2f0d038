"""Simulations of one setting of the pass family: its true scores, and how intervals cover them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from at_k.inputs.counts import BinaryCounts
from at_k.intervals.interval import Interval
from at_k.intervals.posterior import normal_limits
from at_k.scores.credits import Credits
from at_k.scores.distributions import pmf
from at_k.scores.pass_family import Estimator, expected_credits
from at_k.scores.score import Score
from coverage_cells import Cell, Tally
from scipy.stats import binom
from truths import KNOTS

CONFIDENCE = 0.95


class Study:
    """The coverage of intervals of scores, for one number of questions and of samples.

    Args:
        counts: one question with each of the U distinct counts that can occur.
        scores: the scores in terms of the columns of `estimate`, by a key such as "pass@k 4".
        estimate: estimates of questions (n, c).
        n: number of samples of which the true score is the mean estimate. An unbiased estimate has
            the same mean for each n.

    Attributes:
        of_knots: (4001, m) mean estimates of a question at each knot.
    """

    def __init__(
        self, counts: BinaryCounts, scores: Mapping[str, Score], estimate: Estimator, n: int
    ):
        unique_n, unique_c = counts.unique
        self.scores, self.columns = scores, estimate(unique_n, unique_c)
        c = np.arange(n + 1)
        self.of_knots = binom.pmf(c, n, KNOTS[:, None]) @ estimate(np.full(n + 1, n), c)
        self._largest = estimate(unique_n[-1:], unique_n[-1:]).T
        self._tallies: dict[tuple[str, str, str], Tally] = {}

    def true_scores(self, shares: np.ndarray) -> dict[str, np.ndarray]:
        """Return each score, (B,), of questions with (B, 4001) weights of the knots."""
        means = (shares @ self.of_knots).T
        return {key: score.value(means) for key, score in self.scores.items()}

    def add(
        self,
        target: str,
        interval: str,
        found: Mapping[str, Interval],
        truth: Mapping[str, np.ndarray],
        multiplicity: np.ndarray,
    ) -> None:
        """Count how many of B intervals cover the true score.

        Args:
            target: what the interval is for, "same questions" or "new questions".
            interval: its name in the tables.
            found: the intervals, with (B,) limits.
            truth: the true scores, (B,) or (1,).
            multiplicity: (B, U) number of questions with each distinct count.
        """
        means = (multiplicity @ self.columns).T / multiplicity.sum(axis=1)
        for key, each in found.items():
            score = self.scores[key]
            u, largest = score.value(means), score.value(self._largest)
            at_end = (u < 1e-12) | (u > largest - 1e-12)
            tally = self._tallies.setdefault((target, interval, key), Tally())
            tally.add(each.lo, each.hi, truth[key], at_end)

    def cells(self, **setting) -> list[Cell]:
        """Return a cell for each target, interval and score, with the setting added to each."""
        result = []
        for (target, interval, key), tally in self._tallies.items():
            score, k = key.split()
            cell = {"target": target, "interval": interval, "score": score, "k": int(k)}
            result.append(setting | cell | tally.cell())
        return result


# --- Normal approximations in common use --------------------------------------------------


def squared(credit: Credits) -> Credits:
    """Return credits of 2k samples whose expected value is the square of a score of k samples.

    The value of 2k samples is the value of the first half times that of the second, averaged over
    the ways to split them.
    """
    k, value = len(credit), np.cumsum((0.0, *credit))
    m, j = np.arange(2 * k + 1)[:, None], np.arange(k + 1)
    split = pmf(np.full(2 * k + 1, 2 * k), m[:, 0], k).hi
    values = (split * value[j] * value[np.clip(m - j, 0, k)]).sum(axis=1)
    return tuple(np.maximum(np.diff(values), 0.0).tolist())


def unbiased_variances(counts: BinaryCounts, scores: Mapping[str, Score]) -> dict[str, np.ndarray]:
    """Return unbiased variances of the estimates of questions, (U,) for each score.

    The variance is h^2 - V, where h is the estimate of the score and V that of its square. It
    exists for scores of 2k <= n that are no products of scores.
    """
    n, c = counts.unique
    result = {}
    for key, score in scores.items():
        credit = score.terms[0]
        if len(score.terms) == 1 and 2 * len(credit) <= n.min():
            h = expected_credits(n, c, [credit, credit])[:, 0]
            result[key] = h**2 - expected_credits(n, c, [squared(credit)])[:, 0]
    return result


def normal_intervals(
    study: Study, multiplicity: np.ndarray, variances: Mapping[str, np.ndarray]
) -> tuple[dict[str, Interval], dict[str, Interval]]:
    """Return normal intervals for scores that are no products, clipped to [0, 1].

    Returns:
        The intervals from the standard error over questions, and those from unbiased variances.
    """
    questions = multiplicity.sum(axis=1)
    means = (multiplicity @ study.columns).T / questions
    squares = (multiplicity @ study.columns**2).T / questions
    from_questions, from_samples = {}, {}
    for key, score in study.scores.items():
        if score.powers != (1.0,):
            continue
        mean, square = score.value(means), score.value(squares)
        from_questions[key] = _normal(mean, (square - mean**2) / (questions - 1))
        if key in variances:
            from_samples[key] = _normal(mean, multiplicity @ variances[key] / questions**2)
    return from_questions, from_samples


def _normal(mean: np.ndarray, variance: np.ndarray) -> Interval:
    sigma = np.sqrt(np.maximum(variance, 0.0))
    lo, hi = normal_limits(mean, sigma, CONFIDENCE, (0.0, 1.0))
    return Interval(mean, sigma, lo, hi, "normal")
