"""Coverage of intervals that are corrected for the errors of a checker, on known truths.

    python tests/benchmarks/judges.py [RUNS]

The success rates of questions come from six distributions. A checker with one of four pairs of
rates grades n samples of each question. A person labels 100 to 400 of them, drawn at random. An
interval for the same questions covers if it contains the score of their success rates, and one for
other questions if it contains the score of the distribution. With R runs a coverage of 95 % has the
Monte Carlo error sqrt(0.95 x 0.05 / R): 1.5 points for 200 runs.

`growth` shows how the standard deviation grows with k, beside that of a checker that never errs.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable

import at_k
import numpy as np

_QUESTIONS = 200_000  # that stand for a distribution
_DESIGNS = [(60, 4), (100, 8), (300, 8)]  # M and n
_RATES = [(0.95, 0.02), (0.9, 0.1), (0.8, 0.05), (0.98, 0.2)]  # true positives, false positives
_LABELS = (100, 200, 400)
_SCORES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pass@1": lambda q: q,
    "pass@2": lambda q: 1 - (1 - q) ** 2,
    "pass@4": lambda q: 1 - (1 - q) ** 4,
    "pass^2": lambda q: q**2,
}
_INCLUDE = ["pass@k", "pass^k"]


def distributions(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the success rates of many questions, by the name of the distribution."""
    size = _QUESTIONS
    peaks = np.where(rng.random(size) < 0.5, rng.beta(1, 9, size), rng.beta(7, 1, size))
    return {
        "uniform": rng.uniform(size=size),
        "hard": rng.beta(0.5, 2.5, size),
        "easy": rng.beta(3, 0.8, size),
        "two peaks": peaks,
        "a third unsolvable": np.where(rng.random(size) < 0.35, 0.0, rng.beta(2, 2, size)),
        "similar": rng.beta(20, 20, size),
    }


def graded(
    rng: np.random.Generator, q: np.ndarray, n: int, rates: tuple[float, float], labels: int
) -> tuple[np.ndarray, list[list[int | None]]]:
    """Return (M, n) results of the checker, and labels of some samples."""
    correct = rng.random((len(q), n)) < q[:, None]
    called = rng.random(correct.shape) < np.where(correct, *rates)
    labelled = np.zeros(correct.size, bool)
    labelled[rng.choice(correct.size, labels, replace=False)] = True
    pairs = zip(correct.tolist(), labelled.reshape(correct.shape).tolist(), strict=True)
    return called, [
        [int(x) if is_given else None for x, is_given in zip(*row, strict=True)] for row in pairs
    ]


def coverage(runs: int, interval: str) -> tuple[dict[tuple[str, int, str], float], int]:
    """Return the share of intervals that cover in each setting, and how often labels were refused.

    The keys of a setting are the distribution, the number of labels, and the score.
    """
    rng = np.random.default_rng(17)
    metric, refused = at_k.load("gpassk"), 0
    cells: dict[tuple[str, int, str], float] = {}
    for (name, rates_of_questions), labels in itertools.product(
        distributions(rng).items(), _LABELS
    ):
        covered: dict[str, list[bool]] = {key: [] for key in _SCORES}
        for run in range(runs):
            (questions, n), rates = _DESIGNS[run % 3], _RATES[run % 4]
            if labels > questions * n:
                continue
            q = rates_of_questions[rng.integers(0, _QUESTIONS, questions)]
            called, given = graded(rng, q, n, rates, labels)
            try:
                result = metric.compute(
                    predictions=called,
                    k=[1, 2, 4],
                    include=_INCLUDE,
                    confidence=0.95,
                    interval=interval,
                    labels=given,
                )
            except ValueError as error:
                if "labels do not show" not in str(error):
                    raise
                refused += 1
                continue
            for key, score in _SCORES.items():
                truth = score(q if interval == "sampling" else rates_of_questions).mean()
                covered[key].append(result[f"{key}_lo"] <= truth <= result[f"{key}_hi"])
        cells |= {(name, labels, key): float(np.mean(x)) for key, x in covered.items()}
    return cells, refused


def growth() -> list[tuple[int, float, float, float]]:
    """Return k, and sigma without errors, with known rates, and with rates from 200 labels."""
    rng = np.random.default_rng(3)
    q, rates = rng.uniform(size=100), (0.9, 0.1)
    called, _ = graded(rng, q, 64, rates, 200)
    counts = {"tp": 90, "fn": 10, "fp": 10, "tn": 90}
    options = {"k": [1, 2, 4, 8, 16, 32], "include": "pass@k", "confidence": 0.95}
    compute, rows = at_k.load("gpassk").compute, []
    exact, known, estimated = (
        compute(predictions=called, **options, **errors)
        for errors in ({}, {"checker_rates": rates}, {"labels": counts})
    )
    for k in (1, 2, 4, 8, 16, 32):
        key = f"pass@{k}_sigma"
        rows.append((k, exact[key], known[key], estimated[key]))
    return rows


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    for interval in ("sampling", "questions"):
        start = time.perf_counter()
        cells, refused = coverage(runs, interval)
        values = np.array([*cells.values()])
        print(f"{interval}: mean {values.mean():.1%}, least {values.min():.1%}, ", end="")
        print(f"{refused} refused, {time.perf_counter() - start:.0f} s")
        for labels in _LABELS:
            of_labels = [x for (_, number, _), x in cells.items() if number == labels]
            print(f"  {labels} labels: mean {np.mean(of_labels):.1%}, least {min(of_labels):.1%}")
        for cell, value in sorted(cells.items(), key=lambda item: item[1])[:5]:
            print(f"  {value:.1%} {cell}")
    print("k, sigma without errors, with known rates, with rates from 200 labels")
    for k, *sigmas in growth():
        print(k, *(f"{sigma:.3f}" for sigma in sigmas))


if __name__ == "__main__":
    main()
