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
   questions are new as well, it is that of E[h^2 | p] dG less theta(d)^2, over M; but no smaller
   share of the greatest that theta(d) allows than at d = 0. For the next questions may be more of
   one kind and fewer of another, and do not crowd at an end of the range then as moved ones do.
3. *What is not refuted*: all theta(d) with |U - theta(d)| <= z sqrt(v(d)), as Wilson (1927) has
   it with the binomial for a family. So the interval keeps within the range of the score
   without being cut, and is longer to the side that has more room. Where few events tell, and
   of products of powers, see `ends`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ..inputs.outcomes import Counts
from .interval import (
    Blend,
    Interval,
    Intervals,
    Pair,
    Spread,
    design_effects,
    normal_reach,
    one_by_one,
    questions_of,
    student_reach,
)
from .inversion import greatest, joined

Estimate = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""h: the estimates of questions (n, c), both (U,), as (U, m) columns; none falls with c."""

_STEP = 0.15  # of the log-odds
_INNER, _REACH = 80, 60  # the prior lives on -12 .. 12, and is moved by -9 .. 9
_NEVER, _ALWAYS = -1e9, 1e9  # the log-odds of rates that are 0 and 1 as doubles
_LOG_ODDS = np.hstack([_NEVER, np.arange(-_INNER - _REACH, _INNER + _REACH + 1) * _STEP, _ALWAYS])
PRIOR = slice(_REACH + 1, _REACH + 2 * _INNER + 2)  # where the prior lives, unmoved
_HERE = _REACH + 1  # the family's member that is not moved, in the middle
_ROWS_AT_ONCE, _BANKS = 1 << 12, 1 << 8  # rows of a law, and banks, at once: this bounds the memory


class Banks(NamedTuple):
    """B banks whose questions are of the same kinds: groups of one, or simulated ones.

    Args:
        kinds: (U,) the n and (U,) the c of each kind.
        questions: (B, U) how many questions of each kind a bank has.
    """

    kinds: tuple[np.ndarray, np.ndarray]
    questions: np.ndarray


# --- The spread of the success rates ---------------------------------------------------


def binomial(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """P(c of n right) at each rate of the grid: (U, 283) for (U,) n and c."""
    n, c = n[:, None], c[:, None]
    ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    wrong, right = np.logaddexp(0, _LOG_ODDS), np.logaddexp(0, -_LOG_ODDS)
    return np.exp(ways - c * right - (n - c) * wrong)


def learn(banks: Counts | Banks) -> dict[int, np.ndarray]:
    """The learned priors on the grid, split by n: {n: (161,)}, or {n: (B, 161)} of many banks.

    Those of one bank have the sum 1 in all.
    """
    n, c = banks.kinds
    total = banks.questions.sum(axis=-1, keepdims=True)
    share = banks.questions / total
    likelihood = binomial(n, c)[:, PRIOR]
    rate = 1 / (1 + np.exp(-_LOG_ODDS[PRIOR]))
    prior = rate * (1 - rate)  # uniform in p, on the scale of log-odds
    prior = np.broadcast_to(prior / prior.sum(), (*share.shape[:-1], len(prior)))

    def weights() -> np.ndarray:
        # A kind that other banks have may be as good as impossible here.
        return share / np.maximum(prior @ likelihood.T, 1e-300)

    steps = np.maximum(20, (2 * np.sqrt(total)).astype(int))
    for step in range(1, steps.max()):
        prior = np.where(step < steps, prior * (weights() @ likelihood), prior)
    last = weights()
    return {
        size: prior * (last[..., n == size] @ likelihood[n == size])
        for size in np.unique(n).tolist()
    }


# --- The family -------------------------------------------------------------------------


class _Family:
    """Scores and covariances of the columns when all log-odds are moved: 123 members.

    The first and the last are the limits, where no sample is right and where all are. `theta` is
    (123, m, B), and `covariance` of each pair (123, B), times the number of questions.
    """

    def __init__(self, banks: Banks, estimate: Estimate, pairs: list[Pair], new_questions: bool):
        theta, products = np.zeros(()), np.zeros(())
        for n, prior in learn(banks).items():
            mean, square = _moments(n, estimate, pairs)
            if not new_questions:
                square = square - np.stack([mean[:, a] * mean[:, b] for a, b in pairs], axis=1)
            theta = theta + _members(prior, mean)
            products = products + _members(prior, square)
        # The limits are exact, and rounding leads nowhere beyond them.
        (sizes, _), questions = banks
        share = questions / questions.sum(axis=1, keepdims=True)
        limits = ((share @ estimate(sizes, c)).T for c in (0 * sizes, sizes))
        self.theta = np.clip(theta, *limits)
        self.covariance = {
            (a, b): products[:, i] - (theta[:, a] * theta[:, b] if new_questions else 0.0)
            for i, (a, b) in enumerate(pairs)
        }
        if new_questions:
            most = (self.theta - self.theta[0]) * (self.theta[-1] - self.theta)
            # Nearer to an end than this, there is nothing but rounding.
            ratio = most / np.where(most[_HERE] > 1e-12, most[_HERE], np.inf)
            for (a, b), each in self.covariance.items():
                if a == b:
                    self.covariance[a, a] = np.maximum(each, ratio[:, a] * each[_HERE])


def _moments(n: int, estimate: Estimate, pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """E[h | p] (283, m) and, for each pair, E[h_a h_b | p] (283, P) of questions of n samples."""
    mean, square = np.zeros(()), np.zeros(())
    for start in range(0, n + 1, _ROWS_AT_ONCE):
        c = np.arange(start, min(n + 1, start + _ROWS_AT_ONCE))
        law, h = _law(n, start), estimate(np.full(len(c), n), c)
        mean = mean + law.T @ h
        square = square + law.T @ np.stack([h[:, a] * h[:, b] for a, b in pairs], axis=1)
    return mean, square


@lru_cache(maxsize=64)
def _law(n: int, start: int) -> np.ndarray:
    c = np.arange(start, min(n + 1, start + _ROWS_AT_ONCE))
    return binomial(np.full(len(c), n), c)


def _members(prior: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(123, m, B) the integrals of (283, m) values over (B, 161) priors, each of them moved."""
    moved = np.lib.stride_tricks.sliding_window_view(values[1:-1], prior.shape[1], axis=0)
    never, always = (end[None, :, None] * prior.sum(axis=1) for end in values[[0, -1]])
    return np.concatenate([never, moved @ prior.T, always])


# --- Intervals ----------------------------------------------------------------------------


class Sampling(Spread):
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
        self._pairs = list(dict.fromkeys(pair for blend in keys.values() for pair in blend.pairs()))

    @cached_property
    def _columns(self) -> np.ndarray:
        """(U, m) the estimates of each kind of question."""
        return self._estimate(*self._counts.kinds)

    def of_each(self, parts: Sequence[np.ndarray], confidence: float) -> list[dict[str, Interval]]:
        """Of the scores over each part of the bank.

        Raises:
            ValueError: if a single sample of each question does not show how samples vary, or
                a single question, or source of questions, how they do.
        """
        kind, result = self._counts.kind, list[dict[str, Interval]]()
        for start in range(0, len(parts), _BANKS):
            some, sources = parts[start : start + _BANKS], None
            if self._clusters is not None:
                sources = [(kind[rows], self._clusters[rows]) for rows in some]
            found = self.over(questions_of(kind, some, len(self._columns)), confidence, sources)
            result += one_by_one(found, len(some))
        return result

    def over(
        self,
        questions: np.ndarray,
        confidence: float,
        sources: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> dict[str, Intervals]:
        """Of the scores over so many questions of each kind, (B, U): of B banks at once.

        Args:
            sources: for each bank (M,) the kind and (M,) the source of its questions.
        """
        total, miss = questions.sum(axis=1), 1 - confidence
        reach = self._reach(questions, confidence, sources)
        banks = Banks(self._counts.kinds, questions)
        family = _Family(banks, self._estimate, self._pairs, self._new)
        effect = np.ones((self._columns.shape[1], len(questions)))
        for bank, (kind, source) in enumerate(sources or ()):
            effect[:, bank] = design_effects(self._columns[kind], source)
        covariance = {
            (a, b): each * np.sqrt(effect[a] * effect[b]) / total
            for (a, b), each in family.covariance.items()
        }
        point = (questions @ self._columns / total[:, None]).T
        lo, hi = point.copy(), point.copy()
        for column in {column for blend in self._keys.values() for column in blend.columns}:
            theta, u = family.theta[:, column], point[column]
            sigma = np.sqrt(np.maximum(covariance[column, column], 0.0))
            hi[column] = greatest(theta, sigma, u, reach, miss)
            lo[column] = -greatest(-theta[::-1], sigma[::-1], -u, reach, miss)
        here = {pair: each[_HERE] for pair, each in covariance.items()}
        name = "questions" if self._new else "sampling"
        return {
            key: Intervals(
                blend.of(point),
                np.sqrt(np.maximum(blend.variance(family.theta[_HERE], here), 0.0)),
                *joined(blend, lo, point, hi, here),
                name,
            )
            for key, blend in self._keys.items()
        }

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
        self,
        questions: np.ndarray,
        confidence: float,
        sources: Sequence[tuple[np.ndarray, np.ndarray]] | None,
    ) -> np.ndarray:
        """(B,) how many standard deviations to reach."""
        if not self._new:
            if not questions[:, self._counts.kinds[0] > 1].any(axis=1).all():
                raise ValueError(
                    "There is one sample of each question, which does not show how samples vary: "
                    "take more, or interval='questions'."
                )
            return np.full(len(questions), normal_reach(confidence))
        if sources is None:
            number = questions.sum(axis=1)
        else:
            number = np.array([len(np.unique(source)) for _, source in sources])
        reach = np.array([student_reach(each, confidence) for each in number.tolist()])
        return reach * np.sqrt(number / (number - 1))
