"""Arrow columns: their types, their sizes and their distinct entries."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .outcomes import sums_per_question

JSON = pa.struct([("at_k.json", pa.large_string())])
"""The type of values that Arrow has no common type for, such as dicts with different keys."""

_SAMPLE, _TIMES = "at_k.sample", "at_k.times"


def lists_of_samples(samples: pa.Array, sizes: np.ndarray) -> pa.ChunkedArray:
    """Return (S,) samples, question after question, as a column of M lists with (M,) sizes."""
    offsets = from_numpy(np.concatenate([[0], np.cumsum(sizes)]))
    return pa.chunked_array([pa.LargeListArray.from_arrays(offsets, samples)])


def from_numpy(values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """Return numbers as an array. `pa.array` would import pandas, which takes half a second.

    Args:
        values: (S,) numbers.
        missing: (S,) True for entries that are None, or None if none are.
    """
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    buffers = [_validity(missing), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _validity(missing: np.ndarray | None) -> pa.Buffer | None:
    return None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))


def to_arrow(entries: list[Any], arrow_type: pa.DataType | None = None) -> pa.Array:
    """Return the entries of a list as an array. Texts are large, so that 2 GB are no limit."""
    kinds = {*map(type, entries)}
    kind, *others = kinds - {type(None)} or [None]
    if others or kind not in _ZEROS:
        return pa.array(entries, arrow_type)
    missing = None
    if type(None) in kinds:
        missing = np.array([entry is None for entry in entries], dtype=bool)
        entries = [_ZEROS[kind] if entry is None else entry for entry in entries]
    try:
        if kind is str:
            array = texts_to_arrow(entries, missing)
        else:
            array = from_numpy(np.array(entries, kind), missing)
    except OverflowError:  # an integer beyond 64 bits, or from 2^63
        return pa.array(entries, arrow_type, mask=missing)
    return array if arrow_type is None else array.cast(arrow_type)


_ZEROS: dict[Any, Any] = {str: "", bool: False, int: 0, float: 0.0}  # stand in for None


def texts_to_arrow(texts: list[str], missing: np.ndarray | None = None) -> pa.Array:
    """Return texts as an array.

    Args:
        texts: the entries.
        missing: (S,) True for entries that are None, or None if none are.

    Raises:
        TypeError: if an entry is not a text.
        UnicodeEncodeError: if a text has a lone surrogate, which UTF-8 cannot hold.
    """
    data = "".join(texts).encode()
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(data) > sizes.sum():  # some characters take several bytes
        sizes = np.fromiter((len(text.encode()) for text in texts), np.int64, len(texts))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    buffers = [_validity(missing), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def counted_samples(samples: pa.Array, times: np.ndarray) -> pa.StructArray:
    """Return (S,) different samples with how often each occurs, as entries of one array."""
    return pa.StructArray.from_arrays([samples, from_numpy(times)], [_SAMPLE, _TIMES])


def is_counted(sample_type: pa.DataType) -> bool:
    """Whether samples of this type are stored with how often each occurs."""
    return pa.types.is_struct(sample_type) and sample_type.get_field_index(_TIMES) >= 0


def sample_type_of(predictions: pa.DataType) -> pa.DataType:
    """Return the type of a sample, from the type of a column of lists of samples."""
    sample_type = predictions.value_type
    return sample_type.field(_SAMPLE).type if is_counted(sample_type) else sample_type


def flat_samples(predictions: pa.ChunkedArray) -> tuple[pa.ChunkedArray, np.ndarray | None]:
    """Return (S,) samples of all questions, and how often each occurs, or None if once each."""
    samples = pc.list_flatten(predictions)
    if not is_counted(samples.type):
        return samples, None
    return pc.struct_field(samples, _SAMPLE), to_numpy(pc.struct_field(samples, _TIMES))


def samples_per_question(predictions: pa.ChunkedArray) -> np.ndarray:
    """Return (M,) the length of each question's list of samples."""
    if pa.types.is_fixed_size_list(predictions.type):
        return np.full(len(predictions), predictions.type.list_size)
    return to_numpy(pc.list_value_length(predictions)).astype(np.int64)


def given_per_question(predictions: pa.ChunkedArray) -> np.ndarray:
    """Return (M,) the number of samples of each question that are not None."""
    sizes, (samples, times) = samples_per_question(predictions), flat_samples(predictions)
    if samples.null_count:
        given = to_numpy(samples.is_valid())
        return sums_per_question(given if times is None else given * times, sizes)
    return sizes if times is None else sums_per_question(times, sizes)


def is_list(arrow_type: pa.DataType) -> bool:
    """Whether the type is a list type of any layout."""
    return (
        pa.types.is_list(arrow_type)
        or pa.types.is_large_list(arrow_type)
        or pa.types.is_fixed_size_list(arrow_type)
    )


def is_text(arrow_type: pa.DataType) -> bool:
    """Whether the type is a string type of any layout."""
    return (
        pa.types.is_string(arrow_type)
        or pa.types.is_large_string(arrow_type)
        or pa.types.is_string_view(arrow_type)
    )


def is_number(arrow_type: pa.DataType) -> bool:
    """Whether the type is one of bools, integers or floats."""
    return (
        pa.types.is_boolean(arrow_type)
        or pa.types.is_integer(arrow_type)
        or pa.types.is_floating(arrow_type)
    )


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the entries as Python objects."""
    if values.type == JSON:
        return [
            None if entry is None else json.loads(entry["at_k.json"])
            for entry in values.to_pylist()
        ]
    return values.to_pylist()


def one_chunk(values: pa.ChunkedArray) -> pa.Array:
    """Return the entries as one array, without a copy if there is one chunk."""
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def to_numpy(values: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the entries as one NumPy array. Arrow's own `to_numpy` would import pandas."""
    values = one_chunk(values) if isinstance(values, pa.ChunkedArray) else values
    data, start, stop = values.buffers()[-1], values.offset, values.offset + len(values)
    if values.null_count or data is None or not is_number(values.type):
        return values.to_numpy(zero_copy_only=False)
    if not pa.types.is_boolean(values.type):
        return np.frombuffer(data, values.type.to_pandas_dtype())[start:stop]
    first = start // 8
    bits = np.frombuffer(data, np.uint8)[first : -(-stop // 8)]
    return np.unpackbits(bits, bitorder="little")[start - 8 * first : stop - 8 * first].view(bool)


def distinct_entries(values: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct entries, and for each entry its index among them, or -1 for None."""
    if values.type == JSON:
        texts, index = distinct_entries(pc.struct_field(values, 0))
        return pa.StructArray.from_arrays([texts], fields=list(JSON)), index
    if pa.types.is_nested(values.type):
        codes: dict[str, int] = {}
        index = np.array(
            [
                -1 if entry is None else codes.setdefault(repr(entry), len(codes))
                for entry in values.to_pylist()
            ]
        )
        first = np.unique(index, return_index=True)[1]
        return values.combine_chunks().take(first[index[first] >= 0]), index
    encoded = values.dictionary_encode()  # the chunks have one dictionary, and are not copied
    code = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    code = code.fill_null(-1) if code.null_count else code
    return encoded.chunk(0).dictionary, to_numpy(code)
