"""Measure the coverage of confidence intervals in simulations.

    python tests/benchmarks/coverage.py STUDY [--held-out] [--runs 2000] [--seed 1] [--csv FILE]

Each run of a setting draws M questions from a known distribution (its truth), with n samples each.
An interval for the same questions covers if it contains the score of these questions, and one for
other questions if it contains the score of all questions of the distribution. A coverage of c in R
runs has the Monte Carlo error sqrt(c (1 - c) / R), which is 0.5 points at 95 % and 2,000 runs.

With --held-out, the runs come from distributions that no interval was tuned on, with other M and n.

A cell is an interval, a score and a k of a setting. An entry of a printed table has the mean
coverage over its cells and, in parentheses, the share of cells with less than 90 %, and that with
93 to 97 %; then the mean width, the bias of the score, and its root mean square error.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import reward_truths
import studies
import truths
from studies import Labelling, Results

QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES = (5, 20, 60, 300), (3, 6, 12, 40)
Settings = Sequence[tuple[Any, int, int, dict[str, Any]]]


class Grid(NamedTuple):
    """A study with its settings: the truth, M, n and further columns of the cells of each.

    A table is printed for each of `rows`, which are names of columns of cells. `runs` is the number
    of runs of each setting, relative to those of the whole program.
    """

    study: Callable[[Any, int, int, int, np.random.Generator], Results]
    settings: Settings
    rows: Sequence[Sequence[str]]
    runs: float = 1.0

    def cells(self, runs: int, seed: int) -> pd.DataFrame:
        """Return the cells of all settings, with a column for each measure."""
        cells, runs = [], max(1, round(self.runs * runs))
        for index, (truth, m, n, names) in enumerate(self.settings):
            rng = np.random.default_rng([index, m, n, seed])
            results: dict[tuple[str, str], list[np.ndarray]] = {}
            for result in self.study(truth, m, n, runs, rng):
                columns = np.broadcast_arrays(result.covers, result.width, result.error)
                results.setdefault((result.interval, result.key), []).append(np.array(columns))
            for (interval, key), blocks in results.items():
                covers, width, error = np.concatenate(blocks, axis=1).astype(float)
                score = studies.score_and_k(key)
                cells.append(
                    names
                    | {"M": m, "n": n, "interval": interval, **score, "k / n": score["k"] / n}
                    | {"coverage": covers.mean(), "width": width.mean(), "bias": error.mean()}
                    | {"error": np.sqrt(np.mean(error**2)), "runs": len(error)}
                )
        return pd.DataFrame(cells)


def show(grid: Grid, cells: pd.DataFrame) -> None:
    """Print the tables of a grid, and the cells with the lowest coverage, or the largest bias."""
    coverage = cells["coverage"]
    measured = cells.assign(low=coverage < 0.9, near=coverage.between(0.93, 0.97))
    for rows in grid.rows:
        means = measured.groupby([*rows, "interval"])[
            ["coverage", "low", "near", "width", "bias", "error"]
        ].mean()
        texts = means.apply(
            lambda x: (
                f"{x.coverage:.1%} ({x.low:.1%}, {x.near:.0%}); {x.width:.3f}; "
                f"{x.bias:+.3f}, {x.error:.3f}"
            ),
            axis=1,
        )
        print(f"\n{texts.unstack().to_string(na_rep='')}")
    order = cells.assign(size=-cells["bias"].abs()).sort_values(["coverage", "size"])
    print(f"\nWorst cells\n{order.groupby('interval').head(8).drop(columns='size').to_string()}")


# --- Grids ------------------------------------------------------------------------------


def crossed(distributions: dict[str, Any], shapes: Sequence[tuple[int, int]]) -> Settings:
    """Return settings of each distribution with each M and n."""
    return [(x, m, n, {"truth": name}) for name, x in distributions.items() for m, n in shapes]


def usual_shapes(held_out: bool) -> list[tuple[int, int]]:
    both = (HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES) if held_out else (QUESTIONS, SAMPLES)
    return [*itertools.product(*both)]


BY_TRUTH, BY_SCORE = ("truth",), ("score",)


def rates_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of correct and incorrect samples. Hierarchical intervals have k = 2n."""
    distributions = truths.HELD_OUT if held_out else truths.TUNED
    all_settings = crossed(distributions, usual_shapes(held_out))
    smallest = min(n for _, _, n, _ in all_settings)
    ragged = [setting for setting in all_settings if setting[2] == smallest]

    def grid(design: studies.Design, settings: Settings, *rows: Sequence[str]) -> Grid:
        return Grid(partial(studies.study_rates, design), settings, rows)

    return {
        "pass family": grid(studies.PASS_FAMILY, all_settings, BY_TRUTH, BY_SCORE, ("M",)),
        "consensus": grid(studies.CONSENSUS, all_settings, BY_TRUTH, BY_SCORE),
        "n to 4n samples": grid(studies.RAGGED, ragged, BY_TRUTH),
        "k = 2n": grid(studies.BEYOND_N, all_settings, BY_TRUTH)._replace(runs=1 / 20),
    }


def questions_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of limits for other questions. All their truths are held out."""
    shapes = [*itertools.product((8, 15, 40, 150), (5, 20, 50))]
    clusters = [
        (truth, sum(truth.sizes), n, {"truth": name})
        for name, truth in truths.CLUSTERS.items()
        for n in (4, 16)
    ]
    rows = (BY_TRUTH, ("M",), ("n",), BY_SCORE)
    study = studies.study_other_questions
    return {
        "other questions": Grid(study, crossed(truths.OTHER_QUESTIONS, shapes), rows),
        "clusters": Grid(study, clusters, rows),
    }


def rewards_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of rewards. Max@1 is the mean reward, Bayes@N and avg@N."""
    rewards = reward_truths.HELD_OUT if held_out else reward_truths.TUNED
    rows = (BY_TRUTH, ("k / n",), ("truth", "k"))
    return {"max@k": Grid(studies.study_max, crossed(rewards, usual_shapes(held_out)), rows)}


def votes_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of votes, which take longer than others, so M and n are smaller."""
    shapes = itertools.product(*(((8, 25), (6, 20)) if held_out else ((10, 30, 100), (8, 32))))
    answers = crossed(truths.HELD_OUT_ANSWERS if held_out else truths.ANSWERS, [*shapes])
    return {"votes": Grid(studies.study_votes, answers, (BY_TRUTH, ("M",), ("k / n",)))}


def labels_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of labels. All its truths are held out."""
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "60 % impossible, else Beta(2, 8)")
    designs: dict[str, dict[str, Any]] = {
        choice: {"choice": choice} for choice in ("at random", "by verdict", "whole questions")
    }
    designs["errors that depend on the question"] = {"fooled": 0.15}
    shapes = ((80, 6), (250, 8))
    settings = [
        (Labelling(truths.HELD_OUT[name], **options), *shape, {"truth": name, "design": design})
        for (design, options), name, shape in itertools.product(designs.items(), names, shapes)
    ]
    return {"labels": Grid(studies.study_labels, settings, (("score", "k", "design"),))}


def extrapolated_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of k above n. All its truths are held out."""
    settings = crossed(truths.BEYOND_N, [(60, 8), (60, 16), (200, 8), (30, 32)])
    return {"extrapolated": Grid(studies.study_extrapolated, settings, (("k / n", "truth"),))}


def looks_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of several looks. All its truths are held out."""
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "all 0.03")
    settings = []
    for name, interval, number in itertools.product(names, ("sampling", "questions"), (6, 30)):
        columns = {"truth": name, "looks": f"{interval}, {number}"}
        settings.append(((truths.HELD_OUT[name], interval, number), 400, 48, columns))
    return {"looks": Grid(studies.study_looks, settings, (("looks",), BY_TRUTH))}


# --- The program ------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[int, Callable[[bool], dict[str, Grid]]]] = {
    "rates": (2000, rates_grids),
    "questions": (500, questions_grids),
    "rewards": (120, rewards_grids),
    "votes": (100, votes_grids),
    "labels": (16, labels_grids),
    "extrapolated": (12, extrapolated_grids),
    "looks": (40, looks_grids),
}
"""The number of runs of each setting, and the grids for tuned or held-out truths."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=[*PROGRAMS])
    parser.add_argument("--held-out", action="store_true", help="truths no interval was tuned on")
    parser.add_argument("--runs", type=int, help="of each setting")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--csv", type=Path, help="write the cells to a file")
    options = parser.parse_args()
    runs, grids_for = PROGRAMS[options.study]
    tables = []
    for name, grid in grids_for(options.held_out).items():
        print(f"\n=== {name} ===", flush=True)
        cells = grid.cells(options.runs or runs, options.seed)
        show(grid, cells)
        tables.append(cells.assign(grid=name))
    if options.csv:
        pd.concat(tables).to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
