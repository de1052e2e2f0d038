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
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import cached_property, partial
from queue import SimpleQueue
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

BatchResult = tuple[int, list[PairResult]]
"""The place of the first pair of a batch, and the result of each of its pairs."""

_BATCHES, _BATCHES_FOR_THREADS = 1 << 12, 1 << 14  # enough to keep many workers busy


def check_in_workers(
    check: CheckBatch,
    pairs: list[PairToCheck],
    batch_size: int | None,
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[BatchResult, None, None]:
    """Yield the results of each batch of pairs as batches finish, and show the progress.

    Raises:
        ValueError: if the checker cannot be pickled, or if worker processes cannot start.
        BrokenExecutor: if a worker dies.
    """
    disable = not is_progress_bar_enabled()  # by evaluate; datasets has its own switch
    with tqdm(total=len(pairs), desc="Checking", unit=" pairs", delay=1, disable=disable) as bar:
        for start, results in _results_by_batch(check, pairs, batch_size, num_proc, executor):
            bar.update(len(results))
            yield start, results


def _results_by_batch(
    check: CheckBatch,
    pairs: list[PairToCheck],
    batch_size: int | None,
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[BatchResult]:
    def batches(most: float) -> Iterator[tuple[int, list[PairToCheck]]]:
        # Sending a pair to a worker may take longer than checking it.
        size = batch_size or max(1, math.ceil(len(pairs) / most))
        return ((start, pairs[start : start + size]) for start in range(0, len(pairs), size))

    if executor is not None:
        if isinstance(executor, ProcessPoolExecutor):
            _require_workers(executor)
        most = _BATCHES_FOR_THREADS if isinstance(executor, ThreadPoolExecutor) else _BATCHES
        yield from _as_finished(executor, check, batches(most))
    elif num_proc is not None and num_proc > 1:
        # The checker may be large: each process gets it once, not with every batch.
        keep, check_with_kept = _functions_for_processes()
        with ProcessPoolExecutor(num_proc, initializer=keep, initargs=(check,)) as pool:
            _require_workers(pool)
            yield from _as_finished(pool, check_with_kept, batches(_BATCHES))
    else:
        yield from ((start, check(batch)) for start, batch in batches(math.inf))


def _as_finished(
    executor: Executor, check: CheckBatch, batches: Iterable[tuple[int, list[PairToCheck]]]
) -> Iterator[BatchResult]:
    """Yield the results of batches that an executor checks, in the order in which they finish."""
    if not hasattr(executor, "submit"):  # a pool of multiprocessing or of Ray
        starts, parts = zip(*batches, strict=True)
        yield from zip(starts, executor.map(check, parts), strict=False)
        return
    waiting: dict[Future[list[PairResult]], int] = {}
    finished: SimpleQueue[Future[list[PairResult]]] = SimpleQueue()
    try:
        for start, batch in batches:
            future = executor.submit(check, batch)
            waiting[future] = start
            future.add_done_callback(finished.put)
        while waiting:
            future = finished.get()
            yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()


def _require_workers(pool: ProcessPoolExecutor) -> None:
    """Raise a ValueError unless workers start and run tasks that cannot fail.

    So a worker that dies later died while it checked a sample. Workers usually cannot start because
    they import a main module that starts them again.
    """
    tasks = os.cpu_count() or 1  # a pool starts workers for waiting tasks: so they start together
    try:
        with warnings.catch_warnings():
            # Since 3.12, Python warns if it forks a process that has threads, as libraries for
            # data have. The workers use none of these libraries.
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
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


def portable_check(
    checker: Callable[..., Any], labels: Mapping[str, float], batched: bool = False
) -> CheckBatch:
    """Return a function that applies a checker to a batch of pairs, here or in any worker.

    Args:
        checker: a function of a prediction and a reference.
        labels: labels that the checker may return, and the number of each.
        batched: whether the checker is a function of a list of each, and returns a list.
    """

    def check_batch(
        checker: Callable[..., Any],
        labels: dict[str, float],
        batched: bool,
        home: str,
        batch: list[PairToCheck],
    ) -> list[PairResult]:
        import os
        import pickle
        import socket
        import traceback

        def call(*arguments: Any) -> tuple[Any, BaseException | None]:
            """Return what the checker returns, or its exception."""
            try:
                return checker(*arguments), None
            except (Exception, SystemExit) as error:  # generated code may well call sys.exit
                problem: BaseException = error
                if home != f"{socket.gethostname()}:{os.getpid()}":
                    error.add_note(f"In the worker:\n{traceback.format_exc()}")
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # some exceptions cannot be pickled
                        problem = RuntimeError(f"{type(error).__name__}: {error}")
                return None, problem

        def read(result: Any) -> PairResult:
            """Return a result as a number, or what is wrong with it."""
            if getattr(result, "ndim", None) == 0:
                result = result.item()  # a scalar of NumPy or torch
            if isinstance(result, str):
                result = labels.get(result, result)
            is_category = isinstance(result, int) and 0 <= result < 2**31
            is_share = isinstance(result, float) and 0 <= result <= 1
            if result is None or is_category or is_share:
                return result, None
            return None, f"returned {repr(result)[:60]}"

        if not batched:
            called = [call(*pair) for pair in batch]
        else:
            found, problem = call(*map(list, zip(*batch, strict=True)))
            if problem is not None:
                return [(None, problem)] * len(batch)
            if not hasattr(found, "__len__") or len(found) != len(batch):
                text = (
                    f"returned {repr(found)[:60]} for a batch of {len(batch)}, one result for each"
                )
                return [(None, text)] * len(batch)
            called = [(result, None) for result in found]
        return [read(result) if error is None else (None, error) for result, error in called]

    home = f"{socket.gethostname()}:{os.getpid()}"
    return partial(_Portable(check_batch), _Portable(checker), dict(labels), batched, home)


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
