"""Graded samples in large files are reduced to counts, with the scores of the ordinary reading."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.cli.run_input import RunInput
from at_k.readers import parts, sample_numbers, shards
from at_k.readers.run import read_run
from run_command import error_of

FORMATS = ("parquet", "csv", "jsonl")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes shards of random outcomes, with changes, and their names."""
    monkeypatch.setattr(shards, "LEAST_ROWS", 0)
    monkeypatch.setattr(shards, "LEAST_BYTES", 0)
    monkeypatch.setattr(parts, "_ROWS_OF_A_PART", 100)
    monkeypatch.setattr(parts, "_ROWS_OF_OBJECTS", 100)
    monkeypatch.setattr(parts, "_BYTES_OF_A_PART", 2000)

    def write(changes=(), files=3, rows=500, format="parquet"):
        rng = np.random.default_rng(0)
        names = []
        for number in range(files):
            question = rng.integers(0, 20, rows)
            correct = [
                None if x < 0.02 else bool(x < (q + 1) / 22)
                for x, q in zip(rng.random(rows), question, strict=True)
            ]
            columns = {"id": [f"q{q}" for q in question], "correct": correct}
            columns |= {name: change(columns, number) for name, change in dict(changes).items()}
            names.append(str(tmp_path / f"{number}.{format}"))
            write_columns(names[-1], columns)
        return names

    return write


def write_columns(name, columns):
    """Write a file in the format of its suffix."""
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), name, row_group_size=150)
    elif name.endswith(".jsonl"):
        lines = [json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows]
        Path(name).write_text("".join(lines))
    else:
        with open(name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])


def outcome_text(outcome):
    return str(outcome if isinstance(outcome, str | None) else float(outcome))


def both(monkeypatch, names, **named):
    """Return what is read of distinct rows, and in the ordinary way: with the same outcomes."""
    reduced = read_run(names, **named)
    with monkeypatch.context() as patch:
        patch.setattr(shards, "LEAST_ROWS", 1e9)
        patch.setattr(shards, "LEAST_BYTES", 1e9)
        ordinary = read_run(names, **named)
    assert isinstance(reduced.arguments["predictions"], dict)
    assert isinstance(ordinary.arguments["predictions"], list)
    counts = reduced.arguments["predictions"]
    for answers, times, samples in zip(
        counts["answers"], counts["counts"], ordinary.arguments["predictions"], strict=True
    ):
        repeated = [x for x, number in zip(answers, times, strict=True) for _ in range(number)]
        assert sorted(map(outcome_text, repeated)) == sorted(map(outcome_text, samples))
    return reduced, ordinary


NUMBERS = {"correct": lambda columns, _: [x if x is None else float(x) for x in columns["correct"]]}
WORDS = {"correct": lambda columns, _: ["yes" if x else "no" for x in columns["correct"]]}
PLAIN = {"id": lambda columns, _: [int(x[1:]) for x in columns["id"]]}
GROUPS = {"group": lambda columns, _: [len(x) for x in columns["id"]]}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, {}),
        (NUMBERS, {"outcomes": "correct"}),
        (WORDS, {"correct_values": ["yes"]}),
        (PLAIN, {"questions": "id"}),
        (GROUPS, {"groups": "group"}),
        ({"model": lambda columns, _: ["m"] * 500}, {"where": [("model", "m")]}),
        ({"note": lambda columns, _: ["a, b"] * 500}, {}),
        ({"note": lambda columns, _: ['a "quoted", note'] * 499 + ["é\r\n2"]}, {}),
        ({"sample_id": lambda columns, number: range(500 * number, 500 * number + 500)}, {}),
    ],
)
def test_scores_and_descriptions_are_those_of_the_ordinary_reading(
    monkeypatch, write, changes, named, format
):
    reduced, ordinary = both(monkeypatch, write(changes, format=format), **named)
    assert reduced.columns == ordinary.columns
    assert reduced.identifiers == ordinary.identifiers
    assert RunInput(reduced).described() == RunInput(ordinary).described()
    options: dict[str, Any]
    for name, options in (("gpassk", {"k": [1, 8]}), ("bayes_at_n", {}), ("cons_at_k", {})):
        options = options | {"confidence": 0.95}
        scores, expected = (
            at_k.load(name).compute(**read.arguments, **options) for read in (reduced, ordinary)
        )
        assert scores == expected


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_id_is_named_with_its_file_and_row(capsys, write, format):
    def lost(columns, number):
        return [None if number == 1 and row == 321 else x for row, x in enumerate(columns["id"])]

    names = write({"id": lost}, format=format)
    error = error_of(capsys, "gpassk", *names)
    assert f"{names[1]}, row 321 (from 0), has no id" in error


@pytest.mark.parametrize("format", FORMATS[1:])
def test_an_outcome_of_another_type_is_named_with_its_file_and_row(capsys, write, format):
    def mistyped(columns, number):
        entries = list(columns["correct"])
        entries[321] = "maybe" if number == 1 else entries[321]
        return entries

    names = write({"correct": mistyped}, format=format)
    error = error_of(capsys, "gpassk", *names)
    assert f"{names[1]}, row 321 (from 0): correct is 'maybe', but {names[0]}, row 0" in error
    assert "--correct-values" in error


def test_a_number_that_is_no_outcome_is_named_with_its_file_and_row(capsys, write):
    def numbers(columns, number):
        return [2 if number == 1 and row == 321 else 1 for row in range(500)]

    names = write({"correct": numbers})
    error = error_of(capsys, "gpassk", *names)
    assert f"The outcome 2 is first in {names[1]}, row 321 (from 0)." in error


@pytest.mark.parametrize("format", FORMATS)
def test_a_repeated_sample_is_named_with_its_files_and_rows(capsys, write, format):
    def numbers(columns, number):
        question = [int(x[1:]) for x in columns["id"]]
        order = np.argsort(question, kind="stable")
        numbers = np.empty(500, int)
        numbers[order] = np.arange(500) - np.searchsorted(np.sort(question), np.sort(question))
        return [*map(int, numbers[:499] + 100 * number), 200 if number == 2 else 999]

    names = write({"sample_id": numbers}, format=format)
    error = error_of(capsys, "gpassk", *names)
    assert f"{names[2]}, row " in error
    assert f"{names[2]}, row 499 (from 0), have the same sample: sample_id 200 of id 'q" in error


def test_large_numbers_of_samples_are_read_in_the_ordinary_way_with_a_warning(monkeypatch, write):
    monkeypatch.setattr(sample_numbers, "_MOST_NUMBERS", 1000)
    names = write({"sample_id": lambda columns, number: list(range(500))})
    with pytest.warns(UserWarning, match="sample_id has numbers that are too large"):
        assert shards.reduced_table(names, shards.Named(), lambda table: False) is None


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("csv", b'q1,"true\n', "line 300: a quote is not closed"),
        ("csv", b'q1,t"ru"e\nq2,"true"x\n', "line 301: ',' expected after '\"'"),
        ("csv", b"q1,true,1\n", "line 300: 3 cells, but line 1 names 2 columns"),
        ("csv", b"q1,\xff\n", "line 300: the text is not UTF-8"),
        ("jsonl", b'{"id": "q1", "correct": true\n', "line 300: invalid JSON"),
        ("jsonl", b'{"id": "q1", "id": "q2"}\n', "line 300: invalid JSON: .* the key 'id' twice"),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_damaged_line_is_an_error_as_in_a_small_file(write, format, text, message, suffix):
    names = write(format=format)
    lines = Path(names[1]).read_bytes().splitlines(keepends=True)
    Path(names[1]).write_bytes(b"".join([*lines[:299], text, *lines[299:]]))
    for name in names if suffix else ():
        Path(name + suffix).write_bytes(gzip.compress(Path(name).read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        at_k.read([name + suffix for name in names])
    assert str(caught.value).startswith(f"{names[1]}{suffix}, ")


def test_json_entries_of_several_types_are_read_as_in_a_small_file(monkeypatch, write):
    kinds: list[Any] = [bool, int, float, str]

    def mixed(columns, number):
        return [
            x if x is None else kinds[(row // 70 + number) % 4](x)
            for row, x in enumerate(columns["correct"])
        ]

    def ids(columns, number):
        return [int(x[1:]) if row // 100 % 2 else x[1:] for row, x in enumerate(columns["id"])]

    both(monkeypatch, write({"correct": mixed, "id": ids}, format="jsonl"))


@pytest.mark.parametrize("format", FORMATS)
def test_ids_that_differ_by_spaces_are_an_error(write, format):
    changes = {"id": lambda columns, number: [x + " " * number for x in columns["id"]]}
    names = write(changes, format=format)
    with pytest.raises(ValueError, match="'q15' and 'q15 ' in id, which differ by spaces only"):
        at_k.read(names)


def test_runs_are_not_mixed(capsys, write):
    names = write({"model": lambda columns, number: [f"m{number}"] * 500})
    error = error_of(capsys, "gpassk", *names)
    assert "different values of model: 'm0', 'm1', 'm2'" in error
    assert "The columns are id, correct, model." in error


@pytest.mark.parametrize(
    "changes",
    [
        {"group": lambda columns, number: [number] * 500},
        {"response": lambda columns, number: ["a"] * 500},
        {"reward": lambda columns, number: [0.5] * 500},
        {"steps": lambda columns, number: [[1]] * 500},
    ],
)
def test_what_needs_each_sample_is_read_in_the_ordinary_way(write, changes):
    assert shards.reduced_table(write(changes), shards.Named(), lambda table: False) is None


def test_outcomes_that_are_hardly_ever_equal_are_read_in_the_ordinary_way(monkeypatch, write):
    monkeypatch.setattr(shards, "_MOST_KEPT", 100)
    names = write({"correct": lambda columns, number: np.random.default_rng(1).random(500)})
    assert shards.reduced_table(names, shards.Named(), lambda table: False) is None
