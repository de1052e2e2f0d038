"""Scores of questions, and the summary of their mean: how large, how sure, between what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

Summary = tuple[float, float, float, float]


class Blend(NamedTuple):
    """The product of powers of columns: of their means over questions where `pooled`; if not, of
    each question's, and then averaged."""

    columns: tuple[int, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each pair of its columns, the covariance of which it needs."""
        return ((a, b) for a in self.columns for b in self.columns if a <= b)

    def of(self, columns):
        """The product, of (m,) numbers or of an (m, U) array."""
        return math.prod(
            columns[column] ** power
            for column, power in zip(self.columns, self.powers, strict=True)
        )

    def variance(self, columns, covariance):
        """Its variance to first order, from the covariance of each pair (the delta method)."""
        if self.powers == (1.0,):
            return covariance[self.columns * 2]
        product, total = self.of(columns), 0.0
        for a, p in self._terms():
            for b, q in self._terms():
                slope = p * q * _share(product, columns[a]) * _share(product, columns[b])
                total = total + slope * covariance[min(a, b), max(a, b)]
        return total

    def _terms(self) -> Iterator[tuple[int, float]]:
        return zip(self.columns, self.powers, strict=True)


def _share(product, factor):
    """product / factor, and 0 for 0 / 0."""
    return product / np.where(factor > 0, factor, 1.0)


@dataclass(frozen=True)
class Scores:
    """Scores of each kind of question: those of equal counts score alike.

    Args:
        keys: the name of each score, and the columns that it is of.
        kind: (M,) which of the U kinds each question is.
        point: (U, m) point estimates.
        mean: (U, m) means of their distributions, or None where no interval is wanted.
        covariance: (U,) for each pair of columns that a score needs; a score that has none
            is given no interval.
    """

    keys: dict[str, Blend]
    kind: np.ndarray
    point: np.ndarray
    mean: np.ndarray | None = None
    covariance: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)

    def with_spread_of(self, other: Scores) -> Scores:
        """These estimates, with the distributions that were found for the same scores."""
        return replace(self, mean=other.mean, covariance=other.covariance)

    def points(self, questions: np.ndarray) -> dict[str, float]:
        """Each score over all questions, of which there are (U,) of each kind."""
        total = int(questions.sum())
        means = (questions @ self.point / total).tolist()
        return {
            key: blend.of(means)
            if blend.pooled
            else float(questions @ blend.of(self.point.T)) / total
            for key, blend in self.keys.items()
        }

    def summaries(
        self, questions: np.ndarray, confidence: float, bounds: tuple[float, float]
    ) -> dict[str, Summary]:
        """The distribution of each score over all questions, which are independent."""
        if self.mean is None:
            return {}
        total = int(questions.sum())
        means = (questions @ self.mean / total).tolist()
        pooled = {pair: questions @ each / total**2 for pair, each in self.covariance.items()}
        result = {}
        for key, blend in self.keys.items():
            if not self.covariance.keys() >= set(blend.pairs()):
                continue
            if blend.pooled:
                mu, variance = blend.of(means), blend.variance(means, pooled)
            else:
                columns = self.mean.T
                mu = questions @ blend.of(columns) / total
                variance = questions @ blend.variance(columns, self.covariance) / total**2
            result[key] = normal_summary(float(mu), math.sqrt(variance), confidence, bounds)
        return result

    def per_question(self) -> dict[str, list[float]]:
        """Each score of each question."""
        columns = self.point.T
        return {key: blend.of(columns)[self.kind].tolist() for key, blend in self.keys.items()}


def normal_summary(
    mu: float, sigma: float, confidence: float, bounds: tuple[float, float]
) -> Summary:
    """(mu, sigma, lo, hi) of the interval mu -+ z sigma that the normal law gives.

    An end beyond the bounds is moved to them; so lo <= hi always.
    """
    reach = -NormalDist().inv_cdf((1 - confidence) / 2) * sigma
    least, most = bounds
    return mu, sigma, min(max(mu - reach, least), most), max(min(mu + reach, most), least)
