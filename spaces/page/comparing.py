"""Compare the runs of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from at_k.cli.sentences import sentence_of_many, sentence_of_two
from at_k.runs.compared import compare_runs, labels_of
from at_k.runs.comparison import comparison_of_two
from at_k.runs.leaderboard import leaderboard_of
from at_k.runs.outcomes_of_runs import Run, check_same_questions, parse_run

from .request import Comparison, Samples


def compare_samples(
    samples: Mapping[str, Samples],
    runs: Sequence[Run],
    checker: str,
    measures: Sequence[Mapping[str, Any]],
    k: int | None,
) -> Comparison:
    """Return the differences between runs.

    Args:
        samples: the samples of each run, by its label.
        runs: the outcomes of each run.
        checker: the name of the checker.
        measures: the scores that are compared, as arguments of `at_k.compare`.
        k: the selected number of samples, or None if the scores have none.

    Raises:
        ValueError: if the runs cannot be compared.
    """
    labels = labels_of(measures[0]["metric"])
    parsed = [parse_run(label, run, labels) for label, run in samples.items()]
    check_same_questions(parsed)
    sizes = [run.outcomes.n for run in runs]
    given: dict[str, Any] = {} if checker == "exact_match" else {"check_correct_fn": checker}
    checked = checker if all("references" in run for run in samples.values()) else None
    usual: dict[str, Any] = {"k": None, "interval": None, "clusters": None}
    if len(runs) == 2:
        compared = [compare_runs(runs, **{**usual, **measure}) for measure in measures]
        found, measure = compared[0], compared[0].measure
        scores = [comparison_of_two(each) for each in compared]
        key = found.keys[measure.ks.index(k) if k is not None else 0]
        sentence = sentence_of_two(
            scores[0], list(samples), sizes, measure.interval, measure.confidence, key, checked
        )
        given |= measures[0]
        return Comparison(sentence, measure.interval, key, scores, None, given)
    only = {"k": k} if k is not None else {}
    found = compare_runs(runs, **{**usual, **measures[0], **only}, all_k=False)
    board = leaderboard_of(found)
    given |= measures[0]
    given |= only
    sentence = sentence_of_many(board, sizes, checked)
    return Comparison(sentence, found.measure.interval, found.keys[0], [], board, given)
