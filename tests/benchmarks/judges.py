"""Coverage of intervals that are corrected for the errors of a checker, on known truths.

    python tests/benchmarks/judges.py [RUNS]

The success rates of questions come from six distributions. A checker with one of four pairs of
rates grades n samples of each question. A person labels 100 to 400 of them, drawn at random. An
interval for the same questions covers if it contains the score of their success rates, and one for
other questions if it contains the score of the distribution. With R runs a coverage of 95 % has the
Monte Carlo error sqrt(0.95 x 0.05 / R): 1.5 points for 200 runs.

The lowest of many shares are low by chance too. `repeated` has the settings that were lowest, and
three of a checker with other rates, each with random numbers of its own.

`growth` shows how the standard deviation grows with k, beside that of a checker that never errs.
`errors_of_whole_questions` shows what fails if errors are not independent.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable

import at_k
import numpy as np

_QUESTIONS = 200_000  # that stand for a distribution
_DESIGNS = [(60, 4), (100, 8), (300, 8)]  # M and n
_RATES = [(0.95, 0.02), (0.9, 0.1), (0.8, 0.05), (0.98, 0.2)]  # true positives, false positives
_LABELS = (100, 200, 400)
_SCORES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pass@1": lambda q: q,
    "pass@2": lambda q: 1 - (1 - q) ** 2,
    "pass@4": lambda q: 1 - (1 - q) ** 4,
    "pass^2": lambda q: q**2,
}
_INCLUDE = ["pass@k", "pass^k"]
_REPEATED = [  # distribution, M and n, rates, labels
    ("easy", (60, 4), (0.8, 0.05), 100),
    ("easy", (100, 8), (0.8, 0.05), 100),
    ("easy", (300, 8), (0.8, 0.05), 100),
    ("hard", (100, 8), (0.9, 0.1), 400),
    ("hard", (300, 8), (0.9, 0.1), 400),
    ("uniform", (100, 8), (0.8, 0.05), 400),
    ("uniform", (100, 8), (0.98, 0.2), 200),
    ("a third unsolvable", (100, 8), (0.95, 0.02), 400),
    ("two peaks", (300, 8), (0.95, 0.02), 400),
    ("easy", (100, 8), (0.98, 0.02), 100),
    ("hard", (300, 8), (0.98, 0.01), 100),
    ("hard", (300, 8), (0.98, 0.01), 400),
]


def distributions(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the success rates of many questions, by the name of the distribution."""
    size = _QUESTIONS
    peaks = np.where(rng.random(size) < 0.5, rng.beta(1, 9, size), rng.beta(7, 1, size))
    return {
        "uniform": rng.uniform(size=size),
        "hard": rng.beta(0.5, 2.5, size),
        "easy": rng.beta(3, 0.8, size),
        "two peaks": peaks,
        "a third unsolvable": np.where(rng.random(size) < 0.35, 0.0, rng.beta(2, 2, size)),
        "similar": rng.beta(20, 20, size),
    }


def graded(
    rng: np.random.Generator, q: np.ndarray, n: int, rates: tuple[float, float], labels: int
) -> tuple[np.ndarray, list[list[int | None]]]:
    """Return (M, n) results of the checker, and labels of some samples."""
    correct = rng.random((len(q), n)) < q[:, None]
    called = rng.random(correct.shape) < np.where(correct, *rates)
    labelled = np.zeros(correct.size, bool)
    labelled[rng.choice(correct.size, labels, replace=False)] = True
    pairs = zip(correct.tolist(), labelled.reshape(correct.shape).tolist(), strict=True)
    return called, [
        [int(x) if is_given else None for x, is_given in zip(*row, strict=True)] for row in pairs
    ]


def coverage(runs: int, interval: str) -> tuple[dict[tuple[str, int, str], float], int]:
    """Return the share of intervals that cover in each setting, and how often labels were refused.

    The keys of a setting are the distribution, the number of labels, and the score.
    """
    rng = np.random.default_rng(17)
    metric, refused = at_k.load("gpassk"), 0
    cells: dict[tuple[str, int, str], float] = {}
    for (name, rates_of_questions), labels in itertools.product(
        distributions(rng).items(), _LABELS
    ):
        covered: dict[str, list[bool]] = {key: [] for key in _SCORES}
        for run in range(runs):
            (questions, n), rates = _DESIGNS[run % 3], _RATES[run % 4]
            if labels > questions * n:
                continue
            q = rates_of_questions[rng.integers(0, _QUESTIONS, questions)]
            called, given = graded(rng, q, n, rates, labels)
            try:
                result = metric.compute(
                    predictions=called,
                    k=[1, 2, 4],
                    include=_INCLUDE,
                    confidence=0.95,
                    interval=interval,
                    labels=given,
                )
            except ValueError as error:
                if "labels do not show" not in str(error):
                    raise
                refused += 1
                continue
            for key, score in _SCORES.items():
                truth = score(q if interval == "sampling" else rates_of_questions).mean()
                covered[key].append(result[f"{key}_lo"] <= truth <= result[f"{key}_hi"])
        cells |= {(name, labels, key): float(np.mean(x)) for key, x in covered.items()}
    return cells, refused


def repeated(runs: int) -> list[tuple[str, dict[str, float]]]:
    """Return each setting of _REPEATED, and the coverage of "sampling" for each score."""
    rng, compute, result = np.random.default_rng(4242), at_k.load("gpassk").compute, []
    populations = distributions(np.random.default_rng(1))
    options: dict = {"k": [1, 2, 4], "include": _INCLUDE, "confidence": 0.95}
    for name, (questions, n), rates, labels in _REPEATED:
        covered: dict[str, list[bool]] = {key: [] for key in _SCORES}
        for _ in range(runs):
            q = populations[name][rng.integers(0, _QUESTIONS, questions)]
            called, given = graded(rng, q, n, rates, labels)
            scores = compute(predictions=called, interval="sampling", labels=given, **options)
            for key, score in _SCORES.items():
                covered[key].append(scores[f"{key}_lo"] <= score(q).mean() <= scores[f"{key}_hi"])
        setting = f"{name}, {questions} x {n}, rates {rates}, {labels} labels"
        result.append((setting, {key: float(np.mean(x)) for key, x in covered.items()}))
    return result


def growth(n: int, rates: tuple[float, float], runs: int = 60) -> list[tuple[int, float, float]]:
    """Return k, and the standard deviation of pass@k without errors and with known rates.

    Of 100 questions with uniform success rates, sampled again: the error of the estimate.
    """
    rng, compute = np.random.default_rng(3), at_k.load("gpassk").compute
    k = [x for x in (1, 2, 4, 8, 16, 32) if x <= n]
    errors = np.empty((2, runs, len(k)))
    for which, options in enumerate(({}, {"checker_rates": rates})):
        for run in range(runs):
            q = rng.uniform(size=100)
            called, _ = graded(rng, q, n, rates if options else (1.0, 0.0), 0)
            scores = compute(predictions=called, k=k, include="pass@k", **options)
            errors[which, run] = [scores[f"pass@{x}"] - np.mean(1 - (1 - q) ** x) for x in k]
    return list(zip(k, *errors.std(axis=1).tolist(), strict=True))


def errors_of_whole_questions(runs: int = 300) -> list[tuple[int, float, float]]:
    """Return k, and the bias of pass@k without and with the correction, for errors that correlate.

    The rates are 0.95 and 0.1, but false positives come all at once: in a tenth of the questions
    the checker calls each incorrect sample correct, and in the others none.
    """
    rng, compute, rows = np.random.default_rng(5), at_k.load("gpassk").compute, []
    for k in (1, 2, 4):
        errors = np.empty((runs, 2))
        for run in range(runs):
            q, is_misled = rng.uniform(size=100), rng.random((100, 1)) < 0.1
            correct = rng.random((100, 8)) < q[:, None]
            called = np.where(correct, rng.random(correct.shape) < 0.95, is_misled)
            for which, options in enumerate(({}, {"checker_rates": (0.95, 0.1)})):
                scores = compute(predictions=called, k=k, include="pass@k", **options)
                errors[run, which] = scores[f"pass@{k}"] - np.mean(1 - (1 - q) ** k)
        rows.append((k, *errors.mean(axis=0).tolist()))
    return rows


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    for interval in ("sampling", "questions"):
        start = time.perf_counter()
        cells, refused = coverage(runs, interval)
        values = np.array([*cells.values()])
        print(f"{interval}: mean {values.mean():.1%}, least {values.min():.1%}, ", end="")
        print(f"{refused} refused, {time.perf_counter() - start:.0f} s")
        for labels in _LABELS:
            of_labels = [x for (_, number, _), x in cells.items() if number == labels]
            print(f"  {labels} labels: mean {np.mean(of_labels):.1%}, least {min(of_labels):.1%}")
        for cell, value in sorted(cells.items(), key=lambda item: item[1])[:5]:
            print(f"  {value:.1%} {cell}")
    print("the lowest again, with other random numbers")
    for setting, cells_of in repeated(runs):
        print(f"  {setting}:", *(f"{key} {value:.1%}" for key, value in cells_of.items()))
    for rates, n in itertools.product(((0.9, 0.1), (0.8, 0.2)), (8, 16, 64)):
        print(f"rates {rates}, n = {n}: k, standard deviation without errors, and corrected")
        for k, *deviations in growth(n, rates):
            print(f"  {k}", *(f"{x:.3f}" for x in deviations))
    print("errors of whole questions: k, bias of pass@k without and with the correction")
    for k, *biases in errors_of_whole_questions():
        print(f"  {k}", *(f"{x:+.3f}" for x in biases))


if __name__ == "__main__":
    main()
