"""Time and peak memory of large and unusual inputs, and how both grow.

Each case runs in a process of its own, with limits of memory and time, at a quarter of its size and
at its full size. The growth is the ratio of the times: 4 if the time is linear. Where all questions
have different numbers of samples, half of the questions have a quarter of the samples. Memory is
counted without the modules, which are imported and used once before. A file that is read is input.

    python tests/benchmarks/scale.py
    python tests/benchmarks/scale.py --case rewards_of_one_long_question
    python tests/benchmarks/scale.py --list
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import at_k
import numpy as np

MEMORY, SECONDS = 20 << 30, 150  # the limits of a process
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
MOST_INPUTS, MOST_BESIDES = 4, 200e6  # memory that a case may use: 4 times its input and 200 MB
Case = Callable[[float], Callable[[], object]]
"""Makes the input of a case, scaled by a factor, and returns the call that is measured."""


def _random(*shape: int) -> np.ndarray:
    """Return binary outcomes of questions with different success rates."""
    rng = np.random.default_rng(0)
    return (rng.random(shape) < rng.beta(0.6, 0.9, (shape[0], 1))).astype(np.int8)


def _counts(questions: int, n: int, answers: int = 2) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    rates = rng.dirichlet(np.full(answers, 0.5), questions)
    return {"counts": [rng.multinomial(n, row).tolist() for row in rates]}


def rewards_of_one_long_question(size: float):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=8).tolist() for _ in range(int(1e4 * size))]
    rows.append(rng.normal(size=int(1e5 * size)).tolist())
    metric = at_k.load("max_at_k")
    return lambda: metric.compute(predictions=rows, k=[1, 4, 8], confidence=0.95)


def rewards_of_many_lengths(size: float):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=n).tolist() for n in range(8, 8 + int(3000 * size**0.5))]
    metric = at_k.load("max_at_k")
    return lambda: metric.compute(predictions=rows, k=[1, 4, 8], confidence=0.95)


def groups_of_categories(size: float):
    R = np.random.default_rng(0).integers(0, 3, (int(2e4 * size), 8))
    metric, groups = at_k.load("max_at_k"), [f"g{i}" for i in range(len(R))]
    return lambda: metric.compute(predictions=R, w=[0, 0.5, 1], k=4, groups=groups, confidence=0.95)


def groups_of_outcomes(size: float):
    R, metric = _random(int(2e4 * size), 8), at_k.load("gpassk")
    groups = [f"g{i}" for i in range(len(R))]
    return lambda: metric.compute(predictions=R, k=4, groups=groups, confidence=0.95)


def three_categories_100_mb(size: float):
    R = np.random.default_rng(0).integers(0, 3, (int(1e4 * size), 10_000), dtype=np.int8)
    return lambda: at_k.bayes(R, [0, 0.5, 1])


def pass_ci(k: int, score: str = "mg_pass_at_k_ci") -> Case:
    def case(size: float):
        each, R = int(k * size), _random(4, int(k * size))
        return lambda: getattr(at_k, score)(R, each)

    return case


def auto_of_many_lengths(size: float):
    R, metric = _random(int(3000 * size**0.5), 3008), at_k.load("gpassk")
    rows = [row[: 8 + i].tolist() for i, row in enumerate(R)]
    return lambda: metric.compute(predictions=rows, k=[4, 8], confidence=0.95)


def many_k(size: float):
    R, metric = _random(100, 5000), at_k.load("gpassk")
    ks = [*range(1, int(5000 * size) + 1)]
    return lambda: metric.compute(predictions=R, k=ks)


def many_k_confidence(size: float):
    R, metric = _random(100, 512), at_k.load("gpassk")
    ks = [*range(1, int(512 * size) + 1)]
    return lambda: metric.compute(predictions=R, k=ks, confidence=0.95)


def vote_of_many_answers(size: float):
    answers = [[str(i) for i in range(int(1e4 * size))]]
    metric, k = at_k.load("cons_at_k"), int(5000 * size)
    return lambda: metric.compute(predictions=answers, references=["7"], k=k)


def vote_of_many_questions(size: float):
    counts, metric = _counts(int(1e4 * size), 64, 12), at_k.load("cons_at_k")
    questions = len(counts["counts"])
    counts["answers"] = [[str(i) for i in range(12)]] * questions
    references = ["0"] * questions
    return lambda: metric.compute(predictions=counts, references=references, k=64, confidence=0.95)


def counts_with_confidence(name: str) -> Case:
    def case(size: float):
        side = int(1e4 * size**0.5)
        R, metric = _random(side, side), at_k.load(name)
        return lambda: metric.compute(predictions=R, confidence=0.95)

    return case


def real_rewards(size: float):
    R, metric = np.random.default_rng(0).normal(size=(int(1e6 * size), 16)), at_k.load("max_at_k")
    return lambda: metric.compute(predictions=R, k=[1, 4, 8])


def scores_by_question(size: float):
    R, metric = _random(int(1e4 * size), 64), at_k.load("gpassk")
    return lambda: metric.compute(predictions=R, return_per_question=True, confidence=0.95)


def leaderboard_of_50_runs(size: float):
    R = np.random.default_rng(0).random((max(2, int(50 * size)), 500, 16))
    limits = np.linspace(0.4, 0.6, len(R))[:, None, None]
    runs = {f"run {i}": run for i, run in enumerate((limits > R).astype(np.int8))}
    return lambda: at_k.leaderboard(runs, "pass@k", 4)


def compare_many_k(size: float):
    a, b = _random(500, 256), _random(500, 256)[:, ::-1]
    return lambda: at_k.compare(a, b, "pass@k", [*range(1, 2 + int(255 * size))])


def _reading(name: str, chunks: Iterable[str]) -> Callable[[], object]:
    """Write a file, and return the call that reads it."""
    file = Path(tempfile.mkdtemp(), name)
    with file.open("w") as stream:
        stream.writelines(chunks)

    def read() -> None:
        at_k.read(file)
        file.unlink()

    vars(read)["file_size"] = file.stat().st_size
    return read


def json_line_200_mb(size: float):
    outcomes = [", 1" * 33_333] * int(2000 * size)
    return _reading("run.jsonl", ['{"question": 1, "outcomes": [0', *outcomes, "]}\n"])


def json_rows(size: float):
    rows = range(int(1e6 * size))
    return _reading(
        "run.jsonl", (f'{{"question": {i // 8}, "correct": {i % 3 % 2}}}\n' for i in rows)
    )


def csv_rows(size: float):
    rows = (f"{i // 8},{i % 3 % 2}\n" for i in range(int(1e6 * size)))
    return _reading("run.csv", ["question,correct\n", *rows])


CASES: dict[str, Case] = {
    "rewards_of_one_long_question": rewards_of_one_long_question,
    "rewards_of_many_lengths": rewards_of_many_lengths,
    "groups_of_categories": groups_of_categories,
    "groups_of_outcomes": groups_of_outcomes,
    "three_categories_100_mb": three_categories_100_mb,
    "ci_of_8000": pass_ci(8000),
    "ci_of_10^5": pass_ci(10**5),
    "ci_of_10^6": pass_ci(10**6),
    "majority_ci_of_10^5": pass_ci(10**5, "maj_at_k_ci"),
    "auc_ci_of_10^5": pass_ci(10**5, "auc_at_k_ci"),
    "auto_of_many_lengths": auto_of_many_lengths,
    "many_k": many_k,
    "many_k_confidence": many_k_confidence,
    "vote_of_many_answers": vote_of_many_answers,
    "vote_of_many_questions": vote_of_many_questions,
    "counts_in_gpassk": counts_with_confidence("gpassk"),
    "counts_in_cons_at_k": counts_with_confidence("cons_at_k"),
    "real_rewards": real_rewards,
    "scores_by_question": scores_by_question,
    "leaderboard_of_50_runs": leaderboard_of_50_runs,
    "compare_many_k": compare_many_k,
    "json_line_200_mb": json_line_200_mb,
    "json_rows": json_rows,
    "csv_rows": csv_rows,
}


# --- Measuring ------------------------------------------------------------------------------


def measure(name: str, size: float) -> dict[str, float]:
    """Return the seconds of a case, and the bytes of its input and of its peak memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    CASES[name](0.002)()  # which imports what is needed
    before = _memory("VmRSS")
    call = CASES[name](size)
    held = _memory("VmRSS") - before + getattr(call, "file_size", 0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    start = time.process_time()
    call()
    seconds = time.process_time() - start
    return {"seconds": seconds, "input": held, "peak": _memory("VmHWM") - before}


def _memory(field: str) -> int:
    """Return the bytes of memory of this process, as Linux counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def measure_in_process(name: str, size: float) -> dict[str, float] | str:
    """Return what `measure` does, or the reason why the case has no result."""
    command = [sys.executable, __file__, "--case", name, "--size", str(size)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=os.environ | ONE_THREAD
        )
    except subprocess.TimeoutExpired:
        return f"more than {SECONDS} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:100]
    return json.loads(done.stdout)


def report(names: Iterable[str]) -> None:
    print(f"{'case':30}{'input MB':>9}{'peak MB':>9}{'seconds':>9}{'growth':>8}")
    for name in names:
        quarter, full = (measure_in_process(name, size) for size in (0.25, 1.0))
        if isinstance(full, str):
            print(f"{name:30}{full}", flush=True)
            continue
        growth = "" if isinstance(quarter, str) else f"{full['seconds'] / quarter['seconds']:.1f}"
        held, peak = full["input"] / 1e6, full["peak"] / 1e6
        most = MOST_INPUTS * held + MOST_BESIDES / 1e6
        above = "" if peak <= most else f"  above {most:.0f} MB"
        seconds = f"{full['seconds']:9.2f}"
        print(f"{name:30}{held:9.0f}{peak:9.0f}{seconds}{growth:>8}{above}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, help="run this case only")
    parser.add_argument("--size", type=float, help="measure at this size, in this process")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    if options.list:
        print(*CASES, sep="\n")
    elif options.size is not None:
        print(json.dumps(measure(options.case, options.size)))
    else:
        report([options.case] if options.case else CASES)
