"""Known distributions of rewards, and their samples.

Those of `HELD_OUT` were fixed before any result on them was known, except Student's distribution,
whose results changed the intervals. Add a new set instead of changing one, and report both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit
from scipy.stats import laplace

LEVELS = (0.0, 0.5, 1.0)
EDGES = 1 - np.append(np.linspace(1, 0.01, 1200), 0.01 * np.geomspace(1, 1e-7, 400)[1:])
Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Draws the parameter of the distribution of each of M questions: (M, ..)."""


class Categories:
    """Questions with a distribution over C categories each, whose rewards are the `levels`."""

    real = False

    def __init__(self, draw: Draw, levels: tuple[float, ...] = LEVELS):
        self.draw, self.levels = draw, np.array(levels)

    def samples(self, pmfs: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return how many of n samples of each question are in each category, (M, C)."""
        return rng.multinomial(n, pmfs / pmfs.sum(axis=1, keepdims=True))

    def true_max(self, pmfs: np.ndarray, k: int) -> np.ndarray:
        """Return the expected maximum of k rewards of each question, (M,)."""
        below = np.clip(np.cumsum(pmfs, axis=1)[:, :-1], 0, 1)
        return self.levels[-1] - below**k @ np.diff(self.levels)


class RealRewards:
    """Questions with real rewards, whose distributions have one parameter.

    `quantile` is a function of a parameter and of probabilities. True scores are computed for the
    parameters in `grid`; between them, they are linear.
    """

    real = True

    def __init__(self, draw: Draw, quantile: Callable, grid: np.ndarray):
        self.draw, self._quantile, self._grid = draw, quantile, grid
        self._table = np.empty((0, 0))

    def samples(self, parameters: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n rewards of each question, (M, n)."""
        return self._quantile(parameters[:, None], rng.uniform(size=(len(parameters), n)))

    def true_max(self, parameters: np.ndarray, k: int) -> np.ndarray:
        """Return the expected maximum of k rewards of each question, (M,)."""
        if not self._table.size:  # one table serves all k: the maximum has other weights
            middle = (EDGES[1:] + EDGES[:-1]) / 2
            self._table = np.array([self._quantile(x, middle) for x in self._grid])
        weight = np.diff(EDGES**k)
        return np.interp(parameters, self._grid, self._table @ (weight / weight.sum()))


def dirichlet(*alpha: float, levels: tuple[float, ...] = LEVELS) -> Categories:
    return Categories(lambda rng, size: rng.dirichlet(alpha, size), levels)


def one_of(pmfs: list[list[float]], shares=None, levels: tuple[float, ...] = LEVELS) -> Categories:
    """Return questions that have one of several distributions, with these shares."""
    return Categories(lambda rng, size: rng.choice(np.array(pmfs), size, p=shares), levels)


def zero_or_beta(zero: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return quantiles of a distribution that is 0 with probability `zero`, else Beta(2, 2)."""
    return betaincinv(2, 2, np.clip((probability - zero) / (1 - zero), 0, 1))


def three_peaks(high: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return quantiles of normal peaks at 0 and, with probability `high`, at 1 and (30 %) at 4."""
    shares = np.broadcast_arrays(1 - high, 0.7 * high, 0.3 * high)
    result, below = np.empty_like(shares[0] + probability), np.zeros_like(shares[0])
    for center, share in zip((0.0, 1.0, 4.0), shares, strict=True):
        within = np.clip((probability - below) / share, 1e-9, 1 - 1e-9)
        result = np.where(probability >= below, center + 0.1 * ndtri(within), result)
        below = below + share
    return result


def shifted(quantile: Callable[[np.ndarray], np.ndarray]) -> RealRewards:
    """Return rewards with a normal mean, and these quantiles around it."""
    return RealRewards(
        lambda rng, size: rng.normal(size=size),
        lambda mean, probability: mean + quantile(probability),
        np.linspace(-6, 6, 3),
    )


def uniform_parameter(lowest: float, highest: float, quantile: Callable) -> RealRewards:
    return RealRewards(
        lambda rng, size: rng.uniform(lowest, highest, size),
        quantile,
        np.linspace(lowest, highest, 197),
    )


TUNED: dict[str, Categories | RealRewards] = {
    "equal: 0.4, 0.3, 0.3": one_of([[0.4, 0.3, 0.3]]),
    "rare: Dirichlet(6, 0.3, 0.3)": dirichlet(6, 0.3, 0.3),
    "uniform: Dirichlet(1, 1, 1)": dirichlet(1, 1, 1),
    "similar: Dirichlet(4, 4, 4)": dirichlet(4, 4, 4),
    "mostly low or mostly high": one_of([[0.85, 0.1, 0.05], [0.05, 0.1, 0.85]]),
    "near-certain: Dirichlet(0.2, 0.3, 6)": dirichlet(0.2, 0.3, 6),
    "mostly 0.5: Dirichlet(0.3, 5, 0.3)": dirichlet(0.3, 5, 0.3),
    "real: Beta(5m, 5 - 5m)": uniform_parameter(
        0.01, 0.99, lambda m, probability: betaincinv(5 * m, 5 * (1 - m), probability)
    ),
    "real: 0, or Beta(2, 2)": uniform_parameter(0, 0.995, zero_or_beta),
    "real: normal": shifted(ndtri),
    "real: lognormal": RealRewards(
        lambda rng, size: rng.normal(size=size) / 2,
        lambda mean, probability: np.exp(mean + 0.7 * ndtri(probability)),
        np.linspace(-3, 3, 600),
    ),
}
HELD_OUT: dict[str, Categories | RealRewards] = {
    "five levels: Dirichlet(0.4, ..)": dirichlet(*[0.4] * 5, levels=(0.0, 0.1, 0.3, 0.6, 1.0)),
    "one of three, four levels": one_of(
        [[0.7, 0.2, 0.05, 0.05], [0.1, 0.1, 0.1, 0.7], [0.0, 1.0, 0.0, 0.0]],
        [0.4, 0.3, 0.3],
        (0.0, 0.25, 0.9, 1.0),
    ),
    "almost always one level": one_of(
        [[0.99, 0.005, 0.005], [0.005, 0.99, 0.005], [0.005, 0.005, 0.99]]
    ),
    "half never score": Categories(
        lambda rng, size: np.where(
            rng.random((size, 1)) < 0.5, [1.0, 0.0, 0.0], rng.dirichlet([2, 2, 1], size)
        )
    ),
    "real: Student, 3 df": shifted(partial(stdtrit, 3)),
    "real: Laplace": shifted(laplace.ppf),
    "real: uniform up to w": uniform_parameter(
        0.1, 2, lambda width, probability: width * probability
    ),
    "real: three peaks": uniform_parameter(0.02, 0.98, three_peaks),
    "real: Beta(m, 1 - m)": uniform_parameter(
        0.05, 0.95, lambda m, probability: betaincinv(m, 1 - m, probability)
    ),
}
