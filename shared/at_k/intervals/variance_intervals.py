"""Intervals for the same questions from an estimated variance of the score of each question.

The scores of M questions have independent errors, so the variance of their mean is the sum of the
variances over M^2. The interval is Wilson's for the effective number of trials, as for other
questions like these (`questions`). It is used for scores that depend on more than the number of
correct samples: the vote of answers, and the mean of shares of correctness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..scores.score import ScoreKey
from .interval import Interval, IntervalMethod, normal_z
from .questions import QuestionIntervals, wilson_limits


class EstimatedScore(NamedTuple):
    """A score from 0 to 1 of M questions.

    Args:
        values: (M,) estimates.
        variances: (M,) of the estimates, for new samples of the same questions.
        trials: (M,) number of disjoint sets of samples that a question has.
    """

    values: np.ndarray
    variances: np.ndarray
    trials: np.ndarray


class VarianceIntervals(IntervalMethod):
    """Intervals of means of scores, for new samples of the same questions.

    Args:
        scores: by key.
        n: (M,) samples.
    """

    def __init__(self, scores: Mapping[ScoreKey, EstimatedScore], n: np.ndarray):
        self.scores, self._n = scores, n
        values = {key: score.values for key, score in scores.items()}
        self._other_questions = QuestionIntervals(values, (0.0, 1.0), allow_one=True)

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._intervals(rows, confidence) for rows in parts]

    def _intervals(self, rows: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        if self._n[rows].max() < 2:  # only other questions show how samples vary
            return self._other_questions.for_parts([rows], confidence)[0]
        result = {}
        for key, (values, variances, trials) in self.scores.items():
            mean = float(values[rows].mean())
            variance = float(variances[rows].sum()) / len(rows) ** 2
            number = float(trials[rows].sum())
            lo, hi = wilson_limits(mean, variance, number, (0.0, 1.0), normal_z(confidence))
            result[key] = Interval(mean, math.sqrt(variance), lo, hi, "sampling")
        return result
