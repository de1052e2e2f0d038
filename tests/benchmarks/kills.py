"""Kill processes at random moments, and check what the next process finds.

    python tests/benchmarks/kills.py [--rounds 440] [--seed 1]

In each round, a process registers, computes or takes part in a distributed run until it is
killed with SIGKILL. Then none of its worker processes may be left, and the next process has to
compute the correct number. All processes are copies of this one, which has imported the libraries.
It prints what failed.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import filecmp
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

# evaluate and datasets read these once, when they are imported.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="at-k-kills-")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_EVALUATE_OFFLINE"] = "1"

import at_k
import evaluate
import pytest
from at_k.loading import metric_folders, register, unregister

HOME = Path(os.environ["HF_HOME"])
SOURCE = metric_folders()["gpassk"]
ROWS = [["a", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]]
ONE_OF_TWO = {"k": 2, "include": "pass@k"}
EXPECTED = {"pass@2": (1 + 2 / 3 + 1) / 3}
PROCESSES = 3
SECONDS = 120  # until a process that was not killed has to end: the machine may be very busy

Action = Callable[[], object]


# --- Processes --------------------------------------------------------------------------


def start(action: Action) -> int:
    """Run an action in a copy of this process, the first of a group, and return its number."""
    process = os.fork()
    if process:
        return process
    os.setpgid(0, 0)
    code = 1
    try:
        action()
        atexit._run_exitfuncs()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def check_end(process: int) -> None:
    """Wait for a process, which must end without an error."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            assert status == 0, f"process {process} ended with status {status}"
            return
        time.sleep(0.005)
    kill(process)
    raise AssertionError(f"process {process} did not end")


def check_no_process_is_left(group: int) -> None:
    deadline = time.monotonic() + 20
    while left := living_processes(group):
        assert time.monotonic() < deadline, f"these processes are left: {left}"
        time.sleep(0.005)


def living_processes(group: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, _, stat = path.read_text().rpartition(")")
            state, _, process_group = stat.split()[:3]
            if int(process_group) == group and state != "Z":
                found.append(path.parent.name)
    return found


# --- One process ------------------------------------------------------------------------


def compute(metric: evaluate.Metric, **options: object) -> None:
    """Compute in two steps, with a checker of the user."""
    metric.add(prediction=ROWS[0], reference="a")
    metric.add_batch(predictions=ROWS[1:], references=["a", "a"])
    checker = {"check_correct_fn": lambda prediction, reference: prediction == reference}
    assert metric.compute(**ONE_OF_TWO, **checker, **options) == EXPECTED


def check_load() -> None:
    compute(at_k.load("gpassk"))


def register_again() -> None:
    if random.random() < 0.3:
        unregister()
    register()


def check_registered() -> None:
    """Every copy is whole, what is registered can be loaded, and the next registration works."""
    folders = HOME.glob("modules/evaluate_modules/metrics/gpassk/" + "?" * 64)
    for folder in folders:
        for name in ("gpassk.py", "kernel.py"):
            copy = folder / name
            assert not copy.exists() or filecmp.cmp(copy, SOURCE / name, shallow=False), copy
    try:
        metric = evaluate.load("gpassk")
    except FileNotFoundError:  # the process was killed after it had removed the metrics
        register()
        metric = evaluate.load("gpassk")
    compute(metric)
    register()


def compute_in_processes() -> None:
    compute(at_k.load("gpassk"), num_proc=2)


ONE_PROCESS: list[tuple[Action, Action]] = [
    (register_again, check_registered),
    (compute_in_processes, check_load),
]


def kill_one_process(rng: random.Random) -> None:
    action, check = rng.choice(ONE_PROCESS)
    seed, seconds = rng.random(), rng.uniform(0, 0.5)

    def repeat() -> None:
        random.seed(seed)
        while True:
            action()

    victim = start(repeat)
    time.sleep(seconds)
    kill(victim)
    check_no_process_is_left(victim)
    check_end(start(check))


# --- Distributed runs -------------------------------------------------------------------


def take_part(process: int, folder: Path, timeout: float, rounds: int) -> None:
    """Compute as one of the processes. The score is the expected one, or there is a sentence."""
    metric = at_k.load(
        "gpassk",
        num_process=PROCESSES,
        process_id=process,
        cache_dir=str(folder),
        experiment_id="run",
        timeout=timeout,
    )
    for _ in range(rounds):
        metric.add(prediction=ROWS[process], reference="a")
        score = metric.compute(**ONE_OF_TWO)
        assert score == (EXPECTED if process == 0 else None), score


def take_part_until_one_is_killed(process: int, folder: Path) -> None:
    with pytest.raises(ValueError, match=r"(?i)process"):
        take_part(process, folder, timeout=1, rounds=10_000)


def kill_one_of_several(rng: random.Random) -> None:
    """The others end with a sentence, and the next run of the same name has the number."""
    folder = HOME / "run"
    processes = [
        start(lambda p=p: take_part_until_one_is_killed(p, folder))  # type: ignore[misc]
        for p in range(PROCESSES)
    ]
    time.sleep(rng.uniform(0, 0.6))
    kill(processes.pop(rng.randrange(PROCESSES)))
    for process in processes:
        check_end(process)
    for process in [
        start(lambda p=p: take_part(p, folder, SECONDS, rounds=2))  # type: ignore[misc]
        for p in range(PROCESSES)
    ]:
        check_end(process)
    left = [str(path) for path in folder.rglob("*") if path.is_file()]
    assert not left, f"these files are left: {left}"


def failures_in(rounds: int, seed: int) -> list[str]:
    """Return what failed. Every fifth round is of a distributed run."""
    rng = random.Random(seed)
    check_end(start(check_load))  # compiles the modules
    failures = []
    for number in range(rounds):
        try:
            (kill_one_of_several if number % 5 == 0 else kill_one_process)(rng)
        except AssertionError as error:
            failures.append(f"round {number}: {error}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=440)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        failures = failures_in(arguments.rounds, arguments.seed)
    finally:
        shutil.rmtree(HOME)
    print(f"{len(failures)} failures in {arguments.rounds} rounds", *failures, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
