"""Tables of the coverage and of the widths of cells, and a heat map.

A cell has a distribution that runs are drawn from (its truth), M questions, n samples, a score, a
k, an interval, and a target: whether the interval is for the same questions or for new ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SUFFICIENT = 0.93  # coverage of an interval of 95 % that counts as sufficient
TOO_WIDE = 1.15  # ratio to the narrowest interval with sufficient coverage
Cell = dict[str, Any]


def is_sufficient(cell: Cell) -> bool:
    """Return whether the coverage is at least 93 %, less two Monte Carlo errors."""
    error = math.sqrt(SUFFICIENT * (1 - SUFFICIENT) / cell["runs"])
    return cell["coverage"] >= SUFFICIENT - 2 * error


# --- Widths -----------------------------------------------------------------------------


def ratios_to_narrowest(cells: Sequence[Cell], interval: str) -> list[tuple[Cell, float]]:
    """Return the cells of an interval, and their widths relative to the narrowest.

    The narrowest is an interval of the same truth, M, n, score and k with sufficient coverage,
    which may be one whose prior happens to be the truth. Cells are left out without sufficient
    coverage, or if the estimate is at an end of its range in most runs, where an interval of any
    width may fail.
    """
    inside = [cell for cell in cells if cell["at_end"] < 0.5 and is_sufficient(cell)]
    return [
        (cell, cell["width"] / min(other["width"] for other in group))
        for group in _grouped(inside, ("truth", "questions", "n", "score", "k")).values()
        for cell in group
        if cell["interval"] == interval
    ]


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
    groups = {str(value): group for (value,), group in _grouped(cells, (by,)).items()}
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


def width_table(cells: Sequence[Cell], interval: str) -> str:
    """Return a Markdown table of the widths of an interval relative to the narrowest, by truth.

    An entry is the median ratio, the share of cells where it is at most 1.15, and the 95 %
    quantile.
    """
    by_truth: dict[str, list[float]] = {}
    for cell, ratio in ratios_to_narrowest(cells, interval):
        for name in (cell["truth"], "all"):
            by_truth.setdefault(name, []).append(ratio)
    lines = ["| truth | ratio to the narrowest |", "|---|---|"]
    for name, ratios in by_truth.items():
        near = 100 * np.mean(np.array(ratios) <= TOO_WIDE)
        texts = f"{np.median(ratios):.2f}, {near:.1f} %, {np.quantile(ratios, 0.95):.2f}"
        lines.append(f"| {name} | {texts} ({len(ratios)} cells) |")
    return "\n".join(lines)


def lowest_coverage(cells: Sequence[Cell], interval: str, number: int = 12) -> str:
    """Return a line for each of the cells of an interval with the lowest coverage."""
    chosen = (cell for cell in cells if cell["interval"] == interval)
    return "\n".join(
        f"{c['truth']}, {c['questions']} x {c['n']}, {c['score']} with k = {c['k']}: "
        f"{100 * c['coverage']:.1f} % (estimate at an end in {100 * c['at_end']:.0f} %)"
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
        left = 0
        for n, group in itertools.groupby(columns, key=lambda column: column[0]):
            width = len(list(group))
            axes.text(left + width / 2, -0.5, f"n = {n}", ha="center", color=faint)
            left += width
            axes.axvline(left, color="white", linewidth=3)
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
