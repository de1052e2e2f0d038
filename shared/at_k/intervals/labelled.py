"""Scores that are corrected for the errors of a checker, with intervals that account for labels.

The true-positive rate t and the false-positive rate f are known, or estimated from labels by way of
two shares, see `labels`. Estimates are unbiased and may leave the range of a score; limits do not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..core.checking import Checked
from ..core.choice import IntervalOptions
from ..core.coherent import event_of
from ..core.counts import BinaryCounts
from ..core.credits import any_correct
from ..core.interval import DerivedIntervals, Interval, IntervalMethod, normal_z
from ..core.samples import Samples
from ..core.score import Score, ScoreKey, Scores
from ..scores.checker_rates import (
    NO_ERRORS,
    CheckerRates,
    check_rates,
    corrected_scores,
    require_correction,
)
from . import Intervals
from .binary_family import pass_intervals
from .labels import CONFIDENCE_OF_RATES, LabelCounts, count_labels

_CONTRADICTION = 3.0  # Samples contradict the rates by more than so many standard deviations.
_STEP = 1e-5  # step of a rate for numerical derivatives
_FALL = 0.005  # Only a larger fall of pass@k with k would show in tables of results.


def check_errors(checker_rates, labels) -> None:
    """Raise a ValueError if the rates are invalid, or if rates and labels are both given."""
    if checker_rates is None:
        return
    check_rates(checker_rates)
    if labels is not None:
        raise ValueError("checker_rates and labels are both given: labels estimate the rates.")


@dataclass(frozen=True)
class Errors:
    """The rates of a checker that errs, which are known or estimated from `labels`."""

    rates: CheckerRates = NO_ERRORS
    labels: LabelCounts | None = None

    @classmethod
    def from_options(cls, checker_rates, labels, graded: Samples | None) -> Errors:
        """Return the errors from valid options. Raises ValueError for invalid or too few labels."""
        if labels is None:
            return cls(check_rates(checker_rates))
        counts = count_labels(labels, graded).require_use()
        return cls(counts.rates, counts)

    def warn_if_contradicted(self, counts: BinaryCounts) -> None:
        """Warn if more samples are called correct than t, or fewer than f, allows by chance."""
        (t, f), samples = self.rates, int(counts.n.sum())
        if self.labels is not None:
            if self.labels.run is not None:  # The rates are estimated from these samples.
                return
            # Of rates that are estimated, the upper limit of t and the lower limit of f count.
            (_, t), (f, _) = self.labels.limits(CONFIDENCE_OF_RATES)
        share = float(counts.c.sum()) / samples
        for rate, excess, name in ((t, share - t, "true"), (f, f - share, "false")):
            if excess > _CONTRADICTION * math.sqrt(rate * (1 - rate) / samples):
                warnings.warn(
                    f"{share:.1%} of the samples are called correct, which the {name}-positive "
                    f"rate of the checker, {rate:.1%}, does not allow: it was measured on other "
                    f"samples, or errors are not independent. The corrected scores are not valid.",
                    stacklevel=2,
                )

    def described(self) -> dict[str, float]:
        """Return the entry "checker" of results: the rates, and if estimated, limits and labels."""
        names, labels = ("true_positive_rate", "false_positive_rate"), self.labels
        if labels is None:
            return dict(zip(names, self.rates, strict=True))
        result: dict[str, float] = {}
        limits = labels.limits(CONFIDENCE_OF_RATES)
        for name, rate, (lo, hi) in zip(names, self.rates, limits, strict=True):
            result |= {name: rate, f"{name}_lo": lo, f"{name}_hi": hi}
        return result | {"labels": labels.number}


class RateIntervals(DerivedIntervals):
    """Intervals of success rates. `method` has intervals of the rates of samples called correct."""

    def __init__(self, method: IntervalMethod, rates: CheckerRates):
        super().__init__(method)
        self._rates = rates

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each success rate over these questions."""
        (t, f), result = self._rates, {}
        for key, interval in self._method.intervals(questions, confidence).items():
            mu, lo, hi = map(self._rates.corrected, (interval.mu, interval.lo, interval.hi))
            lo, hi = (min(1.0, max(0.0, limit)) for limit in (lo, hi))
            result[key] = Interval(mu, interval.sigma / (t - f), lo, hi, interval.interval)
        return result


class LabelledIntervals(DerivedIntervals):
    """Intervals of corrected scores, widened for the errors of rates estimated from labels.

    `method` has the intervals for exact rates. `rescore` returns the scores for given rates.
    """

    def __init__(
        self,
        method: IntervalMethod,
        rescore: Callable[[CheckerRates], Scores],
        labels: LabelCounts,
        weights: np.ndarray | None = None,
    ):
        super().__init__(method)
        self._rescore, self._labels, self._weights = cache(rescore), labels, weights

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score, widened from that for exact rates."""

        def rescore(rates: CheckerRates) -> dict[ScoreKey, float]:
            """Return the scores over these questions, corrected for the given rates."""
            return self._rescore(rates).over(questions, self._weights)

        points, z = rescore(self._labels.rates), normal_z(confidence)
        distances = distances_of_rates(
            self._labels, lambda rates: np.array([*rescore(rates).values()]), confidence
        )
        distances_of_key = dict(zip(points, distances.T, strict=True))
        result = {}
        for key, interval in self._method.intervals(questions, confidence).items():
            distance, limits = distances_of_key[key], np.array([interval.lo, interval.hi])
            lo, hi = widened(points[key], limits, distance).tolist()
            sigma = math.hypot(interval.sigma, distance.mean() / z)
            result[key] = interval._replace(sigma=sigma, lo=lo, hi=hi)
        return result


def widened(points, limits: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return limits of scores, widened by the distances that `distances_of_rates` returns.

    Both have a row for lower and one for upper limits. The squares of distances from the score are
    added (Zou & Donner 2008, Statistics in Medicine 27, 1693).
    """
    sides = np.maximum([points - limits[0], limits[1] - points], 0.0)
    down, up = np.hypot(sides, distances)
    return np.clip([points - down, points + up], 0.0, 1.0)


Rescore = Callable[[CheckerRates], np.ndarray]
"""A function that returns the (m,) scores, corrected for given rates of the checker."""


def distances_of_rates(labels: LabelCounts, rescore: Rescore, confidence: float) -> np.ndarray:
    """Return how far m scores may lie below and above their estimates because of labels, (2, m).

    Labels estimate two shares, see the module `labels`. If a score falls by a as the one moves to a
    limit with this confidence, and by c as the other does, the distance below is sqrt(a^2 + c^2 +
    2 r a c), where r is the correlation of the errors of the shares. It is infinite if the labels
    do not bound the score. The variance of `_realized_variances` is subtracted, because limits for
    known rates contain it already.
    """
    points = rescore(labels.rates)
    squares, signs = [], []  # of the moves of the scores with each share
    for rates, unlabelled in zip(labels.moved_rates(confidence), labels.unlabelled(), strict=True):
        # Moves to the lower and upper limit are infinite unless the labels bound them.
        moves = np.full((2, len(points)), [[-math.inf], [math.inf]])
        if all(t > f for t, f in rates):
            moved = np.array([rescore(limit) for limit in rates]) - points
            moves = np.where(np.isfinite(moved).all(axis=0), moved, moves)
        signs.append(np.sign(moves[1] - moves[0]))
        square = np.square([np.minimum(moves.min(axis=0), 0), np.maximum(moves.max(axis=0), 0)])
        # If all samples are labelled, the share adds 0, and 0 times an infinite square is NaN.
        squares.append(unlabelled * square if unlabelled else np.zeros_like(square))
    first, second = squares
    total = first + second
    if labels.run is not None:
        # Only a well-known negative correlation would justify a narrower interval.
        r = np.maximum(labels.run.correlation * signs[0] * signs[1], 0.0)
        is_correlated = np.broadcast_to(r > 0, total.shape)
        product = np.multiply(first, second, where=is_correlated, out=np.zeros_like(total))
        total = total + 2 * r * np.sqrt(product)
        realized = _realized_variances(labels, points, rescore) / labels.run.samples
        total = total - normal_z(confidence) ** 2 * realized
    return np.sqrt(np.maximum(total, 0.0))


def _realized_variances(labels: LabelCounts, points: np.ndarray, rescore: Rescore) -> np.ndarray:
    """Return the variance of m scores from realized rates, times the N samples of a run, (m,).

    These are the shares of the correct and of the incorrect samples that the checker accepts. For a
    share q of correct samples it is (dS/dt)^2 t (1 - t) / q + (dS/df)^2 f (1 - f) / (1 - q).
    """
    t, f = labels.rates
    assert labels.run is not None
    correct = (labels.run.accepted - f) / (t - f)
    variance = np.zeros(len(points))
    for rate, share, moved in (
        (t, correct, CheckerRates(t - _STEP, f)),
        (f, 1 - correct, CheckerRates(t, f + _STEP)),
    ):
        if 0 < rate < 1 and moved[0] > moved[1]:
            slope = (rescore(moved) - points) / _STEP
            variance += slope**2 * rate * (1 - rate) / share
    return np.where(np.isfinite(variance), variance, 0.0)


# --- Corrected scores ---------------------------------------------------------------------


Corrected = tuple[Scores, IntervalMethod | None, dict[str, float]]
"""Scores, the method of their limits, and the entries of the result about the checker.

The method is None if no limits are requested."""


class CheckerErrors:
    """The errors of a checker, from `checker_rates` or `labels`; ValueError if both are given."""

    def __init__(self, checker_rates: Any, labels: Any):
        check_errors(checker_rates, labels)
        self._rates, self._labels = checker_rates, labels

    def require_no_posterior(self, options: IntervalOptions) -> None:
        """Raise a ValueError if limits of a posterior are requested."""
        if options.confidence is not None and options.method == "posterior":
            raise ValueError(
                "interval='posterior' does not correct for the errors of a checker: use 'sampling' "
                "or 'questions'."
            )

    def _errors_on(self, checked: Checked) -> Errors:
        """Return the errors on these samples. Raises ValueError for invalid or too few labels."""
        errors = Errors.from_options(self._rates, self._labels, checked.outcomes)
        errors.warn_if_contradicted(checked.outcomes.counts)
        return errors

    def pass_limits(
        self, checked: Checked, scores: Mapping[ScoreKey, Score], options: IntervalOptions
    ) -> Corrected:
        """Return the corrected scores of the pass@k family with their limits, see `Corrected`."""
        counts, errors = checked.outcomes.counts, self._errors_on(checked)
        require_correction(scores, errors.rates)
        described = errors.described()
        if falls_with_k(counts, scores, errors.rates, options.weights):
            described["falls_with_k"] = True
        if options.confidence is None:
            return corrected_scores(counts, scores, errors.rates), None, described

        def rescore(rates: CheckerRates) -> Scores:
            """Return the corrected scores at other rates of the checker."""
            return pass_intervals(counts, scores, options, rates)[0]

        points, method = pass_intervals(counts, scores, options, errors.rates)
        if errors.labels is not None:
            method = LabelledIntervals(method, rescore, errors.labels, options.weights)
        return points, method, described

    def rate_limits(
        self,
        checked: Checked,
        points: Scores,
        method: IntervalMethod | None,
        options: IntervalOptions,
    ) -> Corrected:
        """Return `Corrected` success rates, from `points`, the rates of samples called correct."""
        errors = self._errors_on(checked)

        def rescore(rates: CheckerRates) -> Scores:
            """Return the success rates at other rates of the checker."""
            return replace(points, columns=rates.corrected(points.columns))

        corrected, labels = rescore(errors.rates), errors.labels
        if method is not None:
            method = RateIntervals(method, errors.rates)
            if labels is not None:
                method = LabelledIntervals(method, rescore, labels, options.weights)
        return corrected, method, errors.described()


def falls_with_k(
    counts: BinaryCounts,
    scores: Mapping[ScoreKey, Score],
    rates: CheckerRates,
    weights: np.ndarray | None,
    run: str = "",
) -> bool:
    """Return whether the corrected pass@k of a requested k is below that of a smaller k, and warn.

    The smaller k are the requested ones and all powers of 2. `run` begins the warning.
    """
    events = filter(None, map(event_of, scores.values()))
    requested = {k for k, r in events if r == 1 < k <= counts.n.min()}
    ks = sorted(requested.union((2 ** np.arange(max(requested, default=0).bit_length())).tolist()))
    curve = {k: Score((any_correct(k),)) for k in ks}
    estimates = corrected_scores(counts, curve, rates).over(np.arange(len(counts)), weights)
    points = {k: min(max(estimate, 0.0), 1.0) for k, estimate in estimates.items()}
    for k in sorted(requested):
        best = max((j for j in ks if j <= k), key=lambda j: points[j])
        if points[k] < points[best] - _FALL:
            start = f"{run}: " if run else ""
            warnings.warn(
                f"{start}The corrected pass@{k}, {points[k]:.3f}, is below pass@{best}, "
                f"{points[best]:.3f}, which no success rates allow: the errors of the checker "
                f"depend on the question, its rates are not those of these samples, or there are "
                f"too few samples.",
                stacklevel=3,
            )
            return True
    return False
