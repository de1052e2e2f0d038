"""Measure the coverage of intervals of rewards in simulations with known distributions.

    python tests/benchmarks/reward_coverage.py coverage.json [--runs 120]
    python tests/benchmarks/reward_coverage.py coverage.json --draw

Each run draws the distributions of M questions and n rewards from each. An interval of Max@k covers
if it contains the score of these distributions, and one for new questions, which is computed for
every second run, if it contains the score of all such questions. k = 1 is Bayes@N and avg@N.
Hierarchical intervals are computed for every tenth run, at k = n/2 and n, and for categories at 2n
and 4n; interval="auto" is "sampling" for k <= n and "hierarchical" above. Rewards are three
categories with rewards 0, 0.5 and 1, or real numbers, with a quarter of the runs. For score_agg,
the interval for new items is computed, with five verdicts each. A limit may be wrong by 0.00001,
since no table shows more digits. The 120 runs take a quarter of an hour on two cores. With --draw,
the script draws the picture on the card of max_at_k from an existing table, which needs matplotlib.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from at_k.inputs.outcomes import Outcomes
from at_k.intervals.hierarchical import HierarchicalIntervals
from at_k.intervals.interval import Interval
from at_k.intervals.posterior import PosteriorIntervals
from at_k.intervals.questions import QuestionIntervals
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.reward_family import RewardFamily
from at_k.scores.rewards import Rewards, max_moments, real_rewards
from at_k.scores.score_agg import exponent, item_scores
from coverage_cells import Cell, draw_heat_map
from scipy.special import betaincinv, ndtri
from truths import ROOT

PICTURE = ROOT / "tests/benchmarks/pictures/max_at_k_interval_coverage.svg"
CONFIDENCE, SUFFICIENT, ROUNDING = 0.95, 0.93, 1e-5
QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
LEVELS = np.array([0.0, 0.5, 1.0])
Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Draws the parameter of the distribution of each of M questions: (M, ..)."""


# --- Known distributions ------------------------------------------------------------------


class Categories:
    """Questions with a distribution over three categories each.

    Args:
        draw: draws (M, 3) probabilities.
    """

    real = False

    def __init__(self, draw: Draw):
        self.draw = draw

    def run(self, pmfs: np.ndarray, n: int, rng: np.random.Generator) -> Rewards:
        """Return n rewards of each question."""
        counts = rng.multinomial(n, pmfs / pmfs.sum(axis=1, keepdims=True))
        categories = np.cumsum(np.ones(3, dtype=np.int64))
        return Rewards(np.arange(len(pmfs)), LEVELS, np.cumsum(counts, axis=1), categories)

    def true_max(self, pmfs: np.ndarray, k: int) -> float:
        """Return the mean over questions of the expected maximum of k rewards."""
        below = np.clip(np.cumsum(pmfs, axis=1)[:, :-1], 0, 1)
        return float(1 - (below**k @ np.diff(LEVELS)).mean())


class RealRewards:
    """Questions with real rewards, whose distributions have one parameter.

    Args:
        draw: draws (M,) parameters.
        quantile: of a parameter and of an array of probabilities.
        grid: parameters for which true scores are computed; between them, they are linear.
    """

    real = True

    def __init__(self, draw: Draw, quantile: Callable, grid: np.ndarray):
        self.draw, self._quantile, self._grid = draw, quantile, grid
        self._tables: dict[int, np.ndarray] = {}

    def run(self, parameters: np.ndarray, n: int, rng: np.random.Generator) -> Rewards:
        """Return n rewards of each question."""
        rewards = self._quantile(parameters[:, None], rng.uniform(size=(len(parameters), n)))
        return real_rewards(Outcomes(rewards.ravel(), np.full(len(parameters), n)))

    def true_max(self, parameters: np.ndarray, k: int) -> float:
        """Return the mean over questions of the expected maximum of k rewards."""
        if k not in self._tables:
            below = ((np.arange(8000) + 0.5) / 8000) ** (1 / k)  # probabilities of the maximum
            self._tables[k] = np.array([self._quantile(x, below).mean() for x in self._grid])
        return float(np.interp(parameters, self._grid, self._tables[k]).mean())


def dirichlet(*alpha: float) -> Categories:
    return Categories(lambda rng, size: rng.dirichlet(alpha, size))


def zero_or_beta(zero: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return quantiles of a distribution that is 0 with probability `zero`, else Beta(2, 2)."""
    return betaincinv(2, 2, np.clip((probability - zero) / (1 - zero), 0, 1))


LOW_OR_HIGH = np.array([[0.85, 0.1, 0.05], [0.05, 0.1, 0.85]])
TRUTHS: dict[str, Categories | RealRewards] = {
    "equal: 0.4, 0.3, 0.3": Categories(lambda rng, size: np.tile([0.4, 0.3, 0.3], (size, 1))),
    "rare: Dirichlet(6, 0.3, 0.3)": dirichlet(6, 0.3, 0.3),
    "uniform: Dirichlet(1, 1, 1)": dirichlet(1, 1, 1),
    "similar: Dirichlet(4, 4, 4)": dirichlet(4, 4, 4),
    "mostly low or mostly high": Categories(
        lambda rng, size: LOW_OR_HIGH[rng.integers(0, 2, size)]
    ),
    "near-certain: Dirichlet(0.2, 0.3, 6)": dirichlet(0.2, 0.3, 6),
    "mostly 0.5: Dirichlet(0.3, 5, 0.3)": dirichlet(0.3, 5, 0.3),
    "real: Beta(5m, 5 - 5m)": RealRewards(
        lambda rng, size: rng.uniform(0.01, 0.99, size),
        lambda m, probability: betaincinv(5 * m, 5 * (1 - m), probability),
        np.linspace(0.01, 0.99, 197),
    ),
    "real: 0, or Beta(2, 2)": RealRewards(
        lambda rng, size: rng.uniform(0, 0.995, size), zero_or_beta, np.linspace(0, 0.995, 200)
    ),
    "real: normal": RealRewards(
        lambda rng, size: rng.normal(size=size),
        lambda mean, probability: mean + ndtri(probability),
        np.linspace(-6, 6, 3),
    ),
    "real: lognormal": RealRewards(
        lambda rng, size: rng.normal(size=size) / 2,
        lambda mean, probability: np.exp(mean + 0.7 * ndtri(probability)),
        np.linspace(-3, 3, 600),
    ),
}


# --- The studies --------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts how often the intervals of one cell cover the truth, and sums their widths."""

    runs: int = 0
    covered: int = 0
    width: float = 0.0

    def add(self, interval: Interval, truth: float) -> None:
        self.runs += 1
        self.covered += interval.lo - ROUNDING <= truth <= interval.hi + ROUNDING
        self.width += interval.hi - interval.lo

    def cell(self) -> Cell:
        return {"coverage": self.covered / self.runs, "width": self.width / self.runs}


def study_max(
    truth: Categories | RealRewards, questions: int, n: int, runs: int, seed: list[int]
) -> Iterator[Cell]:
    """Yield the cells of one truth, M and n."""
    rng, rows = np.random.default_rng(seed), [np.arange(questions)]
    near = {str(k): k for k in sorted({1, 2, 4, n // 2, n})}
    far = {str(k): k for k in (n // 2, n, *(() if truth.real else (2 * n, 4 * n)))}
    many = truth.draw(np.random.default_rng(0), 400_000)
    population = {key: truth.true_max(many, k) for key, k in near.items()}
    tallies: dict[tuple[str, str], Tally] = {}

    def add(found: list[dict[str, Interval]], true_scores: Mapping[str, float]) -> None:
        for key, interval in found[0].items():
            tally = tallies.setdefault((interval.interval, key), Tally())
            tally.add(interval, true_scores[key])

    for run in range(runs):
        parameters = truth.draw(rng, questions)
        rewards = truth.run(parameters, n, rng)
        true_scores = {key: truth.true_max(parameters, k) for key, k in (near | far).items()}
        bounds = float(rewards.levels.min()), float(rewards.levels.max())
        if not truth.real:
            posterior = PosteriorIntervals(max_moments(rewards, near), bounds)
            add(posterior.for_parts(rows, CONFIDENCE), true_scores)
        family = RewardFamily(rewards, near, far, bounds)
        add(SamplingIntervals(family).for_parts(rows, CONFIDENCE), true_scores)
        if run % 2 == 0:
            other = SamplingIntervals(family, new_questions=True)
            add(other.for_parts(rows, CONFIDENCE), population)
        if run % 10 == 0:
            add(HierarchicalIntervals(family).for_parts(rows, CONFIDENCE), true_scores)
    for (name, key), tally in tallies.items():
        yield {"interval": name, "k": int(key)} | tally.cell()


def _cells_of_setting(runs: int, setting: tuple[str, int, int]) -> list[Cell]:
    name, questions, n = setting
    truth, place = TRUTHS[name], [*TRUTHS].index(name)
    runs = runs // 4 if truth.real else runs
    found = study_max(truth, questions, n, runs, [place, questions, n])
    return [{"truth": name, "questions": questions, "n": n} | cell for cell in found]


def study_score_agg(questions: int, temperature: float, runs: int) -> Cell:
    """Return the cell of items with five verdicts, each item with its own probabilities."""
    weights, p = np.array([1.0, 0.9, 0.7, 0.3, 0.0]), exponent(temperature)

    def draw_scores(rng: np.random.Generator, size: int) -> np.ndarray:
        pmfs = rng.dirichlet([4, 3, 2, 1, 0.3], size)
        thresholds = np.cumsum(pmfs, axis=1)[:, None, :-1]
        verdicts = (rng.uniform(size=(size, 5, 1)) > thresholds).sum(-1)
        return item_scores(Outcomes(weights[verdicts].ravel(), np.full(size, 5)), p, 0.1, 1e-9)

    rng, tally = np.random.default_rng(questions), Tally()
    truth = float(draw_scores(np.random.default_rng(0), 400_000).mean())
    for _ in range(runs):
        method = QuestionIntervals({"score": draw_scores(rng, questions)}, (0.0, 1.0))
        (found,) = method.for_parts([np.arange(questions)], CONFIDENCE)
        tally.add(found["score"], truth)
    return {"questions": questions, "temperature": temperature} | tally.cell()


# --- Summaries ----------------------------------------------------------------------------


def coverage_table(cells: Iterable[Cell]) -> str:
    """Return a Markdown table with a row for each truth and a column for each interval.

    An entry is the mean coverage over cells and, in parentheses, the share of cells below 90 %.
    """
    coverage: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        name = cell["interval"]
        if name == "hierarchical":
            name += " k > n" if cell["k"] > cell["n"] else " k <= n"
        for truth in (cell["truth"], "all"):
            coverage.setdefault((truth, name), []).append(100 * cell["coverage"])
    names = ("posterior", "sampling", "questions", "hierarchical k <= n", "hierarchical k > n")
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for truth in [*TRUTHS, "all"]:
        columns = [np.array(coverage.get((truth, name), [])) for name in names]
        texts = [
            f"{x.mean():.1f} % ({100 * np.mean(x < 90):.0f} %)" if len(x) else "" for x in columns
        ]
        lines.append(f"| {truth} | {' | '.join(texts)} |")
    return "\n".join(lines)


def width_summary(cells: list[Cell]) -> str:
    """Return how wide sampling intervals are, relative to the narrowest with 93 % coverage."""

    def place(cell: Cell) -> tuple:
        return cell["truth"], cell["questions"], cell["n"], cell["k"]

    sampling = {place(cell): cell for cell in cells if cell["interval"] == "sampling"}
    sufficient = [cell for cell in cells if cell["coverage"] >= SUFFICIENT]
    narrowest = {place(c): c["width"] for c in sufficient if c["interval"] == "sampling"}
    for cell in sufficient:
        if place(cell) in narrowest and cell["interval"] != "questions":
            narrowest[place(cell)] = min(narrowest[place(cell)], cell["width"])
    ratio = np.array([sampling[at]["width"] / x for at, x in narrowest.items() if x > 1e-3])
    return (
        f"{len(narrowest)} of {len(sampling)} cells have 93 % coverage or more. Ratio to the "
        f"narrowest interval that has: mean {ratio.mean():.2f}, at most 1.15 in "
        f"{100 * np.mean(ratio <= 1.15):.0f} %"
    )


def print_summary(table: dict) -> None:
    cells = table["cells"]
    print(f"{table['runs']} runs, {table['seconds']} s\n\n{coverage_table(cells)}\n\nk = 1:")
    print(coverage_table(cell for cell in cells if cell["k"] == 1), end="\n\n")
    print("sampling:", width_summary(cells))
    sampling = [cell for cell in cells if cell["interval"] == "sampling"]
    for low, high in ((0, 0.9), (0.9, 0.93), (0.93, 0.97), (0.97, 1.01)):
        number = sum(low <= cell["coverage"] < high for cell in sampling)
        print(f"{100 * low:.0f} to {100 * min(high, 1):.0f} %: {number} cells of sampling")
    for cell in table["score_agg"]:
        print(cell)


def draw(cells: list[Cell]) -> None:
    """Draw the picture on the card of max_at_k: the coverage for categories."""
    known = [cell for cell in cells if not TRUTHS[cell["truth"]].real]
    columns = sorted({(c["n"], c["k"]) for c in known if c["interval"] == "sampling"})
    panels = {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'}
    draw_heat_map(PICTURE, known, panels, columns, "coverage of the 95 % intervals of max@k")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path, help="the JSON file of the cells")
    parser.add_argument("--runs", type=int, default=120, help="of each setting")
    parser.add_argument(
        "--draw", action="store_true", help="draw the picture of an existing table, and summarize"
    )
    options = parser.parse_args()
    if options.draw:
        table = json.loads(options.table.read_text())
        print_summary(table)
        draw(table["cells"])
        return
    start = time.time()
    score_agg = [
        study_score_agg(questions, temperature, 10 * options.runs)
        for questions, temperature in itertools.product(QUESTIONS, (0.1, 0.5, 1.0))
    ]
    # The longest first, so that the processes finish at about the same time.
    settings = sorted(itertools.product(TRUTHS, QUESTIONS, SAMPLES), key=lambda x: -x[1] * x[2])
    with ProcessPoolExecutor() as processes:
        found = processes.map(partial(_cells_of_setting, options.runs), settings)
        cells = [cell for each in found for cell in each]
    seconds = round(time.time() - start)
    table = {"runs": options.runs, "seconds": seconds, "cells": cells, "score_agg": score_agg}
    options.table.write_text(json.dumps(table))
    print_summary(table)


if __name__ == "__main__":
    main()
