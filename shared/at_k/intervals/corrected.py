"""Scores that are corrected for the errors of a checker, and their limits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.checking import Checked
from ..core.choice import IntervalOptions
from ..core.coherent import event_of
from ..core.counts import BinaryCounts
from ..core.credits import any_correct
from ..core.interval import IntervalMethod
from ..core.score import Score, ScoreKey, Scores
from ..scores.checker_rates import CheckerRates, corrected_scores, require_correction
from .binary_family import pass_intervals
from .labelled import Errors, LabelledIntervals, RateIntervals, check_errors

_FALL = 0.005  # of pass@k with k, which papers would show

Corrected = tuple[Scores, IntervalMethod | None, dict[str, float]]
"""Scores, the method of their limits, and what the result says of the checker."""


class CheckerErrors:
    """The errors of a checker, as the parameters of a metric state them.

    Args:
        checker_rates: its true-positive and false-positive rate, or None.
        labels: labels of samples in the form of the samples, a dict of counts, or None.

    Raises:
        ValueError: if the rates are invalid, or given beside labels.
    """

    def __init__(self, checker_rates: Any, labels: Any):
        check_errors(checker_rates, labels)
        self._rates, self._labels = checker_rates, labels

    def pass_limits(
        self, checked: Checked, scores: Mapping[ScoreKey, Score], options: IntervalOptions
    ) -> Corrected:
        """Return corrected scores of the pass@k family."""
        counts, errors = checked.outcomes, self._errors(checked)
        require_correction(scores, errors.rates)
        errors.warn_if_contradicted(counts)
        described = errors.described()
        if falls_with_k(counts, scores, errors.rates):
            described["falls_with_k"] = True
        if options.confidence is None:
            return corrected_scores(counts, scores, errors.rates), None, described

        def under(rates: CheckerRates) -> Scores:
            return pass_intervals(counts, scores, options, rates)[0]

        points, method = pass_intervals(counts, scores, options, errors.rates)
        if errors.labels is not None:
            method = LabelledIntervals(method, points, under, errors.labels, options.weights)
        return points, method, described

    def rate_limits(
        self,
        checked: Checked,
        points: Scores,
        method: IntervalMethod | None,
        options: IntervalOptions,
    ) -> Corrected:
        """Return success rates, from the rates of samples that are called correct."""
        errors = self._errors(checked)
        errors.warn_if_contradicted(checked.outcomes.counts())

        def under(rates: CheckerRates) -> Scores:
            return replace(points, columns=rates.corrected(points.columns))

        corrected = under(errors.rates)
        if method is not None:
            method = RateIntervals(method, errors.rates)
            if errors.labels is not None:
                method = LabelledIntervals(method, corrected, under, errors.labels, options.weights)
        return corrected, method, errors.described()

    def _errors(self, checked: Checked) -> Errors:
        return Errors.from_options(self._rates, self._labels, checked.graded)


def falls_with_k(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], rates: CheckerRates, run: str = ""
) -> bool:
    """Return whether the corrected pass@k of a requested k is below that of a smaller one.

    The smaller ones are the powers of 2, whatever is requested. A warning says so too.

    Args:
        counts: of samples that are called correct.
        scores: that are requested.
        rates: of the checker.
        run: the name of the run, for the warning.
    """
    events = [event for score in scores.values() if (event := event_of(score))]
    requested = sorted({k for k, r in events if r == 1 < k <= counts.n.min()})
    if not requested:
        return False
    powers = (2**i for i in range(requested[-1].bit_length()))
    ks = sorted({*requested, *(k for k in powers if k <= requested[-1])})
    curve = {k: Score((any_correct(k),)) for k in ks}
    estimates = corrected_scores(counts, curve, rates).over(np.arange(len(counts)))
    points = {k: min(max(estimate, 0.0), 1.0) for k, estimate in estimates.items()}
    best, start = ks[0], f"{run}: " if run else ""
    for k in ks:
        if k in requested and points[k] < points[best] - _FALL:
            warnings.warn(
                f"{start}The corrected pass@{k}, {points[k]:.3f}, is below pass@{best}, "
                f"{points[best]:.3f}, which no success rates allow: the errors of the checker "
                f"depend on the question, its rates are not those of these samples, or there are "
                f"too few samples.",
                stacklevel=3,
            )
            return True
        best = max(best, k, key=lambda x: points[x])
    return False
