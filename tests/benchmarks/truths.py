"""Known distributions of success rates, answers and shares of correctness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import at_k
import numpy as np
from scipy.special import expit

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT.parent / "shared/data/scorio_R_top_p.npz"  # outcomes of 20 models, not shipped
THREE_SHARES = [0.5, 0.3, 0.2]
QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES = (5, 20, 60, 300), (3, 6, 12, 40)
RUNS_AT_ONCE = 250
KNOTS = np.sin(np.linspace(0, math.pi / 2, 4001)) ** 2  # rates between which scores are linear
CLUSTER_SIZE = 5
Truth = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
"""Draws the success rates of B runs of M questions: (B, M)."""


def shipped_rates() -> np.ndarray:
    """Return the share of correct samples of each question in the shipped files."""
    shares: list[float] = []
    for file in sorted((ROOT / "shared/at_k/samples").glob("*.jsonl")):
        scores = at_k.load("gpassk").compute(
            **at_k.read(file),
            check_correct_fn="numeric",
            k=1,
            include="pass@k",
            return_per_question=True,
        )
        shares += scores["per_question"]["pass@1"]
    return np.array(shares)


def truths() -> dict[str, Truth]:
    """Return the distributions that the studies draw from, by their names in the tables."""
    shipped = shipped_rates()
    return {
        "all 1/2": lambda rng, size: np.full(size, 0.5),
        "rare: Beta(0.3, 6)": lambda rng, size: rng.beta(0.3, 6, size),
        "uniform: Beta(1, 1)": lambda rng, size: rng.beta(1, 1, size),
        "similar: Beta(5, 5)": lambda rng, size: rng.beta(5, 5, size),
        "either 0.1 or 0.9": lambda rng, size: rng.choice([0.1, 0.9], size),
        "near-certain: Beta(6, 0.3)": lambda rng, size: rng.beta(6, 0.3, size),
        "shipped samples": lambda rng, size: rng.choice(shipped, size),
    }


def held_out_truths() -> dict[str, Truth]:
    """Return distributions that no interval was tuned on, by their names in the tables.

    They were fixed before any result on them was seen. Do not change them after a result: add a
    new set instead, and report both. The recorded matrices are left out where they are absent.
    """
    result: dict[str, Truth] = {
        "0.02, 0.35 or 0.97": lambda rng, size: rng.choice(
            [0.02, 0.35, 0.97], size, p=THREE_SHARES
        ),
        "fixed rates": lambda rng, size: np.tile(np.linspace(0.1, 1, size[1]) ** 2, (size[0], 1)),
        "U shape: Beta(0.05, 0.05)": lambda rng, size: rng.beta(0.05, 0.05, size),
        "almost always alike": lambda rng, size: rng.choice(
            [0.002, 0.4, 0.998], size, p=[0.6, 0.05, 0.35]
        ),
        "60 % impossible, else Beta(2, 8)": lambda rng, size: np.where(
            rng.random(size) < 0.6, 0.0, rng.beta(2, 8, size)
        ),
        "log-odds normal(-1, 2.5)": lambda rng, size: expit(rng.normal(-1, 2.5, size)),
        "log-odds Cauchy": lambda rng, size: expit(rng.standard_cauchy(size)),
        "few hard: Beta(20, 2) or Beta(1, 30)": lambda rng, size: np.where(
            rng.random(size) < 0.9, rng.beta(20, 2, size), rng.beta(1, 30, size)
        ),
        "all 0.03": lambda rng, size: np.full(size, 0.03),
    }
    if RECORDED.exists():
        with np.load(RECORDED) as runs:
            rates = runs["combined"].mean(axis=2).ravel()
        result["recorded matrices"] = lambda rng, size: rng.choice(rates, size)
    return result


def other_question_truths() -> dict[str, Truth]:
    """Return distributions for limits of other questions, fixed before any result on them.

    In the last three, one kind of questions is rare.
    """
    return {
        "log-odds uniform(-4, 4)": lambda rng, size: expit(rng.uniform(-4, 4, size)),
        "Beta(2, 0.5)": lambda rng, size: rng.beta(2, 0.5, size),
        "half 0.3, half Beta(8, 2)": lambda rng, size: np.where(
            rng.random(size) < 0.5, 0.3, rng.beta(8, 2, size)
        ),
        "0.05, 0.6 or 0.999": lambda rng, size: rng.choice(
            [0.05, 0.6, 0.999], size, p=[0.2, 0.7, 0.1]
        ),
        "1 in 15 impossible, else 0.9": lambda rng, size: rng.choice(
            [0.0, 0.9], size, p=[1 / 15, 14 / 15]
        ),
        "1 in 8 certain, else 0.15": lambda rng, size: rng.choice(
            [1.0, 0.15], size, p=[1 / 8, 7 / 8]
        ),
        "1 in 30 at 0.5, else 0.99": lambda rng, size: rng.choice(
            [0.5, 0.99], size, p=[1 / 30, 29 / 30]
        ),
    }


def truths_beyond_n() -> dict[str, Truth]:
    """Return distributions for k above n, fixed before any result on them."""

    def partly(share: float, a: float, b: float) -> Truth:
        return lambda rng, size: np.where(rng.random(size) < share, 0.0, rng.beta(a, b, size))

    return {
        "Beta(0.4, 3)": lambda rng, size: rng.beta(0.4, 3, size),
        "Beta(0.15, 1)": lambda rng, size: rng.beta(0.15, 1, size),
        "Beta(1.5, 4)": lambda rng, size: rng.beta(1.5, 4, size),
        "Beta(0.8, 0.3)": lambda rng, size: rng.beta(0.8, 0.3, size),
        "95 % impossible, else Beta(3, 4)": partly(0.95, 3, 4),
        "60 % impossible, else Beta(2, 8)": partly(0.6, 2, 8),
        "30 % impossible, else Beta(1, 2)": partly(0.3, 1, 2),
        "75 % impossible, else Beta(8, 2)": partly(0.75, 8, 2),
        "log-odds normal(-2, 2)": lambda rng, size: expit(rng.normal(-2, 2, size)),
        "0.01, 0.2 or 0.9": lambda rng, size: rng.choice([0.01, 0.2, 0.9], size, p=THREE_SHARES),
    }


CLUSTER_SIZES = {
    "30 clusters of 4": [4] * 30,
    "one of 60, 30 of 2": [60] + [2] * 30,
    "64, 32, 16, .., 1": [64, 32, 16, 8, 4, 2, 1, 1],
    "25 with sizes of Zipf": [max(1, round(50 / rank)) for rank in range(1, 26)],
    "repositories of SWE-bench": [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1],
}
"""The numbers of questions of clusters, by the names of the designs."""


def rates_in_clusters(sizes: Sequence[int], alike: float) -> Truth:
    """Return a distribution of questions in clusters, whose mean rates are Beta(1, 2).

    Args:
        sizes: of the clusters.
        alike: the larger, the closer are the rates of a cluster.
    """

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        of_all = [*sizes] * -(-size[1] // sum(sizes))
        means = np.repeat(rng.beta(1, 2, (size[0], len(of_all))), of_all, axis=1)[:, : size[1]]
        return rng.beta(alike * means, alike * (1 - means))

    return draw


def clustered_rates(center: float) -> Truth:
    """Return a distribution of questions in clusters of five with normal log-odds.

    Args:
        center: mean log-odds of the clusters.
    """

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        clusters = -(-size[1] // CLUSTER_SIZE)
        means = np.repeat(rng.normal(center, 1.5, (size[0], clusters)), CLUSTER_SIZE, axis=1)
        return 1 / (1 + np.exp(-means[:, : size[1]] - rng.normal(0, 1, size)))

    return draw


def draw_rates(
    truth: Truth, questions: int, runs: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the success rates of blocks of B runs, (B, M)."""
    for start in range(0, runs, RUNS_AT_ONCE):
        yield truth(rng, (min(RUNS_AT_ONCE, runs - start), questions))


def shares_of_knots(rates: np.ndarray) -> np.ndarray:
    """Return weights of the knots whose mean scores are those of the rates.

    Args:
        rates: (B, M) success rates of B runs.

    Returns:
        (B, 4001) weights of sum 1. Scores are interpolated linearly between knots.
    """
    position = np.arcsin(np.sqrt(rates)) / (math.pi / 2) * (len(KNOTS) - 1)
    below = np.minimum(position.astype(int), len(KNOTS) - 2)
    cell, fraction = np.arange(len(rates))[:, None] * len(KNOTS) + below, position - below
    size = len(rates) * len(KNOTS)
    shares = np.bincount(cell.ravel(), (1 - fraction).ravel(), size)
    shares += np.bincount(cell.ravel() + 1, fraction.ravel(), size)
    return shares.reshape(len(rates), -1) / rates.shape[1]


@cache
def shares_of_population(truth: Truth) -> np.ndarray:
    """Return the weights of the knots for all questions of a distribution, (1, 4001)."""
    seeds = range(10)
    blocks = [shares_of_knots(truth(np.random.default_rng(s), (1, 100_000))) for s in seeds]
    return np.mean(blocks, axis=0)


# --- Answers and shares ---------------------------------------------------------------------

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Draws the distributions of answers, (M, A), or the parameters of shares, (M, 2)."""


def of_correct(correct: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return distributions of answers: the correct one, and others with these relative shares."""
    others = np.broadcast_to(others, (len(correct), others.shape[-1]))
    rest = others / others.sum(axis=1, keepdims=True)
    return np.column_stack([correct, (1 - correct)[:, None] * rest])


def answer_truths() -> dict[str, Draw]:
    """Return the distributions of answers, by their names in the tables."""
    return {
        "long tail": lambda rng, m: of_correct(rng.beta(1, 2, m), np.arange(1.0, 13) ** -1.2),
        "two modes": lambda rng, m: of_correct(
            rng.uniform(0.3, 0.55, m), np.array([0.8, 0.1, 0.05, 0.05])
        ),
        "nearly unanimous": lambda rng, m: of_correct(
            rng.choice([0.95, 0.03], m, p=[0.7, 0.3]), np.array([0.9, 0.1])
        ),
    }


def held_out_answer_truths() -> dict[str, Draw]:
    """Return distributions of answers that were fixed before any result on them was seen."""
    return {
        "exact ties": lambda rng, m: np.tile([0.45, 0.45, 0.1], (m, 1)),
        "Dirichlet(0.6, ..)": lambda rng, m: rng.dirichlet([0.6] * 5, m),
        "second answer": lambda rng, m: of_correct(
            rng.uniform(0.1, 0.4, m), np.array([0.7, 0.1, 0.1, 0.1])
        ),
    }


def share_truths() -> dict[str, Draw]:
    """Return the parameters of Beta distributed shares of correctness."""
    return {
        "alike: Beta(2, 2)": lambda rng, m: np.full((m, 2), 2.0),
        "skewed: Beta(0.5, 5)": lambda rng, m: np.tile([0.5, 5.0], (m, 1)),
        "by question": lambda rng, m: 3 * of_correct(rng.beta(1, 1, m), np.ones(1)) + 0.01,
        "nearly 0 or 1": lambda rng, m: 0.2 * of_correct(rng.beta(1, 1, m), np.ones(1)) + 1e-3,
    }
