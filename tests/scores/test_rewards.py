"""Bayes@N, avg@N and Max@k are exact: against subsets, fractions and many digits."""

import math
from fractions import Fraction

import at_k
import numpy as np
import pytest
from at_k.inputs.outcomes import read_outcomes
from at_k.scores.rewards import category_rewards, check_prior_outcomes, number_rewards
from exact import best_of, posterior_best_of
from hypothesis import given, settings
from hypothesis import strategies as st

rewards = st.lists(st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.5, 1.0, 3.0]), min_size=2, max_size=4)
numbers = st.floats(-100, 100, allow_subnormal=False)


def bank_of(categories: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, categories - 1), min_size=2, max_size=8)
    return st.lists(row, min_size=1, max_size=5)


def of_categories(bank, w, prior=None):
    outcomes = read_outcomes(bank)
    believed = check_prior_outcomes(prior, len(bank), len(w))
    return category_rewards(outcomes, np.array(w), believed)


@given(st.lists(st.lists(numbers, min_size=1, max_size=8), min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_the_best_of_real_rewards_is_the_mean_over_all_subsets(bank, data):
    k = data.draw(st.integers(1, min(map(len, bank))))
    values = number_rewards(read_outcomes(bank)).best(k)
    for row, value in zip(bank, values, strict=True):
        assert value == pytest.approx(float(best_of(row, k)), rel=1e-15, abs=1e-28)


@given(rewards, st.data())
@settings(deadline=None)
def test_the_best_of_categories_is_the_mean_over_all_subsets(w, data):
    bank = data.draw(bank_of(len(w)))
    k = data.draw(st.integers(1, min(map(len, bank))))
    found = of_categories(bank, w)
    for row, value in zip(bank, found.best(k)[found.kind], strict=True):
        wanted = float(best_of([w[x] for x in row], k))
        assert value == pytest.approx(wanted, rel=1e-15, abs=1e-30)  # where rewards cancel
    mean = sum((best_of([w[x] for x in row], k) for row in bank), Fraction(0)) / len(bank)
    assert at_k.max_at_k(bank, k, w) == pytest.approx(float(mean), rel=1e-14, abs=1e-15)


@given(rewards, st.data())
@settings(deadline=None, max_examples=40)
def test_posterior_moments_of_the_best_agree_with_many_digits(w, data):
    bank = data.draw(bank_of(len(w)))
    prior = [data.draw(st.lists(st.integers(0, len(w) - 1), min_size=2, max_size=2)) for _ in bank]
    k = data.draw(st.integers(1, 4))
    found = of_categories(bank, w, prior)
    mean, variance = found.posterior_best(k)
    for row, before, kind in zip(bank, prior, found.kind, strict=True):
        counts = 1 + np.bincount([*row, *before], minlength=len(w))
        wanted = posterior_best_of(counts.tolist(), w, k)
        assert mean[kind] == pytest.approx(float(wanted[0]), rel=1e-13, abs=1e-16)
        assert variance[kind] == pytest.approx(float(wanted[1]), rel=1e-12)


def test_a_variance_tiny_against_the_mean_keeps_its_digits():
    counts, w = [1, 1, 1_000_000], [0.0, 1.0, 1.5]
    bank = np.full((1, 999_999), 2, dtype=np.int8)
    mean, variance = of_categories(bank, w).posterior_best(3)
    wanted = posterior_best_of(counts, w, 3)
    assert wanted[1] / wanted[0] ** 2 < 1e-30
    assert mean[0] == pytest.approx(float(wanted[0]), rel=1e-15)
    assert variance[0] == pytest.approx(float(wanted[1]), rel=1e-12)


@given(rewards, st.data())
@settings(deadline=None)
def test_the_best_of_one_is_bayes_and_avg(w, data):
    bank = data.draw(bank_of(len(w)))
    assert at_k.max_at_k_ci(bank, 1, w) == pytest.approx(at_k.bayes_ci(bank, w), rel=1e-14)
    assert at_k.max_at_k(bank, 1, w) == pytest.approx(at_k.avg(bank, w)[0], rel=1e-14, abs=1e-15)


@given(bank_of(2), st.integers(1, 30))
@settings(deadline=None)
def test_of_two_categories_the_best_is_pass_at_k(bank, k):
    best, passed = at_k.max_at_k_ci(bank, k), at_k.pass_at_k_ci(bank, k, bounds=None)
    assert best[:2] == pytest.approx(passed[:2], rel=1e-13)
    if k <= min(map(len, bank)):
        assert at_k.max_at_k(bank, k) == pytest.approx(at_k.pass_at_k(bank, k), rel=1e-15)


@given(rewards, st.data())
@settings(deadline=None)
def test_the_variance_of_bayes_is_that_of_the_formula(w, data):
    bank = data.draw(bank_of(len(w)))
    variance = Fraction(0)
    for row in bank:
        counts = [1 + row.count(category) for category in range(len(w))]
        total = sum(counts)
        shares = [Fraction(count, total) for count in counts]
        mean = sum(p * Fraction(x) for p, x in zip(shares, w, strict=True))
        square = sum(p * (Fraction(x) - mean) ** 2 for p, x in zip(shares, w, strict=True))
        variance += square / (total + 1)
    sigma = at_k.bayes(bank, w)[1]
    assert sigma == pytest.approx(math.sqrt(variance) / len(bank), rel=1e-14)


@given(rewards, st.data())
@settings(deadline=None)
def test_a_ragged_bank_is_the_mean_of_its_questions(w, data):
    bank = data.draw(bank_of(len(w)))
    for score in (at_k.bayes, at_k.avg, lambda R, w: at_k.max_at_k_ci(R, 3, w)):
        alone = [score([row], w) for row in bank]
        together = score(bank, w)
        assert together[0] == pytest.approx(np.mean([each[0] for each in alone]), abs=1e-14)
        sigma = math.hypot(*(each[1] for each in alone)) / len(bank)
        assert together[1] == pytest.approx(sigma, rel=1e-13)


def test_prior_outcomes_are_samples_seen_before():
    """But for the plain average, which they do not enter."""
    bank, before, w = [[0, 1, 2], [2, 2, 1]], [[0, 2], [1, 1]], [0.0, 0.5, 1.0]
    joined = [row + seen for row, seen in zip(bank, before, strict=True)]
    assert at_k.bayes(bank, w, before) == at_k.bayes(joined, w)
    assert at_k.max_at_k_ci(bank, 2, w, before) == at_k.max_at_k_ci(joined, 2, w)
    assert at_k.bayes(bank, w, np.zeros((2, 0), dtype=int)) == at_k.bayes(bank, w)


def test_an_interval_of_the_best_ends_at_the_rewards():
    *_, lo, hi = at_k.max_at_k_ci([[2, 2]], 2, [-1.0, 0.0, 5.0])
    assert -1 <= lo < hi == 5
    assert at_k.max_at_k_ci([[2, 2]], 2, [-1.0, 0.0, 5.0], bounds=(0.0, 9.0))[3] > 5


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
        (([[0, 1]], None, [[0], [1]]), "R0 has 2 rows, .* give M = 1 rows"),
        (([[0, 1], [1]], None, [[0], [1, 1]]), r"R0 has 2 rows, of \[1, 2\] outcomes"),
        (([[0, 1]], None, [[2]]), r"R0\[0\]\[0\] is 2"),
    ],
)
def test_wrong_categories_rewards_and_priors_are_refused(arguments, message):
    for score in (at_k.bayes, at_k.bayes_ci):
        with pytest.raises(ValueError, match=message):
            score(*arguments)
