"""Counts of outcomes, which take the place of an outcome matrix."""

from __future__ import annotations

from typing import Any


class Counts(dict[str, Any]):
    """Numbers of samples, in place of the outcomes R of a function or the predictions of a metric.

    Any engine reduces samples to counts with one GROUP BY, and no score needs more. A metric also
    takes the dict that this is: {"n": [8, 8], "correct": [3, 5]} or {"counts": [[5, 3], [3, 5]]}.

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

    def __init__(self, n, c=None):
        super().__init__({"counts": n} if c is None else {"n": n, "correct": c})
