"""Random calls of the public functions and metrics, compared with brute force and with scorio.

    python tests/random_calls.py 50000 [SEED] [--tensors]

This also makes a tenth as many calls with an argument that makes no sense, and of the options that
only `random_options` has. With --tensors, outcomes also come as tensors of torch and arrays of JAX,
which have to be installed.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import at_k
import exact
import numpy as np
from container_types import TYPES, Type, can_hold, tensor_types
from scorio import eval as scorio

Rows = list[list[Any]]
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
SCORES = ("pass@k", "pass^k", "mG-Pass@k", "maj@k", "AUC@k")


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


def call_of_product(rng: np.random.Generator) -> Call:
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
        means, variances = posterior_of_categories(
            questions,
            prior,
            lambda counts: exact.posterior_moments_of_maximum(counts, rewards, k),
            len(rewards),
        )
        if k > 1:
            options["bounds"] = options.get("bounds") or (min(rewards), max(rewards))
    else:
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
        names = ("", "_sigma", "_lo", "_hi")
        prior: Rows = [[] for _ in rows]
        means, variances = posterior_of_categories(
            questions, prior, lambda counts: exact.posterior_moments_of_mean(counts, [0, 1]), 2
        )
        moments = {"bayes": (means, variances)}
        scales = [Fraction(len(row) + 2, len(row)) for row in questions]
        variances = [v * s**2 for v, s in zip(variances, scales, strict=True)]
        means = [exact.mean_of([Fraction(value) for value in row]) for row in questions]
        moments["avg"] = means, variances
        for key, (means, variances) in moments.items():
            variance = exact.mean_of(variances) / len(rows)
            # Without bounds, the metric clips its limits to the range of its rewards, 0 to 1; the
            # functions `bayes_ci` and `avg_ci` do not clip theirs.
            limits = options | {"bounds": options.get("bounds") or (0.0, 1.0)}
            values = summary(exact.mean_of(means), variance, limits)
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


# --- Comparison -------------------------------------------------------------------------


class Disagreement(NamedTuple):
    """A call whose result is not the expected one."""

    call: Call
    container: str
    against: str
    result: Any
    expected: Any

    def __str__(self) -> str:
        name, rows, arguments, _ = self.call
        return (
            f"{name}({rows}, {arguments}) as {self.container}: {self.result}, but {self.against} "
            f"gives {self.expected}"
        )


@cache
def metric(name: str):
    return at_k.load(name)


def result_of(call: Call, container: Any) -> Any:
    """Return the result of a call, or the type of the error that it raises."""
    try:
        if call.name.startswith("metric "):
            return metric(call.name.split()[1]).compute(predictions=container, **call.arguments)
        return getattr(at_k, call.name)(container, **call.arguments)
    except (ValueError, TypeError) as error:
        if not isinstance(call.expected, type):
            return error
        return call.expected if isinstance(error, call.expected) else type(error)
    except Exception as error:  # a disagreement, whatever it is
        return error


def agree(result: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two results are equal up to rounding. None as expected agrees with all."""
    if expected is None:
        return not isinstance(result, Exception)
    if isinstance(expected, type):
        return result is expected
    if isinstance(expected, dict):
        if isinstance(result, dict):  # only floats have a number of runs
            result = {key: value for key, value in result.items() if "runs" not in key}
        if not isinstance(result, dict) or sorted(result) != sorted(expected):
            return False
        return all(agree(result[key], value, tolerance) for key, value in expected.items())
    if isinstance(expected, tuple):
        if not isinstance(result, tuple) or len(result) != len(expected):
            return False
        return all(agree(x, y, tolerance) for x, y in zip(result, expected, strict=True))
    return type(result) is float and math.isclose(
        result, expected, rel_tol=tolerance, abs_tol=1e-12
    )


def result_of_scorio(call: Call) -> Any:
    """Return the result of scorio, or None where scorio has no such call."""
    function = getattr(scorio, call.name, None)
    is_matrix = len(set(map(len, call.rows))) == 1 and scored(call.rows) == call.rows
    real = any(isinstance(value, float) for row in call.rows for value in row)
    if function is None or not is_matrix or real or isinstance(call.expected, type):
        return None
    arguments = {
        name: np.array(value) if name in ("w", "R0") else value
        for name, value in call.arguments.items()
    }
    if arguments.get("bounds", ()) is None and not call.name.startswith(REWARDS):
        arguments["bounds"] = (-math.inf, math.inf)
    if "confidence" in arguments:
        arguments["confidence"] = float(arguments["confidence"])
    if "tau" in arguments and isinstance(arguments["tau"], np.float32):
        return None  # scorio multiplies in single precision
    result = function(np.array(call.rows), **arguments)
    return tuple(map(float, result)) if isinstance(result, tuple) else float(result)


def check_calls(
    number: int, seed: int, types: dict[str, Type] = TYPES
) -> tuple[dict[str, int], list[Disagreement]]:
    """Return how many results were compared with each peer, and those that disagree."""
    rng = np.random.default_rng(seed)
    makers, shares = zip(*CALLS, strict=True)
    compared = {"brute force": 0, "scorio": 0}
    disagreements = []
    for _ in range(number):
        call = makers[rng.choice(len(makers), p=shares)](rng)
        is_binary = len(call.arguments.get("w", "01")) == 2
        held = [name for name, kind in types.items() if can_hold(kind, call.rows, is_binary)]
        name = held[rng.integers(len(held))]
        result = result_of(call, types[name].make(call.rows))
        compared["brute force"] += call.expected is not None
        if not agree(result, call.expected):
            disagreements.append(Disagreement(call, name, "brute force", result, call.expected))
        peer = result_of_scorio(call)
        compared["scorio"] += peer is not None
        if peer is not None and not agree(result, peer, 1e-7):
            disagreements.append(Disagreement(call, name, "scorio", result, peer))
    return compared, disagreements


def main() -> int:
    from hostile_calls import check_hostile_calls
    from random_options import check_options

    count, seed = [*(int(x) for x in sys.argv[1:] if x.isdigit()), 1][:2]
    types = TYPES | tensor_types() if "--tensors" in sys.argv else TYPES
    warnings.simplefilter("ignore")
    compared, disagreements = check_calls(count, seed, types)
    problems: list[object] = [*disagreements, *check_hostile_calls(count // 10, seed)]
    problems += check_options(count // 10, seed)
    print(f"{compared}, {len(problems)} problems", *problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
