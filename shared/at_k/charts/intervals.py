"""Charts of scores with their limits in rows: groups of questions, and many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import altair as alt

from ..core.checks import check_confidence
from ..core.estimates import Estimate, carried_by
from .figure import Figure, FigureSpace, divide_space, make_figure, pixel_y, printed_width
from .lines import score_ticks, ticks_within, tooltip, zoomed_range
from .results import (
    ChartDetails,
    ChartResults,
    Row,
    correction,
    correction_of_runs,
    estimates_by_key,
    few_of,
    row_of,
    runs_by_name,
    score_titles,
)
from .style import (
    LINE_HEIGHT,
    PADDING,
    UNIT,
    decimals_of,
    inline_data,
    series_scales,
    text_width,
    wrap_text,
)

_LABEL_SHARE = 0.42  # of the width of a figure
_GAP = 6.0  # between text and the panel
_LAST_LABEL = 8.0  # half of the last label of the axis
_SERIES_HEIGHT = 7.0
_BETWEEN_ROWS = 7.0
_BETWEEN_SINGLE_ROWS = 2.0  # if a row has a single interval
_ALL = "all questions"


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
    runs = {name: estimates_by_key(scores) for name, scores in runs_by_name(results).items()}
    for name, by_key in runs.items():
        if all(estimate.group is None for estimate in by_key.values()):
            raise ValueError(
                f"{name or 'The result'} has no scores of groups: compute with groups, a label for "
                f"each question."
            )
    shown = few_of(
        key,
        {
            name: [x for x, estimate in by_key.items() if estimate.group is None]
            for name, by_key in runs.items()
        },
    )
    groups = dict.fromkeys(x.group for by_key in runs.values() for x in by_key.values())
    rows = [
        row_of(estimate, run=name, metric=score, label=_ALL if group is None else group, cells={})
        for score in shown
        for group in groups
        for name, by_key in runs.items()
        if (estimate := by_key.get(score if group is None else f"{group}/{score}"))
    ]
    names = score_titles(shown, next(iter(runs.values())).values())
    if len(runs) > 1:
        rows = [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    else:
        title = names[shown[0]] if len(shown) == 1 else "score"
        rows = [{**row, "series": names[row["metric"]], "panel": title} for row in rows]
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    text = details.caption_of(details.limits(rows, "Bars"), correction(runs_by_name(results)))
    return figure_of_rows(rows, text, width)


def forest(
    board: Mapping[str, Any],
    key: str | Sequence[str] | None = None,
    *,
    checker: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of many runs: their scores with limits, their ranks and their letters.

    The runs are in descending order of their scores. At the right are the ranks that the
    simultaneous limits of the differences allow, and letters: runs that share a letter cannot be
    told apart. For several k there is a panel for each.

    Args:
        board: what `at_k.leaderboard` returns.
        key: the scores that are shown, such as "pass@8". Default: all.
        checker, caption, width: see `at_k.charts`.

    Raises:
        ValueError: if this is not a leaderboard, or has no score with this key.

    Examples:
        >>> import at_k
        >>> runs = {"x": [[0, 0, 1, 0], [1, 0, 1, 1]], "y": [[0, 1, 1, 0], [1, 1, 1, 1]]}
        >>> chart = forest(at_k.leaderboard(runs, k=1), checker="numeric")
    """
    if not isinstance(board, Mapping) or not _is_list_of_runs(board.get("runs")):
        raise ValueError(
            "This is not a leaderboard, as board has to be: give what at_k.leaderboard returns."
        )
    keys = few_of(key, {"": dict.fromkeys(row["key"] for row in board["runs"])})
    titles = score_titles(keys, carried_by(board, Estimate) or ())
    rows = [
        {**row, "series": "", "panel": titles[score], "label": row["run"]}
        | {"cells": {"rank": _rank_range(row), "letters": row["letters"]}}
        for score in keys
        for row in board["runs"]
        if row["key"] == score
    ]
    least, most = min(row["n_min"] for row in rows), max(row["n_max"] for row in rows)
    details = ChartDetails(
        questions=board.get("questions"),
        n=most if least == most else f"{least} to {most}",
        checker=checker,
        confidence=board.get("confidence"),
        interval=board.get("interval"),
        caption=caption,
    )
    percent = f"{100 * check_confidence(board.get('confidence')):.6g} %"
    text = details.caption_of(
        details.limits(rows, "Bars"),
        correction_of_runs(board),
        f"Ranks and letters: simultaneous {percent} limits of all differences; runs that share a "
        f"letter cannot be told apart.",
    )
    return figure_of_rows(rows, text, width)


def _is_list_of_runs(runs: Any) -> bool:
    """Whether these are the rows of a leaderboard."""
    numbers, texts = ("score", "n_min", "n_max"), ("key", "run", "letters")
    return (
        isinstance(runs, list)
        and len(runs) > 0
        and all(
            isinstance(row, Mapping)
            and all(isinstance(row.get(name), Real) for name in numbers)
            and all(isinstance(row.get(name), str) for name in texts)
            for row in runs
        )
    )


def _rank_range(row: Row) -> str:
    """Return the ranks that a run may have: "2" or "2-4", with an en dash."""
    first, last = row["rank_lo"], row["rank_hi"]
    return f"{first}" if first == last else f"{first}\u2013{last}"


# --- Panels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """What the panels of a figure have in common.

    Attributes:
        names: the series.
        lines: the lines of each label.
        starts: where each column of text begins, by its heading.
        space: the horizontal space.
    """

    names: Sequence[str]
    lines: Mapping[str, Sequence[str]]
    starts: Mapping[str, float]
    space: FigureSpace

    def middles(self, labels: Sequence[str]) -> tuple[dict[str, float], float]:
        """Return the middle of the row of each label, and the height of all, in points."""
        series = len(self.names)
        between = _BETWEEN_ROWS if series > 1 else _BETWEEN_SINGLE_ROWS
        middles = {}
        top = LINE_HEIGHT * bool(self.starts) + between / 2
        for label in labels:
            height = max(_SERIES_HEIGHT * series, LINE_HEIGHT * len(self.lines[label]))
            middles[label] = top + height / 2
            top += height + between
        return middles, top - between / 2


def figure_of_rows(rows: Sequence[Row], caption: str, inches: float) -> Figure:
    """Return a figure with a panel for each value of `panel`, in which each label has a row.

    Args:
        rows: the scores, with the columns panel, label and series; and cells, the texts at the
            right by the heading of their column. With such texts, the axis of scores is zoomed.
        caption: the text below the panels.
        inches: width of the figure.
    """
    names = list(dict.fromkeys(row["series"] for row in rows))
    most = _LABEL_SHARE * (printed_width(inches) + 2 * PADDING)
    lines = {row["label"]: wrap_text(row["label"], most) for row in rows}
    left = max(text_width(line) for of_label in lines.values() for line in of_label) + _GAP
    widths = {
        heading: max(text_width(text) for text in (heading, *(r["cells"][heading] for r in rows)))
        for heading in rows[0]["cells"]
    }
    panels: dict[str, list[Row]] = {}
    for row in rows:
        panels.setdefault(row["panel"], []).append(row)
    right = max(_LAST_LABEL, sum(widths.values()) + _GAP * len(widths))
    space = divide_space(inches, left, right)
    starts, start = {}, space.left + space.view + _GAP
    for heading, width in widths.items():
        starts[heading] = start
        start += width + _GAP
    layout = _Layout(names, lines, starts, space)
    charts = [_panel(of, panel, layout) for panel, of in panels.items()]
    return make_figure(charts, names if len(names) > 1 else [], caption, space, dashed=False)


def _panel(rows: Sequence[Row], title: str, layout: _Layout) -> alt.LayerChart:
    """Return a panel of intervals and their text."""
    names, space = layout.names, layout.space
    if layout.starts:
        lowest, highest = zoomed_range(rows)
        ticks = ticks_within(lowest, highest, space.view)
    else:
        ticks = score_ticks(rows)
        lowest, highest = ticks[0], ticks[-1]
    middles, height = layout.middles(list(dict.fromkeys(row["label"] for row in rows)))
    offset = {name: (i - (len(names) - 1) / 2) * _SERIES_HEIGHT for i, name in enumerate(names)}
    placed = [{**row, "y": middles[row["label"]] + offset[row["series"]]} for row in rows]
    axis = alt.Axis(
        title=wrap_text(title, space.view + space.right - text_width(UNIT)),
        values=list(ticks),
        format=f".{decimals_of(ticks)}f",
        labelFlush=False,
        labelOverlap=False,
    )
    scale = alt.Scale(domain=[lowest, highest], nice=False, zero=False)

    def x(column: str) -> alt.X:
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    scales = series_scales(names)
    base = alt.Chart().encode(
        y=pixel_y("y", height), color=alt.Color("series:N", scale=scales["color"], legend=None)
    )
    layers: list[Any] = []
    if any("lo" in row for row in placed):
        limited = base.transform_filter("isValid(datum.lo)")
        layers.append(limited.mark_rule(strokeWidth=1.2).encode(x=x("lo"), x2=alt.X2("hi:Q")))
    marker = base.mark_point(filled=True, opacity=1, size=14)
    shape = alt.Shape("series:N", scale=scales["shape"], legend=None)
    layers.append(marker.encode(x=x("score"), shape=shape, tooltip=tooltip(placed)))
    texts = [
        _texts(of_side, side, height, space)
        for side, of_side in (("right", _labels(middles, layout)), ("left", _cells(placed, layout)))
        if of_side
    ]
    return alt.LayerChart(
        layer=[alt.LayerChart(data=inline_data(placed), layer=layers), *texts],
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(x="independent")),
        width=space.view,
        height=height,
    )


def _labels(middles: Mapping[str, float], layout: _Layout) -> list[Row]:
    """Return the lines of the labels of rows, which end left of the panel."""
    texts = []
    for label, middle in middles.items():
        lines = layout.lines[label]
        for i, line in enumerate(lines):
            y = middle + (i - (len(lines) - 1) / 2) * LINE_HEIGHT
            texts.append({"x": layout.space.left - _GAP, "y": y, "text": line})
    return texts


def _cells(placed: Sequence[Row], layout: _Layout) -> list[Row]:
    """Return the columns of text and their headings, which begin right of the panel."""
    texts = []
    for heading, start in layout.starts.items():
        texts.append({"x": start, "y": LINE_HEIGHT / 2, "text": heading})
        texts += [{"x": start, "y": row["y"], "text": row["cells"][heading]} for row in placed]
    return texts


def _texts(rows: list[Row], align: Any, height: float, space: FigureSpace) -> alt.Chart:
    text = alt.Chart(inline_data(rows)).mark_text(align=align, baseline="middle")
    return text.encode(x=space.x("x"), y=pixel_y("y", height), text=alt.Text("text:N"))
