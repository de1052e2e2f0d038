"""pass@k and its family: expected credits of questions.

A score is an expected credit (`credits`) under one of two distributions (`distributions`):
unbiased from the observed samples, or a posterior mean for new samples. All are computed in
double-double arithmetic. For small n, the values for every c are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from .counts import BinaryCounts, one_size
from .credits import Credits
from .distributions import Prior, pmf
from .double_double import DoubleDouble
from .score import Score, ScoreKey, Scores, number_terms

_MOST_OF_A_TABLE = 128  # samples of a question, up to which values for all c are kept
_CELLS_AT_ONCE = 1 << 18  # cells of a pmf, to bound memory


# --- Scores of a run --------------------------------------------------------------------


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Unbiased estimates of the scores. No k may exceed the n of a question."""
    credits, keys = number_terms(scores)
    return Scores(keys, counts.inverse, expected_credits(*counts.unique, credits))


# --- Expected credits -------------------------------------------------------------------


def expected_credits(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None = None
) -> np.ndarray:
    """(U, m) expected values of m vectors of credits for U questions (n, c), both (U,).

    The length of a vector of credits is its k. Without a prior, the caller ensures k <= n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)
    for k, columns in columns_by_k(credits).items():
        of_k = tuple(credits[column] for column in columns)
        if 0 < size <= _MOST_OF_A_TABLE and k <= _MOST_OF_A_TABLE:
            result[:, columns] = _expected_table(size, of_k, prior)[c]
            continue
        for rows in blocks_of_rows(np.arange(len(c)), _summed_terms(of_k)):
            result[np.ix_(rows, np.array(columns))] = _expected_of_k(n[rows], c[rows], of_k, prior)
    return result


@lru_cache(maxsize=1 << 10)
def _expected_table(n: int, credits: tuple[Credits, ...], prior: Prior | None) -> np.ndarray:
    """(n + 1, m) expected values of credits of one k for c = 0 .. n of n samples."""
    return _expected_of_k(np.full(n + 1, n), np.arange(n + 1), credits, prior)


def _expected_of_k(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None
) -> np.ndarray:
    """(U, m) expected values of credits of one k."""
    credit = np.array(credits)
    needed = np.flatnonzero(credit.any(axis=0)) + 1
    tails = _tails(n, c, len(credits[0]), needed, prior)
    values = []
    for of_column in credit[:, needed - 1]:
        credited = np.flatnonzero(of_column)
        values.append(_sum_of_tails(tails[:, credited], of_column[credited]))
    return np.stack(values, axis=1)


@lru_cache(maxsize=16)
def cumulative_credit(credit: Credits) -> DoubleDouble:
    """(k + 1,) the value of 0, 1, .., k correct samples."""
    return DoubleDouble.from_doubles((0.0, *credit)[::-1]).suffix_sums()[::-1]


def columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """The columns of each k, without those whose credits are all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def _summed_terms(credits: Sequence[Credits]) -> int:
    """The number of terms of the tails that credits of one k need, see `_tails`."""
    k = len(credits[0])
    needed = [r for credit in credits for r in np.flatnonzero(credit).tolist()]
    low, high = [r for r in needed if 2 * r < k], [r for r in needed if 2 * r >= k]
    return max(max(low, default=0) + 1, k - min(high, default=k))


def _sum_of_tails(tails: np.ndarray, credit: np.ndarray) -> np.ndarray:
    """(U,) the sum over r of the credit of r x P(at least r correct), from (U, r) and (r,).

    The tails are rounded to doubles before they are added, as in the formula of mG-Pass@k, so
    published digits are reproduced to the last. The sum is exact to double-double precision.
    """
    terms = tails * credit
    return terms[:, 0] if len(credit) == 1 else DoubleDouble.from_doubles(terms).sum().hi


def _tails(
    n: np.ndarray, c: np.ndarray, k: int, needed: np.ndarray, prior: Prior | None
) -> np.ndarray:
    """(U, r) P(at least r of k samples are correct), rounded, for each needed r, in order."""
    if prior is None and (n == k).all():
        return (c[:, None] >= needed).astype(float)
    low, high = needed[2 * needed <= k], needed[2 * needed > k]
    upper = _upper_tails(n, c, k, high, prior)
    if not len(low):
        return upper
    # Sum the shorter tail and subtract it from 1, unless almost nothing would be left.
    below = pmf(n, c, k, prior, np.arange(low[-1])[::-1]).suffix_sums()[:, ::-1]
    left = (DoubleDouble.from_doubles(1.0) - below[:, low - 1]).hi
    for tiny in blocks_of_rows(np.flatnonzero((left < 1e-12).any(axis=1)), k):
        left[tiny] = _upper_tails(n[tiny], c[tiny], k, low, prior)
    return np.concatenate([left, upper], axis=1)


def _upper_tails(
    n: np.ndarray, c: np.ndarray, k: int, needed: np.ndarray, prior: Prior | None
) -> np.ndarray:
    if not len(needed):
        return np.empty((len(c), 0))
    correct = np.arange(needed[0], k + 1)
    return pmf(n, c, k, prior, correct).suffix_sums().hi[:, needed - needed[0]]


def blocks_of_rows(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))
