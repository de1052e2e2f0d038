"""Reading of input: outcomes, answers and counts of any type become `Samples`.

Functions take outcomes, and metrics take predictions. Both accept

    nested lists, whose rows may be arrays and may differ in length
    an array or tensor (M, N) of any library on the CPU
    a column of Arrow, of `datasets` or of pandas
    a data frame of pandas, polars, Arrow or DuckDB with a question in each row
    counts in place of samples, in the forms that `count_tables` describes

`read_samples` finds the values of all samples and the number of samples of each question. Numbers
become a NumPy array, and are outcomes. Other values remain a list of Python objects or an Arrow
column, until a checker compares them with references, or `as_outcomes` replaces labels by numbers.

M is the number of questions, N the number of samples of each question, and S the number of values
that are stored: one for each sample of all questions, or one for several equal samples of a
question, with their number as its multiplicity.
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
    sample_rows,
    to_numpy,
    with_plain_type,
)
from .count_tables import is_counts, read_counts
from .counts import BinaryCounts, one_size, sums_per_question

_PLAIN_TYPES = {bool, int, float, str, type(None)}

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

    Samples whose values are numbers are outcomes. A sample is scored unless its value is None.

    Attributes:
        values: (S,) an array of numbers; or an Arrow column or a list of other values.
        sizes: (M,) number of values of each question, at least one.
        name: what the caller calls the samples, for messages.
        scored: (S,) False for each number that stands for None; or None if there is none, or if the
            values are no numbers.
        multiplicity: (S,) how often each value occurs, or None if each occurs once.
        references: (M,) an Arrow column of references, or None if there are none. With references,
            the values are an Arrow column too.
    """

    values: Any
    sizes: np.ndarray
    name: str = "predictions"
    scored: np.ndarray | None = None
    multiplicity: np.ndarray | None = None
    references: Any = None

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.sizes)

    @property
    def are_numbers(self) -> bool:
        """Return whether the values are an array of numbers."""
        return isinstance(self.values, np.ndarray)

    @cached_property
    def n(self) -> np.ndarray:
        """Return the number of scored samples of each question, (M,); raise a ValueError for 0."""
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
        """Return whether each sample is scored, (S,), or None if all are scored."""
        if self.are_numbers:
            return self.scored
        if isinstance(self.values, list):
            return np.array([value is not None for value in self.values], dtype=bool)
        return to_numpy(self.values.is_valid()) if self.values.null_count else None

    @property
    def is_scored(self) -> np.ndarray:
        """Return whether each sample is scored, (S,)."""
        scored = self.scored_or_none
        return np.ones(len(self.values), dtype=bool) if scored is None else scored

    @property
    def scored_sizes(self) -> np.ndarray:
        """Return the number of scored samples of each question, (M,), which may be 0."""
        if self.multiplicity is None and self.scored_or_none is None:
            return self.sizes
        return sums_per_question(self.weights, self.sizes)

    # --- Outcomes ---------------------------------------------------------------------------

    @property
    def occurrences(self) -> np.ndarray:
        """Return how often each value occurs, (S,), whether it is scored or not."""
        return np.ones(len(self.values), int) if self.multiplicity is None else self.multiplicity

    @property
    def weights(self) -> np.ndarray:
        """Return how often each outcome occurs, (S,) integers or bools, 0 if it is not scored."""
        return self.is_scored if self.multiplicity is None else self.multiplicity * self.is_scored

    @property
    def scored_values(self) -> np.ndarray:
        """Return the outcome of each scored sample, (sum of n,), question after question."""
        if self.multiplicity is not None:
            return np.repeat(self.values, self.weights)
        return self.values if self.scored is None else self.values[self.scored]

    def require(self, valid: np.ndarray, *wanted: str) -> None:
        """Raise a ValueError for the first scored outcome that is not valid.

        `valid`, (S,), is whether each outcome is. `wanted` are the pieces of the message that say
        what a valid outcome is.
        """
        invalid = ~valid if self.scored is None else ~valid & self.scored
        if invalid.any():
            first = int(np.argmax(invalid))
            value, location = self.values[first], sample_place(self.name, self.sizes, first)
            if self.multiplicity is None:
                raise InputError(location, f" is {value}: ", *wanted, ".")
            # Counts have no index of a sample, so the message names the outcome.
            location = location._replace(sample=None, value=value.item())
            raise InputError(location, f" has an outcome {value}: ", *wanted, ".")

    @cached_property
    def counts(self) -> BinaryCounts:
        """Return the number of scored and of correct samples of each question.

        Raises a ValueError if a scored outcome is not 0 or 1, or a question has no scored sample.
        """
        correct = require_binary(self).values
        if self.scored is not None:
            correct = (correct == 1) & self.scored
        if self.multiplicity is not None:
            correct = correct * self.multiplicity
        return BinaryCounts(self.n, sums_per_question(correct, self.sizes))

    def category_counts(self, categories: int) -> np.ndarray:
        """Return the number of scored samples of each question in each category, (M, categories).

        Raises a ValueError if a scored outcome is not one of 0, .., categories - 1.
        """
        if categories == 2:
            counts = self.counts
            return np.array([counts.n - counts.c, counts.c]).T
        values = require_categories(self).values
        if values.max() >= categories:
            self.require(values < categories, f"the categories are 0 to {categories - 1}")
        # The cell of the flat table in which each sample is counted: a row is a question.
        cell = np.repeat(np.arange(len(self.n)) * categories, self.sizes)
        np.add(cell, values, out=cell, casting="unsafe")
        occur_once = self.scored is None and self.multiplicity is None
        weights = None if occur_once else self.weights
        table = np.bincount(cell, weights, minlength=len(self.n) * categories)
        return table.astype(np.int64, copy=False).reshape(-1, categories)


# --- Validation ---------------------------------------------------------------------------


GRADED_SCORES = (
    " (max_at_k and bayes_at_n take graded scores and rewards, as floats such as -1.0; "
    "correct_at_least, of at_k.read in Python, is the least score that is correct)"
)
"""The end of an error message about outcomes other than 0 and 1."""


def require_binary(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is 0 or 1."""
    values = outcomes.values
    if not _is_binary(values):
        wanted = ["an outcome is 0", InPython(" or False"), " if incorrect, 1"]
        wanted += [InPython(" or True"), " if correct", GRADED_SCORES]
        outcomes.require((values == 0) | (values == 1), *wanted)
    return outcomes


def _is_binary(values: np.ndarray) -> bool:
    """Return whether all values are 0 or 1, including the values of unscored samples."""
    if values.dtype.kind == "b":
        return True
    if values.dtype.kind in "iu":
        # The bitwise OR is 0 or 1 if all values are, and takes half as long as comparing them.
        return np.bitwise_or.reduce(values.reshape(-1)) in (0, 1)
    return bool(((values == 0) | (values == 1)).all())


def warn_of_stopping(outcomes: Samples, run: str = "") -> None:
    """Warn if the samples of each question seem to stop at the first correct one.

    They seem to if no question has two correct samples, and at least three questions have fewer
    samples than others, each with one correct sample. `run` is the start of the message.
    """
    n = outcomes.n
    is_short = n < n.max()
    if is_short.sum() < 3 or not _is_binary(outcomes.values):
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
    """Read the samples of M questions from any container that the module docstring lists.

    `name` is what the caller calls the samples, for messages. A ValueError is raised if there is no
    question, or if one has no list of samples, or an empty list; and a TypeError if a library
    cannot convert its array.
    """
    return _read_plain(plain_container(values), name)


def _read_plain(values: Any, name: str) -> Samples:
    """Read samples as `read_samples` does, from a container that `plain_container` returned."""
    if is_counts(values):
        samples = _samples_from_counts(values, name)
    elif isinstance(values, np.ndarray):
        samples = _samples_from_array(values, name)
    elif isinstance(values, list):
        samples = _samples_from_lists(values, name)
    elif is_frame(values):
        return _read_plain(sample_rows(values, name), name)
    elif is_list_like(values):
        samples = _samples_from_column(values, name)
    else:
        wanted = "give a list with the samples of each question"
        if isinstance(values, str):
            wanted += f", or, if it is the name of a file, at_k.read({short(values)})"
        raise ValueError(f"{name} is {short(values)}: {wanted}.")
    if not len(samples):
        raise ValueError(f"{name} holds no question.")
    if not samples.sizes.all():
        location = Place(name, int(samples.sizes.argmin()))
        raise InputError(location, " is empty: each ", QUESTION, " needs a ", SAMPLE, ".")
    return samples


def _not_a_list(name: str, question: int, entry: Any) -> ValueError:
    """Return the error for a question whose `entry` is no list of samples."""
    return InputError(
        *(Place(name, question), f" is {short(entry)}: each ", QUESTION, " has a list of ", SAMPLE),
        "s.",
    )


def _samples_from_counts(counts, name: str) -> Samples:
    """Return each category or answer of a question once, with its count as the multiplicity."""
    values, multiplicity, sizes = read_counts(counts, name)
    if isinstance(values, list):  # answers
        answers = read_samples(values, name) if len(values) else Samples([], sizes, name)
        return replace(answers, multiplicity=multiplicity)
    return Samples(values, sizes, name, multiplicity=multiplicity)


def _samples_from_array(array: np.ndarray, name: str) -> Samples:
    """Return the samples in an (M, N) array of numbers; raise a ValueError for other shapes."""
    if array.ndim == 0:
        raise ValueError(f"{name} is {array}: give a list with the samples of each question.")
    if array.ndim == 1 and len(array):
        raise _not_a_list(name, 0, array[0].item())
    if array.ndim > 2:
        raise ValueError(f"{name} has {array.ndim} dimensions: M questions x N samples.")
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).ravel()
    return Samples(values, np.full(len(array), array.shape[-1]), name)


# --- Arrow columns ------------------------------------------------------------------------


def _samples_from_column(column, name: str) -> Samples:
    """Return the samples in an Arrow column with an entry for each question.

    A column of lists is read without making Python objects. Any other column is first converted to
    a Python list.
    """
    if not _has_lists(column):
        return _read_plain(column.to_pylist(), name)
    if column.null_count:
        question = next(i for i, entry in enumerate(column) if not entry.is_valid)
        raise _not_a_list(name, question, None)
    chunks = column.chunks
    lengths = [to_numpy(chunk.value_lengths()).astype(np.int64) for chunk in chunks]
    sizes = np.concatenate([np.empty(0, np.int64), *lengths])
    values = with_plain_type(chunked(chunk.flatten() for chunk in chunks))
    if not is_numeric(values.type):
        return Samples(values, sizes, name)
    numbers, scored = numbers_and_scored(values)
    return Samples(numbers, sizes, name, scored)


def _has_lists(column) -> bool:
    """Return whether the entries of an Arrow column are lists."""
    return "list" in str(column.type).partition("<")[0]


# --- Lists --------------------------------------------------------------------------------


def _samples_from_lists(lists: list[Any], name: str) -> Samples:
    """Return the samples in a list with a list or array for each question.

    Texts become an Arrow column, numbers an array, and other entries a list. A ValueError is raised
    if the entry of a question is not list-like.
    """
    if (texts := _column_of_texts(lists)) is not None:
        return Samples(texts, _lengths(lists), name)
    for question, entry in enumerate(lists):
        if not is_list_like(entry):
            raise _not_a_list(name, question, entry)
    if lists and all(map(_is_numeric_array, lists)) and len({x.dtype.kind for x in lists}) == 1:
        return Samples(np.concatenate(lists), _lengths(lists), name)
    lists = [entry if isinstance(entry, (list, tuple)) else plain_list(entry) for entry in lists]
    entries = _plain_entries(lists, name)
    values, scored = _numbers_or_none(entries) or (entries, None)
    return Samples(values, _lengths(lists), name, scored)


def _plain_entries(lists: list[Any], name: str) -> list[Any]:
    """Return the entries of all lists in one list, with Python values for those of a library."""
    entries = list(itertools.chain.from_iterable(lists))
    if {*map(type, entries)} <= _PLAIN_TYPES:
        return entries
    check_depth(name, lists)
    entries = [plain_entry(entry) for entry in entries]
    if {*map(type, entries)} >= {bytes, str}:  # Arrow decodes bytes among texts, and so does this.
        with contextlib.suppress(UnicodeDecodeError):
            return [x.decode() if type(x) is bytes else x for x in entries]
    return entries


def _lengths(lists: list[Any]) -> np.ndarray:
    """Return the length of each list, (M,)."""
    return np.fromiter(map(len, lists), np.int64, len(lists))


def _numbers_or_none(entries: list[Any]) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return entries that are numbers as an array, and whether each is scored; otherwise None.

    None, an entry that is not scored, becomes 0. The second result, (S,), is None if there is no
    such entry. None takes the place of both results if an entry is neither a number nor None, or if
    an array would change its value: a bool among numbers, or an integer above 2^53 among floats.
    """
    types, scored = {*map(type, entries)}, None
    if not types <= _PLAIN_TYPES - {str} or (bool in types and types & {int, float}):
        return None
    if type(None) in types:
        scored = np.array([entry is not None for entry in entries], dtype=bool)
        entries = [0 if entry is None else entry for entry in entries]
    numbers = np.asarray(entries)
    if numbers.dtype.kind == "O":
        return None
    is_mixed = int in types and numbers.dtype.kind == "f"
    may_round = is_mixed and np.nanmax(np.abs(numbers)) >= 2**53
    if may_round and any(type(entry) is int and abs(entry) > 2**53 for entry in entries):
        return None
    return numbers, scored


def _column_of_texts(lists: list[Any]) -> Any:
    """Return the entries of lists as one Arrow column, or None if some are no texts.

    Null is allowed for None, and bytes among texts are decoded as UTF-8. To be fast, the result is
    also None if the first entry is no text.
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


def _is_numeric_array(value: Any) -> bool:
    """Return whether a value is a one-dimensional array of unmasked numbers of up to 8 bytes."""
    is_array = isinstance(value, np.ndarray) and value.ndim == 1 and not is_masked(value)
    return is_array and value.dtype.kind in "biuf" and value.itemsize <= 8


# --- Outcomes -----------------------------------------------------------------------------


def n_in_keys(n: np.ndarray) -> int | str:
    """Return the number in keys such as "avg@8": the number of samples, or "n" if it differs.

    `n`, (M,), are the numbers of samples of the questions.
    """
    return one_size(n) or "n"


def read_outcomes(R, name: str = "R", labels: Labels | None = None) -> Samples:
    """Read already-graded outcomes, or counts of outcomes. The values of the result are numbers.

    A ValueError is raised if R or an outcome is invalid.

    Args:
        R: any container that `read_samples` takes, or a flat list or array, which is one question;
            or a dict as `at_k.read` returns it, whose predictions are used. Missing entries (None,
            masked, or NA of pandas) are not scored.
        name: what the caller calls R, for messages.
        labels: the number of each label, such as {"fully": 1.0}, if outcomes may be texts; or None.
    """
    values = plain_container(outcomes_in_run(R, name))
    if is_list_like(values) and hasattr(values, "chunks") and not _has_lists(values):
        values = values.to_pylist()  # an Arrow column without lists
    is_one_question = isinstance(values, np.ndarray) and values.ndim == 1
    if isinstance(values, list) and not is_counts(values):
        is_one_question = bool(values) and not any(map(is_list_like, values))
    return as_outcomes(_read_plain([values] if is_one_question else values, name), labels)


def outcomes_in_run(R: Any, name: str) -> Any:
    """Return R["predictions"] if R is a dict as `at_k.read` returns it, otherwise R itself.

    Raises a ValueError if the dict has other keys than predictions and groups, such as references
    or clusters, which a function would ignore.
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


def as_outcomes(samples: Samples, labels: Labels | None = None) -> Samples:
    """Return samples without references as outcomes, with numbers in place of labels.

    `labels` has the number of each label, or is None if there are no labels. A ValueError is raised
    if a sample is not a finite number, one of the labels, or None; or if a question has no scored
    sample.
    """
    outcomes = samples
    if not samples.are_numbers:
        values, scored = _numbers_of_labels(samples, labels or {})
        outcomes = replace(samples, values=values, scored=scored)
    _ = outcomes.n  # raises a ValueError if a question has no scored sample
    if outcomes.values.dtype.kind == "f":
        outcomes.require(
            np.isfinite(outcomes.values),
            "an outcome is a finite number, or None if the sample is not scored",
            InPython(" (np.ma.masked_invalid leaves out every NaN of an array)"),
        )
    return outcomes


def _numbers_of_labels(samples: Samples, labels: Labels) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the number of each sample, (S,), and whether it is scored, (S,), or None if all are.

    The number is 0 if a sample is None. A label in small letters may also be written with capitals,
    such as "Fully" for "fully". A ValueError is raised for a sample that is neither a label, nor a
    float, nor an integer of 64 bits, nor None.
    """
    values = samples.values
    numbers = [*values] if isinstance(values, list) else values.to_pylist()
    for i, entry in enumerate(numbers):
        if isinstance(entry, str):
            numbers[i] = entry = labels.get(entry, labels.get(entry.lower(), entry))
        is_integer = isinstance(entry, int) and -(2**63) <= entry < 2**63
        if not (entry is None or isinstance(entry, float) or is_integer):
            raise _not_an_outcome(samples, i, entry, labels)
    scored = np.array([number is not None for number in numbers], dtype=bool)
    result = np.asarray([0 if number is None else number for number in numbers])
    return result, None if scored.all() else scored


def _not_an_outcome(samples: Samples, sample: int, entry: Any, labels: Labels) -> ValueError:
    """Return the error for an entry that is no outcome. `sample` is its index among S samples."""
    problem = ": an outcome is a number or a bool."
    if labels:
        problem = f", which is none of {', '.join(labels)}, and no number."
    elif isinstance(entry, str) and samples.name == "predictions":
        problem = (
            ", but there are no references to check the predictions against: give references, or "
            "bools or numbers as predictions."
        )
    location = sample_place(samples.name, samples.sizes, sample)
    return InputError(location, f" is {short(entry)}{problem}")
