"""The Python code that reads the same samples, and computes the scores and charts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from at_k.readers.run import COLUMNS

from .charts import Chart, charts_of
from .figures import chart_arguments
from .request import Answer, Comparison
from .space import Call, Run, Space

_PACKAGE = "evaluate-at-k[{extras}] @ git+https://github.com/evaluate-at-k/evaluate-at-k"


def python_code(space: Space, answer: Answer) -> str:
    """Return code that reads the files of an answer, prints its scores, and writes its charts.

    The result of each call has its name. A text that was pasted is read from a file.
    """
    metric, several = space.metric, len(answer.runs) > 1
    extras = "charts,math" if answer.checker == "math_verify" else "charts"
    imports = ["import at_k", "from at_k import charts"]
    lines = [f'# pip install "{_PACKAGE.format(extras=extras)}"', *imports, ""]
    reads = {run.label: _read(run) for run in answer.runs}
    if several:
        lines += ["runs = {", *(f"    {label!r}: {call}," for label, call in reads.items()), "}"]
    else:
        (call,) = reads.values()
        is_text = answer.runs[0].file == "text"
        lines += [*["# text: a file with the samples"] * is_text, f"samples = {call}"]
    if any(map(_has_rewards_below_0, answer.runs)):
        lines += ["for samples in runs.values():"] if several else []
        floats = '[[x if x is None else float(x) for x in row] for row in samples["predictions"]]'
        lines.append(f'{"    " * several}samples["predictions"] = {floats}  # rewards')
    lines.append(f'{metric} = at_k.load("{metric}")')
    for name, call_of_page in answer.calls.items():
        expression = _call(metric, call_of_page)
        if several:
            expression = f"{{label: {expression} for label, samples in runs.items()}}"
        lines.append(f"{name} = {expression}")
        if name == "scores":
            lines.append("print(scores)")
    if answer.comparison is not None:
        lines += _comparing(answer.comparison, bool(answer.reading.get("by_order")))
    for number, chart in enumerate(charts_of(space, answer), start=1):
        if chart is not None:
            lines.append(f'{_chart(chart, answer)}.save("{metric}-{number}.pdf")')
    return "\n".join(lines) + "\n"


def _read(run: Run) -> str:
    """Return the expression of a call of `at_k.read`, which reads a file as the page does."""
    columns = {name: x for name, x in run.reading.items() if name in COLUMNS}
    arguments = {name: x for name, x in run.reading.items() if name not in COLUMNS}
    arguments |= {"columns": columns} if columns else {}
    if arguments.pop("has_labels", False):
        arguments["correct_values"] = None
    # The content of a text tells its format, as for a text that is pasted.
    source = f'open({run.file!r}, "rb")' if run.file.lower().endswith(".txt") else repr(run.file)
    return f"at_k.read({', '.join([source, *_arguments(arguments)])})"


def _has_rewards_below_0(run: Run) -> bool:
    """Whether the page has read whole numbers as rewards, because one is no category."""
    rows = run.samples["predictions"]
    is_graded = isinstance(rows, list) and "references" not in run.samples
    return is_graded and any(isinstance(x, float) and x < 0 for row in rows for x in row)


def _comparing(comparison: Comparison, by_order: bool) -> list[str]:
    """Return lines that call `at_k.compare` or `at_k.leaderboard`, and print the result."""
    start = "leaderboard(runs" if comparison.is_leaderboard else "compare(*runs.values()"
    start += ", by_order=True" * by_order
    calls = [f"at_k.{', '.join([start, *_arguments(x)])})" for x in comparison.arguments]
    further = [f"print({call})" for call in calls[1:]]
    return [f"comparison = {calls[0]}", "print(comparison)", *further]


def _arguments(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in arguments.items()]


def _chart(chart: Chart, answer: Answer) -> str:
    """Return the expression of a call of a function of `at_k.charts`."""
    arguments = _arguments(chart_arguments(chart, answer))
    return f"charts.{chart.function}({', '.join([chart.call, *arguments])})"


def _call(metric: str, call: Call) -> str:
    """Return the expression of a call of `compute`, or of the results of a sweep by value."""
    arguments = _arguments(call.arguments)
    if call.sweep is None:
        return f"{metric}.compute(**samples, {', '.join(arguments)})"
    name, values = call.sweep
    arguments.append(f"{name}=value")
    return f"{{value: {metric}.compute(**samples, {', '.join(arguments)}) for value in {values!r}}}"
