"""The name of a dataset as text: its file of samples is downloaded from the Hub."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT
from hub import Hub

CODE = """
import json, os, sys, tempfile
sys.path.insert(0, sys.argv[1])
from page.received import write_text
os.chdir(tempfile.mkdtemp())
answers = []
for text in sys.argv[2:]:
    notes = []
    try:
        answers.append([open(write_text(text, notes)).read(), *notes])
    except ValueError as error:
        answers.append(str(error))
print(json.dumps(answers))
"""
SAMPLES = '{"outcomes": [1, 0]}'


def answers(endpoint, *texts):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared"), **endpoint}
    command = [sys.executable, "-c", CODE, str(ROOT / "spaces"), *texts]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def datasets(tmp_path):
    """Folders of datasets by name."""
    contents = {
        "me/one": {"README.md": "", "runs.jsonl": SAMPLES},
        "me/two": {"a.csv": "n,correct\n2,1\n", "b/run 1.json": SAMPLES},
        "me/none": {"data.arrow": ""},
        "me/large": {"runs.jsonl": " " * 40_000_000 + SAMPLES},
    }
    for dataset, files in contents.items():
        for name, text in files.items():
            file = tmp_path / dataset / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return {dataset: tmp_path / dataset for dataset in contents}


def test_the_file_of_samples_of_a_dataset_is_read(datasets):
    with Hub(datasets=datasets) as hub:
        one, of_two = answers(hub.environment, " me/one ", "me/two/a.csv")
    assert one == [SAMPLES, "Read from the file runs.jsonl of the dataset me/one."]
    assert of_two == ["n,correct\n2,1\n", "Read from the file a.csv of the dataset me/two."]


def test_a_dataset_without_one_file_of_samples_is_refused_with_a_sentence(datasets):
    with Hub(datasets=datasets) as hub:
        names = ("me/two", "me/two/c.csv", "me/none", "me/absent", "me/large")
        two, other, none, absent, large = answers(hub.environment, *names)
    assert two == "The dataset me/two has 2 files of samples. Give one of me/two/a.csv, " + (
        "me/two/b/run 1.json."
    )
    assert other.startswith("The dataset me/two has no file c.csv of samples. Give one of a.csv")
    assert none.startswith("The dataset me/none has no file of samples. The page reads files that")
    assert absent.startswith("The Hub has no public dataset me/absent.")
    assert large == "The limit for a file, and for a text, is 40 MB."


def test_a_hub_that_cannot_be_reached_is_named(datasets):
    with Hub() as hub:
        endpoint = hub.environment
    (problem,) = answers(endpoint, "me/one")
    assert problem.startswith("me/one can be the name of a dataset, but the Hub cannot be reached")
