"""Distributions over levels of rewards: exact moments of the maximum, and the estimated prior."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from at_k.core.rewards import Rewards, real_rewards
from at_k.core.samples import read_outcomes
from at_k.intervals.reward_levels import (
    FittedRewards,
    LevelDistributions,
    leveled_samples,
    squared_changes,
)
from exact import subset_mean_of_maximum
from hypothesis import given, settings
from hypothesis import strategies as st

# --- Moments of the maximum -------------------------------------------------------------


def enumerated_covariance(
    pmf: list[Fraction], levels: list[Fraction], n: int, j: int, k: int
) -> Fraction:
    """Covariance of the mean maximum of j and of k, over all possible sets of n samples."""
    mean_j = mean_k = product = Fraction(0)
    for places in itertools.product(range(len(pmf)), repeat=n):
        probability = math.prod((pmf[place] for place in places), start=Fraction(1))
        rewards = tuple(levels[place] for place in places)
        of_j, of_k = subset_mean_of_maximum(rewards, j), subset_mean_of_maximum(rewards, k)
        mean_j, mean_k = mean_j + probability * of_j, mean_k + probability * of_k
        product += probability * of_j * of_k
    return product - mean_j * mean_k


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.data())
@settings(max_examples=25)
def test_moments_of_the_maximum_equal_those_of_all_possible_samples(weights, data):
    pmf = [Fraction(weight, sum(weights)) for weight in weights]
    steps = data.draw(st.lists(st.integers(1, 5), min_size=len(pmf) - 1, max_size=len(pmf) - 1))
    levels = [Fraction(x, sum(steps)) for x in itertools.accumulate(steps, initial=0)]
    n = data.draw(st.integers(2, 4))
    j, k = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
    below = [float(x) for x in itertools.accumulate(pmf)][:-1]
    log_odds = np.array([math.log((1 - x) / x) for x in below])
    distribution = LevelDistributions(log_odds, np.diff(np.array(levels, dtype=float)))
    wanted = float(enumerated_covariance(pmf, levels, n, j, k))
    assert distribution.max_covariance(n, j, k) == pytest.approx(wanted, rel=1e-3)
    variance = distribution.max_variance(n, k)
    assert variance == pytest.approx(distribution.max_covariance(n, k, k), rel=1e-12)
    mean = sum(
        float(x) * (high**k - low**k)
        for x, low, high in zip(levels, [0.0, *below], [*below, 1.0], strict=True)
    )
    assert distribution.max_mean(k) == pytest.approx(mean, rel=1e-12)


# --- Leaving out samples ----------------------------------------------------------------


def enumerated_squared_changes(rewards: tuple[Fraction, ...], k: int) -> Fraction:
    k = min(k, len(rewards) - 1)
    whole = subset_mean_of_maximum(rewards, k)
    others = [rewards[:place] + rewards[place + 1 :] for place in range(len(rewards))]
    return sum(((whole - subset_mean_of_maximum(each, k)) ** 2 for each in others), Fraction(0))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=5).filter(lambda x: sum(x) > 1), st.data())
@settings(max_examples=100)
def test_squared_changes_are_those_of_leaving_out_each_sample(counts, data):
    steps = data.draw(st.lists(st.integers(1, 5), min_size=len(counts), max_size=len(counts)))
    levels = [Fraction(x) for x in itertools.accumulate(steps)]
    rewards = tuple(
        level for level, times in zip(levels, counts, strict=True) for _ in range(times)
    )
    k = data.draw(st.integers(1, len(rewards)))
    (found,) = squared_changes(np.array([counts]), np.diff(np.array(levels, dtype=float)), k)
    assert found == pytest.approx(
        float(enumerated_squared_changes(rewards, k)), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_expected_squared_changes_are_those_over_all_possible_samples(n, k):
    pmf, levels = (
        [Fraction(3, 10), Fraction(5, 10), Fraction(2, 10)],
        [Fraction(x) for x in (0, 1, 4)],
    )
    wanted = Fraction(0)
    for places in itertools.product(range(3), repeat=n):
        probability = math.prod((pmf[place] for place in places), start=Fraction(1))
        wanted += probability * enumerated_squared_changes(tuple(levels[x] for x in places), k)
    above = np.array([0.7, 0.2])
    distribution = LevelDistributions(np.log(above / (1 - above)), np.array([1.0, 3.0]))
    found = distribution.squared_changes(n, k)
    assert found == pytest.approx(float(wanted), rel=1e-3)


# --- The estimated prior ----------------------------------------------------------------


def fit(counts) -> FittedRewards:
    """The prior of questions with (M, 3) counts of the rewards 0, 0.5 and 1."""
    at_most = np.cumsum(np.array(counts), axis=1)
    rewards = Rewards(np.arange(len(at_most)), np.array([0.0, 0.5, 1.0]), at_most, np.arange(1, 4))
    samples = leveled_samples(rewards, rewards.multiplicity)
    assert samples is not None
    return samples.fit()


def test_prior_is_split_by_the_number_of_samples():
    rng = np.random.default_rng(0)
    fitted = fit([rng.multinomial(n, [0.5, 0.3, 0.2]) for n in [4] * 30 + [9] * 10])
    shares = {n: round(prior.sum(), 3) for n, prior in fitted.estimates[0].items()}
    assert shares == {4: 0.75, 9: 0.25}


@pytest.mark.parametrize("pmf", [[0.1, 0.8, 0.1], [0.45, 0.1, 0.45], [0.9, 0.05, 0.05]])
def test_prior_concentrates_at_the_distribution_that_all_questions_share(pmf):
    fitted = fit(np.random.default_rng(1).multinomial(200, pmf, 100))
    levels = np.array([0.0, 0.5, 1.0])
    mean, square = pmf @ levels, pmf @ levels**2
    estimate = fitted.distributions.max_mean(1) @ fitted.priors[0]
    assert estimate == pytest.approx(mean, abs=0.02)
    variance = fitted.distributions.max_variance(200, 1) @ fitted.priors[0]
    assert 200 * variance == pytest.approx(square - mean**2, rel=0.1)


def test_many_real_rewards_are_binned_into_few_levels_with_the_same_sum():
    rewards = np.random.default_rng(2).lognormal(size=(50, 20))
    binned = leveled_samples(real_rewards(read_outcomes(rewards)), np.ones(50, int))
    assert binned is not None
    assert len(binned.levels) < 60
    assert (np.diff(binned.levels) > 0).all()
    assert (binned.counts.sum(axis=1) == 20).all()
    assert binned.counts.sum(axis=0) @ binned.levels == pytest.approx(rewards.sum(), rel=1e-12)
    assert binned.levels[-1] == rewards.max()  # bins are finest at the top


def test_small_weights_do_not_change_the_mean_number_of_samples():
    rewards = real_rewards(read_outcomes([[0.1, 0.5, 0.9, 0.2], [0.3] * 7, [0.4] * 16]))
    ones, small = (leveled_samples(rewards, w * np.ones(3)) for w in (1, 0.01))
    assert ones is not None
    assert small is not None
    assert small.n.tolist() == ones.n.tolist() == [5, 5, 16]
