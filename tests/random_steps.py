"""Random sequences of steps on one metric, and random comparisons, checked with brute force.

A computation may be interrupted by an error of the checker or by Ctrl+C. Then nothing is lost.
"""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from typing import Any

import at_k
import brute_force as exact
import exact as subsets
import numpy as np
import pyarrow as pa
from agreement import agree, metric
from random_calls import random_rows, scored


class Interrupt:
    """A checker that works for a number of pairs, and then raises an error."""

    def __init__(self, pairs: int, error: BaseException):
        self.pairs, self.error = pairs, error

    def __call__(self, prediction: str, reference: str) -> bool:
        if self.pairs == 0:
            raise self.error
        self.pairs -= 1
        return prediction == reference


def random_answers(rng: np.random.Generator) -> tuple[list[list[str]], list[str]]:
    """Return the answers to 1 to 7 questions, and the references."""
    questions = int(rng.integers(1, 8))
    rows = [rng.choice(list("abcd"), rng.integers(2, 7)).tolist() for _ in range(questions)]
    return rows, rng.choice(list("abcd"), questions).tolist()


def add_in_steps(
    rng: np.random.Generator, target: Any, rows: list[list[str]], references: list[str]
) -> None:
    """Add questions one by one and in batches of several types, with failing steps in between."""
    place = 0
    while place < len(rows):
        size = int(rng.integers(1, 4))
        batch = rows[place : place + size], references[place : place + size]
        kind = rng.integers(4)
        if kind == 0:
            target.add(prediction=rows[place], reference=references[place])
            size = 1
        elif kind == 1:
            target.add_batch(predictions=batch[0], references=batch[1])
        elif kind == 2:
            target.add_batch(predictions=pa.array(batch[0]), references=np.array(batch[1]))
        else:
            target.add_batch(predictions=tuple(map(tuple, batch[0])), references=pa.array(batch[1]))
        place += size
        if rng.random() < 0.3:
            added = zip(rows[:place], references[:place], strict=True)
            interrupt(
                rng, target, {(answer, reference) for row, reference in added for answer in row}
            )


def interrupt(rng: np.random.Generator, target: Any, pairs: set[tuple[str, str]]) -> None:
    """Let a computation fail at one of its pairs. The metric must keep what it has."""
    before = len(target)
    error = [RuntimeError("no"), KeyboardInterrupt(), MemoryError()][rng.integers(3)]
    checker = Interrupt(int(rng.integers(0, len(pairs))), error)
    with suppress(ValueError, KeyboardInterrupt, MemoryError):
        target.compute(k=1, check_correct_fn=checker)
    assert len(target) == before, f"{before} questions became {len(target)} after {error!r}"


def expected_scores(rows: list[list[str]], references: list[str], k: int) -> dict[str, float]:
    """Return pass@k and vote@k by enumeration of all subsets."""
    passed, votes = [], []
    for row, reference in zip(rows, references, strict=True):
        outcomes = [int(answer == reference) for answer in row]
        passed.append(exact.subset_mean(outcomes, exact.values_of("pass", k)))
        counts = Counter(row)
        correct = [counts.pop(reference)] if reference in counts else []
        votes.append(subsets.vote(correct, list(counts.values()), 0, k))
    return {f"pass@{k}": float(exact.mean_of(passed)), f"vote@{k}": float(exact.mean_of(votes))}


def check_steps(rng: np.random.Generator) -> str | None:
    """Compute from random steps, and return how the scores differ, or None."""
    target = metric("cons_at_k")
    rows, references = random_answers(rng)
    k = int(rng.integers(1, min(map(len, rows)) + 1))
    add_in_steps(rng, target, rows, references)
    result = target.compute(k=k)
    expected = expected_scores(rows, references, k)
    if len(target):
        return f"{len(target)} questions are left after compute"
    if agree({key: result[key] for key in expected}, expected):
        return None
    return f"{rows}, {references}, k={k}: {result}, but brute force gives {expected}"


def check_comparison(rng: np.random.Generator) -> str | None:
    """Compare two random runs, and return how the result differs, or None."""
    first = random_rows(rng, least=2)
    second = [rng.integers(0, 2, rng.integers(2, 9)).tolist() for _ in first]
    sizes = [len(row) for row in (*scored(first), *second)]
    k = int(rng.integers(1, min(sizes) + 1))
    values = exact.values_of("pass", k)
    a, b = (
        exact.mean_of([exact.subset_mean(row, values) for row in rows])
        for rows in (scored(first), second)
    )
    key = f"pass@{k}"
    expected: dict[str, Fraction] = {key: b - a, f"{key}_a": a, f"{key}_b": b}
    result = at_k.compare(first, second, "pass@k", k=k, interval="sampling")
    same = agree(
        {name: result[name] for name in expected}, {n: float(x) for n, x in expected.items()}
    )
    limits = result.get(f"{key}_lo", -1.0), result.get(f"{key}_hi", 1.0)
    if same and -1 <= limits[0] <= result[key] + 1e-12 and result[key] - 1e-12 <= limits[1] <= 1:
        return None
    return f"{first}, {second}, k={k}: {result}, but brute force gives {expected}"


def check_random_steps(number: int, seed: int) -> list[str]:
    """Return what differs in sequences of steps and in comparisons, `number` of each."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of samples that are all incorrect
        found = [check(rng) for _ in range(number) for check in (check_steps, check_comparison)]
    return [problem for problem in found if problem]
