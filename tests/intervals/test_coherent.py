"""Limits never contradict an order that holds by definition, whatever is requested."""

import itertools
import math
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.coherent import event_of, spread_of_k
from at_k.core.credits import all_correct, any_correct, area_under_pass, majority, threshold
from at_k.core.score import Score
from hypothesis import given, settings
from hypothesis import strategies as st
from scored import gpassk

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


def limits_of(rows: Any, k: Any, interval: str, taus=(0.3, 0.5, 0.8, 1.0), **options: Any) -> dict:
    included = ["pass@k", "pass^k", "G-Pass@k", "maj@k"]
    return gpassk(
        rows,
        k=k,
        include=included,
        thresholds=list(taus),
        confidence=0.95,
        interval=interval,
        **options,
    )


def require_order(scores: dict, ks: list[int], taus=(0.3, 0.5, 0.8, 1.0)) -> None:
    for j, k in itertools.combinations(ks, 2):
        for end in ("_lo", "_hi"):
            assert scores[f"pass^{j}{end}"] >= scores[f"pass^{k}{end}"] - 1e-12
            assert scores[f"pass@{j}{end}"] <= scores[f"pass@{k}{end}"] + 1e-12
    for k in ks:
        for low, high in itertools.pairwise(taus):
            for end in ("_lo", "_hi"):
                assert scores[f"G-Pass@{k}_{low}{end}"] >= scores[f"G-Pass@{k}_{high}{end}"]
        for end in ("_lo", "_hi"):
            assert scores[f"pass@{k}{end}"] >= scores[f"G-Pass@{k}_0.3{end}"]
            assert scores[f"G-Pass@{k}_1.0{end}"] >= scores[f"pass^{k}{end}"]
            assert scores[f"pass@{k}{end}"] >= scores[f"maj@{k}{end}"] >= scores[f"pass^{k}{end}"]


@pytest.mark.filterwarnings("ignore:No question has two correct samples")
@given(runs, st.sampled_from(INTERVALS))
@settings(max_examples=60)
def test_limits_are_ordered_in_k_and_in_the_threshold(rows, interval):
    least = min(map(len, rows))
    ks = [*range(1, least + 1)]
    if interval != "questions" and max(map(len, rows)) == 1:
        return
    scores = limits_of(rows, ks, interval)
    require_order(scores, ks)
    for key in [key.removesuffix("_lo") for key in scores if key.endswith("_lo")]:
        assert scores[f"{key}_lo"] <= scores[key] <= scores[f"{key}_hi"]


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
