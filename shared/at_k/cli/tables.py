"""The tables of scores, and the sentences around them: what was read, what limits are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..inputs.rows import read_rows
from .formats import Cells, number_of

if TYPE_CHECKING:
    from ..readers.questions import Questions

_SUFFIXES = {
    "": "score",
    "_mu": "mean",
    "_sigma": "sd",
    "_lo": "lo",
    "_hi": "hi",
    "_band_lo": "band lo",
    "_band_hi": "band hi",
    "_interval": "interval",
}
"""The columns of a table of scores: the suffix of the keys, and the heading."""


def nouns_of(scores: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a metric calls a question and a sample: score_agg has items with verdicts."""
    return ("item", "verdict") if "score_agg" in scores else ("question", "sample")


def describe_input(
    questions: Questions,
    checker: str | Callable[..., Any],
    row: str = "question",
    noun: str = "sample",
) -> str:
    """Return a sentence that says what was read, from which columns, and how it was checked.

    Args:
        questions: that were read.
        checker: of their samples.
        row: what the questions are called.
        noun: what their samples are called.
    """
    columns, samples = dict(questions.columns), questions.arguments["predictions"]
    sizes, given = sizes_and_given(samples)
    missing = sum(sizes) - sum(given)
    least, most = min(sizes), max(sizes)
    each = number_of(most, noun) if least == most else f"{least} to {most} {noun}s"
    parts = f"{number_of(len(sizes), row)}, {each} each"
    counts = columns.pop("counts", None)
    if "n" in columns:
        parts += f", counted in {columns.pop('n')} and {columns.pop('correct')}"
    elif counts and not {"predictions", "outcomes"} & columns.keys():
        parts += f", counted in {counts if isinstance(counts, str) else ', '.join(counts.values())}"
    else:
        if missing:
            parts += f" ({missing} of them missing)"
        if "outcomes" in columns:
            parts += f", already graded in {columns.pop('outcomes')}"
        elif "references" in columns:
            parts += f" in {columns.pop('predictions')}"
            parts += f", checked against {columns.pop('references')} with {checker_name(checker)}"
        else:
            parts += f", already graded in {columns.pop('predictions')}"
        if counts:
            parts += f", counted in {counts}"
    for role, column in columns.items():
        parts += f"; {role} from {column}"
    if questions.origin:
        harness, *others = questions.origin.items()
        said = [harness[1], *(f"{what} {value}" for what, value in others)]
        parts = f"{', '.join(said)}: {parts}"
    return f"{parts}."


def checker_name(checker: str | Callable[..., Any]) -> str:
    """Return the name of a checker, or of its type if it has none."""
    if isinstance(checker, str):
        return checker
    return getattr(checker, "__name__", type(checker).__name__)


def sizes_and_given(samples: Any) -> tuple[list[int], list[int]]:
    """Return the number of samples of each question, and how many of them are not missing."""
    rows = read_rows(samples)
    return rows.sizes_where().tolist(), rows.sizes_where(rows.is_given).tolist()


def score_tables(scores: dict[str, Any]) -> list[Cells]:
    """Return the scores of `compute` as tables.

    There is a row for each key, and a column for all questions and for each group. With intervals
    there is a table for all questions and one for each group. Scores of single questions follow in
    a table of their own.
    """
    values, rows, labels = layout(scores)
    headings = {"": "all questions" if labels else ""}
    headings |= {f"{label}/": group_heading(label) for label in labels}
    if any(f"{row}_lo" in values for row in rows):
        tables = [
            _interval_table(values, rows, prefix, heading) for prefix, heading in headings.items()
        ]
    else:
        head = ["", *headings.values()] if labels else ["", "score"]
        lines = [[row, *(_cell(values[prefix + row]) for prefix in headings)] for row in rows]
        tables = [[head, *lines]]
    return [*tables, *per_question_table(scores)]


def per_question_table(scores: Mapping[str, Any]) -> list[Cells]:
    """Return the table of the scores of single questions, if there are any."""
    if "per_question" not in scores:
        return []
    per_question = scores["per_question"]
    lines = [
        [str(question), *(_cell(value) for value in values_of_one)]
        for question, values_of_one in enumerate(zip(*per_question.values(), strict=True))
    ]
    return [[["question", *per_question], *lines]]


def score_records(scores: dict[str, Any]) -> Cells:
    """Return the scores of `compute` in one table with full precision.

    There is a row for each key and group, with an empty text for the group of all questions.

    Raises:
        ValueError: if there are scores of single questions, which have other columns.
    """
    if "per_question" in scores:
        raise ValueError("CSV has no scores of single questions: use --format json.")
    values, rows, labels = layout(scores)
    suffixes = [suffix for suffix in _SUFFIXES if any(key + suffix in values for key in rows)]
    table = [["group", "key", *(_SUFFIXES[suffix] for suffix in suffixes)]]
    for label, prefix in {"": "", **{label: f"{label}/" for label in labels}}.items():
        for row in rows:
            cells = (values.get(prefix + row + suffix, "") for suffix in suffixes)
            table.append([label, row, *map(str, cells)])
    return table


def layout(scores: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the values by key, the keys of scores of all questions, and the labels of groups."""
    values = {key: value for key, value in scores.items() if key != "per_question"}
    of_intervals = {key + suffix for key in values for suffix in _SUFFIXES if suffix}
    keys = [key for key in values if key not in of_intervals]
    labels = dict.fromkeys(key.rpartition("/")[0] for key in keys if "/" in key)
    return values, [key for key in keys if "/" not in key], list(labels)


def method_of(scores: Mapping[str, Any], key: str, interval: str | None) -> str:
    """Return the interval method of a score: its name, the requested one, or the default.

    The posterior is the default of bayes_at_n, whose scores do not name their intervals.
    """
    return scores.get(f"{key}_interval", interval or "posterior")


def score_notes(
    scores: dict[str, Any],
    interval: str | None,
    limits: str = "lo and hi are limits",
    band: str = "band lo and band hi are limits",
) -> list[str]:
    """Return the sentences below the tables: what the limits are for, and which vote maj@k is.

    Args:
        scores: of `compute`.
        interval: the requested interval method, or None for the default.
        limits: what the tables call the limits.
        band: what they call those of the simultaneous band.
    """
    notes = []
    # Without names the interval is the requested one, or the default of bayes_at_n.
    names = {value for key, value in scores.items() if key.endswith("_interval")}
    methods = {name for name in names if not name.startswith("none")}
    if not names and any(key.endswith("_lo") for key in scores):
        methods = {interval or "posterior"}
    if methods == {"questions"}:
        notes.append(f"{limits} for other {nouns_of(scores)[0]}s like these.")
    elif methods:
        others = "; by `questions`, for other questions like these" * ("questions" in methods)
        notes.append(f"{limits} for the same questions, sampled again{others}.")
    if any(key.endswith("_band_lo") for key in scores):
        notes.append(f"{band} that cover each score at all k together.")
    notes += [f"{name.replace('none', 'No interval', 1)}." for name in sorted(names - methods)]
    if any(key.rpartition("/")[2].startswith("maj@") for key in scores):
        is_here = any(key.rpartition("/")[2].startswith("vote@") for key in scores)
        notes.append(
            f"maj@k: more than half of k samples are correct. The majority vote of most papers "
            f"(maj@k, cons@64) is vote@k{', in this table' if is_here else ' of cons_at_k'}."
        )
    return notes


def _interval_table(values: dict[str, Any], rows: list[str], prefix: str, heading: str) -> Cells:
    """Return a row for each score, with the columns of its interval that have values.

    The center of the intervals is left out if it is the score itself.
    """
    suffixes = [
        suffix for suffix in _SUFFIXES if any(prefix + row + suffix in values for row in rows)
    ]
    if all(values.get(f"{prefix}{row}_mu", score := values[prefix + row]) == score for row in rows):
        suffixes = [suffix for suffix in suffixes if suffix != "_mu"]
    headings = _SUFFIXES | {"_mu": "center"}
    head = [heading, *(headings[suffix] for suffix in suffixes)]
    lines = [
        [row, *(_cell(values.get(prefix + row + suffix)) for suffix in suffixes)] for row in rows
    ]
    return [head, *lines]


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return value.partition(":")[0] if isinstance(value, str) else f"{value:.4f}"


def group_heading(label: str) -> str:
    """Return the label of a group on one short line."""
    heading = " ".join(label.split()) or "(no label)"
    return heading if len(heading) <= 24 else f"{heading[:22]}.."
