"""The words for intervals, samples and runs in the sentences about scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .formats import Scale, number_of

INTERVAL_SCOPE = {
    "sampling": "for the same questions, sampled again",
    "hierarchical": "for the same questions, sampled again",
    "posterior": "for the same questions, sampled again",
    "questions": "for other questions like these",
}
INTERVAL_NAME = {
    "sampling": "confidence interval",
    "hierarchical": "confidence interval",
    "posterior": "credible interval",
    "questions": "confidence interval",
}
P_VALUES = (
    "p: two-sided p-value of no difference, the smallest alpha at which the interval with the "
    "confidence 1 - alpha excludes 0."
)
_MOST_NAMES = 5  # up to which runs are listed by name


class Scope(NamedTuple):
    """What a sentence is about: the questions of one or several runs, and their samples.

    Args:
        sizes: for each run (M,) numbers of samples.
        checker: the name of the checker, or None if the samples were graded before.
    """

    sizes: Sequence[np.ndarray]
    checker: str | None

    def in_words(self, row: str = "question", noun: str = "sample") -> str:
        """The numbers of rows and of their samples, with these nouns, and the checker."""
        ranges = dict.fromkeys((int(n.min()), int(n.max())) for n in self.sizes)
        if len(ranges) > 2:
            ranges = {(min(low for low, _ in ranges), max(high for _, high in ranges)): None}
        number = " and ".join(
            f"{low}" if low == high else f"{low} to {high}" for low, high in ranges
        )
        samples = f"{number} {noun}" if number == "1" else f"{number} {noun}s"
        checked = f", checked with {self.checker}" if self.checker else ""
        return f"{number_of(len(self.sizes[0]), row)} with {samples} each{checked}"


def limits_in_words(
    scale: Scale,
    limits: tuple[float, float],
    interval: str,
    confidence: float,
    row: str = "question",
) -> str:
    """Return the limits of an interval with its name, its confidence and what it is for."""
    lo, hi = map(scale.number, limits)
    scope = INTERVAL_SCOPE[interval].replace("question", row)
    return f"{100 * confidence:g} % {INTERVAL_NAME[interval]} {lo} to {hi}, {scope}"


def interval_heading(confidence: float) -> str:
    return f"{100 * confidence:g} % CI"


def band_heading(confidence: float) -> str:
    return f"{100 * confidence:g} % band"


def p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def listed(runs: Sequence[str], number: int) -> str:
    """Return the names of some of a number of runs, or how many they are."""
    if len(runs) == number:
        return "every other run" if number > 1 else runs[0]
    if len(runs) > _MOST_NAMES:
        return f"{len(runs)} of the other {number} runs"
    return enumerated(runs)


def enumerated(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
