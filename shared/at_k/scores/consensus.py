"""Scores of a majority of correct samples: cons@k, avg@n, pass@k and maj@k.

Each depends on a question only through its counts: n samples, c of them correct. cons@k is the
indicator that more than k/2 of all n samples are correct; it has no posterior. The vote of answers
is in `votes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..inputs.counts import BinaryCounts
from ..inputs.outcomes import Outcomes
from .credits import Credits, any_correct, majority
from .distributions import Prior
from .pass_family import Estimator, credit_covariances, expected_credits
from .score import Moments, Score, ScoreId, ScoreKey, one_column_each


@dataclass(frozen=True)
class ConsensusScore:
    """A score of U questions with n samples, c of them correct.

    Attributes:
        estimate: returns (U,) values, from n and c, both (U,).
        moments: returns (U,) posterior means and (U,) variances, from n, c and the prior; or None
            if the score has no posterior.
    """

    estimate: Callable[[np.ndarray, np.ndarray], np.ndarray]
    moments: Callable[[np.ndarray, np.ndarray, Prior], tuple[np.ndarray, np.ndarray]] | None = None


def consensus_scores(
    ks: Mapping[int | str, int | None], n: int | str
) -> dict[ScoreId, ConsensusScore]:
    """Return the scores: cons@k for each k, then avg@n, pass@k and maj@k.

    Args:
        ks: each k by the number that keys show for it. None stands for all samples of a question.
        n: the number of samples that keys show.
    """
    scores = {
        ScoreId("cons@k", shown): ConsensusScore(partial(_has_majority, k))
        for shown, k in ks.items()
    }
    scores[ScoreId("avg@N", n)] = ConsensusScore(_share_correct, _share_correct_moments)
    for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
        for shown, k in ks.items():
            scores[ScoreId(metric, shown)] = ConsensusScore(
                partial(_expected_credit, credits, k), partial(_expected_credit_moments, credits, k)
            )
    return scores


def consensus_estimator(
    scores: Mapping[ScoreKey, ConsensusScore],
) -> tuple[dict[ScoreKey, Score], Estimator]:
    """Return the scores in terms of columns, and the function that estimates the columns."""

    def estimate(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        return np.stack([score.estimate(n, c) for score in scores.values()], axis=1)

    return one_column_each(scores), estimate


def consensus_moments(
    scores: Mapping[ScoreKey, ConsensusScore], counts: BinaryCounts, prior: Prior
) -> Moments:
    """Return the posterior moments of the scores that have a posterior."""
    moments = {
        key: score.moments(*counts.unique, prior) for key, score in scores.items() if score.moments
    }
    return Moments(
        one_column_each(moments),
        counts.inverse,
        np.stack([mean for mean, _ in moments.values()], axis=1),
        {(column, column): variance for column, (_, variance) in enumerate(moments.values())},
    )


# --- Single scores ----------------------------------------------------------------------


def _has_majority(k: int | None, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    return (2 * c > (n if k is None else k)).astype(float)


def _share_correct(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    return c / n


def _share_correct_moments(
    n: np.ndarray, c: np.ndarray, prior: Prior
) -> tuple[np.ndarray, np.ndarray]:
    """Return the moments of avg@N, whose prior is always uniform (see `Rewards.average`)."""
    rate = any_correct(1)
    variance = credit_covariances(n, c, [(rate, rate)], (1.0, 1.0))[:, 0]
    return c / n, ((n + 2) / n) ** 2 * variance


def _expected_credit(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray
) -> np.ndarray:
    result = np.empty(len(n))
    for size, rows in _rows_by_k(k, n):
        result[rows] = expected_credits(n[rows], c[rows], [credits(size)])[:, 0]
    return result


def _expected_credit_moments(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray, prior: Prior
) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = np.empty(len(n)), np.empty(len(n))
    for size, rows in _rows_by_k(k, n):
        credit = credits(size)
        mean[rows] = expected_credits(n[rows], c[rows], [credit], prior)[:, 0]
        variance[rows] = credit_covariances(n[rows], c[rows], [(credit, credit)], prior)[:, 0]
    return mean, variance


def _rows_by_k(k: int | None, n: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each k with the rows that it applies to. None stands for k = n."""
    ks = n if k is None else np.full(len(n), k)
    for size in sorted({*ks.tolist()}):
        yield size, np.flatnonzero(ks == size)


# --- Shares of correctness --------------------------------------------------------------


def more_than_half(outcomes: Outcomes) -> Outcomes:
    """Return binary outcomes: correct if the share of correctness is above 1/2."""
    return replace(outcomes, values=outcomes.values > 0.5)


def mean_shares(outcomes: Outcomes) -> np.ndarray:
    """Return the mean share of correctness of the scored samples of each question, (M,)."""
    shares = outcomes.values * outcomes.weights.astype(float)
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n


def share_variances(outcomes: Outcomes) -> np.ndarray:
    """Return the estimated variance of the mean share of each question for new samples, (M,).

    It is unbiased. One sample does not show how samples vary, and has the largest possible
    variance, 1/4.
    """
    n, question = outcomes.n, np.repeat(np.arange(len(outcomes.sizes)), outcomes.sizes)
    # Equal shares are counted first, so that counts of samples have the same last digit.
    order = np.lexsort((outcomes.values, question))
    shares, question = outcomes.values[order], question[order]
    is_first = (np.diff(shares, prepend=np.nan) != 0) | (np.diff(question, prepend=-1) > 0)
    first = np.flatnonzero(is_first)
    times = np.add.reduceat(outcomes.weights[order], first, dtype=np.int64)
    deviations = shares[first] - mean_shares(outcomes)[question[first]]
    squares = np.bincount(question[first], deviations**2 * times)
    return np.where(n > 1, squares / np.maximum(n * (n - 1.0), 1.0), 0.25)
