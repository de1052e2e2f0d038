"""What the metrics share: questions go in, scores come out as one flat dict."""

from __future__ import annotations

import abc
import inspect
import os
from concurrent.futures import Executor
from typing import Any

import datasets
import evaluate
import pyarrow as pa

from .inputs.outcomes import Outcomes
from .inputs.parsing import check_types, outcome_numbers, prediction_column, reference_column, unite
from .inputs.run_checker import Checker, Labels, graded_outcomes, run_checker


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
        self._experiment, self._rounds = self.experiment_id, 0
        self._forget()

    def _forget(self) -> None:
        self.data = None
        self._tables: list[pa.Table] = []
        self._types: pa.Table = pa.table({})  # no rows, of the types that hold all tables'
        self._others: list[pa.Table] | None = None  # of the other processes, once gathered

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables)

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference.

        Both names of each are taken, as they are by `evaluate`.
        """
        samples = [each for each in (prediction, predictions) if each is not None]
        answers = [each for each in (reference, references) if each is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError("Give one prediction, the list of one question's samples.")
        self.add_batch(predictions=samples, references=answers or None)

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
            self.check_outcomes(column)
        answers = reference_column(references, len(column))
        table = pa.table({"predictions": column, "references": answers})
        check_types(table)
        # Of what was added before only the types matter here.
        self._types = unite([self._types, table] if self._tables else [table]).slice(0, 0)
        self._tables.append(table)

    def compute(self, *, predictions=None, references=None, **options) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: that says what is wrong and where, questions being counted from the
                first that was added. What was added before is kept.
        """
        inspect.signature(self._compute).bind(predictions, references, **options)
        before = list(self._tables), self._types
        try:
            result = super().compute(predictions=predictions, references=references, **options)
        except BaseException:
            self._tables, self._types = before
            raise
        self._forget()
        return result

    def _finalize(self) -> None:
        """Gather the rows in `self.data`, those of all processes in process 0."""
        if self.num_process == 1:
            self.file_paths, self.filelocks = [], []  # that are to be removed in the end
        elif self._others is None:
            self._others = self._exchange()
        if self.process_id > 0:
            return
        tables = [*self._tables, *(self._others or [])]
        try:
            if not tables:
                raise ValueError("There is nothing to compute: give or add predictions first.")
            rows = datasets.table.InMemoryTable(unite(tables))
        except ValueError:
            self._discard_exchanged()
            raise
        # A fingerprint is given because to make one would be to read all of the data.
        self.data = datasets.Dataset(rows, fingerprint="rows")

    def _exchange(self) -> list[pa.Table]:
        """Hand this process's rows to process 0, which is given those of the others.

        What `evaluate` writes and reads is one row, of bytes: so the types that processes
        have in common are found as those of batches are. Each round has files of its own,
        so that no process overwrites what process 0 has yet to read.
        """
        self._rounds += 1
        self.info.experiment_id = f"{self._experiment}-{self._rounds}"
        sink = pa.BufferOutputStream()
        if self._tables:
            rows = unite(self._tables)
            with pa.ipc.new_stream(sink, rows.schema) as stream:
                stream.write_table(rows)
        self.selected_feature_format = datasets.Features({"rows": datasets.Value("large_binary")})
        self._init_writer()
        self.writer.write({"rows": sink.getvalue().to_pybytes()})
        super()._finalize()
        if self.process_id > 0:
            return []
        others = self.data.with_format("arrow")["rows"][:][1:]
        return [pa.ipc.open_stream(each).read_all() for each in others.to_pylist() if each]

    def _discard_exchanged(self) -> None:
        """Forget rows of other processes that will never go with these, to ask them again."""
        for lock, path in zip(self.filelocks, self.file_paths, strict=True):
            os.remove(path)
            lock.release()
        self.file_paths, self.filelocks = [], []
        self.cache_file_name = self.filelock = self._others = None

    def outcomes(
        self,
        predictions: pa.ChunkedArray,
        references: pa.ChunkedArray,
        check_correct_fn: Checker,
        num_proc: int | None,
        executor: Executor | None,
        labels: Labels | None = None,
    ) -> Outcomes:
        """The predictions judged, or taken as outcomes where there are no references.

        Where labels are given, a verdict may be one of them, and stands for its number.
        """
        if pa.types.is_null(references.type):
            if check_correct_fn != "exact_match":
                raise ValueError(
                    "check_correct_fn is given, but there are no references to check against: "
                    "without references, predictions are outcomes."
                )
            return graded_outcomes(predictions, labels)
        return run_checker(predictions, references, check_correct_fn, num_proc, executor, labels)

    @abc.abstractmethod
    def check_outcomes(self, predictions: pa.ChunkedArray) -> None:
        """Raise a ValueError unless the metric can take predictions that are outcomes."""

    @abc.abstractmethod
    def _compute(self, predictions: pa.ChunkedArray, references: pa.ChunkedArray):
        """The scores of all questions, as a flat dict."""
