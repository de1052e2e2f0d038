"""pass@k and its family: expected credits of questions, and their posterior covariances.

A score is an expected credit (`credits`) under one of two distributions (`distributions`):
unbiased from the observed samples, or a posterior mean for new samples. For small n and k,
`integer_tables` computes it exactly for every c. This module computes it for any n and k, in
double-double arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..inputs.counts import BinaryCounts, one_size
from .credits import Credits
from .distributions import Prior, pmf
from .double_double import DoubleDouble
from .halves import mean_over_equal_halves
from .integer_tables import covariance_table, expected_table, has_table
from .score import Moments, Score, ScoreKey, Scores, number_terms

Estimator = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The estimates of questions (n, c), both (U,), as (U, m) columns. None decreases with c."""

_CELLS_AT_ONCE = 1 << 18  # cells of a pmf, which bounds the memory
_MOST_CELLS = 4e8  # of the pmf of the halves of 2k samples


# --- Scores of a run --------------------------------------------------------------------


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Unbiased estimates of the scores. No k may exceed the n of a question."""
    credits, keys = number_terms(scores)
    return Scores(keys, counts.inverse, expected_credits(*counts.unique, credits))


def pass_moments(counts: BinaryCounts, scores: Mapping[ScoreKey, Score], prior: Prior) -> Moments:
    """Posterior means and covariances of the scores, for any k."""
    credits, keys = number_terms(scores)
    n, c = counts.unique
    pairs = sorted({pair for score in keys.values() for pair in score.pairs()})
    covariance = credit_covariances(n, c, [(credits[a], credits[b]) for a, b in pairs], prior)
    return Moments(
        keys,
        counts.inverse,
        expected_credits(n, c, credits, prior),
        dict(zip(pairs, covariance.T, strict=True)),
    )


def estimator(scores: Mapping[ScoreKey, Score]) -> tuple[dict[ScoreKey, Score], Estimator]:
    """Each score in terms of columns, and the function that estimates the columns.

    A score that is averaged over questions after its product is taken has a column of its own.
    """
    credits, keys = number_terms(scores)
    products = [key for key, score in keys.items() if not score.pooled]

    def estimate(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        columns = expected_credits(n, c, credits)
        values = [keys[key].value(columns.T) for key in products]
        return np.column_stack([columns, *values]) if values else columns

    own = {key: Score((len(credits) + place,)) for place, key in enumerate(products)}
    return keys | own, estimate


# --- Expected credits -------------------------------------------------------------------


def expected_credits(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None = None
) -> np.ndarray:
    """(U, m) expected values of m vectors of credits for U questions (n, c), both (U,).

    The length of a vector of credits is its k. Without a prior, the caller ensures k <= n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)
    for k, columns in _columns_by_k(credits).items():
        if size and has_table(size, k, prior):
            for column in columns:
                result[:, column] = expected_table(size, credits[column], prior)[c]
            continue
        credited = {column: _credited(credits[column]) for column in columns}
        needed = sorted({r for terms in credited.values() for r, _ in terms})
        for rows in _blocks(np.arange(len(c)), k):
            tails = _tails(n[rows], c[rows], k, needed, prior)
            for column, terms in credited.items():
                result[rows, column] = _sum_of_tails(tails, terms)
    return result


def credit_covariances(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """(U, m) posterior covariances of m pairs of scores at the same k, never negative.

    The product of two scores of k new samples is a score of 2k new samples: the value that a
    gives to the first k times the value that b gives to the other k. Its mean is therefore an
    expected value under the same distribution at 2k.
    """
    result = np.zeros((len(c), len(pairs)))
    size = one_size(n)
    for k, columns in _columns_by_k([a if any(b) else b for a, b in pairs]).items():
        if size and has_table(size, 2 * k, prior):
            for column in columns:
                result[:, column] = covariance_table(size, *pairs[column], prior)[c]
            continue
        for rows in _blocks(np.arange(len(c)), 2 * k):
            once, twice = (pmf(n[rows], c[rows], size, prior) for size in (k, 2 * k))
            for column in columns:
                result[rows, column] = _covariance(once, twice, *pairs[column])
    return result


def cumulative_credit(credit: Credits) -> DoubleDouble:
    """(k + 1,) the value of 0, 1, .., k correct samples."""
    return DoubleDouble.from_doubles((0.0, *credit)[::-1]).suffix_sums()[::-1]


def _columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """The columns of each k, without those whose credits are all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def _credited(credit: Credits) -> list[tuple[int, float]]:
    """Each r whose credit is positive, with its credit."""
    return [(r, w) for r, w in enumerate(credit, start=1) if w]


def _sum_of_tails(
    tails: Mapping[int, np.ndarray], credited: Sequence[tuple[int, float]]
) -> np.ndarray:
    """(U,) the sum over r of the credit of r x P(at least r correct).

    The tails are rounded to doubles before they are added, as in the formula of mG-Pass@k, so
    published digits are reproduced to the last. The sum is exact to double-double precision.
    """
    terms = [credit * tails[r] for r, credit in credited]
    if len(terms) == 1:
        return terms[0]
    return DoubleDouble.from_doubles(np.stack(terms, axis=1)).sum().hi


def _tails(
    n: np.ndarray, c: np.ndarray, k: int, needed: list[int], prior: Prior | None
) -> dict[int, np.ndarray]:
    """P(at least r of k samples are correct), rounded: (U,) for each needed r."""
    if prior is None and (n == k).all():
        return {r: (c >= r).astype(float) for r in needed}
    low, high = [r for r in needed if 2 * r <= k], [r for r in needed if 2 * r > k]
    tails = dict(zip(high, _upper_tails(n, c, k, high, prior).T, strict=True))
    if low:
        # Sum the shorter tail and subtract it from 1, unless almost nothing would be left.
        below = pmf(n, c, k, prior, np.arange(low[-1])[::-1]).suffix_sums()[:, ::-1]
        left = (DoubleDouble.from_doubles(1.0) - below[:, np.array(low) - 1]).hi
        tiny = np.flatnonzero((left < 1e-12).any(axis=1))
        left[tiny] = _upper_tails(n[tiny], c[tiny], k, low, prior)
        tails |= zip(low, left.T, strict=True)
    return tails


def _upper_tails(
    n: np.ndarray, c: np.ndarray, k: int, needed: list[int], prior: Prior | None
) -> np.ndarray:
    if not needed:
        return np.empty((len(c), 0))
    correct = np.arange(needed[0], k + 1)
    return pmf(n, c, k, prior, correct).suffix_sums().hi[:, np.array(needed) - needed[0]]


# --- Covariances ------------------------------------------------------------------------


def _covariance(once: DoubleDouble, twice: DoubleDouble, a: Credits, b: Credits) -> np.ndarray:
    """(U,) the covariance of two scores, from the pmf of k and of 2k samples."""
    result = np.empty(len(once.hi))
    for rows_a, value_a, mean_a in _centered(a, once):
        for rows_b, value_b, mean_b in _centered(b, once):
            rows = rows_a & rows_b
            if rows.any():
                over_halves = mean_over_equal_halves(a, value_a) if a == b else None
                if over_halves is None:
                    over_halves = _mean_over_halves(value_a, value_b)
                product = (twice[rows] * over_halves).sum()
                result[rows] = np.maximum((product - mean_a[rows] * mean_b[rows]).hi, 0.0)
    return result


def _centered(
    credit: Credits, once: DoubleDouble
) -> Iterator[tuple[np.ndarray, DoubleDouble, DoubleDouble]]:
    """The value of a score less a constant, its mean, and the rows this constant is for.

    A covariance does not change if a constant is subtracted from each score. It keeps its digits
    if the means are then small, so the constant is the plateau of the value that is closest to
    the mean: 0 if few samples are correct, and the sum of the credits if nearly all are.
    """
    total = cumulative_credit(credit)
    weights = np.array(credit)
    flat = np.flatnonzero(weights[: np.flatnonzero(weights)[-1]] == 0)
    flat = np.concatenate([[0], flat, [len(credit)]])
    first = np.unique(total.hi[flat], return_index=True)[1]
    values = [total - total[j] for j in flat[first].tolist()]
    means = [(once * value).sum() for value in values]
    closest = np.argmin(np.abs([mean.hi for mean in means]), axis=0)
    for place, (value, mean) in enumerate(zip(values, means, strict=True)):
        yield closest == place, value, mean


def _mean_over_halves(first: DoubleDouble, second: DoubleDouble) -> DoubleDouble:
    """(2k + 1,) the mean of first[i] second[m - i], where m of 2k samples are correct.

    i is the number of correct samples in the first half.
    """
    k = len(first.hi) - 1
    if np.count_nonzero(second.hi) < np.count_nonzero(first.hi):
        first, second = second, first
    support = np.flatnonzero(first.hi)
    if 2 * k * len(support) > _MOST_CELLS:
        raise ValueError(
            f"The posterior variance at k = {k} needs {2 * k * len(support):.0e} probabilities for "
            f"these weights, and {_MOST_CELLS:.0e} are possible: give a smaller k, such as "
            f"{int(k * (_MOST_CELLS / (2 * k * len(support))) ** 0.5)}, or interval='sampling'."
        )
    parts = []
    for m in _blocks(np.arange(2 * k + 1), len(support)):
        other = np.clip(m[:, None] - support, 0, k)  # the pmf is 0 where this clips
        chance = pmf(np.full(len(m), 2 * k), m, k, correct=support)
        parts.append((chance * (first[support] * second[other])).sum())
    return DoubleDouble.concatenate(parts)


def _blocks(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))
