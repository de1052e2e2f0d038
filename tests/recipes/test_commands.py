"""The commands on the page of recipes, for the logs that the harnesses wrote."""

import re
import shlex

import pytest
from conftest import ROOT
from run_command import output_of

PAGE = (ROOT / "tests/recipes/README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\|.*\| `at-k (.*)` \|$", PAGE, re.MULTILINE)
LOGS = ROOT / "tests/readers/fixtures"


@pytest.fixture
def answers(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("question,answer,count,gold\n1,7,3,7\n1,8,1,7\n2,5,4,6\n")
    return file


def log_named(name: str) -> str:
    """Return the log with this name, which may be followed by the date of the run."""
    stem, dot, suffix = name.rpartition(".")
    (file,) = [
        *LOGS.rglob(name),
        *LOGS.rglob(f"{stem}_2*{dot}{suffix}"),
        *LOGS.rglob(f"{stem}_0_*"),
    ]
    return str(file)


def test_the_page_has_commands():
    assert len(COMMANDS) >= 15


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_scores_its_log(capsys, answers, command):
    words = [
        str(answers)
        if word == answers.name
        else log_named(word)
        if word.endswith((".jsonl", ".json", ".parquet"))
        else word
        for word in shlex.split(command)
    ]
    printed = output_of(capsys, *words)
    assert "questions, " in printed.splitlines()[0]
    assert re.search(r"@\S+ +[01]\.\d{4}", printed)
