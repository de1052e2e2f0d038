"""Encode values, which a program and its tests exchange, as JSON, and compare results.

Only values of the types listed here are copied. Any other object stays where it is, and the other
process gets a reference to it: decoding creates no object that the sender could choose.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

LONGEST = 1 << 25  # bytes of a message
_read, _write = os.read, os.write  # kept here, because a program may replace those of `os`

_AS_IT_IS = (type(None), bool, str, float)
_SHORTEST = timedelta.resolution


def _bounds(value: Any) -> list[Any]:
    """Return the arguments that make a range or a slice."""
    return [value.start, value.stop, value.step]


# The name of each type, how it is written with simpler values, and how it is made of them.
_TYPES: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    int: ("int", hex, lambda text: int(text, 16)),  # those that JSON might round
    tuple: ("tuple", list, tuple),
    dict: ("dict", lambda value: [*map(list, value.items())], dict),
    set: ("set", list, set),
    frozenset: ("frozenset", list, frozenset),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    bytearray: ("bytearray", bytearray.hex, bytearray.fromhex),
    complex: ("complex", lambda value: [value.real, value.imag], lambda parts: complex(*parts)),
    range: ("range", _bounds, lambda bounds: range(*bounds)),
    slice: ("slice", _bounds, lambda bounds: slice(*bounds)),
    type(...): ("ellipsis", lambda value: None, lambda none: ...),
    type({}.keys()): ("keys", list, lambda keys: dict.fromkeys(keys).keys()),
    type({}.values()): ("values", list, lambda values: dict(enumerate(values)).values()),
    type({}.items()): ("items", dict, dict.items),
    deque: ("deque", lambda value: [[*value], value.maxlen], lambda parts: deque(*parts)),
    Counter: ("Counter", dict, Counter),
    OrderedDict: ("OrderedDict", dict, OrderedDict),
    Decimal: ("Decimal", str, Decimal),
    Fraction: ("Fraction", str, Fraction),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    timedelta: ("timedelta", lambda span: span // _SHORTEST, lambda number: number * _SHORTEST),
}
# Classes and functions of Python that both sides have. None of them does anything but compute.
_COMPUTING: list[Any] = [
    *(bool, int, float, str, list, tuple, dict, set, frozenset, bytes, bytearray, complex, range),
    *(object, type, abs, all, any, bin, chr, hex, len, max, min, oct, ord, pow, repr, reversed),
    *(round, sorted, sum),
]
_BUILTINS: dict[str, Any] = {function.__name__: function for function in _COMPUTING}
_MAKERS: dict[str, Callable[[Any], Any]] = {name: make for name, _, make in _TYPES.values()}
_MAKERS["builtin"] = lambda name: _BUILTINS[name]
_BASES = {list, str, float, *_TYPES} - {date, time, datetime, timedelta}
_ARRAYS = "biufcUMm"  # kinds of arrays of NumPy that are values


def encode(value: Any, keep: Callable[[Any], Any]) -> Any:
    """Return a value as JSON for `decode`. `keep` returns what stands for any other object."""
    kind = type(value)
    if kind in _AS_IT_IS or (kind is int and abs(value) < 1 << 63):
        return value
    if kind is list:
        return [encode(entry, keep) for entry in value]
    if kind in _TYPES:
        name, simplify, _ = _TYPES[kind]
        return {name: encode(simplify(value), keep)}
    if kind in (type, type(len)) and value in _COMPUTING:
        builtin: Any = value
        return {"builtin": builtin.__name__}
    if kind.__module__ == "numpy" and hasattr(value, "dtype") and value.dtype.kind in _ARRAYS:
        return {"array": [value.dtype.str, value.shape, value.tobytes().hex()]}
    return keep(value)


def as_base(value: Any) -> Any:
    """Return the value that an object extends, as a tuple for a named tuple, or else the object."""
    for base in type(value).__mro__[1:]:
        if base in _BASES:
            return str.__str__(value) if base is str else base(value)  # not the name of an Enum
    return value


def decode(data: Any, resolve: Callable[[str, Any], Any]) -> Any:
    """Return a value that equals the one from which `encode` made `data`, or raise some error.

    `resolve` gets the key and the entry of a dict that names no type, such as a reference.
    """
    if type(data) is list:
        return [decode(entry, resolve) for entry in data]
    if type(data) is not dict:
        return data
    [(name, content)] = data.items()
    if name in _MAKERS:
        return _MAKERS[name](decode(content, resolve))
    if name == "array":
        import numpy

        kind, shape, data = content
        if numpy.dtype(kind).kind not in _ARRAYS:
            raise ValueError("an array of objects")
        array = numpy.frombuffer(bytearray.fromhex(data), kind).reshape(shape)
        return array[()] if array.ndim == 0 else array
    return resolve(name, content)


def updated(old: Any, new: Any) -> Any:
    """Return `old`, changed in place so that it equals `new`, at any depth.

    Where `old` has another type or cannot be changed, `new` is returned.
    """
    if type(old) is not type(new):
        return new
    if isinstance(old, (list, deque)):
        parts = [*map(updated, old, new), *islice(new, len(old), None)]
        old.clear()
        old.extend(parts)
    elif isinstance(old, dict):
        items = {key: updated(old.get(key), value) for key, value in new.items()}
        old.clear()
        old.update(items)
    elif isinstance(old, tuple):
        return (*map(updated, old, new), *new[len(old) :])
    elif isinstance(old, set):
        old.intersection_update(new)
        old.update(new)
    elif isinstance(old, bytearray):
        old[:] = new
    elif type(old).__name__ == "ndarray" and (old.shape, old.dtype) == (new.shape, new.dtype):
        old[...] = new
    else:
        return new
    return old


def send(descriptor: int, message: Any) -> None:
    """Write a message to a descriptor; raise a ValueError if it is too long."""
    line = json.dumps(message).encode() + b"\n"
    if len(line) > LONGEST:
        raise ValueError(f"a value has more than {LONGEST >> 20} MiB")
    rest = memoryview(line)
    while rest:
        rest = rest[_write(descriptor, rest) :]


def receive(descriptor: int) -> Any:
    """Read a message from a descriptor; raise an EOFError unless a valid one comes."""
    line = bytearray()
    try:
        while not line.endswith(b"\n"):
            part = _read(descriptor, 1 << 16)
            if not part or len(line) > LONGEST:
                raise EOFError
            line += part
        return json.loads(line)
    except (OSError, ValueError, RecursionError) as error:
        raise EOFError from error


# --- Comparisons --------------------------------------------------------------------------

_DECIMAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)


def print_the_same(printed: str, expected: str) -> bool:
    """Return whether two texts have the same words in each line, without regard to outer lines.

    Words that are numbers are compared as numbers, exactly. Spaces do not count.
    """
    lines, others = printed.strip().splitlines(), expected.strip().splitlines()
    return len(lines) == len(others) and all(
        line.split() == other.split() or _words(line) == _words(other)
        for line, other in zip(lines, others, strict=True)
    )


def _words(line: str) -> list[str | Decimal]:
    """Return the words of a line. Numbers become `Decimal`."""
    return [Decimal(word) if _DECIMAL.fullmatch(word) else word for word in line.split()]


def are_equal(result: Any, expected: Any) -> bool:
    """Return whether a result equals what is expected, at any depth of lists and dicts.

    Floats below 2**53 may differ by 1e-9, relative or absolute. An expected tuple equals a list.
    """
    if isinstance(expected, (list, tuple)):
        is_list = isinstance(result, list) and len(result) == len(expected)
        return is_list and all(map(are_equal, result, expected))
    if isinstance(expected, dict):
        is_dict = isinstance(result, dict) and result.keys() == expected.keys()
        return is_dict and all(are_equal(result[key], expected[key]) for key in expected)
    if isinstance(expected, float) or isinstance(result, float):
        return _are_close(result, expected)
    return bool(result == expected)


def _are_close(result: Any, expected: Any) -> bool:
    """Return whether two values, one of which is a float, are numbers that are nearly equal."""
    if not (isinstance(result, (int, float)) and isinstance(expected, (int, float))):
        return False
    if math.isnan(expected):
        return math.isnan(result)
    if abs(result) < 2**53 and abs(expected) < 2**53:
        return math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-9)
    return result == expected
