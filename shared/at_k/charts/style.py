"""The look of all charts: sizes in points, colors, dash patterns, marker shapes and text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import altair as alt

POINTS_PER_INCH = 72
TEXT = 8.0  # size of text
LINE_HEIGHT = 10.0
PADDING = 3.0  # around a chart
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"

DARK = "#1a1a1a"
_GREY = "#8c8c8c"
_GRID = "#e4e4e4"
# Okabe and Ito (2008): colors that people with any color vision can tell apart, without yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The numbers of dash patterns and shapes differ from that of colors, so that combinations do not
# recur early.
_DASHES = ([1, 0], [5, 2], [1.5, 1.5], [6, 1.5, 1.5, 1.5], [9, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

SCORE_FORMAT = ".4f"  # of the numbers in tooltips
UNIT = " (%)"  # at the end of the title of an axis, where scores are in percent

_WIDTHS = {
    191: "'",
    222: "ijl",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    500: "Jckvxyzs",
    584: "+<=>~\u2212",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@",
}
"""Widths of characters in Helvetica, in thousandths of the size. Digits and most letters: 556."""

_WIDTH = {character: width for width, group in _WIDTHS.items() for character in group}


def text_width(text: str, size: float = TEXT) -> float:
    """Return the width of a line of text in points. East Asian characters are as wide as high."""
    widths = (_WIDTH.get(character, 556 if character < "\u2e80" else 1000) for character in text)
    return sum(widths) * size / 1000


def wrap_text(text: str, width: float, size: float = TEXT) -> list[str]:
    """Return the lines of a text that is broken to a width in points.

    Lines are broken at spaces. A word that is too long for a line is broken after hyphens,
    underscores and slashes, or else anywhere.
    """
    lines = [""]
    for word in text.split(" "):
        pieces = [word]
        if text_width(word, size) > width:
            pieces = [piece for piece in re.split(r"(?<=[-_/])", word) if piece]
            if any(text_width(piece, size) > width for piece in pieces):
                pieces = list(word)
        for i, piece in enumerate(pieces):
            space = " " if i == 0 and lines[-1] else ""
            if lines[-1] and text_width(f"{lines[-1]}{space}{piece}", size) > width:
                lines.append(piece)
            else:
                lines[-1] += space + piece
    return lines


def inline_data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Return rows as the data of a chart.

    They are a tuple, because Altair copies lists each time that it puts charts together.
    """
    return alt.InlineData(values=tuple(rows))


def series_scales(names: Sequence[str]) -> dict[str, alt.Scale]:
    """Return the scales that give each name its own color, dash pattern and marker shape."""
    styles: dict[str, Sequence[Any]] = {"color": COLORS, "dash": _DASHES, "shape": _SHAPES}
    return {
        channel: alt.Scale(
            domain=list(names), range=[values[i % len(values)] for i in range(len(names))]
        )
        for channel, values in styles.items()
    }


def nice_ticks(lowest: float, highest: float, at_most: int = 6) -> list[float]:
    """Return round numbers at equal distances that begin below and end above all values."""
    if highest <= lowest:
        margin = abs(lowest) / 10 or 1.0
        lowest, highest = lowest - margin, highest + margin
    size = 10.0 ** math.floor(math.log10((highest - lowest) / at_most))
    for step in (size, 2 * size, 2.5 * size, 5 * size, 10 * size, 20 * size):
        first, last = math.floor(lowest / step + 1e-9), math.ceil(highest / step - 1e-9)
        if last - first <= at_most:
            break
    digits = max(0, 2 - math.floor(math.log10(step)))
    return [round(i * step, digits) for i in range(first, last + 1)]


def decimals_of(ticks: Sequence[float]) -> int:
    """Return how many decimals ticks need."""
    return next(d for d in range(16) if all(round(x, d) == x for x in ticks))


def tick_labels(ticks: Sequence[float], signed: bool = False) -> list[str]:
    """Return the labels of ticks, with as many decimals as they need."""
    return [f"{x:{'+' * signed}.{decimals_of(ticks)}f}" for x in ticks]


def config() -> alt.Config:
    """Return the look of axes, text and views."""
    text: dict[str, Any] = {"font": FONT, "fontSize": TEXT, "color": DARK}
    axis: dict[str, Any] = {
        "domainColor": DARK,
        "domainWidth": 0.6,
        "gridColor": _GRID,
        "gridWidth": 0.5,
        "labelColor": DARK,
        "labelFont": FONT,
        "labelFontSize": TEXT,
        "labelLimit": 0,
        "labelPadding": 2,
        "tickColor": DARK,
        "tickSize": 3,
        "tickWidth": 0.6,
        "titleColor": DARK,
        "titleFont": FONT,
        "titleFontSize": TEXT,
        "titleFontWeight": "normal",
        "titleLimit": 0,
        "titlePadding": 3,
    }
    return alt.Config(
        axis=alt.AxisConfig(**axis),
        text=alt.MarkConfig(**text, limit=0),
        view=alt.ViewConfig(stroke=None, continuousWidth=200, continuousHeight=130),
    )
