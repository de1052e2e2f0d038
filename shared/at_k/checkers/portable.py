"""A checker that runs in any worker: a thread, a process, or a process on another machine.

Workers may lack the code of the metric and of the checker. So what they run is pickled by `dill`,
with its code. `dill` pickles a function at the top level of a module as a name to be imported,
unless the module is `__main__`: see `with_code`. The functions for workers import what they use.
A worker then imports neither the metric nor its libraries, which also lets it start faster.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import cached_property, partial
from types import FunctionType
from typing import Any

import dill

from ..core.checking import BatchResult, PairBatch, check_batch, host

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
    own_labels = None if labels is None else dict(labels)
    return partial(Portable(with_code(check_batch)), Portable(checker), own_labels, batched, host())


def with_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as one that `dill` pickles with its code. It uses nothing of its module."""
    own = FunctionType(function.__code__, {"__builtins__": builtins}, function.__name__)
    own.__module__ = "__main__"
    return own
