"""The Python code that computes the scores of a page and draws its charts again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .charts import Chart
from .figures import chart_arguments
from .request import Answer, Comparison
from .sentences import scale_of
from .space import Call

_MAX_INLINE = 3_000
"""The number of characters above which the code reads samples from the downloaded JSON file."""

_PACKAGE = "evaluate-at-k[{extras}] @ git+https://github.com/evaluate-at-k/evaluate-at-k"
_NUMBER = """\
def number(score):
    return f"{%s}"
"""
_PRINT_SCORES = """\
for key in {keys!r}:
    lo, hi = ({result}.get(f"{{key}}_{{limit}}") for limit in ("lo", "hi"))
    limits = "" if lo is None else f" ({{number(lo)}} to {{number(hi)}})"
    print(f"{{key}}: {{number({result}[key])}}{{limits}}")"""


def python_code(metric: str, answer: Answer, keys: Sequence[str], charts: Sequence[Chart]) -> str:
    """Return code that prints the scores of a page, and writes its charts.

    The result of each call has its name.

    Args:
        metric: the name of the metric.
        answer: the scores.
        keys: the scores that the page shows for each run.
        charts: the charts of the page.
    """
    several = len(answer.runs) > 1
    variable = "runs" if several else "samples"
    samples = answer.samples if several else answer.samples[answer.runs[0].label]
    assignment, imports = _assignment(variable, samples), ["import at_k", "from at_k import charts"]
    if len("\n".join(assignment)) > _MAX_INLINE:
        imports = ["import json", "", *imports]
        label = "" if several else f"[{answer.runs[0].label!r}]"
        assignment = [
            f'with open("{metric}.json") as file:  # what the button "Scores as JSON" saves',
            f'    {variable} = json.load(file)["samples"]{label}',
        ]
    extras = "charts,math" if answer.checker == "math_verify" else "charts"
    lines = [f'# pip install "{_PACKAGE.format(extras=extras)}"', *imports, "", *assignment, ""]
    shown = "100 * score:.1f" if scale_of(answer.runs).percent else "score:.3f"
    lines += ["", _NUMBER % shown, "", f'{metric} = at_k.load("{metric}")']
    for name, call in answer.calls.items():
        expression = _call_expression(metric, call)
        if several:
            expression = f"{{label: {expression} for label, samples in runs.items()}}"
        lines.append(f"{name} = {expression}")
        if name == "scores":
            lines += _printing(keys, several)
    if answer.comparison is not None:
        lines += _comparing(answer.comparison)
    lines.append("")
    for place, chart in enumerate(charts, start=1):
        lines.append(f'{_chart_expression(chart, answer)}.save("{metric}-{place}.pdf")')
    return "\n".join(lines)


def _printing(keys: Sequence[str], several: bool) -> list[str]:
    """Return lines that print scores with their limits."""
    if not several:
        return _PRINT_SCORES.format(keys=list(keys), result="scores").splitlines()
    lines = _PRINT_SCORES.format(keys=list(keys), result="result").splitlines()
    head = ["for label, result in scores.items():", "    print(label)"]
    return [*head, *(f"    {line}" for line in lines)]


def _comparing(comparison: Comparison) -> list[str]:
    """Return lines that call `at_k.compare` or `at_k.leaderboard`, and print the result."""
    if comparison.board is not None:
        arguments = _arguments(comparison.arguments[0])
        return [
            f"comparison = at_k.leaderboard({', '.join(['runs', *arguments])})",
            'for row in comparison["runs"]:',
            "    print(row)",
        ]
    calls = [
        f"at_k.compare({', '.join(['*runs.values()', *_arguments(arguments)])})"
        for arguments in comparison.arguments
    ]
    shown = [comparison.key, *(of[0].key for of in comparison.differences_of_measures[1:])]
    printing = _PRINT_SCORES.format(keys=shown, result="differences").splitlines()
    return [
        "",
        f"comparison = {calls[0]}",
        f"differences = {' | '.join(['comparison', *calls[1:]])}",
        'print("difference")',
        *printing,
    ]


def _arguments(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in arguments.items()]


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
    arguments = _arguments(chart_arguments(chart, answer))
    unit = ".in_percent()" if scale_of(answer.runs).percent else ""
    return f"charts.{chart.function}({', '.join([results, *arguments])}){unit}"


def _call_expression(metric: str, call: Call) -> str:
    """Return the expression of a call of `compute`, or of the list of calls of a sweep."""
    arguments = _arguments(call.arguments)
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
