"""Draw charts with a row for each group or run, which show scores and limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt

from ..core.checks import check_confidence
from ..results import estimates_of, overall_label
from .figure import Figure, make_figure, printed_width, view_width, wrap_names
from .lines import markers, score_scale, with_panels, with_texts
from .results import (
    MOST_KEYS,
    ChartDetails,
    ChartResults,
    Row,
    details_of,
    row_of,
    runs_by_name,
    score_notes,
    score_titles,
    shown_names,
)
from .style import LINE_HEIGHT, LINES, inline_data, series_channels, text_width, wrap_text

# All lengths are in points.
_LABEL_SHARE = 0.42  # the largest share of the width of a figure for the labels of rows
_TEXT_GAP = 6.0  # between text and the panel
_HALF_LAST_LABEL = 8.0  # half of the width of the last label of the axis
_SERIES_HEIGHT = 7.0
_ROW_GAP = 6.0  # between the series of two rows

_ROWS = alt.Y("label:N", sort=None, scale=alt.Scale(type="band", padding=0))
"""The vertical channel of all layers, which places each label in a row."""


def by_group(
    results: ChartResults,
    key: str | Sequence[str] | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of the scores of all questions and of each group, with their limits as bars.

    Args:
        results: the result of `compute` with `groups`, or a dict of several, {name: result}.
        key: the keys of the scores that are shown, such as "pass@8". Default: all.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if a result has no scores of groups or not this key, or there are over six keys.

    Examples:
        >>> result = {"pass@1": 0.4, "algebra/pass@1": 0.5, "geometry/pass@1": 0.3}
        >>> chart = by_group(result, questions=30, n=16)
    """
    scores_of_runs = runs_by_name(results)
    runs = {
        name: {(x.group, x.key): x for x in estimates_of(scores)}
        for name, scores in scores_of_runs.items()
    }
    remedy = "compute with groups, a label for each question"
    keys_of_runs = {name: _overall_keys(estimates) for name, estimates in runs.items()}
    shown = shown_names(key, keys_of_runs, "key", "scores of groups", remedy, MOST_KEYS)
    first = next(iter(scores_of_runs.values()))
    labels = {group: group for estimates in runs.values() for group, _ in estimates}
    labels[None] = overall_label(getattr(first, "averaging", ""))
    rows = with_panels(
        (
            row_of(estimates[group, score], run=name, metric=score, label=label)
            for score in shown
            for group, label in labels.items()
            for name, estimates in runs.items()
            if (group, score) in estimates
        ),
        score_titles(shown),
        "score",
    )
    details = details_of(options)
    caption = details.caption_of(rows, "Bars", score_notes(scores_of_runs))
    return _figure_of_rows(rows, details, caption, columns={})


def _overall_keys(estimates: Collection[tuple[str | None, str]]) -> list[str]:
    """Return the keys of the pairs (group, key) with the group None; [] if no pair has a group."""
    keys = [key for group, key in estimates if group is None]
    return keys if len(keys) < len(estimates) else []


def forest(
    board: Mapping[str, Any],
    key: str | Sequence[str] | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of many runs: their scores with limits, their ranks and their letters.

    The runs are in descending order of their scores. The columns at the right show the ranks that
    the simultaneous limits of the differences allow, and letters: runs that share a letter cannot
    be told apart. Each k has a panel of its own.

    Args:
        board: the result of `at_k.leaderboard`.
        key: the scores that are shown, such as "pass@8". Default: all.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if `board` is not a leaderboard, or has no score with this key.

    Examples:
        >>> import at_k
        >>> runs = {"x": [[0, 0, 1, 0], [1, 0, 1, 1]], "y": [[0, 1, 1, 0], [1, 1, 1, 1]]}
        >>> chart = forest(at_k.leaderboard(runs, k=1), checker="numeric")
    """
    if not isinstance(board, Mapping) or not _are_leaderboard_rows(board.get("runs")):
        raise ValueError(
            "This is not a leaderboard, as board has to be: give what at_k.leaderboard returns."
        )
    keys_of_runs = {"": [row["key"] for row in board["runs"]]}
    keys = shown_names(key, keys_of_runs, "key", "scores", most=MOST_KEYS)
    titles = score_titles(keys)
    rows = [
        {**row, "series": "", "panel": titles[score], "label": row["run"]}
        | {"ranks": "\u2013".join(dict.fromkeys([f"{row['rank_lo']}", f"{row['rank_hi']}"]))}
        for score in keys
        for row in board["runs"]
        if row["key"] == score
    ]
    least, most = min(row["n_min"] for row in rows), max(row["n_max"] for row in rows)
    known = {
        "questions": board.get("questions"),
        "n": most if least == most else f"{least} to {most}",
        "confidence": board.get("confidence"),
        "interval": board.get("interval"),
        **options,
    }
    details = details_of(known)
    percent = f"{100 * check_confidence(board.get('confidence')):.6g} %"
    caption = details.caption_of(
        rows,
        "Bars",
        score_notes({"": board}, board.get("checker", {})),
        f"Ranks and letters: simultaneous {percent} limits of all differences; runs that share a "
        f"letter cannot be told apart.",
    )
    return _figure_of_rows(rows, details, caption, {"rank": "ranks", "letters": "letters"})


def _are_leaderboard_rows(rows: Any) -> bool:
    """Return whether `rows` has the form of "runs" in a leaderboard, and is not empty."""
    columns = {"run", "key", "score", "letters", "rank_lo", "rank_hi", "n_min", "n_max"}
    if not isinstance(rows, list) or not rows:
        return False
    return all(isinstance(row, Mapping) and columns <= row.keys() for row in rows)


def _figure_of_rows(
    rows: Sequence[Row],
    details: ChartDetails,
    caption: str,
    columns: Mapping[str, str],
) -> Figure:
    """Return a figure with a panel for each value of `panel`, in which each label has a row.

    `columns` maps the heading of each column of text, at the right of a panel, to a key of the
    rows. If there are any, the horizontal axis of each panel fits its own values.
    """
    label_width = _LABEL_SHARE * printed_width(details.width)
    rows = [row | {"label": wrap_text(row["label"], label_width)} for row in rows]
    lines = "\n".join(row["label"] for row in rows).split("\n")
    left = max(map(text_width, lines)) + _TEXT_GAP
    widths = [
        _TEXT_GAP + max(map(text_width, [heading, *(row[field] for row in rows)]))
        for heading, field in columns.items()
    ]
    right = max(_HALF_LAST_LABEL, sum(widths))
    view = view_width(details.width, left, right)
    rows = wrap_names(with_texts(rows, details.text_format), view + right)
    scale = alt.Scale(zero=False) if columns else score_scale(rows)
    axis = alt.Axis(
        title=None,
        format=details.axis_format,
        tickCount=max(4, int(view / 40)),  # a tick for each 40 points
        labelOverlap="greedy",
        labelSeparation=3,
    )
    layers = _mark_layers(rows, view + right, scale, axis)
    most_lines = 1 + max(row["label"].count("\n") for row in rows)
    layers[0] = layers[0].encode(y=_row_channel(most_lines))  # The layers share this axis.
    column_start = view + _TEXT_GAP
    for (heading, field), width in zip(columns.items(), widths, strict=True):
        layers += _text_column(heading, field, column_start)
        column_start += width
    series = len({row["series"] for row in rows})
    step = max(_SERIES_HEIGHT * series + _ROW_GAP, LINE_HEIGHT * most_lines + 2)
    height = alt.Step(step, **{"for": "position"})  # for each row, and not for each series in it
    panel = alt.LayerChart(layer=layers, width=view, height=height)
    x = "independent" if columns else "shared"
    scales = {"x": x, "y": "independent", "yOffset": "independent"}
    return make_figure(panel, rows, caption, details.width, **scales)


def _text_column(heading: str, field: str, x: float) -> list[alt.Chart]:
    """Return the layers of a column of text at x: its cells from a field, and its heading."""
    cells = alt.Chart().mark_text(align="left", baseline="middle")
    above = alt.Chart(inline_data([{"text": heading}]))
    above = above.mark_text(align="left", baseline="bottom").encode(y=alt.value(-2))
    return [
        cells.encode(x=alt.XValue(x), y=_ROWS, text=alt.Text(f"{field}:N")),
        above.encode(x=alt.XValue(x), text=alt.Text("text:N")),
    ]


def _mark_layers(
    rows: Sequence[Row], room: float, scale: alt.Scale, axis: alt.Axis
) -> list[alt.Chart]:
    """Return the layers of a panel: bars for limits, and markers for scores.

    `room` is the width of the legend. `scale` and `axis` are those of the horizontal channel.
    """
    series = list(dict.fromkeys(row["series"] for row in rows))
    channels = series_channels(series, room)
    base = alt.Chart().encode(y=_ROWS, color=channels["color"])
    if len(series) > 1:
        offset = alt.Scale(domain=series, paddingOuter=0.5)
        base = base.encode(yOffset=alt.YOffset("series:N", scale=offset))
    marks = markers(base, size=14).encode(x=alt.X("score:Q", scale=scale, axis=axis))
    layers = [marks.encode(shape=channels["shape"])]
    if any("lo" in row for row in rows):
        bars = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=1.2)
        bars = bars.encode(x=alt.X("lo:Q", scale=scale, axis=axis), x2=alt.X2("hi:Q"))
        layers.insert(0, bars)
    return layers


def _row_channel(most_lines: int) -> alt.Y:
    """Return the vertical channel, which centers labels of up to `most_lines` lines in rows."""
    # Without an offset, the first of several lines would be beside the row.
    offsets = [
        {
            "test": f"length(split(datum.label, '\\n')) == {lines}",
            "value": LINE_HEIGHT / 2 * (1 - lines),
        }
        for lines in range(2, most_lines + 1)
    ]
    axis = alt.Axis(
        title=None,
        domain=False,
        grid=False,
        labelExpr=LINES,
        labelLineHeight=LINE_HEIGHT,
        labelOffset={"condition": offsets, "value": 0} if offsets else 0,
        labelPadding=_TEXT_GAP,
        ticks=False,
    )
    return _ROWS.axis(axis)
