"""Objects: data frames, Arrow tables, datasets, dicts of columns and lists of rows."""

import at_k
import dask.dataframe
import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from at_k.readers.table import SelectionError
from scored import gpassk

LONG = {
    "id": ["a", "a", "b", "b"],
    "sample": [0, 1, 0, 1],
    "correct": [True, False, None, True],
    "group": ["x", "x", "y", "y"],
}
READ = {"predictions": [[True, False], [None, True]], "groups": ["x", "y"]}
NESTED = {"samples": [["a", "b"], ["b"]], "answer": ["a", "b"]}
READ_NESTED = {"predictions": [["a", "b"], ["b"]], "references": ["a", "b"]}


def rows_of(columns: dict) -> list[dict]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


CONTAINERS = {
    "dict": dict,
    "rows": rows_of,
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, Arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, indexed": lambda columns: pd.DataFrame(columns).set_index(next(iter(columns))),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "Arrow": pa.table,
    "datasets": datasets.Dataset.from_dict,
    "datasets, streamed": lambda columns: datasets.Dataset.from_dict(columns).to_iterable_dataset(),
    "datasets, one split": lambda columns: datasets.DatasetDict(
        {"test": datasets.Dataset.from_dict(columns)}
    ),
}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_what_compute_takes(make):
    assert at_k.read(make(LONG), missing="drop") == READ
    with pytest.raises(ValueError, match="1 of 4 outcomes are missing, the first of question b"):
        at_k.read(make(LONG))
    assert at_k.read(make(NESTED)) == READ_NESTED
    read = at_k.read(make(NESTED))
    assert gpassk(**read, k=1, include="pass@k") == {"pass@1": 0.75}


def test_any_library_that_exports_arrow_is_read():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(NESTED).__arrow_c_stream__(requested_schema)

    assert at_k.read(Frame()) == READ_NESTED


def test_tables_of_engines_are_read():
    counts = pd.DataFrame({"question_id": [1, 2], "n": [4, 3], "correct": [1, 3]})
    expected = {"predictions": {"n": [4, 3], "correct": [1, 3]}}
    assert at_k.read(dask.dataframe.from_pandas(counts, npartitions=2)) == expected
    assert at_k.read(duckdb.from_df(counts)) == expected


def test_the_index_of_a_frame_identifies_questions():
    frame = pd.DataFrame({"id": ["a", "a", "b"], "correct": [1, 1, 1]})
    counts = frame.groupby("id")["correct"].agg(n="size", correct="sum")
    assert at_k.read(counts) == {"predictions": {"n": [2, 1], "correct": [2, 1]}}
    frame = pd.DataFrame(LONG).set_index(["group", "id"])
    assert at_k.read(frame, questions=["group", "id"], missing="drop") == READ


def test_arrays_in_cells_are_lists():
    frame = pd.DataFrame({"outcomes": [np.array([1, 0]), np.array([1])]})
    assert at_k.read(frame) == {"predictions": [[1, 0], [1]]}
    assert at_k.read({"outcomes": np.array([[1, 0], [1, 1]])}) == {"predictions": [[1, 0], [1, 1]]}


def test_missing_texts_and_nan_are_none():
    frame = pd.DataFrame({"id": [1, 1], "reward": [0.5, np.nan], "group": ["x", "x"]})
    assert at_k.read(frame, missing="drop")["predictions"] == [[0.5, None]]
    frame = pd.DataFrame({"samples": [["a"], ["b"]], "answer": ["a", np.nan]})
    assert at_k.read(frame)["references"] == ["a", None]


def test_rows_of_a_selection_of_a_dataset_are_read():
    dataset = datasets.Dataset.from_dict(NESTED).select([1])
    assert at_k.read(dataset) == {"predictions": [["b"]], "references": ["b"]}
    splits = datasets.DatasetDict({"dev": dataset, "test": datasets.Dataset.from_dict(NESTED)})
    with pytest.raises(SelectionError, match="splits dev, test"):
        at_k.read(splits)
    assert at_k.read(splits["test"]) == READ_NESTED


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (3, TypeError),
        (at_k.read([{"id": 1, "correct": 1}]), TypeError),  # a run, whose ids would be lost
        ({1, 2}, TypeError),
        (None, TypeError),
        ({"outcomes": [[1]], "id": [1, 2]}, ValueError),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError),
        (pa.table([["q"], [1], [0]], names=["id", "correct", "correct"]), ValueError),
        ([], ValueError),
        ({}, ValueError),
    ],
)
def test_other_objects_are_refused(source, error):
    with pytest.raises(error):
        at_k.read(source)


def test_a_list_of_rows_with_another_entry_names_it():
    rows = [{"id": 1, "correct": True}, None]
    with pytest.raises(ValueError, match=r"row 1 \(from 0\) is None: write an object with a key"):
        at_k.read(rows)
    with pytest.raises(TypeError, match="source is a list, which cannot be read"):
        at_k.read([[1, 0], None])


def test_a_dict_with_an_entry_that_is_no_column_is_refused():
    with pytest.raises(ValueError, match="has 5 as 'reward': give a column"):
        at_k.read({"id": [1, 2], "reward": 5})
