"""The studies of coverage: what is simulated in a setting, which intervals, and the true scores.

A study returns the cells of one setting: study(truth, M, n, runs, rng). It computes B runs at once,
as the groups of one `compute`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import at_k
import numpy as np
from reward_truths import Categories, RealRewards
from scipy.stats import binom, hypergeom
from scipy.stats import t as student
from truths import (
    CLUSTER_SIZE,
    KNOTS,
    Draw,
    Truth,
    draw_rates,
    shares_of_knots,
    shares_of_population,
)

CONFIDENCE, Z = 0.95, 1.959963984540054
SAME, NEW = "same questions", "new questions"
ROUNDING = 1e-12  # of true scores and limits
Cell = dict[str, Any]
Limits = Mapping[str, np.ndarray]  # (3, B) scores, lower and upper limits of each key
Scores = Mapping[str, np.ndarray]  # (B,) or (1,) true scores of each key


class Tally:
    """Counts how often the intervals of one cell cover the truth, and sums their widths."""

    def __init__(self) -> None:
        self._sums = np.zeros(4)

    def add(self, covered: np.ndarray, widths: np.ndarray, at_end: np.ndarray) -> None:
        """Add (B,) intervals: at_end is whether the estimate is at an end of its range."""
        self._sums += [covered.size, covered.sum(), widths.sum(), at_end.sum()]

    def cell(self) -> Cell:
        runs, *sums = self._sums.tolist()
        shares = (value / runs for value in sums)
        return {
            "runs": int(runs),
            **dict(zip(("coverage", "width", "at_end"), shares, strict=True)),
        }


class Tallies(dict[tuple[str, str, str], Tally]):
    """The tallies of a setting, by target, interval and key."""

    def add(
        self,
        target: str,
        interval: str,
        limits: Limits,
        truth: Scores,
        largest: float = 1.0,
        rounding: float = ROUNDING,
    ) -> None:
        """Count how many intervals of B runs cover, of the keys whose truth is known."""
        for key, true in truth.items():
            if key not in limits:
                continue
            score, lo, hi = limits[key]
            covered = (lo - rounding <= true) & (true <= hi + rounding)
            at_end = (score < ROUNDING) | (score > largest - ROUNDING)
            self.setdefault((target, interval, key), Tally()).add(covered, hi - lo, at_end)

    def cells(self, **setting: Any) -> list[Cell]:
        """Return a cell for each target, interval and key, with the setting added to each."""
        return [
            setting | {"target": target, "interval": interval, **score_and_k(key)} | tally.cell()
            for (target, interval, key), tally in self.items()
        ]


def score_and_k(key: str) -> Cell:
    """Return the name of a score and its k, such as G-Pass@k_0.5 and 4; avg@n is avg@k."""
    k = re.search(r"(?<=[@^])\d+", key)
    if not k:
        return {"score": key.split(" (")[0], "k": 1}
    return {"score": f"{key[: k.start()]}k{key[k.end() :]}", "k": int(k[0])}


@cache
def metric(name: str) -> Any:
    return at_k.load(name)


def limits_of_runs(
    name: str,
    predictions: Any,
    runs: int,
    ends: tuple[str, ...] = ("", "_lo", "_hi"),
    **options: Any,
) -> Limits:
    """Return what the keys of a metric with these ends have for each of B runs, (ends, B).

    Args:
        name: of the metric.
        predictions: of B M questions, one run after the other: lists, or a dict of counts.
        runs: B, the groups of one compute. A hierarchical interval depends a little on the other
            groups, except that of real rewards, so each run is computed alone.
        ends: of keys, "" for the score.
        options: of `compute`.
    """
    is_counts = isinstance(predictions, dict)
    questions = len(next(iter(predictions.values())) if is_counts else predictions) // runs
    if runs > 1 and options.get("interval") == "hierarchical":
        alone = []
        for run in range(runs):
            rows = slice(run * questions, (run + 1) * questions)
            of_run = (
                {role: values[rows] for role, values in predictions.items()} if is_counts else {}
            )
            alone.append(limits_of_runs(name, of_run or predictions[rows], 1, ends, **options))
        return {key: np.concatenate([x[key] for x in alone], axis=1) for key in alone[0]}
    groups = np.repeat(np.arange(runs).astype(str), questions).tolist()
    result = metric(name).compute(
        predictions=predictions, groups=groups, confidence=CONFIDENCE, **options
    )
    keys = [key.removesuffix("_lo") for key in result if "/" not in key and key.endswith("_lo")]
    return {
        key: np.array([[result[f"{run}/{key}{end}"] for run in range(runs)] for end in ends])
        for key in keys
        if "_band" not in key
    }


# --- Correct and incorrect samples ----------------------------------------------------------

GPASSK = ["pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k"]
PRODUCTS = {"Geom": ("pass@", "pass^"), "Geom_ds": ("pass@", "pass^")}
PRODUCTS |= {"GeoSpectrum": ("pass@", "mG-Pass@")}
POOLED = ("Geom_ds", "GeoSpectrum")  # products of means over questions


def ks_of(n: int) -> list[int]:
    return sorted({k for k in (1, 2, 4, n // 2, n) if k <= n})


class Design(NamedTuple):
    """What a study of correct and incorrect samples computes for n samples.

    Args:
        options: of `compute`, given n.
        intervals: their names and targets.
        name: of the metric.
        sizes: the largest number of samples of a question, as a multiple of n.
        clusters: whether the questions are in clusters.
        normal: whether to add the normal approximations in common use.
    """

    options: Callable[[int], dict[str, Any]]
    intervals: tuple[tuple[str, str], ...]
    name: str = "gpassk"
    sizes: int = 1
    clusters: bool = False
    normal: bool = False


def gpassk_options(ks: list[int], *products: str) -> dict[str, Any]:
    return {"k": ks, "include": [*GPASSK, *(f"{name}@k" for name in products)], "thresholds": 0.5}


ALL_INTERVALS = (("posterior", SAME), ("sampling", SAME), ("questions", NEW))
DESIGNS = {
    "pass family": Design(
        lambda n: gpassk_options(ks_of(n), *PRODUCTS), ALL_INTERVALS, normal=True
    ),
    "beyond n": Design(lambda n: gpassk_options([2 * n]), (("hierarchical", SAME),)),
    "consensus": Design(lambda n: {"k": [n // 2, n]}, ALL_INTERVALS[:2], "cons_at_k"),
    "ragged": Design(
        lambda n: gpassk_options([1, n // 2, n], "Geom_ds", "GeoSpectrum"), ALL_INTERVALS, sizes=4
    ),
    "clusters": Design(
        lambda n: {"k": [1, n // 2, n], "include": "pass@k"}, ALL_INTERVALS[2:], clusters=True
    ),
}


def estimates(design: Design, n: int, options: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the estimate of each score, (n + 1,), of a question with c = 0 .. n of n correct."""
    counts = {"n": [n] * (n + 1), "correct": [*range(n + 1)]}
    compute = metric(design.name).compute
    scores = compute(predictions=counts, return_per_question=True, **options)["per_question"]
    return {key: np.array(values) for key, values in scores.items()}


class TrueScores:
    """The true scores of questions with known success rates.

    The true score is the mean estimate from n samples: an unbiased estimate has the same mean for
    each n, and Geom@k and cons@k have no other definition.

    Attributes:
        estimates: (n + 1,) of each score that is a mean over questions.
        products: the keys of the factors of each product.
        keys: the distinct scores, without those with k = 1 that are pass@1 or always 0.
    """

    def __init__(self, design: Design, n: int):
        options = design.options(n)
        n = max(n, *options["k"])
        of_n = estimates(design, n, options)
        self.estimates = {key: x for key, x in of_n.items() if not key.startswith(POOLED)}
        weights = binom.pmf(np.arange(n + 1), n, KNOTS[:, None])
        self._of_knots = {key: weights @ values for key, values in self.estimates.items()}
        self.products = {
            f"{name}@{k}": tuple(f"{factor}{k}" for factor in PRODUCTS[name])
            for name, k in itertools.product(PRODUCTS, options["k"])
            if f"{name}@k" in options.get("include", ())
        }
        self.keys = [*self.estimates]
        if design.name == "gpassk":
            self.keys = [*self._distinct(options["k"])]

    def _distinct(self, ks: list[int]) -> Iterator[str]:
        seen = set()
        for name, k in itertools.product([*GPASSK, *(f"{name}@k" for name in PRODUCTS)], ks):
            key = f"{name[:-1]}{k}" + ("_0.5" if name == "G-Pass@k" else "")
            if key not in self.estimates and key not in self.products:
                continue
            factors = self.products.get(key, (key,))
            values = [self.estimates[factor].round(12) for factor in factors]
            content = key.startswith(POOLED), tuple(map(tuple, values))
            if content not in seen and (k > 1 or name == "pass@k"):
                seen.add(content)
                yield key

    def of(self, shares: np.ndarray, products_first: bool = False) -> dict[str, np.ndarray]:
        """Return each score, (B,), of questions with (B, 4001) weights of the knots.

        Args:
            shares: see `shares_of_knots`.
            products_first: whether Geom@k is the mean of the products of true scores.
        """
        means = {key: shares @ values for key, values in self._of_knots.items()}
        for key, (a, b) in self.products.items():
            if key.startswith(POOLED):
                means[key] = np.sqrt(means[a] * means[b])
            elif products_first:
                means[key] = shares @ np.sqrt(self._of_knots[a] * self._of_knots[b])
        return {key: means[key] for key in self.keys}


def study_rates(
    design: Design, truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of one truth, M and n."""
    options, scores, tallies = design.options(n), TrueScores(design, n), Tallies()
    population = scores.of(shares_of_population(truth)) if design.intervals[-1][1] == NEW else {}
    cells_of_questions = np.arange(questions) // CLUSTER_SIZE
    for rates in draw_rates(truth, questions, runs, rng):
        b, shares = len(rates), shares_of_knots(rates)
        size = np.full(rates.shape, n)
        if design.sizes > 1:
            size = rng.integers(n, design.sizes * n + 1, rates.shape)
        correct = rng.binomial(size, rates)
        counts = {"n": size.ravel(), "correct": correct.ravel()}
        for interval, target in design.intervals:
            limits = limits_of_runs(design.name, counts, b, interval=interval, **options)
            true = population if target == NEW else scores.of(shares, interval == "posterior")
            tallies.add(target, interval, limits, true)
        if design.clusters:
            labels = [f"{run}, {cell}" for run in range(b) for cell in cells_of_questions]
            limits = limits_of_runs(
                design.name, counts, b, interval="questions", clusters=labels, **options
            )
            tallies.add(NEW, "questions, clusters", limits, population)
        if design.normal:
            from_questions, from_samples = normal_limits(design, scores, n, correct)
            tallies.add(SAME, "standard error", from_questions, scores.of(shares))
            tallies.add(NEW, "standard error", from_questions, population)
            tallies.add(SAME, "unbiased variance", from_samples, scores.of(shares))
    return tallies.cells(questions=questions, n=n)


def normal_limits(
    design: Design, scores: TrueScores, n: int, correct: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return normal intervals for scores that are no products, clipped to [0, 1].

    Returns:
        The intervals from the standard error over questions, and those from unbiased variances of
        the estimates of questions, which exist for 2k <= n.
    """
    from_questions, from_samples, questions = {}, {}, correct.shape[1]
    for key in scores.keys:
        k = score_and_k(key)["k"]
        if key.startswith(POOLED):
            continue
        values = scores.estimates[key]
        mean = values[correct].mean(axis=1)
        variance = ((values**2)[correct].mean(axis=1) - mean**2) / (questions - 1)
        from_questions[key] = _normal(mean, variance)
        if 2 * k <= n and key not in scores.products:
            square = unbiased_squares(of_k_samples(design, k)[key], n)
            variance = (values**2 - square)[correct].sum(axis=1) / questions**2
            from_samples[key] = _normal(mean, variance)
    return from_questions, from_samples


@cache
def of_k_samples(design: Design, k: int) -> dict[str, np.ndarray]:
    """Return the score of k samples with j = 0 .. k correct, (k + 1,)."""
    return estimates(design, k, design.options(k) | {"k": k})


def unbiased_squares(values: np.ndarray, n: int) -> np.ndarray:
    """Return unbiased estimates of the square of a score from c = 0 .. n of n correct, (n + 1,).

    It is the score of k samples times that of k others, averaged over all ways to take both.
    """
    k = len(values) - 1
    m, j = np.arange(2 * k + 1)[:, None], np.arange(k + 1)
    split = hypergeom.pmf(j, 2 * k, m, k)
    of_2k = (split * values[j] * values[np.clip(m - j, 0, k)]).sum(axis=1)
    return hypergeom.pmf(m.T, n, np.arange(n + 1)[:, None], 2 * k) @ of_2k


def _normal(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    reach = Z * np.sqrt(np.maximum(variance, 0.0))
    return np.array([mean, *np.clip([mean - reach, mean + reach], 0.0, 1.0)])


# --- Other questions ------------------------------------------------------------------------

BOOTSTRAPS = 400
OF_QUESTIONS = Design(
    lambda n: {"k": sorted({1, n // 2, n}), "include": ["pass@k", "pass^k"]}, (("questions", NEW),)
)


def study_other_questions(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of the limits for other questions, and of those in common use."""
    return _study_of_clusters(truth, [1] * questions, n, runs, rng)


def study_cluster_sizes(
    design: tuple[Truth, Sequence[int]],
    questions: int,
    n: int,
    runs: int,
    rng: np.random.Generator,
) -> list[Cell]:
    """Return the same for questions in clusters, given their truth and sizes."""
    return _study_of_clusters(*design, n, runs, rng)


def _study_of_clusters(
    truth: Truth, sizes: Sequence[int], n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    options, scores, tallies = OF_QUESTIONS.options(n), TrueScores(OF_QUESTIONS, n), Tallies()
    population = scores.of(shares_of_population(truth))
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    for rates in draw_rates(truth, len(clusters), runs, rng):
        correct = rng.binomial(n, rates)
        counts = {"n": np.full(correct.size, n), "correct": correct.ravel()}
        if max(sizes) > 1:
            options["clusters"] = [f"{run}, {x}" for run in range(len(rates)) for x in clusters]
        limits = limits_of_runs("gpassk", counts, len(rates), interval="questions", **options)
        tallies.add(NEW, "questions", limits, population)
        for name, of_practice in practice_limits(scores, correct, clusters, rng).items():
            tallies.add(NEW, name, of_practice, population)
    return tallies.cells(questions=len(clusters), n=n)


def practice_limits(
    scores: TrueScores, correct: np.ndarray, clusters: np.ndarray, rng: np.random.Generator
) -> dict[str, dict[str, np.ndarray]]:
    """Return limits in common use: Student's t, Wilson's for M outcomes, and a bootstrap.

    With clusters, the sums over clusters have the variance that Student's t and the bootstrap use.
    """
    questions, number = len(clusters), clusters[-1] + 1
    in_cluster = np.zeros((questions, number))
    in_cluster[np.arange(questions), clusters] = 1
    result: dict[str, dict[str, np.ndarray]] = {"Student's t": {}, "Wilson": {}, "bootstrap": {}}
    times = rng.multinomial(number, np.full(number, 1 / number), BOOTSTRAPS)
    for key in scores.keys:
        values = scores.estimates[key][correct]
        mean = values.mean(axis=1)
        sums = (values - mean[:, None]) @ in_cluster
        error = np.sqrt((sums**2).sum(axis=1) * number / (number - 1)) / questions
        reach = student.isf(0.025, number - 1) * error
        result["Student's t"][key] = np.array([mean, *np.clip([mean - reach, mean + reach], 0, 1)])
        center = (mean + Z**2 / 2 / questions) / (1 + Z**2 / questions)
        spread = np.sqrt(mean * (1 - mean) / questions + Z**2 / 4 / questions**2)
        margin = Z / (1 + Z**2 / questions) * spread
        result["Wilson"][key] = np.array([mean, center - margin, center + margin])
        sizes = in_cluster.sum(axis=0)
        drawn = (values @ in_cluster) @ times.T / (times @ sizes)
        result["bootstrap"][key] = np.array([mean, *np.quantile(drawn, [0.025, 0.975], axis=1)])
    return result


# --- Rewards and verdicts -------------------------------------------------------------------

REWARD_RUNS_AT_ONCE = 60
REWARD_ROUNDING = 1e-5  # no table shows more digits
EVERY = {"sampling": 1, "posterior": 1, "questions": 2, "hierarchical": 10}


def study_max(
    truth: Categories | RealRewards, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of Max@k of one truth, M and n, with a quarter of the runs of real rewards.

    Hierarchical intervals are computed for every tenth run, also for k > n of categories.
    """
    near = ks_of(n)
    far = [n // 2, n] if truth.real else [n // 2, n, 2 * n, 4 * n]
    many = truth.draw(np.random.default_rng(0), 400_000)
    population = {f"max@{k}": truth.true_max(many, k).mean(keepdims=True) for k in near}
    intervals = [name for name in EVERY if name != "posterior" or not truth.real]
    tallies, runs = Tallies(), max(1, runs // 4) if truth.real else runs
    # Runs of real rewards are drawn and computed one by one, which bounds memory.
    block = 1 if truth.real else REWARD_RUNS_AT_ONCE
    for start in range(0, runs, block):
        b = min(block, runs - start)
        parameters = truth.draw(rng, b * questions)
        samples = truth.samples(parameters, n, rng)
        for interval in intervals:
            chosen = [run for run in range(b) if (start + run) % EVERY[interval] == 0]
            if not chosen:
                continue
            rows = (np.array(chosen)[:, None] * questions + np.arange(questions)).ravel()
            ks = far if interval == "hierarchical" else near
            limits = limits_of_runs(
                "max_at_k",
                samples[rows] if truth.real else {"counts": samples[rows].tolist()},
                len(chosen),
                k=ks,
                interval=interval,
                **({"w": truth.levels.tolist()} if isinstance(truth, Categories) else {}),
            )
            same = {
                f"max@{k}": truth.true_max(parameters[rows], k).reshape(-1, questions).mean(axis=1)
                for k in ks
            }
            true, target = (population, NEW) if interval == "questions" else (same, SAME)
            tallies.add(target, interval, limits, true, rounding=REWARD_ROUNDING)
    return tallies.cells(questions=questions, n=n)


VERDICT_WEIGHTS = np.array([1.0, 0.9, 0.7, 0.3, 0.0])


def study_score_agg(
    temperature: float, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cell of items with n verdicts, each item with its own probabilities."""

    def draw_verdicts(rng: np.random.Generator, size: int) -> np.ndarray:
        pmfs = rng.dirichlet([4, 3, 2, 1, 0.3], size)
        thresholds = np.cumsum(pmfs, axis=1)[:, None, :-1]
        return VERDICT_WEIGHTS[(rng.uniform(size=(size, n, 1)) > thresholds).sum(-1)]

    tallies = Tallies()
    population = at_k.score_agg(draw_verdicts(np.random.default_rng(0), 400_000), temperature)
    for start in range(0, runs, REWARD_RUNS_AT_ONCE):
        b = min(REWARD_RUNS_AT_ONCE, runs - start)
        verdicts = np.concatenate([draw_verdicts(rng, questions) for _ in range(b)])
        limits = limits_of_runs(
            "score_agg", verdicts, b, temperature=temperature, interval="questions"
        )
        true = {"score_agg": np.array([population])}
        tallies.add(NEW, "questions", limits, true, rounding=REWARD_ROUNDING)
    return tallies.cells(questions=questions, n=n)


# --- Votes and shares of correctness --------------------------------------------------------

ANSWERS_OF_POPULATION, FINE = 400, 2000  # questions, and samples of each for its true vote@k
VOTE_RUNS_AT_ONCE = 20


def answers_of(counts: np.ndarray) -> list[list[str]]:
    """Return the samples of questions with (M, A) numbers of each answer."""
    names = np.array(list("abcdefghijklmnopqrstuvwxyz")[: counts.shape[1]])
    return [np.repeat(names, row).tolist() for row in counts]


def study_votes(
    truth: Draw, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of vote@k of one truth, M and n. The first answer is correct."""
    ks, tallies = sorted({1, n // 4, n // 2, 3 * n // 4, n}), Tallies()
    of_fine = np.rint(FINE * truth(np.random.default_rng(0), ANSWERS_OF_POPULATION)).astype(int)
    many = of_fine / of_fine.sum(axis=1, keepdims=True)
    votes = metric("cons_at_k").compute(
        predictions=answers_of(np.rint(FINE * many).astype(int)),
        references=["a"] * len(many),
        k=ks,
        return_per_question=True,
    )["per_question"]
    of_questions = {f"vote@{k}": np.array(votes[f"vote@{k}"]) for k in ks}
    population = {key: values.mean(keepdims=True) for key, values in of_questions.items()}
    for start in range(0, runs, VOTE_RUNS_AT_ONCE):
        drawn, samples = [], []
        for _ in range(min(VOTE_RUNS_AT_ONCE, runs - start)):
            drawn.append(rng.integers(0, len(many), questions))
            samples += answers_of(rng.multinomial(n, many[drawn[-1]]))
        same = {key: values[drawn].mean(axis=1) for key, values in of_questions.items()}
        for interval, target, true in (("sampling", SAME, same), ("questions", NEW, population)):
            limits = limits_of_runs(
                "cons_at_k",
                samples,
                len(drawn),
                references=["a"] * len(samples),
                k=ks,
                interval=interval,
            )
            tallies.add(target, interval, limits, true)
    return tallies.cells(questions=questions, n=n)


def study_shares(
    truth: Draw, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of the mean share of correctness of one truth, M and n."""
    many, tallies, key = truth(np.random.default_rng(0), 100_000), Tallies(), accuracy_key(n)
    population = {key: (many[:, 0] / many.sum(axis=1)).mean(keepdims=True)}
    for start in range(0, 5 * runs, VOTE_RUNS_AT_ONCE):
        samples, means = [], []
        for _ in range(min(VOTE_RUNS_AT_ONCE, 5 * runs - start)):
            parameters = truth(rng, questions)
            a, b = parameters.T[:, :, None]
            samples.append(rng.beta(a, b, size=(questions, n)))
            means.append((parameters[:, 0] / parameters.sum(axis=1)).mean())
        same = {key: np.array(means)}
        for interval, target, true in (("sampling", SAME, same), ("questions", NEW, population)):
            limits = limits_of_runs(
                "cons_at_k", np.concatenate(samples), len(means), k=1, interval=interval
            )
            tallies.add(target, interval, limits, true)
    return tallies.cells(questions=questions, n=n)


def accuracy_key(n: int) -> str:
    return f"accuracy ({n} runs average)"


# --- Bands ----------------------------------------------------------------------------------

BAND_SHAPES = {(40, 8): [1, 2, 4, 8], (100, 16): [1, 2, 4, 8, 16], (30, 6): [1, 2, 3, 4, 5, 6]}
BAND_POPULATION = 200_000
BAND_ENDS = ("_lo", "_hi", "_band_lo", "_band_hi")


def study_bands(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return how often limits cover, those of all k cover, and the band covers at all k."""
    tallies, ks = Tallies(), BAND_SHAPES.get((questions, n), ks_of(n))

    def true_scores(rates: np.ndarray, score: str) -> np.ndarray:
        powers = rates[..., None] ** ks if score == "pass^k" else 1 - (1 - rates[..., None]) ** ks
        return powers.mean(axis=-2)

    population = truth(rng, (1, BAND_POPULATION))
    rates = np.concatenate([truth(rng, (1, questions)) for _ in range(runs)])
    outcomes = (rng.random((runs, questions, n)) < rates[..., None]).astype(int)
    for score, interval in (("pass@k", "sampling"), ("pass^k", "questions")):
        true = true_scores(population if interval == "questions" else rates, score)
        limits = limits_of_runs(
            "gpassk",
            outcomes.reshape(-1, n),
            runs,
            BAND_ENDS,
            k=ks,
            include=score,
            interval=interval,
            band=True,
        )
        lo, hi, band_lo, band_hi = np.stack([limits[f"{score[:-1]}{k}"] for k in ks], -1)
        single = (lo <= true + ROUNDING) & (true <= hi + ROUNDING)
        band = (band_lo <= true + ROUNDING) & (true <= band_hi + ROUNDING)
        key, nowhere = f"{score[:-1]}{max(ks)}", np.zeros(1)
        for column, covered, width in (
            ("each", single, hi - lo),
            ("all", np.all(single, axis=1), (hi - lo).mean(axis=1)),
            ("band", np.all(band, axis=1), (band_hi - band_lo).mean(axis=1)),
        ):
            tallies[interval, column, key] = Tally()
            tallies[interval, column, key].add(covered, width, nowhere)
    return tallies.cells(questions=questions, n=n)


# --- Leaderboards ---------------------------------------------------------------------------

LEADERBOARD_KS = np.array([1, 4])
LEADERBOARD_DESIGNS = ("equal rates", "equal scores", "half better")
LEADERBOARD_SHAPES = ((40, 8), (100, 16), (30, 6))
REDRAWN, BETTER, SIGMA, LEADERBOARD_POPULATION = 0.3, 0.6, 0.7, 200_000


class Field(NamedTuple):
    """The runs of a leaderboard.

    A run replaces a share of the rates by draws of its own, so that the runs are correlated over
    questions and their scores are equal in the population. With "half better", some have the power
    0.6 of the rates. With "equal rates" all runs have the same rates, which is the hardest case for
    new samples of the same questions.
    """

    truth: Truth
    design: str
    runs: int
    rewards: bool
    interval: str

    def rates(self, questions: int, rng: np.random.Generator) -> np.ndarray:
        """Return (K, M) success rates."""
        shared = self.truth(rng, (1, questions))
        if self.design == "equal rates":
            return np.repeat(shared, self.runs, axis=0)
        own = np.concatenate([self.truth(rng, (1, questions)) for _ in range(self.runs)])
        rates = np.where(rng.random(own.shape) < REDRAWN, own, shared)
        if self.design == "half better":
            rates[self.runs // 2 :] **= BETTER
        return rates

    def outcomes(self, rates: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return (K, M, n) outcomes, or lognormal rewards of the correct samples."""
        correct = rng.random((*rates.shape, samples)) < rates[..., None]
        if not self.rewards:
            return correct.astype(int)
        return correct * np.exp(SIGMA * rng.normal(size=correct.shape))

    def true_scores(self, rates: np.ndarray) -> np.ndarray:
        """Return (K, 2) means over questions of pass@k, or of Max@k of rewards."""
        scores = []
        for k in LEADERBOARD_KS:
            j = np.arange(k + 1)
            largest = means_of_largest()[: k + 1] if self.rewards else j > 0
            terms = (math.comb(k, i) * rates**i * (1 - rates) ** (k - i) * largest[i] for i in j)
            scores.append(sum(terms).mean(axis=-1))
        return np.stack(scores, axis=-1)

    def population(self, rng: np.random.Generator) -> np.ndarray:
        """Return the true scores of all questions, which are equal for runs drawn alike."""
        scores = self.true_scores(self.rates(LEADERBOARD_POPULATION, rng))
        half = self.runs // 2 if self.design == "half better" else self.runs
        for alike in (scores[:half], scores[half:]):
            alike[:] = alike.mean(axis=0) if len(alike) else alike
        return scores


@cache
def means_of_largest() -> np.ndarray:
    """Return the expected largest of j = 0 .. 4 lognormal rewards."""
    rewards = np.exp(SIGMA * np.random.default_rng(0).normal(size=(400_000, max(LEADERBOARD_KS))))
    return np.array([0.0, *np.maximum.accumulate(rewards, axis=1).mean(axis=0)])


def study_leaderboards(
    field: Field, questions: int, n: int, leaderboards: int, rng: np.random.Generator
) -> list[Cell]:
    """Return how often statements of a leaderboard are true, at all k together.

    - all: all intervals band_lo to band_hi contain the true difference (at least 95 %);
    - order: no run is called better that is not (at least 95 %);
    - ranks: all true ranks are within rank_lo to rank_hi (at least 95 %);
    - each: the share of single intervals lo to hi that contain the true difference (about 95 %);
    - found: the share of true differences that are found, where runs differ.
    """
    population = field.population(rng)
    shares: dict[str, list[float]] = {}
    for _ in range(leaderboards):
        rates = field.rates(questions, rng)
        R = field.outcomes(rates, n, rng)
        if all(len(np.unique(outcomes)) == 1 for outcomes in R):
            continue
        score = population if field.interval == "questions" else field.true_scores(rates)
        board = at_k.leaderboard(
            {str(run): outcomes for run, outcomes in enumerate(R)},
            "max@k" if field.rewards else "pass@k",
            LEADERBOARD_KS.tolist(),
            field.interval,
        )
        for column, is_true in true_statements(board, score).items():
            if is_true.size:
                values = is_true if column in ("each", "found") else is_true.all(keepdims=True)
                shares.setdefault(column, []).append(values.mean())
    kind = "rewards" if field.rewards else "binary"
    return [
        {"questions": questions, "n": n, "target": field.interval, "interval": column}
        | {"score": kind, "k": 4, "runs": len(values), "coverage": float(np.mean(values))}
        for column, values in shares.items()
    ]


def true_statements(board: dict[str, Any], score: np.ndarray) -> dict[str, np.ndarray]:
    """Return which statements of a leaderboard are true, given the (K, 2) true scores."""
    pairs, rows = board["pairs"], board["runs"]

    def column_of(entry: dict[str, Any]) -> int:
        return LEADERBOARD_KS.tolist().index(score_and_k(entry["key"])["k"])

    def values(entries: list[dict[str, Any]], *names: str) -> np.ndarray:
        return np.array([[entry[name] for entry in entries] for name in names])

    k = [column_of(pair) for pair in pairs]
    a, b = values(pairs, "a", "b").astype(int)
    difference = score[a, k] - score[b, k]
    lo, hi, band_lo, band_hi = values(pairs, "lo", "hi", "band_lo", "band_hi")
    is_above, is_below = band_lo > ROUNDING, band_hi < -ROUNDING
    k = [column_of(row) for row in rows]
    (run,), (rank_lo, rank_hi) = values(rows, "run").astype(int), values(rows, "rank_lo", "rank_hi")
    gaps = score[:, k] - score[run, k]
    above, below = (gaps > ROUNDING).sum(axis=0), (gaps < -ROUNDING).sum(axis=0)
    return {
        "all": (band_lo - ROUNDING <= difference) & (difference <= band_hi + ROUNDING),
        "order": ~((is_above & (difference <= ROUNDING)) | (is_below & (difference >= -ROUNDING))),
        "ranks": (rank_lo <= 1 + above) & (rank_hi >= len(score) - below),
        "each": (lo - ROUNDING <= difference) & (difference <= hi + ROUNDING),
        "found": (is_above | is_below)[np.abs(difference) > ROUNDING],
    }
