"""The table of questions, and the samples of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from at_k.estimates import read_score
from at_k.inputs.numbers import read_response

from .markup import escape
from .request import Answer
from .space import Run, Space

_LONGEST_TEXT = 120
_LONGEST_SAMPLE = 1_000
_MAX_SCORES = 4


def question_headers(space: Space, answer: Answer) -> list[str]:
    """Return the headers of the table of questions."""
    several = len(answer.runs) > 1
    summaries = [
        run.label if several else "correct" if _are_binary(space, answer, run.label) else "mean"
        for run in answer.runs
    ]
    keys = _shown_keys(answer)
    scores = [f"{key}, {run.label}" if several else key for run in answer.runs for key in keys]
    text = ["text"] if any(answer.questions.texts) else []
    return ["#", space.row_noun, *summaries, *scores, *text]


def question_rows(space: Space, answer: Answer) -> list[list[Any]]:
    """Return a row for each question: its number and name, its outcomes, its scores, its text."""
    questions, keys = answer.questions, _shown_keys(answer)
    binary = {run.label: _are_binary(space, answer, run.label) for run in answer.runs}
    scores = [_scores_of_questions(run)[key] for run in answer.runs for key in keys]
    rows: list[list[Any]] = []
    for place, name in enumerate(questions.names):
        text = [_shortened(questions.texts[place], _LONGEST_TEXT)] if any(questions.texts) else []
        summaries = [
            _summary(_rewards(answer, outcomes[place]), binary[label])
            if place < len(outcomes)  # runs on different questions can have fewer
            else ""
            for label, outcomes in questions.outcomes.items()
        ]
        numbers = [f"{score[place]:.3f}" if place < len(score) else "" for score in scores]
        rows.append([place + 1, _shortened(name, _LONGEST_TEXT), *summaries, *numbers, *text])
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
        checked = f"checked with {answer.checker}"
        parts.append(f"<p>Reference: <code>{escape(reference)}</code>, {checked}</p>")
    for label, outcomes in questions.outcomes.items():
        if place >= len(outcomes):
            continue
        if len(questions.outcomes) > 1:
            parts.append(f"<h4>{escape(label)}</h4>")
        binary, rewards = _are_binary(space, answer, label), _rewards(answer, outcomes[place])
        predictions = answer.samples[label]["predictions"]
        if isinstance(predictions, dict):
            parts.append(
                f"<p>{_summary(rewards, binary)} {space.cell_noun}s are correct. The input has "
                f"only their numbers.</p>"
            )
            continue
        items = "".join(
            f"<li><span>{_word(reward, binary)}</span>{_sample_html(sample, answer.checker)}</li>"
            for sample, reward in zip(predictions[place], rewards, strict=True)
        )
        parts.append(f"<ol>{items}</ol>")
    return f'<div class="samples">{"".join(parts)}</div>'


def _shown_keys(answer: Answer) -> list[str]:
    """Return the keys of the scores of single questions: those at the selected k."""
    by_run = [_scores_of_questions(run) for run in answer.runs]
    keys = [key for key in by_run[0] if all(key in scores for scores in by_run)]
    if "k" in answer.options:
        scores = {key: read_score(key) for key in keys}
        keys = [key for key, x in scores.items() if x.k == answer.options["k"] and x.tau is None]
    return keys[: _MAX_SCORES // len(answer.runs)]


def _scores_of_questions(run: Run) -> dict[str, list[float]]:
    """Return the scores of the questions of all calls that have them, by their keys."""
    found: dict[str, list[float]] = {}
    for result in run.results.values():
        if isinstance(result, dict):
            found |= result.get("per_question", {})
    return found


def _are_binary(space: Space, answer: Answer, label: str) -> bool:
    """Return whether outcomes are shown as correct and incorrect, and not as numbers."""
    options, outcomes = answer.options, answer.questions.outcomes[label]
    if not space.has_references or options.get("w") or options.get("categories"):
        return False
    return all(value in (0.0, 1.0, None) for row in outcomes for value in row)


def _rewards(answer: Answer, outcomes: Sequence[float | None]) -> list[float | None]:
    """Return the reward of each outcome of a question, which is a category if there are rewards."""
    rewards = answer.options.get("w")
    if not rewards or not all(outcome in (None, *range(len(rewards))) for outcome in outcomes):
        return list(outcomes)
    return [None if outcome is None else rewards[int(outcome)] for outcome in outcomes]


def _summary(rewards: Sequence[float | None], binary: bool) -> str:
    """Return "5 of 8", or the mean of outcomes other than correct and incorrect."""
    scored = [reward for reward in rewards if reward is not None]
    if binary:
        return f"{sum(scored):.0f} of {len(scored)}"
    return f"{sum(scored) / len(scored):.3f}" if scored else ""


def _word(reward: float | None, binary: bool) -> str:
    if reward is None:
        return "not scored"
    if not binary:
        return f"{reward:g}"
    return "correct" if reward else "incorrect"


def _sample_html(sample: Any, checker: str | None) -> str:
    """Return a sample, unless it is the outcome itself, and the number that a checker read."""
    if sample is None or (checker is None and not isinstance(sample, str)):
        return ""
    html = f" <code>{escape(_shortened(str(sample), _LONGEST_SAMPLE))}</code>"
    if checker != "numeric":
        return html
    number = read_response(sample) if isinstance(sample, str) else str(sample)
    return f"{html} <small>{'no number' if number is None else escape(number)}</small>"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}.."
