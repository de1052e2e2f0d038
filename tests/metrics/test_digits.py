"""Results have the same digits, however samples are checked and added."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import at_k
import pytest
from dask.distributed import Client
from scored import compute


def share(prediction: str, reference: str) -> float:
    return min(len(prediction), len(reference)) / max(len(prediction), len(reference))


def is_correct(prediction: str, reference: str) -> bool:
    return prediction == reference


def category(prediction: str, reference: str) -> int:
    return min(2, abs(len(prediction) - len(reference)))


WITH_INTERVALS = {"confidence": 0.9, "return_per_question": True}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "gpassk": (is_correct, {"k": [1, 3], "include": ["G-Pass@k", "maj@k", "Geom@k"]}),
    "bayes_at_n": (category, {"w": [0.1, 0.4, 0.7], "interval": "auto"}),
    "max_at_k": (share, {"k": [1, 3]}),
    "cons_at_k": (share, {}),
    "score_agg": (share, {"temperature": 0.3}),
}


def questions_of(name: str) -> tuple[list[list[str]], list[str], list[str]]:
    """Return random samples of 11 questions, which differ in number, references and groups."""
    rng = random.Random(name)
    references = ["x" * rng.randrange(1, 6) for _ in range(11)]
    samples = [["x" * rng.randrange(1, 6) for _ in range(rng.randrange(3, 12))] for _ in references]
    return samples, references, [rng.choice("ab") for _ in references]


@pytest.fixture(scope="module")
def executors():
    # Port 0 is a free one. Without an address the port is 8787, which another test may have.
    dask = Client(processes=False, n_workers=2, dashboard_address=":0")
    with ThreadPoolExecutor(8) as threads, dask:
        yield {"threads": threads, "Dask": dask.get_executor()}


@pytest.mark.parametrize("name", CASES)
def test_workers(name, executors):
    checker, options = CASES[name]
    samples, references, groups = questions_of(name)
    metric = at_k.load(name)
    found = {
        str(way): metric.compute(
            predictions=samples,
            references=references,
            groups=groups,
            check_correct_fn=checker,
            **way,
            **WITH_INTERVALS,
            **options,
        )
        for way in (
            {},
            {"num_proc": 2},
            {"num_proc": 8},
            {"executor": executors["threads"]},
            {"executor": executors["Dask"]},
        )
    }
    first = next(iter(found.values()))
    assert found == dict.fromkeys(found, first)


@pytest.mark.parametrize("graded", [False, True], ids=["checked", "graded"])
@pytest.mark.parametrize("name", CASES)
def test_processes(name, graded, tmp_path):
    checker, options = CASES[name]
    samples, references, groups = questions_of(name)
    rows: dict[str, list[Any]] = {"predictions": samples, "references": references}
    options = options | WITH_INTERVALS | {"check_correct_fn": checker}
    if graded:
        del options["check_correct_fn"]
        pairs = zip(samples, references, strict=True)
        rows = {"predictions": [[checker(each, answer) for each in row] for row, answer in pairs]}

    def computed_by(processes: int) -> dict[str, Any]:
        places = [len(samples) * each // processes for each in range(processes + 1)]

        def run(process: int) -> dict[str, Any] | None:
            metric = at_k.load(
                name, num_process=processes, process_id=process, cache_dir=str(tmp_path)
            )
            start, end = places[process : process + 2]
            middle = (start + end) // 2
            for part in itertools.pairwise((start, middle, end)):
                metric.add_batch(**{key: each[slice(*part)] for key, each in rows.items()})
            return metric.compute(groups=groups, **options)

        with ThreadPoolExecutor(processes) as threads:
            results = list(threads.map(run, range(processes)))
        assert results[0] is not None
        assert results[1:] == [None] * (processes - 1)
        return results[0]

    at_once = compute(name, **rows, groups=groups, **options)
    assert [computed_by(processes) for processes in (1, 2, 4)] == [at_once] * 3
