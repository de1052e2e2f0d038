"""Several runs on the same questions, measured and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..checks import check_names
from ..inputs.checking import Checker, Checking
from ..scores.score_agg import VERDICTS
from .differences import Differences
from .measure import COMPARED, Measure, Measured, check_measure
from .outcomes_of_runs import Run, check_same_questions, grade_runs, is_read, parse_run


class Compared(NamedTuple):
    """Measured runs and their differences.

    Args:
        measure: which score is compared, and how.
        keys: of the scores, one for each k.
        runs: with their outcomes.
        measured: with their scores.
        differences: of all pairs of runs.
    """

    measure: Measure
    keys: list[str]
    runs: Sequence[Run]
    measured: Sequence[Measured]
    differences: Differences


def compare_sources(
    sources: Mapping[str, Any],
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    **options: Any,
) -> Compared:
    """Read, check and compare runs. The options are those of `check_measure`.

    Clusters that the first run was read with are used if they apply and no others are given.
    """
    labels = labels_of(options["metric"])
    checking = Checking(check_correct_fn, num_proc, labels=labels)
    for name, source in sources.items():
        if is_read(source) and source.get("R0") is not None:
            raise ValueError(f"{name} has prior outcomes R0, which a comparison does not use.")
    first = next(iter(sources.values()))
    if is_read(first) and options["interval"] == "questions" and options["clusters"] is None:
        options["clusters"] = first.get("clusters")
    parsed = [parse_run(name, source, labels) for name, source in sources.items()]
    check_same_questions(parsed)
    check_measure({run.name: run.n for run in parsed}, **options)  # before any sample is checked
    return compare_runs(grade_runs(parsed, checking), **options)


def compare_runs(runs: Sequence[Run], **options: Any) -> Compared:
    """Compare runs on the same questions. The options are those of `check_measure`."""
    measure = check_measure({run.name: run.outcomes.n for run in runs}, **options)
    keys, measured, width = measure.of_runs(runs)
    differences = Differences(measured, measure.interval == "questions", width)
    return Compared(measure, keys, runs, measured, differences)


def labels_of(metric: str) -> dict[str, float] | None:
    """The labels that stand for outcomes in a metric.

    Raises:
        ValueError: If there is no metric of this name.
    """
    check_names("metric", [metric], COMPARED)
    return VERDICTS if metric == "score_agg" else None
