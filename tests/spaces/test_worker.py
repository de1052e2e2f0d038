"""What worker processes do for requests, without a server."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

# Apps are imported as in a worker process. Checks with math_verify are counted.
CODE = """
import importlib.util, json, os, sys, tempfile
sys.path.insert(0, sys.argv[1])
from at_k.inputs import checking
from page import worker
from page.question_table import question_headers, question_rows, samples_html
from page.request import make_request

checked = []

def check(prediction, reference):
    checked.append((prediction, reference))
    return int(prediction == reference), prediction

checking.math_verify = check
checking.check_references = lambda references: None
os.chdir(tempfile.mkdtemp())
answers = []
for name, text, checker, options in json.loads(sys.argv[2]):
    spec = importlib.util.spec_from_file_location(name, f"{sys.argv[1]}/{name}/app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    checked.clear()
    request = make_request(app.SPACE, checker, options, text=text)
    answer = worker._score(request, lambda progress: None)
    table = [question_headers(app.SPACE, answer), *question_rows(app.SPACE, answer)]
    html = samples_html(app.SPACE, answer, 0)
    answers.append({"checked": sorted(checked), "table": table, "samples": html})
print(json.dumps(answers))
"""

MATH = """\
{"predictions": ["1", "2", "1", "3"], "reference": "1", "question": "1 + 0?"}
{"predictions": ["2", "2", "1", null], "reference": "2", "question": "1 + 1?"}
"""
REQUESTS = {
    "votes": ("cons_at_k", MATH, "math_verify", {"k": 2}),
    "checked": ("gpassk", MATH, "math_verify", {"k": 2}),
    "numbers": ("gpassk", "id,reference,1,2\nq7,12,= 12,none\n", "numeric", {"k": 2}),
    "counts": ("gpassk", "question_id,n,correct\nq1,6,2\nq2,6,6\n", "exact_match", {"k": 2}),
    "rewards": ("max_at_k", '{"rewards": [0.25, 0.75]}', "exact_match", {"k": 2}),
    "grades": (
        *("bayes_at_n", '{"id": "q1", "outcomes": ["A", "C"]}', "exact_match"),
        {"categories": "C, B, A", "w": "0, 0.5, 1"},
    ),
    "verdicts": ("score_agg", "answer,statement,verdict\na,s1,Fully\na,s2,none\n", "numeric", {}),
}


@pytest.fixture(scope="module")
def answers():
    requests = json.dumps([*REQUESTS.values()])
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    command = [sys.executable, "-c", CODE, str(ROOT / "spaces"), requests]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(zip(REQUESTS, json.loads(done.stdout), strict=True))


def test_each_distinct_pair_is_checked_once_in_a_request(answers):
    pairs = [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"], ["3", "1"]]
    assert answers["votes"]["checked"] == answers["checked"]["checked"] == pairs


def test_the_table_of_questions_has_outcomes_scores_and_texts(answers):
    assert answers["checked"]["table"] == [
        ["#", "question", "correct", "pass@2", "pass^2", "text"],
        [1, "1", "2 of 4", "0.833", "0.167", "1 + 0?"],
        [2, "2", "2 of 3", "1.000", "0.333", "1 + 1?"],
    ]
    headers, *rows = answers["votes"]["table"]
    assert headers == ["#", "question", "correct", "cons@2", "pass@2", "maj@2", "vote@2", "text"]
    assert rows[0] == [1, "1", "2 of 4", "1.000", "0.833", "0.167", "0.500", "1 + 0?"]


def test_samples_are_shown_with_their_outcome_and_with_the_number_that_was_read(answers):
    assert answers["numbers"]["table"][1] == [1, "q7", "1 of 2", "1.000", "0.000"]
    html = answers["numbers"]["samples"]
    assert "<code>12</code>, checked with numeric" in html
    assert "<span>correct</span> <code>= 12</code> <small>12</small>" in html
    assert "<span>incorrect</span> <code>none</code> <small>no number</small>" in html


def test_the_table_of_questions_has_counts_rewards_grades_and_verdicts(answers):
    tables = {name: answer["table"] for name, answer in answers.items()}
    assert tables["counts"] == [
        ["#", "question", "correct", "pass@2", "pass^2"],
        [1, "q1", "2 of 6", "0.600", "0.067"],
        [2, "q2", "6 of 6", "1.000", "1.000"],
    ]
    assert "2 of 6 samples are correct." in answers["counts"]["samples"]
    assert tables["rewards"] == [["#", "question", "mean", "max@2"], [1, "1", "0.500", "0.750"]]
    assert "<li><span>0.25</span></li>" in answers["rewards"]["samples"]
    assert tables["grades"] == [
        ["#", "question", "mean", "bayes@2", "avg@2"],
        [1, "q1", "0.500", "0.500", "0.500"],
    ]
    assert "<span>1</span> <code>A</code>" in answers["grades"]["samples"]
    assert tables["verdicts"] == [["#", "answer", "mean", "score_agg"], [1, "a", "0.500", "0.450"]]
    assert "<span>0</span> <code>none</code>" in answers["verdicts"]["samples"]
