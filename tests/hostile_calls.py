"""Random calls of functions and metrics with an argument that makes no sense.

Each has to return a result, or to raise a ValueError or TypeError that names an argument.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import at_k
import at_k.charts
import at_k.testing
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from random_calls import metric

Make = Callable[[], Any]
ROWS = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
TEXTS = [["a", "b", "a", "c"], ["b", "b", "a", ""], ["c", "c", "c", "c"]]
REFERENCES = ["a", "b", "c"]


class Problem(NamedTuple):
    """A call that did not end as it should."""

    call: str
    error: str

    def __str__(self) -> str:
        return f"{self.call}: {self.error}"


# --- Values that make no sense ----------------------------------------------------------


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def nested_in_itself() -> list:
    value: list = [1]
    value.append(value)
    return value


def dict_in_itself() -> dict:
    value: dict = {"a": 1}
    value["a"] = value
    return value


def run_end_encoded() -> pa.Array:
    return pa.array([1, 1, 0], pa.run_end_encoded(pa.int32(), pa.int64()))


VALUES: dict[str, Make] = {
    "None": lambda: None,
    "nothing": list,
    "nested nothing": lambda: [[], []],
    "10**30": lambda: 10**30,
    "-10**400": lambda: -(10**400),
    "5,000 digits": lambda: "9" * 5000,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "-1": lambda: -1,
    "half": lambda: 0.5,
    "2**63": lambda: np.uint64(2**63),
    "complex": lambda: 1j,
    "empty text": str,
    "text": lambda: "x\x00y",
    "lone surrogate": lambda: "\ud800",
    "bytes": lambda: b"\xff",
    "number as text": lambda: "1",
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "ellipsis": lambda: ...,
    "set": lambda: {1, 2},
    "dict": lambda: {"a": [1, 0]},
    "dict in itself": dict_in_itself,
    "list in itself": nested_in_itself,
    "nested 100,000 deep": lambda: nested(100_000),
    "nested 300 deep": lambda: nested(300),
    "iterator": lambda: iter([1, 0, 1]),
    "ragged": lambda: [1, [0, [1]], "x"],
    "list of 10**30": lambda: [[10**30, 1], [1, 0]],
    "decimal": lambda: decimal.Decimal("sNaN"),
    "huge decimal": lambda: decimal.Decimal("1e999999"),
    "fraction": lambda: fractions.Fraction(10**400, 3),
    "date": lambda: datetime.date(2026, 1, 1),
    "NumPy date": lambda: np.datetime64("NaT"),
    "array of dates": lambda: np.array(["2026-01-01"] * 3, "datetime64[D]"),
    "0-d array": lambda: np.array(1),
    "5-d array": lambda: np.zeros((2, 2, 2, 2, 2)),
    "array without rows": lambda: np.zeros((0, 4)),
    "array without samples": lambda: np.zeros((3, 0)),
    "array of objects": lambda: np.array([object(), None, "x"], object),
    "array of complex": lambda: np.ones((3, 4), complex),
    "masked": lambda: np.ma.array([[1, 0]] * 3, mask=True),
    "records": lambda: np.zeros(3, [("a", "U3"), ("b", "i8", 2)]),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "empty frame": pd.DataFrame,
    "frame of texts": lambda: pd.DataFrame({"a": ["x", "y", "z"]}),
    "series of intervals": lambda: pd.Series(pd.interval_range(0, 3)),
    "polars structs": lambda: pl.DataFrame({"a": [{"b": 1}] * 3}),
    "run ends": run_end_encoded,
    "Arrow null": lambda: pa.nulls(3),
    "Arrow scalar": lambda: pa.scalar(1),
    "Arrow dictionary": lambda: pa.array(["a", "b", "a"]).dictionary_encode(),
    "Arrow map": lambda: pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64())),
    "Arrow table": lambda: pa.table({"a": [[1], [0], [1]]}),
}

OF_QUESTIONS: dict[str, dict[str, Any]] = {
    "pass_at_k": {"k": 2},
    "pass_at_k_ci": {"k": 2, "confidence": 0.9, "alpha0": 1.0, "beta0": 1.0, "bounds": (0, 1)},
    "g_pass_at_k_tau": {"k": 2, "tau": 0.5},
    "mg_pass_at_k_ci": {"k": 3, "interval": "questions"},
    "threshold_spectrum_at_k": {"k": 2, "weights": [0.5, 0.5]},
    "geo_spectrum_at_k": {"k": 2, "lam": 0.5},
    "geom_ds_at_k": {"k": 2, "pass_power": 0.5, "unanimous_power": 0.5},
    "bayes": {"w": [0, 1], "R0": [0, 1]},
    "avg_ci": {"confidence": 0.9},
    "max_at_k": {"k": 2, "w": [0, 1]},
    "max_at_k_ci": {"k": 2, "R0": [0, 1]},
    "cons_at_k": {"k": 2},
    "score_agg": {"temperature": 0.5, "penalty": 0.1, "eps_for_neg_p": 1e-9},
    "noise": {"k": 1, "metric": "pass@k", "confidence": 0.9, "tau": 0.5}
    | {"clusters": REFERENCES, "checker_rates": (0.9, 0.1)},
    "testing.assert_at_least": {"threshold": 0.5, "metric": "pass@k", "k": 1, "confidence": 0.9},
    "testing.assert_not_worse": {"baseline": ROWS, "margin": 0.1, "metric": "pass@k", "k": 1},
    "plan": {"metric": "pass@k", "k": 1, "questions": [50], "samples": [2], "half_width": 0.3}
    | {"confidence": 0.9, "question_cost": 1.0, "sample_cost": 1.0, "correlation": None},
    "tailpass": {"k": 2, "w": [0, 1], "R0": ROWS, "eta": 1.0, "prior": 1.0, "thresholds": [0.5]},
    "tailpass_empirical": {"k": 2, "w": [0, 1], "thresholds": [0.5]},
}
SCORES = {"pass@1": 0.5, "pass@1_lo": 0.4, "pass@1_hi": 0.6, "pass@2": 0.7}
SCORES |= {f"{group}/{key}": score for key, score in SCORES.items() for group in "ab"}
THRESHOLDS = {"G-Pass@2_0.5": 0.5, "G-Pass@2_1.0": 0.25}
COMPARISON: dict[str, Any] = {"pass@1_a": 0.5, "pass@1_b": 0.6, "pass@1_diff": 0.1}
COMPARISON |= {"pass@1_diff_lo": -0.1, "pass@1_diff_hi": 0.3, "pass@1_diff_interval": "sampling"}
CAPTION = {"questions": 3, "n": 4, "checker": "numeric", "caption": "text", "width": 3.0}
INTERVAL = {"confidence": 0.9, "interval": "sampling"}
PER_QUESTION = {"pass@1": 0.5, "per_question": {"pass@1": [0.25, 0.5, 0.75]}}
TABLE = [{"id": i, "correct": i % 2, "group": "a", "reward": 0.5} for i in range(4)]
# The name of the first argument, its value, and other arguments.
FUNCTIONS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    **{name: ("R", ROWS, arguments) for name, arguments in OF_QUESTIONS.items()},
    "advantages": (
        "rewards",
        ROWS,
        {"k": 2, "score": "pass@k", "baseline": "marginal", "normalize": "std"},
    ),
    "compare": (
        "R_a",
        ROWS,
        {"R_b": ROWS, "metric": "pass@k", "k": 2, "interval": "auto", "clusters": REFERENCES},
    ),
    "read": (
        "source",
        TABLE,
        {"outcomes": "correct", "questions": "id", "groups": "group", "where": {"group": "a"}}
        | {"clusters": "group", "correct_values": [1], "pool": ["group"]},
    ),
    "read ": ("source", [0.5, 1.0, 0.0, 0.5], {"group_size": 2}),
    "leaderboard": (
        "runs",
        {"A": ROWS, "B": ROWS[::-1]},
        {"metric": "pass@k", "k": 2, "interval": "questions", "confidence": 0.9},
    ),
    "Counts": ("n", [4, 4], {"c": [1, 2]}),
    "load": ("name", "gpassk", {}),
    "charts.by_k": ("results", SCORES, {"metric": "pass@k", "highlight": 1} | CAPTION | INTERVAL),
    "charts.by_group": ("results", SCORES, {"key": "pass@1"} | CAPTION | INTERVAL),
    "charts.by_threshold": ("results", THRESHOLDS, {"k": 2, "highlight": 0.5} | CAPTION),
    "charts.by_question": (
        "results",
        PER_QUESTION,
        {"key": "pass@1", "labels": REFERENCES, "noun": "question", "n": 4, "width": 3.0},
    ),
    "charts.by_parameter": (
        "results",
        {0.2: SCORES, 0.8: SCORES},
        {"key": "pass@1", "parameter": "T"} | CAPTION,
    ),
    "charts.difference": ("comparison", COMPARISON, {"runs": ("A", "B")} | CAPTION | INTERVAL),
    "charts.forest": (
        "board",
        at_k.leaderboard({"A": ROWS, "B": ROWS[::-1]}, k=1),
        {"key": "pass@1", "checker": "numeric", "width": 3.0},
    ),
}
COMMON = {
    "references": REFERENCES,
    "groups": REFERENCES,
    "confidence": 0.9,
    "check_correct_fn": "exact_match",
    "return_per_question": True,
    "keys": "safe",
}
METRICS: dict[str, dict[str, Any]] = {
    "gpassk": {
        "k": [1, 2],
        "thresholds": [0.5],
        "include": ["pass@k"],
        "interval": "sampling",
        "checker_rates": (0.9, 0.1),
        "labels": {"tp": 20, "fn": 2, "fp": 1, "tn": 30},
        "budget": 4,
    },
    "bayes_at_n": {"w": [0, 1], "bounds": (0, 1), "R0": [0, 1], "labels": ROWS},
    "max_at_k": {"k": [2], "w": [0, 1], "picked_by": ROWS, "bounds": (0, 1)},
    "cons_at_k": {
        "k": 2,
        "clusters": REFERENCES,
        "interval": "questions",
        "vote_weights": ROWS,
        "include": ["vote@k"],
    },
    "score_agg": {"temperature": 0.5, "weights": {"a": 1.0, "b": 0.5, "c": 0.0}},
}


# --- Calls ------------------------------------------------------------------------------


REQUIRED = {"parameter", "k", "group_size", "questions", "samples", "tau", "weights", "threshold"}
REQUIRED |= {"R_b", "baseline"}
WORDS = {"R", "scores", "tau", "predictions", "outcome", "question", "sample"}
OTHER_WORDS = {"run", "score", "column", "row", "counts", "key", "metric", "file", "chart"}
OTHER_WORDS |= {"confidence", "interval", "Counts", "A", "B"}


def put_into(given: Any, value: Any, rng: np.random.Generator) -> Any:
    """Return an argument of which one part is the value, or the value itself."""
    if rng.random() < 0.4:
        return value
    if isinstance(given, dict):
        return given | {str(rng.choice([*map(str, given)])): value}
    place = int(rng.integers(len(given))) if isinstance(given, list) and given else None
    if place is None:
        return value
    part = given[place]
    if isinstance(part, list) and part and rng.random() < 0.6:
        part = list(part)
        part[int(rng.integers(len(part)))] = value
    else:
        part = value
    return [*given[:place], part, *given[place + 1 :]]


def random_call(rng: np.random.Generator) -> tuple[str, Callable[[], Any], set[str]]:
    """Return the text of a call, the call, and the names that an error may have."""
    described = str(rng.choice(list(VALUES)))
    value = VALUES[described]()
    if rng.random() < 0.6:
        name = str(rng.choice(list(FUNCTIONS)))
        first, source, every = FUNCTIONS[name]
        arguments = {
            key: value for key, value in every.items() if key in REQUIRED or rng.random() < 0.7
        }
        function = operator.attrgetter(name.strip())(at_k)
    else:
        name = str(rng.choice(list(METRICS)))
        arguments = {key: x for key, x in (METRICS[name] | COMMON).items() if rng.random() < 0.5}
        if name == "score_agg":
            arguments = {
                key: x
                for key, x in arguments.items()
                if key not in ("references", "check_correct_fn")
            }
        is_text = "references" in arguments or name == "score_agg"
        first, source = "predictions", TEXTS if is_text else ROWS
        function = metric(name).compute
    if name.startswith("read") and isinstance(value, str):
        value = [value]  # a text is the name of a file, or of a dataset on the Hub
    given = {first: source, **arguments}
    hostile = str(rng.choice(list(given)))
    given[hostile] = put_into(given[hostile], value, rng)

    def call() -> Any:
        others = {key: x for key, x in given.items() if key != first}
        if first == "predictions":
            return function(**given)
        result = function(given[first], **others)
        if name == "Counts":  # which says what is wrong with it when it is used
            at_k.pass_at_k(result, 1)
        return result

    text = f"{name}({', '.join(given)}), {hostile} with {described}"
    names = {*given, *WORDS}
    return text, call, names if source in (ROWS, TEXTS) else names | OTHER_WORDS


def problem_of(call: Callable[[], Any], names: set[str]) -> str | None:
    """Return what is wrong with how a call ends, or None."""
    try:
        call()
    except (ValueError, TypeError) as error:
        own = type(error).__module__.startswith("at_k")
        if type(error) not in (ValueError, TypeError) and not own:
            return repr(error)[:300]
        words = set(re.findall(r"\w+", str(error))) | {w.rstrip("s") for w in str(error).split()}
        return None if words & names else f"names nothing: {error!r:.300}"
    except AssertionError:  # of `at_k.testing`
        return None
    except OSError as error:  # a text is the name of a file
        return None if "source" in names else repr(error)[:300]
    except Exception as error:
        return repr(error)[:300]
    return None


def check_hostile_calls(number: int, seed: int) -> list[Problem]:
    """Return the calls that did not end as they should."""
    rng = np.random.default_rng(seed)
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(number):
            text, call, names = random_call(rng)
            if problem := problem_of(call, names):
                problems.append(Problem(text, problem))
    return problems
