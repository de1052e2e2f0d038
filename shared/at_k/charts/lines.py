"""Panels of lines with bands and markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from ..core.checks import check_number
from .figure import Figure, make_figure, view_width, wrap_names
from .results import ChartDetails, Row
from .style import DARK, inline_data, series_channels, text_width

_ONE_PANEL, _SEVERAL_PANELS = 130.0, 100.0  # heights in a column of a paper
_COLUMN = 3.3  # inches
_LABELS = 22.0  # width of the labels of the vertical axis
_MARKER = 3.0  # half of a marker
MOST_LABELED = 10  # ticks and points of a line, up to which all have a label or a marker
_MOST_WITH_TOOLTIPS = 500  # points, up to which those without marker have a tooltip


@dataclass(frozen=True)
class LineAxis:
    """The horizontal axis of lines.

    Attributes:
        title: its title.
        lowest, highest: its range.
        ticks: the values that are labeled if they have room. None: round numbers.
        integers: whether all ticks are integers.
        logarithmic: whether equal ratios have equal lengths.
    """

    title: str
    lowest: float
    highest: float
    ticks: Sequence[float] | None = None
    integers: bool = False
    logarithmic: bool = False

    def channel(self, column: str = "x") -> alt.X:
        """Return the channel of a column."""
        kind = {"type": "log", "base": 2} if self.logarithmic else {"zero": False}
        scale = alt.Scale(domain=[self.lowest, self.highest], nice=False, **kind)
        axis = alt.Axis(
            title=self.title,
            values=alt.Undefined if self.ticks is None else list(self.ticks),
            tickMinStep=1 if self.integers else alt.Undefined,
            labelExpr="'' + datum.value",
            grid=False,
            labelOverlap="greedy",
            labelSeparation=3,
        )
        return alt.X(f"{column}:Q", scale=scale, axis=axis)


def k_axis(ks: Iterable[int]) -> LineAxis:
    """Return the axis of k: logarithmic for powers of 2, and for k above 8 from a wide range."""
    ordered = sorted(set(ks))
    first, last = ordered[0], ordered[-1]
    are_powers = len(ordered) > 2 and all(k & (k - 1) == 0 for k in ordered)
    logarithmic = are_powers or (last > 8 and last >= 4 * first)
    ticks: Sequence[float] | None = ordered
    if len(ordered) > MOST_LABELED:
        powers = [2**i for i in range(last.bit_length()) if first <= 2**i < last]
        ticks = [*powers, last] if logarithmic else None
    return LineAxis("number of samples k", first, last, ticks, True, logarithmic)


def score_scale(rows: Iterable[Row]) -> alt.Scale:
    """Return a scale from 0 to 1, or a zoomed one if scores or limits are outside."""
    fields = ("score", "lo", "hi", "band_lo", "band_hi")
    values = [row[field] for row in rows for field in fields if field in row]
    if min(values) >= -1e-9 and max(values) <= 1 + 1e-9:
        return alt.Scale(domain=[0, 1])
    return alt.Scale(zero=False)


def vertical_channel(column: str, scale: alt.Scale, **labels: Any) -> alt.Y:
    """Return the vertical channel of a column, with options of its axis. Its title is above it."""
    axis = alt.Axis(
        title=None,
        tickCount=5,
        domain=False,
        ticks=False,
        minExtent=_LABELS,
        labelPadding=4,
        **labels,
    )
    return alt.Y(f"{column}:Q", scale=scale, axis=axis)


def with_panels(rows: Sequence[Row], names: Mapping[str, str], several: str) -> list[Row]:
    """Return rows with the columns panel and series.

    The metrics of one run are series of a panel. For several runs there is a panel for each metric,
    and the runs are its series.

    Args:
        rows: the scores, with the columns run and metric.
        names: what to call each metric.
        several: the title of a panel of several metrics.
    """
    if len({row["run"] for row in rows}) > 1:
        return [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    title = several if len(names) > 1 else next(iter(names.values()))
    return [{**row, "series": names[row["metric"]], "panel": title} for row in rows]


def figure_of_lines(
    rows: Sequence[Row],
    x: LineAxis,
    details: ChartDetails,
    *sentences: str,
    highlight: float | None = None,
    y: Mapping[str, Any] | None = None,
    notes: Sequence[alt.Chart] = (),
) -> Figure:
    """Return a figure with a panel for each value of `panel`, in which each series is a line.

    Args:
        rows: the scores, with the columns panel, series and x.
        x: the horizontal axis.
        details: its caption, width and formats of scores. Wider figures have higher panels.
        *sentences: of the caption, or "".
        highlight: a value of the horizontal axis that a dashed line marks.
        y: arguments of `vertical_channel`. Default: those for scores and their range.
        notes: more layers, in front of the lines.

    Raises:
        ValueError: if the axis does not have the value that is marked.
    """
    caption = details.caption_of(rows, "Bands", *sentences)
    right = max(_MARKER, text_width(f"{x.highest:g}") / 2)
    view = view_width(details.width, _LABELS, right)
    rows = wrap_names(with_texts(rows, details.formats.text), view + right)
    _mark_some(rows, x)
    y = y or {"scale": score_scale(rows), "format": details.formats.score}
    height = _ONE_PANEL if len({row["panel"] for row in rows}) == 1 else _SEVERAL_PANELS
    panel = alt.LayerChart(
        layer=[
            *_highlight(highlight, x),
            *_line_layers(rows, x, y, view + right),
            *notes,
        ],
        width=view,
        height=height * math.sqrt(details.width / _COLUMN),
    )
    return make_figure(panel, rows, caption, details.width, y="independent")


def _highlight(value: float | None, x: LineAxis) -> list[alt.Chart]:
    """Return a dashed vertical line at a value; a ValueError if the axis does not have it."""
    if value is None:
        return []
    wanted = f"it must be from {x.lowest:g} to {x.highest:g}"
    row = {"x": check_number("highlight", value, wanted, x.lowest, x.highest)}
    rule = alt.Chart(inline_data([row])).mark_rule(color=DARK, strokeWidth=0.6, strokeDash=[3, 2])
    return [rule.encode(x=x.channel())]


def _mark_some(rows: Sequence[Row], x: LineAxis) -> None:
    """Set the column `marker` of rows: of a line of many points only some have a marker.

    These are the labeled ones of a logarithmic axis or every n-th, and the last one. Rows with
    `marker` as False keep it.
    """
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.setdefault("marker", True):
            lines.setdefault((row["panel"], row["series"]), []).append(row)
    for points in lines.values():
        step = math.ceil(len(points) / MOST_LABELED)
        for i, row in enumerate(points[:-1]):
            is_labeled = row["x"] in (x.ticks or ()) if x.logarithmic else i % step == 0
            row["marker"] = step == 1 or is_labeled


def _line_layers(
    rows: Sequence[Row], x: LineAxis, y_options: Mapping[str, Any], room: float
) -> list[alt.Chart]:
    """Return the bands, the lines and the markers of a panel.

    They have no data: the figure has it.
    """

    def y(column: str) -> alt.Y:
        return vertical_channel(column, **y_options)

    channels = series_channels(list(dict.fromkeys(row["series"] for row in rows)), room)
    base = alt.Chart().encode(x=x.channel(), color=channels["color"])
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
            # Outlines tell overlapping bands apart, also in grey.
            area = area.encode(y=y(f"{prefix}lo"), y2=alt.Y2(f"{prefix}hi:Q"))
            layers.append(area.encode(stroke=channels["stroke"]))
    line = base.mark_line(strokeWidth=1.4, strokeCap="butt", order=False)
    layers.append(line.encode(y=y("score"), strokeDash=channels["strokeDash"]))
    marker = markers(base, size=20)
    if len(rows) <= _MOST_WITH_TOOLTIPS:
        # Points without a marker are drawn invisibly, because they have tooltips.
        marker = marker.encode(opacity=alt.condition("datum.marker", alt.value(1), alt.value(0)))
    else:
        marker = marker.transform_filter("datum.marker")
    return [*layers, marker.encode(y=y("score"), shape=channels["shape"])]


def with_texts(rows: Sequence[Row], number: str) -> list[Row]:
    """Return rows with the column `text`, the tooltip: "one, pass@4: 0.5, limits 0.4 to 0.6".

    Args:
        rows: the scores, with the column series.
        number: the format of a score.
    """
    result = []
    for row in rows:
        index = [f"{noun} {row[noun]}" for noun in ("question", "item") if noun in row]
        names = filter(None, [row["series"], *index, row["key"]])
        text = f"{', '.join(names)}: {row['score']:{number}}"
        for name, limits in {"limits": ("lo", "hi"), "band": ("band_lo", "band_hi")}.items():
            if limits[0] in row:
                text += f", {name} {' to '.join(f'{row[limit]:{number}}' for limit in limits)}"
        result.append(row | {"text": text})
    return result


def markers(base: alt.Chart, size: float) -> alt.Chart:
    """Return markers, whose text is their tooltip, and their title in SVG."""
    texts = {"description": alt.Description("text:N"), "tooltip": alt.Tooltip("text:N")}
    return base.mark_point(filled=True, opacity=1, size=size, aria=True).encode(**texts)
