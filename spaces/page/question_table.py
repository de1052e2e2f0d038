"""The table of questions, and the samples of a question."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from at_k.checkers.numbers import read_response

from .markup import escape
from .request import Answer
from .sentences import scale_of
from .space import Run, Space

_LONGEST_TEXT = 120
_LONGEST_SAMPLE = 1_000
_MAX_SCORES = 4
_LONGEST_EXPONENT = 12

DIFFERENCE, GIVEN, LOWEST = "Largest difference first", "As given", "Lowest score first"


def question_orders(answer: Answer) -> list[str]:
    """Return the orders that the table of questions can have, that of a new answer first."""
    return [*([DIFFERENCE] if len(answer.runs) == 2 else []), GIVEN, LOWEST]


def question_headers(space: Space, answer: Answer) -> list[str]:
    """Return the headers of the table of questions."""
    runs, unit = answer.runs, " (%)" if scale_of(answer.runs).percent else ""
    keys, several = _shown_keys(space, answer), len(runs) > 1
    summaries = [run.label if several else "correct" if run.is_binary else "mean" for run in runs]
    scores = [
        f"{key}{unit}, {run.label}" if several else key + unit for run in runs for key in keys
    ]
    difference = [f"difference in {key}{unit}" for key in keys[:1] if len(runs) == 2]
    text = ["text"] if any(answer.questions.texts) else []
    return ["#", space.row_noun, *difference, *summaries, *scores, *text]


def question_rows(space: Space, answer: Answer, order: str = "") -> list[list[Any]]:
    """Return a row for each question: its number and name, its outcomes, its scores, its text.

    Args:
        space: the Space.
        answer: the answer.
        order: one of `question_orders`, by default the first.
    """
    questions, runs, scale = answer.questions, answer.runs, scale_of(answer.runs)
    keys = _shown_keys(space, answer)
    scores = [_scores_of_questions(run)[key] for run in runs for key in keys]
    rows: list[list[Any]] = []
    changes, means = [], []
    for place, name in enumerate(questions.names):
        text = [_shortened(questions.texts[place], _LONGEST_TEXT)] if any(questions.texts) else []
        summaries = [
            _summary(_rewards(answer, outcomes[place]), run.is_binary)
            if place < len(outcomes)  # runs on different questions can have fewer
            else ""
            for run, outcomes in zip(runs, questions.outcomes.values(), strict=True)
        ]
        of_question = [score[place] if place < len(score) else None for score in scores]
        numbers = ["" if score is None else scale.number(score) for score in of_question]
        difference = []
        if len(runs) == 2 and keys:
            first, second = of_question[0], of_question[len(keys)]
            change = 0.0 if first is None or second is None else second - first
            changes.append(change)
            signed = scale.number(change, sign=True)
            difference = [signed.replace("-", "\N{MINUS SIGN}")]  # as in the table of scores
        of_runs = [score for score in of_question[:: len(keys) or 1] if score is not None]
        means.append(sum(of_runs) / len(of_runs) if of_runs else 0.0)
        name = _shortened(name, _LONGEST_TEXT)
        rows.append([place + 1, name, *difference, *summaries, *numbers, *text])
    orders = question_orders(answer)
    order = order if order in orders else orders[0]
    if order == DIFFERENCE and changes:
        rows.sort(key=lambda row: -abs(changes[row[0] - 1]))
    if order == LOWEST:
        rows.sort(key=lambda row: means[row[0] - 1])
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
    columns = [
        _samples_of_run(space, answer, run, place)
        for run in answer.runs
        if place < len(questions.outcomes[run.label])
    ]
    parts.append(f'<div class="runs">{"".join(columns)}</div>')
    return f'<div class="samples">{"".join(parts)}</div>'


def _samples_of_run(space: Space, answer: Answer, run: Run, place: int) -> str:
    """Return the samples of a question in one run. The page shows runs beside each other."""
    heading = f"<h4>{escape(run.label)}</h4>" if len(answer.runs) > 1 else ""
    rewards = _rewards(answer, answer.questions.outcomes[run.label][place])
    predictions = answer.samples[run.label]["predictions"]
    if isinstance(predictions, dict):
        return (
            f"<div>{heading}<p>{_summary(rewards, run.is_binary)} {space.cell_noun}s are correct. "
            f"The input has only their numbers.</p></div>"
        )
    words = [_word(reward, run.is_binary) for reward in rewards]
    items = "".join(
        f"<li><span>{word}</span>{_sample_html(sample, answer.checker)}</li>"
        for sample, word in zip(predictions[place], words, strict=True)
    )
    return f'<div>{heading}<ol tabindex="0">{items}</ol></div>'


def _shown_keys(space: Space, answer: Answer) -> list[str]:
    """Return the keys of the scores of single questions: those at the selected k, by weight."""
    by_run = [_scores_of_questions(run) for run in answer.runs]
    keys = [key for key in by_run[0] if all(key in scores for scores in by_run)]
    if "k" in answer.options:
        k, known = answer.options["k"], answer.runs[0].estimates_of_all_calls()
        keys = [key for key in keys if known[key].k == k and known[key].tau is None]
    main = [key for key in space.main_scores(answer.runs[0], answer.options) if key in keys]
    return list(dict.fromkeys([*main, *keys]))[: _MAX_SCORES // len(answer.runs)]


def _scores_of_questions(run: Run) -> dict[str, list[float]]:
    """Return the scores of the questions of all calls that have them, by their keys."""
    found: dict[str, list[float]] = {}
    for result in run.results.values():
        if isinstance(result, dict):
            found |= result.get("per_question", {})
    return found


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
    return f"{html} <small>{'no number' if number is None else escape(_plain(number))}</small>"


def _plain(number: str) -> str:
    """Return a number without an exponent, unless it needs one: "10" for "1E+1"."""
    exponent = number.partition("E")[2]
    if not exponent or abs(int(exponent)) > _LONGEST_EXPONENT:
        return number
    return f"{Decimal(number):f}"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}.."
