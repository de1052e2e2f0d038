"""Score requests in processes of their own, with limits on time and memory.

Visitors upload what they like, and checking it may take long: so each request has its own process,
which is ended when its time is up. `worker` is what runs in these processes.
"""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .request import Answer, Request
from .space import Space
from .worker import OUT_OF_MEMORY, SECONDS, work

_START_SECONDS = 120  # the first process waits until the fork server has imported the libraries
_MAX_WAIT = 3 * max(SECONDS.values())
_BUSY = "The server is busy. Try again in a minute."

# Requests with a slow checker have their own slots, so that they do not delay the others.
_SLOTS = dict.fromkeys(SECONDS, threading.BoundedSemaphore(4))
_SLOTS["math_verify"] = threading.BoundedSemaphore(1)

# The fork server imports the libraries once. Each process starts as a copy of it.
_context = multiprocessing.get_context("forkserver")


def preload(space: Space) -> None:
    """Let the fork server import the libraries that requests of a Space need."""
    modules = [work.__module__]
    if space.has_references:
        modules.append(f"{__package__}.preloaded")
    _context.set_forkserver_preload(modules)


def score(request: Request) -> Answer:
    """Score a request.

    Raises:
        ValueError: if it cannot be scored. The message is for the visitor.
    """
    return next(step for step in score_in_steps(request) if step is not None)


def score_in_steps(request: Request) -> Iterator[Answer | None]:
    """Score a request: yield None every second, and then the answer.

    If the generator is closed, the process that scores the request is ended. The system ends a
    process that has used its processor time. On a server that is too busy to give it this time, the
    process is ended here.

    Raises:
        ValueError: if the request cannot be scored. The message is for the visitor.
    """
    seconds = SECONDS[request.checker]
    # The process may be ended at any time, so its folder is removed here.
    with _slot(request.checker), tempfile.TemporaryDirectory() as folder:
        deadline = time.monotonic() + _START_SECONDS
        receiver, sender = _context.Pipe(duplex=False)
        process = _context.Process(target=work, args=(request, folder, sender), daemon=True)
        process.start()
        sender.close()  # so that the receiver sees the end of the process
        try:
            while time.monotonic() < deadline:
                if receiver.poll(1):
                    reply = receiver.recv()
                    if isinstance(reply, ValueError):
                        raise reply
                    if isinstance(reply, Answer):
                        yield reply
                        return
                    deadline = time.monotonic() + 6 * seconds  # the process has started
                yield None
            raise ValueError(_BUSY)
        except EOFError as error:
            process.join()
            if process.exitcode != -signal.SIGXCPU:
                raise ValueError(OUT_OF_MEMORY) from error
            raise ValueError(
                f"The request exceeded the time limit of {seconds} seconds. Use fewer samples or a "
                f"faster checker, or run the metric on your own machine."
            ) from error
        finally:
            process.kill()
            process.join()
            process.close()
            receiver.close()


@contextmanager
def _slot(checker: str) -> Iterator[None]:
    """Wait until a request with this checker may run; a ValueError if that takes too long."""
    slot = _SLOTS[checker]
    if not slot.acquire(timeout=_MAX_WAIT):
        raise ValueError(_BUSY)
    try:
        yield
    finally:
        slot.release()
