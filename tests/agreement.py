"""Comparison of random calls with brute force and with scorio."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import at_k
import numpy as np
from container_types import TYPES, Type, can_hold
from random_calls import CALLS, REWARDS, Call, scored
from scorio import eval as scorio


class Disagreement(NamedTuple):
    """A call whose result is not the expected one."""

    call: Call
    container: str
    against: str
    result: Any
    expected: Any

    def __str__(self) -> str:
        name, rows, arguments, _ = self.call
        return (
            f"{name}({rows}, {arguments}) as {self.container}: {self.result}, but {self.against} "
            f"gives {self.expected}"
        )


@cache
def metric(name: str):
    return at_k.load(name)


def result_of(call: Call, container: Any) -> Any:
    """Return the result of a call, or the type of the error that it raises."""
    try:
        if call.name.startswith("metric "):
            return metric(call.name.split()[1]).compute(predictions=container, **call.arguments)
        return getattr(at_k, call.name)(container, **call.arguments)
    except (ValueError, TypeError) as error:
        if not isinstance(call.expected, type):
            return error
        return call.expected if isinstance(error, call.expected) else type(error)
    except Exception as error:  # a disagreement, whatever it is
        return error


def agree(result: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Return whether two results are equal up to rounding. None as expected agrees with all."""
    if expected is None:
        return not isinstance(result, Exception)
    if isinstance(expected, type):
        return result is expected
    if isinstance(expected, dict):
        if isinstance(result, dict):  # only floats have a number of runs
            result = {key: value for key, value in result.items() if "runs" not in key}
        if not isinstance(result, dict) or sorted(result) != sorted(expected):
            return False
        return all(agree(result[key], value, tolerance) for key, value in expected.items())
    if isinstance(expected, tuple):
        if not isinstance(result, tuple) or len(result) != len(expected):
            return False
        return all(agree(x, y, tolerance) for x, y in zip(result, expected, strict=True))
    return type(result) is float and math.isclose(
        result, expected, rel_tol=tolerance, abs_tol=1e-12
    )


def result_of_scorio(call: Call) -> Any:
    """Return the result of scorio, or None where scorio has no such call."""
    function = getattr(scorio, call.name, None)
    is_matrix = len(set(map(len, call.rows))) == 1 and scored(call.rows) == call.rows
    real = any(isinstance(value, float) for row in call.rows for value in row)
    if function is None or not is_matrix or real or isinstance(call.expected, type):
        return None
    arguments = {
        name: np.array(value) if name in ("w", "R0") else value
        for name, value in call.arguments.items()
    }
    if arguments.get("bounds", ()) is None and not call.name.startswith(REWARDS):
        arguments["bounds"] = (-math.inf, math.inf)
    if "confidence" in arguments:
        arguments["confidence"] = float(arguments["confidence"])
    if "tau" in arguments and isinstance(arguments["tau"], np.float32):
        return None  # scorio multiplies in single precision
    result = function(np.array(call.rows), **arguments)
    return tuple(map(float, result)) if isinstance(result, tuple) else float(result)


def check_calls(
    number: int, seed: int, types: dict[str, Type] = TYPES
) -> tuple[dict[str, int], list[Disagreement]]:
    """Return how many results were compared with each peer, and those that disagree."""
    rng = np.random.default_rng(seed)
    makers, shares = zip(*CALLS, strict=True)
    compared = {"brute force": 0, "scorio": 0}
    disagreements = []
    for _ in range(number):
        call = makers[rng.choice(len(makers), p=shares)](rng)
        is_binary = len(call.arguments.get("w", "01")) == 2
        held = [name for name, kind in types.items() if can_hold(kind, call.rows, is_binary)]
        name = held[rng.integers(len(held))]
        result = result_of(call, types[name].make(call.rows))
        compared["brute force"] += call.expected is not None
        if not agree(result, call.expected):
            disagreements.append(Disagreement(call, name, "brute force", result, call.expected))
        peer = result_of_scorio(call)
        compared["scorio"] += peer is not None
        if peer is not None and not agree(result, peer, 1e-7):
            disagreements.append(Disagreement(call, name, "scorio", result, peer))
    return compared, disagreements
