"""Confidence limits by test inversion: few events, products of scores, and many runs at once."""

import math

import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import any_correct, geom_ds
from at_k.core.score import Score
from at_k.intervals.binary_family import BinaryFamily
from at_k.intervals.sampling import SamplingIntervals, limits_of_score, lower_limit, upper_limit
from at_k.scores.checker_rates import estimator
from scipy.stats import poisson

Z, ONE = 1.959964, np.ones(1)


# --- Few events -------------------------------------------------------------------------


def poisson_family(most: float, members: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of Poisson variables. The middle mean is `most` / 2."""
    mean = np.linspace(0, most, members)[:, None]
    return mean, np.sqrt(mean)


@pytest.mark.parametrize("events", [1, 2, 3])
def test_near_limit_of_few_events_is_the_exact_one(events):
    found = lower_limit(*poisson_family(2.0 * events), events * ONE, Z * ONE, 0.05)
    assert poisson.sf(events - 1, found) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("events", [5, 9, 30])
def test_both_limits_of_many_events_are_those_of_the_normal_approximation(events):
    mean, sigma = poisson_family(4.0 * events)
    lo = lower_limit(mean, sigma, events * ONE, Z * ONE, 0.05)
    hi = upper_limit(mean, sigma, events * ONE, Z * ONE, 0.05)
    for limit in (lo, hi):
        assert abs(events - limit) == pytest.approx(Z * np.sqrt(limit), rel=1e-3)


def test_near_limit_of_no_event_is_the_end_of_the_range():
    mean, sigma = poisson_family(20.0)
    assert lower_limit(mean, sigma, 0 * ONE, Z * ONE, 0.05) == 0
    assert upper_limit(mean, sigma, 0 * ONE, Z * ONE, 0.05) == pytest.approx(Z**2, rel=1e-3)


@pytest.mark.parametrize("correct", [1, 2, 3])
def test_lower_limit_of_few_correct_samples_is_nearly_exact(gpassk, correct):
    outcomes = np.zeros((100, 16))
    outcomes[:correct, 0] = 1
    scores = gpassk.compute(
        predictions=outcomes, k=1, include="pass@k", confidence=0.95, interval="sampling"
    )
    chance = poisson.sf(correct - 1, 1600 * scores["pass@1_lo"])
    # At Wilson's limit it is two to three times as large.
    assert chance == pytest.approx(0.05, rel=0.25)


# --- Products of scores -----------------------------------------------------------------

GEOMETRIC_MEAN = Score((0, 1), (0.5, 0.5))


def covariance(r: float) -> dict:
    return {(0, 0): ONE, (0, 1): r * ONE, (1, 1): ONE}


def columns(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def test_factors_with_equal_errors_reach_their_limits_together():
    lo, u, hi = columns(0.4, 0.1), columns(0.5, 0.2), columns(0.7, 0.6)
    found = limits_of_score(GEOMETRIC_MEAN, lo, u, hi, covariance(1.0))
    assert np.hstack(found) == pytest.approx([math.sqrt(0.04), math.sqrt(0.42)])


@pytest.mark.parametrize("r", [0.0, 0.4, 0.9])
def test_limits_for_small_errors_are_those_of_the_delta_method(r):
    a, b, x, y = 0.5, 0.2, 1e-5, 3e-5
    lo, u, hi = columns(a - x, b - y), columns(a, b), columns(a + x, b + y)
    found = limits_of_score(GEOMETRIC_MEAN, lo, u, hi, covariance(r))
    center = math.sqrt(a * b)
    margin = center / 2 * math.sqrt((x / a) ** 2 + (y / b) ** 2 + 2 * r * x / a * y / b)
    assert np.hstack(found) == pytest.approx([center - margin, center + margin], abs=1e-3 * margin)


def test_factor_that_is_0_determines_the_upper_limit_of_the_product():
    lo, u, hi = columns(0.8, 0.0), columns(0.9, 0.0), columns(0.96, 0.01)
    low, high = np.hstack(limits_of_score(GEOMETRIC_MEAN, lo, u, hi, covariance(0.0)))
    assert low == 0
    assert math.sqrt(0.9 * 0.01) < high < math.sqrt(0.96 * 0.01) + 1e-12


# --- Many runs at once ------------------------------------------------------------------

RUNS = [(0.5, 12), (0.01, 40), (0.98, 900), (0.2, 3)]  # success rate, number of questions


@pytest.mark.parametrize("new_questions", [False, True])
def test_many_runs_at_once_have_the_intervals_that_each_has_alone(new_questions):
    rng = np.random.default_rng(0)
    keys, estimate = estimator({"pass": Score((any_correct(3),)), "product": geom_ds(3)})

    def sampling(counts: BinaryCounts) -> SamplingIntervals:
        return SamplingIntervals(BinaryFamily.of_run(counts, keys, estimate, {}), new_questions)

    multiplicity = np.array(
        [np.bincount(rng.binomial(6, rate, questions), minlength=7) for rate, questions in RUNS]
    )
    together = sampling(BinaryCounts(np.full(7, 6), np.arange(7))).over(multiplicity, 0.9)
    for place, times in enumerate(multiplicity):
        c = np.repeat(np.arange(7), times)
        method = sampling(BinaryCounts(np.full(len(c), 6), c))
        (alone,) = method.for_groups([np.arange(len(c))], 0.9)
        for key, interval in alone.items():
            assert together[key].of_group(place)[:4] == pytest.approx(interval[:4], abs=1e-12)
