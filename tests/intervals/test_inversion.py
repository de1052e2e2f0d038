"""Ends of intervals: where few events tell, those of blends, and many banks at once."""

import math

import numpy as np
import pytest
from at_k.inputs.outcomes import Counts
from at_k.intervals.interval import Blend
from at_k.intervals.inversion import greatest, joined
from at_k.intervals.sampling import Sampling
from at_k.scores.credits import all_right, any_right, geom_ds
from at_k.scores.distributions import estimator
from scipy.stats import poisson

Z, ONE = 1.959964, np.ones(1)


def least(theta, sigma, point):
    return -greatest(-theta[::-1], sigma[::-1], -point, Z * ONE, 0.05)


# --- Few events -------------------------------------------------------------------------


def counts_of_events(most: float, members: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    """The family of Poisson variables: their means, the middle one `most` / 2, and deviations."""
    mean = np.linspace(0, most, members)[:, None]
    return mean, np.sqrt(mean)


@pytest.mark.parametrize("events", [1, 2, 3])
def test_of_few_events_the_nearer_end_is_the_exact_one(events):
    found = least(*counts_of_events(2.0 * events), events * ONE)
    assert poisson.sf(events - 1, found) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("events", [5, 9, 30])
def test_of_more_events_both_ends_are_those_of_the_normal_law(events):
    mean, deviation = counts_of_events(4.0 * events)
    lo = least(mean, deviation, events * ONE)
    hi = greatest(mean, deviation, events * ONE, Z * ONE, 0.05)
    for end in (lo, hi):
        assert abs(events - end) == pytest.approx(Z * np.sqrt(end), rel=1e-3)


def test_of_no_event_the_nearer_end_is_the_end_of_the_range():
    mean, deviation = counts_of_events(20.0)
    assert least(mean, deviation, 0 * ONE) == 0
    assert greatest(mean, deviation, 0 * ONE, Z * ONE, 0.05) == pytest.approx(Z**2, rel=1e-3)


@pytest.mark.parametrize("right", [1, 2, 3])
def test_of_few_right_samples_the_interval_reaches_down_to_the_exact_end(gpassk, right):
    outcomes = np.zeros((100, 16))
    outcomes[:right, 0] = 1
    scores = gpassk.compute(
        predictions=outcomes, k=1, include="pass@k", confidence=0.95, interval="sampling"
    )
    chance = poisson.sf(right - 1, 1600 * scores["pass@1_lo"])
    assert chance == pytest.approx(0.05, rel=0.25)  # Wilson's end has twice to three times as much


# --- Blends -----------------------------------------------------------------------------

ROOT = Blend((0, 1), (0.5, 0.5))


def errors(r: float) -> dict:
    return {(0, 0): ONE, (0, 1): r * ONE, (1, 1): ONE}


def columns(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def test_columns_that_err_alike_are_at_their_ends_together():
    ends = joined(ROOT, columns(0.4, 0.1), columns(0.5, 0.2), columns(0.7, 0.6), errors(1.0))
    assert np.hstack(ends) == pytest.approx([math.sqrt(0.04), math.sqrt(0.42)])


@pytest.mark.parametrize("r", [0.0, 0.4, 0.9])
def test_where_columns_are_sure_the_ends_are_those_of_the_first_order(r):
    a, b, x, y = 0.5, 0.2, 1e-5, 3e-5
    ends = joined(ROOT, columns(a - x, b - y), columns(a, b), columns(a + x, b + y), errors(r))
    u = math.sqrt(a * b)
    arm = u / 2 * math.sqrt((x / a) ** 2 + (y / b) ** 2 + 2 * r * x / a * y / b)
    assert np.hstack(ends) == pytest.approx([u - arm, u + arm], abs=1e-3 * arm)


def test_a_column_that_never_was_right_decides_how_far_its_blend_may_be():
    ends = joined(ROOT, columns(0.8, 0.0), columns(0.9, 0.0), columns(0.96, 0.01), errors(0.0))
    lo, hi = np.hstack(ends)
    assert lo == 0
    assert math.sqrt(0.9 * 0.01) < hi < math.sqrt(0.96 * 0.01) + 1e-12


# --- Many banks -------------------------------------------------------------------------


@pytest.mark.parametrize("new", [False, True])
def test_many_banks_at_once_have_the_intervals_that_each_has_alone(new):
    rng = np.random.default_rng(0)
    keys, estimate = estimator({"pass": any_right(3), "blend": geom_ds(3)})
    kinds = Counts(np.full(7, 6), np.arange(7))
    tables = np.array([np.bincount(rng.binomial(6, p, m), minlength=7) for p, m in BANKS])
    together = Sampling(kinds, keys, estimate, new).over(tables, 0.9)
    for place, table in enumerate(tables):
        c = np.repeat(np.arange(7), table)
        alone = Sampling(Counts(np.full(len(c), 6), c), keys, estimate, new)
        for key, interval in alone.intervals(np.arange(len(c)), 0.9).items():
            assert together[key].of(place)[:4] == pytest.approx(interval[:4], abs=1e-12)


BANKS = [(0.5, 12), (0.01, 40), (0.98, 900), (0.2, 3)]  # success rates, and numbers of questions


WEAK = [
    (lambda rng, size: rng.choice([0.1, 0.9], size), 10, 16),
    (lambda rng, size: rng.choice([0.1, 0.9], size), 500, 64),
    (lambda rng, size: rng.beta(5, 5, size), 500, 16),
]


@pytest.mark.parametrize(("truth", "questions", "n"), WEAK)
def test_scores_that_few_events_decide_are_held_nearly_as_often_as_others(truth, questions, n):
    rng, runs = np.random.default_rng(1), 1000
    keys, estimate = estimator({"all": all_right(n), "blend": geom_ds(n)})
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    p = truth(rng, (runs, questions))
    tables = np.array([np.bincount(row, minlength=n + 1) for row in rng.binomial(n, p)])
    every = np.mean(p**n, axis=1)
    truths = {"all": every, "blend": np.sqrt(every * np.mean(1 - (1 - p) ** n, axis=1))}
    for key, found in Sampling(kinds, keys, estimate).over(tables, 0.95).items():
        held = np.mean((found.lo <= truths[key] + 1e-12) & (truths[key] <= found.hi + 1e-12))
        assert held > 0.85  # of the first order alone .69, and of the normal law alone .77
