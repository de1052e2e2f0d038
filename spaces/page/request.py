"""A request to score samples, and its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from at_k.core.checks import InputError
from at_k.runs.comparison import Difference, differences_in

from .controls import Slider
from .space import CHECKERS, Call, Options, Run, Space

Samples = dict[str, Any]
"""The predictions, and if there are any the references and groups, as `compute` takes them."""


class ColumnError(InputError):
    """No column has a usual name, or rows can be read in several ways.

    Attributes:
        columns: the columns to choose from.
        rows: the rows to choose from, such as "filter=strict"; or none.
    """

    def __init__(self, parts: Iterable[Any], columns: Iterable[str], rows: Iterable[str] = ()):
        super().__init__(*parts)
        self.columns, self.rows = tuple(columns), tuple(rows)

    def __reduce__(self) -> Any:
        return type(self), (self.args, self.columns, self.rows)


@dataclass(frozen=True)
class Request:
    """What to score, and how. The samples are given as one of a table, a text, and files.

    Attributes:
        space: the page of the metric.
        checker: the name of the checker. It is used if the samples have references.
        options: the value of each control, by its name.
        raw_options: the same before they were parsed, as the controls show them.
        table: a list of rows. The first one has the headers.
        text: JSON Lines, JSON or CSV.
        files: the paths of uploaded files.
        columns: the column of each role that a visitor has chosen, such as "predictions"; and for
            "where", the rows to read, such as "filter=strict".
        reading: how tables in texts and files are read, one of `READINGS`.
    """

    space: Space
    checker: str
    options: Options
    raw_options: Options
    table: list[list[Any]] | None = None
    text: str = ""
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    reading: str = ""

    @property
    def limited_options(self) -> list[str]:
        """The options that can be at most the number of samples per question."""
        return [
            control.name
            for control in self.space.controls
            if isinstance(control, Slider) and control.limited_by_samples
        ]

    def fingerprint(self) -> str:
        """Return a text that is equal for requests with the same answer."""
        content = hashlib.sha256()
        for file in self.files:
            content.update(Path(file).name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
        given = (self.checker, self.options, self.table, self.text, self.columns, self.reading)
        content.update(repr(given).encode(errors="replace"))
        return content.hexdigest()


@dataclass(frozen=True)
class Progress:
    """How many of the distinct samples of a run are checked, and the seconds that are left."""

    checked: int
    total: int
    seconds_left: float


@dataclass(frozen=True)
class Comparison:
    """The differences between the scores of runs.

    Attributes:
        sentence: the result in words.
        interval: the interval method of the differences.
        key: the key of the score that is compared, at the selected k.
        differences: for two runs, what `at_k.compare` returns for each measure of the Space.
        board: for more runs, what `at_k.leaderboard` returns; otherwise None.
        arguments: the arguments of `at_k.compare` for each measure, or of `at_k.leaderboard`.
    """

    sentence: str
    interval: str
    key: str
    differences: Sequence[Mapping[str, float]]
    board: dict[str, Any] | None
    arguments: list[dict[str, Any]]

    @property
    def differences_of_measures(self) -> list[list[Difference]]:
        """The differences of two runs as records, for each measure."""
        return [differences_in(scores) for scores in self.differences]


@dataclass(frozen=True)
class Questions:
    """The questions of an answer, and how their samples were checked.

    Attributes:
        names: the name of each question, or its number from 1.
        texts: the text of each question, or "" if the samples do not have it.
        outcomes: for each run, the outcome of each sample of each question; None if it is not
            scored. Of counts, they are in no particular order.
    """

    names: list[str]
    texts: list[str]
    outcomes: dict[str, list[list[float | None]]]


@dataclass(frozen=True)
class Answer:
    """The scores of a request, and how they were computed.

    Attributes:
        runs: the runs with their scores.
        calls: the calls of `compute` that gave the scores, by name.
        options: the options that were used. Those that are limited by the number of samples may be
            lower than requested.
        samples: the samples of each run, by its label.
        checker: the name of the checker, or None if the samples have no references.
        questions: the questions and the outcomes of their samples.
        comparison: the differences between the runs, or None if there is one run or they cannot be
            compared.
        warnings: what `compute` warned of, without repetitions; and why runs are not compared.
    """

    runs: list[Run]
    calls: dict[str, Call]
    options: Options
    samples: dict[str, Samples]
    checker: str | None
    questions: Questions
    comparison: Comparison | None = None
    warnings: tuple[str, ...] = ()


def make_request(space: Space, checker: str, options: Options, **samples: Any) -> Request:
    """Return a request for a Space, with defaults for the options that are not given.

    Args:
        space: the description of the Space.
        checker: the name of the checker.
        options: the values of controls, by their names.
        **samples: one of `table`, `text` and `files`, and if needed `columns` and `reading`, as in
            `Request`.

    Raises:
        ValueError: if there is no such checker or option, or the value of an option is invalid.
    """
    if checker not in CHECKERS:
        raise ValueError(f"The checker must be one of {', '.join(CHECKERS)}.")
    controls = {control.name: control for control in space.controls}
    for name in options:
        if name not in controls:
            known = ", ".join(controls)
            raise ValueError(f"There is no option {name!r:.60}. The options are {known}.")
    raw = {name: options.get(name, control.value) for name, control in controls.items()}
    values = {name: control.parse(raw[name]) for name, control in controls.items()}
    return Request(space, checker, values, raw, **samples)
