"""What must not change a score or its limits: order, units, names, and other groups."""

from typing import Any

import at_k
import numpy as np
import pytest

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
COMBINATIONS += [(name, x) for name in ABOVE_N for x in ("auto", "hierarchical")]
REWARDS = [pair for pair in COMBINATIONS if pair[0] in ("max_at_k", "picked", "bayes_at_n")]


def compute(name: str, interval: str, rows: np.ndarray, **more: Any) -> dict[str, Any]:
    metric, _, options = CASES[name]
    return metric.compute(
        predictions=rows, **{"confidence": 0.9, "interval": interval} | options | more
    )


def same(a: dict[str, Any], b: dict[str, Any], tolerance: float = 1e-9) -> bool:
    numbers = [key for key, value in a.items() if isinstance(value, float)]
    return [a[key] for key in numbers] == pytest.approx([b[key] for key in numbers], abs=tolerance)


@pytest.mark.parametrize(("name", "interval"), COMBINATIONS)
def test_the_order_of_questions_and_of_samples_does_not_matter(name, interval):
    rows, rng = CASES[name][1], np.random.default_rng(1)
    order = rng.permutation(len(rows))
    of_samples = np.argsort(rng.random(rows.shape), axis=1)
    more = {}
    if name == "picked":
        moved = np.take_along_axis(PICKED_BY, of_samples, axis=1)[order]
        more = {"picked_by": moved}
    shuffled = np.take_along_axis(rows, of_samples, axis=1)[order]
    assert same(compute(name, interval, rows), compute(name, interval, shuffled, **more))


@pytest.mark.parametrize(("name", "interval"), COMBINATIONS)
def test_a_group_has_the_scores_and_limits_that_it_has_alone(name, interval):
    rows = CASES[name][1]
    more = {"picked_by": np.vstack([PICKED_BY] * 3)} if name == "picked" else {}
    # The group "b" is a copy of "a", and the questions of "c" are unlike them.
    number = 500 if name in ABOVE_N else len(rows)
    every = np.vstack([rows, rows, np.full((number, rows.shape[1]), rows.min())])
    groups = ["a"] * len(rows) + ["b"] * len(rows) + ["c"] * number
    together = compute(name, interval, every, groups=groups, **more)
    alone = compute(name, interval, rows)
    for label in "ab":
        prefix = f"{label}/"
        grouped = {key.removeprefix(prefix): x for key, x in together.items() if prefix in key}
        assert same(alone, grouped)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 7.0), (0.01, -3.0), (250.0, 1 / 3)])
@pytest.mark.parametrize(("name", "interval"), REWARDS)
def test_rewards_may_have_any_zero_and_any_unit(name, interval, scale, shift):
    rows = CASES[name][1]
    plain = compute(name, interval, rows)
    moved = compute(name, interval, shift + scale * rows)
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
    scores = compute(name, "questions", rows, k=3, include=include, confidence=0.95)
    key = metric.replace("k", "3")
    assert found["standard_error"] == pytest.approx(scores[f"{key}_sigma"], rel=1e-9)
    assert found["other_questions"] == pytest.approx(
        (scores[f"{key}_lo"], scores[f"{key}_hi"]), abs=1e-9
    )


@pytest.mark.parametrize(("name", "interval"), [x for x in COMBINATIONS if x[0] != "picked"])
def test_a_run_in_parts_has_the_scores_and_limits_of_the_whole(name, interval):
    metric, rows, options = CASES[name]
    for part in (rows[:5], rows[5:]):
        metric.add_batch(predictions=part)
    in_parts = metric.compute(**{"confidence": 0.9, "interval": interval} | options)
    assert same(compute(name, interval, rows), in_parts)


@pytest.mark.parametrize("include", ["Geom@k", "Geom_ds@k"])
def test_a_negative_power_is_refused(include):
    with pytest.raises(ValueError, match="pass_power is -1: a power is a finite number of at l"):
        GPASSK.compute(predictions=[[1, 0]], k=2, include=include, pass_power=-1)
