"""Time and memory of questions that are added in batches, against keeping their rows.

    python tests/benchmarks/streams.py [--large]

A batch has 10,000 questions with 1,000 samples each, and fewer for rewards and texts. A row is
printed for each kind of samples and each way: `add` adds every batch to a metric and computes in
the end; `rows` keeps the batches and computes with all of them at once. Memory is the peak of the
process above its start, without pages of files. With --large there are 10^9 outcomes and
10^8 rewards, otherwise a tenth; rewards and texts then take about ten minutes each.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS, SAMPLES = 10_000, 1_000


def outcomes(rng: np.random.Generator) -> dict[str, Any]:
    return {"predictions": rng.integers(0, 2, (QUESTIONS, SAMPLES), dtype=np.int8).view(bool)}


def categories(rng: np.random.Generator) -> dict[str, Any]:
    return {"predictions": rng.integers(0, 4, (QUESTIONS, SAMPLES), dtype=np.int8)}


def rewards(rng: np.random.Generator) -> dict[str, Any]:
    return {"predictions": rng.random((QUESTIONS // 10, SAMPLES))}


def texts(rng: np.random.Generator) -> dict[str, Any]:
    answers = [f"The answer is {number}, I think." for number in range(1000)]
    chosen = rng.integers(0, 1000, (QUESTIONS // 25, SAMPLES))
    return {
        "predictions": [[answers[each] for each in row] for row in chosen],
        "references": [answers[0]] * len(chosen),
    }


KINDS: dict[str, tuple[str, Callable[[np.random.Generator], dict[str, Any]], dict[str, Any]]] = {
    "outcomes": ("gpassk", outcomes, {"k": 8}),
    "categories": ("max_at_k", categories, {"k": 8, "w": [0, 0.2, 0.7, 1]}),
    "rewards": ("max_at_k", rewards, {"k": 8}),
    "texts": ("gpassk", texts, {"k": 8}),
}


def anonymous_kilobytes() -> int:
    """Return the memory of this process that no file holds."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("RssAnon:")[2].split()[0])


def measure(kind: str, way: str, batches: int) -> None:
    """Print the time, the memory and a score of one case, in a process of its own."""
    import at_k

    name, batch, options = KINDS[kind]
    options = dict(options)
    metric, rng = at_k.load(name), np.random.default_rng(0)
    metric.compute(**batch(rng), **options)
    start, peaks, done = anonymous_kilobytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            peaks[0] = max(peaks[0], anonymous_kilobytes() - start)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    seconds, rows = 0.0, list[dict[str, Any]]()
    for _ in range(batches):
        added = batch(rng)
        before = time.perf_counter()
        if way == "add":
            metric.add_batch(**added)
        else:
            rows.append(added)
        seconds += time.perf_counter() - before
    before = time.perf_counter()
    if way == "rows":
        for key in list(rows[0]):
            parts = [each.pop(key) for each in rows]
            is_array = isinstance(parts[0], np.ndarray)
            options[key] = np.concatenate(parts) if is_array else list(itertools.chain(*parts))
    scores = metric.compute(**options)
    seconds += time.perf_counter() - before
    done.set()
    watcher.join()
    score = next(iter(scores.values()))
    print(f"{kind:12} {way:5} {seconds:7.2f} s {peaks[0] / 1024:7.0f} MB   {score!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="10^9 outcomes")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    batches = 100 if given.large else 10
    if given.case:
        kind, way = given.case
        measure(kind, way, batches)
        return
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    for kind in KINDS:
        for way in ("add", "rows"):
            size = ["--large"] if given.large else []
            command = [sys.executable, __file__, *size, "--case", kind, way]
            if subprocess.run(command, env=environment).returncode:
                print(f"{kind:12} {way:5} failed, for example because there is not enough memory")


if __name__ == "__main__":
    main()
