"""Draw the charts of a page."""

from __future__ import annotations

import inspect
import json
from typing import Any

from altair.utils import schemapi
from at_k import charts
from at_k.charts.figure import Figure

from .charts import Chart
from .controls import SAME_QUESTIONS
from .request import Answer
from .sentences import number_range

PRINT = 3.3
WIDTHS = PHONE, TABLET, DESKTOP = 3.3, 4.5, 6.6
"""Widths in inches. The page scales charts to its own width."""

# Altair would validate each part of a chart, which takes longer than all the rest.
schemapi.disable_debug_mode()


def draw(chart: Chart, answer: Answer, inches: float = PRINT) -> Figure:
    """Return the figure of a chart."""
    function = getattr(charts, chart.function)
    arguments = chart_arguments(chart, answer)
    if "labels" in inspect.signature(function).parameters:
        arguments["labels"] = answer.questions.names
    return function(_results(chart, answer), **arguments, width=inches)


def chart_arguments(chart: Chart, answer: Answer) -> dict[str, Any]:
    """Return the arguments of the function of a chart, with those for the caption of the figure."""
    parameters = inspect.signature(getattr(charts, chart.function)).parameters
    return {
        **chart.arguments,
        **{name: value for name, value in _details(answer).items() if name in parameters},
    }


def page_spec(figure: Figure) -> str:
    """Return the Vega-Lite specification of a figure as the page shows it: as SVG.

    The style sheet of the page scales SVG to the width of the page, and adapts it to dark mode.
    """
    spec = figure.to_dict(validate=False)
    # Gradio has Vega-Lite 5, and warns of specifications for 6. There is no difference here.
    del spec["background"], spec["$schema"]
    spec["usermeta"]["embedOptions"] = {"actions": False, "renderer": "svg"}
    return json.dumps(spec)


def _results(chart: Chart, answer: Answer) -> Any:
    if chart.call == "comparison":
        assert answer.comparison is not None
        return answer.comparison.board or answer.comparison.differences[0]
    results = {run.label: run.results[chart.call] for run in answer.runs}
    if sweep := answer.calls[chart.call].sweep:
        results = {label: dict(zip(sweep[1], r, strict=True)) for label, r in results.items()}
    return results if len(results) > 1 else next(iter(results.values()))


def _details(answer: Answer) -> dict[str, Any]:
    """Return what the captions of figures say about the samples."""
    counts = [count for run in answer.runs for count in run.sample_counts]
    n = number_range(counts)
    details: dict[str, Any] = {"n": int(n) if n.isdigit() else n}
    questions = {len(run.sample_counts) for run in answer.runs}
    if len(questions) == 1:
        details["questions"] = questions.pop()
    if answer.checker is not None:
        details["checker"] = answer.checker
    details["confidence"] = answer.options["confidence"]
    if answer.options["interval"] != SAME_QUESTIONS:  # then the results name their intervals
        details["interval"] = answer.options["interval"]
    return details
