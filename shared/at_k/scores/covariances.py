"""Posterior covariances of expected credits.

The product of two scores of k new samples is a score of 2k new samples: the value that one gives to
the first half times the value that the other gives to the second. If m of all 2k samples are
correct, the number H of correct samples in the first half is hypergeometric, and the mean product
is needed for m = 0 .. 2k. Two kinds of scores have it in O(k) steps: a threshold, 1 if at least r
of k samples are correct, and a ramp, max(0, j - h) for j correct samples, as in mG-Pass@k.

Let the m correct samples be placed one after the other. The mean changes only if the next one
raises the score of a half while that of the other half is positive. A given place of the next one
leaves 2k - 1 places for the first m, so each change is a mean over fewer samples. For thresholds,
the mean E(m) changes by

    E(m + 1) - E(m) = P(H = r - 1),  H of k - 1 among 2k - 1,  if m >= 2r - 1

and for ramps by

    E(m + 1) - E(m) = u(m)
    u(m + 1) - u(m) = k / (2k - 1) P(k - 1 and k - 1 of 2k - 2 have at least h correct samples each)
                      + (k - 1) / (2k - 1) P(H = h - 1) max(0, m + 1 - 2h),  H of k - 2 among 2k - 2

where u(m) is the mean of (m - H - h) over H >= h and m - H >= h, for H of k - 1 among 2k - 1.

Symbols: there are U distinct pairs (n, c) of the numbers of samples and of correct samples, and m
pairs of scores. In the formulas above and in functions on halves, m is a number of correct samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..core.counts import BinaryCounts
from ..core.credits import Credits
from ..core.expected import blocks_of_rows, columns_by_k
from ..core.score import Moments, Score, ScoreKey, number_terms
from .distributions import Prior, cumulative_credit, from_table, pmf, posterior_means
from .double_double import DoubleDouble

_FEW_VALUES = 4  # A sum over so few values of a score takes steps linear in k.
_MOST_CELLS = 4e8  # largest number of probabilities of correct samples in a half of 2k samples


def pass_moments(counts: BinaryCounts, scores: Mapping[ScoreKey, Score], prior: Prior) -> Moments:
    """Return posterior means and covariances of scores, whose terms are credits for any k."""
    credits, keys = number_terms(scores)
    n, c = counts.unique
    pairs = sorted({pair for score in keys.values() for pair in score.pairs()})
    covariance = credit_covariances(n, c, [(credits[a], credits[b]) for a, b in pairs], prior)
    return Moments(
        keys,
        counts.inverse,
        posterior_means(n, c, credits, prior),
        dict(zip(pairs, covariance.T, strict=True)),
    )


def credit_covariances(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Return posterior covariances of m pairs of scores, (U, m), never negative, for (U,) n and c.

    The mean of the product of both scores of a pair, which are at the same k, is an expected value
    under the same distribution at 2k.
    """
    result = np.zeros((len(c), len(pairs)))
    for k, columns in columns_by_k([a if any(b) else b for a, b in pairs]).items():
        pairs_of_k = tuple(pairs[column] for column in columns)
        result[:, columns] = from_table(_covariances_of_k, n, c, k, pairs_of_k, prior)
    return result


def _covariances_of_k(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Return covariances of pairs of scores of one k, (U, m). See `credit_covariances`."""
    k, result = len(pairs[0][0]), np.zeros((len(c), len(pairs)))
    for rows in blocks_of_rows(np.arange(len(c)), 2 * k):
        once, twice = (pmf(n[rows], c[rows], size, prior) for size in (k, 2 * k))
        for column, pair in enumerate(pairs):
            result[rows, column] = _covariance(once, twice, *pair)
    return result


def _covariance(once: DoubleDouble, twice: DoubleDouble, a: Credits, b: Credits) -> np.ndarray:
    """Return the covariance of two scores with credits a and b, (U,), not negative.

    `once` and `twice` are the pmf of the number of correct samples among k, (U, k + 1), and 2k, (U,
    2k + 1).
    """
    result = np.empty(len(twice.hi))
    centered_a = list(_centered(a, once))
    centered_b = centered_a if a == b else list(_centered(b, once))
    for rows_a, plateau_a, mean_a in centered_a:
        for rows_b, plateau_b, mean_b in centered_b:
            rows = rows_a & rows_b
            if rows.any():
                values = _over_halves(a, plateau_a, b, plateau_b)
                product = (twice[rows] * values).sum()
                result[rows] = np.maximum((product - mean_a[rows] * mean_b[rows]).hi, 0.0)
    return result


@lru_cache(maxsize=8)  # All blocks of rows need the same result.
def _over_halves(a: Credits, plateau_a: int, b: Credits, plateau_b: int) -> DoubleDouble:
    """Return the mean product of both scores if 0 .. 2k of 2k samples are correct, (2k + 1,).

    The value of each score at its plateau, a number of correct samples, is subtracted first.
    """
    value_a, value_b = _less_plateau(a, plateau_a), _less_plateau(b, plateau_b)
    if a == b and _has_equal_halves(a):
        return mean_over_equal_halves(a, value_a)
    return _mean_over_halves(value_a, value_b)


def _less_plateau(credit: Credits, plateau: int) -> DoubleDouble:
    """Return the score of 0 .. k correct samples minus its value at a plateau, (k + 1,)."""
    values = cumulative_credit(credit)
    return values - values[plateau]


def _centered(
    credit: Credits, pmf_of_k: DoubleDouble
) -> Iterator[tuple[np.ndarray, int, DoubleDouble]]:
    """Yield (rows, plateau, means) for each plateau of a score.

    A covariance does not change if a constant is subtracted from each score, and keeps its digits
    if the means are then small. The constant is the value of the score at a plateau: 0 if few
    samples are correct, and the sum of the credits if nearly all are. `rows`, (U,), says which rows
    of `pmf_of_k`, (U, k + 1), have a mean closest to this value, and `means`, (U,), are those of
    the score minus its value.
    """
    plateaus = _plateaus(credit)
    means = [(pmf_of_k * _less_plateau(credit, plateau)).sum() for plateau in plateaus]
    closest = np.argmin(np.abs([mean.hi for mean in means]), axis=0)
    for index, (plateau, mean) in enumerate(zip(plateaus, means, strict=True)):
        yield closest == index, plateau, mean


@lru_cache(maxsize=16)
def _plateaus(credit: Credits) -> list[int]:
    """Return the plateaus of a score: numbers of correct samples after which it does not change.

    There is one number for each value. The numbers 0 and k, or others with their values, are among
    them.
    """
    weights = np.array(credit)
    flat = np.flatnonzero(weights[: np.flatnonzero(weights)[-1]] == 0)
    flat = np.concatenate([[0], flat, [len(credit)]])
    first = np.unique(cumulative_credit(credit).hi[flat], return_index=True)[1]
    return [int(x) for x in flat[first]]


def _mean_over_halves(first: DoubleDouble, second: DoubleDouble) -> DoubleDouble:
    """Return the mean of first[i] * second[m - i] for m = 0 .. 2k correct samples, (2k + 1,).

    i is the hypergeometric number of correct samples in the first half of all 2k.
    """
    k = len(first.hi) - 1
    if np.count_nonzero(second.hi) < np.count_nonzero(first.hi):
        first, second = second, first
    support = np.flatnonzero(first.hi)
    cells = 2 * k * len(support)
    if cells > _MOST_CELLS:
        raise ValueError(
            f"The posterior variance at k = {k} needs {cells:.0e} probabilities for these weights, "
            f"and {_MOST_CELLS:.0e} are possible: give a smaller k, such as "
            f"{int(k * (_MOST_CELLS / cells) ** 0.5)}, or interval='sampling'."
        )
    if len(support) <= _FEW_VALUES:
        m, mean = np.arange(2 * k + 1), DoubleDouble.from_doubles(np.zeros(2 * k + 1))
        for i in support.tolist():
            mean = mean + _probability_of(i, k, 2 * k) * (first[i] * second[np.clip(m - i, 0, k)])
        return mean
    means = []
    for m in blocks_of_rows(np.arange(2 * k + 1), k):
        other = np.clip(m[:, None] - support, 0, k)  # Where this clips, the pmf is 0.
        chance = pmf(np.full(len(m), 2 * k), m, k)[:, support]
        means.append((chance * (first[support] * second[other])).sum())
    return DoubleDouble.concatenate(means)


# --- Thresholds and ramps -----------------------------------------------------------------


@lru_cache(maxsize=16)
def _has_equal_halves(credit: Credits) -> bool:
    """Return whether the score is a threshold or a ramp, so `mean_over_equal_halves` applies.

    A threshold has one credit that is not 0. A ramp has equal credits from some sample to the k-th,
    and 0 before.
    """
    first, *others = np.flatnonzero(credit).tolist()
    is_ramp = 0 < first == len(credit) - 1 - len(others) and len({*credit[first:]}) == 1
    return not others or is_ramp


def mean_over_equal_halves(credit: Credits, value: DoubleDouble) -> DoubleDouble:
    """Return the mean of value[H] value[m - H] for each number m of correct samples, (2k + 1,).

    2k samples, m of which are correct, are dealt at random into two halves of k. One half has H
    correct samples, and the other m - H.

    Args:
        credit: (k,) the credits of the score: one credit, for a threshold; or equal credits from
            some rank to k, for a ramp.
        value: (k + 1,) the score of 0 .. k correct samples, minus that of 0 correct ones or minus
            that of k, which makes the first or the last entry 0.
    """
    k, credited = len(credit), np.flatnonzero(credit)
    first, from_zero = int(credited[0]), value.hi[0] == 0
    if len(credited) == 1:
        needed = first + 1 if from_zero else k - first
        means = _both_at_least(k, needed)
    else:
        means = _mean_of_ramps(k, first, from_zero)
    weight = DoubleDouble.from_doubles(credit[first])
    means = means * (weight * weight)
    return means if from_zero else means[::-1]  # They were computed for 0 .. 2k incorrect samples.


def _both_at_least(k: int, r: int) -> DoubleDouble:
    """Return P(both halves have at least r >= 1 of m marked samples) for m = 0 .. 2k, (2k + 1,)."""
    change = _probability_of(r - 1, k - 1, 2 * k - 1)
    return _sums_before(change, np.arange(2 * k) >= 2 * r - 1)


def _mean_of_ramps(k: int, h: int, above: bool) -> DoubleDouble:
    """Return the mean product of max(0, H - h) of both halves if `above`, (2k + 1,).

    Otherwise it is the mean product of min(H, k - h). H of the samples of a half are marked.
    There are 0, 1, .., 2k marked samples in all, and 1 <= h < k.
    """
    m, share, least = np.arange(2 * k - 1), Fraction(k, 2 * k - 1), h if above else k - h
    both = _both_at_least(k - 1, h) if above else _both_at_least(k - 1, h)[::-1]
    others = np.maximum(m + 1 - 2 * h, 0) if above else -np.clip(m + 1 - least, 0, least)
    crossing = _probability_of(least - 1, k - 2, 2 * k - 2)
    change = both * DoubleDouble.from_fraction(share)
    change += crossing * DoubleDouble.from_fraction(1 - share) * DoubleDouble.from_doubles(others)
    return _sums_before(_sums_before(change))


def _probability_of(j: int, k: int, n: int) -> DoubleDouble:
    """Return P(j of a subset of k are marked) if 0, 1, .., n of all n are marked, (n + 1,).

    By Bayes' theorem it is (n + 1) / (k + 1) times the posterior pmf of the number of marked
    samples, if all numbers are equally likely a priori: the prior of the rate is uniform.
    """
    unseen = pmf(np.array([k]), np.array([j]), n - k, (1.0, 1.0))[0]
    chance = unseen * DoubleDouble.from_fraction(Fraction(n + 1, k + 1))
    before, after = (DoubleDouble.from_doubles(np.zeros(size)) for size in (j, k - j))
    return DoubleDouble.concatenate([before, chance, after])


def _sums_before(change: DoubleDouble, counted: np.ndarray | bool = True) -> DoubleDouble:
    """Return the sums of the first 0, 1, .., all changes, where only those with `counted` count."""
    kept = DoubleDouble(change.hi * counted, change.lo * counted)
    sums = kept[::-1].suffix_sums()[::-1]
    return DoubleDouble.concatenate([DoubleDouble.from_doubles([0.0]), sums])
