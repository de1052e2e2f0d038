"""gpassk and bayes_at_n under a checker that errs: estimates, labels, limits and messages."""

import itertools

import at_k
import numpy as np
import pytest
from scored import bayes_at_n, gpassk

COUNTS = {"tp": 90, "fn": 8, "fp": 3, "tn": 99}


def judged(seed: int, questions: int, n: int, t: float, f: float, labelled: float):
    """Return results of a checker, labels of some samples, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random((questions, n)) < rng.uniform(size=(questions, 1))
    called = rng.random(truth.shape) < np.where(truth, t, f)
    labels = truth.astype(object)
    labels[rng.random(truth.shape) >= labelled] = None
    return called.astype(int).tolist(), labels.tolist()


def labels_of(truth: np.ndarray, is_labelled: np.ndarray) -> list[list[int | None]]:
    labels = truth.astype(object) * 1
    labels[~is_labelled] = None
    return labels.tolist()


@pytest.mark.parametrize("kind", ["by verdict", "whole questions"])
def test_limits_cover_however_labels_are_drawn(kind):
    rng, covered, errors = np.random.default_rng(11), [], []
    for _ in range(40):
        q = rng.beta(0.8, 0.8, (120, 1))
        truth = rng.random((120, 6)) < q
        called = rng.random(truth.shape) < np.where(truth, 0.9, 0.12)
        is_labelled = rng.random(truth.shape) < np.where(called, 0.42, 0.07)
        if kind == "whole questions":
            is_labelled[:] = rng.random((120, 1)) < 0.2
        labels = labels_of(truth, is_labelled)
        options = {"k": [1, 2], "include": "pass@k", "confidence": 0.9, "interval": "sampling"}
        result = gpassk(called.astype(int), labels=labels, **options)
        scores = {"pass@1": q.mean(), "pass@2": np.mean(1 - (1 - q) ** 2)}
        covered += [result[f"{x}_lo"] <= score <= result[f"{x}_hi"] for x, score in scores.items()]
        errors += [result[key] - score for key, score in scores.items()]
    assert np.mean(covered) > 0.85
    assert abs(np.mean(errors)) < 0.015


def test_labels_of_whole_questions_count_less_where_questions_differ():
    rng = np.random.default_rng(3)
    truth = rng.random((150, 8)) < rng.choice([0.02, 0.98], (150, 1))
    called = (rng.random(truth.shape) < np.where(truth, 0.8, 0.3)).astype(int)
    at_random = rng.permutation(np.arange(1200) < 200).reshape(150, 8)
    whole = np.repeat(rng.permutation(np.arange(150) < 25), 8).reshape(150, 8)
    widths = []
    for is_labelled in (at_random, whole):
        labels = labels_of(truth, is_labelled)
        options = {"k": 1, "include": "pass@k", "confidence": 0.95, "labels": labels}
        result = gpassk(called, **options)
        widths.append(result["pass@1_hi"] - result["pass@1_lo"])
    assert widths[1] > 1.5 * widths[0]


def fooled(seed: int):
    """Return a run whose checker is fooled by whole questions, and labels of a quarter."""
    rng = np.random.default_rng(seed)
    truth = rng.random((100, 8)) < rng.uniform(size=(100, 1))
    is_fooled = rng.random((100, 1)) < 0.15
    called = np.where(truth, rng.random(truth.shape) < 0.95, is_fooled).astype(int)
    labels = labels_of(truth, rng.random(truth.shape) < 0.25)
    return called.tolist(), labels


def test_errors_that_depend_on_the_question_are_said():
    called, labels = fooled(1)
    with pytest.warns(UserWarning, match="of one question, and .* expected by chance"):
        gpassk(called, k=1, include="pass@k", labels=labels)


@pytest.mark.parametrize("k", [2, [1, 2, 4]])
def test_a_corrected_score_that_falls_with_k_is_said(k):
    # Each question is called correct throughout or not at all, as no independent errors do.
    called = [[1] * 6] * 5 + [[0] * 6] * 5
    with pytest.warns(UserWarning, match=r"corrected pass@2, .* is below pass@1"):
        scores = gpassk(called, k=k, include="pass@k", checker_rates=(0.7, 0.3), confidence=0.9)
    assert scores["checker"]["falls_with_k"]
    rows = [[1, 0, 1, 1, 0, 1]] * 5 + [[0, 0, 1, 0, 0, 1]] * 5
    scores = gpassk(rows, k=k, include="pass@k", checker_rates=(0.7, 0.3))
    assert "falls_with_k" not in scores["checker"]
    scores = gpassk(
        rows + called,
        k=k,
        include="pass@k",
        checker_rates=(0.7, 0.3),
        question_weights=[1] * 10 + [1e-9] * 10,
    )
    assert "falls_with_k" not in scores["checker"]


def test_labels_go_with_texts_that_are_checked():
    called, labels = judged(1, 50, 4, 0.95, 0.05, 0.5)
    texts = [["yes" if x else "no" for x in row] for row in called]
    options = {"k": 2, "include": "pass@k", "confidence": 0.9, "labels": labels}
    graded = gpassk(called, **options)
    assert gpassk(texts, references=["yes"] * 50, **options) == graded


@pytest.mark.parametrize("interval", ["sampling", "questions", "hierarchical", "auto"])
def test_limits_are_within_the_range_and_grow_with_the_confidence(interval):
    called, labels = judged(3, 40, 6, 0.9, 0.15, 0.5)
    last = (1.0, 0.0)
    for confidence in (0.5, 0.9, 0.99, 0.999999):
        result = gpassk(
            called, k=3, include="pass@k", confidence=confidence, interval=interval, labels=labels
        )
        lo, hi = result["pass@3_lo"], result["pass@3_hi"]
        assert 0 <= lo <= last[0]
        assert last[1] <= hi <= 1
        last = lo, hi


def test_the_band_and_groups_are_corrected_too():
    called, labels = judged(4, 60, 6, 0.9, 0.1, 0.5)
    groups = ["a", "b"] * 30
    result = gpassk(
        called,
        k=[1, 2, 4],
        include="pass@k",
        confidence=0.95,
        labels=labels,
        groups=groups,
        band=True,
    )
    for k, prefix in itertools.product((1, 2, 4), ("", "a/", "b/")):
        key = f"{prefix}pass@{k}"
        assert result[f"{key}_band_lo"] <= result[f"{key}_lo"] <= result[key]
        assert result[key] <= result[f"{key}_hi"] <= result[f"{key}_band_hi"]
    mean = (result["a/pass@2"] + result["b/pass@2"]) / 2
    assert result["pass@2"] == pytest.approx(mean)


def test_the_mean_of_bayes_at_n_is_corrected_by_the_rates():
    called, _ = judged(5, 30, 5, 0.8, 0.1, 0)
    plain = bayes_at_n(called)
    corrected = bayes_at_n(called, checker_rates=(0.8, 0.1))
    for key in ("bayes@5", "avg@5"):
        assert corrected[key] == pytest.approx((plain[key] - 0.1) / 0.7)
        assert corrected[f"{key}_sigma"] == pytest.approx(plain[f"{key}_sigma"] / 0.7)
    pass_1 = gpassk(called, k=1, include="pass@k", checker_rates=(0.8, 0.1))
    assert corrected["avg@5"] == pytest.approx(pass_1["pass@1"])
    widened = bayes_at_n(called, labels={"tp": 80, "fn": 20, "fp": 10, "tn": 90})
    assert widened["avg@5"] == pytest.approx(corrected["avg@5"])
    assert widened["avg@5_sigma"] > corrected["avg@5_sigma"]


CALLED = [[1, 0, 1], [0, 0, 1]]


def test_labels_need_the_samples_in_their_order():
    labels = [[1, 0, 1], [0, 0, 1]]
    metric = at_k.load("gpassk")
    metric.add_batch(predictions=CALLED)
    with pytest.raises(ValueError, match="labels goes with the samples of one call"):
        metric.compute(labels=labels)
    assert metric.compute(k=2, include="pass@k", labels=COUNTS)["pass@2"] < 1
