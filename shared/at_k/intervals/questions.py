"""Intervals of mean scores for new questions like these: from their spread, with no prior made up.

Scaled to [0, 1], the mean U of M scores varies as the share of successes of m trials does which has
the same variance, U (1 - U) / m; and its interval is that share's (Wilson 1927). So it keeps within
the range of the scores without being cut, and is longer to the side that has more room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .interval import Interval, Spread, student_reach


class NewQuestions(Spread):
    """Intervals of the means of scores that lie between two limits.

    Args:
        scores: for each key (M,) scores of the questions.
        limits: the least and the greatest score.
        clusters: (M,) the source of each question, where some share one.
    """

    def __init__(
        self,
        scores: Mapping[str, np.ndarray],
        limits: tuple[float, float],
        clusters: np.ndarray | None = None,
    ):
        self._scores, self._limits, self._clusters = scores, limits, clusters

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the mean of each score over the questions `rows`.

        Raises:
            ValueError: if one question, or one source of questions, is to tell how they vary.
        """
        clusters = rows if self._clusters is None else self._clusters[rows]
        result = {}
        for key, scores in self._scores.items():
            mean = float(scores[rows].mean())
            variance, reach = between(scores[rows], clusters, confidence)
            lo, hi = within(mean, variance, len(rows), self._limits, reach)
            result[key] = Interval(mean, math.sqrt(variance), lo, hi, "questions")
        return result


def between(score: np.ndarray, clusters: np.ndarray, confidence: float) -> tuple[float, float]:
    """The variance of a mean of new questions, and the quantile of Student's law for it.

    Questions of one source are taken together (Miller 2024, arXiv:2411.00640).
    """
    _, source = np.unique(clusters, return_inverse=True)
    sources = int(source.max()) + 1
    reach = student_reach(sources, confidence)
    rest = score - score.mean()
    squares = max(np.sum(np.bincount(source, rest) ** 2), np.sum(rest**2))
    variance = float(squares) * sources / (sources - 1) / len(score) ** 2
    return variance, reach


def within(
    mean: float,
    variance: float,
    questions: int,
    limits: tuple[float, float],
    reach: float,
) -> tuple[float, float]:
    """Wilson's interval for the number of trials whose share of successes varies as the mean.

    An eighth of an event is added to the variance that there is and to the greatest there could be,
    for what the scores might have shown and did not: less than that is too little for scores that
    are rarely low, and more is too much for those that hardly differ.
    """
    least, most = map(float, limits)
    width = most - least
    if not width:
        return least, most
    u, unseen = min(1.0, max(0.0, (mean - least) / width)), 1 / 8 / questions
    share = (questions * variance / width**2 + unseen) / (u * (1 - u) + unseen)
    m = questions / max(share, 1e-6)
    middle = (u + reach**2 / 2 / m) / (1 + reach**2 / m)
    arm = reach / (1 + reach**2 / m) * math.sqrt(u * (1 - u) / m + reach**2 / 4 / m**2)
    lo, hi = max(0.0, min(middle - arm, u)), min(1.0, max(middle + arm, u))
    return least + width * lo, least + width * hi
