"""The choice of an interval: what "auto" chooses, and k above n."""

import numpy as np
import pytest
from scored import compute, limits, simulate


def limits_of(name: str, predictions, k, interval="auto", **options) -> dict:
    """Scores of a metric, pass@k of gpassk, with an interval of 95 %."""
    if name == "gpassk":
        options = {"include": "pass@k"} | options
    return compute(name, predictions, k=k, **{"confidence": 0.95, "interval": interval} | options)


ONE_SAMPLE_ONLY = (
    "none: each question has one sample, and there is one question, or one cluster of questions"
)


# --- The chosen interval ------------------------------------------------------------------


REWARDS, LEVELS = [[0, 2, 1, 2], [1, 1, 2, 0]], {"w": [0.1, 0.5, 0.9]}


@pytest.mark.parametrize(
    ("metric", "key", "outcomes", "names", "options"),
    [
        ("gpassk", "pass", simulate(11), {4: "sampling", 8: "sampling", 16: "hierarchical"}, {}),
        ("gpassk", "pass", simulate(11)[:, :1], {1: "questions"}, {}),
        ("max_at_k", "max", REWARDS, {2: "sampling", 4: "sampling", 5: "hierarchical"}, LEVELS),
        ("max_at_k", "max", [[0], [2]], {1: "questions"}, LEVELS),
    ],
)
def test_auto_names_the_interval_that_it_chooses(metric, key, outcomes, names, options):
    scores = limits_of(metric, outcomes, [*names], **options)
    for k, interval in names.items():
        assert scores[f"{key}@{k}_interval"] == interval
        named = limits_of(metric, outcomes, k, interval, **options)
        assert limits(scores, f"{key}@{k}") == pytest.approx(limits(named, f"{key}@{k}"), abs=1e-12)


ONES = [[int(i < 50)] for i in range(164)]


@pytest.mark.parametrize(
    ("metric", "options", "key"),
    [
        ("gpassk", {"include": ["pass@k", "G-Pass@k"], "thresholds": [0.5]}, "pass"),
        ("max_at_k", {"w": [0.2, 0.7]}, "max"),
    ],
)
def test_scores_that_one_sample_each_does_not_identify_are_left_out(metric, options, key):
    """If all rates are equal, or all are 0 and 1, pass@9 is 0.96 or 0.30 for the same outcomes."""
    options = {"return_per_question": True, "band": True} | options
    with pytest.warns(UserWarning, match=f"one sample, which does not identify {key}@9.*left out"):
        scores = limits_of(metric, ONES, [1, 9], **options)
    assert f"{key}@1_hi" in scores
    assert not [name for name in [*scores, *scores["per_question"]] if "@9" in name]
    with pytest.raises(ValueError, match=f"does not identify {key}@9.*: give k=1, or add samples"):
        limits_of(metric, ONES, 9, **options)


def test_auto_gives_the_whole_range_for_a_single_sample():
    for metric, key, options, expected in (
        ("gpassk", "pass@1", {}, (0, 1)),
        ("max_at_k", "max@1", LEVELS, (0.1, 0.9)),
        ("cons_at_k", "cons@1", {}, (0, 1)),
    ):
        scores = limits_of(metric, [[1]], 1, **options)
        assert scores[f"{key}_interval"] == ONE_SAMPLE_ONLY
        assert limits(scores, key) == expected


@pytest.mark.parametrize(("metric", "key"), [("gpassk", "pass"), ("max_at_k", "max")])
def test_auto_chooses_for_each_group_by_itself(metric, key):
    outcomes = [[1, 0, 1], [0, 1], [1], [0], [1]]
    with pytest.warns(UserWarning, match="left out") as warned:
        scores = limits_of(metric, outcomes, [1, 2], groups=["a", "a", "b", "b", "c"])
    assert [str(warning.message) for warning in warned] == [
        f"Each question of group {group!r} has one sample, which does not identify {key}@2: left "
        f"out."
        for group in ("b", "c")
    ]
    names = {
        group: [scores.get(f"{group}{key}@{k}_interval") for k in (1, 2)]
        for group in ("", "a/", "b/", "c/")
    }
    assert names == {
        "": ["sampling", "hierarchical"],
        "a/": ["sampling", "hierarchical"],
        "b/": ["questions", None],
        "c/": [ONE_SAMPLE_ONLY, None],
    }
    assert {f"b/{key}@2", f"c/{key}@2"}.isdisjoint(scores)


# --- k above n ----------------------------------------------------------------------------


CATEGORIES = np.random.default_rng(21).integers(0, 3, (12, 4))


@pytest.mark.parametrize("groups", [None, ["a", "b", "b"] * 4])
@pytest.mark.parametrize(
    ("metric", "key", "outcomes", "ks", "options"),
    [
        ("gpassk", "pass", simulate(20, 12, 4), [8], {}),
        ("gpassk", "pass", simulate(20, 12, 16), [32], {}),
        ("gpassk", "pass", simulate(20, 12, 4), [8, 16], {}),
        ("max_at_k", "max", CATEGORIES, [8, 32], {"w": [0.0, 0.5, 1.0]}),
    ],
)
def test_auto_estimates_scores_if_every_k_exceeds_n(metric, key, outcomes, ks, options, groups):
    n = outcomes.shape[1]
    scores = limits_of(metric, outcomes, ks, groups=groups, **options)
    observed = limits_of(metric, outcomes, n, groups=groups, **options)
    for prefix in ("", "a/", "b/") if groups else ("",):
        for k in ks:
            name = f"{prefix}{key}@{k}"
            lo, hi = limits(scores, name)
            assert 0 <= lo <= scores[f"{name}_mu"] <= hi <= 1
            assert lo < hi
            assert observed[f"{prefix}{key}@{n}"] - 0.05 < scores[name] <= 1
            assert scores[f"{name}_interval"] == "hierarchical"


# --- Types of the results -----------------------------------------------------------------
