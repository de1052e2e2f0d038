"""The best of k draws, of outcomes with rewards; of one draw, it is Bayes@N.

Let r_1 < r_2 < .. < r_L be the rewards. The best of k draws has at most the reward r_l if
all k have. With Q_l the probability of that,

    E[best] = sum over l of r_l (Q_l - Q_(l-1)).

Q_l is a quotient of the urn of `draws`: with N_l of n samples at or below r_l, drawn without
replacement, it is fall(N_l, k) / fall(n, k), which gives the unbiased estimate (Bagirov et
al. 2025, arXiv:2510.23393). For new samples, let A_l be the probability of a reward of at
most r_l. With one outcome of each category (a uniform Dirichlet prior) and all that was seen
before, a_l of t outcomes are at or below r_l, and

    E[A_l^k] = rise(a_l, k) / rise(t, k) = Q_l,
    Cov[A_l^k, A_m^k] = Q_l (Q'_m - Q_m)  for l <= m,  Q'_m = rise(a_m + k, k) / rise(t + k, k),

Q' being Q once k more were seen, all at or below: A_l is A_m times a share that is
independent of it, so E[A_l^k A_m^k] = E[A_m^2k] E[A_l^k] / E[A_m^k]. The best being r_L less
the sum of (r_(l+1) - r_l) A_l^k, its variance is a sum of positive terms. For k = 1 these are
the moments of Bayes@N (Hariri et al. 2026, arXiv:2510.04265).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..checks import as_list, check_number, is_list_like, short
from ..inputs.outcomes import Codes, Outcomes, read_outcomes
from ..intervals.interval import Blend, Posterior, Scores
from .double_double import DoubleDouble, ScaledDoubleDouble, rising_factorials

_REWARDS_AT_ONCE = 1 << 18  # rewards worked on at once, which bounds the memory


@dataclass(frozen=True)
class Rewards:
    """How the rewards of each kind of question are distributed.

    Args:
        kind: (M,) which of the U kinds each question is.
        levels: (L,) or (U, L) rewards, ascending.
        seen: (U, L) how many samples have at most each level; the last, how many there are.
        categories: (L,) how many categories have at most each level; None for rewards that are
            no categories.
        before: (U, L) how many prior outcomes have at most each level.
    """

    kind: np.ndarray
    levels: np.ndarray
    seen: np.ndarray
    categories: np.ndarray | None = None
    before: np.ndarray | int = 0

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
        if k == 1:
            return self._mean(self.seen)
        # Where all questions have rewards of the ranks 1 .. n, one row of chances is for all.
        ranked = self.levels.ndim == 2 and (self.seen == self.seen[0]).all()
        seen = self.seen[:1] if ranked else self.seen
        factorial, inverse = rising_factorials(Fraction(1), seen.max())
        n, rest = seen[:, -1:], seen - k
        inside = rest >= 0
        ways = (factorial[seen] * inverse[np.where(inside, rest, 0)]).where(inside)
        within = (ways * (factorial[n - k] * inverse[n])).to_double_double()
        if not ranked:
            return self._best(within, slice(None))
        return np.concatenate([self._best(within, rows) for rows in self._blocks()])

    def posterior_best(self, k: int, prior_outcomes: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(U,) posterior mean and variance of the expected best of k new samples.

        With a uniform prior over the categories, and the prior outcomes unless they are left out.
        """
        a = self._believed(prior_outcomes)
        if k == 1:
            t = a[:, -1:]
            mean, chance, more = self._mean(a), a / t, (t - a) / (t * (t + 1.0))
        else:
            within = _rising_quotient(a, k).to_double_double()
            after = _rising_quotient(a + k, k).to_double_double()
            mean, chance = self._best(within, slice(None)), within.hi
            more = np.maximum((after - within).hi, 0.0)
        gaps = np.diff(self.levels, append=self.levels[-1:])
        rises = gaps * chance
        below = np.cumsum(rises, axis=1) - rises
        return mean, (gaps * more * (rises + 2 * below)).sum(axis=1)

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) the average of the samples, and its variance.

        It is an affine function of the posterior mean without prior outcomes, t of them in all:
        so its standard deviation is t/n that of the posterior (eq. 20 of the Bayes@N paper).
        """
        t, n = self._believed(False)[:, -1], self.seen[:, -1]
        return self.best(1), (t / n) ** 2 * self.posterior_best(1, prior_outcomes=False)[1]

    def _believed(self, prior_outcomes: bool) -> np.ndarray:
        if self.categories is None:
            raise ValueError(
                "These outcomes are rewards and no categories, for which alone there is a "
                "posterior: take interval='sampling', or give categories and w."
            )
        return self.seen + self.categories + (self.before if prior_outcomes else 0)

    def _mean(self, at_most: np.ndarray) -> np.ndarray:
        """(U,) the mean of the levels, of (U, L) counts of at most each."""
        sums = []
        for rows in self._blocks():
            times = np.diff(at_most[rows], axis=1, prepend=0).astype(float)
            sums.append(DoubleDouble.exact_product(times, self._levels_of(rows)).sum().hi)
        return np.concatenate(sums) / at_most[:, -1]

    def _best(self, within: DoubleDouble, rows: slice) -> np.ndarray:
        """The mean of the levels, each with the chance that the best is at it."""
        below = DoubleDouble.concatenate(
            [DoubleDouble.from_doubles(np.zeros_like(within.hi[:, :1])), within[:, :-1]]
        )
        return (DoubleDouble.from_doubles(self._levels_of(rows)) * (within - below)).sum().hi

    def _levels_of(self, rows: slice) -> np.ndarray:
        return self.levels if self.levels.ndim == 1 else self.levels[rows]

    def _blocks(self) -> Iterator[slice]:
        """The kinds, so many at once that the memory is bounded."""
        step = max(1, _REWARDS_AT_ONCE // self.seen.shape[1])
        return (slice(start, start + step) for start in range(0, len(self.seen), step))


def _rising_quotient(a: np.ndarray, k: int) -> ScaledDoubleDouble:
    """rise(a, k) / rise(t, k), where t is the last of each row of a."""
    factorial, inverse = rising_factorials(Fraction(1), a.max() + k)
    t = a[:, -1:]
    return factorial[a + k - 1] * inverse[a - 1] * (factorial[t - 1] * inverse[t + k - 1])


# --- Reading ------------------------------------------------------------------------


def category_rewards(outcomes: Outcomes, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """The rewards of outcomes that are categories 0 .. C.

    Args:
        w: (C + 1,) the reward of each category.
        prior: (M, C + 1) how many prior outcomes there are of each category.

    Raises:
        ValueError: where an outcome is none of the categories.
    """
    if outcomes.values.max() >= len(w):
        outcomes.require(
            outcomes.values < len(w),
            f"there are rewards for the categories 0 to {len(w) - 1}: give w, one for each",
        )
    if outcomes.values.dtype.kind == "b" and len(w) > 2:
        raise ValueError(
            f"The outcomes are right or wrong, but w has the rewards of {len(w)} categories: judge "
            f"by a function that returns one of them."
        )
    counts = np.stack([outcomes.category_counts(len(w)), prior], axis=1)
    row, kind = _distinct_rows(counts.reshape(len(counts), -1))
    order = np.argsort(w, kind="stable")
    last = np.flatnonzero(np.diff(w[order], append=np.inf))  # of the categories of each reward
    at_most = np.cumsum(counts[row][..., order], axis=-1)[..., last]
    return Rewards(kind, w[order][last], at_most[:, 0], last + 1, at_most[:, 1])


def _distinct_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(U,) a row of each kind, and (M,) which of the kinds each row is."""
    code, size = table[:, 0], int(table[:, 0].max()) + 1
    for column in table.T[1:]:
        base = int(column.max()) + 1
        if base == 1:
            continue
        if size * base > 2**62:  # no number of 62 bits can hold the counts of a row
            return np.unique(table, axis=0, return_index=True, return_inverse=True)[1:]
        code, size = code + size * column, size * base
    distinct = Codes(code, size)
    row = np.empty(len(distinct.codes), dtype=np.int64)
    row[distinct.kind] = np.arange(len(code))
    return row, distinct.kind


def number_rewards(outcomes: Outcomes) -> Rewards:
    """The rewards of outcomes that are rewards: each question has levels of its own."""
    n, values = outcomes.n, outcomes.values.astype(float)
    outcomes.require(np.abs(values) <= 1e100, "a reward is a number from -1e100 to 1e100")
    # Each question's rewards in order, those of shorter ones filled up with the greatest.
    place = np.arange(n.max())
    levels = np.full((len(n), len(place)), np.inf)
    levels[place < n[:, None]] = outcomes.scored_values
    levels.sort(axis=1)
    rank = np.minimum(place, n[:, None] - 1)
    levels = np.take_along_axis(levels, rank, axis=1)
    return Rewards(np.arange(len(n)), levels, rank + 1)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """(C + 1,) a finite reward for each category; 0 and 1 where none are given."""
    wanted = "a reward is a number from -1e100 to 1e100"
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(
            f"There are {len(labels)} categories and {len(rewards)} rewards: give w, a reward for "
            f"each category."
        )
    return np.array(
        [check_number(f"w[{i}]", reward, wanted, -1e100, 1e100) for i, reward in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """(M, C + 1) how many prior outcomes of each question there are of each category."""
    none = np.zeros((questions, categories), dtype=np.int64)
    if R0 is None:
        return none
    if (
        is_list_like(R0)
        and len(R0) == questions
        and not any(is_list_like(x) and len(x) for x in R0)
    ):
        return none
    outcomes = read_outcomes(R0, "R0")
    lengths = sorted({*outcomes.sizes.tolist()})
    if len(outcomes.sizes) != questions or len(lengths) > 1 or outcomes.scored is not None:
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows, of {short(lengths)} outcomes: give M = "
            f"{questions} rows of one length, without None."
        )
    return outcomes.category_counts(categories)


# --- Scores -------------------------------------------------------------------------


def bayes_posterior(
    rewards: Rewards, bayes: str, avg: str, bounds: tuple[float, float]
) -> Posterior:
    """The posterior mean reward and the average of the samples, and how sure both are."""
    moments = {bayes: rewards.posterior_best(1), avg: rewards.average()}
    return _posterior(rewards, moments, bounds)


def best_scores(rewards: Rewards, draws: Mapping[str, int]) -> Scores:
    """The unbiased estimate of the best of each number of draws, at most n."""
    keys = {key: Blend((column,)) for column, key in enumerate(draws)}
    columns = np.stack([rewards.best(k) for k in draws.values()], axis=1)
    return Scores(keys, rewards.kind, columns)


def best_posterior(
    rewards: Rewards, draws: Mapping[str, int], bounds: tuple[float, float]
) -> Posterior:
    """The posterior means of the best of each number of draws, and their variances."""
    moments = {key: rewards.posterior_best(k) for key, k in draws.items()}
    return _posterior(rewards, moments, bounds)


def _posterior(
    rewards: Rewards,
    moments: Mapping[str, tuple[np.ndarray, np.ndarray]],
    bounds: tuple[float, float],
) -> Posterior:
    mean = np.stack([mean for mean, _ in moments.values()], axis=1)
    spread = {(i, i): variance for i, (_, variance) in enumerate(moments.values())}
    keys = {key: Blend((column,)) for column, key in enumerate(moments)}
    return Posterior(keys, rewards, mean, spread, bounds)
