"""Scores under a checker that errs at known rates.

A sample is correct with the success rate q. The checker calls a correct one correct with the
true-positive rate t, an incorrect one with the false-positive rate f, and so any sample with the
rate p = f + (t - f) q. If g(j) is the score of k samples, j of which are correct, a score of the
pass@k family is

    S(q) = sum over j of  g(j) C(k, j) q^j (1 - q)^(k - j),

a Bezier curve with the control values g(j) on the interval from q = 0 to 1. As a function of p it
is the same curve on the interval from q0 = -f / (t - f), where p = 0, to q1 = (1 - f) / (t - f),
where p = 1. Its control values h(j) there are unbiased estimates of S(q) if j of k samples are
called correct. De Casteljau's algorithm moves one end of the interval, then the other. For pass@k,

    h(j) = 1 - ((t - 1) / (t - f))^j (t / (t - f))^(k - j).

The h(j), and with them the variance of the estimate, grow like (t / (t - f))^k and
((1 - f) / (t - f))^k. A question has n samples, c of which are called correct. There are U distinct
pairs (n, c) and m scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..core.checks import as_list, check_number, short
from ..core.counts import BinaryCounts
from ..core.credits import Credits
from ..core.expected import expected_credits
from ..core.score import Score, ScoreKey, Scores, number_terms, with_product_columns

_LARGEST_CORRECTED_K = 1000  # The time grows with the square of k.
_LARGEST_VALUE = 1e12  # With larger control values, fewer than four digits would be left.


class CheckerRates(NamedTuple):
    """The rates t and f at which a checker calls correct and incorrect samples correct, f < t."""

    true_positive: float = 1.0
    false_positive: float = 0.0

    @property
    def are_exact(self) -> bool:
        """Return whether the checker never errs."""
        return self == (1.0, 0.0)

    def corrected(self, rate):
        """Return the success rate q for the rate p of samples that are called correct."""
        t, f = self
        return (rate - f) / (t - f)


NO_ERRORS = CheckerRates()


def check_rates(checker_rates) -> CheckerRates:
    """Return the rates (t, f) of a checker, or those without errors if `checker_rates` is None.

    Raises ValueError unless both are numbers from 0 to 1, and the first is larger.
    """
    if checker_rates is None:
        return NO_ERRORS
    rates = as_list("checker_rates", checker_rates)
    if len(rates) != 2:
        raise ValueError(
            f"checker_rates is {short(checker_rates)}: give the true-positive and the "
            f"false-positive rate, such as (0.95, 0.02)."
        )
    wanted = "a rate of a checker is a number from 0 to 1"
    t, f = (check_number(f"checker_rates[{i}]", rate, wanted, 0, 1) for i, rate in enumerate(rates))
    if t <= f:
        raise ValueError(
            f"checker_rates is ({t}, {f}): a checker whose true-positive rate is not above its "
            f"false-positive rate says nothing about the samples."
        )
    return CheckerRates(t, f)


@lru_cache(maxsize=1 << 10)
def corrected_credits(credit: Credits, rates: CheckerRates) -> tuple[float, Credits]:
    """Return h(0) and the k differences h(j) - h(j - 1), corrected credits, which may be negative.

    A ValueError is raised if k is too large.
    """
    k = len(credit)
    if k > _LARGEST_CORRECTED_K:
        raise ValueError(
            f"k is {k}: the errors of a checker can be corrected up to k = {_LARGEST_CORRECTED_K}."
        )
    t, f = rates
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.cumsum((0.0, *credit))
        values = _left_part(values, (1 - f) / (t - f), (t - 1) / (t - f))  # to [0, q1]
        values = _left_part(values[::-1], 1 / (1 - f), -f / (1 - f))[::-1]  # and to [q0, q1]
        return float(values[0]), tuple(np.diff(values).tolist())


def _left_part(values: np.ndarray, end: float, rest: float) -> np.ndarray:
    """Return the control values on [0, end] of the Bezier curve that has `values` on [0, 1].

    `rest` is 1 - end, and may be negative, which extends the curve.
    """
    first_values = [values[0]]
    while len(values) > 1:
        values = values[:-1] * rest + values[1:] * end
        first_values.append(values[0])
    return np.array(first_values)


def require_correction(scores: Mapping[ScoreKey, Score], rates: CheckerRates) -> None:
    """Raise a ValueError if a score cannot be corrected for the errors of a checker."""
    if rates.are_exact:
        return
    for key, score in scores.items():
        if not score.pooled:
            raise ValueError(
                f"{key} is a product of two scores of each question, which cannot be corrected "
                f"for the errors of a checker without bias: leave it out."
            )
        for credit in score.terms:
            first, steps = corrected_credits(credit, rates)
            if not max(map(abs, (first, *steps))) <= _LARGEST_VALUE:  # also if one is NaN
                raise ValueError(
                    f"k = {len(credit)} samples do not allow a correction for a checker with the "
                    f"true-positive rate {rates.true_positive:.3g} and the false-positive rate "
                    f"{rates.false_positive:.3g}: its errors grow exponentially with k. Give a "
                    f"smaller k."
                )


# --- Corrected scores ---------------------------------------------------------------------

Estimator = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""A function of n and c, both (U,), that returns a row of estimates for each pair.

No estimate decreases with c, unless it is corrected for the errors of a checker.
"""


def corrected_scores(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], rates: CheckerRates = NO_ERRORS
) -> Scores:
    """Return unbiased estimates of scores, whose terms are credits of k <= n samples.

    The c of `counts` are samples that a checker with these rates calls correct.
    """
    keys, estimate = estimator(scores, rates)
    return Scores(keys, counts.inverse, estimate(*counts.unique))


def estimator(
    scores: Mapping[ScoreKey, Score], rates: CheckerRates = NO_ERRORS
) -> tuple[dict[ScoreKey, Score], Estimator]:
    """Return the scores with columns as terms, and the function that estimates the columns.

    Each vector of credits has a column, and so has a product that is averaged over questions.
    """
    credits, numbered = number_terms(scores)
    first, steps = np.zeros(len(credits)), credits
    if not rates.are_exact:
        corrected = [corrected_credits(credit, rates) for credit in credits]
        first, steps = np.array([h for h, _ in corrected]), [x for _, x in corrected]

    def estimate(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return unbiased estimates of all columns, (U, columns), for n and c, both (U,)."""
        return with_product_columns(numbered, first + expected_credits(n, c, steps))[1]

    keys, _ = with_product_columns(numbered, np.empty((0, len(credits))))
    return keys, estimate
