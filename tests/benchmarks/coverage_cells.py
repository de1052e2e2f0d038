"""Cells of the coverage studies: their coverage and widths, summaries, and a heat map.

A cell has a distribution that runs are drawn from (its truth), M questions, n samples, a score, a
k, an interval, and a target: whether the interval is for the same questions or for new ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SUFFICIENT = 0.93  # coverage of an interval of 95 % that counts as sufficient
TOO_WIDE = 1.15  # ratio to the narrowest interval with sufficient coverage
ROUNDING = 1e-12  # of true scores and limits
TUNED, HELD_OUT = "truths that intervals were tuned on", "held-out truths"
Cell = dict[str, Any]


class Grid(NamedTuple):
    """The settings of a study: all truths, numbers of questions M and of samples n.

    Args:
        study: returns the cells of one setting: study(truth, M, n, runs, rng).
        truths: the distributions that runs are drawn from, by name.
        questions: the values of M.
        samples: the values of n.
        runs: number of runs of each setting.
    """

    study: Callable[[Any, int, int, int, np.random.Generator], list[Cell]]
    truths: Mapping[str, Any]
    questions: Sequence[int]
    samples: Sequence[int]
    runs: int


def run_grids(grids: Mapping[str, Grid]) -> dict[str, list[Cell]]:
    """Return the cells of each grid, and print how long each takes."""
    tables: dict[str, list[Cell]] = {}
    for table, (study, truths, questions, samples, runs) in grids.items():
        start, tables[table] = time.time(), []
        for (place, name), m, n in itertools.product(enumerate(truths), questions, samples):
            found = study(truths[name], m, n, runs, np.random.default_rng([place, m, n]))
            tables[table] += [{"truth": name} | cell for cell in found]
        print(f"{table}: {time.time() - start:.0f} s", flush=True)
    return tables


# --- The program of a study -----------------------------------------------------------------


def study_options(description: str | None, runs: Mapping[str, int]) -> argparse.Namespace:
    """Return the options of the command line of a study.

    Args:
        description: of the study.
        runs: the names of options that are numbers of runs, and their defaults.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path, help="the JSON file of the cells")
    parser.add_argument(
        "--held-out", action="store_true", help="draw from truths that no interval was tuned on"
    )
    for name, default in runs.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="of each setting")
    parser.add_argument(
        "--draw", action="store_true", help="draw the picture of an existing table, and summarize"
    )
    return parser.parse_args()


def load_tables(path: Path) -> dict[str, dict[str, list[Cell]]]:
    """Return the cells by set of truths and by study."""
    return json.loads(path.read_text()) if path.exists() else {}


def save_tables(options: argparse.Namespace, tables: dict[str, list[Cell]]) -> None:
    """Write the cells of one set of truths beside those of the other."""
    which = HELD_OUT if options.held_out else TUNED
    options.table.write_text(json.dumps(load_tables(options.table) | {which: tables}))


def print_tables(path: Path, summary: Callable[[Any], str]) -> None:
    """Print the summary of each set of truths."""
    for which, tables in load_tables(path).items():
        print(f"\n=== {which} ===\n\n{summary(tables)}")


class Tally:
    """Counts how often the intervals of one cell cover the truth, and sums their widths."""

    def __init__(self) -> None:
        self._runs = self._above = self._below = self._at_end = 0
        self._width = 0.0

    def add(self, lo: np.ndarray, hi: np.ndarray, truth: np.ndarray, at_end: np.ndarray) -> None:
        """Add the intervals of B runs.

        Args:
            lo, hi: (B,) limits.
            truth: (B,) or (1,) true scores.
            at_end: (B,) whether the estimate is at an end of its range.
        """
        self._runs += len(lo)
        self._above += int(np.sum(truth > hi + ROUNDING))
        self._below += int(np.sum(truth < lo - ROUNDING))
        self._at_end += int(np.sum(at_end))
        self._width += float(np.sum(hi - lo))

    def cell(self) -> Cell:
        """Return the shares of the runs whose interval covers the truth, whose truth is above or
        below, and whose estimate is at an end of its range; and the mean width."""
        return {
            "runs": self._runs,
            "coverage": 1 - (self._above + self._below) / self._runs,
            "above": self._above / self._runs,
            "below": self._below / self._runs,
            "at_end": self._at_end / self._runs,
            "width": self._width / self._runs,
        }


def is_sufficient(cell: Cell) -> bool:
    """Return whether the coverage is at least 93 %, less two Monte Carlo errors."""
    error = math.sqrt(SUFFICIENT * (1 - SUFFICIENT) / cell["runs"])
    return cell["coverage"] >= SUFFICIENT - 2 * error


# --- Widths -----------------------------------------------------------------------------


def compare_widths(cells: Sequence[Cell]) -> None:
    """Add to each cell the ratio of its width to the narrowest with sufficient coverage.

    `to_narrowest` compares with the narrowest interval of the same cell, which may be one whose
    prior happens to be the truth. `to_robust` compares with the narrowest interval that has
    sufficient coverage for all truths at these M, n, score and k, since nobody knows the truth;
    both widths are means over the truths. The ratios are None if the interval itself has no
    sufficient coverage, or if the estimate is at an end of its range in most runs, where an
    interval of any width may fail.

    Args:
        cells: of one target.
    """
    for group in _grouped(cells, ("questions", "n", "score", "k")).values():
        inside = [cell for cell in group if cell["at_end"] < 0.5]
        robust = {
            interval: float(np.mean([cell["width"] for cell in each]))
            for (interval,), each in _grouped(inside, ("interval",)).items()
            if all(is_sufficient(cell) for cell in each)
        }
        for cell in group:
            same_truth = [other for other in inside if other["truth"] == cell["truth"]]
            cell["to_narrowest"] = cell["to_robust"] = None
            if cell["at_end"] < 0.5 and is_sufficient(cell):
                narrowest = min(other["width"] for other in same_truth if is_sufficient(other))
                cell["to_narrowest"] = cell["width"] / narrowest
                if cell["interval"] in robust:
                    cell["to_robust"] = robust[cell["interval"]] / min(robust.values())


def _grouped(cells: Iterable[Cell], names: Sequence[str]) -> dict[tuple, list[Cell]]:
    result: dict[tuple, list[Cell]] = {}
    for cell in cells:
        result.setdefault(tuple(cell[name] for name in names), []).append(cell)
    return result


# --- Summaries --------------------------------------------------------------------------


def coverage_table(cells: Sequence[Cell], by: str, intervals: Sequence[str]) -> str:
    """Return a Markdown table with a row for each value of `by` and a column for each interval.

    An entry is the mean coverage over cells and, in parentheses, the share of cells with less than
    90 % and the share with 93 to 97 %.
    """
    lines = [f"| {by} | {' | '.join(intervals)} |", "|---" * (len(intervals) + 1) + "|"]
    groups = {str(value): each for (value,), each in _grouped(cells, (by,)).items()}
    for value, group in (groups | {"all": list(cells)}).items():
        texts = []
        for interval in intervals:
            coverage = 100 * np.array([c["coverage"] for c in group if c["interval"] == interval])
            if not len(coverage):
                texts.append("")
                continue
            low = 100 * np.mean(coverage < 90)
            near = 100 * np.mean((coverage >= 93) & (coverage <= 97))
            texts.append(f"{coverage.mean():.1f} % ({low:.1f} %, {near:.0f} %)")
        lines.append(f"| {value} | {' | '.join(texts)} |")
    return "\n".join(lines)


def width_table(cells: Sequence[Cell], by: str, interval: str) -> str:
    """Return a Markdown table of the widths of an interval, with a row for each value of `by`.

    An entry is the median of a ratio of `compare_widths`, the share of cells where it is at most
    1.15, and its 95 % quantile.
    """
    lines = [
        f"| {by} | to the narrowest in the cell | to the narrowest for all truths |",
        "|---|---|---|",
    ]
    chosen = [cell for cell in cells if cell["interval"] == interval]
    groups = {str(value): each for (value,), each in _grouped(chosen, (by,)).items()}
    for value, group in (groups | {"all": chosen}).items():
        texts = []
        for name in ("to_narrowest", "to_robust"):
            ratio = np.array([cell[name] for cell in group if cell[name] is not None])
            texts.append(
                f"{np.median(ratio):.2f}, {100 * np.mean(ratio <= TOO_WIDE):.1f} %, "
                f"{np.quantile(ratio, 0.95):.2f} ({len(ratio)} of {len(group)} cells)"
                if len(ratio)
                else f"no cell of {len(group)}"
            )
        lines.append(f"| {value} | {' | '.join(texts)} |")
    return "\n".join(lines)


def robust_counts(cells: Sequence[Cell]) -> str:
    """Return for how many M, n, score and k each interval has sufficient coverage for all truths.

    Cells whose estimate is at an end of its range in most runs are left out.
    """
    groups = _grouped(cells, ("questions", "n", "score", "k")).values()
    number = dict.fromkeys((cell["interval"] for cell in cells), 0)
    for group in groups:
        inside = [cell for cell in group if cell["at_end"] < 0.5]
        for (interval,), each in _grouped(inside, ("interval",)).items():
            number[interval] += all(is_sufficient(cell) for cell in each)
    return f"of {len(groups)}: {number}"


def lowest_coverage(cells: Sequence[Cell], interval: str, number: int = 12) -> str:
    """Return a line for each of the cells of an interval with the lowest coverage."""
    chosen = (cell for cell in cells if cell["interval"] == interval)
    return "\n".join(
        f"{c['truth']}, {c['questions']} x {c['n']}, {c.get('score', 'max@k')} with k = {c['k']}: "
        f"{100 * c['coverage']:.1f} %"
        + (f" (estimate at an end in {100 * c['at_end']:.0f} %)" if "at_end" in c else "")
        for c in sorted(chosen, key=lambda cell: cell["coverage"])[:number]
    )


# --- Picture ----------------------------------------------------------------------------


def draw_heat_map(
    path: Path,
    cells: Sequence[Cell],
    panels: Mapping[str, str],
    columns: Sequence[tuple[int, int]],
    label: str,
) -> None:
    """Draw the coverage in a panel for each interval, with a row for each truth and M.

    Args:
        path: of the SVG file.
        cells: of one score.
        panels: the title of the panel of each interval.
        columns: (n, k) of each column, ascending.
        label: of the color scale.
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import TwoSlopeNorm

    text, faint = "#1f2328", "#59636e"
    plt.rcParams |= {"font.size": 9, "text.color": text, "axes.labelcolor": text}
    plt.rcParams["svg.hashsalt"] = "coverage"  # makes the file reproducible
    truths = list(dict.fromkeys(cell["truth"] for cell in cells))
    questions = sorted({cell["questions"] for cell in cells})
    rows = list(itertools.product(truths, questions))
    figure, axis = plt.subplots(
        1, len(panels), figsize=(9.2, 6.4), sharey=True, layout="constrained"
    )
    for axes, (interval, title) in zip(axis, panels.items(), strict=True):
        coverage = {
            (cell["truth"], cell["questions"], cell["n"], cell["k"]): 100 * cell["coverage"]
            for cell in cells
            if cell["interval"] == interval
        }
        mesh = axes.pcolormesh(
            [[coverage[row + column] for column in columns] for row in rows],
            cmap="RdBu",  # safe for color-blind readers
            norm=TwoSlopeNorm(95, 75, 105),  # too high a coverage is less harmful
            edgecolors="white",
            linewidth=0.4,
        )
        axes.set_title(title, fontsize=11, pad=24)
        axes.set_xticks(np.arange(len(columns)) + 0.5, [str(k) for _, k in columns])
        axes.set_xlabel("k", color=faint)
        axes.tick_params(length=0, labelsize=7.5, labelcolor=faint)
        axes.spines[:].set_visible(False)
        place = 0
        for n, group in itertools.groupby(columns, key=lambda column: column[0]):
            width = len(list(group))
            axes.text(place + width / 2, -0.5, f"n = {n}", ha="center", color=faint)
            place += width
            axes.axvline(place, color="white", linewidth=3)
        for block in range(1, len(truths)):
            axes.axhline(block * len(questions), color="white", linewidth=3)
    axis[0].invert_yaxis()  # the panels share it
    axis[0].set_yticks(np.arange(len(rows)) + 0.5, [str(m) for _, m in rows])
    for block, truth in enumerate(truths):
        y = (block + 0.5) * len(questions)
        axis[0].text(-2.2, y, truth.replace(": ", "\n"), ha="right", va="center", linespacing=1.4)
    axis[0].text(-0.2, -0.5, "M", ha="right", color=faint)
    bar = figure.colorbar(mesh, ax=axis, orientation="horizontal", extend="min", aspect=50)
    bar.ax.set_xlim(75, 100)
    bar.set_ticks([75, 80, 85, 90, 95, 100], labels=["75 %", "80", "85", "90", "95", "100 %"])
    bar.set_label(label)
    bar.ax.tick_params(length=0, labelcolor=faint)
    bar.outline.set_visible(False)
    figure.savefig(path, facecolor="white", metadata={"Date": None, "Creator": None})
