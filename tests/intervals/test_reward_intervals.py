"""Intervals of rewards: exact variances, ends within the rewards, and what they hold."""

import itertools
import math
from fractions import Fraction

import at_k
import numpy as np
import pytest
from at_k.inputs.outcomes import read_outcomes
from at_k.intervals.questions import between, within
from at_k.intervals.reward_distributions import Laws, Levels, best_covariance, best_mean
from at_k.scores.rewards import Rewards, number_rewards
from hypothesis import given, settings
from hypothesis import strategies as st

# --- Moments of laws --------------------------------------------------------------------


def mean_of_best(rewards: tuple[Fraction, ...], k: int) -> Fraction:
    best = [max(subset) for subset in itertools.combinations(rewards, k)]
    return sum(best, Fraction(0)) / len(best)


def enumerated_covariance(
    law: list[Fraction], levels: list[Fraction], n: int, j: int, k: int
) -> Fraction:
    """Of the mean best of j and of k, over all banks of n samples of a law."""
    one = two = both = Fraction(0)
    for places in itertools.product(range(len(law)), repeat=n):
        chance = math.prod((law[place] for place in places), start=Fraction(1))
        rewards = tuple(levels[place] for place in places)
        first, second = mean_of_best(rewards, j), mean_of_best(rewards, k)
        one, two, both = one + chance * first, two + chance * second, both + chance * first * second
    return both - one * two


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.data())
@settings(deadline=None, max_examples=25)
def test_variances_and_covariances_of_the_best_are_those_of_all_banks(weights, data):
    law = [Fraction(weight, sum(weights)) for weight in weights]
    steps = data.draw(st.lists(st.integers(1, 5), min_size=len(law) - 1, max_size=len(law) - 1))
    levels = [Fraction(x, sum(steps)) for x in itertools.accumulate(steps, initial=0)]
    n = data.draw(st.integers(2, 4))
    j, k = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
    below = [float(x) for x in itertools.accumulate(law)][:-1]
    log_odds = np.array([math.log((1 - x) / x) for x in below])
    gaps = np.diff(np.array(levels, dtype=float))
    wanted = float(enumerated_covariance(law, levels, n, j, k))
    assert best_covariance(log_odds, gaps, n, j, k) == pytest.approx(wanted, rel=1e-3)
    mean = sum(
        float(x) * (high**k - low**k)
        for x, low, high in zip(levels, [0.0, *below], [*below, 1.0], strict=True)
    )
    assert best_mean(log_odds, gaps, k) == pytest.approx(mean, rel=1e-12)


def test_of_one_draw_the_variance_is_that_of_a_mean():
    law, levels = np.array([0.2, 0.5, 0.3]), np.array([0.0, 0.25, 1.0])
    above = 1 - np.cumsum(law)[:-1]
    log_odds = np.log(above / (1 - above))
    one = law @ levels**2 - (law @ levels) ** 2
    for n in (2, 7, 100):
        found = best_covariance(log_odds, np.diff(levels), n, 1, 1)
        assert found == pytest.approx(one / n, rel=1e-3)


# --- How questions are spread ----------------------------------------------------------


def categories(counts) -> Rewards:
    """A bank of categories worth 0, 0.5 and 1."""
    counts = np.array(counts)
    one = np.ones(3, dtype=int)
    levels = np.array([0.0, 0.5, 1.0])
    return Rewards(np.arange(len(counts)), levels, np.cumsum(counts, axis=1), np.cumsum(one))


def spread_of(rewards: Rewards) -> Laws:
    found = Levels(rewards).spread(rewards.questions)
    assert found is not None
    return found


def test_the_learned_prior_is_split_by_the_number_of_samples():
    rng = np.random.default_rng(0)
    counts = [rng.multinomial(n, [0.5, 0.3, 0.2]) for n in [4] * 30 + [9] * 10]
    spread = spread_of(categories(counts))
    assert {n: round(prior.sum(), 3) for n, prior in spread.priors.items()} == {4: 0.75, 9: 0.25}


@pytest.mark.parametrize("law", [[0.1, 0.8, 0.1], [0.45, 0.1, 0.45], [0.9, 0.05, 0.05]])
def test_of_one_law_and_many_samples_the_spread_is_at_that_law(law):
    counts = np.random.default_rng(1).multinomial(200, law, 100)
    spread, levels = spread_of(categories(counts)), np.array([0.0, 0.5, 1.0])
    mean, square = law @ levels, law @ levels**2
    assert best_mean(spread.log_odds, spread.gaps, 1) @ spread.prior == pytest.approx(
        mean, abs=0.02
    )
    variance = best_covariance(spread.log_odds, spread.gaps, 200, 1, 1) @ spread.prior
    assert 200 * variance == pytest.approx(square - mean**2, rel=0.1)


def test_many_real_rewards_are_few_levels_of_the_same_mean():
    bank = np.random.default_rng(2).lognormal(size=(50, 20))
    found = Levels(number_rewards(read_outcomes(bank)))
    assert len(found.levels) < 60
    assert (np.diff(found.levels) > 0).all()
    assert (found.counts.sum(axis=1) == 20).all()
    assert found.counts.sum(axis=0) @ found.levels == pytest.approx(bank.sum(), rel=1e-12)
    assert found.levels[-1] == bank.max()  # the best are kept apart


# --- The intervals ------------------------------------------------------------------------


def ends(scores: dict, key: str) -> tuple[float, float]:
    return scores[f"{key}_lo"], scores[f"{key}_hi"]


@given(
    st.lists(
        st.lists(st.sampled_from([-2.5, 0.0, 0.5, 4.0]) | st.floats(-5, 5), min_size=2, max_size=7),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["sampling", "hierarchical", "auto"]),
)
@settings(deadline=None, max_examples=60)
def test_an_interval_is_around_the_score_and_within_the_rewards(bank, interval):
    n = min(map(len, bank))
    options = {"confidence": 0.95, "interval": interval}
    scores = at_k.load("max_at_k").compute(predictions=bank, k=sorted({1, 2, n}), **options)
    least, most = min(map(min, bank)), max(map(max, bank))
    for k in {1, 2, n}:
        lo, hi = ends(scores, f"max@{k}")
        centre = scores[f"max@{k}_mu"]
        assert least - 1e-9 <= lo <= centre + 1e-9
        assert centre - 1e-9 <= hi <= most + 1e-9
        if interval != "hierarchical":
            assert centre == pytest.approx(scores[f"max@{k}"], abs=1e-9)


@pytest.mark.parametrize("interval", ["sampling", "questions", "auto"])
def test_of_binary_outcomes_it_is_the_interval_of_pass_at_k(interval):
    rng = np.random.default_rng(4)
    bank = rng.binomial(1, rng.beta(0.4, 1.5, (60, 1)), (60, 12))
    options = {"predictions": bank, "k": [1, 4, 12], "confidence": 0.95, "interval": interval}
    best = at_k.load("max_at_k").compute(**options)
    passed = at_k.load("gpassk").compute(include="pass@k", **options)
    for k in (1, 4, 12):
        lo, hi = ends(passed, f"pass@{k}")
        assert ends(best, f"max@{k}") == pytest.approx((lo, hi), abs=0.02 * (hi - lo))
    average = at_k.load("bayes_at_n").compute(predictions=bank, interval=interval)
    assert ends(average, "avg@12") == pytest.approx(ends(best, "max@1"), abs=1e-12)


def test_of_binary_outcomes_more_draws_are_near_the_hierarchy_of_pass_at_k():
    rng = np.random.default_rng(5)
    bank = rng.binomial(1, rng.beta(0.4, 1.5, (60, 1)), (60, 12))
    options = {"predictions": bank, "k": 48, "confidence": 0.95, "interval": "hierarchical"}
    best = at_k.load("max_at_k").compute(**options)
    passed = at_k.load("gpassk").compute(include="pass@k", **options)
    lo, hi = ends(passed, "pass@48")
    assert best["max@48"] == pytest.approx(passed["pass@48"], abs=0.01)
    assert ends(best, "max@48") == pytest.approx((lo, hi), abs=0.25 * (hi - lo))


@pytest.mark.parametrize("interval", ["sampling", "hierarchical"])
def test_rewards_on_another_scale_have_the_interval_on_that_scale(interval):
    rng = np.random.default_rng(6)
    bank = rng.normal(size=(12, 1)) + rng.normal(size=(12, 6))
    options = {"k": [1, 3, 6], "confidence": 0.9, "interval": interval}
    plain = at_k.load("max_at_k").compute(predictions=bank, **options)
    other = at_k.load("max_at_k").compute(predictions=1000 * bank - 7, **options)
    for k in (1, 3, 6):
        wanted = [1000 * x - 7 for x in ends(plain, f"max@{k}")]
        assert ends(other, f"max@{k}") == pytest.approx(wanted, abs=1.0)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=30))
@settings(deadline=None, max_examples=40)
def test_an_average_is_not_surer_than_its_samples(bank):
    """Its standard deviation is at least that of the unbiased variance of each question's mean."""
    worth = [0.0, 0.1, 0.7, 1.0]
    rewards = np.array(worth)[np.array(bank)]
    least = math.sqrt(rewards.var(axis=1, ddof=1).sum() / 4) / len(bank)
    scores = at_k.load("bayes_at_n").compute(predictions=bank, w=worth, interval="sampling")
    assert scores["avg@4_sigma"] >= 0.999 * least


def test_a_higher_confidence_makes_a_longer_interval_and_more_questions_a_shorter_one():
    rng = np.random.default_rng(7)
    bank = rng.integers(0, 3, (40, 6))
    options = {"k": 4, "w": [0.0, 0.5, 1.0]}
    for interval in ("sampling", "hierarchical"):
        lengths = []
        for questions, confidence in ((40, 0.5), (40, 0.95), (10, 0.95), (10, 0.999)):
            scores = at_k.load("max_at_k").compute(
                predictions=bank[:questions], confidence=confidence, interval=interval, **options
            )
            lengths.append(scores["max@4_hi"] - scores["max@4_lo"])
        assert lengths == sorted(lengths)


def test_where_all_samples_are_the_worst_the_interval_ends_at_some_four_of_all_samples():
    """0 of 1,600 successes: 3.7 of them are the exact end for two categories (Clopper-Pearson)."""
    for worth in ([0.0, 1.0], [0.0, 0.5, 1.0]):
        bank = np.zeros((100, 16), dtype=int)
        scores = at_k.load("bayes_at_n").compute(predictions=bank, w=worth, interval="auto")
        assert scores["avg@16_lo"] == 0
        assert 2.5 / 1600 < scores["avg@16_hi"] < 5 / 1600


def test_of_samples_that_are_all_the_same_real_reward_nothing_varies():
    bank, options = [[0.5, 0.5, 0.5]] * 4, {"k": [1, 3], "confidence": 0.95}
    scores = at_k.load("max_at_k").compute(predictions=bank, interval="auto", **options)
    assert all(value == 0.5 for key, value in scores.items() if key.endswith(("_lo", "_hi")))
    assert scores["max@3"] == 0.5


def test_bounds_cut_every_interval():
    bank, worth = [[0, 1, 2, 2], [1, 1, 0, 2], [0, 0, 1, 2]], [0.0, 0.5, 1.0]
    for interval in ("posterior", "sampling", "hierarchical", "questions"):
        scores = at_k.load("bayes_at_n").compute(
            predictions=bank, w=worth, interval=interval, bounds=(0.5, 0.6)
        )
        assert ends(scores, "avg@4")[0] >= 0.5, interval
        assert ends(scores, "avg@4")[1] <= 0.6, interval


def test_wide_and_endless_bounds_are_where_rewards_may_be():
    bank = [[0.2, 0.4, 0.3, 0.8], [0.7, 0.6, 0.2, 0.5]]
    told = {}
    for bounds in (None, (-math.inf, math.inf), (0.0, 1.0), (0.45, 0.55), (2.0, 3.0)):
        scores = at_k.load("max_at_k").compute(
            predictions=bank, k=1, confidence=0.95, interval="sampling", bounds=bounds
        )
        told[bounds] = ends(scores, "max@1")
    assert told[None] == told[-math.inf, math.inf]
    assert told[0.0, 1.0] == pytest.approx(told[None], abs=0.1)
    assert told[0.45, 0.55][0] == max(0.45, told[None][0])
    assert told[2.0, 3.0] == (2.0, 2.0)


def test_groups_have_the_intervals_that_they_have_alone():
    rng = np.random.default_rng(8)
    bank, groups = rng.integers(0, 3, (20, 5)), ["odd", "even"] * 10
    options = {"w": [0.0, 0.5, 1.0], "k": [1, 3, 10], "confidence": 0.95, "interval": "auto"}
    scores = at_k.load("max_at_k").compute(predictions=bank, groups=groups, **options)
    alone = at_k.load("max_at_k").compute(predictions=bank[::2], **options)
    for k in (1, 3, 10):
        assert ends(scores, f"odd/max@{k}") == pytest.approx(ends(alone, f"max@{k}"), abs=5e-3)
    assert ends(scores, "odd/max@3") == pytest.approx(ends(alone, "max@3"), abs=1e-12)


def test_the_score_of_more_draws_rises_with_them_and_stays_within_the_rewards():
    bank = np.random.default_rng(9).integers(0, 3, (30, 4))
    options = {"w": [0.0, 0.5, 1.0], "confidence": 0.95, "interval": "hierarchical"}
    scores = at_k.load("max_at_k").compute(
        predictions=bank, k=[4, 8, 64, 1000], return_per_question=True, **options
    )
    values = [scores[f"max@{k}"] for k in (4, 8, 64, 1000)]
    assert values == sorted(values)
    assert values[-1] <= 1
    own = scores["per_question"]["max@64"]
    assert sum(own) / 30 == pytest.approx(scores["max@64"])


def test_up_to_n_a_hierarchical_interval_is_around_the_unbiased_score_of_real_rewards():
    rng = np.random.default_rng(10)
    rates = rng.uniform(0.1, 0.9, (150, 1))
    bank = rng.beta(8 * rates, 8 - 8 * rates, (150, 24))
    options = {"k": [1, 6, 24], "confidence": 0.95, "interval": "hierarchical"}
    scores = at_k.load("max_at_k").compute(predictions=bank, **options)
    for k in (1, 6, 24):
        lo, hi = ends(scores, f"max@{k}")
        assert lo < scores[f"max@{k}"] < hi
        assert hi - lo < 0.1


def test_a_score_that_n_samples_hardly_tell_of_has_a_wide_interval():
    """Of questions that never scored in 4 samples, the best of 400 may be anything, or nearly."""
    bank = np.zeros((20, 4), dtype=int)
    bank[:3, 0] = 2
    options = {"w": [0.0, 0.5, 1.0], "confidence": 0.95, "interval": "auto"}
    scores = at_k.load("max_at_k").compute(predictions=bank, k=[1, 400], **options)
    lo, hi = ends(scores, "max@400")
    assert hi - lo > 0.5
    assert scores["max@400_interval"] == "hierarchical"


# --- New questions ----------------------------------------------------------------------


@given(st.floats(0, 1), st.floats(0, 0.2), st.integers(1, 200), st.floats(0.5, 5))
def test_an_interval_of_new_questions_is_within_the_limits(u, variance, questions, reach):
    mean = -1 + 3 * u
    lo, hi = within(mean, variance, questions, (-1.0, 2.0), reach)
    assert -1 <= lo <= mean + 1e-12
    assert mean - 1e-12 <= hi <= 2


def test_of_scores_of_0_and_1_it_is_wilsons_interval():
    u, z, n = 0.3, 1.959963984540054, 1600
    lo, hi = within(u, u * (1 - u) / n, n, (0.0, 1.0), z)
    middle, arm = u + z * z / 2 / n, z * math.sqrt(u * (1 - u) / n + z * z / 4 / n**2)
    assert (lo, hi) == pytest.approx(
        ((middle - arm) / (1 + z * z / n), (middle + arm) / (1 + z * z / n)), rel=1e-3
    )


def test_questions_of_one_source_count_as_one():
    score = np.array([0.1, 0.5, 0.9, 0.4])
    variance, reach = between(score, np.arange(4), 0.95)
    assert variance == pytest.approx(np.var(score, ddof=1) / 4)
    doubled = np.repeat(score, 2)
    assert between(doubled, np.repeat(np.arange(4), 2), 0.95) == pytest.approx((variance, reach))
    with pytest.raises(ValueError, match="one source of questions"):
        between(score, np.zeros(4), 0.95)


def coverage(metric: str, interval: str, draw, truth: float, options: dict) -> float:
    loaded, rng, held = at_k.load(metric), np.random.default_rng(0), 0
    for _ in range(200):
        scores = loaded.compute(predictions=draw(rng), interval=interval, **options)
        held += _holds(scores, truth)
    return held / 200


def _holds(scores: dict, truth: float) -> bool:
    lo = next(value for key, value in scores.items() if key.endswith("_lo"))
    hi = next(value for key, value in scores.items() if key.endswith("_hi"))
    return lo <= truth <= hi


RARE = np.random.default_rng(1).beta(0.3, 6, 60)


def test_intervals_of_rare_successes_hold_the_mean_where_the_posterior_does_not():
    def draw(rng):
        return rng.binomial(1, RARE[:, None], (60, 8))

    options: dict = {"confidence": 0.95}
    assert coverage("bayes_at_n", "posterior", draw, RARE.mean(), options) < 0.2
    assert 0.91 <= coverage("bayes_at_n", "auto", draw, RARE.mean(), options) <= 0.99


def test_intervals_of_the_best_reward_hold_it():
    means = np.random.default_rng(2).normal(size=(40, 1))
    many = np.random.default_rng(3).normal(size=(4, 200_000)).max(axis=0)
    truth = means.mean() + many.mean()  # the best of 4 normal rewards, exactly enough

    def draw(rng):
        return means + rng.normal(size=(40, 16))

    assert 0.91 <= coverage("max_at_k", "auto", draw, truth, {"k": 4, "confidence": 0.95}) <= 1.0


@pytest.mark.parametrize(
    ("metric", "bank", "options", "message"),
    [
        ("max_at_k", [[0.1], [0.5]], {"k": 1, "interval": "sampling"}, "There is one sample of"),
        ("max_at_k", [[0], [1]], {"k": 2, "interval": "hierarchical"}, "tells nothing of more"),
        (
            "max_at_k",
            [[0.1], [0.5]],
            {"k": 2, "interval": "hierarchical"},
            "k is 2, but question 0",
        ),
        ("max_at_k", [[0.1], [0.5]], {"k": 2, "interval": "sampling"}, "k is 2, but question 0"),
        ("max_at_k", [[0.1, 0.5]], {"k": 1, "interval": "questions"}, "There is one question"),
        ("bayes_at_n", [[1], [0]], {"interval": "sampling"}, "There is one sample of each"),
        ("bayes_at_n", [[1], [0]], {"interval": "bayes"}, "none of posterior, sampling"),
        ("bayes_at_n", [[1], [0]], {"clusters": ["a", "b"]}, "clusters are for"),
        ("score_agg", [[1.0], [0.0]], {"interval": "sampling"}, "none of questions"),
        ("score_agg", [[1.0], [0.0]], {"clusters": ["a"]}, "1 labels for 2 questions"),
    ],
)
def test_an_interval_that_cannot_be_had_is_refused(metric, bank, options, message):
    with pytest.raises(ValueError, match=message):
        at_k.load(metric).compute(predictions=bank, confidence=0.9, **options)


def test_questions_that_are_there_twice_tell_no_more_than_once():
    bank = np.random.default_rng(3).integers(0, 3, (12, 5))
    options = {"k": [1, 5], "w": [0.0, 0.5, 1.0], "confidence": 0.95, "interval": "questions"}
    once = at_k.load("max_at_k").compute(predictions=bank, **options)
    twice = at_k.load("max_at_k").compute(
        predictions=np.repeat(bank, 2, axis=0),
        clusters=[f"source {i // 2}" for i in range(24)],
        **options,
    )
    for k in (1, 5):
        (lo, hi), found = ends(once, f"max@{k}"), ends(twice, f"max@{k}")
        assert found == pytest.approx((lo, hi), abs=0.1 * (hi - lo))


def test_auto_says_what_it_took():
    max_at_k = at_k.load("max_at_k")
    bank, options = [[0, 2, 1, 2], [1, 1, 2, 0]], {"confidence": 0.9, "w": [0.1, 0.5, 0.9]}
    scores = max_at_k.compute(predictions=bank, k=[2, 4, 5], interval="auto", **options)
    assert [scores[f"max@{k}_interval"] for k in (2, 4, 5)] == [
        *("sampling", "sampling", "hierarchical")
    ]
    for interval, k in (("sampling", 4), ("hierarchical", 5)):
        alone = max_at_k.compute(predictions=bank, k=k, interval=interval, **options)
        assert ends(alone, f"max@{k}") == pytest.approx(ends(scores, f"max@{k}"), abs=1e-12)
    single = max_at_k.compute(predictions=[[0], [2]], k=[1, 2], interval="auto", **options)
    assert (single["max@1_interval"], single["max@2_interval"]) == ("questions", "none")
    assert ends(single, "max@2") == (0.1, 0.9)
    single = max_at_k.compute(predictions=[[1]], k=1, interval="auto", **options)
    assert (single["max@1_interval"], *ends(single, "max@1")) == ("none", 0.1, 0.9)
