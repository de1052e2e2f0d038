"""The prior over a grid of distributions, estimated from the counts of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

LOG_ODDS_STEP = 0.15  # of the grids
_FITTING = 4.0  # twice the difference of log-likelihoods, which is two standard errors


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
    numbers = multiplicity.sum(axis=1)
    steps = np.array([early_steps(number) for number in numbers])
    share = multiplicity / numbers[:, None]
    priors = np.tile(start, (len(steps), 1))
    for step in range(1, steps.max()):
        going = slice(None) if step < steps.min() else step < steps
        prior = priors[going]
        priors[going] = prior * (_weights(likelihood, share[going], prior) @ likelihood)
    return last_step(n, likelihood, multiplicity, priors)


def early_steps(questions: float) -> int:
    """Return after how many steps the EM algorithm is stopped."""
    return max(20, int(2 * math.sqrt(questions)))


def last_step(
    n: np.ndarray, likelihood: np.ndarray, multiplicity: np.ndarray, prior: np.ndarray
) -> dict[int, np.ndarray]:
    """One step of the EM algorithm from (B, J) priors, which splits them by n."""
    share = multiplicity / multiplicity.sum(axis=1, keepdims=True)
    weights = _weights(likelihood, share, prior)
    return {
        size: prior * (weights[:, n == size] @ likelihood[n == size])
        for size in np.unique(n[multiplicity.any(axis=0)]).tolist()
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


def _weights(likelihood: np.ndarray, share: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(B, U) share of the questions with each count, relative to its probability."""
    # Counts of other groups may be almost impossible under the prior of this one.
    return share / np.maximum(prior @ likelihood.T, 1e-300)
