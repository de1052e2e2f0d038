"""Score requests in processes of their own, with limits on time and memory.

Visitors upload what they like, and checking it may take long: so each request has its own process,
which is ended when its time is up. `worker` is what runs in these processes.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .request import Answer, Request
from .worker import OUT_OF_MEMORY, work

_SECONDS = {"exact_match": 10.0, "numeric": 10.0, "math_verify": 20.0}
_MAX_WAIT = 2 * max(_SECONDS.values())

# Requests with a slow checker have their own slots, so that they do not delay the others.
_FAST_SLOTS = threading.BoundedSemaphore(4)
_SLOTS = {
    "exact_match": _FAST_SLOTS,
    "numeric": _FAST_SLOTS,
    "math_verify": threading.BoundedSemaphore(1),
}

# The fork server imports the libraries once. Each process starts as a copy of it.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([work.__module__])


def score(request: Request) -> Answer:
    """Score a request.

    Raises:
        ValueError: if it cannot be scored. The message is for the visitor.
    """
    # The process may be ended at any time, so its folder is removed here.
    with _slot(request.checker), tempfile.TemporaryDirectory() as folder:
        reply = _reply(request, folder)
    if isinstance(reply, str):
        raise ValueError(reply)
    return reply


def _reply(request: Request, folder: str) -> Answer | str:
    """Return what a new process answers, or a sentence that says why it was ended."""
    seconds = _SECONDS[request.checker]
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(target=work, args=(request, folder, sender), daemon=True)
    process.start()
    sender.close()  # so that the receiver sees the end of the process
    try:
        if receiver.poll(seconds):
            return receiver.recv()
        return (
            f"The request exceeded the time limit of {seconds:.0f} seconds. Use fewer samples or a "
            f"faster checker, or run the metric on your own machine."
        )
    except EOFError:
        return OUT_OF_MEMORY
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
        raise ValueError("The server is busy. Try again in a minute.")
    try:
        yield
    finally:
        slot.release()
