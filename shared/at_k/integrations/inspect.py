"""A metric of inspect_ai for tasks with several epochs.

    from at_k.integrations.inspect import at_k

    Task(dataset=.., solver=.., scorer=match(), epochs=8,
         metrics=[at_k(k=[1, 4], scores=["pass@k", "pass^k"], interval="questions")])

What inspect_ai calls a sample is a question here, and its epochs are the samples of the question.
The metric receives all epochs, not their means, so that it can compute all scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from ..readers.layouts import score_of_inspect
from ..readers.words import as_outcome, comparable
from .request import REQUESTED, ScoreRequest

_MISSING = object()


@metric(name="at_k", scores="unreduced")
def at_k(
    k: int | Sequence[int] = 1,
    scores: str | Sequence[str] = REQUESTED,
    interval: str | None = None,
    confidence: float | None = 0.95,
    groups: str | None = None,
    clusters: str | None = None,
    correct_values: Sequence[str | float] | None = None,
) -> Metric:
    """Return a metric with pass@k, pass^k and other scores of the epochs, and their limits.

    A sample that raised an error or is unscored is left out, as by other metrics of inspect_ai. A
    score is NaN if it cannot be computed. Then another entry of the log says why: its name is a
    sentence, such as "questions with fewer than 8 scored samples, ..", and its value is the number
    of these questions.

    Args:
        k: sizes of the subsets of epochs.
        scores: names of scores of the metric `gpassk`, or "max@k".
        interval: "sampling", for the same questions, sampled again; "questions", for other
            questions like these; or another one of `gpassk`.
        confidence: confidence of the limits `pass@4_lo` and `pass@4_hi`, or None for no limits.
        groups: the key of the group in the metadata of samples. The scores of each group are added
            as "<group>/pass@4".
        clusters: the key of the cluster in the metadata, for the interval "questions".
        correct_values: the values of a scorer that mean correct, such as ["C"]. All others are
            incorrect. Default: "C" is 1, "I" and "N" are 0, "P" is 0.5, and numbers are not
            changed. max@k accepts values such as 0.5, and pass@k does not.
    """
    request = ScoreRequest(k, scores, interval, confidence)
    correct = None if correct_values is None else set(map(comparable, correct_values))
    roles = {"groups": groups, "clusters": clusters}
    keys = {role: key for role, key in roles.items() if key is not None}

    def scores_of_epochs(scores: list[SampleScore]) -> Value:
        """Return one dict: values of scores by name, and numbers of questions by problem."""
        samples: dict[str, list[Any]] = {}
        metadata: dict[str, dict[str, Any]] = {}
        for index, sample in enumerate(scores):
            question = f"{index}" if sample.sample_id is None else f"{sample.sample_id}"
            samples.setdefault(question, []).append(_outcome(sample.score.value, correct))
            metadata.setdefault(question, sample.sample_metadata or {})
        labels: dict[str, list[Any]] = {}
        problems: dict[str, float] = {}
        for role, key in keys.items():
            entries = [fields.get(key, _MISSING) for fields in metadata.values()]
            if missing := entries.count(_MISSING):
                problems[f"questions without {key} in their metadata: no {role}"] = float(missing)
            else:
                labels[role] = entries
        values, problems_of_scores = request.values([*samples.values()], [*samples], **labels)
        return values | problems | problems_of_scores

    return scores_of_epochs


def _outcome(value: Any, correct: set[Any] | None) -> Any:
    """Return 1 if `correct` has the value, else 0. Without `correct`, return it as an outcome."""
    if correct is None:
        return as_outcome(score_of_inspect(value))
    return int(comparable(value) in correct)
