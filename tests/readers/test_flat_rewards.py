"""Rewards of consecutive samples, a group of them for each question."""

import array
import json

import at_k
import numpy as np
import pandas as pd
import pytest
from run_command import error_of, output_of, scores_of, write_json_lines

REWARDS = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.5, 0.25]
MATRIX = [REWARDS[:4], REWARDS[4:]]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_consecutive_rewards_belong_to_a_question(kind):
    assert at_k.read(kind(REWARDS), group_size=4) == {"predictions": MATRIX}


def test_rewards_that_are_missing_are_not_scored():
    rewards = [1, None, True, 0]
    with pytest.raises(ValueError, match="1 of 4 outcomes are missing"):
        at_k.read(rewards, group_size=2)
    read = at_k.read(rewards, group_size=2, missing="drop")
    assert read == {"predictions": [[1, None], [True, 0]]}


def test_rows_of_a_file_can_be_grouped(capsys, tmp_path):
    rows = [{"reward": reward} for reward in REWARDS]
    file = write_json_lines(tmp_path / "rewards.jsonl", rows)
    scores = scores_of(capsys, "max_at_k", file, "--group-size", 4, "--k", 1)
    assert scores == {"max@1": pytest.approx(np.mean(REWARDS))}
    printed = output_of(capsys, "max_at_k", file, "--group-size", 4, "--k", 1)
    assert "questions from every 4 rows" in printed


def test_a_group_with_two_prompts_is_refused(capsys, tmp_path):
    rows = [{"prompt": f"question {i // 4}", "reward": reward} for i, reward in enumerate(REWARDS)]
    file = write_json_lines(tmp_path / "rewards.jsonl", rows)
    assert "max@1" in output_of(capsys, "max_at_k", file, "--group-size", 4, "--k", 1)
    error = error_of(capsys, "max_at_k", file, "--group-size", 8, "--k", 1)
    assert "different values of prompt" in error


def test_rewards_without_a_group_size_are_refused(capsys, tmp_path):
    with pytest.raises(ValueError, match="as group_size"):
        at_k.read(REWARDS)
    file = tmp_path / "rewards.json"
    file.write_text(json.dumps([{"reward": reward} for reward in REWARDS]))
    assert "as group_size" in error_of(capsys, "max_at_k", file)


@pytest.mark.parametrize(
    ("source", "given", "message"),
    [
        (REWARDS, {"group_size": 3}, "8 rows, which is not a multiple of 3"),
        (REWARDS, {"group_size": 0}, "group_size is 0: give a positive integer"),
        ({"rewards": MATRIX}, {"group_size": 2}, "one sample in each row"),
        ({"rewards": REWARDS}, {"group_size": 4, "questions": "rewards"}, "not by both"),
    ],
)
def test_group_sizes_that_do_not_fit_are_refused(source, given, message):
    with pytest.raises(ValueError, match=message):
        at_k.read(source, **given)


@pytest.mark.parametrize("source", [array.array("d", REWARDS), [1, "b"], np.array([[1, 0]])])
def test_what_is_no_list_of_numbers_is_not_a_list_of_rewards(source):
    with pytest.raises((TypeError, ValueError)):
        at_k.read(source, group_size=2)
