"""Charts of scores with their limits in rows: groups of questions, and many runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from .captions import ChartDetails
from .figure import Figure, FigureSpace, divide_space, make_figure, pixel_y
from .lines import score_ticks, tooltip
from .results import ChartResults, Row, few_of, runs_by_name, score_keys, score_row, score_title
from .style import (
    DARK,
    LINE_HEIGHT,
    POINTS_PER_INCH,
    decimals_of,
    series_scales,
    text_width,
    tick_labels,
    wrap_text,
)

_ALL = "all questions"
_LABEL_SHARE = 0.42  # of the width of a figure
_GAP = 6.0  # between labels and the panel
_SERIES_HEIGHT = 7.0
_BETWEEN_ROWS = 7.0


def by_group(
    results: ChartResults,
    key: str | Sequence[str] | None = None,
    *,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of the scores of all questions and of each group, with their limits as bars.

    The scores of one run are series of one panel. For several runs there is a panel for each score,
    and the runs are its series.

    Args:
        results: what `compute` returns with `groups`, or a dict of several, {name: result}.
        key: the scores that are shown, such as "pass@8". Default: all.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.

    Raises:
        TypeError: if results are not a dict.
        ValueError: if there are no scores of groups, none with this key, or too many.

    Examples:
        >>> result = {"pass@1": 0.4, "algebra/pass@1": 0.5, "geometry/pass@1": 0.3}
        >>> chart = by_group(result, questions=30, n=16)
    """
    runs = runs_by_name(results)
    keys_of = {name: score_keys(scores) for name, scores in runs.items()}
    for name, keys in keys_of.items():
        if not any("/" in each for each in keys):
            raise ValueError(
                f"{name or 'The result'} has no scores of groups: compute with groups, a label for "
                f"each question."
            )
    shown = few_of(key, {run: [x for x in keys if "/" not in x] for run, keys in keys_of.items()})
    prefixes = dict.fromkeys(
        each.rpartition("/")[0] for keys in keys_of.values() for each in keys if "/" in each
    )
    groups = {_ALL: "", **{group: f"{group}/" for group in prefixes}}
    rows = [
        score_row(scores, prefix + each, run=name, metric=each, label=group)
        for each in shown
        for group, prefix in groups.items()
        for name, scores in runs.items()
        if prefix + each in scores
    ]
    names = {each: score_title(each) for each in shown}
    if len(runs) > 1:
        rows = [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    else:
        title = names[shown[0]] if len(shown) == 1 else "score"
        rows = [{**row, "series": names[row["metric"]], "panel": title} for row in rows]
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    text = details.caption_of(details.limits(rows, "Bars"))
    return _figure_of_intervals(rows, text, width)


def _figure_of_intervals(rows: Sequence[Row], caption: str, inches: float) -> Figure:
    """Return a figure with a panel for each value of `panel`, in which each label has a row.

    Args:
        rows: the scores, with the columns panel, label and series.
        caption: the text below the panels.
        inches: width of the figure.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = list(dict.fromkeys(row["series"] for row in rows))
    most = _LABEL_SHARE * inches * POINTS_PER_INCH
    lines = {label: wrap_text(label, most) for label in labels}
    left = max(text_width(line) for of_label in lines.values() for line in of_label) + _GAP
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row["panel"], []).append(row)
    ticks = {panel: score_ticks(of_panel) for panel, of_panel in panels.items()}
    right = max(text_width(tick_labels(each)[-1]) / 2 for each in ticks.values())
    space = divide_space(inches, left, right)
    charts = [
        _panel(of_panel, lines, names, ticks[panel], panel, space)
        for panel, of_panel in panels.items()
    ]
    return make_figure(charts, names if len(names) > 1 else [], caption, space, dashed=False)


def _panel(
    rows: Sequence[Row],
    lines: dict[str, list[str]],
    names: Sequence[str],
    ticks: Sequence[float],
    title: str,
    space: FigureSpace,
) -> alt.LayerChart:
    """Return a panel of intervals, with the lines of each label at the left."""
    placed: list[Row] = []
    texts: list[Row] = []
    top = _BETWEEN_ROWS / 2
    for label, of_label in lines.items():
        block = max(_SERIES_HEIGHT * len(names), LINE_HEIGHT * len(of_label))
        middle = top + block / 2
        for row in rows:
            if row["label"] == label:
                offset = names.index(row["series"]) - (len(names) - 1) / 2
                placed.append({**row, "y": middle + offset * _SERIES_HEIGHT})
        for i, line in enumerate(of_label):
            offset = i - (len(of_label) - 1) / 2
            texts.append({"x": space.left - _GAP, "y": middle + offset * LINE_HEIGHT, "line": line})
        top += block + _BETWEEN_ROWS
    height = top - _BETWEEN_ROWS / 2
    scales = series_scales(names)
    axis = alt.Axis(
        title=wrap_text(title, space.view + space.right),
        values=list(ticks),
        format=f".{decimals_of(ticks)}f",
        labelFlush=False,
        labelOverlap=False,
    )
    scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False, zero=False)

    def x(column: str) -> alt.X:
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    base = alt.Chart(alt.InlineData(values=placed)).encode(
        y=pixel_y("y", height), color=alt.Color("series:N", scale=scales["color"], legend=None)
    )
    layers: list[Any] = []
    if any("lo" in row for row in placed):
        limited = base.transform_filter("isValid(datum.lo)")
        layers.append(limited.mark_rule(strokeWidth=1.2).encode(x=x("lo"), x2="hi:Q"))
    marker = base.mark_point(filled=True, opacity=1, size=20).encode(
        x=x("score"),
        shape=alt.Shape("series:N", scale=scales["shape"], legend=None),
        tooltip=tooltip(placed),
    )
    text = (
        alt.Chart(alt.InlineData(values=texts))
        .mark_text(align="right", baseline="middle", color=DARK)
        .encode(x=space.x("x"), y=pixel_y("y", height), text="line:N")
    )
    intervals = alt.LayerChart(layer=[*layers, marker])
    return alt.LayerChart(
        layer=[intervals, text],
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(x="independent")),
        width=space.view,
        height=height,
    )
