"""What the metrics share: questions go in, scores come out as one flat dict."""

from __future__ import annotations

import abc
import inspect
import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa

from .columns import label_index, numbers_for_bools, prediction_column, reference_column
from .draws import Credits, Prior, expected, variance
from .interval import check_confidence, normal_interval
from .judge import Judge, as_outcomes, judge
from .outcomes import Counts, Outcomes


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of many samples per question.

    One row is one question: its predictions and its reference. Rows are kept as Arrow
    columns of the type they came in, until a `compute` succeeds: an error in it leaves
    what was added before as it was.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Only here, because the constructor of MetricInfo refuses it for lists of samples.
        self.info.format = "arrow"
        self._forget()

    data: datasets.Dataset
    file_paths: list[str]
    filelocks: list[Any]

    def _forget(self) -> None:
        self._tables: list[pa.Table] = []
        self._schema: pa.Schema | None = None  # that all of the tables fit in
        self._others: pa.Table | None = None  # the rows of the other processes

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables)

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference.

        Both names of each are taken, as they are by `evaluate`.
        """
        samples = predictions if prediction is None else prediction
        answer = references if reference is None else reference
        if samples is None:
            raise ValueError("prediction is missing: give the list of one question's samples.")
        self.add_batch(predictions=[samples], references=None if answer is None else [answer])

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions and a reference for each of them.

        Raises:
            ValueError: that says what is wrong and where. Nothing is added then.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        column = prediction_column(predictions)
        if references is None:
            column = numbers_for_bools(column)
            self.check_outcomes(as_outcomes(column))
        answers = reference_column(references, len(column))
        table = pa.table({"predictions": column, "references": answers})
        self._schema = table.schema if self._schema is None else _unite(self._schema, table.schema)
        self._tables.append(table)

    def compute(self, *, predictions=None, references=None, **options) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: that says what is wrong and where. What was added before is kept.
        """
        inspect.signature(self._compute).bind(predictions, references, **options)
        before = list(self._tables), self._schema
        try:
            result = super().compute(predictions=predictions, references=references, **options)
        except BaseException:
            self._tables, self._schema = before
            raise
        self._forget()
        return result

    def _finalize(self) -> None:
        """Gather the rows in `self.data`, those of all processes in process 0."""
        if self._schema is None:
            raise ValueError("There is nothing to compute: give predictions, or add them first.")
        rows = pa.concat_tables(self._tables, promote_options="permissive")
        if self.num_process == 1:
            self.file_paths, self.filelocks = [], []  # that are to be removed in the end
        else:
            if self._others is None:
                self.selected_feature_format = datasets.Features.from_arrow_schema(rows.schema)
                self._init_writer()
                self.writer.write_table(rows)
                super()._finalize()
                if self.process_id > 0:
                    return
                self._others = self.data.data.table.slice(len(rows)).replace_schema_metadata()
            rows = pa.concat_tables([rows, self._others], promote_options="permissive")
        # A fingerprint is given because to make one would be to read all of the data.
        self.data = datasets.Dataset(datasets.table.InMemoryTable(rows), fingerprint="rows")

    def outcomes(
        self,
        predictions: pa.ChunkedArray,
        references: pa.ChunkedArray,
        check_correct_fn: Judge,
        num_proc: int | None,
        executor: Executor | None,
    ) -> Outcomes:
        """The predictions judged, or taken as outcomes where there are no references."""
        if pa.types.is_null(references.type):
            if check_correct_fn != "exact_match":
                raise ValueError(
                    "check_correct_fn is given, but no references to judge by: without them "
                    "predictions are outcomes."
                )
            outcomes = as_outcomes(predictions)
        else:
            outcomes = judge(predictions, references, check_correct_fn, num_proc, executor)
        self.check_outcomes(outcomes)
        return outcomes

    @staticmethod
    @abc.abstractmethod
    def check_outcomes(outcomes: Outcomes) -> None:
        """Raise a ValueError unless the metric can take the outcomes."""

    @abc.abstractmethod
    def _compute(self, predictions: pa.ChunkedArray, references: pa.ChunkedArray):
        """The scores of all questions, as a flat dict."""


def _unite(before: pa.Schema, new: pa.Schema) -> pa.Schema:
    """The types that hold both what was added before and what is new."""
    had, have = (not pa.types.is_null(each.field("references").type) for each in (before, new))
    if had != have:
        raise ValueError(
            "Either all questions have references or none: "
            + ("these have none, those added before had." if had else "only these have.")
        )
    try:
        return pa.unify_schemas([before, new], promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        raise ValueError(
            f"These questions have {_types(new)}, those added before had {_types(before)}."
        ) from None


def _types(schema: pa.Schema) -> str:
    return " and ".join(f"{field.name} of type {field.type}" for field in schema)


@dataclass(frozen=True)
class Scores:
    """Scores of each kind of question: those of equal counts score alike.

    Args:
        keys: names of the m scores.
        kind: (M,) which of the U kinds each question is.
        point: (U, m) point estimates.
        mean: (U, m) posterior means, or None where no interval is wanted.
        variance: (U, m) posterior variances, or None.
    """

    keys: list[str]
    kind: np.ndarray
    point: np.ndarray
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None


def draw_scores(counts: Counts, credits: Mapping[str, Credits], prior: Prior | None) -> Scores:
    """The expected credit of each key; with a prior, its posterior moments too."""
    wanted = list(credits.values())
    point = counts.each_kind(lambda n, c: expected(n, c, wanted))
    if prior is None:
        return Scores(list(credits), counts.kind, point)
    mean = counts.each_kind(lambda n, c: expected(n, c, wanted, prior))
    spread = counts.each_kind(
        lambda n, c: np.stack([variance(n, c, credit, prior) for credit in wanted], axis=1)
    )
    return Scores(list(credits), counts.kind, point, mean, spread)


class Report:
    """What `compute` returns: a flat dict of the mean scores of all questions and of groups.

    Args:
        questions: M, how many there are.
        groups: a label for each question, or None.
        confidence: of the intervals, or None where none are wanted.
        return_per_question: whether to add the scores of each question.

    Raises:
        ValueError: if there are not M labels, or confidence is no probability.
    """

    def __init__(self, questions: int, groups, confidence: float | None, return_per_question: bool):
        self._parts = [("", np.ones(questions, dtype=bool))]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            self._parts += [(f"{label}/", index == code) for code, label in enumerate(labels)]
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = return_per_question

    def of(self, scores: Scores) -> dict[str, Any]:
        """Every key over all questions, then over each group's."""
        result: dict[str, Any] = {}
        for prefix, questions in self._parts:
            histogram = np.bincount(scores.kind[questions], minlength=len(scores.point))
            for column, key in enumerate(scores.keys):
                result |= self._summary(prefix + key, histogram, scores, column)
        if self._return_per_question:
            result["per_question"] = {
                key: scores.point[scores.kind, column].tolist()
                for column, key in enumerate(scores.keys)
            }
        return result

    def _summary(
        self, key: str, histogram: np.ndarray, scores: Scores, column: int
    ) -> dict[str, float]:
        questions = int(histogram.sum())
        point = {key: float(histogram @ scores.point[:, column]) / questions}
        if self._confidence is None or scores.mean is None or scores.variance is None:
            return point
        mu = float(histogram @ scores.mean[:, column]) / questions
        sigma = math.sqrt(histogram @ scores.variance[:, column]) / questions
        lo, hi = normal_interval(mu, sigma, self._confidence, (0.0, 1.0))
        return point | {f"{key}_mu": mu, f"{key}_sigma": sigma, f"{key}_lo": lo, f"{key}_hi": hi}
