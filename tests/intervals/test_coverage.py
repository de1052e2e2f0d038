"""Coverage of the intervals in simulations with known success rates or rewards."""

import math

import at_k
import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import all_correct, any_correct, geom_ds
from at_k.core.score import Score
from at_k.intervals.binary_family import BinaryFamily
from at_k.intervals.hierarchical import HierarchicalIntervals
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.checker_rates import estimator

RUNS = 1000
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)  # four standard errors below


def sampling(scores: dict[str, Score], n: int, new_questions: bool = False) -> SamplingIntervals:
    """The method for runs of n samples per question, where c = 0 .. n are the distinct counts."""
    counts = BinaryCounts(np.full(n + 1, n), np.arange(n + 1))
    return SamplingIntervals(BinaryFamily.of_run(counts, *estimator(scores), {}), new_questions)


def multiplicities(rng, n: int, rates: np.ndarray) -> np.ndarray:
    """(B, n + 1) number of questions with c = 0 .. n, in runs with (B, M) success rates."""
    return np.array([np.bincount(row, minlength=n + 1) for row in rng.binomial(n, rates)])


def mean_pass_at_k(k: int, rates: np.ndarray) -> np.ndarray:
    return np.mean(1 - (1 - rates) ** k, axis=-1)


# --- Success rates ------------------------------------------------------------------------

CELLS = [
    (lambda rng, size: rng.beta(0.3, 6, size), 100, 8),
    (lambda rng, size: rng.beta(1, 1, size), 30, 8),
    (lambda rng, size: rng.beta(6, 0.3, size), 100, 4),
    (lambda rng, size: rng.choice([0.1, 0.9], size), 50, 16),
]


@pytest.mark.parametrize(("draw_rates", "questions", "n"), CELLS)
@pytest.mark.parametrize("new_questions", [False, True])
def test_sampling_and_questions_have_their_nominal_coverage(
    draw_rates, questions, n, new_questions
):
    rng, ks = np.random.default_rng(12), (1, n // 2)
    rates = draw_rates(rng, (RUNS, questions))
    method = sampling({f"pass@{k}": Score((any_correct(k),)) for k in ks}, n, new_questions)
    found = method.over(multiplicities(rng, n, rates), 0.95)
    population = draw_rates(rng, 1_000_000) if new_questions else rates
    for k in ks:
        each, truth = found[f"pass@{k}"], mean_pass_at_k(k, population)
        assert np.mean((each.lo <= truth) & (truth <= each.hi)) > LEAST


def test_few_new_questions_may_be_another_mixture_of_two_success_rates():
    rng, n = np.random.default_rng(15), 64
    rates = rng.choice([0.1, 0.9], (RUNS, 10))
    method = sampling({"pass@1": Score((any_correct(1),))}, n, new_questions=True)
    found = method.over(multiplicities(rng, n, rates), 0.95)["pass@1"]
    # It is 0.88 if all log-odds are shifted alike.
    assert np.mean((found.lo <= 0.5) & (found.hi >= 0.5)) > 0.92


@pytest.mark.parametrize(("draw_rates", "questions", "n"), CELLS[1:])
def test_hierarchical_covers_scores_with_k_above_n(draw_rates, questions, n):
    rng, runs, covered = np.random.default_rng(13), 40, 0
    credits = {"pass": any_correct(2 * n), "all": all_correct(2 * n)}
    keys, estimate = estimator({})
    for _ in range(runs):
        rates = draw_rates(rng, questions)
        counts = BinaryCounts(np.full(questions, n), rng.binomial(n, rates))
        method = HierarchicalIntervals(BinaryFamily.of_run(counts, keys, estimate, credits))
        (found,) = method.for_groups([np.arange(questions)], 0.95)
        truth = {"pass": mean_pass_at_k(2 * n, rates), "all": np.mean(rates ** (2 * n))}
        covered += sum(found[key].lo <= truth[key] <= found[key].hi for key in credits)
    assert covered >= 0.95 * 2 * runs - 4 * math.sqrt(0.95 * 0.05 * 2 * runs)


def test_failures_of_similar_questions_vary_as_rare_events_do():
    rng, n = np.random.default_rng(16), 16
    rates = rng.beta(5, 5, (RUNS, 500))
    found = sampling({"any": Score((any_correct(n),))}, n).over(
        multiplicities(rng, n, rates), 0.95
    )["any"]
    truth = mean_pass_at_k(n, rates)
    # It is 0.88 if questions without a correct sample are taken for impossible ones.
    assert np.mean((found.lo <= truth) & (truth <= found.hi)) > 0.92


FEW_EVENTS = [
    (lambda rng, size: rng.choice([0.1, 0.9], size), 10, 16),
    (lambda rng, size: rng.choice([0.1, 0.9], size), 500, 64),
    (lambda rng, size: rng.beta(5, 5, size), 500, 16),
]


@pytest.mark.parametrize(("draw_rates", "questions", "n"), FEW_EVENTS)
def test_scores_that_depend_on_few_events_are_covered_nearly_as_often(draw_rates, questions, n):
    rng = np.random.default_rng(1)
    rates = draw_rates(rng, (RUNS, questions))
    method = sampling({"all": Score((all_correct(n),)), "product": geom_ds(n)}, n)
    every = np.mean(rates**n, axis=1)
    truth = {"all": every, "product": np.sqrt(every * mean_pass_at_k(n, rates))}
    for key, found in method.over(multiplicities(rng, n, rates), 0.95).items():
        covered = (found.lo <= truth[key] + 1e-12) & (truth[key] <= found.hi + 1e-12)
        # The delta method alone has 0.69, and the normal approximation alone 0.77.
        assert np.mean(covered) > 0.85


# --- Rewards ------------------------------------------------------------------------------


def coverage(
    metric: str, interval: str, draw_run, truth: float, options: dict, runs: int = 200
) -> float:
    """The share of runs whose interval covers the true score."""
    loaded, rng, covered = at_k.load(metric), np.random.default_rng(0), 0
    for _ in range(runs):
        scores = loaded.compute(predictions=draw_run(rng), interval=interval, **options)
        covered += covers(scores, truth)
    return covered / runs


def covers(scores: dict, truth: float) -> bool:
    lo = next(value for key, value in scores.items() if key.endswith("_lo"))
    hi = next(value for key, value in scores.items() if key.endswith("_hi"))
    return lo <= truth <= hi


RARE = np.random.default_rng(1).beta(0.3, 6, 60)


def test_auto_covers_the_mean_of_rare_successes_and_the_posterior_does_not():
    def draw_run(rng):
        return rng.binomial(1, RARE[:, None], (60, 8))

    options: dict = {"confidence": 0.95}
    assert coverage("bayes_at_n", "posterior", draw_run, RARE.mean(), options) < 0.2
    assert 0.91 <= coverage("bayes_at_n", "auto", draw_run, RARE.mean(), options) <= 0.99


def test_auto_covers_the_expected_maximum_of_normal_rewards():
    means = np.random.default_rng(2).normal(size=(40, 1))
    maxima = np.random.default_rng(3).normal(size=(4, 200_000)).max(axis=0)
    truth = means.mean() + maxima.mean()

    def draw_run(rng):
        return means + rng.normal(size=(40, 16))

    options = {"k": 4, "confidence": 0.95}
    assert 0.91 <= coverage("max_at_k", "auto", draw_run, truth, options, runs=100) <= 1.0
