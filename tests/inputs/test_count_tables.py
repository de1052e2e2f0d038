"""Counts in place of samples give the scores of the samples, or an error."""

from __future__ import annotations

from typing import Any

import at_k
import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import bayes_at_n, compute, cons_at_k, gpassk, score_agg

R = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]
N, CORRECT = [len(row) for row in R], [sum(row) for row in R]
TABLE = [[n - c, c] for n, c in zip(N, CORRECT, strict=True)]
METRICS = ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
ROWS = [{"n": n, "correct": c} for n, c in zip(N, CORRECT, strict=True)]

FORMS: dict[str, Any] = {
    "Counts": at_k.Counts(N, CORRECT),
    "Counts of whole floats": at_k.Counts(np.array(N, float), CORRECT),
    "Counts of a table": at_k.Counts(TABLE),
    "dict": {"n": N, "correct": CORRECT},
    "dict of series": {"n": pd.Series(N, index=[5, 6, 7, 8]), "correct": pd.Series(CORRECT)},
    "list of dicts": ROWS,
    "Arrow structs": pa.array(ROWS),
    "data frame": pd.DataFrame({"correct": CORRECT, "n": N}),
    "polars data frame": pl.DataFrame({"n": N, "correct": CORRECT}),
    "dataset": datasets.Dataset.from_list(ROWS),
    "Arrow table": pa.table({"n": N, "correct": CORRECT}),
}


@pytest.mark.parametrize("form", FORMS)
def test_functions_take_counts_in_place_of_outcomes(form):
    counts = FORMS[form]
    options: dict[str, dict[str, Any]] = {"g_pass_at_k_tau": {"tau": 0.5}}
    options["threshold_spectrum_at_k"] = {"weights": [0.25, 0.75]}
    other = {"Counts", "load", "read", "compare", "leaderboard", "plan", "score_agg", "bayes"}
    without = {"avg", "tailpass", "tailpass_empirical", "advantages"}  # which need single outcomes
    for name in {*at_k.__all__} - other - without:
        arguments = [] if name in ("bayes_ci", "avg_ci") else [2]
        given_options = options.get(name.removesuffix("_ci"), {})
        function = getattr(at_k, name)
        assert function(counts, *arguments, **given_options) == function(
            R, *arguments, **given_options
        )
    assert at_k.bayes(counts) == at_k.bayes(R)
    assert list(at_k.tailpass(counts, 2).mean) == list(at_k.tailpass(R, 2).mean)
    assert at_k.score_agg(counts) == pytest.approx(at_k.score_agg(R), rel=1e-15)
    assert at_k.compare(counts, R) == at_k.compare(R, counts) == at_k.compare(R, R)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", METRICS)
def test_metrics_take_counts_in_place_of_predictions(form, name):
    labels = {"groups": ["a", "b", "a", "b"], "return_per_question": True}
    for options in (
        labels,
        {"confidence": 0.9},
        {"confidence": 0.9, "interval": "questions", "clusters": [1, 2, 1, 2]},
    ):
        expected = compute(name, R, **options)
        assert compute(name, FORMS[form], **options) == expected


def test_counts_and_samples_are_scored_together():
    metric = at_k.load("gpassk")
    metric.add(prediction={"n": N[0], "correct": CORRECT[0]})
    metric.add(prediction=R[1])
    metric.add_batch(predictions=at_k.Counts(N[2:], CORRECT[2:]))
    assert metric.compute(k=2) == metric.compute(predictions=R, k=2)
    bayes = at_k.load("bayes_at_n")
    bayes.add_batch(predictions=[[0, 2, 1]])
    bayes.add_batch(predictions={"counts": [[1, 0, 2]]})
    found = bayes.compute(w=[0, 0.5, 1])
    assert found == bayes.compute(predictions=[[0, 2, 1], [0, 2, 2]], w=[0, 0.5, 1])


@pytest.mark.filterwarnings("ignore:1 of the first 8 samples contain their reference")
def test_counts_of_answers_are_checked_and_vote():
    samples = [["12", "13", "12", "12", None], ["13", "13", "5", None, "5 "]]
    counts = {
        "answers": [["12", "13", None], ["13", "5", None, "5 "]],
        "counts": [[3, 1, 1], [2, 1, 1, 1]],
    }
    for checker in ("exact_match", "numeric", lambda sample, reference: sample == reference):
        options = {"references": ["12", "5"], "check_correct_fn": checker, "k": [1, 2, 3]}
        for name in ("gpassk", "cons_at_k", "max_at_k"):
            expected = compute(name, samples, **options)
            assert compute(name, counts, **options) == expected
    assert "vote@3" in cons_at_k(counts, **options)


def test_counts_of_correct_samples_have_no_references():
    with pytest.raises(ValueError, match="predictions are counts, which are already graded"):
        gpassk({"n": [2], "correct": [1]}, references=["a"])


def test_counts_of_labels_are_graded():
    counts = {"answers": [["fully", "none"], ["minor", "mostly"]], "counts": [[3, 1], [1, 1]]}
    expected = score_agg([["fully"] * 3 + ["none"], ["minor", "mostly"]])
    assert score_agg(counts) == expected


@pytest.mark.filterwarnings("ignore:The limits of the posterior")
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
@settings(deadline=None)
def test_counts_of_categories_are_those_samples(table):
    table = [[row[0] + 1, *row[1:]] for row in table]
    outcomes = [np.repeat([0, 1, 2], row).tolist() for row in table]
    w = [0.25, -1.0, 3.0]
    assert at_k.bayes(at_k.Counts(table), w) == at_k.bayes(outcomes, w)
    assert at_k.max_at_k_ci(at_k.Counts(table), 3, w) == at_k.max_at_k_ci(outcomes, 3, w)


TABLES = {
    "array": np.array([[2, 5, 1], [0, 3, 5], [4, 4, 0]]),
    "Arrow table": pa.table({"a": [2, 0, 4], "b": [5, 3, 4], "c": [1, 5, 0]}),
    "lazy polars": pl.LazyFrame({"a": [2, 0, 4], "b": [5, 3, 4], "c": [1, 5, 0]}),
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_of_categories_have_groups_clusters_and_intervals(form):
    samples = [np.repeat([0, 1, 2], row).tolist() for row in TABLES["array"]]
    counts, w = at_k.Counts(TABLES[form]), [0.0, 0.5, 1.0]
    assert at_k.bayes_ci(counts, w) == at_k.bayes_ci(samples, w)
    for name in ("bayes_at_n", "max_at_k"):
        for options in (
            {"groups": ["a", "b", "a"], "confidence": 0.9},
            {"confidence": 0.9, "interval": "questions", "clusters": [1, 1, 2]},
        ):
            expected = compute(name, samples, w=w, **options)
            assert compute(name, counts, w=w, **options) == expected


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"n": [4], "correct": [5]}, r"\['correct'\]\[0\] is 5 of 4 samples: give a number"),
        ({"n": [4, 4], "correct": [1]}, "has 2 n and 1 correct: give one of each"),
        ({"n": [4, 4], "correct": [1, 0.5]}, r"\['correct'\]\[1\] has the count 0.5"),
        ({"n": [4, -1], "correct": [1, 0]}, r"\['n'\]\[1\] has the count -1"),
        ({"n": ["4"], "correct": [1]}, r"\['n'\]\[0\] has the count '4'"),
        ({"n": [None], "correct": [1]}, r"\['n'\]\[0\] has the count None"),
        ({"n": [0], "correct": [0]}, r"(R|predictions)\[0\] has no scored sample"),
        ({"n": 4, "correct": 1}, r"\['n'\] is 4: give a list"),
        ({"n": [], "correct": []}, "holds no question"),
        ({"counts": [[1, 2], [3]]}, r"\['counts'\]\[1\] has 1 categories, .* question 0 has 2"),
        ({"counts": [[1, 2], [3, 1.5]]}, r"\['counts'\]\[1\] has the count 1.5"),
        ({"counts": [1, 2]}, r"\['counts'\]\[0\] is 1: give a list of counts"),
        ({"answers": [["a"]], "counts": [[1, 2]]}, r"\['answers'\]\[0\] is \['a'\], with 2 counts"),
        ([{"n": 4, "correct": 1}, {"n": 4}], r"\[1\] is {'n': 4}: give n and correct"),
        ([{"n": 4, "correct": 1}, [0, 1]], r"\[1\] is \[0, 1\]: give n and correct"),
        (
            pd.DataFrame({"id": [0], "n": [1], "correct": [1]}),
            "a column 'id', which holds no samples",
        ),
        ({"n": [4]}, "is {'n': .*: "),
    ],
)
def test_invalid_counts_raise_an_error(counts, message):
    with pytest.raises(ValueError, match=message):
        at_k.pass_at_k(counts, 1)
    with pytest.raises(ValueError, match=message):
        gpassk(counts, k=1)
    with pytest.raises(ValueError, match=r"predictions\[0\] has an outcome 2: there are rewards"):
        bayes_at_n({"counts": [[1, 2, 3]]})


def test_a_run_of_a_hundred_million_samples_is_small():
    n = np.full(1_000, 100_000)
    rng = np.random.default_rng(0)
    counts = at_k.Counts(n, rng.binomial(n, rng.random(len(n))))
    rates = counts["correct"] / n
    assert at_k.pass_at_k(counts, 1) == pytest.approx(rates.mean(), rel=1e-12)
    result = gpassk(counts, k=8, include="pass@k", confidence=0.95)
    assert result["pass@8"] == pytest.approx((1 - (1 - rates) ** 8).mean(), rel=1e-3)


@pytest.mark.parametrize("make", [np.array, list, lambda x: np.ma.array(x), pl.Series])
def test_counts_do_not_change_with_the_arrays_that_they_were_made_of(make):
    n, correct, table = make([8, 8]), make([3, 5]), np.array([[5, 3], [3, 5]])
    counts, categories = at_k.Counts(n, correct), at_k.Counts(table)
    score = at_k.pass_at_k(counts, 2)
    correct[0], table[0, 1] = 8, 100
    assert at_k.pass_at_k(counts, 2) == score == at_k.pass_at_k(at_k.Counts([8, 8], [3, 5]), 2)
    assert at_k.max_at_k(categories, 2, [0, 1]) == pytest.approx(score)


def test_counts_that_are_nested_too_deeply_are_refused():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="n or c is nested too deeply"):
        at_k.Counts([4, 4], deep)


def test_counts_of_an_iterator_can_be_used_twice():
    counts = at_k.Counts(iter([8, 8]), (c for c in (3, 5)))
    assert at_k.pass_at_k(counts, 2) == at_k.pass_at_k(counts, 2)
