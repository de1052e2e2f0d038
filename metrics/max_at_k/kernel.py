# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""The core of evaluate-at-k in one file, for the metric in this folder.

shared/vendor.py joins the modules below: edit these instead, and run it again.
"""

from __future__ import annotations

import abc
import difflib
import evaluate
import inspect
import itertools
import json
import math
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import re
import sys
import threading
import warnings
from collections.abc import Callable
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Callable, Iterable
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Callable, Mapping
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Callable, Sequence
from collections.abc import Collection
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Collection, Sequence
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Mapping
from collections.abc import Mapping, Sequence
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from dataclasses import dataclass, field
from dataclasses import dataclass, replace
from dataclasses import fields
from dataclasses import replace
from decimal import Decimal
from evaluate.module import temp_seed
from fractions import Fraction
from functools import cache, lru_cache, partial
from functools import cached_property
from functools import cached_property, partial
from functools import lru_cache
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from statistics import NormalDist
from types import MethodType
from types import SimpleNamespace
from typing import Any
from typing import Any, NamedTuple
from typing import Any, NoReturn
from typing import Any, TypeVar, get_type_hints
from typing import NamedTuple


# --- shared/at_k/core/checks.py -------------------------------------------------------------------

"""Validation of parameters, and errors about input.

A function `check_x` raises a ValueError unless a parameter is valid, and most return it as a plain
Python value. `name` is that of the parameter in the message. A "page" is a web page that shows a
metric.
"""


_ABOVE_0 = math.ulp(0.0)  # the smallest positive number


def short(value, most: int = 60) -> str:
    """Return the repr of a value in one line, cut after `most` characters."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:  # The value is nested too deeply, or its `__repr__` fails.
        shown = f"a {type(value).__name__}"
    return shown if len(shown) <= most else f"{shown[:most]}.."


# --- Errors -------------------------------------------------------------------------------


class Place(NamedTuple):
    """The place of an invalid input in a message, such as `predictions[2][1]` or "question 2".

    Attributes:
        parameter: the parameter, such as "predictions"; or the word "question" or "Question".
        question: index of the question.
        sample: index of the sample in its question, or None for the whole question.
        key: the column, such as "correct", of input that consists of counts of samples; or None.
    """

    parameter: str
    question: int
    sample: int | None = None
    key: str | None = None

    @property
    def is_question(self) -> bool:
        """Return whether the place is a question, and not an entry of a parameter."""
        return self.parameter in ("question", "Question") and self.sample is None

    def __str__(self) -> str:
        if self.is_question:
            return f"{self.parameter} {self.question}"
        key = "" if self.key is None else f"[{self.key!r}]"
        sample = "" if self.sample is None else f"[{self.sample}]"
        return f"{self.parameter}{key}[{self.question}]{sample}"


class Noun(str):
    """The word "question" or "sample" in a message. A page may show another word."""


class Index(int):
    """An index from 0 in a message. A page may count from 1."""


class InPython(str):
    """Words of a message that only help in Python. A page leaves them out."""


class RunName(str):
    """The name of a run and a colon, at the start of a message."""


QUESTION, SAMPLE, FROM_0 = Noun("question"), Noun("sample"), InPython(" (from 0)")


class InputError(ValueError):
    """The error for invalid input. Its message consists of the pieces in `args`, which are pickled.

    A piece is a text, or an object of a class above, which a page may show in its own words.
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    @property
    def place(self) -> Place | None:
        """Return the first place in the message, or None if no question is named."""
        return next((piece for piece in self.args if isinstance(piece, Place)), None)


class InputWarning(UserWarning):
    """A warning about input, whose message consists of pieces as that of an InputError does."""

    def __str__(self) -> str:
        return "".join(map(str, self.args))


# --- Collections --------------------------------------------------------------------------


def is_frame(values) -> bool:
    """Return whether the values are a data frame, a table of Arrow or a structured array."""
    is_structured = getattr(getattr(values, "dtype", None), "names", None) is not None
    return is_structured or (hasattr(values, "columns") and hasattr(values, "shape"))


def is_scalar(value) -> bool:
    """Return whether a value is a scalar of NumPy or of a tensor library, with a method `item`."""
    return getattr(value, "ndim", None) == 0 and hasattr(value, "item")


def plain_number(name: str, value) -> Any:
    """Return a scalar of NumPy or of a tensor library as a Python number.

    A float16 or float32 becomes the shortest decimal that rounds to it: 0.6, not 0.6000000238.
    """
    try:
        number = value.item()
    except RuntimeError as error:
        raise TypeError(f"{name} is a {type(value).__name__} without a value: {error}") from error
    precision = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if precision in ("float16", "float32"):
        return float(str(np.dtype(precision).type(number)))
    return number


def is_list_like(value) -> bool:
    """Return whether a value is an iterable other than a text, bytes, a dict or a set."""
    if isinstance(value, (list, tuple)):  # the usual case, and fast
        return True
    if isinstance(value, (str, bytes, dict, set, frozenset)):  # A set has no order.
        return False
    return isinstance(value, Iterable) and not is_scalar(value)


def as_list(name: str, value) -> list[Any]:
    """Return several values as a list, or one value in a list; raise a ValueError for no value."""
    values = list(value) if is_list_like(value) else [value]
    if not values:
        raise ValueError(f"{name} is empty: give at least one.")
    return values


def entries_of(name: str, values) -> list[Any]:
    """Return the entries of a list, an array or a column as a list, with None for masked ones."""
    if is_frame(values):  # iterating gives column names
        raise ValueError(f"{name} is a data frame: give one of its columns.")
    if hasattr(values, "to_pylist"):  # Arrow's conversion to NumPy would turn None into nan.
        return values.to_pylist()
    if hasattr(values, "__array__") and not isinstance(values, np.ndarray):
        values = np.asarray(values)
    if not is_list_like(values):
        raise ValueError(f"{name} is {short(values)}: give a list with an entry per question.")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def is_missing(entry) -> bool:
    """Return whether an entry is None, a NaN of any type, NaT, or pandas.NA."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, Decimal):
        return entry.is_nan()
    may_be_nan = isinstance(entry, (float, np.floating, np.datetime64, np.timedelta64))
    return may_be_nan and bool(entry != entry)  # NaN and NaT differ from themselves.


_METRIC_OF_SCORE = {
    **dict.fromkeys(["vote@k", "weighted_vote@k", "cons@k"], "cons_at_k"),
    **dict.fromkeys(["max@k", "picked@k"], "max_at_k"),
    **dict.fromkeys(["pass^k", "G-Pass@k"], "gpassk"),
}
"""The metric that has each of these scores, for which users often ask another metric."""


def check_name(name: str, choice: Any, names: Collection[str]) -> Any:
    """Return `choice`; raise a ValueError with a similar name if it is not one of the `names`."""
    hint = ""
    if isinstance(choice, str):
        if choice in names:
            return choice
        score = re.sub(r"(?<=[@^])\d.*", "k", choice)  # "pass@k" for "pass@4"
        if score in names:
            k = re.findall(r"[@^](\d+)", choice)[0]
            raise ValueError(f"{name} has {short(choice)}: give {score!r}, and k={k}.")
        hint = did_you_mean(choice, names)
        if name == "include" and score in _METRIC_OF_SCORE:
            hint = f" It is a score of {_METRIC_OF_SCORE[score]}."
    raise ValueError(f"{name} has {short(choice)}, which is none of {', '.join(names)}.{hint}")


def did_you_mean(choice: str, names: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the name most similar to a choice, or "" if none is similar.

    The choice may be a name with an s, the start of one name, or "pass_hat_k" for "pass^k".
    """

    def letters(name: str) -> str:
        name = name.lower().replace("@", "at").replace("^", "hat")
        return re.sub(r"[^a-z0-9]", "", name)

    spelled, typed = {letters(name): name for name in names}, letters(choice)
    singular = typed.removesuffix("s")
    similar = [name for name in spelled if len(singular) > 2 and name.startswith(singular)]
    if singular in spelled:
        similar = [singular]
    elif len(similar) != 1:
        similar = difflib.get_close_matches(typed, spelled, n=1)
    return f" Did you mean {spelled[similar[0]]!r}?" if similar else ""


def category_numbers(categories) -> dict[str, float] | None:
    """Return a dict from the label of a category to its number, or None if there are no labels."""
    if categories is None:
        return None
    numbers: dict[str, float] = {}
    for category, label in enumerate(as_list("categories", categories)):
        if not isinstance(label, str) or label in numbers:
            raise ValueError(
                f"categories[{category}] is {short(label)}: give each category its own text."
            )
        numbers[label] = category
    return numbers


# --- Labels of questions, such as groups and clusters -------------------------------------


def require_same_index(values: Mapping[str, Any]) -> None:
    """Raise a ValueError if two pandas objects among the arguments have different row labels."""
    indexes = [(name, value.index) for name, value in values.items() if hasattr(value, "iloc")]
    for name, other in indexes:
        first, index = indexes[0]
        if not other.equals(index):
            raise ValueError(
                f"The rows of {first} and {name} have different labels, or another order: the "
                f"first are {', '.join(map(str, index[:3]))} and {', '.join(map(str, other[:3]))}. "
                f"Give {name}.loc[{first}.index], or {name}.to_numpy() if the order is the same."
            )


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct labels as texts, and the index of each question's label among them, (M,).

    Labels are in the order of their first appearance. A ValueError is raised if there are not as
    many as `questions`; or if a label is missing, an array or a data frame.
    """
    entries = [plain_number(name, x) if is_scalar(x) else x for x in entries_of(name, labels)]
    if len(entries) != questions:
        raise ValueError(
            f"{name} has {len(entries)} labels for {questions} questions: give one for each."
        )
    for question, label in enumerate(entries):
        if hasattr(label, "shape") or is_missing(label):
            wanted = "give every question a label, which is a text or a number"
            raise InputError(Place(name, question), f" is {short(label)}: {wanted}.")
    numbers: dict[str, int] = {}
    index = np.array([numbers.setdefault(str(label), len(numbers)) for label in entries])
    return list(numbers), index


# --- Numbers ------------------------------------------------------------------------------


def check_number(name: str, value, wanted: str, least: float, most: float) -> float:
    """Return `value` as a float; raise a ValueError that ends with `wanted` if out of range."""
    number = math.nan  # which is in no range
    if not isinstance(value, (float, int)) and is_scalar(value):
        value = plain_number(name, value)
    # Testing for float and int first is faster: Real is an abstract base class.
    if isinstance(value, (float, int, Real)) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer that no double can hold
            number = float(value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {short(value)}: {wanted}.")
    return number


def check_positive(name: str, value, wanted: str, most: float) -> float:
    """Return `value` as a float; raise a ValueError unless it is above 0, and at most `most`."""
    return check_number(name, value, wanted, _ABOVE_0, most)


def check_flag(name: str, value) -> bool:
    """Return a flag as a bool; raise a ValueError if it is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {short(value)}: give True or False.")
    return bool(value)


def check_count(
    name: str, value, wanted="give a positive integer", least: int = 1, most: float = math.inf
) -> int:
    """Return a whole number as an int; raise a ValueError that ends with `wanted` for others."""
    if not isinstance(value, int) and is_scalar(value):
        value = plain_number(name, value)
    # Testing for int first is faster: Integral is an abstract base class.
    is_integer = isinstance(value, (int, Integral)) and not isinstance(value, bool)
    if not is_integer or not least <= value <= most:
        raise ValueError(f"{name} is {short(value)}: {wanted}.")
    return int(value)


def check_text(name: str, value) -> str:
    """Return a text; raise a TypeError if the value is not a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {short(value)}: give a text.")
    return value


def check_confidence(confidence) -> float:
    """Return a confidence as a float; raise a ValueError unless it is above 0 and below 1."""
    wanted = "give a probability between 0 and 1, such as 0.95"
    return check_number("confidence", confidence, wanted, _ABOVE_0, math.nextafter(1.0, 0.0))


def check_bounds(bounds) -> tuple[float, float]:
    """Return `bounds` as (lo, hi), (-inf, inf) for None; raise a ValueError unless lo <= hi."""
    if bounds is None:
        return -math.inf, math.inf
    wanted = "give (lo, hi) with lo <= hi, or None"
    limits = as_list("bounds", bounds)
    if len(limits) != 2:
        raise ValueError(f"bounds are {short(bounds)}: {wanted}.")
    lo = check_number("The first of bounds", limits[0], wanted, -math.inf, math.inf)
    return lo, check_number("The second of bounds", limits[1], wanted, lo, math.inf)


def check_prior(alpha0, beta0) -> tuple[float, float]:
    """Return both parameters of a Beta prior; raise a ValueError unless they are in (0, 1e15]."""
    # Beyond 1e15 the posterior standard deviation would lose all digits.
    wanted = "a parameter of the Beta prior is a positive number, at most 1e15"
    alpha0 = check_number("alpha0", alpha0, wanted, _ABOVE_0, 1e15)
    return alpha0, check_number("beta0", beta0, wanted, _ABOVE_0, 1e15)


def check_k(k, n: np.ndarray | None = None, name: str = "k") -> int:
    """Return k as an int; raise a ValueError unless it is from 1 to 1e6, and no n is less."""
    k = check_count(name, k, "give a positive integer, at most a million", most=1_000_000)
    if n is not None:
        check_samples([k], n)
    return k


def check_ks(k) -> list[int] | None:
    """Return one or more k as a list without duplicates, or None if `k` is None."""
    return None if k is None else list(dict.fromkeys(check_k(value) for value in as_list("k", k)))


def choose_ks(
    ks: list[int] | None,
    default: Sequence[int],
    n: np.ndarray,
    allow_above_n: bool = False,
    remedy: str = "",
) -> list[int]:
    """Return the requested `ks`, or the entries of `default` up to the smallest n, (M,), or that n.

    A requested k above an n is a ValueError that ends with `remedy`, unless `allow_above_n`.
    """
    if ks is None:
        least = int(n.min())
        return [k for k in default if k <= least] or [least]
    if not allow_above_n:
        check_samples(ks, n, remedy)
    return ks


def check_samples(ks: list[int], n: np.ndarray, remedy: str = "") -> None:
    """Raise a ValueError, which ends with `remedy`, if a k exceeds the n of a question, (M,)."""
    question = int(np.argmin(n))
    least = n[question]
    for k in ks:
        if k > least:
            fewest = "" if n.max() == least else ", the fewest"
            raise InputError(
                f"k is {k}, but ",
                Place("question", question),
                f" has n = {least} scored samples{fewest}: give a k of at most {least}.{remedy}",
            )


# --- shared/at_k/core/package.py ------------------------------------------------------------------

"""The interface through which the core uses the other folders (rooms) of the installed package.

A metric that `evaluate` loads as a script has only the core, in one file, its kernel. The core
calls what only the package has as methods of `PACKAGE.rooms`, which in a script is a `Rooms`.
"""


KERNEL = "9d9d3fea6dc6"
"""A hash of the core, which `shared/vendor.py` writes into kernels; "" in the package itself."""

INSTALL = 'pip install "evaluate-at-k @ git+https://github.com/evaluate-at-k/evaluate-at-k"'


def installed_version() -> str | None:
    """Return "VERSION (kernel HASH)" of the installed package, or None without a package."""
    try:
        from at_k import __version__
        from at_k.loading import core_hash
    except ImportError:
        return None
    return f"{__version__} (kernel {core_hash()})"


def has_same_package() -> bool:
    """Return whether a script with this copy of the core, its kernel, can use the package instead.

    It can if the core of the package is the same. If it is another one, a warning says so.
    """
    version = installed_version()
    if not KERNEL or version is None:  # This is the package itself, or there is no package.
        return False
    if version.endswith(f"(kernel {KERNEL})"):
        return True
    warnings.warn(
        f"This script has the kernel {KERNEL}, and the installed package evaluate-at-k is version "
        f"{version}: the script computes with its own kernel. If you have changed "
        f"shared/at_k/core, the kernel is out of date: run shared/vendor.py.",
        stacklevel=2,
    )
    return False


def raise_needs_package(option: str) -> NoReturn:
    """Raise the ImportError for an option that only the package of the same version has."""
    version = installed_version()
    if version is None:
        raise ImportError(f"{option} needs the package evaluate-at-k: {INSTALL}.")
    raise ImportError(
        f"{option} needs the package evaluate-at-k of the same version as this script, whose "
        f"kernel is {KERNEL}. Version {version} is installed: load the script of that version, or "
        f"install the other one with {INSTALL}. In a checkout, run shared/vendor.py."
    )


OPTIONS = {
    "checker": "check_correct_fn={0.checker!r}",
    "check_workers": "num_proc, timeout, or an async or batched check_correct_fn",
    "exchange": "num_process above 1",
    "read_table": "{1} in a data frame, or as a run,",
    "frame_rows": "a data frame of counts",
    "errors": "checker_rates and labels",
    "first_successes": "budget",
    "pass_limits": "interval={2.method!r} (unlike interval='questions')",
    "max_limits": "interval={2.method!r} (unlike interval='questions')",
    "consensus_limits": "interval={1.method!r} (unlike interval='questions')",
    "tails": "TailPass@k",
    "picked": "picked@k",
    "weighted_votes": "vote_weights",
    "anytime_limits": "anytime=True",
    "joined": "include with several kinds of scores and a confidence",
    "band": "band=True",
}
"""The option that needs each method. {2.method!r} shows the `method` of its third argument."""


class Rooms:
    """The stand-in for `at_k.rooms.PackageRooms` in a script without the package."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that raises the ImportError for the option of a method."""
        if method not in OPTIONS:
            raise AttributeError(method)
        return lambda *arguments: raise_needs_package(OPTIONS[method].format(*arguments))

    def run_name(self) -> str | None:
        """Return None. The package returns a name that all processes of this run share."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`. That of the package also shows the other arguments."""
        return scores


PACKAGE = SimpleNamespace(rooms=Rooms())
"""`PACKAGE.rooms` is a `PackageRooms` in the installed package, and a `Rooms` in a script."""


# --- shared/at_k/core/counts.py -------------------------------------------------------------------

"""Counts of outcomes, on which a score depends if the order of samples does not matter.

There are M questions with S samples in all, and U distinct pairs (n, c).
"""


@dataclass(frozen=True)
class BinaryCounts:
    """The number of samples of each question, n, (M,), and how many are correct, 0 <= c <= n.

    Scores are computed once for each distinct pair (n, c): `unique` returns the pairs, and
    `scores[inverse]` has the score of each question.
    """

    n: np.ndarray
    c: np.ndarray

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.n)

    @property
    def unique(self) -> tuple[np.ndarray, np.ndarray]:
        """Return n and c of the distinct pairs, (U,) each."""
        n, c, _ = self._distinct
        return n, c

    @property
    def multiplicity(self) -> np.ndarray:
        """Return the number of questions with each distinct pair, (U,)."""
        return self._distinct[2].multiplicity

    @property
    def inverse(self) -> np.ndarray:
        """Return the index of each question's pair among the distinct pairs, (M,)."""
        return self._distinct[2].inverse

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray, UniqueIntegers]:
        """Return n and c of the distinct pairs, (U,) each, and the codes of all pairs.

        The code is c if all n are equal, else base x (rank of n) + rank of c, to fit into 64 bits.
        """
        if size := one_size(self.n):
            codes = UniqueIntegers(self.c, size)
            return np.full(len(codes.values), self.n[0]), codes.values, codes
        n, c = (UniqueIntegers(x, int(x.max())) for x in (self.n, self.c))
        base = len(c.values)
        codes = UniqueIntegers(c.inverse + base * n.inverse, base * len(n.values))
        n_rank, c_rank = np.divmod(codes.values, base)
        return n.values[n_rank], c.values[c_rank], codes


class UniqueIntegers:
    """The distinct values of integers from 0 to `most`, ascending, and the multiplicity of each."""

    def __init__(self, array: np.ndarray, most: int):
        self._array = array
        if most > 8 * len(array):
            self.values, self.multiplicity = np.unique(array, return_counts=True)
        else:  # A table of the counts of 0 .. `most` is faster than sorting.
            multiplicity = np.bincount(array)
            self.values = np.flatnonzero(multiplicity)
            self.multiplicity = multiplicity[self.values]

    @cached_property
    def inverse(self) -> np.ndarray:
        """Return the index in `values` of each entry of the array."""
        if self.values[-1] > 8 * len(self._array):
            return np.searchsorted(self.values, self._array)
        index = np.empty(self.values[-1] + 1, dtype=np.int64)
        index[self.values] = np.arange(len(self.values))
        return index[self._array]


def one_size(sizes: np.ndarray) -> int:
    """Return the number of samples if it is the same for all questions, otherwise 0."""
    size = int(sizes[0])
    # count_nonzero takes half the time of `all`, which matters in calls of a few microseconds.
    return size if np.count_nonzero(sizes == size) == len(sizes) else 0


def sums_per_question(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the sums of `counts`, (S,), over the `sizes`, (M,), samples of each question, (M,).

    `counts` are 0 or 1 for each sample, of any numeric type; or non-negative int64.
    """
    size = one_size(sizes)
    if not size:
        return np.add.reduceat(counts, np.cumsum(sizes) - sizes, dtype=np.int64)
    rows = counts.reshape(-1, size)  # einsum is faster than `sum` for short rows.
    if rows.itemsize > 1:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    dtype = np.uint8 if size < 256 else np.int64  # which holds the sum of so many 0 and 1
    return np.einsum("ij->i", rows.view(np.uint8), dtype=dtype).astype(np.int64)


# --- shared/at_k/core/containers.py ---------------------------------------------------------------

"""Conversion of data of any library to a few types of Python, NumPy and Arrow.

`plain_container` turns every container into a list, a NumPy array of numbers or an Arrow column,
and `plain_entry` turns every entry into a Python value. pyarrow takes half as long to import as all
of at_k. So it is imported only where it has to be, and its objects are recognized by their methods.
"""


_TEXTS = {"string", "large_string"}

_NUMBERS = {
    *("null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("halffloat", "float", "double"),
}
"""The names of the Arrow types of numbers and bools, and of columns that are null throughout."""


def to_array(values) -> np.ndarray:
    """Convert an array of any library, on any device, to a NumPy array, or raise a TypeError.

    bfloat16, and float8 of JAX, become float32 without loss, and a longdouble becomes a double.
    """
    try:
        if hasattr(values, "detach"):  # a tensor of torch, which may have a gradient
            values = values.detach().cpu()
            if str(values.dtype) == "torch.bfloat16":
                values = values.float()
        array = np.asarray(values)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        kind = f"{type(values).__module__}.{type(values).__name__}"
        raise TypeError(f"A {kind} cannot be converted to an array: {error}") from error
    # `isbuiltin` is 2 for types that a library adds to NumPy, such as the floats of JAX, which
    # np.unique and other functions cannot sort.
    is_foreign = array.dtype.isbuiltin == 2 and array.dtype.name.startswith(("float", "bfloat"))
    if array.dtype == np.longdouble:
        return array.astype(float)
    return array.astype(np.float32) if is_foreign else array


def plain_entry(value) -> Any:
    """Convert a number, a text or a missing value of any library to a Python value.

    A Decimal or Fraction becomes an integer or a float. Other values are returned unchanged.
    """
    if type(value).__name__ in ("NAType", "MaskedConstant"):  # of pandas, and of a masked array
        return None
    if isinstance(value, np.longdouble):  # Its `item` returns a longdouble again.
        return float(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        value = value.as_py()
    if isinstance(value, (Decimal, Fraction)):
        try:
            number = float(value)
        except OverflowError:  # a fraction that no double can hold
            return value
        except ValueError:  # a signaling nan
            return float("nan")
        return int(value) if number.is_integer() else number
    return plain_number("An entry", value) if is_scalar(value) else value


# --- Containers ---------------------------------------------------------------------------


def plain_container(values) -> Any:
    """Convert a container to a list, a NumPy array of numbers, or a chunked array of Arrow.

    Arrow columns have texts, numbers, or lists of these: others become lists. Frames of polars and
    DuckDB become Arrow tables. Other frames, dicts, texts and the like are returned as they are.
    """
    if isinstance(values, (list, tuple)):
        return list(values)
    values = as_arrow(values)
    if is_frame(values) or not is_list_like(values):
        return values
    if hasattr(values, "to_pylist") or hasattr(values, "source"):
        return _plain_column(values)
    is_masked = isinstance(values, np.ndarray) and hasattr(values, "mask")
    if hasattr(values, "__array__") and not is_masked:
        array = to_array(values)
        if array.dtype.kind in "biuf":
            return array
    return plain_list(values)


def plain_list(values) -> list[Any]:
    """Return the entries of an array, a column or an iterable as a Python list."""
    for method in ("tolist", "to_pylist"):
        if hasattr(values, method):
            try:
                return getattr(values, method)()
            except RuntimeError:  # `to_array` explains what is wrong with a sparse or empty tensor.
                return to_array(values).tolist()
    return list(values)


def as_arrow(values) -> Any:
    """Convert data of polars or DuckDB, pandas columns of Arrow types and Arrow streams to Arrow.

    A memoryview becomes a NumPy array, and a nested tensor a list of tensors.
    """
    if isinstance(values, memoryview):
        return np.asarray(values)
    if hasattr(getattr(values, "dtype", None), "pyarrow_dtype"):  # a column of pandas
        import pyarrow

        return pyarrow.array(values)
    if getattr(values, "is_nested", False):  # a tensor whose rows differ in length
        return list(values.unbind())
    if hasattr(values, "collect_schema") and hasattr(values, "collect"):  # a lazy frame of polars
        values = values.collect()
    for method in ("to_arrow_table", "to_arrow", "read_all"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values


# --- Arrow --------------------------------------------------------------------------------


def _plain_column(values) -> Any:
    """Return a column of Arrow or of `datasets` as a chunked array, or as a list."""
    # A dataset may convert its entries to arrays of a library, so they are read in Arrow instead. A
    # custom format may change the entries, so these are taken as the format returns them.
    source = getattr(values, "source", None)  # the dataset, if this is a column of one
    if source is not None and getattr(source, "format", {}).get("type", "custom") != "custom":
        values = source.with_format("arrow")[values.column_name][:]
    if not hasattr(values, "null_count"):
        return plain_list(values)
    kind = values.type.value_type if has_lists(values) else values.type
    if str(kind) in _TEXTS | _NUMBERS:
        import pyarrow

        return values if hasattr(values, "chunks") else pyarrow.chunked_array([values])
    entries = values.to_pylist()
    return _parse_json_texts(entries) if "arrow.json" in str(values.type) else entries


def _parse_json_texts(entry: Any) -> Any:
    """Parse a JSON text, or all JSON texts in a list, which may be nested. None stays None."""
    if isinstance(entry, list):
        return [_parse_json_texts(nested) for nested in entry]
    return None if entry is None else json.loads(entry)


def has_lists(column) -> bool:
    """Return whether the entries of an Arrow column are lists that Arrow flattens."""
    return str(column.type).startswith(("list<", "large_list<", "fixed_size_list<"))


def numbers_or_texts(column) -> tuple[Any, np.ndarray | None]:
    """Return the numbers of an Arrow column as an array, or its texts as a column, and a mask.

    The mask, (S,), is False for null, or it is None if no entry is null. A null among numbers
    becomes 0.
    """
    kind = str(column.type)
    valid = to_numpy(column.is_valid()) if column.null_count else None
    if kind in _TEXTS:
        return column.cast("large_string"), valid  # has no limit of 2 GB
    if valid is not None:
        # Some versions of Arrow cannot fill nulls of float16, and none those of the null type.
        column = column.cast({"halffloat": "float32", "null": "int8"}.get(kind, kind))
        column = column.fill_null(False if kind == "bool" else 0)
    return to_numpy(column), valid


def to_numpy(values) -> np.ndarray:
    """Return numbers or bools in an Arrow array or column, none of which is null, as an array."""
    if hasattr(values, "chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if str(values.type) != "bool" or not len(values):
        return values.to_numpy(zero_copy_only=False)
    # Arrow's own conversion of bools takes five times as long. It stores 8 of them in a byte, and
    # the buffer may have those of other arrays before `offset`.
    first, stop = values.offset, values.offset + len(values)
    data = np.frombuffer(values.buffers()[1], np.uint8)[first // 8 : -(-stop // 8)]
    bits = np.unpackbits(data, bitorder="little")
    return bits[first % 8 : first % 8 + len(values)].view(bool)


# --- shared/at_k/core/signatures.py ---------------------------------------------------------------

"""Signatures of functions that take shared parameters as **options."""


Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(names: type, dataclass: type | None = None) -> Callable[[Function], Function]:
    """Return a decorator that shows the **options of a function as keywords in its signature.

    The annotations of the class `names` are their names and types. Their defaults are those of the
    fields of `dataclass`, or of `names` itself if there is no `dataclass`.
    """
    defaults = {option.name: option.default for option in fields(dataclass or names)}

    def decorate(function: Function) -> Function:
        """Put options in place of ** in the signature and annotations; return the function."""
        signature = inspect.signature(function)
        *own, var_keyword = signature.parameters.values()
        del function.__annotations__[var_keyword.name]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name])
            for name in names.__annotations__
            if name not in signature.parameters
        ]
        function.__annotations__.update(get_type_hints(names))
        parameters = [x.replace(annotation=function.__annotations__[x.name]) for x in own + options]
        vars(function)["__signature__"] = signature.replace(parameters=parameters)
        return function

    return decorate


def check_options(
    function: Callable[..., Any], options: Iterable[str], data: Iterable[str] = ()
) -> None:
    """Raise a TypeError if an option is neither a parameter of the function nor in `data`.

    The first parameter does not count: it takes the data.
    """
    _, *parameters = inspect.signature(function).parameters
    known = [*data, *parameters]
    for name in options:
        if name not in known:
            problem = f"got an unexpected keyword argument {name!r}."
            raise TypeError(f"{problem}{did_you_mean(name, known)}")


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return a dict of the parameters of a function, with types as annotations, never texts."""
    types = get_type_hints(function)
    return {
        name: parameter.replace(annotation=types[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }


# --- shared/at_k/core/score.py --------------------------------------------------------------------

"""A score as a product of powers of means, and the scores of a run.

Most scores are one mean over questions; the geometric combinations are products of powers of two.
The distinct terms of all scores are the m columns of a table, which has one row for questions with
equal counts: U rows for M questions. (..) is the shape of the values of a column.
"""


ColumnPair = tuple[int, int]
"""The indices a <= b of two columns."""

ScoreKey = Any
"""The key of a score in a dict, usually its `ScoreId`. Scores and intervals do not look into it."""


class ScoreId(NamedTuple):
    """The identity of a score: its name with the values of k and tau.

    Attributes:
        metric: the name, such as "pass@k", "bayes@N" or "score_agg".
        k: the k, N or n of the name; "n" if the number of samples differs between questions; None
            if the name has none, or if a request is for all k.
        tau: the threshold, or None.
    """

    metric: str
    k: int | str | None = None
    tau: float | None = None

    @property
    def key(self) -> str:
        """Return the key of the score in the dict of `compute`, such as "G-Pass@4_0.5"."""
        name, k = self.metric, self.k
        if name.endswith(")"):  # "accuracy (n runs average)"
            name = name.replace("(n ", f"({k} ")
        elif k is not None:  # The name ends with k, N or n.
            name = f"{name[:-1]}{k}"
        return name if self.tau is None else f"{name}_{self.tau}"

    def __str__(self) -> str:
        return self.key


class Score(NamedTuple):
    """A product of powers of terms.

    Args:
        terms: what is averaged over questions: vectors of credits, or the indices of columns that
            take their place. The methods need indices.
        powers: the power of each term, above 0.
        pooled: whether terms are averaged over questions before they are multiplied, and not after.
    """

    terms: tuple[Any, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True

    def pairs(self) -> Iterator[ColumnPair]:
        """Yield the pairs of columns whose covariances the variance of the score depends on."""
        return ((a, b) for a in self.terms for b in self.terms if a <= b)

    def value(self, columns):
        """Return the score of m columns. `columns` has a number for each, or an array of one shape.

        In a product, a factor below 0 counts as 0: estimates that are corrected for the errors of a
        checker may be negative.
        """
        if self.powers == (1.0,):
            return columns[self.terms[0]]
        product = 1.0
        for column, power in zip(self.terms, self.powers, strict=True):
            factor = columns[column]
            is_array = isinstance(factor, np.ndarray)
            nonnegative = np.maximum(factor, 0.0) if is_array else max(factor, 0.0)
            product *= nonnegative**power
        return product

    def variance(self, columns, covariance):
        """Return the variance of the score, (..), to first order (delta method).

        `columns`, (m, ..), are values, and `covariance` has the covariance of each `ColumnPair`.
        """
        if self.powers == (1.0,):
            return covariance[self.terms[0], self.terms[0]]
        slopes = self._slopes(columns)
        return sum(
            slopes[a] * slopes[b] * covariance[min(a, b), max(a, b)] for a in slopes for b in slopes
        )

    def gradient(self, columns: np.ndarray) -> np.ndarray:
        """Return the partial derivatives of the score by each column, (m,), at (m,) values."""
        result = np.zeros(len(columns))
        for column, slope in self._slopes(columns).items():
            result[column] = slope
        return result

    def _slopes(self, columns) -> dict[int, Any]:
        """Return the partial derivative, (..), by the column of each term.

        They are 0 for a product that is 0, although the true derivatives may be infinite.
        """
        if self.powers == (1.0,):
            return {self.terms[0]: 1.0}
        product = self.value(columns)
        slopes: dict[int, Any] = {}
        for column, power in zip(self.terms, self.powers, strict=True):
            divisor = columns[column]  # A quotient by (almost) 0 would be infinite.
            divisor = np.where(np.greater(divisor, 1e-300), divisor, 1.0)
            slopes[column] = slopes.get(column, 0.0) + power * product / divisor
        return slopes


def number_terms(scores: Mapping[ScoreKey, Score]) -> tuple[list[Any], dict[ScoreKey, Score]]:
    """Return the distinct terms of all scores, and the scores with indices in place of terms."""
    distinct = dict.fromkeys(term for score in scores.values() for term in score.terms)
    number = {term: i for i, term in enumerate(distinct)}
    numbered = {
        key: score._replace(terms=tuple(number[term] for term in score.terms))
        for key, score in scores.items()
    }
    return list(distinct), numbered


def one_column_each(keys: Iterable[ScoreKey]) -> dict[ScoreKey, Score]:
    """Return a dict of scores of one column each: column 0 for the first key, 1 for the next, .."""
    return {key: Score((column,)) for column, key in enumerate(keys)}


def with_product_columns(
    scores: Mapping[ScoreKey, Score], columns: np.ndarray
) -> tuple[dict[ScoreKey, Score], np.ndarray]:
    """Return scores and columns, (U, m), with a new column for each score that is not pooled.

    The column has the products of single questions, so the score becomes a mean over questions.
    """
    result, extended = dict(scores), [*columns.T]
    for key, score in scores.items():
        if not score.pooled:
            result[key] = Score((len(extended),))  # the mean of the column that is added next
            extended.append(score.value(columns.T))
    return result, np.stack(extended, axis=1) if len(extended) > columns.shape[1] else columns


@dataclass(frozen=True)
class Scores:
    """Point estimates of scores for each question.

    `keys` has the scores by their keys, functions of the means of columns, `inverse`, (M,), the row
    of each question, and `columns`, (U, m), the estimates.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    columns: np.ndarray

    @classmethod
    def from_values(cls, values: Mapping[ScoreKey, np.ndarray]) -> Scores:
        """Return scores of M questions from a dict of their values, (M,) each."""
        columns = np.stack([*values.values()], axis=1)
        return cls(one_column_each(values), np.arange(len(columns)), columns)

    def only(self, keys: Iterable[ScoreKey]) -> Scores:
        """Return the scores with these keys, and the columns that they need."""
        used, scores = number_terms({key: self.keys[key] for key in keys})
        return Scores(scores, self.inverse, self.columns[:, used])

    def means(self, multiplicity: np.ndarray) -> dict[ScoreKey, float]:
        """Return each score averaged over questions, by its key.

        `multiplicity`, (U,), is the number of questions in each row, or the sum of their weights.
        """
        total, columns = multiplicity.sum().item(), np.ascontiguousarray(self.columns.T)
        # A matrix product would add in an order that depends on the number of columns, so that the
        # last digit of a score would depend on which other scores are computed.
        means = ((columns * multiplicity).sum(axis=1) / total).tolist()
        return {key: score.value(means) for key, score in self.keys.items()}

    def over(
        self, questions: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[ScoreKey, float]:
        """Return each score averaged over the questions with these indices, by its key.

        `weights`, (M,), has the weight of every question, or is None if these are equal.
        """
        rows, size = self.inverse[questions], len(self.columns)
        if weights is not None:
            return self.means(np.bincount(rows, weights[questions], minlength=size))
        if len(rows) >= size:
            return self.means(np.bincount(rows, minlength=size))
        used = UniqueIntegers(rows, size)  # For few questions, most rows are left out.
        return replace(self, columns=self.columns[used.values]).means(used.multiplicity)

    def per_question(self) -> dict[ScoreKey, list[float]]:
        """Return a dict from each key to the list of the scores of the M questions."""
        columns = self.columns.T
        return {
            key: score.value(columns)[self.inverse].tolist() for key, score in self.keys.items()
        }


def join_scores(a: Scores, b: Scores) -> Scores:
    """Return all scores of `a` and `b`, which are scores of the same questions."""
    if a.inverse is not b.inverse:
        # Their rows may differ, so each question gets its own row.
        a, b = (Scores(x.keys, np.arange(len(x.inverse)), x.columns[x.inverse]) for x in (a, b))
    offset = a.columns.shape[1]
    scores_b = {
        key: score._replace(terms=tuple(offset + column for column in score.terms))
        for key, score in b.keys.items()
    }
    return Scores({**a.keys, **scores_b}, a.inverse, np.hstack([a.columns, b.columns]))


@dataclass(frozen=True)
class Moments:
    """Posterior means of terms, (U, m), and the covariance, (U,), of each pair that a score needs.

    Questions are independent. `keys` and `inverse` are as in `Scores`.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    mean: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]


# --- shared/at_k/core/count_tables.py -------------------------------------------------------------

"""Counts in place of samples, which a database computes with one GROUP BY.

The counts of a question have one of three forms:

    {"n": 8, "correct": 3}                        numbers of samples and of correct samples
    {"counts": [2, 5, 1]}                         number of samples in each category 0, 1, ..
    {"answers": ["12", "13"], "counts": [5, 3]}   number of samples with each answer

The counts of M questions are a list of M such dicts, or a dict with these keys as columns of M
entries. The package also takes a data frame with these columns.
"""


FORMS_OF_COUNTS = ({"n", "correct"}, {"counts"}, {"answers", "counts"})


def is_counts(values: Any) -> bool:
    """Return whether the keys of the values, or of the first one in a list, are those of counts."""
    first = values[0] if isinstance(values, list) and values else values
    return isinstance(first, Mapping) and {*first} in FORMS_OF_COUNTS


def read_counts(values: Any, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return what is counted, the S counts of all questions, and how many each question has, (M,).

    What is counted are categories, (S,), or M lists of answers. A ValueError is raised if a count
    is no whole number, or if a question has not one count for each category or answer.
    """
    columns = _columns_of_counts(values, name)
    if "n" in columns:  # The categories are 0, with n - correct samples, and 1.
        n, correct = (_whole_numbers(columns[key], name, key) for key in ("n", "correct"))
        if (correct > n).any():
            question = int(np.argmax(correct > n))
            raise InputError(
                Place(name, question, key="correct"),
                f" is {correct[question]} of {n[question]} samples: give a number from 0 to n.",
            )
        counts = np.stack([n - correct, correct], axis=1)
        return np.tile([0, 1], len(n)), counts.ravel(), np.full(len(n), 2)
    rows, answers = columns["counts"], columns.get("answers")
    _check_rows(rows, answers, name)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    counts = _whole_numbers([*itertools.chain.from_iterable(rows)], name, "counts", sizes)
    if answers is None:
        answers = np.tile(np.arange(sizes.max(initial=0)), len(sizes))
    return answers, counts, sizes


def _check_rows(rows: Any, answers: Any, name: str) -> None:
    """Raise a ValueError if a row of counts has not one for each category, or for each answer."""
    for question, row in enumerate(rows):
        place = Place(name, question, key="counts")
        if not is_list_like(row):
            raise InputError(place, f" is {short(row)}: give a list of counts.")
        if answers is None and len(row) != len(rows[0]):
            first = Place("question", 0), f" has {len(rows[0])}: give a count for each category."
            raise InputError(place, f" has {len(row)} categories, and that of ", *first)
        own = row if answers is None else answers[question]
        if not is_list_like(own) or len(own) != len(row):
            what = f" is {short(own)}, with {len(row)} counts: give one count for each answer."
            raise InputError(place._replace(key="answers"), what)


def _columns_of_counts(values: Any, name: str) -> dict[str, Any]:
    """Return a dict from each key of counts, such as "n", to a sequence of M entries.

    `values` is a list of M dicts with the same keys, or a dict of columns.
    """
    if isinstance(values, list):
        for question, row in enumerate(values):
            if not isinstance(row, Mapping) or {*row} != {*values[0]}:
                wanted = f"give {' and '.join(values[0])} for each question, as for the first"
                raise InputError(Place(name, question), f" is {short(row)}: {wanted}.")
        return {key: [row[key] for row in values] for key in values[0]}
    columns = {key: _entries_of_column(f"{name}[{key!r}]", values[key]) for key in values}
    if len({*map(len, columns.values())}) > 1:
        lengths = " and ".join(f"{len(column)} {key}" for key, column in columns.items())
        raise ValueError(f"{name} has {lengths}: give one of each for every question.")
    return columns


def _entries_of_column(name: str, column: Any) -> Any:
    """Return the M entries of a column, or the rows of a data frame of counts by category."""
    column = as_arrow(column)
    return PACKAGE.rooms.frame_rows(column) if is_frame(column) else entries_of(name, column)


def _whole_numbers(
    entries: Any, name: str, key: str, sizes: np.ndarray | None = None
) -> np.ndarray:
    """Return the counts in a column as integers; raise a ValueError for the first invalid one.

    `sizes`, (M,), is the number of counts of each question, or None for one each.
    """
    counts = [plain_entry(entry) for entry in entries]
    for index, count in enumerate(counts):
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if is_number and 0 <= count < 2**53 and count % 1 == 0:  # Larger floats have gaps.
            continue
        question = index
        if sizes is not None:
            question = int(np.searchsorted(np.cumsum(sizes), index, side="right"))
        what = f" has the count {short(entries[index])}: give a whole number of at least 0."
        raise InputError(Place(name, question, key=key), what)
    return np.array(counts, dtype=np.int64)


# --- shared/at_k/core/interval.py -----------------------------------------------------------------

"""The type of intervals, and the base classes of the methods that compute them."""


UNIT_RANGE = (0.0, 1.0)  # the range of a score that is a probability or a share


class Interval(NamedTuple):
    """The center, standard deviation, limits and method of an interval; None where not known."""

    mu: Any = None
    sigma: Any = None
    lo: Any = None
    hi: Any = None
    interval: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Return whether `interval` is "none: " and a reason, because the data show no interval."""
        return self.interval is not None and self.interval.startswith("none")


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of groups of its questions."""

    @abc.abstractmethod
    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices, by its key.

        A score that has no interval by this method is absent from the dict.
        """

    def problem(self, questions: np.ndarray) -> str | None:
        """Return the reason why these questions have no interval, or None if they have one."""
        return None

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """Return the keys of scores that these questions do not determine, not even an estimate."""
        return ()

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the (m, m) covariance of the errors of the m scores in `keys` for these questions.

        A band over k depends on correlations only. An unknown correlation is 0, which makes the
        band widest. This default is for methods that know none, and has variances of 1.
        """
        return np.eye(len(keys))


class DerivedIntervals(IntervalMethod):
    """Base class of methods that change the intervals of another method, and nothing else."""

    def __init__(self, method: IntervalMethod):
        self._method = method

    def problem(self, questions: np.ndarray) -> str | None:
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        return self._method.covariance(questions, keys)


def normal_z(confidence: float) -> float:
    """Return the z-value of a two-sided normal interval with this confidence."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


# --- shared/at_k/core/samples.py ------------------------------------------------------------------

"""Reading of input: outcomes and answers in any container become `Samples`.

`read_samples` turns numbers, which are outcomes, into a NumPy array, texts into an Arrow column,
and samples of other or mixed types into a list of Python objects. Then `columns.stored` prepares
them for a checker, or `as_outcomes` replaces labels by numbers. There are M questions and S values.
"""


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


# --- shared/at_k/core/estimates.py ----------------------------------------------------------------

"""Estimates of scores, and the flat dict of `compute`.

Only `as_dict` makes keys such as "topic/G-Pass@4_0.5_lo". Code that shows results uses the fields
of an `Estimate` (see `at_k.results`).
"""


class Estimate(NamedTuple):
    """The score of all questions of a run or of a group, and its uncertainty.

    Attributes:
        metric, k, tau: the identity of the score, as in `ScoreId`.
        group: the label of the group, or None for all questions.
        score: the point estimate.
        interval: its interval, or None. Fields that were not requested are None; without an
            interval of this score, all are None but `interval`, which is then the reason.
        band: the lower and the upper limit of the simultaneous band over k, or None.
    """

    metric: str
    k: int | str | None
    tau: float | None
    group: str | None
    score: float
    interval: Interval | None = None
    band: tuple[float, float] | None = None

    @property
    def key(self) -> str:
        """Return the key of the score without the group, such as "G-Pass@4_0.5"."""
        return ScoreId(self.metric, self.k, self.tau).key

    @property
    def full_key(self) -> str:
        """Return the key of the score in the dict of `compute`, such as "topic/G-Pass@4_0.5"."""
        return self.key if self.group is None else f"{self.group}/{self.key}"

    @property
    def limits(self) -> tuple[float, float] | None:
        """Return (lower, upper), or None if they were not requested or the data show no limits."""
        if self.interval is None or self.interval.lo is None or self.interval.is_unknown:
            return None
        return self.interval.lo, self.interval.hi


# --- Estimates to keys --------------------------------------------------------------------


def as_dict(
    estimates: Sequence[Estimate], safe: bool = False, others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the flat dict of `compute`, with each estimate in order, and `others` at the end.

    If `safe`, the keys are names that every logger takes, and the values numbers only. Two groups
    with the same safe name raise a ValueError.
    """
    groups = [*dict.fromkeys(x.group for x in estimates if x.group is not None)]
    prefixes: dict[str | None, str] = {group: f"{group}/" for group in groups}
    if safe:
        prefixes = safe_prefixes(groups)
    result: dict[str, Any] = {}
    for estimate in estimates:
        score_id = ScoreId(*estimate[:3])
        name = safe_name(score_id) if safe else score_id.key
        name = prefixes.get(estimate.group, "") + name
        result[name] = estimate.score
        if estimate.interval is None and estimate.band is None:
            continue
        for field, value in _requested_fields(estimate).items():
            if not (safe and field == "interval"):
                result[f"{name}_{field}"] = value
    return result | dict(others or {})


def _requested_fields(estimate: Estimate) -> dict[str, Any]:
    """Return the fields of the interval and the band of an estimate that are not None."""
    fields = {} if estimate.interval is None else estimate.interval._asdict()
    if estimate.band is not None:
        fields["band_lo"], fields["band_hi"] = estimate.band
    return {field: value for field, value in fields.items() if value is not None}


def safe_name(score: ScoreId) -> str:
    """Return a name of letters, digits and underscores for a score.

    >>> [safe_name(ScoreId(*x)) for x in [("pass^k", 2), ("G-Pass@k", 4, 0.5), ("mG-Pass@k", 4)]]
    ['pass_hat_2', 'g_pass_at_4_tau_0_5', 'mg_pass_at_4']
    """
    name = score._replace(tau=None).key.replace("@", "_at_").replace("^", "_hat_")
    return _with_underscores(name if score.tau is None else f"{name}_tau_{score.tau}").lower()


def safe_prefixes(labels: Sequence[str]) -> dict[str | None, str]:
    """Return a dict from the label of each group to the prefix of its names with keys="safe".

    Raises a ValueError if two labels have the same safe name.
    """
    names = [_with_underscores(label) for label in labels]
    names = [name if name[:1].isalpha() else f"group_{name}" for name in names]
    label_of: dict[str, str] = {}
    for name, label in zip(names, labels, strict=True):
        if label_of.setdefault(name, label) != label:
            raise ValueError(
                f"groups has the labels {label_of[name]!r} and {label!r}, which have the same safe "
                f"name {name!r}: rename one, or use keys='exact'."
            )
    return {label: f"{name}__" for label, name in zip(labels, names, strict=True)}


def _with_underscores(text: str) -> str:
    """Replace each run of characters other than a-z, A-Z, 0-9 by "_"; remove "_" at both ends."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


# --- Keys to scores -----------------------------------------------------------------------

_SCORE_KEY = re.compile(
    r"(.*[@^])(\d+|n)(?:_(\d+(?:\.\d+)?(?:e-\d+)?))?|(accuracy \()(\d+|n)( runs average\))"
)


def read_score(key: str) -> ScoreId:
    """Return the `ScoreId` of a key without a group. Text of another form is itself the metric.

    >>> read_score("G-Pass@4_0.5"), read_score("avg@n").metric, read_score("score_agg").k
    (ScoreId(metric='G-Pass@k', k=4, tau=0.5), 'avg@N', None)
    """
    match = _SCORE_KEY.fullmatch(key)
    if match is None:
        return ScoreId(key)
    name, k, tau, before, n, after = match.groups()
    if before:
        return ScoreId(f"{before}n{after}", n if n == "n" else int(n))
    letter = "N" if name in ("avg@", "bayes@") else "k"
    return ScoreId(
        f"{name}{letter}", k if k == "n" else int(k), None if tau is None else float(tau)
    )


# --- shared/at_k/core/posterior.py ----------------------------------------------------------------

"""The posterior interval mu -+ z sigma, clipped to bounds (Hariri et al. 2026, arXiv:2510.04265).

Questions are independent in the posterior, so the variance of their mean follows from the variance
of each. The mean is approximately normal.
"""


class PosteriorIntervals(IntervalMethod):
    """Intervals mu -+ z sigma from posterior moments, with limits clipped to `bounds`, (lo, hi).

    `name` is that of the method in results, or None, and `weights` those of the M questions.
    """

    def __init__(
        self,
        moments: Moments,
        bounds: tuple[float, float],
        name: str | None = "posterior",
        weights: np.ndarray | None = None,
    ):
        self._moments, self._bounds, self._name, self._weights = moments, bounds, name, weights

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the variances of m scores over these questions as a diagonal matrix, (m, m)."""
        # The covariances of different scores are unknown.
        intervals = self.intervals(questions, 0.5)
        return np.diag([intervals[key].sigma ** 2 for key in keys])

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices."""
        moments = self._moments
        # The rows of the moments that belong to the questions, and for each of them the sums of its
        # questions' weights and of their squares. Questions with equal counts share a row.
        used = UniqueIntegers(moments.inverse[questions], len(moments.mean))
        sums = squares = used.multiplicity
        if self._weights is not None:
            weights = self._weights[questions]
            sums = np.bincount(used.inverse, weights)
            squares = np.bincount(used.inverse, weights**2)
        total, mean = sums.sum(), moments.mean[used.values]
        covariance = {pair: values[used.values] for pair, values in moments.covariance.items()}
        means = sums @ mean / total
        pooled = {pair: squares @ values / total**2 for pair, values in covariance.items()}
        result = {}
        for key, score in moments.keys.items():
            if score.pooled:
                mu, variance = score.value(means), score.variance(means, pooled)
            else:
                mu = sums @ score.value(mean.T) / total
                variance = squares @ score.variance(mean.T, covariance) / total**2
            sigma = float(np.sqrt(variance))
            lo, hi = normal_limits(float(mu), sigma, confidence, self._bounds)
            result[key] = Interval(float(mu), sigma, float(lo), float(hi), self._name)
        return result


def normal_limits(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """Return (lo, hi) = mu -+ z sigma, clipped to `bounds`: numbers or arrays, as mu and sigma."""
    margin, (least, most) = normal_z(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - margin, least), np.minimum(mu + margin, most)
    return np.minimum(lo, most), np.maximum(hi, least)


# --- shared/at_k/core/questions.py ----------------------------------------------------------------

"""Intervals for other questions like these, in closed form.

The mean u of M scores in [0, 1] has the estimated variance v. A proportion of N independent trials
has the same variance for N = u (1 - u) / v, the effective number of trials. Its interval is
Wilson's (1927), with the quantile z of Student's t in place of the normal one:

    (u + z^2 / 2N -+ z sqrt(u (1 - u) / N + z^2 / 4N^2)) / (1 + z^2 / N).

Scores in another range are scaled to [0, 1], so limits stay inside of their range.

*Clusters.* Questions of one cluster, such as those about one text, are correlated. Leave out each
of G clusters in turn: with D_g the sum over cluster g of its n_g deviations from u,

    v = (G - 1) / G x the sum over g of (D_g / (M - n_g))^2,

the jackknife (MacKinnon, Nielsen & Webb 2023, J. Econometrics 232, 272). z has G* - 1 degrees of
freedom, at least 1, for the effective number of clusters G* = M^2 / sum of n_g^2 (Kish 1965).
The jackknife hardly shows that small clusters differ. So v is at least the variance of a model in
which clusters of all sizes vary alike, b / G* + w / M, with the variances b between and w within
clusters of an analysis of variance, times (t / z)^2 for the quantile t with G - 1 degrees.

*Weights.* u is a weighted mean, D_g a sum of weighted deviations, and n_g and M are sums of
weights. Without clusters, (sum w)^2 / sum w^2 takes the place of G and M. A mean over groups gives
a question of a group of size n the weight 1 / n.

*What M questions cannot show.* Their effective number M* is M divided by the factor by which
clusters increase the variance, but at least G*.

- An eighth of an event, 1 / (8 M*), is added to the variance of one question, M* v, and to its
  largest value, u (1 - u), because M* observations cannot show rarer events.
- M questions miss a kind of questions that is a share 1 - r of all with the probability r^M, which
  is alpha / 2 for r = (alpha / 2)^(1 / M). So the lower limit is at most u r, and the upper limit
  at least 1 - (1 - u) r. With clusters, G takes the place of M.
- Near a limit of the range, the score is a sum of rare events of the size v / u. Below four events,
  the interval extends at least to Garwood's exact limit for a Poisson number of them (1936,
  Biometrika 28, 437; Brown, Cai & DasGupta 2001, Statistical Science 16, 101).

There are m columns of scores with U distinct rows, and alpha is 1 - confidence. Clusters, weights
and multiplicities are None for clusters of one question and equal weights.
"""


ONE_CLUSTER = "there is one question, or one cluster of questions"

FEW_EVENTS = 4 - 1e-9  # For fewer than four events the normal approximation is too poor.

Ranges = tuple[np.ndarray | float, np.ndarray | float]
"""The smallest and the largest possible values of scores, as two arrays or numbers."""


class MeansOfQuestions(NamedTuple):
    """The means of m columns over M questions, and their uncertainty for other questions.

    Attributes:
        mean: (m,) means.
        covariance: (m, m) covariance of the errors of the means.
        effective_questions: (m,) M* of each column. The module docstring defines M* and G*.
        clusters: number of clusters, G; or of questions, if each is its own cluster.
        effective_clusters: G*.
        homogeneous_variance: (m,) variances b / G* + w / M of the means, or 0 if sizes are equal.
    """

    mean: np.ndarray
    covariance: np.ndarray
    effective_questions: np.ndarray
    clusters: float
    effective_clusters: float
    homogeneous_variance: np.ndarray | float = 0.0

    def limits(
        self, confidence: float, score_range: Ranges, range_of_estimates: Ranges | None = None
    ) -> np.ndarray:
        """Return the lower and the upper limits of the means, (2, m).

        Estimates of a question may lie outside of the range of scores. `range_of_estimates` is
        `score_range` by default.
        """
        alpha, z = 1 - confidence, self._z(confidence)
        least, most = range_of_estimates or score_range
        width = np.subtract(most, least)
        scale = np.where(width > 0, width, 1.0)
        # The means and variances of scores that are scaled to the range from 0 to 1.
        u = np.clip((self.mean - least) / scale, 0.0, 1.0)
        v = self.variance_for_limits(confidence) / scale**2
        lo, hi = wilson_limits(u, v, self.effective_questions, z)
        lo = np.minimum(lo, _lower_limit_of_few_events(u, v, alpha))
        hi = np.maximum(hi, 1 - _lower_limit_of_few_events(1 - u, v, alpha))
        lo, hi = least + width * lo, least + width * hi
        # A share 1 - r of all questions may be of a kind that is not among these.
        r = 1 - unseen_share(self.clusters, alpha)
        lo = np.minimum(lo, score_range[0] + (self.mean - score_range[0]) * r)
        hi = np.maximum(hi, score_range[1] - (score_range[1] - self.mean) * r)
        limits = np.clip([np.minimum(lo, self.mean), np.maximum(hi, self.mean)], *score_range)
        # A mean may be outside of the range by its rounding error.
        return np.where(np.abs(limits - self.mean) < 1e-14 * scale, self.mean, limits)

    def variance_for_limits(self, confidence: float) -> np.ndarray:
        """Return the variances of the means, at least those of clusters that vary alike, (m,)."""
        t = student_quantile(degrees_of_freedom(self.clusters), 1 - confidence)
        least = self.homogeneous_variance * (t / self._z(confidence)) ** 2
        return np.maximum(np.diag(self.covariance), least)

    def _z(self, confidence: float) -> float:
        """Return the quantile of Student's t for the effective number of clusters."""
        return student_quantile(degrees_of_freedom(self.effective_clusters), 1 - confidence)


def means_of_questions(
    columns: np.ndarray,
    multiplicity: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> MeansOfQuestions:
    """Return the means of columns over two questions or more, or over two clusters or more.

    `columns`, (U, m), has a row for each question if there are `clusters`, (U,), or `weights`,
    (U,). Otherwise `multiplicity`, (U,), is the number of questions with each row.
    """
    if clusters is None and weights is None:
        multiplicity = np.ones(len(columns)) if multiplicity is None else multiplicity
        total = float(multiplicity.sum())
        mean = multiplicity @ columns / total
        deviations = _deviations(columns, multiplicity)
        squares = (deviations * multiplicity[:, None]).T @ deviations
        covariance = squares / (total * (total - 1))
        return MeansOfQuestions(mean, covariance, np.full(len(mean), total), total, total)
    mean, errors = np.average(columns, 0, weights), cluster_errors(columns, clusters, weights)
    covariance = errors.T @ errors
    questions = effective_clusters(None, len(columns), weights)  # with each its own cluster
    effective = effective_clusters(clusters, len(columns), weights)
    # The factor by which clusters increase the variance of each mean. Scores that do not vary do
    # not show it, so it is then the number of questions, which makes M* as small as G*.
    factor = np.full(len(mean), questions)
    variance_without = np.sum(cluster_errors(columns, clusters=None, weights=weights) ** 2, axis=0)
    np.divide(np.diag(covariance), variance_without, out=factor, where=variance_without > 0)
    effective_questions = np.clip(questions / np.maximum(factor, 1.0), effective, questions)
    homogeneous = _homogeneous_variance(columns, clusters, weights)
    return MeansOfQuestions(
        mean, covariance, effective_questions, len(errors), effective, homogeneous
    )


def _deviations(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the columns minus their weighted means, (U, m), which are exactly 0 if constant."""
    # Deviations from the first row have no rounding error where they are 0. Otherwise a column that
    # does not vary would have a tiny variance, and correlations with others.
    from_first = columns - columns[0]
    return from_first - np.average(from_first, 0, weights)


def _cluster_sizes(
    clusters: np.ndarray | None, questions: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the index of each question's cluster, (M,), the weights, (M,), and the sizes, (G,).

    The size of a cluster is the sum of the weights of its questions.
    """
    weights = np.ones(questions) if weights is None else weights
    if clusters is None:
        return np.arange(questions), weights, weights
    index = UniqueIntegers(clusters, int(clusters.max())).inverse
    return index, weights, np.bincount(index, weights)


def _sums_by_cluster(index: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the sums of (M, m) columns over the questions of each cluster, (G, m)."""
    return np.array([np.bincount(index, column) for column in columns.T]).T


def _homogeneous_variance(
    columns: np.ndarray, clusters: np.ndarray | None, weights: np.ndarray | None
) -> np.ndarray:
    """Return the variance of the mean of each column if clusters of all sizes vary alike, (m,).

    It is b / G* + w / M of the module docstring, for the variances b between and w within them.
    """
    index, weights, sizes = _cluster_sizes(clusters, len(columns), weights)
    share, share_of_cluster = weights / weights.sum(), sizes / weights.sum()
    divisor = np.where(share_of_cluster > 0, share_of_cluster, 1.0)
    centers = _sums_by_cluster(index, share[:, None] * columns) / divisor[:, None]
    within = share @ (columns - centers[index]) ** 2
    between = share_of_cluster @ (centers - share @ columns) ** 2
    # The expected values of these sums are (1 - a) w and (1 - c) b + (a - d) w.
    a, d = share**2 @ (1 / divisor[index]), share @ share
    c = share_of_cluster @ share_of_cluster
    w = within / (1 - a) if a < 1 - 1e-9 else np.zeros_like(within)
    b = (between - (a - d) * w) / max(1 - c, 1e-9)
    return c * b + d * w


def cluster_errors(
    columns: np.ndarray, clusters: np.ndarray | None, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return how much the means of m columns fall if one of G clusters is left out, (G, m).

    It is scaled by sqrt((G - 1) / G), so that the sum of squares is the jackknife variance.
    """
    index, weights, sizes = _cluster_sizes(clusters, len(columns), weights)
    deviations = _deviations(columns, weights) * weights[:, None]
    if clusters is not None:
        rounding = 1e-14 * np.abs(deviations).sum(axis=0)
        deviations = _sums_by_cluster(index, deviations)
        deviations[np.abs(deviations) < rounding] = 0.0  # These would be 0 in exact arithmetic.
    n_clusters, weight_of_others = np.count_nonzero(sizes), sizes.sum() - sizes
    # A cluster with all of the weight has the deviation 0.
    divisor = np.where(weight_of_others > 0, weight_of_others, 1.0)
    return np.sqrt((n_clusters - 1) / n_clusters) * deviations / divisor[:, None]


def effective_clusters(
    clusters: np.ndarray | None, questions: int, weights: np.ndarray | None = None
) -> float:
    """Return G* of M `questions`: (sum of the sizes of clusters)^2 / (sum of their squares)."""
    _, _, sizes = _cluster_sizes(clusters, questions, weights)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


def degrees_of_freedom(clusters: float) -> float:
    """Return G* - 1, but at least 1: the degrees of freedom of a variance over G* `clusters`."""
    return max(1.0, clusters - 1)


def student_quantile(freedom: float, alpha: float) -> float:
    """Return the quantile 1 - alpha / 2 of Student's t with `freedom` degrees of freedom."""
    from scipy.special import stdtrit  # imported here, because it takes longer than all of at_k

    # It is computed from the lower tail, because 1 - alpha / 2 may round to 1.
    return -float(stdtrit(freedom, alpha / 2))


def unseen_share(clusters: float, alpha: float) -> float:
    """Return the share 1 - r of all questions that G clusters miss with probability alpha / 2."""
    return -math.expm1(math.log(alpha / 2) / clusters)


def wilson_limits(u, v, number, z: float):
    """Return Wilson's lower and upper limits of means u, from 0 to 1, with variances v.

    `number` is the effective number of questions of each mean, and z a quantile of the normal or of
    Student's distribution. All may be numbers or arrays.
    """
    u, event = np.clip(u, 0.0, 1.0), 1 / 8 / number
    # The variance of one question, as a share of the largest that the mean allows.
    share = (number * v + event) / (u * (1 - u) + event)
    trials = number / np.maximum(share, 1e-6)  # the effective number of trials
    center = (u + z**2 / 2 / trials) / (1 + z**2 / trials)
    margin = z / (1 + z**2 / trials) * np.sqrt(u * (1 - u) / trials + z**2 / 4 / trials**2)
    lo, hi = np.minimum(center - margin, u), np.maximum(center + margin, u)
    return np.maximum(lo, 0.0), np.minimum(hi, 1.0)


def _lower_limit_of_few_events(u: np.ndarray, v: np.ndarray, alpha: float) -> np.ndarray:
    """Return Garwood's lower limits of means u with variances v, (m,), or 1 for no limit.

    A mean near 0 is that of rare events of the size v / u. With many of them, it has no such limit.
    """
    from scipy.special import gammaincinv

    size = v / np.where(u > 0, u, 1.0)  # the size of one event
    events = u / np.where(size > 0, size, np.inf)
    are_few = (events > 0) & (events < FEW_EVENTS)
    return np.where(are_few, size * gammaincinv(np.clip(events, 1e-9, FEW_EVENTS), alpha), 1.0)


def limits_of_product(
    score: Score,
    lower: np.ndarray,
    estimate: np.ndarray,
    upper: np.ndarray,
    covariance: Mapping[ColumnPair, np.ndarray] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper limits of a score, (..), from the limits of its columns.

    A product of powers is far from linear where a factor is near 0. So its limits are combined from
    those of its factors, as for a difference by Zou & Donner (2008, Statistics in Medicine 27,
    1693): for the lower limit, each factor alone moves from its estimate to its lower limit, and
    the changes of the product are added as correlated errors are. For the upper limit, all factors
    are at their upper limits, and each alone moves back to its estimate. The limits are never
    beyond the products of all lower and of all upper limits.

    `lower`, `estimate` and `upper`, (m, ..), are those of the columns, and `covariance` has the
    covariance of each pair of columns, (..).
    """

    def correlation(a: int, b: int) -> np.ndarray | float:
        """Return the correlation of two columns, at least 0: both rise with correct samples."""
        if a == b:
            return 1.0
        sd_product = np.sqrt(np.maximum(covariance[a, a] * covariance[b, b], 0.0))
        return np.clip(covariance[a, b] / np.where(sd_product > 0, sd_product, 1.0), 0.0, 1.0)

    def root_sum_of_moves(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the change of the score if columns move from `high` to `low`."""
        moves = {}
        for column in score.terms:
            moved = high.copy()
            moved[column] = low[column]
            moves[column] = score.value(high) - score.value(moved)
        pairs = ((min(a, b), max(a, b)) for a in moves for b in moves)
        return np.sqrt(sum(correlation(a, b) * moves[a] * moves[b] for a, b in pairs))

    center = score.value(estimate)
    return (
        np.maximum(center - root_sum_of_moves(lower, estimate), score.value(lower)),
        np.minimum(center + root_sum_of_moves(estimate, upper), score.value(upper)),
    )


class QuestionIntervals(IntervalMethod):
    """Intervals of scores for other questions like these, as the module docstring describes.

    `ranges` are the smallest and the largest possible true scores, which broadcast to (U, m), and
    `ranges_of_estimates` those of estimates, if they differ. `clusters` and `weights` are (M,). If
    `allow_one`, one question or cluster has the whole range as its interval. Otherwise `problem`
    says why it has none.
    """

    def __init__(
        self,
        scores: Scores,
        ranges: Ranges = UNIT_RANGE,
        clusters: np.ndarray | None = None,
        allow_one: bool = False,
        ranges_of_estimates: Ranges | None = None,
        weights: np.ndarray | None = None,
    ):
        self._scores, self._clusters, self._allow_one = scores, clusters, allow_one
        self._weights = weights
        self._ranges, self._ranges_of_estimates = ranges, ranges_of_estimates

    def problem(self, questions: np.ndarray) -> str | None:
        """Return why questions with these indices have no interval, or None if they have one."""
        if self._allow_one or not self._is_one_cluster(questions):  # One has the whole range.
            return None
        return (
            "one question, or one cluster of questions, does not show how questions vary: add "
            "questions, or choose limits for the same questions, sampled again (interval "
            "'sampling')"
        )

    def _is_one_cluster(self, questions: np.ndarray) -> bool:
        """Return whether the questions with these indices are one question or one cluster."""
        labels = questions if self._clusters is None else self._clusters[questions]
        return bool((labels == labels[0]).all())

    def means(self, questions: np.ndarray) -> MeansOfQuestions:
        """Return the means of the columns over the questions with these indices."""
        rows, columns = self._scores.inverse[questions], self._scores.columns
        if self._clusters is None and self._weights is None:
            used = UniqueIntegers(rows, len(columns))
            return means_of_questions(columns[used.values], used.multiplicity)
        clusters = None if self._clusters is None else self._clusters[questions]
        weights = None if self._weights is None else self._weights[questions]
        return means_of_questions(columns[rows], None, clusters, weights)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the covariance of the errors of the scores with these keys, (keys, keys).

        A key that is not in `scores` has the variance 1 and no covariance.
        """
        result, scores = np.eye(len(keys)), self._scores.keys
        known = [i for i, key in enumerate(keys) if key in scores]
        means = self.means(questions)
        gradient = np.stack([scores[keys[i]].gradient(means.mean) for i in known], axis=1)
        result[np.ix_(known, known)] = gradient.T @ means.covariance @ gradient
        return result

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices."""
        if self._is_one_cluster(questions):
            return self._whole_ranges(questions)
        means, of_estimates = self.means(questions), self._ranges_of_estimates
        limits_of_estimates = of_estimates and self._extremes(of_estimates, questions)
        ranges = self._extremes(self._ranges, questions)
        lo, hi = means.limits(confidence, ranges, limits_of_estimates)
        sigma = np.sqrt(np.maximum(np.diag(means.covariance), 0.0))
        columns = np.transpose([means.mean, sigma, lo, hi]).tolist()
        result = {}
        for key, score in self._scores.keys.items():
            if score.powers == (1.0,):  # The score is one column, as most are.
                mean, sd, lower, upper = columns[score.terms[0]]
            else:
                product_limits = limits_of_product(score, lo, means.mean, hi, means.covariance)
                lower, upper = map(float, product_limits)
                mean = float(score.value(means.mean))
                sd = math.sqrt(max(0.0, score.variance(means.mean, means.covariance)))
            result[key] = Interval(mean, sd, lower, upper, "questions")
        return result

    def _whole_ranges(self, questions: np.ndarray) -> dict[ScoreKey, Interval]:
        """Return the whole range of each score over questions that show no variation."""
        columns = self._scores.columns[self._scores.inverse[questions]]
        # With weights, np.average takes a table without columns: all scores may be extrapolated.
        weights = np.ones(len(columns)) if self._weights is None else self._weights[questions]
        values = (np.average(columns, 0, weights), *self._extremes(self._ranges, questions))
        result = {}
        for key, score in self._scores.keys.items():
            mu, lo, hi = (float(score.value(x)) for x in values)
            result[key] = Interval(mu, (hi - lo) / 2, lo, hi, f"none: {ONE_CLUSTER}")
        return result

    def _extremes(self, ranges: Ranges, questions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest value of each column over questions, (m,) both."""
        shape, rows = self._scores.columns.shape, self._scores.inverse[questions]
        least, most = (np.broadcast_to(values, shape)[rows] for values in ranges)
        return least.min(axis=0), most.max(axis=0)


# --- shared/at_k/core/columns.py ------------------------------------------------------------------

"""Arrow columns of the samples and references that are to be checked, and batches of questions.

Texts are large strings. All other values, and texts that UTF-8 cannot hold, are JSON, which keeps
their types. A float16 or float32 becomes the double that prints the same: np.float32(0.1) is 0.1.
"""


TEXTS = pa.large_string()
"""The Arrow type of texts."""

JSON = pa.large_binary()
"""The Arrow type of all other values: each is stored as its JSON, encoded as UTF-8."""


def stored(samples: Samples, references: Any = None) -> Samples:
    """Return the samples with values in an Arrow column, null if not scored, and with references.

    A ValueError is raised if samples have different types, if there is not one reference for each
    question, or if JSON cannot hold a value.
    """
    check_types(samples)
    scored = samples.is_scored if samples.are_numbers and samples.multiplicity is not None else None
    values = _column(samples.values, scored, partial(sample_place, samples.name, samples.sizes))
    column = None if references is None else _reference_column(references, len(samples))
    return replace(samples, values=values, references=column)


def check_types(samples: Samples) -> None:
    """Raise a ValueError if samples differ in type. Bools are numbers; lists are not checked."""
    if not isinstance(samples.values, list):
        return

    def kind(value: Any) -> type:
        return float if isinstance(value, (bool, int)) else type(value)

    scored = ((i, x) for i, x in enumerate(samples.values) if x is not None)
    first, wanted = next(scored, (0, []))
    if isinstance(wanted, (dict, list, tuple)):
        return
    for sample, value in scored:
        if kind(value) is not kind(wanted):
            raise InputError(
                sample_place(samples.name, samples.sizes, sample),
                f" is {short(value)}, but ",
                sample_place(samples.name, samples.sizes, first),
                f" is {short(wanted)}: samples are all of one type.",
            )


def _reference_column(references: Any, questions: int) -> pa.ChunkedArray:
    """Return the references of so many questions as a column of texts or JSON."""
    entries, valid = plain_container(references), None
    if hasattr(entries, "chunks") and not has_lists(entries):
        entries, valid = numbers_or_texts(entries)
    elif is_frame(entries) or not (isinstance(entries, list) or getattr(entries, "ndim", 0) == 1):
        entries = entries_of("references", entries)
    if len(entries) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(entries)} references: "
            f"give one reference for each question."
        )
    return _column(entries, valid, partial(Place, "references"))


def _column(
    values: Any, valid: np.ndarray | None, place: Callable[[int], Place]
) -> pa.ChunkedArray:
    """Return a list, an array of numbers or a column of texts as a column of texts or JSON.

    `valid`, (S,), is False for numbers that become null. `place` is for errors, as in `to_json`.
    """
    if isinstance(values, list):
        texts = column_of_texts([values])
        return pa.chunked_array([to_json(values, place)]) if texts is None else texts
    if not isinstance(values, np.ndarray):
        return values
    # Printing is slow, so each distinct number is printed once.
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    encoded = pa.array(native, mask=None if valid is None else ~valid).dictionary_encode()
    distinct = encoded.dictionary.to_numpy(zero_copy_only=False)
    if distinct.dtype in (np.float16, np.float32):
        distinct = np.array([plain_number("A number", number) for number in distinct])
    texts = json.dumps(distinct.tolist())[1:-1].split(", ") if len(distinct) else []
    return pa.chunked_array([pa.array(texts, TEXTS).cast(JSON).take(encoded.indices)])


def to_json(values: Sequence[Any], place: Callable[[int], Place]) -> pa.Array:
    """Return values as a `JSON` array, null for None. `place` returns the place of an index."""
    texts, encode = [], json.JSONEncoder(default=_json_default).encode
    for index, value in enumerate(values):
        try:
            _check_keys(value)
            text = None if value is None else encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            is_deep = isinstance(error, RecursionError)
            problem = "it is nested too deeply, or contains itself" if is_deep else error
            what = f" is {short(value)}, which JSON cannot hold: {problem}. Give a text, a number, "
            raise InputError(place(index), what, "or lists and dicts of these.") from error
        texts.append(text)
    return pa.array(texts, TEXTS).cast(JSON)


def _json_default(value) -> Any:
    """Return an array or number of any library as a JSON value; raise a TypeError for others."""
    plain = plain_entry(value)
    if plain is not value:
        return plain
    if hasattr(value, "tolist"):  # an array
        return value.tolist()
    raise TypeError(f"it is a {type(value).__name__}")


def _check_keys(value) -> None:
    """Raise a TypeError if a dict in the value has a key that JSON would turn into a text."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {short(key)} is not a text")
        value = list(value.values())
    if is_list_like(value):
        for entry in value:
            _check_keys(entry)


def sample_kind(samples: Samples) -> str | None:
    """Return "texts", "numbers" or "other values" for stored samples; None if all are None."""
    values = samples.values
    if samples.are_numbers:
        return "numbers"
    if values.null_count == len(values):
        return None
    if values.type == TEXTS:
        return "texts"
    # All samples are of one kind, so the first one tells.
    first = next(text for text in values if text.is_valid).as_py()
    if first.startswith((b"[", b"{")):
        return "other values"
    return "texts" if first.startswith(b'"') else "numbers"


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the entries as a list of Python objects, with JSON parsed."""
    entries = values.to_pylist()
    if values.type != JSON:
        return entries
    # One call of the parser is faster than one for each entry.
    return json.loads(b"[%b]" % b",".join(b"null" if x is None else x for x in entries))


def one_chunk(values: pa.ChunkedArray) -> pa.Array:
    """Return the entries of a column as one array, without a copy if there is one chunk."""
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def distinct_entries(values: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct entries, and the index of each entry among them, (S,), or -1 for null."""
    encoded = values.dictionary_encode()  # The chunks share one dictionary, and are not copied.
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    indices = indices.fill_null(-1) if indices.null_count else indices
    return encoded.chunk(0).dictionary, to_numpy(indices)


# --- Batches ------------------------------------------------------------------------------


def with_batch(batches: list[Samples], batch: Samples) -> list[Samples]:
    """Return a list of the batches and one more, with the last ones merged if there are many."""
    check_alike(batch, batches)
    batches = [*batches, _in_own_memory(batch)]
    if len(batches) <= 64:  # Merging so few would take longer than reading them.
        return batches
    # A batch is merged with those after it, unless it has more than twice their questions.
    start, size = len(batches) - 1, len(batches[-1])
    while start > 0 and len(batches[start - 1]) <= 2 * size:
        start -= 1
        size += len(batches[start])
    return [*batches[:start], unite(batches[start:])]


def _in_own_memory(batch: Samples) -> Samples:
    """Return a batch that shares no memory with the caller's data, with integers of few bytes.

    The caller may change an array after adding it, and it may be a small part of a large table.
    """
    values = batch.values
    if batch.are_numbers:  # Outcomes of one byte can be joined with those of any other type.
        is_category = values.dtype.kind in "iu" and values.min(initial=0) >= 0
        dtype = np.min_scalar_type(values.max(initial=0)) if is_category else values.dtype
        return replace(batch, values=values.astype(dtype))
    references = None if batch.references is None else _copy_of_column(batch.references)
    return replace(batch, values=_copy_of_column(values), references=references)


def _copy_of_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with the same entries in one chunk of its own memory."""
    return pa.chunked_array([one_chunk(column.take(pa.array(np.arange(len(column)))))])


def check_alike(batch: Samples, earlier: Sequence[Samples]) -> None:
    """Raise a ValueError unless all or no batches have references, and samples are of one kind."""
    if not earlier:
        return
    if (batch.references is None) != (earlier[-1].references is None):
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = sample_kind(batch)
    earlier_kind = next(filter(None, map(sample_kind, reversed(earlier))), None)
    if kind and earlier_kind and kind != earlier_kind:
        raise ValueError(
            f"Some questions have {earlier_kind} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def unite(batches: Sequence[Samples]) -> Samples:
    """Return the questions of all batches as one batch. `check_alike` must accept the batches."""
    first = batches[0]
    if len(batches) == 1:
        return first
    join = np.concatenate if first.are_numbers else _one_column
    values = join([batch.values for batch in batches])
    sizes = np.concatenate([batch.sizes for batch in batches])
    multiplicity = references = None
    if any(batch.multiplicity is not None for batch in batches):
        multiplicity = np.concatenate([batch.weights for batch in batches])
    if first.references is not None:
        references = _one_column([batch.references for batch in batches])
    return Samples(values, sizes, first.name, multiplicity, references)


def _one_column(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Join columns of type `TEXTS` or `JSON` end to end, as `JSON` if one has an entry of it."""
    common = TEXTS
    if any(column.type == JSON and column.null_count < len(column) for column in columns):
        common = JSON

    def converted(column: pa.ChunkedArray) -> pa.ChunkedArray:
        if column.type == common:
            return column
        if common == TEXTS:  # all entries are null
            return pa.chunked_array([pa.nulls(len(column), TEXTS)])
        # JSON can hold every text, so the place is never in an error.
        return pa.chunked_array([to_json(column.to_pylist(), partial(Place, "predictions"))])

    return pa.chunked_array([chunk for column in columns for chunk in converted(column).chunks])


# --- shared/at_k/core/score_agg.py ----------------------------------------------------------------

"""score_agg: the graded verdicts of an item combined into one score, by a power mean.

An item has n verdicts with weights x_i from 0 to 1. Their power mean M_p = (mean of x_i^p)^(1/p)
increases with p, from the minimum through the geometric mean (p = 0) and the arithmetic mean
(p = 1) to the maximum. The temperature, from 0.1 (strict) to 1.0 (lenient), determines p. Each
verdict of 0 lowers the score by a penalty. An item is a question, and there are M of them.

Source of both tables: "Score Aggregation" in the documentation of Eval AI Library; A. Meshkov,
arXiv:2604.08595.
"""


VERDICTS = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
"""The standard labels of verdicts, and their weights."""

_TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0)
_EXPONENTS = (-8.0, -2.5, 1.0, 4.6, 12.25)


def exponent(temperature: float) -> float:
    """Return the exponent p of a temperature, by linear interpolation in the table of the source.

    Raises a ValueError unless the temperature is from 0.1 to 1.0.
    """
    wanted = "give a temperature from 0.1 (strict) to 1.0 (lenient)"
    temperature = check_number("temperature", temperature, wanted, 0.1, 1.0)
    return float(np.interp(temperature, _TEMPERATURES, _EXPONENTS))


def check_penalty(penalty) -> float:
    """Return the penalty as a float; raise a ValueError unless it is from 0 to 1."""
    wanted = "give the share of the score that each verdict of 0 costs, from 0 to 1"
    return check_number("penalty", penalty, wanted, 0.0, 1.0)


def check_eps(eps) -> float:
    """Return eps_for_neg_p as a float; raise a ValueError unless it is above 0, and at most 1."""
    wanted = "give a small number above 0, such as 1e-9, which replaces 0"
    return check_positive("eps_for_neg_p", eps, wanted, 1.0)


def check_weights(weights) -> dict[str, float]:
    """Return a dict from label to weight; raise a ValueError unless all weights are from 0 to 1."""
    if not isinstance(weights, Mapping) or not weights:
        raise ValueError(
            f"weights is {short(weights)}: give a dict from labels to numbers, such as "
            f"{{'good': 1.0, 'bad': 0.0}}."
        )
    for label, weight in weights.items():
        if not isinstance(label, str):
            raise ValueError(f"weights has the label {short(label)}: a label is a string.")
        check_number(f"weights[{label!r}]", weight, "a weight is a number from 0 to 1", 0.0, 1.0)
    return {label: float(weight) for label, weight in weights.items()}


def require_weights(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is from 0 to 1."""
    values = outcomes.values
    outcomes.require((values >= 0) & (values <= 1), "a verdict is a weight from 0 to 1")
    return outcomes


def power_means(x: np.ndarray, p: float, eps: float = 0.0) -> np.ndarray:
    """Return the power means of M items with n weights each, (M,), for any p, from x, (n, M).

    The weights are divided by the maximum of the item, or for p < 0 by its minimum, so that no
    power overflows. For p near 0, x^p is close to 1, and the mean is computed from the small
    differences instead: exp(log1p(mean of expm1(p log x)) / p). `eps`, at most 1, replaces smaller
    weights; it has to be above 0 if p < 0.
    """
    minimum, maximum = x.min(axis=0), x.max(axis=0)
    weight = np.maximum(x, eps)
    if p == 1:
        means = weight.mean(axis=0)
    else:
        scale = np.maximum(maximum if p >= 0 else minimum, eps)
        divisor = np.where(scale > 0, scale, 1.0)
        # ratio^|p| is (weight / divisor)^p, and at most 1.
        ratio = weight / divisor if p >= 0 else divisor / weight
        if abs(p) >= 0.5:
            means = scale * (ratio ** abs(p)).mean(axis=0) ** (1 / p)
        else:
            with np.errstate(divide="ignore"):  # log(0) is -infinity, as intended
                log = np.log(ratio)
                log = np.log1p(np.expm1(abs(p) * log).mean(axis=0)) / p if p else log.mean(axis=0)
            means = scale * np.exp(log)
    # Only rounding moves a mean out of these bounds.
    return np.clip(means, minimum, np.maximum(maximum, eps))


def agg_scores(verdicts: Samples, p: float, penalty: float = 0.1, eps: float = 1e-9) -> Scores:
    """Return `item_scores` of the same arguments as `Scores`."""
    return Scores.from_values({ScoreId("score_agg"): item_scores(verdicts, p, penalty, eps)})


def item_scores(verdicts: Samples, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the score of each item, (M,): its power mean, reduced for each verdict of 0.

    An item loses the share `penalty` for each verdict of 0. `eps` replaces smaller weights if
    p <= 0. A ValueError is raised if an item has no scored verdict.
    """
    values, sizes = verdicts.scored_values.astype(float), verdicts.n
    starts, scores = np.cumsum(sizes) - sizes, np.empty(len(sizes))
    for n in np.unique(sizes):
        items = np.flatnonzero(sizes == n)
        x = values[starts[items] + np.arange(n)[:, None]]
        scores[items] = _penalized_means(x, p, penalty, eps)
    return scores


def _penalized_means(x: np.ndarray, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the scores of M items with n verdicts each, (M,), from their weights x, (n, M).

    - p >= 1: the score is the power mean, before the penalty.
    - p <= 0: a weight of 0 would make the power mean 0. So that other verdicts still count, eps
      replaces smaller weights. The result is at most the arithmetic mean, as all power means with
      p < 1 are without eps.
    - 0 < p < 1: without eps the power mean is close to 0 for p just above 0, if a weight is 0. So
      the score is at least the result for p = 0, and never decreases as the temperature rises.
    """
    if p >= 1:
        means = power_means(x, p)
    else:
        means = np.minimum(power_means(x, min(p, 0.0), eps), power_means(x, 1.0))
        if p > 0:
            means = np.maximum(means, power_means(x, p))
    return means * np.maximum(0.0, 1 - penalty * (x == 0).sum(axis=0))


# --- shared/at_k/core/credits.py ------------------------------------------------------------------

"""Scores of the pass@k family, each defined by the credits of its correct samples.

Take k samples of a question. The r-th correct sample among them adds the credit w_r >= 0, and the
score of the question is the expected sum,

    S_w = sum over r of  w_r x P(at least r of k samples are correct),

the threshold spectrum of "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning".
"""


_VALID_TAU = "a threshold is a share of the k samples, from 0 to 1"
_MOST_CREDITS = 20_000_000  # The limit for all scores together. A score at k has k credits.

Credits = tuple[float, ...]
"""The credits (w_1, .., w_k) of the first, second, .., k-th correct sample, none negative."""


def at_least(k: int, needed: int) -> Credits:
    """Return the credits of a score that is 1 if at least `needed` of k samples are correct, or 0.

    All credits are 0 if k < needed.
    """
    return ((0.0,) * (needed - 1) + (1.0,) + (0.0,) * (k - needed))[:k]


def any_correct(k: int) -> Credits:
    """Return the credits of pass@k: 1 if any of k samples is correct.

    Source: Chen et al. 2021, arXiv:2107.03374.
    """
    return at_least(k, 1)


def all_correct(k: int) -> Credits:
    """Return the credits of pass^k, or unanimous@k: 1 if all k samples are correct.

    Source: Yao et al. 2024, arXiv:2406.12045.
    """
    return at_least(k, k)


def majority(k: int) -> Credits:
    """Return the credits of maj@k: 1 if more than half of k samples are correct."""
    return at_least(k, k // 2 + 1)


def threshold(k: int, tau: float) -> Credits:
    """Return the credits of G-Pass@k_tau: 1 if at least max(1, ceil(tau k)) samples are correct.

    tau is from 0 to 1. Source: Liu et al. 2024, arXiv:2412.13147.
    """
    return at_least(k, required_samples(k, tau))


def required_samples(k: int, tau: float) -> int:
    """Return max(1, ceil(tau k)), how many of k samples G-Pass@k_tau requires to be correct.

    A product tau k within 1e-9 of an integer counts as that integer: in floating point,
    0.28 x 25 is above 7 and 25/49 x 49 is below 25.
    """
    return max(1, math.ceil(tau * k - 1e-9))


def check_tau(tau) -> float:
    """Return tau as a float; raise a ValueError if it is not from 0 to 1."""
    return check_number("tau", tau, _VALID_TAU, 0, 1)


def check_thresholds(thresholds) -> list[float]:
    """Return one or more thresholds as a list; raise a ValueError if one is not from 0 to 1."""
    values = as_list("thresholds", thresholds)
    return [check_number(f"thresholds[{i}]", tau, _VALID_TAU, 0, 1) for i, tau in enumerate(values)]


def above_half(k: int) -> Credits:
    """Return the credits of mG-Pass@k: 2/k for each correct sample beyond ceil(k/2), otherwise 0.

    It is a Riemann sum for twice the area under G-Pass@k_tau from tau = 1/2 to 1, and equal to it
    for even k. For odd k it is smaller: if all samples are correct, it is (k-1)/k, and not 1.
    Source: Liu et al. 2024, arXiv:2412.13147.
    """
    half = -(-k // 2)
    return (0.0,) * half + (2 / k,) * (k - half)


def area_under_pass(k: int) -> Credits:
    """Return the credits of AUC@k: the area under pass@j from j = 1 to k, divided by k - 1.

    The area is that of the trapezoidal rule. If i >= 1 of k samples are correct, a share
    C(k-i, j) / C(k, j) of the subsets of size j has no correct sample. The sum of these shares over
    j = 1 .. k is (k+1) / (i+1) - 1, so i correct samples have the value
    V_i = [(k+1) i/(i+1) - (i/k + 1)/2] / (k-1), and V_0 is 0. The credits are the differences
    V_r - V_(r-1) (Hu et al. 2026, arXiv:2601.08763).
    """
    if k == 1:
        return any_correct(1)
    first = (k + 1) / (2 * k)
    # Each credit is a quotient of two integers, which Python rounds correctly.
    return first, *(
        (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1)) for r in range(2, k + 1)
    )


def spectrum(k: int, weights=None) -> Credits:
    """Return `weights` as the credits of Spectrum@k; or the credits of mG-Pass@k if it is None.

    Raises a ValueError unless there are k weights in [0, 1] whose sum is at most 1.
    """
    if weights is None:
        return above_half(k)
    wanted = "a weight is a number from 0 to 1"
    credits = tuple(
        check_number(f"weights[{r}]", weight, wanted, 0, 1)
        for r, weight in enumerate(as_list("weights", weights))
    )
    if len(credits) != k:
        raise ValueError(f"weights has {len(credits)} entries but k is {k}: give k weights.")
    if math.fsum(credits) > 1 + 1e-12:
        raise ValueError(f"The sum of weights is {math.fsum(credits)}: it can be at most 1.")
    return credits


def geom(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Return Geom@k: the mean of (pass@k)^pass_power x (pass^k)^unanimous_power of a question."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=False)


def geom_ds(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Return Geom_ds@k: (mean pass@k)^pass_power x (mean pass^k)^unanimous_power."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=True)


def geo_spectrum(k: int, lam: float = 0.5, weights=None) -> Score:
    """Return GeoSpectrum@k: (mean pass@k)^lam x (mean Spectrum@k)^(1 - lam)."""
    lam = check_lam(lam)
    return _product((any_correct(k), spectrum(k, weights)), (lam, 1 - lam), pooled=True)


def check_lam(lam) -> float:
    """Return lam as a float; raise a ValueError unless it is from 0 to 1."""
    return check_number("lam", lam, "it is a number from 0 to 1", 0, 1)


def check_powers(pass_power, unanimous_power) -> tuple[float, float]:
    """Return both powers as floats; raise a ValueError unless both are at least 0, and one above.

    With a negative power the score would fall as one of its two scores rises.
    """
    wanted = "a power is a finite number of at least 0, and one of the two is above 0"
    most = sys.float_info.max
    powers = (
        check_number("pass_power", pass_power, wanted, 0, most),
        check_number("unanimous_power", unanimous_power, wanted, 0, most),
    )
    if powers == (0, 0):
        raise ValueError(f"pass_power and unanimous_power are both 0: {wanted}.")
    return powers


def _product(credits: tuple[Credits, ...], powers: tuple[float, ...], pooled: bool) -> Score:
    """Return the `Score` that is a product of powers of expected credits, without powers of 0."""
    factors = [(credit, power) for credit, power in zip(credits, powers, strict=True) if power]
    terms, powers_of_terms = zip(*factors, strict=True)
    return Score(terms, powers_of_terms, pooled)


class ScoreOptions(NamedTuple):
    """The parameters of scores other than k, by default those of gpassk. The values are valid.

    `powers` are those of pass@k and pass^k in Geom@k and Geom_ds@k.
    """

    thresholds: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
    lam: float = 0.5
    weights: Sequence[float] | None = None
    powers: tuple[float, float] = (0.5, 0.5)


PASS_FAMILY: dict[str, Callable[[int, float, ScoreOptions], Score]] = {
    "G-Pass@k": lambda k, tau, options: Score((threshold(k, tau),)),
    "mG-Pass@k": lambda k, tau, options: Score((above_half(k),)),
    "pass@k": lambda k, tau, options: Score((any_correct(k),)),
    "pass^k": lambda k, tau, options: Score((all_correct(k),)),
    "maj@k": lambda k, tau, options: Score((majority(k),)),
    "AUC@k": lambda k, tau, options: Score((area_under_pass(k),)),
    "Geom@k": lambda k, tau, options: geom(k, *options.powers),
    "Geom_ds@k": lambda k, tau, options: geom_ds(k, *options.powers),
    "GeoSpectrum@k": lambda k, tau, options: geo_spectrum(k, options.lam, options.weights),
    "Spectrum@k": lambda k, tau, options: Score((spectrum(k, options.weights),)),
}
"""For each name of a score, a function that builds the score at one k.

Only G-Pass@k uses the threshold tau.
"""


def build_scores(
    requested: Iterable[ScoreId], ks: Sequence[int], options: ScoreOptions
) -> dict[ScoreId, Score]:
    """Return the requested scores by their ids. Their terms are credits.

    An id without k is built at every k of `ks`, and "G-Pass@k" without tau at every threshold. A
    ValueError is raised if the sum of several k over all scores exceeds 20 million, because time
    and memory grow with this sum.
    """
    ids = [
        (name, k, tau)
        for name, id_k, id_tau in requested
        for k in (ks if id_k is None else [int(id_k)])
        for tau in (options.thresholds if name == "G-Pass@k" and id_tau is None else [id_tau])
    ]
    if len(ks) > 1 and sum(k for _, k, _ in ids) > _MOST_CREDITS:
        per_k = max(1, len(ids) // len(ks))
        raise ValueError(
            f"k has {len(ks):,} values with the sum {sum(ks):,}, and for {per_k} scores of each k "
            f"the sum can be {_MOST_CREDITS // per_k:,} at most: give fewer k, such as 1, 2, 4, 8."
        )
    scores = {}
    for name, k, tau in ids:
        score = scores[ScoreId(name, k, tau)] = PASS_FAMILY[name](k, tau or 0.0, options)
        assert all(len(credits) == k for credits in score.terms), f"{name} has k credits"
    return scores


def included_scores(
    include: str | Iterable[str],
    k,
    known: Collection[str] = PASS_FAMILY,
    metrics: Mapping[str, str] = {},
    parameter: str = "include",
) -> tuple[list[ScoreId], list[int] | None]:
    """Return the ids of the scores that `include` lists, and a list of the k.

    `include` has names, such as "pass@k", and keys, such as "pass@4", which are scores at one k.
    The k are those of `k`, or by default those of all keys; None if there are none. `known` are the
    valid names, `metrics` the `metric` of each name that differs from it, and `parameter` is the
    name of `include` in messages. A ValueError is raised for another entry, or if `k` lacks the k
    of a key.
    """
    ks, ks_of_keys, included = check_ks(k), [], []
    for entry in as_list(parameter, include):
        score = _score_of_key(entry, known) or ScoreId(check_name(parameter, entry, known))
        included.append(score._replace(metric=metrics.get(score.metric, score.metric)))
        if score.k is None:
            continue
        ks_of_keys.append(check_k(score.k))
        if ks is not None and score.k not in ks:
            raise ValueError(
                f"{parameter} has {entry!r}, and k is {', '.join(map(str, ks))}: leave out k, or "
                f"add {score.k} to it."
            )
    return included, ks or list(dict.fromkeys(ks_of_keys)) or None


def _score_of_key(entry: Any, known: Collection[str]) -> ScoreId | None:
    """Return the id of a score of `known` from its key, such as "G-Pass@4_0.5", or None.

    A key has a k. The N of avg@N is the number of samples, which a key cannot choose.
    """
    if not isinstance(entry, str):
        return None
    score = read_score(entry)
    if score.metric not in known or not isinstance(score.k, int) or score.metric.endswith("N"):
        return None
    if score.tau is None:
        return score
    check_tau(score.tau)
    has_tau = score.metric in ("G-Pass@k", "TailPass@k")
    return score if has_tau else None


def only_included(
    values: Mapping[ScoreId, Any], included: Collection[ScoreId]
) -> dict[ScoreId, Any]:
    """Return the entries whose id is in `included`, where an id without k stands for all k."""
    return {
        score: value
        for score, value in values.items()
        if any(x.metric == score.metric and x.k in (None, score.k) for x in included)
    }


# --- shared/at_k/core/match.py --------------------------------------------------------------------

"""The checker exact_match, and functions for other checkers that compare answers with references.

Texts and numbers are compared in Arrow, without a Python object for each. There are S samples of M
questions.
"""


_SAMPLES_AT_ONCE = 1 << 16  # so many are compared at once, to bound memory


def match_exactly(samples: Samples) -> np.ndarray:
    """Return whether each sample equals an acceptable answer to its question, (S,).

    An integer reference equals its decimal text. A ValueError is raised unless samples and
    references are texts or numbers.
    """
    values, references = samples.values, samples.references
    if values.type == references.type == TEXTS and not references.null_count:
        counts = np.ones(len(references), dtype=np.int64)
        return equals_any(values, one_chunk(references), counts, samples.sizes)
    kind = sample_kind(samples)
    if kind is None:
        return np.zeros(len(values), dtype=bool)
    if kind == "other values":
        raise no_texts_or_numbers("exact_match")
    read: Callable[[Any], Any] = _as_number
    expected = "numbers, as the predictions are, with a number"
    if kind == "texts":
        read = _as_text
        expected = "texts with a text (for numbers there is numeric)"
    answers, counts = acceptable_answers(references, read, f"exact_match compares {expected}")
    if values.type == JSON or any(map(re.compile("[\ud800-\udfff]").search, answers)):
        # Arrow cannot compare numbers of different types, nor hold half of a surrogate pair.
        code_of: dict[Any, str] = {}
        _, values = read_distinct(values, lambda x: code_of.setdefault(x, str(len(code_of))))
        for value, code in code_of.items():
            if value != value:
                place = sample_place("predictions", samples.sizes, pc.index(values, code).as_py())
                what = " is nan, which equals nothing: give None if it is unscored."
                raise InputError(place, what)
        answers = [*map(code_of.get, answers)]
    return equals_any(values, pa.array(answers, TEXTS), counts, samples.sizes)


def no_texts_or_numbers(checker: str) -> ValueError:
    """Return the error to raise for predictions that are neither all texts nor all numbers."""
    what = f"{checker} compares texts or numbers, and some predictions are neither"
    return InputError(what, InPython(": give a function as check_correct_fn"), ".")


def equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return whether each of the values, (S,), equals an accepted answer to its question, (S,).

    Each question has `sizes`, (M,), values and `counts`, (M,), answers. All have one Arrow type.
    """
    first = np.cumsum(counts) - counts
    starts = np.cumsum(sizes) - sizes
    correct = np.zeros(len(values), dtype=bool)
    step = max(1, _SAMPLES_AT_ONCE * len(sizes) // len(values))
    for start in range(0, len(sizes), step):
        block = slice(start, start + step)  # of questions
        samples = slice(starts[start], starts[block][-1] + sizes[block][-1])
        for choice in range(counts[block].max()):
            # Questions with fewer answers compare their last one again.
            index = first[block] + np.minimum(choice, counts[block] - 1)
            answers = accepted.take(pa.array(np.repeat(index, sizes[block])))
            correct[samples] |= to_numpy(pc.equal(values[samples], answers).fill_null(False))
    return correct


def acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Return the acceptable answers to all questions in one list, and how many each has, (M,).

    A reference is an answer or a list of acceptable ones. `read` returns an answer in the form to
    compare, or None for a ValueError, whose message says that this is `expected`.
    """
    answers = []
    for question, reference in enumerate(to_python(references)):
        forms = [*map(read, as_answers(reference))]
        if not forms or None in forms:
            raise InputError(
                Place("references", question),
                f" is {short(reference)}, but {expected}. Give that, or a list of acceptable ones",
                InPython(", or 'python_tests' or a function as check_correct_fn"),
                ".",
            )
        answers.append(forms)
    return list(itertools.chain.from_iterable(answers)), np.array([*map(len, answers)])


def as_answers(reference: Any) -> list[Any]:
    """Return the acceptable answers of a reference, which is one of them or a list of them."""
    return reference if isinstance(reference, list) else [reference]


def _as_text(answer) -> str | None:
    """Return a text unchanged and an integer as its decimal text; None for any other value."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _as_number(answer) -> int | float | None:
    """Return a number or bool unchanged; None for any other value."""
    return answer if isinstance(answer, (int, float)) else None


def read_distinct(
    values: pa.ChunkedArray, form: Callable[[Any], str | None]
) -> tuple[list[str | None], pa.ChunkedArray]:
    """Return a list of the forms of the distinct values, and a column with the form of each value.

    `form` is called once for each distinct value. The column is null where it returns None.
    """
    distinct, code = distinct_entries(values)
    forms = [form(entry) for entry in to_python(distinct)]
    # A null has the code -1, and stays null.
    samples = pa.array(forms, TEXTS).take(pa.array(code, mask=code < 0))
    return forms, pa.chunked_array([samples])


# --- shared/at_k/core/coherent.py -----------------------------------------------------------------

"""Limits that are in the order that the scores have by definition.

Let P(k, r) be the probability that at least r of k samples are correct: pass@k is P(k, 1), pass^k
is P(k, k), and G-Pass@k is P(k, r) with r = ceil(tau k). For every success rate,

    P(j, 1) <= P(k, 1) and P(k, k) <= P(j, j) for j <= k,    P(k, s) <= P(k, r) for r <= s.

If score A is never below score B, neither limit of A may be below that of B. The limits at one k
must not depend on which other k are requested. So they are compared with those of neighbors: pass@j
and pass^j at all j of `spread_of_k(n)`, for the smallest n of a question, and for scores between
them also P(k, s) at 1, k and the s of `spread_of_r(k)`. Where k > n, only the limits of k > n move.
"""


_EVERY_K, _EVERY_R = 64, 16  # Up to these, all k and all r are neighbors.
_LARGEST_N = 10_000  # With more samples, limits are narrow and take long: no neighbors are added.


class Event(NamedTuple):
    """The event that at least r of k samples are correct, and the key of a neighbor in dicts."""

    k: int
    r: int


@lru_cache(maxsize=256)
def event_of(score: Score) -> Event | None:
    """Return the event whose probability the score is, or None if there is no such event."""
    credits = score.terms[0]
    if score.powers != (1.0,) or [credit for credit in credits if credit] != [1.0]:
        return None
    return Event(len(credits), credits.index(1.0) + 1)


def _events_by_key(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Event]:
    """Return a dict from key to event, of the scores that are the probability of an event."""
    return {key: event for key, score in scores.items() if (event := event_of(score))}


def spread_of_k(most: int) -> list[int]:
    """Return k up to `most`, ascending: 1 to 64, rounded powers of sqrt(2) above, and `most`."""
    large = (round(2 ** (power / 2)) for power in range(2 * most.bit_length()))
    return sorted({*range(1, min(most, _EVERY_K) + 1), *(k for k in large if k <= most), most})


def spread_of_r(k: int) -> list[int]:
    """Return all r with 1 < r < k if k is at most 16, otherwise 15 of them at equal distances."""
    steps = min(k, _EVERY_R)
    return sorted({-(-step * k // steps) for step in range(1, steps)} - {1, k})


def with_neighbors(scores: Mapping[ScoreKey, Score], least: int) -> dict[ScoreKey, Score]:
    """Return the scores with k <= `least` by their keys, and their neighbors by their events.

    There are no neighbors if `least`, the smallest number of samples of a question, is above
    10,000, or if no score is the probability of an event.
    """
    result = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    events = _events_by_key(scores).values()
    if least > _LARGEST_N or not events:
        return result
    return result | _neighbors(least, frozenset(k for k, r in events if 1 < r < k <= least))


@lru_cache(maxsize=16)
def _neighbors(least: int, inner_ks: frozenset[int]) -> dict[Event, Score]:
    """Return pass@j and pass^j for j up to `least`, and scores between them at each inner k."""
    events = [Event(j, r) for j in spread_of_k(least) for r in (1, j)]
    for k in inner_ks:
        events += [Event(k, r) for r in (1, k, *spread_of_r(k))]
    return {event: Score((at_least(*event),)) for event in events}


Limits = tuple[float, float]


class _Ladder:
    """Limits of scores that ascend with an integer, their rung, moved so that they ascend, too."""

    def __init__(self, limits: Mapping[int, Limits]):
        self._rungs = sorted(limits)
        lo, hi = np.array([limits[rung] for rung in self._rungs]).reshape(-1, 2).T
        self._lo = np.maximum.accumulate(lo)
        self._hi = np.minimum.accumulate(hi[::-1])[::-1]

    def moved(self, rung: int, lo: float, hi: float) -> Limits:
        """Return (lo, hi) of a score at any rung, clipped to the limits at the rungs around it."""
        # The indices of the last rung at or below this one, and of the first at or above it.
        below = np.searchsorted(self._rungs, rung, side="right") - 1
        above = np.searchsorted(self._rungs, rung, side="left")
        if below >= 0:
            lo, hi = max(lo, self._lo[below]), max(hi, self._hi[below])
        if above < len(self._rungs):
            lo, hi = min(lo, self._lo[above]), min(hi, self._hi[above])
        return float(lo), float(hi)


def _rung(event: Event) -> int:
    """Return the rung of pass@k or pass^k in the order pass^n, .., pass^1 = pass@1, .., pass@n."""
    return event.k - 1 if event.r == 1 else 1 - event.k


def _ladder_over_r(limits: Mapping[Event, Limits], over_k: _Ladder, k: int) -> _Ladder:
    """Return the ladder of P(k, r) over r at one k. The rung of r is -r, because P(k, r) falls.

    Limits are moved over k at r = 1 and r = k, and clipped to these at other r.
    """
    by_rung = {-event.r: pair for event, pair in limits.items() if event.k == k}
    for rung in by_rung.keys() & {-1, -k}:
        by_rung[rung] = over_k.moved(_rung(Event(k, -rung)), *by_rung[rung])
    if by_rung:
        ends = by_rung[min(by_rung)], by_rung[max(by_rung)]
        by_rung = {rung: tuple(np.clip(pair, *ends)) for rung, pair in by_rung.items()}
    return _Ladder(by_rung)


class CoherentIntervals(DerivedIntervals):
    """The intervals of another method, with limits moved into the order of the scores.

    The other method also computes the intervals of the neighbors, which `scores` lacks.
    """

    def __init__(self, method: IntervalMethod, scores: Mapping[ScoreKey, Score]):
        super().__init__(method)
        self._keys = [*scores]
        self._events = _events_by_key(scores)

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each requested score over these questions."""
        intervals = self._method.intervals(questions, confidence)
        result = {key: intervals[key] for key in self._keys if key in intervals}
        limits = {
            event: (interval.lo, interval.hi)
            for event, interval in intervals.items()
            if isinstance(event, Event)
        }
        # Intervals are unknown for all scores or for none.
        if not limits or next(iter(intervals.values())).is_unknown:
            return result
        over_k = _Ladder({_rung(x): pair for x, pair in limits.items() if x.r in (1, x.k)})
        over_r = cache(partial(_ladder_over_r, limits, over_k))
        for key in self._events.keys() & result.keys():
            interval, (k, r) = result[key], self._events[key]
            at_end = r in (1, k)
            ladder, rung = (over_k, _rung(self._events[key])) if at_end else (over_r(k), -r)
            lo, hi = ladder.moved(rung, interval.lo, interval.hi)
            result[key] = interval._replace(lo=min(lo, interval.mu), hi=max(hi, interval.mu))
        return result


# --- shared/at_k/core/expected.py -----------------------------------------------------------------

"""Expected credits of k of the n samples of a question, which estimate the scores of k new samples.

If c of n samples are correct, the number j of correct ones among k of them is hypergeometric, with
P(j) = C(c, j) C(n - c, k - j) / C(n, k). For n up to 128 only this quotient of integers is rounded.
For larger n, products of ratios P(j + 1) / P(j) from the mode outwards have 13 correct digits for
n = 10,000, where logarithms of gamma functions would give 11. There are U distinct pairs (n, c).
"""


_MOST_EXACT = 128  # Up to this n, probabilities are quotients of integers.
_CELLS_AT_ONCE = 1 << 18  # so many probabilities are computed at once, to bound memory


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Return unbiased estimates of scores whose terms are credits. No k may exceed any n."""
    credits, numbered = number_terms(scores)
    keys, columns = with_product_columns(numbered, expected_credits(*counts.unique, credits))
    return Scores(keys, counts.inverse, columns)


def largest_scores(scores: Mapping[ScoreKey, Score]) -> np.ndarray:
    """Return the columns of `pass_scores`, (m,), of a question whose samples are all correct."""
    credits, numbered = number_terms(scores)
    sums = np.array([[math.fsum(credit) for credit in credits]])
    sums = np.where(np.abs(sums - 1) < 1e-12, 1.0, sums)  # 1 up to rounding is exactly 1
    return with_product_columns(numbered, sums)[1][0]


def expected_credits(n: np.ndarray, c: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return the expected sum of credits of k of n samples for m vectors of k credits, (U, m).

    c of the n samples are correct; n and c are (U,). No k may exceed any n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)  # 0 if there are several n
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        if 0 < size <= _MOST_EXACT:  # A cached table has the values for all c from 0 to n.
            result[:, columns] = _expected_table(size, credits_of_k)[c]
            continue
        # With equal n, `_sums_over_ranks` gives pass@k and pass^k for all c at once, in a time that
        # grows with n, and not with U k. For k = 1 its sums are less precise, by one digit.
        are_pass_scores = {*credits_of_k} <= {any_correct(k), all_correct(k)}
        if k > 1 and 0 < size <= len(c) * k and are_pass_scores:
            for column in columns:
                result[:, column] = _sums_over_ranks(size, k, credits[column])[c]
            continue
        for rows in blocks_of_rows(np.arange(len(c)), k):
            tails = _tails(n[rows], c[rows], k)
            result[np.ix_(rows, np.array(columns))] = _weighted_sums(tails, credits_of_k)
    return result


def _sums_over_ranks(n: int, k: int, credits: Credits) -> np.ndarray:
    """Return pass@k or pass^k, whichever has these credits, for c = 0 .. n, (n + 1,).

    Number the samples 1 .. n, and let i be the largest number among k random ones. If the last c
    samples are correct, pass@k is P(i > n - c). If the first c are correct, pass^k is P(i <= c).
    """
    # The first credit, for at least one correct sample, is 0 for pass^k, because k > 1.
    chances, is_pass_at_k = chance_of_rank(n, k), credits[0] > 0
    sums = np.append(0.0, np.cumsum(chances[::-1] if is_pass_at_k else chances))
    return sums / sums[-1]


def columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """Return a dict from each k to the indices of vectors of k credits that are not all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def blocks_of_rows(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield blocks of an array of rows, small enough to keep k + 1 numbers of each row."""
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))


@lru_cache(maxsize=1 << 10)
def _expected_table(n: int, credits: tuple[Credits, ...]) -> np.ndarray:
    """Return the expected sums of m vectors of k credits for c = 0 .. n, (n + 1, m)."""
    return _weighted_sums(_table_of_tails(n, len(credits[0])), credits)


@lru_cache(maxsize=64)
def _table_of_tails(n: int, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for c = 0 .. n and r = 1 .. k, (n + 1, k)."""
    return _tails(np.full(n + 1, n), np.arange(n + 1), k)


def _weighted_sums(tails: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """Return the expected sums of m vectors of k credits, (U, m), from (U, k) tails.

    With the credits w, each is the sum over r of w_r x P(at least r of k samples are correct). The
    rounded probabilities are added, as this gives the digits in the paper of mG-Pass@k.
    """
    sums = []
    for credit in map(np.array, credits):
        credited = np.flatnonzero(credit)
        terms = tails[:, credited] * credit[credited]
        is_long = terms.shape[1] > _MOST_EXACT  # `fsum` is exact, but slow.
        sums.append(terms.sum(axis=1) if is_long else [math.fsum(row) for row in terms.tolist()])
    return np.stack(sums, axis=1)


@lru_cache(maxsize=64)
def chance_of_rank(n: int, k: int) -> np.ndarray:
    """Return P(i is the largest of k different random numbers from 1 to n) for each i, (n,)."""
    # It is C(i - 1, k - 1) / C(n, k): k / n for i = n, and (i + 1 - k) / i times that of i + 1.
    i = np.arange(n - 1, 0, -1)
    return k / n * np.cumprod([1.0, *np.maximum(i + 1 - k, 0) / i])[::-1]


def _tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return P(at least r of k samples are correct) for r = 1 .. k, (U, k), from (U,) n and c."""
    tails, is_small = np.empty((len(n), k)), n <= _MOST_EXACT
    for rows, tails_of in ((is_small, _exact_tails), (~is_small, _tails_by_ratios)):
        if rows.any():
            tails[rows] = tails_of(n[rows], c[rows], k)
    return tails


def _exact_tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return the results of `_tails` for n up to 128, from counts of subsets as Python integers."""
    binomials, r = _binomials(int(n.max()), k), np.arange(k, 0, -1)
    subsets = binomials[c[:, None], r] * binomials[(n - c)[:, None], k - r]
    tails = np.cumsum(subsets, axis=1) / binomials[n, k][:, None]
    return tails[:, ::-1].astype(float)  # from r = 1


@lru_cache(maxsize=8)
def _binomials(most: int, k: int) -> np.ndarray:
    """Return C(m, j) for m = 0 .. most and j = 0 .. k as Python integers, (most + 1, k + 1)."""
    table = np.zeros((most + 1, k + 1), dtype=object)
    table[:, 0] = 1
    for m in range(1, most + 1):
        table[m, 1:] = table[m - 1, 1:] + table[m - 1, :-1]
    return table


def _tails_by_ratios(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """Return the results of `_tails` from the ratios of successive probabilities P(j)."""
    n, c = n[:, None], c[:, None]
    mode = np.clip(np.rint(k * (c / n)), np.maximum(0, k - (n - c)), np.minimum(c, k))
    # At more than 20 sqrt(k) from the mean, probabilities are below exp(-800), which is 0 in floats
    # (Hoeffding 1963, Journal of the American Statistical Association 58, 13).
    reach = 20 * math.sqrt(k) + 1
    first, last = max(0, int(mode.min() - reach)), min(k, int(mode.max() + reach))
    j = np.arange(first, last)
    gain, loss = (k - j) * np.maximum(c - j, 0.0), (j + 1) * np.maximum(n - c - k + j + 1, 0.0)
    relative = relative_to_mode(gain, loss, mode - first)
    sums = np.cumsum(relative[:, ::-1], axis=1)[:, ::-1]  # over all values from j to `last`
    tails = np.zeros((len(n), k))
    tails[:, :first] = 1.0
    tails[:, first:last] = sums[:, 1:] / sums[:, :1]
    return tails


def relative_to_mode(gain: np.ndarray, loss: np.ndarray, mode: np.ndarray) -> np.ndarray:
    """Return P(j) / P(mode) for j = 0 .. k, (U, k + 1), where P(j + 1) / P(j) = gain / loss.

    `gain` and `loss` are (U, k), and `mode` is (U, 1).
    """
    # Ratios are taken in the direction away from the mode, where they are at most about 1, so that
    # no product overflows.
    is_above = np.arange(gain.shape[1]) >= mode
    up = np.divide(gain, loss, out=(~is_above).astype(float), where=is_above & (loss > 0))
    down = np.divide(loss, gain, out=is_above.astype(float), where=~is_above & (gain > 0))
    result = np.ones((len(gain), gain.shape[1] + 1))
    result[:, 1:] = np.cumprod(up, axis=1)
    result[:, :-1] *= np.cumprod(down[:, ::-1], axis=1)[:, ::-1]
    return result


# --- shared/at_k/core/checking.py -----------------------------------------------------------------

"""The checking of samples against references. Each distinct pair is checked once.

There are S samples of M questions, and P distinct pairs of a sample and its question's reference.
"""


CHECKERS = ("exact_match", "numeric", "choice", "math_verify", "python_tests")
"""The names of checkers. All but exact_match need the installed package."""

Checker = str | Callable[[Any, Any], Any]
"""A function check_correct_fn(prediction, reference), or one of `CHECKERS`.

It returns whether the sample is correct, a category 0, 1, 2, .., a share of correctness from 0 to
1, a label of one of these, or None if the sample is not to be scored. With the package it may also
be async, or take batches, as the card of a metric says.
"""

PairToCheck = tuple[Any, Any]  # a prediction and a reference

PairResult = tuple[Any, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or a text "returned .."."""

_OUTCOMES = "the result for predictions"  # what messages call the outcomes of a checker


@dataclass(frozen=True)
class Checked:
    """The outcomes of samples, and the answers that a checker compared.

    `read_answers`, (S,), are the answers that the checker found in the samples, or null. For
    "exact_match" and functions the whole sample is the answer. It is None for given outcomes.
    """

    outcomes: Samples
    read_answers: pa.ChunkedArray | None = None

    @cached_property
    def answers(self) -> np.ndarray | None:
        """Return an integer code of each sample's answer, (S,), or None if there are no answers.

        The code of no answer is -1. An empty text is no answer, unless it is correct.
        """
        answers = self.read_answers
        if answers is None:
            return None
        distinct, codes = distinct_entries(answers)
        if answers.type == JSON:  # Answers such as 1 and 1.0 are equal, but not as JSON texts.
            code_of: dict[Any, int] = {}
            merged = [code_of.setdefault(_hashable(x), len(code_of)) for x in to_python(distinct)]
            codes = np.array([*merged, -1])[codes]
        if answers.type == TEXTS:
            is_empty = to_numpy(pc.fill_null(pc.equal(answers, ""), False))
            codes = np.where(is_empty & (self.outcomes.values == 0), -1, codes)
        return codes


def _hashable(value: Any) -> Any:
    """Return a hashable form of a JSON value. Values that Python calls equal have equal forms."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(entry)) for key, entry in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


@dataclass
class Checking:
    """A checker and the options that say how it runs, as in `compute`.

    `labels` has the number of each label that the checker may return. `package_checker` is the
    object of the installed package that checks all samples, or None for "exact_match" and
    functions. A ValueError or TypeError is raised if an attribute is invalid or excludes another,
    and an ImportError if the checker needs a library that is not installed.
    """

    checker: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    labels: Labels | None = None
    package_checker: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Validate all attributes. The package takes the options that its checkers carry."""
        checker = self.checker
        is_object = hasattr(checker, "check_samples")  # a checker of the package
        if isinstance(checker, str):
            check_name("check_correct_fn", checker, CHECKERS)
        elif not is_object and not callable(checker):
            raise TypeError(
                f"check_correct_fn is {short(checker)}, which cannot be called: give a function of "
                f"a prediction and a reference, or one of the names {', '.join(CHECKERS)}."
            )
        if is_object or (isinstance(checker, str) and not self.matches_exactly):
            self.package_checker = PACKAGE.rooms.checker(self)
        elif self._needs_workers():
            PACKAGE.rooms.check_workers(self)
        executor = self.executor
        if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
            raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")

    def _needs_workers(self) -> bool:
        """Return whether the package has to check pairs: in processes, in batches, or async."""
        needs_calls = getattr(self.checker, "batched", None) is True or is_async(self.checker)
        return needs_calls or self.num_proc is not None or self.timeout is not None

    @property
    def matches_exactly(self) -> bool:
        """Return whether the checker is "exact_match"."""
        return isinstance(self.checker, str) and self.checker == "exact_match"

    def check(self, samples: Samples, cache: dict[str, Any] | None = None) -> Checked:
        """Check every sample against the reference of its question.

        A sample is not scored if it is None, or if the checker returns None. A ValueError, with the
        index, is raised if the checker raises an exception, returns something other than an
        outcome, or cannot use a reference. If the package (`PACKAGE.rooms`) runs the checks, those
        that are finished then stay in `cache` for a later call.
        """
        if self.matches_exactly:
            outcomes = outcomes_of_match(samples, match_exactly(samples))
            if samples.values.type == TEXTS:
                _warn_of_responses(samples, outcomes)
            return Checked(outcomes, samples.values)
        cache = {} if cache is None else cache
        if self.package_checker is not None:
            return self.package_checker.check_samples(samples, self, cache)
        pairs = DistinctPairs.from_samples(samples)
        check_pairs = getattr(PACKAGE.rooms, "check_pairs", _check_pairs_alone)
        return Checked(pairs.outcomes(check_pairs(self, pairs, cache)), samples.values)


# --- Distinct pairs -----------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    `samples` are all samples, with references.
    """

    pairs: list[PairToCheck]
    first: np.ndarray  # (P,) the index of the first sample of each pair
    index: np.ndarray  # (S,) the index of the pair of each sample, P for samples that are None
    samples: Samples

    @classmethod
    def from_samples(cls, samples: Samples) -> DistinctPairs:
        """Return the distinct pairs of samples and the references of their questions."""
        distinct, code = distinct_entries(samples.values)
        question = np.repeat(np.arange(len(samples.sizes)), samples.sizes)
        present = np.flatnonzero(code >= 0)  # the samples that are not None
        pair_code = question[present] * len(distinct) + code[present]
        _, first, inverse = np.unique(pair_code, return_index=True, return_inverse=True)
        first = present[first]
        index = np.full(len(code), len(first))  # P, no index of a pair, for samples that are None
        index[present] = inverse
        predictions, references = to_python(distinct), to_python(samples.references)
        pairs = [(predictions[code[sample]], references[question[sample]]) for sample in first]
        return cls(pairs, first, index, samples)

    def call(self, pair: int) -> tuple[str, Place]:
        """Return the start of a message about the pair with this index: a text and its place."""
        place = sample_place("predictions", self.samples.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on ", place

    def error(self, pair: int, problem: str | BaseException, labels: Labels | None) -> InputError:
        """Return the error for the problem of a `PairResult`. An exception becomes its cause."""
        if isinstance(problem, BaseException):
            text = f" raised {type(problem).__name__}: {text_or_type(str, problem)}."
            error = InputError(*self.call(pair), text)
            error.__cause__ = problem
            return error
        valid = "".join(f"{label!r}, " for label in labels or ())
        return InputError(
            *self.call(pair),
            f" {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored.",
        )

    def require_all(self, number: int) -> None:
        """Raise a ValueError if an executor gave a `number` of results that is too small."""
        if number < len(self.pairs):
            raise ValueError(f"The executor gave {number} results for {len(self.pairs)} pairs.")

    def outcomes(self, results: Sequence[float | None]) -> Samples:
        """Return the outcomes of all samples, from those of the P pairs, None for unscored ones.

        Raises a ValueError if there are both categories above 1 and shares, which are floats.
        """
        padded = [*results, None]  # Samples that are None have the index P.
        numbers = np.array([0 if result is None else result for result in padded])
        if numbers.dtype.kind == "f" and numbers.max() > 1:
            pair = int(numbers.argmax())
            raise InputError(
                *self.call(pair),
                f" returned {results[pair]}, a category, and shares of correctness for other "
                f"samples: return one of the two for all.",
            )
        is_scored = np.array([result is not None for result in padded])[self.index]
        samples = self.samples
        multiplicity = samples.multiplicity if is_scored.all() else samples.weights * is_scored
        return Samples(numbers[self.index], samples.sizes, _OUTCOMES, multiplicity)


def _check_pairs_alone(checking: Checking, pairs: DistinctPairs, cache: dict[str, Any]) -> list:
    """Return the (P,) outcomes of pairs without the package, by the executor or in this thread."""
    assert callable(checking.checker)
    run: Callable[..., Any] = map if checking.executor is None else checking.executor.map
    check = partial(check_pair, checking.checker, checking.labels or {})
    outcomes = []
    for index, (outcome, problem) in enumerate(run(check, pairs.pairs)):
        if problem is not None:
            raise pairs.error(index, problem, checking.labels)
        outcomes.append(outcome)
    pairs.require_all(len(outcomes))
    return outcomes


def is_async(checker: Any) -> bool:
    """Return whether a checker is an async function, or has an async `__call__` method."""
    call = getattr(checker, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(checker) or inspect.iscoroutinefunction(call)


def check_pair(
    checker: Callable[..., Any], labels: Mapping[str, float], pair: PairToCheck
) -> PairResult:
    """Return the result of a checker for a pair, in any thread or process."""
    return validated_result(*call_checker(checker, *pair), labels)


def call_checker(checker: Callable[..., Any], *arguments: Any) -> PairResult:
    """Return the result of a checker and None; or None and the exception that it raised."""
    import copy  # Workers receive the code of this function without the module.

    try:
        # The checker might change a dict or list, which samples share.
        own = [copy.deepcopy(x) if isinstance(x, (dict, list)) else x for x in arguments]
        return checker(*own), None
    except (Exception, SystemExit, GeneratorExit) as error:  # The checker may call sys.exit.
        return None, error


def validated_result(
    result: Any, problem: str | BaseException | None, labels: Mapping[str, float]
) -> PairResult:
    """Return the outcome and None, or None and the problem, for what `call_checker` returned."""
    if problem is not None:
        return None, problem
    if getattr(result, "ndim", None) == 0:
        try:
            result = result.item()  # a scalar of NumPy or torch
        except Exception as error:  # such as a tensor without data
            return None, f"returned {type(result).__name__} without a value ({error})"
    if isinstance(result, str):
        result = labels.get(result, result)
    is_category = isinstance(result, int) and 0 <= result < 2**31
    is_share = isinstance(result, float) and 0 <= result <= 1
    if result is None or is_category or is_share:
        return result, None
    return None, f"returned {text_or_type(repr, result)[:60]}"


def text_or_type(write: Callable[[Any], str], value: Any) -> str:
    """Return `write(value)`, or the name of the type if that fails."""
    try:
        return write(value)
    except Exception:
        return f"a {type(value).__name__}"


# --- exact_match --------------------------------------------------------------


def outcomes_of_match(samples: Samples, correct: np.ndarray) -> Samples:
    """Return the outcomes of samples from `correct`, (S,): whether each sample is correct."""
    return Samples(correct, samples.sizes, _OUTCOMES, samples.multiplicity)


def _warn_of_responses(samples: Samples, outcomes: Samples) -> None:
    """Warn if texts seem to be whole responses: none equals its reference, or many contain it."""
    problem = f"None of the {outcomes.n.sum()} scored samples equals its reference"
    if outcomes.values.any():
        correct, occurrences = outcomes.values[:1000], samples.weights[:1000]
        texts, references = to_python(samples.values[:1000]), to_python(samples.references[:1000])
        question = np.repeat(np.arange(len(references)), samples.sizes[:1000])
        incorrect = np.flatnonzero(~correct)
        containing = [i for i in incorrect if _contains(texts[i], references[question[i]])]
        n_containing, n_equal = occurrences[containing].sum(), occurrences[correct].sum()
        if 10 * n_containing <= n_equal:
            return
        problem = (
            f"{n_containing} of the first {occurrences.sum()} samples contain their reference but "
            f"do not equal it"
        )
    warning = InputWarning(
        f"{problem}: exact_match compares whole texts. Of the other checkers",
        InPython(" (check_correct_fn)"),
        ", 'numeric' compares the number that a text gives, 'choice' compares the option that it "
        "chooses, 'math_verify' compares mathematical expressions",
        InPython(", and 'python_tests' runs programs with tests"),
        ".",
    )
    warnings.warn(warning, stacklevel=3)


def _contains(text: str | None, reference: Any) -> bool:
    """Return whether a text contains the reference, or an entry of a list, as a separate word."""
    text, answers = text or "", (x for x in as_answers(reference) if isinstance(x, str) and x)
    # Most texts do not contain the answer at all, and compiling a pattern takes long.
    return any(x in text and re.search(rf"(?<!\w){re.escape(x)}(?!\w)", text) for x in answers)


# --- shared/at_k/core/rewards.py ------------------------------------------------------------------

"""Max@k, the expected maximum reward of k samples, and Bayes@N, which is the case k = 1.

Let r_1 < .. < r_L be the rewards, P_l the probability that the maximum of k samples is above r_l,
and P_0 = 1. Then E[max] is the sum over l of r_l (P_(l-1) - P_l). P_l is pass@k if the samples
above r_l are correct, whose unbiased estimate gives that of Max@k (Bagirov et al. 2025,
arXiv:2510.23393).

Bayes@N is the posterior mean of the reward of a new sample (Hariri et al. 2026, arXiv:2510.04265).
Its t outcomes are the observed ones, prior outcomes if there are some, and one of each category for
the uniform Dirichlet prior. Let a_l of them have rewards of at most r_l, and let A_l be the unknown
probability that a new sample has one of at most r_l. As A_l is A_m times an independent share,

    E[A_l] = a_l / t = Q_l,    Cov[A_l, A_m] = Q_l (t - a_m) / (t (t + 1))    for l <= m.

M questions have S samples, C + 1 categories, and U distinct rows of counts.
"""


_VALID_REWARD = "a reward is a number from -1e150 to 1e150, whose square is a double"


@dataclass(frozen=True)
class Rewards:
    """The rewards of the samples of each question, as cumulative counts in U distinct rows."""

    inverse: np.ndarray  # (M,) the row of each question
    levels: np.ndarray  # (L,) rewards, ascending
    at_most: np.ndarray  # (U, L) number of samples with at most each reward; the last column is n
    categories: np.ndarray | None = None  # (L,) categories with at most each; None for real rewards
    prior: np.ndarray | int = 0  # (U, L) prior outcomes with at most each reward, or 0 for none

    @property
    def multiplicity(self) -> np.ndarray:
        """Return the number of questions in each row, (U,)."""
        return np.bincount(self.inverse)

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of samples of a question in each row, (U,)."""
        return self.at_most[:, -1]

    @property
    def n(self) -> np.ndarray:
        """Return the number of samples of each question, (M,)."""
        return self.sizes[self.inverse]

    @property
    def ranges(self) -> np.ndarray:
        """Return the smallest and the largest possible reward of a sample in each row, (U, 2)."""
        return np.broadcast_to(self.levels[[0, -1]], (len(self.sizes), 2))

    def max_of(self, k: int) -> np.ndarray:
        """Return the mean maximum of all subsets of k of the n samples of each row, (U,)."""
        if k == 1:
            return self._mean(self.at_most)
        n = np.repeat(self.sizes, len(self.levels))
        counts = BinaryCounts(n, n - self.at_most.ravel())
        p = expected_credits(*counts.unique, [any_correct(k)])[counts.inverse]
        p = p.reshape(self.at_most.shape)
        return (self.levels * -np.diff(p, axis=1, prepend=1.0)).sum(axis=1)

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the posterior mean and variance of the mean reward of each row, (U,) each."""
        at_most = self.posterior_counts()
        total = at_most[:, -1:]
        cov_factor = (total - at_most) / (total * (total + 1.0))
        variance = self.posterior_variance_of_expected_max(at_most / total, cov_factor)
        return self._mean(at_most), variance

    def posterior_variance_of_expected_max(
        self, mean_cdf: np.ndarray, cov_factor: np.ndarray
    ) -> np.ndarray:
        """Return the posterior variance of the expected maximum of new samples, (U,).

        Let F_l be the unknown probability that the maximum is at most r_l, with the means
        `mean_cdf`, (U, L), and Cov[F_l, F_m] = mean_cdf_l x cov_factor_m for l <= m. The expected
        maximum is r_L minus the sum of (r_(l+1) - r_l) F_l. For each m, the covariance of l = m and
        twice those of l < m are added. None is negative.
        """
        gaps = np.diff(self.levels, append=self.levels[-1:])  # r_(l+1) - r_l, and 0 for l = L
        terms = gaps * mean_cdf
        sum_of_earlier = np.cumsum(terms, axis=1) - terms
        return (gaps * cov_factor * (terms + 2 * sum_of_earlier)).sum(axis=1)

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the average reward of the n samples of each row and its variance, (U,) each.

        Without prior outcomes, the posterior mean of t = n + C + 1 outcomes is n/t times the
        average plus a constant, so its standard deviation is n/t times that of the average (eq. 20
        of the Bayes@N paper).
        """
        uniform = replace(self, prior=0)
        _, variance = uniform.posterior()
        t = uniform.posterior_counts()[:, -1]
        return self.max_of(1), (t / self.sizes) ** 2 * variance

    def posterior_counts(self) -> np.ndarray:
        """Return the counts of samples, prior outcomes and one of each category together, (U, L).

        They count outcomes with at most each reward. Real rewards, without categories, raise a
        ValueError.
        """
        if self.categories is None:
            raise InputError(
                "The posterior needs categories, and these outcomes are real rewards: choose "
                "limits for the same questions, sampled again",
                InPython(" (interval='sampling')"),
                ", or give categories and their rewards",
                InPython(" (w)"),
                ".",
            )
        return self.at_most + self.categories + self.prior

    def _mean(self, at_most: np.ndarray) -> np.ndarray:
        """Return the mean reward of each row, (U,), from (U, L) counts with at most each reward."""
        counts = np.diff(at_most, axis=1, prepend=0)
        return (self.levels * counts).sum(axis=1) / at_most[:, -1]


@dataclass(frozen=True)
class RankedRewards(Rewards):
    """Real rewards, which are stored for each sample. Each question has its own row, so U is M.

    `levels`, (S,), are the rewards of all samples, question after question, ascending in each, and
    `at_most`, (S,), their ranks in their question, from 1 to n.
    """

    @cached_property
    def sizes(self) -> np.ndarray:
        """Return the number of samples of each question, (M,)."""
        return self.at_most[self._last]

    @property
    def ranges(self) -> np.ndarray:
        """Return the smallest and the largest observed reward of each question, (M, 2)."""
        last = self._last
        first = last + 1 - self.sizes
        return np.stack([self.levels[first], self.levels[last]], axis=1)

    @cached_property
    def _last(self) -> np.ndarray:
        """Return the index of the largest reward of each question in `levels`, (M,)."""
        starts = np.flatnonzero(self.at_most == 1)  # The smallest reward of a question has rank 1.
        return np.append(starts[1:], len(self.at_most)) - 1

    def max_of(self, k: int) -> np.ndarray:
        """Return the unbiased estimate of Max@k of each question, (M,), for k <= n."""
        sizes = self.sizes
        start, result = self._last + 1 - sizes, np.empty(len(sizes))
        # The maximum of k samples has the rank i with a probability that depends on n, k and i.
        for n in sorted({*sizes.tolist()}):
            questions = np.flatnonzero(sizes == n)
            levels = self.levels[start[questions, None] + np.arange(n)]
            if k == 1:
                result[questions] = levels.mean(axis=1)
            else:
                result[questions] = (levels * chance_of_rank(n, k)).sum(axis=1)
            # Rounding may move the result out of the range of the rewards.
            least, most = levels.min(axis=1), levels.max(axis=1)
            result[questions] = np.clip(result[questions], least, most)
        return result


# --- From outcomes ------------------------------------------------------------------------


def category_rewards(outcomes: Samples, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """Return the rewards of outcomes that are categories 0, 1, .., C, with the rewards w, (C + 1,).

    `prior`, (M, C + 1), are the numbers of prior outcomes. A ValueError is raised for another
    outcome, or if all outcomes are bools, and C is above 1.
    """
    if (largest := int(outcomes.values.max())) >= len(w):
        shown = f", such as w={[*range(largest + 1)]}" if largest <= 20 else ""
        outcomes.require(
            outcomes.values < len(w),
            f"there are rewards for the categories 0 to {len(w) - 1}: give one for each from 0 to "
            f"the largest",
            InPython(shown),
            ", or write rewards with a decimal point, such as 3.0",
        )
    if outcomes.values.dtype.kind == "b" and len(w) > 2:
        raise InputError(
            f"The outcomes are correct or incorrect, but there are rewards for {len(w)} categories",
            InPython(" in w"),
            ": give two, or none",
            InPython(", or a check_correct_fn that returns a category"),
            ".",
        )
    # The observed and the prior outcomes of each category, (M, 2, C + 1).
    counts = np.stack([outcomes.category_counts(len(w)), prior], axis=1)
    representative, inverse = _unique_rows(counts.reshape(len(counts), -1))
    order = np.argsort(w, kind="stable")
    last = np.flatnonzero(np.diff(w[order], append=np.inf))  # last index in `order` per reward
    at_most = np.cumsum(counts[representative][..., order], axis=-1)[..., last]
    observed, prior_outcomes = at_most[:, 0], at_most[:, 1]
    return Rewards(inverse, w[order][last], observed, last + 1, prior_outcomes)


def _unique_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the distinct ones of M rows of counts, and which equals each row, (M,).

    The distinct rows ascend by their last column first. np.unique with axis=0 would be slower.
    """
    inverse, size = np.zeros(len(table), dtype=np.int64), 1
    for column in table.T:
        # Codes of ranks are below M^2, and of counts could exceed 64 bits.
        ranks = UniqueIntegers(column, int(column.max()))
        number = len(ranks.values)
        if number > 1:
            codes = UniqueIntegers(ranks.inverse * size + inverse, size * number)
            inverse, size = codes.inverse, len(codes.values)
    representative = np.empty(size, dtype=np.int64)
    representative[inverse] = np.arange(len(table))
    return representative, inverse


def has_real_rewards(outcomes: Samples) -> bool:
    """Return whether a scored outcome is a float other than 0 and 1, the default categories."""
    if outcomes.values.dtype.kind != "f":
        return False
    values = outcomes.scored_values
    return bool(((values != 0) & (values != 1)).any())


def are_real_rewards(outcomes: Samples, w, R0=None, categories=None) -> bool:
    """Return whether outcomes are real rewards: w is None, and a float is neither 0 nor 1.

    In this case a ValueError is raised if R0 or categories is given, which are for categories.
    """
    if w is not None or not has_real_rewards(outcomes):
        return False
    if R0 is not None or categories is not None:
        name = "R0" if categories is None else "categories"
        raise ValueError(f"{name} is given, but the outcomes are real rewards: leave it out.")
    return True


def real_rewards(outcomes: Samples) -> Rewards:
    """Return outcomes as real rewards; raise a ValueError unless they are from -1e150 to 1e150."""
    outcomes.require(np.abs(outcomes.values.astype(float, copy=False)) <= 1e150, _VALID_REWARD)
    n, values = outcomes.n, outcomes.scored_values.astype(float)
    if size := one_size(n):
        values = np.sort(values.reshape(-1, size), axis=1).ravel()
    else:  # Sort by question, and by value within a question.
        values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    rank = np.arange(1, len(values) + 1) - np.repeat(np.cumsum(n) - n, n)
    return RankedRewards(np.arange(len(n)), values, rank)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """Return the parameter w, the rewards of the categories, by default 0 and 1, as (C + 1,).

    A ValueError is raised if one is not from -1e150 to 1e150, or if there are not C + 1 `labels`.
    """
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    rewards = [int(x) if isinstance(x, (bool, np.bool_)) else x for x in rewards]
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(
            f"There are {len(labels)} categories but {len(rewards)} rewards: give one "
            f"reward for each category."
        )
    return np.array(
        [check_number(f"w[{i}]", x, _VALID_REWARD, -1e150, 1e150) for i, x in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """Return the number of prior outcomes of each question in each category, (M, C + 1).

    R0 has M rows of D outcomes, or is a flat list of all, question after question, or None for no
    prior outcomes. A ValueError is raised if it has another shape, or a missing entry.
    """
    if is_list_like(R0) and not hasattr(R0, "__len__"):  # a generator, which is read twice below
        R0 = list(R0)
    if R0 is None or _has_no_entries(R0, questions):
        return np.zeros((questions, categories), dtype=np.int64)
    outcomes = read_outcomes(R0, "R0")
    rows, size = len(outcomes.sizes), one_size(outcomes.sizes)
    if not (is_frame(R0) or is_list_like(next(iter(R0)))):  # a flat list
        rows, size = questions, size // questions
    is_rectangular = rows == questions and rows * size == len(outcomes.values)
    if not is_rectangular or outcomes.multiplicity is not None:
        lengths = sorted({*outcomes.sizes.tolist()})
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows with {short(lengths)} outcomes: give {questions} "
            f"rows of one length, without None."
        )
    return replace(outcomes, sizes=np.full(rows, size)).category_counts(categories)


def _has_no_entries(R0, questions: int) -> bool:
    """Return whether R0 is empty, or has one empty list for each question."""
    if is_frame(R0) or not is_list_like(R0) or len(R0) not in (0, questions):
        return False
    return all(is_list_like(row) and len(row) == 0 for row in R0)


# --- Scores -------------------------------------------------------------------------------


def max_scores(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Scores:
    """Return unbiased estimates of Max@k at the k of each key. No k may exceed any n."""
    no_column = np.empty((len(rewards.sizes), 0))  # so that `ks` may be empty
    columns = np.column_stack([no_column, *(rewards.max_of(k) for k in ks.values())])
    return Scores(one_column_each(ks), rewards.inverse, columns)


def moments_by_key(
    rewards: Rewards, moments: Mapping[ScoreKey, tuple[np.ndarray, np.ndarray]]
) -> Moments:
    """Return the `Moments` of scores, without covariances, from (mean, variance) of each, (U,)."""
    mean = np.stack([mean for mean, _ in moments.values()], axis=1)
    variances = {(i, i): variance for i, (_, variance) in enumerate(moments.values())}
    return Moments(one_column_each(moments), rewards.inverse, mean, variances)


# --- shared/at_k/core/votes.py --------------------------------------------------------------------

"""vote@k: the probability that the most frequent answer of k samples is correct.

Draw k of the n samples of a question. The answer with the most votes wins, and answers with equally
many share the win. Let m_i samples give the answer i, u samples no answer, and a winner have t
votes. With binomial coefficients C(m, t), the coefficient of z^k y^w in

    G_t(z, y) = (1 + z)^u
                * product over i of (C(m_i, 0) + .. + C(m_i, t-1) z^(t-1) + y C(m_i, t) z^t)

is the number of subsets in which w answers have t votes and none has more. Each of the w winners
has the share 1/w, the integral of y^(w-1) from 0 to 1. So, for the coefficient [z^k] of z^k,

    vote@k = sum over t, and over correct answers a, of
             [z^k] integral of C(m_a, t) z^t G_t(z, y) / (factor of a) dy,  divided by C(n, k).

The integrand is a polynomial in y of degree at most k/t - 1, which Gauss-Legendre quadrature with
half as many nodes integrates exactly. For t = 1, w is the number of the k samples that have an
answer, so no quadrature is needed. No term is negative, so no digits cancel. If a judge accepts
only some samples of an answer, it counts with its share of accepted samples, its credit.

There are M questions with S samples in all.
"""


_MOST_OPERATIONS = 3e10  # for vote@k of one question, which takes some minutes


class AnswerCounts(NamedTuple):
    """How many samples of a question gave each of its answers.

    Attributes:
        correct: the number of samples of each answer that has accepted ones, ascending.
        incorrect: the number of samples of each other answer, ascending.
        unanswered: the number of samples without an answer. They are drawn, but have no vote.
        accepted: the number of accepted samples of each answer in `correct`; () if all are. Only a
            judge accepts some samples of an answer, and not others.
    """

    correct: tuple[int, ...]
    incorrect: tuple[int, ...]
    unanswered: int
    accepted: tuple[int, ...] = ()

    @classmethod
    def from_answers(cls, answers: Sequence[tuple[int, int]], unanswered: int) -> AnswerCounts:
        """Return the counts for answers that are pairs (samples, accepted samples)."""
        correct = sorted((samples, accepted) for samples, accepted in answers if accepted)
        incorrect = sorted(samples for samples, accepted in answers if samples and not accepted)
        samples, accepted = tuple(zip(*correct, strict=True)) or ((), ())
        return cls(samples, tuple(incorrect), unanswered, () if accepted == samples else accepted)

    @property
    def answers(self) -> list[tuple[int, int]]:
        """Return a pair (samples, accepted samples) for each answer, incorrect ones first."""
        accepted = zip(self.correct, self.accepted or self.correct, strict=True)
        return [*((samples, 0) for samples in self.incorrect), *accepted]

    @property
    def credits(self) -> np.ndarray:
        """Return the share of accepted samples of each answer in `correct`."""
        return np.array(self.accepted or self.correct) / self.correct


def count_answers(correct: Samples, answers: np.ndarray, merge_correct: bool) -> list[AnswerCounts]:
    """Return a list of the answer counts of each question.

    `correct` says whether each sample is correct, and `answers`, (S,), has an integer from 0 for
    its answer, or -1 for none. If `merge_correct`, all answers to a question that are accepted in
    more than half of their samples count as one.
    """
    question = np.repeat(np.arange(len(correct.sizes)), correct.sizes)
    scored = correct.weights > 0
    weights, is_correct = correct.weights[scored], correct.values[scored]
    # The code of an answer is question x width + number: 0 for no answer, from 1 for the answers,
    # and width - 1 for all merged ones.
    width = int(answers.max(initial=0)) + 3
    code = question[scored] * width + answers[scored] + 1
    code, samples, accepted = _sums_by_code(code, weights, weights * is_correct)
    if merge_correct:
        is_merged = (2 * accepted > samples) & (code % width > 0)
        code_if_merged = code // width * width + width - 1
        code = np.where(is_merged, code_if_merged, code)
        code, samples, accepted = _sums_by_code(code, samples, accepted)
    # The codes are ascending, so those of one question follow each other.
    ends = np.cumsum(np.bincount(code // width, minlength=len(correct.sizes)))[:-1]
    columns = (np.split(column, ends) for column in (code % width > 0, samples, accepted))
    return [
        AnswerCounts.from_answers(
            [*zip(sizes[answered].tolist(), n_accepted[answered].tolist(), strict=True)],
            int(sizes[~answered].sum()),
        )
        for answered, sizes, n_accepted in zip(*columns, strict=True)
    ]


def _sums_by_code(code: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the distinct codes, ascending, and for each the sum of every column of integers."""
    distinct, inverse = np.unique(code, return_inverse=True)
    return distinct, *(np.bincount(inverse, column).astype(np.int64) for column in columns)


def vote_at_k(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return vote@k of each question, (M,), for one k or one of each question, (M,), at most n.

    A ValueError is raised if a question would take longer than some minutes.
    """
    ks = np.broadcast_to(k, len(counts)).tolist()
    _check_work(counts, ks)
    return np.array([vote_probability(answers, k) for answers, k in zip(counts, ks, strict=True)])


def _check_work(counts: Sequence[AnswerCounts], ks: Sequence[int]) -> None:
    """Raise a ValueError if vote@k of a question, at its k, needs more than 3e10 operations.

    For winners with t votes, each node of quadrature needs k operations for each power of z in the
    factors of all answers, which have up to t powers.
    """
    for question, (answers, k) in enumerate(zip(counts, ks, strict=True)):
        n_answers = len(answers.correct) + len(answers.incorrect)
        # Up to rounding, k^3 n_answers / 4 is a bound on the operations, and fast to compute.
        if k**3 * n_answers <= 4 * _MOST_OPERATIONS or not answers.correct:
            continue
        samples = np.array(answers.correct + answers.incorrect)
        operations = sum(
            k * _number_of_nodes(k, t) * int(np.minimum(samples, t).sum())
            for t in range(1, min(k // 2, max(answers.correct)) + 1)
        )
        if operations > _MOST_OPERATIONS:
            raise InputError(
                f"vote@{k} of ",
                Place("question", question),
                f", which has {n_answers} answers, needs {operations:.0e} operations, and "
                f"{_MOST_OPERATIONS:.0e} are possible: give a smaller k, such as "
                f"{int(k * (_MOST_OPERATIONS / operations) ** (1 / 3))}.",
            )


@lru_cache(maxsize=1 << 14)
def vote_probability(counts: AnswerCounts, k: int) -> float:
    """Return vote@k of one question: the expected credit of the winner of k votes."""
    correct, incorrect, unanswered, _ = counts
    if not correct:
        return 0.0
    n = sum(correct) + sum(incorrect) + unanswered
    if k == n:
        most = max(correct + incorrect)
        credits_of_winners = counts.credits[np.array(correct) == most]
        return float(credits_of_winners.sum()) / (correct + incorrect).count(most)
    # An answer with more than half of the votes wins, whatever votes the others have.
    absolute = expected_credits(np.full(len(correct), n), np.array(correct), [majority(k)])
    credit = float(counts.credits @ absolute[:, 0])
    return min(1.0, credit + _credit_with_at_most_half(counts, n, k))


def _credit_with_at_most_half(counts: AnswerCounts, n: int, k: int) -> float:
    """Return the contribution to vote@k of the subsets whose winners have at most k/2 votes."""
    nodes = _nodes(counts, k)
    if not nodes:
        return 0.0
    t, y, weight = (np.array(column)[:, None] for column in zip(*nodes, strict=True))
    first_row_of_power = np.searchsorted(t[:, 0], np.arange(t.max() + 1))  # t is ascending
    has_single_votes = t[0, 0] == 1  # The first node is that of t = 1, without quadrature.
    # Scaling by powers of two is exact, and prevents overflow: z is scaled by 2^shift, each factor
    # by a power of its own, and the products after every 32 factors. Without the scale of z, the
    # coefficients of a row are those of the table times 2^exponents[row].
    shift = round(math.log2((k + 0.5) / (n - k + 0.5)))
    ways_unanswered, exponent = _scaled_binomials(counts.unanswered, k, shift)
    exponents = np.full(len(nodes), exponent)
    product = np.zeros((len(nodes), k + 1))  # the coefficients of z^0 .. z^k of G_t at each node
    product[:, : len(ways_unanswered)] = ways_unanswered
    if has_single_votes:
        product[0] = np.arange(k + 1) == 0  # Samples without an answer are added in the end.
    # The sum over correct answers a of their credit x C(m_a, t) z^t G_t / (factor of a):
    winning = np.zeros_like(product)
    for answer, (m, accepted) in enumerate(counts.answers):
        ways, exponent = _scaled_binomials(m, int(t.max()), shift)  # by the number of votes
        votes = np.arange(len(ways))
        factor = ways * (votes < t) + y * ways * (votes == t)
        if accepted:  # Either an earlier answer is the winner of the formula, or this one.
            winning = _multiply_truncated(winning, factor, first_row_of_power)
            for row, votes_of_winner in enumerate(t[t < len(ways)].tolist()):
                wins = accepted / m * ways[votes_of_winner]
                winning[row, votes_of_winner:] += wins * product[row, :-votes_of_winner]
        product = _multiply_truncated(product, factor, first_row_of_power)
        exponents += exponent
        if answer % 32 == 31:  # Scale the largest coefficient of each row to below 1.
            excess = np.frexp(np.maximum(product.max(axis=1), winning.max(axis=1)))[1]
            product = np.ldexp(product, -excess[:, None])
            winning = np.ldexp(winning, -excess[:, None])
            exponents += excess
    subsets, exponent = _mantissa_and_exponent(math.comb(n, k))
    sums = winning[:, k].copy()
    if has_single_votes:  # k - w of the samples have no answer, and each winner has the share 1/w.
        w = np.arange(max(1, k + 1 - len(ways_unanswered)), k + 1)
        sums[0] = (winning[0, w] / w) @ ways_unanswered[k - w]
    integrands = np.ldexp(sums / subsets, exponents - exponent - shift * k)
    return float((weight[:, 0] * integrands).sum())


def _nodes(counts: AnswerCounts, k: int) -> list[tuple[int, float, float]]:
    """Return the quadrature nodes (t, y, weight) of the integrals over y, ascending in t.

    The winners have t <= k/2 votes. t = 1 has one node, as it needs no quadrature: y = weight = 1.
    """
    samples = np.array(counts.incorrect + counts.correct)
    return [
        (t, y, weight)
        for t in range(1, min(k // 2, max(counts.correct)) + 1)
        # With at most t votes for each answer, k samples must be available.
        if np.minimum(samples, t).sum() + counts.unanswered >= k
        for y, weight in (gauss_legendre(_number_of_nodes(k, t)) if t > 1 else [(1.0, 1.0)])
    ]


def _number_of_nodes(k: int, t: int) -> int:
    """Return the number of quadrature nodes for winners with t of k votes."""
    return 1 if t == 1 else -(-(k // t) // 2)


def _multiply_truncated(
    polynomial: np.ndarray, factor: np.ndarray, first_row_of_power: np.ndarray
) -> np.ndarray:
    """Return the product of two polynomials in z for each node, up to the degree k, (nodes, k + 1).

    Columns are coefficients of z^0, z^1, ... For each power, `first_row_of_power` has the first
    node with t of at least this power: coefficients of `factor` in earlier rows are 0.
    """
    product = factor[:, :1] * polynomial
    for power, row in enumerate(first_row_of_power[: factor.shape[1]].tolist()):
        if power:
            product[row:, power:] += factor[row:, power, None] * polynomial[row:, :-power]
    return product


@lru_cache(maxsize=1 << 12)
def _scaled_binomials(m: int, most: int, shift: int) -> tuple[np.ndarray, int]:
    """Return C(m, x) 2^(shift x - e) for x = 0 .. min(m, most), and e that makes all at most 1."""
    floats = [_mantissa_and_exponent(math.comb(m, x)) for x in range(min(m, most) + 1)]
    exponents = [exponent + shift * x for x, (_, exponent) in enumerate(floats)]
    e = max(exponents)
    mantissas = np.array([mantissa for mantissa, _ in floats])
    return np.ldexp(mantissas, np.array(exponents) - e), e


def _mantissa_and_exponent(number: int) -> tuple[float, int]:
    """Return the mantissa, from 1/2 to 1, and the exponent of an integer > 0, as `math.frexp` does.

    The integer may be too large for a float.
    """
    exponent = number.bit_length()
    return number / (1 << exponent), exponent


@lru_cache(maxsize=256)
def gauss_legendre(nodes: int) -> list[tuple[float, float]]:
    """Return pairs (node, weight) of Gauss-Legendre quadrature on [0, 1]."""
    from scipy.special import roots_legendre  # imported here, because it takes long

    x, weights = roots_legendre(nodes)
    return [*zip(((1 + x) / 2).tolist(), (weights / 2).tolist(), strict=True)]


# --- shared/at_k/core/computation.py --------------------------------------------------------------

"""The computation of a metric without the protocol of `evaluate`.

The metrics of `evaluate` and the command `at-k` both use it. The command does not import
`evaluate`, because that takes longer than most computations.
"""


DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class SampledQuestions:
    """The samples of M questions, which `check` turns into outcomes.

    `validate` raises a ValueError for outcomes that the metric does not accept. `cache` has the
    results of earlier checks. If a check fails, the package adds finished ones.
    """

    batch: Samples
    validate: Callable[[Samples], Any]
    cache: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.batch)

    @property
    def n(self) -> np.ndarray:
        """Return the number of samples of each question that are not None, (M,)."""
        return self.batch.n

    def check(self, checking: Checking) -> Checked:
        """Return the outcomes of all samples, and the answers that the checker compared, if any.

        Samples without references are outcomes, or labels whose numbers are in `checking.labels`. A
        ValueError is raised if a check fails, or if the metric does not accept an outcome.
        """
        batch = self.batch
        if batch.references is not None:
            checked = checking.check(batch, self.cache)
            self.validate(checked.outcomes)
            return checked
        if not checking.matches_exactly:
            raise ValueError(
                "check_correct_fn is given, but there are no references to check against: give "
                "references; or leave it out, if predictions are outcomes."
            )
        if not batch.are_numbers:  # numbers were validated when they were read
            batch = as_outcomes(batch, checking.labels)
            self.validate(batch)
        return Checked(batch)


@dataclass(frozen=True)
class Computation:
    """The functions that compute a metric, and what outcomes it accepts.

    Args:
        results: returns the dict of `compute` from `SampledQuestions` and the parameters.
        validate: raises a ValueError for outcomes that the metric does not accept.
        accepts_labels: whether already-graded outcomes may be labels, for which a parameter of the
            metric has numbers.
        in_order: names of parameters with one value for each sample, in their order. All samples
            are then given in one call of `compute`.
    """

    results: Callable[..., Any]
    validate: Callable[[Samples], Any]
    accepts_labels: bool = False
    in_order: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of the metric by name, without predictions and references."""
        parameters = parameters_of(self.results)
        del parameters["questions"]
        return parameters

    def ordered_options(self, options: Mapping[str, Any]) -> list[str]:
        """Return the names in `in_order` whose option is given, and is no dict of counts."""
        no_order = (type(None), Mapping)
        return [name for name in self.in_order if not isinstance(options.get(name), no_order)]

    def read(self, predictions, references) -> Samples:
        """Return the samples of all questions: answers to check, labels, or validated outcomes."""
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        samples = read_samples(predictions)
        if references is not None:
            if samples.are_counts and samples.are_numbers:
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, as {'answers': [['12', '13']], 'counts': [[5, 3]]}."
                )
            return stored(samples, references)
        are_texts = hasattr(samples.values, "chunks")  # a column of Arrow
        if self.accepts_labels and are_texts:  # Parameters of `compute` say what labels mean.
            return samples
        check_types(samples)
        outcomes = as_outcomes(samples)
        self.validate(outcomes)
        return outcomes

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the dict of scores for these predictions, references and parameters."""
        check_options(self.results, options)
        questions = SampledQuestions(self.read(predictions, references), self.validate)
        return self.results(questions, **options)


# --- shared/at_k/core/choice.py -------------------------------------------------------------------

"""The options of intervals, the rule of `interval="auto"`, and the choice of the method of limits.

`interval_options` validates the parameters of a metric once, before any sample is checked. There
are M questions, U distinct rows of scores, and m columns.
"""


INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def method_of_auto(has_prior: bool, has_clusters: bool, repeated: bool | None = None) -> str:
    """Return the name of the method that `interval="auto"` stands for.

    It is "posterior" with a prior that is not uniform, and "questions" with clusters. Otherwise it
    is "sampling" if a question is `repeated`, with two samples or more, as these show how scores
    vary when the same questions are sampled again ("hierarchical" for k > n). If each has one, it
    is "questions", as only differences between questions show a variance. Scores with k > n then
    have no estimate. If `repeated` is None, not known yet, it is "auto".
    """
    if has_prior:
        return "posterior"
    if has_clusters:
        return "questions"
    return {None: "auto", True: "sampling", False: "questions"}[repeated]


# --- Options ------------------------------------------------------------------------------


class Weighting(NamedTuple):
    """How the scores of questions are averaged, by default with equal weights."""

    values: np.ndarray | None = None  # (M,) the weight of each question, or None for equal ones
    words: str = ""  # a description such as "averaged over 3 groups"
    over_groups: bool = False  # whether the result is the mean of the scores of groups


OVER_QUESTIONS = Weighting()


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are computed. The values are valid."""

    confidence: float | None = None  # of each interval, or None for no intervals
    method: str = "auto"  # by name, or "auto" if it depends on the numbers of samples
    is_named: bool = True  # whether results name the method of each interval, as for "auto"
    clusters: np.ndarray | None = None  # (M,) integer labels, or None if each question is its own
    weighting: Weighting = OVER_QUESTIONS
    prior: tuple[float, float] = (1.0, 1.0)  # alpha0 and beta0 of the Beta prior of success rates
    bounds: tuple[float, float] = (-math.inf, math.inf)  # to which limits are clipped
    band: bool = False  # whether to add the simultaneous confidence band of each score over k
    anytime: bool = False  # whether limits hold together at all looks at the data

    @property
    def weights(self) -> np.ndarray | None:
        """Return the weight of each question in means, (M,), or None if all are equal."""
        return self.weighting.values

    @property
    def allow_above_n(self) -> bool:
        """Return whether k may exceed the number of samples of a question.

        It may not in a mean over groups, because each group would be extrapolated by its own prior.
        """
        if self.weighting.over_groups:
            return False
        return self.confidence is not None and self.method in ("hierarchical", "auto")


def interval_options(
    questions: int,
    confidence: float | None,
    interval: str | None,
    clusters,
    *,
    known: Sequence[str] = INTERVALS,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    has_prior_outcomes: bool = False,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
    weighting: Weighting = OVER_QUESTIONS,
    anytime: bool = False,
) -> IntervalOptions:
    """Return the parameters of a metric for M questions as options of intervals.

    `known` are the names that `interval` can have, and `has_prior_outcomes` says if R0 is given. A
    ValueError is raised if a parameter is invalid, or contradicts or lacks another.
    """
    prior, limits = check_prior(alpha0, beta0), check_bounds(bounds)
    check_flag("band", band)
    check_flag("anytime", anytime)
    requested = "auto" if interval is None else check_name("interval", interval, known)
    if confidence is not None:
        confidence = check_confidence(confidence)
    else:
        _refuse_without_confidence(interval=interval, clusters=clusters, band=band, anytime=anytime)
    prior_name = "alpha0, beta0" if prior != (1, 1) else ""
    prior_name = "R0" if has_prior_outcomes else prior_name
    method = requested
    if requested == "auto":
        method = method_of_auto(bool(prior_name), clusters is not None)
    uses_prior = f"interval='posterior' uses {prior_name}"
    has_two = "and interval='questions' uses clusters: leave out one of them."
    needs_data = (
        "anytime needs limits of the data alone, and interval is 'posterior': give "
        "interval='sampling' or 'questions', without a prior."
    )
    contradictions = (  # facts that exclude each other, and the message
        (prior_name, method != "posterior", f"only {uses_prior}, and interval is {requested!r}."),
        (prior_name, requested == "auto", clusters is not None, f"{uses_prior}, {has_two}"),
        (anytime, method == "posterior", needs_data),
        (anytime, band, "a band holds at one look: leave out band or anytime."),
    )
    for *facts, message in contradictions:
        if all(facts):
            raise ValueError(message)
    index = check_clusters(clusters, method, questions, weighting.values)
    is_named = requested == "auto"
    return IntervalOptions(
        confidence, method, is_named, index, weighting, prior, limits, band, anytime
    )


def _refuse_without_confidence(**for_limits: Any) -> None:
    """Raise a ValueError if an option that only limits use is given: neither None nor False."""
    for name, value in for_limits.items():
        if value is not None and value is not False:
            raise ValueError(
                f"only limits use {name}, and there is no confidence: give one, such as "
                f"confidence=0.95."
            )


def question_weighting(
    average: Any, question_weights: Any, groups: Any, questions: int
) -> Weighting:
    """Return the parameters of a metric about averages over M questions as a `Weighting`.

    For average="groups", the weights of each group are scaled to the sum 1. A ValueError is raised
    if a parameter is invalid, if groups are missing, or if all weights of a group are 0.
    """
    over_groups = check_name("average", average, ("questions", "groups")) == "groups"
    if over_groups and groups is None:
        raise ValueError(
            "average='groups' is the mean of the scores of groups: give a label of its group for "
            "each question as groups (in the shell, their column as --groups)."
        )
    names, index = ([], None) if groups is None else label_index(groups, questions, "groups")
    if question_weights is None and not over_groups:
        return OVER_QUESTIONS
    weights, words = np.ones(questions), ""
    if question_weights is not None:
        weights, words = _check_weights(question_weights, questions), "averaged with weights"
    if index is not None:
        sums = np.bincount(index, weights)
        if not sums.all():
            raise ValueError(
                f"question_weights are 0 for all questions of group {names[int(sums.argmin())]!r}: "
                f"give one of them a weight above 0, or leave the group out."
            )
        if over_groups:
            weights = weights / sums[index]
            words = f"averaged over {len(names)} groups{', with weights in each' if words else ''}"
    return Weighting(None if (weights == weights[0]).all() else weights, words, over_groups)


def _check_weights(question_weights: Any, questions: int) -> np.ndarray:
    """Return the weights of questions, (M,); raise a ValueError if one is invalid, or all are 0."""
    entries = entries_of("question_weights", question_weights)
    if len(entries) != questions:
        raise ValueError(
            f"question_weights has {len(entries)} entries for {questions} questions: give one "
            f"weight for each."
        )
    weights, wanted = [], "a weight is 0, or a number from 1e-50 to 1e50"
    for question, weight in enumerate(entries):
        name = f"question_weights[{question}]"
        number = check_number(name, weight, wanted, 0, 1e50)
        weights.append(number and check_number(name, number, wanted, 1e-50, 1e50))
    if not any(weights):
        raise ValueError("question_weights are all 0: give a weight above 0.")
    return np.array(weights)


def refuse_group_average_of_products(average: Any, scores: Mapping[ScoreKey, Score]) -> None:
    """Raise a ValueError if average="groups", and a score is a product of two pooled means."""
    for key, score in scores.items():
        if average == "groups" and score.pooled and len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two means over all questions, so average='groups' does not "
                f"apply: leave it out, or give groups without average."
            )


class KnownClusters(list[str]):
    """Labels of clusters that a run was read with, although nobody asked for them.

    Only the interval "questions" uses them. Others ignore them, and refuse labels that are given.
    """

    is_optional = True


def check_clusters(
    clusters, interval: str, questions: int, weights: np.ndarray | None = None
) -> np.ndarray | None:
    """Return integer labels of the clusters of M questions, (M,), or None if `clusters` is None.

    A warning says if a few clusters have most of the questions. A ValueError is raised unless there
    are M labels, and the method `interval` is "questions" or "auto".
    """
    if clusters is None:
        return None
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    names, index = label_index(clusters, questions, "clusters")
    effective = effective_clusters(index, questions, weights)
    if effective < len(names) / 2:
        warnings.warn(
            f"The {len(names)} clusters differ in size, so they count as {effective:.1f} of equal "
            f"size: the limits are as wide as with so few clusters.",
            stacklevel=2,
        )
    return index


# --- Scores, and the method of their limits ------------------------------------------------


def pass_limits(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return estimates of scores of the pass@k family, and the method of their limits.

    Without a confidence, callers do not use the method that is returned. Methods other than
    "questions" are in the installed package, which `PACKAGE.rooms` calls.
    """
    if options.confidence is None:
        points = pass_scores(counts, scores)
        return points, QuestionIntervals(points)
    if options.method != "questions":
        return PACKAGE.rooms.pass_limits(counts, scores, options)
    # Limits at one k are compared with those at neighboring k, which may not be requested.
    with_others = with_neighbors(scores, int(counts.n.min()))
    points = pass_scores(counts, with_others)
    method = limits_for_questions(points, "", options, (0.0, largest_scores(with_others)))
    return points.only(scores), CoherentIntervals(method, scores)


def max_limits(
    rewards: Rewards,
    ks: Mapping[ScoreKey, int],
    options: IntervalOptions,
    score_range: tuple[float, float] | None = None,
) -> tuple[Scores, IntervalMethod]:
    """Return estimates of Max@k at the k of each key, and the method of their limits.

    `score_range` is the range of possible scores; by default, that of the rewards of each question.
    The method is as for `pass_limits`.
    """
    if options.confidence is None:
        points = max_scores(rewards, ks)
        return points, QuestionIntervals(points)
    ranges = np.clip(rewards.ranges if score_range is None else [score_range], *options.bounds)
    if options.method != "questions":
        return PACKAGE.rooms.max_limits(rewards, ks, options, ranges)
    points, (least, most) = max_scores(rewards, ks), ranges.T
    return points, limits_for_questions(points, "", options, (least[:, None], most[:, None]))


def limits_for_questions(
    points: Scores, name: str, options: IntervalOptions, score_range: Ranges = UNIT_RANGE
) -> IntervalMethod:
    """Return the method "questions" of limits of scores from `score_range`.

    `name` is that of scores for which no other method exists, or "". A ValueError is raised if
    another method is requested for these.
    """
    if name and options.confidence is not None and options.method not in ("questions", "auto"):
        raise ValueError(
            f"{name} has limits for other questions only: give interval='questions', without a "
            f"prior, or leave {name} out of include."
        )
    allow_one = bool(name) and options.is_named
    return QuestionIntervals(
        points, score_range, options.clusters, allow_one, weights=options.weights
    )


# --- shared/at_k/core/consensus.py ----------------------------------------------------------------

"""The scores of cons_at_k: cons@k, avg@n, pass@k, maj@k, vote@k, and mean shares of correctness.

The first four depend on counts only: n samples of a question, c of them correct. cons@k is 1 if
more than k/2 of all n samples are correct, otherwise 0. There are M questions, and U distinct pairs
(n, c).
"""


CountScore = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A function of n and c, (U,) each, that returns the values of a score, (U,)."""


@dataclass(frozen=True)
class Consensus:
    """The data on which the scores of cons_at_k depend.

    Attributes:
        shares: outcomes from 0 to 1, the shares of correctness of samples.
        counts: numbers of samples, and of those whose share is above 1/2.
        ks: a dict from the k in the key of a score to its k. If scores use all n samples of each
            question, the first is n, or "n" if it differs between questions, and the second None.
        votes: the counts of answers of each question; None without answers or without vote@k.
    """

    shares: Samples
    counts: BinaryCounts
    ks: Mapping[int | str, int | None]
    votes: Sequence[AnswerCounts] | None = None

    @classmethod
    def from_checked(
        cls, checked: Checked, ks: Sequence[int] | None, merge_right: bool, with_votes: bool
    ) -> Consensus:
        """Return the data of checked samples, for scores at each k in `ks`, or at k = n if None.

        Answers are counted if `with_votes`, and if `merge_right`, all correct answers to a question
        are counted as one. Raises ValueError if a question has fewer than k scored samples.
        """
        correct = more_than_half(checked.outcomes)
        counts = correct.counts
        check_samples([*(ks or [])], counts.n)  # The checker may have left samples unscored.
        k_by_key: dict[int | str, int | None] = {k: k for k in ks or ()}
        votes = None
        if checked.answers is not None and with_votes:
            votes = count_answers(correct, checked.answers, merge_right)
        if not k_by_key:
            k_by_key[n_in_keys(counts.n)] = None  # all n samples of each question
        return cls(checked.outcomes, counts, k_by_key, votes)

    @property
    def n(self) -> int | str:
        """Return the N in keys such as "avg@8", or "n" if it differs between questions."""
        return n_in_keys(self.counts.n)

    def sizes(self, k: int | None) -> int | np.ndarray:
        """Return k, or the number of samples of each question, (M,), if k is None."""
        return self.counts.n if k is None else k

    @property
    def has_shares(self) -> bool:
        """Return whether outcomes are floats, whose mean, the accuracy, is a score too."""
        return self.shares.values.dtype.kind == "f"

    def count_scores(self) -> dict[ScoreId, CountScore]:
        """Return the functions for cons@k, avg@n, pass@k and maj@k of n samples, c of them correct.

        `ks` maps the k in the key of a score to the k of its function, or to None for k = n.
        """
        scores: dict[ScoreId, CountScore] = {
            ScoreId("cons@k", k_in_key): partial(_has_majority, k)
            for k_in_key, k in self.ks.items()
        }
        scores[ScoreId("avg@N", self.n)] = lambda n, c: c / n
        for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
            for k_in_key, k in self.ks.items():
                scores[ScoreId(metric, k_in_key)] = partial(_expected_credit, credits, k)
        return scores

    def values(self) -> dict[ScoreId, np.ndarray]:
        """Return the values of each score for the questions, (M,)."""
        counts = self.counts
        values = {
            key: score(*counts.unique)[counts.inverse] for key, score in self.count_scores().items()
        }
        if self.has_shares:
            values[ScoreId("accuracy (n runs average)", self.n)] = mean_shares(self.shares)
        if self.votes is not None:
            for k_in_key, k in self.ks.items():
                values[ScoreId("vote@k", k_in_key)] = vote_at_k(self.votes, self.sizes(k))
        return values


def _has_majority(k: int | None, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return cons@k, (U,): 1.0 if more than k/2 of n samples are correct. `k` is None for k = n."""
    return (2 * c > (n if k is None else k)).astype(float)


def _expected_credit(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """Return the mean credit of subsets of k of n samples, (U,). If `k` is None, k is n."""
    result = np.empty(len(n))
    for size, rows in rows_by_k(k, n):
        result[rows] = expected_credits(n[rows], c[rows], [credits(size)])[:, 0]
    return result


def rows_by_k(k: int | None, n: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each distinct k, ascending, and the indices of its rows. None stands for k = n."""
    ks = n if k is None else np.full(len(n), k)
    for size in sorted({*ks.tolist()}):
        yield size, np.flatnonzero(ks == size)


def more_than_half(outcomes: Samples) -> Samples:
    """Return outcomes that are True if the share of correctness of a sample is above 1/2."""
    return replace(outcomes, values=outcomes.values > 0.5)


def mean_shares(outcomes: Samples) -> np.ndarray:
    """Return the mean share of correctness of the scored samples of each question, (M,)."""
    shares = outcomes.values * outcomes.weights.astype(float)
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n


# --- shared/at_k/core/metric.py -------------------------------------------------------------------

"""The base class of the five metrics, which follows the protocol of `evaluate`."""


_computing: ContextVar[tuple[int, ...]] = ContextVar("_computing", default=())
"""The ids of the metric objects that are computing, as seen by the checkers that they call."""


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    Questions are validated when they are added, and kept until a `compute` succeeds. One thread at
    a time adds or computes. With several processes, all have to call `compute`.
    """

    def __init__(self, *args, experiment_id: str | None = None, **kwargs):
        """Take the arguments of `evaluate.Metric`. All processes of a run share the default id."""
        run = experiment_id or PACKAGE.rooms.run_name()
        super().__init__(*args, experiment_id=run, **kwargs)
        self._lock = threading.Lock()
        self._exchange: Any = None  # the `Exchange` of the package, if there are several processes
        if self.num_process > 1:
            self._exchange = PACKAGE.rooms.exchange(self)
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without what may not be pickled: lock, bound methods, checkers."""
        state = {name: x for name, x in vars(self).items() if not isinstance(x, MethodType)}
        return state | {"_lock": None, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    computation: Computation

    @staticmethod
    @abc.abstractmethod
    def _compute(questions: SampledQuestions):
        """Return what `computation.results` returns. Other tools inspect its signature."""

    def _build_data_dir(self) -> str:
        """Return the folder of the metric, without creating it: only an `Exchange` needs it."""
        return str(Path(self._data_dir_root, self.name, self.config_name))

    def _forget(self) -> None:
        """Drop the questions that were added, and the cached results of checks."""
        self._added: list[Samples] = []
        self._cache: dict[str, Any] = {}

    def __len__(self) -> int:
        """Return the number of questions that were added."""
        return sum(map(len, self._added))

    # --- Adding ---------------------------------------------------------------------------

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference or None.

        `predictions` and `references` are synonyms, which `evaluate.combine` uses. A ValueError is
        raised if both are given, or if an input is invalid.
        """
        samples = [value for value in (prediction, predictions) if value is not None]
        answers = [value for value in (reference, references) if value is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError(
                "Give one prediction, the list of one question's samples; at most one reference."
            )
        self.add_batch(predictions=samples, references=answers or None)

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions for each, and a reference for each, or None.

        A ValueError is raised if an input is invalid, or if a checker of this object makes the
        call; nothing is added.
        """
        self._refuse_call_from_checker("add_batch")
        batch = self.computation.read(predictions, references)
        with self._lock:
            self._added = with_batch(self._added, batch)

    # --- Computing ------------------------------------------------------------------------

    def compute(
        self, *unnamed, predictions=None, references=None, **options
    ) -> dict[str, Any] | None:
        """Return the dict of scores of these questions and all that were added before.

        `options` are the parameters of the metric. With several processes, all but one return None.

        Raises:
            ValueError: if an input is invalid. The message has its index, which counts questions
                from the first one that was added. The questions that were added are kept.
            TypeError: if an argument has no name, or is no parameter of the metric.
        """
        if unnamed:
            raise TypeError(
                "compute takes its arguments by name: give compute(predictions=.., references=..), "
                "or compute(**run) for a run."
            )
        self._refuse_call_from_checker("compute")
        check_options(self.computation.results, options, ("predictions", "references"))
        ordered = self.computation.ordered_options(options)
        paired = ("groups", "clusters", "question_weights", "R0", *ordered)
        samples = {"predictions": predictions, "references": references}
        require_same_index(samples | {name: options.get(name) for name in paired})
        if ordered and (self._added or self._exchange is not None):
            raise ValueError(
                f"{ordered[0]} goes with the samples of one call, in their order: give all "
                f"predictions to compute, in one process, and add none before."
            )
        with self._lock:
            token = _computing.set((*_computing.get(), id(self)))
            try:
                read = partial(self._all_batches, predictions, references)
                score = partial(self._scores_of_batches, options=options)
                # With several processes, one of them scores the batches of all.
                result = self._exchange.compute(read, score) if self._exchange else score(read())
            finally:
                _computing.reset(token)
            self._forget()
        return result

    def _refuse_call_from_checker(self, method: str) -> None:
        """Raise a ValueError if a checker of this object calls it, which would wait forever."""
        if id(self) in _computing.get():
            raise ValueError(
                f"{method} was called by a checker of the same metric object: load another one."
            )

    def _all_batches(self, predictions, references) -> list[Samples]:
        """Return the batches that were added before, and these questions as the last batch."""
        batches = [*self._added]
        if predictions is not None or references is not None:
            batches.append(self.computation.read(predictions, references))
            check_alike(batches[-1], self._added)
        return batches

    def _scores_of_batches(self, batches: list[Samples], options: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of the questions in all batches, for the options of `compute`."""
        if not batches:
            raise ValueError("There is nothing to compute: give or add predictions first.")
        questions = SampledQuestions(unite(batches), self.computation.validate, self._cache)
        with temp_seed(self.seed):
            return self.computation.results(questions, **options)


# --- shared/at_k/core/report.py -------------------------------------------------------------------

"""The parameters that all metrics have, and the flat dict of scores that `compute` returns."""


@dataclass
class SharedOptions:
    """The parameters that all metrics have. The scripts of the metrics document them."""

    check_correct_fn: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    confidence: float | None = None
    interval: str | None = None
    clusters: list[str] | None = None
    anytime: bool = False
    groups: list[str] | None = None
    average: str = "questions"
    question_weights: list[float] | None = None
    return_per_question: bool = False
    keys: str = "exact"

    def __post_init__(self) -> None:
        """Leave out `KnownClusters` unless limits use them."""
        # A script with its own kernel has another class, so the attribute is what counts.
        is_optional = getattr(self.clusters, "is_optional", False)
        if is_optional and (self.confidence is None or self.interval != "questions"):
            self.clusters = None

    def checking(self, labels: Labels | None = None) -> Checking:
        """Return the `Checking` of these options; `labels` are those that a checker may return."""
        return Checking(self.check_correct_fn, self.num_proc, self.executor, self.timeout, labels)


class Report:
    """Makes the dict that `compute` returns from the scores of M questions.

    `options` are those of intervals, and `with_mu` is whether the centers of intervals are added.
    All options are validated. `own` are further arguments of `interval_options`.
    """

    def __init__(self, shared: SharedOptions, questions: int, with_mu: bool = True, **own: Any):
        groups = shared.groups
        self.options = interval_options(
            questions,
            shared.confidence,
            shared.interval,
            shared.clusters,
            weighting=question_weighting(
                shared.average, shared.question_weights, groups, questions
            ),
            anytime=shared.anytime,
            **own,
        )
        self._with_mu = with_mu
        self._safe = check_name("keys", shared.keys, ("exact", "safe")) == "safe"
        self._return_per_question = check_flag("return_per_question", shared.return_per_question)
        if self._safe and self._return_per_question:
            warnings.warn(
                'keys="safe" leaves out per_question, which is no number: loggers refuse lists.',
                stacklevel=2,
            )
        # The indices of the questions of each group, by its label, and of all questions, by None.
        self._questions_by_group: dict[str | None, np.ndarray] = {None: np.arange(questions)}
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            in_order_of_groups = np.argsort(index, kind="stable")
            parts = np.split(in_order_of_groups, np.cumsum(np.bincount(index))[:-1])
            self._questions_by_group |= dict(zip(labels, parts, strict=True))
            if self._safe:
                safe_prefixes(labels)  # raises a ValueError for equal ones
        if self.options.weights is not None:
            for group, rows in self._questions_by_group.items():
                self._questions_by_group[group] = rows[self.options.weights[rows] > 0]

    def result(
        self,
        points: Scores,
        method: IntervalMethod | None,
        n: np.ndarray,
        checker: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the flat dict of `compute` for the scores of the questions, `points`.

        `method` computes their limits, `n`, (M,), are the numbers of samples, and `checker` is the
        entry of that name, for scores that are corrected for a checker. A ValueError is raised if
        all questions or a group have no interval, or if no score is identified.
        """
        estimates = self._estimates(points, self._checked_method(method, n))
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            estimated = {ScoreId(*x[:3]) for x in estimates if x.group is None}
            others["per_question"] = {
                score_id.key: values
                for score_id, values in points.per_question().items()
                if score_id in estimated
            }
        result = as_dict(estimates, self._safe, others)
        return PACKAGE.rooms.result(result, estimates, self.options.weighting.words)

    def _checked_method(
        self, method: IntervalMethod | None, n: np.ndarray
    ) -> IntervalMethod | None:
        """Return `method`, or its anytime-valid form, or None if no limits are requested."""
        options = self.options
        if method is None or options.confidence is None:
            return None
        if options.anytime:
            # With "auto" (None), each group decides whether its limits are for other questions.
            other_questions = None if options.method == "auto" else options.method == "questions"
            method = PACKAGE.rooms.anytime_limits(method, n, other_questions)
        for group, questions in self._questions_by_group.items():
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")
        return method

    def _estimates(self, points: Scores, method: IntervalMethod | None) -> list[Estimate]:
        """Return an estimate of each score over all questions, then over each group.

        A score that the data do not determine is left out, with a warning.
        """
        options, confidence = self.options, self.options.confidence
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        for group, questions in self._questions_by_group.items():
            intervals: dict[ScoreId, Interval] = {}
            bands: dict[ScoreId, tuple[float, float]] = {}
            unidentified: Collection[ScoreId] = ()
            if method is not None and confidence is not None:
                unidentified = method.unidentified(questions)
                intervals = method.intervals(questions, confidence)
                if options.band:
                    scores = [*intervals]
                    bands = PACKAGE.rooms.band(method, questions, scores, confidence)
            for score_id, mean in points.over(questions, options.weights).items():
                if score_id in unidentified:
                    left_out.setdefault(group, []).append(score_id.key)
                    continue
                interval = intervals.get(score_id)
                if method is not None:
                    interval = self._requested_fields(score_id, mean, interval)
                metric, k, tau = score_id
                band = bands.get(score_id)
                estimates.append(Estimate(metric, k, tau, group, mean, interval, band))
        if left_out:
            _warn_of_unidentified(left_out, bool(estimates))
        return estimates

    def _requested_fields(
        self, score_id: ScoreId, mean: float, interval: Interval | None
    ) -> Interval | None:
        """Return the interval of a score with value `mean`, without fields that nobody requested.

        If the method has no interval for the score, the result has only the reason, or is None.
        """
        is_named = self.options.is_named
        if interval is None:  # Only the posterior lacks the intervals of some scores.
            reason = f"none: {score_id} has no posterior"
            return Interval(interval=reason) if is_named else None
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, mean, rel_tol=1e-12):
            # mu is the same sum in another order, so its last digits may differ.
            interval = interval._replace(mu=mean)
        return interval if is_named else interval._replace(interval=None)


def _warn_of_unidentified(left_out: dict[str | None, list[str]], has_others: bool) -> None:
    """Warn of the keys of scores that are left out, by their group or None for all questions.

    If no other score is estimated, a ValueError is raised instead.
    """
    for group, keys in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(keys)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(keys)}: left out.", stacklevel=3)


# --- shared/at_k/core/computations.py -------------------------------------------------------------

"""The computations of the five metrics from the samples of questions.

All five take the same steps: validate the parameters, check the samples against the references,
estimate the scores (`points`), choose the `method` that computes their confidence limits, or None
for no limits, and return the dict of `Report.result`. What takes long comes after all validation.
"""


# --- gpassk -------------------------------------------------------------------------------


_FOR_K_ABOVE_N = (
    " With a confidence, and without clusters, a prior or average='groups', "
    "interval='hierarchical' allows k > n for most scores."
)
"""The end of the error about a k above n."""


@shows_options(SharedOptions)
def gpassk_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    include: str | list[str] | None = None,
    lam: float = 0.5,
    weights: list[float] | None = None,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
    budget: int | None = None,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of gpassk. metrics/gpassk documents the parameters."""
    common = SharedOptions(**shared)
    checking = common.checking()
    if include is None:
        include = ["G-Pass@k", "mG-Pass@k"] if budget is None else ["pass@k"]
    included, requested = included_scores(include, k)
    metrics = {score.metric for score in included}
    powers = check_powers(pass_power, unanimous_power)
    score_options = ScoreOptions(check_thresholds(thresholds), check_lam(lam), weights, powers)
    if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & metrics:
        raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
    known = INTERVALS if budget is None else ("questions", "auto")
    report = Report(common, len(questions), known=known, band=band, alpha0=alpha0, beta0=beta0)
    options, n = report.options, questions.n
    errors = _errors_of_checker(checker_rates, labels)
    if errors is not None:
        errors.require_no_posterior(options)
    if budget is not None:
        first = PACKAGE.rooms.first_successes(budget, requested, metrics, options, errors)
        points, method = first.scores(questions.check(checking))
        return report.result(points, method, n)

    def scores_for(n: np.ndarray) -> dict[ScoreId, Score]:
        """Return the requested scores; raise a ValueError if a k exceeds one of `n`, (M,)."""
        ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n, _FOR_K_ABOVE_N)
        return build_scores(included, ks, score_options)

    scores = scores_for(n)  # An invalid k is refused here, before the checker runs.
    refuse_group_average_of_products(common.average, scores)
    checked = questions.check(checking)
    counts = checked.outcomes.counts
    warn_of_stopping(checked.outcomes)
    if (counts.n < n).any():  # the checker left samples unscored
        scores = scores_for(counts.n)
    if errors is not None:
        points, method, rates_of_checker = errors.pass_limits(checked, scores, options)
        return report.result(points, method, n, rates_of_checker)
    points, method = pass_limits(counts, scores, options)
    return report.result(points, method, n)


def _errors_of_checker(checker_rates, labels) -> Any:
    """Return a model of the checker's errors, or None if neither parameter is given."""
    if checker_rates is None and labels is None:
        return None
    return PACKAGE.rooms.errors(checker_rates, labels)


GPASSK = Computation(gpassk_results, require_binary, in_order=("labels", "budget"))


# --- bayes_at_n ---------------------------------------------------------------------------


@shows_options(SharedOptions)
def bayes_at_n_results(
    questions: SampledQuestions,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    categories: list[str] | None = None,
    confidence: float | None = 0.95,
    bounds: tuple[float, float] | None = None,
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of bayes_at_n. metrics/bayes_at_n documents the parameters."""
    category_of_label = category_numbers(categories)
    common = SharedOptions(confidence=confidence, **shared)
    checking = common.checking(category_of_label)
    rewards_of_categories = check_rewards(w, category_of_label)
    prior = check_prior_outcomes(R0, len(questions), len(rewards_of_categories))
    if common.anytime and common.interval is None:
        raise ValueError(
            "anytime needs limits of the data alone: give interval='sampling' or 'questions'."
        )
    # Both scores are the centers of their intervals, so mu would repeat them.
    report = Report(common, len(questions), with_mu=False, bounds=bounds)
    options, errors = report.options, _errors_of_checker(checker_rates, labels)
    if errors is not None and any(x is not None for x in (w, categories, bounds)):
        raise ValueError(
            "checker_rates and labels are for samples that are correct or not: leave out w, "
            "categories and bounds."
        )

    checked = questions.check(checking)
    outcomes = checked.outcomes if errors is None else require_binary(checked.outcomes)
    warn_of_stopping(outcomes)
    n = n_in_keys(outcomes.n)
    # Both scores estimate the mean reward, which is Max@k for k = 1.
    ks = {ScoreId("bayes@N", n): 1, ScoreId("avg@N", n): 1}
    if are_real_rewards(outcomes, w, R0, categories):
        points, method = max_limits(real_rewards(outcomes), ks, options)
    else:
        rewards = category_rewards(outcomes, rewards_of_categories, prior)
        both = rewards.posterior(), rewards.average()
        moments = moments_by_key(rewards, dict(zip(ks, both, strict=True)))
        points = Scores(moments.keys, moments.inverse, moments.mean)
        if common.interval is not None and options.method != "posterior":
            _, method = max_limits(rewards, ks, options)
        else:
            # The posterior defines Bayes@N, so it is the default. Results name it only if given.
            check_clusters(common.clusters, "posterior", len(questions))
            name = None if common.interval is None else "posterior"
            range_of_rewards = float(rewards.levels[0]), float(rewards.levels[-1])
            clipped_to = options.bounds if bounds else range_of_rewards
            method = PosteriorIntervals(moments, clipped_to, name, options.weights)
    if errors is None:
        return report.result(points, method, questions.n)
    points, method, rates_of_checker = errors.rate_limits(checked, points, method, options)
    return report.result(points, method, questions.n, rates_of_checker)


BAYES_AT_N = Computation(
    bayes_at_n_results,
    # Floats may be real rewards. That depends on w, so they are validated later.
    lambda x: None if x.values.dtype.kind == "f" else require_categories(x),
    accepts_labels=True,
    in_order=("labels",),
)


# --- max_at_k -----------------------------------------------------------------------------

_SCORES_OF_REWARDS = {
    "Max@k": "max@k",
    "TailPass@k": "TailPass@k",
    "picked@k": "picked@k",
    "max@k": "max@k",
}
"""The `metric` in the `ScoreId` of each name that `include` may have."""


@shows_options(SharedOptions)
def max_at_k_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    w: list[float] | None = None,
    R0: list[list[int]] | None = None,
    picked_by: list[list[float]] | None = None,
    include: str | list[str] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    categories: list[str] | None = None,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of max_at_k. metrics/max_at_k documents the parameters."""
    category_of_label = category_numbers(categories)
    common = SharedOptions(**shared)
    checking = common.checking(category_of_label)
    rewards_of_categories = check_rewards(w, category_of_label)
    prior = check_prior_outcomes(R0, len(questions), len(rewards_of_categories))
    included, requested = _included_rewards(include, k, picked_by)
    taus = check_thresholds(thresholds)
    report = Report(
        common, len(questions), has_prior_outcomes=bool(prior.any()), bounds=bounds, band=band
    )
    options, n = report.options, questions.n
    choose_ks(requested, DEFAULT_K, n, options.allow_above_n)  # An error comes before the check.

    outcomes = questions.check(checking).outcomes
    warn_of_stopping(outcomes)
    are_real = are_real_rewards(outcomes, w, R0, categories)
    if are_real:
        rewards = real_rewards(outcomes)
    else:
        rewards = category_rewards(outcomes, rewards_of_categories, prior)
    # The checker may have left samples unscored. For real rewards no k exceeds n, because n samples
    # say nothing about rewards above the largest observed.
    ks = choose_ks(requested, DEFAULT_K, rewards.n, options.allow_above_n and not are_real)
    metrics = {score.metric for score in included}
    if metrics != {"max@k"}:
        check_samples(ks, rewards.n)
    parts: list[tuple[Scores, IntervalMethod]] = []  # scores, and the method of their limits
    if max_ks := only_included({ScoreId("max@k", k): k for k in ks}, included):
        parts.append(max_limits(rewards, max_ks, options))
    if "TailPass@k" in metrics:
        tails = PACKAGE.rooms.tails(rewards, included, ks, taus)
        parts.append((tails, limits_for_questions(tails, "TailPass@k", options)))
    if picked_by is not None:
        w_or_none = None if are_real else rewards_of_categories
        picked_ks = only_included({ScoreId("picked@k", k): k for k in ks}, included)
        picked, picked_range = PACKAGE.rooms.picked(outcomes, w_or_none, picked_by, picked_ks)
        clipped_range = np.clip(picked_range, *options.bounds).tolist()
        parts.append((picked, limits_for_questions(picked, "picked@k", options, clipped_range)))
    points, method = _joined(parts, options)
    return report.result(points, method, n)


def _joined(
    parts: list[tuple[Scores, IntervalMethod]], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return the scores of all parts as one `Scores`, and one method for their limits."""
    points, method = parts[0]
    for scores, method_of_scores in parts[1:]:
        points = join_scores(points, scores)
        if options.confidence is not None:
            method = PACKAGE.rooms.joined(method, method_of_scores, scores.keys)
    return points, method


def _included_rewards(
    include: str | list[str] | None, k: int | list[int] | None, picked_by: Any
) -> tuple[list[ScoreId], list[int] | None]:
    """Return the ids of the included scores, and a list of all requested k, or None for no request.

    The default of `include` is Max@k, or picked@k if `picked_by` is given. A ValueError is raised
    if only one of picked@k and `picked_by` is given.
    """
    if include is None:
        include = "Max@k" if picked_by is None else "picked@k"
    included, requested = included_scores(include, k, _SCORES_OF_REWARDS, _SCORES_OF_REWARDS)
    if (picked_by is None) == any(score.metric == "picked@k" for score in included):
        raise ValueError(
            "picked@k needs picked_by, the scores that pick one of k samples, and only picked@k "
            "uses them: give both, or neither."
        )
    return included, requested


# All numbers are valid outcomes: they are categories or rewards.
MAX_AT_K = Computation(
    max_at_k_results, lambda outcomes: outcomes, accepts_labels=True, in_order=("picked_by",)
)


# --- cons_at_k ----------------------------------------------------------------------------

_SCORES_OF_CONSENSUS = {
    "cons@k": "cons@k",
    "avg@n": "avg@N",
    "pass@k": "pass@k",
    "maj@k": "maj@k",
    "accuracy": "accuracy (n runs average)",
    "vote@k": "vote@k",
    "weighted_vote@k": "weighted_vote@k",
}
"""The `metric` in the `ScoreId` of each name that `include` may have."""


@shows_options(SharedOptions)
def cons_at_k_results(
    questions: SampledQuestions,
    k: int | list[int] | None = None,
    include: str | list[str] | None = None,
    merge_right: bool = True,
    vote_weights: list[list[float]] | None = None,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of cons_at_k. metrics/cons_at_k documents the parameters."""
    common = SharedOptions(**shared)
    checking = common.checking()
    names = _SCORES_OF_CONSENSUS
    wanted = list(names) if include is None else include
    included, requested = included_scores(wanted, k, names, names)
    metrics = {score.metric for score in included}
    merge_right = check_flag("merge_right", merge_right)
    known = ("posterior", "sampling", "questions", "auto")
    report = Report(common, len(questions), known=known, band=band, alpha0=alpha0, beta0=beta0)
    options = report.options
    check_samples(requested or [], questions.n)

    checked = questions.check(checking)
    warn_of_stopping(checked.outcomes)
    consensus = Consensus.from_checked(checked, requested, merge_right, "vote@k" in metrics)
    values, weighted_ks = consensus.values(), {}
    if vote_weights is not None:
        weighted_ks = {
            ScoreId("weighted_vote@k", k_in_key): consensus.sizes(k)
            for k_in_key, k in consensus.ks.items()
        }
    if include is not None:
        _check_included(metrics, {score_id.metric for score_id in (*values, *weighted_ks)})
    values = only_included(values, included)
    # `values` may be empty: include may have weighted votes only.
    columns = np.array([*values.values()]).reshape(len(values), len(questions)).T
    points = Scores(one_column_each(values), np.arange(len(questions)), columns)
    method = limits_for_questions(points, "", options)
    if options.confidence is not None and options.method != "questions":
        method = PACKAGE.rooms.consensus_limits(consensus, options)
    if weighted_ks := only_included(weighted_ks, included):
        weighted = PACKAGE.rooms.weighted_votes(checked, vote_weights, merge_right, weighted_ks)
        if options.method == "posterior":  # Weighted votes have none, so they have no limits.
            points = join_scores(points, weighted)
        else:
            limits = limits_for_questions(weighted, "weighted_vote@k", options)
            points, method = _joined([(points, method), (weighted, limits)], options)
    return report.result(points, method, questions.n)


def _check_included(included: set[str], known: set[str]) -> None:
    """Raise a ValueError if a score is included but not `known`: the inputs do not give it."""
    # All other scores are always known.
    reasons = {
        "vote@k": "is a vote among answers: give predictions and references, or counts of answers",
        "weighted_vote@k": "needs vote_weights, a number for each sample",
        "accuracy": "is the mean share of correctness, and these outcomes are 0 or 1: avg@n is it",
    }
    for name, reason in reasons.items():
        if _SCORES_OF_CONSENSUS[name] in included - known:
            raise ValueError(f"include has {name!r}, which {reason}.")


CONS_AT_K = Computation(cons_at_k_results, require_shares, in_order=("vote_weights",))


# --- score_agg ----------------------------------------------------------------------------


@shows_options(SharedOptions)
def score_agg_results(
    questions: SampledQuestions,
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    weights: dict[str, float] = VERDICTS,
    **shared: Any,
) -> dict[str, Any]:
    """Return the dict of scores of score_agg. metrics/score_agg documents the parameters."""
    labels = check_weights(weights)
    common = SharedOptions(**shared)
    checking = common.checking(labels)
    p, penalty, eps = exponent(temperature), check_penalty(penalty), check_eps(eps_for_neg_p)
    report = Report(common, len(questions), known=("questions", "auto"))

    outcomes = questions.check(checking).outcomes
    points = agg_scores(outcomes, p, penalty, eps)
    method = limits_for_questions(points, "score_agg", report.options)
    return report.result(points, method, questions.n)


SCORE_AGG = Computation(score_agg_results, require_weights, accepts_labels=True)

COMPUTATIONS = {
    "gpassk": GPASSK,
    "bayes_at_n": BAYES_AT_N,
    "max_at_k": MAX_AT_K,
    "cons_at_k": CONS_AT_K,
    "score_agg": SCORE_AGG,
}
"""The computation of each metric by its name."""
