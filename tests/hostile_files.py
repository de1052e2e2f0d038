"""Random files, and random damage to them: what `at_k.read` makes of them.

    python tests/hostile_files.py 20000 [SEED]

Each file is a table, or the log of a tool in `readers/fixtures`. Tables that are read as they are,
also in several parts, give the outcomes that they were made with; those with columns of any names
beside the outcomes may be refused, but give no other number. In the others, some bytes or some
values of JSON are changed, removed, repeated or added. Reading these gives questions or a
ValueError or TypeError. All takes less than five seconds of CPU time.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import itertools
import json
import lzma
import math
import random
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import exact
import pyarrow as pa
import pyarrow.parquet as pq
from at_k.readers.run import read_run
from scored import max_at_k

Rows = list[dict[str, Any]]
LOGS = sorted(
    path for path in Path(__file__).with_name("readers").rglob("fixtures/*/**/*") if path.is_file()
)
_MOST_SECONDS = 5.0
_TOKENS = [
    *(b'"', b"'", b",", b"\t", b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"[", b"]", b"{"),
    *(b"}", b":", b"null", b"NaN", b"-1", b"1e400", b"18446744073709551615", b"NA", b"", b" "),
    *(b"[" * 3000, b'{"a":' * 3000, "\u2028é".encode(), b"\\ud800", b"True", b"0.5", b"\\"),
]
_VALUES: list[Any] = [
    *(None, [], {}, "", "x", 0, -1, 1e308, True, [None], [[]], {"a": 1}, "\x00", [1, 2], 10**30),
    *(float("nan"), [{}], {"": None}, "nan", [["a"], {"b": []}]),
]


class Problem(NamedTuple):
    """A file that gave neither questions nor a helpful error, and what happened."""

    name: str
    seed: int
    what: str


# --- Tables -----------------------------------------------------------------------------


def _questions(random_: random.Random) -> Rows:
    samples = random_.randint(1, 4)
    return [
        {
            "question_id": f"q{i}",
            "outcomes": [random_.randint(0, 1) for _ in range(samples)],
            "text": f'answer "{i}", or so',
        }
        for i in range(random_.randint(1, 12))
    ]


def _samples(questions: Rows) -> Rows:
    return [
        {"id": x["question_id"], "trial": i, "passed": ["no", "yes"][outcome], "error": None}
        for x in questions
        for i, outcome in enumerate(x["outcomes"])
    ]


def _csv(rows: Rows, delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([rows[0].keys(), *(map(json.dumps, row.values()) for row in rows)])
    return stream.getvalue().encode()


def _counts(questions: Rows) -> bytes:
    rows = [(x["question_id"], len(x["outcomes"]), sum(x["outcomes"])) for x in questions]
    return "\n".join(",".join(map(str, row)) for row in [("id", "n", "correct"), *rows]).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _json_lines(rows: Rows) -> bytes:
    return b"".join(_json(row) + b"\n" for row in rows)


def _parquet(rows: Rows) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def _zip(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.csv", data)
    return stream.getvalue()


FILES: dict[str, tuple[Callable[[Rows], bytes], dict[str, Any]]] = {
    "run.csv": (_csv, {}),
    "run.tsv": (lambda rows: _csv(rows, "\t"), {}),
    "counts.csv": (_counts, {}),
    "run.jsonl": (_json_lines, {}),
    "ids.json": (lambda rows: _json({x["question_id"]: x["outcomes"] for x in rows}), {}),
    "keyed.json": (lambda rows: _json({x["question_id"]: x for x in rows}), {}),
    "samples.jsonl": (lambda rows: _json_lines(_samples(rows)), {}),
    "run.csv.zip": (lambda rows: _zip(_csv(rows)), {}),
    "run.json": (_json, {}),
    "nested.json": (lambda rows: _json({"all": {"rows": rows}}), {"records": "all.rows"}),
    "run.parquet": (_parquet, {}),
    "run.jsonl.gz": (lambda rows: gzip.compress(_json_lines(rows)), {}),
    "run.csv.bz2": (lambda rows: bz2.compress(_csv(rows)), {}),
    "run.json.xz": (lambda rows: lzma.compress(_json(rows)), {}),
}
"""The bytes of files of questions by name, and the options with which they are read."""
_OPTIONS: list[dict[str, Any]] = [
    *({}, {"outcomes": "outcomes"}, {"outcomes": "outcomes", "questions": "question_id"}),
    *({"records": "all.rows"}, {"where": {"question_id": "q0"}}, {"n": "n", "correct": "correct"}),
    *({"group_size": 2}, {"missing": "drop"}, {"missing": "incorrect"}),
    *({"correct_at_least": 0.5}, {"correct_values": ["yes", 1]}),
]


# --- Damage -----------------------------------------------------------------------------


def _damaged(data: bytes, random_: random.Random) -> bytes:
    for _ in range(random_.randint(0, 3)):
        start = random_.randint(0, len(data))
        end = min(len(data), start + random_.choice([0, 1, 2, 8, 60, len(data)]))
        middle, rest = random_.choice(
            [
                (b"", end),
                (random_.choice(_TOKENS), end),
                (random_.choice(_TOKENS), start),
                (data[start:end] * 2, end),
            ]
        )
        data = data[:start] + middle + data[rest:]
    return data


def _damaged_json(data: bytes, is_lines: bool, random_: random.Random) -> bytes:
    """Return JSON, or lines of JSON, with one to three other values."""
    text = data.decode()
    value = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    for _ in range(random_.randint(1, 3)):
        value = _damaged_value(value, random_)
    return _json_lines(value) if is_lines and isinstance(value, list) else _json(value)


def _damaged_value(value: Any, random_: random.Random) -> Any:
    """Replace, remove or repeat one part of a value of JSON."""
    if isinstance(value, dict) and value and random_.random() < 0.9:
        key = random_.choice([*value])
        if random_.random() < 0.15:
            return {name: x for name, x in value.items() if name != key}
        return value | {key: _damaged_value(value[key], random_)}
    if isinstance(value, list) and value and random_.random() < 0.85:
        i, kind = random_.randrange(len(value)), random_.random()
        if kind < 0.1:
            return value[:i] + value[i + 1 :]
        if kind < 0.2:
            return [*value, value[i]]
        return [*value[:i], _damaged_value(value[i], random_), *value[i + 1 :]]
    return random_.choice(_VALUES)


# --- Checks -----------------------------------------------------------------------------


def _require_share(run: Any, questions: Rows) -> None:
    """Require the mean over questions of the share of correct samples."""
    share = max_at_k(**run, k=1)["max@1"]
    shares = [Fraction(sum(x["outcomes"]), len(x["outcomes"])) for x in questions]
    expected = float(exact.mean_of(shares))
    assert math.isclose(share, expected, abs_tol=1e-12), f"{share}, but {expected} was written"


def _read_file(random_: random.Random, folder: Path) -> str:
    """Read a file, of which two of three are damaged, and return its name."""
    name, questions = random_.choice([*FILES]), _questions(random_)
    make, options = FILES[name]
    data, path = make(questions), folder / name
    if random_.random() < 1 / 3:
        path.write_bytes(data)
        _require_share(read_run(str(path), **options), questions)
    else:
        _read_damaged(path, data, random_)
    return name


def _read_log(random_: random.Random, folder: Path) -> str:
    """Read the damaged log of a tool, and return its name."""
    log = random_.choice(LOGS)
    _read_damaged(folder / log.name, log.read_bytes(), random_)
    return log.name


def _read_damaged(path: Path, data: bytes, random_: random.Random) -> None:
    """Write a file with damage, and read it; an AssertionError if an error does not help."""
    if path.suffix in (".json", ".jsonl") and random_.random() < 0.5:
        path.write_bytes(_damaged_json(data, path.suffix == ".jsonl", random_))
    else:
        path.write_bytes(_damaged(data, random_))
    try:
        read_run(str(path), **random_.choice(_OPTIONS))
    except (ValueError, TypeError) as error:
        if not str(error).strip() or "unexpected keyword" in str(error):
            raise AssertionError("an error that does not help") from error


def _read_parts(random_: random.Random, folder: Path) -> str:
    """Read samples of the same questions in several files."""
    questions = _questions(random_)
    samples = [{"id": x["id"], "correct": x["passed"] == "yes"} for x in _samples(questions)]
    random_.shuffle(samples)
    cuts = sorted(random_.randint(1, len(samples)) for _ in range(2))
    parts = [samples[a:b] for a, b in itertools.pairwise([0, *cuts, len(samples)]) if a < b]
    suffix, write = random_.choice([(".parquet", _parquet), (".jsonl", _json_lines)])
    for i, part in enumerate(parts):
        (folder / f"run-{i}{suffix}").write_bytes(write(part))
    _require_share(at_k.read(f"{folder}/run-*{suffix}"), questions)
    return f"{len(parts)} parts"


# --- Outcomes beside columns of any names -------------------------------------------------

# Columns that can stand beside outcomes, as functions of the question, the sample and the row.
BESIDE: dict[str, Callable[[int, int, int], Any]] = {
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
OF_QUESTIONS = ("task_id", "prompt", "answer", "model", "filter")


def _counted(run: Any) -> list[tuple[int, int]]:
    """Return n and the number of correct samples of each question, sorted."""
    rows = run["predictions"]
    if isinstance(rows, dict):
        return sorted(zip(rows["n"], rows["correct"], strict=True))
    return sorted((len(row), sum(row)) for row in rows)


def _rows_of_lists(rows: Rows) -> Rows:
    """Return a row for each question, with lists of what differs between samples."""
    by_question: dict[str, dict[str, Any]] = {}
    for row in rows:
        merged = by_question.setdefault(row["task_id"], {})
        for name, entry in row.items():
            if name in OF_QUESTIONS:
                merged[name] = entry
            else:
                merged.setdefault(name, []).append(entry)
    return [*by_question.values()]


def read_outcomes_beside_columns(random_: random.Random, folder: Path) -> str:
    """Read outcomes beside other columns, of samples or in lists, and return their names."""
    sizes = [random_.randint(1, 4) for _ in range(random_.randint(1, 5))]
    outcomes = [[random_.random() < 0.5 for _ in range(n)] for n in sizes]
    beside = random_.sample([*BESIDE], random_.randint(0, 5))
    name = random_.choice(["correct", "passed", "outcome", "is_correct", "reward"])
    kind, has_lists, as_csv = random_.choice([int, bool]), random_.random() < 0.5, random_.random()
    rows: Rows = []
    for q, s in ((q, s) for q, n in enumerate(sizes) for s in range(n)):
        row = {"task_id": f"t{q}", name: kind(outcomes[q][s])}
        rows.append(row | {other: BESIDE[other](q, s, len(rows)) for other in beside})
    rows = _rows_of_lists(rows) if has_lists else rows
    order = random_.sample([*rows[0]], len(rows[0]))
    if random_.random() < 0.5:
        random_.shuffle(rows)
    rows = [{name: row[name] for name in order} for row in rows]
    path = folder / ("rows.csv" if as_csv < 0.5 else "rows.jsonl")
    if as_csv < 0.5:
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([order, *(row.values() for row in rows)])
    else:
        path.write_bytes(_json_lines(rows))
    expected = sorted((len(row), sum(row)) for row in outcomes)
    with contextlib.suppress(ValueError):
        run = at_k.read(path)
        assert "references" not in run, "a choice that is left to the caller"
        assert _counted(run) == expected, f"{run}, but {expected} was written"
    named = at_k.read(path, outcomes=name, questions="task_id", pool=beside)
    is_text = has_lists and as_csv < 0.5  # lists of Python in cells
    assert is_text or _counted(named) == expected, f"{named}, but {expected} was written"
    return ", ".join(order)


def read_counts_beside_columns(random_: random.Random, folder: Path) -> str:
    """Read counts of samples in several shards beside other columns, and return their names."""
    n, correct = random_.choice([("n", "correct"), ("n", "c"), ("num_samples", "num_correct")])
    beside = random_.sample(["prompt", "model", "latency"], random_.randint(0, 3))
    shards, rows, expected = random_.randint(1, 3), [], []
    for q in range(random_.randint(1, 5)):
        c = random_.randint(0, 9)
        size = random_.randint(max(c, 1), 12)
        row = {"task_id": f"t{q}", n: size, correct: c}
        rows += [row | {name: BESIDE[name](q, 0, q) for name in beside}] * shards
        expected.append((shards * size, shards * c))
    random_.shuffle(rows)
    try:
        run = at_k.read(rows)
    except ValueError:
        run = at_k.read(rows, columns={"n": n, "correct": correct})
    assert isinstance(run["predictions"], dict)
    assert _counted(run) == sorted(expected), f"{run}, but {expected} was written"
    return f"{n}, {correct}"


# --- All files ----------------------------------------------------------------------------

Reader = Callable[[random.Random, Path], str]
READERS: dict[Reader, int] = {
    _read_parts: 1,
    _read_log: 6,
    _read_file: 13,
}
"""Functions that write something and read it, by how often each is drawn."""


def check_file(seed: int, *readers: Reader) -> Problem | None:
    """Read one file, or several parts, by one of the readers, or of all."""
    random_, name = random.Random(seed), "?"
    read = (
        random_.choice(readers) if readers else random_.choices([*READERS], [*READERS.values()])[0]
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        try:
            name = read(random_, Path(folder))
        except Exception:
            return Problem(name, seed, traceback.format_exc(limit=-3))
        if time.process_time() - begin > _MOST_SECONDS:
            return Problem(name, seed, f"{time.process_time() - begin:.1f} seconds")
    return None


def check_files(number: int, first_seed: int = 0, *readers: Reader) -> list[Problem]:
    """Read random and damaged files, and return the problems."""
    seeds = range(first_seed, first_seed + number)
    return [problem for seed in seeds if (problem := check_file(seed, *readers))]


if __name__ == "__main__":
    count, seed = [*map(int, sys.argv[1:]), 0][:2]
    problems = check_files(count, seed)
    problems += check_files(count, seed, read_outcomes_beside_columns, read_counts_beside_columns)
    print(*problems, f"{count} files, {len(problems)} problems", sep="\n")
