"""The flat dict that `compute` returns, with scores over all questions and over each group."""

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
    """Makes the dict that `compute` returns from the scores of M questions.

    Args:
        questions: M.
        groups: a label for each question, or None.
        options: the options of intervals.
        return_per_question: whether to add the scores of each question.
        keys: "exact"; or "safe" for a dict of numbers only, under names that every logger takes.
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
        self._groups: list[str | None] = [None]  # None stands for all questions.
        self._questions_by_group = [np.arange(questions)]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            self._groups += labels
            by_group = np.argsort(index, kind="stable")
            self._questions_by_group += np.split(by_group, np.cumsum(np.bincount(index))[:-1])
            if self._safe:
                safe_prefixes(labels)  # raises a ValueError for equal ones
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
        method: IntervalMethod | None,
        n: np.ndarray,
        checker: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the flat dict of `compute`.

        Args:
            points: the scores of the questions.
            method: the method of limits, or None if no limits are requested.
            n: (M,) number of samples of each question.
            checker: the entry "checker" of the dict, for scores that are corrected for a checker.

        Raises:
            ValueError: if all questions or a group have no interval, or if no score is identified.
        """
        if self.options.confidence is None:
            method = None
        estimates = self._estimates(points, method, n)
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            estimated = {x.score_id for x in estimates if x.group is None}
            others["per_question"] = {
                score_id.key: values
                for score_id, values in points.per_question().items()
                if score_id in estimated
            }
        result = as_dict(estimates, self._safe, others)
        return PACKAGE.rooms.result(result, estimates, self.options.weighting.words)

    def _estimates(
        self, points: Scores, method: IntervalMethod | None, n: np.ndarray
    ) -> list[Estimate]:
        """Return an estimate of each score over all questions, then over each group.

        A score is left out, with a warning, if `method.unidentified` says that the data do not
        determine it. The arguments are those of `result`.
        """
        intervals, bands = self._intervals_and_bands(n, method)
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        for group, questions, group_intervals, group_bands in zip(
            self._groups, self._questions_by_group, intervals, bands, strict=True
        ):
            unidentified = () if method is None else method.unidentified(questions)
            for score_id, mean in points.over(questions, self.options.weights).items():
                if score_id in unidentified:
                    left_out.setdefault(group, []).append(score_id.key)
                    continue
                interval, band = group_intervals.get(score_id), group_bands.get(score_id)
                if method is not None:
                    interval = self._requested_fields(score_id, mean, interval)
                metric, k, tau = score_id
                estimates.append(Estimate(metric, k, tau, group, mean, interval, band))
        if left_out:
            _warn_of_unidentified(left_out, bool(estimates))
        return estimates

    def _requested_fields(
        self, score_id: ScoreId, mean: float, interval: Interval | None
    ) -> Interval | None:
        """Return the interval of a score with None in each field that was not requested.

        `mean` is the score over the questions. `interval` is None if the method has none for the
        score. The result then has only the reason, in the field `interval`. It is None if the names
        of methods were not requested.
        """
        is_named = self.options.is_named
        if interval is None:  # Only the posterior lacks the intervals of some scores.
            reason = f"none: {score_id} has no posterior"
            return Interval(None, None, None, None, reason) if is_named else None
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, mean, rel_tol=1e-12):
            # mu is the same sum in another order, so its last digits may differ.
            interval = interval._replace(mu=mean)
        return interval if is_named else interval._replace(interval=None)

    def _intervals_and_bands(
        self, n: np.ndarray, method: IntervalMethod | None
    ) -> tuple[list[dict[ScoreId, Interval]], list[dict[ScoreId, tuple[float, float]]]]:
        """Return two lists of dicts by score: intervals, and the (lo, hi) of bands.

        A list has a dict for all questions, then for each group, empty if limits or bands are not
        requested. The arguments are those of `result`.
        """
        options = self.options
        no_limits: list[dict[ScoreId, Any]] = [{} for _ in self._questions_by_group]
        if method is None or options.confidence is None:
            return no_limits, no_limits
        if options.anytime:
            # None: "auto" decides for each group whether its limits are for other questions.
            other_questions = None if options.method == "auto" else options.method == "questions"
            method = PACKAGE.rooms.anytime_limits(method, n, other_questions)
        self._require_intervals(method)
        groups, confidence = self._questions_by_group, options.confidence
        intervals = [method.intervals(questions, confidence) for questions in groups]
        if not options.band:
            return intervals, no_limits
        return intervals, [
            PACKAGE.rooms.band(method, questions, [*of_group], confidence)
            for questions, of_group in zip(groups, intervals, strict=True)
        ]

    def _require_intervals(self, method: IntervalMethod) -> None:
        """Raise a ValueError if `method` has a problem with all questions, or with a group."""
        for group, questions in zip(self._groups, self._questions_by_group, strict=True):
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")


def _warn_of_unidentified(left_out: dict[str | None, list[str]], has_others: bool) -> None:
    """Warn of the scores that are left out, or raise a ValueError if no other score is estimated.

    `left_out` has lists of score keys by the label of their group, or by None for all questions.
    `has_others` is whether another score is estimated.
    """
    for group, keys in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(keys)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(keys)}: left out.", stacklevel=3)
