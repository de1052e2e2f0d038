"""Random calls of the public functions and metrics, and what each of them has to give.

    python tests/generated_calls.py 50000 [SEED] [--tensors]

A call gives the result of brute force in fractions (see `exact`), whatever container holds its
outcomes. A tenth as many calls have an argument that makes no sense: these give a result, or a
ValueError or TypeError that names an argument. With --tensors, outcomes also come as tensors of
torch and arrays of JAX, which have to be installed. Each call takes less than five seconds of CPU
time.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from inspect import signature
from operator import attrgetter
from typing import Any, NamedTuple

import at_k
import at_k.charts
import at_k.testing
import exact
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from container_types import TYPES, Type, can_hold, tensor_types
from scipy import stats

Random = np.random.Generator
Rows = list[Any]
"""Lists of outcomes, rewards or answers."""
Options = dict[str, Any]
MEANS = {
    "pass_at_k": "pass@k",
    "pass_hat_k": "pass^k",
    "unanimous_at_k": "pass^k",
    "g_pass_at_k": "pass^k",
    "g_pass_at_k_tau": "G-Pass@k",
    "mg_pass_at_k": "mG-Pass@k",
    "auc_at_k": "AUC@k",
    "maj_at_k": "maj@k",
    "threshold_spectrum_at_k": "Spectrum@k",
}
PRODUCTS = ("geom_at_k", "geom_ds_at_k", "geo_spectrum_at_k", "geo_spectrum_star_at_k")
SCORES = ("pass@k", "pass^k", "mG-Pass@k", "maj@k", "AUC@k", "G-Pass@k")
TAUS = [0.28, 0.5, 1.0]
LIMITS: dict[str, list[Any]] = {
    "confidence": [0.5, 0.9, 0.99, np.float32(0.75), np.array(0.8)],
    "bounds": [None, (0.0, 1.0), (0.25, 0.75), [0, 1]],
}
PRIOR = {name: [0.5, 1.0, 2.0, 3.25] for name in ("alpha0", "beta0")}


class Call(NamedTuple):
    """A call of a function, or of `compute` of a metric, and the result that it should have.

    Attributes:
        name: of the function in at_k, or of the metric after "metric ".
        rows: the first argument.
        options: all others.
        expected: the result, or the type of an error. None agrees with all but an error.
        has_more: whether the result may have other keys.
        relative: tolerance of numbers.
        absolute: tolerance of numbers.
        within: the range that limits are in.
        contains: whether limits contain their number.
        excuse: what an error says that is as good as a result.
        types: whether the rows may come in a container of any type.
    """

    name: str
    rows: Any
    options: Options
    expected: Any = None
    has_more: bool = False
    relative: float = 1e-9
    absolute: float = 1e-12
    within: tuple[float, float] | None = None
    contains: bool = False
    excuse: str | None = None
    types: bool = True


# --- Random arguments -------------------------------------------------------------------


def random_rows(rng: Random, categories: int = 2, least: int = 1) -> Rows:
    """Return outcomes of 1 to 5 questions. One half is ragged, and a fifth has None."""
    questions, n = int(rng.integers(1, 6)), int(rng.integers(least, 9))
    sizes = rng.integers(least, 9, questions) if rng.random() < 0.5 else [n] * questions
    # Questions with only one outcome are frequent in practice, and rare in uniform outcomes.
    rates = rng.dirichlet([0.5] * categories, questions)
    rows = [rng.choice(categories, n, p=p).tolist() for n, p in zip(sizes, rates, strict=True)]
    if rng.random() < 0.2:
        for row in rows:
            if len(row) > least and rng.random() < 0.5:
                row[int(rng.integers(len(row)))] = None
    return rows


def random_rewards(rng: Random) -> Rows:
    """Return real rewards that every type of float represents exactly, one of them 0.625."""
    rows = [
        [value if value is None else float(rng.integers(-8, 9)) / 8 for value in row]
        for row in random_rows(rng)
    ]
    first = next(i for i, value in enumerate(rows[0]) if value is not None)
    rows[0][first] = 0.625
    return rows


def scored(rows: Rows) -> Rows:
    return [[value for value in row if value is not None] for row in rows]


def random_k(rng: Random, *runs: Rows) -> int:
    return int(rng.integers(1, min(len(row) for rows in runs for row in scored(rows)) + 1))


def some_of(rng: Random, choices: dict[str, list[Any]], share: float = 0.5) -> Options:
    """Return some of the options, each with one of its values."""
    return {
        name: values[rng.integers(len(values))]
        for name, values in choices.items()
        if rng.random() < share
    }


def random_weights(rng: Random, k: int) -> list[float]:
    """Return k weights of a spectrum, multiples of 1/64 with a sum of at most 1."""
    parts = np.floor(rng.dirichlet([1.0] * (k + 1)) * 64) / 64
    return parts[:k].tolist()


def random_averaging(rng: Random, size: int) -> tuple[Options, list[Fraction]]:
    """Return options for a number of questions, and the weight of each that they amount to."""
    weights = [Fraction(1)] * size
    options: Options = {}
    if rng.random() < 0.5:
        numbers = rng.integers(0, 6, size)
        numbers[rng.integers(size)] = 1
        factor = float(rng.choice([1, 0.1, 1e20, 1e-20]))
        options["question_weights"] = (numbers * factor).tolist()
        weights = [*map(Fraction, options["question_weights"])]
    if rng.random() < 0.4:
        labels = rng.choice(["a", "b", "c"], size).tolist()
        sums = {x: sum(w for w, y in zip(weights, labels, strict=True) if x == y) for x in labels}
        if all(sums.values()):
            options |= {"groups": labels, "average": "groups"}
            weights = [w / sums[label] for w, label in zip(weights, labels, strict=True)]
    return options, weights


def random_rates(rng: Random) -> tuple[float, float]:
    return float(rng.integers(60, 101) / 100), float(rng.integers(0, 41) / 100)


# --- Functions of binary outcomes -------------------------------------------------------


def function_call(rng: Random) -> Call:
    name = str(rng.choice([*MEANS, *PRODUCTS]))
    rows = random_rows(rng)
    has_limits = rng.random() < 0.5
    is_spectrum = name == "threshold_spectrum_at_k"
    takes_any_k = has_limits and (is_spectrum or name in PRODUCTS)
    k = int(rng.integers(1, 9)) if takes_any_k else random_k(rng, rows)
    options: Options = {"k": k}
    values = second = () if is_spectrum else exact.values_of(MEANS.get(name, "pass@k"), k)
    a, b = 1.0, 0.0  # the powers of the two scores
    if name == "g_pass_at_k_tau":
        tau = float(rng.choice([0.0, 0.25, 0.28, 0.5, 0.6, 0.75, 0.9, 1.0]))
        values = second = exact.values_of("G-Pass@k", k, tau)
        # The tolerance of a threshold is above the error of a single-precision number.
        options["tau"] = [tau, np.float64(tau), np.float32(tau), np.array(tau)][rng.integers(4)]
    elif is_spectrum:
        weights = random_weights(rng, k)
        values = second = exact.values_of("Spectrum@k", k, weights=tuple(weights))
        options["weights"] = [weights, tuple(weights), np.array(weights)][rng.integers(3)]
    elif name in ("geom_at_k", "geom_ds_at_k"):
        second = exact.values_of("pass^k", k)
        a = float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.5]))
        b = float(rng.choice([0.25, 0.5, 1.0, 2.5] if a == 0 else [0.0, 0.25, 0.5, 1.0, 2.5]))
        options |= {"pass_power": a, "unanimous_power": b}
    elif name == "geo_spectrum_star_at_k":
        second, a, b = exact.values_of("mG-Pass@k", k), 0.5, 0.5
    elif name == "geo_spectrum_at_k":
        second, a = exact.values_of("mG-Pass@k", k), float(rng.choice([0.0, 0.3, 0.5, 1.0]))
        b = 1 - a
        options["lam" if rng.random() < 0.5 else "lambda_"] = a
        if rng.random() < 0.5:
            weights = random_weights(rng, k)
            weights[-1] = weights[-1] or 1 / 64 if sum(weights) < 1 else weights[-1]
            second = exact.values_of("Spectrum@k", k, weights=tuple(weights))
            options["weights"] = weights
    if name in MEANS and not is_spectrum and rng.random() < 0.1:
        options["k"] = min(map(len, scored(rows))) + int(rng.integers(1, 3))
        return Call(f"{name}_ci" if has_limits else name, rows, options, ValueError)
    if has_limits:
        given, prior = some_of(rng, LIMITS), some_of(rng, PRIOR, 0.3)
        shape = prior.get("alpha0", 1.0), prior.get("beta0", 1.0)
        is_mean = name == "geom_at_k"
        expected = limits_of_product(scored(rows), (values, second), (a, b), shape, given, is_mean)
        return Call(f"{name}_ci", rows, options | given | prior, expected)
    pairs = [[exact.subset_mean(row, v) for v in (values, second)] for row in scored(rows)]
    if name != "geom_at_k":
        pairs = [[exact.mean_of(column) for column in zip(*pairs, strict=True)]]
    score = math.fsum(exact.product(x, y, a, b) for x, y in pairs) / len(pairs)
    return Call(name, rows, options, score)


def limits_of_product(rows, values, powers, prior, options, is_mean) -> tuple[float, ...] | None:
    """Return (mu, sigma, lo, hi) of a product, or None if the derivative at 0 is not defined.

    Args:
        is_mean: whether the score is the mean of the products of questions.
    """
    counts = [(len(row), sum(row)) for row in rows]
    u, v = values
    columns = [
        *([exact.posterior_mean(*x, prior, of) for x in counts] for of in values),
        *(
            [exact.posterior_covariance(*x, prior, *pair) for x in counts]
            for pair in ((u, u), (v, v), (u, v))
        ),
    ]
    moments = [*zip(*columns, strict=True)]
    if not is_mean:
        x, y, *covariances = map(exact.mean_of, columns)
        moments = [(x, y, *(value / len(rows) for value in covariances))]
    if powers[1] and any(y == 0 for _, y, *_ in moments):
        return None
    means = [exact.product(x, y, *powers) for x, y, *_ in moments]
    variances = [exact.variance_of_product(x, y, rest, *powers) for x, y, *rest in moments]
    mean, variance = math.fsum(means) / len(means), math.fsum(variances) / len(means) ** 2
    return summary(mean, variance, options)


def summary(mean, variance, options: Options, bounds=(0.0, 1.0)) -> tuple[float, ...]:
    """Return (mu, sigma, lo, hi) for the default bounds of the function."""
    confidence = float(options.get("confidence", 0.95))
    return exact.summary(mean, variance, confidence, options.get("bounds", bounds))


# --- Categories, rewards, verdicts and votes ----------------------------------------------


def posterior_of_categories(
    questions: Rows, prior: Rows, moments: Callable[[list[int]], Any], categories: int
) -> tuple[list[Fraction], list[Fraction]]:
    """Return what `moments` makes of the counts of each question and of its prior outcomes."""
    pairs = [
        moments([1 + [*row, *outcomes].count(j) for j in range(categories)])
        for row, outcomes in zip(questions, prior, strict=True)
    ]
    means, variances = map(list, zip(*pairs, strict=True))
    return means, variances


def mean_moments(
    name: str, questions: Rows, prior: Rows, rewards: list[float]
) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance of the mean reward: of bayes, or of avg without a prior."""
    means, variances = posterior_of_categories(
        questions,
        prior,
        lambda counts: exact.posterior_moments_of_mean(counts, rewards),
        len(rewards),
    )
    if name == "avg":
        sizes = [Fraction(len(row) + len(rewards), len(row)) for row in questions]
        variances = [v * s**2 for v, s in zip(variances, sizes, strict=True)]
        means = [exact.subset_mean_of_maximum([rewards[i] for i in row], 1) for row in questions]
    return exact.mean_of(means), exact.mean_of(variances) / len(questions)


def reward_call(rng: Random) -> Call:
    name = str(rng.choice(["bayes", "avg", "max_at_k"]))
    categories = int(rng.integers(2, 5))
    rows = random_rows(rng, categories)
    questions = scored(rows)
    rewards = (rng.integers(-8, 9, categories) / 4).tolist()
    options: Options = {"w": [rewards, np.array(rewards)][rng.integers(2)]}
    if categories == 2 and rng.random() < 0.5:
        rewards, options = [0.0, 1.0], {}
    has_limits = rng.random() < 0.5
    prior: Rows = [[] for _ in rows]
    if (name == "bayes" or (name == "max_at_k" and has_limits)) and rng.random() < 0.5:
        prior = rng.integers(0, categories, (len(rows), int(rng.integers(1, 4)))).tolist()
        flat = [value for row in prior for value in row]
        options["R0"] = [prior, np.array(prior), flat, tuple(flat)][rng.integers(4)]
    given = some_of(rng, LIMITS) if has_limits else {}
    if name != "max_at_k":
        mean, variance = mean_moments(name, questions, prior, rewards)
        if not has_limits:
            return Call(name, rows, options, (float(mean), math.sqrt(variance)))
        return Call(f"{name}_ci", rows, options | given, summary(mean, variance, given, None))
    options["k"] = k = int(rng.integers(1, 9)) if has_limits else random_k(rng, rows)
    if not has_limits:
        if rng.random() < 0.05:
            too_large = {"k": min(map(len, questions)) + int(rng.integers(1, 3))}
            return Call(name, rows, options | too_large, ValueError)
        values = [[rewards[category] for category in row] for row in questions]
        return Call(name, rows, options, mean_of_maxima(values, k))
    means, variances = posterior_of_categories(
        questions,
        prior,
        lambda counts: exact.posterior_moments_of_maximum(counts, rewards, k),
        len(rewards),
    )
    if k > 1:
        given["bounds"] = given.get("bounds") or (min(rewards), max(rewards))
    mean, variance = exact.mean_of(means), exact.mean_of(variances) / len(rows)
    return Call("max_at_k_ci", rows, options | given, summary(mean, variance, given, None))


def mean_of_maxima(rows: Rows, k: int) -> float:
    """Return the mean over questions of the mean maximum of k rewards."""
    return float(exact.mean_of([exact.subset_mean_of_maximum(row, k) for row in rows]))


def function_or_metric(
    rng: Random, name: str, rows: Rows, options: Options, key: str, score: float
) -> Call:
    """Return a call of a function, or of the metric of the same name without limits."""
    if rng.random() < 0.5:
        return Call(name, rows, options, score)
    return Call(f"metric {name}", rows, options | {"confidence": None}, {key: score})


def real_reward_call(rng: Random) -> Call:
    rows = random_rewards(rng)
    k = random_k(rng, rows)
    mean = mean_of_maxima(scored(rows), k)
    return function_or_metric(rng, "max_at_k", rows, {"k": k}, f"max@{k}", mean)


def score_agg_call(rng: Random) -> Call:
    rows = [
        [x if x is None else float(rng.choice([0.0, 0.25, 0.5, 0.75, 1.0])) for x in row]
        for row in random_rows(rng)
    ]
    options: Options = {
        "temperature": float(rng.choice([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.85, 1.0])),
        "penalty": float(rng.choice([0.0, 0.1, 0.25])),
        "eps_for_neg_p": float(rng.choice([1e-9, 1e-3])),
    }
    scores = [exact.score_agg(row, *options.values()) for row in scored(rows)]
    score = math.fsum(scores) / len(scores)
    return function_or_metric(rng, "score_agg", rows, options, "score_agg", score)


def share_above_half(rows: Rows, k: int) -> float:
    """Return cons@k: the share of questions with more than k/2 correct samples."""
    return sum(2 * sum(row) > k for row in rows) / len(rows)


def consensus_call(rng: Random) -> Call:
    rows = random_rows(rng)
    k = random_k(rng, rows)
    return Call("cons_at_k", rows, {"k": k}, share_above_half(scored(rows), k))


def vote_call(rng: Random) -> Call:
    questions = int(rng.integers(1, 6))
    rows = [rng.choice([*"abcd"], rng.integers(2, 7)).tolist() for _ in range(questions)]
    references = rng.choice([*"abcd"], questions).tolist()
    k = random_k(rng, rows)
    votes = []
    for row, reference in zip(rows, references, strict=True):
        counts = Counter(row)
        correct = [counts.pop(reference)] if reference in counts else []
        votes.append(exact.vote(correct, [*counts.values()], 0, k))
    options = {"references": references, "k": k, "include": "vote@k"}
    expected = {f"vote@{k}": float(exact.mean_of(votes))}
    return Call("metric cons_at_k", rows, options, expected, types=False)


# --- Metrics and comparisons ------------------------------------------------------------

TOO_FEW = "does not show how|one question, or one cluster"


def keys_and_values(name: str, k: int) -> dict[str, exact.Values]:
    """Return the keys of a score at k, and its values for 0 .. k correct samples."""
    if name == "G-Pass@k":
        return {f"G-Pass@{k}_{tau}": exact.values_of(name, k, tau) for tau in TAUS}
    return {name.replace("k", str(k)): exact.values_of(name, k)}


def weighted_score(rows: Rows, values: exact.Values, weights: list[Fraction]) -> float:
    """Return the weighted mean over questions of the mean over all subsets of k samples."""
    pairs = zip(weights, rows, strict=True)
    return float(sum(w * exact.subset_mean(row, values) for w, row in pairs) / sum(weights))


def gpassk_call(rng: Random) -> Call:
    """Return a call of gpassk, and all scores that it should have.

    Some calls have weights of questions, the rates of a checker, or limits of any kind.
    """
    rows = random_rows(rng)
    ks = sorted({random_k(rng, rows) for _ in range(2)})
    names = rng.choice(SCORES, int(rng.integers(1, 7)), replace=False).tolist()
    averaging, weights = random_averaging(rng, len(rows))
    options: Options = {"k": ks, "thresholds": TAUS, "include": names, **averaging}
    values = {key: x for name in names for k in ks for key, x in keys_and_values(name, k).items()}
    has_rates, has_limits = rng.random() < 0.25, rng.random() < 0.5
    expected: Options = {}
    if has_rates:
        options["checker_rates"] = t, f = random_rates(rng)
        rates = Fraction(t), Fraction(f)
        values = {key: exact.corrected_values(x, *rates) for key, x in values.items()}
        expected["checker"] = {"true_positive_rate": t, "false_positive_rate": f}
    if has_limits:
        options["confidence"] = 0.9
    if has_limits and not has_rates:
        kinds = ["sampling", "questions", "posterior", "hierarchical", "auto"]
        options["interval"] = str(rng.choice(kinds))
    expected |= {key: weighted_score(scored(rows), x, weights) for key, x in values.items()}
    call = Call("metric gpassk", rows, options, expected, has_more=True, within=(0, 1))
    return call._replace(
        relative=1e-8 if has_rates else 1e-9,
        contains=not has_rates,  # corrected estimates may leave the range
        excuse=TOO_FEW if has_limits else None,
    )


def comparison_call(rng: Random) -> Call:
    rows = random_rows(rng, least=2)
    other = [rng.integers(0, 2, rng.integers(2, 9)).tolist() for _ in rows]
    k, name = random_k(rng, rows, other), str(rng.choice(SCORES[:5]))
    averaging, weights = random_averaging(rng, len(rows))
    ((key, values),) = keys_and_values(name, k).items()
    a, b = (weighted_score(run, values, weights) for run in (scored(rows), other))
    expected = {key: b - a, f"{key}_a": a, f"{key}_b": b}
    options: Options = {"R_b": other, "metric": name, "k": k, **averaging}
    is_shown = len(rows) > 1 and not averaging
    options["interval"] = str(rng.choice(["sampling", "questions"]))
    call = Call("compare", rows, options, expected, has_more=True, within=(-1, 1), contains=True)
    return call._replace(excuse=None if is_shown else TOO_FEW)


def metric_call(rng: Random) -> Call:
    """Return a call of another metric with outcomes, and all scores that it should have."""
    name = str(rng.choice(["bayes_at_n", "max_at_k", "cons_at_k"]))
    rows = random_rows(rng)
    questions, k = scored(rows), random_k(rng, rows)
    sizes = {*map(len, questions)}
    size = sizes.pop() if len(sizes) == 1 else "n"
    ones = [Fraction(1)] * len(rows)

    def mean(score: str, k: int) -> float:
        return weighted_score(questions, exact.values_of(score, k), ones)

    if name == "max_at_k":
        ks = sorted({k, random_k(rng, rows)})
        expected = {f"max@{k}": mean("pass@k", k) for k in ks}
        return Call(f"metric {name}", rows, {"k": ks, "confidence": None}, expected)
    if name == "cons_at_k":
        expected = {
            f"cons@{k}": share_above_half(questions, k),
            f"avg@{size}": mean("pass@k", 1),
            f"pass@{k}": mean("pass@k", k),
            f"maj@{k}": mean("maj@k", k),
        }
        return Call(f"metric {name}", rows, {"k": k, "confidence": None}, expected)
    options = some_of(rng, LIMITS)
    # Without bounds, the metric clips its limits to the range of its rewards, 0 to 1; the
    # functions `bayes_ci` and `avg_ci` do not clip theirs.
    limits = options | {"bounds": options.get("bounds") or (0.0, 1.0)}
    expected = {}
    for key in ("bayes", "avg"):
        moments = mean_moments(key, questions, [[] for _ in rows], [0, 1])
        ends = zip(("", "_sigma", "_lo", "_hi"), summary(*moments, limits), strict=True)
        expected |= {f"{key}@{size}{end}": x for end, x in ends}
    return Call(f"metric {name}", rows, options, expected)


def budget_call(rng: Random) -> Call:
    """Return a call of gpassk with samples that stop at the first success."""
    budget = int(rng.integers(2, 9))
    rows = []
    for _ in range(int(rng.integers(1, 8))):
        first = int(rng.integers(1, budget + 3))  # above the budget: no success
        rows.append([0] * (first - 1) + [1] if first <= budget else [0] * budget)
    k = int(rng.integers(1, budget + 1))
    share = sum(1 in row[:k] for row in rows) / len(rows)
    options = {"k": k, "include": "pass@k", "budget": budget}
    return Call("metric gpassk", rows, options, {f"pass@{k}": share})


# --- Labels of samples, variances and advantages ------------------------------------------


def labels_call(rng: Random) -> Call:
    rows = [rng.integers(0, 2, 8).tolist() for _ in range(int(rng.integers(4, 12)))]
    t, f = rng.uniform(0.7, 1), rng.uniform(0, 0.3)
    labels = [
        [int(rng.random() < (t if x else f)) if rng.random() < 0.7 else None for x in row]
        for row in rows
    ]
    pairs = Counter(
        pair for two in zip(labels, rows, strict=True) for pair in zip(*two, strict=True)
    )
    tp, fn, fp, tn = (pairs[pair] for pair in ((1, 1), (1, 0), (0, 1), (0, 0)))
    k, as_counts = int(rng.integers(1, 4)), rng.random() < 0.5
    counts = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    options = {"k": k, "include": "pass@k", "labels": counts if as_counts else labels}
    # Too few labels to show that the checker is better than chance.
    excuse = "labels|do not allow a correction"
    call = Call("metric gpassk", rows, options, has_more=True, relative=1e-8)
    call = call._replace(excuse=excuse, types=False)
    if not (tp + fn and fp + tn and tp + fp and fn + tn):
        return call
    rates = [Fraction(tp, tp + fn), Fraction(fp, fp + tn)]
    if not as_counts:  # by Bayes' theorem from the shares of correct samples by verdict
        s = Fraction(sum(map(sum, rows)), 8 * len(rows))
        p, q = Fraction(tp, tp + fp), Fraction(fn, fn + tn)
        correct = s * p + (1 - s) * q
        if correct in (0, 1):
            return call
        rates = [s * p / correct, s * (1 - p) / (1 - correct)]
    if rates[0] <= rates[1]:
        return call
    values = exact.corrected_values(exact.values_of("pass@k", k), *rates)
    checker = zip(("true_positive_rate", "false_positive_rate"), map(float, rates), strict=True)
    score = weighted_score(rows, values, [Fraction(1)] * len(rows))
    return call._replace(expected={f"pass@{k}": score, "checker": dict(checker)})


def limits_of_labels_call(rng: Random) -> Call:
    """Return a call whose limits are moved by labels as `intervals.labelled` says."""
    rows = [rng.integers(0, 2, int(rng.integers(4, 9))).tolist() for _ in range(rng.integers(2, 9))]
    k, confidence = int(rng.integers(1, 4)), float(rng.choice([0.5, 0.9, 0.99]))
    name = str(rng.choice(["pass@k", "pass^k", "maj@k"]))
    tp, fn, fp, tn = (int(x) for x in rng.integers([40, 0, 0, 40], [400, 20, 20, 400]))
    options: Options = {"k": k, "include": name, "confidence": confidence, "interval": "sampling"}
    t, f = tp / (tp + fn), fp / (fp + tn)
    ((key, values),) = keys_and_values(name, k).items()

    def score(t: float, f: float) -> float:
        corrected = exact.corrected_values(values, Fraction(t), Fraction(f))
        return weighted_score(rows, corrected, [Fraction(1)] * len(rows))

    def limits(yes: int, no: int) -> list[float]:
        lo, hi = stats.beta.interval(confidence, yes + 0.5, no + 0.5)
        return [lo if yes else 0.0, hi if no else 1.0]

    point = score(t, f)
    known = metric("gpassk").compute(predictions=rows, checker_rates=(t, f), **options)
    moves = (
        [score(x, f) - point for x in limits(tp, fn)],
        [score(t, x) - point for x in limits(fp, tn)],
    )
    below = [max(0.0, point - known[f"{key}_lo"]), *(min(0.0, *x) for x in moves)]
    above = [max(0.0, known[f"{key}_hi"] - point), *(max(0.0, *x) for x in moves)]
    lo, hi = point - math.hypot(*below), point + math.hypot(*above)
    expected = {f"{key}_lo": max(0.0, min(1.0, lo)), f"{key}_hi": max(0.0, min(1.0, hi))}
    options["labels"] = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    call = Call("metric gpassk", rows, options, expected, has_more=True)
    return call._replace(relative=1e-6, absolute=1e-10)


def noise_call(rng: Random) -> Call:
    rows = random_rows(rng)
    k = random_k(rng, rows)
    if len(rows) == 1:  # does not show how questions vary
        return Call("noise", rows, {"k": k}, ValueError)
    values = exact.values_of("pass@k", k)
    scores = [exact.subset_mean(row, values) for row in scored(rows)]
    expected = {"score": float(exact.mean_of(scores))}
    expected["standard_error"] = math.sqrt(exact.sample_variance(scores) / len(rows))
    call = Call("noise", rows, {"k": k}, {f"pass@{k}": expected}, has_more=True)
    return call._replace(relative=1e-6, absolute=1e-10)


def variance_call(rng: Random) -> Call:
    """Return a call for the standard error of a score near 0, near 1 or in between."""
    questions = int(rng.choice([2, 3, 10, 40]))
    sizes = rng.integers(2, 31, 2)  # exact arithmetic takes long for many samples
    n = rng.choice(sizes, questions).tolist()
    rate = float(rng.choice([0.0, 0.002, 0.5, 0.998, 1.0]))
    c = [int(rng.integers(0, x + 1) if rate == 0.5 else rng.binomial(x, rate)) for x in n]
    rows = [[1] * y + [0] * (x - y) for x, y in zip(n, c, strict=True)]
    name, k = str(rng.choice(SCORES[:4])), int(rng.integers(1, min(n) + 1))
    ((key, values),) = keys_and_values(name, k).items()
    interval = str(rng.choice(["sampling", "questions"]))
    if interval == "sampling":
        variance: float | Fraction = exact.variance_of_samples(n, c, values)
    else:
        counts = zip(n, c, strict=True)
        variance = exact.sample_variance([exact.hypergeometric_mean(*x, values) for x in counts])
    options = {"k": k, "include": name, "confidence": 0.9, "interval": interval}
    expected = {f"{key}_sigma": math.sqrt(variance / questions)}
    call = Call("metric gpassk", rows, options, expected, has_more=True)
    # The scores of questions have errors in their last digits, of which a variance of 0 is made.
    return call._replace(relative=1e-6, absolute=1e-100 if interval == "sampling" else 1e-15)


def advantages_call(rng: Random) -> Call:
    is_max = rng.random() < 0.3
    rows = random_rewards(rng) if is_max else random_rows(rng)
    rows = [[x if x is None else float(x) for x in row][:6] for row in rows]
    rows = [row if scored([row])[0] else [1.0, *row] for row in rows]
    least = min(map(len, scored(rows)))
    baseline = str(rng.choice(["marginal", "none", "leave-one-out", "centered"]))
    if baseline in ("leave-one-out", "centered"):
        least -= 1
    if least == 0:
        baseline, least = "marginal", 1
    ks = sorted({int(k) for k in rng.integers(1, least + 1, 2)})
    factors = dict.fromkeys(ks[:1], 1.0)
    if rng.random() < 0.3:
        factors = {k: float(rng.integers(-4, 5)) / 4 for k in ks}
    score = "max@k" if is_max else str(rng.choice([*SCORES[:4], "G-Pass@k_0.5"]))
    expected = [expected_weights(row, factors, score, baseline) for row in rows]
    k = factors if len(factors) > 1 or factors[ks[0]] != 1.0 else ks[0]
    options: Options = {"k": k, "score": score, "baseline": baseline}
    if rng.random() < 0.3:  # flat, in any order, with the question of each sample
        order = rng.permutation(sum(map(len, rows))).tolist()
        questions = [f"q{i}" for i, row in enumerate(rows) for _ in row]
        options["groups"] = [questions[i] for i in order]
        flat, weights = ([x for row in nested for x in row] for nested in (rows, expected))
        rows, expected = [flat[i] for i in order], [weights[i] for i in order]
    return Call("advantages", rows, options, expected, absolute=1e-10, types=False)


def expected_weights(
    row: list[Any], factors: dict[int, float], score: str, baseline: str
) -> list[float]:
    """Return the sum over k of the weights of samples. Unscored ones have the mean, or 0."""
    [kept] = scored([row])
    weights = [exact.advantages(kept, k, score, baseline) for k in factors]
    sums = [
        math.fsum(factor * x for factor, x in zip(factors.values(), column, strict=True))
        for column in zip(*weights, strict=True)
    ]
    unscored, rest = sum(sums) / len(sums) if baseline == "centered" else 0.0, iter(sums)
    return [unscored if x is None else next(rest) for x in row]


CALLS: tuple[tuple[Callable[[Random], Call], float], ...] = (
    (function_call, 0.34),
    (reward_call, 0.13),
    (real_reward_call, 0.03),
    (score_agg_call, 0.03),
    (consensus_call, 0.02),
    (vote_call, 0.03),
    (gpassk_call, 0.12),
    (comparison_call, 0.06),
    (metric_call, 0.03),
    (budget_call, 0.03),
    (labels_call, 0.04),
    (limits_of_labels_call, 0.02),
    (noise_call, 0.02),
    (variance_call, 0.02),
    (advantages_call, 0.08),
)


def random_call(rng: Random) -> Call:
    makers, shares = zip(*CALLS, strict=True)
    return makers[rng.choice(len(makers), p=shares)](rng)


# --- Results beside those of brute force --------------------------------------------------


@cache
def metric(name: str):
    return at_k.load(name)


def function_of(name: str) -> tuple[Callable[..., Any], str]:
    """Return the function of a call with this name, and the name of its first argument."""
    if name.startswith("metric "):
        return metric(name.split()[1]).compute, "predictions"
    function = attrgetter(name.strip())(at_k)
    return function, next(iter(signature(function).parameters))


def actual_result(call: Call, container: Any) -> Any:
    """Return the result of a call, or the error that it raises."""
    function, first = function_of(call.name)
    try:
        return function(**{first: container}, **call.options)
    except Exception as error:
        return error


def agrees(result: Any, call: Call) -> bool:
    """Return whether a result is the expected one, up to rounding."""
    if isinstance(call.expected, type):
        return isinstance(result, call.expected)
    if isinstance(result, Exception):
        is_excused = call.excuse is not None and re.search(call.excuse, str(result)) is not None
        return is_excused and isinstance(result, ValueError)
    return call.expected is None or (
        is_close(result, call.expected, call) and has_limits_in_order(result, call)
    )


def is_close(result: Any, expected: Any, call: Call) -> bool:
    """Return whether a result has the expected keys and numbers, up to rounding."""
    if isinstance(expected, dict):
        if not isinstance(result, dict) or not expected.keys() <= result.keys():
            return False
        # Only floats have a number of runs.
        more = {key for key in result.keys() - expected.keys() if "runs" not in key}
        if more and not call.has_more:
            return False
        return all(is_close(result[key], value, call) for key, value in expected.items())
    if isinstance(expected, tuple | list):
        result = result.tolist() if isinstance(result, np.ndarray) else result
        return (
            isinstance(result, type(expected))
            and len(result) == len(expected)
            and all(is_close(x, y, call) for x, y in zip(result, expected, strict=True))
        )
    return type(result) is float and math.isclose(
        result, expected, rel_tol=call.relative, abs_tol=call.absolute
    )


def has_limits_in_order(result: Any, call: Call) -> bool:
    """Return whether all limits are in order, in their range, and around their number."""
    if call.within is None:
        return True
    lowest, highest = call.within
    for key in (key for key in result if key.endswith("_lo")):
        name, lo = key.removesuffix("_lo"), result[key]
        hi = result[f"{name}_hi"]
        middle = result.get(f"{name}_mu", result.get(name, lo)) if call.contains else lo
        if not lowest - 1e-9 <= lo <= middle + 1e-9 <= hi + 2e-9 <= highest + 3e-9:
            return False
    return True


MOST_SECONDS = 5.0


def check_calls(number: int, seed: int, types: dict[str, Type] = TYPES) -> list[str]:
    """Return the results that are not those of brute force, and the calls that take too long."""
    rng = np.random.default_rng(seed)
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(number):
            call, name = random_call(rng), "list"
            if call.types:
                is_binary = len(call.options.get("w", "01")) == 2
                held = [
                    name for name, kind in types.items() if can_hold(kind, call.rows, is_binary)
                ]
                name = held[rng.integers(len(held))]
            container, begin = types[name].make(call.rows), time.process_time()
            result, seconds = actual_result(call, container), time.process_time() - begin
            described = f"{call.name}({call.rows}, {call.options}) as {name}"
            if not agrees(result, call):
                problems.append(f"{described}: {result!r}, but brute force gives {call.expected}")
            if seconds > MOST_SECONDS:
                problems.append(f"{described} took {seconds:.1f} s")
    return problems


# --- Values that make no sense ----------------------------------------------------------


ROWS = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
REFERENCES = ["a", "b", "c"]


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def nested_in_itself() -> list:
    value: list = [1]
    value.append(value)
    return value


def dict_in_itself() -> dict:
    value: dict = {"a": 1}
    value["a"] = value
    return value


def run_end_encoded() -> pa.Array:
    return pa.array([1, 1, 0], pa.run_end_encoded(pa.int32(), pa.int64()))


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "nothing": list,
    "nested nothing": lambda: [[], []],
    "10**30": lambda: 10**30,
    "-10**400": lambda: -(10**400),
    "5,000 digits": lambda: "9" * 5000,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "-1": lambda: -1,
    "half": lambda: 0.5,
    "2**63": lambda: np.uint64(2**63),
    "complex": lambda: 1j,
    "empty text": str,
    "text": lambda: "x\x00y",
    "lone surrogate": lambda: "\ud800",
    "bytes": lambda: b"\xff",
    "number as text": lambda: "1",
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "ellipsis": lambda: ...,
    "set": lambda: {1, 2},
    "dict": lambda: {"a": [1, 0]},
    "dict in itself": dict_in_itself,
    "list in itself": nested_in_itself,
    "nested 100,000 deep": lambda: nested(100_000),
    "nested 300 deep": lambda: nested(300),
    "iterator": lambda: iter([1, 0, 1]),
    "ragged": lambda: [1, [0, [1]], "x"],
    "list of 10**30": lambda: [[10**30, 1], [1, 0]],
    "decimal": lambda: decimal.Decimal("sNaN"),
    "huge decimal": lambda: decimal.Decimal("1e999999"),
    "fraction": lambda: fractions.Fraction(10**400, 3),
    "date": lambda: datetime.date(2026, 1, 1),
    "NumPy date": lambda: np.datetime64("NaT"),
    "array of dates": lambda: np.array(["2026-01-01"] * 3, "datetime64[D]"),
    "0-d array": lambda: np.array(1),
    "5-d array": lambda: np.zeros((2, 2, 2, 2, 2)),
    "array without rows": lambda: np.zeros((0, 4)),
    "array without samples": lambda: np.zeros((3, 0)),
    "array of objects": lambda: np.array([object(), None, "x"], object),
    "array of complex": lambda: np.ones((3, 4), complex),
    "masked": lambda: np.ma.array([[1, 0]] * 3, mask=True),
    "records": lambda: np.zeros(3, [("a", "U3"), ("b", "i8", 2)]),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "empty frame": pd.DataFrame,
    "frame of texts": lambda: pd.DataFrame({"a": ["x", "y", "z"]}),
    "series of intervals": lambda: pd.Series(pd.interval_range(0, 3)),
    "polars structs": lambda: pl.DataFrame({"a": [{"b": 1}] * 3}),
    "run ends": run_end_encoded,
    "Arrow null": lambda: pa.nulls(3),
    "Arrow scalar": lambda: pa.scalar(1),
    "Arrow dictionary": lambda: pa.array(["a", "b", "a"]).dictionary_encode(),
    "Arrow map": lambda: pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64())),
    "Arrow table": lambda: pa.table({"a": [[1], [0], [1]]}),
}

CHARTED = {"pass@1": 0.5, "pass@1_lo": 0.4, "pass@1_hi": 0.6, "pass@2": 0.7}
CHARTED |= {f"{group}/{key}": score for key, score in CHARTED.items() for group in "ab"}
THRESHOLDS = {"G-Pass@2_0.5": 0.5, "G-Pass@2_1.0": 0.25}
RUNS = {"A": ROWS, "B": ROWS[::-1]}
PASS_1 = {"metric": "pass@k", "k": 1}
INTERVAL = {"confidence": 0.9, "interval": "sampling"}
CAPTION: Options = {"questions": 3, "n": 4, "width": 3.0}
CAPTION |= {"checker": "numeric", "caption": "text"}
PER_QUESTION = {"pass@1": 0.5, "per_question": {"pass@1": [0.25, 0.5, 0.75]}}
TABLE = [{"id": i, "correct": i % 2, "group": "a", "reward": 0.5} for i in range(4)]
COLUMNS: Options = {"outcomes": "correct", "questions": "id", "groups": "group"}
COLUMNS |= {"where": {"group": "a"}}
COLUMNS |= {"columns": {"clusters": "group"}, "correct_values": [1], "pool": ["group"]}
PLAN: Options = {"questions": [50], "samples": [2], "half_width": 0.3, "confidence": 0.9}
PLAN |= {"question_cost": 1.0, "sample_cost": 1.0, "correlation": None}
TAILS: Options = {"k": 2, "w": [0, 1], "thresholds": [0.5]}
# What no call with an oracle calls: the first argument, and the others.
FUNCTIONS: dict[str, tuple[Any, Options]] = {
    "noise": (ROWS, PASS_1 | {"tau": 0.5, "clusters": REFERENCES}),
    "testing.assert_at_least": (ROWS, PASS_1 | {"threshold": 0.5, "confidence": 0.9}),
    "testing.assert_not_worse": (ROWS, PASS_1 | {"baseline": ROWS, "margin": 0.1}),
    "plan": (ROWS, PASS_1 | PLAN),
    "tailpass": (ROWS, TAILS | {"R0": ROWS, "eta": 1.0, "prior": 1.0}),
    "tailpass_empirical": (ROWS, TAILS),
    "read": (TABLE, COLUMNS),
    "read ": ({"reward": [0.5, 1.0, 0.0, 0.5]}, {"group_size": 2}),
    "leaderboard": (RUNS, PASS_1 | {"interval": "questions", "confidence": 0.9}),
    "Counts": ([4, 4], {"c": [1, 2]}),
    "load": ("gpassk", {}),
    "charts.by_k": (CHARTED, {"metric": "pass@k", "highlight": 1} | CAPTION | INTERVAL),
    "charts.by_group": (CHARTED, {"key": "pass@1"} | CAPTION | INTERVAL),
    "charts.by_threshold": (THRESHOLDS, {"k": 2, "highlight": 0.5} | CAPTION),
    "charts.by_question": (
        PER_QUESTION,
        {"key": "pass@1", "labels": REFERENCES, "noun": "question", "n": 4, "width": 3.0},
    ),
    "charts.by_parameter": (
        {0.2: CHARTED, 0.8: CHARTED},
        {"key": "pass@1", "parameter": "T"} | CAPTION,
    ),
    "charts.difference": (
        at_k.compare(ROWS, ROWS[::-1], k=[1, 2]),
        {"runs": ("A", "B")} | CAPTION | INTERVAL,
    ),
    "charts.forest": (
        at_k.leaderboard(RUNS, k=1),
        {"key": "pass@1", "checker": "numeric", "width": 3.0},
    ),
}


# --- Calls with an argument that makes no sense -------------------------------------------


REQUIRED = {"parameter", "k", "group_size", "questions", "samples", "threshold", "baseline"}
WORDS = {"R", "scores", "tau", "lam", "rates", "predictions", "outcome", "question", "sample"}
OTHER_WORDS = {"run", "score", "column", "row", "counts", "key", "metric", "file", "chart"}
OTHER_WORDS |= {"confidence", "interval", "Counts", "A", "B"}


def other_call(rng: Random) -> Call:
    """Return a call of a function that no call with an oracle has."""
    name = str(rng.choice(list(FUNCTIONS)))
    first, options = FUNCTIONS[name]
    chosen = {key: x for key, x in options.items() if key in REQUIRED or rng.random() < 0.7}
    return Call(name, first, chosen)


def call_with_more_options(rng: Random) -> Call:
    """Return a call that has an oracle, for metrics with options of all metrics."""
    call = random_call(rng)
    if not call.name.startswith("metric "):
        return call
    labels = [f"{i % 2}" for i in range(len(call.rows))]
    options: Options = {"groups": labels, "clusters": labels, "confidence": 0.9}
    options |= {"return_per_question": True, "interval": "questions", "keys": "safe"}
    options |= {
        "metric max_at_k": {"picked_by": call.rows},
        "metric cons_at_k": {"vote_weights": call.rows},
        "metric score_agg": {"weights": {"a": 1.0, "b": 0.5}},
    }.get(call.name, {})
    if call.name == "metric score_agg":
        del options["clusters"]
    else:
        options |= {"references": [1] * len(call.rows), "check_correct_fn": "exact_match"}
    options = {key: x for key, x in options.items() if rng.random() < 0.3}
    return call._replace(options=options | call.options)


def put_into(argument: Any, value: Any, rng: Random) -> Any:
    """Return an argument of which one part is the value, or the value itself."""
    if rng.random() < 0.4:
        return value
    if isinstance(argument, dict):
        return argument | {str(rng.choice([*map(str, argument)])): value}
    if not (isinstance(argument, list) and argument):
        return value
    i = int(rng.integers(len(argument)))
    row = argument[i]
    if isinstance(row, list) and row and rng.random() < 0.6:
        row = list(row)
        row[int(rng.integers(len(row)))] = value
    else:
        row = value
    return [*argument[:i], row, *argument[i + 1 :]]


def hostile_problem(rng: Random) -> str | None:
    """Put a value that makes no sense into a call, and say what is wrong with how it ends."""
    call = other_call(rng) if rng.random() < 0.5 else call_with_more_options(rng)
    function, first = function_of(call.name)
    described = str(rng.choice(list(VALUES)))
    value = VALUES[described]()
    if call.name.startswith("read") and isinstance(value, str):
        value = [value]  # a text is the name of a file, or of a dataset on the Hub
    arguments = {first: call.rows} | call.options
    words = {*arguments, *WORDS}
    if call.name in FUNCTIONS and call.rows is not ROWS:
        words |= OTHER_WORDS
    words |= {key for x in arguments.values() if isinstance(x, dict) for key in x}
    hostile = str(rng.choice(list(arguments)))
    arguments[hostile] = put_into(arguments[hostile], value, rng)
    problem = problem_with(lambda: function(**arguments), words, call.name)
    text = f"{call.name}({', '.join(arguments)}), {hostile} with {described}"
    return f"{text}: {problem}" if problem else None


def problem_with(run: Callable[[], Any], words: set[str], name: str) -> str | None:
    """Return what is wrong with how a call ends, or None."""
    try:
        result = run()
        if name == "Counts":  # which says what is wrong with it when it is used
            at_k.pass_at_k(result, 1)
    except (ValueError, TypeError) as error:
        own = type(error).__module__.startswith("at_k")
        if type(error) not in (ValueError, TypeError) and not own:
            return repr(error)[:300]
        if "unexpected keyword" in str(error):
            return repr(error)[:300]
        said = set(re.findall(r"\w+", str(error))) | {w.rstrip("s") for w in str(error).split()}
        return None if said & words else f"names nothing: {error!r:.300}"
    except AssertionError:  # of `at_k.testing`
        return None
    except OSError as error:  # a text is the name of a file
        return None if name.startswith("read") else repr(error)[:300]
    except Exception as error:
        return repr(error)[:300]
    return None


def refusal_of_valid_call(name: str) -> str | None:
    """Say that a function of the table refuses its arguments as they are."""
    first, options = FUNCTIONS[name]
    result = actual_result(Call(name, first, options), first)
    is_allowed = isinstance(result, AssertionError)  # of `at_k.testing`
    return f"{name}: {result!r:.300}" if isinstance(result, Exception) and not is_allowed else None


def check_hostile_calls(number: int, seed: int) -> list[str]:
    """Return the calls that did not end as they should."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problems = [refusal_of_valid_call(name) for name in FUNCTIONS]
        problems += [hostile_problem(rng) for _ in range(number)]
    return [problem for problem in problems if problem]


def main() -> int:
    count, seed = [*(int(x) for x in sys.argv[1:] if x.isdigit()), 1][:2]
    types = TYPES | tensor_types() if "--tensors" in sys.argv else TYPES
    problems = check_calls(count, seed, types) + check_hostile_calls(count // 10, seed)
    print(f"{len(problems)} problems", *problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
