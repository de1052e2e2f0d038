"""The command in a shell: pipes, wildcards, several files and exit status."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT
from run_command import error_of, output_of, pass_at_k, scores_of, write_json_lines

SHARDS = [[{"id": f"q{i}", "outcomes": [shard, 1]} for i in range(3)] for shard in (0, 1)]
FLAGS = "--k 1 --include pass@k --json"
PASS_AT_1 = FLAGS.split()[:-1]


def shell(command: str, folder) -> subprocess.CompletedProcess:
    """Run a line of bash in a folder, with the command `at-k` of this checkout."""
    at_k = f'at-k() {{ {sys.executable} -m at_k "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", at_k + command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "shared")},
        capture_output=True,
        text=True,
    )


def test_samples_come_from_a_pipe(tmp_path):
    write_json_lines(tmp_path / "a.jsonl", SHARDS[0])
    result = shell(f"gzip -c a.jsonl | at-k gpassk - {FLAGS}", tmp_path)
    said = "3 questions, 2 samples each, already graded in outcomes; questions from id.\n"
    assert (result.returncode, result.stderr) == (0, said)
    assert json.loads(result.stdout) == {"pass@1": 0.5}


@pytest.mark.parametrize("argument", ["-", "/dev/fd"])
def test_samples_come_from_an_open_file_that_is_a_pipe(capsys, tmp_path, monkeypatch, argument):
    write_json_lines(tmp_path / "a.jsonl", SHARDS[0])
    command = ["cat", tmp_path / "a.jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cat:
        monkeypatch.setattr("sys.stdin", cat.stdout)
        # bash replaces <(cat a.jsonl) by such a name.
        name = argument if argument == "-" else f"/dev/fd/{sys.stdin.fileno()}"
        assert pass_at_k(capsys, name) == {"pass@1": 0.5}


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_the_format_of_a_pipe_is_found(capsys, tmp_path, monkeypatch, suffix):
    text = {
        ".jsonl": '{"id": 1, "correct": 1}\n{"id": 1, "correct": 0}\n',
        ".json": '[{"id": 1, "correct": 1},\n {"id": 1, "correct": 0}]',
        ".csv": "id,correct\n1,1\n1,0\n",
    }[suffix]
    (tmp_path / "pipe").write_text(text)
    assert pass_at_k(capsys, tmp_path / "pipe") == {"pass@1": 0.5}
    with (tmp_path / "pipe").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert pass_at_k(capsys, "-") == {"pass@1": 0.5}


def test_several_files_are_parts_of_one_run(capsys, tmp_path):
    files = [write_json_lines(tmp_path / f"run{i}.jsonl", x) for i, x in enumerate(SHARDS)]
    assert scores_of(capsys, "gpassk", *files, *PASS_AT_1) == {"pass@1": 0.75}
    printed = output_of(capsys, "gpassk", *files, "--k", 1)
    assert printed.startswith("2 files as parts of one run: 3 questions, 4 samples each")
    assert pass_at_k(capsys, tmp_path / "*.jsonl") == {"pass@1": 0.75}
    assert "given twice" in error_of(capsys, "gpassk", tmp_path / "*.jsonl", files[0])
    assert "No file matches" in error_of(capsys, "gpassk", tmp_path / "*.csv")


def test_the_exit_status_is_documented_and_kept(capsys, tmp_path):
    help_text = output_of(capsys)
    for status in ("0  ", "2  ", "130  "):
        assert f"\n  {status}" in help_text
    for command in ("at-k gpassk none.jsonl", "at-k no"):
        result = shell(command, tmp_path)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.splitlines()[-1].startswith("at-k")
