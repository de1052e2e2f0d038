"""Input that could control the terminal, run code or end in a traceback."""

import json
import os
import unicodedata

import pytest
from at_k.cli.command import main
from at_k.cli.formats import FORMATS_OF_OUTPUT
from run_command import error_of, write_json_lines

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
