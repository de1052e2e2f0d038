"""What a majority of the samples would say: cons@k, avg@n, pass@k, maj@k, and votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..inputs.counts import Counts
from ..inputs.outcomes import Outcomes, require_shares
from .credits import Credits, any_correct, majority
from .distributions import Prior
from .pass_family import credit_covariances, expected_credits
from .score import Moments, one_column_each

Draws = Mapping[str, int | None]
"""What a key says of k, and the k; None for all the samples that a question has."""

_DRAWN: dict[str, Callable[[int], Credits]] = {"pass": any_correct, "maj": majority}


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
    cons = [(2 * c > (n if k is None else k)).astype(float) for k in draws.values()]
    drawn = _drawn(draws, n, lambda rows, worth: expected_credits(n[rows], c[rows], [worth])[:, 0])
    return np.stack([*cons, c / n, *drawn], axis=1)


def consensus_posterior(draws: Draws, n: str, counts: Counts, prior: Prior) -> Moments:
    """Posterior moments of avg@n (those of `avg`, of a uniform prior), pass@k and maj@k."""
    size, c = counts.unique
    one = any_correct(1)
    means = _drawn(
        draws, size, lambda at, worth: expected_credits(size[at], c[at], [worth], prior)[:, 0]
    )
    variances = [
        ((size + 2) / size) ** 2 * credit_covariances(size, c, [(one, one)], (1.0, 1.0))[:, 0],
        *_drawn(
            draws,
            size,
            lambda at, worth: credit_covariances(size[at], c[at], [(worth, worth)], prior)[:, 0],
        ),
    ]
    keys = consensus_keys(draws, n)[len(draws) :]
    return Moments(
        one_column_each(keys),
        counts.inverse,
        np.stack([c / size, *means], axis=1),
        {(column, column): variance for column, variance in enumerate(variances)},
    )


def _drawn(
    draws: Draws, n: np.ndarray, of: Callable[[Any, Credits], np.ndarray]
) -> list[np.ndarray]:
    """(U,) for pass@k and maj@k at each k: `of` the rows of one k, and their credits."""
    columns = []
    for credit in _DRAWN.values():
        for k in draws.values():
            column = np.empty(len(n))
            for size in np.unique(n).tolist() if k is None else [k]:
                rows = np.flatnonzero(n == size) if k is None else slice(None)
                column[rows] = of(rows, credit(size))
            columns.append(column)
    return columns
