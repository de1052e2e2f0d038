"""Write Python code that reads the samples of a page, and computes the same scores and charts.

If the samples were pasted, the code expects them in a file with the name "text".
"""

from collections.abc import Mapping
from typing import Any

from at_k.readers.run import COLUMNS

from .charts import chart_arguments, charts_of
from .request import Answer
from .space import Call, Run, Space

_PACKAGE = "evaluate-at-k[{extras}] @ git+https://github.com/evaluate-at-k/evaluate-at-k"


def python_code(space: Space, answer: Answer) -> str:
    """Return code that reads the files of an answer, prints its scores, and writes its charts.

    The result of each call of `compute` is in a variable with the name of the call. If there are
    several runs, it is a dict by the label of the run.
    """
    metric = space.metric
    extras = "charts,math" if answer.checker == "math_verify" else "charts"
    lines = [f'# pip install "{_PACKAGE.format(extras=extras)}"', "import at_k"]
    lines += ["from at_k import charts", "", *_reading_lines(answer)]
    lines.append(f'{metric} = at_k.load("{metric}")')
    for name, call in answer.calls.items():
        expression = _compute_call(metric, call)
        if len(answer.runs) > 1:
            expression = f"{{label: {expression} for label, samples in runs.items()}}"
        lines.append(f"{name} = {expression}")
        if name == "scores":
            lines.append("print(scores)")
    lines += _comparison_lines(answer)
    for number, chart in enumerate(charts_of(space, answer), start=1):
        arguments = ", ".join([chart.call, *_keywords(chart_arguments(chart, answer))])
        lines.append(f'charts.{chart.function}({arguments}).save("{metric}-{number}.pdf")')
    return "\n".join(lines) + "\n"


def _reading_lines(answer: Answer) -> list[str]:
    """Return code that sets `samples` for one run, or `runs`, {label: samples}, for several."""
    lines, indent = [], ""
    if len(answer.runs) == 1:
        (run,) = answer.runs
        if run.file == "text":
            lines.append("# text: a file with the samples")
        lines.append(f"samples = {_read_call(run)}")
    else:
        lines += ["runs = {", *(f"    {x.label!r}: {_read_call(x)}," for x in answer.runs), "}"]
    if answer.reading.get("common"):
        lines += [
            "shared = set.intersection(*(set(run.ids) for run in runs.values()))",
            "for label, run in runs.items():",
            "    common = [i for i, question in enumerate(run.ids) if question in shared]",
            "    runs[label] = run.select(common)",
        ]
    if any(map(_has_rewards_below_0, answer.runs)):
        if len(answer.runs) > 1:
            lines.append("for samples in runs.values():")
            indent = "    "
        floats = '[[x if x is None else float(x) for x in row] for row in samples["predictions"]]'
        lines.append(f'{indent}samples["predictions"] = {floats}  # rewards')
    return lines


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


def _has_rewards_below_0(run: Run) -> bool:
    """Return whether a reward is below 0, so that the page has made all rewards floats."""
    rows = run.samples["predictions"]
    is_graded = isinstance(rows, list) and "references" not in run.samples
    return is_graded and any(isinstance(x, float) and x < 0 for row in rows for x in row)


def _compute_call(metric: str, call: Call) -> str:
    """Return the code of a call of `compute`. For a sweep, it makes a dict {value: result}."""
    arguments = ["**samples", *_keywords(call.arguments)]
    if call.sweep is None:
        return f"{metric}.compute({', '.join(arguments)})"
    name, values = call.sweep
    arguments.append(f"{name}=value")
    return f"{{value: {metric}.compute({', '.join(arguments)}) for value in {values!r}}}"


def _comparison_lines(answer: Answer) -> list[str]:
    """Return lines that call `at_k.compare` or `at_k.leaderboard` and print the result.

    The list is empty if the runs are not compared.
    """
    if answer.comparison is None:
        return []
    start = "leaderboard(runs" if answer.comparison.is_leaderboard else "compare(*runs.values()"
    if answer.reading.get("by_order"):
        start += ", by_order=True"
    first, *others = [
        f"at_k.{', '.join([start, *_keywords(arguments)])})"
        for arguments in answer.comparison.arguments
    ]
    return [f"comparison = {first}", "print(comparison)", *(f"print({x})" for x in others)]


def _keywords(arguments: Mapping[str, Any]) -> list[str]:
    """Return the code of each keyword argument, such as "k=2"."""
    return [f"{name}={value!r}" for name, value in arguments.items()]
