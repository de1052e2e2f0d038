"""List the questions of an answer, each with its samples, marked as correct or incorrect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from at_k.cli.formats import Scale, csv_text

from .describing import breakable, escape, number_html, scale_of
from .request import Answer
from .space import Run

_MAX_HTML = 1_000_000  # the size of the list in characters
_MAX_TEXT, _MAX_SAMPLE = 120, 1_000  # characters of a text in a row, and of a sample
_MAX_MARKS = 64
_DIFFERENCE = "difference"
_MARKS: dict[float | None, str] = {0: "\u2717", 1: "\u2713", None: "?"}
_FILTERS: dict[str, Callable[[float], bool]] = {
    "All correct": lambda share: share == 1,
    "Some correct": lambda share: 0 < share < 1,
    "None correct": lambda share: share == 0,
}
"""The filters of questions, by name. Each takes the mean outcome of the samples of a question."""


@dataclass(frozen=True)
class Row:
    """Describe a question in the list.

    Attributes:
        index: the index of the question.
        name: its name, or its number from 1.
        numbers: its scores and their difference by heading, as the page prints them.
        text: the marks of the samples of one run; of several runs, the text of the question.
        filter_name: the filter that it passes, or "" if its mean outcome is not from 0 to 1.
    """

    index: int
    name: str
    numbers: dict[str, str]
    text: str
    filter_name: str


def question_rows(answer: Answer) -> list[Row]:
    """Return the rows of the questions, with the most important score of each run.

    If there are several runs, the headings are their labels. The questions with the largest
    difference of two runs are first.
    """
    runs, scale = _shown_runs(answer), scale_of(answer.runs)
    key, scores = _scores_of_questions(answer, runs)
    headings = [run.label for run in runs]
    if len(runs) == 1:
        headings = [f"{key}{scale.heading.removeprefix('Score')}"]
    columns = dict(zip(headings, scores, strict=False))
    if len(scores) != 2:
        return [_row(answer, i, scale, columns) for i in range(len(answer.questions))]
    columns = {_DIFFERENCE: [b - a for a, b in zip(*scores, strict=True)]} | columns
    largest_first = np.argsort(-np.abs(columns[_DIFFERENCE]), kind="stable").tolist()
    return [_row(answer, i, scale, columns) for i in largest_first]


def _row(answer: Answer, index: int, scale: Scale, columns: Mapping[str, list[float]]) -> Row:
    """Return the row of a question. `columns` has the numbers of all questions by heading."""
    runs = _shown_runs(answer)
    numbers = {
        heading: scale.number(column[index], sign=heading == _DIFFERENCE)
        for heading, column in columns.items()
    }
    text = _shortened(answer.texts[index], _MAX_TEXT)
    if len(runs) == 1:
        text = f"{_summary(runs[0], index)}  {_marks(runs[0], index)}".strip()
    scored = [x for run in runs for x in run.rewards[index] if x is not None]
    share = sum(scored) / len(scored) if scored else 0.0
    filter_name = next((x for x in _FILTERS if _FILTERS[x](share)), "")
    return Row(index, _shortened(answer.questions[index], _MAX_TEXT), numbers, text, filter_name)


def _shown_runs(answer: Answer) -> list[Run]:
    """Return all runs if they are compared, or else only the first: questions may differ."""
    return answer.runs if answer.comparison is not None else answer.runs[:1]


def _scores_of_questions(answer: Answer, runs: Sequence[Run]) -> tuple[str, list[list[float]]]:
    """Return (key, scores), where `scores` has a list for each run with the score of each question.

    The key is the first main score that all runs have per question. Return ("", []) without any.
    """
    by_run = []
    for run in runs:
        per_question = [result.get("per_question", {}) for result in run.results.values()]
        by_run.append({key: x for scores in per_question for key, x in scores.items()})
    for key in answer.main_scores:
        if all(key in by_key for by_key in by_run):
            return key, [by_key[key] for by_key in by_run]
    return "", []


def _summary(run: Run, index: int) -> str:
    """Return how many scored samples are correct, "5 of 8"; or the mean reward, "" without any."""
    scored = [reward for reward in run.rewards[index] if reward is not None]
    if run.is_binary:
        return f"{sum(scored):.0f} of {len(scored)}"
    return f"{sum(scored) / len(scored):.3f}" if scored else ""


def _marks(run: Run, index: int) -> str:
    """Return the mark or the reward of each sample in one text; "" if the input has only counts."""
    if _has_counts(run):
        return ""
    rewards = run.rewards[index]
    dots = ".." if len(rewards) > _MAX_MARKS else ""
    separator = "" if run.is_binary else "  "
    return separator.join(_mark(run, reward) for reward in rewards[:_MAX_MARKS]) + dots


def _mark(run: Run, reward: float | None) -> str:
    """Return the mark of a sample: a tick or a cross, or its reward, or ? if it is not scored."""
    return _MARKS[reward] if run.is_binary or reward is None else f"{reward:g}"


def _has_counts(run: Run) -> bool:
    """Return whether the input has numbers of samples with each outcome or answer."""
    return isinstance(run.samples["predictions"], dict)


def _texts(run: Run, index: int) -> list[str]:
    """Return the text of each sample of a question, or "" if the input has only its outcome."""
    if _has_counts(run):
        return [""] * len(run.rewards[index])
    return [x if isinstance(x, str) else "" for x in run.samples["predictions"][index]]


def _shortened(text: str, max_characters: int) -> str:
    """Cut a text after `max_characters`. Characters that UTF-8 cannot encode become "?"."""
    text = text[: max_characters + 1].encode(errors="replace").decode()
    return text if len(text) <= max_characters else f"{text[:max_characters]}.."


# --- HTML -----------------------------------------------------------------------------------


def questions_html(answer: Answer) -> str:
    """Return the first questions, as far as they fit, as HTML. Each opens to show its samples.

    The style sheet of the page hides the questions that the selected filter excludes.
    """
    rows, (question, sample) = question_rows(answer), answer.space.nouns
    shown, size = [], 0
    for row in rows:
        if size < _MAX_HTML:
            shown.append(_row_html(answer, row))
            size += len(shown[-1])
    last, kind = f"{sample}s", "one"
    if len(_shown_runs(answer)) > 1:
        last, kind = "text" if any(answer.texts) else "", "several"
    head = _cells_html([question, *map(breakable, rows[0].numbers), last])
    columns = f"--numbers: {len(rows[0].numbers)}"
    return (
        f'<section id="questions"><h2>{question.capitalize()}s</h2>'
        f'<p class="caption">{escape(_caption(answer, len(shown)))}</p>'
        f'{_filters_html(answer)}<div class="list {kind}" style="{columns}">'
        f'<div class="head">{head}</div>{"".join(shown)}</div></section>'
    )


def _caption(answer: Answer, number_shown: int) -> str:
    """Return sentences about the list, of which the first `number_shown` questions are shown."""
    (question, sample), total = answer.space.nouns, len(answer.questions)
    end = f": {_MARKS[1]} correct, {_MARKS[0]} incorrect." if answer.runs[0].is_binary else "."
    sentences = [f"Open a {question} to read its {sample}s{end}"]
    if answer.comparison is not None:
        key, _ = _scores_of_questions(answer, answer.runs)
        unit = scale_of(answer.runs).heading.removeprefix("Score")
        sentences += [f"The column of a run has its {key}{unit}."] if key else []
    elif len(answer.runs) > 1:
        sentences.append(f"The {question}s of {answer.runs[0].label}.")
    if number_shown < total:
        sentences.append(f"The first {number_shown:,} of {total:,} {question}s: a file has all.")
    return " ".join(sentences)


def _filters_html(answer: Answer) -> str:
    """Return a choice of filters as HTML, without labels for verdicts, which cannot be correct."""
    labels = "".join(
        f'<label><input type="radio" name="filter" value="{name}"'
        f"{' checked' if name == 'All' else ''}>{name}</label>"
        for name in ("All", *_FILTERS)
        if answer.space.has_references
    )
    return f'<div class="filter" role="radiogroup" aria-label="Filter">{labels}</div>'


def _cells_html(cells: Sequence[str]) -> str:
    """Return the cells of a row as HTML: a name, numbers, and a text."""
    return "".join(f"<span>{cell}</span>" for cell in cells)


def _row_html(answer: Answer, row: Row) -> str:
    """Return a question as HTML: its row, and what shows below the row when it is open."""
    index, numbers = row.index, map(number_html, row.numbers.values())
    cells = _cells_html([escape(row.name), *numbers, escape(row.text)])
    text = escape(_shortened(answer.texts[index], _MAX_SAMPLE))
    about = f"<p>{text}</p>" if text else ""
    references = answer.runs[0].samples.get("references")
    if references is not None:
        reference = escape(_shortened(str(references[index]), _MAX_SAMPLE))
        about += f"<p>Reference: <code>{reference}</code>, checked with {answer.checker}</p>"
    samples = "".join(_samples_html(answer, run, index) for run in _shown_runs(answer))
    return (
        f'<details class="{row.filter_name.lower()}"><summary>{cells}</summary>'
        f'{about}<div class="runs">{samples}</div></details>'
    )


def _samples_html(answer: Answer, run: Run, index: int) -> str:
    """Return the samples of a question in one run as HTML. The page shows runs side by side."""
    title = f"<h3>{escape(run.label)}: {_summary(run, index)}</h3>" if len(answer.runs) > 1 else ""
    if _has_counts(run):
        return f"<div>{title}<p>The input has only the numbers of its samples.</p></div>"
    items = ""
    for sample, reward in zip(run.samples["predictions"][index], run.rewards[index], strict=True):
        items += f"<li>{_mark(run, reward)}"
        if sample is not None and (answer.checker is not None or isinstance(sample, str)):
            items += f" <code>{escape(_shortened(str(sample), _MAX_SAMPLE))}</code>"
    return f'<div>{title}<ol tabindex="0">{items}</ol></div>'


def samples_csv(answer: Answer) -> str:
    """Return CSV with a row for each sample: run, question, reference, text and outcome."""

    def rows() -> Iterator[list[Any]]:
        yield ["run", answer.space.nouns[0], "reference", answer.space.nouns[1], "outcome"]
        for run in _shown_runs(answer):
            references = run.samples.get("references") or [""] * len(run.rewards)
            for index, rewards in enumerate(run.rewards):
                start = [run.label, answer.questions[index], str(references[index])]
                for text, reward in zip(_texts(run, index), rewards, strict=True):
                    yield [*start, text, "" if reward is None else f"{reward:g}"]

    return csv_text(rows())
