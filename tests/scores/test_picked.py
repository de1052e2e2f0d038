"""picked@k and weighted_vote@k: against every subset of samples in exact fractions."""

import itertools
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import cons_at_k, max_at_k

numbers = st.integers(0, 3)
samples = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=7)


def picked(pairs: list[tuple[int, int]], k: int) -> Fraction:
    """The mean reward of the sample with the largest score, over all subsets; ties are shared."""
    total = Fraction(0)
    for subset in itertools.combinations(pairs, k):
        best = max(score for _, score in subset)
        rewards = [reward for reward, score in subset if score == best]
        total += Fraction(sum(rewards), len(rewards))
    return total / math.comb(len(pairs), k)


def weighted_vote(votes: list[tuple[str, Fraction]], k: int, correct: set[str]) -> Fraction:
    """The mean share of the win of correct answers, over all subsets."""
    total = Fraction(0)
    for subset in itertools.combinations(votes, k):
        sums: dict[str, Fraction] = {}
        for answer, weight in subset:
            sums[answer] = sums.get(answer, Fraction(0)) + weight
        winners = [x for x in sums if sums[x] == max(sums.values()) > 0]
        total += Fraction(len(correct.intersection(winners)), max(1, len(winners)))
    return total / math.comb(len(votes), k)


@given(st.lists(samples, min_size=1, max_size=3), st.data())
@settings(deadline=None, max_examples=60)
def test_picked_agrees_with_all_subsets(questions, data):
    k = data.draw(st.integers(1, min(map(len, questions))))
    expected = sum(picked(pairs, k) for pairs in questions) / len(questions)
    rows, scores = ([[pair[i] for pair in x] for x in questions] for i in (0, 1))
    options: dict[str, Any] = {"k": k, "picked_by": scores}
    categories = max_at_k(rows, w=[0, 1, 2, 3], **options)
    assert categories == {f"picked@{k}": pytest.approx(float(expected))}
    # Rewards: halves, so that not all are 0 and 1.
    halves = [[x / 2 + 0.25 for x in row] for row in rows]
    real = max_at_k(halves, **options)
    assert real[f"picked@{k}"] == pytest.approx(float(expected) / 2 + 0.25)


@pytest.mark.filterwarnings("ignore:None of the")
@given(st.lists(st.tuples(st.sampled_from("abc"), numbers), min_size=1, max_size=8), st.data())
@settings(deadline=None, max_examples=60)
def test_weighted_votes_agree_with_all_subsets(votes, data):
    k = data.draw(st.integers(1, len(votes)))
    tenths = [(answer, Fraction(weight, 10)) for answer, weight in votes]
    for accepted in (["a"], ["a", "b"]):  # of which each is an answer of its own
        expected = weighted_vote(tenths, k, set(accepted))
        scores = cons_at_k(
            [[answer for answer, _ in votes]],
            references=[accepted],
            vote_weights=[[weight / 10 for _, weight in votes]],
            k=k,
            include="weighted_vote@k",
            merge_right=False,
        )
        assert scores == {f"weighted_vote@{k}": pytest.approx(float(expected))}


@pytest.mark.parametrize("k", [3, 20])
def test_equal_weights_are_the_vote(k):
    rng = np.random.default_rng(1)
    rows = rng.choice([*"abcd"], (30, 24), p=[0.4, 0.3, 0.2, 0.1]).tolist()
    options: dict[str, Any] = {"k": k, "include": ["vote@k", "weighted_vote@k"]}
    weights = np.full((30, 24), 0.1)
    scores = cons_at_k(rows, references=["a"] * 30, vote_weights=weights, **options)
    # 10,000 random subsets of each of 30 questions.
    error = abs(scores[f"weighted_vote@{k}"] - scores[f"vote@{k}"])
    assert error < (1e-12 if k == 3 else 4 * 0.005 / math.sqrt(30))


def test_limits_of_weighted_votes_are_those_of_questions():
    rng = np.random.default_rng(3)
    rows = rng.choice([*"abc"], (30, 12), p=[0.5, 0.3, 0.2]).tolist()
    options: dict[str, Any] = {
        "references": ["a"] * 30,
        "vote_weights": np.ones((30, 12)),
        "k": 3,
        "confidence": 0.95,
    }
    scores = cons_at_k(rows, **options)
    named = cons_at_k(rows, interval="questions", **options)
    assert scores["vote@3_interval"] == "sampling"
    assert scores["weighted_vote@3_interval"] == "questions"
    for name in ("sigma", "lo", "hi"):
        expected = named[f"weighted_vote@3_{name}"]
        assert scores[f"weighted_vote@3_{name}"] == expected
        # Equal weights are the vote.
        assert named[f"vote@3_{name}"] == pytest.approx(expected, abs=1e-12)


def test_max_at_k_may_be_named_as_in_its_key():
    rows = [[0.5, 1.0], [0.0, 0.25]]
    expected = max_at_k(rows, k=2, include="Max@k")
    assert max_at_k(rows, k=2, include="max@k") == expected == {"max@2": 0.625}


def test_scores_of_unscored_samples_are_ignored():
    rows, scores = [[1, None, 0, 1], [0, 1, None, 0]], [[0.2, None, 0.9, 0.1], [3, 4, 5, 3]]
    short, of_short = [[1, 0, 1], [0, 1, 0]], [[0.2, 0.9, 0.1], [3, 4, 3]]
    options: dict[str, Any] = {"k": 2, "confidence": 0.9}
    expected = max_at_k(short, picked_by=of_short, **options)
    assert max_at_k(rows, picked_by=scores, **options) == expected
    counts = {"n": [3], "correct": [2]}
    with pytest.raises(ValueError, match="predictions are counts"):
        max_at_k(counts, picked_by=[[1, 2, 3]], k=1)
    for bad in (-1.0, 1e308):
        message = re.escape(f"vote_weights[0][1] is {bad}: a weight")
        with pytest.raises(ValueError, match=message):
            cons_at_k([["a", "b"]], references=["a"], vote_weights=[[1, bad]])
    tied = {"predictions": [["b", "b", "b", "a", "a"]], "references": ["a"], "k": 5}
    assert cons_at_k(**tied, vote_weights=[[1e300] * 5])["weighted_vote@5"] == 0


def test_weighted_votes_of_very_many_samples_are_refused():
    answers, weights = ["a"] * 20_001, [1.0] * 20_001
    with pytest.raises(ValueError, match="Question 1 has n = 20001 samples: weighted_vote@k takes"):
        cons_at_k(
            [["a", "b"], answers], references=["a", "a"], vote_weights=[[1.0, 1.0], weights], k=2
        )
