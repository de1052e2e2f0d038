"""The exchange of rows between the processes of a run, through files in a folder that they share.

All processes of a run call `compute` together. Process 0 asks the others for their rows (questions
with their samples), computes, and tells them whether it succeeded, so that all may retry after an
error. By the keys in these files, a process ignores those of a run that was killed:

    request     a new key for each call of process 0
    <p>.rows    the rows of process p, with the key of the request and a key of their own
    result      the request, the keys of the rows that process 0 has received, and its error if any
    <p>.lock    the lock of process p, which it holds until it has computed, or ends
    conflict    made by a process that found its lock taken, as by a run with the same name
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import socket
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from .core.columns import JSON, TEXTS, check_alike, one_chunk, unite
from .core.containers import to_numpy
from .core.samples import Samples

_LAUNCHERS = (
    ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"),
    ("SLURM_JOB_ID", "SLURM_STEP_ID"),
    ("PMIX_NAMESPACE",),
    ("OMPI_MCA_ess_base_jobid",),
    ("PBS_JOBID",),
    ("LSB_JOBID",),
    ("MASTER_ADDR", "MASTER_PORT"),
)
"""Environment variables that launchers set to the same values for all processes of a run."""

_SECONDS_TO_LOCK = 1.0
"""How long a process waits for its lock, which another process may be about to release."""

_SECONDS_TO_READ = 5.0
"""How long process 0 waits until all others have read its result."""

_SAME_RUN = (
    "Nothing was computed. Call compute in all processes, and load the metric with the same "
    "experiment_id and cache_dir in all of them, on a file system that locks files for all hosts. "
    "The default experiment_id is the same only for processes of one launcher, such as torchrun, "
    "or of one parent process."
)

_roles: dict[tuple[int, str], FileLock] = {}
"""The locks that this process holds, by role: (id of the operating system's process, lock file).

A forked process inherits this dict. Its own id tells its entries from those of its parent.
"""

_objects: dict[tuple[int, str], list[weakref.ref[Exchange]]] = {}
"""The `Exchange` objects of each role, by the keys of `_roles`; an object's index is its number."""


def default_experiment() -> str:
    """Return a name that is the same in all processes of this run, and differs between runs."""
    # Without a launcher that names the run, processes with the same parent are one run.
    values = [socket.gethostname(), str(os.getppid())]
    for names in _LAUNCHERS:
        if all(name in os.environ for name in names):
            values = [os.environ[name] for name in names]
            break
    return f"run-{hashlib.sha256(':'.join(values).encode()).hexdigest()[:16]}"


class Exchange:
    """Exchange rows for one process of a run, through files that it shares with the others.

    The process holds its role, such as process 1 of 4, until a computation has succeeded, so that
    another worker of a pool may take it. A ValueError is raised if another living process has the
    role. `timeout` is how many seconds to wait for other processes.
    """

    def __init__(self, folder: Path, processes: int, process: int, timeout: float):
        self._folder, self._processes, self._process = folder, processes, process
        self._timeout = timeout
        self._request, self._result = folder / "request", folder / "result"
        self._conflict = folder / "conflict"
        # The keys of the rows that came for the open request, by process; None without a request.
        self._received: dict[int, str] | None = None
        self._number: int | None = None  # the index of this object in `_objects`
        self._take_role()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle or a copy. It has no number, which each process assigns."""
        return vars(self) | {"_number": None}

    def _file(self, process: int, kind: str) -> Path:
        """Return the path of a file of a process; `kind` is "rows" or "lock"."""
        return self._folder / f"{process}.{kind}"

    @property
    def _role(self) -> tuple[int, str]:
        """The key of this process in `_roles` and `_objects`: (process id, path of its lock)."""
        return os.getpid(), str(self._file(self._process, "lock"))

    def _take_role(self) -> None:
        """Number this object, and lock the role of this process, each unless it has been done.

        Files that an earlier run left are removed when the role is locked. If another process has
        the role, the file "conflict" tells it, and a ValueError is raised.
        """
        if self._number is None:
            self._number = _number_object(self, _objects.setdefault(self._role, []))
        if self._role in _roles:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._role[1])
        try:
            lock.acquire(timeout=_SECONDS_TO_LOCK)
        except Timeout:
            self._conflict.touch()
            raise self._error_of_two_runs() from None
        _roles[self._role] = lock
        # A process that ended while it wrote a file has left it under a name with a hyphen.
        old_files = [*self._folder.glob(f"{self._process}.*-*")]
        if self._process == 0:
            for pattern in ("*.rows", "request*", "result*", "conflict"):
                old_files += self._folder.glob(pattern)
        for path in old_files:
            path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Release the role of this process. The next computation takes it again."""
        if self._role in _roles:
            _roles.pop(self._role).release()

    def _lives(self, process: int) -> bool:
        """Return whether process number `process` is alive: if so, it holds its lock."""
        path = self._file(process, "lock")
        if (os.getpid(), str(path)) in _roles:
            return True
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        return False

    def _error_of_two_runs(self) -> ValueError:
        """Return the error for two processes with the same role."""
        return ValueError(
            f"Another process is process {self._process} of the run in {self._folder}: give each "
            f"run an experiment_id of its own, and each process a process_id of its own."
        )

    def compute(
        self, read: Callable[[], list[Samples]], score: Callable[[list[Samples]], dict[str, Any]]
    ) -> dict[str, Any] | None:
        """Return the scores for the questions of all processes in process 0, and None in others.

        `read` returns the batches of this process, and `score` the scores for those of all. If
        `read` fails, this process still tells the others why. A ValueError is raised if another
        process fails, or does not take part.
        """
        batches: list[Samples] = []
        problem = None
        try:
            batches = read()
        except Exception as error:
            problem = error
        if self._process > 0:
            self.send(partial(write_batch, unite(batches)) if batches else None, problem)
            if problem is not None:
                raise problem
            self.leave()
            return None
        try:
            received = self.receive()
            if problem is not None:
                raise problem
            for stream in filter(None, received):
                batch = read_batch(stream)
                check_alike(batch, batches)
                batches.append(batch)
            result = score(batches)
        except BaseException as error:
            self.report(error)
            raise
        self.report(None)
        self.leave()
        return result

    # --- Process 0 ------------------------------------------------------------------------

    def receive(self) -> list[memoryview]:
        """Ask processes 1, 2, .. for their rows, and return an Arrow stream for each of them.

        It is empty for a process without rows. A ValueError is raised if a process cannot read its
        rows, or does not send them in time. Call `report` afterwards, also after an error.
        """
        self._take_role()
        request = uuid.uuid4().hex
        self._received, rows = {}, {}
        write_whole(self._request, request.encode())
        for _ in _poll_for(self._timeout):
            waiting = [process for process in range(1, self._processes) if process not in rows]
            for process in waiting:
                content = _content(self._file(process, "rows"))
                header = content[: content.find(b"\n") + 1]  # b"" without a complete line
                sent = json.loads(header or "{}")
                if sent.get("request") == request:
                    self._received[process] = sent["key"]
                    rows[process] = memoryview(content)[len(header) :]
                    self._check_sender(process, sent)
            if not waiting:
                break
        else:
            raise ValueError(
                f"No rows came from process {' and '.join(map(str, waiting))} of "
                f"{self._processes} within {self._timeout:g} seconds. {_SAME_RUN}"
            )
        if self._conflict.exists():
            raise self._error_of_two_runs()
        return [rows[process] for process in sorted(rows)]

    def _check_sender(self, process: int, sent: dict[str, Any]) -> None:
        """Raise a ValueError if the header `sent` has an error, or the number of another object."""
        if sent["number"] != self._number:
            raise ValueError(
                f"Process {process} computes with metric object {sent['number']} of this run, and "
                f"process 0 with object {self._number} (from 0, in the order of loading): compute "
                f"in the same order in all processes, or give each object an experiment_id of its "
                f"own."
            )
        if sent["error"] is not None:
            raise ValueError(f"Process {process} cannot read its input: {sent['error']}")

    def report(self, error: BaseException | None) -> None:
        """Tell the others the error of process 0, or None for success, and wait until they know."""
        if self._received is None:
            return
        request = _content(self._request).decode()
        result = {"request": request, "keys": self._received, "error": _in_words(error)}
        write_whole(self._result, json.dumps(result).encode())
        # Each process removes its rows when it has read the result.
        for _ in _poll_for(_SECONDS_TO_READ):
            unread = (self._file(p, "rows").exists() and self._lives(p) for p in self._received)
            is_read = not any(unread)
            if is_read:
                break
        self._request.unlink(missing_ok=True)
        if is_read:
            # An unread result stays for late processes, until the next result replaces it.
            self._result.unlink(missing_ok=True)
        self._received = None

    # --- The other processes --------------------------------------------------------------

    def send(
        self, write_rows: Callable[[BinaryIO], Any] | None, error: Exception | None = None
    ) -> None:
        """Send rows to process 0 when it asks for them, and wait until it has computed.

        `write_rows` writes them to a file; None if there are none, perhaps because of an `error`. A
        ValueError is raised if process 0 does not ask in time, ends, or fails without our error.
        """
        self._take_role()
        path, key, answered = self._file(self._process, "rows"), uuid.uuid4().hex, ""
        sent = {"key": key, "number": self._number, "error": _in_words(error)}
        started = time.monotonic()
        try:
            for _ in _poll_for(math.inf):
                result = json.loads(_content(self._result) or "{}")
                if result.get("keys", {}).get(str(self._process)) == key:
                    break
                request = _content(self._request).decode()
                if not request or not self._lives(0):  # It may be left from a run that was killed.
                    self._check_wait_for_process_0(started)
                    continue
                started = time.monotonic()  # Process 0 lives and computes, for as long as it takes.
                # There may be several requests, as process 0 may fail. A request with a result was
                # answered with the rows of an earlier computation.
                if request not in (answered, result.get("request")):
                    header = json.dumps({**sent, "request": request})
                    write_whole(path, f"{header}\n".encode(), write_rows)
                    answered = request
        finally:
            path.unlink(missing_ok=True)
        if result["error"] is not None and error is None:
            raise ValueError(f"Process 0 could not compute: {result['error']}")

    def _check_wait_for_process_0(self, started: float) -> None:
        """Raise a ValueError if `timeout` is over since `started`, a time of `time.monotonic`."""
        if time.monotonic() - started > self._timeout:
            raise ValueError(
                f"Process 0 did not compute with the rows of process {self._process} within "
                f"{self._timeout:g} seconds: it has ended, was killed, or belongs to another run. "
                f"{_SAME_RUN}"
            )


def _in_words(error: BaseException | None) -> str | None:
    """Return the message of an error, or the name of its type; None for None."""
    return None if error is None else str(error) or type(error).__name__


# --- Files --------------------------------------------------------------------------------


def write_batch(batch: Samples, file: BinaryIO) -> None:
    """Write a batch to a file as an Arrow stream, with a row for each question."""
    values = pa.array(batch.values) if batch.are_numbers else one_chunk(batch.values)
    offsets = pa.array(np.concatenate([[0], np.cumsum(batch.sizes)]))
    columns = {"values": pa.LargeListArray.from_arrays(offsets, values)}
    if batch.multiplicity is not None:
        multiplicity = pa.array(batch.multiplicity)
        columns["multiplicity"] = pa.LargeListArray.from_arrays(offsets, multiplicity)
    if batch.references is not None:
        columns["references"] = batch.references
    table = pa.table(columns)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def read_batch(data: Any) -> Samples:
    """Read a batch that `write_batch` wrote, from bytes or an Arrow buffer, without a copy."""
    table = pa.ipc.open_stream(data).read_all()
    sizes = to_numpy(pc.list_value_length(table["values"])).astype(np.int64)
    values, multiplicity = pc.list_flatten(table["values"]), None
    if "multiplicity" in table.column_names:
        multiplicity = to_numpy(pc.list_flatten(table["multiplicity"]))
    references = table["references"] if "references" in table.column_names else None
    if values.type not in (TEXTS, JSON):
        values = to_numpy(values)
    return Samples(values, sizes, "predictions", multiplicity, references)


def write_whole(
    path: Path, content: bytes, write_more: Callable[[BinaryIO], Any] | None = None
) -> None:
    """Write `content`, and what `write_more` adds, to `path`. Nobody can read it half written."""
    temporary = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            if write_more is not None:
                write_more(file)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _content(path: Path) -> bytes:
    """Return the content of a file, or b"" if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _poll_for(seconds: float) -> Iterator[None]:
    """Yield at once, then after pauses that grow from 1 to 50 ms, until the seconds are over."""
    deadline, pause = time.monotonic() + seconds, 0.001
    yield
    while time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
        yield


def _number_object(exchange: Exchange, objects: list[weakref.ref[Exchange]]) -> int:
    """Put an object in place of the first deleted one, or at the end, and return its index."""
    if any(other() is not None for other in objects):
        gc.collect()  # Metrics of evaluate refer to themselves, so they outlive their last user.
    is_deleted = [other() is None for other in objects] + [True]
    number = is_deleted.index(True)
    objects[number : number + 1] = [weakref.ref(exchange)]
    return number
