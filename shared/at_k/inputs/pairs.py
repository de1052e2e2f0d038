"""The distinct pairs of a prediction and a reference, and results of checks that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..checks import short
from .columns import distinct_entries, to_python
from .outcomes import Labels, Outcomes
from .portable import PairResult, PairToCheck
from .rows import place

CHECKED = "the result for predictions"  # what messages call the outcomes of a checker


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    Attributes:
        pairs: (P,) a prediction and a reference each.
        first: (P,) index of the first sample of each pair.
        given: (G,) indices of the samples that are not None.
        inverse: (G,) index of the pair of each of these samples.
        sizes: (M,) number of samples of each question.
    """

    pairs: list[PairToCheck]
    first: np.ndarray
    given: np.ndarray
    inverse: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, values: pa.ChunkedArray, sizes: np.ndarray, answers: list[Any]) -> DistinctPairs:
        """Find the distinct pairs of (S,) samples and (M,) references."""
        distinct, code = distinct_entries(values)
        question = np.repeat(np.arange(len(sizes)), sizes)
        given = np.flatnonzero(code >= 0)
        keys = question[given] * len(distinct) + code[given]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first = given[first]
        entries = to_python(distinct)
        pairs = [(entries[code[sample]], answers[question[sample]]) for sample in first]
        return cls(pairs, first, given, inverse, sizes)

    def call(self, pair: int) -> str:
        """Return the call of the checker for a pair, for messages."""
        where = place("predictions", self.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on {where}"

    def outcomes(self, results: list[float | None]) -> Outcomes:
        """Return the outcomes of all samples, from the results of the pairs."""
        dtype = np.float64 if any(isinstance(each, float) for each in results) else np.int64
        of_pairs = np.array([result or 0 for result in results], dtype=dtype)
        values = np.zeros(self.sizes.sum(), dtype=dtype)
        values[self.given] = of_pairs[self.inverse]
        is_scored = np.array([result is not None for result in results], dtype=bool)
        scored = np.zeros(len(values), dtype=bool)
        scored[self.given] = is_scored[self.inverse]
        return Outcomes(values, self.sizes, CHECKED, None if scored.all() else scored)


class FinishedChecks:
    """The checks that finished in a run which failed or was interrupted.

    A retry with the same checker asks only for the others. The same checker is the same function,
    or the same method of the same object.
    """

    def __init__(self) -> None:
        self._checker: Any = None
        self._results: dict[str, PairResult] = {}

    def __reduce__(self):
        return FinishedChecks, ()  # not every checker can be pickled

    def of(self, checker: Any, labels: Labels, pairs: list[PairToCheck]) -> list[PairResult | None]:
        """Return the results of these pairs, None for a pair that is to be checked."""
        if self._checker != (checker, labels):
            self._checker, self._results = (checker, labels), {}
        if not self._results:
            return [None] * len(pairs)
        return [self._results.get(repr(pair)) for pair in pairs]

    def keep(self, pairs: list[PairToCheck], checked: list[PairResult | None]) -> int:
        """Keep the results of pairs, except problems, and return how many are kept in all."""
        for pair, result in zip(pairs, checked, strict=True):
            if result is not None and result[1] is None:
                self._results[repr(pair)] = result
        return len(self._results)
