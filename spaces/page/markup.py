"""The HTML of a page. Text of visitors is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from at_k.cli.comparison_tables import leaderboard_notes
from at_k.cli.formats import INTERVAL_NAME, INTERVAL_SCOPE
from at_k.estimates import Estimate
from at_k.runs.comparison import Difference, read_differences

from .charts import Chart
from .request import Comparison, Progress
from .sentences import interval_notes, percent
from .space import Options, Run, interval_method


def escape(text: str) -> str:
    """Return HTML that shows the text as it is, also if it has tags or template expressions."""
    return re.sub(r"[^\w\s.,:;()%/=+@^'-]", lambda found: f"&#{ord(found[0])};", text)


def result_html(sentence: str, verdict: str, note: str) -> str:
    """Return the sentence with its numbers emphasized, the verdict of a comparison, and the note.

    Screen readers read a new result aloud.
    """
    emphasized = re.sub(
        r"\b[\d.]+ %(?! interval)|(?<![\w.@^])\d\.\d+\b",
        r"<strong>\g<0></strong>",
        escape(sentence),
    )
    compared = f'<p class="verdict">{escape(verdict)}</p>' if verdict else ""
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


def caption_html(chart: Chart) -> str:
    """Return the title and the explanation of a chart."""
    return f'<h3>{escape(chart.title)}</h3><p class="caption">{escape(chart.caption)}</p>'


def score_table_html(runs: Sequence[Run], options: Options) -> str:
    """Return the table of the scores that all runs have, with their intervals and what these are.

    A row is a score. With several runs, the interval is below the score, in the same cell.
    """
    estimates = [run.estimates() for run in runs]
    keys = [key for key in estimates[0] if all(key in of_run for of_run in estimates)]
    has_intervals = any(interval_method(of_run[key]) for of_run in estimates for key in keys)
    several = len(runs) > 1
    headers = ["", *(_label_html(run.label) if several else "score" for run in runs)]
    if has_intervals and not several:
        headers.append(f"{percent(options['confidence'])} interval")
    rows = []
    for key in keys:
        cells = [escape(key)]
        for of_run in estimates:
            score = f"{of_run[key].score:.4f}"
            if several and has_intervals:
                cells.append(f"{score}<small>{_limits(of_run[key])}</small>")
            else:
                cells += [score, _limits(of_run[key])] if has_intervals else [score]
        rows.append(cells)
    notes = interval_notes(runs, keys, options["confidence"]) if has_intervals else []
    note = f'<p class="caption">{escape(" ".join(notes))}</p>' if notes else ""
    return _table_html(headers, rows) + note


def comparison_html(comparison: Comparison, labels: Sequence[str], confidence: float) -> str:
    """Return the table of the differences between runs, and what its limits are."""
    level = percent(confidence)
    if comparison.board is not None:
        headers = ["", comparison.key, "rank", "letters"]
        rows = [
            [
                _label_html(row["run"]),
                f"{row['score']:.4f}<small>{row['lo']:.3f} to {row['hi']:.3f}</small>",
                f"{row['rank']}<small>{row['rank_lo']} to {row['rank_hi']}</small>",
                row["letters"],
            ]
            for row in comparison.board["runs"]
        ]
        note = leaderboard_notes(comparison.board, for_paper=True)
        return _comparison_html(headers, rows, note.replace(f"{level} CI", "Below a score"))
    first, second = map(_label_html, labels)
    measures = [read_differences(scores) for scores in comparison.differences]
    has_band = any(len(differences) > 1 for differences in measures)
    headers = ["", first, second, "difference", *["band"] * has_band]
    rows = []
    for differences in measures:
        for shown in _shown(differences, comparison.key):
            band = _signed_limits(shown.band) if len(differences) > 1 else ""
            cells = [escape(shown.key), f"{shown.a:.4f}", f"{shown.b:.4f}"]
            limits = f"<small>{_signed_limits(shown.interval)}</small>"
            cells.append(f"{_signed(shown.score)}{limits}")
            rows.append([*cells, *[f"<small>{band}</small>"] * has_band])
    note = (
        f"Difference: {labels[1]} minus {labels[0]}, and its {level} "
        f"{INTERVAL_NAME[comparison.interval]} {INTERVAL_SCOPE[comparison.interval]}."
    )
    if has_band:
        note += f" Band: simultaneous {level} confidence band over all k."
    return _comparison_html(headers, rows, note)


def _label_html(label: str) -> str:
    """Return the label of a run, which can break after each underscore."""
    return escape(label).replace("_", "_<wbr>")


def _comparison_html(headers: list[str], rows: list[list[str]], note: str) -> str:
    table = _table_html(headers, rows)
    return f'<h3>Comparison</h3>{table}<p class="caption">{escape(note)}</p>'


def _shown(differences: Sequence[Difference], selected: str) -> list[Difference]:
    """Return the differences at powers of two, and that of the selected k."""
    return [
        x
        for x in differences
        if len(differences) == 1
        or x.key == selected
        or (isinstance(x.k, int) and x.k & (x.k - 1) == 0)
    ]


def _signed(value: float) -> str:
    return f"{round(value, 4) + 0.0:+.4f}".replace("-", "&minus;")


def _signed_limits(limits: tuple[float, float]) -> str:
    lo, hi = limits
    return f"{lo:+.3f} to {hi:+.3f}".replace("-", "&minus;")


def _limits(estimate: Estimate) -> str:
    """Return the confidence limits of a score as text: "none" if it has none."""
    method, interval = interval_method(estimate), estimate.interval
    if interval is None or method.startswith("none"):
        return "none"
    return f"{interval.lo:.3f} to {interval.hi:.3f}"


def _table_html(headers: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{header}</th>' for header in headers)
    body = ""
    for name, *cells in rows:
        values = "".join(f"<td>{cell}</td>" for cell in cells)
        body += f'<tr><th scope="row">{name}</th>{values}</tr>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="numbers">{table}</div>'
