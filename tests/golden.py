"""Record a table of results, and compare the results of another version with it.

    python tests/golden.py record TABLE.json     # compute every case and write the table
    python tests/golden.py compare TABLE.json    # compute every case again and list differences

The script uses the public interface of the `at_k` that Python imports, and data from fixed seeds.
A result is the repr of a number, the name of an interval, the keys of a dict in order, or the type
of an error. `compare` exits with 1 if a result differs by more than its tolerance.
"""

import inspect
import itertools
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

# Read at import. The folder is new, so that evaluate copies the scripts of this at_k there.
os.environ["HF_HOME"] = (HOME := tempfile.TemporaryDirectory(prefix="at-k-golden-")).name
os.environ |= dict.fromkeys(("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "OPENBLAS_NUM_THREADS"), "1")

import at_k
import datasets
import numpy as np
import pyarrow as pa

Table = dict[str, dict[str, str]]  # case family, key, result
Inputs = dict[str, Any]
Case = tuple[str, str, Callable[[], Any]]  # case family, name, call

TOLERANT = ("_mu", "_sigma", "_lo", "_hi")  # ends of keys, also of those of bands
RELATIVE, ABSOLUTE, EXAMPLES = 1e-9, 1e-12, 20
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
INVALID = [
    *("abc", 3, None, {"a": [1, 0]}, [], [[1, 0], []], [[1, 0], 1], [[1, 0], None], [[[1]], [[0]]]),
    *([[None], [1]], [[0, 1], [1, 2]], [[0, 1], [1, -1]], [[0.0, 1.0], [0.5, 1]], [[1.0], [1.5]]),
    *([[1.0], [NAN]], [[1.0], [INF]], [["x", "y"], ["x"]], [[0, 1], [1, "x"]], [[1], [1, [1]]]),
    *(np.zeros((1, 2, 2)), np.ones((2, 2), dtype=complex), np.zeros((0, 3)), np.zeros((3, 0))),
]
UNFIT: Inputs = {f"invalid {value!r}": (value,) for value in INVALID}
UNFIT |= {"references, 9": (LETTERS, [*TEXTS, "a"]), "references, None": (LETTERS, [None] * 8)}
PLAIN: Inputs = OUTCOMES | LONG | SIZES | GRADED | REWARDS | VERDICTS | CONTAINERS
INPUTS: dict[str, tuple] = {name: (value,) for name, value in PLAIN.items()}
INPUTS |= CHECKED | TEXT_CONTAINERS | PAIRS | UNFIT | {"letters only": (LETTERS,)}

# Values of options that follow from the number of questions m and from k; and checkers.
DERIVED: dict[str, Callable[[int, Any], Any]] = {
    "two halves": lambda m, k: ["ab"[2 * i // m] for i in range(m)],
    "one alone": lambda m, k: ["alone", *("ab"[i % 2] for i in range(1, m))],
    "some sources": lambda m, k: [f"source {i // 2 % 7}" for i in range(m)],
    "three before": lambda m, k: graded(m, 3).tolist(),
    "rising": lambda m, k: (np.arange(1, k + 1) / (k * (k + 1) / 2)).tolist(),
    "two threads": lambda m, k: ThreadPoolExecutor(2),
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


def call(target: str, inputs: tuple, options: Inputs) -> Any:
    """Return the result of a function, or of the compute of a metric with the interval given."""
    if target in COMPUTES and options.get("confidence", 0.95 if target == BAYES else None):
        options = GIVEN[target] | options  # without a confidence, an interval is an error
    for key, value in options.items():
        if isinstance(value, str) and key == "check_correct_fn":
            options[key] = CHECKERS.get(value, value)
        elif isinstance(value, str) and value in DERIVED:
            options[key] = DERIVED[value](len(inputs[0]), options.get("k"))
    if target not in COMPUTES:
        return getattr(at_k, target)(*inputs, **options)
    return LOADED[target].compute(**dict(zip(ROLES, inputs, strict=False)), **options)


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
    length, scores = len(metric), metric.compute(**last, **EACH[0])
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
EACH, BOUNDED = over("return_per_question", True), {"bounds": (0.1, 0.9), "confidence": 0.95}
GROUPS, CLUSTERS = over("groups", "two halves", "one alone"), over("clusters", "some sources")
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
    yield from cases("functions", "cons_at_k", OUTCOMES | SIZES, over("k", 1, 2, 5, 100))
    some, extra = [*OUTCOMES, *LONG, *GRADED], [BOUNDED, *CONFIDENCE]
    yield from cases("reward functions", ["avg", "bayes"], some, W)
    yield from cases("reward functions", ["avg_ci", "bayes_ci"], some, W, extra)
    yield from cases("reward functions", ["bayes", "bayes_ci"], some, W, R0[1:])
    yield from cases("reward functions", "max_at_k", some, over("k", 1, 2, 5, 100), W)
    yield from cases("reward functions", "max_at_k_ci", some, over("k", 1, 3, 16), W, R0, extra[:2])
    scores = over("metric", "pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
    k, kinds = over("k", None, 1, [2, 4]), over("interval", "sampling", "questions")
    yield from cases("compare", "compare", PAIRS, scores, k, kinds)
    extra = [*over("tau", 0, 0.28, 1.0), {"clusters": "some sources", "interval": "questions"}]
    yield from cases("compare", "compare", PAIRS, scores[2:4], extra, CONFIDENCE)
    some = [*VERDICTS, *OUTCOMES, "shares", "shares, unscored"]
    extra = over("penalty", 0.1, 0, 0.5) + over("eps_for_neg_p", 1e-3)
    yield from cases("score_agg", ["score_agg", AGG], some, TEMPERATURES, extra)
    releases = over("compat", "0.3", "0.7", "0.8")
    yield from cases("score_agg", "score_agg", some, TEMPERATURES, releases)


def metric_cases() -> Iterator[Case]:
    """Yield computes of the metrics, first without intervals."""
    k, some = over("k", None, 1, 5, [1, 2, 4], 100), [*OUTCOMES, *LONG]
    names = [{}, *over("include", *SINGLE_SCORES, *PRODUCTS, [*PRODUCTS, *SINGLE_SCORES])]
    yield from cases("gpassk", GPASSK, some, k, names)
    extra = over("thresholds", 0, 0.28, 0.5, [0.28, 0.6], (0.1, 1.0))
    extra += [{"include": PRODUCTS, **x} for x in [*over("lam", 0, 0.3, 1), *POWERS]]
    extra += [{"include": SINGLE_SCORES + PRODUCTS, "weights": "rising"}]
    yield from cases("gpassk", GPASSK, "10 x 25", over("k", 7, 25), extra, EACH)
    yield from cases("cons_at_k", CONS, [*some, "shares", "shares, unscored"], k, EACH)
    yield from cases("max_at_k", MAX, [*some, *GRADED, *REWARDS], k, W, EACH)
    yield from cases("bayes_at_n", BAYES, [*some, *GRADED], W, R0, EACH, over("confidence", None))
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
        extra = [*EACH, *GROUPS, *CLUSTERS, GROUPS[0] | CLUSTERS[0], BOUNDED, PRIORS[1]]
        extra = [*CONFIDENCE[1:], *(CONFIDENCE[0] | x for x in extra)]
        yield from cases(family, target, [*inputs][:2], INTERVAL, options[:1], extra)
    yield from cases("k > n", [GPASSK, MAX], "ragged", INTERVAL[2::2], k[1:], GROUPS, CONFIDENCE)
    yield from cases("k > n", MAX, [*GRADED][:3], INTERVAL[2::2], k[1:], W[3:], CONFIDENCE[:1])
    yield from cases("n > 128", [GPASSK, MAX, CONS], LONG, INTERVAL, over("k", 100), CONFIDENCE[:1])
    yield from cases("n > 128", BAYES, LONG, INTERVAL, CONFIDENCE)


def input_cases() -> Iterator[Case]:
    """Yield calls with all containers, checkers, references and steps."""
    some = ["pass_at_k", "mg_pass_at_k", "geom_at_k_ci", "cons_at_k", "max_at_k", "max_at_k_ci"]
    yield from cases("containers", some, CONTAINERS, over("k", 2))
    yield from cases("containers", ["bayes", "avg_ci", "score_agg"], CONTAINERS)
    checks = over("check_correct_fn", "exact_match", "numeric", *CHECKERS)
    for target in COMPUTES:
        options = [{}] if target in (BAYES, AGG) else over("k", None, [1, 2])
        yield from cases("containers", target, CONTAINERS | TEXT_CONTAINERS, options, EACH)
        yield from cases("checkers", target, CHECKED, checks, options, EACH)
        where = over("num_proc", 1, 2) + over("executor", "two threads")
        yield from cases("checkers", target, "letters", checks[2:3], where)
    some, labels = [BAYES, MAX], [{"categories": ["incorrect", "partial", "correct"]}, {}]
    yield from cases("checkers", some, "letters", checks[2:], W[2:3], labels)
    extra = [{"categories": ["a", "b", "c", "dd"], "w": [1, 2, 4, 3]}]
    yield from cases("checkers", some, "letters only", extra, over("confidence", None, 0.9))
    extra = over("weights", {"a": 1, "b": 0.25, "c": 0.0, "dd": 0.5})
    yield from cases("checkers", AGG, "letters only", TEMPERATURES, extra, EACH)
    merged, k = over("merge_right", True, False), over("k", None, 1, [2, 3, 4, 5, 7])
    yield from cases("votes", CONS, CHECKED, merged, k, checks[:3], EACH)
    some = ["12 x 16", "ragged", "unscored", "rewards", "rewards, unscored", "verdicts", *CHECKED]
    for name, inputs, steps in itertools.product(METRICS, some, ("", "1", "1221")):
        compute = partial(in_steps, name, INPUTS[inputs], steps)
        yield "steps", f"{name}({inputs}) in steps {steps!r}", compute


# Each parameter is given each of these values, most of which are invalid.
VALUES = [
    *(-1, 0, 2, 1.5, 10**7, True, None, NAN, INF, "ab", b"ab", {}, [], [1], [0, NAN], (1, 0), int),
    *([[0]], [[None]] * 8, [[0, 3]] * 8, ["a"], ["a", "a"], [None] * 8, ["a"] * 9, {"a": 2}),
]
OPTIONS = """k thresholds include lam weights pass_power unanimous_power w R0 categories bounds
    merge_right temperature penalty eps_for_neg_p check_correct_fn num_proc executor confidence
    interval clusters alpha0 beta0 groups return_per_question"""


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


def results(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each single result of a case, with its key."""
    if isinstance(value, dict):
        yield f"{key} keys", " ".join(value)
        for name, each in value.items():
            yield from results(each, f"{key} {name}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from results(each, f"{key}[{place}]")
    elif isinstance(value, tuple):  # of a function
        ends = ("", "_sigma") if len(value) == 2 else TOLERANT
        yield from ((f" score{end}", repr(each)) for end, each in zip(ends, value, strict=True))
    else:
        yield key or " score", repr(value)


def compute_table() -> Table:
    """Return the results of all cases."""
    table: Table = {}
    every = (function_cases, metric_cases, input_cases, invalid_cases)
    for family, name, compute in itertools.chain.from_iterable(cases() for cases in every):
        try:
            found = {f"{name}:{key}": result for key, result in results(compute())}
        except Exception as error:
            found = {f"{name}: error": type(error).__name__}
        assert not found.keys() & table.setdefault(family, {}).keys(), f"a second case {name}"
        table[family] |= found
    return table


def difference(key: str, old: str, new: str) -> tuple[bool, float]:
    """Return whether two results differ by more than the tolerance, and the relative difference."""
    try:
        size, gap = abs(float(old)), abs(float(new) - float(old))
    except ValueError:
        return True, INF
    within = key.endswith(TOLERANT) and gap <= ABSOLUTE + RELATIVE * size
    return not within, gap / (size or 1.0)


def compare_tables(before: Table, now: Table) -> int:
    """Print how the results differ, and return how many differ by more than the tolerance."""
    total = beyond = 0
    for family in before | now:
        old, new = before.get(family, {}), now.get(family, {})
        pairs = {key: (old.get(key, "absent"), new.get(key, "absent")) for key in old | new}
        found = [(*difference(x, *pair), x, *pair) for x, pair in pairs.items() if len({*pair}) > 1]
        differ = sum(each[0] for each in found)
        total, beyond = total + len(pairs), beyond + differ
        if found:
            print(f"{family}: {len(pairs)} results, {differ} differ;", end=" ")
            print(f"{len(found) - differ} within tolerance; largest {max(x[1] for x in found):.2g}")
        for _, relative, key, *pair in sorted(found, reverse=True)[:EXAMPLES]:
            print(f"    {key}: {pair[0]} -> {pair[1]} (relative {relative:.2g})")
    print(f"{total} results, {beyond} differ")
    return beyond


def main(command: str, path: str) -> int:
    """Record or compare, and return the exit code."""
    print(f"at_k of {at_k.__file__}")
    table = compute_table()
    if command == "compare":
        return int(compare_tables(json.loads(Path(path).read_text()), table) > 0)
    Path(path).write_text(json.dumps(table, indent=1))
    errors = sum(key.endswith(" error") for found in table.values() for key in found)
    print(f"{sum(map(len, table.values()))} results, of which {errors} are errors")
    return 0


if __name__ == "__main__":
    given = len(sys.argv) == 3 and sys.argv[1] in ("record", "compare")
    sys.exit(main(*sys.argv[1:]) if given else __doc__)
