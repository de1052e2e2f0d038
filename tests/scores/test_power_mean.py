"""score_agg as a function: the tables of its text, published releases, limits, and bounds."""

import doctest
import itertools
import math

import at_k
import at_k.scores.score_agg
import numpy as np
import pytest
from at_k.scores.score_agg import VERDICTS, exponent, power_means
from exact import power_mean
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from releases import RELEASES, published_score_agg

TABLE = [(0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25)]
EPS = 1e-9

weights = st.sampled_from(sorted(VERDICTS.values())) | st.floats(0, 1)
one_zero = st.integers(3, 30).map(lambda good: [1.0] * good + [0.0])
lists = st.lists(weights, min_size=1, max_size=12) | one_zero
positive_lists = st.lists(st.floats(1e-6, 1) | st.sampled_from([0.3, 0.7, 0.9, 1.0]), min_size=1)
# Where the exponent goes through 0, at 0.4429, most can go wrong.
temperatures = (
    st.sampled_from([row[0] for row in TABLE]) | st.floats(0.1, 1) | st.floats(0.44, 0.46)
)


def geometric(x):
    return float(power_mean(x, 0.0))


def alone(x, p):
    """The power mean of one list."""
    return float(power_means(np.array(x, dtype=float)[:, None], p)[0])


def penalty_factor(x, penalty=0.1):
    return max(0.0, 1 - penalty * sum(each == 0 for each in x))


# --- The text ---------------------------------------------------------------------------


def test_the_examples_in_the_docstrings_print_what_they_say():
    results = doctest.testmod(at_k.scores.score_agg)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize(("temperature", "p"), TABLE)
def test_the_exponent_passes_through_every_row_of_the_table(temperature, p):
    assert exponent(temperature) == p


@pytest.mark.parametrize(("low", "high"), list(itertools.pairwise(TABLE)))
def test_the_exponent_is_straight_between_the_rows(low, high):
    for share in (0.1, 0.5, 0.8):
        temperature = low[0] + share * (high[0] - low[0])
        wanted = low[1] + share * (high[1] - low[1])
        assert exponent(temperature) == pytest.approx(wanted, abs=1e-13)


def test_labels_stand_for_the_weights_of_the_text():
    for label, weight in [("fully", 1), ("mostly", 0.9), ("partial", 0.7), ("minor", 0.3)]:
        assert at_k.score_agg([label]) == weight
    assert at_k.score_agg(["fully", "none"]) == 0.5 * 0.9
    assert at_k.score_agg(np.array([["minor", "partial"]])) == 0.5
    assert at_k.score_agg([["fully", 0.5], [None, "minor"]]) == (0.75 + 0.3) / 2


@given(lists, st.floats(0, 1))
@settings(deadline=None)
def test_in_the_middle_it_is_the_arithmetic_mean_less_a_share_for_each_zero(x, penalty):
    wanted = math.fsum(x) / len(x) * penalty_factor(x, penalty)
    assert at_k.score_agg(x, 0.5, penalty) == pytest.approx(wanted, rel=1e-14, abs=1e-300)


@given(lists, temperatures)
@settings(deadline=None)
def test_it_is_the_formula_to_the_last_digits_where_the_formula_never_falls(x, temperature):
    p = exponent(temperature)
    seen = [max(each, EPS) for each in x] if p <= 0 else x
    assume(max(x) >= EPS and (min(x) >= EPS or not 0 < p < 1))  # which are told of below
    wanted = float(power_mean(seen, p)) * penalty_factor(x)
    assert at_k.score_agg(x, temperature) == pytest.approx(wanted, rel=1e-12, abs=1e-300)


@given(lists, st.floats(0.001, 0.999) | st.floats(0.001, 0.15))
@settings(deadline=None)
def test_just_above_the_geometric_mean_it_is_the_most_that_the_formula_has_reached(x, p):
    reached = [power_mean([max(each, EPS) for each in x], 0.0), power_mean(x, p)]
    wanted = min(float(max(reached)), max(x)) * penalty_factor(x)
    temperature = 0.3 + 0.2 * (p + 2.5) / 3.5
    assert at_k.score_agg(x, temperature) == pytest.approx(wanted, rel=1e-10, abs=1e-300)


def test_what_of_the_figures_of_the_text_follows_from_its_formula():
    four, five = [1.0, 0.9, 0.7, 0.0], [1.0, 0.9, 0.7, 0.3, 0.0]
    figures = [
        *((four, t, figure) for t, figure in [(0.1, 0.05), (0.5, 0.62), (1.0, 0.95)]),
        *((five, t, x) for t, x in [(0.1, 0.08), (0.3, 0.45), (0.5, 0.58), (0.7, 0.72), (1, 0.92)]),
    ]

    def had(**options):
        return [fig for x, t, fig in figures if round(at_k.score_agg(x, t, **options), 2) == fig]

    assert had() == [0.72]
    assert had(penalty=0) == [0.58]  # the plain mean
    for release in RELEASES:
        assert had(compat=release) == []


# --- The published releases -------------------------------------------------------------


@pytest.fixture(scope="session")
def published(request):
    folder = request.config.cache.mkdir("eval-ai-library")
    return {name: published_score_agg(release, folder) for name, release in RELEASES.items()}


@pytest.mark.parametrize("release", RELEASES)
@given(data=st.data())
@settings(max_examples=500, deadline=None)
def test_a_published_release_gives_the_same_to_the_digit(release, published, data):
    # Means of verdicts of the table are often half way between two of 4 decimals.
    x = data.draw(st.lists(st.sampled_from([1.0, 0.9, 0.7, 0.3, 0.0]), min_size=1) | lists)
    temperature = data.draw(temperatures | st.floats(-1, 1.5))
    penalty, eps = data.draw(st.sampled_from([(0.1, 1e-9), (0.25, 1e-6), (0.0, 1e-3), (1.0, 0.1)]))
    try:
        wanted = published[release](x, temperature, penalty, eps)
    except ArithmeticError as error:
        with pytest.raises(ValueError, match=type(error).__name__):
            at_k.score_agg(x, temperature, penalty, eps, compat=release)
    else:
        assert at_k.score_agg(x, temperature, penalty, eps, compat=release) == wanted


@pytest.mark.parametrize("release", RELEASES)
def test_a_published_release_gives_the_same_where_its_exponent_is_zero(release, published):
    zero = 0.1 + 0.9 * 8 / 20.25
    near = [zero + step * math.ulp(zero) for step in range(-30, 31)]
    for x, temperature in itertools.product([[1.0, 0.9, 0.3], [0.7, 0.0], [0.0]], near):
        wanted = published[release](x, temperature)
        assert at_k.score_agg(x, temperature, compat=release) == wanted


def test_several_items_of_a_release_give_the_mean_of_their_rounded_scores():
    items = [[1.0, 0.9, 0.3], [0.7, None, 0.0]]
    each = [at_k.score_agg(item, 0.7, compat="0.8") for item in items]
    assert at_k.score_agg(items, 0.7, compat="0.8") == sum(each) / 2


# --- Limits -----------------------------------------------------------------------------


@given(positive_lists, st.integers(1, 300), st.sampled_from([-1, 1]))
@settings(deadline=None)
def test_through_zero_it_is_the_geometric_mean_and_smooth(x, digits, sign):
    p = sign * 10.0**-digits
    assert alone(x, 0.0) == pytest.approx(geometric(x), rel=1e-13)
    assert alone(x, p) == pytest.approx(float(power_mean(x, p)), rel=1e-12)
    if digits >= 4:  # a straight line, whose slope is that of the expansion in p
        logs = np.log(x)
        slope = geometric(x) * logs.var() / 2
        assert alone(x, p) - geometric(x) == pytest.approx(p * slope, rel=0.05, abs=1e-14)


@given(lists, st.floats(1e-13, 1e-3))
@example([0.3, 1e-9], 1e-3)
@settings(deadline=None)
def test_no_temperature_makes_the_score_jump(x, step):
    zero = 0.3 + 0.2 * 2.5 / 3.5  # where the exponent is 0
    for temperature in (0.3, zero, 0.5, 0.7):
        below, above = (at_k.score_agg(x, temperature + each) for each in (-step, step))
        # The logarithm rises by 17.5 times half the variance of those of the verdicts, at most.
        assert above == pytest.approx(below, rel=math.expm1(2000 * step), abs=2 * EPS)


@given(positive_lists)
@settings(deadline=None)
def test_a_large_exponent_is_the_greatest_or_the_least_and_overflows_nowhere(x):
    for p in (1e3, 1e6, 1e300):
        near = math.expm1(math.log(len(x)) / p) + 1e-15
        assert alone(x, p) == pytest.approx(max(x), rel=near)
        assert alone(x, -p) == pytest.approx(min(x), rel=near)


@pytest.mark.parametrize("p", [-1e300, -8.0, -2.5, -1e-3, 0.0, 1e-3, 1.0, 4.6, 12.25, 1e300])
def test_the_least_and_the_greatest_of_floats_overflow_nowhere(p):
    tiny, huge = 5e-324, 1e308
    assert alone([tiny, tiny], p) == tiny
    assert tiny <= alone([tiny, 1.0], p) <= 1.0
    assert 1e-300 <= alone([1e-300, 1.0, huge], p) <= huge
    assert alone([0.0, 0.0], abs(p)) == 0.0


@given(st.integers(1, 30), temperatures)
@settings(deadline=None)
def test_a_list_of_zeros_scores_0(zeros, temperature):
    assert at_k.score_agg([0.0] * zeros, temperature) == 0.0


@given(weights, temperatures, st.integers(1, 9))
@settings(deadline=None)
def test_verdicts_that_are_all_the_same_score_as_one_of_them(weight, temperature, times):
    wanted = weight if weight else 0.0
    assert at_k.score_agg([weight], temperature) == wanted
    assert at_k.score_agg([weight] * times, temperature) == pytest.approx(wanted, rel=1e-15)


# --- Bounds and order -------------------------------------------------------------------


@given(lists, temperatures, st.floats(0, 1), st.floats(1e-12, 1))
@settings(deadline=None)
def test_the_score_never_leaves_its_verdicts_times_the_penalty_factor(x, temperature, penalty, eps):
    factor = penalty_factor(x, penalty)
    assert min(x) * factor <= at_k.score_agg(x, temperature, penalty, eps) <= max(x) * factor


@given(lists, temperatures, temperatures)
@settings(deadline=None)
def test_a_higher_temperature_never_lowers_the_score(x, one, other):
    low, high = (at_k.score_agg(x, t) for t in sorted([one, other]))
    # Only where all is of the size of eps can the formula itself fall, at p = 1, and by eps.
    slack = EPS if max(x) < 1e-6 else 0
    assert low <= high * (1 + 1e-13) + slack


@given(lists, st.data(), temperatures, st.floats(0, 1))
@settings(deadline=None)
def test_a_better_verdict_never_lowers_the_score(x, data, temperature, penalty):
    place = data.draw(st.integers(0, len(x) - 1))
    better = [*x[:place], data.draw(st.floats(x[place], 1)), *x[place + 1 :]]
    before, after = (at_k.score_agg(each, temperature, penalty) for each in (x, better))
    assert before <= after * (1 + 1e-13)


@given(lists, st.randoms(), temperatures)
@settings(deadline=None)
def test_the_order_of_verdicts_does_not_matter(x, random, temperature):
    shuffled = random.sample(x, len(x))
    assert at_k.score_agg(shuffled, temperature) == pytest.approx(
        at_k.score_agg(x, temperature), rel=1e-12, abs=1e-300
    )


@given(st.lists(lists, min_size=1, max_size=9), temperatures)
@settings(deadline=None)
def test_several_lists_give_the_mean_of_the_scores_that_each_has_alone(items, temperature):
    each = [at_k.score_agg(item, temperature) for item in items]
    assert at_k.score_agg(items, temperature) == pytest.approx(np.mean(each), rel=1e-14)


# --- What goes in -----------------------------------------------------------------------


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
def test_every_form_of_verdicts_scores_alike(form):
    assert at_k.score_agg(form, 0.7) == at_k.score_agg([1.0, 0.5, 0.0], 0.7)


@pytest.mark.parametrize("compat", [None, *RELEASES])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"scores": []}, "scores holds no question"),
        ({"scores": [[1], []]}, r"scores\[1\] is empty"),
        ({"scores": [[1], [None]]}, "Question 1 has no scored sample"),
        ({"scores": [[1], [0.5, 1.5]]}, r"scores\[1\]\[1\] is 1.5: a verdict is a weight from 0"),
        ({"scores": [1, -0.1]}, r"scores\[0\]\[1\] is -0.1"),
        ({"scores": [1, 2]}, r"scores\[0\]\[1\] is 2"),
        ({"scores": [1, math.nan]}, r"scores\[0\]\[1\] is nan"),
        ({"scores": [1, math.inf]}, r"scores\[0\]\[1\] is inf"),
        ({"scores": [[1], ["good"]]}, r"scores\[1\]\[0\] is 'good': .* fully, mostly, partial"),
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
def test_what_is_wrong_is_refused_with_its_name(call, message, compat):
    with pytest.raises(ValueError, match=message):
        at_k.score_agg(**({"scores": [1.0, 0.5]} | call), compat=compat)


@pytest.mark.parametrize("temperature", [0.0999, 0, -1, 1.001, 2])
def test_a_temperature_beyond_the_table_is_refused_and_moved_to_it_by_the_releases(
    temperature,
):
    with pytest.raises(ValueError, match=r"give a temperature from 0.1 \(strict\) to 1.0"):
        at_k.score_agg([1.0, 0.5], temperature)
    end = 0.1 if temperature < 0.1 else 1.0
    assert at_k.score_agg([1, 0.5], temperature, compat="0.3") == at_k.score_agg(
        [1, 0.5], end, compat="0.3"
    )


@pytest.mark.parametrize("compat", ["0.3.3", "0.9", 0.3, True])
def test_a_release_that_is_not_known_is_refused_with_those_that_are(compat):
    with pytest.raises(ValueError, match=r"none of 0.3, 0.7, 0.8"):
        at_k.score_agg([1.0], compat=compat)
