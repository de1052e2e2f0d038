"""Questions that are added in parts are scored as if given at once."""

import copy
import pickle
from typing import Any

import at_k
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
STEPS = ("add", "batch", "array", "fail", "pickle", "copy")
METRICS = {name: (at_k.load(name), at_k.load(name)) for name in OPTIONS}


@pytest.mark.parametrize("name", OPTIONS)
@settings(max_examples=12)
@given(st.data())
def test_any_sequence_of_calls_has_the_scores_of_one_call(name, data):
    """The oracle is a list of the questions, and one call of `compute` with them."""
    (metric, at_once), questions, options = METRICS[name], QUESTIONS[name], OPTIONS[name]
    metric._forget()
    kept: list[Any] = []
    for step in data.draw(st.lists(st.sampled_from(STEPS))):
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
        elif step == "pickle":
            metric = pickle.loads(pickle.dumps(metric))
        else:  # whose computation leaves the original as it is
            copy.copy(metric).compute(predictions=[[1, 0]], **options)
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


def test_many_small_batches_are_merged():
    metric, _ = METRICS["gpassk"]
    metric._forget()
    for question in range(500):
        metric.add(prediction=["a", "b"], reference="a" if question % 4 else "b")
    assert len(metric._added) <= 64
    assert metric.compute(k=1, include="pass@k", return_per_question=True)["per_question"] == {
        "pass@1": [0.5] * 500
    }
