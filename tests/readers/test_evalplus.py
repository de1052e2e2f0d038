"""Results of evalplus, against the pass@1 that it printed."""

import json

import pytest
from logs import FIXTURES, pass_at_k_of
from run_command import error_of, output_of

FOLDER = FIXTURES / "evalplus"
PRINTED = json.loads((FOLDER / "printed_pass_at_1.json").read_text())


def test_base_and_plus_give_what_evalplus_prints():
    for column, printed in zip(("base", "plus"), PRINTED["plus"], strict=True):
        scores = pass_at_k_of(FOLDER / "plus_eval_results.json", outcomes=column)
        assert scores["pass@1"] == pytest.approx(printed, abs=5e-4)


def test_base_and_plus_are_not_pooled(capsys):
    error = error_of(capsys, "gpassk", FOLDER / "plus_eval_results.json")
    assert "base and plus" in error
    assert "--outcomes" in error


def test_base_is_taken_if_plus_was_not_run(capsys):
    file = FOLDER / "base_only_eval_results.json"
    assert pass_at_k_of(file)["pass@1"] == pytest.approx(PRINTED["base_only"][0], abs=5e-4)
    assert output_of(capsys, "gpassk", file, "--k", 1).startswith("evalplus: 2 questions")
