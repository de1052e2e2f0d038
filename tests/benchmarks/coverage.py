"""Measure the coverage of intervals of binary outcomes in simulations with known success rates.

    python tests/benchmarks/coverage.py coverage.json [--held-out] [--runs 2000] [--far-runs 100]
    python tests/benchmarks/coverage.py coverage.json --draw

Each run draws success rates from a known distribution and samples from these rates. An interval
for the same questions covers if it contains the score of these rates, and one for new questions if
it contains the score of the whole distribution. Questions are counted by their number of correct
samples, so all runs of a setting are computed at once. Hierarchical intervals are computed run by
run for k = 2n, in fewer runs. Geom@k has no unbiased estimate: its true score is the mean estimate
from n samples, except for the posterior interval. A coverage of c in R runs has the Monte Carlo
error sqrt(c (1 - c) / R), which is 0.5 points at 95 % and 2,000 runs.

Smaller studies concern cons@k, questions with different numbers of samples, and clusters of
questions. All studies together take six to nine minutes on one core.

With --held-out, the runs come from distributions that no interval was tuned on, with other M and n.
Both results are kept in the table and printed below each other. With --draw, the script draws the
picture on the card of gpassk from an existing table, which needs matplotlib.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np
from at_k.inputs.counts import BinaryCounts
from at_k.intervals.hierarchical import HierarchicalIntervals
from at_k.intervals.posterior import PosteriorIntervals
from at_k.intervals.sampling import SamplingIntervals
from at_k.scores.binary_family import BinaryFamily
from at_k.scores.consensus import consensus_estimator, consensus_moments, consensus_scores
from at_k.scores.credits import (
    above_half,
    all_correct,
    any_correct,
    area_under_pass,
    geo_spectrum,
    geom,
    geom_ds,
    majority,
    threshold,
)
from at_k.scores.distributions import Prior
from at_k.scores.pass_family import estimator, pass_moments
from at_k.scores.score import Score
from coverage_cells import (
    TUNED,
    Cell,
    Grid,
    Tally,
    compare_widths,
    coverage_table,
    draw_heat_map,
    load_tables,
    lowest_coverage,
    print_tables,
    robust_counts,
    run_grids,
    save_tables,
    study_options,
    width_table,
)
from study import CONFIDENCE, Study, normal_intervals, unbiased_variances
from truths import (
    CLUSTER_SIZE,
    HELD_OUT_QUESTIONS,
    HELD_OUT_SAMPLES,
    QUESTIONS,
    ROOT,
    SAMPLES,
    Truth,
    clustered_rates,
    draw_rates,
    held_out_truths,
    multiplicities,
    shares_of_knots,
    shares_of_population,
    truths,
)

UNIFORM: Prior = (1.0, 1.0)
SAME, NEW = "same questions", "new questions"
SCORES: dict[str, Callable[[int], Score]] = {
    "pass@k": lambda k: Score((any_correct(k),)),
    "pass^k": lambda k: Score((all_correct(k),)),
    "G-Pass@k_0.5": lambda k: Score((threshold(k, 0.5),)),
    "mG-Pass@k": lambda k: Score((above_half(k),)),
    "maj@k": lambda k: Score((majority(k),)),
    "AUC@k": lambda k: Score((area_under_pass(k),)),
    "Geom@k": geom,
    "Geom_ds@k": geom_ds,
    "GeoSpectrum@k": geo_spectrum,
}


def ks_of(n: int) -> list[int]:
    return sorted({k for k in (1, 2, 4, n // 2, n) if k <= n})


def scores_at(ks: list[int]) -> dict[str, Score]:
    """Return each distinct score at each k, by a key such as "pass@k 4"."""
    result: dict[str, Score] = {}
    for (name, score_at), k in itertools.product(SCORES.items(), ks):
        if k == 1 and name != "pass@k":
            continue  # equal to pass@1, or always 0
        score = score_at(k)
        if score not in result.values():
            result[f"{name} {k}"] = score
    return result


def counts_of(n: int) -> BinaryCounts:
    """Return one question for each number c = 0 .. n of correct samples."""
    return BinaryCounts(np.full(n + 1, n), np.arange(n + 1))


# --- The studies --------------------------------------------------------------------------


def study_pass_family(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells with k <= n of one truth, M and n."""
    scores, counts = scores_at(ks_of(n)), counts_of(n)
    keys, estimate = estimator(scores)
    study, family = Study(counts, keys, estimate, n), BinaryFamily(counts, keys, estimate, {})
    sampling, other = SamplingIntervals(family), SamplingIntervals(family, new_questions=True)
    moments, variances = pass_moments(counts, scores, UNIFORM), unbiased_variances(counts, scores)
    posterior = PosteriorIntervals(moments, (0.0, 1.0))
    # Products that are taken before averaging, from the true scores of each rate.
    products = {
        key: score.value(study.of_knots.T)
        for key, score in moments.keys.items()
        if not score.pooled
    }
    population = study.true_scores(shares_of_population(truth))
    for rates in draw_rates(truth, questions, runs, rng):
        c = rng.binomial(n, rates)
        shares, times = shares_of_knots(rates), multiplicities(c, n + 1)
        same = study.true_scores(shares)
        of_rates = same | {key: shares @ product for key, product in products.items()}
        study.add(SAME, "posterior", posterior.over(times, CONFIDENCE), of_rates, times)
        study.add(SAME, "sampling", sampling.over(times, CONFIDENCE), same, times)
        study.add(NEW, "questions", other.over(times, CONFIDENCE), population, times)
        standard_error, unbiased = normal_intervals(study, times, variances)
        study.add(SAME, "standard error", standard_error, same, times)
        study.add(NEW, "standard error", standard_error, population, times)
        study.add(SAME, "unbiased variance", unbiased, same, times)
    return study.cells(questions=questions, n=n)


def study_beyond_n(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells with k = 2n, from one run at a time."""
    scores = {key: score for key, score in scores_at([2 * n]).items() if len(score.terms) == 1}
    credits = {key: score.terms[0] for key, score in scores.items()}
    study = Study(counts_of(2 * n), *estimator(scores), 2 * n)
    tallies, nothing = {key: Tally() for key in scores}, estimator({})
    for rates in draw_rates(truth, questions, runs, rng):
        c = rng.binomial(n, rates)
        true_scores = study.true_scores(shares_of_knots(rates))
        for run, row in enumerate(c):
            counts = BinaryCounts(np.full(questions, n), row)
            method = HierarchicalIntervals(BinaryFamily(counts, *nothing, credits))
            (found,) = method.for_parts([np.arange(questions)], CONFIDENCE)
            for key, each in found.items():
                lo, hi, truths_of_run = np.array([[each.lo], [each.hi], [true_scores[key][run]]])
                tallies[key].add(lo, hi, truths_of_run, np.array([False]))
    setting = {"questions": questions, "n": n, "target": SAME, "interval": "hierarchical"}
    return [
        setting | {"score": key.split()[0], "k": 2 * n} | tally.cell()
        for key, tally in tallies.items()
    ]


def study_consensus(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of cons_at_k for k = n/2 and n.

    The true cons@k is the mean estimate from n samples.
    """
    by_id = consensus_scores({k: k for k in (n // 2, n)}, n)
    scores = {score_id.key.replace("@", "@k "): score for score_id, score in by_id.items()}
    keys, estimate = consensus_estimator(scores)
    counts = counts_of(n)
    study = Study(counts, keys, estimate, n)
    sampling = SamplingIntervals(BinaryFamily(counts, keys, estimate, {}))
    posterior = PosteriorIntervals(consensus_moments(scores, counts, UNIFORM), (0.0, 1.0))
    for rates in draw_rates(truth, questions, runs, rng):
        c = rng.binomial(n, rates)
        same, times = study.true_scores(shares_of_knots(rates)), multiplicities(c, n + 1)
        study.add(SAME, "posterior", posterior.over(times, CONFIDENCE), same, times)
        study.add(SAME, "sampling", sampling.over(times, CONFIDENCE), same, times)
    return study.cells(questions=questions, n=n)


def study_ragged(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of questions with n to 4n samples each."""
    # The mean of Geom@k depends on the number of samples.
    scores = {key: score for key, score in scores_at([1, n // 2, n]).items() if score.pooled}
    keys, estimate = estimator(scores)
    sizes = np.arange(n, 4 * n + 1)
    first = np.cumsum(sizes + 1) - sizes - 1  # index of c = 0 of each size
    all_n = np.repeat(sizes, sizes + 1)
    counts = BinaryCounts(all_n, np.arange(len(all_n)) - np.repeat(first, sizes + 1))
    study, family = Study(counts, keys, estimate, n), BinaryFamily(counts, keys, estimate, {})
    sampling, other = SamplingIntervals(family), SamplingIntervals(family, new_questions=True)
    posterior = PosteriorIntervals(pass_moments(counts, scores, UNIFORM), (0.0, 1.0))
    population = study.true_scores(shares_of_population(truth))
    for rates in draw_rates(truth, questions, runs, rng):
        size = rng.integers(n, 4 * n + 1, rates.shape)
        times = multiplicities(first[size - n] + rng.binomial(size, rates), len(all_n))
        same = study.true_scores(shares_of_knots(rates))
        study.add(SAME, "posterior", posterior.over(times, CONFIDENCE), same, times)
        study.add(SAME, "sampling", sampling.over(times, CONFIDENCE), same, times)
        study.add(NEW, "questions", other.over(times, CONFIDENCE), population, times)
    return study.cells(questions=questions, n=n)


def study_clusters(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of new questions in clusters of five, with and without their labels."""
    keys, estimate = estimator({f"pass@k {k}": Score((any_correct(k),)) for k in (1, n // 2, n)})
    counts, labels = counts_of(n), np.arange(questions) // CLUSTER_SIZE
    study, family = Study(counts, keys, estimate, n), BinaryFamily(counts, keys, estimate, {})
    other = SamplingIntervals(family, new_questions=True)
    population = study.true_scores(shares_of_population(truth))
    for rates in draw_rates(truth, questions, runs, rng):
        c = rng.binomial(n, rates)
        times, clusters = multiplicities(c, n + 1), [(row, labels) for row in c]
        study.add(NEW, "questions", other.over(times, CONFIDENCE), population, times)
        clustered = other.over(times, CONFIDENCE, clusters)
        study.add(NEW, "questions, clusters", clustered, population, times)
    return study.cells(questions=questions, n=n)


# --- The program --------------------------------------------------------------------------


def summary(tables: Mapping[str, list[Cell]]) -> str:
    """Return the figures on the cards of gpassk and cons_at_k."""
    cells, consensus = tables["pass family"], tables["consensus"]
    same, new = ([cell for cell in cells if cell["target"] == target] for target in (SAME, NEW))
    without_posterior = [cell.copy() for cell in same if cell["interval"] != "posterior"]
    compare_widths(without_posterior)
    every = ("posterior", "standard error", "unbiased variance", "sampling")
    three = ("posterior", "unbiased variance", "sampling")
    two = ("posterior", "sampling")
    parts = {
        "Same questions, k <= n, by truth": coverage_table(same, "truth", every),
        "By score": coverage_table(same, "score", three),
        "By M": coverage_table(same, "questions", three),
        "Widths of sampling": width_table(same, "truth", "sampling"),
        "The same, without the posterior": width_table(without_posterior, "truth", "sampling"),
        "Sufficient coverage for all truths": robust_counts(same),
        "Lowest coverage of sampling": lowest_coverage(same, "sampling"),
        "New questions, by truth": coverage_table(new, "truth", ("standard error", "questions")),
        "Widths of questions": width_table(new, "truth", "questions"),
        "New questions, sufficient coverage for all truths": robust_counts(new),
        "Lowest coverage of questions": lowest_coverage(new, "questions"),
        "k = 2n": coverage_table(tables["beyond n"], "truth", ("hierarchical",)),
        "cons_at_k": coverage_table(consensus, "truth", two),
        "cons_at_k, by score": coverage_table(consensus, "score", two),
        "n to 4n samples": coverage_table(tables["ragged"], "truth", (*two, "questions")),
        "Clusters": coverage_table(
            tables["clusters"], "truth", ("questions", "questions, clusters")
        ),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items())


def draw(tables: Mapping[str, list[Cell]]) -> None:
    """Draw the picture on the card of gpassk."""
    draw_heat_map(
        ROOT / "tests/benchmarks/pictures/gpassk_interval_coverage.svg",
        [cell for cell in tables["pass family"] if cell["score"] == "pass@k"],
        {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'},
        [(n, k) for n in SAMPLES for k in ks_of(n)],
        "coverage of the 95 % intervals of pass@k",
    )


def main() -> None:
    options = study_options(__doc__, {"runs": 2000, "far-runs": 100})
    if options.draw:
        draw(load_tables(options.table)[TUNED])
    else:
        independent = held_out_truths() if options.held_out else truths()
        questions = HELD_OUT_QUESTIONS if options.held_out else QUESTIONS
        samples = HELD_OUT_SAMPLES if options.held_out else SAMPLES
        clustered = {f"mean log-odds {center}": clustered_rates(center) for center in (0, -2)}
        runs, far_runs = options.runs, options.far_runs
        tables = run_grids(
            {
                "pass family": Grid(study_pass_family, independent, questions, samples, runs),
                "beyond n": Grid(study_beyond_n, independent, questions, samples, far_runs),
                "consensus": Grid(study_consensus, independent, questions, samples, runs),
                "ragged": Grid(study_ragged, independent, questions, samples[:1], runs),
                "clusters": Grid(study_clusters, clustered, questions[1:], (4, 16), runs),
            }
        )
        for target in (SAME, NEW):
            compare_widths([cell for cell in tables["pass family"] if cell["target"] == target])
        save_tables(options, tables)
    print_tables(options.table, summary)


if __name__ == "__main__":
    main()
