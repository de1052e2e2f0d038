"""Confidence limits by test inversion where events are few."""

import numpy as np
import pytest
from at_k.intervals.sampling import lower_limit, upper_limit
from scipy.stats import poisson
from scored import gpassk

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
    scores = gpassk(outcomes, k=1, include="pass@k", confidence=0.95, interval="sampling")
    chance = poisson.sf(correct - 1, 1600 * scores["pass@1_lo"])
    # At Wilson's limit it is two to three times as large.
    assert chance == pytest.approx(0.05, rel=0.25)
