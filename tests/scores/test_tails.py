"""TailPass@k: agreement with subsets, with scorio and with G-Pass@k, and its intervals."""

import itertools
from fractions import Fraction
from typing import Any

import at_k
import numpy as np
import pytest
from scored import gpassk, max_at_k
from scorio import eval as scorio

RUBRICS: list[Any] = [[0, 1], [0, 0.5, 1], [0, 0.3, 0.3, 1], [0.25, 0, 0.75, 0.9]]


def outcomes(w: list[float], questions: int, samples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, len(w), (questions, samples))


def share_of_subsets(scores: list[Fraction], k: int, tau: Fraction) -> Fraction:
    """Return the share of the subsets of k scores whose sum is at least tau k."""
    subsets = list(itertools.combinations(scores, k))
    return Fraction(sum(sum(subset) >= tau * k for subset in subsets), len(subsets))


# --- Unbiased estimates -------------------------------------------------------------------


@pytest.mark.parametrize("w", RUBRICS)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_the_estimate_is_the_share_of_subsets(w, k):
    R = outcomes(w, 5, 7)
    exact = [Fraction(str(score)) for score in w]
    taus = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
    expected = [
        float(sum(share_of_subsets([exact[r] for r in row], k, tau) for row in R.tolist()) / 5)
        for tau in taus
    ]
    found = at_k.tailpass_empirical(R, k, w, thresholds=[float(tau) for tau in taus])
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_a_mean_equal_to_the_threshold_reaches_it_in_spite_of_rounding():
    # The mean of 0.3, 0.3 and 0 is 0.19999999999999998 in floating point.
    assert at_k.tailpass_empirical([[1, 1, 0]], 3, [0, 0.3], thresholds=[0.2]) == [1.0]
    assert at_k.tailpass([[1, 1, 0]], 3, [0, 0.3], thresholds=[0.2]).mean < 1.0


def test_scores_may_be_the_outcomes_and_numbers_of_samples_may_differ():
    w, R = [0.0, 0.25, 1.0], [[0, 1, 2, 2], [1, 1, 2], [0, 2, 1, 1, 2]]
    graded = [[w[category] for category in row] for row in R]
    expected = at_k.tailpass_empirical(R, 3, w)
    assert at_k.tailpass_empirical(graded, 3) == pytest.approx(expected, rel=1e-14)


# --- Agreement with scorio ----------------------------------------------------------------


@pytest.mark.parametrize("w", RUBRICS)
@pytest.mark.parametrize("k", [1, 4])
def test_the_posterior_is_that_of_scorio(w, k):
    R, R0 = outcomes(w, 12, 6), outcomes(w, 12, 2, seed=1)
    prior = np.random.default_rng(2).uniform(0.5, 2, len(w))
    thresholds = (np.arange(k) + 0.99) / k  # no mean is equal to one, see below
    given: dict[str, Any] = {"eta": 0.4, "prior": prior, "thresholds": thresholds}
    ours: Any = at_k.tailpass(R, k, w, R0, **given)
    theirs: Any = scorio.tailpass(R, k, w, R0, **given)
    weights = np.full(k, 1 / k)
    assert ours.question_mean == pytest.approx(theirs.question_mean, rel=1e-11)
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-11)
    assert ours.covariance == pytest.approx(theirs.covariance, rel=1e-9, abs=1e-15)
    assert ours.linear(weights) == pytest.approx(theirs.linear(weights), rel=1e-10)
    for lam in (0.5, 1, 3):
        assert ours.moment(lam) == pytest.approx(theirs.moment(lam), rel=1e-10)
    assert ours.discovery() == pytest.approx(theirs.discovery(), rel=1e-10)
    assert ours.stability() == pytest.approx(theirs.stability(), rel=1e-10)
    for own, other in zip(ours.ci(0.9), theirs.ci(0.9, method="normal"), strict=True):
        assert own == pytest.approx(other, rel=1e-9, abs=1e-13)
    again, other = ours.at_k(2), theirs.at_k(2)
    assert again.linear_ci([0.5, 0.5]) == pytest.approx(
        other.linear_ci([0.5, 0.5], method="normal"), rel=1e-9
    )
    assert again.moment_ci(2) == pytest.approx(other.moment_ci(2, method="normal"), rel=1e-9)


# --- In the metric ------------------------------------------------------------------------


def test_intervals_are_those_of_g_pass_at_k_for_correct_and_incorrect():
    R = outcomes([0, 1], 20, 8).tolist()
    options: dict[str, Any] = {
        "k": [2, 4],
        "thresholds": [0.5, 1.0],
        "confidence": 0.95,
        "interval": "questions",
        "clusters": [*range(10)] * 2,
    }
    ours = max_at_k(R, include="TailPass@k", **options)
    theirs = gpassk(R, include="G-Pass@k", **options)
    renamed = {key.replace("G-Pass", "TailPass"): value for key, value in theirs.items()}
    assert ours == pytest.approx(renamed, rel=1e-12)


def test_auto_names_its_method_and_groups_and_bands_have_both_scores():
    R = outcomes([0, 0.5, 1], 12, 4).tolist()
    found = max_at_k(
        R,
        w=[0, 0.5, 1],
        k=[2, 4],
        include=["Max@k", "TailPass@k"],
        thresholds=0.5,
        confidence=0.95,
        band=True,
        groups=["x", "y"] * 6,
    )
    methods = {"max@2": "sampling", "TailPass@2_0.5": "questions"}
    for prefix, key in itertools.product(("", "x/", "y/"), methods):
        name = prefix + key
        assert found[f"{name}_interval"] == methods[key]
        assert found[f"{name}_band_lo"] <= found[f"{name}_lo"] <= found[name]
        assert found[name] <= found[f"{name}_hi"] <= found[f"{name}_band_hi"]


@pytest.mark.parametrize("w", [[1.0, 1.0], [0.3, 0.3], [0.0, 0.0]])
def test_a_constant_payoff_does_not_vary(w):
    profile = at_k.tailpass([[0, 1, 1], [1, 0, 1], [1, 1, 1]], k=3, w=w)
    assert profile.linear([1 / 3] * 3)[1] == 0.0
    assert profile.moment(0.7) == (pytest.approx(w[0] ** 0.7), 0.0)
    mu, sigma, lo, hi = profile.moment_ci(2.0, method="normal")
    assert mu == lo == hi
    assert sigma == 0.0


@pytest.mark.parametrize("method", ["mc", None, ["normal"]])
def test_the_only_method_of_limits_is_named_where_another_is_given(method):
    profile = at_k.tailpass([[0, 1, 1], [1, 0, 1]], k=2)
    for limits in (
        lambda: profile.ci(0.9, method=method),
        lambda: profile.linear_ci([0.5, 0.5], method=method),
        lambda: profile.moment_ci(1, method=method),
    ):
        with pytest.raises(ValueError, match=r"give .normal.*Monte Carlo"):
            limits()
    assert profile.ci(0.9, method="normal")[0].tolist() == profile.mean.tolist()


def test_the_metric_has_the_scores_of_the_functions():
    w, R = [0, 0.5, 1], outcomes([0, 0.5, 1], 10, 6)
    given: dict[str, Any] = {"w": w, "k": 4, "thresholds": [0.5, 0.75]}
    include = ["Max@k", "TailPass@k"]
    found = max_at_k(R.tolist(), include=include, **given)
    expected = at_k.tailpass_empirical(R, 4, w, thresholds=[0.5, 0.75])
    assert list(found) == ["max@4", "TailPass@4_0.5", "TailPass@4_0.75"]
    assert list(found.values()) == pytest.approx([at_k.max_at_k(R, 4, w), *expected])
