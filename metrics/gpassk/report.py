"""The flat dict that `compute` returns: scores of all questions and of groups of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .intake import label_index
from .interval import Scores
from .parameters import check_confidence

_ENDS = ("_mu", "_sigma", "_lo", "_hi")


class Report:
    """What `compute` returns: a flat dict of the mean scores of all questions and of groups.

    Args:
        questions: M, how many there are.
        groups: a label for each question, or None.
        confidence: of the intervals, or None where none are wanted.
        return_per_question: whether to add the scores of each question.
        bounds: (lo, hi) that no interval goes beyond.

    Raises:
        ValueError: if there are not M labels, or confidence is no probability.
    """

    def __init__(
        self,
        questions: int,
        groups,
        confidence: float | None,
        return_per_question: bool,
        bounds: tuple[float, float],
    ):
        self._parts = [("", np.arange(questions))]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            ends = np.cumsum(np.bincount(index))
            rows = np.split(np.argsort(index, kind="stable"), ends[:-1])
            self._parts += zip([f"{label}/" for label in labels], rows, strict=True)
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = return_per_question
        self._bounds = bounds

    def of(self, scores: Scores) -> dict[str, Any]:
        """Every key over all questions, then over each group's."""
        result: dict[str, Any] = {}
        for prefix, rows in self._parts:
            questions = np.bincount(scores.kind[rows], minlength=len(scores.point))
            points, summaries = scores.points(questions), {}
            if self._confidence is not None:
                summaries = scores.summaries(questions, self._confidence, self._bounds)
            for key, point in points.items():
                result[prefix + key] = point
                if key in summaries:
                    values = zip(_ENDS, summaries[key], strict=True)
                    result |= {prefix + key + end: value for end, value in values}
                    if scores.mean is scores.point:  # to say it twice is no use
                        del result[f"{prefix}{key}_mu"]
        if self._return_per_question:
            result["per_question"] = scores.per_question()
        return result
