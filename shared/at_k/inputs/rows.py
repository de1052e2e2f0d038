"""Rows: the samples of M questions, and the references to check them against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class Rows:
    """The samples of M questions that are to be checked, question after question.

    Attributes:
        values: (S,) samples.
        sizes: (M,) number of values of each question, at least one.
        references: (M,) references.
        multiplicity: (S,) how often each value occurs, or None if once each.
    """

    values: pa.ChunkedArray
    sizes: np.ndarray
    references: pa.ChunkedArray
    multiplicity: np.ndarray | None = None
