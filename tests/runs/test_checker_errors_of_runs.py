"""Comparisons of runs whose checker errs: coverage, and what has to be given."""

import re

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from run_command import output_of, scores_of, write_runs
from scored import gpassk

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
    result = at_k.compare(called[0], called[1], k=[1, 3], checker_rates=(0.9, 0.1))
    for name, run in zip("ab", called, strict=True):
        options = {"k": [1, 3], "include": "pass@k", "checker_rates": (0.9, 0.1)}
        scores = gpassk(run, **options)
        for k in (1, 3):
            assert result[f"pass@{k}_{name}"] == pytest.approx(scores[f"pass@{k}"])


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_labels_widen_the_interval_of_known_rates(interval):
    _, called, _ = judged_pair(np.random.default_rng(4), 60, 6)
    counts = {"tp": 90, "fn": 10, "fp": 10, "tn": 90}
    known = at_k.compare(called[0], called[1], k=2, interval=interval, checker_rates=(0.9, 0.1))
    estimated = at_k.compare(called[0], called[1], k=2, interval=interval, labels=(counts, counts))
    assert estimated["pass@2"] == pytest.approx(known["pass@2"])
    assert estimated["pass@2_lo"] < known["pass@2_lo"]
    assert estimated["pass@2_hi"] > known["pass@2_hi"]


def test_runs_that_were_read_with_labels_bring_them():
    _, called, labels = judged_pair(np.random.default_rng(5), 40, 4)
    runs = [{"predictions": x.tolist(), "labels": y} for x, y in zip(called, labels, strict=True)]
    assert at_k.compare(runs[0], runs[1], k=2) == at_k.compare(
        called[0], called[1], k=2, labels=(labels[0], labels[1])
    )


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
