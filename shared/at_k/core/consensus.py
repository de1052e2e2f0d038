"""The scores of cons_at_k: cons@k, avg@n, pass@k, maj@k, vote@k, and mean shares of correctness.

The first four depend on counts only: n samples of a question, c of them correct. cons@k is 1 if
more than k/2 of all n samples are correct, otherwise 0. There are M questions, and U distinct pairs
(n, c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

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
"""A function of n and c, (U,) each, that returns the values of a score, (U,)."""


@dataclass(frozen=True)
class Consensus:
    """The data on which the scores of cons_at_k depend.

    Attributes:
        shares: outcomes from 0 to 1, the shares of correctness of samples.
        counts: numbers of samples, and of those whose share is above 1/2.
        ks: a dict from the k in the key of a score to its k. If scores use all n samples of each
            question, the first is n, or "n" if it differs between questions, and the second None.
        votes: the counts of answers of each question; None without answers or without vote@k.
    """

    shares: Samples
    counts: BinaryCounts
    ks: Mapping[int | str, int | None]
    votes: Sequence[AnswerCounts] | None = None

    @classmethod
    def from_checked(
        cls, checked: Checked, ks: Sequence[int] | None, merge_right: bool, with_votes: bool
    ) -> Consensus:
        """Return the data of checked samples, for scores at each k in `ks`, or at k = n if None.

        Answers are counted if `with_votes`, and if `merge_right`, all correct answers to a question
        are counted as one. Raises ValueError if a question has fewer than k scored samples.
        """
        correct = more_than_half(checked.outcomes)
        counts = correct.counts
        check_samples([*(ks or [])], counts.n)  # The checker may have left samples unscored.
        k_by_key: dict[int | str, int | None] = {k: k for k in ks or ()}
        votes = None
        if checked.answers is not None and with_votes:
            votes = count_answers(correct, checked.answers, merge_right)
        if not k_by_key:
            k_by_key[n_in_keys(counts.n)] = None  # all n samples of each question
        return cls(checked.outcomes, counts, k_by_key, votes)

    @property
    def n(self) -> int | str:
        """Return the N in keys such as "avg@8", or "n" if it differs between questions."""
        return n_in_keys(self.counts.n)

    def sizes(self, k: int | None) -> int | np.ndarray:
        """Return k, or the number of samples of each question, (M,), if k is None."""
        return self.counts.n if k is None else k

    @property
    def has_shares(self) -> bool:
        """Return whether outcomes are floats, whose mean, the accuracy, is a score too."""
        return self.shares.values.dtype.kind == "f"

    def count_scores(self) -> dict[ScoreId, CountScore]:
        """Return the functions for cons@k, avg@n, pass@k and maj@k of n samples, c of them correct.

        `ks` maps the k in the key of a score to the k of its function, or to None for k = n.
        """
        scores: dict[ScoreId, CountScore] = {
            ScoreId("cons@k", k_in_key): partial(_has_majority, k)
            for k_in_key, k in self.ks.items()
        }
        scores[ScoreId("avg@N", self.n)] = lambda n, c: c / n
        for metric, credits in (("pass@k", any_correct), ("maj@k", majority)):
            for k_in_key, k in self.ks.items():
                scores[ScoreId(metric, k_in_key)] = partial(_expected_credit, credits, k)
        return scores

    def values(self) -> dict[ScoreId, np.ndarray]:
        """Return the values of each score for the questions, (M,)."""
        counts = self.counts
        values = {
            key: score(*counts.unique)[counts.inverse] for key, score in self.count_scores().items()
        }
        if self.has_shares:
            values[ScoreId("accuracy (n runs average)", self.n)] = mean_shares(self.shares)
        if self.votes is not None:
            for k_in_key, k in self.ks.items():
                values[ScoreId("vote@k", k_in_key)] = vote_at_k(self.votes, self.sizes(k))
        return values


def _has_majority(k: int | None, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return cons@k, (U,): 1.0 if more than k/2 of n samples are correct. `k` is None for k = n."""
    return (2 * c > (n if k is None else k)).astype(float)


def _expected_credit(
    credits: Callable[[int], Credits], k: int | None, n: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """Return the mean credit of subsets of k of n samples, (U,). If `k` is None, k is n."""
    result = np.empty(len(n))
    for size, rows in rows_by_k(k, n):
        result[rows] = expected_credits(n[rows], c[rows], [credits(size)])[:, 0]
    return result


def rows_by_k(k: int | None, n: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each distinct k, ascending, and the indices of its rows. None stands for k = n."""
    ks = n if k is None else np.full(len(n), k)
    for size in sorted({*ks.tolist()}):
        yield size, np.flatnonzero(ks == size)


def more_than_half(outcomes: Samples) -> Samples:
    """Return outcomes that are True if the share of correctness of a sample is above 1/2."""
    return replace(outcomes, values=outcomes.values > 0.5)


def mean_shares(outcomes: Samples) -> np.ndarray:
    """Return the mean share of correctness of the scored samples of each question, (M,)."""
    shares = outcomes.values * outcomes.weights.astype(float)
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n
