"""Weights of questions and means over groups: scores beside fractions, and limits of each kind."""

import math
from fractions import Fraction
from typing import Any

import at_k
import numpy as np
import pytest
import scored
from exact import hypergeometric_mean, values_of

RNG = np.random.default_rng(41)
RATES = RNG.beta(0.7, 0.9, 40)
ROWS = [RNG.binomial(1, rate, RNG.integers(4, 7)).tolist() for rate in RATES]
GROUPS = RNG.choice(["a", "b", "c"], len(ROWS), p=[0.7, 0.2, 0.1]).tolist()
WEIGHTS: list[float] = RNG.integers(1, 6, len(ROWS)).tolist()
ANSWERS = [[f"{x if x else RNG.integers(2, 5)}" for x in row] for row in ROWS]
REWARDS = [[x + round(float(RNG.uniform(0, 0.9)), 2) for x in row] for row in ROWS]
VERDICTS = [[("none", "partial", "fully")[RNG.integers(3)] for _ in row] for row in ROWS]
REFERENCES = ["1"] * len(ROWS)

INTERVALS: list[tuple[str, dict[str, Any], str]] = [
    *(("gpassk", {"predictions": ROWS, "include": ["pass@k", "pass^k", "Geom@k"], "k": 3}, x)
      for x in ("sampling", "questions", "posterior")),
    ("gpassk", {"predictions": ROWS, "include": ["pass@k", "maj@k"], "k": 2}, "hierarchical"),
    ("gpassk", {"predictions": ROWS, "include": "pass@k", "k": [1, 3], "band": True}, "auto"),
    ("gpassk", {"predictions": ROWS, "include": "pass@k", "k": 2, "checker_rates": (0.9, 0.1)},
     "auto"),
    *(("bayes_at_n", {"predictions": ROWS}, x) for x in ("posterior", "sampling", "questions")),
    *(("max_at_k", {"predictions": REWARDS, "k": 2}, x) for x in ("sampling", "questions")),
    ("max_at_k", {"predictions": ROWS, "k": 2, "include": ["Max@k", "TailPass@k"]}, "questions"),
    *(("cons_at_k", {"predictions": ANSWERS, "references": REFERENCES, "k": 3}, x)
      for x in ("sampling", "questions", "posterior")),
    ("score_agg", {"predictions": VERDICTS}, "questions"),
]  # fmt: skip


def numbers(result):
    return {key: x for key, x in result.items() if not isinstance(x, (str, dict))}


def compute(name, options, interval=None, **more):
    limits = {} if interval is None else {"confidence": 0.9, "interval": interval}
    return numbers(scored.compute(name, **options, **limits, **more))


def assert_close(a, b, rel=1e-9):
    assert a.keys() == b.keys()
    for key, value in a.items():
        assert value == pytest.approx(b[key], rel=rel, abs=1e-12), key


def weighted(values, weights):
    return sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)


# --- Scores -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options", "interval"), INTERVALS)
def test_a_mean_over_groups_is_the_mean_of_their_scores(name, options, interval):
    result = compute(name, options, interval, groups=GROUPS, average="groups")
    statistics = ("_mu", "_sigma", "_lo", "_hi")
    for key in [key for key in result if not key.endswith(statistics) and "/" not in key]:
        scores = [result[f"{label}/{key}"] for label in dict.fromkeys(GROUPS)]
        assert result[key] == pytest.approx(math.fsum(scores) / 3, rel=1e-13)


# --- Limits -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options", "interval"), INTERVALS)
def test_equal_weights_and_groups_of_one_size_change_nothing(name, options, interval):
    plain = compute(name, options, interval)
    assert compute(name, options, interval, question_weights=[0.3] * len(ROWS)) == plain
    groups = [f"g{i % 4}" for i in range(len(ROWS))]
    macro = compute(name, options, interval, groups=groups, average="groups")
    assert {key: macro[key] for key in plain} == plain


@pytest.mark.parametrize(("name", "options", "interval"), INTERVALS)
def test_limits_depend_on_ratios_of_weights_only(name, options, interval):
    """A factor changes nothing, a weight of 0 leaves a question out, and order has no effect."""
    result = compute(name, options, interval, question_weights=WEIGHTS)
    larger = [w * 1024.0 for w in WEIGHTS]
    assert_close(compute(name, options, interval, question_weights=larger), result)
    order = RNG.permutation(len(ROWS))
    moved = {
        key: [x[i] for i in order] if isinstance(x, list) and len(x) == len(ROWS) else x
        for key, x in options.items()
    }
    weights = [WEIGHTS[i] for i in order]
    # Test inversion over a grid sums in another order.
    assert_close(compute(name, moved, interval, question_weights=weights), result, 1e-6)
    if interval == "hierarchical":
        return  # whose estimates for k > n depend on the prior of all questions
    kept = 30
    first = {
        key: x[:kept] if isinstance(x, list) and len(x) == len(ROWS) else x
        for key, x in options.items()
    }
    zeros = [*WEIGHTS[:kept], *[0] * (len(ROWS) - kept)]
    without = compute(name, first, interval, question_weights=WEIGHTS[:kept])
    if without.keys() == result.keys():
        assert_close(compute(name, options, interval, question_weights=zeros), without, 1e-6)


@pytest.mark.parametrize(
    ("correct", "n", "weights", "clusters"),
    [
        # pass@n is 1 for each question, so its variance is 0 up to rounding.
        ([3, 2, 2, 1, 2, 1, 2, 1], 3, [3, 2, 3, 1, 3, 2, 2, 2], None),
        # The sum of the deviations of a cluster is 0 up to rounding.
        ([4, 2, 1, 2, 3], 6, [3, 2, 3, 3, 2], [*"01020"]),
    ],
)
def test_rounding_errors_of_variances_do_not_move_limits(correct, n, weights, clusters):
    gpassk, found = at_k.load("gpassk"), []
    for scale in (1, 7.3, 0.3):
        scores = gpassk.compute(
            predictions={"n": [n] * len(correct), "correct": correct},
            question_weights=[scale * weight for weight in weights],
            clusters=clusters,
            k=[1, n // 2, n],
            include=["pass@k", "Geom_ds@k"],
            interval="questions",
            confidence=0.95,
        )
        found.append([x for x in scores.values() if isinstance(x, float)])
    assert found[1] == pytest.approx(found[0], abs=1e-7)
    assert found[2] == pytest.approx(found[0], abs=1e-7)


@pytest.mark.parametrize(("name", "options", "interval"), INTERVALS)
def test_a_group_has_the_limits_that_its_questions_have_alone(name, options, interval):
    if interval == "hierarchical":
        return  # see above
    result = compute(name, options, interval, groups=GROUPS, question_weights=WEIGHTS)
    of_a = [i for i, label in enumerate(GROUPS) if label == "a"]
    alone = {
        key: [x[i] for i in of_a] if isinstance(x, list) and len(x) == len(ROWS) else x
        for key, x in options.items()
    }
    alone = compute(name, alone, interval, question_weights=[WEIGHTS[i] for i in of_a])
    shared = {key: x for key, x in alone.items() if f"a/{key}" in result}
    assert shared
    assert_close({key: result[f"a/{key}"] for key in shared}, shared, 1e-6)


def test_the_posterior_adds_variances_by_squared_weights():
    options = {"predictions": ROWS, "include": "pass@k", "k": 2}
    labels = [f"q{i}" for i in range(len(ROWS))]
    each = compute("gpassk", options, "posterior", groups=labels)
    result = compute("gpassk", options, "posterior", question_weights=WEIGHTS)
    total = sum(WEIGHTS)
    variance = sum(
        (w * each[f"{label}/pass@2_sigma"]) ** 2 for w, label in zip(WEIGHTS, labels, strict=True)
    )
    assert result["pass@2_sigma"] == pytest.approx(math.sqrt(variance) / total, rel=1e-12)
    means = [each[f"{label}/pass@2_mu"] for label in labels]
    assert result["pass@2_mu"] == pytest.approx(weighted(means, WEIGHTS), rel=1e-12)


def test_other_questions_have_the_jackknife_of_the_weighted_mean():
    """The definition: leave each question out, and compare the weighted means."""
    scores = [Fraction(sum(row), len(row)) for row in ROWS]
    mean = weighted(scores, WEIGHTS)
    moves = [
        weighted(scores[:i] + scores[i + 1 :], WEIGHTS[:i] + WEIGHTS[i + 1 :]) - mean
        for i in range(len(ROWS))
    ]
    variance = Fraction(len(ROWS) - 1, len(ROWS)) * sum(x * x for x in moves)
    options = {"predictions": ROWS, "include": "pass@k", "k": 1}
    result = compute("gpassk", options, "questions", question_weights=WEIGHTS)
    assert result["pass@1_sigma"] == pytest.approx(math.sqrt(variance), rel=1e-12)
    one_cluster_each = compute(
        "gpassk", options, "questions", question_weights=WEIGHTS, clusters=list(range(len(ROWS)))
    )
    assert_close(one_cluster_each, result)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_weighted_limits_cover(interval):
    """Hard questions weigh more. The rates are new in each run, or the same for `sampling`."""
    random, covered, runs = np.random.default_rng(7), 0, 300
    rates = random.beta(0.8, 0.8, 60)
    weights = np.where(rates < 0.4, 5.0, 1.0)
    population = random.beta(0.8, 0.8, 200_000)
    of_all = np.where(population < 0.4, 5.0, 1.0)
    truth = weighted(rates, weights) if interval == "sampling" else weighted(population, of_all)
    gpassk = at_k.load("gpassk")
    for _ in range(runs):
        if interval == "questions":
            rates = random.beta(0.8, 0.8, 60)
            weights = np.where(rates < 0.4, 5.0, 1.0)
        rows = random.binomial(1, rates[:, None], (60, 8))
        result = gpassk.compute(
            predictions=rows,
            include="pass@k",
            k=1,
            confidence=0.95,
            interval=interval,
            question_weights=weights,
        )
        covered += result["pass@1_lo"] <= truth <= result["pass@1_hi"]
    assert 0.92 * runs <= covered


# --- Comparisons, gates and plans -------------------------------------------------------

OTHER = [RNG.binomial(1, min(1, rate + 0.1), 5).tolist() for rate in RATES]
WAYS: list[dict[str, Any]] = [
    {"question_weights": WEIGHTS},
    {"groups": GROUPS, "average": "groups"},
    {"groups": GROUPS, "average": "groups", "question_weights": WEIGHTS},
]


@pytest.mark.parametrize("interval", ["questions", "sampling"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("metric", ["pass@k", "max@k", "avg@N", "Geom@k"])
def test_comparisons_have_the_scores_and_the_limits_of_compute(metric, way, interval):
    name = {"max@k": "max_at_k", "avg@N": "bayes_at_n"}.get(metric, "gpassk")
    k: dict[str, Any] = {} if metric == "avg@N" else {"k": 3}
    include: dict[str, Any] = {"include": [metric]} if name == "gpassk" else {}
    result = at_k.compare(ROWS, OTHER, metric, interval=interval, **k, **way)
    (key, *_) = result
    for run, rows in (("a", ROWS), ("b", OTHER)):
        scores = compute(name, {"predictions": rows, **k, **include}, interval, **way)
        (expected,) = (x for name, x in scores.items() if name == key or name in ("avg@5", "avg@n"))
        assert result[f"{key}_{run}"] == pytest.approx(expected, rel=1e-13)
    assert result[key] == pytest.approx(result[f"{key}_b"] - result[f"{key}_a"], abs=1e-15)
    assert result[f"{key}_lo"] < result[key] < result[f"{key}_hi"]
    mirrored = at_k.compare(OTHER, ROWS, metric, interval=interval, **k, **way)
    assert mirrored[f"{key}_lo"] == pytest.approx(-result[f"{key}_hi"], rel=1e-9)
    board = at_k.leaderboard({"x": ROWS, "y": OTHER}, metric, interval=interval, **k, **way)
    (row,) = [row for row in board["runs"] if row["run"] == "x"]
    assert row["score"] == result[f"{key}_a"]
    if metric == "pass@k":
        limits = scored.compute(
            name, ROWS, **k, **include, **way, confidence=0.95, interval=interval
        )
        assert (row["lo"], row["hi"]) == pytest.approx(
            (limits[f"{key}_lo"], limits[f"{key}_hi"]), rel=1e-9
        )


def test_comparisons_within_groups_are_those_of_the_groups_alone():
    result = at_k.compare(ROWS, OTHER, k=2, groups=GROUPS, question_weights=WEIGHTS)
    index = [i for i, label in enumerate(GROUPS) if label == "b"]
    alone = at_k.compare(
        [ROWS[i] for i in index],
        [OTHER[i] for i in index],
        k=2,
        question_weights=[WEIGHTS[i] for i in index],
    )
    assert {key.removeprefix("b/"): x for key, x in result.items() if key[:2] == "b/"} == alone


def test_equal_weights_do_not_hinder_a_comparison_within_groups():
    plain = at_k.compare(ROWS, OTHER, k=2, groups=GROUPS)
    equal = at_k.compare(ROWS, OTHER, k=2, groups=GROUPS, question_weights=[2.0] * len(ROWS))
    assert equal == plain


def test_a_gate_takes_weights():
    rows, weights = [[1, 1, 1, 1]] * 30 + [[0, 0, 0, 0]] * 30, [9.0] * 30 + [1.0] * 30
    with pytest.raises(AssertionError, match=r"Not decided.*pass@1 is 0\.5000"):
        at_k.testing.assert_at_least(rows, 0.6, interval="questions")
    at_k.testing.assert_at_least(rows, 0.7, question_weights=weights)
    labels = ["a"] * 30 + ["b"] * 29 + ["c"]
    with pytest.raises(AssertionError, match=r"averaged over 3 groups, is 0\.3333"):
        at_k.testing.assert_at_least(rows, 0.6, groups=labels, average="groups")


# --- Invalid parameters -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["pass@k", "pass^k", "maj@k", "AUC@k", "mG-Pass@k"])
def test_scores_are_weighted_means_of_fractions(name):
    values = values_of(name, 3)
    exact = [hypergeometric_mean(len(row), sum(row), values) for row in ROWS]
    options = {"predictions": ROWS, "k": 3, "include": name}
    key = name.replace("k", "3")
    score = compute("gpassk", options, question_weights=WEIGHTS)[key]
    assert score == pytest.approx(float(weighted(exact, WEIGHTS)), rel=1e-14)
    of_groups = {
        label: weighted(
            [x for x, g in zip(exact, GROUPS, strict=True) if g == label],
            [w for w, g in zip(WEIGHTS, GROUPS, strict=True) if g == label],
        )
        for label in dict.fromkeys(GROUPS)
    }
    both = {"average": "groups", "groups": GROUPS, "question_weights": WEIGHTS}
    result = compute("gpassk", options, **both)
    macro = sum(of_groups.values(), Fraction(0)) / len(of_groups)
    assert result[key] == pytest.approx(float(macro), rel=1e-14)
    for label, score in of_groups.items():
        assert result[f"{label}/{key}"] == pytest.approx(float(score), rel=1e-14)
