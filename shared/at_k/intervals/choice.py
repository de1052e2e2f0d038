"""The options of intervals, and the rule of `interval="auto"`.

`interval_options` checks the parameters of a metric once, before any sample is checked, and makes
one value of them. `method_of_auto` is the rule.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import (
    check_bounds,
    check_confidence,
    check_flag,
    check_name,
    check_prior,
    label_index,
)
from ..scores.score import ScoreKey
from .interval import Interval, IntervalMethod
from .questions import effective_clusters

INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def method_of_auto(has_prior: bool, has_clusters: bool, repeated: bool | None = None) -> str:
    """The rule of `interval="auto"`: the method that uses what was given and what the data show.

    A prior that is not uniform calls for the posterior, and clusters for other questions. Without
    them, the rule applies to all questions and to each group by itself:

    - If a question has two samples or more, the samples show how scores vary when the same
      questions are sampled again: `sampling`, which includes `hierarchical` for k > n.
    - If each question has one sample, only other questions show it: `questions` for k <= n.
    - Otherwise the data do not identify the variance: the interval is the whole range of the score,
      named "none: " and the reason (see `OneSampleIntervals`).

    Args:
        repeated: whether one of the questions has two samples or more; None if that is not known.

    Returns:
        The name of a method, or "auto" if it depends on `repeated`.
    """
    if has_prior:
        return "posterior"
    if has_clusters:
        return "questions"
    if repeated is None:
        return "auto"
    return "sampling" if repeated else "questions"


# --- Options ------------------------------------------------------------------------------


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are computed. The values have been checked.

    Args:
        confidence: of each interval, or None for no intervals.
        method: the name of the method; "auto" if it depends on the numbers of samples.
        is_named: whether the results name the method of each interval.
        clusters: (M,) cluster of each question, or None if each is its own.
        prior: Beta prior of the success rates, for the posterior.
        bounds: of the score.
        band: whether to add the simultaneous band of each score over k.
    """

    confidence: float | None = None
    method: str = "auto"
    is_named: bool = True
    clusters: np.ndarray | None = None
    prior: tuple[float, float] = (1.0, 1.0)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    band: bool = False

    @property
    def allow_above_n(self) -> bool:
        """Whether k may exceed the number of samples of a question."""
        return self.confidence is not None and self.method in ("hierarchical", "auto")


def interval_options(
    questions: int,
    confidence: float | None,
    interval: str | None,
    clusters,
    *,
    known: Sequence[str] = INTERVALS,
    default: str = "auto",
    alpha0: float = 1.0,
    beta0: float = 1.0,
    has_prior_outcomes: bool = False,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
) -> IntervalOptions:
    """Return the options of intervals from the parameters of a metric.

    Args:
        questions: M.
        known: the names that `interval` can have.
        default: what `interval` is if it is None.
        has_prior_outcomes: whether there are prior outcomes.

    Raises:
        ValueError: if a parameter is invalid, if two of them contradict each other, or if one has
            no use without another.
    """
    prior = check_prior(alpha0, beta0)
    limits = check_bounds(bounds)
    if interval is not None:
        check_name("interval", interval, known)
        if confidence is None:
            raise ValueError(
                f"interval is {interval!r} but confidence is None: give a confidence, such as 0.95."
            )
    requested = method = default if interval is None else interval
    prior_name = "R0" if has_prior_outcomes else None if prior == (1, 1) else "alpha0, beta0"
    if requested == "auto":
        method = method_of_auto(prior_name is not None, clusters is not None)
    if prior_name is not None:
        _check_prior_is_used(prior_name, requested, clusters)
    cluster_index = check_clusters(clusters, method, confidence, questions)
    if confidence is not None:
        confidence = check_confidence(confidence)
    if check_flag("band", band) and confidence is None:
        raise ValueError("band needs an interval: give a confidence, such as 0.95.")
    return IntervalOptions(
        confidence, method, requested == "auto", cluster_index, prior, limits, band
    )


def _check_prior_is_used(prior_name: str, interval: str, clusters) -> None:
    if interval not in ("posterior", "auto"):
        raise ValueError(
            f"only interval='posterior' uses {prior_name}, and interval is {interval!r}."
        )
    if interval == "auto" and clusters is not None:
        raise ValueError(
            f"interval='posterior' uses {prior_name}, and interval='questions' uses clusters: "
            f"leave out one of them."
        )


def check_clusters(
    clusters, interval: str, confidence: float | None, questions: int
) -> np.ndarray | None:
    """Return (M,) cluster labels as integers, or None if each question is its own cluster.

    Warns if few clusters have most of the questions.

    Raises:
        ValueError: if there are not M labels, or no interval that uses clusters.
    """
    if clusters is None:
        return None
    if confidence is None:
        raise ValueError(
            "clusters are given but confidence is None: give a confidence, such as 0.95."
        )
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    names, index = label_index(clusters, questions, "clusters")
    effective = effective_clusters(index, questions)
    if effective < len(names) / 2:
        warnings.warn(
            f"The {len(names)} clusters differ in size, so they count as {effective:.1f} of equal "
            f"size: the limits are as wide as for so few.",
            stacklevel=2,
        )
    return index


# --- Methods ------------------------------------------------------------------------------


class AutoIntervals(IntervalMethod):
    """For each group of questions, the method that its data allow: see `method_of_auto`.

    Args:
        n: (M,) samples.
        repeated: the method for groups in which a question has two samples or more.
        single: the method for groups in which each question has one sample.
    """

    def __init__(self, n: np.ndarray, repeated: IntervalMethod, single: IntervalMethod):
        self._n, self._repeated, self._single = n, repeated, single

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        methods = [self._method(questions) for questions in groups]
        repeated = [i for i, method in enumerate(methods) if method is self._repeated]
        intervals = self._repeated.for_groups([groups[i] for i in repeated], confidence)
        result = dict(zip(repeated, intervals, strict=True))
        for i, questions in enumerate(groups):
            if i not in result:
                (result[i],) = self._single.for_groups([questions], confidence)
        return [result[i] for i in range(len(groups))]

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        return self._method(questions).covariance(questions, keys)

    def _method(self, questions: np.ndarray) -> IntervalMethod:
        chosen = method_of_auto(False, False, repeated=bool(self._n[questions].max() > 1))
        return self._repeated if chosen == "sampling" else self._single


class JoinedIntervals(IntervalMethod):
    """A method for most scores of a metric, joined with another for some.

    Args:
        most: the method for most scores.
        some: the method for the others.
        keys: of the scores of `some`.
    """

    def __init__(self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]):
        self._most, self._some, self._keys = most, some, {*keys}

    def problem(self, questions: np.ndarray) -> str | None:
        return self._most.problem(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        method = self._some if self._keys >= {*keys} else self._most
        return method.covariance(questions, keys)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        most, some = (method.for_groups(groups, confidence) for method in (self._most, self._some))
        return [a | b for a, b in zip(most, some, strict=True)]
