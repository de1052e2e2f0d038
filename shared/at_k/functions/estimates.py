"""Point estimates and limits of scores that are expected credits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.checks import check_bounds, check_confidence, check_k, check_prior
from ..core.choice import interval_options, pass_limits
from ..core.counts import BinaryCounts
from ..core.credits import Credits
from ..core.expected import expected_credits
from ..core.posterior import PosteriorIntervals
from ..core.samples import read_outcomes
from ..core.score import Moments, Score, Scores, number_terms
from ..functions import Bounds, OutcomesLike, Summary
from ..scores.covariances import pass_moments

ScoreOfK = Callable[[int], Score | Credits]
"""Returns the score, or the credits of the score, for a given k."""


def point_estimate(R: OutcomesLike, k: int, score: ScoreOfK) -> float:
    """Return the unbiased estimate of a score, averaged over questions."""
    counts = read_outcomes(R).counts()
    return _mean_score(counts, _as_score(score(check_k(k, counts.n))))


def _mean_score(counts: BinaryCounts, score: Score) -> float:
    credits, keys = number_terms({"": score})
    columns = expected_credits(*counts.unique, credits)
    # Questions with equal counts share a row, and no question is asked for its own.
    return Scores(keys, np.empty(0), columns).means(counts.multiplicity)[""]


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
    summary = summary_of_moments(moments, "", confidence, bounds)
    if k <= counts.n.min():
        estimate = _mean_score(counts, scores[""])
        warn_if_excluded(estimate, summary, bounds, "pass interval='sampling'")
    return summary


def _summary_of_gpassk(R: OutcomesLike, k: int, score: Score, limits: LimitOptions) -> Summary:
    """Return the summary by an interval of the metric gpassk."""
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
    _, method = pass_limits(counts, {"": score}, options)
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
    moments: Moments, key: str, confidence: float, bounds: tuple[float, float]
) -> Summary:
    """Return the posterior summary of one score over all questions."""
    questions = np.arange(len(moments.inverse))
    (intervals,) = PosteriorIntervals(moments, bounds).for_groups([questions], confidence)
    return intervals[key][:4]


def warn_if_excluded(
    estimate: float, summary: Summary, bounds: tuple[float, float], remedy: str
) -> None:
    """Warn if the limits of a posterior exclude the unbiased estimate, and so contradict the data.

    Args:
        estimate: of the score.
        summary: of its posterior.
        bounds: that the limits are clipped to.
        remedy: what gives other limits, as the start of a sentence.
    """
    _, _, lo, hi = summary
    nearest = min(max(estimate, bounds[0]), bounds[1])
    rounding = 1e-9 * max(1.0, abs(nearest))
    if not lo - rounding <= nearest <= hi + rounding:
        warnings.warn(
            f"The limits of the posterior, {lo:.3g} to {hi:.3g}, exclude the estimate from the "
            f"samples, {estimate:.3g}: the prior moves the score of each question by more than "
            f"the limits allow for. For limits that contain the estimate, {remedy}.",
            stacklevel=4,
        )


def _as_score(score: Score | Credits) -> Score:
    return score if isinstance(score, Score) else Score((score,))
