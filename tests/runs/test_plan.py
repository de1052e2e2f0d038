"""Plans of runs: agreement with exact variances and with simulated runs, pilot runs, and errors."""

import json
import math
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.counts import BinaryCounts
from at_k.core.credits import any_correct
from at_k.core.score import Score
from at_k.intervals.binary_family import RATES, BinaryFamily
from at_k.intervals.sampling import SamplingIntervals
from at_k.runs import designs
from at_k.scores.checker_rates import estimator
from scipy.stats import binom, norm
from scored import gpassk

UNIFORM = ((np.arange(1000) + 0.5) / 1000).tolist()
PILOT = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]]


def row_of(**given) -> dict:
    """Return the only row of a plan."""
    (row,) = at_k.plan(**given)["rows"]
    return row


def unbiased_pass_at_k(n: int, k: int) -> np.ndarray:
    """Return the estimates of questions with 0, 1, .., n correct samples."""
    return np.array([1 - math.comb(n - c, k) / math.comb(n, k) for c in range(n + 1)])


# --- Agreement with exact variances -------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(4, 1), (8, 4), (16, 16)])
def test_large_runs_have_normal_intervals_with_the_exact_variance(n, k):
    rates, questions = RATES[[70, 90]], 1_000_000
    pmf, h = binom.pmf(np.arange(n + 1), n, rates[:, None]), unbiased_pass_at_k(n, k)
    variance = (pmf @ h**2).mean() - (pmf @ h).mean() ** 2
    between = (pmf @ h).var()
    row = row_of(rates=rates, k=k, questions=questions, samples=n, correlation=0.3)
    z, z_power = norm.ppf(0.975), norm.ppf(0.8)
    for kind, each, both in (
        ("sampling", variance - between, 2 * (variance - between)),
        ("questions", variance, 2 * (variance - 0.3 * between)),
    ):
        assert row[f"half_width_{kind}"] == pytest.approx(z * math.sqrt(each / questions), rel=0.02)
        smallest = (z + z_power) * math.sqrt(both / questions)
        assert row[f"difference_{kind}"] == pytest.approx(smallest, rel=0.03)


def test_the_score_is_the_mean_over_the_rates():
    plan = at_k.plan(rates=[0.0, 0.1, 0.5, 1.0], metric="pass^k", k=3)
    assert plan["key"] == "pass^3"
    assert plan["score"] == pytest.approx((0.001 + 0.125 + 1) / 4, rel=2e-3)


# --- Agreement with simulated runs --------------------------------------------------------


@pytest.mark.parametrize("kind", ["sampling", "questions"])
@pytest.mark.parametrize(
    ("a", "b", "n", "k", "questions"), [(0.3, 3, 4, 1, 100), (2, 1, 8, 4, 30), (0.5, 0.5, 2, 2, 60)]
)
def test_half_widths_are_those_of_simulated_runs(a, b, n, k, questions, kind):
    rng = np.random.default_rng(0)
    population = rng.beta(a, b, 5000)
    correct = rng.binomial(n, rng.choice(population, (400, questions)))
    multiplicity = np.array([np.bincount(c, minlength=n + 1) for c in correct])
    counts = BinaryCounts(np.full(n + 1, n), np.arange(n + 1))
    family = BinaryFamily(counts, *estimator({"": Score((any_correct(k),))}), {})
    method = family.for_other_questions() if kind == "questions" else SamplingIntervals(family)
    runs = [np.repeat(np.arange(n + 1), of_run) for of_run in multiplicity]
    intervals = [method.intervals(run, 0.95)[""] for run in runs]
    row = row_of(rates=population, k=k, questions=questions, samples=n)
    half_width = np.mean([(interval.hi - interval.lo) / 2 for interval in intervals])
    assert row[f"half_width_{kind}"] == pytest.approx(half_width, rel=0.1)


@pytest.mark.parametrize("kind", ["sampling", "questions"])
def test_a_comparison_finds_the_smallest_difference_with_the_given_power(kind):
    rng, n, questions, runs, found = np.random.default_rng(1), 4, 60, 200, 0
    row = row_of(rates=UNIFORM, correlation=1.0, questions=questions, samples=n, power=0.7)
    # Run b answers a share of the questions that run a does not: 1 - (1 - x)(1 - p).
    share = 2 * row[f"difference_{kind}"]
    for _ in range(runs):
        a = rng.random(questions) if kind == "questions" else np.arange(0.5, questions) / questions
        both = rng.binomial(
            1, np.stack([a, 1 - (1 - share) * (1 - a)])[..., None], (2, questions, n)
        )
        found += at_k.compare(both[0], both[1], k=1, interval=kind)["pass@1_lo"] > 0
    assert found / runs == pytest.approx(0.7, abs=0.12)


# --- Pilot runs ---------------------------------------------------------------------------


def test_a_large_pilot_run_gives_the_plan_of_its_rates():
    rng = np.random.default_rng(2)
    pilot = at_k.Counts([16] * 3000, rng.binomial(16, rng.beta(2, 3, 3000)))
    design: dict[str, Any] = {"k": 4, "questions": 200, "samples": 8}
    from_pilot = row_of(R=pilot, **design)
    from_rates = row_of(rates=rng.beta(2, 3, 20_000), **design)
    for name, value in from_rates.items():
        assert from_pilot[name] == pytest.approx(value, rel=0.05), name


@pytest.mark.parametrize("rates", [[0.1, 0.4, 0.9], [0.1, 0.2, 0.3, 0.4, 0.6, 0.9]])
def test_few_pilot_questions_vary_as_an_unbiased_variance_says(rates):
    pilot = at_k.Counts([100] * len(rates), [round(100 * rate) for rate in rates])
    row = row_of(R=pilot, questions=1_000_000, samples=100)
    expected = norm.ppf(0.975) * np.std(rates, ddof=1) / 1000
    assert row["half_width_questions"] == pytest.approx(expected, rel=0.01)


def test_a_plan_states_its_assumptions():
    assert at_k.plan(PILOT, k=8)["assumptions"] == {
        "rates_are": "estimated",
        "pilot_questions": 5,
        "pilot_samples": 4,
        "extrapolated": True,
        "correlation": 0.5,
        "correlation_is": "assumed",
    }
    assert at_k.plan(rates=[0.5], correlation=0.2)["assumptions"] == {
        "rates_are": "assumed",
        "correlation": 0.2,
        "correlation_is": "given",
    }


def test_a_plan_is_json_without_nan():
    for rates in ([0.5], [0.0], [1.0], [0.0, 1.0]):
        plan = at_k.plan(rates=rates, k=4, samples=[4, 64], half_width=0.05)
        assert json.loads(json.dumps(plan, allow_nan=False)) == plan


# --- The grid and the cheapest design -----------------------------------------------------


def test_one_sample_of_each_question_has_no_interval_for_the_same_questions():
    row = row_of(rates=UNIFORM, questions=50, samples=1)
    assert row["half_width_sampling"] is None
    assert row["difference_sampling"] is None
    assert row["half_width_questions"] > 0
    no_score_has_it = row_of(rates=[0.99], questions=20, samples=4)
    assert no_score_has_it["difference_sampling"] is None


@pytest.mark.parametrize("pilot", [PILOT, [[1, 1], [0, 1]], [[0, 0, 1]] * 4])
def test_half_widths_fall_with_the_number_of_questions(pilot):
    rows = at_k.plan(pilot, k=2, questions=[2, 9, 40, 400], samples=5)["rows"]
    for name in ("half_width_sampling", "half_width_questions"):
        widths = [row[name] for row in rows]
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] >= 0


@pytest.mark.parametrize("wanted", [{"half_width": 0.04}, {"difference": 0.08}])
@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_the_cheapest_design_has_the_lowest_cost_of_those_that_suffice(wanted, interval):
    costs: dict[str, Any] = {"question_cost": 3.0, "sample_cost": 0.5}
    samples = [2, 4, 8]
    plan = at_k.plan(rates=UNIFORM, samples=samples, interval=interval, **wanted, **costs)
    ((name, value),) = wanted.items()
    best = plan["cheapest"]
    assert best["cost"] == best["questions"] * (3 + best["samples"] * 0.5)
    assert best[f"{name}_{interval}"] <= value
    # No design that costs 2 % less suffices.
    for n in samples:
        cheaper = int(0.98 * best["cost"] / (3 + n * 0.5))
        row = row_of(rates=UNIFORM, questions=cheaper, samples=n)
        assert row[f"{name}_{interval}"] > value


def test_the_cheapest_design_has_at_most_the_given_number_of_questions():
    given: dict[str, Any] = {"rates": UNIFORM, "half_width": 0.02, "samples": 4}
    assert at_k.plan(**given)["cheapest"]["questions"] > 500
    assert at_k.plan(**given, questions=[100, 500])["cheapest"] is None


# --- Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [{"difference": 0.01}, {"half_width": 0.02}])
def test_rates_and_scores_at_a_limit_have_plans_that_take_few_steps(monkeypatch, goal):
    steps, precision = [], designs.Design.precision

    def counted(design, questions, kind):
        steps.append(questions)
        return precision(design, questions, kind)

    monkeypatch.setattr(designs.Design, "precision", counted)
    extremes = {"metric": "G-Pass@k", "correlation": -1.0, "power": 0.5, **goal}
    at_k.plan(rates=[1.0], **extremes)
    assert len(steps) < 400
    assert at_k.plan(rates=[0.2, 0.8], metric="mG-Pass@k", k=1, **goal)["score"] == 0


# --- Weights, and what a pilot run leaves open --------------------------------------------


@pytest.mark.parametrize("kind", ["sampling", "questions"])
@pytest.mark.parametrize("metric", ["pass@k", "pass^k"])
def test_a_plan_with_weights_has_the_half_width_of_such_a_run(kind, metric):
    random = np.random.default_rng(3)
    rows = random.binomial(1, random.beta(1, 1, 150)[:, None], (150, 8))
    groups = ["a"] * 100 + ["b"] * 40 + ["c"] * 10
    ways: list[dict[str, Any]] = [
        {"question_weights": random.integers(1, 10, 150).tolist()},
        {"groups": groups, "average": "groups"},
    ]
    for way in ways:
        result = gpassk(rows, k=2, include=metric, interval=kind, confidence=0.95, **way)
        key = metric.replace("k", "2")
        width = (result[f"{key}_hi"] - result[f"{key}_lo"]) / 2
        plan = at_k.plan(rows, metric, k=2, questions=150, samples=8, **way)
        assert plan["rows"][0][f"half_width_{kind}"] == pytest.approx(width, rel=0.1)
        assert plan["score"] == pytest.approx(result[key], abs=0.02)
        assert plan["assumptions"]["design_effect"] > 1.2
    plain, equal = (
        at_k.plan(rows, metric, k=2, questions=150, samples=8, question_weights=weights)
        for weights in (None, [2.0] * 150)
    )
    assert equal == plain


@pytest.mark.parametrize("k", [1, 4, 16])
def test_a_plan_with_clusters_has_the_half_width_of_such_a_run(k):
    random, labels = np.random.default_rng(4), np.repeat(np.arange(40).astype(str), 5).tolist()
    rates = np.repeat(random.beta(1, 1, 40), 5)
    rows = random.binomial(1, rates[:, None], (200, 16))
    limits = gpassk(rows, k=k, include="pass@k", confidence=0.95, clusters=labels)
    width = (limits[f"pass@{k}_hi"] - limits[f"pass@{k}_lo"]) / 2
    design: dict[str, Any] = {"k": k, "questions": 200, "samples": 16}
    plan, plain = (at_k.plan(rows, **design, clusters=clusters) for clusters in (labels, None))
    row, plain_row = plan["rows"][0], plain["rows"][0]
    assert row["half_width_questions"] == pytest.approx(width, rel=0.05)
    assert row["half_width_questions"] > 1.5 * plain_row["half_width_questions"]
    assert row["half_width_sampling"] == plain_row["half_width_sampling"]
    assert plan["assumptions"] == plain["assumptions"] | {"pilot_clusters": 40}
    # From 8 samples of each question, the plan for 16 is nearly the same.
    smaller = row_of(R=rows[:, :8], **design, clusters=labels)
    assert smaller["half_width_questions"] == pytest.approx(width, rel=0.15)


def test_a_plan_with_single_questions_as_clusters_is_that_without_clusters():
    plain = at_k.plan(PILOT, k=2, half_width=0.05)
    plan = at_k.plan(PILOT, k=2, half_width=0.05, clusters=[*"abcde"])
    assert plan["cheapest"] == pytest.approx(plain["cheapest"], rel=1e-9)


def test_clusters_of_a_plan_are_those_of_a_pilot_run_and_more_than_one():
    with pytest.raises(ValueError, match="does not show how clusters differ"):
        at_k.plan(PILOT, clusters=["a"] * 5)
    of_pilot: list[dict[str, Any]] = [{"clusters": ["a", "b"]}, {"average": "groups"}]
    for options in of_pilot:
        with pytest.raises(ValueError, match=r"Groups, clusters and weights .* of a pilot"):
            at_k.plan(rates=[0.2, 0.8], **options)


@pytest.mark.parametrize("wanted", ["half_width", "difference"])
def test_the_range_of_the_cheapest_design_covers_what_a_large_pilot_run_says(wanted):
    random, covered, widths = np.random.default_rng(5), 0, []
    rates = random.beta(1, 1.5, 3000)
    options: dict[str, Any] = {"k": 1, "samples": 4, wanted: 0.1}
    large = at_k.plan(random.binomial(1, rates[:, None], (3000, 4)), **options)["cheapest"]
    for _ in range(30):
        rows = random.binomial(1, random.choice(rates, 12)[:, None], (12, 4))
        best = at_k.plan(rows, **options)["cheapest"]
        assert best["questions_lo"] <= best["questions"] <= best["questions_hi"]
        covered += best["questions_lo"] <= large["questions"] <= best["questions_hi"]
        widths.append(best["questions_hi"] / best["questions_lo"])
    assert covered >= 25
    assert large["questions_hi"] / large["questions_lo"] < min(widths)
