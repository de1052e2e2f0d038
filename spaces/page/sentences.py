"""Numbers and results in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from at_k.cli.formats import Scale, Scope
from at_k.cli.formats import enumerated as enumerated

from .space import Run


def percent(share: float) -> str:
    """Return a share in percent: "12 %", with a decimal below 1 % and above 99 %."""
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    if 0.9995 <= share < 1:
        return "more than 99.9 %"
    is_extreme = 0 < share < 0.01 or 0.99 < share < 1
    return f"{100 * share:.1f} %" if is_extreme else f"{100 * share:.0f} %"


def decimal(value: float) -> str:
    """Return a number with three decimals."""
    return f"{round(value, 3) + 0.0:.3f}"  # adding 0 avoids -0.000


def sentence_per_run(runs: Sequence[Run], clauses: Sequence[str]) -> str:
    """Return one sentence for each run, from a clause in lower case for each.

    If there are several runs, each sentence starts with the label of its run.
    """
    if len(runs) == 1:
        return f"{clauses[0][0].upper()}{clauses[0][1:]}."
    return " ".join(f"{run.label}: {clause}." for run, clause in zip(runs, clauses, strict=True))


def sizes_note(runs: Sequence[Run], row: str, cell: str) -> str:
    """Return how many questions and samples there are: "6 questions with 8 samples each.".

    Args:
        runs: the runs. If there are several, their labels are named.
        row: what a question is called.
        cell: what a sample is called.
    """
    clauses = [Scope([run.sample_counts], None, row, cell).in_words() for run in runs]
    if len(runs) > 1:
        clauses = [f"{run.label}: {x}" for run, x in zip(runs, clauses, strict=True)]
    return f"{'; '.join(clauses)}."


def scale_of(runs: Sequence[Run]) -> Scale:
    """Return how the page prints scores: in percent, or rewards in their own unit."""
    estimates = [x for run in runs for x in run.estimates()]
    return Scale.of([x.metric for x in estimates], [x.score for x in estimates])
