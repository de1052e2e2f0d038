"""The metric for lm-evaluation-harness, which the recipe lm_eval_task.py runs in the harness."""

import json
import math
import pickle

import pytest
from at_k.integrations.lm_eval import at_k as at_k_metric
from lm_eval.api.registry import get_aggregation, get_metric, get_metric_aggregation
from scored import gpassk

RESPONSES = [["3", "4", "3", "3"], ["4", "4", "5", "4"], ["1", "1", "1", "1"], ["9", "8", "7", "9"]]
TARGETS = ["3", "5", "2", "9"]


def scores_of_task(**options):
    """Return what the harness gets: each document is scored, then each score of the task."""
    rows = [
        at_k_metric(references=[target], predictions=[responses], **options)
        for target, responses in zip(TARGETS, RESPONSES, strict=True)
    ]
    rows = pickle.loads(pickle.dumps(rows))  # as between the processes of the harness
    of_task = get_aggregation("at_k")
    return {name: of_task([row[name] for row in rows]) for name in rows[0]}, rows


def test_the_scores_of_a_task_are_those_of_gpassk():
    scores, rows = scores_of_task(k=[1, 2], interval="questions")
    expected = gpassk(
        RESPONSES,
        references=TARGETS,
        k=[1, 2],
        include=["pass@k", "pass^k"],
        confidence=0.95,
        interval="questions",
    )
    for name in ("pass@1", "pass@2_lo", "pass^2_hi"):
        assert scores[name] == pytest.approx(expected[name], rel=1e-12)
    assert scores["pass^2_stderr"] == pytest.approx(expected["pass^2_sigma"], rel=1e-12)
    assert [row["pass@1"] for row in rows] == [0.75, 0.25, 0, 0.5]
    assert json.loads(json.dumps(rows[0]))["pass@2"] == 1.0


def test_k_above_the_number_of_responses_is_nan_and_a_line_of_the_log(caplog):
    scores, _ = scores_of_task(k=[4, 8], interval="questions")
    assert scores["pass@4"] == 0.75
    assert all(math.isnan(scores[name]) for name in ("pass@8", "pass@8_lo", "pass@8_stderr"))
    assert "4 questions with fewer than 8 scored samples" in caplog.text


def test_a_filter_that_keeps_one_response_has_no_pass_at_k_and_is_named(caplog):
    rows = [
        at_k_metric(
            references=[target], predictions=[[answer]], k=[1, 4], check_correct_fn="numeric"
        )
        for target, answer in (("3", "4"), ("5", "4"))
    ]
    scores = {name: get_aggregation("at_k")([row[name] for row in rows]) for name in rows[0]}
    assert scores["pass@1"] == 0
    assert all(math.isnan(scores[name]) for name in ("pass@4", "pass@4_lo", "pass@4_hi"))
    assert "2 questions with one scored sample each: no scores at k = 4" in caplog.text
    assert "filter: [{function: take_first_k, k: 8}]" in caplog.text
    assert "whole texts are compared" not in caplog.text  # numeric does not


def test_one_response_is_a_text_and_several_targets_are_an_error():
    row = at_k_metric(references=["3"], predictions=["It is 3"], check_correct_fn="numeric")
    assert row["pass@1"] == 1
    with pytest.raises(ValueError, match="several targets"):
        row["at_k"]  # the harness looks it up for each of several targets


def test_the_harness_knows_the_metric_by_its_name():
    assert get_metric("at_k") is at_k_metric
    assert get_metric_aggregation("at_k") is get_aggregation("at_k")
