"""Weights of samples against enumeration, policy gradients in closed form, and published ones."""

import itertools
import math
from fractions import Fraction

import at_k
import numpy as np
import pytest
from conftest import ROOT
from exact import advantages as by_enumeration

BASELINES = ("none", "marginal", "leave-one-out", "centered")
NAMES = ("pass@k", "pass^k", "maj@k", "AUC@k", "mG-Pass@k", "G-Pass@k_0.6")


def check(rewards, k, score, baseline, normalize=None):
    weights = at_k.advantages([rewards], k, score, baseline, normalize=normalize)[0]
    expected = by_enumeration(rewards, k, score, baseline, normalize)
    scale = max(1e-300, *map(abs, rewards))
    assert weights == pytest.approx(expected, rel=1e-13, abs=1e-15 * scale), (rewards, k, score)


# --- Against enumeration ------------------------------------------------------------------


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("score", NAMES)
def test_binary_scores_are_sums_over_all_subsets(score, baseline):
    for n, c in [(size, c) for size in (1, 2, 5, 7) for c in range(size + 1)]:
        rewards = np.random.default_rng(c).permutation([1] * c + [0] * (n - c)).tolist()
        for k in range(1, n + (baseline in ("none", "marginal"))):
            check(rewards, k, score, baseline)


@pytest.mark.parametrize("score", ["pass@k", "maj@k", "max@k"])
def test_a_trainer_that_subtracts_the_mean_over_all_samples_subtracts_that_of_the_scored_ones(
    score,
):
    """An unscored sample has the advantage 0 there, and changes none of the others."""
    prompts = [[1, 0, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0]]
    gaps: list[list[int | None]] = [[None, 1, 0, 0], [0, 1, None, 1, 0, None, 1], [1, 1, 0, 0]]
    of_scored = [by_enumeration(row, 2, score, "centered") for row in prompts]
    flat = [x for row in gaps for x in row]
    order = np.random.default_rng(5).permutation(len(flat)).tolist()
    ids = [prompt for prompt, row in enumerate(gaps) for _ in row]
    shuffled, groups = [flat[i] for i in order], [ids[i] for i in order]
    weights_of_flat = at_k.advantages(shuffled, 2, score, "centered", groups=groups)
    of_flat = dict(zip(order, weights_of_flat, strict=True))
    for weights in (
        at_k.advantages(gaps, 2, score, "centered"),
        [[of_flat[i] for i in range(len(flat)) if ids[i] == prompt] for prompt in range(3)],
    ):
        for row, given_row, scored in zip(weights, gaps, of_scored, strict=True):
            advantages = np.array(row) - np.mean(row)
            rest = iter(np.array(scored) - np.mean(scored))
            expected = [0.0 if reward is None else next(rest) for reward in given_row]
            np.testing.assert_allclose(advantages, expected, rtol=1e-12, atol=1e-15)
    standardized = at_k.advantages(gaps, 2, score, "centered", normalize="std")
    assert standardized == at_k.advantages(gaps, 2, score, normalize="std")


def test_credits_of_any_size():
    credits = [0.5, 0.0, 2.0, 0.125]
    for c, baseline in itertools.product(range(7), BASELINES):
        check([1] * c + [0] * (6 - c), 4, credits, baseline)
        check([1] * c + [0] * (6 - c), 4, credits, "none", "std")
    np.testing.assert_array_equal(
        at_k.advantages([[1, 0, 1]], 2, np.array([1.0, 0.0])), at_k.advantages([[1, 0, 1]], 2)
    )


@pytest.mark.parametrize("baseline", BASELINES)
def test_the_maximum_is_a_sum_over_all_subsets(baseline):
    random = np.random.default_rng(0)
    for n in (1, 2, 3, 6, 9):
        rows = [
            random.normal(size=n),
            random.integers(-2, 2, n),  # with ties
            np.full(n, 0.7),
            1e6 + random.normal(size=n),
            np.append(random.normal(size=n - 1), 1e9),
        ]
        for row, k in itertools.product(rows, range(1, n + (baseline in ("none", "marginal")))):
            check(row.tolist(), k, "max@k", baseline)


@pytest.mark.parametrize("score", [*NAMES, "max@k"])
def test_standardized_weights_are_deviations_over_all_subsets(score):
    random = np.random.default_rng(1)
    for n, k in ((1, 1), (3, 1), (5, 2), (7, 4), (7, 6), (6, 6)):
        for c in range(n + 1):
            rewards = [1] * c + [0] * (n - c)
            if score == "max@k":
                rewards = (random.normal(size=n) if c % 2 else random.integers(0, 3, n)).tolist()
            check(rewards, k, score, "none", "std")


def test_equal_rewards_have_equal_weights():
    rewards = np.random.default_rng(2).integers(0, 4, (50, 9)) / 3 - 0.1
    for baseline, normalize in [*itertools.product(BASELINES, [None]), ("none", "std")]:
        weights = at_k.advantages(rewards, 4, "max@k", baseline, normalize=normalize)
        for row, result in zip(rewards, weights, strict=True):
            assert len(set(zip(row, result, strict=True))) == len(set(row))


def test_many_samples_neither_overflow_nor_lose_digits():
    n, k = 1024, 512
    for c in (1, 3, 500, 1000, 1024):
        rewards = [1] * c + [0] * (n - c)
        correct = Fraction(math.comb(n - c, k - 1), math.comb(n, k))
        weights = at_k.advantages([rewards], k)[0]
        assert weights[0] == pytest.approx(float(correct), rel=1e-12)
        assert weights[-1] == (0 if c < n else weights[0])
        no_other = Fraction(math.comb(n - 1 - c, k - 1), math.comb(n - 1, k - 1)) if c < n else 0
        weights = at_k.advantages([rewards], k, baseline="none")[0]
        assert weights[0] == pytest.approx(k / n, rel=1e-14)
        if c < n:
            assert weights[-1] == pytest.approx(float(k / n * (1 - no_other)), rel=1e-12)
            rho = Fraction(math.comb(n - c, k), math.comb(n, k))  # 1 - pass@k
            expected = math.sqrt(rho / (1 - rho))
            std = at_k.advantages([rewards], k, normalize="std")[0]
            assert std[0] == pytest.approx(expected, rel=1e-10), c
    ranked = [float(i) for i in range(n)]
    top = at_k.advantages([ranked], k, "max@k")[0][-1]
    shares = (Fraction(math.comb(j, k - 2), math.comb(n, k)) for j in range(n - 1))
    assert top == pytest.approx(
        float(sum(x * (n - 1 - j) for j, x in enumerate(shares))), rel=1e-11
    )


def test_a_dict_of_k_is_a_weighted_sum():
    rewards = [[0.3, 0.1, 0.9, 0.4, 0.4]]
    for baseline in BASELINES:
        expected = sum(
            w * np.array(at_k.advantages(rewards, k, "max@k", baseline))
            for k, w in {1: 0.25, 3: 2.0}.items()
        )
        result = at_k.advantages(rewards, {1: 0.25, 3: 2.0}, "max@k", baseline)
        np.testing.assert_allclose(result, expected, rtol=1e-14)


# --- Published formulas -------------------------------------------------------------------


def test_theorems_of_walder_and_karkhanis():
    for n, c, k in ((8, 3, 4), (16, 1, 8), (5, 5, 2), (6, 0, 3)):
        rewards = np.array([[1.0] * c + [0.0] * (n - c)])
        rho = at_k.pass_at_k(np.repeat([1, 0], [c, n - 1 - c])[None], k - 1) if c < n else 1
        weights = at_k.advantages(rewards, k, baseline="none")[0]
        expected = [k / n] * c + [k / n * rho] * (n - c)
        np.testing.assert_allclose(weights, expected, rtol=1e-14)


def test_with_all_samples_only_the_best_has_a_weight():
    """The advantage of verl's `grpo_passk` before its normalisation: best less second best."""
    rewards = np.random.default_rng(6).normal(size=(20, 8))
    expected = np.zeros(rewards.shape)
    ranked = np.sort(rewards, axis=1)
    best, gap = rewards.argmax(axis=1)[:, None], (ranked[:, -1] - ranked[:, -2])[:, None]
    np.put_along_axis(expected, best, gap, axis=1)
    np.testing.assert_allclose(at_k.advantages(rewards, 8, "max@k"), expected, atol=1e-15)
    assert at_k.advantages([[1, 1, 0], [0, 1, 0]], 3) == [[0, 0, 0], [0, 1, 0]]


def test_rewards_that_differ_in_the_last_bit_are_ranked():
    ranks = np.random.default_rng(8).permuted(np.tile(np.arange(16), (50, 1)), axis=1)
    rewards = np.where(ranks == 0, 0, 1 + ranks * 2.0**-52)
    weights = at_k.advantages(rewards, 16, "max@k")
    np.testing.assert_array_equal(weights, (ranks == 15) * 2.0**-52)


def test_maximum_likelihood_weighs_a_correct_sample_by_the_inverse_of_their_number():
    for n, c in ((8, 1), (8, 3), (8, 8), (64, 17)):
        weights = at_k.advantages([[1] * c + [0] * (n - c)], {k: 1 / k for k in range(1, n + 1)})
        assert weights[0] == pytest.approx([1 / c] * c + [0] * (n - c), rel=1e-13)


def test_standardized_pass_at_k_is_that_of_chen_et_al_2025():
    for n, c, k in ((8, 2, 4), (8, 1, 1), (16, 5, 8), (10, 7, 3)):
        wrong = n - c
        mean = 1 - math.comb(wrong, k) / math.comb(n, k)
        std = math.sqrt(mean * (1 - mean))
        positive = (1 - mean) / std
        negative = (1 - mean - math.comb(wrong - 1, k - 1) / math.comb(n - 1, k - 1)) / std
        for baseline in BASELINES:
            rewards = [[1] * c + [0] * wrong]
            weights = at_k.advantages(rewards, k, "pass@k", baseline, normalize="std")
            assert weights[0] == pytest.approx([positive] * c + [negative] * wrong, rel=1e-12)


def test_a_prompt_without_variation_has_no_standardized_weight():
    rows = [[1] * 6, [0] * 6, [1, 1, 1, 1, 1, 0]]  # any 3 of the last contain a correct one
    assert at_k.advantages(rows, 3, normalize="std") == [[0.0] * 6] * 3
    top = [[0.3, 0.1, 0.7, 0.7, 0.7, 0.7]]  # any 3 contain 0.7
    assert at_k.advantages(top, 3, "max@k", normalize="std") == [[0.0] * 6]


# --- Policy gradients ---------------------------------------------------------------------


class Policy:
    """A softmax over three answers with rewards, and its exact gradient of the score of k."""

    logits = np.array([0.3, -0.5, 0.8])

    def __init__(self, rewards, value):
        self.p = np.exp(self.logits) / np.exp(self.logits).sum()
        self.rewards, self.value = np.array(rewards), value

    def gradient(self, k):
        """J is a sum over all k answers; d log p of an answer is its indicator less p."""
        total = np.zeros(3)
        for answers in itertools.product(range(3), repeat=k):
            probability = math.prod(self.p[list(answers)])
            of_log = np.bincount(answers, minlength=3) - k * self.p
            total += probability * self.value(self.rewards[list(answers)]) * of_log
        return total

    def steps(self, prompts, n, weigh):
        """(prompts, 3) estimates of the gradient, one of each prompt."""
        answers = np.random.default_rng(7).choice(3, (prompts, n), p=self.p)
        weights = weigh(self.rewards[answers])
        return (weights[..., None] * (np.eye(3)[answers] - self.p)).sum(axis=1)


BINARY = Policy([1.0, 1.0, 0.0], lambda rewards: rewards.max())
MAJORITY = Policy([1.0, 0.0, 0.0], lambda rewards: float(rewards.sum() > 1.5))
REAL = Policy([0.2, 1.5, -0.4], lambda rewards: rewards.max())
POLICIES = {"pass@k": BINARY, "maj@k": MAJORITY, "max@k": REAL}


def center(weights):
    return weights - weights.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("score", POLICIES)
def test_gradients_are_unbiased(score):
    policy, n, k = POLICIES[score], 6, 3
    expected, variances = policy.gradient(k), {}
    for baseline in BASELINES:

        def weigh(rewards, baseline=baseline):
            weights = at_k.advantages(rewards, k, score, baseline)
            return center(weights) if baseline == "centered" else weights

        steps = policy.steps(40_000, n, weigh)
        error = steps.std(axis=0) / math.sqrt(len(steps))
        assert np.all(np.abs(steps.mean(axis=0) - expected) < 4 * error), baseline
        assert np.all(error < 0.03 * np.abs(expected).max())
        variances[baseline] = steps.var(axis=0).sum()
    assert max(variances, key=variances.__getitem__) == "none"
    if score != "maj@k":
        assert variances["marginal"] < 0.8 * variances["none"]


def test_centering_other_weights_follows_other_objectives():
    """As the docstring warns: (1 - k/n) of the gradient, and a mixture of k and k - 1."""
    n, k = 6, 3
    for baseline, expected in (
        ("none", (1 - k / n) * BINARY.gradient(k)),
        ("marginal", BINARY.gradient(k) - k / n * (BINARY.gradient(k) - BINARY.gradient(k - 1))),
    ):
        steps = BINARY.steps(
            40_000, n, lambda rewards, b=baseline: center(at_k.advantages(rewards, k, baseline=b))
        )
        error = steps.std(axis=0) / math.sqrt(len(steps))
        assert np.all(np.abs(steps.mean(axis=0) - expected) < 4 * error), baseline


def test_training_on_pass_at_8_raises_it_and_training_on_pass_at_1_does_not(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "benchmarks")
    from pictures import STEPS, train

    by_1, by_8 = train(1), train(8)
    assert by_1[0]["pass@8"] == by_8[0]["pass@8"] == pytest.approx(1 - (15 / 16) ** 8)
    assert by_1[STEPS]["pass@8"] == pytest.approx(0.41, abs=0.02)
    assert by_8[STEPS]["pass@8"] > 0.89
    assert by_1[STEPS]["pass@1"] > by_8[STEPS]["pass@1"] + 0.1
