# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""The core of evaluate-at-k in one file, for the metric in this folder.

shared/vendor.py joins the modules below: edit these instead, and run it again.
"""

from __future__ import annotations

import abc
import contextlib
import difflib
import evaluate
import inspect
import itertools
import json
import math
import numpy as np
import os
import platform
import pyarrow as pa
import pyarrow.compute as pc
import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Callable, Generator, Mapping, Sequence
from collections.abc import Callable, Iterable
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Callable, Mapping
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Collection, Sequence
from collections.abc import Iterable
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Mapping
from collections.abc import Mapping, Sequence
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor
from concurrent.futures import Executor
from contextlib import closing
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from dataclasses import dataclass, replace
from dataclasses import fields
from dataclasses import replace
from decimal import Decimal
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from evaluate.module import temp_seed
from fractions import Fraction
from functools import cached_property
from functools import cached_property, partial
from functools import lru_cache
from functools import partial
from numbers import Integral, Real
from numbers import Real
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any
from typing import Any, BinaryIO
from typing import Any, NamedTuple
from typing import Any, NoReturn
from typing import Any, TypeVar, get_type_hints
from typing import NamedTuple


# --- shared/at_k/core/checks.py -------------------------------------------------------------------

"""Checks of parameters. Each raises a ValueError that says what would be right."""


_LARGEST_K = 1_000_000
_ABOVE_0 = math.ulp(0.0)
_BELOW_1 = math.nextafter(1.0, 0.0)


def short(value, most: int = 60) -> str:
    """Return the repr of a value for a message, shortened if it has more than `most` characters."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:  # the value is nested too deeply, or its own `__repr__` fails
        shown = f"a {type(value).__name__}"
    return shown if len(shown) <= most else f"{shown[:most]}.."


# --- Errors -------------------------------------------------------------------------------


class Place(NamedTuple):
    """The place of an input that is wrong, in a message: `predictions[2][1]`, or question 2.

    Attributes:
        parameter: such as "predictions"; or "question" or "Question".
        question: index of the question.
        sample: index of the sample in its question, if it is one of them.
        key: the column of counts, such as "correct".
        value: the outcome, if samples are counts and have no index.
    """

    parameter: str
    question: int
    sample: int | None = None
    key: str | None = None
    value: float | None = None

    @property
    def is_question(self) -> bool:
        """Whether the place is a question of no parameter in particular."""
        return self.parameter in ("question", "Question") and self.sample is None

    def __str__(self) -> str:
        if self.is_question:
            return f"{self.parameter} {self.question}"
        key = "" if self.key is None else f"[{self.key!r}]"
        sample = "" if self.sample is None else f"[{self.sample}]"
        return f"{self.parameter}{key}[{self.question}]{sample}"


class Noun(str):
    """The word "question" or "sample" in a message. A page may have another one."""


class Index(int):
    """An index from 0 in a message. A page may count from 1."""


class InPython(str):
    """Words of a message for callers of Python. A page leaves them out."""


class RunName(str):
    """The name of a run and a colon, at the start of a message."""


QUESTION, SAMPLE, FROM_0 = Noun("question"), Noun("sample"), InPython(" (from 0)")


class InputError(ValueError):
    """Input is wrong. The message is the pieces in `args`, which a pickled error keeps.

    A piece is a text, or an object of a class above, which a page may show in its own words.
    """

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    @property
    def place(self) -> Place | None:
        """The first place in the message, or None if no question is named."""
        return next((piece for piece in self.args if isinstance(piece, Place)), None)


# --- Collections --------------------------------------------------------------------------


def is_masked(values) -> bool:
    """Whether the values are a masked array. Importing np.ma to test this would be slow."""
    return isinstance(values, np.ndarray) and hasattr(values, "mask")


def is_frame(values) -> bool:
    """Whether the values are a data frame of pandas or polars, or a table of Arrow."""
    return hasattr(values, "columns") and hasattr(values, "shape")


def is_scalar(value) -> bool:
    """Whether a value is a scalar of NumPy or of a library of tensors, with the method `item`."""
    return getattr(value, "ndim", None) == 0 and hasattr(value, "item")


def plain_number(name: str, value) -> Any:
    """Return one number of NumPy or of a library of tensors as one of Python.

    A number of lower precision than a double is the shortest decimal that rounds to it:
    np.float32(0.6) is 0.6, and not 0.6000000238.
    """
    try:
        number = value.item()
    except RuntimeError as error:  # a tensor of torch without data
        raise TypeError(f"{name} is a {type(value).__name__} without a value: {error}") from error
    precision = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if precision in ("float16", "float32"):
        return float(str(np.dtype(precision).type(number)))
    return number


def is_list_like(value) -> bool:
    """Whether a value is an ordered collection, other than a text or a dict.

    A set is not, because it has no order and drops duplicates.
    """
    if isinstance(value, (list, tuple)):  # the usual case, and fast
        return True
    if isinstance(value, (str, bytes, dict, set, frozenset)):
        return False
    return isinstance(value, Iterable) and not is_scalar(value)


def as_list(name: str, value) -> list[Any]:
    """Return a parameter of one or more values as a list."""
    values = list(value) if is_list_like(value) else [value]
    if not values:
        raise ValueError(f"{name} is empty: give at least one.")
    return values


def check_depth(name: str, values: Sequence[Any]) -> None:
    """Raise a ValueError if an entry is nested more than 50 levels deep, or contains itself.

    Arrow and JSON recurse into nested lists and dicts: deep nesting overflows the stack.
    """
    for index, value in enumerate(values):
        level = [value] if isinstance(value, (list, tuple, dict)) else []
        for _ in range(50):
            if not level:
                break
            inner = (x for x in level for x in (x.values() if isinstance(x, dict) else x))
            # By their ids, because a list may occur many times.
            level = [*{id(x): x for x in inner if isinstance(x, (list, tuple, dict))}.values()]
        if level:
            what = " is nested more than 50 levels deep"
            raise InputError(Place(name, index), what, InPython(", or contains itself"), ".")


def entries_of(name: str, values) -> list[Any]:
    """Return the entries of a list, an array or a column. Masked entries are None."""
    if is_frame(values):  # iterating gives column names
        raise ValueError(f"{name} is a data frame: give one of its columns.")
    if hasattr(values, "to_pylist"):  # Arrow, whose conversion to NumPy turns None into nan
        return values.to_pylist()
    if hasattr(values, "__array__") and not isinstance(values, np.ndarray):
        values = np.asarray(values)
    if not is_list_like(values):
        raise ValueError(f"{name} is {short(values)}: give a list with an entry per question.")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def is_missing(entry) -> bool:
    """Whether an entry is None, a NaN of any type, NaT, or NA of pandas."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, Decimal):
        return entry.is_nan()
    is_number = isinstance(entry, (float, np.floating, np.datetime64, np.timedelta64))
    return is_number and bool(entry != entry)


_METRIC_OF_SCORE = {
    "vote@k": "cons_at_k",
    "weighted_vote@k": "cons_at_k",
    "cons@k": "cons_at_k",
    "max@k": "max_at_k",
    "picked@k": "max_at_k",
    "pass^k": "gpassk",
    "G-Pass@k": "gpassk",
}
"""Scores that users look for in another metric."""


def check_name(name: str, choice: Any, known: Collection[str]) -> Any:
    """Return a parameter that is a known name."""
    if isinstance(choice, str) and choice in known:
        return choice
    hint = ""
    if isinstance(choice, str):
        family = re.sub(r"(?<=[@^])\d.*", "k", choice)
        if family in known:
            k = re.findall(r"[@^](\d+)", choice)[0]
            raise ValueError(f"{name} has {short(choice)}: give {family!r}, and k={k}.")
        hint = did_you_mean(choice, known)
        if name == "include" and family in _METRIC_OF_SCORE:
            hint = f" It is a score of {_METRIC_OF_SCORE[family]}."
    raise ValueError(f"{name} has {short(choice)}, which is none of {', '.join(known)}.{hint}")


def check_names(name: str, names: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Return a parameter of one or more names, each of which has to be known."""
    return [check_name(name, choice, known) for choice in as_list(name, names)]


def did_you_mean(choice: str, names: Iterable[str]) -> str:
    """Return " Did you mean ..?" with the name most similar to a choice, or an empty text."""
    spelled = {_spelled_out(name): name for name in names}
    typed = _spelled_out(choice)
    start = typed.removesuffix("s")
    similar = [name for name in spelled if len(start) > 2 and name.startswith(start)]
    if start in spelled:
        similar = [start]
    elif len(similar) != 1:
        similar = difflib.get_close_matches(typed, spelled, n=1)
    return f" Did you mean {spelled[similar[0]]!r}?" if similar else ""


def _spelled_out(name: str) -> str:
    """Return the letters and digits of a name, with "at" for @ and "hat" for ^."""
    spelled = name.lower().replace("@", "at").replace("^", "hat")
    return re.sub(r"[^a-z0-9]", "", spelled)


def check_categories(categories) -> dict[str, float] | None:
    """Return the labels of the categories 0, 1, .., in this order, with their numbers."""
    if categories is None:
        return None
    labels = as_list("categories", categories)
    for category, label in enumerate(labels):
        if not isinstance(label, str) or label in labels[:category]:
            raise ValueError(
                f"categories[{category}] is {short(label)}: give each category its own text."
            )
    return {label: category for category, label in enumerate(labels)}


# --- Labels of questions, such as groups and clusters -------------------------------------


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct labels as texts, and (M,) the index of each question's label.

    The labels are in order of their first appearance.

    Raises:
        ValueError: if there are not M labels, or if a label is None, nan, an array or a frame.
    """
    entries = [plain_number(name, x) if is_scalar(x) else x for x in entries_of(name, labels)]
    if len(entries) != questions:
        raise ValueError(
            f"{name} has {len(entries)} labels for {questions} questions: give one for each."
        )
    for question, label in enumerate(entries):
        if hasattr(label, "shape"):
            what = f" is {short(label)}: a label is a text or a number."
            raise InputError(Place(name, question), what)
        if is_missing(label):
            what = f" is {label}: give every question a label."
            raise InputError(Place(name, question), what)
    check_depth(name, entries)
    codes: dict[str, int] = {}
    index = np.array([codes.setdefault(str(label), len(codes)) for label in entries])
    return list(codes), index


# --- Numbers ------------------------------------------------------------------------------


def check_number(name: str, value, wanted: str, least: float, most: float) -> float:
    """Return a number from `least` to `most`. The message says what would be right: `wanted`."""
    number = math.nan
    if not isinstance(value, (float, int)) and is_scalar(value):
        value = plain_number(name, value)
    # Testing for float and int first is faster: Real is an abstract base class.
    if isinstance(value, (float, int, Real)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # an integer that no double can hold
            number = math.nan
    if not least <= number <= most:
        raise ValueError(f"{name} is {short(value)}: {wanted}.")
    return number


def check_positive(name: str, value, wanted: str, most: float) -> float:
    """Return a number above 0, and at most `most`. The arguments are those of `check_number`."""
    return check_number(name, value, wanted, _ABOVE_0, most)


def check_flag(name: str, value) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {short(value)}: give True or False.")
    return bool(value)


def check_count(
    name: str,
    value,
    wanted: str = "give a positive integer",
    least: int = 1,
    most: float = math.inf,
) -> int:
    """Return an integer from `least` to `most`. The arguments are those of `check_number`."""
    if not isinstance(value, int) and is_scalar(value):
        value = plain_number(name, value)
    # Testing for int first is faster: Integral is an abstract base class.
    is_integer = isinstance(value, (int, Integral)) and not isinstance(value, bool)
    if not is_integer or not least <= value <= most:
        raise ValueError(f"{name} is {short(value)}: {wanted}.")
    return int(value)


def check_text(name: str, value) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {short(value)}: give a text.")
    return value


def check_confidence(confidence) -> float:
    """Return a probability between 0 and 1, both excluded."""
    wanted = "give a probability between 0 and 1, such as 0.95"
    return check_number("confidence", confidence, wanted, _ABOVE_0, _BELOW_1)


def check_bounds(bounds) -> tuple[float, float]:
    """Return the bounds that intervals are clipped to: (-inf, inf) for None."""
    if bounds is None:
        return -math.inf, math.inf
    wanted = "give (lo, hi) with lo <= hi, or None"
    limits = as_list("bounds", bounds)
    if len(limits) != 2:
        raise ValueError(f"bounds are {short(bounds)}: {wanted}.")
    lo = check_number("The first of bounds", limits[0], wanted, -math.inf, math.inf)
    return lo, check_number("The second of bounds", limits[1], wanted, lo, math.inf)


def check_prior(alpha0, beta0) -> tuple[float, float]:
    """Return both parameters of a Beta prior, positive and at most 1e15.

    Beyond 1e15 the posterior standard deviation would lose all digits.
    """
    wanted = "a parameter of the Beta prior is a positive number, at most 1e15"
    return (
        check_number("alpha0", alpha0, wanted, _ABOVE_0, 1e15),
        check_number("beta0", beta0, wanted, _ABOVE_0, 1e15),
    )


# --- Numbers of samples -------------------------------------------------------------------


def check_k(k, n: np.ndarray | None = None, name: str = "k") -> int:
    """Return k; a ValueError unless it is a positive integer, and at most each of (M,) n."""
    k = check_count(name, k, "give a positive integer, at most a million", most=_LARGEST_K)
    if n is not None:
        check_samples([k], n)
    return k


def check_ks(k) -> list[int] | None:
    """Return a parameter of one or more k as a list without duplicates; None for the default."""
    return k if k is None else list(dict.fromkeys(check_k(value) for value in as_list("k", k)))


def choose_ks(
    ks: list[int] | None,
    default: Sequence[int],
    n: np.ndarray,
    allow_above_n: bool = False,
    instead: str = "",
) -> list[int]:
    """Return the requested k, or those of the default that every question has samples for.

    If a question has fewer samples than every default k, the smallest n is returned. `instead` is a
    sentence for the error that names what else the caller can give.
    """
    if ks is not None:
        if not allow_above_n:
            check_samples(ks, n, instead)
        return ks
    least = int(n.min())
    return [k for k in default if k <= least] or [least]


def check_samples(ks: list[int], n: np.ndarray, instead: str = "") -> None:
    """Raise a ValueError if a k exceeds one of (M,) n. `instead` is that of `choose_ks`."""
    question = int(np.argmin(n))
    least = n[question]
    for k in ks:
        if k > least:
            fewest = "" if n.max() == least else ", the fewest"
            raise InputError(
                f"k is {k}, but ",
                Place("question", question),
                f" has n = {least} scored samples{fewest}: give a k of at most {least}.{instead}",
            )


# --- shared/at_k/core/package.py ------------------------------------------------------------------

"""What the core asks of the rooms around it.

A metric that `evaluate` loads as a script has the core alone, as its kernel. The installed package
has more: limits for the same questions, other checkers, worker processes, rarer scores. The core
calls them through `PACKAGE.rooms`. Its methods are those of `Rooms`, which say what is missing,
until `at_k/__init__` sets an object that has them.
"""


KERNEL = "4a0a6b2b042f"
"""A hash of the core, in a kernel. `shared/vendor.py` sets it."""

INSTALL = 'pip install "evaluate-at-k @ git+https://github.com/evaluate-at-k/evaluate-at-k"'


def installed_version() -> str | None:
    """Return the version of the installed package and its kernel; None if there is none."""
    try:
        from at_k import __version__
        from at_k.loading import core_hash
    except ImportError:
        return None
    return f"{__version__} (kernel {core_hash()})"


def has_same_package() -> bool:
    """Whether the installed package has the kernel that this module is part of.

    A script then uses the class of the package, so that a process has one copy of each class. With
    another kernel, which may be out of date, a warning says so.
    """
    version = installed_version() if KERNEL else None  # the package itself has no kernel
    if version is None or version.endswith(f"(kernel {KERNEL})"):
        return version is not None
    warnings.warn(
        f"This script has the kernel {KERNEL}, and the installed package evaluate-at-k is version "
        f"{version}: the script computes with its own kernel. If you have changed "
        f"shared/at_k/core, the kernel is out of date: run shared/vendor.py.",
        stacklevel=2,
    )
    return False


def needs_package(option: str) -> NoReturn:
    """Raise the error for an option that a script without the package does not have."""
    version = installed_version()
    if version is None:
        raise ImportError(f"{option} needs the package evaluate-at-k: {INSTALL}.")
    raise ImportError(
        f"{option} needs the package evaluate-at-k of the same version as this script, whose "
        f"kernel is {KERNEL}. Version {version} is installed: load the script of that version, or "
        f"install the other one with {INSTALL}. In a checkout, run shared/vendor.py."
    )


OPTIONS = {
    "checker": "check_correct_fn={0!r}",
    "exchange": "num_process above 1",
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
    "bands": "band=True",
}
"""The option that each method of the package is for, with an argument of the call by its number."""


class Rooms:
    """What the installed package adds to the core, as a core without the package has it.

    `at_k.rooms.PackageRooms` has all methods. Those that are not defined here raise the error that
    names the option.
    """

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that raises the error for an option of the package."""
        if method not in OPTIONS:
            raise AttributeError(method)
        return lambda *arguments: needs_package(OPTIONS[method].format(*arguments))

    def check_workers(self, checking: Any) -> None:
        """Raise an error if workers cannot check as these options say."""
        option = "An async check_correct_fn" if checking.is_async else "A batched check_correct_fn"
        if checking.timeout is not None or (checking.num_proc or 1) > 1:
            option = "num_proc" if checking.timeout is None else "timeout"
        needs_package(option)

    def check_pairs(self, checking: Any, pairs: list[Any]) -> Any:
        """Yield the results of batches of these pairs of a prediction and a reference.

        They are checked in this thread or in the executor. The package has worker processes too.
        """
        return checking.check_here(pairs)

    def run_name(self) -> str | None:
        """Return a name that the processes of this run share, if there may be several."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`, which may carry what it was made of.

        Args:
            scores: the dict.
            estimates: an `Estimate` for each of its scores.
            averaging: how questions are averaged, such as "averaged over 3 groups", or "".
        """
        return scores


PACKAGE = SimpleNamespace(rooms=Rooms())
"""The attribute `rooms` has those of the installed package, or `Rooms` in a script without it."""


# --- shared/at_k/core/counts.py -------------------------------------------------------------------

"""Counts of outcomes: all that a score of exchangeable samples depends on."""


@dataclass(frozen=True)
class BinaryCounts:
    """The number of samples of each question, and how many of them are correct.

    Questions with equal counts have equal scores, so scores are computed once for each of the U
    distinct pairs (n, c). The attributes follow the names of np.unique.

    Args:
        n: (M,) samples.
        c: (M,) correct samples, 0 <= c <= n.
    """

    n: np.ndarray
    c: np.ndarray

    def __len__(self) -> int:
        """M, the number of questions."""
        return len(self.n)

    @property
    def unique(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) n and (U,) c of the distinct pairs."""
        base, codes = self._codes
        if not base:
            return np.full(len(codes.values), self.n[0]), codes.values
        n, c = np.divmod(codes.values, base)
        if self._is_large:
            return np.unique(self.n)[n], np.unique(self.c)[c]
        return n, c

    @property
    def multiplicity(self) -> np.ndarray:
        """(U,) number of questions with each distinct pair."""
        return self._codes[1].multiplicity

    @property
    def inverse(self) -> np.ndarray:
        """(M,) index of each question's pair among the distinct ones."""
        return self._codes[1].inverse

    @cached_property
    def _codes(self) -> tuple[int, UniqueIntegers]:
        """A base, and the distinct c + base x n; or 0 and the distinct c, if all n are equal."""
        if size := one_size(self.n):
            return 0, UniqueIntegers(self.c, size)
        n, c = self.n, self.c
        if self._is_large:  # codes of their ranks, which fit into 64 bits
            n, c = (np.searchsorted(np.unique(x), x) for x in (n, c))
        base = int(c.max()) + 1
        return base, UniqueIntegers(c + base * n, base * (int(n.max()) + 1))

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Results for these counts that several methods need, such as an estimated prior."""
        return {}

    @cached_property
    def _is_large(self) -> bool:
        """Whether codes of pairs (n, c) might not fit into 64 bits."""
        return int(self.n.max()) >= 1 << 31


class UniqueIntegers:
    """The distinct values of an array of integers from 0 to `most`.

    Equivalent to np.unique. Small values are counted, which is faster than sorting, and this
    avoids the slow first import of np.unique.

    Attributes:
        values: (U,) the distinct values, ascending.
        multiplicity: (U,) how often each occurs.
    """

    def __init__(self, array: np.ndarray, most: int):
        self._array = array
        if most > 8 * len(array):
            ordered = np.sort(array)
            last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(array) - 1)
            self.values, self.multiplicity = ordered[last], np.diff(last, prepend=-1)
        else:
            multiplicity = np.bincount(array)
            self.values = np.flatnonzero(multiplicity)
            self.multiplicity = multiplicity[self.values]

    @cached_property
    def inverse(self) -> np.ndarray:
        """(M,) the index of each entry of the array among the distinct values."""
        if self.values[-1] > 8 * len(self._array):
            return np.searchsorted(self.values, self._array)
        index = np.empty(self.values[-1] + 1, dtype=np.int64)
        index[self.values] = np.arange(len(self.values))
        return index[self._array]


def one_size(sizes: np.ndarray) -> int:
    """Return the number of samples that all questions have in common, or 0 if it differs."""
    size = int(sizes[0])
    # count_nonzero takes half the time of `all`, which matters in calls of a few microseconds.
    return size if np.count_nonzero(sizes == size) == len(sizes) else 0


# --- Sums ---------------------------------------------------------------------------------


def sums_per_question(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return (M,) sums over the samples of each question.

    Args:
        values: (S,) each 0 or 1, of any type.
        sizes: (M,) number of samples of each question, at least one.
    """
    if size := one_size(sizes):
        return row_sums(values.reshape(-1, size)).astype(np.int64)
    return np.add.reduceat(values, np.cumsum(sizes) - sizes, dtype=np.int64)


def row_sums(rows: np.ndarray) -> np.ndarray:
    """Return (M,) the sum of each row of (M, N) values that are 0 or 1."""
    if rows.itemsize > 1:
        return np.einsum("ij->i", rows, dtype=np.int64, casting="unsafe")
    samples = rows.shape[1]
    rows = rows.view(np.uint8)
    width = math.gcd(samples, 64) // 8
    if width and hasattr(np, "bitwise_count"):  # since NumPy 2
        # Packed to one bit per sample, up to 64 samples are counted at once. That takes twice as
        # long as reading the bytes; adding them takes up to ten times as long.
        bits = np.packbits(rows.reshape(-1).view(bool)).view(f"u{width}")
        rows = np.bitwise_count(bits).reshape(len(rows), -1)
    if rows.shape[1] == 1:
        return rows[:, 0]
    return np.einsum("ij->i", rows, dtype=np.uint8 if samples < 256 else np.int64)


# --- shared/at_k/core/containers.py ---------------------------------------------------------------

"""What users hand in, of any library, as one of a few forms of Python, NumPy and Arrow.

`plain_container` makes of every container a list, an array of numbers or a column of Arrow, and
`plain_entry` of every entry a value of Python. Nothing here imports pyarrow before it has to,
because that takes half as long as importing all of at_k: Arrow's own objects have methods.
"""


_NOT_SAMPLES = {
    *("question_id", "task_id", "problem_id", "prompt_id", "doc_id", "example_id"),
    *("instance_id", "qid", "id", "question", "problem", "prompt"),
    *("task", "model", "group", "cluster", "uid", "uuid"),
    *("idx", "index", "epoch", "seed", "sample_id"),
    *("reference", "answer", "target"),
    *("n", "c", "correct", "passed", "outcome", "reward", "score", "verdict"),
}
"""Names of columns in frames whose rows are not the samples of one question, in lower case."""


def to_array(values) -> np.ndarray:
    """Return an array of any library as one of NumPy.

    A tensor of torch may need its gradient or be on another device. NumPy has no bfloat16 and no
    float8; they are converted to float32 without loss.

    Raises:
        TypeError: if the library cannot convert the array, for example because it has no data.
    """
    names = getattr(getattr(values, "dtype", None), "names", None) or ()
    if not _NOT_SAMPLES.isdisjoint(name.lower() for name in names):
        raise TypeError("A structured array has a sample in each row: give at_k.read a data frame.")
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            if str(values.dtype) == "torch.bfloat16":
                values = values.float()
        array = np.asarray(values)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        kind = f"{type(values).__module__}.{type(values).__name__}"
        raise TypeError(f"A {kind} cannot be converted to an array: {error}") from error
    # JAX's own types of floats, which np.unique and others cannot sort.
    is_foreign = array.dtype.isbuiltin == 2 and array.dtype.name.startswith(("float", "bfloat"))
    return array.astype(np.float32) if is_foreign else array


def plain_entry(value) -> Any:
    """Return a number, a text or a missing value of any library as one of Python."""
    if type(value).__name__ in ("NAType", "MaskedConstant"):  # of pandas, and of a masked array
        return None
    if isinstance(value, np.longdouble):  # its `item` returns a longdouble again
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
    """Return a container as a list, an array of numbers, or a column of Arrow.

    A data frame, and what is no container, such as a dict or a text, are returned as they are.

    Raises:
        TypeError: if a library cannot convert its array.
    """
    values = as_arrow(values)
    if isinstance(values, (list, tuple)):
        return list(values)
    if is_frame(values) or not is_list_like(values):
        return values
    array = numeric_array(values)
    if array is not None:
        return array
    column = arrow_column(values)
    if column is None:
        return plain_list(values)
    if "arrow.json" in str(column.type):
        return _from_json(column.to_pylist())
    return column


def _from_json(entry: Any) -> Any:
    """Return the values of texts of JSON in nested lists."""
    if isinstance(entry, list):
        return [_from_json(nested) for nested in entry]
    return None if entry is None else json.loads(entry)


def plain_list(values) -> list[Any]:
    """Return the entries of an array, a column or an iterable."""
    for method in ("tolist", "to_pylist"):
        if hasattr(values, method):
            try:
                return getattr(values, method)()
            except RuntimeError:  # a tensor without data, or a sparse one: `to_array` says so
                return to_array(values).tolist()
    return list(values)


def numeric_array(values) -> np.ndarray | None:
    """Return an array of numbers without missing entries as one of NumPy; None for other values.

    A longdouble becomes a double, as it does in a list.
    """
    if not hasattr(values, "__array__") or hasattr(values, "to_pylist") or is_masked(values):
        return None
    array = to_array(values)
    if array.dtype.kind not in "biuf":
        return None
    return array if array.itemsize <= 8 else array.astype(float)


def arrow_column(values) -> Any:
    """Return an Arrow column, or that of a column of `datasets`; None for other values.

    Views and run-end encoded columns are no columns here: Arrow can neither cast every view
    correctly nor cast what is run-end encoded.
    """
    source = getattr(values, "source", None)  # the dataset, if this is a column of one
    if source is not None and getattr(source, "format", {}).get("type", "custom") != "custom":
        values = source.with_format("arrow")[values.column_name][:]
    if not hasattr(values, "to_pylist") or not hasattr(values, "null_count"):
        return None
    if "view" in str(values.type) or "run_end" in str(values.type):
        return None
    return values if hasattr(values, "chunks") else chunked([values])


def as_arrow(values) -> Any:
    """Convert data of polars and DuckDB, pandas columns of Arrow and Arrow streams to Arrow.

    A memoryview becomes an array, and a nested tensor a list. Other values are returned as they
    are.
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


def chunked(arrays: Iterable[Any]) -> Any:
    """Return arrays of Arrow as one column."""
    import pyarrow

    arrays = list(arrays)
    return pyarrow.chunked_array(arrays) if arrays else pyarrow.chunked_array([[]])


_NUMERIC = {
    *("null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("halffloat", "float", "double"),
}


def is_numeric(arrow_type) -> bool:
    """Whether an Arrow type is one of bools, integers or floats, or of None alone."""
    return str(arrow_type) in _NUMERIC


def plain_types(column) -> Any:
    """Return an Arrow column with texts as large strings, and decimals as integers or doubles."""
    plain = column.type
    if str(plain).startswith("dictionary"):
        plain = plain.value_type
    if str(plain) == "string":
        plain = "large_string"  # without a limit of 2 GB
    elif str(plain).startswith("decimal"):
        if plain.scale == 0:  # a double rounds integers above 2^53
            with suppress(ValueError):  # more than 64 bits
                return column.cast("int64")
        plain = "double"
    return column if str(plain) == str(column.type) else column.cast(plain)


def to_numpy(values) -> np.ndarray:
    """Return an Arrow array or column as one NumPy array.

    Arrow's own `to_numpy` would import pandas, which takes half a second.
    """
    if hasattr(values, "chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    kind = str(values.type)
    if kind == "null":
        return np.zeros(len(values), dtype=np.int8)
    data, start, stop = values.buffers()[-1], values.offset, values.offset + len(values)
    if values.null_count or data is None or kind not in _NUMERIC:
        return values.to_numpy(zero_copy_only=False)
    if kind != "bool":
        return np.frombuffer(data, values.type.to_pandas_dtype())[start:stop]
    first = start // 8
    bits = np.frombuffer(data, np.uint8)[first : -(-stop // 8)]
    return np.unpackbits(bits, bitorder="little")[start - 8 * first : stop - 8 * first].view(bool)


def numbers_and_scored(values) -> tuple[np.ndarray, np.ndarray | None]:
    """Return numbers of Arrow, 0 for None, and whether each is given, or None if all are."""
    if not values.null_count:
        return to_numpy(values), None
    if str(values.type) == "halffloat":  # whose None some versions of Arrow cannot fill
        values = values.cast("float32")
    zero = False if str(values.type) == "bool" else 0
    return to_numpy(values.fill_null(zero)), to_numpy(values.is_valid())


# --- Data frames --------------------------------------------------------------------------


def column_names(frame) -> list[str]:
    """Return the names of the columns of a data frame as texts."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def sample_rows(frame, name: str) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame, which hold the samples of a question each.

    Raises:
        ValueError: if a column identifies questions, so that a row is a sample; or if the only
            column has lists, so that the column is what was meant.
    """
    for column in column_names(frame):
        if column.lower() in _NOT_SAMPLES:
            raise ValueError(
                f"{name} is a data frame with a column {column!r}, which holds no samples: each "
                f"row is a question, and each column one of its samples. at_k.read gathers the "
                f"rows of other frames by question."
            )
    rows = frame_rows(frame)
    if len(rows) and len(rows[0]) == 1 and is_list_like(rows[0][0]):
        raise ValueError(
            f"{name} is a data frame whose one column has a list in each row: give the column."
        )
    return rows


def frame_rows(frame) -> np.ndarray | list[list[Any]]:
    """Return the rows of a data frame.

    Numbers without missing entries become an array, and other entries become lists.
    """
    if hasattr(frame, "to_pylist"):  # Arrow
        columns = [column.to_pylist() for column in frame.columns]
        return [list(row) for row in zip(*columns, strict=True)]
    dtypes = getattr(frame, "dtypes", [])
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return np.asarray(frame)
    return np.asarray(frame.astype(object)).tolist()  # which keeps missing entries as they are


# --- shared/at_k/core/signatures.py ---------------------------------------------------------------

"""Parameters that several functions share, which are listed once."""


Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(names: type, values: type) -> Callable[[Function], Function]:
    """Show options in the signature of a function that takes them as **options.

    Args:
        names: a class whose annotations are the names and types.
        values: a dataclass with the defaults.
    """
    defaults = {option.name: option.default for option in fields(values)}

    def decorate(function: Function) -> Function:
        """Return the function, whose signature is changed."""
        signature = inspect.signature(function)
        *own, var_keyword = signature.parameters.values()
        del function.__annotations__[var_keyword.name]
        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name])
            for name in names.__annotations__
            if name not in signature.parameters
        ]
        function.__annotations__.update(get_type_hints(names))
        parameters = [x.replace(annotation=function.__annotations__[x.name]) for x in own + shown]
        vars(function)["__signature__"] = signature.replace(parameters=parameters)
        return function

    return decorate


def check_options(
    function: Callable[..., Any], options: Iterable[str], data: Iterable[str] = ()
) -> None:
    """Raise a TypeError if one of the names is no parameter of a function after the first.

    The first parameter is the data, for which the user gives arguments with the names in `data`.
    """
    _, *parameters = inspect.signature(function).parameters
    known = [*data, *parameters]
    for name in options:
        if name not in known:
            problem = f"got an unexpected keyword argument {name!r}."
            raise TypeError(f"{problem}{did_you_mean(name, known)}")


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function, with the types that their annotations name."""
    types = get_type_hints(function)
    return {
        name: parameter.replace(annotation=types[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }


# --- shared/at_k/core/score.py --------------------------------------------------------------------

"""A score as a product of powers of means, and the scores of a run.

Most scores are one mean over questions, such as the mean expected credit. The geometric
combinations are products of powers of two of them. Both are a `Score`: it names the means it
needs as terms. `number_terms` lists the distinct terms of many scores as columns, so that each
term is computed once.
"""


ColumnPair = tuple[int, int]
"""Two columns a <= b of a table."""

ScoreKey = Any
"""What names a score in a dict: a `ScoreId` in a run. Scores and intervals do not look into it."""


class ScoreId(NamedTuple):
    """The identity of a score: its name, and what the name leaves open.

    Attributes:
        metric: the name, such as "pass@k", "bayes@N" or "score_agg".
        k: the number that stands for the k, N or n of the name; "n" for all samples, if their
            number differs between questions; None if the name has none.
        tau: a threshold, or None.
    """

    metric: str
    k: int | str | None = None
    tau: float | None = None

    @property
    def key(self) -> str:
        """The key of the score in the dict of `compute`: "G-Pass@4_0.5"."""
        name, k = self.metric, self.k
        if name.endswith(")"):
            name = name.replace("(n ", f"({k} ")
        elif k is not None:
            name = f"{name[:-1]}{k}"
        return name if self.tau is None else f"{name}_{self.tau}"

    def __str__(self) -> str:
        return self.key


class Score(NamedTuple):
    """A product of powers of terms.

    Args:
        terms: what is averaged over questions: credits, or the columns of a table.
        powers: of the terms, not 0.
        pooled: whether the terms are averaged over questions first. If not, the product is
            computed for each question and then averaged.
    """

    terms: tuple[Any, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True

    def pairs(self) -> Iterator[ColumnPair]:
        """Yield the pairs of columns whose covariances the variance of the score depends on."""
        return ((a, b) for a in self.terms for b in self.terms if a <= b)

    def value(self, columns):
        """The product, from (m,) numbers or from an (m, ..) array.

        It is 0 if a factor with a positive power is 0. An estimate that corrects for the errors of
        a checker may be below 0; as a factor it then counts as 0.

        Raises:
            ValueError: if it is infinite.
        """
        if self.powers == (1.0,):
            return columns[self.terms[0]]
        factors = [(_not_negative(columns[column]), power) for column, power in self._factors()]
        if min(self.powers) > 0:
            return math.prod(base**power for base, power in factors)
        zero = sum((base == 0) & (power > 0) for base, power in factors)
        undefined = sum((base == 0) & (power < 0) for base, power in factors)
        if np.any(undefined > zero):
            raise ValueError(
                "pass_power or unanimous_power is negative where its score is 0, so the product "
                "is infinite: give powers that are not negative."
            )
        return math.prod((base + (base == 0)) ** power for base, power in factors) * (zero == 0)

    def variance(self, columns, covariance):
        """The variance to first order (delta method).

        Args:
            columns: (m, ..) values of the columns.
            covariance: of each pair of columns.
        """
        if self.powers == (1.0,):
            return covariance[self.terms[0], self.terms[0]]
        relative = 0.0
        for a, p in self._factors():
            for b, q in self._factors():
                over_a = _quotient(covariance[min(a, b), max(a, b)], columns[a])
                relative = relative + p * q * _quotient(over_a, columns[b])
        product = self.value(columns)
        return product * relative * product

    def gradient(self, columns: np.ndarray) -> np.ndarray:
        """(m,) partial derivatives by each column, at (m,) values; 0 where a factor is 0."""
        result = np.zeros(len(columns))
        product = self.value(columns)
        for column, power in self._factors():
            is_mean = self.powers == (1.0,)
            result[column] = 1.0 if is_mean else _quotient(power * product, columns[column])
        return result

    def _factors(self) -> Iterator[tuple[int, float]]:
        """The column and the power of each factor of the score."""
        return zip(self.terms, self.powers, strict=True)


def _not_negative(number):
    """Return a number, or an array of numbers, with 0 for negative ones."""
    return np.maximum(number, 0.0) if isinstance(number, np.ndarray) else max(number, 0.0)


def _quotient(number, divisor):
    """Return number / divisor, or the number where the divisor is so small that this overflows."""
    return number / np.where(np.greater(divisor, 1e-300), divisor, 1.0)


def number_terms(scores: Mapping[ScoreKey, Score]) -> tuple[list[Any], dict[ScoreKey, Score]]:
    """Return the distinct terms of all scores, and the scores with their indices as terms."""
    number: dict[Any, int] = {}
    numbered = {
        key: score._replace(
            terms=tuple(number.setdefault(term, len(number)) for term in score.terms)
        )
        for key, score in scores.items()
    }
    return list(number), numbered


def one_column_each(keys: Iterable[ScoreKey]) -> dict[ScoreKey, Score]:
    """For each key a score that is one column, in order."""
    return {key: Score((column,)) for column, key in enumerate(keys)}


@dataclass(frozen=True)
class Scores:
    """Point estimates. Questions with equal counts have equal estimates and share a row.

    Args:
        keys: the name of each score, and the columns it is made of.
        inverse: (M,) the row of each question.
        columns: (U, m) estimates.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    columns: np.ndarray

    def means(self, multiplicity: np.ndarray) -> dict[ScoreKey, float]:
        """Each score over a set of questions.

        Args:
            multiplicity: (U,) number of questions in each row, or the sum of their weights.
        """
        total, columns = multiplicity.sum().item(), np.ascontiguousarray(self.columns.T)
        # A matrix product would add in an order that depends on the number of columns, so that the
        # last digit of a score would depend on which other scores are computed.
        means = ((columns * multiplicity).sum(axis=1) / total).tolist()
        return {
            key: score.value(means)
            if score.pooled
            else float((score.value(columns) * multiplicity).sum()) / total
            for key, score in self.keys.items()
        }

    def over(
        self, questions: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[ScoreKey, float]:
        """Each score over the questions with these indices.

        Args:
            questions: the indices.
            weights: (M,) of all questions, or None for equal ones.
        """
        rows, size = self.inverse[questions], len(self.columns)
        if weights is not None:
            return self.means(np.bincount(rows, weights[questions], minlength=size))
        if len(rows) >= size:
            return self.means(np.bincount(rows, minlength=size))
        used = UniqueIntegers(rows, size)
        return replace(self, columns=self.columns[used.values]).means(used.multiplicity)

    def with_products(self) -> Scores:
        """The same scores, with a column for each product that is averaged over questions."""
        keys, columns = dict(self.keys), [*self.columns.T]
        for key, score in self.keys.items():
            if not score.pooled:
                keys[key] = Score((len(columns),))
                columns.append(score.value(self.columns.T))
        return replace(self, keys=keys, columns=np.stack(columns, axis=1))

    def linearized(self, weights: np.ndarray | None = None) -> np.ndarray:
        """(M, m) scores of questions whose means vary as the m scores do, to first order.

        Args:
            weights: (M,) of the questions, or None for equal ones.
        """
        scores = self.with_products()
        means = np.average(scores.columns[scores.inverse], axis=0, weights=weights)
        gradient = np.stack([score.gradient(means) for score in scores.keys.values()], axis=1)
        return (scores.columns @ gradient)[scores.inverse]

    def per_question(self) -> dict[ScoreKey, list[float]]:
        """Each score of each question."""
        columns = self.columns.T
        return {
            key: score.value(columns)[self.inverse].tolist() for key, score in self.keys.items()
        }


def join_scores(a: Scores, b: Scores) -> Scores:
    """The scores of both, of the same questions."""
    if a.inverse is not b.inverse:  # a row for each question
        a, b = (Scores(x.keys, np.arange(len(x.inverse)), x.columns[x.inverse]) for x in (a, b))
    first = a.columns.shape[1]
    moved = {
        key: score._replace(terms=tuple(first + column for column in score.terms))
        for key, score in b.keys.items()
    }
    return Scores({**a.keys, **moved}, a.inverse, np.hstack([a.columns, b.columns]))


@dataclass(frozen=True)
class Moments:
    """Posterior means of scores and their covariances, independent between questions.

    Args:
        keys: the name of each score, and the columns it is made of.
        inverse: (M,) the row of each question.
        mean: (U, m) posterior means.
        covariance: (U,) for each pair of columns that a score needs.
    """

    keys: Mapping[ScoreKey, Score]
    inverse: np.ndarray
    mean: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]


# --- shared/at_k/core/count_tables.py -------------------------------------------------------------

"""Counts in place of samples, which any engine makes out of samples with one GROUP BY.

The counts of a question are one of

    {"n": 8, "correct": 3}                        samples, and those that are correct
    {"counts": [2, 5, 1]}                         samples in each category 0, 1, ..
    {"answers": ["12", "13"], "counts": [5, 3]}   samples with each answer, to be checked

and those of a run are a list of these, or a dict or a data frame with the same keys as columns.
"""


_FORMS = ({"n", "correct"}, {"counts"}, {"answers", "counts"})


def is_counts(values) -> bool:
    """Whether the values are a dict, a data frame or a list of dicts with the keys of counts.

    Raises:
        ValueError: if a data frame has other columns beside n and correct.
    """
    if isinstance(values, (list, tuple)):
        return bool(values) and isinstance(values[0], Mapping) and {*values[0]} in _FORMS
    if isinstance(values, Mapping):
        return {*values} in _FORMS
    if not is_frame(values):
        return False
    names = column_names(values)
    if {"n", "correct"} < {*names}:
        raise ValueError(
            f"The data frame has the columns {', '.join(names)}: for counts, give n and "
            f"correct alone."
        )
    return {*names} in _FORMS


def read_counts(values, name: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the samples that counts stand for, and how often each occurs.

    Args:
        values: counts, see `is_counts`.
        name: what the caller calls them, for messages.

    Returns:
        The samples: (S,) categories, or M lists of answers; then (S,) how often each occurs, and
        (M,) the number of different samples of each question.

    Raises:
        ValueError: if a count is not a whole number of at least 0, or does not fit to the others,
            with the question.
    """
    columns = _columns(values, name)
    if "n" in columns:
        return _read_binary(columns, name)
    rows = columns["counts"]
    for question, row in enumerate(rows):
        if not is_list_like(row):
            location = Place(name, question, key="counts")
            raise InputError(location, f" is {short(row)}: give a list of counts.")
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    multiplicity = _whole_numbers([*itertools.chain.from_iterable(rows)], name, "counts", sizes)
    if "answers" in columns:
        _require_one_count_each(columns["answers"], sizes, name)
        return columns["answers"], multiplicity, sizes
    if len(sizes) and not one_size(sizes):
        question = int(np.argmax(sizes != sizes[0]))
        raise InputError(
            Place(name, question, key="counts"),
            f" has {sizes[question]} categories, and that of ",
            Place("question", 0),
            f" has {sizes[0]}: give a count for each category.",
        )
    return np.tile(np.arange(sizes.max(initial=0)), len(sizes)), multiplicity, sizes


def _read_binary(columns: dict[str, Any], name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `read_counts` returns, for the columns n and correct."""
    n, correct = (_whole_numbers(columns[key], name, key) for key in ("n", "correct"))
    if (correct > n).any():
        question = int(np.argmax(correct > n))
        raise InputError(
            Place(name, question, key="correct"),
            f" is {correct[question]} of {n[question]} samples: give a number from 0 to n.",
        )
    multiplicity = np.stack([n - correct, correct], axis=1).ravel()
    return np.tile([0, 1], len(n)), multiplicity, np.full(len(n), 2)


def _require_one_count_each(answers: list[Any], sizes: np.ndarray, name: str) -> None:
    """Raise a ValueError if a question has another number of answers than of counts."""
    for question, size in enumerate(sizes.tolist()):
        if not is_list_like(answers[question]) or len(answers[question]) != size:
            raise InputError(
                Place(name, question, key="answers"),
                f" is {short(answers[question])}, with {size} counts: give one count for each "
                f"answer.",
            )


def _columns(values, name: str) -> dict[str, Any]:
    """Return for each key of counts the M entries of the questions."""
    if is_frame(values):
        return {key: entries_of(name, values[key]) for key in column_names(values)}
    if isinstance(values, Mapping):
        columns = {}
        for key, column in values.items():
            entries, label = as_arrow(column), f"{name}[{key!r}]"
            is_table = is_frame(entries)
            columns[key] = frame_rows(entries) if is_table else entries_of(label, entries)
        if len({*map(len, columns.values())}) > 1:
            shown = " and ".join(f"{len(column)} {key}" for key, column in columns.items())
            raise ValueError(f"{name} has {shown}: give one of each for every question.")
        return columns
    for question, row in enumerate(values):
        if not isinstance(row, Mapping) or {*row} != {*values[0]}:
            raise InputError(
                Place(name, question),
                f" is {short(row)}: give {' and '.join(values[0])} for each question, as for the "
                f"first.",
            )
    return {key: [row[key] for row in values] for key in values[0]}


def _whole_numbers(entries, name: str, key: str, sizes: np.ndarray | None = None) -> np.ndarray:
    """Return counts as integers; a ValueError that names the first one that is not a count.

    The sizes are (M,) numbers of counts of each question, or None for one each.
    """
    plain = [plain_entry(entry) for entry in entries]
    for index, count in enumerate(plain):
        is_number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if is_number and 0 <= count < 2**53 and count % 1 == 0:
            continue
        ends = np.arange(1, len(plain) + 1) if sizes is None else np.cumsum(sizes)
        location = Place(name, int(np.searchsorted(ends, index, side="right")), key=key)
        what = f" has the count {short(entries[index])}: give a whole number of at least 0."
        raise InputError(location, what)
    return np.array(plain, dtype=np.int64)


# --- shared/at_k/core/interval.py -----------------------------------------------------------------

"""What an interval is, and what computes one."""


UNIT_RANGE = (0.0, 1.0)  # of a score that is a probability or a share


class Interval(NamedTuple):
    """Center, standard deviation, limits and method of an interval.

    The numbers are floats, or (B,) arrays for B groups of questions.
    """

    mu: Any
    sigma: Any
    lo: Any
    hi: Any
    interval: str | None

    @property
    def is_unknown(self) -> bool:
        """Whether the data show no interval. Its name is "none: " and the reason then."""
        return self.interval is not None and self.interval.startswith("none")


def whole_range(mean: float, least: float, most: float, reason: str) -> Interval:
    """The interval of a score that the data say nothing about, named by the reason."""
    lo, hi = float(least), float(most)
    return Interval(float(mean), (hi - lo) / 2, lo, hi, f"none: {reason}")


class IntervalMethod(abc.ABC):
    """Computes the intervals of the scores of a run, or of groups of its questions."""

    @abc.abstractmethod
    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The intervals of each group. A score that has no interval by this method is absent.

        Args:
            groups: the indices of the questions of each group.
            confidence: of each interval.
        """

    def problem(self, questions: np.ndarray) -> str | None:
        """The reason why these questions have no interval, or None."""
        return None

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """The scores of which these questions show nothing, so that an estimate would mislead."""
        return ()

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """(m, m) covariance of the errors of m scores over the questions with these indices.

        Where it is not known, the errors count as uncorrelated, which is the worst case for a band.
        By default, only that is said: the variances are 1.
        """
        return np.eye(len(keys))


class DerivedIntervals(IntervalMethod):
    """Intervals that are made from those of another method.

    Args:
        method: the other method.
    """

    def __init__(self, method: IntervalMethod):
        self._method = method

    def problem(self, questions: np.ndarray) -> str | None:
        """The reason why the other method has no interval for these questions, or None."""
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        """The scores that the other method cannot estimate from these questions."""
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """(m, m) that of the other method."""
        return self._method.covariance(questions, keys)


def normal_z(confidence: float) -> float:
    """The z-value of a two-sided normal interval."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


# --- shared/at_k/core/samples.py ------------------------------------------------------------------

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


# --- shared/at_k/core/estimates.py ----------------------------------------------------------------

"""Estimates of scores, and the flat dict of `compute`.

An `Estimate` has fields, and the dict has keys such as "topic/G-Pass@4_0.5_lo". `as_dict` makes the
keys, and no other code does. What shows results takes the fields, see `at_k.results`.
"""


class Estimate(NamedTuple):
    """The score of all questions of a run, or of a group of them, and how uncertain it is.

    Attributes:
        metric: the name of the score, such as "pass@k".
        k: the number that its key has in place of the k; "n" for all samples, if their number
            differs between questions; None if the score has no k.
        tau: the threshold of G-Pass@k and TailPass@k, else None.
        group: the label of the group, or None for all questions.
        score: the point estimate.
        interval: its interval, or None. A field that is None was not requested.
        band: the limits of the simultaneous band over k, or None.
    """

    metric: str
    k: int | str | None
    tau: float | None
    group: str | None
    score: float
    interval: Interval | None = None
    band: tuple[float, float] | None = None

    @property
    def score_id(self) -> ScoreId:
        """The identity of the score, without the group."""
        return ScoreId(self.metric, self.k, self.tau)

    @property
    def key(self) -> str:
        """The key of the score, without the group: "G-Pass@4_0.5"."""
        return self.score_id.key

    @property
    def full_key(self) -> str:
        """The key of the score in the dict of `compute`: "topic/G-Pass@4_0.5"."""
        return self.key if self.group is None else f"{self.group}/{self.key}"

    @property
    def limits(self) -> tuple[float, float] | None:
        """The lower and the upper limit, or None if none was requested or the data show none."""
        if self.interval is None or self.interval.lo is None or self.interval.is_unknown:
            return None
        return self.interval.lo, self.interval.hi


# --- Estimates to keys --------------------------------------------------------------------


def as_dict(
    estimates: Sequence[Estimate],
    safe: bool = False,
    others: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the flat dict of `compute`: for each estimate its score, interval and band.

    Args:
        estimates: in the order of the keys.
        safe: whether the keys are names that every logger takes, and the values numbers only.
        others: further entries of the dict.

    Raises:
        ValueError: if two groups have the same safe name.
    """
    groups = [*dict.fromkeys(x.group for x in estimates if x.group is not None)]
    prefixes = safe_prefixes(groups) if safe else {group: f"{group}/" for group in groups}
    result: dict[str, Any] = {}
    for estimate in estimates:
        name = safe_name(estimate.score_id) if safe else estimate.key
        if estimate.group is not None:
            name = prefixes[estimate.group] + name
        result[name] = estimate.score
        if estimate.interval is not None:
            for field, value in estimate.interval._asdict().items():
                if value is not None and not (safe and field == "interval"):
                    result[f"{name}_{field}"] = value
        if estimate.band is not None:
            result[f"{name}_band_lo"], result[f"{name}_band_hi"] = estimate.band
    return result | dict(others or {})


def safe_name(score: ScoreId) -> str:
    """Return a name of letters, digits and underscores for a score.

    >>> [safe_name(ScoreId(*x)) for x in [("pass^k", 2), ("G-Pass@k", 4, 0.5), ("mG-Pass@k", 4)]]
    ['pass_hat_2', 'g_pass_at_4_tau_0_5', 'mg_pass_at_4']
    """
    name = score._replace(tau=None).key.replace("@", "_at_").replace("^", "_hat_")
    return _with_underscores(name if score.tau is None else f"{name}_tau_{score.tau}").lower()


def safe_prefixes(labels: Sequence[str]) -> dict[str, str]:
    """Return what precedes the safe names of the scores of each group.

    Raises:
        ValueError: if two labels have the same safe name.
    """
    names = [_with_underscores(label) for label in labels]
    names = [name if name[:1].isalpha() else f"group_{name}" for name in names]
    for repeated, count in Counter(names).most_common(1):
        if count > 1:
            alike = [label for label, name in zip(labels, names, strict=True) if name == repeated]
            raise ValueError(
                f"groups has the labels {alike[0]!r} and {alike[1]!r}, which have the same safe "
                f"name {repeated!r}: rename one, or use keys='exact'."
            )
    return {label: f"{name}__" for label, name in zip(labels, names, strict=True)}


def _with_underscores(text: str) -> str:
    """Return a text with underscores in place of what is no ASCII letter or digit."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


# --- Keys to scores -----------------------------------------------------------------------

_SCORE_KEY = re.compile(
    r"(.*[@^])(\d+|n)(?:_(\d+(?:\.\d+)?(?:e-\d+)?))?|(accuracy \()(\d+|n)( runs average\))"
)


def read_score(key: str) -> ScoreId:
    """Return the score that a key without a group names.

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

"""The posterior interval: the normal approximation around a posterior mean.

The posterior of each question has a mean and a variance, independent between questions. The mean
over questions is approximately normal, so the interval is mu -+ z sigma, clipped to the bounds
(Hariri et al. 2026, arXiv:2510.04265).
"""


class PosteriorIntervals(IntervalMethod):
    """Intervals mu -+ z sigma from posterior moments.

    Args:
        moments: of the scores of each distinct count.
        bounds: (lo, hi) to which the limits are clipped.
        name: of the method in the results, or None for none.
        weights: (M,) of the questions, or None if they are equal.
    """

    def __init__(
        self,
        moments: Moments,
        bounds: tuple[float, float],
        name: str | None = "posterior",
        weights: np.ndarray | None = None,
    ):
        self._moments, self._bounds, self._name, self._weights = moments, bounds, name, weights

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The interval of each score, for each group of question indices."""
        return [self._intervals(questions, confidence) for questions in groups]

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """(m, m) the variances of m scores over these questions, on the diagonal."""
        # The covariances of different scores are not known.
        intervals = self._intervals(questions, 0.5)
        return np.diag([intervals[key].sigma ** 2 for key in keys])

    def _intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over questions with these indices."""
        moments = self._moments
        used = UniqueIntegers(moments.inverse[questions], len(moments.mean))
        weight = squares = used.multiplicity  # the sums of weights, and of their squares
        if self._weights is not None:
            weights = self._weights[questions]
            weight, squares = (np.bincount(used.inverse, weights**power) for power in (1, 2))
        total, mean = weight.sum(), moments.mean[used.values]
        covariance = {pair: values[used.values] for pair, values in moments.covariance.items()}
        means = weight @ mean / total
        pooled = {pair: squares @ values / total**2 for pair, values in covariance.items()}
        result = {}
        for key, score in moments.keys.items():
            if score.pooled:
                mu, variance = score.value(means), score.variance(means, pooled)
            else:
                mu = weight @ score.value(mean.T) / total
                variance = squares @ score.variance(mean.T, covariance) / total**2
            sigma = float(np.sqrt(variance))
            lo, hi = normal_limits(float(mu), sigma, confidence, self._bounds)
            result[key] = Interval(float(mu), sigma, float(lo), float(hi), self._name)
        return result


def normal_limits(mu, sigma, confidence: float, bounds: tuple[float, float]):
    """Return mu -+ z sigma, clipped to the bounds, so lo <= hi always."""
    margin, (least, most) = normal_z(confidence) * sigma, bounds
    lo, hi = np.maximum(mu - margin, least), np.minimum(mu + margin, most)
    return np.minimum(lo, most), np.maximum(hi, least)


# --- shared/at_k/core/questions.py ----------------------------------------------------------------

"""Intervals for other questions like these, in closed form.

The mean U of M scores in [0, 1] has the estimated variance V. A proportion of m independent trials
has the same variance for m = U (1 - U) / V, the effective number of trials, and the interval of U
is Wilson's (1927) for that proportion, with the quantile z of Student's t in place of the normal
one:

    (U + z^2 / 2m -+ z sqrt(U (1 - U) / m + z^2 / 4m^2)) / (1 + z^2 / m).

It stays inside the range of the scores without clipping, and is longer towards the middle of the
range. Scores in another range are scaled to it.

*Clusters.* Questions of one cluster, such as those about one text, are correlated. Leave out each
cluster in turn: with D_g the sum over cluster g of its n_g deviations from U,

    V = (G - 1) / G x the sum over the G clusters of (D_g / (M - n_g))^2,

the jackknife, which is not too small where clusters differ in size. For single questions it is the
sample variance divided by M (MacKinnon, Nielsen & Webb 2023, J. Econometrics 232, 272). The degrees
of freedom are those of the effective number of clusters, G* = M^2 / sum of n_g^2 (Kish 1965), less
1 but at least 1: ten clusters, one of which has half of the questions, are effectively 3.6.

*Weights.* If questions have weights w, then U is the weighted mean, D_g is a sum of weighted
deviations, n_g and M are sums of weights, and the effective number of questions without clusters is
(sum w)^2 / sum w^2. In a mean over groups, a question of a group of size n has the weight 1 / n.
Other questions may differ in their groups too: where groups have other scores, this is wider than a
standard error from the variances within groups, which are then those of fixed groups.

*What M questions cannot show.* Their effective number is M* = M divided by the factor by which
clusters increase the variance, but at least G*; without clusters it is M.

- An eighth of an event is added to V and to the largest variance that the mean allows, both for one
  question, because M* observations cannot show rarer events.
- A kind of questions that is a share 1 - r of all is missed by M questions with the probability
  r^M. With alpha / 2 for it, r = (alpha / 2)^(1 / M), and such questions may have any score: the
  limits are at most U r and at least 1 - (1 - U) r. All questions of a cluster may be of one kind,
  so with clusters G takes the place of M.
- Near a limit of the range the score is a sum of rare events. If their number is Poisson, matching
  the mean and the variance gives the size V / U of each. Below four events the interval extends at
  least to Garwood's exact limit (1936, Biometrika 28, 437), where the probability of as many events
  or more is alpha. Brown, Cai & DasGupta (2001, Statistical Science 16, 101) modify Wilson's
  interval in the same way.

*Products* of means have limits from those of their factors, see `limits_of_product`.
"""


ONE_CLUSTER = "there is one question, or one cluster of questions"

TOO_FEW_CLUSTERS = (
    "one question, or one cluster of questions, does not show how questions vary: add questions, "
    "or pass interval='sampling'"
)

_EVENT = 1 / 8  # of an event in one question, which is added to variances
FEW_EVENTS = 4.0  # for fewer events the normal approximation is too poor

Ranges = tuple[np.ndarray | float, np.ndarray | float]
"""The smallest and the largest values of scores."""


class MeansOfQuestions(NamedTuple):
    """The means of m scores over M questions, and how uncertain they are for other questions.

    Attributes:
        mean: (m,).
        covariance: (m, m) of the errors of the means.
        effective_questions: (m,) effective numbers of questions, M*.
        clusters: number of clusters, G; without clusters that of questions.
        effective_clusters: effective number of clusters, G*.
    """

    mean: np.ndarray
    covariance: np.ndarray
    effective_questions: np.ndarray
    clusters: float
    effective_clusters: float

    @property
    def variance(self) -> np.ndarray:
        """(m,) the variances of the means."""
        return np.diag(self.covariance)

    def limits(
        self,
        confidence: float,
        score_range: Ranges,
        range_of_estimates: Ranges | None = None,
    ) -> np.ndarray:
        """(2, m) lower and upper limits of the means.

        Args:
            confidence: of each interval.
            score_range: (m,) smallest and largest possible scores of a question.
            range_of_estimates: (m,) smallest and largest possible estimates, if they may lie
                outside of the range of the scores.
        """
        alpha = 1 - confidence
        z = student_quantile(degrees_of_freedom(self.effective_clusters), alpha)
        least, most = range_of_estimates or score_range
        width = np.subtract(most, least)
        scale = np.where(width > 0, width, 1.0)
        u = np.clip((self.mean - least) / scale, 0.0, 1.0)
        v = self.variance / scale**2
        lo, hi = wilson_limits(u, v, self.effective_questions, z)
        lo = np.minimum(lo, _lower_limit_of_few_events(u, v, alpha))
        hi = np.maximum(hi, 1 - _lower_limit_of_few_events(1 - u, v, alpha))
        lo, hi = least + width * lo, least + width * hi
        # Questions of a kind that these do not include may have any score.
        r = 1 - unseen_share(self.clusters, alpha)
        lo = np.minimum(lo, score_range[0] + (self.mean - score_range[0]) * r)
        hi = np.maximum(hi, score_range[1] - (score_range[1] - self.mean) * r)
        return np.clip([np.minimum(lo, self.mean), np.maximum(hi, self.mean)], *score_range)


def means_of_questions(
    columns: np.ndarray,
    multiplicity: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> MeansOfQuestions:
    """Return the means of m scores over questions, of two clusters or more.

    Args:
        columns: (U, m) scores of the questions.
        multiplicity: (U,) number of questions with these scores, without clusters or weights.
            Default: 1.
        clusters: (U,) label of each question's cluster. Default: each is its own.
        weights: (U,) of the questions, above 0. Default: equal ones.
    """
    if clusters is None and weights is None:
        if multiplicity is None:
            multiplicity = np.ones(len(columns))
        total = float(multiplicity.sum())
        mean = multiplicity @ columns / total
        deviations = columns - mean
        squares = (deviations * multiplicity[:, None]).T @ deviations
        covariance = squares / (total * (total - 1))
        return MeansOfQuestions(mean, covariance, np.full(len(mean), total), total, total)
    mean, errors = np.average(columns, 0, weights), cluster_errors(columns, clusters, weights)
    questions = effective_clusters(None, len(columns), weights)
    effective = effective_clusters(clusters, len(columns), weights)
    covariance = errors.T @ errors
    independent = cluster_errors(columns, None, weights)
    by_question, by_cluster = np.sum(independent**2, axis=0), np.diag(covariance)
    # Scores that do not vary say nothing of the effect of clusters: at worst it is the largest.
    effect = np.full(len(mean), questions)
    np.divide(by_cluster, by_question, out=effect, where=by_question > 0)
    number = np.clip(questions / np.maximum(effect, 1.0), effective, questions)
    return MeansOfQuestions(mean, covariance, number, len(errors), effective)


def cluster_errors(
    columns: np.ndarray, clusters: np.ndarray | None, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return (G, m) changes of the means of (M, m) columns if each cluster is left out.

    They are scaled so that the sums of their squares are the variances of the means. Clusters and
    weights are those of `means_of_questions`.
    """
    deviations = columns - np.average(columns, axis=0, weights=weights)
    sizes = np.ones(len(columns)) if weights is None else weights
    deviations = deviations * sizes[:, None]
    if clusters is not None:
        _, inverse = np.unique(clusters, return_inverse=True)
        deviations = np.array([np.bincount(inverse, column) for column in deviations.T]).T
        sizes = np.bincount(inverse, sizes)
    number, others = np.count_nonzero(sizes), sizes.sum() - sizes
    # A cluster with all of the weight has the deviation 0.
    others = np.where(others > 0, others, 1.0)
    return np.sqrt((number - 1) / number) * deviations / others[:, None]


def effective_clusters(
    clusters: np.ndarray | None, questions: int, weights: np.ndarray | None = None
) -> float:
    """Return G*: how many clusters of equal size have a mean as uncertain as that of these.

    Clusters and weights are those of `means_of_questions`.
    """
    sizes = np.ones(questions) if weights is None else weights
    if clusters is not None:
        sizes = np.bincount(np.unique(clusters, return_inverse=True)[1], sizes)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


def degrees_of_freedom(clusters: float) -> float:
    """Return the degrees of freedom of a variance from an effective number of clusters."""
    return max(1.0, clusters - 1)


def student_quantile(freedom: float, alpha: float) -> float:
    """Return the z-value of a two-sided interval from a variance with these degrees of freedom."""
    from scipy.special import stdtrit  # imported here, because it takes longer than all of at_k

    # Of the lower tail, as 1 - alpha / 2 may round to 1.
    return -float(stdtrit(freedom, alpha / 2))


def unseen_share(clusters: float, alpha: float) -> float:
    """Return the share of a kind of questions that clusters miss with the probability alpha / 2."""
    return -math.expm1(math.log(alpha / 2) / clusters)


def wilson_limits(u, v, number, z: float):
    """Return Wilson's lower and upper limits of means u from 0 to 1 with variances v.

    Args:
        number: effective number of observations of each mean.
    """
    u, event = np.clip(u, 0.0, 1.0), _EVENT / number
    share = (number * v + event) / (u * (1 - u) + event)  # of the largest variance
    m = number / np.maximum(share, 1e-6)
    center = (u + z**2 / 2 / m) / (1 + z**2 / m)
    margin = z / (1 + z**2 / m) * np.sqrt(u * (1 - u) / m + z**2 / 4 / m**2)
    lo, hi = np.minimum(center - margin, u), np.maximum(center + margin, u)
    return np.maximum(lo, 0.0), np.minimum(hi, 1.0)


def _lower_limit_of_few_events(u: np.ndarray, v: np.ndarray, alpha: float) -> np.ndarray:
    """Return Garwood's lower limit of means u that are sums of few events, and 1 for others.

    The means are from 0 to 1, and have the variances v.
    """
    from scipy.special import gammaincinv

    size = v / np.where(u > 0, u, 1.0)  # of an event
    events = u / np.where(size > 0, size, np.inf)
    are_few = (events > 0) & (events < FEW_EVENTS)
    return np.where(are_few, size * gammaincinv(np.clip(events, 1e-9, FEW_EVENTS), alpha), 1.0)


# --- Products -----------------------------------------------------------------------------


def limits_of_product(
    score: Score,
    lo: np.ndarray,
    u: np.ndarray,
    hi: np.ndarray,
    covariance: Mapping[ColumnPair, np.ndarray] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (..) lower and upper limits of a score from those of its columns.

    A product of powers is far from linear where a factor is near 0. Its limits are combined from
    those of the factors as the limits of a difference are (Zou & Donner 2008, Statistics in
    Medicine 27, 1693): the changes of the product when each factor alone moves to its limit are
    added as correlated errors are. They do not exceed the values with all factors at their limits.

    Args:
        score: a product of powers of columns.
        lo: (m, ..) lower limits of the columns.
        u: (m, ..) estimates of the columns.
        hi: (m, ..) upper limits of the columns.
        covariance: of each pair of columns.
    """
    if score.powers == (1.0,):
        (column,) = score.terms
        return lo[column], hi[column]
    index = np.arange(len(u)).reshape(-1, *[1] * (u.ndim - 1))

    def distance(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return by how much the product may differ between two values of its columns."""
        moves = {
            column: score.value(high) - score.value(np.where(index == column, low, high))
            for column in score.terms
        }
        square = sum(move**2 for move in moves.values())
        for a, b in score.pairs():
            if a != b:
                size = np.sqrt(np.maximum(covariance[a, a] * covariance[b, b], 0.0))
                # No column decreases with c, so no correlation is negative.
                r = np.clip(covariance[a, b] / np.where(size > 0, size, 1.0), 0.0, 1.0)
                square = square + 2 * r * moves[a] * moves[b]
        return np.sqrt(square)

    center = score.value(u)
    return (
        np.maximum(center - distance(lo, u), score.value(lo)),
        np.minimum(center + distance(u, hi), score.value(hi)),
    )


# --- The method ---------------------------------------------------------------------------


class QuestionIntervals(IntervalMethod):
    """Intervals of scores for other questions like these.

    Args:
        scores: of the questions.
        ranges: of the true scores in the columns, broadcast to (U, m).
        clusters: (M,) label of each question's cluster, or None if each question is its own.
        allow_one: whether one question, or one cluster, has the whole range as its interval;
            otherwise it has none.
        ranges_of_estimates: of the estimates, if they may lie outside of `ranges`.
        weights: (M,) of the questions, or None if they are equal.
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
        """The reason why these questions have no interval, or None."""
        return TOO_FEW_CLUSTERS if self._is_one(questions) and not self._allow_one else None

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The interval of each score, for each group of question indices."""
        return [self._intervals(questions, confidence) for questions in groups]

    def means(self, questions: np.ndarray) -> MeansOfQuestions:
        """The means of the columns over questions."""
        if self._clusters is not None or self._weights is not None:
            columns = self._scores.columns[self._scores.inverse[questions]]
            clusters, weights = (
                None if x is None else x[questions] for x in (self._clusters, self._weights)
            )
            return means_of_questions(columns, None, clusters, weights)
        used = UniqueIntegers(self._scores.inverse[questions], len(self._scores.columns))
        return means_of_questions(self._scores.columns[used.values], used.multiplicity)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """(m, m) covariance of the errors of m scores over these questions."""
        result, scores = np.eye(len(keys)), self._scores.keys
        known = [i for i, key in enumerate(keys) if key in scores]
        means = self.means(questions)
        gradient = np.stack([scores[keys[i]].gradient(means.mean) for i in known], axis=1)
        result[np.ix_(known, known)] = gradient.T @ means.covariance @ gradient
        return result

    def _intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over questions with these indices."""
        rows = self._scores.inverse[questions]
        least, most = self._extremes(self._ranges, rows)
        if self._is_one(questions):
            mean = self._scores.columns[rows].mean(axis=0)
            if self._weights is not None:
                mean = np.average(self._scores.columns[rows], 0, self._weights[questions])
            return {
                key: whole_range(
                    score.value(mean), score.value(least), score.value(most), ONE_CLUSTER
                )
                for key, score in self._scores.keys.items()
            }
        means, estimates = self.means(questions), self._ranges_of_estimates
        range_of_estimates = None if estimates is None else self._extremes(estimates, rows)
        lo, hi = means.limits(confidence, (least, most), range_of_estimates)
        result = {}
        for key, score in self._scores.keys.items():
            lower, upper = limits_of_product(score, lo, means.mean, hi, means.covariance)
            mean, variance = score.value(means.mean), score.variance(means.mean, means.covariance)
            sigma = math.sqrt(max(0.0, variance))
            result[key] = Interval(float(mean), sigma, float(lower), float(upper), "questions")
        return result

    def _extremes(self, ranges: Ranges, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) the smallest and the largest values of the columns over the rows of questions."""
        least, most = (np.broadcast_to(x, self._scores.columns.shape)[rows] for x in ranges)
        return least.min(axis=0), most.max(axis=0)

    def _is_one(self, questions: np.ndarray) -> bool:
        """Whether these are one question, or all in one cluster."""
        labels = questions if self._clusters is None else self._clusters[questions]
        return bool((labels == labels[0]).all())


# --- shared/at_k/core/columns.py ------------------------------------------------------------------

"""Columns of Arrow: samples and references that are to be checked or wait for `compute`.

Texts are large strings. Numbers keep their type, except that floats become doubles: one of lower
precision becomes the double of its shortest decimal, so that np.float32(0.1) equals 0.1. Values
that Arrow has no common type for are JSON: dicts with different keys, texts that UTF-8 cannot hold,
bools among integers, and integers that no double holds among floats.
"""


TEXTS = pa.large_string()
"""The type of texts."""

JSON = pa.struct([("at_k.json", TEXTS)])
"""The type of values that Arrow has no common type for."""

_TEXTS_AND_NONE = {str, type(None)}


def stored(rows: Samples, references: Any = None) -> Samples:
    """Return rows with their values in an Arrow column, and with a column of references.

    Raises:
        ValueError: if samples have different types, if there is not one reference for each
            question, or if Arrow and JSON cannot hold a value, with its index.
    """
    values = rows.values
    if rows.are_numbers:
        values = _column_of_numbers(values, rows.scored)
    elif isinstance(values, list):
        check_types(rows)
        values = pa.chunked_array([_typed_array(values, rows.name, rows.sizes)])
    column = None if references is None else reference_column(references, len(rows))
    return replace(rows, values=values, scored=None, references=column)


def reference_column(references: Any, questions: int) -> pa.ChunkedArray:
    """Return one reference for each question as a column.

    Raises:
        ValueError: if the number of references differs from the number of questions, or if a
            reference cannot be stored, with its index.
    """
    values = plain_container(references)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        column = _column_of_numbers(values)
    elif isinstance(values, pa.ChunkedArray):
        column = plain_types(values)
        if str(column.type) in ("halffloat", "float"):
            column = _column_of_numbers(*numbers_and_scored(column))
    else:
        entries = values if isinstance(values, list) else entries_of("references", values)
        check_depth("references", entries)
        column = pa.chunked_array([_typed_array(entries, "references")])
    if len(column) != questions:
        raise ValueError(
            f"There are {questions} lists of predictions but {len(column)} references: "
            f"give one reference for each question."
        )
    # References that are all None were given, unlike no references: a checker may ignore them.
    return column.cast(TEXTS) if pa.types.is_null(column.type) else column


def _column_of_numbers(numbers: np.ndarray, present: np.ndarray | None = None) -> pa.ChunkedArray:
    """Return numbers as a column, floats of lower precision as their shortest decimals.

    Args:
        numbers: (S,).
        present: (S,) False for numbers that stand for None, or None if all are present.
    """
    if present is not None and not present.any():
        return pa.chunked_array([pa.nulls(len(numbers))])
    if numbers.dtype.kind == "f" and numbers.itemsize < 8:
        distinct, index = np.unique(numbers, return_inverse=True)
        numbers = np.array([float(str(number)) for number in distinct])[index]
    return pa.chunked_array([from_numpy(numbers, None if present is None else ~present)])


# --- Values of Python ---------------------------------------------------------------------


def check_types(rows: Samples) -> None:
    """Raise a ValueError if a sample has another type than the first one, with both indices."""
    samples = rows.values
    if not isinstance(samples, list) or _TEXTS_AND_NONE.issuperset(map(type, samples)):
        return
    kinds = ["number" if isinstance(x, (bool, int, float)) else type(x).__name__ for x in samples]
    scored = [sample for sample, value in enumerate(samples) if value is not None]
    if not scored or kinds[scored[0]] in ("dict", "list", "tuple"):
        return
    first = scored[0]
    for sample in scored:
        if kinds[sample] != kinds[first]:
            raise InputError(
                sample_place(rows.name, rows.sizes, sample),
                f" is {short(samples[sample])}, but ",
                sample_place(rows.name, rows.sizes, first),
                f" is {short(samples[first])}: samples are all of one type.",
            )


def _typed_array(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return values of one type as an array of that type, and values of several types as JSON.

    The sizes are (M,) numbers of entries of each question, or None for one entry per question.
    """
    if _TEXTS_AND_NONE.issuperset(map(type, values)):
        with suppress(UnicodeEncodeError):
            return pa.array(values, TEXTS)
    values = [plain_entry(value) for value in values]
    array = _array_of_one_type(values)
    return to_json(values, name, sizes) if array is None else array


def _array_of_one_type(values: list[Any]) -> pa.Array | None:
    """Return values as an array; None if they have several types, or if some are dicts."""
    entries = [entry for value in values for entry in (value if type(value) is list else [value])]
    kinds = {type(value) for value in (*values, *entries)} - {type(None)}
    are_lists_of_one_type = list in kinds and len(kinds) == 2 and not kinds & {dict, tuple}
    if len(kinds) > 1 and not are_lists_of_one_type:
        return None
    try:
        array = pa.array(values, TEXTS if kinds == {str} else None)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    # A struct would have the keys of all dicts, with None where a dict lacks one.
    return None if "struct" in str(array.type) else array


# --- JSON ---------------------------------------------------------------------------------


def to_json(values: list[Any], name: str, sizes: np.ndarray | None = None) -> pa.Array:
    """Return the values as an array of type `JSON`. The arguments are those of `_typed_array`.

    Raises:
        ValueError: if JSON cannot hold a value, with its index.
    """
    texts = []
    for index, value in enumerate(values):
        try:
            _check_keys(value)
            texts.append(None if value is None else json.dumps(value, default=_json_default))
        except (TypeError, ValueError) as error:
            location = Place(name, index) if sizes is None else sample_place(name, sizes, index)
            what = f" is {short(value)}, which neither Arrow nor JSON can hold: {error}."
            raise InputError(location, what) from error
    array = pa.array(texts, TEXTS)
    return pa.StructArray.from_arrays([array], fields=list(JSON), mask=array.is_null())


def _json_default(value) -> Any:
    """Return an array or a number of another library as JSON can hold it."""
    plain = plain_entry(value)
    if plain is value and hasattr(value, "tolist"):
        plain = value.tolist()
    if plain is value:
        raise TypeError(f"it is a {type(value).__name__}")
    return plain


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


# --- Kinds --------------------------------------------------------------------------------


def sample_kind(values: pa.ChunkedArray) -> str | None:
    """Return "texts", "numbers" or "other values" for samples; None if all are None."""
    if pa.types.is_null(values.type):
        return None
    if values.type == TEXTS:
        return "texts"
    if values.type == JSON:
        first = next(text for text in pc.struct_field(values, 0) if text.is_valid).as_py()
        return {'"': "texts", "[": "other values", "{": "other values"}.get(first[0], "numbers")
    return "numbers" if is_number(values.type) else "other values"


def is_number(arrow_type: pa.DataType) -> bool:
    """Whether the type is one of bools, integers or floats."""
    return not pa.types.is_null(arrow_type) and is_numeric(arrow_type)


# --- Arrow and Python ---------------------------------------------------------------------


def from_numpy(values: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
    """Return numbers as an array. `pa.array` would import pandas, which takes half a second.

    Args:
        values: (S,) numbers.
        missing: (S,) True for entries that are None, or None if none are.
    """
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [valid, pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def to_python(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the entries as Python objects."""
    if values.type == JSON:
        return [
            None if entry is None else json.loads(entry["at_k.json"])
            for entry in values.to_pylist()
        ]
    return values.to_pylist()


def one_chunk(values: pa.ChunkedArray) -> pa.Array:
    """Return the entries as one array, without a copy if there is one chunk."""
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def distinct_entries(values: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct entries, and for each entry its index among them, or -1 for None."""
    if values.type == JSON:
        texts, index = distinct_entries(pc.struct_field(values, 0))
        return pa.StructArray.from_arrays([texts], fields=list(JSON)), index
    if pa.types.is_nested(values.type):
        codes: dict[str, int] = {}
        index = np.array(
            [
                -1 if entry is None else codes.setdefault(repr(entry), len(codes))
                for entry in values.to_pylist()
            ]
        )
        first = np.unique(index, return_index=True)[1]
        return values.combine_chunks().take(first[index[first] >= 0]), index
    encoded = values.dictionary_encode()  # the chunks have one dictionary, and are not copied
    code = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    code = code.fill_null(-1) if code.null_count else code
    return encoded.chunk(0).dictionary, to_numpy(code)


# --- shared/at_k/core/score_agg.py ----------------------------------------------------------------

"""score_agg: the graded verdicts of an item combined into one score, by a power mean.

An item has n verdicts with weights x_i from 0 to 1. Their power mean

    M_p = (mean of x_i^p)^(1/p)

increases with p: from the minimum (p to -infinity) through the geometric mean (p = 0) and the
arithmetic mean (p = 1) to the maximum (p to infinity). The temperature, from 0.1 (strict) to 1.0
(lenient), determines p. In addition, each verdict of 0 lowers the score by a penalty.

Source: "Score Aggregation" in the documentation of Eval AI Library, from which both tables below
are taken; A. Meshkov, arXiv:2604.08595.
"""


VERDICTS = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
"""The standard labels of verdicts, and their weights."""

_TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0)
_EXPONENTS = (-8.0, -2.5, 1.0, 4.6, 12.25)


# --- Parameters -------------------------------------------------------------------------


def exponent(temperature: float) -> float:
    """Return the exponent p of a temperature, by linear interpolation in the table."""
    wanted = "give a temperature from 0.1 (strict) to 1.0 (lenient)"
    temperature = check_number("temperature", temperature, wanted, 0.1, 1.0)
    return float(np.interp(temperature, _TEMPERATURES, _EXPONENTS))


def check_penalty(penalty) -> float:
    """Return the share of its score that an item loses for each verdict of 0, from 0 to 1."""
    wanted = "give the share of the score that each verdict of 0 costs, from 0 to 1"
    return check_number("penalty", penalty, wanted, 0.0, 1.0)


def check_eps(eps) -> float:
    """Return the number that replaces 0 if p <= 0, above 0 and at most 1."""
    wanted = "give a small number above 0, such as 1e-9, which replaces 0"
    return check_positive("eps_for_neg_p", eps, wanted, 1.0)


def check_weights(weights) -> dict[str, float]:
    """Return a table of the labels of verdicts and their weights, from 0 to 1."""
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
    if not (values.min() >= 0 and values.max() <= 1):
        outcomes.require((values >= 0) & (values <= 1), "a verdict is a weight from 0 to 1")
    return outcomes


# --- Power means ------------------------------------------------------------------------


def power_means(x: np.ndarray, p: float, eps: float = 0.0) -> np.ndarray:
    """Return the power means of M items with n weights each, of shape (M,), for any p.

    The weights are scaled by the maximum of the item, or for p < 0 by its minimum, so that no
    power overflows. For p near 0, x^p is close to 1, and the mean is computed from the small
    differences instead: exp(log1p(mean of expm1(p log x)) / p).

    Args:
        x: (n, M) weights of at least 0, one column for each item.
        eps: replaces smaller weights. It is above 0 if p < 0, and at most 1.
    """
    minimum, maximum = x.min(axis=0), x.max(axis=0)
    weight = np.maximum(x, eps)
    if p == 1:
        means = weight.mean(axis=0)
    else:
        scale = np.maximum(maximum if p >= 0 else minimum, eps)
        divisor = np.where(scale > 0, scale, 1.0)
        ratio = weight / divisor if p >= 0 else divisor / weight
        if abs(p) >= 0.5:
            means = scale * (ratio ** abs(p)).mean(axis=0) ** (1 / p)
        else:
            with np.errstate(divide="ignore"):  # log(0) is -infinity, as intended
                log = np.log(ratio)
                log = np.log1p(np.expm1(abs(p) * log).mean(axis=0)) / p if p else log.mean(axis=0)
            means = scale * np.exp(log)
    # Outside of these bounds by rounding only, but for weights that eps replaces.
    return np.clip(means, minimum, np.maximum(maximum, eps))


def agg_scores(verdicts: Samples, p: float, penalty: float = 0.1, eps: float = 1e-9) -> Scores:
    """Return the score of each item, see `item_scores`."""
    values = item_scores(verdicts, p, penalty, eps)
    return Scores(one_column_each([ScoreId("score_agg")]), np.arange(len(values)), values[:, None])


def item_scores(verdicts: Samples, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the score of each item, (M,): its power mean, reduced for each verdict of 0.

    Raises:
        ValueError: if an item has no scored verdict.
    """
    values, sizes = verdicts.scored_values.astype(float), verdicts.n
    starts, scores = np.cumsum(sizes) - sizes, np.empty(len(sizes))
    for n in np.unique(sizes):
        items = np.flatnonzero(sizes == n)
        x = values[starts[items] + np.arange(n)[:, None]]
        scores[items] = _penalized_means(x, p, penalty, eps)
    return scores


def _penalized_means(x: np.ndarray, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the scores of M items with n verdicts each, from (n, M) weights.

    With a weight of 0, the power mean is 0 for every p <= 0. There, eps replaces smaller weights,
    so that the other verdicts still count: for p = 0 the result is the geometric mean of them and
    eps. No power mean with p < 1 exceeds the arithmetic mean; where eps lifts it higher, the score
    is the arithmetic mean. For p just above 0, without eps, the power mean starts from 0 again. The
    score is the maximum of this mean and of the mean at p = 0, so it never decreases as the
    temperature rises.
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

Take k samples of a question. A score rewards them by how many are correct: the r-th correct
sample adds the credit w_r >= 0, so j correct samples have the value w_1 + .. + w_j. The score
of the question is the expected value,

    S_w = sum over r of  w_r x P(at least r of k samples are correct).

pass@k puts all credit on r = 1 and pass^k on r = k; the other scores lie between them. S_w is
the threshold spectrum of the paper "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM
Reasoning", which also defines the geometric combinations below. `pass_family` computes the
expected values.
"""


_VALID_TAU = "a threshold is a share of the k samples, from 0 to 1"
_MOST_CREDITS = 20_000_000  # of all scores together, each of which has k credits

Credits = tuple[float, ...]
"""The credits (w_1, .., w_k) of the first, second, .., k-th correct sample, none negative."""


def at_least(k: int, needed: int) -> Credits:
    """Value 1 if at least `needed` of k samples are correct, otherwise 0.

    Fewer than `needed` samples always have the value 0.
    """
    return ((0.0,) * (needed - 1) + (1.0,) + (0.0,) * (k - needed))[:k]


def any_correct(k: int) -> Credits:
    """pass@k: at least one of k samples is correct (Chen et al. 2021, arXiv:2107.03374)."""
    return at_least(k, 1)


def all_correct(k: int) -> Credits:
    """pass^k, or unanimous@k: all k are correct (Yao et al. 2024, arXiv:2406.12045)."""
    return at_least(k, k)


def majority(k: int) -> Credits:
    """maj@k: more than half of k samples are correct."""
    return at_least(k, k // 2 + 1)


def threshold(k: int, tau: float) -> Credits:
    """G-Pass@k_tau: at least max(1, ceil(tau k)) are correct (Liu et al. 2024, arXiv:2412.13147).

    `check_tau` has checked tau.
    """
    return at_least(k, required_samples(k, tau))


def required_samples(k: int, tau: float) -> int:
    """Return max(1, ceil(tau k)), how many of k samples G-Pass@k_tau requires to be correct.

    A product tau k within 1e-9 of an integer counts as that integer: in floating point,
    0.28 x 25 is above 7 and 25/49 x 49 is below 25.
    """
    return max(1, math.ceil(tau * k - 1e-9))


def check_tau(tau) -> float:
    """Return the threshold tau as a float in [0, 1]."""
    return check_number("tau", tau, _VALID_TAU, 0, 1)


def check_thresholds(thresholds) -> list[float]:
    """Return one or more thresholds, each from 0 to 1."""
    values = as_list("thresholds", thresholds)
    return [check_number(f"thresholds[{i}]", tau, _VALID_TAU, 0, 1) for i, tau in enumerate(values)]


def above_half(k: int) -> Credits:
    """mG-Pass@k: a credit of 2/k for each correct sample beyond ceil(k/2).

    S_w is then (2/k) times the sum of G-Pass@k_(i/k) over i = ceil(k/2) + 1 .. k, which is the
    paper's Riemann sum for twice the area under G-Pass@k_tau from tau = 1/2 to 1. The sum
    equals the area for even k. For odd k it is smaller, and (k-1)/k if all k are correct.
    """
    half = -(-k // 2)
    return (0.0,) * half + (2 / k,) * (k - half)


def area_under_pass(k: int) -> Credits:
    """AUC@k: the area under pass@j from j = 1 to k by the trapezoidal rule, over k - 1.

    If i of k samples are correct, a share C(k-i, j) / C(k, j) of the subsets of size j has no
    correct sample. The sum of these shares over j is (k+1) / (i+1) - 1, so i correct samples
    have the value [(k+1) i/(i+1) - (i/k + 1)/2] / (k-1). The credits are the differences
    between successive i (Hu et al. 2026, arXiv:2601.08763).
    """
    if k == 1:
        return any_correct(1)
    first = (k + 1) / (2 * k)
    # Quotients of integers, because Python rounds each of them correctly.
    return first, *(
        (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1)) for r in range(2, k + 1)
    )


def spectrum(k: int, weights=None) -> Credits:
    """Threshold spectrum S_w with the given weights, by default those of mG-Pass@k.

    Raises:
        ValueError: unless there are k weights in [0, 1] whose sum is at most 1.
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


# --- Geometric combinations -------------------------------------------------------------


def geom(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Geom@k: pass@k to one power times pass^k to another, for each question."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=False)


def geom_ds(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Geom@k of the dataset: the same product, of the averages over questions."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=True)


def geo_spectrum(k: int, lam: float = 0.5, weights=None) -> Score:
    """GeoSpectrum@k: pass@k^lam x S_w^(1 - lam), both averaged over questions first."""
    lam = check_lam(lam)
    return _product((any_correct(k), spectrum(k, weights)), (lam, 1 - lam), pooled=True)


def check_lam(lam) -> float:
    """Return the power of pass@k in GeoSpectrum@k as a float in [0, 1]."""
    return check_number("lam", lam, "it is a number from 0 to 1", 0, 1)


def check_powers(pass_power, unanimous_power) -> tuple[float, float]:
    """Return the powers of pass@k and pass^k, at least one of which is not 0."""
    wanted = "a power is a finite number, and at least one of the two is not 0"
    most = sys.float_info.max
    powers = (
        check_number("pass_power", pass_power, wanted, -most, most),
        check_number("unanimous_power", unanimous_power, wanted, -most, most),
    )
    if powers == (0, 0):
        raise ValueError(f"pass_power and unanimous_power are both 0: {wanted}.")
    if sum(powers) >= 0:
        return powers
    raise ValueError(
        f"pass_power is {powers[0]:g} and unanimous_power is {powers[1]:g}: with a negative sum "
        f"the score exceeds 1. Give powers whose sum is at least 0."
    )


def _product(credits: tuple[Credits, ...], powers: tuple[float, ...], pooled: bool) -> Score:
    """The product of powers of expected credits, without the factors whose power is 0."""
    kept = [(credit, power) for credit, power in zip(credits, powers, strict=True) if power]
    return Score(tuple(credit for credit, _ in kept), tuple(power for _, power in kept), pooled)


# --- Scores by name ---------------------------------------------------------------------


class ScoreOptions(NamedTuple):
    """What the scores need besides k. The values have been checked.

    Attributes:
        thresholds: of G-Pass@k.
        lam: the power of pass@k in GeoSpectrum@k.
        weights: of the threshold spectrum, or None for those of mG-Pass@k.
        powers: of pass@k and pass^k in Geom@k.
    """

    thresholds: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
    lam: float = 0.5
    weights: Sequence[float] | None = None
    powers: tuple[float, float] = (0.5, 0.5)


PASS_FAMILY: dict[str, Callable[[int, float, ScoreOptions], Score]] = {
    "G-Pass@k": lambda k, tau, o: Score((threshold(k, tau),)),
    "mG-Pass@k": lambda k, tau, o: Score((above_half(k),)),
    "pass@k": lambda k, tau, o: Score((any_correct(k),)),
    "pass^k": lambda k, tau, o: Score((all_correct(k),)),
    "maj@k": lambda k, tau, o: Score((majority(k),)),
    "AUC@k": lambda k, tau, o: Score((area_under_pass(k),)),
    "Geom@k": lambda k, tau, o: geom(k, *o.powers),
    "Geom_ds@k": lambda k, tau, o: geom_ds(k, *o.powers),
    "GeoSpectrum@k": lambda k, tau, o: geo_spectrum(k, o.lam, o.weights),
    "Spectrum@k": lambda k, tau, o: Score((spectrum(k, o.weights),)),
}
"""For each name the score at one k, with a threshold tau that only G-Pass@k has.

Whatever takes the name of a score of correct samples reads this dict.
"""


def scores_of_one_mean() -> list[str]:
    """Return the names of the scores that are one expected credit, and no product of two."""
    scores = {name: make(2, 0.5, ScoreOptions()) for name, make in PASS_FAMILY.items()}
    return [name for name, score in scores.items() if len(score.terms) == 1]


def scores_by_name(
    names: Iterable[str], ks: Sequence[int], options: ScoreOptions
) -> dict[ScoreId, Score]:
    """The scores with these names at these values of k, see `requested_scores`."""
    return requested_scores([ScoreId(name) for name in names], ks, options)


def requested_scores(
    requested: Iterable[ScoreId], ks: Sequence[int], options: ScoreOptions
) -> dict[ScoreId, Score]:
    """The requested scores: at each k, and at each threshold, unless they have their own.

    Raises:
        ValueError: if the scores of very many k would take more than some minutes. That of a k
            takes time in proportion to k.
    """
    ids = [
        (name, k, tau)
        for name, own_k, own_tau in requested
        for k in (ks if own_k is None else [int(own_k)])
        for tau in (options.thresholds if name == "G-Pass@k" and own_tau is None else [own_tau])
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
    """Return the scores that a parameter names, and their k.

    Args:
        include: names, such as "pass@k", and keys, such as "pass@4", which are scores at one k.
        k: the sizes of subsets. None: those of the keys, or the default if there are no keys.
        known: the names.
        metrics: for some of the names the metric of the `ScoreId`, if it differs.
        parameter: what the caller calls them, for messages.

    Raises:
        ValueError: if an entry is neither, or if k is given and lacks that of a key.
    """
    ks, ks_of_keys, included = check_ks(k), [], []
    for entry in as_list(parameter, include):
        is_name = isinstance(entry, str) and entry in known
        score = None if is_name else _score_of_key(entry, known)
        score = score or ScoreId(check_name(parameter, entry, known))
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
    """Return the score at one k that a key such as "G-Pass@4_0.5" names; None if it is no key."""
    score = read_score(entry) if isinstance(entry, str) else ScoreId("")
    if score.metric not in known or not isinstance(score.k, int) or score.metric.endswith("N"):
        return None
    if score.tau is None:
        return score
    check_tau(score.tau)
    return score if score.metric in ("G-Pass@k", "TailPass@k") else None


def is_included(metric: str, k: int | str | None, included: Iterable[ScoreId]) -> bool:
    """Whether scores include a metric at this k: by its key, or by its name, which is all k."""
    return any(score.metric == metric and score.k in (None, k) for score in included)


# --- shared/at_k/core/batches.py ------------------------------------------------------------------

"""Batches of questions: what `add_batch` keeps until `compute`, and what processes exchange.

A batch is the least that the scores depend on: outcomes, which may be counted, or in Arrow the
samples that a checker or labels have yet to grade.

Small batches are merged, so that many of them take no more memory than a few large ones. A question
is copied a logarithmic number of times, as batches are merged with those of a similar size.
"""


_SMALL_BATCHES = 64  # merging fewer at once would take longer than reading them


def with_batch(batches: list[Samples], batch: Samples, counts_suffice: bool) -> list[Samples]:
    """Return the batches and one more, small ones merged. All have to be alike, see `check_alike`.

    Args:
        batches: questions that were added before.
        batch: questions.
        counts_suffice: whether scores do not depend on the order of the samples of a question, not
            even in the last digit.
    """
    check_alike(batch, batches)
    batches = [*batches, _kept(batch, counts_suffice)]
    if len(batches) <= _SMALL_BATCHES:
        return batches
    start, size = len(batches) - 1, len(batches[-1])
    while start > 0 and len(batches[start - 1]) <= 2 * size:
        start -= 1
        size += len(batches[start])
    return [*batches[:start], _kept(unite(batches[start:]), counts_suffice)]


def _kept(batch: Samples, counts_suffice: bool) -> Samples:
    """Return a batch in memory of its own: counted, if that is allowed and shorter, or a copy.

    The caller may change an array after it was added, or it may be a small part of a large table.
    """
    if not batch.are_numbers:
        sink = pa.BufferOutputStream()
        write_batch(batch, sink)
        return read_batch(sink.getvalue())
    counted = _counted(batch) if counts_suffice else batch
    return replace(batch, values=batch.values.copy()) if counted is batch else counted


def _counted(outcomes: Samples) -> Samples:
    """Return categories with how often each occurs, or outcomes as they are if that is shorter."""
    values = outcomes.values
    if values.dtype.kind == "f" or outcomes.multiplicity is not None or values.min() < 0:
        return outcomes
    categories = int(values.max()) + 1
    if 8 * categories * len(outcomes.sizes) > values.nbytes:
        return outcomes
    table = outcomes.category_counts(categories)
    occurs, category = table > 0, np.arange(categories, dtype=values.dtype)
    return Samples(
        np.broadcast_to(category, table.shape)[occurs],
        np.count_nonzero(occurs, axis=1),
        outcomes.name,
        multiplicity=table[occurs],
    )


# --- All batches as one -------------------------------------------------------------------


def check_alike(batch: Samples, earlier: Sequence[Samples]) -> None:
    """Raise a ValueError unless a batch can be scored together with earlier ones."""
    if not earlier:
        return
    if (batch.references is None) != (earlier[-1].references is None):
        raise ValueError("Some questions have references and some have none: give all or none.")
    kind = _kind(batch)
    earlier_kind = next((known for known in map(_kind, reversed(earlier)) if known), None)
    if kind and earlier_kind and kind != earlier_kind:
        raise ValueError(
            f"Some questions have {earlier_kind} as predictions, and some have {kind}: samples are "
            f"all of one type."
        )


def _kind(batch: Samples) -> str | None:
    """Return "numbers", or what `sample_kind` calls other samples; None if all are None."""
    return "numbers" if batch.are_numbers else sample_kind(batch.values)


def unite(batches: Sequence[Samples]) -> Samples:
    """Return all questions as one batch. The batches have to be alike, see `check_alike`."""
    first = batches[0]
    if len(batches) == 1:
        return first
    scored = multiplicity = references = None
    if first.are_numbers:
        values = np.concatenate([batch.values for batch in batches])
        if any(batch.scored is not None for batch in batches):
            scored = np.concatenate([batch.is_scored for batch in batches])
    else:
        values = _joined([batch.values for batch in batches], "predictions")
        if first.references is not None:
            references = _joined([batch.references for batch in batches], "references")
    if any(batch.multiplicity is not None for batch in batches):
        multiplicity = np.concatenate([batch.occurrences for batch in batches])
    sizes = np.concatenate([batch.sizes for batch in batches])
    return Samples(values, sizes, first.name, scored, multiplicity, references)


def _joined(columns: list[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """Return columns as one: numbers as doubles if that keeps them, and other types as JSON.

    `name` is "predictions" or "references", for messages; only predictions become doubles.
    """
    types = {column.type for column in columns if not pa.types.is_null(column.type)}
    if len(types) > 1:
        doubles = _as_doubles_or_none(columns) if name == "predictions" else None
        columns = doubles or [_as_json(column, name) for column in columns]
        types = {pa.float64() if doubles else JSON}
    (common,) = types or {pa.null()}
    columns = [column if column.type == common else column.cast(common) for column in columns]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], common)


def _as_doubles_or_none(columns: list[pa.ChunkedArray]) -> list[pa.ChunkedArray] | None:
    """Return numbers as doubles; None if that would change one, as True is not 1."""
    for column in columns:
        is_bool = pa.types.is_boolean(column.type)
        if is_bool or not (is_number(column.type) or pa.types.is_null(column.type)):
            return None
    try:
        return [column.cast(pa.float64()) for column in columns]
    except pa.ArrowInvalid:  # an integer that no double holds
        return None


def _as_json(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column as one of the type `JSON`, or as it is if it has None alone."""
    if column.type == JSON or pa.types.is_null(column.type):
        return column
    return pa.chunked_array([to_json(to_python(column), name)])


# --- Files --------------------------------------------------------------------------------


def write_batch(batch: Samples, file: BinaryIO) -> None:
    """Write a batch as an Arrow stream, with a row for each question."""
    if batch.are_numbers:
        values = from_numpy(batch.values, None if batch.scored is None else ~batch.scored)
    else:
        values = one_chunk(batch.values)
    offsets = from_numpy(np.concatenate([[0], np.cumsum(batch.sizes)]))
    columns = {"values": pa.LargeListArray.from_arrays(offsets, values)}
    if batch.multiplicity is not None:
        multiplicity = from_numpy(batch.multiplicity)
        columns["multiplicity"] = pa.LargeListArray.from_arrays(offsets, multiplicity)
    if batch.references is not None:
        columns["references"] = batch.references
    table = pa.table(columns)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def read_batch(data: Any) -> Samples:
    """Read a batch that `write_batch` has written, from a buffer of Arrow or bytes, uncopied."""
    table = pa.ipc.open_stream(data).read_all()
    sizes = to_numpy(pc.list_value_length(table["values"])).astype(np.int64)
    values, multiplicity = pc.list_flatten(table["values"]), None
    if "multiplicity" in table.column_names:
        multiplicity = to_numpy(pc.list_flatten(table["multiplicity"]))
    if "references" in table.column_names or not is_number(values.type):
        references = table["references"] if "references" in table.column_names else None
        return Samples(values, sizes, multiplicity=multiplicity, references=references)
    numbers, scored = numbers_and_scored(values)
    return Samples(numbers, sizes, "predictions", scored, multiplicity)


# --- shared/at_k/core/match.py --------------------------------------------------------------------

"""exact_match, and what other checkers that compare answers with references share.

Texts and numbers are compared in Arrow, without a Python object for each.
"""


# `pa.array` and `pa.scalar` import pandas, if it is installed, which takes 0.2 s.
_FALSE = from_numpy(np.zeros(1, dtype=bool))[0]
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SAMPLES_AT_ONCE = 1 << 14  # that are compared, to bound memory


def match_exactly(rows: Samples) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Raises:
        ValueError: if samples or references cannot be compared, with its index.
    """
    values, references = rows.values, rows.references
    kind = sample_kind(values)
    if kind is None:
        return np.zeros(len(values), dtype=bool)
    if kind == "numbers":
        expected = "exact_match compares numbers, as the predictions are, with a number"
        answers, counts = acceptable_answers(references, _number_form, expected)
        values, accepted = _forms_of_numbers(rows), pa.array(answers, TEXTS)
    elif kind != "texts":
        raise no_texts_or_numbers("exact_match")
    elif references.type == TEXTS and not references.null_count and values.type == TEXTS:
        accepted, counts = one_chunk(references), np.ones(len(references), dtype=np.int64)
    else:
        expected = (
            "exact_match compares texts with a text (for numbers there is numeric, for programs "
            "with tests python_tests)"
        )
        answers, counts = acceptable_answers(references, _as_text, expected)
        if values.type == JSON or not all(map(_is_unicode, answers)):
            _, values = read_distinct(values, json.dumps)
            answers = [*map(json.dumps, answers)]
        accepted = pa.array(answers, TEXTS)
    return equals_any(values, accepted.cast(values.type), counts, rows.sizes)


def no_texts_or_numbers(checker: str) -> ValueError:
    """Return the error for predictions that are neither texts nor numbers."""
    what = f"{checker} compares texts or numbers, and some predictions are neither"
    return InputError(what, InPython(": give a function as check_correct_fn"), ".")


def equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Each of M questions has a number of samples (`sizes`) and of accepted answers (`counts`). Both
    `values`, (S,) samples, and `accepted` are in the order of the questions.
    """
    first = np.cumsum(counts) - counts
    starts = np.cumsum(sizes) - sizes
    correct = np.zeros(len(values), dtype=bool)
    step = max(1, _SAMPLES_AT_ONCE * len(sizes) // len(values))
    for start in range(0, len(sizes), step):
        block = slice(start, start + step)
        samples = slice(starts[start], starts[block][-1] + sizes[block][-1])
        for choice in range(counts[block].max()):
            # Questions with fewer answers compare their last one again.
            index = first[block] + np.minimum(choice, counts[block] - 1)
            answers = accepted.take(from_numpy(np.repeat(index, sizes[block])))
            correct[samples] |= to_numpy(pc.equal(values[samples], answers).fill_null(_FALSE))
    return correct


def acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Return the acceptable answers, question after question, and (M,) their numbers.

    Args:
        references: (M,) an answer, or a list of acceptable answers, for each question.
        read: returns an answer in the form to compare, or None if it is not valid.
        expected: what a valid answer is, for the message.
    """
    rows = []
    for question, reference in enumerate(to_python(references)):
        row = [*map(read, reference if isinstance(reference, list) else [reference])]
        if not row or None in row:
            raise InputError(
                Place("references", question),
                f" is {short(reference)}, but {expected}. Give that, or a list of acceptable ones",
                InPython(", or a function as check_correct_fn"),
                ".",
            )
        rows.append(row)
    return list(itertools.chain.from_iterable(rows)), np.array([len(row) for row in rows])


def _as_text(answer) -> str | None:
    """Return a text as it is, and an integer as it is written."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold a text. It cannot hold half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _number_form(answer) -> str | None:
    """Return the normal form of a number, or None for another value."""
    return exact_form(answer) if isinstance(answer, (int, float)) else None


def _forms_of_numbers(rows: Samples) -> pa.ChunkedArray:
    """Return (S,) the normal form of each number."""
    forms, values = read_distinct(rows.values, exact_form)
    if "nan" in forms:
        index = pc.index(values, "nan").as_py()
        place = sample_place("predictions", rows.sizes, index)
        raise InputError(place, " is nan, which equals nothing: give None if it is unscored.")
    return values


def exact_form(number: int | float) -> str:
    """Return a text that all numbers equal to this one share. True is 1."""
    if isinstance(number, int):
        return decimal_form(Decimal(int(number)))
    return decimal_form(Decimal(repr(number))) if math.isfinite(number) else str(number)


def decimal_form(number: Decimal) -> str:
    """Return the normal form of a number with all of its digits: equal numbers have one form."""
    return f"{number.normalize(_ALL_DIGITS) if number else Decimal(0)}"


def read_distinct(
    values: pa.ChunkedArray, form: Callable[[Any], str | None]
) -> tuple[list[str | None], pa.ChunkedArray]:
    """Return the forms of the distinct samples, and a column with the form of each sample."""
    distinct, code = distinct_entries(values)
    forms = [form(entry) for entry in to_python(distinct)]
    samples = pa.array(forms, TEXTS).take(from_numpy(code, code < 0))
    return forms, pa.chunked_array([samples])


# --- shared/at_k/core/coherent.py -----------------------------------------------------------------

"""Limits that agree with the orders that hold by definition.

Let P(k, r) be the probability that at least r of k samples are correct: pass@k is P(k, 1), pass^k
is P(k, k), and G-Pass@k is P(k, r) with r = ceil(tau k). For every success rate,

    P(j, 1) <= P(k, 1) and P(k, k) <= P(j, j) for j <= k,    P(k, s) <= P(k, r) for r <= s.

A score that is never below another one has at least its lower limit, and one that is never above
another one at most its upper limit. The limits that take part are the same for each request, so
one k alone has the limits that it has among others:

- pass@j and pass^j at all j of `spread_of_k(n)`, for the smallest n of a question. A k between two
  of them has its own limits, which are moved between theirs.
- for G-Pass@k and maj@k those of pass@k and pass^k, and P(k, s) at the s of `spread_of_r`.

Scores of k > n, which are estimated by way of a prior, follow those of k <= n: where an order is
contradicted, their limits move.
"""


_EVERY_K, _EVERY_R = 64, 16  # up to these, all k and all r take part
_LARGEST_N = 10_000  # of a question: with more, limits are narrow and take long


class Event(NamedTuple):
    """The event that at least r of k samples are correct, which is the key of a neighbor."""

    k: int
    r: int


def event_of(score: Score) -> Event | None:
    """Return the event whose probability a score is, or None."""
    credits = score.terms[0]
    if score.powers != (1.0,) or [credit for credit in credits if credit] != [1.0]:
        return None
    return Event(len(credits), credits.index(1.0) + 1)


def _events_by_key(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Event]:
    """Return the events whose probabilities some of the scores are."""
    return {key: event for key, score in scores.items() if (event := event_of(score))}


def spread_of_k(most: int) -> list[int]:
    """Return k from 1 to `most`: each up to 64, then powers of the square root of 2, and `most`."""
    large = (round(2 ** (power / 2)) for power in range(2 * most.bit_length()))
    return sorted({*range(1, min(most, _EVERY_K) + 1), *(k for k in large if k <= most), most})


def spread_of_r(k: int) -> list[int]:
    """Return r between 1 and k, without these: all up to k = 16, then 15 at equal distances."""
    steps = min(k, _EVERY_R)
    return sorted({-(-step * k // steps) for step in range(1, steps)} - {1, k})


def with_neighbors(scores: Mapping[ScoreKey, Score], least: int) -> dict[ScoreKey, Score]:
    """Return the scores of k <= n, and those that limits of the pass family depend on.

    Args:
        scores: of any k.
        least: smallest number of samples of a question.
    """
    result = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    events = _events_by_key(scores).values()
    if least > _LARGEST_N or not events:
        return result
    neighbors = [Event(j, r) for j in spread_of_k(least) for r in (1, j)]
    for k in {event.k for event in events if 1 < event.r < event.k <= least}:
        neighbors += [Event(k, r) for r in (1, k, *spread_of_r(k))]
    return result | {event: Score((at_least(*event),)) for event in neighbors}


# --- The order ----------------------------------------------------------------------------


Limits = tuple[float, float]


class _Ladder:
    """Limits of scores that do not fall from one rung of a ladder to the next, put in this order.

    Args:
        limits: lower and upper limits of the score at each rung.
    """

    def __init__(self, limits: Mapping[int, Limits]):
        self._rungs = sorted(limits)
        lo, hi = np.array([limits[rung] for rung in self._rungs]).reshape(-1, 2).T
        self._lo = np.maximum.accumulate(lo)
        self._hi = np.minimum.accumulate(hi[::-1])[::-1]

    def moved(self, rung: int, lo: float, hi: float) -> Limits:
        """Return limits of the score at a rung, moved between those of its neighbors."""
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


def _ladder_over_r(k: int, limits: Mapping[Event, Limits], ladder_over_k: _Ladder) -> _Ladder:
    """Return the ladder of P(k, r) at one k: each r has the rung -r, as P(k, r) falls with r.

    Args:
        k: number of samples.
        limits: of events at any k.
        ladder_over_k: of pass@k and pass^k, between whose limits the others lie.
    """
    by_rung = {-event.r: x for event, x in limits.items() if event.k == k}
    for rung in by_rung.keys() & {-1, -k}:
        by_rung[rung] = ladder_over_k.moved(_rung(Event(k, -rung)), *by_rung[rung])
    if by_rung:  # The ends agree with other k, and the other limits lie between them.
        ends = by_rung[min(by_rung)], by_rung[max(by_rung)]
        by_rung = {rung: tuple(np.clip(x, *ends)) for rung, x in by_rung.items()}
    return _Ladder(by_rung)


class CoherentIntervals(DerivedIntervals):
    """The intervals of a method, with limits in the order of the scores.

    Args:
        method: of the intervals of the scores and of their neighbors.
        scores: by their keys, without the neighbors.
    """

    def __init__(self, method: IntervalMethod, scores: Mapping[ScoreKey, Score]):
        super().__init__(method)
        self._keys = [*scores]
        self._events = _events_by_key(scores)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        """The interval of each score, for each group of question indices."""
        return [self._ordered(x) for x in self._method.for_groups(groups, confidence)]

    def _ordered(self, intervals: dict[ScoreKey, Interval]) -> dict[ScoreKey, Interval]:
        """Return the intervals of the requested scores, with limits that contradict no order.

        Args:
            intervals: of these scores, and of their neighbors by their events.
        """
        result = {key: intervals[key] for key in self._keys if key in intervals}
        limits = {
            event: (interval.lo, interval.hi)
            for event, interval in intervals.items()
            if isinstance(event, Event) and not interval.is_unknown
        }
        if not limits:
            return result
        over_k = _Ladder(
            {_rung(event): x for event, x in limits.items() if event.r in (1, event.k)}
        )
        over_r: dict[int, _Ladder] = {}
        for key, event in self._events.items():
            if key in result and not result[key].is_unknown:
                interval, ladder, rung = result[key], over_k, _rung(event)
                if 1 < event.r < event.k:
                    if event.k not in over_r:
                        over_r[event.k] = _ladder_over_r(event.k, limits, over_k)
                    ladder, rung = over_r[event.k], -event.r
                lo, hi = ladder.moved(rung, interval.lo, interval.hi)
                lo, hi = min(lo, interval.mu), max(hi, interval.mu)
                result[key] = interval._replace(lo=lo, hi=hi)
        return result


# --- shared/at_k/core/expected.py -----------------------------------------------------------------

"""Scores of the pass@k family: expected credits of k of the n samples of a question.

Choose k of the n samples, c of which are correct, without replacement. The number of correct ones
among the k is hypergeometric,

    P(j) = C(c, j) C(n - c, k - j) / C(n, k),

and an expected credit under it (see `credits`) is an unbiased estimate.

For n up to 128 a probability is a quotient of two integers, and only the quotient is rounded. For
larger n the probabilities are products of the ratios P(j + 1) / P(j), from the mode outwards. No
number is subtracted from one of similar size, so 13 digits are left for n = 10,000. Of logarithms
of gamma functions 11 would be left.
"""


_MOST_EXACT = 128  # for at most so many samples of a question, probabilities are rounded once
_CELLS_AT_ONCE = 1 << 18  # probabilities, to bound memory


def pass_scores(counts: BinaryCounts, scores: Mapping[ScoreKey, Score]) -> Scores:
    """Unbiased estimates of the scores, whose terms are credits of k samples, k <= n."""
    credits, keys = number_terms(scores)
    return Scores(keys, counts.inverse, expected_credits(*counts.unique, credits))


def expected_credits(n: np.ndarray, c: np.ndarray, credits: Sequence[Credits]) -> np.ndarray:
    """(U, m) expected values of m vectors of credits for U questions (n, c), both (U,).

    The length of a vector of credits is its k, and the caller ensures k <= n.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)
    for k, columns in columns_by_k(credits).items():
        credits_of_k = tuple(credits[column] for column in columns)
        if 0 < size <= _MOST_EXACT:
            result[:, columns] = _expected_table(size, credits_of_k)[c]
            continue
        # For k = 1 the chances are equal, and the sum of so many would lose a digit.
        by_rank = {any_correct(k), all_correct(k)}
        if k > 1 and 0 < size <= len(c) * k and {*credits_of_k} <= by_rank:
            for column in columns:
                result[:, column] = _sums_over_ranks(size, k, credits[column])[c]
            continue
        table = np.array(credits_of_k)
        for rows in blocks_of_rows(np.arange(len(c)), k):
            result[np.ix_(rows, np.array(columns))] = _expected_of_k(n[rows], c[rows], table)
    return result


def _sums_over_ranks(n: int, k: int, credits: Credits) -> np.ndarray:
    """(n + 1,) pass@k or pass^k, by its credits, for c = 0 .. n.

    pass@k is the sum of `chance_of_rank` over the last c ranks, and pass^k over the first c.
    """
    chances = chance_of_rank(n, k)
    sums = np.append(0.0, np.cumsum(chances[::-1] if credits[0] else chances))
    return sums / sums[-1]


def columns_by_k(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """Return the columns of the credits of each k, without those that are all 0."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def blocks_of_rows(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield the rows in blocks, to bound the memory for k + 1 probabilities of each row."""
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))


@lru_cache(maxsize=1 << 10)
def _expected_table(n: int, credits: tuple[Credits, ...]) -> np.ndarray:
    """(n + 1, m) expected values of credits of one k for c = 0 .. n of n samples."""
    return _expected_of_k(np.full(n + 1, n), np.arange(n + 1), np.array(credits))


def _expected_of_k(n: np.ndarray, c: np.ndarray, credits: np.ndarray) -> np.ndarray:
    """(U, m) expected values of (m, k) credits, for (U,) n and c.

    The probabilities are rounded before they are added, as in the formula of mG-Pass@k, so
    published digits are reproduced to the last.
    """
    values = []
    needed = np.flatnonzero(credits.any(axis=0))
    tails = _tails(n, c, credits.shape[1], needed + 1)
    for credit in credits[:, needed]:
        credited = np.flatnonzero(credit)
        terms = tails[:, credited] * credit[credited]
        is_long = terms.shape[1] > _MOST_EXACT
        sums = terms.sum(axis=1) if is_long else np.array([*map(math.fsum, terms.tolist())])
        values.append(sums)
    return np.stack(values, axis=1)


# --- Probabilities ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def chance_of_rank(n: int, k: int) -> np.ndarray:
    """(n,) C(i - 1, k - 1) / C(n, k): the i-th of n samples in a row is the last of k of them.

    Of c correct samples, the sum of the last c is pass@k, and that of the first c is pass^k.
    """
    earlier = np.arange(n - 1, 0, -1)
    return k / n * np.cumprod([1.0, *np.maximum(earlier + 1 - k, 0) / earlier])[::-1]


def _tails(n: np.ndarray, c: np.ndarray, k: int, r: np.ndarray) -> np.ndarray:
    """(U, R) P(at least r of k samples are correct) for (U,) n and c, and (R,) r from 1 to k."""
    if (n == k).all():
        return (c[:, None] >= r).astype(float)
    tails, is_small = np.empty((len(n), k)), n <= _MOST_EXACT
    for rows, compute in ((is_small, _exact_tails), (~is_small, _tails_by_ratios)):
        if rows.any():
            tails[rows] = compute(n[rows], c[rows], k)
    return tails[:, r - 1]


def _exact_tails(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """(U, k) P(at least r of k samples are correct) for r = 1 .. k, by integers of any size."""
    binomials, r = _binomials(), np.arange(k, 0, -1)
    ways = binomials[c[:, None], r] * binomials[(n - c)[:, None], k - r]
    tails = np.cumsum(ways, axis=1) / binomials[n, k][:, None]
    return tails[:, ::-1].astype(float)


@lru_cache(maxsize=1)
def _binomials() -> np.ndarray:
    """C(m, j) for m and j up to 128, as integers of Python."""
    table = np.zeros((_MOST_EXACT + 1, _MOST_EXACT + 1), dtype=object)
    table[:, 0] = 1
    for m in range(1, _MOST_EXACT + 1):
        table[m, 1:] = table[m - 1, 1:] + table[m - 1, :-1]
    return table


def _tails_by_ratios(n: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """(U, k) P(at least r of k samples are correct) for r = 1 .. k, by the ratios of the pmf."""
    n, c = n[:, None], c[:, None]
    mode = np.clip(np.rint(k * (c / n)), np.maximum(0, k - (n - c)), np.minimum(c, k))
    # Beyond 20 sqrt(k) of the mean, probabilities are below exp(-800), so they are 0 as floats
    # (Hoeffding 1963, Journal of the American Statistical Association 58, 13).
    reach = 20 * math.sqrt(k) + 1
    first, last = max(0, int(mode.min() - reach)), min(k, int(mode.max() + reach))
    j = np.arange(first, last)
    # P(j + 1) / P(j) = gain / loss. One of them is 0 where a probability is.
    gain = (k - j) * np.maximum(c - j, 0.0)
    loss = (j + 1) * np.maximum(n - c - k + j + 1, 0.0)
    is_above = j >= mode
    relative = np.ones((len(n), len(j) + 1))  # to the probability of the mode
    relative[:, 1:] *= np.cumprod(np.where(is_above, gain / np.where(is_above, loss, 1), 1), axis=1)
    falling = np.where(is_above, 1, loss / np.where(is_above, 1, gain))
    relative[:, :-1] *= np.cumprod(falling[:, ::-1], axis=1)[:, ::-1]
    sums = np.cumsum(relative[:, ::-1], axis=1)[:, ::-1]
    tails = np.zeros((len(n), k))
    tails[:, :first] = 1.0
    tails[:, first:last] = sums[:, 1:] / sums[:, :1]
    return tails


# --- shared/at_k/core/checking.py -----------------------------------------------------------------

"""How samples are checked: each distinct pair of a sample and its reference once."""


CHECKERS = ("exact_match", "numeric", "choice", "math_verify", "python_tests")
"""The names of checkers. All but exact_match come from the package."""

CheckResult = bool | int | float | str | None
"""What a checker returns for a sample: correct or incorrect, a category, a share of
correctness from 0 to 1, a label of one of these, or None if the sample is not to be scored."""

Checker = str | Callable[[Any, Any], Any]
"""check_correct_fn(prediction, reference) -> CheckResult, or one of `CHECKERS`.

The function may be async. If it has an attribute `batched` that is True, it is a function of a list
of predictions and a list of references, and returns a list of results. The lists have at most
`batch_size` entries, which is another attribute of the function, by default 64. Named checkers with
options are made by `at_k.checkers`.
"""

PairToCheck = tuple[Any, Any]
"""A prediction and a reference."""

PairResult = tuple[Any, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or what was returned."""

PairBatch = tuple[int, list[PairToCheck]]
"""The index of the first pair, and the pairs."""

BatchResult = tuple[int, list[PairResult]]
"""The index of the first pair of a batch, and the result of each of its pairs."""

NOT_FINISHED: PairResult = (None, None)
"""The result of a pair that took too long, which is not scored. Compare it with `is`."""

_OUTCOMES = "the result for predictions"  # what messages call the outcomes of a checker
_SEARCHED = 1000  # The warning about exact_match looks at so many samples.
_BATCHES = 1 << 12  # enough to keep many workers of an executor busy


@dataclass(frozen=True)
class Checked:
    """The outcomes of samples, and the answers that a checker compared.

    Attributes:
        outcomes: the outcome of each sample.
        read_answers: (S,) the answer that was read out of each sample, or a code of it; None for
            samples without one. For "exact_match" and functions the whole sample is the answer.
            Samples that were handed in as outcomes have no answers.
    """

    outcomes: Samples
    read_answers: pa.ChunkedArray | None = None

    @cached_property
    def answers(self) -> np.ndarray | None:
        """(S,) a code of each sample's answer, or -1 if it has none: equal for equal answers.

        An empty text is no answer, unless it is correct.
        """
        answers = self.read_answers
        if answers is None:
            return None
        if pa.types.is_floating(answers.type):
            answers = pc.add(answers, pa.scalar(0.0, answers.type))  # so that -0.0 equals 0.0
        distinct, codes = distinct_entries(answers)
        if answers.type == JSON:
            equal: dict[Any, int] = {}
            merged = [equal.setdefault(_hashable(x), len(equal)) for x in to_python(distinct)]
            codes = np.array([*merged, -1])[codes]
        if answers.type == TEXTS:
            is_empty = to_numpy(pc.fill_null(pc.equal(answers, ""), False))
            codes = np.where(is_empty & (self.outcomes.values == 0), -1, codes)
        return codes


def _hashable(value: Any) -> Any:
    """Return what is equal for values of JSON that Python calls equal, such as 1, 1.0 and True."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(entry)) for key, entry in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


@dataclass
class Checking:
    """A checker, and how it runs. All is validated when the object is made.

    Attributes:
        checker: see `Checker`.
        num_proc: number of processes to check in; by default that of the checker, if it has one.
        executor: an executor to check in, with the same default.
        timeout: seconds that a check may take, with the same default.
        labels: labels that stand for outcomes, and the number of each.

    Raises:
        ValueError, TypeError: if an attribute is invalid, or does not go with another.
        ImportError: if the checker needs a library that is not installed.
    """

    checker: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    labels: Labels | None = None

    def __post_init__(self) -> None:
        """Take the options that the checker carries, and validate all."""
        self._take_options_of_checker()
        self._check_checker()
        self._check_options()
        if self._package_checker is not None:
            self._package_checker.validate(self)
        elif self.is_async or self.batch_size or self.timeout or (self.num_proc or 1) > 1:
            PACKAGE.rooms.check_workers(self)

    def _take_options_of_checker(self) -> None:
        """Take the options that the checker carries; a ValueError if one is given twice."""
        for name, value in getattr(self.checker, "run_options", {}).items():
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} is given to compute and to the checker: give it to the checker only."
                )
            setattr(self, name, value)

    def _check_checker(self) -> None:
        """Raise an error unless the checker is a known name or can be called."""
        if isinstance(self.checker, str):
            check_name("check_correct_fn", self.checker, CHECKERS)
        elif not callable(self.checker) and self._package_checker is None:
            raise TypeError(
                f"check_correct_fn is {short(self.checker)}, which cannot be called: give a "
                f"function of a prediction and a reference, or one of the names "
                f"{', '.join(CHECKERS)}."
            )

    def _check_options(self) -> None:
        """Raise an error if num_proc, executor or timeout is invalid, or excludes another."""
        executor, timeout = self.executor, self.timeout
        if self.num_proc is not None:
            if executor is not None:
                raise ValueError("num_proc and executor exclude each other: give one of them.")
            check_count("num_proc", self.num_proc, "give a number of processes")
        if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
            raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")
        if timeout is None:
            return
        if isinstance(timeout, bool) or not isinstance(timeout, Real) or not timeout > 0:
            raise ValueError(f"timeout is {short(timeout)}: give a number of seconds.")
        if executor is not None:
            raise ValueError(
                "timeout cannot end the calls of an executor: give num_proc instead of the "
                "executor, or limit the time in check_correct_fn."
            )

    @property
    def matches_exactly(self) -> bool:
        """Whether the checker is "exact_match". Comparing an array with a text gives an array."""
        return isinstance(self.checker, str) and self.checker == "exact_match"

    @cached_property
    def _package_checker(self) -> Any:
        """The checker of the package, which checks all samples in its own way; or None."""
        is_name = isinstance(self.checker, str) and not self.matches_exactly
        if not (is_name or hasattr(self.checker, "check_samples")):
            return None
        return PACKAGE.rooms.checker(self.checker)

    @property
    def is_async(self) -> bool:
        """Whether the checker is an async function, or an object whose call is one."""
        call = getattr(self.checker, "__call__", None)  # noqa: B004
        return inspect.iscoroutinefunction(self.checker) or inspect.iscoroutinefunction(call)

    @cached_property
    def batch_size(self) -> int | None:
        """The number of pairs that the checker takes at once, or None if it takes single ones."""
        if getattr(self.checker, "batched", None) is not True:
            return None
        size = getattr(self.checker, "batch_size", 64)
        return check_count("batch_size of check_correct_fn", size, "give a number of pairs")

    def check(self, rows: Samples, cache: CheckCache | None = None) -> Checked:
        """Check every sample.

        Each distinct pair of a prediction and its question's reference is checked once. A sample is
        not scored if it is None, if the checker returns None, or if its check takes too long.

        Args:
            rows: the samples and references.
            cache: results of earlier checks; a failed run adds its own.

        Raises:
            ValueError: if the checker raises an exception (which is the cause), returns something
                that is not an outcome, or ends its process, with its index `predictions[i][j]`; or
                if a named checker cannot use a reference, with its index.
        """
        if self.matches_exactly:
            outcomes = outcomes_of_match(rows, match_exactly(rows))
            if rows.values.type == TEXTS:
                _warn_of_responses(rows, outcomes)
            return Checked(outcomes, rows.values)
        cache = cache or CheckCache()
        if self._package_checker is not None:
            return self._package_checker.check_samples(rows, self, cache)
        pairs = DistinctPairs.from_samples(rows)
        results = self.results(pairs, cache, PACKAGE.rooms.check_pairs)
        return Checked(pairs.outcomes([outcome for outcome, _ in results]), rows.values)

    def results(
        self, pairs: DistinctPairs, cache: CheckCache, check_pairs: CheckPairs
    ) -> list[PairResult]:
        """Return the result of each distinct pair, and warn of those that took too long.

        Args:
            pairs: to be checked.
            cache: results of earlier checks.
            check_pairs: checks the pairs that `cache` lacks.

        Raises:
            ValueError: for the first pair with a problem, so that no result has one.
        """
        results = cache.results(self, pairs)
        try:
            self._check_missing(pairs, results, check_pairs)
        except BaseException as error:
            if kept := cache.keep(pairs, results):
                error.add_note(
                    f"{kept} finished checks are kept: compute again with the same "
                    f"check_correct_fn to check the others."
                )
            raise
        late = sum(result is NOT_FINISHED for result in results)
        if late and self.timeout is not None:
            warnings.warn(
                f"{late} of {len(results)} distinct samples took longer to check than the timeout "
                f"of {self.timeout:g} s. They are not scored.",
                stacklevel=3,
            )
        return [result for result in results if result is not None]

    def _check_missing(
        self, pairs: DistinctPairs, results: list[PairResult | None], check_pairs: CheckPairs
    ) -> None:
        """Set the (P,) results that are None; raise an error for the first pair with a problem."""
        missing = [pair for pair, result in enumerate(results) if result is None]
        if not missing:
            return
        first = 0  # the first pair without a result
        try:
            with closing(check_pairs(self, [pairs.pairs[pair] for pair in missing])) as batches:
                for start, batch in batches:
                    for pair, result in zip(missing[start:], batch, strict=False):
                        results[pair] = result
                    first = self._raise_first_problem(pairs, results, first)
        except BrokenExecutor as error:
            raise InputError(
                "A worker died. The first missing result is that of ",
                *pairs.call(first),
                ": check_correct_fn may have ended its process, or used more memory than there is. "
                "If no worker could start, protect the start of the program with "
                '`if __name__ == "__main__":`, as workers import the main module.',
            ) from error
        if None in results:
            known_results = len(results) - results.count(None)
            raise ValueError(f"The executor gave {known_results} results for {len(results)} pairs.")

    def _raise_first_problem(
        self, pairs: DistinctPairs, results: list[PairResult | None], first: int
    ) -> int:
        """Raise the error of the first pair with a problem, if all before it have results.

        Returns the first pair without a result. All before `first` have one.
        """
        for pair in range(first, len(results)):
            result = results[pair]
            if result is None:
                return pair
            if result[1] is not None:
                self._raise_problem(pairs.call(pair), result[1])
        return len(results)

    def check_here(self, pairs: list[PairToCheck]) -> Generator[BatchResult, None, None]:
        """Yield the results of batches of pairs, checked in this thread or in the executor."""
        assert callable(self.checker)
        check = partial(check_batch, self.checker, self.labels or {}, False, host())
        if self.executor is None:
            yield from map(check, ((i, [pair]) for i, pair in enumerate(pairs)))
            return
        size = max(1, math.ceil(len(pairs) / _BATCHES))
        batches = [(start, pairs[start : start + size]) for start in range(0, len(pairs), size)]
        yield from self.executor.map(check, batches)

    def _raise_problem(self, call: tuple[str, Place], problem: str | BaseException) -> NoReturn:
        """Raise the error of a call that raised an exception, or returned no outcome."""
        if isinstance(problem, BaseException):
            try:
                text = str(problem)
            except Exception:  # its own class cannot write it
                text = "without a message"
            raise InputError(*call, f" raised {type(problem).__name__}: {text}.") from problem
        valid = "".join(f"{label!r}, " for label in self.labels or ())
        raise InputError(
            *call,
            f" {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored.",
        )


CheckPairs = Callable[[Checking, list[PairToCheck]], Generator[BatchResult, None, None]]
"""Checks pairs in the way of a `Checking`: yields the results of batches as they finish."""


# --- A batch of pairs ---------------------------------------------------------------------


def host() -> str:
    """Return a name of this process, which no process of another machine has."""
    return f"{platform.node()}:{os.getpid()}"


def check_batch(
    checker: Callable[..., Any],
    labels: Mapping[str, float] | None,
    batched: bool,
    home: str,
    batch: PairBatch,
) -> BatchResult:
    """Apply a checker to a batch of pairs, in any thread or process.

    This function imports what it uses, so that it can be sent to a worker with its code.

    Args:
        checker: a function of a prediction and a reference.
        labels: labels that the checker may return, and the number of each; or None if results are
            passed on as they are, because the checker is one of this package.
        batched: whether the checker is a function of a list of predictions and a list of
            references, and returns a list of results.
        home: `host` of the process that asked.
        batch: the pairs.
    """
    import copy
    import os
    import pickle
    import platform
    import traceback

    def own_copy(value: Any) -> Any:
        """Return a copy of what the checker might change, as other samples share the value."""
        return copy.deepcopy(value) if isinstance(value, (dict, list)) else value

    def as_text(write: Callable[[Any], str], value: Any) -> str:
        """Return a text of a value, also if its own class cannot write it."""
        try:
            return write(value)
        except Exception:
            return f"a {type(value).__name__}"

    def call(*arguments: Any) -> tuple[Any, BaseException | None]:
        """Return what the checker returns, or its exception."""
        try:
            return checker(*arguments), None
        except (Exception, SystemExit, GeneratorExit) as error:  # The checker may call sys.exit.
            problem: BaseException = error
            if home != f"{platform.node()}:{os.getpid()}":
                error.add_note(f"In the worker:\n{traceback.format_exc()}")
                try:
                    pickle.loads(pickle.dumps(error))
                except Exception:  # some exceptions cannot be pickled
                    problem = RuntimeError(f"{type(error).__name__}: {as_text(str, error)}")
            return None, problem

    def validated(result: Any) -> PairResult:
        """Return a result as an outcome, or what is wrong with it."""
        if labels is None:
            return result, None
        if getattr(result, "ndim", None) == 0:
            try:
                result = result.item()  # a scalar of NumPy or torch
            except Exception as error:  # one that has no value, for example
                return None, f"returned {type(result).__name__} without a value ({error})"
        if isinstance(result, str):
            result = labels.get(result, result)
        is_category = isinstance(result, int) and 0 <= result < 2**31
        is_share = isinstance(result, float) and 0 <= result <= 1
        if result is None or is_category or is_share:
            return result, None
        return None, f"returned {as_text(repr, result)[:60]}"

    start, pairs = batch
    if not batched:
        called = [call(*map(own_copy, pair)) for pair in pairs]
    else:
        copies = [map(own_copy, pair) for pair in pairs]
        results, problem = call(*map(list, zip(*copies, strict=True)))
        if problem is not None:
            return start, [(None, problem)] * len(pairs)
        if not hasattr(results, "__len__") or len(results) != len(pairs):
            shown = as_text(repr, results)[:60]
            text = f"returned {shown} for a batch of {len(pairs)}, one result for each"
            return start, [(None, text)] * len(pairs)
        called = [(result, None) for result in results]
    return start, [validated(x) if error is None else (None, error) for x, error in called]


# --- Distinct pairs, and results that are kept --------------------------------------------


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    Attributes:
        pairs: (P,) a prediction and a reference each.
        first: (P,) index of the first sample of each pair.
        index: (S,) index of the pair of each sample, P for samples that are None.
        rows: the samples.
    """

    pairs: list[PairToCheck]
    first: np.ndarray
    index: np.ndarray
    rows: Samples

    @classmethod
    def from_samples(cls, rows: Samples) -> DistinctPairs:
        """Return the distinct pairs of samples and the references of their questions."""
        distinct, code = distinct_entries(rows.values)
        question = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
        present = np.flatnonzero(code >= 0)
        keys = question[present] * len(distinct) + code[present]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first = present[first]
        index = np.full(len(code), len(first))
        index[present] = inverse
        samples, references = to_python(distinct), to_python(rows.references)
        pairs = [(samples[code[sample]], references[question[sample]]) for sample in first]
        return cls(pairs, first, index, rows)

    def call(self, pair: int) -> tuple[str, Place]:
        """Return the call of the checker for a pair, as the start of a message."""
        place = sample_place("predictions", self.rows.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on ", place

    def outcomes(self, results: Sequence[float | None]) -> Samples:
        """Return the outcomes of all samples, from the (P,) results of the pairs."""
        has_shares = any(isinstance(result, float) for result in results)
        for pair, result in enumerate(results) if has_shares else ():
            if result is not None and result > 1:
                raise InputError(
                    *self.call(pair),
                    f" returned {result}, a category, and shares of correctness for other samples: "
                    f"return one of the two for all.",
                )
        dtype = np.float64 if has_shares else np.int64
        values = np.array([*(result or 0 for result in results), 0], dtype=dtype)[self.index]
        is_scored = np.array([*(result is not None for result in results), False], dtype=bool)
        scored = is_scored[self.index]
        sizes, multiplicity = self.rows.sizes, self.rows.multiplicity
        return Samples(
            values, sizes, _OUTCOMES, None if scored.all() else scored, multiplicity=multiplicity
        )

    def answers(self, answers: Sequence[str | None]) -> pa.ChunkedArray:
        """Return a code of the answer of each sample, from the (P,) answers of the pairs."""
        codes: dict[str | None, int] = {None: -1}
        pair_codes = [codes.setdefault(answer, len(codes)) for answer in (*answers, None)]
        sample_codes = np.array(pair_codes)[self.index]
        return pa.chunked_array([from_numpy(sample_codes, sample_codes < 0)])


class CheckCache:
    """Results of earlier checks; a failed run adds its own.

    A retry with the same checker checks only the other pairs. The same checker is the same
    function, or the same method of the same object.
    """

    def __init__(self) -> None:
        self._checker: Any = None
        self._results: dict[str, PairResult] = {}

    def __reduce__(self):
        return CheckCache, ()  # not every checker can be pickled

    def results(self, checking: Checking, pairs: DistinctPairs) -> list[PairResult | None]:
        """Return the results of these pairs, None for a pair that is to be checked."""
        checker = (checking.checker, checking.labels)
        if self._checker != checker:
            self._checker, self._results = checker, {}
        if not self._results:
            return [None] * len(pairs.pairs)
        return [self._results.get(repr(pair)) for pair in pairs.pairs]

    def keep(self, pairs: DistinctPairs, results: list[PairResult | None]) -> int:
        """Keep the results of pairs, except problems, and return how many are kept in all."""
        for pair, result in zip(pairs.pairs, results, strict=True):
            if result is not None and result[1] is None:
                self._results[repr(pair)] = result
        return len(self._results)


# --- exact_match --------------------------------------------------------------


def outcomes_of_match(rows: Samples, correct: np.ndarray) -> Samples:
    """Return the outcomes of all samples, from (S,) whether each equals its reference."""
    return Samples(
        correct, rows.sizes, _OUTCOMES, rows.scored_or_none, multiplicity=rows.multiplicity
    )


def _warn_of_responses(rows: Samples, outcomes: Samples) -> None:
    """Warn if texts are compared with answers that they contain, or if none equals its answer."""
    if outcomes.values.any():
        problem = _contained_references(rows, outcomes)
        if problem is None:
            return
    else:
        problem = f"None of the {outcomes.n.sum()} scored samples equals its reference"
    remedy = "'numeric' compares the number that a text gives, 'math_verify' compares mathematical "
    remedy += "expressions, and 'python_tests' runs programs with tests"
    if all(map(_is_choice, to_python(rows.references[:_SEARCHED]))):
        remedy = "'choice' compares the option that a text chooses"
    warnings.warn(
        f"{problem}: exact_match compares whole texts. check_correct_fn={remedy}.",
        stacklevel=3,
    )


def _contained_references(rows: Samples, outcomes: Samples) -> str | None:
    """Return how many texts contain their reference; None if that would hardly raise the score."""
    correct, occurrences = outcomes.values[:_SEARCHED], rows.occurrences[:_SEARCHED]
    texts, references = to_python(rows.values[:_SEARCHED]), to_python(rows.references[:_SEARCHED])
    question = np.repeat(np.arange(len(references)), rows.sizes[:_SEARCHED])
    containing = [
        sample
        for sample in np.flatnonzero(~correct)
        if _contains(texts[sample], references[question[sample]])
    ]
    contain, equal = occurrences[containing].sum(), occurrences[correct].sum()
    if 10 * contain <= equal:  # as correct samples, they would raise the score by up to a tenth
        return None
    return (
        f"{contain} of the first {occurrences.sum()} samples contain their reference but do not "
        f"equal it"
    )


def _is_choice(reference: Any) -> bool:
    """Whether a reference is a single letter, yes or no, or a list of those."""
    references = reference if isinstance(reference, list) else [reference]
    return all(
        isinstance(answer, str) and re.fullmatch(r"\(?[A-Z]\)?|yes|no|Yes|No", answer.strip())
        for answer in references
    )


def _contains(text: str | None, reference: Any) -> bool:
    """Whether a text has an answer, or one of several, between other words."""
    answers = reference if isinstance(reference, list) else [reference]
    return any(
        isinstance(answer, str)
        and answer
        and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text or "")
        for answer in answers
    )


# --- shared/at_k/core/rewards.py ------------------------------------------------------------------

"""Max@k, the expected maximum reward of k samples, and Bayes@N, which is the case k = 1.

Let r_1 < r_2 < .. < r_L be the rewards. The maximum of k samples is above r_l if any of them is:
with P_l the probability of that, and P_0 = 1,

    E[max] = sum over l of r_l (P_(l-1) - P_l).

Choose k of the n observed samples, m of which are above r_l. Then P_l is pass@k of m correct
samples, which gives the unbiased estimate (Bagirov et al. 2025, arXiv:2510.23393).

Bayes@N is the posterior mean of the reward of a new sample (Hariri et al. 2026, arXiv:2510.04265).
With a uniform Dirichlet prior (one pseudo-outcome of each category) and all observed and prior
outcomes, let a_l of t be at most r_l. The share A_l of rewards that are at most r_l has

    E[A_l] = a_l / t = Q_l,    Cov[A_l, A_m] = Q_l (t - a_m) / (t (t + 1))    for l <= m,

because A_l is A_m times an independent share. The mean reward is r_L less the sum of
(r_(l+1) - r_l) A_l, so its variance is a sum of positive terms.
"""


_VALID_REWARD = "a reward is a number from -1e150 to 1e150, whose square is a double"


@dataclass(frozen=True)
class Rewards:
    """The rewards of the samples of each question, as cumulative counts.

    Questions with equal counts share one of U rows, as in `BinaryCounts`.

    Args:
        inverse: (M,) the row of each question.
        levels: (L,) rewards, ascending.
        at_most: (U, L) number of samples with at most each reward; the last is n.
        categories: (L,) number of categories with at most each reward, or None for real
            rewards, which have no categories.
        prior: (U, L) number of prior outcomes with at most each reward.
    """

    inverse: np.ndarray
    levels: np.ndarray
    at_most: np.ndarray
    categories: np.ndarray | None = None
    prior: np.ndarray | int = 0

    @property
    def multiplicity(self) -> np.ndarray:
        """(U,) number of questions in each row."""
        return np.bincount(self.inverse)

    @property
    def sizes(self) -> np.ndarray:
        """(U,) number of samples in each row."""
        return self.at_most[:, -1]

    @property
    def n(self) -> np.ndarray:
        """(M,) number of samples of each question."""
        return self.sizes[self.inverse]

    @property
    def ranges(self) -> np.ndarray:
        """(U, 2) the smallest and the largest reward that the samples of each row can have."""
        return np.broadcast_to(self.levels[[0, -1]], (len(self.sizes), 2))

    def max_of(self, k: int) -> np.ndarray:
        """(U,) the expected maximum of k of the samples, unbiased, for k <= n.

        It has an error of about 1e-16 of the largest reward.
        """
        if k == 1:
            return self._mean(self.at_most)
        n = np.repeat(self.sizes, len(self.levels))
        counts = BinaryCounts(n, n - self.at_most.ravel())
        above = expected_credits(*counts.unique, [any_correct(k)])[counts.inverse]
        above = above.reshape(self.at_most.shape)
        share = np.hstack([np.ones((len(above), 1)), above[:, :-1]]) - above
        return (self.levels * share).sum(axis=1)

    def posterior(self, prior_outcomes: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(U,) posterior mean and variance of the reward of a new sample.

        Args:
            prior_outcomes: whether the prior outcomes count beside the uniform prior.
        """
        a = self.posterior_counts(prior_outcomes)
        t = a[:, -1:]
        return self._mean(a), self.variance_of_max(a / t, (t - a) / (t * (t + 1.0)))

    def variance_of_max(self, q: np.ndarray, increase: np.ndarray) -> np.ndarray:
        """(U,) the variance of the maximum of new samples, a sum of positive terms.

        Let P_l be the probability that the maximum is at most level l, for the unknown rates.

        Args:
            q: (U, L) the means of P_l.
            increase: (U, L) i, so that the covariance of P_l and P_m is q_l i_m for l <= m.
        """
        gaps = np.diff(self.levels, append=self.levels[-1:])
        terms = gaps * q
        preceding = np.cumsum(terms, axis=1) - terms
        return (gaps * increase * (terms + 2 * preceding)).sum(axis=1)

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) the average of the samples, and its variance.

        The average is an affine function of the posterior mean without prior outcomes, of t
        outcomes in all. Its standard deviation is t/n times the posterior's (eq. 20 of the
        Bayes@N paper).
        """
        t, n = self.posterior_counts(False)[:, -1], self.at_most[:, -1]
        return self.max_of(1), (t / n) ** 2 * self.posterior(prior_outcomes=False)[1]

    def posterior_counts(self, prior_outcomes: bool = True) -> np.ndarray:
        """(U, L) cumulative counts of outcomes of the posterior: with the uniform prior.

        Raises:
            ValueError: if the rewards are real.
        """
        if self.categories is None:
            raise ValueError(
                "The posterior needs categories, and these outcomes are real rewards: pass "
                "interval='sampling', or give categories and w."
            )
        return self.at_most + self.categories + (self.prior if prior_outcomes else 0)

    def _mean(self, at_most: np.ndarray) -> np.ndarray:
        """(U,) the mean reward of (U, L) cumulative counts."""
        samples = np.diff(at_most, axis=1, prepend=0)
        return (self.levels * samples).sum(axis=1) / at_most[:, -1]


@dataclass(frozen=True)
class RankedRewards(Rewards):
    """Real rewards: those of each question are levels of its own.

    Args:
        inverse: (M,) the index of each question.
        levels: (S,) rewards of all samples, question after question, ascending in each.
        at_most: (S,) rank of each among the samples of its question, from 1 to n.
    """

    @property
    def sizes(self) -> np.ndarray:
        """(M,) number of samples of each question."""
        return self.at_most[self._last]

    @property
    def ranges(self) -> np.ndarray:
        """(M, 2) the smallest and the largest reward of each question."""
        last = self._last
        first = last + 1 - self.sizes
        return np.stack([self.levels[first], self.levels[last]], axis=1)

    @property
    def _last(self) -> np.ndarray:
        """(M,) index of the largest reward of each question."""
        starts = np.flatnonzero(self.at_most == 1)
        return np.append(starts[1:], len(self.at_most)) - 1

    def max_of(self, k: int) -> np.ndarray:
        """Return (M,) max@k of each question."""
        sizes = self.sizes
        start, result = self._last + 1 - sizes, np.empty(len(sizes))
        order = np.argsort(sizes, kind="stable")
        # The chances are those of ranks: the same for all questions with n samples.
        for questions in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
            n = int(sizes[questions[0]])
            levels = self.levels[start[questions, None] + np.arange(n)]
            if k == 1:
                result[questions] = levels.mean(axis=1)
            else:
                result[questions] = (levels * chance_of_rank(n, k)).sum(axis=1)
            # Rounding may move the maximum of equal rewards.
            least, most = levels.min(axis=1), levels.max(axis=1)
            result[questions] = np.clip(result[questions], least, most)
        return result


# --- From outcomes ------------------------------------------------------------------------


def category_rewards(outcomes: Samples, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """The rewards of outcomes that are categories 0, 1, .., C.

    Args:
        w: (C + 1,) the reward of each category.
        prior: (M, C + 1) number of prior outcomes of each category.

    Raises:
        ValueError: if an outcome is not one of the categories.
    """
    if (largest := int(outcomes.values.max())) >= len(w):
        shown = f", such as w={[*range(largest + 1)]}" if largest <= 20 else ""
        outcomes.require(
            outcomes.values < len(w),
            f"w has rewards for the categories 0 to {len(w) - 1}: give one for each from 0 to the "
            f"largest{shown}, or write rewards as floats, such as 3.0",
        )
    if outcomes.values.dtype.kind == "b" and len(w) > 2:
        raise ValueError(
            f"The outcomes are correct or incorrect, but w has rewards for {len(w)} categories: "
            f"pass a check_correct_fn that returns a category."
        )
    counts = np.stack([outcomes.category_counts(len(w)), prior], axis=1)
    row, inverse = _unique_rows(counts.reshape(len(counts), -1))
    order = np.argsort(w, kind="stable")
    last = np.flatnonzero(np.diff(w[order], append=np.inf))  # the last category of each reward
    at_most = np.cumsum(counts[row][..., order], axis=-1)[..., last]
    return Rewards(inverse, w[order][last], at_most[:, 0], last + 1, at_most[:, 1])


def _unique_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (U,) the index of one of each set of equal rows, and (M,) the set of each row.

    The table has M rows of counts.
    """
    code, size = table[:, 0], int(table[:, 0].max()) + 1
    for column in table.T[1:]:
        base = int(column.max()) + 1
        if base == 1:
            continue
        if size * base > 2**62:  # the counts of a row do not fit into an integer of 62 bits
            return np.unique(table, axis=0, return_index=True, return_inverse=True)[1:]
        code, size = code + size * column, size * base
    unique = UniqueIntegers(code, size)
    row = np.empty(len(unique.values), dtype=np.int64)
    row[unique.inverse] = np.arange(len(code))
    return row, unique.inverse


def has_real_rewards(outcomes: Samples) -> bool:
    """Whether a scored outcome is a float other than 0 and 1, which no default category has."""
    if outcomes.values.dtype.kind != "f":
        return False
    values = outcomes.scored_values
    return bool(((values != 0) & (values != 1)).any())


def are_real_rewards(outcomes: Samples, w, R0=None, categories=None) -> bool:
    """Whether outcomes are real rewards, and not categories with the rewards w.

    Raises:
        ValueError: if they are, and a parameter for categories is given.
    """
    if w is not None or not has_real_rewards(outcomes):
        return False
    if R0 is not None or categories is not None:
        name = "R0" if categories is None else "categories"
        raise ValueError(f"{name} is given, but the outcomes are real rewards: leave it out.")
    return True


def real_rewards(outcomes: Samples) -> Rewards:
    """The rewards of outcomes that are real rewards: each question has levels of its own.

    Raises:
        ValueError: that names the first sample whose reward is not from -1e150 to 1e150.
    """
    n, all_values = outcomes.n, outcomes.values.astype(float, copy=False)
    outcomes.require(np.abs(all_values) <= 1e150, _VALID_REWARD)
    values = outcomes.scored_values.astype(float)
    if size := one_size(n):
        values = np.sort(values.reshape(-1, size), axis=1).ravel()
    else:
        values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    rank = np.arange(1, len(values) + 1) - np.repeat(np.cumsum(n) - n, n)
    return RankedRewards(np.arange(len(n)), values, rank)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """Return (C + 1,) finite rewards of the categories, by default 0 and 1.

    `labels` are those of the categories, if they have some: one for each reward.
    """
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    rewards = [int(x) if isinstance(x, (bool, np.bool_)) else x for x in rewards]
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(
            f"There are {len(labels)} categories but {len(rewards)} rewards: give w with one "
            f"reward for each category."
        )
    return np.array(
        [check_number(f"w[{i}]", x, _VALID_REWARD, -1e150, 1e150) for i, x in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """Return (M, C + 1) numbers of prior outcomes of each question by category.

    Args:
        R0: M rows of D prior outcomes, or a flat list of M x D of them, question after question.
        questions: M.
        categories: C + 1.

    Raises:
        ValueError: unless R0 has this shape, without missing entries.
    """
    if is_list_like(R0) and not hasattr(R0, "__len__"):  # a generator, which is read twice below
        R0 = list(R0)
    if R0 is None or _has_no_entries(R0, questions):
        return np.zeros((questions, categories), dtype=np.int64)
    outcomes = read_outcomes(R0, "R0")
    rows, size = len(outcomes.sizes), one_size(outcomes.sizes)
    if not (is_frame(R0) or is_list_like(next(iter(R0)))):
        rows, size = questions, size // questions
    if rows != questions or rows * size != len(outcomes.values) or outcomes.scored is not None:
        lengths = sorted({*outcomes.sizes.tolist()})
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows with {short(lengths)} outcomes: give {questions} "
            f"rows of one length, without None."
        )
    return replace(outcomes, sizes=np.full(rows, size)).category_counts(categories)


def _has_no_entries(R0, questions: int) -> bool:
    """Whether R0 has no prior outcome for any of the questions."""
    if is_frame(R0) or not is_list_like(R0) or len(R0) not in (0, questions):
        return False
    return all(is_list_like(row) and len(row) == 0 for row in R0)


# --- Scores -------------------------------------------------------------------------------


def max_scores(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Scores:
    """Unbiased estimates of Max@k: one key for each k, and no k above any n."""
    none = np.empty((len(rewards.sizes), 0))
    columns = np.column_stack([none, *(rewards.max_of(k) for k in ks.values())])
    return Scores(one_column_each(ks), rewards.inverse, columns)


def bayes_moments(rewards: Rewards, bayes: ScoreKey, avg: ScoreKey) -> Moments:
    """Means and variances of Bayes@N and avg@N, under these keys."""
    return moments_by_key(rewards, {bayes: rewards.posterior(), avg: rewards.average()})


def moments_by_key(
    rewards: Rewards, moments: Mapping[ScoreKey, tuple[np.ndarray, np.ndarray]]
) -> Moments:
    """Means and variances of independent scores, (U,) each, by their keys."""
    mean = np.stack([mean for mean, _ in moments.values()], axis=1)
    variances = {(i, i): variance for i, (_, variance) in enumerate(moments.values())}
    return Moments(one_column_each(moments), rewards.inverse, mean, variances)


# --- shared/at_k/core/votes.py --------------------------------------------------------------------

"""vote@k: the probability that the most frequent answer of k samples is correct.

Draw k of the n samples of a question, without replacement. The answer with the most votes wins;
answers with equally many votes share the win. Let m_i samples give the answer i, u samples give no
answer, and t be the number of votes of a winner. In the generating function

    G_t(z, y) = (1 + z)^u
                * product over i of (C(m_i, 0) + .. + C(m_i, t-1) z^(t-1) + y C(m_i, t) z^t)

the coefficient of z^k y^w is the number of subsets of k samples in which w answers have t votes
each and no answer has more. Each of the w winners has the share 1/w, the integral of y^(w-1) from 0
to 1. So

    vote@k = sum over t, and over correct answers a, of
             [z^k] integral of C(m_a, t) z^t G_t(z, y) / (factor of a) dy,  divided by C(n, k).

The integrand is a polynomial in y of degree at most k/t - 1, which Gauss-Legendre quadrature with
half as many nodes integrates exactly. For t = 1 it needs none: the winners are all answers with a
vote, so w is the degree in z without the samples that have no answer. No term is negative, so
nothing cancels. An answer of which a judge accepts only some samples counts with their share.
"""


_MOST_OPERATIONS = 3e10  # of vote@k of one question


class AnswerCounts(NamedTuple):
    """How many samples of a question gave each of its answers.

    A checker accepts all samples with the same answer, or none. A judge may accept only some of
    them: a vote for the answer is then worth the share that it accepts.

    Attributes:
        correct: number of samples of each answer that has accepted samples, ascending.
        incorrect: number of samples of each other answer, ascending.
        unanswered: number of samples without an answer. They are drawn, but have no vote.
        accepted: number of accepted samples of each answer in `correct`, or () if all are.
    """

    correct: tuple[int, ...]
    incorrect: tuple[int, ...]
    unanswered: int
    accepted: tuple[int, ...] = ()

    @classmethod
    def from_answers(cls, answers: Sequence[tuple[int, int]], unanswered: int) -> AnswerCounts:
        """Return the counts, from (samples, accepted samples) of each answer."""
        correct = sorted((samples, accepted) for samples, accepted in answers if accepted)
        incorrect = sorted(samples for samples, accepted in answers if samples and not accepted)
        samples, accepted = tuple(zip(*correct, strict=True)) or ((), ())
        return cls(samples, tuple(incorrect), unanswered, () if accepted == samples else accepted)

    @property
    def answers(self) -> list[tuple[int, int]]:
        """(samples, accepted samples) of each answer, with those in `correct` last."""
        accepted = zip(self.correct, self.accepted or self.correct, strict=True)
        return [*((samples, 0) for samples in self.incorrect), *accepted]

    @property
    def credits(self) -> np.ndarray:
        """The share of accepted samples of each answer in `correct`."""
        return np.array(self.accepted or self.correct) / self.correct


def count_answers(correct: Samples, answers: np.ndarray, merge_correct: bool) -> list[AnswerCounts]:
    """Return the answer counts of each question.

    Args:
        correct: whether each sample is correct.
        answers: (S,) integer code of the answer of each sample, or -1 for no answer.
        merge_correct: whether all answers to a question that are accepted in more than half of
            their samples count as one answer.
    """
    question = np.repeat(np.arange(len(correct.sizes)), correct.sizes)
    scored = correct.weights > 0
    weights, is_correct = correct.weights[scored], correct.values[scored]
    # The codes of the answers to one question are consecutive: that of no answer is the first, and
    # that of merged answers the last.
    width = int(answers.max(initial=0)) + 3
    code = question[scored] * width + answers[scored] + 1
    code, samples, accepted = _summed(code, weights, weights * is_correct)
    if merge_correct:
        merged = (2 * accepted > samples) & (code % width > 0)
        code = np.where(merged, code - code % width + width - 1, code)
        code, samples, accepted = _summed(code, samples, accepted)
    ends = np.cumsum(np.bincount(code // width, minlength=len(correct.sizes)))[:-1]
    columns = (np.split(column, ends) for column in (code % width > 0, samples, accepted))
    return [
        AnswerCounts.from_answers(
            [*zip(m[answered].tolist(), c[answered].tolist(), strict=True)],
            int(m[~answered].sum()),
        )
        for answered, m, c in zip(*columns, strict=True)
    ]


def _summed(code: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the distinct codes, ascending, and for each column the sums of integers by code."""
    distinct, inverse = np.unique(code, return_inverse=True)
    return distinct, *(np.bincount(inverse, column).astype(np.int64) for column in columns)


def vote_at_k(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return vote@k of each question, (M,).

    Args:
        counts: M answer counts.
        k: one k, or (M,) of them; at most the number of samples of the question.
    """
    ks = np.broadcast_to(k, len(counts)).tolist()
    _check_work(counts, ks)
    return np.array([vote_probability(*pair) for pair in zip(counts, ks, strict=True)])


def _check_work(counts: Sequence[AnswerCounts], ks: Sequence[int]) -> None:
    """Raise a ValueError if vote@k of a question would take longer than some minutes."""
    for question, (answers, k) in enumerate(zip(counts, ks, strict=True)):
        number = len(answers.correct) + len(answers.incorrect)
        if k**3 * number <= 4 * _MOST_OPERATIONS or not answers.correct:  # the usual case, and fast
            continue
        samples = np.array(answers.correct + answers.incorrect)
        work = sum(
            k * _number_of_nodes(k, t) * int(np.minimum(samples, t).sum())
            for t in range(1, min(k // 2, max(answers.correct)) + 1)
        )
        if work > _MOST_OPERATIONS:
            raise InputError(
                f"vote@{k} of ",
                Place("question", question),
                f", which has {number} answers, needs {work:.0e} operations, and "
                f"{_MOST_OPERATIONS:.0e} are possible: give a smaller k, such as "
                f"{int(k * (_MOST_OPERATIONS / work) ** (1 / 3))}.",
            )


@lru_cache(maxsize=1 << 14)
def vote_probability(counts: AnswerCounts, k: int) -> float:
    """Return the expected credit of the answer with the most of k votes; ties are shared.

    It is the probability that the answer is correct, if each is accepted always or never.
    """
    correct, incorrect, unanswered, _ = counts
    if not correct:
        return 0.0
    n = sum(correct) + sum(incorrect) + unanswered
    if k == n:
        most = max(correct + incorrect)
        winners = counts.credits[np.array(correct) == most]
        return float(winners.sum()) / (correct + incorrect).count(most)
    # An answer with more than half of the votes wins, whatever votes the others have.
    absolute = expected_credits(np.full(len(correct), n), np.array(correct), [majority(k)])
    credit = float(counts.credits @ absolute[:, 0])
    return min(1.0, credit + _win_with_at_most_half(counts, n, k))


def _win_with_at_most_half(counts: AnswerCounts, n: int, k: int) -> float:
    """Return the expected credit of winners with at most k/2 of k votes; ties are shared.

    The question has these answer counts, of n samples in all.
    """
    correct, incorrect, unanswered, _ = counts
    credits = [*(0.0 for _ in incorrect), *counts.credits.tolist()]
    nodes = _nodes(counts, k)
    if not nodes:
        return 0.0
    t, y, weight = (np.array(column)[:, None] for column in zip(*nodes, strict=True))
    first = np.searchsorted(t[:, 0], np.arange(t.max() + 1))  # node with a term of each degree
    has_single_votes = t[0, 0] == 1  # The first node is that of t = 1, without quadrature.
    # All polynomials in z are scaled by powers of two, which is exact and keeps the coefficients
    # near 1: z by 2^shift, each factor, and after every 32 factors the products.
    shift = round(math.log2((k + 0.5) / (n - k + 0.5)))
    ways_unanswered, exponent = _scaled_binomials(unanswered, k, shift)
    exponents = np.full(len(nodes), exponent)
    product = np.zeros((len(nodes), k + 1))  # coefficients of z^0 .. z^k of G_t, at each node
    product[:, : len(ways_unanswered)] = ways_unanswered
    if has_single_votes:
        product[0] = np.arange(k + 1) == 0  # Samples without an answer follow in the end.
    winning = np.zeros_like(product)  # the same for a correct winner, summed over winners
    for answer, m in enumerate(incorrect + correct):
        ways, exponent = _scaled_binomials(m, int(t.max()), shift)
        votes = np.arange(len(ways))
        wins = ways * (votes == t)
        factor = ways * (votes < t) + y * wins
        if answer >= len(incorrect):
            winning = _multiply(winning, factor, first)
            for votes_of_winner, start, stop in _rows_by_votes(t[:, 0], len(ways)):
                rows = slice(start, stop)
                winning[rows, votes_of_winner:] += (
                    credits[answer]
                    * wins[rows, votes_of_winner, None]
                    * product[rows, :-votes_of_winner]
                )
        product = _multiply(product, factor, first)
        exponents += exponent
        if answer % 32 == 31:
            excess = np.frexp(np.maximum(product.max(axis=1), winning.max(axis=1)))[1]
            product = np.ldexp(product, -excess[:, None])
            winning = np.ldexp(winning, -excess[:, None])
            exponents += excess
    subsets, exponent = _mantissa_and_exponent(math.comb(n, k))
    last = winning[:, k].copy()
    if has_single_votes:
        winners = np.arange(max(1, k + 1 - len(ways_unanswered)), k + 1)
        last[0] = (winning[0, winners] / winners) @ ways_unanswered[k - winners]
    wins = np.ldexp(last / subsets, exponents - exponent - shift * k)
    return float((weight[:, 0] * wins).sum())


def _nodes(counts: AnswerCounts, k: int) -> list[tuple[int, float, float]]:
    """Return the nodes of the integrals: a number of votes t, the value of y, and the weight.

    The answer counts are those of a question, of which k samples are drawn.
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
    """Return the number of quadrature nodes at which G_t is computed."""
    return 1 if t == 1 else -(-(k // t) // 2)


def _rows_by_votes(t: np.ndarray, most: int) -> list[tuple[int, int, int]]:
    """Return each distinct value below `most` of ascending t, and the slice of its rows."""
    values = np.unique(t[t < most])
    ends = np.searchsorted(t, values, side="right")
    return [*zip(values.tolist(), np.searchsorted(t, values).tolist(), ends.tolist(), strict=True)]


def _multiply(polynomial: np.ndarray, factor: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the products of (nodes, k + 1) polynomials and factors, up to the degree k.

    Args:
        first: for each power, the first row whose factor has it.
    """
    product = factor[:, :1] * polynomial
    for power, row in enumerate(first[: factor.shape[1]].tolist()):
        if power:
            product[row:, power:] += factor[row:, power, None] * polynomial[row:, :-power]
    return product


@lru_cache(maxsize=1 << 12)
def _scaled_binomials(m: int, most: int, shift: int) -> tuple[np.ndarray, int]:
    """Return C(m, x) 2^(shift x - e) for x = 0 .. min(m, most), at most 1 each, and the e."""
    floats = [_mantissa_and_exponent(math.comb(m, x)) for x in range(min(m, most) + 1)]
    scale = max(exponent + shift * x for x, (_, exponent) in enumerate(floats))
    binomials = [
        math.ldexp(mantissa, exponent + shift * x - scale)
        for x, (mantissa, exponent) in enumerate(floats)
    ]
    return np.array(binomials), scale


def _mantissa_and_exponent(number: int) -> tuple[float, int]:
    """Return a positive integer as mantissa * 2^exponent, 1/2 <= mantissa <= 1, rounded once."""
    exponent = number.bit_length()
    return number / (1 << exponent), exponent


@lru_cache(maxsize=256)
def gauss_legendre(nodes: int) -> list[tuple[float, float]]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    from scipy.special import roots_legendre  # imported here, because it takes long

    x, weights = roots_legendre(nodes)
    return [*zip(((1 + x) / 2).tolist(), (weights / 2).tolist(), strict=True)]


# --- shared/at_k/core/choice.py -------------------------------------------------------------------

"""The options of intervals, and the rule of `interval="auto"`.

`interval_options` checks the parameters of a metric once, before any sample is checked, and makes
one value of them. `method_of_auto` is the rule.
"""


INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def method_of_auto(has_prior: bool, has_clusters: bool, repeated: bool | None = None) -> str:
    """The rule of `interval="auto"`: the method that uses what was given and what the data show.

    A prior that is not uniform calls for the posterior, and clusters for other questions. Without
    them, the rule applies to all questions and to each group by itself:

    - If a question has two samples or more, the samples show how scores vary when the same
      questions are sampled again: `sampling`, which includes `hierarchical` for k > n.
    - If each question has one sample, only other questions show it: `questions` for k <= n.
    - A single question with one sample does not show the variance: the interval is the whole range
      of the score, named "none: " and the reason (see `OneSampleIntervals`).
    - If each question has one sample, nothing identifies scores with k > n: they have no estimate.

    Args:
        has_prior: whether a prior that is not uniform was given.
        has_clusters: whether clusters were given.
        repeated: whether one of the questions has two samples or more; None if that is not known.

    Returns:
        The name of a method, or "auto" if it depends on `repeated`.
    """
    if has_prior:
        return "posterior"
    if has_clusters:
        return "questions"
    if repeated is None:
        return "auto"
    return "sampling" if repeated else "questions"


# --- Options ------------------------------------------------------------------------------


class Weighting(NamedTuple):
    """How questions are averaged.

    Attributes:
        values: (M,) the weight of each question, or None if all are equal.
        words: what differs from a mean over questions, such as "averaged over 3 groups", or "".
        over_groups: whether the scores of groups are averaged.
    """

    values: np.ndarray | None = None
    words: str = ""
    over_groups: bool = False


OVER_QUESTIONS = Weighting()
"""The mean over questions with equal weights."""


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are computed. The values have been checked.

    Args:
        confidence: of each interval, or None for no intervals.
        method: the name of the method; "auto" if it depends on the numbers of samples.
        is_named: whether the results name the method of each interval.
        clusters: (M,) cluster of each question, or None if each is its own.
        weighting: how questions are averaged.
        prior: Beta prior of the success rates, for the posterior.
        bounds: of the score.
        band: whether to add the simultaneous band of each score over k.
        anytime: whether limits hold at all looks together.
    """

    confidence: float | None = None
    method: str = "auto"
    is_named: bool = True
    clusters: np.ndarray | None = None
    weighting: Weighting = OVER_QUESTIONS
    prior: tuple[float, float] = (1.0, 1.0)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    band: bool = False
    anytime: bool = False

    @property
    def weights(self) -> np.ndarray | None:
        """(M,) the weight of each question in means, or None if all are equal."""
        return self.weighting.values

    @property
    def allow_above_n(self) -> bool:
        """Whether k may exceed the number of samples of a question.

        It may not in a mean over groups, each of which would be extrapolated by its own prior.
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
    default: str = "auto",
    alpha0: float = 1.0,
    beta0: float = 1.0,
    has_prior_outcomes: bool = False,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
    weighting: Weighting = OVER_QUESTIONS,
    anytime: bool = False,
) -> IntervalOptions:
    """Return the options of intervals from the parameters of a metric.

    `known` are the names that `interval` can have, and `default` is what None stands for. There are
    M `questions`, and `clusters` has a label for each of them or is None.

    Raises:
        ValueError: if a parameter is invalid, if two of them contradict each other, or if one has
            no use without another.
    """
    prior = check_prior(alpha0, beta0)
    limits = check_bounds(bounds)
    if interval is not None:
        check_name("interval", interval, known)
    check_flag("band", band)
    check_flag("anytime", anytime)
    if confidence is None:
        _check_no_limits(interval=interval, clusters=clusters, band=band, anytime=anytime)
    else:
        confidence = check_confidence(confidence)
    requested = method = default if interval is None else interval
    prior_name = "R0" if has_prior_outcomes else None if prior == (1, 1) else "alpha0, beta0"
    if requested == "auto":
        method = method_of_auto(prior_name is not None, clusters is not None)
    if prior_name is not None:
        _check_prior_is_used(prior_name, requested, clusters)
    cluster_index = check_clusters(clusters, method, questions, weighting.values)
    if anytime:
        _check_looks(method, band)
    return IntervalOptions(
        confidence,
        method,
        requested == "auto",
        cluster_index,
        weighting,
        prior,
        limits,
        band,
        anytime,
    )


def _check_no_limits(**parameters: Any) -> None:
    """Raise a ValueError for a parameter that is given, as only limits use these."""
    for name, value in parameters.items():
        if value is not None and value is not False:
            raise ValueError(
                f"only limits use {name}, and there is no confidence: give one, such as "
                f"confidence=0.95."
            )


def _check_looks(method: str, band: bool) -> None:
    """Raise a ValueError if `anytime` does not go with the method of limits, or with a band."""
    if method == "posterior":
        raise ValueError(
            "anytime needs limits of the data alone, and interval is 'posterior': give "
            "interval='sampling' or 'questions', without a prior."
        )
    if band:
        raise ValueError("a band holds at one look: leave out band or anytime.")


def _check_prior_is_used(prior_name: str, interval: str, clusters) -> None:
    """Raise a ValueError if the interval does not use the prior, or clusters exclude it."""
    if interval not in ("posterior", "auto"):
        raise ValueError(
            f"only interval='posterior' uses {prior_name}, and interval is {interval!r}."
        )
    if interval == "auto" and clusters is not None:
        raise ValueError(
            f"interval='posterior' uses {prior_name}, and interval='questions' uses clusters: "
            f"leave out one of them."
        )


def question_weighting(
    average: Any, question_weights: Any, groups: Any, questions: int
) -> Weighting:
    """Return how M `questions` are averaged, from the parameters of a metric.

    Raises:
        ValueError: if a parameter is invalid, or if all weights of a group are 0.
    """
    check_name("average", average, ("questions", "groups"))
    names, index = ([], None) if groups is None else label_index(groups, questions, "groups")
    if average == "questions" and question_weights is None:
        return OVER_QUESTIONS
    if average == "groups" and groups is None:
        raise ValueError(
            "average='groups' is the mean of the scores of groups: give a label of its group for "
            "each question as groups (in the shell, their column as --groups)."
        )
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
        if average == "groups":
            weights = weights / sums[index]
            within = ", with weights in each" if words else ""
            words = f"averaged over {len(names)} groups{within}"
    values = None if (weights == weights[0]).all() else weights
    return Weighting(values, words, average == "groups")


def _check_weights(question_weights: Any, questions: int) -> np.ndarray:
    """Return (M,) weights of the questions, at least one of which is above 0."""
    entries = entries_of("question_weights", question_weights)
    if len(entries) != questions:
        raise ValueError(
            f"question_weights has {len(entries)} entries for {questions} questions: give one "
            f"weight for each."
        )
    weights, wanted = np.zeros(questions), "a weight is 0, or a number from 1e-50 to 1e50"
    for question, weight in enumerate(entries):
        name = f"question_weights[{question}]"
        if check_number(name, weight, wanted, 0, 1e50):
            weights[question] = check_number(name, weight, wanted, 1e-50, 1e50)
    if not weights.any():
        raise ValueError("question_weights are all 0: give a weight above 0.")
    return weights


def check_average(average: Any, scores: Mapping[ScoreKey, Score]) -> None:
    """Raise a ValueError if one of the scores has no average over groups by weights."""
    for key, score in scores.items():
        if average == "groups" and score.pooled and len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two means over all questions, so average='groups' does not "
                f"apply: leave it out, or give groups without average."
            )


def check_clusters(
    clusters, interval: str, questions: int, weights: np.ndarray | None = None
) -> np.ndarray | None:
    """Return (M,) cluster labels as integers, or None if each question is its own cluster.

    Warns if few clusters have most of the questions.

    Args:
        clusters: a label for each of M questions, or None.
        interval: the name of the method of limits.
        questions: M.
        weights: (M,) of the questions, or None if they are equal.

    Raises:
        ValueError: if there are not M labels, or no interval that uses clusters.
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
            f"size: the limits are as wide as for so few.",
            stacklevel=2,
        )
    return index


# --- Scores, and the method of their limits ------------------------------------------------


def pass_limits(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return scores of the pass@k family, and the method of their limits."""
    if options.method != "questions":
        return PACKAGE.rooms.pass_limits(counts, scores, options)
    least = int(counts.n.min())
    wanted = with_neighbors(scores, least)
    together = pass_scores(counts, wanted).with_products()
    size = np.array([least])
    all_correct = pass_scores(BinaryCounts(size, size), wanted).with_products().columns[0]
    # Rounding must not move limits of scores up to 1.
    most = np.where(np.abs(all_correct - 1) < 1e-12, 1.0, all_correct)
    method = QuestionIntervals(together, (0.0, most), options.clusters, weights=options.weights)
    return pass_scores(counts, scores), CoherentIntervals(method, scores)


def max_limits(
    rewards: Rewards, ks: Mapping[ScoreKey, int], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return Max@k for each key, and the method of its limits."""
    if options.method != "questions":
        return PACKAGE.rooms.max_limits(rewards, ks, options)
    points = max_scores(rewards, ks)
    least, most = np.clip(rewards.ranges, *options.bounds).T
    ranges = least[:, None], most[:, None]
    return points, QuestionIntervals(points, ranges, options.clusters, weights=options.weights)


def limits_for_questions(
    points: Scores,
    name: str,
    options: IntervalOptions,
    score_range: tuple[float, float] = UNIT_RANGE,
) -> IntervalMethod:
    """Return the method of limits of scores that have those for other questions only.

    Args:
        points: the scores of the questions.
        name: of the scores, for messages.
        options: of the limits.
        score_range: the smallest and the largest possible score of a question.

    Raises:
        ValueError: if another method is requested, with the name of the scores.
    """
    if options.method not in ("questions", "auto"):
        raise ValueError(
            f"{name} has limits for other questions only: give interval='questions', without a "
            f"prior, or leave {name} out of include."
        )
    return QuestionIntervals(
        points, score_range, options.clusters, options.is_named, weights=options.weights
    )


# --- shared/at_k/core/consensus.py ----------------------------------------------------------------

"""Scores of a majority of the samples: cons@k, avg@n, pass@k, maj@k, votes, and mean shares.

The first four depend on a question only through its counts: n samples, c of them correct. cons@k is
the indicator that more than k/2 of all n samples are correct; it has no posterior. The vote of
answers is in `votes`.
"""


CountScore = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Returns the (U,) values of a score, from n and c, both (U,)."""


@dataclass(frozen=True)
class Consensus:
    """What the scores of cons_at_k depend on.

    Attributes:
        shares: the share of correctness of each sample.
        correct: whether it is above 1/2.
        counts: of correct samples.
        ks: each k by the number that keys show for it. None stands for all samples of a question.
        votes: (M,) the votes of the answers, or None if there are no answers.
        weighted: the votes with weights, or None.
    """

    shares: Samples
    correct: Samples
    counts: BinaryCounts
    ks: Mapping[int | str, int | None]
    votes: Sequence[AnswerCounts] | None = None
    weighted: Any = None

    @classmethod
    def from_checked(
        cls, checked: Checked, ks: Sequence[int] | None, merge_right: bool, with_votes: bool
    ) -> Consensus:
        """Return what the scores of checked samples depend on.

        Args:
            checked: the outcomes, and the answers if there are any.
            ks: the requested k, or None for k = n.
            merge_right: whether all correct answers to a question count as one in votes.
            with_votes: whether vote@k is asked for.

        Raises:
            ValueError: if a k exceeds the number of scored samples of a question.
        """
        correct = more_than_half(checked.outcomes)
        counts = correct.counts()
        check_samples([*(ks or [])], counts.n)  # the checker may leave samples unscored
        shown: dict[int | str, int | None] = {number_of_samples(counts.n): None}
        if ks:
            shown = {k: k for k in ks}
        votes = None
        if checked.answers is not None and with_votes:
            votes = count_answers(correct, checked.answers, merge_right)
        return cls(checked.outcomes, correct, counts, shown, votes)

    @property
    def n(self) -> int | str:
        """The number of samples that keys show."""
        return number_of_samples(self.counts.n)

    def sizes(self, k: int | None) -> int | np.ndarray:
        """The size of the subsets: k, or (M,) all samples of each question for None."""
        return self.counts.n if k is None else k

    @property
    def has_shares(self) -> bool:
        """Whether outcomes may be shares of correctness, which have a mean of their own."""
        return self.shares.values.dtype.kind == "f"

    def count_scores(self) -> dict[ScoreId, CountScore]:
        """Return the scores of counts, as functions of (U,) n and c.

        They are cons@k for each k, then avg@n, pass@k and maj@k.
        """
        scores: dict[ScoreId, CountScore] = {
            ScoreId("cons@k", shown): partial(_has_majority, k) for shown, k in self.ks.items()
        }
        scores[ScoreId("avg@N", self.n)] = _share_correct
        for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
            for shown, k in self.ks.items():
                scores[ScoreId(metric, shown)] = partial(_expected_credit, credits, k)
        return scores

    def values(self) -> dict[ScoreId, np.ndarray]:
        """Return the (M,) values of all scores."""
        counts = self.counts
        values = {
            key: score(*counts.unique)[counts.inverse] for key, score in self.count_scores().items()
        }
        if self.has_shares:
            values[ScoreId("accuracy (n runs average)", self.n)] = mean_shares(self.shares)
        if self.votes is not None:
            for shown, k in self.ks.items():
                values[ScoreId("vote@k", shown)] = vote_at_k(self.votes, self.sizes(k))
        return values | self.weighted_scores()

    def weighted_scores(self) -> dict[ScoreId, np.ndarray]:
        """Return the (M,) values of weighted_vote@k for each k, if votes have weights."""
        if self.weighted is None:
            return {}
        return {
            ScoreId("weighted_vote@k", shown): self.weighted.at(self.sizes(k))
            for shown, k in self.ks.items()
        }


# --- Single scores ----------------------------------------------------------------------


def _has_majority(k: int | None, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(U,) cons@k: 1.0 if more than k/2 of all samples are correct; None stands for k = n."""
    return (2 * c > (n if k is None else k)).astype(float)


def _share_correct(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(U,) avg@n of questions with n samples, c of them correct."""
    return c / n


def _expected_credit(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """(U,) expected credit of k of n samples, c of them correct; None stands for k = n.

    `credits` returns the credits of the score for a k.
    """
    result = np.empty(len(n))
    for size, rows in rows_by_k(k, n):
        result[rows] = expected_credits(n[rows], c[rows], [credits(size)])[:, 0]
    return result


def rows_by_k(k: int | None, n: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each k with the rows that it applies to. None stands for k = n."""
    ks = n if k is None else np.full(len(n), k)
    for size in sorted({*ks.tolist()}):
        yield size, np.flatnonzero(ks == size)


# --- Shares of correctness --------------------------------------------------------------


def more_than_half(outcomes: Samples) -> Samples:
    """Return binary outcomes: correct if the share of correctness is above 1/2."""
    return replace(outcomes, values=outcomes.values > 0.5)


def mean_shares(outcomes: Samples) -> np.ndarray:
    """Return the mean share of correctness of the scored samples of each question, (M,)."""
    shares = outcomes.values * outcomes.weights.astype(float)
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n


# --- shared/at_k/core/report.py -------------------------------------------------------------------

"""The flat dict that `compute` returns: the scores over all questions, and over groups."""


class Report:
    """What `compute` returns: the mean scores over all questions and over each group.

    Args:
        questions: M.
        groups: a label for each question, or None.
        options: of the intervals.
        return_per_question: whether to add the scores of each question.
        keys: "exact", or "safe" for numbers only, under names that every logger takes.
        with_mu: whether to add the centers of intervals.

    Raises:
        ValueError: if there are not M labels, or if two labels have the same safe name.
    """

    def __init__(
        self,
        questions: int,
        groups,
        options: IntervalOptions,
        return_per_question: bool,
        keys: str = "exact",
        with_mu: bool = True,
    ):
        self._safe = check_name("keys", keys, ("exact", "safe")) == "safe"
        self._groups: list[str | None] = [None]
        self._questions_by_group = [np.arange(questions)]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            last = np.cumsum(np.bincount(index))
            self._groups += labels
            self._questions_by_group += np.split(np.argsort(index, kind="stable"), last[:-1])
            if self._safe:
                safe_prefixes(labels)
        if options.weights is not None:
            counted = options.weights > 0
            self._questions_by_group = [group[counted[group]] for group in self._questions_by_group]
        self._return_per_question = check_flag("return_per_question", return_per_question)
        if self._safe and self._return_per_question:
            warnings.warn(
                'keys="safe" leaves out per_question, which is no number: loggers refuse lists.',
                stacklevel=2,
            )
        self.options, self._with_mu = options, with_mu

    def result(
        self,
        points: Scores,
        n: np.ndarray,
        method: IntervalMethod | None = None,
        checker: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return the flat dict of `compute`.

        Args:
            points: the scores of the questions.
            n: (M,) samples of the questions.
            method: of the limits, or None if none are requested.
            checker: what the scores are corrected for, or None.

        Raises:
            ValueError: if the data do not allow the interval, with the label of the group.
        """
        if self.options.confidence is None:
            method = None
        estimates = self._estimates(points, n, method)
        others: dict[str, Any] = {}
        if checker is not None and not self._safe:
            others["checker"] = checker
        if self._return_per_question and not self._safe:
            known = {x.score_id for x in estimates if x.group is None}
            others["per_question"] = {
                score.key: values
                for score, values in points.per_question().items()
                if score in known
            }
        result = as_dict(estimates, self._safe, others)
        return PACKAGE.rooms.result(result, estimates, self.options.weighting.words)

    def _estimates(
        self, points: Scores, n: np.ndarray, method: IntervalMethod | None
    ) -> list[Estimate]:
        """Return the scores over all questions, then over each group, with intervals if requested.

        Scores that the data do not identify are left out, with a warning. The arguments are those
        of `result`.
        """
        intervals, bands = self._limits(n, method)
        estimates: list[Estimate] = []
        left_out: dict[str | None, list[str]] = {}
        for group, questions, interval_of, band_of in zip(
            self._groups, self._questions_by_group, intervals, bands, strict=True
        ):
            unidentified = () if method is None else method.unidentified(questions)
            for score, mean in points.over(questions, self.options.weights).items():
                if score in unidentified:
                    left_out.setdefault(group, []).append(score.key)
                    continue
                interval = None
                if method is not None:
                    interval = self._requested_fields(score, mean, interval_of.get(score))
                band = band_of.get(score)
                estimates.append(
                    Estimate(score.metric, score.k, score.tau, group, mean, interval, band)
                )
        if left_out:
            _warn_of_unidentified(left_out, bool(estimates))
        return estimates

    def _requested_fields(
        self, score: ScoreId, mean: float, interval: Interval | None
    ) -> Interval | None:
        """Return the interval of a score with the fields that are requested."""
        is_named = self.options.is_named
        if interval is None:  # Only the posterior has none for some scores.
            reason = f"none: {score} has no posterior"
            return Interval(None, None, None, None, reason) if is_named else None
        if not self._with_mu:
            interval = interval._replace(mu=None)
        elif math.isclose(interval.mu, mean, rel_tol=1e-12):
            interval = interval._replace(mu=mean)  # the same sum in another order
        return interval if is_named else interval._replace(interval=None)

    def _limits(
        self, n: np.ndarray, method: IntervalMethod | None
    ) -> tuple[list[dict[ScoreId, Interval]], list[dict[ScoreId, tuple[float, float]]]]:
        """Return the intervals and the bands over all questions and over each group.

        The arguments are those of `result`.
        """
        options = self.options
        no_limits: list[dict[ScoreId, Any]] = [{} for _ in self._questions_by_group]
        if method is None or options.confidence is None:
            return no_limits, no_limits
        if options.anytime:
            # "auto" decides for each group whether its limits are for other questions.
            other_questions = None if options.method == "auto" else options.method == "questions"
            method = PACKAGE.rooms.anytime_limits(method, n, other_questions)
        for group, questions in zip(self._groups, self._questions_by_group, strict=True):
            if problem := method.problem(questions):
                name = "The run" if group is None else f"Group {group!r}"
                raise ValueError(f"{name} has no interval: {problem}.")
        intervals = method.for_groups(self._questions_by_group, options.confidence)
        if not options.band:
            return intervals, no_limits
        bands = PACKAGE.rooms.bands(method, self._questions_by_group, intervals, options.confidence)
        return intervals, bands


def _warn_of_unidentified(left_out: dict[str | None, list[str]], has_others: bool) -> None:
    """Warn of scores that are left out, by group or None; a ValueError if there are no others."""
    for group, names in left_out.items():
        scope = "" if group is None else f" of group {group!r}"
        problem = f"Each question{scope} has one sample, which does not identify"
        if not has_others:
            raise ValueError(f"{problem} {', '.join(names)}: give k=1, or add samples.")
        warnings.warn(f"{problem} {', '.join(names)}: left out.", stacklevel=3)


# --- shared/at_k/core/computation.py --------------------------------------------------------------

"""A metric without the protocol of `evaluate`: what `compute` returns for samples.

The metrics of `evaluate` and the command both compute with this. Importing `evaluate` takes longer
than most computations.
"""


DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class SampledQuestions:
    """The samples of M questions, and how they become outcomes.

    Args:
        batch: the questions.
        validate: see `Computation`.
        cache: results of earlier checks; a failed run adds its own.
    """

    batch: Samples
    validate: Callable[[Samples], Any]
    cache: CheckCache

    def __len__(self) -> int:
        """M, the number of questions."""
        return len(self.batch)

    @property
    def n(self) -> np.ndarray:
        """(M,) the number of samples of each question that are not None."""
        return self.batch.n

    def check(self, checking: Checking) -> Checked:
        """Return the validated outcomes of all questions, and the answers that were read.

        Raises:
            ValueError: if a sample cannot be checked, or if there is nothing to check it against.
        """
        batch = self.batch
        if batch.references is not None:
            checked = checking.check(batch, self.cache)
            self.validate(checked.outcomes)
            return checked
        if not checking.matches_exactly:
            raise ValueError(
                "check_correct_fn is given, but there are no references to check against: without "
                "references, predictions are outcomes."
            )
        if not batch.are_numbers:  # numbers were validated when they were read
            batch = as_outcomes(batch, checking.labels)
            self.validate(batch)
        return Checked(batch)


@dataclass(frozen=True)
class Computation:
    """What a metric computes.

    Args:
        results: a function of `SampledQuestions` and the parameters of the metric that returns the
            flat dict of `compute`.
        validate: raises a ValueError for an outcome that the metric does not accept, with its
            index.
        counts_suffice: whether the results do not depend on the order of the samples of a question,
            not even in the last digit.
        accepts_labels: whether already-graded outcomes may be labels, whose numbers are parameters
            of the metric.
        in_order: the parameters that need the samples in their order, of a single call of
            `compute`, as one that has a number for each sample does.
    """

    results: Callable[..., Any]
    validate: Callable[[Samples], Any]
    accepts_labels: bool = False
    counts_suffice: bool = True
    in_order: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the metric, beside predictions and references."""
        parameters = parameters_of(self.results)
        del parameters["questions"]
        return parameters

    def ordered_options(self, options: Mapping[str, Any]) -> list[str]:
        """Return the names of the given options that need the samples in their order."""
        values = {name: options.get(name) for name in self.in_order}
        return [name for name, x in values.items() if x is not None and not isinstance(x, Mapping)]

    def read(self, predictions, references) -> Samples:
        """Read questions. Predictions without references are outcomes, which are validated.

        Raises:
            ValueError: if an input is invalid, with its index.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        rows = read_samples(predictions)
        if references is not None:
            if rows.multiplicity is not None and rows.are_numbers:
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, such as {'answers': [['12', '13']], 'counts': [[5, "
                    "3]]}."
                )
            return stored(rows, references)
        if self.accepts_labels and not rows.are_numbers:
            texts = stored(rows)
            if sample_kind(texts.values) == "texts":
                return texts
        check_types(rows)
        outcomes = as_outcomes(rows)
        self.validate(outcomes)
        return outcomes

    def samples(self, predictions, references, options: Mapping[str, Any]) -> SampledQuestions:
        """Return the samples of these questions, as these options take them.

        Raises:
            ValueError: if an input is invalid, with its index.
        """
        check_options(self.results, options)
        batch = self.read(predictions, references)
        return SampledQuestions(batch, self.validate, CheckCache())

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the scores of these questions.

        Raises:
            ValueError: if an input is invalid, with its index.
        """
        return self.results(self.samples(predictions, references, options), **options)


# --- Parameters of all metrics --------------------------------------------------------------


@dataclass
class SharedOptions:
    """The parameters that all metrics have. Their scripts document them."""

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

    def checking(self, labels: Labels | None = None) -> Checking:
        """Return how samples are checked, by a checker that may return these labels."""
        return Checking(self.check_correct_fn, self.num_proc, self.executor, self.timeout, labels)

    def report(self, questions: int, with_mu: bool = True, **own: Any) -> Report:
        """Return what makes the result of `compute`, with the metric's own parameters of limits."""
        weighting = question_weighting(self.average, self.question_weights, self.groups, questions)
        options = interval_options(
            questions,
            self.confidence,
            self.interval,
            self.clusters,
            weighting=weighting,
            anytime=self.anytime,
            **own,
        )
        return Report(questions, self.groups, options, self.return_per_question, self.keys, with_mu)


# --- shared/at_k/core/computations.py -------------------------------------------------------------

"""What each of the five metrics computes from the samples of questions.

All five take the same steps: check the options, check the samples, estimate the scores, choose the
method of limits, and return the report.
"""


# --- gpassk -------------------------------------------------------------------------------

_FOR_K_ABOVE_N = (
    " With a confidence, and without clusters, a prior or average='groups', "
    "interval='hierarchical' allows k > n for most scores."
)
"""What to give, other than a smaller k, if k exceeds n."""


@shows_options(SharedOptions, SharedOptions)
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
    """Return what `compute` returns. The script of the metric documents the parameters."""
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
    report = common.report(
        len(questions),
        known=INTERVALS if budget is None else ("questions", "auto"),
        alpha0=alpha0,
        beta0=beta0,
        band=band,
    )
    options, errors = report.options, _errors_of_checker(checker_rates, labels)
    if errors is not None and options.confidence is not None and options.method == "posterior":
        raise ValueError(
            "interval='posterior' does not correct for the errors of a checker: use 'sampling' or "
            "'questions'."
        )
    n = questions.n
    if budget is not None:
        budget = _check_budget(budget, requested, metrics)
        if errors is not None or options.prior != (1, 1):
            raise ValueError(
                "budget is for samples that stop at the first correct one, which neither a "
                "correction for checker_rates or labels nor a prior is for: leave these out."
            )
        checked = questions.check(checking)
        points, method = PACKAGE.rooms.first_successes(checked, budget, requested, options)
        return report.result(points, n, method)
    ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n, _FOR_K_ABOVE_N)
    scores = requested_scores(included, ks, score_options)
    check_average(common.average, scores)

    checked = questions.check(checking)
    counts = checked.outcomes.counts()
    warn_of_stopping(checked.outcomes)
    if (counts.n < n).any():  # the checker left samples unscored
        ks = choose_ks(requested, DEFAULT_K, counts.n, options.allow_above_n, _FOR_K_ABOVE_N)
        scores = requested_scores(included, ks, score_options)
    if errors is not None:
        points, method, described = errors.pass_limits(checked, scores, options)
        return report.result(points, n, method, described)
    if options.confidence is None:
        return report.result(pass_scores(counts, scores), n)
    points, method = pass_limits(counts, scores, options)
    return report.result(points, n, method)


def _errors_of_checker(checker_rates, labels) -> Any:
    """Return the errors of a checker that scores are corrected for, or None."""
    if checker_rates is None and labels is None:
        return None
    return PACKAGE.rooms.errors(checker_rates, labels)


def _check_budget(budget: int, ks: list[int] | None, metrics: set[str]) -> int:
    """Return a budget, which allows each k and all metrics."""
    budget = check_k(budget, name="budget")
    if ks and max(ks) > budget:
        raise ValueError(f"k is {max(ks)}: give a k of at most the budget, {budget}.")
    if others := sorted(metrics - {"pass@k"}):
        raise ValueError(
            f"include has {others[0]!r}, and samples that stop at the first correct one show "
            f"pass@k only: leave it out, or leave out budget."
        )
    return budget


GPASSK = Computation(gpassk_results, require_binary, in_order=("labels", "budget"))


# --- bayes_at_n ---------------------------------------------------------------------------


@shows_options(SharedOptions, SharedOptions)
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
    """Return what `compute` returns. The script of the metric documents the parameters."""
    names = check_categories(categories)
    common = SharedOptions(confidence=confidence, **shared)
    checking = common.checking(names)
    category_values = check_rewards(w, names)
    prior = check_prior_outcomes(R0, len(questions), len(category_values))
    if common.anytime and common.interval is None:
        raise ValueError(
            "anytime needs limits of the data alone: give interval='sampling' or 'questions'."
        )
    # Both scores are the centers of their intervals, so mu would repeat them.
    report = common.report(len(questions), with_mu=False, bounds=bounds)
    options, errors = report.options, _errors_of_checker(checker_rates, labels)
    if errors is not None and not w is categories is bounds is None:
        raise ValueError(
            "checker_rates and labels are for samples that are correct or not: leave out w, "
            "categories and bounds."
        )

    checked = questions.check(checking)
    outcomes = checked.outcomes if errors is None else require_binary(checked.outcomes)
    warn_of_stopping(outcomes)
    n = number_of_samples(outcomes.n)
    # Both scores estimate the mean reward, which is Max@1.
    ks = {ScoreId("bayes@N", n): 1, ScoreId("avg@N", n): 1}
    method: IntervalMethod | None = None
    if are_real_rewards(outcomes, w, R0, categories):
        rewards = real_rewards(outcomes)
        points = max_scores(rewards, ks)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
        moments = bayes_moments(rewards, *ks)
        points = Scores(moments.keys, moments.inverse, moments.mean)
        if common.interval is None:  # the posterior defines Bayes@N
            check_clusters(common.clusters, "posterior", len(questions))
        if common.interval is None or options.method == "posterior":
            range_of_rewards = float(rewards.levels[0]), float(rewards.levels[-1])
            limits = options.bounds if bounds else range_of_rewards
            name = None if common.interval is None else "posterior"  # a default is not named
            method = PosteriorIntervals(moments, limits, name, options.weights)
    if method is None and options.confidence is not None:
        _, method = max_limits(rewards, ks, options)
    if errors is None:
        return report.result(points, questions.n, method)
    points, method, described = errors.rate_limits(checked, points, method, options)
    return report.result(points, questions.n, method, described)


BAYES_AT_N = Computation(
    bayes_at_n_results,
    # A float may be a real reward: that depends on w.
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
"""The names of scores in `include`, and as metrics."""


@shows_options(SharedOptions, SharedOptions)
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
    """Return what `compute` returns. The script of the metric documents the parameters."""
    labels = check_categories(categories)
    common = SharedOptions(**shared)
    checking = common.checking(labels)
    category_values = check_rewards(w, labels)
    prior = check_prior_outcomes(R0, len(questions), len(category_values))
    included, requested = _included_rewards(include, k, picked_by)
    taus = check_thresholds(thresholds)
    report = common.report(
        len(questions),
        has_prior_outcomes=bool(prior.any()),
        bounds=bounds,
        band=band,
    )
    options, n = report.options, questions.n
    ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n)

    outcomes = questions.check(checking).outcomes
    warn_of_stopping(outcomes)
    are_rewards = are_real_rewards(outcomes, w, R0, categories)
    if are_rewards:
        rewards = real_rewards(outcomes)
    else:
        rewards = category_rewards(outcomes, category_values, prior)
    if are_rewards or (rewards.n < n).any():  # the checker left samples unscored
        # n samples say nothing about real rewards above the largest observed.
        ks = choose_ks(requested, DEFAULT_K, rewards.n, options.allow_above_n and not are_rewards)
    if any(score.metric != "max@k" for score in included):
        check_samples(ks, rewards.n)
    scored: list[tuple[Scores, IntervalMethod | None]] = []
    if max_ks := [k for k in ks if is_included("max@k", k, included)]:
        keys = {ScoreId("max@k", k): k for k in max_ks}
        has_limits = options.confidence is not None
        scored.append(
            max_limits(rewards, keys, options) if has_limits else (max_scores(rewards, keys), None)
        )
    if ks_and_taus := _included_tails(included, ks, taus):
        tails = PACKAGE.rooms.tails(rewards, ks_and_taus)
        scored.append((tails, _limits_if_requested(tails, "TailPass@k", options, UNIT_RANGE)))
    if picked_by is not None:
        values = outcomes.values if are_rewards else category_values[outcomes.values.astype(int)]
        picked_ks = [k for k in ks if is_included("picked@k", k, included)]
        picked = PACKAGE.rooms.picked(outcomes, values, picked_by, picked_ks)
        known = values[outcomes.is_scored]
        low, high = np.clip((known.min(), known.max()), *options.bounds).tolist()
        scored.append((picked, _limits_if_requested(picked, "picked@k", options, (low, high))))
    points, method = _join_scored(scored)
    return report.result(points, n, method)


def _included_rewards(
    include: str | list[str] | None, k: int | list[int] | None, picked_by: Any
) -> tuple[list[ScoreId], list[int] | None]:
    """Return the scores that are included, by default Max@k, or picked@k with `picked_by`."""
    if include is None:
        include = "Max@k" if picked_by is None else "picked@k"
    included, requested = included_scores(include, k, _SCORES_OF_REWARDS, _SCORES_OF_REWARDS)
    if (picked_by is None) == any(score.metric == "picked@k" for score in included):
        raise ValueError(
            "picked@k needs picked_by, the scores that pick one of k samples, and only picked@k "
            "uses them: give both, or neither."
        )
    return included, requested


def _included_tails(
    included: list[ScoreId], ks: list[int], thresholds: list[float]
) -> list[tuple[int, float]]:
    """Return the pairs of a k and a threshold at which TailPass@k is included."""
    pairs = [
        (k, tau)
        for score in included
        if score.metric == "TailPass@k"
        for k in ks
        if score.k in (None, k)
        for tau in (thresholds if score.tau is None else [score.tau])
    ]
    return list(dict.fromkeys(pairs))


def _limits_if_requested(
    points: Scores, name: str, options: IntervalOptions, score_range: tuple[float, float]
) -> IntervalMethod | None:
    """Return the method of limits of scores, or None if there is no confidence."""
    if options.confidence is None:
        return None
    return limits_for_questions(points, name, options, score_range)


def _join_scored(
    scored: list[tuple[Scores, IntervalMethod | None]],
) -> tuple[Scores, IntervalMethod | None]:
    """Return all scores of the same questions, and one method for their limits."""
    points, method = scored[0]
    for scores, limits in scored[1:]:
        points = join_scores(points, scores)
        if method is not None and limits is not None:
            method = PACKAGE.rooms.joined(method, limits, scores.keys)
    return points, method


# Any number is a category or a reward.
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
"""The names of scores in `include`, and as metrics."""


@shows_options(SharedOptions, SharedOptions)
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
    """Return what `compute` returns. The script of the metric documents the parameters."""
    common = SharedOptions(**shared)
    checking = common.checking()
    names = _SCORES_OF_CONSENSUS
    wanted = list(names) if include is None else include
    included, requested = included_scores(wanted, k, names, names)
    metrics = {score.metric for score in included}
    merge_right = check_flag("merge_right", merge_right)
    report = common.report(
        len(questions),
        known=("posterior", "sampling", "questions", "auto"),
        alpha0=alpha0,
        beta0=beta0,
        band=band,
    )
    options = report.options
    check_samples(requested or [], questions.n)

    checked = questions.check(checking)
    warn_of_stopping(checked.outcomes)
    consensus = Consensus.from_checked(checked, requested, merge_right, "vote@k" in metrics)
    if vote_weights is not None:
        weighted = PACKAGE.rooms.weighted_votes(checked, vote_weights, merge_right)
        consensus = replace(consensus, weighted=weighted)
    values = consensus.values()
    if include is not None:
        _check_included(metrics, {key.metric for key in values})
    values = {key: x for key, x in values.items() if is_included(key.metric, key.k, included)}
    rows, columns = np.arange(len(questions)), np.stack([*values.values()], axis=1)
    points = Scores(one_column_each(values), rows, columns)
    method: IntervalMethod | None = None
    if options.confidence is not None and options.method == "questions":
        method = QuestionIntervals(points, UNIT_RANGE, options.clusters, weights=options.weights)
    elif options.confidence is not None:
        method = PACKAGE.rooms.consensus_limits(consensus, options)
    return report.result(points, questions.n, method)


def _check_included(included: set[str], known: set[str]) -> None:
    """Raise a ValueError if the outcomes do not allow a score that is included."""
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


@shows_options(SharedOptions, SharedOptions)
def score_agg_results(
    questions: SampledQuestions,
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    weights: dict[str, float] = VERDICTS,
    **shared: Any,
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    labels = check_weights(weights)
    common = SharedOptions(**shared)
    checking = common.checking(labels)
    p, penalty, eps = exponent(temperature), check_penalty(penalty), check_eps(eps_for_neg_p)
    report = common.report(len(questions), known=("questions", "auto"))

    outcomes = questions.check(checking).outcomes
    points = agg_scores(outcomes, p, penalty, eps)
    method = limits_for_questions(points, "score_agg", report.options)
    return report.result(points, questions.n, method)


SCORE_AGG = Computation(
    score_agg_results, require_weights, accepts_labels=True, counts_suffice=False
)

COMPUTATIONS = {
    "gpassk": GPASSK,
    "bayes_at_n": BAYES_AT_N,
    "max_at_k": MAX_AT_K,
    "cons_at_k": CONS_AT_K,
    "score_agg": SCORE_AGG,
}
"""What each metric computes, by its name."""


# --- shared/at_k/core/metric.py -------------------------------------------------------------------

"""What the metrics have in common: how they fit into the protocol of `evaluate`."""


_computing: ContextVar[tuple[int, ...]] = ContextVar("_computing", default=())
"""The ids of the metric objects that compute, for the calls of their checkers in any thread."""


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    A question is a row: the list of its predictions, and its reference. Rows are parsed and
    validated when they are added, and kept until a `compute` succeeds: an error in `compute` loses
    nothing that was added before. One thread at a time adds or computes, and the others wait.

    With several processes, `compute` is a collective call: see `exchange`.
    """

    def __init__(self, *args, experiment_id: str | None = None, **kwargs):
        """The arguments are those of `evaluate.Metric`. The default experiment is the run."""
        run = experiment_id or PACKAGE.rooms.run_name()
        super().__init__(*args, experiment_id=run, **kwargs)
        self._lock = threading.Lock()
        self._exchange: Any = None
        if self.num_process > 1:
            self._exchange = PACKAGE.rooms.exchange(self)
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock, which cannot be pickled."""
        return vars(self) | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes, with a new lock."""
        self.__dict__.update(state, _lock=threading.Lock())

    computation: Computation
    """What the metric computes."""

    @staticmethod
    @abc.abstractmethod
    def _compute(questions: SampledQuestions):
        """Return the scores of questions: `computation.results`, whose parameters tools look at."""

    def _build_data_dir(self) -> str:
        """Return the folder for several processes. `Exchange` creates it, and only for several."""
        return str(Path(self._data_dir_root, self.name, self.config_name))

    def _forget(self) -> None:
        """Forget the questions that were added and the results of checks."""
        self._added: list[Samples] = []
        self._cache = CheckCache()

    def __len__(self) -> int:
        """The number of questions that were added."""
        return sum(map(len, self._added))

    # --- Adding ---------------------------------------------------------------------------

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference.

        Both names of each are accepted, as `evaluate` uses both.
        """
        samples = [value for value in (prediction, predictions) if value is not None]
        answers = [value for value in (reference, references) if value is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError("Give one prediction, the list of one question's samples.")
        self.add_batch(predictions=samples, references=answers or None)

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions and a reference for each of them.

        Outcomes that are categories are kept as counts.

        Raises:
            ValueError: if an input is invalid, with its index. Nothing is added then.
        """
        self._refuse_own_checker("add_batch")
        batch = self.computation.read(predictions, references)
        with self._lock:
            self._added = with_batch(self._added, batch, self.computation.counts_suffice)

    # --- Computing ------------------------------------------------------------------------

    def compute(
        self, *unnamed, predictions=None, references=None, **options
    ) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: if an input is invalid, with its index; questions are counted from the first
                that was added. What was added before is kept.
            TypeError: if an argument has no name.
        """
        if unnamed:
            raise TypeError(
                f"compute takes its arguments by name: give compute(predictions="
                f"{short(unnamed[0])}{', references=..' if len(unnamed) > 1 else ''})."
            )
        self._refuse_own_checker("compute")
        check_options(self.computation.results, options, ("predictions", "references"))
        ordered = self.computation.ordered_options(options)
        if ordered and (self._added or self._exchange is not None):
            raise ValueError(
                f"{ordered[0]} goes with the samples of one call, in their order: give all "
                f"predictions to compute, in one process, and add none before."
            )
        with self._lock:
            token = _computing.set((*_computing.get(), id(self)))
            try:
                read = partial(self._batches, predictions, references)
                score = partial(self._scores, options=options)
                result = self._exchange.compute(read, score) if self._exchange else score(read())
            finally:
                _computing.reset(token)
            self._forget()
        return result

    def _refuse_own_checker(self, method: str) -> None:
        """Raise an error if a checker of this object calls one of its methods.

        What it adds would be lost, and from another thread it would wait for ever.
        """
        if id(self) in _computing.get():
            raise ValueError(
                f"{method} was called by a checker of the same metric object: load another one."
            )

    def _batches(self, predictions, references) -> list[Samples]:
        """Return the questions that were added before, and these."""
        batches = [*self._added]
        if predictions is not None or references is not None:
            batches.append(self.computation.read(predictions, references))
            check_alike(batches[-1], batches[:-1])
        return batches

    def _scores(self, batches: list[Samples], options: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of the questions in all batches, for the options of `compute`."""
        if not batches:
            raise ValueError("There is nothing to compute: give or add predictions first.")
        questions = SampledQuestions(unite(batches), self.computation.validate, self._cache)
        with temp_seed(self.seed):
            return self.computation.results(questions, **options)
