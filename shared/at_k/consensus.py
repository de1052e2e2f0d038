"""What a majority of the samples would say: cons@k, maj@k, avg@n and vote@k of one bank."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .credits import Credits, any_right, majority
from .draws import Prior, covariance, expected
from .interval import Blend, Scores
from .outcomes import Counts, Outcomes, number_of_samples, require_shares
from .rewards import bayes_scores, category_rewards, check_prior_outcomes, check_rewards
from .votes import vote


class _Column(NamedTuple):
    """(M,) scores of the questions, and their posterior moments where they have any."""

    point: np.ndarray
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None


def consensus_scores(
    outcomes: Outcomes,
    draws: dict[str, np.ndarray],
    answers: np.ndarray | None,
    merge_right: bool,
    prior: Prior | None,
) -> Scores:
    """cons@k, avg@n, pass@k and maj@k, soft accuracy and vote@k, in this order.

    Args:
        outcomes: shares of correctness, of which one above a half is right.
        draws: what a key says of k, and (M,) the k of each question.
        answers: the code of each sample's answer, -1 for none; or None where there are none.
        merge_right: whether the right answers of a question are one answer.
        prior: for posterior moments, or None where none are wanted.
    """
    right = more_than_half(outcomes)
    counts = right.counts()
    c, n = counts.table[:, 1], number_of_samples(counts.n)
    columns: dict[str, _Column] = {}
    for each, k in draws.items():
        columns[f"cons@{each}"] = _Column((2 * c > k).astype(float))
    columns[f"avg@{n}"] = _average(right)
    for name, credit in (("pass", any_right), ("maj", majority)):
        for each, k in draws.items():
            columns[f"{name}@{each}"] = _drawn(counts, k, credit, prior)
    if outcomes.values.dtype.kind == "f":
        columns[f"accuracy ({n} runs average)"] = _Column(_mean_share(outcomes, counts.n))
    if answers is not None:
        scored = slice(None) if outcomes.scored is None else outcomes.scored
        question = np.repeat(np.arange(len(c)), outcomes.sizes)[scored]
        said = question, answers[scored], right.values[scored]
        for each, k in draws.items():
            columns[f"vote@{each}"] = _Column(vote(*said, k, merge_right))
    return _of_questions(columns)


def more_than_half(outcomes: Outcomes) -> Outcomes:
    """Binary outcomes: right where the share of correctness is above one half."""
    shares = require_shares(outcomes)
    return Outcomes(shares.values > 0.5, shares.sizes, shares.name, shares.scored)


def _average(right: Outcomes) -> _Column:
    w = check_rewards(None)
    rewards = category_rewards(right, w, check_prior_outcomes(None, len(right.sizes), len(w)))
    scores = bayes_scores(rewards, "bayes", "avg")
    point = scores.point[scores.kind, 1]
    return _Column(point, point, scores.covariance[1, 1][scores.kind])


def _drawn(
    counts: Counts, draws: np.ndarray, credit: Callable[[int], Credits], prior: Prior | None
) -> _Column:
    """A score of which each question has a k of its own."""
    n, c = counts.n, counts.table[:, 1]
    point, mean, variance = np.empty((3, len(n)))
    for k in np.unique(draws).tolist():
        rows = np.flatnonzero(draws == k)
        worth = credit(k)
        point[rows] = expected(n[rows], c[rows], [worth])[:, 0]
        if prior is not None:
            mean[rows] = expected(n[rows], c[rows], [worth], prior)[:, 0]
            variance[rows] = covariance(n[rows], c[rows], worth, worth, prior)
    return _Column(point) if prior is None else _Column(point, mean, variance)


def _mean_share(outcomes: Outcomes, n: np.ndarray) -> np.ndarray:
    shares = outcomes.values if outcomes.scored is None else outcomes.values * outcomes.scored
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / n


def _of_questions(columns: dict[str, _Column]) -> Scores:
    point = np.stack([each.point for each in columns.values()], axis=1)
    mean = [each.point if each.mean is None else each.mean for each in columns.values()]
    return Scores(
        {key: Blend((column,)) for column, key in enumerate(columns)},
        np.arange(len(point)),
        point,
        np.stack(mean, axis=1),
        {
            (column, column): each.variance
            for column, each in enumerate(columns.values())
            if each.variance is not None
        },
    )
