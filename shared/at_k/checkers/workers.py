"""Check distinct pairs in this process, in an executor, or in processes that can be ended.

Workers may lack the code of the metric and of the checker. So what they run is pickled by `dill`
with its code (see `_with_code`), and imports what it uses: it starts faster without our libraries.
"""

from __future__ import annotations

import asyncio
import builtins
import math
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import cached_property, partial
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from types import FunctionType
from typing import Any

import dill

from ..core.checking import (
    Checking,
    DistinctPairs,
    PairResult,
    PairToCheck,
    call_checker,
    check_pair,
    is_async,
    text_or_type,
    validated_result,
)
from ..core.checks import InputError, check_count, check_positive

PairBatch = tuple[int, list[PairToCheck]]  # the index of the first pair of a batch, and its pairs
BatchResult = tuple[int, list[PairResult]]  # the index of the first pair, and all results
CheckBatch = Callable[[PairBatch], BatchResult]  # applies a checker to a batch of pairs

CheckPairs = Callable[[Checking, list[PairToCheck]], Generator[BatchResult, None, None]]
"""A function that checks pairs with the options of a `Checking`, and yields finished batches."""

NOT_FINISHED: PairResult = (None, None)
"""The result of a pair that took too long, which is not scored. Compare it with `is`."""

CONCURRENT_CALLS = 32  # of an async checker, unless an executor is given
_LONGEST_WAIT = 1e6  # seconds for one wait; systems refuse more
_BATCHES = 1 << 12  # enough to keep many workers busy


# --- Options ------------------------------------------------------------------------------


def check_worker_options(checking: Checking) -> None:
    """Take the options that the checker carries; raise an error if one is invalid, or two clash."""
    for name, value in getattr(checking.checker, "run_options", {}).items():
        if getattr(checking, name) is not None:
            raise ValueError(
                f"{name} is given to compute and to the checker: give it to the checker only."
            )
        setattr(checking, name, value)
    executor = checking.executor
    if checking.num_proc is not None:
        check_count("num_proc", checking.num_proc, "give a number of processes")
    if checking.timeout is not None:
        check_positive("timeout", checking.timeout, "give a number of seconds", math.inf)
    if executor is not None and checking.num_proc is not None:
        raise ValueError("num_proc and executor exclude each other: give one of them.")
    if executor is not None and checking.timeout is not None:
        raise ValueError(
            "timeout cannot end the calls of an executor: give num_proc instead of the executor, "
            "or limit the time in check_correct_fn."
        )
    _check_async_options(checking)


def _check_async_options(checking: Checking) -> None:
    """Raise a ValueError if an async checker has a timeout, or is to run in other processes."""
    if not is_async(checking.checker):
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


def _batch_size(checker: Any) -> int | None:
    """Return how many pairs a batched checker takes at once, or None if it is not batched."""
    if getattr(checker, "batched", None) is not True:
        return None
    size = getattr(checker, "batch_size", 64)
    return check_count("batch_size of check_correct_fn", size, "give a number of pairs")


# --- Distinct pairs, of which some may have been checked before ---------------------------


def check_pairs(checking: Checking, pairs: DistinctPairs, cache: dict[str, Any]) -> list[Any]:
    """Return the outcomes of pairs, (P,), by the function `checking.checker`."""
    return [outcome for outcome, _ in results_of_pairs(checking, pairs, cache, _check_by_function)]


def results_of_pairs(
    checking: Checking, pairs: DistinctPairs, cache: dict[str, Any], check_pairs: CheckPairs
) -> list[PairResult]:
    """Return the (P,) results of distinct pairs, with a warning of those that took too long.

    `check_pairs` checks the pairs that have no result in `cache`, which gets all finished results
    if a check fails. A ValueError is raised for a pair with a problem, a dead worker, or too few
    results.
    """
    finished = _finished_checks(checking, cache)
    results: dict[int, PairResult] = {}  # by the index of the pair
    if finished:  # The texts of all pairs would take long, and are not needed otherwise.
        texts = map(repr, pairs.pairs)
        results = {pair: finished[text] for pair, text in enumerate(texts) if text in finished}
    try:
        _check_missing(checking, pairs, results, check_pairs)
    except BaseException as error:
        finished |= {repr(pairs.pairs[pair]): result for pair, result in results.items()}
        if finished:
            error.add_note(
                f"{len(finished)} finished checks are kept: compute again with the same "
                f"check_correct_fn to check the others."
            )
        raise
    late = sum(result is NOT_FINISHED for result in results.values())
    if late and checking.timeout is not None:
        warnings.warn(
            f"{late} of {len(results)} distinct samples took longer to check than the timeout of "
            f"{checking.timeout:g} s. They are not scored.",
            stacklevel=3,
        )
    return [results[pair] for pair in range(len(results))]


def _finished_checks(checking: Checking, cache: dict[str, Any]) -> dict[str, PairResult]:
    """Return the results in `cache` by the `repr` of their pair, none for another checker."""
    checker = (checking.checker, checking.labels)
    if cache.get("checker") != checker:
        cache.update(checker=checker, results={})
    return cache["results"]


def _check_missing(
    checking: Checking,
    pairs: DistinctPairs,
    results: dict[int, PairResult],
    check_pairs: CheckPairs,
) -> None:
    """Check the pairs without a result, and add their results to `results`, by the pair's index."""
    missing = [pair for pair in range(len(pairs.pairs)) if pair not in results]
    if not missing:
        return
    try:
        with closing(check_pairs(checking, [pairs.pairs[pair] for pair in missing])) as batches:
            for start, batch in batches:  # the results of `missing[start]` and the pairs after it
                for pair, result in zip(missing[start:], batch, strict=False):
                    if result[1] is not None:
                        raise pairs.error(pair, result[1], checking.labels)
                    results[pair] = result
    except BrokenExecutor as error:
        raise InputError(
            "A worker died. The first missing result is that of ",
            *pairs.call(next((pair for pair in missing if pair not in results), missing[-1])),
            ": check_correct_fn may have ended its process, or used more memory than there is. If "
            "no worker could start, protect the start of the program with "
            '`if __name__ == "__main__":`, as workers import the main module.',
        ) from error
    pairs.require_all(len(results))


def _check_by_function(
    checking: Checking, pairs: list[PairToCheck]
) -> Generator[BatchResult, None, None]:
    """Check pairs with the function `checking.checker`, and yield what `run_check` yields."""
    assert callable(checking.checker)
    context: AbstractContextManager[tuple[Callable[..., Any], Executor | None]]
    context = nullcontext((checking.checker, checking.executor))
    if is_async(checking.checker):
        context = _threads_for(checking.checker, checking.executor)
    with context as (checker, executor):
        size = _batch_size(checking.checker)
        check = portable_check(checker, checking.labels or {}, is_batched=size is not None)
        yield from run_check(checking, check, pairs, executor, checking.timeout, size)


def run_check(
    checking: Checking,
    check: CheckBatch,
    pairs: list[PairToCheck],
    executor: Executor | None,
    timeout: float | None,
    size: int | None = None,
) -> Generator[BatchResult, None, None]:
    """Return a generator of the results of batches of pairs, which also shows the progress.

    Batches of `size` pairs are checked in the executor, in processes that end if a batch exceeds
    the timeout, or else here. `executor` and `timeout` replace those of `checking`. A
    BrokenExecutor is raised if a worker cannot start, or dies.
    """
    num_proc = checking.num_proc or 1
    are_sent = executor is not None or (timeout is None and num_proc > 1)
    # Sending a pair to a worker may take longer than checking it.
    size = size or (math.ceil(len(pairs) / _BATCHES) if are_sent else 1)
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
                    result = worker.receive()  # None from a process that has just started
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
    checker: Callable[..., Any], labels: Mapping[str, float] | None, is_batched: bool = False
) -> CheckBatch:
    """Return a function that applies a checker to a batch of pairs, in any thread or process."""
    parts = (text_or_type, validated_result, call_checker, check_pair, _sendable, _check_each)
    check = _with_code(*parts, *([_check_whole_batch] if is_batched else []))
    own_labels = None if labels is None else dict(labels)
    home = f"{platform.node()}:{os.getpid()}"  # differs from that on other machines
    return partial(Portable(check), Portable(checker), own_labels, home)


def _check_each(
    checker: Callable[..., Any], labels: Mapping[str, float] | None, home: str, batch: PairBatch
) -> BatchResult:
    """Check each pair of a batch, in any process. `portable_check` explains `labels` and `home`."""
    start, pairs = batch
    if labels is None:  # a checker of this package, whose results are valid
        results = [call_checker(checker, *pair) for pair in pairs]
    else:
        results = [check_pair(checker, labels, pair) for pair in pairs]
    return start, [(result, _sendable(problem, home)) for result, problem in results]


def _sendable(problem: Any, home: str) -> Any:
    """Return a problem that can be pickled, with its traceback unless this is process `home`."""
    import os
    import pickle
    import platform
    import traceback

    if not isinstance(problem, BaseException) or home == f"{platform.node()}:{os.getpid()}":
        return problem
    try:
        problem.add_note(f"In the worker:\n{''.join(traceback.format_exception(problem))}")
        pickle.loads(pickle.dumps(problem))
        return problem
    except Exception:  # some exceptions cannot be pickled
        return RuntimeError(f"{type(problem).__name__}: {text_or_type(str, problem)}")


def _check_whole_batch(
    checker: Callable[..., Any], labels: Mapping[str, float], home: str, batch: PairBatch
) -> BatchResult:
    """Do as `_check_each`, but by one call with lists. If it fails, each pair has the problem."""
    start, pairs = batch
    results, problem = call_checker(checker, *map(list, zip(*pairs, strict=True)))
    if problem is not None:
        return start, [(None, _sendable(problem, home))] * len(pairs)
    if not hasattr(results, "__len__") or len(results) != len(pairs):
        text = text_or_type(repr, results)[:60]
        problem_text = f"returned {text} for a batch of {len(pairs)}, one result for each"
        return start, [(None, problem_text)] * len(pairs)
    return start, [validated_result(result, None, labels) for result in results]


def _with_code(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of the last function, which may call the others; `dill` pickles its code."""
    space: dict[str, Any] = {"__builtins__": builtins}
    for function in functions:
        copy = FunctionType(function.__code__, space, function.__name__)
        copy.__module__ = "__main__"  # so that `dill` pickles the code
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
        self._process = Process(target=_worker_function(), args=(theirs, check), daemon=True)
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


def _worker_function() -> Portable:
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
