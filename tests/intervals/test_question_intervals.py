"""Wilson-type intervals for other questions like these, and clusters of questions."""

import math

import at_k
import numpy as np
import pytest
from at_k.core.questions import (
    QuestionIntervals,
    design_effects,
    variance_of_mean,
    wilson_limits,
)
from at_k.core.rewards import Rewards
from at_k.core.score import Scores, one_column_each
from at_k.intervals.reward_family import RewardFamily
from at_k.intervals.sampling import SamplingIntervals
from hypothesis import given
from hypothesis import strategies as st

# --- Means of scores ----------------------------------------------------------------------


@given(st.floats(0, 1), st.floats(0, 0.2), st.integers(1, 200), st.floats(0.5, 5))
def test_interval_contains_the_mean_and_stays_in_the_range(u, variance, questions, z):
    mean = -1 + 3 * u
    lo, hi = wilson_limits(mean, variance, questions, (-1.0, 2.0), z)
    assert -1 <= lo <= mean + 1e-12
    assert mean - 1e-12 <= hi <= 2


def test_interval_of_scores_0_and_1_is_wilsons():
    u, z, n = 0.3, 1.959963984540054, 1600
    lo, hi = wilson_limits(u, u * (1 - u) / n, n, (0.0, 1.0), z)
    center, margin = u + z * z / 2 / n, z * math.sqrt(u * (1 - u) / n + z * z / 4 / n**2)
    assert (lo, hi) == pytest.approx(
        ((center - margin) / (1 + z * z / n), (center + margin) / (1 + z * z / n)), rel=1e-3
    )


def test_a_confidence_close_to_1_has_limits():
    confidence = 1 - 2**-53
    result = at_k.compare(
        [[0, 1], [1, 1], [0, 0]],
        [[1, 0], [1, 1], [0, 1]],
        k=1,
        interval="questions",
        confidence=confidence,
    )
    assert -1 <= result["pass@1_lo"] <= result["pass@1"] <= result["pass@1_hi"] <= 1


def test_questions_of_one_cluster_count_as_one():
    scores = np.array([0.1, 0.5, 0.9, 0.4])
    variance, z = variance_of_mean(scores, np.arange(4), 0.95)
    assert variance == pytest.approx(np.var(scores, ddof=1) / 4)
    doubled = variance_of_mean(np.repeat(scores, 2), np.repeat(np.arange(4), 2), 0.95)
    assert doubled == pytest.approx((variance, z))


@pytest.mark.parametrize("clusters", [None, np.zeros(4)])
def test_one_question_or_one_cluster_has_no_interval(clusters):
    columns = np.array([[0.1], [0.5], [0.9], [0.4]])
    points = Scores(one_column_each(["score"]), np.arange(4), columns)
    method = QuestionIntervals(points, (0.0, 1.0), clusters)
    problem = method.problem(np.arange(1 if clusters is None else 4))
    assert problem is not None
    assert "one cluster of questions" in problem


# --- Clusters of questions with rewards ---------------------------------------------------


def reward_sigmas(counts: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """sigma of Max@1 and Max@3, from (M, 3) counts of the rewards 0, 0.5 and 1."""
    rewards = Rewards(np.arange(len(counts)), np.array([0.0, 0.5, 1.0]), np.cumsum(counts, axis=1))
    family = RewardFamily.of_run(rewards, {"max@1": 1, "max@3": 3}, {}, (0.0, 1.0))
    method = SamplingIntervals(family, new_questions=True, clusters=clusters)
    (found,) = method.for_groups([np.arange(len(counts))], 0.95)
    return np.array([found["max@1"].sigma, found["max@3"].sigma])


def test_sigma_of_clustered_rewards_includes_the_design_effect():
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(10), 5)
    counts = rng.multinomial(6, rng.dirichlet([1, 1, 1], 10)[clusters])
    rewards = Rewards(np.arange(50), np.array([0.0, 0.5, 1.0]), np.cumsum(counts, axis=1))
    columns = np.stack([rewards.max_of(1), rewards.max_of(3)], axis=1)
    effect = design_effects(columns, clusters)
    assert (effect > 1.5).all()
    wanted = np.sqrt(effect) * reward_sigmas(counts, None)
    assert reward_sigmas(counts, clusters) == pytest.approx(wanted, rel=1e-12)


def test_sigma_of_repeated_rewards_is_that_of_the_rewards_if_they_share_a_cluster():
    rng = np.random.default_rng(5)
    counts = rng.multinomial(8, rng.dirichlet([1, 1, 1], 60))
    twice, clusters = np.repeat(counts, 2, axis=0), np.repeat(np.arange(60), 2)
    once = reward_sigmas(counts, None)
    assert reward_sigmas(twice, clusters) == pytest.approx(once, rel=0.02)
    assert reward_sigmas(twice, None) == pytest.approx(once / math.sqrt(2), rel=0.02)
