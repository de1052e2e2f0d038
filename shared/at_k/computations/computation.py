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

from ..inputs.batches import Batch
from ..inputs.columns import check_types, sample_kind, stored
from ..inputs.counts import BinaryCounts
from ..inputs.outcomes import Labels, Outcomes, outcomes_of
from ..inputs.pairs import FinishedChecks
from ..inputs.rows import Rows, read_rows
from ..inputs.run_checker import Checker, run_checker, validate_checker

DEFAULT_K = (4, 8, 16)


@dataclass(frozen=True)
class Samples:
    """The samples of M questions, and how they become outcomes.

    Args:
        batch: the questions.
        validate: see `Computation`.
        finished: the results of checks before, which gets those of a run that fails.
    """

    batch: Batch
    validate: Callable[[Outcomes], Any]
    finished: FinishedChecks

    def __len__(self) -> int:
        """M."""
        return len(self.batch)

    @property
    def n(self) -> np.ndarray:
        """(M,) the number of samples of each question that are not None."""
        return self.batch.n

    @property
    def values(self) -> Any:
        """(S,) the samples of all questions, which are to be checked."""
        assert isinstance(self.batch, Rows)
        return self.batch.values

    def has_references(self) -> bool:
        """Whether there are references to check the samples against."""
        return isinstance(self.batch, Rows) and self.batch.references is not None

    def outcomes(
        self,
        check_correct_fn: Checker,
        num_proc: int | None,
        executor: Executor | None,
        timeout: float | None = None,
        labels: Labels | None = None,
    ) -> Any:
        """Return the validated outcomes of all questions.

        Args:
            check_correct_fn: what to check samples with.
            num_proc: number of processes to check in.
            executor: an executor to check in.
            timeout: seconds that a check may take.
            labels: labels that stand for outcomes, and the number of each.
        """
        batch = self.batch
        validate_checker(check_correct_fn, num_proc, executor, timeout)  # also if it is not used
        if not self.has_references() and check_correct_fn != "exact_match":
            raise ValueError(
                "check_correct_fn is given, but there are no references to check against: without "
                "references, predictions are outcomes."
            )
        if not isinstance(batch, Rows):
            return batch
        if batch.references is None:
            return self.validate(outcomes_of(batch, labels))
        return self.validate(
            run_checker(batch, check_correct_fn, num_proc, executor, timeout, labels, self.finished)
        )


@dataclass(frozen=True)
class Computation:
    """What a metric computes.

    Args:
        results: a function of `Samples` and the parameters of the metric that returns the flat
            dict of `compute`.
        validate: returns the outcomes, or the counts that the scores depend on. It raises a
            ValueError for an outcome that the metric does not accept, with its place.
        counts_suffice: whether the results do not depend on the order of the samples of a question,
            not even in the last digit.
        accepts_labels: whether already-graded outcomes may be labels, whose numbers are parameters
            of the metric.
    """

    results: Callable[..., dict[str, Any]]
    validate: Callable[[Outcomes], Outcomes | BinaryCounts]
    accepts_labels: bool = False
    counts_suffice: bool = True

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the metric, beside predictions and references."""
        parameters = dict(inspect.signature(self.results, eval_str=True).parameters)
        del parameters["samples"]
        return parameters

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise a TypeError if one of the options is not a parameter."""
        inspect.signature(self.results).bind(None, **options)

    def read(self, predictions, references) -> Batch:
        """Read questions, and outcomes that are already graded.

        Raises:
            ValueError: if an input is invalid, with its place.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        rows = read_rows(predictions)
        if references is not None:
            if rows.multiplicity is not None and rows.are_numbers():
                raise ValueError(
                    "predictions are counts, which are already graded: leave out references, or "
                    "give counts of answers, such as {'answers': [['12', '13']], 'counts': [[5, "
                    "3]]}."
                )
            return stored(rows, references)
        if self.accepts_labels and not rows.are_numbers():
            texts = stored(rows)
            if sample_kind(texts.values) == "texts":
                return texts
        check_types(rows)
        return self.validate(outcomes_of(rows))

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the scores of these questions.

        Raises:
            ValueError: if an input is invalid, with its place.
        """
        self.check_options(options)
        samples = Samples(self.read(predictions, references), self.validate, FinishedChecks())
        return self.results(samples, **options)
