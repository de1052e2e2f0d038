"""The charts of a page, in Vega-Lite. The page draws them in its own colors and width.

Text of visitors appears in the data only, and never in an expression that Vega evaluates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Spec = dict[str, Any]

# Color-blind safe, and with enough contrast on both white and black.
COLORS = ["#2484d0", "#d9600d", "#0f9d76", "#b765ab", "#a88400", "#6f7f8f"]
_DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3]]
_GREY = "#8a8f98"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


@dataclass(frozen=True)
class Chart:
    """A chart with its title and caption. `spec` is a Vega-Lite specification."""

    title: str
    caption: str
    spec: Spec


@dataclass(frozen=True)
class Tip:
    """A line of a tooltip: the column, its name, and its number format ("" for text)."""

    column: str
    title: str
    number_format: str = ""

    def channel(self) -> Spec:
        """Return the Vega-Lite channel of the line."""
        channel = {"field": self.column, "title": self.title}
        if not self.number_format:
            return channel | {"type": "nominal"}
        return channel | {"type": "quantitative", "format": self.number_format}


SCORE_TIPS = (
    Tip("score", "score", ".4f"),
    Tip("lo", "lower limit", ".4f"),
    Tip("hi", "upper limit", ".4f"),
    Tip("run", "samples"),
)


# --- Charts -----------------------------------------------------------------------------


def line_chart(
    rows: Iterable[Row],
    x: Spec,
    y: Spec,
    color: str,
    dash: str | None = None,
    interpolate: str = "monotone",
    marked: Sequence[Row] = (),
    tips: Sequence[Tip] = (),
) -> Spec:
    """Return a chart of lines, with an area from `lo` to `hi` where the rows have these columns.

    Args:
        rows: the data.
        x: the channel of the x axis.
        y: the channel of the y axis.
        color: each value of this column has its own color.
        dash: each value of this column has its own line and dash pattern.
        interpolate: how Vega-Lite connects the points.
        marked: rows that are drawn as dots. The first one also has a vertical rule.
        tips: the lines of the tooltip.
    """
    rows = list(rows)
    color_channel = _color_channel(color, _distinct(rows, color))
    channels: Spec = {"x": x, "y": y, "color": color_channel}
    if dash is not None:
        channels["detail"] = {"field": dash, "type": "nominal"}
    line_channels = dict(channels)
    if dash is not None and len(_distinct(rows, dash)) > 1:
        # If colors tell the same lines apart, their legend is enough.
        line_channels["strokeDash"] = _dash_channel(
            dash, _distinct(rows, dash), has_legend=dash != color
        )
    tooltip = [tip.channel() for tip in tips]
    layers: list[Spec] = []
    if any("lo" in row for row in rows):
        area = {"type": "area", "opacity": 0.16, "stroke": None, "interpolate": interpolate}
        limits = {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}}
        layers.append({"mark": area, "encoding": channels | limits})
    line = {"type": "line", "strokeWidth": 2.25, "strokeCap": "butt", "interpolate": interpolate}
    layers.append({"mark": line, "encoding": line_channels})
    # Invisible points make the tooltip appear near the lines.
    point = {"type": "point", "size": 160, "opacity": 0, "filled": True}
    layers.append({"mark": point, "encoding": channels | {"tooltip": tooltip}})
    if marked:
        rule = {"type": "rule", "stroke": _GREY, "strokeWidth": 1.5, "strokeDash": [3, 3]}
        layers.append({"data": {"values": list(marked[:1])}, "mark": rule, "encoding": {"x": x}})
        dot = {"type": "point", "filled": True, "size": 70, "opacity": 1}
        layers.append(
            {
                "data": {"values": list(marked)},
                "mark": dot,
                "encoding": channels | {"tooltip": tooltip},
            }
        )
    return _layered(rows, layers, height=310)


def question_strip(values: Mapping[str, Sequence[float]], title: str) -> Spec:
    """Return a chart with one row per run and one cell per question, in increasing order.

    Args:
        values: for each run, a number from 0 to 1 for each question, shown as a color.
        title: what the numbers are.
    """
    runs = list(values)
    rows = []
    for run, by_question in values.items():
        order = sorted(range(len(by_question)), key=lambda question: by_question[question])
        for rank, question in enumerate(order):
            rows.append(
                {
                    "run": run,
                    "question": question,
                    "value": by_question[question],
                    "left": rank / len(order),
                    "right": (rank + 1) / len(order),
                }
            )
    left: Spec = {"field": "left", "type": "quantitative", "axis": None}
    left["scale"] = {"domain": [0, 1], "nice": False}
    row_axis: Spec = {"title": None, "domain": False, "ticks": False}
    row_axis |= {"labelLimit": 130, "labelPadding": 6}
    legend = {
        "orient": "bottom",
        "title": title,
        "direction": "horizontal",
        "format": ".0%",
        "values": [0, 0.5, 1],
        "gradientLength": 180,
        "gradientThickness": 8,
        "titleLimit": 300,
    }
    tips = (Tip("question", "question (from 0)"), Tip("value", title, ".1%"))
    layer = {
        "mark": {"type": "rect", "stroke": None},
        "encoding": {
            "x": left,
            "x2": {"field": "right"},
            "y": {
                "field": "run",
                "type": "nominal",
                "sort": runs,
                "scale": {"paddingInner": 0.15},
                "axis": row_axis if len(runs) > 1 else None,
            },
            "fill": {
                "field": "value",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "scheme": "cividis"},
                "legend": legend,
            },
            "tooltip": [tip.channel() for tip in tips],
        },
    }
    return _layered(rows, [layer], height=34 * len(runs) + 56)


def interval_chart(rows: Iterable[Row], x: Spec, group: str, color: str) -> Spec:
    """Return a chart of intervals, with one line for each group and color.

    Args:
        rows: the data. A bar goes from `lo` to `hi`, with a dot at `mean` and a tick at `average`.
        x: the channel of the x axis.
        group: the column of the groups.
        color: each value of this column has its own color.
    """
    rows = list(rows)
    groups, colors = _distinct(rows, group), _distinct(rows, color)
    axis = {"title": None, "domain": False, "ticks": False, "labelLimit": 110, "labelPadding": 8}
    tips = (
        Tip(group, "questions"),
        Tip("mean", "posterior mean", ".4f"),
        Tip("lo", "lower limit", ".4f"),
        Tip("hi", "upper limit", ".4f"),
        Tip("average", "average", ".4f"),
    )
    channels: Spec = {
        "y": {"field": group, "type": "nominal", "sort": groups, "axis": axis},
        "color": _color_channel(color, colors),
        "tooltip": [tip.channel() for tip in tips],
    }
    if len(colors) > 1:
        channels["yOffset"] = {"field": color, "type": "nominal", "sort": colors}
    bar = {"type": "rule", "strokeWidth": 3.5, "strokeCap": "round", "opacity": 0.55}
    dot = {"type": "point", "filled": True, "size": 90, "opacity": 1}
    tick = {"type": "tick", "thickness": 2.5, "size": 16, "opacity": 1, "orient": "vertical"}
    bar_channels = {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}, **channels}
    layers = [
        {"mark": bar, "encoding": bar_channels},
        {"mark": dot, "encoding": {"x": {**x, "field": "mean"}, **channels}},
        {"mark": tick, "encoding": {"x": {**x, "field": "average"}, **channels}},
    ]
    height_of_group = 22 + 14 * len(colors)
    return _layered(rows, layers, height=max(70, len(groups) * height_of_group + 20))


# --- Parts of charts --------------------------------------------------------------------


def _color_channel(column: str, values: list[str]) -> Spec:
    """Return the channel that gives each value of a column its own color."""
    colors = [COLORS[i % len(COLORS)] for i in range(len(values))]
    has_long_labels = any(len(value) > 12 for value in values)
    legend = {
        "orient": "top",
        "title": None,
        "symbolType": "stroke",
        "symbolStrokeWidth": 3,
        "symbolOpacity": 1,
        "symbolSize": 300,
        "columns": 2 if has_long_labels else 4,
        "labelLimit": 220,
    }
    return {
        "field": column,
        "type": "nominal",
        "scale": {"domain": values, "range": colors},
        "sort": None,
        "legend": legend if len(values) > 1 else None,
    }


def _dash_channel(column: str, values: list[str], has_legend: bool) -> Spec:
    """Return the channel that gives each value of a column its own dash pattern."""
    dashes = [_DASHES[i % len(_DASHES)] for i in range(len(values))]
    legend = {
        "orient": "bottom",
        "title": None,
        "symbolType": "stroke",
        "symbolSize": 400,
        "symbolOpacity": 1,
        "symbolFillColor": "transparent",
        "symbolStrokeColor": _GREY,
        "symbolStrokeWidth": 2,
        "columns": 4,
    }
    return {
        "field": column,
        "type": "nominal",
        "scale": {"domain": values, "range": dashes},
        "sort": None,
        "legend": legend if has_legend else None,
    }


def _distinct(rows: Iterable[Row], column: str) -> list[str]:
    """Return the distinct values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def _layered(rows: list[Row], layers: list[Spec], height: int) -> Spec:
    return {
        "$schema": _SCHEMA,
        "usermeta": {"embedOptions": {"actions": False}},
        "background": "transparent",
        "data": {"values": rows},
        "height": height,
        "encoding": {},
        "layer": layers,
    }


def sheet(title: str, charts: Iterable[Chart]) -> Spec:
    """Return one specification for all charts, below each other on a white background."""
    font = "Helvetica, Arial, DejaVu Sans, sans-serif"
    text = {
        "labelFont": font,
        "titleFont": font,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    plots = [
        {
            "data": chart.spec["data"],
            "height": chart.spec["height"],
            "layer": chart.spec["layer"],
            "width": 640,
            "title": {"text": chart.title, "anchor": "start", "fontSize": 14, "offset": 12},
        }
        for chart in charts
    ]
    return {
        "$schema": _SCHEMA,
        "title": {"text": title, "anchor": "start", "fontSize": 18, "offset": 16, "font": font},
        "background": "white",
        "padding": 20,
        "spacing": 32,
        "vconcat": plots,
        "resolve": {"scale": dict.fromkeys(("color", "fill", "strokeDash"), "independent")},
        "config": {
            "axis": {**text, "gridColor": "#e3e5e8"},
            "legend": text,
            "title": {"font": font},
            "view": {"stroke": None},
        },
    }
