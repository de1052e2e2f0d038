"""Panels of lines with bands and markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from ..core.checks import check_number
from .figure import Figure, divide_space, make_figure, printed_width
from .results import Row
from .style import (
    DARK,
    LINE_HEIGHT,
    SCORE_FORMAT,
    TEXT,
    UNIT,
    decimals_of,
    inline_data,
    nice_ticks,
    series_scales,
    text_width,
    tick_labels,
    wrap_text,
)

_ONE_PANEL, _SEVERAL_PANELS = 130.0, 100.0  # heights in a column of a paper
_COLUMN = 3.3  # inches
_MARGIN = 0.05  # of a zoomed range, on both sides
_APART = 9.0  # smallest distance between markers of a line
_TICKS_APART = 0.07  # smallest distance of labels, as a share of the axis
_MARKER = 3.0  # half of a marker
_AFTER_TICKS = 6.0  # between the labels of the vertical axis and the panel
_MOST_WITH_TOOLTIPS = 500  # points of a panel, up to which those without marker have a tooltip


@dataclass(frozen=True)
class LineAxis:
    """The horizontal axis of lines.

    Attributes:
        title: its title.
        ticks: the values that are labeled.
        lowest, highest: its range.
        logarithmic: whether equal ratios have equal lengths.
    """

    title: str
    ticks: Sequence[float]
    lowest: float
    highest: float
    logarithmic: bool = False

    def position(self, value: float) -> float:
        """Return where a value is, as a share of the length of the axis."""
        size = math.log2 if self.logarithmic else float
        lowest = size(self.lowest)
        return (size(value) - lowest) / (size(self.highest) - lowest)

    def channel(self, labeled: bool = True) -> alt.X:
        """Return the channel of the column x."""
        scale: dict[str, Any] = {"domain": [self.lowest, self.highest], "nice": False}
        scale |= {"type": "log", "base": 2} if self.logarithmic else {"zero": False}
        labels = {"title": self.title} if labeled else {"title": None, "labels": False}
        axis = alt.Axis(
            values=list(self.ticks),
            grid=False,
            labelExpr="'' + datum.value",
            labelFlush=False,
            labelOverlap=False,
            **labels,
        )
        return alt.X("x:Q", scale=alt.Scale(**scale), axis=axis)


def k_axis(ks: Iterable[int]) -> LineAxis:
    """Return the axis of k: logarithmic for powers of 2, and for k above 8 from a wide range."""
    ordered = sorted(set(ks))
    first, last = ordered[0], ordered[-1]
    are_powers = len(ordered) > 2 and all(k & (k - 1) == 0 for k in ordered)
    logarithmic = are_powers or (last > 8 and last >= 4 * first)
    ticks: Sequence[float] = ordered
    if len(ordered) > 10 and logarithmic:
        ticks = [2**i for i in range(last.bit_length()) if first <= 2**i < last] + [last]
    elif len(ordered) > 10:
        ticks = [x for x in nice_ticks(first, last) if first <= x <= last and x == int(x)]
    axis = LineAxis("number of samples k", ticks, first, last, logarithmic)
    apart = [ticks[0]]
    for tick in ticks[1:]:
        if axis.position(tick) - axis.position(apart[-1]) >= _TICKS_APART:
            apart.append(tick)
    return replace(axis, ticks=apart)


@dataclass(frozen=True)
class NumberAxis:
    """The vertical axis of lines. The lines of its title are above it."""

    title: Sequence[str]
    ticks: Sequence[float]
    signed: bool = False

    @property
    def extent(self) -> float:
        """The width of the labels, in points."""
        return max(map(text_width, tick_labels(self.ticks, self.signed))) + _AFTER_TICKS

    def channel(self, column: str) -> alt.Y:
        """Return the channel of a column."""
        number = f"format(datum.value, '{'+' * self.signed}.{decimals_of(self.ticks)}f')"
        axis = alt.Axis(
            title=list(self.title),
            titleAlign="left",
            titleAnchor="end",
            titleAngle=0,
            titleBaseline="bottom",
            titleX=-self.extent,
            titleLineHeight=LINE_HEIGHT,
            titleY=-8 - LINE_HEIGHT * (len(self.title) - 1),
            values=list(self.ticks),
            labelExpr=f"datum.value ? {number} : '0'" if self.signed else number,
            domain=False,
            ticks=False,
            minExtent=self.extent,
            maxExtent=self.extent,
            labelPadding=_AFTER_TICKS - 2,
        )
        scale = alt.Scale(domain=[self.ticks[0], self.ticks[-1]], nice=False, zero=False)
        return alt.Y(f"{column}:Q", scale=scale, axis=axis)


def score_ticks(rows: Iterable[Row]) -> list[float]:
    """Return the ticks of scores: from 0 to 1 if all scores and limits are in this range."""
    lowest, highest = range_of_scores(rows)
    if is_share(lowest, highest):
        return [0, 0.2, 0.4, 0.6, 0.8, 1]
    return nice_ticks(lowest, highest)


def zoomed_range(rows: Iterable[Row]) -> tuple[float, float]:
    """Return a range that is a little larger than that of the scores, but not beyond 0 to 1."""
    lowest, highest = range_of_scores(rows)
    margin = _MARGIN * (highest - lowest) or abs(lowest) / 10 or 1.0
    if is_share(lowest, highest):
        return max(0.0, lowest - margin), min(1.0, highest + margin)
    return lowest - margin, highest + margin


def ticks_within(lowest: float, highest: float, width: float) -> list[float]:
    """Return round numbers within a range whose labels fit a width in points."""
    for at_most in range(6, 0, -1):
        ticks = [x for x in nice_ticks(lowest, highest, at_most) if lowest <= x <= highest]
        needed = sum(text_width(label) + TEXT / 2 for label in tick_labels(ticks))
        if needed <= width:
            break
    return ticks


def range_of_scores(rows: Iterable[Row]) -> tuple[float, float]:
    """Return the smallest and the largest of all scores and limits."""
    fields = ("score", "lo", "hi", "band_lo", "band_hi")
    values = [row[field] for row in rows for field in fields if field in row]
    return min(values), max(values)


def is_share(lowest: float, highest: float) -> bool:
    """Return whether a range is within 0 to 1, except for rounding."""
    return lowest >= -1e-9 and highest <= 1 + 1e-9


def figure_of_scores(
    rows: Sequence[Row],
    names: Mapping[str, str],
    x: LineAxis,
    caption: str,
    width: float,
    title: str,
    highlight: float | None = None,
) -> Figure:
    """Return a figure in which lines are the metrics of one run, or several runs.

    Args:
        rows: the scores, with the columns run, metric and x.
        names: what to call each metric.
        x: the horizontal axis.
        caption: the text below.
        width: in inches.
        title: of the vertical axis of all metrics of one run.
        highlight: a value of the horizontal axis that a dashed line marks.
    """
    if len({row["run"] for row in rows}) > 1:
        rows = [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    else:
        rows = [{**row, "series": names[row["metric"]], "panel": title} for row in rows]
    by_panel: dict[str, list[Row]] = {}
    for row in rows:
        by_panel.setdefault(row["panel"], []).append(row)
    room = printed_width(width) - text_width(UNIT)
    vertical = {
        panel: NumberAxis(wrap_text(panel, room), score_ticks(of)) for panel, of in by_panel.items()
    }
    return figure_of_lines(rows, x, vertical, caption, width, highlight)


def figure_of_lines(
    rows: Sequence[Row],
    x: LineAxis,
    vertical: Mapping[str, NumberAxis],
    caption: str,
    inches: float,
    highlight: float | None = None,
) -> Figure:
    """Return a figure with a panel for each vertical axis, in which each series is a line.

    Args:
        rows: the scores, with the columns panel, series and x.
        x: the horizontal axis.
        vertical: the vertical axis of each panel.
        caption: the text below the panels.
        inches: width of the figure. Wider figures have higher panels.
        highlight: a value of the horizontal axis that a dashed line marks.

    Raises:
        ValueError: if the axis does not have the value that is marked.
    """
    names = list(dict.fromkeys(row["series"] for row in rows))
    extent = max(axis.extent for axis in vertical.values())
    space = divide_space(inches, extent, max(text_width(f"{x.ticks[-1]:g}") / 2, _MARKER))
    height = _ONE_PANEL if len(vertical) == 1 else _SEVERAL_PANELS
    height *= math.sqrt(inches / _COLUMN)
    panels = []
    lowest = list(vertical)[-1]  # the panel that has the labels of the horizontal axis
    for panel, axis in vertical.items():
        of_panel = [row for row in rows if row["panel"] == panel]
        channel = x.channel(labeled=panel == lowest)
        layers = line_layers(of_panel, channel, axis, names)
        layers = [*highlight_layers(highlight, x, channel), *layers]
        data = inline_data(mark_apart(of_panel, x, space.view))
        panels.append(alt.LayerChart(data=data, layer=layers, width=space.view, height=height))
    content = [_content(rows, x, number) for number in ("{:.3f}", "{:.1%}")]
    return make_figure(panels, names if len(names) > 1 else [], caption, space, content=content)


def highlight_layers(highlight: float | None, x: LineAxis, channel: alt.X) -> list[alt.Chart]:
    """Return a dashed vertical line at a value of the horizontal axis, or nothing for None.

    Raises:
        ValueError: if the axis does not have the value.
    """
    if highlight is None:
        return []
    wanted = f"it must be from {x.lowest:g} to {x.highest:g}"
    value = check_number("highlight", highlight, wanted, x.lowest, x.highest)
    rule = alt.Chart(inline_data([{"x": value}])).mark_rule(
        color=DARK, strokeWidth=0.6, strokeDash=[3, 2]
    )
    return [rule.encode(x=channel)]


def _content(rows: Sequence[Row], x: LineAxis, number: str) -> str:
    """Return what lines show, for readers who do not see them: the first and the last scores.

    Args:
        rows, x: as in `figure_of_lines`.
        number: the format of a score, such as "{:.3f}".
    """
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["panel"], row["series"]), []).append(row)
    statements = []
    for (panel, series), points in lines.items():
        first, last = points[0], points[-1]
        name = f"{panel}, {series}" if series and series != panel else panel
        ends = [f"{number.format(end['score'])} at {end['x']:g}" for end in (first, last)]
        statements.append(f"{name}: {', '.join(ends)}")
    return f"Lines against {x.title}. {'. '.join(statements)}."


def mark_apart(rows: Sequence[Row], x: LineAxis, width: float) -> list[Row]:
    """Return the rows with a column `marker`: false where markers of a line would overlap.

    The first and the last point of each line have a marker.
    """
    marked: dict[str, list[int]] = {}
    positions = [x.position(row["x"]) * width for row in rows]
    lines: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        if row.get("marker", True):
            lines.setdefault(row["series"], []).append(i)
    for series, points in lines.items():
        chosen = points[:1]
        for i in points[1:]:
            if positions[i] - positions[chosen[-1]] >= _APART:
                chosen.append(i)
        if chosen[-1] != points[-1]:
            chosen[max(1, len(chosen) - 1) :] = points[-1:]
        marked[series] = chosen
    return [{**row, "marker": i in marked.get(row["series"], ())} for i, row in enumerate(rows)]


def line_layers(
    rows: Sequence[Row], x: alt.X, y: NumberAxis, names: Sequence[str]
) -> list[alt.Chart]:
    """Return the bands, the lines and the markers of a panel.

    They have no data: Altair copies a chart with its data at each step, and the panel has the data.
    """
    scales = series_scales(names)
    base = alt.Chart().encode(x=x, color=alt.Color("series:N", scale=scales["color"], legend=None))
    dash = alt.StrokeDash("series:N", scale=scales["dash"], legend=None)
    layers: list[alt.Chart] = []
    for prefix, opacity in (("band_", 0.13), ("", 0.22)):
        if any(f"{prefix}lo" in row for row in rows):
            area = base.mark_area(
                fillOpacity=opacity,
                strokeWidth=0.4,
                strokeOpacity=0.6,
                line=False,
                order=False,
                invalid="break-paths-filter-domains",
            )
            area = area.encode(y=y.channel(f"{prefix}lo"), y2=alt.Y2(f"{prefix}hi:Q"))
            if len(names) > 1 and not layers:
                # Outlines tell overlapping bands apart, also in grey.
                outline = alt.Stroke("series:N", scale=scales["color"], legend=None)
                area = area.encode(stroke=outline)
            layers.append(area)
    line = base.mark_line(strokeWidth=1.4, strokeCap="butt", order=False)
    layers.append(line.encode(y=y.channel("score"), strokeDash=dash))
    marker = base.mark_point(filled=True, opacity=1, size=20)
    if len(rows) <= _MOST_WITH_TOOLTIPS:
        # Points without a marker are drawn invisibly, because they have tooltips.
        marker = marker.encode(opacity=alt.condition("datum.marker", alt.value(1), alt.value(0)))
    else:
        marker = marker.transform_filter("datum.marker")
    shape = alt.Shape("series:N", scale=scales["shape"], legend=None)
    layers.append(marker.encode(y=y.channel("score"), shape=shape, tooltip=tooltip(rows)))
    return layers


def tooltip(rows: Sequence[Row]) -> list[alt.Tooltip]:
    """Return the lines of the tooltip: the series, the key, the score and its limits."""
    numbers = {"score": "score", "lo": "lower limit", "hi": "upper limit"}
    numbers |= {"band_lo": "lower limit of the band", "band_hi": "upper limit of the band"}
    lines = [
        alt.Tooltip(f"{column}:N")
        for column in ("series", "question", "item", "key")
        if any(row.get(column, "") != "" for row in rows)
    ]
    return lines + [
        alt.Tooltip(f"{column}:Q", title=title, format=SCORE_FORMAT)
        for column, title in numbers.items()
        if any(column in row for row in rows)
    ]
