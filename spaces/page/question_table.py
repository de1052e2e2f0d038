"""The table of questions, and the samples of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .markup import escape
from .request import Answer
from .space import Space

_LONGEST_TEXT = 120
_LONGEST_SAMPLE = 1_000


def question_headers(space: Space, answer: Answer) -> list[str]:
    """Return the headers of the table of questions."""
    of_runs = list(answer.questions.outcomes)
    if len(of_runs) == 1:
        of_runs = ["correct" if _are_binary(answer, of_runs[0]) else "mean"]
    text = ["text"] if any(answer.questions.texts) else []
    return ["#", space.row_noun, *of_runs, *text]


def question_rows(answer: Answer) -> list[list[Any]]:
    """Return a row for each question: its number, its name, a cell for each run, and its text."""
    questions = answer.questions
    binary = {label: _are_binary(answer, label) for label in questions.outcomes}
    rows: list[list[Any]] = []
    for place, name in enumerate(questions.names):
        text = [_shortened(questions.texts[place], _LONGEST_TEXT)] if any(questions.texts) else []
        cells = [
            _summary(outcomes[place], binary[label])
            for label, outcomes in questions.outcomes.items()
        ]
        rows.append([place + 1, _shortened(name, _LONGEST_TEXT), *cells, *text])
    return rows


def samples_html(space: Space, answer: Answer, place: int) -> str:
    """Return the samples of a question, and how each was checked.

    Args:
        space: the Space.
        answer: the answer.
        place: the place of the question, from 0.
    """
    questions = answer.questions
    parts = [f"<h3>{escape(space.row_noun.capitalize())} {escape(questions.names[place])}</h3>"]
    if questions.texts[place]:
        parts.append(f"<p>{escape(_shortened(questions.texts[place], _LONGEST_SAMPLE))}</p>")
    references = next(iter(answer.samples.values())).get("references")
    if references is not None:
        reference = _shortened(str(references[place]), _LONGEST_SAMPLE)
        parts.append(f"<p>Reference: <code>{escape(reference)}</code></p>")
    for label, outcomes in questions.outcomes.items():
        binary = _are_binary(answer, label)
        if len(questions.outcomes) > 1:
            parts.append(f"<h4>{escape(label)}</h4>")
        items = "".join(
            f"<li><span>{_word(outcome, binary)}</span> "
            f"<code>{escape(_shortened(str(sample), _LONGEST_SAMPLE))}</code></li>"
            for sample, outcome in zip(
                answer.samples[label]["predictions"][place], outcomes[place], strict=True
            )
        )
        parts.append(f"<ol>{items}</ol>")
    return f'<div class="samples">{"".join(parts)}</div>'


def _are_binary(answer: Answer, label: str) -> bool:
    outcomes = answer.questions.outcomes[label]
    return all(value in (0.0, 1.0, None) for row in outcomes for value in row)


def _summary(outcomes: Sequence[float | None], binary: bool) -> str:
    """Return "5 of 8", or the mean of outcomes other than 0 and 1."""
    scored = [outcome for outcome in outcomes if outcome is not None]
    if binary:
        return f"{sum(scored):.0f} of {len(scored)}"
    return f"{sum(scored) / len(scored):.3f}" if scored else ""


def _word(outcome: float | None, binary: bool) -> str:
    if outcome is None:
        return "not scored"
    if not binary:
        return f"{outcome:g}"
    return "correct" if outcome else "incorrect"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}.."
