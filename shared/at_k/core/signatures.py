"""Signatures of functions that take shared parameters as **options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from .checks import did_you_mean

Function = TypeVar("Function", bound=Callable[..., Any])


def shows_options(names: type, dataclass: type | None = None) -> Callable[[Function], Function]:
    """Return a decorator that shows the **options of a function as keywords in its signature.

    The annotations of the class `names` are their names and types. Their defaults are those of the
    fields of `dataclass`, or of `names` itself if there is no `dataclass`.
    """
    defaults = {option.name: option.default for option in fields(dataclass or names)}

    def decorate(function: Function) -> Function:
        """Put options in place of ** in the signature and annotations; return the function."""
        signature = inspect.signature(function)
        *own, var_keyword = signature.parameters.values()
        del function.__annotations__[var_keyword.name]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name])
            for name in names.__annotations__
            if name not in signature.parameters
        ]
        function.__annotations__.update(get_type_hints(names))
        parameters = [x.replace(annotation=function.__annotations__[x.name]) for x in own + options]
        vars(function)["__signature__"] = signature.replace(parameters=parameters)
        return function

    return decorate


def check_options(
    function: Callable[..., Any], options: Iterable[str], data: Iterable[str] = ()
) -> None:
    """Raise a TypeError if an option is neither a parameter of the function nor in `data`.

    The first parameter does not count: it takes the data.
    """
    _, *parameters = inspect.signature(function).parameters
    known = [*data, *parameters]
    for name in options:
        if name not in known:
            problem = f"got an unexpected keyword argument {name!r}."
            raise TypeError(f"{problem}{did_you_mean(name, known)}")


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return a dict of the parameters of a function, with types as annotations, never texts."""
    types = get_type_hints(function)
    return {
        name: parameter.replace(annotation=types[name])
        for name, parameter in inspect.signature(function).parameters.items()
    }
