"""Details of lighteval, against the scores in its own file of results."""

import json
import shutil

import at_k
import pytest
from at_k.integrations.request import ScoreRequest
from logs import mean_of, pass_at_k_of, the_file
from scored import gpassk

RESULTS = json.loads(the_file("lighteval/results/*/*/results_*.json").read_text())["results"]


def details_of(task):
    return the_file(f"lighteval/details/*/*/*/details_{task}_*.parquet")


def test_samples_give_the_pass_at_k_of_lighteval():
    scores = pass_at_k_of(details_of("sums_pass"))
    for k in (1, 2, 4):
        assert scores[f"pass@{k}"] == pytest.approx(RESULTS["sums_pass|0"][f"pass@k:k={k}&n=4"])


def test_samples_give_the_g_pass_at_k_of_lighteval():
    arguments = at_k.read(details_of("sums_pass"))
    scores = gpassk(**arguments, k=2)
    for tau in (0.25, 0.5, 0.75, 1.0):
        expected = RESULTS["sums_pass|0"][f"g-pass@2_{tau}"]
        assert scores[f"G-Pass@2_{tau}"] == pytest.approx(expected)


def test_reasoning_is_removed_as_in_lighteval():
    predictions = at_k.read(details_of("sums_pass"))["predictions"]
    assert ["3", "4", "3", "5"] in [list(samples) for samples in predictions]


@pytest.mark.parametrize(("task", "metric"), [("sums_once", "em"), ("sums_choice", "acc")])
def test_the_metric_of_a_document_with_one_response_is_its_outcome(task, metric):
    assert mean_of(details_of(task)) == RESULTS[f"{task}|0"][metric]


def test_lighteval_reports_the_scores_and_limits_of_the_metric_of_this_package():
    scores = gpassk(
        **at_k.read(details_of("sums_at_k")),
        k=[1, 2],
        include=["pass@k", "pass^k"],
        confidence=0.95,
        interval="questions",
    )
    results = RESULTS["sums_at_k|0"]
    for name in ("pass@1", "pass@2", "pass^2"):
        assert results[name] == pytest.approx(scores[name], rel=1e-12)

    # The function that lighteval calls gives the limits of this release.
    correct = [0, 4, 2, 2]
    outcomes = [[1.0] * c + [0.0] * (4 - c) for c in correct]
    request = ScoreRequest([1, 2], ["pass@k", "pass^k"], "questions", 0.95)
    values, problems = request.values(outcomes, ["a", "b", "c", "d"])
    assert not problems
    assert values.keys() == results.keys()
    for name, value in values.items():
        key = name.replace("_stderr", "_sigma")
        assert value == pytest.approx(scores[key], rel=1e-12)


def test_a_folder_is_read_as_the_newest_details_of_each_task(tmp_path):
    details = [details_of("sums_at_k"), details_of("sums_pass")]
    folder = tmp_path / "details" / "org" / "model" / "2026-01-01T00-00-00.000000"
    folder.mkdir(parents=True)
    for file in details:
        shutil.copy(file, folder)
    expected = at_k.read(details)
    assert at_k.read(tmp_path) == at_k.read(tmp_path / "details") == expected
    assert set(expected["groups"]) == {"sums_at_k|0", "sums_pass|0"}
    shutil.copytree(folder, folder.with_name("2020-01-01T00-00-00.000000"))
    with pytest.warns(UserWarning, match=r"without .*2020-01-01"):
        assert at_k.read(tmp_path) == expected
