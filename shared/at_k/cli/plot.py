"""The flag `--plot FILE`, which writes the chart that fits the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.estimates import Estimate
from ..results import estimates_of
from ..runs.comparison import differences_as_dict
from .run_input import RunInput, checker_of_all

if TYPE_CHECKING:
    from ..charts.figure import Figure
    from ..runs.differences import Compared
    from .score_tables import ScoresView

PLOT_HELP = (
    "also write a chart, in the format of the suffix: .svg, .pdf, .png or .html. "
    "It shows the confidence limits if there are any."
)
_FILE_SUFFIXES = (".svg", ".pdf", ".png", ".html")


def draw(file: str | None, figure: Callable[[], Figure]) -> None:
    """Write the chart that `figure` returns to a file, or do nothing if `file` is None."""
    if file is None:
        return
    try:
        figure().save(file)
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        raise ValueError(f"There is no chart: {error}") from error


def check_plot(file: str | None) -> None:
    """Raise ValueError for a bad suffix or folder, or ImportError without Altair."""
    if file is None:
        return
    path = Path(file)
    if path.suffix.lower() not in _FILE_SUFFIXES:
        raise ValueError(
            f"--plot {file}: the suffix is the format, and must be one of "
            f"{', '.join(_FILE_SUFFIXES)}."
        )
    if not path.parent.is_dir():
        raise ValueError(f"--plot {file}: there is no folder {path.parent}.")
    from ..charts import by_k  # noqa: F401  (imported here because it is slow and needs an extra)


def chart_of_scores(view: ScoresView, run: RunInput) -> Figure:
    """Return the first chart that fits the scores of a run, or raise a ValueError."""
    from ..charts import by_question

    if "per_question" in view.scores:
        return by_question(view.scores, n=run.caption["n"], checker=run.checker)
    estimates = estimates_of(view.scores)
    chart = _chart_of_estimates(estimates)
    is_named = any(x.interval and x.interval.interval for x in estimates)
    confidence, interval = view.options["confidence"], view.options["interval"]
    method = None if is_named else interval or "posterior"
    return chart(view.scores, **run.caption, confidence=confidence, interval=method)


def _chart_of_estimates(estimates: Sequence[Estimate]) -> Callable[..., Figure]:
    """Return `by_group`, `by_k` or `by_threshold`, the first that fits; ValueError if none does."""
    from ..charts import by_group, by_k, by_threshold

    if any(x.group is not None for x in estimates):
        return by_group
    with_k = [x for x in estimates if isinstance(x.k, int)]
    scores = [(x.metric, x.tau) for x in with_k]
    if len({*scores}) < len(scores):
        return by_k
    g_pass_ks = [x.k for x in with_k if x.metric == "G-Pass@k"]
    if len({*g_pass_ks}) < len(g_pass_ks):
        return by_threshold
    raise ValueError(
        "give several k, such as --k 1 2 4 8, or groups (--groups COLUMN), or the scores of "
        "questions (--return-per-question)."
    )


def chart_of_comparison(compared: Compared, inputs: Sequence[RunInput]) -> Figure:
    """Return a chart of differences against k; for one k, or three runs or more, a `forest`."""
    from ..charts import difference, forest
    from ..runs.differences import differences_of
    from ..runs.leaderboard import leaderboard_of

    checker, checkers, options = checker_of_all(inputs), compared.checkers, compared.options
    if len(compared.scores) == 1 or len(inputs) > 2:
        return forest(leaderboard_of(compared), checker=checker)
    others = {"checker": checkers} if checkers else {}
    sizes = {run.caption["n"] for run in inputs}
    return difference(
        differences_as_dict(differences_of(compared), others, options.weighting.words),
        [run.name for run in compared.runs],
        questions=inputs[0].caption["questions"],
        n=sizes.pop() if len(sizes) == 1 else None,
        checker=checker,
        confidence=options.confidence,
        interval=options.interval,
    )
