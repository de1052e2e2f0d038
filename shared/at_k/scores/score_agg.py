"""Graded verdicts of an item folded into one score: a power mean with a temperature.

An item has n verdicts, weights x_i from 0 to 1. Their power mean

    M_p = (mean of x_i^p)^(1/p)

goes from the least of them (p to -infinity) over the geometric (p = 0) and the arithmetic
mean (p = 1) to the greatest (p to infinity). The temperature, from 0.1 for strict to 1.0
for lenient, sets p; each verdict of 0 takes a share off the score besides.

Source: "Score Aggregation" in the documentation of Eval AI Library, whose tables these
are; A. Meshkov, arXiv:2604.08595.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

import numpy as np

from ..checks import check_names, check_number, check_positive, short
from ..inputs.outcomes import Outcomes, read_outcomes

VERDICTS = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
"""The standard labels of verdicts, and the weight of each."""

_TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0)
_EXPONENTS = (-8.0, -2.5, 1.0, 4.6, 12.25)


# --- Parameters -------------------------------------------------------------------------


def exponent(temperature: float) -> float:
    """The p of a temperature: through every row of the table, and straight between rows."""
    wanted = "give a temperature from 0.1 (strict) to 1.0 (lenient)"
    temperature = check_number("temperature", temperature, wanted, 0.1, 1.0)
    return float(np.interp(temperature, _TEMPERATURES, _EXPONENTS))


def check_penalty(penalty) -> float:
    """The share of its score that an item loses for each verdict of 0."""
    wanted = "give the share that each verdict of 0 takes off, from 0 to 1"
    return check_number("penalty", penalty, wanted, 0.0, 1.0)


def check_eps(eps) -> float:
    """What stands for 0 where p is not positive."""
    wanted = "give a small number above 0, such as 1e-9, to stand for 0"
    return check_positive("eps_for_neg_p", eps, wanted, 1.0)


def check_weights(weights) -> dict[str, float]:
    """A table of verdicts: labels, and the weight of each from 0 to 1."""
    if not isinstance(weights, Mapping) or not weights:
        raise ValueError(
            f"weights is {short(weights)}: give a dict from labels to numbers, such as "
            f"{{'good': 1.0, 'bad': 0.0}}."
        )
    for label, weight in weights.items():
        if not isinstance(label, str):
            raise ValueError(f"weights has the label {short(label)}: a label is a text.")
        check_number(f"weights[{label!r}]", weight, "a weight is a number from 0 to 1", 0.0, 1.0)
    return {label: float(weight) for label, weight in weights.items()}


def require_weights(outcomes: Outcomes) -> Outcomes:
    """The outcomes; a ValueError unless every scored one is from 0 to 1."""
    values = outcomes.values
    if not (values.min() >= 0 and values.max() <= 1):
        outcomes.require((values >= 0) & (values <= 1), "a verdict is a weight from 0 to 1")
    return outcomes


# --- Power means ------------------------------------------------------------------------


def power_means(x: np.ndarray, p: float, eps: float = 0.0) -> np.ndarray:
    """(M,) power means of items with n weights each, for any p.

    Each weight is divided by the greatest of its item, or for p < 0 divides the least: no
    ratio exceeds 1, so that no power of it overflows. Near p = 0, where x^p is 1 and a little,
    it is the little that is averaged: exp(log1p(mean of expm1(p log x)) / p).

    Args:
        x: (n, M) weights of at least 0, a column for each item.
        eps: stands for what is below it. Above 0 for p < 0, and at most 1.
    """
    least, greatest = x.min(axis=0), x.max(axis=0)
    weight = np.maximum(x, eps)
    if p == 1:
        means = weight.mean(axis=0)
    else:
        scale = np.maximum(greatest if p >= 0 else least, eps)
        divisor = np.where(scale > 0, scale, 1.0)
        ratio = weight / divisor if p >= 0 else divisor / weight
        if abs(p) >= 0.5:
            means = scale * (ratio ** abs(p)).mean(axis=0) ** (1 / p)
        else:
            with np.errstate(divide="ignore"):  # the logarithm of 0 is to be -infinity
                log = np.log(ratio)
                log = np.log1p(np.expm1(abs(p) * log).mean(axis=0)) / p if p else log.mean(axis=0)
            means = scale * np.exp(log)
    # Only rounding leaves these bounds, and a list of which all is below eps.
    return np.clip(means, least, greatest)


def scores_of_equal_length(x: np.ndarray, p: float, penalty: float, eps: float) -> np.ndarray:
    """(M,) scores of items with n verdicts each: (n, M) weights, a column for each item.

    The power mean of a list with a 0 is 0 for every p <= 0. There eps stands for the 0, which
    leaves a trace of the other verdicts: at p = 0, their geometric mean with eps. Just above
    p = 0, where 0 is 0 again, the formula falls back to nothing and catches up only later.
    Until it does the score is held, so that it never falls when the temperature rises.
    """
    if p >= 1:
        means = power_means(x, p)
    else:
        means = power_means(x, min(p, 0.0), eps)
        if p > 0:
            means = np.maximum(means, power_means(x, p))
    return means * np.maximum(0.0, 1 - penalty * (x == 0).sum(axis=0))


def item_scores(verdicts: Outcomes, p: float, penalty: float, eps: float) -> np.ndarray:
    """(M,) score of each item: the power mean of its verdicts, less a share for each 0.

    Raises:
        ValueError: unless every item has a verdict that is scored.
    """
    values, sizes = verdicts.scored_values.astype(float), verdicts.n
    starts, scores = np.cumsum(sizes) - sizes, np.empty(len(sizes))
    for n in np.unique(sizes):
        items = np.flatnonzero(sizes == n)
        x = values[starts[items] + np.arange(n)[:, None]]
        scores[items] = scores_of_equal_length(x, p, penalty, eps)
    return scores


def score_agg(
    scores,
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
    compat: str | None = None,
) -> float:
    """Graded verdicts folded into one score from 0 to 1: M_p max(0, 1 - penalty x zeros).

    Args:
        scores: the verdicts of an item, numbers from 0 to 1 or labels of `VERDICTS`; or a list
            of such lists, of any lengths, for the mean of their scores. None leaves its list.
        temperature: from 0.1 (strict) to 1.0 (lenient). The exponent p goes straight from row
            to row of the table: 0.1 -> -8, 0.3 -> -2.5, 0.5 -> 1, 0.7 -> 4.6, 1.0 -> 12.25.
        penalty: share of the score that each verdict of 0 takes off.
        eps_for_neg_p: stands for 0 where p <= 0.
        compat: "0.3", "0.7" or "0.8": the score of eval-ai-library 0.3.3, 0.7.10 or 0.8.2
            instead, to the digit. It has p on one line from -8 to 12.25, where a temperature
            beyond 0.1 or 1.0 is moved to that; penalties of its own, that of "0.7" and "0.8"
            with no use for `penalty`; and 4 decimals.

    Raises:
        ValueError: that names the entry or the parameter that is wrong. An empty list is an
            error with `compat` too, though the releases score it 0.

    >>> verdicts = ["fully", "mostly", "partial", "minor"]
    >>> [round(score_agg(verdicts, temperature=t), 3) for t in (0.1, 0.3, 0.5, 0.7, 1.0)]
    [0.357, 0.48, 0.725, 0.842, 0.912]
    >>> round(score_agg([1.0, 0.9, 0.7, 0.0]), 3)  # 0.65, less a tenth of it for the 0
    0.585
    >>> score_agg([verdicts, ["mostly", "none"]], temperature=0.7, compat="0.8")
    0.7734
    """
    bank = require_weights(read_outcomes(scores, "scores", VERDICTS))
    penalty, eps = check_penalty(penalty), check_eps(eps_for_neg_p)
    if compat is None:
        return float(item_scores(bank, exponent(temperature), penalty, eps).mean())
    (release,) = check_names("compat", [compat], ("0.3", "0.7", "0.8"))
    most = sys.float_info.max
    temperature = check_number("temperature", temperature, "give a finite number", -most, most)
    items = np.split(bank.scored_values.astype(float), np.cumsum(bank.n)[:-1])
    rounded = [_published(x.tolist(), temperature, penalty, eps, release) for x in items]
    return sum(rounded) / len(rounded)


def _published(
    x: list[float], temperature: float, penalty: float, eps: float, release: str
) -> float:
    """The score of one item by a release of eval-ai-library.

    Its sums and powers are those of Python and in its order, for on a tie the last bit
    decides the last of the 4 decimals.
    """
    n, zeros = len(x), x.count(0.0)
    place = (min(max(temperature, 0.1), 1.0) - 0.1) / (1.0 - 0.1)
    p = -8.0 + place * (12.25 - -8.0)
    try:
        if abs(p) < 1e-12:
            mean = math.exp(sum([math.log(weight or eps) for weight in x]) / n)
        else:
            powers = [(weight or eps if p < 0 else weight) ** p for weight in x]
            mean = (sum(powers) / n) ** (1.0 / p)
        if release == "0.3":
            factor = max(0.0, 1 - penalty * zeros)
        else:
            full = min(1.0, (n - 1) / 4.0) if release == "0.8" else 1.0
            factor = (1.0 - zeros / n) ** ((1.5 - temperature) * full)
    except ArithmeticError as error:  # the releases' own, far outside of what they are for
        raise ValueError(
            f"The verdicts {short(x)} have no score in this release at temperature "
            f"{temperature} and eps_for_neg_p {eps}: it fails with {error!r}."
        ) from error
    return round(mean * factor, 4)
