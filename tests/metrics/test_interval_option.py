"""The option `interval`: its default, the methods that "auto" names, and what it refuses."""

import math

import numpy as np
import pytest
from scored import bayes_at_n, compute, cons_at_k, gpassk, max_at_k, score_agg

DATA = {
    "gpassk": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "bayes_at_n": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "max_at_k": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "cons_at_k": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "score_agg": [["fully", "none"], ["minor", "mostly"]],
}
DEFAULT = dict.fromkeys(DATA, "auto") | {"bayes_at_n": "posterior"}
CHOSEN = dict.fromkeys(DATA, "sampling") | {"score_agg": "questions"}
REWARDS = [[0.5, 1.0, 0.25], [2.0, 0.0, 0.75]]


@pytest.mark.parametrize("name", DATA)
def test_the_default_interval_is_the_documented_one(name):
    options = {"predictions": DATA[name], "confidence": 0.9}
    named = compute(name, **options, interval=DEFAULT[name])
    assert compute(name, **options) == named


@pytest.mark.parametrize("name", DATA)
def test_auto_names_the_method_of_each_interval(name):
    scores = compute(name, DATA[name], confidence=0.9, interval="auto")
    keys = [key.removesuffix("_lo") for key in scores if key.endswith("_lo")]
    assert keys
    assert {scores[f"{key}_interval"] for key in keys} == {CHOSEN[name]}


_BINARY = ["gpassk", "cons_at_k", "max_at_k", "bayes_at_n"]
_REAL = ["cons_at_k", "max_at_k", "bayes_at_n"]


@pytest.mark.parametrize(
    ("name", "real"), [*((name, False) for name in _BINARY), *((name, True) for name in _REAL)]
)
def test_auto_uses_clusters_that_are_given(name, real):
    rng = np.random.default_rng(0)
    rows = rng.random((12, 6)) if real else rng.random((12, 6)) < rng.random((12, 1))
    options = {"predictions": rows.tolist(), "confidence": 0.9, "clusters": [*"aabbccddeeff"]}
    expected = compute(name, **options, interval="questions")
    scores = compute(name, **options, interval="auto")
    assert {key: scores[key] for key in expected} == expected
    assert {scores[key] for key in scores if key.endswith("_interval")} == {"questions"}


# --- A prior ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        ("gpassk", {"alpha0": 0.5, "beta0": 0.5}),
        ("cons_at_k", {"beta0": 2}),
        ("max_at_k", {"R0": [[0, 1], [1, 1]]}),
    ],
)
def test_a_prior_that_is_given_is_used(name, prior):
    options = {"predictions": DATA[name], "confidence": 0.9} | prior
    posterior = compute(name, **options, interval="posterior")
    by_default = compute(name, **options)
    assert {key: by_default[key] for key in posterior} == posterior
    assert "posterior" in {value for key, value in by_default.items() if key.endswith("_interval")}
    with pytest.raises(ValueError, match=r"only interval='posterior' uses .+, and interval is 'sa"):
        compute(name, **options, interval="sampling")
    with pytest.raises(ValueError, match="'questions' uses clusters: leave out one"):
        compute(name, **options, clusters=["a", "b"])
    if name != "cons_at_k":
        with pytest.raises(ValueError, match="k is 5"):
            compute(name, **options, k=5)


def test_a_score_without_a_posterior_says_so():
    scores = cons_at_k([[1, 0], [0, 0]], alpha0=2, confidence=0.9)
    assert scores["cons@2_interval"] == "none: cons@2 has no posterior"


# --- Scores without an interval -----------------------------------------------------------


def test_votes_and_shares_of_correctness_have_intervals_of_the_same_questions():
    scores = cons_at_k(
        [["a", "b", "a"], ["b", "b", "a"]],
        references=["a", "a"],
        check_correct_fn=lambda prediction, reference: float(prediction == reference),
        confidence=0.9,
        groups=["x", "y"],
    )
    for key in ("vote@3", "accuracy (3 runs average)", "x/vote@3"):
        assert scores[f"{key}_interval"] == "sampling"
        assert scores[f"{key}_lo"] < scores[key] < scores[f"{key}_hi"] or key == "x/vote@3"
    # The variance of a share of 2/3 of three samples is 2/9 / 2 for each of two questions.
    assert scores["accuracy (3 runs average)_sigma"] == pytest.approx(math.sqrt(2 / 9 / 2 / 2))


def test_votes_of_one_sample_each_have_an_interval_of_other_questions():
    samples, answers = [["a"], ["b"], ["a"], ["a"]], ["a", "a", "b", "a"]
    options = {"predictions": samples, "references": answers, "confidence": 0.9}
    scores = cons_at_k(**options)
    assert scores["vote@1_interval"] == "questions"
    same = cons_at_k(**options, interval="questions")
    assert (scores["vote@1_lo"], scores["vote@1_hi"]) == (same["vote@1_lo"], same["vote@1_hi"])


@pytest.mark.parametrize("options", [{"confidence": None}, {"interval": "posterior"}])
def test_only_auto_says_why_a_score_has_no_interval(options):
    data = {"predictions": [["a", "b"], ["a", "a"]], "references": ["a", "b"], "confidence": 0.9}
    scores = cons_at_k(**data | options)
    assert not [key for key in scores if key.endswith("_interval")]


@pytest.mark.parametrize("clusters", [None, ["a"]])
def test_one_item_of_score_agg_has_the_whole_range(clusters):
    options = {"predictions": [["mostly", "partial"]], "confidence": 0.9, "clusters": clusters}
    scores = score_agg(**options)
    reason = scores.pop("score_agg_interval")
    assert reason == "none: there is one question, or one cluster of questions"
    assert scores == pytest.approx(
        {
            "score_agg": 0.8,
            "score_agg_mu": 0.8,
            "score_agg_sigma": 0.5,
            "score_agg_lo": 0.0,
            "score_agg_hi": 1.0,
        }
    )
    with pytest.raises(ValueError, match="The run has no interval"):
        score_agg(**options, interval="questions")


# --- Real rewards -------------------------------------------------------------------------


def test_bayes_at_n_of_real_rewards_is_their_mean():
    scores = bayes_at_n(REWARDS)
    best = max_at_k(REWARDS, k=1, confidence=0.95)
    for key in ("bayes@3", "avg@3"):
        assert scores[key] == pytest.approx(np.mean(REWARDS))
        for field in ("sigma", "lo", "hi", "interval"):
            assert scores[f"{key}_{field}"] == best[f"max@1_{field}"]
    assert len(scores) == 10
    without = bayes_at_n(REWARDS, confidence=None)
    assert without == {"bayes@3": scores["bayes@3"], "avg@3": scores["avg@3"]}


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize("sizes", [[8] * 30, [4, 8, 12] * 10], ids=["equal n", "different n"])
@pytest.mark.parametrize("clustered", [False, True])
def test_equal_scores_have_equal_limits_in_all_metrics(interval, sizes, clustered):
    rng = np.random.default_rng(0)
    rows = [
        (rng.random(n) < rate).astype(int) for n, rate in zip(sizes, rng.random(30), strict=True)
    ]
    options: dict = {"predictions": rows, "confidence": 0.95, "interval": interval}
    if clustered and interval == "questions":
        options["clusters"] = np.arange(30) // 3
    n, tolerance = "8", 1e-6
    if len({*sizes}) > 1:  # the metrics for rewards use averages of similar n
        n, tolerance = "n", 2e-3
    scores = [
        gpassk(k=[1, 4], include=["pass@k", "maj@k"], **options),
        cons_at_k(k=[1, 4], **options),
        max_at_k(k=[1, 4], **options),
        bayes_at_n(**options),
    ]
    for keys in (
        ["pass@1", f"avg@{n}", "max@1", f"avg@{n}"],
        ["pass@4", "pass@4", "max@4"],
        ["maj@4", "maj@4"],
    ):
        first, *others = (
            (found[f"{key}_lo"], found[f"{key}_hi"])
            for found, key in zip(scores, keys, strict=False)
        )
        for limits in others:
            assert limits == pytest.approx(first, rel=tolerance)
