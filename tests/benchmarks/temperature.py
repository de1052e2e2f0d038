"""Draw the picture on the card of score_agg: the score as a function of the temperature.

    python tests/benchmarks/temperature.py

Needs matplotlib in addition to the package. Writes pictures/score_agg_by_temperature.svg.
"""

from __future__ import annotations

from pathlib import Path

import at_k
import matplotlib.pyplot as plt
import numpy as np

PICTURE = Path(__file__).with_name("pictures") / "score_agg_by_temperature.svg"
TEXT, AXES, BACKGROUND = "#1f2328", "#59636e", "#ffffff"

# Verdicts, colour (Okabe and Ito, safe for colour-blind readers), and where the label fits.
CURVES = [
    (["mostly", "mostly", "partial"], "#0072b2", (0.11, 0.852), "left"),
    (["fully", "mostly", "partial", "minor"], "#c04e00", (0.11, 0.298), "left"),
    (["fully"] * 9 + ["none"], "#00785a", (0.43, 0.175), "right"),
    (["fully", "mostly", "partial", "none"], "#9c3f7d", (0.475, 0.25), "left"),
]
EXPONENTS = [(0.1, "\u22128"), (0.3, "\u22122.5"), (0.5, "1"), (0.7, "4.6"), (1.0, "12.25")]
USES = [(0.1, 0.3, "strict"), (0.4, 0.6, "balanced"), (0.7, 1.0, "lenient")]


def main() -> None:
    plt.rcParams |= {"font.size": 10, "text.color": TEXT, "axes.labelcolor": TEXT}
    plt.rcParams["svg.hashsalt"] = "score_agg"  # makes the file reproducible
    figure, axes = plt.subplots(figsize=(7.6, 4.2), facecolor=BACKGROUND)
    # A finer grid around 0.443, where p = 0 and lists with a zero start to score.
    temperatures = np.unique(np.append(np.linspace(0.1, 1, 901), np.linspace(0.44, 0.46, 401)))
    for lowest, highest, use in USES:
        axes.axvspan(lowest, highest, color="#eff2f5", linewidth=0, zorder=0)
        axes.text((lowest + highest) / 2, 1.035, use, ha="center", color=AXES)
    for verdicts, colour, position, side in CURVES:
        scores = [at_k.score_agg(verdicts, temperature=t) for t in temperatures]
        axes.plot(temperatures, scores, color=colour, linewidth=2.2)
        label = "9 fully, 1 none" if len(verdicts) == 10 else ", ".join(verdicts)
        axes.text(*position, label, color=colour, ha=side, va="center")
    axes.set(xlim=(0.1, 1.0), ylim=(-0.02, 1.1), xlabel="temperature", ylabel="score_agg")
    axes.set_xticks([t for t, _ in EXPONENTS], [f"{t}\np = {p}" for t, p in EXPONENTS])
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.tick_params(colors=AXES, length=0)
    axes.grid(axis="y", color="#d1d9e0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    figure.savefig(
        PICTURE,
        bbox_inches="tight",
        facecolor=BACKGROUND,
        metadata={"Date": None, "Creator": None},
    )


if __name__ == "__main__":
    main()
