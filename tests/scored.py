"""The five metrics as functions of predictions: each is loaded once, and `compute` is called."""

from __future__ import annotations

import functools
from typing import Any

import at_k

load = functools.cache(at_k.load)


def compute(name: str, predictions: Any, **options: Any) -> dict[str, Any]:
    """Return what `compute` of the metric with this name returns."""
    return load(name).compute(predictions=predictions, **options)


gpassk = functools.partial(compute, "gpassk")
bayes_at_n = functools.partial(compute, "bayes_at_n")
max_at_k = functools.partial(compute, "max_at_k")
cons_at_k = functools.partial(compute, "cons_at_k")
score_agg = functools.partial(compute, "score_agg")
