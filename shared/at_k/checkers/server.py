"""Process 1 of a sandbox. It starts a process for each program, and limits and ends it.

What runs where, and what crosses between:

- The process of the user starts the sandbox. It sends programs to the server, and tests to the
  examiner, through one pipe each, and compares outputs with what is expected (`references.py`).
- The server forks one process for each program. It never has tests or expected outputs, so no
  program inherits them.
- The examiner (`examiner.py`) was forked before the first program, and runs the tests.
- The process of a program (`program.py`) answers the examiner through a socket: names, and results
  of calls, as values in JSON (`values.py`). It has nothing but the arguments of its calls.

The verdict is the examiner's, and a program cannot reach it: it can send signals, which end the
examiner and with it the sandbox, and make no other change. No process may trace another, and there
is no /proc. The server counts the CPU time of all of them.
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
from typing import Any

from .program import MOST_FILES, run_program

with suppress(ImportError):  # Windows lacks it, and runs no programs
    import resource

_FILE_BYTES = 1 << 25  # the largest file that a program may write, and the largest output
_MOST_PROCESSES = 64  # of a program, threads included
_MEMORY_OF_TESTS = 1 << 29  # bytes, beside those of a program
_MESSAGE = 500  # characters
_PATIENCE_WITH_EXAMINER = 2.0  # seconds for the examiner to end all other processes
_TICK, _LONGEST_TICK = 0.02, 0.05  # seconds between two readings of CPU clocks
# To import them in each process would take longer than most tests.
_OFTEN_IMPORTED = (
    *("bisect", "collections", "copy", "datetime", "functools", "hashlib", "heapq", "itertools"),
    *("math", "operator", "random", "re", "statistics", "string", "typing"),
)


def serve(limits: dict[str, Any]) -> None:
    """Run the jobs of standard input until it ends.

    Args:
        limits: a dict with `cpu_seconds`, `wall_seconds` and `memory` (bytes) of a program;
            `folders`, which it may write to; `limits_processes`, whether their number is limited;
            `examiner`, the descriptors of its jobs and its replies; `user`, the number of the user
            who runs programs for root, or None; and `last_process`, in a namespace, the descriptor
            of /proc/loadavg.
    """
    jobs, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 ignores signals without a handler
    kept = {folder: {*os.listdir(folder)} for folder in limits["folders"]}
    examiner, control = _start_examiner(limits, (jobs, replies))
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    child_ended, wakeup = os.pipe()
    for descriptor in (child_ended, wakeup):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    for name in _OFTEN_IMPORTED:
        importlib.import_module(name)
    server = Server(limits, jobs, child_ended, examiner, control)
    sys.argv = ["program.py"]
    gc.collect()
    gc.freeze()
    with (
        suppress(BrokenPipeError, _ParentEndedError),
        open(jobs, "rb", closefd=False) as lines,
        open(replies, "wb", closefd=False) as out,
    ):
        out.write(b'{"ready": true}\n')
        out.flush()
        os.dup2(null, 2)
        for line in lines:
            reply = server.run(json.loads(line))
            reply["is_last"] = not (_clean_folders(kept) and server.is_usable)
            out.write(json.dumps(reply).encode() + b"\n")
            out.flush()
            if reply["is_last"]:
                break  # a new sandbox takes the next job


class _ParentEndedError(Exception):
    """The process that waits for a reply has ended."""


def _start_examiner(limits: dict[str, Any], server_descriptors: tuple[int, ...]) -> tuple[int, Any]:
    """Fork the examiner, and close `server_descriptors` in it; return its id and a socket to it."""
    theirs: Any
    ours, theirs = _socket.socketpair()
    is_isolated = os.getpid() == 1
    if number := os.fork():
        theirs.close()
        for descriptor in limits["examiner"]:
            os.close(descriptor)
        return number, ours
    try:
        ours.close()
        for descriptor in server_descriptors:
            os.close(descriptor)
        os.dup2(0, 2)
        if own_bytes := _address_space():  # a program may return a number that tests count to
            most = own_bytes + limits["memory"] + _MEMORY_OF_TESTS
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from .examiner import examine

        tests, replies = limits["examiner"]
        examine(theirs, tests, replies, is_isolated)
    finally:
        os._exit(0)


class Server:
    """Runs programs one after another, and ends them.

    Attributes:
        report, printed: the descriptors of files for what the process of a program reports, and for
            what a program prints.
        resource_limits: what each program may use, see `_resource_limits`.
        is_usable: whether the examiner can run the tests of the next program.
    """

    def __init__(
        self, limits: dict[str, Any], jobs: int, child_ended: int, examiner: int, control: Any
    ):
        self.limits, self._jobs, self._child_ended = limits, jobs, child_ended
        self._examiner, self._control = examiner, control
        self.resource_limits = _resource_limits(limits)
        self.report, self.printed = (_unnamed_file(limits["folders"][0]) for _ in range(2))
        self.is_usable = True

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run a program, and return what happened.

        Args:
            job: the job of the server that `Tests.jobs` returns.

        Returns:
            A dict with `status`, `message`, `cpu_seconds`, `output` (what the program printed, or
            the result of a call as JSON), and `is_examined`, whether the examiner has written a
            reply. The status is that of `Record`, or "ended" if nothing went wrong here.
        """
        form, written = job["form"], self.printed if job["form"] == "stdin" else self.report
        has_tests = form == "tests"
        for name in job["preload"]:
            with suppress(ImportError):
                importlib.import_module(name)
        for file in {self.report, written}:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        self._ended: dict[int, float] = {}  # the CPU time of processes that have ended
        self._seen: dict[int, float] = {}  # the CPU time of processes when they were last seen
        self._running: set[int] = set()
        self._status: int | None = None  # of the process of the program, when it has ended
        # Whether the examiner is done with the tests, and has ended all processes.
        self._is_examined = self._is_clean = False
        self._before = _cpu_seconds(self._examiner)
        ours, theirs = _socket.socketpair()
        start = self._start_program(job, theirs)
        theirs.close()
        if has_tests:
            self._start_tests(ours.fileno())
        ours.close()
        is_overdue = self._wait(has_tests)
        self._end_processes()
        text, seconds = _text_in(self.report), self._cpu_seconds()
        if os.read(start, 1) == b"1":
            status, message = self._verdict(form, text, is_overdue, seconds)
        else:
            status, message = "not run", text or "its process did not start"
        os.close(start)
        return {
            "status": status,
            "message": message[:_MESSAGE],
            "cpu_seconds": round(seconds, 6),
            "output": _text_in(written) if status == "ended" else "",
            "is_examined": self._is_examined,
        }

    def _start_program(self, job: dict[str, Any], connection: Any) -> int:
        """Fork the process of a program; return a pipe to which it writes when it is limited."""
        start, start_of_child = os.pipe()
        self._program = os.fork()
        if self._program == 0:
            try:
                signal.set_wakeup_fd(-1)
                descriptor = connection.detach() if job["form"] == "tests" else None
                run_program(self, job, descriptor, start_of_child)
            finally:
                os._exit(1)
        if os.getpid() != 1:
            with suppress(OSError):  # the process has done so itself
                os.setpgid(self._program, self._program)
        os.close(start_of_child)
        return start

    def _start_tests(self, connection: int) -> None:
        """Let the examiner run the tests, with the descriptor of its connection to the program."""
        descriptor = connection.to_bytes(4, sys.byteorder)
        try:
            self._control.sendmsg([b"p"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor)])
        except OSError:
            self.is_usable = False

    def _wait(self, has_tests: bool) -> bool:
        """Wait until a program, its tests or its time end; return True if the wall time is over.

        Raises a _ParentEndedError if the parent of the server has ended.
        """
        limit, deadline = self.limits["cpu_seconds"], time.monotonic() + self.limits["wall_seconds"]
        events = select.poll()
        events.register(self._child_ended, select.POLLIN)
        events.register(self._control, select.POLLIN)
        events.register(self._jobs, 0)  # reports only that the parent has ended
        left, last = limit, time.monotonic()
        while True:
            wait = max(_TICK, min(left, deadline - time.monotonic(), _LONGEST_TICK))
            ready = dict(events.poll(math.ceil(1000 * wait)))
            if self._jobs in ready:
                self._end_processes()
                raise _ParentEndedError
            if self._control.fileno() in ready:
                self._listen()
            self._reap()
            if not self.is_usable or (self._is_examined if has_tests else self._status is not None):
                return False
            now = time.monotonic()
            if now - last >= _TICK:  # also while signals arrive all the time
                self._look()
                left, last = limit - self._cpu_seconds(), now
                if left <= 0:
                    return False
            if now > deadline:
                return True

    def _listen(self) -> None:
        """Note what the examiner has finished, which it says by a letter, or that it has ended."""
        letter = self._control.recv(1)
        self._is_examined |= letter == b"p"
        self._is_clean |= letter == b"k"
        self.is_usable &= letter != b""

    def _look(self) -> None:
        """Read and note the CPU times of the running processes of a program.

        In a namespace, processes with higher ids than the process of the program belong to it too.
        """
        first = max(self._seen, default=self._program - 1) + 1
        last = first
        if os.getpid() == 1:  # the file ends with the number of the newest process or thread
            last = int(os.pread(self.limits["last_process"], 100, 0).split()[-1])
        new = range(first, last + 1)
        now = {number: _cpu_seconds(number) for number in (*self._running, *new)}
        self._running = {number for number, seconds in now.items() if seconds}
        self._seen |= {number: now[number] for number in self._running}

    def _cpu_seconds(self) -> float:
        """Return the CPU time of a program and its tests so far, in seconds.

        The time of a process that has ended includes that of its children, unless it ignores
        SIGCHLD. Then only what `_look` saw of the children counts.
        """
        examiner = self._ended.get(self._examiner) or _cpu_seconds(self._examiner)
        ended = sum(x for n, x in self._ended.items() if n != self._examiner)
        running = sum(self._seen[number] for number in self._running - self._ended.keys())
        programs = max(ended + running, sum(self._seen.values()))
        return max(0.0, examiner - self._before) + programs

    def _reap(self) -> None:
        """Note the status and the CPU time of child processes, and of orphans, that have ended."""
        with suppress(BlockingIOError):
            os.read(self._child_ended, 4096)
        with suppress(ChildProcessError):
            while (ended := os.wait4(-1, os.WNOHANG))[0]:
                number, status, usage = ended
                self._ended[number] = usage.ru_utime + usage.ru_stime
                if number == self._program:
                    self._status = status

    def _end_processes(self) -> None:
        """End a program and all processes that it started.

        The server ends the program and its process group. In a namespace, the examiner then ends
        all other processes; without one, a process that left the group goes on. If the examiner
        does not answer in time, it is ended too, and `is_usable` is False.
        """
        if self._status is None:
            for kill in (os.kill, os.killpg):
                # All may have ended, and macOS refuses a signal to those that have.
                with suppress(ProcessLookupError, PermissionError):
                    kill(self._program, signal.SIGKILL)
        with suppress(OSError):
            self._control.send(b"k")
        deadline, events = time.monotonic() + _PATIENCE_WITH_EXAMINER, select.poll()
        events.register(self._control, select.POLLIN)
        events.register(self._child_ended, select.POLLIN)
        while self.is_usable and not self._is_clean:
            if time.monotonic() > deadline:  # it is busy with what a program returned
                self.is_usable = False
            elif self._control.fileno() in dict(events.poll(1000 * _PATIENCE_WITH_EXAMINER)):
                self._listen()
            self._reap()
        if not self.is_usable:
            with suppress(ProcessLookupError):
                os.kill(-1 if os.getpid() == 1 else self._examiner, signal.SIGKILL)
        while self._status is None:
            time.sleep(0.0001)
            self._reap()

    def _verdict(self, form: str, text: str, is_overdue: bool, seconds: float) -> tuple[str, str]:
        """Return the status and the message of a program that has ended.

        Args:
            form: "tests", "calls" or "stdin", the form of the job.
            text: the text that the process reported, such as the last line of a traceback.
            is_overdue: whether the wall time was over.
            seconds: the CPU time.
        """
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        number = max(0, -code)
        if seconds >= self.limits["cpu_seconds"] or number == signal.SIGXCPU:
            return "timeout", f"more than {self.limits['cpu_seconds']:g} s of CPU time"
        if is_overdue:
            return "timeout", f"not finished after {self.limits['wall_seconds']:g} s"
        if number and not (number == signal.SIGKILL and form == "tests"):  # as when tests end
            return "crashed", f"ended by a signal: {signal.strsignal(number)}"
        if form == "tests":
            return "ended", f"the program ended its process, with exit status {max(0, code)}"
        if code == 0:
            return "ended", ""
        text = text or f"the program ended its process, with exit status {code}"
        return "memory" if text.startswith("MemoryError") else "failed", text


# --- Processes and files ------------------------------------------------------------------


def _cpu_seconds(number: int) -> float:
    """Return the CPU time of process `number`; 0 if it has ended or the system does not tell it."""
    try:
        return time.clock_gettime((~number << 3) | 2)
    except OSError:
        return 0.0


def _resource_limits(limits: dict[str, Any]) -> list[tuple[int, tuple[int, int]]]:
    """Return the limits of each program: pairs of a constant of `resource` and (soft, hard)."""
    seconds, own_bytes = math.ceil(limits["cpu_seconds"]), _address_space()
    largest = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: MOST_FILES,
        **({resource.RLIMIT_AS: own_bytes + limits["memory"]} if own_bytes else {}),
        **({resource.RLIMIT_NPROC: _MOST_PROCESSES} if limits["limits_processes"] else {}),
    }
    pairs = [(limit, (value, value)) for limit, value in largest.items()]
    return [(resource.RLIMIT_CPU, (seconds, seconds + 1)), *pairs]


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


def _unnamed_file(folder: str) -> int:
    """Create a file that no program can open, because it has no name, and return its descriptor."""
    path = os.path.join(folder, os.urandom(8).hex())
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return descriptor


def _text_in(file: int) -> str:
    """Return the text in the file with this descriptor."""
    return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")


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


def serve_as_user(limits: dict[str, Any]) -> None:
    """Drop the rights of root, if there are any, and `serve`; exit if Python is unreadable then."""
    user = limits["user"]
    folders = [folder for folder in sys.path if os.path.isdir(folder)]
    if user is not None:  # a user of its own has processes of its own
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    for folder in folders:
        if not os.access(folder, os.R_OK | os.X_OK):
            sys.exit(f"{folder} can be read by its owner only, and programs run as another user")
    serve(limits)
