"""Limits that hold at all looks together, however often one looks.

A run grows, and one looks at its limits again and again until they decide. The limits of one look
may be wrong each time, so they would be wrong at some look much more often than 1 - confidence. A
confidence sequence covers at all looks together with this confidence. For an estimate from N
questions or samples, with a standard error proportional to 1 / sqrt(N), the normal mixture has
limits at the z-value

    z(N) = sqrt((1 + 1 / x) (log(1 + x) - 2 log(alpha))),    x = x0 N / N0,

in place of that of one look, with alpha = 1 - confidence (Robbins 1970, Annals of Mathematical
Statistics 41, 1397; Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49, 1055). With
estimated standard errors it holds for large N (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024,
Annals of Statistics 52, 2613). It is smallest at N0, where x0 = log(1 + x0) - 2 log(alpha). For a
confidence of 95 % it is then 1.55 times the z-value of one look, and at most 1.7 times as large
from N0 / 4 to 16 N0.

For limits of other questions, N is the number of questions and N0 = 50. For limits of the same
questions, N is the mean number of samples of a question and N0 = 8.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..core.interval import DerivedIntervals, IntervalMethod
from . import Intervals

_TUNED_FOR_QUESTIONS, _TUNED_FOR_SAMPLES = 50.0, 8.0
_LARGEST = math.nextafter(1.0, 0.0)


@lru_cache(maxsize=1 << 10)
def confidence_of_a_look(confidence: float, size: float) -> float:
    """Return the confidence that the limits of one look need so that all looks have `confidence`.

    `size` is N / N0, as `look_size` returns it.
    """
    penalty = -2 * math.log(1 - confidence)
    x = penalty
    for _ in range(60):  # The fixed point is x0 of the module docstring.
        x = math.log1p(x) + penalty
    x *= size
    z = math.sqrt((1 + 1 / x) * (math.log1p(x) + penalty))
    return min(1 - 2 * NormalDist().cdf(-z), _LARGEST)


def look_size(n: np.ndarray, other_questions: bool) -> float:
    """Return N / N0 for (M,) numbers of samples. The z-value is smallest where N / N0 is 1."""
    return len(n) / _TUNED_FOR_QUESTIONS if other_questions else n.mean() / _TUNED_FOR_SAMPLES


class AnytimeIntervals(DerivedIntervals):
    """The intervals of another method, with limits that hold at all looks together.

    `n`, (M,), are the numbers of samples. `other_questions` is whether the limits are for other
    questions. None stands for the interval "auto": the limits of a group are for other questions
    if none of its questions has two samples.
    """

    def __init__(self, method: IntervalMethod, n: np.ndarray, other_questions: bool | None):
        super().__init__(method)
        self._n, self._other_questions = n, other_questions

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score over these questions."""
        look_confidence = confidence_of_a_look(confidence, self._size(questions))
        return self._method.intervals(questions, look_confidence)

    def _size(self, questions: np.ndarray) -> float:
        """Return N / N0 for the questions with these indices."""
        n, other_questions = self._n[questions], self._other_questions
        if other_questions is None:
            other_questions = bool(n.max() < 2)
        return look_size(n, other_questions)
