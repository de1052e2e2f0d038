"""Read predictions that are already-graded outcomes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import short
from .columns import flat_samples, is_number, is_text, samples_per_question, to_arrow, to_numpy
from .outcomes import Outcomes, place, require_finite, sums_per_question

Labels = Mapping[str, float]
"""Labels that stand for outcomes, and the number of each."""


def graded_outcomes(predictions: pa.ChunkedArray, labels: Labels | None = None) -> Outcomes:
    """Return already-graded outcomes. Samples that are None are not scored.

    Args:
        predictions: M lists of numbers or labels.
        labels: labels that stand for outcomes, and the number of each.

    Raises:
        ValueError: if a sample is neither a finite number nor one of the labels, or if a question
            has no scored sample, with the place.
    """
    sizes, (values, times) = samples_per_question(predictions), flat_samples(predictions)
    if labels is not None and is_text(values.type):
        values = _numbers_of_labels(values, sizes, labels)
    if not (is_number(values.type) or pa.types.is_null(values.type)):
        raise ValueError(
            "There are no references to check the predictions against, and the predictions are "
            "not outcomes: give references, or bools or numbers as predictions."
        )
    if pa.types.is_boolean(values.type) or pa.types.is_null(values.type):
        values = values.cast(pa.int8())
    elif values.type == pa.float16():
        values = values.cast(pa.float32())
    scored = None
    if values.null_count:
        scored = to_numpy(values.is_valid())
        n = sums_per_question(scored, sizes)
        if not n.all():
            raise ValueError(f"predictions[{n.argmin()}] holds nothing but None: leave it out.")
        values = values.fill_null(0)
    numbers = to_numpy(values)
    outcomes = Outcomes(numbers, sizes, "predictions", scored, times=times)
    if numbers.dtype.kind == "f":
        require_finite(outcomes)
    return outcomes


def _numbers_of_labels(
    values: pa.ChunkedArray, sizes: np.ndarray, labels: Labels
) -> pa.ChunkedArray:
    index = pc.index_in(values, value_set=to_arrow(list(labels), values.type))
    unknown = pc.and_(pc.is_null(index), pc.is_valid(values))
    if pc.any(unknown).as_py():
        sample = pc.index(unknown, True).as_py()
        raise ValueError(
            f"{place('predictions', sizes, sample)} is {short(values[sample].as_py())}, which is "
            f"none of {', '.join(labels)}."
        )
    return pc.take(pa.chunked_array([to_arrow(list(labels.values()))]), index)
