"""Random calls with the options that `random_calls` leaves out, compared with brute force.

    python tests/random_options.py 20000 [SEED]

These are rates and labels of a checker and what they add to limits, a budget, scores that pick,
weights of votes and of questions, means over groups, advantages, standard errors near 0 and 1, the
shares of an error bar, steps on one metric, comparisons, assertions, verdicts for GitHub, logs of
agents, files of several parts, and the formats in which scores are published. Each call takes less
than five seconds of CPU time.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import at_k
import at_k.testing
import exact
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from at_k.cli.command import main
from random_calls import Rows, metric, random_rows, scored, subset_mean
from scipy import stats

Random = np.random.Generator
_MOST_SECONDS = 5.0
_FIXTURES = Path(__file__).parent / "readers" / "fixtures"
_NAMES = ("pass@k", "pass^k", "maj@k", "mG-Pass@k")


class Difference(Exception):  # noqa: N818 - it is found, not raised to callers
    """A result is not the one of brute force."""


def require(result: Any, expected: Any, call: Any, tolerance: float = 1e-9) -> None:
    """Raise a Difference unless two numbers are equal up to rounding, or both None."""
    if (result is None) != (expected is None) or (
        result is not None
        and not math.isclose(result, float(expected), rel_tol=tolerance, abs_tol=1e-10)
    ):
        raise Difference(f"{call}: {result}, but brute force gives {expected}")


def mean_over(rows: Rows, of_question: Callable[[list[Any]], Fraction]) -> Fraction:
    return exact.mean_of([of_question(row) for row in rows])


def rows_and_k(rng: Random, least: int) -> tuple[Rows, int]:
    """Return outcomes, and a k of at most each n."""
    rows = random_rows(rng, least=least)
    return rows, int(rng.integers(1, min(map(len, scored(rows))) + 1))


# --- A checker that errs ----------------------------------------------------------------


def corrected_values(values: exact.Values, t: Fraction, f: Fraction) -> exact.Values:
    """Return the values of j samples that a checker calls correct.

    Each of them is correct with the weight q1, and each other sample with the weight q0 < 0.
    """
    q0, q1, k = -f / (t - f), (1 - f) / (t - f), len(values) - 1

    def binomial(q: Fraction, size: int, x: int) -> Fraction:
        return math.comb(size, x) * q**x * (1 - q) ** (size - x)

    return tuple(
        sum(
            (
                binomial(q1, j, a) * binomial(q0, k - j, b) * values[a + b]
                for a in range(j + 1)
                for b in range(k - j + 1)
            ),
            Fraction(0),
        )
        for j in range(k + 1)
    )


def check_rates(rng: Random) -> None:
    rows, k = rows_and_k(rng, 1)
    t, f = (float(x) for x in (rng.integers(60, 101) / 100, rng.integers(0, 41) / 100))
    include = [str(x) for x in rng.choice(_NAMES, int(rng.integers(1, 5)), replace=False)]
    confidence = 0.9 if rng.random() < 0.5 and max(map(len, scored(rows))) > 1 else None
    options = {"k": k, "include": include, "checker_rates": (t, f), "confidence": confidence}
    scores = metric("gpassk").compute(predictions=rows, **options)
    for name in include:
        values = corrected_values(exact.values_of(name, k), Fraction(t), Fraction(f))
        expected = subset_mean(scored(rows), values)
        key = name.replace("k", str(k))
        require(scores[key], expected, (rows, options, key), 1e-8)
        if confidence and not scores.get(f"{key}_interval", "").startswith("none"):
            lo, hi = scores[f"{key}_lo"], scores[f"{key}_hi"]
            if not 0 <= lo <= hi <= 1:
                raise Difference(f"{rows}, {options}: limits {lo}, {hi}")


def check_labels(rng: Random) -> None:
    rows = [rng.integers(0, 2, 8).tolist() for _ in range(int(rng.integers(4, 12)))]
    t, f = rng.uniform(0.7, 1), rng.uniform(0, 0.3)
    truth = [[int(rng.random() < (t if x else f)) for x in row] for row in rows]
    labels = [[x if rng.random() < 0.7 else None for x in row] for row in truth]
    pairs = [
        (person, said)
        for of_labels, row in zip(labels, rows, strict=True)
        for person, said in zip(of_labels, row, strict=True)
        if person is not None
    ]
    counts = {
        name: pairs.count(pair)
        for name, pair in {"tp": (1, 1), "fn": (1, 0), "fp": (0, 1), "tn": (0, 0)}.items()
    }
    as_counts = rng.random() < 0.5
    k = int(rng.integers(1, 4))
    options = {"k": k, "include": "pass@k", "labels": counts if as_counts else labels}
    try:
        result = metric("gpassk").compute(predictions=rows, **options)[f"pass@{k}"]
    except ValueError as error:
        if "labels" in str(error) or "do not allow a correction" in str(error):
            return  # too few to show that the checker is better than chance
        raise
    rates = [Fraction(counts[a], counts[a] + counts[b]) for a, b in (("tp", "fn"), ("fp", "tn"))]
    if not as_counts:  # by Bayes' theorem from the shares of correct samples by verdict
        s = Fraction(sum(map(sum, rows)), 8 * len(rows))
        p, q = (Fraction(counts[a], counts[a] + counts[b]) for a, b in (("tp", "fp"), ("fn", "tn")))
        correct = s * p + (1 - s) * q
        rates = [s * p / correct, s * (1 - p) / (1 - correct)]
    values = corrected_values(exact.values_of("pass@k", k), *rates)
    expected = subset_mean(rows, values)
    require(result, expected, (rows, options), 1e-8)


def check_limits_of_labels(rng: Random) -> None:
    """How far labels move limits: the text of `intervals.labelled`, with quantiles of SciPy."""
    rows = [rng.integers(0, 2, int(rng.integers(4, 9))).tolist() for _ in range(rng.integers(2, 9))]
    k, confidence = int(rng.integers(1, 4)), float(rng.choice([0.5, 0.9, 0.99]))
    name = str(rng.choice(["pass@k", "pass^k", "maj@k"]))
    tp, fn, fp, tn = (int(x) for x in rng.integers([40, 0, 0, 40], [400, 20, 20, 400]))
    known = {"k": k, "include": name, "confidence": confidence, "interval": "sampling"}
    t, f, key = tp / (tp + fn), fp / (fp + tn), name.replace("k", str(k))

    def score(t: float, f: float) -> float:
        values = corrected_values(exact.values_of(name, k), Fraction(t), Fraction(f))
        return float(subset_mean(rows, values))

    def limits(yes: int, no: int) -> list[float]:
        lo, hi = stats.beta.interval(confidence, yes + 0.5, no + 0.5)
        return [lo if yes else 0.0, hi if no else 1.0]

    point, compute = score(t, f), metric("gpassk").compute
    under_known = compute(predictions=rows, checker_rates=(t, f), **known)
    of_rates = (
        [score(x, f) - point for x in limits(tp, fn)],
        [score(t, x) - point for x in limits(fp, tn)],
    )
    below = [max(0.0, point - under_known[f"{key}_lo"]), *(min(0.0, *x) for x in of_rates)]
    above = [max(0.0, under_known[f"{key}_hi"] - point), *(max(0.0, *x) for x in of_rates)]
    expected = point - math.hypot(*below), point + math.hypot(*above)
    labels = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    result = compute(predictions=rows, labels=labels, **known)
    for end, limit in zip(("lo", "hi"), expected, strict=True):
        require(result[f"{key}_{end}"], min(1.0, max(0.0, limit)), (rows, labels, known, end), 1e-6)


def check_budget(rng: Random) -> None:
    budget = int(rng.integers(2, 9))
    rows = []
    for _ in range(int(rng.integers(1, 8))):
        first = int(rng.integers(1, budget + 3))  # above the budget: no success
        rows.append([0] * (first - 1) + [1] if first <= budget else [0] * budget)
    k = int(rng.integers(1, budget + 1))
    options = {"k": k, "include": "pass@k", "budget": budget}
    result = metric("gpassk").compute(predictions=rows, **options)
    expected = mean_over(rows, lambda row: Fraction(int(1 in row[:k])))
    require(result[f"pass@{k}"], expected, (rows, options))


# --- Other scores of samples ------------------------------------------------------------


def subsets(n: int, k: int) -> list[tuple[int, ...]]:
    return [*itertools.combinations(range(n), k)]


def values_like(rng: Random, rows: Rows, largest: int = 8) -> Rows:
    """Return a multiple of 1/8 for each sample, many of them equal."""
    return [(rng.integers(0, largest + 1, len(row)) / 8).tolist() for row in rows]


def check_picked(rng: Random) -> None:
    rows, k = rows_and_k(rng, 1)
    if rng.random() < 0.5:
        rows = [[x if x is None else float(rng.integers(-8, 9)) / 8 for x in row] for row in rows]
        rows[0] = [0.625, *rows[0][1:]] if rows[0][0] is not None else [*rows[0], 0.625]
    scores = values_like(rng, rows)

    def picked(row: list[Any], by: list[float]) -> Fraction:
        pairs = [(y, Fraction(x)) for x, y in zip(row, by, strict=True) if x is not None]
        means = []
        for subset in subsets(len(pairs), k):
            top = max(pairs[i][0] for i in subset)
            means.append(exact.mean_of([pairs[i][1] for i in subset if pairs[i][0] == top]))
        return exact.mean_of(means)

    options = {"k": k, "picked_by": scores}
    result = metric("max_at_k").compute(predictions=rows, **options)
    expected = exact.mean_of([picked(*pair) for pair in zip(rows, scores, strict=True)])
    require(result[f"picked@{k}"], expected, (rows, options))


def check_votes(rng: Random) -> None:
    answers = [
        rng.choice(["a", "b", "c"], int(rng.integers(1, 7))).tolist()
        for _ in range(int(rng.integers(1, 5)))
    ]
    references = rng.choice(["a", "b", "c"], len(answers)).tolist()
    weights, k = values_like(rng, answers, 3), int(rng.integers(1, min(map(len, answers)) + 1))

    def wins(row: list[str], weight: list[float], reference: str) -> Fraction:
        shares = []
        for subset in subsets(len(row), k):
            sums: dict[str, Fraction] = {}
            for i in subset:
                sums[row[i]] = sums.get(row[i], Fraction(0)) + Fraction(weight[i])
            top = max(sums.values())
            winners = [answer for answer, total in sums.items() if total == top and top > 0]
            shares.append(Fraction(winners.count(reference), max(1, len(winners))))
        return exact.mean_of(shares)

    options = {"k": k, "references": references, "vote_weights": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = metric("cons_at_k").compute(predictions=answers, **options)
    triples = zip(answers, weights, references, strict=True)
    expected = exact.mean_of([wins(*triple) for triple in triples])
    require(result[f"weighted_vote@{k}"], expected, (answers, options))


def check_advantages(rng: Random) -> None:
    is_max = rng.random() < 0.3
    n = int(rng.integers(1, 6))
    sizes = rng.integers(1, 6, int(rng.integers(1, 4))) if rng.random() < 0.5 else [n, n]
    rows: Rows = [
        [
            None
            if rng.random() < 0.1
            else float(rng.integers(-8, 9) / 8 if is_max else rng.integers(0, 2))
            for _ in range(size)
        ]
        for size in sizes
    ]
    rows = [row if any(x is not None for x in row) else [1.0, *row] for row in rows]
    least = min(map(len, scored(rows)))
    baseline = str(rng.choice(["marginal", "none", "leave-one-out", "centered"]))
    ks = [int(k) for k in rng.integers(1, least + 1, 2)]
    if baseline in ("leave-one-out", "centered"):
        ks = [k for k in ks if k < least]
        if not ks:
            return
    weight_of = {k: float(rng.integers(-4, 5)) / 4 for k in ks} if rng.random() < 0.3 else ks[0]
    score = "max@k" if is_max else str(rng.choice([*_NAMES, "G-Pass@k_0.5"]))
    by_k = weight_of if isinstance(weight_of, dict) else {weight_of: 1.0}

    def weights(row: list[Any]) -> list[float]:
        kept = [x for x in row if x is not None]
        of_ks = [
            [factor * x for x in exact.advantages(kept, k, score, baseline)]
            for k, factor in by_k.items()
        ]
        result, n = [sum(x) for x in zip(*of_ks, strict=True)], len(kept)
        of_unscored = sum(result) / n if baseline == "centered" else 0.0
        rest_of = iter(result)
        return [of_unscored if x is None else next(rest_of) for x in row]

    options: dict[str, Any] = {"k": weight_of, "score": score, "baseline": baseline}
    expected = [weights(row) for row in rows]
    form = int(rng.integers(3))
    if form == 1:
        order = rng.permutation(sum(map(len, rows))).tolist()
        flat = [x for row in rows for x in row]
        prompts = [f"q{i}" for i, row in enumerate(rows) for _ in row]
        wanted = [x for row in expected for x in row]
        got = at_k.advantages(
            [flat[i] for i in order], groups=[prompts[i] for i in order], **options
        )
        pairs = [*zip(got, [wanted[i] for i in order], strict=True)]
    else:
        container = [np.array(row, float) for row in rows] if form == 2 else rows
        got = at_k.advantages(container, **options)
        pairs = [
            pair for a, b in zip(got, expected, strict=True) for pair in zip(a, b, strict=True)
        ]
    for result, wanted_weight in pairs:
        require(result, wanted_weight, (rows, options, form))


# --- Steps and comparisons --------------------------------------------------------------


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
    rows = [rng.choice(list("abcd"), rng.integers(2, 7)).tolist() for _ in range(questions)]
    return rows, rng.choice(list("abcd"), questions).tolist()


def add_in_steps(rng: Random, target: Any, rows: Rows, references: list[str]) -> None:
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


def interrupt(rng: Random, target: Any, pairs: set[tuple[str, str]]) -> None:
    """Let a computation fail at one of its pairs. The metric must keep what it has."""
    before = len(target)
    error = [RuntimeError("no"), KeyboardInterrupt(), MemoryError()][rng.integers(3)]
    checker = Interrupt(int(rng.integers(0, len(pairs))), error)
    with contextlib.suppress(ValueError, KeyboardInterrupt, MemoryError):
        target.compute(k=1, check_correct_fn=checker)
    require(len(target), before, error)


def check_steps(rng: Random) -> None:
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


def random_interval_for(rng: Random, rows: Rows) -> str:
    """Return an interval. One question does not show how questions vary."""
    return "sampling" if len(rows) == 1 or rng.random() < 0.2 else "questions"


def check_comparison(rng: Random) -> None:
    first = random_rows(rng, least=2)
    second = [rng.integers(0, 2, rng.integers(2, 9)).tolist() for _ in first]
    k = int(rng.integers(1, min(len(row) for row in (*scored(first), *second)) + 1))
    a, b = (subset_mean(rows, exact.values_of("pass@k", k)) for rows in (scored(first), second))
    interval = random_interval_for(rng, first)
    key, result = f"pass@{k}", at_k.compare(first, second, "pass@k", k=k, interval=interval)
    for name, expected in {key: b - a, f"{key}_a": a, f"{key}_b": b}.items():
        require(result[name], expected, (first, second, k, interval, name))
    lo, hi = result.get(f"{key}_lo", -1.0), result.get(f"{key}_hi", 1.0)
    if not -1 <= lo <= result[key] + 1e-12 <= hi + 2e-12 <= 1 + 2e-12:
        call = f"{first}, {second}, {k}, {interval}"
        raise Difference(f"{call}: limits {lo}, {hi} of {result[key]}")


# --- Weights and means over groups ------------------------------------------------------


def weighted_mean(values: list[Fraction], weights: list[Fraction]) -> Fraction:
    return sum((w * x for w, x in zip(weights, values, strict=True)), Fraction(0)) / sum(weights)


def random_averaging(rng: Random, size: int) -> tuple[dict[str, Any], list[Fraction]]:
    """Return options for a number of questions, and the weight of each that they amount to."""
    weights = [Fraction(1)] * size
    options: dict[str, Any] = {}
    if rng.random() < 0.7:
        numbers = rng.integers(0, 6, size)
        numbers[rng.integers(size)] = 1
        factor = float(rng.choice([1, 0.1, 1e20, 1e-20]))
        options["question_weights"] = (numbers * factor).tolist()
        weights = [*map(Fraction, options["question_weights"])]
    if rng.random() < 0.5:
        labels = rng.choice(["a", "b", "c"], size).tolist()
        sums = {x: sum(w for w, y in zip(weights, labels, strict=True) if x == y) for x in labels}
        if all(sums.values()):
            options |= {"groups": labels, "average": "groups"}
            weights = [w / sums[label] for w, label in zip(weights, labels, strict=True)]
    return options, weights


def result_with_limits(compute: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Return a result, or None if one question alone has no limits for others."""
    try:
        return compute()
    except ValueError as error:
        if "does not show how questions vary" not in str(error):
            raise
        return None


def check_averaging(rng: Random) -> None:
    rows = [rng.integers(0, 2, rng.integers(2, 7)).tolist() for _ in range(rng.integers(2, 9))]
    other = [rng.integers(0, 2, rng.integers(2, 7)).tolist() for _ in rows]
    k = int(rng.integers(1, min(map(len, (*rows, *other))) + 1))
    options, weights = random_averaging(rng, len(rows))
    name = str(rng.choice(_NAMES))
    a, b = (
        weighted_mean([exact.subset_mean(row, exact.values_of(name, k)) for row in run], weights)
        for run in (rows, other)
    )
    key, call = name.replace("@k", f"@{k}").replace("^k", f"^{k}"), (rows, other, k, options, name)
    scores = metric("gpassk").compute(predictions=rows, k=k, include=name, **options)
    require(scores[key], a, call)
    if sum(w > 0 for w in weights) < 2:
        return
    interval = str(rng.choice(["sampling", "questions", "posterior", "hierarchical"]))
    limits: dict[str, Any] = {"confidence": 0.9, "interval": interval}
    result = result_with_limits(
        lambda: metric("gpassk").compute(predictions=rows, k=k, include=name, **limits, **options)
    )
    if result is not None:
        require(result[key], a, (*call, interval))
        lo, mu, hi = (result[f"{key}_{x}"] for x in ("lo", "mu", "hi"))
        if not -1e-12 <= lo <= mu + 1e-9 <= hi + 2e-9 <= 1 + 3e-9:
            raise Difference(f"{call}, {interval}: limits {lo}, {hi} of {mu}")
    result = result_with_limits(lambda: at_k.compare(rows, other, name, k=k, **options))
    if result is not None:
        require(result[key], b - a, call)


# --- What is made of scores -------------------------------------------------------------


def check_noise(rng: Random) -> None:
    rows = [rng.integers(0, 2, int(rng.integers(1, 7))).tolist() for _ in range(rng.integers(2, 9))]
    k = int(rng.integers(1, min(map(len, rows)) + 1))
    result = at_k.noise(rows, k=k)[f"pass@{k}"]
    of_questions = [exact.subset_mean(row, exact.values_of("pass@k", k)) for row in rows]
    mean = exact.mean_of(of_questions)
    require(result["score"], mean, (rows, k))
    variance = sample_variance(of_questions)
    require(result["standard_error"], math.sqrt(variance / len(rows)), (rows, k), 1e-6)
    shares = [result[name] or 0.0 for name in ("questions", "samples", "checker")]
    if variance:
        require(sum(shares), 1, (rows, k))


_ODDS = [Fraction(math.exp(0.15 * step)) for step in range(-80, 81)]  # of the prior's support
_MOST_SAMPLES = 30  # exact arithmetic takes long for many


@cache
def ways_at_odds(n: int) -> list[tuple[list[int], int]]:
    """Return the probabilities of 0 .. n correct samples at each of the odds, times an integer."""
    pairs = [(odds.numerator, odds.denominator) for odds in _ODDS]
    return [
        ([math.comb(n, c) * a**c * b ** (n - c) for c in range(n + 1)], (a + b) ** n)
        for a, b in pairs
    ]


def prior_by_em(n: list[int], c: list[int]) -> list[tuple[int, np.ndarray]]:
    """Return each n with the prior that `intervals.prior` describes, split by n."""
    likelihood = np.array(
        [
            [ways[x] / total for ways, total in ways_at_odds(size)]
            for size, x in zip(n, c, strict=True)
        ]
    )
    prior = np.array([float(x / (1 + x) ** 2) for x in _ODDS])
    prior /= prior.sum()
    for _ in range(max(20, int(2 * math.sqrt(len(n)))) - 1):
        prior = prior * np.mean(likelihood / (likelihood @ prior)[:, None], axis=0)
    split = prior * likelihood / (likelihood @ prior)[:, None] / len(n)
    return [(size, split[np.equal(n, size)].sum(axis=0)) for size in sorted({*n})]


def check_variance(rng: Random) -> None:
    """Standard errors of scores near 0, near 1 and in between, in exact arithmetic."""
    questions = int(rng.choice([2, 3, 10, 40]))
    sizes = rng.integers(2, _MOST_SAMPLES + 1, 2)
    n = [int(x) for x in rng.choice(sizes, questions)]
    rate = float(rng.choice([0.0, 0.002, 0.5, 0.998, 1.0]))
    c = [int(rng.integers(0, x + 1) if rate == 0.5 else rng.binomial(x, rate)) for x in n]
    name, k = str(rng.choice(_NAMES)), int(rng.integers(1, min(n) + 1))
    values, key = exact.values_of(name, k), name.replace("k", str(k))
    within = 0.0
    for size, prior in prior_by_em(n, c):
        h = [exact.hypergeometric_mean(size, x, values) for x in range(size + 1)]
        divisor = math.lcm(*(x.denominator for x in h))
        numbers = [int(x * divisor) for x in h]
        for (ways, of_all), weight in zip(ways_at_odds(size), prior.tolist(), strict=True):
            mean, square = (
                Fraction(
                    sum(w * x**power for w, x in zip(ways, numbers, strict=True)),
                    of_all * divisor**power,
                )
                for power in (1, 2)
            )
            within += weight * float(square - mean**2)
    scores = [exact.hypergeometric_mean(*pair, values) for pair in zip(n, c, strict=True)]
    counts, options = at_k.Counts(n, c), {"k": k, "include": name, "confidence": 0.9}
    for interval, variance in (("sampling", within), ("questions", sample_variance(scores))):
        sigma = metric("gpassk").compute(predictions=counts, interval=interval, **options)
        expected = math.sqrt(variance / questions)
        require(sigma[f"{key}_sigma"], expected, (n, c, key, interval), 1e-6)
        if expected > 1e-100 and not math.isclose(sigma[f"{key}_sigma"], expected, rel_tol=1e-6):
            raise Difference(f"{n}, {c}, {key}, {interval}: {sigma}, {expected}")


def sample_variance(numbers: list[Fraction]) -> Fraction:
    mean = exact.mean_of(numbers)
    return sum(((x - mean) ** 2 for x in numbers), Fraction(0)) / (len(numbers) - 1)


def check_assertion(rng: Random) -> None:
    rows = [rng.integers(0, 2, 6).tolist() for _ in range(int(rng.integers(2, 9)))]
    k, threshold = int(rng.integers(1, 7)), float(rng.integers(0, 21) / 20)
    interval = str(rng.choice(["sampling", "questions"]))
    scores = metric("gpassk").compute(
        predictions=rows, k=k, include="pass@k", confidence=0.95, interval=interval
    )
    try:
        at_k.testing.assert_at_least(rows, threshold, k=k, interval=interval)
        is_shown = True
    except AssertionError:
        is_shown = False
    lo = scores[f"pass@{k}_lo"]
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


def check_github(rng: Random) -> None:
    """The annotation and the summary of a gate have the numbers and the verdict of `compute`."""
    rows = [rng.integers(0, 2, 6).tolist() for _ in range(int(rng.integers(2, 9)))]
    k, least = int(rng.integers(1, 7)), int(rng.integers(0, 21)) / 20
    interval = str(rng.choice(["sampling", "questions"]))
    scores = metric("gpassk").compute(
        predictions=rows, k=k, include="pass@k", confidence=0.95, interval=interval
    )
    score, lo, hi = (scores[f"pass@{k}{end}"] for end in ("", "_lo", "_hi"))
    verdict = "shown" if lo >= least else "contrary" if hi < least else "undecided"
    level = {"shown": "notice", "contrary": "error", "undecided": "warning"}[verdict]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        file, summary = Path(folder) / "run.jsonl", Path(folder) / "summary.md"
        file.write_text("".join(json.dumps({"outcomes": row}) + "\n" for row in rows))
        patch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        flags = ("--at-least", least, "--interval", interval, "--format", "github")
        printed = printed_by("gate", file, "--k", k, *flags)
        table = [line for line in summary.read_text().splitlines() if line.startswith("|")]
    key, *cells, last = [cell.strip() for cell in table[-1].strip("|").split("|")]
    call = rows, k, least, interval, printed, table
    if (key, last) != (f"pass@{k}", verdict) or not printed.startswith(f"::{level} "):
        raise Difference(f"{call}: the verdict is {verdict}")
    for cell, number in zip(cells, (score, lo, hi, least), strict=True):
        require(abs(float(cell) - number) <= 0.5001e-4, True, call)
    sentence = printed.partition("::")[2].replace("%25", "%")
    found = re.search(r" is ([\d.]+) \(95 % confidence interval ([\d.]+) to ([\d.]+),", sentence)
    if found is None or [*found.groups()] != cells[:3]:
        raise Difference(f"{call}: the sentence has other numbers than the table")


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
        is_gate = bool(rng.integers(2))
        if not is_gate:
            about = ("--dataset", "o/d", "--task", "t", "--format", "eval-results")
            (entry,) = yaml.safe_load(printed_by(*flags, *about))
            score = entry["value"]
        else:
            least = float(rng.integers(1, 20) / 20)
            interval = random_interval_for(rng, rows)
            if interval == "sampling" and max(map(len, counted)) < 2:
                return  # one sample of each question does not show how samples vary
            gate = ("gate", file, "--k", k, "--at-least", least, "--interval", interval)
            score = json.loads(printed_by(*gate, *missing, "--format", "json"))["score"]
        require(score, mean, (table, k, missing, is_gate))


# --- Logs and files ---------------------------------------------------------------------


@cache
def _log(name: str) -> str:
    return (_FIXTURES / name).read_text()


def pass_at_1(outcomes: dict[Any, list[Any]]) -> Fraction:
    """Return the mean over questions with scored samples of the share of correct ones."""
    rows = [row for row in scored([*outcomes.values()]) if row]
    return mean_over(rows, lambda row: Fraction(int(sum(row)), len(row)))


def log_of_swe_bench(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    report = json.loads(_log("swe_bench/org__replay-1.5b.first.json"))
    names = [f"repo__{i}" for i in range(int(rng.integers(1, 9)))]
    solved = [name for name in names if rng.random() < 0.5]
    failed = [name for name in names[1:] if name not in solved and rng.random() < 0.2]
    report |= {"submitted_ids": names, "resolved_ids": solved, "infra_failure_ids": failed}
    report |= {"empty_patch_ids": [], "error_ids": [], "incomplete_ids": []}
    outcomes = {x: [None if x in failed else x in solved] for x in names}
    return report, "org__model.run.json", outcomes


def log_of_tau2(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    log, outcomes = json.loads(_log("tau2/results.json")), {}
    template = next(x for x in log["simulations"] if x["termination_reason"] == "user_stop")
    log["simulations"] = []
    for task in range(int(rng.integers(1, 5))):
        outcomes[task] = rng.integers(0, 2, int(rng.integers(1, 5))).tolist()
        for trial, x in enumerate(outcomes[task]):
            reward = {**(template["reward_info"] or {}), "reward": float(x)}
            ids = {"id": f"{task}-{trial}", "task_id": str(task), "trial": trial}
            log["simulations"].append(template | ids | {"reward_info": reward})
    rng.shuffle(log["simulations"])
    return log, "results.json", outcomes


def log_of_verifiers(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    row, outcomes = json.loads(_log("verifiers/results.jsonl").splitlines()[0]), {}
    rows: list[dict[str, Any]] = []
    for question in range(int(rng.integers(1, 5))):
        outcomes[question] = rng.integers(0, 2, int(rng.integers(1, 5))).tolist()
        rows += [row | {"example_id": question, "reward": float(x)} for x in outcomes[question]]
    return rows, "results.jsonl", outcomes


def log_of_promptfoo(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    row, outcomes = json.loads(_log("promptfoo/results.jsonl").splitlines()[0]), {}
    rows: list[dict[str, Any]] = []
    for question in range(int(rng.integers(1, 5))):
        outcomes[question] = rng.integers(0, 2, int(rng.integers(1, 5))).tolist()
        for x in outcomes[question]:
            case = row["testCase"] | {"vars": {"question": f"{question}"}}
            new = {"success": bool(x), "score": x, "vars": case["vars"], "testCase": case}
            rows.append(row | new | {"testIdx": len(rows), "id": f"r{len(rows)}"})
    return rows, "results.jsonl", outcomes


def log_of_deepeval(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    log, outcomes = json.loads(_log("deepeval/test_run.json")), {}
    case = log["testCases"][0]
    log["testCases"] = []
    for question in range(int(rng.integers(1, 5))):
        outcomes[question] = rng.integers(0, 2, int(rng.integers(1, 5))).tolist()
        for x in outcomes[question]:
            number, result = len(log["testCases"]), {"success": bool(x), "score": float(x)}
            metrics = [case["metricsData"][0] | result]
            new = {"name": f"test_case_{number}", "input": f"{question}", "order": number}
            log["testCases"].append(case | new | {"success": bool(x), "metricsData": metrics})
    return log, "test_run.json", outcomes


def log_of_harbor(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    folder = next((_FIXTURES / "harbor").glob("*/hello-world__replay0"))
    trial, outcomes, trials = json.loads((folder / "result.json").read_text()), {}, []
    for task in range(int(rng.integers(1, 5))):
        rewards = [None if rng.random() < 0.1 else int(x) for x in rng.integers(0, 2, 4)]
        outcomes[task] = rewards if any(x is not None for x in rewards) else [1]
        for i, x in enumerate(outcomes[task]):
            result = None if x is None else {"rewards": {"reward": float(x)}}
            new = {"task_name": f"t{task}", "trial_name": f"t{task}__{i}"}
            trials.append(trial | new | {"verifier_result": result})
    return trials, "trials.json", outcomes


def log_of_a_table(rng: Random) -> tuple[Any, str, dict[Any, list[Any]]]:
    outcomes = {x: rng.integers(0, 2, int(rng.integers(1, 5))).tolist() for x in "abc"}
    data = [[name, bool(x)] for name, row in outcomes.items() for x in row]
    return {"columns": ["question_id", "correct"], "data": data}, "t.table.json", outcomes


LOGS = (
    *(log_of_swe_bench, log_of_tau2, log_of_verifiers, log_of_promptfoo, log_of_deepeval),
    *(log_of_harbor, log_of_a_table),
)
_NODES: tuple[Any, ...] = (
    *(None, [], {}, "", "x", 0, -1, 1e308, True, [None], [[]], {"a": 1}, "\x00", [1, 2], 10**30),
    *(float("nan"), [{}], {"": None}, "nan", [["a"], {"b": []}]),
)


def damaged(rng: Random, value: Any) -> Any:
    """Replace, remove or repeat one part of a value of JSON."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice([*value]))
        if rng.random() < 0.15:
            return {name: x for name, x in value.items() if name != key}
        return value | {key: damaged(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.85:
        i = int(rng.integers(len(value)))
        kind = rng.random()
        if kind < 0.1:
            return value[:i] + value[i + 1 :]
        if kind < 0.2:
            return [*value, value[i]]
        return [*value[:i], damaged(rng, value[i]), *value[i + 1 :]]
    return _NODES[rng.integers(len(_NODES))]


def as_text(log: Any, name: str) -> str:
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in log)
    return json.dumps(log)


def check_log(rng: Random) -> None:
    log, name, outcomes = LOGS[rng.integers(len(LOGS))](rng)
    is_damaged = rng.random() < 0.6
    if is_damaged:
        for _ in range(int(rng.integers(1, 4))):
            log = damaged(rng, log)
        name = name if isinstance(log, list) else name.replace(".jsonl", ".json")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_text(as_text(log, name))
        if is_damaged:  # a result or a helpful error
            with contextlib.suppress(ValueError, TypeError):
                at_k.read(file)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of questions that are left out
            arguments = at_k.read(file, missing="drop")
    scores = metric("max_at_k").compute(**arguments, k=1)
    require(scores["max@1"], pass_at_1(outcomes), (name, log))


def check_parts(rng: Random) -> None:
    """A run in several files, on the disk or in memory, some of Parquet."""
    import fsspec

    outcomes = {f"q{i}": rng.integers(0, 2, int(rng.integers(1, 6))).tolist() for i in range(5)}
    rows = [{"id": name, "correct": bool(x)} for name, row in outcomes.items() for x in row]
    rng.shuffle(rows)
    cuts = sorted(rng.integers(1, len(rows), 2).tolist()) if len(rows) > 2 else []
    parts = [
        part for part in (rows[a:b] for a, b in itertools.pairwise([0, *cuts, len(rows)])) if part
    ]
    in_memory, suffix = rng.random() < 0.5, str(rng.choice([".parquet", ".jsonl"]))
    with tempfile.TemporaryDirectory() as folder:
        base = "memory://random_options" if in_memory else folder
        names = [f"{base}/part-{i}{suffix}" for i in range(len(parts))]
        for name, part in zip(names, parts, strict=True):
            stream = io.BytesIO()
            if suffix == ".parquet":
                pq.write_table(pa.Table.from_pylist(part), stream)
            else:
                stream.write(as_text(part, suffix).encode())
            with fsspec.open(name, "wb") as file:
                file.write(stream.getvalue())
        arguments = at_k.read(names if rng.random() < 0.5 else f"{base}/part-*{suffix}")
        if in_memory:
            fsspec.filesystem("memory").rm("/random_options", recursive=True)
    scores = metric("gpassk").compute(**arguments, k=1, include="pass@k")
    require(scores["pass@1"], pass_at_1(outcomes), (parts, base))


CHECKS = {
    check_rates: 0.07,
    check_labels: 0.05,
    check_limits_of_labels: 0.02,
    check_budget: 0.04,
    check_picked: 0.05,
    check_votes: 0.05,
    check_advantages: 0.07,
    check_variance: 0.02,
    check_noise: 0.03,
    check_steps: 0.15,
    check_averaging: 0.05,
    check_comparison: 0.2,
    check_assertion: 0.02,
    check_plan: 0.02,
    check_formats: 0.02,
    check_github: 0.02,
    check_log: 0.09,
    check_parts: 0.03,
}


def check_options(number: int, seed: int) -> list[str]:
    """Return what is wrong with the calls of seeds from `seed` on."""
    problems, checks, shares = [], [*CHECKS], [*CHECKS.values()]
    for of_call in range(seed, seed + number):
        rng = np.random.default_rng(of_call)
        check = checks[rng.choice(len(checks), p=shares)]
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(rng)
            except Difference as difference:
                problems.append(f"{of_call} {check.__name__}: {difference}")
            except Exception:
                problems.append(f"{of_call} {check.__name__}: {traceback.format_exc(limit=-4)}")
        if (seconds := time.process_time() - begin) > _MOST_SECONDS:
            problems.append(f"{of_call} {check.__name__}: {seconds:.1f} seconds")
    return problems


if __name__ == "__main__":
    count, first = [*map(int, sys.argv[1:]), 0][:2]
    for start in range(first, first + count, 1000):
        found = check_options(min(1000, first + count - start), start)
        print(
            *found,
            f"{min(start + 1000 - first, count)} calls, {len(found)} problems",
            sep="\n",
            flush=True,
        )
