"""The process of one program, which runs a script, or answers what its tests ask.

It gets the tests themselves only if they have to run in its interpreter, see `placement.py`.
"""

from __future__ import annotations

import atexit
import importlib
import operator
import os
import sys
import types
from collections.abc import Collection
from contextlib import suppress
from typing import Any, NoReturn

from .values import as_base, decode, encode, receive, send

with suppress(ImportError):  # Windows lacks it, and runs no programs
    import resource

MOST_FILES = 256  # that a process may open: what a socket or a pipe holds counts nowhere else
READY = b"1"  # what the process sends first, when it has its limits
_NAME = "program"  # of its module
_STDIN = ".stdin"  # the file that /dev/stdin of a sandbox is a link to


def run_program(
    job: dict[str, Any],
    folder: str,
    limits: list[tuple[int, int, int]],
    connection: int,
    printed: int,
) -> NoReturn:
    """Run a program in this process with limits, see `_limits` of the server, and end the process.

    `connection` is the socket to the server and the examiner. It gets READY first, and then the
    exception that a script raised, as one line, or answers to the tests. A script prints to the
    file `printed`, and reads a file in `folder`.
    """
    try:
        if os.getppid() != 1:  # process 1 needs no group to find the processes of a program
            os.setpgid(0, 0)
        if job["stdin"] is not None:
            stdin = os.open(os.path.join(folder, _STDIN), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(stdin, job["stdin"].encode())
            os.lseek(stdin, 0, os.SEEK_SET)
            os.dup2(stdin, 0)
            os.dup2(printed, 1)
        os.closerange(3, connection)
        os.closerange(connection + 1, MOST_FILES)
        for limit, soft, hard in limits:
            resource.setrlimit(limit, (soft, hard))
        os.write(connection, READY)
        if job["stdin"] is None:
            _AnsweringProgram(job, connection).serve()
        else:
            _run_script(job)
        os._exit(0)
    except BaseException as error:
        with suppress(OSError):
            os.write(connection, exception_line(error).encode(errors="replace"))
    finally:
        os._exit(1)


def _run_script(job: dict[str, Any]) -> None:
    """Run a program as Python runs a script; raise the exception that ends it, if there is one."""
    try:
        _loaded(job, "__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    for file in filter(None, (sys.stdout, sys.__stdout__)):
        with suppress(Exception):  # it may be closed
            file.flush()


def _loaded(job: dict[str, Any], name: str) -> dict[str, Any]:
    """Run the setup and the code of a program as the module `name`, and return its namespace."""
    program = types.ModuleType(name)
    sys.modules[name] = program
    space = vars(program)
    code = compile(job["program"], "<program>", "exec", dont_inherit=True)
    if job["setup"]:
        exec(compile(job["setup"], "<setup>", "exec", dont_inherit=True), space)
    exec(code, space)
    return space


def _call(space: dict[str, Any], entry_point: str, arguments: list[Any]) -> Any:
    """Call the entry point of a program: a function, or a method "Class.name" of a new object."""
    names = entry_point.split(".")
    if len(names) == 1 and names[0] not in space and "Solution" in space:  # probably a method
        names = ["Solution", *names]
    if names[0] not in space:
        raise NameError(f"name {names[0]!r} is not defined")
    function = space[names[0]]
    for name in names[1:]:
        function = getattr(function() if isinstance(function, type) else function, name)
    return function(*arguments)


def exception_line(error: BaseException) -> str:
    """Return the name of the class and the text of an exception, such as "KeyError: 'a'"."""
    return f"{type(error).__name__}: {exception_text(error).strip()}".removesuffix(": ")


def exception_text(error: BaseException) -> str:
    """Return the text of an exception, or another text if its class cannot give it."""
    try:
        return str(error)
    except BaseException:
        return "it cannot be shown"


# --- What the tests ask of a program ------------------------------------------------------


class _AnsweringProgram:
    """Answers what the tests of a program ask, in the process of the program."""

    def __init__(self, job: dict[str, Any], connection: int):
        self._job, self._connection = job, connection
        self._space: dict[str, Any] = {}  # the names of the program
        self._kept: list[Any] = []  # objects that are no values, by their numbers
        self._references: dict[int, dict[str, int]] = {}  # by the identities of objects

    def serve(self) -> None:
        """Answer messages of the examiner until it closes the connection.

        A message has the name of a method of this object, and its arguments. The reply is the dict
        that the method returns, or {"error": ..} with the exception that it raised.
        """
        with suppress(EOFError, BrokenPipeError):
            while True:
                name, *arguments = receive(self._connection)
                try:
                    send(self._connection, getattr(self, name)(*arguments))
                except (EOFError, BrokenPipeError):
                    return
                except BaseException as error:
                    send(self._connection, {"error": self._described(error)})

    def _load(self, imports: list[str]) -> None:
        """Run the program, then the imports of its tests, which replace no names of the program."""
        self._space = _loaded(self._job, _NAME)
        own: dict[str, Any] = {}
        for line in imports:
            with suppress(ImportError):
                exec(line, own)
        self._space |= {name: own[name] for name in own.keys() - self._space.keys()}

    def names(self, imports: list[str], wanted: list[str]) -> dict[str, Any]:
        """Run the program, and return those of its names that its tests use with their values."""
        self._load(imports)
        names = {name: self._space[name] for name in wanted if name in self._space}
        return {"value": self._encoded(names)}

    def call_function(self, entry_point: str, arguments: list[Any]) -> dict[str, Any]:
        """Run the program, and return the result of a call of its function."""
        return {"value": self._encoded(_call(_loaded(self._job, _NAME), entry_point, arguments))}

    def find_tests(self, exam: dict[str, Any]) -> dict[str, Any]:
        """Return the tests in the code of an exam, without a program."""
        from .runner import find_tests

        return find_tests(exam)

    def call(
        self, object: int, method: str, arguments: list[Any], keywords: list[str]
    ) -> dict[str, Any]:
        """Make a call for `_RemoteProgram.ask`, and return a dict with its result as "value".

        If the call changed an argument in place, the dict also has all arguments, as "changed".
        `keywords` are the names of the last arguments.
        """
        called = self._kept[object]
        values = decode(arguments, self._resolve)
        positional = values[: len(values) - len(keywords)]
        by_name = dict(zip(keywords, values[len(positional) :], strict=True))
        if method in _OPERATIONS:
            result = _OPERATIONS[method](called, *positional)
        else:
            function = getattr(called, method) if method else called
            result = function(*positional, **by_name)
        changed = self._encoded(values)
        # A new instance of a subclass of int or list would be sent as a value. `_keep` sends a
        # reference to an object that has one, so that the tests can call its methods.
        if not method and isinstance(called, type) and as_base(result) is not result:
            self._reference(result)
        value = self._encoded(result)
        return {"value": value} | ({} if changed == arguments else {"changed": changed})

    def _encoded(self, value: Any) -> Any:
        """Return a value in a form that JSON can hold, with `_keep` for other objects."""
        return encode(value, self._keep)

    def _keep(self, value: Any) -> Any:
        """Return what is sent for an object of another type: a value it extends, or a reference."""
        base = value if id(value) in self._references else as_base(value)
        return self._reference(value) if base is value else self._encoded(base)

    def _reference(self, value: Any) -> dict[str, int]:
        """Return a reference to an object, {"object": number}, and keep the object."""
        if id(value) not in self._references:
            self._references[id(value)] = {"object": len(self._kept)}
            self._kept.append(value)
        return self._references[id(value)]

    def _resolve(self, name: str, content: Any) -> Any:
        """Return the object of a reference, or import and return the function of a module."""
        if name != "import":
            return self._kept[content]
        module, function = content
        return getattr(importlib.import_module(module), function)

    def _described(self, error: BaseException) -> list[Any]:
        """Return the list of arguments of `_exception_like` in the examiner for an exception."""
        text = exception_text(error)
        try:
            arguments = encode(error.args, repr)
        except BaseException:
            arguments = self._encoded((text,))
        classes = [[base.__module__, base.__name__] for base in type(error).__mro__]
        return [classes, arguments, text]

    def run_tests(self, exam: dict[str, Any]) -> dict[str, Any]:
        """Run the program and its tests in this process; return `ran` and `problem` of a `Result`.

        The program fails if, after its code or after the tests, a function that tests may call is
        replaced. Those that the tests replace are exempt.
        """
        from .runner import run_tests

        try:
            watched = _callables_in([*_MODULES_OF_TESTS, *exam["modules"]])
            refuse_changes = _refuse_changes  # found before the program can replace it
            self._load(exam["imports"])
            refuse_changes(watched)
            result = run_tests(exam, sys.modules[_NAME])
            # `run_tests` replaces `main`, see `_NoMain`, and the tests those in `replaced`.
            refuse_changes(watched, {"main", *exam["replaced"]})
        except BaseException as error:
            return {"ran": [], "problem": exception_line(error)}
        return {"ran": result.ran, "problem": result.problem}


# What tests may do with an object that is no value: see `_Object`.
_OPERATIONS: dict[str, Any] = {
    **{f"__{kind.__name__}__": kind for kind in (bool, str, repr, int, float, hash)},
    **{name: function for name, function in vars(operator).items() if name[:2] == "__"},
}
_MODULES_OF_TESTS = ("unittest", "builtins", "sandboxed", "_pytest")


def _callables_in(names: list[str]) -> list[tuple[Any, dict[str, Any]]]:
    """Return pairs of a namespace and a dict of its callables, for modules and their classes.

    The modules are those with these names and inside them. The first pair has `sys.modules`.
    """
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
    inside = tuple(f"{name}." for name in names)
    modules = {
        name: module
        for name, module in sys.modules.items()
        if name in names or name.startswith(inside)
    }
    spaces: list[Any] = [vars(module) for module in modules.values()]
    spaces += [
        vars(value)
        for name, module in modules.items()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name
    ]
    return [
        (sys.modules, modules),
        *(
            (space, {key: value for key, value in space.items() if callable(value)})
            for space in spaces
        ),
    ]


def _refuse_changes(
    watched: list[tuple[Any, dict[str, Any]]], by_tests: Collection[str] = ()
) -> None:
    """Raise a RuntimeError if a callable was replaced, unless its name is in `by_tests`.

    `watched` has pairs of a namespace and its callables, as `_callables_in` returned them earlier.
    """
    for space, entries in watched:
        for key, value in entries.items():
            if space.get(key) is not value and key not in by_tests:
                raise RuntimeError(f"the program replaced {key}, which its tests may call")
