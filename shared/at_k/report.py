"""The flat dict that `compute` returns: scores of all questions and of groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .checks import check_confidence, check_flag, check_names
from .inputs.parsing import label_index
from .intervals.interval import Interval, Scores, Spread


def check_interval(
    interval: str, clusters, questions: int, known: Sequence[str]
) -> np.ndarray | None:
    """(M,) the source of each question, or None where each has its own.

    Raises:
        ValueError: unless the interval is known, and there are clusters only where it uses them.
    """
    check_names("interval", [interval], known)
    if clusters is None:
        return None
    if interval not in ("questions", "auto"):
        raise ValueError(f"clusters are for interval='questions', and it is {interval!r}.")
    return label_index(clusters, questions, "clusters")[1]


class Report:
    """What `compute` returns: a flat dict of the mean scores of all questions and of groups.

    Args:
        questions: M, how many there are.
        groups: a label for each question, or None.
        confidence: of the intervals, or None where none are wanted.
        return_per_question: whether to add the scores of each question.
        interval: which one is asked for; of "auto" the name of the one that was chosen is added.
        ends: what to say of an interval besides, of mu, sigma, lo and hi.

    Raises:
        ValueError: if there are not M labels, or confidence is no probability.
    """

    def __init__(
        self,
        questions: int,
        groups,
        confidence: float | None,
        return_per_question: bool,
        interval: str,
        ends: tuple[str, ...] = ("mu", "sigma", "lo", "hi"),
    ):
        self._parts = [("", np.arange(questions))]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            last = np.cumsum(np.bincount(index))
            rows = np.split(np.argsort(index, kind="stable"), last[:-1])
            self._parts += zip([f"{label}/" for label in labels], rows, strict=True)
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = check_flag("return_per_question", return_per_question)
        self._ends = (*ends, "interval") if interval == "auto" else ends

    def of(self, scores: Scores, spread: Spread | None = None) -> dict[str, Any]:
        """Every key over all questions, then over each group's; with intervals if wanted."""
        result: dict[str, Any] = {}
        parts = [rows for _, rows in self._parts]
        found: list[dict[str, Interval]] = [{} for _ in parts]
        if spread is not None and self._confidence is not None:
            try:
                found = spread.of_each(parts, self._confidence)
            except ValueError:
                self._find_wrong_group(spread, self._confidence)
                raise
        for (prefix, rows), intervals in zip(self._parts, found, strict=True):
            questions = np.bincount(scores.kind[rows], minlength=len(scores.columns))
            for key, mean in scores.means(questions).items():
                result[prefix + key] = mean
                if key in intervals:
                    told = intervals[key]._asdict()
                    result |= {f"{prefix}{key}_{end}": told[end] for end in self._ends}
        if self._return_per_question:
            result["per_question"] = scores.per_question()
        return result

    def _find_wrong_group(self, spread: Spread, confidence: float) -> None:
        """Raise the error of the first group that has one, with its label."""
        for prefix, rows in self._parts:
            try:
                spread.intervals(rows, confidence)
            except ValueError as error:
                where = f"Group {prefix.removesuffix('/')!r}: " if prefix else ""
                raise ValueError(f"{where}{error}") from None
