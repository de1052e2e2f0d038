"""What users hand in, as Arrow columns: a list of samples, and a reference, per question."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

JSON = pa.json_(pa.large_string())
"""The type of what Arrow has no one type for, such as dicts with keys of their own."""


def prediction_column(predictions) -> pa.ChunkedArray:
    """M lists of samples: nested lists, an array, an Arrow or a `datasets` column.

    Raises:
        ValueError: that names the question or the sample, unless there is a question and
            each has a list of at least one sample, all samples of one type.
    """
    column = _arrow_column(predictions)
    if column is None:
        rows = (
            predictions if isinstance(predictions, list) else _to_list(predictions, "predictions")
        )
        column = _nested_column(rows)
    if len(column) == 0:
        raise ValueError("predictions holds no question.")
    if not is_list(column.type):
        raise ValueError(
            f"predictions holds {column.type} entries: each question has a list of samples."
        )
    if column.null_count:
        raise ValueError(f"predictions[{_first(pc.is_null(column))}] is None: give its samples.")
    empty = pc.equal(pc.list_value_length(column), 0)
    if pc.any(empty).as_py():
        raise ValueError(f"predictions[{_first(empty)}] is empty: a question needs a sample.")
    return column


def reference_column(references, questions: int) -> pa.ChunkedArray:
    """One reference per question; all null where they are left out.

    Raises:
        ValueError: if there are not as many of them as questions, or Arrow cannot hold one.
    """
    if references is None:
        return pa.chunked_array([pa.nulls(questions)])
    column = _arrow_column(references)
    if column is None:
        values = _to_list(references, "references")
        try:
            if any(_holds_dict(value) for value in values):
                raise pa.ArrowInvalid
            column = pa.chunked_array([pa.array(values)])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            column = pa.chunked_array([_to_json(values, "references[{}]")])
    if len(column) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(column)} references: "
            f"give one reference for each question."
        )
    return column


def numbers_for_bools(predictions: pa.ChunkedArray) -> pa.ChunkedArray:
    """Outcomes with 1 for True and 0 for False, which go with outcomes that are numbers."""
    if not pa.types.is_boolean(predictions.type.value_type):
        return predictions
    return predictions.cast(pa.large_list(pa.int8()))


def samples_per_question(predictions: pa.ChunkedArray) -> np.ndarray:
    """(M,) how many samples each question has."""
    return pc.list_value_length(predictions).to_numpy().astype(np.int64)


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """The distinct labels as text, in order of appearance, and (M,) the one of each question."""
    column = _arrow_column(labels)
    texts = [
        str(label) for label in (_to_list(labels, name) if column is None else column.to_pylist())
    ]
    if len(texts) != questions:
        raise ValueError(f"{name} has {len(texts)} labels for {questions} questions: one for each.")
    codes: dict[str, int] = {}
    index = np.array([codes.setdefault(text, len(codes)) for text in texts])
    return list(codes), index


def is_list(kind: pa.DataType) -> bool:
    """Whether the type is of lists, of whatever layout."""
    types = pa.types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether the type is of strings."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether the type is of bools, integers or floats."""
    return pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The entries as Python objects, as they were handed in."""
    if isinstance(values.type, pa.JsonType):
        return [None if text is None else json.loads(text) for text in values.to_pylist()]
    return values.to_pylist()


def to_numpy(values: pa.ChunkedArray) -> np.ndarray:
    """The entries as one NumPy array."""
    return values.combine_chunks().to_numpy(zero_copy_only=False)


def distinct_entries(values: pa.ChunkedArray) -> tuple[list[Any], np.ndarray]:
    """The distinct entries as Python objects, and for each entry which of them it is."""
    flat = values.combine_chunks()
    if isinstance(flat.type, pa.JsonType):
        objects, index = distinct_entries(pa.chunked_array([flat.storage]))
        return to_python(
            pa.ExtensionArray.from_storage(flat.type, pa.array(objects, flat.storage.type))
        ), index
    if pa.types.is_nested(flat.type):
        objects = flat.to_pylist()
        codes: dict[str, int] = {}
        index = np.array([codes.setdefault(repr(entry), len(codes)) for entry in objects])
        return [objects[sample] for sample in np.unique(index, return_index=True)[1]], index
    encoded = flat.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _arrow_column(values) -> pa.ChunkedArray | None:
    """The column without a Python object per entry, where that is possible."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    source = getattr(values, "source", None)  # of a column of a dataset
    if isinstance(source, datasets.Dataset) and source.format["type"] != "custom":
        return source.with_format("arrow")[values.column_name][:]
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        if array.dtype == object:
            return None
        if array.ndim == 2:
            flat = pa.array(np.ascontiguousarray(array).ravel())
            return pa.chunked_array([pa.FixedSizeListArray.from_arrays(flat, array.shape[1])])
        if array.ndim == 1:
            return pa.chunked_array([pa.array(array)])
        raise ValueError(f"An array of {array.ndim} dimensions: a bank has questions x samples.")
    return None


def _to_list(values, name: str) -> list[Any]:
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is {values!r}: give a list with an entry for each question.")
    return list(values)


def _nested_column(rows: list[Any]) -> pa.ChunkedArray:
    leaf = next((sample for row in rows[:1] for sample in _samples(row, 0)), None)
    if isinstance(leaf, str):
        # With the type given, Arrow need not look at every string twice.
        guess: pa.DataType | None = pa.large_list(pa.large_string())
    else:
        guess = None
    try:
        # Arrow would take a text for the list of its letters.
        if _holds_dict(leaf) or any(isinstance(row, (str, bytes)) for row in rows):
            raise pa.ArrowInvalid
        return pa.chunked_array([pa.array(rows, type=guess)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.chunked_array([_careful_column(rows)])


def _careful_column(rows: list[Any]) -> pa.Array:
    """The same one sample at a time, for what Arrow refused, and to say what is wrong."""
    lists = [_samples(row, question) for question, row in enumerate(rows)]
    offsets = np.cumsum([0] + [len(samples) for samples in lists])
    flat = [sample for samples in lists for sample in samples]
    if any(_holds_dict(sample) for sample in flat):
        values = _to_json(flat, "A sample")
    else:
        values = _one_type(flat, offsets)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)


def _one_type(flat: list[Any], offsets: np.ndarray) -> pa.Array:
    """Samples as one Arrow array; bools among numbers count as 0 and 1."""
    kinds = {
        position: float if isinstance(sample, (bool, int, float)) else type(sample)
        for position, sample in enumerate(flat)
        if sample is not None
    }
    first = next(iter(kinds.values()), None)
    for position, kind in kinds.items():
        if kind is not first:
            question = int(np.searchsorted(offsets, position, side="right")) - 1
            raise ValueError(
                f"predictions[{question}][{position - offsets[question]}] is "
                f"{flat[position]!r}, a {type(flat[position]).__name__} among others of type "
                f"{first.__name__ if first else None}: samples have one type."
            )
    if first is float:
        flat = [int(sample) if isinstance(sample, bool) else sample for sample in flat]
    try:
        return pa.array(flat)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"predictions cannot be held in an Arrow column: {error}") from error


def _samples(row, question: int) -> list[Any]:
    if hasattr(row, "tolist"):
        row = row.tolist()
    if isinstance(row, (str, bytes, dict)) or not isinstance(row, Iterable):
        raise ValueError(
            f"predictions[{question}] is {row!r}: each question has a list of samples."
        )
    return list(row)


def _holds_dict(value) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(entry, dict) for entry in value)
    return isinstance(value, dict)


def _to_json(values: list[Any], name: str) -> pa.Array:
    texts = []
    for position, value in enumerate(values):
        try:
            texts.append(None if value is None else json.dumps(value))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name.format(position)} is {value!r}, which neither Arrow nor JSON can hold."
            ) from error
    return pa.ExtensionArray.from_storage(JSON, pa.array(texts, pa.large_string()))


def _first(mask: pa.ChunkedArray) -> int:
    return pc.index(mask, True).as_py()
