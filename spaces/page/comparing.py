"""Compare the runs of a request."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from at_k.cli.comparison_tables import ComparisonView, LeaderboardView
from at_k.cli.formats import Scope
from at_k.core.estimates import read_score
from at_k.runs.comparison import Difference, differences_as_dict
from at_k.runs.differences import Compared, differences_of
from at_k.runs.leaderboard import leaderboard_of
from at_k.runs.options import WITHOUT_K, ComparisonOptions
from at_k.runs.outcomes_of_runs import Run

from .controls import OTHER_QUESTIONS, SAME_QUESTIONS
from .space import Call, Space

_COMPARED_INTERVALS = {SAME_QUESTIONS: "sampling", OTHER_QUESTIONS: "questions"}
_SHARED = ("w", "temperature", "check_correct_fn", "confidence")


@dataclass(frozen=True, kw_only=True)
class MeasuresView(ComparisonView):
    """Show the differences of two runs in several scores. Sentences are about the first score.

    `key` is that of the difference at the selected k, and `rows` has those of all scores.
    """

    key: str
    rows: list[Difference]

    def _paper_rows(self) -> list[Difference]:
        return self.rows

    def sentence(self, key: str | None = None) -> str:
        """Return a sentence about the difference with a key. Default: the one at the selected k."""
        return super().sentence(key or self.key)


@dataclass(frozen=True)
class Comparison:
    """Hold the comparison of two runs, or the leaderboard of more runs.

    Attributes:
        results: what `at_k.compare` returns for each score, or `at_k.leaderboard` for the first.
        arguments: for each result, the arguments of the call that returns it, without the runs.
    """

    view: MeasuresView | LeaderboardView
    results: list[Mapping[str, Any]]
    arguments: list[dict[str, Any]]


def compare(
    space: Space,
    runs: Sequence[Run],
    keys: Sequence[str],
    calls: Mapping[str, Call],
    scope: Scope,
) -> Comparison:
    """Compare two runs by the scores with these keys, or rank more runs by the first one.

    `calls` are those of `compute` by name. Raise a ValueError if the runs cannot be compared.
    """
    shared = _shared_arguments(space, calls["scores"].arguments)
    measures = [measure | shared for measure in _measures(space, keys, calls)]
    if len(runs) > 2:
        selected = {"k": read_score(keys[0]).k} if "k" in measures[0] else {}
        arguments = measures[0] | selected
        board = leaderboard_of(Compared(runs, ComparisonOptions(**arguments, all_k=False)))
        return Comparison(LeaderboardView(board, scope), [board], [arguments])
    # For each score, a list of its differences at all k.
    first, *others = [differences_of(Compared(runs, ComparisonOptions(**x))) for x in measures]
    view = MeasuresView(
        {None: first},
        [run.name for run in runs],
        ComparisonOptions(**measures[0]),
        scope,
        key=keys[0],
        rows=[*itertools.chain(first, *others)],
    )
    return Comparison(view, [*map(differences_as_dict, [first, *others])], measures)


def _shared_arguments(space: Space, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return those arguments of `compute` that `at_k.compare` takes, too, such as the confidence.

    Raise a ValueError for a penalty other than the default, which `at_k.compare` does not take.
    """
    if arguments.get("penalty") != space.defaults.get("penalty"):
        raise ValueError(f"a comparison is with the penalty {space.defaults['penalty']}.")
    shared = {name: arguments[name] for name in _SHARED if name in arguments}
    if space.has_references and arguments["interval"] in _COMPARED_INTERVALS:
        shared["interval"] = _COMPARED_INTERVALS[arguments["interval"]]
    return shared


def _measures(
    space: Space, keys: Sequence[str], calls: Mapping[str, Call]
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `at_k.compare` (metric, k, tau) for each metric in `keys`.

    avg@N is left out unless it is the first: its limits may be by another method. k may be a list.
    """
    compared: set[str] = set()
    for metric, k, tau in map(read_score, keys):
        if metric in compared or (metric == "avg@N" and compared):
            continue
        compared.add(metric)
        measure: dict[str, Any] = {"metric": metric}
        if metric == space.compared_by_k:
            measure["k"] = calls["by_k"].arguments["k"]
        elif metric not in WITHOUT_K:
            measure["k"] = k
        if tau is not None:
            measure["tau"] = tau
        yield measure
