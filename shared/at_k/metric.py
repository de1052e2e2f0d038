"""What the metrics have in common: how they fit into the protocol of `evaluate`."""

from __future__ import annotations

import abc
import inspect
import os
from concurrent.futures import Executor
from typing import Any

import datasets
import evaluate
import pyarrow as pa

from .inputs.batches import Batch, check_alike, parse_rows, unite
from .inputs.counts import BinaryCounts
from .inputs.graded import Labels, graded_outcomes
from .inputs.outcomes import Outcomes
from .inputs.pairs import FinishedChecks
from .inputs.run_checker import Checker, outcomes_of


class _ArrowDataset(datasets.Dataset):
    """A dataset whose columns stay in Arrow: `evaluate` would convert them to lists.

    `MetricInfo` cannot name this format, because it refuses a format if predictions are lists.
    """

    def set_format(self, *args, **kwargs) -> None:
        super().set_format("arrow")


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    A question is a row: the list of its predictions, and its reference. Rows are parsed and
    validated when they are added, and kept until a `compute` succeeds: an error in `compute` loses
    nothing that was added before.
    """

    accepts_labels = False
    """Whether already-graded outcomes may be labels, whose numbers `compute` is given."""

    data: Any  # all rows, where evaluate's own compute expects them
    file_paths: list[str]
    filelocks: list[Any]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._experiment, self._rounds = self.experiment_id, 0
        self._forget()

    def _forget(self) -> None:
        self.data = None
        self._batches: list[Batch] = []
        self._received: list[Batch] | None = None  # from the other processes
        self._graded: Outcomes | BinaryCounts | None = None  # of all rows
        self._finished = FinishedChecks()  # of a run that failed

    def __len__(self) -> int:
        return sum(len(batch.rows) for batch in self._batches)

    # --- Adding ---------------------------------------------------------------------------

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference.

        Both names of each are accepted, as `evaluate` uses both.
        """
        samples = [each for each in (prediction, predictions) if each is not None]
        answers = [each for each in (reference, references) if each is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError("Give one prediction, the list of one question's samples.")
        self.add_batch(predictions=samples, references=answers or None)

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions and a reference for each of them.

        Raises:
            ValueError: if an input is invalid, with its place. Nothing is added then.
        """
        if predictions is None:
            raise ValueError("predictions are missing: give each question's list of samples.")
        batch = self._graded_batch(parse_rows(predictions, references))
        check_alike(batch, self._batches)
        self._batches.append(batch)

    def _graded_batch(self, rows: pa.Table) -> Batch:
        """Read the outcomes of rows that are already graded."""
        batch = Batch(rows, None)
        if batch.has_references() or (self.accepts_labels and batch.sample_kind() == "texts"):
            return batch
        return Batch(rows, self.validate(graded_outcomes(rows["predictions"])))

    # --- Computing ------------------------------------------------------------------------

    def compute(self, *, predictions=None, references=None, **options) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: if an input is invalid, with its place; questions are counted from the first
                that was added. What was added before is kept.
        """
        inspect.signature(self._compute).bind(predictions, references, **options)
        before = list(self._batches)
        try:
            result = super().compute(predictions=predictions, references=references, **options)
        except BaseException:
            self._batches, self._graded = before, None
            raise
        self._forget()
        return result

    def _finalize(self) -> None:
        """Gather all rows in `self.data`; in process 0 also those of the other processes."""
        if self.num_process == 1:
            self.file_paths, self.filelocks = [], []  # evaluate removes these in the end
        elif self._received is None:
            self._received = self._exchange()
        if self.process_id > 0:
            return
        batches = [*self._batches, *(self._received or [])]
        try:
            if not batches:
                raise ValueError("There is nothing to compute: give or add predictions first.")
            for place, batch in enumerate(self._received or []):
                check_alike(batch, batches[: len(self._batches) + place])
            rows, self._graded = unite(batches)
        except ValueError:
            self._discard_exchanged()
            raise
        # Without a given fingerprint, datasets would read all rows to compute one.
        self.data = _ArrowDataset(datasets.table.InMemoryTable(rows), fingerprint="rows")

    def outcomes(
        self,
        predictions: pa.ChunkedArray,
        references: pa.ChunkedArray,
        check_correct_fn: Checker,
        num_proc: int | None,
        executor: Executor | None,
        labels: Labels | None = None,
    ) -> Any:
        """Return the validated outcomes of all questions, see `validate`.

        Args:
            predictions: M lists of samples.
            references: M references, or M nulls if predictions are already-graded outcomes.
            check_correct_fn: what to check samples with.
            num_proc: number of processes to check in.
            executor: an executor to check in.
            labels: labels that stand for outcomes, and the number of each.
        """
        if self._graded is not None and check_correct_fn == "exact_match":
            return self._graded
        return self.validate(
            outcomes_of(
                predictions,
                references,
                check_correct_fn,
                num_proc,
                executor,
                labels,
                self._finished,
            )
        )

    @abc.abstractmethod
    def validate(self, outcomes: Outcomes) -> Outcomes | BinaryCounts:
        """Return the outcomes, or the counts that the scores depend on.

        Raises:
            ValueError: if the metric does not accept an outcome, with its place.
        """

    @abc.abstractmethod
    def _compute(self, predictions: pa.ChunkedArray, references: pa.ChunkedArray):
        """Return the scores of all questions as a flat dict."""

    # --- Several processes ----------------------------------------------------------------

    def _exchange(self) -> list[Batch]:
        """Hand the rows of this process to process 0; return those of the others there.

        `evaluate` writes and reads one row of bytes for each process, so that types which differ
        between processes are united in the same way as types of batches. Each round has its own
        files, so that no process overwrites what process 0 has yet to read.
        """
        self._rounds += 1
        self.info.experiment_id = f"{self._experiment}-{self._rounds}"
        sink = pa.BufferOutputStream()
        if self._batches:
            rows = unite(self._batches).rows
            with pa.ipc.new_stream(sink, rows.schema) as stream:
                stream.write_table(rows)
        self.selected_feature_format = datasets.Features({"rows": datasets.Value("large_binary")})
        self._init_writer()
        self.writer.write({"rows": sink.getvalue().to_pybytes()})
        super()._finalize()
        if self.process_id > 0:
            return []
        others = self.data.with_format("arrow")["rows"][:][1:].to_pylist()
        tables = [pa.ipc.open_stream(each).read_all() for each in others if each]
        return [self._graded_batch(rows) for rows in tables]

    def _discard_exchanged(self) -> None:
        """Forget the rows of other processes, which cannot be scored with these."""
        for lock, path in zip(self.filelocks, self.file_paths, strict=True):
            os.remove(path)
            lock.release()
        self.file_paths, self.filelocks = [], []
        self.cache_file_name = self.filelock = self._received = None
