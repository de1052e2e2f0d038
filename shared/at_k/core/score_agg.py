"""score_agg: the graded verdicts of an item combined into one score, by a power mean.

An item has n verdicts with weights x_i from 0 to 1. Their power mean M_p = (mean of x_i^p)^(1/p)
increases with p, from the minimum through the geometric mean (p = 0) and the arithmetic mean
(p = 1) to the maximum. The temperature, from 0.1 (strict) to 1.0 (lenient), determines p. Each
verdict of 0 lowers the score by a penalty. An item is a question, and there are M of them.

Source of both tables: "Score Aggregation" in the documentation of Eval AI Library; A. Meshkov,
arXiv:2604.08595.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .checks import check_number, check_positive, short
from .samples import Samples
from .score import ScoreId, Scores

VERDICTS = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
"""The standard labels of verdicts, and their weights."""

_TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0)
_EXPONENTS = (-8.0, -2.5, 1.0, 4.6, 12.25)


def exponent(temperature: float) -> float:
    """Return the exponent p of a temperature, by linear interpolation in the table of the source.

    Raises a ValueError unless the temperature is from 0.1 to 1.0.
    """
    wanted = "give a temperature from 0.1 (strict) to 1.0 (lenient)"
    temperature = check_number("temperature", temperature, wanted, 0.1, 1.0)
    return float(np.interp(temperature, _TEMPERATURES, _EXPONENTS))


def check_penalty(penalty) -> float:
    """Return the penalty as a float; raise a ValueError unless it is from 0 to 1."""
    wanted = "give the share of the score that each verdict of 0 costs, from 0 to 1"
    return check_number("penalty", penalty, wanted, 0.0, 1.0)


def check_eps(eps) -> float:
    """Return eps_for_neg_p as a float; raise a ValueError unless it is above 0, and at most 1."""
    wanted = "give a small number above 0, such as 1e-9, which replaces 0"
    return check_positive("eps_for_neg_p", eps, wanted, 1.0)


def check_weights(weights) -> dict[str, float]:
    """Return a dict from label to weight; raise a ValueError unless all weights are from 0 to 1."""
    if not isinstance(weights, Mapping) or not weights:
        raise ValueError(
            f"weights is {short(weights)}: give a dict from labels to numbers, such as "
            f"{{'good': 1.0, 'bad': 0.0}}."
        )
    for label, weight in weights.items():
        if not isinstance(label, str):
            raise ValueError(f"weights has the label {short(label)}: a label is a string.")
        check_number(f"weights[{label!r}]", weight, "a weight is a number from 0 to 1", 0.0, 1.0)
    return {label: float(weight) for label, weight in weights.items()}


def require_weights(outcomes: Samples) -> Samples:
    """Return the outcomes; raise a ValueError unless every scored one is from 0 to 1."""
    values = outcomes.values
    outcomes.require((values >= 0) & (values <= 1), "a verdict is a weight from 0 to 1")
    return outcomes


def power_means(x: np.ndarray, p: float, eps: float = 0.0) -> np.ndarray:
    """Return the power means of M items with n weights each, (M,), for any p, from x, (n, M).

    The weights are divided by the maximum of the item, or for p < 0 by its minimum, so that no
    power overflows. For p near 0, x^p is close to 1, and the mean is computed from the small
    differences instead: exp(log1p(mean of expm1(p log x)) / p). `eps`, at most 1, replaces smaller
    weights; it has to be above 0 if p < 0.
    """
    minimum, maximum = x.min(axis=0), x.max(axis=0)
    weight = np.maximum(x, eps)
    if p == 1:
        means = weight.mean(axis=0)
    else:
        scale = np.maximum(maximum if p >= 0 else minimum, eps)
        divisor = np.where(scale > 0, scale, 1.0)
        # ratio^|p| is (weight / divisor)^p, and at most 1.
        ratio = weight / divisor if p >= 0 else divisor / weight
        if abs(p) >= 0.5:
            means = scale * (ratio ** abs(p)).mean(axis=0) ** (1 / p)
        else:
            with np.errstate(divide="ignore"):  # log(0) is -infinity, as intended
                log = np.log(ratio)
                log = np.log1p(np.expm1(abs(p) * log).mean(axis=0)) / p if p else log.mean(axis=0)
            means = scale * np.exp(log)
    # Only rounding moves a mean out of these bounds.
    return np.clip(means, minimum, np.maximum(maximum, eps))


def agg_scores(verdicts: Samples, p: float, penalty: float = 0.1, eps: float = 1e-9) -> Scores:
    """Return `item_scores` of the same arguments as `Scores`."""
    return Scores.from_values({ScoreId("score_agg"): item_scores(verdicts, p, penalty, eps)})


def item_scores(verdicts: Samples, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the score of each item, (M,): its power mean, reduced for each verdict of 0.

    An item loses the share `penalty` for each verdict of 0. `eps` replaces smaller weights if
    p <= 0. A ValueError is raised if an item has no scored verdict.
    """
    values, sizes = verdicts.scored_values.astype(float), verdicts.n
    starts, scores = np.cumsum(sizes) - sizes, np.empty(len(sizes))
    for n in np.unique(sizes):
        items = np.flatnonzero(sizes == n)
        x = values[starts[items] + np.arange(n)[:, None]]
        scores[items] = _penalized_means(x, p, penalty, eps)
    return scores


def _penalized_means(x: np.ndarray, p: float, penalty: float, eps: float) -> np.ndarray:
    """Return the scores of M items with n verdicts each, (M,), from their weights x, (n, M).

    - p >= 1: the score is the power mean, before the penalty.
    - p <= 0: a weight of 0 would make the power mean 0. So that other verdicts still count, eps
      replaces smaller weights. The result is at most the arithmetic mean, as all power means with
      p < 1 are without eps.
    - 0 < p < 1: without eps the power mean is close to 0 for p just above 0, if a weight is 0. So
      the score is at least the result for p = 0, and never decreases as the temperature rises.
    """
    if p >= 1:
        means = power_means(x, p)
    else:
        means = np.minimum(power_means(x, min(p, 0.0), eps), power_means(x, 1.0))
        if p > 0:
            means = np.maximum(means, power_means(x, p))
    return means * np.maximum(0.0, 1 - penalty * (x == 0).sum(axis=0))
