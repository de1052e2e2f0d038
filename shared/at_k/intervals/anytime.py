"""Limits that hold at all looks together, however often one looks at a run that grows."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from ..core.interval import DerivedIntervals, IntervalMethod
from . import Intervals

_TUNED_FOR_QUESTIONS, _TUNED_FOR_SAMPLES = 50.0, 8.0  # N0 of `confidence_of_a_look`
_LARGEST = math.nextafter(1.0, 0.0)


def confidence_of_a_look(confidence: float, size: float) -> float:
    """Return the confidence that the limits of one look need so that all looks have `confidence`.

    For an estimate from N questions or samples, with a standard error proportional to 1 / sqrt(N),
    the limits at all N hold together at the z-value

        z(N) = (sqrt((1 + x) (2 L + log(1 + x))) - sqrt(L)) / sqrt(x),    x = N / N0,

    with L = 2 log(2 / alpha), alpha = 1 - confidence, and `size` x. An effect is a number of
    standard errors at N0. The likelihoods of effects are mixed by two normal distributions with
    equal weights, means sqrt(L) and -sqrt(L), and variance 1. At z(N) and beyond, their ratio to
    the likelihood without an effect is at least 1 / alpha (Robbins 1970, Annals of Mathematical
    Statistics 41, 1397; Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics 49, 1055).
    With estimated standard errors this holds for large N (Waudby-Smith, Arbour, Sinha, Kennedy &
    Ramdas 2024, Annals of Statistics 52, 2613). For 95 %, z is 1.45 times that of one look at N0,
    at most 1.65 times from N0 / 4 to 4 N0, and 1.78 times at 10 N0.
    """
    log_ratio = 2 * math.log(2 / (1 - confidence))
    boundary = math.sqrt((1 + size) * (2 * log_ratio + math.log1p(size))) - math.sqrt(log_ratio)
    return min(1 - 2 * NormalDist().cdf(-boundary / math.sqrt(size)), _LARGEST)


def look_size(n: np.ndarray, other_questions: bool) -> float:
    """Return N / N0, where N is the number of questions or of samples of each, (M,)."""
    return len(n) / _TUNED_FOR_QUESTIONS if other_questions else n.mean() / _TUNED_FOR_SAMPLES


class AnytimeIntervals(DerivedIntervals):
    """The intervals of another method, with limits that hold at all looks together.

    `n`, (M,), are the numbers of samples. `other_questions` is whether the limits are for other
    questions, or None for the interval "auto".
    """

    def __init__(self, method: IntervalMethod, n: np.ndarray, other_questions: bool | None):
        super().__init__(method)
        self._n, self._other_questions = n, other_questions

    def intervals(self, questions: np.ndarray, confidence: float) -> Intervals:
        """Return the interval of each score over these questions."""
        n, other_questions = self._n[questions], self._other_questions
        if other_questions is None:  # "auto" chooses "questions" for single samples
            other_questions = bool(n.max() < 2)
        confidence_of_one = confidence_of_a_look(confidence, look_size(n, other_questions))
        return self._method.intervals(questions, confidence_of_one)
