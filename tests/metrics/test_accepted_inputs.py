"""The forms in which predictions and references are accepted, one by one and united."""

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scored import gpassk

TEXTS = [["a", "b", "a"], ["b", "a", "b"]]
ANSWERS = ["a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]


def as_dataset(**columns):
    return datasets.Dataset.from_dict(columns)


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (TEXTS, ANSWERS),
        (tuple(tuple(row) for row in TEXTS), tuple(ANSWERS)),
        ((row for row in TEXTS), iter(ANSWERS)),
        (np.array(TEXTS), np.array(ANSWERS)),
        (np.array(TEXTS, dtype=object), np.array(ANSWERS, dtype=object)),
        ([np.array(row) for row in TEXTS], ANSWERS),
        (pd.Series(TEXTS), pd.Series(ANSWERS)),
        (pd.DataFrame(TEXTS), pd.DataFrame({"key": ANSWERS})["key"]),
        (pa.array(TEXTS, pa.list_view(pa.string())), pa.array(ANSWERS, pa.string_view())),
        (pa.array(TEXTS), pa.array(ANSWERS)),
        (pa.array(TEXTS, pa.large_list(pa.large_string())), pa.array(ANSWERS)),
        (pa.array(TEXTS, pa.list_(pa.string(), 3)), pa.array(ANSWERS)),
        (pa.array([["z"], *TEXTS])[1:], pa.array(ANSWERS)),
        (pa.chunked_array([[TEXTS[0]], [TEXTS[1]]]), pa.chunked_array([ANSWERS])),
        (pa.array(TEXTS, pa.list_(pa.dictionary(pa.int32(), pa.string()))), pa.array(ANSWERS)),
        (as_dataset(p=TEXTS)["p"], as_dataset(r=ANSWERS)["r"]),
        (as_dataset(p=TEXTS[::-1]).select([1, 0])["p"], as_dataset(r=ANSWERS)["r"]),
        (as_dataset(p=TEXTS).with_format("numpy")["p"], as_dataset(r=ANSWERS)["r"]),
        *(
            [(as_dataset(p=TEXTS).to_iterable_dataset()["p"], as_dataset(r=ANSWERS)["r"])]
            if hasattr(datasets.IterableDataset, "__getitem__")  # since datasets 4
            else []
        ),
        (as_dataset(p=TEXTS).with_transform(lambda batch: batch)["p"], as_dataset(r=ANSWERS)["r"]),
    ],
)
def test_every_form_of_texts_has_the_same_score(predictions, references):
    scores = gpassk(predictions, references=references, k=2, include="pass@k")
    assert scores == {"pass@2": 1.0}


def test_parameters_may_be_iterators():
    wanted = gpassk(OUTCOMES, k=[2, 3], thresholds=[0.5], include=["pass@k", "G-Pass@k"])
    assert wanted == gpassk(
        (iter(row) for row in OUTCOMES),
        k=iter([2, 3]),
        thresholds=map(float, ["0.5"]),
        include=(name for name in ["pass@k", "G-Pass@k"]),
    )


def test_references_of_different_types_are_united(gpassk):
    references = ["1", ["2", "3"], 4, 2.5, {"x": 10**25}, {"y": np.int64(1)}, True]
    for reference in references:
        gpassk.add(prediction=["1"], reference=reference)
    gpassk.add_batch(predictions=[["1"]], references=pa.array([{"a": 1}]))
    gpassk.add_batch(predictions=[["1"]], references=pa.array([{"b": 1}]))
    seen = []
    with pytest.raises(ValueError, match="no scored sample"):
        gpassk.compute(k=1, check_correct_fn=lambda p, r: seen.append(r))
    assert seen == [*references, {"a": 1}, {"b": 1}]
    assert [type(reference) for reference in seen[:4]] == [str, list, int, float]


def test_samples_of_different_types_are_united_as_json(gpassk):
    rows = [[{"a": 1}], [{"b": 1}], [[1]], [["x"]]]
    for row in rows:
        gpassk.add(prediction=row, reference="?")
    seen = []
    with pytest.raises(ValueError, match="no scored sample"):
        gpassk.compute(k=1, check_correct_fn=lambda p, r: seen.append([p]))
    assert seen == rows


def test_numbers_of_different_types_are_united(gpassk):
    for number in (1, 1.5, 2**53 + 1):
        gpassk.add(prediction=[number], reference=number)
    gpassk.add_batch(predictions=np.array([[2**64 - 1]], dtype="u8"), references=[1])
    gpassk.add(prediction=[-1], reference=-1)
    scores = gpassk.compute(k=1, include="pass@k", return_per_question=True)
    assert scores["per_question"]["pass@1"] == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_outcomes_of_different_types_are_united(gpassk):
    for kind in (bool, np.uint8, np.int8, np.float16, np.uint64, np.int64, np.float32, ">i4"):
        gpassk.add_batch(predictions=np.array([[1, 0]], dtype=kind))
    gpassk.add_batch(predictions=[[None, 1]])
    gpassk.add_batch(predictions=[[True, 0.0]])
    gpassk.add(prediction=[None, 1, 0, None])
    scores = gpassk.compute(k=1, include="pass@k", return_per_question=True)
    assert scores["per_question"]["pass@1"] == [0.5] * 8 + [1.0, 0.5, 0.5]
