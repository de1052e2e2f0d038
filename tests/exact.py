"""Independent truth: exact fractions, literal enumeration, and many digits."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import mpmath


def hypergeometric_mean(n: int, c: int, credit: Sequence[Fraction]) -> Fraction:
    """Expected credit of k draws without replacement, exactly."""
    k = len(credit) - 1
    ways = (math.comb(c, j) * math.comb(n - c, k - j) * credit[j] for j in range(k + 1))
    return Fraction(sum(ways)) / math.comb(n, k)


def subset_mean(outcomes: Sequence[int], credit: Sequence[Fraction]) -> Fraction:
    """The same by drawing every subset."""
    subsets = list(itertools.combinations(outcomes, len(credit) - 1))
    return sum((credit[sum(subset)] for subset in subsets), Fraction(0)) / len(subsets)


def posterior_moments(
    n: int, c: int, credit: Sequence[Fraction], alpha0: float, beta0: float
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance of the expected credit of k new samples, to 200 digits."""
    mean = posterior_mean(n, c, [credit], alpha0, beta0)
    return mean, posterior_covariance(n, c, credit, credit, alpha0, beta0)


def posterior_covariance(
    n: int,
    c: int,
    first: Sequence[Fraction],
    second: Sequence[Fraction],
    alpha0: float,
    beta0: float,
) -> mpmath.mpf:
    """Covariance of two expected credits of k new samples, to 200 digits."""
    with mpmath.workdps(200):
        means = [posterior_mean(n, c, [credit], alpha0, beta0) for credit in (first, second)]
        return posterior_mean(n, c, [first, second], alpha0, beta0) - means[0] * means[1]


def posterior_mean(
    n: int, c: int, credits: Sequence[Sequence[Fraction]], alpha0: float, beta0: float
) -> mpmath.mpf:
    """Mean of the product of expected credits of k new samples, to 200 digits."""
    with mpmath.workdps(200):
        alpha, beta = mpmath.mpf(alpha0) + c, mpmath.mpf(beta0) + n - c
        # A polynomial in p and 1 - p, as {(powers): factor}, multiplied out term by term.
        product = {(0, 0): mpmath.mpf(1)}
        for credit in credits:
            k, factors = len(credit) - 1, product
            product = {}
            for (right, wrong), factor in factors.items():
                for j, worth in enumerate(credit):
                    powers = right + j, wrong + k - j
                    term = factor * math.comb(k, j) * worth.numerator / worth.denominator
                    product[powers] = product.get(powers, 0) + term
        return mpmath.fsum(
            factor * mpmath.beta(alpha + right, beta + wrong) / mpmath.beta(alpha, beta)
            for (right, wrong), factor in product.items()
            if factor
        )


def credits_of_the_field(k: int, tau: Fraction) -> dict[str, list[Fraction]]:
    """What j = 0 .. k right draws are worth, from the definitions of the papers."""
    needed = max(1, math.ceil(tau * k))
    majority = math.ceil(Fraction(k, 2))
    return {
        "pass@k": [Fraction(j >= 1) for j in range(k + 1)],
        "pass^k": [Fraction(j == k) for j in range(k + 1)],
        "G-Pass@k": [Fraction(j >= needed) for j in range(k + 1)],
        "maj@k": [Fraction(2 * j > k) for j in range(k + 1)],
        "AUC@k": [_area_of_pass_curve(k, j) for j in range(k + 1)],
        # (2 / k) times the number of thresholds i / k, above one half, that j reaches
        "mG-Pass@k": [
            Fraction(2, k) * sum(j >= i for i in range(majority + 1, k + 1)) for j in range(k + 1)
        ],
    }


def _area_of_pass_curve(k: int, right: int) -> Fraction:
    """By trapezoids, of the pass@j that k draws have of which so many are right."""
    curve = [1 - Fraction(math.comb(k - right, j), math.comb(k, j)) for j in range(1, k + 1)]
    if k == 1:
        return curve[0]
    return sum(((a + b) / 2 for a, b in itertools.pairwise(curve)), Fraction(0)) / (k - 1)


def spectrum(weights: Sequence[float]) -> list[Fraction]:
    """What j right draws are worth by weights, which are taken as the doubles they are."""
    return [sum(map(Fraction, weights[:j]), Fraction(0)) for j in range(len(weights) + 1)]


def best_of(rewards: Sequence[float], k: int) -> Fraction:
    """Mean of the greatest of k rewards, by drawing every subset."""
    subsets = list(itertools.combinations(map(Fraction, rewards), k))
    return sum(map(max, subsets), Fraction(0)) / len(subsets)


def posterior_best_of(
    counts: Sequence[int], rewards: Sequence[float], k: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Mean and variance of the expected best of k draws under a Dirichlet law, to 200 digits.

    E[best] is a sum over every way to fall in the categories, of p^ways times the best reward.
    """
    with mpmath.workdps(200):
        worth = {}
        for ways in _compositions(k, len(counts)):
            best = max(r for r, way in zip(rewards, ways, strict=True) if way)
            worth[ways] = _multinomial(ways) * mpmath.mpf(best)
        mean = mpmath.fsum(w * _dirichlet(counts, ways) for ways, w in worth.items())
        square = mpmath.fsum(
            v * w * _dirichlet(counts, [a + b for a, b in zip(one, two, strict=True)])
            for one, v in worth.items()
            for two, w in worth.items()
        )
        return mean, square - mean**2


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    ranges = itertools.product(range(total + 1), repeat=parts)
    return [ways for ways in ranges if sum(ways) == total]


def _multinomial(ways: Sequence[int]) -> int:
    return math.factorial(sum(ways)) // math.prod(map(math.factorial, ways))


def _dirichlet(counts: Sequence[int], ways: Sequence[int]) -> mpmath.mpf:
    """E[product of p_i^ways_i]."""
    top = [mpmath.rf(a, way) for a, way in zip(counts, ways, strict=True)]
    return mpmath.fprod(top) / mpmath.rf(sum(counts), sum(ways))


def vote(right: Sequence[int], wrong: Sequence[int], silent: int, k: int) -> Fraction:
    """How often a right answer has the most of k votes, ties shared, by drawing every subset."""
    said = [("right", i) for i, m in enumerate(right) for _ in range(m)]
    said += [("wrong", i) for i, m in enumerate(wrong) for _ in range(m)]
    total = Fraction(0)
    for subset in itertools.combinations([*said, *[None] * silent], k):
        votes = Counter(answer for answer in subset if answer is not None)
        winners = [answer for answer in votes if votes[answer] == max(votes.values())]
        if winners:
            total += Fraction(sum(kind == "right" for kind, _ in winners), len(winners))
    return total / math.comb(len(said) + silent, k)


def power_mean(x: Sequence[float], p: float) -> mpmath.mpf:
    """M_p of weights above 0, or at least 0 for p > 0, to 60 digits and more."""
    with mpmath.workdps(400 if abs(p) < 1e-6 else 60):
        if p == 0:
            return mpmath.exp(mpmath.fsum(map(mpmath.log, x)) / len(x))
        return (mpmath.fsum(mpmath.mpf(each) ** mpmath.mpf(p) for each in x) / len(x)) ** (
            1 / mpmath.mpf(p)
        )
