"""What a page shows for an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .charts import Chart, charts_of
from .controls import Slider
from .downloads import Downloads
from .markup import code_html, result_html, table_html
from .python_code import python_code
from .question_table import question_headers, question_orders, question_rows
from .request import Answer, Request, Samples
from .score_tables import paper_sentence, score_tables
from .sentences import scale_of, sizes_note
from .sharing import LONGEST_LINK, shared_text
from .space import Space

_CHECKER_NOTES = {
    "exact_match": "Counted as correct: the sample equals the reference exactly.",
    "numeric": "Checked with numeric: the number that the sample gives equals the reference.",
    "math_verify": "Checked with math_verify: the sample is mathematically equal to the reference.",
}

_FEW = 0.05
"""The share of samples that equal their references below which another checker is suggested."""


@dataclass(frozen=True)
class View:
    """What the page shows for an answer.

    Attributes:
        result: HTML with the result in words, and a note on the samples.
        charts: the charts, in the order of the Space. None if the runs do not have one.
        table: HTML with the table of scores.
        scores_file: the path of the scores as JSON.
        link: what an address has after "#", or "" if it is too long.
        code: HTML with Python code that computes the scores again.
        question_headers: the headers of the table of questions.
        question_rows: its rows.
        question_orders: the orders that it can have.
    """

    result: str
    charts: list[Chart | None]
    table: str
    scores_file: str
    link: str
    code: str
    question_headers: list[str]
    question_rows: list[list[Any]]
    question_orders: list[str]

    @property
    def folder(self) -> str:
        """The folder of the answer, see `Downloads`."""
        return str(Path(self.scores_file).parent)


def make_view(space: Space, request: Request, answer: Answer, downloads: Downloads) -> View:
    """Return what the page of a Space shows for a request and its answer."""
    charts = charts_of(space, answer)
    tables = score_tables(space, answer)
    known = answer.runs[0].estimates()
    scores = [key for key, _ in tables[-1].rows if key in known]
    shared = shared_text(request)
    notes = " ".join(notes_of(space, request, answer))
    return View(
        result=result_html(*_sentences(space, answer), notes),
        charts=charts,
        table=f"<h2>Scores</h2>{''.join(map(table_html, tables))}{_units_html(answer)}",
        scores_file=str(downloads.keep(answer, shared)),
        link=shared if len(shared) <= LONGEST_LINK else "",
        code=code_html(python_code(space.metric, answer, scores, list(filter(None, charts)))),
        question_headers=question_headers(space, answer),
        question_rows=question_rows(space, answer),
        question_orders=question_orders(answer),
    )


def _units_html(answer: Answer) -> str:
    """Return what the numbers in files of scores are, if it is not what the page shows."""
    if not scale_of(answer.runs).percent:
        return ""
    text = "LaTeX and Markdown files have these percentages, JSON and CSV files shares from 0 to 1."
    return f'<p class="caption">{text}</p>'


def notes_of(space: Space, request: Request, answer: Answer) -> list[str]:
    """Return sentences on the samples: how they were read, and what to beware of."""
    notes = [sizes_note(answer.runs, space.row_noun, space.cell_noun)]
    samples = list(answer.samples.values())
    if any("references" in run for run in samples):
        notes.append(_CHECKER_NOTES[request.checker])
        if request.checker == "exact_match":
            notes += _exact_match_notes(space, samples)
    elif space.has_references:
        notes[0] = f"{notes[0][:-1]}, already graded."
    notes += [*_unscored_notes(space, samples), *answer.warnings]
    return notes + _lowered_notes(space, request, answer)


def _sentences(space: Space, answer: Answer) -> tuple[str, str]:
    """Return the result in words, and a sentence with limits that a paper can use."""
    sentence, for_paper = space.sentence(answer.runs, answer.options), paper_sentence(space, answer)
    if answer.comparison is not None and answer.comparison.board is not None:
        return for_paper, ""  # of many runs, the comparison says what is most important
    return sentence, for_paper


def _exact_match_notes(space: Space, runs: Iterable[Samples]) -> list[str]:
    """Return a suggestion if few samples equal their references."""
    equal = total = 0
    for run in runs:
        for row, reference in zip(run["predictions"], run["references"], strict=True):
            accepted = set(map(str, reference if isinstance(reference, list) else [reference]))
            equal += sum(str(sample) in accepted for sample in row)
            total += len(row)
    if equal >= _FEW * total:
        return []
    cell = space.cell_noun
    few = f"Only {equal:,} of {total:,} {cell}s do" if equal else f"No {cell} does"
    return [f"{few}. Try the checker numeric, which compares the number in each {cell}."]


def _unscored_notes(space: Space, runs: Iterable[Samples]) -> list[str]:
    """Return how many samples are None, which are not scored."""
    columns = [run["predictions"] for run in runs if isinstance(run["predictions"], list)]
    unscored = sum(row.count(None) for column in columns for row in column)
    if not unscored:
        return []
    noun = f"{space.cell_noun} is" if unscored == 1 else f"{space.cell_noun}s are"
    return [f"{unscored:,} {noun} empty and not scored."]


def _lowered_notes(space: Space, request: Request, answer: Answer) -> list[str]:
    """Return a sentence for each option that was lowered to the number of samples."""
    notes = []
    for control in space.controls:
        if isinstance(control, Slider):
            used, requested = answer.options[control.name], request.options[control.name]
            if used < requested:
                notes.append(
                    f"{control.label} was lowered to {used}, the smallest number of "
                    f"{space.cell_noun}s of any {space.row_noun}."
                )
    return notes
