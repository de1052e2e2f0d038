"""Which interval a metric gives: by its name, or the one that is recommended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..inputs.outcomes import Counts
from ..scores.credits import Credits, Score, as_score
from ..scores.distributions import draw_scores, estimator, posterior
from ..scores.integer_tables import Prior
from .hierarchical import Hierarchical, learned
from .interval import Blend, Scores, Spread
from .recommended import Recommended
from .sampling import Estimate, Sampling

INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def drawn(
    counts: Counts,
    scores: Mapping[str, Score | Credits],
    interval: str,
    prior: Prior,
    clusters: np.ndarray | None,
) -> tuple[Scores, Spread]:
    """The scores of the pass family, and how sure they are.

    A score of more draws than a question has samples is that of the prior that is learned.
    """
    near = {key: as_score(score) for key, score in scores.items() if _k(score) <= counts.n.min()}
    far = {key: as_score(score) for key, score in scores.items() if key not in near}
    found = draw_scores(counts, near)
    if far:
        columns = learned(counts, list(_single(far).values()))
        place = found.columns.shape[1]
        keys = {key: Blend((place + column,)) for column, key in enumerate(far)}
        both = np.hstack([found.columns, columns])
        found = Scores({key: (found.keys | keys)[key] for key in scores}, counts.kind, both)
    if interval == "posterior":
        return found, posterior(counts, scores, prior)
    if interval == "hierarchical":
        return found, Hierarchical(counts, _single({**near, **far}))
    keys, estimate = estimator(near)
    return found, sampled(counts, keys, estimate, interval, clusters, _single(far))


def sampled(
    counts: Counts,
    keys: Mapping[str, Blend],
    estimate: Estimate,
    interval: str,
    clusters: np.ndarray | None,
    far: Mapping[str, Credits] | None = None,
) -> Spread:
    """How sure the scores of questions (n, c) are: by sampling, questions, or what is best."""
    if interval != "auto":
        return Sampling(counts, keys, estimate, interval == "questions", clusters)
    return Recommended(
        counts.n,
        Sampling(counts, keys, estimate),
        Hierarchical(counts, far or {}),
        Sampling(counts, keys, estimate, True, clusters),
    )


def _k(score: Score | Credits) -> int:
    return len(as_score(score).credits[0])


def _single(scores: Mapping[str, Score]) -> dict[str, Credits]:
    for key, score in scores.items():
        if len(score.credits) > 1:
            raise ValueError(
                f"{key} is a blend, and neither has a score of more draws than there are samples "
                f"nor a hierarchical interval: leave it out, or take interval='sampling'."
            )
    return {key: score.credits[0] for key, score in scores.items()}
