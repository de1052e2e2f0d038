"""The HTML of a page. Text of visitors is escaped."""

from __future__ import annotations

import re

from .charts import Chart
from .request import Progress
from .score_tables import Table
from .sentences import percent


def escape(text: str) -> str:
    """Return HTML that shows the text as it is, also if it has tags or template expressions."""
    return re.sub(r"[^\w\s.,:;()%/=+@^'-]", lambda found: f"&#{ord(found[0])};", text)


def result_html(sentence: str, verdict: str, note: str) -> str:
    """Return the sentence with its numbers emphasized, the verdict of a comparison, and the note.

    Screen readers read a new result aloud.
    """
    percentage = r"\b[\d.]+ %(?! (?:confidence|credible) interval)"
    decimal = r"(?<![\w.@^])(?<!temperature )\d+\.\d+\b"
    emphasized = re.sub(f"{percentage}|{decimal}", r"<strong>\g<0></strong>", escape(sentence))
    # Numbers with their units and keys such as G-Pass@4_0.5 are not broken.
    whole = re.sub(r"[\d.]+ %|[\w-]+@[\w.]+", r"<span>\g<0></span>", escape(verdict))
    compared = f'<p class="verdict">{whole}</p>' if verdict else ""
    return (
        f'<div role="status"><p class="sentence">{emphasized}</p>{compared}</div>'
        f'<p class="note">{escape(note)}</p>'
    )


def problem_html(problem: str, has_previous: bool = True) -> str:
    """Return the box that says why there is no new result."""
    previous = "<p>The result below is the previous one.</p>" if has_previous else ""
    return f'<div class="problem" role="alert">{escape(problem)}{previous}</div>'


def progress_html(progress: Progress) -> str:
    """Return the sentence that says how much of a request is done."""
    text = (
        f"Checked {progress.checked:,} of {progress.total:,} distinct samples, about "
        f"{progress.seconds_left:.0f} s left."
    )
    return f'<p role="status">{escape(text)}</p>'


def code_html(code: str) -> str:
    """Return code in a box that scrolls."""
    return f'<pre tabindex="0" aria-label="Python code"><code>{escape(code)}</code></pre>'


def caption_html(chart: Chart) -> str:
    """Return the title and the explanation of a chart."""
    return f'<h2>{escape(chart.title)}</h2><p class="caption">{escape(chart.caption)}</p>'


def table_html(table: Table) -> str:
    """Return a table and what its numbers are.

    Limits are beside the score of a single run. With several, they are below it, in its cell.
    """
    beside = len(table.head) == 2 and table.confidence is not None
    head = [_breakable(name) for name in table.head]
    if beside:
        head.append(f"{percent(table.confidence)} limits")  # type: ignore[arg-type]
    rows = []
    for name, cells in table.rows:
        row = [_breakable(name)]
        for cell in cells:
            limits = _minus(" to ".join(cell.limits)) if cell.limits else ""
            text = _minus(escape(cell.text))
            row += [text, limits or "none"] if beside else [text + f"<small>{limits}</small>"]
        rows.append(row)
    notes = f'<p class="caption">{escape(" ".join(table.notes))}</p>' if table.notes else ""
    return _table_html(head, rows) + notes


def _breakable(label: str) -> str:
    """Return the label of a run, which can break after each underscore."""
    return escape(label).replace("_", "_<wbr>")


def _minus(number: str) -> str:
    return number.replace("-", "&minus;")


def _table_html(headers: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{header}</th>' for header in headers)
    body = ""
    for name, *cells in rows:
        values = "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr><th scope="row">{name}</th>{values}</tr>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="numbers">{table}</div>'
