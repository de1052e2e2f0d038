"""Expected credits of k of the n samples of a question, which estimate the scores of k new samples.

If c of n samples are correct, the number j of correct ones among k of them is hypergeometric, with
P(j) = C(c, j) C(n - c, k - j) / C(n, k). For n up to 128 only this quotient of integers is rounded.
For larger n, products of ratios P(j + 1) / P(j) from the mode outwards have 13 correct digits for
n = 10,000, where logarithms of gamma functions would give 11. There are U distinct pairs (n, c).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from .counts import BinaryCounts, one_size
from .credits import Credits, all_correct, any_correct
from .score import Score, ScoreKey, Scores, number_terms, with_product_columns

_MOST_EXACT = 128  # Up to this n, probabilities are quotients of integers.
_CELLS_AT_ONCE = 1 << 18  # so many probabilities are computed at once, to bound memory


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Return unbiased estimates of scores whose terms are credits. No k may exceed any n."""
    credits, numbered = number_terms(scores)
    keys, columns = with_product_columns(numbered, expected_credits(*counts.unique, credits))
    return Scores(keys, counts.inverse, columns)


def largest_scores(scores: Mapping[ScoreKey, Score]) -> np.ndarray:
    """Return the columns of `pass_scores`, (m,), of a question whose samples are all correct."""
    credits, numbered = number_terms(scores)
    sums = np.array([[math.fsum(credit) for credit in credits]])
    sums = np.where(np.abs(sums - 1) < 1e-12, 1.0, sums)  # 1 up to rounding is exactly 1
    return with_product_columns(numbered, sums)[1][0]


def expected_credits(n: np.ndarray, c: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return the expected sum of credits of k of n samples for m vectors of k credits, (U, m).

    c of the n samples are correct; n and c are (U,). No k may exceed any n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)  # 0 if there are several n
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        if 0 < size <= _MOST_EXACT:  # A cached table has the values for all c from 0 to n.
            result[:, columns] = _expected_table(size, credits_of_k)[c]
            continue
        # With equal n, `_sums_over_ranks` gives pass@k and pass^k for all c at once, in a time that
        # grows with n, and not with U k. For k = 1 its sums are less precise, by one digit.
        are_pass_scores = {*credits_of_k} <= {any_correct(k), all_correct(k)}
        if k > 1 and 0 < size <= len(c) * k and are_pass_scores:
            for column in columns:
                result[:, column] = _sums_over_ranks(size, k, credits[column])[c]
            continue
        for rows in blocks_of_rows(np.arange(len(c)), k):
            tails = _tails(n[rows], c[rows], k)
            result[np.ix_(rows, np.array(columns))] = _weighted_sums(tails, credits_of_k)
    return result


def _sums_over_ranks(n: int, k: int, credits: Credits) -> np.ndarray:
    """Return pass@k or pass^k, whichever has these credits, for c = 0 .. n, (n + 1,).

    Number the samples 1 .. n, and let i be the largest number among k random ones. If the last c
    samples are correct, pass@k is P(i > n - c). If the first c are correct, pass^k is P(i <= c).
    """
    # The first credit, for at least one correct sample, is 0 for pass^k, because k > 1.
    chances, is_pass_at_k = chance_of_rank(n, k), credits[0] > 0
    sums = np.append(0.0, np.cumsum(chances[::-1] if is_pass_at_k else chances))
    return sums / sums[-1]


def columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """Return a dict from each k to the indices of vectors of k credits that are not all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def blocks_of_rows(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield blocks of an array of rows, small enough to keep k + 1 numbers of each row."""
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))


@lru_cache(maxsize=1 << 10)
def _expected_table(n: int, credits: tuple[Credits, ...]) -> np.ndarray:
    """Return the expected sums of m vectors of k credits for c = 0 .. n, (n + 1, m)."""
    return _weighted_sums(_table_of_tails(n, len(credits[0])), credits)


@lru_cache(maxsize=64)
def _table_of_tails(n: int, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for c = 0 .. n and r = 1 .. k, (n + 1, k)."""
    return _tails(np.full(n + 1, n), np.arange(n + 1), k)


def _weighted_sums(tails: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return the expected sums of m vectors of k credits, (U, m), from (U, k) tails.

    With the credits w, each is the sum over r of w_r x P(at least r of k samples are correct). The
    rounded probabilities are added, as this gives the digits in the paper of mG-Pass@k.
    """
    sums = []
    for credit in map(np.array, credits):
        credited = np.flatnonzero(credit)
        terms = tails[:, credited] * credit[credited]
        is_long = terms.shape[1] > _MOST_EXACT  # `fsum` is exact, but slow.
        sums.append(terms.sum(axis=1) if is_long else [math.fsum(row) for row in terms.tolist()])
    return np.stack(sums, axis=1)


@lru_cache(maxsize=64)
def chance_of_rank(n: int, k: int) -> np.ndarray:
    """Return P(i is the largest of k different random numbers from 1 to n) for each i, (n,)."""
    # It is C(i - 1, k - 1) / C(n, k): k / n for i = n, and (i + 1 - k) / i times that of i + 1.
    i = np.arange(n - 1, 0, -1)
    return k / n * np.cumprod([1.0, *np.maximum(i + 1 - k, 0) / i])[::-1]


def _tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for r = 1 .. k, (U, k), from (U,) n and c."""
    tails, is_small = np.empty((len(n), k)), n <= _MOST_EXACT
    for rows, tails_of in ((is_small, _exact_tails), (~is_small, _tails_by_ratios)):
        if rows.any():
            tails[rows] = tails_of(n[rows], c[rows], k)
    return tails


def _exact_tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return the results of `_tails` for n up to 128, from counts of subsets as Python integers."""
    binomials, r = _binomials(int(n.max()), k), np.arange(k, 0, -1)
    subsets = binomials[c[:, None], r] * binomials[(n - c)[:, None], k - r]
    tails = np.cumsum(subsets, axis=1) / binomials[n, k][:, None]
    return tails[:, ::-1].astype(float)  # from r = 1


@lru_cache(maxsize=8)
def _binomials(most: int, k: int) -> np.ndarray:
    """Return C(m, j) for m = 0 .. most and j = 0 .. k as Python integers, (most + 1, k + 1)."""
    table = np.zeros((most + 1, k + 1), dtype=object)
    table[:, 0] = 1
    for m in range(1, most + 1):
        table[m, 1:] = table[m - 1, 1:] + table[m - 1, :-1]
    return table


def _tails_by_ratios(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return the results of `_tails` from the ratios of successive probabilities P(j)."""
    n, c = n[:, None], c[:, None]
    mode = np.clip(np.rint(k * (c / n)), np.maximum(0, k - (n - c)), np.minimum(c, k))
    # At more than 20 sqrt(k) from the mean, probabilities are below exp(-800), which is 0 in floats
    # (Hoeffding 1963, Journal of the American Statistical Association 58, 13).
    reach = 20 * math.sqrt(k) + 1
    first, last = max(0, int(mode.min() - reach)), min(k, int(mode.max() + reach))
    j = np.arange(first, last)
    gain, loss = (k - j) * np.maximum(c - j, 0.0), (j + 1) * np.maximum(n - c - k + j + 1, 0.0)
    relative = relative_to_mode(gain, loss, mode - first)
    sums = np.cumsum(relative[:, ::-1], axis=1)[:, ::-1]  # over all values from j to `last`
    tails = np.zeros((len(n), k))
    tails[:, :first] = 1.0
    tails[:, first:last] = sums[:, 1:] / sums[:, :1]
    return tails


def relative_to_mode(gain: np.ndarray, loss: np.ndarray, mode: np.ndarray) -> np.ndarray:
    """Return P(j) / P(mode) for j = 0 .. k, (U, k + 1), where P(j + 1) / P(j) = gain / loss.

    `gain` and `loss` are (U, k), and `mode` is (U, 1).
    """
    # Ratios are taken in the direction away from the mode, where they are at most about 1, so that
    # no product overflows.
    is_above = np.arange(gain.shape[1]) >= mode
    up = np.divide(gain, loss, out=(~is_above).astype(float), where=is_above & (loss > 0))
    down = np.divide(loss, gain, out=is_above.astype(float), where=~is_above & (gain > 0))
    result = np.ones((len(gain), gain.shape[1] + 1))
    result[:, 1:] = np.cumprod(up, axis=1)
    result[:, :-1] *= np.cumprod(down[:, ::-1], axis=1)[:, ::-1]
    return result
