"""What studies of intervals share: how often they held, how wide they were, tables and pictures.

A cell is one kind of bank (a truth, M questions, n samples), a score, a k and an interval; and what
the interval is about, its target: new samples of these questions, or new questions.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LEAST, WIDER = 0.93, 1.15  # of what is said to hold; how much wider is too wide
ROUNDING = 1e-12  # of truths and ends
Cell = dict


class Grid(NamedTuple):
    """What a study is made of: all truths, numbers of questions M and of samples n.

    Args:
        study: the cells of one of each: study(truth, M, n, runs, rng).
        truths: that banks are drawn from, by name.
    """

    study: Callable[[Any, int, int, int, np.random.Generator], list[Cell]]
    truths: Mapping[str, Any]
    questions: Sequence[int]
    samples: Sequence[int]
    runs: int


def tables_of(grids: Mapping[str, Grid]) -> dict[str, list[Cell]]:
    """The cells of each grid. How long each took is printed."""
    tables: dict[str, list[Cell]] = {}
    for table, (study, truths, questions, samples, runs) in grids.items():
        start, tables[table] = time.time(), []
        for (place, name), m, n in itertools.product(enumerate(truths), questions, samples):
            found = study(truths[name], m, n, runs, np.random.default_rng([place, m, n]))
            tables[table] += [{"truth": name} | cell for cell in found]
        print(f"{table}: {time.time() - start:.0f} s", flush=True)
    return tables


class Tally:
    """How often the intervals of one cell held the truth, and how wide they were."""

    def __init__(self) -> None:
        self._runs = self._above = self._below = self._edge = 0
        self._width = 0.0

    def add(self, lo, hi, truth, edge) -> None:
        """Banks: (B,) ends, the truth or (B,) truths, and (B,) whether the score is at an end of
        its range."""
        self._runs += len(lo)
        self._above += int(np.sum(truth > hi + ROUNDING))
        self._below += int(np.sum(truth < lo - ROUNDING))
        self._edge += int(np.sum(edge))
        self._width += float(np.sum(hi - lo))

    def cell(self) -> Cell:
        """Shares of the runs: held, the truth above and below, the score at an edge; mean width."""
        return {
            "runs": self._runs,
            "held": 1 - (self._above + self._below) / self._runs,
            "above": self._above / self._runs,
            "below": self._below / self._runs,
            "edge": self._edge / self._runs,
            "width": self._width / self._runs,
        }


def holds(cell: Cell) -> bool:
    """Whether the share is not below 93 % by more than two Monte Carlo errors."""
    return cell["held"] >= LEAST - 2 * math.sqrt(LEAST * (1 - LEAST) / cell["runs"])


# --- Widths -----------------------------------------------------------------------------


def compare_widths(cells: Sequence[Cell]) -> None:
    """Add to each cell of one target what its mean width is to that of the narrowest which holds.

    `to_narrowest`: that holds in the same cell, be it by luck, as a prior does where it is the
    truth. `to_robust`: that holds for all truths at these questions, samples, score and k, as
    nobody knows the truth before, both widths being means over the truths. None where the
    interval itself does not hold, and where the score is at an end of its range in most banks:
    there one of no width may hold.
    """
    for group in _grouped(cells, ("questions", "n", "score", "k")).values():
        inside = [cell for cell in group if cell["edge"] < 0.5]
        robust = {
            interval: float(np.mean([cell["width"] for cell in each]))
            for (interval,), each in _grouped(inside, ("interval",)).items()
            if all(holds(cell) for cell in each)
        }
        for cell in group:
            here = [c["width"] for c in inside if c["truth"] == cell["truth"] and holds(c)]
            cell["to_narrowest"] = cell["to_robust"] = None
            if cell["edge"] < 0.5 and holds(cell):
                cell["to_narrowest"] = cell["width"] / min(here)
                if cell["interval"] in robust:
                    cell["to_robust"] = robust[cell["interval"]] / min(robust.values())


def _grouped(cells: Iterable[Cell], names: Sequence[str]) -> dict[tuple, list[Cell]]:
    result: dict[tuple, list[Cell]] = {}
    for cell in cells:
        result.setdefault(tuple(cell[name] for name in names), []).append(cell)
    return result


# --- Tables -----------------------------------------------------------------------------


def summary(cells: Sequence[Cell], by: str, intervals: Sequence[str]) -> str:
    """For each value of `by` and interval: the mean share over cells; how many of the cells are
    below 90 %; and how many from 93 to 97 %."""
    lines = [f"| {by} | {' | '.join(intervals)} |", "|---" * (len(intervals) + 1) + "|"]
    groups = {str(value): each for (value,), each in _grouped(cells, (by,)).items()}
    for value, group in (groups | {"all of these": list(cells)}).items():
        texts = []
        for interval in intervals:
            held = 100 * np.array([x["held"] for x in group if x["interval"] == interval])
            if not len(held):
                texts.append("")
                continue
            below, good = 100 * np.mean(held < 90), 100 * np.mean((held >= 93) & (held <= 97))
            texts.append(f"{held.mean():.1f} % ({below:.1f} %, {good:.0f} %)")
        lines.append(f"| {value} | {' | '.join(texts)} |")
    return "\n".join(lines)


def widths(cells: Sequence[Cell], by: str, interval: str) -> str:
    """For each value of `by`: the median width to the narrowest, how many of the cells have at most
    1.15 of it, and what all but 5 % of them have at most; by both meanings of the narrowest."""
    lines = [f"| {by} | to the narrowest that holds | that holds for all truths |", "|---|---|---|"]
    ours = [cell for cell in cells if cell["interval"] == interval]
    groups = {str(value): each for (value,), each in _grouped(ours, (by,)).items()}
    for value, group in (groups | {"all of these": ours}).items():
        texts = []
        for name in ("to_narrowest", "to_robust"):
            ratio = np.array([cell[name] for cell in group if cell[name] is not None])
            texts.append(
                f"{np.median(ratio):.2f}, {100 * np.mean(ratio <= WIDER):.1f} %, "
                f"{np.quantile(ratio, 0.95):.2f} ({len(ratio)} of {len(group)} cells)"
            )
        lines.append(f"| {value} | {' | '.join(texts)} |")
    return "\n".join(lines)


def robust(cells: Sequence[Cell]) -> str:
    """At how many combinations of questions, samples, score and k each interval holds for all
    truths, of those where the score is not at an end of its range in most banks."""
    groups = _grouped(cells, ("questions", "n", "score", "k")).values()
    number = dict.fromkeys((cell["interval"] for cell in cells), 0)
    for group in groups:
        inside = [cell for cell in group if cell["edge"] < 0.5]
        for (interval,), each in _grouped(inside, ("interval",)).items():
            number[interval] += all(holds(cell) for cell in each)
    return f"of {len(groups)}: {number}"


def worst(cells: Sequence[Cell], interval: str, number: int = 12) -> str:
    """The cells of an interval that hold least often."""
    found = sorted((c for c in cells if c["interval"] == interval), key=lambda c: c["held"])
    return "\n".join(
        f"{c['truth']}, {c['questions']} x {c['n']}, {c['score']} of k = {c['k']}: "
        f"{100 * c['held']:.1f} % (at an edge in {100 * c['edge']:.0f} %)"
        for c in found[:number]
    )


# --- Picture ----------------------------------------------------------------------------


def draw(
    path: Path,
    cells: Sequence[Cell],
    panels: Mapping[str, str],
    columns: Sequence[tuple[int, int | str]],
    label: str,
) -> None:
    """Write a heat map of shares: a panel for each interval, with a row for each truth and M.

    Args:
        cells: of one score.
        panels: the interval, and the title, of each panel.
        columns: (n, k) of each column, ascending.
        label: what the colours say.
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import TwoSlopeNorm

    ink, faint = "#1f2328", "#59636e"
    plt.rcParams |= {"font.size": 9, "text.color": ink, "axes.labelcolor": ink}
    plt.rcParams["svg.hashsalt"] = "coverage"  # so that drawing it again changes nothing
    truths = list(dict.fromkeys(cell["truth"] for cell in cells))
    questions = sorted({cell["questions"] for cell in cells})
    rows = list(itertools.product(truths, questions))
    figure, axis = plt.subplots(
        1, len(panels), figsize=(9.2, 6.4), sharey=True, layout="constrained"
    )
    for axes, (interval, title) in zip(axis, panels.items(), strict=True):
        held = {
            (cell["truth"], cell["questions"], cell["n"], cell["k"]): 100 * cell["held"]
            for cell in cells
            if cell["interval"] == interval
        }
        mesh = axes.pcolormesh(
            [[held[row + column] for column in columns] for row in rows],
            cmap="RdBu",  # which the colour-blind tell apart
            norm=TwoSlopeNorm(95, 75, 105),  # to hold too often is the lesser harm
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
    axis[0].invert_yaxis()  # of all, which share it
    axis[0].set_yticks(np.arange(len(rows)) + 0.5, [str(each) for _, each in rows])
    for block, truth in enumerate(truths):
        y = (block + 0.5) * len(questions)
        law = truth.replace(": ", "\n")
        axis[0].text(-2.2, y, law, ha="right", va="center", linespacing=1.4)
    axis[0].text(-0.2, -0.5, "M", ha="right", color=faint)
    bar = figure.colorbar(mesh, ax=axis, orientation="horizontal", extend="min", aspect=50)
    bar.ax.set_xlim(75, 100)
    bar.set_ticks([75, 80, 85, 90, 95, 100], labels=["75 %", "80", "85", "90", "95", "100 %"])
    bar.set_label(label)
    bar.ax.tick_params(length=0, labelcolor=faint)
    bar.outline.set_visible(False)
    figure.savefig(path, facecolor="white", metadata={"Date": None, "Creator": None})
