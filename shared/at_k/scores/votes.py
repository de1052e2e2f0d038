"""vote@k: how often the most frequent of k sampled answers is a right one, exactly.

Of n samples of a question, m_i gave the answer i. Of k drawn without replacement, x_i give
it; the answers with the most votes share the win. Let t be the number of votes that wins, and
count the subsets of k samples by a generating function in z (draws) and y (winners):

    G_t(z, y) = product over i of (C(m_i, 0) + .. + C(m_i, t-1) z^(t-1) + y C(m_i, t) z^t).

In the coefficient of z^k, that of y^w counts the subsets with w answers of t votes each and
none with more; and as 1/w is the integral of y^(w-1) from 0 to 1,

    vote@k = sum over t, and over right answers a, of
             [z^k] integral of C(m_a, t) z^t G_t(z, y) without the factor of a  dy,  / C(n, k).

The integrand is a polynomial of degree at most k/t - 1 in y, for which Gauss's rule with half
as many nodes is exact, and no term is negative: so nothing cancels.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..inputs.outcomes import Outcomes
from .credits import majority
from .pass_family import expected_credits


class Ballots:
    """The answers that the samples of each question gave.

    Args:
        right: whether each sample is right.
        answers: (sum of sizes,) the code of each sample's answer, or -1 for a sample that
            gives none: it is drawn, and has no vote.
        merge_right: whether the right answers of a question are one answer.
    """

    def __init__(self, right: Outcomes, answers: np.ndarray, merge_right: bool):
        question = np.repeat(np.arange(len(right.sizes)), right.sizes)
        scored = slice(None) if right.scored is None else right.scored
        question, answers, is_right = question[scored], answers[scored], right.values[scored]
        if merge_right:
            answers = np.where(is_right, answers.max(initial=0) + 1, answers)
        # How many samples of each question gave each of its answers.
        code = question * (int(answers.max(initial=0)) + 2) + answers + 1
        _, first, self._votes = np.unique(code, return_index=True, return_counts=True)
        self._silent, self._right = answers[first] < 0, is_right[first]
        self._ends = np.cumsum(np.bincount(question[first], minlength=len(right.sizes)))

    def vote(self, k) -> np.ndarray:
        """(M,) vote@k of each question, for one k or for (M,), at most its samples."""
        columns = (self._votes, self._right & ~self._silent, self._silent)
        parts = zip(*(np.split(column, self._ends[:-1]) for column in columns), strict=True)
        draws = np.broadcast_to(k, len(self._ends)).tolist()
        return np.array(
            [
                plurality(
                    tuple(sorted(votes[right].tolist())),
                    tuple(sorted(votes[~right & ~silent].tolist())),
                    int(votes[silent].sum()),
                    drawn,
                )
                for (votes, right, silent), drawn in zip(parts, draws, strict=True)
            ]
        )


@lru_cache(maxsize=1 << 14)
def plurality(right: tuple[int, ...], wrong: tuple[int, ...], silent: int, k: int) -> float:
    """The probability that a right answer has the most of k votes, ties shared equally.

    Args:
        right: how many samples gave each right answer.
        wrong: how many gave each wrong one.
        silent: how many gave none.
        k: how many samples are drawn, at most as many as there are.
    """
    if not right:
        return 0.0
    n = sum(right) + sum(wrong) + silent
    if k == n:
        most = max(right + wrong)
        return right.count(most) / (right + wrong).count(most)
    # With more than half of the draws an answer wins whatever the others have.
    more = expected_credits(np.full(len(right), n), np.array(right), [majority(k)])
    return min(1.0, float(more.sum()) + _by_less(right, wrong, silent, n, k))


def _by_less(right: tuple[int, ...], wrong: tuple[int, ...], silent: int, n: int, k: int) -> float:
    """The probability that a right answer wins, or shares, with half of the draws or fewer."""
    nodes = [
        (t, node, weight)
        for t in range(1, min(k // 2, max(right)) + 1)
        # Not if more is drawn than all answers can have with at most t votes each.
        if sum(min(m, t) for m in right + wrong) + silent >= k
        for node, weight in _gauss(-(-(k // t) // 2))
    ]
    if not nodes:
        return 0.0
    t, y, weight = (np.array(column)[:, None] for column in zip(*nodes, strict=True))
    # z is taken times a power of two, as is each factor, and now and then the product: so all
    # numbers are near 1 where binomial coefficients are not.
    shift = round(math.log2((k + 0.5) / (n - k + 0.5)))
    scaled, scale = _ways(silent, k, shift)
    scales = np.full(len(nodes), scale)
    every = np.zeros((len(nodes), k + 1))  # coefficients of z^0 .. z^k, at each node
    every[:, : len(scaled)] = scaled
    winning = np.zeros_like(every)
    for place, m in enumerate(wrong + right):
        ways, scale = _ways(m, int(t.max()), shift)
        votes = np.arange(len(ways))
        wins = ways * (votes == t)
        factor = ways * (votes < t) + y * wins
        if place >= len(wrong):
            winning = _times(winning, factor) + _times(every, wins)
        every = _times(every, factor)
        scales += scale
        if place % 32 == 31:
            excess = np.frexp(np.maximum(every.max(axis=1), winning.max(axis=1)))[1]
            every, winning = (np.ldexp(each, -excess[:, None]) for each in (every, winning))
            scales += excess
    subsets, scale = _scaled(math.comb(n, k))
    wins = np.ldexp(winning[:, k] / subsets, scales - scale - shift * k)
    return float((weight[:, 0] * wins).sum())


def _times(polynomial: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Products of polynomials, row by row, as far as the first ones go."""
    product = factor[:, :1] * polynomial
    for power in range(1, factor.shape[1]):
        product[:, power:] += factor[:, power, None] * polynomial[:, :-power]
    return product


@lru_cache(maxsize=1 << 12)
def _ways(m: int, most: int, shift: int) -> tuple[np.ndarray, int]:
    """C(m, x) 2^(shift x - e) for x = 0 .. min(m, most), none above 1, and the e."""
    ways = [_scaled(math.comb(m, x)) for x in range(min(m, most) + 1)]
    scale = max(exponent + shift * x for x, (_, exponent) in enumerate(ways))
    return (
        np.array([math.ldexp(w, e + shift * x - scale) for x, (w, e) in enumerate(ways)]),
        scale,
    )


def _scaled(number: int) -> tuple[float, int]:
    """A positive integer as mantissa x 2^exponent, the mantissa from 1/2 to 1, rounded once."""
    exponent = number.bit_length()
    return number / (1 << exponent), exponent


@lru_cache(maxsize=256)
def _gauss(nodes: int) -> list[tuple[float, float]]:
    """Nodes and weights of Gauss's rule on [0, 1].

    The nodes are the zeros of a Legendre polynomial, to which NumPy's are improved by Newton's
    method with more digits than a double has.
    """
    x: np.ndarray = np.polynomial.legendre.leggauss(nodes)[0].astype(np.longdouble)
    for _ in range(3):
        before, value = np.ones_like(x), x.copy()
        for degree in range(1, nodes):
            following = ((2 * degree + 1) * x * value - degree * before) / (degree + 1)
            before, value = value, following
        slope = nodes * (x * value - before) / (x * x - 1)
        x = x - value / slope
    weights = 1 / ((1 - x * x) * slope * slope)
    return list(zip(((1 + x) / 2).astype(float), weights.astype(float), strict=True))
