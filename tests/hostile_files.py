"""Random files, and random damage to them: what `at_k.read` makes of them.

    python tests/hostile_files.py 20000 [SEED]

Each file is a table, or the log of a tool in `readers/fixtures`. A third of the tables are read as
they are, also in several parts, and give the share of correct samples that they were made with. In
the others, some bytes or some values of JSON are changed, removed, repeated or added. Reading these
gives questions or a ValueError or TypeError. All takes less than five seconds of CPU time. Files
are read in processes of their own, which a crash would end.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import math
import multiprocessing
import random
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import exact
import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from at_k.readers.run import read_run

_MOST_SECONDS = 5.0
_TOKENS = [
    *(b'"', b"'", b",", b"\t", b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"[", b"]", b"{"),
    *(b"}", b":", b"null", b"NaN", b"-1", b"1e400", b"18446744073709551615", b"NA", b"", b" "),
    *(b"[" * 3000, b'{"a":' * 3000, "\u2028é".encode(), b"\\ud800", b"True", b"0.5", b"\\"),
]


Rows = list[dict[str, Any]]
LOGS = sorted(
    path for path in Path(__file__).with_name("readers").rglob("fixtures/*/**/*") if path.is_file()
)
_VALUES: list[Any] = [
    *(None, [], {}, "", "x", 0, -1, 1e308, True, [None], [[]], {"a": 1}, "\x00", [1, 2], 10**30),
    *(float("nan"), [{}], {"": None}, "nan", [["a"], {"b": []}]),
]


class Problem(NamedTuple):
    """A file that gave neither questions nor a helpful error, and what happened."""

    name: str
    seed: int
    what: str


def _rows(random_: random.Random) -> Rows:
    samples = random_.randint(1, 4)
    return [
        {
            "question_id": f"q{i}",
            "outcomes": [random_.randint(0, 1) for _ in range(samples)],
            "text": f'answer "{i}", or so',
            "n": 8,
            "correct": random_.randint(0, 8),
        }
        for i in range(random_.randint(1, 12))
    ]


def _csv(rows: Rows, delimiter: str = ",") -> bytes:
    import csv

    stream = io.StringIO()
    columns = ["question_id", "outcomes", "text"]
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([json.dumps(row[name]) for name in columns] for row in rows)
    return stream.getvalue().encode()


def _counts(rows: Rows) -> bytes:
    lines = ["question_id,n,correct", *(f"{x['question_id']},8,{x['correct']}" for x in rows)]
    return "\n".join(lines).encode()


def _json_lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(rows: Rows) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def _samples(rows: Rows) -> Rows:
    words = {0: "no", 1: "yes"}
    return [
        {"id": x["question_id"], "trial": i, "passed": words[outcome], "error": None}
        for x in rows
        for i, outcome in enumerate(x["outcomes"])
    ]


def _zip(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _outcomes(rows: Rows) -> list[list[int]]:
    return [x["outcomes"] for x in rows]


class File(NamedTuple):
    """A file of a kind.

    Attributes:
        make: returns its bytes for rows of questions.
        options: with which `read` reads it, or None if it is refused.
        outcomes: returns those of each question that are read.
    """

    make: Callable[[Rows], bytes]
    options: dict[str, Any] | None = {}  # noqa: RUF012
    outcomes: Callable[[Rows], list[list[int]]] = _outcomes


_NAMED = {"outcomes": "outcomes"}  # beside counts
FILES: dict[str, File] = {
    "run.csv": File(_csv),
    "run.tsv": File(lambda rows: _csv(rows, "\t")),
    "counts.csv": File(
        _counts, {}, lambda rows: [[1] * x["correct"] + [0] * (8 - x["correct"]) for x in rows]
    ),
    "run.jsonl": File(_json_lines, _NAMED),
    "ids.json": File(lambda rows: _json({x["question_id"]: x["outcomes"] for x in rows})),
    "keyed.json": File(lambda rows: _json({x["question_id"]: x for x in rows}), _NAMED),
    "samples.jsonl": File(lambda rows: _json_lines(_samples(rows))),
    "run.csv.zip": File(lambda rows: _zip({"run.csv": _csv(rows)})),
    "run.json": File(_json, _NAMED),
    "nested.json": File(
        lambda rows: _json({"results": {"rows": rows}}), {"records": "results.rows", **_NAMED}
    ),
    "run.parquet": File(_parquet, _NAMED),
    "run.jsonl.gz": File(lambda rows: gzip.compress(_json_lines(rows)), _NAMED),
    "run.csv.bz2": File(lambda rows: bz2.compress(_csv(rows))),
    "run.json.xz": File(lambda rows: lzma.compress(_json(rows)), _NAMED),
    "run.txt": File(_csv, None),
}
_OPTIONS: list[dict[str, Any]] = [
    {},
    {"outcomes": "outcomes"},
    {"outcomes": "outcomes", "questions": "question_id"},
    {"records": "results.rows"},
    {"where": {"question_id": "q0"}},
    {"columns": {"n": "n", "correct": "correct"}},
    {"group_size": 2},
    {"missing": "drop"},
    {"missing": "incorrect"},
    {"correct_at_least": 0.5},
    {"correct_values": ["yes", 1]},
]


# --- Damage -----------------------------------------------------------------------------


def _damaged(data: bytes, random_: random.Random) -> bytes:
    for _ in range(random_.randint(0, 3)):
        start = random_.randint(0, len(data))
        end = min(len(data), start + random_.choice([0, 1, 2, 8, 60, len(data)]))
        kind = random_.randrange(4)
        if kind == 0:
            data = data[:start] + data[end:]
        elif kind == 1:
            data = data[:start] + random_.choice(_TOKENS) + data[end:]
        elif kind == 2:
            data = data[:start] + random_.choice(_TOKENS) + data[start:]
        else:
            data = data[:end] + data[start:end] + data[end:]
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


def _require_share(run: Any, outcomes: list[list[int]]) -> None:
    """Require the mean over questions of the share of correct samples."""
    share = at_k.load("max_at_k").compute(**run, k=1)["max@1"]
    expected = float(exact.mean_of([Fraction(sum(row), len(row)) for row in outcomes]))
    assert math.isclose(share, expected, abs_tol=1e-12), f"{share}, but {expected} was written"


def _read(path: Path, options: dict[str, Any]) -> Any:
    # Only the command names where the rows are in an object of JSON.
    return read_run(str(path), **options) if "records" in options else at_k.read(path, **options)


def _read_file(random_: random.Random, folder: Path) -> str:
    """Read a file, of which two of three are damaged, and return its name."""
    name, rows = random_.choice([*FILES]), _rows(random_)
    make, options, outcomes = FILES[name]
    data, path = make(rows), folder / name
    if options is not None and random_.random() < 1 / 3:
        path.write_bytes(data)
        _require_share(_read(path, options), outcomes(rows))
        return name
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
        _read(path, random_.choice(_OPTIONS))
    except (ValueError, TypeError) as error:
        if not str(error).strip() or "unexpected keyword" in str(error):
            raise AssertionError("an error that does not help") from error


def _read_parts(random_: random.Random, folder: Path) -> str:
    """Read samples of the same questions in several files, on the disk or in memory."""
    rows = _rows(random_)
    samples = [{"id": x["id"], "correct": x["passed"] == "yes"} for x in _samples(rows)]
    random_.shuffle(samples)
    cuts = sorted(random_.randint(1, len(samples)) for _ in range(2))
    parts = [samples[a:b] for a, b in itertools.pairwise([0, *cuts, len(samples)]) if a < b]
    base = random_.choice(["memory://hostile_files", str(folder)])
    suffix, write = random_.choice([(".parquet", _parquet), (".jsonl", _json_lines)])
    names = [f"{base}/run-{i}{suffix}" for i in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        with fsspec.open(name, "wb") as file:
            file.write(write(part))
    run = at_k.read(random_.choice([names, f"{base}/run-*{suffix}"]))
    _require_share(run, _outcomes(rows))
    if base.startswith("memory"):
        fsspec.filesystem("memory").rm("/hostile_files", recursive=True)
    return f"{len(parts)} parts"


def check_file(seed: int) -> Problem | None:
    """Read one file, or several parts."""
    random_, name = random.Random(seed), "?"
    read = random_.choices([_read_parts, _read_log, _read_file], [1, 6, 13])[0]
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


def check_files(number: int, first_seed: int = 0, processes: int = 1) -> list[Problem]:
    """Read damaged files, and return the problems. A crash is found by its seeds."""
    problems = []
    step = 50
    context = multiprocessing.get_context("spawn")
    for start in range(first_seed, first_seed + number, step * processes * 8):
        seeds = range(start, min(first_seed + number, start + step * processes * 8))
        try:
            with ProcessPoolExecutor(processes, context) as pool:
                problems += [x for x in pool.map(check_file, seeds, chunksize=step) if x]
        except Exception as error:
            problems.append(Problem("?", start, f"a process ended: {error}"))
    return problems


if __name__ == "__main__":
    count, seed = [*map(int, sys.argv[1:]), 0][:2]
    problems = check_files(count, seed, processes=2)
    print(*problems, f"{count} files, {len(problems)} problems", sep="\n")
