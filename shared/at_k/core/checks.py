"""Validation of parameters, and errors about input.

A function `check_x` raises a ValueError unless a parameter is valid, and most return it as a plain
Python value. `name` is that of the parameter in the message. A "page" is a web page that shows a
metric.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

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
