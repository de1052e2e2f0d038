"""Run the programs of many samples at the same time, each in an idle one of some sandboxes.

Tests and programs go in, and a `Record` of each comes out.
"""

from __future__ import annotations

import itertools
import os
import re
import select
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, TypedDict

from .references import Tests, read_tests
from .sandbox import Limits, Sandbox, SandboxDiedError, SandboxError

_ATTEMPTS = 2  # that a program gets, if its sandbox dies
_PATIENCE = 30.0  # seconds that a reply may be late
_BETWEEN_LOOKS = 0.05  # seconds between two looks at the memory of a program


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
    """Sandboxes, which `close` ends. A thread waits for each of them.

    Args:
        limits: the limits of each program.
        workers: the number of sandboxes.
        is_isolated: see `Sandbox`.

    Raises:
        SandboxError: if the first sandbox cannot start, or does not run two small programs.
    """

    def __init__(self, limits: Limits, workers: int, is_isolated: bool):
        self._limits, self._is_isolated = limits, is_isolated
        self._numbers = itertools.count()
        self._is_ending = False
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        self._threads = ThreadPoolExecutor(workers)
        try:
            for _ in range(workers):
                self._idle.put(self._started())  # all at the same time
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

        A program whose sandbox dies is run again once, and then "not run".
        """
        for index, reply in self._as_they_finish(self._reply, samples):
            yield index, Record(**{name: reply[name] for name in Record.__annotations__})  # type: ignore[typeddict-item]

    def find(self, all_tests: Sequence[Tests]) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Find the tests in code; yield the index of each, and what `find_tests` returns."""
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
        run = self._compared if tests.code is None else self._examined
        return run(tests, program)

    def _compared(self, tests: Tests, program: str) -> dict[str, Any]:
        """Run a program with one input after another, until an output is not as expected."""
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

    def _examined(self, tests: Tests, program: str) -> dict[str, Any]:
        """Run a program with tests that are code, again in its own process if they need that."""
        reply = self._run_case(tests, program)
        reply["tests"] = 0
        if reply["status"] != "ended":
            return reply
        examined = reply["examined"] or {"status": "ended"}
        if examined["status"] == "not apart":
            assert tests.code is not None
            code = replace(tests.code, shares_interpreter=True)
            return self._examined(replace(tests, code=code), program)
        if examined["status"] == "ended":
            return reply | {"status": "failed"}
        if re.match(r"([\w.]+: )?MemoryError", examined["message"]):
            examined["status"] = "memory"
        return reply | examined

    def _run_case(self, tests: Tests, program: str | None, case: int = 0) -> dict[str, Any]:
        """Run a case in the next idle sandbox, and return the reply, see `_answer`.

        A sandbox that dies, or is not to be used again, is replaced; if it dies, a case runs again.
        """
        jobs = tests.jobs(program, case)
        sandbox = self._idle.get()
        try:
            for _ in range(_ATTEMPTS):
                reply = self._answer(sandbox, *jobs)
                if self._is_ending:
                    break
                if reply["is_last"] or reply["status"] == "not run":
                    used, sandbox = sandbox, self._started()
                    used.end()
                if reply["status"] != "not run":
                    break
            return reply
        finally:
            self._idle.put(sandbox)

    def _answer(self, sandbox: Sandbox, job: dict[str, Any], tests: Any) -> dict[str, Any]:
        """Let a sandbox run a program, and return what `Sandbox.receive` returns.

        The status is "not run" if the sandbox died, and "memory" if all processes use too much.
        """
        reply: dict[str, Any] = {"status": "not run", "message": "the sandbox died"}
        reply |= {"cpu_seconds": 0.0, "examined": None, "is_last": True}
        sandbox.wait_until_ready()
        try:
            sandbox.send(job, tests)
            # Twice, because a server that waits for a slow machine is not dead.
            deadline = time.monotonic() + 2 * self._limits.wall_seconds + _PATIENCE
            poll = select.poll()
            poll.register(sandbox.fileno(), select.POLLIN)
            while not poll.poll(1000 * _BETWEEN_LOOKS):
                if self._is_ending or time.monotonic() > deadline:
                    return reply
                if sandbox.uses_more_than(self._limits.memory):
                    message = "its processes use more memory together than it may use"
                    return reply | {"status": "memory", "message": message}
            return sandbox.receive()
        except SandboxDiedError:
            return reply

    def _started(self) -> Sandbox:
        """Start a sandbox, and return it."""
        return Sandbox(self._limits, self._is_isolated, next(self._numbers))
