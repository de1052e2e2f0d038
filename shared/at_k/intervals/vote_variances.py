"""The variance of vote@k for new samples of the same questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.votes import AnswerCounts, check_operations, gauss_legendre

_VALUES_AT_ONCE = 1 << 14  # to bound memory


def vote_variances(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return the estimated variance of vote@k of each question for new samples, (M,).

    For k <= n/2 it is the jackknife variance, whose mean is at least the variance (Efron & Stein
    1981, Annals of Statistics 9, 586). For larger k no estimate from n samples is unbiased. The
    variance is then at most k/n times that of the vote of k new samples (Hoeffding 1948, Annals of
    Mathematical Statistics 19, 293), with equality for k = n, and this vote is correct with a
    probability that is estimated by drawing with replacement. For k = n, the mean of the estimate
    is 0.71 to 0.93 of the variance if the most frequent answers are equally probable, and mostly
    above the variance if one of them leads. One sample does not show how samples vary, and has the
    largest possible variance, 1/4.

    Args:
        counts: M answer counts.
        k: one k, or (M,) of them; at most the number of samples of the question.
    """
    ks = np.broadcast_to(k, len(counts)).tolist()
    for question, (answers, size) in enumerate(zip(counts, ks, strict=True)):
        # There are fewer than k log k nodes, and about k roots of unity for each node.
        distinct = len({*answers.correct, *answers.incorrect}) if answers.correct else 0
        check_operations(4 * (size * math.log(size)) ** 2 * distinct, question, answers, size)
    return np.array([_vote_variance(*pair) for pair in zip(counts, ks, strict=True)])


@lru_cache(maxsize=1 << 14)
def _vote_variance(counts: AnswerCounts, k: int) -> float:
    n = sum(counts.correct) + sum(counts.incorrect) + counts.unanswered
    if n == 1:
        return 0.25
    if 2 * k > n:
        probability = _approximate_vote(counts, k, with_replacement=True)
        return k / n * probability * (1 - probability)
    multiplicity, smaller = zip(*_without_one_sample(counts), strict=True)
    share = np.array(multiplicity) / n
    vote = np.array([_approximate_vote(rest, k, with_replacement=False) for rest in smaller])
    return (n - 1) * float(share @ (vote - share @ vote) ** 2)


def _without_one_sample(counts: AnswerCounts) -> list[tuple[int, AnswerCounts]]:
    """Return the distinct counts of all samples but one, each with how many samples lead to it."""
    correct, incorrect, unanswered = counts
    result = [
        (m * correct.count(m), counts._replace(correct=_one_less(correct, m)))
        for m in sorted({*correct})
    ]
    result += [
        (m * incorrect.count(m), counts._replace(incorrect=_one_less(incorrect, m)))
        for m in sorted({*incorrect})
    ]
    if unanswered:
        result.append((unanswered, counts._replace(unanswered=unanswered - 1)))
    return result


def _one_less(samples: tuple[int, ...], m: int) -> tuple[int, ...]:
    rest = list(samples)
    rest[samples.index(m)] -= 1
    return tuple(sorted(filter(None, rest)))


def _approximate_vote(counts: AnswerCounts, k: int, with_replacement: bool) -> float:
    """Return the probability that a correct answer wins, rounded to 12 decimals.

    Numbers of votes are independent binomial numbers, given that their sum is k; if they are drawn
    with replacement, Poisson numbers. With their probabilities as coefficients, G_t is computed at
    roots of unity, for all t and y at once. Its values are products, and their inverse discrete
    Fourier transform has the coefficient of z^k. The error is absolute; that of `vote_probability`
    is relative.
    """
    correct, incorrect, unanswered = counts
    if not correct:
        return 0.0
    n = sum(correct) + sum(incorrect) + unanswered
    answers, roots = len(correct + incorrect), _number_of_roots(k)
    weights = _quadrature(k, answers)[2]
    sums, step = np.zeros(roots // 2 + 1, dtype=complex), max(1, _VALUES_AT_ONCE // roots)
    for start in range(0, len(weights), step):
        rows = slice(start, start + step)
        product: Any = 1.0
        winning: Any = 0.0
        for m in sorted({*correct, *incorrect}):
            factor, wins = _transforms(m, n, k, answers, start, start + step, with_replacement)
            answers_with_m = correct.count(m) + incorrect.count(m)
            factors = factor ** (answers_with_m - 1) if answers_with_m > 1 else 1.0
            winning = (winning * factor + correct.count(m) * wins * product) * factors
            product = product * factor * factors
        sums += np.einsum("r,rf->f", weights[rows], winning)
    sums *= np.fft.rfft(_chances_of_votes(unanswered, n, k, with_replacement))
    chance = np.fft.irfft(sums, roots)[k] / _chances_of_votes(n, n, k, with_replacement)[k]
    return min(1.0, max(0.0, round(float(chance), 12)))


@lru_cache(maxsize=1 << 8)
def _transforms(
    m: int, n: int, k: int, answers: int, start: int, stop: int, with_replacement: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the factor of an answer with m samples in some G_t, and its term with y."""
    t, y, _ = (column[start:stop, None] for column in _quadrature(k, answers))
    chances = _chances_of_votes(m, n, k, with_replacement)
    votes = np.arange(len(chances))
    wins = chances * (votes == t)
    return np.fft.rfft(chances * (votes < t) + y * wins), np.fft.rfft(wins)


def _chances_of_votes(m: int, n: int, k: int, with_replacement: bool) -> np.ndarray:
    """Return the probability of 0, 1, .. votes for an answer with m of n samples."""
    votes = np.arange(1, _number_of_roots(k))
    if with_replacement:
        none, ratios = -k * m / n, k * m / n / votes
    else:
        odds = k / (n + 1 - k)  # any odds would do; these are finite if all samples vote
        none, ratios = -m * math.log1p(odds), np.maximum(m + 1 - votes, 0) / votes * odds
    with np.errstate(divide="ignore"):  # more than m votes
        logs = np.cumsum(np.log(ratios))
    return np.exp(none + np.concatenate([[0.0], logs]))


def _number_of_roots(k: int) -> int:
    """Return N, the number of roots of unity at which G_t is computed.

    The transform adds the coefficients of z^(k + N), z^(k + 2N), .. to that of z^k. The number X of
    all votes has a mean of at most k, and by Chernoff's bound, which is largest for a Poisson
    number, P(X >= k + N) <= exp(-k) (e k / (k + N))^(k + N). For N = 3/2 k + 24, this is below
    4e-17 for all k, and largest for k = 9.
    """
    return k + k // 2 + 24


@lru_cache(maxsize=1 << 6)
def _quadrature(k: int, answers: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Gauss-Legendre quadrature of all G_t: (Q,) each of t, nodes y and weights."""
    nodes = [
        (t, *node)
        for t in range(1, k + 1)
        for node in gauss_legendre(-(-min(k // t, answers) // 2))
    ]
    t, y, weight = np.array(nodes).T
    return t, y, weight
