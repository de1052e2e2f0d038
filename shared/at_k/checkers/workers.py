"""Check pairs in this process, in an executor, or in processes that can be ended.

Workers may lack the code of the metric and of the checker. So what they run is pickled by `dill`,
with its code (see `_with_code`), and imports what it uses: it starts faster without our libraries.
"""

from __future__ import annotations

import asyncio
import builtins
import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import cached_property, partial
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from types import FunctionType
from typing import Any

import dill

from ..core.checking import (
    NOT_FINISHED,
    PARTS_OF_BATCH,
    BatchResult,
    Checking,
    PairBatch,
    PairToCheck,
    call_checker,
    host,
    text_or_type,
    validated_result,
)

CheckBatch = Callable[[PairBatch], BatchResult]  # applies a checker to a batch of pairs
CONCURRENT_CALLS = 32  # of an async checker, unless an executor is given
_LONGEST_WAIT = 1e6  # seconds for one wait; systems refuse more
_BATCHES = 1 << 12  # enough to keep many workers busy


def check_workers(checking: Checking) -> None:
    """Raise a ValueError if an async checker has a timeout, or is to run in other processes."""
    if not checking.is_async:
        return
    if checking.timeout is not None:
        raise ValueError("timeout cannot end an async check_correct_fn: limit the time in it.")
    if checking.num_proc not in (None, 1) or not isinstance(
        checking.executor, ThreadPoolExecutor | None
    ):
        raise ValueError(
            f"check_correct_fn is an async function, {CONCURRENT_CALLS} calls of which run at the "
            f"same time. To run more or fewer, give a ThreadPoolExecutor as executor."
        )


def check_pairs(checking: Checking, pairs: list[PairToCheck]) -> Generator[BatchResult, None, None]:
    """Check pairs with the function `checking.checker`, and yield what `run_check` yields."""
    assert callable(checking.checker)
    context: AbstractContextManager[tuple[Callable[..., Any], Executor | None]]
    context = nullcontext((checking.checker, checking.executor))
    if checking.is_async:
        context = _threads_for(checking.checker, checking.executor)
    with context as (checker, executor):
        batched = checking.batch_size is not None
        check = portable_check(checker, checking.labels or {}, batched)
        yield from run_check(checking, check, pairs, executor, checking.timeout)


def run_check(
    checking: Checking,
    check: CheckBatch,
    pairs: list[PairToCheck],
    executor: Executor | None,
    timeout: float | None,
) -> Generator[BatchResult, None, None]:
    """Return a generator of the results of batches of pairs, which also shows the progress.

    Batches are checked in the executor, in processes that end if a batch exceeds the timeout, or
    else here. `executor` and `timeout` replace those of `checking`. A BrokenExecutor is raised if a
    worker cannot start, or dies.
    """
    num_proc = checking.num_proc or 1
    are_sent = executor is not None or (timeout is None and num_proc > 1)
    # Sending a pair to a worker may take longer than checking it.
    size = checking.batch_size or (math.ceil(len(pairs) / _BATCHES) if are_sent else 1)
    batches = [(start, pairs[start : start + size]) for start in range(0, len(pairs), size)]
    results: Iterable[BatchResult]
    if executor is not None:
        results = executor.map(check, batches)
    elif timeout is not None or num_proc > 1:
        results = _check_in_processes(check, batches, num_proc, timeout)
    else:
        results = map(check, batches)
    return with_progress(results, len(pairs))


def _check_in_processes(
    check: CheckBatch, batches: list[PairBatch], num_proc: int, timeout: float | None
) -> Iterator[BatchResult]:
    """Yield the result of each batch when it finishes, or `NOT_FINISHED` for its pairs if late."""
    remaining = batches[::-1]
    workers = [_Worker(check) for _ in remaining[:num_proc]]
    try:
        while remaining or any(worker.batch for worker in workers):
            seconds = min(worker.deadline for worker in workers) - time.monotonic()
            connections = [worker.connection for worker in workers]
            ready = wait(connections, min(max(0.0, seconds), _LONGEST_WAIT))
            for index, worker in enumerate(workers):
                batch, result = worker.batch, None
                if worker.connection in ready:
                    result = worker.receive()
                    if remaining:
                        worker.send(remaining.pop(), timeout)
                elif batch and time.monotonic() > worker.deadline:
                    worker.end()
                    workers[index] = _Worker(check)
                    result = batch[0], [NOT_FINISHED] * len(batch[1])
                if result is not None:
                    yield result
    finally:
        for worker in workers:
            worker.end()


def with_progress(batches: Iterable[Any], pairs: int) -> Generator[Any, None, None]:
    """Yield the batches unchanged, and show how many of `pairs` pairs are checked."""
    from tqdm.auto import tqdm

    with tqdm(total=pairs, desc="Checking", unit=" pairs", delay=1) as bar:
        for start, results in batches:
            bar.update(len(results))
            yield start, results


# --- Async checkers -----------------------------------------------------------------------


@contextmanager
def _threads_for(
    checker: Callable[..., Any], executor: Executor | None
) -> Iterator[tuple[Callable[..., Any], Executor]]:
    """Yield a function that calls an async checker and waits, and the executor to call it in.

    All calls run in one event loop in a thread of its own, as in a notebook a loop is running. At
    the end of the block, unfinished calls are cancelled.
    """
    loop = asyncio.new_event_loop()
    finished = threading.Event()

    def run_loop() -> None:
        while not finished.is_set():  # a checker may stop its loop, or exit
            with suppress(SystemExit, KeyboardInterrupt):
                loop.run_forever()

    thread = threading.Thread(target=run_loop, daemon=True)
    thread.start()
    threads = executor or ThreadPoolExecutor(CONCURRENT_CALLS)

    def call(*arguments: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(checker(*arguments), loop).result()

    async def cancel_calls() -> None:
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for running in calls:
            running.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    try:
        yield call, threads
    finally:
        asyncio.run_coroutine_threadsafe(cancel_calls(), loop).result()
        if executor is None:
            threads.shutdown(cancel_futures=True)
        finished.set()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# --- What every worker can run ------------------------------------------------------------


class Portable:
    """A function that every executor can pickle with its code. Unpickling returns the function.

    In this process, each call runs in a copy of the `contextvars` context in which the object was
    made, so that a metric recognises calls from its own checker. Pickling may raise a ValueError.
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
    """Return `check_batch` with all arguments but the batch, to run in any thread or process."""
    own_labels = None if labels is None else dict(labels)
    check = _with_code(*PARTS_OF_BATCH, *([_check_whole_batch] if batched else []))
    return partial(Portable(check), Portable(checker), own_labels, host())


def _check_whole_batch(
    checker: Callable[..., Any], labels: Mapping[str, float], home: str, batch: PairBatch
) -> BatchResult:
    """Check all pairs of a batch by one call, with lists of predictions and references.

    Arguments and results are those of `check_batch`. If the call fails, each pair has the problem.
    """
    start, pairs = batch
    results, problem = call_checker(checker, home, *map(list, zip(*pairs, strict=True)))
    if problem is not None:
        return start, [(None, problem)] * len(pairs)
    if not hasattr(results, "__len__") or len(results) != len(pairs):
        text = text_or_type(repr, results)[:60]
        problem_text = f"returned {text} for a batch of {len(pairs)}, one result for each"
        return start, [(None, problem_text)] * len(pairs)
    return start, [validated_result((result, None), labels) for result in results]


def _with_code(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of the last function, which may call the others.

    The copies belong to `__main__`, so that `dill` pickles their code.
    """
    space: dict[str, Any] = {"__builtins__": builtins}
    for function in functions:
        copy = FunctionType(function.__code__, space, function.__name__)
        copy.__module__ = "__main__"
        space[function.__name__] = copy
    return copy


# --- Processes that can be ended ----------------------------------------------------------


class _Worker:
    """A process that checks one batch at a time. Without one, `batch` is None, `deadline` infinite.

    It exits when its parent exits, and leads a group with the processes that the checker starts.
    """

    def __init__(self, check: CheckBatch):
        self.connection, theirs = Pipe()
        self.batch: PairBatch | None = None
        self.deadline = math.inf
        self._process = Process(target=_serving(), args=(theirs, check), daemon=True)
        with warnings.catch_warnings():
            # Since 3.12, Python warns if it forks a process that has threads, as libraries for
            # data have. The workers use none of these libraries.
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
            self._process.start()
        theirs.close()

    def send(self, batch: PairBatch, timeout: float | None) -> None:
        self.batch = batch
        self.deadline = math.inf if timeout is None else time.monotonic() + timeout
        try:
            self.connection.send(batch)
        except OSError as error:
            raise BrokenExecutor("A worker process died.") from error

    def receive(self) -> Any:
        """Return what the process sends: None when it has started, or the results of its batch."""
        try:
            result = self.connection.recv()
        except (EOFError, OSError) as error:
            raise BrokenExecutor("A worker process could not start, or died.") from error
        self.batch, self.deadline = None, math.inf
        return result

    def end(self) -> None:
        """End the process, and those that its checker has started."""
        leader = self._process.pid
        if leader and hasattr(os, "killpg"):
            with suppress(OSError):  # the process has not made its group yet, or all have ended
                os.killpg(leader, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serving() -> Portable:
    """Return the function of a worker process, which checks batches until its parent exits."""

    def serve(connection: Connection, check: CheckBatch) -> None:
        import multiprocessing
        import os
        import signal
        import threading

        parent: Any = multiprocessing.parent_process()

        has_groups = hasattr(os, "setpgid")
        if has_groups:
            os.setpgid(0, 0)  # of which all end together

        def end_with_parent() -> None:
            parent.join()
            if has_groups:
                os.killpg(0, signal.SIGKILL)
            os._exit(1)

        threading.Thread(target=end_with_parent, daemon=True).start()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        connection.send(None)  # it is ready
        while True:
            connection.send(check(connection.recv()))

    return Portable(serve)
