"""Scores of k > n: a prior with mass at 0 and 1, groups by themselves, and the order in k."""

import itertools
from typing import Any

import numpy as np
import pytest
from at_k.intervals.binary_family import RATES
from at_k.intervals.prior import _Model
from scipy import stats
from scipy.optimize import minimize
from scored import gpassk

LOG_ODDS = np.log(RATES / (1 - RATES))


def likelihood(n: int) -> np.ndarray:
    rates = np.concatenate([[0.0], RATES, [1.0]])
    return stats.binom.pmf(np.arange(n + 1)[:, None], n, rates)


def counts_of(rates: np.ndarray, n: int, rng: np.random.Generator) -> dict[str, list[int]]:
    return {"n": [n] * rates.size, "correct": rng.binomial(n, rates.ravel()).tolist()}


def pass_at(k: int, predictions: Any, **options: Any) -> dict[str, Any]:
    return gpassk(predictions, k=k, include="pass@k", confidence=0.95, **options)


def test_unsolved_questions_are_mostly_unsolvable_where_the_others_are_not_hard():
    rows = [[1] * c + [0] * (8 - c) for c in (2, 5, 5)] + [[0] * 8] * 57
    scores = pass_at(256, rows)
    assert 0.05 <= scores["pass@256"] < 0.1  # 3 of 60, and few more
    assert scores["pass@256_hi"] > 0.5  # which 8 samples do not exclude


@pytest.mark.parametrize(
    ("unsolvable", "a", "b"), [(0.6, 2, 8), (0.35, 2, 2), (0.9, 40, 40), (0.5, 3, 1)]
)
def test_bias_is_small_where_questions_are_unsolvable(unsolvable, a, b):
    rng, n, k, errors = np.random.default_rng(5), 16, 64, []
    for _ in range(30):
        rates = np.where(rng.random(80) < unsolvable, 0.0, rng.beta(a, b, 80))
        score = pass_at(k, counts_of(rates, n, rng))[f"pass@{k}"]
        errors.append(score - np.mean(1 - (1 - rates) ** k))
    assert abs(np.mean(errors)) < 0.05


def beta_binomial_score(counts: dict[str, list[int]], k: int) -> float:
    """Pass@k under the Beta distribution of maximum likelihood, as practice fits it."""
    n, c = counts["n"][0], np.array(counts["correct"])

    def loss(logs: np.ndarray) -> float:
        return -stats.betabinom.logpmf(c, n, *np.exp(logs)).sum()

    a, b = np.exp(minimize(loss, [0.0, 0.0], bounds=[(-5, 6)] * 2).x)
    return float(1 - stats.betabinom.pmf(0, k, a, b))


@pytest.mark.parametrize(("a", "b"), [(0.3, 6), (0.5, 2), (1, 1), (5, 5), (0.05, 0.05)])
def test_errors_are_about_those_of_a_beta_binomial_model_where_it_is_true(a, b):
    rng, n, k, errors = np.random.default_rng(6), 16, 64, []
    for _ in range(30):
        rates = rng.beta(a, b, 80)
        counts, score = counts_of(rates, n, rng), np.mean(1 - (1 - rates) ** k)
        both = pass_at(k, counts)[f"pass@{k}"], beta_binomial_score(counts, k)
        errors.append(np.array(both) - score)
    ours, theirs = np.sqrt(np.mean(np.square(errors), axis=0))
    assert ours < theirs + 0.04  # a share of unsolvable questions cannot be excluded
    assert abs(np.mean(errors, axis=0)[0]) < abs(np.mean(errors, axis=0)[1]) + 0.02


@pytest.mark.parametrize("interval", ["auto", "hierarchical"])
@pytest.mark.parametrize("name", ["pass@", "pass^"])
def test_one_k_above_n_has_the_limits_that_it_has_among_others(interval, name):
    rng = np.random.default_rng(8)
    for rows in ([[1, 0], [0, 1]], rng.binomial(1, rng.beta(0.4, 1, (30, 1)), (30, 6)).tolist()):
        ks = [1, 2, 4, 8, 9, 40]
        options: dict[str, Any] = {"include": f"{name}k", "confidence": 0.9, "interval": interval}
        every = gpassk(rows, k=ks, **options)
        for k in ks:
            alone = gpassk(rows, k=[k], **options)
            for end in ("", "_lo", "_hi"):
                key = f"{name}{k}{end}"
                assert alone[key] == pytest.approx(every[key], abs=1e-9)
        for j, k in itertools.pairwise(ks):
            for end in ("", "_lo", "_hi"):
                change = every[f"{name}{k}{end}"] - every[f"{name}{j}{end}"]
                assert (change if name == "pass@" else -change) > -1e-9


def test_the_beta_distribution_of_the_prior_has_the_largest_likelihood():
    rng = np.random.default_rng(11)
    c = rng.binomial(12, rng.beta(0.7, 2, 300))
    counts = np.bincount(c, minlength=13)
    half_aic, _ = _Model(likelihood(12), counts / 300, LOG_ODDS, ()).fit(300)

    def loss(logs: np.ndarray) -> float:
        return -stats.betabinom.logpmf(c, 12, *np.exp(logs)).mean()

    assert (half_aic - 2) / 300 == pytest.approx(minimize(loss, [0.0, 0.0]).fun, abs=1e-4)
