"""Batches of questions, which `add_batch` keeps until `compute`, and which processes exchange.

The values of a batch are outcomes, or an Arrow column of samples that are not graded yet.

Small batches are merged, so that many of them take no more memory than a few large ones. Batches
are merged with others of a similar size, so a question is copied a logarithmic number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import JSON, from_numpy, one_chunk, sample_kind, to_json, to_python
from .containers import is_numeric, numbers_and_scored, to_numpy
from .samples import Samples

_SMALL_BATCHES = 64  # Up to this number, merging would take longer than reading the batches.


def with_batch(batches: list[Samples], batch: Samples, counts_suffice: bool) -> list[Samples]:
    """Return a list of the batches and one more, with the last ones merged if there are many.

    `counts_suffice` is False if a score may depend on the order of the samples of a question, even
    if only in the last digit. A ValueError is raised if `check_alike` refuses the new batch.
    """
    check_alike(batch, batches)
    batches = [*batches, _in_own_memory(batch, counts_suffice)]
    if len(batches) <= _SMALL_BATCHES:
        return batches
    # A batch is merged with those after it, unless it has more than twice their questions.
    start, size = len(batches) - 1, len(batches[-1])
    while start > 0 and len(batches[start - 1]) <= 2 * size:
        start -= 1
        size += len(batches[start])
    return [*batches[:start], _in_own_memory(unite(batches[start:]), counts_suffice)]


def _in_own_memory(batch: Samples, counts_suffice: bool) -> Samples:
    """Return a batch that shares no memory with the caller's data.

    The caller may change an array after adding it, and the array may be a small part of a large
    table. If `counts_suffice`, the batch may be stored as counts to save memory.
    """
    if not batch.are_numbers:
        sink = pa.BufferOutputStream()  # A copy in Arrow's format has only the rows of the batch.
        write_batch(batch, sink)
        return read_batch(sink.getvalue())
    counted = _as_counts(batch) if counts_suffice else None
    return replace(batch, values=batch.values.copy()) if counted is None else counted


def _as_counts(outcomes: Samples) -> Samples | None:
    """Return outcomes with each category of a question once, and its count as the multiplicity.

    Returns None if that may not be shorter, if outcomes are no categories, or if they have a
    multiplicity already. Outcomes that are not scored are dropped.
    """
    values = outcomes.values
    if values.dtype.kind == "f" or outcomes.multiplicity is not None or values.min() < 0:
        return None
    categories = int(values.max()) + 1
    if 8 * categories * len(outcomes.sizes) > values.nbytes:  # A count has 8 bytes.
        return None
    table = outcomes.category_counts(categories)
    occurs, category = table > 0, np.arange(categories, dtype=values.dtype)
    return Samples(
        np.broadcast_to(category, table.shape)[occurs],
        np.count_nonzero(occurs, axis=1),
        outcomes.name,
        multiplicity=table[occurs],
    )


def check_alike(batch: Samples, earlier: Sequence[Samples]) -> None:
    """Raise a ValueError unless a batch can be scored together with earlier ones.

    All have references, or none has; and all samples are numbers, texts or other values.
    """
    if not earlier:
        return
    if (batch.references is None) != (earlier[-1].references is None):
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = _kind(batch)
    earlier_kind = next((known for known in map(_kind, reversed(earlier)) if known), None)
    if kind and earlier_kind and kind != earlier_kind:
        raise ValueError(
            f"Some questions have {earlier_kind} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def _kind(batch: Samples) -> str | None:
    """Return "numbers", "texts" or "other values" for the samples; None if all are None."""
    return "numbers" if batch.are_numbers else sample_kind(batch.values)


def unite(batches: Sequence[Samples]) -> Samples:
    """Return the questions of all batches as one batch. `check_alike` must accept the batches."""
    first = batches[0]
    if len(batches) == 1:
        return first
    scored = multiplicity = references = None
    if first.are_numbers:
        values = np.concatenate([batch.values for batch in batches])
        if any(batch.scored is not None for batch in batches):
            scored = np.concatenate([batch.is_scored for batch in batches])
    else:
        values = _one_column([batch.values for batch in batches], "predictions")
        if first.references is not None:
            references = _one_column([batch.references for batch in batches], "references")
    if any(batch.multiplicity is not None for batch in batches):
        multiplicity = np.concatenate([batch.occurrences for batch in batches])
    sizes = np.concatenate([batch.sizes for batch in batches])
    return Samples(values, sizes, first.name, scored, multiplicity, references)


def _one_column(columns: list[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """Return the entries of all columns as one column.

    If the types differ, predictions that are all numbers become doubles, and other entries JSON.
    `name` is "predictions" or "references".
    """
    types = {column.type for column in columns if not pa.types.is_null(column.type)}
    if len(types) > 1:
        doubles = _as_doubles_or_none(columns) if name == "predictions" else None
        columns = doubles or [_as_json(column, name) for column in columns]
        types = {pa.float64() if doubles else JSON}
    (common,) = types or {pa.null()}
    columns = [column if column.type == common else column.cast(common) for column in columns]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], common)


def _as_doubles_or_none(columns: list[pa.ChunkedArray]) -> list[pa.ChunkedArray] | None:
    """Return columns of numbers as doubles; None if an entry is a bool, a text or too large."""
    if any(pa.types.is_boolean(column.type) or not is_numeric(column.type) for column in columns):
        return None
    try:
        return [column.cast(pa.float64()) for column in columns]
    except pa.ArrowInvalid:  # An integer is above 2^53, beyond which doubles have gaps.
        return None


def _as_json(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column as one of the type `JSON`, or unchanged if all its entries are null."""
    if column.type == JSON or pa.types.is_null(column.type):
        return column
    return pa.chunked_array([to_json(to_python(column), name)])


def write_batch(batch: Samples, file: BinaryIO) -> None:
    """Write a batch to a file as an Arrow stream, with a row for each question.

    Numbers that are not scored become null.
    """
    if batch.are_numbers:
        values = from_numpy(batch.values, batch.scored)
    else:
        values = one_chunk(batch.values)
    offsets = from_numpy(np.concatenate([[0], np.cumsum(batch.sizes)]))
    columns = {"values": pa.LargeListArray.from_arrays(offsets, values)}
    if batch.multiplicity is not None:
        multiplicity = from_numpy(batch.multiplicity)
        columns["multiplicity"] = pa.LargeListArray.from_arrays(offsets, multiplicity)
    if batch.references is not None:
        columns["references"] = batch.references
    table = pa.table(columns)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def read_batch(data: Any) -> Samples:
    """Read a batch that `write_batch` wrote, from bytes or an Arrow buffer, without a copy."""
    table = pa.ipc.open_stream(data).read_all()
    sizes = to_numpy(pc.list_value_length(table["values"])).astype(np.int64)
    values, multiplicity = pc.list_flatten(table["values"]), None
    if "multiplicity" in table.column_names:
        multiplicity = to_numpy(pc.list_flatten(table["multiplicity"]))
    references = table["references"] if "references" in table.column_names else None
    are_numbers = is_numeric(values.type) and not pa.types.is_null(values.type)
    if references is not None or not are_numbers:
        return Samples(values, sizes, multiplicity=multiplicity, references=references)
    numbers, scored = numbers_and_scored(values)
    return Samples(numbers, sizes, "predictions", scored, multiplicity)
