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
import pyarrow as pa

from ..inputs.batches import Batch, parse_rows
from ..inputs.columns import flat_samples
from ..inputs.counts import BinaryCounts
from ..inputs.graded import Labels, graded_outcomes
from ..inputs.outcomes import Outcomes
from ..inputs.pairs import FinishedChecks
from ..inputs.run_checker import Checker, outcomes_of, validate_checker

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
    def given(self) -> np.ndarray:
        """(M,) the number of samples of each question that are not None."""
        return self.batch.given

    @property
    def values(self) -> pa.ChunkedArray:
        """(S,) the samples of all questions."""
        return flat_samples(self.batch.table()["predictions"])[0]

    def has_references(self) -> bool:
        """Whether there are references to check the samples against."""
        return self.batch.has_references()

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
        validate_checker(check_correct_fn, num_proc, executor, timeout)  # also if it is not used
        if self.batch.is_graded() and check_correct_fn == "exact_match":
            return self.batch.data
        rows = self.batch.table()
        return self.validate(
            outcomes_of(
                rows["predictions"],
                rows["references"],
                check_correct_fn,
                num_proc,
                executor,
                timeout,
                labels,
                self.finished,
            )
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
        return self.graded(parse_rows(predictions, references))

    def graded(self, rows: pa.Table) -> Batch:
        """Read the outcomes of rows that are already graded."""
        batch = Batch(rows)
        if batch.has_references() or (self.accepts_labels and batch.sample_kind() == "texts"):
            return batch
        return Batch(self.validate(graded_outcomes(rows["predictions"])))

    def compute(self, *, predictions, references=None, **options: Any) -> dict[str, Any]:
        """Return the scores of these questions.

        Raises:
            ValueError: if an input is invalid, with its place.
        """
        self.check_options(options)
        samples = Samples(self.read(predictions, references), self.validate, FinishedChecks())
        return self.results(samples, **options)
