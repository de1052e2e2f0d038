"""Parse predictions and references into Arrow columns: a list of samples, and a reference, each."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import check_depth, entries_of, has_no_axes, is_frame, is_list_like, is_masked, short
from .columns import (
    JSON,
    counted_samples,
    from_numpy,
    is_list,
    is_text,
    lists_of_samples,
    one_chunk,
    samples_per_question,
    texts_to_arrow,
    to_arrow,
)
from .containers import as_arrow, plain_entry, sample_rows, to_array
from .count_tables import is_counts, read_counts
from .outcomes import PLAIN_TYPES, place


def prediction_column(predictions) -> pa.ChunkedArray:
    """Return M lists of samples as a column.

    Args:
        predictions: nested lists, an array, a data frame with a question in each row, or a column
            of Arrow, `datasets` or pandas; or counts, see `count_tables`.

    Raises:
        ValueError: if there is no question, if a question has no list of samples or an empty one,
            or if samples have different types, with the place.
    """
    predictions = as_arrow(predictions)
    column = _counted_column(predictions) if is_counts(predictions) else _sample_column(predictions)
    if len(column) == 0:
        raise ValueError("predictions holds no question.")
    if not is_list(column.type):
        raise ValueError(
            f"predictions[0] is {short(column[0].as_py())}: each question has a list of samples."
        )
    if column.null_count:
        raise ValueError(f"predictions[{_first(pc.is_null(column))}] is None: give its samples.")
    sizes = samples_per_question(column)
    if not sizes.all():
        raise ValueError(f"predictions[{sizes.argmin()}] is empty: a question needs a sample.")
    return column


def _sample_column(predictions) -> pa.ChunkedArray:
    if is_frame(predictions):
        predictions = sample_rows(predictions, "predictions")
    column = _to_column(predictions, "predictions")
    if column is not None and not pa.types.is_struct(column.type):
        return column
    rows = entries_of("predictions", predictions)
    return _counted_column(rows) if is_counts(rows) else _nested_column(rows)


def _counted_column(counts) -> pa.ChunkedArray:
    """Return counts as a column of lists of samples with how often each occurs."""
    samples, times, sizes = read_counts(counts, "predictions")
    if isinstance(samples, list):
        values = one_chunk(pc.list_flatten(prediction_column(samples)))
    else:
        values = from_numpy(samples)
    return lists_of_samples(counted_samples(values, times), sizes)


def reference_column(references, questions: int) -> pa.ChunkedArray:
    """Return one reference per question as a column, of type null if references is None.

    Raises:
        ValueError: if the number of references differs from the number of questions, or if a
            reference cannot be stored, with its place.
    """
    if references is None:
        return pa.chunked_array([pa.nulls(questions)])
    references = as_arrow(references)
    column = _to_column(references, "references")
    if column is None:
        column = _flat_column(entries_of("references", references))
    if len(column) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(column)} references: "
            f"give one reference for each question."
        )
    # References that are all None were given, unlike no references: a checker may ignore them.
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def has_references(references: pa.ChunkedArray) -> bool:
    """Whether references were given, so that predictions are not already-graded outcomes."""
    return not pa.types.is_null(references.type)


def _to_column(values, name: str) -> pa.ChunkedArray | None:
    """Return the values as a column without a Python object per entry, or None if impossible."""
    column = None
    source = getattr(values, "source", None)  # the dataset, if this is a column of one
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        column = values
    elif source is not None and getattr(source, "format", {}).get("type", "custom") != "custom":
        column = source.with_format("arrow")[values.column_name][:]
    elif hasattr(values, "__array__") and not is_masked(values):
        column = _from_numpy(to_array(values), name)
    # Arrow can neither cast every view correctly nor cast what is run-end encoded.
    if column is None or "view" in str(column.type) or "run_end" in str(column.type):
        return None
    return _with_plain_types(pa.chunked_array([column]) if isinstance(column, pa.Array) else column)


# --- Arrays and columns -------------------------------------------------------------------


def _from_numpy(array: np.ndarray, name: str) -> pa.Array | None:
    if array.dtype.kind not in "biufSU" or (array.dtype.kind == "f" and array.itemsize > 8):
        return None
    if array.ndim > 2 or array.ndim == 0:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions, with N samples each.")
    if array.ndim == 2 and array.shape[1] == 0:
        raise ValueError(f"{name}[0] is empty: a question needs a sample.")
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    flat = from_numpy(array.ravel()) if array.dtype.kind in "biuf" else pa.array(array.ravel())
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def _with_plain_types(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with texts as large strings, decimals as doubles, and JSON in our type."""
    nested = is_list(column.type)
    entry_type = column.type.value_type if nested else column.type
    if getattr(entry_type, "extension_name", "") == "arrow.json":
        # As it is, `datasets` would encode it again.
        rows = column.to_pylist() if nested else [column.to_pylist()]
        rows = [[None if x is None else json.loads(x) for x in row] for row in rows]
        return _nested_column(rows) if nested else _flat_column(rows[0])
    plain = entry_type.value_type if pa.types.is_dictionary(entry_type) else entry_type
    if is_text(plain):
        plain = pa.large_string()  # without a limit of 2 GB
    elif pa.types.is_decimal(plain):
        plain = pa.float64()
    if plain == entry_type:
        return column
    return column.cast(pa.large_list(plain) if nested else plain)


# --- Lists --------------------------------------------------------------------------------


def _flat_column(references: list[Any]) -> pa.ChunkedArray:
    array = _array_of_texts(references)
    if array is None:
        check_depth("references", references)
        array = _typed_array(references, "references")
    return pa.chunked_array([array])


def _array_of_texts(entries: list[Any]) -> pa.Array | None:
    """Return an array of texts, or None if not all entries are texts that UTF-8 can hold."""
    if not entries or type(entries[0]) is not str:
        return None
    try:
        return texts_to_arrow(entries)
    except (TypeError, UnicodeEncodeError):
        return None


def _nested_column(rows: list[Any]) -> pa.ChunkedArray:
    rows = [
        row if type(row) in _PLAIN_ROWS and not has_no_axes(row) else _samples(row, i)
        for i, row in enumerate(rows)
    ]
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    in_arrays = any(isinstance(row, np.ndarray) for row in rows)
    flat = [] if in_arrays else list(itertools.chain.from_iterable(rows))
    texts = _array_of_texts(flat)
    if texts is not None:
        return lists_of_samples(texts, sizes)
    if not all(PLAIN_TYPES.issuperset(map(type, row)) for row in rows):
        check_depth("predictions", rows)
    try:  # arrays are read without a Python object for each sample
        samples = pc.list_flatten(pa.array(rows)) if in_arrays else to_arrow(flat)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        samples = None
    if samples is None or pa.types.is_nested(samples.type):
        samples = _samples_of_one_type(list(itertools.chain.from_iterable(rows)), sizes)
    return _with_plain_types(lists_of_samples(samples, sizes))


_PLAIN_ROWS = (list, tuple, np.ndarray)


def _samples(row, question: int) -> list[Any]:
    if hasattr(row, "tolist"):
        row = row.tolist()
    if not is_list_like(row):
        raise ValueError(
            f"predictions[{question}] is {short(row)}: each question has a list of samples."
        )
    return list(row)


def _samples_of_one_type(flat: list[Any], sizes: np.ndarray) -> pa.Array:
    """Return samples that Arrow refuses as numbers of one type or as JSON.

    Raises:
        ValueError: if a sample has another type than the first one, with the places of both.
    """
    flat = [plain_entry(sample) for sample in flat]
    kinds = ["number" if isinstance(x, (bool, int, float)) else type(x).__name__ for x in flat]
    given = [sample for sample, value in enumerate(flat) if value is not None]
    if given and kinds[given[0]] not in ("dict", "list", "tuple"):
        first = given[0]
        for sample in given:
            if kinds[sample] != kinds[first]:
                raise ValueError(
                    f"{place('predictions', sizes, sample)} is {short(flat[sample])}, but "
                    f"{place('predictions', sizes, first)} is {short(flat[first])}: samples are "
                    f"all of one type."
                )
        if kinds[first] == "number":
            number = float if any(isinstance(value, float) for value in flat) else int
            flat = [None if value is None else number(value) for value in flat]
    return _typed_array(flat, "predictions", sizes)


def _typed_array(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return values of one type as an array of that type, and values of several types as JSON.

    Args:
        values: the entries.
        name: what the caller calls them, for messages.
        sizes: (M,) number of entries of each question, or None for one entry per question.
    """
    values = [_storable(plain_entry(value)) for value in values]
    entries = [entry for value in values for entry in (value if type(value) is list else [value])]
    kinds = {type(value) for value in (*values, *entries)} - {type(None)}
    lists_of_one_type = list in kinds and len(kinds) == 2 and not kinds & {dict, tuple}
    if len(kinds) <= 1 or lists_of_one_type:
        try:
            array = to_arrow(values, pa.large_string() if kinds == {str} else None)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            array = None
        # A struct has the keys of all dicts, with None where a dict lacks one.
        if array is not None and "struct" not in str(array.type):
            return array
    return to_json(values, name, sizes)


def _storable(value) -> Any:
    """Return a text, or a list of texts, with replacements for what UTF-8 cannot hold.

    A file read with errors="surrogateescape" gives such texts.
    """
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return [_storable(each) for each in value] if type(value) is list else value


# --- JSON ---------------------------------------------------------------------------------


def to_json(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return the values as an array of type `JSON`. The arguments are those of `_typed_array`.

    Raises:
        ValueError: if JSON cannot hold a value, with its place.
    """
    texts = []
    for index, value in enumerate(values):
        try:
            _check_keys(value)
            texts.append(None if value is None else json.dumps(value, default=_json_default))
        except (TypeError, ValueError) as error:
            where = f"{name}[{index}]" if sizes is None else place(name, sizes, index)
            raise ValueError(
                f"{where} is {short(value)}, which neither Arrow nor JSON can hold: {error}."
            ) from error
    mask = to_arrow([text is None for text in texts], pa.bool_())
    return pa.StructArray.from_arrays(
        [to_arrow(texts, pa.large_string())], fields=list(JSON), mask=mask
    )


def _json_default(value) -> Any:
    """Return an array or a number of another library as JSON can hold it."""
    plain = plain_entry(value)
    if plain is value and hasattr(value, "tolist"):
        plain = value.tolist()
        if plain and isinstance(value, np.ndarray) and value.dtype.kind == "g":
            plain = value.astype(float).tolist()  # Python has no number of this precision
    if plain is value:
        raise TypeError(f"it is a {type(value).__name__}")
    return plain


def _check_keys(value) -> None:
    """Raise a TypeError if a dict in the value has a key that JSON would turn into a text."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {short(key)} is not a text")
        value = list(value.values())
    if is_list_like(value):
        for entry in value:
            _check_keys(entry)


def _first(mask: pa.ChunkedArray) -> int:
    return pc.index(mask, True).as_py()
