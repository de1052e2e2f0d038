"""Point estimates and posterior summaries of scores that are expected credits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import check_bounds, check_confidence, check_k, check_prior
from ..inputs.outcomes import read_outcomes
from ..intervals.posterior import PosteriorIntervals
from ..scores.covariances import pass_moments
from ..scores.credits import Credits
from ..scores.pass_family import estimator
from ..scores.score import Moments, Score
from . import Bounds, OutcomesLike, Summary

ScoreOfK = Callable[[int], Score | Credits]
"""Returns the score, or the credits of the score, for a given k."""


def point_estimate(R: OutcomesLike, k: int, score: ScoreOfK) -> float:
    """Return the unbiased estimate of a score, averaged over questions."""
    counts = read_outcomes(R).counts()
    keys, estimate = estimator({"": _as_score(score(check_k(k, counts.n)))})
    columns = estimate(*counts.unique)
    return float(keys[""].value(counts.multiplicity @ columns / len(counts.n)))


def posterior_summary(
    R: OutcomesLike,
    k: int,
    score: ScoreOfK,
    confidence: float,
    bounds: Bounds,
    alpha0: float,
    beta0: float,
    allow_above_n: bool = False,
) -> Summary:
    """Return the posterior summary of a score of k new samples, averaged over questions.

    Args:
        allow_above_n: whether k may exceed the number of samples of a question.
    """
    scores, prior = {"": _as_score(score(check_k(k)))}, check_prior(alpha0, beta0)
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    counts = read_outcomes(R).counts()
    if not allow_above_n:
        check_k(k, counts.n)
    moments = pass_moments(counts, scores, prior)
    return summary_of_moments(moments, "", counts.multiplicity, confidence, limits)


def summary_of_moments(
    moments: Moments,
    key: str,
    multiplicity: np.ndarray,
    confidence: float,
    bounds: tuple[float, float],
) -> Summary:
    """Return the posterior summary of one score over (U,) questions with each distinct count."""
    intervals = PosteriorIntervals(moments, bounds).over(multiplicity[None], confidence)
    return intervals[key].of_group(0)[:4]


def _as_score(score: Score | Credits) -> Score:
    return score if isinstance(score, Score) else Score((score,))
