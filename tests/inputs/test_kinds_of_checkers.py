"""Checkers that are async or take batches, many slow checks at once, and retries."""

import asyncio
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.checkers.workers import CONCURRENT_CALLS
from checked import OUTCOMES, REFERENCES, SAMPLES, check, same

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

    before = threading.active_count()
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised ZeroDivisionError: oh"):
        check(MANY, ["x"], checker)
    assert 0 < len(cancelled) <= CONCURRENT_CALLS
    assert threading.active_count() == before


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
