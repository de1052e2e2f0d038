"""The scores as plain functions of already-graded outcomes.

`R` has the outcomes of the samples of M questions: an (M, N) array or tensor, a nested list, which
may be ragged, a data frame with a question in each row, `Counts`, or a run of outcomes that
`at_k.read` returns. A flat list is one question.
An outcome is 0 or False (incorrect), or 1 or True (correct). Samples that are None, masked, or NA
in a data frame are not scored. Functions with rewards `w` also take categories, integers from 0 to
C; or real rewards, if w is None and one of the outcomes is a float other than 0 and 1.

A function such as `pass_at_k` returns the mean over questions of an unbiased estimate, unless it
says otherwise. `pass_at_k_ci` returns (mu, sigma, lo, hi): the posterior mean and standard
deviation of the score of k new samples, averaged over questions, and the limits mu -+ z sigma,
clipped to the bounds. The success rate of each question has a Beta(alpha0, beta0) prior, and the
probabilities of categories have a Dirichlet prior (Hariri et al. 2026, arXiv:2510.04265). Other
intervals have a coverage that is closer to the confidence: those of the metrics (`at_k.load`), and
with interval="sampling" or another name those of the pass@k family here. No random numbers are
used.

All raise a ValueError if an outcome or a parameter is invalid. The message names the entry
(`R[3][7]`), the question or the parameter, and says what would be valid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ..core.containers import as_arrow, to_array


class Array(Protocol):
    """An array, a tensor or a data frame: whatever NumPy can convert."""

    def __array__(self) -> np.ndarray[Any, Any]: ...


class Counts(dict[str, Any]):
    """Numbers of samples, in place of the outcomes R of a function or the predictions of a metric.

    Any engine reduces samples to counts with one GROUP BY. A metric also takes the plain dict,
    {"n": [8, 8], "correct": [3, 5]} or {"counts": [[5, 3], [3, 5]]}.

    Args:
        n: (M,) number of scored samples of each question; or, without c, an (M, C + 1) table of the
            number of samples in each category 0, 1, .., C.
        c: (M,) number of correct samples, 0 <= c <= n.

    Raises:
        ValueError: by the function that takes the counts, if one is negative or not an integer, if
            c is above n, or if a question has no samples.

    Examples:
        >>> from at_k import bayes, pass_at_k
        >>> pass_at_k(Counts([5, 5], [3, 4]), 2) == pass_at_k([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], 2)
        True
        >>> [round(x, 6) for x in bayes(Counts([[1, 2, 2], [1, 2, 2]]), [0.0, 0.5, 1.0])]
        [0.5625, 0.091998]
    """

    def __init__(
        self,
        n: Iterable[int] | Iterable[Iterable[int]] | Array,
        c: Iterable[int] | Array | None = None,
    ):
        # A copy, so that later changes of an array do not move the score.
        super().__init__(
            {"counts": _copy(n)} if c is None else {"n": _copy(n), "correct": _copy(c)}
        )


def _copy(values: Any) -> Any:
    """Return a copy of an array, a list or a column, or the list of an iterator."""
    values = as_arrow(values)
    if hasattr(values, "detach"):
        return to_array(values).copy()
    if isinstance(values, Iterator):
        return list(values)
    try:
        return copy.deepcopy(values)
    except RecursionError as error:
        raise ValueError("n or c is nested too deeply: give one row for each question.") from error


Outcome = bool | int | float | np.generic | None
"""0 or False, 1 or True, a category, a real reward, or None if the sample is not scored."""

OutcomesLike = Iterable[Iterable[Outcome] | Outcome] | Array | Mapping[str, Any]
"""The outcomes of M questions. A mapping is `Counts`, or a run that `at_k.read` returns. Only
`compare` and other functions of runs take a run with references, and check its samples."""

Numbers = Iterable[float] | Array
"""One number for each category, or for each threshold."""

Bounds = tuple[float, float] | None
"""The (lo, hi) that confidence limits are clipped to, or None for no clipping."""

Summary = tuple[float, float, float, float]
"""Posterior mean, posterior standard deviation and confidence limits: (mu, sigma, lo, hi)."""
