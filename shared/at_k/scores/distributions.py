"""Posterior moments of scores of k new samples, and the number of correct samples among k.

Choose k of the n samples of a question, c of which are correct. The number j of correct ones is
hypergeometric,

    P(j) = C(k, j) fall(c, j) fall(n-c, k-j) / fall(n, k),    fall(x, j) = x (x-1) .. (x-j+1).

Take k new samples instead, with a Beta(alpha0, beta0) prior of the success rate. Its posterior is
Beta(a, b) with a = c + alpha0 and b = n - c + beta0, and j is Beta-binomial: rising factorials of
a, b and a + b take the place of the falling ones (Hariri et al. 2026, arXiv:2510.04265).

*Covariances.* The product of two scores is a sum of terms p^i (1 - p)^(2k - i), so its posterior
mean is a sum of Beta integrals. In the log-odds of p their integrands are smooth, and the
trapezoidal rule converges exponentially. A covariance is the mean of products of deviations, so no
digits cancel. Where a score is close to its largest value, its distance from that takes its place.
12 digits are correct for n up to a million. There are U distinct pairs (n, c), and m scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.counts import BinaryCounts, one_size
from ..core.credits import Credits
from ..core.expected import blocks_of_rows, columns_by_k, relative_to_mode
from ..core.score import Moments, Score, ScoreKey, number_terms

Prior = tuple[float, float]
"""The parameters (alpha0, beta0) of the Beta prior of a question's success rate, positive."""

_LARGEST_TABLE = 128  # Up to this n and k, values for all c are kept.
_STEP = 0.6  # in standard deviations: of trapezoids, where the integrand is nearly normal
_LARGEST_LOG_ODDS = 80.0  # Rates beyond count as 0 and 1.
_MOST_CELLS = 4e9  # largest number of probabilities for scores with several credits, a minute


def pass_moments(counts: BinaryCounts, scores: Mapping[ScoreKey, Score], prior: Prior) -> Moments:
    """Return posterior means and covariances of scores, whose terms are credits. k may exceed n."""
    credits, keys = number_terms(scores)
    n, c = counts.unique
    pairs = sorted({pair for score in keys.values() for pair in score.pairs()})
    covariance = credit_covariances(n, c, [(credits[a], credits[b]) for a, b in pairs], prior)
    covariance_of_pair = dict(zip(pairs, covariance.T, strict=True))
    means = posterior_means(n, c, credits, prior)
    return Moments(keys, counts.inverse, means, covariance_of_pair)


def posterior_means(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior
) -> np.ndarray:
    """Return posterior means of m scores of k new samples, (U, m), for n and c, both (U,)."""
    result = np.zeros((len(c), len(credits)))
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        result[:, columns] = _rows_from_cache(_means_of_k, n, c, k, credits_of_k, prior)
    return result


def _means_of_k(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior
) -> np.ndarray:
    """Return the `posterior_means`, (U, m), of scores that all have the same k."""
    k, result = len(credits[0]), np.zeros((len(c), len(credits)))
    for rows in blocks_of_rows(np.arange(len(c)), k):
        probabilities = pmf(n[rows], c[rows], k, prior)
        for column, credit in enumerate(credits):
            # Unlike a matrix product, these sums do not depend on the other rows.
            result[rows, column] = (probabilities * np.cumsum([0.0, *credit])).sum(axis=1)
    return result


def credit_covariances(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Return the posterior covariance of each pair of scores, (U, pairs), for n and c, both (U,).

    Both scores of a pair have the same k. No covariance is negative, because no score decreases if
    the success rate increases.
    """
    result = np.zeros((len(c), len(pairs)))
    # A pair with a score that is always 0 has the covariance 0, and `columns_by_k` leaves it out.
    zero_if_either_is = [a if any(b) else b for a, b in pairs]
    for k, columns in columns_by_k(zero_if_either_is).items():
        pairs_of_k = tuple(pairs[column] for column in columns)
        result[:, columns] = _rows_from_cache(_covariances_of_k, n, c, k, pairs_of_k, prior)
    return result


def _covariances_of_k(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Return the `credit_covariances`, (U, pairs), of pairs of scores that all have the same k."""
    credits = list(dict.fromkeys(credit for pair in pairs for credit in pair))
    columns = np.array([[credits.index(credit) for credit in pair] for pair in pairs])
    k, result = len(credits[0]), np.zeros((len(c), len(pairs)))
    # Smaller parameters overflow in `_beta_weights`, and change only covariances below 1e-240.
    a, b = np.maximum(c + prior[0], 1e-250), np.maximum(n - c + prior[1], 1e-250)
    # The log-odds that matter for Beta(a + i, b + 2k - i), i = 0 .. 2k: 12 standard deviations and
    # an exponential tail beyond the modes of the first and of the last of these.
    first = np.log(a / (b + 2 * k)) - 12 * np.sqrt(1 / a + 1 / (b + 2 * k)) - 40 / a
    last = np.log((a + 2 * k) / b) + 12 * np.sqrt(1 / (a + 2 * k) + 1 / b) + 40 / b
    first, last = np.maximum(first, -_LARGEST_LOG_ODDS), np.minimum(last, _LARGEST_LOG_ODDS)
    # The step depends on the width of the narrowest one, which is nearest to i = (b - a) / 2 + k.
    # It is a power of 2, and so is the number of nodes, so that pairs (n, c) share nodes.
    narrowest = np.clip((b - a) / 2 + k, 0, 2 * k)
    width = np.sqrt(1 / (a + narrowest + 7) + 1 / (b + 2 * k - narrowest + 7))
    step = np.exp2(np.floor(np.log2(_STEP * width)))
    size = np.exp2(np.ceil(np.log2((last - first) / step + 1)))
    if any(np.count_nonzero(credit) > 1 for credit in credits):
        _require_few_nodes(k, step, size, last.max() - first.min())
    for h, nodes in {*zip(step.tolist(), size.astype(int).tolist(), strict=True)}:
        for rows in blocks_of_rows(np.flatnonzero((step == h) & (size == nodes)), nodes):
            node = np.floor(first[rows, None] / h) + np.arange(nodes)
            distinct, index = np.unique(node, return_inverse=True)
            weights = _beta_weights(node * h, a[rows, None], b[rows, None], h)
            # The first entry has the scores, and the second their distance from the largest value.
            scores = scores_of_log_odds(distinct * h, credits)
            scores = scores.take(index.reshape(node.shape), axis=-1)
            means = (scores * weights).sum(axis=-1)
            deviations = scores - means[..., None]
            # The deviations of both are opposite. Those of the smaller one are more exact.
            is_near_zero = (means[0] < means[1])[..., None]
            deviations = np.where(is_near_zero, deviations[0], -deviations[1])
            for column, (i, j) in enumerate(columns):
                result[rows, column] = (weights * deviations[i] * deviations[j]).sum(axis=-1)
    return np.maximum(result, 0.0)


def _require_few_nodes(k: int, step: np.ndarray, size: np.ndarray, reach: float) -> None:
    """Raise a ValueError if the pmf of k samples at all nodes has more than `_MOST_CELLS` numbers.

    The pairs (n, c) have `size` nodes at the distance `step`, (U,) both, in the range `reach`.
    """
    # Pairs with equal steps share nodes.
    needed = k * sum(min(size[step == h].sum(), reach / h) for h in np.unique(step))
    if needed > _MOST_CELLS:
        raise ValueError(
            f"The posterior variance at k = {k} needs up to {needed:.0e} probabilities, and "
            f"{_MOST_CELLS:.0e} are possible: give a smaller k, or interval='sampling'."
        )


def _beta_weights(x: np.ndarray, a: np.ndarray, b: np.ndarray, step: float) -> np.ndarray:
    """Return the probabilities of (U, T) log-odds x of rates with Beta(a, b) distributions, (U, T).

    `x` ascends by `step`, and `a` and `b` are (U, 1). The first and the last log-odds have the
    probability of all that is beyond them, too.
    """
    # Logarithms relative to those of the rate a / (a + b) lose no digits where a and b are large.
    p, q, d = a / (a + b), b / (a + b), x - np.log(a / b)
    log_p, log_q = (
        -np.log1p(np.maximum(share * np.expm1(shift), 2.0**-53 - 1))
        for share, shift in ((q, -d), (p, d))
    )
    weights = np.exp(a * log_p + b * log_q)
    weights[:, :1] /= -np.expm1(-a * step)
    weights[:, -1:] /= -np.expm1(-b * step)
    return weights / weights.sum(axis=1, keepdims=True)


def scores_of_log_odds(log_odds: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return (2, m, T): m scores at T log-odds, and the largest value of each score minus these.

    `log_odds`, (T,), are those of the success rates. All credits are at one k.
    """
    from scipy.special import betainc  # imported here, because it takes longer than all of at_k

    k, log_q, log_p = len(credits[0]), -np.logaddexp(0, log_odds), -np.logaddexp(0, -log_odds)
    result = np.empty((2, len(credits), len(log_odds)))
    j = np.arange(k + 1)
    for i, credit in enumerate(credits):
        if np.count_nonzero(credit) == 1:  # at least r of k samples
            r = int(np.argmax(credit)) + 1
            tails = betainc(r, k - r + 1, np.exp(log_p)), betainc(k - r + 1, r, np.exp(log_q))
            result[:, i] = np.multiply(tails, credit[r - 1])
            continue
        # The scores of j correct samples, and the largest value minus these.
        values = np.cumsum([0.0, *credit]), np.cumsum([0.0, *credit[::-1]])[::-1]
        for rows in blocks_of_rows(np.arange(len(log_odds)), k):
            log_pmf = log_choose(k, j) + log_p[rows, None] * j + log_q[rows, None] * (k - j)
            pmf_of_j = np.exp(log_pmf)
            result[:, i, rows] = [(pmf_of_j * x).sum(axis=1) for x in values]
    return result


def _rows_from_cache(
    function: Callable[..., np.ndarray],
    n: np.ndarray,
    c: np.ndarray,
    k: int,
    scores: Any,
    prior: Prior,
) -> np.ndarray:
    """Return function(n, c, scores, prior), whose scores are at this k, with a row for each pair.

    If all n are equal, and n and k are at most 128, the rows come from a table for c = 0 .. n.
    """
    size = one_size(n)
    if 0 < size <= _LARGEST_TABLE and k <= _LARGEST_TABLE:
        return _rows_for_all_c(function, size, scores, prior)[c]
    return function(n, c, scores, prior)


@lru_cache(maxsize=1 << 10)
def _rows_for_all_c(
    function: Callable[..., np.ndarray], n: int, scores: Any, prior: Prior
) -> np.ndarray:
    """Return the rows of function(n, c, scores, prior) for c = 0 .. n."""
    return function(np.full(n + 1, n), np.arange(n + 1), scores, prior)


def pmf(n: np.ndarray, c: np.ndarray, k: int, prior: Prior | None = None) -> np.ndarray:
    """Return P(j of k samples are correct) for j = 0 .. k, (U, k + 1), for n and c <= n, both (U,).

    With a prior of the success rates, the k samples are new ones. Without a prior, they are a
    subset of the n, and k <= n.
    """
    # A drawn sample of the n reduces the counts, and a new one raises them.
    step, a, b = (-1, 0.0, 0.0) if prior is None else (1, *prior)
    j, n, c = np.arange(k), n[:, None], c[:, None]
    mode = np.rint(k * ((c + a) / np.maximum(n + a + b, 1e-300)))  # The sum n + a + b may be 0.
    if prior is None:
        mode = np.clip(mode, np.maximum(0, k - (n - c)), np.minimum(c, k))
    gain = (k - j) * (np.maximum(c + step * j, 0) + a)
    loss = (j + 1) * (np.maximum(n - c + step * (k - 1 - j), 0) + b)
    result = relative_to_mode(gain, loss, mode)
    return result / result.sum(axis=1, keepdims=True)


def log_choose(n, c):
    """Return the logarithms of the binomial coefficients C(n, c), for numbers or arrays."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    return gammaln(np.add(n, 1)) - gammaln(np.add(c, 1)) - gammaln(np.subtract(n, c) + 1)
