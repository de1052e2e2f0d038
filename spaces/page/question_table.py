"""The questions and their samples, marked correct or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from at_k.cli.formats import Scale, csv_text

from .answer_html import escape
from .request import Answer, Samples
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


class QuestionTable(NamedTuple):
    """A table of questions.

    Attributes:
        head: the headings of the columns: of the name, of the numbers, and of texts.
        numbers: how many columns have numbers.
        rows: for each row the index of its question, and the text of its cells.
    """

    head: list[str]
    numbers: int
    rows: list[tuple[int, list[str]]]


Cell = Callable[[int], str]
"""Returns the text of the cell of a question, of which it takes the index."""


def question_table(space: Space, answer: Answer, selected: str = ALL) -> QuestionTable:
    """Return a row for each question: its name, its scores, its samples and its text.

    Of two runs, the questions with the largest differences are first.

    Args:
        space: the Space.
        answer: the answer.
        selected: one of `FILTERS`.
    """
    questions, keys = answer.questions, _shown_keys(space, answer)
    is_shown = FILTERS.get(selected, FILTERS[ALL])
    rows = [i for i in range(len(questions.names)) if is_shown(_share_correct(answer, i))]
    columns: dict[str, Cell] = {
        space.row_noun: lambda i: _shortened(questions.names[i], _LONGEST_TEXT)
    }
    if len(answer.runs) == 2 and keys:
        scale, differences = scale_of(answer.runs), _differences(answer, keys[0])
        rows.sort(key=lambda i: -abs(differences.get(i, 0.0)))
        columns[f"difference in {keys[0]}{_unit(scale)}"] = lambda i: (
            scale.number(differences[i], sign=True) if i in differences else ""
        )
    columns |= _score_columns(answer, keys)
    numbers = len(columns) - 1
    columns |= _sample_columns(space, answer)
    if any(questions.texts):
        columns["text"] = lambda i: _shortened(questions.texts[i], _LONGEST_TEXT)
    cells = [(i, [cell(i) for cell in columns.values()]) for i in rows]
    return QuestionTable([*columns], numbers, cells)


def _differences(answer: Answer, key: str) -> dict[int, float]:
    """Return the score of the second run minus that of the first, by the index of the question."""
    first, second = (_scores_of_questions(run)[key] for run in answer.runs)
    return {i: b - a for i, (a, b) in enumerate(zip(first, second, strict=False))}


def _score_columns(answer: Answer, keys: Sequence[str]) -> dict[str, Cell]:
    """Return a column for each score of each run. A run can have fewer questions than another."""
    scale = scale_of(answer.runs)
    columns: dict[str, Cell] = {}
    for run in answer.runs:
        scores = _scores_of_questions(run)
        for key in keys:
            heading = _heading(f"{key}{_unit(scale)}", run, answer)
            columns[heading] = partial(_number, scores[key], scale)
    return columns


def _number(scores: Sequence[float], scale: Scale, index: int) -> str:
    return scale.number(scores[index]) if index < len(scores) else ""


def _sample_columns(space: Space, answer: Answer) -> dict[str, Cell]:
    """Return a column with the samples of each run."""
    return {
        _heading(f"{space.cell_noun}s", run, answer): partial(_samples_in_row, answer, run)
        for run in answer.runs
    }


def _heading(name: str, run: Run, answer: Answer) -> str:
    return f"{name}, {run.label}" if len(answer.runs) > 1 else name


def _unit(scale: Scale) -> str:
    return " (%)" if scale.percent else ""


def questions_html(space: Space, answer: Answer, selected: str = ALL) -> str:
    """Return the table of questions as a grid, whose rows the script of the page lets select."""
    head, numbers, rows = question_table(space, answer, selected)
    kinds = ["name", *["number"] * numbers, *["text"] * (len(head) - 1 - numbers)]
    headings = "".join(
        f'<th scope="col" class="{kind}">{escape(heading)}</th>'
        for kind, heading in zip(kinds, head, strict=True)
    )
    body = ""
    for index, cells in rows[:_MAX_ROWS]:
        tab = "-1" if body else "0"  # arrow keys lead from the first row to the others
        texts = "".join(
            f'<td class="{kind}">{escape(cell)}</td>'
            for kind, cell in zip(kinds, cells, strict=True)
        )
        body += f'<tr data-index="{index}" tabindex="{tab}">{texts}</tr>'
    more = ""
    if len(rows) > _MAX_ROWS:
        more = f"The first {_MAX_ROWS} of {len(rows):,} {space.row_noun}s: a download has all."
    return (
        f'<div class="numbers"><table role="grid"><thead><tr>{headings}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="caption">{more}</p>'
    )


def samples_csv(space: Space, answer: Answer) -> str:
    """Return a row for each sample: its run, question, text and outcome."""
    rows: list[list[Any]] = [["run", space.row_noun, "reference", space.cell_noun, "outcome"]]
    for run in answer.runs:
        columns = answer.samples[run.label]
        references = columns.get("references")
        for index, outcomes in enumerate(answer.questions.outcomes[run.label]):
            reference = "" if references is None else references[index]
            rewards = _rewards(answer, outcomes)
            for sample, reward in zip(_texts(columns, index, rewards), rewards, strict=True):
                outcome = "" if reward is None else f"{reward:g}"
                name = answer.questions.names[index]
                rows.append([run.label, name, str(reference), sample, outcome])
    return csv_text(rows)


def _texts(columns: Samples, index: int, rewards: Sequence[float | None]) -> list[str]:
    """Return the samples of a question as text, which are empty if they are outcomes."""
    predictions = columns["predictions"]
    if isinstance(predictions, dict):
        return [""] * len(rewards)
    return ["" if x is None or not isinstance(x, str) else x for x in predictions[index]]


def _share_correct(answer: Answer, index: int) -> float:
    """Return the mean outcome of a question over all runs, from 0 to 1 if samples are correct."""
    rows = [
        outcomes[index] for outcomes in answer.questions.outcomes.values() if index < len(outcomes)
    ]
    scored = [x for row in rows for x in row if x is not None]
    return sum(scored) / len(scored) if scored else 0.0


def _samples_in_row(answer: Answer, run: Run, index: int) -> str:
    """Return the number of correct samples, or their mean, and each with a mark."""
    outcomes = answer.questions.outcomes[run.label]
    if index >= len(outcomes):
        return ""
    rewards = _rewards(answer, outcomes[index])
    summary = _summary(rewards, run.is_binary)
    if isinstance(answer.samples[run.label]["predictions"], dict):  # counts
        return summary
    texts = _texts(answer.samples[run.label], index, rewards)
    shown = []
    for text, reward in zip(texts, rewards[:_SAMPLES_IN_ROW], strict=False):
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
    questions = answer.questions
    lines = [f"<h3>{escape(space.row_noun.capitalize())} {escape(questions.names[index])}</h3>"]
    if questions.texts[index]:
        lines.append(f"<p>{escape(_shortened(questions.texts[index], _LONGEST_SAMPLE))}</p>")
    references = next(iter(answer.samples.values())).get("references")
    if references is not None:
        reference = _shortened(str(references[index]), _LONGEST_SAMPLE)
        checked = f"checked with {answer.checker}"
        lines.append(f"<p>Reference: <code>{escape(reference)}</code>, {checked}</p>")
    columns = [
        _samples_of_run(space, answer, run, index)
        for run in answer.runs
        if index < len(questions.outcomes[run.label])
    ]
    lines.append(f'<div class="runs">{"".join(columns)}</div>')
    return f'<div class="samples">{"".join(lines)}</div>'


def _samples_of_run(space: Space, answer: Answer, run: Run, index: int) -> str:
    """Return the samples of a question in one run. The page shows runs beside each other."""
    heading = f"<h4>{escape(run.label)}</h4>" if len(answer.runs) > 1 else ""
    rewards = _rewards(answer, answer.questions.outcomes[run.label][index])
    predictions = answer.samples[run.label]["predictions"]
    if isinstance(predictions, dict):
        return (
            f"<div>{heading}<p>{_summary(rewards, run.is_binary)} {space.cell_noun}s are correct. "
            f"The input has only their numbers.</p></div>"
        )
    words = [_word(reward, run.is_binary) for reward in rewards]
    items = "".join(
        f"<li><span>{word}</span>{_sample_html(sample, answer.checker)}</li>"
        for sample, word in zip(predictions[index], words, strict=True)
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
    by_key: dict[str, list[float]] = {}
    for result in run.results.values():
        if isinstance(result, dict):
            by_key |= result.get("per_question", {})
    return by_key


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
    """Return a sample, unless it is the outcome itself."""
    if sample is None or (checker is None and not isinstance(sample, str)):
        return ""
    return f" <code>{escape(_shortened(str(sample), _LONGEST_SAMPLE))}</code>"


def _shortened(text: str, longest: int) -> str:
    """Return a text that is not too long, and that can be sent as UTF-8."""
    text = text[: longest + 1].encode(errors="replace").decode()
    return text if len(text) <= longest else f"{text[:longest]}.."
