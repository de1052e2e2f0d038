"""Charts of scores with their limits in rows: groups of questions, and many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .captions import ChartDetails
from .figure import Figure
from .results import ChartResults, Row, few_of, runs_by_name, score_keys, score_row, score_title
from .rows import figure_of_rows

_ALL = "all questions"


def by_group(
    results: ChartResults,
    key: str | Sequence[str] | None = None,
    *,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of the scores of all questions and of each group, with their limits as bars.

    The scores of one run are series of one panel. For several runs there is a panel for each score,
    and the runs are its series.

    Args:
        results: what `compute` returns with `groups`, or a dict of several, {name: result}.
        key: the scores that are shown, such as "pass@8". Default: all.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.

    Raises:
        TypeError: if results are not a dict.
        ValueError: if there are no scores of groups, none with this key, or too many.

    Examples:
        >>> result = {"pass@1": 0.4, "algebra/pass@1": 0.5, "geometry/pass@1": 0.3}
        >>> chart = by_group(result, questions=30, n=16)
    """
    runs = runs_by_name(results)
    keys_of = {name: score_keys(scores) for name, scores in runs.items()}
    for name, keys in keys_of.items():
        if not any("/" in each for each in keys):
            raise ValueError(
                f"{name or 'The result'} has no scores of groups: compute with groups, a label for "
                f"each question."
            )
    shown = few_of(key, {run: [x for x in keys if "/" not in x] for run, keys in keys_of.items()})
    prefixes = dict.fromkeys(
        each.rpartition("/")[0] for keys in keys_of.values() for each in keys if "/" in each
    )
    groups = {_ALL: "", **{group: f"{group}/" for group in prefixes}}
    rows = [
        score_row(scores, prefix + each, run=name, metric=each, label=group, cells={})
        for each in shown
        for group, prefix in groups.items()
        for name, scores in runs.items()
        if prefix + each in scores
    ]
    names = {each: score_title(each) for each in shown}
    if len(runs) > 1:
        rows = [{**row, "series": row["run"], "panel": names[row["metric"]]} for row in rows]
    else:
        title = names[shown[0]] if len(shown) == 1 else "score"
        rows = [{**row, "series": names[row["metric"]], "panel": title} for row in rows]
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    text = details.caption_of(details.limits(rows, "Bars"))
    return figure_of_rows(rows, text, width)


def forest(
    board: Mapping[str, Any],
    key: str | Sequence[str] | None = None,
    *,
    checker: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of many runs: their scores with limits, their ranks and their letters.

    The runs are in descending order of their scores. At the right are the ranks that the
    simultaneous limits of the differences allow, and letters: runs that share a letter cannot be
    told apart. For several k there is a panel for each.

    Args:
        board: what `at_k.leaderboard` returns.
        key: the scores that are shown, such as "pass@8". Default: all.
        checker, caption, width: see `at_k.charts`.

    Raises:
        ValueError: if this is not a leaderboard, or has no score with this key.

    Examples:
        >>> import at_k
        >>> runs = {"x": [[0, 0, 1, 0], [1, 0, 1, 1]], "y": [[0, 1, 1, 0], [1, 1, 1, 1]]}
        >>> chart = forest(at_k.leaderboard(runs, k=1), checker="numeric")
    """
    if not isinstance(board.get("runs"), list):
        raise ValueError("This is not a leaderboard: give what at_k.leaderboard returns.")
    keys = few_of(key, {"": dict.fromkeys(row["key"] for row in board["runs"])})
    rows = [
        {**row, "series": "", "panel": score_title(each), "label": row["run"]}
        | {"cells": {"rank": _rank_range(row), "letters": row["letters"]}}
        for each in keys
        for row in board["runs"]
        if row["key"] == each
    ]
    least, most = min(row["n_min"] for row in rows), max(row["n_max"] for row in rows)
    details = ChartDetails(
        questions=board["questions"],
        n=most if least == most else f"{least} to {most}",
        checker=checker,
        confidence=board["confidence"],
        interval=board["interval"],
        caption=caption,
    )
    percent = f"{100 * board['confidence']:.6g} %"
    text = details.caption_of(
        details.limits(rows, "Bars"),
        f"Ranks and letters: simultaneous {percent} limits of all differences; runs that share a "
        f"letter cannot be told apart.",
    )
    return figure_of_rows(rows, text, width)


def _rank_range(row: Row) -> str:
    """Return the ranks that a run may have: "2" or "2-4", with an en dash."""
    first, last = row["rank_lo"], row["rank_hi"]
    return f"{first}" if first == last else f"{first}\u2013{last}"
