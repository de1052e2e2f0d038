"""Scores of the pass family together with the method of their intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..inputs.counts import BinaryCounts
from ..scores.binary_family import BinaryFamily
from ..scores.credits import Credits
from ..scores.distributions import Prior
from ..scores.family import with_extrapolated
from ..scores.pass_family import estimator, pass_moments, pass_scores
from ..scores.score import Score, ScoreKey, Scores
from .choice import choose_interval
from .interval import IntervalMethod
from .posterior import PosteriorIntervals


def pass_intervals(
    counts: BinaryCounts,
    scores: Mapping[ScoreKey, Score],
    interval: str,
    prior: Prior,
    clusters: np.ndarray | None,
) -> tuple[Scores, IntervalMethod]:
    """Scores of the pass family, and the method of their intervals.

    A score with k > n is a posterior mean under the prior estimated from the data.
    """
    if interval == "posterior":
        moments = pass_moments(counts, scores, prior)
        return pass_scores(counts, scores), PosteriorIntervals(moments, (0.0, 1.0))
    for key, score in scores.items():
        if min(score.powers) < 0:
            raise ValueError(
                f"{key} with a negative power decreases with one of its two scores, which only "
                f"interval='posterior' allows."
            )
    least = counts.n.min()
    observed = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    beyond = {key: score for key, score in scores.items() if key not in observed}
    keys, estimate = estimator(observed)
    extrapolated = _single_credits(scores if interval == "hierarchical" else beyond)
    family = BinaryFamily(counts, keys, estimate, extrapolated)
    found = with_extrapolated(pass_scores(counts, observed), family, scores)
    return found, choose_interval(family, interval, clusters)


def _single_credits(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Credits]:
    for key, score in scores.items():
        if len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two scores, for which neither k > n nor "
                f"interval='hierarchical' is available: give a k of at most n and another "
                f"interval, or leave it out."
            )
    return {key: score.terms[0] for key, score in scores.items()}
