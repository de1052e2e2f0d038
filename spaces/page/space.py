"""What a Space is: a description of one metric's page, without a line of its interface.

Everything here is light to import, because each worker process imports it too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

JUDGES = ("exact_match", "numeric", "math_verify")

Options = dict[str, Any]
"""The values of a page's controls, by name."""

Scores = dict[str, Any]
"""What `compute` returned."""


@dataclass(frozen=True)
class Slider:
    """A number that is moved; `of_samples` if it can be no more than each question has."""

    name: str
    label: str
    info: str
    least: float
    most: float
    step: float
    value: float
    of_samples: bool = False

    def read(self, value: Any) -> int | float:
        """The number, whole where the steps are; a ValueError if it is out of range."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not self.least <= value <= self.most:
            raise ValueError(f"{self.label} has to be from {self.least} to {self.most}.")
        if self.step != int(self.step):
            return round(float(value), 6)
        if value != int(value):
            raise ValueError(f"{self.label} has to be a whole number.")
        return int(value)


@dataclass(frozen=True)
class Line:
    """A line of text, and the function that reads a value out of it, or raises a ValueError."""

    name: str
    label: str
    info: str
    reader: Callable[[str], Any]
    value: str = ""

    def read(self, value: Any) -> Any:
        if not isinstance(value, str) or len(value) > 500:
            raise ValueError(f"{self.label} has to be a line of at most 500 characters.")
        return self.reader(value.strip())


def numbers(text: str) -> list[float] | None:
    """Numbers between commas, or None for none."""
    if not text:
        return None
    try:
        values = [float(part) for part in re.split(r"[,;\s]+", text.strip(",; "))]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        raise ValueError(f"Give numbers with commas between them, such as 0, 0.5, 1: not {text!r}.")
    return values


def words(text: str) -> list[str] | None:
    """Words between commas, or None for none."""
    return [part.strip() for part in text.split(",") if part.strip()] or None


def word(text: str) -> str | None:
    """The text, or None for an empty one."""
    return text or None


@dataclass(frozen=True)
class Example:
    """What a button puts on the page: a table, or files that ship with the Space."""

    name: str
    table: list[list[str]] | None = None
    files: tuple[str, ...] = ()
    judge: str = "exact_match"
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One call of `compute`; with `over`, one for each value of a parameter."""

    arguments: Mapping[str, Any]
    over: tuple[str, list[float]] | None = None


@dataclass(frozen=True)
class Bank:
    """The samples of one table, text or file, and what the calls made of them."""

    label: str
    sizes: list[int]
    results: dict[str, Any]
    """For each call its scores, or the list of them where it was made over values."""

    def scores(self, call: str = "scores") -> Scores:
        return self.results[call]

    def key(self, start: str, call: str = "scores") -> str:
        """The key that starts so, whatever number of samples stands behind it."""
        return next(key for key in self.scores(call) if key.startswith(start))

    def row(self, call: str, key: str, **columns: Any) -> dict[str, Any]:
        """A row of a picture's data: a score, the ends of its band if it has one, and columns."""
        scores = self.scores(call)
        ends = {"lo": f"{key}_lo", "hi": f"{key}_hi"}
        band = {end: scores[name] for end, name in ends.items() if name in scores}
        return {"bank": self.label, "score": scores[key], **band, **columns}

    def groups(self, call: str = "scores") -> list[str]:
        """The groups that there are scores of."""
        keys = [key for key in self.scores(call) if "/" in key]
        return list(dict.fromkeys(key.rpartition("/")[0] for key in keys))


@dataclass(frozen=True)
class Picture:
    title: str
    caption: str
    spec: dict[str, Any]
    """Of Vega-Lite, as `pictures` makes it."""


@dataclass(frozen=True)
class Space:
    """One metric's page."""

    metric: str
    title: str
    lead: str
    """What the metric says, in a sentence or two."""
    about: str
    """Markdown: what there is to know, with formulas."""
    headers: list[str]
    """Of the table: the columns before the samples."""
    examples: list[Example]
    """The first is a table, and what the page starts with."""
    controls: list[Slider | Line]
    calls: Callable[[Options, int], dict[str, Call]]
    """The calls of `compute`, for the least number of samples that a question has; the one named
    "scores" gives the table of numbers."""
    sentence: Callable[[list[Bank], Options], str]
    """What the numbers mean, in plain text; figures such as 12 % are set off by the page."""
    pictures: tuple[Callable[[list[Bank], Options], Picture], ...]
    row: str = "question"
    """What a row of the table is, and .."""
    cell: str = "sample"
    """.. what a cell."""
    judged: bool = True
    """Whether samples can be judged against references."""
    most_files: int = 2


def percent(share: float) -> str:
    """12 %, or 0.4 % and 99.6 % near the ends, which are not to be taken for them."""
    per_cent = 100 * share
    near_an_end = 0 < per_cent < 1 or 99 < per_cent < 100
    return f"{per_cent:.1f} %" if near_an_end else f"{per_cent:.0f} %"


def figure(value: float, in_share: bool = False) -> str:
    """A score as the sentence has it: a share of something, or a number of its own unit."""
    return percent(value) if in_share else f"{round(value, 3) + 0.0:.3f}"  # and not -0.000


def draws_up_to(most: int, points: int = 24) -> list[int]:
    """Numbers of draws for a curve: all of them, or if they are many about as many of each size."""
    if most <= points:
        return list(range(1, most + 1))
    ratio = most ** (1 / (points - 1))
    return sorted(
        {round(ratio**i) for i in range(points)} | {2**i for i in range(most.bit_length())}
    )
