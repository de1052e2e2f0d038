"""The one door: whatever users hand in as outcomes, answers or counts becomes `Samples`.

A function takes outcomes, and a metric takes predictions, as

    nested lists, also of arrays, and of different lengths
    an array or tensor (M, N) of any library on the CPU
    a column of Arrow, of `datasets` or of pandas
    a data frame of pandas, polars, Arrow or DuckDB with a question in each row
    counts in place of samples, see `count_tables`

`read_samples` finds the values of all samples and the number of samples of each question. Numbers
become an array of NumPy, and are outcomes. Other values stay as they are, a list of Python objects
or an Arrow column: `columns` stores those that are to be checked, and `as_outcomes` reads labels.

Samples of one question are exchangeable, so the counts of its outcomes are sufficient: ragged
inputs, unscored samples and shards of a run are all counts.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Mapping
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
    chunked,
    is_numeric,
    numbers_and_scored,
    plain_container,
    plain_entry,
    plain_list,
    plain_types,
    sample_rows,
    to_numpy,
)
from .count_tables import is_counts, read_counts
from .counts import BinaryCounts, one_size, sums_per_question

_PLAIN_TYPES = {bool, int, float, str, type(None)}

Labels = Mapping[str, float]
"""Labels that stand for outcomes, and the number of each."""


def sample_place(name: str, sizes: np.ndarray, sample: int) -> Place:
    """Return the place of a sample, such as `R[3][7]`, from its index among all samples."""
    ends = np.cumsum(sizes)
    question = int(np.searchsorted(ends, sample, side="right"))
    return Place(name, question, int(sample - (ends[question] - sizes[question])))


@dataclass(frozen=True)
class Samples:
    """The samples of M questions, question after question.

    Samples whose values are numbers are outcomes.

    Attributes:
        values: (S,) an array of numbers, an Arrow column of other values, or a list of them.
        sizes: (M,) number of values of each question, at least one.
        name: what the caller calls the samples, for messages.
        scored: (S,) False for numbers that stand for None, or None if all are scored.
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
        """M, the number of questions."""
        return len(self.sizes)

    @property
    def are_numbers(self) -> bool:
        """Whether the values are an array of numbers."""
        return isinstance(self.values, np.ndarray)

    @cached_property
    def n(self) -> np.ndarray:
        """(M,) number of samples of each question that are scored; a ValueError if it is 0."""
        n = self.scored_sizes
        if not n.all():
            raise InputError(
                Place(self.name, int(n.argmin())),
                " has no scored ",
                SAMPLE,
                InPython(": all are None, or counts of 0"),
                ". Give 0 for each that counts as incorrect, or leave the ",
                QUESTION,
                " out.",
            )
        return n

    @cached_property
    def scored_or_none(self) -> np.ndarray | None:
        """(S,) whether each sample is scored, or None if all are."""
        if self.are_numbers:
            return self.scored
        if isinstance(self.values, list):
            return np.array([value is not None for value in self.values], dtype=bool)
        return to_numpy(self.values.is_valid()) if self.values.null_count else None

    @property
    def is_scored(self) -> np.ndarray:
        """(S,) whether each sample is scored."""
        scored = self.scored_or_none
        return np.ones(len(self.values), dtype=bool) if scored is None else scored

    @property
    def scored_sizes(self) -> np.ndarray:
        """(M,) number of samples of each question that are scored, which may be 0."""
        if self.multiplicity is None and self.scored_or_none is None:
            return self.sizes
        return sums_per_question(self.weights, self.sizes)

    # --- Outcomes ---------------------------------------------------------------------------

    @property
    def occurrences(self) -> np.ndarray:
        """(S,) how often each value occurs, also if it is not scored."""
        return np.ones(len(self.values), int) if self.multiplicity is None else self.multiplicity

    @property
    def weights(self) -> np.ndarray:
        """(S,) how often each outcome occurs, and 0 if it is not scored."""
        return self.is_scored if self.multiplicity is None else self.multiplicity * self.is_scored

    @property
    def scored_values(self) -> np.ndarray:
        """(sum of n,) the outcomes of the scored samples, each as often as it occurs."""
        if self.multiplicity is not None:
            return np.repeat(self.values, self.weights)
        return self.values if self.scored is None else self.values[self.scored]

    def require(self, valid: np.ndarray, *wanted: str) -> None:
        """Raise a ValueError that names the first scored sample that is not valid.

        Args:
            valid: (S,) bool.
            wanted: what a valid outcome is, as one or more pieces of the message.
        """
        invalid = ~valid if self.scored is None else ~valid & self.scored
        if invalid.any():
            first = int(np.argmax(invalid))
            value, location = self.values[first], sample_place(self.name, self.sizes, first)
            if self.multiplicity is None:
                raise InputError(location, f" is {value}: ", *wanted, ".")
            # Counts have no index of a sample.
            location = location._replace(sample=None, value=value.item())
            raise InputError(location, f" has an outcome {value}: ", *wanted, ".")

    def counts(self) -> BinaryCounts:
        """Return the number of scored and of correct samples of each question.

        Raises:
            ValueError: if a scored outcome is not 0 or 1, or if a question has no scored sample.
        """
        correct = require_binary(self).values
        if self.scored is not None:
            correct = (correct == 1) & self.scored
        if self.multiplicity is not None:
            correct = correct * self.multiplicity
        return BinaryCounts(self.n, sums_per_question(correct, self.sizes))

    def category_counts(self, categories: int) -> np.ndarray:
        """Return (M, C + 1) the number of samples of each question in each category 0, .., C.

        Raises:
            ValueError: if a scored outcome is not one of the categories.
        """
        if categories == 2:
            counts = self.counts()
            return np.array([counts.n - counts.c, counts.c]).T
        values = require_categories(self).values
        if values.max() >= categories:
            self.require(values < categories, f"the categories are 0 to {categories - 1}")
        cell = np.repeat(np.arange(len(self.n)) * categories, self.sizes)
        np.add(cell, values, out=cell, casting="unsafe")
        is_counted = self.scored is not None or self.multiplicity is not None
        weights = self.weights if is_counted else None
        table = np.bincount(cell, weights, minlength=len(self.n) * categories)
        return table.astype(np.int64, copy=False).reshape(-1, categories)


# --- Validation ---------------------------------------------------------------------------


GRADED_SCORES = (
    " (max_at_k and bayes_at_n take graded scores and rewards, as floats such as -1.0; "
    "correct_at_least, of at_k.read in Python, is the least score that is correct)"
)
"""What an error about outcomes other than 0 and 1 ends with."""


def require_binary(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if not _is_binary(values):
        wanted = ["an outcome is 0", InPython(" or False"), " if incorrect, 1"]
        wanted += [InPython(" or True"), " if correct", GRADED_SCORES]
        outcomes.require((values == 0) | (values == 1), *wanted)
    return outcomes


def _is_binary(values: np.ndarray) -> bool:
    """Whether all values are 0 or 1, also those that are not scored."""
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        # OR-ing all values costs half as much as comparing them.
        return np.bitwise_or.reduce(values.reshape(-1)) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


_FEWEST_SHORT = 3  # questions with fewer samples than others, for a warning


def warn_of_stopping(outcomes: Samples, run: str = "") -> None:
    """Warn if samples seem to stop at the first correct one.

    No question has two correct samples then, and each that has fewer samples than others has one.
    `run` is the start of the message: which run it is.
    """
    n = outcomes.n
    is_short = n < n.max()
    if is_short.sum() < _FEWEST_SHORT or not _is_binary(outcomes.values):
        return
    c = outcomes.counts().c
    if (c > 1).any() or (c[is_short] == 0).any():
        return
    warnings.warn(
        f"{run}No question has two correct samples, and each of the {is_short.sum()} questions "
        f"with fewer samples than others has one: the samples seem to stop at the first correct "
        f"one, which biases all scores. The metric gpassk takes their largest possible number, "
        f"such as budget={n.max()}, and gives pass@k without bias.",
        stacklevel=3,
    )


def require_categories(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is a category."""
    values = outcomes.values
    if values.dtype.kind == "f" or values.min() < 0:
        outcomes.require(
            (values >= 0) & (values == np.floor(values)),
            "an outcome is a category 0, 1, 2, .. (a real reward is a float, such as -1.0)",
        )
    return outcomes


def require_shares(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is from 0 to 1."""
    values = outcomes.values
    wanted = "an outcome is 0 or 1, or a share of correctness from 0.0 to 1.0"
    outcomes.require((values >= 0) & (values <= 1), wanted)
    return outcomes


def require_finite(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is a finite number."""
    outcomes.require(
        np.isfinite(outcomes.values),
        "an outcome is a finite number, or None if the sample is not scored",
        InPython(" (np.ma.masked_invalid leaves out every NaN of an array)"),
    )
    return outcomes


# --- Reading ------------------------------------------------------------------------------


def read_samples(values, name: str = "predictions") -> Samples:
    """Read the samples of M questions from any container, see the head of this module.

    Raises:
        ValueError: if there is no question, or if a question has no list of samples or an empty
            one, with the question.
        TypeError: if a library cannot convert its array.
    """
    return _read_plain(plain_container(values), name)


def _read_plain(values: Any, name: str) -> Samples:
    """Read samples from one of the forms that `plain_container` returns."""
    if is_counts(values):
        rows = _samples_of_counts(values, name)
    elif isinstance(values, np.ndarray):
        rows = _samples_of_array(values, name)
    elif isinstance(values, list):
        rows = _samples_of_lists(values, name)
    elif is_frame(values):
        return _read_plain(sample_rows(values, name), name)
    elif is_list_like(values):
        rows = _samples_of_column(values, name)
    else:
        wanted = "give a list with the samples of each question"
        if isinstance(values, str):
            wanted += f", or, if it is the name of a file, at_k.read({short(values)})"
        raise ValueError(f"{name} is {short(values)}: {wanted}.")
    if not len(rows):
        raise ValueError(f"{name} holds no question.")
    if not rows.sizes.all():
        location = Place(name, int(rows.sizes.argmin()))
        raise InputError(location, " is empty: each ", QUESTION, " needs a ", SAMPLE, ".")
    return rows


def _no_list(name: str, question: int, row: Any) -> ValueError:
    """Return the error for a question that is no list of samples, but a `row`."""
    return InputError(
        *(Place(name, question), f" is {short(row)}: each ", QUESTION, " has a list of ", SAMPLE),
        "s.",
    )


# --- Counts -------------------------------------------------------------------------------


def _samples_of_counts(counts, name: str) -> Samples:
    """Read counts: each category or answer once, with how often it occurs."""
    samples, multiplicity, sizes = read_counts(counts, name)
    if isinstance(samples, list):  # answers
        rows = read_samples(samples, name) if len(samples) else Samples([], sizes, name)
        return replace(rows, multiplicity=multiplicity)
    return Samples(samples, sizes, name, multiplicity=multiplicity)


# --- Arrays -------------------------------------------------------------------------------


def _samples_of_array(array: np.ndarray, name: str) -> Samples:
    """Read an (M, N) array of numbers."""
    if array.ndim == 0:
        raise ValueError(f"{name} is {array}: give a list with the samples of each question.")
    if array.ndim == 1 and len(array):
        raise _no_list(name, 0, array[0].item())
    if array.ndim > 2:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).ravel()
    return Samples(values, np.full(len(array), array.shape[-1]), name)


# --- Arrow columns ------------------------------------------------------------------------


def _samples_of_column(column, name: str) -> Samples:
    """Read an Arrow column of lists without Python objects, and another column by its entries."""
    if not _has_lists(column):
        return _read_plain(column.to_pylist(), name)
    if column.null_count:
        question = next(i for i, row in enumerate(column) if not row.is_valid)
        raise _no_list(name, question, None)
    chunks = column.chunks
    lengths = [to_numpy(chunk.value_lengths()).astype(np.int64) for chunk in chunks]
    sizes = np.concatenate([np.empty(0, np.int64), *lengths])
    values = plain_types(chunked(chunk.flatten() for chunk in chunks))
    if not is_numeric(values.type):
        return Samples(values, sizes, name)
    numbers, scored = numbers_and_scored(values)
    return Samples(numbers, sizes, name, scored)


def _has_lists(column) -> bool:
    """Whether an Arrow column has lists as entries."""
    return "list" in str(column.type).partition("<")[0]


# --- Lists --------------------------------------------------------------------------------


def _samples_of_lists(lists: list[Any], name: str) -> Samples:
    """Return the samples of a list for each question, of texts, numbers or other values."""
    if (texts := _column_of_texts(lists)) is not None:
        return Samples(texts, _lengths(lists), name)
    for question, row in enumerate(lists):
        if not is_list_like(row):
            raise _no_list(name, question, row)
    if lists and all(map(_is_numeric_array, lists)) and len({x.dtype.kind for x in lists}) == 1:
        return Samples(np.concatenate(lists), _lengths(lists), name)
    lists = [row if isinstance(row, (list, tuple)) else plain_list(row) for row in lists]
    entries = _plain_entries(lists, name)
    values, scored = _numbers(entries) or (entries, None)
    return Samples(values, _lengths(lists), name, scored)


def _plain_entries(lists: list[Any], name: str) -> list[Any]:
    """Return the entries of all lists as values of Python."""
    entries = list(itertools.chain.from_iterable(lists))
    if {*map(type, entries)} <= _PLAIN_TYPES:
        return entries
    check_depth(name, lists)
    entries = [plain_entry(entry) for entry in entries]
    if {*map(type, entries)} >= {bytes, str}:  # as in `_column_of_texts`
        with contextlib.suppress(UnicodeDecodeError):
            return [x.decode() if type(x) is bytes else x for x in entries]
    return entries


def _lengths(lists: list[Any]) -> np.ndarray:
    """(M,) the length of each list."""
    return np.fromiter(map(len, lists), np.int64, len(lists))


def _numbers(entries: list[Any]) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return an array of entries, and where they are not None; None if it would change one."""
    types, scored = {*map(type, entries)}, None
    if not types <= _PLAIN_TYPES - {str}:
        return None
    if type(None) in types:
        scored = np.array([entry is not None for entry in entries], dtype=bool)
        entries = [0 if entry is None else entry for entry in entries]
    numbers = np.asarray(entries)
    if numbers.dtype.kind == "O" or not _keeps_values(numbers, types, entries):
        return None
    return numbers, scored


def _keeps_values(numbers: np.ndarray, types: set[type], entries: list[Any]) -> bool:
    """Whether an array of entries of these types has their values.

    It has not if True would become 1, or an integer above 2^53 a float.
    """
    if bool in types:
        return not types & {int, float}
    if int not in types or numbers.dtype.kind != "f" or np.nanmax(np.abs(numbers)) < 2**53:
        return True
    return all(type(entry) is float or abs(entry) <= 2**53 for entry in entries)


def _column_of_texts(lists: list[Any]) -> Any:
    """Return the texts of lists as an Arrow column; None if there are other values.

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
    return pa.chunked_array([array.values])


def _is_numeric_array(row: Any) -> bool:
    """Whether a row is an array of numbers, of up to 8 bytes each, that is not masked."""
    is_array = isinstance(row, np.ndarray) and row.ndim == 1 and not is_masked(row)
    return is_array and row.dtype.kind in "biuf" and row.itemsize <= 8


# --- Outcomes -----------------------------------------------------------------------------


def number_of_samples(n: np.ndarray) -> int | str:
    """Return the number of samples per question as keys show it, or "n" if it differs.

    Args:
        n: (M,) number of samples of each question.
    """
    return one_size(n) or "n"


def read_outcomes(R, name: str = "R", labels: Labels | None = None) -> Samples:
    """Read already-graded outcomes, see `read_samples` and `as_outcomes`, or counts of them.

    A flat list or array is one question. Missing entries (None, masked, or NA of pandas) are not
    scored. A run is read by its predictions, see `outcomes_in_run`.
    """
    values = plain_container(outcomes_in_run(R, name))
    if is_list_like(values) and hasattr(values, "chunks") and not _has_lists(values):
        values = values.to_pylist()
    is_flat = isinstance(values, np.ndarray) and values.ndim == 1
    if isinstance(values, list) and not is_counts(values):
        is_flat = bool(values) and not any(map(is_list_like, values))
    if is_flat:
        values = [values]
    return as_outcomes(_read_plain(values, name), labels)


def outcomes_in_run(R: Any, name: str) -> Any:
    """Return the outcomes in a run, which is a dict as `at_k.read` returns it, or R itself.

    Raises:
        ValueError: if the run has more than outcomes and groups, such as references, clusters or
            weights: a function would ignore it.
    """
    if not isinstance(R, Mapping) or "predictions" not in R:
        return R
    for argument in R:
        if argument not in ("predictions", "groups"):
            raise ValueError(
                f"{name} is a run with {argument}, which a function does not use: give the run to "
                f"a metric, as in at_k.load('gpassk').compute(**run)."
            )
    return R["predictions"]


def as_outcomes(rows: Samples, labels: Labels | None = None) -> Samples:
    """Return the outcomes that rows without references are, with the numbers of labels.

    Raises:
        ValueError: if a sample is neither a finite number nor one of the labels, or if a question
            has nothing but None, with its index.
    """
    outcomes = rows
    if not rows.are_numbers:
        values, scored = _numbers_of_labels(rows, labels or {})
        outcomes = replace(rows, values=values, scored=scored)
    outcomes.n  # noqa: B018, a ValueError if a question has none
    return require_finite(outcomes) if outcomes.values.dtype.kind == "f" else outcomes


def _numbers_of_labels(rows: Samples, labels: Labels) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (S,) numbers, and (S,) whether each sample is scored, or None if all are.

    A label in small letters may also be written with capitals, such as "Fully" for "fully".
    """
    entries, index = _distinct_samples(rows.values)
    numbers = [
        labels.get(entry, labels.get(entry.lower(), entry)) if isinstance(entry, str) else entry
        for entry in entries
    ]
    for entry, number in enumerate(numbers):
        is_integer = isinstance(number, int) and -(2**63) <= number < 2**63
        if not (number is None or isinstance(number, float) or is_integer):
            raise _no_outcome(rows, int(np.argmax(index == entry)), number, labels)
    scored = np.array([number is not None for number in numbers], dtype=bool)[index]
    values = np.asarray([0 if number is None else number for number in numbers])[index]
    return values, None if scored.all() else scored


def _distinct_samples(values: Any) -> tuple[list[Any], np.ndarray]:
    """Return the distinct texts of Arrow, or other samples as they are; and (S,) their indices."""
    if isinstance(values, list) or str(values.type) != "large_string":
        entries = values if isinstance(values, list) else values.to_pylist()
        return entries, np.arange(len(entries))
    encoded = values.combine_chunks().dictionary_encode()
    return [*encoded.dictionary.to_pylist(), None], to_numpy(encoded.indices.fill_null(-1))


def _no_outcome(rows: Samples, sample: int, entry: Any, labels: Labels) -> ValueError:
    """Return the error for a sample, by its index, that is neither a number nor a label."""
    problem = ": an outcome is a number or a bool."
    if labels:
        problem = f", which is none of {', '.join(labels)}, and no number."
    elif isinstance(entry, str) and rows.name == "predictions":
        problem = (
            ", but there are no references to check the predictions against: give references, or "
            "bools or numbers as predictions."
        )
    location = sample_place(rows.name, rows.sizes, sample)
    return InputError(location, f" is {short(entry)}{problem}")
