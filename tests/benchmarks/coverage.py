"""How often the intervals hold: banks drawn from known success rates, as a table and a picture.

    python tests/benchmarks/coverage.py coverage.json [--runs 300]
    python tests/benchmarks/coverage.py coverage.json --draw

A cell is a law of the success rates (a truth), M questions, n samples of each, a score and a k.
Each run draws rates and samples anew and asks every interval for all scores at once, whether it
holds the score that these rates have; that of "questions", the score of all questions of that law;
and that of "hierarchical", of 2n draws, in a tenth of the runs and where M <= 100 and n <= 16. A
share c has the Monte Carlo error sqrt(c (1 - c) / runs), 1.3 points at 95 % and 300 runs, which
take seven to nine minutes on one core. --draw draws the picture on the card of gpassk from
the table, for which matplotlib is needed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import at_k
import numpy as np
from at_k.credits import (
    Credits,
    Score,
    above_half,
    all_right,
    any_right,
    area,
    as_score,
    geom_ds,
    majority,
    threshold,
)
from at_k.draws import Prior, estimator, posterior
from at_k.hierarchy import Hierarchical
from at_k.interval import Interval
from at_k.outcomes import Counts
from at_k.reading import read_questions
from at_k.sampling import Sampling

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "metrics" / "gpassk" / "coverage.svg"
QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
UNIFORM: Prior = (1.0, 1.0)
FAMILIES: dict[str, Callable[[int], Score | Credits]] = {
    "pass@k": any_right,
    "pass^k": all_right,
    "G-Pass@k_0.5": lambda k: threshold(k, 0.5),
    "mG-Pass@k": above_half,
    "maj@k": majority,
    "AUC@k": area,
    "Geom_ds@k": geom_ds,
}
Truth = Callable[[np.random.Generator, int], np.ndarray]


def shipped_rates() -> np.ndarray:
    """The shares of right samples of the questions that ship with the package, cool and warm."""
    shares: list[float] = []
    for file in sorted((ROOT / "shared/at_k/samples").glob("*.jsonl")):
        questions = read_questions(str(file))
        scores = at_k.load("gpassk").compute(
            predictions=questions.predictions,
            references=questions.references,
            check_correct_fn="numeric",
            k=1,
            include="pass@k",
            return_per_question=True,
        )
        shares += scores["per_question"]["pass@1"]
    return np.array(shares)


def truths() -> dict[str, Truth]:
    real = shipped_rates()
    return {
        "all 1/2": lambda rng, size: np.full(size, 0.5),
        "rare: Beta(0.3, 6)": lambda rng, size: rng.beta(0.3, 6, size),
        "spread: Beta(1, 1)": lambda rng, size: rng.beta(1, 1, size),
        "even: Beta(5, 5)": lambda rng, size: rng.beta(5, 5, size),
        "either 0.1 or 0.9": lambda rng, size: rng.choice([0.1, 0.9], size),
        "near-certain: Beta(6, 0.3)": lambda rng, size: rng.beta(6, 0.3, size),
        "real: of the samples": lambda rng, size: rng.choice(real, size),
    }


def draws_of(n: int) -> list[int]:
    return sorted({1, 2, 4, n // 2, n})


def scores_of(draws: list[int]) -> dict[str, Score | Credits]:
    """Each score at each k, but those that are another's by another name, or always 0."""
    result: dict[str, Score | Credits] = {}
    for (family, score), k in itertools.product(FAMILIES.items(), draws):
        if (each := score(k)) not in result.values() and any(as_score(each).credits[0]):
            result[f"{family} {k}"] = each
    return result


class Truths:
    """What the scores are worth at given success rates: interpolated from 4,001 of them."""

    def __init__(self, scores: Mapping[str, Score | Credits]):
        self._scores = {key: as_score(score) for key, score in scores.items()}
        self._angles = np.linspace(0, math.pi / 2, 4001)
        self._columns = {
            credit: self._column(credit)
            for score in self._scores.values()
            for credit in score.credits
        }

    def _column(self, credit: Credits) -> np.ndarray:
        k, p = len(credit), np.sin(self._angles)[:, None] ** 2
        j = np.arange(k + 1)
        ways = np.array([math.comb(k, each) for each in j], dtype=float)
        return (ways * p**j * (1 - p) ** (k - j)) @ np.cumsum((0.0, *credit))

    def of(self, p: np.ndarray) -> dict[str, float]:
        """The scores, each the mean over questions of success rates p, (M,)."""
        angles = np.arcsin(np.sqrt(p))
        means = {
            credit: float(np.interp(angles, self._angles, column).mean())
            for credit, column in self._columns.items()
        }
        return {
            key: math.prod(
                means[credit] ** power
                for credit, power in zip(score.credits, score.powers, strict=True)
            )
            for key, score in self._scores.items()
        }


class Tally:
    """How often the intervals of each score held the truth, and how wide they were."""

    def __init__(self) -> None:
        self._runs: dict[str, list[tuple[bool, float]]] = {}

    def add(self, intervals: Mapping[str, Interval], truth: Mapping[str, float]) -> None:
        for key, interval in intervals.items():
            held = interval.lo - 1e-9 <= truth[key] <= interval.hi + 1e-9
            self._runs.setdefault(key, []).append((held, interval.hi - interval.lo))

    def means(self) -> dict[str, tuple[float, float]]:
        return {
            key: (
                round(sum(held for held, _ in runs) / len(runs), 4),
                sum(w for _, w in runs) / len(runs),
            )
            for key, runs in self._runs.items()
        }


def study(truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator) -> list[dict]:
    """The cells of one truth, M and n."""
    near, far = scores_of(draws_of(n)), scores_of([2 * n])
    single = {key: as_score(score).credits for key, score in far.items()}
    far_credits = {key: credits[0] for key, credits in single.items() if len(credits) == 1}
    known, known_far = Truths(near), Truths(far)
    everywhere = known.of(truth(np.random.default_rng(0), 400_000))
    keys, estimate = estimator(near)
    rows = np.arange(questions)
    tallies = {name: Tally() for name in ("posterior", "sampling", "questions", "hierarchical")}
    for run in range(runs):
        p = truth(rng, questions)
        counts = Counts(np.full(questions, n), rng.binomial(n, p))
        score = known.of(p)
        tallies["posterior"].add(posterior(counts, near, UNIFORM).intervals(rows, 0.95), score)
        tallies["sampling"].add(Sampling(counts, keys, estimate).intervals(rows, 0.95), score)
        new = Sampling(counts, keys, estimate, new_questions=True).intervals(rows, 0.95)
        tallies["questions"].add(new, everywhere)
        if run % 10 == 0 and n <= 16 and questions <= 100:
            found = Hierarchical(counts, far_credits).intervals(rows, 0.95)
            tallies["hierarchical"].add(found, known_far.of(p))
    cells = []
    for interval, tally in tallies.items():
        for key, (held, width) in tally.means().items():
            name, k = key.split()
            cells.append(
                {"interval": interval, "score": name, "k": int(k), "held": held, "width": width}
            )
    return cells


# --- What is said of it -----------------------------------------------------------------


def summary(table: dict) -> str:
    """By truth and interval: the mean share over cells, and how many of them are below 90 %."""
    names = ("posterior", "sampling", "questions", "hierarchical")
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    held: dict[tuple[str, str], list[float]] = {}
    for cell in table["cells"]:
        for truth in (cell["truth"], "all"):
            held.setdefault((truth, cell["interval"]), []).append(100 * cell["held"])
    for truth in [*dict.fromkeys(cell["truth"] for cell in table["cells"]), "all"]:
        shares = [np.array(held[truth, name]) for name in names]
        cells = [f"{x.mean():.1f} % ({100 * np.mean(x < 90):.0f} %)" for x in shares]
        lines.append(f"| {truth} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(table: dict) -> None:
    """Write the picture: the share of intervals of pass@k that hold, posterior beside auto."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import TwoSlopeNorm

    ink, faint = "#1f2328", "#59636e"
    plt.rcParams |= {"font.size": 9, "text.color": ink, "axes.labelcolor": ink}
    plt.rcParams["svg.hashsalt"] = "coverage"  # so that drawing it again changes nothing
    names = list(dict.fromkeys(cell["truth"] for cell in table["cells"]))
    rows = list(itertools.product(names, QUESTIONS))
    columns = [(n, k) for n in SAMPLES for k in draws_of(n)]
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 6.4), sharey=True, layout="constrained")
    for axes, interval, title in zip(
        panels, ("posterior", "sampling"), ("posterior", "auto"), strict=True
    ):
        held = {
            ((cell["truth"], cell["questions"]), (cell["n"], cell["k"])): 100 * cell["held"]
            for cell in table["cells"]
            if cell["interval"] == interval and cell["score"] == "pass@k"
        }
        shares = [[held[row, column] for column in columns] for row in rows]
        mesh = axes.pcolormesh(
            shares,
            cmap="RdBu",  # which the colour-blind tell apart
            norm=TwoSlopeNorm(95, 75, 105),  # to hold too often is the lesser harm
            edgecolors="white",
            linewidth=0.4,
        )
        axes.set_title(f'interval="{title}"', fontsize=11, pad=24)
        axes.set_xticks(np.arange(len(columns)) + 0.5, [str(k) for _, k in columns])
        axes.set_xlabel("k", color=faint)
        axes.tick_params(length=0, labelsize=7.5, labelcolor=faint)
        axes.spines[:].set_visible(False)
        place = 0
        for n in SAMPLES:
            width = len(draws_of(n))
            axes.text(place + width / 2, -0.5, f"n = {n}", ha="center", color=faint)
            place += width
            axes.axvline(place, color="white", linewidth=3)
        for block in range(1, len(names)):
            axes.axhline(block * len(QUESTIONS), color="white", linewidth=3)
    panels[0].invert_yaxis()  # of both, which share it
    panels[0].set_yticks(np.arange(len(rows)) + 0.5, [str(questions) for _, questions in rows])
    for block, name in enumerate(names):
        law = name.replace(": ", "\n")
        y = (block + 0.5) * len(QUESTIONS)
        panels[0].text(-2.2, y, law, ha="right", va="center", linespacing=1.4)
    panels[0].text(-0.2, -0.5, "M", ha="right", color=faint)
    bar = figure.colorbar(mesh, ax=panels, orientation="horizontal", extend="min", aspect=50)
    bar.ax.set_xlim(75, 100)
    bar.set_ticks([75, 80, 85, 90, 95, 100], labels=["75 %", "80", "85", "90", "95", "100 %"])
    bar.set_label("of the 95 % intervals of pass@k that hold")
    bar.ax.tick_params(length=0, labelcolor=faint)
    bar.outline.set_visible(False)
    figure.savefig(PICTURE, facecolor="white", metadata={"Date": None, "Creator": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--draw", action="store_true", help="draw the table, do not make it")
    asked = parser.parse_args()
    if asked.draw:
        draw(json.loads(asked.table.read_text()))
        return
    start, cells = time.time(), []
    for place, (name, truth) in enumerate(truths().items()):
        for questions, n in itertools.product(QUESTIONS, SAMPLES):
            rng = np.random.default_rng([place, questions, n])
            found = study(truth, questions, n, asked.runs, rng)
            cells += [{"truth": name, "questions": questions, "n": n} | cell for cell in found]
        print(f"{name}: {time.time() - start:.0f} s", flush=True)
    table = {"runs": asked.runs, "seconds": round(time.time() - start), "cells": cells}
    asked.table.write_text(json.dumps(table))
    print(summary(table))


if __name__ == "__main__":
    main()
