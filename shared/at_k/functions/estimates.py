"""Estimates and limits of scores that are expected credits, or products of their powers."""

from __future__ import annotations

import inspect
import textwrap
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core.checks import check_confidence, check_k
from ..core.choice import IntervalOptions, interval_options, pass_limits
from ..core.counts import BinaryCounts
from ..core.credits import Credits
from ..core.expected import expected_credits, pass_scores
from ..core.posterior import PosteriorIntervals
from ..core.samples import read_outcomes
from ..core.score import Moments, Score
from ..functions import Bounds, OutcomesLike, Summary
from ..scores.distributions import pass_moments

ScoreOfK = Callable[[int], Score | Credits]
"""A function that returns the score, or the credits of the score, for a given k."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def point_estimate(R: OutcomesLike, k: int, score: ScoreOfK) -> float:
    """Return the estimate of a score from outcomes R. It is unbiased unless it is a product."""
    counts = read_outcomes(R).counts
    return _mean_score(counts, score(check_k(k, counts.n)))


def _mean_score(counts: BinaryCounts, score: Score | Credits) -> float:
    """Return the mean estimate over all questions of a score, or of an expected sum of credits."""
    if isinstance(score, Score):
        return pass_scores(counts, {"": score}).means(counts.multiplicity)[""]  # "" is its key
    # The estimate of each distinct (n, c), which `multiplicity` questions have.
    estimates = expected_credits(*counts.unique, [score])[:, 0]
    return float((estimates * counts.multiplicity).sum()) / len(counts)


PARAMETERS = {
    "R": "outcomes of M questions, see `at_k.functions`.",
    "k": "size of a subset, or number of new samples; at most each n, unless said above.",
    "tau": "required share of correct samples, from 0 (pass@k) to 1 (pass^k).",
    "pass_power": "the exponent a of pass@k, at least 0.",
    "unanimous_power": "the exponent b of pass^k, at least 0, and above 0 if a is 0.",
    "lam": "exponent of pass@k, from 0 to 1. That of the spectrum is 1 - lam.",
    "lambda_": "another name of lam: give one of them.",
    "weights": "w_1, .., w_k of the threshold spectrum S_w, at least 0, with a sum of at most 1.",
    "w": "rewards of the categories, C + 1 numbers. Default: (0, 1), for binary outcomes.",
    "R0": "prior outcomes, of shape (M, D), or a flat list of M x D. Default: none.",
    "confidence": "probability that the interval covers the true value, between 0 and 1.",
    "bounds": "(lo, hi) that the limits are clipped to, or None for no clipping.",
    "alpha0": "first parameter of the Beta prior of each success rate, above 0.",
    "beta0": "second parameter of this prior, above 0.",
    "interval": '"posterior"; or, as in the metric gpassk, "sampling", "questions", "hierarchical" '
    'or "auto", whose coverage is closer to the confidence.',
}
"""The meaning of parameters that several functions have."""

_OF_POSTERIOR = """

The default limits are those of a posterior with a uniform prior, which exclude the true score
too often: {}"sampling", or "questions" for other questions like these."""
_ESTIMATE = "A float from 0 to 1, the mean over questions of an unbiased estimate."
_SUMMARY = "(mu, sigma, lo, hi), see `at_k.functions`. The posterior is that of arXiv:2510.04265."


def with_shared_help(function: _Function) -> _Function:
    """Add to the docstring of a function what several functions share, and return the function.

    `Args` are added from `PARAMETERS`, and `Returns` if it is missing. A function with limits gets
    a paragraph about their coverage, and for an estimate, `Returns` names the one with its limits.
    """
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("\n\nExamples:\n")
    summary, _, result = text.partition("\n\nReturns:\n")
    names = inspect.signature(function).parameters
    if "confidence" in names:
        result = result or _SUMMARY
        choose = "pass interval=" if "interval" in names else "use a metric with "
        summary += _OF_POSTERIOR.format(choose)
    else:
        result = f"{result or _ESTIMATE} `{function.__name__}_ci` has its limits."
    parameters = "\n".join(
        textwrap.fill(f"    {name}: {PARAMETERS[name]}", 96, subsequent_indent=" " * 8)
        for name in names
    )
    result = textwrap.indent(textwrap.fill(" ".join(result.split()), 92), "    ")
    function.__doc__ = (
        f"{summary}\n\nArgs:\n{parameters}\n\nReturns:\n{result}\n\nExamples:\n{examples}"
    )
    return function


def summary_of_score(
    R: OutcomesLike,
    k: int,
    score: ScoreOfK,
    confidence: float,
    bounds: Bounds,
    alpha0: float,
    beta0: float,
    interval: str,
    allow_above_n: bool = False,
) -> Summary:
    """Return (mu, sigma, lo, hi) of a score of k new samples, for the arguments of `pass_at_k_ci`.

    With `allow_above_n`, k may exceed the number of samples of a question, for the posterior.
    """
    requested, confidence = score(check_k(k)), check_confidence(confidence)
    one_score = requested if isinstance(requested, Score) else Score((requested,))
    counts = read_outcomes(R).counts
    options = interval_options(
        len(counts), confidence, interval, None, alpha0=alpha0, beta0=beta0, bounds=bounds
    )
    if not (options.allow_above_n or (allow_above_n and options.method == "posterior")):
        check_k(k, counts.n)
    if options.method != "posterior":
        return _summary_of_gpassk(counts, k, one_score, options, confidence)
    moments = pass_moments(counts, {"": one_score}, options.prior)
    summary = summary_of_moments(moments, confidence, options.bounds)
    if k <= counts.n.min():
        estimate = _mean_score(counts, one_score)
        warn_if_excluded(estimate, summary, options.bounds, "pass interval='sampling'")
    return summary


def _summary_of_gpassk(
    counts: BinaryCounts, k: int, score: Score, options: IntervalOptions, confidence: float
) -> Summary:
    """Return (mu, sigma, lo, hi) by a method other than "posterior", or raise a ValueError."""
    _, method = pass_limits(counts, {"": score}, options)
    questions = np.arange(len(counts))
    if problem := method.problem(questions):
        raise ValueError(f"R has no interval: {problem}.")  # R: the outcomes, for callers
    if method.unidentified(questions):
        raise ValueError(
            f"k is {k}, but each question has one sample, which does not identify a score with "
            f"k > 1: give k=1, or add samples."
        )
    interval = method.intervals(questions, confidence)[""]  # of the only score, whose key is ""
    lo, hi = np.clip([interval.lo, interval.hi], *options.bounds).tolist()
    return interval.mu, interval.sigma, lo, hi


def summary_of_moments(moments: Moments, confidence: float, bounds: tuple[float, float]) -> Summary:
    """Return (mu, sigma, lo, hi) of the only score, whose key is "", over all questions."""
    questions = np.arange(len(moments.inverse))
    return PosteriorIntervals(moments, bounds).intervals(questions, confidence)[""][:4]


def warn_if_excluded(
    estimate: float, summary: Summary, bounds: tuple[float, float], remedy: str
) -> None:
    """Warn if the limits of a posterior exclude `estimate`, which is from the samples alone.

    The limits are clipped to `bounds`. `remedy`, the end of a sentence, says how to get others.
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
