"""Draw the picture on the card of score_agg: the score against the temperature.

    python tests/pictures/temperature.py

Needs matplotlib besides the package, and writes metrics/score_agg/temperature.svg.
"""

from __future__ import annotations

from pathlib import Path

import at_k
import matplotlib.pyplot as plt
import numpy as np

CARD = Path(__file__).resolve().parents[2] / "metrics" / "score_agg"
INK, FAINT, PAPER = "#1f2328", "#59636e", "#ffffff"

# Colours of Okabe and Ito, which the colour-blind tell apart; and where each name has room.
CURVES = [
    (["mostly", "mostly", "partial"], "#0072b2", (0.11, 0.852), "left"),
    (["fully", "mostly", "partial", "minor"], "#c04e00", (0.11, 0.298), "left"),
    (["fully"] * 9 + ["none"], "#00785a", (0.43, 0.175), "right"),
    (["fully", "mostly", "partial", "none"], "#9c3f7d", (0.475, 0.25), "left"),
]
TABLE = [(0.1, "\u22128"), (0.3, "\u22122.5"), (0.5, "1"), (0.7, "4.6"), (1.0, "12.25")]
USES = [(0.1, 0.3, "strict"), (0.4, 0.6, "balanced"), (0.7, 1.0, "lenient")]


def main() -> None:
    plt.rcParams |= {"font.size": 10, "text.color": INK, "axes.labelcolor": INK}
    plt.rcParams["svg.hashsalt"] = "score_agg"  # so that drawing it again changes nothing
    figure, axes = plt.subplots(figsize=(7.6, 4.2), facecolor=PAPER)
    temperatures = np.unique(np.append(np.linspace(0.1, 1, 901), np.linspace(0.44, 0.46, 401)))
    for least, most, use in USES:
        axes.axvspan(least, most, color="#eff2f5", linewidth=0, zorder=0)
        axes.text((least + most) / 2, 1.035, use, ha="center", color=FAINT)
    for verdicts, colour, place, side in CURVES:
        scores = [at_k.score_agg(verdicts, temperature=t) for t in temperatures]
        axes.plot(temperatures, scores, color=colour, linewidth=2.2)
        nine = verdicts.count("fully") == 9
        name = "9 fully, 1 none" if nine else ", ".join(verdicts)
        axes.text(*place, name, color=colour, ha=side, va="center")
    axes.set(xlim=(0.1, 1.0), ylim=(-0.02, 1.1), xlabel="temperature", ylabel="score_agg")
    axes.set_xticks([t for t, _ in TABLE], [f"{t}\np = {p}" for t, p in TABLE])
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.tick_params(colors=FAINT, length=0)
    axes.grid(axis="y", color="#d1d9e0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    figure.savefig(
        CARD / "temperature.svg",
        bbox_inches="tight",
        facecolor=PAPER,
        metadata={"Date": None, "Creator": None},
    )


if __name__ == "__main__":
    main()
