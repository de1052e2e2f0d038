"""The computation of a metric without the protocol of `evaluate`.

The metrics of `evaluate` and the command `at-k` both use it. The command does not import
`evaluate`, because that takes longer than most computations.
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
from .columns import check_types, stored
from .report import Report
from .samples import Labels, Samples, as_outcomes, read_samples
from .signatures import check_options, parameters_of

DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class SampledQuestions:
    """The samples of M questions, which `check` turns into outcomes.

    Args:
        batch: the samples.
        validate: raises a ValueError for outcomes that the metric does not accept.
        cache: the results of earlier checks. If a check fails, the finished ones are added.
    """

    batch: Samples
    validate: Callable[[Samples], Any]
    cache: CheckCache

    def __len__(self) -> int:
        """Return M, the number of questions."""
        return len(self.batch)

    @property
    def n(self) -> np.ndarray:
        """Return the number of samples of each question that are not None, (M,)."""
        return self.batch.n

    def check(self, checking: Checking) -> Checked:
        """Return the outcomes of all samples, and the answers that the checker compared, if any.

        Samples without references are outcomes, or labels whose numbers are in `checking.labels`. A
        ValueError is raised if a check fails, if the metric does not accept an outcome, or if a
        checker other than "exact_match" is given without references.
        """
        batch = self.batch
        if batch.references is not None:
            checked = checking.check(batch, self.cache)
            self.validate(checked.outcomes)
            return checked
        if not checking.matches_exactly:
            raise ValueError(
                "check_correct_fn is given, but there are no references to check against: give "
                "references; or leave it out, if predictions are outcomes."
            )
        if not batch.are_numbers:  # numbers were validated when they were read
            batch = as_outcomes(batch, checking.labels)
            self.validate(batch)
        return Checked(batch)


@dataclass(frozen=True)
class Computation:
    """The functions that compute a metric, and what outcomes it accepts.

    Args:
        results: a function of `SampledQuestions` and the parameters of the metric. It returns the
            dict of `compute`, which has a number for each key.
        validate: raises a ValueError for outcomes that the metric does not accept. The message has
            the index of the first one.
        accepts_labels: whether already-graded outcomes may be labels, for which a parameter of the
            metric has numbers.
        in_order: names of parameters that refer to samples by their order, for example with a value
            for each sample. All samples are then given in one call of `compute`.
    """

    results: Callable[..., Any]
    validate: Callable[[Samples], Any]
    accepts_labels: bool = False
    in_order: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of the metric by name, without predictions and references."""
        parameters = parameters_of(self.results)
        del parameters["questions"]
        return parameters

    def ordered_options(self, options: Mapping[str, Any]) -> list[str]:
        """Return the names in `in_order` whose option is given, and is no dict of counts."""
        no_order = (type(None), Mapping)
        return [name for name in self.in_order if not isinstance(options.get(name), no_order)]

    def read(self, predictions, references) -> Samples:
        """Return the samples of all questions, from the arguments of `compute`.

        Samples with references, and texts that may be labels, are stored in Arrow. Other samples
        are outcomes, which are validated. A ValueError is raised if an argument is invalid; its
        message has the index of the question.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        samples = read_samples(predictions)
        if references is not None:
            if samples.are_counts and samples.are_numbers:
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, such as {'answers': [['12', '13']], 'counts': [[5, "
                    "3]]}."
                )
            return stored(samples, references)
        if self.accepts_labels and hasattr(samples.values, "chunks"):
            # Texts may be labels. Their numbers are parameters of `compute`, which follow later.
            return samples
        check_types(samples)
        outcomes = as_outcomes(samples)
        self.validate(outcomes)
        return outcomes

    def samples(self, predictions, references, options: Mapping[str, Any]) -> SampledQuestions:
        """Return the samples as the object that `results` takes, before answers are checked.

        Raises TypeError if an option is no parameter of `results`, and ValueError as `read` does.
        """
        check_options(self.results, options)
        batch = self.read(predictions, references)
        return SampledQuestions(batch, self.validate, CheckCache())

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the dict of scores for these predictions, references and parameters.

        Raises a ValueError or TypeError if an input is invalid.
        """
        return self.results(self.samples(predictions, references, options), **options)


@dataclass
class SharedOptions:
    """The parameters that all metrics have. The scripts of the metrics document them."""

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

    def __post_init__(self) -> None:
        """Leave out `KnownClusters` unless limits use them."""
        # A script with its own kernel has another class, so the attribute is what counts.
        is_optional = getattr(self.clusters, "is_optional", False)
        if is_optional and (self.confidence is None or self.interval != "questions"):
            self.clusters = None

    def checking(self, labels: Labels | None = None) -> Checking:
        """Return the `Checking` of these options; `labels` are those that a checker may return."""
        return Checking(self.check_correct_fn, self.num_proc, self.executor, self.timeout, labels)

    def report(self, questions: int, with_mu: bool = True, **own: Any) -> Report:
        """Return the `Report`, which makes the dict of `compute`. All options are validated.

        `questions` is M, `with_mu` is whether to add the centers of intervals, and `own` are
        arguments of `interval_options` that not all metrics have.
        """
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
