"""The best of k draws, of outcomes with rewards; of one draw, it is Bayes@N.

Let r_1 < r_2 < .. < r_L be the rewards. The best of k draws has at most the reward r_l if
all k have. With Q_l the probability of that,

    E[best] = r_1 + sum over l of (r_(l+1) - r_l) (1 - Q_l).

Q_l is a quotient of the urn of `draws`: with N_l of n samples at or below r_l, drawn without
replacement, it is fall(N_l, k) / fall(n, k), which gives the unbiased estimate (Bagirov et
al. 2025, arXiv:2510.23393). For new samples, let A_l be the probability of a reward of at
most r_l. With one outcome of each category (a uniform Dirichlet prior) and all that was seen
before, a_l of t outcomes are at or below r_l, and

    E[A_l^k] = rise(a_l, k) / rise(t, k) = Q_l,
    Cov[A_l^k, A_m^k] = Q_l (Q'_m - Q_m)  for l <= m,  Q'_m = rise(a_m + k, k) / rise(t + k, k),

Q' being Q once k more were seen, all at or below: A_l is A_m times a share that is
independent of it, so E[A_l^k A_m^k] = E[A_m^2k] E[A_l^k] / E[A_m^k]. Every term of the variance
of the best is therefore positive. For k = 1 these are the moments of Bayes@N (Hariri et al.
2026, arXiv:2510.04265).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .interval import Blend, Posterior, Scores
from .outcomes import Outcomes, read_outcomes
from .parameters import as_list, check_number, is_listed, short
from .wide import Scaled, Wide, rising_factorials


@dataclass(frozen=True)
class Rewards:
    """How the rewards of each kind of question are distributed.

    Args:
        kind: (M,) which of the U kinds each question is.
        levels: (L,) or (U, L) rewards, ascending.
        seen: (U, L) how many samples have at most each level; the last, how many there are.
        believed: (U, L) the same with the outcomes of the prior, or None for rewards that
            are no categories.
    """

    kind: np.ndarray
    levels: np.ndarray
    seen: np.ndarray
    believed: np.ndarray | None = None

    @property
    def questions(self) -> np.ndarray:
        """(U,) how many questions there are of each kind."""
        return np.bincount(self.kind)

    @property
    def n(self) -> np.ndarray:
        """(M,) how many samples each question has."""
        return self.seen[self.kind, -1]

    def best(self, k: int) -> np.ndarray:
        """(U,) the expected best of k samples drawn without replacement, k <= n."""
        factorial, inverse = rising_factorials(Fraction(1), self.seen.max())
        n, rest = self.seen[:, -1:], self.seen - k
        inside = rest >= 0
        within = (factorial[self.seen] * inverse[np.where(inside, rest, 0)]).where(inside)
        return self._best((within * (factorial[n - k] * inverse[n])).to_wide()).hi

    def posterior_best(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(U,) posterior mean and variance of the expected best of k new samples."""
        believed = self._believed
        within = _rising_quotient(believed, k).to_wide()
        after = _rising_quotient(believed + k, k).to_wide()
        gaps = self._gaps().hi
        rises = gaps * within.hi
        below = np.cumsum(rises, axis=1) - rises
        falls = gaps * np.maximum((after - within).hi, 0.0)
        return self._best(within).hi, (falls * (rises + 2 * below)).sum(axis=1)

    @property
    def prior_weight(self) -> np.ndarray:
        """(U,) t / n: how many outcomes are believed in for each that was seen."""
        return self._believed[:, -1] / self.seen[:, -1]

    @property
    def _believed(self) -> np.ndarray:
        if self.believed is None:
            raise ValueError(
                "These rewards are no categories, for which alone there is a posterior: give "
                "categories as outcomes and w, the reward of each."
            )
        return self.believed

    def _gaps(self) -> Wide:
        """From each level to the next; 0 at the last."""
        following = np.concatenate([self.levels[..., 1:], self.levels[..., -1:]], axis=-1)
        return Wide.of(following) - Wide.of(self.levels)

    def _best(self, within: Wide) -> Wide:
        climbed = self._gaps() * (Wide.of(1.0) - within)
        return climbed.sum() + Wide.of(self.levels[..., 0])


def _rising_quotient(a: np.ndarray, k: int) -> Scaled:
    """rise(a, k) / rise(t, k), where t is the last of each row of a."""
    factorial, inverse = rising_factorials(Fraction(1), a.max() + k)
    t = a[:, -1:]
    return factorial[a + k - 1] * inverse[a - 1] * (factorial[t - 1] * inverse[t + k - 1])


# --- Reading ------------------------------------------------------------------------


def category_rewards(outcomes: Outcomes, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """The rewards of outcomes that are categories 0 .. C.

    Args:
        w: (C + 1,) the reward of each category.
        prior: (M, C + 1) how many outcomes of each category are believed in beforehand.

    Raises:
        ValueError: where an outcome is none of the categories.
    """
    if outcomes.values.max() >= len(w):
        outcomes.require(
            outcomes.values < len(w),
            f"w has rewards for the categories 0 to {len(w) - 1}; give one for each category",
        )
    seen = outcomes.category_counts(len(w))
    first, kind = _distinct_rows(np.hstack([seen, prior]))
    levels = np.unique(w)
    at_most = (w[:, None] <= levels).astype(np.int64)
    return Rewards(kind, levels, seen[first] @ at_most, (seen + prior)[first] @ at_most)


def _distinct_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(U,) the first of each kind of row, and (M,) which of the kinds each row is."""
    code, size = table[:, 0], int(table[:, 0].max()) + 1
    for column in table.T[1:]:
        base = int(column.max()) + 1
        if size * base > 2**62:  # no number of 62 bits can hold the counts of a row
            return np.unique(table, axis=0, return_index=True, return_inverse=True)[1:]
        code, size = code + size * column, size * base
    return np.unique(code, return_index=True, return_inverse=True)[1:]


def number_rewards(outcomes: Outcomes) -> Rewards:
    """The rewards of outcomes that are rewards: each question has levels of its own."""
    n, values = outcomes.n, outcomes.values.astype(float)
    question = np.repeat(np.arange(len(n)), outcomes.sizes)
    if outcomes.scored is not None:
        question, values = question[outcomes.scored], values[outcomes.scored]
    # Each question's rewards in order, those of shorter ones filled up with the greatest.
    values = values[np.lexsort((values, question))]
    rank = np.minimum(np.arange(n.max()), n[:, None] - 1)
    levels = values[(np.cumsum(n) - n)[:, None] + rank]
    return Rewards(np.arange(len(n)), levels, rank + 1)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """(C + 1,) a finite reward for each category; 0 and 1 where none are given."""
    wanted = "a reward is a number from -1e100 to 1e100"
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(f"There are {len(labels)} categories: give w, a reward for each of them.")
    return np.array(
        [check_number(f"w[{i}]", reward, wanted, -1e100, 1e100) for i, reward in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """(M, C + 1) how many outcomes of each category are believed in: one, and those of R0."""
    if R0 is None or (is_listed(R0) and all(is_listed(row) and not len(row) for row in R0)):
        return np.ones((questions, categories), dtype=np.int64)
    outcomes = read_outcomes(R0, "R0")
    lengths = sorted({*outcomes.sizes.tolist()})
    if len(outcomes.sizes) != questions or len(lengths) > 1 or outcomes.scored is not None:
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows, of {short(lengths)} outcomes: give M = "
            f"{questions} rows of one length, without None."
        )
    return 1 + outcomes.category_counts(categories)


# --- Scores -------------------------------------------------------------------------


def bayes_scores(rewards: Rewards, bayes: str, avg: str) -> Scores:
    """The posterior mean reward, and the average of the samples."""
    columns = np.stack([rewards.posterior_best(1)[0], rewards.best(1)], axis=1)
    return Scores({bayes: Blend((0,)), avg: Blend((1,))}, rewards.kind, columns)


def bayes_posterior(
    rewards: Rewards, bayes: str, avg: str, bounds: tuple[float, float]
) -> Posterior:
    """How sure both are.

    The average is an affine function of the posterior mean: its standard deviation is t/n
    that of the posterior (eq. 20 of the Bayes@N paper).
    """
    scores = bayes_scores(rewards, bayes, avg)
    variance = rewards.posterior_best(1)[1]
    stretch = rewards.prior_weight
    spread = {(0, 0): variance, (1, 1): stretch**2 * variance}
    return Posterior(scores.keys, rewards.kind, scores.columns, spread, bounds)


def best_scores(rewards: Rewards, draws: Mapping[str, int]) -> Scores:
    """The unbiased estimate of the best of each number of draws, at most n."""
    keys = {key: Blend((column,)) for column, key in enumerate(draws)}
    columns = np.stack([rewards.best(k) for k in draws.values()], axis=1)
    return Scores(keys, rewards.kind, columns)


def best_posterior(
    rewards: Rewards, draws: Mapping[str, int], bounds: tuple[float, float]
) -> Posterior:
    """The posterior means of the best of each number of draws, and their variances."""
    keys = {key: Blend((column,)) for column, key in enumerate(draws)}
    moments = [rewards.posterior_best(k) for k in draws.values()]
    mean = np.stack([mean for mean, _ in moments], axis=1)
    spread = {(column, column): variance for column, (_, variance) in enumerate(moments)}
    return Posterior(keys, rewards.kind, mean, spread, bounds)
