"""The intervals of the functions that end in _ci: those of the metric gpassk, by name."""

import at_k
import numpy as np
import pytest
from scored import gpassk

pytestmark = pytest.mark.filterwarnings("ignore:The limits of the posterior")

RNG = np.random.default_rng(7)
OUTCOMES = (RNG.uniform(size=(24, 9)) < RNG.uniform(size=(24, 1))).astype(int).tolist()
# The function, its other arguments, and the name and the key of the same score of the metric.
SCORES = [
    ("pass_at_k_ci", (), "pass@k", "pass@4"),
    ("pass_hat_k_ci", (), "pass^k", "pass^4"),
    ("auc_at_k_ci", (), "AUC@k", "AUC@4"),
    ("maj_at_k_ci", (), "maj@k", "maj@4"),
    ("g_pass_at_k_tau_ci", (0.6,), "G-Pass@k", "G-Pass@4_0.6"),
    ("mg_pass_at_k_ci", (), "mG-Pass@k", "mG-Pass@4"),
    ("geom_at_k_ci", (), "Geom@k", "Geom@4"),
    ("geom_ds_at_k_ci", (), "Geom_ds@k", "Geom_ds@4"),
]


@pytest.mark.parametrize("interval", ["posterior", "sampling", "questions", "hierarchical", "auto"])
@pytest.mark.parametrize("score", SCORES, ids=lambda score: score[0])
def test_the_limits_are_those_of_the_metric(score, interval):
    function, arguments, include, key = score
    if interval == "hierarchical" and function.startswith("geom"):
        with pytest.raises(ValueError, match="is a product of two scores"):
            getattr(at_k, function)(OUTCOMES, 4, interval=interval)
        return
    options = {"k": 4, "confidence": 0.9, "interval": interval, "include": include}
    scores = gpassk(OUTCOMES, thresholds=0.6, **options)
    summary = getattr(at_k, function)(OUTCOMES, 4, *arguments, confidence=0.9, interval=interval)
    expected = [scores[f"{key}_{name}"] for name in ("mu", "sigma", "lo", "hi")]
    assert summary == pytest.approx(expected, rel=1e-12)
    assert all(isinstance(value, float) for value in summary)


def test_the_limits_are_clipped_to_the_bounds():
    mu, sigma, lo, hi = at_k.pass_at_k_ci(OUTCOMES, 2, interval="sampling")
    middle = (lo + hi) / 2
    clipped = at_k.pass_at_k_ci(OUTCOMES, 2, bounds=(0.0, middle), interval="sampling")
    assert clipped == (mu, sigma, lo, middle)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score[0])
def test_auto_extrapolates_nothing_from_one_sample_of_each_question(score):
    function, arguments, *_ = score
    problem = "k is 3, but each question has one sample, which does not identify"
    if function.startswith("geom"):
        problem = "^The score is a product of two scores, for which neither k > n"
    for outcomes in ([[1], [0], [1]], [[1]]):
        with pytest.raises(ValueError, match=problem):
            getattr(at_k, function)(outcomes, 3, *arguments, interval="auto")
    _, _, lo, hi = getattr(at_k, function)([[1], [0]], 1, *arguments, interval="auto")
    assert 0 <= lo <= hi <= 1


def test_auto_extrapolates_for_a_k_above_n():
    mu, _, lo, hi = at_k.pass_at_k_ci(OUTCOMES, 20, interval="auto")
    assert at_k.pass_at_k(OUTCOMES, 9) < mu < 1
    assert lo < mu < hi


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("function", "arguments", "estimate"),
    [
        (at_k.pass_at_k_ci, (np.zeros((100, 32)), 8), 0),
        (at_k.pass_hat_k_ci, (np.ones((60, 5)), 4), 1),
        (at_k.g_pass_at_k_tau_ci, (np.zeros((90, 12)), 8, 0.5, 0.8), 0),
        (at_k.geo_spectrum_star_at_k_ci, (np.ones((80, 6)), 4), 1),
        (at_k.maj_at_k_ci, (at_k.Counts([4] * 200, [1] * 200), 3), 0),
    ],
)
def test_limits_of_a_posterior_that_exclude_the_estimate_warn_and_name_others(
    function, arguments, estimate
):
    with pytest.warns(UserWarning, match=rf"the samples, {estimate}: .* pass interval='sampling'"):
        _, _, lo, hi = function(*arguments)
    assert not lo <= estimate <= hi
    R, *rest = arguments
    _, _, lo, hi = function(R, *rest[:2], interval="sampling")
    assert lo <= estimate <= hi


@pytest.mark.filterwarnings("error")
def test_limits_that_contain_the_estimate_or_have_none_do_not_warn():
    rows = np.random.default_rng(0).integers(0, 2, (20, 8))
    at_k.pass_at_k_ci(rows, 2)
    at_k.geom_ds_at_k_ci(np.zeros((100, 4)), 8)  # no estimate: k is above n
    at_k.max_at_k_ci(rows, 1)
    with pytest.warns(UserWarning, match="use the metric max_at_k with interval='sampling'"):
        at_k.max_at_k_ci(np.zeros((100, 32), dtype=int), 8)
