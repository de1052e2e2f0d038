"""Max@k, the expected maximum reward of k samples, and Bayes@N, which is the case k = 1.

Let r_1 < r_2 < .. < r_L be the rewards. The maximum of k samples is above r_l if any of them is:
with P_l the probability of that, and P_0 = 1,

    E[max] = sum over l of r_l (P_(l-1) - P_l).

Choose k of the n observed samples, m of which are above r_l. Then P_l is pass@k of m correct
samples, which gives the unbiased estimate (Bagirov et al. 2025, arXiv:2510.23393).

Bayes@N is the posterior mean of the reward of a new sample (Hariri et al. 2026, arXiv:2510.04265).
With a uniform Dirichlet prior (one pseudo-outcome of each category) and all observed and prior
outcomes, let a_l of t be at most r_l. The share A_l of rewards that are at most r_l has

    E[A_l] = a_l / t = Q_l,    Cov[A_l, A_m] = Q_l (t - a_m) / (t (t + 1))    for l <= m,

because A_l is A_m times an independent share. The mean reward is r_L less the sum of
(r_(l+1) - r_l) A_l, so its variance is a sum of positive terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .checks import as_list, check_number, is_frame, is_list_like, short
from .counts import BinaryCounts, UniqueIntegers, one_size
from .credits import any_correct
from .expected import chance_of_rank, expected_credits
from .samples import Samples, read_outcomes
from .score import Moments, ScoreKey, Scores, one_column_each

_VALID_REWARD = "a reward is a number from -1e150 to 1e150, whose square is a double"


@dataclass(frozen=True)
class Rewards:
    """The rewards of the samples of each question, as cumulative counts.

    Questions with equal counts share one of U rows, as in `BinaryCounts`.

    Args:
        inverse: (M,) the row of each question.
        levels: (L,) rewards, ascending.
        at_most: (U, L) number of samples with at most each reward; the last is n.
        categories: (L,) number of categories with at most each reward, or None for real
            rewards, which have no categories.
        prior: (U, L) number of prior outcomes with at most each reward.
    """

    inverse: np.ndarray
    levels: np.ndarray
    at_most: np.ndarray
    categories: np.ndarray | None = None
    prior: np.ndarray | int = 0

    @property
    def multiplicity(self) -> np.ndarray:
        """(U,) number of questions in each row."""
        return np.bincount(self.inverse)

    @property
    def sizes(self) -> np.ndarray:
        """(U,) number of samples in each row."""
        return self.at_most[:, -1]

    @property
    def n(self) -> np.ndarray:
        """(M,) number of samples of each question."""
        return self.sizes[self.inverse]

    @property
    def ranges(self) -> np.ndarray:
        """(U, 2) the smallest and the largest reward that the samples of each row can have."""
        return np.broadcast_to(self.levels[[0, -1]], (len(self.sizes), 2))

    def max_of(self, k: int) -> np.ndarray:
        """(U,) the expected maximum of k of the samples, unbiased, for k <= n.

        It has an error of about 1e-16 of the largest reward.
        """
        if k == 1:
            return self._mean(self.at_most)
        n = np.repeat(self.sizes, len(self.levels))
        counts = BinaryCounts(n, n - self.at_most.ravel())
        above = expected_credits(*counts.unique, [any_correct(k)])[counts.inverse]
        above = above.reshape(self.at_most.shape)
        share = np.hstack([np.ones((len(above), 1)), above[:, :-1]]) - above
        return (self.levels * share).sum(axis=1)

    def posterior(self, prior_outcomes: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """(U,) posterior mean and variance of the reward of a new sample.

        Args:
            prior_outcomes: whether the prior outcomes count beside the uniform prior.
        """
        a = self.posterior_counts(prior_outcomes)
        t = a[:, -1:]
        return self._mean(a), self.variance_of_max(a / t, (t - a) / (t * (t + 1.0)))

    def variance_of_max(self, q: np.ndarray, increase: np.ndarray) -> np.ndarray:
        """(U,) the variance of the maximum of new samples, a sum of positive terms.

        Let P_l be the probability that the maximum is at most level l, for the unknown rates.

        Args:
            q: (U, L) the means of P_l.
            increase: (U, L) i, so that the covariance of P_l and P_m is q_l i_m for l <= m.
        """
        gaps = np.diff(self.levels, append=self.levels[-1:])
        terms = gaps * q
        preceding = np.cumsum(terms, axis=1) - terms
        return (gaps * increase * (terms + 2 * preceding)).sum(axis=1)

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) the average of the samples, and its variance.

        The average is an affine function of the posterior mean without prior outcomes, of t
        outcomes in all. Its standard deviation is t/n times the posterior's (eq. 20 of the
        Bayes@N paper).
        """
        t, n = self.posterior_counts(False)[:, -1], self.at_most[:, -1]
        return self.max_of(1), (t / n) ** 2 * self.posterior(prior_outcomes=False)[1]

    def posterior_counts(self, prior_outcomes: bool = True) -> np.ndarray:
        """(U, L) cumulative counts of outcomes of the posterior: with the uniform prior.

        Raises:
            ValueError: if the rewards are real.
        """
        if self.categories is None:
            raise ValueError(
                "The posterior needs categories, and these outcomes are real rewards: pass "
                "interval='sampling', or give categories and w."
            )
        return self.at_most + self.categories + (self.prior if prior_outcomes else 0)

    def _mean(self, at_most: np.ndarray) -> np.ndarray:
        """(U,) the mean reward of (U, L) cumulative counts."""
        samples = np.diff(at_most, axis=1, prepend=0)
        return (self.levels * samples).sum(axis=1) / at_most[:, -1]


@dataclass(frozen=True)
class RankedRewards(Rewards):
    """Real rewards: those of each question are levels of its own.

    Args:
        inverse: (M,) the index of each question.
        levels: (S,) rewards of all samples, question after question, ascending in each.
        at_most: (S,) rank of each among the samples of its question, from 1 to n.
    """

    @property
    def sizes(self) -> np.ndarray:
        """(M,) number of samples of each question."""
        return self.at_most[self._last]

    @property
    def ranges(self) -> np.ndarray:
        """(M, 2) the smallest and the largest reward of each question."""
        last = self._last
        first = last + 1 - self.sizes
        return np.stack([self.levels[first], self.levels[last]], axis=1)

    @property
    def _last(self) -> np.ndarray:
        """(M,) index of the largest reward of each question."""
        starts = np.flatnonzero(self.at_most == 1)
        return np.append(starts[1:], len(self.at_most)) - 1

    def max_of(self, k: int) -> np.ndarray:
        """Return (M,) max@k of each question."""
        sizes = self.sizes
        start, result = self._last + 1 - sizes, np.empty(len(sizes))
        order = np.argsort(sizes, kind="stable")
        # The chances are those of ranks: the same for all questions with n samples.
        for questions in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
            n = int(sizes[questions[0]])
            levels = self.levels[start[questions, None] + np.arange(n)]
            if k == 1:
                result[questions] = levels.mean(axis=1)
            else:
                result[questions] = (levels * chance_of_rank(n, k)).sum(axis=1)
            # Rounding may move the maximum of equal rewards.
            least, most = levels.min(axis=1), levels.max(axis=1)
            result[questions] = np.clip(result[questions], least, most)
        return result


# --- From outcomes ------------------------------------------------------------------------


def category_rewards(outcomes: Samples, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """The rewards of outcomes that are categories 0, 1, .., C.

    Args:
        w: (C + 1,) the reward of each category.
        prior: (M, C + 1) number of prior outcomes of each category.

    Raises:
        ValueError: if an outcome is not one of the categories.
    """
    if (largest := int(outcomes.values.max())) >= len(w):
        shown = f", such as w={[*range(largest + 1)]}" if largest <= 20 else ""
        outcomes.require(
            outcomes.values < len(w),
            f"w has rewards for the categories 0 to {len(w) - 1}: give one for each from 0 to the "
            f"largest{shown}, or write rewards as floats, such as 3.0",
        )
    if outcomes.values.dtype.kind == "b" and len(w) > 2:
        raise ValueError(
            f"The outcomes are correct or incorrect, but w has rewards for {len(w)} categories: "
            f"pass a check_correct_fn that returns a category."
        )
    counts = np.stack([outcomes.category_counts(len(w)), prior], axis=1)
    row, inverse = _unique_rows(counts.reshape(len(counts), -1))
    order = np.argsort(w, kind="stable")
    last = np.flatnonzero(np.diff(w[order], append=np.inf))  # the last category of each reward
    at_most = np.cumsum(counts[row][..., order], axis=-1)[..., last]
    return Rewards(inverse, w[order][last], at_most[:, 0], last + 1, at_most[:, 1])


def _unique_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (U,) the index of one of each set of equal rows, and (M,) the set of each row.

    The table has M rows of counts.
    """
    code, size = table[:, 0], int(table[:, 0].max()) + 1
    for column in table.T[1:]:
        base = int(column.max()) + 1
        if base == 1:
            continue
        if size * base > 2**62:  # the counts of a row do not fit into an integer of 62 bits
            return np.unique(table, axis=0, return_index=True, return_inverse=True)[1:]
        code, size = code + size * column, size * base
    unique = UniqueIntegers(code, size)
    row = np.empty(len(unique.values), dtype=np.int64)
    row[unique.inverse] = np.arange(len(code))
    return row, unique.inverse


def has_real_rewards(outcomes: Samples) -> bool:
    """Whether a scored outcome is a float other than 0 and 1, which no default category has."""
    if outcomes.values.dtype.kind != "f":
        return False
    values = outcomes.scored_values
    return bool(((values != 0) & (values != 1)).any())


def are_real_rewards(outcomes: Samples, w, R0=None, categories=None) -> bool:
    """Whether outcomes are real rewards, and not categories with the rewards w.

    Raises:
        ValueError: if they are, and a parameter for categories is given.
    """
    if w is not None or not has_real_rewards(outcomes):
        return False
    if R0 is not None or categories is not None:
        name = "R0" if categories is None else "categories"
        raise ValueError(f"{name} is given, but the outcomes are real rewards: leave it out.")
    return True


def real_rewards(outcomes: Samples) -> Rewards:
    """The rewards of outcomes that are real rewards: each question has levels of its own.

    Raises:
        ValueError: that names the first sample whose reward is not from -1e150 to 1e150.
    """
    n, all_values = outcomes.n, outcomes.values.astype(float, copy=False)
    outcomes.require(np.abs(all_values) <= 1e150, _VALID_REWARD)
    values = outcomes.scored_values.astype(float)
    if size := one_size(n):
        values = np.sort(values.reshape(-1, size), axis=1).ravel()
    else:
        values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    rank = np.arange(1, len(values) + 1) - np.repeat(np.cumsum(n) - n, n)
    return RankedRewards(np.arange(len(n)), values, rank)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """Return (C + 1,) finite rewards of the categories, by default 0 and 1.

    `labels` are those of the categories, if they have some: one for each reward.
    """
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    rewards = [int(x) if isinstance(x, (bool, np.bool_)) else x for x in rewards]
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(
            f"There are {len(labels)} categories but {len(rewards)} rewards: give w with one "
            f"reward for each category."
        )
    return np.array(
        [check_number(f"w[{i}]", x, _VALID_REWARD, -1e150, 1e150) for i, x in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """Return (M, C + 1) numbers of prior outcomes of each question by category.

    Args:
        R0: M rows of D prior outcomes, or a flat list of M x D of them, question after question.
        questions: M.
        categories: C + 1.

    Raises:
        ValueError: unless R0 has this shape, without missing entries.
    """
    if is_list_like(R0) and not hasattr(R0, "__len__"):  # a generator, which is read twice below
        R0 = list(R0)
    if R0 is None or _has_no_entries(R0, questions):
        return np.zeros((questions, categories), dtype=np.int64)
    outcomes = read_outcomes(R0, "R0")
    rows, size = len(outcomes.sizes), one_size(outcomes.sizes)
    if not (is_frame(R0) or is_list_like(next(iter(R0)))):
        rows, size = questions, size // questions
    if rows != questions or rows * size != len(outcomes.values) or outcomes.scored is not None:
        lengths = sorted({*outcomes.sizes.tolist()})
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows with {short(lengths)} outcomes: give {questions} "
            f"rows of one length, without None."
        )
    return replace(outcomes, sizes=np.full(rows, size)).category_counts(categories)


def _has_no_entries(R0, questions: int) -> bool:
    """Whether R0 has no prior outcome for any of the questions."""
    if is_frame(R0) or not is_list_like(R0) or len(R0) not in (0, questions):
        return False
    return all(is_list_like(row) and len(row) == 0 for row in R0)


# --- Scores -------------------------------------------------------------------------------


def max_scores(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Scores:
    """Unbiased estimates of Max@k: one key for each k, and no k above any n."""
    none = np.empty((len(rewards.sizes), 0))
    columns = np.column_stack([none, *(rewards.max_of(k) for k in ks.values())])
    return Scores(one_column_each(ks), rewards.inverse, columns)


def bayes_moments(rewards: Rewards, bayes: ScoreKey, avg: ScoreKey) -> Moments:
    """Means and variances of Bayes@N and avg@N, under these keys."""
    return moments_by_key(rewards, {bayes: rewards.posterior(), avg: rewards.average()})


def moments_by_key(
    rewards: Rewards, moments: Mapping[ScoreKey, tuple[np.ndarray, np.ndarray]]
) -> Moments:
    """Means and variances of independent scores, (U,) each, by their keys."""
    mean = np.stack([mean for mean, _ in moments.values()], axis=1)
    variances = {(i, i): variance for i, (_, variance) in enumerate(moments.values())}
    return Moments(one_column_each(moments), rewards.inverse, mean, variances)
