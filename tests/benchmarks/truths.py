"""Banks of known success rates: the laws that they are drawn from, as tables of many banks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import at_k
import numpy as np
from at_k.cli.reading import read_questions

ROOT = Path(__file__).resolve().parents[2]
BLOCK = 250  # banks at once
KNOTS = np.sin(np.linspace(0, math.pi / 2, 4001)) ** 2  # rates that truths are interpolated from
Truth = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def shipped_rates() -> np.ndarray:
    """The shares of right samples of the questions that ship with the package, cool and warm."""
    shares: list[float] = []
    for file in sorted((ROOT / "shared/at_k/samples").glob("*.jsonl")):
        questions = read_questions(str(file))
        scores = at_k.load("gpassk").compute(
            **questions.arguments,
            check_correct_fn="numeric",
            k=1,
            include="pass@k",
            return_per_question=True,
        )
        shares += scores["per_question"]["pass@1"]
    return np.array(shares)


def truths() -> dict[str, Truth]:
    real = shipped_rates()
    return {
        "all 1/2": lambda rng, size: np.full(size, 0.5),
        "rare: Beta(0.3, 6)": lambda rng, size: rng.beta(0.3, 6, size),
        "spread: Beta(1, 1)": lambda rng, size: rng.beta(1, 1, size),
        "even: Beta(5, 5)": lambda rng, size: rng.beta(5, 5, size),
        "either 0.1 or 0.9": lambda rng, size: rng.choice([0.1, 0.9], size),
        "near-certain: Beta(6, 0.3)": lambda rng, size: rng.beta(6, 0.3, size),
        "real: of the samples": lambda rng, size: rng.choice(real, size),
    }


def of_sources(middle: float) -> Truth:
    """Questions whose log-odds are spread around those of their sources, five to a source."""

    def draw(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        source = np.repeat(rng.normal(middle, 1.5, (size[0], -(-size[1] // 5))), 5, axis=1)
        return 1 / (1 + np.exp(-source[:, : size[1]] - rng.normal(0, 1, size)))

    return draw


def at_knots(p: np.ndarray) -> np.ndarray:
    """(B, 4001) the shares of banks of success rates p, (B, M), as if only knots were there."""
    place = np.arcsin(np.sqrt(p)) / (math.pi / 2) * (len(KNOTS) - 1)
    below = np.minimum(place.astype(int), len(KNOTS) - 2)
    cell, part = np.arange(len(p))[:, None] * len(KNOTS) + below, place - below
    size = len(p) * len(KNOTS)
    shares = np.bincount(cell.ravel(), (1 - part).ravel(), size)
    shares += np.bincount(cell.ravel() + 1, part.ravel(), size)
    return shares.reshape(len(p), -1) / p.shape[1]


def rates(
    truth: Truth, questions: int, runs: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Blocks of banks: (B, M) success rates."""
    for start in range(0, runs, BLOCK):
        yield truth(rng, (min(BLOCK, runs - start), questions))


def tabled(kind: np.ndarray, kinds: int) -> np.ndarray:
    """(B, U) how many questions of each kind there are, of the (B, M) kinds of questions."""
    cell = np.arange(len(kind))[:, None] * kinds + kind
    return np.bincount(cell.ravel(), minlength=len(kind) * kinds).reshape(len(kind), kinds)


@cache
def everywhere(truth: Truth) -> np.ndarray:
    """(1, 4001) the shares of all questions of a law."""
    blocks = [at_knots(truth(np.random.default_rng(seed), (1, 100_000))) for seed in range(10)]
    return np.mean(blocks, axis=0)
