"""The charts of a page, described as calls of the functions of `at_k.charts`.

The page draws them, and shows the code that draws them again. Worker processes import this module
with the app, so it imports no large library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from at_k.cli.comparison_tables import LeaderboardView
from at_k.runs.comparison import differences_in

if TYPE_CHECKING:
    from .request import Answer
    from .space import Space


@dataclass(frozen=True)
class Chart:
    """A chart with its title and an explanation.

    Attributes:
        title: the title above the chart.
        caption: what the chart shows, in a sentence or two.
        function: the name of the function of `at_k.charts` that draws it.
        call: the name of the call of `compute` whose results it shows, or "comparison".
        arguments: further arguments of the function.
    """

    title: str
    caption: str
    function: str
    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def charts_of(space: Space, answer: Answer) -> list[Chart | None]:
    """Return the charts of a Space, with that of a comparison after the first."""
    charts = [chart(answer.runs, answer.options) for chart in space.charts]
    if min(run.sample_counts.min() for run in answer.runs) == 1:  # a curve by k is one point
        charts = [None if chart and chart.function == "by_k" else chart for chart in charts]
    return [charts[0], _comparison_chart(answer), *charts[1:]]


def _comparison_chart(answer: Answer) -> Chart | None:
    """Return the chart of a comparison: by k of two runs, a leaderboard of more, or None."""
    comparison = answer.comparison
    if comparison is None:
        return None
    if isinstance(comparison.view, LeaderboardView):
        return Chart(
            "The runs by their scores",
            "Runs that share a letter cannot be told apart.",
            function="forest",
            call="comparison",
        )
    if len(differences_in(comparison.results[0])) < 2:
        return None
    return Chart(
        "The difference by k",
        "The line at 0 is heavy where the simultaneous band over all k excludes 0. The dashed line "
        "is at the selected k.",
        function="difference",
        call="comparison",
        arguments={
            "runs": [run.label for run in answer.runs],
            "interval": comparison.view.options.interval,
            "highlight": answer.options.get("k"),
        },
    )


def curve_ks(maximum: int, points: int = 24) -> list[int]:
    """Return the k values of a curve from 1 to `maximum`, in increasing order.

    All integers if there are at most `points`. Otherwise the powers of two, and about `points`
    values at equal distances on a logarithmic scale.
    """
    if maximum <= points:
        return list(range(1, maximum + 1))
    ratio = maximum ** (1 / (points - 1))
    spaced = {round(ratio**i) for i in range(points)}
    return sorted(spaced | {2**i for i in range(maximum.bit_length())})
