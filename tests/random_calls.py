"""Random calls of the public functions and metrics, with their results by brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import brute_force as exact
import numpy as np

Rows = list[list[Any]]
MEANS = {
    "pass_at_k": "pass",
    "pass_hat_k": "unanimous",
    "unanimous_at_k": "unanimous",
    "g_pass_at_k": "unanimous",
    "g_pass_at_k_tau": "threshold",
    "mg_pass_at_k": "mG",
    "auc_at_k": "area",
    "maj_at_k": "majority",
    "threshold_spectrum_at_k": "spectrum",
}
PRODUCTS = ("geom_at_k", "geom_ds_at_k", "geo_spectrum_at_k", "geo_spectrum_star_at_k")
REWARDS = ("bayes", "avg", "max_at_k")
KEYS = {
    "pass@{k}": "pass",
    "pass^{k}": "unanimous",
    "mG-Pass@{k}": "mG",
    "maj@{k}": "majority",
    "AUC@{k}": "area",
}


class Call(NamedTuple):
    """A call of a function, or of `compute` of a metric, and the result that it should have."""

    name: str
    rows: Rows
    arguments: dict[str, Any]
    expected: Any


# --- Random arguments -------------------------------------------------------------------


def random_rows(rng: np.random.Generator, categories: int = 2, least: int = 1) -> Rows:
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


def scored(rows: Rows) -> Rows:
    return [[value for value in row if value is not None] for row in rows]


def random_interval(rng: np.random.Generator) -> dict[str, Any]:
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


def random_prior(rng: np.random.Generator) -> dict[str, float]:
    return {
        name: float(rng.choice([0.5, 1.0, 2.0, 3.25]))
        for name in ("alpha0", "beta0")
        if rng.random() < 0.3
    }


def random_weights(rng: np.random.Generator, k: int) -> list[float]:
    """Return k weights of a spectrum, multiples of 1/64 with a sum of at most 1."""
    parts = np.floor(rng.dirichlet([1.0] * (k + 1)) * 64) / 64
    return parts[:k].tolist()


# --- Binary outcomes --------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _values(score: str, k: int, tau: float = 0.5, weights: tuple[float, ...] = ()) -> exact.Values:
    return exact.values_of(score, k, tau, weights)


def call_of_mean(rng: np.random.Generator) -> Call:
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
        values = _values("threshold", k, tau)
        # The tolerance of a threshold is above the error of a single-precision number.
        arguments["tau"] = [tau, np.float64(tau), np.float32(tau), np.array(tau)][rng.integers(4)]
    elif name == "threshold_spectrum_at_k":
        weights = random_weights(rng, k)
        values = _values("spectrum", k, 0.5, tuple(weights))
        arguments["weights"] = [weights, tuple(weights), np.array(weights)][rng.integers(3)]
    else:
        values = _values(MEANS[name], k)
    if not has_interval:
        mean = exact.mean_of([exact.subset_mean(row, values) for row in scored(rows)])
        return Call(name, rows, arguments, float(mean))
    options, prior = random_interval(rng), random_prior(rng)
    shape = prior.get("alpha0", 1.0), prior.get("beta0", 1.0)
    mean = exact.mean_of([exact.posterior_mean(row, shape, values) for row in scored(rows)])
    variances = [exact.covariance(row, shape, values, values) for row in scored(rows)]
    expected = summary(mean, exact.mean_of(variances) / len(rows), options)
    return Call(f"{name}_ci", rows, arguments | options | prior, expected)


def summary(mean, variance, options: dict[str, Any], bounds=(0.0, 1.0)) -> tuple[float, ...]:
    """Return (mu, sigma, lo, hi) for the default bounds of the function."""
    confidence = float(options.get("confidence", 0.95))
    return exact.summary(mean, variance, confidence, options.get("bounds", bounds))


def call_of_product(rng: np.random.Generator) -> Call:
    """Return a call of a product of powers of two scores."""
    name = str(rng.choice(PRODUCTS))
    rows = random_rows(rng)
    has_interval = rng.random() < 0.5
    k = int(rng.integers(1, 8 if has_interval else min(map(len, scored(rows))) + 1))
    arguments: dict[str, Any] = {"k": k}
    values = _values("pass", k), _values("unanimous", k)
    a = b = 0.5
    if name.startswith("geom"):
        a = float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.5]))
        b = float(rng.choice([0.25, 0.5, 1.0, 2.5] if a == 0 else [0.0, 0.25, 0.5, 1.0, 2.5]))
        arguments |= {"pass_power": a, "unanimous_power": b}
    else:
        values = values[0], _values("mG", k)
    if name == "geo_spectrum_at_k":
        a = float(rng.choice([0.0, 0.3, 0.5, 1.0]))
        b = 1 - a
        arguments["lam" if rng.random() < 0.5 else "lambda_"] = a
        if rng.random() < 0.5:
            weights = random_weights(rng, k)
            weights[-1] = weights[-1] or 1 / 64 if sum(weights) < 1 else weights[-1]
            values = values[0], _values("spectrum", k, 0.5, tuple(weights))
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
    moments = [
        [
            *(exact.posterior_mean(row, prior, factor) for factor in values),
            exact.covariance(row, prior, u, u),
            exact.covariance(row, prior, v, v),
            exact.covariance(row, prior, u, v),
        ]
        for row in rows
    ]
    if name != "geom_at_k":
        x, y, *covariances = (exact.mean_of(column) for column in zip(*moments, strict=True))
        moments = [[x, y, *(value / len(rows) for value in covariances)]]
    if any(y == 0 for _, y, *_ in moments):
        return None
    means = [exact.product(x, y, *powers) for x, y, *_ in moments]
    variances = [exact.variance_of_product(x, y, rest, *powers) for x, y, *rest in moments]
    mean, variance = math.fsum(means) / len(means), math.fsum(variances) / len(means) ** 2
    return summary(mean, variance, options)


# --- Categories and rewards -------------------------------------------------------------


def call_of_reward(rng: np.random.Generator) -> Call:
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
    if name == "max_at_k":
        least = min(map(len, questions))
        k = int(rng.integers(1, 9 if has_interval else least + 1))
        arguments["k"] = k
        if not has_interval:
            values = [[rewards[category] for category in row] for row in questions]
            means = [exact.subset_mean_of_maximum(row, k) for row in values]
            return Call(name, rows, arguments, float(exact.mean_of(means)))
        pairs = [
            exact.moments_of_maximum(row, outcomes, rewards, k)
            for row, outcomes in zip(questions, prior, strict=True)
        ]
        means, variances = map(list, zip(*pairs, strict=True))
        if k > 1:
            options["bounds"] = options.get("bounds") or (min(rewards), max(rewards))
    else:
        means, variances = exact.dirichlet_moments(questions, rewards, prior)
    if name == "avg":
        sizes = [exact.Fraction(len(row) + len(rewards), len(row)) for row in questions]
        variances = [v * s**2 for v, s in zip(variances, sizes, strict=True)]
        means = [exact.subset_mean_of_maximum([rewards[i] for i in row], 1) for row in questions]
    mean, variance = exact.mean_of(means), exact.mean_of(variances) / len(rows)
    if has_interval:
        expected = summary(mean, variance, options, None)
        return Call(f"{name}_ci", rows, arguments | options, expected)
    return Call(name, rows, arguments, (float(mean), math.sqrt(variance)))


def random_rewards(rng: np.random.Generator) -> Rows:
    """Return real rewards that every type of float represents exactly, one of them 0.625."""
    rows = [
        [value if value is None else float(rng.integers(-8, 9)) / 8 for value in row]
        for row in random_rows(rng)
    ]
    first = next(i for i, value in enumerate(rows[0]) if value is not None)
    rows[0][first] = 0.625
    return rows


def call_of_real_reward(rng: np.random.Generator) -> Call:
    rows = random_rewards(rng)
    k = int(rng.integers(1, min(map(len, scored(rows))) + 1))
    mean = float(exact.mean_of([exact.subset_mean_of_maximum(row, k) for row in scored(rows)]))
    if rng.random() < 0.5:
        return Call("max_at_k", rows, {"k": k}, mean)
    return Call("metric max_at_k", rows, {"k": k, "confidence": None}, {f"max@{k}": mean})


# --- Verdicts, comparisons and errors ---------------------------------------------------


def random_verdicts(rng: np.random.Generator) -> tuple[Rows, dict[str, float], float]:
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


def call_of_score_agg(rng: np.random.Generator) -> Call:
    rows, arguments, score = random_verdicts(rng)
    if rng.random() < 0.5:
        return Call("score_agg", rows, arguments, score)
    return Call("metric score_agg", rows, arguments | {"confidence": None}, {"score_agg": score})


def call_of_consensus(rng: np.random.Generator) -> Call:
    rows = random_rows(rng)
    k = int(rng.integers(1, min(map(len, scored(rows))) + 1))
    share = sum(2 * sum(row) > k for row in scored(rows)) / len(rows)
    return Call("cons_at_k", rows, {"k": k}, share)


def call_with_too_large_k(rng: np.random.Generator) -> Call:
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


def call_of_metric(rng: np.random.Generator) -> Call:
    name = str(rng.choice(["gpassk", "bayes_at_n", "max_at_k", "cons_at_k"]))
    rows = random_rows(rng)
    questions = scored(rows)
    least, most = min(map(len, questions)), max(map(len, questions))
    ks = sorted({int(k) for k in rng.integers(1, least + 1, 2)})

    def mean(score: str, k: int, tau: float = 0.5) -> float:
        values = _values(score, k, tau)
        return float(exact.mean_of([exact.subset_mean(row, values) for row in questions]))

    if name == "gpassk":
        taus = [0.28, 0.5, 1.0]
        expected = {f"G-Pass@{k}_{tau}": mean("threshold", k, tau) for k in ks for tau in taus}
        expected |= {key.format(k=k): mean(s, k) for key, s in KEYS.items() for k in ks}
        include = ["G-Pass@k", *(key.format(k="k") for key in KEYS)]
        arguments = {"k": ks, "thresholds": taus, "include": include, "confidence": None}
    elif name == "max_at_k":
        arguments = {"k": ks, "confidence": None}
        expected = {f"max@{k}": mean("pass", k) for k in ks}
    elif name == "cons_at_k":
        k = ks[-1]
        size = least if least == most else "n"
        arguments = {"k": k, "confidence": None}
        expected = {
            f"cons@{k}": sum(2 * sum(row) > k for row in questions) / len(rows),
            f"avg@{size}": mean("pass", 1),
            f"pass@{k}": mean("pass", k),
            f"maj@{k}": mean("majority", k),
        }
    else:
        size = least if least == most else "n"
        options = random_interval(rng)
        arguments, expected = dict(options), {}
        names = ("", "_sigma", "_lo", "_hi")
        prior: Rows = [[] for _ in rows]
        means, variances = exact.dirichlet_moments(questions, [0.0, 1.0], prior)
        moments = {"bayes": (means, variances)}
        scales = [exact.Fraction(len(row) + 2, len(row)) for row in questions]
        variances = [v * s**2 for v, s in zip(variances, scales, strict=True)]
        means = [exact.mean_of([exact.Fraction(value) for value in row]) for row in questions]
        moments["avg"] = means, variances
        for key, (means, variances) in moments.items():
            variance = exact.mean_of(variances) / len(rows)
            values = summary(exact.mean_of(means), variance, options, (0.0, 1.0))
            expected |= {f"{key}@{size}{n}": x for n, x in zip(names, values, strict=True)}
    return Call(f"metric {name}", rows, arguments, expected)


CALLS: tuple[tuple[Callable[[np.random.Generator], Call], float], ...] = (
    (call_of_mean, 0.36),
    (call_of_product, 0.2),
    (call_of_reward, 0.22),
    (call_of_real_reward, 0.05),
    (call_of_score_agg, 0.05),
    (call_of_consensus, 0.02),
    (call_with_too_large_k, 0.04),
    (call_of_metric, 0.06),
)
