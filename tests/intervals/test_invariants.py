"""What holds for all limits: nothing changes them that must not, and none contradict another.

They contain their estimate, those of a higher confidence contain those of a lower one, and those
near 1 are the mirror images of those near 0, where no digits cancel: if correct and incorrect
samples change places, 1 - pass@k becomes pass^k.
"""

import itertools
import math
from typing import Any

import at_k
import numpy as np
import pytest
from at_k import Counts
from at_k.core.coherent import event_of, spread_of_k
from at_k.core.credits import all_correct, any_correct, area_under_pass, majority, threshold
from at_k.core.score import Score
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scored import compute, gpassk

GPASSK, MAX, BAYES = (at_k.load(name) for name in ("gpassk", "max_at_k", "bayes_at_n"))
CONS, AGG = at_k.load("cons_at_k"), at_k.load("score_agg")
RNG = np.random.default_rng(17)
BINARY = RNG.binomial(1, RNG.beta(1, 1.5, (24, 1)), (24, 6))
REAL = np.where(RNG.random((24, 6)) < 0.3, 0.0, RNG.gamma(1.0, 1.0, (24, 6)))
SHARES = RNG.integers(0, 5, (24, 6)) / 4
PICKED_BY = RNG.random((24, 6))
CASES: dict[str, tuple[Any, np.ndarray, dict[str, Any]]] = {
    "gpassk": (GPASSK, BINARY, {"k": [1, 3, 6], "include": ["pass@k", "pass^k", "Geom_ds@k"]}),
    "k above n": (GPASSK, BINARY, {"k": [1, 4, 12], "include": ["pass@k", "pass^k"]}),
    "anytime": (GPASSK, BINARY, {"k": [1, 2], "include": "pass@k", "anytime": True}),
    "corrected": (GPASSK, BINARY, {"k": 2, "include": "pass@k", "checker_rates": (0.9, 0.1)}),
    "max_at_k": (MAX, REAL, {"k": [1, 3, 6]}),
    "levels": (MAX, (4 * SHARES).astype(int), {"k": [1, 3, 10], "w": [0, 0.1, 0.4, 0.5, 1]}),
    "picked": (MAX, REAL, {"k": [1, 3], "picked_by": PICKED_BY}),
    "tails": (MAX, SHARES, {"k": 2, "include": "TailPass@k", "thresholds": [0.5]}),
    "bayes_at_n": (BAYES, REAL, {}),
    "cons_at_k": (CONS, SHARES, {"k": [2, 6]}),
    "score_agg": (AGG, SHARES, {"temperature": 0.3}),
}
ABOVE_N = ("k above n", "levels")
ONLY_QUESTIONS = ("picked", "tails", "score_agg")
COMBINATIONS = [(name, "questions") for name in CASES if name not in ABOVE_N]
COMBINATIONS += [(name, "sampling") for name in CASES if name not in (*ONLY_QUESTIONS, *ABOVE_N)]
COMBINATIONS += [(name, x) for name in (*ABOVE_N, "max_at_k") for x in ("auto", "hierarchical")]
REWARDS = [pair for pair in COMBINATIONS if pair[0] in ("max_at_k", "picked", "bayes_at_n")]


def computed(name: str, interval: str, rows: np.ndarray, **more: Any) -> dict[str, Any]:
    metric, _, options = CASES[name]
    return metric.compute(
        predictions=rows, **{"confidence": 0.9, "interval": interval} | options | more
    )


def same(a: dict[str, Any], b: dict[str, Any], tolerance: float = 1e-9) -> bool:
    numbers = [key for key, value in a.items() if isinstance(value, float)]
    return [a[key] for key in numbers] == pytest.approx([b[key] for key in numbers], abs=tolerance)


def limits_in(result: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the limits of a flat dict, those of bands included."""
    keys = [key.removesuffix("_lo") for key in result if key.endswith("_lo")]
    return {key: (result[f"{key}_lo"], result[f"{key}_hi"]) for key in keys}


@pytest.mark.parametrize(("name", "interval"), COMBINATIONS)
def test_the_order_of_questions_and_of_samples_does_not_matter(name, interval):
    rows, rng = CASES[name][1], np.random.default_rng(1)
    order, of_samples = rng.permutation(len(rows)), np.argsort(rng.random(rows.shape), axis=1)
    shuffled, picked_by = (
        np.take_along_axis(x, of_samples, axis=1)[order] for x in (rows, PICKED_BY)
    )
    more = {"picked_by": picked_by} if name == "picked" else {}
    assert same(computed(name, interval, rows), computed(name, interval, shuffled, **more))


@pytest.mark.parametrize(("name", "interval"), COMBINATIONS)
def test_a_group_has_the_scores_and_limits_that_it_has_alone(name, interval):
    rows = CASES[name][1]
    more = {"picked_by": np.vstack([PICKED_BY] * 3)} if name == "picked" else {}
    # The group "b" is a copy of "a", and the questions of "c" are unlike them.
    number = 500 if name in ABOVE_N else len(rows)
    every = np.vstack([rows, rows, np.full((number, rows.shape[1]), rows.min())])
    groups = ["a"] * len(rows) + ["b"] * len(rows) + ["c"] * number
    together = computed(name, interval, every, groups=groups, **more)
    alone = computed(name, interval, rows)
    for prefix in ("a/", "b/"):
        grouped = {key.removeprefix(prefix): x for key, x in together.items() if prefix in key}
        assert same(alone, grouped)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 7.0), (0.01, -3.0), (250.0, 1 / 3)])
@pytest.mark.parametrize(("name", "interval"), REWARDS)
def test_rewards_may_have_any_zero_and_any_unit(name, interval, scale, shift):
    rows = CASES[name][1]
    plain = computed(name, interval, rows)
    moved = computed(name, interval, shift + scale * rows)
    back = {
        key: value / scale if key.endswith("_sigma") else (value - shift) / scale
        for key, value in moved.items()
        if isinstance(value, float)
    }
    assert same(plain, back, 1e-6)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize(
    "metric",
    ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k", "max@k", "avg@N"],
)
def test_the_order_of_two_runs_turns_the_difference_round(metric, interval):
    is_real = metric in ("max@k", "avg@N")
    rows = (REAL, 1.5 * REAL[::-1]) if is_real else (BINARY, BINARY[:, ::-1][::-1])
    options: dict[str, Any] = {"metric": metric, "interval": interval}
    a, b = at_k.compare(*rows, **options), at_k.compare(*rows[::-1], **options)
    assert list(a) == list(b)
    for key in [key.removesuffix("_a") for key in a if key.endswith("_a")]:
        assert a[f"{key}_a"] == b[f"{key}_b"]
        for ours, theirs in (("", ""), ("_lo", "_hi"), ("_band_lo", "_band_hi")):
            assert a[f"{key}{ours}"] == pytest.approx(-b[f"{key}{theirs}"], abs=1e-12)
    boards = [
        at_k.leaderboard(dict(pairs), k=None if metric == "avg@N" else 2, **options)
        for pairs in ([("x", rows[0]), ("y", rows[1])], [("y", rows[1]), ("x", rows[0])])
    ]
    first, second = ({row["run"]: row for row in board["runs"]} for board in boards)
    assert first == second


@pytest.mark.parametrize("metric", ["pass@k", "pass^k", "max@k"])
def test_noise_has_the_standard_error_of_the_interval(metric):
    rows = REAL if metric == "max@k" else BINARY
    found = at_k.noise(rows, k=3, metric=metric)[metric.replace("k", "3")]
    name, include = ("max_at_k", "Max@k") if metric == "max@k" else ("gpassk", metric)
    key, options = metric.replace("k", "3"), {"k": 3, "include": include, "confidence": 0.95}
    for interval, entry in (("sampling", "same_questions"), ("questions", "other_questions")):
        scores = computed(name, interval, rows, **options)
        assert found[entry] == pytest.approx(limits_in(scores)[key], abs=1e-9)
    assert found["standard_error"] == pytest.approx(scores[f"{key}_sigma"], rel=1e-9)


@pytest.mark.parametrize(("name", "interval"), [x for x in COMBINATIONS if x[0] != "picked"])
def test_a_run_in_parts_has_the_scores_and_limits_of_the_whole(name, interval):
    metric, rows, options = CASES[name]
    for part in (rows[:5], rows[5:]):
        metric.add_batch(predictions=part)
    in_parts = metric.compute(**{"confidence": 0.9, "interval": interval} | options)
    assert same(computed(name, interval, rows), in_parts)


@pytest.mark.parametrize("include", ["Geom@k", "Geom_ds@k"])
def test_a_negative_power_is_refused(include):
    with pytest.raises(ValueError, match="pass_power is -1: a power is a finite number of at l"):
        gpassk([[1, 0]], k=2, include=include, pass_power=-1)


# --- Limits near 1 are mirror images of those near 0 ------------------------------------

EASY: dict[str, Any] = {
    "all correct": np.ones((6, 16), int),
    "one sample incorrect": np.pad(np.zeros((1, 1), int), ((0, 11), (0, 23)), constant_values=1),
    "one question incorrect": np.repeat([[0], [1], [1], [1], [1]], 9, axis=1),
    "different sizes": [[1] * 5, [1] * 7, [1] * 9 + [0], [1] * 6],
}


@pytest.mark.filterwarnings("ignore:.* of the samples are called", "ignore:The corrected pass@2")
@pytest.mark.parametrize("interval", ["sampling", "questions", "hierarchical"])
@pytest.mark.parametrize("rates", [None, (0.95, 0.02)])
@pytest.mark.parametrize("name", EASY)
def test_pass_at_k_has_the_limits_of_pass_hat_k_with_the_outcomes_exchanged(name, rates, interval):
    k = [*range(1, 1 + min(map(len, EASY[name])))]
    options = {"k": k, "confidence": 0.9, "interval": interval}
    exchanged = None if rates is None else (1 - rates[1], 1 - rates[0])
    scores = gpassk(EASY[name], include="pass@k", checker_rates=rates, **options)
    mirrored = gpassk(
        [[1 - x for x in row] for row in EASY[name]],
        include="pass^k",
        checker_rates=exchanged,
        **options,
    )
    for size in k:
        limits = scores[f"pass@{size}_lo"], scores[f"pass@{size}_hi"]
        of_mirrored = 1 - mirrored[f"pass^{size}_hi"], 1 - mirrored[f"pass^{size}_lo"]
        assert limits == pytest.approx(of_mirrored, rel=1e-10)
        sigma = mirrored[f"pass^{size}_sigma"]
        assert scores[f"pass@{size}_sigma"] == pytest.approx(sigma, rel=1e-10)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize(("questions", "samples"), [(5, 7), (6, 10), (9, 12)])
def test_r_correct_samples_of_n_have_the_limits_of_n_plus_1_minus_r(questions, samples, interval):
    """Fewer than r samples are correct if n + 1 - r or more are incorrect."""
    thresholds = [r / samples for r in range(1, samples + 1)]
    options = {"k": samples, "thresholds": thresholds, "include": "G-Pass@k"}
    options |= {"confidence": 0.95, "interval": interval}
    correct = np.ones((questions, samples), int)
    scores, mirrored = gpassk(correct, **options), gpassk(1 - correct, **options)
    for r in range(1, samples + 1):
        lo = scores[f"G-Pass@{samples}_{thresholds[r - 1]}_lo"]
        hi = mirrored[f"G-Pass@{samples}_{thresholds[samples - r]}_hi"]
        assert lo == pytest.approx(1 - hi, rel=1e-10)


# --- Limits contain their estimate ------------------------------------------------------

ROUNDING = 1e-12
SINGLE = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k", "Spectrum@k"]
PRODUCTS = ["Geom@k", "Geom_ds@k", "GeoSpectrum@k"]


def samples(outcome) -> st.SearchStrategy[list]:
    """A few questions with different numbers of samples."""
    return st.lists(st.lists(outcome, min_size=1, max_size=5), min_size=2, max_size=4)


def check_limits(scores: dict) -> None:
    for key, (lo, hi) in limits_in(scores).items():
        assert lo - ROUNDING <= scores[f"{key}_mu"] <= hi + ROUNDING, key
        if scores.get(f"{key}_interval") != "posterior":
            assert lo - ROUNDING <= scores[key] <= hi + ROUNDING, key


def test_hierarchical_limits_contain_the_score_of_questions_with_few_and_many_samples():
    rows = [[1] * 4, [1] * 5, [0]]
    scores = compute("max_at_k", rows, k=1, confidence=0.95, interval="hierarchical")
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
        scores = gpassk(k=k, include=include, thresholds=0.5, **options)
        check_limits(scores)
        assert all(0 <= lo <= hi <= 1 for lo, hi in limits_in(scores).values())
        if interval != "hierarchical":
            check_limits(compute("cons_at_k", k=k, **options))


@pytest.mark.parametrize("interval", ["hierarchical", "auto"])
def test_estimates_of_many_new_samples_do_not_exceed_1(interval):
    for n in (2, 3, 7):
        rows = np.ones((5, n), dtype=int)
        rows[0, 0] = 0
        options = {"include": "pass@k", "confidence": 0.95, "interval": interval}
        scores = gpassk(rows, k=[10, 1000], **options)
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
    scores = gpassk(k=[1, 2], include=["pass@k", "pass^k"], band=True, **options)
    scores |= compute("bayes_at_n", **options)
    assert scores["pass@1"] == pytest.approx(scores["avg@4"])
    assert not 0 <= scores["pass@1"] <= 1
    for key, (lo, hi) in limits_in(scores).items():
        assert 0 <= lo <= hi <= 1, key


def test_rates_of_a_checker_that_the_samples_contradict_are_warned_of():
    rows = np.ones((40, 4), int)
    with pytest.warns(UserWarning, match="100.0% of the samples are called correct, which the tr"):
        gpassk(rows, k=1, checker_rates=(0.9, 0.1))
    with pytest.warns(UserWarning, match="the false-positive rate of the checker, 10.0%"):
        at_k.noise(1 - rows, 1, checker_rates=(0.9, 0.1))


# --- A higher confidence contains a lower one -------------------------------------------

CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
NESTED_WITHIN = 1e-9


def assert_nested(limits_at):
    """Check the limits of all keys. `limits_at` returns (lo, hi) by key, for a confidence."""
    before = limits_at(CONFIDENCES[0])
    for confidence in CONFIDENCES[1:]:
        limits = limits_at(confidence)
        for key, (lo, hi) in limits.items():
            assert lo <= before[key][0] + NESTED_WITHIN, (key, confidence)
            assert hi >= before[key][1] - NESTED_WITHIN, (key, confidence)
        before = limits


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
        return limits_in(gpassk(run, k=k, include=include, **options))

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
        return limits_in(compute(name, outcomes, **options, **limits))

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


# --- Limits never contradict an order ---------------------------------------------------

INTERVALS = ["sampling", "questions", "auto"]


def test_the_events_of_scores_are_found_in_their_credits():
    assert event_of(Score((any_correct(4),))) == (4, 1)
    assert event_of(Score((all_correct(3),))) == (3, 3)
    assert event_of(Score((majority(5),))) == (5, 3)
    assert event_of(Score((threshold(8, 0.6),))) == (8, 5)
    assert event_of(Score((area_under_pass(3),))) is None


runs = st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), min_size=2, max_size=9).map(
    lambda pairs: [[1] * round(p * n) + [0] * (n - round(p * n)) for n, p in pairs]
)


TAUS = [0.3, 0.5, 0.8, 1.0]


def require_order(scores: dict, ks: list[int]) -> None:
    for end in ("_lo", "_hi"):
        for j, k in itertools.combinations(ks, 2):
            assert scores[f"pass^{j}{end}"] >= scores[f"pass^{k}{end}"] - 1e-12
            assert scores[f"pass@{j}{end}"] <= scores[f"pass@{k}{end}"] + 1e-12
        for k in ks:
            any_of_k, all_of_k = scores[f"pass@{k}{end}"], scores[f"pass^{k}{end}"]
            by_tau = [scores[f"G-Pass@{k}_{tau}{end}"] for tau in TAUS]
            falling = [any_of_k, *by_tau, all_of_k]
            assert falling == sorted(falling, reverse=True)
            assert any_of_k >= scores[f"maj@{k}{end}"] >= all_of_k


@pytest.mark.filterwarnings("ignore:No question has two correct samples")
@given(runs, st.sampled_from(INTERVALS))
@settings(max_examples=60)
def test_limits_are_ordered_in_k_and_in_the_threshold(rows, interval):
    ks = [*range(1, min(map(len, rows)) + 1)]
    if interval != "questions" and max(map(len, rows)) == 1:
        return
    include = ["pass@k", "pass^k", "G-Pass@k", "maj@k"]
    options = {"include": include, "thresholds": TAUS, "confidence": 0.95, "interval": interval}
    scores = gpassk(rows, k=ks, **options)
    require_order(scores, ks)
    for key, (lo, hi) in limits_in(scores).items():
        assert lo <= scores[key] <= hi


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("name", ["pass@", "pass^"])
def test_one_k_alone_has_the_limits_that_it_has_among_others(rate, interval, name):
    rng = np.random.default_rng(3)
    rows = rng.binomial(1, rng.beta(20 * rate + 1e-9, 20 * (1 - rate) + 1e-9, (25, 1)), (25, 40))
    options: dict[str, Any] = {"confidence": 0.95, "interval": interval, "include": f"{name}k"}
    every = gpassk(rows, k=[*range(1, 41)], **options)
    for k in (1, 7, 24, 40):
        alone = gpassk(rows, k=k, **options)
        for end in ("_lo", "_hi"):
            assert alone[f"{name}{k}{end}"] == pytest.approx(every[f"{name}{k}{end}"], abs=1e-9)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_what_is_shown_at_one_k_is_shown_at_larger_ones(interval):
    solved = [[1] * 8] * 20
    lo = [
        gpassk(solved, k=k, include="pass@k", confidence=0.95, interval=interval)[f"pass@{k}_lo"]
        for k in (1, 2, 5, 8)
    ]
    assert np.diff(lo).min() > -1e-12
    assert lo[0] > (0.95 if interval == "sampling" else 0.8)
    compared = at_k.leaderboard({"a": solved, "b": [[0] * 8] * 20}, k=[1, 8], interval=interval)
    limits = {(row["run"], row["key"]): row["lo"] for row in compared["runs"]}
    assert limits["a", "pass@8"] == pytest.approx(lo[-1], abs=1e-9)


@pytest.mark.parametrize("most", [1, 5, 64, 65, 100, 2000])
def test_every_k_is_shown_up_to_64_and_few_above(most):
    ks = spread_of_k(most)
    assert ks[: min(most, 64)] == [*range(1, min(most, 64) + 1)]
    assert ks[-1] == most
    assert all(0 < larger / k < 1.45 for k, larger in itertools.pairwise(ks) if k > 64)
    assert len(ks) <= 64 + 2 * max(0, math.log2(most / 64)) + 2
