"""Arrow columns of the samples and references that are to be checked.

Texts are large strings. Numbers keep their type, except that float16 and float32 become the double
that prints the same, so that np.float32(0.1) equals 0.1. Lists and dicts are stored as JSON, and so
are values without a common Arrow type: texts that UTF-8 cannot hold, bools among integers, and
integers that no double holds among floats.

There are S samples of M questions.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .checks import InputError, Place, check_depth, entries_of, is_list_like, short
from .containers import (
    is_numeric,
    numbers_and_scored,
    plain_container,
    plain_entry,
    to_numpy,
    with_plain_type,
)
from .samples import Samples, sample_place

TEXTS = pa.large_string()
"""The Arrow type of texts."""

JSON = pa.struct([("at_k.json", TEXTS)])
"""The Arrow type of values that are stored as JSON."""

_TEXTS_AND_NONE = {str, type(None)}


def stored(samples: Samples, references: Any = None) -> Samples:
    """Return the samples with values in an Arrow column, null if not scored, and with references.

    `references` has one for each of M questions, or is None for no references. A ValueError is
    raised if samples have different types, if there are not M references, or if neither Arrow nor
    JSON can hold a value.
    """
    if samples.are_numbers:
        values = _column_of_numbers(samples.values, samples.scored)
    else:
        check_types(samples)
        values = _column(samples.values, samples.name, samples.sizes)
    column = None if references is None else _reference_column(references, len(samples))
    return replace(samples, values=values, scored=None, references=column)


def _reference_column(references: Any, questions: int) -> pa.ChunkedArray:
    """Return M references as a column; raise a ValueError if there are not M. `questions` is M."""
    entries = plain_container(references)
    is_array = isinstance(entries, np.ndarray) and entries.ndim == 1
    if not (is_array or isinstance(entries, pa.ChunkedArray)):
        entries = entries if isinstance(entries, list) else entries_of("references", entries)
        check_depth("references", entries)
    column = _column(entries, "references")
    if len(column) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(column)} references: "
            f"give one reference for each question."
        )
    # A checker may ignore references, so a column of None is a valid column of references.
    return column.cast(TEXTS) if pa.types.is_null(column.type) else column


def _column(values: Any, name: str, sizes: np.ndarray | None = None) -> pa.ChunkedArray:
    """Return an array, a list or an Arrow column as a column, with lists and structs as JSON.

    `name` and `sizes` are those of `to_json`.
    """
    if isinstance(values, np.ndarray):
        return _column_of_numbers(values)
    if isinstance(values, list):
        return pa.chunked_array([_typed_array(values, name, sizes)])
    column = with_plain_type(values)
    if pa.types.is_nested(column.type):
        return pa.chunked_array([to_json(column.to_pylist(), name, sizes)])
    if str(column.type) in ("halffloat", "float"):
        return _column_of_numbers(*numbers_and_scored(column))
    return column


def _column_of_numbers(numbers: np.ndarray, scored: np.ndarray | None = None) -> pa.ChunkedArray:
    """Return numbers as a column. float16 and float32 become the double that prints the same.

    `scored`, (S,), is False for each number in place of None; or it is None if all are scored.
    """
    if scored is not None and not scored.any():
        return pa.chunked_array([pa.nulls(len(numbers))])
    if numbers.dtype.kind == "f" and numbers.itemsize < 8:
        # Printing is slow, so each distinct number is printed once.
        distinct, inverse = np.unique(numbers, return_inverse=True)
        numbers = np.array([float(str(number)) for number in distinct])[inverse]
    return pa.chunked_array([from_numpy(numbers, scored)])


def check_types(samples: Samples) -> None:
    """Raise a ValueError with two indices if a sample has another type than the first scored one.

    Numbers and bools are of one type. Samples that are lists or dicts are not checked.
    """
    values = samples.values
    if not isinstance(values, list) or _TEXTS_AND_NONE.issuperset(map(type, values)):
        return
    kinds = ["number" if isinstance(x, (bool, int, float)) else type(x).__name__ for x in values]
    scored = [sample for sample, value in enumerate(values) if value is not None]
    if not scored or kinds[scored[0]] in ("dict", "list", "tuple"):
        return
    first = scored[0]
    for sample in scored:
        if kinds[sample] != kinds[first]:
            raise InputError(
                sample_place(samples.name, samples.sizes, sample),
                f" is {short(values[sample])}, but ",
                sample_place(samples.name, samples.sizes, first),
                f" is {short(values[first])}: samples are all of one type.",
            )


def _typed_array(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return values as an Arrow array of their type, or as JSON if they have no common Arrow type.

    `sizes`, (M,), are the numbers of values of each question, or None for one value each.
    """
    if _TEXTS_AND_NONE.issuperset(map(type, values)):
        with suppress(UnicodeEncodeError):
            return pa.array(values, TEXTS)
    values = [plain_entry(value) for value in values]
    array = _array_of_one_type(values)
    return to_json(values, name, sizes) if array is None else array


def _array_of_one_type(values: list[Any]) -> pa.Array | None:
    """Return values as an array; None if they are lists or dicts, or have no common Arrow type."""
    types = {type(value) for value in values} - {type(None)}
    if len(types) > 1 or types & {list, tuple, dict}:
        return None
    try:
        array = pa.array(values, TEXTS if types == {str} else None)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return None if pa.types.is_nested(array.type) else array  # such as arrays of NumPy


def to_json(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return values as an array of the type `JSON`.

    `sizes`, (M,), are the numbers of values of each question, or None for one value each. A
    ValueError with the index of a value is raised if JSON cannot hold it.
    """
    texts = []
    for index, value in enumerate(values):
        try:
            _check_keys(value)
            texts.append(None if value is None else json.dumps(value, default=_json_default))
        except (TypeError, ValueError) as error:
            location = Place(name, index) if sizes is None else sample_place(name, sizes, index)
            what = f" is {short(value)}, which neither Arrow nor JSON can hold: {error}."
            raise InputError(location, what) from error
    array = pa.array(texts, TEXTS)
    return pa.StructArray.from_arrays([array], fields=list(JSON), mask=array.is_null())


def _json_default(value) -> Any:
    """Return an array or number of any library as a JSON value; raise a TypeError for others."""
    plain = plain_entry(value)
    if plain is value and hasattr(value, "tolist"):  # an array
        plain = value.tolist()
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


def sample_kind(values: pa.ChunkedArray) -> str | None:
    """Return "texts", "numbers" or "other values" for a column of samples; None if all are None."""
    if pa.types.is_null(values.type):
        return None
    if values.type == TEXTS:
        return "texts"
    if values.type == JSON:  # All samples are of one kind, so the first one tells.
        first = next(text for text in pc.struct_field(values, 0) if text.is_valid).as_py()
        if first.startswith(("[", "{")):
            return "other values"
        return "texts" if first.startswith('"') else "numbers"
    return "numbers" if is_numeric(values.type) else "other values"


def from_numpy(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Return numbers or bools, (S,), as an Arrow array.

    `valid`, (S,), is False for entries that become null; or it is None if there are none.
    """
    # `pa.array` would import pandas, which takes half a second. Arrow stores bools as bits.
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    validity = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [validity, pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the entries as a list of Python objects, with JSON parsed."""
    if values.type == JSON:
        return [
            None if entry is None else json.loads(entry["at_k.json"])
            for entry in values.to_pylist()
        ]
    return values.to_pylist()


def one_chunk(values: pa.ChunkedArray) -> pa.Array:
    """Return the entries of a column as one array, without a copy if there is one chunk."""
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def distinct_entries(values: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct entries, and the index of each entry among them, (S,), or -1 for null."""
    if values.type == JSON:
        texts, index = distinct_entries(pc.struct_field(values, 0))
        return pa.StructArray.from_arrays([texts], fields=list(JSON)), index
    encoded = values.dictionary_encode()  # The chunks share one dictionary, and are not copied.
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    indices = indices.fill_null(-1) if indices.null_count else indices
    return encoded.chunk(0).dictionary, to_numpy(indices)
