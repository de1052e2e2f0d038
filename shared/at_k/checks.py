"""Checks of parameters: each raises a ValueError that says what would be right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

_MOST_DRAWS = 1_000_000
_ABOVE_0 = math.ulp(0.0)
_BELOW_1 = math.nextafter(1.0, 0.0)


def short(value, most: int = 60) -> str:
    """What a message shows of a value, which may be long."""
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[:most]}.."


def is_masked(values) -> bool:
    """Whether it is a masked array of NumPy: np.ma, which could tell, takes long to import."""
    return isinstance(values, np.ndarray) and hasattr(values, "mask")


def is_list_like(value) -> bool:
    """Whether a value is a collection of others, and no text or dict."""
    if isinstance(value, (list, tuple)):  # told at once, as most are
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict))


def as_list(name: str, value) -> list[Any]:
    """A parameter of one or more values."""
    values = list(value) if is_list_like(value) else [value]
    if not values:
        raise ValueError(f"{name} is empty: give at least one.")
    return values


def check_names(name: str, names: str | Iterable[str], known: Iterable[str]) -> list[str]:
    """The names asked for, each of them known."""
    asked, known = as_list(name, names), list(known)
    for each in asked:
        if each not in known:
            raise ValueError(f"{name} has {short(each)}, which is none of {', '.join(known)}.")
    return asked


def check_categories(categories) -> dict[str, float] | None:
    """Labels of the categories 0, 1, .., in order, as the numbers they stand for."""
    if categories is None:
        return None
    labels = as_list("categories", categories)
    for place, label in enumerate(labels):
        if not isinstance(label, str) or label in labels[:place]:
            raise ValueError(
                f"categories[{place}] is {short(label)}: give each category a text of its own."
            )
    return {label: category for category, label in enumerate(labels)}


def check_number(name: str, value, wanted: str, least: float, most: float) -> float:
    """A number from least to most."""
    number = math.nan
    # Floats and integers first: these Python tells at once.
    if isinstance(value, (float, int, Real)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # of an integer that no double can hold
            number = math.nan
    if not least <= number <= most:
        raise ValueError(f"{name} is {short(value)}: {wanted}.")
    return number


def check_flag(name: str, value) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {short(value)}: give True or False.")
    return bool(value)


def check_positive(name: str, value, wanted: str, most: float) -> float:
    """A number above 0, and at most `most`."""
    return check_number(name, value, wanted, _ABOVE_0, most)


def check_confidence(confidence) -> float:
    """A probability between 0 and 1, both excluded."""
    wanted = "give a probability between 0 and 1, such as 0.95"
    return check_number("confidence", confidence, wanted, _ABOVE_0, _BELOW_1)


def check_bounds(bounds) -> tuple[float, float]:
    """Where an interval is clipped: (lo, hi), or anywhere for None."""
    if bounds is None:
        return -math.inf, math.inf
    wanted = "give (lo, hi) with lo <= hi, or None"
    ends = as_list("bounds", bounds)
    if len(ends) != 2:
        raise ValueError(f"bounds are {short(bounds)}: {wanted}.")
    lo = check_number("The first of bounds", ends[0], wanted, -math.inf, math.inf)
    return lo, check_number("The second of bounds", ends[1], wanted, lo, math.inf)


def check_k(k, n: np.ndarray | None = None) -> int:
    """A number of draws: at least 1, and at most the n of every question where n is given."""
    whole = isinstance(k, (int, Integral)) and not isinstance(k, bool)
    if not whole or not 1 <= k <= _MOST_DRAWS:
        raise ValueError(
            f"k is {short(k)}: the number of draws is a positive integer, a million at most."
        )
    if n is not None:
        _check_enough([k], n)
    return int(k)


def _check_enough(draws: list[int], n: np.ndarray) -> None:
    least = n.min()
    for k in draws:
        if k > least:
            question = int(np.argmax(n < k))
            raise ValueError(
                f"k is {k}, but question {question} has n = {n[question]} scored samples: "
                f"no {k} of them can be drawn without replacement."
            )


def choose_k(k, default: Sequence[int], n: np.ndarray, beyond: bool = False) -> list[int]:
    """The k asked for, one or a list; or those of the default that every question allows.

    Where `beyond` holds, a k that is asked for may be larger than n.
    """
    if k is not None:
        draws = list(dict.fromkeys(check_k(each) for each in as_list("k", k)))
        if not beyond:
            _check_enough(draws, n)
        return draws
    least = n.min()
    if chosen := [each for each in default if each <= least]:
        return chosen
    question = int(np.argmin(n))
    raise ValueError(
        f"Question {question} has n = {n[question]} scored samples, fewer than every default k "
        f"({', '.join(map(str, default))}): give a k of at most n."
    )
