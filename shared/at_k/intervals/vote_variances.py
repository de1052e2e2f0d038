"""The variance of vote@k for new samples of the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..core.votes import AnswerCounts, vote_at_k, vote_probability

_MANY_SAMPLES = 1 << 50
_NO_ANSWERS = AnswerCounts((), (), 0)


def vote_variances(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return the estimated variance of vote@k of each question for new samples, (M,).

    For k <= n/2 it is the jackknife variance, whose mean is at least the variance (Efron & Stein
    1981, Annals of Statistics 9, 586). For larger k no estimate from n samples is unbiased. The
    variance is then at most k/n times that of the vote of k new samples (Hoeffding 1948, Annals of
    Mathematical Statistics 19, 293), with equality for k = n, and this vote is correct with a
    probability that is estimated by drawing with replacement. For k = n, the mean of the estimate
    is 0.71 to 0.93 of the variance if the most frequent answers are equally probable, and mostly
    above the variance if one of them leads. One sample does not show how samples vary, and has the
    largest possible variance, 1/4.

    Args:
        counts: M answer counts.
        k: one k, or (M,) of them; at most the number of samples of the question.
    """
    n, ks = np.array([_number_of_samples(x) for x in counts]), np.broadcast_to(k, len(counts))
    is_large = 2 * ks > n
    copied = [
        copies_of_samples(x) if large else _NO_ANSWERS
        for x, large in zip(counts, is_large.tolist(), strict=True)
    ]
    chance = vote_at_k(copied, ks)
    result = np.where(n == 1, 0.25, ks / n * chance * (1 - chance))
    for question in np.flatnonzero(~is_large).tolist():
        result[question] = _jackknife_variance(counts[question], int(ks[question]))
    return result


def copies_of_samples(counts: AnswerCounts) -> AnswerCounts:
    """Return the counts of so many copies of each sample that k draws are as with replacement.

    For N samples in all, probabilities have relative errors of k^2 / 2N.
    """
    copies = _MANY_SAMPLES // _number_of_samples(counts)
    correct, incorrect = (tuple(m * copies for m in x) for x in counts[:2])
    return AnswerCounts(correct, incorrect, counts.unanswered * copies)


def _number_of_samples(counts: AnswerCounts) -> int:
    return sum(counts.correct) + sum(counts.incorrect) + counts.unanswered


@lru_cache(maxsize=1 << 14)
def _jackknife_variance(counts: AnswerCounts, k: int) -> float:
    n = _number_of_samples(counts)
    multiplicity, smaller = zip(*_without_one_sample(counts), strict=True)
    share = np.array(multiplicity) / n
    vote = np.array([vote_probability(rest, k) for rest in smaller])
    return (n - 1) * float(share @ (vote - share @ vote) ** 2)


def _without_one_sample(counts: AnswerCounts) -> list[tuple[int, AnswerCounts]]:
    """Return the distinct counts of all samples but one, each with how many samples lead to it."""
    correct, incorrect, unanswered = counts
    result = [
        (m * correct.count(m), counts._replace(correct=_one_less(correct, m)))
        for m in sorted({*correct})
    ]
    result += [
        (m * incorrect.count(m), counts._replace(incorrect=_one_less(incorrect, m)))
        for m in sorted({*incorrect})
    ]
    if unanswered:
        result.append((unanswered, counts._replace(unanswered=unanswered - 1)))
    return result


def _one_less(samples: tuple[int, ...], m: int) -> tuple[int, ...]:
    rest = list(samples)
    rest[samples.index(m)] -= 1
    return tuple(sorted(filter(None, rest)))
