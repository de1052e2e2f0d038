"""The computation of a metric without the protocol of `evaluate`.

The metrics of `evaluate` and the command `at-k` both use it. The command does not import
`evaluate`, because that takes longer than most computations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .checking import Checked, Checking
from .columns import check_types, stored
from .samples import Samples, as_outcomes, read_samples
from .signatures import check_options, parameters_of

DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class SampledQuestions:
    """The samples of M questions, which `check` turns into outcomes.

    `validate` raises a ValueError for outcomes that the metric does not accept. `cache` has the
    results of earlier checks. If a check fails, the package adds finished ones.
    """

    batch: Samples
    validate: Callable[[Samples], Any]
    cache: dict[str, Any] = field(default_factory=dict)

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
        ValueError is raised if a check fails, or if the metric does not accept an outcome.
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
        results: returns the dict of `compute` from `SampledQuestions` and the parameters.
        validate: raises a ValueError for outcomes that the metric does not accept.
        accepts_labels: whether already-graded outcomes may be labels, for which a parameter of the
            metric has numbers.
        in_order: names of parameters with one value for each sample, in their order. All samples
            are then given in one call of `compute`.
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
        """Return the samples of all questions: answers to check, labels, or validated outcomes."""
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        samples = read_samples(predictions)
        if references is not None:
            if samples.are_counts and samples.are_numbers:
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, as {'answers': [['12', '13']], 'counts': [[5, 3]]}."
                )
            return stored(samples, references)
        are_texts = hasattr(samples.values, "chunks")  # a column of Arrow
        if self.accepts_labels and are_texts:  # Parameters of `compute` say what labels mean.
            return samples
        check_types(samples)
        outcomes = as_outcomes(samples)
        self.validate(outcomes)
        return outcomes

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the dict of scores for these predictions, references and parameters."""
        check_options(self.results, options)
        questions = SampledQuestions(self.read(predictions, references), self.validate)
        return self.results(questions, **options)
