"""What the metrics have in common: how they fit into the protocol of `evaluate`."""

from __future__ import annotations

import abc
import inspect
import threading
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import datasets
import evaluate
import pyarrow as pa

from .exchange import Exchange, default_experiment
from .inputs.batches import Batch, check_alike, parse_rows, unite
from .inputs.counts import BinaryCounts
from .inputs.graded import Labels, graded_outcomes
from .inputs.outcomes import Outcomes
from .inputs.pairs import FinishedChecks
from .inputs.run_checker import Checker, outcomes_of, validate_checker


class _ArrowDataset(datasets.Dataset):
    """A dataset whose columns stay in Arrow: `evaluate` would convert them to lists.

    `MetricInfo` cannot name this format, because it refuses a format if predictions are lists.
    """

    def set_format(self, *args, **kwargs) -> None:
        super().set_format("arrow")


class _Lock:
    """A lock that its thread may acquire again. A pickled copy has a lock of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exception) -> None:
        self._lock.release()

    def __reduce__(self):
        return _Lock, ()


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    A question is a row: the list of its predictions, and its reference. Rows are parsed and
    validated when they are added, and kept until a `compute` succeeds: an error in `compute` loses
    nothing that was added before. One thread at a time adds or computes, and the others wait.

    With several processes, `compute` is a collective call: see `exchange`.
    """

    accepts_labels = False
    """Whether already-graded outcomes may be labels, whose numbers `compute` is given."""

    data: Any  # all rows, where evaluate's own compute expects them
    file_paths: list[str]
    filelocks: list[Any]

    def __init__(self, *args, experiment_id: str | None = None, **kwargs):
        experiment_id = experiment_id or default_experiment()
        super().__init__(*args, experiment_id=experiment_id, **kwargs)
        self._lock, self._is_computing = _Lock(), False
        self._exchange: Exchange | None = None
        if self.num_process > 1:
            folder = Path(self.data_dir, f"{experiment_id}-{self.num_process}")
            self._exchange = Exchange(folder, self.num_process, self.process_id, self.timeout)
        self._forget()

    def _build_data_dir(self) -> str:
        """Return the folder for several processes. Only they create it: see `Exchange`."""
        return str(Path(self._data_dir_root, self.name, self.config_name))

    def _forget(self) -> None:
        self.data = None
        self._batches: list[Batch] = []
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
        with self._lock:
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
        with self._lock:
            if self._is_computing:
                raise ValueError("compute was called by a checker of the same metric object.")
            before, self._is_computing = list(self._batches), True
            try:
                result = super().compute(predictions=predictions, references=references, **options)
            except BaseException as error:
                self._batches, self._graded = before, None
                self._report(error)
                raise
            finally:
                self._is_computing = False
            self._report(None)
            self._forget()
        return result

    def _report(self, error: BaseException | None) -> None:
        """Tell the other processes, if there are any, how `compute` ended here."""
        if self._exchange is not None:
            self._exchange.report(error)

    def _finalize(self) -> None:
        """Gather all rows in `self.data`; in process 0 also those of the other processes."""
        self.file_paths, self.filelocks = [], []  # evaluate removes these in the end
        batches, received = list(self._batches), []
        if self._exchange is not None:
            if self.process_id > 0:
                self._exchange.send(_serialized(batches))
                return
            received = self._exchange.receive()
        for rows in received:
            if rows:
                batch = self._graded_batch(pa.ipc.open_stream(rows).read_all())
                check_alike(batch, batches)
                batches.append(batch)
        if not batches:
            raise ValueError("There is nothing to compute: give or add predictions first.")
        rows, self._graded = unite(batches)
        # Without a given fingerprint, datasets would read all rows to compute one.
        self.data = _ArrowDataset(datasets.table.InMemoryTable(rows), fingerprint="rows")

    def outcomes(
        self,
        predictions: pa.ChunkedArray,
        references: pa.ChunkedArray,
        check_correct_fn: Checker,
        num_proc: int | None,
        executor: Executor | None,
        timeout: float | None = None,
        labels: Labels | None = None,
    ) -> Any:
        """Return the validated outcomes of all questions, see `validate`.

        Args:
            predictions: M lists of samples.
            references: M references, or M nulls if predictions are already-graded outcomes.
            check_correct_fn: what to check samples with.
            num_proc: number of processes to check in.
            executor: an executor to check in.
            timeout: seconds that a check may take.
            labels: labels that stand for outcomes, and the number of each.
        """
        validate_checker(check_correct_fn, num_proc, executor, timeout)  # also if it is not used
        if self._graded is not None and check_correct_fn == "exact_match":
            return self._graded
        return self.validate(
            outcomes_of(
                predictions,
                references,
                check_correct_fn,
                num_proc,
                executor,
                timeout,
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


def _serialized(batches: list[Batch]) -> bytes:
    """Return the rows of batches as an Arrow stream, or nothing if there are none."""
    if not batches:
        return b""
    sink, rows = pa.BufferOutputStream(), unite(batches).rows
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue().to_pybytes()
