"""Random damage to files: what `at_k.read` makes of them.

    python tests/hostile_files.py 20000 [SEED]

Each file is valid, and then some of its bytes are changed, removed, repeated or added. Reading it
gives questions or a ValueError or TypeError, within five seconds of CPU time. Files are read in
processes of their own, which a crash would end.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
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
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import pyarrow as pa
import pyarrow.parquet as pq

_MOST_SECONDS = 5.0
_TOKENS = [
    *(b'"', b"'", b",", b"\t", b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"[", b"]", b"{"),
    *(b"}", b":", b"null", b"NaN", b"-1", b"1e400", b"18446744073709551615", b"NA", b"", b" "),
    *(b"[" * 3000, b'{"a":' * 3000, "\u2028é".encode(), b"\\ud800", b"True", b"0.5", b"\\"),
]


class Problem(NamedTuple):
    """A file that gave neither questions nor a helpful error, and what happened."""

    name: str
    seed: int
    what: str


def _rows(random_: random.Random) -> list[dict[str, Any]]:
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


def _csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    import csv

    stream = io.StringIO()
    columns = ["question_id", "outcomes", "text"]
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([json.dumps(row[name]) for name in columns] for row in rows)
    return stream.getvalue().encode()


def _counts(rows: list[dict[str, Any]]) -> bytes:
    lines = ["question_id,n,correct", *(f"{x['question_id']},8,{x['correct']}" for x in rows)]
    return "\n".join(lines).encode()


def _json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def _samples(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    words = {0: "no", 1: "yes"}
    return [
        {"id": x["question_id"], "trial": i, "passed": words[outcome], "error": None}
        for x in rows
        for i, outcome in enumerate(x["outcomes"])
    ]


def _tau2(rows: list[dict[str, Any]]) -> dict[str, Any]:
    runs = [
        {"task_id": x["id"], "trial": x["trial"], "termination_reason": "user_stop"}
        | {"reward_info": {"reward": float(x["passed"] == "yes")}}
        for x in _samples(rows)
    ]
    about = {"environment_info": {"domain_name": "mock"}, "agent_info": {"llm": "m"}}
    return {"info": about, "tasks": [], "simulations": runs}


def _report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    ids = [x["question_id"] for x in rows]
    empty = ("empty_patch_ids", "error_ids", "incomplete_ids", "infra_failure_ids")
    return {"submitted_ids": ids, "resolved_ids": ids[::2]} | {name: [] for name in empty}


def _evalplus(rows: list[dict[str, Any]]) -> dict[str, Any]:
    status = {0: ["failed", []], 1: ["success", []]}
    tasks = {x["question_id"]: {"base": [status[y] for y in x["outcomes"]]} for x in rows}
    return {"date": "2024", "hash": "0", "eval": tasks}


def _inspect(rows: list[dict[str, Any]]) -> dict[str, Any]:
    samples = [
        {"id": x["id"], "epoch": x["trial"], "target": "1", "output": {"completion": "1"}}
        | {"scores": {"match": {"value": "C" if x["passed"] == "yes" else "I"}}}
        for x in _samples(rows)
    ]
    about = {"task": "t", "model": "m", "created": "2026", "task_id": "t"}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def _eval(log: dict[str, Any]) -> bytes:
    samples = {f"samples/{i}.json": json.dumps(x).encode() for i, x in enumerate(log["samples"])}
    return _zip({"header.json": json.dumps({**log, "samples": None}).encode(), **samples})


def _zip(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


FILES: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "run.csv": _csv,
    "run.tsv": lambda rows: _csv(rows, "\t"),
    "counts.csv": _counts,
    "run.jsonl": _json_lines,
    "ids.json": lambda rows: json.dumps({x["question_id"]: x["outcomes"] for x in rows}).encode(),
    "keyed.json": lambda rows: json.dumps({x["question_id"]: x for x in rows}).encode(),
    "samples.jsonl": lambda rows: _json_lines(_samples(rows)),
    "tau2.json": lambda rows: json.dumps(_tau2(rows)).encode(),
    "report.json": lambda rows: json.dumps(_report(rows)).encode(),
    "evalplus.json": lambda rows: json.dumps(_evalplus(rows)).encode(),
    "log.json": lambda rows: json.dumps(_inspect(rows)).encode(),
    "log.eval": lambda rows: _eval(_inspect(rows)),
    "run.csv.zip": lambda rows: _zip({"run.csv": _csv(rows)}),
    "run.json": lambda rows: json.dumps(rows).encode(),
    "nested.json": lambda rows: json.dumps({"results": {"rows": rows}}).encode(),
    "run.parquet": _parquet,
    "run.jsonl.gz": lambda rows: gzip.compress(_json_lines(rows)),
    "run.csv.bz2": lambda rows: bz2.compress(_csv(rows)),
    "run.json.xz": lambda rows: lzma.compress(json.dumps(rows).encode()),
    "run.txt": _csv,
}


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


def check_file(seed: int) -> Problem | None:
    """Read one damaged file."""
    random_ = random.Random(seed)
    name = random_.choice(list(FILES))
    data = _damaged(FILES[name](_rows(random_)), random_)
    options: dict[str, Any] = random_.choice(
        [
            {},
            {"outcomes": "outcomes"},
            {"outcomes": "outcomes", "questions": "question_id"},
            {"records": "results.rows"},
            {"where": {"question_id": "q0"}},
            {"n": "n", "correct": "correct"},
            {"group_size": 2},
            {"missing": "drop"},
            {"missing": "incorrect"},
            {"correct_at_least": 0.5},
            {"correct_values": ["yes", 1]},
        ]
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / name
        file.write_bytes(data)
        begin = time.process_time()
        try:
            at_k.read(file, **options)
        except (ValueError, TypeError) as error:
            if not str(error).strip():
                return Problem(name, seed, f"{type(error).__name__} without a message")
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
    found = check_files(count, seed, processes=2)
    print("\n".join(map(str, found)))
    print(f"{count} files, {len(found)} problems")
