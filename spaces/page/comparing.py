"""Compare the runs of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from at_k.cli.comparison_tables import ComparisonView, LeaderboardView
from at_k.cli.formats import Scope
from at_k.runs.comparison import differences_as_dict
from at_k.runs.differences import compare_runs, differences_of
from at_k.runs.leaderboard import leaderboard_of
from at_k.runs.options import ComparisonOptions
from at_k.runs.outcomes_of_runs import Run, check_same_questions, parse_run

from .request import Comparison, Samples


def compare_samples(
    samples: Mapping[str, Samples],
    runs: Sequence[Run],
    checker: str,
    measures: Sequence[Mapping[str, Any]],
    k: int | None,
    nouns: tuple[str, str],
) -> Comparison:
    """Return the differences between runs.

    Args:
        samples: the samples of each run, by its label.
        runs: the outcomes of each run.
        checker: the name of the checker.
        measures: the scores that are compared, as arguments of `at_k.compare`.
        k: the selected number of samples, or None if the scores have none.
        nouns: what a question and a sample are called.

    Raises:
        ValueError: if the runs cannot be compared.
    """
    options = [ComparisonOptions(**measure) for measure in measures]
    parsed = [parse_run(label, run, options[0].verdicts) for label, run in samples.items()]
    check_same_questions(parsed)
    checking: dict[str, Any] = {} if checker == "exact_match" else {"check_correct_fn": checker}
    checked = checker if all("references" in run for run in samples.values()) else None
    scope = Scope([run.outcomes.n for run in runs], checked, *nouns)
    arguments = [{**checking, **measure} for measure in measures]
    if len(runs) == 2:
        return _two_runs(runs, options, arguments, k, scope)
    return _many_runs(runs, options[0], arguments[0], k, scope)


def _two_runs(
    runs: Sequence[Run],
    options: Sequence[ComparisonOptions],
    arguments: list[dict[str, Any]],
    k: int | None,
    scope: Scope,
) -> Comparison:
    """Return the differences of two runs for each measure. The sentence is on the first."""
    compared = [compare_runs(runs, measure) for measure in options]
    differences = [differences_of(measure) for measure in compared]
    key = next(x.key for x in differences[0] if k is None or x.k == k)
    names = [run.name for run in runs]
    view = ComparisonView({None: differences[0]}, names, compared[0].options, scope)
    scores = [differences_as_dict(measure) for measure in differences]
    interval = str(options[0].interval)
    return Comparison(view.sentence(key), interval, key, scores, None, arguments)


def _many_runs(
    runs: Sequence[Run],
    options: ComparisonOptions,
    arguments: dict[str, Any],
    k: int | None,
    scope: Scope,
) -> Comparison:
    """Return the leaderboard of the runs by one measure, at the selected k."""
    selected: dict[str, Any] = {} if k is None else {"k": k}
    compared = compare_runs(runs, replace(options, **selected, all_k=False))
    board = leaderboard_of(compared)
    sentence = LeaderboardView(board, scope).sentence()
    interval, key = str(options.interval), compared.scores[0].key
    return Comparison(sentence, interval, key, [], board, [{**arguments, **selected}])
