"""The flat dict that `compute` returns: scores of all questions and of groups of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_confidence, check_flag
from .inputs.labels import label_index
from .intervals.interval import Interval, IntervalMethod
from .scores.score import Scores


class Report:
    """What `compute` returns: the mean scores over all questions and over each group.

    Args:
        questions: M.
        groups: a label for each question, or None.
        confidence: of the intervals, or None to leave them out.
        return_per_question: whether to add the scores of each question.
        fields: what to add for an interval.

    Raises:
        ValueError: if there are not M labels, or confidence is not a probability.
    """

    def __init__(
        self,
        questions: int,
        groups,
        confidence: float | None,
        return_per_question: bool,
        fields: tuple[str, ...] = ("mu", "sigma", "lo", "hi"),
    ):
        self._prefixes, self._parts = [""], [np.arange(questions)]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            last = np.cumsum(np.bincount(index))
            self._parts += np.split(np.argsort(index, kind="stable"), last[:-1])
            self._prefixes += [f"{label}/" for label in labels]
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = check_flag("return_per_question", return_per_question)
        self._fields = fields

    def of(
        self, scores: Scores, method: IntervalMethod | None = None, name_methods: bool = False
    ) -> dict[str, Any]:
        """Each key over all questions, then over each group, with intervals if requested.

        Args:
            scores: of the questions.
            method: of the intervals, or None to leave them out.
            name_methods: whether to add to each key <key>_interval, the name of its interval
                method, or "none: " and the reason why it has no interval.

        Raises:
            ValueError: if the data do not allow the interval, with the label of the group.
        """
        result: dict[str, Any] = {}
        fields = (*self._fields, "interval") if name_methods else self._fields
        intervals = self._intervals(method)
        for prefix, rows, found in zip(self._prefixes, self._parts, intervals, strict=True):
            multiplicity = np.bincount(scores.inverse[rows], minlength=len(scores.columns))
            for key, mean in scores.means(multiplicity).items():
                result[prefix + key] = mean
                if key in found:
                    values = found[key]._asdict()
                    result |= {f"{prefix}{key}_{field}": values[field] for field in fields}
                elif name_methods and method is not None and self._confidence is not None:
                    result[f"{prefix}{key}_interval"] = f"none: {method.why_absent(key)}"
        if self._return_per_question:
            result["per_question"] = scores.per_question()
        return result

    def _intervals(self, method: IntervalMethod | None) -> list[dict[str, Interval]]:
        """The intervals over all questions and over each group."""
        if method is None or self._confidence is None:
            return [{} for _ in self._parts]
        for prefix, rows in zip(self._prefixes, self._parts, strict=True):
            if problem := method.problem(rows):
                which = f"Group {prefix.removesuffix('/')!r}" if prefix else "The run"
                raise ValueError(f"{which} has no interval: {problem}.")
        return method.for_parts(self._parts, self._confidence)
