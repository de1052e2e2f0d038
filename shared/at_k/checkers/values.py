"""How values cross between the process of a program and that of its tests: as lines of JSON.

Only values of the types listed here are copied. Any other object stays where it is, and the other
side gets its number: a reader of JSON creates no object that the sender could choose.
"""

from __future__ import annotations

import importlib
import json
import operator
import os
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

LONGEST = 1 << 25  # bytes of a message
_read, _write = os.read, os.write  # which a program may replace

_AS_IT_IS = (type(None), bool, str, float)
_KINDS: tuple[Any, ...] = (bool, int, float, str, list, tuple, dict, set)
_FACTORIES: dict[str, Any] = {kind.__name__: kind for kind in _KINDS}
# The name of each type, how it is written with simpler values, and how it is made of them.
_TYPES: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    int: ("int", hex, lambda text: int(text, 16)),  # those that JSON might round
    tuple: ("tuple", list, tuple),
    dict: ("dict", lambda x: [*map(list, x.items())], dict),
    set: ("set", list, set),
    frozenset: ("frozenset", list, frozenset),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    bytearray: ("bytearray", bytearray.hex, bytearray.fromhex),
    complex: ("complex", lambda x: [x.real, x.imag], lambda x: complex(*x)),
    range: ("range", lambda x: [x.start, x.stop, x.step], lambda x: range(*x)),
    slice: ("slice", lambda x: [x.start, x.stop, x.step], lambda x: slice(*x)),
    type(...): ("ellipsis", lambda x: None, lambda x: ...),
    type({}.keys()): ("keys", list, lambda x: dict.fromkeys(x).keys()),
    type({}.values()): ("values", list, lambda x: dict(enumerate(x)).values()),
    type({}.items()): ("items", lambda x: [*map(list, x)], lambda x: dict(x).items()),
    deque: ("deque", lambda x: [[*x], x.maxlen], lambda x: deque(*x)),
    Counter: ("Counter", dict, Counter),
    OrderedDict: ("OrderedDict", lambda x: [*map(list, x.items())], OrderedDict),
    defaultdict: (
        "defaultdict",
        lambda x: [getattr(x.default_factory, "__name__", None), dict(x)],
        lambda x: defaultdict(x[0] and _FACTORIES[x[0]], x[1]),
    ),
}
# The same for types of modules that are not imported before they are needed.
_OTHER_TYPES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("decimal", "Decimal"): lambda x: [str(x)],
    ("fractions", "Fraction"): lambda x: [x.numerator, x.denominator],
    ("datetime", "date"): lambda x: [x.year, x.month, x.day],
    ("datetime", "time"): lambda x: [x.hour, x.minute, x.second, x.microsecond],
    ("datetime", "datetime"): lambda x: [*x.timetuple()[:6], x.microsecond],
    ("datetime", "timedelta"): lambda x: [x.days, x.seconds, x.microseconds],
}
# Classes and functions of Python that both sides have. None of them does anything but compute.
_COMPUTING: list[Any] = [
    *(bool, int, float, str, list, tuple, dict, set, frozenset, bytes, bytearray, complex, range),
    *(object, type, abs, all, any, bin, chr, hex, len, max, min, oct, ord, pow, repr, reversed),
    *(round, sorted, sum),
]
_BUILTINS: dict[str, Any] = {x.__name__: x for x in _COMPUTING}
_MAKERS: dict[str, Callable[[Any], Any]] = {name: make for name, _, make in _TYPES.values()}
_MAKERS["builtin"] = lambda name: _BUILTINS[name]
_BASES = (list, str, float, *_TYPES)
_ARRAYS = "biufcU"  # kinds of arrays of NumPy that are values


def encode(value: Any, keep: Callable[[Any], Any]) -> Any:
    """Return a value as JSON, or the dict that `keep` returns for an object of another type."""
    kind = type(value)
    if kind in _AS_IT_IS or (kind is int and abs(value) < 1 << 63):
        return value
    if kind is list:
        return [encode(entry, keep) for entry in value]
    if kind in _TYPES and getattr(value, "default_factory", None) in (None, *_FACTORIES.values()):
        name, simplify, _ = _TYPES[kind]
        return {name: encode(simplify(value), keep)}
    if kind in (type, type(len)) and value in _COMPUTING:
        builtin: Any = value
        return {"builtin": builtin.__name__}
    other = _OTHER_TYPES.get((kind.__module__, kind.__name__))
    if other is not None and getattr(value, "tzinfo", None) is None:
        return {"other": [kind.__module__, kind.__name__, other(value)]}
    if kind.__module__ == "numpy" and hasattr(value, "dtype") and value.dtype.kind in _ARRAYS:
        return {"array": [value.dtype.str, encode(value.tolist(), keep)]}
    return keep(value)


def as_base(value: Any) -> Any:
    """Return an object of a subclass of a type of Python, such as a named tuple, as that type."""
    for base in type(value).__mro__[1:]:
        if base in _BASES:
            return base(value)
    return value


def decode(data: Any, resolve: Callable[[str, Any], Any]) -> Any:
    """Return the value that `encode` wrote. `resolve` returns what `keep` wrote as {name: content}.

    All values that it returns can be encoded again: a program could choose others.
    """
    if type(data) is list:
        return [decode(entry, resolve) for entry in data]
    if type(data) is not dict:
        return data
    [(name, content)] = data.items()
    if name in _MAKERS:
        return _MAKERS[name](decode(content, resolve))
    if name == "other":
        module, kind, arguments = content
        if (module, kind) in _OTHER_TYPES:
            return getattr(importlib.import_module(module), kind)(*arguments)
    if name == "array":
        import numpy

        array = numpy.array(decode(content[1], resolve), dtype=content[0])
        if array.dtype.kind not in _ARRAYS:
            raise ValueError("an array of objects")
        return array[()] if array.ndim == 0 else array
    return resolve(name, content)


def send(descriptor: int, message: Any) -> None:
    """Send a message, or raise a ValueError if it is too long."""
    line = json.dumps(message).encode() + b"\n"
    if len(line) > LONGEST:
        raise ValueError(f"a value has more than {LONGEST >> 20} MiB")
    rest = memoryview(line)
    while rest:
        rest = rest[_write(descriptor, rest) :]


def receive(descriptor: int) -> Any:
    """Return a message, or raise an EOFError if there is none, or anything but one."""
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


# --- What tests do with an object that stays in the process of the program -----------------

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "lshift", "rshift", "and"),
    *("or", "xor"),
)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("getitem", "setitem", "delitem", "contains")},
    **{name: getattr(operator, name) for name in ("neg", "pos", "invert", "index", *COMPARISONS)},
    **{name: getattr(operator, f"__{name}__") for name in _BINARY},
    **{f"r{name}": lambda x, y, f=f"__{name}__": getattr(operator, f)(y, x) for name in _BINARY},
    **{f.__name__: f for f in (len, iter, next, bool, str, repr, hash, int, float, abs, round)},
    **{f.__name__: f for f in (format, reversed, getattr, setattr, delattr, pow, divmod)},
    **{f.__name__: f for f in (isinstance, issubclass, dir)},
    "call": lambda function, *arguments, **options: function(*arguments, **options),
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, *error: type(manager).__exit__(manager, None, None, None),
}
NEED_BOTH = {*_BINARY, *(f"r{name}" for name in _BINARY), *COMPARISONS, "pow", "divmod"}
"""Operations that tell an object the value that it is compared with."""
SPECIAL_METHODS = {
    f"__{name}__": name
    for name in OPERATIONS
    if name not in ("getattr", "isinstance", "issubclass")
}


@lru_cache
def special_methods(kind: Any) -> list[str]:
    """Return the names in `OPERATIONS` that a class supports by a special method."""
    return [name for method, name in SPECIAL_METHODS.items() if hasattr(kind, method)]
