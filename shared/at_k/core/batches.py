"""Batches of questions: what `add_batch` keeps until `compute`, and what processes exchange.

A batch is the least that the scores depend on: the counts of binary outcomes, the outcomes, or the
samples that a checker or labels have yet to grade, in Arrow.

Small batches are merged, so that many of them take no more memory than a few large ones. A question
is copied a logarithmic number of times, as batches are merged with those of a similar size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import (
    JSON,
    from_numpy,
    is_number,
    one_chunk,
    sample_kind,
    to_json,
    to_python,
)
from .containers import numbers_and_scored, to_numpy
from .counts import BinaryCounts, joined_multiplicity
from .samples import Samples, concatenate

Batch = Samples | BinaryCounts

_SMALL_BATCHES = 64  # merging fewer at once would take longer than reading them


class Added:
    """The questions that were added and wait for `compute`."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def __len__(self) -> int:
        """The number of questions."""
        return sum(map(len, self.batches))

    def append(self, batch: Batch, counts_suffice: bool) -> None:
        """Add a batch, which has to be like the others, see `check_alike`.

        Args:
            batch: questions.
            counts_suffice: whether scores do not depend on the order of the samples of a question,
                not even in the last digit.
        """
        check_alike(batch, self.batches)
        batches = [*self.batches, _kept(batch, counts_suffice)]
        if len(batches) > _SMALL_BATCHES:
            start, size = len(batches) - 1, batches[-1].nbytes
            while start > 0 and batches[start - 1].nbytes <= 2 * size:
                start -= 1
                size += batches[start].nbytes
            batches[start:] = [_in_one_chunk(unite(batches[start:]))]
        self.batches = batches


def _kept(batch: Batch, counts_suffice: bool) -> Batch:
    """Return a batch counted, or else in memory of its own.

    The caller may change an array after it was added, or it may be a small part of a large table.
    """
    if isinstance(batch, BinaryCounts):
        return batch
    if not batch.are_numbers:
        sink = pa.BufferOutputStream()
        write_batch(batch, sink)
        return read_batch(sink.getvalue())
    counted = _counted(batch) if counts_suffice else batch
    return replace(batch, values=batch.values.copy()) if counted is batch else counted


def _counted(outcomes: Samples) -> Samples:
    """Return categories with how often each occurs, or outcomes as they are if that is shorter."""
    values = outcomes.values
    if values.dtype.kind == "f" or outcomes.multiplicity is not None or values.min() < 0:
        return outcomes
    categories = int(values.max()) + 1
    if 8 * categories * len(outcomes.sizes) > values.nbytes:
        return outcomes
    table = outcomes.category_counts(categories)
    question, category = np.nonzero(table)
    sizes = np.bincount(question, minlength=len(table))
    return Samples(
        category.astype(values.dtype), sizes, outcomes.name, multiplicity=table[question, category]
    )


# --- All batches as one -------------------------------------------------------------------


def check_alike(batch: Batch, earlier: Sequence[Batch]) -> None:
    """Raise a ValueError unless a batch can be scored together with earlier ones."""
    if not earlier:
        return
    if _has_references(batch) != _has_references(earlier[-1]):
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = _kind(batch)
    earlier_kind = next((known for known in map(_kind, reversed(earlier)) if known), None)
    if kind and earlier_kind and kind != earlier_kind:
        raise ValueError(
            f"Some questions have {earlier_kind} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def _has_references(batch: Batch) -> bool:
    return isinstance(batch, Samples) and batch.references is not None


def _kind(batch: Batch) -> str | None:
    if isinstance(batch, BinaryCounts) or batch.are_numbers:
        return "numbers"
    return sample_kind(batch.values)


def unite(batches: Sequence[Any]) -> Batch:
    """Return all questions as one batch. The batches have to be alike, see `check_alike`."""
    first = batches[0]
    if len(batches) == 1:
        return first
    if isinstance(first, BinaryCounts):
        return BinaryCounts.concatenate(batches)
    if first.are_numbers:
        return concatenate(batches)
    references = None
    if first.references is not None:
        references = _joined([rows.references for rows in batches], "references")
    return Samples(
        _joined([rows.values for rows in batches], "predictions"),
        np.concatenate([rows.sizes for rows in batches]),
        multiplicity=joined_multiplicity(batches),
        references=references,
    )


def _joined(columns: list[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """Return columns as one: numbers as doubles if that keeps them, and other types as JSON."""
    types = {column.type for column in columns if not pa.types.is_null(column.type)}
    if len(types) > 1:
        doubles = _as_doubles_or_none(columns) if name == "predictions" else None
        columns = doubles or [_as_json(column, name) for column in columns]
        types = {pa.float64() if doubles else JSON}
    (common,) = types or {pa.null()}
    columns = [column if column.type == common else column.cast(common) for column in columns]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], common)


def _as_doubles_or_none(columns: list[pa.ChunkedArray]) -> list[pa.ChunkedArray] | None:
    """Return numbers as doubles; None if that would change one, as True is not 1."""
    for column in columns:
        is_bool = pa.types.is_boolean(column.type)
        if is_bool or not (is_number(column.type) or pa.types.is_null(column.type)):
            return None
    try:
        return [column.cast(pa.float64()) for column in columns]
    except pa.ArrowInvalid:  # an integer that no double holds
        return None


def _as_json(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if column.type == JSON or pa.types.is_null(column.type):
        return column
    return pa.chunked_array([to_json(to_python(column), name)])


def _in_one_chunk(batch: Batch) -> Batch:
    if isinstance(batch, BinaryCounts) or batch.are_numbers:
        return batch
    values, references = (
        None if column is None else pa.chunked_array([one_chunk(column)])
        for column in (batch.values, batch.references)
    )
    return replace(batch, values=values, references=references)


# --- Files --------------------------------------------------------------------------------


def write_batch(batch: Batch, file: BinaryIO) -> None:
    """Write a batch as an Arrow stream, with a row for each question."""
    if isinstance(batch, BinaryCounts):
        columns = {"n": from_numpy(batch.n), "c": from_numpy(batch.c)}
    else:
        if batch.are_numbers:
            values = from_numpy(batch.values, None if batch.scored is None else ~batch.scored)
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


def read_batch(data: Any) -> Batch:
    """Read a batch that `write_batch` has written, without a copy."""
    table = pa.ipc.open_stream(data).read_all()
    if "n" in table.column_names:
        return BinaryCounts(to_numpy(table["n"]), to_numpy(table["c"]))
    sizes = to_numpy(pc.list_value_length(table["values"])).astype(np.int64)
    values, multiplicity = pc.list_flatten(table["values"]), None
    if "multiplicity" in table.column_names:
        multiplicity = to_numpy(pc.list_flatten(table["multiplicity"]))
    if "references" in table.column_names or not is_number(values.type):
        references = table["references"] if "references" in table.column_names else None
        return Samples(values, sizes, multiplicity=multiplicity, references=references)
    numbers, scored = numbers_and_scored(values)
    return Samples(numbers, sizes, "predictions", scored, multiplicity)
