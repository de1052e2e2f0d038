"""A score as a product of powers of means, and the scores of a run.

Most scores are one mean over questions; the geometric combinations are products of powers of two.
The distinct terms of all scores are the m columns of a table, which has one row for questions with
equal counts: U rows for M questions. (..) is the shape of the values of a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .counts import UniqueIntegers

ColumnPair = tuple[int, int]
"""The indices a <= b of two columns."""

ScoreKey = Any
"""The key of a score in a dict, usually its `ScoreId`. Scores and intervals do not look into it."""


class ScoreId(NamedTuple):
    """The identity of a score: its name with the values of k and tau.

    Attributes:
        metric: the name, such as "pass@k", "bayes@N" or "score_agg".
        k: the k, N or n of the name; "n" if the number of samples differs between questions; None
            if the name has none, or if a request is for all k.
        tau: the threshold, or None.
    """

    metric: str
    k: int | str | None = None
    tau: float | None = None

    @property
    def key(self) -> str:
        """Return the key of the score in the dict of `compute`, such as "G-Pass@4_0.5"."""
        name, k = self.metric, self.k
        if name.endswith(")"):  # "accuracy (n runs average)"
            name = name.replace("(n ", f"({k} ")
        elif k is not None:  # The name ends with k, N or n.
            name = f"{name[:-1]}{k}"
        return name if self.tau is None else f"{name}_{self.tau}"

    def __str__(self) -> str:
        return self.key


class Score(NamedTuple):
    """A product of powers of terms.

    Args:
        terms: what is averaged over questions: vectors of credits, or the indices of columns that
            take their place. The methods need indices.
        powers: the power of each term, above 0.
        pooled: whether terms are averaged over questions before they are multiplied, and not after.
    """

    terms: tuple[Any, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True

    def pairs(self) -> Iterator[ColumnPair]:
        """Yield the pairs of columns whose covariances the variance of the score depends on."""
        return ((a, b) for a in self.terms for b in self.terms if a <= b)

    def value(self, columns):
        """Return the score of m columns. `columns` has a number for each, or an array of one shape.

        In a product, a factor below 0 counts as 0: estimates that are corrected for the errors of a
        checker may be negative.
        """
        if self.powers == (1.0,):
            return columns[self.terms[0]]
        product = 1.0
        for column, power in zip(self.terms, self.powers, strict=True):
            factor = columns[column]
            is_array = isinstance(factor, np.ndarray)
            nonnegative = np.maximum(factor, 0.0) if is_array else max(factor, 0.0)
            product *= nonnegative**power
        return product

    def variance(self, columns, covariance):
        """Return the variance of the score, (..), to first order (delta method).

        `columns`, (m, ..), are values, and `covariance` has the covariance of each `ColumnPair`.
        """
        if self.powers == (1.0,):
            return covariance[self.terms[0], self.terms[0]]
        slopes = self._slopes(columns)
        return sum(
            slopes[a] * slopes[b] * covariance[min(a, b), max(a, b)] for a in slopes for b in slopes
        )

    def gradient(self, columns: np.ndarray) -> np.ndarray:
        """Return the partial derivatives of the score by each column, (m,), at (m,) values."""
        result = np.zeros(len(columns))
        for column, slope in self._slopes(columns).items():
            result[column] = slope
        return result

    def _slopes(self, columns) -> dict[int, Any]:
        """Return the partial derivative, (..), by the column of each term.

        They are 0 for a product that is 0, although the true derivatives may be infinite.
        """
        if self.powers == (1.0,):
            return {self.terms[0]: 1.0}
        product = self.value(columns)
        slopes: dict[int, Any] = {}
        for column, power in zip(self.terms, self.powers, strict=True):
            divisor = columns[column]  # A quotient by (almost) 0 would be infinite.
            divisor = np.where(np.greater(divisor, 1e-300), divisor, 1.0)
            slopes[column] = slopes.get(column, 0.0) + power * product / divisor
        return slopes


def number_terms(scores: Mapping[ScoreKey, Score]) -> tuple[list[Any], dict[ScoreKey, Score]]:
    """Return the distinct terms of all scores, and the scores with indices in place of terms."""
    distinct = dict.fromkeys(term for score in scores.values() for term in score.terms)
    number = {term: i for i, term in enumerate(distinct)}
    numbered = {
        key: score._replace(terms=tuple(number[term] for term in score.terms))
        for key, score in scores.items()
    }
    return list(distinct), numbered


def one_column_each(keys: Iterable[ScoreKey]) -> dict[ScoreKey, Score]:
    """Return a dict of scores of one column each: column 0 for the first key, 1 for the next, .."""
    return {key: Score((column,)) for column, key in enumerate(keys)}


def with_product_columns(
    scores: Mapping[ScoreKey, Score], columns: np.ndarray
) -> tuple[dict[ScoreKey, Score], np.ndarray]:
    """Return scores and columns, (U, m), with a new column for each score that is not pooled.

    The column has the products of single questions, so the score becomes a mean over questions.
    """
    result, extended = dict(scores), [*columns.T]
    for key, score in scores.items():
        if not score.pooled:
            result[key] = Score((len(extended),))  # the mean of the column that is added next
            extended.append(score.value(columns.T))
    return result, np.stack(extended, axis=1) if len(extended) > columns.shape[1] else columns


@dataclass(frozen=True)
class Scores:
    """Point estimates of scores for each question.

    `keys` has the scores by their keys, functions of the means of columns, `inverse`, (M,), the row
    of each question, and `columns`, (U, m), the estimates.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    columns: np.ndarray

    @classmethod
    def from_values(cls, values: Mapping[ScoreKey, np.ndarray]) -> Scores:
        """Return scores of M questions from a dict of their values, (M,) each."""
        columns = np.stack([*values.values()], axis=1)
        return cls(one_column_each(values), np.arange(len(columns)), columns)

    def only(self, keys: Iterable[ScoreKey]) -> Scores:
        """Return the scores with these keys, and the columns that they need."""
        used, scores = number_terms({key: self.keys[key] for key in keys})
        return Scores(scores, self.inverse, self.columns[:, used])

    def means(self, multiplicity: np.ndarray) -> dict[ScoreKey, float]:
        """Return each score averaged over questions, by its key.

        `multiplicity`, (U,), is the number of questions in each row, or the sum of their weights.
        """
        total, columns = multiplicity.sum().item(), np.ascontiguousarray(self.columns.T)
        # A matrix product would add in an order that depends on the number of columns, so that the
        # last digit of a score would depend on which other scores are computed.
        means = ((columns * multiplicity).sum(axis=1) / total).tolist()
        return {key: score.value(means) for key, score in self.keys.items()}

    def over(
        self, questions: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[ScoreKey, float]:
        """Return each score averaged over the questions with these indices, by its key.

        `weights`, (M,), has the weight of every question, or is None if these are equal.
        """
        rows, size = self.inverse[questions], len(self.columns)
        if weights is not None:
            return self.means(np.bincount(rows, weights[questions], minlength=size))
        if len(rows) >= size:
            return self.means(np.bincount(rows, minlength=size))
        used = UniqueIntegers(rows, size)  # For few questions, most rows are left out.
        return replace(self, columns=self.columns[used.values]).means(used.multiplicity)

    def per_question(self) -> dict[ScoreKey, list[float]]:
        """Return a dict from each key to the list of the scores of the M questions."""
        columns = self.columns.T
        return {
            key: score.value(columns)[self.inverse].tolist() for key, score in self.keys.items()
        }


def join_scores(a: Scores, b: Scores) -> Scores:
    """Return all scores of `a` and `b`, which are scores of the same questions."""
    if a.inverse is not b.inverse:
        # Their rows may differ, so each question gets its own row.
        a, b = (Scores(x.keys, np.arange(len(x.inverse)), x.columns[x.inverse]) for x in (a, b))
    offset = a.columns.shape[1]
    scores_b = {
        key: score._replace(terms=tuple(offset + column for column in score.terms))
        for key, score in b.keys.items()
    }
    return Scores({**a.keys, **scores_b}, a.inverse, np.hstack([a.columns, b.columns]))


@dataclass(frozen=True)
class Moments:
    """Posterior means of terms, (U, m), and the covariance, (U,), of each pair that a score needs.

    Questions are independent. `keys` and `inverse` are as in `Scores`.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    mean: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]
