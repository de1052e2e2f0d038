"""The simultaneous band over k of a single run: identities, coverage, groups and errors."""

import math

import numpy as np
import pytest
from at_k.core.estimates import read_score
from at_k.intervals.band import curves
from scored import cons_at_k, gpassk, max_at_k

KS = [1, 2, 4, 8]
INTERVALS = ("sampling", "questions")


def some_run(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((30, 8)) < rng.beta(0.5, 1, (30, 1))).astype(int)


@pytest.mark.parametrize("interval", [*INTERVALS, "posterior", "auto"])
def test_the_band_contains_the_intervals_and_changes_nothing_else(interval):
    options = {"k": KS, "include": ["pass@k", "pass^k", "Geom_ds@k"], "confidence": 0.95}
    options |= {"predictions": some_run(0), "interval": interval}
    plain, result = gpassk(**options), gpassk(**options, band=True)
    assert {key: value for key, value in result.items() if "band" not in key} == plain
    for k in KS:
        for name in ("pass@", "pass^", "Geom_ds@"):
            key = f"{name}{k}"
            assert result[f"{key}_band_lo"] < result[f"{key}_lo"]
            assert result[f"{key}_hi"] < result[f"{key}_band_hi"]


def test_the_band_of_a_single_k_is_the_interval():
    rewards = np.random.default_rng(0).normal(size=(20, 4))
    result = max_at_k(rewards, k=2, confidence=0.9, band=True)
    assert result["max@2_band_lo"] == result["max@2_lo"]
    assert result["max@2_band_hi"] == result["max@2_hi"]


def test_the_order_of_k_and_the_other_scores_do_not_matter():
    options = {"predictions": some_run(1), "confidence": 0.95, "band": True}
    for metric, include in ((gpassk, {"include": "pass@k"}), (max_at_k, {})):
        one = metric(**options, **include, k=KS)
        other = metric(**options, **include, k=KS[::-1])
        assert {key: one[key] for key in other} == other
    both = gpassk(**options, k=KS, include=["pass^k", "pass@k"])
    alone = gpassk(**options, k=KS, include="pass@k")
    assert {key: both[key] for key in alone} == pytest.approx(alone)


def test_votes_have_a_band_for_other_questions():
    answers = [["a", "b", "a"], ["c", "b", "b"], ["a", "d", "e"], ["a", "a", "b"]]
    limits = {"confidence": 0.9, "interval": "questions", "band": True}
    result = cons_at_k(answers, references=["a", "b", "a", "b"], k=[1, 3], **limits)
    assert result["vote@3_band_lo"] < result["vote@3_lo"]


def test_scores_with_k_above_n_have_a_band_where_the_checker_errs():
    options = {"include": "pass@k", "confidence": 0.9, "band": True, "checker_rates": (0.95, 0.05)}
    alone = gpassk(some_run(5), k=[16, 32], **options)
    beside = gpassk(some_run(5), k=[1, 16, 32], **options)
    assert alone["pass@32_band_lo"] < alone["pass@32_lo"]
    assert alone["pass@32_lo"] == beside["pass@32_lo"]


def test_keys_are_grouped_by_score_in_ascending_order_of_k():
    keys = ["G-Pass@16_0.5", "G-Pass@4_0.5", "G-Pass@4_1.0", "accuracy (8 runs average)"]
    grouped = [[score.key for score in curve] for curve in curves(map(read_score, keys))]
    assert grouped == [["G-Pass@4_0.5", "G-Pass@16_0.5"], [keys[2]], [keys[3]]]


RUNS = 100
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)  # four standard errors below


@pytest.mark.parametrize("interval", INTERVALS)
def test_the_band_covers_all_k_together(interval):
    rng, ks = np.random.default_rng(3), np.array(KS)
    population = np.mean(1 - (1 - rng.beta(0.5, 1, (100_000, 1))) ** ks, axis=0)
    covered = narrow = 0
    for _ in range(RUNS):
        p = rng.beta(0.5, 1, (30, 1))
        truth = population if interval == "questions" else np.mean(1 - (1 - p) ** ks, axis=0)
        options = {"confidence": 0.95, "interval": interval, "band": True}
        run = (rng.random((30, 8)) < p).astype(int)
        result = gpassk(run, k=KS, include="pass@k", **options)
        lo, hi, band_lo, band_hi = (
            np.array([result[f"pass@{k}_{limit}"] for k in KS])
            for limit in ("lo", "hi", "band_lo", "band_hi")
        )
        covered += bool(np.all((band_lo <= truth) & (truth <= band_hi)))
        narrow += bool(np.all((lo <= truth) & (truth <= hi)))
    assert covered / RUNS > LEAST
    assert narrow < covered
