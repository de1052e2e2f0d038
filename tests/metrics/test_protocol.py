"""The protocol of `evaluate`: adding in parts, pickling, combining, and several processes."""

import copy
import dataclasses
import pickle
import re
from typing import Any

import at_k
import evaluate
import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

TEXTS = [["a", "b", "a"], ["b", "a", "b"]]
ANSWERS = ["a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]


def test_questions_may_be_added_one_by_one_in_batches_or_at_once(gpassk):
    whole = gpassk.compute(predictions=TEXTS * 3, references=ANSWERS * 3, k=2)
    for samples, answer in zip(TEXTS, ANSWERS, strict=True):
        gpassk.add(prediction=samples, reference=answer)
    gpassk.add(predictions=TEXTS[0], references=ANSWERS[0])  # as evaluate.combine names them
    gpassk.add_batch(predictions=TEXTS[1:], references=ANSWERS[1:])
    assert len(gpassk) == 4
    assert gpassk.compute(predictions=TEXTS, references=ANSWERS, k=2) == whole
    assert len(gpassk) == 0
    with pytest.raises(ValueError, match="nothing to compute"):
        gpassk.compute()


def test_outcomes_are_validated_once_when_they_are_added(gpassk, monkeypatch):
    validated = []
    computation = gpassk.computation

    def count(outcomes):
        validated.append(outcomes)
        return computation.validate(outcomes)

    counting = dataclasses.replace(computation, validate=count)
    monkeypatch.setattr(type(gpassk), "computation", counting)
    gpassk.add_batch(predictions=OUTCOMES[:1])
    gpassk.add_batch(predictions=OUTCOMES[1:])
    assert len(validated) == 2
    gpassk.compute(k=2)
    assert len(validated) == 2


def test_nothing_is_kept_after_a_successful_compute(gpassk):
    before = len(pickle.dumps(gpassk))
    gpassk.compute(predictions=[["x" * 1000] * 100], references=["x" * 1000], k=1)
    assert len(pickle.dumps(gpassk)) < before + 1000


def test_metrics_can_be_combined(gpassk):
    both = evaluate.combine({"one": gpassk, "two": evaluate.load(str(ROOT / "metrics/gpassk"))})
    scores = both.compute(
        predictions=TEXTS, references=ANSWERS, k=2, include="pass@k", check_correct_fn=same
    )
    assert scores == {"one_pass@2": 1.0, "two_pass@2": 1.0}
    for samples, answer in zip(TEXTS, ANSWERS, strict=True):
        both.add(samples, answer)
    assert both.compute(k=2, include="pass@k")["one_pass@2"] == 1.0


@pytest.mark.parametrize("samples", [1, 2, 3, 4])
def test_gpassk_and_cons_at_k_are_combined_without_a_k(gpassk, samples):
    both = evaluate.combine([gpassk, evaluate.load(str(ROOT / "metrics/cons_at_k"))])
    predictions = [["a"] * samples, ["b"] + ["a"] * samples]
    scores = both.compute(predictions=predictions, references=["a", "a"])
    assert scores[f"G-Pass@{samples}_1.0"] == pytest.approx((1 + 1 / (samples + 1)) / 2)
    assert "cons@n" in scores
    with pytest.raises(ValueError, match=r"k is 8, but question 0"):
        both.compute(predictions=[["a"] * samples], references=["a"], k=8)


def same(prediction, reference):
    return prediction == reference


@pytest.mark.parametrize("name", ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"])
def test_the_info_of_a_metric_is_copied_written_and_read(name, tmp_path):
    metric = at_k.load(name)
    for _ in range(2):  # also after a computation
        info = dataclasses.replace(metric.info, license="Apache-2.0")
        info.write_to_directory(tmp_path)
        read = evaluate.MetricInfo.from_directory(tmp_path)
        assert (read.description, read.license) == (metric.info.description, "Apache-2.0")
        assert metric.format is None
        metric.compute(predictions=[[1, 0], [0, 1]], **({"k": 1} if "_at_k" in name else {}))


def test_an_argument_without_its_name_is_answered_by_the_call_with_it():
    metric: Any = at_k.load("gpassk")
    for arguments in ([[[1, 0]]], [[["a"]], ["a"]], [{"predictions": [[1, 0]]}]):
        with pytest.raises(TypeError, match=re.escape("give compute(predictions=.., references=")):
            metric.compute(*arguments)


# --- Questions that are added in parts --------------------------------------------------


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
