"""vote@k is exact: it agrees with enumeration and has the identities of a vote."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from at_k.core.samples import Samples
from at_k.core.votes import AnswerCounts, count_answers, vote_at_k, vote_probability
from at_k.intervals.consensus import copies_of_samples, vote_variances
from exact import vote as every_subset
from hypothesis import given, settings
from hypothesis import strategies as st

answers = st.lists(st.integers(1, 4), max_size=3).map(lambda counts: tuple(sorted(counts)))


def vote(
    correct: tuple[int, ...], incorrect: tuple[int, ...], k: int, unanswered: int = 0
) -> float:
    return vote_probability(AnswerCounts(correct, incorrect, unanswered), k)


@given(answers, answers, st.integers(0, 2), st.data())
@settings(deadline=None, max_examples=150)
def test_vote_of_few_samples_agrees_with_all_subsets(correct, incorrect, unanswered, data):
    n = sum(correct) + sum(incorrect) + unanswered
    if not 1 <= n <= 13:
        return
    k = data.draw(st.integers(1, n))
    expected = float(every_subset(correct, incorrect, unanswered, k))
    assert vote(correct, incorrect, k, unanswered) == pytest.approx(expected, rel=2e-15, abs=0)


def count_exactly(correct: tuple[int, ...], incorrect: tuple[int, ...], k: int) -> float:
    """Return vote@k by counting, for every number of winning votes, the ways that tie w answers.

    The table of integers {(samples, winners, correct winners): ways} grows answer by answer.
    """
    total = Fraction(0)
    for t in range(1, k + 1):
        table = {(0, 0, 0): 1}
        for m, is_correct in [(m, True) for m in correct] + [(m, False) for m in incorrect]:
            grown: dict[tuple[int, int, int], int] = {}
            for (samples, winners, correct_winners), ways in table.items():
                for x in range(min(m, t, k - samples) + 1):
                    wins = x == t
                    key = samples + x, winners + wins, correct_winners + (wins and is_correct)
                    grown[key] = grown.get(key, 0) + ways * math.comb(m, x)
            table = grown
        total += sum(
            (
                Fraction(correct_winners * ways, winners)
                for (samples, winners, correct_winners), ways in table.items()
                if samples == k and winners
            ),
            Fraction(0),
        )
    return float(total / math.comb(sum(correct) + sum(incorrect), k))


@pytest.mark.parametrize(
    ("correct", "incorrect", "k"),
    [
        ((12,), (3, 5, 9, 11), 20),
        ((1,) * 10, (1,) * 30, 12),
        ((2, 7), (1, 1, 1, 2, 8, 9), 16),
        ((40,), (41, 47), 64),
        ((1,), (1, 60, 67), 40),
        ((64,), (64,), 64),
    ],
)
def test_vote_of_many_samples_agrees_with_exact_counting(correct, incorrect, k):
    expected = count_exactly(correct, incorrect, k)
    assert vote(correct, incorrect, k) == pytest.approx(expected, rel=1e-14)


@given(st.integers(1, 300), st.integers(0, 300), st.data())
@settings(deadline=None, max_examples=60)
def test_vote_between_two_answers_is_a_majority_that_halves_ties(correct, incorrect, data):
    n = correct + incorrect
    k = data.draw(st.integers(1, min(n, 80)))
    ways = [math.comb(correct, j) * math.comb(incorrect, k - j) for j in range(k + 1)]
    wins = sum(2 * way if 2 * j > k else way if 2 * j == k else 0 for j, way in enumerate(ways))
    expected = Fraction(wins, 2 * math.comb(n, k))
    assert vote((correct,), (incorrect,) if incorrect else (), k) == pytest.approx(
        float(expected), rel=1e-13
    )


def test_vote_of_a_thousand_samples_does_not_overflow():
    """An answer with three times the votes of the next one practically always wins."""
    assert vote((600,), (200, 200), 500) == pytest.approx(1, abs=1e-12)
    assert vote((200,), (600, 200), 500) == pytest.approx(0, abs=1e-12)
    # All samples are drawn, and two answers tie.
    assert vote((400,), (200, 400), 1000) == pytest.approx(0.5, rel=1e-13)


def test_answers_of_samples_are_counted_for_each_question():
    sizes = np.array([6, 4, 3])
    codes = np.array([3, 3, 5, 7, 9, -1, 4, 5, 4, 6, -1, -1, -1])
    is_correct = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=bool)
    scored = np.arange(13) != 2
    k = np.array([3, 2, 1])
    correct = Samples(is_correct, sizes, "R", scored)
    merged = vote_at_k(count_answers(correct, codes, merge_correct=True), k)
    separate = vote_at_k(count_answers(correct, codes, merge_correct=False), k)
    assert merged == pytest.approx([float(every_subset([3], [1], 1, 3)), 0, 0])
    assert separate == pytest.approx([float(every_subset([2, 1], [1], 1, 3)), 0, 0])


graded_answers = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=9)


@given(graded_answers, st.data())
@settings(deadline=None, max_examples=150)
def test_a_vote_for_an_answer_is_worth_the_mean_of_its_verdicts(samples, data):
    k = data.draw(st.integers(1, len(samples)))
    codes, verdicts = map(np.array, zip(*samples, strict=True))
    worth = {int(x): Fraction(int(verdicts[codes == x].sum()), sum(codes == x)) for x in codes}
    subsets: list[Counter[int]] = [
        Counter(drawn) for drawn in itertools.combinations(codes.tolist(), k)
    ]
    winners = [[x for x, m in votes.items() if m == max(votes.values())] for votes in subsets]
    credits = [sum(worth[x] for x in tied) / len(tied) for tied in winners]
    correct = Samples(verdicts, np.array([len(samples)]), "R")
    found = vote_at_k(count_answers(correct, codes, merge_correct=False), k)
    assert found == pytest.approx(float(sum(credits) / len(credits)), rel=1e-14)
    # All that are accepted in most of their samples are one answer.
    renamed = np.array([9 if 2 * worth[x] > 1 else x for x in codes.tolist()])
    merged, alone = count_answers(correct, codes, True), count_answers(correct, renamed, False)
    assert merged == alone


# --- Variances ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correct", "incorrect", "unanswered", "k"),
    [((3,), (1, 2), 1, 7), ((1, 1), (4,), 0, 6), ((2,), (2, 2), 0, 6), ((5,), (), 0, 3)],
)
def test_votes_that_are_drawn_with_replacement_agree_with_all_outcomes(
    correct, incorrect, unanswered, k
):
    answers = [*correct, *incorrect, unanswered]
    n, expected = sum(answers), Fraction(0)
    for drawn in itertools.product(range(k + 1), repeat=len(answers)):
        votes = drawn[:-1]
        if sum(drawn) == k and max(votes):
            ways = math.factorial(k) // math.prod(map(math.factorial, drawn))
            chance = math.prod(Fraction(m, n) ** x for m, x in zip(answers, drawn, strict=True))
            share = Fraction(votes[: len(correct)].count(max(votes)), votes.count(max(votes)))
            expected += ways * chance * share
    counts = AnswerCounts(correct, incorrect, unanswered)
    found = vote_probability(copies_of_samples(counts), k)
    assert found == pytest.approx(float(expected), rel=1e-12)


def moments_of_estimates(shares: list[float], n: int, k: int) -> tuple[float, float, float]:
    """Return the mean and the variance of vote@k of n samples, and the mean estimated variance.

    They come from all counts of n samples with these shares, of which the first is correct.
    """
    weights, found = [], []
    for counts in itertools.product(range(n + 1), repeat=len(shares)):
        if sum(counts) == n:
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            weights.append(ways * math.prod(p**m for p, m in zip(shares, counts, strict=True)))
            correct, *incorrect = (tuple([m] if m else []) for m in counts)
            found.append(AnswerCounts(correct, tuple(sorted(sum(incorrect, ()))), 0))
    votes, variances = vote_at_k(found, k), vote_variances(found, k)
    mean = float(np.array(weights) @ votes)
    return mean, float(weights @ (votes - mean) ** 2), float(weights @ variances)


@pytest.mark.parametrize("shares", [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.2, 0.5, 0.3]])
@pytest.mark.parametrize(("n", "k"), [(8, 1), (8, 3), (8, 4), (8, 6), (8, 8), (7, 7)])
def test_estimated_variances_of_votes_are_near_the_variance(shares, n, k):
    _, variance, estimated = moments_of_estimates(shares, n, k)
    assert 0.65 * variance < estimated < 1.8 * variance
    if k == 1:
        assert estimated == pytest.approx(variance)
    elif 2 * k <= n:
        assert estimated > variance  # by the Efron-Stein inequality, up to n / (n - 1)


def test_the_variance_of_one_vote_is_that_of_its_share():
    counts = [AnswerCounts((2, 3), (1,), 4), AnswerCounts((), (3,), 0), AnswerCounts((1,), (), 0)]
    counts.append(AnswerCounts((1,), (1,), 0))
    counts.append(AnswerCounts((2, 5), (1,), 2, (1, 3)))
    assert vote_variances(counts, 1) == pytest.approx([0.25 / 9, 0.0, 0.25, 0.25, 0.24 / 9])
