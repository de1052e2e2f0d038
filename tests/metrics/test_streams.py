"""Questions that are added in parts: kept as counts or in files, and scored as if given at once."""

import pickle
import sys
import tempfile
import tracemalloc
from typing import Any

import at_k
import dill
import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def samples_of(*values: Any) -> st.SearchStrategy[list[Any]]:
    """Return the samples of one question, not all of which are None."""
    lists = st.lists(st.sampled_from(values), min_size=1, max_size=12)
    return lists.filter(lambda samples: any(each is not None for each in samples))


BINARY, SHARES = samples_of(0, 1, True, False, None), samples_of(0.0, 0.25, 0.3, 1.0, None)
OPTIONS: dict[str, dict[str, Any]] = {
    "gpassk": {"k": 1, "include": ["pass@k"], "confidence": 0.9},
    "bayes_at_n": {"w": [0, 0.3, 1]},
    "max_at_k": {"k": 1, "confidence": 0.9},
    "cons_at_k": {"confidence": 0.9},
    "score_agg": {"temperature": 0.2, "penalty": 0.0},
}
QUESTIONS = {
    "gpassk": BINARY,
    "bayes_at_n": samples_of(0, 1, 2, None),
    "max_at_k": st.one_of(BINARY, SHARES),
    "cons_at_k": st.one_of(BINARY, SHARES),
    "score_agg": st.one_of(BINARY, SHARES),
}
METRICS = {name: (at_k.load(name), at_k.load(name)) for name in OPTIONS}


def kernel_of(metric: evaluate.Metric) -> Any:
    """Return the module that the class of the metric is imported from."""
    return sys.modules[type(metric).__mro__[1].__module__]


@pytest.mark.parametrize("name", OPTIONS)
@settings(max_examples=12)
@given(st.data())
def test_any_sequence_of_calls_has_the_scores_of_one_call(name, data):
    """The oracle is a list of the questions, and one call of `compute` with them."""
    (metric, at_once), questions, options = METRICS[name], QUESTIONS[name], OPTIONS[name]
    metric._forget()
    kept: list[Any] = []
    for step in data.draw(st.lists(st.sampled_from(["add", "batch", "array", "fail", "copy"]))):
        if step == "add":
            kept.append(data.draw(questions))
            metric.add(prediction=kept[-1])
        elif step == "batch":
            batch = data.draw(st.lists(questions, min_size=1, max_size=9))
            metric.add_batch(predictions=batch)
            kept += batch
        elif step == "array":
            array = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
            kept += array.tolist()
            metric.add_batch(predictions=array)
            array[:] = 1 - array  # which must not change what was added
        elif step == "fail":
            with pytest.raises(ValueError, match=r"predictions\[1\]\[0\] is"):
                metric.add_batch(predictions=[[1], [float("inf")]])
            with pytest.raises(KeyboardInterrupt):
                metric.compute(predictions=[[1, 0]], **options, groups=interrupt())
        else:
            metric = pickle.loads(pickle.dumps(metric))
        assert len(metric) == len(kept)
    kept += (last := data.draw(st.lists(questions, min_size=1, max_size=3)))
    options = options | {"groups": ["odd" if each % 2 else "even" for each in range(len(kept))]}
    if name == "bayes_at_n":
        options["R0"] = [[0, each % 3] for each in range(len(kept))]
    expected = at_once.compute(predictions=kept, **options)
    assert metric.compute(predictions=last, **options) == expected
    assert len(metric) == 0


def interrupt():
    raise KeyboardInterrupt
    yield


@pytest.mark.parametrize("name", ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k"])
def test_outcomes_are_kept_as_counts(name):
    metric, at_once = METRICS[name]
    metric._forget()
    rng = np.random.default_rng(0)
    values = 3 if name == "bayes_at_n" else 2
    batches = [rng.integers(0, values, (100, 2000), dtype=np.int8) for _ in range(20)]
    metric.add_batch(predictions=batches[0])  # imports what is needed
    tracemalloc.start()
    for batch in batches[1:]:
        metric.add_batch(predictions=batch)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 0.1 * sum(batch.nbytes for batch in batches)
    expected = at_once.compute(predictions=np.concatenate(batches), **OPTIONS[name])
    assert metric.compute(**OPTIONS[name]) == expected


def test_many_small_batches_are_merged():
    metric, _ = METRICS["gpassk"]
    metric._forget()
    for question in range(500):
        metric.add(prediction=["a", "b"], reference="a" if question % 4 else "b")
    assert len(metric._added.batches) <= 64
    assert metric.compute(k=1, include="pass@k", return_per_question=True)["per_question"] == {
        "pass@1": [0.5] * 500
    }


TEXTS = {"predictions": [["12", "13", "x" * 200], ["7", None]], "references": ["12", ["7"]]}
REWARDS = {"predictions": [[0.1, -2.5, 1e-3] * 9, [3.25, None]]}


@pytest.mark.parametrize("library", [pickle, dill])
@pytest.mark.parametrize(
    ("name", "batch", "options"),
    [("cons_at_k", TEXTS, {"k": 1}), ("max_at_k", REWARDS, {"k": 1, "confidence": 0.9})],
)
def test_large_batches_wait_in_files_that_nothing_leaves_behind(
    monkeypatch, tmp_path, library, name, batch, options
):
    metric = at_k.load(name, cache_dir=str(tmp_path))
    monkeypatch.setattr(kernel_of(metric), "SPILLED_BYTES", 500)
    written = []
    write = kernel_of(metric)._spilled

    def count(batch, folder):
        written.append(len(batch))
        return write(batch, folder)

    monkeypatch.setattr(kernel_of(metric), "_spilled", count)
    for _ in range(10):
        metric.add_batch(**batch)
    assert 1 < len(written) <= 10
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    at_once = {key: each * 10 for key, each in batch.items()}
    expected = METRICS[name][1].compute(**at_once, **options)
    assert library.loads(library.dumps(metric)).compute(**options) == expected
    assert metric.compute(**options) == expected


def test_what_cannot_be_written_stays_in_memory(monkeypatch):
    metric, at_once = METRICS["gpassk"]
    metric._forget()
    monkeypatch.setattr(kernel_of(metric), "SPILLED_BYTES", 100)

    def full(**options):
        raise OSError("No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.warns(UserWarning, match="stays in memory: No space left on device"):
        metric.add_batch(**TEXTS)
    assert metric.compute(k=1) == at_once.compute(**TEXTS, k=1)
    kept_in_memory = at_k.load("gpassk", keep_in_memory=True)
    kept_in_memory.add_batch(**TEXTS)
    assert len(kept_in_memory) == 2


def test_an_error_in_counts_names_the_question():
    metric, _ = METRICS["max_at_k"]
    metric._forget()
    metric.add_batch(predictions=[[0, 1] * 20, [0, 2] * 20])
    with pytest.raises(ValueError, match=r"predictions\[1\] has an outcome 2: w has rewards for"):
        metric.compute(k=1)
    assert len(metric) == 2
