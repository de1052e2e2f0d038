"""TailPass@k: the probability that the mean score of k samples reaches a threshold.

It is G-Pass@k_tau for categories with scores from 0 to 1, such as the points of a rubric, except
that a threshold of 0 is always reached. A sum of k scores within 1e-9 of tau k reaches it. There
are M questions, L levels of scores, T thresholds and U distinct posteriors. The counts of k samples
are (L,) numbers of samples at the levels, of which S are possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.checks import as_list, check_confidence, check_k, check_number, check_positive, short
from ..core.credits import check_thresholds
from ..core.posterior import normal_limits
from ..core.rewards import category_rewards, check_prior_outcomes, check_rewards
from ..core.samples import read_outcomes
from ..functions import Numbers, OutcomesLike, Summary
from ..scores.tails import tails_of_subsets, with_common_denominator
from .rewards import read_outcome_rewards

Floats = npt.NDArray[np.float64]

_MOST_PAIRS_OF_COUNTS = 20_000_000  # largest number of pairs of counts of k samples


def tailpass_empirical(
    R: OutcomesLike, k: int, w: Numbers | None = None, *, thresholds: Numbers | None = None
) -> Floats:
    """Return the unbiased estimate of TailPass@k at each threshold, averaged over questions.

    It is the share of the subsets of k samples whose mean score reaches the threshold.

    Args:
        R: outcomes of M questions: categories or real scores, see `at_k.functions`.
        k: number of samples in a subset, at most the number of samples of each question.
        w: scores of the C + 1 categories, from 0 to 1. Default: (0, 1).
        thresholds: required mean scores, from 0 to 1. Default: 1/k, 2/k, .., 1.

    Returns:
        (T,) a probability for each threshold.

    Raises:
        ValueError: if an outcome or a parameter is invalid, or if the scores are not multiples of
            1/D for some D up to 1000.

    Examples:
        >>> R = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
        >>> tailpass_empirical(R, 2, [0.0, 0.5, 1.0], thresholds=[0.5, 0.75, 1.0]).round(6).tolist()
        [0.8, 0.5, 0.1]

    References:
        TailPass@k is defined as in the package scorio 0.2.3: https://pypi.org/project/scorio
    """
    k, rewards = check_k(k), read_outcome_rewards(R, w)
    check_k(k, rewards.n)
    columns = tails_of_subsets(rewards, [(k, tau) for tau in _thresholds(k, thresholds)])
    return rewards.multiplicity @ columns / len(rewards.inverse)


def tailpass(
    R: OutcomesLike,
    k: int,
    w: Numbers | None = None,
    R0: OutcomesLike | None = None,
    *,
    eta: float = 1.0,
    prior: float | Numbers | Iterable[Numbers] = 1.0,
    thresholds: Numbers | None = None,
) -> TailPassProfile:
    """Return the posterior of TailPass@k at each threshold.

    Each question has a Dirichlet prior over its categories, which is updated with the outcomes R,
    and with the outcomes R0 at the weight eta. k may exceed the number of samples.

    Args:
        R: outcomes of M questions: categories, integers from 0 to C, see `at_k.functions`.
        k: number of new samples.
        w: scores of the C + 1 categories, from 0 to 1. Default: (0, 1).
        R0: prior outcomes, of shape (M, D). Default: none.
        eta: weight of the prior outcomes, from 0 to 1.
        prior: parameters of the Dirichlet prior, positive: a number, or one for each category, or
            one for each question and category.
        thresholds: required mean scores, from 0 to 1. Default: 1/k, 2/k, .., 1.

    Returns:
        The profile over the thresholds, with the posterior mean and standard deviation of each.

    Raises:
        ValueError: if an outcome or a parameter is invalid, or if k samples have too many
            different counts.

    Examples:
        >>> profile = tailpass([[0, 1, 1], [1, 1, 1]], k=4)
        >>> profile.mean.round(4).tolist()
        [0.9571, 0.8429, 0.6429, 0.3571]
        >>> [round(x, 4) for x in profile.moment(1)]
        [0.7, 0.1291]

    References:
        TailPass@k is defined as in the package scorio 0.2.3: https://pypi.org/project/scorio
    """
    k, outcomes, scores = check_k(k), read_outcomes(R), check_rewards(w)
    if scores.min() < 0 or scores.max() > 1:
        raise ValueError(
            f"w has scores from {scores.min():g} to {scores.max():g}: a score is from 0 to 1."
        )
    shape = len(outcomes.sizes), len(scores)
    prior_counts = check_prior_outcomes(R0, *shape)
    category_rewards(outcomes, scores, prior_counts)  # This checks the outcomes.
    eta = check_number("eta", eta, "it is a number from 0 to 1", 0, 1)
    concentrations = _prior_parameters(prior, *shape) + outcomes.category_counts(len(scores))
    concentrations = concentrations + eta * prior_counts
    levels, level_of_category = np.unique(scores, return_inverse=True)
    merged = np.stack(
        [concentrations[:, level_of_category == level].sum(axis=1) for level in range(len(levels))],
        axis=1,
    )
    return TailPassProfile(merged, levels, k, _thresholds(k, thresholds))


class TailPassProfile:
    """The posterior of TailPass@k at each of T thresholds, for M independent questions.

    Means and standard deviations are exact. Intervals are normal approximations, as by
    method="normal" of scorio, whose default is Monte Carlo. A payoff is a function of the mean
    score of k samples with values from 0 to 1. The numbers of samples at the levels have a
    Dirichlet-multinomial distribution.

    Args:
        concentrations: (M, L) parameters of the Dirichlet posterior of each question.
        scores: (L,) distinct scores from 0 to 1, ascending.
        k, thresholds: the number of new samples, and T required mean scores from 0 to 1.
    """

    def __init__(
        self, concentrations: np.ndarray, scores: np.ndarray, k: int, thresholds: list[float]
    ):
        number = math.comb(k + len(scores) - 1, k)
        if number**2 > _MOST_PAIRS_OF_COUNTS:
            raise ValueError(
                f"{k} samples at {len(scores)} levels of scores have {number} different counts, "
                f"which is too many for a posterior: give a smaller k, or fewer distinct scores."
            )
        self._posterior, self._scores = concentrations, scores
        self.k, self.thresholds = k, np.array(thresholds)
        self._rows, inverse, multiplicity = np.unique(
            concentrations, axis=0, return_inverse=True, return_counts=True
        )
        self._inverse, self._share = inverse.ravel(), multiplicity / len(concentrations)
        integers, denominator = with_common_denominator(scores)
        self._counts = _counts_of_levels(k, len(scores))
        self._pmf = _dirichlet_multinomial(self._counts, self._rows)
        self._means = self._counts @ integers / (k * denominator)  # mean scores of k samples
        self._tails = [(self._means * k >= tau * k - 1e-9).astype(float) for tau in thresholds]

    @property
    def question_count(self) -> int:
        """Return M, the number of questions."""
        return len(self._posterior)

    @cached_property
    def question_mean(self) -> Floats:
        """Return the posterior mean of each question at each threshold, (M, T)."""
        return np.stack([self._pmf @ tail for tail in self._tails], axis=1)[self._inverse]

    @property
    def mean(self) -> Floats:
        """Return the posterior mean averaged over questions at each threshold, (T,)."""
        return self.question_mean.mean(axis=0)

    @cached_property
    def covariance(self) -> Floats:
        """Return the posterior covariance of the averages over questions, (T, T)."""
        result = np.zeros((len(self._tails), len(self._tails)))
        for a, tail in enumerate(self._tails):
            for b in range(a + 1):
                result[a, b] = result[b, a] = self._covariance(tail, self._tails[b])
        return result

    @property
    def std(self) -> Floats:
        """Return the posterior standard deviation of `mean`, (T,)."""
        return np.sqrt(np.diag(self.covariance))

    def linear(self, weights: Numbers) -> tuple[float, float]:
        """Return mean and standard deviation of TailPass@k averaged with T weights of sum 1."""
        wanted = "a weight is a number from 0 to 1"
        checked = [
            check_number(f"weights[{i}]", weight, wanted, 0, 1)
            for i, weight in enumerate(as_list("weights", weights))
        ]
        if len(checked) != len(self._tails) or abs(math.fsum(checked) - 1) > 1e-9:
            raise ValueError(
                f"weights has {len(checked)} entries with the sum {math.fsum(checked):g}: give "
                f"{len(self._tails)} weights with the sum 1."
            )
        return self._summary(np.array(checked) @ np.array(self._tails))

    def moment(self, lam: float) -> tuple[float, float]:
        """Return mean and standard deviation of the payoff (mean score)^lam, lam > 0.

        For lam = 1 this is Bayes@N.
        """
        lam = check_positive("lam", lam, "give a positive number", 1e6)
        return self._summary(self._means**lam)

    def discovery(self) -> tuple[float, float]:
        """Return mean and standard deviation of the probability of a positive mean score."""
        return self._summary((self._means > 0).astype(float))

    def stability(self) -> tuple[float, float]:
        """Return mean and standard deviation of the probability that all k scores are 1."""
        return self._summary((self._means == 1).astype(float))

    def at_k(self, k: int, *, thresholds: Numbers | None = None) -> TailPassProfile:
        """Return the same posterior for another k and other thresholds, as in `tailpass`."""
        k = check_k(k)
        return TailPassProfile(self._posterior, self._scores, k, _thresholds(k, thresholds))

    def ci(
        self, confidence: float = 0.95, *, method: str = "normal"
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return (mean, std, lo, hi) of TailPass@k at each threshold: four arrays of shape (T,).

        Raises ValueError for a method other than "normal", as do `linear_ci` and `moment_ci`.
        """
        return self.mean, self.std, *_limits(self.mean, self.std, confidence, method)

    def linear_ci(
        self, weights: Numbers, confidence: float = 0.95, *, method: str = "normal"
    ) -> Summary:
        """Return (mu, sigma, lo, hi) of `linear`."""
        mu, sigma = self.linear(weights)
        lo, hi = _limits(mu, sigma, confidence, method)
        return mu, sigma, float(lo), float(hi)

    def moment_ci(self, lam: float, confidence: float = 0.95, *, method: str = "normal") -> Summary:
        """Return (mu, sigma, lo, hi) of `moment`."""
        mu, sigma = self.moment(lam)
        lo, hi = _limits(mu, sigma, confidence, method)
        return mu, sigma, float(lo), float(hi)

    def _covariance(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return the posterior covariance of the averages over questions of two payoffs, (S,) each.

        A payoff has a value for each possible count of k samples. E[E[a] E[b]] is the expected
        value of the payoff a of k samples times the payoff b of k more ones. This is a mean over
        the counts of 2k samples and the ways to split them into halves.
        """
        # A payoff near 1 is replaced by 1 minus the payoff, so that no digits cancel.
        sign = 1.0
        if a.mean() > 0.5:
            a, sign = 1 - a, -sign
        if b.mean() > 0.5:
            b, sign = 1 - b, -sign
        index, ways, twice = self._sums_of_pairs
        products = np.bincount(index, (ways * np.multiply.outer(a, b)).ravel(), twice.shape[1])
        covariances = sign * (twice @ products - (self._pmf @ a) * (self._pmf @ b))
        return float(self._share @ covariances) / self.question_count

    def _summary(self, payoff: np.ndarray) -> tuple[float, float]:
        """Return the mean and the standard deviation of a payoff of each count of k samples."""
        if np.ptp(payoff) <= 1e-15:  # The variance of a constant would be a rounding error.
            return float(payoff[0]), 0.0
        mean = float(self._share @ (self._pmf @ payoff))
        return mean, math.sqrt(max(0.0, self._covariance(payoff, payoff)))

    @cached_property
    def _sums_of_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (index, ways, pmf) for the sum of each pair of the S possible counts of k samples.

        A sum is one of the S2 possible counts of 2k samples: `index`, (S x S,), says which one.
        `ways`, (S, S), is the probability that 2k samples with this sum are split into this pair.
        `pmf`, (U, S2), has the probabilities of the S2 counts under each distinct posterior.
        """
        counts, k = self._counts, self.k
        doubled = _counts_of_levels(2 * k, counts.shape[1])
        # The counts at all levels are encoded as one integer, to find a sum among `doubled`.
        base = (2 * k + 1) ** np.arange(counts.shape[1])
        codes = doubled @ base
        order = np.argsort(codes)
        codes_of_sums = np.add.outer(counts @ base, counts @ base).ravel()
        index = order[np.searchsorted(codes[order], codes_of_sums)]
        log_ways = _log_multinomial(counts)
        log_ways_of_sums = _log_multinomial(doubled)[index].reshape(len(counts), -1)
        log_split = np.add.outer(log_ways, log_ways) - log_ways_of_sums
        return index, np.exp(log_split), _dirichlet_multinomial(doubled, self._rows)


# --- The posterior ------------------------------------------------------------------------


def _counts_of_levels(k: int, levels: int) -> np.ndarray:
    """Return all ways to distribute k samples: rows with the number at each of the `levels`."""
    if levels == 1:
        return np.array([[k]])
    parts = []
    for number in range(k + 1):  # at the first level
        others = _counts_of_levels(k - number, levels - 1)
        parts.append(np.column_stack([np.full(len(others), number), others]))
    return np.concatenate(parts)


def _log_multinomial(counts: np.ndarray) -> np.ndarray:
    """Return the logarithms of the multinomial coefficients of (S, L) counts, (S,)."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    return gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)


def _dirichlet_multinomial(counts: np.ndarray, concentrations: np.ndarray) -> np.ndarray:
    """Return the Dirichlet-multinomial pmf of (S, L) counts for (U, L) concentrations, (U, S)."""
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    k, total = counts[0].sum(), concentrations.sum(axis=1)[:, None]
    log_pmf = _log_multinomial(counts) - gammaln(total + k) + gammaln(total)
    for count, prior in zip(counts.T, concentrations.T[:, :, None], strict=True):
        log_pmf = log_pmf + gammaln(prior + count) - gammaln(prior)
    return np.exp(log_pmf)


# --- Parameters ---------------------------------------------------------------------------


def _limits(mean: Any, std: Any, confidence: float, method: Any) -> tuple[Any, Any]:
    """Return (lower, upper), normal limits within 0 and 1. Raises ValueError for other methods."""
    if not isinstance(method, str) or method != "normal":
        raise ValueError(
            f"method is {short(method)}: give 'normal', a normal approximation with exact moments. "
            f"The Monte Carlo intervals that scorio has by default are not available here."
        )
    return normal_limits(mean, std, check_confidence(confidence), (0.0, 1.0))


def _thresholds(k: int, thresholds: Numbers | None) -> list[float]:
    """Return the T thresholds, or 1/k, 2/k, .., 1 for None. Raises ValueError if one is invalid."""
    if thresholds is None:
        return [i / k for i in range(1, k + 1)]
    return check_thresholds(thresholds)


def _prior_parameters(prior: Any, questions: int, categories: int) -> Floats:
    """Return the parameters of the Dirichlet prior, (M, C + 1), or raise if they are invalid."""
    wanted = "a parameter of the Dirichlet prior is a positive number"
    try:
        values = np.asarray(prior, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"prior is {short(prior)}: {wanted}.") from error
    if values.shape not in ((), (categories,), (questions, categories)):
        raise ValueError(
            f"prior has the shape {values.shape}: give a number, {categories} numbers, or "
            f"{questions} rows of them."
        )
    for value in values.ravel().tolist():
        check_positive("prior", value, wanted, 1e15)
    return np.broadcast_to(values, (questions, categories))
