"""Every container of the same outcomes gives the same scores, or an error that says why not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import at_k
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from container_types import TYPES, can_hold
from scored import compute, gpassk

R = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
METRICS = {
    name: at_k.load(name) for name in ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
}


def result_of_metric(name: str, outcomes) -> dict[str, Any]:
    result = compute(name, outcomes)
    # cons_at_k adds the mean share for floats.
    return {key: x for key, x in result.items() if not key.startswith("accuracy")}


ENTRY_POINTS: dict[str, Callable[[Any], Any]] = {
    "pass_at_k": lambda outcomes: at_k.pass_at_k(outcomes, 2),
    "bayes": at_k.bayes,
    "avg_ci": at_k.avg_ci,
    "max_at_k": lambda outcomes: at_k.max_at_k(outcomes, 2),
    "max_at_k_ci": lambda outcomes: at_k.max_at_k_ci(outcomes, 2),
    "cons_at_k": lambda outcomes: at_k.cons_at_k(outcomes, 2),
    "score_agg": at_k.score_agg,
    "run a": lambda outcomes: at_k.compare(outcomes, R, k=2),
    "run b": lambda outcomes: at_k.compare(R, outcomes, k=2),
    **{f"metric {name}": partial(result_of_metric, name) for name in METRICS},
}


WITH_NONE = [[1, None, 0, 1], [0, 0, None, 1], [1, 1, 1, None]]
RAGGED = [[1, 0, None, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("container", TYPES)
def test_every_container_is_read_by_every_function_and_metric(container):
    for rows in (R, WITH_NONE, RAGGED):
        if can_hold(TYPES[container], rows):
            for name, result_of in ENTRY_POINTS.items():
                assert result_of(TYPES[container].make(rows)) == result_of(rows), name


def test_nan_is_refused_with_the_way_out():
    with_nan = np.array([[1, 0], [1, np.nan]])
    for outcomes in (with_nan, with_nan.tolist(), pd.DataFrame(with_nan)):
        with pytest.raises(ValueError, match=r"R\[1\]\[1\] is nan: .* None .*masked_invalid"):
            at_k.pass_at_k(outcomes, 1)
        with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is nan: .*masked_invalid"):
            gpassk(outcomes, k=1)
        assert at_k.pass_at_k(np.ma.masked_invalid(outcomes), 1) == 0.75


def test_a_frame_is_refused_where_one_column_is_needed():
    frame = pd.DataFrame({"answer": ["12", "13"], "group": ["a", "b"]})
    metric, samples = METRICS["gpassk"], [["12", "13"], ["13", "13"]]
    records = frame.to_records()
    for references in (frame, records):
        with pytest.raises(ValueError, match="references is a data frame: give one of its columns"):
            metric.compute(predictions=samples, references=references, k=1)
    with pytest.raises(ValueError, match="groups is a data frame"):
        metric.compute(predictions=samples, references=frame["answer"], k=1, groups=frame)
    with pytest.raises(TypeError, match="A structured array has a sample in each row"):
        at_k.pass_at_k(records, 1)
    with pytest.raises(TypeError, match="A structured array has a sample in each row"):
        metric.compute(predictions=records, k=1)
    with pytest.raises(ValueError, match="predictions is a data frame whose one column has a list"):
        metric.compute(predictions=pd.DataFrame({"samples": samples}), references=["12", "13"])


@pytest.mark.parametrize("entry", [10**30, -(10**30), 1j, b"1", object(), np.array([1]), {1}])
def test_an_entry_that_is_no_outcome_is_named(entry):
    with pytest.raises(ValueError, match=r"R\[1\]\[0\] is .*: an outcome is a number or a bool"):
        at_k.pass_at_k([[1, 0], [entry, 1]], 1)


@pytest.mark.parametrize("column", ["id", "Question", "qid", "model", "n"])
def test_a_frame_with_a_sample_in_each_row_is_refused(column):
    frame = pd.DataFrame({column: [0, 0, 1, 1], "passed": [1, 0, 1, 1]})
    for outcomes in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=f"R is a data frame with a column '{column}'"):
            at_k.pass_at_k(outcomes, 1)
        with pytest.raises(
            ValueError, match=f"predictions is a data frame with a column '{column}'"
        ):
            gpassk(outcomes, k=1)


def test_a_threshold_of_lower_precision_is_the_decimal_it_stands_for():
    outcomes = [[1, 1, 1, 0, 0]]
    taus: list[Any] = [np.float16(0.6), np.float32(0.6), np.array(0.6, np.float32)]
    for tau in taus:
        assert at_k.g_pass_at_k_tau(outcomes, 5, tau) == 1.0
        scores = gpassk(outcomes, k=5, thresholds=[tau])
        assert scores["G-Pass@5_0.6"] == 1.0


def test_numbers_may_be_arrays_without_axes():
    k: Any = np.array(2)
    confidence: Any = np.array(0.9)
    assert at_k.pass_at_k(R, k) == at_k.pass_at_k(R, 2)
    assert at_k.pass_at_k_ci(R, 2, confidence) == at_k.pass_at_k_ci(R, 2, 0.9)


def test_an_array_that_cannot_be_converted_raises_a_type_error():
    class WithoutData:
        ndim = 2
        shape: tuple[int, ...] = (2, 2)

        def __iter__(self):
            raise NotImplementedError

        def __array__(self, dtype=None, copy=None):
            raise NotImplementedError("there are no data")

    cannot = r"WithoutData cannot be converted .* there are no data"
    with pytest.raises(TypeError, match=cannot):
        at_k.pass_at_k(WithoutData(), 1)
    with pytest.raises(TypeError, match=cannot):
        gpassk(WithoutData(), k=1)


def test_rows_of_pandas_with_other_labels_are_not_paired_by_their_order():
    frame = pd.DataFrame(R, index=["a", "b", "c"])
    weights = pd.Series([3, 1, 1], index=["c", "b", "a"])
    compute = METRICS["gpassk"].compute
    with pytest.raises(ValueError, match=r"rows of predictions and question_weights have diff"):
        compute(predictions=frame, k=1, question_weights=weights)
    expected = compute(predictions=R, k=1, question_weights=[1, 1, 3])
    ordered = weights.loc[frame.index]
    assert compute(predictions=frame, k=1, question_weights=ordered) == expected
    for options in ({}, {"question_weights": weights}):
        with pytest.raises(ValueError, match=r"Give (R_b|question_weights)\.loc\[R_a\.index\]"):
            at_k.compare(frame, frame if options else frame.iloc[::-1], k=1, **options)
    assert at_k.compare(frame, frame.iloc[::-1], k=1, by_order=True)["pass@1"] == 0
