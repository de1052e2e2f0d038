"""Families of distributions that the outcomes of a question may have.

A family has a grid of J distributions and a prior over it that is estimated from the data. M
questions have U distinct counts, m columns of scores and e extrapolated scores; a group of
questions has V distinct counts. A family that is shifted along one parameter has F members.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..core.questions import QuestionIntervals, Ranges
from ..core.score import ColumnPair, Score, ScoreKey, Scores

_FITS_KEPT, _SHIFTED_KEPT = 1 << 10, 16  # A shifted family takes much more memory than a fit.


class Shifted(NamedTuple):
    """The scores offset + scale x theta of F members; the center one is the estimated member.

    `theta` is from 0 to 1, (F, m). `variance`, (F, m), is that of its estimate from one question,
    and `covariance` that of two columns at the center. The first and last are limits of the family.
    """

    theta: np.ndarray
    variance: np.ndarray
    covariance: Mapping[ColumnPair, float]
    offset: float
    scale: float


class Statistics(NamedTuple):
    """Statistics of the questions with the same n.

    They are (r, J) values that are expected under each distribution, and (r,) observed ones with
    their (r, r) covariance under the estimated prior.
    """

    expected: np.ndarray
    observed: np.ndarray
    covariance: np.ndarray


class Candidates(NamedTuple):
    """The distributions that a profile over priors considers, with statistics of each n.

    They have the extrapolated scores `offset` + `scale` x `scores`, (J, e). `complete` is whether
    they include every possible distribution.
    """

    statistics: list[Statistics]
    complete: bool
    scores: np.ndarray
    offset: np.ndarray | float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Fit:
    """A group of questions, and what the prior that is estimated from them says.

    `multiplicity` and `squares`, (U,), are what `multiplicities` returns for the group.
    """

    family: Family
    multiplicity: np.ndarray
    squares: np.ndarray | None = None

    @cached_property
    def prior(self) -> Any:
        """Return the prior of the group, in the form that the family uses."""
        return self.family.prior_of(self.multiplicity)

    @cached_property
    def fit_to_squares(self) -> Fit:
        """Return the fit to `squares`, for variances of weighted means; self for equal weights."""
        return self if self.squares is None else Fit(self.family, self.squares)

    @cached_property
    def posterior_means(self) -> np.ndarray:
        """Return posterior means of the extrapolated scores for each distinct count, (V, e)."""
        return self.family.extrapolate(self)

    @cached_property
    def extrapolated(self) -> np.ndarray:
        """Return the extrapolated scores of the group, (e,)."""
        used = self.multiplicity[self.multiplicity > 0]
        means = used @ self.posterior_means / self.multiplicity.sum()
        return self.family.coherent_means(means, self.multiplicity)

    @cached_property
    def means(self) -> np.ndarray:
        """Return the mean of each column over the questions of the group, (m,)."""
        return self.multiplicity @ self.family.columns / self.multiplicity.sum()

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest score that the questions of the group can have."""
        least, most = self.family.bounds[self.multiplicity > 0].T
        return float(least.min()), float(most.max())


class Family(abc.ABC):
    """Distributions that the outcomes of a question may have, for the questions of one run.

    Args:
        inverse: (M,) index of each question's counts among U distinct ones.
        n: (U,) numbers of samples.
        columns: (U, m) unbiased estimates of the columns that scores are made of.
        scores: the scores of k <= n samples by their keys, in terms of columns.
        extrapolated: the keys of scores of any k that come from the estimated prior.
        bounds: (lo, hi) or (U, 2) of them, the smallest and the largest score of a question.
    """

    def __init__(
        self,
        inverse: np.ndarray,
        n: np.ndarray,
        columns: np.ndarray,
        scores: Mapping[ScoreKey, Score],
        extrapolated: Iterable[ScoreKey],
        bounds: tuple[float, float] | np.ndarray,
        weights: np.ndarray | None,
    ):
        self.inverse, self.n, self.columns = inverse, n, columns
        self.scores, self.extrapolated = scores, list(extrapolated)
        self.bounds, self._weights = np.broadcast_to(bounds, (len(n), 2)), weights
        self.shifted = lru_cache(_SHIFTED_KEPT)(self.shifted_families)
        # Groups with equal counts, such as two of single questions, share a fit.
        self._fit_of_bytes = lru_cache(_FITS_KEPT)(self._new_fit)

    def _new_fit(self, numbers: bytes, squares: bytes | None) -> Fit:
        """Return the fit to the arrays of `multiplicities`, as bytes."""
        array_of_squares = None if squares is None else np.frombuffer(squares)
        return Fit(self, np.frombuffer(numbers), array_of_squares)

    @property
    def run(self) -> Fit:
        """Return the fit to all questions of the run with equal weights."""
        numbers = np.bincount(self.inverse, minlength=len(self.n)).astype(float)
        return self._fit_of_bytes(numbers.tobytes(), None)

    def fit(self, questions: np.ndarray) -> Fit:
        """Return the fit to the questions with these indices."""
        weights = None if self._weights is None else self._weights[questions]
        numbers, squares = multiplicities(self.inverse[questions], len(self.n), weights)
        bytes_of_squares = None if squares is None else squares.tobytes()
        return self._fit_of_bytes(numbers.tobytes(), bytes_of_squares)

    def one_sample_each(self, questions: np.ndarray) -> bool:
        """Return whether none of the questions with these indices has two samples."""
        return bool(self.n[self.inverse[questions]].max() < 2)

    def for_other_questions(
        self, clusters: np.ndarray | None = None, allow_one: bool = False
    ) -> QuestionIntervals:
        """Return the method of intervals for other questions like these. It needs no prior.

        With `allow_one`, the interval of one question or cluster is the whole range.
        """
        scores = Scores(self.scores, self.inverse, self.columns)
        ranges, estimate_ranges = self._column_ranges()
        return QuestionIntervals(
            scores, ranges, clusters, allow_one, estimate_ranges, self._weights
        )

    def _column_ranges(self) -> tuple[Ranges, Ranges | None]:
        """Return the ranges of columns, and those of their estimates unless they are equal."""
        least, most = self.bounds.T
        return (least[:, None], most[:, None]), None

    @abc.abstractmethod
    def shifted_families(self, fit: Fit) -> list[Shifted]:
        """Return the shifted family under each estimate of the prior: one, or two that fit."""

    @abc.abstractmethod
    def covariance_of_samples(self, fit: Fit, columns: Sequence[int]) -> np.ndarray:
        """Return the mean covariance of estimates of `columns` from new samples of a question.

        Entries of different columns that are no neighbors may be left at 0.
        """

    @abc.abstractmethod
    def candidates(self, fit: Fit) -> Candidates | None:
        """Return what a profile over priors needs; None if all rewards of the group are equal."""

    @abc.abstractmethod
    def prior_of(self, multiplicity: np.ndarray) -> Any:
        """Return the prior of a group with (U,) numbers of questions with each count."""

    @abc.abstractmethod
    def extrapolate(self, fit: Fit) -> np.ndarray:
        """Return posterior means of extrapolated scores for the V counts of a group, (V, e)."""

    @abc.abstractmethod
    def coherent_means(self, means: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
        """Return (e,) extrapolated means, changed where they contradict scores of k <= n."""


@dataclass(frozen=True)
class ExtrapolatedScores(Scores):
    """Scores with k <= n, and scores that the prior of the averaged questions extrapolates.

    `extrapolated` has their indices in `family.extrapolated`. The scores of single questions have
    the prior of all.
    """

    family: Family
    extrapolated: Mapping[ScoreKey, int]

    def over(
        self, questions: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[ScoreKey, float]:
        """Return each score over these questions."""
        means = self.family.fit(questions).extrapolated
        own = {key: float(means[i]) for key, i in self.extrapolated.items()}
        return super().over(questions, weights) | own


def with_extrapolated(observed: Scores, family: Family, keys: Mapping[ScoreKey, object]) -> Scores:
    """Return `observed` with the scores of `keys` that it lacks, extrapolated by `family`."""
    missing = [key for key in keys if key not in observed.keys]
    if not missing:
        return observed
    first = observed.columns.shape[1]
    index = {key: family.extrapolated.index(key) for key in missing}
    scores = dict(observed.keys) | {key: Score((first + i,)) for i, key in enumerate(missing)}
    columns = np.hstack([observed.columns, family.run.posterior_means[:, [*index.values()]]])
    ordered = {key: scores[key] for key in keys}
    return ExtrapolatedScores(ordered, observed.inverse, columns, family, index)


def multiplicities(
    rows: np.ndarray, size: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (numbers, squares): effective numbers of questions with each count, (U,) both.

    `rows` has the index of each question's counts, below U = `size`. A mean with weights w has the
    variance of one of N = (sum w)^2 / sum w^2 questions, the effective number (Kish 1965). The
    `numbers` are shares of the sum of w, times N, and `squares` shares of the sum of w^2, times N.
    Without weights, they are counts of questions and None.
    """
    if weights is None:
        return np.bincount(rows, minlength=size).astype(float), None
    sums, squares = (np.bincount(rows, weights**power, minlength=size) for power in (1, 2))
    total, total_of_squares = sums.sum(), squares.sum()
    effective = total**2 / total_of_squares
    return sums * (effective / total), squares * (effective / total_of_squares)
