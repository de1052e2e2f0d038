"""The five metrics as functions of predictions, and a checker as one of samples and references.

Each metric is loaded once.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import at_k
import numpy as np
from at_k.core.checking import Checking
from at_k.core.columns import stored
from at_k.core.samples import read_samples

load = functools.cache(at_k.load)


def compute(name: str, predictions: Any, **options: Any) -> dict[str, Any]:
    """Return what `compute` of the metric with this name returns."""
    return load(name).compute(predictions=predictions, **options)


gpassk = functools.partial(compute, "gpassk")
bayes_at_n = functools.partial(compute, "bayes_at_n")
max_at_k = functools.partial(compute, "max_at_k")
cons_at_k = functools.partial(compute, "cons_at_k")
score_agg = functools.partial(compute, "score_agg")


def limits(scores: dict[str, Any], key: str) -> tuple[float, float]:
    """Return the limits of the score with this key."""
    return scores[f"{key}_lo"], scores[f"{key}_hi"]


def simulate(seed: int, questions: int = 30, samples: int = 8) -> np.ndarray:
    """Return outcomes of questions with uniform success rates."""
    rng = np.random.default_rng(seed)
    return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(int)


# --- Checkers ---------------------------------------------------------------------------

SAMPLES = [["a", "b", "a"], ["b"], ["c", "c", "a", "b"]]
REFERENCES = ["a", "b", "c"]
OUTCOMES = [[1, 0, 1], [1], [1, 1, 0, 0]]


def check(predictions, references, checker="exact_match", **options):
    """Return the outcome of every sample, None for a sample that is not scored."""
    rows = stored(read_samples(predictions), references)
    outcomes = Checking(checker, **options).check(rows).outcomes
    scored = outcomes.is_scored
    flat = iter(
        value if is_scored else None
        for value, is_scored in zip(outcomes.values.tolist(), scored, strict=False)
    )
    return [list(itertools.islice(flat, size)) for size in outcomes.sizes]


def same(prediction, reference):
    return prediction == reference
