"""Show the questions of an answer and their samples, marked as correct or incorrect."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from at_k.cli.formats import csv_text

from .answer_html import breakable, escape, number_html
from .describing import scale_of
from .request import Answer
from .space import Run, Space

_MAX_ROWS = 500
_MAX_SAMPLES_IN_ROW = 32
_MAX_SCORES = 4
# Numbers of characters:
_MAX_TEXT = 120
_MAX_SAMPLE_IN_ROW = 24
_MAX_SAMPLE = 1_000
_MARKS: dict[float | None, str] = {0: "\u2717", 1: "\u2713", None: "?"}

ALL = "All"
FILTERS: dict[str, Callable[[float], bool]] = {
    ALL: lambda share: True,
    "All correct": lambda share: share == 1,
    "Some correct": lambda share: 0 < share < 1,
    "None correct": lambda share: share == 0,
}
"""The filters of questions, by name. Each takes the mean outcome of the samples of a question."""


def question_rows(
    space: Space, answer: Answer, filter_name: str = ALL
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of the table of the questions that pass a filter in `FILTERS`.

    A row is the index of a question, and its cells by heading: its name, main scores, samples and
    text. If runs are compared, headings end in a comma and the label of the run or "difference",
    and the questions with the largest difference of two runs are first.
    """
    runs = _shown_runs(answer)
    labels = [f", {run.label}" if len(runs) > 1 else "" for run in runs]
    scores = [_scores_of_questions(run) for run in runs]
    keys = _shown_keys(space, answer, scores)
    scale, is_shown = scale_of(answer.runs), FILTERS[filter_name]
    unit = scale.heading.removeprefix("Score")
    differences = _differences(scores, keys)
    rows = []
    for i, name in enumerate(answer.questions):
        cells = {space.question_noun: _shortened(name, _MAX_TEXT)}
        if differences:
            cells[f"{keys[0]}{unit}, difference"] = scale.number(differences[i], sign=True)
        for label, by_key in zip(labels, scores, strict=True):
            cells |= {f"{key}{unit}{label}": scale.number(by_key[key][i]) for key in keys}
        for label, run in zip(labels, runs, strict=True):
            cells[f"{space.sample_noun}s{label}"] = _samples_in_row(run, i)
        if any(answer.texts):
            cells["text"] = _shortened(answer.texts[i], _MAX_TEXT)
        if is_shown(_mean_reward(runs, i)):
            rows.append((i, cells))
    if differences:
        rows.sort(key=lambda row: -abs(differences[row[0]]))
    return rows


def _shown_runs(answer: Answer) -> list[Run]:
    """Return all runs if they are compared, or else only the first: questions may differ."""
    return answer.runs if answer.comparison is not None else answer.runs[:1]


def _scores_of_questions(run: Run) -> dict[str, list[float]]:
    """Return a dict from each key to the list of scores per question. It merges all calls."""
    by_key: dict[str, list[float]] = {}
    for result in run.results.values():
        by_key |= result.get("per_question", {})  # a sweep has none
    return by_key


def _shown_keys(
    space: Space, answer: Answer, scores: Sequence[dict[str, list[float]]]
) -> list[str]:
    """Return the keys of the main scores that all runs have for each question.

    They have at most `_MAX_SCORES` columns. `scores` has a dict for each run, from a key to the
    scores of questions.
    """
    main = space.main_scores(answer.runs[0], answer.options)
    keys = [key for key in main if all(key in by_key for by_key in scores)]
    return keys[: _MAX_SCORES // len(scores)]


def _differences(scores: Sequence[dict[str, list[float]]], keys: Sequence[str]) -> list[float]:
    """Return the second of two runs minus the first for each question, in the score keys[0].

    `scores` has a dict for each run, from a key to the scores of questions. The list is empty if
    there are not two runs, or no keys.
    """
    if len(scores) != 2 or not keys:
        return []
    first, second = (by_key[keys[0]] for by_key in scores)
    return [b - a for a, b in zip(first, second, strict=True)]


def _mean_reward(runs: Sequence[Run], index: int) -> float:
    """Return the mean outcome of a question over all runs, or 0 if no sample is scored."""
    scored = [x for run in runs for x in run.rewards[index] if x is not None]
    return sum(scored) / len(scored) if scored else 0.0


def _samples_in_row(run: Run, index: int) -> str:
    """Return the text of a cell: a summary of the samples, and the first samples with their marks.

    If the input has counts, the text is only the summary.
    """
    summary, rewards = _summary(run, index), run.rewards[index]
    if _has_counts(run):
        return summary
    shown = []
    for text, reward in zip(_texts(run, index), rewards[:_MAX_SAMPLES_IN_ROW], strict=False):
        mark = _MARKS[reward] if run.is_binary or reward is None else f"{reward:g}"
        shown.append(" ".join([mark, *_shortened(text, _MAX_SAMPLE_IN_ROW).split()]))
    dots = " .." if len(rewards) > _MAX_SAMPLES_IN_ROW else ""
    return f"{summary}:  {'   '.join(shown)}{dots}"


def _summary(run: Run, index: int) -> str:
    """Return how many scored samples are correct, as "5 of 8", or the mean reward, or ""."""
    scored = [reward for reward in run.rewards[index] if reward is not None]
    if run.is_binary:
        return f"{sum(scored):.0f} of {len(scored)}"
    return f"{sum(scored) / len(scored):.3f}" if scored else ""


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


def questions_html(space: Space, answer: Answer, filter_name: str = ALL) -> str:
    """Return the questions that pass a filter in `FILTERS` as an HTML table.

    The script of the page makes its rows selectable.
    """
    rows, body = question_rows(space, answer, filter_name), ""
    question, sample = space.nouns
    if not rows:
        return f'<p class="caption">No {question} has such {sample}s.</p>'
    css_classes = {
        heading: "text" if heading.startswith((f"{sample}s", "text")) else "number"
        for heading in rows[0][1]
    } | {question: "name"}
    for index, cells in rows[:_MAX_ROWS]:
        tab = "-1" if body else "0"  # arrow keys lead from the first row to the others
        columns = "".join(_cell_html(css_classes[x], text) for x, text in cells.items())
        body += f'<tr data-index="{index}" tabindex="{tab}">{columns}</tr>'
    captions = []
    if len(_shown_runs(answer)) < len(answer.runs):
        captions.append(f"The {question}s of {answer.runs[0].label}.")
    if len(rows) > _MAX_ROWS:
        captions.append(f"The first {_MAX_ROWS} of {len(rows):,} {question}s: a download has all.")
    return (
        f'<div class="numbers"><table role="grid"><thead>{_head(css_classes)}</thead>'
        f'<tbody>{body}</tbody></table></div><p class="caption">{escape(" ".join(captions))}</p>'
    )


def _cell_html(css_class: str, text: str) -> str:
    """Return a cell as HTML."""
    html = number_html(text) if css_class == "number" else escape(text)
    return f'<td class="{css_class}">{html}</td>'


def _head(css_classes: Mapping[str, str]) -> str:
    """Return the headings as one row of HTML, or as two: labels of runs, and columns below them.

    `css_classes` has the class of each column by its heading, such as "pass@1, run A".
    """
    parts = [(*heading.partition(", ")[::2], x) for heading, x in css_classes.items()]
    columns = "".join(f'<th scope="col" class="{x}">{breakable(name)}</th>' for name, _, x in parts)
    labels = ""
    for label, group in itertools.groupby(parts, key=lambda part: part[1]):
        classes = [x for _, _, x in group]
        span = f'colspan="{len(classes)}" class="{classes[0]}"'
        labels += (
            f'<th scope="colgroup" {span}>{escape(label)}</th>' if label else f"<td {span}></td>"
        )
    has_labels = any(label for _, label, _ in parts)
    return f"<tr>{labels}</tr><tr>{columns}</tr>" if has_labels else f"<tr>{columns}</tr>"


def samples_html(space: Space, answer: Answer, index: int) -> str:
    """Return the samples of the question at an index as HTML, with the outcome of each."""
    name = escape(answer.questions[index])
    lines = [f"<h3>{escape(space.question_noun.capitalize())} {name}</h3>"]
    if answer.texts[index]:
        lines.append(f"<p>{escape(_shortened(answer.texts[index], _MAX_SAMPLE))}</p>")
    references = answer.runs[0].samples.get("references")
    if references is not None:
        reference = escape(_shortened(str(references[index]), _MAX_SAMPLE))
        lines.append(f"<p>Reference: <code>{reference}</code>, checked with {answer.checker}</p>")
    columns = "".join(_samples_of_run(space, answer, run, index) for run in _shown_runs(answer))
    return f'<div class="samples">{"".join(lines)}<div class="runs">{columns}</div></div>'


def _samples_of_run(space: Space, answer: Answer, run: Run, index: int) -> str:
    """Return the samples of a question in one run as HTML. The page shows runs side by side."""
    heading = f"<h4>{escape(run.label)}</h4>" if len(answer.runs) > 1 else ""
    if _has_counts(run):
        summary, noun = _summary(run, index), space.sample_noun
        text = f"{summary} {noun}s are correct" if run.is_binary else f"Mean reward {summary}"
        return f"<div>{heading}<p>{text}. The input has only their numbers.</p></div>"
    items = ""
    for sample, reward in zip(run.samples["predictions"][index], run.rewards[index], strict=True):
        outcome, text = "not scored" if reward is None else f"{reward:g}", ""
        if run.is_binary and reward is not None:
            outcome = "correct" if reward else "incorrect"
        if sample is not None and (answer.checker is not None or isinstance(sample, str)):
            text = f" <code>{escape(_shortened(str(sample), _MAX_SAMPLE))}</code>"
        items += f"<li><span>{outcome}</span>{text}</li>"
    return f'<div>{heading}<ol tabindex="0">{items}</ol></div>'


def samples_csv(space: Space, answer: Answer) -> str:
    """Return CSV with a row for each sample: run, question, reference, text and outcome."""
    question, sample = space.nouns
    rows: list[list[Any]] = [["run", question, "reference", sample, "outcome"]]
    for run in _shown_runs(answer):
        references = run.samples.get("references") or [""] * len(run.rewards)
        for index, rewards in enumerate(run.rewards):
            start = [run.label, answer.questions[index], str(references[index])]
            for text, reward in zip(_texts(run, index), rewards, strict=True):
                rows.append([*start, text, "" if reward is None else f"{reward:g}"])
    return csv_text(rows)
