"""Sandboxes that run the programs of many samples at the same time."""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypedDict

from .references import TestCode, Tests, read_tests
from .sandbox import Limits, Sandbox, SandboxDiedError, SandboxError

_ATTEMPTS = 2  # that a program gets, if its sandbox dies
_PATIENCE = 30.0  # seconds that a reply may be late
_BETWEEN_LOOKS = 0.05  # seconds between two looks at the memory of a program
_MEMORY = "its processes use more memory together than it may use"


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


@dataclass
class _Task:
    """A program, its tests, and how far they are.

    Attributes:
        index: of the sample.
        program: the program, or None to find the tests.
        case: the index of the case that runs next.
        cpu_seconds: that the cases before it took.
        attempts: how often the case was started.
    """

    index: int
    tests: Tests
    program: str | None
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
        self._together: set[TestCode] = set()  # that turned out to need one interpreter
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
        self, samples: Iterable[tuple[Tests, str | None]]
    ) -> Generator[tuple[int, Record], None, None]:
        """Run programs with their tests, and yield the index and the record of each sample.

        A program whose sandbox dies is run again once, and then "not run".
        """
        for index, reply in self._replies(samples):
            yield index, Record(**{name: reply[name] for name in Record.__annotations__})  # type: ignore[typeddict-item]

    def find(self, all_tests: Sequence[Tests]) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Yield the index of tests in code, and what is found: `ran`, their names, and `problem`.

        The names are None if the tests are there only beside a program.
        """
        for index, reply in self._replies((tests, None) for tests in all_tests):
            yield index, reply["examined"] or {"ran": None, "problem": None}

    def _replies(
        self, samples: Iterable[tuple[Tests, str | None]]
    ) -> Generator[tuple[int, dict[str, Any]], None, None]:
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
            for place, problem in self._answered():
                task, place.task = place.task, None
                assert task is not None
                reply = self._reply(place, task, problem)
                if reply is None:
                    waiting.append(task)
                else:
                    yield task.index, reply

    def _reply(self, place: _Place, task: _Task, problem: str | None) -> dict[str, Any] | None:
        """Return the last reply to a task, or None if it has to go on."""
        reply = self._received(place, problem)
        if reply["is_last"] or reply["status"] == "not run":
            self._replace(place)
        task.attempts += 1
        if reply["status"] == "not run" and task.attempts < _ATTEMPTS:
            return None
        task.cpu_seconds += reply["cpu_seconds"]
        reply |= {"cpu_seconds": task.cpu_seconds, "tests": task.case}
        if reply["status"] != "ended" or task.program is None:
            return reply
        result = _compared(task, reply) if task.tests.code is None else self._examined(task, reply)
        return None if result is None else reply | result

    def _received(self, place: _Place, problem: str | None) -> dict[str, Any]:
        """Return the reply of a sandbox, or what is wrong with it."""
        reply: dict[str, Any] = {"status": "not run", "message": "the sandbox died"}
        reply |= {"cpu_seconds": 0.0, "examined": None, "is_last": True}
        if problem == _MEMORY:
            reply |= {"status": "memory", "message": _MEMORY}
        elif problem is None:
            with suppress(SandboxDiedError):
                assert place.sandbox is not None
                reply = place.sandbox.receive()
        return reply

    def _examined(self, task: _Task, reply: dict[str, Any]) -> dict[str, Any] | None:
        """Return what happened to tests, or None if they have to run beside the program."""
        examined = reply["examined"] or {"status": "ended"}
        if examined["status"] == "together":
            assert task.tests.code is not None
            self._together.add(task.tests.code)
            task.attempts = 0
            return None
        if examined["status"] == "ended":
            return {"status": "failed"}
        if re.match(r"([\w.]+: )?MemoryError", examined["message"]):
            examined["status"] = "memory"
        return {key: examined[key] for key in ("status", "message", "tests")}

    def _answered(self) -> list[tuple[_Place, str | None]]:
        """Wait for replies, and return the places with one, and those that wait in vain."""
        busy = {
            place.sandbox.fileno(): place for place in self._places if place.task and place.sandbox
        }
        poll = select.poll()
        for descriptor in busy:
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(1000 * _BETWEEN_LOOKS)}
            found: list[tuple[_Place, str | None]] = [(busy[number], None) for number in ready]
            for descriptor, place in busy.items():
                assert place.sandbox is not None
                if descriptor in ready:
                    continue
                if time.monotonic() > place.deadline:
                    found.append((place, "overdue"))
                elif not ready and place.sandbox.uses_more_than(self._limits.memory):
                    found.append((place, _MEMORY))
            if found:
                return found

    def _send(self, place: _Place) -> None:
        """Let a sandbox run the next case of its task, if it has one."""
        task, sandbox = place.task, place.sandbox
        if task is None or sandbox is None:
            return
        is_together = task.tests.code in self._together
        job = task.tests.job(task.program, task.case, is_together)
        tests = task.tests.job_of_examiner(is_together)
        sandbox.wait_until_ready()
        try:
            sandbox.send(job, tests)
        except SandboxDiedError:  # it left between two programs
            sandbox = self._replace(place)
            sandbox.wait_until_ready()
            sandbox.send(job, tests)
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
        tests = read_tests("assert y", "")
        samples = [(tests, f"{thread}y = {value}") for value in (True, False)]
        results = dict(self.run(samples))
        self._places = places
        if [results[0]["status"], results[1]["status"]] != ["passed", "failed"]:
            raise SandboxError(f"it does not run programs: {results[0]['message']}")


def _compared(task: _Task, reply: dict[str, Any]) -> dict[str, Any] | None:
    """Compare the output of a case; return the result, or None if there is another case."""
    difference = task.tests.problem(task.case, reply["output"])
    task.case, task.attempts = task.case + 1, 0
    if difference is None and task.case < task.tests.cases:
        return None
    status = "passed" if difference is None else "failed"
    return {"status": status, "message": difference or "", "tests": task.case}
