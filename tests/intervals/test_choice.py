"""The choice of an interval: what "auto" chooses, and scores of k above n."""

import itertools
from typing import Any

import numpy as np
import pytest
from at_k.intervals.binary_family import RATES
from at_k.intervals.prior import _Model
from scipy import stats
from scipy.optimize import minimize
from scored import compute, gpassk, limits, simulate


def limits_of(name: str, predictions, k, interval="auto", **options) -> dict[str, Any]:
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


@pytest.mark.parametrize("groups", [None, ["a", "b", "b"] * 4])
@pytest.mark.parametrize(
    ("metric", "key", "outcomes", "ks", "options"),
    [
        ("gpassk", "pass", simulate(20, 12, 4), [8], {}),
        ("gpassk", "pass", simulate(20, 12, 16), [32], {}),
        ("gpassk", "pass", simulate(20, 12, 4), [8, 16], {}),
        ("max_at_k", "max", np.array([[0, 2, 1, 1], [2, 0, 0, 1]] * 6), [8, 32], LEVELS),
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


# --- Scores of k above n ----------------------------------------------------------------


def counts_of(rates: np.ndarray, n: int, rng: np.random.Generator) -> dict[str, list[int]]:
    return {"n": [n] * rates.size, "correct": rng.binomial(n, rates.ravel()).tolist()}


def test_unsolved_questions_are_mostly_unsolvable_where_the_others_are_not_hard():
    rows = [[1] * c + [0] * (8 - c) for c in (2, 5, 5)] + [[0] * 8] * 57
    scores = limits_of("gpassk", rows, 256)
    assert 0.05 <= scores["pass@256"] < 0.1  # 3 of 60, and few more
    assert scores["pass@256_hi"] > 0.5  # which 8 samples do not exclude


@pytest.mark.parametrize(
    ("unsolvable", "a", "b"), [(0.6, 2, 8), (0.35, 2, 2), (0.9, 40, 40), (0.5, 3, 1)]
)
def test_bias_is_small_where_questions_are_unsolvable(unsolvable, a, b):
    rng, n, k, errors = np.random.default_rng(5), 16, 64, []
    for _ in range(30):
        rates = np.where(rng.random(80) < unsolvable, 0.0, rng.beta(a, b, 80))
        score = limits_of("gpassk", counts_of(rates, n, rng), k)[f"pass@{k}"]
        errors.append(score - np.mean(1 - (1 - rates) ** k))
    assert abs(np.mean(errors)) < 0.05


def beta_binomial_score(counts: dict[str, list[int]], k: int) -> float:
    """Pass@k under the Beta distribution of maximum likelihood, as practice fits it."""
    n, c = counts["n"][0], np.array(counts["correct"])

    def loss(logs: np.ndarray) -> float:
        return -stats.betabinom.logpmf(c, n, *np.exp(logs)).sum()

    a, b = np.exp(minimize(loss, [0.0, 0.0], bounds=[(-5, 6)] * 2).x)
    return float(1 - stats.betabinom.pmf(0, k, a, b))


@pytest.mark.parametrize(("a", "b"), [(0.3, 6), (0.5, 2), (1, 1), (5, 5), (0.05, 0.05)])
def test_errors_are_about_those_of_a_beta_binomial_model_where_it_is_true(a, b):
    rng, n, k, errors = np.random.default_rng(6), 16, 64, []
    for _ in range(30):
        rates = rng.beta(a, b, 80)
        counts, score = counts_of(rates, n, rng), np.mean(1 - (1 - rates) ** k)
        both = limits_of("gpassk", counts, k)[f"pass@{k}"], beta_binomial_score(counts, k)
        errors.append(np.array(both) - score)
    ours, theirs = np.sqrt(np.mean(np.square(errors), axis=0))
    assert ours < theirs + 0.04  # a share of unsolvable questions cannot be excluded
    assert abs(np.mean(errors, axis=0)[0]) < abs(np.mean(errors, axis=0)[1]) + 0.02


@pytest.mark.parametrize("interval", ["auto", "hierarchical"])
@pytest.mark.parametrize("name", ["pass@", "pass^"])
def test_one_k_above_n_has_the_limits_that_it_has_among_others(interval, name):
    rng = np.random.default_rng(8)
    for rows in ([[1, 0], [0, 1]], rng.binomial(1, rng.beta(0.4, 1, (30, 1)), (30, 6)).tolist()):
        ks = [1, 2, 4, 8, 9, 40]
        options: dict[str, Any] = {"include": f"{name}k", "confidence": 0.9, "interval": interval}
        every = gpassk(rows, k=ks, **options)
        for k in ks:
            alone = gpassk(rows, k=[k], **options)
            for end in ("", "_lo", "_hi"):
                key = f"{name}{k}{end}"
                assert alone[key] == pytest.approx(every[key], abs=1e-9)
        for j, k in itertools.pairwise(ks):
            for end in ("", "_lo", "_hi"):
                change = every[f"{name}{k}{end}"] - every[f"{name}{j}{end}"]
                assert (change if name == "pass@" else -change) > -1e-9


def test_the_beta_distribution_of_the_prior_has_the_largest_likelihood():
    rng = np.random.default_rng(11)
    c = rng.binomial(12, rng.beta(0.7, 2, 300))
    share, rates = np.bincount(c, minlength=13) / 300, np.concatenate([[0.0], RATES, [1.0]])
    likelihood = stats.binom.pmf(np.arange(13)[:, None], 12, rates)
    half_aic, _ = _Model(likelihood, share, np.log(RATES / (1 - RATES)), ()).fit(300)

    def loss(logs: np.ndarray) -> float:
        return -stats.betabinom.logpmf(c, 12, *np.exp(logs)).mean()

    assert (half_aic - 2) / 300 == pytest.approx(minimize(loss, [0.0, 0.0]).fun, abs=1e-4)
