"""Apply a checker to pairs of a prediction and a reference, in this process or in workers.

Workers may lack the code of the metric and of the checker, on another machine for example. So what
they run is pickled by `dill`, with its code. `dill` pickles a function at the top level of a module
as a name to be imported, and a nested function with its code: the functions for workers are nested,
import what they use, and refer to nothing else in this module. A worker then imports neither the
metric nor its libraries, which also lets it start faster.
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from functools import cached_property, partial
from typing import Any

import dill
from datasets.utils import tqdm
from evaluate.utils.logging import is_progress_bar_enabled

PairToCheck = tuple[Any, Any]
"""A prediction and a reference."""

PairResult = tuple[float | None, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or what was returned."""

CheckBatch = Callable[[list[PairToCheck]], list[PairResult]]
"""Applies a checker to a batch of pairs."""

_BATCHES = 256  # batches of pairs, enough to keep many workers busy


def check_in_workers(
    check: CheckBatch,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[PairResult, None, None]:
    """Yield the result of each pair, in order, and show the progress.

    Raises:
        ValueError: if the checker cannot be pickled, or if worker processes cannot start.
        BrokenExecutor: if a worker dies.
    """
    disable = not is_progress_bar_enabled()  # by evaluate; datasets has its own switch
    with tqdm(total=len(pairs), desc="Checking", unit=" pairs", delay=1, disable=disable) as bar:
        for results in _results_by_batch(check, pairs, num_proc, executor):
            bar.update(len(results))
            yield from results


def _results_by_batch(
    check: CheckBatch,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[list[PairResult]]:
    size = max(1, math.ceil(len(pairs) / _BATCHES))
    batches = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    if executor is not None:
        if isinstance(executor, ProcessPoolExecutor):
            _require_workers(executor)
        yield from executor.map(check, batches)
    elif num_proc is not None and num_proc > 1:
        # The checker may be large: each process gets it once, not with every batch.
        keep, check_with_kept = _functions_for_processes()
        with ProcessPoolExecutor(num_proc, initializer=keep, initargs=(check,)) as pool:
            _require_workers(pool)
            yield from pool.map(check_with_kept, batches)
    else:
        yield from (check([pair]) for pair in pairs)


def _require_workers(pool: ProcessPoolExecutor) -> None:
    """Raise a ValueError unless workers start and run tasks that cannot fail.

    So a worker that dies later died while it checked a sample. Workers usually cannot start because
    they import a main module that starts them again.
    """
    tasks = os.cpu_count() or 1  # a pool starts workers for waiting tasks: so they start together
    try:
        list(pool.map(bool, range(tasks)))
    except BrokenExecutor as error:
        raise ValueError(
            "No worker process could start; its own error is on standard error. Workers import "
            "the main module: protect the start of the program with "
            '`if __name__ == "__main__":`.'
        ) from error


# --- What workers run ---------------------------------------------------------------------


class _Portable:
    """A function that every executor can pickle, with its code. It unpickles as the function."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

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


def portable_check(checker: Callable[[Any, Any], Any], labels: Mapping[str, float]) -> CheckBatch:
    """Return a function that applies a checker to a batch of pairs, here or in any worker.

    Args:
        checker: a function of a prediction and a reference.
        labels: labels that the checker may return, and the number of each.
    """

    def check_batch(
        checker: Callable[[Any, Any], Any],
        labels: dict[str, float],
        home: str,
        batch: list[PairToCheck],
    ) -> list[PairResult]:
        import os
        import pickle
        import socket
        import traceback

        results: list[PairResult] = []
        for prediction, reference in batch:
            try:
                result: Any = checker(prediction, reference)
            except (Exception, SystemExit) as error:  # generated code may well call sys.exit
                problem: BaseException = error
                if home != f"{socket.gethostname()}:{os.getpid()}":
                    error.add_note(f"In the worker:\n{traceback.format_exc()}")
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # some exceptions cannot be pickled
                        problem = RuntimeError(f"{type(error).__name__}: {error}")
                results.append((None, problem))
                continue
            if getattr(result, "ndim", None) == 0:
                result = result.item()  # a scalar of NumPy or torch
            if isinstance(result, str):
                result = labels.get(result, result)
            is_category = isinstance(result, int) and 0 <= result < 2**31
            is_share = isinstance(result, float) and 0 <= result <= 1
            if result is None or is_category or is_share:
                results.append((result, None))
            else:
                results.append((None, f"returned {repr(result)[:60]}"))
        return results

    home = f"{socket.gethostname()}:{os.getpid()}"
    return partial(_Portable(check_batch), _Portable(checker), dict(labels), home)


def _functions_for_processes() -> tuple[_Portable, _Portable]:
    """Return a function that keeps a checker in a worker process, and one that applies it."""

    def keep(check: CheckBatch) -> None:
        import multiprocessing

        process: Any = multiprocessing.current_process()
        process.kept_check = check

    def check_with_kept(batch: list[PairToCheck]) -> list[PairResult]:
        import multiprocessing

        process: Any = multiprocessing.current_process()
        return process.kept_check(batch)

    return _Portable(keep), _Portable(check_with_kept)
