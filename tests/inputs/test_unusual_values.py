"""Values that nobody expects: each gives outcomes, or an error that names its place."""

import math
from decimal import Decimal
from fractions import Fraction

import at_k
import numpy as np
import polars
import pyarrow as pa
import pytest
from at_k.core.samples import as_outcomes, read_samples
from scored import gpassk

ITSELF: list = []
ITSELF.append(ITSELF)
DICT_OF_ITSELF: dict = {}
DICT_OF_ITSELF["answers"] = [DICT_OF_ITSELF]


def nested(levels):
    value: list | str = "a"
    for _ in range(levels):
        value = [value]
    return value


class WithoutRepr:
    def __repr__(self):
        raise RuntimeError("this object has no repr")


def always(prediction, reference):
    return 1


@pytest.mark.parametrize("reference", [ITSELF, DICT_OF_ITSELF, nested(10_000), (nested(5_000),)])
def test_what_is_nested_too_deeply_is_refused_with_its_place(reference):
    is_deep = "which JSON cannot hold: it is nested too deeply, or contains itself"
    for predictions, references, message in (
        ([["a"], ["b"]], ["a", reference], rf"references\[1\] is .*{is_deep}"),
        ([[reference], ["a"]], ["a", "b"], rf"predictions\[0\]\[0\] is .*{is_deep}"),
        ([["a"], [reference]], ["a", "b"], r"predictions\[1\]\[0\] is .*of one type"),
    ):
        with pytest.raises(ValueError, match=message):
            gpassk(predictions, references=references, check_correct_fn=always, k=1)
    for function in (at_k.pass_at_k, at_k.max_at_k):
        with pytest.raises(ValueError, match=r"^R"):
            function([[1], [reference]], 1)


def test_a_reference_of_fifty_levels_is_kept():
    def checker(prediction, reference):
        for _ in range(49):
            (reference,) = reference
        return prediction == reference

    scores = gpassk([["a"]], references=[nested(49)], check_correct_fn=checker, k=1)
    assert scores["G-Pass@1_1.0"] == 1.0


@pytest.mark.parametrize("name", ["interval", "keys", "include", "check_correct_fn"])
@pytest.mark.parametrize("value", [nested(10_000), [WithoutRepr()], polars.Series([[1]]), 3])
def test_a_name_of_another_type_is_refused_with_the_names_that_are_known(name, value):
    with pytest.raises((ValueError, TypeError), match=rf"{name} has .* none of|{name} is"):
        gpassk([["a"]], references=["a"], k=1, confidence=0.9, **{name: value})


def seen_by_a_checker(gpassk, *batches):
    seen = []

    def checker(prediction, reference):
        seen.append(prediction)
        return True

    for predictions in batches:
        gpassk.add_batch(predictions=predictions, references=[0] * len(predictions))
    gpassk.compute(check_correct_fn=checker, k=1)
    return seen


@pytest.mark.parametrize(
    ("batches", "seen"),
    [
        ([[[True, 2], [0, False]]], [True, 2, 0, False]),
        ([[np.array([True, False]), np.array([3])]], [True, False, 3]),
        ([[[True]], [[2]]], [True, 2]),
        ([[[2**53 + 1, 0.5]]], [2**53 + 1, 0.5]),
        ([[[2**53 + 1]], [[0.5]]], [2**53 + 1, 0.5]),
        ([[[np.float32(0.7), np.float16(0.1)]]], [0.7, 0.1]),
        ([np.array([[0.7]], np.float32), [[0.25]]], [0.7, 0.25]),
        ([[["\ud83d", "\udcff x", "\ufffd"]]], ["\ud83d", "\udcff x", "\ufffd"]),
        ([[["\ud83d"]], [["x"]]], ["\ud83d", "x"]),
        ([pa.array([[Decimal(2**53 + 1)]], pa.list_(pa.decimal128(30, 0)))], [2**53 + 1]),
    ],
)
def test_a_checker_gets_the_values_that_were_handed_in(gpassk, batches, seen):
    got = seen_by_a_checker(gpassk, *batches)
    assert [(type(value), value) for value in got] == [(type(value), value) for value in seen]


def test_different_texts_that_utf8_cannot_hold_are_different():
    samples = ["\ud800", "\ud801", "\ufffd\ufffd\ufffd", "\\ud800", "?"]
    for reference in samples:
        scores = gpassk([samples], references=[reference], k=1, include="pass@k")
        assert scores == {"pass@1": 0.2}


def test_numeric_refuses_bools_among_numbers():
    with pytest.raises(ValueError, match="numeric compares texts or numbers"):
        gpassk([[True, 2]], references=[1], check_correct_fn="numeric")


def test_a_text_that_utf8_cannot_hold_refuses_no_other():
    for predictions, references, score in (
        ([["\ud800", "b"]], ["b"], 0.5),
        ([["a", "b"], ["c", "d"]], ["\udcff", ["c", "\udcff"]], 0.25),
    ):
        scores = gpassk(predictions, references=references, k=1, include="pass@k")
        assert scores == {"pass@1": score}


@pytest.mark.parametrize("number", [Fraction, Decimal, np.longdouble])
def test_exact_and_long_numbers_are_outcomes(number):
    R = [[number(1), number(0)], [number(1), number(1)]]
    assert at_k.pass_at_k(R, 1) == 0.75
    assert gpassk(R, k=1, include="pass@k") == {"pass@1": 0.75}
    rewards = [[number(1) / number(4), number(2)]]
    assert math.isclose(at_k.max_at_k(rewards, 1), 1.125)


@pytest.mark.parametrize(
    "value",
    [Decimal("inf"), Decimal("nan"), 10**400, Fraction(10**400)],
    ids=lambda x: type(x).__name__,
)
def test_numbers_that_are_not_finite_or_too_large_are_refused_with_their_place(value):
    with pytest.raises(ValueError, match=r"R\[0\]\[1\]"):
        at_k.pass_at_k([[1, value]], 1)
    with pytest.raises(ValueError, match="predictions"):
        gpassk([[1, value]], k=1)


@pytest.mark.parametrize("samples", [["é", "é".encode()], ["é".encode(), "é"]])
def test_bytes_among_texts_are_read_as_utf_8_in_any_order(samples):
    references = ["é"]
    assert gpassk([samples], references=references, k=2)["mG-Pass@2"] == 1


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_labels_among_graded_outcomes_stand_for_their_numbers(kind):
    rows = pa.array([["right", None], ["wrong", "close"]], pa.list_(kind))
    outcomes = as_outcomes(read_samples(rows), {"wrong": 0, "close": 1, "right": 2})
    assert outcomes.values.tolist() == [2, 0, 0, 1]
    np.testing.assert_array_equal(outcomes.is_scored, [True, False, True, True])
    with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is 'close', which is none of bad"):
        as_outcomes(read_samples(rows), {"bad": 0, "wrong": 1, "right": 2})
    with pytest.raises(ValueError, match="no references to check"):
        as_outcomes(read_samples(rows))
