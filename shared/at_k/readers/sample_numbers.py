"""Whether no question has a sample twice, of files that are read in parts."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.checks import Index, short
from .columns import SelectionError, as_whole_number, in_row

_MOST_NUMBERS = 1 << 28


class Places:
    """The file and the row of each number in the column `_FIRST`, as parts of messages.

    Args:
        names: of the files.
    """

    def __init__(self, names: Sequence[str]):
        self._names = names

    def __getitem__(self, first: int) -> tuple[str | Index, ...]:
        return in_row(self._names[first >> 40], first & ((1 << 40) - 1))


class SampleNumbers:
    """The number of each sample of each question that has been read, and in which row.

    Attributes:
        too_many: whether there are too many questions or too large numbers to keep.
    """

    def __init__(self) -> None:
        self.too_many = False
        self._lock = threading.Lock()
        self._questions: dict[Any, int] = {}
        self._order = np.zeros((1, 1), dtype=np.uint32)  # of reading, from 1, or 0
        self._starts, self._firsts = [1], [0]  # of parts: in this order, and in `_FIRST`
        self._repeated: tuple[int, int, int, int] | None = None
        self._are_numbers = True

    def add(self, questions: Sequence[Any], index: Any, numbers: Any, first: int) -> None:
        """Add a part.

        Args:
            questions: what identifies each question of the part.
            index: (rows,) the question of each row, in `questions`.
            numbers: the column of Arrow with the number of the sample.
            first: of the first row, in `_FIRST`.
        """
        with self._lock:
            if self.too_many or not self._are_numbers:
                return
            values = _numbers_in(numbers)
            if values is None:
                self._are_numbers = False
                return
            known = [self._questions.setdefault(x, len(self._questions)) for x in questions]
            rows, width = self._order.shape
            rows = max(rows, 1 << (len(self._questions) - 1).bit_length())
            width = max(width, 1 << int(values.max(initial=0)).bit_length())
            if values.min(initial=0) < 0 or rows * width > _MOST_NUMBERS:
                self.too_many = True
                return
            if (rows, width) != self._order.shape:
                order = np.zeros((rows, width), dtype=np.uint32)
                order[: self._order.shape[0], : self._order.shape[1]] = self._order
                self._order = order
            cells = np.array(known, dtype=np.int64)[index] * width + values
            flat = self._order.reshape(-1)
            now = np.arange(len(values), dtype=np.uint32) + np.uint32(self._starts[-1])
            self._firsts[-1] = first
            before = flat[cells]
            flat[cells] = now
            after = flat[cells]
            if self._repeated is None and (before.any() or (after != now).any()):
                row = int(np.flatnonzero((before != 0) | (after != now))[0])
                other = before[row] or after[row]
                question = known[index[row]]
                self._repeated = (int(other), int(now[row]), int(values[row]), question)
            self._starts.append(self._starts[-1] + len(values))
            self._firsts.append(0)

    def check(self, name: str, key: Sequence[str], places: Places) -> None:
        """Raise a SelectionError if a question has two samples of a number.

        A column with the same number in all rows of each question numbers no samples.

        Args:
            name: of the column.
            key: the columns that identify a question.
            places: of the rows.
        """
        if self._repeated is None or not self._are_numbers:
            return
        if np.count_nonzero(self._order, axis=1).max() < 2:
            return
        *orders, number, index = self._repeated
        ids = zip(key, list(self._questions)[index], strict=True)
        question = ", ".join(f"{column} {short(entry)}" for column, entry in ids)
        rows = sorted(self._place(order) for order in orders)
        problem = (
            f", have the same sample: {name} {number} of {question}. Leave out one of them, unless "
            f"{name} does not number samples."
        )
        raise SelectionError(
            [*places[rows[0]], ", and ", *places[rows[1]], problem],
            ["pool"],
            examples=[name],
        )

    def _place(self, order: int) -> int:
        part = bisect.bisect_right(self._starts, order) - 1
        return self._firsts[part] + order - self._starts[part]


def _numbers_in(column: Any) -> Any:
    """Return the whole numbers of a column, -1 for a very large one; None if an entry is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        return None
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    numbers = []
    for entry in column.dictionary.to_pylist():
        number = as_whole_number(entry)
        if number is None:
            return None
        numbers.append(-1 if number >= _MOST_NUMBERS else number)
    index = column.indices.to_numpy(zero_copy_only=False)
    return np.array(numbers, dtype=np.int64)[index]
