"""Run programs in sandboxes, processes of bubblewrap in which the server of `server.py` runs them.

Tests and programs go in, and a `Record` of each comes out. `server.py` describes the processes. The
files of a sandbox are compiled here and not imported, and they import nothing of at_k.
"""

from __future__ import annotations

import errno
import itertools
import json
import marshal
import os
import platform
import re
import select
import shutil
import signal
import site
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, TypedDict

from .references import Tests, read_tests

_SANDBOXED = ("values", "program", "runner", "examiner", "server")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
# The files are compiled once here. A sandbox that compiled them would have more memory, and would
# fork more slowly. `examiner` and `runner` are only run in the processes that need them.
_LOADER = """
import json, marshal, sys
codes = marshal.load(sys.stdin.buffer)
class Finder:
    def find_spec(self, name, path, target=None):
        if name in codes:
            return type(sys.__spec__)(name, self, is_package="." not in name)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(codes[module.__name__], vars(module))
sys.meta_path.append(Finder())
from sandboxed.server import serve_as_user
serve_as_user(json.loads(sys.argv[1]))
"""
_PATIENCE_AT_END = 5  # seconds
_MEMORY_OF_SERVER = 1 << 25  # bytes that its child processes have from the start
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # so that a program that prints a set prints the same in every run
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


_ATTEMPTS = 2  # so often is a program run, if its sandbox dies
_PATIENCE = 30.0  # seconds that a reply may be late
_BETWEEN_LOOKS = 0.05  # seconds between two looks at the memory of a program


class SandboxError(OSError):
    """A sandbox cannot start."""


class SandboxDiedError(Exception):
    """A sandbox ended, or did not answer, before it had run a program."""


@dataclass(frozen=True)
class Limits:
    """The CPU time that a program may take, and its bytes of memory beyond those of Python."""

    cpu_seconds: float
    memory: int

    @property
    def wall_seconds(self) -> float:
        """The seconds after which a program that waits is ended."""
        return 10 * self.cpu_seconds + 10


class Sandbox:
    """A process that runs programs one after another, in bubblewrap or with limits only."""

    _numbers = itertools.count()

    def __init__(self, limits: Limits, is_isolated: bool):
        self._folder = None if is_isolated else tempfile.mkdtemp(prefix="at_k_")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        is_root = is_isolated and os.geteuid() == 0
        folders = ["/tmp", "/dev/shm"] if is_isolated else [self._folder]
        (tests, tests_out), (examined_in, examined) = os.pipe(), os.pipe()
        settings = {
            **vars(limits),
            "wall_seconds": limits.wall_seconds,
            "folders": folders,
            "examiner": [tests, examined],
            "limits_processes": is_isolated and (is_root or _counts_processes_of_namespaces()),
            "user": (1 << 30) + (os.getpid() << 7) + next(self._numbers) % 128 if is_root else None,
        }
        descriptors, bubblewrap = [tests, examined], []
        if is_isolated:
            settings["last_process"] = os.open("/proc/loadavg", os.O_RDONLY)
            descriptors.append(settings["last_process"])
            bubblewrap = [*_bubblewrap(is_root, descriptors), "--"]
        python = [sys.executable, "-P", "-B", "-X", "utf8", "-c", _LOADER, json.dumps(settings)]
        environment = _ENVIRONMENT | {"HOME": str(folders[0]), "TMPDIR": str(folders[0])}
        if site.ENABLE_USER_SITE:
            environment["PYTHONUSERBASE"] = site.getuserbase()
        try:
            self._process = subprocess.Popen(
                [*bubblewrap, *python],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                pass_fds=descriptors,
                start_new_session=True,
                cwd=self._folder,
            )
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._jobs, self.replies = self._process.stdin, self._process.stdout
        self._tests, self._examined = open(tests_out, "wb"), open(examined_in, "rb")  # noqa: SIM115
        with suppress(OSError):  # if the process has ended, `wait_until_ready` tells why
            self._jobs.write(_server_code())
            self._jobs.flush()
        self._is_ready = False

    def wait_until_ready(self) -> None:
        """Wait until programs can be sent; raise a SandboxError if the process cannot start."""
        if self._is_ready:
            return
        try:
            self.receive()
            self._is_ready = True
        except SandboxDiedError as error:
            self._process.wait()
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
            raise SandboxError(text or f"exit status {self._process.returncode}") from error

    def send(self, job: dict[str, Any], tests: dict[str, Any] | None = None) -> None:
        """Send the jobs of `Tests.jobs`; raise a SandboxDiedError if the sandbox has ended."""
        try:
            for stream, message in ((self._jobs, job), (self._tests, tests)):
                if message is not None:
                    stream.write(json.dumps(message).encode() + b"\n")
                    stream.flush()
        except OSError as error:
            raise SandboxDiedError from error

    def receive(self) -> dict[str, Any]:
        """Return the reply to the program that was sent; raise a SandboxDiedError if none comes.

        It is what `Server.run` returns, with two more entries: `is_last`, whether the sandbox ends
        now, and `examined`, what the examiner replied, or None if it did not examine the program.
        """
        reply = self._line(self.replies)
        examined = self._line(self._examined) if reply.get("is_examined") else None
        return reply | {"examined": examined}

    def _line(self, stream: IO[bytes]) -> dict[str, Any]:
        """Return the dict in a line of JSON. Raise a SandboxDiedError if the line is cut off."""
        line = stream.readline()
        if not line.endswith(b"\n"):
            raise SandboxDiedError
        return json.loads(line)

    def uses_more_than(self, memory: int) -> bool:
        """Return whether several processes of a program together use more than `memory` bytes.

        A single process gives False, because it has its own limit. Memory that is returned between
        two calls is not seen. A control group would see it, but few users may make one.
        """
        processes = self.processes()[1:]
        return len(processes) > 2 and sum(map(_memory, processes)) > memory + _MEMORY_OF_SERVER

    def processes(self) -> list[int]:
        """Return a list of process ids: that of the server first, then those of its descendants."""
        own = self._process.pid  # of bubblewrap, or of the server
        return _descendants(own) if self._folder is None else [own, *_descendants(own)]

    def end(self) -> None:
        """End the sandbox and all processes in it, and remove its files."""
        if self._folder is None:
            # A server that has dropped the rights of root does not end when bubblewrap ends.
            for server in self.processes()[:1]:
                with suppress(ProcessLookupError):
                    os.kill(server, signal.SIGKILL)
        for stream in (self._jobs, self._tests):
            with suppress(OSError):  # a job that was not sent is in the buffer
                stream.close()
        if self._folder is not None:
            # Without a namespace of processes the server ends its program, as its pipes are closed.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE_AT_END)
        self._process.kill()
        self._process.wait()
        for file in (self.replies, self._examined, self._errors):
            file.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


@lru_cache
def _server_code() -> bytes:
    """Return the compiled modules of a sandbox, by their names there, as `marshal` writes them."""
    codes = {"sandboxed": compile("", "sandboxed", "exec")}
    for name in _SANDBOXED:
        path = Path(__file__).with_name(f"{name}.py")
        codes[f"sandboxed.{name}"] = compile(path.read_bytes(), str(path), "exec")
    return marshal.dumps(codes)


def _descendants(number: int) -> list[int]:
    """Return the ids of all processes that process `number` has started, directly or not."""
    try:  # those of each thread
        texts = [path.read_text() for path in Path(f"/proc/{number}/task").glob("*/children")]
    except OSError:
        return []
    children = [*map(int, " ".join(texts).split())]
    return [*children, *(below for child in children for below in _descendants(child))]


def _memory(number: int) -> int:
    """Return the bytes of memory of process `number`; 0 if it has ended or is another user's."""
    try:
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
        return 1024 * int(text.partition("\nPss:")[2].split()[0])
    except (OSError, IndexError):
        return 0


def _counts_processes_of_namespaces() -> bool:
    """Return whether Linux limits processes in each namespace, as since 5.14, and not per user."""
    release = platform.release().split(".")
    return tuple(int(part) for part in release[:2] if part.isdigit()) >= (5, 14)


def _bubblewrap(is_root: bool, descriptors: list[int]) -> list[str]:
    """Return the command of bubblewrap, and append the descriptors that it reads to `descriptors`.

    For root there is no namespace of users: the server drops the rights of root instead, because
    Linux does not limit the processes of root.
    """
    program = shutil.which("bwrap")
    assert program is not None
    command = [program, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
    if is_root:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    command += [*_system_folders(), *_own_folders(program), *_python_and_settings()]
    for folder in ("/dev", "/"):
        command += ["--remount-ro", folder]
    command += ["--chdir", "/tmp"]
    if (filter_of_calls := _system_call_filter()) is not None:
        descriptor = os.memfd_create("filter")
        os.write(descriptor, filter_of_calls)
        os.lseek(descriptor, 0, os.SEEK_SET)
        descriptors.append(descriptor)
        command += ["--seccomp", str(descriptor)]
    return command


def _system_folders() -> list[str]:
    """Return the options for the folders of the system, which programs may read."""
    options = []
    for path in _SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    return options


def _own_folders(program: str) -> list[str]:
    """Return the options for /dev and the folders in memory that programs may write to."""
    options = ["--tmpfs", "/dev", "--symlink", "/tmp/.stdin", "/dev/stdin"]
    for name in ("null", "zero", "full", "random", "urandom"):
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for folder in ("/tmp", "/dev/shm"):
        options += ["--perms", "1777"]
        if _has_sizes(program):
            options += ["--size", str(1 << 28)]
        options += ["--tmpfs", folder]
    return options


def _python_and_settings() -> list[str]:
    """Return the options for the folders of Python and for settings, which programs may read."""
    options = []
    paths = _python_folders()
    settings = [path for path in _SETTINGS if os.path.exists(path)]
    # bubblewrap would make these folders so that only root may enter.
    parents = {str(parent) for path in paths + settings for parent in Path(path).parents}
    for parent in sorted(parents - {"/"}):
        options += ["--perms", "0755", "--dir", parent]
    for path in paths + settings:
        options += ["--ro-bind", path, path]
    return options


@lru_cache
def _has_sizes(program: str) -> bool:
    """Return whether bubblewrap can limit the size of a folder in memory, as since 0.7."""
    command = [program, "--help"]
    return "--size" in subprocess.run(command, capture_output=True, text=True).stdout


def _python_folders() -> list[str]:
    """Return the folders of this Python and of its packages, without those that others contain."""
    executable = Path(sys.executable)
    folders = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    folders |= {str(executable.parent), str(executable.resolve().parent.parent)}
    # Packages of the user, or of an environment that this one extends.
    folders |= {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    outermost: list[str] = []
    for folder in sorted(folder for folder in folders if os.path.isdir(folder)):
        if not f"{folder}/".startswith(tuple(f"{path}/" for path in (*_SYSTEM, *outermost))):
            outermost.append(folder)
    return outermost


# --- Many programs --------------------------------------------------------------------------


class Record(TypedDict):
    """What happened to a sample.

    Attributes:
        status: "passed", "failed", "timeout", "memory", "crashed" or "not run".
        message: the last line of the traceback, or what else went wrong; "" if it passed.
        cpu_seconds: the CPU time that the program and its tests took.
        tests: how many tests ran, or how many inputs.
    """

    status: str
    message: str
    cpu_seconds: float
    tests: int


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Runs programs in several sandboxes, which `close` ends. A thread waits for each of them.

    Raises a SandboxError if a sandbox cannot start, or one of two small programs goes wrong.
    """

    def __init__(self, limits: Limits, workers: int, is_isolated: bool):
        self._limits, self._is_isolated = limits, is_isolated
        self._is_ending = False
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        self._threads = ThreadPoolExecutor(workers)
        try:
            for _ in range(workers):
                self._idle.put(Sandbox(limits, is_isolated))  # all at the same time
            # A correct program passes, and an incorrect one fails.
            thread = "from threading import Thread\nx = Thread(target=int)\nx.start()\nx.join()\n"
            tests = read_tests("assert y", "")
            replies = [self._reply(tests, f"{thread}y = {value}") for value in (True, False)]
            if [reply["status"] for reply in replies] != ["passed", "failed"]:
                raise SandboxError(f"it does not run programs: {replies[0]['message']}")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all sandboxes."""
        self._is_ending = True
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().end()

    def run(
        self, samples: Iterable[tuple[Tests, str]]
    ) -> Generator[tuple[int, Record], None, None]:
        """Run programs with their tests, and yield the index and the record of each sample.

        A program whose sandbox dies is run again once. If that dies too, its status is "not run".
        """
        for index, reply in self._as_they_finish(self._reply, samples):
            yield index, Record(**{name: reply[name] for name in Record.__annotations__})  # type: ignore[typeddict-item]

    def find(self, all_tests: Sequence[Tests]) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Find the tests in each code; yield its index, and what `find_tests` returns for it."""
        jobs = ((tests, None) for tests in all_tests)
        for index, reply in self._as_they_finish(self._run_case, jobs):
            yield index, {"ran": None, "problem": None} | (reply["examined"] or {})

    def _as_they_finish(
        self, reply: Callable[..., dict[str, Any]], jobs: Iterable[tuple[Any, ...]]
    ) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Call `reply` with the arguments of each job; yield the index of the job and the reply."""
        index = {self._threads.submit(reply, *job): i for i, job in enumerate(jobs)}
        for future in as_completed(index):
            yield index.pop(future), future.result()

    def _reply(self, tests: Tests, program: str) -> dict[str, Any]:
        """Run a program with its tests, and return a dict with the entries of a `Record`."""
        run = self._run_cases if tests.code is None else self._run_tests
        return run(tests, program)

    def _run_cases(self, tests: Tests, program: str) -> dict[str, Any]:
        """Run a program with each input, and return a reply with the entries of a `Record`.

        It stops at the first case that fails or whose output is not the expected one. A run with
        the status "ended" went well (see `server.py`), and its output is then compared.
        """
        seconds, reply = 0.0, {}
        for case in range(len(tests.inputs)):
            reply = self._run_case(tests, program, case)
            seconds += reply["cpu_seconds"]
            reply |= {"cpu_seconds": seconds, "tests": case}
            if reply["status"] != "ended":
                break
            difference = tests.problem(case, reply["output"])
            reply |= {"status": "passed", "message": "", "tests": case + 1}
            if difference is not None:
                reply |= {"status": "failed", "message": difference}
                break
        return reply

    def _run_tests(self, tests: Tests, program: str) -> dict[str, Any]:
        """Run a program with tests that are code, and return a reply with entries of a `Record`.

        If the examiner finds that the tests need the process of the program, they run again in it.
        """
        reply = self._run_case(tests, program)
        reply["tests"] = 0
        if reply["status"] != "ended":
            return reply
        examined = reply["examined"] or {"status": "ended"}
        if examined["status"] == "not apart":
            assert tests.code is not None
            code = replace(tests.code, shares_interpreter=True)
            return self._run_tests(replace(tests, code=code), program)
        if examined["status"] == "ended":
            return reply | {"status": "failed"}
        if re.match(r"([\w.]+: )?MemoryError", examined["message"]):
            examined["status"] = "memory"
        return reply | examined

    def _run_case(self, tests: Tests, program: str | None, case: int = 0) -> dict[str, Any]:
        """Run a case in the next idle sandbox, and return the reply of `_answer`.

        A sandbox that dies or ends is replaced. If it died, the case runs again, once.
        """
        jobs = tests.jobs(program, case)
        sandbox = self._idle.get()
        try:
            for _ in range(_ATTEMPTS):
                reply = self._answer(sandbox, *jobs)
                if self._is_ending:
                    break
                if reply["is_last"] or reply["status"] == "not run":
                    used, sandbox = sandbox, Sandbox(self._limits, self._is_isolated)
                    used.end()
                if reply["status"] != "not run":
                    break
            return reply
        finally:
            self._idle.put(sandbox)

    def _answer(self, sandbox: Sandbox, job: dict[str, Any], tests: Any) -> dict[str, Any]:
        """Let a sandbox run a program, and return what `Sandbox.receive` returns.

        The status is "not run" if the sandbox dies or is late, or the pool is closed, and "memory"
        if the processes of the program together use too much.
        """
        reply: dict[str, Any] = {"status": "not run", "message": "the sandbox died"}
        reply |= {"cpu_seconds": 0.0, "examined": None, "is_last": True}
        sandbox.wait_until_ready()
        try:
            sandbox.send(job, tests)
            # Twice, because a server that waits for a slow machine is not dead.
            deadline = time.monotonic() + 2 * self._limits.wall_seconds + _PATIENCE
            poll = select.poll()
            poll.register(sandbox.replies, select.POLLIN)
            while not poll.poll(1000 * _BETWEEN_LOOKS):
                if self._is_ending or time.monotonic() > deadline:
                    return reply
                if sandbox.uses_more_than(self._limits.memory):
                    message = "its processes use more memory together than it may use"
                    return reply | {"status": "memory", "message": message}
            return sandbox.receive()
        except SandboxDiedError:
            return reply


# --- Refused system calls -----------------------------------------------------------------

# These calls would let a program read the memory of the server, which has the same user, change its
# limits and priority, make namespaces, use memory that no limit counts or that stays for the
# next program, or reach rarely used parts of the kernel.
# The numbers are those of x86_64 and aarch64.
_MACHINES = ("x86_64", "aarch64")
_ARCHITECTURES = (0xC000003E, 0xC00000B7)  # AUDIT_ARCH of the kernel
_REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265), "setpriority": (141, 140), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
_CLONE, _SOCKET = (56, 220), (41, 198)
_LIMIT = (302, 261)  # prlimit64, which setrlimit of the C library calls
# Unix, IPv4, IPv6 and netlink. Others, such as VSOCK to the host of a machine, have no namespace.
_FAMILIES = (1, 2, 10, 16)
_CLONE3 = 435
_NEW_USER_NAMESPACE = 0x10000000
_OTHER_ABI = 0x40000000  # numbers from here on are of the ABI x32

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000


def _system_call_filter() -> bytes | None:
    """Return the seccomp filter of this machine, or None for a machine whose calls are not listed.

    An instruction has an operation, the numbers of instructions to skip if a comparison holds and
    if not, and an operand.
    """
    if platform.machine() not in _MACHINES:
        return None
    machine = _MACHINES.index(platform.machine())
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _END),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, 0, 1, _OTHER_ABI),
        refuse,
    ]
    for numbers in _REFUSED.values():
        program += [(_IF_EQUAL, 0, 1, numbers[machine]), refuse]
    program += [
        # Without clone3, whose flags a filter cannot read, the C library calls clone.
        (_IF_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
        (_IF_EQUAL, 0, 4, _LIMIT[machine]),
        (_LOAD, 0, 0, 16),  # the process, 0 for the one that calls
        (_IF_EQUAL, 1, 0, 0),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, len(_FAMILIES) + 3, _SOCKET[machine]),
        (_LOAD, 0, 0, 16),  # the family
        *((_IF_EQUAL, len(_FAMILIES) - i, 0, family) for i, family in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, _REFUSE | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, 3, _CLONE[machine]),
        (_LOAD, 0, 0, 16),  # the flags
        (_IF_ANY_BIT, 0, 1, _NEW_USER_NAMESPACE),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
