"""What a worker process does for a request, without a server."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

# The app is imported as in a worker process. Checks of pairs are counted.
CODE = """
import importlib.util, json, os, sys, tempfile
sys.path.insert(0, "{spaces}")
spec = importlib.util.spec_from_file_location("app", "{spaces}/{name}/app.py")
app = sys.modules["app"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
from at_k.inputs import run_checker
from page import worker
from page.request import make_request
checked = []
def check(prediction, reference):
    checked.append((prediction, reference))
    return int(prediction == reference)
run_checker.math_verify = check
run_checker.check_references = lambda references: None
os.chdir(tempfile.mkdtemp())
request = make_request(app.SPACE, {checker!r}, {options!r}, text={text!r})
answer = worker._score(request, lambda progress: None)
questions = vars(answer.questions)
print(json.dumps([checked, questions, answer.runs[0].scores()]))
"""


def score(name, text, checker="exact_match", **options):
    """Return the checked pairs, the questions and the scores of a request."""
    code = CODE.format(
        spaces=ROOT / "spaces", name=name, text=text, checker=checker, options=options
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300
    )
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


@pytest.mark.parametrize("name", ["gpassk", "cons_at_k"])
def test_each_distinct_pair_is_checked_once_in_a_request(name):
    rows = [
        {"predictions": ["1", "2", "1", "3"], "reference": "1", "question": "1 + 0?"},
        {"predictions": ["2", "2", "1", None], "reference": "2", "question": "1 + 1?"},
    ]
    checked, questions, _ = score(name, "\n".join(map(json.dumps, rows)), "math_verify", k=2)
    assert sorted(checked) == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"], ["3", "1"]]
    assert questions["outcomes"] == {"text": [[1, 0, 1, 0], [1, 1, 0, None]]}
    assert questions["texts"] == ["1 + 0?", "1 + 1?"]
