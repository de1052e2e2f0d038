"""The command `at-k gate` and `at_k.testing`: verdicts, exit statuses and formats."""

import json

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from at_k.testing import assert_at_least, assert_not_worse
from run_command import write_json_lines, write_runs
from scored import gpassk

RNG = np.random.default_rng(11)
RATES = RNG.uniform(size=(40, 1))
OUTCOMES = (RNG.uniform(size=(40, 12)) < RATES).astype(int).tolist()
BASELINE = (RNG.uniform(size=(40, 12)) < RATES).astype(int).tolist()


@pytest.fixture(name="file")
def outcome_file(tmp_path):
    return write_runs(tmp_path, {"new": OUTCOMES})[0]


@pytest.fixture(name="baseline")
def baseline_file(tmp_path):
    return write_runs(tmp_path, {"old": BASELINE})[0]


def verdict_of(capsys, *arguments):
    """Return the record of a gate, whose status is the exit status."""
    status = main(["gate", *map(str, arguments), "--format", "json"])
    record = json.loads(capsys.readouterr().out)
    assert record["exit_status"] == status
    return record


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize("score", [("pass@k", "pass@3"), ("pass^k", "pass^3")])
def test_the_limits_are_those_of_compute_and_decide_the_status(capsys, file, score, interval):
    include, key = score
    options = {"k": 3, "include": include, "confidence": 0.9, "interval": interval}
    scores = gpassk(OUTCOMES, **options)
    lo, hi = scores[f"{key}_lo"], scores[f"{key}_hi"]
    flags = ("--include", include, "--k", 3, "--confidence", 0.9, "--interval", interval)
    for threshold, status in [
        (lo - 1e-6, 0),
        (lo + 1e-6, 3),
        (scores[key], 3),
        (hi - 1e-6, 3),
        (hi + 1e-6, 1),
    ]:
        record = verdict_of(capsys, file, *flags, "--at-least", threshold)
        assert (record["exit_status"], record["key"]) == (status, key)
        assert [record["lo"], record["hi"]] == pytest.approx([lo, hi])
        assert record["score"] == scores[key]  # to the last digit, as both are rounded
        limits = f"{scores[key]:.4f} (90 % confidence interval {lo:.4f} to {hi:.4f},"
        assert limits in record["message"]


def test_the_limits_of_a_difference_are_those_of_compare(capsys, tmp_path, file, baseline):
    difference = at_k.compare(BASELINE, OUTCOMES, k=2, interval="questions")
    lo, hi = difference["pass@2_lo"], difference["pass@2_hi"]
    flags = (file, "--baseline", baseline, "--k", 2, "--interval", "questions", "--margin")
    assert verdict_of(capsys, *flags, max(0, -lo) + 1e-6)["status"] == "shown"
    (better,) = write_runs(tmp_path, {"best": [[1] * 12 for _ in OUTCOMES]})
    record = verdict_of(capsys, file, "--baseline", better)
    assert (record["status"], record["threshold"]) == ("contrary", 0)
    undecided = verdict_of(capsys, *flags, 0)
    assert undecided["status"] == "undecided"
    assert (undecided["lo"], undecided["hi"]) == (lo, hi)
    assert undecided["score"] - undecided["baseline"] == difference["pass@2"]


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("above", [True, False])
def test_as_many_questions_as_are_named_would_decide(capsys, tmp_path, above, k):
    """With the same questions several times, the estimate stays: the named number decides."""
    threshold = at_k.pass_at_k(OUTCOMES, k) + (-0.03 if above else 0.03)
    flags = ("--at-least", threshold, "--k", k)

    def record_of(repetitions):
        rows = [{"outcomes": row} for row in OUTCOMES * repetitions]
        return verdict_of(capsys, write_json_lines(tmp_path / "more.jsonl", rows), *flags)

    more = record_of(1)["more_questions"]
    enough = -(-(len(OUTCOMES) + more) // len(OUTCOMES))
    assert record_of(enough + 1)["status"] == ("shown" if above else "contrary")
    assert record_of(int(enough * 0.8))["status"] == "undecided"


def test_no_number_of_samples_decides_a_score_that_differs_by_rounding():
    rows = [[1] * i + [0] * (10 - i) for i in (7, 0, 0, 6, 9)]  # of mean 0.44 - 6e-17
    for assertion in (
        lambda: assert_at_least(rows, 0.44),
        lambda: assert_not_worse(rows, rows, margin=5e-324),
    ):
        with pytest.raises(AssertionError, match="No number of questions would decide"):
            assertion()


def test_the_last_line_says_which_of_the_three_holds_and_what_would_decide(capsys, file):
    undecided = round(float(np.mean(OUTCOMES)), 2) + 0.01
    for threshold, words in [
        (0.1, "Shown: the score is at least 0.1. pass@1 is "),
        (0.95, "The contrary is shown: the score is below 0.95. pass@1 is "),
        (undecided, "Not decided: the score may or may not be at least "),
    ]:
        for interval, unit in (
            ("questions", "questions"),
            ("sampling", "samples of each question"),
        ):
            flags = ("--at-least", f"{threshold}", "--interval", interval)
            status = main(["gate", str(file), *flags])
            last = capsys.readouterr().out.splitlines()[-1]
            assert last.startswith(words)
            assert (f"more {unit} would decide" in last) == (status == 3)


def test_assertions_pass_fail_and_name_their_arguments():
    assert_at_least(OUTCOMES, 0.3)
    assert_at_least(at_k.Counts([12] * 40, np.sum(OUTCOMES, axis=1)), 0.3, k=2)
    assert_not_worse(OUTCOMES, BASELINE, margin=0.3)
    with pytest.raises(AssertionError, match=r"contrary is shown: the score is below 0.9"):
        assert_at_least(OUTCOMES, 0.9)
    with pytest.raises(AssertionError, match=r"Not decided.* more questions"):
        assert_not_worse(OUTCOMES, BASELINE)
    with pytest.raises(ValueError, match="threshold is inf"):
        assert_at_least(OUTCOMES, float("inf"))
    with pytest.raises(ValueError, match=r"R has 40 questions and baseline has 39"):
        assert_not_worse(OUTCOMES, BASELINE[1:])


LABELS = [[int(x) if i % 4 == 0 else None for i, x in enumerate(row)] for row in OUTCOMES]


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (("--labels", "human"), {"labels": LABELS}),
        (("--checker-rates", 0.9, 0.1), {"checker_rates": (0.9, 0.1)}),
    ],
)
@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_scores_and_limits_are_those_of_gpassk_if_the_checker_errs(
    capsys, tmp_path, flags, options, interval
):
    rows = [{"outcomes": x, "human": y} for x, y in zip(OUTCOMES, LABELS, strict=True)]
    file = write_json_lines(tmp_path / "labelled.jsonl", rows)
    scores = gpassk(OUTCOMES, k=1, include="pass@k", confidence=0.95, interval=interval, **options)
    record = verdict_of(capsys, file, *flags, "--interval", interval, "--at-least", 0.5)
    limits = [scores["pass@1_lo"], scores["pass@1_hi"]]
    assert [record["lo"], record["hi"]] == pytest.approx(limits)
    assert record["score"] == pytest.approx(scores["pass@1"])
    assert ("labels in proportion" in record["message"]) == ("labels" in options)


def test_clusters_and_not_questions_would_decide(capsys, tmp_path):
    rows = [{"id": i, "repo": i // 10, "passed": [1] * 7 + [0]} for i in range(60)]
    file = write_json_lines(tmp_path / "clusters.jsonl", rows)
    flags = ("--k", 1, "--clusters", "repo", "--at-least", 0.7)
    assert main([*map(str, ("gate", file, *flags))]) == 3
    assert "more clusters would decide" in capsys.readouterr().out
