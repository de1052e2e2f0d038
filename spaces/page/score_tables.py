"""The scores of an answer as tables for papers and programs."""

from __future__ import annotations

import csv
import functools
import io
from typing import Any

from at_k.cli.formats import Output
from at_k.cli.paper_tables import paper_notes, paper_tables_of_scores
from at_k.cli.tables import score_records

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
        scores = _shown_scores(run)
        output = Output(
            scores=scores,
            input=[run.label] if len(answer.runs) > 1 else [],
            tables=list,
            records=list,
            paper=functools.partial(paper_tables_of_scores, scores, confidence),
            notes=paper_notes(scores, "posterior", confidence),
        )
        texts.append(output.printed(name.lower()))
    return "\n\n".join(texts) + "\n"


def _csv(answer: Answer) -> str:
    """Return a row for each run, group and key, in full precision."""
    rows: list[dict[str, Any]] = []
    for run in answer.runs:
        head, *lines = score_records(_shown_scores(run))
        rows += [{"run": run.label, **dict(zip(head, line, strict=True))} for line in lines]
    columns = dict.fromkeys(column for row in rows for column in row)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _shown_scores(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.scores().items() if key != "per_question"}
