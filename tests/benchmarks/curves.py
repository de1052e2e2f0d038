"""Draw pass@k and pass^k of the two runs of the package, the picture at the top of README.md.

python tests/benchmarks/curves.py [tests/benchmarks/pictures/curves.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import at_k
from at_k import charts
from at_k.charts.figure import Figure

PICTURE = Path(__file__).parent / "pictures" / "curves.svg"
SAMPLES = Path(at_k.__file__).parent / "samples"
RUNS = {"T = 0.2": "smollm2_cool.jsonl", "T = 0.8": "smollm2_warm.jsonl"}


def curves() -> Figure:
    """Return the chart, with limits for the same questions, sampled again."""
    gpassk = at_k.load("gpassk")
    results = {
        name: gpassk.compute(
            **at_k.read(SAMPLES / file),
            check_correct_fn="numeric",
            k=[1, 2, 4, 8, 16, 32],
            include=["pass@k", "pass^k"],
            confidence=0.95,
        )
        for name, file in RUNS.items()
    }
    return charts.by_k(results, questions=94, n=32, checker="numeric", confidence=0.95, width=4.8)


if __name__ == "__main__":
    curves().save(sys.argv[1] if len(sys.argv) > 1 else PICTURE)
