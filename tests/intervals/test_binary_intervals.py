"""Intervals of the pass family: known limits, what is learned, which one auto picks, coverage."""

import math
import re

import at_k
import numpy as np
import pytest
from at_k.inputs.outcomes import Counts
from at_k.intervals.hierarchical import Hierarchical
from at_k.intervals.sampling import PRIOR, Sampling, binomial, learn
from at_k.scores.credits import all_right, any_right
from at_k.scores.distributions import estimator

SINGLE = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k", "Spectrum@k"]
BLENDS = ["Geom@k", "Geom_ds@k", "GeoSpectrum@k"]


def bank(seed: int, questions: int = 30, samples: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(int)


RAGGED = [row[: 4 + question % 3] for question, row in enumerate(bank(0).tolist())]


def ends(scores: dict, key: str) -> tuple[float, float]:
    return scores[f"{key}_lo"], scores[f"{key}_hi"]


def width(scores: dict, key: str) -> float:
    lo, hi = ends(scores, key)
    return hi - lo


@pytest.fixture
def ask(gpassk):
    """The scores of outcomes, with an interval of 95 %."""

    def compute(outcomes, k, interval="sampling", include="pass@k", **options):
        return gpassk.compute(
            predictions=outcomes,
            k=k,
            include=include,
            **{"confidence": 0.95, "interval": interval} | options,
        )

    return compute


# --- Limits -----------------------------------------------------------------------------


@pytest.mark.parametrize("interval", ["sampling", "questions", "auto"])
@pytest.mark.parametrize(
    "outcomes",
    [bank(0), bank(1, 3, 5), np.eye(4), 1 - np.eye(4), np.zeros((2, 4)), np.ones((9, 6))],
)
def test_an_interval_is_around_the_score_and_within_its_range(ask, outcomes, interval):
    scores = ask(outcomes, [1, 2, 4], interval, SINGLE + BLENDS, thresholds=0.5)
    for key in [key for key in scores if f"{key}_lo" in scores]:
        lo, hi = ends(scores, key)
        assert 0 <= lo <= scores[key] <= hi <= 1
        assert scores[f"{key}_mu"] == pytest.approx(scores[key], abs=1e-12)
        assert scores[f"{key}_sigma"] >= 0


def test_a_hierarchical_interval_is_around_its_mean_and_within_the_range(ask):
    for outcomes in (bank(0), np.zeros((20, 4)), np.ones((20, 4))):
        scores = ask(outcomes, [2, 4, 8], "hierarchical", SINGLE, thresholds=0.5)
        for key in [key for key in scores if f"{key}_lo" in scores]:
            lo, hi = ends(scores, key)
            assert -1e-9 <= lo <= scores[f"{key}_mu"] <= hi <= 1 + 1e-9


def test_where_all_is_wrong_or_right_the_other_end_is_nearly_the_exact_one(ask):
    exact = 1 - 0.025 ** (1 / 1600)  # Clopper and Pearson's, of 1,600 trials
    wrong, right = (ask(np.full((100, 16), outcome), 1) for outcome in (0, 1))
    lo, hi = ends(wrong, "pass@1")
    assert lo == 0
    assert hi == pytest.approx(exact, rel=0.05)
    assert ends(right, "pass@1") == pytest.approx((1 - hi, 1), abs=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_of_one_constant_rate_the_interval_of_pass_at_1_is_nearly_wilsons(ask, rate):
    outcomes = np.random.default_rng(2).random((200, 8)) < rate
    lo, hi = ends(ask(outcomes, 1), "pass@1")
    trials, u, z = outcomes.size, outcomes.mean(), 1.959964
    middle = (u + z * z / 2 / trials) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials) * math.sqrt(u * (1 - u) / trials + z * z / 4 / trials**2)
    assert (lo, hi) == pytest.approx((middle - reach, middle + reach), abs=0.1 * reach)


def test_what_mirrors_pass_at_k_has_the_mirrored_interval(ask):
    outcomes = bank(3)
    lo, hi = ends(ask(outcomes, 4), "pass@4")
    mirrored = ask(1 - outcomes, 4, include="pass^k")
    assert ends(mirrored, "pass^4") == pytest.approx((1 - hi, 1 - lo), abs=1e-9)


def test_a_higher_confidence_makes_a_longer_interval_and_more_samples_a_shorter_one(ask):
    few, many = bank(4, 30, 8), np.tile(bank(4, 30, 8), 8)
    for interval in ("sampling", "questions"):
        wide, narrow = (
            ends(ask(few, 2, interval, confidence=confidence), "pass@2")
            for confidence in (0.99, 0.8)
        )
        assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert width(ask(many, 2), "pass@2") < 0.5 * width(ask(few, 2), "pass@2")
    assert width(ask(few, 2, "questions"), "pass@2") > width(ask(few, 2), "pass@2")


def test_a_ragged_bank_is_as_sure_as_its_sizes_allow(ask):
    many = bank(5, 60, 16)
    ragged = [row[:16] if question % 2 else row[:4] for question, row in enumerate(many.tolist())]
    widths = [width(ask(each, 2), "pass@2") for each in (many, ragged, many[:, :4])]
    assert widths == sorted(widths)


def test_scores_that_are_too_small_to_divide_by_have_an_interval_too(ask):
    outcomes = np.random.default_rng(14).random((30, 64)) < 0.02
    scores = ask(outcomes, 64, include=BLENDS)
    for key in ("Geom@64", "Geom_ds@64", "GeoSpectrum@64"):
        lo, hi = ends(scores, key)
        assert 0 == lo == scores[key] <= hi < 0.5


# --- What is learned --------------------------------------------------------------------


def counts_of(outcomes: np.ndarray) -> Counts:
    return Counts(np.full(len(outcomes), outcomes.shape[1]), outcomes.sum(axis=1))


def test_the_learned_prior_sums_to_one_and_fits_better_with_every_step():
    counts, fits = counts_of(bank(6, 100, 6)), []
    for times in (1, 4, 16, 64):  # the same shares of more questions: more steps
        prior = learn(Counts(np.tile(counts.n, times), np.tile(counts.c, times)))
        assert np.sum(list(prior.values())) == pytest.approx(1)
        likelihood = binomial(counts.n, counts.c)[:, PRIOR] @ prior[6]
        fits.append(np.log(likelihood).mean())
    assert fits == sorted(fits)
    assert fits[0] < fits[-1] < np.log(binomial(counts.n, counts.c).max(axis=1)).mean()


def test_the_prior_of_a_ragged_bank_has_the_share_of_questions_of_each_size():
    n = np.repeat([2, 8, 5], [10, 20, 30])
    prior = learn(Counts(n, np.random.default_rng(7).binomial(n, 0.4)))
    assert {size: part.sum() for size, part in prior.items()} == pytest.approx(
        {2: 1 / 6, 8: 1 / 3, 5: 1 / 2}
    )


def test_the_learned_prior_finds_two_kinds_of_questions():
    rng = np.random.default_rng(8)
    rates = rng.choice([0.1, 0.9], 2000)
    prior = learn(Counts(np.full(2000, 16), rng.binomial(16, rates)))[16]
    rate = 1 / (1 + np.exp(-np.linspace(-12, 12, len(prior))))
    assert prior[(rate > 0.3) & (rate < 0.7)].sum() < 0.01
    assert prior @ rate == pytest.approx(0.5, abs=0.03)


# --- Groups and clusters ----------------------------------------------------------------


@pytest.mark.parametrize("interval", ["sampling", "questions", "hierarchical", "auto"])
def test_groups_have_the_intervals_that_they_have_alone(ask, interval):
    outcomes, groups = bank(9), ["even", "odd", "odd"] * 10
    scores = ask(outcomes, [1, 4], interval, groups=groups)
    alone = ask(outcomes[[group == "odd" for group in groups]], [1, 4], interval)
    for key in ("pass@1", "pass@4"):
        assert scores[f"odd/{key}"] == alone[key]
        assert ends(scores, f"odd/{key}") == pytest.approx(ends(alone, key), abs=1e-9)


def test_questions_asked_twice_are_as_sure_as_once_if_they_share_a_cluster(ask):
    outcomes, k = bank(10), 2
    twice, clusters = np.vstack([outcomes, outcomes]), [*range(30), *range(30)]
    once = ask(outcomes, k, "questions")
    clustered = ask(twice, k, "questions", clusters=clusters)
    assert ends(clustered, "pass@2") == pytest.approx(ends(once, "pass@2"), rel=1e-3)
    apart = ask(twice, k, "questions", clusters=range(60))
    assert apart == ask(twice, k, "questions")
    assert width(apart, "pass@2") < 0.75 * width(clustered, "pass@2")


# --- auto -------------------------------------------------------------------------------


def test_auto_says_which_interval_it_picked(ask):
    outcomes = bank(11)
    scores = ask(outcomes, [4, 8, 16], "auto")
    assert [scores[f"pass@{k}_interval"] for k in (4, 8, 16)] == [
        *("sampling", "sampling", "hierarchical")
    ]
    for interval, k in (("sampling", 4), ("hierarchical", 16)):
        alone = ask(outcomes, k, interval)
        assert ends(scores, f"pass@{k}") == pytest.approx(ends(alone, f"pass@{k}"), abs=1e-12)
    single = ask(outcomes[:, :1], [1, 2], "auto")
    assert (single["pass@1_interval"], single["pass@2_interval"]) == ("questions", "none")
    assert ends(single, "pass@1") == ends(ask(outcomes[:, :1], 1, "questions"), "pass@1")
    assert ends(single, "pass@2") == (0, 1)
    alone = ask([[1]], 1, "auto")
    assert alone["pass@1_interval"] == "none"
    assert ends(alone, "pass@1") == (0, 1)
    ragged = ask([[1, 0, 1], [1]], [1, 2], "auto")
    assert (ragged["pass@1_interval"], ragged["pass@2_interval"]) == ("sampling", "hierarchical")


# --- Coverage ---------------------------------------------------------------------------

RUNS = 1000
LEAST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / RUNS)  # four standard errors below


def pass_at(k: int, p: np.ndarray) -> np.ndarray:
    return np.mean(1 - (1 - p) ** k, axis=-1)


CELLS = [
    (lambda rng, size: rng.beta(0.3, 6, size), 100, 8),
    (lambda rng, size: rng.beta(1, 1, size), 30, 8),
    (lambda rng, size: rng.beta(6, 0.3, size), 100, 4),
    (lambda rng, size: rng.choice([0.1, 0.9], size), 50, 16),
]


@pytest.mark.parametrize(("truth", "questions", "n"), CELLS)
@pytest.mark.parametrize("new", [False, True])
def test_sampling_and_questions_hold_as_often_as_they_say(truth, questions, n, new):
    rng, draws = np.random.default_rng(12), (1, n // 2)
    keys, estimate = estimator({f"pass@{k}": any_right(k) for k in draws})
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    p = truth(rng, (RUNS, questions))
    tables = np.array([np.bincount(row, minlength=n + 1) for row in rng.binomial(n, p)])
    found = Sampling(kinds, keys, estimate, new).over(tables, 0.95)
    true_of = truth(rng, 1_000_000) if new else p
    for k in draws:
        ends, true = found[f"pass@{k}"], pass_at(k, true_of)
        assert np.mean((ends.lo <= true) & (true <= ends.hi)) > LEAST


def test_few_new_questions_of_two_kinds_may_be_of_another_mixture():
    rng, n = np.random.default_rng(15), 64
    keys, estimate = estimator({"pass@1": any_right(1)})
    c = rng.binomial(n, rng.choice([0.1, 0.9], (RUNS, 10)))
    tables = np.array([np.bincount(row, minlength=n + 1) for row in c])
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    ends = Sampling(kinds, keys, estimate, True).over(tables, 0.95)["pass@1"]
    held = np.mean((ends.lo <= 0.5) & (ends.hi >= 0.5))
    assert held > 0.92  # .88 where all questions were moved alike


@pytest.mark.parametrize(("truth", "questions", "n"), CELLS[1:])
def test_hierarchical_holds_more_draws_than_there_are_samples(truth, questions, n):
    rng, runs, held = np.random.default_rng(13), 40, 0
    credits = {"pass": any_right(2 * n), "all": all_right(2 * n)}
    for _ in range(runs):
        p = truth(rng, questions)
        counts = Counts(np.full(questions, n), rng.binomial(n, p))
        found = Hierarchical(counts, credits).intervals(np.arange(questions), 0.95)
        truths = {"pass": pass_at(2 * n, p), "all": np.mean(p ** (2 * n))}
        held += sum(found[key].lo <= truths[key] <= found[key].hi for key in credits)
    assert held >= 0.95 * 2 * runs - 4 * math.sqrt(0.95 * 0.05 * 2 * runs)


# --- Errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "k", "options", "message"),
    [
        ([[1], [0]], 1, {"interval": "sampling"}, "There is one sample of each question"),
        ([[1], [0]], 1, {"interval": "hierarchical"}, "There is one sample of each question"),
        ([[1, 0, 1]], 1, {"interval": "questions"}, "There is one question, or one source"),
        (
            [[1, 0], [0, 1]],
            1,
            {"interval": "questions", "clusters": ["x", "x"]},
            "There is one question, or one source",
        ),
        ([[1, 0]], 1, {"interval": "bayes"}, "interval has 'bayes', which is none of posterior"),
        ([[1, 0]], 1, {"interval": "sampling", "clusters": ["x"]}, "clusters are for interval="),
        (
            [[1, 0], [0, 1]],
            1,
            {"interval": "questions", "clusters": ["x"]},
            "clusters has 1 labels for 2 questions",
        ),
        ([[1, 0]], 4, {"interval": "sampling"}, "k is 4, but question 0 has n = 2"),
        ([[1, 0]], 4, {"interval": "questions"}, "k is 4, but question 0 has n = 2"),
        ([[1, 0]], 4, {"interval": "auto", "include": "Geom@k"}, "Geom@4 is a blend"),
        ([[1, 0]], 2, {"interval": "hierarchical", "include": "Geom_ds@k"}, "Geom_ds@2 is a blend"),
    ],
)
def test_what_has_no_interval_is_said(ask, outcomes, k, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ask(outcomes, k, **options)


KNOWN = {
    "gpassk": ("posterior", "sampling", "questions", "hierarchical", "auto"),
    "bayes_at_n": ("posterior", "sampling", "questions", "hierarchical", "auto"),
    "max_at_k": ("posterior", "sampling", "questions", "hierarchical", "auto"),
    "cons_at_k": ("posterior", "sampling", "questions", "auto"),
    "score_agg": ("questions",),
}


@pytest.mark.parametrize("interval", ["posterior", "sampling", "questions", "hierarchical", "auto"])
@pytest.mark.parametrize("name", ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"])
def test_all_that_is_told_are_plain_floats_and_texts(name, interval):
    """So that JSON holds it as it is."""
    bank = [[0.0, 1.0, 0.5], [0.5, 0.5, 1.0]] if name == "score_agg" else [[0, 1, 1], [0, 0, 1]]
    options = {"predictions": bank, "interval": interval, "confidence": 0.9, "groups": ["a", "a"]}
    if name in ("gpassk", "max_at_k"):
        options |= {"k": [1, 2]}
    if interval in KNOWN[name]:
        told = at_k.load(name).compute(**options)
        assert any(key.endswith("_lo") for key in told)
        assert {type(value) for value in told.values()} <= {float, str}
    else:
        with pytest.raises(ValueError, match="interval has"):
            at_k.load(name).compute(**options)
