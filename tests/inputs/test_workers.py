"""Running a checker in threads, in processes and on other machines."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path

import at_k
import pytest
from at_k.checkers.workers import portable_check
from checked import OUTCOMES, REFERENCES, SAMPLES, check, same


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def fails(prediction, reference):
    if prediction == "b":
        raise UnpicklableError("cannot", "travel")
    return prediction == reference


def spawn_pool():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize(
    "pool", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2), lambda: ThreadPool(2)]
)
def test_an_executor_gives_the_same_outcomes(pool):
    with pool() as executor:
        outcomes = check(SAMPLES, REFERENCES, lambda p, r: p == r, executor=executor)
        assert outcomes == OUTCOMES


def test_num_proc_gives_the_same_outcomes_in_other_processes():
    assert check(SAMPLES, REFERENCES, same, num_proc=2) == OUTCOMES
    outcomes = check([["a", "b"]], [os.getpid()], lambda p, r: os.getpid() != r, num_proc=2)
    assert outcomes == [[1, 1]]


def test_an_exception_in_a_worker_is_the_cause_and_its_sample_is_named():
    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\] raised .*cannot travel") as caught:
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

sys.modules["at_k"] = sys.modules["checked"] = None  # importing them raises an ImportError
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


def same_text(prediction, reference):
    return prediction == reference


@pytest.mark.parametrize("pool", [lambda: ProcessPoolExecutor(2), spawn_pool])
def test_checkers_that_call_functions_of_any_name_run_in_workers(pool):
    tqdm = place = same_text  # names that the modules of this package have too
    with pool() as executor:
        assert check([["aa", "a"]], [""], even, executor=executor) == [[1, 0]]
        for checker in (lambda p, r: place(p, r), lambda p, r: tqdm(p, r), same_text):
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
from checked import check

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
            assert check([["a", None]], ["a"], checker, timeout=1.5) == [[None, None]]
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
