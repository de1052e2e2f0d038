"""What worker processes do for requests, without a server."""

import json
import os
import subprocess
import sys

import at_k
import pytest
from conftest import ROOT

# Apps are imported as in a worker process. Checks with math_verify are counted.
CODE = """
import importlib.util, json, os, sys, tempfile
sys.path.insert(0, sys.argv[1])
from at_k.checkers import named
from page import worker
from page.question_table import question_headers, question_rows, samples_html
from page.request import make_request
from page.score_tables import paper_sentence, table_text

checked = []

def check_pairs(self, checking, pairs):
    checked.extend(pairs)
    yield 0, [((int(prediction == reference), prediction), None) for prediction, reference in pairs]

named.MathVerify._check_pairs = check_pairs
named.check_references = lambda references: None
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
    answers.append({
        "checked": sorted(checked),
        "table": table,
        "samples": html,
        "paper": paper_sentence(app.SPACE, answer),
        "markdown": table_text(app.SPACE, answer, "Markdown"),
        "notes": answer.warnings,
    })
print(json.dumps(answers))
"""

MATH = """\
{"predictions": ["1", "2", "1", "3"], "reference": "1", "question": "1 + 0?"}
{"predictions": ["2", "2", "1", null], "reference": "2", "question": "1 + 1?"}
"""
OUTCOMES = "".join(f'{{"outcomes": {row}}}\n' for row in ([1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]))
VERDICTS = '{"verdicts": ["fully", "none"]}\n{"verdicts": ["minor", "fully"]}'
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
    "other": ("gpassk", OUTCOMES, "exact_match", {"k": 2, "interval": "questions"}),
    "one each": ("gpassk", '{"outcomes": [1]}\n{"outcomes": [0]}', "exact_match", {"k": 1}),
    "shares": ("bayes_at_n", OUTCOMES, "exact_match", {}),
    "posterior": ("bayes_at_n", OUTCOMES, "exact_match", {"interval": "posterior"}),
    "real": (
        *("bayes_at_n", '{"rewards": [0.5, 4]}\n{"rewards": [1, 2.5]}', "exact_match"),
        {"interval": "questions"},
    ),
    "ten": ("gpassk", '{"predictions": ["so 10", "1e1"], "reference": "10"}', "numeric", {"k": 1}),
    "several verdicts": ("score_agg", VERDICTS, "numeric", {}),
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
        ["#", "question", "correct", "pass@2 (%)", "pass^2 (%)", "text"],
        [1, "1", "2 of 4", "83.3", "16.7", "1 + 0?"],
        [2, "2", "2 of 3", "100.0", "33.3", "1 + 1?"],
    ]
    headers, *rows = answers["votes"]["table"]
    names = [f"{name}@2 (%)" for name in ("vote", "maj", "cons", "pass")]  # vote@k leads
    assert headers == ["#", "question", "correct", *names, "text"]
    assert rows[0] == [1, "1", "2 of 4", "50.0", "16.7", "100.0", "83.3", "1 + 0?"]


def test_samples_are_shown_with_their_outcome_and_with_the_number_that_was_read(answers):
    assert answers["numbers"]["table"][1] == [1, "q7", "1 of 2", "100.0", "0.0"]
    html = answers["numbers"]["samples"]
    assert "<code>12</code>, checked with numeric" in html
    assert "<span>correct</span> <code>= 12</code> <small>12</small>" in html
    assert "<span>incorrect</span> <code>none</code> <small>no number</small>" in html


def test_the_table_of_questions_has_counts_rewards_grades_and_verdicts(answers):
    tables = {name: answer["table"] for name, answer in answers.items()}
    assert tables["counts"] == [
        ["#", "question", "correct", "pass@2 (%)", "pass^2 (%)"],
        [1, "q1", "2 of 6", "60.0", "6.7"],
        [2, "q2", "6 of 6", "100.0", "100.0"],
    ]
    assert "2 of 6 samples are correct." in answers["counts"]["samples"]
    assert tables["rewards"] == [["#", "question", "mean", "max@2"], [1, "1", "0.500", "0.750"]]
    assert "<li><span>0.25</span></li>" in answers["rewards"]["samples"]
    assert tables["grades"] == [
        ["#", "question", "mean", "avg@2", "bayes@2"],
        [1, "q1", "0.500", "0.500", "0.500"],
    ]
    assert "<span>1</span> <code>A</code>" in answers["grades"]["samples"]
    assert tables["verdicts"] == [["#", "item", "mean", "score_agg"], [1, "a", "0.500", "0.450"]]
    assert "<span>0</span> <code>none</code>" in answers["verdicts"]["samples"]


def test_the_limits_are_for_the_chosen_questions(answers):
    outcomes = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
    of_pass = at_k.pass_at_k_ci(outcomes, k=2, interval="questions")
    mu, lo, hi = (f"{100 * of_pass[i]:.1f}" for i in (0, 2, 3))
    scope = "for other questions like these"
    interval = f"95 % confidence interval {lo} to {hi}, {scope}"
    start = f"On 3 questions with 4 samples each, pass@2 is {mu} % ({interval})"
    assert answers["other"]["paper"].startswith(start)
    assert f"| pass@2 | {mu} ({lo}, {hi}) |" in answers["other"]["markdown"]
    assert f"Interval: 95 % confidence interval {scope}." in answers["other"]["markdown"]
    (note,) = answers["one each"]["notes"]
    assert note == "Each question has one sample, so the limits are for other questions like these."
    assert scope in answers["one each"]["paper"]


def test_bayes_at_n_leads_with_the_mean_of_samples_unless_the_posterior_is_chosen(answers):
    assert "avg@4 is 66.7 % (95 % confidence interval " in answers["shares"]["paper"]
    assert "bayes@4" not in answers["shares"]["paper"]
    assert "bayes@4 is 61.1 % (95 % credible interval " in answers["posterior"]["paper"]
    metric = at_k.load("bayes_at_n")
    real = metric.compute(predictions=[[0.5, 4], [1, 2.5]], confidence=0.95, interval="questions")
    limits = f"{real['avg@2_lo']:.3f} to {real['avg@2_hi']:.3f}"
    assert f"avg@2 is 2.000 (95 % confidence interval {limits}, " in answers["real"]["paper"]


def test_one_run_of_verdicts_has_limits_for_other_items(answers):
    assert "for other items like these" in answers["several verdicts"]["paper"]


def test_numbers_that_a_checker_read_have_no_needless_exponent(answers):
    assert answers["ten"]["samples"].count("<small>10</small>") == 2


SHARE = """
import importlib.util, pathlib, sys, tempfile
sys.path.insert(0, sys.argv[1])
from page.request import make_request
from page.sharing import opened_page, shared_text

spec = importlib.util.spec_from_file_location("gpassk", f"{sys.argv[1]}/gpassk/app.py")
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
request = make_request(app.SPACE, "exact_match", {}, files=tuple(sys.argv[2:]))
opened = opened_page(app.SPACE, shared_text(request), lambda: pathlib.Path(tempfile.mkdtemp()))
for file in opened.files:
    print(pathlib.Path(file).name, pathlib.Path(file).read_text())
"""


def test_a_link_holds_two_files_of_the_same_name(tmp_path):
    """Such as those of two folders, or names that differ in signs that are replaced."""
    contents = {"a/run.csv": "first", "b/run.csv": "second", "b/run 1.csv": "3", "b/run_1.csv": "4"}
    files = [tmp_path / name for name in contents]
    for file, text in zip(files, contents.values(), strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for pair, printed in (
        (files[:2], "run.csv first\nrun.csv second\n"),
        (files[2:], "run_1.csv 3\nrun_1.csv 4\n"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", SHARE, str(ROOT / "spaces"), *map(str, pair)],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "shared")},
        )
        assert done.stdout == printed, done.stderr
