"""A request to score samples, and its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from at_k.core.checks import InputError

from .comparing import Comparison
from .space import CHECKERS, Call, Options, Run, Space

MAX_SAMPLES_PER_QUESTION = 512

Reading = dict[str, Any]
"""Arguments of `at_k.read` that a visitor has chosen, such as {"missing": "drop"}."""


class ChoiceError(InputError):
    """Samples that can be read in several ways: a visitor has to choose one.

    Attributes:
        ways: the ways to choose from, each as arguments of `at_k.read`.
        columns: the columns to choose from, if the visitor has to say what they hold; or none.
        asks_correct: whether the visitor has to say which outcomes are correct.
    """

    def __init__(
        self,
        parts: Iterable[Any],
        ways: Iterable[Reading] = (),
        columns: Iterable[str] = (),
        asks_correct: bool = False,
    ):
        super().__init__(*parts)
        self.ways, self.columns, self.asks_correct = tuple(ways), tuple(columns), asks_correct

    def __reduce__(self) -> Any:
        return type(self), (self.args, self.ways, self.columns, self.asks_correct)


@dataclass(frozen=True)
class Request:
    """What to score, and how. The samples are either a text or files.

    Attributes:
        space: the page of the metric.
        checker: the name of the checker. It is used if the samples have references.
        shown: the value of each control as it shows it, by its name.
        text: what was pasted.
        files: the paths of uploaded files.
        reading: what the visitor has chosen about these samples.
    """

    space: Space
    checker: str
    shown: Options
    text: str = ""
    files: tuple[str, ...] = ()
    reading: Reading = field(default_factory=dict)

    @cached_property
    def options(self) -> Options:
        """What the value of each control stands for; a ValueError if one is invalid."""
        return {
            control.name: control.parse(self.shown[control.name]) for control in self.space.controls
        }

    def fingerprint_of_samples(self) -> str:
        """Return a text that is equal for requests with the same samples."""
        content = hashlib.sha256(self.text.encode(errors="replace"))
        for file in self.files:
            content.update(Path(file).name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
        return content.hexdigest()


@dataclass(frozen=True)
class Answer:
    """The scores of a request, and how they were computed.

    Attributes:
        runs: the runs with their scores.
        calls: the calls of `compute` that gave the scores, by name.
        options: the options that were used. k can be lower than requested.
        reading: what the visitor has chosen about the samples.
        checker: the name of the checker, or None if the samples have no references.
        questions: the name of each question, or its number from 1.
        texts: the text of each question, or "" if the samples do not have it.
        comparison: the differences between the runs, or None if there is one run or they cannot be
            compared.
        notes: sentences that say how the samples were read, and what to beware of.
    """

    runs: list[Run]
    calls: dict[str, Call]
    options: Options
    reading: Reading
    checker: str | None
    questions: list[str]
    texts: list[str]
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()


def make_request(space: Space, checker: str, options: Options, **samples: Any) -> Request:
    """Return a request for a Space, with defaults for the options that are not given.

    Args:
        space: the description of the Space.
        checker: the name of the checker.
        options: the values of controls, by their names.
        **samples: one of `text` and `files`, and if needed `reading`, as in `Request`.

    Raises:
        ValueError: if there is no such checker or option, or the value of an option is invalid.
    """
    if checker not in CHECKERS:
        raise ValueError(f"checker must be one of {', '.join(CHECKERS)}.")
    shown = {control.name: control.value for control in space.controls}
    for name in options:
        if name not in shown:
            known = ", ".join(shown)
            raise ValueError(f"There is no option {name!r:.60}. The options are {known}.")
    shown |= options
    for control in space.controls:
        control.parse(shown[control.name])  # a ValueError if it is invalid
    return Request(space, checker, shown, **samples)
