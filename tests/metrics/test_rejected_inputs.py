"""Invalid inputs: errors name the place and the remedy, and keep what was added before."""

import math

import evaluate
import numpy as np
import pytest
from conftest import ROOT

TEXTS = [["a", "b", "a"], ["b", "a", "b"]]
ANSWERS = ["a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"references": ["a"]}, "predictions are missing"),
        ({"predictions": []}, "predictions holds no question"),
        ({"predictions": ["ab", "a"], "references": ANSWERS}, r"predictions\[0\] is 'ab'"),
        ({"predictions": [["a"], "a"], "references": ANSWERS}, r"predictions\[1\] is 'a'"),
        ({"predictions": "ab"}, "predictions is 'ab'"),
        ({"predictions": 3}, "predictions is 3"),
        ({"predictions": [["a"], None], "references": ANSWERS}, r"predictions\[1\] is None"),
        ({"predictions": [["a"], []], "references": ANSWERS}, r"predictions\[1\] is empty"),
        (
            {"predictions": [["a"], ["b", 2]], "references": ANSWERS},
            r"predictions\[1\]\[1\] is 2",
        ),
        ({"predictions": np.zeros((2, 2, 2))}, "3 dimensions"),
        ({"predictions": np.zeros(2)}, "each question has a list"),
        ({"predictions": TEXTS}, "no references to check the predictions"),
        ({"predictions": TEXTS, "references": ["a"]}, "2 lists of predictions but 1 references"),
        ({"predictions": TEXTS, "references": "ab"}, "references is 'ab'"),
        ({"predictions": [[object()]], "references": ["a"]}, r"predictions\[0\]\[0\] is <object"),
        ({"predictions": [["a"]], "references": [object()]}, r"references\[0\] is <object"),
        ({"predictions": [[0, 1], [1, 2]]}, r"predictions\[1\]\[1\] is 2"),
        ({"predictions": [[0, 1], [1, 0.5]]}, r"predictions\[1\]\[1\] is 0.5"),
        ({"predictions": [[0, math.nan]]}, r"predictions\[0\]\[1\] is nan"),
        (
            {"predictions": [[0, 1]], "check_correct_fn": "numeric"},
            "no references to check against",
        ),
        ({"groups": ["x"]}, "groups has 1 labels for 3 questions"),
        ({"groups": ["x", math.nan, "y"]}, r"groups\[1\] is nan: give every question a label"),
        ({"predictions": {("a", "b"), ("c", "d")}}, "predictions is {"),
        ({"predictions": [{"a"}, ["b"]], "references": ANSWERS}, r"predictions\[0\] is {'a'}"),
        ({"predictions": [{1, 0}]}, r"predictions\[0\] is {0, 1}"),
        ({"predictions": TEXTS, "references": {"a", "b"}}, "references is {"),
        ({"groups": {"a"}}, "groups is {'a'}"),
        ({"k": {2}}, r"k is \{2\}"),
        ({"include": frozenset({"pass@k"})}, "include has frozenset"),
        ({"k": 6}, "k is 6, but question 0 has n = 5"),
        ({"k": True}, "k is True"),
        ({"k": [2, 0]}, "k is 0"),
        ({"k": []}, "k is empty"),
        ({"k": 10**10}, "k is 10000000000"),
        ({"thresholds": []}, "thresholds is empty"),
        ({"thresholds": "a"}, "tau is 'a'"),
        ({"thresholds": None}, "tau is None"),
        ({"include": []}, "include is empty"),
        ({"confidence": "0.9"}, "confidence is '0.9'"),
        ({"alpha0": None}, "alpha0 is None"),
        ({"groups": ["a", None, "b"]}, r"groups\[1\] is None"),
        (
            {"predictions": [["a", "b"], "bcd"], "references": ANSWERS},
            r"predictions\[1\] is 'bcd'",
        ),
        ({"predictions": [["a"], ["b"]], "references": ["a", None]}, r"references\[3\] is None"),
        ({"predictions": [["a"], ["b"]], "references": [{1: 2}, {}]}, r"key 1 is not a text"),
        ({"predictions": np.zeros((2, 0))}, r"predictions\[0\] is empty"),
        ({"predictions": [[1], [None, None]]}, r"predictions\[1\] holds nothing but None"),
        (
            {"predictions": [["a", "b"], [None, None]], "references": ["a", "b"]},
            r"predictions\[3\] holds nothing but None",
        ),
        ({"predictions": [[1], ["a"]]}, r"predictions\[1\]\[0\] is 'a', but predictions"),
        ({"thresholds": [1.5]}, "tau is 1.5"),
        ({"include": ["pass@4"]}, "include has 'pass@4'"),
        ({"confidence": 95}, "confidence is 95"),
        ({"confidence": 0}, "confidence is 0"),
        ({"alpha0": 0}, "alpha0 is 0"),
    ],
)
def test_an_invalid_input_is_an_error_and_keeps_what_was_added(gpassk, call, message):
    texts = bool(call.get("references")) or call.get("predictions") is TEXTS
    added: dict[str, list] = {"predictions": TEXTS if texts else OUTCOMES}
    added |= {"references": ANSWERS} if texts else {}
    gpassk.add_batch(**added)
    with pytest.raises(ValueError, match=message):
        gpassk.compute(**({"k": 1} | call))
    assert len(gpassk) == len(added["predictions"])
    fresh = evaluate.load(str(ROOT / "metrics" / "gpassk"))
    assert gpassk.compute(k=2) == fresh.compute(k=2, **added)


def test_compute_without_any_question_is_an_error(gpassk):
    with pytest.raises(ValueError, match="nothing to compute"):
        gpassk.compute(k=1)


def test_very_many_k_are_refused_before_any_score_is_computed(gpassk):
    counts = {"n": [9000], "correct": [1]}
    with pytest.raises(ValueError, match=r"k has 5,000 values .* the sum can be 4,000,000 at most"):
        gpassk.compute(predictions=counts, k=[*range(1, 5001)])


def test_k_is_compared_with_the_samples_that_are_not_none_before_any_is_checked(gpassk):
    def checker(prediction, reference):
        raise AssertionError("a sample was checked")

    with pytest.raises(ValueError, match="question 0 has n = 1 scored"):
        gpassk.compute(
            predictions=[[None, None, "b"]], references=["a"], check_correct_fn=checker, k=2
        )


def test_an_unknown_parameter_is_an_error_and_adds_nothing(gpassk):
    with pytest.raises(TypeError, match="thresold"):
        gpassk.compute(predictions=OUTCOMES, k=2, thresold=[1.0])
    assert len(gpassk) == 0


@pytest.mark.parametrize(
    ("invalid", "message"),
    [
        ({"k": 4}, "k is 4, but question 0 has n = 3"),
        ({"k": 0}, "k is 0"),
        ({"thresholds": [2]}, "tau is 2"),
        ({"include": "all"}, "include has 'all'"),
        ({"groups": ["x"]}, "groups has 1 labels"),
        ({"confidence": 2}, "confidence is 2"),
        ({"beta0": -1}, "beta0 is -1"),
        ({"num_proc": 0}, "num_proc is 0"),
    ],
)
def test_invalid_parameters_are_found_before_any_sample_is_checked(gpassk, invalid, message):
    checked = []
    options = {"k": 1, "check_correct_fn": lambda p, r: checked.append(p)} | invalid
    with pytest.raises(ValueError, match=message):
        gpassk.compute(predictions=TEXTS, references=ANSWERS, **options)
    assert not checked


def test_batches_that_cannot_be_united_are_refused(gpassk):
    gpassk.add_batch(predictions=TEXTS, references=ANSWERS)
    with pytest.raises(ValueError, match="some have none: give all or none"):
        gpassk.add_batch(predictions=OUTCOMES)
    with pytest.raises(ValueError, match="samples are all of one type"):
        gpassk.add_batch(predictions=OUTCOMES, references=ANSWERS[:1] * 3)
    with pytest.raises(ValueError, match="Give one prediction"):
        gpassk.add(prediction=TEXTS[0], predictions=TEXTS[0], reference="a")
    assert gpassk.compute(k=2, include="pass@k") == {"pass@2": 1.0}


def test_a_batch_is_compared_with_all_earlier_ones(gpassk):
    gpassk.add(prediction=[None], reference="a")
    gpassk.add(prediction=["a"], reference="a")
    with pytest.raises(ValueError, match="samples are all of one type"):
        gpassk.add(prediction=[1], reference="a")
    assert len(gpassk) == 2


def test_a_category_is_refused_as_a_result_of_the_checker(gpassk):
    with pytest.raises(ValueError, match=r"result for predictions\[0\]\[0\] is 2: an outcome"):
        gpassk.compute(predictions=TEXTS, references=ANSWERS, check_correct_fn=lambda p, r: 2, k=1)


def test_a_checker_that_fails_keeps_what_was_added(gpassk):
    def broken(prediction, reference):
        raise RuntimeError("the checker fails")

    gpassk.add_batch(predictions=TEXTS, references=ANSWERS)
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised RuntimeError"):
        gpassk.compute(predictions=[["x"] * 3], references=["x"], check_correct_fn=broken, k=1)
    assert len(gpassk) == 2
    assert gpassk.compute(k=2) == gpassk.compute(predictions=TEXTS, references=ANSWERS, k=2)
