"""Coverage of the intervals of `at_k.compare` for other questions, on known truths.

    python tests/benchmarks/differences.py [RUNS]

Pairs of success rates come from seven joint distributions, from unrelated runs to runs that solve
the same questions. Each run of a setting draws M questions, and n samples of each from both models.
An interval covers if it contains the difference over all questions of the distribution. With R runs
a coverage of 95 % has the Monte Carlo error sqrt(0.95 x 0.05 / R): 1.4 points for 250 runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import at_k
import numpy as np
from at_k import Counts

_QUESTIONS = 400_000  # that stand for the distribution
_DESIGNS = [(15, 4, 2), (30, 8, 1), (30, 8, 4), (100, 4, 3), (60, 16, 8)]  # M, n and k
_METRICS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "pass@k": lambda rates, k: 1 - (1 - rates) ** k,
    "pass^k": lambda rates, k: rates**k,
}


def truths(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the success rates of both models on each question, by the name of the truth."""
    size = _QUESTIONS
    uniform, low, high = rng.uniform(size=size), rng.beta(0.4, 2, size), rng.beta(3, 0.6, size)
    peaks = np.where(rng.random(size) < 0.4, rng.beta(1, 8, size), rng.beta(8, 1, size))
    rare, sure = rng.beta(0.2, 6, size), (rng.random(size) < 0.5).astype(float)
    return {
        "related": (uniform, np.clip(uniform + rng.normal(0, 0.15, size), 0, 1)),
        "mostly hard": (low, low**0.7),
        "mostly easy": (high, high**1.5),
        "two peaks": (peaks, np.where(rng.random(size) < 0.1, rng.random(size), peaks)),
        "unrelated": (rng.beta(1, 1.5, size), rng.beta(1.5, 1, size)),
        "equal": (rare, rare),
        "certain": (sure, np.where(rng.random(size) < 0.15, 1 - sure, sure)),
    }


def coverage(runs: int) -> dict[str, tuple[float, float]]:
    """Return the coverage and the mean width of each setting."""
    rng, cells = np.random.default_rng(5), {}
    for name, (a, b) in truths(rng).items():
        for questions, n, k in _DESIGNS:
            for metric, score in _METRICS.items():
                truth = (score(b, k) - score(a, k)).mean()
                limits = []
                for _ in range(runs):
                    drawn = rng.integers(0, _QUESTIONS, questions)
                    pair = [Counts([n] * questions, rng.binomial(n, x[drawn])) for x in (a, b)]
                    result = at_k.compare(pair[0], pair[1], metric, k=k, interval="questions")
                    key = f"{metric[:-1]}{k}"
                    limits.append((result[f"{key}_lo"], result[f"{key}_hi"]))
                lo, hi = np.array(limits).T
                covered = np.mean((lo <= truth) & (truth <= hi))
                setting = f"{name}, {questions} x {n}, {key}"
                cells[setting] = float(covered), float((hi - lo).mean())
    return cells


if __name__ == "__main__":
    results = coverage(int(sys.argv[1]) if len(sys.argv) > 1 else 250)
    covered, widths = np.array(list(results.values())).T
    for name, (share, width) in sorted(results.items(), key=lambda item: item[1])[:5]:
        print(f"{name}: {share:.1%}, mean width {width:.3f}")
    print(
        f"{len(results)} settings: mean coverage {covered.mean():.1%}, least {covered.min():.1%}, "
        f"mean width {widths.mean():.3f}"
    )
