"""Limits for other questions like these, beside their formula written out with other tools."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.questions import QuestionIntervals, limits_of_product, means_of_questions
from at_k.core.score import Score, Scores, one_column_each
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import gamma, t
from scored import gpassk

shares = st.integers(0, 8).map(lambda eighths: Fraction(eighths, 8))


def jackknife(scores: list[Fraction], clusters: list[Any]) -> Fraction:
    """The variance of the mean, by leaving out each cluster and taking the mean again."""
    mean, labels = sum(scores) / Fraction(len(scores)), sorted(set(clusters))
    without = [
        [x for x, cluster in zip(scores, clusters, strict=True) if cluster != label]
        for label in labels
    ]
    squares = sum(((sum(rest) / Fraction(len(rest)) - mean) ** 2 for rest in without), Fraction(0))
    return Fraction(len(labels) - 1, len(labels)) * squares


def homogeneous(scores: list[Fraction], clusters: list[Any]) -> Fraction:
    """The variance of the mean if clusters of all sizes vary alike, by an analysis of variance."""
    mean, total = sum(scores) / Fraction(len(scores)), Fraction(len(scores))
    groups = [
        [x for x, cluster in zip(scores, clusters, strict=True) if cluster == label]
        for label in set(clusters)
    ]
    centers = [sum(group) / Fraction(len(group)) for group in groups]
    pairs = list(zip(groups, centers, strict=True))
    inside = sum((sum((x - center) ** 2 for x in group) for group, center in pairs), Fraction(0))
    within = inside / (total - len(groups)) if len(groups) < total else Fraction(0)
    between = sum(len(group) * (center - mean) ** 2 for group, center in pairs) / total
    effective = total**2 / sum(len(group) ** 2 for group in groups)
    of_clusters = (between - within * (len(groups) - 1) / total) / (1 - 1 / effective)
    return of_clusters / effective + within / total


def limits_by_formula(
    scores: list[Fraction], clusters: list[Any], confidence: float
) -> tuple[float, float]:
    """The limits of the mean of scores from 0 to 1, as the docstring of `questions` states them."""
    questions, alpha = len(scores), 1 - confidence
    u, v = sum(scores) / Fraction(questions), jackknife(scores, clusters)
    independent = jackknife(scores, [*range(questions)])
    sizes = Counter(clusters).values()
    effective = Fraction(questions**2, sum(size**2 for size in sizes))
    number = effective  # scores that do not vary do not show the effect of clusters
    if independent:
        number = max(effective, questions / max(Fraction(1), v / independent))
    z = t.isf(alpha / 2, max(1.0, float(effective) - 1))
    of_all = t.isf(alpha / 2, len(sizes) - 1)
    v = max(v, homogeneous(scores, clusters) * Fraction(of_all / z) ** 2)
    event = Fraction(1, 8) / number
    m = float(number * (u * (1 - u) + event) / (number * v + event))

    def excess(p: float) -> float:  # of a test of the proportion p
        return (p - float(u)) ** 2 - z**2 * p * (1 - p) / m

    middle = float((u + Fraction(z**2 / 2 / m)) / (1 + Fraction(z**2 / m)))
    lo = brentq(excess, 0.0, middle) if u > 0 else 0.0
    hi = brentq(excess, middle, 1.0) if u < 1 else 1.0

    def few(mean: Fraction) -> float:
        if not (v and 0 < mean * mean < 4 * v):
            return 1.0
        return float(v / mean) * gamma.ppf(alpha, float(mean * mean / v))

    r = (alpha / 2) ** (1 / len(sizes))
    lo = min(lo, few(u), float(u) * r)
    hi = max(hi, 1 - few(1 - u), 1 - float(1 - u) * r)
    return lo, hi


def method_of(scores: list[Fraction], clusters: list[Any] | None) -> QuestionIntervals:
    columns = np.array(scores, dtype=float)[:, None]
    table = Scores(one_column_each(["score"]), np.arange(len(scores)), columns)
    return QuestionIntervals(table, (0.0, 1.0), None if clusters is None else np.array(clusters))


def require_formula(scores: list[Fraction], clusters: list[Any] | None, confidence: float) -> None:
    found = method_of(scores, clusters).intervals(np.arange(len(scores)), confidence)["score"]
    own = [*range(len(scores))] if clusters is None else clusters
    expected = limits_by_formula(scores, own, confidence)
    assert [found.lo, found.hi] == pytest.approx(expected, abs=1e-9)
    assert found.sigma == pytest.approx(math.sqrt(jackknife(scores, own)), abs=1e-9)


@given(st.lists(shares, min_size=2, max_size=30), st.sampled_from([0.8, 0.95, 0.999]))
def test_limits_of_single_questions_are_those_of_the_formula(scores, confidence):
    require_formula(scores, None, confidence)


@given(st.lists(st.tuples(shares, st.integers(0, 4)), min_size=3, max_size=30))
def test_limits_of_clusters_are_those_of_the_formula(pairs):
    scores, clusters = map(list, zip(*pairs, strict=True))
    if len(set(clusters)) > 1:
        require_formula(scores, clusters, 0.95)


def test_counts_of_questions_stand_for_the_questions():
    rng = np.random.default_rng(2)
    columns, times = rng.random((6, 2)), rng.integers(1, 9, 6)
    counted = means_of_questions(columns, times)
    listed = means_of_questions(np.repeat(columns, times, axis=0))
    for a, b in zip(counted, listed, strict=True):
        assert a == pytest.approx(b, rel=1e-12)


def test_the_effective_number_of_unequal_clusters_is_said():
    rows = np.random.default_rng(1).integers(0, 2, (40, 4))
    unequal, equal = ["django"] * 29 + [*"abcdefghijk"], [f"c{i // 4}" for i in range(40)]
    options: dict[str, Any] = {"k": 1, "confidence": 0.95, "interval": "questions"}
    effective = 40**2 / (29**2 + 11)
    message = rf"The 12 clusters differ in size, so they count as {effective:.1f} of equal size"
    with pytest.warns(UserWarning, match=message):
        gpassk(rows, clusters=unequal, **options)
    with pytest.warns(UserWarning, match=message):
        at_k.compare(rows, 1 - rows, k=1, clusters=unequal)
    gpassk(rows, clusters=equal, **options)  # a warning would be an error


@pytest.mark.parametrize("accuracy", [60, 64])
@pytest.mark.parametrize("questions", [4, 12, 40])
def test_questions_that_are_alike_leave_room_for_a_kind_that_none_of_them_is_of(
    accuracy, questions
):
    """A share s of other questions is missed by M questions with the probability (1 - s)^M."""
    rows = [[1] * accuracy + [0] * (64 - accuracy)] * questions
    scores = gpassk(rows, k=1, include="pass@k", confidence=0.95, interval="questions")
    missed = 0.025 ** (1 / questions)
    assert scores["pass@1_lo"] <= missed * accuracy / 64 + 1e-12
    assert scores["pass@1_hi"] >= 1 - missed * (1 - accuracy / 64) - 1e-12


@pytest.mark.parametrize(("questions", "k"), [(3, 5), (5, 9), (11, 7), (24, 5)])
def test_rounding_of_a_largest_score_does_not_move_it_past_its_limit(questions, k):
    options: dict[str, Any] = {"confidence": 0.95, "interval": "questions"}
    scores = gpassk([[1] * k] * questions, k=k, include="mG-Pass@k", **options)
    assert scores[f"mG-Pass@{k}"] == scores[f"mG-Pass@{k}_hi"]


def test_a_confidence_close_to_1_has_limits():
    runs = [[0, 1], [1, 1], [0, 0]], [[1, 0], [1, 1], [0, 1]]
    result = at_k.compare(*runs, k=1, interval="questions", confidence=1 - 2**-53)
    assert -1 <= result["pass@1_lo"] <= result["pass@1"] <= result["pass@1_hi"] <= 1


@pytest.mark.parametrize("clusters", [None, [7, 7, 7, 7]])
def test_one_question_or_one_cluster_has_no_interval(clusters):
    method = method_of([Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(0)], clusters)
    problem = method.problem(np.arange(1 if clusters is None else 4))
    assert problem is not None
    assert "one cluster of questions" in problem
    assert "interval 'sampling'" in problem


# --- Products -----------------------------------------------------------------------------

GEOMETRIC_MEAN = Score((0, 1), (0.5, 0.5))


def covariance(r: float) -> np.ndarray:
    return np.array([[1.0, r], [r, 1.0]])


def test_factors_with_equal_errors_reach_their_limits_together():
    lo, u, hi = np.array([0.4, 0.1]), np.array([0.5, 0.2]), np.array([0.7, 0.6])
    found = limits_of_product(GEOMETRIC_MEAN, lo, u, hi, covariance(1.0))
    assert found == pytest.approx([math.sqrt(0.04), math.sqrt(0.42)])


@pytest.mark.parametrize("r", [0.0, 0.4, 0.9])
def test_limits_for_small_errors_are_those_of_the_delta_method(r):
    a, b, x, y = 0.5, 0.2, 1e-5, 3e-5
    lo, u, hi = np.array([a - x, b - y]), np.array([a, b]), np.array([a + x, b + y])
    found = limits_of_product(GEOMETRIC_MEAN, lo, u, hi, covariance(r))
    center = math.sqrt(a * b)
    margin = center / 2 * math.sqrt((x / a) ** 2 + (y / b) ** 2 + 2 * r * x / a * y / b)
    assert found == pytest.approx([center - margin, center + margin], abs=1e-3 * margin)


def test_factor_that_is_0_determines_the_upper_limit_of_the_product():
    lo, u, hi = np.array([0.8, 0.0]), np.array([0.9, 0.0]), np.array([0.96, 0.01])
    low, high = limits_of_product(GEOMETRIC_MEAN, lo, u, hi, covariance(0.0))
    assert low == 0
    assert math.sqrt(0.9 * 0.01) < high < math.sqrt(0.96 * 0.01) + 1e-12
