"""Define the look of all charts: sizes in points, colors, dash patterns, markers and text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

POINTS_PER_INCH = 72
TEXT = 8.0  # font size
LINE_HEIGHT = 10.0
PADDING = 3.0  # around a chart

DARK = "#1a1a1a"
_GRID = "#e4e4e4"
# Okabe and Ito (2008): colors that people with any color vision can tell apart, without yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Colors, dashes and shapes differ in number, so that combinations do not recur early.
DASHES = ([1, 0], [5, 2], [1.5, 1.5], [6, 1.5, 1.5, 1.5], [9, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


LEGEND_SYMBOL = 13.0  # width of a symbol of a legend, with the space before the name
_BETWEEN_COLUMNS = 10.0  # space between the columns of a legend
LINES = "split(datum.label, '\\n')"  # an expression of Vega: the lines of a label

# The widths of characters as shares of the font size: narrow, wide and other ones.
_EM = dict.fromkeys(" !'(),-./:;I[\\]`fijlrt|", 0.28) | dict.fromkeys("%@MWmw", 0.86)


def text_width(text: str) -> float:
    """Return the approximate width of a line of text in points. Vega offers no such function."""
    # East Asian characters, from U+2E80 on, are as wide as they are high.
    return TEXT * sum(
        1.0 if x >= "\u2e80" else _EM.get(x, 0.7 if x.isupper() else 0.54) for x in text
    )


@lru_cache
def wrap_text(text: str, width: float) -> str:
    """Break a text into lines of `width` points: at spaces, else after / _ or -, else anywhere."""
    lines = [""]
    for word in text.split():
        parts: Iterable[str] = [word]
        if text_width(word) > width:
            parts = re.findall("[^/_-]*[/_-]|[^/_-]+", word)
        separator = " "
        for part in parts:
            for piece in [part] if text_width(part) <= width else part:
                line = f"{lines[-1]}{separator}{piece}".lstrip()
                if text_width(line) <= width:
                    lines[-1] = line
                else:
                    lines.append(piece)
                separator = ""
    return "\n".join(lines)


def inline_data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Return rows as the data of a chart: a tuple, because Altair copies lists again and again."""
    return alt.InlineData(values=tuple(rows))


def series_channels(names: Sequence[str], room: float) -> dict[str, Any]:
    """Return the looks of series as channels by name. The legend is up to `room` points wide."""
    legend: alt.Legend | None = None
    if len(names) > 1:
        widest = max(text_width(line) for name in names for line in name.split("\n"))
        columns = max(1, int(room // (widest + LEGEND_SYMBOL + _BETWEEN_COLUMNS)))
        legend = alt.Legend(title=None, columns=columns, labelExpr=LINES)

    def scale(looks: Sequence[Any]) -> alt.Scale:
        """Return a scale from series to looks, which recur if there are more series."""
        return alt.Scale(domain=list(names), range=list(looks))

    return {
        "color": alt.Color("series:N", scale=scale(COLORS), legend=legend),
        "stroke": alt.Stroke("series:N", scale=scale(COLORS), legend=None),
        "strokeDash": alt.StrokeDash("series:N", scale=scale(DASHES), legend=None),
        "shape": alt.Shape("series:N", scale=scale(SHAPES), legend=legend),
    }


def config() -> alt.Config:
    """Return the configuration of Altair for the look of axes, headers, legends and text."""
    labels: dict[str, Any] = {"labelColor": DARK, "labelFontSize": TEXT, "labelLimit": 0}
    return alt.Config(
        font="Helvetica, Arial, Liberation Sans, sans-serif",
        axis=alt.AxisConfig(
            **labels,
            domainColor=DARK,
            domainWidth=0.6,
            gridColor=_GRID,
            gridWidth=0.5,
            labelFlush=False,
            labelPadding=2,
            tickColor=DARK,
            tickSize=3,
            tickWidth=0.6,
            titleColor=DARK,
            titleFontSize=TEXT,
            titleFontWeight="normal",
            titleLimit=0,
            titlePadding=3,
        ),
        header=alt.HeaderConfig(
            **labels,
            title=None,
            labelAnchor="start",
            labelExpr=LINES,
            labelLineHeight=LINE_HEIGHT,
            labelOrient="top",
            labelPadding=2,
        ),
        legend=alt.LegendConfig(
            **labels,
            columnPadding=_BETWEEN_COLUMNS,
            offset=4,
            orient="top",
            rowPadding=1,
            symbolOpacity=1,
            symbolSize=30,
            symbolStrokeWidth=0,
        ),
        mark=alt.MarkConfig(aria=False),  # Only markers have a description.
        text=alt.MarkConfig(color=DARK, fontSize=TEXT, limit=0),
        title=alt.TitleConfig(
            anchor="start",
            color=DARK,
            fontSize=TEXT,
            fontWeight="normal",
            frame="bounds",
            limit=0,
            lineHeight=LINE_HEIGHT,
            offset=6,
            orient="bottom",
        ),
        view=alt.ViewConfig(stroke=None),
    )
