"""The description of a Space: its texts, examples and controls, and how they lead to charts.

Each worker process imports this module and the app that uses it, so it imports no large library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import at_k
import numpy as np
from at_k.core.credits import required_samples as required_samples
from at_k.core.estimates import Estimate
from at_k.results import Result

from .charts import Chart
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
"""The value of each control, by its name."""

Samples = dict[str, Any]
"""The predictions, and if there are any the references and groups, as `compute` takes them."""


@dataclass(frozen=True)
class Example:
    """An example that a visitor can choose.

    Attributes:
        name: what it is called.
        text: the samples as text.
        files: the names of files of samples that the project ships, instead of a text.
        checker: the name of the checker.
        options: the options that differ from their defaults.
    """

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
    """The arguments of a call of `compute`, or of a sweep: one call for each value of a parameter.

    Attributes:
        arguments: the arguments by name, without the samples.
        sweep: the name of a parameter and its values, or None for a single call.
    """

    arguments: Mapping[str, Any]
    sweep: tuple[str, list[float]] | None = None


@dataclass(frozen=True)
class Run:
    """A set of samples and its scores.

    Attributes:
        label: the name of the file without its ending, or "text".
        file: the name of the file.
        reading: the arguments of `at_k.read` that read it.
        samples: the samples.
        rewards: for each question the outcome of each sample, or the reward of its category; None
            if it is not scored. Of counts, they are in no particular order.
        results: the scores of each call by its name; of a sweep, by the values of its parameter.
        is_binary: whether a sample is correct or not, and has no reward.
    """

    label: str
    file: str
    reading: Mapping[str, Any]
    samples: Samples
    rewards: list[list[float | None]]
    results: dict[str, Any]
    is_binary: bool

    @cached_property
    def sample_counts(self) -> np.ndarray:
        """(M,) the number of scored samples of each question."""
        return np.array([len(row) - row.count(None) for row in self.rewards])

    def scores(self, call: str = "scores") -> Result:
        """Return the scores of a call."""
        return self.results[call]

    def estimates(self, call: str = "scores") -> Sequence[Estimate]:
        """Return the scores of a call as records."""
        return self.scores(call).estimates

    def estimate_of(self, metric: str, call: str = "scores") -> Estimate:
        """Return the first score of a metric, such as "avg@N"."""
        return next(x for x in self.estimates(call) if x.metric == metric)


@dataclass(frozen=True)
class Space:
    """The page of one metric.

    Attributes:
        metric: the name of the metric.
        summary: what the metric measures, in one or two sentences.
        about: the definition of the metric, in Markdown with formulas.
        examples: the page opens with the first one, which has a text.
        controls: the options of the page.
        calls: returns the calls of `compute` by name, given the options and the smallest number n
            of samples of a question. The call named "scores" fills the table of scores. The page
            adds the checker, and the confidence and the interval unless it is a sweep.
        measures: returns the scores by which runs are compared, as arguments of `at_k.compare`,
            given the options, the smallest n, and whether samples were checked. The page adds the
            checker, the confidence and the interval. The first one is in the sentence and the chart
            of a comparison.
        clause: returns the result of a run in words, as plain text without a capital letter and a
            full stop. The page emphasizes numbers in it.
        main_scores: returns the keys of the scores that a paper would report, the most important
            first. The limits in words are theirs, and they are first in the table of scores.
        charts: functions that return the charts, or None for one that these runs do not have.
        is_repeated: whether a score equals another one in the table by its definition; None if
            none does.
        row_noun: what a question is called.
        cell_noun: what a sample is called.
        has_references: whether samples can be checked against references.
    """

    metric: str
    summary: str
    about: str
    examples: list[Example]
    controls: list[Control]
    calls: Callable[[Options, int], dict[str, Call]]
    measures: Callable[[Options, int, bool], list[dict[str, Any]]]
    clause: Callable[[Run, Options], str]
    main_scores: Callable[[Run, Options], list[str]]
    charts: tuple[Callable[[Sequence[Run], Options], Chart | None], ...]
    is_repeated: Callable[[Estimate], bool] | None = None
    row_noun: str = "question"
    cell_noun: str = "sample"
    has_references: bool = True

    @property
    def has_binary_outcomes(self) -> bool:
        """Whether an outcome is 0 or 1, and no reward or verdict."""
        return self.metric in ("gpassk", "cons_at_k")
