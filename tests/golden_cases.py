"""Cases of the table of results: calls of the public interface with data from fixed seeds."""

import contextlib
import hashlib
import inspect
import io
import itertools
import math
import runpy
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import at_k
import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from at_k.readers.run import COLUMNS as FURTHER_COLUMNS
from at_k.readers.run import read_run

Inputs = dict[str, Any]
Case = tuple[str, str, Callable[[], Any]]  # case family, name, call

SAMPLES, LOGS = Path(at_k.__file__).parent / "samples", Path(__file__).parent / "readers/fixtures"
METRICS = ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
COMPUTES = GPASSK, BAYES, MAX, CONS, AGG = [f"{name}.compute" for name in METRICS]
SINGLE_SCORES = ["G-Pass@k", "mG-Pass@k", "pass@k", "pass^k", "maj@k", "AUC@k", "Spectrum@k"]
PRODUCTS = ["Geom@k", "Geom_ds@k", "GeoSpectrum@k"]
ROLES, NAN, INF = ("predictions", "references"), math.nan, math.inf


def graded(questions: int, samples: int, most: int = 1) -> np.ndarray:
    """Return outcomes 0 .. most, with a success rate for each question."""
    rng = np.random.default_rng([questions, samples, most])
    return rng.binomial(most, rng.random((questions, 1)), (questions, samples))


def unscored(matrix) -> list[list]:
    """Return lists of different lengths, with None in place of every fifth sample."""
    lists = [row[: 5 + 2 * (i % 4)] for i, row in enumerate(np.asarray(matrix).tolist())]
    return [[None if (i + j) % 5 == 4 else x for j, x in enumerate(r)] for i, r in enumerate(lists)]


RNG = np.random.default_rng(11)
NORMAL, UNIFORM = RNG.normal(size=(10, 12)), RNG.random((8, 9)).round(2)
LETTERS, TEXTS = RNG.choice(["a", "b", "c", "dd"], (8, 9)).tolist(), list("abcabcab")
SENTENCES = RNG.choice(["It is 12.", "9 + 3 = 13", "$1,200.50", "so 0.5", "-7"], (6, 8)).tolist()
GRADES = RNG.choice(["fully", "mostly", "partial", "minor", "none"], (9, 12)).tolist()

OUTCOMES: Inputs = {
    **{"12 x 16": graded(12, 16), "unscored": unscored(graded(9, 12)), "one sample": [[1]]},
    "ragged": [row[: 4 + i % 3] for i, row in enumerate(graded(15, 8).tolist())],
    **{"all correct": np.ones((6, 8), int), "all incorrect": np.zeros((6, 8), int)},
    **{f"{m} x {n}": graded(m, n) for m, n in ((40, 6), (10, 25), (14, 1), (1, 8))},
}
FIRST: Inputs = {
    "first successes": [[0] * (i % 5) + [1] if i % 8 > 4 else [0] * 5 for i in range(24)]
}
LONG: Inputs = {f"{m} x {n}": graded(m, n) for m, n in ((5, 129), (5, 200), (40, 300))}
SIZES = {f"3 x {n}": graded(3, n) for n in range(1, 201)}
GRADED: Inputs = {"0..2, 12 x 8": graded(12, 8, 2), "0..2, unscored": unscored(graded(8, 12, 2))}
GRADED |= {"0..3, 9 x 6": graded(9, 6, 3), "0..2, 3 x 150": graded(3, 150, 2)}
REWARDS: Inputs = {"rewards": NORMAL, "rewards with ties": NORMAL.round()}
REWARDS |= {"rewards, 1 x 12": NORMAL[:1], "constant rewards": np.full((5, 8), 0.7)}
REWARDS |= {"rewards, unscored": unscored(1e3 * NORMAL)}
REWARDS |= {"rewards, one question constant": np.vstack([NORMAL[:4], np.full(12, -0.25)])}
REWARDS |= {"shares": UNIFORM, "shares, unscored": unscored(UNIFORM.round(1))}
VERDICTS = {"verdicts": GRADES, "verdicts, unscored": unscored(GRADES), "one item": GRADES[:1]}
VERDICTS |= {"weights, many of 0": RNG.choice([0.0, 0.4, 1.0], (7, 6))}
CHECKED: Inputs = {
    **{"letters": (LETTERS, TEXTS), "letters, unscored": (unscored(LETTERS), TEXTS)},
    "letters, accepted lists": (LETTERS, [["a", "b"], ["c"], ["dd", "a"], ["b"]] * 2),
    "sentences": (SENTENCES, ["12", "13", "1200.5", "so it is 0.5", "-7", "12"]),
    "sentences, numbers": (SENTENCES, [12.0, 13, 1200.5, 0.5, -7, 12]),
    "sentences, accepted lists": (SENTENCES, [["12", "13"], ["0.5"], ["-7", "1200.50"]] * 2),
    **{"integers": (graded(6, 9) + 3, [3, 4] * 3), "floats": (graded(6, 9) / 2, [0.5, 0.0] * 3)},
}
SMALL, DTYPES = graded(6, 8), ("bool", "int8", "uint8", "int64", "float16", "float32", "float64")
COLUMNS = datasets.Dataset.from_dict({"outcomes": SMALL.tolist(), "texts": LETTERS[:6]})
CONTAINERS = {
    **{dtype: SMALL.astype(dtype) for dtype in DTYPES},
    **{"nested list": SMALL.tolist(), "list of arrays": list(SMALL), "flat list": [0, 1, 1, 0]},
    **{"Fortran order": np.asfortranarray(SMALL), "datasets column": COLUMNS["outcomes"]},
    "masked array": np.ma.masked_array(SMALL, mask=np.eye(6, 8, dtype=bool)),
    "object array": np.array([[None, *row] for row in SMALL.tolist()], dtype=object),
    **{"pyarrow array": pa.array(SMALL.tolist()), "pyarrow, None": pa.array(unscored(SMALL))},
    **{"pandas frame": pd.DataFrame(SMALL), "pandas column": pd.Series(SMALL.tolist())},
    **{"polars frame": pl.DataFrame(SMALL), "polars column": pl.Series(SMALL.tolist())},
    "counts": at_k.Counts([8] * 6, SMALL.sum(1)),
    "counts as a dict": {"n": [8] * 6, "correct": SMALL.sum(1).tolist()},
    "table of counts": at_k.Counts(np.stack([8 - SMALL.sum(1), SMALL.sum(1)], 1)),
    "counts of 3 categories": at_k.Counts([[1, 2, 2], [3, 0, 2], [0, 5, 1]]),
}
TEXT_CONTAINERS = {
    "NumPy texts": (np.array(LETTERS[:6]), np.array(TEXTS[:6])),
    "pyarrow texts": (pa.array(LETTERS[:6]), pa.array(TEXTS[:6])),
    "pyarrow chunks": (pa.chunked_array([LETTERS[:2], LETTERS[2:6]]), TEXTS[:6]),
    "datasets texts": (COLUMNS["texts"], TEXTS[:6]),
}
PAIRS = {
    **{"40 x 6 and 9": (graded(40, 6), graded(40, 9)), "1 x 8 and 9": (graded(1, 8), graded(1, 9))},
    "12 x 6, 40 x 6": (graded(12, 6), graded(40, 6)),
    "12 x 16, two": (graded(12, 16), graded(16, 12).T),
    "ragged, 15 x 8": (OUTCOMES["ragged"], graded(15, 8)),
    "masked, pyarrow": (CONTAINERS["masked array"], CONTAINERS["pyarrow array"]),
}
COUNTED = at_k.Counts([9] * 12, graded(12, 9).sum(1))
ANSWERS = [dict(zip(ROLES, (texts, TEXTS), strict=True)) for texts in (LETTERS, LETTERS[::-1])]
REWARD_PAIRS = {
    "categories": (GRADED["0..2, 12 x 8"], graded(12, 6, 2)),
    "rewards, two": (NORMAL, NORMAL[:, ::2] + 0.25),
    "verdicts, two": (GRADES, [row[:8] for row in GRADES[::-1]]),
    "outcomes, counts": (graded(12, 6), COUNTED),
}
RUNS = {
    "three runs": ({"x": graded(12, 16), "y": graded(16, 12).T, "z": graded(12, 9)},),
    "ragged runs": ({"x": OUTCOMES["ragged"], "y": graded(15, 8), "z": graded(15, 6)},),
    "counted runs": ({"x": COUNTED, "y": graded(12, 16)},),
    **{
        f"runs of {name}": (dict(zip("xy", pair, strict=True)),)
        for name, pair in REWARD_PAIRS.items()
    },
    "runs of answers": (dict(zip("xy", ANSWERS, strict=True)),),
}
INVALID = [
    *("abc", 3, None, {"a": [1, 0]}, [], [[1, 0], []], [[1, 0], 1], [[1, 0], None], [[[1]], [[0]]]),
    *([[None], [1]], [[0, 1], [1, 2]], [[0, 1], [1, -1]], [[0.0, 1.0], [0.5, 1]], [[1.0], [1.5]]),
    *([[1.0], [NAN]], [[1.0], [INF]], [["x", "y"], ["x"]], [[0, 1], [1, "x"]], [[1], [1, [1]]]),
    *(np.zeros((1, 2, 2)), np.ones((2, 2), dtype=complex), np.zeros((0, 3)), np.zeros((3, 0))),
]
UNFIT: Inputs = {f"invalid {value!r}": (value,) for value in INVALID}
UNFIT |= {"references, 9": (LETTERS, [*TEXTS, "a"]), "references, None": (LETTERS, [None] * 8)}
PLAIN: Inputs = OUTCOMES | FIRST | LONG | SIZES | GRADED | REWARDS | VERDICTS | CONTAINERS
INPUTS: dict[str, tuple] = {name: (value,) for name, value in PLAIN.items()}
INPUTS |= CHECKED | TEXT_CONTAINERS | PAIRS | UNFIT | {"letters only": (LETTERS,)}
INPUTS |= {
    "rewards, lists": (NORMAL.tolist(),),
    "flat": (OUTCOMES["12 x 16"].reshape(-1).tolist(),),
}
INPUTS |= REWARD_PAIRS | RUNS | {"answers": tuple(ANSWERS), "nothing": ()}
INPUTS |= {"one run of answers": (ANSWERS[0],)}
# A person says otherwise than the checker of every tenth sample, and labels two thirds.
SAID = [
    [None if i % 3 == 0 else x ^ (i % 10 == 1) for i, x in enumerate(r, 7 * j)]
    for j, r in enumerate(graded(40, 6).tolist())
]
INPUTS |= {"labelled run": ({"predictions": graded(40, 6).tolist(), "labels": SAID},)}

# Sources of `read`: the samples of the package, the logs of harnesses, and columns.
FILES = {path.name: path for path in sorted(SAMPLES.iterdir())}
FILES |= {str(path.relative_to(LOGS)): path for path in sorted(LOGS.rglob("*")) if path.is_file()}
FLAT: dict[str, list] = {"id": list("aabbcc"), "answer": list("xyxxzy"), "gold": list("xxyyzz")}
FLAT |= {"topic": list("ssttss"), "run": list("121212"), "grade": list("CICCIN")}
FLAT |= {"times": [2, 1, 3, 1, 1, 2]}
NESTED = {"id": list("abc"), "samples": [[1, 0], [1, 1], [0, 0]], "before": [[1], [0], [1]]}
NESTED |= {"source": list("uvu"), "total": [4, 5, 6], "right": [1, 5, 0], "wrong": [3, 0, 6]}
COLUMN_SOURCES: Inputs = {"flat": FLAT, "nested": NESTED, "pandas": pd.DataFrame(FLAT)}
COLUMN_SOURCES |= {"polars": pl.DataFrame(FLAT), "Arrow table": pa.table(FLAT)}
COLUMN_SOURCES |= {"datasets": (FLAT_DATASET := datasets.Dataset.from_dict(FLAT))}
COLUMN_SOURCES |= {"splits": datasets.DatasetDict(dev=FLAT_DATASET, test=FLAT_DATASET.take(4))}
INPUTS |= {f"source {name}": (source,) for name, source in (FILES | COLUMN_SOURCES).items()}

# Values of options that follow from the number of questions m and from k; and checkers.
DERIVED: dict[str, Callable[[int, Any], Any]] = {
    "two halves": lambda m, k: ["ab"[2 * i // m] for i in range(m)],
    "one alone": lambda m, k: ["alone", *("ab"[i % 2] for i in range(1, m))],
    "some sources": lambda m, k: [f"source {i // 2 % 7}" for i in range(m)],
    "some weights": lambda m, k: [1.0 + i * i % 7 for i in range(m)],
    "three before": lambda m, k: graded(m, 3).tolist(),
    "rising": lambda m, k: (np.arange(1, k + 1) / (k * (k + 1) / 2)).tolist(),
    "two threads": lambda m, k: ThreadPoolExecutor(2),
    "second run": lambda m, k: graded(m, 10),
}
CHECKERS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": lambda answer, known: answer in known if type(known) is list else answer == known,
    "equal or None": lambda answer, known: None if answer == "b" else answer == known,
    "share": lambda answer, known: 1.0 if answer == known else len(str(answer)) % 5 / 10,
    "category": lambda answer, known: 2 if answer == known else int(answer == "a"),
    "label": lambda answer, known: "correct" if answer == known else "partial",
    "verdict": lambda answer, known: {"a": "fully", "b": "minor", "c": None}.get(answer, "none"),
}

# --- Cases --------------------------------------------------------------------------------


def over(name: str, *values) -> list[dict]:
    """Return options with each of the values."""
    return [{name: value} for value in values]


def cases(family: str, targets: Iterable[str], inputs: Iterable[str], *axes) -> Iterator[Case]:
    """Yield calls of the targets with all inputs, and one entry of each axis as options."""
    targets, inputs = ([x] if isinstance(x, str) else x for x in (targets, inputs))
    for target, name, *parts in itertools.product(targets, inputs, *axes):
        options = {key: value for part in parts for key, value in part.items()}
        shown = ", ".join([name, *(f"{key}={value!r}"[:50] for key, value in options.items())])
        yield family, f"{target}({shown})", partial(call, target, INPUTS[name], options)


ACCEPTED: defaultdict[str, set[str]] = defaultdict(set)  # parameters of calls without an error


def number_of_questions(rows: Any) -> int:
    """Return the number of questions of a run, or of the first of several."""
    while isinstance(rows, dict):
        rows = next(iter(rows.values()))
    return len(rows)


def profile_of(result: Any) -> dict:
    """Return the attributes and the methods of a posterior of TailPass@k."""
    weights = np.full(len(result.thresholds), 1 / len(result.thresholds))
    values = {"mean": result.mean, "std": result.std, "thresholds": result.thresholds}
    values |= {"covariance": result.covariance.ravel(), "questions": result.question_mean.ravel()}
    summaries = {"linear": result.linear(weights), "moment": result.moment(2)}
    summaries |= {"discovery": result.discovery(), "stability": result.stability()}
    summaries |= {"linear_ci": result.linear_ci(weights), "moment_ci": result.moment_ci(1, 0.9)}
    values |= {"at 1": result.at_k(1).mean, "ci": np.concatenate(result.ci())}
    return {name: np.asarray(x).tolist() for name, x in (values | summaries).items()}


def digests_of(arguments: dict) -> dict[str, str]:
    """Return the number of questions of each argument, and a digest of its repr."""
    return {
        name: f"{len(value)} {hashlib.sha256(repr(value).encode()).hexdigest()[:16]}"
        for name, value in arguments.items()
    }


def with_columns(options: Inputs) -> Inputs:
    """Return options of `read` whose further columns are in one dict."""
    columns = {name: options[name] for name in options if name in FURTHER_COLUMNS}
    others = {name: value for name, value in options.items() if name not in FURTHER_COLUMNS}
    return others | ({"columns": columns} if columns else {})


def call(target: str, inputs: tuple, options: Inputs) -> Any:
    """Return the result of a function, or of the compute of a metric with the interval given."""
    if target in COMPUTES and options.get("confidence", 0.95 if target == BAYES else None):
        options = GIVEN[target] | options  # without a confidence, an interval is an error
    for key, value in options.items():
        if isinstance(value, str) and key == "check_correct_fn":
            options[key] = CHECKERS.get(value, value)
        elif isinstance(value, str) and value in DERIVED:
            options[key] = DERIVED[value](number_of_questions(inputs[0]), options.get("k"))
    result: Any
    if target in COMPUTES:
        result = LOADED[target].compute(**dict(zip(ROLES, inputs, strict=False)), **options)
    elif options.keys() & {"records", "split"}:  # only the command has them
        result = read_run(*inputs, **options)
    else:
        if target == "read":
            options = with_columns(options)
        result = getattr(at_k, target)(*inputs, **options)
    ACCEPTED[target].update(options)
    if target == "read":
        return digests_of(result)
    return profile_of(result) if target == "tailpass" else result


def in_steps(name: str, inputs: tuple, steps: str) -> dict:
    """Return scores of questions of which some are added before: 1 by add, 2 by add_batch."""
    metric, questions = at_k.load(name), zip(*inputs, strict=True)
    for step in steps:
        some = zip(*itertools.islice(questions, int(step)), strict=True)
        batch = dict(zip(ROLES, map(list, some), strict=False))
        if step == "1":
            metric.add(**{role[:-1]: values[0] for role, values in batch.items()})
        else:
            try:
                metric.compute(**batch, confidence=2)  # this fails, and adds nothing
            except ValueError:
                metric.add_batch(**batch)
    last = dict(zip(ROLES, map(list, zip(*questions, strict=True)), strict=False))
    length, scores = len(metric), metric.compute(**last, **PER_QUESTION[0])
    return {"length before": length, **scores, "length after": len(metric)}


LOADED = {f"{name}.compute": at_k.load(name) for name in METRICS}
GIVEN = {name: {"interval": "questions" if name == AGG else "posterior"} for name in COMPUTES}
POWERS = [{}, {"pass_power": 1.0, "unanimous_power": 0}, {"pass_power": 2, "unanimous_power": 0.3}]
PLAIN_FUNCTIONS = "pass_at_k pass_hat_k unanimous_at_k auc_at_k maj_at_k g_pass_at_k mg_pass_at_k"
FUNCTIONS: dict[str, list[dict]] = {
    **{name: [{}] for name in [*PLAIN_FUNCTIONS.split(), "geo_spectrum_star_at_k"]},
    "g_pass_at_k_tau": over("tau", 0, 0.28, 0.5, 0.75, 1.0),
    "threshold_spectrum_at_k": over("weights", "rising"),
    **{"geom_at_k": POWERS, "geom_ds_at_k": POWERS},
    "geo_spectrum_at_k": [{}, {"lam": 0}, {"lambda_": 0.8}, {"lam": 0.25, "weights": "rising"}],
}
W = over("w", None, [-1.0, 2.5], [0.0, 0.5, 1.0], [2, 0, -0.1], [0.0, 0.25, 0.5, 1.0])
CONFIDENCE, R0 = over("confidence", 0.95, 0.8, 0.99), over("R0", None, "three before")
INTERVAL = over("interval", "posterior", "sampling", "hierarchical", "questions", "auto")
PER_QUESTION, BOUNDED = (
    over("return_per_question", True),
    {"bounds": (0.1, 0.9), "confidence": 0.95},
)
LABELS = {"tp": 90, "fn": 8, "fp": 3, "tn": 99}
ERRORS = [{"checker_rates": (0.95, 0.02)}, {"labels": LABELS}]
GROUPS, CLUSTERS = over("groups", "two halves", "one alone"), over("clusters", "some sources")
WEIGHTED = over("question_weights", "some weights")
WEIGHTED += [{"groups": "some sources", "average": "groups", **x} for x in ({}, WEIGHTED[0])]
PRIORS = [{"alpha0": 0.5, "beta0": 0.5}, {"alpha0": 2, "beta0": 7.25, "confidence": 0.9}]
TEMPERATURES = over("temperature", 0.1, 0.2, 0.3, 0.44, 0.4428571428571429, 0.45, 0.5, 0.7, 1.0)


def function_cases() -> Iterator[Case]:
    """Yield calls of the functions."""
    for name, options in FUNCTIONS.items():
        yield from cases("functions", name, OUTCOMES | LONG, over("k", 1, 2, 5, 25, 100), options)
        for n in range(1, 201):
            k = over("k", *sorted({(n + 1) // 2, n}))
            yield from cases("functions, n = 1 .. 200", name, f"3 x {n}", k, options[:2])
        some = [*OUTCOMES, *LONG, *(f"3 x {n}" for n in (2, 64, 127, 128, 130))]
        yield from cases("_ci functions", f"{name}_ci", some, over("k", 1, 3, 8, 100), options[:2])
        extra = over("bounds", None, (0.2, 0.6)) + PRIORS + CONFIDENCE[1:]
        yield from cases("_ci functions", f"{name}_ci", some[:3], over("k", 4), options, extra)
        methods = over("interval", "sampling", "questions", "hierarchical", "auto")
        yield from cases("_ci functions", f"{name}_ci", some[:3], over("k", 4), options, methods)
    yield from cases("functions", "cons_at_k", OUTCOMES | SIZES, over("k", 1, 2, 5, 100))
    some, extra = [*OUTCOMES, *LONG, *GRADED], [BOUNDED, *CONFIDENCE]
    yield from cases("reward functions", ["avg", "bayes"], some, W)
    yield from cases("reward functions", ["avg_ci", "bayes_ci"], some, W, extra)
    yield from cases("reward functions", ["bayes", "bayes_ci"], some, W, R0[1:])
    yield from cases("reward functions", "max_at_k", some, over("k", 1, 2, 5, 100), W)
    yield from cases("reward functions", "max_at_k_ci", some, over("k", 1, 3, 16), W, R0, extra[:2])
    baselines = over("baseline", "marginal", "none", "leave-one-out", "centered")
    baselines += over("normalize", "std")
    binary = over("score", "pass@k", "pass^k", "maj@k", "AUC@k", "mG-Pass@k", "G-Pass@k_0.5")
    k = over("k", 1, 3, {1: 0.5, 2: 2.0}, 6)
    yield from cases("advantages", "advantages", "ragged", k[1:], binary, baselines)
    yield from cases(
        "advantages", "advantages", "rewards, lists", k, over("score", "max@k"), baselines
    )
    prompts = [{"group_size": 16}, {"groups": [*"abcd"] * 48}]
    yield from cases("advantages", "advantages", "flat", k[1:2], baselines[:3], prompts)
    scores = over("metric", "pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
    k, kinds = over("k", None, 1, [2, 4]), over("interval", "sampling", "questions")
    yield from cases("compare", "compare", PAIRS, scores, k, kinds)
    pairs = [ERRORS[0], {"labels": (LABELS, LABELS)}]
    yield from cases("compare", "compare", PAIRS, over("k", 1, [2, 4]), kinds, pairs)
    extra = [*over("tau", 0, 0.28, 1.0), {"clusters": "some sources", "interval": "questions"}]
    yield from cases("compare", "compare", PAIRS, scores[2:4], extra, CONFIDENCE)
    some = [*VERDICTS, *OUTCOMES, "shares", "shares, unscored"]
    extra = over("penalty", 0.1, 0, 0.5) + over("eps_for_neg_p", 1e-3)
    yield from cases("score_agg", ["score_agg", AGG], some, TEMPERATURES, extra)
    releases = over("compat", "0.3", "0.7", "0.8")
    yield from cases("score_agg", "score_agg", some, TEMPERATURES, releases)


def run_cases() -> Iterator[Case]:
    """Yield comparisons, leaderboards and plans, and profiles of TailPass@k."""
    kinds, p_values = over("interval", "sampling", "questions"), over("p_values", True)
    scores = over(
        "metric", *PRODUCTS, "Spectrum@k", "vote@k", "max@k", "avg@N", "bayes@N", "score_agg"
    )
    w = [{}, *W[3:]]
    checked = [{"metric": "vote@k"}, {"k": [1, 4]}, {"interval": "questions"}]
    checks = over("check_correct_fn", *CHECKERS, "numeric")
    for target, some in (("compare", REWARD_PAIRS), ("leaderboard", [*RUNS][3:-1])):
        yield from cases("runs", target, some, scores, [{}, *kinds[1:]], w)
        extra = over("temperature", 0.2) + over("confidence", 0.8)
        yield from cases("runs", target, [*some][2:3], scores[-1:], extra)
        letters = "answers" if target == "compare" else "runs of answers"
        yield from cases("runs", target, letters, checks, checked)
        yield from cases("runs", target, letters, checks[:1], over("num_proc", 2))
        yield from cases("runs", target, letters, over("check_correct_fn", "math_verify"))
    yield from cases("runs", "compare", [*PAIRS][:4], scores[:3], over("k", 1, 4), kinds, p_values)
    some, scores = [*RUNS][:3], over("metric", "pass@k", "pass^k", "G-Pass@k", "maj@k", "avg@N")
    k = over("k", None, 1, [2, 4])
    yield from cases("runs", "leaderboard", some, scores, k, kinds[1:], p_values)
    yield from cases("runs", "leaderboard", some, scores, k, kinds[:1])
    # With p-values for new samples of the same questions, a leaderboard takes a second.
    yield from cases("runs", "leaderboard", some[:1], scores[:1], k[1:2], kinds[:1], p_values)
    extra = [{"metric": "G-Pass@k", "tau": tau} for tau in (0.28, 1.0)]
    extra += [{"clusters": "some sources", "interval": "questions"}]
    extra += CONFIDENCE[1:] + over("metric", "mG-Pass@k", "AUC@k", "vote@k")
    yield from cases("runs", "leaderboard", some, extra)
    for target in ("compare", "leaderboard"):
        pairs = [*PAIRS][:1] if target == "compare" else some[:1]
        yield from cases("runs", target, pairs, [{"by_order": True, "common": False}])
        yield from cases("runs", target, pairs, over("k", 2), kinds, [*GROUPS, *WEIGHTED])

    scores = over("metric", "pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
    designs = [{"questions": [50, 300], "samples": [8, 32]}, {"questions": 40, "samples": 8}]
    goals = [{"half_width": 0.05}, {"difference": 0.04}]
    pilots = ["12 x 16", "ragged", "unscored", "40 x 6", "counts", "14 x 1", "all correct"]
    yield from cases("plans", "plan", pilots, scores, over("k", 4), designs[1:])
    yield from cases("plans", "plan", pilots[:2], scores[::2], over("k", 2), goals)
    yield from cases("plans", "plan", pilots[:1], scores[:1], over("k", 2), designs[1:], WEIGHTED)
    rates = over("rates", [0.1, 0.5, 0.9], [0.0, 1.0], [0.3])
    yield from cases("plans", "plan", "nothing", rates, scores, over("k", 1, 3), designs[1:])
    yield from cases("plans", "plan", "nothing", rates[:1], scores[:2], goals, kinds)
    extra = [{}, *CONFIDENCE, *over("power", 0.6, 0.95)]
    extra += [*over("correlation", -0.5, 0, 0.9), *over("tau", 0.28), *over("question_cost", 20)]
    extra += over("sample_cost", 0.1)
    yield from cases("plans", "plan", pilots[0], scores[2:3], designs[:1], goals[1:], extra)
    yield from cases("plans", "plan", "one run of answers", checks, designs[1:])
    yield from cases("plans", "plan", "one run of answers", checks[:1], over("num_proc", 2))

    thresholds = over("thresholds", None, [0.28, 0.5, 1.0])
    some, w = [*OUTCOMES, *GRADED], [{}, *over("w", [0, 1], [0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 1.0])]
    k = over("k", 1, 2, 5, 20)
    empirical = [*some, "shares", "shares, unscored", "5 x 129"]
    yield from cases("TailPass@k", "tailpass_empirical", empirical, k, w, thresholds)
    yield from cases("TailPass@k", "tailpass", some, k[::2], w, thresholds)
    extra = [*over("prior", 0.5, [1.0, 2.5]), {"R0": "three before"}]
    extra += [{"R0": "three before", "eta": 0.4}]
    yield from cases("TailPass@k", "tailpass", some, k[1:2], extra)
    some, w = [*OUTCOMES, *GRADED, *REWARDS], [{}, *W[3:]]
    options = [{"include": "TailPass@k"}, {"include": ["Max@k", "TailPass@k"], "thresholds": 0.28}]
    yield from cases("TailPass@k", MAX, some, k, w, options, PER_QUESTION)
    intervals = [{"confidence": 0.95, **interval} for interval in INTERVAL]
    yield from cases("TailPass@k", MAX, [*[*some][:2], *GRADED], k[1:2], w, options, intervals)


def metric_cases() -> Iterator[Case]:
    """Yield computes of the metrics, first without intervals."""
    k, some = over("k", None, 1, 5, [1, 2, 4], 100), [*OUTCOMES, *LONG]
    names = [{}, *over("include", *SINGLE_SCORES, *PRODUCTS, [*PRODUCTS, *SINGLE_SCORES])]
    yield from cases("gpassk", GPASSK, some, k, names)
    extra = over("thresholds", 0, 0.28, 0.5, [0.28, 0.6], (0.1, 1.0))
    extra += [{"include": PRODUCTS, **x} for x in [*over("lam", 0, 0.3, 1), *POWERS]]
    extra += [{"include": SINGLE_SCORES + PRODUCTS, "weights": "rising"}]
    yield from cases("gpassk", GPASSK, "10 x 25", over("k", 7, 25), extra, PER_QUESTION)
    yield from cases("cons_at_k", CONS, [*some, "shares", "shares, unscored"], k, PER_QUESTION)
    yield from cases("max_at_k", MAX, [*some, *GRADED, *REWARDS], k, W, PER_QUESTION)
    yield from cases(
        "bayes_at_n", BAYES, [*some, *GRADED], W, R0, PER_QUESTION, over("confidence", None)
    )
    k, scores = over("k", [1, 4], [2, 20]), {"include": SINGLE_SCORES, "thresholds": [0.28, 0.5]}
    for target, inputs, options in (
        (GPASSK, OUTCOMES, [{**x, **scores} for x in k]),
        (GPASSK, OUTCOMES, [{"k": 4, "include": PRODUCTS}]),
        (CONS, ["letters", *OUTCOMES, "shares", "shares, unscored"], over("k", [1, 2, 4])),
        (MAX, OUTCOMES, k),
        (MAX, REWARDS, over("k", [1, 4])),
        (MAX, GRADED, [{"k": [1, 4], **w} for w in W[3:]]),
        (BAYES, OUTCOMES, [{}]),
        (BAYES, GRADED, [{"R0": "three before", **w} for w in W[3:]]),
        (AGG, [*VERDICTS, "shares", "all correct", "14 x 1"], over("temperature", 0.3)),
    ):
        family = f"{target.removesuffix('.compute')} intervals"
        yield from cases(family, target, inputs, INTERVAL, options, CONFIDENCE[:1])
        extra = [*PER_QUESTION, *GROUPS, *CLUSTERS, GROUPS[0] | CLUSTERS[0], BOUNDED, PRIORS[1]]
        extra.append({"anytime": True})
        extra += WEIGHTED
        extra = [*CONFIDENCE[1:], *(CONFIDENCE[0] | x for x in extra)]
        yield from cases(family, target, [*inputs][:2], INTERVAL, options[:1], extra)
    k, methods = over("k", [1, 2, 4]), over("interval", "sampling", "questions", "hierarchical")
    yield from cases("checker errors", GPASSK, OUTCOMES, k, ERRORS, methods, CONFIDENCE[:1])
    yield from cases("checker errors", BAYES, OUTCOMES, INTERVAL, ERRORS)
    scores = {"picked_by": NORMAL[:8, :9].round().tolist()}
    picks = [scores | x for x in over("k", 1, [2, 4, 9])]
    yield from cases("picked", MAX, "shares", picks, PER_QUESTION)
    yield from cases("picked", MAX, "shares", picks, INTERVAL, CONFIDENCE)
    votes = [{"vote_weights": np.abs(NORMAL[:8, :9]).round(1).tolist()} | x for x in k]
    yield from cases("picked", CONS, "letters", votes, PER_QUESTION)
    yield from cases("picked", CONS, "letters", votes, INTERVAL, CONFIDENCE)
    budgets: Inputs = {"k": [1, 2, 4], "budget": 5}
    more = [{}, *CONFIDENCE, CONFIDENCE[0] | {"band": True}, CONFIDENCE[0] | CLUSTERS[0]]
    yield from cases("first success", GPASSK, "first successes", [budgets], more, PER_QUESTION)
    kinds = over("metric", "pass@k", "pass^k", "G-Pass@k", "max@k")
    yield from cases("noise", "noise", some[:4], over("k", 1, [2, 4]), kinds, CONFIDENCE)
    extra = [*ERRORS, *CLUSTERS, {"w": [0.0, 2.0], "metric": "max@k"}]
    extra.append({"metric": "G-Pass@k", "tau": 0.25})
    yield from cases("noise", "noise", some[:2], over("k", 2), WEIGHTED)
    yield from cases("noise", "noise", some[:4], over("k", 2), extra)
    checked = {"predictions": [["1", "2"], ["3", "3"], ["3", "4"]], "references": ["1", "3", "4"]}
    numeric: Inputs = {"k": 1, "check_correct_fn": "numeric"}
    yield "noise", "checked", partial(call, "noise", (checked,), numeric)
    k = over("k", [1, 4], [2, 20])
    yield from cases("k > n", [GPASSK, MAX], "ragged", INTERVAL[2::2], k[1:], GROUPS, CONFIDENCE)
    yield from cases("k > n", MAX, [*GRADED][:3], INTERVAL[2::2], k[1:], W[3:], CONFIDENCE[:1])
    yield from cases("n > 128", [GPASSK, MAX, CONS], LONG, INTERVAL, over("k", 100), CONFIDENCE[:1])
    yield from cases("n > 128", BAYES, LONG, INTERVAL, CONFIDENCE)


def option_cases() -> Iterator[Case]:
    """Yield bands, safe keys and time limits."""
    confidence = over("confidence", 0.95, 0.8)
    for target, inputs in (
        (GPASSK, ["12 x 16", "ragged", "unscored", "14 x 1"]),
        (CONS, ["12 x 16", "ragged", "letters", "shares"]),
        (MAX, ["12 x 16", *GRADED, *REWARDS]),
    ):
        k, band = over("k", [1, 2, 4], 2), over("band", True)
        yield from cases("bands", target, inputs, k, INTERVAL, band, confidence[:1])
        yield from cases("bands", target, inputs[0], k[:1], INTERVAL, band, GROUPS[:1], confidence)
    of_metrics = ("12 x 16", "40 x 6", "rewards", "letters", "verdicts")
    for target, name in zip(COMPUTES, of_metrics, strict=True):
        safe = over("keys", "safe", "exact")
        extra = [{}, *PER_QUESTION, *GROUPS, {"confidence": 0.9, **GROUPS[0]}]
        yield from cases("keys", target, name, safe, extra)
        yield from cases("keys", target, "letters", over("timeout", 20.0))
    names = over("include", SINGLE_SCORES + PRODUCTS)
    yield from cases("keys", GPASSK, "12 x 16", over("keys", "safe"), names, confidence)


def input_cases() -> Iterator[Case]:
    """Yield calls with all containers, checkers, references and steps."""
    some = ["pass_at_k", "mg_pass_at_k", "geom_at_k_ci", "cons_at_k", "max_at_k", "max_at_k_ci"]
    yield from cases("containers", some, CONTAINERS, over("k", 2))
    yield from cases("containers", ["bayes", "avg_ci", "score_agg"], CONTAINERS)
    checks = over("check_correct_fn", "exact_match", "numeric", *CHECKERS)
    for target in COMPUTES:
        options = [{}] if target in (BAYES, AGG) else over("k", None, [1, 2])
        yield from cases("containers", target, CONTAINERS | TEXT_CONTAINERS, options, PER_QUESTION)
        yield from cases("checkers", target, CHECKED, checks, options, PER_QUESTION)
        where = over("num_proc", 1, 2) + over("executor", "two threads")
        yield from cases("checkers", target, "letters", checks[2:3], where)
    some, labels = [BAYES, MAX], [{"categories": ["incorrect", "partial", "correct"]}, {}]
    yield from cases("checkers", some, "letters", checks[2:], W[2:3], labels)
    extra = [{"categories": ["a", "b", "c", "dd"], "w": [1, 2, 4, 3]}]
    yield from cases("checkers", some, "letters only", extra, over("confidence", None, 0.9))
    extra = over("weights", {"a": 1, "b": 0.25, "c": 0.0, "dd": 0.5})
    yield from cases("checkers", AGG, "letters only", TEMPERATURES, extra, PER_QUESTION)
    merged, k = over("merge_right", True, False), over("k", None, 1, [2, 3, 4, 5, 7])
    included = over("include", "vote@k", ["avg@n", "cons@k"])
    yield from cases("votes", CONS, CHECKED, merged, k, checks[:3], PER_QUESTION)
    yield from cases("votes", CONS, CHECKED, included, k[:2], checks[:1], CONFIDENCE[:2])
    some = ["12 x 16", "ragged", "unscored", "rewards", "rewards, unscored", "verdicts", *CHECKED]
    for name, inputs, steps in itertools.product(METRICS, some, ("", "1", "1221")):
        compute = partial(in_steps, name, INPUTS[inputs], steps)
        yield "steps", f"{name}({inputs}) in steps {steps!r}", compute


# cool and warm stand for the samples of the package.
COMMANDS = [
    *("gpassk cool", "gpassk cool --k 1 4 --confidence 0.95", "gpassk cool --groups topic"),
    *("bayes_at_n cool --groups topic", "max_at_k cool --k 2 8 --confidence 0.9 --band"),
    *("cons_at_k cool --k 1 4 16", "score_agg cool --confidence 0.95 --interval questions"),
    "gpassk cool --groups topic --confidence 0.95 --interval questions --k 4 --include pass@k",
    "cons_at_k cool --keys safe --confidence 0.95",
    *("compare cool warm", "compare cool warm --metric pass^k --k 1 4 --interval questions"),
    *("compare cool warm --groups topic --k 2 --p-values", "compare cool warm --metric vote@k"),
    *("compare cool warm cool --names a b c --k 4 --p-values", "compare warm cool --metric avg@N"),
    "plan warm --k 4 --half-width 0.02",
]
FORMATS = ["table", "json", "csv", "markdown", "latex"]


def command_cases() -> Iterator[Case]:
    """Yield what is read from files and columns, and what the command prints."""
    yield from cases("read", "read", [f"source {name}" for name in FILES])
    named = {"questions": "id", "predictions": "answer", "references": "gold"}
    graded_ones = {"questions": "id", "outcomes": "grade", "correct_values": ["C"]}
    by_question = {"a": "x", "b": "y", "c": "z"}
    options = [
        *(named, graded_ones, named | {"groups": "topic"}, named | {"pool": ["run"]}),
        *(
            named | {"where": {"run": "1"}},
            named | {"clusters": "topic"},
            named | {"counts": "times"},
        ),
        *(named | {"references": by_question}, {**named, "questions": ["id", "topic"]}),
        {"predictions": "answer", "references": "gold", "group_size": 2, "pool": ["run"]},
    ]
    flat = [f"source {name}" for name in COLUMN_SOURCES if name not in ("nested", "splits")]
    yield from cases("read", "read", flat, options)
    yield from cases("read", "read", "source splits", over("split", None, "test"), options[:2])
    options = [{"outcomes": "samples"}, {"outcomes": "samples", "R0": "before"}]
    options += [{"n": "total", "correct": "right"}, {"counts": ["wrong", "right"]}]
    options += [{"counts": {"0": "wrong", "1": "right"}, "clusters": "source"}]
    yield from cases("read", "read", "source nested", options)
    scored = {"id": [1, 1, 2, 2], "score": [0.2, 0.9, None, 0.8]}
    for missing in ("incorrect", "drop"):
        graded: Inputs = {"missing": missing, "correct_at_least": 0.5}
        yield "read", f"missing is {missing}", partial(call, "read", (scored,), graded)
    inside = {"results": [{"rows": [{"ok": i % 3 > 0, "q": f"{i // 4}"} for i in range(12)]}]}
    graded_ones = {"records": "results.rows", "outcomes": "ok", "questions": "q"}
    yield "read", "rows inside of an object", partial(call, "read", (inside,), graded_ones)
    labelled = {"verdict": [[1, 0], [1, 1]], "human": [[1, None], [None, 0]]}
    columns: Inputs = {"outcomes": "verdict", "labels": "human"}
    yield "read", "labels", partial(call, "read", (labelled,), columns)
    verdicts = {"item": ["a", "a", "b"], "verdict": ["Fully", "None", "minor"]}
    yield "read", "verdicts", partial(call, "read", (verdicts,), {"correct_values": None})
    words = {"id": ["a", "a", "b"], "outcome": ["yes", "none", "yes"]}
    yield "read", "labels of a metric", partial(call, "read", (words,), {"correct_values": None})
    for role in ("picked_by", "vote_weights"):
        columns = {"outcomes": "verdict", role: "human"}
        yield "read", role, partial(call, "read", (labelled,), columns)
    for line in COMMANDS:
        for name in FORMATS:
            arguments = f"{line} --check-correct-fn numeric --format {name}"
            yield "command", arguments, partial(printed_by, arguments)


def printed_by(line: str) -> dict[str, str]:
    """Return what the command prints for these words, where cool and warm are files."""
    words = ["at-k", *line.split()]
    words = [str(SAMPLES / f"smollm2_{x}.jsonl") if x in ("cool", "warm") else x for x in words]
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        contextlib.suppress(SystemExit),
    ):
        runpy.run_module("at_k", run_name="__main__")
    lines = printed.getvalue().replace(str(SAMPLES), "samples").splitlines()
    return {f"line {number}": line for number, line in enumerate(lines, 1)}


# Each parameter is given each of these values, most of which are invalid.
VALUES = [
    *(-1, 0, 2, 1.5, 10**7, True, None, NAN, INF, "ab", b"ab", {}, [], [1], [0, NAN], (1, 0), int),
    *([[0]], [[None]] * 8, [[0, 3]] * 8, ["a"], ["a", "a"], [None] * 8, ["a"] * 9, {"a": 2}),
]
OPTIONS = """k thresholds include lam weights pass_power unanimous_power w R0 categories bounds
    merge_right temperature penalty eps_for_neg_p check_correct_fn num_proc executor confidence
    interval clusters alpha0 beta0 groups return_per_question band keys timeout
    checker_rates labels budget picked_by vote_weights"""


def invalid_cases() -> Iterator[Case]:
    """Yield calls of which most raise an error."""
    for target in sorted({*at_k.__all__} - {"Counts", "load", "read"}):
        names = [*inspect.signature(getattr(at_k, target)).parameters][1:]
        values = {"k": 2, "tau": 0.5, "weights": [0.5, 0.5]}.items()
        needed = [{name: value for name, value in values if name in names}]
        inputs = "12 x 16, two" if target == "compare" else "all correct"
        for name in [*names, "unknown"]:
            yield from cases("invalid options", target, inputs, needed, over(name, *VALUES))
        yield from cases("invalid inputs", target, [*UNFIT, "letters", "1 x 8"], needed)
        yield from cases("invalid inputs", target, "all correct")
    for name in OPTIONS.split():
        yield from cases("invalid options", COMPUTES, "letters", over(name, *VALUES))
    yield from cases("invalid inputs", COMPUTES, UNFIT)


FAMILIES = (
    function_cases,
    run_cases,
    metric_cases,
    option_cases,
    input_cases,
    command_cases,
    invalid_cases,
)
