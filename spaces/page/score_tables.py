"""The tables and sentences of an answer, which are those of the command at-k."""

from __future__ import annotations

from dataclasses import dataclass

from at_k.cli.formats import Scope, View, csv_text
from at_k.cli.score_tables import ScoresView, records_of
from at_k.core.estimates import as_dict
from at_k.results import Result

from .request import Answer
from .space import Run, Space

FORMATS = {"CSV": "csv", "LaTeX": "tex", "Markdown": "md"}
"""The formats of tables, and the types of their files."""


@dataclass(frozen=True)
class RunView(ScoresView):
    """The scores of a run. LaTeX calls its table by the label."""

    label: str = "scores"


def views_of(space: Space, answer: Answer, for_paper: bool = False) -> list[View]:
    """Return views of the comparison of runs, and of the scores of each run.

    The comparison of two runs has their scores already.

    Args:
        space: the Space.
        answer: the answer.
        for_paper: whether runs have only those scores that a paper would report.
    """
    views: list[View] = [] if answer.comparison is None else [answer.comparison.view]
    if answer.comparison is None or len(answer.runs) > 2:
        views += [_run_view(space, answer, run, for_paper) for run in answer.runs]
    return views


def _run_view(space: Space, answer: Answer, run: Run, for_paper: bool) -> RunView:
    """Return the view of a run: first the scores that a paper would report."""
    options = answer.options
    main = space.main_scores(run, options)
    is_repeated = space.is_repeated or (lambda estimate: False)
    estimates = [x for x in run.estimates() if not is_repeated(x)]
    shown = [x for key in main for x in estimates if x.key == key]
    if not for_paper:
        shown += [x for x in estimates if x.key not in main]
    several = len(answer.runs) > 1
    return RunView(
        Result(as_dict(shown), shown),
        Scope([run.sample_counts], answer.checker, space.row_noun, space.cell_noun),
        [run.label] if several else (),
        options,
        label=f"scores-{run.label}" if several else "scores",
    )


def table_text(space: Space, answer: Answer, name: str) -> str:
    """Return the tables of an answer in one of `FORMATS`.

    CSV has a row for each run, group and key, in full precision.
    """
    if name != "CSV":
        views = views_of(space, answer, for_paper=True)
        return "\n\n".join(view.printed(name.lower()) for view in views) + "\n"
    rows = [(run.label, x) for run in answer.runs for x in run.estimates()]
    head, *lines = records_of([x for _, x in rows])
    labels = [label for label, _ in rows]
    return csv_text(
        [["run", *head], *([label, *line] for label, line in zip(labels, lines, strict=True))]
    )
