"""Sampling intervals: test inversion with the variance estimated from the data.

A family of distributions is shifted along one parameter d (see `family`). With the score theta(d)
and the variance v(d) of its estimate U for new samples, the interval consists of the theta(d) with
|U - theta(d)| <= z sqrt(v(d)), as in Wilson's interval (1927), where the family is the binomial.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from ..core.choice import IntervalOptions, method_of_auto
from ..core.interval import Interval, IntervalMethod, normal_z
from ..core.questions import FEW_EVENTS, ONE_CLUSTER, limits_of_product
from ..core.score import ScoreKey
from . import Intervals
from .family import Family, Fit
from .hierarchical import HierarchicalIntervals, hierarchical_intervals

_INTERVALS_KEPT = 1 << 10  # of so many groups
ONE_SAMPLE_EACH = (
    "one sample of each question does not show how samples vary: add samples, or pass "
    "interval='questions'"
)


class SamplingIntervals(IntervalMethod):
    """Intervals for new samples of the same questions; hierarchical ones if k > n."""

    def __init__(self, family: Family):
        self._family = family
        # Groups with equal counts have the same fit.
        self._intervals = lru_cache(_INTERVALS_KEPT)(_intervals_of_fit)

    def problem(self, questions: np.ndarray) -> str | None:
        """Return why these questions have no interval, or None if they have one."""
        return ONE_SAMPLE_EACH if self._family.one_sample_each(questions) else None

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the (m, m) covariance of errors; 1 and no covariance for a score of k > n."""
        family, result = self._family, np.eye(len(keys))
        known = [i for i, key in enumerate(keys) if key in family.scores]
        if not known:
            return result
        scores = [family.scores[keys[i]] for i in known]
        columns = sorted({column for score in scores for column in score.terms})
        fit = family.fit(questions)
        gradient = np.stack([score.gradient(fit.means)[columns] for score in scores], axis=1)
        of_samples = family.covariance_of_samples(fit.fit_to_squares, columns)
        covariance = of_samples / fit.multiplicity.sum()
        result[np.ix_(known, known)] = gradient.T @ covariance @ gradient
        return result

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score over these questions."""
        return self._intervals(self._family.fit(questions), confidence)


def _intervals_of_fit(fit: Fit, confidence: float) -> Intervals:
    """Return the interval of each score of a group. It is hierarchical for scores of k > n."""
    return sampling_intervals(fit, confidence) | hierarchical_intervals(fit, confidence)


def sampling_intervals(fit: Fit, confidence: float) -> Intervals:
    """Return the intervals of the scores with k <= n of a group of questions, or {} without any.

    For k > n/2, the data do not determine the variance: it depends on scores of 2k samples, which
    differ between priors that fit. So the interval contains those under each estimate of the prior.
    """
    family, z, questions = fit.family, normal_z(confidence), fit.multiplicity.sum()
    if not family.scores:
        return {}
    shifted_families = family.shifted(fit)
    # Variances of weighted means are those of the fit to squared weights. If it has one estimate of
    # the prior, and the other fit has two, the one stands for both.
    spreads = family.shifted(fit.fit_to_squares)
    spreads = [*spreads, spreads[0]][: len(shifted_families)]
    first = shifted_families[0]
    offset, scale = first.offset, first.scale
    u = (fit.means - offset) / scale  # on the scale of theta
    # One call for the columns of both priors saves time.
    thetas = np.hstack([shifted.theta for shifted in shifted_families])
    variances = np.hstack([spread.variance for spread in spreads]) / questions
    sigmas, us = np.sqrt(np.maximum(variances, 0.0)), np.tile(u, len(spreads))
    upper_limits = upper_limit(thetas, sigmas, us, z, 1 - confidence)
    lower_limits = lower_limit(thetas, sigmas, us, z, 1 - confidence)
    hi = upper_limits.reshape(-1, len(u)).max(axis=0)
    lo = lower_limits.reshape(-1, len(u)).min(axis=0)
    covariance = {pair: value / questions for pair, value in spreads[0].covariance.items()}
    center, points, result = first.theta[len(first.theta) // 2].tolist(), fit.means.tolist(), {}
    least, most = fit.bounds
    for key, score in family.scores.items():
        if score.powers == (1.0,):  # The score is one column, as most are.
            (column,) = score.terms
            mu, variance = points[column], covariance[column, column]
            scaled_limits = lo[column], hi[column]
        else:
            mu, variance = float(score.value(points)), score.variance(center, covariance)
            scaled_limits = limits_of_product(score, lo, u, hi, covariance)
        sigma = scale * math.sqrt(max(float(variance), 0.0))
        lower, upper = (offset + scale * float(limit) for limit in scaled_limits)
        # Rounding of the scale must not move a limit past the score.
        lower = min(max(min(lower, mu), least), most)
        upper = min(max(upper, mu, least), most)
        result[key] = Interval(mu, sigma, lower, upper, "sampling")
    return result


# --- Limits -------------------------------------------------------------------------------


def upper_limit(
    theta: np.ndarray, sigma: np.ndarray, u: np.ndarray, z: float, alpha: float
) -> np.ndarray:
    """Return the largest theta of each of m scores, (m,), that is within z sigma of the estimate u.

    `theta`, (F, m), has the scores at F shifts, non-decreasing, with shift 0 in the center row, and
    `sigma`, (F, m), the standard deviations of the estimates `u`, (m,), there. `alpha` is the error
    probability of the exact limit for few events.
    """
    from scipy.special import gammaincinv  # imported here: it takes longer than all of at_k

    gap = theta - z * sigma - u  # (F, m); the test rejects theta where it is above 0
    last, column = len(gap) - 1, np.arange(len(u))
    before = last - np.argmax(gap[::-1] <= 1e-12, axis=0)  # the last row that is not rejected
    after = np.minimum(before + 1, last)  # the limit is where a line between both has gap 0
    start, rise = theta[before, column], gap[after, column] - gap[before, column]
    fraction = np.clip(-gap[before, column] / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
    limit = start + fraction * (theta[after, column] - start)
    # Near the top of its range, a score is the top minus the sum of rare events of equal size: a
    # Poisson number times the size, so the size is the variance over the mean. For fewer than four
    # events, the limit is at least Garwood's exact one, as in `core.questions`.
    center = last // 2
    event_size = sigma[center] ** 2 / np.maximum(theta[last] - theta[center], 1e-300)
    events = (theta[last] - u) / np.maximum(event_size, 1e-300)
    are_few = (events > 0) & (events < FEW_EVENTS)
    least_events = gammaincinv(np.maximum(events[are_few], 1e-9), alpha)
    exact = theta[last, are_few] - event_size[are_few] * least_events
    limit[are_few] = np.maximum(limit[are_few], exact)
    return np.maximum(limit, u)  # It is below u only by rounding.


def lower_limit(
    theta: np.ndarray, sigma: np.ndarray, u: np.ndarray, z: float, alpha: float
) -> np.ndarray:
    """Return the smallest value of each score not rejected, with arguments as in `upper_limit`."""
    return -upper_limit(-theta[::-1], sigma[::-1], -u, z, alpha)


# --- The method for a family --------------------------------------------------------------


def family_intervals(family: Family, options: IntervalOptions) -> IntervalMethod:
    """Return the method of intervals that `options` names, other than "posterior"."""
    if options.method == "hierarchical":
        return HierarchicalIntervals(family)
    if options.method == "questions":
        return family.for_other_questions(options.clusters)
    same_questions = SamplingIntervals(family)
    if options.method == "sampling":
        return same_questions
    # For "auto", the interval of a single question with one sample is the whole range.
    other_questions = family.for_other_questions(allow_one=True)
    n = family.n[family.inverse]
    return AutoIntervals(n, same_questions, other_questions, family.extrapolated)


class AutoIntervals(IntervalMethod):
    """Intervals by the method that `method_of_auto` chooses for each group.

    It is `repeated` if a question of the group has two samples or more, otherwise `single`. `n` is
    (M,). `beyond_n` are the scores with k > n, which groups of single samples do not determine.
    """

    def __init__(
        self,
        n: np.ndarray,
        repeated: IntervalMethod,
        single: IntervalMethod,
        beyond_n: Collection[ScoreKey] = (),
    ):
        self._n, self._repeated, self._single, self._beyond_n = n, repeated, single, beyond_n

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score by its key, by the method for these questions."""
        method = self._method(questions)
        result = method.intervals(questions, confidence)
        if method is self._repeated:
            return result
        # To the reason for an unknown interval, add why `repeated` was not chosen.
        reason = f"none: each question has one sample, and {ONE_CLUSTER}"
        return {
            key: interval._replace(interval=reason) if interval.is_unknown else interval
            for key, interval in result.items()
        }

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """Return the keys of scores that these questions do not determine."""
        return self._beyond_n if self._method(questions) is self._single else ()

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the covariance of the errors of m scores over these questions, (m, m)."""
        return self._method(questions).covariance(questions, keys)

    def _method(self, questions: np.ndarray) -> IntervalMethod:
        """Return the method for the questions with these indices."""
        repeated = bool(self._n[questions].max() > 1)
        chosen = method_of_auto(has_prior=False, has_clusters=False, repeated=repeated)
        return self._repeated if chosen == "sampling" else self._single
