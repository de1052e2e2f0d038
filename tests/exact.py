"""Scores by their definitions, in exact rational arithmetic, without any code of the package.

Sums over all subsets, or over all numbers of correct samples among k, replace the closed forms of
the package. Only powers and square roots are floats.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from operator import add
from statistics import NormalDist

import mpmath
import numpy as np

Values = Sequence[Fraction]
"""The values of 0, 1, .., k correct samples."""
Prior = tuple[float, float]
"""The parameters of a Beta distribution."""


def mean_of(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


# --- Binary outcomes --------------------------------------------------------------------


@lru_cache(maxsize=4096)
def values_of(
    name: str, k: int, tau: float | Fraction = 0.5, weights: tuple[float, ...] = ()
) -> tuple[Fraction, ...]:
    """Return the values of each score for j = 0 .. k correct samples, as the papers define them."""
    needed = Fraction(tau) * k
    nearest = round(needed)  # a float may be off by its last digit
    required = nearest if abs(needed - nearest) < Fraction(1, 10**9) else math.ceil(needed)
    definitions = {
        "pass@k": lambda j: j >= 1,
        "pass^k": lambda j: j == k,
        "G-Pass@k": lambda j: j >= max(1, required),
        "maj@k": lambda j: 2 * j > k,
        "AUC@k": lambda j: _area_of_pass_curve(k, j),
        # 2/k times the number of thresholds i/k above one half that j correct samples reach
        "mG-Pass@k": lambda j: Fraction(2 * max(0, j - math.ceil(Fraction(k, 2))), k),
        "Spectrum@k": lambda j: sum(map(Fraction, weights[:j]), Fraction(0)),
    }
    return tuple(Fraction(definitions[name](j)) for j in range(k + 1))


def values_by_definition(k: int, tau: Fraction) -> dict[str, tuple[Fraction, ...]]:
    """Return the values of each score that has no weights."""
    names = ("pass@k", "pass^k", "G-Pass@k", "maj@k", "AUC@k", "mG-Pass@k")
    return {name: values_of(name, k, tau) for name in names}


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


def corrected_values(values: Values, t: Fraction, f: Fraction) -> Values:
    """Return the values of j samples that a checker calls correct.

    Each of them is correct with the weight q1, and each other sample with the weight q0 < 0.
    """
    q0, q1, k = -f / (t - f), (1 - f) / (t - f), len(values) - 1

    def binomial(q: Fraction, size: int, x: int) -> Fraction:
        return math.comb(size, x) * q**x * (1 - q) ** (size - x)

    return tuple(
        sum(
            (
                binomial(q1, j, a) * binomial(q0, k - j, b) * values[a + b]
                for a in range(j + 1)
                for b in range(k - j + 1)
            ),
            Fraction(0),
        )
        for j in range(k + 1)
    )


def subset_mean(outcomes: Sequence[int], values: Values) -> Fraction:
    """Return the expected value of k samples, by enumeration of all subsets."""
    subsets = itertools.combinations(outcomes, len(values) - 1)
    return mean_of([values[sum(subset)] for subset in subsets])


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


def posterior_mean(n: int, c: int, prior: Prior, *factors: Values) -> Fraction:
    """Return the posterior mean of a product of expected values of k new samples.

    Each factor is a polynomial in p and 1 - p. The product is multiplied out term by term, and the
    mean of each term is that of a Beta distribution.
    """
    alpha, beta = Fraction(prior[0]) + c, Fraction(prior[1]) + n - c
    coefficients = [Fraction(1)]
    for values in factors:
        k, before = len(values) - 1, coefficients
        coefficients = [Fraction(0)] * (len(before) + k)
        for i, coefficient in enumerate(before):
            for j, value in enumerate(values):
                coefficients[i + j] += coefficient * math.comb(k, j) * value
    size = len(coefficients) - 1
    terms = [
        coefficient * _rising(alpha, i) * _rising(beta, size - i)
        for i, coefficient in enumerate(coefficients)
        if coefficient
    ]
    return sum(terms, Fraction(0)) / _rising(alpha + beta, size)


@lru_cache(maxsize=1 << 14)
def _rising(x: Fraction, n: int) -> Fraction:
    """Return x (x + 1) .. (x + n - 1)."""
    product = math.prod(x.numerator + i * x.denominator for i in range(n))
    return Fraction(product, x.denominator**n)


def posterior_covariance(n: int, c: int, prior: Prior, u: Values, v: Values) -> Fraction:
    """Return the posterior covariance of two expected values of k new samples."""
    means = posterior_mean(n, c, prior, u) * posterior_mean(n, c, prior, v)
    return posterior_mean(n, c, prior, u, v) - means


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


# --- Variances ----------------------------------------------------------------------------


def sample_variance(numbers: list[Fraction]) -> Fraction:
    mean = mean_of(numbers)
    return sum(((x - mean) ** 2 for x in numbers), Fraction(0)) / (len(numbers) - 1)


_ODDS = [Fraction(math.exp(0.15 * step)) for step in range(-80, 81)]  # of the prior's support


@cache
def ways_at_odds(n: int) -> list[tuple[list[int], int]]:
    """Return the probabilities of 0 .. n correct samples at each of the odds, times an integer."""
    pairs = [(odds.numerator, odds.denominator) for odds in _ODDS]
    return [
        ([math.comb(n, c) * a**c * b ** (n - c) for c in range(n + 1)], (a + b) ** n)
        for a, b in pairs
    ]


def prior_by_em(n: list[int], c: list[int]) -> list[tuple[int, np.ndarray]]:
    """Return each n with the prior that `intervals.prior` describes, split by n."""
    likelihood = np.array(
        [
            [ways[x] / total for ways, total in ways_at_odds(size)]
            for size, x in zip(n, c, strict=True)
        ]
    )
    prior = np.array([float(x / (1 + x) ** 2) for x in _ODDS])
    prior /= prior.sum()
    for _ in range(max(20, int(2 * math.sqrt(len(n)))) - 1):
        prior = prior * np.mean(likelihood / (likelihood @ prior)[:, None], axis=0)
    split = prior * likelihood / (likelihood @ prior)[:, None] / len(n)
    return [(size, split[np.equal(n, size)].sum(axis=0)) for size in sorted({*n})]


def variance_of_samples(n: list[int], c: list[int], values: Values) -> float:
    """Return the mean variance of the estimates of questions under the prior that fits them."""
    total = 0.0
    for size, prior in prior_by_em(n, c):
        h = [hypergeometric_mean(size, x, values) for x in range(size + 1)]
        divisor = math.lcm(*(x.denominator for x in h))
        numbers = [int(x * divisor) for x in h]
        for (ways, of_all), weight in zip(ways_at_odds(size), prior.tolist(), strict=True):
            mean, square = (
                Fraction(
                    sum(w * x**power for w, x in zip(ways, numbers, strict=True)),
                    of_all * divisor**power,
                )
                for power in (1, 2)
            )
            total += weight * float(square - mean**2)
    return total


# --- Categories and rewards -------------------------------------------------------------


def subset_mean_of_maximum(rewards: Sequence[float], k: int) -> Fraction:
    """Return the mean of the maximum of k rewards, by enumeration of all subsets."""
    return mean_of([*map(max, itertools.combinations(map(Fraction, rewards), k))])


def posterior_moments_of_mean(
    counts: Sequence[int], rewards: Sequence[float]
) -> tuple[Fraction, Fraction]:
    """Return the mean and variance of the mean reward under a Dirichlet distribution."""
    total, w = sum(counts), [Fraction(reward) for reward in rewards]
    mean = sum((nu * x for nu, x in zip(counts, w, strict=True)), Fraction(0)) / total
    square = sum((nu * x * x for nu, x in zip(counts, w, strict=True)), Fraction(0)) / total
    return mean, (square - mean**2) / (total + 1)


def posterior_moments_of_maximum(
    counts: Sequence[int], rewards: Sequence[float], k: int
) -> tuple[Fraction, Fraction]:
    """Return the mean and variance of the expected maximum reward of k new samples.

    The category probabilities p have a Dirichlet distribution with the parameters `counts`. The
    expected maximum is a sum over all numbers of samples in each category: the multinomial
    probability times the maximum reward. Rewards are integers until the end.
    """
    unit = math.lcm(*(Fraction(reward).denominator for reward in rewards))
    w = [int(Fraction(reward) * unit) for reward in rewards]
    terms, products = {}, Counter[tuple[int, ...]]()
    for sizes in itertools.product(range(k + 1), repeat=len(counts)):
        if sum(sizes) == k:
            ways = math.factorial(k) // math.prod(map(math.factorial, sizes))
            terms[sizes] = ways * max(r for r, size in zip(w, sizes, strict=True) if size)
    for (one, v), (two, u) in itertools.product(terms.items(), repeat=2):
        products[tuple(map(add, one, two))] += v * u
    mean, square = (
        sum((value * _dirichlet_mean(counts, sizes) for sizes, value in of.items()), Fraction(0))
        for of in (terms, products)
    )
    return mean / unit, (square - mean**2) / unit**2


def _dirichlet_mean(counts: Sequence[int], powers: Sequence[int]) -> Fraction:
    """Return E[product of p_i^powers_i] under a Dirichlet distribution."""
    factors = [_rising(Fraction(a), power) for a, power in zip(counts, powers, strict=True)]
    return math.prod(factors, start=Fraction(1)) / _rising(Fraction(sum(counts)), sum(powers))


def advantages(
    rewards: Sequence[float],
    k: int,
    score: str | Sequence[float],
    baseline: str = "none",
    normalize: str | None = None,
) -> list[float]:
    """Return the weights of samples by their definitions, from all subsets of k of them."""
    n, given = len(rewards), [Fraction(reward) for reward in rewards]
    subsets = list(itertools.combinations(range(n), k))
    if not isinstance(score, str):
        values = values_of("Spectrum@k", k, weights=tuple(score))
    elif score != "max@k":
        name, _, tau = score.partition("_")
        values = values_of(name, k, float(tau or 0.5))

    def value(of_subset: list[Fraction]) -> Fraction:
        return (
            max(of_subset, default=Fraction(0)) if score == "max@k" else values[int(sum(of_subset))]
        )

    def mean(chosen: Sequence[tuple[int, ...]], without: Sequence[int] = ()) -> Fraction:
        rows = ([given[j] for j in subset if j not in without] for subset in chosen)
        return sum(map(value, rows), Fraction(0)) / len(subsets)

    weights = []
    for i in range(n):
        included = [subset for subset in subsets if i in subset]
        others = [subset for subset in subsets if i not in subset]
        weight = mean(included)
        if normalize:
            second = sum(value([given[j] for j in subset]) ** 2 for subset in subsets) / len(
                subsets
            )
            difference = weight * Fraction(n, k) - mean(subsets)
            spread = math.sqrt(second - mean(subsets) ** 2)
            weights.append(float(difference) / spread if difference else 0.0)
            continue
        if baseline == "marginal":
            weight -= mean(included, without=[i])
        elif baseline == "centered":
            weight *= Fraction(n, n - k)
        elif baseline == "leave-one-out":
            weight -= Fraction(k, n - 1) * mean(others) * len(subsets) / len(others)
        weights.append(float(weight))
    return weights


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
    return factor * float(power_mean([weight or (eps if p <= 0 else 0.0) for weight in weights], p))
