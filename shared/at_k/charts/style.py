"""Define the look of all charts: sizes in points, colors, dash patterns, markers and text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import altair as alt

POINTS_PER_INCH = 72
TEXT = 8.0  # font size
LINE_HEIGHT = 10.0
PADDING = 3.0  # around a chart

DARK = "#1a1a1a"
_GRID = "#e4e4e4"
# Okabe and Ito (2008): colors that people with any color vision can tell apart, without yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The numbers of dash patterns and shapes differ from that of colors, so that combinations do not
# recur early.
DASHES = ([1, 0], [5, 2], [1.5, 1.5], [6, 1.5, 1.5, 1.5], [9, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


class NumberFormats(NamedTuple):
    """Hold the Vega formats of scores and differences, and the Python format of both (`text`)."""

    score: str
    difference: str
    text: str


AS_SHARES = NumberFormats("f", "+f", ".4f")
IN_PERCENT = NumberFormats("%", "+%", ".2%")

LEGEND_SYMBOL = 13.0  # width of a symbol of a legend, with the space before the name
_BETWEEN_COLUMNS = 10.0  # space between the columns of a legend
_NARROW, _WIDE = " !'(),-./:;I[\\]`fijlrt|", "%@MWmw"
LINES = "split(datum.label, '\\n')"


def text_width(text: str) -> float:
    """Return the approximate width of a line of text in points.

    It is needed because Vega neither breaks lines of text nor fits panels to the width of a figure.
    """

    def em(character: str) -> float:
        """Return the width of a character as a share of the font size."""
        if character >= "\u2e80":  # East Asian characters are as wide as they are high.
            return 1.0
        if character in _NARROW:
            return 0.28
        return 0.86 if character in _WIDE else 0.7 if character.isupper() else 0.54

    return TEXT * sum(map(em, text))


@lru_cache
def wrap_text(text: str, width: float) -> str:
    """Return a text with line breaks, so that its lines are at most `width` points wide."""
    # Words that are too wide may also break after these characters, where a vertical tab is put.
    breakable = " ".join(
        word if text_width(word) <= width else re.sub("([/_-])(?=.)", "\\1\v", word)
        for word in text.split()
    )
    # No line has more characters than `most`, which is the number of the narrowest ones.
    lines, most = [text], min(len(text), int(4 * width / TEXT))
    while most > 1 and max(map(text_width, lines)) > width:
        most = min(most - 1, max(map(len, lines)))
        wrapped = textwrap.wrap(breakable, most, replace_whitespace=False, break_on_hyphens=False)
        lines = [line.replace("\v", "") for line in wrapped] or [""]
    return "\n".join(lines)


def inline_data(rows: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Return rows as the data of a chart.

    They become a tuple, because Altair copies lists each time that it combines charts.
    """
    return alt.InlineData(values=tuple(rows))


def series_channels(names: Sequence[str], room: float) -> dict[str, Any]:
    """Return the channels "color", "stroke", "strokeDash" and "shape" as a dict.

    They give each series its own color, dash pattern and marker shape. `names` may have line
    breaks. If there are several, a legend above the panels shows them, at most `room` points wide.
    """
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
