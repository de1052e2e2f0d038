"""Pictures in Vega-Lite, which the page draws in the visitor's own colours and width.

No text of a visitor's gets into an expression: it is data, and data only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Spec = dict[str, Any]

# Apart for the colour-blind, and far enough from white as from black.
COLOURS = ["#2484d0", "#d9600d", "#0f9d76", "#b765ab", "#a88400", "#6f7f8f"]
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3]]
_GREY = "#8a8f98"


def quantity(
    name: str, title: str | None, values: Sequence[float] | None = None, **scale: Any
) -> Spec:
    """A channel of numbers, with the ticks that are given."""
    axis: Spec = {"grid": True, "domain": False, "tickSize": 0, "labelPadding": 6, "title": title}
    axis |= {"labelOverlap": True, "labelFlush": False}
    axis |= {"tickCount": 6} if values is None else {"values": list(values)}
    return {"field": name, "type": "quantitative", "axis": axis, "scale": {"nice": False, **scale}}


def share(name: str, title: str | None = None) -> Spec:
    """A channel from 0 to 100 %."""
    channel = quantity(name, title, [0, 0.25, 0.5, 0.75, 1], domain=[0, 1])
    channel["axis"]["format"] = ".0%"
    return channel


def draws(name: str, most: int) -> Spec:
    """A channel of numbers of draws: ticks at the powers of two."""
    ticks = [2**i for i in range(most.bit_length())] if most > 8 else list(range(1, most + 1))
    kind = {"type": "log", "base": 2} if most > 8 else {}
    channel = quantity(name, "k, the number of draws", ticks, domain=[1, max(2, most)], **kind)
    channel["axis"]["format"] = "d"
    return channel


def curves(
    rows: Iterable[Row],
    x: Spec,
    y: Spec,
    colour: str,
    dash: str | None = None,
    interpolate: str = "monotone",
    marked: Sequence[Row] = (),
    tooltip: Sequence[tuple[str, str, str]] = (),
) -> Spec:
    """Lines with bands from `lo` to `hi`, a colour for each value of one column, and a dash for
    each of another; with `marked`, dots at these rows and a rule where they are.

    Args:
        tooltip: (column, what to call it, format) of what a pointer shows.
    """
    values = list(rows)
    hues, lines = _distinct(values, colour), _distinct(values, dash) if dash else [""]
    channels: Spec = {"color": _colour(colour, hues)}
    if dash:
        channels["detail"] = {"field": dash, "type": "nominal"}
    dashed = {"strokeDash": _dash(dash, lines)} if dash and len(lines) > 1 else {}
    if dash == colour:  # whose legend will do
        dashed["strokeDash"]["legend"] = None
    shape = {"interpolate": interpolate}
    layers: list[Spec] = []
    if any("lo" in row for row in values):
        layers.append(
            {
                "mark": {"type": "area", "opacity": 0.16, "stroke": None, **shape},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "lo"},
                    "y2": {"field": "hi"},
                    **channels,
                },
            }
        )
    layers.append(
        {
            "mark": {"type": "line", "strokeWidth": 2.25, "strokeCap": "butt", **shape},
            "encoding": {"x": x, "y": y, **channels, **dashed},
        }
    )
    told = [
        {"field": name, "title": title, "type": "nominal" if kind == "" else "quantitative"}
        | ({"format": kind} if kind else {})
        for name, title, kind in tooltip
    ]
    layers.append(
        {
            "mark": {"type": "point", "size": 160, "opacity": 0, "filled": True},
            "encoding": {"x": x, "y": y, **channels, "tooltip": told},
        }
    )
    if marked:
        rule = {"type": "rule", "stroke": _GREY, "strokeWidth": 1.5, "strokeDash": [3, 3]}
        layers.append({"data": {"values": list(marked[:1])}, "mark": rule, "encoding": {"x": x}})
        dot = {"type": "point", "filled": True, "size": 70, "opacity": 1}
        layers.append(
            {
                "data": {"values": list(marked)},
                "mark": dot,
                "encoding": {"x": x, "y": y, **channels, "tooltip": told},
            }
        )
    return _spec(values, layers, 310)


def _colour(name: str, values: list[str]) -> Spec:
    scale = {"domain": values, "range": [COLOURS[i % len(COLOURS)] for i in range(len(values))]}
    legend = {"orient": "top", "title": None, "symbolType": "stroke", "symbolStrokeWidth": 3}
    legend |= {"symbolOpacity": 1, "symbolSize": 300}
    legend |= {"columns": 2 if max(map(len, values), default=0) > 12 else 4, "labelLimit": 220}
    return {
        "field": name,
        "type": "nominal",
        "scale": scale,
        "sort": None,
        "legend": legend if len(values) > 1 else None,
    }


def _dash(name: str, values: list[str]) -> Spec:
    scale = {"domain": values, "range": [DASHES[i % len(DASHES)] for i in range(len(values))]}
    legend = {"orient": "bottom", "title": None, "symbolType": "stroke", "symbolSize": 400}
    legend |= {"symbolOpacity": 1, "symbolFillColor": "transparent"}
    legend |= {"symbolStrokeColor": _GREY, "symbolStrokeWidth": 2, "columns": 4}
    return {"field": name, "type": "nominal", "scale": scale, "sort": None, "legend": legend}


def strip(rates: Mapping[str, Sequence[float]], title: str) -> Spec:
    """For each bank a row with a cell for each question, from the hardest to the easiest, in a
    colour for its rate from 0 to 1."""
    banks = list(rates)
    values = [
        {
            "bank": bank,
            "question": question,
            "rate": rate,
            "from": place,
            "to": place + 1 / len(each),
        }
        for bank, each in rates.items()
        for rank, (question, rate) in enumerate(sorted(enumerate(each), key=lambda pair: pair[1]))
        for place in [rank / len(each)]
    ]
    across = {"type": "quantitative", "axis": None, "scale": {"domain": [0, 1], "nice": False}}
    colour = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "scheme": "cividis"},
        "legend": {
            "orient": "bottom",
            "title": title,
            "direction": "horizontal",
            "format": ".0%",
            "values": [0, 0.5, 1],
            "gradientLength": 180,
            "gradientThickness": 8,
            "titleLimit": 300,
        },
    }
    axis = {"title": None, "domain": False, "ticks": False, "labelLimit": 130, "labelPadding": 6}
    layer = {
        "mark": {"type": "rect", "stroke": None},
        "encoding": {
            "x": {"field": "from", **across},
            "x2": {"field": "to"},
            "y": {
                "field": "bank",
                "type": "nominal",
                "sort": banks,
                "scale": {"paddingInner": 0.15},
                "axis": axis if len(banks) > 1 else None,
            },
            "fill": colour,
            "tooltip": [
                {"field": "question", "title": "question (from 0)", "type": "nominal"},
                {"field": "rate", "title": title, "type": "quantitative", "format": ".1%"},
            ],
        },
    }
    return _spec(values, [layer], 34 * len(banks) + 56)


def intervals(rows: Iterable[Row], x: Spec, group: str, colour: str) -> Spec:
    """For each group a line from `lo` to `hi` with a dot at `mean` and a ring at `point`."""
    values = list(rows)
    groups, hues = _distinct(values, group), _distinct(values, colour)
    axis = {"title": None, "domain": False, "ticks": False, "labelLimit": 110, "labelPadding": 8}
    place: Spec = {
        "y": {"field": group, "type": "nominal", "sort": groups, "axis": axis},
        "color": _colour(colour, hues),
    }
    if len(hues) > 1:
        place["yOffset"] = {"field": colour, "type": "nominal", "sort": hues}
    told = [{"field": group, "title": "questions", "type": "nominal"}] + [
        {"field": name, "title": title, "type": "quantitative", "format": ".4f"}
        for name, title in (("mean", "mean"), ("lo", "from"), ("hi", "to"), ("point", "average"))
    ]
    marks = (
        ({"type": "rule", "strokeWidth": 3.5, "strokeCap": "round", "opacity": 0.55}, "lo"),
        ({"type": "point", "filled": True, "size": 90, "opacity": 1}, "mean"),
        (
            {"type": "tick", "thickness": 2.5, "size": 16, "opacity": 1, "orient": "vertical"},
            "point",
        ),
    )
    layers = [
        {
            "mark": mark,
            "encoding": {"x": {**x, "field": name}, **place, "tooltip": told}
            | ({"x2": {"field": "hi"}} if name == "lo" else {}),
        }
        for mark, name in marks
    ]
    return _spec(values, layers, max(70, len(groups) * (22 + 14 * len(hues)) + 20))


def _distinct(rows: Iterable[Row], name: str) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))


def _spec(values: list[Row], layers: list[Spec], height: int) -> Spec:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "usermeta": {"embedOptions": {"actions": False}},
        "background": "transparent",
        "data": {"values": values},
        "height": height,
        "encoding": {},
        "layer": layers,
    }


def as_sheet(title: str, pictures: Sequence[tuple[str, Spec]]) -> Spec:
    """All pictures on one white sheet, for print."""
    font = "Helvetica, Arial, DejaVu Sans, sans-serif"
    text = {"labelFont": font, "titleFont": font, "labelFontSize": 12, "titleFontSize": 12}
    plots = [
        {name: value for name, value in spec.items() if name in ("data", "height", "layer")}
        | {"width": 640, "title": {"text": head, "anchor": "start", "fontSize": 14, "offset": 12}}
        for head, spec in pictures
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "anchor": "start", "fontSize": 18, "offset": 16, "font": font},
        "background": "white",
        "padding": 20,
        "spacing": 32,
        "vconcat": plots,
        "resolve": {"scale": dict.fromkeys(("color", "fill", "strokeDash"), "independent")},
        "config": {
            "axis": {**text, "titleFontWeight": "normal", "gridColor": "#e3e5e8"},
            "legend": {**text, "titleFontWeight": "normal"},
            "title": {"font": font},
            "view": {"stroke": None},
        },
    }
