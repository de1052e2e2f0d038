"""Process 1 of a sandbox. It starts a process for each program, and ends all processes of it.

What runs where, and what crosses between:

- The process of the user (`sandbox.py`) starts the sandbox. It writes the tests of a program into a
  file, the desk, which has no name, and sends a job with the program to the server. It watches the
  CPU time and the memory of all processes, and reads the verdict from the desk.
- The server forks a process for each program. It never reads the desk, so that no program has
  tests, or expected outputs, of an earlier one.
- The examiner (`examiner.py`) was forked before the first program. It reads the tests from the
  desk, runs them, compares results with what is expected, and writes the verdict to the desk.
- The process of a program (`program.py`) cannot open the desk. It answers the examiner through a
  socket: names, and results of calls, as values in JSON (`values.py`).

A program can send signals, which end the examiner and with it the sandbox, and change nothing else
of it: no process may trace another, and there is no /proc.
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
import stat
import sys
from contextlib import suppress
from typing import Any

from .program import MOST_FILES, READY, run_program

with suppress(ImportError):  # Windows lacks it, and runs no programs
    import resource

_FILE_BYTES = 1 << 25  # the largest file that a program may write, and the largest output
_MOST_PROCESSES = 64  # of a program, threads included
_MEMORY_OF_TESTS = 1 << 29  # bytes, beside those of a program
_MESSAGE = 500  # bytes
_TICK, _TICK_OF_END = 0.01, 0.0001  # seconds between looks for processes that have ended
# To import them in each process would take longer than most tests.
_OFTEN_IMPORTED = (
    *("bisect", "collections", "copy", "datetime", "functools", "hashlib", "heapq", "itertools"),
    *("math", "operator", "random", "re", "statistics", "string", "typing"),
)


def serve(settings: dict[str, Any]) -> None:
    """Run the jobs of standard input, and reply to each, until it ends or a reply has `is_last`.

    `settings` are those of `Sandbox`.
    """
    jobs, replies = os.dup(0), os.dup(1)
    printed = os.dup(settings["printed"])  # a number below MOST_FILES, which a program closes
    os.close(settings["printed"])
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores signals without a handler
    kept = {folder: {*os.listdir(folder)} for folder in settings["folders"]}
    control = _start_examiner(settings, (jobs, replies))
    os.close(settings["desk"])
    for name in _OFTEN_IMPORTED:
        importlib.import_module(name)
    control.recv(1)  # the examiner is ready
    server = Server(settings, jobs, control, printed)
    sys.argv = ["program.py"]
    gc.collect()
    gc.freeze()
    with (
        suppress(BrokenPipeError),
        open(jobs, "rb", closefd=False) as lines,
        open(replies, "wb", closefd=False) as out,
    ):
        os.dup2(null, 2)
        for line in lines:
            reply = server.run(json.loads(line))
            reply["is_last"] = not (_clean_folders(kept) and server.is_usable)
            out.write(json.dumps(reply).encode() + b"\n")
            out.flush()
            if reply["is_last"]:
                break  # a new sandbox takes the next job


def _start_examiner(settings: dict[str, Any], server_descriptors: tuple[int, ...]) -> Any:
    """Fork the examiner, close `server_descriptors` in it, and return a socket to it."""
    theirs: Any
    ours, theirs = _socket.socketpair()
    is_isolated = os.getpid() == 1
    if os.fork():
        theirs.close()
        return ours
    try:
        ours.close()
        for descriptor in server_descriptors:
            os.close(descriptor)
        os.dup2(0, 2)
        if own_bytes := _address_space():  # a program may return a number that tests count to
            most = own_bytes + settings["memory"] + _MEMORY_OF_TESTS
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        from .examiner import examine

        examine(theirs, settings["desk"], is_isolated)
    finally:
        os._exit(0)


class Server:
    """Runs programs one after another, and ends them."""

    def __init__(self, settings: dict[str, Any], jobs: int, control: Any, printed: int):
        """Take the settings of `Sandbox`, and `control`, a socket to the examiner.

        The descriptor `jobs` is the pipe from the user's process, and `printed` the file that has
        what a script prints.
        """
        self._folder, self._control = settings["folders"][0], control
        self._limits = _limits(settings)
        self._printed = printed
        self.is_usable = True  # whether the examiner can run the tests of the next program
        self._parent = select.poll()
        self._parent.register(jobs, 0)  # reports only that the parent has ended

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run the server's job of `Tests.jobs`, let the examiner run its tests, and return a reply.

        It has `has_started`, whether the program got its limits; `exit_code`, negative after a
        signal; `message`, the exception that ended a script; `cpu_seconds` of the program and what
        it started; and `is_examined`, whether the examiner has written a verdict.
        """
        for name in job["preload"]:
            with suppress(ImportError):
                importlib.import_module(name)
        before = _cpu_seconds_of_children()
        os.ftruncate(self._printed, 0)
        os.lseek(self._printed, 0, os.SEEK_SET)
        connection = self._start_program(job)
        has_started, message, is_examined = os.read(connection, 1) == READY, b"", False
        if has_started and job["stdin"] is None:
            is_examined = self._let_examine(connection)
        elif has_started:
            self._await(connection, _TICK, until_program_ends=True)
            while self._exit_code is None:
                self._reap(0)
            is_examined = self._exit_code == 0 and self._let_examine(self._printed)
            os.set_blocking(connection, False)  # other processes may hold it
            with suppress(OSError):
                message = os.read(connection, _MESSAGE)
        os.close(connection)
        self._end_processes()
        return {
            "has_started": has_started,
            "exit_code": self._exit_code,
            "message": message.decode(errors="replace"),
            "cpu_seconds": _cpu_seconds_of_children() - before,
            "is_examined": is_examined,
        }

    def _start_program(self, job: dict[str, Any]) -> int:
        """Fork the process of a program, and return the descriptor of a socket to it."""
        ours, theirs = _socket.socketpair()
        self._exit_code: int | None = None
        self._program = os.fork()
        if self._program == 0:
            run_program(job, self._folder, self._limits, theirs.fileno(), self._printed)
        theirs.close()
        return ours.detach()

    def _let_examine(self, descriptor: int) -> bool:
        """Give the examiner a program's socket or output; return whether it wrote a verdict."""
        data = descriptor.to_bytes(4, sys.byteorder)
        with suppress(OSError):
            self._control.sendmsg([b"e"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, data)])
            self._await(self._control, _TICK)
            return self._control.recv(1) == b"e"
        return False

    def _await(self, connection: Any, tick: float, until_program_ends: bool = False) -> None:
        """Wait until `connection` can be read, or, on request, until the program has ended.

        Every `tick` seconds, reap orphans that have ended, because they count as processes. If the
        process of the user has ended, end this process.
        """
        while not select.select([connection], [], [], tick)[0]:
            while self._reap(os.WNOHANG):
                pass
            if until_program_ends and self._exit_code is not None:
                return
            if self._parent.poll(0):
                self._end_program()
                os._exit(0)

    def _end_processes(self) -> None:
        """End a program and its processes. Without a namespace, those that left its group go on."""
        self.is_usable = False
        self._end_program()
        while self._exit_code is None:
            self._reap(0)
        with suppress(OSError):
            self._control.send(b"k")  # end and reap all other processes
            self._await(self._control, _TICK_OF_END)
            self.is_usable = self._control.recv(1) == b"k"
        if os.getpid() == 1 and not self.is_usable:  # The examiner did not reply.
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)

    def _end_program(self) -> None:
        """End the process of a program, or its process group where there is no namespace."""
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses if all have ended
            if os.getpid() != 1:
                os.killpg(self._program, signal.SIGKILL)
            elif self._exit_code is None:
                os.kill(self._program, signal.SIGKILL)

    def _reap(self, options: int) -> bool:
        """Wait for a child process, or an orphan; return whether there was one that has ended."""
        number, status = 0, 0
        with suppress(ChildProcessError):
            number, status = os.waitpid(-1, options)
        if number == self._program:
            self._exit_code = os.waitstatus_to_exitcode(status)
        return number != 0


# --- Processes and files ------------------------------------------------------------------


def _cpu_seconds_of_children() -> float:
    """Return the CPU time of all processes that this one has waited for, and of their children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _limits(settings: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return the limits of each program: a constant of `resource`, and the soft and hard limit."""
    seconds, own_bytes = math.ceil(settings["cpu_seconds"]), _address_space()
    largest = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: MOST_FILES,
        **({resource.RLIMIT_AS: own_bytes + settings["memory"]} if own_bytes else {}),
        **({resource.RLIMIT_NPROC: _MOST_PROCESSES} if settings["limits_processes"] else {}),
    }
    limits = [(limit, value, value) for limit, value in largest.items()]
    return [(resource.RLIMIT_CPU, seconds, seconds + 1), *limits]


def _address_space() -> int:
    """Return the bytes of address space of this process; 0 on macOS, which has no such limit."""
    if sys.platform != "linux":
        return 0
    # There is no /proc: find the smallest limit with which one more block can be mapped.
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


def serve_as_user(settings: dict[str, Any]) -> None:
    """Become the user with the number `settings["user"]`, unless it is None, and `serve`.

    Root does so, because Linux does not limit the processes of root. Exits if Python is unreadable.
    """
    user = settings["user"]
    folders = [folder for folder in sys.path if os.path.isdir(folder)]
    modes = os.stat(os.path.dirname(__file__)).st_mode & os.stat(__file__).st_mode
    if user is not None and not modes & stat.S_IROTH:  # the user could not import them later
        from . import examiner, runner  # noqa: F401
    if user is not None:  # a user of its own has processes of its own
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    for folder in folders:
        if not os.access(folder, os.R_OK | os.X_OK):
            sys.exit(f"{folder} can be read by its owner only, and programs run as another user")
    serve(settings)
