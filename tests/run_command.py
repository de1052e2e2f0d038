"""Run the command `at-k` in this process, on small files."""

import json
from pathlib import Path

from at_k.cli.command import main

# Two questions with their samples and references, what the flags ask for, and its values.
SAMPLES = [["a", "b", "a"], ["b", "a", "b", "b"]]
REFERENCES = ["a", "b"]
FLAGS = ("--k", "2", "--include", "pass@k", "pass^k")
SCORES = {"pass@2": 1.0, "pass^2": (1 / 3 + 1 / 2) / 2}


def output_of(capsys, *arguments) -> str:
    """Return what the command prints."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def words_of(capsys, *arguments) -> str:
    """Return what the command prints on one line, with single spaces."""
    return " ".join(output_of(capsys, *arguments).split())


def error_of(capsys, *arguments) -> str:
    """Return the message of a command that fails: one line, and nothing but it is printed."""
    assert main([str(argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("at-k: ")
    assert printed.err.count("\n") == 1
    return printed.err


def scores_of(capsys, *arguments) -> dict:
    """Return the scores that the command prints as JSON."""
    return json.loads(output_of(capsys, *arguments, "--json"))


def pass_at_k(capsys, file, *flags, k=1) -> dict:
    """Return pass@k of a file, for all questions and for each group."""
    return scores_of(capsys, "gpassk", file, "--k", k, "--include", "pass@k", *flags)


def question_rows(predictions: str, references: str) -> list[dict]:
    """Return a row for each question, with these names of the columns."""
    return [
        {predictions: samples, references: reference, "other": 1}
        for samples, reference in zip(SAMPLES, REFERENCES, strict=True)
    ]


def write_runs(folder: Path, runs: dict[str, list], **columns) -> list[Path]:
    """Write a file of outcomes for each run, by its name; columns are functions of the index."""
    columns = columns or {"id": int}
    return [
        write_json_lines(
            folder / f"{name}.jsonl",
            [
                {"outcomes": row} | {column: value(i) for column, value in columns.items()}
                for i, row in enumerate(rows)
            ],
        )
        for name, rows in runs.items()
    ]


def write_json_lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
