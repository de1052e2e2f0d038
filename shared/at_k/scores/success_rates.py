"""Success rates of questions: a grid, its likelihood, and scores of any k under a prior.

Given its success rate p, a question has a binomial number of correct samples. The grid is regular
in the log-odds of p. Under a prior over it, a score of k new samples has a posterior mean for each
question, which is the estimate for k > n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .credits import Credits
from .pass_family import cumulative_credit
from .prior import LOG_ODDS_STEP, beta_prior, estimate_prior, fits_too, last_step, whole_prior

_HALF_SUPPORT, _SHIFTS = 80, 60  # the prior has log-odds from -12 to 12 and shifts by -9 to 9
_IMPOSSIBLE, _CERTAIN = -1e9, 1e9  # log-odds of the rates 0 and 1 in floating point
_INNER = np.arange(-_HALF_SUPPORT - _SHIFTS, _HALF_SUPPORT + _SHIFTS + 1) * LOG_ODDS_STEP
_LOG_ODDS = np.hstack([_IMPOSSIBLE, _INNER, _CERTAIN])
RATE_SUPPORT = slice(_SHIFTS + 1, _SHIFTS + 2 * _HALF_SUPPORT + 2)  # of the prior, not shifted
GRID_SIZE = len(_LOG_ODDS)
RATES = 1 / (1 + np.exp(-_LOG_ODDS[RATE_SUPPORT]))
"""(161,) the success rates of the prior's support."""


def estimate_rate_prior(
    n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray
) -> dict[int, np.ndarray]:
    """Estimate the prior of the success rates for B parts of a run, starting from a uniform one.

    Args:
        n, c: (U,) distinct counts.
        multiplicity: (B, U) number of questions of each part with each.

    Returns:
        The priors split by n: for each n, (B, 161). The sum over n and rates is 1.
    """
    likelihood = binomial_likelihood(n, c)[:, RATE_SUPPORT]
    return estimate_prior(n, likelihood, multiplicity, _uniform_rates())


def estimate_beta_prior(
    n: np.ndarray, c: np.ndarray, multiplicity: np.ndarray, priors: Mapping[int, np.ndarray]
) -> dict[int, np.ndarray] | None:
    """Estimate the prior of the success rates for B parts of a run, as a Beta distribution.

    The mean and the variance of the rates are estimated without bias. One step of the EM algorithm
    adapts the prior to the samples. Where it does not fit the data about as well as the priors of
    `estimate_rate_prior`, these remain, and the result is None if it fits no part. Other arguments
    and the result are those of this function.
    """
    mean = multiplicity @ (c / n) / multiplicity.sum(axis=1)
    repeated = multiplicity * (n > 1)
    within = repeated @ (c * (n - c) / (n * np.maximum(n - 1.0, 1.0)))
    between = mean * (1 - mean) - within / np.maximum(repeated.sum(axis=1), 1)
    log_odds = _LOG_ODDS[RATE_SUPPORT]
    log_rates = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    prior = beta_prior(_uniform_rates(), *log_rates, mean, between, multiplicity, n)
    likelihood = binomial_likelihood(n, c)[:, RATE_SUPPORT]
    found = last_step(n, likelihood, multiplicity, prior)
    fits = fits_too(likelihood, multiplicity, whole_prior(priors), whole_prior(found))[:, None]
    if not fits.any():
        return None
    return {size: np.where(fits, found[size], priors[size]) for size in found}


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
        rates: the part of the grid to compute.
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
