"""Graded samples in large files are reduced to counts, with the scores of the ordinary reading."""

from typing import Any

import at_k
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.cli.run_input import RunInput
from at_k.readers import shards
from at_k.readers.questions import read_questions
from run_command import error_of


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes shards of random outcomes, with changes, and their names."""
    monkeypatch.setattr(shards, "LEAST_ROWS", 0)
    monkeypatch.setattr(shards, "_ROWS_OF_A_PART", 100)

    def write(changes=(), files=3, rows=500):
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
            names.append(str(tmp_path / f"{number}.parquet"))
            pq.write_table(pa.table(columns), names[-1], row_group_size=150)
        return names

    return write


def both(monkeypatch, names, **named):
    """Return what is read of distinct rows, and in the ordinary way."""
    reduced = read_questions(names, **named)
    with monkeypatch.context() as patch:
        patch.setattr(shards, "LEAST_ROWS", 1e9)
        ordinary = read_questions(names, **named)
    assert isinstance(reduced.arguments["predictions"], dict)
    assert isinstance(ordinary.arguments["predictions"], list)
    return reduced, ordinary


NUMBERS = {"correct": lambda columns, _: [x if x is None else float(x) for x in columns["correct"]]}
WORDS = {"correct": lambda columns, _: ["yes" if x else "no" for x in columns["correct"]]}
PLAIN = {"id": lambda columns, _: [int(x[1:]) for x in columns["id"]]}
GROUPS = {"group": lambda columns, _: [len(x) for x in columns["id"]]}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, {}),
        (NUMBERS, {"outcomes": "correct"}),
        (WORDS, {"correct_values": ["yes"]}),
        (PLAIN, {"questions": "id"}),
        (GROUPS, {"groups": "group"}),
        ({"model": lambda columns, _: ["m"] * 500}, {"where": [("model", "m")]}),
    ],
)
def test_scores_and_descriptions_are_those_of_the_ordinary_reading(
    monkeypatch, write, changes, named
):
    reduced, ordinary = both(monkeypatch, write(changes), **named)
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


def test_a_missing_id_is_named_with_its_file_and_row(capsys, write):
    def lost(columns, number):
        return [None if number == 1 and row == 321 else x for row, x in enumerate(columns["id"])]

    names = write({"id": lost})
    error = error_of(capsys, "gpassk", *names)
    assert f"{names[1]}, row 321 (from 0) has no id" in error


def test_runs_are_not_mixed(capsys, write):
    names = write({"model": lambda columns, number: [f"m{number}"] * 500})
    error = error_of(capsys, "gpassk", *names)
    assert "different values of model: 'm0', 'm1', 'm2'" in error
    assert "The columns are id, correct, model." in error


@pytest.mark.parametrize(
    "changes",
    [
        {"group": lambda columns, number: [number] * 500},
        {"id": lambda columns, number: [x + " " * number for x in columns["id"]]},
        {"sample_id": lambda columns, number: list(range(500))},
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
