"""A metric of lm-evaluation-harness for tasks with `repeats`, in one line of the task's YAML.

    repeats: 8
    filter_list:
      - {name: all, filter: [{function: take_first_k, k: 8}]}
    metric_list:
      - {metric: at_k, k: [1, 4], check_correct_fn: numeric}

The harness finds no plugins by itself, so run it through this module, with its usual arguments:

    python -m at_k.integrations.lm_eval run --model hf --tasks my_task ...

In Python, `import at_k.integrations.lm_eval` before `simple_evaluate`. The metric receives the
responses that each filter keeps. Without `filter_list`, the harness keeps only the first response.

The harness calls a metric for each document, and then aggregates the values of all documents to the
score of the task. So the value of a document carries its outcomes.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ..core.checking import Checking
from ..core.columns import stored
from ..core.samples import read_samples
from .request import REQUESTED, ScoreRequest, log_problems


class ScoreOfDocument(float):
    """Store a score of one document, with the outcomes of its responses, for the task's score.

    If `name` is that of a standard error or a limit, which only a task has, the float is the score.
    `request` is that of the task. `compares_texts` is whether the checker is "exact_match".
    """

    name: str
    outcomes: tuple[Any, ...]
    request: ScoreRequest
    compares_texts: bool


class ScoresOfDocument(dict[str, ScoreOfDocument]):
    """The scores of one document by their names."""

    def __missing__(self, name: str) -> Any:
        """Raise a ValueError: the harness looks up "at_k" if a document has several targets."""
        raise ValueError(
            "at_k: the task has documents with several targets, which the harness checks one by "
            "one. Score its log instead: at-k gpassk samples_*.jsonl --references target_list."
        )


def at_k(
    references: Sequence[str],
    predictions: Sequence[str | Sequence[str]],
    k: int | Sequence[int] = 1,
    scores: str | Sequence[str] = REQUESTED,
    interval: str | None = None,
    confidence: float | None = 0.95,
    check_correct_fn: str | Callable[..., Any] = "exact_match",
) -> ScoresOfDocument:
    """Return the scores of a document, which carry its outcomes for the scores of the task.

    Args:
        references: a list with the target of the document.
        predictions: a list with the responses of the document, as the filter returns them.
        k, scores, interval, confidence: see `at_k.integrations.inspect.at_k`.
        check_correct_fn: a named checker, such as "numeric", or `!function utils.check` in YAML.
    """
    (responses,) = predictions
    samples = [responses] if isinstance(responses, str) else list(responses)
    question = stored(read_samples([samples]), list(references))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `_values_of_task` warns about all documents together.
        checking = Checking(check_correct_fn)
        checked = checking.check(question).outcomes
    outcomes = tuple(checked.values[checked.is_scored].tolist())
    request = ScoreRequest(k, scores, interval, confidence)
    without_limits = ScoreRequest(k, scores, confidence=None)
    values, _ = without_limits.values([outcomes] if outcomes else [], [""])
    result = ScoresOfDocument()
    # Standard errors and limits exist for the task only. Here they have the value of their score.
    for name, key in request.names.items():
        result[name] = score = ScoreOfDocument(values[key])
        score.name, score.outcomes, score.request = name, outcomes, request
        score.compares_texts = checking.matches_exactly
    return result


def _aggregate_at_k(scores: Sequence[ScoreOfDocument]) -> float:
    """Return the value of the task for the name that the scores of all documents have, or NaN."""
    documents = tuple(score.outcomes for score in scores)
    values = _values_of_task(scores[0].request, documents, scores[0].compares_texts)
    return values.get(scores[0].name, math.nan)


@lru_cache(maxsize=16)
def _values_of_task(
    request: ScoreRequest, documents: tuple[tuple[Any, ...], ...], compares_texts: bool
) -> dict[str, float]:
    """Return the values of a task by name from the outcomes of documents; log why some are NaN.

    The result is cached, because the harness asks for one value after the other.
    """
    scored = {f"document {i}": outcomes for i, outcomes in enumerate(documents) if outcomes}
    values, problems = request.values([*scored.values()], [*scored])
    log_problems(problems)
    warning = logging.getLogger(__name__).warning
    if max(request.k) > 1 and max(map(len, documents)) == 1:
        warning(
            "at_k: The filter keeps one response of each document. To keep 8, add to the task: "
            "filter_list: [{name: all, filter: [{function: take_first_k, k: 8}]}]."
        )
    if compares_texts and not any(map(any, documents)):
        warning(
            "at_k: No response is correct. By default, whole texts are compared; "
            "check_correct_fn: numeric compares the number that a text gives as its answer."
        )
    return values


if __name__ == "__main__":
    from importlib import import_module

    from lm_eval.__main__ import cli_evaluate

    import_module("at_k.integrations.lm_eval")  # Import this file, as `__main__` is another copy.
    cli_evaluate()
else:
    from lm_eval.api.registry import register_aggregation, register_metric

    register_aggregation("at_k")(_aggregate_at_k)
    register_metric(
        metric="at_k", higher_is_better=True, output_type="generate_until", aggregation="at_k"
    )(at_k)
