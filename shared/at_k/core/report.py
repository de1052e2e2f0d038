"""The parameters that all metrics have, and the flat dict of scores that `compute` returns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checking import Checker, Checking
from .checks import check_flag, check_name, label_index
from .choice import interval_options, question_weighting
from .estimates import Estimate, as_dict, safe_prefixes
from .interval import Interval, IntervalMethod
from .package import PACKAGE
from .samples import Labels
from .score import ScoreId, Scores


@dataclass
class SharedOptions:
    """The parameters that all metrics have. The scripts of the metrics document them."""

    check_correct_fn: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    confidence: float | None = None
    interval: str | None = None
    clusters: list[str] | None = None
    anytime: bool = False
    groups: list[str] | None = None
    average: str = "questions"
    question_weights: list[float] | None = None
    return_per_question: bool = False
    keys: str = "exact"

    def __post_init__(self) -> None:
        """Leave out `KnownClusters` unless limits use them."""
        # A script with its own kernel has another class, so the attribute is what counts.
        is_optional = getattr(self.clusters, "is_optional", False)
        if is_optional and (self.confidence is None or self.interval != "questions"):
            self.clusters = None

    def checking(self, labels: Labels | None = None) -> Checking:
        """Return the `Checking` of these options; `labels` are those that a checker may return."""
        return Checking(self.check_correct_fn, self.num_proc, self.executor, self.timeout, labels)


class Report:
    """Makes the dict that `compute` returns from the scores of M questions.

    `options` are those of intervals, and `with_mu` is whether the centers of intervals are added.
    All options are validated. `own` are further arguments of `interval_options`.
    """

    def __init__(self, shared: SharedOptions, questions: int, with_mu: bool = True, **own: Any):
        groups = shared.groups
        self.options = interval_options(
            questions,
            shared.confidence,
            shared.interval,
            shared.clusters,
            weighting=question_weighting(
                shared.average, shared.question_weights, groups, questions
            ),
            anytime=shared.anytime,
            **own,
        )
        self._with_mu = with_mu
        self._safe = check_name("keys", shared.keys, ("exact", "safe")) == "safe"
        self._return_per_question = check_flag("return_per_question", shared.return_per_question)
        if self._safe and self._return_per_question:
            warnings.warn(
                'keys="safe" leaves out per_question, which is no number: loggers refuse lists.',
                stacklevel=2,
            )
        # The indices of the questions of each group, by its label, and of all questions, by None.
        self._questions_by_group: dict[str | None, np.ndarray] = {None: np.arange(questions)}
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            in_order_of_groups = np.argsort(index, kind="stable")
            parts = np.split(in_order_of_groups, np.cumsum(np.bincount(index))[:-1])
            self._questions_by_group |= dict(zip(labels, parts, strict=True))
            if self._safe:
                safe_prefixes(labels)  # raises a ValueError for equal ones
        if self.options.weights is not None:
            for group, rows in self._questions_by_group.items():
                self._questions_by_group[group] = rows[self.options.weights[rows] > 0]

    def result(
        self,
        points: Scores,
        method: IntervalMethod | None,
        n: np.ndarray,
        checker: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the flat dict of `compute` for the scores of the questions, `points`.

        `method` computes their limits, `n`, (M,), are the numbers of samples, and `checker` is the
        entry of that name, for scores that are corrected for a checker. A ValueError is raised if
        all questions or a group have no interval, or if no score is identified.
        """
        estimates = self._estimates(points, self._checked_method(method, n))
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            estimated = {ScoreId(*x[:3]) for x in estimates if x.group is None}
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
        """Return `method`, or its anytime-valid form, or None if no limits are requested."""
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

        A score that the data do not determine is left out, with a warning.
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
        """Return the interval of a score with value `mean`, without fields that nobody requested.

        If the method has no interval for the score, the result has only the reason, or is None.
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
    """Warn of the keys of scores that are left out, by their group or None for all questions.

    If no other score is estimated, a ValueError is raised instead.
    """
    for group, keys in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(keys)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(keys)}: left out.", stacklevel=3)
