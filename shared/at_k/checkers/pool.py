"""Sandboxes that run the programs of many samples at the same time."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypedDict

from .references import Tests
from .sandbox import Limits, Sandbox, SandboxDiedError, SandboxError

_ATTEMPTS = 2  # that a program gets, if its sandbox dies
_PATIENCE = 30.0  # seconds that a reply may be late


class Record(TypedDict):
    """What happened to a sample.

    Attributes:
        status: "passed", "failed", "timeout", "memory", "crashed" or "not run".
        message: the last line of the traceback, or what else went wrong; "" if it passed.
        cpu_seconds: the CPU time that the program and its tests took.
    """

    status: str
    message: str
    cpu_seconds: float


@dataclass
class _Task:
    """A program, its tests, and how far they are.

    Attributes:
        index: of the sample.
        case: the index of the case that runs next.
        cpu_seconds: that the cases before it took.
        attempts: how often the case was started.
    """

    index: int
    tests: Tests
    program: str
    case: int = 0
    cpu_seconds: float = 0.0
    attempts: int = 0


@dataclass
class _Place:
    """A sandbox and what it runs.

    Attributes:
        sandbox: the sandbox, or None if it has to be started.
        task: what it runs, or None.
        deadline: when the reply is overdue, in seconds.
    """

    sandbox: Sandbox | None = None
    task: _Task | None = None
    deadline: float = 0.0


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Sandboxes, which end with the context.

    Args:
        limits: of each program.
        workers: number of sandboxes.
        is_isolated: see `Sandbox`.

    Raises:
        SandboxError: if the first sandbox cannot start, or does not run two small programs.
    """

    def __init__(self, limits: Limits, workers: int, is_isolated: bool):
        self._limits, self._is_isolated = limits, is_isolated
        self._places = [_Place() for _ in range(workers)]
        self._started = 0
        try:
            for place in self._places:
                self._start(place)  # all at the same time
            self._try_out()
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

    def end(self) -> None:
        """End all sandboxes."""
        for place in self._places:
            if place.sandbox is not None:
                place.sandbox.end()
                place.sandbox = None

    def run(
        self, samples: Iterable[tuple[Tests, str]]
    ) -> Generator[tuple[int, Record], None, None]:
        """Run programs with their tests, and yield the index and the record of each sample.

        A program whose sandbox dies is run again once, and then "not run".
        """
        new = (_Task(index, *sample) for index, sample in enumerate(samples))
        waiting: list[_Task] = []  # those that have to go on
        while True:
            idle = [place for place in self._places if place.task is None]
            for place in idle:
                place.task = waiting.pop() if waiting else next(new, None)
                if place.task is not None and place.sandbox is None:
                    self._start(place)  # all start before any is waited for
            for place in idle:
                self._send(place)
            if not any(place.task for place in self._places):
                return
            for place, is_overdue in self._answered():
                task, place.task = place.task, None
                assert task is not None
                record = self._record(place, task, is_overdue)
                if record is None:
                    waiting.append(task)
                else:
                    yield task.index, record

    def _record(self, place: _Place, task: _Task, is_overdue: bool) -> Record | None:
        """Return the record of a task, or None if it has to go on."""
        try:
            assert place.sandbox is not None
            reply = None if is_overdue else place.sandbox.receive()
        except SandboxDiedError:
            reply = None
        if reply is None:
            reply = {"status": "not run", "message": "the sandbox died", "cpu_seconds": 0.0}
        if reply["status"] == "not run":
            self._replace(place)
        task.attempts += 1
        if reply["status"] == "not run" and task.attempts < _ATTEMPTS:
            return None
        task.cpu_seconds += reply["cpu_seconds"]
        status, message = reply["status"], reply["message"]
        if status == "passed":
            problem = task.tests.problem(task.case, reply["output"])
            task.case, task.attempts = task.case + 1, 0
            if problem is None and task.case < task.tests.cases:
                return None
            status, message = ("passed", "") if problem is None else ("failed", problem)
        return {"status": status, "message": message, "cpu_seconds": task.cpu_seconds}

    def _answered(self) -> list[tuple[_Place, bool]]:
        """Wait for replies, and return the places with one, and those whose reply is overdue."""
        busy = {
            place.sandbox.fileno(): place for place in self._places if place.task and place.sandbox
        }
        poll = select.poll()
        for descriptor in busy:
            poll.register(descriptor, select.POLLIN)
        now = time.monotonic()
        seconds = min(place.deadline for place in busy.values()) - now
        ready = {descriptor for descriptor, _ in poll.poll(1000 * max(0.0, seconds) + 1)}
        now = time.monotonic()
        return [
            (place, descriptor not in ready)
            for descriptor, place in busy.items()
            if descriptor in ready or now > place.deadline
        ]

    def _send(self, place: _Place) -> None:
        """Let a sandbox run the next case of its task, if it has one."""
        task, sandbox = place.task, place.sandbox
        if task is None or sandbox is None:
            return
        job = task.tests.job(task.program, task.case)
        sandbox.wait_until_ready()
        try:
            sandbox.send(job)
        except SandboxDiedError:  # it left between two programs
            sandbox = self._replace(place)
            sandbox.wait_until_ready()
            sandbox.send(job)
        # Twice, because a server that waits for a slow machine is not dead.
        place.deadline = time.monotonic() + 2 * self._limits.wall_seconds + _PATIENCE

    def _start(self, place: _Place) -> Sandbox:
        place.sandbox = Sandbox(self._limits, self._is_isolated, self._started)
        self._started += 1
        return place.sandbox

    def _replace(self, place: _Place) -> Sandbox:
        if place.sandbox is not None:
            place.sandbox.end()
            place.sandbox = None
        return self._start(place)

    def _try_out(self) -> None:
        """Raise a SandboxError unless a correct program passes and an incorrect one fails."""
        places, self._places = self._places, self._places[:1]
        thread = "from threading import Thread\nx = Thread(target=int)\nx.start()\nx.join()\n"
        tests = Tests(code="assert y", names=("y",))
        samples = [(tests, f"{thread}y = {value}") for value in (True, False)]
        results = dict(self.run(samples))
        self._places = places
        if [results[0]["status"], results[1]["status"]] != ["passed", "failed"]:
            raise SandboxError(f"it does not run programs: {results[0]['message']}")
