"""Compare the runs of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from at_k.cli.comparison_tables import ComparisonView, LeaderboardView
from at_k.cli.formats import Cells, Scope
from at_k.runs.comparison import Difference, differences_as_dict
from at_k.runs.differences import Compared, differences_of
from at_k.runs.leaderboard import leaderboard_of
from at_k.runs.options import ComparisonOptions
from at_k.runs.outcomes_of_runs import Run


@dataclass(frozen=True, kw_only=True)
class MeasuresView(ComparisonView):
    """The differences of two runs by several measures. Sentences are about the first one.

    Attributes:
        key: of the difference at the selected k.
        others: the differences by the other measures.
    """

    key: str
    others: Sequence[Difference]

    def paper_tables(self) -> list[Cells]:
        """One table: the first measure at the selected k and the powers of two, then the others."""
        shown = [x for x in self.differences[None] if _is_power(x.k) or x.key == self.key]
        shown += self.others
        return ComparisonView({None: shown}, self.names, self.options, self.scope).paper_tables()

    def sentence(self, key: str | None = None) -> str:
        return super().sentence(key or self.key)


@dataclass(frozen=True)
class Comparison:
    """The differences between the scores of runs.

    Attributes:
        view: their tables and sentences.
        results: for two runs what `at_k.compare` returns for each measure of the Space; for more
            runs what `at_k.leaderboard` returns for the first measure.
        arguments: the arguments of the call of each result.
    """

    view: MeasuresView | LeaderboardView
    results: list[Mapping[str, Any]]
    arguments: list[dict[str, Any]]

    @property
    def is_leaderboard(self) -> bool:
        """Whether there are more than two runs."""
        return isinstance(self.view, LeaderboardView)


def _is_power(k: Any) -> bool:
    """Whether k is a power of two. A score without k is shown too."""
    return not isinstance(k, int) or k & (k - 1) == 0


def compare(
    runs: Sequence[Run], measures: Sequence[dict[str, Any]], k: int | None, scope: Scope
) -> Comparison:
    """Return the differences of two runs by each measure, or the leaderboard of more by the first.

    Args:
        runs: the outcomes of each run.
        measures: the scores that are compared, as arguments of `at_k.compare`.
        k: the selected number of samples, or None if the scores have none.
        scope: the questions and their samples, for the sentence.

    Raises:
        ValueError: if the runs cannot be compared.
    """
    first = ComparisonOptions(**measures[0])
    if len(runs) > 2:
        selected: dict[str, Any] = {} if k is None else {"k": k}
        board = leaderboard_of(Compared(runs, replace(first, **selected, all_k=False)))
        return Comparison(LeaderboardView(board, scope), [board], [{**measures[0], **selected}])
    by_measure = [differences_of(Compared(runs, ComparisonOptions(**x))) for x in measures]
    differences, *others = by_measure
    key = next(x.key for x in differences if k is None or x.k == k)
    view = MeasuresView(
        {None: differences},
        [run.name for run in runs],
        first,
        scope,
        key=key,
        others=[x for measure in others for x in measure],
    )
    return Comparison(view, [*map(differences_as_dict, by_measure)], list(measures))
