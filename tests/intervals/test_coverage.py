"""Coverage of the intervals in simulations with known success rates or rewards."""

import math
from copy import copy

import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import all_correct, any_correct, geom_ds
from at_k.core.score import Score
from at_k.intervals.binary_family import BinaryFamily
from at_k.intervals.hierarchical import HierarchicalIntervals
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.checker_rates import estimator
from scored import gpassk, max_at_k

RUNS = 1000
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)  # four standard errors below


def family_of(scores: dict[str, Score], n: int) -> BinaryFamily:
    """The family for runs of n samples per question, where c = 0 .. n are the distinct counts."""
    counts = BinaryCounts(np.full(n + 1, n), np.arange(n + 1))
    return BinaryFamily(counts, *estimator(scores), {})


def mean_pass_at_k(k: int, rates: np.ndarray) -> np.ndarray:
    return np.mean(1 - (1 - rates) ** k, axis=-1)


# --- Success rates ------------------------------------------------------------------------

CELLS = [
    (lambda rng, size: rng.beta(0.3, 6, size), 100, 8),
    (lambda rng, size: rng.beta(1, 1, size), 30, 8),
    (lambda rng, size: rng.beta(6, 0.3, size), 100, 4),
    (lambda rng, size: rng.choice([0.1, 0.9], size), 50, 16),
]


@pytest.mark.parametrize(
    ("draw_rates", "questions", "n", "scores", "least"),
    [
        *((*cell, ("first", "half"), LEAST) for cell in CELLS),
        # It is 0.88 if questions without a correct sample are taken for impossible ones.
        (lambda rng, size: rng.beta(5, 5, size), 500, 16, ("any",), 0.92),
        # Few events: the delta method alone has 0.69, and the normal approximation alone 0.77.
        (lambda rng, size: rng.choice([0.1, 0.9], size), 10, 16, ("all", "product"), 0.85),
        (lambda rng, size: rng.choice([0.1, 0.9], size), 500, 64, ("all", "product"), 0.85),
        (lambda rng, size: rng.beta(5, 5, size), 500, 16, ("all", "product"), 0.85),
    ],
)
def test_sampling_has_its_nominal_coverage(draw_rates, questions, n, scores, least):
    rng = np.random.default_rng(12)
    rates = draw_rates(rng, (RUNS, questions))
    every, any_of_n = np.mean(rates**n, axis=1), mean_pass_at_k(n, rates)
    known = {
        name: (Score((any_correct(k),)), mean_pass_at_k(k, rates))
        for name, k in (("first", 1), ("half", n // 2), ("any", n))
    }
    known["all"] = Score((all_correct(n),)), every
    known["product"] = geom_ds(n), np.sqrt(every * any_of_n)
    method = SamplingIntervals(family_of({key: known[key][0] for key in scores}, n))
    found = [method.intervals(c, 0.95) for c in rng.binomial(n, rates)]
    for key in scores:
        lo, hi = np.transpose([[of_run[key].lo, of_run[key].hi] for of_run in found])
        truth = known[key][1]
        assert np.mean((lo <= truth + 1e-12) & (truth <= hi + 1e-12)) > least


OF_QUESTIONS = {  # how rates are drawn, and the numbers of questions and samples, and k
    "two rates": (lambda rng, size: rng.choice([0.1, 0.9], size), 10, 64, 1),
    "hard": (lambda rng, size: rng.choice([0.95, 0.0], size, p=[0.95, 0.05]), 12, 64, 1),
    "easy": (lambda rng, size: rng.choice([0.1, 1.0], size, p=[0.92, 0.08]), 30, 16, 1),
    "few hard": (
        lambda rng, size: np.where(rng.random(size) < 0.9, rng.beta(20, 2, size), 0.02),
        *(60, 8, 8),
    ),
    "uniform": (lambda rng, size: rng.beta(1, 1, size), 30, 8, 4),
    "skewed": (lambda rng, size: rng.beta(0.3, 6, size), 100, 8, 8),
}


@pytest.mark.parametrize("truth", OF_QUESTIONS)
def test_questions_has_its_nominal_coverage(truth):
    """By test inversion, the coverage was down to 0.42 where a rare kind of questions is hard."""
    draw_rates, questions, n, k = OF_QUESTIONS[truth]
    rng = np.random.default_rng(12)
    method = family_of({"": Score((any_correct(k),))}, n).for_other_questions()
    c = rng.binomial(n, draw_rates(rng, (RUNS, questions)))
    found = [method.intervals(of_run, 0.95)[""] for of_run in c]
    score = mean_pass_at_k(k, draw_rates(rng, 1_000_000))
    assert np.mean([interval.lo <= score <= interval.hi for interval in found]) > 0.92


CLUSTER_SIZES = {
    "half of the questions in one": [40] + [1] * 40,
    "Zipf": [round(40 / rank) for rank in range(1, 16)],
    "repositories": [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1],
    "fives": [5] * 12,
}


@pytest.mark.parametrize("sizes", CLUSTER_SIZES)
@pytest.mark.parametrize(("between", "within"), [(1.5, 1.0), (0.5, 1.5)])
def test_questions_cover_where_clusters_differ_in_size(sizes, between, within):
    """With the variance between clusters as it is and t of their number, it is 0.74 to 0.90."""
    rng, n = np.random.default_rng(3), 4
    clusters = np.repeat(np.arange(len(CLUSTER_SIZES[sizes])), CLUSTER_SIZES[sizes])
    family = family_of({"": Score((any_correct(1),))}, n)
    truth = 1 / (1 + np.exp(1 - math.hypot(between, within) * rng.normal(size=1_000_000)))
    covered = 0
    for _ in range(400):
        log_odds = rng.normal(-1, between, clusters.max() + 1)[clusters]
        rates = 1 / (1 + np.exp(-log_odds - within * rng.normal(size=len(clusters))))
        of_run = copy(family)
        of_run.inverse = rng.binomial(n, rates)
        method = of_run.for_other_questions(clusters)
        found = method.intervals(np.arange(len(clusters)), 0.95)
        covered += found[""].lo <= truth.mean() <= found[""].hi
    assert covered > 0.92 * 400


@pytest.mark.filterwarnings("ignore:The .* clusters differ in size")
@pytest.mark.parametrize(
    ("sizes", "share"),
    [
        # Without a floor for clusters, the coverage is 0.65 to 0.87.
        ([10] * 6, 0.15),
        ([20] * 12, 0.15),
        ([58, 19, 11, 9, 8, 6, 5, 5, 3, 2, 1, 1], 0.15),
        # With the variance of the jackknife alone, the coverage is 0.85 to 0.9.
        ([60, 60, *[4] * 20], 0.25),
        ([max(1, 60 // rank) for rank in range(1, 26)], 0.25),
    ],
)
def test_questions_cover_where_a_rare_kind_of_clusters_is_hard(sizes, share):
    rng, n, runs = np.random.default_rng(5), 8, 300
    rates = np.where(rng.random((runs, len(sizes))) < share, 0.05, 0.85)
    correct = rng.binomial(n, np.repeat(rates, sizes, axis=1)).ravel()
    clusters = np.repeat(np.arange(runs * len(sizes)).astype(str), sizes * runs)
    groups = np.repeat(np.arange(runs).astype(str), sum(sizes))
    scores = gpassk(
        {"n": [n] * len(correct), "correct": correct},
        groups=groups.tolist(),
        clusters=clusters.tolist(),
        interval="questions",
        confidence=0.95,
        include="pass@1",
    )
    truth = share * 0.05 + (1 - share) * 0.85
    covered = [scores[f"{x}/pass@1_lo"] <= truth <= scores[f"{x}/pass@1_hi"] for x in range(runs)]
    assert np.mean(covered) > 0.92


@pytest.mark.parametrize(("draw_rates", "questions", "n"), CELLS[1:])
def test_hierarchical_covers_scores_with_k_above_n(draw_rates, questions, n):
    rng, runs, covered = np.random.default_rng(13), 40, 0
    credits = {"pass": any_correct(2 * n), "all": all_correct(2 * n)}
    keys, estimate = estimator({})
    for _ in range(runs):
        rates = draw_rates(rng, questions)
        counts = BinaryCounts(np.full(questions, n), rng.binomial(n, rates))
        method = HierarchicalIntervals(BinaryFamily(counts, keys, estimate, credits))
        found = method.intervals(np.arange(questions), 0.95)
        truth = {"pass": mean_pass_at_k(2 * n, rates), "all": np.mean(rates ** (2 * n))}
        covered += sum(found[key].lo <= truth[key] <= found[key].hi for key in credits)
    assert covered >= 0.95 * 2 * runs - 4 * math.sqrt(0.95 * 0.05 * 2 * runs)


# --- Rewards ------------------------------------------------------------------------------


def test_auto_covers_the_expected_maximum_of_normal_rewards():
    rng, runs = np.random.default_rng(0), 100
    means = np.random.default_rng(2).normal(size=(40, 1))
    maxima = np.random.default_rng(3).normal(size=(4, 200_000)).max(axis=0)
    scores = max_at_k(
        (means + rng.normal(size=(runs, 40, 16))).reshape(-1, 16),
        groups=np.repeat(np.arange(runs).astype(str), 40).tolist(),
        k=4,
        confidence=0.95,
    )
    truth = means.mean() + maxima.mean()
    covered = [scores[f"{x}/max@4_lo"] <= truth <= scores[f"{x}/max@4_hi"] for x in range(runs)]
    assert np.mean(covered) >= 0.91
