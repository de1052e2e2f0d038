"""Run programs in sandboxes, processes of bubblewrap in which the package `sandboxed` runs them.

`sandboxed/server.py` describes the processes.
"""

from __future__ import annotations

import compileall
import errno
import itertools
import json
import os
import platform
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
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import IO, Any, TypedDict

from .references import Tests, read_tests

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_START = """
import json, sys
settings = json.loads(sys.argv[1])
sys.path.append(settings["package"])
from sandboxed.server import serve_as_user
sys.path.remove(settings["package"])
serve_as_user(settings)
"""
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
_PATIENCE = 30.0  # seconds that a reply may be late on a slow machine
_PATIENCE_WITH_TESTS = 1.0  # seconds that tests may go on when their program has ended
_BETWEEN_LOOKS = 0.05  # seconds between two looks at what a program uses


class SandboxError(OSError):
    """A sandbox cannot start."""


class SandboxDiedError(Exception):
    """A sandbox could not start, ended, or did not answer, before it had run a program."""


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
        self._limits = limits
        self._folder = None if is_isolated else tempfile.mkdtemp(prefix="at_k_")
        # Files without a name: see `server.py` for the desk. A script prints to the last one.
        files: Any = [tempfile.TemporaryFile(buffering=0) for _ in range(3)]  # noqa: SIM115
        self._errors, self._desk, self._printed = files
        is_root = is_isolated and os.geteuid() == 0
        folders = ["/tmp", "/dev/shm"] if is_isolated else [self._folder]
        descriptors = {"desk": self._desk.fileno(), "printed": self._printed.fileno()}
        settings = {
            **vars(limits),
            **descriptors,
            "folders": folders,
            "package": str(_compiled_package().parent),
            "limits_processes": is_isolated and (is_root or _counts_processes_of_namespaces()),
            "user": (1 << 30) + (os.getpid() << 7) + next(self._numbers) % 128 if is_root else None,
        }
        python = [sys.executable, "-P", "-B", "-X", "utf8", "-c", _START, json.dumps(settings)]
        environment = _ENVIRONMENT | {"HOME": str(folders[0]), "TMPDIR": str(folders[0])}
        if site.ENABLE_USER_SITE:
            environment["PYTHONUSERBASE"] = site.getuserbase()
        with tempfile.TemporaryFile() as refused_calls:
            bubblewrap = [*_bubblewrap(is_root, refused_calls), "--"] if is_isolated else []
            self._process = subprocess.Popen(
                [*bubblewrap, *python],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                pass_fds=[*descriptors.values(), refused_calls.fileno()],
                start_new_session=True,
                cwd=self._folder,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._jobs, self._replies = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    def run(self, job: dict[str, Any], exam: dict[str, Any], ending: Event) -> dict[str, Any]:
        """Run the two jobs of `Tests.jobs`; return the verdict, and `is_last` if the sandbox ends.

        A SandboxDiedError is raised if the program did not run, or `ending` was set.
        """
        self._send(job, exam)
        usage, start = _Usage(job), time.monotonic()
        excess, end_of_tests, is_late = None, 0.0, False
        while not self._poll.poll(1000 * _BETWEEN_LOOKS):
            seconds = time.monotonic() - start
            if ending.is_set() or seconds > self._limits.wall_seconds + _PATIENCE:
                raise SandboxDiedError("it does not answer")
            processes = self.processes()[1:]
            _signal(processes[:1], signal.SIGCONT)  # a program may have stopped the examiner
            if excess is None:
                usage.look(processes)
                excess, end_of_tests = self._excess(usage, seconds), seconds + _PATIENCE_WITH_TESTS
            if excess is not None:  # the program ends, and if tests go on, the examiner
                is_late = seconds > end_of_tests
                _signal(processes if is_late else processes[1:])
        reply = self._receive()
        if not reply["has_started"]:
            raise SandboxDiedError("a program did not start")
        verdict = {"status": "ended", "message": reply["message"], "tests": 0}
        if reply["is_examined"]:
            self._desk.seek(0)
            verdict = json.loads(self._desk.read())
            reply["cpu_seconds"] += verdict["cpu_seconds"]
        if verdict.get("status") == "ended":
            verdict |= _end_of_process(reply["exit_code"], verdict["message"])
        usage.cpu_seconds = max(usage.cpu_seconds, reply["cpu_seconds"])
        verdict |= excess or self._excess(usage, 0) or {}
        verdict["cpu_seconds"] = round(usage.cpu_seconds, 6)
        return verdict | {"is_last": reply["is_last"] or is_late}

    def _excess(self, usage: _Usage, seconds: float) -> dict[str, str] | None:
        """Return the status and message if a limit is exceeded after `seconds`, or None."""
        limits, status = self._limits, "timeout"
        if usage.cpu_seconds >= limits.cpu_seconds:
            message = f"more than {limits.cpu_seconds:g} s of CPU time"
        elif usage.memory > limits.memory + _MEMORY_OF_SERVER:
            status, message = "memory", "its processes use more memory together than it may use"
        elif seconds > limits.wall_seconds:
            message = f"not finished after {limits.wall_seconds:g} s"
        else:
            return None
        return {"status": status, "message": message}

    def _send(self, job: dict[str, Any], exam: dict[str, Any]) -> None:
        """Write the job of the examiner to the desk, and send that of the server."""
        self._desk.seek(0)
        self._desk.truncate()
        self._desk.write(json.dumps(exam).encode())
        with suppress(OSError):  # if the sandbox has ended, `_receive` tells why
            self._jobs.write(json.dumps(job).encode() + b"\n")
            self._jobs.flush()

    def _receive(self) -> dict[str, Any]:
        """Return the reply of the server; raise a SandboxDiedError if it is cut off."""
        line = self._replies.readline()
        if not line.endswith(b"\n"):
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
            raise SandboxDiedError(text or "it died")
        return json.loads(line)

    def processes(self) -> list[int]:
        """Return a list of process ids: that of the server first, then those of its descendants."""
        own = self._process.pid  # of bubblewrap, or of the server
        return _descendants(own) if self._folder is None else [own, *_descendants(own)]

    def end(self) -> None:
        """End the sandbox and all processes in it, and remove its files."""
        _signal(self.processes())  # one of another user does not end when bubblewrap ends
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # a job that was not sent is in the buffer
            self._jobs.close()
        for file in (self._replies, self._errors, self._desk, self._printed):
            file.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _signal(processes: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to processes, some of which may have ended."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _end_of_process(exit_code: int, message: str) -> dict[str, str]:
    """Return the status and the message of a program whose process ended before its tests did.

    `message` is the exception that ended a script, or "". SIGKILL is how the server ends a program.
    """
    number = -exit_code
    if number > 0 and number != signal.SIGKILL:
        return {"status": "crashed", "message": f"ended by a signal: {signal.strsignal(number)}"}
    ended = f"the program ended its process, with exit status {max(0, exit_code)}"
    is_memory = message.startswith("MemoryError")
    return {"status": "memory" if is_memory else "failed", "message": message or ended}


# --- What a program uses --------------------------------------------------------------------


class _Usage:
    """What the processes of a job use, as Linux shows it; nothing on other systems.

    Memory that is returned between two looks is not seen. A control group would see it, but few
    users may make one.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.cpu_seconds = 0.0
        self.memory = 0  # bytes of all processes, if there are several: one has its own limit
        self._is_script = job["stdin"] is not None
        self._before: float | None = None  # the CPU time of the examiner at the first look
        self._seen: dict[int, float] = {}  # the CPU times of processes when they were last seen

    def look(self, processes: list[int]) -> None:
        """Update the usage. `processes` are the examiner, then those of the program, parents first.

        A child that has ended counts in its parent, which is read before it, so that no time counts
        twice. If the parent ignores SIGCHLD, the time last seen of the child counts.
        """
        if len(processes) < 2 and (self._is_script or not self._seen):
            return  # before a program starts, or after a script has ended
        times = [_cpu_seconds(process) for process in processes]
        examiner = sum(own for own, _ in times[:1])
        self._before = examiner if self._before is None else self._before
        program = sum(own + of_children for own, of_children in times[1:])
        for process, (own, _) in zip(processes[1:], times[1:], strict=True):
            self._seen[process] = max(own, self._seen.get(process, 0.0))
        seconds = examiner - self._before + max(program, sum(self._seen.values()))
        self.cpu_seconds = max(self.cpu_seconds, seconds)
        self.memory = sum(map(_memory, processes)) if len(processes) > 2 else 0


def _cpu_seconds(number: int) -> tuple[float, float]:
    """Return the CPU seconds of process `number` and of its reaped children; 0.0 if it is gone."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    user, system, user_of_children, system_of_children = map(int, fields[11:15])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + system) / ticks, (user_of_children + system_of_children) / ticks


def _memory(number: int) -> int:
    """Return the bytes of memory of process `number`; 0 if it has ended or is another user's."""
    try:
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
        return 1024 * int(text.partition("\nPss:")[2].split()[0])
    except (OSError, IndexError):
        return 0


def _descendants(number: int) -> list[int]:
    """Return the ids of all processes that process `number` has started, directly or not."""
    try:  # those of each thread
        texts = [path.read_text() for path in Path(f"/proc/{number}/task").glob("*/children")]
    except OSError:
        return []
    children = [*map(int, " ".join(texts).split())]
    return [*children, *(below for child in children for below in _descendants(child))]


# --- The command of bubblewrap --------------------------------------------------------------
@lru_cache
def _compiled_package() -> Path:
    """Return the folder of the package `sandboxed`, compiled, because a sandbox cannot write there.

    A sandbox that compiled it would have more memory, and would fork more slowly.
    """
    folder = Path(__file__).with_name("sandboxed")
    compileall.compile_dir(folder, quiet=2)
    return folder


def _counts_processes_of_namespaces() -> bool:
    """Return whether Linux limits processes in each namespace, as since 5.14, and not per user."""
    release = platform.release().split(".")
    return tuple(int(part) for part in release[:2] if part.isdigit()) >= (5, 14)


def _bubblewrap(is_root: bool, refused_calls: IO[bytes]) -> list[str]:
    """Return the command of bubblewrap. Write the filter of system calls to `refused_calls`.

    For root there is no namespace of users: the server drops the rights of root instead, because
    Linux does not limit the processes of root.
    """
    program = shutil.which("bwrap")
    assert program is not None
    own_rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    command = [
        *(program, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"),
        *(own_rights if is_root else ["--unshare-user"]),
        *_own_folders(program),
        *_readable_paths(),  # Python may be in a folder of /tmp
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
    ]
    if (filter_of_calls := _system_call_filter()) is not None:
        refused_calls.write(filter_of_calls)
        refused_calls.seek(0)
        command += ["--seccomp", str(refused_calls.fileno())]
    return command


def _own_folders(program: str) -> list[str]:
    """Return the options for /dev and the folders in memory that programs may write to."""
    options = ["--tmpfs", "/dev", "--symlink", "/tmp/.stdin", "/dev/stdin"]
    for name in ("null", "zero", "full", "random", "urandom"):
        options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    size = ["--size", str(1 << 28)] if _has_sizes(program) else []
    for folder in ("/tmp", "/dev/shm"):
        options += ["--perms", "1777", *size, "--tmpfs", folder]
    return options


def _readable_paths() -> list[str]:
    """Return the options for the system, Python and settings, which programs may read."""
    folders = (*_SYSTEM, *_python_folders(), str(_compiled_package()))
    paths = [*filter(os.path.exists, (*folders, *_SETTINGS))]
    # bubblewrap would make these folders so that only root may enter.
    parents = {str(parent) for path in paths for parent in Path(path).parents} - {"/"}
    options = []
    for parent in sorted(parents):
        options += ["--perms", "0755", "--dir", parent]
    for path in paths:
        is_link = path in _SYSTEM and os.path.islink(path)
        options += ["--symlink", os.readlink(path), path] if is_link else ["--ro-bind", path, path]
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
        self._ending = Event()
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        self._threads = ThreadPoolExecutor(workers)
        try:
            for _ in range(workers):
                self._idle.put(Sandbox(limits, is_isolated))  # starts, without waiting for it
            # Check that a correct program that starts a thread passes, and an incorrect one fails.
            thread = "from threading import Thread\nx = Thread(target=int)\nx.start()\nx.join()\n"
            tests = read_tests("assert y", "")
            records = [self._record(tests, f"{thread}y = {value}") for value in (True, False)]
            if [record["status"] for record in records] != ["passed", "failed"]:
                raise SandboxError(records[0]["message"] or "An incorrect program passed there.")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all sandboxes."""
        self._ending.set()
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().end()

    def run(
        self, samples: Iterable[tuple[Tests, str | None]]
    ) -> Generator[tuple[int, Any], None, None]:
        """Run programs with their tests, and yield the index and the `Record` of each sample.

        A program whose sandbox dies is run again once. If that dies too, its status is "not run".
        Without a program, yield what `find_tests` returns for the tests.
        """
        index = {self._threads.submit(self._record, *sample): i for i, sample in enumerate(samples)}
        for future in as_completed(index):
            yield index.pop(future), future.result()

    def _record(self, tests: Tests, program: str | None) -> Any:
        """Run a program with each case of its tests, until one fails, and return what happened.

        If the examiner finds that the tests need the process of the program, they run again in it.
        """
        if program is None:
            return {"ran": None, "problem": None} | self._reply(tests, None)
        seconds, ran, reply = 0.0, 0, {}
        for case in range(max(1, len(tests.inputs))):  # once for tests that are code
            reply = self._reply(tests, program, case)
            if reply["status"] == "not apart" and tests.code is not None:
                together = replace(tests, code=replace(tests.code, shares_interpreter=True))
                reply = self._reply(together, program, case)
            seconds += reply["cpu_seconds"]
            ran += reply["tests"]
            if reply["status"] != "passed":
                break
        status, message = reply["status"], reply["message"]
        return Record(status=status, message=message, cpu_seconds=seconds, tests=ran)

    def _reply(self, tests: Tests, program: str | None, case: int = 0) -> dict[str, Any]:
        """Run a case in the next idle sandbox, which is replaced if it ends; if it died, again."""
        jobs = tests.jobs(program, case)
        sandbox = self._idle.get()
        try:
            for _ in range(_ATTEMPTS):
                try:
                    reply = sandbox.run(*jobs, self._ending)
                except SandboxDiedError as error:
                    reply = {"status": "not run", "message": f"the sandbox failed: {error}"}
                    reply |= {"cpu_seconds": 0.0, "tests": 0, "is_last": True}
                if self._ending.is_set():
                    break
                if reply["is_last"]:
                    used, sandbox = sandbox, Sandbox(self._limits, self._is_isolated)
                    used.end()
                if reply["status"] != "not run":
                    break
            return reply
        finally:
            self._idle.put(sandbox)


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

# An operation, the numbers of instructions to skip if a comparison holds and if not, an operand.
_Instruction = tuple[int, int, int, int]
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000


def _system_call_filter() -> bytes | None:
    """Return the seccomp filter of this machine, or None if its calls are not listed."""
    if platform.machine() not in _MACHINES:
        return None
    machine = _MACHINES.index(platform.machine())
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    first_argument = (_LOAD, 0, 0, 16)
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _END),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, 0, 1, _OTHER_ABI),
        refuse,
        # Without clone3, whose flags a filter cannot read, the C library calls clone.
        *_if_called(_CLONE3, (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)),
        # The limits of any process but the one that calls, which is 0.
        *_if_called(_LIMIT[machine], first_argument, (_IF_EQUAL, 1, 0, 0), refuse, allow),
        *_if_called(
            _SOCKET[machine],
            first_argument,
            *((_IF_EQUAL, len(_FAMILIES) - i, 0, family) for i, family in enumerate(_FAMILIES)),
            (_RETURN, 0, 0, _REFUSE | errno.EAFNOSUPPORT),
            allow,
        ),
        *_if_called(
            _CLONE[machine], first_argument, (_IF_ANY_BIT, 0, 1, _NEW_USER_NAMESPACE), refuse, allow
        ),
    ]
    for numbers in _REFUSED.values():
        program += _if_called(numbers[machine], refuse)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in [*program, allow])


def _if_called(number: int, *instructions: _Instruction) -> list[_Instruction]:
    """Return instructions that are executed only if the call has this number."""
    return [(_IF_EQUAL, 0, len(instructions), number), *instructions]
