"""Measure the coverage of intervals of rewards in simulations with known distributions.

    python tests/benchmarks/reward_coverage.py coverage.json [--held-out] [--runs 120]
    python tests/benchmarks/reward_coverage.py coverage.json --draw

Each run draws the distributions of M questions and n rewards from each. An interval of Max@k covers
if it contains the score of these distributions, and one for new questions, which is computed for
every second run, if it contains the score of all such questions. k = 1 is Bayes@N and avg@N.
Hierarchical intervals are computed for every tenth run, at k = n/2 and n, and for categories at 2n
and 4n; interval="auto" is "sampling" for k <= n and "hierarchical" above. Rewards are categories,
or real numbers, with a quarter of the runs. For score_agg, the interval for new items is computed,
with five verdicts each. A limit may be wrong by 0.00001, since no table shows more digits.

With --held-out, the runs come from distributions that no interval was tuned on, with other M and n.
Both results are kept in the table and printed below each other. With --draw, the script draws the
picture on the card of max_at_k from an existing table, which needs matplotlib.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from at_k.inputs.outcomes import Outcomes
from at_k.intervals.hierarchical import HierarchicalIntervals
from at_k.intervals.interval import Interval, IntervalMethod
from at_k.intervals.posterior import PosteriorIntervals
from at_k.intervals.questions import QuestionIntervals
from at_k.intervals.reward_family import RewardFamily
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.rewards import Rewards, max_moments
from at_k.scores.score_agg import exponent, item_scores
from coverage_cells import (
    TUNED,
    Cell,
    Grid,
    coverage_table,
    draw_heat_map,
    load_tables,
    lowest_coverage,
    print_tables,
    run_grids,
    save_tables,
    study_options,
)
from reward_truths import Categories, RealRewards, held_out_truths, truths
from truths import HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES, QUESTIONS, ROOT, SAMPLES

PICTURE = ROOT / "tests/benchmarks/pictures/max_at_k_interval_coverage.svg"
CONFIDENCE, SUFFICIENT, ROUNDING = 0.95, 0.93, 1e-5
RUNS_AT_ONCE = 60


# --- The studies --------------------------------------------------------------------------


class Tally:
    """Counts how often the intervals of one cell cover the truth, and sums their widths."""

    def __init__(self) -> None:
        self._covered: list[bool] = []
        self._width = 0.0

    def add(self, interval: Interval, truth: float) -> None:
        self._covered.append(interval.lo - ROUNDING <= truth <= interval.hi + ROUNDING)
        self._width += interval.hi - interval.lo

    def cell(self) -> Cell:
        runs = len(self._covered)
        return {
            "runs": runs,
            "coverage": float(np.mean(self._covered)),
            "width": self._width / runs,
        }


def study_max(
    truth: Categories | RealRewards, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of one truth, M and n. All runs with categories share their counts."""
    if truth.real:
        runs = max(1, runs // 4)
    near = {str(k): k for k in sorted({1, 2, 4, n // 2, n}) if k <= n}
    far = {str(k): k for k in (n // 2, n, *(() if truth.real else (2 * n, 4 * n)))}
    many = truth.draw(np.random.default_rng(0), 400_000)
    population = {key: float(truth.true_max(many, k).mean()) for key, k in near.items()}
    tallies: dict[tuple[str, str], Tally] = {}
    # The levels of real rewards depend on all samples, so each run is a family of its own.
    size = 1 if truth.real else RUNS_AT_ONCE
    for start in range(0, runs, size):
        together = min(size, runs - start)
        parameters = truth.draw(rng, together * questions)
        rewards = truth.run(parameters, np.full(together * questions, n), rng)
        of_runs = {
            key: truth.true_max(parameters, k).reshape(together, -1).mean(axis=1)
            for key, k in (near | far).items()
        }
        for interval, places, found in intervals_of(rewards, near, far, start, together):
            for place, intervals in zip(places, found, strict=True):
                for key, each in intervals.items():
                    tally = tallies.setdefault((interval, key), Tally())
                    true = population if interval == "questions" else of_runs
                    tally.add(each, float(np.broadcast_to(true[key], together)[place]))
    return [
        {"interval": interval, "questions": questions, "n": n, "k": int(key)} | tally.cell()
        for (interval, key), tally in tallies.items()
    ]


def intervals_of(
    rewards: Rewards, near: dict[str, int], far: dict[str, int], start: int, together: int
) -> Iterator[tuple[str, list[int], list[dict[str, Interval]]]]:
    """Yield each kind of interval, the runs that it is computed for, and these intervals."""
    bounds = float(rewards.levels.min()), float(rewards.levels.max())
    family = RewardFamily.of_run(rewards, near, {}, bounds)
    beyond_n = RewardFamily.of_run(rewards, near, far, bounds)
    methods: dict[str, tuple[IntervalMethod, int]] = {
        "sampling": (SamplingIntervals(family), 1),
        "questions": (SamplingIntervals(family, new_questions=True), 2),
        "hierarchical": (HierarchicalIntervals(beyond_n), 10),
    }
    if rewards.categories is not None:
        methods["posterior"] = PosteriorIntervals(max_moments(rewards, near), bounds), 1
    rows = np.arange(len(rewards.inverse)).reshape(together, -1)
    for name, (method, every) in methods.items():
        places = [place for place in range(together) if (start + place) % every == 0]
        yield name, places, method.for_groups([rows[place] for place in places], CONFIDENCE)


def study_score_agg(
    temperature: float, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cell of items with n verdicts, each item with its own probabilities."""
    weights, p = np.array([1.0, 0.9, 0.7, 0.3, 0.0]), exponent(temperature)

    def draw_scores(rng: np.random.Generator, size: int) -> np.ndarray:
        pmfs = rng.dirichlet([4, 3, 2, 1, 0.3], size)
        thresholds = np.cumsum(pmfs, axis=1)[:, None, :-1]
        verdicts = (rng.uniform(size=(size, n, 1)) > thresholds).sum(-1)
        return item_scores(Outcomes(weights[verdicts].ravel(), np.full(size, n)), p, 0.1, 1e-9)

    tally, truth = Tally(), float(draw_scores(np.random.default_rng(0), 400_000).mean())
    for _ in range(runs):
        method = QuestionIntervals({"score": draw_scores(rng, questions)}, (0.0, 1.0))
        (found,) = method.for_groups([np.arange(questions)], CONFIDENCE)
        tally.add(found["score"], truth)
    return [{"questions": questions, "n": n, "interval": "questions"} | tally.cell()]


# --- Summaries ----------------------------------------------------------------------------


def table_by_truth(cells: list[Cell]) -> str:
    """Return a Markdown table with a row for each truth and a column for each interval."""
    named = [cell.copy() for cell in cells]
    for cell in named:
        if cell["interval"] == "hierarchical":
            cell["interval"] += " k > n" if cell["k"] > cell["n"] else " k <= n"
    names = ("posterior", "sampling", "questions", "hierarchical k <= n", "hierarchical k > n")
    return coverage_table(named, "truth", names)


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


def summary(tables: dict[str, list[Cell]]) -> str:
    """Return the figures on the cards of max_at_k, bayes_at_n and score_agg."""
    cells = tables["max@k"]
    sampling = [cell for cell in cells if cell["interval"] == "sampling"]
    bands = [
        f"{100 * low:.0f} to {100 * min(high, 1):.0f} %: "
        f"{sum(low <= cell['coverage'] < high for cell in sampling)} cells of sampling"
        for low, high in itertools.pairwise((0, 0.9, 0.93, 0.97, 1.01))
    ]
    parts = {
        "By truth": table_by_truth(cells),
        "k = 1": table_by_truth([cell for cell in cells if cell["k"] == 1]),
        "k = n": table_by_truth([cell for cell in cells if cell["k"] == cell["n"]]),
        "Widths": "\n".join([width_summary(cells), *bands]),
        "Lowest coverage of sampling": lowest_coverage(cells, "sampling"),
        "score_agg, by temperature": coverage_table(tables["score_agg"], "truth", ("questions",)),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items())


def draw(cells: list[Cell]) -> None:
    """Draw the picture on the card of max_at_k: the coverage for categories."""
    real = {name for name, truth in truths().items() if truth.real}
    known = [cell for cell in cells if cell["truth"] not in real]
    columns = sorted({(c["n"], c["k"]) for c in known if c["interval"] == "sampling"})
    panels = {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'}
    draw_heat_map(PICTURE, known, panels, columns, "coverage of the 95 % intervals of max@k")


def main() -> None:
    options = study_options(__doc__, {"runs": 120})
    if options.draw:
        draw(load_tables(options.table)[TUNED]["max@k"])
    else:
        distributions = held_out_truths() if options.held_out else truths()
        questions = HELD_OUT_QUESTIONS if options.held_out else QUESTIONS
        samples = HELD_OUT_SAMPLES if options.held_out else SAMPLES
        temperatures = {str(t): t for t in (0.1, 0.5, 1.0)}
        runs = options.runs
        tables = run_grids(
            {
                "max@k": Grid(study_max, distributions, questions, samples, runs),
                "score_agg": Grid(study_score_agg, temperatures, questions, (5,), 10 * runs),
            }
        )
        save_tables(options, tables)
    print_tables(options.table, summary)


if __name__ == "__main__":
    main()
