"""Intervals that hold: how far a score may be from the truth, with no prior made up.

The estimate U of a score is the mean over questions of h(n_i, c_i), unbiased whatever the
success rates p_i are. How much it varies does depend on them, so they are learned from the
bank, for the width and for nothing else.

1. *How the p are spread.* On a grid of log-odds, a few steps of EM from the uniform prior
   towards the nonparametric maximum likelihood prior G (Kiefer & Wolfowitz 1956; Laird 1978).
   To stop early keeps what the samples do not contradict: after T steps a question with no
   right sample has p of the order 1/(nT), not 0, and so no variance vanishes.
2. *A family through it.* Move all log-odds by one step d. The score is then theta(d), the
   integral of E[h | p] dG, and U has the variance v(d), that of Var[h | p] dG over M. Where the
   questions are new as well, it is that of E[h^2 | p] dG less theta(d)^2, over M.
3. *What is not refuted*: all theta(d) with |U - theta(d)| <= z sqrt(v(d)), as Wilson (1927) has
   it with the binomial for a family. So the interval keeps within the range of the score
   without being cut, and is longer to the side that has more room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln

from .interval import Blend, Interval, Pair, normal_reach, student_reach
from .outcomes import Counts

Estimate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""h: the estimates of questions (n, c), both (U,), as (U, m) columns; none falls with c."""

_STEP = 0.15  # of the log-odds
_INNER, _REACH = 80, 60  # the prior lives on -12 .. 12, and is moved by -9 .. 9
_LOG_ODDS = np.arange(-_INNER - _REACH, _INNER + _REACH + 1) * _STEP
PRIOR = slice(_REACH, _REACH + 2 * _INNER + 1)  # where the prior lives, unmoved
_HERE = _REACH + 1  # the family's member that is not moved
_BLOCK = 1 << 12  # rows of a law worked on at once, which bounds the memory


# --- The spread of the success rates ---------------------------------------------------


def binomial(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """P(c of n right) at each rate of the grid: (U, 281) for (U,) n and c."""
    n, c = n[:, None], c[:, None]
    ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    wrong, right = np.logaddexp(0, _LOG_ODDS), np.logaddexp(0, -_LOG_ODDS)
    return np.exp(ways - c * right - (n - c) * wrong)


def learn(counts: Counts) -> dict[int, np.ndarray]:
    """The learned prior on the grid, split by n: {n: (161,)}, of sum 1 in all."""
    n, c = counts.kinds
    share = counts.questions / len(counts.n)
    likelihood = binomial(n, c)[:, PRIOR]
    rate = 1 / (1 + np.exp(-_LOG_ODDS[PRIOR]))
    prior = before = rate * (1 - rate)  # uniform in p, on the scale of log-odds
    prior = prior / prior.sum()
    for _ in range(max(20, int(2 * math.sqrt(len(counts.n))))):
        before, weight = prior, share / (likelihood @ prior)
        prior = before * (weight @ likelihood)
    return {
        size: before * (weight[n == size] @ likelihood[n == size]) for size in np.unique(n).tolist()
    }


# --- The family -------------------------------------------------------------------------


class _Family:
    """Scores and covariances of the columns when all log-odds are moved: 123 members.

    The first and the last are the limits, where no sample is right and where all are.
    """

    def __init__(self, counts: Counts, estimate: Estimate, pairs: set[Pair], new_questions: bool):
        columns = len(estimate(counts.n[:1], counts.c[:1])[0])
        theta = np.zeros((2 * _REACH + 3, columns))
        products = {pair: np.zeros(len(theta)) for pair in pairs}
        for n, prior in learn(counts).items():
            mean, square = _moments(n, estimate, pairs)
            ends = estimate(np.array([n, n]), np.array([0, n])) * prior.sum()
            theta = theta + np.vstack([ends[:1], _moved(mean) @ prior, ends[1:]])
            for a, b in pairs:
                within = square[a, b] if new_questions else square[a, b] - mean[:, a] * mean[:, b]
                between = ends[:, a] * ends[:, b] / prior.sum() if new_questions else np.zeros(2)
                moved = _moved(within[:, None]) @ prior
                products[a, b] = products[a, b] + np.hstack([between[0], moved[:, 0], between[1]])
        if new_questions:
            products = {(a, b): x - theta[:, a] * theta[:, b] for (a, b), x in products.items()}
        # The limits are exact, and rounding leads nowhere beyond them.
        sizes, weight = counts.kinds[0], counts.questions
        least, most = (weight @ estimate(sizes, c) / len(counts.n) for c in (0 * sizes, sizes))
        self.theta, self.covariance = np.clip(theta, least, most).T, products

    def of(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """(123,) the score, and its variance times the number of questions."""
        variance = blend.variance(self.theta, self.covariance)
        return blend.of(self.theta), np.maximum(variance, 0.0)


def _moments(
    n: int, estimate: Estimate, pairs: set[Pair]
) -> tuple[np.ndarray, dict[Pair, np.ndarray]]:
    """E[h | p] (281, m) and, for each pair, E[h_a h_b | p] (281,) of questions of n samples."""
    means, squares = [], []
    for start in range(0, n + 1, _BLOCK):
        c = np.arange(start, min(n + 1, start + _BLOCK))
        law, h = _law(n, start), estimate(np.full(len(c), n), c)
        means.append(law.T @ h)
        squares.append([law.T @ (h[:, a] * h[:, b]) for a, b in pairs])
    return sum(means[1:], means[0]), dict(zip(pairs, np.sum(squares, axis=0), strict=True))


@lru_cache(maxsize=64)
def _law(n: int, start: int) -> np.ndarray:
    c = np.arange(start, min(n + 1, start + _BLOCK))
    return binomial(np.full(len(c), n), c)


def _moved(values: np.ndarray) -> np.ndarray:
    """(281, m) values on the grid as seen from a prior that is moved: (121, m, 161)."""
    return np.lib.stride_tricks.sliding_window_view(values, 2 * _INNER + 1, axis=0)


# --- Intervals ----------------------------------------------------------------------------


class Sampling:
    """Intervals of scores for new samples: of these questions, or of new ones like them.

    Args:
        counts: of the bank.
        keys: the name of each score, and the columns that it is of.
        estimate: the columns of questions (n, c).
        new_questions: whether the questions are new too.
        clusters: (M,) the source of each question, where some share one.

    """

    def __init__(
        self,
        counts: Counts,
        keys: Mapping[str, Blend],
        estimate: Estimate,
        new_questions: bool = False,
        clusters: np.ndarray | None = None,
    ):
        self._counts, self._keys, self._estimate = counts, keys, estimate
        self._new, self._clusters = new_questions, clusters
        self._pairs = {pair for blend in keys.values() for pair in blend.pairs()}

    @cached_property
    def _columns(self) -> np.ndarray:
        """(U, m) the estimates of each kind of question."""
        return self._estimate(*self._counts.kinds)

    def intervals(self, rows: np.ndarray, confidence: float) -> dict[str, Interval]:
        """Of the scores over the questions `rows`.

        Raises:
            ValueError: if a single sample of each question does not show how samples vary, or
                a single question, or source of questions, how they do.
        """
        counts = Counts(self._counts.n[rows], self._counts.c[rows])
        reach, clusters = self._reach(counts, rows, confidence)
        family = _Family(counts, self._estimate, self._pairs, self._new)
        columns = self._columns[self._counts.kind[rows]].T
        means = columns.mean(axis=1)
        result = {}
        for key, blend in self._keys.items():
            theta, variance = family.of(blend)
            if clusters is not None:
                variance = variance * _design_effect(blend, columns, means, clusters)
            sigma, point = np.sqrt(variance / len(rows)), float(blend.of(means))
            hi = _last_not_refuted(theta, reach * sigma, point)
            lo = -_last_not_refuted(-theta[::-1], reach * sigma[::-1], -point)
            name = "questions" if self._new else "sampling"
            # Rounding aside, the point is between the ends.
            ends = min(float(lo), point), max(float(hi), point)
            result[key] = Interval(point, float(sigma[_HERE]), *ends, name)
        return result

    def unknown(self, rows: np.ndarray) -> dict[str, Interval]:
        """That nothing is known: anything between the least and the greatest score."""
        n = self._counts.n[rows]
        least, most = (self._estimate(n, c).mean(axis=0) for c in (np.zeros_like(n), n))
        means = self._columns[self._counts.kind[rows]].mean(axis=0)
        result = {}
        for key, blend in self._keys.items():
            lo, hi = float(blend.of(least)), float(blend.of(most))
            result[key] = Interval(float(blend.of(means)), (hi - lo) / 2, lo, hi, "none")
        return result

    def _reach(
        self, counts: Counts, rows: np.ndarray, confidence: float
    ) -> tuple[float, np.ndarray | None]:
        """How many standard deviations to reach; and the sources of new questions."""
        if not self._new:
            if counts.n.max() < 2:
                raise ValueError(
                    "There is one sample of each question, which does not show how samples vary: "
                    "take more, or interval='questions'."
                )
            return normal_reach(confidence), None
        clusters = rows if self._clusters is None else self._clusters[rows]
        sources = len(np.unique(clusters))
        reach = student_reach(sources, confidence)
        return reach * math.sqrt(sources / (sources - 1)), clusters


def _design_effect(
    blend: Blend, columns: np.ndarray, means: np.ndarray, clusters: np.ndarray
) -> float:
    """How much questions that share a source add to the variance; 1 if they do not.

    The sum of squares over sources against that over questions (Miller 2024,
    arXiv:2411.00640), of what each question adds to the score to first order.
    """
    value = blend.of(means)
    rest = sum(
        power * value / means[column] * (columns[column] - means[column])
        for column, power in zip(blend.columns, blend.powers, strict=True)
        if means[column] > 0
    )
    _, source = np.unique(clusters, return_inverse=True)
    alone = np.sum(np.square(rest))
    together = np.sum(np.bincount(source, rest) ** 2) if alone else 0.0
    return max(1.0, float(together / alone)) if alone else 1.0


def _last_not_refuted(theta: np.ndarray, reach: np.ndarray, point: float) -> float:
    """The greatest score that is at most its reach above the point: theta rises."""
    gap = theta - reach - point
    here = int(np.flatnonzero(gap <= 1e-12)[-1])
    if here == len(theta) - 1:
        return theta[-1]
    part = np.clip(-gap[here] / (gap[here + 1] - gap[here]), 0.0, 1.0)
    return theta[here] + part * (theta[here + 1] - theta[here])
