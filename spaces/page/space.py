"""Define what the app of a Space describes: its texts, examples, options, scores and charts.

k is the number of samples that a score is about, and n the number of samples of a question. Each
worker process imports this module and the app that uses it, so it imports no large library.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import at_k
import numpy as np
from at_k.cli.score_tables import nouns_of
from at_k.core.estimates import Estimate
from at_k.results import Result

from .controls import Control

TITLES = {
    "gpassk": "G-Pass@k",
    "bayes_at_n": "Bayes@N",
    "max_at_k": "Max@k",
    "cons_at_k": "cons@k",
    "score_agg": "score_agg",
}
"""The headings of the pages, by the names of the metrics."""

CHECKERS = ("exact_match", "numeric", "choice", "math_verify")

Options = dict[str, Any]
"""The value of each control, by the name of its option."""

Show = Callable[[float], str]
"""A function that returns a score as HTML, in the unit of the page."""

Samples = dict[str, Any]
"""The predictions, and if there are any the references and groups, as `compute` takes them."""


@dataclass(frozen=True)
class Example:
    """Describe an example that a visitor can choose: a text, or files that the project ships."""

    name: str
    text: str = ""
    files: tuple[str, ...] = ()
    checker: str = "exact_match"
    options: Options = field(default_factory=dict)


def sample_file(name: str) -> str:
    """Return the path of a file of samples that the project ships."""
    return str(Path(at_k.__file__).parent / "samples" / name)


@dataclass(frozen=True)
class Call:
    """Describe a call of `compute`, or a sweep: one call for each value of a parameter.

    `arguments` that are None are dropped. `sweep` is the name of a parameter, and its values.
    """

    arguments: Mapping[str, Any]
    sweep: tuple[str, list[float]] | None = None

    def results(self, compute: Callable[..., Result]) -> Any:
        """Return what `compute` returns; of a sweep, a dict {value of the parameter: result}."""
        if self.sweep is None:
            return compute(**self.arguments)
        name, values = self.sweep
        return {value: compute(**self.arguments, **{name: value}) for value in values}


@dataclass(frozen=True)
class Chart:
    """Describe a chart as a call of a function of `at_k.charts`.

    Attributes:
        function: the name of the function that draws the chart.
        call: the name of the call of `compute` with the results to draw, or "comparison".
        arguments: further arguments of the function.
    """

    title: str
    caption: str
    function: str
    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleFile:
    """Hold the samples of a text or file.

    `label` is the name of the file without its ending, or "text". `file` is the name of the upload,
    or "text". `reading` has the arguments of `at_k.readers.run.read_run` that read it. `names` has
    the name of each question, or its number from 1 as text, and `texts` its text or "".
    """

    label: str
    file: str
    reading: Mapping[str, Any]
    samples: Samples
    names: list[str]
    texts: list[str]


@dataclass(frozen=True)
class Run(SampleFile):
    """Hold the samples of a text or file, and their scores.

    Attributes:
        rewards: for each question, a list of the reward of each sample: its outcome, or the reward
            of its category; None for a sample that is not scored.
        results: the scores of each call of `compute`, by the name of the call. Those of a sweep
            are a dict by the value of its parameter.
        is_binary: whether each sample is correct or incorrect, and has no reward.
    """

    rewards: list[list[float | None]]
    results: dict[str, Any]
    is_binary: bool

    @cached_property
    def sample_counts(self) -> np.ndarray:
        """Return an array with the number of scored samples of each question."""
        return np.array([len(row) - row.count(None) for row in self.rewards])

    @property
    def has_counts(self) -> bool:
        """Return whether the input has numbers of samples with each outcome or answer."""
        return isinstance(self.samples["predictions"], dict)

    def texts_of_samples(self, index: int) -> list[str]:
        """Return the text of each sample of a question, or "" if it is missing or only a number."""
        if self.has_counts:
            return [""] * len(self.rewards[index])
        # With references, samples are answers, which may be numbers. Without, numbers are outcomes.
        kinds = object if "references" in self.samples else str
        samples = self.samples["predictions"][index]
        return ["" if x is None or not isinstance(x, kinds) else str(x) for x in samples]

    def scores(self, call: str = "scores") -> Result:
        """Return the result of the call named `call`, which must not be a sweep."""
        return self.results[call]

    def estimate_of(self, metric: str, call: str = "scores") -> Estimate:
        """Return the first estimate of a metric, such as "avg@N", which `call` must have."""
        return next(x for x in self.scores(call).estimates if x.metric == metric)


@dataclass(frozen=True)
class Space:
    """Describe the page of one metric.

    Attributes:
        examples: the examples. The page opens with the first one, which has a text.
        compute_calls: a function that returns the calls of `compute` by name, given the options
            and the smallest n of all questions. The call named "scores" fills the table of scores.
            The page adds the checker, confidence and interval.
        clause: a function that returns the result of a run in words, as HTML, without a capital
            letter at the start and a full stop.
        main_scores: a function that returns the keys of the scores that a paper would report, the
            most important one first. Runs are compared by them.
        charts: a function that returns the charts of the runs. None stands for one that does not
            apply.
        compared_by_k: the score that is compared at all k of the call "by_k", or None.
    """

    metric: str
    summary: str
    examples: list[Example]
    controls: list[Control]
    compute_calls: Callable[[Options, int], dict[str, Call]]
    clause: Callable[[Run, Options, Show], str]
    main_scores: Callable[[Run, Options], list[str]]
    charts: Callable[[Sequence[Run], Options], list[Chart | None]]
    compared_by_k: str | None = None

    @property
    def defaults(self) -> Options:
        """Return the default of each option, as its control shows it."""
        return {control.name: control.value for control in self.controls}

    @property
    def nouns(self) -> tuple[str, str]:
        """Return what the page calls a question and a sample."""
        return nouns_of([self.metric])

    @property
    def has_references(self) -> bool:
        """Return whether samples can be checked against references, which verdicts cannot."""
        return self.metric != "score_agg"

    @property
    def has_binary_outcomes(self) -> bool:
        """Return whether outcomes of this metric can only be 0 or 1."""
        return self.metric in ("gpassk", "cons_at_k")

    def serve(self) -> None:
        """Serve the page and the API until the process ends."""
        from .interface import serve  # with large libraries, which worker processes do not need

        serve(self)
