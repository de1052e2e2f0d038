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

from .columns import is_number, is_text
from .draws import Credits, Prior, expected, variance
from .intake import (
    as_json,
    label_index,
    outcome_numbers,
    prediction_column,
    reference_column,
)
from .interval import normal_interval
from .judge import Judge, as_outcomes, judge
from .outcomes import Counts, Outcomes
from .parameters import check_confidence


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of many samples per question.

    One row is one question: its predictions and its reference. Rows are kept as Arrow
    columns of the type they came in, until a `compute` succeeds: an error in it leaves
    what was added before as it was.
    """

    data: Any  # the rows of all questions, as evaluate's own compute takes them
    file_paths: list[str]
    filelocks: list[Any]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Only here, because the constructor of MetricInfo refuses it for lists of samples.
        self.info.format = "arrow"
        self._forget()

    def _forget(self) -> None:
        self.data = None
        self._tables: list[pa.Table] = []
        self._others: list[pa.Table] | None = None  # of the other processes, once gathered

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
            column = outcome_numbers(column)
            self.check_outcomes(as_outcomes(column))
        answers = reference_column(references, len(column))
        table = pa.table({"predictions": column, "references": answers})
        _unite([*self._tables[:1], table])
        self._tables.append(table)

    def compute(self, *, predictions=None, references=None, **options) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: that says what is wrong and where, questions being counted from the
                first that was added. What was added before is kept.
        """
        inspect.signature(self._compute).bind(predictions, references, **options)
        before = list(self._tables)
        try:
            result = super().compute(predictions=predictions, references=references, **options)
        except BaseException:
            self._tables = before
            raise
        self._forget()
        return result

    def _finalize(self) -> None:
        """Gather the rows in `self.data`, those of all processes in process 0."""
        if self.num_process == 1:
            self.file_paths, self.filelocks = [], []  # that are to be removed in the end
        elif self._others is None:
            self._others = self._exchange()
        tables = [*self._tables, *(self._others or [])]
        if not tables:
            raise ValueError("There is nothing to compute: give predictions, or add them first.")
        if self.process_id == 0:
            rows = datasets.table.InMemoryTable(_unite(tables))
            # A fingerprint is given because to make one would be to read all of the data.
            self.data = datasets.Dataset(rows, fingerprint="rows")

    def _exchange(self) -> list[pa.Table]:
        """Hand this process's rows to process 0, which is given those of the others.

        What `evaluate` writes and reads is one row, of bytes: so the types that processes
        have in common are found as those of batches are.
        """
        sink = pa.BufferOutputStream()
        for table in [_unite(self._tables)] if self._tables else []:
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
        self.selected_feature_format = datasets.Features({"rows": datasets.Value("large_binary")})
        self._init_writer()
        self.writer.write({"rows": sink.getvalue().to_pybytes()})
        super()._finalize()
        if self.process_id > 0:
            return []
        others = self.data.with_format("arrow")["rows"][:][1:]
        return [pa.ipc.open_stream(rows.as_buffer()).read_all() for rows in others if rows.as_py()]

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


def _unite(tables: list[pa.Table]) -> pa.Table:
    """The rows of all tables, in types that hold them all."""
    left_out = {pa.types.is_null(table.schema.field("references").type) for table in tables}
    if len(left_out) > 1:
        raise ValueError("Some questions have references and some have none: give all or none.")
    kinds = {table.schema.field("predictions").type.value_type for table in tables}
    texts = {is_text(kind) for kind in kinds if not pa.types.is_null(kind)}
    numbers = {is_number(kind) for kind in kinds if not pa.types.is_null(kind)}
    if len(texts) > 1 or len(numbers) > 1:
        raise ValueError(
            "Some questions have texts as predictions and some have something else: "
            "samples are all of one type."
        )
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return pa.concat_tables([_as_any(table) for table in tables], promote_options="permissive")


def _as_any(table: pa.Table) -> pa.Table:
    """The same rows in the types that hold most: doubles, or JSON."""
    predictions, references = table["predictions"], table["references"]
    if is_number(predictions.type.value_type):
        predictions = predictions.cast(pa.large_list(pa.float64()))
    if not pa.types.is_null(references.type):
        references = as_json(references, "references")
    return pa.table({"predictions": predictions, "references": references})


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
    n, c = counts.kinds.T
    wanted = list(credits.values())
    point = expected(n, c, wanted)
    if prior is None:
        return Scores(list(credits), counts.kind, point)
    spread = np.stack([variance(n, c, credit, prior) for credit in wanted], axis=1)
    return Scores(list(credits), counts.kind, point, expected(n, c, wanted, prior), spread)


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
        self._parts = [("", np.arange(questions))]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            ends = np.cumsum(np.bincount(index))
            rows = np.split(np.argsort(index, kind="stable"), ends[:-1])
            self._parts += zip([f"{label}/" for label in labels], rows, strict=True)
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = return_per_question

    def of(self, scores: Scores) -> dict[str, Any]:
        """Every key over all questions, then over each group's."""
        result: dict[str, Any] = {}
        for prefix, rows in self._parts:
            histogram = np.bincount(scores.kind[rows], minlength=len(scores.point))
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

        def mean(values: np.ndarray) -> float:
            return float(histogram @ values[:, column]) / questions

        point = {key: mean(scores.point)}
        if self._confidence is None or scores.mean is None or scores.variance is None:
            return point
        mu, sigma = mean(scores.mean), math.sqrt(mean(scores.variance) / questions)
        lo, hi = normal_interval(mu, sigma, self._confidence, (0.0, 1.0))
        return point | {f"{key}_mu": mu, f"{key}_sigma": sigma, f"{key}_lo": lo, f"{key}_hi": hi}
