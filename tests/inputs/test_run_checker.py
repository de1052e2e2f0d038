"""Running a function as the checker: what it gets, what it may return, and fields of errors."""

import pickle
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import at_k
import numpy as np
import pytest
from at_k.core.checks import FROM_0, Index, InputError, Place, RunName
from at_k.core.computations import GPASSK
from at_k.readers.table import SelectionError, Way
from scored import REFERENCES, SAMPLES, check, same


def test_each_distinct_pair_of_a_question_is_checked_once():
    calls: Counter[tuple[str, str]] = Counter()

    def checker(prediction, reference):
        calls[prediction, reference] += 1
        return prediction == reference

    predictions = [["a", "b", "a", "a"], ["a", "a"], ["b", "b"]]
    assert check(predictions, ["a", "a", "b"], checker) == [[1, 0, 1, 1], [1, 1], [1, 1]]
    # The first two questions have equal references: (a, a) is checked once for each of them.
    assert calls == {("a", "a"): 2, ("b", "a"): 1, ("b", "b"): 1}


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (True, 1),
        (False, 0),
        (2, 2),
        (0.25, 0.25),
        (None, None),
        (np.True_, 1),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.array(1), 1),
    ],
)
def test_a_checker_may_return_a_bool_a_category_a_score_or_none(result, outcome):
    assert check([["x"]], ["y"], lambda prediction, reference: result) == [[outcome]]


@pytest.mark.parametrize("result", ["yes", -1, 1.5, float("nan"), [True], np.array([1]), object()])
def test_any_other_result_is_refused_and_its_sample_is_named(result):
    def checker(prediction, reference):
        return result if prediction == "c" else True

    with pytest.raises(ValueError, match=r"predictions\[2\]\[0\] returned .*a result is"):
        check(SAMPLES, REFERENCES, checker)


def test_categories_and_shares_of_correctness_are_not_mixed():
    results = {"a": 2, "b": 0.5, "c": 1}

    def checker(prediction, reference):
        return results[prediction]

    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] returned 2, a category, and sh"):
        check([["b", "a"]], ["x"], checker)
    assert check([["b", "c"]], ["x"], checker) == [[0.5, 1]]


GRADES = {"wrong": 0, "close": 1, "right": 2}


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}])
def test_a_result_may_be_a_label(options):
    def grade(prediction, reference):
        return "right" if prediction == reference else "close" if prediction == "c" else None

    outcomes = check([["a", "c"], ["b"]], ["a", "a"], grade, labels=GRADES, **options)
    assert outcomes == [[2, 1], [None]]


def test_an_unknown_label_is_refused_and_the_known_ones_are_listed():
    with pytest.raises(ValueError, match=r"'good': a result is 'wrong', 'close', 'right', a bool"):
        check(SAMPLES, REFERENCES, lambda p, r: "good", labels=GRADES)


def test_an_exception_of_the_checker_is_the_cause_of_an_error_that_names_the_sample():
    def checker(prediction, reference):
        if (prediction, reference) == ("b", "c"):
            raise ZeroDivisionError("oh")
        return True

    with pytest.raises(ValueError, match=r"'b', \.\.\) on predictions\[2\]\[3\] raised") as caught:
        check(SAMPLES, REFERENCES, checker)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_samples_that_are_none_are_not_checked():
    assert check([["a", None]], ["a"], same) == [[1, None]]
    assert check([[None, None]], ["a"], same) == [[None, None]]


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        ([[{"x": 1}, {"y": [2]}], [{"x": 1}]], [{"x": 1}, {"z": {}}]),
        ([[["a", "b"], ["a"]], [[]]], [["a"], []]),
        ([[1, 2], [3]], [2, None]),
        ([[1.5, 2.5], [3.5]], [1.5, "x"]),
        ([[[{"role": "user"}], [{"role": "bot"}]], [[]]], [[{"role": "bot"}], []]),
        ([["a"], ["b"]], [{"x": 10**25}, {"x": 1}]),
        ([["a"], ["b"]], [10**25, "q"]),
        ([["a"], ["b"]], [1, 2.5]),
        ([["a"], ["b"]], [None, None]),
        ([[{"y": 1}, {"x": 2}]], ["a"]),
        ([[[], [{"a": 1}], [{"b": 2}]]], [[[{"a": 1}]]]),
        ([[(), ("a", 1)]], [[[[{"a": 1}]], [[{"b": 1}]]]]),
    ],
)
def test_a_checker_gets_predictions_and_references_as_they_were_passed(predictions, references):
    seen = []

    def checker(prediction, reference):
        seen.append((prediction, reference))
        return True

    check(predictions, references, checker)
    passed = [
        (list(sample) if isinstance(sample, tuple) else sample, answer)
        for samples, answer in zip(predictions, references, strict=True)
        for sample in samples
    ]
    assert seen == passed
    assert [type(answer) for _, answer in seen] == [type(answer) for _, answer in passed]


def test_a_long_run_shows_a_progress_bar(capsys):
    def slow(prediction, reference):
        time.sleep(0.3)
        return True

    check([[str(i) for i in range(5)]], ["x"], slow)
    assert "Checking" in capsys.readouterr().err
    check([["a"]], ["x"], same)
    assert capsys.readouterr().err == ""


# --- Fields of errors -------------------------------------------------------------------


def fails_on_2(prediction, reference):
    if prediction == "2":
        raise KeyError("no such unit")
    return prediction == reference


def score_a_wrong_outcome():
    GPASSK.compute(predictions=[[0, 1], [1, 2]])


def raised(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return caught.value


def test_the_place_of_an_error_is_a_field():
    error = raised(score_a_wrong_outcome)
    assert error.place == Place("predictions", 1, 1)
    assert str(error).startswith("predictions[1][1] is 2: an outcome is 0 or False if incorrect")
    counts = [{"n": 2, "correct": 1}, {"n": 2, "correct": 3}]
    error = raised(GPASSK.compute, predictions=counts)
    assert error.place == Place("predictions", 1, key="correct")
    assert str(error).startswith("predictions['correct'][1] is 3 of 2 samples")
    error = raised(at_k.pass_at_k, [[1, 0], [1]], 2)
    assert error.place == Place("question", 1)
    assert "k is 2, but question 1 has n = 1" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        InputError(RunName("a: "), Place("predictions", 2, 1), " is 2", FROM_0, "."),
        SelectionError(
            ["a, row ", Index(3), " has two."],
            [Way({"where": {"filter": "a=b"}}, "only these samples"), "outcomes"],
        ),
    ],
)
def test_a_pickled_error_keeps_its_fields(error):
    copy = pickle.loads(pickle.dumps(error))
    assert [*map(type, copy.args)] == [*map(type, error.args)]
    assert (str(copy), copy.args, vars(copy)) == (str(error), error.args, vars(error))


def test_an_error_of_another_process_keeps_its_fields():
    with ProcessPoolExecutor(1) as executor:
        error = raised(executor.submit(score_a_wrong_outcome).result)
    assert error.place == Place("predictions", 1, 1)


def test_an_error_of_a_checker_in_a_worker_has_the_place_of_its_sample():
    rows = {"predictions": [["1", "1"], ["3", "2"]], "references": ["1", "3"]}
    error = raised(GPASSK.compute, **rows, check_correct_fn=fails_on_2, num_proc=2)
    assert error.place == Place("predictions", 1, 1)
    assert "on predictions[1][1] raised KeyError" in str(error)
