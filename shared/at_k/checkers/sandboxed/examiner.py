"""The process of the tests, which runs no code of a program, and which no program can reach.

It asks the process of the program for names and for calls, none of which tells the program what is
expected. Results are values, which are compared here (see `values.py`), or references to objects of
the program (see `_Object`). Tests that do more (see `placement.py`) run in the process of the
program, which reports which tests ran and how the first one failed. They are counted here.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import re
import signal
import socket
import sys
import time
import types
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from .program import exception_line
from .runner import MODULE, UnusableTestsError, failure_line, run_tests
from .values import are_equal, decode, encode, print_the_same, receive, send, updated

_MESSAGE = 500  # characters
_OUT_OF_MEMORY = re.compile(r"([\w.]+: )?MemoryError")
# Names of methods that objects of a program do not have here: the method would be given what is
# expected, and could return True.
_PREDICATES = {
    name
    for kind in (str, bytes, set, float)
    for name in dir(kind)
    if name.startswith("is") or name.endswith("with")
} | {"equals"}


class _EndedError(BaseException):
    """The tests cannot go on, because the process of the program has ended or cannot run them.

    It is a BaseException, so that tests that catch every Exception do not catch it.
    """


def examine(control: socket.socket, desk: int, is_isolated: bool) -> None:
    """Run the tests of one program after another, until the server ends.

    A letter comes from the server, and goes back when the work is done: "e" runs the tests on the
    desk, and comes with the connection to a program or the file with what a script printed; "k"
    ends all other processes if the server is process 1 of a namespace.
    """
    control.send(b"r")  # ready
    while True:
        letter, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not letter:
            return
        if letter == b"e":
            exam = json.loads(os.pread(desk, os.fstat(desk).st_size, 0))
            start = time.process_time()
            verdict = _verdict(exam, descriptors[0])
            # To compare what a script printed is no part of its time.
            seconds = 0.0 if exam["form"] == "stdin" else time.process_time() - start
            verdict["cpu_seconds"] = seconds
            os.ftruncate(desk, 0)
            os.pwrite(desk, json.dumps(verdict).encode(), 0)
            os.close(descriptors[0])
        elif is_isolated:
            with suppress(ProcessLookupError):  # when the server has reaped all others
                while True:
                    os.kill(-1, signal.SIGKILL)
                    time.sleep(0.0001)
        control.send(letter)


def _verdict(exam: dict[str, Any], descriptor: int) -> dict[str, Any]:
    """Run the tests in `exam`, and return a dict of `status`, `message`, and how many `tests` ran.

    The status is "passed", "failed" or "memory"; "ended" if the process of the program ended; "not
    apart" if the tests can only run in it; or "found", beside what `find_tests` returns.
    """
    program = _RemoteProgram(descriptor)
    ran: list[str] = []
    problem = None
    with suppress(_EndedError):
        try:
            if exam["form"] == "find":
                return {"status": "found", "message": ""} | program.ask("find_tests", exam)
            examine_form = _run_tests if exam["form"] == "tests" else _examine_case
            ran, problem = examine_form(exam, program)
        except _ProgramError as error:
            problem = str(error)
        except UnusableTestsError as error:
            problem = f"the tests {error}"
    if program.has_ended or program.cannot_receive:
        status = "ended" if program.has_ended else "not apart"
        return {"status": status, "message": "", "tests": 0}
    status = "passed"
    if problem is not None:
        status = "memory" if _OUT_OF_MEMORY.match(problem) else "failed"
    return {"status": status, "message": (problem or "")[:_MESSAGE], "tests": len(ran)}


# --- Inputs and outputs -------------------------------------------------------------------


def _examine_case(exam: dict[str, Any], program: _RemoteProgram) -> tuple[list[str], str | None]:
    """Compare what a script printed, or the result of a call, with what is expected.

    Return what `_run_tests` returns.
    """
    expected = exam["output"]
    if exam["form"] == "stdin":
        verb, size = "printed", os.fstat(program.connection).st_size
        result = os.pread(program.connection, size, 0).decode(errors="replace")
        is_right = print_the_same(result, expected)
    else:
        verb = "returned"
        returned = program.start("call_function", exam["entry_point"], exam["arguments"])
        try:
            result = json.loads(json.dumps(returned, default=_plain_number))
        except (TypeError, ValueError, RecursionError) as error:
            return [], exception_line(error)
        is_wrapped = exam["is_wrapped"] and isinstance(expected, list) and len(expected) == 1
        accepted = [expected, *expected] if is_wrapped else [expected]
        is_right = any(are_equal(result, value) for value in accepted)
    if is_right:
        return ["case"], None
    return ["case"], f"case {exam['case']}: {verb} {_shown(result)}, expected {_shown(expected)}"


def _plain_number(value: Any) -> Any:
    """Return a number of NumPy as one of Python; raise a TypeError for any other value."""
    if getattr(value, "shape", None) == ():
        return value.item()
    what = f"the result has an entry of type {type(value).__name__}"
    raise TypeError(f"{what}: only numbers, texts, lists and dicts")


def _shown(value: Any) -> str:
    """Return the repr of a value, cut after 60 characters. A long list is cut before, for speed."""
    shown = repr(value[:100] if isinstance(value, (str, list)) else value)
    return shown if len(shown) <= 60 else f"{shown[:60]}.."


# --- Tests in code ------------------------------------------------------------------------


def _run_tests(exam: dict[str, Any], program: _RemoteProgram) -> tuple[list[str], str | None]:
    """Run tests that are code; return the names of those that ran, and the problem or None."""
    if exam["shares_interpreter"]:
        reply = program.ask("run_tests", exam)
        if not isinstance(reply.get("ran"), list):
            program.end()
        ran, problem = [*map(str, reply["ran"])], reply.get("problem")
    else:
        names = program.start("names", exam["imports"], exam["names"])
        if not isinstance(names, dict):
            program.end()
        module = types.ModuleType("tests")
        vars(module).update(_visible_names(exam, names))
        result = run_tests(exam, module)
        ran, problem = result.ran, result.problem
    missing = {*(exam["expected"] or ran)} - {*ran}
    if problem is None and missing:
        problem = f"{min(missing)} did not run"
    if problem is None and not ran:
        problem = "no test ran"
    return ran, problem


def _visible_names(exam: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a program that its tests see, as a dict with their values.

    The tests see a name of a builtin function, such as `abs`, only if it is the entry point, or if
    there is no entry point and no other name.
    """
    names = {name: sent[name] for name in exam["names"] if name in sent}  # no __builtins__
    for name, module in exam["borrowed"]:  # the program may have replaced what it imported
        if name in names:
            with suppress(ImportError):
                names[name] = importlib.import_module(module)
    shadowing = {name for name in names if hasattr(builtins, name)} - {exam["entry_point"]}
    if exam["entry_point"] or names.keys() - shadowing:
        return {name: value for name, value in names.items() if name not in shadowing}
    return names


# --- The program, as the tests see it -----------------------------------------------------


class _ProgramError(Exception):
    """The code of a program raised an exception."""


class _RemoteProgram:
    """The process of a program, as the tests see it."""

    def __init__(self, connection: int):
        self.connection = connection
        self.has_ended = False  # or it sent something that is no message
        self.cannot_receive = False  # an object of the tests, which they gave to a function

    def start(self, name: str, *arguments: Any) -> Any:
        """Ask for what runs the program; return the value, or raise _ProgramError."""
        try:
            return self._result(self.ask(name, *arguments))
        except BaseException as error:
            raise _ProgramError(failure_line(error)) from error

    def call(self, number: int, method: str, /, *arguments: Any, **options: Any) -> Any:
        """Call a method of object `number` of the program, or the object itself if method is "".

        Return the result, or raise what the program raised. Arguments that change in place, such as
        a list that is sorted, change here.
        """
        values = [*arguments, *options.values()]
        reply = self.ask("call", number, method, encode(values, self._reference_to), [*options])
        if "changed" in reply:
            updated(values, self._decoded(reply["changed"]))
        try:
            return self._result(reply)
        except (StopIteration, StopAsyncIteration) as error:
            if method == "__next__":
                raise
            # In a loop of the tests over `map(f, inputs)`, it would end the loop without a failure.
            raise RuntimeError(f"the program raised {type(error).__name__}") from error

    def _result(self, reply: dict[str, Any]) -> Any:
        """Return the value in a reply, or raise its exception, or _EndedError if it has neither."""
        if "value" in reply:
            return self._decoded(reply["value"])
        try:
            classes, arguments, text = reply["error"]
            error = _exception_like(classes, self._decoded(arguments), str(text))
        except (ValueError, TypeError, KeyError, AttributeError, StopIteration):
            self.end()
        raise error

    def _decoded(self, sent: Any) -> Any:
        """Return the value that the program sent. If it cannot be decoded, end the tests."""
        try:
            return decode(sent, self._resolve)
        except (ValueError, TypeError, KeyError, IndexError, ImportError, RecursionError):
            self.end()

    def ask(self, name: str, *arguments: Any) -> dict[str, Any]:
        """Call a method of `_AnsweringProgram`; return its reply, or end the tests without one."""
        if self.has_ended or self.cannot_receive:
            raise _EndedError
        try:
            send(self.connection, [name, *arguments])
            reply = receive(self.connection)
        except (EOFError, OSError):
            self.end()
        if not isinstance(reply, dict):
            self.end()
        return reply

    def end(self) -> NoReturn:
        """End the tests, because the program has ended or sent something that is not a message."""
        self.has_ended = True
        raise _EndedError

    def _reference_to(self, value: Any) -> Any:
        """Return what JSON gets for an argument of a call that `encode` cannot copy.

        An object of the program is sent as its reference, and a function or class of a module by
        its name. Any other object ends the tests, which then run in the process of the program; but
        an exception is a TypeError, because a program could raise one to get them there.
        """
        if isinstance(value, _Object):
            return value._at_k_reference
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if module != MODULE and getattr(sys.modules.get(str(module)), name, None) is value:
            return {"import": [module, name]}
        if isinstance(value, BaseException):
            raise TypeError("tests cannot give a program an exception")
        self.cannot_receive = True
        raise _EndedError

    def _resolve(self, name: str, number: Any) -> _Object:
        """Return an object for a reference of the program, see `_AnsweringProgram._reference`."""
        if name != "object":
            raise ValueError(f"{name} is no reference")
        return _Object(partial(self.call, number), {name: number})


# Modules whose exceptions reach the tests. One of unittest could say that a test did not fail.
_MODULES = {
    *("builtins", "json.decoder", "decimal", "statistics", "re", "datetime", "copy", "numpy"),
    *("numpy.linalg", "numpy.exceptions"),
}


def _exception_like(classes: list[Any], arguments: tuple[Any, ...], text: str) -> BaseException:
    """Return an exception like one of the program, of its nearest class in `_MODULES`.

    `classes` has [module, name] of its class and of each base class, in order. If needed, a new
    subclass has its name and the message `text`. Raises a StopIteration without such a class.
    """
    found = (
        getattr(sys.modules.get(module), name, None)
        for module, name in classes
        if module in _MODULES
    )
    kind = next(
        value for value in found if isinstance(value, type) and issubclass(value, BaseException)
    )
    error = kind.__new__(kind, *arguments)
    if [kind.__module__, kind.__name__] == classes[0] and str(error) == text:
        return error
    own = type(str(classes[0][1]), (kind,), {"__str__": lambda self: text})
    return own.__new__(own, *arguments)


class _Object:
    """An object of the program, which can be called, and whose methods can be.

    It has entries, str, repr, int, float, bool and hash, whose results are compared here, and
    operators with other objects of the program. It has no operators with values of the tests, and
    equals none: the program would get what is expected, and could return True. It has no length: a
    program could return the expected one for an object without entries.
    """

    def __init__(self, ask: Any, reference: dict[str, int]):
        self._at_k_ask, self._at_k_reference = ask, reference

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name in _PREDICATES:
            raise AttributeError(f"an object of the program has no {name} here")
        return partial(self._at_k_ask, name)

    def __call__(self, /, *arguments: Any, **options: Any) -> Any:
        return self._at_k_ask("", *arguments, **options)


def _operation(name: str, between_objects: bool) -> Any:
    """Return a special method, such as `__add__`, that calls the method `name` in the program.

    With `between_objects`, it returns NotImplemented unless the other operand is an `_Object`.
    """

    def operate(self: _Object, *others: Any) -> Any:
        if between_objects and not isinstance(others[0], _Object):
            return NotImplemented
        return self._at_k_ask(name, *others)

    return operate


for _name in ("bool", "getitem", "str", "repr", "int", "float", "hash", "iter", "next"):
    setattr(_Object, f"__{_name}__", _operation(f"__{_name}__", between_objects=False))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "matmul"):
    setattr(_Object, f"__{_name}__", _operation(f"__{_name}__", between_objects=True))
_Object.__name__ = "object of the program"  # in the TypeErrors of Python for what it cannot do
