"""Reference values by independent methods: exact fractions, enumeration and 200-digit floats."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import mpmath

Values = Sequence[Fraction]
"""The values of 0, 1, .., k correct samples."""


# --- Binary outcomes --------------------------------------------------------------------


def hypergeometric_mean(n: int, c: int, values: Values) -> Fraction:
    """Return the expected value of k of n samples, c of them correct, by the hypergeometric pmf."""
    k = len(values) - 1
    # The sum is over integers: values have a common denominator, binomials are not yet divided.
    denominator = math.lcm(*(value.denominator for value in values))
    numerators = [value.numerator * (denominator // value.denominator) for value in values]
    subsets = _numbers_of_subsets(n, c, k)
    total = sum(number * value for number, value in zip(subsets, numerators, strict=True))
    return Fraction(total, denominator * math.comb(n, k))


@lru_cache(maxsize=1024)
def _numbers_of_subsets(n: int, c: int, k: int) -> list[int]:
    """Return how many subsets of k of n samples have j = 0 .. k of the c correct samples."""
    return [math.comb(c, j) * math.comb(n - c, k - j) for j in range(k + 1)]


def subset_mean(outcomes: Sequence[int], values: Values) -> Fraction:
    """Return the expected value of k samples, by enumeration of all subsets."""
    subsets = list(itertools.combinations(outcomes, len(values) - 1))
    return sum((values[sum(subset)] for subset in subsets), Fraction(0)) / len(subsets)


def posterior_moments(
    n: int, c: int, values: Values, alpha0: float, beta0: float
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the posterior mean and variance of the expected value of k new samples."""
    mean = posterior_mean(n, c, [values], alpha0, beta0)
    return mean, posterior_covariance(n, c, values, values, alpha0, beta0)


def posterior_covariance(
    n: int, c: int, first: Values, second: Values, alpha0: float, beta0: float
) -> mpmath.mpf:
    """Return the posterior covariance of two expected values of k new samples."""
    with mpmath.workdps(200):
        means = [posterior_mean(n, c, [values], alpha0, beta0) for values in (first, second)]
        return posterior_mean(n, c, [first, second], alpha0, beta0) - means[0] * means[1]


def posterior_mean(
    n: int, c: int, factors: Sequence[Values], alpha0: float, beta0: float
) -> mpmath.mpf:
    """Return the posterior mean of the product of expected values of k new samples.

    Each factor is a polynomial in p and 1 - p. The product is multiplied out term by term, and the
    mean of each term is that of a Beta distribution.
    """
    with mpmath.workdps(200):
        alpha, beta = mpmath.mpf(alpha0) + c, mpmath.mpf(beta0) + n - c
        product = {(0, 0): mpmath.mpf(1)}  # {(power of p, power of 1 - p): coefficient}
        for values in factors:
            k, terms = len(values) - 1, product
            product = {}
            for (correct, incorrect), coefficient in terms.items():
                for j, value in enumerate(values):
                    powers = correct + j, incorrect + k - j
                    term = coefficient * math.comb(k, j) * value.numerator / value.denominator
                    product[powers] = product.get(powers, 0) + term
        return mpmath.fsum(
            coefficient * _dirichlet_mean([alpha, beta], powers)
            for powers, coefficient in product.items()
            if coefficient
        )


def values_by_definition(k: int, tau: Fraction) -> dict[str, list[Fraction]]:
    """Return the values of each score for j = 0 .. k correct samples, as the papers define them."""
    needed = max(1, math.ceil(tau * k))
    half = math.ceil(Fraction(k, 2))
    return {
        "pass@k": [Fraction(j >= 1) for j in range(k + 1)],
        "pass^k": [Fraction(j == k) for j in range(k + 1)],
        "G-Pass@k": [Fraction(j >= needed) for j in range(k + 1)],
        "maj@k": [Fraction(2 * j > k) for j in range(k + 1)],
        "AUC@k": [_area_of_pass_curve(k, j) for j in range(k + 1)],
        # 2/k times the number of thresholds i/k above one half that j correct samples reach
        "mG-Pass@k": [
            Fraction(2, k) * sum(j >= i for i in range(half + 1, k + 1)) for j in range(k + 1)
        ],
    }


def _area_of_pass_curve(k: int, correct: int) -> Fraction:
    """Return the area by trapezoids under pass@j of k samples, of which `correct` are correct.

    pass@j is 1 - C(k - correct, j) / C(k, j), and the sum of these ratios over j = 0 .. k is
    (k + 1) / (correct + 1).
    """
    first = Fraction(correct, k)
    if k == 1:
        return first
    last = Fraction(correct >= 1)
    total = k - (Fraction(k + 1, correct + 1) - 1)
    return (total - (first + last) / 2) / (k - 1)


def spectrum_values(weights: Sequence[float]) -> list[Fraction]:
    """Return the values of j = 0 .. k correct samples in the threshold spectrum."""
    return [sum(map(Fraction, weights[:j]), Fraction(0)) for j in range(len(weights) + 1)]


# --- Rewards ----------------------------------------------------------------------------


def subset_mean_of_maximum(rewards: Sequence[float], k: int) -> Fraction:
    """Return the mean of the maximum of k rewards, by enumeration of all subsets."""
    subsets = list(itertools.combinations(map(Fraction, rewards), k))
    return sum(map(max, subsets), Fraction(0)) / len(subsets)


def posterior_moments_of_maximum(
    counts: Sequence[int], rewards: Sequence[float], k: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the mean and variance of the expected maximum reward of k new samples.

    The category probabilities p have a Dirichlet distribution with the parameters `counts`. The
    expected maximum is a sum over all numbers of samples in each category: the multinomial
    probability times the maximum reward.
    """
    with mpmath.workdps(200):
        terms = {}
        for sizes in _compositions(k, len(counts)):
            maximum = max(r for r, size in zip(rewards, sizes, strict=True) if size)
            terms[sizes] = _multinomial(sizes) * mpmath.mpf(maximum)
        mean = mpmath.fsum(term * _dirichlet_mean(counts, sizes) for sizes, term in terms.items())
        square = mpmath.fsum(
            v * w * _dirichlet_mean(counts, [a + b for a, b in zip(one, two, strict=True)])
            for one, v in terms.items()
            for two, w in terms.items()
        )
        return mean, square - mean**2


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Return all tuples of `parts` integers of at least 0 with the sum `total`."""
    tuples = itertools.product(range(total + 1), repeat=parts)
    return [sizes for sizes in tuples if sum(sizes) == total]


def _multinomial(sizes: Sequence[int]) -> int:
    """Return the multinomial coefficient."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def _dirichlet_mean(counts: Sequence[float], powers: Sequence[int]) -> mpmath.mpf:
    """Return E[product of p_i^powers_i] under a Dirichlet distribution."""
    factors = [_rising_factorial(a, power) for a, power in zip(counts, powers, strict=True)]
    return mpmath.fprod(factors) / _rising_factorial(mpmath.fsum(counts), sum(powers))


@lru_cache(maxsize=4096)
def _rising_factorial(x: float, n: int) -> mpmath.mpf:
    """Return x (x + 1) .. (x + n - 1)."""
    return mpmath.fprod(mpmath.mpf(x) + i for i in range(n))


# --- Votes and verdicts -----------------------------------------------------------------


def vote(correct: Sequence[int], incorrect: Sequence[int], unanswered: int, k: int) -> Fraction:
    """Return the share of correct answers among the most frequent ones, over all subsets of k.

    Args:
        correct: number of samples of each correct answer.
        incorrect: number of samples of each incorrect answer.
        unanswered: number of samples without an answer.
    """
    samples = [("correct", i) for i, m in enumerate(correct) for _ in range(m)]
    samples += [("incorrect", i) for i, m in enumerate(incorrect) for _ in range(m)]
    total = Fraction(0)
    for subset in itertools.combinations([*samples, *[None] * unanswered], k):
        votes = Counter(answer for answer in subset if answer is not None)
        winners = [answer for answer in votes if votes[answer] == max(votes.values())]
        if winners:
            wins = sum(outcome == "correct" for outcome, _ in winners)
            total += Fraction(wins, len(winners))
    return total / math.comb(len(samples) + unanswered, k)


def power_mean(x: Sequence[float], p: float) -> mpmath.mpf:
    """Return M_p with at least 60 digits. The weights are positive, or at least 0 for p > 0."""
    with mpmath.workdps(400 if abs(p) < 1e-6 else 60):
        if p == 0:
            return mpmath.exp(mpmath.fsum(map(mpmath.log, x)) / len(x))
        powers = [mpmath.mpf(weight) ** mpmath.mpf(p) for weight in x]
        return (mpmath.fsum(powers) / len(x)) ** (1 / mpmath.mpf(p))
