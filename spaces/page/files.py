"""Write the files that visitors download: scores, tables, samples, code, the page and charts."""

import json
from pathlib import Path
from typing import Any

from .charts import charts_of, draw
from .python_code import python_code
from .questions import samples_csv
from .request import Answer
from .score_tables import FORMATS, table_text
from .sharing import shared_text


def result_dict(answer: Answer) -> dict[str, Any]:
    """Return a dict of the metric, options, scores by call and run, any comparison, and samples.

    The API returns this dict, and the file of JSON has it. The scores of a sweep are a list.
    """
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
