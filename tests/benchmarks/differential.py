"""Compare random calls of all functions and metrics with brute force and with scorio.

    python tests/benchmarks/differential.py [--calls 50000] [--seed 1] [--tensors]

A tenth as many calls have an argument that makes no sense, and a hundredth are sequences of steps
on one metric. It prints the number of comparisons and each disagreement. With --tensors, outcomes
also come as tensors of torch and arrays of JAX, which have to be installed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import check_calls
from container_types import TYPES, tensor_types
from hostile_calls import check_hostile_calls
from random_steps import check_random_steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tensors", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    types = TYPES | tensor_types() if arguments.tensors else TYPES
    compared, disagreements = check_calls(arguments.calls, arguments.seed, types)
    print(f"{arguments.calls} calls, {len(types)} types of containers")
    for peer, number in compared.items():
        print(f"{number} results compared with {peer}")
    problems: list[object] = list(disagreements)
    problems += check_hostile_calls(arguments.calls // 10, arguments.seed)
    problems += check_random_steps(arguments.calls // 100, arguments.seed)
    print(f"{len(problems)} disagreements", *problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
