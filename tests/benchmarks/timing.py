"""Timing of several runs that take turns, and the rows of the table of ratios."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Run = Callable[[], object]


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        what: what is timed.
        peer: what it is divided by.
        ratio: our time over the time of the peer.
        limit: the largest ratio that is acceptable, or None.
    """

    what: str
    peer: str
    ratio: float
    limit: float | None = None


def fastest(*runs: Run, rounds: int = 5) -> list[float]:
    """Return the seconds of the fastest call of each run.

    The runs take turns, so that whatever slows the machine down slows all of them.
    """
    seconds = [[_seconds(run) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*seconds, strict=True)]


def ratio(ours: Run, theirs: Run, rounds: int = 5) -> float:
    """Return our time over theirs."""
    our_seconds, their_seconds = fastest(ours, theirs, rounds=rounds)
    return our_seconds / their_seconds


def _seconds(run: Run) -> float:
    """Return the seconds of the fastest call within one turn of at least 5 ms."""
    shortest, end = math.inf, time.perf_counter() + 0.005
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        shortest = min(shortest, now - start)
        if now > end:
            return shortest


def fresh_process_seconds(code: str, rounds: int) -> float:
    """Return the smallest number that the code prints, each time in a new Python process."""
    command: list[Any] = [sys.executable, "-c", code]
    printed = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for _ in range(rounds)
    ]
    return min(float(text) for text in printed)
