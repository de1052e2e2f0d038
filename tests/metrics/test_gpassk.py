"""The metric: the card's example, its parameters, what goes in, and what is kept after errors."""

import math
import pickle
import subprocess
import sys
import textwrap
from fractions import Fraction

import at_k
import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ROOT
from exact import subset_mean, values_by_definition

CARD = ["a", "b", "a", "a", "b", "a", "b", "c", "a", "c", "b", "a", "a", "b", "a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]


# --- Scores -----------------------------------------------------------------------------


def test_the_example_of_the_card_to_the_last_digit_and_in_order(gpassk):
    scores = gpassk.compute(
        predictions=[CARD],
        references=["a"],
        k=[4, 8],
        check_correct_fn=lambda pred, ref: pred == ref,
    )
    assert list(scores.items()) == [
        ("G-Pass@4_0.25", 0.9615384615384616),
        ("G-Pass@4_0.5", 0.7153846153846154),
        ("G-Pass@4_0.75", 0.2846153846153846),
        ("G-Pass@4_1.0", 0.038461538461538464),
        ("G-Pass@8_0.25", 0.9949494949494949),
        ("G-Pass@8_0.5", 0.6903651903651904),
        ("G-Pass@8_0.75", 0.06596736596736597),
        ("G-Pass@8_1.0", 7.77000777000777e-05),
        ("mG-Pass@4", 0.16153846153846152),
        ("mG-Pass@8", 0.09518259518259518),
    ]
    assert all(type(value) is float for value in scores.values())


def test_every_score_is_the_mean_over_questions_of_the_mean_over_subsets(gpassk):
    include = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k"]
    for k in range(1, 6):
        scores = gpassk.compute(predictions=OUTCOMES, k=k, thresholds=[0.4], include=include)
        assert list(scores) == [f"pass@{k}", f"pass^{k}", f"G-Pass@{k}_0.4", f"mG-Pass@{k}"]
        credits = values_by_definition(k, Fraction(2, 5))
        for credit, score in zip((credits[name] for name in include), scores.values(), strict=True):
            truth = sum(subset_mean(row, credit) for row in OUTCOMES) / len(OUTCOMES)
            assert score == pytest.approx(float(truth), rel=1e-15)


def test_confidence_gives_the_summary_of_the_function(gpassk):
    scores = gpassk.compute(
        predictions=OUTCOMES, k=[2, 3], include="pass^k", confidence=0.9, alpha0=0.5, beta0=2
    )
    for k in (2, 3):
        summary = at_k.pass_hat_k_ci(OUTCOMES, k, 0.9, alpha0=0.5, beta0=2.0)
        assert [scores[f"pass^{k}_{end}"] for end in ("mu", "sigma", "lo", "hi")] == list(summary)
        assert scores[f"pass^{k}"] == at_k.pass_hat_k(OUTCOMES, k)


def test_k_not_given_is_what_every_question_has_samples_for(gpassk):
    def ks(samples):
        return list(gpassk.compute(predictions=[[1] * samples, [0] * 40], include="pass@k"))

    assert ks(40) == ["pass@4", "pass@8", "pass@16"]
    assert ks(15) == ["pass@4", "pass@8"]
    assert ks(4) == ["pass@4"]
    with pytest.raises(ValueError, match=r"Question 0 has n = 3 .* default k"):
        ks(3)


def test_samples_not_scored_leave_the_bank(gpassk):
    bank, kept = [[1, None, 0, 1], [None, 0, 1, None]], [[1, 0, 1], [0, 1]]
    assert gpassk.compute(predictions=bank, k=2) == gpassk.compute(predictions=kept, k=2)

    def check(prediction, reference):
        return None if prediction == "?" else prediction == reference

    samples = [["a", "?", "b", "a"], ["?", "b", "a", "?"]]
    judged = gpassk.compute(predictions=samples, references=["a", "a"], check_correct_fn=check, k=2)
    assert judged == gpassk.compute(predictions=kept, k=2)
    with pytest.raises(ValueError, match="k is 3, but question 1 has n = 2 scored samples"):
        gpassk.compute(predictions=samples, references=["a", "a"], check_correct_fn=check, k=3)
    with pytest.raises(ValueError, match="Question 0 has no scored sample"):
        gpassk.compute(predictions=[["?"]], references=["a"], check_correct_fn=check, k=1)


def test_groups_add_each_groups_scores(gpassk):
    scores = gpassk.compute(
        predictions=OUTCOMES, k=[2], include=["pass@k"], groups=["x", 7, "x"], confidence=0.95
    )
    alone = gpassk.compute(
        predictions=[OUTCOMES[0], OUTCOMES[2]], k=2, include="pass@k", confidence=0.95
    )
    assert {key: scores[f"x/{key}"] for key in alone} == alone
    assert scores["7/pass@2"] == at_k.pass_at_k([OUTCOMES[1]], 2)
    assert list(scores)[::5] == ["pass@2", "x/pass@2", "7/pass@2"]


def test_per_question_scores_average_to_the_score(gpassk):
    scores = gpassk.compute(predictions=OUTCOMES, k=[2, 3], return_per_question=True)
    each = scores.pop("per_question")
    assert list(each) == list(scores)
    for key, values in each.items():
        assert len(values) == len(OUTCOMES)
        assert all(type(value) is float for value in values)
        assert scores[key] == pytest.approx(np.mean(values), rel=1e-15)


def test_real_samples_score_as_the_outcomes_counted_by_hand(gpassk):
    rows = datasets.Dataset.from_json(str(ROOT / "shared/at_k/samples/smollm2_warm.jsonl"))
    scores = gpassk.compute(
        predictions=rows["predictions"],
        references=rows["reference"],
        check_correct_fn="numeric",
        k=1,
        include="pass@k",
        groups=rows["topic"],
        return_per_question=True,
    )
    import re

    def last(text):
        return str(int((re.findall(r"\d+", text) or ["-1"])[-1]))

    right = [[last(sample) == row["reference"] for sample in row["predictions"]] for row in rows]
    by_hand = [sum(each) / len(each) for each in right]
    ours = scores["per_question"]["pass@1"]
    # By hand 12.5 ends in 5, and 1,024 in 024: the two agree wherever neither occurs.
    plain = [not any(re.search(r"\d[.,]\d", s) for s in row["predictions"]) for row in rows]
    assert sum(plain) > 60
    assert [x for x, ok in zip(ours, plain, strict=True) if ok] == [
        x for x, ok in zip(by_hand, plain, strict=True) if ok
    ]
    assert scores["pass@1"] == pytest.approx(0.233, abs=5e-4)


# --- What goes in -----------------------------------------------------------------------

TEXTS = [["a", "b", "a"], ["b", "a", "b"]]
KEYS = ["a", "b"]


def as_dataset(**columns):
    return datasets.Dataset.from_dict(columns)


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (TEXTS, KEYS),
        (tuple(tuple(row) for row in TEXTS), tuple(KEYS)),
        ((row for row in TEXTS), iter(KEYS)),
        (np.array(TEXTS), np.array(KEYS)),
        (np.array(TEXTS, dtype=object), np.array(KEYS, dtype=object)),
        ([np.array(row) for row in TEXTS], KEYS),
        (pd.Series(TEXTS), pd.Series(KEYS)),
        (pd.DataFrame(TEXTS), pd.DataFrame({"key": KEYS})["key"]),
        (pa.array(TEXTS, pa.list_view(pa.string())), pa.array(KEYS, pa.string_view())),
        (pa.array(TEXTS), pa.array(KEYS)),
        (pa.array(TEXTS, pa.large_list(pa.large_string())), pa.array(KEYS)),
        (pa.array(TEXTS, pa.list_(pa.string(), 3)), pa.array(KEYS)),
        (pa.array([["z"], *TEXTS])[1:], pa.array(KEYS)),
        (pa.chunked_array([[TEXTS[0]], [TEXTS[1]]]), pa.chunked_array([KEYS])),
        (pa.array(TEXTS, pa.list_(pa.dictionary(pa.int32(), pa.string()))), pa.array(KEYS)),
        (as_dataset(p=TEXTS)["p"], as_dataset(r=KEYS)["r"]),
        (as_dataset(p=TEXTS[::-1]).select([1, 0])["p"], as_dataset(r=KEYS)["r"]),
        (as_dataset(p=TEXTS).with_format("numpy")["p"], as_dataset(r=KEYS)["r"]),
        (as_dataset(p=TEXTS).to_iterable_dataset()["p"], as_dataset(r=KEYS)["r"]),
        (as_dataset(p=TEXTS).with_transform(lambda batch: batch)["p"], as_dataset(r=KEYS)["r"]),
    ],
)
def test_every_form_of_texts_scores_alike(gpassk, predictions, references):
    scores = gpassk.compute(predictions=predictions, references=references, k=2, include="pass@k")
    assert scores == {"pass@2": 1.0}


@pytest.mark.parametrize(
    "outcomes",
    [
        OUTCOMES,
        [[bool(x) for x in row] for row in OUTCOMES],
        [[float(x) for x in row] for row in OUTCOMES],
        [[True, 0, 1, 1, False], *OUTCOMES[1:]],
        np.array(OUTCOMES),
        np.array(OUTCOMES, dtype=bool),
        np.array(OUTCOMES, dtype=np.uint8),
        np.array(OUTCOMES, dtype=np.float16),
        np.asfortranarray(OUTCOMES),
        pa.array(OUTCOMES),
        pd.DataFrame(OUTCOMES),
        pd.DataFrame(OUTCOMES).astype("Int64"),
        as_dataset(p=OUTCOMES)["p"],
        as_dataset(p=OUTCOMES).with_format("numpy")["p"],
    ],
)
def test_every_form_of_outcomes_scores_alike(gpassk, outcomes):
    assert gpassk.compute(predictions=outcomes, k=2, include="pass@k") == {
        "pass@2": at_k.pass_at_k(OUTCOMES, 2)
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"references": ["a"]}, "predictions are missing"),
        ({"predictions": []}, "predictions holds no question"),
        ({"predictions": ["ab", "a"], "references": KEYS}, r"predictions\[0\] is 'ab'"),
        ({"predictions": [["a"], "a"], "references": KEYS}, r"predictions\[1\] is 'a'"),
        ({"predictions": "ab"}, "predictions is 'ab'"),
        ({"predictions": 3}, "predictions is 3"),
        ({"predictions": [["a"], None], "references": KEYS}, r"predictions\[1\] is None"),
        ({"predictions": [["a"], []], "references": KEYS}, r"predictions\[1\] is empty"),
        ({"predictions": [["a"], ["b", 2]], "references": KEYS}, r"predictions\[1\]\[1\] is 2"),
        ({"predictions": np.zeros((2, 2, 2))}, "3 dimensions"),
        ({"predictions": np.zeros(2)}, "each question has a list"),
        ({"predictions": TEXTS}, "no references to check the predictions"),
        ({"predictions": TEXTS, "references": ["a"]}, "2 lists of predictions but 1 references"),
        ({"predictions": TEXTS, "references": "ab"}, "references is 'ab'"),
        ({"predictions": [[object()]], "references": ["a"]}, r"predictions\[0\]\[0\] is <object"),
        ({"predictions": [["a"]], "references": [object()]}, r"references\[0\] is <object"),
        ({"predictions": [[0, 1], [1, 2]]}, r"predictions\[1\]\[1\] is 2"),
        ({"predictions": [[0, 1], [1, 0.5]]}, r"predictions\[1\]\[1\] is 0.5"),
        ({"predictions": [[0, math.nan]]}, r"predictions\[0\]\[1\] is nan"),
        (
            {"predictions": [[0, 1]], "check_correct_fn": "numeric"},
            "no references to check against",
        ),
        ({"groups": ["x"]}, "groups has 1 labels for 3 questions"),
        ({"k": 6}, "k is 6, but question 0 has n = 5"),
        ({"k": True}, "k is True"),
        ({"k": [2, 0]}, "k is 0"),
        ({"k": []}, "k is empty"),
        ({"k": 10**10}, "k is 10000000000"),
        ({"thresholds": []}, "thresholds is empty"),
        ({"thresholds": "a"}, "tau is 'a'"),
        ({"thresholds": None}, "tau is None"),
        ({"include": []}, "include is empty"),
        ({"confidence": "0.9"}, "confidence is '0.9'"),
        ({"alpha0": None}, "alpha0 is None"),
        ({"groups": ["a", None, "b"]}, r"groups\[1\] is None"),
        ({"predictions": [["a", "b"], "bcd"], "references": KEYS}, r"predictions\[1\] is 'bcd'"),
        ({"predictions": [["a"], ["b"]], "references": ["a", None]}, r"references\[3\] is None"),
        ({"predictions": [["a"], ["b"]], "references": [{1: 2}, {}]}, r"key 1 is not a text"),
        ({"predictions": np.zeros((2, 0))}, r"predictions\[0\] is empty"),
        ({"predictions": [[1], [None, None]]}, r"predictions\[1\] holds nothing but None"),
        (
            {
                "predictions": pa.array([[[("a", 1)]]], pa.list_(pa.map_(pa.string(), pa.int64()))),
                "references": ["a"],
            },
            "unusual type",
        ),
        ({"predictions": [[1], ["a"]]}, r"predictions\[1\]\[0\] is 'a', but predictions"),
        ({"thresholds": [1.5]}, "tau is 1.5"),
        ({"include": ["pass@4"]}, "include has 'pass@4'"),
        ({"confidence": 95}, "confidence is 95"),
        ({"confidence": 0}, "confidence is 0"),
        ({"alpha0": 0}, "alpha0 is 0"),
    ],
)
def test_bad_input_is_refused_and_leaves_what_was_added(gpassk, call, message):
    texts = bool(call.get("references")) or call.get("predictions") is TEXTS
    added: dict[str, list] = {"predictions": TEXTS if texts else OUTCOMES}
    added |= {"references": KEYS} if texts else {}
    gpassk.add_batch(**added)
    with pytest.raises(ValueError, match=message):
        gpassk.compute(**({"k": 1} | call))
    assert len(gpassk) == len(added["predictions"])
    fresh = evaluate.load(str(ROOT / "metrics" / "gpassk"))
    assert gpassk.compute(k=2) == fresh.compute(k=2, **added)


def test_nothing_added_is_nothing_to_compute(gpassk):
    with pytest.raises(ValueError, match="nothing to compute"):
        gpassk.compute(k=1)


def test_parameters_may_be_iterators(gpassk):
    wanted = gpassk.compute(
        predictions=OUTCOMES, k=[2, 3], thresholds=[0.5], include=["pass@k", "G-Pass@k"]
    )
    assert wanted == gpassk.compute(
        predictions=(iter(row) for row in OUTCOMES),
        k=iter([2, 3]),
        thresholds=map(float, ["0.5"]),
        include=(name for name in ["pass@k", "G-Pass@k"]),
    )


def test_what_an_array_masks_is_not_scored(gpassk):
    bank = np.ma.masked_array(
        [[1, 0, 1], [0, 0, 1]], mask=[[False, True, False], [True, False, False]]
    )
    scores = gpassk.compute(predictions=bank, k=1, include="pass@k")
    assert scores == {"pass@1": 0.75} == {"pass@1": at_k.pass_at_k(bank, 1)}


def test_a_sample_that_is_none_does_not_count_before_judging_either(gpassk):
    def check(prediction, reference):
        raise AssertionError("was asked")

    with pytest.raises(ValueError, match="question 0 has n = 1 scored"):
        gpassk.compute(
            predictions=[[None, None, "b"]], references=["a"], check_correct_fn=check, k=2
        )


def test_no_question_of_unlike_references_is_refused_when_added(gpassk):
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


def test_samples_of_unlike_shapes_reach_the_judge_as_they_are(gpassk):
    rows = [[{"a": 1}], [{"b": 1}], [[1]], [["x"]]]
    for row in rows:
        gpassk.add(prediction=row, reference="?")
    seen = []
    with pytest.raises(ValueError, match="no scored sample"):
        gpassk.compute(k=1, check_correct_fn=lambda p, r: seen.append([p]))
    assert seen == rows


def test_numbers_of_unlike_types_go_together_however_large(gpassk):
    for number in (1, 1.5, 2**53 + 1):
        gpassk.add(prediction=[number], reference=number)
    gpassk.add_batch(predictions=np.array([[2**64 - 1]], dtype="u8"), references=[1])
    gpassk.add(prediction=[-1], reference=-1)
    scores = gpassk.compute(k=1, include="pass@k", return_per_question=True)
    assert scores["per_question"]["pass@1"] == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_outcomes_of_every_type_go_together(gpassk):
    for kind in (bool, np.uint8, np.int8, np.float16, np.uint64, np.int64, np.float32, ">i4"):
        gpassk.add_batch(predictions=np.array([[1, 0]], dtype=kind))
    gpassk.add_batch(predictions=[[None, 1]])
    gpassk.add_batch(predictions=[[True, 0.0]])
    gpassk.add(prediction=[None, 1, 0, None])
    scores = gpassk.compute(k=1, include="pass@k", return_per_question=True)
    assert scores["per_question"]["pass@1"] == [0.5] * 8 + [1.0, 0.5, 0.5]


def test_nothing_is_kept_after_a_success(gpassk):
    before = len(pickle.dumps(gpassk))
    gpassk.compute(predictions=[["x" * 1000] * 100], references=["x"], k=1)
    assert len(pickle.dumps(gpassk)) < before + 1000


def test_an_unknown_parameter_is_refused_before_anything_is_done(gpassk):
    with pytest.raises(TypeError, match="thresold"):
        gpassk.compute(predictions=OUTCOMES, k=2, thresold=[1.0])
    assert len(gpassk) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 4}, "k is 4, but question 0 has n = 3"),
        ({"k": 0}, "k is 0"),
        ({"thresholds": [2]}, "tau is 2"),
        ({"include": "all"}, "include has 'all'"),
        ({"groups": ["x"]}, "groups has 1 labels"),
        ({"confidence": 2}, "confidence is 2"),
        ({"beta0": -1}, "beta0 is -1"),
        ({"num_proc": 0}, "num_proc is 0"),
    ],
)
def test_what_can_be_known_before_judging_is_checked_before(gpassk, wrong, message):
    asked = []
    options = {"k": 1, "check_correct_fn": lambda p, r: asked.append(p)} | wrong
    with pytest.raises(ValueError, match=message):
        gpassk.compute(predictions=TEXTS, references=KEYS, **options)
    assert not asked


# --- evaluate's protocol ----------------------------------------------------------------


def test_adding_one_by_one_in_batches_and_at_once_is_the_same(gpassk):
    whole = gpassk.compute(predictions=TEXTS * 3, references=KEYS * 3, k=2)
    for samples, answer in zip(TEXTS, KEYS, strict=True):
        gpassk.add(prediction=samples, reference=answer)
    gpassk.add(predictions=TEXTS[0], references=KEYS[0])  # as evaluate.combine names them
    gpassk.add_batch(predictions=TEXTS[1:], references=KEYS[1:])
    assert len(gpassk) == 4
    assert gpassk.compute(predictions=TEXTS, references=KEYS, k=2) == whole
    assert len(gpassk) == 0
    with pytest.raises(ValueError, match="nothing to compute"):
        gpassk.compute()


def test_batches_that_do_not_go_together_are_refused(gpassk):
    gpassk.add_batch(predictions=TEXTS, references=KEYS)
    with pytest.raises(ValueError, match="some have none: give all or none"):
        gpassk.add_batch(predictions=OUTCOMES)
    with pytest.raises(ValueError, match="samples are all of one type"):
        gpassk.add_batch(predictions=OUTCOMES, references=KEYS[:1] * 3)
    with pytest.raises(ValueError, match="Give one prediction"):
        gpassk.add(prediction=TEXTS[0], predictions=TEXTS[0], reference="a")
    assert gpassk.compute(k=2, include="pass@k") == {"pass@2": 1.0}


def test_a_batch_is_compared_with_all_before_it(gpassk):
    gpassk.add(prediction=[None], reference="a")
    gpassk.add(prediction=["a"], reference="a")
    with pytest.raises(ValueError, match="samples are all of one type"):
        gpassk.add(prediction=[1], reference="a")
    assert len(gpassk) == 2


def test_a_category_is_no_verdict_of_right_or_wrong(gpassk):
    with pytest.raises(ValueError, match=r"result for predictions\[0\]\[0\] is 2: an outcome"):
        gpassk.compute(predictions=TEXTS, references=KEYS, check_correct_fn=lambda p, r: 2, k=1)


def test_a_judge_that_fails_leaves_everything_as_it_was(gpassk):
    def broken(prediction, reference):
        raise RuntimeError("the judge is out")

    gpassk.add_batch(predictions=TEXTS, references=KEYS)
    with pytest.raises(ValueError, match=r"predictions\[0\]\[0\] raised RuntimeError"):
        gpassk.compute(predictions=[["x"] * 3], references=["x"], check_correct_fn=broken, k=1)
    assert len(gpassk) == 2
    assert gpassk.compute(k=2) == gpassk.compute(predictions=TEXTS, references=KEYS, k=2)


def test_the_metric_travels_with_what_was_added(gpassk):
    gpassk.add_batch(predictions=OUTCOMES)
    assert pickle.loads(pickle.dumps(gpassk)).compute(k=2) == gpassk.compute(k=2)


def test_it_combines_with_others(gpassk):
    both = evaluate.combine({"one": gpassk, "two": evaluate.load(str(ROOT / "metrics/gpassk"))})
    scores = both.compute(
        predictions=TEXTS, references=KEYS, k=2, include="pass@k", check_correct_fn=same
    )
    assert scores == {"one_pass@2": 1.0, "two_pass@2": 1.0}
    for samples, answer in zip(TEXTS, KEYS, strict=True):
        both.add(samples, answer)
    assert both.compute(k=2, include="pass@k")["one_pass@2"] == 1.0


def same(prediction, reference):
    return prediction == reference


def test_it_runs_inside_a_datasets_loop(gpassk):
    rows = as_dataset(p=TEXTS * 4, r=KEYS * 4)
    for batch in rows.iter(batch_size=3):
        gpassk.add_batch(predictions=batch["p"], references=batch["r"])
    assert gpassk.compute(k=2) == gpassk.compute(predictions=rows["p"], references=rows["r"], k=2)


PROCESS = """
import sys, evaluate
folder, process, cache = sys.argv[1], int(sys.argv[2]), sys.argv[3]
metric = evaluate.load(
    folder, num_process=2, process_id=process, experiment_id="run", cache_dir=cache
)
def broken(prediction, reference):
    raise RuntimeError
import pyarrow as pa
rows = [[["a", "b", "a"], ["b", "a", "b"]], [["a", "a", "a"], ["c", None, "b", "b"]]][process]
# Types that differ between the processes, as they may between batches.
rows, keys = (rows, [{"x": "a"}, "b"]) if process == 0 else (pa.array(rows), ["a", ["b"]])
metric.add_batch(predictions=rows, references=keys)
if process == 0:
    try:
        metric.compute(k=2, check_correct_fn=broken)
    except ValueError as error:
        assert "predictions[0][0]" in str(error), error
    assert len(metric) == 2, len(metric)
def check(prediction, reference):
    return prediction in (reference["x"] if isinstance(reference, dict) else reference)
groups = ["p", "p", "q", "q"] if process == 0 else None
print(metric.compute(k=2, groups=groups, check_correct_fn=check))
print(len(metric))
"""


def test_two_processes_score_as_one(gpassk, tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(ROOT / "metrics/gpassk"), str(process), tmp_path],
            stdout=subprocess.PIPE,
            text=True,
        )
        for process in range(2)
    ]
    (first, *_), (second, *_) = (each.communicate(timeout=100) for each in running)
    rows = [["a", "b", "a"], ["b", "a", "b"], ["a", "a", "a"], ["c", None, "b", "b"]]
    alone = gpassk.compute(
        predictions=rows, references=["a", "b", "a", "b"], k=2, groups=["p", "p", "q", "q"]
    )
    assert first == f"{alone}\n0\n"
    assert second == "None\n0\n"


ROUNDS = """
import sys, evaluate
folder, process, cache = sys.argv[1], int(sys.argv[2]), sys.argv[3]
metric = evaluate.load(
    folder, num_process=2, process_id=process, experiment_id="rounds", cache_dir=cache
)
try:
    print(metric.compute(k=1))
except ValueError as error:
    print(error)
for score in range(4):
    if process == 0 or score == 1:  # in the other rounds the second process has no question
        metric.add(prediction=[1, 0] if process == 0 else [score, 1.0])
    print(metric.compute(k=1, include="pass@k"))
"""


def test_processes_go_on_in_rounds_and_may_have_no_question(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", ROUNDS, str(ROOT / "metrics/gpassk"), str(process), tmp_path],
            stdout=subprocess.PIPE,
            text=True,
        )
        for process in range(2)
    ]
    (first, *_), (second, *_) = (each.communicate(timeout=100) for each in running)
    scores = [0.5, 0.75, 0.5, 0.5]
    assert first.splitlines() == [
        "There is nothing to compute: give or add predictions first.",
        *(str({"pass@1": score}) for score in scores),
    ]
    assert second == "None\n" * 5


def test_what_it_says_of_itself(gpassk):
    assert gpassk.name == "gpassk"
    assert "arXiv" in gpassk.citation
    assert "thresholds" in gpassk.compute.__doc__
    assert textwrap.dedent(gpassk.inputs_description).startswith("\nComputes G-Pass@k")


def test_a_group_that_tells_nothing_is_named(gpassk):
    options = {"k": 1, "include": "pass@k", "confidence": 0.95, "interval": "questions"}
    with pytest.raises(ValueError, match="Group 'odd' has no interval: one question"):
        gpassk.compute(
            predictions=OUTCOMES, groups=[*["even"] * (len(OUTCOMES) - 1), "odd"], **options
        )
    with pytest.raises(ValueError, match=r"^The run has no interval: one question"):
        gpassk.compute(predictions=OUTCOMES[:1], **options)
