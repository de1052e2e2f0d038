"""Write Python code that reads the samples of a page, and computes the same scores and charts.

If the samples were pasted, the code expects them in a file with the name "text".
"""

from collections.abc import Mapping
from typing import Any

from at_k.readers.run import COLUMNS

from .charts import chart_arguments, charts_of
from .request import Answer
from .space import Call, Run

_PACKAGE = "evaluate-at-k[{extras}] @ git+https://github.com/evaluate-at-k/evaluate-at-k"


def python_code(answer: Answer) -> str:
    """Return code that reads the files of an answer, prints its scores, and writes its charts.

    The result of each call of `compute` is in a variable with the name of the call. If there are
    several runs, it is a dict by the label of the run.
    """
    metric, has_several = answer.space.metric, len(answer.runs) > 1
    extras = "charts,math" if answer.checker == "math_verify" else "charts"
    lines = [f'# pip install "{_PACKAGE.format(extras=extras)}"', "import at_k"]
    lines += ["from at_k import charts", ""]
    if has_several:
        lines += ["runs = {", *(f"    {x.label!r}: {_read_call(x)}," for x in answer.runs), "}"]
    else:
        lines.append(f"samples = {_read_call(answer.runs[0])}")
    lines.append(f'{metric} = at_k.load("{metric}")')
    for name, call in answer.calls.items():
        expression = _compute_call(metric, call)
        if has_several:
            expression = f"{{label: {expression} for label, samples in runs.items()}}"
        lines.append(f"{name} = {expression}")
    lines.append("print(scores)")
    lines += _comparison_lines(answer)
    for number, chart in enumerate(charts_of(answer), start=1):
        arguments = ", ".join([chart.call, *_keywords(chart_arguments(chart, answer))])
        lines.append(f'charts.{chart.function}({arguments}).save("{metric}-{number}.pdf")')
    return "\n".join(lines) + "\n"


def _comparison_lines(answer: Answer) -> list[str]:
    """Return lines that compare the runs and print the result, or [] if they are not compared."""
    if answer.comparison is None:
        return []
    start = "leaderboard(runs" if len(answer.runs) > 2 else "compare(*runs.values()"
    calls = [", ".join([start, *_keywords(x)]) for x in answer.comparison.arguments]
    first = [f"comparison = at_k.{calls[0]})", "print(comparison)"]
    return [*first, *(f"print(at_k.{call}))" for call in calls[1:])]


def _read_call(run: Run) -> str:
    """Return the code of a call that reads the file of a run as the page does."""
    # The content of a file .txt tells its format, and not its name. So it is read as a stream.
    source = f'open({run.file!r}, "rb")' if run.file.lower().endswith(".txt") else repr(run.file)
    columns = {name: x for name, x in run.reading.items() if name in COLUMNS}
    arguments = {name: x for name, x in run.reading.items() if name not in COLUMNS}
    if columns:
        arguments["columns"] = columns
    if arguments.pop("has_labels", False):
        arguments["correct_values"] = None  # how `at_k.read` spells that outcomes are labels
    return f"at_k.read({', '.join([source, *_keywords(arguments)])})"


def _compute_call(metric: str, call: Call) -> str:
    """Return the code of a call of `compute`. For a sweep, it makes a dict {value: result}."""
    arguments = ["**samples", *_keywords(call.arguments)]
    if call.sweep is None:
        return f"{metric}.compute({', '.join(arguments)})"
    name, values = call.sweep
    arguments.append(f"{name}=value")
    return f"{{value: {metric}.compute({', '.join(arguments)}) for value in {values!r}}}"


def _keywords(arguments: Mapping[str, Any]) -> list[str]:
    """Return the code of each keyword argument, such as "k=2"."""
    return [f"{name}={value!r}" for name, value in arguments.items()]
