"""Write the HTML of an answer. Text of visitors is escaped."""

import re

from at_k.cli.formats import Cells
from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from .charts import charts_of, page_svg
from .describing import breakable, escape, number_html
from .python_code import python_code
from .questions import questions_html
from .request import Answer
from .score_tables import views_of
from .sharing import link_text


def result_html(answer: Answer) -> str:
    """Return HTML of the result in words, and of the notes.

    The script of the page writes the request, which the HTML has too, to the address of the page.
    """
    clauses = [answer.space.clause(run, answer.options) for run in answer.runs]
    notes, verdict = [*answer.notes], ""
    sentence = f"{clauses[0][0].upper()}{clauses[0][1:]}."
    if len(clauses) > 1:
        labelled = zip(answer.runs, clauses, strict=True)
        sentence = " ".join(f"{escape(run.label)}: {clause}." for run, clause in labelled)
        verdict = notes.pop() if answer.comparison is None else answer.comparison.view.sentence()
        if answer.comparison is not None and len(clauses) > 2:
            sentence, verdict = escape(verdict), ""  # it says what is most important
    # Numbers with their units and keys such as G-Pass@4_0.5 are not broken.
    whole = re.sub(r"[\d.]+ %|[\w-]+@[\w.]+", r"<span>\g<0></span>", escape(verdict))
    compared = f'<p class="verdict">{whole}</p>' if verdict else ""
    link = link_text(answer.request)
    return (  # screen readers read a new status aloud
        f'<div role="status" data-link="{link}"><p class="sentence">{sentence}</p>{compared}'
        f'</div><p class="note">{escape(" ".join(notes))}</p>'
    )


def details_html(answer: Answer) -> str:
    """Return HTML of what is below the result: charts, tables, questions, code and the link.

    A click in the code selects all of it.
    """
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


def html_of(markdown: str) -> str:
    """Return the HTML of a text in Markdown. Formulas between dollar signs become MathML."""
    html = re.sub(r"\$\$(.+?)\$\$", _block_formula, markdown, flags=re.DOTALL)
    # Markdown takes <math> at the start of a line for a block of its own, and <span> for text.
    html = re.sub(r"\$([^$]+?)\$", lambda match: f"<span>{_mathml(match[1])}</span>", html)
    return MarkdownIt().enable("table").render(html)


def _block_formula(match: re.Match[str]) -> str:
    """Return the MathML of a matched formula as a block of its own."""
    return f'<div class="formula">{_mathml(match[1], display="block")}</div>'


def _mathml(formula: str, display: str = "inline") -> str:
    """Return the MathML of a formula in LaTeX."""
    return convert(" ".join(formula.split()), display=display)
