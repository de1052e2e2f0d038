"""Scores of the pass@k family: expected credits of k of the n samples of a question.

Choose k of the n samples, c of which are correct, without replacement. The number of correct ones
among the k is hypergeometric,

    P(j) = C(c, j) C(n - c, k - j) / C(n, k),

and an expected credit under it (see `credits`) is an unbiased estimate.

For n up to 128 a probability is a quotient of two integers, and only the quotient is rounded. For
larger n the probabilities are products of the ratios P(j + 1) / P(j), from the mode outwards. No
number is subtracted from one of similar size, so 13 digits are correct for n = 10,000. Logarithms
of gamma functions would give 11.

U is the number of distinct pairs (n, c), m the number of vectors of credits, and R the number of r.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from .counts import BinaryCounts, one_size
from .credits import Credits, all_correct, any_correct
from .score import Score, ScoreKey, Scores, number_terms

_MOST_EXACT = 128  # Up to this n, probabilities are quotients of integers.
_CELLS_AT_ONCE = 1 << 18  # so many probabilities are computed at once, to bound memory


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Return unbiased estimates of scores whose terms are credits. No k exceeds any n."""
    credits, keys = number_terms(scores)
    return Scores(keys, counts.inverse, expected_credits(*counts.unique, credits))


def expected_credits(n: np.ndarray, c: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return the expected values of m vectors of credits for each pair (n, c), (U, m).

    The value of k samples, r of which are correct, is the sum of the first r credits of a vector.
    The expected value is its mean over all subsets of k of the n samples.

    Args:
        n: (U,) number of samples.
        c: (U,) number of correct samples.
        credits: vectors of credits. The length of a vector is its k, which must not exceed any n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        if 0 < size <= _MOST_EXACT:  # A cached table has the values for all c from 0 to n.
            result[:, columns] = _expected_table(size, credits_of_k)[c]
            continue
        # With equal n, pass@k and pass^k of all c follow from one pass over the samples. For many
        # questions this is fast. For k = 1 it would lose a digit.
        are_by_rank = {*credits_of_k} <= {any_correct(k), all_correct(k)}
        if k > 1 and 0 < size <= len(c) * k and are_by_rank:
            for column in columns:
                result[:, column] = _sums_over_ranks(size, k, credits[column])[c]
            continue
        table = np.array(credits_of_k)
        for rows in blocks_of_rows(np.arange(len(c)), k):
            result[np.ix_(rows, np.array(columns))] = _expected_of_k(n[rows], c[rows], table)
    return result


def _sums_over_ranks(n: int, k: int, credits: Credits) -> np.ndarray:
    """Return pass@k or pass^k, whichever has these credits, for c = 0 .. n, (n + 1,)."""
    chances, is_pass_at_k = chance_of_rank(n, k), credits[0] > 0
    sums = np.append(0.0, np.cumsum(chances[::-1] if is_pass_at_k else chances))
    return sums / sums[-1]


def columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """Return a dict from each k to the indices of its vectors of credits that are not all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def blocks_of_rows(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield blocks of rows, so that the memory for k + 1 probabilities of each row is bounded."""
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))


@lru_cache(maxsize=1 << 10)
def _expected_table(n: int, credits: tuple[Credits, ...]) -> np.ndarray:
    """Return the expected values of m vectors of credits of one k for c = 0 .. n, (n + 1, m)."""
    return _expected_of_k(np.full(n + 1, n), np.arange(n + 1), np.array(credits))


def _expected_of_k(n: np.ndarray, c: np.ndarray, credits: np.ndarray) -> np.ndarray:
    """Return the expected values of (m, k) credits for (U,) n and c, (U, m).

    The probabilities are rounded before they are added, as in the formula of mG-Pass@k, so all
    published digits are reproduced.
    """
    values = []
    needed = np.flatnonzero(credits.any(axis=0))  # r - 1 of the credits w_r that are not 0
    tails = _tails(n, c, credits.shape[1], needed + 1)
    for credit in credits[:, needed]:
        credited = np.flatnonzero(credit)
        terms = tails[:, credited] * credit[credited]
        is_long = terms.shape[1] > _MOST_EXACT
        sums = terms.sum(axis=1) if is_long else np.array([*map(math.fsum, terms.tolist())])
        values.append(sums)
    return np.stack(values, axis=1)


# --- Probabilities ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def chance_of_rank(n: int, k: int) -> np.ndarray:
    """Return the probability of each rank i = 1 .. n of the last of k random samples, (n,).

    For n samples in a row it is C(i - 1, k - 1) / C(n, k). If the last c samples are correct, its
    sum over their ranks is pass@k; if the first c are correct, its sum over their ranks is pass^k.
    """
    earlier = np.arange(n - 1, 0, -1)
    return k / n * np.cumprod([1.0, *np.maximum(earlier + 1 - k, 0) / earlier])[::-1]


def _tails(n: np.ndarray, c: np.ndarray, k: int, r: np.ndarray) -> np.ndarray:
    """Return P(at least r of k samples are correct), (U, R), for (U,) n and c and (R,) r >= 1."""
    if (n == k).all():
        return (c[:, None] >= r).astype(float)
    tails, is_small = np.empty((len(n), k)), n <= _MOST_EXACT
    for rows, tails_of in ((is_small, _exact_tails), (~is_small, _tails_by_ratios)):
        if rows.any():
            tails[rows] = tails_of(n[rows], c[rows], k)
    return tails[:, r - 1]


def _exact_tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for r = 1 .. k, (U, k), by exact integers."""
    binomials, r = _binomials(int(n.max())), np.arange(k, 0, -1)
    subsets = binomials[c[:, None], r] * binomials[(n - c)[:, None], k - r]
    tails = np.cumsum(subsets, axis=1) / binomials[n, k][:, None]
    return tails[:, ::-1].astype(float)  # from r = 1


@lru_cache(maxsize=8)
def _binomials(most: int) -> np.ndarray:
    """Return C(m, j) for m and j from 0 to `most` as Python integers, (most + 1, most + 1)."""
    table = np.zeros((most + 1, most + 1), dtype=object)
    table[:, 0] = 1
    for m in range(1, most + 1):
        table[m, 1:] = table[m - 1, 1:] + table[m - 1, :-1]
    return table


def _tails_by_ratios(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for r = 1 .. k, (U, k), by pmf ratios."""
    n, c = n[:, None], c[:, None]
    mode = np.clip(np.rint(k * (c / n)), np.maximum(0, k - (n - c)), np.minimum(c, k))
    # At more than 20 sqrt(k) from the mean, probabilities are below exp(-800), which is 0 in floats
    # (Hoeffding 1963, Journal of the American Statistical Association 58, 13).
    reach = 20 * math.sqrt(k) + 1
    first, last = max(0, int(mode.min() - reach)), min(k, int(mode.max() + reach))
    j = np.arange(first, last)
    # P(j + 1) / P(j) = gain / loss. gain is 0 if P(j + 1) is 0, and loss is 0 if P(j) is 0.
    gain = (k - j) * np.maximum(c - j, 0.0)
    loss = (j + 1) * np.maximum(n - c - k + j + 1, 0.0)
    is_above = j >= mode
    # Probabilities are computed relative to that of the mode: upwards from the mode as products of
    # the ratios, and downwards as products of their reciprocals.
    relative = np.ones((len(n), len(j) + 1))
    upwards = np.where(is_above, gain / np.where(is_above, loss, 1), 1)
    relative[:, 1:] *= np.cumprod(upwards, axis=1)
    downwards = np.where(is_above, 1, loss / np.where(is_above, 1, gain))
    relative[:, :-1] *= np.cumprod(downwards[:, ::-1], axis=1)[:, ::-1]
    sums = np.cumsum(relative[:, ::-1], axis=1)[:, ::-1]
    tails = np.zeros((len(n), k))
    tails[:, :first] = 1.0
    tails[:, first:last] = sums[:, 1:] / sums[:, :1]
    return tails
