"""Write the HTML of an answer. Text of visitors is escaped."""

import re
from collections.abc import Sequence
from functools import partial

from at_k.cli.formats import Cells
from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from .charts import charts_of, page_svg
from .describing import score_html
from .files import python_code, views_of
from .request import Answer, link_text
from .space import Run

_MAX_LIST = 1_000_000  # the size of the list of questions in characters
_MAX_TEXT, _MAX_SAMPLE = 120, 1_000  # characters of a text in a row, and of a sample
_MAX_MARKS = 64
_MARKS: dict[float | None, str] = {0: "\u2717", 1: "\u2713", None: "?"}
_FILTERS = _ALL, _SOME, _NONE = "All correct", "Some correct", "None correct"


def result_html(answer: Answer) -> str:
    """Return HTML of the result in words, of the notes, and of the link for the page's script."""
    show = partial(score_html, scale=answer.scale)
    clauses = [answer.space.clause(run, answer.options, show) for run in answer.runs]
    notes, verdict = [*answer.notes], ""
    sentence = f"{clauses[0][0].upper()}{clauses[0][1:]}."
    if len(clauses) > 1:
        labelled = zip(answer.runs, clauses, strict=True)
        sentence = " ".join(f"{escape(run.label)}: {clause}." for run, clause in labelled)
        # The last note on runs that are not compared says why.
        verdict = notes.pop() if answer.comparison is None else answer.comparison.view.sentence()
        if answer.comparison is not None and len(clauses) > 2:
            sentence, verdict = escape(verdict), ""  # it says what is most important
    # Numbers with their units and keys such as G-Pass@4_0.5 are not broken.
    whole = re.sub(r"[\d.]+ %|[\w-]+@[\w.]+", r"<span>\g<0></span>", escape(verdict))
    compared = f'<p class="verdict">{whole}</p>' if verdict else ""
    return (  # screen readers read a new status aloud
        f'<div role="status" data-link="{link_text(answer.request)}">'
        f'<p class="sentence">{sentence}</p>{compared}</div>'
        f'<p class="note">{escape(" ".join(notes))}</p>'
    )


def details_html(answer: Answer) -> str:
    """Return HTML of what is below the result: charts, tables, questions, code and the link."""
    charts = "".join(
        f"<section><header><h2>{escape(chart.title)}</h2>"
        f'<p class="caption">{escape(chart.caption)}</p></header>'
        f'<div class="chart">{page_svg(chart, answer)}</div></section>'
        for chart in charts_of(answer)
    )
    return (
        f'<div class="charts">{charts}</div>{_scores_html(answer)}{questions_html(answer)}'
        '<details id="code"><summary>Python code for these scores and charts</summary>'
        f'<pre tabindex="0" aria-label="Python code">{escape(python_code(answer))}</pre></details>'
        '<p id="link"><button type="button" onclick="page.copyLink(this)">Copy link</button></p>'
    )


def problem_html(problem: str) -> str:
    """Return HTML of a box with the text `problem`, which says why there is no result."""
    return f'<div class="problem" role="alert">{escape(problem)}</div>'


def _scores_html(answer: Answer) -> str:
    """Return HTML of the tables of scores, and of notes that explain their numbers."""
    views = views_of(answer)
    html = "<h2>Scores</h2>"
    for view in views:
        # `input` has the label of the run if there are several.
        html += "".join(f"<h3>{breakable(label)}</h3>" for label in view.input)
        html += "".join(map(_table_html, view.paper_tables()))
    notes = dict.fromkeys(note for view in views for note in view.notes(for_paper=True))
    return f'{html}<p class="caption">{escape(" ".join(notes))}</p>'


def _table_html(table: Cells) -> str:
    """Return HTML of a table. Its first row has headings. Limits in brackets are printed small."""
    head = "".join(f'<th scope="col">{breakable(heading)}</th>' for heading in table[0])
    body = ""
    for name, *cells in table[1:]:
        numbers = map(number_html, cells)
        values = [re.sub(r"\(.*\)", r"<small>\g<0></small>", number) for number in numbers]
        row = "".join(f"<td>{value}</td>" for value in values)
        body += f'<tr><th scope="row">{breakable(name)}</th>{row}</tr>'
    table_html = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="numbers">{table_html}</div>'


# --- Questions ------------------------------------------------------------------------------


def questions_html(answer: Answer) -> str:
    """Return the list of the questions as HTML, as many as fit. A row opens to show its samples."""
    runs, (question, sample) = _shown_runs(answer), answer.space.nouns
    heading, scores = _scores_of_questions(answer, runs)
    headings = [run.label for run in runs] if len(runs) > 1 else [heading]
    number, indices = answer.scale.number, [*range(len(runs[0].names))]
    pairs = zip(headings, scores, strict=False)  # There may be no scores.
    columns = [(x, [*map(number, column)]) for x, column in pairs]
    if len(scores) == 2:
        differences = [b - a for a, b in zip(*scores, strict=True)]
        columns.insert(0, ("difference", [number(x, sign=True) for x in differences]))
        indices.sort(key=lambda index: -abs(differences[index]))  # the largest ones first
    rows = _rows_that_fit(answer, columns, indices)
    last, kind = f"{sample}s", ""
    if len(runs) > 1:
        last, kind = "text" if any(runs[0].texts) else "", "several"
    head = _cells_html([question, *(breakable(heading) for heading, _ in columns), last])
    return (
        f'<section id="questions"><h2>{question.capitalize()}s</h2>'
        f'<p class="caption">{escape(_caption(answer, len(rows)))}</p>{_filters_html(runs)}'
        f'<div class="list {kind}" style="--numbers: {len(columns)}">'
        f'<div class="head">{head}</div>{"".join(rows)}</div></section>'
    )


def _rows_that_fit(
    answer: Answer, columns: Sequence[tuple[str, list[str]]], indices: Sequence[int]
) -> list[str]:
    """Return the HTML of the first questions in `indices`, with the texts of their columns."""
    rows: list[str] = []
    size = 0
    for index in indices:
        rows.append(_row_html(answer, index, [texts[index] for _, texts in columns]))
        size += len(rows[-1])
        if size > _MAX_LIST:
            break
    return rows


def _caption(answer: Answer, number_shown: int) -> str:
    """Return sentences about the list, of which the first `number_shown` questions are shown."""
    runs, (question, sample) = _shown_runs(answer), answer.space.nouns
    total = len(runs[0].names)
    heading, _ = _scores_of_questions(answer, runs)  # "" if questions have no scores
    end = f": {_MARKS[1]} correct, {_MARKS[0]} incorrect." if runs[0].is_binary else "."
    sentences = [f"Open a row to read the {sample}s of its {question}{end}"]
    if len(runs) > 1 and heading:
        sentences.append(f"The column of a run has its {heading}.")
    elif len(answer.runs) > len(runs):
        sentences.append(f"The {question}s of {runs[0].label}.")
    if number_shown < total:
        sentences.append(f"The first {number_shown:,} of {total:,} {question}s: a file has all.")
    return " ".join(sentences)


def _shown_runs(answer: Answer) -> list[Run]:
    """Return all runs if they are compared, or else only the first: questions may differ."""
    return answer.runs if answer.comparison is not None else answer.runs[:1]


def _scores_of_questions(answer: Answer, runs: Sequence[Run]) -> tuple[str, list[list[float]]]:
    """Return (heading, scores): the first main score that all runs have per question.

    `scores` has a list for each run. Return ("", []) if there is no such score.
    """
    by_run: list[dict[str, list[float]]] = [{} for _ in runs]
    for columns, run in zip(by_run, runs, strict=True):
        for result in run.results.values():
            columns |= result.get("per_question", {})
    main = answer.space.main_scores(answer.runs[0], answer.options)
    key = next((x for x in main if all(x in columns for columns in by_run)), "")
    unit = " (%)" if answer.scale.percent else ""
    return (f"{key}{unit}", [columns[key] for columns in by_run]) if key else ("", [])


def _filter_name(runs: Sequence[Run], index: int) -> str:
    """Return the filter that a question passes, or "" for rewards, which no filter is for."""
    if not all(run.is_binary for run in runs):
        return ""
    outcomes = {x for run in runs for x in run.rewards[index]} - {None}
    return _SOME if len(outcomes) == 2 else _ALL if 1 in outcomes else _NONE


def _filters_html(runs: Sequence[Run]) -> str:
    """Return a choice of filters as HTML, with the number of questions that pass; "" for rewards.

    The style sheet of the page hides those that do not pass.
    """
    passed = [_filter_name(runs, index) for index in range(len(runs[0].names))]
    if not passed[0]:
        return ""
    numbers = {"All": len(passed)} | {name: passed.count(name) for name in _FILTERS}
    labels = "".join(
        f'<label><input type="radio" name="filter" value="{name}"'
        f"{' checked' if name == 'All' else ''}>{name} ({number:,})</label>"
        for name, number in numbers.items()
    )
    return f'<div class="filter" role="radiogroup" aria-label="Filter">{labels}</div>'


def _cells_html(cells: Sequence[str]) -> str:
    """Return the cells of a row as HTML: a name, numbers, and a text."""
    return "".join(f"<span>{cell}</span>" for cell in cells)


def _row_html(answer: Answer, index: int, numbers: Sequence[str]) -> str:
    """Return a question as HTML: its row, and what shows below the row when it is open."""
    runs, texts = _shown_runs(answer), answer.runs[0].texts
    name, last_cell = runs[0].names[index], _shortened(texts[index], _MAX_TEXT)
    if len(runs) == 1:
        last_cell = f"{_summary(runs[0], index)}{_marks(runs[0], index)}"
    shown = escape(_shortened(name, _MAX_TEXT))
    cells = _cells_html([shown, *map(number_html, numbers), escape(last_cell)])
    text = escape(_shortened(texts[index], _MAX_SAMPLE))
    about = f"<p>{text}</p>" if text else ""
    if "references" in runs[0].samples:
        reference = _shortened(str(runs[0].samples["references"][index]), _MAX_SAMPLE)
        checked = f"checked with {answer.checker}</p>"
        about += f"<p>Reference: <code>{escape(reference)}</code>, {checked}"
    samples = "".join(_samples_html(answer, run, index) for run in runs)
    return (
        f'<details class="{_filter_name(runs, index).lower()}"><summary>{cells}</summary>'
        f'{about}<div class="runs">{samples}</div></details>'
    )


def _samples_html(answer: Answer, run: Run, index: int) -> str:
    """Return the samples of a question in one run as HTML. The page shows runs side by side."""
    title = f"<h3>{escape(run.label)}: {_summary(run, index)}</h3>" if len(answer.runs) > 1 else ""
    if run.has_counts:
        return f"<div>{title}<p>The input has only the numbers of its samples.</p></div>"
    items = ""
    for text, reward in zip(run.texts_of_samples(index), run.rewards[index], strict=True):
        code = f" <code>{escape(_shortened(text, _MAX_SAMPLE))}</code>" if text else ""
        items += f"<li>{_mark(run, reward)}{code}"
    return f'<div>{title}<ol tabindex="0">{items}</ol></div>'


def _summary(run: Run, index: int) -> str:
    """Return how many scored samples are correct, "5 of 8"; or "mean 0.625", "" without any."""
    scored = [reward for reward in run.rewards[index] if reward is not None]
    if run.is_binary:
        return f"{sum(scored):.0f} of {len(scored)}"
    return f"mean {sum(scored) / len(scored):.3f}" if scored else ""


def _marks(run: Run, index: int) -> str:
    """Return the outcomes of samples as text to append to a `_summary`; "" for counts."""
    if run.has_counts:
        return ""
    rewards = run.rewards[index]
    dots = ".." if len(rewards) > _MAX_MARKS else ""
    start, separator = ("  ", "") if run.is_binary else (": ", ", ")
    return start + separator.join(_mark(run, x) for x in rewards[:_MAX_MARKS]) + dots


def _mark(run: Run, reward: float | None) -> str:
    """Return the mark of a sample: a tick or a cross, or its reward, or ? if it is not scored."""
    return _MARKS[reward] if run.is_binary or reward is None else f"{reward:g}"


def _shortened(text: str, max_characters: int) -> str:
    """Cut a text after `max_characters`. Characters that UTF-8 cannot encode become "?"."""
    text = text[: max_characters + 1].encode(errors="replace").decode()
    return text if len(text) <= max_characters else f"{text[:max_characters]}.."


# --- Texts ----------------------------------------------------------------------------------


def escape(text: str) -> str:
    """Return HTML that shows a text literally, with tags and template expressions escaped."""
    return re.sub(r"[^\w\s.,:;()%/=+@^'-]", lambda match: f"&#{ord(match[0])};", text)


def breakable(label: str) -> str:
    """Return a text as HTML: lines break after underscores, but not within G-Pass@4_0.5."""
    return re.sub(
        r"(m?G-Pass@[\w.]+)|_",
        lambda match: f"<span>{match[1]}</span>" if match[1] else "_<wbr>",
        escape(label),
    )


def number_html(number: str) -> str:
    """Return a number as HTML, with the sign for minus in place of a hyphen."""
    return escape(number).replace("-", "&minus;")


def html_of(markdown: str) -> str:
    """Return the HTML of a text in Markdown. Formulas between dollar signs become MathML."""
    html = re.sub(r"\$\$(.+?)\$\$|\$(.+?)\$", _formula_html, markdown, flags=re.DOTALL)
    return MarkdownIt().enable("table").render(html)


def _formula_html(match: re.Match[str]) -> str:
    """Return the MathML of a matched formula, which is a block of its own or part of a line."""
    block, inline = match.groups()
    if block:
        formula = convert(" ".join(block.split()), display="block")
        return f'<div class="formula">{formula}</div>'
    # Markdown takes <math> at the start of a line for a block of its own, and <span> for text.
    return f"<span>{convert(' '.join(inline.split()))}</span>"
