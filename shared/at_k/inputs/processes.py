"""Worker processes that can be ended: each checks one batch at a time.

A process that checks a batch for too long is killed and replaced. Each ends when the process that
started it ends.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from typing import Any

from .portable import BatchResult, CheckBatch, PairBatch, PairResult, Portable

NOT_FINISHED: PairResult = (None, None)
"""The result of a pair that took too long, which is not scored. Compare it with `is`."""

NO_WORKER_STARTED = (
    "No worker process could start; its own error is on standard error. Workers import the main "
    'module: protect the start of the program with `if __name__ == "__main__":`.'
)


def check_in_processes(
    check: CheckBatch, batches: Iterable[PairBatch], number: int, seconds: float | None
) -> Iterator[BatchResult]:
    """Yield the results of batches as they finish.

    Args:
        check: what each process gets once, when it starts.
        batches: the pairs to check.
        number: of processes, at most one for each batch.
        seconds: that a batch may take, or None for no limit. Its results are `NOT_FINISHED` then.

    Raises:
        ValueError: if the checker cannot be pickled, or if processes cannot start.
        BrokenExecutor: if a process dies.
    """
    remaining = list(reversed(list(batches)))
    workers = []
    try:
        # All start before any is waited for, so that they start at the same time.
        workers = [_Worker(check) for _ in range(min(number, len(remaining)))]
        for worker in workers:
            worker.wait_until_ready()
        while remaining or any(worker.batch for worker in workers):
            for worker in workers:
                if worker.batch is None and remaining:
                    worker.send(remaining.pop())
            busy: dict[Any, _Worker] = {
                worker.connection: worker for worker in workers if worker.batch
            }
            first = min(worker.sent for worker in busy.values())
            left = None if seconds is None else max(0.0, first + seconds - time.monotonic())
            for connection in wait(busy, left):
                yield busy[connection].receive()
            for place, worker in enumerate(workers):
                late = seconds is not None and time.monotonic() > worker.sent + seconds
                if worker.batch is not None and late:
                    start, pairs = worker.batch
                    worker.end()
                    workers[place] = _Worker(check)
                    workers[place].wait_until_ready()
                    yield start, [NOT_FINISHED] * len(pairs)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process, and the batch that it checks if there is one.

    Attributes:
        connection: to the process.
        batch: the pairs that the process checks, or None.
        sent: when the batch was sent, in seconds.
    """

    def __init__(self, check: CheckBatch):
        self.connection, theirs = Pipe()
        self.batch: PairBatch | None = None
        self.sent = 0.0
        self._process = Process(target=_serving(), args=(theirs, check), daemon=True)
        with warnings.catch_warnings():
            # Since 3.12, Python warns if it forks a process that has threads, as libraries for
            # data have. The workers use none of these libraries.
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
            self._process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        try:
            self.connection.recv()
        except EOFError as error:
            raise ValueError(NO_WORKER_STARTED) from error

    def send(self, batch: PairBatch) -> None:
        self.batch, self.sent = batch, time.monotonic()
        try:
            self.connection.send(batch)
        except OSError as error:
            raise BrokenExecutor("A worker process died.") from error

    def receive(self) -> BatchResult:
        try:
            result = self.connection.recv()
        except (EOFError, OSError) as error:
            raise BrokenExecutor("A worker process died.") from error
        self.batch = None
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serving() -> Portable:
    """Return the function that a worker process runs."""

    def serve(connection: Connection, check: CheckBatch) -> None:
        import multiprocessing
        import os
        import signal
        import threading

        parent: Any = multiprocessing.parent_process()

        def end_with_parent() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=end_with_parent, daemon=True).start()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        connection.send("ready")
        while True:
            connection.send(check(connection.recv()))

    return Portable(serve)
