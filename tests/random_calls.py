"""Random calls of the public functions and metrics, compared with brute force.

    python tests/random_calls.py 50000 [SEED] [--tensors]

This also makes a tenth as many calls with an argument that makes no sense (`hostile_calls`). With
--tensors, outcomes also come as tensors of torch and arrays of JAX, which have to be installed.
Each call takes less than five seconds of CPU time.
"""

from __future__ import annotations

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
import exact
import numpy as np
from container_types import TYPES, Type, can_hold, tensor_types
from scipy import stats

Random = np.random.Generator
Rows = list[Any]
"""Lists of outcomes, rewards or answers."""
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
REWARDS = ("bayes", "avg", "max_at_k")
NAMES = ("pass@k", "pass^k", "maj@k", "mG-Pass@k")
SCORES = ("pass@k", "pass^k", "mG-Pass@k", "maj@k", "AUC@k")


class Call(NamedTuple):
    """A call of a function, or of `compute` of a metric, and the result that it should have.

    Attributes:
        name: of the function in at_k, or of the metric after "metric ".
        rows: the first argument.
        arguments: all others.
        expected: the result, or the type of an error. None agrees with all but an error.
        has_more: whether the result may have other keys.
        relative: tolerance of numbers.
        absolute: tolerance of numbers.
        within: the range that limits are in.
        around: the suffix of the number that limits contain, if there is one.
        excuse: what an error says that is as good as a result.
        types: whether the rows may come in a container of any type.
    """

    name: str
    rows: Any
    arguments: dict[str, Any]
    expected: Any
    has_more: bool = False
    relative: float = 1e-9
    absolute: float = 1e-12
    within: tuple[float, float] | None = None
    around: str | None = None
    excuse: str | None = None
    types: bool = True


# --- Random arguments -------------------------------------------------------------------


def gpassk_call(rows: Rows, arguments: dict[str, Any], expected: Any, **fields: Any) -> Call:
    """Return a call of gpassk whose result may have other keys. `fields` are those of a `Call`."""
    return Call("metric gpassk", rows, arguments, expected, has_more=True, **fields)


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


def rows_and_k(rng: Random) -> tuple[Rows, int]:
    """Return outcomes, and a k of at most each n."""
    rows = random_rows(rng)
    return rows, int(rng.integers(1, min(map(len, scored(rows))) + 1))


def scored(rows: Rows) -> Rows:
    """Return the rows without None."""
    return [[value for value in row if value is not None] for row in rows]


def random_interval(rng: Random) -> dict[str, Any]:
    """Return some of the arguments that all functions of intervals have."""
    choices: dict[str, list[Any]] = {
        "confidence": [0.5, 0.9, 0.99, np.float32(0.75), np.array(0.8)],
        "bounds": [None, (0.0, 1.0), (0.25, 0.75), [0, 1]],
    }
    return {
        name: values[rng.integers(len(values))]
        for name, values in choices.items()
        if rng.random() < 0.5
    }


def random_prior(rng: Random) -> dict[str, float]:
    """Return none, one or both of the parameters of a Beta prior."""
    return {
        name: float(rng.choice([0.5, 1.0, 2.0, 3.25]))
        for name in ("alpha0", "beta0")
        if rng.random() < 0.3
    }


def random_weights(rng: Random, k: int) -> list[float]:
    """Return k weights of a spectrum, multiples of 1/64 with a sum of at most 1."""
    parts = np.floor(rng.dirichlet([1.0] * (k + 1)) * 64) / 64
    return parts[:k].tolist()


# --- Binary outcomes --------------------------------------------------------------------


def subset_mean(questions: Rows, values: exact.Values) -> Fraction:
    """Return the mean over questions of the mean over all subsets of k samples."""
    return exact.mean_of([exact.subset_mean(row, values) for row in questions])


def posterior(
    questions: Rows, prior: exact.Prior, u: exact.Values, v: exact.Values
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the posterior mean of u, and the covariance of u and v, for each question."""
    counts = [(len(row), sum(row)) for row in questions]
    means = [exact.posterior_mean(*pair, prior, u) for pair in counts]
    return means, [exact.posterior_covariance(*pair, prior, u, v) for pair in counts]


def mean_call(rng: Random) -> Call:
    """Return a call of a score that is a mean over questions, with or without its interval."""
    name = str(rng.choice(list(MEANS)))
    rows = random_rows(rng)
    smallest = min(map(len, scored(rows)))
    has_interval = rng.random() < 0.5
    free = has_interval and name == "threshold_spectrum_at_k"
    k = int(rng.integers(1, 9 if free else smallest + 1))
    arguments: dict[str, Any] = {"k": k}
    if name == "g_pass_at_k_tau":
        tau = float(rng.choice([0.0, 0.25, 0.28, 0.5, 0.6, 0.75, 0.9, 1.0]))
        values = exact.values_of("G-Pass@k", k, tau)
        # The tolerance of a threshold is above the error of a single-precision number.
        arguments["tau"] = [tau, np.float64(tau), np.float32(tau), np.array(tau)][rng.integers(4)]
    elif name == "threshold_spectrum_at_k":
        weights = random_weights(rng, k)
        values = exact.values_of("Spectrum@k", k, weights=tuple(weights))
        arguments["weights"] = [weights, tuple(weights), np.array(weights)][rng.integers(3)]
    else:
        values = exact.values_of(MEANS[name], k)
    if not has_interval:
        return Call(name, rows, arguments, float(subset_mean(scored(rows), values)))
    options, prior = random_interval(rng), random_prior(rng)
    shape = prior.get("alpha0", 1.0), prior.get("beta0", 1.0)
    means, variances = posterior(scored(rows), shape, values, values)
    expected = summary(exact.mean_of(means), exact.mean_of(variances) / len(rows), options)
    return Call(f"{name}_ci", rows, arguments | options | prior, expected)


def summary(mean, variance, options: dict[str, Any], bounds=(0.0, 1.0)) -> tuple[float, ...]:
    """Return (mu, sigma, lo, hi) for the default bounds of the function."""
    confidence = float(options.get("confidence", 0.95))
    return exact.summary(mean, variance, confidence, options.get("bounds", bounds))


def product_call(rng: Random) -> Call:
    """Return a call of a product of powers of two scores."""
    name = str(rng.choice(PRODUCTS))
    rows = random_rows(rng)
    has_interval = rng.random() < 0.5
    k = int(rng.integers(1, 8 if has_interval else min(map(len, scored(rows))) + 1))
    arguments: dict[str, Any] = {"k": k}
    values = exact.values_of("pass@k", k), exact.values_of("pass^k", k)
    a = b = 0.5
    if name.startswith("geom"):
        a = float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.5]))
        b = float(rng.choice([0.25, 0.5, 1.0, 2.5] if a == 0 else [0.0, 0.25, 0.5, 1.0, 2.5]))
        arguments |= {"pass_power": a, "unanimous_power": b}
    else:
        values = values[0], exact.values_of("mG-Pass@k", k)
    if name == "geo_spectrum_at_k":
        a = float(rng.choice([0.0, 0.3, 0.5, 1.0]))
        b = 1 - a
        arguments["lam" if rng.random() < 0.5 else "lambda_"] = a
        if rng.random() < 0.5:
            weights = random_weights(rng, k)
            weights[-1] = weights[-1] or 1 / 64 if sum(weights) < 1 else weights[-1]
            values = values[0], exact.values_of("Spectrum@k", k, weights=tuple(weights))
            arguments["weights"] = weights
    if not has_interval:
        pairs = [[exact.subset_mean(row, v) for v in values] for row in scored(rows)]
        if name != "geom_at_k":
            pairs = [[exact.mean_of(column) for column in zip(*pairs, strict=True)]]
        score = math.fsum(exact.product(x, y, a, b) for x, y in pairs) / len(pairs)
        return Call(name, rows, arguments, score)
    options, prior = random_interval(rng), random_prior(rng)
    shape = prior.get("alpha0", 1.0), prior.get("beta0", 1.0)
    expected = product_summary(name, scored(rows), values, (a, b), shape, options)
    return Call(f"{name}_ci", rows, arguments | options | prior, expected)


def product_summary(name, rows, values, powers, prior, options) -> tuple[float, ...] | None:
    """Return the summary of a product, or None if the derivative at 0 is not defined."""
    u, v = values
    (x, var_x), (y, var_y) = (posterior(rows, prior, of, of) for of in values)
    moments = [*map(list, zip(x, y, var_x, var_y, posterior(rows, prior, u, v)[1], strict=True))]
    if name != "geom_at_k":
        u, v, *covariances = (exact.mean_of(column) for column in zip(*moments, strict=True))
        moments = [[u, v, *(value / len(rows) for value in covariances)]]
    if any(y == 0 for _, y, *_ in moments):
        return None
    means = [exact.product(x, y, *powers) for x, y, *_ in moments]
    variances = [exact.variance_of_product(x, y, rest, *powers) for x, y, *rest in moments]
    mean, variance = math.fsum(means) / len(means), math.fsum(variances) / len(means) ** 2
    return summary(mean, variance, options)


# --- Categories and rewards -------------------------------------------------------------


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
    """Return a call of a score of categories."""
    name = str(rng.choice(REWARDS))
    categories = int(rng.integers(2, 5))
    rows = random_rows(rng, categories)
    questions = scored(rows)
    rewards = (rng.integers(-8, 9, categories) / 4).tolist()
    arguments: dict[str, Any] = {"w": [rewards, np.array(rewards)][rng.integers(2)]}
    if categories == 2 and rng.random() < 0.5:
        rewards, arguments = [0.0, 1.0], {}
    has_interval = rng.random() < 0.5
    prior: Rows = [[] for _ in rows]
    if (name == "bayes" or (name == "max_at_k" and has_interval)) and rng.random() < 0.5:
        prior = rng.integers(0, categories, (len(rows), int(rng.integers(1, 4)))).tolist()
        flat = [value for row in prior for value in row]
        arguments["R0"] = [prior, np.array(prior), flat, tuple(flat)][rng.integers(4)]
    options = random_interval(rng) if has_interval else {}
    if name != "max_at_k":
        mean, variance = mean_moments(name, questions, prior, rewards)
        if not has_interval:
            return Call(name, rows, arguments, (float(mean), math.sqrt(variance)))
        expected = summary(mean, variance, options, None)
        return Call(f"{name}_ci", rows, arguments | options, expected)
    least = min(map(len, questions))
    k = int(rng.integers(1, 9 if has_interval else least + 1))
    arguments["k"] = k
    if not has_interval:
        values = [[rewards[category] for category in row] for row in questions]
        means = [exact.subset_mean_of_maximum(row, k) for row in values]
        return Call(name, rows, arguments, float(exact.mean_of(means)))
    means, variances = posterior_of_categories(
        questions,
        prior,
        lambda counts: exact.posterior_moments_of_maximum(counts, rewards, k),
        len(rewards),
    )
    if k > 1:
        options["bounds"] = options.get("bounds") or (min(rewards), max(rewards))
    mean, variance = exact.mean_of(means), exact.mean_of(variances) / len(rows)
    return Call("max_at_k_ci", rows, arguments | options, summary(mean, variance, options, None))


def random_rewards(rng: Random) -> Rows:
    """Return real rewards that every type of float represents exactly, one of them 0.625."""
    rows = [
        [value if value is None else float(rng.integers(-8, 9)) / 8 for value in row]
        for row in random_rows(rng)
    ]
    first = next(i for i, value in enumerate(rows[0]) if value is not None)
    rows[0][first] = 0.625
    return rows


def real_reward_call(rng: Random) -> Call:
    """Return a call of max@k of real rewards: the function, or the metric."""
    rows = random_rewards(rng)
    k = int(rng.integers(1, min(map(len, scored(rows))) + 1))
    mean = float(exact.mean_of([exact.subset_mean_of_maximum(row, k) for row in scored(rows)]))
    if rng.random() < 0.5:
        return Call("max_at_k", rows, {"k": k}, mean)
    return Call("metric max_at_k", rows, {"k": k, "confidence": None}, {f"max@{k}": mean})


# --- Verdicts, comparisons and errors ---------------------------------------------------


def random_verdicts(rng: Random) -> tuple[Rows, dict[str, float], float]:
    """Return verdicts, the arguments of score_agg, and its result."""
    weights = [0.0, 0.25, 0.5, 0.75, 1.0]
    rows = [
        [value if value is None else float(rng.choice(weights)) for value in row]
        for row in random_rows(rng)
    ]
    arguments = {
        "temperature": float(rng.choice([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.85, 1.0])),
        "penalty": float(rng.choice([0.0, 0.1, 0.25])),
        "eps_for_neg_p": float(rng.choice([1e-9, 1e-3])),
    }
    scores = [exact.score_agg(row, *arguments.values()) for row in scored(rows)]
    return rows, arguments, math.fsum(scores) / len(scores)


def score_agg_call(rng: Random) -> Call:
    """Return a call of score_agg: the function, or the metric."""
    rows, arguments, score = random_verdicts(rng)
    if rng.random() < 0.5:
        return Call("score_agg", rows, arguments, score)
    return Call("metric score_agg", rows, arguments | {"confidence": None}, {"score_agg": score})


def consensus_call(rng: Random) -> Call:
    """Return a call of the function cons_at_k."""
    rows = random_rows(rng)
    k = int(rng.integers(1, min(map(len, scored(rows))) + 1))
    share = sum(2 * sum(row) > k for row in scored(rows)) / len(rows)
    return Call("cons_at_k", rows, {"k": k}, share)


def vote_call(rng: Random) -> Call:
    """Return a call with answers and references, whose votes are enumerated."""
    questions = int(rng.integers(1, 6))
    rows = [rng.choice([*"abcd"], rng.integers(2, 7)).tolist() for _ in range(questions)]
    references = rng.choice([*"abcd"], questions).tolist()
    k = int(rng.integers(1, min(map(len, rows)) + 1))
    votes = []
    for row, reference in zip(rows, references, strict=True):
        counts = Counter(row)
        correct = [counts.pop(reference)] if reference in counts else []
        votes.append(exact.vote(correct, [*counts.values()], 0, k))
    arguments = {"references": references, "k": k, "include": "vote@k"}
    expected = {f"vote@{k}": float(exact.mean_of(votes))}
    return Call("metric cons_at_k", rows, arguments, expected, types=False)


def too_large_k_call(rng: Random) -> Call:
    """Return a call whose k is above the number of samples of a question."""
    free = ("threshold_spectrum_at_k", "max_at_k")
    name = str(rng.choice([*(name for name in MEANS if name not in free), *free[1:]]))
    rows = random_rows(rng)
    arguments: dict[str, Any] = {"k": min(map(len, scored(rows))) + int(rng.integers(1, 3))}
    if name == "g_pass_at_k_tau":
        arguments["tau"] = 0.5
    if name not in free and rng.random() < 0.5:
        name = f"{name}_ci"
    return Call(name, rows, arguments, ValueError)


# --- Metrics ----------------------------------------------------------------------------


def metric_call(rng: Random) -> Call:
    """Return a call of `compute` with outcomes, and all scores that it should have."""
    name = str(rng.choice(["gpassk", "bayes_at_n", "max_at_k", "cons_at_k"]))
    rows = random_rows(rng)
    questions = scored(rows)
    least, most = min(map(len, questions)), max(map(len, questions))
    ks = sorted({int(k) for k in rng.integers(1, least + 1, 2)})

    def mean(score: str, k: int, tau: float = 0.5) -> float:
        return float(subset_mean(questions, exact.values_of(score, k, tau)))

    if name == "gpassk":
        taus = [0.28, 0.5, 1.0]
        expected = {f"G-Pass@{k}_{tau}": mean("G-Pass@k", k, tau) for k in ks for tau in taus}
        expected |= {name.replace("k", str(k)): mean(name, k) for name in SCORES for k in ks}
        include = ["G-Pass@k", *SCORES]
        arguments = {"k": ks, "thresholds": taus, "include": include, "confidence": None}
    elif name == "max_at_k":
        arguments = {"k": ks, "confidence": None}
        expected = {f"max@{k}": mean("pass@k", k) for k in ks}
    elif name == "cons_at_k":
        k = ks[-1]
        size = least if least == most else "n"
        arguments = {"k": k, "confidence": None}
        expected = {
            f"cons@{k}": sum(2 * sum(row) > k for row in questions) / len(rows),
            f"avg@{size}": mean("pass@k", 1),
            f"pass@{k}": mean("pass@k", k),
            f"maj@{k}": mean("maj@k", k),
        }
    else:
        size = least if least == most else "n"
        options = random_interval(rng)
        arguments, expected = dict(options), {}
        # Without bounds, the metric clips its limits to the range of its rewards, 0 to 1; the
        # functions `bayes_ci` and `avg_ci` do not clip theirs.
        limits = options | {"bounds": options.get("bounds") or (0.0, 1.0)}
        for key in ("bayes", "avg"):
            moments = mean_moments(key, questions, [[] for _ in rows], [0, 1])
            ends = zip(("", "_sigma", "_lo", "_hi"), summary(*moments, limits), strict=True)
            expected |= {f"{key}@{size}{end}": x for end, x in ends}
    return Call(f"metric {name}", rows, arguments, expected)


# --- A checker that errs ----------------------------------------------------------------


def score_key(name: str, k: int) -> str:
    """Return the key of a score, such as "pass@4" for "pass@k"."""
    return name.replace("k", str(k))


def rates_call(rng: Random) -> Call:
    """Return a call of gpassk with the rates of a checker."""
    rows, k = rows_and_k(rng)
    t, f = float(rng.integers(60, 101) / 100), float(rng.integers(0, 41) / 100)
    include = rng.choice(NAMES, int(rng.integers(1, 5)), replace=False).tolist()
    confidence = 0.9 if rng.random() < 0.5 and max(map(len, scored(rows))) > 1 else None
    arguments = {"k": k, "include": include, "checker_rates": (t, f), "confidence": confidence}
    expected: dict[str, Any] = {}
    for name in include:
        values = exact.corrected_values(exact.values_of(name, k), Fraction(t), Fraction(f))
        expected[score_key(name, k)] = float(subset_mean(scored(rows), values))
    expected["checker"] = {"true_positive_rate": t, "false_positive_rate": f}
    return gpassk_call(rows, arguments, expected, relative=1e-8, within=(0, 1))


def labels_call(rng: Random) -> Call:
    """Return a call of gpassk with labels of samples, or with their counts."""
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
    arguments = {"k": k, "include": "pass@k", "labels": counts if as_counts else labels}
    # Too few labels to show that the checker is better than chance.
    excuse = "labels|do not allow a correction"
    call = gpassk_call(rows, arguments, None, relative=1e-8, excuse=excuse, types=False)
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
    checker = dict(
        zip(("true_positive_rate", "false_positive_rate"), map(float, rates), strict=True)
    )
    return call._replace(
        expected={f"pass@{k}": float(subset_mean(rows, values)), "checker": checker}
    )


def limits_of_labels_call(rng: Random) -> Call:
    """Return a call whose limits are moved by labels as `intervals.labelled` says."""
    rows = [rng.integers(0, 2, int(rng.integers(4, 9))).tolist() for _ in range(rng.integers(2, 9))]
    k, confidence = int(rng.integers(1, 4)), float(rng.choice([0.5, 0.9, 0.99]))
    name = str(rng.choice(["pass@k", "pass^k", "maj@k"]))
    tp, fn, fp, tn = (int(x) for x in rng.integers([40, 0, 0, 40], [400, 20, 20, 400]))
    arguments: dict[str, Any] = {"k": k, "include": name, "confidence": confidence}
    arguments["interval"] = "sampling"
    t, f, key = tp / (tp + fn), fp / (fp + tn), score_key(name, k)

    def score(t: float, f: float) -> float:
        values = exact.corrected_values(exact.values_of(name, k), Fraction(t), Fraction(f))
        return float(subset_mean(rows, values))

    def limits(yes: int, no: int) -> list[float]:
        lo, hi = stats.beta.interval(confidence, yes + 0.5, no + 0.5)
        return [lo if yes else 0.0, hi if no else 1.0]

    point = score(t, f)
    known = metric("gpassk").compute(predictions=rows, checker_rates=(t, f), **arguments)
    moves = (
        [score(x, f) - point for x in limits(tp, fn)],
        [score(t, x) - point for x in limits(fp, tn)],
    )
    below = [max(0.0, point - known[f"{key}_lo"]), *(min(0.0, *x) for x in moves)]
    above = [max(0.0, known[f"{key}_hi"] - point), *(max(0.0, *x) for x in moves)]
    lo, hi = point - math.hypot(*below), point + math.hypot(*above)
    expected = {f"{key}_lo": max(0.0, min(1.0, lo)), f"{key}_hi": max(0.0, min(1.0, hi))}
    arguments["labels"] = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    return gpassk_call(rows, arguments, expected, relative=1e-6, absolute=1e-10)


# --- Other options ----------------------------------------------------------------------


def budget_call(rng: Random) -> Call:
    """Return a call of gpassk with samples that stop at the first success."""
    budget = int(rng.integers(2, 9))
    rows = []
    for _ in range(int(rng.integers(1, 8))):
        first = int(rng.integers(1, budget + 3))  # above the budget: no success
        rows.append([0] * (first - 1) + [1] if first <= budget else [0] * budget)
    k = int(rng.integers(1, budget + 1))
    share = sum(1 in row[:k] for row in rows) / len(rows)
    arguments = {"k": k, "include": "pass@k", "budget": budget}
    return gpassk_call(rows, arguments, {f"pass@{k}": share})


def advantages_call(rng: Random) -> Call:
    """Return a call of advantages with lists, or with flat rewards and their groups."""
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
    score = "max@k" if is_max else str(rng.choice([*NAMES, "G-Pass@k_0.5"]))
    expected = [expected_weights(row, factors, score, baseline) for row in rows]
    k = factors if len(factors) > 1 or factors[ks[0]] != 1.0 else ks[0]
    arguments: dict[str, Any] = {"k": k, "score": score, "baseline": baseline}
    if rng.random() < 0.3:  # flat, in any order, with the question of each sample
        order = rng.permutation(sum(map(len, rows))).tolist()
        questions = [f"q{i}" for i, row in enumerate(rows) for _ in row]
        arguments["groups"] = [questions[i] for i in order]
        flat, weights = ([x for row in nested for x in row] for nested in (rows, expected))
        rows, expected = [flat[i] for i in order], [weights[i] for i in order]
    return Call("advantages", rows, arguments, expected, absolute=1e-10, types=False)


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


def noise_call(rng: Random) -> Call:
    """Return a call of noise, and the standard error that it should have."""
    rows, k = rows_and_k(rng)
    values = exact.values_of("pass@k", k)
    scores = [exact.subset_mean(row, values) for row in scored(rows)]
    if len(rows) == 1:  # does not show how questions vary
        return Call("noise", rows, {"k": k}, ValueError)
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
    name, k = str(rng.choice(NAMES)), int(rng.integers(1, min(n) + 1))
    values, interval = exact.values_of(name, k), str(rng.choice(["sampling", "questions"]))
    if interval == "sampling":
        variance: float | Fraction = exact.variance_of_samples(n, c, values)
    else:
        pairs = zip(n, c, strict=True)
        variance = exact.sample_variance(
            [exact.hypergeometric_mean(*pair, values) for pair in pairs]
        )
    arguments = {"k": k, "include": name, "confidence": 0.9, "interval": interval}
    expected = {f"{score_key(name, k)}_sigma": math.sqrt(variance / questions)}
    return gpassk_call(rows, arguments, expected, relative=1e-6, absolute=1e-100)


# --- Comparisons, weights and means over groups -----------------------------------------


def random_question_interval(rng: Random, rows: Rows) -> str:
    """Return an interval. One question does not show how questions vary."""
    return "sampling" if len(rows) == 1 or rng.random() < 0.2 else "questions"


def comparison_call(rng: Random) -> Call:
    """Return a call of compare with outcomes of two runs."""
    rows = random_rows(rng, least=2)
    other = [rng.integers(0, 2, rng.integers(2, 9)).tolist() for _ in rows]
    k = int(rng.integers(1, min(map(len, (*scored(rows), *other))) + 1))
    a, b = (float(subset_mean(run, exact.values_of("pass@k", k))) for run in (scored(rows), other))
    expected = {f"pass@{k}": b - a, f"pass@{k}_a": a, f"pass@{k}_b": b}
    arguments = {"R_b": other, "metric": "pass@k", "k": k}
    arguments["interval"] = random_question_interval(rng, rows)
    return Call("compare", rows, arguments, expected, has_more=True, within=(-1, 1), around="")


def random_averaging(rng: Random, size: int) -> tuple[dict[str, Any], list[Fraction]]:
    """Return options for a number of questions, and the weight of each that they amount to."""
    weights = [Fraction(1)] * size
    options: dict[str, Any] = {}
    if rng.random() < 0.7:
        numbers = rng.integers(0, 6, size)
        numbers[rng.integers(size)] = 1
        factor = float(rng.choice([1, 0.1, 1e20, 1e-20]))
        options["question_weights"] = (numbers * factor).tolist()
        weights = [*map(Fraction, options["question_weights"])]
    if rng.random() < 0.5:
        labels = rng.choice(["a", "b", "c"], size).tolist()
        sums = {x: sum(w for w, y in zip(weights, labels, strict=True) if x == y) for x in labels}
        if all(sums.values()):
            options |= {"groups": labels, "average": "groups"}
            weights = [w / sums[label] for w, label in zip(weights, labels, strict=True)]
    return options, weights


def averaging_call(rng: Random) -> Call:
    """Return a call with weights of questions: scores, scores with limits, or a comparison."""
    rows = [rng.integers(0, 2, rng.integers(2, 7)).tolist() for _ in range(rng.integers(2, 9))]
    other = [rng.integers(0, 2, rng.integers(2, 7)).tolist() for _ in rows]
    k = int(rng.integers(1, min(map(len, (*rows, *other))) + 1))
    options, weights = random_averaging(rng, len(rows))
    name = str(rng.choice(NAMES))
    key, values = score_key(name, k), exact.values_of(name, k)

    def mean(run: Rows) -> Fraction:
        pairs = zip(weights, run, strict=True)
        scores = (w * exact.subset_mean(row, values) for w, row in pairs)
        return sum(scores, Fraction(0)) / sum(weights)

    kind = int(rng.integers(3))
    if kind == 0 or sum(w > 0 for w in weights) < 2:
        arguments = {"k": k, "include": name, **options}
        return gpassk_call(rows, arguments, {key: float(mean(rows))})
    excuse = "does not show how questions vary"
    if kind == 1:
        arguments = {"R_b": other, "metric": name, "k": k, **options}
        expected = {key: float(mean(other) - mean(rows))}
        return Call("compare", rows, arguments, expected, has_more=True, excuse=excuse)
    interval = str(rng.choice(["sampling", "questions", "posterior", "hierarchical"]))
    arguments = {"k": k, "include": name, "confidence": 0.9, "interval": interval, **options}
    expected = {key: float(mean(rows))}
    return gpassk_call(rows, arguments, expected, within=(0, 1), around="_mu", excuse=excuse)


CALLS: tuple[tuple[Callable[[Random], Call], float], ...] = (
    (mean_call, 0.21),
    (product_call, 0.12),
    (reward_call, 0.12),
    (real_reward_call, 0.03),
    (score_agg_call, 0.03),
    (consensus_call, 0.02),
    (vote_call, 0.03),
    (too_large_k_call, 0.03),
    (metric_call, 0.05),
    (rates_call, 0.06),
    (labels_call, 0.04),
    (limits_of_labels_call, 0.02),
    (budget_call, 0.03),
    (advantages_call, 0.08),
    (noise_call, 0.02),
    (variance_call, 0.02),
    (comparison_call, 0.05),
    (averaging_call, 0.04),
)


# --- Comparison -------------------------------------------------------------------------


@cache
def metric(name: str):
    """Return the metric with this name, loaded once."""
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
        return function(**{first: container}, **call.arguments)
    except Exception as error:
        return error


def random_call(rng: Random) -> Call:
    """Return one of the calls with an oracle."""
    makers, shares = zip(*CALLS, strict=True)
    return makers[rng.choice(len(makers), p=shares)](rng)


def agrees(result: Any, call: Call) -> bool:
    """Return whether a result is the expected one, up to rounding."""
    if isinstance(result, Exception):
        if isinstance(call.expected, type):
            return isinstance(result, call.expected)
        is_excused = call.excuse is not None and re.search(call.excuse, str(result)) is not None
        return is_excused and isinstance(result, ValueError)
    if isinstance(call.expected, type):
        return False
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
        hi, middle = result[f"{name}_hi"], result.get(f"{name}{call.around}", lo)
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
                is_binary = len(call.arguments.get("w", "01")) == 2
                held = [
                    name for name, kind in types.items() if can_hold(kind, call.rows, is_binary)
                ]
                name = held[rng.integers(len(held))]
            container, begin = types[name].make(call.rows), time.process_time()
            result, seconds = actual_result(call, container), time.process_time() - begin
            described = f"{call.name}({call.rows}, {call.arguments}) as {name}"
            if not agrees(result, call):
                problems.append(f"{described}: {result}, but brute force gives {call.expected}")
            if seconds > MOST_SECONDS:
                problems.append(f"{described} took {seconds:.1f} s")
    return problems


def main() -> int:
    from hostile_calls import check_hostile_calls

    count, seed = [*(int(x) for x in sys.argv[1:] if x.isdigit()), 1][:2]
    types = TYPES | tensor_types() if "--tensors" in sys.argv else TYPES
    problems = check_calls(count, seed, types)
    problems += check_hostile_calls(count // 10, seed)
    print(f"{len(problems)} problems", *problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
