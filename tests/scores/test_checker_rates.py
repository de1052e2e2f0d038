"""Corrections for a checker that errs are unbiased: against enumeration in exact fractions."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from at_k.core.credits import (
    all_correct,
    any_correct,
    area_under_pass,
    majority,
    spectrum,
    threshold,
)
from at_k.core.score import Score
from at_k.scores.checker_rates import CheckerRates, corrected_credits, require_correction
from exact import corrected_values

SCORES = [
    any_correct,
    all_correct,
    majority,
    area_under_pass,
    spectrum,
    lambda k: threshold(k, 0.4),
]
RATES = [(Fraction(7, 8), Fraction(1, 16)), (Fraction(1), Fraction(1, 4)), (Fraction(3, 4), 0)]


def control_values(credit, rates: CheckerRates) -> list[float]:
    first, steps = corrected_credits(credit, rates)
    return list(itertools.accumulate(steps, initial=first))


def exact_values(credit, t: Fraction, f: Fraction) -> Sequence[Fraction]:
    """Return the values of j samples called correct, in fractions."""
    return corrected_values(
        [sum(map(Fraction, credit[:j]), Fraction(0)) for j in range(len(credit) + 1)], t, f
    )


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("t", "f"), RATES)
@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_values_are_signed_means_over_the_truth(score, t, f, k):
    expected = exact_values(score(k), Fraction(t), Fraction(f))
    values = control_values(score(k), CheckerRates(float(t), float(f)))
    assert values == pytest.approx([float(x) for x in expected], rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("t", "f"), RATES)
def test_the_mean_over_all_verdicts_is_the_score_of_the_truth(score, t, f):
    k, q = 6, Fraction(3, 10)
    p = f + (t - f) * q
    values = [sum(map(Fraction, score(k)[:j])) for j in range(k + 1)]
    truth = sum(math.comb(k, j) * q**j * (1 - q) ** (k - j) * x for j, x in enumerate(values))
    called = exact_values(score(k), Fraction(t), Fraction(f))
    assert truth == sum(
        math.comb(k, j) * p**j * (1 - p) ** (k - j) * x for j, x in enumerate(called)
    )


@pytest.mark.parametrize("k", [1, 3, 64, 300])
def test_pass_at_k_and_pass_hat_k_have_closed_forms(k):
    t, f = Fraction(0.9), Fraction(0.02)
    rates = CheckerRates(0.9, 0.02)
    for credit, form in [
        (any_correct(k), lambda j: 1 - ((t - 1) / (t - f)) ** j * (t / (t - f)) ** (k - j)),
        (all_correct(k), lambda j: ((1 - f) / (t - f)) ** j * (-f / (t - f)) ** (k - j)),
    ]:
        expected = [float(form(j)) for j in range(k + 1)]
        scale = max(map(abs, expected))
        assert control_values(credit, rates) == pytest.approx(
            expected, rel=1e-12, abs=1e-13 * scale
        )


def test_a_checker_that_never_errs_changes_nothing():
    for score in SCORES:
        assert corrected_credits(score(7), CheckerRates()) == (0.0, pytest.approx(score(7)))


def test_a_correction_that_leaves_nothing_is_refused():
    require_correction({"": Score((any_correct(8),))}, CheckerRates(0.6, 0.5))
    with pytest.raises(ValueError, match="Give a smaller k"):
        require_correction({"": Score((any_correct(32),))}, CheckerRates(0.6, 0.5))
    with pytest.raises(ValueError, match="up to k = 1000"):
        corrected_credits(any_correct(1001), CheckerRates(0.9, 0.1))
