"""Counts of millions of samples: the time depends on the distinct counts, and digits are exact."""

from fractions import Fraction
from math import comb

import at_k
import numpy as np
import pytest
from at_k import Counts
from at_k.scores.distributions import pmf
from hypothesis import given
from hypothesis import strategies as st
from scored import gpassk


def exact(n, c, k, credit):
    """Return the mean credit of all subsets of k samples, by the number of correct ones in it."""
    ways = sum(comb(c, j) * comb(n - c, k - j) * credit(j) for j in range(k + 1))
    return Fraction(ways, comb(n, k))


def exact_of_posterior(n, c, k, credit):
    """Return the posterior mean with a uniform prior."""
    total = Fraction(0)
    for j in range(k + 1):
        ways = Fraction(comb(k, j))
        for i in range(j):
            ways *= c + 1 + i
        for i in range(k - j):
            ways *= n - c + 1 + i
        for i in range(k):
            ways /= n + 2 + i
        total += ways * credit(j)
    return total


@given(data=st.data())
def test_scores_of_large_counts_are_exact(data):
    n = data.draw(st.one_of(st.integers(2**17 - 5, 2**17 + 5), st.integers(2**17, 2**53 - 1)))
    near_a_limit = st.integers(0, 30)
    c = data.draw(st.one_of(st.integers(0, n), near_a_limit, near_a_limit.map(lambda x: n - x)))
    k = data.draw(st.integers(1, 40))
    credits = {
        "pass_at_k": lambda j: int(j > 0),
        "pass_hat_k": lambda j: int(j == k),
        "maj_at_k": lambda j: int(2 * j > k),
    }
    for name, credit in credits.items():
        score = getattr(at_k, name)(Counts([n], [c]), k)
        expected = exact(n, c, k, credit)
        assert score == pytest.approx(float(expected), rel=1e-13, abs=1e-300)
        mu = getattr(at_k, f"{name}_ci")(Counts([n], [c]), k, bounds=None)[0]
        assert mu == pytest.approx(float(exact_of_posterior(n, c, k, credit)), rel=1e-14)


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
