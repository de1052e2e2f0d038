"""Bayes@N, avg@N and max@k are exact: against subsets, fractions and 200-digit floats."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.rewards import (
    Rewards,
    category_rewards,
    check_prior_outcomes,
    has_real_rewards,
    real_rewards,
)
from at_k.core.samples import read_outcomes
from at_k.scores.rewards import posterior_max
from exact import (
    posterior_moments_of_maximum,
    posterior_moments_of_mean,
    subset_mean_of_maximum,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import bayes_at_n, max_at_k
from scorio import eval as scorio

rewards_of_categories = st.lists(
    st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.5, 1.0, 3.0]), min_size=2, max_size=4
)
numbers = st.floats(-100, 100, allow_subnormal=False)


def outcomes_of(categories: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, categories - 1), min_size=2, max_size=8)
    return st.lists(row, min_size=1, max_size=5)


def read_categories(R, w, R0=None) -> Rewards:
    prior = check_prior_outcomes(R0, len(R), len(w))
    return category_rewards(read_outcomes(R), np.array(w), prior)


@pytest.mark.parametrize(
    ("R", "expected"),
    [
        ([[0, 1, 2]], False),
        ([[True, False]], False),
        ([[0.0, 1.0], [1.0, None]], False),
        (np.array([[0, 1]], dtype=np.float16), False),
        ([[0, 1], [0.5, 1]], True),
        ([[2.0, 1.0]], True),
        (np.array([[-1, 1]], dtype=np.float32), True),
    ],
)
def test_real_rewards_are_floats_other_than_0_and_1(R, expected):
    assert has_real_rewards(read_outcomes(R)) is expected


# --- Point estimates --------------------------------------------------------------------


@given(st.lists(st.lists(numbers, min_size=1, max_size=8), min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_max_at_k_of_real_rewards_is_the_mean_over_all_subsets(R, data):
    k = data.draw(st.integers(1, min(map(len, R))))
    values = real_rewards(read_outcomes(R)).max_of(k)
    for row, value in zip(R, values, strict=True):
        expected = float(subset_mean_of_maximum(row, k))
        largest = max(map(abs, row))  # rewards may cancel
        assert value == pytest.approx(expected, rel=1e-15, abs=1e-15 * largest)


@given(rewards_of_categories, st.data())
@settings(deadline=None)
def test_max_at_k_of_categories_is_the_mean_over_all_subsets(w, data):
    R = data.draw(outcomes_of(len(w)))
    k = data.draw(st.integers(1, min(map(len, R))))
    rewards = read_categories(R, w)
    exact = [subset_mean_of_maximum([w[x] for x in row], k) for row in R]
    for expected, value in zip(exact, rewards.max_of(k)[rewards.inverse], strict=True):
        largest = max(map(abs, w))  # rewards may cancel
        assert value == pytest.approx(float(expected), rel=1e-15, abs=1e-15 * largest)
    mean = sum(exact, Fraction(0)) / len(R)
    assert at_k.max_at_k(R, k, w) == pytest.approx(float(mean), rel=1e-14, abs=1e-15)


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_max_at_k_of_thousands_of_samples_agrees_with_exact_fractions(data):
    n, w = data.draw(st.integers(129, 10_000)), [0.0, 0.3, 1.0]
    first, second = sorted(data.draw(st.integers(0, n)) for _ in range(2))
    k = data.draw(st.one_of(st.integers(1, 20), st.integers(1, n)))
    at_most = [Fraction(math.comb(m, k), math.comb(n, k)) for m in (first, second, n)]
    expected = w[1] * float(at_most[1] - at_most[0]) + w[2] * float(1 - at_most[1])
    table = at_k.Counts([[first, second - first, n - second]])
    assert at_k.max_at_k(table, k, w=w) == pytest.approx(expected, rel=1e-13)
    ranked = np.repeat(w, [first, second - first, n - second])
    assert real_rewards(read_outcomes([ranked])).max_of(k)[0] == pytest.approx(expected, rel=1e-13)


# --- Posterior moments ------------------------------------------------------------------


@given(rewards_of_categories, st.data())
@settings(deadline=None, max_examples=40)
def test_posterior_moments_of_the_maximum_agree_with_exact_fractions(w, data):
    R = data.draw(outcomes_of(len(w)))
    R0 = [data.draw(st.lists(st.integers(0, len(w) - 1), min_size=2, max_size=2)) for _ in R]
    k = data.draw(st.integers(1, 4))
    rewards = read_categories(R, w, R0)
    mean, variance = posterior_max(rewards, k)
    for row, prior, index in zip(R, R0, rewards.inverse, strict=True):
        counts = 1 + np.bincount([*row, *prior], minlength=len(w))
        exact_mean, exact_variance = posterior_moments_of_maximum(counts.tolist(), w, k)
        assert mean[index] == pytest.approx(float(exact_mean), rel=1e-13, abs=1e-16)
        assert variance[index] == pytest.approx(float(exact_variance), rel=1e-12)


def test_a_variance_far_below_the_squared_mean_is_accurate():
    counts, w = [1, 1, 1_000_000], [0.0, 1.0, 1.5]
    R = np.full((1, 999_999), 2, dtype=np.int8)
    mean, variance = posterior_max(read_categories(R, w), 3)
    exact_mean, exact_variance = posterior_moments_of_maximum(counts, w, 3)
    assert exact_variance / exact_mean**2 < 1e-30
    assert mean[0] == pytest.approx(float(exact_mean), rel=1e-15)
    assert variance[0] == pytest.approx(float(exact_variance), rel=1e-12)


@given(rewards_of_categories, st.data())
@settings(deadline=None)
def test_the_variance_of_bayes_agrees_with_its_formula(w, data):
    R = data.draw(outcomes_of(len(w)))
    counts = [[1 + row.count(category) for category in range(len(w))] for row in R]
    variance = sum(posterior_moments_of_mean(x, w)[1] for x in counts)
    assert at_k.bayes(R, w)[1] == pytest.approx(math.sqrt(variance) / len(R), rel=1e-14)


def test_prior_outcomes_have_the_effect_of_further_samples():
    """The function avg has no parameter R0."""
    R, R0, w = [[0, 1, 2], [2, 2, 1]], [[0, 2], [1, 1]], [0.0, 0.5, 1.0]
    joined = [row + prior for row, prior in zip(R, R0, strict=True)]
    assert at_k.bayes(R, w, R0) == at_k.bayes(joined, w)
    assert at_k.max_at_k_ci(R, 2, w, R0) == at_k.max_at_k_ci(joined, 2, w)
    assert at_k.bayes(R, w, np.zeros((2, 0), dtype=int)) == at_k.bayes(R, w)


def test_the_limits_of_max_at_k_are_clipped_to_the_rewards_by_default():
    *_, lo, hi = at_k.max_at_k_ci([[2, 2]], 2, [-1.0, 0.0, 5.0])
    assert -1 <= lo < hi == 5
    assert at_k.max_at_k_ci([[2, 2]], 2, [-1.0, 0.0, 5.0], bounds=(0.0, 9.0))[3] > 5


# --- Invalid inputs ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 2]],), r"R\[0\]\[1\] is 2: there are rewards for the categories 0 to 1"),
        (([[0, 3]], [0, 1, 2]), r"R\[0\]\[1\] is 3: there are rewards for the categories 0 to 2"),
        (([[0, -1]], [0, 1, 2]), r"R\[0\]\[1\] is -1: an outcome is a category"),
        (([[0, 0.5]], [0, 1, 2]), r"R\[0\]\[1\] is 0.5: an outcome is a category"),
        (([[0, 1]], [0, math.nan]), r"w\[1\] is nan: a reward is a number"),
        (([[0, 1]], [0, "a"]), r"w\[1\] is 'a'"),
        (([[0, 1]], []), "w is empty"),
        (([[0, 1]], None, [[0], [1]]), "R0 has 2 rows .* give 1 rows of one length"),
        (([[0, 1], [1]], None, [[0], [1, 1]]), r"R0 has 2 rows with \[1, 2\] outcomes"),
        (([[0, 1]], None, [[2]]), r"R0\[0\]\[0\] is 2"),
    ],
)
def test_invalid_categories_rewards_and_priors_raise_an_error(arguments, message):
    for score in (at_k.bayes, at_k.bayes_ci):
        with pytest.raises(ValueError, match=message):
            score(*arguments)


# --- Prior outcomes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "R0", [[1, 0, 1, 1], (1, 0, 1, 1), np.array([1, 0, 1, 1]), np.array([[1, 0], [1, 1]])]
)
def test_flat_prior_outcomes_are_rows_of_equal_length(R0):
    R, expected = [[0, 1, 1], [1, 0, 0]], [[1, 0], [1, 1]]
    assert at_k.bayes(R, None, R0) == at_k.bayes(R, None, expected)
    assert at_k.bayes(R, None, R0) == pytest.approx(scorio.bayes(np.array(R), R0=np.array(R0)))
    assert at_k.bayes(R, None, (row for row in R0)) == at_k.bayes(R, None, expected)
    assert at_k.max_at_k_ci(R, 2, R0=R0) == at_k.max_at_k_ci(R, 2, R0=expected)
    for name, options in (("bayes_at_n", {}), ("max_at_k", {"k": 2})):
        compute = partial(at_k.load(name).compute, predictions=R, interval="posterior", **options)
        assert compute(R0=R0, confidence=0.9) == compute(R0=expected, confidence=0.9)


def test_no_prior_outcomes_may_be_given_as_empty_rows():
    R = [[0, 1, 1], [1, 0, 0]]
    forms: list[Any] = [[], [[], []], np.empty((2, 0)), np.empty(0)]
    for R0 in forms:
        assert at_k.bayes(R, None, R0) == at_k.bayes(R)


@pytest.mark.parametrize(
    "R0",
    [1, "11", ["banana", None], [None, None], [1, 1, 0], [[1, 1]], [[1], [None]], [[1], 1], {}],
)
def test_other_prior_outcomes_raise_an_error(R0):
    with pytest.raises(ValueError, match="R0"):
        at_k.bayes([[0, 1, 1], [1, 0, 0]], None, R0)
    with pytest.raises(ValueError, match="R0"):
        bayes_at_n([[0, 1, 1], [1, 0, 0]], R0=R0)


# --- Real rewards -------------------------------------------------------------------------


def test_functions_and_metrics_agree_on_real_rewards():
    rewards = [[0.25, 1.0, -0.5, 0.75], [2.0, 1.5, 2.5, 0.0]]
    for k in (1, 2, 4):
        found = max_at_k(rewards, k=k, confidence=0.9)
        key = f"max@{k}"
        assert at_k.max_at_k(rewards, k) == found[key]
        summary = [found[f"{key}_{field}"] for field in ("mu", "sigma", "lo", "hi")]
        assert at_k.max_at_k_ci(rewards, k, confidence=0.9) == pytest.approx(summary)
    assert at_k.bayes(rewards) == at_k.avg(rewards) == at_k.bayes_ci(rewards)[:2]
    assert at_k.avg(rewards)[0] == pytest.approx(np.mean(rewards))
    assert at_k.avg_ci(rewards, confidence=0.9) == at_k.max_at_k_ci(rewards, 1, confidence=0.9)


@given(rewards_of_categories, st.data())
@settings(deadline=None)
def test_max_at_1_is_bayes_and_avg(w, data):
    R = data.draw(outcomes_of(len(w)))
    assert at_k.max_at_k_ci(R, 1, w) == pytest.approx(at_k.bayes_ci(R, w), rel=1e-14)
    assert at_k.max_at_k(R, 1, w) == pytest.approx(at_k.avg(R, w)[0], rel=1e-14, abs=1e-15)


def test_floats_that_are_0_or_1_are_categories():
    R = [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    assert at_k.bayes(R) == at_k.bayes([[0, 1, 1], [0, 0, 1]])
