"""The scores of an answer as tables for papers and programs."""

from __future__ import annotations

import csv
import io
from typing import Any

from at_k.cli.score_tables import ScoresView

from .request import Answer
from .space import Run

FORMATS = {"CSV": "csv", "LaTeX": "tex", "Markdown": "md"}
"""The formats of tables, and the types of their files."""


def table_text(answer: Answer, name: str) -> str:
    """Return the scores of an answer, and of each group, in one of `FORMATS`."""
    if name == "CSV":
        return _csv(answer)
    confidence = answer.options.get("confidence")
    texts = []
    for run in answer.runs:
        view = ScoresView(
            _shown_scores(run),
            input=[run.label] if len(answer.runs) > 1 else [],
            interval="posterior",
            confidence=confidence,
        )
        texts.append(view.printed(name.lower()))
    return "\n\n".join(texts) + "\n"


def _csv(answer: Answer) -> str:
    """Return a row for each run, group and key, in full precision."""
    rows: list[dict[str, Any]] = []
    for run in answer.runs:
        head, *lines = ScoresView(_shown_scores(run)).records()
        rows += [{"run": run.label, **dict(zip(head, line, strict=True))} for line in lines]
    columns = dict.fromkeys(column for row in rows for column in row)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _shown_scores(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.scores().items() if key != "per_question"}
