"""A metric without the protocol of `evaluate`: what `compute` returns for samples.

The metrics of `evaluate` and the command both compute with this. Importing `evaluate` takes longer
than most computations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checking import CheckCache, Checked, Checker, Checking
from .choice import interval_options, question_weighting
from .columns import check_types, sample_kind, stored
from .report import Report
from .samples import Labels, Samples, as_outcomes, read_samples
from .signatures import check_options, parameters_of

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
        """Return (M,) the number of samples of each question that are not None."""
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
