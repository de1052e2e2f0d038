"""Choose the charts of an answer, and draw them."""

import re
from typing import Any

from altair.utils import schemapi
from at_k import charts
from at_k.charts.figure import Figure
from at_k.cli.comparison_tables import LeaderboardView
from at_k.runs.comparison import differences_in

from .controls import SAME_QUESTIONS
from .request import Answer
from .space import Chart

# Altair would validate each part of a chart, which takes longer than all the rest.
schemapi.disable_debug_mode()


def charts_of(answer: Answer) -> list[Chart]:
    """Return the charts of an answer that apply to its runs. That of a comparison is the second.

    A curve of one point is left out.
    """
    points = {
        "by_k": min(run.sample_counts.min() for run in answer.runs),
        "by_question": max(len(run.sample_counts) for run in answer.runs),
    }
    first, *others = answer.space.charts(answer.runs, answer.options)
    charts = [first, _comparison_chart(answer), *others]
    return [chart for chart in charts if chart and points.get(chart.function) != 1]


def _comparison_chart(answer: Answer) -> Chart | None:
    """Return the chart of a comparison: the difference of two runs by k, or a leaderboard.

    Return None without a comparison, or if the two runs are compared at a single k.
    """
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


def draw(chart: Chart, answer: Answer) -> Figure:
    """Return the figure of a chart: `chart.function`, called with the results of `chart.call`."""
    arguments = chart_arguments(chart, answer)
    # Only runs that are compared are known to have the same questions.
    if chart.function == "by_question" and (answer.comparison or len(answer.runs) == 1):
        arguments["labels"] = answer.runs[0].names
    if chart.call == "comparison":
        assert answer.comparison is not None
        results = answer.comparison.results[0]  # those of the first score
    else:
        results = {run.label: run.results[chart.call] for run in answer.runs}
        if len(results) == 1:
            (results,) = results.values()
    return getattr(charts, chart.function)(results, **arguments)


def page_svg(chart: Chart, answer: Answer) -> str:
    """Draw a chart as SVG, which the style sheet of the page adapts to its width and dark mode."""
    figure = draw(chart, answer)
    figure.background = "transparent"
    # `gr.HTML` would take braces and dollar signs in labels for parts of a template.
    return re.sub(r"[{}$]", lambda match: f"&#{ord(match[0])};", figure.svg())


def chart_arguments(chart: Chart, answer: Answer) -> dict[str, Any]:
    """Return the keyword arguments of the function that draws a chart."""
    arguments = dict(chart.arguments)
    if answer.scale.percent:
        arguments["percent"] = True
    if chart.function not in ("forest", "by_question"):  # leaderboards have limits, questions none
        arguments["confidence"] = answer.options["confidence"]
        if answer.options["interval"] != SAME_QUESTIONS:  # with "auto", results name the interval
            arguments.setdefault("interval", answer.options["interval"])
    return arguments
