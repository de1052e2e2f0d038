"""How fast, as ratios against a peer or a limit in one run.

    python tests/benchmarks/speed.py

Needs the `test` extra. A ratio below 1 is in our favour. Times are the least of several.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import at_k
import datasets
import evaluate
import numpy as np
import pyarrow as pa
from at_k.tables import aligned
from scipy.stats import hypergeom
from scorio import eval as scorio

SWEEP = dict.fromkeys((4, 8, 16), (0.25, 0.5, 0.75, 1.0))


class DoNothing(evaluate.Metric):
    """The floor of `evaluate`: what its own encoding costs."""

    def _info(self):
        return evaluate.MetricInfo(
            description="",
            citation="",
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("string")),
                    "references": datasets.Value("string"),
                }
            ),
        )

    def _compute(self, predictions, references):
        return {}


def least(run: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def row_loop(bank: np.ndarray) -> float:
    """The default sweep as evaluation harnesses write it: a hypergeometric tail for each row."""
    total = 0.0
    n = bank.shape[1]
    for c in bank.sum(axis=1):
        for k, taus in SWEEP.items():
            total += sum(hypergeom.sf(math.ceil(tau * k) - 1, n, c, k) for tau in taus)
            half = math.ceil(k / 2)
            total += 2 / k * sum(hypergeom.sf(i - 1, n, c, k) for i in range(half + 1, k + 1))
    return total


def sweep(package, bank: np.ndarray) -> None:
    """The same in fifteen calls of functions."""
    for k, taus in SWEEP.items():
        for tau in taus:
            package.g_pass_at_k_tau(bank, k, tau)
        package.mg_pass_at_k(bank, k)


def end_to_end(questions: int = 100_000, samples: int = 64) -> list[tuple[str, str, float]]:
    rng = np.random.default_rng(0)
    answers = [f"answer {i}" for i in range(1000)]
    predictions = [[answers[i] for i in row] for row in rng.integers(0, 1000, (questions, samples))]
    references = [answers[i] for i in rng.integers(0, 1000, questions)]
    column, keys = pa.array(predictions), pa.array(references)
    rows = datasets.Dataset(pa.table({"p": column, "r": keys}), fingerprint="rows")
    outcomes = rng.integers(0, 2, (questions, samples))
    gpassk, nothing = at_k.load("gpassk"), DoNothing()

    floor = least(lambda: nothing.compute(predictions=predictions, references=references), 3)
    forms = {
        "lists of strings": {"predictions": predictions, "references": references},
        "pyarrow": {"predictions": column, "references": keys},
        "a datasets column": {"predictions": rows["p"], "references": rows["r"]},
        "a NumPy matrix of outcomes": {"predictions": outcomes},
    }
    peer = "evaluate, doing nothing"
    return [
        (f"gpassk of {questions:,} x {samples} {name}", peer, ratio(gpassk, call, floor))
        for name, call in forms.items()
    ]


def ratio(metric: evaluate.Metric, call: dict, limit: float) -> float:
    return least(lambda: metric.compute(**call), 3) / limit


def functions() -> list[tuple[str, str, float]]:
    rng = np.random.default_rng(0)

    def bank(questions: int, samples: int) -> np.ndarray:
        return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(int)

    gpassk, small, large = at_k.load("gpassk"), bank(1000, 64), bank(200, 4096)
    rows = [
        (
            "default sweep of 1,000 x 64 in the metric",
            "a loop over rows",
            least(lambda: gpassk.compute(predictions=small)) / least(lambda: row_loop(small), 1),
        ),
        (
            "the same in fifteen functions",
            "scorio",
            least(lambda: sweep(at_k, small), 30) / least(lambda: sweep(scorio, small), 30),
        ),
        (
            "mg_pass_at_k of 200 x 4,096, k = 1,024",
            "scorio",
            least(lambda: at_k.mg_pass_at_k(large, 1024), 3)
            / least(lambda: scorio.mg_pass_at_k(large, 1024), 1),
        ),
    ]
    for name in ("pass_at_k_ci", "pass_hat_k_ci", "mg_pass_at_k_ci"):
        ours, theirs = (
            least(partial(getattr(package, name), small[:100], 12), 20)
            for package in (at_k, scorio)
        )
        rows.append((f"{name} of 100 x 64, k = 12", "scorio", ours / theirs))
    return rows


def main() -> None:
    names = ("numpy", "pyarrow", "datasets", "evaluate", "scipy", "scorio")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"Python {platform.python_version()} on {platform.machine()}, {versions}\n")
    lines = [[what, peer, f"{x:.4f}"] for what, peer, x in [*end_to_end(), *functions()]]
    print(aligned([["", "against", "ratio"], *lines]))


if __name__ == "__main__":
    main()
