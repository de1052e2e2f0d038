"""Questions that were added and wait for `compute`: counted, merged, and spilled to files.

Small batches are merged, so that many of them take no more memory than a few large ones. A question
is copied a logarithmic number of times, as batches are merged with those of a similar size. What
takes more than 64 MB is moved to a temporary file, which is mapped to memory.
"""

from __future__ import annotations

import mmap
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from .batches import Batch, unite
from .counts import BinaryCounts
from .graded import graded_outcomes
from .outcomes import Outcomes

SPILLED_BYTES = 1 << 26  # each file takes a file descriptor, of which a process may have 1,024

_SMALL_BATCHES = 64  # merging fewer at once would take longer than reading them


def kept(batch: Batch, counts_suffice: bool) -> Batch:
    """Return a batch as it is kept: counted, or else in memory of its own.

    The caller may change an array after it was added, or it may be a small part of a large table.

    Args:
        batch: questions.
        counts_suffice: whether scores do not depend on the order of the samples of a question, not
            even in the last digit.
    """
    data = batch.data
    if isinstance(data, BinaryCounts):
        return batch
    if not isinstance(data, Outcomes):
        return Batch(_copied(data))
    found = counted(data) if counts_suffice else data
    return Batch(replace(data, values=data.values.copy()) if found is data else found)


def counted(outcomes: Outcomes) -> Outcomes:
    """Return categories with how often each occurs, or outcomes as they are if that is shorter."""
    values = outcomes.values
    if values.dtype.kind == "f" or outcomes.times is not None or values.min() < 0:
        return outcomes
    categories = int(values.max()) + 1
    if 8 * categories * len(outcomes.sizes) > values.nbytes:
        return outcomes
    table = outcomes.category_counts(categories)
    question, category = np.nonzero(table)
    sizes = np.bincount(question, minlength=len(table))
    return Outcomes(
        category.astype(values.dtype), sizes, outcomes.name, times=table[question, category]
    )


def append(
    batches: Sequence[Batch],
    batch: Batch,
    folder: Path | None,
    validate: Callable[[Outcomes], Outcomes | BinaryCounts],
) -> list[Batch]:
    """Return batches with another one at the end.

    Args:
        batches: those before, in order.
        batch: to be appended.
        folder: for files, or None to keep everything in memory.
        validate: returns the counts or outcomes that are kept.
    """
    found = [*batches, batch]
    first = next(place for place, each in enumerate(found) if not each.is_closed)
    size = sum(each.nbytes for each in found[first:])
    if folder is not None and size >= SPILLED_BYTES:
        found[first:] = [_closed(_merged(found[first:]), folder, validate)]
    elif len(found) - first > _SMALL_BATCHES:
        start, size = len(found) - 1, batch.nbytes
        while start > first and found[start - 1].nbytes <= 2 * size:
            start -= 1
            size += found[start].nbytes
        found[start:] = [_merged(found[start:])]
    return found


def _merged(batches: Sequence[Batch]) -> Batch:
    united = unite(batches)
    return united if united.is_graded() else Batch(united.data.combine_chunks())


def _closed(
    batch: Batch, folder: Path, validate: Callable[[Outcomes], Outcomes | BinaryCounts]
) -> Batch:
    """Return a batch that nothing is merged with, if possible in a file."""
    if isinstance(batch.data, BinaryCounts):
        return Batch(batch.data, is_closed=True)  # the file would be longer
    try:
        rows = _written(batch.table(), folder)
    except OSError as error:
        warnings.warn(
            f"What was added cannot be written to {folder}, and stays in memory: {error}.",
            stacklevel=5,
        )
        return Batch(batch.data, is_closed=True)
    if batch.is_graded():
        return Batch(validate(graded_outcomes(rows["predictions"])), is_closed=True)
    return Batch(rows, is_closed=True)


def _written(rows: pa.Table, folder: Path) -> pa.Table:
    """Return rows in a file without a name, which ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        with pa.ipc.new_stream(file, rows.schema) as stream:
            stream.write_table(rows)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()


def _copied(rows: pa.Table) -> pa.Table:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return pa.ipc.open_stream(sink.getvalue()).read_all()
