"""Measure the coverage of confidence intervals in simulations whose true scores are known.

    python tests/benchmarks/coverage.py STUDY table.json [--held-out] [--runs 2000] [--far-runs 100]
    python tests/benchmarks/coverage.py STUDY table.json --draw

STUDY is rates (correct and incorrect samples), questions (limits for other questions, beside those
of practice, also for clusters of unequal sizes), rewards, votes, bands or leaderboards. Each run of
a setting draws M questions from a known distribution (its truth), and n samples of each. An
interval for the same questions covers if it contains the score of these questions, and one for new
questions if it contains the score of all questions of the distribution. A coverage of c in R runs
has the Monte Carlo error sqrt(c (1 - c) / R), which is 0.5 points at 95 % and 2,000 runs.

With --held-out, the runs come from distributions that no interval was tuned on, with other M and n.
Both results are kept in the table and printed below each other. With --draw, the script draws the
picture on the card of gpassk or max_at_k from an existing table, which needs matplotlib.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import reward_truths
import truths
from coverage_studies import (
    BAND_SHAPES,
    DESIGNS,
    LEADERBOARD_DESIGNS,
    LEADERBOARD_SHAPES,
    NEW,
    SAME,
    Cell,
    Field,
    ks_of,
    study_bands,
    study_cluster_sizes,
    study_leaderboards,
    study_max,
    study_other_questions,
    study_rates,
    study_score_agg,
    study_shares,
    study_votes,
)
from coverage_tables import coverage_table, draw_heat_map, lowest_coverage, width_table
from limits_studies import (
    LABEL_DESIGNS,
    Labelling,
    error_table,
    study_beyond,
    study_labels,
    study_looks,
)
from truths import HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES, QUESTIONS, SAMPLES

PICTURES = Path(__file__).parent / "pictures"
TUNED, HELD_OUT = "truths that intervals were tuned on", "held-out truths"
Tables = dict[str, list[Cell]]


class Grid(NamedTuple):
    """The settings of a study.

    Args:
        study: returns the cells of one setting: study(truth, M, n, runs, rng).
        truths: the distributions that runs are drawn from, by name.
        shapes: the values of (M, n), or a list of them for each truth.
        runs: number of runs of each setting.
    """

    study: Callable[[Any, int, int, int, np.random.Generator], list[Cell]]
    truths: Mapping[str, Any]
    shapes: Sequence[tuple[int, int]] | Mapping[str, Sequence[tuple[int, int]]]
    runs: int

    def settings(self) -> Iterator[tuple[int, str, int, int]]:
        for index, name in enumerate(self.truths):
            shapes = self.shapes[name] if isinstance(self.shapes, Mapping) else self.shapes
            for m, n in shapes:
                yield index, name, m, n


class Program(NamedTuple):
    """A study on the command line.

    Args:
        runs: the default number of runs of each setting.
        grids: given whether the truths are held out, and numbers of runs and of far runs.
        summary: returns the title and the text of each table.
        draw: draws the picture on a card, if there is one.
    """

    runs: int
    grids: Callable[[bool, int, int], dict[str, Grid]]
    summary: Callable[[Tables], Iterator[tuple[str, str]]]
    draw: Callable[[Tables], None] | None = None


def run_grids(grids: Mapping[str, Grid]) -> Tables:
    """Return the cells of each grid, and print how long each takes."""
    tables: Tables = {}
    for table, grid in grids.items():
        start, tables[table] = time.time(), []
        for index, name, m, n in grid.settings():
            rng = np.random.default_rng([index, m, n])
            cells = grid.study(grid.truths[name], m, n, grid.runs, rng)
            tables[table] += [{"truth": name} | cell for cell in cells]
        print(f"{table}: {time.time() - start:.0f} s", flush=True)
    return tables


def shapes(
    held_out: bool,
    questions: Sequence[int] = QUESTIONS,
    samples: Sequence[int] = SAMPLES,
    held_out_shapes: tuple[Sequence[int], Sequence[int]] = (HELD_OUT_QUESTIONS, HELD_OUT_SAMPLES),
) -> list[tuple[int, int]]:
    return [*itertools.product(*(held_out_shapes if held_out else (questions, samples)))]


# --- Correct and incorrect samples ----------------------------------------------------------


def rates_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the studies of success rates. Hierarchical intervals have k = 2n, and fewer runs."""
    independent = truths.held_out_truths() if held_out else truths.truths()
    clustered = {f"mean log-odds {x}": truths.clustered_rates(x) for x in (0, -2)}
    settings_of_all = shapes(held_out)
    smallest, sizes = min(n for _, n in settings_of_all), sorted({m for m, _ in settings_of_all})
    settings = {
        "pass family": (independent, settings_of_all, runs),
        "beyond n": (independent, settings_of_all, far_runs),
        "consensus": (independent, settings_of_all, runs),
        "ragged": (independent, [(m, smallest) for m in sizes], runs),
        "clusters": (clustered, [*itertools.product(sizes[1:], (4, 16))], runs),
    }
    return {
        name: Grid(partial(study_rates, DESIGNS[name]), *setting)
        for name, setting in settings.items()
    }


def rates_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the figures on the cards of gpassk and cons_at_k."""
    cells, consensus = tables["pass family"], tables["consensus"]
    same, new = ([cell for cell in cells if cell["target"] == target] for target in (SAME, NEW))
    three = ("posterior", "unbiased variance", "sampling")
    two = ("posterior", "sampling")
    yield "Same questions, by truth", coverage_table(same, "truth", (*three, "standard error"))
    yield "By score", coverage_table(same, "score", three)
    yield "By M", coverage_table(same, "questions", three)
    yield "Widths of sampling", width_table(same, "sampling")
    yield "Lowest coverage of sampling", lowest_coverage(same, "sampling")
    yield "New questions, by truth", coverage_table(new, "truth", ("standard error", "questions"))
    yield "Widths of questions", width_table(new, "questions")
    yield "Lowest coverage of questions", lowest_coverage(new, "questions")
    yield "k = 2n", coverage_table(tables["beyond n"], "truth", ("hierarchical",))
    yield "cons_at_k", coverage_table(consensus, "truth", two)
    yield "cons_at_k, by score", coverage_table(consensus, "score", two)
    yield "n to 4n samples", coverage_table(tables["ragged"], "truth", (*two, "questions"))
    clusters = ("questions", "questions, clusters")
    yield "Clusters", coverage_table(tables["clusters"], "truth", clusters)


# --- Other questions ------------------------------------------------------------------------


def questions_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the studies of limits for other questions. All clusters are held out."""
    few = [*itertools.product((8, 15, 40, 150), (5, 20, 50))]
    independent = truths.truths()
    if held_out:
        independent = truths.held_out_truths() | truths.other_question_truths()
        del independent["fixed rates"]  # there are no other questions
    designs = {
        f"{name}, {'alike' if alike > 50 else 'less alike'}": (
            truths.rates_in_clusters(sizes, alike),
            sizes,
        )
        for name, sizes in truths.CLUSTER_SIZES.items()
        for alike in (100.0, 4.0)
    }
    all_sizes = {name: [(sum(sizes), n) for n in (4, 16)] for name, (_, sizes) in designs.items()}
    grids = {"other questions": Grid(study_other_questions, independent, few, runs)}
    if held_out:
        grids["clusters"] = Grid(study_cluster_sizes, designs, all_sizes, runs)
    return grids


def questions_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the coverage of the limits for other questions beside that of practice."""
    names = ("questions", "Student's t", "Wilson", "bootstrap")
    for name, cells in tables.items():
        yield f"{name}, by truth", coverage_table(cells, "truth", names)
        for by in ("questions", "n", "score"):
            yield f"{name}, by {by}", coverage_table(cells, by, names)
        for interval in names:
            widths = [cell["width"] for cell in cells if cell["interval"] == interval]
            yield f"{name}, mean width of {interval}", f"{np.mean(widths):.3f}"
        yield f"{name}, lowest coverage", lowest_coverage(cells, "questions")
        yield f"{name}, lowest coverage of Student's t", lowest_coverage(cells, "Student's t", 6)


# --- Rewards, votes and bands ---------------------------------------------------------------


def rewards_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    rewards = reward_truths.held_out_truths() if held_out else reward_truths.truths()
    temperatures = {str(t): t for t in (0.1, 0.5, 1.0)}
    items = [(m, 5) for m in sorted({m for m, _ in shapes(held_out)})]
    return {
        "max@k": Grid(study_max, rewards, shapes(held_out), runs),
        "score_agg": Grid(study_score_agg, temperatures, items, 10 * runs),
    }


def rewards_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the figures on the cards of max_at_k, bayes_at_n and score_agg. k = 1 is Bayes@N."""
    cells = [cell.copy() for cell in tables["max@k"]]
    for cell in cells:
        if cell["interval"] == "hierarchical":
            cell["interval"] += " k > n" if cell["k"] > cell["n"] else " k <= n"
    intervals = ("posterior", "sampling", "questions", "hierarchical k <= n", "hierarchical k > n")
    yield "By truth", coverage_table(cells, "truth", intervals)
    at_1 = [cell for cell in cells if cell["k"] == 1]
    yield "k = 1", coverage_table(at_1, "truth", intervals)
    at_n = [cell for cell in cells if cell["k"] == cell["n"]]
    yield "k = n", coverage_table(at_n, "truth", intervals)
    same = [cell for cell in cells if cell["target"] == SAME]
    yield "Widths of sampling", width_table(same, "sampling")
    yield "Lowest coverage of sampling", lowest_coverage(cells, "sampling")
    by_temperature = coverage_table(tables["score_agg"], "truth", ("questions",))
    yield "score_agg, by temperature", by_temperature


def votes_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the studies of votes, which take longer than others, so M and n are smaller."""
    answers = truths.held_out_answer_truths() if held_out else truths.answer_truths()
    votes = shapes(held_out, (10, 30, 100), (8, 32), ((8, 25), (6, 20)))
    grids = {"votes": Grid(study_votes, answers, votes, runs)}
    if not held_out:
        few = [*itertools.product((10, 30, 100), (2, 8))]
        grids["shares"] = Grid(study_shares, truths.share_truths(), few, runs)
    return grids


def votes_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the figures on the card of cons_at_k."""
    names = ("sampling", "questions")
    for name, cells in tables.items():
        named = [cell | {"k / n": f"{cell['k'] / cell['n']:.2f}"} for cell in cells]
        yield f"{name}, by truth", coverage_table(named, "truth", names)
        yield f"{name}, by M", coverage_table(named, "questions", names)
        yield f"{name}, by k / n", coverage_table(named, "k / n", names)
        yield f"{name}, lowest coverage", lowest_coverage(cells, "sampling", 8)


def bands_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the study of bands. All its truths are held out."""
    names = (
        "0.02, 0.35 or 0.97",
        "log-odds normal(-1, 2.5)",
        "few hard: Beta(20, 2) or Beta(1, 30)",
    )
    all_truths = truths.held_out_truths()
    chosen = {name: all_truths[name] for name in names}
    return {"bands": Grid(study_bands, chosen, [*BAND_SHAPES], runs)}


def bands_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the shares of intervals that cover, of runs where all cover, and of bands."""
    columns = ("each", "all", "band")
    for by in ("truth", "questions", "score"):
        yield f"By {by}", coverage_table(tables["bands"], by, columns)
    yield "Lowest coverage of bands", lowest_coverage(tables["bands"], "band", 3)


def leaderboards_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the study of leaderboards. All its truths are held out. Fixed rates are not drawn."""
    names = ["0.02, 0.35 or 0.97", "log-odds normal(-1, 2.5)", "fixed rates"]
    fields, shapes = {}, {}
    all_truths = truths.held_out_truths()
    for number, (k, design, rewards, interval) in enumerate(
        itertools.product((3, 6), LEADERBOARD_DESIGNS, (False, True), ("sampling", "questions"))
    ):
        fitting = names[:2] if interval == "questions" else names
        for i in range(len(fitting)):
            name = fitting[(number // 2 + i) % len(fitting)]
            field = Field(all_truths[name], design, k, rewards, interval)
            title = f"{k} runs, {name}, {design}, {'rewards' if rewards else 'binary'}, {interval}"
            fields[title], shapes[title] = field, [LEADERBOARD_SHAPES[(number + i) % 3]]
    return {"leaderboards": Grid(study_leaderboards, fields, shapes, runs)}


def leaderboards_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the shares of leaderboards without a false statement, and of what is found."""
    columns = ("all", "order", "ranks", "each", "found")
    for by in ("score", "target", "truth"):
        yield f"By {by}", coverage_table(tables["leaderboards"], by, columns)


# --- Labels, k above n, and several looks ---------------------------------------------------


def labels_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the study of labels of a checker. All its truths are held out."""
    rates = truths.held_out_truths()
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "60 % impossible, else Beta(2, 8)")
    labellings = {
        f"{name}, {design}": Labelling(rates[name], design)
        for design in LABEL_DESIGNS
        for name in names
    }
    return {"labels": Grid(study_labels, labellings, [(80, 6), (250, 8)], runs)}


def labels_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the coverage and the errors of scores that are corrected by labels."""
    names = ("labels", "rates of the labels", "uncorrected")
    for k in (1, 4):
        cells = [cell for cell in tables["labels"] if cell["k"] == k]
        yield f"pass@{k}, by design", coverage_table(cells, "design", names)
        yield f"pass@{k}, bias and error", error_table(cells, "design", names)
        for name in names[:2]:
            yield f"pass@{k}, lowest of {name}", lowest_coverage(cells, name, 4)


def extrapolated_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the study of k above n. All its truths are held out."""
    shapes = [(60, 8), (60, 16), (200, 8), (30, 32)]
    return {"extrapolated": Grid(study_beyond, truths.truths_beyond_n(), shapes, runs)}


def extrapolated_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the errors of scores with k above n, beside those of practice, and the coverage."""
    cells, names = tables["extrapolated"], ("auto", "Beta-binomial", "plug-in")
    for times in (4, 16):
        chosen = [cell for cell in cells if cell["k / n"] == times]
        yield f"k = {times} n, bias and error", error_table(chosen, "truth", names)
    yield "Coverage", coverage_table(cells, "truth", ("auto",))


def looks_grids(held_out: bool, runs: int, far_runs: int) -> dict[str, Grid]:
    """Return the study of several looks. All its truths are held out."""
    names = ("log-odds normal(-1, 2.5)", "0.02, 0.35 or 0.97", "all 0.03")
    rates = truths.held_out_truths()
    return {"looks": Grid(study_looks, {x: rates[x] for x in names}, [(400, 48)], runs)}


def looks_summary(tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield the shares of runs that are wrong at no look."""
    cells, names = tables["looks"], ("one look", "anytime")
    yield "By looks", coverage_table(cells, "looks", names)
    yield "By truth", coverage_table(cells, "truth", names)
    for name in names:
        widths = [cell["width"] for cell in cells if cell["interval"] == name]
        yield f"Mean width of {name}", f"{np.mean(widths):.3f}"


# --- The program ----------------------------------------------------------------------------


def draw_picture(
    name: str, table: str, score: str, known: Mapping[str, Any], tables: Tables
) -> None:
    """Draw the picture of pass@k or max@k on a card."""
    cells = [c for c in tables[table] if c["score"] == score and c["truth"] in known]
    draw_heat_map(
        PICTURES / f"{name}_interval_coverage.svg",
        cells,
        {"posterior": 'interval="posterior"', "sampling": 'interval="auto"'},
        [(n, k) for n in SAMPLES for k in ks_of(n)],
        f"coverage of the 95 % intervals of {score}",
    )


def categorical_truths() -> dict[str, Any]:
    return {name: x for name, x in reward_truths.truths().items() if not x.real}


PROGRAMS = {
    "rates": Program(
        2000,
        rates_grids,
        rates_summary,
        lambda tables: draw_picture("gpassk", "pass family", "pass@k", truths.truths(), tables),
    ),
    "rewards": Program(
        120,
        rewards_grids,
        rewards_summary,
        lambda tables: draw_picture("max_at_k", "max@k", "max@k", categorical_truths(), tables),
    ),
    "questions": Program(1000, questions_grids, questions_summary),
    "votes": Program(100, votes_grids, votes_summary),
    "bands": Program(150, bands_grids, bands_summary),
    "leaderboards": Program(60, leaderboards_grids, leaderboards_summary),
    "labels": Program(100, labels_grids, labels_summary),
    "extrapolated": Program(40, extrapolated_grids, extrapolated_summary),
    "looks": Program(100, looks_grids, looks_summary),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=[*PROGRAMS])
    parser.add_argument("table", type=Path, help="the JSON file of the cells")
    parser.add_argument("--held-out", action="store_true", help="truths no interval was tuned on")
    parser.add_argument("--runs", type=int, help="of each setting")
    parser.add_argument("--far-runs", type=int, default=100, help="of each setting with k = 2n")
    parser.add_argument("--draw", action="store_true", help="draw the picture of a table")
    options = parser.parse_args()
    program = PROGRAMS[options.study]
    tables = json.loads(options.table.read_text()) if options.table.exists() else {}
    if options.draw and program.draw:
        program.draw(tables[TUNED])
    elif not options.draw:
        grids = program.grids(options.held_out, options.runs or program.runs, options.far_runs)
        tables[HELD_OUT if options.held_out else TUNED] = run_grids(grids)
        options.table.write_text(json.dumps(tables))
    for which, of_which in tables.items():
        print(f"\n=== {which} ===")
        for title, text in program.summary(of_which):
            print(f"\n{title}\n\n{text}")


if __name__ == "__main__":
    main()
