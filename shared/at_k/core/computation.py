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
from .columns import check_types, sample_kind, stored
from .report import Report
from .samples import Labels, Samples, as_outcomes, read_samples
from .signatures import check_options, parameters_of

DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class SampledQuestions:
    """The samples of M questions, with what is needed to turn them into outcomes.

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
        """Return the validated outcomes of all samples, and the answers that the checker compared.

        Samples without references are outcomes already, or labels that `checking` has numbers for.

        Raises:
            ValueError: if a check fails, if the metric does not accept an outcome, or if a checker
                other than "exact_match" is given without references.
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
    """The computation of a metric.

    Args:
        results: a function of `SampledQuestions` and the parameters of the metric. It returns the
            flat dict of `compute`.
        validate: raises a ValueError for outcomes that the metric does not accept. The message has
            the index of the first one.
        accepts_labels: whether already-graded outcomes may be labels, for which a parameter of the
            metric has numbers.
        counts_suffice: whether the results do not depend on the order of the samples of a question,
            not even in the last digit.
        in_order: names of parameters that need all samples in one call of `compute`, in their
            order, because they have a value for each sample, for example.
    """

    results: Callable[..., Any]
    validate: Callable[[Samples], Any]
    accepts_labels: bool = False
    counts_suffice: bool = True
    in_order: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of the metric by name, without predictions and references."""
        parameters = parameters_of(self.results)
        del parameters["questions"]
        return parameters

    def ordered_options(self, options: Mapping[str, Any]) -> list[str]:
        """Return the names of given options in `in_order`, without dicts, which are counts."""
        values = {name: options.get(name) for name in self.in_order}
        return [name for name, x in values.items() if x is not None and not isinstance(x, Mapping)]

    def read(self, predictions, references) -> Samples:
        """Return the samples of all questions, from the arguments of `compute`.

        With references, or if they are texts that may be labels, the samples are stored in Arrow.
        Other samples are outcomes, which are validated. A ValueError is raised if an argument is
        invalid; its message has the index of the question.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        samples = read_samples(predictions)
        if references is not None:
            if samples.multiplicity is not None and samples.are_numbers:
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, such as {'answers': [['12', '13']], 'counts': [[5, "
                    "3]]}."
                )
            return stored(samples, references)
        if self.accepts_labels and not samples.are_numbers:
            # Texts may be labels. Their numbers are parameters of `compute`, which follow later.
            texts = stored(samples)
            if sample_kind(texts.values) == "texts":
                return texts
        check_types(samples)
        outcomes = as_outcomes(samples)
        self.validate(outcomes)
        return outcomes

    def samples(self, predictions, references, options: Mapping[str, Any]) -> SampledQuestions:
        """Return what `results` takes; raise a TypeError for an option that is no parameter."""
        check_options(self.results, options)
        batch = self.read(predictions, references)
        return SampledQuestions(batch, self.validate, CheckCache())

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the flat dict of scores for these predictions, references and parameters.

        Raises a ValueError or TypeError if an input is invalid. The message has its index.
        """
        return self.results(self.samples(predictions, references, options), **options)


# --- Parameters of all metrics --------------------------------------------------------------


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
        """Return the checker and its options. The checker may return these labels."""
        return Checking(self.check_correct_fn, self.num_proc, self.executor, self.timeout, labels)

    def report(self, questions: int, with_mu: bool = True, **own: Any) -> Report:
        """Return the `Report` that makes the dict of `compute` for M `questions`.

        All parameters are validated. `with_mu` is whether to add the centers of intervals, and
        `own` are further arguments of `interval_options`, which not all metrics have.
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
