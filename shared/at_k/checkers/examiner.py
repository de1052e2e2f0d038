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
from .runner import MODULE, UnusableTestsError, last_line, run_tests
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

    Args:
        control: the socket to the server. A letter comes in, and goes back when the work is done:
            "e" runs the tests on the desk, and comes with a descriptor, the connection to a program
            or the file with what a script printed; "k" ends all other processes if `is_isolated`.
        desk: the descriptor of a file. It has the tests, see `Tests.jobs`; then their verdict.
        is_isolated: whether the server is process 1 of a namespace.
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
            _end_other_processes()
        control.send(letter)


def _end_other_processes() -> None:
    """End all processes but the server and this one, and wait until the server has reaped them."""
    with suppress(ProcessLookupError):
        while True:
            os.kill(-1, signal.SIGKILL)
            time.sleep(0.0001)


def _verdict(exam: dict[str, Any], descriptor: int) -> dict[str, Any]:
    """Run the tests in `exam`, and return a dict of `status`, `message`, and how many `tests` ran.

    The status is "passed", "failed" or "memory"; "ended" if the process of the program ended; or
    "not apart" if the tests can only run in that process. For the form "find" it is "found", and
    the dict has what `find_tests` returns in place of `tests`.
    """
    program = _RemoteProgram(descriptor)
    ran: list[str] = []
    try:
        if exam["form"] == "find":
            return {"status": "found", "message": ""} | program.exchange({"find": exam})
        ran, problem = _EXAMINATIONS[exam["form"]](exam, program)
    except _ProgramError as error:
        problem = str(error)
    except UnusableTestsError as error:
        problem = f"the tests {error}"
    except _EndedError:
        problem = None
    if program.has_ended or program.cannot_receive:
        status = "ended" if program.has_ended else "not apart"
        return {"status": status, "message": "", "tests": 0}
    status = "passed"
    if problem is not None:
        status = "memory" if _OUT_OF_MEMORY.match(problem) else "failed"
    return {"status": status, "message": (problem or "")[:_MESSAGE], "tests": len(ran)}


# --- Inputs and outputs -------------------------------------------------------------------


def _examine_output(exam: dict[str, Any], program: _RemoteProgram) -> tuple[list[str], str | None]:
    """Compare what a script printed with what is expected; return what `_run_tests` returns."""
    printed, expected = program.printed(), exam["output"]
    if print_the_same(printed, expected):
        return ["case"], None
    return ["case"], f"case {exam['case']}: printed {_shown(printed)}, expected {_shown(expected)}"


def _examine_call(exam: dict[str, Any], program: _RemoteProgram) -> tuple[list[str], str | None]:
    """Compare the result of a call, as JSON, with what is expected; return as `_run_tests` does."""
    returned, expected = program.call(exam["entry_point"], exam["arguments"]), exam["output"]
    try:
        result = json.loads(json.dumps(returned, default=_plain_number))
    except (TypeError, ValueError, RecursionError) as error:
        return [], exception_line(error)
    accepted = [expected]
    if exam["is_wrapped"] and isinstance(expected, list) and len(expected) == 1:
        accepted += expected
    if any(are_equal(result, value) for value in accepted):
        return ["case"], None
    return ["case"], f"case {exam['case']}: returned {_shown(result)}, expected {_shown(expected)}"


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
        ran, problem = program.run(exam)
    else:
        module = types.ModuleType("tests")
        vars(module).update(_visible_names(exam, program.names(exam)))
        result = run_tests(exam, module)
        ran, problem = result.ran, result.problem
    missing = {*(exam["expected"] or ran)} - {*ran}
    if problem is None and missing:
        problem = f"{min(missing)} did not run"
    if problem is None and not ran:
        problem = "no test ran"
    return ran, problem


_EXAMINATIONS = {"stdin": _examine_output, "calls": _examine_call, "tests": _run_tests}


def _visible_names(job: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a program that its tests see, as a dict with their values.

    The tests see a name of a builtin function, such as `abs`, only if it is the entry point, or if
    there is no entry point and no other name. A module that the program imported for its tests is
    imported again here, because the program may have replaced it.
    """
    for name, module in job["borrowed"]:
        if name in names:
            with suppress(ImportError):
                names[name] = importlib.import_module(module)
    shadowing = {name for name in names if hasattr(builtins, name)} - {job["entry_point"]}
    if job["entry_point"] or {*names} - shadowing:
        return {name: value for name, value in names.items() if name not in shadowing}
    return names


# --- The program, as the tests see it -----------------------------------------------------


class _ProgramError(Exception):
    """The code of a program raised an exception."""


class _RemoteProgram:
    """The process of a program, as the tests see it.

    Attributes:
        has_ended: whether the process ended, or sent something that is not a message.
        cannot_receive: whether the tests gave a function of the program an object of their own.
    """

    def __init__(self, connection: int):
        self._connection = connection
        self.has_ended = self.cannot_receive = False

    def printed(self) -> str:
        """Return what a script printed. The connection is the file with it."""
        size = os.fstat(self._connection).st_size
        return os.pread(self._connection, size, 0).decode(errors="replace")

    def names(self, exam: dict[str, Any]) -> dict[str, Any]:
        """Run the program; return a dict of the names that tests use, or raise _ProgramError."""
        names = self._started({"load": exam["imports"], "names": exam["names"]})
        if not isinstance(names, dict):
            self._end()
        # No others, such as __builtins__.
        return {name: value for name, value in names.items() if name in exam["names"]}

    def call(self, entry_point: str, arguments: list[Any]) -> Any:
        """Run the program and call its function; return the result, or raise _ProgramError."""
        return self._started({"call": [entry_point, arguments]})

    def _started(self, message: dict[str, Any]) -> Any:
        """Send the message that runs the program; return the value, or raise _ProgramError."""
        try:
            return self._result(self.exchange(message))
        except BaseException as error:
            raise _ProgramError(last_line(error)) from error

    def run(self, job: dict[str, Any]) -> tuple[list[str], str | None]:
        """Run tests in the process of the program; return what `_run_tests` returns."""
        reply = self.exchange({"run": job})
        if not isinstance(reply.get("ran"), list):
            self._end()
        return [*map(str, reply["ran"])], reply.get("problem")

    def ask(self, number: int, method: str, /, *arguments: Any, **options: Any) -> Any:
        """Call a method of object `number` of the program, or the object itself if method is "".

        Returns the result, or raises the exception that the program raised.

        Arguments that the call changed in place, such as a list that was sorted, are changed here.
        """
        values = [*arguments, *options.values()]
        sent = {"arguments": encode(values, self._reference_to), "keywords": [*options]}
        reply = self.exchange({"object": number, "method": method, **sent})
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
            error = _exception(classes, self._decoded(arguments), str(text))
        except (ValueError, TypeError, KeyError, AttributeError, StopIteration):
            self._end()
        raise error

    def _decoded(self, sent: Any) -> Any:
        """Return the value that the program sent. If it cannot be decoded, end the tests."""
        try:
            return decode(sent, self._resolve)
        except (ValueError, TypeError, KeyError, IndexError, ImportError, RecursionError):
            self._end()

    def exchange(self, message: Any) -> dict[str, Any]:
        """Send a message to the program, and return its reply, a dict.

        The messages are those of `_AnsweringProgram.serve`. An _EndedError, which ends the tests,
        is raised if there is no valid reply.
        """
        if self.has_ended or self.cannot_receive:
            raise _EndedError
        try:
            send(self._connection, message)
            reply = receive(self._connection)
        except (EOFError, OSError):
            self._end()
        if not isinstance(reply, dict):
            self._end()
        return reply

    def _end(self) -> NoReturn:
        """End the tests, because the program has ended or sent something that is not a message."""
        self.has_ended = True
        raise _EndedError

    def _reference_to(self, value: Any) -> Any:
        """Return what JSON gets for an argument of a call that `encode` cannot copy.

        An object of the program is sent as its reference, and a function or class of a module by
        its name. Any other object ends the tests, which then run in the process of the program. For
        an exception a TypeError is raised instead: a program could raise one to get them there.
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
        return _Object(partial(self.ask, number), {name: number})


# Modules whose exceptions reach the tests. One of unittest could say that a test did not fail.
_MODULES = {
    *("builtins", "json.decoder", "decimal", "statistics", "re", "datetime", "copy", "numpy"),
    *("numpy.linalg", "numpy.exceptions"),
}


def _exception(classes: list[Any], arguments: tuple[Any, ...], text: str) -> BaseException:
    """Return an exception like one of the program, of its nearest class in `_MODULES`.

    `classes` has [module, name] of its class and of each base class, in order. If needed, a new
    subclass has its name and the message `text`. Raises a StopIteration without such a class.
    """
    found = (getattr(sys.modules.get(m), name, None) for m, name in classes if m in _MODULES)
    kind = next(x for x in found if isinstance(x, type) and issubclass(x, BaseException))
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
