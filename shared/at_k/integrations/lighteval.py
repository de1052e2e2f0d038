"""A metric of lighteval for tasks with several samples of each document.

    from at_k.integrations.lighteval import at_k

    LightevalTaskConfig(.., metrics=[at_k(k=[1, 4], n=8, interval="questions", strip_strings=True)])

The details have the outcomes of the samples, which `at-k` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lighteval.metrics.metrics_sample import PassAtK
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.requests import SamplingMethod

from .request import REQUESTED, ScoreRequest, log_problems


class SampleOutcomes(PassAtK):
    """The outcomes of the n samples of a document, which lighteval normalizes as for its pass@k."""

    def pass_at_k(self, all_scores: list[Any]) -> Any:
        """Return the outcomes of the samples, not pass@k: the scores of the task need them."""
        return [float(score) for score in all_scores]


def at_k(
    k: int | Sequence[int] = 1,
    n: int | None = None,
    scores: str | Sequence[str] = REQUESTED,
    interval: str | None = None,
    confidence: float | None = 0.95,
    **scoring: Any,
) -> CorpusLevelMetric:
    """Return a metric with pass@k, pass^k and other scores of a task, and their limits.

    A score is NaN if it cannot be computed, and a warning in the log of the run says why.

    Args:
        n: number of samples to generate for each document. Default: the largest k.
        k, scores, interval, confidence: see `at_k.integrations.inspect.at_k`.
        **scoring: arguments of lighteval's `PassAtK` for the outcome of a sample: `normalize`,
            `strip_strings` and `sample_scoring_function`.
    """
    request = ScoreRequest(k, scores, interval, confidence)

    def scores_of_task(documents: list[list[float]]) -> dict[str, float]:
        """Return the scores of a task by name. `documents` has the outcomes of each document."""
        ids = [f"document {i}" for i in range(len(documents))]
        values, problems = request.values(documents, ids)
        log_problems(problems)
        return values

    samples = max(request.k) if n is None else n
    return CorpusLevelMetric(
        metric_name="at_k",
        sample_level_fn=SampleOutcomes(k=max(request.k), n=samples, **scoring),
        category=SamplingMethod.GENERATIVE,
        corpus_level_fn=scores_of_task,
        higher_is_better=True,
    )
