"""Families of distributions that the outcomes of a question may have.

A family has a grid of distributions, a prior over it that is estimated from the data, and the
scores of each distribution. From these follow scores of k > n samples, and what the intervals need:
scores and variances when all distributions shift along one parameter, and statistics that show
which priors fit. `binary_family` is the family of binary outcomes, `reward_family` that of rewards.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .score import ColumnPair, Score, ScoreKey, Scores


class Fit(NamedTuple):
    """Priors estimated for B parts of a run with (B, U) questions of each distinct count."""

    multiplicity: np.ndarray
    priors: Any


class Shifted(NamedTuple):
    """The scores of a family with F members, shifted along one parameter.

    Scores are origin + width x theta, with theta from 0 to 1. The middle member is the estimated
    one. The first and the last are the limits of the family.

    Args:
        theta: (F, m, B) scores.
        covariance: (F, B) for each pair of columns, of estimates from one question.
        origin, width: (B,) scale of the scores.
    """

    theta: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]
    origin: np.ndarray
    width: np.ndarray


def variance_of_proportion(theta: np.ndarray) -> np.ndarray:
    """(F, m, B) variances of proportions theta, relative to that of the middle member.

    For other questions, the variance falls no faster than this towards the ends of the range.
    """
    largest = (theta - theta[0]) * (theta[-1] - theta)
    middle = largest[len(theta) // 2]
    # Closer than this to an end of the range, only rounding is left.
    return largest / np.where(middle > 1e-12, middle, np.inf)


class Statistics(NamedTuple):
    """Statistics of questions with the same n: what they are, and what distributions predict.

    Args:
        expected: (r, J) values under each of J distributions.
        observed: (r,) values.
        covariance: (r, r) of the observed values, under the estimated prior.
    """

    expected: np.ndarray
    observed: np.ndarray
    covariance: np.ndarray


class Candidates(NamedTuple):
    """The distributions that a profile over priors considers.

    Args:
        statistics: of the questions of each n.
        complete: whether the distributions include every one that is possible.
        scores: (J, e) extrapolated scores, which are origin + width x scores.
        origin: (e,).
        width: the same for all scores.
    """

    statistics: list[Statistics]
    complete: bool
    scores: np.ndarray
    origin: np.ndarray
    width: float


class Family(abc.ABC):
    """Distributions that the outcomes of a question may have, for the questions of one run.

    Args:
        inverse: (M,) index of each question's counts among U distinct ones.
        multiplicity: (U,) number of questions with each.
        n: (U,) samples.
        scores: for each key the score of k <= n samples, in terms of columns.
        extrapolated: the keys of scores of any k that come from the estimated prior.
        bounds: the smallest and the largest score.
    """

    def __init__(
        self,
        inverse: np.ndarray,
        multiplicity: np.ndarray,
        n: np.ndarray,
        scores: Mapping[ScoreKey, Score],
        extrapolated: list[ScoreKey],
        bounds: tuple[float, float],
    ):
        self.inverse, self.multiplicity, self.n = inverse, multiplicity, n
        self.scores, self.extrapolated, self.bounds = scores, extrapolated, bounds

    def of_rows(self, rows: np.ndarray) -> Family:
        """The family for questions that have some of the U distinct counts only."""
        part = copy(self)
        part._keep_rows(rows)
        return part

    def _keep_rows(self, rows: np.ndarray) -> None:
        if self.scores:
            vars(self)["columns"] = self.columns[rows]
        if self.extrapolated:
            vars(self)["extrapolated_columns"] = self.extrapolated_columns[rows]
        vars(self).pop("_whole_run", None)
        self.multiplicity, self.n = self.multiplicity[rows], self.n[rows]

    def fit(self, multiplicity: np.ndarray) -> Fit:
        """Estimate the priors of (B, U) parts; that of the whole run only once."""
        if len(multiplicity) == 1 and np.array_equal(multiplicity[0], self.multiplicity):
            return self._whole_run
        return self._fit_parts(multiplicity)

    @cached_property
    def _whole_run(self) -> Fit:
        return self._fit_parts(self.multiplicity[None])

    @cached_property
    def extrapolated_columns(self) -> np.ndarray:
        """(U, e) posterior means of the extrapolated scores under the prior of the whole run."""
        return self._extrapolate(self._whole_run)

    def gradient(self, multiplicity: np.ndarray) -> np.ndarray:
        """(m, s) derivatives of each score by each column, at the means over (U,) questions."""
        means = multiplicity @ self.columns / multiplicity.sum()
        return np.stack([score.gradient(means) for score in self.scores.values()], axis=1)

    @property
    @abc.abstractmethod
    def columns(self) -> np.ndarray:
        """(U, m) unbiased estimates of the columns that the scores are made of."""

    @abc.abstractmethod
    def extremes(self, multiplicity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, B) smallest and largest possible values of the columns, over (B, U) parts."""

    def other_fits(self, fit: Fit) -> list[Fit]:
        """Other estimates of the priors, which fit the data too."""
        return []

    @abc.abstractmethod
    def shifted(self, fit: Fit, new_questions: bool) -> Shifted:
        """The shifted scores, and covariances for new samples or for new questions too."""

    @abc.abstractmethod
    def covariance_of_samples(self, fit: Fit) -> np.ndarray:
        """(m, m) mean covariance of the columns of a question in part 0, for new samples of it.

        Columns that are neither equal nor neighbors may have 0 for their covariance.
        """

    @abc.abstractmethod
    def candidates(self, fit: Fit, part: int) -> Candidates | None:
        """What a profile over priors needs, or None if all samples have the same reward."""

    @abc.abstractmethod
    def _fit_parts(self, multiplicity: np.ndarray) -> Fit: ...

    @abc.abstractmethod
    def _extrapolate(self, fit: Fit) -> np.ndarray: ...


def with_extrapolated(found: Scores, family: Family, keys: Mapping[ScoreKey, object]) -> Scores:
    """All scores in the order of the keys. Those that are not found are extrapolated."""
    missing = [key for key in keys if key not in found.keys]
    if not missing:
        return found
    first = found.columns.shape[1]
    places = [family.extrapolated.index(key) for key in missing]
    every = dict(found.keys) | {key: Score((first + i,)) for i, key in enumerate(missing)}
    columns = np.hstack([found.columns, family.extrapolated_columns[:, places]])
    return Scores({key: every[key] for key in keys}, found.inverse, columns)
