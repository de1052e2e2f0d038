"""The function score_agg: the tables of its source, published releases, limits and bounds."""

import itertools
import json
import math

import at_k
import at_k.functions.verdicts
import numpy as np
import pytest
from at_k.core.score_agg import VERDICTS, exponent, power_means
from exact import power_mean
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from releases import RELEASES
from releases import TABLE as PUBLISHED
from scored import score_agg

TABLE = [(0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25)]
EPS = 1e-9
weights = st.sampled_from(sorted(VERDICTS.values())) | st.floats(0, 1)
one_zero = st.integers(3, 30).map(lambda good: [1.0] * good + [0.0])
lists = st.lists(weights, min_size=1, max_size=12) | one_zero
positive_lists = st.lists(st.floats(1e-6, 1) | st.sampled_from([0.3, 0.7, 0.9, 1.0]), min_size=1)
# The exponent is 0 at 0.4429, where numerical errors are most likely.
temperatures = (
    st.sampled_from([row[0] for row in TABLE]) | st.floats(0.1, 1) | st.floats(0.44, 0.46)
)


def geometric(x):
    return float(power_mean(x, 0.0))


def mean_of_one(x, p):
    """Return the power mean of one list."""
    return float(power_means(np.array(x, dtype=float)[:, None], p)[0])


def penalty_factor(x, penalty=0.1):
    return max(0.0, 1 - penalty * sum(weight == 0 for weight in x))


# --- The source -------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), list(itertools.pairwise(TABLE)))
def test_the_exponent_passes_through_the_table_and_is_linear_between_its_rows(low, high):
    assert (exponent(low[0]), exponent(high[0])) == (low[1], high[1])
    for share in (0.1, 0.5, 0.8):
        temperature = low[0] + share * (high[0] - low[0])
        expected = low[1] + share * (high[1] - low[1])
        assert exponent(temperature) == pytest.approx(expected, abs=1e-13)


def test_labels_have_the_weights_of_the_source():
    for label, weight in [("fully", 1), ("mostly", 0.9), ("partial", 0.7), ("minor", 0.3)]:
        assert at_k.score_agg([label]) == weight
    assert at_k.score_agg(["fully", "none"]) == 0.5 * 0.9
    assert at_k.score_agg(np.array([["minor", "partial"]])) == 0.5
    assert at_k.score_agg([["fully", 0.5], [None, "minor"]]) == (0.75 + 0.3) / 2


@given(lists, st.floats(0, 1))
@settings(deadline=None)
def test_temperature_one_half_gives_the_penalized_arithmetic_mean(x, penalty):
    expected = math.fsum(x) / len(x) * penalty_factor(x, penalty)
    assert at_k.score_agg(x, 0.5, penalty) == pytest.approx(expected, rel=1e-14, abs=1e-300)


@given(lists, temperatures)
@settings(deadline=None)
def test_the_score_agrees_with_the_formula_where_the_formula_is_monotonic(x, temperature):
    p = exponent(temperature)
    assume(min(x) >= EPS or p >= 1)  # the next tests have the other cases
    expected = float(power_mean(x, p)) * penalty_factor(x)
    assert at_k.score_agg(x, temperature) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(lists, st.floats(0.1, 0.4428), st.floats(0, 1), st.sampled_from([EPS, 0.05, 0.5, 1.0]))
@example([0.0], 0.42, 0.3, 0.05)
@example([0.01, 0.0, 0.02], 0.3, 0.0, 0.05)
@example([1.0, 0.0], 0.1, 0.1, 1.0)
@settings(deadline=None)
def test_eps_replaces_smaller_verdicts_but_lifts_no_mean_above_the_arithmetic_one(
    x, temperature, penalty, eps
):
    mean = float(power_mean([max(weight, eps) for weight in x], exponent(temperature)))
    expected = min(mean, math.fsum(x) / len(x)) * penalty_factor(x, penalty)
    score = at_k.score_agg(x, temperature, penalty, eps)
    assert score == pytest.approx(expected, rel=1e-12, abs=1e-300)
    metric = score_agg([x], temperature=temperature, penalty=penalty, eps_for_neg_p=eps)
    assert metric == {"score_agg": score}


@given(lists, st.floats(0.001, 0.999) | st.floats(0.001, 0.15))
@settings(deadline=None)
def test_above_the_geometric_mean_the_score_is_the_running_maximum_of_the_formula(x, p):
    lifted = min(power_mean([max(weight, EPS) for weight in x], 0.0), power_mean(x, 1.0))
    expected = float(max(lifted, power_mean(x, p))) * penalty_factor(x)
    temperature = 0.3 + 0.2 * (p + 2.5) / 3.5
    assert at_k.score_agg(x, temperature) == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_few_of_the_worked_figures_in_the_source_follow_from_its_formula():
    four, five = [1.0, 0.9, 0.7, 0.0], [1.0, 0.9, 0.7, 0.3, 0.0]
    figures = [
        *((four, t, figure) for t, figure in [(0.1, 0.05), (0.5, 0.62), (1.0, 0.95)]),
        *((five, t, x) for t, x in [(0.1, 0.08), (0.3, 0.45), (0.5, 0.58), (0.7, 0.72), (1, 0.92)]),
    ]

    def reproduced(**options):
        return [fig for x, t, fig in figures if round(at_k.score_agg(x, t, **options), 2) == fig]

    assert reproduced() == [0.72]
    assert reproduced(penalty=0) == [0.58]  # the arithmetic mean
    for release in RELEASES:
        assert reproduced(compat=release) == []


# --- The published releases -------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_compat_reproduces_a_published_release_to_the_digit(release):
    for x, temperature, penalty, eps, scores in json.loads(PUBLISHED.read_text(encoding="utf-8")):
        expected = scores[release]
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=expected):
                at_k.score_agg(x, temperature, penalty, eps, compat=release)
        else:
            assert at_k.score_agg(x, temperature, penalty, eps, compat=release) == expected


def test_compat_averages_the_rounded_scores_of_several_items():
    items = [[1.0, 0.9, 0.3], [0.7, None, 0.0]]
    scores = [at_k.score_agg(item, 0.7, compat="0.8") for item in items]
    assert at_k.score_agg(items, 0.7, compat="0.8") == sum(scores) / 2


# --- Limits -----------------------------------------------------------------------------


@given(positive_lists, st.integers(1, 300), st.sampled_from([-1, 1]))
@settings(deadline=None)
def test_the_power_mean_is_smooth_at_zero_where_it_is_the_geometric_mean(x, digits, sign):
    p = sign * 10.0**-digits
    assert mean_of_one(x, 0.0) == pytest.approx(geometric(x), rel=1e-13)
    assert mean_of_one(x, p) == pytest.approx(float(power_mean(x, p)), rel=1e-12)
    if digits >= 4:  # linear in p, with the slope of the Taylor expansion
        logs = np.log(x)
        slope = geometric(x) * logs.var() / 2
        assert mean_of_one(x, p) - geometric(x) == pytest.approx(p * slope, rel=0.05, abs=1e-14)


@given(lists, st.floats(1e-13, 1e-3))
@example([0.3, 1e-9], 1e-3)
@settings(deadline=None)
def test_the_score_is_continuous_in_the_temperature(x, step):
    zero = 0.3 + 0.2 * 2.5 / 3.5  # where the exponent is 0
    for temperature in (0.3, zero, 0.5, 0.7):
        below, above = (at_k.score_agg(x, temperature + change) for change in (-step, step))
        # At p = 0 the slope of the log score is 17.5 times half the variance of the log weights.
        assert above == pytest.approx(below, rel=math.expm1(2000 * step), abs=2 * EPS)


@pytest.mark.parametrize("p", [-8.0, -2.5, -1e-3, 0.0, 1e-3, 1.0, 4.6, 12.25])
def test_the_smallest_and_the_largest_floats_do_not_overflow(p):
    tiny, huge = 5e-324, 1e308
    assert mean_of_one([tiny, tiny], p) == tiny
    assert tiny <= mean_of_one([tiny, 1.0], p) <= 1.0
    assert 1e-300 <= mean_of_one([1e-300, 1.0, huge], p) <= huge
    assert mean_of_one([0.0, 0.0], abs(p)) == 0.0


@given(weights, temperatures, st.integers(1, 9))
@settings(deadline=None)
def test_equal_verdicts_have_the_score_of_one_of_them(weight, temperature, times):
    expected = weight if weight else 0.0
    assert at_k.score_agg([weight], temperature) == expected
    assert at_k.score_agg([weight] * times, temperature) == pytest.approx(expected, rel=1e-15)


# --- Bounds and order -------------------------------------------------------------------


@given(lists, temperatures, st.floats(0, 1), st.floats(1e-12, 1))
@settings(deadline=None)
def test_the_score_is_between_the_penalized_minimum_and_maximum(x, temperature, penalty, eps):
    factor = penalty_factor(x, penalty)
    assert min(x) * factor <= at_k.score_agg(x, temperature, penalty, eps) <= max(x) * factor


@given(lists, temperatures, temperatures, st.sampled_from([EPS, 0.05, 1.0]))
@settings(deadline=None)
def test_a_higher_temperature_never_lowers_the_score(x, one, other, eps):
    low, high = (at_k.score_agg(x, t, eps_for_neg_p=eps) for t in sorted([one, other]))
    assert low <= high * (1 + 1e-13)


@given(lists, st.data(), temperatures, st.floats(0, 1))
@settings(deadline=None)
def test_a_better_verdict_never_lowers_the_score(x, data, temperature, penalty):
    place = data.draw(st.integers(0, len(x) - 1))
    better = [*x[:place], data.draw(st.floats(x[place], 1)), *x[place + 1 :]]
    before, after = (at_k.score_agg(item, temperature, penalty) for item in (x, better))
    assert before <= after * (1 + 1e-13)


@given(st.lists(lists, min_size=1, max_size=9), temperatures)
@settings(deadline=None)
def test_several_lists_give_the_mean_of_their_scores(items, temperature):
    scores = [at_k.score_agg(item, temperature) for item in items]
    assert at_k.score_agg(items, temperature) == pytest.approx(np.mean(scores), rel=1e-14)


# --- Inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        [1, 0.5, 0],
        (1.0, 0.5, 0.0),
        np.array([1.0, 0.5, 0.0]),
        np.array([[1, 0.5, 0]], dtype=np.float32),
        [[1, None, 0.5, 0]],
        np.ma.masked_array([1, 0.2, 0.5, 0], mask=[False, True, False, False]),
        ["fully", 0.5, "none"],
        [True, 0.5, False],
        iter([1, 0.5, 0]),
    ],
    ids=lambda form: type(form).__name__,
)
def test_every_form_of_verdicts_has_the_same_score(form):
    assert at_k.score_agg(form, 0.7) == at_k.score_agg([1.0, 0.5, 0.0], 0.7)


@pytest.mark.parametrize("compat", [None, *RELEASES])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"scores": []}, "scores holds no question"),
        ({"scores": [[1], []]}, r"scores\[1\] is empty"),
        ({r"scores": [[1], [None]]}, r"scores\[1\] has no scored sample"),
        ({"scores": [[1], [0.5, 1.5]]}, r"scores\[1\]\[1\] is 1.5: a verdict is a weight from 0"),
        ({"scores": [1, -0.1]}, r"scores\[0\]\[1\] is -0.1"),
        ({"scores": [1, 2]}, r"scores\[0\]\[1\] is 2"),
        ({"scores": [1, math.nan]}, r"scores\[0\]\[1\] is nan"),
        ({"scores": [1, math.inf]}, r"scores\[0\]\[1\] is inf"),
        (
            {"scores": [[1], ["good"]]},
            r"\[1\]\[0\] is 'good', which is none of fully, mostly",
        ),
        ({"scores": "fully"}, "scores is 'fully'"),
        ({"scores": 0.5}, "scores is 0.5"),
        ({"scores": np.zeros((2, 2, 2))}, "scores has 3 dimensions"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"temperature": "0.5"}, "temperature is '0.5'"),
        ({"temperature": True}, "temperature is True"),
        ({"penalty": -0.1}, "penalty is -0.1: give the share"),
        ({"penalty": 1.1}, "penalty is 1.1"),
        ({"penalty": math.nan}, "penalty is nan"),
        ({"eps_for_neg_p": 0}, "eps_for_neg_p is 0: give a small number above 0"),
        ({"eps_for_neg_p": 2}, "eps_for_neg_p is 2"),
        ({"eps_for_neg_p": None}, "eps_for_neg_p is None"),
    ],
)
def test_invalid_inputs_raise_an_error_that_names_them(call, message, compat):
    with pytest.raises(ValueError, match=message):
        at_k.score_agg(**({"scores": [1.0, 0.5]} | call), compat=compat)


@pytest.mark.parametrize("temperature", [0.0999, 0, -1, 1.001, 2])
def test_a_temperature_outside_of_the_table_raises_an_error_and_is_clipped_with_compat(
    temperature,
):
    with pytest.raises(ValueError, match=r"give a temperature from 0.1 \(strict\) to 1.0"):
        at_k.score_agg([1.0, 0.5], temperature)
    clipped = 0.1 if temperature < 0.1 else 1.0
    assert at_k.score_agg([1, 0.5], temperature, compat="0.3") == at_k.score_agg(
        [1, 0.5], clipped, compat="0.3"
    )


@pytest.mark.parametrize("compat", ["0.3.3", "0.9", 0.3, True])
def test_an_unknown_release_raises_an_error_that_lists_the_known_ones(compat):
    with pytest.raises(ValueError, match=r"none of 0.3, 0.7, 0.8"):
        at_k.score_agg([1.0], compat=compat)
