"""The flat dict that `compute` returns: the scores over all questions, and over groups."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .checks import check_flag, check_name, label_index
from .choice import IntervalOptions
from .estimates import Estimate, as_dict, safe_prefixes
from .interval import Interval, IntervalMethod
from .package import PACKAGE
from .score import ScoreId, Scores


class Report:
    """What `compute` returns: the mean scores over all questions and over each group.

    Args:
        questions: M.
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
        questions: int,
        groups,
        options: IntervalOptions,
        return_per_question: bool,
        keys: str = "exact",
        with_mu: bool = True,
    ):
        self._safe = check_name("keys", keys, ("exact", "safe")) == "safe"
        self._groups: list[str | None] = [None]
        self._questions_by_group = [np.arange(questions)]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            last = np.cumsum(np.bincount(index))
            self._groups += labels
            self._questions_by_group += np.split(np.argsort(index, kind="stable"), last[:-1])
            if self._safe:
                safe_prefixes(labels)
        if options.weights is not None:
            counted = options.weights > 0
            self._questions_by_group = [group[counted[group]] for group in self._questions_by_group]
        self._return_per_question = check_flag("return_per_question", return_per_question)
        if self._safe and self._return_per_question:
            warnings.warn(
                'keys="safe" leaves out per_question, which is no number: loggers refuse lists.',
                stacklevel=2,
            )
        self.options, self._with_mu = options, with_mu

    def result(
        self,
        points: Scores,
        n: np.ndarray,
        method: IntervalMethod | None = None,
        checker: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the flat dict of `compute`.

        Args:
            points: the scores of the questions.
            n: (M,) samples of the questions.
            method: of the limits, or None if none are requested.
            checker: what the scores are corrected for, or None.

        Raises:
            ValueError: if the data do not allow the interval, with the label of the group.
        """
        if self.options.confidence is None:
            method = None
        estimates = self._estimates(points, n, method)
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            known = {x.score_id for x in estimates if x.group is None}
            others["per_question"] = {
                score.key: values
                for score, values in points.per_question().items()
                if score in known
            }
        result = as_dict(estimates, self._safe, others)
        return PACKAGE.rooms.result(result, estimates, self.options.weighting.words)

    def _estimates(
        self, points: Scores, n: np.ndarray, method: IntervalMethod | None
    ) -> list[Estimate]:
        """Return the scores over all questions, then over each group, with intervals if requested.

        Scores that the data do not identify are left out, with a warning. The arguments are those
        of `result`.
        """
        intervals, bands = self._limits(n, method)
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        for group, questions, interval_of, band_of in zip(
            self._groups, self._questions_by_group, intervals, bands, strict=True
        ):
            unidentified = () if method is None else method.unidentified(questions)
            for score, mean in points.over(questions, self.options.weights).items():
                if score in unidentified:
                    left_out.setdefault(group, []).append(score.key)
                    continue
                interval = None
                if method is not None:
                    interval = self._requested_fields(score, mean, interval_of.get(score))
                band = band_of.get(score)
                estimates.append(
                    Estimate(score.metric, score.k, score.tau, group, mean, interval, band)
                )
        if left_out:
            _warn_of_unidentified(left_out, bool(estimates))
        return estimates

    def _requested_fields(
        self, score: ScoreId, mean: float, interval: Interval | None
    ) -> Interval | None:
        """Return the interval of a score with the fields that are requested."""
        is_named = self.options.is_named
        if interval is None:  # Only the posterior has none for some scores.
            reason = f"none: {score} has no posterior"
            return Interval(None, None, None, None, reason) if is_named else None
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, mean, rel_tol=1e-12):
            interval = interval._replace(mu=mean)  # the same sum in another order
        return interval if is_named else interval._replace(interval=None)

    def _limits(
        self, n: np.ndarray, method: IntervalMethod | None
    ) -> tuple[list[dict[ScoreId, Interval]], list[dict[ScoreId, tuple[float, float]]]]:
        """Return the intervals and the bands over all questions and over each group.

        The arguments are those of `result`.
        """
        options = self.options
        no_limits: list[dict[ScoreId, Any]] = [{} for _ in self._questions_by_group]
        if method is None or options.confidence is None:
            return no_limits, no_limits
        if options.anytime:
            # "auto" decides for each group whether its limits are for other questions.
            other_questions = None if options.method == "auto" else options.method == "questions"
            method = PACKAGE.rooms.anytime_limits(method, n, other_questions)
        for group, questions in zip(self._groups, self._questions_by_group, strict=True):
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")
        intervals = method.for_groups(self._questions_by_group, options.confidence)
        if not options.band:
            return intervals, no_limits
        bands = PACKAGE.rooms.bands(method, self._questions_by_group, intervals, options.confidence)
        return intervals, bands


def _warn_of_unidentified(left_out: dict[str | None, list[str]], has_others: bool) -> None:
    """Warn of scores that are left out, by group or None; a ValueError if there are no others."""
    for group, names in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(names)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(names)}: left out.", stacklevel=3)
