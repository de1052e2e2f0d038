"""Batches of questions, and all of them as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from .columns import (
    JSON,
    counted_samples,
    flat_samples,
    from_numpy,
    given_per_question,
    is_counted,
    is_list,
    is_number,
    is_text,
    lists_of_samples,
    one_chunk,
    sample_type_of,
    samples_per_question,
    to_python,
)
from .counts import BinaryCounts
from .outcomes import Outcomes
from .parsing import has_references, prediction_column, reference_column, to_json


@dataclass(frozen=True)
class Batch:
    """M questions.

    Attributes:
        data: a table of the columns `predictions` and `references`, if predictions are to be
            checked or are labels; or the outcomes, or their counts, if they are already graded.
        is_closed: whether other batches are not merged with it.
    """

    data: Any
    is_closed: bool = False

    def __len__(self) -> int:
        """M."""
        if isinstance(self.data, Outcomes):
            return len(self.data.sizes)
        return len(self.data.n if self.is_graded() else self.data)

    def is_graded(self) -> bool:
        """Whether the data are outcomes or their counts."""
        return isinstance(self.data, (Outcomes, BinaryCounts))

    @property
    def given(self) -> np.ndarray:
        """(M,) number of samples of each question that are not None; a ValueError if it is 0."""
        if self.is_graded():
            return self.data.n
        n = given_per_question(self.data["predictions"])
        if not n.all():
            raise ValueError(f"predictions[{n.argmin()}] holds nothing but None: leave it out.")
        return n

    @cached_property
    def nbytes(self) -> int:
        """The memory that the data take."""
        if not self.is_graded():
            return self.data.nbytes
        return sum(each.nbytes for each in vars(self.data).values() if hasattr(each, "nbytes"))

    def table(self) -> pa.Table:
        """Return the rows. Outcomes are their predictions, and have no references."""
        data = self.data
        if not self.is_graded():
            return data
        if isinstance(data, BinaryCounts):
            table = np.stack([data.n - data.c, data.c], axis=1)
            question, category = np.nonzero(table)
            data = Outcomes(category, np.bincount(question), times=table[question, category])
        samples = from_numpy(data.values, None if data.scored is None else ~data.scored)
        if data.times is not None:
            samples = counted_samples(samples, data.times)
        predictions = lists_of_samples(samples, data.sizes)
        return pa.table({"predictions": predictions, "references": pa.nulls(len(predictions))})

    def has_references(self) -> bool:
        """Whether there are references to check the predictions against."""
        return not self.is_graded() and has_references(self.data["references"])

    def sample_kind(self) -> str | None:
        """Return "texts", "numbers" or "other values" for the samples; None if all are None."""
        if self.is_graded():
            return "numbers"
        sample_type = sample_type_of(self.data.schema.field("predictions").type)
        if pa.types.is_null(sample_type):
            return None
        return (
            "texts"
            if is_text(sample_type)
            else "numbers"
            if is_number(sample_type)
            else "other values"
        )


def parse_rows(predictions, references) -> pa.Table:
    """Return a table of the columns `predictions` and `references`.

    Raises:
        ValueError: if an input is invalid, with its place.
    """
    column = prediction_column(predictions)
    sample_type = column.type.value_type
    if (
        is_counted(sample_type)
        and references is not None
        and is_number(sample_type_of(column.type))
    ):
        raise ValueError(
            "predictions are counts, which are already graded: leave out references, or give "
            "counts of answers, such as {'answers': [['12', '13']], 'counts': [[5, 3]]}."
        )
    return pa.table(
        {"predictions": column, "references": reference_column(references, len(column))}
    )


def check_alike(batch: Batch, earlier: Sequence[Batch]) -> None:
    """Raise a ValueError unless a batch can be scored together with earlier ones."""
    if not earlier:
        return
    if batch.has_references() != earlier[-1].has_references():
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = batch.sample_kind()
    kinds_before = (each.sample_kind() for each in reversed(earlier))
    kind_before = next((each for each in kinds_before if each), None)
    if kind and kind_before and kind != kind_before:
        raise ValueError(
            f"Some questions have {kind_before} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def unite(batches: Sequence[Batch]) -> Batch:
    """Return all questions as one batch. The batches have to be alike, see `check_alike`."""
    graded = [batch.data for batch in batches if batch.is_graded()]
    if graded:
        return Batch(type(graded[0]).concatenate(graded))
    tables = [batch.data for batch in batches]
    counted = any(is_counted(table.schema.field("predictions").type.value_type) for table in tables)
    tables = _convert_if_mixed(tables, "predictions", partial(_general_samples, counted=counted))
    tables = _convert_if_mixed(tables, "references", _general_references)
    return Batch(pa.concat_tables(tables, promote_options="permissive"))


def _convert_if_mixed(
    tables: list[pa.Table], name: str, convert: Callable[[pa.ChunkedArray], pa.ChunkedArray]
) -> list[pa.Table]:
    """Convert a column in all tables, if Arrow has no common type for it."""
    if len({_type_family(table.schema.field(name).type) for table in tables}) == 1:
        return tables
    index = tables[0].schema.get_field_index(name)
    return [table.set_column(index, name, convert(table[name])) for table in tables]


def _type_family(arrow_type: pa.DataType) -> str:
    """Types of one family can be concatenated without a conversion."""
    if is_list(arrow_type):
        return f"lists of {_type_family(arrow_type.value_type)}"
    return "text" if is_text(arrow_type) else str(arrow_type)


def _general_samples(predictions: pa.ChunkedArray, counted: bool) -> pa.ChunkedArray:
    """Return numbers as doubles, and samples that are not texts as JSON.

    Args:
        counted: whether to store with each sample how often it occurs.
    """
    sizes, (samples, times) = samples_per_question(predictions), flat_samples(predictions)
    if is_number(samples.type):
        samples = samples.cast(pa.float64(), safe=False)
    elif not (is_text(samples.type) or pa.types.is_null(samples.type) or samples.type == JSON):
        samples = pa.chunked_array([to_json(to_python(samples), "predictions", sizes)])
    entries = one_chunk(samples)
    if counted:
        entries = counted_samples(entries, np.ones(len(entries), int) if times is None else times)
    return lists_of_samples(entries, sizes)


def _general_references(references: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return references as JSON."""
    if references.type == JSON or pa.types.is_null(references.type):
        return references
    return pa.chunked_array([to_json(to_python(references), "references")])
