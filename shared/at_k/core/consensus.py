"""Scores of a majority of the samples: cons@k, avg@n, pass@k, maj@k, votes, and mean shares.

The first four depend on a question only through its counts: n samples, c of them correct. cons@k is
the indicator that more than k/2 of all n samples are correct; it has no posterior. The vote of
answers is in `votes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .checking import Checked
from .checks import check_samples
from .counts import BinaryCounts
from .credits import Credits, any_correct, majority
from .expected import expected_credits
from .samples import Samples, n_in_keys
from .score import ScoreId
from .votes import AnswerCounts, count_answers, vote_at_k

CountScore = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Returns the (U,) values of a score, from n and c, both (U,)."""


@dataclass(frozen=True)
class Consensus:
    """What the scores of cons_at_k depend on.

    Attributes:
        shares: the share of correctness of each sample.
        correct: whether it is above 1/2.
        counts: of correct samples.
        ks: each k by the number that keys show for it. None stands for all samples of a question.
        votes: (M,) the votes of the answers, or None if there are no answers.
        weighted: the votes with weights, or None.
    """

    shares: Samples
    correct: Samples
    counts: BinaryCounts
    ks: Mapping[int | str, int | None]
    votes: Sequence[AnswerCounts] | None = None
    weighted: Any = None

    @classmethod
    def from_checked(
        cls, checked: Checked, ks: Sequence[int] | None, merge_right: bool, with_votes: bool
    ) -> Consensus:
        """Return what the scores of checked samples depend on.

        Args:
            checked: the outcomes, and the answers if there are any.
            ks: the requested k, or None for k = n.
            merge_right: whether all correct answers to a question count as one in votes.
            with_votes: whether vote@k is asked for.

        Raises:
            ValueError: if a k exceeds the number of scored samples of a question.
        """
        correct = more_than_half(checked.outcomes)
        counts = correct.counts()
        check_samples([*(ks or [])], counts.n)  # the checker may leave samples unscored
        shown: dict[int | str, int | None] = {n_in_keys(counts.n): None}
        if ks:
            shown = {k: k for k in ks}
        votes = None
        if checked.answers is not None and with_votes:
            votes = count_answers(correct, checked.answers, merge_right)
        return cls(checked.outcomes, correct, counts, shown, votes)

    @property
    def n(self) -> int | str:
        """The number of samples that keys show."""
        return n_in_keys(self.counts.n)

    def sizes(self, k: int | None) -> int | np.ndarray:
        """The size of the subsets: k, or (M,) all samples of each question for None."""
        return self.counts.n if k is None else k

    @property
    def has_shares(self) -> bool:
        """Return whether outcomes may be shares of correctness, which have a mean of their own."""
        return self.shares.values.dtype.kind == "f"

    def count_scores(self) -> dict[ScoreId, CountScore]:
        """Return the scores of counts, as functions of (U,) n and c.

        They are cons@k for each k, then avg@n, pass@k and maj@k.
        """
        scores: dict[ScoreId, CountScore] = {
            ScoreId("cons@k", shown): partial(_has_majority, k) for shown, k in self.ks.items()
        }
        scores[ScoreId("avg@N", self.n)] = _share_correct
        for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
            for shown, k in self.ks.items():
                scores[ScoreId(metric, shown)] = partial(_expected_credit, credits, k)
        return scores

    def values(self) -> dict[ScoreId, np.ndarray]:
        """Return the (M,) values of all scores."""
        counts = self.counts
        values = {
            key: score(*counts.unique)[counts.inverse] for key, score in self.count_scores().items()
        }
        if self.has_shares:
            values[ScoreId("accuracy (n runs average)", self.n)] = mean_shares(self.shares)
        if self.votes is not None:
            for shown, k in self.ks.items():
                values[ScoreId("vote@k", shown)] = vote_at_k(self.votes, self.sizes(k))
        return values | self.weighted_scores()

    def weighted_scores(self) -> dict[ScoreId, np.ndarray]:
        """Return the (M,) values of weighted_vote@k for each k, if votes have weights."""
        if self.weighted is None:
            return {}
        return {
            ScoreId("weighted_vote@k", shown): self.weighted.at(self.sizes(k))
            for shown, k in self.ks.items()
        }


# --- Single scores ----------------------------------------------------------------------


def _has_majority(k: int | None, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return (U,) cons@k: 1.0 if more than k/2 of all samples are correct; None stands for k = n."""
    return (2 * c > (n if k is None else k)).astype(float)


def _share_correct(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return (U,) avg@n of questions with n samples, c of them correct."""
    return c / n


def _expected_credit(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """Return (U,) expected credit of k of n samples, c of them correct; None stands for k = n.

    `credits` returns the credits of the score for a k.
    """
    result = np.empty(len(n))
    for size, rows in rows_by_k(k, n):
        result[rows] = expected_credits(n[rows], c[rows], [credits(size)])[:, 0]
    return result


def rows_by_k(k: int | None, n: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each k with the rows that it applies to. None stands for k = n."""
    ks = n if k is None else np.full(len(n), k)
    for size in sorted({*ks.tolist()}):
        yield size, np.flatnonzero(ks == size)


# --- Shares of correctness --------------------------------------------------------------


def more_than_half(outcomes: Samples) -> Samples:
    """Return binary outcomes: correct if the share of correctness is above 1/2."""
    return replace(outcomes, values=outcomes.values > 0.5)


def mean_shares(outcomes: Samples) -> np.ndarray:
    """Return the mean share of correctness of the scored samples of each question, (M,)."""
    shares = outcomes.values * outcomes.weights.astype(float)
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n
