"""Scores of questions, and intervals of their means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np


class Interval(NamedTuple):
    """A score as it may truly be: its centre, standard deviation and ends; and what was done."""

    mu: float
    sigma: float
    lo: float
    hi: float
    interval: str


class Intervals(NamedTuple):
    """The same of B banks: (B,) each."""

    mu: np.ndarray
    sigma: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    interval: str

    def of(self, bank: int) -> Interval:
        """That of one of the banks."""
        mu, sigma, lo, hi = (float(each[bank]) for each in self[:4])
        return Interval(mu, sigma, lo, hi, self.interval)


def one_by_one(found: Mapping[str, Intervals], banks: int) -> list[dict[str, Interval]]:
    """Of each of so many banks the intervals of all scores."""
    return [{key: each.of(bank) for key, each in found.items()} for bank in range(banks)]


class Spread:
    """What knows how sure the scores of a bank are: has `intervals`, or `of_each`, or both."""

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """The interval of each score over the questions `rows`; none for one that has none."""
        return self.of_each([rows], confidence)[0]

    def of_each(self, parts: Sequence[np.ndarray], confidence: float) -> list[dict[str, Interval]]:
        """The same over each of many parts of the bank."""
        return [self.intervals(rows, confidence) for rows in parts]


class Kinds(Protocol):
    """A bank of questions, of which those of one kind score alike."""

    @property
    def kind(self) -> np.ndarray:
        """(M,) which of the U kinds each question is."""


Pair = tuple[int, int]


class Blend(NamedTuple):
    """The product of powers of columns: of their means over questions where `pooled`; if not, of
    each question's, and then averaged."""

    columns: tuple[int, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True

    def pairs(self) -> Iterator[Pair]:
        """Each pair of its columns, the covariance of which it needs."""
        return ((a, b) for a in self.columns for b in self.columns if a <= b)

    def of(self, columns):
        """The product, of (m,) numbers or of an (m, ..) array."""
        if self.powers == (1.0,):
            return columns[self.columns[0]]
        return math.prod(columns[column] ** power for column, power in self._terms())

    def variance(self, columns, covariance):
        """Its variance to first order, from the covariance of each pair (the delta method)."""
        if self.powers == (1.0,):
            return covariance[self.columns * 2]
        relative = 0.0
        for a, p in self._terms():
            for b, q in self._terms():
                each = _quotient(covariance[min(a, b), max(a, b)], columns[a])
                relative = relative + p * q * _quotient(each, columns[b])
        product = self.of(columns)
        return product * relative * product

    def _terms(self) -> Iterator[tuple[int, float]]:
        return zip(self.columns, self.powers, strict=True)


def _quotient(number, divisor):
    """number / divisor, where 0 / 0 is 0: or as good as 0, where the quotient could overflow."""
    return number / np.where(np.greater(divisor, 1e-300), divisor, 1.0)


@dataclass(frozen=True)
class Scores:
    """Scores of each kind of question: those of equal counts score alike.

    Args:
        keys: the name of each score, and the columns that it is of.
        kind: (M,) which of the U kinds each question is.
        columns: (U, m) estimates.
    """

    keys: dict[str, Blend]
    kind: np.ndarray
    columns: np.ndarray

    def means(self, questions: np.ndarray) -> dict[str, float]:
        """Each score over all questions, of which there are (U,) of each kind."""
        total = int(questions.sum())
        means = (questions @ self.columns / total).tolist()
        return {
            key: blend.of(means)
            if blend.pooled
            else float(questions @ blend.of(self.columns.T)) / total
            for key, blend in self.keys.items()
        }

    def per_question(self) -> dict[str, list[float]]:
        """Each score of each question."""
        columns = self.columns.T
        return {key: blend.of(columns)[self.kind].tolist() for key, blend in self.keys.items()}


@dataclass(frozen=True)
class Posterior(Spread):
    """Posterior means of each kind of question, and how they vary: independently of each other.

    Args:
        keys: the name of each score, and the columns that it is of.
        bank: which of the U kinds each question is; asked for groups of them alone.
        mean: (U, m) posterior means.
        covariance: (U,) for each pair of columns that a score needs.
        bounds: (lo, hi) that no interval goes beyond.
    """

    keys: dict[str, Blend]
    bank: Kinds
    mean: np.ndarray
    covariance: dict[Pair, np.ndarray]
    bounds: tuple[float, float]

    def of_each(self, parts: Sequence[np.ndarray], confidence: float) -> list[dict[str, Interval]]:
        """By the normal law around the posterior mean over each part."""
        found = self.over(questions_of(self.bank.kind, parts, len(self.mean)), confidence)
        return one_by_one(found, len(parts))

    def over(self, questions: np.ndarray, confidence: float) -> dict[str, Intervals]:
        """The same over so many questions of each kind, (B, U): of B banks at once."""
        questions = questions.astype(float)
        total = questions.sum(axis=1)
        means = (questions @ self.mean).T / total
        pooled = {pair: questions @ each / total**2 for pair, each in self.covariance.items()}
        columns = self.mean.T
        result = {}
        for key, blend in self.keys.items():
            if blend.pooled:
                mu, variance = blend.of(means), blend.variance(means, pooled)
            else:
                mu = questions @ blend.of(columns) / total
                variance = questions @ blend.variance(columns, self.covariance) / total**2
            sigma = np.sqrt(variance)
            lo, hi = normal_interval(mu, sigma, confidence, self.bounds)
            result[key] = Intervals(mu, sigma, lo, hi, "posterior")
        return result


def questions_of(kind: np.ndarray, parts: Sequence[np.ndarray], kinds: int) -> np.ndarray:
    """(B, U) how many questions of each of the kinds there are in each part of a bank."""
    return np.array([np.bincount(kind[rows], minlength=kinds) for rows in parts])


@lru_cache(maxsize=64)
def normal_reach(confidence: float) -> float:
    """How many standard deviations a normal interval reaches to each side."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def student_reach(sources: int, confidence: float) -> float:
    """The same for a standard deviation that so many sources of questions tell.

    Raises:
        ValueError: if there is one.
    """
    from scipy.special import stdtrit  # here, because it takes longer than all of at_k

    if sources < 2:
        raise ValueError(
            "There is one question, or one source of questions, which does not show how they vary: "
            "take more, or interval='sampling'."
        )
    return float(stdtrit(sources - 1, (1 + confidence) / 2))


def normal_interval(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """mu -+ z sigma. An end beyond the bounds is moved to them; so lo <= hi always."""
    reach, (least, most) = normal_reach(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - reach, least), np.minimum(mu + reach, most)
    return np.minimum(lo, most), np.maximum(hi, least)


def design_effects(columns: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """(m,) how much questions that share a source add to the variance; 1 if they do not.

    The sum of squares over sources against that over questions (Miller 2024, arXiv:2411.00640).

    Args:
        columns: (M, m) of the questions.
        sources: (M,) of them.
    """
    _, source = np.unique(sources, return_inverse=True)
    rest = columns - columns.mean(axis=0)
    alone = np.sum(rest**2, axis=0)
    together = np.sum([np.bincount(source, each) ** 2 for each in rest.T], axis=1)
    return np.maximum(1.0, together / np.where(alone > 0, alone, np.inf))
