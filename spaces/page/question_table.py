"""The questions and their samples, marked correct or not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from at_k.cli.formats import csv_text
from at_k.core.estimates import read_score

from .answer_html import escape
from .request import Answer
from .sentences import scale_of
from .space import Run, Space

_MAX_ROWS = 500
_LONGEST_TEXT = 120
_LONGEST_IN_ROW = 24
_SAMPLES_IN_ROW = 32
_LONGEST_SAMPLE = 1_000
_MAX_SCORES = 4
_MARKS = {0: "\u2717", 1: "\u2713", None: "?"}

ALL = "All"
FILTERS: dict[str, Callable[[float], bool]] = {
    ALL: lambda share: True,
    "All correct": lambda share: share == 1,
    "Some correct": lambda share: 0 < share < 1,
    "None correct": lambda share: share == 0,
}
"""Which questions a visitor can select, by the share of their samples that are correct."""


def question_rows(
    space: Space, answer: Answer, selected: str = ALL
) -> list[tuple[int, dict[str, str]]]:
    """Return for each question its index, and by headings its name, scores, samples and text.

    Of two runs, the questions with the largest differences are first.

    Args:
        space: the Space.
        answer: the answer.
        selected: one of `FILTERS`.
    """
    questions, runs, keys = answer.questions, _shown_runs(answer), _shown_keys(space, answer)
    is_shown = FILTERS.get(selected, FILTERS[ALL])
    rows = [i for i in range(len(questions)) if is_shown(_mean_reward(runs, i))]
    scores, scale = [_scores_of_questions(run) for run in runs], scale_of(answer.runs)
    unit, differences = " (%)" if scale.percent else "", _differences(scores, keys)
    if differences:
        rows.sort(key=lambda i: -abs(differences[i]))
    result = []
    for i in rows:
        cells = {space.row_noun: _shortened(questions[i], _LONGEST_TEXT)}
        if differences:
            cells[f"difference in {keys[0]}{unit}"] = scale.number(differences[i], sign=True)
        labels = [f", {run.label}" if len(runs) > 1 else "" for run in runs]
        for label, by_key in zip(labels, scores, strict=True):
            cells |= {f"{key}{unit}{label}": scale.number(by_key[key][i]) for key in keys}
        for label, run in zip(labels, runs, strict=True):
            cells[f"{space.cell_noun}s{label}"] = _samples_in_row(run, i)
        if any(answer.texts):
            cells["text"] = _shortened(answer.texts[i], _LONGEST_TEXT)
        result.append((i, cells))
    return result


def _differences(scores: Sequence[dict[str, list[float]]], keys: Sequence[str]) -> list[float]:
    """Return the first score of each question in the second of two runs minus that in the first."""
    if len(scores) != 2 or not keys:
        return []
    first, second = (by_key[keys[0]] for by_key in scores)
    return [b - a for a, b in zip(first, second, strict=True)]


def _shown_runs(answer: Answer) -> list[Run]:
    """Return the runs, or the first one if they have other questions."""
    return answer.runs if answer.comparison is not None else answer.runs[:1]


def questions_html(space: Space, answer: Answer, selected: str = ALL) -> str:
    """Return the table of questions as a grid, whose rows the script of the page lets select."""
    rows, body = question_rows(space, answer, selected), ""
    if not rows:
        return f'<p class="caption">No {space.row_noun} has such {space.cell_noun}s.</p>'
    kinds = {heading: _kind(space, heading) for _, cells in rows[:1] for heading in cells}
    for index, cells in rows[:_MAX_ROWS]:
        tab = "-1" if body else "0"  # arrow keys lead from the first row to the others
        texts = "".join(f'<td class="{kinds[x]}">{escape(text)}</td>' for x, text in cells.items())
        body += f'<tr data-index="{index}" tabindex="{tab}">{texts}</tr>'
    headings = "".join(
        f'<th scope="col" class="{kind}">{escape(heading)}</th>' for heading, kind in kinds.items()
    )
    more = ""
    if len(_shown_runs(answer)) < len(answer.runs):
        more = f"The {space.row_noun}s of {answer.runs[0].label}."
    if len(rows) > _MAX_ROWS:
        more += f" The first {_MAX_ROWS} of {len(rows):,} {space.row_noun}s: a download has all."
    return (
        f'<div class="numbers"><table role="grid"><thead><tr>{headings}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="caption">{escape(more)}</p>'
    )


def _kind(space: Space, heading: str) -> str:
    """Return the class of a column in the style sheet: of names, numbers or texts."""
    if heading == space.row_noun:
        return "name"
    return "text" if heading.startswith((f"{space.cell_noun}s", "text")) else "number"


def samples_csv(space: Space, answer: Answer) -> str:
    """Return a row for each sample: its run, question, text and outcome."""
    rows: list[list[Any]] = [["run", space.row_noun, "reference", space.cell_noun, "outcome"]]
    for run in _shown_runs(answer):
        references = run.samples.get("references") or [""] * len(run.rewards)
        for index, rewards in enumerate(run.rewards):
            for text, reward in zip(_texts(run, index), rewards, strict=True):
                outcome = "" if reward is None else f"{reward:g}"
                name, reference = answer.questions[index], str(references[index])
                rows.append([run.label, name, reference, text, outcome])
    return csv_text(rows)


def _has_counts(run: Run) -> bool:
    """Whether the samples are the numbers of samples with each outcome."""
    return isinstance(run.samples["predictions"], dict)


def _texts(run: Run, index: int) -> list[str]:
    """Return the samples of a question as text, which are empty if they are outcomes."""
    if _has_counts(run):
        return [""] * len(run.rewards[index])
    return [x if isinstance(x, str) else "" for x in run.samples["predictions"][index]]


def _mean_reward(runs: Sequence[Run], index: int) -> float:
    """Return the mean of a question over all runs: the share of samples that are correct."""
    scored = [x for run in runs for x in run.rewards[index] if x is not None]
    return sum(scored) / len(scored) if scored else 0.0


def _samples_in_row(run: Run, index: int) -> str:
    """Return the number of correct samples, or their mean, and each with a mark."""
    rewards = run.rewards[index]
    summary = _summary(rewards, run.is_binary)
    if _has_counts(run):
        return summary
    shown = []
    for text, reward in zip(_texts(run, index), rewards[:_SAMPLES_IN_ROW], strict=False):
        is_marked = run.is_binary or reward is None
        mark = _MARKS[reward if reward is None else int(reward)] if is_marked else f"{reward:g}"
        short = " ".join(_shortened(text, _LONGEST_IN_ROW).split())
        shown.append(f"{mark} {short}".strip())
    more = " .." if len(rewards) > _SAMPLES_IN_ROW else ""
    return f"{summary}:  {'   '.join(shown)}{more}"


def samples_html(space: Space, answer: Answer, index: int) -> str:
    """Return the samples of a question, and how each was checked.

    Args:
        space: the Space.
        answer: the answer.
        index: the index of the question, from 0.
    """
    lines = [f"<h3>{escape(space.row_noun.capitalize())} {escape(answer.questions[index])}</h3>"]
    if answer.texts[index]:
        lines.append(f"<p>{escape(_shortened(answer.texts[index], _LONGEST_SAMPLE))}</p>")
    references = answer.runs[0].samples.get("references")
    if references is not None:
        reference = _shortened(str(references[index]), _LONGEST_SAMPLE)
        checked = f"checked with {answer.checker}"
        lines.append(f"<p>Reference: <code>{escape(reference)}</code>, {checked}</p>")
    columns = "".join(_samples_of_run(space, answer, run, index) for run in _shown_runs(answer))
    lines.append(f'<div class="runs">{columns}</div>')
    return f'<div class="samples">{"".join(lines)}</div>'


def _samples_of_run(space: Space, answer: Answer, run: Run, index: int) -> str:
    """Return the samples of a question in one run. The page shows runs beside each other."""
    heading = f"<h4>{escape(run.label)}</h4>" if len(answer.runs) > 1 else ""
    rewards = run.rewards[index]
    if _has_counts(run):
        return (
            f"<div>{heading}<p>{_summary(rewards, run.is_binary)} {space.cell_noun}s are correct. "
            f"The input has only their numbers.</p></div>"
        )
    words = [_word(reward, run.is_binary) for reward in rewards]
    items = "".join(
        f"<li><span>{word}</span>{_sample_html(sample, answer.checker)}</li>"
        for sample, word in zip(run.samples["predictions"][index], words, strict=True)
    )
    return f'<div>{heading}<ol tabindex="0">{items}</ol></div>'


def _shown_keys(space: Space, answer: Answer) -> list[str]:
    """Return the keys of the scores of single questions that the table shows, the main ones first.

    If a k is selected, they are those at this k.
    """
    runs = _shown_runs(answer)
    by_run = [_scores_of_questions(run) for run in runs]
    keys = [key for key in by_run[0] if all(key in scores for scores in by_run)]
    if "k" in answer.options:
        scores = map(read_score, keys)
        at_k = [score.k == answer.options["k"] and score.tau is None for score in scores]
        keys = [*itertools.compress(keys, at_k)]
    main = [key for key in space.main_scores(answer.runs[0], answer.options) if key in keys]
    return list(dict.fromkeys([*main, *keys]))[: _MAX_SCORES // len(runs)]


def _scores_of_questions(run: Run) -> dict[str, list[float]]:
    """Return the scores of the questions of all calls that have them, by their keys."""
    by_key: dict[str, list[float]] = {}
    for result in run.results.values():
        by_key |= result.get("per_question", {})  # of a sweep, there are none
    return by_key


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
    """Return a sample, unless it is the outcome itself."""
    if sample is None or (checker is None and not isinstance(sample, str)):
        return ""
    return f" <code>{escape(_shortened(str(sample), _LONGEST_SAMPLE))}</code>"


def _shortened(text: str, longest: int) -> str:
    """Return a text that is not too long, and that can be sent as UTF-8."""
    text = text[: longest + 1].encode(errors="replace").decode()
    return text if len(text) <= longest else f"{text[:longest]}.."
