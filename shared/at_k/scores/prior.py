"""The prior over a grid of distributions, estimated from the counts of a run."""

from __future__ import annotations

import numpy as np


def estimate_prior(
    n: np.ndarray, likelihood: np.ndarray, multiplicity: np.ndarray, start: np.ndarray
) -> dict[int, np.ndarray]:
    """Estimate the prior over a grid for B parts by the EM algorithm, stopped early.

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
    share = multiplicity / total
    prior = np.broadcast_to(start, (len(share), len(start)))

    def weights() -> np.ndarray:
        # Counts of other parts may be almost impossible under the prior of this one.
        return share / np.maximum(prior @ likelihood.T, 1e-300)

    steps = np.maximum(20, (2 * np.sqrt(total)).astype(int))
    for step in range(1, steps.max()):
        prior = np.where(step < steps, prior * (weights() @ likelihood), prior)
    last = weights()
    return {
        size: prior * (last[:, n == size] @ likelihood[n == size]) for size in np.unique(n).tolist()
    }
