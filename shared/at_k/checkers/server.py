"""The two processes of a sandbox that start programs and test them.

What runs where, and what crosses between:

- The process of the user (`sandbox.py`) starts the sandbox and sends it a job for each program. It
  watches the CPU time and the memory of all processes, and gets a verdict.
- The server, process 1, has the tests (`examiner.py`). It runs no code of a program, and forks
  none: no program can find tests, or expected outputs, in the memory that it starts with.
- The starter, its only child, forks a process for each program (`program.py`), and ends all
  processes of it.
- The process of a program answers the server through a socket: names, and results of calls, as
  values in JSON (`values.py`). A script prints to a file without a name.

A program can send signals. They end the starter, and with it the sandbox, at most: Linux protects
process 1, no process may trace another, and there is no /proc.
"""

from __future__ import annotations

# Without the module socket, which imports so much that each fork takes longer.
import _socket
import gc
import importlib
import json
import math
import mmap
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import IO, Any

from .program import MOST_FILES, READY, close_all_but, run_program
from .values import receive, send

with suppress(ImportError):  # Windows lacks it, and runs no programs
    import resource

_FILE_BYTES = 1 << 25  # the largest file that a program may write, and the largest output
_MOST_PROCESSES = 64  # of a program, threads included
_MEMORY_OF_TESTS = 1 << 29  # bytes, beside those of a program
_MESSAGE = 500  # bytes
# To import them in each process would take longer than most tests.
_OFTEN_IMPORTED = (
    *("bisect", "collections", "copy", "datetime", "functools", "hashlib", "heapq", "itertools"),
    *("math", "operator", "random", "re", "statistics", "string", "typing"),
)


def serve(settings: dict[str, Any]) -> None:
    """Run the jobs of standard input, and reply to each, until it ends or a reply has `is_last`.

    Exits with a text if packages of Python are unreadable.

    Args:
        settings: a dict with `cpu_seconds` and `memory` (bytes) of a program; `folders`, which it
            may write to; `is_isolated`, whether this is process 1 of a namespace; `printed`, the
            descriptor of a file; and `user`, the number of the user to become, or None, because
            Linux does not limit the processes of root.
    """
    user = settings["user"]
    folders = [folder for folder in sys.path if os.path.isdir(folder)]
    if user is not None:  # a user of its own has processes of its own
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    for folder in folders:
        if not os.access(folder, os.R_OK | os.X_OK):
            sys.exit(f"{folder} can be read by its owner only, and programs run as another user")
    jobs, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores signals without a handler
    kept = {folder: {*os.listdir(folder)} for folder in settings["folders"]}
    server = _Server(settings, jobs)
    os.dup2(null, 2)
    with suppress(BrokenPipeError):
        for line in jobs:
            reply = server.run(**json.loads(line))
            # A new sandbox takes the next job if a program has left something.
            reply["is_last"] = not (_clean_folders(kept) and server.is_usable)
            replies.write(json.dumps(reply).encode() + b"\n")
            replies.flush()


def _reap_orphans() -> None:
    """Wait for processes whose parents have ended, because they count as processes, forever."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _exit_after_parent(jobs: IO[bytes]) -> None:
    """Wait until the process that sends jobs has ended, and end this one."""
    parent = select.poll()
    parent.register(jobs, 0)  # reports only that the other end is closed
    parent.poll()
    os._exit(0)


class _Server:
    """Tests programs one after another.

    Attributes:
        is_usable: whether the starter can start the next program.
    """

    def __init__(self, settings: dict[str, Any], jobs: IO[bytes]):
        self.is_usable = True
        self._reported = 0.0  # seconds, by the starter
        self._printed, self._is_isolated = settings["printed"], settings["is_isolated"]
        self._control, theirs = _socket.socketpair()
        if os.fork() == 0:
            try:
                close_all_but(theirs.fileno(), self._printed)
                os.dup2(0, 2)
                _start_programs(settings, theirs)
            finally:
                os._exit(0)
        theirs.close()
        from threading import Thread  # here, because each library makes a fork slower

        self._reaper = Thread(target=_reap_orphans, daemon=True)
        self._reaper.start()
        Thread(target=_exit_after_parent, args=(jobs,), daemon=True).start()
        if own_bytes := _address_space():  # a program may return a number that tests count to
            most = own_bytes + settings["memory"] + _MEMORY_OF_TESTS
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        from . import examiner

        self._examiner = examiner
        self._control.recv(1)  # the starter is ready

    def run(self, job: dict[str, Any], exam: dict[str, Any]) -> dict[str, Any]:
        """Run a program with its tests, and return what happened.

        Args:
            job: what the starter gets, see `Tests.jobs`.
            exam: the tests.

        Returns:
            A dict with `has_started`, whether the program got its limits; the entries of the
            verdict of `examine`; `exit_code` of the program, which is negative after a signal; and
            `cpu_seconds` of all processes.
        """
        before = _cpu_seconds_of_children()  # of orphans
        os.ftruncate(self._printed, 0)
        os.lseek(self._printed, 0, os.SEEK_SET)
        send(self._control.fileno(), job)
        _, [(_, _, sent)], *_ = self._control.recvmsg(1, _socket.CMSG_LEN(4))
        connection = int.from_bytes(sent, sys.byteorder)
        has_started = os.read(connection, 1) == READY
        verdict, seconds = self._examiner.ENDED, 0.0
        if job["stdin"] is None:
            start = time.process_time()
            if has_started:
                verdict = self._examiner.examine(exam, connection)
            seconds = time.process_time() - start
            os.close(connection)
            with suppress(BrokenPipeError):
                self._control.send(b"k")
            report = self._report()
        else:
            report = self._report()
            os.set_blocking(connection, False)  # other processes may hold it
            with suppress(OSError):
                message = os.read(connection, _MESSAGE).decode(errors="replace")
                verdict = verdict | {"message": message}
            os.close(connection)
            if report["exit_code"] == 0:
                size = os.fstat(self._printed).st_size
                printed = os.pread(self._printed, size, 0).decode(errors="replace")
                verdict = self._examiner.examine(exam, printed)
        seconds += report["cpu_seconds"] + _cpu_seconds_of_children() - before
        if not self.is_usable:  # the starter, with all that it has started, is one of the children
            seconds -= self._reported
        self._reported += report["cpu_seconds"]
        return {"has_started": has_started, **verdict, **report, "cpu_seconds": seconds}

    def _report(self) -> dict[str, Any]:
        """Return what the starter reports when all processes of a program have ended."""
        try:
            return receive(self._control.fileno())
        except EOFError:
            self.is_usable = False
            if self._is_isolated:
                with suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
            self._reaper.join(1)
            return {"exit_code": -signal.SIGKILL, "cpu_seconds": 0.0}


# --- The starter --------------------------------------------------------------------------


def _start_programs(settings: dict[str, Any], control: Any) -> None:
    """Run programs in processes of their own, until the server closes the socket `control`.

    Messages are jobs, see `Tests.jobs`. Each is answered with the descriptor of a socket to the
    program. When its script, or the server with its tests, has finished, all processes of the
    program end, and its exit code and the CPU time of its processes are sent.
    """
    sys.argv = ["program.py"]
    limits = _import(_OFTEN_IMPORTED, settings)
    control.send(b"r")
    while True:
        job = receive(control.fileno())
        if any(name not in sys.modules for name in job["preload"]):
            limits = _import(job["preload"], settings)
        before = _cpu_seconds_of_children()
        ours, theirs = _socket.socketpair()
        program = os.fork()
        if program == 0:
            run_program(job, settings, limits, theirs.fileno())
        sent = ours.fileno().to_bytes(4, sys.byteorder)
        control.sendmsg([b"p"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, sent)])
        ours.close()
        theirs.close()
        status = None
        if job["stdin"] is None:
            control.recv(1)
        else:
            status = os.waitpid(program, 0)[1]
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses if all have ended
            os.kill(-1 if settings["is_isolated"] else -program, signal.SIGKILL)
        if status is None:
            status = os.waitpid(program, 0)[1]
        with suppress(ProcessLookupError):
            while settings["is_isolated"]:  # until the server has reaped all others
                os.kill(-1, signal.SIGKILL)
                time.sleep(0.0001)
        seconds = _cpu_seconds_of_children() - before
        code = os.waitstatus_to_exitcode(status)
        send(control.fileno(), {"exit_code": code, "cpu_seconds": seconds})


def _import(names: Any, settings: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Import modules here, so that no program has to, and return the limits of each program.

    A limit is a constant of `resource`, with the soft and the hard limit.
    """
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    own_bytes = _address_space()
    limits = {
        resource.RLIMIT_CPU: math.ceil(settings["cpu_seconds"]) + 1,  # the user's process is first
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: MOST_FILES,
        **({resource.RLIMIT_AS: own_bytes + settings["memory"]} if own_bytes else {}),
        **({resource.RLIMIT_NPROC: _MOST_PROCESSES} if settings["is_isolated"] else {}),
    }
    return [(limit, value, value) for limit, value in limits.items()]


def _cpu_seconds_of_children() -> float:
    """Return the CPU time of all processes that this one has waited for, and of their children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _address_space() -> int:
    """Return the bytes of address space of this process; 0 on macOS, which has no such limit.

    There is no /proc: bisection finds the smallest limit with which one more block can be mapped.
    """
    if sys.platform != "linux":
        return 0
    step = 1 << 20
    low, high = 0, 1 << 47
    limits = resource.getrlimit(resource.RLIMIT_AS)
    while high - low > step:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, limits[1]))
        try:
            mmap.mmap(-1, step).close()
            high = middle
        except (OSError, MemoryError):
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, limits)
    return high


def _clean_folders(kept: dict[str, set[str]]) -> bool:
    """Remove files not in `kept`, a dict from folder to names; return whether none is left."""
    try:
        for folder, names in kept.items():
            for name in {*os.listdir(folder)} - names:
                path = os.path.join(folder, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    import shutil  # here, because each library makes a fork slower

                    shutil.rmtree(path)
                else:
                    os.unlink(path)
    except (OSError, RecursionError):
        return False
    return True
