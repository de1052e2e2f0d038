"""Write the tables and the Python code of an answer, and all files that visitors download.

The code reads the samples, and computes the same scores and charts. If the samples were pasted, it
expects them in a file with the name "text".
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from at_k.cli.formats import Scope, View, csv_text
from at_k.cli.score_tables import ScoresView, records_of
from at_k.core.credits import required_samples
from at_k.core.estimates import Estimate, as_dict
from at_k.readers.run import COLUMNS
from at_k.results import Result

from .charts import chart_arguments, charts_of, draw
from .request import Answer, shared_text
from .space import Call, Run

_PACKAGE = "evaluate-at-k[{extras}] @ git+https://github.com/evaluate-at-k/evaluate-at-k"
FORMATS = {"CSV": "csv", "LaTeX": "tex", "Markdown": "md"}
"""The formats of tables, and the types of their files."""


def views_of(answer: Answer, for_paper: bool = False) -> list[View]:
    """Return the views of an answer, each of which can print its tables.

    Two compared runs have only the comparison. With `for_paper`, views have the main scores only.
    """
    views: list[View] = [] if answer.comparison is None else [answer.comparison.view]
    if answer.comparison is None or len(answer.runs) > 2:
        views += [_run_view(answer, run, for_paper) for run in answer.runs]
    return views


def _run_view(answer: Answer, run: Run, for_paper: bool) -> ScoresView:
    """Return a view of the main scores of a run, followed by all others unless `for_paper`."""
    main = answer.space.main_scores(run, answer.options)
    shown = [x for x in run.scores().estimates if not _is_repeated(x)]
    shown.sort(key=lambda x: [*main, x.key].index(x.key))
    if for_paper:
        shown = [x for x in shown if x.key in main]
    has_several_runs = len(answer.runs) > 1
    return ScoresView(
        Result(as_dict(shown), shown),
        Scope([run.sample_counts], answer.checker, *answer.space.nouns),
        [run.label] if has_several_runs else (),
        answer.options,
        label=f"scores-{run.label}" if has_several_runs else "scores",
        scale=answer.scale,
    )


def _is_repeated(estimate: Estimate) -> bool:
    """Return whether a score equals pass@k or pass^k for all data, so that tables leave it out."""
    k, tau = estimate.k, estimate.tau
    if estimate.metric == "mG-Pass@k":
        return k == 2
    return tau is not None and isinstance(k, int) and required_samples(k, tau) in (1, k)


def table_text(answer: Answer, name: str) -> str:
    """Return the tables of an answer as text in one of `FORMATS`.

    CSV has all scores in full precision. The other formats have those that a paper would report.
    """
    if name != "CSV":
        views = views_of(answer, for_paper=True)
        return "\n\n".join(view.printed(name.lower()) for view in views) + "\n"
    labelled = [(run.label, x) for run in answer.runs for x in run.scores().estimates]
    head, *records = records_of([estimate for _, estimate in labelled])
    rows = [[label, *record] for (label, _), record in zip(labelled, records, strict=True)]
    return csv_text([["run", *head], *rows])


def samples_csv(answer: Answer) -> str:
    """Return CSV with a row for each sample: run, question, reference, text and outcome."""

    def rows() -> Iterator[list[str]]:
        yield ["run", answer.space.nouns[0], "reference", answer.space.nouns[1], "outcome"]
        for run in answer.runs:
            references = run.samples.get("references") or [""] * len(run.names)
            for index, rewards in enumerate(run.rewards):
                start = [run.label, run.names[index], str(references[index])]
                for text, reward in zip(run.texts_of_samples(index), rewards, strict=True):
                    yield [*start, text, "" if reward is None else str(reward).removesuffix(".0")]

    return csv_text(rows())


# --- Python code ----------------------------------------------------------------------------


def python_code(answer: Answer) -> str:
    """Return code that reads the files of an answer, prints its scores, and writes its charts."""
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


# --- Files ----------------------------------------------------------------------------------


def result_dict(answer: Answer) -> dict[str, Any]:
    """Return what the API returns: metric, options, scores by call and run, comparison, samples."""
    result: dict[str, Any] = {"metric": answer.space.metric, "options": answer.options}
    for name, call in answer.calls.items():
        results = {run.label: run.results[name] for run in answer.runs}
        if call.sweep:
            results = {label: [*by_value.values()] for label, by_value in results.items()}
        result[name] = results
    if answer.comparison is not None:
        differences = answer.comparison.results
        result["comparison"] = differences[0] if len(answer.runs) > 2 else differences
    return result | {"samples": {run.label: run.samples for run in answer.runs}}


def write_files(answer: Answer, folder: str) -> list[str]:
    """Write all files of an answer into a folder, and return their paths."""
    space = answer.space
    texts = {
        "scores.json": json.dumps(result_dict(answer), indent=1),
        **{f"scores.{x}": table_text(answer, name) for name, x in FORMATS.items()},
        f"{space.nouns[1]}s.csv": samples_csv(answer),
        "code.py": python_code(answer),
        "page.txt": shared_text(answer.request),
    }
    paths = []
    for name, text in texts.items():
        paths.append(Path(folder, f"{space.metric}-{name}"))
        paths[-1].write_text(text, encoding="utf-8", errors="replace")
    for number, chart in enumerate(charts_of(answer), start=1):
        figure = draw(chart, answer)
        for ending in ("svg", "pdf", "png"):
            paths.append(Path(folder, f"{space.metric}-chart-{number}.{ending}"))
            figure.save(str(paths[-1]))
    return [*map(str, paths)]
