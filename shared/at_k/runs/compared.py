"""Several runs on the same questions: read, checked, measured and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..inputs.checking import Checker, Checking
from ..scores.score import ScoreId
from .comparison import Difference
from .differences import Differences
from .measure import ComparisonOptions, Measured, measure_runs
from .outcomes_of_runs import Run, check_same_questions, grade_runs, is_read_result, parse_run


@dataclass(frozen=True)
class Compared:
    """Measured runs and their differences.

    Args:
        options: of the comparison, for the samples of the runs.
        scores: m scores, one for each k.
        runs: with their outcomes.
        measured: with their scores.
        differences: of all pairs of runs.
    """

    options: ComparisonOptions
    scores: list[ScoreId]
    runs: Sequence[Run]
    measured: Sequence[Measured]
    differences: Differences


def compare_sources(
    sources: Mapping[str, Any],
    options: ComparisonOptions,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
) -> Compared:
    """Read, check and compare runs.

    Clusters that the first run was read with are used if they apply and no others are given.
    """
    for name, source in sources.items():
        if is_read_result(source) and source.get("R0") is not None:
            raise ValueError(f"{name} has prior outcomes R0, which a comparison does not use.")
    first = next(iter(sources.values()))
    if is_read_result(first) and options.interval == "questions" and options.clusters is None:
        options = replace(options, clusters=first.get("clusters"))
    parsed = [parse_run(name, source, options.labels) for name, source in sources.items()]
    check_same_questions(parsed)
    options.for_samples({run.name: run.n for run in parsed})  # raises before samples are checked
    checking = Checking(check_correct_fn, num_proc, labels=options.labels)
    return compare_runs(grade_runs(parsed, checking), options)


def compare_runs(runs: Sequence[Run], options: ComparisonOptions) -> Compared:
    """Compare runs on the same questions.

    A checker may leave samples unscored, so k is chosen by the samples that have outcomes.
    """
    options = options.for_samples({run.name: run.outcomes.n for run in runs})
    scores, measured, width = measure_runs(runs, options)
    differences = Differences(measured, options.interval == "questions", width)
    return Compared(options, scores, runs, measured, differences)


def differences_of(
    compared: Compared, p_values: bool = False, group: str | None = None
) -> list[Difference]:
    """Return the differences of two compared runs, one for each k.

    Args:
        compared: two runs.
        p_values: whether the differences have p-values.
        group: the label of the questions, or None for all questions.
    """
    a, b = (run.estimates.tolist() for run in compared.measured)
    differences, confidence = compared.differences, compared.options.confidence
    lo, hi = differences.limits(confidence)[:, 0].tolist()
    band_lo, band_hi = differences.simultaneous_limits(confidence)[:, 0].tolist()
    p = differences.p_values()[0, 1].tolist() if p_values else [None] * len(a)
    return [
        Difference(
            *score,
            group,
            b[i] - a[i],
            a[i],
            b[i],
            (lo[i], hi[i]),
            (band_lo[i], band_hi[i]),
            p[i],
        )
        for i, score in enumerate(compared.scores)
    ]
