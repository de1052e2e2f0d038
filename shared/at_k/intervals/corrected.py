"""Scores that are corrected for the errors of a checker, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.checking import Checked
from ..core.choice import IntervalOptions
from ..core.interval import IntervalMethod
from ..core.score import Score, ScoreKey, Scores
from ..scores.checker_rates import CheckerRates, corrected_scores, require_correction
from .binary_family import pass_intervals
from .labelled import Errors, check_errors, success_rates

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
        if options.confidence is None:
            points = corrected_scores(counts, scores, errors.rates)
            return points, None, errors.described()

        def under(rates: CheckerRates) -> Scores:
            return pass_intervals(counts, scores, options, rates)[0]

        points, method = pass_intervals(counts, scores, options, errors.rates)
        return points, errors.widened(method, points, under, options.weights), errors.described()

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
        return *success_rates(points, method, errors, options.weights), errors.described()

    def _errors(self, checked: Checked) -> Errors:
        return Errors.of_options(self._rates, self._labels, checked.graded)
