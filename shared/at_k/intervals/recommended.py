"""The interval that is recommended: as far as the bank tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .interval import Interval, Spread


class Bounded(Protocol):
    """A spread that can also say what is known of scores where nothing is: how low and how high
    they can be."""

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]: ...

    def of_each(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[str, Interval]]: ...

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]: ...


@dataclass(frozen=True)
class Recommended(Spread):
    """For these questions, if a bank tells how samples vary; if not, for new ones like them.

    Args:
        n: (M,) how many samples each question has.
        near: of scores of at most n draws, for these questions.
        far: of scores of more.
        new: of scores of at most n draws, for new questions.
    """

    n: np.ndarray
    near: Bounded
    far: Bounded
    new: Bounded

    def of_each(self, parts: Sequence[np.ndarray], confidence: float) -> list[dict[str, Interval]]:
        """Of the scores over each part, each with the name of what was chosen."""
        told = [rows for rows in parts if self.n[rows].max() > 1]
        near = iter(self.near.of_each(told, confidence) if told else ())
        result = []
        for rows in parts:
            if self.n[rows].max() > 1:
                result.append(next(near) | self.far.intervals(rows, confidence))
            elif len(rows) > 1:
                result.append(self.new.intervals(rows, confidence) | self.far.unknown(rows))
            else:
                result.append(self.near.unknown(rows) | self.far.unknown(rows))
        return result
