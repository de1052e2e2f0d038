"""The base class of the five metrics, which follows the protocol of `evaluate`."""

from __future__ import annotations

import abc
import threading
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any

import evaluate
from evaluate.module import temp_seed

from .checks import require_same_index
from .columns import check_alike, unite, with_batch
from .computation import Computation, SampledQuestions
from .package import PACKAGE
from .samples import Samples
from .signatures import check_options

_computing: ContextVar[tuple[int, ...]] = ContextVar("_computing", default=())
"""The ids of the metric objects that are computing, as seen by the checkers that they call."""


class SampledMetric(evaluate.Metric, abc.ABC):
    """A metric of several samples per question.

    Questions are validated when they are added, and kept until a `compute` succeeds. One thread at
    a time adds or computes. With several processes, all have to call `compute`.
    """

    def __init__(self, *args, experiment_id: str | None = None, **kwargs):
        """Take the arguments of `evaluate.Metric`. All processes of a run share the default id."""
        run = experiment_id or PACKAGE.rooms.run_name()
        super().__init__(*args, experiment_id=run, **kwargs)
        self._lock = threading.Lock()
        self._exchange: Any = None  # the `Exchange` of the package, if there are several processes
        if self.num_process > 1:
            self._exchange = PACKAGE.rooms.exchange(self)
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without what may not be pickled: lock, bound methods, checkers."""
        state = {name: x for name, x in vars(self).items() if not isinstance(x, MethodType)}
        return state | {"_lock": None, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    computation: Computation

    @staticmethod
    @abc.abstractmethod
    def _compute(questions: SampledQuestions):
        """Return what `computation.results` returns. Other tools inspect its signature."""

    def _build_data_dir(self) -> str:
        """Return the folder of the metric, without creating it: only an `Exchange` needs it."""
        return str(Path(self._data_dir_root, self.name, self.config_name))

    def _forget(self) -> None:
        """Drop the questions that were added, and the cached results of checks."""
        self._added: list[Samples] = []
        self._cache: dict[str, Any] = {}

    def __len__(self) -> int:
        """Return the number of questions that were added."""
        return sum(map(len, self._added))

    # --- Adding ---------------------------------------------------------------------------

    def add(self, *, prediction=None, reference=None, predictions=None, references=None):
        """Add one question: the list of its predictions, and its reference or None.

        `predictions` and `references` are synonyms, which `evaluate.combine` uses. A ValueError is
        raised if both are given, or if an input is invalid.
        """
        samples = [value for value in (prediction, predictions) if value is not None]
        answers = [value for value in (reference, references) if value is not None]
        if len(samples) != 1 or len(answers) > 1:
            raise ValueError(
                "Give one prediction, the list of one question's samples; at most one reference."
            )
        self.add_batch(predictions=samples, references=answers or None)

    def add_batch(self, *, predictions=None, references=None):
        """Add questions: a list of predictions for each, and a reference for each, or None.

        A ValueError is raised if an input is invalid, or if a checker of this object makes the
        call; nothing is added.
        """
        self._refuse_call_from_checker("add_batch")
        batch = self.computation.read(predictions, references)
        with self._lock:
            self._added = with_batch(self._added, batch)

    # --- Computing ------------------------------------------------------------------------

    def compute(
        self, *unnamed, predictions=None, references=None, **options
    ) -> dict[str, Any] | None:
        """Return the dict of scores of these questions and all that were added before.

        `options` are the parameters of the metric. With several processes, all but one return None.

        Raises:
            ValueError: if an input is invalid. The message has its index, which counts questions
                from the first one that was added. The questions that were added are kept.
            TypeError: if an argument has no name, or is no parameter of the metric.
        """
        if unnamed:
            raise TypeError(
                "compute takes its arguments by name: give compute(predictions=.., references=..), "
                "or compute(**run) for a run."
            )
        self._refuse_call_from_checker("compute")
        check_options(self.computation.results, options, ("predictions", "references"))
        ordered = self.computation.ordered_options(options)
        paired = ("groups", "clusters", "question_weights", "R0", *ordered)
        samples = {"predictions": predictions, "references": references}
        require_same_index(samples | {name: options.get(name) for name in paired})
        if ordered and (self._added or self._exchange is not None):
            raise ValueError(
                f"{ordered[0]} goes with the samples of one call, in their order: give all "
                f"predictions to compute, in one process, and add none before."
            )
        with self._lock:
            token = _computing.set((*_computing.get(), id(self)))
            try:
                read = partial(self._all_batches, predictions, references)
                score = partial(self._scores_of_batches, options=options)
                # With several processes, one of them scores the batches of all.
                result = self._exchange.compute(read, score) if self._exchange else score(read())
            finally:
                _computing.reset(token)
            self._forget()
        return result

    def _refuse_call_from_checker(self, method: str) -> None:
        """Raise a ValueError if a checker of this object calls it, which would wait forever."""
        if id(self) in _computing.get():
            raise ValueError(
                f"{method} was called by a checker of the same metric object: load another one."
            )

    def _all_batches(self, predictions, references) -> list[Samples]:
        """Return the batches that were added before, and these questions as the last batch."""
        batches = [*self._added]
        if predictions is not None or references is not None:
            batches.append(self.computation.read(predictions, references))
            check_alike(batches[-1], self._added)
        return batches

    def _scores_of_batches(self, batches: list[Samples], options: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of the questions in all batches, for the options of `compute`."""
        if not batches:
            raise ValueError("There is nothing to compute: give or add predictions first.")
        questions = SampledQuestions(unite(batches), self.computation.validate, self._cache)
        with temp_seed(self.seed):
            return self.computation.results(questions, **options)
