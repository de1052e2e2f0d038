"""Time and memory of `at_k.read` on graded samples in many files, against Arrow.

    python tests/benchmarks/shards.py [samples] [files] [parquet|csv|json]

Arrow reads the two columns with the scanner of its datasets, batch by batch, and drops them. Both
run as processes of their own, several times in turns; the minimum counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
ARROW = """
import sys
import pyarrow.dataset as ds
files = ds.dataset(sys.argv[1], format=sys.argv[2])
print(sum(len(batch) for batch in files.to_batches(columns=["id", "correct"])))
"""
READ = """
import sys
import at_k
read = at_k.read(sys.argv[1] + "/*")["predictions"]
print(sum(map(sum, read["counts"])))
"""
QUESTIONS = 10_000
REPEATS = 3


def write_shards(folder: Path, samples: int, files: int, kind: str) -> None:
    """Write samples of random questions, in the order in which workers would finish them."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    rates = rng.random(QUESTIONS)
    ids = pa.array([f"question-{number:05}" for number in range(QUESTIONS)])
    for number in range(files):
        question = rng.integers(0, QUESTIONS, samples // files)
        correct = rng.random(samples // files) < rates[question]
        table = pa.table({"id": ids.take(pa.array(question)), "correct": correct})
        name = folder / f"part-{number:03}.{'jsonl' if kind == 'json' else kind}"
        if kind == "parquet":
            pq.write_table(table, name)
        elif kind == "csv":
            pc.write_csv(table, name, pc.WriteOptions(quoting_style="none"))
        else:
            entries = zip(table["id"].to_pylist(), table["correct"].to_pylist(), strict=True)
            lines = [
                f'{{"id": "{question}", "correct": {"true" if is_correct else "false"}}}\n'
                for question, is_correct in entries
            ]
            name.write_text("".join(lines))


def seconds_and_megabytes(code: str, folder: Path, kind: str, samples: int) -> tuple[float, float]:
    """Return the time of a process that runs the code, and its most memory."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), kind], env=environment, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    printed = int(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0 or printed != samples:
        raise SystemExit(f"The process ended with status {status} and {printed} samples.")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    given = sys.argv[1:] + ["1e8", "200", "parquet"][len(sys.argv) - 1 :]
    samples, files, kind = int(float(given[0])), int(given[1]), given[2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder, samples, files, kind)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{samples:,} samples in {files} files, {size / 1e6:.0f} MB")
        runs = [
            [seconds_and_megabytes(code, folder, kind, samples) for code in (ARROW, READ)]
            for _ in range(REPEATS)
        ]
    arrow, ours = (
        (min(seconds for seconds, _ in results), max(memory for _, memory in results))
        for results in zip(*runs, strict=True)
    )
    for title, (seconds, memory) in (("Arrow reads two columns", arrow), ("at_k.read", ours)):
        print(f"{title:24} {seconds:6.1f} s {memory:8.0f} MB")
    print(f"{'ratio':24} {ours[0] / arrow[0]:6.2f}")


if __name__ == "__main__":
    main()
