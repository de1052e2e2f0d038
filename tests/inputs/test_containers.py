"""Every container of the same outcomes gives the same scores, or an error that says why not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import at_k
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

R = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
TRANSPOSED = [list(column) for column in zip(*R, strict=True)]


class Tensor:
    """A stand-in for a tensor of torch: NumPy cannot convert it before it is detached."""

    def __init__(self, values, dtype: str = "torch.float32", attached: bool = True):
        self._values, self.dtype, self._attached = np.asarray(values, float), dtype, attached
        self.ndim, self.shape = self._values.ndim, self._values.shape

    def detach(self):
        return Tensor(self._values, self.dtype, attached=False)

    def cpu(self):
        return self

    def float(self):
        return Tensor(self._values, attached=self._attached)

    def item(self):
        return self._values.item()

    def tolist(self):
        return self._values.tolist()

    def __iter__(self):
        return (Tensor(value, self.dtype, self._attached) for value in self._values)

    def __len__(self):
        return len(self._values)

    def __array__(self, dtype=None, copy=None):
        if self._attached or self.dtype == "torch.bfloat16":
            raise RuntimeError("cannot convert this tensor")
        return self._values


def frames() -> dict[str, object]:
    frame = pd.DataFrame(R)
    types = ("int64", "int8", "Int64", "float64", "Float64", "bool", "boolean", "object")
    found = {f"pandas {dtype}": frame.astype(dtype) for dtype in types}
    found["pandas arrow"] = frame.astype("int64[pyarrow]")
    found["pandas with mixed types"] = frame.astype({0: "bool", 1: "Int64", 2: "object"})
    found["pandas with other labels"] = frame.set_axis([7, 7, 8], axis=0).set_axis(
        [1, 0, 1, 0], axis=1
    )
    columns = {f"{i}": column for i, column in enumerate(TRANSPOSED)}
    for dtype in (pl.Int64, pl.UInt8, pl.Boolean, pl.Float32, pl.Decimal(9, 2)):
        found[f"polars {dtype}"] = pl.DataFrame(columns).cast(dtype)
    found["polars lazy"] = pl.LazyFrame(columns)
    found["arrow table"] = pa.table(columns)
    found["arrow batch"] = pa.record_batch(columns)
    return found


def lists_of(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(np.arange(0, 13, 4, dtype=np.int32), values)


def dictionary_lists() -> pa.Array:
    codes = pa.array(np.ravel(R).astype(np.int32))
    return lists_of(pa.DictionaryArray.from_arrays(codes, pa.array([0, 1])))


def run_end_lists() -> pa.Array:
    return lists_of(pc.run_end_encode(pa.array(np.ravel(R))))


CONTAINERS = frames() | {
    "tensor": Tensor(R),
    "tensor of bfloat16": Tensor(R, "torch.bfloat16"),
    "list of tensors": [Tensor(row) for row in R],
    "lists of tensors without axes": [[Tensor(entry) for entry in row] for row in R],
    "lists of arrays without axes": [[np.array(entry) for entry in row] for row in R],
    "lists of scalars": [[np.int8(entry) for entry in row] for row in R],
    "lists of arrow scalars": [[pa.scalar(entry) for entry in row] for row in R],
    "polars series of lists": pl.Series(R),
    "polars series of decimals": pl.Series(R, dtype=pl.List(pl.Decimal(10, 2))),
    "memoryview": np.array(R, dtype=np.int8).data,
    "arrow lists": pa.array(R),
    "arrow lists of decimals": pa.array(R, pa.list_(pa.decimal128(3))),
    "arrow list views": pa.array(R, pa.list_view(pa.int8())),
    "arrow lists of dictionaries": dictionary_lists(),
    "arrow lists, run-end encoded": run_end_lists(),
    "lists of decimals": [[Decimal(entry) for entry in row] for row in R],
    "series of lists": pd.Series(R, index=[3, 3, 1]),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_functions_read_questions_from_every_container(container):
    given = CONTAINERS[container]
    assert at_k.pass_at_k(given, 2) == at_k.pass_at_k(R, 2)
    assert at_k.bayes(given) == at_k.bayes(R)
    assert at_k.avg_ci(given) == at_k.avg_ci(R)
    assert at_k.max_at_k_ci(given, 2) == at_k.max_at_k_ci(R, 2)
    assert at_k.cons_at_k(given, 4) == at_k.cons_at_k(R, 4)
    assert at_k.score_agg(given) == at_k.score_agg(R)
    assert at_k.compare(given, R, k=2) == at_k.compare(R, given, k=2) == at_k.compare(R, R, k=2)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"])
def test_metrics_read_questions_from_every_container(container, name):
    metric = at_k.load(name)
    found = metric.compute(predictions=CONTAINERS[container])
    found.pop("accuracy (4 runs average)", None)  # cons_at_k adds it for floats
    assert found == metric.compute(predictions=R)


def test_a_missing_entry_of_a_frame_is_not_scored():
    expected = at_k.pass_at_k([[1, 0], [1]], 1)
    frame = pd.DataFrame({"a": [1, 1], "b": [0, None]}, dtype="Int64")
    assert at_k.pass_at_k(frame, 1) == expected
    assert at_k.pass_at_k(frame.astype("object"), 1) == expected
    assert at_k.pass_at_k(pa.table({"a": [1, 1], "b": [0, None]}), 1) == expected


def test_nan_is_refused_with_the_way_out():
    given = np.array([[1, 0], [1, np.nan]])
    for outcomes in (given, given.tolist(), pd.DataFrame(given)):
        with pytest.raises(ValueError, match=r"R\[1\]\[1\] is nan: .* None .*masked_invalid"):
            at_k.pass_at_k(outcomes, 1)
        with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is nan: .*masked_invalid"):
            at_k.load("gpassk").compute(predictions=outcomes, k=1)
        assert at_k.pass_at_k(np.ma.masked_invalid(outcomes), 1) == 0.75


def test_a_frame_is_refused_where_one_column_is_needed():
    frame = pd.DataFrame({"answer": ["12", "13"], "group": ["a", "b"]})
    metric, samples = at_k.load("gpassk"), [["12", "13"], ["13", "13"]]
    with pytest.raises(ValueError, match="references is a data frame: give one of its columns"):
        metric.compute(predictions=samples, references=frame, k=1)
    with pytest.raises(ValueError, match="groups is a data frame"):
        metric.compute(predictions=samples, references=frame["answer"], k=1, groups=frame)
    records = frame.to_records()
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


def test_a_missing_entry_of_polars_or_of_a_decimal_column_is_not_scored():
    expected = at_k.pass_at_k([[1, 0], [1]], 1)
    frame = pl.DataFrame({"a": [1, 1], "b": [0, None]})
    rows = pl.Series([[1, 0], [1, None]])
    decimals = pa.array([[1, 0], [1, None]], pa.list_(pa.decimal128(3)))
    in_pandas = pd.Series(rows.to_arrow(), dtype=pd.ArrowDtype(rows.to_arrow().type))
    for given in (frame, frame.lazy(), rows, rows.to_arrow(), decimals, in_pandas):
        assert at_k.pass_at_k(given, 1) == expected
        found = at_k.load("gpassk").compute(predictions=given, k=1, include="pass@k")
        assert found == {"pass@1": expected}


@pytest.mark.parametrize("column", ["id", "Question", "qid", "model", "n"])
def test_a_frame_with_a_sample_in_each_row_is_refused(column):
    frame = pd.DataFrame({column: [0, 0, 1, 1], "passed": [1, 0, 1, 1]})
    for given in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=f"R is a data frame with a column '{column}'"):
            at_k.pass_at_k(given, 1)
        with pytest.raises(
            ValueError, match=f"predictions is a data frame with a column '{column}'"
        ):
            at_k.load("gpassk").compute(predictions=given, k=1)


def test_a_threshold_of_lower_precision_is_the_decimal_it_stands_for():
    class BFloat16(Tensor):
        def __init__(self, value):
            super().__init__(value, "torch.bfloat16")

    outcomes = [[1, 1, 1, 0, 0]]
    rounded = 0.6015625  # 0.6 as a bfloat16
    taus: list[Any] = [np.float16(0.6), np.float32(0.6), np.array(0.6, np.float32)]
    for tau in (*taus, BFloat16(rounded)):
        assert at_k.g_pass_at_k_tau(outcomes, 5, tau) == 1.0
        found = at_k.load("gpassk").compute(predictions=outcomes, k=5, thresholds=[tau])
        assert found["G-Pass@5_0.6"] == 1.0


def test_numbers_may_be_arrays_without_axes():
    k: Any = np.array(2)
    confidence: Any = np.array(0.9)
    assert at_k.pass_at_k(R, k) == at_k.pass_at_k(R, 2)
    assert at_k.pass_at_k_ci(R, 2, confidence) == at_k.pass_at_k_ci(R, 2, 0.9)


def test_an_array_that_cannot_be_converted_raises_a_type_error():
    class WithoutData:
        ndim, shape = 2, (2, 2)

        def __iter__(self):
            raise NotImplementedError

        def __array__(self, dtype=None, copy=None):
            raise NotImplementedError("there are no data")

    with pytest.raises(TypeError, match=r"WithoutData cannot be converted .* there are no data"):
        at_k.pass_at_k(WithoutData(), 1)
    with pytest.raises(TypeError, match=r"WithoutData cannot be converted .* there are no data"):
        at_k.load("gpassk").compute(predictions=WithoutData(), k=1)
