"""Draw the difference of two runs against k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import altair as alt

from ..core.checks import as_list, check_text
from ..runs.comparison import Difference, by_sign, differences_in, zero_in_band
from .figure import Figure
from .lines import LineAxis, figure_of_lines, k_axis, vertical_channel
from .results import (
    ChartDetails,
    ChartOptions,
    ChartScores,
    Row,
    check_scores,
    correction_of_runs,
    metric_label,
)
from .style import DARK, inline_data


def difference(
    comparison: ChartScores,
    runs: Sequence[str] = ("A", "B"),
    *,
    highlight: int | None = None,
    **options: Unpack[ChartOptions],
) -> Figure:
    """Return a chart of the difference of two runs against k.

    The dark band shows the confidence limits at each k, and the pale band is the simultaneous band
    over all k. The line at 0 is heavy where the simultaneous band excludes 0.

    Args:
        comparison: the result of `at_k.compare` for several k. If it has several scores, that with
            the most k is shown.
        runs: the names of the two runs, in the order of `at_k.compare`. The difference is the
            second minus the first.
        highlight: a k that a dashed line marks.
        **options: see `at_k.charts`.

    Raises:
        TypeError: if `comparison` is not a dict of scores.
        ValueError: if it does not have several k, or if highlight is outside of their range.

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
    title = f"difference of {metric_label(next(iter(curve.values())))}: {name_b} minus {name_a}"
    series = f"{name_b} minus {name_a}"
    rows = [_row_of_difference(x, series=series, panel=title) for x in curve.values()]
    x = k_axis(curve)
    details = ChartDetails(**options)
    points = [*curve.values()]
    start = "Heavy line at 0: the" if any(point.sign for point in points) else "The"
    conclusion = f"{start} simultaneous band {zero_in_band(points, names)}."
    sentences = correction_of_runs(comparison), conclusion
    bands = [row[column] for row in rows for column in ("band_lo", "band_hi")]
    y = {
        "scale": alt.Scale(domain=[min(0.0, *bands), max(0.0, *bands)]),
        "format": details.formats.difference,
        # In percent, a difference is in percentage points.
        "labelExpr": "datum.value ? replace(datum.label, '%', ' pp') : '0'",
    }
    notes = _line_at_zero(points, x, y)
    return figure_of_lines(rows, x, details, *sentences, highlight=highlight, y=y, notes=notes)


def _row_of_difference(point: Difference, **columns: Any) -> Row:
    """Return the row of a difference: further columns, its values and limits, and both scores."""
    (lo, hi), (band_lo, band_hi) = point.interval, point.band
    limits = {"lo": lo, "hi": hi, "band_lo": band_lo, "band_hi": band_hi}
    both = {"a": point.a, "b": point.b}
    return {**columns, "x": point.k, "key": point.key, "score": point.score} | limits | both


def _line_at_zero(
    points: Sequence[Difference], x: LineAxis, y: Mapping[str, Any]
) -> list[alt.Chart]:
    """Return the layers of the line at 0, and of its heavy parts, where the band excludes 0.

    `points` are in ascending order of k, and `y` are arguments of `vertical_channel`.
    """
    segments = [
        {"x": successive[0].k, "end": successive[-1].k, "y": 0}
        for sign, successive in by_sign(points)
        if sign
    ]
    zero = alt.Chart(inline_data([{"y": 0}])).mark_rule(color=DARK, strokeWidth=0.6)
    heavy = alt.Chart(inline_data(segments))
    heavy = heavy.mark_rule(color=DARK, strokeWidth=2.5, strokeCap="round")
    layers = [zero, heavy.encode(x=x.channel(), x2=alt.X2("end:Q"))] if segments else [zero]
    return [layer.encode(y=vertical_channel("y", **y)) for layer in layers]
