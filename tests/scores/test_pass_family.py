"""Expected credits, pmfs and covariances are exact: against fractions and 200-digit floats."""

import itertools
import math
from fractions import Fraction

import at_k
import numpy as np
import pytest
from at_k.core.credits import (
    PASS_FAMILY,
    Credits,
    above_half,
    all_correct,
    any_correct,
    area_under_pass,
    at_least,
    majority,
    spectrum,
    threshold,
)
from at_k.core.expected import expected_credits
from at_k.core.score import Score
from at_k.scores.distributions import Prior, credit_covariances, posterior_means
from exact import (
    Values,
    hypergeometric_mean,
    posterior_covariance,
    posterior_mean,
    values_by_definition,
    values_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import gpassk


def values_of_run(
    n: np.ndarray, c: np.ndarray, credits: list[Credits], prior: Prior | None
) -> np.ndarray:
    """Return unbiased estimates, or posterior means if there is a prior."""
    if prior is None:
        return expected_credits(n, c, credits)
    return posterior_means(n, c, credits, prior)


def scores(
    n: int, correct: list[int], credits: list[Credits], prior: Prior | None = None
) -> np.ndarray:
    """Return the values of questions that all have n samples."""
    return values_of_run(np.full(len(correct), n), np.array(correct), credits, prior)


def variance(n: np.ndarray, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    return credit_covariances(n, c, [(credit, credit)], prior)[:, 0]


def credits_by_name(k: int, tau: float) -> dict[str, Credits]:
    return {
        "pass@k": any_correct(k),
        "pass^k": all_correct(k),
        "G-Pass@k": threshold(k, tau),
        "maj@k": majority(k),
        "AUC@k": area_under_pass(k),
        "mG-Pass@k": above_half(k),
    }


def posterior_moments(n: int, c: int, prior: Prior, values: Values) -> tuple[Fraction, Fraction]:
    return posterior_mean(n, c, prior, values), posterior_covariance(n, c, prior, values, values)


def relative_error(value: float, exact: Fraction) -> float:
    if exact < Fraction(1, 10**300):  # below this, doubles have fewer digits
        return 0.0 if 0 <= value < 1.01e-300 and (value == 0 or exact > 0) else math.inf
    return float(abs(Fraction(value) - exact) / exact)


def largest_error(n: int, k: int, tau: Fraction, correct: list[int]) -> float:
    """Return the largest relative error over all scores and numbers of correct samples."""
    credits = credits_by_name(k, float(tau))
    values = scores(n, correct, list(credits.values()))
    exact = values_by_definition(k, tau)
    return max(
        relative_error(values[row, column], hypergeometric_mean(n, c, exact[name]))
        for row, c in enumerate(correct)
        for column, name in enumerate(credits)
    )


# --- Unbiased estimates -----------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 21))
def test_all_scores_of_up_to_20_samples_agree_with_exact_fractions(n):
    for k in range(1, n + 1):
        for tau in {Fraction(t, 8) for t in range(9)} | {Fraction(j, k) for j in range(k + 1)}:
            assert largest_error(n, k, tau, list(range(n + 1))) < 4e-16


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_scores_of_up_to_128_samples_agree_to_1e_15(data):
    n = data.draw(st.integers(21, 128))
    k = data.draw(st.integers(1, n))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    correct = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=4))
    assert largest_error(n, k, tau, correct) < 1e-15


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_scores_of_up_to_10000_samples_agree_to_1e_13_even_in_far_tails(data):
    n = data.draw(st.integers(129, 10_000))
    k = data.draw(st.one_of(st.integers(1, min(n, 60)), st.integers(1, min(n, 1500))))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    correct = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=2))
    assert largest_error(n, k, tau, correct) < 1e-13


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_pass_at_k_alone_agrees_to_1e_13_for_many_questions_with_the_same_n(data):
    n = data.draw(st.integers(129, 10_000))
    k = data.draw(st.one_of(st.integers(1, 3), st.integers(1, n)))
    values = scores(n, list(range(n + 1)), [any_correct(k)])[:, 0]  # by sums of chances of ranks
    for c in [*data.draw(st.lists(st.integers(0, n), min_size=1, max_size=4)), 0, 1, n]:
        expected = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
        assert relative_error(values[c], expected) < 1e-13


def test_scores_of_a_million_samples_are_finite_and_accurate():
    n, k = 1_000_000, 500
    for c in (1, 3, 2_000, 500_000, n - 1, n):
        values = scores(n, [c], [any_correct(k), all_correct(k)])[0]
        none_correct = Fraction(math.comb(n - c, k), math.comb(n, k))
        every_correct = Fraction(math.comb(c, k), math.comb(n, k))
        assert relative_error(values[0], 1 - none_correct) < 1e-11
        assert relative_error(values[1], every_correct) < 1e-11


# --- Credits ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "tau", "needed"),
    [
        (25, 0.28, 7),  # the product is 7.000000000000001
        (49, 25 / 49, 25),
        (4, 0.0, 1),
        (4, 0.25, 1),
        (4, 0.2501, 2),
        (4, 1.0, 4),
        (3, 2 / 3, 2),
        (1, 0.0, 1),
    ],
)
def test_a_threshold_requires_ceil_of_tau_k_and_at_least_one(k, tau, needed):
    assert threshold(k, tau) == tuple(float(r == needed) for r in range(1, k + 1))


def test_the_threshold_j_over_k_requires_j_correct_samples():
    for k in range(1, 200):
        for j in range(1, k + 1):
            assert threshold(k, j / k).index(1.0) == j - 1


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_a_spectrum_of_any_weights_agrees_with_exact_fractions(data):
    k = data.draw(st.integers(1, 40))
    numbers = data.draw(st.lists(st.floats(0, 1), min_size=k, max_size=k))
    weights = [number / max(1.0, 2 * sum(numbers)) for number in numbers]
    n = data.draw(st.integers(k, 128))
    c = data.draw(st.integers(0, n))
    value = scores(n, [c], [spectrum(k, weights)])[0, 0]
    exact = hypergeometric_mean(n, c, values_of("Spectrum@k", k, weights=tuple(weights)))
    assert relative_error(value, exact) < 1e-15


@pytest.mark.parametrize("k", range(1, 31))
def test_auc_is_the_area_by_trapezoids_under_pass_at_1_to_k(k):
    for correct in range(k + 1):
        curve = [1 - Fraction(math.comb(k - correct, j), math.comb(k, j)) for j in range(1, k + 1)]
        trapezoids = [(a + b) / 2 for a, b in itertools.pairwise(curve)]
        area = sum(trapezoids, Fraction(0)) / (k - 1) if k > 1 else curve[0]
        assert values_by_definition(k, Fraction(1))["AUC@k"][correct] == area


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9])
def test_mg_pass_is_twice_the_area_for_even_k_and_below_it_for_odd_k(k):
    """The area under the step function of tau is computed piece by piece."""
    for correct in range(k + 1):
        area = 2 * sum(
            max(Fraction(0), Fraction(i, k) - max(Fraction(1, 2), Fraction(i - 1, k)))
            for i in range(1, correct + 1)
        )
        value = sum(above_half(k)[:correct])
        assert value == pytest.approx(float(area), rel=1e-15) if k % 2 == 0 else value <= area
    assert sum(above_half(k)) == pytest.approx((k - k % 2) / k, rel=1e-15)


# --- Posterior moments ------------------------------------------------------------------


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_posterior_covariances_agree_with_exact_fractions(data):
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(129, 400)))
    c = data.draw(st.sampled_from(sorted({0, n // 2, n})))
    k = data.draw(st.integers(1, 10))
    prior = data.draw(st.floats(1e-3, 20)), data.draw(st.floats(1e-3, 20))
    exact, credits = values_by_definition(k, Fraction(1, 2)), credits_by_name(k, 0.5)
    names = st.sampled_from(list(credits))
    a, b = data.draw(names), data.draw(names)
    expected = posterior_covariance(n, c, prior, exact[a], exact[b])
    pairs = [(credits[a], credits[b])]
    value = credit_covariances(np.array([n]), np.array([c]), pairs, prior)[0, 0]
    assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-300)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_posterior_means_and_variances_agree_with_exact_fractions(data):
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(129, 400)))
    c = data.draw(st.sampled_from(sorted({0, 1, n // 2, max(0, n - 1), n} & set(range(n + 1)))))
    k = data.draw(st.integers(1, 12))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    positive = st.one_of(st.floats(1e-6, 20), st.sampled_from([1.0, 0.1, 0.3, 1e-12, 1e4]))
    prior = data.draw(positive), data.draw(positive)
    exact = values_by_definition(k, tau)
    for name, credit in credits_by_name(k, float(tau)).items():
        exact_mean, exact_variance = posterior_moments(n, c, prior, exact[name])
        assert scores(n, [c], [credit], prior)[0, 0] == pytest.approx(float(exact_mean), rel=1e-13)
        assert variance(np.array([n]), np.array([c]), credit, prior)[0] == pytest.approx(
            float(exact_variance), rel=1e-12, abs=1e-320
        )


@pytest.mark.parametrize(
    ("n", "k", "name"),
    [
        (1000, 8, "pass@k"),  # The variance is below 1e-30 times the squared mean.
        (2000, 64, "AUC@k"),  # The last credit, 1/8064, dominates the variance.
    ],
)
def test_a_variance_at_c_equal_to_n_is_accurate(n, k, name):
    prior, credit = (1.0, 1.0), credits_by_name(k, 1.0)[name]
    mean, exact = posterior_moments(n, n, prior, values_by_definition(k, Fraction(1))[name])
    assert name != "pass@k" or exact / mean**2 < 1e-30
    value = variance(np.array([n]), np.array([n]), credit, prior)[0]
    assert value == pytest.approx(float(exact), rel=1e-12)


# --- Distributions and tables -----------------------------------------------------------


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)])
def test_questions_with_different_n_have_the_same_scores_as_each_alone(prior):
    n = np.array([3, 200, 3, 128, 129, 64, 1000])
    c = np.array([1, 150, 3, 0, 129, 20, 7])
    credits = [any_correct(2), above_half(3), all_correct(3)]
    together = values_of_run(n, c, credits, prior)
    for row in range(len(n)):
        alone = values_of_run(n[[row]], c[[row]], credits, prior)
        np.testing.assert_array_equal(together[row], alone[0])
    if prior:
        variances = variance(n, c, above_half(3), prior)
        for row in range(len(n)):
            assert variances[row] == variance(n[[row]], c[[row]], above_half(3), prior)[0]


@pytest.mark.parametrize("prior", [None, (1.0, 1.0), (0.3, 2.0)])
@pytest.mark.parametrize("block", [1, 1 << 7])
def test_tables_that_are_kept_and_blocks_are_equal(monkeypatch, block, prior):
    n, c = np.full(33, 32), np.arange(33)
    families = (any_correct, all_correct, area_under_pass)
    credits = [family(k) for k in (1, 2, 5, 32) for family in families]
    credits += [threshold(12, tau / 4) for tau in range(5)] + [above_half(12), spectrum(3, [0] * 3)]
    pairs = [
        (any_correct(5), all_correct(5)),
        (area_under_pass(12), above_half(12)),
        (area_under_pass(7), area_under_pass(7)),
    ]

    def compute(n: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        covariances = [credit_covariances(n, c, pairs, prior)] if prior else []
        return [values_of_run(n, c, credits, prior), *covariances]

    from_tables = compute(n, c)
    monkeypatch.setattr("at_k.core.expected._CELLS_AT_ONCE", block)
    without_tables = compute(np.append(n, 40), np.append(c, 7))  # n differs
    for values, expected in zip(without_tables, from_tables, strict=True):
        np.testing.assert_array_equal(values[:-1], expected)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("needed", [1, 2, 4])
def test_too_few_samples_have_the_value_0(k, needed):
    """`at_least(1, 2)` has one credit, so a score such as "at least two of k" is 0 at k = 1."""
    credits = at_least(k, needed)
    assert len(credits) == k
    assert sum(credits) == (needed <= k)
    assert scores(6, [6], [credits]).item() == (needed <= k)


@pytest.mark.parametrize("interval", ["sampling", "questions", "posterior", "hierarchical"])
def test_an_entry_in_the_family_is_all_that_a_new_score_needs(monkeypatch, interval):
    monkeypatch.setitem(PASS_FAMILY, "two@k", lambda k, tau, o: Score((at_least(k, 2),)))
    rows = [[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1]]
    result = gpassk(rows, k=[1, 2], include="two@k", confidence=0.95, interval=interval)
    assert (result["two@1"], result["two@1_lo"], result["two@1_hi"]) == (0, 0, 0)
    assert result["two@2"] == pytest.approx((3 / 6 + 1 / 6 + 0 + 1) / 4)
    assert at_k.plan(rows, "two@k", k=2, samples=4)["key"] == "two@2"
    assert at_k.advantages([[1.0, 0.0, 1.0, 1.0]], 2, "two@k")[0][1] == 0
