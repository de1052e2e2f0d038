"""picked@k of the metric max_at_k, and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.choice import IntervalOptions
from ..core.interval import IntervalMethod
from ..core.questions import QuestionIntervals
from ..core.rewards import max_scores
from ..core.samples import Samples
from ..core.score import ScoreId, Scores
from ..scores.aligned import read_scores
from ..scores.picked import PickedRewards
from .methods import AutoIntervals, EstimatedScore, VarianceIntervals


def picked_with_limits(
    outcomes: Samples,
    values: np.ndarray,
    picked_by: Any,
    ks: Sequence[int],
    options: IntervalOptions,
) -> tuple[Scores, IntervalMethod | None]:
    """Return picked@k for each k, and the method of its limits if requested.

    Args:
        outcomes: of the samples.
        values: (S,) the reward of each sample.
        picked_by: a score of each sample, which picks one of k.
        ks: each at most the number of scored samples of a question.
        options: of the limits.
    """
    rewards = PickedRewards.of(outcomes, values, read_scores(picked_by, "picked_by", outcomes))
    points = max_scores(rewards, {ScoreId("picked@k", k): k for k in ks})
    if options.confidence is None:
        return points, None
    if options.method in ("posterior", "hierarchical"):
        raise ValueError(
            f"picked@k has no interval={options.method!r}: pass 'sampling' or 'questions', and "
            f"leave out R0."
        )
    scored = values[outcomes.is_scored]
    low, high = np.clip((scored.min(), scored.max()), *options.bounds).tolist()
    if options.method == "questions":
        return points, QuestionIntervals(points, (low, high), options.clusters)
    largest = (high - low) ** 2 / 4
    again = VarianceIntervals(
        {
            key: EstimatedScore(column, rewards.variances(k, largest), rewards.n / k)
            for key, column, k in zip(points.keys, points.columns.T, ks, strict=True)
        },
        (low, high),
    )
    if not options.is_named:
        return points, again
    return points, AutoIntervals(
        rewards.n, again, QuestionIntervals(points, (low, high), allow_one=True)
    )
