"""vote@k is exact: against every subset, and against the identities that it has."""

import math
from fractions import Fraction

import numpy as np
import pytest
from at_k.inputs.outcomes import Outcomes
from at_k.scores.votes import Ballots, plurality
from exact import vote as every_subset
from hypothesis import given, settings
from hypothesis import strategies as st

answers = st.lists(st.integers(1, 4), max_size=3).map(lambda counts: tuple(sorted(counts)))


@given(answers, answers, st.integers(0, 2), st.data())
@settings(deadline=None, max_examples=150)
def test_every_small_bank_agrees_with_all_subsets(right, wrong, silent, data):
    n = sum(right) + sum(wrong) + silent
    if not 1 <= n <= 13:
        return
    k = data.draw(st.integers(1, n))
    wanted = float(every_subset(right, wrong, silent, k))
    assert plurality(right, wrong, silent, k) == pytest.approx(wanted, rel=2e-15, abs=0)


def exactly(right: tuple[int, ...], wrong: tuple[int, ...], k: int) -> float:
    """The same by counting, for every number of winning votes, the ways that tie w answers.

    In integers: {(draws, winners, right winners): ways}, answer by answer.
    """
    total = Fraction(0)
    for t in range(1, k + 1):
        ways = {(0, 0, 0): 1}
        for m, is_right in [(m, True) for m in right] + [(m, False) for m in wrong]:
            grown: dict[tuple[int, int, int], int] = {}
            for (drawn, winners, rights), way in ways.items():
                for x in range(min(m, t, k - drawn) + 1):
                    wins = x == t
                    place = drawn + x, winners + wins, rights + (wins and is_right)
                    grown[place] = grown.get(place, 0) + way * math.comb(m, x)
            ways = grown
        total += sum(
            (
                Fraction(rights * way, winners)
                for (d, winners, rights), way in ways.items()
                if d == k and winners
            ),
            Fraction(0),
        )
    return float(total / math.comb(sum(right) + sum(wrong), k))


@pytest.mark.parametrize(
    ("right", "wrong", "k"),
    [
        ((12,), (3, 5, 9, 11), 20),
        ((1,) * 10, (1,) * 30, 12),
        ((2, 7), (1, 1, 1, 2, 8, 9), 16),
        ((40,), (41, 47), 64),
        ((1,), (1, 60, 67), 40),
        ((64,), (64,), 64),
    ],
)
def test_larger_banks_agree_with_exact_counting(right, wrong, k):
    assert plurality(right, wrong, 0, k) == pytest.approx(exactly(right, wrong, k), rel=1e-14)


@given(st.integers(1, 300), st.integers(0, 300), st.data())
@settings(deadline=None, max_examples=60)
def test_between_two_answers_a_vote_is_a_majority_with_ties_halved(right, wrong, data):
    n = right + wrong
    k = data.draw(st.integers(1, min(n, 80)))
    ways = [math.comb(right, j) * math.comb(wrong, k - j) for j in range(k + 1)]
    wins = sum(2 * way if 2 * j > k else way if 2 * j == k else 0 for j, way in enumerate(ways))
    wanted = Fraction(wins, 2 * math.comb(n, k))
    assert plurality((right,), (wrong,) if wrong else (), 0, k) == pytest.approx(
        float(wanted), rel=1e-13
    )


@given(answers, answers, st.data())
@settings(deadline=None)
def test_the_answers_share_all_of_the_wins(right, wrong, data):
    n = sum(right) + sum(wrong)
    if n:
        k = data.draw(st.integers(1, n))
        both = plurality(right, wrong, 0, k) + plurality(wrong, right, 0, k)
        assert both == pytest.approx(1, rel=1e-14)


@given(answers, answers, st.data())
@settings(deadline=None)
def test_one_draw_votes_as_the_average_sample(right, wrong, data):
    n = sum(right) + sum(wrong)
    if n:
        assert plurality(right, wrong, 0, 1) == pytest.approx(sum(right) / n, rel=1e-14)


@given(answers, answers, st.integers(0, 2), st.data())
@settings(deadline=None)
def test_right_answers_that_are_one_win_at_least_as_often(right, wrong, silent, data):
    n = sum(right) + sum(wrong) + silent
    if right and n:
        k = data.draw(st.integers(1, n))
        apart = plurality(right, wrong, silent, k)
        assert plurality((sum(right),), wrong, silent, k) >= apart * (1 - 1e-14)


def test_a_thousand_samples_do_not_overflow():
    """With three times the votes of the next, half of the samples never lose."""
    assert plurality((600,), (200, 200), 0, 500) == pytest.approx(1, abs=1e-12)
    assert plurality((200,), (600, 200), 0, 500) == pytest.approx(0, abs=1e-12)
    # All drawn: a tie of two.
    assert plurality((400,), (200, 400), 0, 1000) == pytest.approx(0.5, rel=1e-13)


def test_samples_become_counts_of_answers():
    sizes = np.array([6, 4, 3])
    answer = np.array([3, 3, 5, 7, 9, -1, 4, 5, 4, 6, -1, -1, -1])
    right = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=bool)
    scored = np.arange(13) != 2
    k = np.array([3, 2, 1])
    bank = Outcomes(right, sizes, "R", scored)
    merged = Ballots(bank, answer, merge_right=True).vote(k)
    apart = Ballots(bank, answer, merge_right=False).vote(k)
    assert merged == pytest.approx([float(every_subset([3], [1], 1, 3)), 0, 0])
    assert apart == pytest.approx([float(every_subset([2, 1], [1], 1, 3)), 0, 0])
