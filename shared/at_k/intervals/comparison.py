"""Two banks of samples of the same questions: by how much the second is ahead, and at which k.

Let A and B be the scores of the banks, and A -+ (x_lo, x_hi), B -+ (y_lo, y_hi) their intervals by
`sampling`. The interval of B - A reaches up by

    sqrt(y_hi^2 + x_lo^2 - 2 r y_hi x_lo),

and down by the same of y_lo and x_hi: what the first-order law of variances says of a difference,
at the ends that bound it, so that it is skewed as they are and stays from -1 to 1 (Newcombe 1998,
Statistics in Medicine 17, 873 and 2635; Zou & Donner 2008, ibid. 27, 1693). New samples of these
questions are independent: r = 0. The scores of new questions go together as far as a question is
easy or hard for both: r is their correlation over questions, or over sources of questions.

*A band* holds at all k at once. The errors at k = 1, 2, .. over their standard deviations are
Z_1, Z_2, .., normal with unit variance and correlations r_1, r_2, .. from each to the next. As unit
vectors they are the corners of a path on the sphere, of length L = sum of arccos |r_i|, and by the
volume of the tube around it

    P(max |Z_k| > c) <= 2 (1 - Phi(c)) + L / pi x exp(-c^2 / 2)

(Naiman 1986, Annals of Statistics 14, 896), at most 2 (1 - Phi(c)) for each of them (Bonferroni).
So the band is made of intervals of a higher confidence, the one that reaches this c; and nothing
in it is random, as a bootstrap is.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from ..checks import as_list, check_confidence, check_k, check_names
from ..inputs.outcomes import Counts
from ..report import check_interval
from ..scores.credits import Credits, Options, Score, named
from ..scores.distributions import estimator
from .interval import Interval
from .sampling import PRIOR, Estimate, Sampling, binomial, learn

_COMPARED = ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")


def check_asked(
    n: np.ndarray,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> tuple[dict[str, Score | Credits], np.ndarray | None]:
    """The score for each k, ascending; and the source of each question, if some share one.

    Args:
        n: (M,) how many samples of each question there are, in the bank that has fewer.
    """
    check_names("metric", [metric], _COMPARED)
    sources = check_interval(interval, clusters, len(n), ("sampling", "questions"))
    check_confidence(confidence)
    draws = range(1, n.min() + 1) if k is None else {check_k(x, n) for x in as_list("k", k)}
    return named([metric], sorted(draws), Options(thresholds=[tau])), sources


def compare_counts(
    a: Counts,
    b: Counts,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> dict[str, float]:
    """`at_k.compare`, of the counts of the banks."""
    if len(a.n) != len(b.n):
        raise ValueError(
            f"One bank has {len(a.n)} questions and the other {len(b.n)}: give both the same."
        )
    scores, sources = check_asked(
        np.minimum(a.n, b.n), metric, k, interval, confidence, tau, clusters
    )
    keys, estimate = estimator(scores)
    estimate = _tabled(estimate, len(keys))
    new = interval == "questions"
    banks = [Sampling(counts, keys, estimate, new, sources) for counts in (a, b)]
    of_samples = _of_samples(a, estimate) + _of_samples(b, estimate)
    if new:
        rest_a, rest_b = (_by_source(estimate(*each.kinds)[each.kind], sources) for each in (a, b))
        known = min(a.n.max(), b.n.max()) > 1
        correlation = _correlation(rest_a, rest_b, len(a.n) * np.diag(of_samples) if known else 2.0)
        errors = rest_b - rest_a
        covariance = errors.T @ errors
    else:
        correlation, covariance = np.zeros(len(keys)), of_samples
    rows, together = np.arange(len(a.n)), at_once(covariance, confidence)
    single_a, single_b = (bank.intervals(rows, confidence) for bank in banks)
    band_a, band_b = (bank.intervals(rows, together) for bank in banks)
    result: dict[str, float] = {}
    for key, r in zip(keys, correlation.tolist(), strict=True):
        lo, hi = _joined(single_a[key], single_b[key], r)
        band_lo, band_hi = _joined(band_a[key], band_b[key], r)
        score_a, score_b = single_a[key].mu, single_b[key].mu
        result |= {
            key: score_b - score_a,
            f"{key}_a": score_a,
            f"{key}_b": score_b,
            f"{key}_lo": lo,
            f"{key}_hi": hi,
            f"{key}_band_lo": band_lo,
            f"{key}_band_hi": band_hi,
        }
    return result


def _tabled(estimate: Estimate, columns: int) -> Estimate:
    """The same, each (n, c) estimated once: all k of hundreds of samples take seconds."""

    @cache
    def table(n: int) -> np.ndarray:
        return estimate(np.full(n + 1, n), np.arange(n + 1))

    def look_up(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        result = np.empty((len(n), columns))
        for size in np.unique(n).tolist():
            result[n == size] = table(size)[c[n == size]]
        return result

    return look_up


def _joined(a: Interval, b: Interval, r: float) -> tuple[float, float]:
    """The ends for b - a, whose scores have the correlation r."""
    difference = b.mu - a.mu
    down = _length(b.mu - b.lo, a.hi - a.mu, r)
    up = _length(b.hi - b.mu, a.mu - a.lo, r)
    return difference - down, difference + up


def _length(x: float, y: float, r: float) -> float:
    return math.sqrt(max(0.0, x * x + y * y - 2 * r * x * y))


# --- New questions ----------------------------------------------------------------------


def _by_source(columns: np.ndarray, sources: np.ndarray | None) -> np.ndarray:
    """(G, m) what the questions of each source add to the deviation from the mean, of (M, m)."""
    rest = columns - columns.mean(axis=0)
    if sources is None:
        return rest
    _, source = np.unique(sources, return_inverse=True)
    return np.array([np.bincount(source, column) for column in rest.T]).T


def _correlation(a: np.ndarray, b: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """(m,) of the scores of two banks, by (G, m) deviations.

    Not so high that their difference varied less than it does for new samples of the same
    questions: `least` is the sum of squares of this, (m,). Where single samples do not show it,
    there is at least one question that only a got right, and one that only b did.
    """
    square_a, square_b = np.sum(a * a, axis=0), np.sum(b * b, axis=0)
    most = np.maximum(square_a + square_b - least, 0.0) / 2
    size = np.sqrt(square_a * square_b)
    return np.minimum(np.sum(a * b, axis=0), most) / np.where(size > 0, size, 1.0)


# --- The band -----------------------------------------------------------------------------


def _of_samples(counts: Counts, estimate: Estimate) -> np.ndarray:
    """(m, m) the mean covariance of the columns of a question, for new samples of it."""
    result = 0.0
    for n, prior in learn(counts).items():
        c = np.arange(n + 1)
        law, h = binomial(np.full(n + 1, n), c)[:, PRIOR], estimate(np.full(n + 1, n), c)
        mean = law.T @ h
        result = result + (h.T * (law @ prior)) @ h - (mean.T * prior) @ mean
    return np.asarray(result)


def at_once(covariance: np.ndarray, confidence: float) -> float:
    """The confidence of m intervals each, so that all of them hold at once with this one.

    Args:
        covariance: (m, m) of their errors, but for a factor.
    """
    variance, next_to = np.diag(covariance), np.diag(covariance, 1)
    size = np.sqrt(np.maximum(variance[:-1] * variance[1:], 0.0))
    # What never varied is taken to be unrelated, the worst that it can be.
    r = np.abs(next_to) / np.where(size > 0, size, np.inf)
    length = float(np.sum(np.arccos(np.minimum(r, 1.0))))
    miss, normal = 1 - confidence, NormalDist()

    def tube(c: float) -> float:
        return 2 * normal.cdf(-c) + length / math.pi * math.exp(-c * c / 2)

    least, most = (-normal.inv_cdf(miss / 2 / each) for each in (1, len(variance)))
    for _ in range(50):
        c = (least + most) / 2
        least, most = (c, most) if tube(c) > miss else (least, c)
    return min(max(confidence, 1 - 2 * normal.cdf(-most)), math.nextafter(1.0, 0.0))
