"""The chart of the difference of two runs against k."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import altair as alt

from ..core.checks import as_list, check_text
from ..runs.comparison import Difference, differences_in
from .figure import Figure, divide_space, make_figure, printed_width
from .lines import LineAxis, NumberAxis, highlight_layers, k_axis, line_layers, mark_apart
from .results import (
    ChartDetails,
    ChartScores,
    Row,
    check_scores,
    correction_of_runs,
    metric_label,
)
from .style import DARK, LINE_HEIGHT, UNIT, inline_data, nice_ticks, text_width, wrap_text

_HEIGHT = 130.0
_ROOM_AT_ZERO = 0.12  # of the height, for a label beside the line at 0
_WIDEST_LABEL = 0.45  # of the width; wider labels could be in the way of the band


def difference(
    comparison: ChartScores,
    runs: Sequence[str] = ("A", "B"),
    *,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
    highlight: int | None = None,
) -> Figure:
    """Return a chart of the difference of two runs against k.

    The dark band shows the confidence limits at each k, and the pale band is the simultaneous band
    over all k. The line at 0 is heavy at those k where the simultaneous band excludes 0.

    Args:
        comparison: what `at_k.compare` returns for several k.
        runs: names of the two runs, in the order of `at_k.compare`. The difference is the second
            minus the first.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.
        highlight: a k that a dashed line marks.

    Raises:
        ValueError: if this is not a comparison at several k, or highlight is not among them.

    Examples:
        >>> import at_k
        >>> comparison = at_k.compare([[0, 0, 1, 0], [1, 0, 1, 1]], [[0, 1, 1, 0], [1, 1, 1, 1]])
        >>> chart = difference(comparison, runs=("before", "after"), confidence=0.95)
    """
    curves: dict[tuple[str, float | None], dict[int, Difference]] = {}
    check_scores("comparison", comparison)
    for point in differences_in(comparison):
        if point.group is None and isinstance(point.k, int):
            curves.setdefault((point.metric, point.tau), {})[point.k] = point
    curve = dict(sorted(max(curves.values(), key=len, default={}).items()))
    if len(curve) < 2:
        raise ValueError(
            "The comparison is not at several k: give what at_k.compare returns with "
            "k=[1, 2, 4, 8], for example, or without k."
        )
    names = [check_text("runs", name) for name in as_list("runs", runs)]
    if len(names) != 2:
        raise ValueError(f"runs has {len(names)} names: give those of both runs.")
    name_a, name_b = names
    rows = [_row_of_difference(point, f"{name_b} minus {name_a}") for point in curve.values()]
    segments = _excluding_zero(rows, name_a, name_b)
    x = k_axis(curve)
    values = [row[column] for row in rows for column in ("band_lo", "band_hi")]
    lowest, highest = min(0.0, *values), max(0.0, *values)
    room = _ROOM_AT_ZERO * (highest - lowest)
    if any(segment["sign"] > 0 for segment in segments):
        lowest = min(lowest, -room)
    if any(segment["sign"] < 0 for segment in segments):
        highest = max(highest, room)
    first = next(iter(curve.values()))
    title = f"difference of {metric_label(first)}: {name_b} minus {name_a}"
    lines = wrap_text(title, printed_width(width) - text_width(UNIT))
    y = NumberAxis(lines, nice_ticks(lowest, highest), signed=True)
    space = divide_space(width, y.extent, text_width(f"{x.ticks[-1]:g}") / 2)
    zero = alt.Chart(inline_data([{"y": 0}])).mark_rule(color=DARK, strokeWidth=0.6)
    heavy = alt.Chart(inline_data(segments))
    layers = [
        *highlight_layers(highlight, x, x.channel()),
        *line_layers(rows, x.channel(), y, [rows[0]["series"]]),
        zero.encode(y=y.channel("y")),
    ]
    if segments:
        rule = heavy.mark_rule(color=DARK, strokeWidth=2.5, strokeCap="round")
        layers.append(rule.encode(x=x.channel(), x2=alt.X2("end:Q"), y=y.channel("y")))
        if all(text_width(segment["label"]) <= _WIDEST_LABEL * space.view for segment in segments):
            layers += [_label(segment, x, y, space.view) for segment in segments]
    data = inline_data(mark_apart(rows, x, space.view))
    panel = alt.LayerChart(data=data, layer=layers, width=space.view, height=_HEIGHT)
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    limits = details.limits(rows, "Bands")
    text = details.caption_of(limits, correction_of_runs(comparison), _conclusion(segments))
    return make_figure([panel], [], text, space)


def _row_of_difference(point: Difference, series: str) -> Row:
    row = {"series": series, "x": point.k, "key": point.key, "score": point.score}
    row["lo"], row["hi"] = point.interval
    row["band_lo"], row["band_hi"] = point.band
    return row | {"a": point.a, "b": point.b}


def _excluding_zero(rows: Sequence[Row], name_a: str, name_b: str) -> list[Row]:
    """Return the ranges of successive k at which the band excludes 0, and which run is higher."""
    segments = []
    for sign, group in itertools.groupby(
        rows, key=lambda row: (row["band_lo"] > 0) - (row["band_hi"] < 0)
    ):
        ks = [row["x"] for row in group]
        if sign:
            label = f"{name_b if sign > 0 else name_a} higher"
            segments.append({"x": ks[0], "end": ks[-1], "y": 0, "sign": sign, "label": label})
    return segments


def _label(segment: Row, x: LineAxis, y: NumberAxis, view: float) -> alt.Chart:
    """Return the label of a heavy part of the line at 0, on the side without the band."""
    half = text_width(segment["label"]) / 2
    middle = view * (x.position(segment["x"]) + x.position(segment["end"])) / 2
    left = min(max(middle, half), view - half) - half
    text = alt.Chart(inline_data([segment])).mark_text(
        align="left",
        baseline="middle",
        dy=segment["sign"] * (LINE_HEIGHT / 2 + 3),
    )
    return text.encode(x=alt.value(left), y=y.channel("y"), text=alt.Text("label:N"))


def _conclusion(segments: Sequence[Row]) -> str:
    """Return the sentence on the heavy statements of the line at 0."""
    if not segments:
        return "The simultaneous band includes 0 at all k."
    statements = []
    for segment in segments:
        first, last = segment["x"], segment["end"]
        where = f"at k = {first}" if first == last else f"from k = {first} to {last}"
        statements.append(f"{segment['label'].removesuffix(' higher')} is higher {where}")
    return f"Heavy line at 0: the simultaneous band excludes 0; {', '.join(statements)}."
