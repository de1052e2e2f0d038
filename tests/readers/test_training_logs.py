"""Samples that are logged in training by verl and TRL, against the means that these report."""

import json

import at_k
import pytest
from logs import FIXTURES, mean_of, pass_at_k_of
from run_command import error_of, output_of

VERL = FIXTURES / "verl"
TRL = FIXTURES / "trl" / "completions_00001.parquet"


def test_generations_of_verl_give_its_means():
    metrics = json.loads((VERL / "validation_metrics.json").read_text())["sums"]
    assert mean_of(VERL / "100.jsonl", outcomes="acc") == metrics["acc"]["mean@4"]
    assert mean_of(VERL / "100.jsonl", outcomes="score") == metrics["reward"]["mean@4"]
    scores = pass_at_k_of(VERL / "100.jsonl", outcomes="acc")
    assert scores == pytest.approx({"pass@1": 0.5, "pass@2": 2 / 3, "pass@4": 0.75})


def test_acc_and_score_of_verl_are_not_confused(capsys):
    error = error_of(capsys, "gpassk", VERL / "100.jsonl")
    assert "acc and score" in error
    assert "--outcomes" in error


def test_samples_of_verl_can_be_checked_again(capsys):
    arguments = at_k.read(VERL / "100.jsonl", predictions="pred")
    checked = at_k.load("gpassk").compute(**arguments, k=[1, 2, 4], include=["pass@k"])
    assert checked == pytest.approx(pass_at_k_of(VERL / "100.jsonl", outcomes="acc"))


def test_completions_of_trl_give_its_means(capsys):
    logged = json.loads((FIXTURES / "trl" / "logged.json").read_text())
    for name in ("is_three", "is_short"):
        assert mean_of(TRL, outcomes=name) == pytest.approx(logged[f"rewards/{name}/mean"])
    assert pass_at_k_of(TRL, outcomes="is_three") == {"pass@1": 0.25, "pass@2": 0.5, "pass@4": 1.0}
    assert "is_three and is_short" in error_of(capsys, "gpassk", TRL)


def test_a_reward_of_trl_that_is_nan_is_not_scored(tmp_path):
    import pandas

    frame = pandas.read_parquet(TRL)
    frame.loc[0, "is_three"] = float("nan")
    frame.to_parquet(tmp_path / "completions_00001.parquet")
    read = at_k.read(tmp_path / "completions_00001.parquet", outcomes="is_three")
    assert read["predictions"] == [[None, 0, 1, 0], [0, 0, 1, 0]]


def test_the_first_line_names_the_harness(capsys):
    printed = output_of(capsys, "gpassk", VERL / "100.jsonl", "--outcomes", "acc", "--k", 1)
    assert printed.startswith("verl: 4 questions, 4 samples each")
