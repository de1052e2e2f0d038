"""The scores by their definitions, in exact rational arithmetic, without any code of the package.

A question is the list of its outcomes. A sum over all numbers of correct samples among k replaces
the closed forms of the package. Only powers and square roots are floats.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from statistics import NormalDist

Values = tuple[Fraction, ...]
"""The values of j = 0 .. k correct samples among k."""


# --- Binary outcomes --------------------------------------------------------------------


def values_of(score: str, k: int, tau: float = 0.5, weights: Sequence[float] = ()) -> Values:
    """Return the value of each number of correct samples: the definition of a score."""
    needed = Fraction(tau) * k
    nearest = round(needed)
    required = nearest if abs(needed - nearest) < Fraction(1, 10**9) else math.ceil(needed)
    definitions = {
        "pass": lambda j: j >= 1,
        "unanimous": lambda j: j == k,
        "threshold": lambda j: j >= max(1, required),
        "majority": lambda j: 2 * j > k,
        "mG": lambda j: Fraction(2 * max(0, j - math.ceil(k / 2)), k),
        "area": lambda j: _area(k, j),
        "spectrum": lambda j: sum(map(Fraction, weights[:j]), Fraction(0)),
    }
    return tuple(Fraction(definitions[score](j)) for j in range(k + 1))


def _area(k: int, j: int) -> Fraction:
    """Return the area by trapezoids under pass@1 .. pass@k of k samples, j of them correct."""
    curve = [1 - Fraction(math.comb(k - j, i), math.comb(k, i)) for i in range(1, k + 1)]
    if k == 1:
        return curve[0]
    return sum(((a + b) / 2 for a, b in itertools.pairwise(curve)), Fraction(0)) / (k - 1)


def subset_mean(question: Sequence[int], values: Values) -> Fraction:
    """Return the mean value of all subsets of k samples."""
    n, c, k = len(question), sum(question), len(values) - 1
    subsets = (math.comb(c, j) * math.comb(n - c, k - j) * value for j, value in enumerate(values))
    return sum(subsets, Fraction(0)) / math.comb(n, k)


@cache
def _beta_mean(alpha: Fraction, beta: Fraction, power: int, size: int) -> Fraction:
    """Return E[p^power (1 - p)^(size - power)] of a Beta distribution."""
    product = Fraction(1)
    for i in range(power):
        product *= alpha + i
    for i in range(size - power):
        product *= beta + i
    for i in range(size):
        product /= alpha + beta + i
    return product


def posterior_mean(question: Sequence[int], prior: tuple[float, float], *factors: Values):
    """Return the posterior mean of a product of expected values of k new samples."""
    alpha = Fraction(prior[0]) + sum(question)
    beta = Fraction(prior[1]) + len(question) - sum(question)
    coefficients = [Fraction(1)]
    for values in factors:
        k, before = len(values) - 1, coefficients
        coefficients = [Fraction(0)] * (len(before) + k)
        for i, coefficient in enumerate(before):
            for j, value in enumerate(values):
                coefficients[i + j] += coefficient * math.comb(k, j) * value
    size = len(coefficients) - 1
    return sum(
        (c * _beta_mean(alpha, beta, i, size) for i, c in enumerate(coefficients) if c),
        Fraction(0),
    )


def covariance(question: Sequence[int], prior: tuple[float, float], u: Values, v: Values):
    """Return the posterior covariance of two expected values of k new samples."""
    means = posterior_mean(question, prior, u) * posterior_mean(question, prior, v)
    return posterior_mean(question, prior, u, v) - means


def mean_of(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


def summary(mean, variance, confidence: float, bounds) -> tuple[float, float, float, float]:
    """Return (mu, sigma, lo, hi) with the limits of a normal distribution, clipped to bounds."""
    mu, sigma = float(mean), math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * sigma
    lowest, highest = bounds or (-math.inf, math.inf)
    lo, hi = (float(min(max(limit, lowest), highest)) for limit in (mu - half, mu + half))
    return mu, sigma, lo, hi


def product(x: float | Fraction, y: float | Fraction, a: float, b: float) -> float:
    return float(x) ** a * float(y) ** b


def variance_of_product(x, y, variances, a: float, b: float) -> float:
    """Return the variance of x^a y^b by the first-order delta method."""
    x, y = float(x), float(y)
    var_x, var_y, cov = map(float, variances)
    dx = a * x ** (a - 1) * y**b if a else 0.0
    dy = b * x**a * y ** (b - 1) if b else 0.0
    return max(0.0, dx * dx * var_x + dy * dy * var_y + 2 * dx * dy * cov)


# --- Categories and rewards -------------------------------------------------------------


def dirichlet_moments(questions, rewards: Sequence[float], prior_outcomes) -> tuple[list, list]:
    """Return the posterior mean and variance of the mean reward of each question."""
    means, variances = [], []
    for question, prior in zip(questions, prior_outcomes, strict=True):
        counts = [1 + [*question, *prior].count(j) for j in range(len(rewards))]
        total = sum(counts)
        w = [Fraction(reward) for reward in rewards]
        mean = sum((nu * x for nu, x in zip(counts, w, strict=True)), Fraction(0)) / total
        square = sum((nu * x * x for nu, x in zip(counts, w, strict=True)), Fraction(0)) / total
        means.append(mean)
        variances.append((square - mean**2) / (total + 1))
    return means, variances


def subset_mean_of_maximum(rewards: Sequence[float], k: int) -> Fraction:
    """Return the mean of the greatest of k rewards over all subsets."""
    ordered = sorted(map(Fraction, rewards))
    weighted = (math.comb(i, k - 1) * reward for i, reward in enumerate(ordered))
    return sum(weighted, Fraction(0)) / math.comb(len(ordered), k)


def moments_of_maximum(question, prior_outcomes, rewards: Sequence[float], k: int):
    """Return the posterior mean and variance of the expected greatest reward of k new samples.

    The probability A_l of a reward of at most level l has a Beta distribution, and for l < m the
    ratio A_l / A_m has one that is independent of A_m.
    """
    levels = sorted(set(map(Fraction, rewards)))
    counts = [0] * len(levels)
    for category, reward in enumerate(rewards):
        outcomes = [*question, *prior_outcomes]
        counts[levels.index(Fraction(reward))] += 1 + outcomes.count(category)
    total = sum(counts)
    below = [sum(counts[: i + 1]) for i in range(len(levels) - 1)]
    steps = [high - low for low, high in itertools.pairwise(levels)]
    first = [_power_mean_of_beta(a, total, k) for a in below]
    mean = levels[-1] - sum((s * m for s, m in zip(steps, first, strict=True)), Fraction(0))
    variance = Fraction(0)
    for i, low in enumerate(below):
        for j, high in enumerate(below):
            small, large = min(low, high), max(low, high)
            both = _power_mean_of_beta(large, total, 2 * k) * _power_mean_of_beta(small, large, k)
            variance += steps[i] * steps[j] * (both - first[i] * first[j])
    return mean, variance


def _power_mean_of_beta(a: int, total: int, power: int) -> Fraction:
    """Return E[A^power] of A ~ Beta(a, total - a), which is 1 if a is the total."""
    factors = [Fraction(a + i, total + i) for i in range(power)]
    return math.prod(factors, start=Fraction(1))


# --- Verdicts ---------------------------------------------------------------------------


def score_agg(weights: Sequence[float], temperature: float, penalty: float, eps: float) -> float:
    """Return the power mean of the text, with its table interpolated linearly.

    Of zeros alone it is 0. No temperature may give a power between 0 and 1.
    """
    if not any(weights):
        return 0.0
    table = [(0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25)]
    for (low, p_low), (high, p_high) in itertools.pairwise(table):
        if low <= temperature <= high:
            p = p_low + (p_high - p_low) * (temperature - low) / (high - low)
            break
    factor = max(0.0, 1 - penalty * sum(weight == 0 for weight in weights))
    x = [weight or (eps if p <= 0 else 0.0) for weight in weights]
    return factor * (math.fsum(weight**p for weight in x) / len(x)) ** (1 / p)
