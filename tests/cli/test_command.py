"""The command itself: help, errors, terminals, pipes and shells, hostile input, and the demo."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.cli.command import _parser, _print_message, main
from at_k.cli.formats import FORMATS_OF_OUTPUT
from conftest import ROOT
from run_command import error_of, output_of, pass_at_k, scores_of, write_json_lines, write_runs

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
    assert "(--check-correct-fn), 'numeric' compares the number" in warning
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
    paths = write_runs(tmp_path, {f"{i}": [[1, 0, i], [0, 1, 1]] for i in range(files)})
    claim = ("--at-least", 0) if command == "gate" else ()
    words = (command, *paths, *claim, "--k", 2)
    printed = output_of(capsys, *words, "--include", "pass^k")
    assert "pass^2" in printed
    assert output_of(capsys, *words, "--metric", "pass^k") == printed


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
    assert "  pass^4                   0.275    0.026      -0.250\n" in printed
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


# --- In a shell -------------------------------------------------------------------------

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
def test_samples_come_from_an_open_file_that_is_a_pipe(capsys, monkeypatch, argument):
    """It is read once, so that a question about missing answers has no scores of both choices."""

    def lines_of(name):
        return [pass_at_k(capsys, name)] if answer else error_of(capsys, "gpassk", name)

    for answer in ("y", ""):
        text = f"id,prediction,reference\na,x,x\na,{answer},x\n"
        with subprocess.Popen(["printf", text], stdout=subprocess.PIPE, text=True) as printf:
            monkeypatch.setattr("sys.stdin", printf.stdout)
            # bash replaces <(cat a.jsonl) by such a name.
            name = argument if argument == "-" else f"/dev/fd/{sys.stdin.fileno()}"
            expected = {"pass@1": 0.5} if answer else "1 of 2 answers are missing"
            assert expected in lines_of(name)


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


# --- Hostile input ----------------------------------------------------------------------

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
CONTROLS = "\x1b]0;title\x07 \x1b[2J \x00\x9b31m \u202e\u2066\u200f \u2028 \x7f\r"
IN_NAMES = "" if os.name == "nt" else CONTROLS.replace("\x00", "")  # of files


def is_printable(text: str) -> bool:
    return not any(
        unicodedata.category(char) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(char) in BIDI
        for char in text.replace("\n", "")
    )


@pytest.mark.parametrize("output_format", FORMATS_OF_OUTPUT)
@pytest.mark.parametrize("command", ["gpassk", "compare"])
def test_labels_and_names_cannot_control_the_terminal(capsys, tmp_path, command, output_format):
    column = f"correct {CONTROLS}"
    rows = [{"id": i, "group": f"{CONTROLS}{i}", column: [1, 0, 1]} for i in range(2)]
    files = [write_json_lines(tmp_path / f"{name}{IN_NAMES}.jsonl", rows) for name in "ab"]
    names = ["--names", f"x{CONTROLS}", "y"] if command == "compare" else []
    given = [*files, *names] if command == "compare" else files[:1]
    flags = ["--outcomes", column, "--groups", "group", "--k", "1", "--format", output_format]
    flags += ["--interval", "sampling"] if command == "compare" else []
    assert main([command, *map(str, given), *flags]) == 0
    printed = capsys.readouterr()
    assert printed.out
    assert is_printable(printed.out)
    assert is_printable(printed.err)


@pytest.mark.filterwarnings("always")
def test_messages_cannot_control_the_terminal(capsys, tmp_path):
    rows = [{"id": 1, f"a{CONTROLS}": 1}]
    name = f"x{IN_NAMES}"
    file = write_json_lines(tmp_path / f"{name}.jsonl", rows)
    assert is_printable(error_of(capsys, "gpassk", file))
    assert is_printable(error_of(capsys, "gpassk", tmp_path / name))
    with pytest.raises(SystemExit):
        main(["gpassk", CONTROLS.replace(" ", "").join(["--x", "y"])])
    assert is_printable(capsys.readouterr().err)
    other = write_json_lines(tmp_path / "b.jsonl", [{"id": 2, "correct": 1}])
    one = write_json_lines(tmp_path / f"{name}.jsonl", [{"id": 1, "correct": 1, name: 1}])
    assert main(["gpassk", str(one), str(other), "--k", "1"]) == 0
    warning = capsys.readouterr().err
    assert "Only columns that all files have" in warning
    assert is_printable(warning)


BRACKETS = 2_000 * "["
FILES = {
    "nested.json": BRACKETS + 2_000 * "]",
    "nested.jsonl": f'{{"id": 1, "samples": {BRACKETS}1{2_000 * "]"}}}\n',
    "brackets.csv": f'id,samples\n1,"{BRACKETS[:1000]}"\n',
    "minus_in_list.csv": f'id,samples\n1,"[{1_000_000 * "-"}1]"\n',
    "script/script.py": "raise SystemExit('executed')\n",
    "yaml/README.md": "---\nconfigs: !!python/object/apply:os.getcwd []\n---\n",
    "no_zip.eval": "text",
    "inspect.json": json.dumps(
        {"version": 2, "status": "x", "eval": {"model": 1}, "plan": 3, "samples": [3]}
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_cannot_be_read_are_an_error_of_one_line(capsys, tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(FILES[name])
    source = file.parent if "/" in name else file
    if name.startswith("yaml"):
        write_json_lines(source / "a.jsonl", [{"id": 1, "correct": 1}])
    error = error_of(capsys, "gpassk", source, "--k", 1)
    assert len(error) < 600
    # Since Python 3.13, json parses the nested lists, and the scoring names the sample.
    if name.endswith((".json", ".jsonl", ".eval")) and "predictions[0] is nested" not in error:
        assert str(file) in error
