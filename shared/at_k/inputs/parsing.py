"""What users hand in, as Arrow columns: a list of samples, and a reference, per question."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import is_list_like, is_masked, short
from .columns import JSON, is_list, is_number, is_text, samples_per_question, to_python


def prediction_column(predictions) -> pa.ChunkedArray:
    """M lists of samples: nested lists, an array, an Arrow or a `datasets` column.

    Raises:
        ValueError: that names the question or the sample, unless there is a question and
            each has a list of at least one sample, all samples of one type.
    """
    column = _arrow_column(predictions, "predictions")
    if column is None:
        column = _nested_column(_to_list(predictions, "predictions"))
    if len(column) == 0:
        raise ValueError("predictions holds no question.")
    if not is_list(column.type):
        raise ValueError(
            f"predictions[0] is {short(column[0].as_py())}: each question has a list of samples."
        )
    if column.null_count:
        raise ValueError(f"predictions[{_first(pc.is_null(column))}] is None: give its samples.")
    empty = pc.equal(pc.list_value_length(column), 0)
    if pc.any(empty).as_py():
        raise ValueError(f"predictions[{_first(empty)}] is empty: a question needs a sample.")
    return column


def reference_column(references, questions: int) -> pa.ChunkedArray:
    """One reference per question; of type null where they are left out.

    Raises:
        ValueError: if there are not as many of them as questions, or none can hold one.
    """
    if references is None:
        return pa.chunked_array([pa.nulls(questions)])
    column = _arrow_column(references, "references")
    if column is None:
        column = _one_column(_to_list(references, "references"), "references")
    if len(column) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(column)} references: "
            f"give one reference for each question."
        )
    # All None is not the same as left out: a judge may need no reference.
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def outcome_numbers(predictions: pa.ChunkedArray) -> pa.ChunkedArray:
    """Outcomes with 1 for True and 0 for False, which go with outcomes that are numbers."""
    kind = predictions.type.value_type
    if pa.types.is_boolean(kind):
        return predictions.cast(pa.large_list(pa.int8()))
    return predictions.cast(pa.large_list(pa.float32())) if kind == pa.float16() else predictions


def unite(tables: list[pa.Table]) -> pa.Table:
    """The rows of all tables of predictions and references, in types that hold them all.

    Raises:
        ValueError: if some have references and some not, or their samples are unlike.
    """
    left_out = {pa.types.is_null(table.schema.field("references").type) for table in tables}
    if len(left_out) > 1:
        raise ValueError("Some questions have references and some have none: give all or none.")
    kinds = {table.schema.field("predictions").type.value_type for table in tables}
    texts = {is_text(kind) for kind in kinds if not pa.types.is_null(kind)}
    numbers = {is_number(kind) for kind in kinds if not pa.types.is_null(kind)}
    if len(texts) > 1 or len(numbers) > 1:
        raise ValueError(
            "Some questions have texts as predictions and some have something else: "
            "samples are all of one type."
        )
    for name, as_any in (("predictions", _samples_as_any), ("references", _as_json)):
        if len({_type_family(table.schema.field(name).type) for table in tables}) > 1:
            tables = [
                table.set_column(table.schema.get_field_index(name), name, as_any(table[name]))
                for table in tables
            ]
    return pa.concat_tables(tables, promote_options="permissive")


def check_types(table: pa.Table) -> None:
    """Raise a ValueError unless `datasets` can hold the columns."""
    try:
        datasets.Features.from_arrow_schema(table.schema)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ValueError(f"predictions or references are of an unusual type: {error}") from error


def _type_family(kind: pa.DataType) -> str:
    """Types of one family go together as they are."""
    if is_list(kind):
        return f"lists of {_type_family(kind.value_type)}"
    return "text" if is_text(kind) else str(kind)


def _samples_as_any(predictions: pa.ChunkedArray) -> pa.ChunkedArray:
    """Samples in the type that holds most: doubles, or JSON."""
    kind = predictions.type.value_type
    if is_text(kind) or pa.types.is_null(kind):
        return predictions
    samples = pc.list_flatten(predictions)
    samples = samples.cast(pa.float64(), safe=False) if is_number(kind) else _as_json(samples)
    offsets = pa.array(np.cumsum([0, *samples_per_question(predictions)]))
    return pa.chunked_array([pa.LargeListArray.from_arrays(offsets, samples.combine_chunks())])


def _as_json(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type == JSON or pa.types.is_null(column.type):
        return column
    return pa.chunked_array([_to_json(to_python(column), lambda i: f"references[{i}]")])


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """The distinct labels as text, in order of appearance, and (M,) the one of each question."""
    column = _arrow_column(labels, name)
    entries = _to_list(labels, name) if column is None else column.to_pylist()
    if len(entries) != questions:
        raise ValueError(f"{name} has {len(entries)} labels for {questions} questions: give M.")
    if None in entries:
        raise ValueError(f"{name}[{entries.index(None)}] is None: give every question a label.")
    codes: dict[str, int] = {}
    index = np.array([codes.setdefault(str(label), len(codes)) for label in entries])
    return list(codes), index


def _arrow_column(values, name: str) -> pa.ChunkedArray | None:
    """The column without a Python object per entry, where that is possible."""
    column = None
    source = getattr(values, "source", None)  # of a column of a dataset
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        column = values
    elif isinstance(source, datasets.Dataset) and source.format["type"] != "custom":
        column = source.with_format("arrow")[values.column_name][:]
    elif hasattr(values, "__array__") and not is_masked(values):
        column = _from_numpy(np.asarray(values), name)
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    return None if column is None else _with_plain_texts(column, name)


def _from_numpy(array: np.ndarray, name: str) -> pa.Array | None:
    if array.dtype.kind not in "biufSU" or (array.dtype.kind == "f" and array.itemsize > 8):
        return None
    if array.ndim > 2 or array.ndim == 0:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions, with N samples each.")
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(f"{name}[0] is empty: a question needs a sample.")
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    flat = pa.array(array.ravel())
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def _with_plain_texts(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Texts of whatever layout in the one without a limit of 2 GB, and JSON in our type."""
    nested = is_list(column.type)
    kind = column.type.value_type if nested else column.type
    if getattr(kind, "extension_name", "") == "arrow.json":  # `datasets` would encode it again
        rows = column.to_pylist() if nested else [column.to_pylist()]
        rows = [[None if x is None else json.loads(x) for x in row] for row in rows]
        return _nested_column(rows) if nested else _one_column(rows[0], name)
    if "view" in str(column.type):  # which Arrow casts wrongly, or not at all
        rows = column.to_pylist()
        return _nested_column(rows) if name == "predictions" else _one_column(rows, name)
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not is_text(plain):
        return column
    return column.cast(pa.large_list(pa.large_string()) if nested else pa.large_string())


def _to_list(values, name: str) -> list[Any]:
    if hasattr(values, "__array__"):  # None where a masked array masks
        return (values if isinstance(values, np.ndarray) else np.asarray(values)).tolist()
    if not is_list_like(values):
        raise ValueError(f"{name} is {short(values)}: give a list with an entry per question.")
    return list(values)


def _one_column(values: list[Any], name: str) -> pa.ChunkedArray:
    return pa.chunked_array([_one_type(values, lambda i: f"{name}[{i}]")])


def _nested_column(rows: list[Any]) -> pa.ChunkedArray:
    rows = [row if type(row) in _PLAIN_ROWS else _samples(row, i) for i, row in enumerate(rows)]
    leaf = next((sample for row in rows for sample in row if sample is not None), None)
    # With the type given, Arrow need not look at every text twice.
    guess = pa.large_list(pa.large_string()) if isinstance(leaf, str) else None
    try:
        column = pa.array(rows, type=guess)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        column = None
    if column is None or not is_list(column.type) or pa.types.is_nested(column.type.value_type):
        offsets = np.cumsum([0, *map(len, rows)])
        values = _samples_of_one_type([sample for row in rows for sample in row], offsets)
        column = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), values)
    return pa.chunked_array([column])


_PLAIN_ROWS = (list, tuple, np.ndarray)


def _samples(row, question: int) -> list[Any]:
    if hasattr(row, "tolist"):
        row = row.tolist()
    if not is_list_like(row):
        raise ValueError(
            f"predictions[{question}] is {short(row)}: each question has a list of samples."
        )
    return list(row)


def _samples_of_one_type(flat: list[Any], offsets: np.ndarray) -> pa.Array:
    """Samples that Arrow refused: numbers of several types, JSON, or an error with its place."""

    def place(sample: int) -> str:
        question = int(np.searchsorted(offsets, sample, side="right")) - 1
        return f"predictions[{question}][{sample - offsets[question]}]"

    flat = [_plain(sample) for sample in flat]
    kinds = ["number" if isinstance(x, (bool, int, float)) else type(x).__name__ for x in flat]
    given = [sample for sample, value in enumerate(flat) if value is not None]
    if given and kinds[given[0]] not in ("dict", "list", "tuple"):
        for sample in given:
            if kinds[sample] != kinds[given[0]]:
                raise ValueError(
                    f"{place(sample)} is {short(flat[sample])}, but {place(given[0])} is "
                    f"{short(flat[given[0]])}: samples are all of one type."
                )
        if kinds[given[0]] == "number":
            kind = float if any(isinstance(value, float) for value in flat) else int
            flat = [None if value is None else kind(value) for value in flat]
    return _one_type(flat, place)


def _one_type(values: list[Any], place: Callable[[int], str]) -> pa.Array:
    """Entries of one type as that type, those of several as JSON."""
    values = [_plain(value) for value in values]
    entries = [entry for value in values for entry in (value if type(value) is list else [value])]
    kinds = {type(value) for value in (*values, *entries)} - {type(None)}
    lists_of_one = list in kinds and len(kinds) == 2 and not kinds & {dict, tuple}
    if len(kinds) <= 1 or lists_of_one:
        try:
            array = pa.array(values, pa.large_string() if kinds == {str} else None)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            array = None
        # A struct would have the keys of all dicts, with None for those that one had not.
        if array is not None and "struct" not in str(array.type):
            return array
    return _to_json(values, place)


def _plain(value) -> Any:
    """What NumPy and pandas have for a number, and for none, as Python's own."""
    if type(value).__name__ == "NAType":
        return None
    if isinstance(value, np.longdouble):  # of which `item` gives itself
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def _to_json(values: list[Any], place: Callable[[int], str]) -> pa.Array:
    texts = []
    for position, value in enumerate(values):
        try:
            _check_keys(value)
            texts.append(None if value is None else json.dumps(value, default=_listed))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{place(position)} is {short(value)}, which neither Arrow nor JSON can hold: "
                f"{error}."
            ) from error
    mask = pa.array([text is None for text in texts], pa.bool_())
    return pa.StructArray.from_arrays(
        [pa.array(texts, pa.large_string())], fields=list(JSON), mask=mask
    )


def _listed(value) -> Any:
    """An array or a number of NumPy for JSON."""
    if not hasattr(value, "tolist"):
        raise TypeError(f"it is a {type(value).__name__}")
    return value.tolist()


def _check_keys(value) -> None:
    """Raise a TypeError if JSON would make texts of the keys of a dict."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {short(key)} is no text")
        value = list(value.values())
    if is_list_like(value):
        for entry in value:
            _check_keys(entry)


def _first(mask: pa.ChunkedArray) -> int:
    return pc.index(mask, True).as_py()
