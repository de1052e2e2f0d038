"""The choice of an interval: by name, or "auto" from what the data can show.

The rule of "auto", for all questions and for each group by itself:

- If a question has two samples or more, the samples show how scores vary when the same questions
  are sampled again: `sampling` for k <= n, `hierarchical` for k > n.
- If each question has one sample, only other questions show it: `questions` for k <= n.
- Otherwise nothing does, and the interval is the whole range of the score, named "none: " and the
  reason.

If clusters are given, "auto" is `questions` for all of them, see `chosen_method`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..scores.family import Family, Fit
from ..scores.score import ScoreKey
from .clusters import ONE_CLUSTER
from .hierarchical import HierarchicalIntervals
from .interval import Interval, IntervalMethod, whole_range
from .methods import Clusters, FamilyMethod
from .sampling import SamplingIntervals

INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def choose_interval(
    family: Family, interval: str, clusters: np.ndarray | None = None
) -> IntervalMethod:
    """The method that computes an interval of this name.

    Args:
        family: of the outcomes, with the scores.
        interval: "sampling", "questions", "hierarchical" or "auto".
        clusters: (M,) label of each question's cluster, for "questions".
    """
    if interval == "auto":
        return AutoIntervals(family)
    if interval == "hierarchical":
        return HierarchicalIntervals(family)
    if interval == "questions":
        return SamplingIntervals(family, new_questions=True, clusters=clusters)
    return SamplingIntervals(family)


class AutoIntervals(FamilyMethod):
    """For each part of a run, the interval that its data allow."""

    def __init__(self, family: Family):
        super().__init__(family)
        self._same_questions = SamplingIntervals(family)
        self._beyond_n = HierarchicalIntervals(family)
        self._other_questions = SamplingIntervals(family, new_questions=True)

    def of_rows(self, rows: np.ndarray) -> AutoIntervals:
        return AutoIntervals(self.family.of_rows(rows))

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        repeated = [part for part, rows in enumerate(parts) if not self.one_sample_each(rows)]
        intervals = super().for_parts([parts[part] for part in repeated], confidence)
        found = dict(zip(repeated, intervals, strict=True))
        for part, rows in enumerate(parts):
            if part not in found:
                found[part] = self._from_single_samples(rows, confidence)
        return [found[part] for part in range(len(parts))]

    def covariance(self, rows: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        single = self.one_sample_each(rows)
        return (self._other_questions if single else self._same_questions).covariance(rows, keys)

    def from_fit(
        self, fit: Fit, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        same_questions = self._same_questions.from_fit(fit, confidence)
        return same_questions | self._beyond_n.from_fit(fit, confidence)

    def _from_single_samples(self, rows: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        found = self._unknown(rows)
        if self._other_questions.problem(rows) is None:
            found |= self._other_questions.for_parts([rows], confidence)[0]
        return found

    def _unknown(self, rows: np.ndarray) -> dict[ScoreKey, Interval]:
        """The whole range of each score of questions with one sample each."""
        family, inverse = self.family, self.family.inverse[rows]
        multiplicity = np.bincount(inverse, minlength=len(family.n))[None]
        least, most = (extreme[:, 0] for extreme in family.extremes(multiplicity))
        reason = "each question has one sample"
        found = {}
        for key, score in family.scores.items():
            mean = score.value(family.columns[inverse].mean(axis=0))
            limits = score.value(least), score.value(most)
            found[key] = whole_range(mean, *limits, f"{reason}, and {ONE_CLUSTER}")
        for column, key in enumerate(family.extrapolated):
            mean = family.extrapolated_columns[inverse, column].mean()
            found[key] = whole_range(mean, *family.bounds, reason)
        return found
