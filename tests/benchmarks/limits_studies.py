"""Studies of limits in three situations: labels of a checker, k > n, and several looks.

Each study returns cells as those of `coverage_studies`, with the bias and the root mean square
error of the score. What practice does is beside ours.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from coverage_studies import CONFIDENCE, SAME, Cell, metric
from scipy import stats
from scipy.optimize import minimize
from truths import Truth

CHECKER = (0.92, 0.06)  # its true-positive and its false-positive rate
FOOLED = 0.15  # share of questions whose incorrect samples are all accepted
LABELLED = 150  # samples, about
LABEL_DESIGNS = ("at random", "by verdict", "whole questions", "dependent errors")
LOOKS = (6, 30)


class Labelling(NamedTuple):
    """Success rates, and which samples are labelled.

    Args:
        rates: of the questions.
        design: one of LABEL_DESIGNS.
    """

    rates: Truth
    design: str


class Results:
    """The scores and the limits of one interval over runs."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, float, float, float]] = []

    def add(self, score: float, lo: float, hi: float, truth: float) -> None:
        self._rows.append((score, lo, hi, truth))

    def cell(self) -> Cell:
        score, lo, hi, truth = np.transpose(self._rows)
        return {
            "runs": len(score),
            "coverage": float(np.mean((lo - 1e-12 <= truth) & (truth <= hi + 1e-12))),
            "width": float(np.mean(hi - lo)),
            "bias": float(np.mean(score - truth)),
            "error": float(np.sqrt(np.mean((score - truth) ** 2))),
            "at_end": 0.0,
        }


def study_labels(
    labelling: Labelling, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of pass@1 and pass@4 of a run with labels.

    "rates of the labels" takes the rates of the checker from all labels, as is usual, and
    "uncorrected" reports what the checker accepts.
    """
    results: dict[tuple[str, int], Results] = {}
    for _ in range(runs):
        q = labelling.rates(rng, (1, questions))[0][:, None]
        correct = rng.random((questions, n)) < q
        accepted = rng.random(correct.shape) < np.where(correct, *CHECKER)
        if labelling.design == "dependent errors":
            accepted = np.where(correct, accepted, rng.random((questions, 1)) < FOOLED)
        labels = _labels(correct, accepted, labelling.design, rng)
        options: dict[str, Any] = {"k": [1, 4], "include": "pass@k", "confidence": CONFIDENCE}
        choices: dict[str, dict[str, Any]] = {
            "labels": {"labels": labels},
            "rates of the labels": {"labels": _counts(labels, accepted)},
            "uncorrected": {},
        }
        for name, errors in choices.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    scores = metric("gpassk").compute(
                        predictions=accepted.astype(int), interval="sampling", **options, **errors
                    )
                except ValueError:  # the labels do not show that the checker is of use
                    continue
            for k in (1, 4):
                score, lo, hi = (scores[f"pass@{k}{end}"] for end in ("", "_lo", "_hi"))
                truth = float(np.mean(1 - (1 - q) ** k))
                results.setdefault((name, k), Results()).add(score, lo, hi, truth)
    return [
        {"target": SAME, "interval": name, "score": "pass@k", "k": k, "design": labelling.design}
        | {"questions": questions, "n": n}
        | result.cell()
        for (name, k), result in results.items()
    ]


def _labels(
    correct: np.ndarray, accepted: np.ndarray, design: str, rng: np.random.Generator
) -> list[list[int | None]]:
    weight = np.where(accepted, 6.0, 1.0) if design == "by verdict" else np.ones(correct.shape)
    is_labelled = rng.random(correct.shape) < weight * LABELLED / weight.sum()
    if design == "whole questions":
        is_labelled[:] = rng.random((len(correct), 1)) < LABELLED / correct.size
    labels = correct.astype(object) * 1
    labels[~is_labelled] = None
    return labels.tolist()


def _counts(labels: Sequence[Sequence[int | None]], accepted: np.ndarray) -> dict[str, int]:
    label, verdict = np.array(labels, object), accepted.astype(int)
    cells = {"tp": (1, 1), "fn": (1, 0), "fp": (0, 1), "tn": (0, 0)}
    return {
        name: int(np.sum((label == of_label) & (verdict == of_verdict)))
        for name, (of_label, of_verdict) in cells.items()
    }


def study_beyond(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of pass@k for k = 4n and 16n.

    "Beta-binomial" is the Beta distribution of maximum likelihood, and "plug-in" takes the share of
    correct samples of each question for its success rate. Both have no limits here.
    """
    results: dict[tuple[str, int], Results] = {}
    ks = [4 * n, 16 * n]
    for _ in range(runs):
        q = truth(rng, (1, questions))[0]
        c = rng.binomial(n, q)
        scores = metric("gpassk").compute(
            predictions={"n": [n] * questions, "correct": c.tolist()},
            k=ks,
            include="pass@k",
            confidence=CONFIDENCE,
        )
        a, b = _beta_of(c, n)
        for k in ks:
            true = float(np.mean(1 - (1 - q) ** k))
            score, lo, hi = (scores[f"pass@{k}{end}"] for end in ("", "_lo", "_hi"))
            results.setdefault(("auto", k), Results()).add(score, lo, hi, true)
            others = {
                "Beta-binomial": float(1 - stats.betabinom.pmf(0, k, a, b)),
                "plug-in": float(np.mean(1 - (1 - c / n) ** k)),
            }
            for name, score in others.items():
                results.setdefault((name, k), Results()).add(score, score, score, true)
    return [
        {"target": SAME, "interval": name, "score": "pass@k", "k": k, "k / n": k // n}
        | {"questions": questions, "n": n}
        | result.cell()
        for (name, k), result in results.items()
    ]


def _beta_of(c: np.ndarray, n: int) -> tuple[float, float]:
    def loss(logs: np.ndarray) -> float:
        return -float(stats.betabinom.logpmf(c, n, *np.exp(logs)).sum())

    a, b = np.exp(minimize(loss, [0.0, 0.0], bounds=[(-5, 6)] * 2).x).tolist()
    return a, b


def study_looks(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return how often limits are wrong at no look, while samples or questions grow.

    For the same questions samples grow from 4 to n, and for other questions their number grows from
    15 to the given one, with 4 samples of each.
    """
    cells: list[Cell] = []
    largest = {"sampling": n, "questions": questions}
    for interval, looks, k in itertools.product(largest, LOOKS, (1, 4)):
        most = largest[interval]
        number = 20 if interval == "sampling" else questions
        q = truth(rng, (runs, number))
        correct = rng.random((*q.shape, n if interval == "sampling" else 4)) < q[:, :, None]
        population = 1 - (1 - truth(np.random.default_rng(1), (1, 200_000))) ** k
        true = np.full(runs, population.mean())
        if interval == "sampling":
            true = np.mean(1 - (1 - q) ** k, axis=1)
        sizes = sorted(
            {*np.geomspace(4 if interval == "sampling" else 15, most, looks).astype(int)}
        )
        for name, anytime in {"one look": False, "anytime": True}.items():
            covered, widths = np.ones(runs, bool), []
            for size in sizes:
                seen = correct[:, :, :size] if interval == "sampling" else correct[:, :size]
                lo, hi = _limits(seen, k, interval, anytime)
                covered &= (lo - 1e-12 <= true) & (true <= hi + 1e-12)
                widths.append(float(np.mean(hi - lo)))
            cells.append(
                {"target": interval, "interval": name, "score": "pass@k", "k": k}
                | {"looks": f"{interval}, {looks} looks", "questions": number, "n": n}
                | {"runs": runs, "coverage": float(covered.mean()), "width": np.mean(widths)}
                | {"at_end": 0.0}
            )
    return cells


def _limits(
    correct: np.ndarray, k: int, interval: str, anytime: bool
) -> tuple[np.ndarray, np.ndarray]:
    runs, questions, n = correct.shape
    options: Mapping[str, Any] = {"k": k, "include": "pass@k", "confidence": CONFIDENCE}
    scores = metric("gpassk").compute(
        predictions={"n": [n] * (runs * questions), "correct": correct.sum(axis=2).ravel()},
        groups=np.repeat(np.arange(runs).astype(str), questions).tolist(),
        interval=interval,
        anytime=anytime,
        **options,
    )
    lo, hi = (
        np.array([scores[f"{run}/pass@{k}{end}"] for run in range(runs)]) for end in ("_lo", "_hi")
    )
    return lo, hi


def error_table(cells: Sequence[Cell], by: str, intervals: Sequence[str]) -> str:
    """Return a Markdown table of bias and root mean square error, by the values of `by`."""
    lines = [f"| {by} | {' | '.join(intervals)} |", "|---" * (len(intervals) + 1) + "|"]
    for value in dict.fromkeys(str(cell[by]) for cell in cells):
        texts = []
        for interval in intervals:
            chosen = [c for c in cells if c["interval"] == interval and str(c[by]) == value]
            bias, error = (np.mean([c[name] for c in chosen]) for name in ("bias", "error"))
            worst = max(chosen, key=lambda cell: abs(cell["bias"]))["bias"]
            texts.append(f"{bias:+.3f}, {error:.3f} (worst {worst:+.3f})")
        lines.append(f"| {value} | {' | '.join(texts)} |")
    return "\n".join(lines)
