"""Reading of input: outcomes and answers in any container become `Samples`.

`read_samples` turns numbers, which are outcomes, into a NumPy array, texts into an Arrow column,
and samples of other or mixed types into a list of Python objects. Then `columns.stored` prepares
them for a checker, or `as_outcomes` replaces labels by numbers. There are M questions and S values.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .checks import QUESTION, SAMPLE, InputError, InPython, Place, is_frame, is_list_like, short
from .containers import (
    has_lists,
    numbers_or_texts,
    plain_container,
    plain_entry,
    plain_list,
    to_array,
    to_numpy,
)
from .count_tables import is_counts, read_counts
from .counts import BinaryCounts, one_size, sums_per_question
from .package import PACKAGE

Labels = Mapping[str, float]
"""A dict from each label that an outcome may have to its number."""


def sample_place(name: str, sizes: np.ndarray, sample: int) -> Place:
    """Return the place of a sample, such as `R[3][7]`, from its index among the S samples."""
    ends = np.cumsum(sizes)
    question = int(np.searchsorted(ends, sample, side="right"))
    return Place(name, question, int(sample - (ends[question] - sizes[question])))


@dataclass(frozen=True)
class Samples:
    """The samples of M questions, question after question.

    A value stands for one sample, or for several equal samples of a question. Values that are
    numbers are outcomes. A sample is scored unless its value is None.

    Attributes:
        values: (S,) an array of numbers, with 0 for None; or an Arrow column or a list of other
            values.
        sizes: (M,) number of values of each question, at least one.
        name: what the caller calls the samples, for messages.
        multiplicity: (S,) how often each value counts: bools, False for a sample that is not
            scored; or integers, if counts were handed in. None if each counts once.
        references: (M,) an Arrow column of references, or None. With references, the values are an
            Arrow column too.
    """

    values: Any
    sizes: np.ndarray
    name: str = "predictions"
    multiplicity: np.ndarray | None = None
    references: Any = None

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.sizes)

    @property
    def are_numbers(self) -> bool:
        """Return whether the values are an array of numbers."""
        return isinstance(self.values, np.ndarray)

    @property
    def are_counts(self) -> bool:
        """Return whether counts were handed in, which say nothing about the order of samples."""
        return self.multiplicity is not None and self.multiplicity.dtype != bool

    @cached_property
    def n(self) -> np.ndarray:
        """Return the number of scored samples of each question, (M,); raise a ValueError for 0."""
        if self.multiplicity is None:
            return self.sizes
        n = sums_per_question(self.multiplicity, self.sizes)
        if not n.all():
            place, why = Place(self.name, int(n.argmin())), ": all are None, or counts of 0"
            remedy = ". Give 0 for each that counts as incorrect, or leave the ", QUESTION, " out."
            raise InputError(place, " has no scored ", SAMPLE, InPython(why), *remedy)
        return n

    @property
    def weights(self) -> np.ndarray:
        """Return how often each value counts, (S,) integers or bools, 0 if it is not scored."""
        return np.ones(len(self.values), bool) if self.multiplicity is None else self.multiplicity

    @property
    def is_scored(self) -> np.ndarray:
        """Return whether each value is scored, (S,). A value that occurs 0 times is not."""
        return self.weights > 0

    @property
    def scored_values(self) -> np.ndarray:
        """Return the outcome of each scored sample, (sum of n,), question after question."""
        if self.multiplicity is None:
            return self.values
        return np.repeat(self.values, self.multiplicity)

    # --- Outcomes ---------------------------------------------------------------------------

    def require(self, valid: np.ndarray, *wanted: str) -> None:
        """Raise a ValueError for the first scored outcome with a False in `valid`, (S,).

        `wanted` are the pieces of the message that say what a valid outcome is.
        """
        invalid = ~valid if self.multiplicity is None else ~valid & self.is_scored
        if invalid.any():
            first = int(np.argmax(invalid))
            place, problem = sample_place(self.name, self.sizes, first), "is"
            if self.are_counts:  # which have no index of a sample
                place, problem = place._replace(sample=None), "has an outcome"
            raise InputError(place, f" {problem} {self.values[first]}: ", *wanted, ".")

    @cached_property
    def counts(self) -> BinaryCounts:
        """Return the numbers of scored and of correct samples; raise a ValueError if not 0 or 1."""
        correct = require_binary(self).values
        if self.multiplicity is not None:
            correct = (correct == 1) * self.multiplicity
        return BinaryCounts(self.n, sums_per_question(correct, self.sizes))

    def category_counts(self, categories: int) -> np.ndarray:
        """Return the number of scored samples in each category, (M, categories)."""
        if categories == 2:
            counts = self.counts
            return np.array([counts.n - counts.c, counts.c]).T
        values = require_categories(self).values
        if values.max() >= categories:
            self.require(values < categories, f"the categories are 0 to {categories - 1}")
        # The cell of the flat table in which each sample is counted: a row is a question.
        cell = np.repeat(np.arange(len(self.n)) * categories, self.sizes)
        np.add(cell, values, out=cell, casting="unsafe")
        table = np.bincount(cell, self.multiplicity, minlength=len(self.n) * categories)
        return table.astype(np.int64, copy=False).reshape(-1, categories)


# --- Validation ---------------------------------------------------------------------------


GRADED_SCORES = (
    " (Max@k and Bayes@N score rewards",
    InPython(
        ": max_at_k and bayes_at_n take graded scores and rewards, as floats such as -1.0; "
        "correct_at_least, of at_k.read in Python, is the least score that is correct"
    ),
    ")",
)
"""The end of an error message about outcomes other than 0 and 1."""


def require_binary(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    # The bitwise OR is 0 or 1 if all values are, and takes half as long as comparing them.
    if values.dtype.kind == "b" or (
        values.dtype.kind in "iu" and np.bitwise_or.reduce(values.reshape(-1)) in (0, 1)
    ):
        return outcomes
    wanted = ["an outcome is 0", InPython(" or False"), " if incorrect, 1"]
    wanted += [InPython(" or True"), " if correct", *GRADED_SCORES]
    outcomes.require((values == 0) | (values == 1), *wanted)
    return outcomes


def warn_of_stopping(outcomes: Samples, run: str = "") -> None:
    """Warn, in a message that starts with `run`, if samples seem to stop at the first correct one.

    They seem to if no question has two correct samples, and at least three questions have fewer
    samples than others, each with one correct sample.
    """
    n = outcomes.n
    is_short = n < n.max()
    if is_short.sum() < 3 or not np.isin(outcomes.values, (0, 1)).all():
        return
    c = outcomes.counts.c
    if (c > 1).any() or (c[is_short] == 0).any():
        return
    warnings.warn(
        f"{run}No question has two correct samples, and each of the {is_short.sum()} questions "
        f"with fewer samples than others has one: the samples seem to stop at the first correct "
        f"one, which biases all scores. Give gpassk the largest possible number of samples, such "
        f"as budget={n.max()}: its estimate of pass@k is then unbiased.",
        stacklevel=3,
    )


def require_categories(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is 0, 1, 2, .."""
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


# --- Reading ------------------------------------------------------------------------------


def read_samples(values, name: str = "predictions") -> Samples:
    """Read the samples of M questions from a container of any library.

    It is a nested list, whose rows may be arrays and may differ in length; an array or tensor,
    (M, N), on the CPU; a column of Arrow, `datasets`, pandas or polars; or counts. The package also
    takes a data frame with a question in each row. `name` is what the caller calls the samples.
    A ValueError is raised if there is no question, or if one has no list of samples, or an empty
    list; a TypeError if an array cannot be converted.
    """
    values = plain_container(values)
    if is_frame(values) or (isinstance(values, Mapping) and "predictions" in values):
        values = PACKAGE.rooms.read_table(values, name)
    if is_counts(values):
        samples = _samples_from_counts(values, name)
    elif isinstance(values, list):
        samples = _samples_from_lists(values, name)
    elif isinstance(values, np.ndarray):
        samples = _samples_from_array(values, name)
    elif hasattr(values, "chunks"):
        samples = _samples_from_column(values, name)
    else:
        wanted = "give a list with the samples of each question"
        if isinstance(values, str):
            wanted += f", or, if it is the name of a file, at_k.read({short(values)})"
        raise ValueError(f"{name} is {short(values)}: {wanted}.")
    if not len(samples):
        raise ValueError(f"{name} holds no question.")
    if not samples.sizes.all():
        place = Place(name, int(samples.sizes.argmin()))
        raise InputError(place, " is empty: each ", QUESTION, " needs a ", SAMPLE, ".")
    return samples


def _samples_from_counts(counts: Any, name: str) -> Samples:
    """Return each category or answer of a question once, with its count as the multiplicity."""
    values, multiplicity, sizes = read_counts(counts, name)
    if not isinstance(values, list):  # an array of categories
        return Samples(values, sizes, name, multiplicity)
    answers = _samples_from_lists(values, name)  # The weight of None, not scored, is 0.
    return replace(answers, multiplicity=multiplicity * answers.weights)


def _samples_from_array(array: np.ndarray, name: str) -> Samples:
    """Return the samples in an (M, N) array of numbers; raise a ValueError for other shapes."""
    if array.ndim == 0:
        raise ValueError(f"{name} is {array}: give a list with the samples of each question.")
    if array.ndim == 1:
        return _samples_from_lists(array.tolist(), name)  # which raises an error for its first row
    if array.ndim > 2:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).ravel()
    return Samples(values, np.full(len(array), array.shape[-1]), name)


def _samples_from_column(column, name: str) -> Samples:
    """Return the samples in an Arrow column of lists, without Python objects."""
    if not has_lists(column) or column.null_count:
        return _samples_from_lists(column.to_pylist(), name)
    import pyarrow.compute as pc

    sizes = to_numpy(pc.list_value_length(column)).astype(np.int64)
    values, valid = numbers_or_texts(pc.list_flatten(column))
    return Samples(values, sizes, name, valid)


def _samples_from_lists(lists: list[Any], name: str) -> Samples:
    """Return the samples in a list with a list or array for each question."""
    if (numbers := _joined_arrays(lists)) is not None:
        return Samples(numbers, np.array([*map(len, lists)]), name)
    if not {*map(type, lists)} <= {list, tuple}:
        lists = [_plain_row(name, question, entry) for question, entry in enumerate(lists)]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    texts = column_of_texts(lists)
    if texts is None:
        entries = [*itertools.chain.from_iterable(lists)]
        types = {*map(type, entries)}
        if not types <= {bool, int, float, str, type(None)}:
            entries = [plain_entry(entry) for entry in entries]
            types, texts = {*map(type, entries)}, column_of_texts([entries])
    if texts is not None:
        return Samples(texts, sizes, name, to_numpy(texts.is_valid()) if texts.null_count else None)
    has_none = type(None) in types
    scored = np.array([entry is not None for entry in entries], dtype=bool) if has_none else None
    return Samples(_as_numbers(entries, types), sizes, name, scored)


def _plain_row(name: str, question: int, entry: Any) -> list[Any] | tuple[Any, ...]:
    """Return the samples of a question as a list or tuple; raise a ValueError if it has no list."""
    if not is_list_like(entry):
        wanted = " has a list of ", SAMPLE, "s."
        raise InputError(Place(name, question), f" is {short(entry)}: each ", QUESTION, *wanted)
    return entry if isinstance(entry, (list, tuple)) else plain_list(entry)


def _joined_arrays(lists: list[Any]) -> np.ndarray | None:
    """Return NumPy arrays with one axis, all of bools, integers or floats, as one; else None."""
    if {*map(type, lists)} != {np.ndarray}:
        return None
    kinds = {(array.ndim, array.dtype.kind) for array in lists}
    if len(kinds) > 1 or not kinds <= {(1, kind) for kind in "biuf"}:
        return None
    return to_array(np.concatenate(lists))


def column_of_texts(lists: list[Any]) -> Any:
    """Return the entries of lists as one Arrow column, or None if some are neither texts nor None.

    Bytes are decoded as UTF-8. To be fast, the first entry that is not None is looked at first.
    """
    entries = itertools.chain.from_iterable(lists)
    first = next((entry for entry in entries if entry is not None), None)
    if not isinstance(first, (str, bytes)):
        return None
    import pyarrow as pa  # imported here, because it takes half as long as all of at_k

    try:
        array = pa.array(lists, pa.large_list(pa.large_string()))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return pa.chunked_array([array.values])


def _as_numbers(entries: list[Any], types: set[type]) -> np.ndarray | list[Any]:
    """Return bools, integers or floats as an array, with 0 for None; or other entries unchanged.

    Also unchanged are entries that an array would change: bools among numbers, and integers above
    2^53 among floats, or beyond 64 bits.
    """
    kinds = types - {type(None)}
    if not (kinds <= {bool} or kinds <= {int, float}):
        return entries
    filled = entries
    if type(None) in types:  # False is 0 among numbers.
        filled = [False if entry is None else entry for entry in entries]
    numbers = np.asarray(filled)
    expected = "f" if float in kinds else "iu" if int in kinds else "b"
    if numbers.dtype.kind not in expected:
        return entries
    return entries if kinds == {int, float} and _loses_digits(entries, numbers) else numbers


def _loses_digits(entries: list[Any], numbers: np.ndarray) -> bool:
    """Return whether `numbers`, the entries as floats, may change an integer: one above 2^53."""
    if (np.abs(numbers) < 2**53).all():  # the usual case, and fast
        return False
    return any(type(entry) is int and abs(entry) > 2**53 for entry in entries)


# --- Outcomes -----------------------------------------------------------------------------


def n_in_keys(n: np.ndarray) -> int | str:
    """Return the N of keys such as "avg@8": the number of samples, (M,), or "n" if it differs."""
    return one_size(n) or "n"


def read_outcomes(R, name: str = "R", labels: Labels | None = None) -> Samples:
    """Read already-graded outcomes, or counts of outcomes. The values of the result are numbers.

    `R` is any container that `read_samples` takes, or a flat list or array, which is one question.
    `name` is what the caller calls R. Missing entries (None, masked, or NA of pandas) are not
    scored, and texts are replaced by their number in `labels`, such as {"fully": 1.0}. A ValueError
    is raised if an outcome is invalid.
    """
    values = plain_container(R)
    if isinstance(values, list):
        is_flat = bool(values) and not (is_counts(values) or any(map(is_list_like, values)))
    elif hasattr(values, "chunks"):  # an Arrow column
        is_flat = not has_lists(values)
    else:
        is_flat = isinstance(values, np.ndarray) and values.ndim == 1 and not is_frame(values)
    return as_outcomes(read_samples([values] if is_flat else values, name), labels)


def as_outcomes(samples: Samples, labels: Labels | None = None) -> Samples:
    """Return samples without references as outcomes, with numbers in place of `labels`.

    A ValueError is raised if a sample is not a finite number, one of the labels, or None; or if a
    question has no scored sample.
    """
    outcomes = samples
    if not samples.are_numbers:
        outcomes = replace(samples, values=_numbers_of_labels(samples, labels or {}))
    _ = outcomes.n  # raises a ValueError if a question has no scored sample
    if outcomes.values.dtype.kind == "f":
        outcomes.require(
            np.isfinite(outcomes.values),
            "an outcome is a finite number",
            InPython(
                ", or None if the sample is not scored (np.ma.masked_invalid leaves out every NaN "
                "of an array)"
            ),
        )
    return outcomes


def _numbers_of_labels(samples: Samples, labels: Labels) -> np.ndarray:
    """Return the number of each sample, (S,), with 0 for None, which `multiplicity` leaves out.

    A label in small letters may also be written with capitals, such as "Fully" for "fully".
    """
    values = samples.values
    numbers = [*values] if isinstance(values, list) else values.to_pylist()
    for index, entry in enumerate(numbers):
        number = 0 if entry is None else entry
        if isinstance(entry, str):
            number = labels.get(entry, labels.get(entry.lower()))
        is_integer = isinstance(number, int) and -(2**63) <= number < 2**63
        if not is_integer and not isinstance(number, float):
            raise _error_of_outcome(samples, index, entry, labels)
        numbers[index] = number
    return np.asarray(numbers)


def _error_of_outcome(samples: Samples, index: int, entry: Any, labels: Labels) -> InputError:
    """Return the error for an entry that is neither a number nor a label, with its place."""
    problem = ": an outcome is a number or a bool."
    if labels:
        problem = f", which is none of {', '.join(labels)}, and no number."
    elif isinstance(entry, str) and samples.name == "predictions":
        problem = (
            ", but there are no references to check the predictions against: give references, or "
            "bools or numbers as predictions."
        )
    place = sample_place(samples.name, samples.sizes, index)
    return InputError(place, f" is {short(entry)}{problem}")
