"""Success rates of questions: a grid, its likelihood, and scores of any k under a prior.

Given its success rate p, a question has a binomial number of correct samples. The grid is regular
in the log-odds of p. Under a prior over it, a score of k new samples has a posterior mean for each
question, which is the estimate for k > n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from .credits import Credits
from .pass_family import cumulative_credit
from .prior import estimate_prior

_STEP = 0.15  # of the log-odds
_HALF_SUPPORT, _SHIFTS = 80, 60  # the prior has log-odds from -12 to 12 and shifts by -9 to 9
_IMPOSSIBLE, _CERTAIN = -1e9, 1e9  # log-odds of the rates 0 and 1 in floating point
_INNER = np.arange(-_HALF_SUPPORT - _SHIFTS, _HALF_SUPPORT + _SHIFTS + 1) * _STEP
_LOG_ODDS = np.hstack([_IMPOSSIBLE, _INNER, _CERTAIN])
RATE_SUPPORT = slice(_SHIFTS + 1, _SHIFTS + 2 * _HALF_SUPPORT + 2)  # of the prior, not shifted
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
    start = RATES * (1 - RATES)  # uniform in p, on the scale of log-odds
    likelihood = binomial_likelihood(n, c)[:, RATE_SUPPORT]
    return estimate_prior(n, likelihood, multiplicity, start / start.sum())


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


def binomial_likelihood(n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(U, 283) probability of c correct samples of n at each rate of the grid, for (U,) n and c."""
    n, c = n[:, None], c[:, None]
    choose = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    log_failure, log_success = np.logaddexp(0, _LOG_ODDS), np.logaddexp(0, -_LOG_ODDS)
    return np.exp(choose - c * log_success - (n - c) * log_failure)
