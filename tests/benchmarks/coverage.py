"""Measure the coverage of confidence intervals, and the precision of plans, in simulations.

    python tests/benchmarks/coverage.py STUDY table.json [--held-out] [--runs 2000] [--seed 1]
    python tests/benchmarks/coverage.py STUDY table.json --draw

Each run of a setting draws M questions from a known distribution (its truth), with n samples each.
An interval for the same questions covers if it contains the score of these questions, and one for
other questions if it contains the score of all questions of the distribution. A coverage of c in R
runs has the Monte Carlo error sqrt(c (1 - c) / R), which is 0.5 points at 95 % and 2,000 runs.

With --held-out, the runs come from distributions that no interval was tuned on, with other M and n.
Both results are kept in the table and printed below each other. With --draw, the script draws the
picture on the card of gpassk or max_at_k from an existing table, which needs matplotlib.

An entry of a printed table has the mean coverage over cells and, in parentheses, the share of cells
with less than 90 % and the share with 93 to 97 %; then the mean width; and where the study is about
errors of a score, its bias and root mean square error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plan_studies
import reward_truths
import studies
import truths
from plan_studies import Planned
from studies import Field, Labelling, Results

PICTURES = Path(__file__).parent / "pictures"
PICTURES_OF = {
    "rates": ("gpassk", "pass family", "pass@k"),
    "rewards": ("max_at_k", "max@k", "max@k"),
}
"""The metric, the grid and the score of the picture on a card."""
TUNED, HELD_OUT = "truths that intervals were tuned on", "held-out truths"
QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES = (5, 20, 60, 300), (3, 6, 12, 40)
Cell = dict[str, Any]
Settings = Sequence[tuple[Any, int, int, Cell]]


class Grid(NamedTuple):
    """A study with its settings, and how its table is printed.

    Args:
        study: see `studies`.
        settings: the truth, M, n and further columns of cells of each setting.
        columns: the intervals of the table.
        rows: a table for each of these names of columns of cells.
        runs: number of runs of each setting, relative to those of the whole program.
        shows_errors: whether the tables have the bias and the error.
    """

    study: Callable[[Any, int, int, int, np.random.Generator], Results]
    settings: Settings
    columns: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    runs: float = 1.0
    shows_errors: bool = False

    def cells(self, runs: int, seed: int) -> list[Cell]:
        """Return the cells of all settings."""
        cells, runs = [], max(1, round(self.runs * runs))
        for index, (truth, m, n, names) in enumerate(self.settings):
            rng = np.random.default_rng([index, m, n, seed])
            sums: dict[tuple[str, str], np.ndarray] = {}
            for result in self.study(truth, m, n, runs, rng):
                size = np.size(result.covers)
                error = np.broadcast_to(result.error, size)
                values = [np.sum(result.covers), size * np.mean(result.width)]
                values += [error.sum(), (error**2).sum()]
                sums.setdefault((result.interval, result.key), np.zeros(5))[:] += [size, *values]
            for (interval, key), (count, *totals) in sums.items():
                coverage, width, bias, square = (total / count for total in totals)
                score = studies.score_and_k(key)
                cells.append(
                    names
                    | {"M": m, "n": n, "interval": interval, **score, "k / n": score["k"] / n}
                    | {"coverage": coverage, "width": width}
                    | {"bias": bias, "error": square**0.5, "runs": count}
                )
        return cells


# --- Tables and the picture -------------------------------------------------------------


def table(grid: Grid, cells: Sequence[Cell], rows: Sequence[str]) -> str:
    """Return a Markdown table of the mean cells with the same values of these columns."""
    lines = [f"| {', '.join(rows)} | {' | '.join(grid.columns)} |"]
    lines.append("|---" * (len(grid.columns) + 1) + "|")
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(", ".join(str(cell[name]) for name in rows), []).append(cell)
    for value, group in (groups | {"all": [*cells]}).items():
        chosen = [[x for x in group if x["interval"] == name] for name in grid.columns]
        lines.append(f"| {value} | {' | '.join(entry(x, grid.shows_errors) for x in chosen)} |")
    return "\n".join(lines)


def entry(cells: Sequence[Cell], shows_errors: bool) -> str:
    if not cells:
        return ""
    coverage, width, bias, error = (
        np.array([cell[name] for cell in cells]) for name in ("coverage", "width", "bias", "error")
    )
    texts = []
    if np.isfinite(coverage).all():
        low, near = np.mean(coverage < 0.9), np.mean((coverage >= 0.93) & (coverage <= 0.97))
        texts.append(f"{coverage.mean():.1%} ({low:.1%}, {near:.0%})")
    if width.any():
        texts.append(f"width {width.mean():.3f}")
    if shows_errors:
        texts.append(f"{bias.mean():+.3f}, {error.mean():.3f}")
    return "; ".join(texts)


def worst(cells: Sequence[Cell], interval: str, number: int = 8) -> str:
    """Return a line for each of the cells of an interval with the lowest coverage, or the largest
    bias where there is no coverage.
    """
    chosen = [cell for cell in cells if cell["interval"] == interval]
    chosen.sort(key=lambda cell: (np.nan_to_num(cell["coverage"]), -abs(cell["bias"])))
    return "\n".join(
        f"{c['coverage']:.1%}, bias {c['bias']:+.3f}: {c['truth']}, {c['M']} x {c['n']}, "
        f"{c['score']} with k = {c['k']}"
        for c in chosen[:number]
    )


def median_ratio(cells: Sequence[Cell], interval: str, other: str) -> float:
    """Return the median over cells of the width of an interval relative to that of another."""
    names = ("truth", "M", "n", "score", "k")
    widths: dict[str, dict[tuple, float]] = {interval: {}, other: {}}
    for cell in cells:
        if cell["interval"] in widths:
            widths[cell["interval"]][tuple(cell[name] for name in names)] = cell["width"]
    ratios = [x / widths[other][key] for key, x in widths[interval].items() if key in widths[other]]
    return float(np.median(ratios))


def draw_picture(name: str, score: str, cells: Sequence[Cell]) -> None:
    """Draw the coverage of two intervals in a panel each, with a row for each truth and M."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import TwoSlopeNorm

    text, faint = "#1f2328", "#59636e"
    plt.rcParams |= {"font.size": 9, "text.color": text, "axes.labelcolor": text}
    plt.rcParams["svg.hashsalt"] = "coverage"  # makes the file reproducible
    chosen = [x for x in cells if x["score"] == score and not x["truth"].startswith("real")]
    rows = list(itertools.product(dict.fromkeys(cell["truth"] for cell in chosen), QUESTIONS))
    columns = [(n, k) for n in SAMPLES for k in studies.ks_up_to(n)]
    figure, axis = plt.subplots(1, 2, figsize=(9.2, 6.4), sharey=True, layout="constrained")
    for axes, (interval, shown) in zip(
        axis, (("posterior",) * 2, ("sampling", "auto")), strict=True
    ):
        coverage = {
            (cell["truth"], cell["M"], cell["n"], cell["k"]): 100 * cell["coverage"]
            for cell in chosen
            if cell["interval"] == interval
        }
        mesh = axes.pcolormesh(
            [[coverage[row + column] for column in columns] for row in rows],
            cmap="RdBu",  # safe for color-blind readers
            norm=TwoSlopeNorm(95, 75, 105),  # too high a coverage is less harmful
            edgecolors="white",
            linewidth=0.4,
        )
        axes.set_title(f'interval="{shown}"', fontsize=11, pad=24)
        axes.set_xticks(np.arange(len(columns)) + 0.5, [str(k) for _, k in columns])
        axes.set_xlabel("k", color=faint)
        axes.tick_params(length=0, labelsize=7.5, labelcolor=faint)
        axes.spines[:].set_visible(False)
        left = 0
        for n in SAMPLES:
            width = len(studies.ks_up_to(n))
            axes.text(left + width / 2, -0.5, f"n = {n}", ha="center", color=faint)
            left += width
            axes.axvline(left, color="white", linewidth=3)
        for top in range(len(QUESTIONS), len(rows), len(QUESTIONS)):
            axes.axhline(top, color="white", linewidth=3)
    axis[0].invert_yaxis()  # the panels share it
    axis[0].set_yticks(np.arange(len(rows)) + 0.5, [str(m) for _, m in rows])
    for top, (truth, _) in enumerate(rows):
        if top % len(QUESTIONS) == 0:
            lines, y = truth.replace(": ", "\n"), top + len(QUESTIONS) / 2
            axis[0].text(-2.2, y, lines, ha="right", va="center", linespacing=1.4)
    axis[0].text(-0.2, -0.5, "M", ha="right", color=faint)
    bar = figure.colorbar(mesh, ax=axis, orientation="horizontal", extend="min", aspect=50)
    bar.ax.set_xlim(75, 100)
    bar.set_ticks([75, 80, 85, 90, 95, 100], labels=["75 %", "80", "85", "90", "95", "100 %"])
    bar.set_label(f"coverage of the 95 % intervals of {score}")
    bar.ax.tick_params(length=0, labelcolor=faint)
    bar.outline.set_visible(False)
    path = PICTURES / f"{name}_interval_coverage.svg"
    figure.savefig(path, facecolor="white", metadata={"Date": None, "Creator": None})


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

    def grid(design: studies.Design, settings: Settings, *rows: tuple[str, ...]) -> Grid:
        study = partial(studies.study_rates, design)
        return Grid(study, settings, (*design.intervals, "normal"), rows)

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
    columns = ("questions", "Student's t", "Wilson", "bootstrap")
    rows = (BY_TRUTH, ("M",), ("n",), BY_SCORE)
    study = studies.study_other_questions
    return {
        "other questions": Grid(study, crossed(truths.OTHER_QUESTIONS, shapes), columns, rows),
        "clusters": Grid(study, clusters, columns, rows),
    }


def rewards_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of rewards and verdicts. Max@1 is the mean reward, Bayes@N and avg@N."""
    rewards = reward_truths.HELD_OUT if held_out else reward_truths.TUNED
    shapes = usual_shapes(held_out)
    columns = ("posterior", "sampling", "questions", "hierarchical k <= n", "hierarchical k > n")
    temperatures = {str(t): t for t in (0.1, 0.5, 1.0)}
    items = crossed(temperatures, [(m, 5) for m in sorted({m for m, _ in shapes})])
    rows = (BY_TRUTH, ("k / n",), ("truth", "k"))
    return {
        "max@k": Grid(studies.study_max, crossed(rewards, shapes), columns, rows),
        "score_agg": Grid(
            studies.study_score_agg, items, ("questions",), (("truth", "M"),), runs=10
        ),
    }


def votes_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of votes, which take longer than others, so M and n are smaller."""
    shapes = itertools.product(*(((8, 25), (6, 20)) if held_out else ((10, 30, 100), (8, 32))))
    answers = crossed(truths.HELD_OUT_ANSWERS if held_out else truths.ANSWERS, [*shapes])
    ties = crossed(
        {str(pmf): pmf for pmf in truths.TIES}, [*itertools.product((20, 100, 400), (8, 16, 32))]
    )
    rows, columns = (BY_TRUTH, ("M",), ("k / n",)), ("sampling",)
    return {
        "votes": Grid(studies.study_votes, answers, columns, rows),
        "ties": Grid(studies.study_ties, ties, columns, (*rows, ("M", "n", "k")), runs=8),
    }


def bands_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of bands. All its truths are held out."""
    names = ["0.02, 0.35 or 0.97", "log-odds normal(-1, 2.5)"]
    names.append("few hard: Beta(20, 2) or Beta(1, 30)")
    settings = crossed({x: truths.HELD_OUT[x] for x in names}, [*studies.BAND_SHAPES])
    rows, columns = (BY_TRUTH, ("M",), BY_SCORE), ("band", "all k", "one k")
    return {"bands": Grid(studies.study_bands, settings, columns, rows)}


def leaderboards_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of leaderboards. All its truths are held out. Fixed rates are not drawn."""
    names = ["0.02, 0.35 or 0.97", "log-odds normal(-1, 2.5)", "fixed rates"]
    settings = []
    for number, (runs, design, rewards, interval) in enumerate(
        itertools.product(
            (3, 6), studies.LEADERBOARD_DESIGNS, (False, True), ("sampling", "questions")
        )
    ):
        m, n = ((40, 8), (100, 16), (30, 6))[number % 3]
        for name in names[: 2 if interval == "questions" else 3]:
            field = Field(truths.HELD_OUT[name], design, runs, rewards, interval)
            title = f"{runs} runs, {design}, {interval}"
            settings.append((field, m, n, {"truth": name, "design": title}))
    rows, columns = (BY_TRUTH, ("design",), BY_SCORE), ("differences", "order")
    return {"leaderboards": Grid(studies.study_leaderboards, settings, columns, rows)}


def labels_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of designs of labels. All its truths are held out."""
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "60 % impossible, else Beta(2, 8)")
    settings = [
        (
            Labelling(truths.HELD_OUT[name], choice, fooled=fooled),
            *shape,
            {"truth": name, "design": design},
        )
        for (design, choice, fooled), name, shape in itertools.product(
            (
                ("at random", "at random", 0.0),
                ("by verdict", "by verdict", 0.0),
                ("whole questions", "whole questions", 0.0),
                ("errors that depend on the question", "at random", 0.15),
            ),
            names,
            ((80, 6), (250, 8)),
        )
    ]
    columns, rows = ("labels", "rates of the labels", "uncorrected"), (("score", "k", "design"),)
    study = partial(studies.study_labels, columns)
    return {"labels": Grid(study, settings, columns, rows, shows_errors=True)}


def judges_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of a judge: coverage by number of labels, and errors with known rates."""
    shapes = [(60, 4), (100, 8), (300, 8)]
    rates = [(0.95, 0.02), (0.9, 0.1), (0.8, 0.05), (0.98, 0.2)]
    settings = {
        interval: [
            (
                Labelling(truth, labels=labels, rates=rates[number % 4], interval=interval),
                *shapes[number % 3],
                {"truth": name, "labels": labels},
            )
            for (name, truth), labels in itertools.product(truths.JUDGED.items(), (100, 200, 400))
            for number in range(12)
            if labels <= math.prod(shapes[number % 3])
        ]
        for interval in ("sampling", "questions")
    }
    uniform = truths.beta(1, 1)
    known = [
        (Labelling(uniform, rates=pair), 100, n, {"truth": f"rates {pair}"})
        for pair, n in itertools.product(((0.9, 0.1), (0.8, 0.2)), (8, 16, 64))
    ]
    misled = Labelling(uniform, rates=(0.95, 0.1), fooled=0.1)
    known.append((misled, 100, 8, {"truth": "errors on whole questions"}))
    rows, columns = (("labels",), ("truth", "labels", "score", "k")), ("labels",)
    study = partial(studies.study_labels, columns)
    return {
        **{interval: Grid(study, x, columns, rows) for interval, x in settings.items()},
        "known rates": Grid(
            studies.study_known_rates,
            known,
            ("no errors", "corrected", "uncorrected"),
            (("truth", "n", "k"),),
            shows_errors=True,
        ),
    }


def extrapolated_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of k above n. All its truths are held out."""
    settings = crossed(truths.BEYOND_N, [(60, 8), (60, 16), (200, 8), (30, 32)])
    columns, rows = ("auto", "Beta-binomial", "plug-in"), (("k / n", "truth"),)
    study = studies.study_extrapolated
    return {"extrapolated": Grid(study, settings, columns, rows, shows_errors=True)}


def looks_grids(held_out: bool) -> dict[str, Grid]:
    """Return the study of several looks. All its truths are held out."""
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "all 0.03")
    settings = [
        (
            (truths.HELD_OUT[x], interval, number),
            400,
            48,
            {"truth": x, "looks": f"{interval}, {number}"},
        )
        for x, interval, number in itertools.product(names, ("sampling", "questions"), (6, 30))
    ]
    columns, rows = ("one look", "anytime"), (("looks",), BY_TRUTH)
    return {"looks": Grid(studies.study_looks, settings, columns, rows)}


def plans_grids(held_out: bool) -> dict[str, Grid]:
    """Return the studies of plans."""
    known = plan_studies.TRUTHS
    designs = {("pass@k", 1): (2, 4, 16), ("pass@k", 8): (8, 32), ("pass^k", 4): (4, 16)}
    designs |= {("maj@k", 5): (8,)}
    widths = [
        (Planned(known[name], *score), m, n, {"truth": name})
        for name, (score, sizes) in itertools.product(known, designs.items())
        for n, m in itertools.product(sizes, (30, 100, 500))
    ]
    powers = [
        (Planned(known[name], score, k), m, n, {"truth": name})
        for name, (score, k, m, n) in itertools.product(
            known,
            (
                ("pass@k", 1, 100, 4),
                ("pass@k", 8, 100, 16),
                ("pass^k", 4, 200, 8),
                ("maj@k", 5, 50, 8),
            ),
        )
    ]
    judged = [
        (
            Planned(known[name], "pass@k", k, Labelling(known[name], labels=labels, rates=rates)),
            *(m, n, {"truth": name, "labels": labels}),
        )
        for name, (rates, labels), (k, m, n) in itertools.product(
            ("uniform", "Beta(0.6, 0.9)"),
            (((0.9, 0.1), 300), ((0.95, 0.05), 150)),
            ((1, 150, 4), (2, 200, 8), (4, 150, 8)),
        )
    ]
    both, rows = plan_studies.INTERVALS, (BY_TRUTH, ("score", "k", "M"))
    return {
        "half-widths": Grid(plan_studies.study_half_widths, widths, both, rows, shows_errors=True),
        "power": Grid(plan_studies.study_power, powers, both, rows, runs=5),
        "with labels": Grid(
            plan_studies.study_judged_plans,
            judged,
            (*both, *(f"power, {interval}" for interval in both)),
            (("labels", "k"), ("truth",)),
            shows_errors=True,
        ),
    }


# --- The program ------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[int, Callable[[bool], dict[str, Grid]]]] = {
    "rates": (2000, rates_grids),
    "questions": (500, questions_grids),
    "rewards": (120, rewards_grids),
    "votes": (100, votes_grids),
    "bands": (150, bands_grids),
    "leaderboards": (60, leaderboards_grids),
    "labels": (16, labels_grids),
    "judges": (20, judges_grids),
    "extrapolated": (12, extrapolated_grids),
    "looks": (40, looks_grids),
    "plans": (200, plans_grids),
}
"""The number of runs of each setting, and the grids for tuned or held-out truths."""


def show(grids: dict[str, Grid], tables: dict[str, list[Cell]]) -> None:
    """Print the tables of each grid, and its worst cells."""
    for name, grid in grids.items():
        cells = tables[name]
        for rows in grid.rows:
            print(f"\n{name}, by {', '.join(rows)}\n\n{table(grid, cells, rows)}")
        for interval in grid.columns:
            print(f"\n{name}, worst of {interval}\n\n{worst(cells, interval)}")
    if "pass family" in tables:
        uniform = [x for x in tables["pass family"] if x["truth"].startswith("uniform")]
        if uniform:
            ratio = median_ratio(uniform, "sampling", "posterior")
            print(f"\nWidth of sampling relative to the posterior, uniform rates: {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=[*PROGRAMS])
    parser.add_argument("table", type=Path, help="the JSON file of the cells")
    parser.add_argument("--held-out", action="store_true", help="truths no interval was tuned on")
    parser.add_argument("--runs", type=int, help="of each setting")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--draw", action="store_true", help="draw the picture of a table")
    options = parser.parse_args()
    runs, grids_for = PROGRAMS[options.study]
    tables = json.loads(options.table.read_text()) if options.table.exists() else {}
    if options.draw:
        metric, name, score = PICTURES_OF[options.study]
        draw_picture(metric, score, tables[TUNED][name])
        return
    measured = tables[HELD_OUT if options.held_out else TUNED] = {}
    for name, grid in grids_for(options.held_out).items():
        start = time.perf_counter()
        measured[name] = grid.cells(options.runs or runs, options.seed)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    options.table.write_text(json.dumps(tables))
    for which, cells in tables.items():
        print(f"\n=== {which} ===")
        show(grids_for(which == HELD_OUT), cells)


if __name__ == "__main__":
    main()
