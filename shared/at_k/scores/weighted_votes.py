"""weighted_vote@k: the probability that the answer with the most weight among k samples is correct.

Each sample votes with a weight, such as its confidence. Draw k of the n samples of a question. The
answer with the largest sum of weights wins, and answers with equal sums share the win. If no sample
with an answer has a weight above 0, none wins. Up to 20,000 subsets, as for all n up to 16, each is
evaluated, which is exact. Otherwise the result is the mean over 10,000 random subsets, the same in
each call. It is unbiased, with a standard error of at most 0.005 for a question.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.checking import Checked
from ..core.checks import InputError, Place
from ..core.consensus import more_than_half
from ..core.score import ScoreId, Scores
from .aligned import read_scores

_MOST_SUBSETS = 20_000  # If there are more, random ones are drawn.
_RANDOM_SUBSETS = 10_000
_MOST_VOTERS = 20_000  # largest number of samples of a question, to bound memory
_EQUAL = 1e-12  # Sums with at most this relative difference are equal but for rounding.


def weighted_vote_scores(
    checked: Checked,
    vote_weights: Any,
    merge_correct: bool,
    sizes: Mapping[ScoreId, int | np.ndarray],
) -> Scores:
    """Return weighted_vote@k of M questions for each id in `sizes`, whose k is a number or (M,).

    If `merge_correct`, all answers to a question that are correct in more than half of their
    samples count as one. Raises ValueError without answers, or for an invalid weight.
    """
    if checked.answers is None:
        raise ValueError("vote_weights weigh answers: give predictions and references.")
    weights = read_scores(vote_weights, "vote_weights", checked.outcomes)
    named = replace(checked.outcomes, values=weights, name="vote_weights")
    wanted = "a weight of a vote is a number from 0 to 1e300"
    named.require((weights >= 0) & (weights <= 1e300), wanted)
    correct = more_than_half(checked.outcomes)
    scored, ends = correct.is_scored, np.cumsum(correct.n)[:-1]
    values = [np.split(x[scored], ends) for x in (checked.answers, weights, correct.values)]
    columns = np.empty((len(correct.n), len(sizes)))
    for question, (codes, sample_weights, is_correct) in enumerate(zip(*values, strict=True)):
        if (n := len(codes)) > _MOST_VOTERS:
            raise InputError(
                Place("Question", question),
                f" has n = {n} samples: weighted_vote@k takes at most {_MOST_VOTERS}.",
            )
        votes, credits = _votes_and_credits(codes, sample_weights, is_correct, merge_correct)
        # The samples are in an order that depends on the question, so that the errors of questions
        # with equal n are independent.
        order = np.random.default_rng(question).permutation(n)
        for column, k in enumerate(sizes.values()):
            subsets = _subsets(n, int(np.broadcast_to(k, len(correct.n))[question]))
            columns[question, column] = _winner_credits(votes, credits, subsets[:, order]).mean()
    return Scores.from_values(dict(zip(sizes, columns.T, strict=True)))


def _votes_and_credits(
    codes: np.ndarray, weights: np.ndarray, is_correct: np.ndarray, merge_correct: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return (votes, credits) of the A distinct ones of n answers, whose codes are -1 for none.

    `votes`, (n, A), have the weight of each sample in the column of its answer, otherwise 0, and
    `credits`, (A,), are the shares of the samples with each answer that are correct.
    """
    distinct, index = np.unique(codes, return_inverse=True)
    credits = np.bincount(index, is_correct) / np.bincount(index)
    mostly_correct = (credits > 0.5) & (distinct >= 0)
    if merge_correct and mostly_correct.sum() > 1:
        merged = np.where(mostly_correct[index], codes.max() + 1, codes)
        return _votes_and_credits(merged, weights, is_correct, merge_correct=False)
    votes = np.zeros((len(codes), len(distinct)))
    votes[np.arange(len(codes)), index] = weights
    return votes[:, distinct >= 0], credits[distinct >= 0]


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


def _winner_credits(votes: np.ndarray, credits: np.ndarray, subsets: np.ndarray) -> np.ndarray:
    """Return the mean credit of the winning answers in each row of the mask; 0 without a winner."""
    sums = subsets @ votes
    most = sums.max(axis=1, initial=0.0, keepdims=True)
    is_winner = (sums >= most * (1 - _EQUAL)) & (most > 0)
    return is_winner @ credits / np.maximum(is_winner.sum(axis=1), 1)
