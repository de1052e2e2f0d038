"""An interval with a higher confidence contains that with a lower one, everywhere."""

import at_k
import numpy as np
import pytest
from at_k import Counts
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import compute, gpassk

CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
ROUNDING = 1e-9


def assert_nested(limits_at):
    """Check the limits of all keys.

    Args:
        limits_at: returns (lo, hi) by key, for a confidence.
    """
    before = limits_at(CONFIDENCES[0])
    for confidence in CONFIDENCES[1:]:
        limits = limits_at(confidence)
        for key, (lo, hi) in limits.items():
            assert lo <= before[key][0] + ROUNDING, (key, confidence)
            assert hi >= before[key][1] - ROUNDING, (key, confidence)
        before = limits


def limits_in(result):
    """Return the limits of a flat dict, those of bands included."""
    keys = [key.removesuffix("_lo") for key in result if key.endswith("_lo")]
    return {key: (result[f"{key}_lo"], result[f"{key}_hi"]) for key in keys}


@st.composite
def counts(draw, questions):
    """Return the counts of a run with rates that are alike, different, or at the limits."""
    n = draw(st.integers(2, 12))
    a, b = draw(st.sampled_from([(0.2, 0.2), (0.5, 2), (1, 1), (3, 0.5), (20, 20)]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return Counts([n] * questions, rng.binomial(n, rng.beta(a, b, questions)).tolist())


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize("metric", ["pass@k", "pass^k", "maj@k", "mG-Pass@k"])
@settings(max_examples=12)
@given(data=st.data())
def test_limits_of_differences_are_nested(metric, interval, data):
    questions = data.draw(st.integers(3, 40))
    a, b = (data.draw(counts(questions)) for _ in range(2))
    k = [1, min(a["n"][0], b["n"][0])]
    clusters = None
    if interval == "questions" and data.draw(st.booleans()):
        clusters = [str(i // 2) for i in range(questions)]

    def limits_at(confidence):
        options = {"interval": interval, "confidence": confidence, "clusters": clusters}
        return limits_in(at_k.compare(a, b, metric, k=k, **options))

    assert_nested(limits_at)


@pytest.mark.parametrize(
    ("n", "correct"),
    [
        (
            (8, 12),
            (
                [3, 1, 0, 2, 2, 5, 0, 5, 0, 0, 5, 2, 2, 3, 3, 4],
                [6, 4, 1, 3, 8, 12, 0, 12, 1, 0, 12, 4, 5, 8, 9, 9],
            ),
        ),
        ((8, 8), ([0, 0, 0, 0, 1, 0, 0, 8], [0, 0, 1, 1, 2, 1, 0, 8])),
        ((4, 4), ([0, 0, 4, 4, 1], [0, 1, 4, 4, 2])),
    ],
)
def test_limits_of_closely_related_runs_are_nested(n, correct):
    a, b = (Counts([size] * len(c), c) for size, c in zip(n, correct, strict=True))
    for metric in ("pass@k", "pass^k"):
        for runs in ((a, b), (b, a)):

            def limits_at(confidence, metric=metric, runs=runs):
                options = {"interval": "questions", "confidence": confidence}
                return limits_in(at_k.compare(runs[0], runs[1], metric, k=[1, 2, 3], **options))

            assert_nested(limits_at)


@pytest.mark.parametrize("interval", ["sampling", "questions", "hierarchical", "posterior", "auto"])
@settings(max_examples=6)
@given(data=st.data())
def test_limits_of_scores_and_bands_are_nested(interval, data):
    run = data.draw(counts(data.draw(st.integers(2, 30))))
    k = [1, run["n"][0]]
    include = ["pass@k", "pass^k", "mG-Pass@k"]

    def limits_at(confidence):
        options = {"interval": interval, "confidence": confidence, "band": True}
        scores = gpassk(run, k=k, include=include, **options)
        return limits_in(scores)

    assert_nested(limits_at)


@pytest.mark.parametrize("name", ["max_at_k", "bayes_at_n", "cons_at_k", "score_agg"])
@settings(max_examples=8)
@given(data=st.data())
def test_limits_of_the_other_metrics_are_nested(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    questions, n = data.draw(st.integers(2, 12)), data.draw(st.integers(2, 6))
    outcomes = rng.integers(0, 2, (questions, n)).tolist()
    if name in ("max_at_k", "bayes_at_n") and data.draw(st.booleans()):
        outcomes = rng.gamma(0.5, size=(questions, n)).tolist()
    methods = ["auto"] if name == "score_agg" else ["sampling", "questions", "auto"]
    methods += ["hierarchical"] if name == "max_at_k" else []
    interval = data.draw(st.sampled_from(methods))
    options = {"k": [1, n]} if name in ("max_at_k", "cons_at_k") else {}

    def limits_at(confidence):
        limits = {"confidence": confidence, "interval": interval}
        scores = compute(name, outcomes, **options, **limits)
        return limits_in(scores)

    assert_nested(limits_at)


@settings(max_examples=8)
@given(data=st.data())
def test_limits_of_leaderboards_are_nested(data):
    questions = data.draw(st.integers(3, 20))
    runs = {name: data.draw(counts(questions)) for name in "abc"}
    interval = data.draw(st.sampled_from(["sampling", "questions"]))

    def limits_at(confidence):
        board = at_k.leaderboard(runs, k=1, interval=interval, confidence=confidence)
        scores = {x["run"]: (x["lo"], x["hi"]) for x in board["runs"]}
        ranks = {f"rank of {x['run']}": (x["rank_lo"], x["rank_hi"]) for x in board["runs"]}
        pairs = {tuple(sorted((x["a"], x["b"]))): x for x in board["pairs"]}
        signs = {pair: 1 if (x["a"], x["b"]) == pair else -1 for pair, x in pairs.items()}
        differences = {
            (prefix, pair): tuple(sorted(signs[pair] * x[f"{prefix}{end}"] for end in ("lo", "hi")))
            for prefix in ("", "band_")
            for pair, x in pairs.items()
        }
        return scores | ranks | differences

    assert_nested(limits_at)
