"""Draw the charts of a page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from altair.utils import schemapi
from at_k import charts
from at_k.charts.figure import Figure

from .charts import Chart
from .controls import SAME_QUESTIONS
from .request import Answer
from .sentences import scale_of

_WIDTH = 3.3  # inches, that of a column of a paper. The page scales charts to its own width.

# Altair would validate each part of a chart, which takes longer than all the rest.
schemapi.disable_debug_mode()


def draw(chart: Chart, answer: Answer) -> Figure:
    """Return the figure of a chart that shows an answer."""
    arguments = chart_arguments(chart, answer) | {"width": _WIDTH}
    if chart.function == "by_question":
        arguments["labels"] = answer.questions
    return getattr(charts, chart.function)(_results(chart, answer), **arguments)


def page_svg(figure: Figure) -> str:
    """Return a figure as the SVG of a page.

    The style sheet of the page scales it to the width of the page, and adapts it to dark mode.
    """
    figure.background = "transparent"
    # `gr.HTML` would take braces and dollar signs in labels for those of a template.
    return re.sub(r"[{}$]", lambda match: f"&#{ord(match[0])};", figure.svg())


def _results(chart: Chart, answer: Answer) -> Any:
    if chart.call == "comparison":
        assert answer.comparison is not None
        return answer.comparison.results[0]
    results = {run.label: run.results[chart.call] for run in answer.runs}
    return results if len(results) > 1 else next(iter(results.values()))


def chart_arguments(chart: Chart, answer: Answer) -> dict[str, Any]:
    """Return the arguments of the function of a chart, with those for its caption.

    Scores are in percent where the sentences of the page are. A leaderboard knows the rest.
    """
    arguments = dict(chart.arguments)
    if scale_of(answer.runs).percent:
        arguments["percent"] = True
    if answer.checker is not None:
        arguments["checker"] = answer.checker
    if chart.function == "forest":
        return arguments
    counts = np.concatenate([run.sample_counts for run in answer.runs])
    lowest, highest = int(counts.min()), int(counts.max())
    arguments["n"] = lowest if lowest == highest else f"{lowest} to {highest}"
    if chart.function == "by_question":  # which counts the questions, and shows no limits
        return arguments
    questions = {len(run.sample_counts) for run in answer.runs}
    if len(questions) == 1:
        arguments["questions"] = questions.pop()
    arguments["confidence"] = answer.options["confidence"]
    if answer.options["interval"] != SAME_QUESTIONS:  # then the results name their intervals
        arguments.setdefault("interval", answer.options["interval"])
    return arguments
