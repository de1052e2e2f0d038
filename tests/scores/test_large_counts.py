"""Large inputs: digits are exact, and memory and steps grow about linearly. No clock is read."""

import tracemalloc
from fractions import Fraction
from math import comb

import at_k
import numpy as np
import pytest
from at_k import Counts
from at_k.core import votes
from at_k.core.choice import IntervalOptions
from at_k.core.credits import above_half, area_under_pass, majority
from at_k.core.rewards import category_rewards, real_rewards
from at_k.core.samples import Samples, read_outcomes
from at_k.core.votes import AnswerCounts, vote_at_k
from at_k.intervals.reward_family import max_intervals
from at_k.intervals.reward_levels import Grid
from at_k.scores import distributions
from at_k.scores.distributions import credit_covariances, pmf
from exact import hypergeometric_mean, posterior_mean, values_of
from hypothesis import given
from hypothesis import strategies as st
from scored import gpassk


@given(data=st.data())
def test_scores_of_large_counts_are_exact(data):
    n = data.draw(st.one_of(st.integers(2**17 - 5, 2**17 + 5), st.integers(2**17, 2**53 - 1)))
    near_a_limit = st.integers(0, 30)
    c = data.draw(st.one_of(st.integers(0, n), near_a_limit, near_a_limit.map(lambda x: n - x)))
    k = data.draw(st.integers(1, 40))
    for function, name in (
        ("pass_at_k", "pass@k"),
        ("pass_hat_k", "pass^k"),
        ("maj_at_k", "maj@k"),
    ):
        values = values_of(name, k)
        score = getattr(at_k, function)(Counts([n], [c]), k)
        expected = hypergeometric_mean(n, c, values)
        assert score == pytest.approx(float(expected), rel=1e-13, abs=1e-300)
        mu = getattr(at_k, f"{function}_ci")(Counts([n], [c]), k, bounds=None)[0]
        assert mu == pytest.approx(float(posterior_mean(n, c, (1, 1), values)), rel=1e-14)


@given(data=st.data())
def test_best_of_k_of_large_counts_of_categories_is_exact(data):
    counts = data.draw(st.lists(st.integers(0, 2**51), min_size=3, max_size=3))
    k = data.draw(st.integers(2, 9))
    counts[data.draw(st.integers(0, 2))] += 2**17 + k
    table, w = Counts([counts]), [0.0, 0.5, 2.0]
    at_most = [sum(counts[: i + 1]) for i in range(3)]
    below = [Fraction(comb(m, k), comb(at_most[-1], k)) for m in at_most]
    expected = below[1] / 2 - below[0] / 2 + 2 * (1 - below[1])
    assert at_k.max_at_k(table, k, w=w) == pytest.approx(float(expected), rel=1e-15)
    # Of new samples, with a uniform prior: rising factorials of the counts + 1.
    below = [
        Fraction(comb(m + i + k, k), comb(at_most[-1] + 2 + k, k)) for i, m in enumerate(at_most)
    ]
    expected = below[1] / 2 - below[0] / 2 + 2 * (1 - below[1])
    assert at_k.max_at_k_ci(table, k, w=w)[0] == pytest.approx(float(expected), rel=1e-15)


def test_large_and_small_counts_of_one_run_agree_with_each_alone():
    runs = [(10**7, 3), (12, 5), (2**52, 2**51), (300_000, 299_999)]
    together = at_k.pass_at_k(Counts(*zip(*runs, strict=True)), 7)
    alone = [at_k.pass_at_k(Counts([n], [c]), 7) for n, c in runs]
    assert together == pytest.approx(sum(alone) / 4, rel=1e-15)


def test_an_interval_that_would_take_too_long_is_refused_with_the_question():
    counts = {"n": [8, 10**6 + 1], "correct": [3, 10]}
    options = {"predictions": counts, "k": 2, "include": "pass@k", "confidence": 0.95}
    with pytest.raises(ValueError, match="Question 1 has n = 1000001 samples: only the interval"):
        gpassk(**options)
    assert gpassk(**options, interval="posterior")["pass@2_sigma"] > 0


def test_tails_of_large_counts_are_exact():
    counts, k = [50_000, 3, 7_000_000], 6
    table = Counts([counts])
    ways = {0.0: 0, 0.5: 0, 1.0: 0}
    for i in range(k + 1):
        for j in range(k + 1 - i):
            subsets = comb(counts[0], k - i - j) * comb(counts[1], i) * comb(counts[2], j)
            for tau in ways:
                ways[tau] += subsets * (i / 2 + j >= tau * k)
    scores = at_k.tailpass_empirical(table, k, w=[0.0, 0.5, 1.0], thresholds=list(ways))
    expected = [float(Fraction(x, comb(sum(counts), k))) for x in ways.values()]
    assert scores.tolist() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("n", "c", "k"), [(20_000, 3, 9000), (10**7, 10**6, 20_000), (9000, 4000, 9000), (5, 5, 9000)]
)
def test_pmf_of_large_k_is_accurate(n, c, k):
    (cells,) = pmf(np.array([n]), np.array([c]), k, (1.0, 1.0))
    likely = np.flatnonzero(cells > 1e-280)
    for j in [*likely[:: len(likely) // 5 + 1].tolist(), int(likely[-1])]:
        expected = Fraction(comb(c + j, j) * comb(n - c + k - j, k - j), comb(n + 1 + k, k))
        assert cells[j] == pytest.approx(float(expected), rel=1e-13)


# --- Memory and steps -------------------------------------------------------------------


def peak_bytes(call) -> int:
    """Return the largest memory that a call allocates beside what it was given."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def sizes_of_results(monkeypatch, module, name: str, size=len) -> list[int]:
    """Return a list that the number of entries of each result of a function is added to."""
    sizes, function = [], getattr(module, name)

    def counted(*args, **options):
        result = function(*args, **options)
        sizes.append(size(result))
        return result

    monkeypatch.setattr(module, name, counted)
    return sizes


def test_one_question_with_many_rewards_needs_memory_for_its_rewards_only():
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=8).tolist() for _ in range(2000)] + [rng.normal(size=20_000).tolist()]
    outcomes = read_outcomes(rows)
    of_4 = real_rewards(outcomes).max_of(4)
    assert peak_bytes(lambda: real_rewards(outcomes).max_of(4)) < 30e6  # not 2000 x 20,000 doubles
    for question in (0, 2000):
        alone = real_rewards(read_outcomes([rows[question]])).max_of(4)
        assert of_4[question] == pytest.approx(alone[0], rel=1e-15)


def test_categories_are_counted_with_a_few_bytes_for_each_sample():
    values = np.random.default_rng(0).integers(0, 3, 20_000_000, dtype=np.int8)
    outcomes = Samples(values, np.array([3, 7_000_000, 12_999_997]))
    counts = []
    assert peak_bytes(lambda: counts.append(outcomes.category_counts(3))) < 12 * values.nbytes
    assert (counts[0].sum(axis=0) == np.bincount(values)).all()
    assert (counts[0].sum(axis=1) == outcomes.sizes).all()


def test_groups_with_equal_counts_have_their_interval_computed_once(monkeypatch):
    R = np.random.default_rng(0).integers(0, 3, (200, 2))
    none = np.zeros((200, 3), dtype=np.int64)
    rewards = category_rewards(read_outcomes(R), np.array([0.0, 0.5, 1.0]), none)
    fits = sizes_of_results(monkeypatch, Grid, "likelihood")
    _, method = max_intervals(rewards, {"max@1": 1}, IntervalOptions(), rewards.ranges)
    for questions in (np.arange(200), *np.arange(200)[:, None]):
        method.intervals(questions, 0.95)
    assert len(fits) < 20  # not 201


@pytest.mark.parametrize("credits", [majority, above_half, area_under_pass])
def test_posterior_covariance_takes_few_nodes_for_each_k(monkeypatch, credits):
    nodes = sizes_of_results(monkeypatch, distributions, "_beta_weights", np.size)
    for k in (500, 20_000):
        pair = credits(k), credits(k)
        credit_covariances(np.array([k]), np.array([k // 3]), [pair], (1.0, 1.0))
    assert max(nodes) <= 2048


def test_vote_of_many_different_answers_takes_answers_times_k_steps(monkeypatch):
    cells = sizes_of_results(monkeypatch, votes, "_multiply_truncated")
    shapes = []

    def nodes_of(number):
        shapes.append(number)
        return [(0.5, 1.0)] * number

    monkeypatch.setattr(votes, "gauss_legendre", nodes_of)
    (vote,) = vote_at_k([AnswerCounts((1,), (1,) * 399, 0)], 200)
    assert vote == pytest.approx(1 / 400, rel=1e-12)  # all answers have equal chances
    assert {*cells} == {1}  # one polynomial
    assert not shapes  # no quadrature


def test_vote_that_would_take_hours_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(votes, "vote_probability", None)
    counts = [AnswerCounts((3,), (2,), 0), AnswerCounts((5000,), (3000, 2000), 0)]
    with pytest.raises(ValueError, match="vote@5000 of question 1, which has 3 answers, needs"):
        vote_at_k(counts, np.array([2, 5000]))


def test_groups_of_a_large_run_do_not_each_cost_the_whole_run(monkeypatch):
    metric, bincount, cells = at_k.load("max_at_k"), np.bincount, []

    def counted(*args, **options):
        cells.append(bincount(*args, **options))
        return cells[-1]

    monkeypatch.setattr(np, "bincount", counted)
    numbers = []
    for questions in (100, 400):
        cells.clear()
        rewards = np.random.default_rng(0).normal(size=(questions, 3))
        metric.compute(predictions=rewards, k=2, groups=[str(i // 2) for i in range(questions)])
        numbers.append(sum(each.size for each in cells))
    assert numbers[1] < 6 * numbers[0]
