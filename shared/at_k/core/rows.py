"""The one door: whatever users hand in as outcomes, answers or counts becomes `Rows`.

A function takes outcomes, and a metric takes predictions, as

    nested lists, also of arrays, and of different lengths
    an array or tensor (M, N) of any library on the CPU
    a column of Arrow, of `datasets` or of pandas
    a data frame of pandas, polars, Arrow or DuckDB with a question in each row
    counts in place of samples, see `count_tables`

`read_rows` finds the values of all samples and the number of samples of each question. Numbers
become an array of NumPy. Other values stay as they are: a list of Python objects, or an Arrow
column. `outcomes` reads numbers as outcomes, and `columns` stores values that are to be checked.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .checks import (
    QUESTION,
    SAMPLE,
    InputError,
    InPython,
    Place,
    check_depth,
    is_frame,
    is_list_like,
    is_masked,
    short,
)
from .containers import (
    arrow_column,
    as_arrow,
    chunked,
    is_numeric,
    numbers_and_scored,
    numeric_array,
    plain_entry,
    plain_types,
    sample_rows,
    to_array,
    to_numpy,
)
from .count_tables import is_counts, read_counts
from .counts import sums_per_question

PLAIN_TYPES = {bool, int, float, str, type(None)}


def sample_place(name: str, sizes: np.ndarray, sample: int) -> Place:
    """Return the place of a sample, such as `R[3][7]`.

    Args:
        name: what holds the samples.
        sizes: (M,) number of samples of each question.
        sample: index of the sample among all samples, question after question.
    """
    ends = np.cumsum(sizes)
    question = int(np.searchsorted(ends, sample, side="right"))
    return Place(name, question, int(sample - (ends[question] - sizes[question])))


def require_sample(name: str, n: np.ndarray) -> np.ndarray:
    """Return (M,) numbers of samples that are not None; a ValueError if one of them is 0."""
    if not n.all():
        only_none = InPython(" (nothing but None)")
        raise InputError(
            Place(name, int(n.argmin())), " has no scored ", SAMPLE, only_none, ": leave it out."
        )
    return n


@dataclass(frozen=True)
class Rows:
    """The samples of M questions, question after question.

    Attributes:
        values: (S,) an array of numbers, an Arrow column of other values, or a list of them.
        sizes: (M,) number of values of each question, at least one.
        name: what the caller calls the samples, for messages.
        scored: (S,) False for samples that are None, if the values are an array of numbers; None if
            all are scored.
        multiplicity: (S,) how often each value occurs, or None if once each.
        references: (M,) an Arrow column to check the samples against, or None if there is none. The
            values are an Arrow column then.
    """

    values: Any
    sizes: np.ndarray
    name: str = "predictions"
    scored: np.ndarray | None = None
    multiplicity: np.ndarray | None = None
    references: Any = None

    def __len__(self) -> int:
        """M."""
        return len(self.sizes)

    def are_numbers(self) -> bool:
        """Whether the values are an array of numbers."""
        return isinstance(self.values, np.ndarray)

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) number of samples of each question that are not None; a ValueError if it is 0."""
        return require_sample(self.name, self.sizes_where(self.is_present))

    @cached_property
    def is_present(self) -> np.ndarray | None:
        """(S,) whether each sample is not None, or None if all are."""
        if self.are_numbers():
            return self.scored
        if isinstance(self.values, list):
            return np.array([value is not None for value in self.values], dtype=bool)
        return to_numpy(self.values.is_valid()) if self.values.null_count else None

    def sizes_where(self, condition: np.ndarray | None = None) -> np.ndarray:
        """(M,) number of samples of each question, or of those where (S,) a condition holds."""
        if condition is None:
            if self.multiplicity is None:
                return self.sizes
            return sums_per_question(self.multiplicity, self.sizes)
        if self.multiplicity is not None:
            condition = condition * self.multiplicity
        return sums_per_question(condition, self.sizes)

    @property
    def nbytes(self) -> int:
        """The memory that the values and references take, which are Arrow columns."""
        references = 0 if self.references is None else self.references.nbytes
        return self.values.nbytes + references + self.sizes.nbytes


def read_rows(
    values,
    name: str = "predictions",
    flat_is_one_question: bool = False,
) -> Rows:
    """Read the samples of M questions from any container, see the head of this module.

    Args:
        values: the samples.
        name: what the caller calls them, for messages.
        flat_is_one_question: whether a flat list or array is one question, and not an error.

    Raises:
        ValueError: if there is no question, or if a question has no list of samples or an empty
            one, with the question.
        TypeError: if a library cannot convert its array.
    """
    values = as_arrow(values)
    if isinstance(values, (list, tuple)):
        rows = _rows_of_lists([*values], name, flat_is_one_question)
    elif is_counts(values):
        rows = _rows_of_counts(values, name)
    else:
        rows = _rows_of_container(values, name, flat_is_one_question)
    if not len(rows):
        raise ValueError(f"{name} holds no question.")
    if not rows.sizes.all():
        place = Place(name, int(rows.sizes.argmin()))
        raise InputError(place, " is empty: each ", QUESTION, " needs a ", SAMPLE, ".")
    return rows


def _rows_of_container(values, name: str, flat_is_one_question: bool) -> Rows:
    if is_frame(values):
        values = sample_rows(values, name)
    if not is_list_like(values):
        raise ValueError(
            f"{name} is {short(values)}: give a list with the samples of each question."
        )
    array = numeric_array(values)
    if array is not None:
        return _rows_of_array(array, name, flat_is_one_question)
    column = arrow_column(values)
    if column is not None:
        return _rows_of_column(column, name, flat_is_one_question)
    return _rows_of_lists(_entries(values), name, flat_is_one_question)


def _no_list(name: str, question: int, row: Any) -> ValueError:
    return InputError(
        *(Place(name, question), f" is {short(row)}: each ", QUESTION, " has a list of ", SAMPLE),
        "s.",
    )


# --- Counts -------------------------------------------------------------------------------


def _rows_of_counts(counts, name: str) -> Rows:
    samples, multiplicity, sizes = read_counts(counts, name)
    if isinstance(samples, list):  # answers
        rows = read_rows(samples, name) if len(samples) else Rows([], sizes, name)
        return replace(rows, multiplicity=multiplicity)
    return Rows(samples, sizes, name, multiplicity=multiplicity)


# --- Arrays -------------------------------------------------------------------------------


def _rows_of_array(array: np.ndarray, name: str, flat_is_one_question: bool) -> Rows:
    if array.ndim == 1 and flat_is_one_question:
        array = array[None]
    if array.ndim == 1 and len(array):
        raise _no_list(name, 0, array[0].item())
    if array.ndim > 2:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).ravel()
    return Rows(values, np.full(len(array), array.shape[-1]), name)


# --- Arrow columns ------------------------------------------------------------------------


def _rows_of_column(column, name: str, flat_is_one_question: bool) -> Rows:
    """Read an Arrow column, with a Python object for each sample only where Arrow has no type."""
    is_list = "list" in str(column.type).partition("<")[0]
    entry_type = column.type.value_type if is_list else column.type
    if getattr(entry_type, "extension_name", "") == "arrow.json":
        lists = [_from_json(row) for row in column.to_pylist()]
        return _rows_of_lists(lists, name, flat_is_one_question)
    if not is_list:
        return _rows_of_lists(column.to_pylist(), name, flat_is_one_question)
    if column.null_count:
        question = next(i for i, row in enumerate(column) if not row.is_valid)
        raise _no_list(name, question, None)
    chunks = column.chunks
    lengths = [to_numpy(chunk.value_lengths()).astype(np.int64) for chunk in chunks]
    sizes = np.concatenate([np.empty(0, np.int64), *lengths])
    values = plain_types(chunked(chunk.flatten() for chunk in chunks))
    if not is_numeric(values.type):
        return Rows(values, sizes, name)
    numbers, scored = numbers_and_scored(values)
    return Rows(numbers, sizes, name, scored)


def _from_json(row: Any) -> Any:
    return [_from_json(text) for text in row] if isinstance(row, list) else row and json.loads(row)


# --- Lists --------------------------------------------------------------------------------


def _rows_of_lists(lists: list[Any], name: str, flat_is_one_question: bool) -> Rows:
    if is_counts(lists):
        return _rows_of_counts(lists, name)
    if not flat_is_one_question and (rows := _rows_of_texts(lists, name)) is not None:
        return rows
    if flat_is_one_question and lists and not any(map(is_list_like, lists)):
        lists = [lists]
    for question, row in enumerate(lists):
        if not is_list_like(row):
            raise _no_list(name, question, row)
    if lists and all(map(_is_numeric_array, lists)) and len({x.dtype.kind for x in lists}) == 1:
        sizes = np.array([len(row) for row in lists], dtype=np.int64)
        return Rows(np.concatenate(lists), sizes, name)
    lists = [row if isinstance(row, (list, tuple)) else _entries(row) for row in lists]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    entries = list(itertools.chain.from_iterable(lists))
    types = {*map(type, entries)}
    if not types <= PLAIN_TYPES:
        check_depth(name, lists)
        entries = [plain_entry(entry) for entry in entries]
        types = {*map(type, entries)}
        if types >= {bytes, str}:  # as in `_column_of_texts`
            with contextlib.suppress(UnicodeDecodeError):
                entries = [x.decode() if type(x) is bytes else x for x in entries]
    if not types <= _NUMBERS:
        return Rows(entries, sizes, name)
    scored, filled = None, entries
    if type(None) in types:
        scored = np.array([entry is not None for entry in entries], dtype=bool)
        filled = [0 if entry is None else entry for entry in entries]
    numbers = np.asarray(filled)
    if numbers.dtype.kind == "O" or not _keeps_values(numbers, types, filled):
        return Rows(entries, sizes, name)
    return Rows(numbers, sizes, name, scored)


_NUMBERS = PLAIN_TYPES - {str}


def _keeps_values(numbers: np.ndarray, types: set[type], entries: list[Any]) -> bool:
    """Whether an array has the same values: True is not 1, and a float no integer above 2^53."""
    if bool in types:
        return not types & {int, float}
    if int not in types or numbers.dtype.kind != "f" or np.nanmax(np.abs(numbers)) < 2**53:
        return True
    return all(type(entry) is float or abs(entry) <= 2**53 for entry in entries)


def _rows_of_texts(lists: list[Any], name: str) -> Rows | None:
    """Read lists of texts into an Arrow column; None if there are other values.

    Arrow takes bytes among texts for UTF-8.
    """
    if not {*map(type, lists)} <= {list, tuple} or not (lists and lists[0]):
        return None
    if type(lists[0][0]) is not str:
        return None
    import pyarrow as pa  # imported here, because it takes half as long as all of at_k

    try:
        array = pa.array(lists, pa.large_list(pa.large_string()))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return Rows(pa.chunked_array([array.values]), sizes, name)


def _is_numeric_array(row: Any) -> bool:
    is_array = isinstance(row, np.ndarray) and row.ndim == 1 and not is_masked(row)
    return is_array and row.dtype.kind in "biuf" and row.itemsize <= 8


def _entries(row) -> list[Any]:
    for method in ("tolist", "to_pylist"):
        if hasattr(row, method):
            try:
                return getattr(row, method)()
            except RuntimeError:  # a tensor without data, or a sparse one: `to_array` says so
                return to_array(row).tolist()
    return list(row)
