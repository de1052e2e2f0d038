"""The family of binary outcomes: distributions with a success rate on a grid of log-odds.

A shift d is added to the log-odds of all rates. With the unbiased estimate h(n, c) of a question,
theta(d) is the mean of E[h | p] over the shifted prior. The grid has 283 rates. 161 of them are the
support of the prior, and with the rates 0 and 1 these are 163. U is the number of pairs (n, c).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..core.checks import InputError, Place
from ..core.choice import IntervalOptions
from ..core.coherent import CoherentIntervals, Event, event_of, with_neighbors
from ..core.counts import BinaryCounts
from ..core.credits import Credits
from ..core.expected import pass_scores
from ..core.interval import UNIT_RANGE, IntervalMethod
from ..core.posterior import PosteriorIntervals
from ..core.questions import Ranges
from ..core.score import ColumnPair, Score, ScoreKey, Scores
from ..scores.checker_rates import NO_ERRORS, CheckerRates, Estimator, estimator
from ..scores.distributions import log_choose, pass_moments, scores_of_log_odds
from .family import Candidates, Family, Fit, Shifted, Statistics, with_extrapolated
from .prior import LOG_ODDS_STEP, Observed, inflated_prior, whole_prior
from .sampling import family_intervals

_HALF_SUPPORT, _SHIFTS = 80, 60  # The prior has log-odds from -12 to 12, and shifts by -9 to 9.
_IMPOSSIBLE, _CERTAIN = -1e9, 1e9  # log-odds of the rates 0 and 1 in floating point
_INNER = np.arange(-_HALF_SUPPORT - _SHIFTS, _HALF_SUPPORT + _SHIFTS + 1) * LOG_ODDS_STEP
_LOG_ODDS = np.hstack([_IMPOSSIBLE, _INNER, _CERTAIN])
RATE_SUPPORT = slice(_SHIFTS + 1, _SHIFTS + 2 * _HALF_SUPPORT + 2)  # of the prior at shift 0
GRID_SIZE = len(_LOG_ODDS)
RATES = 1 / (1 + np.exp(-_LOG_ODDS[RATE_SUPPORT]))
"""The success rates of the prior's support, (161,)."""
_LOG_RATES = -np.logaddexp(0, np.multiply.outer([-1, 1], _LOG_ODDS[RATE_SUPPORT]))
"""The logarithms of the success rates, and of the rates of incorrect samples, (2, 161)."""
_UNIFORM = RATES * (1 - RATES) / np.sum(RATES * (1 - RATES))
"""The prior, (161,), under which rates are uniform between 0 and 1."""

_LARGEST_FULL_N = 10_000  # For larger n, moments are sums over a part of the counts c.
_COUNTS_OF_A_BLOCK = 1 << 9  # so many values of c are used at once, to bound memory
_LARGEST_N = 1_000_000  # Time and rounding errors grow with n.
_MOMENTS_KEPT = 32  # of so many n, to bound memory
_COUNT_BINS = 128  # largest number of bins for c in a profile


def pass_intervals(
    counts: BinaryCounts,
    scores: Mapping[ScoreKey, Score],
    options: IntervalOptions,
    rates: CheckerRates = NO_ERRORS,
    are_ordered: bool = True,
) -> tuple[Scores, IntervalMethod]:
    """Return the scores of the pass@k family and the method that computes their intervals.

    `rates` are those of the checker. Limits are moved into the order of the scores, see
    `core.coherent`, unless `are_ordered` is False, to save time where only covariances are needed.
    """
    if options.method == "posterior":
        moments = pass_moments(counts, scores, options.prior)
        method = PosteriorIntervals(moments, UNIT_RANGE, weights=options.weights)
        return pass_scores(counts, scores), method
    least = int(counts.n.min())
    # The k of a score is the number of its credits. Scores of k > n are extrapolated.
    observed: dict[ScoreKey, Score] = {}
    beyond: dict[ScoreKey, Score] = {}
    for key, score in scores.items():
        (observed if len(score.terms[0]) <= least else beyond)[key] = score
    # Coherent limits of a score depend on those of its neighbors.
    are_ordered = are_ordered and rates.are_exact
    estimated = with_neighbors(scores, least) if are_ordered else observed
    family = BinaryFamily(
        counts,
        *estimator(estimated, rates),
        extrapolated=_single_credits(scores if options.method == "hierarchical" else beyond),
        weights=options.weights,
        inner_k=_largest_inner_k(observed),
        rates=rates,
        without_errors=None if rates.are_exact else estimator(estimated)[1],
    )
    known = Scores(family.scores, counts.inverse, family.columns).only(observed)
    points = with_extrapolated(known, family, scores)
    limits = family_intervals(family, options)
    # Hierarchical limits for all k come from the same priors, so they are in order already.
    if are_ordered and options.method != "hierarchical":
        limits = CoherentIntervals(limits, scores)
    return points, limits


def _largest_inner_k(scores: Mapping[ScoreKey, Score]) -> int:
    """Return the largest k of the scores other than pass@k and pass^k, or 1 if there are none."""
    terms = itertools.chain.from_iterable(score.terms for score in scores.values())
    return max((len(credit) for credit in terms if any(credit[1:-1])), default=1)


def _single_credits(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Credits]:
    """Return the credits of each score by its key. Raises ValueError if a score is a product."""
    for key, score in scores.items():
        if len(score.terms) > 1:
            raise ValueError(
                f"{key or 'The score'} is a product of two scores, for which neither k > n nor "
                f"interval='hierarchical' is available: give a k of at most n and another "
                f"interval, or leave it out."
            )
    return {key: score.terms[0] for key, score in scores.items()}


class BinaryFamily(Family):
    """Success rates of questions, with a prior that is estimated from the counts.

    Args:
        scores: scores by their keys, in terms of the columns of `estimate`.
        estimate: a function that returns the (U, m) unbiased estimates for (U,) n and c.
        extrapolated: credits of the extrapolated scores by their keys, of any k.
        inner_k: the result of `_largest_inner_k`, or None to use all counts c.
        rates: rates of the checker that called samples correct.
        without_errors: like `estimate`, for numbers of truly correct samples. Default: `estimate`.
    """

    def __init__(
        self,
        counts: BinaryCounts,
        scores: Mapping[ScoreKey, Score],
        estimate: Estimator,
        extrapolated: Mapping[ScoreKey, Credits],
        weights: np.ndarray | None = None,
        inner_k: int | None = None,
        rates: CheckerRates = NO_ERRORS,
        without_errors: Estimator | None = None,
    ):
        n, self._c = counts.unique
        if (too_large := np.flatnonzero(n[counts.inverse] > _LARGEST_N)).size:
            raise InputError(
                Place("Question", int(too_large[0])),
                f" has n = {counts.n[too_large[0]]} samples: only the interval 'posterior' takes "
                f"more than {_LARGEST_N}.",
            )
        columns = estimate(n, self._c)
        super().__init__(counts.inverse, n, columns, scores, extrapolated, UNIT_RANGE, weights)
        self._estimate, self._inner_k, self._rates = estimate, inner_k, rates
        self._credits = list(extrapolated.values())
        self._scores_of_rates = scores_with_ends(self._credits)
        self._without_errors = without_errors or estimate
        itself = [(column, column) for column in range(columns.shape[1])]
        needed = (pair for score in scores.values() for pair in score.pairs())
        # Each column with itself, and then the other pairs that the scores need.
        self._pairs: list[ColumnPair] = list(dict.fromkeys(itertools.chain(itself, needed)))
        # All groups of questions use the same moments.
        self._moments = lru_cache(_MOMENTS_KEPT)(self._moments_by_shift)

    @cached_property
    def _none_correct(self) -> np.ndarray:
        """Return the columns of questions without a correct sample, (U, m)."""
        return self._without_errors(self.n, np.zeros_like(self.n))

    @cached_property
    def _all_correct(self) -> np.ndarray:
        """Return the columns of questions whose samples are all correct, (U, m)."""
        return self._without_errors(self.n, self.n)

    def prior_of(self, multiplicity: np.ndarray) -> list[dict[int, np.ndarray]]:
        """Return one or two estimates of the prior, see `Observed.estimates`: {n: (161,)} each."""
        used, rates = multiplicity > 0, self._rates
        n, c, numbers = self.n[used], self._c[used], multiplicity[used]
        mean = numbers @ (c / n) / numbers.sum()
        repeated = numbers * (n > 1)
        within = repeated @ (c * (n - c) / (n * np.maximum(n - 1.0, 1.0)))
        between = mean * (1 - mean) - within / max(repeated.sum(), 1)
        if not rates.are_exact:  # So far, both describe samples that are called correct.
            mean, between = rates.corrected(mean), between / (rates[0] - rates[1]) ** 2
        observed = Observed(n, binomial_likelihood(n, c, RATE_SUPPORT, rates), numbers)
        return observed.estimates(_UNIFORM, _LOG_RATES, mean, between)

    def _column_ranges(self) -> tuple[Ranges, Ranges | None]:
        """Return the ranges of columns, and those of their estimates unless they are equal."""
        ranges = self._none_correct, self._all_correct
        if self._rates.are_exact:
            return ranges, None
        at_none, at_all = (self._estimate(self.n, c) for c in (np.zeros_like(self.n), self.n))
        return ranges, (np.minimum(at_none, ranges[0]), np.maximum(at_all, ranges[1]))

    def shifted_families(self, fit: Fit) -> list[Shifted]:
        """Return m scores and variances at F shifts, for each estimate of the prior in `fit`."""
        m, result = self.columns.shape[1], []
        share = fit.multiplicity / fit.multiplicity.sum()
        least, most = share @ self._none_correct, share @ self._all_correct
        for estimate in fit.prior:
            parts = [_means_of_shifts(self._moments(n), prior) for n, prior in estimate.items()]
            means = np.sum(parts, axis=0)  # (F, m + P): m scores and P covariances at each shift
            theta = np.clip(means[:, :m], least, most)  # Rounding may exceed the range.
            variance = means[:, m : 2 * m]  # `_pairs` begins with the pairs (i, i).
            at_no_shift = means[len(means) // 2, m:].tolist()
            covariance = dict(zip(self._pairs, at_no_shift, strict=True))
            result.append(Shifted(theta, variance, covariance, offset=0.0, scale=1.0))
        return result

    def _moments_by_shift(self, n: int) -> np.ndarray:
        """Return means of the m columns and covariances of the P `_pairs`, (123, m + P, 161).

        They are for n samples, at the 161 rates of the support after each of 123 shifts.
        """
        if n > _LARGEST_FULL_N and self._inner_k is not None:
            sums = self._sums_by_quadrature(n)
        else:
            sums = self._sums_over_counts(n)
        m, pairs = self.columns.shape[1], self._pairs
        mean, gap, products, gap_products = np.split(sums, [m, 2 * m, 2 * m + len(pairs)], 1)
        a, b = np.transpose(pairs)
        square, gap_square = mean[:, a] * mean[:, b], gap[:, a] * gap[:, b]
        # The estimates and their gaps have equal covariances, and `products - square` keeps more
        # digits if both are small. So the smaller of the two means is used.
        covariances = np.where(square < gap_square, products - square, gap_products - gap_square)
        return sliding_window_view(np.hstack([mean, covariances]), len(RATES), axis=0)

    def _sums_over_counts(self, n: int) -> np.ndarray:
        """Return the means of the columns of `_estimates_and_products`, (283, 2 m + 2 P).

        They are sums over the counts c of n samples, with the pmf of c at each rate of the grid.
        """
        result = np.zeros((GRID_SIZE, 2 * self.columns.shape[1] + 2 * len(self._pairs)))
        for start in range(0, n + 1, _COUNTS_OF_A_BLOCK):
            c = np.arange(start, min(n + 1, start + _COUNTS_OF_A_BLOCK))
            pmf_of_c = binomial_likelihood(np.full(len(c), n), c, rates=self._rates)
            result += pmf_of_c.T @ self._estimates_and_products(n, c)
        return result

    def _sums_by_quadrature(self, n: int) -> np.ndarray:
        """Return approximately the result of `_sums_over_counts`, from each s-th count c.

        The trapezoidal rule converges exponentially for smooth functions. A threshold of k samples
        changes over counts whose standard deviation is sqrt((n - k) / k) times that of the binomial
        distribution. The step s is at most half of the smaller of the two.
        """
        from scipy.special import gammaln  # imported here: it takes longer than all of at_k

        k = self._inner_k or 1
        incorrect, correct = _neg_log_rates(_LOG_ODDS, self._rates)
        deviation = np.sqrt(n * np.exp(-correct - incorrect))
        steps = np.maximum(deviation / 2 * math.sqrt(min(1.0, (n - k) / k)), 1).astype(int)
        center = np.rint(n * np.exp(-correct)).astype(int)
        steps_beside = np.ceil((8 * deviation + 30) / steps).astype(int)
        nodes = []
        for middle, step, beside in np.transpose([center, steps, steps_beside]).tolist():
            c = middle + step * np.arange(-beside, beside + 1)
            nodes.append(c[(c >= 0) & (c <= n)])
        distinct, index = np.unique(np.concatenate(nodes), return_inverse=True)
        values = self._estimates_and_products(n, distinct)
        rows = np.split(index, np.cumsum([len(c) for c in nodes])[:-1])
        result = np.empty((GRID_SIZE, values.shape[1]))
        for i, (c, row) in enumerate(zip(nodes, rows, strict=True)):
            with np.errstate(invalid="ignore"):  # 0 times infinity, where a rate is 0
                neg_log_pmf = gammaln(c + 1) + gammaln(n - c + 1)
                neg_log_pmf = neg_log_pmf + np.where(c, c * correct[i], 0.0)
                neg_log_pmf = neg_log_pmf + np.where(n - c, (n - c) * incorrect[i], 0.0)
            weight = np.exp(neg_log_pmf.min() - neg_log_pmf)
            result[i] = weight @ values[row] / weight.sum()
        return result

    def _estimates_and_products(self, n: int, c: np.ndarray) -> np.ndarray:
        """Return estimates h and products for (C,) counts c of a question, (C, 2 m + 2 P).

        The columns are h, the gaps from h to the estimates with all samples correct, the products
        of P pairs of h, and those of P pairs of gaps.
        """
        h = self._estimate(np.full(len(c), n), c)
        gap, (a, b) = self._all_correct[0] - h, np.transpose(self._pairs)
        return np.hstack([h, gap, h[:, a] * h[:, b], gap[:, a] * gap[:, b]])

    def covariance_of_samples(self, fit: Fit, columns: Sequence[int]) -> np.ndarray:
        """Return the mean covariance of estimates of `columns` from new samples of a question."""
        result = np.zeros(())
        for n, prior in fit.prior[0].items():  # of the first estimate, see `prior_of`
            c, size = np.arange(n + 1), np.full(n + 1, n)
            pmf_of_c = binomial_likelihood(size, c, RATE_SUPPORT, self._rates)
            share_of_c, h = pmf_of_c @ prior, self._estimate(size, c)[:, columns]
            # The covariance of the estimates h is E[h h'] - E[E[h | rate] E[h | rate]']. Without
            # their mean, both terms are small, and their difference keeps its digits.
            h = h - share_of_c @ h / share_of_c.sum()
            h_at_rate = pmf_of_c.T @ h
            result = result + (h.T * share_of_c) @ h - (h_at_rate.T * prior) @ h_at_rate
        return np.asarray(result)

    def extrapolate(self, fit: Fit) -> np.ndarray:
        """Return posterior means for the V pairs (n, c) of a group, (V, e)."""
        used = fit.multiplicity > 0
        n, c, numbers = self.n[used], self._c[used], fit.multiplicity[used]
        return extrapolated_scores(n, c, numbers, self._scores_of_rates, self._rates)

    def coherent_means(self, means: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
        """Return (e,) means with pass@k >= pass@n and pass^k <= pass^n for k above the least n."""
        result, least = means.copy(), int(self.n.min())
        unbiased = multiplicity @ self.columns / multiplicity.sum()
        for i, credits in enumerate(self._credits):
            event = event_of(Score((credits,)))
            if event is None or event.r not in (1, event.k):
                continue
            at_n = Event(least, 1 if event.r == 1 else least)
            if event.k > least and at_n in self.scores:
                bound = float(self.scores[at_n].value(unbiased))
                result[i] = max(means[i], bound) if event.r == 1 else min(means[i], bound)
        return result

    def candidates(self, fit: Fit) -> Candidates:
        """Return the statistics and the extrapolated scores of a group at all 163 rates."""
        parts_by_n = fit.prior[0]  # of the first estimate, see `prior_of`
        shares = [self._shares_of_counts(n, x, fit.multiplicity) for n, x in parts_by_n.items()]
        return Candidates(shares, complete=True, scores=self._scores_of_rates)

    def _shares_of_counts(self, n: int, prior: np.ndarray, multiplicity: np.ndarray) -> Statistics:
        """Return `Statistics` of the questions with n samples: the share whose c is in each bin.

        The r bins divide the counts 0 to n evenly. `prior`, (161,), is the part for this n, and
        `multiplicity` the number of questions with each of the U pairs (n, c).
        """
        bins = np.arange(n + 1) * min(n + 1, _COUNT_BINS) // (n + 1)  # the bin of each c
        first_c = np.searchsorted(bins, np.arange(bins[-1] + 1))
        pmf_of_c = _likelihood_with_ends(np.full(n + 1, n), np.arange(n + 1), self._rates)
        expected = np.add.reduceat(pmf_of_c, first_c)
        weight, inner = prior / prior.sum(), expected[:, 1:-1]  # The prior has no rates 0 and 1.
        covariance = np.diag(inner @ weight) - (inner * weight) @ inner.T
        numbers = np.where(self.n == n, multiplicity, 0)
        questions = numbers.sum()
        observed = np.bincount(bins[np.minimum(self._c, n)], numbers, len(expected)) / questions
        # Half a question is added, for counts that the estimated prior makes almost impossible.
        slack = np.eye(len(expected)) / 2 / questions**2
        return Statistics(expected, observed, covariance / questions + slack)


def _means_of_shifts(moments: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the means of the `_moments_by_shift` under a prior, (161,), as (123, m + P)."""
    # Unlike a product with a matrix of shifted priors, this is too small for threads of BLAS, which
    # wait for each other where other programs run.
    result = moments @ prior
    # The first and the last shift are infinite: they make all rates 0, or all rates 1.
    result[0], result[-1] = moments[0, :, 0] * prior.sum(), moments[-1, :, -1] * prior.sum()
    return result


# --- Success rates ------------------------------------------------------------------------


def estimate_rate_prior(n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray) -> np.ndarray:
    """Return the prior of success rates that EM, stopped early, estimates for a group, (161,)."""
    likelihood = binomial_likelihood(n, c, RATE_SUPPORT)
    return whole_prior(Observed(n, likelihood, multiplicity).estimated_prior(_UNIFORM))


def extrapolated_scores(
    n: np.ndarray,
    c: np.ndarray,
    multiplicity: np.ndarray,
    scores: np.ndarray,
    rates: CheckerRates = NO_ERRORS,
) -> np.ndarray:
    """Return posterior means of extrapolated scores under the `inflated_prior` of a group, (U, e).

    `scores`, (163, e), are what `scores_with_ends` returns. Each pair (n, c) has a question.
    """
    likelihood = _likelihood_with_ends(n, c, rates)
    weight = likelihood * inflated_prior(likelihood, multiplicity, _LOG_ODDS[RATE_SUPPORT])
    means = weight @ scores / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    return np.clip(means, 0.0, scores[-1])  # Rounding may exceed the largest score.


def scores_with_ends(credits: Sequence[Credits]) -> np.ndarray:
    """Return expected credits at 163 rates: 0, the support, and 1, (163, e)."""
    return np.vstack(
        [np.zeros(len(credits)), scores_of_rates(credits), [sum(credit) for credit in credits]]
    )


def scores_of_rates(credits: Sequence[Credits]) -> np.ndarray:
    """Return expected credits of k samples at each rate of the support, (161, e)."""
    columns = [scores_of_log_odds(_LOG_ODDS[RATE_SUPPORT], [credit])[0, 0] for credit in credits]
    return np.array(columns).reshape(len(credits), len(RATES)).T


def _likelihood_with_ends(n: np.ndarray, c: np.ndarray, rates: CheckerRates) -> np.ndarray:
    """Return `binomial_likelihood` at 163 rates: 0, the support, and 1, (U, 163)."""
    likelihood = binomial_likelihood(n, c, rates=rates)
    return np.column_stack([likelihood[:, 0], likelihood[:, RATE_SUPPORT], likelihood[:, -1]])


def binomial_likelihood(
    n: np.ndarray, c: np.ndarray, grid: slice = slice(None), rates: CheckerRates = NO_ERRORS
) -> np.ndarray:
    """Return P(c of n samples are called correct) at each success rate, (U, 283), or at `grid`."""
    n, c = n[:, None], c[:, None]
    neg_log_incorrect, neg_log_correct = _neg_log_rates(_LOG_ODDS[grid], rates)
    return np.exp(log_choose(n, c) - c * neg_log_correct - (n - c) * neg_log_incorrect)


def _neg_log_rates(log_odds: np.ndarray, rates: CheckerRates) -> tuple[np.ndarray, np.ndarray]:
    """Return -log P(a checker calls a sample incorrect), and -log P(it calls it correct).

    For the success rate p and the checker's true and false positive rates t and f, the two
    probabilities are (1 - t) p + (1 - f) (1 - p), and t p + f (1 - p).
    """
    log_p, log_not_p = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)  # of p, of 1 - p
    if rates.are_exact:
        return -log_not_p, -log_p
    t, f = rates
    with np.errstate(divide="ignore"):  # the logarithm of 0
        log_t, log_f, log_not_t, log_not_f = np.log([t, f, 1 - t, 1 - f])
    return (
        -np.logaddexp(log_not_t + log_p, log_not_f + log_not_p),
        -np.logaddexp(log_t + log_p, log_f + log_not_p),
    )
