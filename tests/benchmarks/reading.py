"""Time and memory of the command on a large file, against parsing the file with pyarrow.

    python tests/benchmarks/reading.py

The file has 100,000 questions with 64 short samples each, in JSON Lines. The start of the command
is measured with a file of one question. Each process is measured by itself, several times in turns;
the minimum counts.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARSE = "import sys, pyarrow.json; pyarrow.json.read_json(sys.argv[1])"
SCORE = """
import sys
from at_k.cli.command import main
main(["gpassk", sys.argv[1], "--k", "8", "--json"])
"""
REPEATS = 5


def write_samples(path: Path, questions: int, samples: int = 64) -> Path:
    """Write random answers of questions, and return the path."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as stream:
        for question in range(questions):
            answers = [str(rng.randrange(100)) for _ in range(samples)]
            row = {"id": question, "samples": answers, "answer": answers[0]}
            stream.write(json.dumps(row) + "\n")
    return path


def seconds_and_megabytes(code: str, path: Path) -> tuple[float, float]:
    """Return the time of all threads of a process that runs the code, and its most memory."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"The process ended with status {status}.")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        large = write_samples(Path(folder) / "large.jsonl", 100_000)
        small = write_samples(Path(folder) / "small.jsonl", 1)
        cases = {
            "pyarrow parses the file": (PARSE, large),
            "at-k gpassk of the file": (SCORE, large),
            "at-k gpassk of one question": (SCORE, small),
        }
        measured: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for _ in range(REPEATS):
            for name, (code, path) in cases.items():
                measured[name].append(seconds_and_megabytes(code, path))
    least = {name: tuple(map(min, zip(*runs, strict=True))) for name, runs in measured.items()}
    for name, (seconds, megabytes) in least.items():
        print(f"{name:30} {seconds:6.2f} s  {megabytes:6.0f} MB")
    parsing, scoring, starting = least.values()
    print(f"time above the start, of pyarrow's: {(scoring[0] - starting[0]) / parsing[0]:.2f}")
    print(f"memory, of pyarrow's: {scoring[1] / parsing[1]:.2f}")


if __name__ == "__main__":
    main()
