"""Judging: named judges, functions, each distinct pair once, errors with their place."""

import itertools
import multiprocessing
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import datasets
import numpy as np
import pyarrow as pa
import pytest
from at_k.inputs.named_checkers import last_number
from at_k.inputs.parsing import prediction_column, reference_column
from at_k.inputs.run_checker import graded_outcomes, run_checker

SAMPLES = [["a", "b", "a"], ["b"], ["c", "c", "a", "b"]]
ANSWERS = ["a", "b", "c"]
RIGHT = [[1, 0, 1], [1], [1, 1, 0, 0]]


def verdicts(predictions, references, check="exact_match", **how):
    """The verdict on each sample, None where it was not scored."""
    outcomes = run_checker(
        prediction_column(predictions), reference_column(references, len(predictions)), check, **how
    )
    scored = itertools.repeat(True) if outcomes.scored is None else outcomes.scored
    flat = iter(
        value if kept else None
        for value, kept in zip(outcomes.values.tolist(), scored, strict=False)
    )
    return [list(itertools.islice(flat, size)) for size in outcomes.sizes]


def same(prediction, reference):
    return prediction == reference


# --- Named judges -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predictions", "references", "right"),
    [
        (SAMPLES, ANSWERS, RIGHT),
        ([["a", "A", " a", ""]], ["a"], [[1, 0, 0, 0]]),
        ([["é", "e\u0301"]], ["é"], [[1, 0]]),
        ([["a", None, "b"]], ["a"], [[1, None, 0]]),
        ([["12", "12.0"]], [12], [[1, 0]]),
        ([["a", "b", "c"], ["a", "b"]], [["a", "b"], ["c"]], [[1, 1, 0], [0, 0]]),
        ([["a"], ["b"]], ["a", ["c", "b"]], [[1], [1]]),
        ([[1, 2], [3]], [1, 4], [[1, 0], [0]]),
        ([[1, 2]], [1.0], [[1, 0]]),
        ([[0.5, 1.5]], [[0.5, 1.5]], [[1, 1]]),
        ([[True, False]], [True], [[1, 0]]),
        ([[True, False]], [1], [[1, 0]]),
        ([[1, 2]], [[10**25, 2]], [[0, 1]]),
        ([[2**53 + 1, 2**53]], [[10**25, 2**53]], [[0, 1]]),
        ([[1, 2]], [[1.5, 2.0]], [[0, 1]]),
        ([[0.5, 2.0]], [[2, 10**400]], [[0, 1]]),
        ([[0.0, -0.0, 1.0]], [0], [[1, 1, 0]]),
        (np.array([[0.1, 0.2]], dtype="f4"), [0.1], [[1, 0]]),
        ([[2**53 + 1, 2**53], [1, 2]], [2**53, 1.5], [[0, 1], [0, 0]]),
        ([["a", "b"], ["b"]], [["a", "b", "c"], "b"], [[1, 1], [1]]),
    ],
)
def test_exact_match(predictions, references, right):
    assert verdicts(predictions, references) == right


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9 + 3 = 12.", "12"),
        ("The answer is 12", "12"),
        ("12 apples and 7 pears", "7"),
        ("1,234,567", "1234567"),
        ("1, 2, 3", "3"),
        ("1,23", "23"),
        ("$1,200.50", "1200.5"),
        ("-5", "-5"),
        ("x = -5", "-5"),
        ("(-5)", "-5"),
        ("7-5", "5"),
        ("7 - 5", "5"),
        ("\u22125", "-5"),
        ("+5", "5"),
        ("0.50", "0.5"),
        (".5", "0.5"),
        ("3.14.", "3.14"),
        ("007", "7"),
        ("-0", "0"),
        ("2e3", "2E+3"),
        ("2000", "2E+3"),
        ("1e-3", "0.001"),
        ("50%", "5E+1"),
        ("H2O", "2"),
        ("12345678901234567890123456789012345", "12345678901234567890123456789012345"),
        ("no number", None),
        ("", None),
        ("1,2", "2"),
        ("-$5", "-5"),
        (r"-\$3.50", "-3.5"),
        ("\u20135", "-5"),
        ("12{,}345", "12345"),
        (r"12\,345", "12345"),
        ("(1)-2", "2"),
        (12, "12"),
        (12.0, "12"),
        (0.1, "0.1"),
        (True, None),
        (None, None),
        (float("nan"), None),
    ],
)
def test_the_last_number_of_a_text(text, number):
    assert last_number(text) == number


def test_numeric_compares_last_numbers_as_they_are_written():
    samples = ["so 12", "12.00", "is it 12 or 13", "twelve", None, "1e1 + 2"]
    assert verdicts([samples], ["#### 12"], "numeric") == [[1, 1, 0, 0, None, 0]]
    assert verdicts([samples], [12], "numeric") == [[1, 1, 0, 0, None, 0]]
    assert verdicts([[12, 13]], ["12"], "numeric") == [[1, 0]]
    assert verdicts([["0.1"], ["0.3"]], [0.1, 0.1 + 0.2], "numeric") == [[1], [0]]
    big = "12345678901234567890"
    assert verdicts([[big, f"{big[:-1]}1"]], [int(big)], "numeric") == [[1, 0]]
    assert verdicts([["1", "2", "3"]], [["1", "2.0"]], "numeric") == [[1, 1, 0]]
    assert verdicts([["1e99999999999999999999", "1"]], ["1"], "numeric") == [[0, 1]]


def test_nan_is_no_answer():
    with pytest.raises(ValueError, match=r"predictions\[1\]\[0\] is nan"):
        verdicts([[1.0], [float("nan")]], [1.0, 2.0])


def test_math_verify_reads_expressions():
    samples = [[r"so $\frac{1}{2}$", "0.5", "1/3", "no idea"], [r"$3\sqrt{2}$", "3"]]
    assert verdicts(samples, ["1/2", r"3\sqrt{2}"], "math_verify") == [[1, 1, 0, 0], [1, 0]]
    assert verdicts([["2", "3"]], [["3", "4"]], "math_verify") == [[0, 1]]


@pytest.mark.parametrize(
    ("prediction", "reference", "right"),
    [
        ("A", "A", 1),
        ("x+1", "x+1", 1),
        ("1+x", "x+1", 1),
        (r"3\sqrt{2}", r"3\sqrt{2}", 1),
        ("3", r"3\sqrt{2}", 0),
        (r"so \boxed{12}", "12", 1),
        ("The answer is 12", 12, 1),
        ("$18.90", r"\$18.90", 1),
        ("no idea", "12", 0),
    ],
)
def test_math_verify_reads_bare_expressions_too(prediction, reference, right):
    assert verdicts([[prediction]], [reference], "math_verify") == [[right]]


def test_math_verify_judges_in_a_thread():
    with ThreadPoolExecutor(1) as executor:
        assert verdicts([["1/2"]], ["0.5"], "math_verify", executor=executor) == [[1]]


@pytest.mark.parametrize(
    ("references", "check", "message"),
    [
        (["a", None], "exact_match", r"references\[1\] is None"),
        (["a", 0.5], "exact_match", r"references\[1\] is 0.5.*there is numeric"),
        (["a", {"tests": 1}], "exact_match", r"references\[1\] is {'tests': 1}"),
        (["a", []], "exact_match", r"references\[1\] is \[\]"),
        (["1", "none"], "numeric", r"references\[1\] is 'none', but numeric"),
        (["1", ["2", "?"]], "numeric", r"references\[1\] is \['2', '\?'\]"),
        ([{"a": 1}, "x"], "numeric", r"references\[0\]"),
        (["5", None], "math_verify", r"references\[1\] is None, in which math-verify"),
        (["5", []], "numeric", r"references\[1\] is \[\]"),
        (["5", {"a": 1}], "math_verify", r"references\[1\]"),
    ],
)
def test_a_reference_that_a_named_judge_cannot_use_is_named(references, check, message):
    with pytest.raises(ValueError, match=message):
        verdicts([["a"], ["1"]], references, check)


def test_a_judge_of_no_known_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match="exact_match, numeric, math_verify"):
        verdicts(SAMPLES, ANSWERS, "exactmatch")
    with pytest.raises(TypeError, match="cannot be called"):
        verdicts(SAMPLES, ANSWERS, 3)


# --- Functions --------------------------------------------------------------------------


def test_each_distinct_pair_of_a_question_is_judged_once():
    asked: Counter[tuple[str, str]] = Counter()

    def check(prediction, reference):
        asked[prediction, reference] += 1
        return prediction == reference

    predictions = [["a", "b", "a", "a"], ["a", "a"], ["b", "b"]]
    assert verdicts(predictions, ["a", "a", "b"], check) == [[1, 0, 1, 1], [1, 1], [1, 1]]
    # The first two questions have the same answer, and the pair (a, a) is judged for each.
    assert asked == {("a", "a"): 2, ("b", "a"): 1, ("b", "b"): 1}


@pytest.mark.parametrize(
    ("returned", "verdict"),
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
def test_what_a_judge_may_return(returned, verdict):
    assert verdicts([["x"]], ["y"], lambda prediction, reference: returned) == [[verdict]]


@pytest.mark.parametrize(
    "returned", ["yes", -1, 1.5, float("nan"), [True], np.array([1]), object()]
)
def test_what_is_no_verdict_is_refused_with_its_place(returned):
    def check(prediction, reference):
        return returned if prediction == "c" else True

    with pytest.raises(ValueError, match=r"predictions\[2\]\[0\] returned .*a result is"):
        verdicts(SAMPLES, ANSWERS, check)


GRADES = {"wrong": 0, "close": 1, "right": 2}


@pytest.mark.parametrize("how", [{}, {"num_proc": 2}])
def test_a_verdict_may_be_a_label(how):
    def grade(prediction, reference):
        return "right" if prediction == reference else "close" if prediction == "c" else None

    assert verdicts([["a", "c"], ["b"]], ["a", "a"], grade, labels=GRADES, **how) == [
        [2, 1],
        [None],
    ]


def test_a_verdict_of_no_known_label_is_refused_with_the_labels():
    with pytest.raises(ValueError, match=r"'good': a result is 'wrong', 'close', 'right', a bool"):
        verdicts(SAMPLES, ANSWERS, lambda p, r: "good", labels=GRADES)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_predictions_may_be_labels_already(kind):
    rows = pa.array([["right", None], ["wrong", "close"]], pa.list_(kind))
    outcomes = graded_outcomes(prediction_column(rows), GRADES)
    assert outcomes.values.tolist() == [2, 0, 0, 1]
    np.testing.assert_array_equal(outcomes.scored, [True, False, True, True])
    with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is 'close', which is none of bad"):
        graded_outcomes(prediction_column(rows), {"bad": 0, "wrong": 1, "right": 2})
    with pytest.raises(ValueError, match="no references to check"):
        graded_outcomes(prediction_column(rows))


def test_a_judge_that_raises_is_the_cause_of_an_error_with_the_place():
    def check(prediction, reference):
        if (prediction, reference) == ("b", "c"):
            raise ZeroDivisionError("oh")
        return True

    with pytest.raises(ValueError, match=r"'b', \.\.\) on predictions\[2\]\[3\] raised") as caught:
        verdicts(SAMPLES, ANSWERS, check)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_sample_that_is_none_is_not_shown_to_the_judge():
    assert verdicts([["a", None]], ["a"], same) == [[1, None]]
    assert verdicts([[None, None]], ["a"], same) == [[None, None]]


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        ([[{"x": 1}, {"y": [2]}], [{"x": 1}]], [{"x": 1}, {"z": {}}]),
        ([[["a", "b"], ["a"]], [[]]], [["a"], []]),
        ([[1, 2], [3]], [2, None]),
        ([[1.5, 2.5], [3.5]], [1.5, "x"]),
        ([[b"1", b"2"], [b"3"]], [b"1", b"3"]),
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
def test_a_judge_sees_what_was_handed_in(predictions, references):
    seen = []

    def check(prediction, reference):
        seen.append((prediction, reference))
        return True

    verdicts(predictions, references, check)
    asked = [
        (list(sample) if isinstance(sample, tuple) else sample, answer)
        for samples, answer in zip(predictions, references, strict=True)
        for sample in samples
    ]
    assert seen == asked
    assert [type(answer) for _, answer in seen] == [type(answer) for _, answer in asked]


# --- In parallel ------------------------------------------------------------------------


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def fails(prediction, reference):
    if prediction == "b":
        raise UnpicklableError("cannot", "travel")
    return prediction == reference


def spawned():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("pool", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)])
def test_an_executor_judges_alike_a_lambda_too(pool):
    with pool() as executor:
        judged = verdicts(SAMPLES, ANSWERS, lambda p, r: p == r, executor=executor)
        assert judged == RIGHT


def test_a_fresh_process_without_this_code_judges_alike():
    wanted = "a"
    with spawned() as executor:
        judged = verdicts([["a", "b"]], ["x"], lambda p, r: p == wanted, executor=executor)
    assert judged == [[1, 0]]


def test_processes_judge_alike_and_are_other_processes():
    assert verdicts(SAMPLES, ANSWERS, same, num_proc=2) == RIGHT
    elsewhere = verdicts([["a", "b"]], [os.getpid()], lambda p, r: os.getpid() != r, num_proc=2)
    assert elsewhere == [[1, 1]]


def test_an_error_in_a_worker_has_its_place_and_cause():
    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] raised .*cannot travel") as caught:
        verdicts(SAMPLES, ANSWERS, fails, num_proc=2)
    assert "cannot travel" in str(caught.value.__cause__)


def test_a_worker_that_dies_is_an_error_and_no_waiting():
    with pytest.raises(ValueError, match="worker died") as caught:
        verdicts([["a"]], ["a"], lambda p, r: os._exit(1), num_proc=2)
    assert isinstance(caught.value.__cause__, BrokenProcessPool)


def even(prediction, reference):
    return prediction == "" or odd(prediction[1:], reference)


def odd(prediction, reference):
    return prediction != "" and even(prediction[1:], reference)


def judge_of_ones_own(prediction, reference):
    return prediction == reference


@pytest.mark.parametrize("pool", [lambda: ProcessPoolExecutor(2), spawned])
def test_judges_that_call_others_travel_whatever_these_are_named(pool):
    judge, tqdm = judge_of_ones_own, judge_of_ones_own  # names that the library has too
    with pool() as executor:
        assert verdicts([["aa", "a"]], [""], even, executor=executor) == [[1, 0]]
        for check in (lambda p, r: judge(p, r), lambda p, r: tqdm(p, r), judge_of_ones_own):
            assert verdicts(SAMPLES, ANSWERS, check, executor=executor) == RIGHT


def test_what_is_no_verdict_is_refused_in_a_worker_too():
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] returned <function"):
        verdicts([["a"]], ["a"], lambda p, r: lambda: 1, num_proc=2)


def test_a_thread_keeps_the_judges_own_exception():
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="raised UnpicklableError") as caught,
    ):
        verdicts(SAMPLES, ANSWERS, fails, executor=executor)
    assert isinstance(caught.value.__cause__, UnpicklableError)


def test_a_judge_that_exits_is_an_error_and_not_the_end():
    for how in ({}, {"num_proc": 2}):
        with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised SystemExit"):
            verdicts([["a"]], ["a"], lambda p, r: sys.exit(3), **how)


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, 3])
def test_what_is_no_executor_is_refused(executor):
    with pytest.raises(TypeError, match="executor is"):
        verdicts([["a"]], ["a"], same, executor=executor)


def test_an_executor_that_loses_verdicts_is_refused():
    class Lossy(ThreadPoolExecutor):
        def map(self, *arguments, **options):
            return iter(list(super().map(*arguments, **options))[:-1])

    with Lossy(1) as executor, pytest.raises(ValueError, match="5 results for 6 pairs"):
        verdicts(SAMPLES, ANSWERS, same, executor=executor)


def test_a_judge_that_cannot_travel_is_refused():
    lock = multiprocessing.Lock()
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="cannot be sent to a worker"),
    ):
        verdicts([["a"]], ["a"], lambda p, r: lock is None, executor=executor)


def test_a_process_is_given_the_judge_once():
    class Heavy:
        copies = 0

        def __getstate__(self):
            Heavy.copies += 1
            return {}

        def __call__(self, prediction, reference):
            return prediction == reference

    assert verdicts([list("abc") * 9] * 99, ["a"] * 99, Heavy(), num_proc=2)[0][:3] == [1, 0, 0]
    assert Heavy.copies <= 2


@pytest.mark.parametrize("num_proc", [0, -1, True])
def test_a_number_of_processes_is_at_least_one(num_proc):
    with pytest.raises(ValueError, match="num_proc is"):
        verdicts([["a"]], ["a"], same, num_proc=num_proc)


def test_processes_and_an_executor_at_once_are_refused():
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="give one of them"),
    ):
        verdicts([["a"]], ["a"], same, num_proc=2, executor=executor)


# --- Progress ---------------------------------------------------------------------------


def test_long_judging_shows_a_bar_that_datasets_can_hide(capsys, monkeypatch):
    import time

    def slow(prediction, reference):
        time.sleep(0.3)
        return True

    samples = [[str(i) for i in range(5)]]
    verdicts(samples, ["x"], slow)
    assert "Checking" in capsys.readouterr().err
    datasets.disable_progress_bars()
    try:
        verdicts(samples, ["x"], slow)
    finally:
        datasets.enable_progress_bars()
    assert capsys.readouterr().err == ""
    verdicts(samples, ["x"], same)
    assert capsys.readouterr().err == ""
