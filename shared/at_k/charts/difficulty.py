"""The chart of questions from the hardest to the easiest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .captions import ChartDetails
from .figure import Figure
from .lines import LineAxis, figure_of_scores
from .results import ChartResults, few_of, runs_by_name, score_title
from .style import nice_ticks


def by_question(
    results: ChartResults,
    key: str | Sequence[str] | None = None,
    *,
    labels: Sequence[Any] | None = None,
    noun: Literal["question", "answer"] = "question",
    n: int | str | None = None,
    checker: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of the scores of single questions, from the hardest to the easiest.

    Each line has its own order of questions. The scores of one run are lines of one panel. For
    several runs there is a panel for each score, and the runs are its lines.

    Args:
        results: what `compute` returns with `return_per_question=True`, or a dict of several,
            {name: result}.
        key: the scores that are shown, such as "pass@8". Default: all.
        labels: a label of each question, for tooltips. Default: its place, from 0.
        noun: what the results have scores of, such as the answers of score_agg. They go from the
            lowest score to the highest.
        n, checker, caption, width: see `at_k.charts`.

    Raises:
        TypeError: if results are not a dict.
        ValueError: if there are no scores of single questions, none with this key, or too many; or
            if the number of labels is not that of questions.

    Examples:
        >>> result = {"per_question": {"pass@1": [0.5, 0.0, 0.25, 1.0]}}
        >>> chart = by_question(result, n=4)
    """
    runs = runs_by_name(results)
    for name, scores in runs.items():
        if not scores.get("per_question"):
            raise ValueError(
                f"{name or 'The result'} has no scores of single questions: compute with "
                f"return_per_question=True."
            )
    keys = few_of(key, {name: scores["per_question"] for name, scores in runs.items()})
    rows, sizes = [], set()
    for name, scores in runs.items():
        for each in keys:
            values = scores["per_question"][each]
            if labels is not None and len(labels) != len(values):
                raise ValueError(f"got {len(labels)} labels for {len(values)} {noun}s")
            sizes.add(len(values))
            hardest_first = sorted(range(len(values)), key=values.__getitem__)
            rows += [
                {"run": name, "metric": each, "key": each, "x": place}
                | {"score": values[i], noun: i if labels is None else str(labels[i])}
                for place, i in enumerate(hardest_first, start=1)
            ]
    most = max(2, *sizes)
    ticks = [1.0, *(x for x in nice_ticks(1, most) if 1 < x <= most and x == int(x))]
    order = "hardest to the easiest" if noun == "question" else "lowest to the highest"
    x = LineAxis(f"{noun}s, from the {order}", ticks, 1, most)
    names = {each: score_title(each) for each in keys}
    title = names[keys[0]] if len(keys) == 1 else f"score of the {noun}"
    questions = most if len(sizes) == 1 and noun == "question" else None
    details = ChartDetails(questions=questions, n=n, checker=checker, caption=caption)
    return figure_of_scores(rows, names, x, details.caption_of(), width, title)
