"""Intervals of rewards: unbiased variances, ends within the rewards, and what they hold."""

import itertools
import math

import at_k
import numpy as np
import pytest
from at_k.outcomes import read_outcomes
from at_k.reward_sampling import best_variance, between, within
from at_k.rewards import number_rewards
from hypothesis import given, settings
from hypothesis import strategies as st


def variance_of_pairs(rewards: list[float], k: int) -> float:
    """U^2 less the mean product of the best of two disjoint sets of k, over all such pairs."""
    places = range(len(rewards))
    best = {one: max(rewards[i] for i in one) for one in itertools.combinations(places, k)}
    products = [best[a] * best[b] for a, b in itertools.permutations(best, 2) if not {*a} & {*b}]
    return (sum(best.values()) / len(best)) ** 2 - sum(products) / len(products)


@given(st.lists(st.floats(-10, 10), min_size=4, max_size=7), st.data())
@settings(deadline=None, max_examples=60)
def test_the_variance_of_the_best_is_that_of_all_disjoint_pairs(rewards, data):
    k = data.draw(st.integers(1, len(rewards) // 2))
    found = number_rewards(read_outcomes([rewards]))
    variance, sets = best_variance(found, k)
    assert variance[0] == pytest.approx(variance_of_pairs(rewards, k), abs=1e-10)
    assert sets[0] == len(rewards) / k


@given(st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=9), min_size=2, max_size=6))
@settings(deadline=None, max_examples=60)
def test_of_one_draw_it_is_the_sample_variance_over_n(bank):
    found = number_rewards(read_outcomes(bank))
    variance, _ = best_variance(found, 1)
    wanted = [np.var(row, ddof=1) / len(row) for row in bank]
    assert variance[found.kind] == pytest.approx(wanted, abs=1e-12)


@given(
    st.floats(0, 1), st.floats(0, 0.2), st.integers(1, 200), st.integers(1, 64), st.floats(0.5, 5)
)
def test_an_interval_is_within_the_rewards_and_around_the_mean(u, variance, questions, n, reach):
    mean = -1 + 3 * u
    lo, hi = within(mean, variance, np.full(questions, n), (-1.0, 2.0), reach)
    assert -1 <= lo <= mean + 1e-12
    assert mean - 1e-12 <= hi <= 2


def test_of_binary_samples_of_one_rate_it_is_wilsons_interval():
    """100 questions x 16 samples, all with the variance of one coin."""
    u, z = 0.3, 1.959963984540054
    n, each = 1600, 16
    lo, hi = within(u, u * (1 - u) / n, np.full(n // each, each), (0.0, 1.0), z)
    middle, arm = u + z * z / 2 / n, z * math.sqrt(u * (1 - u) / n + z * z / 4 / n**2)
    assert (lo, hi) == pytest.approx(
        ((middle - arm) / (1 + z * z / n), (middle + arm) / (1 + z * z / n)), rel=1e-3
    )


def test_questions_of_one_source_count_as_one():
    score = np.array([0.1, 0.5, 0.9, 0.4])
    variance, reach = between(score, np.arange(4), 0.95)
    assert variance == pytest.approx(np.var(score, ddof=1) / 4)
    doubled = np.repeat(score, 2)
    assert between(doubled, np.repeat(np.arange(4), 2), 0.95) == pytest.approx((variance, reach))
    with pytest.raises(ValueError, match="one source of questions"):
        between(score, np.zeros(4), 0.95)


def coverage(metric: str, interval: str, draw, truth: float, options: dict) -> float:
    loaded, rng, held = at_k.load(metric), np.random.default_rng(0), 0
    for _ in range(200):
        scores = loaded.compute(predictions=draw(rng), interval=interval, **options)
        held += _holds(scores, truth)
    return held / 200


def _holds(scores: dict, truth: float) -> bool:
    lo = next(value for key, value in scores.items() if key.endswith("_lo"))
    hi = next(value for key, value in scores.items() if key.endswith("_hi"))
    return lo <= truth <= hi


RARE = np.random.default_rng(1).beta(0.3, 6, 60)


def test_intervals_of_rare_successes_hold_the_mean_where_the_posterior_does_not():
    def draw(rng):
        return rng.binomial(1, RARE[:, None], (60, 8))

    options: dict = {"confidence": 0.95}
    assert coverage("bayes_at_n", "posterior", draw, RARE.mean(), options) < 0.2
    assert 0.91 <= coverage("bayes_at_n", "auto", draw, RARE.mean(), options) <= 0.99


def test_intervals_of_the_best_reward_hold_it():
    means = np.random.default_rng(2).normal(size=(40, 1))
    many = np.random.default_rng(3).normal(size=(4, 200_000)).max(axis=0)
    truth = means.mean() + many.mean()  # the best of 4 normal rewards, exactly enough

    def draw(rng):
        return means + rng.normal(size=(40, 16))

    assert 0.91 <= coverage("max_at_k", "auto", draw, truth, {"k": 4, "confidence": 0.95}) <= 1.0


@pytest.mark.parametrize(
    ("metric", "bank", "options", "message"),
    [
        ("max_at_k", [[0.1, 0.5, 0.2]], {"k": 2, "interval": "sampling"}, "2k = 4 of them"),
        ("max_at_k", [[0.1, 0.5]], {"k": 1, "interval": "questions"}, "There is one question"),
        ("bayes_at_n", [[1], [0]], {"interval": "sampling"}, "2k = 2 of them"),
        ("bayes_at_n", [[1], [0]], {"interval": "hierarchical"}, "none of posterior, sampling"),
        ("bayes_at_n", [[1], [0]], {"clusters": ["a", "b"]}, "clusters are for"),
        ("score_agg", [[1.0], [0.0]], {"interval": "sampling"}, "none of questions"),
        ("score_agg", [[1.0], [0.0]], {"clusters": ["a"]}, "1 labels for 2 questions"),
    ],
)
def test_an_interval_that_cannot_be_had_is_refused(metric, bank, options, message):
    with pytest.raises(ValueError, match=message):
        at_k.load(metric).compute(predictions=bank, confidence=0.9, **options)


def test_auto_says_what_it_took():
    max_at_k = at_k.load("max_at_k")
    bank = [[0.1, 0.5, 0.2, 0.9], [0.3, 0.3, 0.8, 0.1]]
    scores = max_at_k.compute(predictions=bank, k=[2, 3], confidence=0.9, interval="auto")
    assert (scores["max@2_interval"], scores["max@3_interval"]) == ("sampling", "questions")
    scores = max_at_k.compute(predictions=bank[:1], k=[3], confidence=0.9, interval="auto")
    assert scores["max@3_interval"] == "none"
    assert (scores["max@3_lo"], scores["max@3_hi"]) == (0.1, 0.9)
