"""How the time grows with the number of outcomes and of scores: the series, and their picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import at_k
import numpy as np
from scorio import eval as scorio
from speed_peers import loop_over_questions, loop_over_rows, random_outcomes, sweep
from timing import fastest

Series = dict[str, list[tuple[int, float]]]
"""The points (size, seconds) of each line."""

TEXT, AXES, BACKGROUND = "#1f2328", "#59636e", "#ffffff"
# Okabe and Ito's colours, safe for colour-blind readers.
COLOURS = ("#0072b2", "#c04e00", "#9c3f7d", "#00785a", AXES)


def over_outcomes(largest: int) -> Series:
    """Time the default sweep of 10,000 up to `largest` outcomes, 64 samples per question."""
    gpassk = at_k.load("gpassk")
    # Each with the largest size that it can compute in reasonable time.
    runs: dict[str, tuple[int, Callable[[np.ndarray], object]]] = {
        "gpassk": (10**8, lambda R: gpassk.compute(predictions=R)),
        "scorio, 15 calls": (10**7, partial(sweep, scorio)),
        "loop over rows, hypergeom.sf": (10**5, loop_over_rows),
        "loop over questions, pass@8 alone": (10**7, loop_over_questions),
        "row sums": (10**8, lambda R: R.sum(axis=1)),
    }
    series: Series = {name: [] for name in runs}
    for size in (10**power for power in range(4, 9)):
        if size > largest:
            break
        R = random_outcomes(size // 64, 64, np.int8)
        for name, (largest_of_run, run) in runs.items():
            if size <= largest_of_run:
                rounds = 1 if run is loop_over_rows else 10 if size <= 10**5 else 2
                (seconds,) = fastest(partial(run, R), rounds=rounds)
                series[name].append((R.size, seconds))
    return series


def over_scores(questions: int) -> Series:
    """Time 1 up to 4,096 scores of one outcome matrix."""
    R, gpassk = random_outcomes(questions, 64), at_k.load("gpassk")
    ours, peer = "gpassk", "scorio, one call per score"
    (per_call,) = fastest(lambda: scorio.g_pass_at_k_tau(R, 8, 0.5), rounds=10)
    series: Series = {ours: [], peer: []}
    for ks, taus in ((1, 1), (3, 4), (8, 16), (32, 32), (64, 64)):
        compute = partial(
            gpassk.compute,
            predictions=R,
            k=[*range(1, ks + 1)],
            thresholds=[tau / taus for tau in range(1, taus + 1)],
            include="G-Pass@k",
        )
        (seconds,) = fastest(compute, rounds=10)
        series[ours].append((ks * taus, seconds))
        series[peer].append((ks * taus, ks * taus * per_call))
    return series


def draw(outcomes: Series, scores: Series, file: Path) -> None:
    """Draw both series with logarithmic axes. Needs matplotlib."""
    import matplotlib.pyplot as plt

    plt.rcParams |= {"font.size": 9.5, "text.color": TEXT, "axes.labelcolor": TEXT}
    plt.rcParams["svg.hashsalt"] = "speed"  # the same numbers give the same file
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.0), facecolor=BACKGROUND, sharey=True)
    labels = ("outcomes (questions x 64)", "scores of one outcome matrix (k x thresholds)")
    for axes, series, label in zip(panels, (outcomes, scores), labels, strict=True):
        for (name, points), colour in zip(series.items(), COLOURS, strict=False):
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=3.5, label=name)
        axes.set(xscale="log", yscale="log", xlabel=label, ylim=(5e-6, 300))
        axes.legend(frameon=False, fontsize=8.5, loc="upper left")
        axes.tick_params(colors=AXES, length=0)
        axes.tick_params(which="minor", length=0)
        axes.grid(color="#d1d9e0", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)
    panels[0].set_ylabel("seconds")
    figure.tight_layout()
    figure.savefig(file, facecolor=BACKGROUND, metadata={"Date": None, "Creator": None})
