"""The chart of scores against a parameter, such as a temperature or the step of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .captions import ChartDetails
from .figure import Figure
from .lines import LineAxis, figure_of_scores
from .results import ChartScores, few_of, score_keys, score_row, score_title
from .style import nice_ticks


def by_parameter(
    results: Mapping[Any, Any],
    key: str | Sequence[str] | None = None,
    *,
    parameter: str,
    highlight: float | None = None,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of scores against a parameter, with their limits as bands.

    The scores of one run are lines of one panel. For several runs there is a panel for each score,
    and the runs are its lines.

    Args:
        results: what `compute` returns for each value of the parameter, {value: result}, or a dict
            of several of these, {name: {value: result}}.
        key: the scores that are shown, such as "pass@8". Default: all.
        parameter: the title of the horizontal axis, such as "temperature".
        highlight: a value of the parameter that a dashed line marks.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.

    Raises:
        ValueError: if a run has fewer than two values of the parameter, or not all scores.

    Examples:
        >>> results = {0.2: {"pass@1": 0.31}, 0.6: {"pass@1": 0.35}, 1.0: {"pass@1": 0.33}}
        >>> chart = by_parameter(results, parameter="temperature", n=32)
    """
    sweeps: Mapping[str, Mapping[float, ChartScores]] = results
    if all(isinstance(value, (int, float)) for value in results):
        sweeps = {"": results}
    for name, by_value in sweeps.items():
        if len(by_value) < 2:
            raise ValueError(
                f"{name or 'results'} has {len(by_value)} values of {parameter}: a line needs two."
            )
    keys = few_of(
        key,
        {
            f"{name} at {value}": [each for each in score_keys(scores) if "/" not in each]
            for name, by_value in sweeps.items()
            for value, scores in by_value.items()
        },
    )
    rows = [
        score_row(by_value[value], each, run=name, metric=each, x=value)
        for name, by_value in sweeps.items()
        for each in keys
        for value in sorted(by_value)
    ]
    lowest, highest = min(row["x"] for row in rows), max(row["x"] for row in rows)
    ticks = [x for x in nice_ticks(lowest, highest) if lowest <= x <= highest]
    x = LineAxis(parameter, ticks, lowest, highest)
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    names = {each: score_title(each) for each in keys}
    title = names[keys[0]] if len(keys) == 1 else "mean over the questions"
    text = details.caption_of(details.limits(rows, "Bands"))
    return figure_of_scores(rows, names, x, text, width, title, highlight)
