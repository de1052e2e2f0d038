"""vote@k: the probability that the most frequent answer of k samples is correct.

Draw k of the n samples of a question. The answer with the most votes wins, and answers with equally
many share the win. Let m_i samples give the answer i, u samples no answer, and a winner have t
votes. With binomial coefficients C(m, t), the coefficient of z^k y^w in

    G_t(z, y) = (1 + z)^u
                * product over i of (C(m_i, 0) + .. + C(m_i, t-1) z^(t-1) + y C(m_i, t) z^t)

is the number of subsets in which w answers have t votes and none has more. Each of the w winners
has the share 1/w, the integral of y^(w-1) from 0 to 1. So, for the coefficient [z^k] of z^k,

    vote@k = sum over t, and over correct answers a, of
             [z^k] integral of C(m_a, t) z^t G_t(z, y) / (factor of a) dy,  divided by C(n, k).

The integrand is a polynomial in y of degree at most k/t - 1, which Gauss-Legendre quadrature with
half as many nodes integrates exactly. For t = 1, w is the number of the k samples that have an
answer, so no quadrature is needed. No term is negative, so no digits cancel. If a judge accepts
only some samples of an answer, it counts with its share of accepted samples, its credit.

There are M questions with S samples in all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .checks import InputError, Place
from .credits import majority
from .expected import expected_credits
from .samples import Samples

_MOST_OPERATIONS = 3e10  # for vote@k of one question, which takes some minutes


class AnswerCounts(NamedTuple):
    """How many samples of a question gave each of its answers.

    Attributes:
        correct: the number of samples of each answer that has accepted ones, ascending.
        incorrect: the number of samples of each other answer, ascending.
        unanswered: the number of samples without an answer. They are drawn, but have no vote.
        accepted: the number of accepted samples of each answer in `correct`; () if all are. Only a
            judge accepts some samples of an answer, and not others.
    """

    correct: tuple[int, ...]
    incorrect: tuple[int, ...]
    unanswered: int
    accepted: tuple[int, ...] = ()

    @classmethod
    def from_answers(cls, answers: Sequence[tuple[int, int]], unanswered: int) -> AnswerCounts:
        """Return the counts for answers that are pairs (samples, accepted samples)."""
        correct = sorted((samples, accepted) for samples, accepted in answers if accepted)
        incorrect = sorted(samples for samples, accepted in answers if samples and not accepted)
        samples, accepted = tuple(zip(*correct, strict=True)) or ((), ())
        return cls(samples, tuple(incorrect), unanswered, () if accepted == samples else accepted)

    @property
    def answers(self) -> list[tuple[int, int]]:
        """Return a pair (samples, accepted samples) for each answer, incorrect ones first."""
        accepted = zip(self.correct, self.accepted or self.correct, strict=True)
        return [*((samples, 0) for samples in self.incorrect), *accepted]

    @property
    def credits(self) -> np.ndarray:
        """Return the share of accepted samples of each answer in `correct`."""
        return np.array(self.accepted or self.correct) / self.correct


def count_answers(correct: Samples, answers: np.ndarray, merge_correct: bool) -> list[AnswerCounts]:
    """Return a list of the answer counts of each question.

    `correct` says whether each sample is correct, and `answers`, (S,), has an integer from 0 for
    its answer, or -1 for none. If `merge_correct`, all answers to a question that are accepted in
    more than half of their samples count as one.
    """
    question = np.repeat(np.arange(len(correct.sizes)), correct.sizes)
    scored = correct.weights > 0
    weights, is_correct = correct.weights[scored], correct.values[scored]
    # The code of an answer is question x width + number: 0 for no answer, from 1 for the answers,
    # and width - 1 for all merged ones.
    width = int(answers.max(initial=0)) + 3
    code = question[scored] * width + answers[scored] + 1
    code, samples, accepted = _sums_by_code(code, weights, weights * is_correct)
    if merge_correct:
        is_merged = (2 * accepted > samples) & (code % width > 0)
        code_if_merged = code // width * width + width - 1
        code = np.where(is_merged, code_if_merged, code)
        code, samples, accepted = _sums_by_code(code, samples, accepted)
    # The codes are ascending, so those of one question follow each other.
    ends = np.cumsum(np.bincount(code // width, minlength=len(correct.sizes)))[:-1]
    columns = (np.split(column, ends) for column in (code % width > 0, samples, accepted))
    return [
        AnswerCounts.from_answers(
            [*zip(sizes[answered].tolist(), n_accepted[answered].tolist(), strict=True)],
            int(sizes[~answered].sum()),
        )
        for answered, sizes, n_accepted in zip(*columns, strict=True)
    ]


def _sums_by_code(code: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the distinct codes, ascending, and for each the sum of every column of integers."""
    distinct, inverse = np.unique(code, return_inverse=True)
    return distinct, *(np.bincount(inverse, column).astype(np.int64) for column in columns)


def vote_at_k(counts: Sequence[AnswerCounts], k: int | np.ndarray) -> np.ndarray:
    """Return vote@k of each question, (M,), for one k or one of each question, (M,), at most n.

    A ValueError is raised if a question would take longer than some minutes.
    """
    ks = np.broadcast_to(k, len(counts)).tolist()
    _check_work(counts, ks)
    return np.array([vote_probability(answers, k) for answers, k in zip(counts, ks, strict=True)])


def _check_work(counts: Sequence[AnswerCounts], ks: Sequence[int]) -> None:
    """Raise a ValueError if vote@k of a question, at its k, needs more than 3e10 operations.

    For winners with t votes, each node of quadrature needs k operations for each power of z in the
    factors of all answers, which have up to t powers.
    """
    for question, (answers, k) in enumerate(zip(counts, ks, strict=True)):
        n_answers = len(answers.correct) + len(answers.incorrect)
        # Up to rounding, k^3 n_answers / 4 is a bound on the operations, and fast to compute.
        if k**3 * n_answers <= 4 * _MOST_OPERATIONS or not answers.correct:
            continue
        samples = np.array(answers.correct + answers.incorrect)
        operations = sum(
            k * _number_of_nodes(k, t) * int(np.minimum(samples, t).sum())
            for t in range(1, min(k // 2, max(answers.correct)) + 1)
        )
        if operations > _MOST_OPERATIONS:
            raise InputError(
                f"vote@{k} of ",
                Place("question", question),
                f", which has {n_answers} answers, needs {operations:.0e} operations, and "
                f"{_MOST_OPERATIONS:.0e} are possible: give a smaller k, such as "
                f"{int(k * (_MOST_OPERATIONS / operations) ** (1 / 3))}.",
            )


@lru_cache(maxsize=1 << 14)
def vote_probability(counts: AnswerCounts, k: int) -> float:
    """Return vote@k of one question: the expected credit of the winner of k votes."""
    correct, incorrect, unanswered, _ = counts
    if not correct:
        return 0.0
    n = sum(correct) + sum(incorrect) + unanswered
    if k == n:
        most = max(correct + incorrect)
        credits_of_winners = counts.credits[np.array(correct) == most]
        return float(credits_of_winners.sum()) / (correct + incorrect).count(most)
    # An answer with more than half of the votes wins, whatever votes the others have.
    absolute = expected_credits(np.full(len(correct), n), np.array(correct), [majority(k)])
    credit = float(counts.credits @ absolute[:, 0])
    return min(1.0, credit + _credit_with_at_most_half(counts, n, k))


def _credit_with_at_most_half(counts: AnswerCounts, n: int, k: int) -> float:
    """Return the contribution to vote@k of the subsets whose winners have at most k/2 votes."""
    nodes = _nodes(counts, k)
    if not nodes:
        return 0.0
    t, y, weight = (np.array(column)[:, None] for column in zip(*nodes, strict=True))
    first_row_of_power = np.searchsorted(t[:, 0], np.arange(t.max() + 1))  # t is ascending
    has_single_votes = t[0, 0] == 1  # The first node is that of t = 1, without quadrature.
    # Scaling by powers of two is exact, and prevents overflow: z is scaled by 2^shift, each factor
    # by a power of its own, and the products after every 32 factors. Without the scale of z, the
    # coefficients of a row are those of the table times 2^exponents[row].
    shift = round(math.log2((k + 0.5) / (n - k + 0.5)))
    ways_unanswered, exponent = _scaled_binomials(counts.unanswered, k, shift)
    exponents = np.full(len(nodes), exponent)
    product = np.zeros((len(nodes), k + 1))  # the coefficients of z^0 .. z^k of G_t at each node
    product[:, : len(ways_unanswered)] = ways_unanswered
    if has_single_votes:
        product[0] = np.arange(k + 1) == 0  # Samples without an answer are added in the end.
    # The sum over correct answers a of their credit x C(m_a, t) z^t G_t / (factor of a):
    winning = np.zeros_like(product)
    for answer, (m, accepted) in enumerate(counts.answers):
        ways, exponent = _scaled_binomials(m, int(t.max()), shift)  # by the number of votes
        votes = np.arange(len(ways))
        factor = ways * (votes < t) + y * ways * (votes == t)
        if accepted:  # Either an earlier answer is the winner of the formula, or this one.
            winning = _multiply_truncated(winning, factor, first_row_of_power)
            for row, votes_of_winner in enumerate(t[t < len(ways)].tolist()):
                wins = accepted / m * ways[votes_of_winner]
                winning[row, votes_of_winner:] += wins * product[row, :-votes_of_winner]
        product = _multiply_truncated(product, factor, first_row_of_power)
        exponents += exponent
        if answer % 32 == 31:  # Scale the largest coefficient of each row to below 1.
            excess = np.frexp(np.maximum(product.max(axis=1), winning.max(axis=1)))[1]
            product = np.ldexp(product, -excess[:, None])
            winning = np.ldexp(winning, -excess[:, None])
            exponents += excess
    subsets, exponent = _mantissa_and_exponent(math.comb(n, k))
    sums = winning[:, k].copy()
    if has_single_votes:  # k - w of the samples have no answer, and each winner has the share 1/w.
        w = np.arange(max(1, k + 1 - len(ways_unanswered)), k + 1)
        sums[0] = (winning[0, w] / w) @ ways_unanswered[k - w]
    integrands = np.ldexp(sums / subsets, exponents - exponent - shift * k)
    return float((weight[:, 0] * integrands).sum())


def _nodes(counts: AnswerCounts, k: int) -> list[tuple[int, float, float]]:
    """Return the quadrature nodes (t, y, weight) of the integrals over y, ascending in t.

    The winners have t <= k/2 votes. t = 1 has one node, as it needs no quadrature: y = weight = 1.
    """
    samples = np.array(counts.incorrect + counts.correct)
    return [
        (t, y, weight)
        for t in range(1, min(k // 2, max(counts.correct)) + 1)
        # With at most t votes for each answer, k samples must be available.
        if np.minimum(samples, t).sum() + counts.unanswered >= k
        for y, weight in (gauss_legendre(_number_of_nodes(k, t)) if t > 1 else [(1.0, 1.0)])
    ]


def _number_of_nodes(k: int, t: int) -> int:
    """Return the number of quadrature nodes for winners with t of k votes."""
    return 1 if t == 1 else -(-(k // t) // 2)


def _multiply_truncated(
    polynomial: np.ndarray, factor: np.ndarray, first_row_of_power: np.ndarray
) -> np.ndarray:
    """Return the product of two polynomials in z for each node, up to the degree k, (nodes, k + 1).

    Columns are coefficients of z^0, z^1, ... For each power, `first_row_of_power` has the first
    node with t of at least this power: coefficients of `factor` in earlier rows are 0.
    """
    product = factor[:, :1] * polynomial
    for power, row in enumerate(first_row_of_power[: factor.shape[1]].tolist()):
        if power:
            product[row:, power:] += factor[row:, power, None] * polynomial[row:, :-power]
    return product


@lru_cache(maxsize=1 << 12)
def _scaled_binomials(m: int, most: int, shift: int) -> tuple[np.ndarray, int]:
    """Return C(m, x) 2^(shift x - e) for x = 0 .. min(m, most), and e that makes all at most 1."""
    floats = [_mantissa_and_exponent(math.comb(m, x)) for x in range(min(m, most) + 1)]
    exponents = [exponent + shift * x for x, (_, exponent) in enumerate(floats)]
    e = max(exponents)
    mantissas = np.array([mantissa for mantissa, _ in floats])
    return np.ldexp(mantissas, np.array(exponents) - e), e


def _mantissa_and_exponent(number: int) -> tuple[float, int]:
    """Return the mantissa, from 1/2 to 1, and the exponent of an integer > 0, as `math.frexp` does.

    The integer may be too large for a float.
    """
    exponent = number.bit_length()
    return number / (1 << exponent), exponent


@lru_cache(maxsize=256)
def gauss_legendre(nodes: int) -> list[tuple[float, float]]:
    """Return pairs (node, weight) of Gauss-Legendre quadrature on [0, 1]."""
    from scipy.special import roots_legendre  # imported here, because it takes long

    x, weights = roots_legendre(nodes)
    return [*zip(((1 + x) / 2).tolist(), (weights / 2).tolist(), strict=True)]
