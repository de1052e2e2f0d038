"""Priors over a grid of distributions, estimated from the counts of a run.

The EM algorithm estimates the prior over any grid. Here is also the grid of binary outcomes: given
its success rate p, a question has a binomial number of correct samples, and the grid is regular in
the log-odds of p. Under a prior over it, a score of k new samples has a posterior mean for each
question, which is the estimate for k > n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..scores.credits import Credits
from ..scores.pass_family import cumulative_credit

LOG_ODDS_STEP = 0.15  # of the grids
_FITTING = 4.0  # twice the difference of log-likelihoods, which is two standard errors

_HALF_SUPPORT, _SHIFTS = 80, 60  # the prior has log-odds from -12 to 12 and shifts by -9 to 9
_IMPOSSIBLE, _CERTAIN = -1e9, 1e9  # log-odds of the rates 0 and 1 in floating point
_INNER = np.arange(-_HALF_SUPPORT - _SHIFTS, _HALF_SUPPORT + _SHIFTS + 1) * LOG_ODDS_STEP
_LOG_ODDS = np.hstack([_IMPOSSIBLE, _INNER, _CERTAIN])
RATE_SUPPORT = slice(_SHIFTS + 1, _SHIFTS + 2 * _HALF_SUPPORT + 2)  # of the prior, not shifted
GRID_SIZE = len(_LOG_ODDS)
RATES = 1 / (1 + np.exp(-_LOG_ODDS[RATE_SUPPORT]))
"""(161,) the success rates of the prior's support."""


def estimate_prior(
    n: np.ndarray, likelihood: np.ndarray, multiplicity: np.ndarray, start: np.ndarray
) -> dict[int, np.ndarray]:
    """Estimate the prior over a grid for B groups of questions by the EM algorithm, stopped early.

    The limit of the EM algorithm is the nonparametric maximum likelihood estimate (Kiefer &
    Wolfowitz 1956; Laird 1978), which has a few atoms. Stopping after T steps keeps the
    distributions that the samples do not contradict: without a correct sample, a question keeps
    success rates of the order 1/(nT), so no variance is estimated as 0.

    Args:
        n: (U,) samples.
        likelihood: (U, J) of each distribution of the grid.
        multiplicity: (B, U) number of questions.
        start: (J,) prior to start from, of sum 1.

    Returns:
        The priors split by n: for each n, (B, J). The sum over n and J is 1.
    """
    total = multiplicity.sum(axis=1, keepdims=True)
    prior = np.broadcast_to(start, (len(total), len(start)))
    steps = np.maximum(20, (2 * np.sqrt(total)).astype(int))
    for step in range(1, steps.max()):
        weights = _weights(likelihood, multiplicity, prior)
        prior = np.where(step < steps, prior * (weights @ likelihood), prior)
    return last_step(n, likelihood, multiplicity, prior)


def last_step(
    n: np.ndarray, likelihood: np.ndarray, multiplicity: np.ndarray, prior: np.ndarray
) -> dict[int, np.ndarray]:
    """One step of the EM algorithm from (B, J) priors, which splits them by n."""
    weights = _weights(likelihood, multiplicity, prior)
    return {
        size: prior * (weights[:, n == size] @ likelihood[n == size])
        for size in np.unique(n).tolist()
    }


def beta_prior(
    start: np.ndarray,
    log_rate: np.ndarray,
    log_rest: np.ndarray,
    mean: np.ndarray,
    between: np.ndarray,
    multiplicity: np.ndarray,
    n: np.ndarray,
) -> np.ndarray:
    """(B, J) priors under which the rates of the distributions are Beta distributed.

    The Beta distribution has a given mean and variance. Its standard deviation in log-odds is at
    least a step of the grid, and both of its parameters are positive. One question in M + 1 has
    the prior `start`, so that no distribution is excluded.

    Args:
        start: (J,) prior under which rates are uniform, of sum 1.
        log_rate, log_rest: (J,) logarithms of the rate of each distribution, and of 1 - rate.
        mean, between: (B,) mean and variance of the rates of the questions.
        multiplicity: (B, U) number of questions.
        n: (U,) samples.
    """
    questions, samples = multiplicity.sum(axis=1, keepdims=True), multiplicity @ n
    mean = np.clip(mean, 1 / (samples + 2), 1 - 1 / (samples + 2))
    most = mean * (1 - mean)
    size = most / np.clip(between, (most * LOG_ODDS_STEP) ** 2, 0.999 * most) - 1
    a, b = size * mean, size * (1 - mean)
    log_density = (a - 1)[:, None] * log_rate + (b - 1)[:, None] * log_rest
    beta = start * np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return (questions * beta / beta.sum(axis=1, keepdims=True) + start) / (questions + 1)


def whole_prior(priors: Mapping[int, np.ndarray]) -> np.ndarray:
    """(B, J) the sum of priors that are split by n."""
    return np.sum([*priors.values()], axis=0)


def fits_too(
    likelihood: np.ndarray, multiplicity: np.ndarray, prior: np.ndarray, other: np.ndarray
) -> np.ndarray:
    """(B,) whether other (B, J) priors fit the data about as well as the estimated ones."""
    log_ratio = np.log(np.maximum(prior @ likelihood.T, 1e-300)) - np.log(
        np.maximum(other @ likelihood.T, 1e-300)
    )
    return 2 * np.sum(multiplicity * log_ratio, axis=1) <= _FITTING


def _weights(likelihood: np.ndarray, multiplicity: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(B, U) share of the questions with each count, relative to its probability."""
    share = multiplicity / multiplicity.sum(axis=1, keepdims=True)
    # Counts of other groups may be almost impossible under the prior of this one.
    return share / np.maximum(prior @ likelihood.T, 1e-300)


# --- Success rates -----------------------------------------------------------------------


def estimate_rate_prior(
    n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray
) -> dict[int, np.ndarray]:
    """Estimate the prior of the success rates for B groups, starting from a uniform one.

    Args:
        n, c: (U,) distinct counts.
        multiplicity: (B, U) number of questions with each.

    Returns:
        The priors split by n: for each n, (B, 161). The sum over n and rates is 1.
    """
    likelihood = binomial_likelihood(n, c)[:, RATE_SUPPORT]
    return estimate_prior(n, likelihood, multiplicity, _uniform_rates())


def estimate_beta_prior(
    n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray, priors: Mapping[int, np.ndarray]
) -> dict[int, np.ndarray] | None:
    """Estimate the prior of the success rates for B groups, as a Beta distribution.

    The mean and the variance of the rates are estimated without bias. One step of the EM algorithm
    adapts the prior to the samples.

    Args:
        n, c, multiplicity: see `estimate_rate_prior`.
        priors: the result of `estimate_rate_prior`. It remains where the Beta distribution does not
            fit the data about as well.

    Returns:
        The priors in the same form, or None if the Beta distribution fits no group.
    """
    mean = multiplicity @ (c / n) / multiplicity.sum(axis=1)
    repeated = multiplicity * (n > 1)
    within = repeated @ (c * (n - c) / (n * np.maximum(n - 1.0, 1.0)))
    between = mean * (1 - mean) - within / np.maximum(repeated.sum(axis=1), 1)
    log_odds = _LOG_ODDS[RATE_SUPPORT]
    log_rates = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    prior = beta_prior(_uniform_rates(), *log_rates, mean, between, multiplicity, n)
    likelihood = binomial_likelihood(n, c)[:, RATE_SUPPORT]
    adapted = last_step(n, likelihood, multiplicity, prior)
    fits = fits_too(likelihood, multiplicity, whole_prior(priors), whole_prior(adapted))[:, None]
    if not fits.any():
        return None
    return {size: np.where(fits, adapted[size], priors[size]) for size in adapted}


def _uniform_rates() -> np.ndarray:
    """(161,) the prior under which rates are uniform."""
    weight = RATES * (1 - RATES)  # on the scale of log-odds
    return weight / weight.sum()


def posterior_scores(
    n: np.ndarray, c: np.ndarray, prior: np.ndarray, credits: Sequence[Credits]
) -> np.ndarray:
    """(U, e) posterior means of e scores, for questions (n, c) and a (161,) prior."""
    weight = binomial_likelihood(n, c)[:, RATE_SUPPORT] * prior
    return weight @ scores_of_rates(credits) / weight.sum(axis=1, keepdims=True)


def scores_of_rates(credits: Sequence[Credits]) -> np.ndarray:
    """(161, e) expected credits of k samples at each success rate of the prior's support."""
    columns = []
    for credit in credits:
        k = len(credit)
        pmf_of_correct = binomial_likelihood(np.full(k + 1, k), np.arange(k + 1))[:, RATE_SUPPORT]
        columns.append(cumulative_credit(credit).hi @ (pmf_of_correct / pmf_of_correct.sum(axis=0)))
    return np.array(columns).reshape(len(credits), RATE_SUPPORT.stop - RATE_SUPPORT.start).T


def binomial_likelihood(n: np.ndarray, c: np.ndarray, rates: slice = slice(None)) -> np.ndarray:
    """(U, 283) probability of c correct samples of n at each rate of the grid, for (U,) n and c.

    Args:
        rates: the rates of the grid to compute it for.
    """
    from scipy.special import gammaln  # imported here, because it takes longer than all of at_k

    n, c, log_odds = n[:, None], c[:, None], _LOG_ODDS[rates]
    choose = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    log_failure, log_success = np.logaddexp(0, log_odds), np.logaddexp(0, -log_odds)
    return np.exp(choose - c * log_success - (n - c) * log_failure)


def likely_rates(n: int, least: int, most: int) -> slice:
    """The rates of the grid at which `least` to `most` correct samples of n are not negligible.

    At all others their probability is below exp(-100), by Bernstein's inequality.
    """
    rates = np.exp(-np.logaddexp(0, -_LOG_ODDS))
    distance = np.maximum(np.maximum(least - n * rates, n * rates - most), 0.0)
    likely = np.flatnonzero(distance**2 <= 200 * (n * rates * (1 - rates) + distance / 3))
    return slice(int(likely[0]), int(likely[-1]) + 1) if len(likely) else slice(0)
