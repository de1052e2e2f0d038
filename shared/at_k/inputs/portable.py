"""A checker that runs in any worker: a thread, a process, or a process on another machine.

Workers may lack the code of the metric and of the checker. So what they run is pickled by `dill`,
with its code. `dill` pickles a function at the top level of a module as a name to be imported, and
a nested function with its code: the functions for workers are nested, import what they use, and
refer to nothing else in this module. A worker then imports neither the metric nor its libraries,
which also lets it start faster.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import cached_property, partial
from typing import Any

import dill

PairToCheck = tuple[Any, Any]
"""A prediction and a reference."""

PairResult = tuple[Any, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or what was returned."""

PairBatch = tuple[int, list[PairToCheck]]
"""The index of the first pair, and the pairs."""

BatchResult = tuple[int, list[PairResult]]
"""The index of the first pair of a batch, and the result of each of its pairs."""

CheckBatch = Callable[[PairBatch], BatchResult]
"""Applies a checker to a batch of pairs."""


class Portable:
    """A function that every executor can pickle, with its code. It unpickles as the function.

    In this process it runs in the context of the thread that made it, in whichever thread it is
    called: so a metric knows the calls of its own checker.
    """

    def __init__(self, function: Callable[..., Any]):
        self._function, self._context = function, copy_context()

    def __call__(self, *arguments: Any) -> Any:
        return self._context.copy().run(self._function, *arguments)

    def __reduce__(self):
        return dill.loads, (self._pickled,)

    @cached_property
    def _pickled(self) -> bytes:
        try:
            try:
                return dill.dumps(self._function, recurse=True)
            except Exception:  # two functions that call each other, for example
                return dill.dumps(self._function)
        except Exception as error:
            raise ValueError(f"check_correct_fn cannot be sent to a worker: {error}.") from error


def portable_check(
    checker: Callable[..., Any], labels: Mapping[str, float] | None, batched: bool = False
) -> CheckBatch:
    """Return a function that applies a checker to a batch of pairs, in any thread or process.

    Args:
        checker: a function of a prediction and a reference.
        labels: labels that the checker may return, and the number of each; or None if results are
            passed on as they are, because the checker is one of this package.
        batched: whether the checker is a function of a list of predictions and a list of
            references, and returns a list of results.
    """

    def check_batch(
        checker: Callable[..., Any],
        labels: dict[str, float] | None,
        batched: bool,
        home: str,
        batch: PairBatch,
    ) -> BatchResult:
        import copy
        import os
        import pickle
        import socket
        import traceback

        def own(value: Any) -> Any:
            """Return a copy of what the checker might change, which other samples share."""
            return copy.deepcopy(value) if isinstance(value, (dict, list)) else value

        def written(write: Callable[[Any], str], value: Any) -> str:
            """Return a text of a value, also if its own class cannot write it."""
            try:
                return write(value)
            except Exception:
                return f"a {type(value).__name__}"

        def call(*arguments: Any) -> tuple[Any, BaseException | None]:
            """Return what the checker returns, or its exception."""
            try:
                return checker(*arguments), None
            except (Exception, SystemExit, GeneratorExit) as error:  # such as a call of sys.exit
                problem: BaseException = error
                if home != f"{socket.gethostname()}:{os.getpid()}":
                    error.add_note(f"In the worker:\n{traceback.format_exc()}")
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # some exceptions cannot be pickled
                        problem = RuntimeError(f"{type(error).__name__}: {written(str, error)}")
                return None, problem

        def read(result: Any) -> PairResult:
            """Return a result as a number, or what is wrong with it."""
            if labels is None:
                return result, None
            if getattr(result, "ndim", None) == 0:
                try:
                    result = result.item()  # a scalar of NumPy or torch
                except Exception as error:  # one that has no value, for example
                    return None, f"returned {type(result).__name__} without a value ({error})"
            if isinstance(result, str):
                result = labels.get(result, result)
            is_category = isinstance(result, int) and 0 <= result < 2**31
            is_share = isinstance(result, float) and 0 <= result <= 1
            if result is None or is_category or is_share:
                return result, None
            return None, f"returned {written(repr, result)[:60]}"

        start, pairs = batch
        if not batched:
            called = [call(*map(own, pair)) for pair in pairs]
        else:
            copies = [map(own, pair) for pair in pairs]
            results, problem = call(*map(list, zip(*copies, strict=True)))
            if problem is not None:
                return start, [(None, problem)] * len(pairs)
            if not hasattr(results, "__len__") or len(results) != len(pairs):
                shown = written(repr, results)[:60]
                text = f"returned {shown} for a batch of {len(pairs)}, one result for each"
                return start, [(None, text)] * len(pairs)
            called = [(result, None) for result in results]
        return start, [read(result) if error is None else (None, error) for result, error in called]

    home = f"{socket.gethostname()}:{os.getpid()}"
    own_labels = None if labels is None else dict(labels)
    return partial(Portable(check_batch), Portable(checker), own_labels, batched, home)
