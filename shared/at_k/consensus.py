"""What a majority of the samples would say: cons@k, avg@n, pass@k, maj@k, and votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .credits import Credits, any_right, majority
from .draws import Prior, covariance, expected
from .interval import Blend, Posterior
from .outcomes import Counts, Outcomes, require_shares

Draws = Mapping[str, int | None]
"""What a key says of k, and the k; None for all the samples that a question has."""

_DRAWN: dict[str, Callable[[int], Credits]] = {"pass": any_right, "maj": majority}


def more_than_half(outcomes: Outcomes) -> Outcomes:
    """Binary outcomes: right where the share of correctness is above one half."""
    shares = require_shares(outcomes)
    return Outcomes(shares.values > 0.5, shares.sizes, shares.name, shares.scored)


def mean_shares(outcomes: Outcomes) -> np.ndarray:
    """(M,) the mean share of correctness of each question's samples."""
    shares = outcomes.values.astype(float)
    if outcomes.scored is not None:
        shares = shares * outcomes.scored
    return np.add.reduceat(shares, np.cumsum(outcomes.sizes) - outcomes.sizes) / outcomes.n


def consensus_keys(draws: Draws, n: str) -> list[str]:
    """The keys of what the counts alone tell, in the order of `consensus`."""
    drawn = [f"{name}@{k}" for name in _DRAWN for k in draws]
    return [*(f"cons@{k}" for k in draws), f"avg@{n}", *drawn]


def consensus(draws: Draws, n: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(U, m) the scores of questions (n, c), both (U,)."""
    columns = [(2 * c > (n if k is None else k)).astype(float) for k in draws.values()]
    columns.append(c / n)
    for credit in _DRAWN.values():
        for k in draws.values():
            column = np.empty(len(c))
            for rows, worth in _credits(credit, k, n):
                column[rows] = expected(n[rows], c[rows], [worth])[:, 0]
            columns.append(column)
    return np.stack(columns, axis=1)


def consensus_posterior(draws: Draws, n: str, counts: Counts, prior: Prior) -> Posterior:
    """Posterior moments of avg@n (those of `avg`, of a uniform prior), pass@k and maj@k."""
    samples, c = counts.kinds
    # The variance of Beta(c + 1, n - c + 1), on the scale of the average.
    uniform = (c + 1) * (samples - c + 1) / (samples + 3) / samples**2
    means, variances = [c / samples], [uniform]
    for credit in _DRAWN.values():
        for k in draws.values():
            mean, variance = np.empty((2, len(c)))
            for rows, worth in _credits(credit, k, samples):
                given = samples[rows], c[rows]
                mean[rows] = expected(*given, [worth], prior)[:, 0]
                variance[rows] = covariance(*given, worth, worth, prior)
            means.append(mean)
            variances.append(variance)
    keys = consensus_keys(draws, n)[len(draws) :]
    return Posterior(
        {key: Blend((column,)) for column, key in enumerate(keys)},
        counts,
        np.stack(means, axis=1),
        {(column, column): variance for column, variance in enumerate(variances)},
        (0.0, 1.0),
    )


def _credits(
    credit: Callable[[int], Credits], k: int | None, n: np.ndarray
) -> Iterator[tuple[Any, Credits]]:
    """The credit for k, or for each of the n where that is k; and the rows it is for."""
    if k is not None:
        yield slice(None), credit(k)
        return
    for size in np.unique(n).tolist():
        yield np.flatnonzero(n == size), credit(size)
