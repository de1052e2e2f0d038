"""Methods of limits that combine others, and a method for scores with known variances."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..core.choice import method_of_auto
from ..core.interval import DerivedIntervals, Interval, IntervalMethod, normal_z
from ..core.questions import wilson_limits
from ..core.score import ScoreKey
from . import Intervals


class AutoIntervals(IntervalMethod):
    """Intervals by the method that the data of each group allow, see `method_of_auto`.

    `repeated` is the method for groups in which a question has two samples or more, and `single`
    that for groups in which each question has one. `n`, (M,), are numbers of samples.
    """

    def __init__(self, n: np.ndarray, repeated: IntervalMethod, single: IntervalMethod):
        self._n, self._repeated, self._single = n, repeated, single

    def for_groups(self, groups: Sequence[np.ndarray], confidence: float) -> list[Intervals]:
        """Return the interval of each score for each group of question indices."""
        result: dict[int, Intervals] = {}
        for method in (self._repeated, self._single):
            own = [i for i, questions in enumerate(groups) if self._method(questions) is method]
            intervals = method.for_groups([groups[i] for i in own], confidence)
            result |= dict(zip(own, intervals, strict=True))
        return [result[i] for i in range(len(groups))]

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """Return the keys of scores that the method for these questions cannot estimate."""
        return self._method(questions).unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the covariance of the errors of m scores over these questions, (m, m)."""
        return self._method(questions).covariance(questions, keys)

    def _method(self, questions: np.ndarray) -> IntervalMethod:
        """Return the method for the questions with these indices."""
        chosen = method_of_auto(False, False, repeated=bool(self._n[questions].max() > 1))
        return self._repeated if chosen == "sampling" else self._single


class JoinedIntervals(DerivedIntervals):
    """Intervals of all scores of a metric: by `some` for the scores in `keys`, else by `most`."""

    def __init__(self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]):
        super().__init__(most)
        self._some, self._keys = some, {*keys}

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the covariance of the errors of m scores, (m, m), 0 between both methods."""
        result = np.eye(len(keys))
        for method, has_key in ((self._method, False), (self._some, True)):
            if rows := [i for i, key in enumerate(keys) if (key in self._keys) is has_key]:
                own = method.covariance(questions, [keys[i] for i in rows])
                result[np.ix_(rows, rows)] = own
        return result

    def for_groups(self, groups: Sequence[np.ndarray], confidence: float) -> list[Intervals]:
        """Return the interval of each score for each group of question indices."""
        most, some = (
            method.for_groups(groups, confidence) for method in (self._method, self._some)
        )
        return [a | b for a, b in zip(most, some, strict=True)]


class EstimatedScore(NamedTuple):
    """A score of M questions, with estimated variances.

    Args:
        values: (M,) estimates.
        variances: (M,) variances of the estimates, for new samples of the same questions.
        trials: (M,) number of disjoint subsets of k samples that each question has, n / k.
    """

    values: np.ndarray
    variances: np.ndarray
    trials: np.ndarray


class VarianceIntervals(IntervalMethod):
    """Intervals of means of scores from 0 to 1, for new samples of the same questions."""

    def __init__(
        self, scores: Mapping[ScoreKey, EstimatedScore], weights: np.ndarray | None = None
    ):
        self._scores, self._weights = scores, weights

    def for_groups(self, groups: Sequence[np.ndarray], confidence: float) -> list[Intervals]:
        """Return the interval of each score for each group of question indices."""
        return [
            {
                key: self._interval(score, questions, confidence)
                for key, score in self._scores.items()
            }
            for questions in groups
        ]

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the variances of the means of m scores on the diagonal of an (m, m) matrix."""
        # The covariances of scores at different k are not known.
        squares = self._shares(questions) ** 2
        return np.diag([float(squares @ self._scores[key].variances[questions]) for key in keys])

    def _shares(self, questions: np.ndarray) -> np.ndarray:
        """Return the share of each of these questions in a mean."""
        weights = np.ones(len(questions)) if self._weights is None else self._weights[questions]
        return weights / weights.sum()

    def _interval(
        self, score: EstimatedScore, questions: np.ndarray, confidence: float
    ) -> Interval:
        """Return Wilson's interval of the mean of a score over the questions with these indices."""
        values, variances, trials = (column[questions] for column in score)
        share = self._shares(questions)
        mean = float(values.mean() if self._weights is None else share @ values)
        variance, number = float(share**2 @ variances), trials.mean() / np.sum(share**2)
        lo, hi = wilson_limits(mean, variance, number, normal_z(confidence))
        return Interval(mean, math.sqrt(variance), float(lo), float(hi), "sampling")
