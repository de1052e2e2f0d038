"""Intervals of many groups of questions at once, from how often each count occurs in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.interval import Interval
from . import Intervals

_GROUPS_AT_ONCE, _CELLS_OF_GROUPS = 1 << 8, 1 << 22  # groups, and groups x distinct counts


class Multiplicity(NamedTuple):
    """How many questions of B groups have each of U distinct counts, by their weights.

    Let w be the weights of the questions of a group. A weighted mean with independent errors of the
    variances v has the variance sum w^2 v / (sum w)^2. Questions with equal weights have the same
    for equal v if there are (sum w)^2 / sum w^2 of them, their effective number (Kish 1965).

    Attributes:
        numbers: (B, U) shares of the sums of w, times the effective number. For equal weights, the
            numbers of questions.
        squares: (B, U) shares of the sums of w^2, times the effective number.
    """

    numbers: np.ndarray
    squares: np.ndarray


def multiplicities(
    rows_of_groups: Sequence[np.ndarray],
    size: int,
    weights_of_groups: Sequence[np.ndarray] | None = None,
) -> Multiplicity:
    """Return the numbers of questions of groups.

    Args:
        rows_of_groups: for each group the index of each question's counts.
        size: U.
        weights_of_groups: for each group the weights of the questions, or None if they are equal.
    """
    if weights_of_groups is None:
        numbers = np.array([np.bincount(rows, minlength=size) for rows in rows_of_groups])
        return Multiplicity(numbers, numbers)
    sums, squares = (
        np.array(
            [
                np.bincount(rows, weights**power, minlength=size)
                for rows, weights in zip(rows_of_groups, weights_of_groups, strict=True)
            ]
        )
        for power in (1, 2)
    )
    total, total_of_squares = (x.sum(axis=1, keepdims=True) for x in (sums, squares))
    effective = total**2 / total_of_squares
    return Multiplicity(sums * (effective / total), squares * (effective / total_of_squares))


def intervals_by_counts(
    groups: Sequence[np.ndarray],
    inverse: np.ndarray,
    size: int,
    intervals_from: Callable[[Multiplicity], Intervals],
    weights: np.ndarray | None = None,
) -> list[Intervals]:
    """The intervals of groups of questions, which depend on the counts of the questions only.

    Groups with equal counts have equal intervals, which are computed once, for many groups at a
    time. The first group is computed alone: it is the whole run, whose prior may be known.

    Args:
        groups: the indices of the questions of each group.
        inverse: (M,) index of each question's counts among U distinct ones.
        size: U.
        intervals_from: the intervals of B groups, from the (B, U) numbers of questions with each.
        weights: (M,) of the questions, or None if they are equal.
    """
    if not groups:
        return []

    def for_block(block: list[int]) -> list[Intervals]:
        counts = [inverse[groups[group]] for group in block]
        of_groups = None if weights is None else [weights[groups[group]] for group in block]
        intervals = intervals_from(multiplicities(counts, size, of_groups))
        return [
            {key: interval_of_group(interval, i) for key, interval in intervals.items()}
            for i in range(len(block))
        ]

    # What is equal for groups with equal intervals.
    contents: list[Any] = [*range(len(groups))]
    if weights is None:
        contents[1:] = [np.sort(inverse[questions]).tobytes() for questions in groups[1:]]
    first = {content: group for group, content in reversed([*enumerate(contents)])}
    distinct = sorted(first.values())
    step = max(1, min(_GROUPS_AT_ONCE, _CELLS_OF_GROUPS // size))
    blocks = [distinct[:1]]
    blocks += [distinct[start : start + step] for start in range(1, len(distinct), step)]
    result: dict[int, Intervals] = {}
    for block in blocks:
        result |= zip(block, for_block(block), strict=True)
    return [result[first[content]] for content in contents]


def interval_of_group(interval: Interval, group: int) -> Interval:
    """The interval of one of B groups."""
    mu, sigma, lo, hi = (float(values[group]) for values in interval[:4])
    return Interval(mu, sigma, lo, hi, interval.interval)
