"""Record a table of results, and compare the results of another version with it.

    python tests/golden.py record TABLE.json     # compute every case and write the table
    python tests/golden.py compare TABLE.json    # compute every case again and list differences

The script computes with the `at_k` that Python imports, through its public interface alone. It
generates its data from fixed seeds. The table maps each case family to its cases, each case to its
keys, and each key to one result: the repr of a number, the name of an interval, or the type of the
error that was raised. `compare` exits with 1 if a result differs by more than its tolerance.
"""

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

# evaluate and datasets read these once, when they are imported. The folder is a new one, so that
# the metric scripts that evaluate copies there are those of this at_k.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="at-k-golden-")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_EVALUATE_OFFLINE"] = "1"

import at_k
import datasets
import numpy as np
import pandas as pd
import pyarrow as pa

TOLERANT = ("_mu", "_sigma", "_lo", "_hi")  # also _band_lo and _band_hi
RELATIVE, ABSOLUTE = 1e-9, 1e-12
METRICS = ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")
SINGLE_SCORES = ("G-Pass@k", "mG-Pass@k", "pass@k", "pass^k", "maj@k", "AUC@k", "Spectrum@k")
BLENDS = ("Geom@k", "Geom_ds@k", "GeoSpectrum@k")
CATEGORIES, NAN = ["incorrect", "partial", "correct"], math.nan

# --- Data: positional arguments of functions; predictions and references of metrics -------


def binary(questions: int, samples: int) -> np.ndarray:
    """Return outcomes 0 and 1, with a success rate for each question."""
    rng = np.random.default_rng([questions, samples])
    return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(int)


def graded(questions: int, samples: int, categories: int) -> np.ndarray:
    """Return outcomes 0 .. categories - 1, with a success rate for each question."""
    rng = np.random.default_rng([questions, samples, categories])
    return rng.binomial(categories - 1, rng.random((questions, 1)), (questions, samples))


def ragged(rows: list[list[Any]]) -> list[list[Any]]:
    """Return the rows cut to different lengths, with None in place of every fifth entry."""
    cut = [row[: 5 + 2 * (i % 4)] for i, row in enumerate(rows)]
    return [
        [None if (i + j) % 5 == 4 else x for j, x in enumerate(row)] for i, row in enumerate(cut)
    ]


def pick(entries: list[str], questions: int, samples: int) -> list[list[str]]:
    """Return texts that are drawn at random from the entries."""
    return np.random.default_rng([7, samples]).choice(entries, (questions, samples)).tolist()


OUTCOMES = {
    "two questions": [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]],
    "12 x 16": binary(12, 16),
    "40 x 6": binary(40, 6),
    "10 x 25": binary(10, 25),
    "ragged": [row[: 4 + i % 3] for i, row in enumerate(binary(15, 8).tolist())],
    "unscored": ragged(binary(9, 12).tolist()),
    "all correct": np.ones((6, 8), dtype=int),
    "all incorrect": np.zeros((6, 8), dtype=int),
    "one question": [[1, 0, 1, 1, 0, 1, 0, 1]],
    "one sample each": binary(14, 1),
    "one sample": [[1]],
    "5 x 129": binary(5, 129),
    "5 x 200": binary(5, 200),
}
GRADED = {
    "3 categories": graded(12, 8, 3),
    "4 categories": graded(10, 6, 4),
    "3 categories, unscored": ragged(graded(8, 12, 3).tolist()),
    "3 categories, 4 x 150": graded(4, 150, 3),
}
_normal = np.random.default_rng(11).normal(size=(10, 12))
REWARDS = {
    "rewards": _normal,
    "rewards with ties": _normal.round(),
    "constant rewards": np.full((5, 8), 0.7),
    "rewards, one question constant": np.vstack([_normal[:4], np.full(12, -0.25)]),
    "large rewards": 1e6 + 1e3 * _normal,
    "rewards, unscored": ragged(_normal.round(2).tolist()),
    "rewards, one question": _normal[:1],
    "rewards, 4 x 150": np.random.default_rng(12).exponential(size=(4, 150)),
}
SHARES = {
    "shares": np.random.default_rng(13).random((8, 7)).round(2),
    "shares, unscored": ragged(np.random.default_rng(14).random((6, 12)).round(1).tolist()),
}
VERDICTS = {
    "verdicts": pick(["fully", "mostly", "partial", "minor", "none"], 9, 6),
    "verdicts, unscored": ragged(pick(["fully", "mostly", "minor", "none"], 6, 12)),
    "weights": np.random.default_rng(15).random((8, 5)).round(2),
    "weights, with zeros": np.random.default_rng(16).choice([0.0, 0.4, 1.0], (7, 6)),
    "one item": [["fully", "partial", "none"]],
    "only 0": np.zeros((3, 4)),
    "only 1": np.ones((3, 4)),
    "one verdict each": [[0.3], [0.9], [0.0]],
}
_letters = pick(["a", "b", "c", "dd"], 8, 9)
_sentences = pick(["It is 12.", "12.0", "9 + 3 = 13", "$1,200.50", "?", "so 0.5", "-7"], 7, 8)
JUDGED = {
    "letters": (_letters, list("abcabcab")),
    "letters, unscored": (ragged(_letters), list("abcabcab")),
    "letters, lists of references": (_letters, [["a", "b"], ["c"], ["dd", "a"], ["b"]] * 2),
    "sentences": (_sentences, ["12", "13", "1200.5", "0.5", "-7", "12", "The answer is 13"]),
    "sentences, number references": (_sentences, [12.0, 13, 1200.5, 0.5, -7, 12, 13]),
    "sentences, lists of references": (
        _sentences,
        [["12", "13"], ["0.5"], ["-7", "1200.50"]] * 2 + [["12"]],
    ),
    "numbers": (binary(6, 9) + 3, [3, 4, 3, 4, 3, 4]),
    "floats": (binary(6, 9) / 2, [0.5, 0.0, 0.5, 0.0, 0.5, 0.0]),
}
for _path in sorted((Path(at_k.__file__).parent / "samples").glob("*.jsonl")):
    _rows = [json.loads(line) for line in _path.read_text().splitlines()][:40]
    JUDGED[_path.stem] = (
        [row["predictions"] for row in _rows],
        [row["reference"] for row in _rows],
    )

_matrix = binary(6, 8)
_table = datasets.Dataset.from_dict({"outcomes": _matrix.tolist(), "texts": _letters[:6]})
CONTAINERS = {
    "nested list": _matrix.tolist(),
    "tuples": tuple(map(tuple, _matrix.tolist())),
    "list of arrays": list(_matrix),
    **{kind: _matrix.astype(kind) for kind in ("int8", "uint8", "int64", "bool")},
    **{kind: _matrix.astype(kind) for kind in ("float16", "float32", "float64")},
    "Fortran order": np.asfortranarray(_matrix),
    "masked array": np.ma.masked_array(_matrix, mask=binary(6, 8)[:, ::-1] * np.eye(6, 8)),
    "object array": np.array(ragged(binary(6, 12).tolist()), dtype=object),
    "pyarrow array": pa.array(_matrix.tolist()),
    "pyarrow array of floats": pa.array(_matrix.tolist(), pa.list_(pa.float32())),
    "pyarrow array, unscored": pa.array(ragged(binary(6, 12).tolist())),
    "datasets column": _table["outcomes"],
    "pandas column": pd.Series(_matrix.tolist()),
}
TEXT_CONTAINERS = {
    "NumPy texts": (np.array(_letters[:6]), np.array(list("abcabc"))),
    "pyarrow texts": (pa.array(_letters[:6]), pa.array(list("abcabc"))),
    "pyarrow chunks": (pa.chunked_array([_letters[:2], _letters[2:6]]), list("abcabc")),
    "datasets texts": (_table["texts"], list("abcabc")),
    "pandas texts": (pd.Series(_letters[:6]), pd.Series(list("abcabc"))),
}
INVALID_OUTCOMES = {
    "a text": "abc",
    "a number": 3,
    "None": None,
    "a dict": {"a": [1, 0]},
    "no question": [],
    "an empty question": [[1, 0], []],
    "a flat list in a list": [[1, 0], 1],
    "a question None": [[1, 0], None],
    "only None": [[None, None], [1, 0]],
    "2": [[0, 1], [1, 2]],
    "-1": [[0, 1], [1, -1]],
    "0.5": [[0.0, 1.0], [0.5, 1.0]],
    "1.5": [[0.0, 1.0], [1.5, 1.0]],
    "nan": [[0.0, 1.0], [NAN, 1.0]],
    "inf": [[0.0, 1.0], [math.inf, 1.0]],
    "text outcomes": [["a", "b"], ["a", "c"]],
    "mixed outcomes": [[0, 1], [1, "a"]],
    "nested outcomes": [[0, 1], [1, [1]]],
    "three dimensions": np.zeros((2, 2, 2)),
    "complex": np.ones((2, 2), dtype=complex),
}
PLAIN = OUTCOMES | GRADED | REWARDS | SHARES | VERDICTS | CONTAINERS
PLAIN |= {f"3 x {n}": binary(3, n) for n in range(1, 201)} | {"40 x 300": binary(40, 300)}
INPUTS: dict[str, tuple[Any, ...]] = {name: (value,) for name, value in PLAIN.items()}
INPUTS |= {f"invalid: {name}": (value,) for name, value in INVALID_OUTCOMES.items()}
INPUTS |= JUDGED | TEXT_CONTAINERS
INPUTS |= {
    "12 x 16 and inverse": (binary(12, 16), 1 - binary(12, 16)),
    "40 x 6 and 40 x 9": (binary(40, 6), binary(40, 9)),
    "15 ragged and 15 x 8": (OUTCOMES["ragged"], binary(15, 8)),
    "one question twice": (binary(1, 8), binary(1, 9)),
    "12 x 16 and 40 x 6": (binary(12, 16), binary(40, 6)),
    "container twice": (CONTAINERS["masked array"], CONTAINERS["pyarrow array"]),
    "two references too many": (_letters, list("abcabcabcc")),
    "references None": (_letters, [None] * 8),
    "references that are dicts": (_letters, [{"a": 1}] * 8),
}


def least(name: str) -> int:
    """Return the least number of scored samples of a question."""
    return min(sum(x is not None for x in row) for row in INPUTS[name][0])


def size(name: str) -> int:
    """Return the number of questions."""
    return len(INPUTS[name][0])


# --- Checkers -----------------------------------------------------------------------------


def is_equal(prediction, reference):
    """Return a bool."""
    return prediction in reference if isinstance(reference, list) else prediction == reference


def unscored_b(prediction, reference):
    """Return None for the prediction "b"."""
    return None if prediction == "b" else prediction == reference


def share(prediction, reference):
    """Return a float from 0 to 1."""
    return 1.0 if prediction == reference else len(str(prediction)) % 5 / 10


def category(prediction, reference):
    """Return a category from 0 to 2."""
    return 2 if prediction == reference else int(prediction == "a")


def label(prediction, reference):
    """Return a label of a category."""
    return CATEGORIES[category(prediction, reference)]


def grade(prediction, reference):
    """Return a label of a verdict, or None."""
    return {"a": "fully", "b": "minor", "c": None}.get(prediction, "none")


def failing(prediction, reference):
    """Raise a KeyError."""
    raise KeyError(prediction)


# --- Cases --------------------------------------------------------------------------------

Case = tuple[str, str, Callable[[], Any]]  # family, name, call
LOADED: dict[str, Any] = {}


def metric(name: str):
    """Return a metric, loaded once."""
    if name not in LOADED:
        LOADED[name] = at_k.load(name)
    return LOADED[name]


def case(family: str, target: str, inputs: str, **options) -> Case:
    """Return a case: a call of a function, or of a metric's compute."""
    shown = [inputs, *(f"{name}={show(value)}" for name, value in options.items())]
    return family, f"{target}({', '.join(shown)})", partial(call, target, INPUTS[inputs], options)


def call(target: str, inputs: tuple[Any, ...], options: dict[str, Any]):
    """Return the result of a function, or of a metric's compute."""
    name, is_metric, _ = target.partition(".compute")
    if not is_metric:
        return getattr(at_k, name)(*inputs, **options)
    given = dict(zip(("predictions", "references"), inputs, strict=False))
    return metric(name).compute(**given, **options)


def show(value) -> str:
    """Return a short text for a value, the same in every run."""
    if callable(value) or hasattr(value, "submit"):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return text if len(text) <= 70 else f"{text[:60]}.. of {len(value)}"


def function_options(k: int) -> dict[str, list[dict[str, Any]]]:
    """Return the functions of k, and the options to call each with."""
    rising, last = (np.arange(1, k + 1) / (k * (k + 1) / 2)).tolist(), [0.0] * (k - 1) + [0.75]
    powers = [
        {},
        {"pass_power": 1.0, "unanimous_power": 0},
        {"pass_power": 2, "unanimous_power": 0.3},
    ]
    names = (
        "pass",
        "pass_hat",
        "auc",
        "maj",
        "g_pass",
        "mg_pass",
        "geo_spectrum_star",
        "unanimous",
    )
    return {name.removesuffix("_at_k") + "_at_k": [{}] for name in names if name != "pass_hat"} | {
        "pass_hat_k": [{}],
        "g_pass_at_k_tau": [{"tau": tau} for tau in (0, 0.28, 0.5, 0.75, 1.0)],
        "threshold_spectrum_at_k": [{"weights": rising}, {"weights": last}],
        "geom_at_k": powers,
        "geom_ds_at_k": powers,
        "geo_spectrum_at_k": [{}, {"lam": 0}, {"lambda_": 0.8}, {"lam": 0.25, "weights": rising}],
    }


def functions() -> Iterator[Case]:
    """Functions of binary outcomes."""
    every = {name: {1, 2, least(name) // 2, least(name)} for name in OUTCOMES}
    every |= {f"3 x {n}": {1, (n + 1) // 2, n} for n in range(1, 201)} | {"40 x 300": {1, 100, 300}}
    for inputs, draws in every.items():
        family = "functions, n = 1 .. 200" if inputs.startswith("3 x") else "functions"
        for k in sorted(draws & set(range(1, least(inputs) + 1))):
            yield case(family, "cons_at_k", inputs, k=k)
            for name, options in function_options(k).items():
                for option in options:
                    yield case(family, name, inputs, k=k, **option)
    some = [*OUTCOMES, *(f"3 x {n}" for n in (1, 3, 64, 127, 128, 129, 130, 200)), "40 x 300"]
    for inputs in some:
        for k in sorted({1, 3, least(inputs), 100 if "0" in inputs else 7}):
            for name, options in function_options(k).items():
                for option in options:
                    yield case("_ci functions", f"{name}_ci", inputs, k=k, **option)
    for name, options in function_options(4).items():
        for extra in (
            *({"confidence": confidence} for confidence in (0.8, 0.99)),
            {"bounds": None},
            {"bounds": (0.2, 0.6)},
            {"alpha0": 0.5, "beta0": 0.5},
            {"alpha0": 2, "beta0": 7.25, "confidence": 0.9},
        ):
            for inputs in ("12 x 16", "unscored", "all correct"):
                yield case("_ci functions", f"{name}_ci", inputs, k=4, **options[-1], **extra)


def worth(name: str) -> list[dict[str, Any]]:
    """Return options with rewards for the categories of the inputs."""
    if name not in GRADED:
        return [{}, {"w": [-1.0, 2.5]}]
    if name.startswith("4"):
        return [{"w": [0.0, 0.25, 0.5, 1.0]}, {"w": [1, -1, 1, 3]}]
    return [{"w": [0.0, 0.5, 1.0]}, {"w": [2.0, 0.0, -0.1]}]


def prior_outcomes(name: str) -> list[list[int]]:
    """Return three prior outcomes for each question."""
    return binary(size(name), 3).tolist()


def reward_functions() -> Iterator[Case]:
    """Functions of categories with rewards."""
    family = "bayes, avg and max_at_k functions"
    for inputs in (*OUTCOMES, *GRADED, "40 x 300"):
        for w in worth(inputs):
            prior = {"R0": prior_outcomes(inputs)}
            for name, options in {
                "bayes": ({}, prior),
                "bayes_ci": ({}, prior, {"bounds": (0.1, 0.9)}, {"confidence": 0.8}),
                "avg": ({},),
                "avg_ci": ({}, {"bounds": (0.1, 0.9)}, {"confidence": 0.99}),
                "max_at_k": [{"k": k} for k in (1, 2, 5, 100) if k <= least(inputs)],
                "max_at_k_ci": [{"k": k, **x} for k in (1, 2, 16) for x in ({}, prior)]
                + [{"k": 3, "bounds": (0.1, 0.9), "confidence": 0.8}],
            }.items():
                for option in options:
                    yield case(family, name, inputs, **w, **option)


def comparisons() -> Iterator[Case]:
    """The function compare."""
    pairs = [
        "12 x 16 and inverse",
        "40 x 6 and 40 x 9",
        "15 ragged and 15 x 8",
        "one question twice",
    ]
    for pair in pairs:
        for name in ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k"):
            for k in (None, 1, [2, 4]):
                yield case("compare", "compare", pair, metric=name, k=k)
                yield case("compare", "compare", pair, metric=name, k=k, interval="questions")
        for confidence in (0.8, 0.99):
            yield case("compare", "compare", pair, confidence=confidence)
        clusters = [f"source {i % 5}" for i in range(size(pair))]
        yield case("compare", "compare", pair, interval="questions", clusters=clusters)
        for tau in (0, 0.28, 1.0):
            yield case("compare", "compare", pair, metric="G-Pass@k", tau=tau)


def verdicts() -> Iterator[Case]:
    """The function and the metric score_agg."""
    for inputs in VERDICTS:
        for temperature in (0.1, 0.2, 0.3, 0.44, 0.4428571428571429, 0.45, 0.5, 0.6, 0.7, 0.9, 1.0):
            options = {"temperature": temperature}
            for option in ({}, {"penalty": 0}, {"penalty": 0.5}, {"eps_for_neg_p": 1e-3}):
                yield case("score_agg function", "score_agg", inputs, **options, **option)
                yield case("score_agg metric", "score_agg.compute", inputs, **options, **option)
            for compat in ("0.3", "0.7", "0.8"):
                yield case("score_agg function", "score_agg", inputs, compat=compat, **options)
    for temperature in (0.1, 0.5, 0.9):
        options = {"temperature": temperature, "weights": {"a": 1, "b": 0.25, "c": 0.0, "dd": 0.5}}
        yield case("score_agg metric", "score_agg.compute", "letters only", **options)


INPUTS["letters only"] = (_letters,)


def scores() -> Iterator[Case]:
    """Scores of the metrics, and their options, without intervals."""
    family, compute = "gpassk scores", "gpassk.compute"
    for inputs in (*OUTCOMES, "40 x 300"):
        draws = [k for k in (1, 2, 4, 5, 16, 100) if k <= least(inputs)]
        for name in (*SINGLE_SCORES, *BLENDS):
            yield case(family, compute, inputs, k=draws, include=name, return_per_question=True)
        yield case(family, compute, inputs, k=draws[-1], include=[*BLENDS, *SINGLE_SCORES])
        yield case(family, compute, inputs, k=draws[0])
        yield case("cons_at_k scores", "cons_at_k.compute", inputs, return_per_question=True)
        for k in (1, draws):
            yield case("cons_at_k scores", "cons_at_k.compute", inputs, k=k)
        if least(inputs) >= 4:
            yield case(family, compute, inputs)
            yield case("max_at_k scores", "max_at_k.compute", inputs, return_per_question=True)
    for k in (7, 25):
        rising = (np.arange(1, k + 1) / (k * (k + 1) / 2)).tolist()
        for option in (
            *(
                {"thresholds": tau}
                for tau in (0, 0.28, 0.5, [0.28, 0.6], (0.1, 1), np.array([0.3]))
            ),
            *({"include": "GeoSpectrum@k", "lam": lam} for lam in (0, 0.3, 1)),
            {"include": ["GeoSpectrum@k", "Spectrum@k"], "weights": rising},
            {"include": ["GeoSpectrum@k", "Spectrum@k"], "weights": rising, "lam": 0.9},
            {"include": BLENDS, "pass_power": 1, "unanimous_power": 2.5},
            {"include": BLENDS, "pass_power": 0, "unanimous_power": 1},
        ):
            yield case(family, compute, "10 x 25", k=k, **option)
    for inputs in (*OUTCOMES, *GRADED):
        draws = [k for k in (1, 2, 4, 100) if k <= least(inputs)]
        for w in worth(inputs):
            plain = {**w, "confidence": None, "return_per_question": True}
            yield case("bayes_at_n scores", "bayes_at_n.compute", inputs, **plain)
            plain["R0"] = prior_outcomes(inputs)
            yield case("bayes_at_n scores", "bayes_at_n.compute", inputs, **plain)
            yield case("max_at_k scores", "max_at_k.compute", inputs, k=draws, **w)
    for inputs in REWARDS:
        draws = [k for k in (1, 2, 3, 4, 12, 100) if k <= least(inputs)]
        options = {"k": draws, "return_per_question": True}
        yield case("max_at_k scores", "max_at_k.compute", inputs, **options)
    for inputs in SHARES:
        options = {"k": [1, 2, 3], "return_per_question": True}
        yield case("cons_at_k scores", "cons_at_k.compute", inputs, **options)


def intervals() -> Iterator[Case]:
    """Intervals of the metrics, with groups and clusters."""
    for name, inputs, base in interval_inputs():
        known = [x for x in INTERVALS if name != "cons_at_k" or x != "hierarchical"]
        questions, family = size(inputs), f"{name} intervals"
        many = {"groups": ["single", *("ab"[i % 2] for i in range(1, questions))]}
        two = {"groups": ["ab"[2 * i // questions] for i in range(questions)]}
        sources = {"clusters": [f"source {i // 2 % 7}" for i in range(questions)]}
        for interval in ["questions"] if name == "score_agg" else known:
            if interval == "posterior" and inputs in REWARDS:
                continue  # rewards that are no categories have no posterior
            extra = [{"confidence": confidence} for confidence in (0.8, 0.95, 0.99)]
            extra += [{"confidence": 0.9, "return_per_question": True, **two}]
            extra += [{"confidence": 0.95, **many}] if interval != "questions" else []
            if interval in ("questions", "auto"):
                extra += [{"confidence": 0.95, **sources}, {"confidence": 0.95, **sources, **two}]
            if interval == "posterior" and name in ("gpassk", "cons_at_k"):
                extra += [{"confidence": 0.95, "alpha0": 0.5, "beta0": 3.5}]
            if name in ("bayes_at_n", "max_at_k"):
                extra += [{"confidence": 0.95, "bounds": (0.25, 0.75)}]
            beyond = name in ("gpassk", "max_at_k") and inputs not in REWARDS
            if interval in ("hierarchical", "auto") and beyond:
                extra += [
                    {"confidence": 0.95, "k": k, **x} for k in (20, [2, 32]) for x in ({}, two)
                ]
            for option in extra:
                yield case(family, f"{name}.compute", inputs, interval=interval, **base | option)
            if name == "gpassk" and interval != "hierarchical":
                options = {
                    "include": BLENDS,
                    "k": base["k"],
                    "confidence": 0.95,
                    "interval": interval,
                }
                yield case(family, "gpassk.compute", inputs, **options)
    for interval in INTERVALS:
        options = {"k": 100, "confidence": 0.95, "interval": interval}
        yield case("gpassk intervals", "gpassk.compute", "40 x 300", **options)


def interval_inputs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield metrics, inputs and options for which every interval is computed."""
    outcomes = [name for name in OUTCOMES if name not in ("one sample each", "one sample")]
    for inputs in outcomes:
        draws = [k for k in (1, 2, 4) if k <= least(inputs)]
        yield "gpassk", inputs, {"k": draws, "include": SINGLE_SCORES, "thresholds": [0.28, 0.5]}
        yield "cons_at_k", inputs, {"k": [1, least(inputs)]}
        yield "bayes_at_n", inputs, {}
        yield "max_at_k", inputs, {"k": draws[-1]}
    for inputs in GRADED:
        for w in worth(inputs):
            yield "bayes_at_n", inputs, {**w, "R0": prior_outcomes(inputs)}
            yield "max_at_k", inputs, {**w, "k": [1, 3]}
    for inputs in REWARDS:
        yield "max_at_k", inputs, {"k": [1, 3]}
    for inputs in SHARES:
        yield "cons_at_k", inputs, {"k": [1, 3]}
    for inputs in VERDICTS:
        yield "score_agg", inputs, {"temperature": 0.3}
    yield "cons_at_k", "letters", {"k": [1, 2, 5]}


def containers() -> Iterator[Case]:
    """Containers of outcomes and of texts."""
    for inputs in CONTAINERS:
        for name in ("pass_at_k", "geom_at_k_ci", "mg_pass_at_k", "cons_at_k", "max_at_k"):
            yield case("containers", name, inputs, k=2)
        for name in ("bayes", "avg_ci", "score_agg"):
            yield case("containers", name, inputs)
        for name in METRICS:
            options = {"return_per_question": True} | ({"k": 2} if name.endswith("k") else {})
            yield case("containers", f"{name}.compute", inputs, **options)
    for inputs in TEXT_CONTAINERS:
        for name in METRICS:
            yield case("containers", f"{name}.compute", inputs, return_per_question=True)
    yield case("containers", "compare", "container twice", k=2)


def checkers() -> Iterator[Case]:
    """Checkers of predictions against references."""
    for name in METRICS:
        accepted: list[Callable] = [is_equal, unscored_b]
        accepted += [] if name in ("gpassk", "bayes_at_n") else [share]
        accepted += [grade] if name == "score_agg" else []
        option = {"k": [1, 2]} if name.endswith("k") else {}
        each = {**option, "return_per_question": True}
        for inputs in JUDGED:
            checks = ["numeric", is_equal, *accepted[2:3]]
            checks += [] if "number references" in inputs else ["exact_match"]
            checks = checks[:1] if "smollm2" in inputs else checks
            if inputs in ("letters", "letters, unscored"):
                checks = ["exact_match", *accepted]
            for check in checks:
                yield case("checkers", f"{name}.compute", inputs, check_correct_fn=check, **each)
        for extra in ({"num_proc": 2}, {"num_proc": 1}, {"executor": ThreadPoolExecutor(2)}):
            options = {"check_correct_fn": is_equal, **extra, **option}
            yield case("checkers", f"{name}.compute", "letters", **options)
        options = {"check_correct_fn": "math_verify", **option}
        yield case("checkers", f"{name}.compute", "sentences, number references", **options)
    for name in ("bayes_at_n", "max_at_k"):
        for check, extra in ((category, {}), (label, {"categories": CATEGORIES})):
            options = {"check_correct_fn": check, "w": [0.0, 0.5, 1.0], **extra}
            yield case("checkers", f"{name}.compute", "letters", **options)
        options = {"categories": ["a", "b", "c", "dd"], "w": [1, 2, 4, 3]}
        yield case("checkers", f"{name}.compute", "letters only", **options)
    for merge_right in (True, False):
        for inputs in ("letters", "letters, lists of references", "sentences", "smollm2_warm"):
            for k in (None, [1, 2, 3, 4, 5]):
                check = "exact_match" if inputs.startswith("letters") else "numeric"
                options = {"k": k, "merge_right": merge_right, "check_correct_fn": check}
                yield case(
                    "votes", "cons_at_k.compute", inputs, return_per_question=True, **options
                )


def in_batches(name: str, inputs: str, steps: str):
    """Return the scores of questions that are added in steps: add, add_batch, compute."""
    one, rows = at_k.load(name), [list(each) for each in INPUTS[inputs]]
    kinds = ("predictions", "references")[: len(rows)]
    rest = [dict(zip(kinds, row, strict=True)) for row in zip(*rows, strict=True)]
    for step in steps:
        taken, rest = (rest[:1], rest[1:]) if step == "1" else (rest[:2], rest[2:])
        batch = {kind: [row[kind] for row in taken] for kind in kinds}
        if step == "1":
            one.add(**{kind[:-1]: value[0] for kind, value in batch.items()})
        elif step == "2":
            one.add_batch(**batch)
        else:  # a compute that fails leaves the questions before it
            try:
                one.compute(**batch, confidence=2)
            except ValueError:
                one.add_batch(**batch)
    last = {kind: [row[kind] for row in rest] for kind in kinds} if rest else {}
    return {"length": len(one), **one.compute(**last, return_per_question=True), "left": len(one)}


def batches() -> Iterator[Case]:
    """Questions that are added in several steps."""
    usual = ("12 x 16", "letters", "letters, unscored", "sentences", "ragged")
    for name in METRICS:
        more = {"score_agg": ("verdicts", "weights"), "max_at_k": ("rewards", "rewards, unscored")}
        for inputs in (*usual, *more.get(name, ())):
            for steps in ("", "1", "2", "12", "1121", "x2", "1x2"):
                call_it = partial(in_batches, name, inputs, steps)
                yield "batches", f"{name}({inputs}) in steps {steps!r}", call_it


# --- Invalid calls --------------------------------------------------------------------------

INVALID = {
    "k": (0, -1, 1.5, "2", True, 10**7, [1, 0], [], NAN, 200),
    "confidence": (0, 1, -0.5, 1.5, "0.95", NAN, True),
    "bounds": ((1, 0), (0,), 3, (0, NAN), "ab"),
    "alpha0": (0, -1, NAN, "1", None),
    "beta0": (0, -1, math.inf, "1", None),
    "tau": (-0.1, 1.1, NAN, "0.5", None),
    "thresholds": (-0.1, [0.5, 1.1], [], "0.5", [None]),
    "include": ("pass", [], ["pass@k", "pass@2"], 3),
    "lam": (-0.1, 1.1, "0.5", None),
    "weights": ([1.0], [-0.1] * 9, [1, 1], 3, "ab", {}, {"a": 2}, {1: 0.5}, {"a": "b"}),
    "pass_power": (-1, 101, NAN, "1"),
    "unanimous_power": (-1, 101, NAN, "1"),
    "w": ([0.0], [0, 1, 2, 3, 4], [0, NAN], ["a", "b"], 3, [], [0, 1e200]),
    "R0": ([[0]], [[0, 2]] * 8, [[None]] * 8, "ab", 3, [[0], [0, 1]] * 4),
    "categories": (["a"], ["a", "a"], [0, 1], [], 3),
    "merge_right": (None, 1, "yes"),
    "temperature": (0.05, 1.1, "0.5", NAN, None),
    "penalty": (-0.1, 1.1, "0.1", NAN),
    "eps_for_neg_p": (0, -1, 2, NAN),
    "compat": ("0.9", 0.3, []),
    "check_correct_fn": ("exact", 3, None, failing, str, lambda a, b: -1, lambda a, b: [1]),
    "num_proc": (0, -1, 1.5, True, "2"),
    "executor": (3, ThreadPoolExecutor, "threads"),
    "interval": ("none", None, 3, ["posterior"], "hierarchical"),
    "clusters": (["a"], ["a"] * 8, 3, "abcdefgh", [None] * 8),
    "groups": (["a"], 3, "abcdefgh", [None] * 8, ["a"] * 9),
    "return_per_question": (None, 1, "yes"),
    "metric": ("pass", None, "Geom@k"),
    "unknown_parameter": (1,),
}
_BETA = ("k", "confidence", "bounds", "alpha0", "beta0", "unknown_parameter")
_COMPUTE = ("check_correct_fn", "num_proc", "executor", "confidence", "interval", "clusters")
_COMPUTE += ("groups", "return_per_question", "unknown_parameter")
PARAMETERS = {
    "pass_at_k": ("k",),
    "pass_hat_k_ci": _BETA,
    "auc_at_k_ci": _BETA,
    "cons_at_k": ("k",),
    "g_pass_at_k_tau": ("k", "tau"),
    "mg_pass_at_k_ci": _BETA,
    "threshold_spectrum_at_k": ("weights",),
    "geom_at_k": ("pass_power", "unanimous_power"),
    "geo_spectrum_at_k": ("lam", "weights"),
    "bayes": ("w", "R0"),
    "avg_ci": ("w", "confidence", "bounds"),
    "max_at_k": ("k", "w"),
    "max_at_k_ci": ("k", "w", "R0", "confidence", "bounds"),
    "score_agg": ("temperature", "penalty", "eps_for_neg_p", "compat"),
    "compare": ("metric", "k", "interval", "confidence", "tau", "clusters"),
    "gpassk.compute": ("k", "thresholds", "include", "lam", "weights", "pass_power", *_COMPUTE)
    + ("unanimous_power", "alpha0", "beta0"),
    "bayes_at_n.compute": ("w", "R0", "categories", "bounds", *_COMPUTE),
    "max_at_k.compute": ("k", "w", "R0", "categories", "bounds", *_COMPUTE),
    "cons_at_k.compute": ("k", "merge_right", "alpha0", "beta0", *_COMPUTE),
    "score_agg.compute": ("temperature", "penalty", "eps_for_neg_p", "weights", *_COMPUTE),
}
REQUIRED = {"g_pass_at_k_tau": {"tau": 0.5}, "threshold_spectrum_at_k": {"weights": [0.5, 0.5]}}
