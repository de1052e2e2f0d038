"""The command itself: help, errors, terminals and pipes, and the demo."""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.cli.command import _parser, _print_message, main
from run_command import error_of, output_of

AT_K = "from at_k.cli.command import main; raise SystemExit(main())"


USUAL_K = "--k INT|Default: those of 4, 8 and 16 that every question has samples for, or else the"


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("gpassk", f"--thresholds FLOAT|--check-correct-fn NAME|--num-proc INT|{USUAL_K}"),
        ("gpassk", "shares tau of correct samples|Default: 0.25, 0.5, 0.75 and 1.0|Default: 0.5."),
        ("gpassk", "--band add <key>_band_lo and <key>_band_hi: limits that contain the scores"),
        ("cons_at_k", "--vote-weights COLUMN a number of at least 0 for each sample"),
        ("bayes_at_n", "--confidence FLOAT|none|Default: 0.95."),
        ("score_agg", "Default: 0.5|Default: 0.1|Default: 1e-9"),
        ("compare", "--include STR|--k INT|--clusters COLUMN|--num-proc INT|Default: pass@k"),
        ("compare", "the interval at each k, and of the simultaneous band over all k"),
        ("compare", "a difference is the second minus the first|--tau FLOAT|Default: 0.5"),
        ("plan", "Default: 100, 200, 500 and 1000. In Python: questions.|In Python: samples."),
        ("plan", "--power FLOAT|Default: 0.8|Default: 1."),
    ],
)
def test_the_help_has_the_texts_and_defaults_of_docstrings(capsys, command, texts):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in texts.split("|"):
        assert part in text
    for absent in ("--executor", "--R-a", "whether to"):
        assert absent not in text
    assert command != "cons_at_k" or "what a person says" not in text


@pytest.mark.filterwarnings("always")
def test_a_message_names_flags_where_python_names_arguments(capsys, tmp_path):
    texts, outcomes = tmp_path / "texts.jsonl", tmp_path / "outcomes.jsonl"
    texts.write_text('{"predictions": ["so 12", "it is 13"], "references": "12"}\n')
    outcomes.write_text('{"outcomes": [1, 0, 1]}\n')
    assert main(["gpassk", f"{texts}", "--k", "1"]) == 0
    printed = capsys.readouterr()
    warning = printed.err
    assert warning.startswith("at-k: warning: None of the 2 scored samples equals its refer")
    assert warning.count("\n") == 1
    assert "G-Pass@1_0.25  0.0000" in printed.out
    assert "--check-correct-fn numeric compares the number" in warning
    assert "check_correct_fn" not in warning
    # Not the text of a file, nor an argument without a flag.
    for text in ("x='y'", "k=1"):
        outcomes.write_text(json.dumps({"outcomes": [text, 1]}))
        assert text in error_of(capsys, "gpassk", outcomes, "--k", 1)


@pytest.mark.parametrize(
    ("argument", "in_shell"),
    [
        ("num_proc=3, or", "--num-proc 3, or"),
        ("alpha0=-0.5.", "--alpha0 -0.5."),
        ("keys='a b'", "--keys 'a b'"),
        ("thresholds=[0.25, 1.0]", "--thresholds 0.25 1.0"),
        ("include=['pass^k', 'pass@k']", "--include 'pass^k' pass@k"),
        ("return_per_question=True;", "--return-per-question;"),
        ("band=False", "band=False"),  # there is no flag for it
        ("tolerance=3", "tolerance=3"),
        ("'k=3'", "'k=3'"),
    ],
)
def test_arguments_of_all_types_are_written_as_flags(capsys, argument, in_shell):
    _print_message(_parser(["gpassk"]).flags, f"Give {argument}")
    assert capsys.readouterr().err == f"at-k: Give {in_shell}\n"


@pytest.mark.parametrize(("command", "files"), [("compare", 2), ("gate", 1), ("plan", 1)])
def test_the_score_is_named_alike_in_every_command(capsys, tmp_path, command, files):
    paths = [str(tmp_path / f"{index}.jsonl") for index in range(files)]
    for i, path in enumerate(paths):
        rows = [{"id": "a", "outcomes": [1, 0, i]}, {"id": "b", "outcomes": [0, 1, 1]}]
        Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    claim = ["--at-least", "0.1"] if command == "gate" else []
    outputs = []
    for word in ("--include", "--metric"):
        main([command, *paths, *claim, word, "pass^k", "--k", "2"])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert "pass^2" in outputs[0]


def test_an_error_after_reading_parquet_ends_with_status_2(tmp_path):
    # Threads of Arrow, which had just started, aborted the process with status 134.
    file = tmp_path / "r.parquet"
    pq.write_table(pa.table({f"c{i}": [[1, 0]] for i in range(20)}), file)
    command = [sys.executable, "-c", AT_K, "gpassk", str(file)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stderr.startswith("at-k: ")
    assert result.returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1"])
def test_characters_that_a_terminal_cannot_show_are_escaped(tmp_path, monkeypatch, encoding):
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps({"outcomes": [1], "group": "\u4e2d\u6587"}))
    terminal = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr("sys.stdout", terminal)
    assert main(["gpassk", str(file), "--k", "1"]) == 0
    label = "\u4e2d\u6587" if encoding == "utf-8" else "\\u4e2d\\u6587"
    assert label in terminal.buffer.getvalue().decode(encoding)


def test_a_closed_pipe_is_not_an_error(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"outcomes": [1, 0]}\n' * 20_000)
    flags = "--k 1 --return-per-question | head -n 1; echo ${PIPESTATUS[0]}"
    result = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "{AT_K}" gpassk {file} {flags}'],
        capture_output=True,
        text=True,
    )
    assert result.stdout == "20000 questions, 2 samples each, already graded in outcomes.\n0\n"
    assert result.stderr == ""


def test_the_demo_shows_both_temperatures_side_by_side(capsys):
    printed = output_of(capsys, "demo")
    assert "  pass^4                   0.276    0.026      -0.250\n" in printed
    assert "  pass@32                  0.649    0.819      +0.170\n" in printed


@pytest.mark.parametrize("command", ["gpassk", "max_at_k", "score_agg", "compare", "plan"])
def test_the_examples_of_a_command_run(command, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main([command, "--help"])
    printed = capsys.readouterr().out
    rows = re.findall(r"^  echo '(.*)' >>? answers.jsonl$", printed, re.MULTILINE)
    Path("answers.jsonl").write_text("\n".join(rows))
    examples = re.findall(r"^  at-k (.*)", printed, re.MULTILINE)
    assert len(rows) + len(examples) >= 3
    for example in examples:
        assert main(shlex.split(example)) == 0, capsys.readouterr().err
        assert capsys.readouterr().out
