"""Define a request to score samples, its answer, and the error that asks the visitor to choose."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from at_k.cli.formats import Scale
from at_k.core.checks import InputError

from .comparing import Comparison
from .space import CHECKERS, Call, Options, Run, Space

Reading = dict[str, Any]
"""What a visitor has chosen about samples: arguments of `read_run`, such as {"missing": "drop"}."""


class ChoiceError(InputError):
    """Say that samples can be read in several ways, and that the visitor has to choose one.

    `parts` are the pieces of the message: texts, or objects such as `Place`, as in `InputError`.

    Attributes:
        choices: the choices that the page offers, each as a reading.
        columns: the names of columns, if the visitor has to say what they hold; otherwise empty.
        asks_correct: whether the visitor has to say which outcomes are correct.
    """

    def __init__(
        self,
        *parts: Any,
        choices: Iterable[Reading] = (),
        columns: Iterable[str] = (),
        asks_correct: bool = False,
    ):
        super().__init__(*parts)
        self.choices, self.columns = tuple(choices), tuple(columns)
        self.asks_correct = asks_correct


@dataclass(frozen=True)
class Request:
    """Say what to score, and how. The samples are either a text or files.

    Attributes:
        space: the page of the metric.
        checker: the name of the checker. It is used if the samples have references.
        shown: the value of each control as the control shows it, by the name of its option.
        text: the samples as text.
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
        """Return a dict from each option to its value. Raise a ValueError if one is invalid."""
        return {
            control.name: control.parse(self.shown[control.name]) for control in self.space.controls
        }

    def fingerprint_of_samples(self) -> str:
        """Return a text that is equal only for requests with the same samples."""
        content = hashlib.sha256(self.text.encode(errors="replace"))
        for file in self.files:
            content.update(Path(file).name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
        return content.hexdigest()


@dataclass(frozen=True)
class Answer:
    """Hold the scores of a request, and how they were computed.

    Attributes:
        request: the request.
        runs: the runs with their scores.
        calls: the calls of `compute` that gave the scores, by name.
        options: the options that were used. k can be lower than its default.
        checker: the name of the checker, or None if the samples have no references.
        comparison: the differences between the runs, or None if there is one run or they cannot be
            compared.
        notes: sentences that say how the samples were read, and what to beware of.
    """

    request: Request
    runs: list[Run]
    calls: dict[str, Call]
    options: Options
    checker: str | None
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """Return the page of the metric."""
        return self.request.space

    @property
    def scale(self) -> Scale:
        """Return how the page prints scores: in percent, or rewards in their own unit."""
        estimates = [estimate for run in self.runs for estimate in run.scores().estimates]
        return Scale.of([x.metric for x in estimates], [x.score for x in estimates])

    @property
    def main_scores(self) -> list[str]:
        """Return the keys of the scores that a paper would report, the most important one first."""
        return self.space.main_scores(self.runs[0], self.options)


def make_request(space: Space, checker: str, options: Options, **samples: Any) -> Request:
    """Return a request for a Space, with defaults for the options that are not given.

    `options` are values as the controls show them, and `samples` are `text` or `files`, and if
    needed `reading`. Raise a ValueError if one of them is invalid.
    """
    if checker not in CHECKERS:
        raise ValueError(f"checker must be one of {', '.join(CHECKERS)}.")
    for name in options:
        if name not in space.defaults:
            known = ", ".join(space.defaults)
            raise ValueError(f"There is no option {name!r:.60}. The options are {known}.")
    request = Request(space, checker, space.defaults | options, **samples)
    _ = request.options  # a ValueError if one is invalid
    return request
