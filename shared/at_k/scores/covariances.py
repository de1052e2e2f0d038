"""Posterior covariances of expected credits.

The product of two scores of k new samples is a score of 2k new samples: the value that one gives to
the first half times the value that the other gives to the second. If m of all 2k samples are
correct, the number H of correct samples in the first half is hypergeometric, and the mean product
is needed for m = 0 .. 2k. Two kinds of scores have it in O(k) steps: a threshold, 1 if at least r
of k samples are correct, and a ramp, max(0, j - h) for j correct samples, as in mG-Pass@k.

Let the m correct samples get random places among the 2k, one after the other. The mean changes only
if the next one raises the score of its half while that of the other half is positive. Given its
place, the first m are at random among 2k - 1 places, so each change is a mean over fewer samples.
Let E(m) be the mean product. For thresholds,

    E(m + 1) - E(m) = P(H = r - 1),  H of k - 1 among 2k - 1,  if m >= 2r - 1

and for ramps

    E(m + 1) - E(m) = u(m)
    u(m + 1) - u(m) = k / (2k - 1) P(k - 1 and k - 1 of 2k - 2 have at least h correct samples each)
                      + (k - 1) / (2k - 1) P(H = h - 1) max(0, m + 1 - 2h),  H of k - 2 among 2k - 2

where u(m) is the mean of (m - H - h) over H >= h and m - H >= h, for H of k - 1 among 2k - 1.

In the functions, n and c are the numbers of samples and of correct samples of a question, and there
are U distinct pairs (n, c). Credits are what each correct sample adds to a score: that of j correct
samples is the sum of the first j credits.
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
    """Return posterior means and covariances of scores, whose terms are credits. k may exceed n."""
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
    """Return the posterior covariance of each pair of scores, (U, pairs), for n and c, both (U,).

    The scores of a pair are at the same k. No covariance is negative, because neither score falls
    with the success rate.
    """
    result = np.zeros((len(c), len(pairs)))
    # `columns_by_k` leaves out pairs with a score that is always 0, whose covariance is 0.
    for k, columns in columns_by_k([a if any(b) else b for a, b in pairs]).items():
        pairs_of_k = tuple(pairs[column] for column in columns)
        result[:, columns] = from_table(_covariances_of_k, n, c, k, pairs_of_k, prior)
    return result


def _covariances_of_k(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Return `credit_covariances` of pairs of scores that are all at one k, (U, pairs)."""
    k, result = len(pairs[0][0]), np.zeros((len(c), len(pairs)))
    for rows in blocks_of_rows(np.arange(len(c)), 2 * k):
        pmf_of_k, pmf_of_2k = (pmf(n[rows], c[rows], size, prior) for size in (k, 2 * k))
        for column, pair in enumerate(pairs):
            result[rows, column] = _covariance(pmf_of_k, pmf_of_2k, *pair)
    return result


def _covariance(
    pmf_of_k: DoubleDouble, pmf_of_2k: DoubleDouble, a: Credits, b: Credits
) -> np.ndarray:
    """Return the covariance of two scores with credits a and b, (U,), not negative.

    `pmf_of_k`, (U, k + 1), and `pmf_of_2k`, (U, 2k + 1), are the distributions of the number of
    correct samples among k and 2k new ones. The mean product of both scores is an expected value
    under the latter. To keep digits, each score is taken less its value at a plateau, the nearest
    one of each row (see `_centered`); the loops go over the pairs of plateaus.
    """
    result = np.empty(len(pmf_of_2k.hi))
    centered_a = list(_centered(a, pmf_of_k))
    centered_b = centered_a if a == b else list(_centered(b, pmf_of_k))
    for rows_a, plateau_a, mean_a in centered_a:
        for rows_b, plateau_b, mean_b in centered_b:
            rows = rows_a & rows_b
            if rows.any():
                products = _mean_products(a, plateau_a, b, plateau_b)
                mean = (pmf_of_2k[rows] * products).sum()
                result[rows] = np.maximum((mean - mean_a[rows] * mean_b[rows]).hi, 0.0)
    return result


@lru_cache(maxsize=8)  # All blocks of rows need the same result.
def _mean_products(a: Credits, plateau_a: int, b: Credits, plateau_b: int) -> DoubleDouble:
    """Return the mean product of two scores, each of a half of 2k samples, (2k + 1,).

    There is an entry for each number of correct samples among the 2k, from 0 to 2k. From each score
    its value at a plateau, which is a number of correct samples, is subtracted first.
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
    if the means are then small. The constant is the value of the score at a plateau, such as 0 if
    few samples are correct, or the sum of the credits if nearly all are. The boolean `rows`, (U,),
    says in which rows of `pmf_of_k`, (U, k + 1), the mean score is closest to this value, and
    `means`, (U,), has the mean of the score minus this value in all rows.
    """
    plateaus = _plateaus(credit)
    means = [(pmf_of_k * _less_plateau(credit, plateau)).sum() for plateau in plateaus]
    closest = np.argmin(np.abs([mean.hi for mean in means]), axis=0)
    for index, (plateau, mean) in enumerate(zip(plateaus, means, strict=True)):
        yield closest == index, plateau, mean


@lru_cache(maxsize=16)
def _plateaus(credit: Credits) -> list[int]:
    """Return the plateaus of a score: numbers of correct samples after which it does not change.

    0 and k count as plateaus too. Of plateaus with equal scores, one is returned.
    """
    last = np.flatnonzero(credit)[-1]  # From here on, the score is that of k correct samples.
    flat = np.concatenate([[0], np.flatnonzero(np.array(credit[:last]) == 0), [len(credit)]])
    first = np.unique(cumulative_credit(credit).hi[flat], return_index=True)[1]
    return flat[first].tolist()


def _mean_over_halves(first: DoubleDouble, second: DoubleDouble) -> DoubleDouble:
    """Return the mean of first[i] * second[m - i] for m = 0 .. 2k correct samples, (2k + 1,).

    `first` and `second`, (k + 1,), are the values of two scores by the number of correct samples.
    The mean is over i, the hypergeometric number of correct samples in the first half of all 2k.
    """
    k = len(first.hi) - 1
    if np.count_nonzero(second.hi) < np.count_nonzero(first.hi):
        first, second = second, first  # The halves are alike, and `first` now has fewer terms.
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
        in_second = np.clip(m[:, None] - support, 0, k)  # Where this clips, the pmf is 0.
        probabilities = pmf(np.full(len(m), 2 * k), m, k)[:, support]
        means.append((probabilities * (first[support] * second[in_second])).sum())
    return DoubleDouble.concatenate(means)


# --- Thresholds and ramps -----------------------------------------------------------------


@lru_cache(maxsize=16)
def _has_equal_halves(credit: Credits) -> bool:
    """Return whether the score is a threshold or a ramp, so `mean_over_equal_halves` applies.

    A threshold has one credit that is not 0. A ramp has equal credits from the second sample or a
    later one to the k-th, and 0 before.
    """
    credited = np.flatnonzero(credit)
    first = int(credited[0])
    is_ramp = first > 0 and len({*credit[first:]}) == 1
    return len(credited) == 1 or is_ramp


def mean_over_equal_halves(credit: Credits, value: DoubleDouble) -> DoubleDouble:
    """Return the mean product of the scores of two halves, both a threshold or both a ramp.

    2k samples, m of which are correct, are dealt at random into two halves of k. One half has H
    correct samples, and the other m - H. The result has the mean of value[H] * value[m - H] for
    m = 0 .. 2k, (2k + 1,).

    Args:
        credit: (k,) the credits of the score, for which `_has_equal_halves` is true.
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
    """Return the mean product of a ramp for both halves, for m = 0 .. 2k marked samples, (2k + 1,).

    If H samples of a half are marked, the ramp is max(0, H - h) if `above`, or else min(H, k - h).
    The threshold h is from 1 to k - 1.
    """
    # Both terms of u(m + 1) - u(m) in the module docstring, or those of the other ramp.
    m, share = np.arange(2 * k - 1), Fraction(k, 2 * k - 1)
    if above:
        both = _both_at_least(k - 1, h)
        end, factor = h, np.maximum(m + 1 - 2 * h, 0)
    else:
        both = _both_at_least(k - 1, h)[::-1]
        end, factor = k - h, -np.clip(m + 1 - (k - h), 0, k - h)
    at_end = _probability_of(end - 1, k - 2, 2 * k - 2)
    second_difference = both * DoubleDouble.from_fraction(share)
    second_difference += (
        at_end * DoubleDouble.from_fraction(1 - share) * DoubleDouble.from_doubles(factor)
    )
    return _sums_before(_sums_before(second_difference))


def _probability_of(j: int, k: int, n: int) -> DoubleDouble:
    """Return P(j of k random samples are marked) if 0, 1, .., n of all n are marked, (n + 1,).

    By Bayes' theorem it is (n + 1) / (k + 1) times the posterior pmf of the number of marked
    samples, if all numbers are equally likely a priori: the prior of the rate is uniform.
    """
    pmf_of_others = pmf(np.array([k]), np.array([j]), n - k, (1.0, 1.0))[0]
    probabilities = pmf_of_others * DoubleDouble.from_fraction(Fraction(n + 1, k + 1))
    before, after = (DoubleDouble.from_doubles(np.zeros(size)) for size in (j, k - j))
    return DoubleDouble.concatenate([before, probabilities, after])


def _sums_before(terms: DoubleDouble, counted: np.ndarray | bool = True) -> DoubleDouble:
    """Return the sums of the first 0, 1, .., all terms; those that are not `counted` are 0."""
    kept = DoubleDouble(terms.hi * counted, terms.lo * counted)
    sums = kept[::-1].suffix_sums()[::-1]
    return DoubleDouble.concatenate([DoubleDouble.from_doubles([0.0]), sums])
