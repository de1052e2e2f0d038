"""Score requests in processes of their own, with limits on time and memory.

Visitors upload what they like, and checking it may take long. So each request has its own process,
which is ended when its time is up.
"""

import ctypes
import logging
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing.connection import Connection

from .answering import answer_to
from .asking import ChoiceError, message_for_page
from .request import MAX_BYTES, Answer, Request
from .space import Space

_SECONDS = {"exact_match": 10, "numeric": 10, "choice": 10, "math_verify": 20}
"""The processor time that a small request may take, by the name of its checker."""
_BYTES_PER_SECOND = 1_000_000  # each second more for larger samples; texts take half of that

_START_SECONDS = 120  # the first process waits until the fork server has imported the libraries
_MAX_WAIT = 60
_MAX_MEMORY = 3 << 30
_MAX_FILE_SIZE = 5 * MAX_BYTES

_BUSY = "The server is busy. Try again in a minute."
_OUT_OF_MEMORY = (
    "The request exceeded the memory limit. Use fewer samples, or run the metric on your own "
    "machine."
)
_UNEXPECTED = "The samples could not be scored. Check that the columns hold what is expected."

_logger = logging.getLogger(__name__)

# Requests with a slow checker have their own slots, so that they do not delay the others.
_SLOTS = dict.fromkeys(_SECONDS, threading.BoundedSemaphore(4))
_SLOTS["math_verify"] = threading.BoundedSemaphore(1)

# The fork server imports the libraries once. Each process starts as a copy of it.
_context = multiprocessing.get_context("forkserver")


def preload(space: Space) -> None:
    """Let the fork server import the libraries that requests of a Space need."""
    modules = [__name__]
    if space.has_references:
        modules.append(f"{__package__}.preloaded")
    _context.set_forkserver_preload(modules)


def score(request: Request) -> Answer:
    """Return the answer to a request. Raises the errors of `score_in_steps`, which scores it."""
    return next(step for step in score_in_steps(request) if step is not None)


def score_in_steps(request: Request) -> Iterator[Answer | None]:
    """Score a request in a process of its own. Yield None every second, and then the answer.

    The process is ended if it has used its processor time, if six times this time has passed since
    it started (the server is busy), or if the caller closes the generator. Raise a ValueError for
    the visitor if there is no answer.
    """
    seconds, slot = _seconds_for(request), _SLOTS[request.checker]
    if not slot.acquire(timeout=_MAX_WAIT):
        raise ValueError(_BUSY)
    with ExitStack() as stack:
        stack.callback(slot.release)
        # The process may be ended at any time, so its folder is removed here.
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        deadline = time.monotonic() + _START_SECONDS
        receiver, sender = _context.Pipe(duplex=False)
        process = _context.Process(target=_work, args=(request, folder, sender), daemon=True)
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
                raise ValueError(_OUT_OF_MEMORY) from error
            raise ValueError(
                f"The request exceeded the time limit of {seconds} seconds. Use fewer samples or a "
                f"faster checker, or run the metric on your own machine."
            ) from error
        finally:
            process.kill()
            process.join()
            process.close()
            receiver.close()


def _seconds_for(request: Request) -> int:
    """Return the processor time that a request may take."""
    return _SECONDS[request.checker] + request.size // _BYTES_PER_SECOND


# --- In the process of a request ----------------------------------------------------------


def _work(request: Request, folder: str, connection: Connection) -> None:
    """Score a request in this process, with limits on its memory, time and files.

    Send None through `connection` at the start, and at the end the answer, or a ValueError.
    """
    connection.send(None)
    if sys.platform == "linux":
        # The system ends this process with the fork server, which ends with the server.
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    # Processor time does not depend on how busy the server is.
    seconds = _seconds_for(request)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_SIZE, _MAX_FILE_SIZE))
    tempfile.tempdir = folder
    os.chdir(folder)
    reply: Answer | ValueError
    try:
        reply = answer_to(request)
    except (ValueError, TypeError, OverflowError) as error:
        reply = error_for_page(error, request)
    except RecursionError:
        reply = ValueError("The lists are nested too deeply.")
    except MemoryError:
        reply = ValueError(_OUT_OF_MEMORY)
    except Exception:
        _logger.exception("Unexpected error while scoring a request")
        reply = ValueError(_UNEXPECTED)
    connection.send(reply)


def error_for_page(error: Exception, request: Request) -> ValueError:
    """Return an error in the words of the page. A ChoiceError keeps its choices."""
    message = message_for_page(error, request)
    if isinstance(error, ChoiceError):
        error.args = (message,)
        return error
    return ValueError(message)
