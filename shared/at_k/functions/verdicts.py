"""score_agg: combine the verdicts of an item into one score, also as eval-ai-library does."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from ..core.checks import check_name, check_number, short
from ..core.samples import read_outcomes
from ..core.score_agg import (
    VERDICTS,
    check_eps,
    check_penalty,
    exponent,
    item_scores,
    require_weights,
)


def score_agg(
    scores: Iterable[Any],
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    compat: str | None = None,
) -> float:
    """Return the score of graded verdicts, from 0 to 1: M_p * max(0, 1 - penalty * zeros).

    M_p is the power mean of the verdicts, whose exponent p follows from the temperature, and zeros
    is the number of verdicts of 0. For p <= 0, eps_for_neg_p replaces smaller verdicts, but M_p is
    at most the arithmetic mean of the verdicts. For 0 < p < 1, nothing is replaced, and M_p is at
    least that for p = 0. Thus the score never decreases as the temperature rises, and it is 0 if
    all verdicts are 0.

    Args:
        scores: the verdicts of one item: numbers from 0 to 1, or labels of `VERDICTS`. None is
            not scored. For a list of such lists, the result is the mean of their scores.
        temperature: from 0.1 (strict) to 1.0 (lenient). The exponent p is interpolated linearly
            in the table 0.1 -> -8, 0.3 -> -2.5, 0.5 -> 1, 0.7 -> 4.6, 1.0 -> 12.25.
        penalty: share of the score that each verdict of 0 costs.
        eps_for_neg_p: replaces smaller verdicts if p <= 0, see above.
        compat: "0.3", "0.7" or "0.8" reproduces the score of eval-ai-library 0.3.3, 0.7.10 or
            0.8.2 to the digit. These releases interpolate p on one line from -8 to 12.25, clip the
            temperature to the range from 0.1 to 1.0, and round to 4 decimals. Releases 0.7 and 0.8
            have a penalty of their own and ignore `penalty`.

    Returns:
        A float from 0 to 1. With `compat`, it is rounded as in the release.

    Raises:
        ValueError: if a verdict or a parameter is invalid. An empty list is invalid with `compat`,
            too, although the releases give it the score 0.

    Examples:
        >>> verdicts = ["fully", "mostly", "partial", "minor"]
        >>> [round(score_agg(verdicts, temperature=t), 3) for t in (0.1, 0.3, 0.5, 0.7, 1.0)]
        [0.357, 0.48, 0.725, 0.842, 0.912]
        >>> round(score_agg([1.0, 0.9, 0.7, 0.0]), 3)  # the mean 0.65, reduced by a tenth
        0.585
        >>> score_agg([verdicts, ["mostly", "none"]], temperature=0.7, compat="0.8")
        0.7734

    References:
        Meshkov (2026). Adaptive Rigor in AI System Evaluation using Temperature-Controlled
            Verdict Aggregation via Generalized Power Mean. arXiv:2604.08595
    """
    verdicts = require_weights(read_outcomes(scores, "scores", VERDICTS))
    penalty, eps = check_penalty(penalty), check_eps(eps_for_neg_p)
    if compat is None:
        return float(item_scores(verdicts, exponent(temperature), penalty, eps).mean())
    release = check_name("compat", compat, ("0.3", "0.7", "0.8"))
    most = sys.float_info.max
    temperature = check_number("temperature", temperature, "give a finite number", -most, most)
    items = np.split(verdicts.scored_values.astype(float), np.cumsum(verdicts.n)[:-1])
    rounded = [_release_score(item.tolist(), temperature, penalty, eps, release) for item in items]
    return _sum_in_order(rounded) / len(rounded)


def _sum_in_order(values: Iterable[float]) -> float:
    """Return the sum of floats, rounded after each addition as by `sum` up to Python 3.11."""
    return reduce(operator.add, values, 0.0)


def _release_score(
    verdicts: list[float], temperature: float, penalty: float, eps: float, release: str
) -> float:
    """Return the power mean of one item's verdicts, reduced for zeros, as in eval-ai-library.

    The operations are those of the `release`, in its order: the last bit of the result decides how
    a tie is rounded. Raises ValueError where the release fails.
    """
    n, zeros = len(verdicts), verdicts.count(0.0)
    position = (min(max(temperature, 0.1), 1.0) - 0.1) / (1.0 - 0.1)
    p = -8.0 + position * (12.25 - -8.0)  # the exponent of the power mean
    try:
        if abs(p) < 1e-12:
            mean = math.exp(_sum_in_order(math.log(verdict or eps) for verdict in verdicts) / n)
        else:
            powers = [(verdict or eps if p < 0 else verdict) ** p for verdict in verdicts]
            mean = (_sum_in_order(powers) / n) ** (1.0 / p)
        if release == "0.3":
            factor = max(0.0, 1 - penalty * zeros)
        else:
            size_factor = min(1.0, (n - 1) / 4.0) if release == "0.8" else 1.0
            factor = (1.0 - zeros / n) ** ((1.5 - temperature) * size_factor)
    except ArithmeticError as error:  # for parameters that the releases do not support
        raise ValueError(
            f"Release {release} has no score for the verdicts {short(verdicts)} at temperature "
            f"{temperature} and eps_for_neg_p {eps}: it fails with {error!r}."
        ) from error
    return round(mean * factor, 4)
