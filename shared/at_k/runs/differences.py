"""The difference of two runs on the same questions, with intervals and a band over k.

Let A and B be the scores of the runs, with the intervals A - x_lo .. A + x_hi and
B - y_lo .. B + y_hi of `sampling`. The interval of B - A extends upwards by

    sqrt(y_hi^2 + x_lo^2 - 2 r y_hi x_lo),

and downwards by the same expression of y_lo and x_hi. This is the variance of a difference, applied
to the limits that bound it, so the interval is skewed as they are and stays within -1 to 1
(Newcombe 1998, Statistics in Medicine 17, 873 and 2635; Zou & Donner 2008, ibid. 27, 1693). New
samples of the same questions are independent, so r = 0. For new questions, r is the correlation of
the scores over questions, or over clusters of questions: a question may be hard for both runs.

A simultaneous band covers the differences at all k together, see `intervals.band`.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..checks import as_list, check_confidence, check_k, check_names
from ..inputs.counts import BinaryCounts
from ..intervals.band import simultaneous_confidence
from ..intervals.clusters import cluster_deviations
from ..intervals.interval import Interval
from ..intervals.options import check_clusters
from ..intervals.sampling import SamplingIntervals
from ..scores.binary_family import BinaryFamily
from ..scores.credits import ScoreOptions, check_tau, scores_by_name
from ..scores.pass_family import Estimate, estimator
from ..scores.score import Score

_COMPARED = ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")


def check_comparison(
    n: np.ndarray,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> tuple[dict[str, Score], np.ndarray | None]:
    """The score at each k, ascending, and (M,) cluster labels or None.

    Args:
        n: (M,) samples of each question, in the run that has fewer of them.
    """
    check_names("metric", [metric], _COMPARED)
    check_names("interval", [interval], ("sampling", "questions"))
    labels = check_clusters(clusters, interval, confidence, len(n))
    check_confidence(confidence)
    ks = range(1, n.min() + 1) if k is None else {check_k(x, n) for x in as_list("k", k)}
    return scores_by_name([metric], sorted(ks), ScoreOptions(thresholds=[check_tau(tau)])), labels


def compare_counts(
    a: BinaryCounts,
    b: BinaryCounts,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> dict[str, float]:
    """`at_k.compare` from the counts of two runs."""
    if len(a.n) != len(b.n):
        raise ValueError(
            f"The first run has {len(a.n)} questions and the second {len(b.n)}: give the same "
            f"questions in both."
        )
    scores, labels = check_comparison(
        np.minimum(a.n, b.n), metric, k, interval, confidence, tau, clusters
    )
    keys, estimate = estimator(scores)
    estimate = _tabulated(estimate, len(keys))
    new_questions = interval == "questions"
    families = [BinaryFamily(counts, keys, estimate, {}) for counts in (a, b)]
    methods = [SamplingIntervals(family, new_questions, labels) for family in families]
    for method in methods:
        if problem := method.problem(np.arange(len(a.n))):
            raise ValueError(f"{problem[0].upper()}{problem[1:]}.")
    fits = [family.fit(family.multiplicity[None]) for family in families]
    of_samples = sum(
        family.covariance_of_samples(fit) for family, fit in zip(families, fits, strict=True)
    )
    if new_questions:
        deviations_a, deviations_b = (
            cluster_deviations(family.columns[family.inverse], labels) for family in families
        )
        shown = min(a.n.max(), b.n.max()) > 1
        least = len(a.n) * np.diag(of_samples) if shown else 2.0
        correlation = _correlation(deviations_a, deviations_b, least)
        errors = deviations_b - deviations_a
        covariance = errors.T @ errors
    else:
        correlation, covariance = np.zeros(len(keys)), of_samples
    simultaneous = simultaneous_confidence(covariance, confidence)
    models = [
        method.model(fit, None if labels is None else [(family.inverse, labels)])
        for method, family, fit in zip(methods, families, fits, strict=True)
    ]
    at_each_k = [m.limits(model, confidence) for m, model in zip(methods, models, strict=True)]
    at_all_k = [m.limits(model, simultaneous) for m, model in zip(methods, models, strict=True)]
    result: dict[str, float] = {}
    for key, r in zip(keys, correlation.tolist(), strict=True):
        one_a, one_b = (intervals[key].of_part(0) for intervals in at_each_k)
        lo, hi = _limits_of_difference(one_a, one_b, r)
        band_a, band_b = (intervals[key].of_part(0) for intervals in at_all_k)
        band_lo, band_hi = _limits_of_difference(band_a, band_b, r)
        result |= {
            key: one_b.mu - one_a.mu,
            f"{key}_a": one_a.mu,
            f"{key}_b": one_b.mu,
            f"{key}_lo": lo,
            f"{key}_hi": hi,
            f"{key}_band_lo": band_lo,
            f"{key}_band_hi": band_hi,
        }
    return result


def _tabulated(estimate: Estimate, columns: int) -> Estimate:
    """The same function, with one table for each n: all k of hundreds of samples take seconds."""

    @cache
    def table(n: int) -> np.ndarray:
        return estimate(np.full(n + 1, n), np.arange(n + 1))

    def look_up(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        result = np.empty((len(n), columns))
        for size in np.unique(n).tolist():
            result[n == size] = table(size)[c[n == size]]
        return result

    return look_up


def _limits_of_difference(a: Interval, b: Interval, r: float) -> tuple[float, float]:
    """The limits of b - a, whose scores have the correlation r."""
    difference = b.mu - a.mu
    down = _length(b.mu - b.lo, a.hi - a.mu, r)
    up = _length(b.hi - b.mu, a.mu - a.lo, r)
    return difference - down, difference + up


def _length(x: float, y: float, r: float) -> float:
    return math.sqrt(max(0.0, x * x + y * y - 2 * r * x * y))


def _correlation(a: np.ndarray, b: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """(m,) correlations of the scores of two runs over questions or clusters.

    A correlation is limited so that the difference varies at least as much as it does for new
    samples of the same questions.

    Args:
        a, b: (G, m) deviations.
        least: the smallest sum of squares of b - a, (m,). If each question has one sample, its
            variation is not observed; 2 then stands for one question that only a answers and one
            that only b does.
    """
    square_a, square_b = np.sum(a * a, axis=0), np.sum(b * b, axis=0)
    most = np.maximum(square_a + square_b - least, 0.0) / 2
    size = np.sqrt(square_a * square_b)
    return np.minimum(np.sum(a * b, axis=0), most) / np.where(size > 0, size, 1.0)
