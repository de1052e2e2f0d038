"""The flat dict that `compute` returns, with scores over all questions and over each group."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
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
        # The indices of the questions of each group by its label; of all questions by None.
        self._questions_by_group: dict[str | None, np.ndarray] = {None: np.arange(questions)}
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            by_group = np.argsort(index, kind="stable")
            parts = np.split(by_group, np.cumsum(np.bincount(index))[:-1])
            self._questions_by_group |= dict(zip(labels, parts, strict=True))
            if self._safe:
                safe_prefixes(labels)  # raises a ValueError for equal ones
        if options.weights is not None:
            for group, rows in self._questions_by_group.items():
                self._questions_by_group[group] = rows[options.weights[rows] > 0]
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
        estimates = self._estimates(points, self._checked_method(method, n))
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

    def _checked_method(
        self, method: IntervalMethod | None, n: np.ndarray
    ) -> IntervalMethod | None:
        """Return `method`, or its anytime-valid form, or None if no limits are requested.

        Raises ValueError if the questions of the run or of a group have no interval.
        """
        options = self.options
        if method is None or options.confidence is None:
            return None
        if options.anytime:
            # With "auto" (None), each group decides whether its limits are for other questions.
            other_questions = None if options.method == "auto" else options.method == "questions"
            method = PACKAGE.rooms.anytime_limits(method, n, other_questions)
        for group, questions in self._questions_by_group.items():
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")
        return method

    def _estimates(self, points: Scores, method: IntervalMethod | None) -> list[Estimate]:
        """Return an estimate of each score over all questions, then over each group.

        A score is left out, with a warning, if `method.unidentified` says that the data do not
        determine it.
        """
        options, confidence = self.options, self.options.confidence
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        for group, questions in self._questions_by_group.items():
            intervals: dict[ScoreId, Interval] = {}
            bands: dict[ScoreId, tuple[float, float]] = {}
            unidentified: Collection[ScoreId] = ()
            if method is not None and confidence is not None:
                unidentified = method.unidentified(questions)
                intervals = method.intervals(questions, confidence)
                if options.band:
                    scores = [*intervals]
                    bands = PACKAGE.rooms.band(method, questions, scores, confidence)
            for score_id, mean in points.over(questions, options.weights).items():
                if score_id in unidentified:
                    left_out.setdefault(group, []).append(score_id.key)
                    continue
                interval = intervals.get(score_id)
                if method is not None:
                    interval = self._requested_fields(score_id, mean, interval)
                metric, k, tau = score_id
                band = bands.get(score_id)
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
            return Interval(interval=reason) if is_named else None
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, mean, rel_tol=1e-12):
            # mu is the same sum in another order, so its last digits may differ.
            interval = interval._replace(mu=mean)
        return interval if is_named else interval._replace(interval=None)


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
