"""Test programs, in the server, a process that runs no code of them and that they cannot reach.

It asks the process of the program for names and for calls, none of which tells the program what is
expected. Results are values, which are compared here (see `values.py`), or references to objects of
the program (see `_Object`). Tests that do more (see `placement.py`) run in the process of the
program, which reports which tests ran and how the first one failed. They are counted here.
"""

from __future__ import annotations

import builtins
import json
import re
import sys
import types
from functools import partial
from typing import Any, NoReturn

from .runner import MODULE, UnusableTestsError, last_line, run_tests
from .values import are_equal, decode, encode, print_the_same, receive, send, updated

_MESSAGE = 500  # characters
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


ENDED = {"status": "ended", "message": "", "tests": 0}  # the program, before its tests did


def examine(exam: dict[str, Any], source: int | str) -> dict[str, Any]:
    """Test a program; return the verdict.

    That is a dict of `status`, `message`, and how many `tests` ran. The status is that of a
    `Record`, or that of `ENDED`, or "not apart" if the tests can only run in the process of the
    program. If the tests are only to be found, it is what `find_tests` returns.

    Args:
        exam: the tests, see `Tests.jobs`.
        source: the socket to the process of the program, or the text that a script printed.
    """
    program = _RemoteProgram(source) if isinstance(source, int) else None
    ran: list[str] = []
    try:
        if program is not None and exam["form"] == "find":
            return ENDED | program.exchange({"find": exam})
        ran, problem = _run(exam, source, program)
    except UnusableTestsError as error:
        problem = f"the tests {error}"
    except BaseException as error:  # of the program, or its result is too large or too deep
        problem = str(error) if isinstance(error, _ProgramError) else last_line(error)
    if program is not None and (program.has_ended or program.cannot_receive):
        return ENDED | ({} if program.has_ended else {"status": "not apart"})
    missing = {*(exam.get("expected") or ran)} - {*ran}
    if problem is None and (missing or not ran):
        problem = f"{min(missing)} did not run" if missing else "no test ran"
    if problem is None:
        return {"status": "passed", "message": "", "tests": len(ran)}
    status = "memory" if re.match(r"([\w.]+: )?MemoryError", problem) else "failed"
    return {"status": status, "message": problem[:_MESSAGE], "tests": len(ran)}


def _run(
    exam: dict[str, Any], source: int | str, program: _RemoteProgram | None
) -> tuple[list[str], str | None]:
    """Run tests; return the names of those that ran, and how the first one failed, or None."""
    if program is None:
        return ["case"], _problem_of_case(exam, "printed", source)
    if exam["form"] == "call":
        return ["case"], _problem_of_case(exam, "returned", program.call(exam["call"]))
    if exam["shares_interpreter"]:
        return program.run(exam)
    module = types.ModuleType("tests")
    vars(module).update(_visible_names(exam, program.names(exam)))
    result = run_tests(exam, module)
    return result.ran, result.problem


def _problem_of_case(exam: dict[str, Any], what: str, result: Any) -> str | None:
    """Return how what a program has "printed" or "returned" differs from what is expected."""
    is_same = print_the_same if what == "printed" else are_equal
    if any(is_same(result, accepted) for accepted in exam["accepted"]):
        return None
    both = (result, exam["accepted"][0])
    shown = [repr(x[:100] if isinstance(x, (str, list)) else x) for x in both]  # cut for speed
    result, expected = (text if len(text) <= 60 else f"{text[:60]}.." for text in shown)
    return f"case {exam['case']}: {what} {result}, expected {expected}"


def _visible_names(exam: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a program that its tests see, as a dict with their values.

    The tests see a name of a builtin function, such as `abs`, only if it is the entry point, or if
    there is no entry point and no other name.
    """
    shadowing = {name for name in names if hasattr(builtins, name)} - {exam["entry_point"]}
    if exam["entry_point"] or {*names} - shadowing:
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

    def names(self, exam: dict[str, Any]) -> dict[str, Any]:
        """Run the program; return a dict of the names that tests use, or raise _ProgramError."""
        names = self._started({"load": exam["imports"], "names": exam["names"]})
        if not isinstance(names, dict):
            self._end()
        # No others, such as __builtins__.
        return {name: value for name, value in names.items() if name in exam["names"]}

    def call(self, call: list[Any]) -> Any:
        """Run the program and call its function with arguments; return the result.

        `call` has the name of the function and the arguments. Raises a _ProgramError.
        """
        text = self._started({"call": call})
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError):
            self._end()

    def _started(self, message: dict[str, Any]) -> Any:
        """Send the message that runs the program; return the value, or raise _ProgramError."""
        try:
            return self._result(self.exchange(message))
        except BaseException as error:
            raise _ProgramError(last_line(error)) from error

    def run(self, exam: dict[str, Any]) -> tuple[list[str], str | None]:
        """Run tests in the process of the program; return which ran, and the problem or None."""
        reply = self.exchange({"run": exam})
        if not isinstance(reply.get("ran"), list):
            self._end()
        problem = reply.get("problem")
        return [*map(str, reply["ran"])], None if problem is None else str(problem)

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
        """Send a message of `_AnsweringProgram.serve`, and return the reply, a dict.

        The tests end if there is no valid reply.
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
        """Return what is sent for an argument that `encode` cannot copy.

        An object of the program is sent as the reference by which it came, and a function or class
        of a module by its name. An exception raises a TypeError, because a program could raise one
        to be tested in its own process. Any other object ends the tests.
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

    `classes` are pairs of the module and the name of its class and of each base class, in order,
    and `text` is its message. Raises a StopIteration if there is no such class.
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
