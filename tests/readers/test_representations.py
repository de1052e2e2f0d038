"""Outcomes in any representation give the same counts, or an error, but no other number."""

import csv
import json
import random
import tempfile
from pathlib import Path

import at_k
from hypothesis import given, settings
from hypothesis import strategies as st

Row = dict
# Columns that can stand beside outcomes, as functions of the question, the sample and the row.
BESIDE = {
    "sample": lambda q, s, row: s,
    "response": lambda q, s, row: f"text {row}",
    "completion": lambda q, s, row: str(s),
    "output": lambda q, s, row: s + 1,
    "epoch": lambda q, s, row: s + 1,
    "seed": lambda q, s, row: 7 * s,
    "run": lambda q, s, row: s,
    "id": lambda q, s, row: row,
    "n": lambda q, s, row: s,
    "total": lambda q, s, row: s,
    "prompt": lambda q, s, row: f"question {q}",
    "answer": lambda q, s, row: "1",
    "latency": lambda q, s, row: row / 7,
    "model": lambda q, s, row: "m",
    "filter": lambda q, s, row: "strict",
}
OUTCOMES = st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=5)


def rows_of_samples(outcomes, names, outcome_name, number) -> list[Row]:
    """Return one row per sample, with a column of outcomes and the columns of these names."""
    rows: list[Row] = []
    for q, samples in enumerate(outcomes):
        for s, outcome in enumerate(samples):
            row = {"task_id": f"t{q}", outcome_name: int(outcome) if number else outcome}
            rows.append(row | {name: BESIDE[name](q, s, len(rows)) for name in names})
    return rows


def rows_of_lists(rows: list[Row], names) -> list[Row]:
    """Return one row per question, with lists of what differs between samples."""
    by_question: dict[str, Row] = {}
    for row in rows:
        found = by_question.setdefault(row["task_id"], {})
        for name, entry in row.items():
            if name in ("task_id", "prompt", "answer", "model", "filter"):
                found[name] = entry
            else:
                found.setdefault(name, []).append(entry)
    return list(by_question.values())


def written(rows: list[Row], folder: Path, as_csv: bool) -> Path:
    file = folder / ("rows.csv" if as_csv else "rows.jsonl")
    with file.open("w", newline="") as stream:
        if as_csv:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        else:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    return file


def counts_of(arguments: dict) -> list[tuple[int, int]]:
    """Return n and the number of correct samples of each question, sorted."""
    predictions = arguments["predictions"]
    if isinstance(predictions, dict):
        return sorted(zip(predictions["n"], predictions["correct"], strict=True))
    return sorted((len(samples), sum(samples)) for samples in predictions)


@settings(deadline=None, max_examples=300)
@given(
    outcomes=OUTCOMES,
    names=st.lists(st.sampled_from(sorted(BESIDE)), unique=True, max_size=5),
    outcome_name=st.sampled_from(["correct", "passed", "outcome", "is_correct", "reward"]),
    number=st.booleans(),
    form=st.sampled_from(["samples", "lists", "csv", "csv of lists"]),
    seed=st.integers(0, 9),
)
def test_outcomes_are_read_or_refused(outcomes, names, outcome_name, number, form, seed):
    rows = rows_of_samples(outcomes, names, outcome_name, number)
    if "lists" in form:
        rows = rows_of_lists(rows, names)
    order = list(rows[0])
    rng = random.Random(seed)
    rng.shuffle(order)
    if seed % 2:
        rng.shuffle(rows)
    rows = [{name: row[name] for name in order} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        file = written(rows, Path(folder), "csv" in form)
        expected = sorted((len(samples), sum(samples)) for samples in outcomes)
        try:
            arguments = at_k.read(file)
        except ValueError:
            arguments = None
        if arguments is not None:
            assert "references" not in arguments  # a choice that is left to the caller
            assert counts_of(arguments) == expected
        named = at_k.read(file, outcomes=outcome_name, questions="task_id", pool=names)
        if "csv of lists" not in form:
            assert counts_of(named) == expected


@settings(deadline=None, max_examples=200)
@given(
    counts=st.lists(
        st.integers(0, 9).flatmap(lambda c: st.tuples(st.integers(max(c, 1), 12), st.just(c))),
        min_size=1,
        max_size=5,
    ),
    names=st.sampled_from([("n", "correct"), ("n", "c"), ("num_samples", "num_correct")]),
    beside=st.lists(st.sampled_from(["prompt", "model", "latency"]), unique=True),
    shards=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_counts_are_read_or_refused(counts, names, beside, shards, seed):
    rows: list[Row] = []
    for q, (n, c) in enumerate(counts):
        row = {"task_id": f"t{q}", names[0]: n, names[1]: c}
        rows += [row | {name: BESIDE[name](q, 0, q) for name in beside}] * shards
    random.Random(seed).shuffle(rows)
    try:
        arguments = at_k.read(rows)
    except ValueError:
        arguments = at_k.read(rows, columns={"n": names[0], "correct": names[1]})
    assert isinstance(arguments["predictions"], dict)
    assert counts_of(arguments) == sorted((shards * n, shards * c) for n, c in counts)
