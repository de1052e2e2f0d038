"""The flat dict that `compute` returns: scores of all questions and of groups of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from .anytime import AnytimeIntervals
from .checks import check_flag, check_name, label_index
from .choice import IntervalOptions
from .estimates import Estimate, Result, as_dict, safe_prefixes
from .interval import Interval, IntervalMethod
from .package import PACKAGE
from .score import ScoreId, Scores


class Report:
    """What `compute` returns: the mean scores over all questions and over each group.

    Args:
        n: (M,) samples of the questions.
        groups: a label for each question, or None.
        options: of the intervals.
        return_per_question: whether to add the scores of each question.
        keys: "exact", or "safe" for numbers only, under names that every logger takes.
        with_mu: whether to add the centers of intervals.

    Raises:
        ValueError: if there are not M labels, or if two labels have the same safe name.
    """

    def __init__(
        self,
        n: np.ndarray,
        groups,
        options: IntervalOptions,
        return_per_question: bool,
        keys: str = "exact",
        with_mu: bool = True,
    ):
        self._safe = check_name("keys", keys, ("exact", "safe")) == "safe"
        self._groups: list[str | None] = [None]
        self._questions_of = [np.arange(len(n))]
        if groups is not None:
            labels, index = label_index(groups, len(n), "groups")
            last = np.cumsum(np.bincount(index))
            self._groups += labels
            self._questions_of += np.split(np.argsort(index, kind="stable"), last[:-1])
            if self._safe:
                safe_prefixes(labels)
        if options.weights is not None:
            counted = options.weights > 0
            self._questions_of = [group[counted[group]] for group in self._questions_of]
        self._return_per_question = check_flag("return_per_question", return_per_question)
        if self._safe and self._return_per_question:
            warnings.warn(
                'keys="safe" leaves out per_question, which is no number: loggers refuse lists.',
                stacklevel=2,
            )
        self._n, self._options, self._with_mu = n, options, with_mu

    def of(
        self,
        scores: Scores,
        method: IntervalMethod | None = None,
        checker: dict[str, float] | None = None,
    ) -> Result:
        """Return the flat dict of `compute`.

        Args:
            scores: of the questions.
            method: of the intervals, or None to leave them out.
            checker: what the scores were corrected for, or None.

        Raises:
            ValueError: if the data do not allow the interval, with the label of the group.
        """
        estimates = self.estimates(scores, method)
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            known = {x.score_id for x in estimates if x.group is None}
            others["per_question"] = {
                score.key: values
                for score, values in scores.per_question().items()
                if score in known
            }
        return as_dict(estimates, self._safe, others, self._options.weighting.words)

    def estimates(self, scores: Scores, method: IntervalMethod | None) -> list[Estimate]:
        """Return the scores over all questions, then over each group, with intervals if requested.

        An interval that the options name has the name of its method, or "none: " and the reason why
        there is no interval. Scores that the data do not identify are left out, with a warning.

        Args:
            scores: of the questions.
            method: of the intervals, or None to leave them out.

        Raises:
            ValueError: if no score of all questions is left.
        """
        options = self._options
        if options.anytime and method is not None:
            other = None if options.method == "auto" else options.method == "questions"
            method = AnytimeIntervals(method, self._n, other)
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        intervals = self._intervals(method)
        bands = self._bands(method, intervals) if self._options.band else [{}] * len(intervals)
        has_intervals = method is not None and self._options.confidence is not None
        for group, questions, interval_of, band_of in zip(
            self._groups, self._questions_of, intervals, bands, strict=True
        ):
            unidentified: Collection[ScoreId] = ()
            if method is not None and has_intervals:
                unidentified = method.unidentified(questions)
            for score, mean in scores.over(questions, self._options.weights).items():
                if score in unidentified:
                    left_out.setdefault(group, []).append(score.key)
                    continue
                interval = interval_of.get(score)
                if interval is not None:
                    interval = self._shown(interval, mean)
                elif has_intervals and self._options.is_named:
                    # Every other method gives an interval for each score.
                    interval = Interval(None, None, None, None, f"none: {score} has no posterior")
                band = (band_of[score].lo, band_of[score].hi) if score in band_of else None
                estimates.append(
                    Estimate(score.metric, score.k, score.tau, group, mean, interval, band)
                )
        _warn_of_unidentified(left_out, bool(estimates))
        return estimates

    def _shown(self, interval: Interval, score: float) -> Interval:
        """Return an interval without the fields that are not requested."""
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, score, rel_tol=1e-12):
            interval = interval._replace(mu=score)  # the same sum in another order
        return interval if self._options.is_named else interval._replace(interval=None)

    def _intervals(self, method: IntervalMethod | None) -> list[dict[ScoreId, Interval]]:
        """The intervals over all questions and over each group."""
        confidence = self._options.confidence
        if method is None or confidence is None:
            return [{} for _ in self._questions_of]
        for group, questions in zip(self._groups, self._questions_of, strict=True):
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")
        return method.for_groups(self._questions_of, confidence)

    def _bands(
        self, method: IntervalMethod | None, intervals: list[dict[ScoreId, Interval]]
    ) -> list[dict[ScoreId, Interval]]:
        """The simultaneous bands over all questions and over each group."""
        options = self._options
        if method is None or options.confidence is None:
            return [{} for _ in self._questions_of]
        bands = []
        for questions, interval_of in zip(self._questions_of, intervals, strict=True):
            band: dict[ScoreId, Interval] = {}
            for curve in curves(interval_of):
                covariance = method.covariance(questions, curve)
                confidence = PACKAGE.rooms.band_confidence(covariance, options.confidence)
                wider = method.for_groups([questions], confidence)[0]
                band |= {score: wider[score] for score in curve}
            bands.append(band)
        return bands


def _warn_of_unidentified(left_out: dict[str | None, list[str]], has_others: bool) -> None:
    """Warn of scores that are left out, by group; a ValueError if there are no others."""
    for group, names in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(names)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(names)}: left out.", stacklevel=3)


def curves(scores: Iterable[ScoreId]) -> list[list[ScoreId]]:
    """Return the scores that differ only in k together, in ascending order of k.

    >>> scores = [ScoreId("pass@k", 1), ScoreId("avg@N", "n"), ScoreId("pass@k", 16)]
    >>> [[score.key for score in curve] for curve in curves([*scores, ScoreId("pass@k", 4)])]
    [['pass@1', 'pass@4', 'pass@16'], ['avg@n']]
    """
    by_name: dict[tuple[str, float | None], list[ScoreId]] = {}
    for score in scores:
        by_name.setdefault((score.metric, score.tau), []).append(score)
    return [sorted(curve, key=lambda score: score.k or 0) for curve in by_name.values()]
