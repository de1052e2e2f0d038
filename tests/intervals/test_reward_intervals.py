"""Intervals of rewards: limits, scale, bounds, k above n, and distributions over their levels."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import any_correct
from at_k.core.interval import Interval
from at_k.core.rewards import Rewards, real_rewards
from at_k.core.samples import read_outcomes
from at_k.core.score import Score
from at_k.intervals.binary_family import BinaryFamily
from at_k.intervals.reward_family import RewardFamily
from at_k.intervals.reward_levels import (
    FittedRewards,
    LevelDistributions,
    leveled_samples,
    squared_changes,
)
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.checker_rates import estimator
from exact import subset_mean_of_maximum
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import bayes_at_n, gpassk, limits, max_at_k

# --- Limits -------------------------------------------------------------------------------


@given(
    st.lists(
        st.lists(st.sampled_from([-2.5, 0.0, 0.5, 4.0]) | st.floats(-5, 5), min_size=2, max_size=7),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from(["sampling", "hierarchical", "auto", "questions"]),
)
@settings(max_examples=80)
def test_interval_contains_the_score_and_stays_in_the_range_of_rewards(rewards, interval):
    n = min(map(len, rewards))
    options = {"confidence": 0.95, "interval": interval}
    scores = max_at_k(rewards, k=sorted({1, 2, n}), **options)
    values = [reward for row in rewards for reward in row]
    if {*values} <= {0.0, 1.0}:  # outcomes of two categories, observed or not
        values = [0.0, 1.0]
    least, most = min(values), max(values)
    for k in {1, 2, n}:
        lo, hi = limits(scores, f"max@{k}")
        center = scores[f"max@{k}_mu"]
        assert least - 1e-9 <= lo <= center + 1e-9
        assert center - 1e-9 <= hi <= most + 1e-9
        if interval != "hierarchical":
            assert center == pytest.approx(scores[f"max@{k}"], abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=30))
@settings(max_examples=40)
def test_sigma_of_an_average_is_at_least_that_of_its_samples(outcomes):
    """The samples give an unbiased variance of each question's mean."""
    w = [0.0, 0.1, 0.7, 1.0]
    rewards = np.array(w)[np.array(outcomes)]
    least = math.sqrt(rewards.var(axis=1, ddof=1).sum() / 4) / len(outcomes)
    scores = bayes_at_n(outcomes, w=w, interval="sampling")
    assert scores["avg@4_sigma"] >= 0.999 * least


def test_upper_limit_is_about_four_samples_if_no_sample_has_a_reward():
    """With two categories, the exact limit of 0 of 1,600 is 3.7 samples (Clopper-Pearson)."""
    for w in ([0.0, 1.0], [0.0, 0.5, 1.0]):
        scores = bayes_at_n(np.zeros((100, 16), dtype=int), w=w, interval="auto")
        assert scores["avg@16_lo"] == 0
        assert 2.5 / 1600 < scores["avg@16_hi"] < 5 / 1600


def test_interval_of_equal_real_rewards_is_that_reward():
    rewards, options = [[0.5, 0.5, 0.5]] * 4, {"k": [1, 3], "confidence": 0.95}
    scores = max_at_k(rewards, interval="auto", **options)
    assert all(value == 0.5 for key, value in scores.items() if key.endswith(("_lo", "_hi")))
    assert scores["max@3"] == 0.5


def test_the_standard_deviation_is_right_for_rewards_that_the_grid_does_not_have():
    """Rewards have two peaks, and questions differ by their shares only."""
    rng = np.random.default_rng(0)
    high, found = rng.uniform(0.02, 0.98, (100, 1)), []
    for _ in range(30):
        rewards = np.where(rng.random((100, 40)) < high, 3.0, 0.0) + rng.normal(0, 0.2, (100, 40))
        scores = max_at_k(rewards, k=40, confidence=0.95)
        found.append((scores["max@40"], scores["max@40_sigma"]))
    values, sigma = np.array(found).T
    assert 0.7 < sigma.mean() / values.std(ddof=1) < 1.4


# --- Bounds -------------------------------------------------------------------------------


def test_every_interval_stays_in_the_bounds():
    outcomes, w = [[0, 1, 2, 2], [1, 1, 0, 2], [0, 0, 1, 2]], [0.0, 0.5, 1.0]
    for interval in ("posterior", "sampling", "hierarchical", "questions"):
        scores = bayes_at_n(outcomes, w=w, interval=interval, bounds=(0.5, 0.6))
        assert limits(scores, "avg@4")[0] >= 0.5, interval
        assert limits(scores, "avg@4")[1] <= 0.6, interval


def test_bounds_may_be_infinite_or_exclude_rewards():
    rewards = [[0.2, 0.4, 0.3, 0.8], [0.7, 0.6, 0.2, 0.5]]
    found = {}
    for bounds in (None, (-math.inf, math.inf), (0.0, 1.0), (0.45, 0.55), (2.0, 3.0)):
        scores = max_at_k(rewards, k=1, confidence=0.95, interval="sampling", bounds=bounds)
        found[bounds] = limits(scores, "max@1")
    assert found[None] == found[-math.inf, math.inf]
    assert found[0.0, 1.0] == found[None]
    assert found[0.45, 0.55][0] == max(0.45, found[None][0])
    assert found[2.0, 3.0] == (2.0, 2.0)


# --- k above n, and hierarchical intervals ------------------------------------------------


def test_max_at_k_grows_with_k_and_stays_in_the_range_of_rewards():
    outcomes = np.random.default_rng(9).integers(0, 3, (30, 4))
    options = {"w": [0.0, 0.5, 1.0], "confidence": 0.95, "interval": "hierarchical"}
    scores = max_at_k(outcomes, k=[4, 8, 64, 1000], return_per_question=True, **options)
    values = [scores[f"max@{k}"] for k in (4, 8, 64, 1000)]
    assert values == sorted(values)
    assert values[-1] <= 1
    per_question = scores["per_question"]["max@64"]
    assert sum(per_question) / 30 == pytest.approx(scores["max@64"])


def test_hierarchical_interval_with_k_up_to_n_contains_the_unbiased_score():
    rng = np.random.default_rng(10)
    rates = rng.uniform(0.1, 0.9, (150, 1))
    rewards = rng.beta(8 * rates, 8 - 8 * rates, (150, 24))
    options = {"k": [1, 6, 24], "confidence": 0.95, "interval": "hierarchical"}
    scores = max_at_k(rewards, **options)
    for k in (1, 6, 24):
        lo, hi = limits(scores, f"max@{k}")
        assert lo < scores[f"max@{k}"] < hi
        assert hi - lo < 0.1


def test_interval_is_wide_if_the_samples_hardly_determine_the_score():
    """Questions without a reward in 4 samples may have almost any maximum of 400."""
    outcomes = np.zeros((20, 4), dtype=int)
    outcomes[:3, 0] = 2
    options = {"w": [0.0, 0.5, 1.0], "confidence": 0.95, "interval": "auto"}
    scores = max_at_k(outcomes, k=[1, 400], **options)
    lo, hi = limits(scores, "max@400")
    assert hi - lo > 0.5
    assert scores["max@400_interval"] == "hierarchical"


# --- Many counts --------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [[1.0, 1.0], [0.01, 9.0]])
def test_the_part_of_many_counts_that_a_prior_uses_stands_for_all(monkeypatch, weights):
    rng = np.random.default_rng(0)
    n, scale = [2, 32] * 250, [2.0, 0.3] * 250
    rewards = [rng.normal(rng.normal(), s, size).tolist() for s, size in zip(scale, n, strict=True)]
    options = {"k": [1, 2], "question_weights": weights * 250, "confidence": 0.95}
    intervals = []
    for counts in (1000, 250):  # With 250, half of the 500 distinct counts are used.
        monkeypatch.setattr("at_k.intervals.reward_levels._COUNTS_AT_ONCE", counts)
        scores = max_at_k(rewards, **options)
        intervals.append([scores[f"max@{k}_{limit}"] for k in (1, 2) for limit in ("lo", "hi")])
    width = intervals[0][1] - intervals[0][0]
    assert intervals[1] == pytest.approx(intervals[0], abs=0.03 * width)


# --- Binary outcomes as rewards with two levels -----------------------------------------


def both_families(counts: BinaryCounts, ks: list[int]) -> list[tuple[Interval, Interval]]:
    """For each k, the interval of pass@k from success rates and from distributions of rewards."""
    scores = {str(k): Score((any_correct(k),)) for k in ks}
    n, c = counts.unique
    at_most = np.stack([n - c, n], axis=1)
    rewards = Rewards(counts.inverse, np.array([0.0, 1.0]), at_most, np.arange(1, 3))
    families = (
        BinaryFamily(counts, *estimator(scores), {}),
        RewardFamily(rewards, {str(k): k for k in ks}, {}, (0.0, 1.0)),
    )
    of_rates, of_rewards = (
        SamplingIntervals(family).intervals(np.arange(len(counts)), 0.95) for family in families
    )
    return [(of_rates[key], of_rewards[key]) for key in scores]


def largest_difference(one: Interval, other: Interval) -> float:
    """The larger difference of the two limits, as a share of the width."""
    return max(abs(one.lo - other.lo), abs(one.hi - other.hi)) / (one.hi - one.lo)


@pytest.mark.parametrize("beta", [(1, 1), (0.4, 1.5), (5, 5), None])
@pytest.mark.parametrize(("questions", "n"), [(30, 8), (60, 12), (200, 4)])
def test_sampling_intervals_of_both_families_agree(beta, questions, n):
    """Their grids of shifts differ, which moves the limits by 0.02 % of the width in the median.

    Over 1,094 simulated runs in which the score is at least two events from both ends of its
    range, the difference is 0.2 % in 95 of 100 and 2.7 % at most. With fewer events the coarser
    grid of rewards matters more, up to 36 % of the width.
    """
    rng = np.random.default_rng([questions, n])
    a, b = beta or (None, None)
    rates = rng.beta(a, b, questions) if beta else rng.choice([0.1, 0.9], questions)
    counts = BinaryCounts(np.full(questions, n), rng.binomial(n, rates))
    for of_rates, of_rewards in both_families(counts, [1, 2, n // 2]):
        assert of_rewards.mu == pytest.approx(of_rates.mu, abs=1e-14)
        assert of_rewards.sigma == pytest.approx(of_rates.sigma, rel=1e-4)
        assert largest_difference(of_rates, of_rewards) < 0.01


def test_ragged_runs_of_both_families_agree():
    rng = np.random.default_rng(30)
    n = rng.integers(8, 12, 60)  # within a power of 2, whose sizes are pooled for rewards
    counts = BinaryCounts(n, rng.binomial(n, rng.random(60)))
    for of_rates, of_rewards in both_families(counts, [1, 4]):
        assert of_rewards.sigma == pytest.approx(of_rates.sigma, rel=0.02)
        assert largest_difference(of_rates, of_rewards) < 0.02


@pytest.mark.parametrize("interval", ["sampling", "questions", "auto"])
def test_max_at_k_of_binary_outcomes_has_the_interval_of_pass_at_k(interval):
    rng = np.random.default_rng(4)
    outcomes = rng.binomial(1, rng.beta(0.4, 1.5, (60, 1)), (60, 12))
    options = {"predictions": outcomes, "k": [1, 4, 12], "confidence": 0.95, "interval": interval}
    of_max, of_pass = max_at_k(**options), gpassk(include="pass@k", **options)
    for k in (1, 4, 12):
        lo, hi = limits(of_pass, f"pass@{k}")
        assert limits(of_max, f"max@{k}") == pytest.approx((lo, hi), abs=0.02 * (hi - lo))
    average = bayes_at_n(outcomes, interval=interval)
    assert limits(average, "avg@12") == pytest.approx(limits(of_max, "max@1"), abs=1e-12)


def test_hierarchical_max_at_k_of_binary_outcomes_is_close_to_pass_at_k():
    rng = np.random.default_rng(5)
    outcomes = rng.binomial(1, rng.beta(0.4, 1.5, (60, 1)), (60, 12))
    options = {"predictions": outcomes, "k": 48, "confidence": 0.95, "interval": "hierarchical"}
    of_max, of_pass = max_at_k(**options), gpassk(include="pass@k", **options)
    lo, hi = limits(of_pass, "pass@48")
    assert of_max["max@48"] == pytest.approx(of_pass["pass@48"], abs=0.01)
    assert limits(of_max, "max@48") == pytest.approx((lo, hi), abs=0.25 * (hi - lo))


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
    wanted = float(enumerated_squared_changes(rewards, k))
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_expected_squared_changes_are_those_over_all_possible_samples(n, k):
    pmf, levels = [Fraction(x, 10) for x in (3, 5, 2)], [Fraction(x) for x in (0, 1, 4)]
    wanted = Fraction(0)
    for places in itertools.product(range(3), repeat=n):
        probability = math.prod((pmf[place] for place in places), start=Fraction(1))
        wanted += probability * enumerated_squared_changes(tuple(levels[x] for x in places), k)
    above = np.array([0.7, 0.2])
    distribution = LevelDistributions(np.log(above / (1 - above)), np.array([1.0, 3.0]))
    assert distribution.squared_changes(n, k) == pytest.approx(float(wanted), rel=1e-3)


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
    assert small.typical_n.tolist() == ones.typical_n.tolist() == [5, 5, 16]
