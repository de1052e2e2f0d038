"""The process of one program. It never has the tests, unless they reach into its interpreter."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import sys
import types
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from .values import as_base, decode, encode, receive, send

MOST_FILES = 256  # that a process may open: what a socket or a pipe holds counts nowhere else
_NAME = "program"  # of its module
_STDIN = ".stdin"  # the file that /dev/stdin of a sandbox is a link to


def run_program(server: Any, job: dict[str, Any], connection: int | None, start: int) -> None:
    """Run a program in this process, which ends then.

    Args:
        server: the server.
        job: what `Tests.jobs` returns.
        connection: the descriptor of the socket to the tests, if there are any.
        start: the descriptor that takes a byte when the process has its limits.
    """
    report = server.report
    try:
        _limit_process(server, job, {report, start, *([] if connection is None else [connection])})
    except BaseException as error:
        os.write(report, repr(error).encode(errors="replace"))
        os._exit(1)
    os.write(start, b"1")
    os.close(start)
    try:
        if connection is not None:
            _AnsweringProgram(job, connection).serve()
        elif job["form"] == "calls":
            space = _loaded(job, _NAME)
            result = _call(space, job["entry_point"], job["input"])
            os.write(report, json.dumps(result, default=_plain_number).encode())
        else:
            try:
                _loaded(job, "__main__")
            except SystemExit as end:
                if end.code not in (None, 0):
                    raise
            _finish()
        os._exit(0)
    except BaseException as error:
        os.write(report, exception_line(error).encode(errors="replace"))
        os._exit(1)


def _limit_process(server: Any, job: dict[str, Any], kept: set[int]) -> None:
    """Limit this process, and close the descriptors of the server other than those kept."""
    import resource  # here, because Windows lacks it

    if os.getppid() != 1:  # process 1 needs no group to find the processes of a program
        os.setpgid(0, 0)
    if job["form"] == "stdin":
        path = os.path.join(server.limits["folders"][0], _STDIN)
        stdin = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(stdin, job["input"].encode())
        os.lseek(stdin, 0, os.SEEK_SET)
        os.dup2(server.printed, 1)
        os.dup2(stdin, 0)
    ends = sorted(kept)
    for before, after in zip([2, *ends], [*ends, MOST_FILES], strict=True):
        os.closerange(before + 1, after)
    for limit, values in server.resource_limits:
        resource.setrlimit(limit, values)


def _loaded(job: dict[str, Any], name: str) -> dict[str, Any]:
    """Run the code of a program, and return its names."""
    program = types.ModuleType(name)
    sys.modules[name] = program
    space = vars(program)
    code = compile(job["program"], "<program>", "exec", dont_inherit=True)
    if job["setup"]:
        exec(compile(job["setup"], "<setup>", "exec", dont_inherit=True), space)
    exec(code, space)
    return space


def _finish() -> None:
    """Do what Python does when a script has ended, which may be all that prints something."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    for file in filter(None, (sys.stdout, sys.__stdout__)):
        with suppress(Exception):  # it may be closed
            file.flush()


def _call(space: dict[str, Any], entry_point: str, arguments: list[Any]) -> Any:
    """Call a function of the program, or a method of an object of its class."""
    names = entry_point.split(".")
    if len(names) == 1 and names[0] not in space and "Solution" in space:
        names = ["Solution", *names]
    if names[0] not in space:
        raise NameError(f"name {names[0]!r} is not defined")
    function = space[names[0]]
    for name in names[1:]:
        function = getattr(function() if isinstance(function, type) else function, name)
    return function(*arguments)


def _plain_number(value: Any) -> Any:
    """Return a number of NumPy as one of Python; raise a TypeError for what JSON cannot hold."""
    if getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(
        f"the result has a {type(value).__name__}: only numbers, texts, lists and dicts"
    )


def exception_line(error: BaseException) -> str:
    """Return the last line of a traceback."""
    text = exception_text(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def exception_text(error: BaseException) -> str:
    """Return the text of an exception."""
    try:
        return str(error)
    except BaseException:
        return "it cannot be shown"


# --- What the tests ask of a program ------------------------------------------------------


class _AnsweringProgram:
    """A program that answers its tests.

    Args:
        job: what `Tests.jobs` returns.
        connection: the socket to the process of the tests.
    """

    def __init__(self, job: dict[str, Any], connection: int):
        self._job, self._connection = job, connection
        self._space: dict[str, Any] = {}  # the names of the program
        self._kept: list[Any] = []  # objects that are no values, by their numbers
        self._references: dict[int, dict[str, int]] = {}  # by the identities of objects

    def serve(self) -> None:
        """Answer until the tests end."""
        with suppress(EOFError, BrokenPipeError):
            while True:
                message = receive(self._connection)
                try:
                    if "load" in message:
                        self._load(message["load"])
                        reply = {"value": self._encoded(self._names(message))}
                    elif "run" in message:
                        reply = self._run_tests(message["run"])
                    elif "find" in message:
                        from .runner import find_tests

                        reply = find_tests(message["find"])
                    else:
                        reply = self._called(**message)
                    send(self._connection, reply)
                except (EOFError, BrokenPipeError):
                    return
                except BaseException as error:
                    send(self._connection, {"error": self._described(error)})

    def _load(self, imports: list[str]) -> None:
        """Run the program. Modules that the tests import are there for it too, as in one file."""
        self._space = _loaded(self._job, _NAME)
        own: dict[str, Any] = {}
        for line in imports:
            with suppress(ImportError):
                exec(line, own)
        self._space |= {name: own[name] for name in own.keys() - self._space.keys()}

    def _names(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return those names of the program that its tests use, and their values."""
        wanted = {*message["names"], (message["entry_point"] or "").partition(".")[0]}
        return {name: self._space[name] for name in wanted & self._space.keys()}

    def _called(
        self, object: int, method: str, arguments: list[Any], keywords: list[str]
    ) -> dict[str, Any]:
        """Return the result of a call, and its arguments if it changed them.

        The last arguments are those of keywords. See `_RemoteProgram.ask`.
        """
        called = self._kept[object]
        values = decode(arguments, self._resolve)
        positional = values[: len(values) - len(keywords)]
        by_name = dict(zip(keywords, values[len(positional) :], strict=True))
        if method == "__bool__":
            result = bool(called)
        else:
            function = getattr(called, method) if method else called
            result = function(*positional, **by_name)
        changed = self._encoded(values)
        # An instance of a subclass of int or list is sent as a reference, and not as a value, so
        # that the tests can call its methods.
        if not method and isinstance(called, type) and as_base(result) is not result:
            self._reference(result)
        value = self._encoded(result)
        return {"value": value} | ({} if changed == arguments else {"changed": changed})

    def _encoded(self, value: Any) -> Any:
        return encode(value, self._keep)

    def _keep(self, value: Any) -> Any:
        """Return how an object that is no value is sent: as a value of a base, or a reference."""
        base = value if id(value) in self._references else as_base(value)
        return self._reference(value) if base is value else self._encoded(base)

    def _reference(self, value: Any) -> dict[str, int]:
        """Return the kind and the number of an object, which is kept so that they stay its own."""
        if id(value) not in self._references:
            if callable(value):
                kind = "function"
            elif hasattr(type(value), "__next__"):
                kind = "iterator"
            else:
                kind = "iterable" if hasattr(type(value), "__iter__") else "object"
            self._references[id(value)] = {kind: len(self._kept)}
            self._kept.append(value)
        return self._references[id(value)]

    def _resolve(self, name: str, content: Any) -> Any:
        if name != "import":
            return self._kept[content]
        module, function = content
        return getattr(importlib.import_module(module), function)

    def _described(self, error: BaseException) -> list[Any]:
        """Return the classes of an exception, its arguments and its text, see `_exception`."""
        text = exception_text(error)
        try:
            arguments = encode(error.args, _refuse)
        except BaseException:
            arguments = self._encoded((text,))
        return [[[c.__module__, c.__name__] for c in type(error).__mro__], arguments, text]

    def _run_tests(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run the program and its tests in this process; see `run_tests`."""
        from .runner import run_tests

        try:
            watched, compare = _watched([*_MODULES_OF_TESTS, *job["modules"]]), _compare
            self._load(job["imports"])
            compare(watched)
            result = run_tests(job, sys.modules[_NAME])
            compare(watched, {*job["replaced"]})
        except BaseException as error:
            return {"ran": [], "problem": exception_line(error)}
        return {"ran": result.ran, "problem": result.problem}


_MODULES_OF_TESTS = ("unittest", "builtins", "sandboxed", "_pytest")


def _refuse(value: Any) -> Any:
    raise TypeError(f"{value!r} is no value")


def _watched(names: list[str]) -> list[tuple[Any, dict[str, Any]]]:
    """Return the namespaces of modules and of their classes, and what can be called in each."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
    inside = tuple(f"{name}." for name in names)
    modules = {n: m for n, m in sys.modules.items() if n in names or n.startswith(inside)}
    spaces: list[Any] = [vars(module) for module in modules.values()]
    spaces += [
        vars(value)
        for name, module in modules.items()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name
    ]
    return [
        (sys.modules, modules),
        *((space, {key: x for key, x in space.items() if callable(x)}) for space in spaces),
    ]


def _compare(watched: list[tuple[Any, dict[str, Any]]], by_tests: Collection[str] = ()) -> None:
    """Raise a RuntimeError if the program replaced what its tests call.

    Names in `by_tests` may be replaced: the tests do so.
    """
    for space, entries in watched:
        for key, value in entries.items():
            if space.get(key) is not value and key not in by_tests:
                raise RuntimeError(f"the program replaced {key}, which its tests may call")
