"""Invalid inputs: errors name the sample and the remedy, and keep what was added before."""

import math

import at_k
import numpy as np
import pytest
from scored import compute, gpassk

METRICS = ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
TEXTS = [["a", "b", "a"], ["b", "a", "b"]]
ANSWERS = ["a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]
VERDICTS = [["fully", "mostly", "partial", "none"], ["minor"], ["mostly", "partial"]]
W, GRADES = [0.0, 0.5, 1.0], ["wrong", "close", "right"]
GRADED = [["wrong", "close", "right", "right"], ["close", "close", "wrong", "right"]]

# Calls of each metric, and the messages of their errors.
GPASSK = [
    ({"references": ["a"]}, "predictions are missing"),
    ({"predictions": []}, "predictions holds no question"),
    ({"predictions": ["ab", "a"], "references": ANSWERS}, r"predictions\[0\] is 'ab'"),
    ({"predictions": [["a"], "a"], "references": ANSWERS}, r"predictions\[1\] is 'a'"),
    ({"predictions": "ab"}, "predictions is 'ab'"),
    ({"predictions": 3}, "predictions is 3"),
    ({"predictions": [["a"], None], "references": ANSWERS}, r"predictions\[1\] is None"),
    ({"predictions": [["a"], []], "references": ANSWERS}, r"predictions\[1\] is empty"),
    ({"predictions": [["a"], ["b", 2]], "references": ANSWERS}, r"predictions\[1\]\[1\] is 2"),
    ({"predictions": np.zeros((2, 2, 2))}, "3 dimensions"),
    ({"predictions": np.zeros(2)}, "each question has a list"),
    ({"predictions": TEXTS}, "no references to check the predictions"),
    ({"predictions": TEXTS, "references": ["a"]}, "2 lists of predictions but 1 references"),
    ({"predictions": TEXTS, "references": "ab"}, "references is 'ab'"),
    ({"num_proc": 0}, "num_proc is 0"),
    ({"predictions": [[object()]], "references": ["a"]}, r"predictions\[0\]\[0\] is <object"),
    ({"predictions": [["a"]], "references": [object()]}, r"references\[0\] is <object"),
    ({"predictions": [[0, 1], [1, 2]]}, r"predictions\[1\]\[1\] is 2"),
    ({"predictions": [[0, 1], [1, 0.5]]}, r"predictions\[1\]\[1\] is 0.5"),
    ({"predictions": [[0, math.nan]]}, r"predictions\[0\]\[1\] is nan"),
    ({"predictions": [[0, 1]], "check_correct_fn": "numeric"}, "no references to check against"),
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
    ({"thresholds": "a"}, r"thresholds\[0\] is 'a'"),
    ({"thresholds": None}, r"thresholds\[0\] is None"),
    ({"include": []}, "include is empty"),
    ({"confidence": "0.9"}, "confidence is '0.9'"),
    ({"alpha0": None}, "alpha0 is None"),
    ({"groups": ["a", None, "b"]}, r"groups\[1\] is None"),
    ({"predictions": [["a"], ["b"]], "references": ["a", None]}, r"references\[3\] is None"),
    ({"predictions": [["a"], ["b"]], "references": [{1: 2}, {}]}, r"key 1 is not a text"),
    ({"predictions": np.zeros((2, 0))}, r"predictions\[0\] is empty"),
    ({"predictions": [[1], [None, None]]}, r"predictions\[1\] has no scored sample"),
    (
        {"predictions": [["a", "b"], [None, None]], "references": ["a", "b"]},
        r"predictions\[3\] has no scored sample",
    ),
    ({"predictions": [[1], ["a"]]}, r"predictions\[1\]\[0\] is 'a', but predictions"),
    ({"thresholds": [1.5]}, r"thresholds\[0\] is 1.5"),
    ({"include": ["pass@4"]}, "include has 'pass@4'"),
    ({"confidence": 95}, "confidence is 95"),
    ({"confidence": 0}, "confidence is 0"),
    ({"alpha0": 0}, "alpha0 is 0"),
]
REWARDS = [
    ({"predictions": [[0, 2]]}, r"predictions\[3\].* 2: there are rewards for the categories 0"),
    ({"predictions": [[0, 0.5]], "w": W}, r"predictions\[3\].* 0.5: an outcome is a category"),
    ({"predictions": [["wrong"]]}, "no references to check"),
    (
        {"predictions": [["wrong", "ok"]], "w": W, "categories": GRADES},
        r"predictions\[2\]\[1\] is 'ok', which is none",
    ),
    ({"categories": GRADES}, "There are 3 categories but 2 rewards"),
    ({"categories": ["a", "a"]}, r"categories\[1\] is 'a': give each category its"),
    ({"categories": [0, 1]}, r"categories\[0\] is 0"),
    ({"w": [0.0, math.inf]}, r"w\[1\] is inf"),
    ({"R0": [[0], [1]]}, "give 3 rows"),
    ({"R0": [[0, 5]] * 3}, r"R0\[0\]\[1\] is 5"),
    ({"bounds": (1, 0)}, "second of bounds is 0"),
    ({"bounds": 3}, "bounds are 3"),
    ({"w": ["a", "b"]}, r"w\[0\] is 'a'"),
    (
        {"predictions": [[0, 3]], "w": W},
        r"predictions\[3\]\[1\] is 3: there are rewards for",
    ),
    ({"predictions": [[0, -1]], "w": W}, "is -1: an outcome is a category"),
    ({"confidence": 95}, "confidence is 95"),
]
CONSENSUS = [
    ({"predictions": [[0, 2]]}, r"predictions\[0\]\[1\] is 2: an outcome is 0 or 1, or a share"),
    ({"predictions": [[0.5, 1.5]]}, r"predictions\[0\]\[1\] is 1.5"),
    ({"predictions": [["a"]]}, "no references to check"),
    ({"k": 6}, r"k is 6, but question 0 has n = 5"),
    ({"k": [1, 0]}, "k is 0"),
    ({"alpha0": 0}, "alpha0 is 0"),
]
SCORE_AGG = [
    ({"predictions": []}, "predictions holds no question"),
    ({"predictions": [["fully"], []]}, r"predictions\[1\] is empty"),
    ({"predictions": [["fully"], [None]]}, r"predictions\[4\] has no scored sample"),
    ({"predictions": ["fully"]}, r"predictions\[0\] is 'fully'"),
    ({"predictions": [["fully", "Mainly"]]}, r"predictions\[3\]\[1\] is 'Mainly', which is none"),
    ({"predictions": [["fully", 1.0]]}, r"predictions\[0\]\[1\] is 1.0, but predictions"),
    ({"predictions": [[1.0]]}, "samples are all of one type"),
    ({"predictions": [["x"]], "references": ["x"]}, "some have none: give all or none"),
    ({"check_correct_fn": lambda p, r: 1.0}, "no references to check against"),
    ({"temperature": 0.0}, "temperature is 0.0: give a temperature from 0.1"),
    ({"penalty": 2}, "penalty is 2: "),
    ({"eps_for_neg_p": 2}, "eps_for_neg_p is 2: "),
    ({"weights": {}}, "weights is {}: give a dict from labels to numbers"),
    ({"weights": None}, "weights is None"),
    ({"weights": ["fully"]}, "weights is"),
    ({"weights": {1: 1.0}}, "weights has the label 1: a label is a string"),
    ({"weights": {"fully": 2}}, r"weights\['fully'\] is 2: a weight is a number from 0 to 1"),
    ({"weights": {"fully": float("nan")}}, r"weights\['fully'\] is nan"),
    ({"weights": {"fully": True}}, r"weights\['fully'\] is True"),
    ({"groups": ["a"]}, "groups has 1 labels for 3 questions"),
]
INVALID = [
    *(("gpassk", *case) for case in GPASSK),
    *((name, *case) for name in ("bayes_at_n", "max_at_k") for case in REWARDS),
    *(("cons_at_k", *case) for case in CONSENSUS),
    *(("score_agg", *case) for case in SCORE_AGG),
]


def added_before(name: str, call: dict) -> tuple[dict, dict]:
    """Return what is added before a call that fails, and the options of the compute after it."""
    options = {"k": 2} if name in ("gpassk", "max_at_k") else {}
    if name == "score_agg":
        return {"predictions": VERDICTS}, options
    match call:
        case {"predictions": [[str(), *_], *_]} if name in ("bayes_at_n", "max_at_k"):
            return {"predictions": GRADED}, options | {"w": W, "categories": GRADES}
        case {"references": _} | {"predictions": [[str(), *_], *_]}:
            return {"predictions": TEXTS, "references": ANSWERS}, options
    return {"predictions": OUTCOMES}, options


def never(prediction, reference):
    raise AssertionError("a sample was checked")


@pytest.mark.parametrize(("name", "call", "message"), INVALID)
def test_an_invalid_input_is_an_error_and_keeps_what_was_added(name, call, message):
    """An invalid parameter is found before any sample is checked."""
    added, options = added_before(name, call)
    metric = at_k.load(name)
    metric.add_batch(**added)
    call = ({"k": 1} if name in ("gpassk", "max_at_k") else {}) | call
    with pytest.raises(ValueError, match=message):
        metric.compute(**call)
    if not call.keys() & {"predictions", "references", "check_correct_fn"}:
        answers = {"predictions": [[*"abcde"]] * 3, "references": [*"abc"]}
        with pytest.raises(ValueError, match=message):
            compute(name, **answers, check_correct_fn=never, **call)
    assert len(metric) == len(added["predictions"])
    assert metric.compute(**options) == compute(name, **options, **added)


@pytest.mark.parametrize("name", METRICS)
def test_a_checker_that_fails_keeps_what_was_added(name):
    def broken(prediction, reference):
        raise RuntimeError("the checker fails")

    def same(prediction, reference):
        return float(prediction == reference)

    metric, options = at_k.load(name), {"check_correct_fn": same}
    ks = {"k": 1} if name.endswith("k") else {}
    metric.add_batch(predictions=TEXTS, references=ANSWERS)
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised RuntimeError"):
        metric.compute(predictions=[["x"] * 3], references=["x"], check_correct_fn=broken, **ks)
    assert len(metric) == 2
    expected = compute(name, TEXTS, references=ANSWERS, **options, **ks)
    assert metric.compute(**options, **ks) == expected


def test_very_many_k_are_refused_before_any_score_is_computed():
    counts = {"n": [9000], "correct": [1]}
    with pytest.raises(ValueError, match=r"k has 5,000 values .* the sum can be 4,000,000 at most"):
        gpassk(counts, k=[*range(1, 5001)])


def test_k_is_compared_with_the_samples_that_are_not_none_before_any_is_checked():
    with pytest.raises(ValueError, match="question 0 has n = 1 scored"):
        gpassk([[None, None, "b"]], references=["a"], check_correct_fn=never, k=2)


def test_an_unknown_parameter_is_an_error_and_adds_nothing(gpassk):
    with pytest.raises(TypeError, match="thresold"):
        gpassk.compute(predictions=OUTCOMES, k=2, thresold=[1.0])
    assert len(gpassk) == 0


def test_batches_that_cannot_be_united_are_refused(gpassk):
    gpassk.add_batch(predictions=TEXTS, references=ANSWERS)
    with pytest.raises(ValueError, match="some have none: give all or none"):
        gpassk.add_batch(predictions=OUTCOMES)
    with pytest.raises(ValueError, match="samples are all of one type"):
        gpassk.add_batch(predictions=OUTCOMES, references=ANSWERS[:1] * 3)
    with pytest.raises(ValueError, match="Give one prediction"):
        gpassk.add(prediction=TEXTS[0], predictions=TEXTS[0], reference="a")
    assert gpassk.compute(k=2, include="pass@k") == {"pass@2": 1.0}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpassk", "is 2: an outcome is"),
        ("cons_at_k", "is 2: an outcome is 0 or 1, or a share"),
        ("score_agg", "is 2: a verdict is a"),
    ],
)
def test_a_category_is_refused_as_a_result_of_the_checker(name, message):
    def category(prediction, reference):
        return "ab".index(prediction) * 2

    with pytest.raises(ValueError, match=rf"result for predictions\[0\]\[1\] {message}"):
        compute(name, TEXTS, references=ANSWERS, check_correct_fn=category)
