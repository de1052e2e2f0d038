"""The kernel is exact: credits and laws against fractions, enumeration and many digits."""

import math
from fractions import Fraction

import numpy as np
import pytest
from at_k.scores.credits import (
    Credits,
    above_half,
    all_right,
    any_right,
    area,
    majority,
    spectrum,
    threshold,
)
from at_k.scores.distributions import Prior, covariances, expected, law
from exact import (
    credits_of_the_field,
    hypergeometric_mean,
    posterior_covariance,
    posterior_moments,
    subset_mean,
)
from exact import spectrum as exact_spectrum
from hypothesis import given, settings
from hypothesis import strategies as st


def scores(n: int, rights: list[int], *arguments) -> np.ndarray:
    """`expected` for questions that all have n samples."""
    return expected(np.full(len(rights), n), np.array(rights), *arguments)


def variance(n: np.ndarray, c: np.ndarray, credit: Credits, prior: Prior) -> np.ndarray:
    return covariances(n, c, [(credit, credit)], prior)[:, 0]


def ours(k: int, tau: float) -> dict[str, tuple[float, ...]]:
    return {
        "pass@k": any_right(k),
        "pass^k": all_right(k),
        "G-Pass@k": threshold(k, tau),
        "maj@k": majority(k),
        "AUC@k": area(k),
        "mG-Pass@k": above_half(k),
    }


def relative_error(value: float, truth: Fraction) -> float:
    if truth < Fraction(1, 10**300):  # where a double runs out of digits
        return 0.0 if 0 <= value < 1.01e-300 and (value == 0 or truth > 0) else math.inf
    return float(abs(Fraction(value) - truth) / truth)


def worst_error(n: int, k: int, tau: Fraction, rights: list[int]) -> float:
    credits = ours(k, float(tau))
    values = scores(n, rights, list(credits.values()))
    exact = credits_of_the_field(k, tau)
    return max(
        relative_error(values[row, column], hypergeometric_mean(n, c, exact[name]))
        for row, c in enumerate(rights)
        for column, name in enumerate(credits)
    )


@pytest.mark.parametrize("n", range(1, 21))
def test_every_small_bank_agrees_with_exact_fractions(n):
    for k in range(1, n + 1):
        for tau in {Fraction(t, 8) for t in range(9)} | {Fraction(j, k) for j in range(k + 1)}:
            assert worst_error(n, k, tau, list(range(n + 1))) < 4e-16


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_banks_of_up_to_128_samples_agree_to_1e_15(data):
    n = data.draw(st.integers(21, 128))
    k = data.draw(st.integers(1, n))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    rights = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=4))
    assert worst_error(n, k, tau, rights) < 1e-15


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_banks_of_up_to_10000_samples_agree_to_1e_13_in_far_tails_too(data):
    n = data.draw(st.integers(129, 10_000))
    k = data.draw(st.one_of(st.integers(1, min(n, 60)), st.integers(1, min(n, 1500))))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    assert (
        worst_error(n, k, tau, data.draw(st.lists(st.integers(0, n), min_size=1, max_size=2)))
        < 1e-13
    )


def test_a_million_samples_stay_finite_and_right():
    n, k = 1_000_000, 500
    for c in (1, 3, 2_000, 500_000, n - 1, n):
        values = scores(n, [c], [any_right(k), all_right(k)])[0]
        none_right = Fraction(math.comb(n - c, k), math.comb(n, k))
        every_right = Fraction(math.comb(c, k), math.comb(n, k))
        assert relative_error(values[0], 1 - none_right) < 1e-11
        assert relative_error(values[1], every_right) < 1e-11


@given(st.lists(st.integers(0, 1), min_size=1, max_size=9), st.data())
@settings(deadline=None)
def test_a_score_is_the_mean_over_all_subsets(outcomes, data):
    k = data.draw(st.integers(1, len(outcomes)))
    tau = Fraction(data.draw(st.integers(0, 20)), 20)
    credits = ours(k, float(tau))
    values = scores(len(outcomes), [sum(outcomes)], list(credits.values()))[0]
    for value, credit in zip(values, credits_of_the_field(k, tau).values(), strict=True):
        assert value == pytest.approx(float(subset_mean(outcomes, credit)), rel=1e-15)


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
def test_a_threshold_needs_the_ceiling_of_tau_k_and_at_least_one(k, tau, needed):
    assert threshold(k, tau) == tuple(float(r == needed) for r in range(1, k + 1))


def test_every_share_of_k_needs_just_that_many():
    for k in range(1, 200):
        for j in range(1, k + 1):
            assert threshold(k, j / k).index(1.0) == j - 1


@pytest.mark.parametrize("tau", [-0.1, 1.1, math.nan, True])
def test_a_threshold_outside_0_to_1_is_refused(tau):
    with pytest.raises(ValueError, match="share of the k draws"):
        threshold(4, tau)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_a_spectrum_of_any_weights_agrees_with_exact_fractions(data):
    k = data.draw(st.integers(1, 40))
    drawn = data.draw(st.lists(st.floats(0, 1), min_size=k, max_size=k))
    weights = [weight / max(1.0, 2 * sum(drawn)) for weight in drawn]
    n = data.draw(st.integers(k, 128))
    c = data.draw(st.integers(0, n))
    value = scores(n, [c], [spectrum(k, weights)])[0, 0]
    assert relative_error(value, hypergeometric_mean(n, c, exact_spectrum(weights))) < 1e-15


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_posterior_covariances_agree_with_many_digits(data):
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(129, 400)))
    c = data.draw(st.sampled_from(sorted({0, n // 2, n})))
    k = data.draw(st.integers(1, 10))
    prior = data.draw(st.floats(1e-3, 20)), data.draw(st.floats(1e-3, 20))
    exact, names = credits_of_the_field(k, Fraction(1, 2)), st.sampled_from(list(ours(k, 0.5)))
    a, b = data.draw(names), data.draw(names)
    wanted = posterior_covariance(n, c, exact[a], exact[b], *prior)
    credits = ours(k, 0.5)
    value = covariances(np.array([n]), np.array([c]), [(credits[a], credits[b])], prior)[0, 0]
    assert value == pytest.approx(float(wanted), rel=1e-12, abs=1e-300)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_posterior_moments_agree_with_many_digits(data):
    n = data.draw(st.one_of(st.integers(0, 40), st.integers(129, 400)))
    c = data.draw(st.sampled_from(sorted({0, 1, n // 2, max(0, n - 1), n} & set(range(n + 1)))))
    k = data.draw(st.integers(1, 12))
    tau = Fraction(data.draw(st.integers(0, k)), k)
    positive = st.one_of(st.floats(1e-6, 20), st.sampled_from([1.0, 0.1, 0.3, 1e-12, 1e4]))
    prior = data.draw(positive), data.draw(positive)
    exact = credits_of_the_field(k, tau)
    for name, credit in ours(k, float(tau)).items():
        mean, spread = posterior_moments(n, c, exact[name], *prior)
        assert scores(n, [c], [credit], prior)[0, 0] == pytest.approx(float(mean), rel=1e-13)
        assert variance(np.array([n]), np.array([c]), credit, prior)[0] == pytest.approx(
            float(spread), rel=1e-12, abs=1e-320
        )


def test_a_variance_tiny_against_the_mean_keeps_its_digits():
    n = c = 1000
    mean, spread = posterior_moments(n, c, credits_of_the_field(8, Fraction(1))["pass@k"], 1.0, 1.0)
    assert spread / mean**2 < 1e-30
    ours_spread = variance(np.array([n]), np.array([c]), any_right(8), (1.0, 1.0))[0]
    assert ours_spread == pytest.approx(float(spread), rel=1e-12)


@pytest.mark.parametrize("prior", [None, (1.0, 1.0), (0.1, 0.2)])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (16, 5), (300, 120)])
def test_a_law_is_a_distribution_with_the_mean_of_its_urn(n, k, prior):
    c = np.arange(n + 1)
    probabilities = law(np.full(n + 1, n), c, k, prior).hi
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)
    alpha0, beta0 = prior or (0.0, 0.0)
    np.testing.assert_allclose(
        probabilities @ np.arange(k + 1), k * (c + alpha0) / (n + alpha0 + beta0), rtol=1e-13
    )


@pytest.mark.parametrize("prior", [None, (0.5, 2.0)])
def test_questions_of_unlike_n_score_as_each_alone(prior):
    n = np.array([3, 200, 3, 128, 129, 64, 1000])
    c = np.array([1, 150, 3, 0, 129, 20, 7])
    credits = [any_right(2), above_half(3), all_right(3)]
    together = expected(n, c, credits, prior)
    for row in range(len(n)):
        alone = expected(n[[row]], c[[row]], credits, prior)
        np.testing.assert_array_equal(together[row], alone[0])
    if prior:
        spread = variance(n, c, above_half(3), prior)
        for row in range(len(n)):
            assert spread[row] == variance(n[[row]], c[[row]], above_half(3), prior)[0]


@pytest.mark.parametrize("prior", [None, (1.0, 1.0), (0.3, 2.0)])
@pytest.mark.parametrize("block", [1, 1 << 7])
def test_tables_of_integers_and_blocks_of_doubles_agree_to_the_digit(monkeypatch, block, prior):
    n, c = np.full(33, 32), np.arange(33)
    credits = [score(k) for k in (1, 2, 5, 32) for score in (any_right, all_right, area)]
    credits += [threshold(12, tau / 4) for tau in range(5)] + [above_half(12), spectrum(3, [0] * 3)]
    pairs = [(any_right(5), all_right(5)), (area(12), above_half(12)), (area(7), area(7))]

    def everything() -> list[np.ndarray]:
        spread = [covariances(n, c, pairs, prior)] if prior else []
        return [expected(n, c, credits, prior), *spread]

    tables = everything()
    monkeypatch.setattr("at_k.scores.integer_tables._MAX_TABLE_SAMPLES", 0)
    monkeypatch.setattr("at_k.scores.distributions._CELLS_AT_ONCE", block)
    for values, table in zip(everything(), tables, strict=True):
        np.testing.assert_array_equal(values, table)


def test_the_digits_of_a_variance_survive_near_certainty_for_small_last_steps():
    """Of AUC@64 the last right draw adds 1/8064: at c = n the variance is made of that."""
    n = c = 2000
    credit = credits_of_the_field(64, Fraction(1))["AUC@k"]
    _, spread = posterior_moments(n, c, credit, 1.0, 1.0)
    value = variance(np.array([n]), np.array([c]), area(64), (1.0, 1.0))[0]
    assert value == pytest.approx(float(spread), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9])
def test_mg_pass_is_the_area_for_even_k_and_below_it_for_odd(k):
    """Twice the integral of the step function of tau, piece by piece, if all are right."""
    for right in range(k + 1):
        area = 2 * sum(
            max(Fraction(0), Fraction(i, k) - max(Fraction(1, 2), Fraction(i - 1, k)))
            for i in range(1, right + 1)
        )
        ramp = sum(above_half(k)[:right])
        assert ramp == pytest.approx(float(area), rel=1e-15) if k % 2 == 0 else ramp <= area
    assert sum(above_half(k)) == pytest.approx((k - k % 2) / k, rel=1e-15)
