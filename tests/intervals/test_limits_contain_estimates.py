"""The limits of each interval contain the estimate that they belong to, and stay in their range."""

import functools

import at_k
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

ROUNDING = 1e-12
SINGLE = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k", "Spectrum@k"]
PRODUCTS = ["Geom@k", "Geom_ds@k", "GeoSpectrum@k"]
load = functools.cache(at_k.load)


def samples(outcome) -> st.SearchStrategy[list]:
    """A few questions with different numbers of samples."""
    return st.lists(st.lists(outcome, min_size=1, max_size=5), min_size=2, max_size=4)


def check_limits(scores: dict) -> None:
    for key in [key.removesuffix("_lo") for key in scores if key.endswith("_lo")]:
        lo, hi = scores[f"{key}_lo"] - ROUNDING, scores[f"{key}_hi"] + ROUNDING
        assert lo <= scores[f"{key}_mu"] <= hi, key
        if scores.get(f"{key}_interval") != "posterior":
            assert lo <= scores[key] <= hi, key


def test_hierarchical_limits_contain_the_score_of_questions_with_few_and_many_samples():
    rows = [[1] * 4, [1] * 5, [0]]
    scores = load("max_at_k").compute(
        predictions=rows, k=1, confidence=0.95, interval="hierarchical"
    )
    # Both questions with many samples are correct: they are a part of all questions only.
    assert scores["max@1_lo"] < 0.6
    check_limits(scores)


@pytest.mark.filterwarnings("ignore:No question has two correct samples")
@pytest.mark.parametrize("interval", ["sampling", "hierarchical", "questions", "auto"])
@given(rows=samples(st.integers(0, 1)))
@example(rows=np.eye(4, dtype=int).tolist())
@example(rows=(1 - np.eye(4, dtype=int)).tolist())
@example(rows=[[1] * 6] * 9)
@settings(max_examples=10)
def test_limits_of_binary_outcomes(interval, rows):
    rows[0] = [*rows[0], 0]  # one question at least shows how samples vary
    options = {"predictions": rows, "confidence": 0.9, "interval": interval}
    include = SINGLE if interval == "hierarchical" else SINGLE + PRODUCTS
    for k in {1, min(map(len, rows))}:
        scores = load("gpassk").compute(k=k, include=include, thresholds=0.5, **options)
        check_limits(scores)
        assert all(0 <= scores[key] <= 1 for key in scores if key.endswith(("_lo", "_hi")))
        if interval != "hierarchical":
            check_limits(load("cons_at_k").compute(k=k, **options))


@pytest.mark.parametrize("interval", ["hierarchical", "auto"])
def test_estimates_of_many_new_samples_do_not_exceed_1(interval):
    for n in (2, 3, 7):
        rows = np.ones((5, n), dtype=int)
        rows[0, 0] = 0
        scores = load("gpassk").compute(
            predictions=rows, k=[10, 1000], include="pass@k", confidence=0.95, interval=interval
        )
        assert all(scores[f"pass@{k}{end}"] <= 1 for k in (10, 1000) for end in ("", "_mu", "_hi"))
        check_limits(scores)


@pytest.mark.parametrize("interval", ["sampling", "questions", "auto"])
@pytest.mark.parametrize("share", [0.03, 0.97])
@pytest.mark.parametrize(
    "errors", [{"checker_rates": (0.95, 0.05)}, {"labels": {"tp": 95, "fn": 5, "fp": 5, "tn": 95}}]
)
def test_corrected_estimates_may_leave_the_range_of_the_score_and_limits_do_not(
    interval, share, errors
):
    rows = (np.random.default_rng(1).random((40, 4)) < share).astype(int)
    options = {"predictions": rows, "confidence": 0.95, "interval": interval, **errors}
    scores = load("gpassk").compute(k=[1, 2], include=["pass@k", "pass^k"], band=True, **options)
    scores |= load("bayes_at_n").compute(**options)
    assert scores["pass@1"] == pytest.approx(scores["avg@4"])
    assert not 0 <= scores["pass@1"] <= 1
    for key in [key.removesuffix("_lo") for key in scores if key.endswith("_lo")]:
        assert 0 <= scores[f"{key}_lo"] <= scores[f"{key}_hi"] <= 1, key


def test_rates_of_a_checker_that_the_samples_contradict_are_warned_of():
    rows = np.ones((40, 4), int)
    with pytest.warns(
        UserWarning, match="100.0% of the samples are called correct, which the true"
    ):
        load("gpassk").compute(predictions=rows, k=1, checker_rates=(0.9, 0.1))
    with pytest.warns(UserWarning, match="the false-positive rate of the checker, 10.0%"):
        at_k.noise(1 - rows, 1, checker_rates=(0.9, 0.1))
