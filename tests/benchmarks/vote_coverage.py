"""Measure the coverage of intervals of votes and of shares of correctness in simulations.

    python tests/benchmarks/vote_coverage.py coverage.json [--held-out] [--runs 100]

Each run draws the distribution of the answers of M questions, of which the first is correct, and n
answers from each. An interval for the same questions covers if it contains the mean of vote@k of
these distributions, and one for other questions if it contains that of all such questions. For
shares of correctness, such as those of a checker that returns floats, the score is their mean. A
vote takes a millisecond, so M and n are smaller than in the other studies: all runs take a few
minutes on one core. With --held-out, the runs come from distributions that were fixed before any
result on them was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from at_k.inputs.outcomes import Outcomes
from at_k.intervals.interval import Interval
from at_k.intervals.questions import EstimatedScore, QuestionIntervals, VarianceIntervals
from at_k.scores.consensus import mean_shares, share_variances
from at_k.scores.votes import AnswerCounts, vote_at_k, vote_variances
from coverage_cells import (
    Cell,
    Grid,
    Tally,
    coverage_table,
    lowest_coverage,
    print_tables,
    run_grids,
    save_tables,
    study_options,
)

CONFIDENCE, POPULATION, FINE = 0.95, 400, 2000
SAME, NEW = "same questions", "new questions"
Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Draws the distributions of answers, (M, A), or the parameters of shares, (M, 2)."""


def of_correct(correct: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return distributions of answers: the correct one, and others with these relative shares."""
    others = np.broadcast_to(others, (len(correct), others.shape[-1]))
    rest = others / others.sum(axis=1, keepdims=True)
    return np.column_stack([correct, (1 - correct)[:, None] * rest])


def answer_truths() -> dict[str, Draw]:
    """Return the distributions of answers, by their names in the tables."""
    return {
        "long tail": lambda rng, m: of_correct(rng.beta(1, 2, m), np.arange(1.0, 13) ** -1.2),
        "two modes": lambda rng, m: of_correct(
            rng.uniform(0.3, 0.55, m), np.array([0.8, 0.1, 0.05, 0.05])
        ),
        "nearly unanimous": lambda rng, m: of_correct(
            rng.choice([0.95, 0.03], m, p=[0.7, 0.3]), np.array([0.9, 0.1])
        ),
    }


def held_out_answer_truths() -> dict[str, Draw]:
    """Return distributions of answers that were fixed before any result on them was seen."""
    return {
        "exact ties": lambda rng, m: np.tile([0.45, 0.45, 0.1], (m, 1)),
        "Dirichlet(0.6, ..)": lambda rng, m: rng.dirichlet([0.6] * 5, m),
        "second answer": lambda rng, m: of_correct(
            rng.uniform(0.1, 0.4, m), np.array([0.7, 0.1, 0.1, 0.1])
        ),
    }


def share_truths() -> dict[str, Draw]:
    """Return the parameters of Beta distributed shares of correctness."""
    return {
        "alike: Beta(2, 2)": lambda rng, m: np.full((m, 2), 2.0),
        "skewed: Beta(0.5, 5)": lambda rng, m: np.tile([0.5, 5.0], (m, 1)),
        "by question": lambda rng, m: 3 * of_correct(rng.beta(1, 1, m), np.ones(1)) + 0.01,
        "nearly 0 or 1": lambda rng, m: 0.2 * of_correct(rng.beta(1, 1, m), np.ones(1)) + 1e-3,
    }


# --- The studies --------------------------------------------------------------------------


def answer_counts(rows: np.ndarray) -> list[AnswerCounts]:
    """Return the counts of questions from (M, A) numbers of samples of each answer."""
    return [
        AnswerCounts((row[0],) if row[0] else (), tuple(sorted(m for m in row[1:] if m)), 0)
        for row in rows.tolist()
    ]


def true_votes(pmfs: np.ndarray, k: int) -> np.ndarray:
    """Return vote@k of distributions of answers, from k of 2,000 samples with these shares."""
    return vote_at_k(answer_counts(np.rint(FINE * pmfs).astype(int)), k)


class Tallies:
    """The coverage of the intervals of several scores."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}

    def add(self, interval: str, found: Interval, key: str, truth: float) -> None:
        lo, hi, true = (np.array([value]) for value in (found.lo, found.hi, truth))
        tally = self._tallies.setdefault((interval, key), Tally())
        tally.add(lo, hi, true, np.array([found.mu < 1e-12 or found.mu > 1 - 1e-12]))

    def cells(self, **setting) -> list[Cell]:
        return [
            setting
            | {"interval": interval, "score": key.split()[0], "k": int(key.split()[1])}
            | tally.cell()
            for (interval, key), tally in self._tallies.items()
        ]


def add_intervals(
    tallies: Tallies,
    scores: Mapping[str, EstimatedScore],
    same: Mapping[str, float],
    population: Mapping[str, float],
) -> None:
    """Add the intervals of one run for the same and for new questions."""
    values = {key: score.values for key, score in scores.items()}
    rows = np.arange(len(next(iter(values.values()))))
    methods = {
        "sampling": (VarianceIntervals(scores), same),
        "questions": (QuestionIntervals(values, (0.0, 1.0)), population),
    }
    for interval, (method, truth) in methods.items():
        (found,) = method.for_groups([rows], CONFIDENCE)
        for key, each in found.items():
            tallies.add(interval, each, key, truth[key])


def study_votes(
    truth: Draw, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of vote@k of one truth, M and n."""
    ks = {f"vote@k {k}": k for k in sorted({1, n // 4, n // 2, 3 * n // 4, n})}

    def draw(rng: np.random.Generator, m: int) -> np.ndarray:
        shares = np.rint(FINE * truth(rng, m))
        return shares / shares.sum(axis=1, keepdims=True)

    many = draw(np.random.default_rng(0), POPULATION)
    population = {key: float(true_votes(many, k).mean()) for key, k in ks.items()}
    tallies = Tallies()
    for _ in range(runs):
        pmfs = many[rng.integers(0, len(many), questions)]
        counts = answer_counts(rng.multinomial(n, pmfs))
        scores = {
            key: EstimatedScore(
                vote_at_k(counts, k), vote_variances(counts, k), np.full(questions, n / k)
            )
            for key, k in ks.items()
        }
        same = {key: float(true_votes(pmfs, k).mean()) for key, k in ks.items()}
        add_intervals(tallies, scores, same, population)
    return tallies.cells(questions=questions, n=n)


def study_shares(
    truth: Draw, questions: int, n: int, runs: int, rng: np.random.Generator
) -> list[Cell]:
    """Return the cells of the mean share of correctness of one truth, M and n."""
    many, tallies = truth(np.random.default_rng(0), 100_000), Tallies()
    population = {"accuracy 1": float((many[:, 0] / many.sum(axis=1)).mean())}
    for _ in range(5 * runs):
        parameters = truth(rng, questions)
        a, b = parameters.T[:, :, None]
        shares = rng.beta(a, b, size=(questions, n))
        outcomes = Outcomes(shares.ravel(), np.full(questions, n))
        estimates = mean_shares(outcomes), share_variances(outcomes)
        scores = {"accuracy 1": EstimatedScore(*estimates, np.full(questions, n))}
        same = {"accuracy 1": float((parameters[:, 0] / parameters.sum(axis=1)).mean())}
        add_intervals(tallies, scores, same, population)
    return tallies.cells(questions=questions, n=n)


# --- The program --------------------------------------------------------------------------


def summary(tables: dict[str, list[Cell]]) -> str:
    """Return the figures on the card of cons_at_k."""
    names, parts = ("sampling", "questions"), {}
    for name, cells in tables.items():
        named = [cell | {"k / n": f"{cell['k'] / cell['n']:.2f}"} for cell in cells]
        parts[f"{name}, by truth"] = coverage_table(named, "truth", names)
        parts[f"{name}, by M"] = coverage_table(named, "questions", names)
        parts[f"{name}, by k / n"] = coverage_table(named, "k / n", names)
        parts[f"{name}, lowest coverage"] = lowest_coverage(cells, "sampling", 8)
    return "\n\n".join(f"{title}\n\n{text}" for title, text in parts.items())


def main() -> None:
    options = study_options(__doc__, {"runs": 100})
    if not options.draw:
        answers = held_out_answer_truths() if options.held_out else answer_truths()
        questions, samples = ((8, 25), (6, 20)) if options.held_out else ((10, 30, 100), (8, 32))
        grids = {"votes": Grid(study_votes, answers, questions, samples, options.runs)}
        if not options.held_out:
            shares = Grid(study_shares, share_truths(), (10, 30, 100), (2, 8), options.runs)
            grids["shares"] = shares
        save_tables(options, run_grids(grids))
    print_tables(options.table, summary)


if __name__ == "__main__":
    main()
