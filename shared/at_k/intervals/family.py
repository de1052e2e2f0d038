"""Families of distributions that the outcomes of a question may have.

A family has a grid of distributions, a prior over it that is estimated from the data, and the
scores of each distribution. From these follow scores of k > n samples, and what the intervals need:
scores and variances when all distributions shift along one parameter, and statistics that show
which priors fit. `binary_family` has the family of binary outcomes, `reward_family` those of
rewards.

There are M questions with U distinct counts, B groups of questions, m columns, s scores and e
extrapolated scores. A group has V distinct counts. The grid has J distributions, and a shifted
family F members.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.interval import Interval
from ..core.questions import QuestionIntervals, Ranges
from ..core.score import ColumnPair, Score, ScoreKey, Scores
from . import Intervals

_GROUPS_AT_ONCE = 1 << 8
_CELLS_OF_GROUPS = 1 << 22  # groups x distinct counts at once, to bound memory


class Fit(NamedTuple):
    """A family with priors that are estimated for B groups of questions.

    Args:
        multiplicity: (B, U) number of questions with each distinct count.
        priors: the priors of the groups, in the form that the family uses.
        squares: (B, U) numbers of questions by their squared weights, see `Multiplicity`; None if
            they are equal to `multiplicity`.
    """

    family: Family
    multiplicity: np.ndarray
    priors: Any
    squares: np.ndarray | None = None


class Shifted(NamedTuple):
    """The scores of a family with F members, shifted along one parameter.

    Scores are offset + scale x theta, with theta from 0 to 1. The center member is the estimated
    one. The first and the last are the limits of the family.

    Args:
        theta: (F, m, B) scores.
        covariance: for each pair of columns the (F, B) covariances of the estimates of theta from
            one question.
        offset: (B,) smallest score.
        scale: (B,) largest score minus the smallest.
    """

    theta: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]
    offset: np.ndarray
    scale: np.ndarray


class Statistics(NamedTuple):
    """Statistics of the questions with the same n.

    Args:
        expected: (r, J) expected values of r statistics under each distribution.
        observed: (r,) observed values.
        covariance: (r, r) covariance of the observed values under the estimated prior.
    """

    expected: np.ndarray
    observed: np.ndarray
    covariance: np.ndarray


class Candidates(NamedTuple):
    """The distributions that a profile over priors considers.

    Args:
        statistics: the statistics of the questions of each n.
        complete: whether the distributions include every possible one.
        scores: (J, e) extrapolated scores on the scale: a score is offset + scale x this.
        offset: (e,) offset of each score.
        scale: scale of all scores.
    """

    statistics: list[Statistics]
    complete: bool
    scores: np.ndarray
    offset: np.ndarray
    scale: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Family(abc.ABC):
    """Distributions that the outcomes of a question may have, for the questions of one run.

    Args:
        inverse: (M,) index of each question's counts among U distinct ones.
        multiplicity: (U,) number of questions with each distinct count.
        n: (U,) numbers of samples.
        columns: (U, m) unbiased estimates of the columns that scores are made of.
        scores: the scores of k <= n samples by their keys, in terms of columns.
        extrapolated: the keys of scores of any k that come from the estimated prior.
        bounds: (U, 2) the smallest and the largest score of each question.
        weights: (M,) weights of the questions, or None if they are equal.
        known_priors: cached priors of single groups, which families of the same counts share.
            `known_means` and `known_shifted` are further caches. Their keys are `_group_key`.
    """

    inverse: np.ndarray
    multiplicity: np.ndarray
    n: np.ndarray
    columns: np.ndarray
    scores: Mapping[ScoreKey, Score]
    extrapolated: Sequence[ScoreKey]
    bounds: np.ndarray
    weights: np.ndarray | None = None
    known_priors: dict[bytes, Any] = field(default_factory=dict)
    known_means: dict[bytes, np.ndarray] = field(default_factory=dict, init=False)
    known_shifted: dict[bytes, list[Shifted]] = field(default_factory=dict, init=False)

    def fit(self, multiplicity: np.ndarray) -> Fit:
        """Return the `Fit` of B groups with (B, U) numbers of questions with each count.

        The priors of a single group are cached.
        """
        if len(multiplicity) > 1:
            return Fit(self, multiplicity, self._priors(multiplicity))
        key = _group_key(multiplicity)
        if key not in self.known_priors:
            self.known_priors[key] = self._priors(multiplicity)
        return Fit(self, multiplicity, self.known_priors[key])

    @cached_property
    def posterior_means(self) -> np.ndarray:
        """Return posterior means of the extrapolated scores under the prior of the run, (U, e)."""
        return self._extrapolate(self.fit(self.multiplicity[None]))[0]

    def means_of_groups(self, fit: Fit) -> np.ndarray:
        """Return the extrapolated scores of B groups under the prior of each group, (B, e)."""
        keys = [_group_key(multiplicity) for multiplicity in fit.multiplicity]
        if not {*keys} <= self.known_means.keys():
            is_run = keys == [_group_key(self.multiplicity)]
            means_by_count = [self.posterior_means] if is_run else self._extrapolate(fit)
            groups = zip(keys, fit.multiplicity, means_by_count, strict=True)
            for key, multiplicity, means in groups:
                mean = multiplicity[multiplicity > 0] @ means / multiplicity.sum()
                self.known_means[key] = self._coherent_means(mean, multiplicity)
        return np.array([self.known_means[key] for key in keys])

    def means_of_group(self, multiplicity: np.ndarray) -> np.ndarray:
        """Return the result of `means_of_groups` for one group, (e,), without a fit if cached."""
        known = self.known_means.get(_group_key(multiplicity))
        return self.means_of_groups(self.fit(multiplicity[None]))[0] if known is None else known

    def _coherent_means(self, means: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
        """Return (e,) means that contradict no score of k <= n. This default changes none."""
        return means

    def score_bounds(self, multiplicity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest score of B groups with (B, U) numbers, both (B,)."""
        used, (least, most) = multiplicity > 0, self.bounds.T
        return np.where(used, least, np.inf).min(axis=1), np.where(used, most, -np.inf).max(axis=1)

    def one_sample_each(self, questions: np.ndarray) -> bool:
        """Return whether none of the questions with these indices has two samples."""
        return bool(self.n[self.inverse[questions]].max() < 2)

    def intervals(
        self, groups: Sequence[np.ndarray], intervals_from: Callable[[Fit], Intervals]
    ) -> list[Intervals]:
        """Return the intervals of each group of question indices.

        `intervals_from` returns the intervals of B groups, as (B,) arrays, from their fit. Groups
        with equal counts have equal intervals, which are computed once, for many groups at a time.
        The first group is computed alone: it is the whole run, whose prior may be cached.
        """
        equal_groups = self._first_equal_groups(groups)
        distinct = sorted({*equal_groups})
        step = max(1, min(_GROUPS_AT_ONCE, _CELLS_OF_GROUPS // len(self.n)))
        blocks = [distinct[start : start + step] for start in range(1, len(distinct), step)]
        result: dict[int, Intervals] = {}
        for block in [distinct[:1], *blocks] if groups else []:
            multiplicity = self.multiplicities([groups[group] for group in block])
            fit = self.fit(multiplicity.numbers)
            if self.weights is not None:
                fit = fit._replace(squares=multiplicity.squares)
            intervals = intervals_from(fit)
            for i, group in enumerate(block):
                result[group] = {key: interval_of_group(x, i) for key, x in intervals.items()}
        return [result[group] for group in equal_groups]

    def _first_equal_groups(self, groups: Sequence[np.ndarray]) -> list[int]:
        """Return the index of the first group, other than the run, with the counts of each group.

        Group 0 is the run. With weights, no groups are taken as equal.
        """
        contents: list[Any] = [*range(len(groups))]
        if self.weights is None:
            contents[1:] = [np.sort(self.inverse[questions]).tobytes() for questions in groups[1:]]
        first = {content: group for group, content in reversed([*enumerate(contents)])}
        return [first[content] for content in contents]

    def multiplicities(self, groups: Sequence[np.ndarray]) -> Multiplicity:
        """Return the numbers of questions of groups with each distinct count."""
        weights = None if self.weights is None else [self.weights[x] for x in groups]
        return multiplicities([self.inverse[x] for x in groups], len(self.n), weights)

    def for_other_questions(
        self, clusters: np.ndarray | None = None, allow_one: bool = False
    ) -> QuestionIntervals:
        """Return the method of intervals for other questions like these. It needs no prior.

        With `allow_one`, the interval of one question or cluster is the whole range.
        """
        scores = Scores(self.scores, self.inverse, self.columns)
        ranges, estimate_ranges = self._column_ranges()
        return QuestionIntervals(scores, ranges, clusters, allow_one, estimate_ranges, self.weights)

    def _column_ranges(self) -> tuple[Ranges, Ranges | None]:
        """Return the ranges of columns, and those of their estimates, or None if these are equal.

        A range has two arrays that are broadcast to (U, m): the smallest and the largest values.
        """
        least, most = self.bounds.T
        return (least[:, None], most[:, None]), None

    def shifted_families(self, fit: Fit) -> list[Shifted]:
        """Return the result of `shifted`, which is cached for a single group."""
        if len(fit.multiplicity) > 1:
            return self.shifted(fit)
        key = _group_key(fit.multiplicity)
        if key not in self.known_shifted:
            self.known_shifted[key] = self.shifted(fit)
        return self.known_shifted[key]

    @abc.abstractmethod
    def shifted(self, fit: Fit) -> list[Shifted]:
        """Return the shifted family under the estimated prior, and under a second one if it fits.

        All groups have the same number of priors. A group without a second one repeats its first.
        """

    @abc.abstractmethod
    def covariance_of_samples(self, fit: Fit, columns: Sequence[int]) -> np.ndarray:
        """Return the covariance of some columns for new samples of the same question.

        It is a mean over the questions of group 0. The covariance of columns that are neither equal
        nor neighbors may be left at 0.
        """

    @abc.abstractmethod
    def candidates(self, fit: Fit, group: int) -> Candidates | None:
        """Return what a profile over priors needs for one group; None if all rewards are equal."""

    @abc.abstractmethod
    def _priors(self, multiplicity: np.ndarray) -> Any:
        """Return the priors of B groups with (B, U) numbers of questions, see `Fit`."""

    @abc.abstractmethod
    def _extrapolate(self, fit: Fit) -> list[np.ndarray]:
        """Return for each group the posterior means of its V distinct counts, (V, e)."""


def _group_key(multiplicity: np.ndarray) -> bytes:
    """Return a key for a group with these numbers of questions, of integers or of floats."""
    return multiplicity.astype(float).tobytes()


@dataclass(frozen=True)
class ExtrapolatedScores(Scores):
    """Scores with k <= n, and scores that the prior of `family` extrapolates.

    The prior is estimated from the questions that the scores are averaged over. For the scores of
    single questions it is estimated from all questions. `extrapolated` has the index of each
    extrapolated score in `family.extrapolated`.
    """

    family: Family
    extrapolated: Mapping[ScoreKey, int]

    def over(
        self, questions: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[ScoreKey, float]:
        """Return each score over these questions. The prior is estimated from them alone."""
        (multiplicity,) = self.family.multiplicities([questions]).numbers
        means = self.family.means_of_group(multiplicity)
        own = {key: float(means[i]) for key, i in self.extrapolated.items()}
        return super().over(questions, weights) | own


def with_extrapolated(observed: Scores, family: Family, keys: Mapping[ScoreKey, object]) -> Scores:
    """Return scores of k <= n and extrapolated scores as one object, in the order of the keys.

    `family` extrapolates the scores that `observed` lacks. The values of `keys` are not used.
    """
    missing = [key for key in keys if key not in observed.keys]
    if not missing:
        return observed
    first = observed.columns.shape[1]
    index = {key: family.extrapolated.index(key) for key in missing}
    scores = dict(observed.keys) | {key: Score((first + i,)) for i, key in enumerate(missing)}
    columns = np.hstack([observed.columns, family.posterior_means[:, [*index.values()]]])
    ordered = {key: scores[key] for key in keys}
    return ExtrapolatedScores(ordered, observed.inverse, columns, family, index)


# --- Groups of questions ------------------------------------------------------------------


class Multiplicity(NamedTuple):
    """The numbers of questions of B groups with each of U distinct counts, by weights.

    Let w be the weights of the questions of a group. A weighted mean with independent errors of the
    variances v has the variance sum w^2 v / (sum w)^2. For equal v this is the variance of a mean
    of (sum w)^2 / sum w^2 questions with equal weights, the effective number (Kish 1965).

    Attributes:
        numbers: (B, U) shares of the sums of w, times the effective number. For equal weights, the
            numbers of questions.
        squares: (B, U) shares of the sums of w^2, times the effective number.
    """

    numbers: np.ndarray
    squares: np.ndarray


def multiplicities(
    rows_of_groups: Sequence[np.ndarray],
    size: int,
    weights_of_groups: Sequence[np.ndarray] | None = None,
) -> Multiplicity:
    """Return the numbers of questions of groups with each of `size` distinct counts.

    `rows_of_groups` has for each group an array with the index of each question's counts.
    `weights_of_groups` has the weights of these questions, or is None if all are equal.
    """
    if weights_of_groups is None:
        numbers = np.array([np.bincount(rows, minlength=size) for rows in rows_of_groups])
        return Multiplicity(numbers, numbers)
    sums, squares = (
        np.array(
            [
                np.bincount(rows, weights**power, minlength=size)
                for rows, weights in zip(rows_of_groups, weights_of_groups, strict=True)
            ]
        )
        for power in (1, 2)
    )
    total, total_of_squares = (x.sum(axis=1, keepdims=True) for x in (sums, squares))
    effective = total**2 / total_of_squares
    return Multiplicity(sums * (effective / total), squares * (effective / total_of_squares))


def interval_of_group(interval: Interval, group: int) -> Interval:
    """Return the interval of one group, with floats, from an interval with (B,) arrays."""
    mu, sigma, lo, hi = (float(values[group]) for values in interval[:4])
    return Interval(mu, sigma, lo, hi, interval.interval)
