"""The tables of scores, as the page shows them and as papers and programs take them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from at_k.cli.comparison_tables import leaderboard_notes
from at_k.cli.formats import (
    INTERVAL_NAME,
    INTERVAL_SCOPE,
    Cells,
    Scale,
    Scope,
    View,
    band_heading,
    csv_text,
    interval_heading,
)
from at_k.cli.score_tables import records_of
from at_k.core.estimates import Estimate
from at_k.results import estimates_of
from at_k.runs.comparison import Difference

from .request import Answer, Comparison
from .sentences import interval_notes, limits_sentence, percent, scale_of
from .space import Run, Space

FORMATS = {"CSV": "csv", "LaTeX": "tex", "Markdown": "md"}
"""The formats of tables, and the types of their files."""

_DIFFERENCE_COLUMNS = ("score", "lo", "hi", "band lo", "band hi")


class Cell(NamedTuple):
    """A number in a table with its limits, all as text."""

    text: str
    limits: tuple[str, str] | None = None


@dataclass(frozen=True)
class Table:
    """A table of scores.

    Attributes:
        head: the headers. The first one is that of the names of rows.
        rows: for each row its name, and a cell for each of the other columns.
        notes: sentences that say what the numbers are.
        confidence: of the limits, or None if no score has any.
    """

    head: list[str]
    rows: list[tuple[str, list[Cell]]]
    notes: list[str]
    confidence: float | None


def score_tables(space: Space, answer: Answer) -> list[Table]:
    """Return the tables of an answer. With more than two runs, the first one ranks them."""
    comparison = answer.comparison
    if comparison is None:
        return [_table_of_scores(space, answer)]
    if comparison.board is not None:
        return [_table_of_ranks(comparison, scale_of(answer.runs)), _table_of_scores(space, answer)]
    return [_table_of_differences(space, answer, comparison)]


def _table_of_scores(space: Space, answer: Answer) -> Table:
    """Return a row for each score that all runs have: those of `Space.main_scores` first."""
    runs, scale = answer.runs, scale_of(answer.runs)
    estimates = [run.estimates() for run in runs]
    common = [
        key
        for key, x in estimates[0].items()
        if all(key in by_key for by_key in estimates) and not space.is_repeated(x)
    ]
    keys = dict.fromkeys([*_main_scores(space, answer, common), *common])
    rows = [(key, [_score_cell(by_key[key], scale) for by_key in estimates]) for key in keys]
    head = [scale.heading, *([run.label for run in runs] if len(runs) > 1 else ["Estimate"])]
    confidence = answer.options["confidence"]
    notes = interval_notes(runs, common, confidence, space.row_noun)
    has_limits = any(cell.limits for _, cells in rows for cell in cells)
    return Table(head, rows, notes, confidence if has_limits else None)


def _main_scores(space: Space, answer: Answer, keys: Container[str]) -> list[str]:
    return [key for key in space.main_scores(answer.runs[0], answer.options) if key in keys]


def _table_of_differences(space: Space, answer: Answer, comparison: Comparison) -> Table:
    """Return the table of scores with columns and rows for the differences of two runs."""
    runs, scale = answer.runs, scale_of(answer.runs)
    table, confidence = _table_of_scores(space, answer), answer.options["confidence"]
    level, interval = percent(confidence), comparison.interval
    scope = INTERVAL_SCOPE[interval].replace("question", space.row_noun)
    first, second = (run.label for run in runs)
    note = f"Difference: {second} minus {first}, and its {level} {INTERVAL_NAME[interval]} {scope}."
    head, columns = [*table.head, "Difference"], [_difference_cell]
    if any(len(measure) > 1 for measure in comparison.differences_of_measures):
        head.append("Band")
        columns.append(_band_cell)
        note += f" Band: simultaneous {level} confidence band over all k."
    differences = [x for measure in comparison.differences_of_measures for x in measure]
    shown = {x.key: x for x in differences if _is_shown(x, differences, comparison.key)}
    scores = dict(table.rows)
    rows = []
    for key in dict.fromkeys([*_main_scores(space, answer, scores), *shown, *scores]):
        cells = scores.get(key) or _compared_cells(runs, shown[key], scale)
        if key in shown:
            rows.append((key, [*cells, *(column(shown[key], scale) for column in columns)]))
        else:
            rows.append((key, [*cells, *(Cell("") for _ in columns)]))
    return Table(head, rows, [note, *table.notes], confidence)


def _compared_cells(runs: Sequence[Run], x: Difference, scale: Scale) -> list[Cell]:
    """Return the two scores of a difference that is not in the table of scores.

    A score of all samples has another key in each run if their numbers differ.
    """
    estimates = [run.estimates_of_all_calls() for run in runs]
    if all(x.key in by_key for by_key in estimates):
        return [_score_cell(by_key[x.key], scale) for by_key in estimates]
    return [Cell(scale.number(x.a)), Cell(scale.number(x.b))]


def _is_shown(x: Difference, differences: Sequence[Difference], selected: str) -> bool:
    """Return whether a difference is the only one of its score, at a power of two, or selected."""
    is_power = isinstance(x.k, int) and x.k & (x.k - 1) == 0
    is_only = sum(other.metric == x.metric for other in differences) == 1
    return is_only or is_power or x.key == selected


def _score_cell(estimate: Estimate, scale: Scale) -> Cell:
    text, limits = scale.number(estimate.score), estimate.limits
    return Cell(text, limits and (scale.number(limits[0]), scale.number(limits[1])))


def _difference_cell(x: Difference, scale: Scale) -> Cell:
    return Cell(scale.number(x.score, sign=True), _signed_limits(x.interval, scale))


def _band_cell(x: Difference, scale: Scale) -> Cell:
    """Return the limits of the band, which are those of the interval if there is a single k."""
    return Cell("", None if x.band == x.interval else _signed_limits(x.band, scale))


def _signed_limits(limits: tuple[float, float], scale: Scale) -> tuple[str, str]:
    lo, hi = (scale.number(limit, sign=True) for limit in limits)
    return lo, hi


def _table_of_ranks(comparison: Comparison, scale: Scale) -> Table:
    board = comparison.board
    assert board is not None
    unit = " (%)" if scale.percent else ""
    rows = []
    for row in board["runs"]:
        limits = scale.number(row["lo"]), scale.number(row["hi"])
        rank = Cell(f"{row['rank']}", (f"{row['rank_lo']}", f"{row['rank_hi']}"))
        rows.append(
            (row["run"], [Cell(scale.number(row["score"]), limits), rank, Cell(row["letters"])])
        )
    notes = [leaderboard_notes(board, for_paper=True)]
    return Table(
        ["Run", f"{comparison.key}{unit}", "Rank", "Letters"], rows, notes, board["confidence"]
    )


def paper_sentence(space: Space, answer: Answer) -> str:
    """Return the main scores or the comparison with limits, or "" if there are none."""
    if answer.comparison is not None:
        return answer.comparison.sentence
    if len(answer.runs) > 1:
        return ""
    (run,) = answer.runs
    keys = space.main_scores(run, answer.options)
    scope = Scope([np.array(run.sample_counts)], answer.checker, space.row_noun, space.cell_noun)
    return limits_sentence(run, keys, scope, answer.options["confidence"])


@dataclass(frozen=True)
class AnswerView(View):
    """The tables of an answer for papers, and the sentence."""

    space: Space
    answer: Answer

    def data(self) -> dict[str, Any]:
        raise NotImplementedError

    def records(self) -> Cells:
        raise NotImplementedError

    def tables(self) -> list[Cells]:
        """A table of cells such as "61.2 (59.7, 62.6)" for each table of the page."""
        return [
            [_paper_head(table), *map(_paper_row, table.rows)]
            for table in score_tables(self.space, self.answer)
        ]

    def notes(self, for_paper: bool = False) -> list[str]:
        return [" ".join(table.notes) for table in score_tables(self.space, self.answer)]

    def sentence(self) -> str:
        return paper_sentence(self.space, self.answer)


def _paper_head(table: Table) -> list[str]:
    """Return the headers, which say what is in brackets."""
    if table.confidence is None:
        return table.head
    limits = f" ({interval_heading(table.confidence)})"
    head = table.head[:1]
    for column, name in enumerate(table.head[1:]):
        has_limits = any(cells[column].limits for _, cells in table.rows)
        is_band = all(not cells[column].text for _, cells in table.rows)
        head.append(band_heading(table.confidence) if is_band else name + limits * has_limits)
    return head


def _paper_row(row: tuple[str, list[Cell]]) -> list[str]:
    name, cells = row
    limits = [f" ({', '.join(cell.limits)})" if cell.limits else "" for cell in cells]
    texts = [cell.text for cell in cells]
    return [name, *(f"{text}{x}".strip() for text, x in zip(texts, limits, strict=True))]


def table_text(space: Space, answer: Answer, name: str) -> str:
    """Return the tables of an answer in one of `FORMATS`."""
    if name == "CSV":
        return _csv(answer)
    return AnswerView(space, answer).printed(name.lower()) + "\n"


def _csv(answer: Answer) -> str:
    """Return a row for each run, group and key, and for each difference, in full precision."""
    rows = [row for run in answer.runs for row in _records(run)]
    comparison = answer.comparison
    if comparison is not None and comparison.board is not None:
        rows += comparison.board["runs"]
    elif comparison is not None:
        rows += _records_of_differences(answer.runs, comparison)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return csv_text([columns, *([row.get(column, "") for column in columns] for row in rows)])


def _records(run: Run) -> Iterator[dict[str, Any]]:
    head, *lines = records_of(estimates_of(run.scores()))
    for line in lines:
        yield {"run": run.label, **dict(zip(head, line, strict=True))}


def _records_of_differences(
    runs: Sequence[Run], comparison: Comparison
) -> Iterator[dict[str, Any]]:
    first, second = (run.label for run in runs)
    for measure in comparison.differences_of_measures:
        for x in measure:
            numbers = zip(_DIFFERENCE_COLUMNS, (x.score, *x.interval, *x.band), strict=True)
            yield {"run": f"{second} minus {first}", "key": x.key, **dict(numbers)}
