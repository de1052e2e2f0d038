"""What the metrics have in common: how they fit into the protocol of `evaluate`."""

from __future__ import annotations

import abc
import threading
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
from evaluate.module import temp_seed

from .batches import check_alike, unite, with_batch
from .checking import CheckCache
from .checks import short
from .computation import Computation, SampledQuestions
from .package import PACKAGE
from .samples import Samples
from .signatures import check_options

_computing: ContextVar[tuple[int, ...]] = ContextVar("_computing", default=())
"""The ids of the metric objects that compute, for the calls of their checkers in any thread."""


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    A question is a row: the list of its predictions, and its reference. Rows are parsed and
    validated when they are added, and kept until a `compute` succeeds: an error in `compute` loses
    nothing that was added before. One thread at a time adds or computes, and the others wait.

    With several processes, `compute` is a collective call: see `exchange`.
    """

    def __init__(self, *args, experiment_id: str | None = None, **kwargs):
        """The arguments are those of `evaluate.Metric`. The default experiment is the run."""
        run = experiment_id or PACKAGE.rooms.run_name()
        super().__init__(*args, experiment_id=run, **kwargs)
        self._lock = threading.Lock()
        self._exchange: Any = None
        if self.num_process > 1:
            self._exchange = PACKAGE.rooms.exchange(self)
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock, which cannot be pickled."""
        return vars(self) | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes, with a new lock."""
        self.__dict__.update(state, _lock=threading.Lock())

    computation: Computation
    """What the metric computes."""

    @staticmethod
    @abc.abstractmethod
    def _compute(questions: SampledQuestions):
        """Return the scores of questions: `computation.results`, whose parameters tools look at."""

    def _build_data_dir(self) -> str:
        """Return the folder for several processes. `Exchange` creates it, and only for several."""
        return str(Path(self._data_dir_root, self.name, self.config_name))

    def _forget(self) -> None:
        """Forget the questions that were added and the results of checks."""
        self._added: list[Samples] = []
        self._cache = CheckCache()

    def __len__(self) -> int:
        """The number of questions that were added."""
        return sum(map(len, self._added))

    # --- Adding ---------------------------------------------------------------------------

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference.

        Both names of each are accepted, as `evaluate` uses both.
        """
        samples = [value for value in (prediction, predictions) if value is not None]
        answers = [value for value in (reference, references) if value is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError("Give one prediction, the list of one question's samples.")
        self.add_batch(predictions=samples, references=answers or None)

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions and a reference for each of them.

        Outcomes that are categories are kept as counts.

        Raises:
            ValueError: if an input is invalid, with its index. Nothing is added then.
        """
        self._refuse_own_checker("add_batch")
        batch = self.computation.read(predictions, references)
        with self._lock:
            self._added = with_batch(self._added, batch, self.computation.counts_suffice)

    # --- Computing ------------------------------------------------------------------------

    def compute(
        self, *unnamed, predictions=None, references=None, **options
    ) -> dict[str, Any] | None:
        """Compute the scores of these questions and all that were added before.

        Raises:
            ValueError: if an input is invalid, with its index; questions are counted from the first
                that was added. What was added before is kept.
            TypeError: if an argument has no name.
        """
        if unnamed:
            raise TypeError(
                f"compute takes its arguments by name: give compute(predictions="
                f"{short(unnamed[0])}{', references=..' if len(unnamed) > 1 else ''})."
            )
        self._refuse_own_checker("compute")
        check_options(self.computation.results, options, ("predictions", "references"))
        ordered = self.computation.ordered_options(options)
        if ordered and (self._added or self._exchange is not None):
            raise ValueError(
                f"{ordered[0]} goes with the samples of one call, in their order: give all "
                f"predictions to compute, in one process, and add none before."
            )
        with self._lock:
            token = _computing.set((*_computing.get(), id(self)))
            try:
                read = partial(self._batches, predictions, references)
                score = partial(self._scores, options=options)
                result = self._exchange.compute(read, score) if self._exchange else score(read())
            finally:
                _computing.reset(token)
            self._forget()
        return result

    def _refuse_own_checker(self, method: str) -> None:
        """Raise an error if a checker of this object calls one of its methods.

        What it adds would be lost, and from another thread it would wait for ever.
        """
        if id(self) in _computing.get():
            raise ValueError(
                f"{method} was called by a checker of the same metric object: load another one."
            )

    def _batches(self, predictions, references) -> list[Samples]:
        """Return the questions that were added before, and these."""
        batches = [*self._added]
        if predictions is not None or references is not None:
            batches.append(self.computation.read(predictions, references))
            check_alike(batches[-1], batches[:-1])
        return batches

    def _scores(self, batches: list[Samples], options: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of the questions in all batches, for the options of `compute`."""
        if not batches:
            raise ValueError("There is nothing to compute: give or add predictions first.")
        questions = SampledQuestions(unite(batches), self.computation.validate, self._cache)
        with temp_seed(self.seed):
            return self.computation.results(questions, **options)
