"""The HTML of a page. Text of visitors is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .charts import Chart
from .request import Progress
from .sentences import interval_notes, percent
from .space import Options, Run

_STATISTICS = ("_mu", "_sigma", "_lo", "_hi")


def escape(text: str) -> str:
    """Return HTML that shows the text as it is, also if it has tags or template expressions."""
    return re.sub(r"[^\w\s.,:;()%/=+@^'-]", lambda found: f"&#{ord(found[0])};", text)


def result_html(sentence: str, note: str) -> str:
    """Return the sentence with its numbers emphasized, and the note below it."""
    emphasized = re.sub(
        r"\b[\d.]+ %|(?<![\w.@^])\d\.\d+\b", r"<strong>\g<0></strong>", escape(sentence)
    )
    return f'<p class="sentence">{emphasized}</p><p class="note">{escape(note)}</p>'


def problem_html(problem: str) -> str:
    """Return the box that says why there is no new result."""
    previous = "<p>The result below is the previous one.</p>"
    return f'<div class="problem" role="alert">{escape(problem)}{previous}</div>'


def progress_html(progress: Progress) -> str:
    """Return the sentence that says how much of a request is done."""
    text = (
        f"Checked {progress.checked:,} of {progress.total:,} distinct samples, about "
        f"{progress.seconds_left:.0f} s left."
    )
    return f'<p role="status">{escape(text)}</p>'


def caption_html(chart: Chart) -> str:
    """Return the title and the explanation of a chart."""
    return f'<h3>{escape(chart.title)}</h3><p class="caption">{escape(chart.caption)}</p>'


def score_table_html(runs: Sequence[Run], options: Options) -> str:
    """Return the table of the scores that all runs have, with their intervals and what these are.

    If there are two runs, the last column is their difference.
    """
    keys = [key for key in runs[0].scores() if _is_score(key, runs)]
    has_intervals = any(run.interval_method(key) for run in runs for key in keys)
    headers = [""]
    for run in runs:
        headers.append(escape(run.label) if len(runs) > 1 else "score")
        if has_intervals:
            headers.append(f"{percent(options['confidence'])} interval")
    if len(runs) == 2:
        headers.append("difference")
    rows = []
    for key in keys:
        cells = [escape(key)]
        for run in runs:
            cells.append(f"{run.scores()[key]:.4f}")
            if has_intervals:
                cells.append(_interval(run, key))
        if len(runs) == 2:
            difference = runs[1].scores()[key] - runs[0].scores()[key]
            cells.append(f"{difference:+.4f}".replace("-", "&minus;"))
        rows.append(cells)
    notes = interval_notes(runs, keys, options["confidence"]) if has_intervals else []
    note = f'<p class="caption">{escape(" ".join(notes))}</p>' if notes else ""
    return _table_html(headers, rows) + note


def _is_score(key: str, runs: Sequence[Run]) -> bool:
    """Return whether all runs have a score of this key, other than a statistic of another score."""
    is_number = isinstance(runs[0].scores()[key], float)
    in_all_runs = all(key in run.scores() for run in runs)
    return is_number and in_all_runs and not key.endswith(_STATISTICS)


def _interval(run: Run, key: str) -> str:
    """Return the confidence limits of a score as text: "none" if it has none."""
    scores, method = run.scores(), run.interval_method(key)
    if not method or method.startswith("none"):
        return "none"
    return f"{scores[f'{key}_lo']:.3f} to {scores[f'{key}_hi']:.3f}"


def _table_html(headers: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{header}</th>' for header in headers)
    body = ""
    for name, *cells in rows:
        values = "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr><th scope="row">{name}</th>{values}</tr>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="numbers">{table}</div>'
