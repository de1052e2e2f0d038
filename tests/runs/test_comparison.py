"""Comparison of two runs: identities, the band, coverage, a peer, and checkers that err."""

import json
import math
import re
from typing import Any

import at_k
import numpy as np
import passk_inference
import pytest
from at_k.cli.command import main
from at_k.intervals.band import simultaneous_confidence
from at_k.runs.comparison import differences_as_dict, differences_in
from conftest import ROOT
from run_command import output_of, scores_of, write_runs
from scipy.stats import norm
from scored import gpassk

METRICS = ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
INTERVALS = ("sampling", "questions")
SAMPLES = [ROOT / f"shared/at_k/samples/smollm2_{name}.jsonl" for name in ("cool", "warm")]


def two_runs(seed: int, questions: int = 40, samples: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Two runs on the same questions. The second has higher success rates."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 1.0, (questions, 1))
    a, b = (rng.random((questions, samples)) < rate for rate in (p, p**0.7))
    return a.astype(int), b.astype(int)


def limits(result: dict, key: str, band: str = "") -> tuple[float, float]:
    return result[f"{key}{band}_lo"], result[f"{key}{band}_hi"]


def keys_of(result: dict) -> list[str]:
    """The keys of the differences."""
    return [key for key in result if f"{key}_lo" in result and not key.endswith("_band")]


# --- Identities -------------------------------------------------------------------------


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("metric", METRICS)
def test_difference_of_a_run_from_itself_is_0(metric, interval):
    run, _ = two_runs(0)
    result = at_k.compare(run, run, metric, interval=interval)
    assert len(keys_of(result)) == 12
    for key in keys_of(result):
        assert result[key] == 0.0
        for band in ("", "_band"):
            lo, hi = limits(result, key, band)
            assert lo <= 0.0 <= hi


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("metric", ["Geom@k", "Geom_ds@k"])
def test_a_product_at_k_1_has_the_limits_of_pass_at_1(metric, interval):
    """Both factors are pass@1 then, and so is the square root of their product."""
    runs = (
        [[0, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 0]],
        [[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]],
    )
    product = at_k.compare(*runs, metric, k=1, interval=interval)
    expected = at_k.compare(*runs, "pass@k", k=1, interval=interval)
    assert list(product.values()) == pytest.approx(list(expected.values()), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_scores_and_limits_follow_from_those_of_each_run(metric):
    a, b = two_runs(2)
    shared: dict[str, Any] = {"k": [1, 4, 12], "confidence": 0.95, "interval": "sampling"}
    options: dict[str, Any] = {"tau": 0.75} if metric == "G-Pass@k" else {}
    result = at_k.compare(a, b, metric, **shared, **options)
    alone_a, alone_b = (gpassk(run, include=metric, thresholds=[0.75], **shared) for run in (a, b))
    assert len(keys_of(result)) == 3
    for key in keys_of(result):
        x, y = alone_a[key], alone_b[key]
        assert (result[f"{key}_a"], result[f"{key}_b"]) == pytest.approx((x, y), abs=1e-15)
        assert result[key] == pytest.approx(y - x, abs=1e-15)
        (x_lo, x_hi), (y_lo, y_hi) = limits(alone_a, key), limits(alone_b, key)
        lo = y - x - math.hypot(y - y_lo, x_hi - x)
        hi = y - x + math.hypot(y_hi - y, x - x_lo)
        assert limits(result, key) == pytest.approx((lo, hi), abs=1e-12)


@pytest.mark.parametrize("interval", INTERVALS)
def test_band_contains_each_interval_and_equals_it_if_there_is_one_k(interval):
    a, b = two_runs(3)
    result = at_k.compare(a, b, interval=interval)
    for key in keys_of(result):
        lo, hi = limits(result, key)
        band_lo, band_hi = limits(result, key, "_band")
        assert -1 <= band_lo < lo < hi < band_hi <= 1
    for k in (1, 5):
        alone = at_k.compare(a, b, k=k, interval=interval)
        assert limits(alone, f"pass@{k}", "_band") == limits(alone, f"pass@{k}")
        assert limits(alone, f"pass@{k}") == pytest.approx(limits(result, f"pass@{k}"), abs=1e-12)


def test_each_k_appears_once_in_ascending_order():
    a, b = two_runs(4)
    ragged = [row[: 5 + question % 3].tolist() for question, row in enumerate(b)]
    assert keys_of(at_k.compare(a, ragged)) == [f"pass@{k}" for k in range(1, 6)]
    assert keys_of(at_k.compare(a, b, "pass^k", [4, 2, 4])) == ["pass^2", "pass^4"]
    assert keys_of(at_k.compare(a, b, "G-Pass@k", 4)) == ["G-Pass@4_0.5"]


@pytest.mark.parametrize("group", [None, "", "a/b_lo", "pass@1_a"])
@pytest.mark.parametrize("metric", [*METRICS, "max@k", "avg@N"])
def test_differences_are_read_back_from_their_dict(metric, group):
    result = at_k.compare(*two_runs(4), metric, p_values=metric == "G-Pass@k")
    differences = [x._replace(group=group) for x in differences_in(result)]
    assert {x.metric for x in differences} == {metric}
    assert differences_in(differences_as_dict(differences)) == differences
    assert differences_as_dict(x._replace(group=None) for x in differences) == result


def test_pairing_of_questions_matters_for_new_questions_only():
    a, b = two_runs(6)
    shuffled = np.random.default_rng(0).permutation(b)
    for interval in INTERVALS:
        (lo, hi), (wide_lo, wide_hi) = (
            limits(at_k.compare(a, other, k=1, interval=interval), "pass@1")
            for other in (b, shuffled)
        )
        if interval == "questions":
            assert hi - lo < 0.8 * (wide_hi - wide_lo)
        else:
            assert (lo, hi) == pytest.approx((wide_lo, wide_hi), abs=1e-12)


def test_repeated_questions_count_once_if_they_share_a_cluster():
    a, b = two_runs(7)
    once = at_k.compare(a, b, k=4, interval="questions")
    clusters = [*range(len(a))] * 2
    twice = np.vstack([a, a]), np.vstack([b, b])
    clustered = at_k.compare(*twice, k=4, interval="questions", clusters=clusters)
    assert limits(clustered, "pass@4") == pytest.approx(limits(once, "pass@4"), rel=0.01)
    separate = at_k.compare(*twice, k=4, interval="questions")
    (lo, hi), (wide_lo, wide_hi) = (limits(each, "pass@4") for each in (separate, clustered))
    assert wide_hi - wide_lo > 1.3 * (hi - lo)


def test_interval_of_runs_that_always_agree_allows_for_a_question_where_they_do_not():
    outcomes = [[1], [0]] * 50
    lo, hi = limits(at_k.compare(outcomes, outcomes, interval="questions"), "pass@1")
    assert -0.04 < lo < -0.01
    assert 0.01 < hi < 0.04


# --- The band ---------------------------------------------------------------------------


def test_band_of_equal_errors_is_an_interval_and_that_of_unrelated_errors_is_bonferronis():
    assert simultaneous_confidence(np.ones((9, 9)), 0.95) == pytest.approx(0.95, abs=1e-12)
    unrelated = np.diag([1.0, 4.0, 9.0])
    assert simultaneous_confidence(unrelated, 0.9) == pytest.approx(1 - 0.1 / 3)
    opposite = np.outer([1, -1, 1], [1, -1, 1])  # |Z| is the same
    assert simultaneous_confidence(opposite, 0.95) == pytest.approx(0.95, abs=1e-12)
    assert simultaneous_confidence(np.zeros((4, 4)), 0.9) == pytest.approx(1 - 0.1 / 4)
    assert simultaneous_confidence(np.eye(2), math.nextafter(1.0, 0.0)) < 1.0


@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_band_of_normal_errors_covers_and_is_hardly_too_wide(correlation, confidence):
    m, runs = 20, 20_000
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    errors = np.random.default_rng(0).multivariate_normal(np.zeros(m), covariance, runs)
    z = norm.ppf((1 + simultaneous_confidence(covariance, confidence)) / 2)
    coverage = np.mean(np.abs(errors).max(axis=1) <= z)
    monte_carlo_error = math.sqrt(confidence * (1 - confidence) / runs)
    assert coverage > confidence - 3 * monte_carlo_error
    assert coverage < confidence + 0.6 * (1 - confidence)


RUNS = 250
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)  # four standard errors below


@pytest.mark.parametrize("interval", INTERVALS)
def test_intervals_and_bands_have_their_nominal_coverage(interval):
    rng, samples, questions = np.random.default_rng(8), 8, 40
    ks = np.arange(1, samples + 1)

    def pass_at_each_k(p):
        return np.mean(1 - (1 - p[:, None]) ** ks, axis=0)

    def rates(size):
        p = rng.beta(0.5, 1.0, size)
        return p, p**0.8

    population = [pass_at_each_k(p) for p in rates(1_000_000)]
    at_each, at_all = np.zeros(samples), 0.0
    for _ in range(RUNS):
        p = rates(questions)
        run_a, run_b = (rng.random((questions, samples)) < each[:, None] for each in p)
        a, b = population if interval == "questions" else map(pass_at_each_k, p)
        result = at_k.compare(run_a, run_b, interval=interval)
        lo, hi, band_lo, band_hi = (
            np.array([result[f"pass@{k}_{limit}"] for k in ks])
            for limit in ("lo", "hi", "band_lo", "band_hi")
        )
        at_each += (lo <= b - a) & (b - a <= hi)
        at_all += np.all((band_lo <= b - a) & (b - a <= band_hi))
    assert np.all(at_each / RUNS > LEAST)
    assert at_all / RUNS > LEAST


@pytest.mark.parametrize(("questions", "share"), [(8, 0.15), (20, 0.08)])
def test_intervals_cover_where_one_run_fails_on_a_rare_kind_of_questions(questions, share):
    """From the correlation of the questions that were seen, the coverage is 0.71 to 0.76."""
    rng, n, runs = np.random.default_rng(4), 100, 200
    truth, covered = -share * 0.9 * 0.5, 0
    for _ in range(runs):
        rates = rng.beta(0.6, 0.6, questions)
        rates_b = np.where(rng.random(questions) < share, 0.1 * rates, rates)
        a, b = (at_k.Counts([n] * questions, rng.binomial(n, p)) for p in (rates, rates_b))
        result = at_k.compare(a, b, k=1)
        covered += result["pass@1_lo"] <= truth <= result["pass@1_hi"]
    assert covered > 0.92 * runs


# --- A published package ----------------------------------------------------------------


def test_scores_and_band_agree_with_those_of_a_published_package(capsys):
    flags = ("--check-correct-fn", "numeric", "--interval", "questions")
    scores = scores_of(capsys, "compare", *SAMPLES, *flags)
    correct = []
    options = {"check_correct_fn": "numeric", "k": 1, "include": "pass@k"}
    for file in SAMPLES:
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        predictions, references = ([row[x] for row in rows] for x in ("predictions", "reference"))
        scores_of_run = gpassk(
            predictions, references=references, return_per_question=True, **options
        )
        correct.append([round(32 * x) for x in scores_of_run["per_question"]["pass@1"]])
    n = [32] * 94
    peer = passk_inference.compare(correct[0], n, correct[1], n)
    keys = keys_of(scores)
    np.testing.assert_allclose([scores[key] for key in keys], peer["mean"], atol=1e-12)
    band_lo, band_hi = (
        np.array([scores[f"{key}_band_{limit}"] for key in keys]) for limit in ("lo", "hi")
    )
    ours, theirs = band_hi - band_lo, np.subtract(peer["upper"], peer["lower"])
    # Theirs is of first order, with random numbers.
    np.testing.assert_allclose(ours, theirs, rtol=0.08)
    behind, ahead = np.flatnonzero(band_hi < 0) + 1, np.flatnonzero(band_lo > 0) + 1
    assert behind.tolist() == peer["certified_negative_budgets"] == [1, 2, 3]
    # At k = 9 both limits are near 0, and theirs are random.
    assert ahead.tolist() == [*range(10, 33)]
    assert peer["certified_positive_budgets"] in ([*range(9, 33)], ahead.tolist())


# --- Errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["pass@2", "G-Pass@2_0.5", "vote@2", "max@2"])
def test_a_key_is_a_score_at_its_k(metric):
    rng = np.random.default_rng(3)
    answers = rng.choice(["x", "y", "z"], (2, 12, 4)).tolist()
    a, b = ({"predictions": run, "references": ["x"] * 12} for run in answers)
    if metric == "max@2":
        a, b = ({"predictions": run} for run in rng.random((2, 12, 4)).round(2).tolist())
    name = f"{metric.partition('@')[0]}@k"
    assert at_k.compare(a, b, metric) == at_k.compare(a, b, name, 2, tau=0.5)


# --- A checker that errs ----------------------------------------------------------------

JUDGES = {"a": (0.95, 0.03), "b": (0.98, 0.12)}  # which favors run b


def judged_pair(rng: np.random.Generator, questions: int, n: int):
    """Return success rates, results of a checker, and labels of a quarter of the samples."""
    q = rng.beta(1.2, 1, questions)
    rates, called, labels = [q, np.clip(q + 0.08, 0, 1)], [], []
    for of_run, (t, f) in zip(rates, JUDGES.values(), strict=True):
        truth = rng.random((questions, n)) < of_run[:, None]
        called.append((rng.random(truth.shape) < np.where(truth, t, f)).astype(int))
        given = truth.astype(object)
        given[rng.random(truth.shape) > 0.25] = None
        labels.append(given.tolist())
    return rates, called, labels


def test_intervals_cover_where_a_judge_favors_one_run():
    rng = np.random.default_rng(2)
    covered: list[bool] = []
    covered_without: list[bool] = []
    for _ in range(60):
        (a, b), called, labels = judged_pair(rng, 100, 6)
        truth = np.mean((1 - a) ** 2 - (1 - b) ** 2)
        for results, options in ((covered, {"labels": labels}), (covered_without, {})):
            difference = at_k.compare(called[0], called[1], k=2, **options)
            results.append(difference["pass@2_lo"] <= truth <= difference["pass@2_hi"])
    assert np.mean(covered) > 0.88
    assert np.mean(covered_without) < 0.75


def test_known_rates_give_the_scores_of_gpassk():
    _, called, _ = judged_pair(np.random.default_rng(3), 40, 6)
    options: dict[str, Any] = {"k": [1, 3], "checker_rates": (0.9, 0.1)}
    result = at_k.compare(called[0], called[1], **options)
    for name, run in zip("ab", called, strict=True):
        scores = gpassk(run, include="pass@k", **options)
        for k in (1, 3):
            assert result[f"pass@{k}_{name}"] == pytest.approx(scores[f"pass@{k}"])


@pytest.mark.parametrize("interval", INTERVALS)
def test_labels_widen_the_interval_of_known_rates(interval):
    _, called, _ = judged_pair(np.random.default_rng(4), 60, 6)
    counts = {"tp": 90, "fn": 10, "fp": 10, "tn": 90}
    options: dict[str, Any] = {"k": 2, "interval": interval}
    known = at_k.compare(called[0], called[1], checker_rates=(0.9, 0.1), **options)
    estimated = at_k.compare(called[0], called[1], labels=(counts, counts), **options)
    assert estimated["pass@2"] == pytest.approx(known["pass@2"])
    assert estimated["pass@2_lo"] < known["pass@2_lo"]
    assert estimated["pass@2_hi"] > known["pass@2_hi"]


def test_runs_that_were_read_with_labels_bring_them():
    _, called, labels = judged_pair(np.random.default_rng(5), 40, 4)
    runs = [{"predictions": x.tolist(), "labels": y} for x, y in zip(called, labels, strict=True)]
    expected = at_k.compare(called[0], called[1], k=2, labels=(labels[0], labels[1]))
    assert at_k.compare(runs[0], runs[1], k=2) == expected


def test_the_command_corrects_by_the_labels_of_both_files(capsys, tmp_path):
    _, called, labels = judged_pair(np.random.default_rng(7), 40, 6)
    labels = [[[x if x is None else int(x) for x in row] for row in of_run] for of_run in labels]
    files = [
        write_runs(tmp_path, {name: rows.tolist()}, id=int, human=given.__getitem__)[0]
        for name, rows, given in zip("ab", called, labels, strict=True)
    ]
    printed = scores_of(capsys, "compare", *files, "--labels", "human", "--k", 2)
    expected = at_k.compare(called[0], called[1], k=2, labels=labels)
    assert printed["pass@2"] == pytest.approx(expected["pass@2"])
    assert printed["pass@2_lo"] == pytest.approx(expected["pass@2_lo"])
    text = " ".join(output_of(capsys, "compare", *files, "--labels", "human", "--k", 2).split())
    assert "corrected for a judge with a true-positive rate of" in text
    rates = ("--checker-rates", 0.95, 0.02)
    for options in (("--k", 1, 2, *rates), ("--k", 1, *rates), ("--labels", "human", "--k", 1, 2)):
        chart = tmp_path / "chart.svg"
        output_of(capsys, "compare", *files, *options, "--plot", chart)
        words = re.sub(r"<[^>]*>|\s+", " ", chart.read_text())
        assert "corrected for a judge" in " ".join(words.split())


def test_the_limits_of_a_corrected_difference_stay_in_its_range():
    runs = np.zeros((40, 4), int), np.ones((40, 4), int)
    result = at_k.compare(*runs, k=1, checker_rates=(1, 0.02))
    assert -1 <= result["pass@1_lo"] <= result["pass@1_hi"] == 1


@pytest.mark.filterwarnings("always:.*The corrected pass@2")
def test_a_corrected_score_that_falls_with_k_is_said(capsys, tmp_path):
    # Each question is called correct throughout or not at all, as no independent errors do.
    runs = {"falling": [[1] * 6] * 5 + [[0] * 6] * 5, "varied": [[1, 0, 1, 1, 0, 1]] * 10}
    files = write_runs(tmp_path, runs)
    with pytest.warns(UserWarning, match="R_a: The corrected pass@2, .* is below pass@1"):
        at_k.compare(runs["falling"], runs["varied"], k=2, checker_rates=(0.7, 0.3))
    output = output_of(capsys, "compare", *files, "--k", 2, "--checker-rates", 0.7, 0.3)
    words = "the corrected pass@k of falling falls with k, which no success rates allow"
    assert words in " ".join(output.split())
    output = output_of(capsys, "compare", *files[::-1], "--k", 1, "--checker-rates", 0.7, 0.3)
    assert "falls with k" not in output
    main(["gate", str(files[0]), "--k", "2", "--at-least", "0.5", "--checker-rates", "0.7", "0.3"])
    assert "The corrected pass@2, 0.000, is below pass@1, 0.500" in capsys.readouterr().err
