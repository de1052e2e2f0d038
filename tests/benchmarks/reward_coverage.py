"""How often the intervals of rewards hold: banks drawn from known laws, as a table.

    python tests/benchmarks/reward_coverage.py coverage.json [--runs 120]
    python tests/benchmarks/reward_coverage.py coverage.json --draw

As in coverage.py: each run draws the laws of M questions and n rewards of each, and asks every
interval of Max@k for all k at once, whether it holds the score that these laws have; that of
"questions", in half of the runs, the score of all questions like them. k = 1 is Bayes@N and avg@N.
"Hierarchical" is asked in a tenth of the runs, for k = n/2 and n, and of categories for 2n and 4n;
"auto" is "sampling" for k up to n and "hierarchical" above. Rewards are categories worth 0, 0.5 and
1, or real numbers, of which there are a quarter of the runs. Of score_agg, the interval for new
items, of five verdicts each. To be 0.00001 outside is to hold, as no table shows more digits. The
120 runs take a quarter of an hour on two cores. --draw draws the picture on the card of max_at_k
from the table, for which matplotlib is needed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from at_k.inputs.outcomes import Outcomes
from at_k.intervals.interval import Interval
from at_k.intervals.questions import NewQuestions
from at_k.intervals.reward_hierarchy import RewardHierarchy
from at_k.intervals.reward_sampling import RewardSampling
from at_k.scores.rewards import Rewards, best_posterior, number_rewards
from at_k.scores.score_agg import exponent, item_scores
from holding import draw
from scipy.special import betaincinv, ndtri
from truths import ROOT

PICTURE = ROOT / "tests/benchmarks/pictures/max_at_k_interval_coverage.svg"
QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
INTERVALS = ("posterior", "sampling", "questions", "hierarchical")
WORTH = np.array([0.0, 0.5, 1.0])
Draw = Callable[[np.random.Generator, int], np.ndarray]


class Categories:
    """Questions with a law over three categories each.

    Args:
        laws: draws (M, 3) of them.
    """

    def __init__(self, laws: Draw):
        self.laws, self.known = laws, True

    def bank(self, laws: np.ndarray, n: int, rng: np.random.Generator) -> Rewards:
        counts = rng.multinomial(n, laws / laws.sum(axis=1, keepdims=True))
        one = np.ones(3, dtype=np.int64)
        return Rewards(np.arange(len(laws)), WORTH, np.cumsum(counts, axis=1), np.cumsum(one))

    def best(self, laws: np.ndarray, k: int) -> float:
        below = np.clip(np.cumsum(laws, axis=1)[:, :-1], 0, 1)
        return float(1 - (below**k @ np.diff(WORTH)).mean())


class Numbers:
    """Questions with real rewards: each has a number, and their quantiles depend on it.

    Args:
        laws: draws (M,) such numbers.
        quantile: of such a number and of probabilities in an array.
        grid: numbers to calculate the truth for.
    """

    def __init__(self, laws: Draw, quantile: Callable, grid: np.ndarray):
        self.laws, self.known, self._quantile, self._grid = laws, False, quantile, grid
        self._tables: dict[int, np.ndarray] = {}

    def bank(self, laws: np.ndarray, n: int, rng: np.random.Generator) -> Rewards:
        rewards = self._quantile(laws[:, None], rng.uniform(size=(len(laws), n)))
        return number_rewards(Outcomes(rewards.ravel(), np.full(len(laws), n)))

    def best(self, laws: np.ndarray, k: int) -> float:
        if k not in self._tables:
            below = ((np.arange(8000) + 0.5) / 8000) ** (1 / k)  # of the best of k
            self._tables[k] = np.array([self._quantile(x, below).mean() for x in self._grid])
        return float(np.interp(laws, self._grid, self._tables[k]).mean())


def dirichlet(*alpha: float) -> Categories:
    return Categories(lambda rng, size: rng.dirichlet(alpha, size))


def zeros_or_beta(zero: np.ndarray, below: np.ndarray) -> np.ndarray:
    return betaincinv(2, 2, np.clip((below - zero) / (1 - zero), 0, 1))


LOW_OR_HIGH = np.array([[0.85, 0.1, 0.05], [0.05, 0.1, 0.85]])
TRUTHS: dict[str, Categories | Numbers] = {
    "alike: 0.4, 0.3, 0.3": Categories(lambda rng, size: np.tile([0.4, 0.3, 0.3], (size, 1))),
    "rare: Dirichlet(6, 0.3, 0.3)": dirichlet(6, 0.3, 0.3),
    "spread: Dirichlet(1, 1, 1)": dirichlet(1, 1, 1),
    "even: Dirichlet(4, 4, 4)": dirichlet(4, 4, 4),
    "mostly low or mostly high": Categories(
        lambda rng, size: LOW_OR_HIGH[rng.integers(0, 2, size)]
    ),
    "near-certain: Dirichlet(0.2, 0.3, 6)": dirichlet(0.2, 0.3, 6),
    "close: Dirichlet(0.3, 5, 0.3)": dirichlet(0.3, 5, 0.3),
    "real: Beta(5m, 5 - 5m)": Numbers(
        lambda rng, size: rng.uniform(0.01, 0.99, size),
        lambda m, below: betaincinv(5 * m, 5 * (1 - m), below),
        np.linspace(0.01, 0.99, 197),
    ),
    "real: 0, or Beta(2, 2)": Numbers(
        lambda rng, size: rng.uniform(0, 0.995, size), zeros_or_beta, np.linspace(0, 0.995, 200)
    ),
    "real: normal": Numbers(
        lambda rng, size: rng.normal(size=size),
        lambda mean, below: mean + ndtri(below),
        np.linspace(-6, 6, 3),
    ),
    "real: lognormal": Numbers(
        lambda rng, size: rng.normal(size=size) / 2,
        lambda mean, below: np.exp(mean + 0.7 * ndtri(below)),
        np.linspace(-3, 3, 600),
    ),
}


@dataclass
class Tally:
    """How often intervals held the truth, and how wide they were."""

    runs: int = 0
    held: int = 0
    width: float = 0.0

    def add(self, interval: Interval, truth: float) -> None:
        self.runs += 1
        self.held += interval.lo - 1e-5 <= truth <= interval.hi + 1e-5
        self.width += interval.hi - interval.lo


def study(truth: Categories | Numbers, questions: int, n: int, runs: int, seed: list[int]):
    """The cells of one truth, M and n."""
    rng, rows = np.random.default_rng(seed), np.arange(questions)
    near = {str(k): k for k in sorted({1, 2, 4, n // 2, n})}
    far = {str(k): k for k in (n // 2, n, *((2 * n, 4 * n) if truth.known else ()))}
    every = truth.laws(np.random.default_rng(0), 400_000)
    everywhere = {key: truth.best(every, k) for key, k in near.items()}
    tallies: dict[tuple[str, str], Tally] = {}

    def add(name: str, found: Mapping[str, Interval], score: Mapping[str, float]) -> None:
        for key, interval in found.items():
            tallies.setdefault((name, key), Tally()).add(interval, score[key])

    for run in range(runs):
        laws = truth.laws(rng, questions)
        bank = truth.bank(laws, n, rng)
        score = {key: truth.best(laws, k) for key, k in (near | far).items()}
        limits = float(bank.levels.min()), float(bank.levels.max())
        if truth.known:
            add("posterior", best_posterior(bank, near, limits).intervals(rows, 0.95), score)
        add("sampling", RewardSampling(bank, near, limits).intervals(rows, 0.95), score)
        if run % 2 == 0:
            new = RewardSampling(bank, near, limits, new_questions=True)
            add("questions", new.intervals(rows, 0.95), everywhere)
        if run % 10 == 0:
            add("hierarchical", RewardHierarchy(bank, far, limits).intervals(rows, 0.95), score)
    for (interval, key), tally in tallies.items():
        held, width = tally.held / tally.runs, tally.width / tally.runs
        yield {"interval": interval, "k": int(key), "held": held, "width": width}


def _cells(runs: int, bank: tuple[str, int, int]) -> list[dict]:
    name, questions, n = bank
    truth, place = TRUTHS[name], [*TRUTHS].index(name)
    runs = runs if truth.known else runs // 4
    found = study(truth, questions, n, runs, [place, questions, n])
    return [{"truth": name, "questions": questions, "n": n} | cell for cell in found]


def study_score_agg(questions: int, temperature: float, runs: int) -> dict:
    """Of score_agg: items of five verdicts, each item with its own chances of them."""
    weights, p = np.array([1.0, 0.9, 0.7, 0.3, 0.0]), exponent(temperature)

    def items(rng: np.random.Generator, size: int) -> np.ndarray:
        chances = rng.dirichlet([4, 3, 2, 1, 0.3], size)
        drawn = (rng.uniform(size=(size, 5, 1)) > np.cumsum(chances, axis=1)[:, None, :-1]).sum(-1)
        return item_scores(Outcomes(weights[drawn].ravel(), np.full(size, 5)), p, 0.1, 1e-9)

    rng, tally = np.random.default_rng(questions), Tally()
    truth = float(items(np.random.default_rng(0), 400_000).mean())
    for _ in range(runs):
        found = NewQuestions({"": items(rng, questions)}, (0.0, 1.0))
        tally.add(found.intervals(np.arange(questions), 0.95)[""], truth)
    held, width = tally.held / tally.runs, tally.width / tally.runs
    return {
        "questions": questions,
        "temperature": temperature,
        "held": held,
        "width": width,
    }


# --- What is said of it -----------------------------------------------------------------


def summary(cells: Iterable[dict]) -> str:
    """By truth and interval: the mean share over cells, and how many of them are below 90 %."""
    held: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        name = cell["interval"]
        if name == "hierarchical":
            name += " above n" if cell["k"] > cell["n"] else " up to n"
        for truth in (cell["truth"], "all of these"):
            held.setdefault((truth, name), []).append(100 * cell["held"])
    names = [*INTERVALS[:3], "hierarchical up to n", "hierarchical above n"]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for truth in [*TRUTHS, "all of these"]:
        shares = [np.array(held.get((truth, name), [])) for name in names]
        told = [
            f"{x.mean():.1f} % ({100 * np.mean(x < 90):.0f} %)" if len(x) else "" for x in shares
        ]
        lines.append(f"| {truth} | {' | '.join(told)} |")
    return "\n".join(lines)


def widths(cells: list[dict]) -> str:
    """The width of "auto" against the narrowest that holds 93 % or more, where k is at most n."""
    where = lambda cell: (cell["truth"], cell["questions"], cell["n"], cell["k"])  # noqa: E731
    ours = {where(cell): cell for cell in cells if cell["interval"] == "sampling"}
    best = {place: cell["width"] for place, cell in ours.items() if cell["held"] >= 0.93}
    for cell in cells:
        place = where(cell)
        if place in best and cell["interval"] != "questions" and cell["held"] >= 0.93:
            best[place] = min(best[place], cell["width"])
    ratio = np.array([ours[place]["width"] / x for place, x in best.items() if x > 1e-3])
    return (
        f"{len(best)} of {len(ours)} hold; against the narrowest that does too: mean "
        f"{ratio.mean():.2f}, {100 * np.mean(ratio <= 1.15):.0f} % at most 1.15"
    )


def tell(table: dict) -> None:
    cells = table["cells"]
    print(f"{table['runs']} runs, {table['seconds']} s\n\n{summary(cells)}\n\nk = 1:")
    print(summary(cell for cell in cells if cell["k"] == 1), end="\n\n")
    print("sampling:", widths(cells))
    for low, high in ((0, 0.9), (0.9, 0.93), (0.93, 0.97), (0.97, 1.01)):
        inside = [c for c in cells if c["interval"] == "sampling" and low <= c["held"] < high]
        print(f"{100 * low:.0f} to {100 * min(high, 1):.0f} %: {len(inside)} cells of sampling")
    for cell in table["score_agg"]:
        print(cell)


def picture(cells: list[dict]) -> None:
    """Draw how often the intervals of categories hold."""
    known = [cell for cell in cells if TRUTHS[cell["truth"]].known]
    columns = sorted({(c["n"], c["k"]) for c in known if c["interval"] == "sampling"})
    panels = {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'}
    draw(PICTURE, known, panels, columns, "of the 95 % intervals of max@k that hold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--runs", type=int, default=120)
    parser.add_argument(
        "--draw", action="store_true", help="draw the table and tell of it, do not make it"
    )
    asked = parser.parse_args()
    if asked.draw:
        table = json.loads(asked.table.read_text())
        tell(table)
        picture(table["cells"])
        return
    start = time.time()
    score_agg = [
        study_score_agg(questions, temperature, 10 * asked.runs)
        for questions, temperature in itertools.product(QUESTIONS, (0.1, 0.5, 1.0))
    ]
    # The longest first, so that no process waits for another in the end.
    banks = sorted(itertools.product(TRUTHS, QUESTIONS, SAMPLES), key=lambda x: -x[1] * x[2])
    with ProcessPoolExecutor() as processes:
        found = processes.map(partial(_cells, asked.runs), banks)
        cells = [cell for each in found for cell in each]
    seconds = round(time.time() - start)
    table = {"runs": asked.runs, "seconds": seconds, "cells": cells, "score_agg": score_agg}
    asked.table.write_text(json.dumps(table))
    tell(table)


if __name__ == "__main__":
    main()
