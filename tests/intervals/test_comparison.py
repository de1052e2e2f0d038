"""Two banks of the same questions: identities, a published peer, coverage, files and errors."""

import json
import math
import re

import at_k
import numpy as np
import passk_inference
import pytest
from at_k.intervals.comparison import at_once
from conftest import ROOT
from run_command import scores_of
from scipy.stats import norm

METRICS = ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
BOTH = ("sampling", "questions")
SAMPLES = [ROOT / f"shared/at_k/samples/smollm2_{name}.jsonl" for name in ("cool", "warm")]


def two_banks(seed: int, questions: int = 40, samples: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Of the same questions, of which the second knows a little more."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 1.0, (questions, 1))
    a, b = (rng.random((questions, samples)) < rate for rate in (p, p**0.7))
    return a.astype(int), b.astype(int)


def ends(result: dict, key: str, band: str = "") -> tuple[float, float]:
    return result[f"{key}{band}_lo"], result[f"{key}{band}_hi"]


def keys_of(result: dict) -> list[str]:
    return [key for key in result if f"{key}_lo" in result and not key.endswith("_band")]


# --- Identities -------------------------------------------------------------------------


@pytest.mark.parametrize("interval", BOTH)
@pytest.mark.parametrize("metric", METRICS)
def test_a_bank_is_not_ahead_of_itself(metric, interval):
    bank, _ = two_banks(0)
    result = at_k.compare(bank, bank, metric, interval=interval)
    assert len(keys_of(result)) == 12
    for key in keys_of(result):
        assert result[key] == 0.0
        for band in ("", "_band"):
            lo, hi = ends(result, key, band)
            assert lo <= 0.0 <= hi


@pytest.mark.parametrize("interval", BOTH)
@pytest.mark.parametrize("metric", METRICS)
def test_the_other_way_round_is_the_mirror_image(metric, interval):
    a, b = two_banks(1)
    one, other = (at_k.compare(*pair, metric, interval=interval) for pair in ((a, b), (b, a)))
    assert list(one) == list(other)
    for key in keys_of(one):
        assert one[key] == -other[key]
        assert one[f"{key}_a"] == other[f"{key}_b"]
        for band in ("", "_band"):
            lo, hi = ends(other, key, band)
            assert ends(one, key, band) == pytest.approx((-hi, -lo), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_the_scores_and_their_intervals_are_those_of_the_banks_alone(gpassk, metric):
    a, b = two_banks(2)
    result = at_k.compare(a, b, metric, k=[1, 4, 12], tau=0.75)
    alone_a, alone_b = (
        gpassk.compute(
            predictions=bank,
            k=[1, 4, 12],
            include=metric,
            thresholds=[0.75],
            confidence=0.95,
            interval="sampling",
        )
        for bank in (a, b)
    )
    assert len(keys_of(result)) == 3
    for key in keys_of(result):
        x, y = alone_a[key], alone_b[key]
        assert (result[f"{key}_a"], result[f"{key}_b"]) == pytest.approx((x, y), abs=1e-15)
        assert result[key] == pytest.approx(y - x, abs=1e-15)
        (x_lo, x_hi), (y_lo, y_hi) = ends(alone_a, key), ends(alone_b, key)
        lo = y - x - math.hypot(y - y_lo, x_hi - x)
        hi = y - x + math.hypot(y_hi - y, x - x_lo)
        assert ends(result, key) == pytest.approx((lo, hi), abs=1e-12)


@pytest.mark.parametrize("interval", BOTH)
def test_a_band_holds_every_interval_and_is_one_where_there_is_one_k(interval):
    a, b = two_banks(3)
    result = at_k.compare(a, b, interval=interval)
    for key in keys_of(result):
        lo, hi = ends(result, key)
        band_lo, band_hi = ends(result, key, "_band")
        assert -1 <= band_lo < lo < hi < band_hi <= 1
    for k in (1, 5):
        alone = at_k.compare(a, b, k=k, interval=interval)
        assert ends(alone, f"pass@{k}", "_band") == ends(alone, f"pass@{k}")
        assert ends(alone, f"pass@{k}") == pytest.approx(ends(result, f"pass@{k}"), abs=1e-12)


def test_every_k_is_there_once_in_ascending_order():
    a, b = two_banks(4)
    ragged = [row[: 5 + question % 3].tolist() for question, row in enumerate(b)]
    assert keys_of(at_k.compare(a, ragged)) == [f"pass@{k}" for k in range(1, 6)]
    assert keys_of(at_k.compare(a, b, "pass^k", [4, 2, 4])) == ["pass^2", "pass^4"]
    assert keys_of(at_k.compare(a, b, "G-Pass@k", 4)) == ["G-Pass@4_0.5"]


def test_lists_arrays_and_what_is_not_scored_are_taken():
    a, b = two_banks(5)
    result = at_k.compare(a, b, k=2)
    assert at_k.compare(a.tolist(), b.astype(bool), k=2) == result
    assert at_k.compare([[*row, None] for row in a.tolist()], b, k=2) == result


def test_pairing_matters_for_new_questions_only():
    a, b = two_banks(6)
    shuffled = np.random.default_rng(0).permutation(b)
    for interval, narrower in (("sampling", False), ("questions", True)):
        (lo, hi), (far_lo, far_hi) = (
            ends(at_k.compare(a, other, k=1, interval=interval), "pass@1")
            for other in (b, shuffled)
        )
        if narrower:
            assert hi - lo < 0.8 * (far_hi - far_lo)
        else:
            assert (lo, hi) == pytest.approx((far_lo, far_hi), abs=1e-12)


def test_questions_asked_twice_count_once_if_they_share_a_cluster():
    a, b = two_banks(7)
    once = at_k.compare(a, b, k=4, interval="questions")
    labels = [*range(len(a))] * 2
    twice = np.vstack([a, a]), np.vstack([b, b])
    clustered = at_k.compare(*twice, k=4, interval="questions", clusters=labels)
    assert ends(clustered, "pass@4") == pytest.approx(ends(once, "pass@4"), rel=0.01)
    apart = at_k.compare(*twice, k=4, interval="questions")
    width, wider = (hi - lo for lo, hi in (ends(apart, "pass@4"), ends(clustered, "pass@4")))
    assert wider > 1.3 * width


def test_banks_that_agree_throughout_leave_room_for_a_question_in_which_they_do_not():
    bank = [[1], [0]] * 50
    lo, hi = ends(at_k.compare(bank, bank, interval="questions"), "pass@1")
    assert -0.04 < lo < -0.01
    assert 0.01 < hi < 0.04


# --- The band ---------------------------------------------------------------------------


def test_errors_that_move_as_one_need_no_wider_interval_and_unrelated_ones_bonferroni():
    assert at_once(np.ones((9, 9)), 0.95) == pytest.approx(0.95, abs=1e-12)
    assert at_once(np.diag([1.0, 4.0, 9.0]), 0.9) == pytest.approx(1 - 0.1 / 3)
    signs = np.outer([1, -1, 1], [1, -1, 1])  # of which |Z| is the same
    assert at_once(signs, 0.95) == pytest.approx(0.95, abs=1e-12)
    assert at_once(np.zeros((4, 4)), 0.9) == pytest.approx(1 - 0.1 / 4)
    assert at_once(np.eye(2), math.nextafter(1.0, 0.0)) < 1.0


@pytest.mark.parametrize("near", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_a_band_of_normal_errors_holds_as_often_as_it_says_and_hardly_more(near, confidence):
    m, runs = 20, 20_000
    covariance = near ** np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    errors = np.random.default_rng(0).multivariate_normal(np.zeros(m), covariance, runs)
    reach = norm.ppf((1 + at_once(covariance, confidence)) / 2)
    holds = np.mean(np.abs(errors).max(axis=1) <= reach)
    noise = math.sqrt(confidence * (1 - confidence) / runs)
    assert holds > confidence - 3 * noise
    assert holds < confidence + 0.6 * (1 - confidence)


RUNS = 250
# Four standard errors of a share of 250 runs, which a true 95 % stays within.
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("interval", BOTH)
def test_intervals_and_bands_hold_as_often_as_they_say(interval):
    rng, samples, questions = np.random.default_rng(8), 8, 40
    draws = np.arange(1, samples + 1)

    def curve(p):
        return np.mean(1 - (1 - p[:, None]) ** draws, axis=0)

    def rates(size):
        p = rng.beta(0.5, 1.0, size)
        return p, p**0.8

    whole = [curve(p) for p in rates(1_000_000)]
    at_each, at_all = np.zeros(samples), 0.0
    for _ in range(RUNS):
        p = rates(questions)
        bank_a, bank_b = (rng.random((questions, samples)) < each[:, None] for each in p)
        a, b = whole if interval == "questions" else map(curve, p)
        result = at_k.compare(bank_a, bank_b, interval=interval)
        lo, hi, band_lo, band_hi = (
            np.array([result[f"pass@{k}_{end}"] for k in draws])
            for end in ("lo", "hi", "band_lo", "band_hi")
        )
        at_each += (lo <= b - a) & (b - a <= hi)
        at_all += np.all((band_lo <= b - a) & (b - a <= band_hi))
    assert np.all(at_each / RUNS > LEAST)
    assert at_all / RUNS > LEAST


# --- A published peer, on the shipped samples ---------------------------------------------


def test_the_published_peer_finds_the_same_samples_ahead(capsys):
    flags = ("--check-correct-fn", "numeric", "--interval", "questions")
    scores = scores_of(capsys, "compare", *SAMPLES, *flags)
    right = []
    for file in SAMPLES:
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        each = at_k.load("gpassk").compute(
            predictions=[row["predictions"] for row in rows],
            references=[row["reference"] for row in rows],
            check_correct_fn="numeric",
            k=1,
            include="pass@k",
            return_per_question=True,
        )["per_question"]
        right.append([round(32 * share) for share in each["pass@1"]])
    n = [32] * 94
    peer = passk_inference.compare(right[0], n, right[1], n)
    keys = keys_of(scores)
    np.testing.assert_allclose([scores[key] for key in keys], peer["mean"], atol=1e-12)
    band_lo, band_hi = (
        np.array([scores[f"{key}_band_{end}"] for key in keys]) for end in ("lo", "hi")
    )
    ours, theirs = band_hi - band_lo, np.subtract(peer["upper"], peer["lower"])
    # Theirs is of the first order, and drawn at random.
    np.testing.assert_allclose(ours, theirs, rtol=0.08)
    behind, ahead = np.flatnonzero(band_hi < 0) + 1, np.flatnonzero(band_lo > 0) + 1
    assert behind.tolist() == peer["certified_negative_budgets"] == [1, 2, 3]
    assert ahead.tolist() == peer["certified_positive_budgets"] == [*range(10, 33)]


# --- Errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("banks", "options", "message"),
    [
        (([[1, 0]], [[1, 0], [0, 1]]), {}, "1 questions and the other 2"),
        (([[1, 0], [1, 2]], [[1, 0], [0, 1]]), {}, "R_a[1][1] is 2"),
        (([[1, 0], [1, 1]], [[1, 0], []]), {}, "R_b[1] is empty"),
        (([[1, 0]], [[1]]), {"k": 2}, "question 0 has n = 1"),
        (([[1, 0]], [[1, 0]]), {"k": 0}, "k is 0"),
        (([[1, 0]], [[1, 0]]), {"k": []}, "k is empty"),
        (([[1, 0]], [[1, 0]]), {"metric": "Geom@k"}, "metric has 'Geom@k'"),
        (([[1, 0]], [[1, 0]]), {"interval": "auto"}, "interval has 'auto'"),
        (([[1, 0]], [[1, 0]]), {"confidence": 95}, "confidence is 95"),
        (([[1, 0]], [[1, 0]]), {"metric": "G-Pass@k", "tau": 2}, "A threshold is 2"),
        (([[1, 0]], [[1, 0]]), {"interval": "questions"}, "one question"),
        (([[1], [0]], [[1, 0], [0, 1]]), {}, "one sample of each question"),
        (([[1, 0]], [[1, 0]]), {"clusters": ["x"]}, "clusters are for"),
        (
            ([[1, 0]] * 2, [[1, 0]] * 2),
            {"interval": "questions", "clusters": ["x"]},
            "clusters has 1 labels for 2 questions",
        ),
    ],
)
def test_what_is_wrong_is_said(banks, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        at_k.compare(*banks, **options)
