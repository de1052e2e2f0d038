"""How often the intervals hold: banks drawn from known success rates, as a table and a picture.

    python tests/benchmarks/coverage.py coverage.json [--runs 2000] [--far-runs 100]
    python tests/benchmarks/coverage.py coverage.json --draw

A cell is a law of the success rates (a truth), M questions, n samples of each, a score, a k and an
interval. Each run draws rates and samples anew; with n samples of each question a bank is how many
questions have 0 .. n right, so the runs of a cell are one table, and an interval is asked for all
of them at once. Told is whether it holds the score that these rates have; for new questions, the
score of all questions of that law; and for "hierarchical" that of 2n draws, in fewer runs. Geom@k,
of which there is no unbiased estimate, is what n samples score on average, but for "posterior" what
these rates do; Spectrum@k is mG-Pass@k by default. A share c of R runs has the Monte Carlo error
sqrt(c (1 - c) / R): .5 points at 95 % and 2,000 runs.

Two smaller studies are of questions that share sources, and of unlike numbers of samples. All take
six to nine minutes on one core, "hierarchical" the most of it, the pass family two. --draw draws
the picture on the card of gpassk from the table, for which matplotlib is needed.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from at_k.inputs.outcomes import Counts
from at_k.intervals.hierarchical import Hierarchical
from at_k.intervals.posterior import PosteriorIntervals
from at_k.intervals.sampling import Sampling
from at_k.scores.consensus import consensus_estimator, consensus_moments, consensus_scores
from at_k.scores.credits import (
    Credits,
    Score,
    above_half,
    all_right,
    any_right,
    area,
    as_score,
    geo_spectrum,
    geom,
    geom_ds,
    majority,
    threshold,
)
from at_k.scores.distributions import Prior, estimator, posterior
from holding import (
    Cell,
    Grid,
    Tally,
    compare_widths,
    draw,
    robust,
    summary,
    tables_of,
    widths,
    worst,
)
from study import CONFIDENCE, Study, normal_intervals, unbiased_variances
from truths import ROOT, Truth, at_knots, everywhere, of_sources, rates, tabled, truths

QUESTIONS, SAMPLES = (10, 30, 100, 500), (4, 8, 16, 64)
UNIFORM: Prior = (1.0, 1.0)
FAMILIES: dict[str, Callable[[int], Score | Credits]] = {
    "pass@k": any_right,
    "pass^k": all_right,
    "G-Pass@k_0.5": lambda k: threshold(k, 0.5),
    "mG-Pass@k": above_half,
    "maj@k": majority,
    "AUC@k": area,
    "Geom@k": geom,
    "Geom_ds@k": geom_ds,
    "GeoSpectrum@k": geo_spectrum,
}


def draws_of(n: int) -> list[int]:
    return sorted({1, 2, 4, n // 2, n})


def scores_of(draws: list[int]) -> dict[str, Score]:
    """Each score at each k, but those that are another's by another name, or always 0."""
    result: dict[str, Score] = {}
    for (family, score), k in itertools.product(FAMILIES.items(), draws):
        each = as_score(score(k))
        if k == 1 and family != "pass@k":
            continue  # is pass@1, or always 0
        if each not in result.values():
            result[f"{family} {k}"] = each
    return result


# --- The studies --------------------------------------------------------------------------


def pass_family(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """The cells of k <= n for one truth, M and n."""
    scores = scores_of(draws_of(n))
    keys, estimate = estimator(scores)
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    study = Study(kinds, keys, estimate, n)
    sampling, new = (Sampling(kinds, keys, estimate, new) for new in (False, True))
    prior, variances = posterior(kinds, scores, UNIFORM), unbiased_variances(kinds, scores)
    own = {key: blend.of(study.knots.T) for key, blend in prior.keys.items() if not blend.pooled}
    anywhere = study.truth(everywhere(truth))
    for p in rates(truth, questions, runs, rng):
        c = rng.binomial(n, p)
        shares, table = at_knots(p), tabled(c, n + 1)
        these = study.truth(shares)
        of_rates = these | {key: shares @ column for key, column in own.items()}
        study.add("these", "posterior", prior.over(table, CONFIDENCE), of_rates, table)
        study.add("these", "sampling", sampling.over(table, CONFIDENCE), these, table)
        study.add("new", "questions", new.over(table, CONFIDENCE), anywhere, table)
        error, unbiased = normal_intervals(study, table, variances)
        study.add("these", "standard error", error, these, table)
        study.add("new", "standard error", error, anywhere, table)
        study.add("these", "U^2 - V", unbiased, these, table)
    return study.cells(questions=questions, n=n)


def more_draws(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """The cells of k = 2n, one bank at a time."""
    scores = scores_of([2 * n]).items()
    credits = {key: score.credits[0] for key, score in scores if len(score.credits) == 1}
    kinds = Counts(np.full(2 * n + 1, 2 * n), np.arange(2 * n + 1))
    study = Study(kinds, *estimator(credits), 2 * n)
    tallies = {key: Tally() for key in credits}
    for p in rates(truth, questions, runs, rng):
        c = rng.binomial(n, p)
        true = study.truth(at_knots(p))
        for bank, row in enumerate(c):
            counts = Counts(np.full(questions, n), row)
            found = Hierarchical(counts, credits).intervals(np.arange(questions), CONFIDENCE)
            for key, each in found.items():
                ends = np.array([each.lo]), np.array([each.hi])
                tallies[key].add(*ends, true[key][bank], False)
    return [
        {"questions": questions, "n": n, "target": "these", "interval": "hierarchical"}
        | {"score": key.split()[0], "k": 2 * n}
        | tally.cell()
        for key, tally in tallies.items()
    ]


def majorities(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """The cells of cons_at_k, for k = n and n/2. cons@k is what n samples score on average."""
    found = consensus_scores({str(k): k for k in (n // 2, n)}, str(n))
    scores = {_spaced(key): score for key, score in found.items()}
    keys, estimate = consensus_estimator(scores)
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    study = Study(kinds, keys, estimate, n)
    sampling = Sampling(kinds, keys, estimate)
    prior = PosteriorIntervals(consensus_moments(scores, kinds, UNIFORM), (0.0, 1.0))
    for p in rates(truth, questions, runs, rng):
        c = rng.binomial(n, p)
        these, table = study.truth(at_knots(p)), tabled(c, n + 1)
        study.add("these", "posterior", prior.over(table, CONFIDENCE), these, table)
        study.add("these", "sampling", sampling.over(table, CONFIDENCE), these, table)
    return study.cells(questions=questions, n=n)


def _spaced(key: str) -> str:
    """A key such as pass@8, as "pass@k 8"."""
    name, k = key.split("@")
    return f"{name}@k {k}"


def ragged(truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator) -> list[Cell]:
    """The cells of questions of n to 4n samples each."""
    # The mean of Geom@k depends on the number of samples.
    scores = {k: score for k, score in scores_of([1, n // 2, n]).items() if score.pooled}
    keys, estimate = estimator(scores)
    sizes = np.arange(n, 4 * n + 1)
    first = np.cumsum(sizes + 1) - sizes - 1  # of the kinds of each size
    size_of_kind = np.repeat(sizes, sizes + 1)
    kinds = Counts(size_of_kind, np.arange(len(size_of_kind)) - np.repeat(first, sizes + 1))
    study = Study(kinds, keys, estimate, n)
    sampling, new = (Sampling(kinds, keys, estimate, new) for new in (False, True))
    prior, anywhere = posterior(kinds, scores, UNIFORM), study.truth(everywhere(truth))
    for p in rates(truth, questions, runs, rng):
        size = rng.integers(n, 4 * n + 1, p.shape)
        table = tabled(first[size - n] + rng.binomial(size, p), len(size_of_kind))
        these = study.truth(at_knots(p))
        study.add("these", "posterior", prior.over(table, CONFIDENCE), these, table)
        study.add("these", "sampling", sampling.over(table, CONFIDENCE), these, table)
        study.add("new", "questions", new.over(table, CONFIDENCE), anywhere, table)
    return study.cells(questions=questions, n=n)


def clustered(
    truth: Truth, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """The cells of new questions that share sources, five to each, told of it or not."""
    keys, estimate = estimator({f"pass@k {k}": any_right(k) for k in (1, n // 2, n)})
    kinds = Counts(np.full(n + 1, n), np.arange(n + 1))
    study, source = Study(kinds, keys, estimate, n), np.arange(questions) // 5
    new, anywhere = Sampling(kinds, keys, estimate, True), study.truth(everywhere(truth))
    for p in rates(truth, questions, runs, rng):
        c = rng.binomial(n, p)
        table, sources = tabled(c, n + 1), [(row, source) for row in c]
        study.add("new", "questions", new.over(table, CONFIDENCE), anywhere, table)
        found = new.over(table, CONFIDENCE, sources)
        study.add("new", "questions, clusters", found, anywhere, table)
    return study.cells(questions=questions, n=n)


# --- The program --------------------------------------------------------------------------


def told(tables: Mapping[str, list[Cell]]) -> str:
    """What the cards say."""
    these, new = (
        [cell for cell in tables["pass family"] if cell["target"] == target]
        for target in ("these", "new")
    )
    without_prior = [cell.copy() for cell in these if cell["interval"] != "posterior"]
    compare_widths(without_prior)
    normal = ("standard error", "U^2 - V")
    parts = {
        "These questions, k <= n": summary(these, "truth", ("posterior", *normal, "sampling")),
        "by score": summary(these, "score", ("posterior", "U^2 - V", "sampling")),
        "by M": summary(these, "questions", ("posterior", "U^2 - V", "sampling")),
        "widths": widths(these, "truth", "sampling"),
        "widths, without the posterior": widths(without_prior, "truth", "sampling"),
        "hold for all truths": robust(these),
        "worst": worst(these, "sampling"),
        "New questions": summary(new, "truth", (normal[0], "questions")),
        "widths of new": widths(new, "truth", "questions"),
        "new, hold for all truths": robust(new),
        "worst of new": worst(new, "questions"),
        "k = 2n": summary(tables["more draws"], "truth", ("hierarchical",)),
        "cons_at_k": summary(tables["majorities"], "truth", ("posterior", "sampling")),
        "cons_at_k by score": summary(tables["majorities"], "score", ("posterior", "sampling")),
        "unlike n": summary(tables["ragged"], "truth", ("posterior", "sampling", "questions")),
        "clusters": summary(tables["clustered"], "truth", ("questions", "questions, clusters")),
    }
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items())


def picture(tables: Mapping[str, list[Cell]]) -> None:
    columns = [(n, k) for n in SAMPLES for k in draws_of(n)]
    draw(
        ROOT / "tests/benchmarks/pictures/gpassk_interval_coverage.svg",
        [cell for cell in tables["pass family"] if cell["score"] == "pass@k"],
        {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'},
        columns,
        "of the 95 % intervals of pass@k that hold",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--far-runs", type=int, default=100)
    parser.add_argument(
        "--draw", action="store_true", help="draw the table and tell of it, do not make it"
    )
    asked = parser.parse_args()
    if asked.draw:
        tables = json.loads(asked.table.read_text())
        picture(tables)
        print(told(tables))
        return
    laws, sources = truths(), {f"log-odds around {x}": of_sources(x) for x in (0, -2)}
    tables = tables_of(
        {
            "pass family": Grid(pass_family, laws, QUESTIONS, SAMPLES, asked.runs),
            "more draws": Grid(more_draws, laws, QUESTIONS, SAMPLES, asked.far_runs),
            "majorities": Grid(majorities, laws, QUESTIONS, SAMPLES, asked.runs),
            "ragged": Grid(ragged, laws, QUESTIONS, (4,), asked.runs),
            "clustered": Grid(clustered, sources, QUESTIONS[1:], (4, 16), asked.runs),
        }
    )
    for target in ("these", "new"):
        compare_widths([cell for cell in tables["pass family"] if cell["target"] == target])
    asked.table.write_text(json.dumps(tables))
    print(told(tables))


if __name__ == "__main__":
    main()
