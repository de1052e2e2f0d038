"""score_agg: verdicts, their weights, checkers, groups and invalid inputs."""

from concurrent.futures import ThreadPoolExecutor

import at_k
import numpy as np
import pytest
from scored import score_agg

LABELS = [["fully", "mostly", "partial", "none"], ["minor"], ["mostly", "partial"]]
GRADES = {"good": 1, "fair": 0.5, "bad": 0}


def grade(statement, source):
    known = [word in source for word in statement.split()]
    return None if statement == "?" else "fully" if all(known) else "none" if any(known) else 0.25


SOURCES = ["the tower is in paris", "the bridge is red"]
STATEMENTS = [["the tower", "tower of london", "?"], ["red bridge", "a boat", "red bridge"]]
VERDICTS = [["fully", "none", None], [1.0, 0.25, "fully"]]


def test_the_default_is_the_plain_mean_less_a_tenth_for_each_verdict_of_0():
    scores = score_agg(LABELS)
    assert scores["score_agg"] == pytest.approx((0.65 * 0.9 + 0.3 + 0.8) / 3, rel=1e-15)


def test_verdicts_may_be_in_capitals_unless_two_differ_by_them_only():
    capitals = [[label.upper() for label in row] for row in LABELS]
    assert score_agg(capitals) == score_agg(LABELS)
    weights = {"a": 1.0, "A": 0.5}
    assert score_agg([["a", "A"]], weights=weights) == {
        "score_agg": score_agg([[1.0, 0.5]])["score_agg"]
    }


def test_custom_weights_replace_the_standard_ones():
    verdicts = [["good", "fair", None], ["bad", "good"]]
    scores = score_agg(verdicts, weights=GRADES)
    assert scores == {"score_agg": (0.75 + 0.45) / 2}
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] is 'good', .* none of fully"):
        score_agg(verdicts)
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] is 'fully', .* good, fair, bad"):
        score_agg(LABELS, weights=GRADES)


@pytest.mark.parametrize("workers", [{}, {"num_proc": 2}, {"executor": ThreadPoolExecutor(2)}])
def test_a_checker_may_return_labels_numbers_or_none(workers):
    options = {"references": SOURCES, "check_correct_fn": grade, "temperature": 0.7}
    scores = score_agg(STATEMENTS, **options, **workers)
    assert scores == {"score_agg": at_k.score_agg(VERDICTS, 0.7)}


def test_a_checker_returns_labels_of_the_given_weights():
    def in_grades(statement, source):
        return "good" if "red" in statement else "fair"

    scores = score_agg(STATEMENTS, references=SOURCES, check_correct_fn=in_grades, weights=GRADES)
    assert scores == {"score_agg": pytest.approx((0.5 + 2.5 / 3) / 2)}
    with pytest.raises(ValueError, match=r"returned 'fair': a result is 'fully', 'mostly'"):
        score_agg(STATEMENTS, references=SOURCES, check_correct_fn=in_grades)


def test_numbers_of_different_types_are_united():
    metric = at_k.load("score_agg")
    for verdicts in ([True, False], [1, 0], [0.5], [None, 0.25], np.array([0.5], "f2")):
        metric.add(prediction=verdicts)
    scores = metric.compute(return_per_question=True)
    assert scores["per_question"]["score_agg"] == [0.45, 0.45, 0.5, 0.25, 0.5]
