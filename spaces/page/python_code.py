"""The Python code that computes the scores of a page and draws its charts again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .charts import Chart
from .figures import chart_arguments
from .request import Answer, Comparison
from .space import Call

_MAX_INLINE = 3_000
"""The number of characters above which the code reads samples from the downloaded JSON file."""


def python_code(metric: str, answer: Answer, charts: Sequence[Chart]) -> str:
    """Return code that assigns the result of each call to its name, and writes the charts.

    Args:
        metric: the name of the metric.
        answer: the scores.
        charts: the charts of the page.
    """
    several = len(answer.runs) > 1
    # On the Hub, this is the Space itself, from which the metric can be loaded.
    source = os.environ.get("SPACE_ID", metric)
    variable = "runs" if several else "samples"
    samples = answer.samples if several else answer.samples[answer.runs[0].label]
    assignment = _assignment(variable, samples)
    imports = ["import evaluate"]
    if len("\n".join(assignment)) > _MAX_INLINE:
        imports = ["import json", "", *imports]
        label = "" if several else f'["{answer.runs[0].label}"]'
        assignment = [
            f'with open("{metric}.json") as file:  # "Scores as JSON" on this page',
            f'    {variable} = json.load(file)["samples"]{label}',
        ]
    lines = [*imports, "", f'{metric} = evaluate.load("{source}")', *assignment, ""]
    for name, call in answer.calls.items():
        expression = _call_expression(metric, call)
        if several:
            expression = f"{{label: {expression} for label, samples in runs.items()}}"
        lines.append(f"{name} = {expression}")
    several_names = ", compare, leaderboard" if answer.comparison is not None else ""
    lines += [
        "",
        "# pip install altair vl-convert-python",
        f"from at_k import charts{several_names}",
    ]
    if answer.comparison is not None:
        lines.append(f"comparison = {_comparison_expression(answer.comparison)}")
    for place, chart in enumerate(charts, start=1):
        lines.append(f'{_chart_expression(chart, answer)}.save("{metric}-{place}.pdf")')
    return "\n".join(lines)


def _comparison_expression(comparison: Comparison) -> str:
    """Return the expression of a call of `at_k.compare` or `at_k.leaderboard`."""
    arguments = [f"{name}={value!r}" for name, value in comparison.arguments.items()]
    if comparison.board is not None:
        return f"leaderboard({', '.join(['runs', *arguments])})"
    return f"compare({', '.join(['*runs.values()', *arguments])})"


def _chart_expression(chart: Chart, answer: Answer) -> str:
    """Return the expression of a call of a function of `at_k.charts`."""
    results, call = chart.call, answer.calls.get(chart.call)
    if call is not None and (sweep := call.sweep) is not None:
        results = f"dict(zip({sweep[1]!r}, {{}}))"
        if len(answer.runs) > 1:
            found = results.format("found")
            results = f"{{label: {found} for label, found in {chart.call}.items()}}"
        else:
            results = results.format(chart.call)
    arguments = [f"{name}={value!r}" for name, value in chart_arguments(chart, answer).items()]
    return f"charts.{chart.function}({', '.join([results, *arguments])})"


def _call_expression(metric: str, call: Call) -> str:
    """Return the expression of a call of `compute`, or of the list of calls of a sweep."""
    arguments = [f"{name}={value!r}" for name, value in call.arguments.items()]
    if call.sweep is None:
        return f"{metric}.compute(**samples, {', '.join(arguments)})"
    name, values = call.sweep
    arguments.append(f"{name}=value")
    return f"[{metric}.compute(**samples, {', '.join(arguments)}) for value in {values!r}]"


def _assignment(variable: str, samples: dict[str, Any]) -> list[str]:
    """Return the lines of an assignment of a dict, with each row of predictions on a line."""
    return [f"{variable} = {{", *_dict_lines(samples), "}"]


def _dict_lines(samples: dict[str, Any]) -> list[str]:
    """Return the indented lines between the braces of a dict."""
    lines = []
    for key, value in samples.items():
        if isinstance(value, dict):
            lines += [f"{key!r}: {{", *_dict_lines(value), "},"]
        elif key == "predictions":
            lines += [f"{key!r}: [", *(f"    {row!r}," for row in value), "],"]
        else:
            lines.append(f"{key!r}: {value!r},")
    return [f"    {line}" for line in lines]
