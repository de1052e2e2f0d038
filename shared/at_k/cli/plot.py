"""The flag `--plot FILE`: which chart shows the scores, and what its caption says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runs.comparison import comparison_of_two
from ..runs.leaderboard import leaderboard_of
from .formats import PlotError
from .tables import checker_name, sizes_and_given

if TYPE_CHECKING:
    from ..readers.questions import Questions
    from ..runs.compared import Compared

PLOT_HELP = (
    "also write a chart, in the format of the suffix: .svg, .pdf, .png or .html. "
    "It shows the confidence limits if there are any."
)
_FILE_SUFFIXES = (".svg", ".pdf", ".png", ".html")


@contextmanager
def scores_before_errors(output: str) -> Iterator[None]:
    """Turn the error of a chart into one that has the output of the command.

    Raises:
        PlotError: if there is no chart, also because its file cannot be written.
    """
    try:
        yield
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise PlotError(f"There is no chart: {error}", output) from error


def check_plot(file: str) -> None:
    """Raise before anything is scored if a chart cannot be written to this file.

    Raises:
        ValueError: if the suffix is not that of a format, or the folder does not exist.
        ImportError: if Altair is not installed.
    """
    path = Path(file)
    if path.suffix.lower() not in _FILE_SUFFIXES:
        raise ValueError(
            f"--plot {file}: the suffix is the format, and must be one of "
            f"{', '.join(_FILE_SUFFIXES)}."
        )
    if not path.parent.is_dir():
        raise ValueError(f"--plot {file}: there is no folder {path.parent}.")
    from ..charts import figure  # noqa: F401  (slow, and needs an extra)


def check_scores_to_plot(parameters: Mapping[str, Any]) -> None:
    """Raise before anything is scored if a metric has no scores that a chart can show.

    Args:
        parameters: the parameters of `compute`, with their defaults.

    Raises:
        ValueError: if there is no k, and neither groups nor scores of single questions.
    """
    if parameters.get("keys") == "safe":
        raise ValueError("--plot needs the exact keys: leave out --keys safe.")
    with_parts = parameters.get("groups") or parameters.get("return_per_question")
    if "k" not in parameters and not with_parts:
        raise ValueError(
            "--plot: this metric has no k to draw its score against. Add --groups COLUMN for a "
            "chart of groups, or --return-per-question for one of questions."
        )


def plot_scores(file: str, scores: Mapping[str, Any], **details: Any) -> None:
    """Write the chart of what `compute` returns.

    It shows single questions or groups where these are scored, or else the scores against k, or
    G-Pass@k against its threshold if there is a single k.

    Args:
        file: the path of the chart.
        scores: what `compute` returns.
        **details: what the caption says, see `at_k.charts`.

    Raises:
        ValueError: if there is nothing that a chart can show.
    """
    from ..charts.curves import by_k, by_threshold
    from ..charts.difficulty import by_question
    from ..charts.intervals import by_group
    from ..charts.results import keys_by_k, keys_by_threshold, score_keys

    if "per_question" in scores:
        shown = {name: details[name] for name in ("n", "checker")}
        chart = by_question(scores, **shown)
    elif any("/" in key for key in score_keys(scores)):
        chart = by_group(scores, **details)
    elif any(len(keys) > 1 for keys in keys_by_k(scores).values()):
        chart = by_k(scores, **details)
    elif any(len(keys) > 1 for keys in keys_by_threshold(scores).values()):
        chart = by_threshold(scores, **details)
    else:
        raise ValueError(
            "--plot needs several k, such as --k 1 2 4 8, and there is a single one. Or add "
            "--groups COLUMN, or --return-per-question."
        )
    chart.save(file)


def plot_comparison(file: str, found: Compared, details: Sequence[Mapping[str, Any]]) -> None:
    """Write the chart of a comparison: the difference of two runs against k, or a leaderboard.

    Args:
        file: the path of the chart.
        found: the compared runs.
        details: what the caption says about each run, see `scored_details`.
    """
    from ..charts.difference import difference
    from ..charts.intervals import forest

    checkers = {each["checker"] for each in details}
    checker = checkers.pop() if len(checkers) == 1 else None
    if len(found.runs) == 2 and len(found.keys) > 1:
        sizes = {each["n"] for each in details}
        chart = difference(
            comparison_of_two(found),
            [run.name for run in found.runs],
            questions=details[0]["questions"],
            n=sizes.pop() if len(sizes) == 1 else None,
            checker=checker,
            confidence=found.measure.confidence,
            interval=found.measure.interval,
        )
    else:
        chart = forest(leaderboard_of(found), checker=checker)
    chart.save(file)


def scored_details(questions: Questions, checker: str | Callable[..., Any]) -> dict[str, Any]:
    """Return what the caption says about the questions of a file, their samples and checker."""
    sizes, _ = sizes_and_given(questions.arguments["predictions"])
    least, most = min(sizes), max(sizes)
    checked = "references" in questions.columns and "outcomes" not in questions.columns
    return {
        "questions": len(sizes),
        "n": most if least == most else f"{least} to {most}",
        "checker": checker_name(checker) if checked else None,
    }
