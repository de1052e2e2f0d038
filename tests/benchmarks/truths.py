"""Known distributions of success rates and of answers.

A distribution draws the success rates of B runs of M questions: `truth(rng, (B, M))`. Those of
`HELD_OUT`, `OTHER_QUESTIONS`, `BEYOND_N` and `CLUSTERS` were fixed before any result on them was
seen. Do not change them after a result: add a new set instead, and report both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import at_k
import numpy as np
from scipy.special import expit

Truth = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


# --- Families ---------------------------------------------------------------------------


def constant(rate: float) -> Truth:
    return lambda rng, size: np.full(size, rate)


def beta(a: float, b: float) -> Truth:
    return lambda rng, size: rng.beta(a, b, size)


def one_of(rates: Sequence[float], shares: Sequence[float] | None = None) -> Truth:
    return lambda rng, size: rng.choice(rates, size, p=shares)


def mixture(share: float, first: Truth, second: Truth) -> Truth:
    """Return a distribution that is the first one for a share of the questions."""
    return lambda rng, size: np.where(rng.random(size) < share, first(rng, size), second(rng, size))


def normal_log_odds(mean: float, deviation: float) -> Truth:
    return lambda rng, size: expit(rng.normal(mean, deviation, size))


@cache
def shipped_rates() -> np.ndarray:
    """Return the share of correct samples of each question in the shipped files."""
    shares: list[float] = []
    for file in sorted((Path(at_k.__file__).parent / "samples").glob("*.jsonl")):
        scores = at_k.load("gpassk").compute(
            **at_k.read(file),
            check_correct_fn="numeric",
            k=1,
            include="pass@k",
            return_per_question=True,
        )
        shares += scores["per_question"]["pass@1"]
    return np.array(shares)


# --- Success rates ----------------------------------------------------------------------

TUNED: dict[str, Truth] = {  # on which intervals were developed
    "all 1/2": constant(0.5),
    "rare: Beta(0.3, 6)": beta(0.3, 6),
    "uniform: Beta(1, 1)": beta(1, 1),
    "similar: Beta(5, 5)": beta(5, 5),
    "either 0.1 or 0.9": one_of([0.1, 0.9]),
    "near-certain: Beta(6, 0.3)": beta(6, 0.3),
    "shipped samples": lambda rng, size: rng.choice(shipped_rates(), size),
}
HELD_OUT: dict[str, Truth] = {
    "0.02, 0.35 or 0.97": one_of([0.02, 0.35, 0.97], [0.5, 0.3, 0.2]),
    "fixed rates": lambda rng, size: np.tile(np.linspace(0.1, 1, size[1]) ** 2, (size[0], 1)),
    "U shape: Beta(0.05, 0.05)": beta(0.05, 0.05),
    "almost always alike": one_of([0.002, 0.4, 0.998], [0.6, 0.05, 0.35]),
    "60 % impossible, else Beta(2, 8)": mixture(0.6, constant(0), beta(2, 8)),
    "log-odds normal(-1, 2.5)": normal_log_odds(-1, 2.5),
    "log-odds Cauchy": lambda rng, size: expit(rng.standard_cauchy(size)),
    "few hard: Beta(20, 2) or Beta(1, 30)": mixture(0.9, beta(20, 2), beta(1, 30)),
    "all 0.03": constant(0.03),
}
OTHER_QUESTIONS: dict[str, Truth] = {  # in the last three, one kind of questions is rare
    "log-odds uniform(-4, 4)": lambda rng, size: expit(rng.uniform(-4, 4, size)),
    "Beta(2, 0.5)": beta(2, 0.5),
    "half 0.3, half Beta(8, 2)": mixture(0.5, constant(0.3), beta(8, 2)),
    "0.05, 0.6 or 0.999": one_of([0.05, 0.6, 0.999], [0.2, 0.7, 0.1]),
    "1 in 15 impossible, else 0.9": one_of([0.0, 0.9], [1 / 15, 14 / 15]),
    "1 in 8 certain, else 0.15": one_of([1.0, 0.15], [1 / 8, 7 / 8]),
    "1 in 30 at 0.5, else 0.99": one_of([0.5, 0.99], [1 / 30, 29 / 30]),
}
BEYOND_N: dict[str, Truth] = {
    "Beta(0.4, 3)": beta(0.4, 3),
    "Beta(0.15, 1)": beta(0.15, 1),
    "Beta(1.5, 4)": beta(1.5, 4),
    "Beta(0.8, 0.3)": beta(0.8, 0.3),
    "95 % impossible, else Beta(3, 4)": mixture(0.95, constant(0), beta(3, 4)),
    "60 % impossible, else Beta(2, 8)": mixture(0.6, constant(0), beta(2, 8)),
    "30 % impossible, else Beta(1, 2)": mixture(0.3, constant(0), beta(1, 2)),
    "75 % impossible, else Beta(8, 2)": mixture(0.75, constant(0), beta(8, 2)),
    "log-odds normal(-2, 2)": normal_log_odds(-2, 2),
    "0.01, 0.2 or 0.9": one_of([0.01, 0.2, 0.9], [0.5, 0.3, 0.2]),
}


# --- Questions in clusters --------------------------------------------------------------


class Clustered(NamedTuple):
    """Questions in clusters of these sizes. The truth draws one cluster after the other."""

    truth: Truth
    sizes: Sequence[int]


def beta_clusters(sizes: Sequence[int], alike: float) -> Clustered:
    """Return clusters whose mean rates are Beta(1, 2); those of one are close for large `alike`."""

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        clusters = [*sizes] * -(-size[1] // sum(sizes))
        means = np.repeat(rng.beta(1, 2, (size[0], len(clusters))), clusters, axis=1)[:, : size[1]]
        return rng.beta(alike * means, alike * (1 - means))

    return Clustered(draw, sizes)


CLUSTER_SIZES = {
    "30 clusters of 4": [4] * 30,
    "one of 60, 30 of 2": [60] + [2] * 30,
    "64, 32, 16, .., 1": [64, 32, 16, 8, 4, 2, 1, 1],
    "25 with sizes of Zipf": [max(1, round(50 / rank)) for rank in range(1, 26)],
    "repositories of SWE-bench": [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1],
}
CLUSTERS = {
    f"{name}, {word}": beta_clusters(sizes, alike)
    for name, sizes in CLUSTER_SIZES.items()
    for word, alike in (("alike", 100.0), ("less alike", 4.0))
}


# --- Answers ----------------------------------------------------------------------------


def answers(
    correct: Callable[[np.random.Generator, int], np.ndarray], others: Sequence[float] | np.ndarray
) -> Truth:
    """Return a distribution of the probabilities of answers, (B, M, A), the first one correct.

    `correct` draws its probability. The others have the same relative shares for all questions.
    """
    rest = np.array(others) / np.sum(others)

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        p = correct(rng, size[0] * size[1])[:, None]
        return np.hstack([p, (1 - p) * rest]).reshape(*size, -1)

    return draw


ANSWERS: dict[str, Truth] = {
    "long tail": answers(lambda rng, m: rng.beta(1, 2, m), np.arange(1.0, 13) ** -1.2),
    "two modes": answers(lambda rng, m: rng.uniform(0.3, 0.55, m), [0.8, 0.1, 0.05, 0.05]),
    "nearly unanimous": answers(
        lambda rng, m: rng.choice([0.95, 0.03], m, p=[0.7, 0.3]), [0.9, 0.1]
    ),
}
HELD_OUT_ANSWERS: dict[str, Truth] = {
    "exact ties": lambda rng, size: np.tile([0.45, 0.45, 0.1], (*size, 1)),
    "Dirichlet(0.6, ..)": lambda rng, size: rng.dirichlet([0.6] * 5, size),
    "second answer": answers(lambda rng, m: rng.uniform(0.1, 0.4, m), [0.7, 0.1, 0.1, 0.1]),
}
