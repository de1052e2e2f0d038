"""weighted_vote@k: the probability that the answer with the most weight among k samples is correct.

Each sample votes with a weight, such as its confidence or its reward. Draw k of the n samples of a
question, without replacement. The answer with the largest sum of weights wins; answers with equal
sums share the win. If no sample with an answer has a weight above 0, no answer wins.

Sums of weights are not counts, so the method of `core.votes` does not apply. If there are at most
20,000 subsets, as for all n up to 16, each is evaluated, which is exact. Otherwise the result is
the mean over 10,000 random subsets, an unbiased estimate. Its standard error is at most 0.005 for a
question, and 0.005 / sqrt(M) for the mean of M. The subsets do not change from call to call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..core.checking import Checked
from ..core.checks import InputError, Place
from ..core.consensus import more_than_half
from ..core.samples import Samples
from ..core.score import ScoreId, Scores, one_column_each
from .aligned import read_scores

_MOST_SUBSETS = 20_000  # If there are more, random ones are drawn.
_RANDOM_SUBSETS = 10_000
_MOST_VOTERS = 20_000  # largest number of samples of a question, to bound memory
_EQUAL = 1e-12  # Sums with at most this relative difference are equal but for rounding.


class WeightedAnswers(NamedTuple):
    """The weights of the votes of a question with n samples and A distinct answers.

    Attributes:
        weights: (n, A) weight of each sample in the column of its answer, otherwise 0.
        credits: (A,) the share of the samples with each answer that are correct.
    """

    weights: np.ndarray
    credits: np.ndarray


@dataclass(frozen=True)
class WeightedVotes:
    """The votes with weights of M questions."""

    questions: Sequence[WeightedAnswers]

    @classmethod
    def from_checked(cls, checked: Checked, vote_weights: Any, merge_right: bool) -> WeightedVotes:
        """Return the votes of checked samples. `vote_weights` has a list for each question.

        With `merge_right`, all correct answers to a question count as one. Raises ValueError if
        there are no answers, or if a weight is missing or invalid.
        """
        if checked.answers is None:
            raise ValueError("vote_weights weigh answers: give predictions and references.")
        weights = read_scores(vote_weights, "vote_weights", checked.outcomes)
        named = replace(checked.outcomes, values=weights, name="vote_weights")
        wanted = "a weight of a vote is a number from 0 to 1e300"
        named.require((weights >= 0) & (weights <= 1e300), wanted)
        correct = more_than_half(checked.outcomes)
        return cls(weigh_answers(correct, checked.answers, weights, merge_right))

    def at(self, k: int | np.ndarray) -> np.ndarray:
        """Return weighted_vote@k of each question, (M,), for one k or (M,) of them."""
        ks, result = np.broadcast_to(k, len(self.questions)), np.empty(len(self.questions))
        for question, votes in enumerate(self.questions):
            if (n := len(votes.weights)) > _MOST_VOTERS:
                raise InputError(
                    Place("Question", question),
                    f" has n = {n} samples: weighted_vote@k takes at most {_MOST_VOTERS}.",
                )
            # The samples are in an order that depends on the question, so that the errors of
            # questions with equal n are independent.
            order = np.random.default_rng(question).permutation(n)
            subsets = _subsets(n, int(ks[question]))[:, order]
            result[question] = _winner_credits(votes, subsets).mean()
        return result


def weighted_vote_scores(
    checked: Checked,
    vote_weights: Any,
    merge_right: bool,
    sizes: Mapping[ScoreId, int | np.ndarray],
) -> Scores:
    """Return weighted_vote@k under each id of `sizes`, which has its k, or the k of each question.

    The other arguments are those of `WeightedVotes.from_checked`.
    """
    votes = WeightedVotes.from_checked(checked, vote_weights, merge_right)
    columns = np.stack([votes.at(k) for k in sizes.values()], axis=1)
    return Scores(one_column_each(sizes), np.arange(len(columns)), columns)


def weigh_answers(
    correct: Samples, answers: np.ndarray, weights: np.ndarray, merge_correct: bool
) -> list[WeightedAnswers]:
    """Return the weights of the votes of each question.

    `correct` are S samples with the values 0 and 1. `answers`, (S,), are integer codes, -1 for no
    answer, and `weights`, (S,), are at least 0. With `merge_correct`, all answers to a question
    that are correct in more than half of their samples count as one.
    """
    scored, result = correct.is_scored, []
    ends, merged_code = np.cumsum(correct.n)[:-1], answers.max() + 1
    columns = (np.split(x[scored], ends) for x in (answers, weights, correct.values))
    for codes, sample_weights, is_correct in zip(*columns, strict=True):
        if merge_correct:
            _, index, credits = _distinct_answers(codes, is_correct)
            codes = np.where((credits > 0.5)[index] & (codes >= 0), merged_code, codes)
        distinct, index, credits = _distinct_answers(codes, is_correct)
        table = np.zeros((len(codes), len(distinct)))
        table[np.arange(len(codes)), index] = sample_weights
        has_vote = distinct >= 0
        result.append(WeightedAnswers(table[:, has_vote], credits[has_vote]))
    return result


def _distinct_answers(
    codes: np.ndarray, is_correct: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the A distinct codes, the index in them of each sample's code, and their credits.

    The credit of a code, (A,), is the share of its samples that are correct.
    """
    distinct, index = np.unique(codes, return_inverse=True)
    return distinct, index, np.bincount(index, is_correct) / np.bincount(index)


@lru_cache(maxsize=16)
def _subsets(n: int, k: int) -> np.ndarray:
    """Return a mask, (subsets, n), of all subsets of k of n samples, or random ones if too many."""
    if math.comb(n, k) <= _MOST_SUBSETS:
        chosen = np.array([*itertools.combinations(range(n), k)])
    else:
        keys = np.random.default_rng([n, k]).random((_RANDOM_SUBSETS, n))
        chosen = keys.argpartition(k - 1, axis=1)[:, :k]  # the samples with the k smallest keys
    subsets = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(subsets, chosen, True, axis=1)
    return subsets


def _winner_credits(votes: WeightedAnswers, subsets: np.ndarray) -> np.ndarray:
    """Return the mean credit of the winning answers in each row of the mask; 0 without a winner."""
    sums = subsets @ votes.weights
    most = sums.max(axis=1, initial=0.0, keepdims=True)
    is_winner = (sums >= most * (1 - _EQUAL)) & (most > 0)
    return is_winner @ votes.credits / np.maximum(is_winner.sum(axis=1), 1)
