"""The commands on the page of recipes run as they are, in the folder of logs."""

import glob
import re
import shlex

import pytest
from conftest import ROOT
from run_command import output_of

PAGE = (ROOT / "tests/recipes/README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\|.*\| `at-k (.*)` \|$", PAGE, re.MULTILINE)
LOGS = ROOT / "tests/readers/fixtures"


def test_the_page_has_commands():
    assert len(COMMANDS) >= 15


@pytest.mark.filterwarnings("default:1 of 4 instances have no prediction")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_scores_its_log(capsys, monkeypatch, command):
    monkeypatch.chdir(LOGS)
    words = []
    for word in shlex.split(command):
        words += glob.glob(word) if "*" in word else [word]
    printed = output_of(capsys, *words)
    assert "questions, " in printed.splitlines()[0]
    assert re.search(r"[@^]\S+ +[01]\.\d{4}", printed)
