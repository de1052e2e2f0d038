"""Intervals from the scores of the questions alone, whatever the scores are.

*Other questions like these*: the closed form of `questions`.

*The same questions, sampled again*: if the variance of the score of each question has been
estimated, that of their mean is the sum of the variances over M^2, as the errors are independent.
The interval is Wilson's for the effective number of trials. It is used for scores that depend on
more than the number of correct samples: the vote of answers, the sample that another score picks,
and the mean of shares of correctness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..inputs.counts import UniqueIntegers
from ..scores.score import ScoreKey, Scores
from .interval import UNIT_RANGE, Interval, IntervalMethod, normal_z, whole_range
from .questions import (
    MeansOfQuestions,
    Ranges,
    limits_of_product,
    means_of_questions,
    wilson_limits,
)

ONE_CLUSTER = "there is one question, or one cluster of questions"

TOO_FEW_CLUSTERS = (
    "one question, or one cluster of questions, does not show how questions vary: add questions, "
    "or pass interval='sampling'"
)


class QuestionIntervals(IntervalMethod):
    """Intervals of scores for other questions like these.

    Args:
        scores: of the questions.
        ranges: of the true scores in the columns, broadcast to (U, m).
        clusters: (M,) label of each question's cluster, or None if each question is its own.
        allow_one: whether one question, or one cluster, has the whole range as its interval.
        ranges_of_estimates: if estimates may lie outside of the range of the scores.
    """

    def __init__(
        self,
        scores: Scores,
        ranges: Ranges = UNIT_RANGE,
        clusters: np.ndarray | None = None,
        allow_one: bool = False,
        ranges_of_estimates: Ranges | None = None,
    ):
        self._scores, self._clusters, self._allow_one = scores, clusters, allow_one
        self._ranges, self._ranges_of_estimates = ranges, ranges_of_estimates

    def problem(self, questions: np.ndarray) -> str | None:
        return TOO_FEW_CLUSTERS if self._is_one(questions) and not self._allow_one else None

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._intervals(questions, confidence) for questions in groups]

    def means(self, questions: np.ndarray) -> MeansOfQuestions:
        """The means of the columns over questions."""
        if self._clusters is not None:
            rows = self._scores.inverse[questions]
            return means_of_questions(self._scores.columns[rows], None, self._clusters[questions])
        used = UniqueIntegers(self._scores.inverse[questions], len(self._scores.columns))
        return means_of_questions(self._scores.columns[used.values], used.multiplicity)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        result, scores = np.eye(len(keys)), self._scores.keys
        known = [i for i, key in enumerate(keys) if key in scores]
        means = self.means(questions)
        gradient = np.stack([scores[keys[i]].gradient(means.mean) for i in known], axis=1)
        result[np.ix_(known, known)] = gradient.T @ means.covariance @ gradient
        return result

    def _intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        rows = self._scores.inverse[questions]
        least, most = self._extremes(self._ranges, rows)
        if self._is_one(questions):
            mean = self._scores.columns[rows].mean(axis=0)
            return {
                key: whole_range(
                    score.value(mean), score.value(least), score.value(most), ONE_CLUSTER
                )
                for key, score in self._scores.keys.items()
            }
        means, of_estimates = self.means(questions), self._ranges_of_estimates
        lo, hi = means.limits(
            confidence,
            (least, most),
            None if of_estimates is None else self._extremes(of_estimates, rows),
        )
        result = {}
        for key, score in self._scores.keys.items():
            lower, upper = limits_of_product(score, lo, means.mean, hi, means.covariance)
            mean, variance = score.value(means.mean), score.variance(means.mean, means.covariance)
            sigma = math.sqrt(max(0.0, variance))
            result[key] = Interval(float(mean), sigma, float(lower), float(upper), "questions")
        return result

    def _extremes(self, ranges: Ranges, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the smallest and the largest values of the columns over questions."""
        least, most = (np.broadcast_to(x, self._scores.columns.shape)[rows] for x in ranges)
        return least.min(axis=0), most.max(axis=0)

    def _is_one(self, questions: np.ndarray) -> bool:
        labels = questions if self._clusters is None else self._clusters[questions]
        return bool((labels == labels[0]).all())


class EstimatedScore(NamedTuple):
    """A score of M questions.

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
        limits: the smallest and the largest possible score.
    """

    def __init__(
        self,
        scores: Mapping[ScoreKey, EstimatedScore],
        limits: tuple[float, float] = UNIT_RANGE,
    ):
        self._scores, self._limits = scores, limits

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._intervals(questions, confidence) for questions in groups]

    def _intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        (least, most), z, result = self._limits, normal_z(confidence), {}
        width = most - least
        scale = width if width > 0 else 1.0
        for key, (values, variances, trials) in self._scores.items():
            mean = float(values[questions].mean())
            variance = float(variances[questions].sum()) / len(questions) ** 2
            u, number = (mean - least) / scale, trials[questions].sum()
            lo, hi = (float(x) for x in wilson_limits(u, variance / scale**2, number, z))
            limits = least + width * lo, least + width * hi
            result[key] = Interval(mean, math.sqrt(variance), *limits, "sampling")
        return result
