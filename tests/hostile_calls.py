"""Random calls with an argument that makes no sense: those of `random_calls`, and of the rest.

Each has to return a result, or to raise a ValueError or TypeError that names an argument.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import re
import warnings
from collections.abc import Callable
from typing import Any

import at_k
import at_k.charts
import at_k.testing
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from random_calls import Call, actual_result, function_of, random_call

Make = Callable[[], Any]
ROWS = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]]
REFERENCES = ["a", "b", "c"]


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

SCORES = {"pass@1": 0.5, "pass@1_lo": 0.4, "pass@1_hi": 0.6, "pass@2": 0.7}
SCORES |= {f"{group}/{key}": score for key, score in SCORES.items() for group in "ab"}
THRESHOLDS = {"G-Pass@2_0.5": 0.5, "G-Pass@2_1.0": 0.25}
RUNS = {"A": ROWS, "B": ROWS[::-1]}
PASS_1 = {"metric": "pass@k", "k": 1}
INTERVAL = {"confidence": 0.9, "interval": "sampling"}
CAPTION: dict[str, Any] = {"questions": 3, "n": 4, "width": 3.0}
CAPTION |= {"checker": "numeric", "caption": "text"}
PER_QUESTION = {"pass@1": 0.5, "per_question": {"pass@1": [0.25, 0.5, 0.75]}}
TABLE = [{"id": i, "correct": i % 2, "group": "a", "reward": 0.5} for i in range(4)]
COLUMNS: dict[str, Any] = {"outcomes": "correct", "questions": "id", "groups": "group"}
COLUMNS |= {"where": {"group": "a"}}
COLUMNS |= {"columns": {"clusters": "group"}, "correct_values": [1], "pool": ["group"]}
PLAN: dict[str, Any] = {"questions": [50], "samples": [2], "half_width": 0.3, "confidence": 0.9}
PLAN |= {"question_cost": 1.0, "sample_cost": 1.0, "correlation": None}
TAILS: dict[str, Any] = {"k": 2, "w": [0, 1], "thresholds": [0.5]}
# What `random_calls` does not call: the first argument, and the others.
FUNCTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "noise": (ROWS, PASS_1 | {"tau": 0.5, "clusters": REFERENCES}),
    "testing.assert_at_least": (ROWS, PASS_1 | {"threshold": 0.5, "confidence": 0.9}),
    "testing.assert_not_worse": (ROWS, PASS_1 | {"baseline": ROWS, "margin": 0.1}),
    "plan": (ROWS, PASS_1 | PLAN),
    "tailpass": (ROWS, TAILS | {"R0": ROWS, "eta": 1.0, "prior": 1.0}),
    "tailpass_empirical": (ROWS, TAILS),
    "read": (TABLE, COLUMNS),
    "read ": ({"reward": [0.5, 1.0, 0.0, 0.5]}, {"group_size": 2}),
    "leaderboard": (RUNS, PASS_1 | {"interval": "questions", "confidence": 0.9}),
    "Counts": ([4, 4], {"c": [1, 2]}),
    "load": ("gpassk", {}),
    "charts.by_k": (SCORES, {"metric": "pass@k", "highlight": 1} | CAPTION | INTERVAL),
    "charts.by_group": (SCORES, {"key": "pass@1"} | CAPTION | INTERVAL),
    "charts.by_threshold": (THRESHOLDS, {"k": 2, "highlight": 0.5} | CAPTION),
    "charts.by_question": (
        PER_QUESTION,
        {"key": "pass@1", "labels": REFERENCES, "noun": "question", "n": 4, "width": 3.0},
    ),
    "charts.by_parameter": (
        {0.2: SCORES, 0.8: SCORES},
        {"key": "pass@1", "parameter": "T"} | CAPTION,
    ),
    "charts.difference": (
        at_k.compare(ROWS, ROWS[::-1], k=[1, 2]),
        {"runs": ("A", "B")} | CAPTION | INTERVAL,
    ),
    "charts.forest": (
        at_k.leaderboard(RUNS, k=1),
        {"key": "pass@1", "checker": "numeric", "width": 3.0},
    ),
}


# --- Calls ------------------------------------------------------------------------------


REQUIRED = {"parameter", "k", "group_size", "questions", "samples", "threshold", "baseline"}
WORDS = {"R", "scores", "tau", "lam", "rates", "predictions", "outcome", "question", "sample"}
OTHER_WORDS = {"run", "score", "column", "row", "counts", "key", "metric", "file", "chart"}
OTHER_WORDS |= {"confidence", "interval", "Counts", "A", "B"}


def other_call(rng: np.random.Generator) -> Call:
    """Return a call of a function that no random call with an oracle has."""
    name = str(rng.choice(list(FUNCTIONS)))
    first, options = FUNCTIONS[name]
    chosen = {key: x for key, x in options.items() if key in REQUIRED or rng.random() < 0.7}
    return Call(name, first, chosen, None)


def scoring_call(rng: np.random.Generator) -> Call:
    """Return one of the calls of `random_calls`, for metrics with options of all metrics."""
    call = random_call(rng)
    if not call.name.startswith("metric "):
        return call
    labels = [f"{i % 2}" for i in range(len(call.rows))]
    options: dict[str, Any] = {"groups": labels, "clusters": labels, "confidence": 0.9}
    options |= {"return_per_question": True, "interval": "questions", "keys": "safe"}
    options |= {
        "metric max_at_k": {"picked_by": call.rows},
        "metric cons_at_k": {"vote_weights": call.rows},
        "metric score_agg": {"weights": {"a": 1.0, "b": 0.5}},
    }.get(call.name, {})
    if call.name == "metric score_agg":
        del options["clusters"]
    else:
        options |= {"references": [1] * len(call.rows), "check_correct_fn": "exact_match"}
    options = {key: x for key, x in options.items() if rng.random() < 0.3}
    return call._replace(arguments=options | call.arguments)


def put_into(argument: Any, value: Any, rng: np.random.Generator) -> Any:
    """Return an argument of which one part is the value, or the value itself."""
    if rng.random() < 0.4:
        return value
    if isinstance(argument, dict):
        return argument | {str(rng.choice([*map(str, argument)])): value}
    if not (isinstance(argument, list) and argument):
        return value
    i = int(rng.integers(len(argument)))
    row = argument[i]
    if isinstance(row, list) and row and rng.random() < 0.6:
        row = list(row)
        row[int(rng.integers(len(row)))] = value
    else:
        row = value
    return [*argument[:i], row, *argument[i + 1 :]]


def check_call(rng: np.random.Generator) -> str | None:
    """Put a value that makes no sense into a call, and say what is wrong with how it ends."""
    call = other_call(rng) if rng.random() < 0.5 else scoring_call(rng)
    function, first = function_of(call.name)
    described = str(rng.choice(list(VALUES)))
    value = VALUES[described]()
    if call.name.startswith("read") and isinstance(value, str):
        value = [value]  # a text is the name of a file, or of a dataset on the Hub
    arguments = {first: call.rows} | call.arguments
    words = {*arguments, *WORDS}
    if call.name in FUNCTIONS and call.rows is not ROWS:
        words |= OTHER_WORDS
    words |= {key for x in arguments.values() if isinstance(x, dict) for key in x}
    hostile = str(rng.choice(list(arguments)))
    arguments[hostile] = put_into(arguments[hostile], value, rng)
    problem = problem_with(lambda: function(**arguments), words, call.name)
    text = f"{call.name}({', '.join(arguments)}), {hostile} with {described}"
    return f"{text}: {problem}" if problem else None


def problem_with(run: Callable[[], Any], words: set[str], name: str) -> str | None:
    """Return what is wrong with how a call ends, or None."""
    try:
        result = run()
        if name == "Counts":  # which says what is wrong with it when it is used
            at_k.pass_at_k(result, 1)
    except (ValueError, TypeError) as error:
        own = type(error).__module__.startswith("at_k")
        if type(error) not in (ValueError, TypeError) and not own:
            return repr(error)[:300]
        if "unexpected keyword" in str(error):
            return repr(error)[:300]
        said = set(re.findall(r"\w+", str(error))) | {w.rstrip("s") for w in str(error).split()}
        return None if said & words else f"names nothing: {error!r:.300}"
    except AssertionError:  # of `at_k.testing`
        return None
    except OSError as error:  # a text is the name of a file
        return None if name.startswith("read") else repr(error)[:300]
    except Exception as error:
        return repr(error)[:300]
    return None


def check_valid_call(name: str) -> str | None:
    """Say what is wrong with a function of the table that refuses its arguments as they are."""
    first, options = FUNCTIONS[name]
    result = actual_result(Call(name, first, options, None), first)
    is_allowed = isinstance(result, AssertionError)  # of `at_k.testing`
    return f"{name}: {result!r:.300}" if isinstance(result, Exception) and not is_allowed else None


def check_hostile_calls(number: int, seed: int) -> list[str]:
    """Return the calls that did not end as they should."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problems = [check_valid_call(name) for name in FUNCTIONS]
        problems += [check_call(rng) for _ in range(number)]
    return [problem for problem in problems if problem]
