"""Grade the samples of a request, and compare its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from at_k.cli.sentences import sentence_of_many, sentence_of_two
from at_k.runs.compared import compare_runs, labels_of
from at_k.runs.comparison import comparison_of_two
from at_k.runs.leaderboard import leaderboard_of
from at_k.runs.outcomes_of_runs import Run, check_same_questions, grade_runs, parse_run

from .request import Comparison, Questions, Samples

_TEXTS = ("question", "problem", "prompt", "instruction", "input", "query")
"""Names of columns with the texts of questions, in lower case."""


def grade_samples(
    samples: Mapping[str, Samples], checker: str, executor: Executor | None, metric: str
) -> list[Run]:
    """Return the outcomes of each run.

    Args:
        samples: the samples of each run, by its label.
        checker: the name of the checker.
        executor: what checks samples, or None.
        metric: the name of the score, whose labels stand for outcomes.

    Raises:
        ValueError: if a sample is neither checked nor an outcome, such as a label of a category.
    """
    labels = labels_of(metric)
    parsed = [parse_run(label, run, labels) for label, run in samples.items()]
    return grade_runs(parsed, checker, labels=labels, executor=executor)


def questions_of(
    samples: Mapping[str, Samples], identifiers: Mapping[str, Sequence[Any]], runs: Sequence[Run]
) -> Questions:
    """Return the questions, with the outcomes of those runs whose samples are not counts."""
    first = next(iter(samples.values()))["predictions"]
    total = len(first["n"]) if isinstance(first, dict) else len(first)
    columns = {name: [str(entry) for entry in entries] for name, entries in identifiers.items()}
    texts = next((columns[name] for name in _TEXTS if name in columns), [""] * total)
    names = next(
        (entries for name, entries in columns.items() if name not in _TEXTS),
        [str(number) for number in range(1, total + 1)],
    )
    outcomes = {}
    for run in runs:
        if not isinstance(samples[run.name]["predictions"], dict):
            scored = run.outcomes.scored
            values = [
                float(value) if scored is None or scored[place] else None
                for place, value in enumerate(run.outcomes.values)
            ]
            ends = run.outcomes.sizes.cumsum().tolist()
            starts = [0, *ends[:-1]]
            outcomes[run.name] = [values[i:j] for i, j in zip(starts, ends, strict=True)]
    return Questions(names, texts, outcomes)


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
