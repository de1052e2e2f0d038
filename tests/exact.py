"""Independent truth: exact fractions, literal enumeration, and many digits."""

from __future__ import annotations

import itertools
import math
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
    with mpmath.workdps(200):
        alpha, beta = mpmath.mpf(alpha0) + c, mpmath.mpf(beta0) + n - c
        worth = [mpmath.mpf(x.numerator) / x.denominator for x in credit]
        k = len(credit) - 1

        def moment(powers: Sequence[tuple[int, int, mpmath.mpf]]) -> mpmath.mpf:
            return mpmath.fsum(
                weight * mpmath.beta(alpha + right, beta + wrong) / mpmath.beta(alpha, beta)
                for right, wrong, weight in powers
                if weight
            )

        # g(p) in the Bernstein basis, and g(p)^2 multiplied out term by term.
        g = [(j, k - j, math.comb(k, j) * worth[j]) for j in range(k + 1)]
        squares = [(a + c_, b + d, x * y) for a, b, x in g for c_, d, y in g]
        mean = moment(g)
        return mean, moment(squares) - mean**2


def credits_of_the_field(k: int, tau: Fraction) -> dict[str, list[Fraction]]:
    """What j = 0 .. k right draws are worth, from the definitions of the papers."""
    needed = max(1, math.ceil(tau * k))
    majority = math.ceil(Fraction(k, 2))
    return {
        "pass@k": [Fraction(j >= 1) for j in range(k + 1)],
        "pass^k": [Fraction(j == k) for j in range(k + 1)],
        "G-Pass@k": [Fraction(j >= needed) for j in range(k + 1)],
        # (2 / k) times the number of thresholds i / k, above one half, that j reaches
        "mG-Pass@k": [
            Fraction(2, k) * sum(j >= i for i in range(majority + 1, k + 1)) for j in range(k + 1)
        ],
    }


def power_mean(x: Sequence[float], p: float) -> mpmath.mpf:
    """M_p of weights above 0, or at least 0 for p > 0, to 60 digits and more."""
    with mpmath.workdps(400 if abs(p) < 1e-6 else 60):
        if p == 0:
            return mpmath.exp(mpmath.fsum(map(mpmath.log, x)) / len(x))
        return (mpmath.fsum(mpmath.mpf(each) ** mpmath.mpf(p) for each in x) / len(x)) ** (
            1 / mpmath.mpf(p)
        )
