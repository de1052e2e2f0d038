"""Point estimates and limits of scores that are expected credits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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


class LimitOptions(NamedTuple):
    """The parameters that all functions with limits have; see `pass_at_k_ci`."""

    confidence: float
    bounds: Bounds
    alpha0: float
    beta0: float
    interval: str


def summary_of_score(
    R: OutcomesLike, k: int, score: ScoreOfK, limits: LimitOptions, allow_above_n: bool = False
) -> Summary:
    """Return the mean, the standard deviation and the limits of a score of k new samples.

    Args:
        allow_above_n: whether k may exceed the number of samples of a question.
    """
    scores, prior = {"": _as_score(score(check_k(k)))}, check_prior(limits.alpha0, limits.beta0)
    confidence, bounds = check_confidence(limits.confidence), check_bounds(limits.bounds)
    if not isinstance(limits.interval, str) or limits.interval != "posterior":
        return _summary_of_gpassk(R, k, scores[""], limits)
    counts = read_outcomes(R).counts()
    if not allow_above_n:
        check_k(k, counts.n)
    moments = pass_moments(counts, scores, prior)
    return summary_of_moments(moments, "", counts.multiplicity, confidence, bounds)


def _summary_of_gpassk(R: OutcomesLike, k: int, score: Score, limits: LimitOptions) -> Summary:
    """Return the summary by an interval of the metric gpassk."""
    # Imported here because most intervals need SciPy, and the posterior does not.
    from ..intervals.binary_family import pass_intervals
    from ..intervals.choice import interval_options

    counts = read_outcomes(R).counts()
    questions = np.arange(len(counts.n))
    options = interval_options(
        len(questions),
        limits.confidence,
        limits.interval,
        None,
        alpha0=limits.alpha0,
        beta0=limits.beta0,
    )
    if not options.allow_above_n:
        check_k(k, counts.n)
    _, method = pass_intervals(counts, {"": score}, options)
    if problem := method.problem(questions):
        raise ValueError(f"R has no interval: {problem}.")
    if method.unidentified(questions):
        raise ValueError(
            f"k is {k}, but each question has one sample, which does not identify a score with "
            f"k > 1: give k=1, or add samples."
        )
    mu, sigma, *ends, _ = method.for_groups([questions], limits.confidence)[0][""]
    lo, hi = np.clip(ends, *check_bounds(limits.bounds)).tolist()
    return mu, sigma, lo, hi


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
