"""Intervals of the pass family: known limits, few events, the prior, groups, clusters."""

import math

import at_k
import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import any_correct
from at_k.core.score import Score
from at_k.intervals.binary_family import RATE_SUPPORT, BinaryFamily, binomial_likelihood
from at_k.intervals.sampling import lower_limit, upper_limit
from at_k.scores.checker_rates import estimator
from scipy.stats import poisson
from scored import gpassk, limits, max_at_k, simulate

PRODUCTS = ["Geom@k", "Geom_ds@k", "GeoSpectrum@k"]


def width(scores: dict, key: str) -> float:
    lo, hi = limits(scores, key)
    return hi - lo


def compute(outcomes, k, interval="sampling", include="pass@k", **options) -> dict:
    """Scores of outcomes, with an interval of 95 %."""
    return gpassk(outcomes, k=k, include=include, confidence=0.95, interval=interval, **options)


# --- Limits -----------------------------------------------------------------------------


def test_far_limit_is_nearly_exact_if_no_or_all_samples_are_correct():
    exact = 1 - 0.025 ** (1 / 1600)  # Clopper and Pearson, 1,600 trials
    none, every = (compute(np.full((100, 16), outcome), 1) for outcome in (0, 1))
    lo, hi = limits(none, "pass@1")
    assert lo == 0
    assert hi == pytest.approx(exact, rel=0.05)
    assert limits(every, "pass@1") == pytest.approx((1 - hi, 1), abs=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_interval_of_pass_at_1_is_nearly_wilsons_if_all_rates_are_equal(rate):
    outcomes = np.random.default_rng(2).random((200, 8)) < rate
    trials, u, z = outcomes.size, outcomes.mean(), 1.959964
    center = (u + z * z / 2 / trials) / (1 + z * z / trials)
    margin = z / (1 + z * z / trials) * math.sqrt(u * (1 - u) / trials + z * z / 4 / trials**2)
    wanted = center - margin, center + margin
    assert limits(compute(outcomes, 1), "pass@1") == pytest.approx(wanted, abs=0.1 * margin)


def test_interval_shrinks_with_the_samples_and_is_wider_for_other_questions():
    few, many = simulate(4, 30, 8), np.tile(simulate(4, 30, 8), 8)
    assert width(compute(many, 2), "pass@2") < 0.5 * width(compute(few, 2), "pass@2")
    assert width(compute(few, 2, "questions"), "pass@2") > width(compute(few, 2), "pass@2")


def test_width_of_a_ragged_run_lies_between_those_of_its_numbers_of_samples():
    many = simulate(5, 60, 16)
    ragged = [row[:16] if question % 2 else row[:4] for question, row in enumerate(many.tolist())]
    widths = [width(compute(each, 2), "pass@2") for each in (many, ragged, many[:, :4])]
    assert widths == sorted(widths)


def test_products_of_scores_too_small_to_divide_by_have_intervals():
    outcomes = np.random.default_rng(14).random((30, 64)) < 0.02
    scores = compute(outcomes, 64, include=PRODUCTS)
    for key in ("Geom@64", "Geom_ds@64", "GeoSpectrum@64"):
        lo, hi = limits(scores, key)
        assert 0 == lo == scores[key] <= hi < 0.5


# --- The estimated prior ----------------------------------------------------------------


def estimate_prior(n: np.ndarray, c: np.ndarray) -> dict[int, np.ndarray]:
    """The prior estimated from counts: for each n, its part on the grid."""
    keys, estimate = estimator({"pass@1": Score((any_correct(1),))})
    family = BinaryFamily(BinaryCounts(n, c), keys, estimate, {})
    return family.run.prior[0]


def test_prior_sums_to_one_and_fits_better_with_each_step():
    outcomes = simulate(6, 100, 6)
    n, c, fits = np.full(100, 6), outcomes.sum(axis=1), []
    likelihood = binomial_likelihood(n, c)
    for times in (1, 4, 16, 64):  # the same shares of more questions, so more steps
        prior = estimate_prior(np.tile(n, times), np.tile(c, times))
        assert np.sum(list(prior.values())) == pytest.approx(1)
        fits.append(np.log(likelihood[:, RATE_SUPPORT] @ prior[6]).mean())
    assert fits == sorted(fits)
    assert fits[0] < fits[-1] < np.log(likelihood.max(axis=1)).mean()


def test_prior_of_a_ragged_run_is_split_by_the_number_of_samples():
    n = np.repeat([2, 8, 5], [10, 20, 30])
    prior = estimate_prior(n, np.random.default_rng(7).binomial(n, 0.4))
    assert {size: part.sum() for size, part in prior.items()} == pytest.approx(
        {2: 1 / 6, 8: 1 / 3, 5: 1 / 2}
    )


def test_prior_finds_two_success_rates():
    rng = np.random.default_rng(8)
    rates = rng.choice([0.1, 0.9], 2000)
    prior = estimate_prior(np.full(2000, 16), rng.binomial(16, rates))[16]
    rate = 1 / (1 + np.exp(-np.linspace(-12, 12, len(prior))))
    assert prior[(rate > 0.3) & (rate < 0.7)].sum() < 0.01
    assert prior @ rate == pytest.approx(0.5, abs=0.03)


# --- Groups and clusters ----------------------------------------------------------------


def test_repeated_questions_count_once_if_they_share_a_cluster():
    outcomes, k = simulate(10), 2
    twice, clusters = np.vstack([outcomes, outcomes]), [*range(30), *range(30)]
    once = compute(outcomes, k, "questions")
    clustered = compute(twice, k, "questions", clusters=clusters)
    assert limits(clustered, "pass@2") == pytest.approx(limits(once, "pass@2"), rel=1e-2)
    separate = compute(twice, k, "questions", clusters=range(60))
    assert separate == pytest.approx(compute(twice, k, "questions"), rel=1e-12)
    assert width(separate, "pass@2") < 0.75 * width(clustered, "pass@2")


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize("k", [1, 8, 20, 40])
def test_scores_near_1_have_the_limits_of_their_complement_near_0(interval, k):
    """1 - pass@k is pass^k of the incorrect samples. Near 0, no difference loses its digits."""
    R = np.random.default_rng(k).random((7, 129)) < np.linspace(0.4, 0.6, 7)[:, None]
    _, sigma, lo, hi = at_k.pass_at_k_ci(R, k, interval=interval)
    _, sigma_of_complement, *limits = at_k.pass_hat_k_ci(~R, k, interval=interval)
    assert sigma == pytest.approx(sigma_of_complement, rel=1e-5)
    assert (1 - hi, 1 - lo) == pytest.approx(limits, rel=1e-4, abs=1e-11)
    of_rewards = max_at_k(R.astype(float), k=k, interval=interval, confidence=0.95)
    assert of_rewards[f"max@{k}_sigma"] == pytest.approx(sigma, rel=0.1)


def test_the_shares_of_the_noise_near_1_are_those_of_the_complement():
    R = np.random.default_rng(1).random((7, 129)) < np.linspace(0.4, 0.6, 7)[:, None]
    near_1, near_0 = at_k.noise(R, 25), at_k.noise(~R, 25, metric="pass^k")
    for name in ("standard_error", "questions", "samples"):
        expected = near_0["pass^25"][name]
        assert near_1["pass@25"][name] == pytest.approx(expected, rel=1e-5, abs=1e-6)


# --- Test inversion where events are few ------------------------------------------------

Z, ONE = 1.959964, np.ones(1)


def poisson_family(most: float, members: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of Poisson variables. The middle mean is `most` / 2."""
    mean = np.linspace(0, most, members)[:, None]
    return mean, np.sqrt(mean)


@pytest.mark.parametrize("events", [1, 2, 3])
def test_near_limit_of_few_events_is_the_exact_one(events):
    found = lower_limit(*poisson_family(2.0 * events), events * ONE, Z, 0.05)
    assert poisson.sf(events - 1, found) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("events", [5, 9, 30])
def test_both_limits_of_many_events_are_those_of_the_normal_approximation(events):
    mean, sigma = poisson_family(4.0 * events)
    lo = lower_limit(mean, sigma, events * ONE, Z, 0.05)
    hi = upper_limit(mean, sigma, events * ONE, Z, 0.05)
    for limit in (lo, hi):
        assert abs(events - limit) == pytest.approx(Z * np.sqrt(limit), rel=1e-3)


def test_near_limit_of_no_event_is_the_end_of_the_range():
    mean, sigma = poisson_family(20.0)
    assert lower_limit(mean, sigma, 0 * ONE, Z, 0.05) == 0
    assert upper_limit(mean, sigma, 0 * ONE, Z, 0.05) == pytest.approx(Z**2, rel=1e-3)


@pytest.mark.parametrize("correct", [1, 2, 3])
def test_lower_limit_of_few_correct_samples_is_nearly_exact(correct):
    outcomes = np.zeros((100, 16))
    outcomes[:correct, 0] = 1
    chance = poisson.sf(correct - 1, 1600 * compute(outcomes, 1)["pass@1_lo"])
    # At Wilson's limit it is two to three times as large.
    assert chance == pytest.approx(0.05, rel=0.25)
