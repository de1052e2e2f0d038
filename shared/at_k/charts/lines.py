"""Turn rows into the figure of a chart of lines with bands and markers.

A channel of Altair maps a column of the data to a position or to a look. All lengths are in points.
"""

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

_LABELS = 22.0  # width of the labels of the vertical axis in points
_MARKER = 3.0  # half of the width of a marker in points
MOST_LABELED = 10  # largest number of ticks with labels, and of points of a line with markers
_MOST_WITH_TOOLTIPS = 500  # largest number of points that all have tooltips, also without markers


@dataclass(frozen=True)
class LineAxis:
    """Describe a horizontal axis from `lowest` to `highest`. Without `ticks`, Vega chooses them."""

    title: str
    lowest: float
    highest: float
    ticks: Sequence[float] | None = None
    integers: bool = False
    logarithmic: bool = False

    def channel(self, column: str = "x") -> alt.X:
        """Return the channel that places marks on this axis by a column of the data."""
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
    """Return the axis for curves at these values of k.

    It is logarithmic for three or more powers of 2, or if the last k is > 8 and >= 4 x the first.
    """
    ordered = sorted(set(ks))
    first, last = ordered[0], ordered[-1]
    are_powers = len(ordered) > 2 and all(k & (k - 1) == 0 for k in ordered)
    logarithmic = are_powers or (last > 8 and last >= 4 * first)
    ticks: Sequence[float] | None = ordered
    if len(ordered) > MOST_LABELED:
        powers = [2**i for i in range(last.bit_length()) if first <= 2**i < last]
        ticks = [*powers, last] if logarithmic else None
    title = "number of samples k"
    return LineAxis(title, first, last, ticks, integers=True, logarithmic=logarithmic)


def score_scale(rows: Iterable[Row]) -> alt.Scale:
    """Return a scale from 0 to 1 if no score or limit is outside, and otherwise one that fits."""
    fields = ("score", "lo", "hi", "band_lo", "band_hi")
    values = [row[field] for row in rows for field in fields if field in row]
    is_share = min(values) >= -1e-9 and max(values) <= 1 + 1e-9
    return alt.Scale(domain=[0, 1]) if is_share else alt.Scale(zero=False)


def vertical_channel(column: str, scale: alt.Scale, **labels: Any) -> alt.Y:
    """Return the vertical channel of a column. `labels` are options of its labels (`alt.Axis`)."""
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


def with_panels(rows: Iterable[Row], names: Mapping[str, str], shared_title: str) -> list[Row]:
    """Return the rows, each of a run and a metric, with a "panel" and a "series".

    Several runs are the series of a panel for each metric, with its name in `names` as the title.
    For one run, the metrics are the series of one panel, titled `shared_title` if it has several.
    """
    rows = [*rows]
    if len({row["run"] for row in rows}) > 1:
        return [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    title = shared_title if len(names) > 1 else next(iter(names.values()))
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

    `sentences` are further ones of the caption. A dashed line marks `highlight`. `y` are arguments
    of `vertical_channel`; the default suits scores. `notes` are layers in front of the lines.
    """
    caption = details.caption_of(rows, "Bands", *sentences)
    right = max(_MARKER, text_width(f"{x.highest:g}") / 2)
    view = view_width(details.width, _LABELS, right)
    rows = wrap_names(with_texts(rows, details.text_format), view + right)
    _choose_markers(rows, x)
    y = y or {"scale": score_scale(rows), "format": details.axis_format}
    layers = [*_line_layers(rows, x, y, view + right), *notes]
    if highlight is not None:
        wanted = f"it must be from {x.lowest:g} to {x.highest:g}"
        row = {"x": check_number("highlight", highlight, wanted, x.lowest, x.highest)}
        rule = alt.Chart(inline_data([row]))
        rule = rule.mark_rule(color=DARK, strokeWidth=0.6, strokeDash=[3, 2])
        layers.insert(0, rule.encode(x=x.channel()))
    # In a column of 3.3 inches, one panel is 130 points high, and each of several is 100.
    height = 130.0 if len({row["panel"] for row in rows}) == 1 else 100.0
    height *= math.sqrt(details.width / 3.3)
    panel = alt.LayerChart(layer=layers, width=view, height=height)
    return make_figure(panel, rows, caption, details.width, y="independent")


def _choose_markers(rows: Sequence[Row], x: LineAxis) -> None:
    """Set "marker" in each row to whether the point has a marker; rows with False keep it.

    A line of many points has them at the last one, and at log ticks or at every n-th point.
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
    """Return the bands, lines and markers of a panel as layers. The legend is up to `room` wide."""
    channels = series_channels(list(dict.fromkeys(row["series"] for row in rows)), room)
    base = alt.Chart().encode(x=x.channel(), color=channels["color"])
    layers: list[alt.Chart] = []
    for prefix, opacity in (("band_", 0.13), ("", 0.22)):
        if any(f"{prefix}lo" in row for row in rows):
            area = base.mark_area(
                fillOpacity=opacity,
                strokeWidth=0.4,  # Outlines tell overlapping bands apart, also in grey.
                strokeOpacity=0.6,
                line=False,
                order=False,
                invalid="break-paths-filter-domains",
            )
            y = vertical_channel(f"{prefix}lo", **y_options)
            y2 = alt.Y2(f"{prefix}hi:Q")
            layers.append(area.encode(y=y, y2=y2, stroke=channels["stroke"]))
    base = base.encode(y=vertical_channel("score", **y_options))
    line = base.mark_line(strokeWidth=1.4, strokeCap="butt", order=False)
    marker = markers(base, size=20).encode(shape=channels["shape"])
    if len(rows) <= _MOST_WITH_TOOLTIPS:
        # Points without a marker are drawn invisibly, because they have tooltips.
        marker = marker.encode(opacity=alt.condition("datum.marker", alt.value(1), alt.value(0)))
    else:
        marker = marker.transform_filter("datum.marker")
    return [*layers, line.encode(strokeDash=channels["strokeDash"]), marker]


def with_texts(rows: Iterable[Row], number_format: str) -> list[Row]:
    """Return the rows with a tooltip in the column "text". The number format is like ".4f"."""
    result = []
    for row in rows:
        index = [f"{noun} {row[noun]}" for noun in ("question", "item") if noun in row]
        names = filter(None, [row["series"], *index, row["key"]])
        text = f"{', '.join(names)}: {row['score']:{number_format}}"
        for name, lo, hi in (("limits", "lo", "hi"), ("band", "band_lo", "band_hi")):
            if lo in row:
                text += f", {name} {row[lo]:{number_format}} to {row[hi]:{number_format}}"
        result.append(row | {"text": text})
    return result


def markers(base: alt.Chart, size: float) -> alt.Chart:
    """Return `base` with markers of this size. Their tooltip is the column "text" of the data."""
    texts = {"description": alt.Description("text:N"), "tooltip": alt.Tooltip("text:N")}
    return base.mark_point(filled=True, opacity=1, size=size, aria=True).encode(**texts)
