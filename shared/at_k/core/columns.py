"""Arrow columns of the samples and references that are to be checked, and batches of questions.

Texts are large strings. All other values, and texts that UTF-8 cannot hold, are JSON, which keeps
their types. A float16 or float32 becomes the double that prints the same: np.float32(0.1) is 0.1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from .checks import InputError, Place, entries_of, is_frame, is_list_like, plain_number, short
from .containers import has_lists, numbers_or_texts, plain_container, plain_entry, to_numpy
from .samples import Samples, column_of_texts, sample_place

TEXTS = pa.large_string()
"""The Arrow type of texts."""

JSON = pa.large_binary()
"""The Arrow type of all other values: each is stored as its JSON, encoded as UTF-8."""


def stored(samples: Samples, references: Any = None) -> Samples:
    """Return the samples with values in an Arrow column, null if not scored, and with references.

    A ValueError is raised if samples have different types, if there is not one reference for each
    question, or if JSON cannot hold a value.
    """
    check_types(samples)
    scored = samples.is_scored if samples.are_numbers and samples.multiplicity is not None else None
    values = _column(samples.values, scored, partial(sample_place, samples.name, samples.sizes))
    column = None if references is None else _reference_column(references, len(samples))
    return replace(samples, values=values, references=column)


def check_types(samples: Samples) -> None:
    """Raise a ValueError if samples differ in type. Bools are numbers; lists are not checked."""
    if not isinstance(samples.values, list):
        return

    def kind(value: Any) -> type:
        return float if isinstance(value, (bool, int)) else type(value)

    scored = ((i, x) for i, x in enumerate(samples.values) if x is not None)
    first, wanted = next(scored, (0, []))
    if isinstance(wanted, (dict, list, tuple)):
        return
    for sample, value in scored:
        if kind(value) is not kind(wanted):
            raise InputError(
                sample_place(samples.name, samples.sizes, sample),
                f" is {short(value)}, but ",
                sample_place(samples.name, samples.sizes, first),
                f" is {short(wanted)}: samples are all of one type.",
            )


def _reference_column(references: Any, questions: int) -> pa.ChunkedArray:
    """Return the references of so many questions as a column of texts or JSON."""
    entries, valid = plain_container(references), None
    if hasattr(entries, "chunks") and not has_lists(entries):
        entries, valid = numbers_or_texts(entries)
    elif is_frame(entries) or not (isinstance(entries, list) or getattr(entries, "ndim", 0) == 1):
        entries = entries_of("references", entries)
    if len(entries) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(entries)} references: "
            f"give one reference for each question."
        )
    return _column(entries, valid, partial(Place, "references"))


def _column(
    values: Any, valid: np.ndarray | None, place: Callable[[int], Place]
) -> pa.ChunkedArray:
    """Return a list, an array of numbers or a column of texts as a column of texts or JSON.

    `valid`, (S,), is False for numbers that become null. `place` is for errors, as in `to_json`.
    """
    if isinstance(values, list):
        texts = column_of_texts([values])
        return pa.chunked_array([to_json(values, place)]) if texts is None else texts
    if not isinstance(values, np.ndarray):
        return values
    # Printing is slow, so each distinct number is printed once.
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    encoded = pa.array(native, mask=None if valid is None else ~valid).dictionary_encode()
    distinct = encoded.dictionary.to_numpy(zero_copy_only=False)
    if distinct.dtype in (np.float16, np.float32):
        distinct = np.array([plain_number("A number", number) for number in distinct])
    texts = json.dumps(distinct.tolist())[1:-1].split(", ") if len(distinct) else []
    return pa.chunked_array([pa.array(texts, TEXTS).cast(JSON).take(encoded.indices)])


def to_json(values: Sequence[Any], place: Callable[[int], Place]) -> pa.Array:
    """Return values as a `JSON` array, null for None. `place` returns the place of an index."""
    texts, encode = [], json.JSONEncoder(default=_json_default).encode
    for index, value in enumerate(values):
        try:
            _check_keys(value)
            text = None if value is None else encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            is_deep = isinstance(error, RecursionError)
            problem = "it is nested too deeply, or contains itself" if is_deep else error
            what = f" is {short(value)}, which JSON cannot hold: {problem}. Give a text, a number, "
            raise InputError(place(index), what, "or lists and dicts of these.") from error
        texts.append(text)
    return pa.array(texts, TEXTS).cast(JSON)


def _json_default(value) -> Any:
    """Return an array or number of any library as a JSON value; raise a TypeError for others."""
    plain = plain_entry(value)
    if plain is not value:
        return plain
    if hasattr(value, "tolist"):  # an array
        return value.tolist()
    raise TypeError(f"it is a {type(value).__name__}")


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


def sample_kind(samples: Samples) -> str | None:
    """Return "texts", "numbers" or "other values" for stored samples; None if all are None."""
    values = samples.values
    if samples.are_numbers:
        return "numbers"
    if values.null_count == len(values):
        return None
    if values.type == TEXTS:
        return "texts"
    # All samples are of one kind, so the first one tells.
    first = next(text for text in values if text.is_valid).as_py()
    if first.startswith((b"[", b"{")):
        return "other values"
    return "texts" if first.startswith(b'"') else "numbers"


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the entries as a list of Python objects, with JSON parsed."""
    entries = values.to_pylist()
    if values.type != JSON:
        return entries
    # One call of the parser is faster than one for each entry.
    return json.loads(b"[%b]" % b",".join(b"null" if x is None else x for x in entries))


def one_chunk(values: pa.ChunkedArray) -> pa.Array:
    """Return the entries of a column as one array, without a copy if there is one chunk."""
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def distinct_entries(values: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct entries, and the index of each entry among them, (S,), or -1 for null."""
    encoded = values.dictionary_encode()  # The chunks share one dictionary, and are not copied.
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    indices = indices.fill_null(-1) if indices.null_count else indices
    return encoded.chunk(0).dictionary, to_numpy(indices)


# --- Batches ------------------------------------------------------------------------------


def with_batch(batches: list[Samples], batch: Samples) -> list[Samples]:
    """Return a list of the batches and one more, with the last ones merged if there are many."""
    check_alike(batch, batches)
    batches = [*batches, _in_own_memory(batch)]
    if len(batches) <= 64:  # Merging so few would take longer than reading them.
        return batches
    # A batch is merged with those after it, unless it has more than twice their questions.
    start, size = len(batches) - 1, len(batches[-1])
    while start > 0 and len(batches[start - 1]) <= 2 * size:
        start -= 1
        size += len(batches[start])
    return [*batches[:start], unite(batches[start:])]


def _in_own_memory(batch: Samples) -> Samples:
    """Return a batch that shares no memory with the caller's data, with integers of few bytes.

    The caller may change an array after adding it, and it may be a small part of a large table.
    """
    values = batch.values
    if batch.are_numbers:  # Outcomes of one byte can be joined with those of any other type.
        is_category = values.dtype.kind in "iu" and values.min(initial=0) >= 0
        dtype = np.min_scalar_type(values.max(initial=0)) if is_category else values.dtype
        return replace(batch, values=values.astype(dtype))
    references = None if batch.references is None else _copy_of_column(batch.references)
    return replace(batch, values=_copy_of_column(values), references=references)


def _copy_of_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with the same entries in one chunk of its own memory."""
    return pa.chunked_array([one_chunk(column.take(pa.array(np.arange(len(column)))))])


def check_alike(batch: Samples, earlier: Sequence[Samples]) -> None:
    """Raise a ValueError unless all or no batches have references, and samples are of one kind."""
    if not earlier:
        return
    if (batch.references is None) != (earlier[-1].references is None):
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = sample_kind(batch)
    earlier_kind = next(filter(None, map(sample_kind, reversed(earlier))), None)
    if kind and earlier_kind and kind != earlier_kind:
        raise ValueError(
            f"Some questions have {earlier_kind} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def unite(batches: Sequence[Samples]) -> Samples:
    """Return the questions of all batches as one batch. `check_alike` must accept the batches."""
    first = batches[0]
    if len(batches) == 1:
        return first
    join = np.concatenate if first.are_numbers else _one_column
    values = join([batch.values for batch in batches])
    sizes = np.concatenate([batch.sizes for batch in batches])
    multiplicity = references = None
    if any(batch.multiplicity is not None for batch in batches):
        multiplicity = np.concatenate([batch.weights for batch in batches])
    if first.references is not None:
        references = _one_column([batch.references for batch in batches])
    return Samples(values, sizes, first.name, multiplicity, references)


def _one_column(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Join columns of type `TEXTS` or `JSON` end to end, as `JSON` if one has an entry of it."""
    common = TEXTS
    if any(column.type == JSON and column.null_count < len(column) for column in columns):
        common = JSON

    def converted(column: pa.ChunkedArray) -> pa.ChunkedArray:
        if column.type == common:
            return column
        if common == TEXTS:  # all entries are null
            return pa.chunked_array([pa.nulls(len(column), TEXTS)])
        # JSON can hold every text, so the place is never in an error.
        return pa.chunked_array([to_json(column.to_pylist(), partial(Place, "predictions"))])

    return pa.chunked_array([chunk for column in columns for chunk in converted(column).chunks])
