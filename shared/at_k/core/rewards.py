"""Max@k, the expected maximum reward of k samples, and Bayes@N, which is the case k = 1.

Let r_1 < .. < r_L be the rewards, P_l the probability that the maximum of k samples is above r_l,
and P_0 = 1. Then E[max] is the sum over l of r_l (P_(l-1) - P_l). P_l is pass@k if the samples
above r_l are correct, whose unbiased estimate gives that of Max@k (Bagirov et al. 2025,
arXiv:2510.23393).

Bayes@N is the posterior mean of the reward of a new sample (Hariri et al. 2026, arXiv:2510.04265).
Its t outcomes are the observed ones, prior outcomes if there are some, and one of each category for
the uniform Dirichlet prior. Let a_l of them have rewards of at most r_l, and let A_l be the unknown
probability that a new sample has one of at most r_l. As A_l is A_m times an independent share,

    E[A_l] = a_l / t = Q_l,    Cov[A_l, A_m] = Q_l (t - a_m) / (t (t + 1))    for l <= m.

M questions have S samples, C + 1 categories, and U distinct rows of counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .checks import InputError, InPython, as_list, check_number, is_frame, is_list_like, short
from .counts import BinaryCounts, UniqueIntegers, one_size
from .credits import any_correct
from .expected import chance_of_rank, expected_credits
from .samples import Samples, read_outcomes
from .score import Moments, ScoreKey, Scores, one_column_each

_VALID_REWARD = "a reward is a number from -1e150 to 1e150, whose square is a double"


@dataclass(frozen=True)
class Rewards:
    """The rewards of the samples of each question, as cumulative counts in U distinct rows."""

    inverse: np.ndarray  # (M,) the row of each question
    levels: np.ndarray  # (L,) rewards, ascending
    at_most: np.ndarray  # (U, L) number of samples with at most each reward; the last column is n
    categories: np.ndarray | None = None  # (L,) categories with at most each; None for real rewards
    prior: np.ndarray | int = 0  # (U, L) prior outcomes with at most each reward, or 0 for none

    @property
    def multiplicity(self) -> np.ndarray:
        """Return the number of questions in each row, (U,)."""
        return np.bincount(self.inverse)

    @property
    def sizes(self) -> np.ndarray:
        """Return the number of samples of a question in each row, (U,)."""
        return self.at_most[:, -1]

    @property
    def n(self) -> np.ndarray:
        """Return the number of samples of each question, (M,)."""
        return self.sizes[self.inverse]

    @property
    def ranges(self) -> np.ndarray:
        """Return the smallest and the largest possible reward of a sample in each row, (U, 2)."""
        return np.broadcast_to(self.levels[[0, -1]], (len(self.sizes), 2))

    def max_of(self, k: int) -> np.ndarray:
        """Return the mean maximum of all subsets of k of the n samples of each row, (U,)."""
        if k == 1:
            return self._mean(self.at_most)
        n = np.repeat(self.sizes, len(self.levels))
        counts = BinaryCounts(n, n - self.at_most.ravel())
        p = expected_credits(*counts.unique, [any_correct(k)])[counts.inverse]
        p = p.reshape(self.at_most.shape)
        return (self.levels * -np.diff(p, axis=1, prepend=1.0)).sum(axis=1)

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the posterior mean and variance of the mean reward of each row, (U,) each."""
        at_most = self.posterior_counts()
        total = at_most[:, -1:]
        cov_factor = (total - at_most) / (total * (total + 1.0))
        variance = self.posterior_variance_of_expected_max(at_most / total, cov_factor)
        return self._mean(at_most), variance

    def posterior_variance_of_expected_max(
        self, mean_cdf: np.ndarray, cov_factor: np.ndarray
    ) -> np.ndarray:
        """Return the posterior variance of the expected maximum of new samples, (U,).

        Let F_l be the unknown probability that the maximum is at most r_l, with the means
        `mean_cdf`, (U, L), and Cov[F_l, F_m] = mean_cdf_l x cov_factor_m for l <= m. The expected
        maximum is r_L minus the sum of (r_(l+1) - r_l) F_l. For each m, the covariance of l = m and
        twice those of l < m are added. None is negative.
        """
        gaps = np.diff(self.levels, append=self.levels[-1:])  # r_(l+1) - r_l, and 0 for l = L
        terms = gaps * mean_cdf
        sum_of_earlier = np.cumsum(terms, axis=1) - terms
        return (gaps * cov_factor * (terms + 2 * sum_of_earlier)).sum(axis=1)

    def average(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the average reward of the n samples of each row and its variance, (U,) each.

        Without prior outcomes, the posterior mean of t = n + C + 1 outcomes is n/t times the
        average plus a constant, so its standard deviation is n/t times that of the average (eq. 20
        of the Bayes@N paper).
        """
        uniform = replace(self, prior=0)
        _, variance = uniform.posterior()
        t = uniform.posterior_counts()[:, -1]
        return self.max_of(1), (t / self.sizes) ** 2 * variance

    def posterior_counts(self) -> np.ndarray:
        """Return the counts of samples, prior outcomes and one of each category together, (U, L).

        They count outcomes with at most each reward. Real rewards, without categories, raise a
        ValueError.
        """
        if self.categories is None:
            raise InputError(
                "The posterior needs categories, and these outcomes are real rewards: choose "
                "limits for the same questions, sampled again",
                InPython(" (interval='sampling')"),
                ", or give categories and their rewards",
                InPython(" (w)"),
                ".",
            )
        return self.at_most + self.categories + self.prior

    def _mean(self, at_most: np.ndarray) -> np.ndarray:
        """Return the mean reward of each row, (U,), from (U, L) counts with at most each reward."""
        counts = np.diff(at_most, axis=1, prepend=0)
        return (self.levels * counts).sum(axis=1) / at_most[:, -1]


@dataclass(frozen=True)
class RankedRewards(Rewards):
    """Real rewards, which are stored for each sample. Each question has its own row, so U is M.

    `levels`, (S,), are the rewards of all samples, question after question, ascending in each, and
    `at_most`, (S,), their ranks in their question, from 1 to n.
    """

    @cached_property
    def sizes(self) -> np.ndarray:
        """Return the number of samples of each question, (M,)."""
        return self.at_most[self._last]

    @property
    def ranges(self) -> np.ndarray:
        """Return the smallest and the largest observed reward of each question, (M, 2)."""
        last = self._last
        first = last + 1 - self.sizes
        return np.stack([self.levels[first], self.levels[last]], axis=1)

    @cached_property
    def _last(self) -> np.ndarray:
        """Return the index of the largest reward of each question in `levels`, (M,)."""
        starts = np.flatnonzero(self.at_most == 1)  # The smallest reward of a question has rank 1.
        return np.append(starts[1:], len(self.at_most)) - 1

    def max_of(self, k: int) -> np.ndarray:
        """Return the unbiased estimate of Max@k of each question, (M,), for k <= n."""
        sizes = self.sizes
        start, result = self._last + 1 - sizes, np.empty(len(sizes))
        # The maximum of k samples has the rank i with a probability that depends on n, k and i.
        for n in sorted({*sizes.tolist()}):
            questions = np.flatnonzero(sizes == n)
            levels = self.levels[start[questions, None] + np.arange(n)]
            if k == 1:
                result[questions] = levels.mean(axis=1)
            else:
                result[questions] = (levels * chance_of_rank(n, k)).sum(axis=1)
            # Rounding may move the result out of the range of the rewards.
            least, most = levels.min(axis=1), levels.max(axis=1)
            result[questions] = np.clip(result[questions], least, most)
        return result


# --- From outcomes ------------------------------------------------------------------------


def category_rewards(outcomes: Samples, w: np.ndarray, prior: np.ndarray) -> Rewards:
    """Return the rewards of outcomes that are categories 0, 1, .., C, with the rewards w, (C + 1,).

    `prior`, (M, C + 1), are the numbers of prior outcomes. A ValueError is raised for another
    outcome, or if all outcomes are bools, and C is above 1.
    """
    if (largest := int(outcomes.values.max())) >= len(w):
        shown = f", such as w={[*range(largest + 1)]}" if largest <= 20 else ""
        outcomes.require(
            outcomes.values < len(w),
            f"there are rewards for the categories 0 to {len(w) - 1}: give one for each from 0 to "
            f"the largest",
            InPython(shown),
            ", or write rewards with a decimal point, such as 3.0",
        )
    if outcomes.values.dtype.kind == "b" and len(w) > 2:
        raise InputError(
            f"The outcomes are correct or incorrect, but there are rewards for {len(w)} categories",
            InPython(" in w"),
            ": give two, or none",
            InPython(", or a check_correct_fn that returns a category"),
            ".",
        )
    # The observed and the prior outcomes of each category, (M, 2, C + 1).
    counts = np.stack([outcomes.category_counts(len(w)), prior], axis=1)
    representative, inverse = _unique_rows(counts.reshape(len(counts), -1))
    order = np.argsort(w, kind="stable")
    last = np.flatnonzero(np.diff(w[order], append=np.inf))  # last index in `order` per reward
    at_most = np.cumsum(counts[representative][..., order], axis=-1)[..., last]
    observed, prior_outcomes = at_most[:, 0], at_most[:, 1]
    return Rewards(inverse, w[order][last], observed, last + 1, prior_outcomes)


def _unique_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the distinct ones of M rows of counts, and which equals each row, (M,).

    The distinct rows ascend by their last column first. np.unique with axis=0 would be slower.
    """
    inverse, size = np.zeros(len(table), dtype=np.int64), 1
    for column in table.T:
        # Codes of ranks are below M^2, and of counts could exceed 64 bits.
        ranks = UniqueIntegers(column, int(column.max()))
        number = len(ranks.values)
        if number > 1:
            codes = UniqueIntegers(ranks.inverse * size + inverse, size * number)
            inverse, size = codes.inverse, len(codes.values)
    representative = np.empty(size, dtype=np.int64)
    representative[inverse] = np.arange(len(table))
    return representative, inverse


def has_real_rewards(outcomes: Samples) -> bool:
    """Return whether a scored outcome is a float other than 0 and 1, the default categories."""
    if outcomes.values.dtype.kind != "f":
        return False
    values = outcomes.scored_values
    return bool(((values != 0) & (values != 1)).any())


def are_real_rewards(outcomes: Samples, w, R0=None, categories=None) -> bool:
    """Return whether outcomes are real rewards: w is None, and a float is neither 0 nor 1.

    In this case a ValueError is raised if R0 or categories is given, which are for categories.
    """
    if w is not None or not has_real_rewards(outcomes):
        return False
    if R0 is not None or categories is not None:
        name = "R0" if categories is None else "categories"
        raise ValueError(f"{name} is given, but the outcomes are real rewards: leave it out.")
    return True


def real_rewards(outcomes: Samples) -> Rewards:
    """Return outcomes as real rewards; raise a ValueError unless they are from -1e150 to 1e150."""
    outcomes.require(np.abs(outcomes.values.astype(float, copy=False)) <= 1e150, _VALID_REWARD)
    n, values = outcomes.n, outcomes.scored_values.astype(float)
    if size := one_size(n):
        values = np.sort(values.reshape(-1, size), axis=1).ravel()
    else:  # Sort by question, and by value within a question.
        values = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    rank = np.arange(1, len(values) + 1) - np.repeat(np.cumsum(n) - n, n)
    return RankedRewards(np.arange(len(n)), values, rank)


def check_rewards(w, labels: Mapping[str, float] | None = None) -> np.ndarray:
    """Return the parameter w, the rewards of the categories, by default 0 and 1, as (C + 1,).

    A ValueError is raised if one is not from -1e150 to 1e150, or if there are not C + 1 `labels`.
    """
    rewards = [0.0, 1.0] if w is None else as_list("w", w)
    rewards = [int(x) if isinstance(x, (bool, np.bool_)) else x for x in rewards]
    if labels is not None and len(labels) != len(rewards):
        raise ValueError(
            f"There are {len(labels)} categories but {len(rewards)} rewards: give one "
            f"reward for each category."
        )
    return np.array(
        [check_number(f"w[{i}]", x, _VALID_REWARD, -1e150, 1e150) for i, x in enumerate(rewards)]
    )


def check_prior_outcomes(R0, questions: int, categories: int) -> np.ndarray:
    """Return the number of prior outcomes of each question in each category, (M, C + 1).

    R0 has M rows of D outcomes, or is a flat list of all, question after question, or None for no
    prior outcomes. A ValueError is raised if it has another shape, or a missing entry.
    """
    if is_list_like(R0) and not hasattr(R0, "__len__"):  # a generator, which is read twice below
        R0 = list(R0)
    if R0 is None or _has_no_entries(R0, questions):
        return np.zeros((questions, categories), dtype=np.int64)
    outcomes = read_outcomes(R0, "R0")
    rows, size = len(outcomes.sizes), one_size(outcomes.sizes)
    if not (is_frame(R0) or is_list_like(next(iter(R0)))):  # a flat list
        rows, size = questions, size // questions
    is_rectangular = rows == questions and rows * size == len(outcomes.values)
    if not is_rectangular or outcomes.multiplicity is not None:
        lengths = sorted({*outcomes.sizes.tolist()})
        raise ValueError(
            f"R0 has {len(outcomes.sizes)} rows with {short(lengths)} outcomes: give {questions} "
            f"rows of one length, without None."
        )
    return replace(outcomes, sizes=np.full(rows, size)).category_counts(categories)


def _has_no_entries(R0, questions: int) -> bool:
    """Return whether R0 is empty, or has one empty list for each question."""
    if is_frame(R0) or not is_list_like(R0) or len(R0) not in (0, questions):
        return False
    return all(is_list_like(row) and len(row) == 0 for row in R0)


# --- Scores -------------------------------------------------------------------------------


def max_scores(rewards: Rewards, ks: Mapping[ScoreKey, int]) -> Scores:
    """Return unbiased estimates of Max@k at the k of each key. No k may exceed any n."""
    no_column = np.empty((len(rewards.sizes), 0))  # so that `ks` may be empty
    columns = np.column_stack([no_column, *(rewards.max_of(k) for k in ks.values())])
    return Scores(one_column_each(ks), rewards.inverse, columns)


def moments_by_key(
    rewards: Rewards, moments: Mapping[ScoreKey, tuple[np.ndarray, np.ndarray]]
) -> Moments:
    """Return the `Moments` of scores, without covariances, from (mean, variance) of each, (U,)."""
    mean = np.stack([mean for mean, _ in moments.values()], axis=1)
    variances = {(i, i): variance for i, (_, variance) in enumerate(moments.values())}
    return Moments(one_column_each(moments), rewards.inverse, mean, variances)
