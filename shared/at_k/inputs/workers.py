"""Apply a checker to pairs of a prediction and a reference, in this process or in workers."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from queue import SimpleQueue

from .portable import BatchResult, CheckBatch, PairBatch, PairToCheck
from .processes import NO_WORKER_STARTED, check_in_processes

_BATCHES, _BATCHES_FOR_THREADS = 1 << 12, 1 << 14  # enough to keep many workers busy


def check_in_workers(
    check: CheckBatch,
    pairs: list[PairToCheck],
    batch_size: int | None,
    num_proc: int | None,
    executor: Executor | None,
    timeout: float | None,
) -> Generator[BatchResult, None, None]:
    """Yield the results of each batch of pairs as batches finish, and show the progress.

    Raises:
        ValueError: if the checker cannot be pickled, or if worker processes cannot start.
        BrokenExecutor: if a worker dies.
    """
    from tqdm.auto import tqdm

    # Otherwise the environment variable TQDM_DISABLE decides.
    hidden = {"disable": True} if _are_progress_bars_hidden() else {}
    with tqdm(total=len(pairs), desc="Checking", unit=" pairs", delay=1, **hidden) as bar:
        for start, results in _results_by_batch(
            check, pairs, batch_size, num_proc, executor, timeout
        ):
            bar.update(len(results))
            yield start, results


def _are_progress_bars_hidden() -> bool:
    """Whether `evaluate` or `datasets` hide progress bars: those of them that are imported."""
    evaluate, datasets = (sys.modules.get(name) for name in ("evaluate.utils.logging", "datasets"))
    return (evaluate is not None and not evaluate.is_progress_bar_enabled()) or (
        datasets is not None and datasets.are_progress_bars_disabled()
    )


def _results_by_batch(
    check: CheckBatch,
    pairs: list[PairToCheck],
    batch_size: int | None,
    num_proc: int | None,
    executor: Executor | None,
    timeout: float | None,
) -> Iterator[BatchResult]:
    def batches(most: float) -> Iterator[PairBatch]:
        # Sending a pair to a worker may take longer than checking it.
        size = batch_size or max(1, math.ceil(len(pairs) / most))
        return ((start, pairs[start : start + size]) for start in range(0, len(pairs), size))

    if executor is not None:
        if isinstance(executor, ProcessPoolExecutor):
            _require_workers(executor)
        most = _BATCHES_FOR_THREADS if isinstance(executor, ThreadPoolExecutor) else _BATCHES
        yield from _as_finished(executor, check, batches(most))
    elif timeout is not None:
        yield from check_in_processes(check, batches(len(pairs)), num_proc or 1, timeout)
    elif num_proc is not None and num_proc > 1:
        yield from check_in_processes(check, batches(_BATCHES), num_proc, None)
    else:
        yield from map(check, batches(math.inf))


def _as_finished(
    executor: Executor, check: CheckBatch, batches: Iterator[PairBatch]
) -> Iterator[BatchResult]:
    """Yield the results of batches that an executor checks, in the order in which they finish."""
    if not hasattr(executor, "submit"):  # a pool of multiprocessing or of Ray
        yield from executor.map(check, list(batches))
        return
    waiting: set[Future[BatchResult]] = set()
    finished: SimpleQueue[Future[BatchResult]] = SimpleQueue()
    try:
        for batch in batches:
            future = executor.submit(check, batch)
            waiting.add(future)
            future.add_done_callback(finished.put)
        while waiting:
            future = finished.get()
            waiting.discard(future)
            yield future.result()
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
            # As in `processes`: Python warns if it forks a process that has threads.
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
            list(pool.map(bool, range(tasks)))
    except BrokenExecutor as error:
        raise ValueError(NO_WORKER_STARTED) from error
