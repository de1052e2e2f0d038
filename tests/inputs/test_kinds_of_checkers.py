"""Checkers that are async or take batches, in threads, in processes and elsewhere; retries."""

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import pytest
import tqdm
from at_k.checkers.workers import CONCURRENT_CALLS, portable_check
from dask.distributed import Client
from scored import OUTCOMES, REFERENCES, SAMPLES, check, same

MANY = [[str(place) for place in range(200)]]


class Running:
    """Counts how many calls run at the same time."""

    def __init__(self):
        self.now, self.most, self.lock = 0, 0, threading.Lock()

    def __enter__(self):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_):
        with self.lock:
            self.now -= 1


# --- Async checkers -----------------------------------------------------------------------


async def same_later(prediction, reference):
    await asyncio.sleep(0)
    return prediction == reference


class Judge:
    async def __call__(self, prediction, reference):
        return await same_later(prediction, reference)

    async def judge(self, prediction, reference):
        return await same_later(prediction, reference)


@pytest.mark.parametrize("checker", [same_later, Judge(), Judge().judge])
def test_an_async_checker_gives_the_same_outcomes(checker):
    assert check(SAMPLES, REFERENCES, checker) == OUTCOMES
    with ThreadPoolExecutor(2) as executor:
        assert check(SAMPLES, REFERENCES, checker, executor=executor) == OUTCOMES


@pytest.mark.parametrize("most", [None, 7])
def test_calls_of_an_async_checker_run_at_the_same_time_up_to_a_bound(most):
    running = Running()

    async def slow(prediction, reference):
        with running:
            await asyncio.sleep(0.02)
        return True

    executor = None if most is None else ThreadPoolExecutor(most)
    assert check(MANY, ["x"], slow, executor=executor) == [[1] * 200]
    assert 1 < running.most <= (most or CONCURRENT_CALLS)


def test_calls_of_an_async_checker_share_one_event_loop():
    loops = set()

    async def checker(prediction, reference):
        loops.add(asyncio.get_running_loop())
        return True

    check(MANY, ["x"], checker)
    assert len(loops) == 1
    assert loops.pop().is_closed()


def test_an_exception_of_an_async_checker_cancels_the_other_calls():
    cancelled = []

    async def checker(prediction, reference):
        if prediction == "0":
            raise ZeroDivisionError("oh")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(prediction)
            raise

    before = {*threading.enumerate()}
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised ZeroDivisionError: oh"):
        check(MANY, ["x"], checker)
    assert 0 < len(cancelled) <= CONCURRENT_CALLS
    # The first progress bar of a process starts the thread of tqdm that watches all of them.
    assert all(isinstance(thread, tqdm.TMonitor) for thread in {*threading.enumerate()} - before)


def test_an_async_checker_runs_in_no_process():
    with ProcessPoolExecutor(1) as pool:
        for options in ({"num_proc": 2}, {"executor": pool}):
            with pytest.raises(ValueError, match="is an async function"):
                check(SAMPLES, REFERENCES, same_later, **options)


# --- Batched checkers ---------------------------------------------------------------------


def in_batches_of(size: Any) -> Callable[[Any], Any]:
    """Mark a checker as batched."""

    def mark(checker: Any) -> Any:
        checker.batched, checker.batch_size = True, size
        return checker

    return mark


@in_batches_of(2)
def same_each(predictions, references):
    assert type(predictions) is type(references) is list
    assert len(predictions) <= 2
    return [predictions[place] == references[place] for place in range(len(predictions))]


@in_batches_of(2)
async def same_each_later(predictions, references):
    return np.array(same_each(predictions, references))


class RewardModel:
    batched = True

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, predictions, references):
        self.sizes.append(len(predictions))
        return np.linspace(0, 1, len(predictions), dtype=np.float32)


@pytest.mark.parametrize("checker", [same_each, same_each_later])
def test_a_batched_checker_gives_the_same_outcomes(checker):
    assert check(SAMPLES, REFERENCES, checker) == OUTCOMES
    assert check(SAMPLES, REFERENCES, same_each, num_proc=2) == OUTCOMES
    with ThreadPoolExecutor(2) as executor:
        assert check(SAMPLES, REFERENCES, checker, executor=executor) == OUTCOMES


def test_a_batched_checker_gets_64_distinct_pairs_unless_it_says_otherwise():
    model = RewardModel()
    check(MANY, ["x"], model)
    assert model.sizes == [64, 64, 64, 8]
    in_batches_of(150)(model)
    check(MANY + MANY, ["x", "x"], model)
    assert model.sizes[4:] == [150, 150, 100]


@pytest.mark.parametrize("results", [[True], [True] * 3, True, None, 0.5])
def test_a_batched_checker_returns_a_result_for_each_pair(results):
    @in_batches_of(2)
    def checker(predictions, references):
        return results

    message = r"predictions\[0\]\[0\] returned .* for a batch of 2, one result for each"
    with pytest.raises(ValueError, match=message):
        check([["a", "b"]], ["x"], checker)


def test_the_error_names_the_sample_of_a_batch_whose_result_is_refused():
    @in_batches_of(2)
    def checker(predictions, references):
        return [True, "?"][: len(predictions)]

    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] returned '\?'"):
        check([["a", "b"]], ["x"], checker)


@pytest.mark.parametrize("size", [0, -1, True, "64", None])
def test_the_size_of_batches_is_a_number(size):
    @in_batches_of(size)
    def checker(predictions, references):
        return [True] * len(predictions)

    with pytest.raises(ValueError, match="batch_size of check_correct_fn is"):
        check([["a", "b"]], ["x"], checker)


# --- Retries ------------------------------------------------------------------------------


class Flaky:
    """A checker that fails for one prediction until it is repaired, and counts its calls."""

    def __init__(self, error: BaseException):
        self.error, self.broken = error, True
        self.calls: list[str] = []

    def __call__(self, prediction, reference):
        if prediction == "7" and self.broken:
            raise self.error
        self.calls.append(prediction)
        return prediction == reference


@pytest.mark.parametrize("error", [RuntimeError("rate limit"), KeyboardInterrupt()])
@pytest.mark.parametrize("added_before", [False, True])
def test_a_retry_asks_only_for_what_is_missing(error, added_before):
    metric, checker = at_k.load("gpassk"), Flaky(error)
    data = {"predictions": [[str(place) for place in range(10)]], "references": ["3"]}
    if added_before:
        metric.add_batch(**data)
        data = {}
    options = {"check_correct_fn": checker, "k": 1, "include": "pass@k"}
    with pytest.raises((ValueError, KeyboardInterrupt)) as caught:
        metric.compute(**data, **options)
    assert "7 finished checks are kept" in caught.value.__notes__[-1]
    pickle.dumps(metric)
    checker.broken = False
    assert metric.compute(**data, **options) == {"pass@1": 0.1}
    assert checker.calls == [str(place) for place in range(10)]
    data = {"predictions": [["0", "3"]], "references": ["3"]}
    assert metric.compute(**data, **options) == {"pass@1": 0.5}  # which nothing is kept for
    assert checker.calls[10:] == ["0", "3"]


def test_another_checker_is_asked_for_everything():
    metric, checker = at_k.load("gpassk"), Flaky(RuntimeError("rate limit"))
    data = {"predictions": [["3", "7"]], "references": ["7"], "k": 1, "include": "pass@k"}
    with pytest.raises(ValueError, match="rate limit"):
        metric.compute(**data, check_correct_fn=checker)
    assert metric.compute(**data, check_correct_fn=lambda p, r: True) == {"pass@1": 1.0}
    assert metric.compute(**data, check_correct_fn=same) == {"pass@1": 0.5}


@pytest.mark.parametrize("ending", ["exit", "interrupt", "stop"])
def test_an_async_checker_that_ends_its_loop_does_not_hang(ending):
    async def checker(prediction, reference):
        if prediction == "b" and ending == "exit":
            sys.exit(3)
        if prediction == "b" and ending == "interrupt":
            raise asyncio.CancelledError
        if prediction == "b":
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0.01)
        return prediction == reference

    if ending == "stop":
        assert check([["a", "b"]], ["a"], checker) == [[1, 0]]
    else:
        with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] raised (SystemExit|Cancel)"):
            check([["a", "b"]], ["a"], checker)


def test_an_async_checker_runs_in_many_loops_at_once(gpassk):
    async def checker(prediction, reference):
        await asyncio.sleep(0)
        return prediction == reference

    def score():
        return at_k.load("gpassk").compute(
            predictions=[["a", "b"]], references=["a"], check_correct_fn=checker, k=1
        )

    async def main():
        inside = score()  # in a running loop, as in a notebook
        return [inside, *await asyncio.gather(*(asyncio.to_thread(score) for _ in range(4)))]

    # In a thread: a browser of other tests may leave a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        results = thread.submit(lambda: asyncio.run(main())).result()
    assert all(scores["G-Pass@1_1.0"] == 0.5 for scores in results)


class WithoutValue:
    ndim = 0

    def item(self):
        raise RuntimeError("a tensor on the device meta has no value")


def test_a_number_without_a_value_is_named():
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] returned WithoutValue without a"):
        check([["a"]], ["a"], lambda p, r: WithoutValue())


# --- Workers ----------------------------------------------------------------------------


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def fails(prediction, reference):
    if prediction == "b":
        raise UnpicklableError("cannot", "travel")
    return prediction == reference


spawn_pool = partial(ProcessPoolExecutor, 2, multiprocessing.get_context("spawn"))


@contextmanager
def dask_pool():
    # Port 0 is a free one. Without an address the port is 8787, which another test may have.
    with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        yield client.get_executor()


POOLS = [partial(pool, 2) for pool in (ThreadPoolExecutor, ProcessPoolExecutor, ThreadPool)]


@pytest.mark.parametrize("pool", [*POOLS, dask_pool])
def test_an_executor_gives_the_same_outcomes(pool):
    with pool() as executor:
        for way in ({"executor": executor}, {"num_proc": 2}, {"num_proc": 8}):
            assert check(SAMPLES, REFERENCES, lambda p, r: p == r, **way) == OUTCOMES
            shares = check([["x", "xx", "x", None]], [4], lambda p, r: len(p) / r, **way)
            assert shares == [[0.25, 0.5, 0.25, None]]


def test_num_proc_checks_in_other_processes():
    outcomes = check([["a", "b"]], [os.getpid()], lambda p, r: os.getpid() != r, num_proc=2)
    assert outcomes == [[1, 1]]


def test_an_exception_in_a_worker_is_the_cause_and_its_sample_is_named():
    message = r"predictions\[\d\]\[\d\] raised .*cannot travel"
    with pytest.raises(ValueError, match=message) as caught:
        check(SAMPLES, REFERENCES, fails, num_proc=2)
    assert "cannot travel" in str(caught.value.__cause__)


def test_a_worker_that_dies_is_an_error_that_names_the_first_pair_without_a_result():
    def checker(prediction, reference):
        import os

        return prediction == reference if prediction == "a" else os._exit(1)

    with spawn_pool() as executor:
        for options in ({"num_proc": 2}, {"executor": executor}):
            message = r"A worker died.*'c', ..\) on predictions\[1\]\[1\]"
            with pytest.raises(ValueError, match=message) as caught:
                check([[None], [None, "c", "a"]], ["a", "a"], checker, **options)
            assert isinstance(caught.value.__cause__, BrokenExecutor)


ELSEWHERE = """
import pickle
import sys

sys.modules["at_k"] = sys.modules["scored"] = None  # importing them raises an ImportError
check_batch = pickle.load(sys.stdin.buffer)
print(check_batch((7, [("a", "a"), ("b", "a"), ("?", "a")])))
"""


def test_a_worker_needs_neither_this_package_nor_the_module_of_the_checker():
    accepted = {"a": "good"}

    def checker(prediction, reference):
        return {"a": accepted["a"], "b": 0.5}[prediction]

    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=pickle.dumps(portable_check(checker, {"good": 1})),
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert run.stdout.decode().startswith("(7, [(1, None), (0.5, None), (None, KeyError('?'))])")


def even(prediction, reference):
    return prediction == "" or odd(prediction[1:], reference)


def odd(prediction, reference):
    return prediction != "" and even(prediction[1:], reference)


@pytest.mark.parametrize("pool", [lambda: ProcessPoolExecutor(2), spawn_pool])
def test_checkers_that_call_functions_of_any_name_run_in_workers(pool):
    tqdm = place = same  # names that the modules of this package have too
    with pool() as executor:
        assert check([["aa", "a"]], [""], even, executor=executor) == [[1, 0]]
        for checker in (lambda p, r: place(p, r), lambda p, r: tqdm(p, r), same):
            assert check(SAMPLES, REFERENCES, checker, executor=executor) == OUTCOMES


def test_a_checker_that_calls_sys_exit_is_an_error():
    for options in ({}, {"num_proc": 2}):
        with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised SystemExit"):
            check([["a"]], ["a"], lambda p, r: sys.exit(3), **options)


def test_an_executor_that_loses_results_is_refused():
    class Lossy:
        def map(self, function, batches):
            return list(map(function, batches))[:-1]

    with pytest.raises(ValueError, match="5 results for 6 pairs"):
        check(SAMPLES, REFERENCES, same, executor=Lossy())


def test_a_checker_that_cannot_be_pickled_is_refused():
    lock = multiprocessing.Lock()
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="cannot be sent to a worker"),
    ):
        check([["a"]], ["a"], lambda p, r: lock is None, executor=executor)


# --- What a checker or an executor may do wrong -------------------------------------------


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}, {"timeout": 20}])
def test_a_checker_that_changes_its_reference_changes_no_other_verdict(options):
    def checker(prediction, reference):
        return reference["answers"].pop() == prediction

    samples = [["a", "b", "c"], ["a", "d"]]
    references = [{"answers": ["c", "a"]}, {"answers": ["a"]}]
    assert check(samples, references, checker, **options) == [[1, 0, 0], [1, 0]]


class Reordering:
    """An executor that gives results in another order, and some of them twice."""

    def map(self, function, batches):
        results = list(map(function, batches))
        return [*reversed(results), results[0]]


def test_an_executor_may_reorder_and_repeat_results():
    assert check(SAMPLES, REFERENCES, same, executor=Reordering()) == OUTCOMES


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_sample_that_takes_too_long_is_not_scored(num_proc):
    def checker(prediction, reference):
        while prediction == "loop":
            pass
        return prediction == reference

    samples = [["a", "loop", "b"], ["b", "loop"]]
    with pytest.warns(UserWarning, match=r"2 of 5 distinct .* timeout of 1 s.* not scored"):
        outcomes = check(samples, ["a", "b"], checker, num_proc=num_proc, timeout=1)
    assert outcomes == [[1, None, 0], [1, None]]


@pytest.mark.parametrize("timeout", [1e7, 1e20, float("inf")])
def test_a_timeout_may_be_longer_than_systems_wait(timeout):
    assert check([["a"]], ["a"], same, timeout=timeout) == [[1]]


PARENT = """
import sys, time
from scored import check

def checker(prediction, reference):
    import os, time
    os.write(1, b"%d\\n" % os.getpid())  # at once: the lines of two processes must not mix
    while True:
        time.sleep(0.01)

check([["a", "b"]], ["a"], checker, num_proc=2)
"""


def has_ended(process):
    """Whether a process is gone, or waits for its parent to take notice."""
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("ending", ["timeout", "return", "death"])
def test_a_process_that_a_checker_starts_ends_with_its_worker(tmp_path, ending):
    def checker(prediction, reference):
        import os
        import subprocess
        import time

        nested = "import subprocess, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True)"
        child = subprocess.Popen(
            [sys.executable, "-c", f"{nested}; time.sleep(60)"], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        (tmp_path / "started").write_bytes(b"%d %s" % (child.pid, child.stdout.readline()))
        if ending == "timeout":
            time.sleep(60)
        if ending == "death":
            os._exit(1)
        return True

    if ending == "timeout":
        with pytest.warns(UserWarning, match="longer to check than the timeout"):
            assert check([["a", None]], ["a"], checker, timeout=5) == [[None, None]]
    elif ending == "death":
        with pytest.raises(ValueError, match="A worker died"):
            check([["a"]], ["a"], checker, timeout=60)
    else:
        assert check([["a"]], ["a"], checker, timeout=60) == [[1]]
    started = (tmp_path / "started").read_text().split()
    assert len(started) == 2
    deadline = time.monotonic() + 10
    while not all(map(has_ended, started)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_no_worker_outlives_a_parent_that_is_killed():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], env=environment, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        lines = [parent.stdout.readline() for _ in range(2)]
        parent.kill()
    workers = [int(line) for line in lines]
    deadline = time.monotonic() + 20
    while any(Path("/proc", str(each)).exists() for each in workers):
        assert time.monotonic() < deadline
        time.sleep(0.02)


class WithoutTextError(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


def raises_without_text(prediction, reference):
    raise WithoutTextError


def test_an_exception_that_cannot_be_written_is_an_error_everywhere():
    message = r"raised (RuntimeError: )?WithoutTextError: (without a message|a Without)"
    with spawn_pool() as executor:
        for options in ({}, {"executor": executor}):
            with pytest.raises(ValueError, match=rf"predictions\[0\]\[0\] {message}"):
                check([["a"]], ["a"], raises_without_text, **options)
            assert check([["a"]], ["a"], lambda p, r: p == r, **options) == [[1]]


@pytest.mark.parametrize("name", ["numeric", "choice", "math_verify"])
def test_a_named_checker_says_where_it_runs(name):
    checker = getattr(at_k.checkers, name)(num_proc=2)
    references = ["A" if name == "choice" else "7"]
    assert check([[references[0], "8"]], references, checker) == [[1, 0]]
    with pytest.raises(ValueError, match="num_proc is given to compute and to the checker"):
        check([["7"]], ["7"], checker, num_proc=2)
    with pytest.raises(ValueError, match="num_proc and executor exclude each other"):
        getattr(at_k.checkers, name)(num_proc=2, executor=ThreadPoolExecutor())
