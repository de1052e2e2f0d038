"""Random sequences of calls: metrics that are filled in steps, and what is made of scores.

Metrics are filled by `add` and `add_batch`, and interrupted by errors of the checker or by Ctrl+C.
The verdicts of assertions, and the numbers that the command prints for a gate and for the Hub, are
those of `compute`. Predicted half-widths fall with the number of questions.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import re
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import at_k
import at_k.testing
import exact
import numpy as np
import pyarrow as pa
import yaml
from at_k.cli.command import main
from random_calls import (
    Random,
    Rows,
    metric,
    random_rows,
    scored,
    subset_mean,
)


class Difference(Exception):  # noqa: N818 - it is found, not raised to callers
    """A result is not the one of brute force."""


def require(result: Any, expected: Any, call: Any, tolerance: float = 1e-9) -> None:
    """Raise a Difference unless two numbers are equal up to rounding."""
    if not math.isclose(result, float(expected), rel_tol=tolerance, abs_tol=1e-10):
        raise Difference(f"{call}: {result}, but brute force gives {expected}")


# --- Steps ------------------------------------------------------------------------------


class Interrupt:
    """A checker that works for a number of pairs, and then raises an error."""

    def __init__(self, pairs: int, error: BaseException):
        self.pairs, self.error = pairs, error

    def __call__(self, prediction: str, reference: str) -> bool:
        if self.pairs == 0:
            raise self.error
        self.pairs -= 1
        return prediction == reference


def random_answers(rng: Random) -> tuple[Rows, list[str]]:
    """Return the answers to 1 to 7 questions, and the references."""
    questions = int(rng.integers(1, 8))
    rows = [rng.choice([*"abcd"], rng.integers(2, 7)).tolist() for _ in range(questions)]
    return rows, rng.choice([*"abcd"], questions).tolist()


def add_in_steps(rng: Random, target: Any, rows: Rows, references: list[str]) -> None:
    """Add questions one by one and in batches of several types, with failing steps in between."""
    start = 0
    while start < len(rows):
        size = int(rng.integers(1, 4))
        batch = rows[start : start + size], references[start : start + size]
        kind = rng.integers(4)
        if kind == 0:
            target.add(prediction=rows[start], reference=references[start])
            size = 1
        elif kind == 1:
            target.add_batch(predictions=batch[0], references=batch[1])
        elif kind == 2:
            target.add_batch(predictions=pa.array(batch[0]), references=np.array(batch[1]))
        else:
            target.add_batch(predictions=tuple(map(tuple, batch[0])), references=pa.array(batch[1]))
        start += size
        if rng.random() < 0.3:
            added = zip(rows[:start], references[:start], strict=True)
            interrupt(
                rng, target, {(answer, reference) for row, reference in added for answer in row}
            )


def interrupt(rng: Random, target: Any, pairs: set[tuple[str, str]]) -> None:
    """Let a computation fail at one of its pairs. The metric must keep what it has."""
    before = len(target)
    error = [RuntimeError("no"), KeyboardInterrupt(), MemoryError()][rng.integers(3)]
    checker = Interrupt(int(rng.integers(0, len(pairs))), error)
    with contextlib.suppress(ValueError, KeyboardInterrupt, MemoryError):
        target.compute(k=1, check_correct_fn=checker)
    require(len(target), before, error)


def check_adding(rng: Random) -> None:
    """A computation may be interrupted by an error of the checker or by Ctrl+C: nothing is lost."""
    target = metric("cons_at_k")
    rows, references = random_answers(rng)
    k = int(rng.integers(1, min(map(len, rows)) + 1))
    add_in_steps(rng, target, rows, references)
    result = target.compute(k=k)
    require(len(target), 0, rows)
    outcomes = [[int(x == y) for x in row] for row, y in zip(rows, references, strict=True)]
    require(result[f"pass@{k}"], subset_mean(outcomes, exact.values_of("pass@k", k)), rows)
    votes = []
    for row, reference in zip(rows, references, strict=True):
        counts = Counter(row)
        correct = [counts.pop(reference)] if reference in counts else []
        votes.append(exact.vote(correct, [*counts.values()], 0, k))
    require(result[f"vote@{k}"], exact.mean_of(votes), (rows, references, k))


# --- What is made of scores -------------------------------------------------------------


def random_run(rng: Random) -> tuple[Rows, int, str, tuple[float, float, float]]:
    """Return outcomes, a k, an interval, and the score with its limits."""
    rows = [rng.integers(0, 2, 6).tolist() for _ in range(int(rng.integers(2, 9)))]
    k, interval = int(rng.integers(1, 7)), str(rng.choice(["sampling", "questions"]))
    scores = metric("gpassk").compute(
        predictions=rows, k=k, include="pass@k", confidence=0.95, interval=interval
    )
    return rows, k, interval, (scores[f"pass@{k}"], scores[f"pass@{k}_lo"], scores[f"pass@{k}_hi"])


def check_assertion(rng: Random) -> None:
    rows, k, interval, (_, lo, _) = random_run(rng)
    threshold = float(rng.integers(0, 21) / 20)
    try:
        at_k.testing.assert_at_least(rows, threshold, k=k, interval=interval)
        is_shown = True
    except AssertionError:
        is_shown = False
    if abs(lo - threshold) > 1e-9 and is_shown != (lo >= threshold):
        raise Difference(
            f"{rows}, {k}, {threshold}, {interval}: shown {is_shown}, lower limit {lo}"
        )


def check_plan(rng: Random) -> None:
    rows = [rng.integers(0, 2, int(rng.integers(2, 7))).tolist() for _ in range(rng.integers(2, 9))]
    k = int(rng.integers(1, min(map(len, rows)) + 1))
    questions = sorted({int(x) for x in rng.integers(2, 500, 3)})
    result = at_k.plan(rows, k=k, questions=questions, samples=int(rng.integers(k, 20)))
    for name in ("half_width_sampling", "half_width_questions"):
        widths = [row[name] for row in result["rows"] if row[name] is not None]
        if not all(0 <= after <= before + 1e-12 for before, after in itertools.pairwise(widths)):
            raise Difference(f"{rows}, {k}, {questions}: {name} {widths}")


def printed_by(*arguments: Any) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(x) for x in arguments])
    if status == 2:
        raise Difference(f"{arguments}: {err.getvalue()}")
    return out.getvalue()


def check_gate(rng: Random) -> None:
    """A gate has the limits of `compute`, also in its sentence, and its verdict follows."""
    rows, k, interval, (score, lo, hi) = random_run(rng)
    least = float(rng.integers(0, 21) / 20)
    verdict = "shown" if lo >= least else "contrary" if hi < least else "undecided"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        file.write_text("".join(json.dumps({"outcomes": row}) + "\n" for row in rows))
        flags = ("--k", k, "--at-least", least, "--interval", interval, "--format", "json")
        gate = json.loads(printed_by("gate", file, *flags))
    call = rows, k, least, interval, gate
    if gate["status"] != verdict:
        raise Difference(f"{call}: the verdict is {verdict}")
    for name, number in (("score", score), ("lo", lo), ("hi", hi)):
        require(abs(gate[name] - number) <= 1e-9, True, call)
    numbers = r" is ([\d.]+) \(95 % confidence interval ([\d.]+) to ([\d.]+),"
    match = re.search(numbers, gate["message"])
    if match is None or [*match.groups()] != [f"{x:.4f}" for x in (score, lo, hi)]:
        raise Difference(f"{call}: the sentence has other numbers")


def check_formats(rng: Random) -> None:
    """Unscored samples are left out, or counted as incorrect, as --missing says."""
    rows = random_rows(rng)
    missing = ("--missing", str(rng.choice(["drop", "incorrect"])))
    counted = scored(rows) if "drop" in missing else [[x or 0 for x in row] for row in rows]
    k = int(rng.integers(1, min(map(len, counted)) + 1))
    mean = subset_mean(counted, exact.values_of("pass@k", k))
    table = [
        {"id": name, "correct": x} for name, row in zip("abcdefgh", rows, strict=False) for x in row
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in table))
        flags = ("gpassk", file, "--include", "pass@k", "--k", k, *missing)
        about = ("--dataset", "o/d", "--task", "t", "--format", "eval-results")
        (entry,) = yaml.safe_load(printed_by(*flags, *about))
        require(entry["value"], mean, (table, k, missing))


CHECKS = {
    check_adding: 0.5,
    check_assertion: 0.1,
    check_plan: 0.1,
    check_formats: 0.15,
    check_gate: 0.15,
}


def check_steps(number: int, seed: int) -> list[str]:
    """Return what is wrong with the sequences of seeds from `seed` on."""
    problems, checks, shares = [], [*CHECKS], [*CHECKS.values()]
    for sequence in range(seed, seed + number):
        rng = np.random.default_rng(sequence)
        check = checks[rng.choice(len(checks), p=shares)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(rng)
            except Difference as difference:
                problems.append(f"{sequence} {check.__name__}: {difference}")
            except Exception:
                problems.append(f"{sequence} {check.__name__}: {traceback.format_exc(limit=-4)}")
    return problems
