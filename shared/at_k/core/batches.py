"""Batches of questions, which `add_batch` keeps until `compute`.

The values of a batch are outcomes, or an Arrow column of samples that are not graded yet.

Small batches are merged, so that many of them take no more memory than a few large ones. Batches
are merged with others of a similar size, so a question is copied a logarithmic number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from .checks import Place
from .columns import JSON, one_chunk, sample_kind, to_json, to_python
from .samples import Samples

_SMALL_BATCHES = 64  # Up to this number, merging would take longer than reading the batches.


def with_batch(batches: list[Samples], batch: Samples) -> list[Samples]:
    """Return a list of the batches and one more, with the last ones merged if there are many.

    A ValueError is raised if `check_alike` refuses the new batch.
    """
    check_alike(batch, batches)
    batches = [*batches, _in_own_memory(batch)]
    if len(batches) <= _SMALL_BATCHES:
        return batches
    # A batch is merged with those after it, unless it has more than twice their questions.
    start, size = len(batches) - 1, len(batches[-1])
    while start > 0 and len(batches[start - 1]) <= 2 * size:
        start -= 1
        size += len(batches[start])
    return [*batches[:start], unite(batches[start:])]


def _in_own_memory(batch: Samples) -> Samples:
    """Return a batch that shares no memory with the caller's data, with integers of few bytes.

    The caller may change an array after adding it, and the array may be a small part of a large
    table.
    """

    def copy(column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a copy in one chunk. A slice would keep the whole table in memory."""
        return pa.chunked_array([one_chunk(column.take(pa.array(np.arange(len(column)))))])

    values, references = batch.values, batch.references
    if batch.are_numbers:
        is_category = values.dtype.kind in "iu" and values.min() >= 0
        dtype = np.min_scalar_type(values.max()) if is_category else values.dtype
        return replace(batch, values=values.astype(dtype))
    references = None if references is None else copy(references)
    return replace(batch, values=copy(values), references=references)


def check_alike(batch: Samples, earlier: Sequence[Samples]) -> None:
    """Raise a ValueError unless a batch can be scored together with earlier ones.

    All have references, or none has; and all samples are numbers, texts or other values.
    """
    if not earlier:
        return
    if (batch.references is None) != (earlier[-1].references is None):
        raise ValueError("Some questions have references and some have none: give all or none.")

    def kind_of(samples: Samples) -> str | None:
        return "numbers" if samples.are_numbers else sample_kind(samples.values)

    kind, earlier_kind = kind_of(batch), next(filter(None, map(kind_of, reversed(earlier))), None)
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
    multiplicity = references = None
    if first.are_numbers:
        values = np.concatenate([batch.values for batch in batches])
    else:
        values = _one_column([batch.values for batch in batches])
        if first.references is not None:
            references = _one_column([batch.references for batch in batches])
    if any(batch.multiplicity is not None for batch in batches):
        multiplicity = np.concatenate([batch.weights for batch in batches])
    sizes = np.concatenate([batch.sizes for batch in batches])
    return Samples(values, sizes, first.name, multiplicity, references)


def _one_column(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the entries of all columns as one column, which has JSON if one of them has."""
    if any(column.type == JSON for column in columns):
        columns = [
            column
            if column.type == JSON
            else pa.chunked_array([to_json(to_python(column), partial(Place, "predictions"))])
            for column in columns
        ]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks])
