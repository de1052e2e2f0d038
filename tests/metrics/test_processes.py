"""Several processes, and several threads."""

import json
import multiprocessing
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import at_k
import pytest
from at_k import exchange
from at_k.core.samples import GRADED_SCORES
from at_k.exchange import Exchange, default_experiment
from conftest import ROOT

GPASSK = str(ROOT / "metrics/gpassk")


PROCESS = """
import sys, evaluate
process, folder, cache = int(sys.argv[1]), *sys.argv[2:]
metric = evaluate.load(folder, num_process=2, process_id=process, cache_dir=cache)
def broken(prediction, reference):
    raise RuntimeError
import pyarrow as pa
rows = [[["a", "b", "a"], ["b", "a", "b"]], [["a", "a", "a"], ["c", None, "b", "b"]]][process]
# The types differ between the processes, as they may between batches.
rows, references = (rows, [{"x": "a"}, "b"]) if process == 0 else (pa.array(rows), ["a", ["b"]])
metric.add_batch(predictions=rows, references=references)
try:
    metric.compute(k=2, check_correct_fn=broken)
except ValueError as error:
    assert "predictions[0][0]" in str(error), error
assert len(metric) == 2, len(metric)
def checker(prediction, reference):
    return prediction in (reference["x"] if isinstance(reference, dict) else reference)
groups = ["p", "p", "q", "q"] if process == 0 else None
print(metric.compute(k=2, groups=groups, check_correct_fn=checker))
print(len(metric))
"""


def test_two_processes_have_the_scores_of_one_and_may_retry(gpassk, tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(process), GPASSK, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for process in (0, 1)
    ]
    first, second = (process.communicate(timeout=100)[0] for process in running)
    rows = [["a", "b", "a"], ["b", "a", "b"], ["a", "a", "a"], ["c", None, "b", "b"]]
    alone = gpassk.compute(
        predictions=rows, references=["a", "b", "a", "b"], k=2, groups=["p", "p", "q", "q"]
    )
    assert first == f"{alone}\n0\n"
    assert second == "None\n0\n"
    assert all(path.suffix == ".lock" for path in tmp_path.rglob("*") if path.is_file())


def computed_by_threads(processes, folder, compute, **options):
    """Call a function of a metric and its process in one thread for each process."""

    def run(process):
        metric = at_k.load(
            "gpassk", num_process=processes, process_id=process, cache_dir=str(folder), **options
        )
        return compute(metric, process)

    with ThreadPoolExecutor(processes) as threads:
        return list(threads.map(run, range(processes)))


def result_of(metric, outcomes):
    """Return the scores of one question, or the message of the error."""
    try:
        return metric.compute(predictions=[outcomes], k=1, include="pass@k")
    except ValueError as error:
        return str(error)


def test_all_processes_learn_that_the_input_of_one_is_invalid(tmp_path):
    problem = (
        "predictions[0][1] is 2: an outcome is 0 or False if incorrect, 1 or True if correct"
        f"{''.join(GRADED_SCORES)}."
    )

    def compute(metric, process):
        results = []
        for invalid in (0, 1):
            outcomes = [1, 2 if process == invalid else 0]
            results += [result_of(metric, x) for x in (outcomes, outcomes, [1, 0])]
        return results

    first, second = computed_by_threads(2, tmp_path, compute)
    score, learned = {"pass@1": 0.5}, f"Process 1 cannot read its input: {problem}"
    assert first == [problem, problem, score, learned, learned, score]
    learned = f"Process 0 could not compute: {problem}"
    assert second == [learned, learned, None, problem, problem, None]


def test_objects_that_compute_in_different_order_exchange_no_rows(tmp_path):
    def compute(first, process):
        options = {"num_process": 2, "process_id": process, "cache_dir": str(tmp_path)}
        second = at_k.load("gpassk", **options)
        metrics = [first, second] if process == 0 else [second, first]
        return [result_of(metric, [1, process]) for metric in (*metrics, first, second)]

    for results, score in zip(
        computed_by_threads(2, tmp_path, compute), ({"pass@1": 0.75}, None), strict=True
    ):
        for message, number in zip(results[:2], (1, 0), strict=True):
            assert f"Process 1 computes with metric object {number} of this run" in message
            assert f"process 0 with object {1 - number}" in message
        assert results[2:] == [score] * 2


def test_a_process_that_is_late_finds_the_result_of_its_rows(tmp_path, monkeypatch):
    write = exchange.write_whole

    def write_and_be_late(path, *content):
        write(path, *content)
        if path.name == "1.rows":
            time.sleep(1)

    monkeypatch.setattr(exchange, "_SECONDS_TO_READ", 0.1)
    monkeypatch.setattr(exchange, "write_whole", write_and_be_late)

    def compute(metric, process):
        return [result_of(metric, [1, x]) for x in ("x" if process else 1, process)]

    (problem, score), (own, none) = computed_by_threads(2, tmp_path, compute)
    assert "Process 1 cannot read its input" in problem
    assert "predictions[0][1]" in own
    assert (score, none) == ({"pass@1": 0.75}, None)


def score_in_role(arguments):
    """Return the score of a process of a pool, which had another role before."""
    process, folder = arguments
    metric = at_k.load(
        "gpassk", num_process=2, process_id=process, experiment_id="swap", cache_dir=folder
    )
    return metric.compute(predictions=[[1, process]], k=1, include="pass@k")


def test_workers_of_a_pool_may_swap_their_roles(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for round_of_jobs in range(4):
            roles = [(role, str(tmp_path)) for role in ((0, 1) if round_of_jobs % 2 else (1, 0))]
            scores = pool.map(score_in_role, roles, chunksize=1)
            assert sorted(scores, key=str) == [None, {"pass@1": 0.75}]


def test_processes_compute_several_rounds_and_may_have_no_question(tmp_path):
    def compute(metric, process):
        with pytest.raises(ValueError, match="There is nothing to compute"):
            metric.compute(k=1)
        found = []
        for score in range(4):
            if process == 0 or score == 1:  # in the other rounds, only process 0 has a question
                metric.add(prediction=[1, 0] if process == 0 else [score, 1.0])
            found.append(metric.compute(k=1, include="pass@k"))
        return found

    first, *others = computed_by_threads(3, tmp_path, compute)
    assert [scores["pass@1"] for scores in first] == [0.5, 5 / 6, 0.5, 0.5]
    assert others == [[None] * 4] * 2


def test_a_run_with_a_missing_process_has_no_score(tmp_path):
    def compute(metric, process):
        metric.add(prediction=[1, 0])
        if process == 1:
            return None  # it ends before it has sent its rows
        with pytest.raises(ValueError, match="No rows came from process 1 of 3 within 2 seconds"):
            metric.compute(k=1)
        return len(metric)

    assert computed_by_threads(3, tmp_path, compute, timeout=2) == [1, None, 1]


def write_rows(file):
    file.write(b"rows")


def test_half_written_rows_and_rows_of_an_earlier_run_are_not_read(tmp_path):
    process_0 = Exchange(tmp_path, 2, 0, timeout=0.3)
    (tmp_path / "1.rows").write_bytes(b'{"request": "of an earlier run"')
    (tmp_path / "1.rows").write_bytes(b'{"request": "of an earlier run", "key": "1"}\nrows')
    with pytest.raises(ValueError, match="No rows came from process 1"):
        process_0.receive()
    process_0.report(ValueError("No rows"))
    (tmp_path / "result").write_bytes(b'{"keys": {"1": "of an earlier run"}, "error": null}')
    with pytest.raises(ValueError, match="did not compute with the rows of process 1"):
        Exchange(tmp_path, 2, 1, timeout=0.3).send(write_rows)


def test_another_object_of_a_process_does_not_answer_the_same_request(tmp_path):
    (first_0, second_0), (first_1, second_1) = (
        [Exchange(tmp_path, 2, process, timeout=20) for _ in range(2)] for process in (0, 1)
    )
    with ThreadPoolExecutor() as threads:
        sent = threads.submit(first_1.send, write_rows)
        first_0.receive()
        request = (tmp_path / "request").read_text()
        result = {"request": request, "keys": first_0._received, "error": None}
        (tmp_path / "result").write_text(json.dumps(result))
        sent.result()
        again = threads.submit(second_1.send, write_rows)
        time.sleep(0.2)
        rows_of_second = list(tmp_path.glob("*.rows"))
        first_0.report(None)
        assert second_0.receive() == [b"rows"]
        second_0.report(None)
        again.result()
    assert rows_of_second == []


def test_a_process_waits_for_a_new_process_0_if_the_first_was_killed(tmp_path):
    (tmp_path / "request").write_bytes(b"of a run that was killed")
    (tmp_path / "0.lock").touch()
    with ThreadPoolExecutor() as threads:
        sent = threads.submit(Exchange(tmp_path, 2, 1, timeout=20).send, write_rows)
        time.sleep(0.1)
        assert list(tmp_path.glob("*.rows")) == []
        process_0 = Exchange(tmp_path, 2, 0, timeout=20)
        assert process_0.receive() == [b"rows"]
        process_0.report(None)
        sent.result()


def test_a_process_learns_that_process_0_ended_after_it_had_asked_for_rows(tmp_path):
    process_0, process_1 = (Exchange(tmp_path, 2, p, timeout=0.3) for p in range(2))
    with ThreadPoolExecutor() as threads:
        sent = threads.submit(process_1.send, write_rows)
        assert process_0.receive() == [b"rows"]
        process_0.leave()  # as if it was killed
        with pytest.raises(
            ValueError,
            match="it has ended, was killed, or belongs to another run",
        ):
            sent.result()


def test_a_process_removes_what_a_killed_one_with_its_role_has_half_written(tmp_path):
    kept = tmp_path / "11.rows-of-a-living-process"
    for name in ("1.rows-ab", "request-ab", "result-ab", kept.name):
        (tmp_path / name).touch()
    for process in (0, 1):
        Exchange(tmp_path, 12, process, timeout=1).leave()
    assert [path for path in tmp_path.iterdir() if path.suffix != ".lock"] == [kept]


TAKE_PLACE = """
import pathlib, sys
from at_k.exchange import Exchange
process, folder = sys.argv[1:]
exchange = Exchange(pathlib.Path(folder), 2, 0, 1)
print("taken", flush=True)
sys.stdin.read()
"""


def test_two_runs_with_the_same_name_are_noticed_by_both(tmp_path):
    command = [sys.executable, "-c", TAKE_PLACE, "0", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other_run:
        assert other_run.stdout is not None
        assert other_run.stdout.readline() == b"taken\n"
        with pytest.raises(ValueError, match="Another process is process 0 of the run in"):
            Exchange(tmp_path, 2, 0, timeout=1)
        assert (tmp_path / "conflict").exists()
    conflicting = Exchange(tmp_path, 2, 0, timeout=1)  # the other run has ended
    assert not (tmp_path / "conflict").exists()
    with ThreadPoolExecutor() as threads:
        sent = threads.submit(Exchange(tmp_path, 2, 1, timeout=1).send, write_rows)
        (tmp_path / "conflict").touch()
        with pytest.raises(ValueError, match="give each run an experiment_id of its own"):
            conflicting.receive()
        conflicting.report(ValueError("two runs"))
        with pytest.raises(ValueError, match="Process 0 could not compute: two runs"):
            sent.result()


def test_each_run_has_a_name_of_its_own(monkeypatch):
    names = {default_experiment()}
    for job in ("1", "2"):
        monkeypatch.setenv("PMIX_NAMESPACE", job)
        names.add(default_experiment())
    assert len(names) == 3
    assert default_experiment() in names


def test_threads_share_one_metric(gpassk):
    def score(successes):
        predictions = [[1] * successes + [0] * (8 - successes)]
        return gpassk.compute(predictions=predictions, k=1, include="pass@k")["pass@1"]

    expected = [i % 9 for i in range(100)]
    with ThreadPoolExecutor(8) as threads:
        assert [8 * score for score in threads.map(score, expected)] == expected

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda i: gpassk.add(prediction=[i % 2]), range(200)))
    assert gpassk.compute(k=1, include="pass@k") == {"pass@1": 0.5}


def test_add_waits_for_a_computation(gpassk):
    started, may_end = threading.Event(), threading.Event()

    def checker(prediction, reference):
        started.set()
        assert may_end.wait(10)
        return prediction == reference

    with ThreadPoolExecutor() as threads:
        arguments = {"predictions": [["a"]], "references": ["a"], "k": 1}
        computed = threads.submit(gpassk.compute, **arguments, check_correct_fn=checker)
        assert started.wait(10)
        added = threads.submit(gpassk.add, prediction=["b"], reference="a")
        time.sleep(0.05)
        assert not added.done()
        may_end.set()
        assert computed.result()["G-Pass@1_1.0"] == 1.0
        added.result()
    assert len(gpassk) == 1


def in_this_thread(use):
    return lambda prediction, reference: use()


def in_a_coroutine(use):
    async def checker(prediction, reference):
        return use()

    return checker


@pytest.mark.parametrize("checker_of", [in_this_thread, in_a_coroutine])
@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("method", ["add", "add_batch", "compute"])
def test_a_checker_that_uses_its_own_metric_is_an_error_at_once(
    gpassk, checker_of, threads, method
):
    arguments: dict[str, dict[str, Any]] = {
        "add": {"prediction": ["b"], "reference": "b"},
        "add_batch": {"predictions": [["b"]], "references": ["b"]},
        "compute": {"predictions": [[1]], "k": 1},
    }
    gpassk.add(prediction=["a"], reference="a")
    checker = checker_of(lambda: getattr(gpassk, method)(**arguments[method]))
    called = f"{'add_batch' if method == 'add' else method} was called by a checker of the same"
    with ThreadPoolExecutor(2) as pool:
        executor = None if threads is None else pool
        with pytest.raises(ValueError, match=called):
            gpassk.compute(k=1, check_correct_fn=checker, executor=executor)
    assert gpassk.compute(k=1, include="pass@k") == {"pass@1": 1.0}


def test_a_checker_may_use_another_metric(gpassk):
    other = at_k.load("gpassk")

    def checker(prediction, reference):
        scores = other.compute(predictions=[[prediction == reference]], k=1, include="pass@k")
        return scores["pass@1"]

    scores = gpassk.compute(
        predictions=[["a", "b"]], references=["a"], k=1, check_correct_fn=checker
    )
    assert scores["G-Pass@1_1.0"] == 0.5
