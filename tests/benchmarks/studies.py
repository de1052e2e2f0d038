"""The studies of coverage: what a run is, which limits it gets, and what they should contain.

A study is called as study(truth, questions, n, runs, rng). It draws runs of these many questions
with n samples each, and yields a `Result` for each interval and score of a block of runs.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import at_k
import numpy as np
from reward_truths import Categories, RealRewards
from scipy import stats
from scipy.optimize import minimize
from truths import Clustered, Truth

CONFIDENCE, Z = 0.95, 1.959963984540054
ROUNDING = 1e-12  # of true scores and limits
RUNS_AT_ONCE = 250
POPULATION = 200_000  # questions that stand for a distribution


class Result(NamedTuple):
    """How B runs ended, for one interval and one score, such as pass@4.

    `covers` is whether the limits contain the true score (NaN without limits), `width` is that of
    the limits, and `error` the score less the true score, (B,) each.
    """

    interval: str
    key: str
    covers: np.ndarray
    width: np.ndarray | float = 0.0
    error: np.ndarray | float = 0.0


Results = Iterator[Result]


def result(
    interval: str,
    key: str,
    limits: np.ndarray | Sequence[np.ndarray],
    true: np.ndarray | float,
    rounding: float = ROUNDING,
) -> Result:
    """Return the result for scores, lower and upper limits, (B,) each, and true scores."""
    score, lo, hi = limits
    covers = (lo - rounding <= true) & (true <= hi + rounding)
    return Result(interval, key, covers, hi - lo, score - true)


def score_and_k(key: str) -> dict[str, Any]:
    """Return the name of a score and its k, such as G-Pass@k_0.5 and 4; avg@n is avg@k."""
    k = re.search(r"(?<=[@^])\d+", key)
    if not k:
        return {"score": key, "k": 1}
    return {"score": f"{key[: k.start()]}k{key[k.end() :]}", "k": int(k[0])}


@cache
def metric(name: str) -> Any:
    return at_k.load(name)


def limits_of_runs(name: str, predictions: Any, runs: int, **options: Any) -> dict[str, np.ndarray]:
    """Return the score and the limits of each key of a metric for each of B runs, (3, B).

    `predictions` are those of one run after the other: lists, or a dict of counts. The runs are the
    groups of one compute.
    """
    is_counts = isinstance(predictions, dict)
    questions = len(next(iter(predictions.values())) if is_counts else predictions) // runs
    groups = np.repeat(np.arange(runs).astype(str), questions).tolist()
    scores = metric(name).compute(
        predictions=predictions, groups=groups, confidence=CONFIDENCE, **options
    )
    keys = [key.removesuffix("_lo") for key in scores if "/" not in key and key.endswith("_lo")]
    return {
        key: np.array(
            [[scores[f"{run}/{key}{end}"] for run in range(runs)] for end in ("", "_lo", "_hi")]
        )
        for key in keys
    }


def blocks(runs: int, size: int = RUNS_AT_ONCE) -> list[int]:
    """Return the numbers of runs that are computed at once."""
    return [min(size, runs - start) for start in range(0, runs, size)]


def counts_of(size: np.ndarray, correct: np.ndarray) -> dict[str, np.ndarray]:
    return {"n": size.ravel(), "correct": correct.ravel()}


def pass_at(rates: np.ndarray, k: int) -> np.ndarray:
    """Return the mean of pass@k over questions, the last axis."""
    return np.mean(1 - (1 - rates) ** k, axis=-1)


# --- Correct and incorrect samples ------------------------------------------------------

KNOTS = np.sin(np.linspace(0, math.pi / 2, 4001)) ** 2  # rates between which scores are linear
GPASSK = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k"]
PRODUCTS = {"Geom": ("pass@", "pass^"), "Geom_ds": ("pass@", "pass^")}
PRODUCTS |= {"GeoSpectrum": ("pass@", "mG-Pass@")}
POOLED = ("Geom_ds", "GeoSpectrum")  # products of means over questions


def ks_up_to(n: int) -> list[int]:
    return sorted({k for k in (1, 2, 4, n // 2, n) if k <= n})


class Design(NamedTuple):
    """What a study of correct and incorrect samples computes for n samples.

    `options` returns those of `compute`, given n. `sizes` is the largest number of samples of a
    question, as a multiple of n.
    """

    options: Callable[[int], dict[str, Any]]
    intervals: tuple[str, ...] = ("posterior", "sampling")
    metric: str = "gpassk"
    sizes: int = 1


def gpassk_options(ks: list[int], *products: str) -> dict[str, Any]:
    return {"k": ks, "include": [*GPASSK, *(f"{name}@k" for name in products)], "thresholds": 0.5}


PASS_FAMILY = Design(lambda n: gpassk_options(ks_up_to(n), *PRODUCTS))
BEYOND_N = Design(lambda n: gpassk_options([2 * n]), ("hierarchical",))
CONSENSUS = Design(lambda n: {"k": [n // 2, n]}, metric="cons_at_k")
RAGGED = Design(lambda n: gpassk_options([1, n // 2, n], *POOLED), sizes=4)
OTHER_QUESTIONS = Design(
    lambda n: {"k": sorted({1, n // 2, n}), "include": ["pass@k", "pass^k"]}, ("questions",)
)


def estimates(design: Design, n: int, options: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the estimate of each score, (n + 1,), of a question with c = 0 .. n of n correct."""
    counts = {"n": [n] * (n + 1), "correct": [*range(n + 1)]}
    compute = metric(design.metric).compute
    scores = compute(predictions=counts, return_per_question=True, **options)["per_question"]
    return {key: np.array(x) for key, x in scores.items() if not key.startswith(POOLED)}


def factors(key: str) -> list[str]:
    """Return the keys of the factors of a product, or the key of another score."""
    name, _, k = key.partition("@")
    return [f"{factor}{k}" for factor in PRODUCTS.get(name, ())] or [key]


class TrueScores:
    """The true scores of questions with known success rates.

    The true score is the mean estimate from n samples: an unbiased estimate has the same mean for
    each n, and Geom@k and cons@k have no other definition. `keys` are the distinct scores, without
    those with k = 1 that are pass@1 or always 0.
    """

    def __init__(self, design: Design, n: int):
        options = design.options(n)
        n = max(n, *options["k"])
        self.estimates = estimates(design, n, options)
        weights = stats.binom.pmf(np.arange(n + 1), n, KNOTS[:, None])
        self._at_knots = {key: weights @ values for key, values in self.estimates.items()}
        self.keys = [*self.estimates]
        if design.metric == "gpassk":
            self.keys = self._distinct(options)

    def _distinct(self, options: dict[str, Any]) -> list[str]:
        keys: dict[tuple, str] = {}
        for name, k in itertools.product(options["include"], options["k"]):
            key = f"{name[:-1]}{k}" + ("_0.5" if name == "G-Pass@k" else "")
            values = [self.estimates[factor].round(12).tobytes() for factor in factors(key)]
            if k > 1 or name == "pass@k":
                keys.setdefault((key.startswith(POOLED), *values), key)
        return [*keys.values()]

    def mean(self, key: str, rates: np.ndarray, interval: str = "") -> np.ndarray:
        """Return the score of questions with (B, M) rates, (B,).

        For the posterior, Geom@k is the mean of the products of true scores.
        """
        values = [np.interp(rates, KNOTS, self._at_knots[factor]) for factor in factors(key)]
        if key.startswith(POOLED):
            return np.sqrt(math.prod(x.mean(axis=-1) for x in values))
        if len(values) == 2 and interval == "posterior":
            return np.sqrt(math.prod(values)).mean(axis=-1)
        return np.interp(rates, KNOTS, self._at_knots[key]).mean(axis=-1)


def study_rates(
    design: Design, truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    options, scores = design.options(n), TrueScores(design, n)
    for b in blocks(runs):
        rates = truth(rng, (b, questions))
        size = rng.integers(n, design.sizes * n + 1, rates.shape)
        correct = rng.binomial(size, rates)
        for interval in design.intervals:
            counts = counts_of(size, correct)
            limits = limits_of_runs(design.metric, counts, b, interval=interval, **options)
            for key in scores.keys:
                if key in limits:
                    true = scores.mean(key, rates, interval)
                    yield result(interval, key, limits[key], true)


# --- Other questions --------------------------------------------------------------------

BOOTSTRAPS = 400


def study_other_questions(
    truth: Truth | Clustered, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the results of `interval="questions"`, and of the limits in common use."""
    draw, sizes = truth if isinstance(truth, Clustered) else (truth, [1] * questions)
    options, scores = OTHER_QUESTIONS.options(n), TrueScores(OTHER_QUESTIONS, n)
    all_rates = draw(np.random.default_rng(0), (5, POPULATION))
    population = {key: float(scores.mean(key, all_rates).mean()) for key in scores.keys}
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    for b in blocks(runs):
        correct = rng.binomial(n, draw(rng, (b, questions)))
        counts = counts_of(np.full(correct.shape, n), correct)
        labels = [f"{run}, {cluster}" for run in range(b) for cluster in clusters]
        labelled: dict[str, Any] = {"clusters": labels} if max(sizes) > 1 else {}
        limits = limits_of_runs("gpassk", counts, b, interval="questions", **labelled, **options)
        for key, true in population.items():
            values = scores.estimates[key][correct]
            common = practice_limits(values, clusters, rng)
            for name, limit in ({"questions": limits[key]} | common).items():
                yield result(name, key, limit, true)


def practice_limits(
    values: np.ndarray, clusters: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return limits in common use: Student's t, Wilson's for M outcomes, and a bootstrap.

    With clusters, the sums over clusters have the variance that Student's t and the bootstrap use.
    `values` are (B, M) scores of questions, and `clusters` (M,) numbers 0, 1, ..
    """
    questions, number = len(clusters), clusters[-1] + 1
    in_cluster = (clusters[:, None] == np.arange(number)).astype(float)
    mean = values.mean(axis=1)
    sums = (values - mean[:, None]) @ in_cluster
    error = np.sqrt((sums**2).sum(axis=1) * number / (number - 1)) / questions
    center = (mean + Z**2 / 2 / questions) / (1 + Z**2 / questions)
    margin = np.sqrt(mean * (1 - mean) / questions + Z**2 / 4 / questions**2)
    margin *= Z / (1 + Z**2 / questions)
    weights = rng.multinomial(number, np.full(number, 1 / number), BOOTSTRAPS)
    drawn = (values @ in_cluster) @ weights.T / (weights @ in_cluster.sum(axis=0))
    t_margin = stats.t.isf(0.025, number - 1) * error
    return {
        "Student's t": np.array([mean, *np.clip([mean - t_margin, mean + t_margin], 0.0, 1.0)]),
        "Wilson": np.array([mean, center - margin, center + margin]),
        "bootstrap": np.array([mean, *np.quantile(drawn, [0.025, 0.975], axis=1)]),
    }


# --- Rewards ----------------------------------------------------------------------------

REWARD_ROUNDING = 1e-5  # no table shows more digits
RUNS_OF = {"sampling": 1, "posterior": 1, "questions": 2, "hierarchical": 10}
"""An interval is computed for the first of this many runs."""


def study_max(
    truth: Categories | RealRewards, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the results of Max@k, for a quarter of the runs of real rewards.

    Hierarchical intervals are also computed for k > n of categories.
    """
    near = ks_up_to(n)
    far = [n // 2, n] if truth.real else [n // 2, n, 2 * n, 4 * n]
    all_parameters = truth.draw(np.random.default_rng(0), 400_000)
    levels = {"w": truth.levels.tolist()} if isinstance(truth, Categories) else {}
    # Few runs of real rewards are computed at once, to bound memory.
    for b in blocks(math.ceil(runs / 4) if truth.real else runs, 10 if truth.real else 60):
        parameters = truth.draw(rng, b * questions)
        samples = truth.samples(parameters, n, rng)
        for interval, share in RUNS_OF.items():
            if truth.real and interval == "posterior":
                continue
            chosen = -(-b // share)
            rows = samples[: chosen * questions]
            ks = far if interval == "hierarchical" else near
            limits = limits_of_runs(
                "max_at_k",
                rows if truth.real else {"counts": rows.tolist()},
                chosen,
                k=ks,
                interval=interval,
                **levels,
            )
            for k in ks:
                if interval == "questions":
                    true = np.full(chosen, truth.true_max(all_parameters, k).mean())
                else:
                    of_questions = truth.true_max(parameters[: len(rows)], k)
                    true = of_questions.reshape(chosen, -1).mean(axis=1)
                name = f"hierarchical k {'>' if k > n else '<='} n"
                name = name if interval == "hierarchical" else interval
                yield result(name, f"max@{k}", limits[f"max@{k}"], true, REWARD_ROUNDING)


# --- Votes ------------------------------------------------------------------------------

QUESTIONS_OF_VOTES, SAMPLES_OF_TRUTH = 400, 2000


def texts(counts: np.ndarray) -> list[list[str]]:
    """Return the answers to questions with (M, A) numbers of each answer."""
    names = np.array(list("abcdefghijklmnopqrstuvwxyz")[: counts.shape[1]])
    return [np.repeat(names, row).tolist() for row in counts]


def study_votes(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the results of vote@k. The questions are some of 400. The first answer is correct."""
    ks = sorted({1, n // 4, n // 2, 3 * n // 4, n})
    (pmfs,) = truth(np.random.default_rng(0), (1, QUESTIONS_OF_VOTES))
    counts = np.rint(SAMPLES_OF_TRUTH * pmfs).astype(int)
    votes = metric("cons_at_k").compute(
        predictions=texts(counts), references=["a"] * len(counts), k=ks, return_per_question=True
    )["per_question"]
    for b in blocks(runs, 20):
        drawn = rng.integers(0, len(counts), (b, questions))
        pmfs = counts[drawn.ravel()] / counts[drawn.ravel()].sum(axis=1, keepdims=True)
        samples = texts(rng.multinomial(n, pmfs))
        references = ["a"] * len(samples)
        limits = limits_of_runs(
            "cons_at_k", samples, b, references=references, k=ks, interval="sampling"
        )
        for k in ks:
            true = np.array(votes[f"vote@{k}"])[drawn].mean(axis=1)
            yield result("sampling", f"vote@{k}", limits[f"vote@{k}"], true)


# --- Errors of a checker ----------------------------------------------------------------


class Labelling(NamedTuple):
    """A run that a checker grades, and a person labels in part.

    Samples to label are chosen "at random", "by verdict" or as "whole questions". `rates` are the
    true-positive and false-positive rate of the checker. `fooled`, if not 0, is the share of
    questions whose incorrect samples are all accepted, while none of the others is.
    """

    truth: Truth
    choice: str = "at random"
    labels: int = 150
    rates: tuple[float, float] = (0.92, 0.06)
    fooled: float = 0.0


def graded(
    correct: np.ndarray, labelling: Labelling, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return (M, n) results of the checker, and labels: 0, 1 or None."""
    accepted = rng.random(correct.shape) < np.where(correct, *labelling.rates)
    if labelling.fooled:
        accepted = np.where(correct, accepted, rng.random((len(correct), 1)) < labelling.fooled)
    is_labelled = np.zeros(correct.shape, bool)
    if labelling.choice == "whole questions":
        number = labelling.labels // correct.shape[1]
        is_labelled[rng.choice(len(correct), number, replace=False)] = True
    else:
        weight = np.where(accepted, 6.0 if labelling.choice == "by verdict" else 1.0, 1.0).ravel()
        p = weight / weight.sum()
        is_labelled.flat[rng.choice(correct.size, labelling.labels, replace=False, p=p)] = True
    labels = correct.astype(int).astype(object)
    labels[~is_labelled] = None
    return accepted, labels


def label_counts(labels: np.ndarray, accepted: np.ndarray) -> dict[str, int]:
    cells = {"tp": (1, True), "fn": (1, False), "fp": (0, True), "tn": (0, False)}
    return {
        name: int(np.sum((labels == label) & (accepted == verdict)))
        for name, (label, verdict) in cells.items()
    }


def study_labels(
    labelling: Labelling, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the results of a run with labels.

    "rates of the labels" takes the rates of the checker from all labels, as is usual, and
    "uncorrected" reports what the checker accepts. A run whose labels do not show that the checker
    is of use has no score.
    """
    for _ in range(runs):
        q = labelling.truth(rng, (1, questions))[0]
        accepted, labels = graded(rng.random((questions, n)) < q[:, None], labelling, rng)
        columns: dict[str, dict[str, Any]] = {
            "labels": {"labels": labels.tolist()},
            "rates of the labels": {"labels": label_counts(labels, accepted)},
            "uncorrected": {},
        }
        true = {f"pass@{k}": pass_at(q, k) for k in (1, 2, 4)} | {"pass^2": np.mean(q**2)}
        for column, options in columns.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    scores = metric("gpassk").compute(
                        predictions=accepted.astype(int),
                        k=[1, 2, 4],
                        include=["pass@k", "pass^k"],
                        confidence=CONFIDENCE,
                        **options,
                    )
                except ValueError as error:
                    if "labels do not show" not in str(error):
                        raise
                    continue
            for key, value in true.items():
                limits = [np.array([scores[f"{key}{end}"]]) for end in ("", "_lo", "_hi")]
                yield result(column, key, limits, value)


# --- k above n, and several looks -------------------------------------------------------


def study_extrapolated(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the results of pass@k for k = 4n and 16n.

    "Beta-binomial" is the Beta distribution of maximum likelihood, and "plug-in" takes the share of
    correct samples of each question for its success rate. Both have no limits here.
    """
    ks = [4 * n, 16 * n]
    for _ in range(runs):
        q = truth(rng, (1, questions))[0]
        c = rng.binomial(n, q)
        scores = metric("gpassk").compute(
            predictions=counts_of(np.full(questions, n), c),
            k=ks,
            include="pass@k",
            confidence=CONFIDENCE,
        )
        a, b = fitted_beta(c, n)
        for k in ks:
            key, true = f"pass@{k}", pass_at(q, k)
            limits = [np.array([scores[f"{key}{end}"]]) for end in ("", "_lo", "_hi")]
            yield result("auto", key, limits, true)
            beta_binomial = 1 - stats.betabinom.pmf(0, k, a, b)
            for name, score in (("Beta-binomial", beta_binomial), ("plug-in", pass_at(c / n, k))):
                yield Result(name, key, np.full(1, np.nan), error=score - true)


def fitted_beta(c: np.ndarray, n: int) -> np.ndarray:
    def loss(logs: np.ndarray) -> float:
        return -float(stats.betabinom.logpmf(c, n, *np.exp(logs)).sum())

    return np.exp(minimize(loss, [0.0, 0.0], bounds=[(-5, 6)] * 2).x)


def study_looks(
    looks: tuple[Truth, str, int], questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield how often limits are wrong at no look, while samples or questions grow.

    Samples of the same 20 questions grow from 4 to n. Other questions, with 4 samples of each, grow
    from 15 to the number of questions. `looks` has the truth, the interval, and how many looks.
    """
    truth, interval, number = looks
    is_sampling = interval == "sampling"
    q = truth(rng, (runs, 20 if is_sampling else questions))
    correct = rng.random((*q.shape, n if is_sampling else 4)) < q[:, :, None]
    first, last = (4, n) if is_sampling else (15, questions)
    sizes = sorted({*np.geomspace(first, last, number).astype(int)})
    everything = truth(np.random.default_rng(1), (1, POPULATION))
    for k, (name, anytime) in itertools.product((1, 4), (("one look", False), ("anytime", True))):
        true = pass_at(q if is_sampling else everything, k)
        at_looks = []
        for size in sizes:
            seen = correct[:, :, :size] if is_sampling else correct[:, :size]
            counts = counts_of(np.full(seen.shape[:2], seen.shape[2]), seen.sum(axis=2))
            limits = limits_of_runs(
                "gpassk", counts, runs, k=k, include="pass@k", interval=interval, anytime=anytime
            )
            at_looks.append(result(name, f"pass@{k}", limits[f"pass@{k}"], true))
        covers = np.all([look.covers for look in at_looks], axis=0)
        yield Result(name, f"pass@{k}", covers, sum(look.width for look in at_looks) / len(sizes))
