"""Draw the charts of a page."""

from __future__ import annotations

import html
import inspect
import json
import re
from typing import Any

import altair
import vl_convert
from altair.utils import schemapi
from at_k import charts
from at_k.charts.figure import Figure

from .charts import Chart
from .controls import SAME_QUESTIONS
from .request import Answer
from .sentences import number_range, scale_of

PRINT = 3.3
WIDTHS = {"narrow": 3.3, "wide": 6.0}
"""Widths in inches. The page scales charts to its own width."""

_VEGA_LITE = altair.SCHEMA_VERSION.rpartition(".")[0]  # "v6.1" of "v6.1.0"

# Altair would validate each part of a chart, which takes longer than all the rest.
schemapi.disable_debug_mode()


def draw(chart: Chart, answer: Answer, width: str = "") -> Figure:
    """Return the figure of a chart, in percent where the sentences of the page are.

    Args:
        chart: the chart.
        answer: the answer that it shows.
        width: one of `WIDTHS`. Default: that of a column of a paper.
    """
    function = getattr(charts, chart.function)
    arguments = chart_arguments(chart, answer)
    if "labels" in inspect.signature(function).parameters:
        arguments["labels"] = answer.questions.names
    figure = function(_results(chart, answer), **arguments, width=WIDTHS.get(width, PRINT))
    return figure.in_percent() if scale_of(answer.runs).percent else figure


def chart_arguments(chart: Chart, answer: Answer) -> dict[str, Any]:
    """Return the arguments of the function of a chart, with those for the caption of the figure."""
    parameters = inspect.signature(getattr(charts, chart.function)).parameters
    return {
        **chart.arguments,
        **{name: value for name, value in _details(answer).items() if name in parameters},
    }


def page_svg(figure: Figure) -> str:
    """Return a figure as the SVG of a page, which needs no script in the browser.

    The style sheet of the page scales it to the width of the page, and adapts it to dark mode.
    Marks with a tooltip are described by its lines, which browsers show as their title.
    """
    spec = figure.to_dict(validate=False)
    spec["background"] = "transparent"
    _describe_marks(spec)
    svg = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE)
    described = f'<svg role="graphics-document" aria-label="{html.escape(spec["description"])}"'
    svg = svg.replace("<svg", described, 1)
    svg = re.sub(r'<path (aria-label="([^"]*)"[^>]*)/>', r"<path \1><title>\2</title></path>", svg)
    # `gr.HTML` would take braces and dollar signs in labels for those of a template.
    return re.sub(r"[{}$]", lambda match: f"&#{ord(match[0])};", svg)


def _describe_marks(part: Any) -> None:
    """Describe the marks of a specification by the lines of their tooltips; no others."""
    if isinstance(part, list):
        for entry in part:
            _describe_marks(entry)
    elif isinstance(part, dict):
        if "mark" in part:
            lines = part["encoding"].pop("tooltip", None)
            if lines:
                part["encoding"]["description"] = {"value": {"expr": _lines(lines)}}
            else:
                part["mark"]["aria"] = False
        for entry in part.values():
            _describe_marks(entry)


def _lines(tooltip: list[dict[str, str]]) -> str:
    """Return the expression of Vega for the lines of a tooltip, such as "score: 0.8786"."""
    lines = []
    for line in tooltip:
        value = f"datum[{json.dumps(line['field'])}]"
        if "format" in line:
            value = f"format({value}, {json.dumps(line['format'])})"
        lines.append(f"{json.dumps(line.get('title', line['field']))} + ': ' + {value}")
    return " + '\\n' + ".join(lines)


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
